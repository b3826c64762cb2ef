/* netc init: its templates compile, and are what their comments say. */
#include <inttypes.h>

#include "netc.h"
#include "tests/run.h"

static const char folder[] = "examples/templates";

/* The number before a word of a text: "288,746" of "288,746 parameters",
 * which may go on in a comment's next line. */
static int64_t number_before(const char *text, const char *word) {
  const char *at = strstr(text, word);
  int64_t number = 0, unit = 1;
  while (at && at > text && strchr("\n# ", at[-1]))
    at--;
  for (; at && at > text && strchr("0123456789,.", at[-1]); at--) {
    if (at[-1] == ',' || at[-1] == '.')
      continue;
    number += unit * (at[-1] - '0');
    unit *= 10;
  }
  return number;
}

static void check_template(const char *path) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_totals totals = {.size = sizeof totals};
  struct netc_inference inference = {.size = sizeof inference};
  size_t length, lines = 0, comments = 0;
  char *text = read_text(path, &length);
  assert_non_null(text);
  for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
    lines++;
  for (const char *at = text; (at = strchr(at, '#')) != NULL; at++)
    comments++;
  if (lines < 15 || lines > 27 || comments < 4)
    fail_msg("%s: %zu lines, %zu comments", path, lines, comments);
  assert_int_equal(netc_load_file(netc, path), NETC_OK);
  if (netc_diagnostic_count(netc) != 0)
    fail_msg("%s has warnings", path);
  netc_totals(netc, &totals);
  netc_inference(netc, &inference);
  if (number_before(text, "parameters") != totals.param_count)
    fail_msg("%s says %" PRId64 " parameters, and has %" PRId64, path,
             number_before(text, "parameters"), totals.param_count);
  if (strstr(text, "of arena"))
    assert_int_equal(number_before(text, "KiB of arena"),
                     (inference.arena_bytes * 100 + 512) / 1024);
  free(text);
  netc_close(netc);
  expect(text_of(NETC " fmt --check %s", path), 0, "", "");
}

static void templates_are_what_they_say(void **state) {
  (void)state;
  struct paths paths = find_paths(folder, ".net");
  for (size_t i = 0; i < paths.count; i++) {
    const char *name = strrchr(paths.at[i], '/') + 1;
    check_template(paths.at[i]);
    expect(text_of(NETC " init %.*s -o - | cmp - %s", (int)strcspn(name, "."),
                   name, paths.at[i]),
           0, "", "");
  }
  expect(text_of("[ $(" NETC " init | grep -c '^[a-z]') = %zu ]", paths.count),
         0, "", "");
  paths_free(&paths);
}

/* Commands that a comment offers to try. */
static void params_of_templates_can_be_changed(void **state) {
  (void)state;
  expect(NETC " check examples/templates/cnn.net -D width=64 -D classes=100 "
              "&& " NETC " check examples/templates/unet.net -D width=64 "
              "-D classes=5 && " NETC " check examples/templates/llm.net "
              "-D layers=24 -D width=1024 && " NETC
              " check examples/templates/detector.net -D classes=80",
         0, "", "");
  expect(NETC " check examples/templates/mcu.net -D width=16", 1, "",
         "but the budget is");
}

static void a_net_is_written_once(void **state) {
  (void)state;
  const char *dir = scratch("init");
  struct run r = run("cd %s && " NETC_PATH " init cnn && netc() { " NETC_PATH
                     " \"$@\"; }; netc init cnn | sed -n 's/^  netc //p' | "
                     "wc -l; netc cnn.net --unfold && netc cnn.net --batch 256 "
                     "--gpu t4 >/dev/null && netc params cnn.net",
                     dir);
  assert_int_equal(r.status, 0);
  assert_non_null(
      strstr(r.out, "cnn.net: an image classifier. Next:\n  netc cnn.net\n"));
  assert_non_null(strstr(r.out, "cnn   289 K parameters\n"));
  assert_non_null(strstr(r.out, "288,746"));
  assert_non_null(strstr(r.err, "cnn.net exists and was not changed; "));
  run_free(&r);
  expect(text_of("cd %s && echo mine >x.net && " NETC_PATH
                 " init llm -o x.net; echo $? && cat x.net && " NETC_PATH
                 " init llm -o y.net && cmp y.net $OLDPWD/%s/llm.net",
                 dir, folder),
         0, "2\nmine\ny.net: a language model", "");
  expect(text_of(NETC " init mcu -o %s/no/x.net", dir), 3, "", "No such file");
  expect(NETC " init mcu -o - >/dev/full", 3, "", "No space left");
  expect(NETC " init unett", 2, "", "did you mean `unet`?");
  expect(NETC " init gan", 2, "",
         "unknown template `gan`; `netc init` lists the templates");
  expect(NETC " init cnn my.net", 2, "", "`netc init cnn -o my.net`");
  expect(NETC " init -o x.net", 2, "",
         "name a template; `netc init` lists them");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(templates_are_what_they_say),
      cmocka_unit_test(params_of_templates_can_be_changed),
      cmocka_unit_test(a_net_is_written_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
