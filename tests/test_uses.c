/*
 * Settings by outputs: each pair is run with a value that is not the default.
 * The output changes if library/uses.def says that it shows the setting, is
 * the same if it does not, and is refused where it would have to.
 */
#define _POSIX_C_SOURCE 200809L
#include "sema/model/settings.h"
#include "tests/report.h"
#include "tests/run.h"

/* The table again, by names. */
enum {
#define SUBJECT(constant, settings) constant##_PLACE,
#include "library/uses.def"
  SUBJECT_COUNT
};
enum {
  NONE = 0,
#define SUBJECT(constant, settings) constant = 1u << constant##_PLACE,
#include "library/uses.def"
};

static const char *const subjects[SUBJECT_COUNT] = {
#define SUBJECT(constant, settings) settings,
#include "library/uses.def"
};

static const struct row {
  const char *output;
  unsigned shows[2], refuses[2], judges;
} rows[] = {
#define USES(output, shows, refuses, judges, predicts, asks) \
  {output, {shows, predicts}, {refuses, asks}, judges},
#include "library/uses.def"
};

#define LM                                                       \
  "input tokens 64 : i32\nembed 512 64\nrepeat 4 {\n block: {\n" \
  "add { ln; attention 4 causal window=40 } {}\n"                \
  "add { ln; linear 200 gelu; linear 64; dropout 0.1 } {}\n"     \
  "}\n}\nln\nlinear 512\n"                                       \
  "train loss=crossentropy batch=8 optimizer=adam\n"
#define STATES "input tokens 64 : i32\nembed 512 64\nssm state=8\nlinear 512\n"
#define FC "input 30\nfc 1000\nfc 1000\nfc 10\ntrain optimizer=adam\n"
#define WINDOW "net n\ninput 9x1x4\nconv 8 3x1 relu\nconv 8 7x1\nfc 3\n"
#define CNN                                                           \
  "input 30x30x3\nconv 15 3x3 pad bn relu\nconv 30 3x3 pad bn relu\n" \
  "pool 2x2\nconv 61 3x3 pad relu\ngap\nfc 10 softmax\ntrain batch=8\n"
#define SKIP                                                      \
  "input 32x32x3\nconv 8 3x3 pad\nadd { conv 8 3x3 pad bn relu\n" \
  "conv 8 3x3 pad bn } {}\nrelu\ngap\nfc 10\ntrain batch=8\n"
#define FROZEN "input 64x64x3\nfreeze { conv 64 3x3 pad relu }\ngap\nfc 10\n"
#define MOE                                                                \
  "input tokens 32 : i32\nembed 200 64\nrepeat 4 {\n"                      \
  "add { rmsnorm; attention 4 causal } {}\nadd { rmsnorm\n"                \
  "moe experts=8 top=2 { linear 512 gelu; linear 64 } } {}\n}\nlinear 200" \
  "\ntrain batch=8 optimizer=adam loss=crossentropy\n"
#define GLU                                                            \
  "input 32 x 64\nmul { linear 256 silu } { linear 256 }\nlinear 10\n" \
  "train batch=8 optimizer=adam loss=crossentropy\n"
#define LORA                                                              \
  "input tokens 64 : i32\nfreeze { embed 500 256 }\nrepeat 4 {\n"         \
  "add { freeze { rmsnorm }; attention 8 causal nobias lora=4 } {}\n"     \
  "add { freeze { rmsnorm }; linear 1024 nobias lora=4 gelu; linear 256 " \
  "nobias lora=4 } {}\n}\nfreeze { rmsnorm; linear 500 nobias }\n"        \
  "train batch=4 optimizer=adamw dtype=bf16 loss=crossentropy\n"

#define ZERO "data_parallel=4 zero=3 "
#define HOSTED ZERO "offload=optimizer host_memory=1GiB "

/* A setting with what makes it count, and a value that is not the default. */
static struct probe {
  char setting[24];
  const char *net, *base, *value;
} probes[] = {
    {"batch", LM, "gpu=t4", "4"},
    {"optimizer", LM, "", "sgd"},
    {"like", LM, "", "mmdet"}, /* another optimizer */
    {"update", FC, "", "loop"},
    {"clip", FC, "optimizer=sgd update=fused", "double"},
    {"paged", LM, "", "on"},
    {"ema", LM, "", "on"},
    {"dtype", LM, "gpu=t4", "bf16"},
    {"precision", LM, "gpu=t4", "mixed"},
    {"gradient_dtype", LM, "precision=mixed", "bf16"},
    {"saved_dtype", LM, "", "i8"},
    {"base", LORA, "", "nf4"},
    {"loss", LM, "", "focal"},
    {"loss_dtype", LM, "dtype=bf16", "same"},
    {"loss_chunks", LM, "loss=fused_crossentropy", "2"},
    {"rule", LM, "", "x3 misc:5"},
    {"inplace", FROZEN, "", "off"},
    {"attention", LM, "", "naive"},
    {"norms", LM, "", "efficient"},
    {"glu", GLU, "", "fused"},
    {"moe", MOE, "batch=512", "grouped"},
    {"profile", LM, "", "torch1-cpu"},
    {"accumulate", LM, "", "2"},
    {"keep_gradients", LM, "", "on"},
    {"keep_outputs", LM, "", "off"},
    {"checkpoint", LM, "", "2"},
    {"memory", LM, "", "1GiB"},
    {"gpu", LM, "", "t4"},
    {"reserve", LM, "gpu=t4", "50"},
    {"tokens", LM, "gpu=h100 dtype=bf16", "1000000"},
    {"samples", LM, "gpu=h100 dtype=bf16", "1000000"},
    {"price", LM, "gpu=h100 dtype=bf16 tokens=1000000", "2.5"},
    {"data_parallel", LM, "", "2"},
    {"zero", LM, "data_parallel=4", "2"},
    {"shard_devices", LM, ZERO, "2"},
    {"gather", LM, ZERO, "layer no_reshard small:1M"},
    {"bucket", LM, ZERO, "64KiB"},
    {"offload", LM, ZERO, "optimizer"},
    {"host_memory", LM, HOSTED "gpu=t4", "1MiB"},
    {"host_devices", LM, HOSTED "gpu=t4 host_memory=2500KiB", "1"},
    {"tensor_parallel", LM, "", "2"},
    {"sequence_parallel", LM, "tensor_parallel=2", "on"},
    {"context_parallel", LM, "", "2"},
    {"expert_parallel", MOE, "data_parallel=8", "8"},
    {"expert_tensor_parallel", MOE,
     "data_parallel=2 tensor_parallel=2 sequence_parallel=on", "1"},
    {"imbalance", MOE, "data_parallel=8 expert_parallel=8", "2"},
    {"pipeline", LM, "", "2"},
    {"virtual_stages", LM, "pipeline=2", "2"},
    {"cut", LM, "pipeline=2", "3,1"},
    {"microbatches", LM, "pipeline=2", "4"},
    {"schedule", LM, "pipeline=2", "gpipe"},
    {"runtime", LM, "context=128 gpu=t4", "llama.cpp"},
    {"weight_dtype", LM, "", "q8_0"},
    {"fold", CNN, "runtime=netrt", "off"},
    {"fuse", SKIP, "runtime=netrt", "off"},
    {"overlap", CNN, "runtime=netrt", "on"},
    {"patches", CNN, "runtime=netrt", "auto"},
    {"stream", WINDOW, "runtime=netrt", "on"},
    {"align", CNN, "runtime=netrt", "4096"},
    {"decode", LM, "", "128"},
    {"context", LM, "gpu=t4", "128"},
    {"sequences", LM, "gpu=t4", "4"},
    {"cache", LM, "decode=128 context=128 gpu=t4", "f16 bf16"},
    {"state_dtype", STATES, "context=128 gpu=t4", "f16"},
    {"page", LM, "context=100 gpu=t4", "64"},
    {"sinks", LM, "context=256 gpu=t4", "9"},
    {"prefill", LM, "context=128 sequences=2 gpu=t4", "32"},
    {"ubatch", LM, "context=128 runtime=llama.cpp gpu=t4", "32"},
    {"scores", LM, "context=128 gpu=t4", "all"},
    {"flash", LM, "context=1024 runtime=llama.cpp gpu=t4", "off"},
    {"gpu_layers", LM, "context=128 gpu=t4", "1"},
    {"tensor_split", LM, "context=128 gpu=t4", "3,1"},
    {"host_experts", MOE, "context=128 gpu=t4", "all"},
    {"utilization", LM, "context=128 gpu=t4", "0.5"},
    {"sampler", LM, "context=128 sequences=4096 gpu=t4", "top_k_top_p"},
    {"board", CNN, "", "nucleo-f746zg"},
    {"ram", CNN, "", "256KiB"},
};

static const unsigned of_inference =
#define ASKS(inference, training) inference
#include "library/uses.def"
    ;
static const unsigned of_training =
#define ASKS(inference, training) training
#include "library/uses.def"
    ;

static unsigned subjects_of_word(const char *setting, size_t length) {
  unsigned found = 0;
  for (int i = 0; i < SUBJECT_COUNT; i++)
    for (const char *at = subjects[i]; *at; at += *at == ' ') {
      size_t word = strcspn(at, " ");
      if (word == length && memcmp(at, setting, word) == 0)
        found |= 1u << i;
      at += word;
    }
  return found;
}

static unsigned subjects_of(const char *setting) {
  return subjects_of_word(setting, strlen(setting));
}

/* True if a command with these settings is about inference by itself. */
static bool asks_inference(const struct probe *p) {
  unsigned given = subjects_of(p->setting);
  for (const char *at = p->base; *at; at += *at == ' ') {
    given |= subjects_of_word(at, strcspn(at, "="));
    at += strcspn(at, " ");
  }
  return given & of_inference && !(given & of_training);
}

static const struct row *row_of(const char *output) {
  static const struct row nothing = {"", {0, 0}, {0, 0}, 0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t length = strcspn(rows[i].output, "*");
    if (strncmp(rows[i].output, output, length) == 0 &&
        (rows[i].output[length] || !output[length]))
      return &rows[i];
  }
  return &nothing;
}

enum expected { SAME, CHANGES, REFUSED };

static enum expected expected_of(const char *output, const struct probe *p,
                                 bool predict) {
  const struct row *row = row_of(output);
  unsigned of = subjects_of(p->setting), refused = row->refuses[predict];
  if (!predict && strstr(p->base, "gpu="))
    refused |= row->judges;
  return of & row->shows[predict] & ~refused ? CHANGES
         : of & refused                      ? REFUSED
                                             : SAME;
}

static struct netc *load(const struct probe *p, bool chosen) {
  struct netc *netc = netc_open(NULL, NULL);
  choose(netc, p->base);
  if (chosen)
    assert_int_equal(netc_set(netc, p->setting, p->value), NETC_OK);
  assert_int_equal(
      show_errors(netc, netc_load_text(netc, "x.net", p->net, strlen(p->net))),
      NETC_OK);
  return netc;
}

/* Another output: what is neither so nor so is told before it fails. */
static int judge(const struct probe *p, const char *output, bool predict,
                 enum expected found) {
  static const char *const words[] = {"the same", "another", "refused"};
  enum expected wanted = expected_of(output, p, predict);
  if (found == wanted)
    return 0;
  print_error("%s: %s%s is %s, not %s\n", p->setting, output,
              predict ? " --predict" : "", words[found], words[wanted]);
  return 1;
}

static void check_message(struct netc *netc, const struct probe *p) {
  char option[40] = "--";
  for (size_t i = 0; p->setting[i]; i++)
    option[i + 2] = p->setting[i] == '_' ? '-' : p->setting[i];
  assert_holds(netc_message(netc), option);
  assert_holds(netc_message(netc), "is not used here; ");
}

static int try_output(const struct probe *p, struct netc *plain,
                      struct netc *chosen, const char *output, bool predict) {
  struct buffer a = {0}, b = {0};
  struct netc_options options = {.size = sizeof options,
                                 .predict = predict,
                                 .details = true,
                                 .units = NETC_BYTES};
  enum netc_status first = netc_emit(plain, output, &options, collect, &a);
  enum netc_status second = netc_emit(chosen, output, &options, collect, &b);
  enum expected found = SAME;
  int wrong = 0;
  if (first == NETC_ERROR) /* an output that this net does not have */
    assert_int_equal(second, NETC_ERROR);
  if (first == NETC_USAGE) /* what makes it count is refused already */
    assert_int_equal(second, NETC_USAGE);
  if (second == NETC_USAGE && first == NETC_OK) {
    check_message(chosen, p);
    found = REFUSED;
  } else if (first != second || (a.at && strcmp(a.at, b.at) != 0)) {
    found = CHANGES; /* or it has an error of its own */
  }
  if (first == NETC_OK)
    wrong = judge(p, output, predict, found);
  free(a.at);
  free(b.at);
  return wrong;
}

/* "batch=8 zero=3" as options */
static void put_options(char *to, size_t room, const char *settings) {
  size_t used = 0;
  bool begins = true;
  for (const char *at = settings; *at && used + 3 < room; at++) {
    if (begins && *at != ' ') {
      to[used++] = '-';
      to[used++] = '-';
    }
    begins = *at == ' ';
    to[used++] = *at == '=' ? ' ' : *at == '_' ? '-' : *at;
  }
  to[used] = '\0';
}

static struct run run_with(const struct probe *p, const char *command,
                           const char *more, bool chosen, bool predict) {
  char base[256], name[40], own[96]; /* gather='layer no_reshard' */
  put_options(base, sizeof base, p->base);
  put_options(name, sizeof name, p->setting);
  snprintf(own, sizeof own, "%s '%s'", name, p->value);
  write_text(BUILD "/tests/uses.net", p->net, strlen(p->net));
  return run(NETC " %s " BUILD "/tests/uses.net %s %s %s %s", command, more,
             base, chosen ? own : "", predict ? "--predict" : "");
}

/* A setting about inference asks as --predict does. */
static int try_implied(const struct probe *p, const char *command,
                       const char *more) {
  struct run a = run_with(p, command, more, true, false);
  struct run b = run_with(p, command, more, true, true);
  int wrong = a.status != b.status || strcmp(a.out, b.out) != 0;
  if (wrong)
    print_error("%s: %s not as with --predict\n", p->setting, command);
  run_free(&a);
  run_free(&b);
  return wrong;
}

static int try_command(const struct probe *p, const char *output,
                       const char *command, const char *more, bool predict) {
  if (!predict && asks_inference(p))
    return try_implied(p, command, more);
  struct run a = run_with(p, command, more, false, predict);
  struct run b = run_with(p, command, more, true, predict);
  int wrong = 0;
  if (a.status == 0)
    wrong = judge(p, output, predict,
                  b.status == 2               ? REFUSED
                  : strcmp(a.out, b.out) != 0 ? CHANGES
                                              : SAME);
  else
    assert_int_equal(a.status, 2);
  if (b.status == 2)
    assert_holds(b.err, "is not used here; ");
  run_free(&a);
  run_free(&b);
  return wrong;
}

static int try_answer(const struct probe *p, struct netc *plain,
                      struct netc *chosen, bool predict) {
  struct netc_answer a, b;
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  a.size = b.size = sizeof a;
  enum netc_status first = netc_answer(plain, predict, &a);
  enum netc_status second = netc_answer(chosen, predict, &b);
  if (first != NETC_OK) {
    assert_int_equal(second, NETC_USAGE);
    return 0;
  }
  return judge(p, "answer", predict,
               second == NETC_USAGE            ? REFUSED
               : memcmp(&a, &b, sizeof a) != 0 ? CHANGES
                                               : SAME);
}

static int try_question(const struct probe *p, bool predict) {
  struct netc *plain = load(p, false), *chosen = load(p, true);
  struct netc_output_kind kind = {.size = sizeof kind};
  int wrong = 0;
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++)
    if (kind.purpose == NETC_FOR_FILES)
      wrong += try_output(p, plain, chosen, kind.name, predict);
  wrong += try_answer(p, plain, chosen, predict);
  wrong += try_command(p, "table", "",
                       strcmp(p->setting, "inplace") == 0 ? "--batch 1,2"
                                                          : "--inplace on,off",
                       predict);
  wrong += try_command(p, "diff", "diff " BUILD "/tests/uses.net", "", predict);
  netc_close(plain);
  netc_close(chosen);
  return wrong;
}

static void a_setting_is_used_or_has_nothing_to_do_with_it(void **state) {
  const struct probe *p = *state;
  struct probe served = *p;
  /* These divide training, or what is served. */
  if (strcmp(p->setting, "pipeline") == 0 ||
      strcmp(p->setting, "expert_parallel") == 0)
    served.base = "context=128 gpu=t4";
  int wrong = try_question(p, false) + try_question(&served, true);
  assert_int_equal(wrong, 0);
}

/* The same probe of what is served, with no device that it has to fit. */
static void without_a_device_it_is_shown(void **state) {
  static const char *const outputs[] = {"txt", "json", "html", "md", "answer"};
  (void)state;
  int wrong = 0, count = 0;
  for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
    char base[64];
    struct probe p = probes[i];
    const char *gpu = strstr(p.base, "gpu=t4");
    if (!gpu || expected_of("answer", &p, false) != REFUSED ||
        strcmp(p.setting, "utilization") == 0) /* of a device alone */
      continue;
    snprintf(base, sizeof base, "%.*s", (int)(gpu - p.base), p.base);
    p.base = base;
    struct netc *plain = load(&p, false), *chosen = load(&p, true);
    for (size_t k = 0; k + 1 < sizeof outputs / sizeof *outputs; k++, count++)
      wrong += try_output(&p, plain, chosen, outputs[k], false);
    wrong += try_answer(&p, plain, chosen, false);
    netc_close(plain);
    netc_close(chosen);
  }
  assert_int_equal(wrong, 0);
  assert_int_equal(count, 15 * 4);
}

/* netc place: what is not about training is refused. */
static void place_refuses_what_it_does_not_use(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
    const struct probe *p = &probes[i];
    const char *base = strstr(p->base, "gpu=t4") ? "" : p->base;
    struct probe alone = {.net = p->net, .base = base, .value = p->value};
    strcpy(alone.setting, p->setting);
    struct netc *netc = netc_open(NULL, NULL);
    netc_mode(netc, NETC_FOR_PLACE);
    assert_int_equal(netc_set(netc, p->setting, p->value), NETC_OK);
    if (netc_load_text(netc, "x.net", p->net, strlen(p->net)) == NETC_OK) {
      bool refused = netc_uses(netc, "place", false) == NETC_USAGE;
      bool wanted = expected_of("place", &alone, false) == REFUSED;
      if (refused != wanted)
        print_error("netc place --%s\n", p->setting);
      wrong += refused != wanted;
    }
    netc_close(netc);
  }
  assert_int_equal(wrong, 0);
}

/* Every setting has a subject and a probe, and nothing else has. */
static void the_table_knows_every_setting(void **state) {
  (void)state;
  struct netc_setting setting = {.size = sizeof setting};
  size_t count = 0, words = 0;
  for (size_t at = 0; netc_setting(at, &setting) == NETC_OK; at++) {
    bool probed = false;
    if (setting.now) /* an old name */
      continue;
    count++;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
      probed = probed || strcmp(probes[i].setting, setting.name) == 0;
    if (!probed || !subjects_of(setting.name))
      print_error("%s has no probe or no subject\n", setting.name);
    assert_true(probed && subjects_of(setting.name));
  }
  for (int i = 0; i < SUBJECT_COUNT; i++)
    for (const char *at = subjects[i]; *at; at += *at == ' ', words++)
      at += strcspn(at, " ");
  assert_int_equal(words, count);
  assert_int_equal(sizeof probes / sizeof *probes, count);
}

/* Outputs that show a subject, or refuse it: of training, with --predict. */
static void put_outputs(char *page, size_t room, unsigned subject, bool refuses,
                        bool training, bool predict) {
  size_t used = strlen(page), begin = used;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool is[2];
    for (int k = 0; k < 2; k++) {
      unsigned refused = rows[i].refuses[k] & subject;
      is[k] = refuses ? refused : !refused && rows[i].shows[k] & subject;
    }
    if (is[0] == training && is[1] == predict)
      used += (size_t)snprintf(
          page + used, room - used, "%s%.*s", used > begin ? ", " : "",
          (int)strcspn(rows[i].output, ".*"), rows[i].output);
  }
  static const char reports[] = "txt, json, html, md, answer, table, diff";
  if (strncmp(page + begin, reports, strlen(reports)) == 0) {
    char others[256];
    snprintf(others, sizeof others, "%s", page + begin + strlen(reports));
    snprintf(page + begin, room - begin, "reports%s", others);
    used = strlen(page);
  }
  snprintf(page + used, room - used, " | ");
}

/* The manual has the table. */
static void the_manual_has_the_table(void **state) {
  (void)state;
  static char page[16384] =
      "| settings | shown in | of training | with `--predict` | an error | "
      "with `--predict` |\n|---|---|---|---|---|---|\n";
  for (int i = 0; i < SUBJECT_COUNT; i++) {
    size_t used = strlen(page);
    snprintf(page + used, sizeof page - used, "| `%s` | ", subjects[i]);
    put_outputs(page, sizeof page, 1u << i, false, true, true);
    put_outputs(page, sizeof page, 1u << i, false, true, false);
    put_outputs(page, sizeof page, 1u << i, false, false, true);
    put_outputs(page, sizeof page, 1u << i, true, true, false);
    put_outputs(page, sizeof page, 1u << i, true, false, true);
    page[strlen(page) - 1] = '\n';
  }
  check_part("docs/reference.md", "<!-- settings by outputs: make docs -->\n",
             "<!-- end -->", page);
}

/* So are all settings, as settings.def has them; gpus.md has the devices. */
static void the_manual_has_every_setting(void **state) {
  (void)state;
  static char page[32768] =
      "| setting | of | default | values | |\n|---|---|---|---|---|\n";
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++) {
    assert_int_equal(netc_setting_argument(i, &argument), NETC_OK);
    if (setting.now) /* an old name */
      continue;
    size_t used = strlen(page);
    int length = snprintf(
        page + used, sizeof page - used, "| `%s` | %s | %s | %s | %s |\n",
        setting.name, setting.section, argument.fallback,
        strcmp(setting.name, "gpu") == 0     ? "[its name](gpus.md)"
        : strcmp(setting.name, "board") == 0 ? "[its name](boards.md)"
        : strcmp(setting.name, "like") == 0  ? "[its name](recipes.md)"
        : *argument.words                    ? argument.words
                                             : argument.value,
        argument.doc);
    assert_in_range(length, 1, sizeof page - used - 1);
  }
  check_part("docs/reference.md", "<!-- settings: make docs -->\n",
             "<!-- end of settings -->", page);
}

/* A default that is given is not refused; nor is the source. */
static void defaults_are_never_refused(void **state) {
  (void)state;
#define PREDICT NETC " examples/llama3.net --predict --emit=csv=/dev/null "
  expect(NETC " examples/simple_cnn.net --predict --pipeline 1 --zero 1 "
              "--precision full",
         2, "", "--zero 1 is not used here; ");
  expect(NETC " examples/simple_cnn.net --predict --pipeline 1 "
              "--precision full",
         0, "\ninference, ", NULL);
  expect(PREDICT "--pipeline 4", 0, "", ""); /* CSV says nothing of it */
  expect(NETC " examples/llama3.net --gpu t4 --pipeline 4 --batch 4 "
              "--emit=svg=/dev/null --emit=h=/dev/null",
         0, "", "");
#undef PREDICT
}

/* Settings that nothing uses without another one. */
static void what_is_alone_is_refused(void **state) {
  (void)state;
#define LLAMA NETC " examples/llama3.net --brief "
  expect(LLAMA "--cache i8", 2, "",
         "--cache i8 is not used here; it needs a KV cache: add --context or "
         "--decode");
  expect(LLAMA "--cache i8 --context 512", 0, "1 sequence of 512 ", "");
  expect(LLAMA "--cache i8 --predict", 2, "", "--cache i8 is not used here; ");
  expect(LLAMA "--cache i8 --predict --gpu h100", 0, "\n  context    ", "");
  expect(LLAMA "--page 64", 2, "", "--page 64 is not used here; ");
  expect(LLAMA "--host-memory 64GiB", 2, "",
         "--host-memory 64GiB is not used here; it needs --offload, which "
         "names what is kept in host memory");
  expect(LLAMA "--host-devices 4", 2, "", "--host-devices 4 is not used here;");
  expect(LLAMA "--host-memory 64GiB --offload optimizer", 0, "\ntrain, ", "");
  expect(LLAMA "--offload none,optimizer --host-memory 64GiB", 0, "offload",
         "");
  expect(LLAMA "--cache i8 --host-memory 64GiB --emit=svg=/dev/null", 0, "",
         "");
  expect(LLAMA "--zero 3 --emit=json", 0, "\"alone_bytes\": 180050617344,", "");
  expect(LLAMA "--zero 3", 0, "gathered", "");
  /* Options that shape a file that is not written do not matter here. */
  expect(LLAMA "--header=deploy --direction=lr --opset 17", 0, "\ntrain, ", "");
#undef LLAMA
}

/* A device is named once, and the command line's is the one that counts. */
static void a_device_is_named_once(void **state) {
  (void)state;
  static const char source[] = "input 9\nfc 9\ntrain memory=1GiB\n";
#define FILE_A BUILD "/tests/uses-memory.net "
  write_text(BUILD "/tests/uses-memory.net", source, strlen(source));
  expect(NETC " " FILE_A "--brief", 0, "PyTorch on 1.00 GiB\n", "");
  expect(NETC " " FILE_A "--brief --gpu t4", 0, "PyTorch on T4\n", "");
  expect(NETC " " FILE_A "--brief --memory 2GiB", 0, "PyTorch on 2.00 GiB\n",
         "");
  expect(
      NETC " " FILE_A "--gpu t4 --memory 2GiB", 2, "",
      "--gpu and --memory both set the memory of the device; use one of them");
  expect(NETC " " FILE_A "--gpu t4 --memory 2GiB --emit=svg=/dev/null "
              "--emit=roofline.svg=/dev/null",
         0, "", "");
#undef FILE_A
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(the_table_knows_every_setting),
      cmocka_unit_test(without_a_device_it_is_shown),
      cmocka_unit_test(what_is_alone_is_refused),
      cmocka_unit_test(a_device_is_named_once),
      cmocka_unit_test(place_refuses_what_it_does_not_use),
      cmocka_unit_test(defaults_are_never_refused),
      cmocka_unit_test(the_manual_has_the_table),
      cmocka_unit_test(the_manual_has_every_setting),
  };
  return run_table("uses", probes, sizeof probes / sizeof *probes,
                   sizeof *probes,
                   a_setting_is_used_or_has_nothing_to_do_with_it, others,
                   sizeof others / sizeof *others);
}
