/*
 * What pages show of the program's output, in ``` without a word behind it,
 * is its output. The command is the block's first line behind `$ `, or stands
 * here, or is the last `netc ...` of the page before the block; "..." is for
 * lines that are left out. With BLESS in the environment the blocks are written
 * anew: a part between two "..." begins with the line that it began with, and
 * has as many lines. What cannot be found is printed, and edited by hand.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/run.h"

static const struct {
  const char *page, *block, *command;
} elsewhere[] = {
    {"README.md", "x.net:2:1: error",
     "cd " BUILD " && printf 'input 32x32x3\\nConv2d(3, 64, 3, stride=2, "
     "padding=1)\\n' >x.net && netc check x.net"},
    {"docs/import.md", "net ResNet_101",
     "netc import tests/data/import/caffe/prototxt_ResNet-101-deploy.prototxt"},
    {"docs/plan.md", "id,lower,",
     "cat tests/data/planner/minimalloc/input.12.csv"},
    {"docs/plan.md", "input.12.csv: ",
     "cd tests/data/planner/minimalloc && netc plan input.12.csv"},
};

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* The last `netc ...` in backquotes of [page, block), or what there was. */
static void named_before(char *page, const char *block, char command[1024]) {
  char *at = page, *end;
  while ((at = strstr(at, "`netc ")) && at < block && (end = strchr(++at, '`')))
    snprintf(command, 1024, "%.*s", (int)(end - at), at);
  for (at = command; (at = strchr(at, '\n'));)
    *at = ' ';
}

/* Takes `$ netc ... \`, continued or not, off the beginning of a block. */
static char *named_inside(char *block, char command[1024]) {
  char *end = strchr(block, '\n');
  while (end[-1] == '\\')
    end = strchr(end + 1, '\n');
  snprintf(command, 1024, "%.*s", (int)(end - block) - 2, block + 2);
  return end + 1;
}

static char *output_of(const char *command) {
  struct run r =
      run("PATH=%.*s:$PATH; %s", (int)(strrchr(NETC_PATH, '/') - NETC_PATH),
          NETC_PATH, command);
  char *said = malloc(strlen(r.err) + strlen(r.out) + 1);
  assert_non_null(said);
  strcpy(stpcpy(said, r.err), r.out);
  run_free(&r);
  return said;
}

/* Lines of a block that follow each other in the output. */
struct shown_part {
  char *text;
  bool gap; /* "..." follows */
};

/* Takes a part off the beginning of a block. */
static struct shown_part take_part(const char **block) {
  static const char gap[] = "...\n";
  const char *end = strstr(*block, gap);
  size_t length = end ? (size_t)(end - *block) : strlen(*block);
  struct shown_part part = {strndup(*block, length), end != NULL};
  assert_non_null(part.text);
  *block += length + (end ? strlen(gap) : 0);
  return part;
}

static void check_block(const char *page, const char *block,
                        const char *command) {
  char *said = output_of(command);
  const char *from = said;
  while (*block) {
    struct shown_part part = take_part(&block);
    const char *found = strstr(from, part.text);
    if (!found) {
      print_error("%s: %s\n", page, command);
      assert_same_text(page, part.text, from);
      fail();
    }
    from = found + strlen(part.text);
    free(part.text);
  }
  free(said);
}

/* The end of as many lines of a text as another has. */
static const char *as_many_lines(const char *text, const char *other) {
  while ((other = strchr(other, '\n')) && *text) {
    const char *end = strchr(text, '\n');
    text = end ? end + 1 : text + strlen(text);
    other++;
  }
  return text;
}

/* A line that is the first one of a part, or NULL. */
static const char *same_line(const char *text, const char *part) {
  size_t length = strcspn(part, "\n") + 1;
  for (; text && *text; text = (text = strchr(text, '\n')) ? text + 1 : NULL)
    if (strncmp(text, part, length) == 0)
      return text;
  return NULL;
}

/* `whole`: nothing is left out of the output. */
static void bless_block(FILE *to, const char *page, const char *block,
                        const char *command, bool whole) {
  char *said = output_of(command);
  const char *from = said;
  whole = whole && !strstr(block, "...\n") && !strstr(said, block);
  if (whole)
    fputs(said, to);
  while (!whole && *block) {
    struct shown_part part = take_part(&block);
    const char *found = strstr(from, part.text), *end;
    if (found) {
      end = found + strlen(part.text);
    } else if ((found = same_line(from, part.text))) {
      end = as_many_lines(found, part.text);
    } else {
      print_error("%s: by hand: %s\n%s", page, command, part.text);
      found = end = from;
      fputs(part.text, to);
    }
    fprintf(to, "%.*s%s", (int)(end - found), found, part.gap ? "...\n" : "");
    from = end;
    free(part.text);
  }
  free(said);
}

/* Checks a block, or writes the page up to its end anew. */
static void do_block(FILE *to, const char *page, const char *from, char *block,
                     char *end, char command[1024]) {
  char *shown = strndup(block, (size_t)(end + 1 - block));
  assert_non_null(shown);
  char *rest = begins(shown, "$ ") ? named_inside(shown, command) : shown;
  if (to) {
    fwrite(from, 1, (size_t)(block + (rest - shown) - from), to);
    bless_block(to, page, rest, command, rest > shown);
  } else {
    check_block(page, rest, command);
  }
  free(shown);
}

static size_t check_shown(const char *page) {
  char *text = read_text(page, NULL), command[1024] = "", *made = NULL;
  size_t count = 0, length = 0;
  FILE *to = getenv("BLESS") ? open_memstream(&made, &length) : NULL;
  bool inside = false;
  assert_non_null(text);
  const char *done = text;
  for (char *at = text; (at = strstr(at, "\n```")); at += 4) {
    inside = !inside;
    if (!inside || at[4] != '\n')
      continue;
    char *block = at + 5, *end = strstr(block - 1, "\n```");
    assert_non_null(end);
    named_before(text, block, command);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
      if (strcmp(elsewhere[i].page, page) == 0 &&
          begins(block, elsewhere[i].block))
        strcpy(command, elsewhere[i].command);
    do_block(to, page, done, block, end, command);
    done = end + 1;
    count++;
  }
  if (to) {
    fputs(done, to);
    fclose(to);
    write_text(page, made, length);
    free(made);
  }
  free(text);
  return count;
}

/* A cookbook without commands would show nothing wrong. */
static void the_cookbook_answers_thirty_questions(void **state) {
  (void)state;
  char *text = read_text("docs/cookbook.md", NULL);
  assert_non_null(text);
  size_t questions = 0, commands = 0;
  for (char *at = text; (at = strstr(at, "\n### ")); at++)
    questions++;
  for (char *at = text; (at = strstr(at, "\n```\n$ ")); at++)
    commands++;
  assert_true(questions >= 30);
  assert_int_equal(questions, commands);
  free(text);
}

static void what_pages_show_is_what_the_program_says(void **state) {
  (void)state;
  assert_true(check_shown("README.md") >= 4);
  struct paths pages = find_paths("docs", ".md");
  size_t count = 0;
  for (size_t i = 0; i < pages.count; i++)
    if (!strchr(pages.at[i] + strlen("docs/"), '/') &&
        strcmp(pages.at[i], "docs/layers.md") != 0) /* usage: netc layers */
      count += check_shown(pages.at[i]);
  assert_true(count >= 7);
  paths_free(&pages);
}

/* The last word of a row of README's questions is a command of examples/. */
static void the_questions_of_the_readme_can_be_asked(void **state) {
  (void)state;
  const char *dir = scratch("questions");
  char *text = read_text("README.md", NULL), *at, *end;
  assert_non_null(text);
  struct run r = run("cp examples/*.net %s && %s examples/simple_cnn.net "
                     "-Wno-pool-remainder -o %s/model.onnx",
                     dir, NETC, dir);
  assert_int_equal(r.status, 0);
  run_free(&r);
  size_t count = 0;
  at = strstr(text, "\n## Eight questions");
  assert_non_null(at);
  char *last = strstr(at + 1, "\n## ");
  assert_non_null(last);
  for (; (at = strstr(at, "| `netc ")) && at < last; at = end, count++) {
    end = strstr(at += 3, "` |\n");
    assert_non_null(end);
    r = run("cd %s && PATH=%.*s:$PATH; %.*s", dir,
            (int)(strrchr(NETC_PATH, '/') - NETC_PATH), NETC_PATH,
            (int)(end - at), at);
    if (r.status)
      print_error("%.*s: %s\n", (int)(end - at), at, r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  assert_int_equal(count, 8);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_pages_show_is_what_the_program_says),
      cmocka_unit_test(the_cookbook_answers_thirty_questions),
      cmocka_unit_test(the_questions_of_the_readme_can_be_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
