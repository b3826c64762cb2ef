/* The library as programs use it: include/netc.h and nothing else. */
#include <math.h>
#include <jansson.h>

#include "netc.h"
#include "tests/run.h"

static const char small[] = "net small\n"
                            "input 50x50x3\n"
                            "C1: conv 32 3x3 pad bn relu\n"
                            "P1: pool 2x2\n"
                            "P2: pool 2x2\n"
                            "FC: fc 10 softmax\n";

struct buffer {
  char *at;
  size_t length, limit;
};

static bool collect(void *user, const char *bytes, size_t length) {
  struct buffer *buffer = user;
  if (buffer->limit && buffer->length + length > buffer->limit)
    return false;
  buffer->at = realloc(buffer->at, buffer->length + length + 1);
  memcpy(buffer->at + buffer->length, bytes, length);
  buffer->length += length;
  buffer->at[buffer->length] = '\0';
  return true;
}

/* How many warnings and errors there are; every one is whole. */
static void count_diagnostics(struct netc *netc, int counts[3]) {
  counts[NETC_SEVERITY_WARNING] = counts[NETC_SEVERITY_ERROR] = 0;
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    struct buffer text = {0}, object = {0};
    assert_int_equal(netc_diagnostic(netc, i, &d), NETC_OK);
    counts[d.severity]++;
    assert_non_null(d.slug);
    assert_true(d.place.line >= 1 && d.place.column >= 1);
    assert_true(d.place.end >= d.place.begin);
    assert_int_equal(
        netc_diagnostic_emit(netc, i, NETC_STYLE_TEXT, collect, &text),
        NETC_OK);
    assert_holds(text.at, d.message);
    for (size_t k = 0; k < d.help_count; k++)
      assert_holds(text.at, d.help[k]);
    for (size_t k = 0; k < d.label_count; k++)
      assert_holds(text.at, d.labels[k].text);
    assert_int_equal(
        netc_diagnostic_emit(netc, i, NETC_STYLE_JSON, collect, &object),
        NETC_OK);
    json_t *json = json_loads(object.at, 0, NULL);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "slug")),
                        d.slug);
    json_decref(json);
    free(text.at);
    free(object.at);
  }
}

static struct netc *load(const char *text) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_non_null(netc);
  assert_int_equal(netc_load_text(netc, "small.net", text, strlen(text)),
                   NETC_OK);
  return netc;
}

/* A view that nothing computes has all its axes for its readers. */
static void operands_have_the_rank_of_their_layer(void **state) {
  (void)state;
  static const int64_t dims[2][5] = {{1, 6, 12, 10, 4}, {1, 6, 12, 4, 10}};
  static const int64_t strides[2][5] = {{2880, 480, 40, 4, 1},
                                        {2880, 480, 40, 1, 4}};
  struct netc_operation op = {.size = sizeof op};
  struct netc *netc = load("input 6x12x10x3\nconvlstm 4 5x1 nobias\n"
                           "matmul {} {} transpose\n");
  assert_int_equal(netc_operation(netc, 1, &op), NETC_OK);
  assert_string_equal(op.code, "matmul");
  assert_int_equal(op.in_count, 2);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(op.ins[i].rank, 5);
    assert_memory_equal(op.ins[i].dims, dims[i], sizeof dims[i]);
    assert_memory_equal(op.ins[i].strides, strides[i], sizeof strides[i]);
  }
  netc_close(netc);
}

static void a_net_is_loaded_and_read(void **state) {
  (void)state;
  int counts[3] = {0};
  struct netc_totals totals = {.size = sizeof totals};
  struct netc_layer layer = {.size = sizeof layer};
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_load_text(netc, "small.net", small, strlen(small)),
                   NETC_OK);
  count_diagnostics(netc, counts);
  assert_int_equal(counts[NETC_SEVERITY_WARNING], 1);
  assert_int_equal(counts[NETC_SEVERITY_ERROR], 0);
  assert_int_equal(netc_layer_count(netc), 8);
  assert_int_equal(netc_layer(netc, 1, &layer), NETC_OK);
  assert_string_equal(layer.name, "C1");
  assert_string_equal(layer.op, "conv");
  assert_int_equal(layer.out.rank, 3);
  assert_int_equal(layer.out.dims[0], 50);
  assert_int_equal(layer.out.dims[2], 32);
  assert_int_equal(layer.param_count, 3 * 3 * 3 * 32);
  assert_int_equal(layer.mac_count, 50 * 50 * 32 * 27);
  assert_int_equal(netc_layer(netc, 8, &layer), NETC_USAGE);
  assert_int_equal(netc_totals(netc, &totals), NETC_OK);
  assert_int_equal(totals.param_count, 864 + 64 + 12 * 12 * 32 * 10 + 10);
  assert_int_equal(totals.buffer_count, 64);
  assert_string_equal(netc_source(netc, 0), "small.net");
  assert_null(netc_source(netc, 1));
  netc_close(netc);
}

/* Results of a search, for the chart of one. */
static const struct netc_options *options_of(enum netc_purpose purpose) {
  static const struct netc_goal goals[] = {
      {"MACs", NETC_AMOUNT_COUNT, false},
      {"arena", NETC_AMOUNT_BYTES, true},
      {"training step", NETC_AMOUNT_TIME, true}};
  static const int64_t at[][3] = {
      {1000, 4096, 100}, {900, 4096, 100}, {90000, 100000, 20000}};
  static const struct netc_dot dots[] = {
      {"8, 32", at[0]}, {NULL, at[1]}, {"16, 64", at[2]}};
  static const struct netc_front front = {.size = sizeof front,
                                          .goals = goals,
                                          .goal_count = 3,
                                          .names = "width, input",
                                          .dots = dots,
                                          .dot_count = 3,
                                          .variants = 1000};
  static const struct netc_options options = {.size = sizeof options,
                                              .front = &front};
  return purpose == NETC_FOR_SWEEP ? &options : NULL;
}

static void every_output_is_written_to_a_sink(void **state) {
  (void)state;
  struct netc_output_kind kind = {.size = sizeof kind};
  struct netc *netc = load(small);
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++) {
    struct buffer first = {0}, second = {0};
    assert_int_equal(
        netc_emit(netc, kind.name, options_of(kind.purpose), collect, &first),
        NETC_OK);
    assert_int_equal(
        netc_emit(netc, kind.name, options_of(kind.purpose), collect, &second),
        NETC_OK);
    assert_true(first.length > 0);
    assert_string_equal(first.at, second.at);
    free(first.at);
    free(second.at);
  }
  netc_close(netc);
}

/* The words of a row, without markup; `*row` is then its end. */
static const char *row_words(const char **row) {
  static char words[400];
  size_t length = 0;
  const char *at = *row, *end = strstr(at, "</div>");
  for (bool inside = false; at < end && length + 1 < sizeof words; at++) {
    inside |= *at == '<';
    if (!inside)
      words[length++] = *at;
    inside &= *at != '>';
  }
  words[length] = '\0';
  *row = end;
  return words;
}

/* A page shows the answer from it. */
static void a_card_has_the_lines_of_the_report(void **state) {
  (void)state;
  struct netc_answer answer = {.size = sizeof answer};
  struct netc_options options = {.size = sizeof options, .width = 1000};
  struct buffer card = {0}, report = {0};
  struct netc *netc = load(small);
  assert_int_equal(netc_set(netc, "gpu", "t4"), NETC_OK);
  assert_int_equal(netc_set(netc, "batch", "8000"), NETC_OK);
  assert_int_equal(netc_load_text(netc, "small.net", small, strlen(small)),
                   NETC_OK);
  assert_int_equal(netc_answer(netc, false, &answer), NETC_OK);
  assert_int_equal(netc_emit(netc, "txt.card", &options, collect, &card),
                   NETC_OK);
  assert_int_equal(netc_emit(netc, "txt", &options, collect, &report), NETC_OK);
  json_t *json = json_loads(card.at, 0, NULL), *at;
  const char *html = json_string_value(json_object_get(json, "html"));
  int rows = 0;
  long parts = 0;
  assert_holds(html, "<p class=\"verdict fits\"><strong>fits</strong>, ");
  for (const char *row = html; (row = strstr(row, "<div>")); rows++)
    assert_holds(report.at, row_words(&row));
  assert_true(rows > 3);
  for (const char *part = html; (part = strstr(part, "class=\"part"));)
    if ((part = strchr(part + 7, '"')) && strncmp(part, "\" x=", 4) == 0)
      parts += strtol(strstr(part, "width=\"") + 7, NULL, 10);
  double width = 1e4 * (double)answer.bytes / (double)answer.card_bytes;
  assert_true(width > 500 && fabs((double)parts - width) < 8);
  at = json_object_get(json, "places");
  assert_string_equal(json_string_value(json_array_get(at, 0)), "n.input");
  assert_int_equal(json_integer_value(json_array_get(at, 1)), 2);
  json_decref(json);
  free(card.at);
  free(report.at);
  netc_close(netc);
}

static void a_front_is_what_it_is_said_to_be(void **state) {
  (void)state;
  struct buffer buffer = {0};
  struct netc_options options = *options_of(NETC_FOR_SWEEP);
  struct netc_front front = *options.front;
  struct netc *netc = load(small);
  assert_int_equal(netc_emit(netc, "pareto.svg", NULL, collect, &buffer),
                   NETC_ERROR);
  assert_holds(netc_message(netc), "`netc sweep --pareto` draws it");
  options.front = &front;
  for (front.goal_count = 0; front.goal_count < 6; front.goal_count += 5) {
    assert_int_equal(netc_emit(netc, "pareto.svg", &options, collect, &buffer),
                     NETC_ERROR);
    assert_holds(netc_message(netc),
                 "a front needs 2 to 4 goals and at least one point");
  }
  front.goal_count = 2;
  for (front.dot_count = 1; front.dot_count < 4; front.dot_count++)
    assert_int_equal(netc_emit(netc, "pareto.svg", &options, collect, &buffer),
                     NETC_OK);
  assert_holds(buffer.at, ">8, 32</text>");
  assert_holds(buffer.at, ">16, 64</text>");
  free(buffer.at);
  netc_close(netc);
}

static void what_goes_wrong_is_a_status(void **state) {
  (void)state;
  struct buffer buffer = {0};
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_emit(netc, "txt", NULL, collect, &buffer), NETC_USAGE);
  assert_int_equal(netc_load_file(netc, "build/no/such.net"), NETC_IO);
  assert_holds(netc_message(netc), "cannot read build/no/such.net");
  assert_int_equal(netc_load_text(netc, "x.net", "conv 3", 6), NETC_ERROR);
  assert_int_equal(netc_load_text(netc, "x.net", "conv 3", 6), NETC_ERROR);
  assert_int_equal(netc_emit(netc, "txt", NULL, collect, &buffer), NETC_ERROR);
  assert_int_equal(netc_emit(netc, "tokens", NULL, collect, &buffer), NETC_OK);
  assert_int_equal(netc_emit(netc, "nonsense", NULL, collect, &buffer),
                   NETC_USAGE);
  assert_int_equal(netc_layer_count(netc), 0);
  assert_int_equal(netc_totals(netc, &(struct netc_totals){.size = 8}),
                   NETC_USAGE);
  netc_close(netc);
  netc_close(NULL);
  free(buffer.at);
}

static void a_full_sink_is_an_io_error(void **state) {
  (void)state;
  struct buffer buffer = {.limit = 100};
  struct netc *netc = load(small);
  assert_int_equal(netc_emit(netc, "json", NULL, collect, &buffer), NETC_IO);
  free(buffer.at);
  netc_close(netc);
}

/* The n-th write, of every output, until it needs no more of them. */
struct failing {
  long left;
  int refused;
};

static bool fail_later(void *user, const char *bytes, size_t length) {
  struct failing *failing = user;
  (void)bytes;
  (void)length;
  failing->refused += failing->left == 0;
  return failing->left-- > 0;
}

static void any_write_may_fail(void **state) {
  (void)state;
  static const char text[] = "input 9x9x3\nfor i in 1..700 { "
                             "conv 4 + i % 7 3x3 pad bn relu }\nfc 10\n";
  struct netc_output_kind kind = {.size = sizeof kind};
  struct netc *netc = load(text);
  long writes = 0;
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++) {
    enum netc_status status = NETC_IO;
    for (long n = 0; status != NETC_OK; n++) {
      struct failing failing = {.left = n};
      status = netc_emit(netc, kind.name, options_of(kind.purpose), fail_later,
                         &failing);
      assert_int_equal(failing.refused, status != NETC_OK);
      if (status != NETC_OK) {
        assert_int_equal(status, NETC_IO);
        assert_string_equal(netc_message(netc),
                            "the output could not be written");
      }
      writes += status == NETC_OK ? n : 0;
    }
  }
  assert_true(writes > 60); /* 64 KiB each at most */
  netc_close(netc);
}

/* Parameters and MACs are known without it: `netc zoo` shows them. */
static void a_check_computes_no_memory(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_totals totals[2] = {{.size = sizeof *totals},
                                  {.size = sizeof *totals}};
  struct netc_training training = {.size = sizeof training};
  struct netc_inference inference = {.size = sizeof inference};
  assert_int_equal(netc_mode(netc, (enum netc_mode)9), NETC_USAGE);
  for (int mode = NETC_FOR_CHECK; mode >= NETC_FOR_ALL; mode--) {
    assert_int_equal(netc_mode(netc, (enum netc_mode)mode), NETC_OK);
    assert_int_equal(netc_load_text(netc, "x.net", small, strlen(small)),
                     NETC_OK);
    bool check = mode == NETC_FOR_CHECK;
    enum netc_status wanted = check ? NETC_USAGE : NETC_OK;
    assert_int_equal(netc_training(netc, &training), wanted);
    assert_int_equal(netc_inference(netc, &inference), wanted);
    assert_int_equal(netc_totals(netc, &totals[check]), NETC_OK);
  }
  assert_memory_equal(&totals[0], &totals[1], sizeof *totals);
  assert_true(totals[0].param_count > 0 && totals[0].mac_count > 0);
  netc_close(netc);
}

static void whether_it_fits_is_told_without_searches(void **state) {
  (void)state;
  struct netc_verdict v[2] = {{.size = sizeof *v}, {.size = sizeof *v}};
  for (int i = 0; i < 2; i++) {
    struct netc *netc = netc_open(NULL, NULL);
    assert_int_equal(netc_mode(netc, i ? NETC_FOR_FIT : NETC_FOR_ALL), NETC_OK);
    assert_int_equal(netc_set(netc, "memory", "2GiB"), NETC_OK);
    assert_int_equal(netc_set(netc, "batch", "1000000"), NETC_OK);
    assert_int_equal(netc_load_text(netc, "x.net", small, strlen(small)),
                     NETC_OK);
    assert_int_equal(netc_verdict(netc, &v[i]), NETC_OK);
    netc_close(netc);
  }
  assert_true(v[0].asked && !v[0].fits && v[1].asked && !v[1].fits);
  assert_int_equal(v[0].peak_bytes, v[1].peak_bytes);
  assert_int_equal(v[0].room_bytes, v[1].room_bytes);
  assert_true(v[0].largest_batch && v[0].way_count);
  assert_int_equal(v[1].largest_batch, 0);
  assert_int_equal(v[1].way_count, 0);
}

static struct netc *on_card(enum netc_mode mode, const char *gpu,
                            const char *batch) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_mode(netc, mode), NETC_OK);
  assert_int_equal(netc_set(netc, "batch", batch), NETC_OK);
  if (gpu)
    assert_int_equal(netc_set(netc, "gpu", gpu), NETC_OK);
  assert_int_equal(netc_load_text(netc, "x.net", small, strlen(small)),
                   NETC_OK);
  return netc;
}

/* A loaded step is judged on other cards as if it were loaded for them. */
static void other_cards_need_no_load(void **state) {
  (void)state;
  static const char *const batches[] = {"1", "70000", "1000000"};
  struct netc_gpu gpu = {.size = sizeof gpu};
  struct netc_verdict verdict = {.size = sizeof verdict};
  int fits = 0, all = 0;
  for (size_t b = 0; b < 3; b++) {
    struct netc *netc = on_card(NETC_FOR_TABLE, "t4", batches[b]);
    assert_int_equal(netc_verdict(netc, &verdict), NETC_OK);
    assert_int_equal(verdict.way_count, 0);
    for (size_t i = 0; netc_gpu(NULL, i, &gpu) == NETC_OK; i += 7, all++) {
      struct netc_answer a[2] = {{.size = sizeof *a}, {.size = sizeof *a}};
      struct netc *other = on_card(NETC_FOR_ALL, gpu.name, batches[b]);
      assert_int_equal(netc_answer_on(netc, gpu.name, &a[0]), NETC_OK);
      assert_int_equal(netc_answer(other, false, &a[1]), NETC_OK);
      assert_memory_equal(&a[0], &a[1], sizeof *a);
      assert_true(a[0].on_device && a[0].largest_batch > 0);
      fits += a[0].fits;
      netc_close(other);
    }
    netc_close(netc);
  }
  assert_true(fits > 0 && fits < all);
}

static void some_cards_need_a_load(void **state) {
  (void)state;
  struct netc_answer a = {.size = sizeof a};
  struct netc *netc = on_card(NETC_FOR_TABLE, "a100-80", "8");
  assert_int_equal(netc_answer_on(netc, "nonsense", &a), NETC_USAGE);
  assert_int_equal(netc_set(netc, "dtype", "bf16"), NETC_OK);
  assert_int_equal(netc_load_text(netc, "x.net", small, strlen(small)),
                   NETC_OK);
  assert_int_equal(netc_answer_on(netc, "h100", &a), NETC_OK);
  assert_int_equal(netc_answer_on(netc, "t4", &a), NETC_USAGE); /* no bf16 */
  assert_int_equal(netc_set(netc, "checkpoint", "auto"), NETC_OK);
  assert_int_equal(netc_load_text(netc, "x.net", small, strlen(small)),
                   NETC_OK);
  assert_int_equal(netc_answer_on(netc, "h100", &a), NETC_USAGE);
  netc_close(netc);
  netc = on_card(NETC_FOR_TABLE, NULL, "8");
  assert_int_equal(netc_answer_on(netc, "h100", &a), NETC_USAGE);
  netc_close(netc);
}

static void settings_are_checked_when_they_are_made(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  static const struct {
    const char *key, *value, *message;
  } bad[] = {
      {"batch", "0", "at least 1"},
      {"batch", "many", "it takes a number"},
      {"batch", "1 optimizer=adam", "it takes a number"},
      {"batch", "1; conv 3", "it takes a number"},
      {"optimizer", "addam", "unknown optimizer `addam`"},
      {"optimiser", "adam", "did you mean `optimizer`"},
      {"dtype", "", ""},
      {"batch", "\xFF", "not valid UTF-8"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(netc_set(netc, bad[i].key, bad[i].value), NETC_USAGE);
    assert_holds(netc_message(netc), bad[i].message);
  }
  assert_int_equal(netc_define(netc, "n", "2 +"), NETC_USAGE);
  assert_int_equal(netc_define(netc, "n", "2\nconv 3"), NETC_USAGE);
  assert_int_equal(netc_define(netc, "2n", "2"), NETC_USAGE);
  assert_int_equal(netc_warn(netc, "no-such-thing"), NETC_USAGE);
  assert_int_equal(netc_warn(netc, "no-pool-remainde"), NETC_USAGE);
  assert_holds(netc_message(netc), "did you mean `pool-remainder`");
  assert_int_equal(netc_warn(netc, "no-syntax"), NETC_USAGE);
  assert_int_equal(netc_set(netc, "batch", "4"), NETC_OK);
  assert_int_equal(netc_load_text(netc, "small.net", small, strlen(small)),
                   NETC_OK);
  netc_close(netc);
}

static void the_command_line_wins_over_the_source(void **state) {
  (void)state;
  struct buffer buffer = {0};
  struct netc *netc = netc_open(NULL, NULL);
  const char text[] = "param n = 4\ninput 8x8x3\nfc n\n"
                      "train batch=64 optimizer=sgd\n";
  assert_int_equal(netc_set(netc, "batch", "8"), NETC_OK);
  assert_int_equal(netc_define(netc, "n", "2*8"), NETC_OK);
  assert_int_equal(netc_load_text(netc, "x.net", text, strlen(text)), NETC_OK);
  assert_int_equal(netc_emit(netc, "json", NULL, collect, &buffer), NETC_OK);
  json_t *json = json_loads(buffer.at, 0, NULL);
  json_t *rule = json_object_get(json, "rule");
  assert_int_equal(json_integer_value(json_object_get(rule, "batch")), 8);
  assert_string_equal(json_string_value(json_object_get(rule, "optimizer")),
                      "sgd");
  assert_int_equal(json_integer_value(json_object_get(
                       json_object_get(json, "totals"), "param_count")),
                   8 * 8 * 3 * 16 + 16);
  json_decref(json);
  free(buffer.at);
  netc_close(netc);
}

/* NULL: those of the source. */
static void sizes_of_an_input_can_be_restored(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  static const char text[] = "input x 6x4\nlinear 3";
  static const struct {
    const char *name, *sizes;
    int64_t first;
  } calls[] = {{"x", "9x4", 9}, {"y", NULL, 9}, {"x", NULL, 6}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    struct netc_layer layer = {.size = sizeof layer};
    assert_int_equal(netc_input_sizes(netc, calls[i].name, calls[i].sizes),
                     NETC_OK);
    assert_int_equal(netc_load_text(netc, "x.net", text, strlen(text)),
                     NETC_OK);
    assert_int_equal(netc_layer(netc, 0, &layer), NETC_OK);
    assert_int_equal(layer.out.dims[0], calls[i].first);
  }
  netc_close(netc);
}

static void an_unused_definition_is_a_slip(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  const char text[] = "param depth = 4\ninput 8x8x3\nfc depth\n";
  netc_define(netc, "depht", "3");
  assert_int_equal(netc_load_text(netc, "x.net", text, strlen(text)),
                   NETC_USAGE);
  assert_holds(netc_message(netc), "did you mean `depth`");
  netc_close(netc);
}

/* Results, without any JSON */

static void layers_say_what_they_are(void **state) {
  (void)state;
  struct netc *netc = load("input a 8x8x3\n"
                           "block: { conv 4 3x3 /2 pad bn relu }\n"
                           "from a\nskip: conv 4 1x1 /2\nadd block\n"
                           "output sum\n");
  struct netc_layer layer = {.size = sizeof layer};
  struct netc_attribute attribute = {.size = sizeof attribute};
  struct netc_end end = {.size = sizeof end};
  assert_int_equal(netc_layer_count(netc), 6);
  assert_int_equal(netc_layer(netc, 1, &layer), NETC_OK);
  assert_string_equal(layer.name, "block.conv1");
  assert_string_equal(layer.written, "conv 4 3x3 /2 pad");
  assert_string_equal(layer.place.file, "small.net");
  assert_int_equal(layer.place.line, 2);
  assert_int_equal(layer.place.column, 10);
  assert_int_equal(layer.place.end_column, 27);
  assert_int_equal(layer.trainable_count, 3 * 3 * 3 * 4);
  assert_true(layer.attribute_count > 4);
  int given = 0;
  for (size_t i = 0; i < layer.attribute_count; i++) {
    assert_int_equal(netc_attribute(netc, 1, i, &attribute), NETC_OK);
    given += attribute.given;
    if (strcmp(attribute.name, "pad") == 0)
      assert_string_equal(attribute.value, "same");
    if (strcmp(attribute.name, "groups") == 0) {
      assert_false(attribute.given);
      assert_string_equal(attribute.value, "1");
    }
  }
  assert_int_equal(given, 4);
  assert_int_equal(netc_attribute(netc, 1, layer.attribute_count, &attribute),
                   NETC_USAGE);
  assert_int_equal(netc_layer(netc, 3, &layer), NETC_OK);
  assert_string_equal(layer.name, "block.conv1.relu");
  assert_int_equal(layer.head, 1);
  assert_int_equal(netc_layer(netc, 5, &layer), NETC_OK);
  assert_int_equal(layer.input_count, 2);
  assert_int_equal(layer.inputs[0], 4);
  assert_int_equal(layer.inputs[1], 3);
  assert_int_equal(netc_input_count(netc), 1);
  assert_int_equal(netc_input(netc, 0, &end), NETC_OK);
  assert_string_equal(end.name, "a");
  assert_int_equal(netc_output_count(netc), 1);
  assert_int_equal(netc_output(netc, 0, &end), NETC_OK);
  assert_string_equal(end.name, "sum");
  assert_int_equal(end.layer, 5);
  netc_close(netc);
}

static int64_t number_at(json_t *json, const char *section, const char *key) {
  return json_integer_value(
      json_object_get(json_object_get(json, section), key));
}

static json_t *json_of(struct netc *netc) {
  struct buffer buffer = {0};
  assert_int_equal(netc_emit(netc, "json", NULL, collect, &buffer), NETC_OK);
  json_t *json = json_loads(buffer.at, 0, NULL);
  assert_non_null(json);
  free(buffer.at);
  return json;
}

static void memory_is_what_the_json_says(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  netc_set(netc, "batch", "256");
  netc_set(netc, "optimizer", "adam");
  netc_set(netc, "gpu", "t4");
  assert_int_equal(netc_load_file(netc, "examples/zoo/resnet.net"), NETC_OK);
  json_t *json = json_of(netc);
  struct netc_training t = {.size = sizeof t};
  struct netc_inference f = {.size = sizeof f};
  struct netc_verdict v = {.size = sizeof v};
  struct netc_way way = {.size = sizeof way};
  struct netc_buffer buffer = {.size = sizeof buffer};
  struct netc_devices devices = {.size = sizeof devices};
  assert_int_equal(netc_training(netc, &t), NETC_OK);
  assert_int_equal(t.peak_bytes, number_at(json, "training", "peak_bytes"));
  assert_int_equal(t.saved_bytes, number_at(json, "training", "saved_bytes"));
  assert_int_equal(t.optimizer_bytes,
                   number_at(json, "training", "optimizer_bytes"));
  assert_string_equal(t.optimizer, "adam");
  assert_string_equal(t.profile, "torch2-cuda");
  assert_int_equal(netc_inference(netc, &f), NETC_OK);
  assert_int_equal(f.weight_bytes,
                   number_at(json, "inference", "weight_bytes"));
  json_t *arena = json_object_get(json_object_get(json, "inference"), "arena");
  json_t *buffers = json_object_get(arena, "buffers");
  assert_int_equal(f.arena_bytes,
                   json_integer_value(json_object_get(arena, "bytes")));
  assert_int_equal(netc_buffer_count(netc), json_array_size(buffers));
  for (size_t i = 0; i < json_array_size(buffers); i++) {
    json_t *row = json_array_get(buffers, i);
    assert_int_equal(netc_buffer(netc, i, &buffer), NETC_OK);
    assert_int_equal(buffer.offset,
                     json_integer_value(json_object_get(row, "offset")));
    assert_int_equal(buffer.layer,
                     json_integer_value(json_object_get(row, "layer")));
  }
  assert_int_equal(netc_verdict(netc, &v), NETC_OK);
  assert_true(v.asked && !v.fits && v.way_count >= 3);
  assert_int_equal(v.largest_batch,
                   number_at(json, "training", "largest_batch"));
  assert_int_equal(v.room_bytes,
                   v.device_bytes - v.framework_bytes - v.reserve_bytes);
  assert_in_range(100 * v.reserve_bytes / v.room_bytes, 15, 16);
  assert_int_equal(netc_way(netc, 0, &way), NETC_OK);
  assert_string_equal(way.options, "--checkpoint auto");
  assert_true(way.peak_bytes <= v.room_bytes && way.extra_mac_count > 0);
  assert_int_equal(netc_way(netc, v.way_count, &way), NETC_USAGE);
  assert_int_equal(netc_devices(netc, &devices), NETC_OK);
  assert_int_equal(devices.device_count, 1);
  assert_int_equal(devices.stage_count, 0);
  json_decref(json);
  netc_close(netc);
}

static void stages_are_what_the_json_says(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  netc_set(netc, "pipeline", "4");
  netc_set(netc, "batch", "8");
  assert_int_equal(netc_load_file(netc, "examples/zoo/resnet.net"), NETC_OK);
  json_t *json = json_of(netc);
  json_t *parallel =
      json_object_get(json_object_get(json, "training"), "parallel");
  json_t *stages = json_object_get(parallel, "stages");
  struct netc_devices devices = {.size = sizeof devices};
  struct netc_stage stage = {.size = sizeof stage};
  assert_int_equal(netc_devices(netc, &devices), NETC_OK);
  assert_int_equal(devices.stage_count, 4);
  assert_int_equal(devices.device_count, 4);
  for (size_t i = 0; i < 4; i++) {
    json_t *row = json_array_get(stages, i);
    assert_int_equal(netc_stage(netc, i, &stage), NETC_OK);
    assert_int_equal(stage.peak_bytes,
                     json_integer_value(json_object_get(row, "peak_bytes")));
    assert_true(stage.first_layer <= stage.last_layer);
  }
  assert_int_equal(netc_stage(netc, 4, &stage), NETC_USAGE);
  json_decref(json);
  netc_close(netc);
}

/* Several loads: settings stay, nets do not. */

static void a_context_loads_again_and_again(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_totals totals = {.size = sizeof totals};
  const char one[] = "param n = 4\ninput 8\nfc n\n";
  const char bad[] = "param n = 4\ninput 8\nfcc n\n";
  assert_int_equal(netc_define(netc, "n", "2"), NETC_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(netc_load_text(netc, "a.net", one, strlen(one)), NETC_OK);
    assert_int_equal(netc_totals(netc, &totals), NETC_OK);
    assert_int_equal(totals.param_count, 8 * 2 + 2);
    assert_int_equal(netc_load_text(netc, "b.net", bad, strlen(bad)),
                     NETC_ERROR);
    assert_int_equal(netc_diagnostic_count(netc), 1);
    assert_int_equal(netc_layer_count(netc), 0);
    assert_string_equal(netc_source(netc, 0), "b.net");
  }
  assert_int_equal(netc_define(netc, "n", "3"), NETC_OK); /* for the next */
  assert_int_equal(netc_load_text(netc, "a.net", one, strlen(one)), NETC_OK);
  assert_int_equal(netc_totals(netc, &totals), NETC_OK);
  assert_int_equal(totals.param_count, 8 * 3 + 3);
  assert_int_equal(netc_load_file(netc, "no/such.net"), NETC_IO);
  assert_int_equal(netc_layer_count(netc), 0);
  netc_close(netc);
}

/* Texts from memory: no file is touched. */

struct folder {
  const char *const (*files)[2];
  size_t count;
  int asked;
};

static enum netc_found read_text_of(void *user, const char *path,
                                    netc_sink_fn *sink, void *sink_user) {
  struct folder *folder = user;
  folder->asked++;
  for (size_t i = 0; i < folder->count; i++) {
    const char *text = folder->files[i][1];
    if (strcmp(folder->files[i][0], path) != 0)
      continue;
    if (!text)
      return NETC_UNREADABLE;
    for (; *text; text++) /* in the smallest pieces */
      if (!sink(sink_user, text, 1))
        return NETC_UNREADABLE;
    return NETC_FOUND;
  }
  return NETC_ABSENT;
}

static void texts_may_come_from_memory(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"nets/main.net", "use \"lib/a.net\"\nuse \"./lib/../lib//b.net\"\n"
                        "input 8\ntwo 3\n"},
      {"nets/lib/a.net", "def two(n) { fc n; fc n }\n"},
      {"nets/lib/b.net", "use \"a.net\"\nuse \"std.net\"\n"},
      {"include/std.net", "let one = 1\n"},
      {"locked.net", NULL},
  };
  struct folder folder = {files, sizeof files / sizeof *files, 0};
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_on_read(netc, read_text_of, &folder), NETC_OK);
  assert_int_equal(netc_include(netc, "include"), NETC_OK);
  assert_int_equal(netc_load_file(netc, "nets/main.net"), NETC_OK);
  assert_int_equal(netc_layer_count(netc), 3);
  assert_string_equal(netc_source(netc, 2), "nets/lib/b.net");
  assert_string_equal(netc_source(netc, 3), "include/std.net");
  assert_null(netc_source(netc, 4));
  assert_int_equal(folder.asked, 5);                 /* std.net in two places */
  assert_int_equal(netc_confine(netc, ""), NETC_OK); /* they are all inside */
  assert_int_equal(netc_load_file(netc, "nets/main.net"), NETC_OK);
  static const char climbs[] = "use \"../locked.net\"\ninput 4\n";
  folder.asked = 0;
  assert_int_equal(netc_load_text(netc, "nets/x.net", climbs, strlen(climbs)),
                   NETC_ERROR);
  assert_int_equal(folder.asked, 0);
  assert_int_equal(netc_load_file(netc, "README.md"), NETC_IO);
  assert_int_equal(netc_load_file(netc, "locked.net"), NETC_IO);
  static const char reads[] = "use \"/etc/passwd\"\nuse \"locked.net\"\n"
                              "input 4\n";
  assert_int_equal(netc_load_text(netc, "x.net", reads, strlen(reads)),
                   NETC_ERROR);
  assert_int_equal(netc_diagnostic_count(netc), 2);
  netc_close(netc);
}

/* Callbacks that use the context */

struct nosy {
  struct netc *netc;
  struct budget *budget; /* NULL: memory does not run out */
  int calls, failed;
};

static bool ask_more(void *user, const char *bytes, size_t length) {
  struct nosy *nosy = user;
  struct netc_layer layer = {.size = sizeof layer};
  struct buffer other = {0};
  (void)bytes;
  (void)length;
  nosy->calls++;
  assert_int_equal(netc_set(nosy->netc, "batch", "2"), NETC_USAGE);
  assert_int_equal(netc_load_text(nosy->netc, "x", "input 4", 7), NETC_USAGE);
  assert_int_equal(netc_mode(nosy->netc, NETC_FOR_CHECK), NETC_USAGE);
  netc_close(nosy->netc); /* refused, too */
  for (size_t i = 0; i < netc_layer_count(nosy->netc); i++)
    nosy->failed += netc_layer(nosy->netc, i, &layer) != NETC_OK;
  nosy->failed +=
      netc_emit(nosy->netc, "csv", NULL, collect, &other) != NETC_OK;
  free(other.at);
  return true;
}

static void a_callback_may_ask_but_not_change(void **state) {
  (void)state;
  struct nosy nosy = {.netc = load(small)};
  assert_int_equal(netc_emit(nosy.netc, "json", NULL, ask_more, &nosy),
                   NETC_OK);
  assert_true(nosy.calls > 0);
  assert_int_equal(nosy.failed, 0);
  assert_int_equal(netc_layer_count(nosy.netc), 8);
  netc_close(nosy.netc);
}

/* After an output the message is a note on it, or empty. */
static void an_output_may_have_a_note(void **state) {
  (void)state;
  static const struct {
    const char *kind;
    int64_t height;
    enum netc_status status;
    const char *message;
  } rows[] = {{"svg", 1000, NETC_OK, "the page is too small: the diagram is "},
              {"csv", 1000, NETC_OK, ""},
              {"svg", 999, NETC_USAGE, "these options have values"},
              {"svg", 30000, NETC_OK, ""},
              {"svg", NETC_MOST_WIDTH + 1, NETC_USAGE, "these options have"}};
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_load_file(netc, "examples/unet.net"), NETC_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct netc_options options = {.size = sizeof options,
                                   .picture_height = rows[i].height};
    struct buffer out = {0};
    assert_int_equal(netc_emit(netc, rows[i].kind, &options, collect, &out),
                     rows[i].status);
    size_t length = strlen(rows[i].message);
    assert_int_equal(strncmp(netc_message(netc), rows[i].message, length), 0);
    assert_int_equal(*netc_message(netc) == 0, length == 0);
    free(out.at);
  }
  netc_close(netc);
}

/* Structs of other versions of this header */

static void a_struct_may_be_of_another_version(void **state) {
  (void)state;
  struct netc *netc = load(small);
  struct {
    struct netc_totals totals;
    int64_t later[4];
  } newer = {{.size = sizeof newer}, {7, 7, 7, 7}};
  struct netc_totals older = {.size = offsetof(struct netc_totals, mac_count),
                              .mac_count = -5};
  assert_int_equal(netc_totals(netc, &newer.totals), NETC_OK);
  assert_int_equal(newer.later[0], 7);
  assert_int_equal(newer.totals.size, sizeof newer);
  assert_int_equal(netc_totals(netc, &older), NETC_OK);
  assert_int_equal(older.param_count, newer.totals.param_count);
  assert_int_equal(older.mac_count, -5);
  assert_int_equal(netc_totals(netc, &(struct netc_totals){.size = 0}),
                   NETC_USAGE);
  struct netc_options options = {.size = sizeof options, .depth = -5};
  struct buffer out = {0};
  assert_int_equal(netc_emit(netc, "txt", &options, collect, &out), NETC_USAGE);
  options = (struct netc_options){.size = sizeof options,
                                  .units = (enum netc_units)77};
  assert_int_equal(netc_emit(netc, "txt", &options, collect, &out), NETC_USAGE);
  options = (struct netc_options){.size = 0};
  assert_int_equal(netc_emit(netc, "txt", &options, collect, &out), NETC_USAGE);
  assert_string_equal(netc_version(), NETC_VERSION);
  assert_int_equal(netc_version_number(), NETC_VERSION_NUMBER);
  netc_close(netc);
}

/* The planner */

static void an_arena_is_planned(void **state) {
  (void)state;
  struct netc_plan_buffer buffers[] = {
      {0, 2, 10, 0, -1}, {1, 3, 20, 16, -1}, {2, 4, 10, 0, -1}};
  struct netc_plan plan = {.size = sizeof plan};
  assert_int_equal(netc_plan(buffers, 3, NULL, &plan), NETC_OK);
  assert_true(plan.optimal);
  assert_int_equal(plan.height, plan.lower_bound);
  assert_int_equal(buffers[1].offset % 16, 0);
  for (int i = 0; i < 2; i++) {
    bool apart =
        buffers[i].offset + buffers[i].size <= buffers[i + 1].offset ||
        buffers[i + 1].offset + buffers[i + 1].size <= buffers[i].offset;
    assert_true(apart);
  }
  buffers[0].size = INT64_MAX;
  assert_int_equal(netc_plan(buffers, 3, NULL, &plan), NETC_ERROR);
  buffers[0].size = -1;
  assert_int_equal(netc_plan(buffers, 3, NULL, &plan), NETC_USAGE);
  struct netc_plan_options none = {.size = 0};
  assert_int_equal(netc_plan(NULL, 0, &none, &plan), NETC_USAGE);
  assert_int_equal(netc_plan(NULL, 0, NULL, &plan), NETC_OK);
  assert_int_equal(plan.height, 0);
}

/* Progress, and what a step is compared with */

struct told {
  struct netc *netc;
  int checkpoints, batches, arenas, others;
  int left; /* calls until the work is stopped; 0: it is not */
};

static bool note_progress(void *user, const char *what, int64_t done,
                          int64_t total) {
  struct told *told = user;
  int *count = strstr(what, "checkpoint") ? &told->checkpoints
               : strstr(what, "batch")    ? &told->batches
               : strstr(what, "arena")    ? &told->arenas
                                          : &told->others;
  ++*count;
  assert_true(done >= 0 && (total == 0 || done <= total));
  if (told->netc) /* the context is not to be changed meanwhile */
    assert_int_equal(netc_on_progress(told->netc, NULL, NULL), NETC_USAGE);
  return told->left == 0 || --told->left > 0;
}

static void long_searches_tell_how_far_they_are(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  struct told told = {.netc = netc};
  assert_int_equal(netc_on_progress(netc, note_progress, &told), NETC_OK);
  assert_int_equal(netc_set(netc, "checkpoint", "auto"), NETC_OK);
  assert_int_equal(netc_set(netc, "gpu", "t4"), NETC_OK);
  assert_int_equal(netc_set(netc, "batch", "230"), NETC_OK);
  assert_int_equal(netc_load_file(netc, "examples/vgg16.net"), NETC_OK);
  assert_true(told.checkpoints > 5 && told.batches > 5);
  assert_int_equal(told.others, 0);
  int before = told.batches;
  assert_int_equal(netc_on_progress(netc, NULL, NULL), NETC_OK);
  assert_int_equal(netc_load_file(netc, "examples/vgg16.net"), NETC_OK);
  assert_int_equal(told.batches, before);
  netc_close(netc);
  struct netc_plan_buffer buffers[64];
  struct netc_plan plan = {.size = sizeof plan};
  struct netc_plan_options options = {.size = sizeof options,
                                      .effort = 5000,
                                      .tell = note_progress,
                                      .tell_user = &told};
  told.netc = NULL;
  for (int64_t i = 0; i < 64; i++)
    buffers[i] = (struct netc_plan_buffer){
        i * 7 % 29, i * 7 % 29 + 1 + i * 11 % 13, 1 + i * 37 % 101, 0, 0};
  assert_int_equal(netc_plan(buffers, 64, &options, &plan), NETC_OK);
  assert_true(told.arenas > 0);
  told.left = 1;
  assert_int_equal(netc_plan(buffers, 64, &options, &plan), NETC_STOPPED);
}

static void a_step_is_compared_with_others(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_compare(netc, "chekpoint=2"), NETC_USAGE);
  assert_holds(netc_message(netc), "did you mean `checkpoint`");
  for (int i = 0; i < 8; i++)
    assert_int_equal(netc_compare(netc, "checkpoint=2 batch=3"), NETC_OK);
  assert_int_equal(netc_compare(netc, "checkpoint=2"), NETC_USAGE);
  assert_int_equal(netc_load_file(netc, "examples/vgg16.net"), NETC_OK);
  struct netc_training training = {.size = sizeof training};
  assert_int_equal(netc_training(netc, &training), NETC_OK);
  assert_int_equal(training.batch, 1); /* the net's own settings stay */
  netc_close(netc);
}

/* Lists of what exists */

static void what_exists_can_be_listed(void **state) {
  (void)state;
  struct netc_output_kind output = {.size = sizeof output};
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  struct netc_layer_kind kind = {.size = sizeof kind};
  struct netc_slug slug = {.size = sizeof slug};
  size_t count = 0, settings = 0, kinds = 0, slugs = 0;
  struct netc *netc = load(small);
  for (; netc_output_kind(count, &output) == NETC_OK; count++) {
    struct buffer out = {0};
    assert_int_equal(
        netc_emit(netc, output.name, options_of(output.purpose), collect, &out),
        NETC_OK);
    assert_true(strlen(output.summary) > 5);
    free(out.at);
  }
  assert_true(count >= 13);
  for (; netc_setting(settings, &setting) == NETC_OK; settings++) {
    assert_int_equal(netc_setting_argument(settings, &argument), NETC_OK);
    assert_string_equal(argument.name, setting.name);
    assert_true(strlen(argument.doc) > 3 && strlen(argument.fallback) > 0);
    char word[64] = "1";
    if (strcmp(argument.value, "SIZE") == 0)
      strcpy(word, "1GiB");
    sscanf(argument.words, "%63s", word);
    assert_int_equal(netc_set(netc, setting.name, word), NETC_OK);
  }
  assert_true(settings >= 20);
  for (; netc_layer_kind(kinds, &kind) == NETC_OK; kinds++)
    for (size_t i = 0; i < kind.argument_count; i++)
      assert_int_equal(netc_layer_argument(kinds, i, &argument), NETC_OK);
  assert_true(kinds >= 60);
  assert_int_equal(netc_row_argument(0, &argument), NETC_OK);
  assert_string_equal(argument.name, "frozen");
  assert_int_equal(netc_row_argument(99, &argument), NETC_USAGE);
  assert_int_equal(netc_layer_argument(kinds, 0, &argument), NETC_USAGE);
  for (; netc_slug(slugs, &slug) == NETC_OK; slugs++)
    assert_holds(slug.page, slug.name);
  assert_true(slugs >= 50);
  netc_close(netc);
}

/* Memory that runs out at the n-th request, for every n. */

struct budget {
  long left;
  long blocks;
};

static void *limited(void *user, void *old, size_t size) {
  struct budget *budget = user;
  if (size == 0) {
    budget->blocks -= old != NULL;
    free(old);
    return NULL;
  }
  if (budget->left-- <= 0)
    return NULL;
  void *block = realloc(old, size);
  budget->blocks += old == NULL && block;
  return block;
}

/* Every question of the API; whether all were answered. */
static bool ask_all(struct netc *netc) {
  struct netc_layer layer = {.size = sizeof layer};
  struct netc_attribute attribute = {.size = sizeof attribute};
  struct netc_diagnostic diagnostic = {.size = sizeof diagnostic};
  struct netc_end end = {.size = sizeof end};
  bool done = true;
  for (size_t i = 0; done && i < netc_layer_count(netc); i += 50) {
    done = netc_layer(netc, i, &layer) == NETC_OK;
    for (size_t k = 0; done && k < layer.attribute_count; k++)
      done = netc_attribute(netc, i, k, &attribute) == NETC_OK;
  }
  for (size_t i = 0; done && i < netc_diagnostic_count(netc); i++) {
    struct buffer text = {0};
    done = netc_diagnostic(netc, i, &diagnostic) == NETC_OK &&
           netc_diagnostic_emit(netc, i, NETC_STYLE_TEXT, collect, &text) ==
               NETC_OK;
    free(text.at);
  }
  return done && netc_input(netc, 0, &end) == NETC_OK &&
         netc_output(netc, 0, &end) == NETC_OK;
}

static bool use_all(struct budget *budget, const char *text) {
  struct netc *netc = netc_open(limited, budget);
  if (!netc)
    return false;
  bool done = netc_set(netc, "batch", "4") == NETC_OK &&
              netc_include(netc, "tests/golden/language") == NETC_OK &&
              netc_load_text(netc, "x.net", text, strlen(text)) == NETC_OK;
  static const char *const kinds[] = {"txt", "json", "csv", "svg",
                                      "pdf", "dot",  "net", "fmt-shapes"};
  for (size_t i = 0; done && i < sizeof kinds / sizeof *kinds; i++) {
    struct buffer buffer = {0};
    done = netc_emit(netc, kinds[i], NULL, collect, &buffer) == NETC_OK;
    free(buffer.at);
  }
  done = done && ask_all(netc);
  netc_close(netc);
  return done;
}

static void running_out_of_memory_leaks_nothing(void **state) {
  (void)state;
  char text[4096];
  snprintf(text, sizeof text,
           "use \"library/more.net\"\n%srepeat 900 { conv 4 3x3 pad bias bn "
           "}\nadd { conv 8 1x1 } {\n conv 8 1x1 }\n",
           "input 9x9x3\nconv narrow 3x3\npool 2x2\n");
  bool done = false;
  long requests = 0;
  /* Every request at first; later ones are those of long lists. */
  for (; !done && requests < 3000; requests += requests < 200 ? 1 : 31) {
    struct budget budget = {.left = requests};
    done = use_all(&budget, text);
    assert_int_equal(budget.blocks, 0);
  }
  assert_true(done);
  assert_true(requests > 30);
}

/* The same while an output is written: the outer call goes on. */
static void memory_may_run_out_inside_a_callback(void **state) {
  (void)state;
  int failures = 0, successes = 0;
  for (long left = 0; left < 60; left++) {
    struct budget budget = {.left = 1000000};
    struct netc *netc = netc_open(limited, &budget);
    assert_int_equal(netc_load_text(netc, "small.net", small, strlen(small)),
                     NETC_OK);
    struct nosy nosy = {.netc = netc};
    budget.left = left;
    enum netc_status status = netc_emit(netc, "json", NULL, ask_more, &nosy);
    assert_true(status == NETC_OK || status == NETC_NO_MEMORY);
    failures += nosy.failed;
    successes += status == NETC_OK;
    budget.left = 1000000; /* the context is as good as new */
    struct buffer out = {0};
    assert_int_equal(netc_emit(netc, "json", NULL, collect, &out), NETC_OK);
    free(out.at);
    netc_close(netc);
    assert_int_equal(budget.blocks, 0);
  }
  assert_true(failures > 0 && successes > 0);
}

/* Loads a text until the callback stops it; a load after it is whole. */
static struct told stop_after(int calls, const char *text) {
  struct budget budget = {.left = 1000000};
  struct netc *netc = netc_open(limited, &budget);
  struct told told = {.netc = netc, .left = calls};
  assert_int_equal(netc_on_progress(netc, note_progress, &told), NETC_OK);
  for (int i = 0; i < 2; i++) {
    told = (struct told){.netc = netc, .left = calls};
    assert_int_equal(netc_load_text(netc, "long.net", text, strlen(text)),
                     NETC_STOPPED);
    assert_int_equal(told.left, 0);
    struct netc_totals totals = {.size = sizeof totals};
    assert_int_equal(netc_totals(netc, &totals), NETC_USAGE);
    assert_null(netc_source(netc, 0));
  }
  assert_int_equal(netc_load_text(netc, "small.net", small, strlen(small)),
                   NETC_OK);
  struct buffer out = {0};
  assert_int_equal(netc_emit(netc, "json", NULL, collect, &out), NETC_OK);
  free(out.at);
  netc_close(netc);
  assert_int_equal(budget.blocks, 0);
  return told;
}

static void a_callback_stops_a_load(void **state) {
  (void)state;
  struct told told = stop_after(3, "net long\n"
                                   "input 8\n"
                                   "for i in 1..400000 { let a = i + 1 }\n"
                                   "fc 10\n");
  assert_int_equal(told.others, 3);
}

static void a_callback_stops_the_search_of_memory(void **state) {
  (void)state;
  for (int calls = 1; calls < 12; calls += 5) {
    struct told told = stop_after(
        calls, "net long\n"
               "input 224x224x3\n"
               "for c n in [64 2; 128 2; 256 3; 512 3; 512 3] {\n"
               "  repeat n { conv c 3x3 pad relu }\n"
               "  pool 2x2\n"
               "}\n"
               "fc 1000; softmax\n"
               "train optimizer=adam batch=230 checkpoint=auto gpu=t4\n");
    assert_int_equal(told.checkpoints + told.batches + told.arenas, calls);
  }
}

/* Asking often keeps nothing. */
static void a_thousand_questions_take_no_memory(void **state) {
  (void)state;
  struct budget budget = {.left = 1000000};
  struct netc *netc = netc_open(limited, &budget);
  assert_int_equal(netc_load_text(netc, "small.net", small, strlen(small)),
                   NETC_OK);
  long blocks = 0;
  for (int i = 0; i < 1000; i++) {
    struct buffer out = {0};
    assert_true(ask_all(netc));
    assert_int_equal(netc_emit(netc, "csv", NULL, collect, &out), NETC_OK);
    assert_int_equal(netc_set(netc, "batch", i % 2 ? "4" : "8"), NETC_OK);
    free(out.at);
    if (i == 10)
      blocks = budget.blocks;
  }
  assert_int_equal(budget.blocks, blocks);
  netc_close(netc);
  assert_int_equal(budget.blocks, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operands_have_the_rank_of_their_layer),
      cmocka_unit_test(a_net_is_loaded_and_read),
      cmocka_unit_test(every_output_is_written_to_a_sink),
      cmocka_unit_test(a_card_has_the_lines_of_the_report),
      cmocka_unit_test(what_goes_wrong_is_a_status),
      cmocka_unit_test(a_full_sink_is_an_io_error),
      cmocka_unit_test(a_front_is_what_it_is_said_to_be),
      cmocka_unit_test(any_write_may_fail),
      cmocka_unit_test(a_check_computes_no_memory),
      cmocka_unit_test(whether_it_fits_is_told_without_searches),
      cmocka_unit_test(other_cards_need_no_load),
      cmocka_unit_test(some_cards_need_a_load),
      cmocka_unit_test(settings_are_checked_when_they_are_made),
      cmocka_unit_test(the_command_line_wins_over_the_source),
      cmocka_unit_test(sizes_of_an_input_can_be_restored),
      cmocka_unit_test(an_unused_definition_is_a_slip),
      cmocka_unit_test(layers_say_what_they_are),
      cmocka_unit_test(memory_is_what_the_json_says),
      cmocka_unit_test(stages_are_what_the_json_says),
      cmocka_unit_test(a_context_loads_again_and_again),
      cmocka_unit_test(texts_may_come_from_memory),
      cmocka_unit_test(a_callback_may_ask_but_not_change),
      cmocka_unit_test(an_output_may_have_a_note),
      cmocka_unit_test(a_struct_may_be_of_another_version),
      cmocka_unit_test(an_arena_is_planned),
      cmocka_unit_test(long_searches_tell_how_far_they_are),
      cmocka_unit_test(a_callback_stops_a_load),
      cmocka_unit_test(a_callback_stops_the_search_of_memory),
      cmocka_unit_test(a_step_is_compared_with_others),
      cmocka_unit_test(what_exists_can_be_listed),
      slow_test(running_out_of_memory_leaks_nothing),
      cmocka_unit_test(memory_may_run_out_inside_a_callback),
      cmocka_unit_test(a_thousand_questions_take_no_memory),
  };
  return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
