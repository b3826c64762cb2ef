/*
 * The plan as a program: every layer says what it runs, and what runs stays
 * inside of the plan. The runtime is a build that fills what is dead with
 * signalling NaNs and watches every byte of the arena.
 */
#include <math.h>

#include "library/context.h"
#include "memory/program.h"
#include "tests/nets.h"
#include "tests/program.h"

enum { MOST_MACS = 1500000000, MOST_BYTES = 400000000 };

static struct netc *load(const char *path, const char *batch,
                         const char *fold) {
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_set(netc, "batch", batch), NETC_OK);
  assert_int_equal(netc_set(netc, "fold", fold), NETC_OK);
  netc_load_file(netc, path);
  return netc;
}

/* The operation of a kind of layer in inference. */
static void note_kinds(const struct load *load, bool *runs, bool *seen) {
  struct program program;
  const struct model *model = &load->model;
  assert_true(program_find(model, &load->settings, &program));
  for (size_t k = 0; k < layer_kind_count(); k++)
    for (size_t i = 0; i < model->nodes.count; i++)
      seen[k] = seen[k] || model->nodes.at[i].kind == layer_kind_at(k);
  for (size_t i = 0; i < program.ops.count; i++) {
    const struct program_op *op = &program.ops.at[i];
    const struct layer_kind *kind = model->nodes.at[op->node].kind;
    if (op->opcode == DOES_NONE || op->opcode == DOES_VIEW)
      fail_msg("%s: `%s` does not say what it computes", kind->name, op->name);
    for (size_t k = 0; k < layer_kind_count(); k++)
      runs[k] = runs[k] || kind == layer_kind_at(k);
  }
}

/*
 * Those that run nothing are only other views of what is there, or are there
 * for training, or are a tensor of the weights.
 */
static void every_layer_says_what_it_runs(void **state) {
  (void)state;
  static const char *const others[] = {
      "identity", "dropout", "droppath", "flatten", "reshape", "permute",
      "slice",    "split",   "crop",     "weight",  "detach",  "cached"};
  bool runs[256] = {false}, seen[256] = {false};
  struct paths nets = find_paths("tests/golden/layers", ".net");
  for (size_t i = 0; i < nets.count; i++) {
    struct netc *netc = load(nets.at[i], "1", "off");
    if (netc->load && netc->load->compiled.model)
      note_kinds(netc->load, runs, seen);
    netc_close(netc);
  }
  paths_free(&nets);
  for (size_t k = 0; k < layer_kind_count(); k++) {
    const char *name = layer_kind_at(k)->name;
    bool other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
      other = other || strcmp(others[i], name) == 0;
    if (!seen[k] || (runs[k] == other && strcmp(name, "reshape") != 0))
      fail_msg("%s: %s", name, seen[k] ? "runs" : "no golden case");
  }
}

static int words_in(const char *text) {
  int count = 0;
  for (; *text; text += *text == ' ') {
    count++;
    text += strcspn(text, " ");
  }
  return count;
}

/* The numbers that ops.def promises: those in brackets for each axis. */
static int numbers_of(const char *text, int axes) {
  char outside[64] = "", inside[64] = "";
  const char *open = strchr(text, '[');
  size_t length = open ? (size_t)(open - text) : strlen(text);
  snprintf(outside, sizeof outside, "%.*s", (int)length, text);
  if (open)
    snprintf(inside, sizeof inside, "%.*s", (int)strcspn(open + 1, "]"),
             open + 1);
  while (length > 0 && outside[length - 1] == ' ')
    outside[--length] = '\0';
  return words_in(outside) + axes * words_in(inside);
}

static void check_op(const struct program *program, const struct program_op *op,
                     int64_t arena, int64_t weights) {
  static const struct {
    int ins, most;
    const char *numbers;
  } ops[] = {
#define OP(code, name, ins, most, numbers, reals, elementwise) \
  {ins, most, numbers},
#include "runtime/ops.def"
#undef OP
  };
  const struct operand *out = &program->operands.at[op->first_operand];
  if (op->opcode == DOES_UNKNOWN)
    return;
  unsigned code = (unsigned)op->opcode - DOES_VIEW - 1;
  assert_true(op->ins >= ops[code].ins);
  assert_true(ops[code].most < 0 || op->ins <= ops[code].most);
  if (op->opcode != DOES_RELATIVE && op->opcode != DOES_SHIFTED)
    assert_int_equal(op->numbers, numbers_of(ops[code].numbers, out->rank - 2));
  for (int i = 0; i < op->outs + op->ins + op->works; i++) {
    int64_t last = 0, bytes = out[i].type == OPERAND_I64 ? 8 : 4;
    for (int k = 0; k < out[i].rank; k++)
      last += (out[i].dim[k] - 1) * out[i].stride[k];
    assert_true(out[i].first >= 0 && last >= 0);
    assert_true(out[i].first + (last + 1) * bytes <=
                (out[i].weights ? weights : arena));
  }
}

/* Operands stay inside, and the block has the bytes that the report says. */
static void check_bounds(const char *path, const char *batch,
                         const char *fold) {
  struct netc *netc = load(path, batch, fold);
  struct program program;
  if (netc->load && netc->load->compiled.model &&
      netc->load->settings.infer.dtype == ELEMENT_F32) {
    const struct inference *f = &netc->load->compiled.memory.inference;
    assert_true(
        program_find(&netc->load->model, &netc->load->settings, &program));
    assert_int_equal(program.weight_bytes, f->weights);
    assert_int_equal(program.plan.plan.height, f->plan.height);
    for (size_t i = 0; i < program.ops.count; i++)
      check_op(&program, &program.ops.at[i], f->plan.height, f->weights);
  }
  netc_close(netc);
}

static void operands_lie_inside_of_the_plan(void **state) {
  (void)state;
  static const char *const folders[] = {"examples", "tests/golden/layers",
                                        "tests/golden/language"};
  for (size_t i = 0; i < 3; i++) {
    struct paths nets = find_paths(folders[i], ".net");
    for (size_t k = 0; k < nets.count; k++) {
      check_bounds(nets.at[k], "1", "on");
      check_bounds(nets.at[k], "3", "off");
    }
    paths_free(&nets);
  }
}

/* Running */

static bool is_small(struct netc *netc, const struct netrt_model *model) {
  struct netc_totals totals = {.size = sizeof totals};
  netc_totals(netc, &totals);
  return totals.mac_count * model->batch < MOST_MACS &&
         model->arena_bytes < MOST_BYTES && model->weight_bytes < MOST_BYTES;
}

static void check_run(const char *path, struct netrt *net) {
  enum netrt_status status = netrt_run(net);
  const struct netrt_model *model = net->model;
  if (status != NETRT_OK)
    print_error("%s: %s at %s\n", path, netrt_status_text(status),
                model->layers[model->ops[net->failed_op].layer]);
  assert_int_equal(status, NETRT_OK);
  /* The used part ends where the plan does, but for rounding up. */
  assert_true(net->high_water <= model->arena_bytes);
  if (net->high_water + NETRT_ALIGN <= model->arena_bytes)
    print_error("%s: %zu of %zu\n", path, net->high_water, model->arena_bytes);
  assert_true(net->high_water + NETRT_ALIGN > model->arena_bytes);
}

/* The tables with all kernels. */
static struct netrt_model with_kernels(const struct netrt_model *tables) {
  struct netrt_model model = *tables;
  model.kernels = netrt_kernels;
  model.kernel_count = NETRT_CODES;
  return model;
}

/* The model of a net, which must have one. */
static struct netrt_model load_model(struct netc *netc, const char *text) {
  const struct netrt_model *tables;
  netc_load_text(netc, "text.net", text, strlen(text));
  if (netc_runtime(netc, &tables) != NETC_OK)
    fail_msg("%s", text);
  return with_kernels(tables);
}

/* Returns whether the net was small enough. */
static bool run_net(const char *path, const char *batch, const char *fold) {
  struct netc *netc = load(path, batch, fold);
  const struct netrt_model *tables;
  struct netrt net;
  bool runs = netc_runtime(netc, &tables) == NETC_OK &&
              is_small(netc, tables) && /* of 8 bits: test_q8.c */
              netc->load->settings.infer.dtype == ELEMENT_F32;
  if (runs) {
    struct netrt_model model = with_kernels(tables);
    float *weights = random_weights(netc, model.weight_bytes);
    size_t room = (model.arena_bytes + 4096 + 63) / 64 * 64;
    void *arena = aligned_alloc(64, room);
    assert_int_equal(
        netrt_open(&net, &model, weights, model.weight_bytes, arena, room),
        NETRT_OK);
    random_inputs(&net, 1);
    if (strstr(path, "/sizes-of-one.net")) /* its table has one row */
      memset(netrt_input(&net, 0), 0, 5 * sizeof(int32_t) * model.batch);
    check_run(path, &net);
    const float *out = netrt_output(&net, 0);
    if (!isfinite(out[0]))
      print_error("%s: %g\n", path, (double)out[0]);
    assert_true(isfinite(out[0]) || model.outputs[0].operand.type != NETRT_F32);
    netrt_close(&net);
    free(arena);
    free(weights);
  }
  netc_close(netc);
  return runs;
}

static void nets_run_inside_of_their_plan(void **state) {
  (void)state;
  struct paths nets = find_paths("examples", ".net");
  int ran = 0;
  for (size_t i = 0; i < nets.count; i++)
    ran += run_net(nets.at[i], "1", "on");
  assert_true(ran >= 15);
  paths_free(&nets);
}

static void layers_run_inside_of_their_plan(void **state) {
  (void)state;
  struct paths nets = find_paths("tests/golden/layers", ".net");
  int ran = 0;
  for (size_t i = 0; i < nets.count; i++) {
    ran += run_net(nets.at[i], "1", "on");
    ran += run_net(nets.at[i], "3", "off");
  }
  assert_true(ran >= (int)nets.count);
  paths_free(&nets);
}

/* Two ways of one net */

/* What a net gives with a setting, by these flags of the runtime; *bytes: the
 * arena. The caller frees it. */
static float *run_text(const char *text, const char *batch, const char *name,
                       const char *value, unsigned flags, size_t *bytes,
                       size_t *count) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netrt net;
  assert_int_equal(netc_set(netc, "batch", batch), NETC_OK);
  assert_int_equal(netc_set(netc, name, value), NETC_OK);
  struct netrt_model model = load_model(netc, text);
  float *weights = random_weights(netc, model.weight_bytes);
  size_t room = (model.arena_bytes + 63) / 64 * 64;
  void *arena = aligned_alloc(64, room);
  assert_int_equal(
      netrt_open(&net, &model, weights, model.weight_bytes, arena, room),
      NETRT_OK);
  net.flags = flags;
  random_inputs(&net, 1);
  enum netrt_status status = netrt_run(&net);
  if (status != NETRT_OK)
    print_error("%s: %s\n", text, netrt_status_text(status));
  assert_int_equal(status, NETRT_OK);
  *bytes = model.arena_bytes;
  *count = netrt_values(&model, &model.outputs[0].operand);
  float *out = malloc(*count * sizeof *out);
  netrt_copy_output(&net, 0, out);
  netrt_close(&net);
  free(arena);
  free(weights);
  netc_close(netc);
  return out;
}

/* Returns the bytes that a setting saves; what comes out is the same. */
static size_t check_setting(const char *name, const char *text,
                            const char *batch, unsigned flags) {
  size_t apart, bytes, count, same;
  float *a = run_text(text, batch, name, "off", flags, &apart, &count);
  float *b = run_text(text, batch, name, "on", flags, &bytes, &same);
  assert_int_equal(count, same);
  assert_true(bytes <= apart);
  for (size_t i = 0; i < count; i++)
    if (!(fabsf(a[i] - b[i]) <= 1e-5f * (1 + fabsf(a[i]))))
      fail_msg("%s, batch %s: value %zu is %g, not %g", text, batch, i,
               (double)b[i], (double)a[i]);
  free(a);
  free(b);
  return apart - bytes;
}

/* `name` of a setting; `bodies` of nets. */
static size_t check_bodies(const char *name, const char *const *bodies,
                           size_t count) {
  size_t saved = 0;
  for (size_t i = 0; i < count; i++) {
    char text[256];
    snprintf(text, sizeof text, "net n\ninfer align=4\ninput %s\n", bodies[i]);
    for (char *at = text; *at; at++)
      if (*at == ';')
        *at = '\n';
    saved += check_setting(name, text, "1", 0);
    saved += check_setting(name, text, "1", NETRT_REFERENCE);
    saved += check_setting(name, text, "3", 0);
    saved += check_setting(name, text, "3", NETRT_REFERENCE);
  }
  return saved;
}

/*
 * Growing and shrinking, at strides, dilated, with padding on one side, in
 * one to three dimensions, several in turn, behind a fork, of a view. Each row
 * that may still be read is watched while one is written.
 */
static void windows_write_over_what_they_have_read(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "9x8x4; conv 4 3x3 pad",
      "9x8x4; conv 4 3x3",
      "16x9x4; conv 24 1x1; conv 6 1x1; relu; conv 30 1x1",
      "17x9x4; conv 9 3x3 /2 pad=tf; dwconv 3x3 pad; conv 20 5x5 pad",
      "15x9x4; conv 5 3x1 pad=2:0x0 dilate=2x1; pool 2x2; avgpool 3x3 /1 pad",
      "15x9x3; pool 3x3 /2 pad; pool 2x2 /1; avgpool 2x2 ceil",
      "19x8; conv 16 5 pad; conv 4 3 /2; pool 2; conv 12 3 pad=0:2",
      "7x6x5x3; conv 6 3x3x3 pad; pool 2x1x1; conv 2 1x1x1",
      "12x12x8; conv 8 3x3 pad groups=2; conv 16 3x3 pad=3 dilate=3 groups=4",
      ("12x12x8; conv 8 3x3 pad; add { conv 8 3x3 pad; relu; conv 8 3x3 pad } "
       "{}; conv 16 1x1; gap"),
      "12x8x6; conv 6 1x1; permute 1 0 2; conv 9 3x3 pad; conv 3 3x3",
      "6x6x3; conv 4 3x3 pad=2; conv 2 9x9 pad=4"};
  assert_true(check_bodies("overlap", bodies, sizeof bodies / sizeof *bodies) >
              40000);
}

/* The net that a body describes. */
static void write_body(char text[512], const char *settings, const char *body) {
  snprintf(text, 512, "net n\ninfer align=4 %s\ninput %s\n", settings, body);
  for (char *at = text; *at; at++)
    if (*at == ';')
      *at = '\n';
}

/* Row by row all bits are the same; returns the bytes that it saves. */
static size_t check_patches(const char *text, unsigned flags) {
  size_t whole, bytes, count, same;
  float *a = run_text(text, "1", "patches", "off", flags, &whole, &count);
  float *b = run_text(text, "1", "patches", "auto", flags, &bytes, &same);
  assert_int_equal(count, same);
  assert_true(bytes <= whole);
  if (memcmp(a, b, count * sizeof *a) != 0)
    fail_msg("%s: others by rows", text);
  free(a);
  free(b);
  return whole - bytes;
}

/*
 * Windows at strides, dilated, padded on one side, of an even and of an odd
 * size, with rows that none reads; in one to three dimensions; forks, sums of
 * what was made long before, concats; a map that is read after the stages.
 */
static void first_stages_run_row_by_row(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "17x9x3; conv 8 3x3 pad relu; conv 4 3x3 pad; gap",
      "16x9x3; conv 24 3x3 /2 pad bn relu6; dwconv 3x3 pad bn; conv 6 1x1; gap",
      "23x21x1; conv 48 5x5 /3 pad=tf; conv 16 3x3 pad=0:1 relu; pool 2x2; gap",
      "21x8x2; conv 8 3x3 pad=2 dilate=2; pool 3x3 /2 pad; avgpool 2x2 /1; gap",
      "15x7x2; conv 8 2x2 relu; avgpool 3x3 /2 pad; conv 6 1x1 /2; gap",
      "20x8x3; conv 8 3x3 pad relu; pool 2x2 ceil; avgpool 3x3 /2 ceil; gap",
      "19x8x4; conv 9 1x1; add { conv 9 3x3 pad relu; conv 9 5x5 pad } {}; gap",
      ("19x8x1; add { conv 24 1x1 /2 bn } { conv 24 3x3 /2 pad bn; relu; conv "
       "24 3x3 pad }; relu; conv 6 1x1; gap"),
      ("16x8x4; concat { conv 8 1x1 } { conv 8 3x3 pad } { conv 4 7x7 pad }; "
       "relu; conv 4 1x1; gap"),
      "64x6; conv 16 5 pad; conv 16 3 /2 relu; pool 2; mean l",
      "12x9x8x2; conv 8 3x3x3 pad; conv 4 3x3x3 /2; gap",
      ("16x16x1; conv 4 3x3 pad; add { conv 32 3x3 pad relu; conv 4 3x3 pad; "
       "instnorm } {}; gap")};
  static const unsigned flags[] = {0, NETRT_REFERENCE, NETRT_NO_AVX512,
                                   NETRT_NO_AVX512 | NETRT_NO_AVX2};
  char text[512];
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
    for (size_t k = 0; k < 2 * sizeof flags / sizeof *flags; k++) {
      write_body(text, k % 2 ? "overlap=on" : "fuse=off", bodies[i]);
      size_t saved = check_patches(text, flags[k / 2]);
      if (!saved)
        fail_msg("%s: nothing saved", text);
    }
}

/*
 * Rows that come one by one: each output is that of the window they end. Of
 * one position a fast kernel sums in another order.
 */
static void check_stream(const char *body, int rows, int window, int hop,
                         unsigned flags) {
  char text[512];
  struct netrt whole, stream;
  struct netc *netc[2];
  void *arena[2];
  float *weights[2];
  for (int k = 0; k < 2; k++) {
    const struct netrt_model *tables;
    static struct netrt_model model[2];
    netc[k] = netc_open(NULL, NULL);
    write_body(text, k ? "stream=on" : "stream=off", body);
    netc_load_text(netc[k], "text.net", text, strlen(text));
    if (netc_runtime(netc[k], &tables) != NETC_OK)
      fail_msg("%s: %s", text, netc_message(netc[k]));
    model[k] = *tables;
    model[k].kernels = netrt_kernels;
    model[k].kernel_count = NETRT_CODES;
    size_t room = (model[k].arena_bytes + 63) / 64 * 64;
    arena[k] = aligned_alloc(64, room);
    weights[k] = random_weights(netc[k], model[k].weight_bytes);
    assert_int_equal(netrt_open(k ? &stream : &whole, &model[k], weights[k],
                                model[k].weight_bytes, arena[k], room),
                     NETRT_OK);
  }
  whole.flags = stream.flags = flags;
  size_t in = netrt_values(whole.model, &whole.model->inputs[0].operand);
  size_t out = netrt_values(whole.model, &whole.model->outputs[0].operand);
  size_t row = in / (size_t)window;
  assert_int_equal(netrt_values(stream.model, &stream.model->inputs[0].operand),
                   row);
  float *values = malloc((size_t)rows * row * sizeof *values);
  for (size_t i = 0; i < (size_t)rows * row; i++)
    values[i] = sinf((float)(i * i % 1009));
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < rows; i++) {
      memcpy(netrt_input(&stream, 0), values + (size_t)i * row,
             row * sizeof *values);
      enum netrt_status status = netrt_run(&stream);
      int since = i + 1 - window;
      if (status != (since < 0 || since % hop ? NETRT_NOT_YET : NETRT_OK))
        fail_msg("%s: row %d: %s", text, i, netrt_status_text(status));
      if (status != NETRT_OK)
        continue;
      memcpy(netrt_input(&whole, 0), values + (size_t)(i + 1 - window) * row,
             in * sizeof *values);
      assert_int_equal(netrt_run(&whole), NETRT_OK);
      const float *x = netrt_output(&stream, 0), *y = netrt_output(&whole, 0);
      for (size_t k = 0; k < out; k++)
        if (!(fabsf(x[k] - y[k]) <=
              (flags & NETRT_REFERENCE ? 0 : 1e-5f * (1 + fabsf(y[k])))))
          fail_msg("%s: row %d gives %g, not %g", text, i, (double)x[k],
                   (double)y[k]);
    }
    netrt_reset(&stream); /* and once more from the first row on */
  }
  free(values);
  for (int k = 0; k < 2; k++) {
    netrt_close(k ? &stream : &whole);
    free(arena[k]);
    free(weights[k]);
    netc_close(netc[k]);
  }
}

static void streams_give_what_windows_give(void **state) {
  (void)state;
  static const struct {
    const char *body;
    int rows, window, hop;
  } nets[] = {
      /* up to one row */
      {("30x1x40; dwconv 3x1; conv 16 1x1 relu; dwconv 5x1; conv 16 1x1 relu; "
        "dwconv 10x1; conv 24 1x1; dwconv 15x1; conv 8 1x1; fc 3 softmax"),
       70, 30, 1},
      {("12x9x3; conv 8 3x3 bn relu6; pool 2x2 /1; conv 6 5x3 dilate=2x1; "
        "fc 4"),
       20, 12, 1},
      {("16x8; conv 12 3 relu; add { conv 12 1 } {}; concat { conv 4 1 } "
        "{ conv 3 1 }; avgpool 14; linear 5"),
       40, 16, 1},
      /* what comes after sees all rows, of one map or two */
      {"20x6x2; conv 8 3x3 pad=0x1 relu; conv 4 3x3 pad=0x1; gap; fc 3", 50, 20,
       1},
      {"20x6x2; conv 8 3x3 pad=0x1 bn relu; conv 4 3x3 pad relu; fc 3", 50, 20,
       1},
      {"11x4; conv 8 3 relu; lstm 6; linear 2", 30, 11, 1},
      {"11x4; concat { conv 8 3 relu; gap } { conv 8 5 relu; gap }; fc 3", 30,
       11, 1},
      /* which are the output */
      {"11x4; conv 8 3 relu; conv 5 3", 30, 11, 1},
      /* with strides */
      {"31x7x3; conv 8 3x3 /2x1 pad=0x1 relu; conv 4 3x3 pad=0x1; gap; fc 3",
       90, 31, 2},
      {"26x4; conv 8 4 /2 relu; pool 2 /2; conv 6 3 relu; avgpool 4; fc 3", 90,
       26, 4},
      {"13x4; conv 8 3 /2 relu; conv 6 6", 40, 13, 2},
      {"13x4; concat { conv 8 3 /2; conv 6 6 } { conv 8 4 /3; conv 5 4 }; fc 3",
       50, 13, 6},
      {"13x4; concat { conv 8 3 /2; gap } { conv 8 4 /3; gap }; fc 3", 50, 13,
       6}};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    check_stream(nets[i].body, nets[i].rows, nets[i].window, nets[i].hop, 0);
    check_stream(nets[i].body, nets[i].rows, nets[i].window, nets[i].hop,
                 NETRT_REFERENCE);
  }
}

/* A net that is no stream is named, with the reason. */
static void what_is_no_stream_is_named(void **state) {
  (void)state;
  static const char *const bodies[][2] = {
      {"9x1x4; conv 8 3x1 pad; conv 8 9x1; fc 3",
       "conv1 pads rows; pad columns alone, `pad=0x1`, or leave out `stream`"},
      {"9x1x4; conv 8 2x1 /2; conv 8 4x1; fc 3", "conv1 leaves rows unread"},
      {"9x1x4; gap; fc 3", "gap1 needs all rows at once; leave out `stream`"},
      {"9x4; lstm 8; linear 3", "lstm1 needs all rows at once"},
      {"9x4; concat { conv 4 1 } { gap; linear 4; up 9 }; fc 3",
       "input is also read as a whole"},
      {"9; linear 4", "input has no rows"},
      {"1x9x3; conv 8 1x3; fc 4", "input has no rows"}};
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    char text[512];
    const struct netrt_model *tables;
    struct netc *netc = netc_open(NULL, NULL);
    write_body(text, "stream=on", bodies[i][0]);
    netc_load_text(netc, "text.net", text, strlen(text));
    assert_int_equal(netc_runtime(netc, &tables), NETC_ERROR);
    if (!strstr(netc_message(netc), bodies[i][1]))
      fail_msg("%s: %s", text, netc_message(netc));
    netc_close(netc);
  }
}

/* A row that is gone when it is to be read ends the run. */
static void rows_that_are_gone_are_found(void **state) {
  (void)state;
  static const char text[] = "net n\ninfer align=4 patches=auto\n"
                             "input 16x8x2\nconv 8 3x3 pad\n"
                             "conv 8 3x3 pad\nconv 2 1x1\ngap\n";
  struct netc *netc = netc_open(NULL, NULL);
  struct netrt net;
  struct netrt_model model = load_model(netc, text);
  assert_int_equal(model.ops[0].kernel, NETRT_LINEBUFFER);
  size_t bytes = model.number_count * sizeof *model.numbers;
  int32_t *numbers = malloc(bytes);
  memcpy(numbers, model.numbers, bytes);
  model.numbers = numbers;
  float *weights = random_weights(netc, model.weight_bytes);
  void *arena = aligned_alloc(64, (model.arena_bytes + 63) / 64 * 64);
  for (int gone = 0; gone < 2; gone++) {
    uint32_t shape = model.operands[model.ops[1].operands].shape;
    assert_int_equal(numbers[shape + 1], 3); /* rows of the first map */
    numbers[shape + 1] -= gone;
    assert_int_equal(netrt_open(&net, &model, weights, model.weight_bytes,
                                arena, model.arena_bytes),
                     NETRT_OK);
    random_inputs(&net, 1);
    assert_int_equal(netrt_run(&net), gone ? NETRT_BAD_MODEL : NETRT_OK);
  }
  free(arena);
  free(weights);
  free(numbers);
  netc_close(netc);
}

/*
 * Of convolutions, some grouped, some with a norm, and dense layers, with a
 * value that dies and with one that is read again, the input among them; of
 * sizes that differ, which stay apart.
 */
static void sums_are_part_of_what_makes_them(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "9x8x4; conv 40 3x3 pad relu; add { conv 8 1x1; conv 40 3x3 pad } {}; "
      "gap",
      ("9x8x4; conv 20 3x3 pad; add { bn; relu; conv 20 1x1; bn } "
       "{ conv 20 1x1; bn }; relu; conv 8 1x1; fc 5"),
      ("9x8x16; dwconv 3x3 pad; add { dwconv 3x3 pad silu; dwconv 3x3 pad } "
       "{}; "
       "conv 3 1x1"),
      "7x6x32; conv 32 1x1; add { conv 32 3x3 pad groups=8 }; pool 2x2",
      "5x24; linear 24; add { ln; linear 96 gelu; linear 24 }; linear 3",
      "30; linear 40; a: relu; linear 40; add a; linear 40; add a; linear 2",
      "9x8x4; add { conv 4 3x3 pad }; add { conv 4 3x3 pad }; conv 2 1x1",
      "9x8x4; conv 6 3x3 pad; add { gap; conv 6 1x1 } {}; conv 2 1x1"};
  assert_true(check_bodies("fuse", bodies, sizeof bodies / sizeof *bodies) >
              30000);
}

/* A function that a kernel computes at once gives the same bits. */
static void functions_at_once_are_those_of_their_own(void **state) {
  (void)state;
  static const char *const functions[] = {
      "relu", "relu6",   "leaky",    "elu",    "selu", "gelu",    "silu",
      "mish", "sigmoid", "hsigmoid", "hswish", "tanh", "softplus"};
  static const unsigned flags[] = {0, NETRT_NO_AVX512,
                                   NETRT_NO_AVX512 | NETRT_NO_AVX2};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    for (size_t k = 0; k < 3; k++) {
      char text[400];
      const char *f = functions[i];
      size_t bytes, count, same;
      snprintf(text, sizeof text,
               "net n\ninput 9x8x4\nconv 70 3x3 pad\n%s\n"
               "conv 32 1x1\n%s\ndwconv 3x3 pad\n%s\n"
               "conv 32 3x3 pad groups=8\n%s\nconv 37 5x5\nbn\n%s\n"
               "flatten\nlinear 300\n%s\nlinear 7\n%s\n",
               f, f, f, f, f, f, f);
      for (const char *batch = "13"; *batch; batch++) {
        const char one[] = {*batch, '\0'};
        float *a = run_text(text, one, "fold", "on", flags[k], &bytes, &count);
        float *b = run_text(text, one, "fold", "on", flags[k] | NETRT_APART,
                            &bytes, &same);
        assert_int_equal(count, same);
        assert_memory_equal(a, b, count * sizeof *a);
        free(a);
        free(b);
      }
    }
}

/* An output that begins a row too near its input is found. */
static void overlaps_that_are_too_close_are_found(void **state) {
  (void)state;
  static const char text[] =
      "net n\ninfer align=4 overlap=on\ninput 9x8x4\nconv 4 3x3 pad\n";
  enum { ROW = 8 * 4 * 4 };
  struct netc *netc = netc_open(NULL, NULL);
  struct netrt net;
  struct netrt_model model = load_model(netc, text);
  struct netrt_operand operands[4];
  struct netrt_buffer buffers[2];
  assert_int_equal(model.op_count, 1);
  assert_int_equal(model.buffer_count, 2);
  memcpy(operands, model.operands, sizeof operands);
  memcpy(buffers, model.buffers, sizeof buffers);
  model.operands = operands;
  model.buffers = buffers;
  float *weights = random_weights(netc, model.weight_bytes);
  void *arena = aligned_alloc(64, (model.arena_bytes + 63) / 64 * 64);
  for (int moves = 0; moves < 2; moves++) {
    size_t in = model.inputs[0].operand.offset;
    size_t by = operands[0].offset < in ? ROW : (size_t)-ROW;
    if (moves) {
      operands[0].offset += by;
      buffers[1].offset += by;
    }
    assert_int_equal(netrt_open(&net, &model, weights, model.weight_bytes,
                                arena, model.arena_bytes),
                     NETRT_OK);
    random_inputs(&net, 1);
    assert_int_equal(netrt_run(&net), moves ? NETRT_STRAY_WRITE : NETRT_OK);
    netrt_close(&net);
  }
  free(arena);
  free(weights);
  netc_close(netc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_layer_says_what_it_runs),
      cmocka_unit_test(operands_lie_inside_of_the_plan),
      cmocka_unit_test(layers_run_inside_of_their_plan),
      cmocka_unit_test(windows_write_over_what_they_have_read),
      cmocka_unit_test(overlaps_that_are_too_close_are_found),
      cmocka_unit_test(first_stages_run_row_by_row),
      cmocka_unit_test(rows_that_are_gone_are_found),
      cmocka_unit_test(streams_give_what_windows_give),
      cmocka_unit_test(what_is_no_stream_is_named),
      cmocka_unit_test(sums_are_part_of_what_makes_them),
      cmocka_unit_test(functions_at_once_are_those_of_their_own),
      slow_test(nets_run_inside_of_their_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
