/*
 * netc run: inputs and outputs. Files have the shape of the net, with the batch
 * first or, if it is 1, without it; --layout=chw has channels first.
 */
#include "driver/run/run.h"
#include "import/tensors/safetensors.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "driver/output.h"

/* The size of an axis of an operand. */
static int64_t port_dim(const struct netrt_model *model,
                        const struct netrt_operand *operand, int axis) {
  return model->numbers[operand->shape + (uint32_t)axis];
}

/* True if an operand has values, not indices. */
static bool is_of_values(const struct netrt_operand *operand) {
  return operand->type == NETRT_F32 || operand->type == NETRT_I8;
}

/* The axis of the net at `place` in a file; the batch is 0. */
static int axis_at(const struct running *r, const struct netrt_operand *operand,
                   int place) {
  int last = operand->rank - 1;
  if (!r->options.look.channels_first || last < 2 || !is_of_values(operand) ||
      place == 0)
    return place;
  return place == 1 ? last : place - 1;
}

/* Sizes in the file's order, from axis `first` on. */
static struct sizes_text sizes_from(const struct running *r,
                                    const struct netrt_operand *operand,
                                    int first) {
  int64_t dims[NETRT_RANK];
  for (int i = first; i < operand->rank; i++)
    dims[i - first] = port_dim(&r->model, operand, axis_at(r, operand, i));
  return sizes_text(operand->rank - first, dims);
}

/* Names of inputs and outputs */

/* True if `argument` is NAME=PATH; sets *path. */
static bool names(const char *argument, const char *name, const char **path) {
  size_t length = strlen(name);
  if (strncmp(argument, name, length) != 0 || argument[length] != '=')
    return false;
  *path = argument + length + 1;
  return true;
}

static int unknown_end(const char *option, const char *argument,
                       const struct netrt_port *ports, uint32_t count) {
  char all[512] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < count && used < sizeof all; i++)
    used += (size_t)snprintf(all + used, sizeof all - used, "%s`%s`",
                             i ? ", " : "", ports[i].name);
  return complain(EXIT_USAGE, "%s %s: write %s NAME=FILE.npy; the net has %s",
                  option, argument, option, count ? all : "none");
}

/* Finds the port of an argument and the path of its file. */
static int find_end(const char *option, const char *argument,
                    const struct netrt_port *ports, uint32_t count,
                    uint32_t *which, const char **path) {
  for (*which = 0; *which < count; ++*which)
    if (names(argument, ports[*which].name, path))
      return EXIT_DONE;
  *which = 0;
  *path = argument;
  if (count == 1 && argument[strcspn(argument, "=/")] != '=')
    return EXIT_DONE;
  return unknown_end(option, argument, ports, count);
}

int run_find_input(const struct running *r, const char *option,
                   const char *argument, uint32_t *which, const char **path) {
  return find_end(option, argument, r->model.inputs, r->model.input_count,
                  which, path);
}

struct sizes_text run_sample_sizes(const struct running *r, uint32_t which) {
  return sizes_from(r, &r->model.inputs[which].operand, 1);
}

/* Inputs */

/* True if an array would fit an input in the other layout. */
static bool fits_other_layout(const struct running *r, const struct npy *npy,
                              const struct netrt_operand *operand) {
  bool first = r->options.look.channels_first;
  int axes = operand->rank - 1, skipped = npy->rank - axes;
  if (axes < 2 || !is_of_values(operand) || skipped < 0 || skipped > 1)
    return false;
  for (int i = 0; i < axes; i++) {
    int axis = first ? i : (i + axes - 1) % axes; /* of a sample; C is last */
    if (npy->dims[skipped + i] != port_dim(&r->model, operand, axis + 1))
      return false;
  }
  return true;
}

static int say_shapes(const struct running *r, const char *path,
                      const struct npy *npy, const struct netrt_port *port) {
  const struct netrt_operand *operand = &port->operand;
  struct sizes_text sample = sizes_from(r, operand, 1);
  const char *other = r->options.look.channels_first ? "hwc" : "chw";
  const char *now = r->options.look.channels_first ? "first" : "last";
  char help[160] = "", several[32] = "";
  int axes = operand->rank;
  bool other_batch = npy->rank == axes;
  for (int i = 1; i < axes && other_batch; i++)
    other_batch =
        npy->dims[i] == port_dim(&r->model, operand, axis_at(r, operand, i));
  if (other_batch)
    snprintf(help, sizeof help,
             "for %" PRId64 " samples at once write --batch %" PRId64,
             npy->dims[0], npy->dims[0]);
  else if (fits_other_layout(r, npy, operand))
    snprintf(help, sizeof help,
             "channels are %s here; use --layout=%s for the other order", now,
             other);
  if (r->model.batch > 1)
    snprintf(several, sizeof several, ", %" PRIu32 " of them", r->model.batch);
  return complain_of(EXIT_SOURCE, path, help,
                     "it is %s, but input `%s` is %s%s",
                     sizes_text(npy->rank, npy->dims).text, port->name,
                     axes > 1 ? sample.text : "one value", several);
}

/* Finds the strides of the net's axes in a file; false if shapes differ. */
static bool lay(const struct running *r, const struct npy *npy,
                const struct netrt_operand *operand, int64_t *sizes,
                int64_t *strides) {
  int skipped = operand->rank - npy->rank; /* the batch */
  if (skipped != 0 && (skipped != 1 || r->model.batch != 1))
    return false;
  for (int i = 0; i < operand->rank; i++) {
    int axis = axis_at(r, operand, i);
    sizes[axis] = port_dim(&r->model, operand, axis);
    if (i < skipped)
      strides[axis] = 0;
    else if (npy->dims[i - skipped] != sizes[axis])
      return false;
    else
      strides[axis] = npy->strides[i - skipped];
  }
  return true;
}

/* 8-bit integers are taken unchanged; reals are quantized once weights are
 * loaded. */
static int convert_small(struct running *r, const char *path,
                         const struct scattered *from, uint32_t which) {
  const struct netrt_port *port = &r->model.inputs[which];
  size_t count = netrt_values(&r->model, &port->operand);
  int64_t wrong;
  if (value_is_real(from->type)) {
    r->reals[which].at = arena_alloc(&r->arena, count + 1, sizeof(float));
    r->reals[which].path = path;
    scattered_floats(from, r->reals[which].at);
    return EXIT_DONE;
  }
  if (from->type != VALUE_I8)
    return complain_of(
        EXIT_SOURCE, path, NULL,
        "input `%s` takes int8, or reals, which are converted; these are %s",
        port->name, value_word(from->type));
  int32_t *wide = arena_alloc(&r->arena, count + 1, sizeof *wide);
  int8_t *to = r->given[which];
  scattered_ints(from, wide, &wrong);
  for (size_t i = 0; i < count; i++)
    to[i] = (int8_t)wide[i];
  return EXIT_DONE;
}

int run_take_input(struct running *r, const char *path, const struct npy *npy,
                   uint32_t which) {
  const struct netrt_port *port = &r->model.inputs[which];
  const struct netrt_operand *operand = &port->operand;
  void *to = r->given[which];
  int64_t sizes[NETRT_RANK], strides[NETRT_RANK], wrong;
  struct scattered from = {npy->at, npy->type, operand->rank, sizes, strides};
  if (!lay(r, npy, operand, sizes, strides))
    return say_shapes(r, path, npy, port);
  if (operand->type == NETRT_I8)
    return convert_small(r, path, &from, which);
  if (operand->type == NETRT_F32) {
    scattered_floats(&from, to);
    return EXIT_DONE;
  }
  int32_t *narrow = to;
  bool fits =
      !value_is_real(npy->type) && scattered_ints(&from, narrow, &wrong);
  if (!fits)
    return complain_of(
        EXIT_SOURCE, path, NULL, "input `%s` takes indices, but %s", port->name,
        value_is_real(npy->type) ? "these are reals; in Python, "
                                   "`x.astype('<i4')` makes whole numbers"
                                 : "one of these does not fit 32 bits");
  if (operand->type == NETRT_I64) {
    int64_t *wide = to;
    for (size_t i = netrt_values(&r->model, operand); i-- > 0;)
      wide[i] = narrow[i];
  }
  return EXIT_DONE;
}

static int read_input(struct running *r, uint32_t which, const char *path) {
  struct npy npy;
  int status = EXIT_DONE;
  struct arena scratch;
  arena_open_in(&scratch, &r->arena);
  if (!npy_read(&npy, path, &scratch))
    status = complain_of(npy.unread ? EXIT_IO : EXIT_SOURCE, path, NULL, "%s",
                         npy.fault);
  if (status == EXIT_DONE)
    status = run_take_input(r, path, &npy, which);
  arena_close(&scratch);
  return status;
}

/* Entries of the table that a layer looks up; INT64_MAX: none. */
static int64_t entries_of(const struct running *r, const char *layer) {
  const struct netrt_model *model = &r->model;
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < model->op_count; i++) {
    const struct netrt_op *op = &model->ops[i];
    if (op->kernel != NETRT_EMBED || strcmp(model->layers[op->layer], layer))
      continue;
    const struct netrt_operand *table =
        &model->operands[op->operands + op->outs + 1];
    int64_t entries = port_dim(model, table, 0);
    least = entries < least ? entries : least;
  }
  return least;
}

/* The minimum number of entries among the tables that read an input's
 * indices. */
static int64_t least_entries(const struct running *r, int64_t input) {
  struct netc_layer layer = {.size = sizeof layer};
  int64_t least = INT64_MAX;
  for (size_t i = 0; netc_layer(r->options.netc, i, &layer) == NETC_OK; i++)
    for (size_t k = 0; k < layer.input_count; k++) {
      int64_t entries =
          layer.inputs[k] == input ? entries_of(r, layer.name) : INT64_MAX;
      least = entries < least ? entries : least;
    }
  return least == INT64_MAX ? 1 : least;
}

/* Reals from -1 to 1, equal on every machine. */
static void make_up(struct running *r, uint32_t which) {
  const struct netrt_operand *operand = &r->model.inputs[which].operand;
  struct netc_end end = {.size = sizeof end};
  size_t count = netrt_values(&r->model, operand);
  uint64_t state = (uint64_t)r->seed * 2 + 1 + which;
  netc_input(r->options.netc, which, &end);
  int64_t entries = is_of_values(operand) ? 1 : least_entries(r, end.layer);
  for (size_t i = 0; i < count; i++) {
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t bits = (uint32_t)(state >> 40); /* 24 bits */
    if (operand->type == NETRT_F32)
      ((float *)r->given[which])[i] =
          (float)((int32_t)bits - (1 << 23)) / 8388608.0F;
    else if (operand->type == NETRT_I8)
      ((int8_t *)r->given[which])[i] = (int8_t)((int32_t)(bits >> 16) - 128);
    else if (operand->type == NETRT_I32)
      ((int32_t *)r->given[which])[i] = (int32_t)((int64_t)bits % entries);
    else
      ((int64_t *)r->given[which])[i] = (int64_t)bits % entries;
  }
}

int run_read_inputs(struct running *r) {
  uint32_t which, count = r->model.input_count;
  bool *given = arena_alloc(&r->arena, count + 1U, sizeof *given);
  r->given = arena_alloc(&r->arena, count + 1U, sizeof *r->given);
  r->reals = arena_alloc(&r->arena, count + 1U, sizeof *r->reals);
  for (uint32_t i = 0; i < count; i++)
    r->given[i] = arena_alloc(
        &r->arena, netrt_values(&r->model, &r->model.inputs[i].operand) + 1,
        netrt_type_bytes(r->model.inputs[i].operand.type));
  for (size_t i = 0; i < r->input_count; i++) {
    struct end_file *file = &r->inputs[i];
    int status = find_end("--input", file->argument, r->model.inputs, count,
                          &which, &file->path);
    if (status == EXIT_DONE && given[which])
      status = complain(EXIT_USAGE, "input `%s` is given twice",
                        r->model.inputs[which].name);
    if (status == EXIT_DONE)
      status = read_input(r, which, file->path);
    if (status != EXIT_DONE)
      return status;
    given[which] = true;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!given[i] && !r->random)
      return complain(EXIT_USAGE,
                      "input `%s` is missing: write --input %s%sFILE.npy, or "
                      "--random SEED",
                      r->model.inputs[i].name,
                      count > 1 ? r->model.inputs[i].name : "",
                      count > 1 ? "=" : "");
    if (!given[i])
      make_up(r, i);
  }
  return EXIT_DONE;
}

/* Rounds to nearest, ties to even, as layers do. */
void run_round_input(const struct running *r, uint32_t which,
                     const float *reals, int8_t *to) {
  const struct netrt_port *port = &r->model.inputs[which];
  size_t count = netrt_values(&r->model, &port->operand);
  float scale;
  int32_t zero;
  netrt_step(&r->net, port, &scale, &zero);
  for (size_t i = 0; i < count; i++) {
    double value = nearbyint((double)(reals[i] / scale)) + zero;
    to[i] = (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
    to[i] = isnan(value) ? (int8_t)zero : to[i];
  }
}

static void round_reals(struct running *r, uint32_t which) {
  const struct netrt_port *port = &r->model.inputs[which];
  float scale;
  int32_t zero;
  netrt_step(&r->net, port, &scale, &zero);
  run_round_input(r, which, r->reals[which].at, r->given[which]);
  say_note(r->reals[which].path, NULL,
           "input `%s`: reals become int8, in steps of %g from a zero of %d",
           port->name, (double)scale, (int)zero);
  r->reals[which].at = NULL;
}

void run_put_inputs(struct running *r) {
  for (uint32_t i = 0; i < r->model.input_count; i++) {
    const struct netrt_operand *operand = &r->model.inputs[i].operand;
    if (r->reals[i].at)
      round_reals(r, i);
    memcpy(netrt_input(&r->net, i), r->given[i],
           netrt_values(&r->model, operand) * netrt_type_bytes(operand->type));
  }
}

/* Outputs */

/* The values of output i, contiguous, in their own type. */
static void *copy_output(struct running *r, uint32_t i, size_t *count) {
  const struct netrt_operand *operand = &r->model.outputs[i].operand;
  *count = netrt_values(&r->model, operand);
  void *values =
      arena_alloc(&r->arena, *count + 1, netrt_type_bytes(operand->type));
  netrt_copy_output(&r->net, i, values);
  return values;
}

static float real_of(uint8_t type, const void *values, size_t i) {
  switch (type) {
  case NETRT_I8: return (float)((const int8_t *)values)[i];
  case NETRT_I32: return (float)((const int32_t *)values)[i];
  case NETRT_I64: return (float)((const int64_t *)values)[i];
  default: return ((const float *)values)[i];
  }
}

float *run_output(struct running *r, uint32_t i) {
  const struct netrt_port *port = &r->model.outputs[i];
  size_t count;
  void *stored = copy_output(r, i, &count);
  uint8_t type = port->operand.type;
  float *values = stored, scale = 1;
  int32_t zero = 0;
  if (type == NETRT_F32)
    return values;
  values = arena_alloc(&r->arena, count + 1, sizeof *values);
  bool stepped = netrt_step(&r->net, port, &scale, &zero);
  for (size_t k = 0; k < count; k++) {
    values[k] = real_of(type, stored, k);
    if (stepped)
      values[k] = (values[k] - (float)zero) * scale;
  }
  return values;
}

static enum value_type type_of(const struct netrt_operand *operand) {
  static const enum value_type types[] = {[NETRT_F32] = VALUE_F32,
                                          [NETRT_I32] = VALUE_I32,
                                          [NETRT_I64] = VALUE_I64,
                                          [NETRT_I8] = VALUE_I8};
  return types[operand->type];
}

/* Writes little-endian values. */
static void write_numbers(FILE *file, const void *values, size_t each,
                          size_t count) {
  if (each == 1)
    fwrite(values, 1, count, file);
  else if (each == 4)
    words_write(file, values, count);
  for (size_t i = 0; each == 8 && i < count; i++) {
    uint64_t bits = ((const uint64_t *)values)[i];
    uint32_t words[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    words_write(file, words, 2);
  }
}

static void write_moved(FILE *file, const char *values, size_t each,
                        const struct scattered *as) {
  size_t count = 1;
  for (int k = 0; k < as->axes; k++)
    count *= (size_t)as->size[k];
  for (size_t i = 0; i < count; i++) { /* in the file's order */
    int64_t at = 0, rest = (int64_t)i;
    for (int k = as->axes; k-- > 0; rest /= as->size[k])
      at += rest % as->size[k] * as->stride[k];
    write_numbers(file, values + at * (int64_t)each, each, 1);
  }
}

static void write_values(struct running *r, uint32_t which, FILE *file) {
  const struct netrt_operand *operand = &r->model.outputs[which].operand;
  int64_t dims[NETRT_RANK], sizes[NETRT_RANK], strides[NETRT_RANK];
  int64_t own[NETRT_RANK], stride = 1;
  size_t count, each = netrt_type_bytes(operand->type);
  void *values = copy_output(r, which, &count);
  struct scattered as = {
      .axes = operand->rank, .size = sizes, .stride = strides};
  for (int i = operand->rank; i-- > 0; stride *= dims[i]) {
    dims[i] = port_dim(&r->model, operand, i);
    own[i] = stride;
  }
  for (int i = 0; i < operand->rank; i++) {
    sizes[i] = dims[axis_at(r, operand, i)];
    strides[i] = own[axis_at(r, operand, i)];
  }
  npy_write_header(file, type_of(operand), operand->rank, sizes);
  if (r->options.look.channels_first)
    write_moved(file, values, each, &as);
  else
    write_numbers(file, values, each, count);
}

static int write_output(struct running *r, uint32_t which, const char *path) {
  struct output_file output;
  if (output_spares_sources(path, r->options.netc) != EXIT_DONE)
    return EXIT_USAGE;
  if (!output_open(&output, path))
    return output_failed(path, errno);
  write_values(r, which, output.file);
  if (!output_commit(&output, false))
    return output_failed(path, errno);
  return EXIT_DONE;
}

/* "out 1000: from -2.31 to 9.87, rms 1.2; largest 281 282 285" */
static void describe(struct running *r, uint32_t which) {
  enum { SHOWN = 5 };
  const struct netrt_port *port = &r->model.outputs[which];
  size_t count = netrt_values(&r->model, &port->operand), best[SHOWN];
  const float *values = run_output(r, which);
  double sum = 0;
  size_t shown = 0;
  for (size_t i = 0; i < count; i++) {
    sum += (double)values[i] * (double)values[i];
    size_t at = shown < SHOWN ? shown++ : SHOWN;
    for (; at > 0 && values[i] > values[best[at - 1]]; at--)
      if (at < SHOWN)
        best[at] = best[at - 1];
    if (at < SHOWN)
      best[at] = i;
  }
  printf("%s  %s, rms %.6g", port->name, sizes_from(r, &port->operand, 0).text,
         count ? sqrt(sum / (double)count) : 0);
  if (port->operand.rank == 2 && r->model.batch == 1 && shown) {
    fputs("; largest", stdout);
    for (size_t i = 0; i < shown; i++)
      printf("%s %zu: %.6g", i ? "," : "", best[i], (double)values[best[i]]);
  }
  putchar('\n');
}

int run_write_outputs(struct running *r) {
  const char *paths[MOST_OUTPUTS];
  uint32_t which, count = r->model.output_count;
  int status = EXIT_DONE;
  for (size_t i = 0; i < r->options.wanted_count; i++) {
    const char *path = r->options.wanted[i].path;
    status = find_end("-o", path, r->model.outputs, count, &which, &path);
    paths[i] = path;
    for (size_t k = 0; k < i && status == EXIT_DONE; k++)
      if (output_same_file(path, paths[k]))
        status = complain(
            EXIT_USAGE, "two outputs have the file %s; give each its own file",
            path);
    if (status == EXIT_DONE)
      status = write_output(r, which, path);
    if (status != EXIT_DONE)
      return status;
  }
  for (uint32_t i = 0; i < count && r->options.wanted_count == 0; i++)
    describe(r, i);
  return r->options.wanted_count ? EXIT_DONE : finish_stdout();
}
