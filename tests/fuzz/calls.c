/*
 * Fuzzing the library's calls: settings and options by the first bytes, a text
 * by the others. Every n-th allocation may fail, callbacks call back and may
 * stop the work, whatever can be read is read. Nothing leaks, nothing is
 * netc's own fault, and a net written out in full is the same net.
 */
#include <stdio.h>

#include "tests/fuzz/fuzz.h"

enum { HEAD = 16, MOST = 300, MOST_LAYERS = 300 };

struct input {
  const uint8_t *at;
  size_t left;
};

static unsigned take(struct input *input) {
  if (input->left == 0)
    return 0;
  input->left--;
  return *input->at++;
}

/* Allocation: `left` succeed, if it may fail at all. */
struct memory {
  bool failing;
  long left, blocks;
};

static void *resize(void *user, void *old, size_t size) {
  struct memory *memory = user;
  if (size == 0) {
    memory->blocks -= old != NULL;
    free(old);
    return NULL;
  }
  if (memory->failing && memory->left-- <= 0)
    return NULL;
  void *block = realloc(old, size);
  memory->blocks += !old && block;
  return block;
}

/* Calls from inside of a call, which are answered or refused. */
static void call_back(struct netc *netc) {
  static const char text[] = "input 8\n";
  netc_layer_count(netc);
  netc_set(netc, "batch", "3");
  netc_load_text(netc, "inner", text, sizeof text - 1);
  netc_message(netc);
}

static enum netc_found read_used(void *user, const char *path,
                                 netc_sink_fn *sink, void *to) {
  static const char text[] = "def blk(c) { linear c }\nuse \"none.net\"\n";
  if (strstr(path, "none"))
    return NETC_ABSENT;
  if (strstr(path, "bad"))
    return NETC_UNREADABLE;
  call_back(user);
  sink(to, text, sizeof text - 1);
  return NETC_FOUND;
}

/* Who is told of progress; stops a call after `left`, if it may at all. */
struct listener {
  struct netc *netc;
  bool answers, stops, stopped, inside;
  long left;
};

static bool listen(void *user, const char *what, int64_t done, int64_t total) {
  struct listener *l = user;
  struct buffer out = {0};
  if (!*what || done < 0 || (total && done > total))
    abort();
  if (l->inside) /* a call from inside of this one tells, too */
    return true;
  if (!l->answers) {
    l->stopped = !few_steps(user, what, done, total);
    return !l->stopped;
  }
  l->inside = true;
  call_back(l->netc);
  netc_emit(l->netc, "csv", NULL, collect, &out);
  if (netc_on_progress(l->netc, NULL, NULL) != NETC_USAGE)
    abort(); /* a callback must not change its context */
  free(out.at);
  l->inside = false;
  l->stopped =
      (l->stops && l->left-- <= 0) || !few_steps(user, what, done, total);
  return !l->stopped;
}

/* A call is stopped when the listener wanted it, and only then. */
static void check_status(struct listener *l, const struct memory *memory,
                         enum netc_status status) {
  if (status == NETC_BUG || (status == NETC_STOPPED && !l->stopped) ||
      (l->stopped && status != NETC_STOPPED && !memory->failing))
    abort();
  l->stopped = false;
}

static volatile int64_t sum;

static void add_operand(const struct netc_operand *operand) {
  for (int i = 0; i < operand->rank; i++)
    sum ^= operand->dims[i] ^ operand->strides[i];
}

static void read_layers(struct netc *netc) {
  struct netc_layer layer = {.size = sizeof layer};
  struct netc_attribute attribute = {.size = sizeof attribute};
  for (size_t i = 0; i < MOST && netc_layer(netc, i, &layer) == NETC_OK; i++) {
    sum ^= (int64_t)(strlen(layer.name) + strlen(layer.written));
    for (size_t k = 0; k < layer.input_count; k++)
      sum ^= layer.inputs[k];
    for (size_t k = 0; netc_attribute(netc, i, k, &attribute) == NETC_OK; k++)
      sum ^= (int64_t)strlen(attribute.value);
  }
}

static void read_operations(struct netc *netc) {
  struct netc_operation op = {.size = sizeof op};
  struct netc_tensor tensor = {.size = sizeof tensor};
  const char *name;
  struct netc_weight weight = {.size = sizeof weight};
  struct netc_operand operand = {0};
  for (size_t i = 0; i < MOST && netc_operation(netc, i, &op) == NETC_OK; i++) {
    for (size_t k = 0; k < op.in_count; k++)
      add_operand(&op.ins[k]);
    for (size_t k = 0; k < op.number_count; k++)
      sum ^= op.numbers[k];
  }
  for (size_t i = 0; i < MOST && netc_tensor(netc, i, &tensor) == NETC_OK; i++)
    for (int k = 0; k < tensor.rank; k++)
      sum ^= tensor.dims[k] ^ tensor.strides[k];
  for (size_t i = 0; i < MOST && netc_weight(netc, i, &weight) == NETC_OK; i++)
    for (int k = 0; k < weight.rank; k++)
      sum ^= weight.dims[k];
  for (size_t i = 0;
       i < MOST && netc_weight_torch_name(netc, i, &name) == NETC_OK; i++)
    sum ^= name ? (int64_t)strlen(name) : 0;
  for (size_t i = 0; netc_input_operand(netc, i, &operand) == NETC_OK; i++)
    add_operand(&operand);
  for (size_t i = 0; netc_output_operand(netc, i, &operand) == NETC_OK; i++)
    add_operand(&operand);
}

/* Rows of one struct; READ(netc, i, &row) while there are some. */
#define READ_ALL(type, read, member)        \
  do {                                      \
    struct type row = {.size = sizeof row}; \
    for (size_t i = 0; i < MOST; i++) {     \
      if (read(netc, i, &row) != NETC_OK)   \
        break;                              \
      sum ^= (int64_t)row.member;           \
    }                                       \
  } while (0)

#define READ_ONE(type, read)                \
  do {                                      \
    struct type row = {.size = sizeof row}; \
    read(netc, &row);                       \
  } while (0)

static void read_all(struct netc *netc) {
  const struct netrt_model *model;
  struct netc_answer other = {.size = sizeof other};
  netc_answer_on(netc, "h100", &other);
  read_layers(netc);
  read_operations(netc);
  READ_ONE(netc_totals, netc_totals);
  READ_ONE(netc_training, netc_training);
  READ_ONE(netc_inference, netc_inference);
  READ_ONE(netc_verdict, netc_verdict);
  READ_ONE(netc_prediction, netc_prediction);
  READ_ONE(netc_devices, netc_devices);
  READ_ALL(netc_way, netc_way, peak_bytes);
  READ_ALL(netc_stage, netc_stage, peak_bytes);
  READ_ALL(netc_buffer, netc_buffer, offset);
  READ_ALL(netc_diagnostic, netc_diagnostic, help_count);
  READ_ALL(netc_param, netc_param, value[0]);
  READ_ALL(netc_end, netc_input, layer);
  READ_ALL(netc_end, netc_output, layer);
  netc_runtime(netc, &model);
  netc_source(netc, 0);
  netc_name(netc);
  netc_message(netc);
}

/* The net that was written out in full has the same totals. */
static void compile_again(const struct netc_totals *wanted,
                          const struct buffer *net) {
  struct netc_totals totals = {.size = sizeof totals};
  struct netc *again = netc_open(NULL, NULL);
  if (netc_load_text(again, "written.net", net->at, net->length) != NETC_OK ||
      netc_totals(again, &totals) != NETC_OK ||
      totals.param_count != wanted->param_count ||
      totals.mac_count != wanted->mac_count ||
      totals.activation_count != wanted->activation_count) {
    fprintf(stderr, "not the same net:\n%s\n", net->at);
    abort();
  }
  netc_close(again);
}

static void write_all(struct listener *l, const struct memory *memory,
                      struct input *input, bool again) {
  struct netc *netc = l->netc;
  struct netc_output_kind kind = {.size = sizeof kind};
  struct netc_totals totals = {.size = sizeof totals};
  unsigned x = take(input), y = take(input), first = take(input);
  struct netc_options options = {.size = sizeof options,
                                 .units = x % 3,
                                 .depth = (int)(x / 3 % 6) - 1,
                                 .channels_first = x & 32,
                                 .expand = x & 64,
                                 .explain = x & 128,
                                 .width = (int)take(input),
                                 .unfold = y & 1,
                                 .details = y & 1,
                                 .ascii = y & 2,
                                 .predict = y & 4,
                                 .direction = y >> 3 & 1,
                                 .tint = (enum netc_tint)(y >> 4 & 3),
                                 .top = y >> 6,
                                 .notes = first % 16};
  bool whole = netc_totals(netc, &totals) == NETC_OK;
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++) {
    struct buffer out = {0};
    if ((i + first) % 3)
      continue;
    l->stopped = false;
    enum netc_status status =
        netc_emit(netc, kind.name, &options, collect, &out);
    check_status(l, memory, status);
    if (status == NETC_OK && again && whole && strcmp(kind.name, "net") == 0)
      compile_again(&totals, &out);
    free(out.at);
  }
}

static void place(struct listener *l, const struct memory *memory) {
  struct netc *netc = l->netc;
  struct netc_place_options options = {.size = sizeof options,
                                       .gpus = "8xa100-80"};
  struct netc_placing placing = {.size = sizeof placing};
  l->stopped = false;
  check_status(l, memory, netc_place(netc, &options, &placing));
  READ_ALL(netc_placement, netc_placement, size);
}

/* Settings before the text; true: none of them changes what is counted. */
static bool set_up(struct netc *netc, struct input *input) {
  unsigned count = take(input) % 4, x = take(input);
  for (unsigned i = 0; i < count; i++) {
    const struct fuzz_setting *s =
        &fuzz_settings[take(input) % fuzz_setting_count];
    netc_set(netc, s->key, s->value);
  }
  if (x & 1)
    netc_compare(netc, "checkpoint=2 precision=mixed");
  if (x & 2)
    netc_define(netc, "depth", "3");
  if (x & 4)
    netc_input_sizes(netc, "", "16x16x_");
  if (x & 8)
    netc_budget(netc, "params", "10");
  if (x & 16)
    netc_warn(netc, "error");
  if (x & 32)
    netc_lora(netc, 2, true);
  return x % 32 == 0;
}

static void say_all(struct netc *netc) {
  for (size_t i = 0; i < MOST && i < netc_diagnostic_count(netc); i++)
    for (int style = NETC_STYLE_TEXT; style <= NETC_STYLE_JSON; style++) {
      struct buffer out = {0};
      netc_diagnostic_emit(netc, i, (enum netc_style)style, collect, &out);
      free(out.at);
    }
}

/* Loads the text; if that is stopped, the context is as good as new. */
static enum netc_status load(struct listener *l, const struct memory *memory,
                             const char *text, size_t length) {
  enum netc_status status = netc_load_text(l->netc, "fuzz.net", text, length);
  check_status(l, memory, status);
  if (status != NETC_STOPPED)
    return status;
  if (netc_layer_count(l->netc) != 0)
    abort(); /* nothing is left of a net */
  l->stops = false;
  status = netc_load_text(l->netc, "fuzz.net", text, length);
  check_status(l, memory, status);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input input = {data, HEAD};
  if (size < HEAD)
    return 0;
  unsigned mode = take(&input), high = take(&input), low = take(&input);
  struct memory memory = {.failing = mode % 4 == 1,
                          .left = (long)(high * 256 + low) % 3000};
  struct netc *netc = netc_open(resize, &memory);
  struct listener l = {
      .netc = netc, .answers = mode & 8, .stops = mode & 16, .left = low % 50};
  if (!netc)
    return 0;
  netc_on_read(netc, read_used, netc);
  netc_on_progress(netc, listen, &l);
  bool plain = set_up(netc, &input);
  netc_mode(netc, mode & 4 ? NETC_FOR_PLACE : NETC_FOR_ALL);
  enum netc_status loaded =
      load(&l, &memory, (const char *)data + HEAD, size - HEAD);
  say_all(netc);
  if (netc_layer_count(netc) < MOST_LAYERS) {
    read_all(netc);
    write_all(&l, &memory, &input,
              plain && loaded == NETC_OK && !memory.failing);
    if (mode & 4)
      place(&l, &memory);
  }
  netc_close(netc);
  if (memory.blocks != 0)
    abort(); /* a leak */
  return 0;
}

/* Mutations of whole lines: sources of random bytes seldom compile. */

static size_t roll(unsigned *state, size_t sides) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % sides;
}

static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "7",
                                      "8",
                                      "64",
                                      "1000",
                                      "2147483648",
                                      "1099511627776",
                                      "9223372036854775807",
                                      "0.5",
                                      "1e308",
                                      "-1",
                                      "_"};

static const char *const lines[] = {
    "conv 8 3x3 pad bn relu\n",
    "add { linear 8 } {}\n",
    "attention 4 causal\n",
    "moe 4 top=2 { linear 8 }\n",
    "checkpoint { conv 8 1x1 relu }\n",
    "lstm 8 bidir\n",
    "convlstm 4 3\n",
    "ssm 4\n",
    "concat {} {}\n",
    "fork train { gap; fc 3; output e }\n",
    "p: split c 2\nadd p[1] p[2]\n",
    "flatten\n",
    "reshape 1x1x_\n",
    "permute 1 0 2\n",
    "slice c 0:1\n",
    "for i in 1..3 { s[i]: relu }\nadd s[1..3]\n",
    "embed 10 8\n",
    "roll 1 x -1\n",
    "up 1.5\n",
    "unfold 3x3\n",
    "roialign 7x7 boxes=b scale=1/16\n",
    "matmul {} {} transpose\n",
    "weight 3x3\n",
    "a: {\n",
    "}\n",
    "again a\n",
    "use \"lib.net\"\n",
    "train checkpoint=auto memory=1GiB\n",
    "infer decode=8\n",
    "budget params=1K\n",
    "mla 4 latent=8 rope=4\n",
    "distances 4x4\n"};

/* `count` bytes at `at` become those of `with`. */
static size_t splice(uint8_t *data, size_t size, size_t room, size_t at,
                     size_t count, const char *with, size_t length) {
  if (size - count + length > room)
    return size;
  memmove(data + at + length, data + at + count, size - at - count);
  memcpy(data + at, with, length);
  return size - count + length;
}

static size_t change_number(uint8_t *data, size_t size, size_t room, size_t at,
                            size_t end, unsigned *state) {
  const char *with = numbers[roll(state, sizeof numbers / sizeof *numbers)];
  while (at < end && (data[at] < '0' || data[at] > '9'))
    at++;
  size_t digits = 0;
  while (at + digits < end && data[at + digits] >= '0' &&
         data[at + digits] <= '9')
    digits++;
  if (digits == 0)
    return LLVMFuzzerMutate(data, size, room);
  return splice(data, size, room, at, digits, with, strlen(with));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed) {
  char copy[256];
  size_t what = roll(&seed, 8);
  if (size <= HEAD + 2 || what < 3)
    return LLVMFuzzerMutate(data, size, room);
  size_t begin = HEAD + roll(&seed, size - HEAD), end = begin;
  while (begin > HEAD && data[begin - 1] != '\n')
    begin--;
  while (end < size && data[end++] != '\n')
    ;
  size_t length = end - begin;
  if (what == 3 && length <= sizeof copy) {
    memcpy(copy, data + begin, length);
    return splice(data, size, room, end, 0, copy, length);
  }
  if (what == 4)
    return splice(data, size, room, begin, length, "", 0);
  if (what == 5)
    return change_number(data, size, room, begin, end, &seed);
  const char *line = lines[roll(&seed, sizeof lines / sizeof *lines)];
  return splice(data, size, room, what == 6 ? begin : end, 0, line,
                strlen(line));
}
