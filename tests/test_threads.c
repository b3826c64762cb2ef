/* Threads: contexts share nothing, and `netc run` shares its work. */
#include <pthread.h>

#include "netc.h"
#include "tests/run.h"

struct result {
  char *at;
  size_t length;
};

static bool collect(void *user, const char *bytes, size_t length) {
  struct result *result = user;
  result->at = realloc(result->at, result->length + length + 1);
  memcpy(result->at + result->length, bytes, length);
  result->length += length;
  result->at[result->length] = '\0';
  return true;
}

static void *compile_many(void *user) {
  struct result *result = user;
  for (int i = 0; i < 50; i++) {
    free(result->at);
    *result = (struct result){0};
    struct netc *netc = netc_open(NULL, NULL);
    if (netc_load_file(netc, "tests/golden/language/defs.net") != NETC_OK ||
        netc_emit(netc, "json", NULL, collect, result) != NETC_OK)
      return "failed";
    netc_close(netc);
  }
  return NULL;
}

static void four_threads_compile_at_the_same_time(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  struct result results[THREADS] = {{0}};
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(
        pthread_create(&threads[i], NULL, compile_many, &results[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
    assert_string_equal(results[i].at, results[0].at);
  }
  for (int i = 0; i < THREADS; i++)
    free(results[i].at);
}

static void a_prediction_is_shared_by_threads(void **state) {
  (void)state;
  const char *folder = scratch("share");
  struct run r = run("%s weights examples/zoo/lenet5.net --random 1 -o "
                     "%s/w.safetensors && %s run examples/zoo/lenet5.net "
                     "--weights %s/w.safetensors --random 7 --threads 4 "
                     "--check",
                     NETC, folder, NETC, folder);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_threads_compile_at_the_same_time),
      cmocka_unit_test(a_prediction_is_shared_by_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
