/*
 * Golden files: tests/golden/CASE.net with what must come out of it beside
 * it, by suffix: CASE.err (diagnostics and exit status), CASE.txt, CASE.json,
 * CASE.csv, CASE.md, CASE.dot, CASE.svg, CASE.pdf, CASE.out.net, the charts
 * CASE.timeline.svg and so on, CASE.tex, CASE.mmd, CASE.html, CASE.py, the
 * dumps CASE.tokens, CASE.ast, CASE.graph, CASE.shapes, CASE.plan,
 * CASE.drawing, CASE.fmt and CASE.fmtshapes for `netc fmt`, and CASE.place for
 * `netc place`, all that it writes. A first line `# netc: ...` gives options
 * to all but `netc fmt`. A command must succeed unless CASE.err says that it
 * does not. `make bless` writes the files; test_golden PART runs the cases
 * whose names have that part.
 */
#define _POSIX_C_SOURCE 200809L
#include "drawing/page/html.h"
#include "tests/run.h"

enum about { OUTPUT, STATUS, FORMAT };

struct kind {
  const char *suffix;
  const char *command; /* the program, options, the file */
  enum about about;    /* STATUS: its file ends with the exit status */
};

static const struct kind kinds[] = {
    {".err", "%s %s --emit=txt=/dev/null %s", STATUS},
    {".txt", "%s %s %s", OUTPUT},
    {".details.txt", "%s %s --details %s", OUTPUT},
    {".json", "%s %s --emit=json %s", OUTPUT},
    {".h", "%s %s --emit=header %s", OUTPUT},
    {".c", "%s %s --emit=source %s", OUTPUT},
    {".csv", "%s %s --emit=csv %s", OUTPUT},
    {".md", "%s %s --emit=md %s", OUTPUT},
    {".dot", "%s %s --emit=dot %s", OUTPUT},
    {".svg", "%s %s --emit=svg %s", OUTPUT},
    {".pdf", "%s %s --emit=pdf %s", OUTPUT},
    {".html", "%s %s --emit=html %s", OUTPUT},
    {".timeline.svg", "%s %s --emit=timeline.svg %s", OUTPUT},
    {".arena.svg", "%s %s --emit=arena.svg %s", OUTPUT},
    {".bars.svg", "%s %s --emit=bars.svg %s", OUTPUT},
    {".roofline.svg", "%s %s --emit=roofline.svg %s", OUTPUT},
    {".volumes.svg", "%s %s --emit=volumes.svg %s", OUTPUT},
    {".timeline.pdf", "%s %s --emit=timeline.pdf %s", OUTPUT},
    {".timeline.tex", "%s %s --emit=timeline.tex %s", OUTPUT},
    {".arena.pdf", "%s %s --emit=arena.pdf %s", OUTPUT},
    {".arena.tex", "%s %s --emit=arena.tex %s", OUTPUT},
    {".bars.pdf", "%s %s --emit=bars.pdf %s", OUTPUT},
    {".bars.tex", "%s %s --emit=bars.tex %s", OUTPUT},
    {".roofline.pdf", "%s %s --emit=roofline.pdf %s", OUTPUT},
    {".roofline.tex", "%s %s --emit=roofline.tex %s", OUTPUT},
    {".volumes.pdf", "%s %s --emit=volumes.pdf %s", OUTPUT},
    {".volumes.tex", "%s %s --emit=volumes.tex %s", OUTPUT},
    {".tex", "%s %s --emit=tex %s", OUTPUT},
    {".mmd", "%s %s --emit=mmd %s", OUTPUT},
    {".py", "%s %s --emit=py %s", OUTPUT},
    {".out.net", "%s %s --emit=net %s", OUTPUT},
    {".tokens", "%s %s --dump=tokens %s", OUTPUT},
    {".ast", "%s %s --dump=ast %s", OUTPUT},
    {".graph", "%s %s --dump=graph %s", OUTPUT},
    {".shapes", "%s %s --dump=shapes %s", OUTPUT},
    {".plan", "%s %s --dump=plan %s", OUTPUT},
    {".drawing", "%s %s --dump=drawing %s", OUTPUT},
    {".timeline.drawing", "%s %s --dump=timeline.drawing %s", OUTPUT},
    {".arena.drawing", "%s %s --dump=arena.drawing %s", OUTPUT},
    {".bars.drawing", "%s %s --dump=bars.drawing %s", OUTPUT},
    {".roofline.drawing", "%s %s --dump=roofline.drawing %s", OUTPUT},
    {".volumes.drawing", "%s %s --dump=volumes.drawing %s", OUTPUT},
    {".fmt", "%s fmt %s %s", FORMAT},
    {".fmtshapes", "%s fmt %s --shapes %s", FORMAT},
    {".place", "%s place %s %s", STATUS},
    {".jsondiag", "%s %s --diagnostics=json --emit=txt=/dev/null %s", STATUS},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

struct golden {
  char net[512], expected[512], beside[512], name[600], options[256];
  const struct kind *kind;
};

/* The options behind `# netc:` in the first line. */
static void read_options(struct golden *g) {
  static const char mark[] = "# netc: ";
  size_t length;
  char *text = read_text(g->net, &length);
  assert_non_null(text);
  if (strncmp(text, mark, sizeof mark - 1) == 0) {
    size_t end = strcspn(text, "\r\n");
    snprintf(g->options, sizeof g->options, "%.*s",
             (int)(end - sizeof mark + 1), text + sizeof mark - 1);
  }
  free(text);
}

/* The status in the last line of a file, or -1. */
static int status_in(const char *path) {
  static const char mark[] = "exit ";
  char *text = read_text(path, NULL), *line = NULL;
  for (char *at = text; at && *at; at += *at == '\n') {
    line = at;
    at += strcspn(at, "\n");
  }
  bool said = line && strncmp(line, mark, sizeof mark - 1) == 0;
  int status = said ? atoi(line + sizeof mark - 1) : -1;
  free(text);
  return status;
}

/* The page's style and script are looked at where they are written. */
static void cut(char *page, const char *const *lines) {
  size_t room = 1;
  for (size_t i = 0; lines[i]; i++)
    room += strlen(lines[i]);
  char *part = calloc(room, 1);
  assert_non_null(part);
  for (size_t i = 0; lines[i]; i++)
    strcat(part, lines[i]);
  char *at = strstr(page, part);
  assert_non_null(at);
  memmove(at, at + room - 1, strlen(at + room - 1) + 1);
  free(part);
}

/* The files of fonts are looked at in tests/pdf.py. */
static void cut_fonts(char *pdf) {
  static const char begin[] = "/FlateDecode] >>\nstream\n", end[] = "~>\n";
  for (char *at = pdf; (at = strstr(at, begin));) {
    at += sizeof begin - 1;
    char *rest = strstr(at, end);
    assert_non_null(rest);
    memmove(at, rest, strlen(rest) + 1);
  }
}

/* An output is that of a command which ends as CASE.err says, or well. */
static void check_status(const struct golden *g, const struct run *r) {
  int stated = status_in(g->beside);
  int wanted = stated < 0 || g->kind->about == FORMAT ? 0 : stated;
  if (r->status != wanted) {
    print_error("%s: exit %d, not %d\n%s", g->name, r->status, wanted, r->err);
    fail();
  }
  if (!*r->out) {
    print_error("%s: nothing was written\n%s", g->name, r->err);
    fail();
  }
}

/* `make bless` takes another status for an accident, unless FORCE is 1. */
static void check_change(const struct golden *g, int status) {
  const char *force = getenv("FORCE");
  int before = status_in(g->expected);
  if (!getenv("BLESS") || (force && *force) || before < 0 || before == status)
    return;
  print_error("%s: exit %d was %d: not blessed without FORCE=1\n", g->name,
              status, before);
  fail();
}

static char *result_of(const struct golden *g) {
  char command[2048], *text;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf(command, sizeof command, g->kind->command, NETC,
           g->kind->about == FORMAT ? "" : g->options, g->net);
#pragma GCC diagnostic pop
  struct run r = run("%s", command);
  if (g->kind->about == STATUS) {
    check_change(g, r.status);
    bool place = strcmp(g->kind->suffix, ".place") == 0;
    size_t room = strlen(r.out) + strlen(r.err) + 32;
    text = malloc(room);
    assert_non_null(text);
    snprintf(text, room, "%s%sexit %d\n", place ? r.out : "", r.err, r.status);
  } else {
    check_status(g, &r);
    text = strdup(r.out);
    assert_non_null(text);
  }
  if (strcmp(g->kind->suffix, ".html") == 0) {
    cut(text, view_style);
    cut(text, web_style);
    cut(text, view_script);
    cut(text, web_script);
  }
  if (strstr(g->kind->suffix, ".pdf"))
    cut_fonts(text);
  run_free(&r);
  return text;
}

static void check_golden(void **state) {
  struct golden *g = *state;
  char *actual = result_of(g);
  check_file(g->expected, actual);
  free(actual);
}

static bool exists(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file)
    fclose(file);
  return file != NULL;
}

/* Without any expected file, a case is about its diagnostics. */
static size_t add_cases(struct golden *all, const char *net) {
  size_t count = 0;
  size_t stem = strlen(net) - strlen(".net");
  for (int pass = 0; pass < 2 && count == 0; pass++) {
    for (size_t k = 0; k < KINDS; k++) {
      struct golden *g = &all[count];
      snprintf(g->expected, sizeof g->expected, "%.*s%s", (int)stem, net,
               kinds[k].suffix);
      if (pass == 0 ? !exists(g->expected) : k > 0)
        continue;
      snprintf(g->net, sizeof g->net, "%s", net);
      snprintf(g->beside, sizeof g->beside, "%.*s.err", (int)stem, net);
      snprintf(g->name, sizeof g->name, "%.*s (%s)", (int)stem, net,
               kinds[k].suffix + 1);
      g->kind = &kinds[k];
      read_options(g);
      count++;
    }
  }
  return count;
}

static bool ends_in(const char *path, const char *suffix) {
  size_t length = strlen(path), end = strlen(suffix);
  return length > end && strcmp(path + length - end, suffix) == 0;
}

static bool is_of_a_case(const char *path) {
  for (size_t k = 0; k < KINDS; k++) {
    char net[600];
    snprintf(net, sizeof net, "%.*s.net",
             (int)(strlen(path) - strlen(kinds[k].suffix)), path);
    if (ends_in(path, kinds[k].suffix) && exists(net))
      return true;
  }
  return ends_in(path, ".net") && !ends_in(path, ".out.net");
}

/* A slip in a name would be a case that nobody looks at. */
static void every_file_is_of_a_case(void **state) {
  (void)state;
  struct paths files = find_paths("tests/golden", "");
  size_t strays = 0;
  for (size_t i = 0; i < files.count; i++)
    if (!is_of_a_case(files.at[i])) {
      print_error("%s: no kind of output, or no .net beside it\n", files.at[i]);
      strays++;
    }
  assert_int_equal(strays, 0);
  paths_free(&files);
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "";
  struct paths nets = find_paths("tests/golden", ".net");
  size_t room = nets.count * KINDS + 1, count = 0, wanted = 0;
  struct golden *all = calloc(room, sizeof *all);
  struct CMUnitTest *tests = calloc(room, sizeof *tests);
  for (size_t i = 0; i < nets.count; i++)
    if (!ends_in(nets.at[i], ".out.net"))
      count += add_cases(all + count, nets.at[i]);
  for (size_t i = 0; i < count; i++)
    if (strstr(all[i].name, part))
      tests[wanted++] = (struct CMUnitTest){.name = all[i].name,
                                            .test_func = check_golden,
                                            .initial_state = &all[i]};
  if (!wanted)
    fprintf(stderr, "no golden case has `%s` in its name\n", part);
  else
    tests[wanted++] =
        (struct CMUnitTest)cmocka_unit_test(every_file_is_of_a_case);
  int failed =
      wanted ? _cmocka_run_group_tests("golden", tests, wanted, NULL, NULL) : 1;
  free(all);
  free(tests);
  paths_free(&nets);
  return failed;
}
