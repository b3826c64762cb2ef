/*
 * netc weights --quantize: int8 scales from samples. The net is run in float32.
 * The minimum and maximum of each layer's output, including 0, become -128 and
 * 127 (Jacob et al., 2018, "Quantization and Training of Neural Networks for
 * Efficient Integer-Arithmetic-Only Inference").
 */
#include "driver/run/quantize.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "driver/origin.h"

enum { BINS = 4096 }; /* bins of absolute values, for --percentile */

static int64_t root_of(const struct quantizing *q, int64_t layer) {
  while (q->levels[layer].same != layer)
    layer = q->levels[layer].same;
  return layer;
}

/* Two nets */

static int ignore(void *user, enum option_id option, const char *name,
                  char *value) {
  (void)user, (void)option, (void)name, (void)value;
  return EXIT_DONE;
}

static int open_net(struct quantizing *q, struct running *r,
                    const char *dtype) {
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  if (!net_options_read_more(&r->options, COMMAND_WEIGHTS, netc, q->argc,
                             q->argv, ignore, NULL))
    return r->options.files.status;
  netc_set(netc, "dtype", dtype);
  netc_set(netc, "fuse", "off"); /* so that the output of each layer exists */
  netc_set(netc, "patches", "off");
  netc_set(netc, "stream", "off");
  r->weights = q->from;
  r->random = !q->from;
  r->seed = q->seed;
  int status = run_load(r);
  if (status == EXIT_DONE)
    status = run_open_net(r);
  if (status == EXIT_DONE && r->model.batch != 1)
    status = complain(
        EXIT_USAGE, "--quantize runs one sample at a time; leave out --batch");
  return status;
}

static void close_net(struct running *r) {
  struct netc *netc = r ? r->options.netc : NULL;
  if (r)
    run_close(r);
  netc_close(netc);
}

void quantize_close(struct quantizing *q) {
  close_net(q->real);
  close_net(q->small);
}

static int match(struct running *r) {
  int status = run_match_weights(r);
  if (status == EXIT_DONE && r->weights)
    status = weight_set_judge(&r->set, r->weights);
  for (size_t i = 0; i < r->set.weights.count && status == EXIT_DONE; i++)
    if (r->set.from[i] && r->set.from[i]->stepped)
      status = complain_of(
          EXIT_SOURCE, r->weights, NULL,
          "`%s` is already %s with a scale; --quantize needs real weights",
          r->set.from[i]->name, r->set.from[i]->word);
  return status;
}

static int open_nets(struct quantizing *q) {
  int status = open_net(q, q->small, "i8");
  if (status == EXIT_DONE)
    status = open_net(q, q->real, "f32");
  if (status == EXIT_DONE)
    status = match(q->small);
  if (status == EXIT_DONE)
    status = match(q->real);
  if (status != EXIT_DONE)
    return status;
  q->real->random = true; /* allocates values of inputs */
  status = run_read_inputs(q->real);
  if (status == EXIT_DONE)
    status = run_fill_weights(q->real);
  return status == EXIT_DONE ? run_start(q->real) : status;
}

/* Layers and operations */

static struct quantize_level *level_of(struct quantizing *q, int64_t layer) {
  struct quantize_level *level = &q->levels[layer];
  if (level->used)
    return level;
  level->used = true;
  level->same = layer;
  if (q->percentile < 100)
    level->bins = arena_alloc(q->arena, BINS, sizeof *level->bins);
  return level;
}

/* Kernels that keep scale and zero point; then means over windows are exact
 * sums. */
static bool joins(const struct netc_q8 *q8) {
  return weight_q8_keeps_step(q8) || strcmp(q8->code, "q8avgpool") == 0;
}

static void find_levels(struct quantizing *q) {
  struct netc *netc = q->small->options.netc;
  struct netc_layer layer = {.size = sizeof layer};
  struct netc_end end = {.size = sizeof end};
  struct netc_q8 q8 = {.size = sizeof q8};
  while (netc_layer(netc, q->layers, &layer) == NETC_OK)
    q->layers++;
  while (netc_q8(netc, q->q8_count, &q8) == NETC_OK)
    q->q8_count++;
  q->levels = arena_alloc(q->arena, q->layers + 1, sizeof *q->levels);
  q->made = arena_alloc(q->arena, q->layers + 1, sizeof *q->made);
  q->made_count = arena_alloc(q->arena, q->layers + 1, sizeof *q->made_count);
  q->q8 = arena_alloc(q->arena, q->q8_count + 1, sizeof *q->q8);
  for (size_t i = 0; i < q->layers; i++) {
    netc_layer(netc, i, &layer);
    q->levels[i].name = layer.name;
  }
  for (uint32_t i = 0; i < q->small->model.input_count; i++)
    if (q->small->model.inputs[i].operand.type == NETRT_I8 &&
        netc_input(netc, i, &end) == NETC_OK)
      level_of(q, end.layer);
  for (size_t i = 0; i < q->q8_count; i++) {
    q->q8[i].size = sizeof q->q8[i];
    netc_q8(netc, i, &q->q8[i]);
    struct quantize_level *level = level_of(q, q->q8[i].out);
    level->fixed = level->fixed || strcmp(q->q8[i].code, "q8softmax") == 0;
  }
  for (size_t i = 0; i < q->q8_count; i++)
    for (size_t k = 0; joins(&q->q8[i]) && k < q->q8[i].in_count; k++)
      if (q->q8[i].ins[k] >= 0) {
        level_of(q, q->q8[i].ins[k]);
        q->levels[root_of(q, q->q8[i].ins[k])].same = root_of(q, q->q8[i].out);
      }
}

static const char *op_layer(const struct running *r, uint32_t op) {
  return r->model.layers[r->model.ops[op].layer];
}

static bool has_op(const struct running *r, const char *layer) {
  for (uint32_t i = 0; i < r->model.op_count; i++)
    if (strcmp(op_layer(r, i), layer) == 0)
      return true;
  return false;
}

/* A folded norm, and a limit that is part of an int8 operation, belong to the
 * operation before. In float32 the limit is a separate operation. */
static void find_gives(struct quantizing *q) {
  const struct running *r = q->real;
  q->gives = arena_alloc(q->arena, r->model.op_count + 1U, sizeof *q->gives);
  for (uint32_t op = 0; op < r->model.op_count; op++)
    q->gives[op] = -1;
  for (size_t i = 0; i < q->q8_count; i++) {
    int64_t out = q->q8[i].out;
    int64_t by = has_op(r, q->levels[out].name) ? out : q->q8[i].layer;
    for (uint32_t op = 0; op < r->model.op_count; op++)
      if (strcmp(op_layer(r, op), q->levels[by].name) == 0)
        q->gives[op] = out;
  }
  for (uint32_t op = 0; op < r->model.op_count; op++) {
    const struct netrt_op *at = &r->model.ops[op];
    size_t count = netrt_values(&r->model, &r->model.operands[at->operands]);
    int64_t out = q->gives[op];
    q->scratch_room = count > q->scratch_room ? count : q->scratch_room;
    if (out < 0)
      continue;
    q->made_count[out] = count;
    q->made[out] = arena_alloc(q->arena, count + 1, sizeof **q->made);
  }
  q->scratch = arena_alloc(q->arena, q->scratch_room + 1, sizeof *q->scratch);
}

/* Results of operations */

void quantize_gather(const struct netrt *net, const struct netrt_operand *made,
                     const struct quantize_level *level, float *to) {
  const int32_t *size = net->model->numbers + made->shape;
  const int32_t *stride = size + made->rank;
  size_t count = netrt_values(net->model, made);
  const unsigned char *from = net->arena + made->offset;
  for (size_t i = 0; i < count; i++) {
    int64_t place = 0, rest = (int64_t)i;
    for (int axis = made->rank; axis-- > 0; rest /= size[axis])
      place += rest % size[axis] * stride[axis];
    if (made->type == NETRT_I8)
      to[i] = (float)((int8_t)from[place] - level->zero) * level->scale;
    else
      memcpy(&to[i], from + (size_t)place * sizeof *to, sizeof *to);
  }
}

static void note(struct quantizing *q, int64_t layer, const float *values,
                 size_t count) {
  struct quantize_level *level = &q->levels[layer];
  for (size_t i = 0; q->pass == QUANTIZE_RANGES && i < count; i++) {
    double value = (double)values[i];
    if (!isfinite(value))
      q->strange = level->name;
    level->low = fmin(level->low, value);
    level->high = fmax(level->high, value);
    level->largest = fmax(level->largest, fabs(value));
  }
  for (size_t i = 0; q->pass == QUANTIZE_HISTOGRAMS && i < count; i++) {
    double part = fabs((double)values[i]) / fmax(level->largest, 1e-300);
    level->bins[part >= 1 ? BINS - 1 : (int)(part * BINS)]++;
    level->count++;
  }
}

static int look_at_real(void *user, const struct netrt *net, uint32_t op,
                        enum netrt_when when) {
  struct quantizing *q = user;
  int64_t layer = q->gives[op];
  const struct netrt_operand *made =
      &net->model->operands[net->model->ops[op].operands];
  if (when != NETRT_AFTER || layer < 0 || made->type != NETRT_F32)
    return 0;
  size_t count = netrt_values(net->model, made);
  quantize_gather(net, made, NULL, q->scratch);
  note(q, layer, q->scratch, count);
  if (count == q->made_count[layer])
    memcpy(q->made[layer], q->scratch, count * sizeof *q->scratch);
  return q->strange ? 1 : 0;
}

/* Passes */

int quantize_run_real(struct quantizing *q, int64_t sample) {
  struct running *r = q->real;
  struct netc_end end = {.size = sizeof end};
  for (uint32_t i = 0; i < r->model.input_count; i++) {
    int status = quantize_take_sample(q, i, sample);
    if (status != EXIT_DONE)
      return status;
    if (r->model.inputs[i].operand.type == NETRT_F32 &&
        netc_input(q->small->options.netc, i, &end) == NETC_OK)
      note(q, end.layer, r->given[i],
           netrt_values(&r->model, &r->model.inputs[i].operand));
  }
  run_put_inputs(r);
  enum netrt_status ran = netrt_run(&r->net);
  if (q->strange)
    return complain(EXIT_SOURCE,
                    "%s: sample %" PRId64 " produces a value that is NaN or "
                    "infinite in float32",
                    q->strange, sample);
  return run_explain(r, ran);
}

static int run_all(struct quantizing *q, enum quantize_pass pass) {
  int status = EXIT_DONE;
  q->pass = pass;
  for (int64_t i = 0; i < q->samples && status == EXIT_DONE; i++)
    status = quantize_run_real(q, i);
  return status;
}

/* Limits the range to the percentile. */
static void cut(const struct quantizing *q, struct quantize_level *level) {
  double wanted = ceil((double)level->count * q->percentile / 100);
  int64_t seen = 0;
  int bin = 0;
  while (bin < BINS - 1 && (double)(seen += level->bins[bin]) < wanted)
    bin++;
  double limit = level->largest * (bin + 1) / BINS;
  level->low = fmax(level->low, -limit);
  level->high = fmin(level->high, limit);
}

/* Scales */

static int share_ranges(struct quantizing *q) {
  for (size_t i = 0; i < q->layers; i++) {
    struct quantize_level *level = &q->levels[i];
    struct quantize_level *root =
        level->used ? &q->levels[root_of(q, (int64_t)i)] : level;
    root->low = fmin(root->low, level->low);
    root->high = fmax(root->high, level->high);
    root->fixed = root->fixed || level->fixed;
  }
  for (size_t i = 0; i < q->layers; i++) {
    struct quantize_level *level = &q->levels[i];
    struct quantize_level *root =
        level->used ? &q->levels[root_of(q, (int64_t)i)] : level;
    if (root->fixed && (root->low < -1e-3 || root->high > 1.001))
      return complain(EXIT_SOURCE,
                      "%s: it has the scale of a softmax, 1/256, and values "
                      "from %g to %g",
                      level->name, root->low, root->high);
    double range = root->high - root->low;
    level->scale = root->fixed ? 1.0F / 256
                   : range > 0 ? (float)fmax(range / 255, 1e-30)
                               : 1.0F;
    level->zero =
        root->fixed
            ? -128
            : (int32_t)nearbyint(-128 - root->low / (double)level->scale);
  }
  return EXIT_DONE;
}

static int by_name(const void *a, const void *b) {
  const struct tensor_steps *x = a, *y = b;
  return strcmp(x->name, y->name);
}

/* Stores steps as a file of weights has them. */
static void put_steps(struct quantizing *q) {
  struct tensor_file *file = &q->small->file;
  file->steps.count = 0;
  for (size_t i = 0; i < q->layers; i++) {
    struct quantize_level *level = &q->levels[i];
    struct text name = text_new(q->arena);
    if (!level->used)
      continue;
    text_printf(&name, "%s.output", level->name);
    *VEC_PUSH(q->arena, &file->steps) =
        (struct tensor_steps){.name = text_string(&name),
                              .count = 1,
                              .scale = &level->scale,
                              .zero = &level->zero};
  }
  if (file->steps.count)
    qsort(file->steps.at, file->steps.count, sizeof *file->steps.at, by_name);
  q->small->set.file = file;
  struct origin_word origin;
  if (origin_of_layers(q->small->set.netc, &origin))
    file->origin = arena_copy(q->arena, origin.text, strlen(origin.text));
}

static int serve(struct quantizing *q) {
  int status = open_nets(q);
  if (status != EXIT_DONE)
    return status;
  find_levels(q);
  find_gives(q);
  q->real->net.hook = look_at_real;
  q->real->net.hook_user = q;
  q->real->net.flags |= NETRT_APART;
  status = quantize_read_samples(q);
  if (status == EXIT_DONE)
    status = run_all(q, QUANTIZE_RANGES);
  if (status == EXIT_DONE && q->percentile < 100)
    status = run_all(q, QUANTIZE_HISTOGRAMS);
  for (size_t i = 0; i < q->layers && q->percentile < 100; i++)
    if (q->levels[i].count)
      cut(q, &q->levels[i]);
  if (status == EXIT_DONE)
    status = share_ranges(q);
  if (status != EXIT_DONE)
    return status;
  put_steps(q);
  status = run_fill_weights(q->small);
  if (status == EXIT_DONE)
    status = run_start(q->small);
  return status == EXIT_DONE ? quantize_compare(q) : status;
}

static void run(void *user) {
  struct quantizing *q = user;
  q->status = serve(q);
}

int quantize(struct quantizing *q) {
  q->small = run_new();
  q->real = q->small ? run_new() : NULL;
  if (!q->real)
    return complain(EXIT_IO, "out of memory");
  q->arena = &q->small->arena;
  struct arena *const arenas[GUARD_ARENAS] = {q->arena, &q->real->arena};
  return guard_run(arenas, run, q) ? q->status
                                   : complain(EXIT_IO, "out of memory");
}
