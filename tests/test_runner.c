/* tests/check.sh and `make check`: what fails there cannot pass unseen. */
#include "tests/run.h"

/* Programs that end like ones of cmocka, and the last line that is said. */
static const struct {
  const char *script, *ci;
  int status;
  const char *last;
} runs[] = {
    {"echo '[  PASSED  ] 3 test(s).'", "1", 0,
     "3 passed, 0 failed, 0 skipped\n"},
    {"echo '[  PASSED  ] 3 test(s).'; echo '[  SKIPPED ] 2 test(s), listed'",
     "", 0, "3 passed, 0 failed, 2 skipped\n"},
    {"echo '[  PASSED  ] 3 test(s).'; echo '[  SKIPPED ] 2 test(s), listed'",
     "1", 1, "3 passed, 0 failed, 2 skipped\n"},
    {"echo '[  PASSED  ] 3 test(s).'; echo '[  FAILED  ] 2 test(s), listed';"
     "exit 2",
     "", 1, "3 passed, 2 failed, 0 skipped\n"},
    {"echo '[  PASSED  ] 3 test(s).'; echo '[  SKIPPED ] x: 2 test(s), listed'",
     "1", 1, "3 passed, 0 failed, 2 skipped\n"},
    {"kill -SEGV $$", "", 1, "0 passed, 1 failed, 0 skipped\n"},
    {"echo '[  PASSED  ] 3 test(s).'; kill -SEGV $$", "", 1,
     "3 passed, 1 failed, 0 skipped\n"},
    {"true", "", 1, "0 passed, 1 failed, 0 skipped\n"},
    {"echo '[  PASSED  ] 0 test(s).'", "", 1,
     "0 passed, 1 failed, 0 skipped\n"},
};

static void what_failed_or_was_skipped_is_counted(void **state) {
  (void)state;
  const char *folder = scratch("programs");
  char script[300], path[1300];
  snprintf(path, sizeof path, "%s/program", folder);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    snprintf(script, sizeof script, "#!/bin/sh\n%s\n", runs[i].script);
    write_in(folder, "program", script);
    struct run r = run("chmod +x %s && CI=%s tests/check.sh 2 %s | tail -n 1 "
                       ">%s/last; cat %s/last",
                       path, runs[i].ci, path, folder, folder);
    assert_same_text(runs[i].script, runs[i].last, r.out);
    run_free(&r);
    r = run("CI=%s tests/check.sh 2 %s", runs[i].ci, path);
    assert_int_equal(r.status, runs[i].status);
    run_free(&r);
  }
}

static void a_test_that_is_none_is_an_error(void **state) {
  (void)state;
  expect("env -u MAKEFLAGS make -n check T='gloden base'", 2, NULL,
         "there is no test gloden; there are: answers asked ");
  expect("env -u MAKEFLAGS make -n check-long T=gloden", 2, NULL,
         "there is no test gloden");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_failed_or_was_skipped_is_counted),
      cmocka_unit_test(a_test_that_is_none_is_an_error)};
  return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
