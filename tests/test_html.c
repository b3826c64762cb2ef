/* The page: well-formed, small, harmless, the same each time. */
#include "netc.h"
#include "tests/run.h"

static void check_pages(const char *folder) {
  struct run r = run("/usr/bin/python3 tests/pages.py $(find %s -type f "
                     "-name '*.html')",
                     folder);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static bool collect(void *user, const char *bytes, size_t length) {
  return fwrite(bytes, 1, length, user) == length;
}

/* The page of a text under that name; its size. */
static size_t put_page(const char *path, const char *name, const char *text) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_load_text(netc, name, text, strlen(text)), NETC_OK);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(netc_emit(netc, "html", NULL, collect, file), NETC_OK);
  long size = ftell(file);
  fclose(file);
  netc_close(netc);
  return (size_t)size;
}

static void those_of_every_net_are_well_formed(void **state) {
  (void)state;
  static const char *const options[] = {
      "", "--gpu t4 --batch 512", "--depth 1 --layout=chw --units=si",
      "--expand --unfold", "--columns macs,params --batch 4"};
  const char *folder = scratch("html");
  struct paths nets = find_paths("examples", ".net");
  for (size_t i = 0; i < nets.count; i++) {
    struct run r = run(NETC " %s %s -o %s/n%zu.html", nets.at[i],
                       options[(strlen(nets.at[i]) + 1) % 5], folder, i);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  check_pages(folder);
  paths_free(&nets);
}

static void warnings_stand_at_their_lines(void **state) {
  (void)state;
  const char *folder = scratch("html-golden");
  struct paths nets = find_paths("tests/golden", ".net");
  for (size_t i = 0; i < nets.count; i++) {
    struct run r =
        run("timeout 20 " NETC " %s -o %s/n%zu.html", nets.at[i], folder, i);
    run_free(&r); /* most have errors, and no page */
  }
  check_pages(folder);
  paths_free(&nets);
  char path[256];
  snprintf(path, sizeof path, "%s/warned.html", folder);
  put_page(path, "warned.net", "input 9x9x3\n\tpool 2x2\nfc 10\n");
  char *page = read_text(path, NULL);
  assert_holds(page, "<div class=\"line\" id=\"s0L2\">        pool 2x2</div>\n"
                     "<div class=\"carets\"><span aria-hidden=\"true\">"
                     "        ^^^^^^^^</span> reads 8x8</div>\n");
  assert_holds(page, "<code>pool-remainder</code>");
  free(page);
}

static void resnet50_is_far_below_a_megabyte(void **state) {
  (void)state;
  char path[256];
  size_t length;
  snprintf(path, sizeof path, "%s/resnet50.html", scratch("html-size"));
  struct run r = run(NETC " examples/resnet50.net -o %s", path);
  assert_int_equal(r.status, 0);
  run_free(&r);
  char *page = read_text(path, &length);
  assert_in_range(length, 100000, 300000);
  assert_holds(page,
               "data-n=\"stem.conv1\" data-l=\"s0L16\" data-f=\"each side "
               "floor((224 + 3 + 3 - 7) / 2) + 1 = 112\n");
  free(page);
}

/* About a kilobyte for each layer that is like no other. */
static void many_layers_stay_small(void **state) {
  (void)state;
  enum { LAYERS = 5000, ROOM = 40 * LAYERS };
  const char *folder = scratch("html-long");
  char path[256], *text = malloc(ROOM);
  assert_non_null(text);
  size_t used = (size_t)snprintf(text, ROOM, "input 8x8x4\n");
  for (int i = 0; i < LAYERS; i++)
    used +=
        (size_t)snprintf(text + used, ROOM - used, "conv %d %dx%d pad\n",
                         i * i % 997 % 64 + 1, i % 3 * 2 + 1, i % 3 * 2 + 1);
  snprintf(path, sizeof path, "%s/long.html", folder);
  assert_in_range(put_page(path, "long.net", text), 1, 8000000);
  snprintf(path, sizeof path, "%s/equal.html", folder);
  assert_in_range(put_page(path, "equal.net",
                           "input 8x8x4\nrepeat 10000 { conv 4 3x3 pad }\n"),
                  1, 800000);
  free(text);
  check_pages(folder);
}

static void names_that_mean_something_else_are_harmless(void **state) {
  (void)state;
  static const char *const names[] = {
      "a<b>&amp;\"'`;--#{}[]()|.net",
      "</script><script>alert(1)</script>.net",
      "</title></style><img src=x onerror=alert(1)>.net",
      "\" onmouseover=\"alert(1)\" x=\".net",
      "line\nline\r\ttab\x1b[31m\x01.net",
      "\xE2\x80\xAE\xE2\x81\xA6right to left\xEF\xBB\xBF\xE2\x80\xA8.net",
      "\xFF\xFE\xC0\x80\xED\xA0\x80\xEF\xBF\xBF.net",
      "]]><!--<![CDATA[.net",
      "javascript:alert(1)"};
  static const char text[] =
      "input 8x8x3 # </div></script><script>alert(1)</script><!-- \" ' &lt;\n"
      "conv 4 3x3 pad relu # \xE7\xA5\x9E ]]> </div>\r\nfc 10 # `${alert(1)}`";
  const char *folder = scratch("html-names");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[256];
    snprintf(path, sizeof path, "%s/h%zu.html", folder, i);
    put_page(path, names[i], text);
  }
  check_pages(folder);
}

static void no_path_of_the_machine_is_told(void **state) {
  (void)state;
  const char *folder = scratch("html-path");
  struct run r =
      run("cd %s && mkdir -p one two && cp %s/examples/resnet50.net "
          "one && cp one/resnet50.net two && cd one && " NETC_PATH
          " \"$PWD/resnet50.net\" -o x.html && cd ../two && " NETC_PATH
          " \"$PWD/resnet50.net\" -o x.html && cd .. && "
          "cmp one/x.html two/x.html && ! grep -F \"$PWD\" "
          "one/x.html",
          folder, "\"$OLDPWD\"");
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* The compiler for the page is a file beside the program; here a word. */
static void live_pages_have_the_compiler_and_what_was_chosen(void **state) {
  static const char *const refused[][2] = {
      {"--live", "--live needs a page: add `-o x.html`"},
      {"--live -o x.html --unfold",
       "--live: the page cannot recompile the net with `--unfold`; leave one"},
      {"--live -o x.html -I examples",
       "--live: the page cannot recompile the net with `-I FOLDER`; leave one"},
      {"--live -o x.html",
       "`make web` builds it, then `make install` installs it"}};
  static const char *const words[] = {
      "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:",
      "THE COMPILER\n<script>\n",
      "\\u003c/script>",
      "\"name\": \"x.net\"",
      "\"batch\": \"4\"",
      "\"n\": \"9\"",
      "\"\": \"16\""};
  const char *folder = scratch("html-live");
  (void)state;
  struct run r = run("cd %s && rm -rf bin share && mkdir -p bin share/netc && "
                     "cp " NETC_PATH " bin && printf 'param n = 2\ninput 8\n"
                     "fc n # </script>\n' >x.net",
                     folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    r = run("cd %s && bin/netc x.net %s", folder, refused[i][0]);
    assert_holds(r.err, refused[i][1]);
    assert_int_equal(r.status, i == 3 ? 3 : 2);
    run_free(&r);
  }
  r = run("cd %s && test ! -e x.html && echo THE COMPILER "
          ">share/netc/live.html && bin/netc \"$PWD/x.net\" -Dn=9 --batch 4 "
          "--input 16 --live -o x.html && cat x.html && ! grep -F \"$PWD\" "
          "x.html",
          folder);
  assert_int_equal(r.status, 0);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    assert_holds(r.out, words[i]);
  run_free(&r);
  /* the source of an import has its sizes */
  r = run("cd %s && printf 'import torch.nn as nn\nclass N(nn.Module):\n"
          "  def __init__(self):\n    super().__init__()\n"
          "    self.f = nn.Linear(8, 4)\n  def forward(self, f):\n"
          "    return self.f(f)\n' >x.py && "
          "bin/netc x.py --input f=8 --live -o y.html && cat y.html",
          folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "\"input\": {}");
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(those_of_every_net_are_well_formed),
      slow_test(warnings_stand_at_their_lines),
      cmocka_unit_test(resnet50_is_far_below_a_megabyte),
      cmocka_unit_test(many_layers_stay_small),
      cmocka_unit_test(names_that_mean_something_else_are_harmless),
      cmocka_unit_test(no_path_of_the_machine_is_told),
      cmocka_unit_test(live_pages_have_the_compiler_and_what_was_chosen),
  };
  return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}
