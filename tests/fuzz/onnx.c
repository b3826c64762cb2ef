/*
 * Mutations of ONNX models for tests/fuzz/import.c. Bytes that change at
 * random seldom leave a message whole, since every length around them would
 * have to change, too; so half of the models are unpacked, one thing in them
 * is changed, and they are packed again.
 */
#include "tests/fuzz/fuzz.h"

#include "base/arena.h"
#include "onnx.pb-c.h"

static const char *const operators[] = {
#define OP(name, ...) #name,
#include "ops/onnx.def"
    "Constant", "ConstantOfShape", "Range",     "Tile", "Equal",
    "Not",      "Trilu",           "ScatterND", "Warp", "CumSum"};

static const char *const attributes[] = {
    "axis",      "axes",  "perm",      "kernel_shape", "pads",  "strides",
    "dilations", "group", "ceil_mode", "keepdims",     "split", "value",
    "to",        "mode",  "auto_pad",  "blocksize",    "shape", "transB"};

static const int64_t numbers[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  4,
                                  5,
                                  7,
                                  8,
                                  12,
                                  16,
                                  64,
                                  -2,
                                  255,
                                  1000,
                                  65536,
                                  1 << 24,
                                  1 << 30,
                                  INT32_MAX,
                                  INT32_MIN,
                                  INT64_MAX,
                                  INT64_MIN,
                                  (int64_t)1 << 62};

struct dice {
  uint64_t state;
  struct arena arena;
};

static size_t roll(struct dice *dice, size_t sides) {
  dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
  return sides ? (size_t)(dice->state >> 33) % sides : 0;
}

static int64_t number(struct dice *dice) {
  return numbers[roll(dice, sizeof numbers / sizeof *numbers)];
}

static void rename_to(struct dice *dice, char **text, const char *with) {
  if (with)
    *text = arena_copy(&dice->arena, with, strlen(with));
}

static void change_bytes(ProtobufCBinaryData *bytes) {
  if (bytes->len > 0)
    bytes->len = LLVMFuzzerMutate(bytes->data, bytes->len, bytes->len);
}

static void change_tensor(struct dice *dice, Onnx__TensorProto *t) {
  switch (roll(dice, 4)) {
  case 0:
    if (t->n_dims)
      t->dims[roll(dice, t->n_dims)] = number(dice);
    break;
  case 1: t->n_dims -= t->n_dims > 0; break;
  case 2:
    change_bytes(&t->raw_data);
    if (t->n_int64_data)
      t->int64_data[roll(dice, t->n_int64_data)] = number(dice);
    if (t->n_float_data)
      t->float_data[roll(dice, t->n_float_data)] = (float)number(dice);
    break;
  default: t->data_type = (int32_t)roll(dice, 18);
  }
}

static void change_attribute(struct dice *dice, Onnx__AttributeProto *a) {
  if (roll(dice, 8) == 0)
    rename_to(dice, &a->name,
              attributes[roll(dice, sizeof attributes / sizeof *attributes)]);
  a->i = a->has_i ? number(dice) : a->i;
  a->f = a->has_f ? (float)number(dice) / 4 : a->f;
  if (a->n_ints)
    a->ints[roll(dice, a->n_ints)] = number(dice);
  if (a->n_ints && roll(dice, 4) == 0)
    a->n_ints--;
  if (a->t)
    change_tensor(dice, a->t);
}

/* Any value of the graph. */
static const char *some_value(struct dice *dice, Onnx__GraphProto *g) {
  size_t kind = roll(dice, 4);
  if (kind == 0 && g->n_input)
    return g->input[roll(dice, g->n_input)]->name;
  if (kind == 1 && g->n_initializer)
    return g->initializer[roll(dice, g->n_initializer)]->name;
  Onnx__NodeProto *n = g->n_node ? g->node[roll(dice, g->n_node)] : NULL;
  return n && n->n_output ? n->output[roll(dice, n->n_output)] : NULL;
}

static void change_node(struct dice *dice, Onnx__GraphProto *g) {
  Onnx__NodeProto **at = &g->node[roll(dice, g->n_node)];
  Onnx__NodeProto **other = &g->node[roll(dice, g->n_node)], *n = *at;
  switch (roll(dice, 6)) {
  case 0:
    rename_to(dice, &n->op_type,
              operators[roll(dice, sizeof operators / sizeof *operators)]);
    break;
  case 1:
    if (n->n_input)
      rename_to(dice, &n->input[roll(dice, n->n_input)], some_value(dice, g));
    break;
  case 2:
    *at = *other;
    *other = n;
    break;
  case 3:
    if (n->n_input > 1) {
      size_t i = roll(dice, n->n_input);
      char *first = n->input[i];
      n->input[i] = n->input[0];
      n->input[0] = first;
    }
    break;
  default:
    if (n->n_attribute)
      change_attribute(dice, n->attribute[roll(dice, n->n_attribute)]);
  }
}

static void change_type(struct dice *dice, Onnx__ValueInfoProto *v) {
  Onnx__TypeProto *type = v->type;
  if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
      !type->tensor_type || !type->tensor_type->shape)
    return;
  Onnx__TensorShapeProto *s = type->tensor_type->shape;
  if (s->n_dim == 0)
    return;
  Onnx__TensorShapeProto__Dimension *d = s->dim[roll(dice, s->n_dim)];
  if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
    d->dim_value = number(dice);
}

static void change(struct dice *dice, Onnx__ModelProto *model) {
  Onnx__GraphProto *g = model->graph;
  size_t kind = roll(dice, 12);
  if (kind == 0 && g->n_input)
    change_type(dice, g->input[roll(dice, g->n_input)]);
  else if (kind == 1 && g->n_initializer)
    change_tensor(dice, g->initializer[roll(dice, g->n_initializer)]);
  else if (kind == 2 && g->n_output)
    rename_to(dice, &g->output[roll(dice, g->n_output)]->name,
              some_value(dice, g));
  else if (kind == 3 && model->n_opset_import)
    model->opset_import[0]->version = (int64_t)roll(dice, 22);
  else if (g->n_node)
    change_node(dice, g);
}

static void *take(void *arena, size_t size) {
  return arena_alloc(arena, size ? size : 1, 1);
}

static void leave(void *arena, void *block) {
  (void)arena;
  (void)block;
}

/* One to three changes; 0: it is no model, or has no room. */
size_t fuzz_onnx(uint8_t *data, size_t size, size_t room, unsigned seed) {
  struct dice dice = {.state = seed};
  ProtobufCAllocator allocator = {take, leave, &dice.arena};
  size_t packed = 0;
  arena_open(&dice.arena, NULL, NULL);
  Onnx__ModelProto *model = onnx__model_proto__unpack(&allocator, size, data);
  if (model && model->graph) {
    for (size_t n = 1 + roll(&dice, 3); n-- > 0;)
      change(&dice, model);
    packed = onnx__model_proto__get_packed_size(model);
    if (packed > room)
      packed = 0;
    else
      onnx__model_proto__pack(model, data);
  }
  arena_close(&dice.arena);
  return packed;
}
