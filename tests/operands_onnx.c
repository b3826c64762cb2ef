/* Models of ONNX for tests/test_operands.c. */
#include "tests/operands.h"

#include <string.h>

#include "onnx.pb-c.h"

static const struct {
  const char *name, *text;
} attributes[] = {
    {"activation", "LeakyRelu"},
    {"activations", "Tanh"},
    {"allowzero", ""},
    {"alpha", ""},
    {"auto_pad", "SAME_UPPER"},
    {"axes", ""},
    {"axis", ""},
    {"batch_dims", ""},
    {"beta", ""},
    {"block_size", ""},
    {"blocksize", ""},
    {"ceil_mode", ""},
    {"coordinate_transformation_mode", "asymmetric"},
    {"count_include_pad", ""},
    {"dilations", ""},
    {"direction", "bidirectional"},
    {"do_rotary", ""},
    {"end", ""},
    {"ends", ""},
    {"epsilon", ""},
    {"equation", "ij,jk->ik"},
    {"exclusive", ""},
    {"group", ""},
    {"hidden_size", ""},
    {"is_causal", ""},
    {"keepdims", ""},
    {"kernel_shape", ""},
    {"kv_num_heads", ""},
    {"mode", "linear"},
    {"noop_with_empty_axes", ""},
    {"num_groups", ""},
    {"num_heads", ""},
    {"num_outputs", ""},
    {"output_padding", ""},
    {"output_shape", ""},
    {"p", ""},
    {"pads", ""},
    {"perm", ""},
    {"q_num_heads", ""},
    {"qkv_hidden_sizes", ""},
    {"reverse", ""},
    {"scale", ""},
    {"scales", ""},
    {"shape", ""},
    {"size", ""},
    {"split", ""},
    {"start", ""},
    {"starts", ""},
    {"steps", ""},
    {"strides", ""},
    {"to", ""},
    {"transA", ""},
    {"transB", ""},
    {"transBatchA", ""},
    {"upper", ""},
    {"value", ""},
};

enum { ATTRIBUTES = sizeof attributes / sizeof *attributes, AXES = 4 };

#define MADE(trial, type, INIT) made((trial)->arena, sizeof(type), &(type)INIT)

static void *made(struct arena *arena, size_t size, const void *from) {
  return memcpy(arena_alloc(arena, 1, size), from, size);
}

static char *text(const struct trial *t, const char *of) {
  return arena_copy(t->arena, of, strlen(of));
}

/* All kinds at once: a reader takes the one that it wants. */
static Onnx__AttributeProto *attribute(const struct trial *t, size_t index) {
  Onnx__AttributeProto *a =
      MADE(t, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT);
  a->name = text(t, attributes[index].name);
  a->has_i = a->has_f = 1;
  a->i = t->number;
  a->f = (float)t->number;
  a->n_ints = a->n_floats = 1 + t->seed % AXES;
  a->ints = arena_alloc(t->arena, AXES, sizeof *a->ints);
  a->floats = arena_alloc(t->arena, AXES, sizeof *a->floats);
  for (size_t i = 0; i < AXES; i++) {
    a->ints[i] = t->number;
    a->floats[i] = a->f;
  }
  if (*attributes[index].text) {
    a->has_s = 1;
    a->s.data = (uint8_t *)text(t, attributes[index].text);
    a->s.len = strlen(attributes[index].text);
  }
  return a;
}

static Onnx__NodeProto *node(const struct trial *t, const char *type,
                             const char *in, const char *out) {
  Onnx__NodeProto *n = MADE(t, Onnx__NodeProto, ONNX__NODE_PROTO__INIT);
  n->op_type = text(t, type);
  n->n_input = strlen(in);
  n->input = arena_alloc(t->arena, MOST_OPERANDS, sizeof *n->input);
  for (size_t i = 0; i < n->n_input; i++) {
    const char name[2] = {in[i] == NOTHING ? '\0' : in[i], '\0'};
    n->input[i] = text(t, name);
  }
  n->n_output = 1;
  n->output = arena_alloc(t->arena, 1, sizeof *n->output);
  n->output[0] = text(t, out);
  n->attribute = arena_alloc(t->arena, ATTRIBUTES, sizeof *n->attribute);
  for (unsigned i = 0; i < ATTRIBUTES; i++)
    if (trial_has(t, i))
      n->attribute[n->n_attribute++] = attribute(t, i);
  return n;
}

static Onnx__TensorProto *constant(const struct trial *t, char name,
                                   size_t rank, int64_t size) {
  Onnx__TensorProto *p = MADE(t, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT);
  const char letter[2] = {name, '\0'};
  p->name = text(t, letter);
  p->has_data_type = 1;
  p->data_type = t->seed % 3 ? 1 : 7; /* reals and whole numbers */
  p->n_dims = rank;
  p->dims = arena_alloc(t->arena, rank + 1, sizeof *p->dims);
  size_t count = 1;
  for (size_t i = 0; i < rank; i++)
    count *= (size_t)(p->dims[i] = size);
  p->has_raw_data = 1;
  p->raw_data.len = count * (p->data_type == 1 ? 4 : 8);
  p->raw_data.data = arena_alloc(t->arena, p->raw_data.len + 1, 1);
  return p;
}

static Onnx__ValueInfoProto *value(const struct trial *t, const char *name,
                                   int rank) {
  Onnx__ValueInfoProto *v =
      MADE(t, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT);
  v->name = text(t, name);
  if (rank == 0)
    return v;
  v->type = MADE(t, Onnx__TypeProto, ONNX__TYPE_PROTO__INIT);
  v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  Onnx__TypeProto__Tensor *tensor = v->type->tensor_type =
      MADE(t, Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT);
  tensor->has_elem_type = 1;
  tensor->elem_type = 1;
  Onnx__TensorShapeProto *shape = tensor->shape =
      MADE(t, Onnx__TensorShapeProto, ONNX__TENSOR_SHAPE_PROTO__INIT);
  shape->n_dim = (size_t)rank;
  shape->dim = arena_alloc(t->arena, shape->n_dim, sizeof *shape->dim);
  for (size_t i = 0; i < shape->n_dim; i++) {
    Onnx__TensorShapeProto__Dimension *d = shape->dim[i] =
        MADE(t, Onnx__TensorShapeProto__Dimension,
             ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT);
    d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    d->dim_value = i == 0 ? 1 : 4;
  }
  return v;
}

struct slice onnx_trial(const struct trial *t) {
  Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
  Onnx__GraphProto graph = ONNX__GRAPH_PROTO__INIT;
  Onnx__OperatorSetIdProto set = ONNX__OPERATOR_SET_ID_PROTO__INIT,
                           *sets = &set;
  static const int ranks[] = {4, 3, 2, 1};
  int rank = ranks[t->seed % 4];
  Onnx__NodeProto *nodes[] = {
      node(t, "Warp", "x", "u"), node(t, t->type, t->operands, "y"),
      t->behind ? node(t, t->behind, trial_behind(t), "z") : NULL};
  Onnx__TensorProto *constants[] = {constant(t, CONSTANT, (size_t)rank, 4),
                                    constant(t, SCALAR, 0, 0),
                                    constant(t, EMPTY, 1, 0)};
  Onnx__ValueInfoProto *in = value(t, "x", rank),
                       *out = value(t, t->behind ? "z" : "y", 0);
  bool leads = strchr(t->operands, UNKNOWN);
  model.graph = &graph;
  model.n_opset_import = 1;
  model.opset_import = &sets;
  set.has_version = 1;
  set.version = t->seed % 5 ? 17 : t->seed % 2 ? 9 : 21;
  graph.n_node = (leads ? 2U : 1U) + (t->behind != NULL);
  graph.node = leads ? nodes : nodes + 1;
  graph.n_initializer = sizeof constants / sizeof *constants;
  graph.initializer = constants;
  graph.n_input = graph.n_output = 1;
  graph.input = &in;
  graph.output = &out;
  size_t length = onnx__model_proto__get_packed_size(&model);
  uint8_t *bytes = arena_alloc(t->arena, length + 1, 1);
  onnx__model_proto__pack(&model, bytes);
  return (struct slice){(const char *)bytes, length};
}
