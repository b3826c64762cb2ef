/*
 * One number per question: report, JSON, Markdown, page, table, diff and
 * library say the same of a net with the same settings.
 */
#define _POSIX_C_SOURCE 200809L
#include <jansson.h>

#include "base/text.h"
#include "tests/report.h"
#include "tests/run.h"

#define LLAMA "examples/llama3.net"
#define RESNET "examples/resnet50.net"
#define MAMBA "examples/zoo/mamba.net"
#define GPT2 "examples/zoo/gpt2.net"
#define CNN "examples/simple_cnn.net"
#define UNET "examples/unet.net"

/* A net, and settings as a command line has them. */
struct asked_question {
  char name[48];
  const char *net, *settings;
  bool predict;
};

static struct asked_question questions[] = {
    {"a-step", CNN, "", false},
    {"a-step-of-a-batch", RESNET, "batch=32 optimizer=adam", false},
    {"a-step-that-fits", RESNET, "batch=32 gpu=t4", false},
    {"a-step-that-does-not-fit", RESNET, "batch=512 gpu=rtx3060", false},
    {"a-step-with-checkpoints", RESNET, "batch=256 gpu=t4 checkpoint=auto",
     false},
    {"a-step-in-16-bits", UNET, "precision=mixed batch=4 memory=8GiB", false},
    {"shared-by-zero", LLAMA, "data_parallel=8 zero=3", false},
    {"shared-by-zero-on-a-device", LLAMA, "data_parallel=8 zero=3 gpu=h100",
     false},
    {"a-tight-prediction", RESNET, "batch=64 memory=1150MiB", true},
    {"a-tight-step", RESNET, "batch=170 optimizer=adam gpu=t4", false},
    {"served-tight", LLAMA, "context=8192 weight_dtype=q4_k_m memory=7000MiB",
     true},
    {"stages", LLAMA, "pipeline=4 batch=8 microbatches=8 gpu=h100", false},
    {"stages-without-a-device", GPT2, "pipeline=3 batch=6", false},
    {"virtual-stages", GPT2,
     "pipeline=2 virtual_stages=2 batch=8 "
     "microbatches=4",
     false},
    {"replicas", GPT2, "data_parallel=4 batch=2 optimizer=adam", false},
    {"shared-by-zero-1", GPT2, "data_parallel=4 zero=1 optimizer=adam", false},
    {"shared-by-zero-2", GPT2, "data_parallel=4 zero=2 optimizer=adam", false},
    {"shared-in-groups", GPT2, "data_parallel=4 zero=3 shard_devices=2", false},
    {"sequence-parallel", GPT2, "tensor_parallel=4 sequence_parallel=on",
     false},
    {"context-parallel", LLAMA, "context_parallel=4", false},
    {"experts-apart", "examples/zoo/mixtral.net",
     "data_parallel=4 expert_parallel=4 zero=1", false},
    {"three-ways", LLAMA,
     "tensor_parallel=2 pipeline=2 data_parallel=2 zero=1 batch=4", false},
    {"tensor-parallel", LLAMA, "tensor_parallel=4 gpu=a100-80", false},
    {"offloaded", LLAMA, "offload=optimizer host_memory=1TiB gpu=rtx4090",
     false},
    {"offloaded-to-a-small-host", LLAMA,
     "offload=optimizer host_memory=16GiB gpu=h100", false},
    {"a-prediction", CNN, "", true},
    {"a-prediction-of-a-batch", RESNET, "batch=64 gpu=t4", true},
    {"a-prediction-in-blocks", LLAMA, "weight_dtype=q4_k_m gpu=rtx4090", true},
    {"a-prediction-that-does-not-fit", LLAMA, "gpu=rtx3060", true},
    {"a-prediction-that-looks-back", GPT2, "decode=1024 dtype=bf16", true},
    {"served", LLAMA, "context=4096 sequences=4 gpu=h100", true},
    {"served-by-several", LLAMA,
     "context=4096 sequences=64 tensor_parallel=4 gpu=rtx4090", true},
    {"served-without-a-device", LLAMA, "context=4096", true},
    {"served-states", MAMBA, "sequences=8 gpu=t4", true},
    {"layers-on-the-card", LLAMA,
     "gpu_layers=20 gpu=rtx3060 weight_dtype=q4_k_m", true},
    {"as-many-layers-as-fit", LLAMA, "gpu_layers=auto gpu=t4 context=2048",
     true},
    {"layers-without-a-device", LLAMA, "gpu_layers=9 context=2048", true},
    {"layers-and-a-small-host", LLAMA,
     "gpu_layers=20 gpu=t4 context=2048 host_memory=1GiB", true},
    {"experts-on-the-host", "examples/zoo/mixtral.net",
     "host_experts=all gpu=t4 context=2048 sequences=2", true},
};

/* "batch=8 zero=3" as "--batch 8 --zero 3". */
static const char *as_options(const struct asked_question *q) {
  static char text[512];
  size_t used = 0;
  bool begins = true;
  for (const char *at = q->settings; *at; at++) {
    if (begins)
      used += (size_t)snprintf(text + used, sizeof text - used, "--");
    begins = *at == ' ';
    text[used++] = *at == '=' ? ' ' : *at == '_' ? '-' : *at;
  }
  snprintf(text + used, sizeof text - used, "%s",
           q->predict ? " --predict" : "");
  return text;
}

static struct netc *load(const struct asked_question *q) {
  struct netc *netc = netc_open(NULL, NULL);
  choose(netc, q->settings);
  assert_int_equal(show_errors(netc, netc_load_file(netc, q->net)), NETC_OK);
  return netc;
}

static struct netc_answer answer_of(struct netc *netc, bool predict) {
  struct netc_answer a = {.size = sizeof a};
  assert_int_equal(netc_answer(netc, predict, &a), NETC_OK);
  return a;
}

/* An output with exact sizes. */
static char *emit_more(struct netc *netc, const char *kind, bool predict,
                       bool details) {
  struct buffer out = {0};
  struct netc_options options = {.size = sizeof options,
                                 .predict = predict,
                                 .details = details,
                                 .units = NETC_BYTES,
                                 .width = 1000};
  assert_int_equal(netc_emit(netc, kind, &options, collect, &out), NETC_OK);
  return out.at;
}

static char *emit(struct netc *netc, const char *kind, bool predict) {
  return emit_more(netc, kind, predict, false);
}

/* The line of a text that begins like that, up to its end. */
static char *line_of(const char *text, const char *begin) {
  const char *at = text;
  size_t length = strlen(begin);
  while (at && strncmp(at, begin, length) != 0)
    at = (at = strchr(at, '\n')) ? at + 1 : NULL;
  if (!at)
    print_error("no line begins with %s\n%s\n", begin, text);
  assert_non_null(at);
  return strndup(at, strcspn(at, "\n"));
}

static const char *what(const struct asked_question *q) {
  return q->predict ? "inference" : "training";
}

static void check_line(const char *text, const char *begin, const char *part) {
  char *line = line_of(text, begin);
  if (!strstr(line, part))
    print_error("no %s in: %s\n", part, line);
  assert_non_null(strstr(line, part));
  free(line);
}

/* How an output writes a row of the answer: its label, then the text. */
struct look {
  const char *kind, *row;
  bool upper; /* the verdict is in capitals, at the end of the first line */
};

static const struct look looks[] = {
    {"txt", "\n  %-11s%s", true},
    {"md", "\n| %s | %s", false},
    {"html", "<dt>%s</dt><dd><div>%s", false},
};

static void check_row_of(const char *text, const struct look *look,
                         const char *label, const char *row) {
  char part[512];
  snprintf(part, sizeof part, look->row, label, row);
  assert_holds(text, part);
}

/* "needs", exactly: "370,293,672 of 13,339,287,834 B" */
static void check_needs(const char *text, const struct look *look,
                        const struct netc_answer *a) {
  char row[256], room[64] = "", devices[64] = "";
  int64_t small = a->bytes < a->room_bytes ? a->bytes : a->room_bytes;
  int64_t large = a->bytes < a->room_bytes ? a->room_bytes : a->bytes;
  if (a->on_device)
    snprintf(room, sizeof room, "%s of %s", small < large / 100 ? " B" : "",
             count_text(a->room_bytes).text);
  if (a->device_count > 1)
    snprintf(devices, sizeof devices, " on %s of %lld devices",
             a->uneven ? "the most loaded" : "each",
             (long long)a->device_count);
  snprintf(row, sizeof row, "%s%s%s B%s", look->kind[0] == 'h' ? "<b>" : "",
           count_text(a->bytes).text, room, devices);
  if (look->kind[0] == 'h' && !a->on_device) { /* above the bar */
    snprintf(row, sizeof row, "needs <span class=\"needs\">%s B",
             count_text(a->bytes).text);
    assert_holds(text, row);
  } else {
    check_row_of(text, look, "needs", row);
  }
}

static void check_verdict(const char *text, const struct look *look,
                          const struct netc_answer *a) {
  char word[64], line[128];
  if (!a->on_device)
    return;
  snprintf(word, sizeof word, "%s", a->verdict);
  for (char *at = word; look->upper && *at; at++)
    if (*at >= 'a')
      *at -= 'a' - 'A';
  bool free = a->bytes <= a->room_bytes;
  bool told = !free || strcmp(a->verdict, "does not fit") != 0;
  snprintf(line, sizeof line,
           look->upper            ? "  %s\n"
           : look->kind[0] == 'm' ? ", **%s**\n"
           : told                 ? "<strong>%s</strong>, "
                                  : "<strong>%s</strong></p>\n",
           word);
  const char *at = strstr(text, line);
  assert_non_null(at);
  const char *said = free ? " free</p>\n" : " too much</p>\n";
  if (look->kind[0] == 'h' && told)
    assert_ptr_equal(strstr(at, "</p>\n"),
                     strstr(at, said) + strlen(said) - strlen("</p>\n"));
  if (look->upper) /* it ends the first line */
    assert_ptr_equal(strchr(text, '\n'), at + strlen(line) - 1);
}

/* Limits: the batch, the context, the sequences. */
static void check_limits(const char *text, const struct look *look,
                         const struct netc_answer *a) {
  char row[160];
  bool fits = strcmp(a->verdict, "fits") == 0;
  bool step = a->question == NETC_TRAINING;
  size_t used = 0;
  if (a->largest_batch >= 0 && (fits || !step)) {
    snprintf(row, sizeof row, "up to %s", count_text(a->largest_batch).text);
    check_row_of(text, look, "batch",
                 a->largest_batch ? row : "not even one sample fits");
  }
  if (a->longest_context < 0)
    return;
  if (a->longest_context == 0) {
    check_row_of(text, look, "context",
                 strcmp(a->verdict, "tight") == 0 ? "none without the reserve"
                                                  : "none fits");
    return;
  }
  if (a->longest_context < NETC_ANY_CONTEXT)
    used += (size_t)snprintf(row, sizeof row, "%s tokens for ",
                             count_text(a->longest_context).text);
  else
    used += (size_t)snprintf(row, sizeof row, "any number of tokens for ");
  if (a->sequences > 1)
    used += (size_t)snprintf(row + used, sizeof row - used, "%s sequences",
                             count_text(a->sequences).text);
  else
    used += (size_t)snprintf(row + used, sizeof row - used, "one sequence");
  if (a->most_sequences > 0)
    snprintf(row + used, sizeof row - used, ", or %s sequence%s of %s",
             count_text(a->most_sequences).text,
             a->most_sequences == 1 ? "" : "s", count_text(a->context).text);
  check_row_of(text, look, "context", row);
}

/* "20 of 33 layers are on the card" */
static void check_layers(const char *text, const struct look *look,
                         const struct netc_answer *a) {
  char part[128], room[64] = "";
  if (!a->host_bytes)
    return;
  if (a->host_room_bytes)
    snprintf(room, sizeof room, " of %s B",
             count_text(a->host_room_bytes).text);
  snprintf(part, sizeof part, "%s B%s", count_text(a->host_bytes).text, room);
  check_row_of(text, look, "host", part);
  snprintf(part, sizeof part, "%lld of %lld layers are on the card",
           (long long)a->gpu_layers, (long long)a->layer_count);
  if (a->layer_count && a->gpu_layers < a->layer_count)
    assert_holds(text, part);
}

/* The answer in a report, Markdown and a page. */
static void check_looks(struct netc *netc, const struct asked_question *q,
                        const struct netc_answer *a) {
  for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
    char *text = emit(netc, looks[i].kind, q->predict);
    check_needs(text, &looks[i], a);
    check_verdict(text, &looks[i], a);
    check_limits(text, &looks[i], a);
    check_layers(text, &looks[i], a);
    free(text);
  }
}

/* The sections below have what the answer leaves out. */
static void check_details(struct netc *netc, const struct asked_question *q,
                          const struct netc_answer *a) {
  char part[128];
  char *text = emit_more(netc, "txt", q->predict, true);
  check_needs(text, &looks[0], a);
  if (a->question == NETC_TRAINING)
    check_line(strstr(text, "\nTraining, "), "  peak ",
               count_text(a->alone_bytes).text);
  if (a->positions >= 0) {
    snprintf(part, sizeof part, "KV cache for %s tokens in total",
             count_text(a->positions).text);
    assert_holds(text, part);
  }
  free(text);
}

/* A number that is not -1, or no number. */
static void check_known(json_t *json, const char *path, int64_t value) {
  if (value >= 0)
    assert_true(number(json, path) == value);
  else
    assert_null(find(json, path));
}

static void check_json(struct netc *netc, const struct asked_question *q,
                       const struct netc_answer *a) {
  char *text = emit(netc, "json", q->predict);
  json_t *json = json_loads(text, 0, NULL);
  assert_non_null(json);
  assert_true(number(json, "answer.bytes") == a->bytes);
  assert_true(number(json, "answer.alone_bytes") == a->alone_bytes);
  assert_true(number(json, "answer.devices") == a->device_count);
  if (a->on_device) {
    const char *fit = q->predict ? "inference.fit.fits" : "training.fit.fits";
    const char *verdict =
        q->predict ? "inference.fit.verdict" : "training.fit.verdict";
    fit = a->question == NETC_SERVING ? "serving.fits" : fit;
    verdict = a->question == NETC_SERVING ? "serving.verdict" : verdict;
    assert_string_equal(json_string_value(find(json, "answer.verdict")),
                        a->verdict);
    assert_string_equal(json_string_value(find(json, verdict)), a->verdict);
    assert_true(a->fits == (strcmp(a->verdict, "does not fit") != 0));
    assert_true(number(json, "answer.left_bytes") == a->room_bytes - a->bytes);
    assert_true(json_is_true(find(json, "answer.fits")) == a->fits);
    assert_true(json_is_true(find(json, fit)) == a->fits);
    assert_true(number(json, "answer.room_bytes") == a->room_bytes);
    check_known(json, "answer.largest_batch", a->largest_batch);
    check_known(json, "answer.longest_context", a->longest_context);
    check_known(json, "answer.most_sequences", a->most_sequences);
    check_known(json, "answer.positions", a->positions);
  }
  if (a->question == NETC_TRAINING) {
    assert_true(number(json, "training.peak_bytes") == a->bytes);
    assert_true(number(json, "training.alone_peak_bytes") == a->alone_bytes);
  }
  if (a->question == NETC_SERVING)
    assert_true(number(json, "serving.need_bytes") == a->bytes);
  if (a->layer_count) {
    assert_true(number(json, "answer.layers") == a->layer_count);
    assert_true(number(json, "answer.gpu_layers") == a->gpu_layers);
    assert_true(number(json, "serving.gpu_layers") == a->gpu_layers);
    assert_true(number(json, "answer.host_bytes") == a->host_bytes);
    assert_true(number(json, "serving.host.need_bytes") == a->host_bytes);
    if (a->next_layer_bytes)
      assert_true(number(json, "answer.next_layer_bytes") ==
                  a->next_layer_bytes);
  }
  if (a->question == NETC_PREDICTION && a->on_device)
    assert_true(number(json, "inference.fit.need_bytes") == a->bytes);
  json_decref(json);
  free(text);
}

static void check_library(struct netc *netc, const struct asked_question *q,
                          const struct netc_answer *a) {
  struct netc_training training = {.size = sizeof training};
  struct netc_verdict verdict = {.size = sizeof verdict};
  struct netc_prediction prediction = {.size = sizeof prediction};
  assert_int_equal(netc_training(netc, &training), NETC_OK);
  if (q->predict) {
    assert_int_equal(netc_prediction(netc, &prediction), NETC_OK);
    assert_true(prediction.need_bytes == a->bytes);
    assert_true(prediction.fits == a->fits);
    assert_string_equal(prediction.verdict, a->verdict);
    return;
  }
  assert_int_equal(netc_verdict(netc, &verdict), NETC_OK);
  assert_true(training.peak_bytes == a->bytes);
  assert_true(training.device_peak_bytes == a->bytes);
  assert_true(training.alone_peak_bytes == a->alone_bytes);
  assert_true(!verdict.asked || verdict.peak_bytes == a->bytes);
  assert_true(verdict.asked == a->on_device && verdict.fits == a->fits);
  assert_string_equal(verdict.verdict, a->verdict);
}

/* The peak of a step in C, in a row of a sweep, and as a budget. */
static void check_step(const struct asked_question *q,
                       const struct netc_answer *a) {
  if (q->predict)
    return;
  struct run r = run(NETC " %s %s --emit=h", q->net, as_options(q));
  check_line(r.out, "#define ", "");
  const char *macro = strstr(r.out, "_TRAIN_PEAK_BYTES ");
  assert_non_null(macro);
  assert_true(strtoll(strpbrk(macro, "0123456789"), NULL, 10) == a->bytes);
  run_free(&r);
  r = run(NETC " sweep %s %s --samples 10,11 | sed -n 's/^11,[0-9]*,[0-9]*,"
               "[0-9]*,[0-9]*,\\([0-9]*\\),.*/\\1/p'",
          q->net, as_options(q));
  if (strtoll(r.out, NULL, 10) != a->bytes)
    fail_msg("sweep: %s%s", r.out, r.err);
  run_free(&r);
  for (int over = 0; over < 2; over++) {
    r = run(NETC " check %s %s --budget train=%lldB", q->net, as_options(q),
            (long long)(a->bytes - over));
    assert_true(!strstr(r.err, "of a training step, but the budget is") ==
                !over);
    run_free(&r);
  }
}

static void every_output_says_the_same(void **state) {
  const struct asked_question *q = *state;
  struct netc *netc = load(q);
  struct netc_answer a = answer_of(netc, q->predict);
  check_json(netc, q, &a);
  check_library(netc, q, &a);
  check_looks(netc, q, &a);
  check_details(netc, q, &a);
  netc_close(netc);
  check_step(q, &a);
  struct run r = run(NETC " diff %s %s %s", q->net, q->net, as_options(q));
  assert_int_equal(r.status, 0);
  check_line(r.out, what(q), size_text(a.bytes, UNITS_IEC).text);
  if (a.on_device)
    check_line(r.out, "verdict", a.verdict);
  run_free(&r);
  r = run(NETC " check %s %s", q->net, as_options(q));
  if (a.on_device)
    assert_int_equal(r.status, a.fits ? 0 : 1);
  run_free(&r);
}

/* The words of a line of a table after those of its first columns. */
static void check_row(const char *row, const struct netc_answer *a) {
  char part[128];
  int64_t left = a->room_bytes - a->bytes;
  bool host =
      left >= 0 && a->host_room_bytes && a->host_bytes > a->host_room_bytes;
  if (host)
    left = a->host_room_bytes - a->host_bytes;
  snprintf(part, sizeof part, " %s ", size_text(a->bytes, UNITS_IEC).text);
  assert_holds(row, part);
  snprintf(part, sizeof part, " %s %s",
           size_text(left < 0 ? -left : left, UNITS_IEC).text,
           host        ? "on host"
           : left >= 0 ? "left"
           : a->fits   ? "tight"
                       : "too much");
  assert_holds(row, part);
  if (a->largest_batch >= 0) {
    snprintf(part, sizeof part, "  %s", count_text(a->largest_batch).text);
    assert_holds(row, part);
  }
  if (a->longest_context >= 0 && a->longest_context < NETC_ANY_CONTEXT) {
    snprintf(part, sizeof part, "  %s", count_text(a->longest_context).text);
    assert_holds(row, part);
  }
  if (a->most_sequences >= 0) {
    snprintf(part, sizeof part, "  %s", count_text(a->most_sequences).text);
    assert_holds(row, part);
  }
  if (a->positions >= 0) {
    snprintf(part, sizeof part, "  %s", count_text(a->positions).text);
    assert_holds(row, part);
  }
}

static struct netc_argument all_devices(void) {
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument gpus = {.size = sizeof gpus};
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++)
    if (strcmp(setting.name, "gpu") == 0)
      assert_int_equal(netc_setting_argument(i, &gpus), NETC_OK);
  assert_non_null(gpus.words);
  return gpus;
}

/* Each row of `--gpu all` says what is said of that device alone. */
static void a_row_is_what_is_said_alone(const struct asked_question *q) {
  struct netc_argument gpus = all_devices();
  struct run r = run(NETC " %s %s --gpu all --details", q->net, as_options(q));
  assert_int_equal(r.status, 0);
  int rows = 0;
  for (const char *at = gpus.words; *at; at += *at == ' ') {
    char gpu[64], begin[80];
    size_t length = strcspn(at, " ");
    snprintf(gpu, sizeof gpu, "%.*s", (int)length, at);
    at += length;
    rows++;
    struct netc *netc = netc_open(NULL, NULL);
    choose(netc, q->settings);
    assert_int_equal(netc_set(netc, "gpu", gpu), NETC_OK);
    assert_int_equal(netc_load_file(netc, q->net), NETC_OK);
    struct netc_answer a = answer_of(netc, q->predict);
    snprintf(begin, sizeof begin, "%s ", gpu);
    char *row = line_of(r.out, begin);
    check_row(row, &a);
    free(row);
    netc_close(netc);
  }
  assert_true(rows > 12);
  run_free(&r);
}

static void each_row_is_what_is_said_alone(void **state) {
  static const struct asked_question tables[] = {
      {"steps", RESNET, "batch=64 optimizer=adam", false},
      {"shared", LLAMA, "data_parallel=8 zero=3", false},
      {"offloaded", GPT2, "offload=optimizer host_memory=4GiB", false},
      {"predictions", UNET, "batch=8", true},
      {"blocks", LLAMA, "weight_dtype=q4_k_m", true},
      {"served", LLAMA, "context=8192 sequences=8 tensor_parallel=2", true},
  };
  (void)state;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    a_row_is_what_is_said_alone(&tables[i]);
}

/* Lists of other settings, and batches beside each other. */
static void tables_of_several_lists(void **state) {
  (void)state;
  struct run r = run(NETC " " LLAMA " --predict --gpu t4,rtx4090 "
                          "--weight-dtype q4_k_m,q8_0");
  assert_int_equal(r.status, 0);
  static const char *const gpus[] = {"t4", "rtx4090"};
  static const char *const types[] = {"q4_k_m", "q8_0"};
  for (int i = 0; i < 4; i++) {
    char settings[64], begin[64];
    snprintf(settings, sizeof settings, "gpu=%s weight_dtype=%s", gpus[i / 2],
             types[i % 2]);
    snprintf(begin, sizeof begin, "%-7s  %-12s", gpus[i / 2], types[i % 2]);
    struct asked_question q = {"", LLAMA, settings, true};
    struct netc *netc = load(&q);
    struct netc_answer a = answer_of(netc, true);
    char *row = line_of(r.out, begin);
    check_row(row, &a);
    free(row);
    netc_close(netc);
  }
  run_free(&r);
  r = run(NETC " " LLAMA " --data-parallel 8 --zero 3 --gpu h100 "
               "--batch 1,2");
  assert_int_equal(r.status, 0);
  check_line(r.out, "1  ", " 80.88 GiB "); /* not 167.69: one device's */
  check_line(r.out, "2  ", "143.86 GiB");
  run_free(&r);
  r = run(NETC " " RESNET " --gpu all --batch 8,512");
  assert_int_equal(r.status, 0);
  check_line(r.out, "device  ", "batch 8");
  for (int i = 0; i < 2; i++) {
    struct asked_question q = {
        "", RESNET, i ? "batch=512 gpu=t4" : "batch=8 gpu=t4", false};
    char part[64];
    struct netc *netc = load(&q);
    struct netc_answer a = answer_of(netc, false);
    int64_t left = a.room_bytes - a.bytes;
    snprintf(part, sizeof part, " %s %s",
             size_text(left < 0 ? -left : left, UNITS_IEC).text,
             i ? "too much" : "left");
    check_line(r.out, "t4 ", part);
    netc_close(netc);
  }
  run_free(&r);
}

static void check_table(const char *arguments, const char *rows,
                        const char *message) {
  char command[256];
  snprintf(command, sizeof command, NETC " examples/resnet50.net %s",
           arguments);
  struct run r = run("%s", command);
  assert_int_equal(r.status, 1);
  const char *head = strstr(r.out, "\n\n");
  assert_string_equal(head ? head + 2 : r.out, rows);
  const char *said = strstr(r.err, message);
  assert_non_null(said);
  assert_null(strstr(said + 1, message)); /* once */
  run_free(&r);
}

/* A value that has no answer leaves dashes, and the others are answered. */
static void tables_go_on_after_a_value_that_fails(void **state) {
  (void)state;
#define MOST "9223372036854775807"
  check_table(
      "--pipeline 1,99,2 --gpu t4,h100",
      "device  pipeline        memory  devices      training                   "
      "      largest batch\n"
      "t4      1            14.56 GiB        1    353.14 MiB     12.08 GiB "
      "left                151\n"
      "t4      99                   -        -             -                   "
      "   -              -\n"
      "t4      2            14.56 GiB        2    276.34 MiB     12.15 GiB "
      "left                188\n"
      "h100    1            79.11 GiB        1    353.14 MiB     67.46 GiB "
      "left                837\n"
      "h100    99                   -        -             -                   "
      "   -              -\n"
      "h100    2            79.11 GiB        2    276.34 MiB     67.54 GiB "
      "left              1,038\n",
      "error: the pipeline has 99 stages, but the net can be cut into only");
  check_table(
      "--pipeline 99,1 --gpu t4",
      "pipeline  devices      training                         largest batch\n"
      "99              -             -                      -              -\n"
      "1               1    353.14 MiB     12.08 GiB left                151\n",
      "error: the pipeline has 99 stages, but the net can be cut into only");
  check_table("--batch 1," MOST ",2",
              "batch                    training         saved\n"
              "1                      353.14 MiB     81.57 MiB\n"
              "9223372036854775807             -             -\n"
              "2                      419.56 MiB    162.92 MiB\n",
              "passes 2^63 - 1 bytes");
  check_table("--batch " MOST ",2 --gpu t4,h100",
              "device        memory  batch 9223372036854775807                "
              "batch 2  largest batch\n"
              "t4         14.56 GiB                      -     12.01 GiB left  "
              "              151\n"
              "h100       79.11 GiB                      -     67.40 GiB left  "
              "              837\n",
              "passes 2^63 - 1 bytes");
  check_table("--batch " MOST " --accumulate 1,2", "", "passes 2^63 - 1 bytes");
#undef MOST
}

/* A table of devices and of memory says when it is not fit for an answer. */
static void tables_refuse_what_they_cannot_show(void **state) {
  (void)state;
  expect(NETC " " LLAMA " --gpu t4,nowhere", 2, "", "--gpu nowhere: ");
  expect(NETC " " LLAMA " --batch 1,2 --zero 1,2 --dtype bf16,f16 "
              "--optimizer sgd,adam --precision full,mixed",
         2, "",
         "--precision full,mixed: at most 4 settings can have several values");
  expect(NETC " diff " CNN " " UNET " --batch 1,2", 2, "",
         "--batch takes one value here; `netc FILE.net` makes a table of "
         "several");
#define PREDICT " examples/resnet50.net --predict "
  expect(NETC PREDICT "--data-parallel 1,2 --gpu t4", 2, "",
         "--data-parallel 1,2: it is not used here; it applies to "
         "training; --tensor-parallel, ");
  expect(NETC PREDICT "--optimizer adam,sgd", 2, "",
         "--optimizer adam,sgd: it changes nothing here; it applies to "
         "training: leave out --predict");
  expect(NETC PREDICT "--fold off,on", 0, "\noff ", "");
  /* Only inference has it, so inference is asked about. */
  expect(NETC " examples/resnet50.net --fold off,on", 0, "\noff ", "");
  expect(NETC " examples/resnet50.net --misc 1,2", 2, "",
         "--misc 1,2: it changes nothing here; give only one value");
#undef PREDICT
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(each_row_is_what_is_said_alone),
      cmocka_unit_test(tables_of_several_lists),
      cmocka_unit_test(tables_go_on_after_a_value_that_fails),
      cmocka_unit_test(tables_refuse_what_they_cannot_show),
  };
  return run_table("answers", questions, sizeof questions / sizeof *questions,
                   sizeof *questions, every_output_says_the_same, others,
                   sizeof others / sizeof *others);
}
