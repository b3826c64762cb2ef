/*
 * Golden files: tests/golden/CASE.net with what must come out of it beside
 * it, by suffix: CASE.err (diagnostics and exit status), CASE.txt, CASE.json,
 * CASE.csv, CASE.md, CASE.dot, CASE.svg, CASE.pdf, CASE.out.net, the charts
 * CASE.timeline.svg and so on, CASE.tex, CASE.mmd, CASE.html, CASE.py, the
 * dumps CASE.tokens, CASE.ast, CASE.graph, CASE.shapes, CASE.plan,
 * CASE.drawing, CASE.fmt and CASE.fmtshapes for `netc fmt`, and CASE.place for
 * `netc place`, all that it writes. A first line `# netc: ...` gives options.
 * `make bless` writes them.
 */
#include "tests/run.h"

struct kind {
  const char *suffix;
  const char *command; /* options, then the file */
};

static const struct kind kinds[] = {
    {".err", "%s %s --emit=txt=/dev/null %s"},
    {".txt", "%s %s %s"},
    {".json", "%s %s --emit=json %s"},
    {".h", "%s %s --emit=header %s"},
    {".c", "%s %s --emit=source %s"},
    {".csv", "%s %s --emit=csv %s"},
    {".md", "%s %s --emit=md %s"},
    {".dot", "%s %s --emit=dot %s"},
    {".svg", "%s %s --emit=svg %s"},
    {".pdf", "%s %s --emit=pdf %s"},
    {".html", "%s %s --emit=html %s"},
    {".timeline.svg", "%s %s --emit=timeline.svg %s"},
    {".arena.svg", "%s %s --emit=arena.svg %s"},
    {".bars.svg", "%s %s --emit=bars.svg %s"},
    {".roofline.svg", "%s %s --emit=roofline.svg %s"},
    {".volumes.svg", "%s %s --emit=volumes.svg %s"},
    {".tex", "%s %s --emit=tex %s"},
    {".mmd", "%s %s --emit=mmd %s"},
    {".py", "%s %s --emit=py %s"},
    {".out.net", "%s %s --emit=net %s"},
    {".tokens", "%s %s --dump=tokens %s"},
    {".ast", "%s %s --dump=ast %s"},
    {".graph", "%s %s --dump=graph %s"},
    {".shapes", "%s %s --dump=shapes %s"},
    {".plan", "%s %s --dump=plan %s"},
    {".drawing", "%s %s --dump=drawing %s"},
    {".fmt", "%s fmt %s %s"},
    {".fmtshapes", "%s fmt %s --shapes %s"},
    {".place", "%s place %s %s"},
    {".jsondiag", "%s %s --diagnostics=json --emit=txt=/dev/null %s"},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

struct golden {
  char net[512], expected[512], name[600], options[256];
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

static bool is_kind(const struct golden *g, const char *suffix) {
  return strcmp(g->kind->suffix, suffix) == 0;
}

static char *result_of(const struct golden *g) {
  char command[2048], *text;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf(command, sizeof command, g->kind->command, NETC, g->options, g->net);
#pragma GCC diagnostic pop
  struct run r = run("%s", command);
  bool place = is_kind(g, ".place");
  bool to_err = is_kind(g, ".err") || is_kind(g, ".jsondiag");
  size_t room = strlen(r.out) + strlen(r.err) + 32;
  text = malloc(room);
  assert_non_null(text);
  if (to_err || place)
    snprintf(text, room, "%s%sexit %d\n", place ? r.out : "", r.err, r.status);
  else
    snprintf(text, room, "%s", r.out);
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
      snprintf(g->name, sizeof g->name, "%.*s (%s)", (int)stem, net,
               kinds[k].suffix + 1);
      g->kind = &kinds[k];
      read_options(g);
      count++;
    }
  }
  return count;
}

int main(void) {
  struct paths nets = find_paths("tests/golden", ".net");
  struct golden *all = calloc(nets.count * KINDS + 1, sizeof *all);
  struct CMUnitTest *tests = calloc(nets.count * KINDS + 1, sizeof *tests);
  size_t count = 0;
  for (size_t i = 0; i < nets.count; i++)
    if (!strstr(nets.at[i], ".out.net"))
      count += add_cases(all + count, nets.at[i]);
  for (size_t i = 0; i < count; i++)
    tests[i] = (struct CMUnitTest){.name = all[i].name,
                                   .test_func = check_golden,
                                   .initial_state = &all[i]};
  int failed =
      count ? _cmocka_run_group_tests("golden", tests, count, NULL, NULL) : 1;
  free(all);
  free(tests);
  paths_free(&nets);
  return failed;
}
