/* -o x.onnx: writes the model's files with the values of weights. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/guard.h"
#include "export/onnx.h"
#include "driver/export.h"
#include "driver/onnx_open.h"
#include "driver/output.h"
#include "driver/run/weight_set.h"
#include "import/tensors/safetensors.h"

struct onnx_call {
  const struct export_request *request;
  struct arena arena;
  struct weight_set set;
  struct tensor_file file; /* unless weights are generated */
  struct output_file data; /* beside the model */
  bool quantised;          /* weights with steps are integers */
  int status;
};

/* Skips zeros, which makes a hole in the file without disk space. */
static bool put_hole(const struct onnx_call *call, FILE *to, int64_t bytes) {
  bool appends = strcmp(call->request->path, "-") == 0; /* may append: >> */
  return !appends && fseeko(to, (off_t)bytes, SEEK_CUR) == 0;
}

/* Steps */

static bool give_steps(const struct tensor_steps *found,
                       struct onnx_q8_steps *steps) {
  if (found)
    *steps = (struct onnx_q8_steps){
        .count = found->count, .scale = found->scale, .zero = found->zero};
  return found;
}

static bool output_steps(void *user, const char *layer,
                         struct onnx_q8_steps *steps) {
  struct onnx_call *call = user;
  struct text key = text_new(&call->arena);
  text_printf(&key, "%s.output", layer);
  return give_steps(tensors_steps(&call->file, text_string(&key)), steps);
}

/* Values of a weight in the model. */
struct weight_reading {
  const struct weight_set *set;
  size_t weight;
  struct arena scratch;
  float *all; /* NULL: read in pieces from the file */
};

static void open_reading(struct onnx_call *call, size_t weight,
                         struct weight_reading *r) {
  *r = (struct weight_reading){.set = &call->set, .weight = weight};
  arena_open_in(&r->scratch, &call->arena);
  if (!weight_set_is_computed(r->set, weight))
    return;
  size_t count = (size_t)r->set->weights.at[weight].count;
  r->all = arena_room(&r->scratch, count + 1, sizeof *r->all);
  weight_set_used(r->set, weight, r->all);
}

static void read_values(const struct weight_reading *r, int64_t first,
                        int64_t count, float *to) {
  if (r->all)
    memcpy(to, r->all + first, (size_t)count * sizeof *to);
  else
    weight_set_values(r->set, r->weight, first, count, to);
}

/* Steps as in the runtime's weight block: a scale for each output. */
static void make_steps(struct onnx_call *call, size_t weight,
                       struct onnx_q8_steps *steps) {
  const struct netc_weight *w = &call->set.weights.at[weight];
  size_t count = (size_t)w->dims[0], each = (size_t)w->count / count;
  float *scale = arena_alloc(&call->arena, count + 1, sizeof *scale);
  struct weight_reading reading;
  open_reading(call, weight, &reading);
  float *values = arena_alloc(&reading.scratch, each + 1, sizeof *values);
  for (size_t o = 0; o < count; o++) {
    double largest = 0;
    read_values(&reading, (int64_t)(o * each), (int64_t)each, values);
    for (size_t i = 0; i < each; i++)
      largest = fmax(largest, fabs((double)values[i]));
    scale[o] = weight_set_scale(largest);
  }
  arena_close(&reading.scratch);
  *steps = (struct onnx_q8_steps){
      .count = count,
      .scale = scale,
      .zero = arena_alloc(&call->arena, count + 1, sizeof *steps->zero)};
}

/* Matrices and kernels without steps get some; a bias stays real. */
static bool weight_steps(void *user, size_t weight,
                         struct onnx_q8_steps *steps) {
  struct onnx_call *call = user;
  const struct stored_tensor *stored = call->set.from[weight];
  const struct netc_weight *w = &call->set.weights.at[weight];
  bool computed = weight_set_is_computed(&call->set, weight);
  bool found = stored && !computed &&
               give_steps(tensors_steps(&call->file, stored->name), steps);
  if (!found && w->rank > 1 && w->count > 0 &&
      (computed || slice_ends(slice_of(w->name), ".weight"))) {
    make_steps(call, weight, steps);
    found = true;
  }
  steps->wide = found && slice_ends(slice_of(w->name), ".bias");
  return found;
}

/* Writes `values` as integers with the given steps. */
static void put_wholes(FILE *to, const struct onnx_q8_steps *steps,
                       int64_t each, int64_t first, const float *values,
                       size_t count) {
  for (size_t i = 0; i < count; i++) {
    int64_t place = (first + (int64_t)i) / each;
    int32_t number =
        (int32_t)lrint((double)values[i] / (double)steps->scale[place]) +
        steps->zero[place];
    for (int k = 0; k < (steps->wide ? 4 : 1); k++)
      fputc((int)((uint32_t)number >> 8 * k & 255), to);
  }
}

/* Without a file, scales are 1 and other weights 0; sines are known. Writes
 * pieces, as a weight may exceed memory. */
static void put_weight(void *user, size_t weight) {
  enum { PIECE = 1 << 14 };
  struct onnx_call *call = user;
  const struct netc_weight *w = &call->set.weights.at[weight];
  FILE *to = call->data.file ? call->data.file : call->request->file;
  bool known = call->request->weights || w->sines;
  float piece[PIECE];
  int64_t used = w->count < PIECE ? w->count : PIECE;
  struct onnx_q8_steps steps;
  bool whole = call->quantised && weight_steps(user, weight, &steps);
  struct weight_reading reading;
  if (!known && w->center == 0 && put_hole(call, to, w->count * 4))
    return;
  for (int64_t i = 0; i < used && !known; i++)
    piece[i] = (float)w->center;
  open_reading(call, weight, &reading);
  for (int64_t i = 0; i < w->count; i += PIECE) {
    int64_t n = w->count - i < PIECE ? w->count - i : PIECE;
    if (known)
      read_values(&reading, i, n, piece);
    if (whole)
      put_wholes(to, &steps, w->count / (int64_t)steps.count, i, piece,
                 (size_t)n);
    else
      floats_write(to, piece, (size_t)n);
  }
  arena_close(&reading.scratch);
}

/* Extends a file that ends in a hole to its length. */
static bool end_sparse(FILE *file) {
  return fflush(file) == 0 && ftruncate(fileno(file), ftello(file)) == 0;
}

static int write_model(struct onnx_call *call, struct onnx_model *model,
                       const char *beside) {
  const struct export_request *r = call->request;
  const struct onnx_weights from = {call, beside, put_weight};
  errno = 0;
  onnx_write(model, &from, file_sink, r->file);
  if (weight_set_check(&call->set, r->weights) != EXIT_DONE)
    return EXIT_IO;
  return ferror(r->file) ? output_failed(r->path, errno) : EXIT_DONE;
}

/* Writes all weights to a file beside the model, which refers to it without
 * folder. */
static int write_beside(struct onnx_call *call, struct onnx_model *model) {
  const char *path = call->request->path, *slash = strrchr(path, '/');
  if (strcmp(path, "-") == 0)
    return complain(EXIT_USAGE, "weights of more than 1 GiB need a file beside "
                                "the model: name the model, `-o x.onnx`");
  struct text name = text_new(&call->arena);
  text_printf(&name, "%s.data", path);
  const char *beside = arena_copy(&call->arena, name.at, name.length);
  if (!output_open(&call->data, beside))
    return output_failed(beside, errno);
  int status =
      write_model(call, model, slash ? beside + (slash + 1 - path) : beside);
  if (status == EXIT_DONE &&
      (ferror(call->data.file) || !end_sparse(call->data.file)))
    status = output_failed(beside, errno);
  if (status != EXIT_DONE)
    output_abandon(&call->data);
  else if (!output_commit(&call->data, false))
    status = output_failed(beside, errno);
  return status;
}

static int write_files(struct onnx_call *call, struct onnx_model *model) {
  const struct export_request *r = call->request;
  bool empty = !r->weights && strcmp(r->path, "-") != 0;
  return onnx_weight_bytes(model) > (empty ? ONNX_INSIDE_EMPTY : ONNX_INSIDE)
             ? write_beside(call, model)
             : write_model(call, model, NULL);
}

/* Quantises a net of `infer dtype=i8` if its file has scales. */
static int quantise(struct onnx_call *call, struct onnx_model *model) {
  struct netc_q8_block block = {.size = sizeof block};
  const struct onnx_scales scales = {call, weight_steps, output_steps};
  if (netc_q8_block(call->request->netc, &block) != NETC_OK)
    return EXIT_DONE;
  int status = weight_set_check_scales(&call->set, call->request->weights);
  if (status != EXIT_DONE)
    return status;
  call->quantised = onnx_quantise(model, &scales);
  return call->quantised && model->opset < 13
             ? complain(EXIT_USAGE, "an int8 net needs `--opset 13` or later, "
                                    "which has scales for each channel")
             : EXIT_DONE;
}

static int with_weights(struct onnx_call *call, struct onnx_model *model) {
  const char *path = call->request->weights;
  int status = weight_file_open(&call->file, path, &call->arena);
  if (status == EXIT_DONE)
    status = weight_set_match(&call->set, path, &call->file, MATCH_BY_NAME);
  if (status == EXIT_DONE)
    status = quantise(call, model);
  return status == EXIT_DONE ? write_files(call, model) : status;
}

/* Builds the model. NULL: `why` or the call's status has the reason. */
static struct onnx_model *build(struct onnx_call *call, struct text *why) {
  const struct export_request *r = call->request;
  return r->dynamic || onnx_has_bounds(r->netc)
             ? onnx_build_open(r, &call->arena, why, &call->status)
             : onnx_build(r->netc, (int)r->opset, &call->arena, why);
}

/* Params given by -D: "depth=18 width=64". False if they cannot be stored. */
static bool put_params(struct onnx_call *call, struct text *params) {
  struct netc_param param = {.size = sizeof param};
  struct netc *netc = call->request->netc;
  for (size_t i = 0; netc_param(netc, i, &param) == NETC_OK; i++) {
    if (!param.given)
      continue;
    if (strpbrk(param.value, " ;\n"))
      return false;
    text_printf(params, "%s%s=%s", params->length ? " " : "", param.name,
                param.value);
  }
  return true;
}

/* Stores the source in the model if it is a single file. */
static void keep_source(struct onnx_call *call, struct onnx_model *model) {
  struct netc *netc = call->request->netc;
  struct text params = text_new(&call->arena);
  struct slice source = {NULL, 0};
  source.at = netc_source_text(netc, 0, &source.length);
  if (!call->request->keeps_source || netc_source(netc, 1) || !source.at ||
      !put_params(call, &params))
    return;
  model->source = source;
  model->params = text_slice(&params);
}

static void run(void *user) {
  struct onnx_call *call = user;
  const struct export_request *r = call->request;
  struct text why = text_new(&call->arena);
  struct onnx_model *model = build(call, &why);
  if (call->status != EXIT_DONE)
    return;
  if (!model && r->refused) {
    snprintf(r->refused, r->refused_room, "%.*s", (int)why.length, why.at);
    return;
  }
  if (!model) {
    call->status =
        complain(EXIT_SOURCE, "%s: %.*s", r->net, (int)why.length, why.at);
    return;
  }
  keep_source(call, model);
  weight_set_open(&call->set, r->netc, &call->arena);
  call->status =
      r->weights ? with_weights(call, model) : write_files(call, model);
}

int export_onnx(const struct export_request *request) {
  struct onnx_call call = {.request = request, .file.store.file = -1};
  struct arena *const arenas[GUARD_ARENAS] = {&call.arena};
  arena_open(&call.arena, NULL, NULL);
  if (!guard_run(arenas, run, &call)) {
    output_abandon(&call.data);
    call.status = complain(EXIT_IO, "out of memory");
  }
  tensors_close(&call.file);
  arena_close(&call.arena);
  return call.status;
}
