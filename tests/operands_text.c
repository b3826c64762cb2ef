/* Models of Caffe, Keras and OpenVINO for tests/test_operands.c: texts. */
#include "tests/operands.h"

#include <inttypes.h>
#include <string.h>

/* The second reads the first where the first reads the input. */
const char *trial_behind(const struct trial *t) {
  const char *operands = *t->operands ? t->operands : "y";
  char *other = arena_copy(t->arena, operands, strlen(operands));
  for (char *c = other; *c; c++)
    *c = *c == INPUT ? OWN : *c;
  return other;
}

struct operator{
  const char *type, *operands;
  char name; /* and its result's */
};

/* One that no reader knows, the operator, another behind it; how many. */
static int operators(const struct trial *t, struct operator ops[3]) {
  int count = 0;
  if (strchr(t->operands, UNKNOWN))
    ops[count++] = (struct operator){"Warp", "x", UNKNOWN};
  ops[count++] = (struct operator){t->type, t->operands, OWN};
  if (t->behind)
    ops[count++] = (struct operator){t->behind, trial_behind(t), 'z'};
  return count;
}

/* Attributes by `format`, which takes a name and a number; NULL ends them. */
static void put_attributes(const struct trial *t, struct text *to,
                           const char *const *names, const char *format) {
  for (unsigned i = 0; names[i]; i++)
    if (trial_has(t, i))
      text_printf(to, format, names[i], t->number);
}

struct slice caffe_trial(const struct trial *t) {
  static const char *const blocks[] = {
      "convolution_param", "pooling_param", "inner_product_param",
      "relu_param",        "elu_param",     "prelu_param",
      "power_param",       "lrn_param",     "batch_norm_param",
      "scale_param",       "eltwise_param", "concat_param",
      "slice_param",       "reshape_param", "permute_param",
      "crop_param",        "norm_param",    "reorg_param",
      "embed_param",       "softmax_param", "reduction_param",
      "upsample_param",    "dropout_param", "roi_pooling_param",
      "python_param",      "bn_param",      "shuffle_channel_param"};
  static const char *const fields[] = {
      "num_output", "kernel_size", "stride",     "pad",       "group",
      "dilation",   "axis",        "order",      "operation", "coeff",
      "alpha",      "scale",       "shift",      "power",     "local_size",
      "num_axes",   "slice_point", "concat_dim", "offset",    "input_dim",
      "pooled_h",   "pooled_w",    "height",     "width",     NULL};
  struct text to = text_new(t->arena);
  struct operator ops[3];
  int count = operators(t, ops);
  text_put(&to, "input: 'x' input_shape { dim: 1 dim: 8 dim: 6 dim: 10 }\n"
                "layer { name: 's' type: 'InnerProduct' bottom: 'x' top: 's' "
                "inner_product_param { num_output: 4 } }\n");
  for (int i = 0; i < count; i++) {
    text_printf(&to, "layer { name: '%c' type: '%s' top: '%c'", ops[i].name,
                ops[i].type, ops[i].name);
    for (const char *c = ops[i].operands; *c; c++)
      text_printf(&to, " bottom: '%.*s'", *c != NOTHING, c);
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
      text_printf(&to, " %s {", blocks[k]);
      put_attributes(t, &to, fields, " %s: %" PRId64);
      if (strcmp(blocks[k], "reshape_param") == 0 && t->attributes)
        text_printf(&to, " shape { dim: 0 dim: %" PRId64 " }", t->number);
      text_put(&to, " }");
    }
    text_put(&to, " }\n");
  }
  return text_slice(&to);
}

/* An operand of Keras: a tensor, a number, one that there is not. */
static void put_wire(struct text *to, char operand) {
  switch (operand) {
  case NOTHING: text_put(to, "null"); return;
  case SCALAR: text_put(to, "2"); return;
  case EMPTY: text_put(to, "[]"); return;
  default:
    text_printf(to, "[\"%c\", 0, %d, {\"y\": [\"%c\", 0, 0], \"b\": 3}]",
                operand, operand == CONSTANT ? 7 : 0, operand);
  }
}

static void put_keras(const struct trial *t, struct text *to,
                      const struct operator* op) {
  static const char *const fields[] = {"units",
                                       "filters",
                                       "kernel_size",
                                       "strides",
                                       "padding",
                                       "pool_size",
                                       "dilation_rate",
                                       "groups",
                                       "axis",
                                       "axes",
                                       "size",
                                       "cropping",
                                       "target_shape",
                                       "dims",
                                       "shape",
                                       "perm",
                                       "n",
                                       "output_dim",
                                       "input_dim",
                                       "num_heads",
                                       "key_dim",
                                       "value_dim",
                                       "alpha",
                                       "epsilon",
                                       "rate",
                                       "max_value",
                                       "threshold",
                                       "height",
                                       "width",
                                       "depth_multiplier",
                                       "output_padding",
                                       "output_size",
                                       "return_sequences",
                                       "return_state",
                                       "go_backwards",
                                       "use_bias",
                                       "attention_axes",
                                       "layer",
                                       "clip_value_min",
                                       "clip_value_max",
                                       "num_or_size_splits",
                                       "slice_spec",
                                       "y",
                                       "newshape",
                                       "keepdims",
                                       NULL};
  bool function = strncmp(op->type, "ops.", 4) == 0;
  const char *activation =
      strncmp(op->type, "activation=", 11) ? NULL : op->type + 11;
  const char *forms[] = {", \"%s\": %" PRId64, ", \"%s\": [%" PRId64 ", 1]",
                         ", \"%s\": [[%" PRId64 ", 0], [1, 2]]",
                         ", \"%s\": \"%" PRId64 "\""};
  text_printf(to,
              ", {\"class_name\": \"%s\", \"name\": \"%c\", \"config\": "
              "{\"name\": \"%c\"",
              function     ? "TFOpLambda"
              : activation ? "Activation"
                           : op->type,
              op->name, op->name);
  if (function)
    text_printf(to, ", \"function\": \"%s\"", op->type + 4);
  if (activation)
    text_printf(to, ", \"activation\": \"%s\"", activation);
  put_attributes(t, to, fields, forms[t->seed % 4]);
  text_put(to, "}, \"inbound_nodes\": [[");
  for (const char *c = op->operands; *c; c++) {
    text_put(to, c == op->operands ? "" : ", ");
    put_wire(to, *c);
  }
  text_put(to, "]]}");
}

struct slice keras_trial(const struct trial *t) {
  static const char *const shapes[] = {"6, 10, 8", "10, 8", "8", "4, 6, 6, 8"};
  struct text to = text_new(t->arena);
  struct operator ops[3];
  int count = operators(t, ops);
  text_printf(&to,
              "{\"class_name\": \"Functional\", \"config\": {\"name\": \"m\", "
              "\"layers\": [{\"class_name\": \"InputLayer\", \"name\": \"x\", "
              "\"config\": {\"batch_input_shape\": [null, %s], \"dtype\": "
              "\"float32\", \"name\": \"x\"}, \"inbound_nodes\": []}",
              shapes[t->seed % 4]);
  for (int i = 0; i < count; i++)
    put_keras(t, &to, &ops[i]);
  text_printf(&to,
              "], \"input_layers\": [[\"x\", 0, 0]], \"output_layers\": "
              "[[\"%c\", 0, 0]]}}",
              ops[count - 1].name);
  return text_slice(&to);
}

static void put_port(struct text *to, int id, const char *dims) {
  text_printf(to, "<port id=\"%d\" precision=\"FP32\">", id);
  for (; *dims; dims++)
    text_printf(to, "<dim>%c</dim>", *dims);
  text_put(to, "</port>");
}

/* Layers by the letters of their results; constants are where a .bin has
 * them, which is absent. */
struct slice openvino_trial(const struct trial *t) {
  static const char *const fields[] = {"strides",
                                       "pads_begin",
                                       "pads_end",
                                       "dilations",
                                       "kernel",
                                       "axis",
                                       "min",
                                       "max",
                                       "alpha",
                                       "beta",
                                       "num_splits",
                                       "levels",
                                       "eps",
                                       "group",
                                       "batch_dims",
                                       "block_size",
                                       "size",
                                       "bias",
                                       "begin_mask",
                                       "end_mask",
                                       "shrink_axis_mask",
                                       "new_axis_mask",
                                       "ellipsis_mask",
                                       "output_padding",
                                       "shape",
                                       NULL};
  static const struct {
    char name;
    const char *type, *data, *dims;
  } given[] = {
      {INPUT, "Parameter", "shape=\"1,8,6,9\" element_type=\"f32\"", "1869"},
      {CONSTANT, "Const",
       "element_type=\"f32\" shape=\"4,8,3,3\" offset=\"0\" size=\"1152\"",
       "4833"},
      {SCALAR, "Const",
       "element_type=\"i64\" shape=\"\" offset=\"8\" size=\"8\"", ""},
      {EMPTY, "Const",
       "element_type=\"i64\" shape=\"0\" offset=\"8\" size=\"0\"", "0"},
  };
  struct text to = text_new(t->arena), edges = text_new(t->arena);
  struct operator ops[3];
  int count = operators(t, ops);
  text_put(&to, "<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">\n"
                "<layers>\n");
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    text_printf(&to,
                "<layer id=\"%c\" name=\"%c\" type=\"%s\"><data %s/>"
                "<output>",
                given[i].name, given[i].name, given[i].type, given[i].data);
    put_port(&to, 99, given[i].dims);
    text_put(&to, "</output></layer>\n");
  }
  for (int i = 0; i < count; i++) {
    text_printf(&to, "<layer id=\"%c\" name=\"%c\" type=\"%s\"><data",
                ops[i].name, ops[i].name, ops[i].type);
    put_attributes(t, &to, fields, " %s=\"%" PRId64 ",1\"");
    text_put(&to, "/><input>");
    for (int k = 0; ops[i].operands[k]; k++) {
      put_port(&to, k, "1869");
      if (ops[i].operands[k] != NOTHING)
        text_printf(&edges,
                    "<edge from-layer=\"%c\" from-port=\"99\" to-layer=\"%c\" "
                    "to-port=\"%d\"/>\n",
                    ops[i].operands[k], ops[i].name, k);
    }
    text_put(&to, "</input><output>");
    put_port(&to, 99, "1869");
    text_put(&to, "</output></layer>\n");
  }
  text_put(&to, "<layer id=\"r\" name=\"r\" type=\"Result\"><input>");
  put_port(&to, 0, "1869");
  text_printf(&to,
              "</input></layer></layers><edges>%.*s<edge from-layer=\"%c\" "
              "from-port=\"99\" to-layer=\"r\" to-port=\"0\"/></edges></net>\n",
              (int)edges.length, edges.at, ops[count - 1].name);
  return text_slice(&to);
}
