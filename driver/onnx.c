/* -o x.onnx: the model's files, and where the values of weights come from. */
#include <errno.h>
#include <string.h>

#include "base/guard.h"
#include "codegen/onnx/onnx.h"
#include "driver/export.h"
#include "driver/output.h"
#include "driver/run/weight_set.h"

struct onnx_call {
  const struct export_request *request;
  struct arena arena;
  struct weight_set set;
  struct safetensors file; /* unless weights are made up */
  struct output_file data; /* beside the model */
  int status;
};

static const void *lie(void *user, size_t weight) {
  const struct stored_tensor *stored =
      ((struct onnx_call *)user)->set.from[weight];
  return stored && stored->type == VALUE_F32 ? stored->at : NULL;
}

static void read_values(void *user, size_t weight, float *to) {
  const struct weight_set *set = &((struct onnx_call *)user)->set;
  weight_set_values(set, weight, 0, set->weights.at[weight].count, to);
}

/* In pieces: a file beside the model may be larger than memory. */
static void append(void *user, size_t weight) {
  enum { PIECE = 1 << 16 };
  struct onnx_call *call = user;
  int64_t count = call->set.weights.at[weight].count;
  float piece[PIECE];
  for (int64_t i = 0; i < count; i += PIECE) {
    int64_t n = count - i < PIECE ? count - i : PIECE;
    weight_set_values(&call->set, weight, i, n, piece);
    floats_write(call->data.file, piece, (size_t)n);
  }
}

static int write_model(struct onnx_call *call, struct onnx_model *model,
                       const char *beside) {
  const struct export_request *r = call->request;
  const struct onnx_weights from = {call, beside, lie, read_values, append};
  errno = 0;
  onnx_write(model, &from, file_sink, r->file);
  return ferror(r->file) ? output_failed(r->path, errno) : EXIT_DONE;
}

/* All weights beside the file, which the model names without folder. */
static int write_beside(struct onnx_call *call, struct onnx_model *model) {
  const char *path = call->request->path, *slash = strrchr(path, '/');
  if (strcmp(path, "-") == 0)
    return complain(EXIT_USAGE, "weights of over 1 GiB go to a file beside the "
                                "model: give it a name, `-o x.onnx`");
  struct text name = text_new(&call->arena);
  text_printf(&name, "%s.data", path);
  const char *beside = arena_copy(&call->arena, name.at, name.length);
  if (!output_open(&call->data, beside))
    return output_failed(beside, errno);
  int status =
      write_model(call, model, slash ? beside + (slash + 1 - path) : beside);
  if (status == EXIT_DONE && ferror(call->data.file))
    status = output_failed(beside, errno);
  if (status != EXIT_DONE)
    output_abandon(&call->data);
  else if (!output_commit(&call->data, false))
    status = output_failed(beside, errno);
  return status;
}

static int write_files(struct onnx_call *call, struct onnx_model *model) {
  return onnx_weight_bytes(model) > ONNX_INSIDE
             ? write_beside(call, model)
             : write_model(call, model, NULL);
}

static int with_weights(struct onnx_call *call, struct onnx_model *model) {
  const char *path = call->request->weights;
  int status = EXIT_DONE;
  if (!safetensors_open(&call->file, path, &call->arena))
    status = complain_of(call->file.unread ? EXIT_IO : EXIT_SOURCE, path, NULL,
                         "%s", call->file.fault);
  if (status == EXIT_DONE)
    status = weight_set_match(&call->set, path, &call->file, MATCH_EXACTLY);
  return status == EXIT_DONE ? write_files(call, model) : status;
}

static void run(void *user) {
  struct onnx_call *call = user;
  const struct export_request *r = call->request;
  struct text why = text_new(&call->arena);
  struct onnx_model *model = onnx_build(r->netc, (int)r->opset,
                                        r->weights != NULL, &call->arena, &why);
  if (!model) {
    call->status =
        complain(EXIT_SOURCE, "%s: %.*s", r->net, (int)why.length, why.at);
    return;
  }
  weight_set_open(&call->set, r->netc, &call->arena);
  call->status =
      r->weights ? with_weights(call, model) : write_files(call, model);
}

int export_onnx(const struct export_request *request) {
  struct onnx_call call = {.request = request};
  struct arena *const arenas[GUARD_ARENAS] = {&call.arena};
  arena_open(&call.arena, NULL, NULL);
  if (!guard_run(arenas, run, &call)) {
    output_abandon(&call.data);
    call.status = complain(EXIT_IO, "out of memory");
  }
  safetensors_close(&call.file);
  arena_close(&call.arena);
  return call.status;
}
