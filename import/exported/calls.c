/* Calls of ATen: which row translates one, and those element by element. */
#include <string.h>

#include "import/exported/exported.h"

static const struct aten_row rows[] = {
#define ATEN(name, onnx, function) {name, onnx, function},
#include "ops/aten.def"
#undef ATEN
};

enum { ROWS = sizeof rows / sizeof *rows };

/* The function of ops.def that PyTorch calls so: "torch.exp", "F.softsign". */
static const struct function *function_called(struct slice op) {
  const struct function *f;
  for (size_t i = 0; (f = function_at(i)); i++) {
    const char *dot = f->call ? strrchr(f->call, '.') : NULL;
    if (dot && slice_is(op, dot + 1) && f->names[IN_ONNX])
      return f;
  }
  return NULL;
}

bool exported_type(struct graph *graph, size_t index,
                   struct import_type *type) {
  static const enum layer_word none[IMPORT_WORDS] = {WORD_NONE};
  struct import_type other;
  if (index >= ROWS)
    return false;
  import_type_set(type, rows[index].name, none);
  for (size_t i = 0; onnx_type(graph, i, &other); i++)
    if (strcmp(other.name, rows[index].onnx) == 0)
      import_type_set(type, rows[index].name, other.words);
  return true;
}

/* Passes on a call without an equivalent: ONNX's reader decides. */
static bool say_unknown(struct exported *p) {
  const json_t *inputs = json_object_get(p->call, "inputs");
  Onnx__NodeProto *node = exported_node(p, p->target, json_array_size(inputs));
  size_t i;
  json_t *input;
  node->domain = said_copy(&p->s, "aten");
  json_array_foreach(inputs, i, input) {
    const char *name = json_string_value(json_object_get(input, "name"));
    const char *value = name ? exported_tensor(p, name) : NULL;
    if (value)
      said_take(&p->s, node, value);
  }
  for (i = 0; exported_out(p, i); i++)
    exported_give(p, node, i);
  return true;
}

static const struct aten_row *row_called(struct slice op) {
  for (size_t i = 0; i < ROWS; i++)
    if (slice_is(op, rows[i].name))
      return &rows[i];
  return NULL;
}

struct slice exported_op(struct slice name) {
  bool in_place = name.length > 1 && slice_ends(name, "_");
  return in_place && !slice_ends(name, "__") ? slice_less(name, 1) : name;
}

bool exported_say(struct exported *p) {
  const struct function *function = function_called(p->op);
  struct aten_row plain = {"", "", call_plain};
  p->row = row_called(p->op);
  if (!p->row && function) {
    plain.onnx = said_copy(&p->s, function->names[IN_ONNX]);
    p->row = &plain;
  }
  bool said = p->row ? p->row->say(p) : say_unknown(p);
  p->row = NULL;
  return said;
}

bool exported_knows(struct slice name) {
  struct slice op = exported_op(name);
  return row_called(op) || function_called(op);
}

bool call_same(struct exported *p) {
  const char *value = exported_tensor(p, "self");
  return exported_give_same(p, value ? value : exported_tensor(p, "input"));
}

/* All operands that are given, in this order; numbers become constants. */
bool call_plain(struct exported *p) {
  static const char *const names[] = {"condition", "self",     "input",
                                      "other",     "exponent", "mat2"};
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 6);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = exported_operand(p, names[i]);
    if (value)
      said_take(&p->s, node, value);
  }
  return exported_give(p, node, 0);
}

/* A node of two operands; gives the value between. */
static const char *pair(struct exported *p, const char *type, const char *a,
                        const char *b) {
  Onnx__NodeProto *node = exported_node(p, type, 2);
  said_take(&p->s, node, a);
  said_take(&p->s, node, b);
  return said_between(&p->s, node);
}

static bool give_pair(struct exported *p, const char *type, const char *a,
                      const char *b) {
  Onnx__NodeProto *node = exported_node(p, type, 2);
  said_take(&p->s, node, a);
  said_take(&p->s, node, b);
  return exported_give(p, node, 0);
}

static bool give_one(struct exported *p, const char *type, const char *value) {
  Onnx__NodeProto *node = exported_node(p, type, 1);
  said_take(&p->s, node, value);
  return exported_give(p, node, 0);
}

/* self + alpha * other; rsub: other - alpha * self. */
bool call_sum(struct exported *p) {
  bool reverse = slice_is(p->op, "rsub");
  const char *a = exported_operand(p, reverse ? "other" : "self");
  const char *b = exported_operand(p, reverse ? "self" : "other");
  double alpha = exported_real(p, "alpha", 1);
  if (!a || !b)
    return exported_fail(p, "it needs two operands");
  if (alpha != 1)
    b = pair(p, "Mul", b, said_real(&p->s, alpha));
  return give_pair(p, p->row->onnx, a, b);
}

bool call_div(struct exported *p) {
  const char *mode = exported_word(p, "rounding_mode");
  if (!mode)
    return call_plain(p);
  const char *a = exported_operand(p, "self"),
             *b = exported_operand(p, "other");
  if (strcmp(mode, "floor") != 0 || !a || !b)
    return exported_fail(p, "rounding `%.20s` is not supported", mode);
  return give_one(p, "Floor", pair(p, "Div", a, b));
}

bool call_not_equal(struct exported *p) {
  const char *a = exported_operand(p, "self"),
             *b = exported_operand(p, "other");
  return give_one(p, "Not", pair(p, "Equal", a, b));
}

/* masked_fill(self, mask, value): where the mask is true, the value. */
bool call_masked_fill(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, "Where", 3);
  said_take(&p->s, node, exported_tensor(p, "mask"));
  said_take(&p->s, node, exported_operand(p, "value"));
  said_take(&p->s, node, exported_tensor(p, "self"));
  return exported_give(p, node, 0);
}

bool call_square(struct exported *p) {
  const char *value = exported_tensor(p, "self");
  return give_pair(p, "Mul", value, value);
}

bool call_rsqrt(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, "Sqrt", 1);
  said_take(&p->s, node, exported_tensor(p, "self"));
  return give_one(p, "Reciprocal", said_between(&p->s, node));
}

bool call_silu(struct exported *p) {
  const char *value = exported_tensor(p, "self");
  Onnx__NodeProto *node = exported_node(p, "Sigmoid", 1);
  said_take(&p->s, node, value);
  return give_pair(p, "Mul", value, said_between(&p->s, node));
}

bool call_gelu(struct exported *p) {
  const char *how = exported_word(p, "approximate");
  Onnx__NodeProto *node = exported_node(p, "Gelu", 1);
  said_take(&p->s, node, exported_tensor(p, "self"));
  if (how)
    emit_text(&p->s.x, node, "approximate", how);
  return exported_give(p, node, 0);
}

/* leaky_relu(negative_slope), elu(alpha, scale, input_scale), celu(alpha) */
bool call_slope(struct exported *p) {
  bool leaky = slice_is(p->op, "leaky_relu");
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 1);
  if (exported_real(p, "scale", 1) != 1 ||
      exported_real(p, "input_scale", 1) != 1)
    return exported_fail(p, "its `scale` is not supported");
  said_take(&p->s, node, exported_tensor(p, "self"));
  emit_real(&p->s.x, node, "alpha",
            leaky ? exported_real(p, "negative_slope", 0.01)
                  : exported_real(p, "alpha", 1));
  return exported_give(p, node, 0);
}

bool call_hardsigmoid(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, "HardSigmoid", 1);
  said_take(&p->s, node, exported_tensor(p, "self"));
  emit_real(&p->s.x, node, "alpha", 1.0 / 6);
  emit_real(&p->s.x, node, "beta", 0.5);
  return exported_give(p, node, 0);
}

/* A bound by either of its names, or a usual one; NULL: none. */
static const char *bound(struct exported *p, const char *name,
                         const char *other, double usual, bool always) {
  const json_t *arg = exported_arg(p, name);
  if (!arg && exported_arg(p, other))
    name = other;
  else if (!arg && !always)
    return NULL;
  return said_real(&p->s, exported_real(p, name, usual));
}

bool call_clip(struct exported *p) {
  bool six = slice_is(p->op, "relu6"), hard = slice_is(p->op, "hardtanh");
  const char *least = bound(p, "min", "min_val", six ? 0 : -1, six || hard);
  const char *most = bound(p, "max", "max_val", six ? 6 : 1, six || hard);
  Onnx__NodeProto *node = exported_node(p, "Clip", 3);
  said_take(&p->s, node, exported_tensor(p, "self"));
  said_take(&p->s, node, least);
  said_take(&p->s, node, most);
  return exported_give(p, node, 0);
}

bool call_softmax(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 1);
  said_take(&p->s, node, exported_tensor(p, "self"));
  emit_int(&p->s.x, node, "axis", exported_int(p, "dim", -1));
  return exported_give(p, node, 0);
}

/* The first half times the sigmoid of the second. */
bool call_glu(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, "Split", 1);
  said_take(&p->s, node, exported_tensor(p, "self"));
  emit_int(&p->s.x, node, "axis", exported_int(p, "dim", -1));
  emit_int(&p->s.x, node, "num_outputs", 2);
  node->output = arena_alloc(p->graph->arena, 3, sizeof *node->output);
  const char *first = said_between(&p->s, node);
  said_give(&p->s, node, graph_text(p->graph, "%s gate", first));
  const char *second = node->output[1];
  node = exported_node(p, "Sigmoid", 1);
  said_take(&p->s, node, second);
  return give_pair(p, "Mul", first, said_between(&p->s, node));
}

bool call_cumsum(struct exported *p) {
  return give_pair(p, "CumSum", exported_tensor(p, "self"),
                   said_int(&p->s, exported_int(p, "dim", 0)));
}

/* Reals stay reals, and whole numbers whole. */
bool call_cast(struct exported *p) {
  static const int reals[] = {1, 10, 11, 16};
  const char *value = exported_tensor(p, "self");
  struct meta from, to;
  bool real[2] = {false, false};
  if (!exported_meta_of(p, "self", &from) || !exported_out_meta(p, 0, &to))
    return false;
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    real[0] |= from.type == reals[i];
    real[1] |= to.type == reals[i];
  }
  if (real[0] == real[1])
    return exported_give_same(p, value);
  Onnx__NodeProto *node = exported_node(p, "Cast", 1);
  said_take(&p->s, node, value);
  emit_int(&p->s.x, node, "to", to.type);
  return exported_give(p, node, 0);
}

bool call_dropout(struct exported *p) {
  const char *value = exported_tensor(p, "input");
  Onnx__NodeProto *node = exported_node(p, "Dropout", 2);
  said_take(&p->s, node, value ? value : exported_tensor(p, "self"));
  said_take(&p->s, node, said_real(&p->s, exported_real(p, "p", 0.5)));
  emit_int(&p->s.x, node, "inplace", strstr(p->target, "_.") != NULL);
  return exported_give(p, node, 0);
}

/* 1 where a number drawn from 0 to 1 is less than p. */
bool call_bernoulli(struct exported *p) {
  struct meta m;
  if (!exported_out_meta(p, 0, &m))
    return false;
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 1);
  said_take(&p->s, node, exported_tensor(p, "self"));
  const char *less = pair(p, "Less", said_between(&p->s, node),
                          said_real(&p->s, exported_real(p, "p", 0.5)));
  node = exported_node(p, "Cast", 1);
  said_take(&p->s, node, less);
  emit_int(&p->s.x, node, "to", m.type);
  return exported_give(p, node, 0);
}

/* Constants of the output's sizes; a dynamic size is that of one sample. */
bool call_filled(struct exported *p) {
  bool ones = strstr(p->row->name, "ones");
  double usual = exported_real(p, "fill_value", exported_real(p, "s", ones));
  struct meta m;
  if (!exported_out_meta(p, 0, &m))
    return false;
  for (int i = 0; i < m.rank; i++)
    m.dims[i] = m.dims[i] < 0 ? 1 : m.dims[i];
  const char *number = m.type == TYPE_INT64 ? said_int(&p->s, (int64_t)usual)
                                            : said_real(&p->s, usual);
  if (m.rank == 0)
    return exported_give_same(p, number);
  return give_pair(p, "Expand", number, said_ints(&p->s, m.dims, m.rank));
}

bool call_arange(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, "Range", 3);
  struct meta m;
  if (!exported_out_meta(p, 0, &m))
    return false;
  bool whole = m.type == TYPE_INT64;
  double numbers[3] = {exported_real(p, "start", 0),
                       exported_real(p, "end", -1),
                       exported_real(p, "step", 1)};
  if (m.rank != 1 || m.dims[0] < 0)
    return exported_fail(p, "its length depends on the input");
  for (int i = 0; i < 3; i++)
    said_take(&p->s, node,
              whole ? said_int(&p->s, (int64_t)numbers[i])
                    : said_real(&p->s, numbers[i]));
  return exported_give(p, node, 0);
}

bool call_triangle(struct exported *p) {
  Onnx__NodeProto *node = exported_node(p, p->row->onnx, 2);
  said_take(&p->s, node, exported_tensor(p, "self"));
  said_take(&p->s, node, said_int(&p->s, exported_int(p, "diagonal", 0)));
  emit_int(&p->s.x, node, "upper", slice_is(p->op, "triu"));
  return exported_give(p, node, 0);
}
