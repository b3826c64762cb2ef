/*
 * What must hold for every net that compiles, and not only for those whose
 * output somebody looked at: all examples and all golden cases.
 */
#define _POSIX_C_SOURCE 200809L
#include <jansson.h>

#include "tests/run.h"

static struct paths nets;

/* True if diagnostics beside a golden case say that it fails. */
static bool may_fail(const char *path) {
  struct run r = run("s=%s; grep -qs '^exit [^0]' ${s%%.net}.err "
                     "${s%%.net}.jsondiag",
                     path);
  run_free(&r);
  return r.status == 0;
}

static int find_nets(void **state) {
  (void)state;
  struct paths all = find_paths("tests/golden", ".net");
  struct paths examples = find_paths("examples", ".net");
  nets.at = calloc(all.count + examples.count, sizeof *nets.at);
  int broken = 0;
  size_t compiled = 0;
  for (size_t i = 0; i < all.count + examples.count; i++) {
    const char *path = i < all.count ? all.at[i] : examples.at[i - all.count];
    if (strstr(path, ".out.net"))
      continue;
    struct run r = run(NETC " check %s", path);
    if (r.status == 0 && in_part(compiled++, 10)) {
      nets.at[nets.count++] = strdup(path);
    } else if (r.status > 1 || (r.status == 1 && !may_fail(path))) {
      print_error("%s: exit %d\n%s", path, r.status, r.err);
      broken++;
    }
    run_free(&r);
  }
  paths_free(&all);
  paths_free(&examples);
  return broken;
}

static int free_nets(void **state) {
  (void)state;
  paths_free(&nets);
  return 0;
}

static char *emit(const char *kind, const char *path) {
  struct run r = run(NETC " --emit=%s %s", kind, path);
  if (r.status != 0)
    print_error("%s: %s", path, r.err);
  assert_int_equal(r.status, 0);
  free(r.err);
  return r.out;
}

static json_t *report(const char *path) {
  char *text = emit("json", path);
  json_error_t error;
  json_t *json = json_loads(text, 0, &error);
  if (!json)
    print_error("%s: line %d: %s\n", path, error.line, error.text);
  assert_non_null(json);
  free(text);
  return json;
}

static json_int_t number(json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  assert_true(json_is_integer(value));
  return json_integer_value(value);
}

static const char *const counts[] = {"param_count", "trainable_count",
                                     "buffer_count", "activation_count",
                                     "mac_count"};

static void layers_sum_to_the_totals(void **state) {
  (void)state;
  for (size_t i = 0; i < nets.count; i++) {
    json_t *json = report(nets.at[i]), *layer;
    json_t *totals = json_object_get(json, "totals");
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      json_int_t sum = 0;
      size_t k;
      json_array_foreach(json_object_get(json, "layers"), k, layer) sum +=
          number(layer, counts[c]);
      assert_true(sum == number(totals, counts[c]));
    }
    json_decref(json);
  }
}

static void layers_refer_to_layers_before_them(void **state) {
  (void)state;
  for (size_t i = 0; i < nets.count; i++) {
    json_t *json = report(nets.at[i]), *layer, *input;
    json_t *layers = json_object_get(json, "layers");
    size_t k, n;
    json_array_foreach(layers, k, layer) {
      assert_true(number(layer, "index") == (json_int_t)k);
      json_t *in = json_object_get(layer, "in");
      json_array_foreach(json_object_get(layer, "inputs"), n, input) {
        json_int_t from = json_integer_value(input);
        assert_true(from >= 0 && from < (json_int_t)k);
        json_t *out = json_array_get(
            json_object_get(json_array_get(layers, (size_t)from), "out"), 0);
        assert_true(json_equal(out, json_array_get(in, n)));
      }
    }
    json_decref(json);
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void names_of_layers_are_unique(void **state) {
  (void)state;
  for (size_t i = 0; i < nets.count; i++) {
    json_t *json = report(nets.at[i]), *layer;
    json_t *layers = json_object_get(json, "layers");
    size_t k, count = json_array_size(layers);
    const char **names = calloc(count, sizeof *names);
    json_array_foreach(layers, k, layer) names[k] =
        json_string_value(json_object_get(layer, "name"));
    qsort(names, count, sizeof *names, by_name);
    for (k = 1; k < count; k++)
      assert_string_not_equal(names[k - 1], names[k]);
    free(names);
    json_decref(json);
  }
}

static void the_schema_describes_every_report(void **state) {
  (void)state;
  const char *dir = scratch("schema");
  for (size_t i = 0; i < nets.count; i++) {
    struct run r = run(NETC " %s -o %s/%zu.json", nets.at[i], dir, i);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  struct run r = run("/usr/bin/python3 tests/validate.py "
                     "docs/report.schema.json %s/*.json",
                     dir);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* The sum of a column of the CSV table, by its place from 0. */
static long long column_sum(const char *csv, int column) {
  long long sum = 0;
  const char *line = strchr(csv, '\n') + 1;
  for (; *line; line = strchr(line, '\n') + 1) {
    const char *end = strchr(line, '\n'), *at = end;
    for (int back = 10 - column; back > 0; back--)
      while (*--at != ',')
        ;
    sum += strtoll(at + 1, NULL, 10);
  }
  return sum;
}

static void rows_of_tables_sum_to_the_totals(void **state) {
  (void)state;
  static const struct {
    const char *key;
    int column;
  } columns[] = {{"activation_count", 4},
                 {"param_count", 5},
                 {"mac_count", 6},
                 {"activation_bytes", 7}};
  static const char *const looks[] = {"", "--depth 1", "--expand"};
  for (size_t i = 0; i < nets.count; i++) {
    json_t *json = report(nets.at[i]);
    json_t *totals = json_object_get(json, "totals");
    for (size_t look = 0; look < 3; look++) {
      struct run r = run(NETC " --emit=csv %s %s", looks[look], nets.at[i]);
      assert_int_equal(r.status, 0);
      for (size_t c = 0; c < 4; c++)
        assert_true(column_sum(r.out, columns[c].column) ==
                    number(totals, columns[c].key));
      run_free(&r);
    }
    json_decref(json);
  }
}

static void same_memory(const char *name, json_t *before, json_t *after) {
  static const char *const keys[] = {"saved_bytes", "peak_bytes",
                                     "forward_peak_bytes"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    json_int_t a = number(json_object_get(before, "training"), keys[i]);
    json_int_t b = number(json_object_get(after, "training"), keys[i]);
    if (a != b)
      print_error("%s: %s %lld, written out %lld\n", name, keys[i],
                  (long long)a, (long long)b);
    assert_true(a == b);
  }
}

/* The written-out source is the same net. */
static void the_expanded_source_gives_the_same_net(void **state) {
  (void)state;
  const char *dir = scratch("expanded");
  for (size_t i = 0; i < nets.count; i++) {
    char path[300], *text = emit("net", nets.at[i]);
    snprintf(path, sizeof path, "%s/flat.net", dir);
    write_text(path, text, strlen(text));
    json_t *before = report(nets.at[i]), *after = report(path);
    if (!json_equal(json_object_get(before, "totals"),
                    json_object_get(after, "totals")))
      print_error("%s\n%s", nets.at[i], text);
    assert_true(json_equal(json_object_get(before, "totals"),
                           json_object_get(after, "totals")));
    json_t *a = json_object_get(before, "layers");
    json_t *b = json_object_get(after, "layers");
    assert_int_equal(json_array_size(a), json_array_size(b));
    for (size_t k = 0; k < json_array_size(a); k++) {
      static const char *const keys[] = {"op", "out", "inputs", "param_count"};
      for (size_t n = 0; n < 4; n++)
        assert_true(json_equal(json_object_get(json_array_get(a, k), keys[n]),
                               json_object_get(json_array_get(b, k), keys[n])));
    }
    if (!strstr(text, "# a checkpoint"))
      same_memory(nets.at[i], before, after);
    struct run again = run(NETC " --emit=net %s", path);
    struct run plain = run("grep -v '^ *# ' %s", path);
    assert_same_text(nets.at[i], plain.out, again.out);
    run_free(&again);
    run_free(&plain);
    json_decref(before);
    json_decref(after);
    free(text);
  }
}

/* Formatting keeps the tree and the comments, and settles at once. */
static void formatting_changes_only_blanks(void **state) {
  (void)state;
  const char *dir = scratch("formatted");
  struct paths all = find_paths("tests/golden", ".net");
  for (size_t i = 0; i < all.count; i++) {
    if (!in_part(i, 10))
      continue;
    struct run once = run(NETC " fmt %s", all.at[i]);
    if (once.status == 0) {
      char path[300];
      snprintf(path, sizeof path, "%s/once.net", dir);
      write_text(path, once.out, strlen(once.out));
      struct run twice = run(NETC " fmt %s", path);
      assert_same_text(all.at[i], once.out, twice.out);
      struct run before = run(NETC " --dump=ast %s", all.at[i]);
      struct run after = run(NETC " --dump=ast %s", path);
      assert_same_text(all.at[i], before.out, after.out);
      struct run comments = run("cat %s | tr -d '\\r' | grep -o '#.*' | "
                                "sed 's/ *$//'",
                                all.at[i]);
      struct run kept = run("grep -o '#.*' %s", path);
      assert_same_text(all.at[i], comments.out, kept.out);
      run_free(&twice);
      run_free(&before);
      run_free(&after);
      run_free(&comments);
      run_free(&kept);
    }
    run_free(&once);
  }
  paths_free(&all);
}

/* Marks that are written are true. */
static void marks_that_are_written_hold(void **state) {
  (void)state;
  const char *dir = scratch("marked");
  for (size_t i = 0; i < nets.count; i++) {
    struct run marked = run(NETC " fmt --shapes %s", nets.at[i]);
    char path[300];
    snprintf(path, sizeof path, "%s/marked.net", dir);
    write_text(path, marked.out, strlen(marked.out));
    struct run r = run(NETC " check -I tests/golden/language %s", path);
    if (strstr(r.err, "shape-mark"))
      print_error("%s: %s", nets.at[i], r.err);
    assert_null(strstr(r.err, "shape-mark"));
    struct run again = run(NETC " fmt --shapes %s", path);
    if (!strstr(marked.out, "use "))
      assert_same_text(nets.at[i], marked.out, again.out);
    run_free(&again);
    run_free(&marked);
    run_free(&r);
  }
}

static void graphviz_accepts_every_diagram(void **state) {
  (void)state;
  for (size_t i = 0; i < nets.count; i++) {
    struct run r = run(NETC " --emit=dot %s 2>/dev/null | dot -Tcanon "
                            "-o /dev/null",
                       nets.at[i]);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.err, "");
    run_free(&r);
  }
}

static void the_same_source_gives_the_same_bytes(void **state) {
  (void)state;
  static const char *const kinds[] = {"txt", "json", "dot", "net"};
  for (size_t i = 0; i < nets.count; i++) {
    for (size_t k = 0; k < 4; k++) {
      char *first = emit(kinds[k], nets.at[i]);
      char *second = emit(kinds[k], nets.at[i]);
      assert_string_equal(first, second);
      free(first);
      free(second);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_sum_to_the_totals),
      cmocka_unit_test(layers_refer_to_layers_before_them),
      cmocka_unit_test(names_of_layers_are_unique),
      cmocka_unit_test(the_schema_describes_every_report),
      cmocka_unit_test(rows_of_tables_sum_to_the_totals),
      cmocka_unit_test(the_expanded_source_gives_the_same_net),
      cmocka_unit_test(formatting_changes_only_blanks),
      cmocka_unit_test(marks_that_are_written_hold),
      cmocka_unit_test(graphviz_accepts_every_diagram),
      cmocka_unit_test(the_same_source_gives_the_same_bytes),
  };
  run_in_both_parts();
  return cmocka_run_group_tests_name("properties", tests, find_nets, free_nets);
}
