/* Parses a .tflite file: operator codes, buffers, and the tensors and operators
 * of its first subgraph (tensorflow/lite/schema/schema.fbs). */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "import/tflite/tflite.h"

/* Fields of the schema's tables. */
enum { MODEL_VERSION, MODEL_CODES, MODEL_GRAPHS, MODEL_BUFFERS = 4 };
enum { CODE_OLD, CODE_CUSTOM, CODE_NEW = 3 };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPS };
enum {
  TENSOR_SHAPE,
  TENSOR_TYPE,
  TENSOR_BUFFER,
  TENSOR_NAME,
  TENSOR_STEPS,
  TENSOR_STATE,
  TENSOR_SPARSITY,
  TENSOR_SIGNATURE
};
enum { STEPS_SCALE = 2, STEPS_ZERO, STEPS_AXIS = 6 };
enum { BUFFER_DATA, BUFFER_PLACE, BUFFER_SIZE };
enum { OP_CODE, OP_INPUTS, OP_OUTPUTS, OP_OPTIONS = 4 };

static bool read_sizes(struct tflite *t, const struct flat_table *table,
                       struct tflite_tensor *tensor) {
  struct flat_file *f = &t->flat;
  struct flat_vector shape = flat_vector(f, table, TENSOR_SHAPE, 4);
  struct flat_vector open = flat_vector(f, table, TENSOR_SIGNATURE, 4);
  if (shape.count > LIMIT_RANK)
    return graph_fail(t->graph, 0,
                      "`%s` has %" PRIu64 " axes, which is not supported",
                      tensor->name, shape.count);
  tensor->rank = (int)shape.count;
  tensor->count = 1;
  for (int i = 0; i < tensor->rank; i++) {
    int64_t size = flat_item(f, &shape, (uint64_t)i, 4);
    tensor->dims[i] = size;
    if (size < 1 || size > TFLITE_MOST ||
        !mul_i64(tensor->count, size, &tensor->count))
      tensor->count = 0;
    if (i > 0 && (uint64_t)i < open.count)
      tensor->open = tensor->open || flat_item(f, &open, (uint64_t)i, 4) < 0;
    tensor->count = tensor->count > INT64_MAX / 16 ? 0 : tensor->count;
  }
  return bytes_ok(&f->in);
}

/* The data is in a vector or, in files over 2 GiB, after all tables. */
static struct flat_vector data_of(struct tflite *t,
                                  const struct flat_table *buffer) {
  struct flat_file *f = &t->flat;
  uint64_t at = (uint64_t)flat_int(f, buffer, BUFFER_PLACE, 8, 0);
  uint64_t size = (uint64_t)flat_int(f, buffer, BUFFER_SIZE, 8, 0);
  if (at < 2 || size == 0)
    return flat_vector(f, buffer, BUFFER_DATA, 1);
  bool lies = bytes_go(&f->in, at) && bytes_fits(&f->in, size, 1);
  return lies ? (struct flat_vector){at, size} : (struct flat_vector){0};
}

static bool read_tensor(struct tflite *t, const struct flat_table *table,
                        const struct flat_vector *buffers) {
  struct flat_file *f = &t->flat;
  struct tflite_tensor *tensor = VEC_PUSH(t->graph->arena, &t->tensors);
  *tensor = (struct tflite_tensor){.node = -1};
  tensor->name = flat_text(f, t->graph->arena, table, TENSOR_NAME).at;
  if (!*tensor->name)
    tensor->name = graph_text(t->graph, "tensor %zu", t->tensors.count - 1);
  tensor->type = flat_int(f, table, TENSOR_TYPE, 1, 0);
  tensor->state = flat_int(f, table, TENSOR_STATE, 1, 0) != 0;
  struct flat_table steps = flat_child(f, table, TENSOR_STEPS);
  tensor->scales = flat_vector(f, &steps, STEPS_SCALE, 4);
  tensor->zeros = flat_vector(f, &steps, STEPS_ZERO, 8);
  tensor->axis = flat_int(f, &steps, STEPS_AXIS, 4, 0);
  tensor->sparsity = flat_child(f, table, TENSOR_SPARSITY);
  uint64_t place = (uint64_t)flat_int(f, table, TENSOR_BUFFER, 4, 0);
  struct flat_table buffer = {0};
  if ((place & UINT32_MAX) < buffers->count)
    buffer = flat_item_table(f, buffers, place & UINT32_MAX);
  tensor->data = data_of(t, &buffer);
  return read_sizes(t, table, tensor);
}

static bool read_op(struct tflite *t, const struct flat_table *table,
                    const struct flat_vector *codes) {
  struct flat_file *f = &t->flat;
  uint64_t place = (uint64_t)flat_int(f, table, OP_CODE, 4, 0) & UINT32_MAX;
  struct flat_table code = flat_item_table(f, codes, place);
  struct tflite_op op = {.inputs = flat_vector(f, table, OP_INPUTS, 4),
                         .outputs = flat_vector(f, table, OP_OUTPUTS, 4),
                         .options = flat_child(f, table, OP_OPTIONS)};
  /* Codes above 127 are in a field of their own. */
  int64_t old = flat_int(f, &code, CODE_OLD, 1, 0);
  op.code = flat_int(f, &code, CODE_NEW, 4, 0);
  op.code = old > op.code ? old : op.code;
  op.custom = flat_text(f, t->graph->arena, &code, CODE_CUSTOM).at;
  *VEC_PUSH(t->graph->arena, &t->ops) = op;
  return place < codes->count ||
         graph_fail(t->graph, 0,
                    "operator %zu has a kind that the file does not list",
                    t->ops.count - 1);
}

bool tflite_open(struct tflite *t, struct byte_store *store) {
  struct flat_file *f = &t->flat;
  flat_open(f, store);
  struct flat_table model = flat_root(f);
  int64_t version = flat_int(f, &model, MODEL_VERSION, 4, 0);
  struct flat_vector codes = flat_vector(f, &model, MODEL_CODES, 4);
  struct flat_vector graphs = flat_vector(f, &model, MODEL_GRAPHS, 4);
  struct flat_vector buffers = flat_vector(f, &model, MODEL_BUFFERS, 4);
  struct flat_table graph = flat_item_table(f, &graphs, 0);
  struct flat_vector tensors = flat_vector(f, &graph, GRAPH_TENSORS, 4);
  struct flat_vector ops = flat_vector(f, &graph, GRAPH_OPS, 4);
  t->inputs = flat_vector(f, &graph, GRAPH_INPUTS, 4);
  t->outputs = flat_vector(f, &graph, GRAPH_OUTPUTS, 4);
  if (bytes_ok(&f->in) && version != 3)
    return graph_fail(t->graph, 0,
                      "it has version %" PRId64 " of the format; only 3 is "
                      "supported",
                      version);
  for (uint64_t i = 0; bytes_ok(&f->in) && i < tensors.count; i++) {
    struct flat_table table = flat_item_table(f, &tensors, i);
    if (!read_tensor(t, &table, &buffers))
      break;
  }
  for (uint64_t i = 0; bytes_ok(&f->in) && !t->graph->failed && i < ops.count;
       i++) {
    struct flat_table table = flat_item_table(f, &ops, i);
    if (!read_op(t, &table, &codes))
      break;
  }
  return bytes_ok(&f->in) ? !t->graph->failed
                          : graph_fail(t->graph, 0, "%s", f->in.fault);
}
