/*
 * The manual and the program say the same: examples compile, and every
 * diagnostic, layer and option has its place.
 */
#include "base/diag.h"
#include "codegen/backend.h"
#include "netc.h"
#include "tests/run.h"

/* Fenced examples: ```net compiles, ```net SLUG gives that diagnostic. */

struct slugs {
  bool seen[SLUG_COUNT];
  char text[8192];
};

static void note_slug(void *user, const struct netc_diagnostic *d) {
  struct slugs *slugs = user;
  slugs->seen[slug_find(slice_of(d->slug))] = true;
  if (d->severity == NETC_FAILURE)
    snprintf(slugs->text, sizeof slugs->text, "%s", d->text);
}

static void check_example(const char *path, const char *info, const char *text,
                          size_t length) {
  struct slugs slugs = {{false}, ""};
  struct netc *netc = netc_open(NULL, NULL);
  netc_on_diagnostic(netc, note_slug, &slugs);
  enum netc_status status = netc_load_text(netc, path, text, length);
  if (*info) {
    enum slug slug = slug_find(slice_of(info));
    if (slug == SLUG_COUNT || !slugs.seen[slug]) {
      print_error("%s: no %s from:\n%.*s", path, info, (int)length, text);
      fail();
    }
  } else if (status != NETC_OK) {
    print_error("%s: %s\n%.*s", path, slugs.text, (int)length, text);
    fail();
  }
  netc_close(netc);
}

static int check_fences(const char *path) {
  char *text = read_text(path, NULL);
  assert_non_null(text);
  int count = 0;
  for (char *at = strstr(text, "```net"); at; at = strstr(at, "```net")) {
    char info[64] = "";
    sscanf(at + strlen("```net"), " %63[a-z0-9-]", info);
    char *start = strchr(at, '\n') + 1;
    if (start - at == (ptrdiff_t)strlen("```net\n"))
      info[0] = '\0';
    char *end = strstr(start, "\n```");
    assert_non_null(end);
    check_example(path, info, start, (size_t)(end + 1 - start));
    at = end + 4;
    count++;
  }
  free(text);
  return count;
}

static void examples_in_the_manual_compile(void **state) {
  (void)state;
  assert_true(check_fences("docs/language.md") >= 10);
  assert_true(check_fences("README.md") >= 1);
  check_fences("docs/memory.md");
}

static void examples_of_diagnostics_are_true(void **state) {
  (void)state;
  struct paths pages = find_paths("docs/diagnostics", ".md");
  int count = 0;
  for (size_t i = 0; i < pages.count; i++)
    count += check_fences(pages.at[i]);
  assert_true(count >= SLUG_COUNT);
  paths_free(&pages);
}

static void example_files_compile_and_are_canonical(void **state) {
  (void)state;
  struct paths nets = find_paths("examples", ".net");
  assert_true(nets.count >= 4);
  for (size_t i = 0; i < nets.count; i++) {
    struct run r = run("%s check %s && %s fmt --check %s", NETC, nets.at[i],
                       NETC, nets.at[i]);
    if (r.status != 0)
      print_error("%s%s", nets.at[i], r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  paths_free(&nets);
}

/* Completeness: the tables of the program against the manual and tests */

static void every_diagnostic_has_a_page_and_a_case(void **state) {
  (void)state;
  struct run cases = run("cat tests/golden/*/*.err tests/golden/*/*/*.err");
  struct run listed = run("%s explain", NETC);
  for (int i = 0; i < SLUG_COUNT; i++) {
    const char *name = slug_info((enum slug)i)->name;
    char mark[64], path[128];
    snprintf(mark, sizeof mark, "[%s]", name);
    if (i != TOO_MANY_LAYERS) /* test_cli.c: too large for a golden case */
      assert_holds(cases.out, mark);
    assert_holds(listed.out, name);
    snprintf(path, sizeof path, "docs/diagnostics/%s.md", name);
    char *page = read_text(path, NULL);
    if (!page)
      print_error("no page: %s\n", path);
    assert_non_null(page);
    struct run shown = run("%s explain %s", NETC, name);
    assert_same_text(name, page, shown.out);
    run_free(&shown);
    free(page);
  }
  run_free(&cases);
  run_free(&listed);
}

static void every_warning_is_in_the_manual(void **state) {
  (void)state;
  char *text = read_text("docs/language.md", NULL);
  for (int i = 0; i < SLUG_COUNT; i++)
    if (slug_info((enum slug)i)->severity != SEVERITY_ERROR)
      assert_holds(text, slug_info((enum slug)i)->name);
  free(text);
}

static void every_layer_is_documented_and_tested(void **state) {
  (void)state;
  char *manual = read_text("docs/layers.md", NULL);
  assert_non_null(manual);
  struct run made = run("%s layers --markdown", NETC);
  assert_same_text("docs/layers.md (make docs)", manual, made.out);
  struct run cases = run("cat tests/golden/layers/*.net | "
                         "grep -ohE '[a-z][a-z0-9]*' | sort -u");
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *kind = layer_kind_at(i);
    char line[64];
    snprintf(line, sizeof line, "\n%s\n", kind->name);
    assert_holds(cases.out, line);
    struct run shown = run("%s layers %s", NETC, kind->name);
    assert_holds(shown.out, kind->summary);
    for (const struct arg_spec *s = kind->specs; s && s->name; s++)
      assert_non_null(s->doc);
    run_free(&shown);
  }
  run_free(&cases);
  run_free(&made);
  free(manual);
}

static void every_output_is_tested(void **state) {
  (void)state;
  for (size_t i = 0; i < backend_count(); i++) {
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".%s", backend_at(i)->name);
    if (strcmp(suffix, ".net") == 0)
      snprintf(suffix, sizeof suffix, ".out.net");
    if (strcmp(suffix, ".fmt-shapes") == 0)
      snprintf(suffix, sizeof suffix, ".fmtshapes");
    struct paths found = find_paths("tests/golden", suffix);
    if (!found.count)
      print_error("no golden file for %s\n", backend_at(i)->name);
    assert_true(found.count > 0);
    paths_free(&found);
  }
}

/* Options: --help names them all on one screen, so does the manual page. */
static void every_option_is_in_the_help_and_the_manual_page(void **state) {
  (void)state;
  struct run help = run("%s --help", NETC);
  char *page = read_text("docs/netc.1.scd", NULL);
  char *source = read_text("driver/options.c", NULL);
  assert_non_null(page);
  assert_non_null(source);
  int lines = 0;
  for (const char *c = help.out; *c; c++)
    lines += *c == '\n';
  assert_in_range(lines, 20, 48);
  char *at = strstr(source, "long_options[] = {");
  char *end = strstr(at, "{NULL, 0");
  while ((at = strstr(at, "{\"")) && at < end) {
    char name[64], option[80];
    sscanf(at, "{\"%63[^\"]", name);
    snprintf(option, sizeof option, "--%s", name);
    if (strcmp(name, "help") != 0 && strcmp(name, "version") != 0)
      assert_holds(help.out, option);
    assert_holds(page, option);
    at++;
  }
  free(source);
  free(page);
  run_free(&help);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_in_the_manual_compile),
      cmocka_unit_test(examples_of_diagnostics_are_true),
      cmocka_unit_test(example_files_compile_and_are_canonical),
      cmocka_unit_test(every_diagnostic_has_a_page_and_a_case),
      cmocka_unit_test(every_warning_is_in_the_manual),
      cmocka_unit_test(every_layer_is_documented_and_tested),
      cmocka_unit_test(every_output_is_tested),
      cmocka_unit_test(every_option_is_in_the_help_and_the_manual_page),
  };
  return cmocka_run_group_tests_name("docs", tests, NULL, NULL);
}
