/* Running commands and comparing texts, for all test programs. */
#define _GNU_SOURCE /* program_invocation_short_name, nftw */
#include "tests/run.h"

#include <errno.h>
#include <ftw.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool part_is(const char *name) {
  const char *part = getenv("PART");
  return part && strcmp(part, name) == 0;
}

__attribute__((constructor)) static void choose_part(void) {
  if (part_is("fast"))
    cmocka_set_skip_filter(SLOW "*");
  else if (part_is("slow"))
    cmocka_set_test_filter(SLOW "*");
}

/*
 * Some tests open thousands of nets in their own process. Giving memory back to
 * the system after each net would take a third of their time.
 */
__attribute__((constructor)) static void keep_memory(void) {
  mallopt(M_TRIM_THRESHOLD, 1 << 28);
  mallopt(M_TOP_PAD, 1 << 24);
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
}

bool in_part(size_t member, size_t n) {
  return part_is("fast") ? member % n == 0
                         : !part_is("slow") || member % n != 0;
}

void run_in_both_parts(void) {
  cmocka_set_skip_filter(NULL);
  cmocka_set_test_filter(NULL);
}

int tenth(int cases) {
  const char *full = getenv("FULL");
  return full && *full ? cases : cases / 10;
}

char *read_text(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = NULL;
  size_t used = 0, room = 0;
  for (;;) {
    if (room - used < 4096)
      text = realloc(text, room = room * 2 + 8192);
    assert_non_null(text);
    size_t got = fread(text + used, 1, room - used - 1, file);
    used += got;
    if (got == 0)
      break;
  }
  text[used] = '\0';
  fclose(file);
  if (length)
    *length = used;
  return text;
}

void write_text(const char *path, const char *text, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

void write_in(const char *folder, const char *name, const char *text) {
  char path[1300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  write_text(path, text, strlen(text));
}

int count_of(const char *text, const char *what) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, what)); at++)
    count++;
  return count;
}

bool on_path(const char *command) {
  struct run r = run("command -v %s", command);
  bool there = r.status == 0;
  run_free(&r);
  return there;
}

void skip_without_python(const char *modules) {
  struct run r = run("/usr/bin/python3 -c 'import %s'", modules);
  bool absent = r.status != 0;
  run_free(&r);
  if (absent)
    skip();
}

struct run run(const char *format, ...) {
  char command[4096], whole[4400];
  char out[] = "/tmp/netc-out-XXXXXX", err[] = "/tmp/netc-err-XXXXXX";
  va_list args;
  va_start(args, format);
  vsnprintf(command, sizeof command, format, args);
  va_end(args);
  int out_fd = mkstemp(out), err_fd = mkstemp(err);
  assert_true(out_fd >= 0 && err_fd >= 0);
  close(out_fd);
  close(err_fd);
  snprintf(whole, sizeof whole, "{ %s; } >%s 2>%s </dev/null", command, out,
           err);
  int status = system(whole);
  struct run result = {read_text(out, NULL), read_text(err, NULL),
                       WIFEXITED(status) ? WEXITSTATUS(status) : 128};
  unlink(out);
  unlink(err);
  return result;
}

void run_free(struct run *run) {
  free(run->out);
  free(run->err);
}

static size_t line_length(const char *text) {
  return strcspn(text, "\n");
}

/* Lines before the first and behind the last difference are left out. */
static void print_difference(const char *expected, const char *actual) {
  int line = 1;
  while (*expected && *actual) {
    size_t a = line_length(expected), b = line_length(actual);
    if (a != b || memcmp(expected, actual, a) != 0)
      break;
    expected += a + (expected[a] == '\n');
    actual += b + (actual[b] == '\n');
    line++;
  }
  print_error("first difference at line %d\n", line);
  for (int i = 0; i < 8 && *expected; i++) {
    size_t length = line_length(expected);
    print_error("- %.*s\n", (int)length, expected);
    expected += length + (expected[length] == '\n');
  }
  for (int i = 0; i < 8 && *actual; i++) {
    size_t length = line_length(actual);
    print_error("+ %.*s\n", (int)length, actual);
    actual += length + (actual[length] == '\n');
  }
}

void assert_same_text(const char *name, const char *expected,
                      const char *actual) {
  if (strcmp(expected, actual) == 0)
    return;
  print_error("%s: - expected, + found\n", name);
  print_difference(expected, actual);
  fail();
}

void check_file(const char *path, const char *made) {
  if (getenv("BLESS")) {
    write_text(path, made, strlen(made));
    return;
  }
  char *expected = read_text(path, NULL);
  if (!expected)
    print_error("%s is missing (make bless, make docs)\n", path);
  assert_non_null(expected);
  assert_same_text(path, expected, made);
  free(expected);
}

void check_rows(const char *path, char quote,
                void (*put)(FILE *, const char *)) {
  char *text = read_text(path, NULL), *made = NULL;
  size_t length = 0;
  assert_non_null(text);
  FILE *out = open_memstream(&made, &length);
  for (char *line = text, *next; *line; line = next) {
    next = line + strcspn(line, "\n");
    next += *next == '\n';
    bool comment = strncmp(line, "# ", 2) == 0;
    if (comment)
      fprintf(out, "%.*s", (int)(next - line), line);
    if (comment || *line == ' ')
      continue;
    const char *from = line + (quote == '"');
    char net[500];
    snprintf(net, sizeof net, "%.*s", (int)strcspn(from, quote ? "\"" : "\n"),
             from);
    put(out, net);
    fflush(out);
    if (!getenv("BLESS") && strncmp(text, made, length) != 0)
      break;
  }
  fclose(out);
  check_file(path, made);
  free(made);
  free(text);
}

void check_part(const char *path, const char *begin, const char *end,
                const char *made) {
  char *page = read_text(path, NULL);
  assert_non_null(page);
  char *from = strstr(page, begin), *to = strstr(page, end);
  assert_true(from && to && from < to);
  size_t head = (size_t)(from - page) + strlen(begin);
  size_t room = head + strlen(made) + strlen(to) + 1;
  char *whole = malloc(room);
  assert_non_null(whole);
  snprintf(whole, room, "%.*s%s%s", (int)head, page, made, to);
  check_file(path, whole);
  free(whole);
  free(page);
}

const char *text_of(const char *format, ...) {
  static char text[1024];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  assert_in_range(length, 0, sizeof text - 1);
  return text;
}

void assert_holds(const char *text, const char *part) {
  if (strstr(text, part))
    return;
  print_error("not found: %s\nin: %s\n", part, text);
  fail();
}

const char *scratch(const char *name) {
  static char path[512];
  char command[1100];
  snprintf(path, sizeof path, "%s/tests/scratch/%s-%s", BUILD,
           program_invocation_short_name, name);
  snprintf(command, sizeof command, "rm -rf %s && mkdir -p %s", path, path);
  assert_int_equal(system(command), 0);
  return path;
}

static struct paths found;
static const char *wanted_suffix;

static int visit(const char *path, const struct stat *stat, int type,
                 struct FTW *ftw) {
  (void)stat;
  (void)ftw;
  size_t length = strlen(path), suffix = strlen(wanted_suffix);
  bool part = strstr(path, "/blocks/"); /* of nets, which `use` takes */
  if (type != FTW_F || part || length < suffix ||
      strcmp(path + length - suffix, wanted_suffix) != 0)
    return 0;
  found.at = realloc(found.at, (found.count + 1) * sizeof *found.at);
  found.at[found.count++] = strdup(path);
  return 0;
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

struct paths find_paths(const char *folder, const char *suffix) {
  found = (struct paths){0};
  wanted_suffix = suffix;
  nftw(folder, visit, 16, FTW_PHYS);
  if (found.count)
    qsort(found.at, found.count, sizeof *found.at, by_text);
  return found;
}

void paths_free(struct paths *paths) {
  for (size_t i = 0; i < paths->count; i++)
    free(paths->at[i]);
  free(paths->at);
}

void expect(const char *command, int status, const char *out, const char *err) {
  struct run r = run("%s", command);
  if (r.status != status)
    print_error("%s\n%s", command, r.err);
  assert_int_equal(r.status, status);
  if (out)
    assert_holds(r.out, out);
  if (err)
    assert_holds(r.err, err);
  run_free(&r);
}

int run_table(const char *name, void *rows, size_t count, size_t row_size,
              CMUnitTestFunction check, const struct CMUnitTest *others,
              size_t other_count) {
  if (count == 0)
    return 1;
  struct CMUnitTest *tests = calloc(count + other_count, sizeof *tests);
  for (size_t i = 0; i < count; i++) {
    char *row = (char *)rows + i * row_size;
    tests[i] = (struct CMUnitTest){
        .name = row, .test_func = check, .initial_state = row};
  }
  if (other_count)
    memcpy(tests + count, others, other_count * sizeof *others);
  int failed =
      _cmocka_run_group_tests(name, tests, count + other_count, NULL, NULL);
  free(tests);
  return failed;
}
