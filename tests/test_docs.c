/*
 * The manual and the program say the same: examples compile, and every
 * diagnostic, layer and option has its place.
 */
#include "base/diag.h"
#include "library/backends.h"
#include "layers/foreign/foreign.h"
#include "layers/layer.h"
#include "netc.h"
#include "tests/run.h"

/* Fenced examples: ```net compiles, ```net SLUG gives that diagnostic. */

struct slugs {
  bool seen[SLUG_COUNT];
  char text[8192];
};

static bool keep_text(void *user, const char *bytes, size_t length) {
  struct slugs *slugs = user;
  size_t used = strlen(slugs->text), room = sizeof slugs->text - 1 - used;
  strncat(slugs->text, bytes, length < room ? length : room);
  return true;
}

static void note_slugs(struct netc *netc, struct slugs *slugs) {
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    assert_int_equal(netc_diagnostic(netc, i, &d), NETC_OK);
    slugs->seen[slug_find(slice_of(d.slug))] = true;
    if (d.severity == NETC_SEVERITY_ERROR)
      netc_diagnostic_emit(netc, i, NETC_STYLE_TEXT, keep_text, slugs);
  }
}

static void check_example(const char *path, const char *info, const char *text,
                          size_t length) {
  struct slugs slugs = {{false}, ""};
  struct netc *netc = netc_open(NULL, NULL);
  enum netc_status status = netc_load_text(netc, path, text, length);
  note_slugs(netc, &slugs);
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
  assert_true(check_fences("docs/reference.md") >= 3);
  assert_int_equal(check_fences("docs/for-llms.md"), 4);
  assert_true(check_fences("README.md") >= 1);
  check_fences("docs/memory.md");
  assert_int_equal(check_fences("docs/tutorial.md"), 2);
  char *net = read_text("docs/tutorial.net", NULL);
  char *page = read_text("docs/tutorial.md", NULL);
  assert_non_null(net);
  assert_holds(page, net);
  free(page);
  free(net);
  assert_int_equal(check_fences("docs/ci.md"), 1);
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
  char *text = read_text("docs/reference.md", NULL);
  for (int i = 0; i < SLUG_COUNT; i++)
    if (slug_info((enum slug)i)->severity != SEVERITY_ERROR)
      assert_holds(text, slug_info((enum slug)i)->name);
  free(text);
}

/* The blocks of the report use no word that is not explained. */
static void words_of_the_report_are_explained(void **state) {
  (void)state;
  static const char *const said[] = {"parameters",     "optimizer's state",
                                     "buffers",        "batch",
                                     "rounding",       "gradients",
                                     "saved",          "temporaries",
                                     "peak",           "weights",
                                     "arena",          "lower bound",
                                     "reserve",        "misc",
                                     "macs",           "activations",
                                     "gathered",       "training",
                                     "prediction",     "step",
                                     "keys and values"};
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
    struct run r = run(NETC " explain \"%s\"", said[i]);
    assert_int_equal(r.status, 0);
    if (strlen(r.out) < 60)
      fail_msg("%s: too short", said[i]);
    run_free(&r);
  }
  expect(NETC " explain Lower-Bound", 0, "no arena can go", "");
  expect(NETC " explain roundin", 2, "", "did you mean `rounding`");
}

/* The block of C with netc.h is the body of a main, that with netrt.h whole. */
static void the_examples_of_the_readme_compile(void **state) {
  (void)state;
  const char *dir = scratch("readme");
  expect("{ printf '#include <netc.h>\\n#include <stdio.h>\\n"
         "static bool write(void *u, const char *b, size_t n) "
         "{ return fwrite(b, 1, n, u) == n; }\\nint main(void) {\\n'; "
         "awk '/^```$/ { if (text ~ /netc_open/) printf \"%s\", text; c = 0; "
         "text = \"\" } c { text = text $0 \"\\n\" } /^```c$/ { c = 1 }' "
         "README.md; echo '}'; } | ${CC:-cc} -std=c11 -Wall -Wextra -Werror "
         "-Iinclude -fsyntax-only -x c -",
         0, NULL, NULL);
  struct run r = run(
      NETC
      " -Wno-pool-remainder examples/simple_cnn.net -o %s/simple_cnn.h "
      "-o %s/simple_cnn.c && " NETC " weights examples/simple_cnn.net --random "
      "1 -o %s/trained.safetensors && " NETC " weights examples/simple_cnn.net "
      "--from %s/trained.safetensors --fold -o %s/weights.c",
      dir, dir, dir, dir, dir);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  r = run(
      "cd %s && awk '/^```$/ { if (text ~ /netrt_open/) printf \"%%s\", text; "
      "c = 0; text = \"\" } c { text = text $0 \"\\n\" } /^```c$/ { c = 1 }' "
      "$OLDPWD/README.md >main.c && ${CC:-cc} -std=c99 -Wall -Werror "
      "-I$OLDPWD/runtime main.c simple_cnn.c weights.c $OLDPWD/runtime/*.c -lm "
      "-o main && ./main | awk '{ sum += $1 } END { printf \"%%d %%.3f\", NR, "
      "sum }'",
      dir);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.out, "10 1.000");
  run_free(&r);
}

/* The pages that words of other frameworks lead to must exist. */
static void foreign_words_lead_to_words_of_ours(void **state) {
  (void)state;
  assert_true(foreign_count() >= 120);
  const char *ours;
  for (size_t i = 0; (ours = foreign_layer_target(i)); i++)
    if (*ours && !layer_kind_find(slice_of(ours)))
      fail_msg("typed.def leads to `%s`, which is not a layer", ours);
}

/* docs/gpus.md has all devices, and each figure of a process its source. */
static void every_device_is_documented(void **state) {
  (void)state;
  char *page = read_text("docs/gpus.md", NULL);
  assert_non_null(page);
  struct run made = run("%s help gpus --markdown", NETC);
  assert_same_text("docs/gpus.md (make docs)", page, made.out);
  struct netc_gpu gpu = {.size = sizeof gpu};
  size_t count = 0, estimated = 0;
  for (; netc_gpu(NULL, count, &gpu) == NETC_OK; count++) {
    char row[64];
    snprintf(row, sizeof row, "\n| `%s` | %s | ", gpu.name, gpu.kind);
    assert_holds(page, row);
    assert_int_equal(gpu.estimated, *gpu.source == '\0');
    if (!gpu.estimated) /* a page that a reader can open */
      assert_memory_equal(gpu.source, "https://", strlen("https://"));
    assert_true(gpu.process_bytes <= gpu.card_bytes);
    assert_true(gpu.process_bytes > gpu.card_bytes / 2);
    estimated += gpu.estimated;
  }
  assert_true(count >= 60 && estimated > 0 && estimated < count / 2);
  run_free(&made);
  free(page);
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
    int rows = 0, inputs = 0;
    for (const struct arg_spec *s = kind->specs; s && s->name; s++) {
      assert_non_null(s->doc);
      rows++;
      inputs += s->type == TYPE_INPUT;
    }
    assert_true(rows <= LIMIT_SPECS && inputs <= LIMIT_INPUTS);
    assert_ptr_equal(layer_kind_find(slice_of(kind->name)), kind);
    run_free(&shown);
  }
  run_free(&cases);
  run_free(&made);
  free(manual);
}

static void every_output_is_tested(void **state) {
  (void)state;
  struct run help = run("%s help outputs", NETC);
  struct run manual = run("%s help manual", NETC);
  for (size_t i = 0; i < backend_count(); i++) {
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".%s", backend_at(i)->name);
    if (strcmp(suffix, ".net") == 0)
      snprintf(suffix, sizeof suffix, ".out.net");
    if (strcmp(suffix, ".fmt-shapes") == 0)
      snprintf(suffix, sizeof suffix, ".fmtshapes");
    if (backend_at(i)->purpose == FOR_FILES) {
      assert_holds(help.out, backend_at(i)->summary);
      assert_holds(manual.out, backend_at(i)->summary);
    }
    if (backend_at(i)->purpose == FOR_SWEEP ||
        backend_at(i)->purpose == FOR_PAGE)
      continue; /* test_sweep.c, and docs/charts; test_library.c */
    struct paths found = find_paths("tests/golden", suffix);
    if (!found.count)
      print_error("no golden file for %s\n", backend_at(i)->name);
    assert_true(found.count > 0);
    paths_free(&found);
  }
  run_free(&help);
  run_free(&manual);
}

/* Options: `netc help all` and those of commands name them all, so does the
   manual page. */
static void every_option_is_in_the_help_and_the_manual_page(void **state) {
  (void)state;
  struct run help = run("%s help all", NETC);
  struct run manual = run("%s help manual", NETC);
  struct run settings = run("%s help settings", NETC);
  int lines = 0, options = 0;
  for (const char *c = help.out; *c; c++)
    lines += *c == '\n';
  assert_in_range(lines, 20, 112);
  struct run names = run("%s help manual | grep -o '^\\*.*--[a-z-]*' | "
                         "grep -o -e '--[a-z-]*'",
                         NETC);
  for (char *at = strtok(names.out, "\n"); at; at = strtok(NULL, "\n")) {
    struct run commands = run("for c in all check diff fit sweep fmt place "
                              "plan weights run verify import layers "
                              "help; do %s help $c; done | grep -qe '%s'",
                              NETC, at);
    if (commands.status)
      print_error("%s is in no help\n", at);
    assert_int_equal(commands.status, 0);
    run_free(&commands);
    options++;
  }
  assert_true(options > 40);
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++) {
    assert_int_equal(netc_setting_argument(i, &argument), NETC_OK);
    if (setting.now) { /* an old name is in no list */
      assert_null(strstr(manual.out, argument.doc));
      assert_null(strstr(settings.out, argument.doc));
      continue;
    }
    assert_holds(settings.out, setting.name);
    assert_holds(manual.out, argument.doc);
  }
  run_free(&names);
  run_free(&settings);
  run_free(&manual);
  run_free(&help);
}

/* Lines that a screen of 80 columns would break anywhere. */
static void help_is_80_columns_wide(void **state) {
  (void)state;
  expect("for c in help 'help settings' '--help' 'check --help' 'diff --help' "
         "'fmt --help' 'place --help' 'plan --help' 'weights --help' "
         "'run --help' 'params --help' 'import --help' 'layers --help' "
         "'explain --help'; do " NETC " $c | awk 'length > 79' | grep . && "
         "exit 1; done; true",
         0, "", "");
}

/* Completion knows the words of every table, in a form that shells take. */
static void every_word_can_be_completed(void **state) {
  (void)state;
  static const char *const shells[] = {"bash", "zsh", "fish"};
  for (size_t s = 0; s < 3; s++) {
    struct run r = run("%s completion %s", NETC, shells[s]);
    struct netc_setting setting = {.size = sizeof setting};
    struct netc_argument argument = {.size = sizeof argument};
    for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++) {
      netc_setting_argument(i, &argument);
      assert_holds(r.out, argument.words);
    }
    struct netc_slug slug = {.size = sizeof slug};
    for (size_t i = 0; netc_slug(i, &slug) == NETC_OK; i++)
      assert_holds(r.out, slug.name);
    for (size_t i = 0; i < layer_kind_count(); i++)
      assert_holds(r.out, layer_kind_at(i)->name);
    run_free(&r);
  }
  expect(NETC " completion bash | bash -n && echo fine", 0, "fine", "");
  expect("bash -c 'eval \"$(" NETC " completion bash)\"; COMP_WORDS=(netc "
         "--gpu rtx30); COMP_CWORD=2; _netc; echo ${COMPREPLY[@]}'",
         0, "rtx3060 rtx3060ti rtx3070 rtx3070ti rtx3080 ", "");
  expect("bash -c 'eval \"$(" NETC " completion bash)\"; COMP_WORDS=(netc "
         "layers dwc); COMP_CWORD=2; _netc; echo ${COMPREPLY[@]}'",
         0, "dwconv", "");
}

/* The table of patches beside rows is what the tool prints. */
static void patches_are_as_the_tool_says(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"inverted2.body1.conv2 | 56x56x24 | 612,960 | +0.4 %", "612,960 | +0.4"},
      {"416,480 | +6.0 % | 320,960 | +9.3 %", "416,480 | +6.0"},
      {"320,960 | +9.3 %", "320,960 | +9.3"},
      {"row by row to inverted4.body1.dwconv1: 266,112, +0.0 %",
       "266,112 | +0.0"}};
  char *page = read_text("docs/microcontrollers.md", NULL);
  struct run r =
      run("tools/patches.py %s examples/zoo/mobilenet_v2.net", NETC_PATH);
  assert_int_equal(r.status, 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_non_null(strstr(r.out, rows[i][0]));
    assert_non_null(strstr(page, rows[i][1]));
  }
  run_free(&r);
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_in_the_manual_compile),
      cmocka_unit_test(examples_of_diagnostics_are_true),
      cmocka_unit_test(example_files_compile_and_are_canonical),
      cmocka_unit_test(every_diagnostic_has_a_page_and_a_case),
      cmocka_unit_test(every_warning_is_in_the_manual),
      cmocka_unit_test(words_of_the_report_are_explained),
      cmocka_unit_test(the_examples_of_the_readme_compile),
      cmocka_unit_test(foreign_words_lead_to_words_of_ours),
      cmocka_unit_test(every_layer_is_documented_and_tested),
      cmocka_unit_test(every_device_is_documented),
      cmocka_unit_test(every_output_is_tested),
      cmocka_unit_test(every_option_is_in_the_help_and_the_manual_page),
      cmocka_unit_test(help_is_80_columns_wide),
      cmocka_unit_test(every_word_can_be_completed),
      slow_test(patches_are_as_the_tool_says),
  };
  return cmocka_run_group_tests_name("docs", tests, NULL, NULL);
}
