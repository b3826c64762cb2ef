/*
 * What netc says of many nets, as it is now. `make bless` writes both tables
 * anew, and what changed is to be read; PyTorch's own figures stand in other
 * tables, and these follow from them or are what no other program says.
 *
 * tests/data/figures.csv: nets and their figures under several settings, with
 * checksums: of every layer, the weights, the operations, the arena; at the
 * end of all numbers of training and prediction in JSON, with the timeline.
 *
 * tests/data/limits.txt: nets in which # stands for an integer, or ? for any
 * number. Below each is which numbers are refused, with the first one's
 * message, and which are not, with a checksum of what comes of them. A net
 * without either is refused.
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "tests/report.h"

/* How a net is trained: `saved` and `peak` under each, of the device that has
 * most; a dash for nets that cannot be trained so. */
static const char *const ways[] = {
    "batch=2 loss=crossentropy",
    "batch=3 profile=torch1-cpu optimizer=adam loss=sum inplace=off",
    "precision=mixed optimizer=adamw norms=fused checkpoint=2 clip=on",
    "dtype=bf16 checkpoint=selective decode=3 weight_dtype=q8_0 fold=off",
    "batch=4 tensor_parallel=2 sequence_parallel=on",
    "batch=4 context_parallel=2 data_parallel=2 zero=3",
    "batch=4 data_parallel=2 expert_parallel=2 inplace=off",
};
enum { WAYS = sizeof ways / sizeof *ways };

static uint32_t mix(uint32_t sum, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8)
    sum = (sum ^ (uint32_t)(value >> shift & 255)) * 0x01000193u; /* FNV-1a */
  return sum;
}

static uint32_t mix_real(uint32_t sum, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return mix(sum, bits);
}

static uint32_t mix_text(uint32_t sum, const char *text) {
  for (; *text; text++)
    sum = mix(sum, (unsigned char)*text);
  return mix(sum, 0);
}

static uint32_t mix_all(uint32_t sum, const int64_t *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    sum = mix(sum, (uint64_t)numbers[i]);
  return mix(sum, count);
}

#define MIX(sum, ...)                          \
  mix_all(sum, (const int64_t[]){__VA_ARGS__}, \
          sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static uint32_t layers_of(struct netc *netc) {
  uint32_t sum = 0;
  for (size_t i = 0; i < netc_layer_count(netc); i++) {
    struct netc_layer l = {.size = sizeof l};
    netc_layer(netc, i, &l);
    sum = mix_all(sum, l.out.dims, (size_t)l.out.rank);
    sum = mix_all(sum, l.inputs, l.input_count);
    sum = MIX(sum, (int64_t)l.out.type, l.param_count, l.trainable_count,
              l.buffer_count, l.mac_count, l.activation_count, l.saved_bytes);
  }
  return sum;
}

static uint32_t weights_of(struct netc *netc) {
  uint32_t sum = 0;
  struct netc_weight w = {.size = sizeof w};
  for (size_t i = 0; netc_weight(netc, i, &w) == NETC_OK; i++) {
    sum = mix_all(mix_text(sum, w.name), w.dims, (size_t)w.rank);
    sum = MIX(sum, w.layer, w.count, w.buffer, w.trained, w.sines);
    sum = mix_real(mix_real(sum, w.center), w.spread);
  }
  struct netc_tensor t = {.size = sizeof t};
  for (size_t i = 0; netc_tensor(netc, i, &t) == NETC_OK; i++) {
    sum = mix_all(sum, t.dims, (size_t)t.rank);
    sum = mix_all(sum, t.strides, (size_t)t.rank);
    sum = MIX(sum, t.layer, t.weight, t.first, t.offset, t.norm);
    sum = mix_real(sum, t.eps);
  }
  return sum;
}

static uint32_t mix_operands(uint32_t sum, const struct netc_operand *o,
                             size_t count) {
  for (; count > 0; o++, count--) {
    sum = mix_all(sum, o->dims, (size_t)o->rank);
    sum = mix_all(sum, o->strides, (size_t)o->rank);
    sum = MIX(sum, o->block, o->tensor, (int64_t)o->type, o->first);
  }
  return sum;
}

static uint32_t operations_of(struct netc *netc) {
  uint32_t sum = 0;
  struct netc_operation o = {.size = sizeof o};
  for (size_t i = 0; netc_operation(netc, i, &o) == NETC_OK; i++) {
    sum = mix_text(mix_text(MIX(sum, o.layer), o.part), o.code);
    sum = mix_operands(sum, o.outs, o.out_count);
    sum = mix_operands(sum, o.ins, o.in_count);
    sum = mix_all(sum, o.numbers, o.number_count);
    for (size_t j = 0; j < o.real_count; j++)
      sum = mix_real(sum, o.reals[j]);
  }
  return sum;
}

static uint32_t arena_of(struct netc *netc) {
  uint32_t sum = 0;
  struct netc_buffer b = {.size = sizeof b};
  for (size_t i = 0; netc_buffer(netc, i, &b) == NETC_OK; i++)
    sum =
        MIX(mix_text(sum, b.part), b.layer, b.offset, b.bytes, b.first, b.last);
  return sum;
}

static uint32_t numbers_of(uint32_t sum, json_t *json) {
  const char *key;
  json_t *member;
  size_t i;
  json_object_foreach(json, key, member) sum = numbers_of(sum, member);
  json_array_foreach(json, i, member) sum = numbers_of(sum, member);
  if (json_is_integer(json))
    return mix(sum, (uint64_t)json_integer_value(json));
  return json_is_real(json) ? mix_real(sum, json_real_value(json))
                            : mix(sum, (uint64_t)json_typeof(json));
}

/* Opens a net; NULL if it is refused. */
static struct netc *load(const char *net, const char *settings) {
  struct netc *netc = netc_open(NULL, NULL);
  choose(netc, settings);
  bool path = strchr(net, '/') && strstr(net, ".net");
  if ((path ? netc_load_file(netc, net)
            : netc_load_text(netc, "row", net, strlen(net))) == NETC_OK)
    return netc;
  netc_close(netc);
  return NULL;
}

static void put_prediction(FILE *out, struct netc *netc) {
  struct netc_totals t = {.size = sizeof t};
  struct netc_inference i = {.size = sizeof i};
  netc_totals(netc, &t);
  netc_inference(netc, &i);
  fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, t.param_count, t.mac_count,
          t.activation_count);
  fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, i.arena_bytes,
          i.peak_live_bytes, i.framework_peak_bytes);
  fprintf(out, ",%08x,%08x,%08x,%08x", layers_of(netc), weights_of(netc),
          operations_of(netc), arena_of(netc));
}

static void put_step(FILE *out, struct netc *netc) {
  struct netc_training t = {.size = sizeof t};
  struct netc_devices d = {.size = sizeof d};
  struct netc_stage s = {.size = sizeof s};
  netc_training(netc, &t);
  netc_devices(netc, &d);
  if (d.stage_count > 0) {
    netc_stage(netc, d.most_loaded, &s);
    t.saved_bytes = s.saved_bytes;
    t.peak_bytes = s.peak_bytes;
  }
  fprintf(out, ",%" PRId64 ",%" PRId64, t.saved_bytes, t.peak_bytes);
}

static void put_figures(FILE *out, const char *net) {
  uint32_t sum = 0;
  fprintf(out, "\"%s\"", net);
  for (int i = 0; i < WAYS; i++) {
    struct netc *netc = load(net, ways[i]);
    if (netc) {
      if (i == 0)
        put_prediction(out, netc);
      put_step(out, netc);
      json_t *json = report(netc, NETC_OK);
      sum = numbers_of(sum, json_object_get(json, "training"));
      sum = numbers_of(sum, json_object_get(json, "inference"));
      json_decref(json);
    } else {
      fprintf(out, ",-,-");
    }
  }
  fprintf(out, ",%08x\n", sum);
}

/* Limits */

static const char *const integers[] = {"-2",
                                       "-1",
                                       "0",
                                       "1",
                                       "2",
                                       "3",
                                       "4",
                                       "5",
                                       "6",
                                       "7",
                                       "8",
                                       "9",
                                       "10",
                                       "12",
                                       "16",
                                       "17",
                                       "31",
                                       "32",
                                       "33",
                                       "64",
                                       "100",
                                       "128",
                                       "256",
                                       "999",
                                       "4097",
                                       "2147483648",
                                       "1099511627776", /* 2^40 */
                                       "1099511627777",
                                       "2305843009213693952", /* 2^61 */
                                       NULL};
static const char *const reals[] = {"-1",  "0", "0.25", "0.5",   "1",
                                    "1.5", "2", "100",  "1e300", NULL};

/* Numbers tried at a place; behind a digit of a size none is below 0. */
static const char *const *numbers_at(const char *net, const char *hole) {
  if (*hole == '?')
    return reals;
  return hole > net && strchr("0123456789x:", hole[-1]) ? integers + 2
                                                        : integers;
}

/*
 * Errors of a net that is refused, if one more layer follows that takes a
 * tensor of four axes: where nothing is known of its input, it has nothing to
 * say.
 */
static size_t count_errors(const char *net) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_diagnostic d = {.size = sizeof d};
  char text[700];
  size_t count = 0;
  snprintf(text, sizeof text, "%s; slice 3 0:1", net);
  netc_load_text(netc, "row", text, strlen(text));
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++)
    count += d.severity == NETC_SEVERITY_ERROR;
  netc_close(netc);
  return count;
}

/* The result of a net: an error, or the figures that go into `sum`. */
static char *outcome(const char *net, uint32_t *sum) {
  struct netc *netc = netc_open(NULL, NULL);
  char *what = NULL;
  if (netc_load_text(netc, "row", net, strlen(net)) == NETC_OK) {
    struct netc_totals t = {.size = sizeof t};
    netc_totals(netc, &t);
    *sum = MIX(mix(*sum, layers_of(netc)), t.activation_bytes, t.active_count);
  } else {
    struct netc_diagnostic d = {.size = sizeof d};
    size_t i = 0;
    while (netc_diagnostic(netc, i, &d) == NETC_OK &&
           d.severity != NETC_SEVERITY_ERROR)
      i++;
    assert_true(i < netc_diagnostic_count(netc));
    size_t count = count_errors(net);
    assert_true(asprintf(&what, "%s: %s%s%s%s", d.slug, d.message,
                         d.help_count ? "; " : "",
                         d.help_count ? d.help[0] : "",
                         count > 1 ? " (and others)" : "") > 0);
  }
  netc_close(netc);
  return what;
}

/* True if two errors are of one kind. */
static bool alike(const char *a, const char *b) {
  size_t length = a ? strcspn(a, ":") : 0;
  return a && b ? strncmp(a, b, length + 1) == 0 : a == b;
}

static void put_limits(FILE *out, const char *net) {
  const char *hole = strpbrk(net, "#?");
  fprintf(out, "%s\n", net);
  char *last = NULL;
  const char *const *numbers = hole ? numbers_at(net, hole) : NULL;
  size_t from = 0, count = 0;
  while (hole ? numbers[count] != NULL : count == 0)
    count++;
  uint32_t sum = 0;
  for (size_t i = 0; i <= count; i++) {
    char text[600], *now = NULL;
    uint32_t before = sum;
    if (i < count) {
      snprintf(text, sizeof text, "%.*s%s%s",
               hole ? (int)(hole - net) : (int)strlen(net), net,
               hole ? numbers[i] : "", hole ? hole + 1 : "");
      now = outcome(text, &sum);
    }
    if (i > 0 && (i == count || !alike(last, now))) {
      if (hole)
        fprintf(out, "  %s%s%s: ", numbers[from], from + 1 < i ? " to " : "",
                from + 1 < i ? numbers[i - 1] : "");
      if (last)
        fprintf(out, "%s%s\n", hole ? "" : "  ", last);
      else
        fprintf(out, "%s%08x\n", hole ? "" : "  ", before);
      free(last);
      last = now;
      from = i;
    } else if (i == 0) {
      last = now;
    } else {
      free(now);
    }
  }
}

static void figures_are_as_they_were(void **state) {
  (void)state;
  check_rows("tests/data/figures.csv", '"', put_figures);
}

static void limits_are_as_they_were(void **state) {
  (void)state;
  check_rows("tests/data/limits.txt", '\0', put_limits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_are_as_they_were),
      cmocka_unit_test(figures_are_as_they_were),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
