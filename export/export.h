/*
 * Exporting: operations of a net become nodes. What an operation makes is a
 * block of values; ONNX has it as one tensor or several, whose axes lie in
 * other orders, and which are made when somebody reads them so.
 */
#ifndef NETC_CODEGEN_ONNX_EXPORT_H
#define NETC_CODEGEN_ONNX_EXPORT_H

#include "export/model.h"
#include "netc.h"

/* A tensor that shows a block. */
struct onnx_rendering {
  value_id value;
  const struct onnx_layout *at; /* many renderings have the same one */
  bool whole;                   /* all of the block */
};

struct onnx_block {
  VEC(struct onnx_rendering) seen; /* the first one is what made it */
  value_id input; /* an input whose axes nobody has chosen yet */
};

/* Values of a block as an operation sees them. */
struct view {
  struct onnx_block *of;
  struct onnx_layout at;
};

struct exporting {
  struct arena *arena;
  struct netc *netc;
  struct onnx_model model;
  struct onnx_block *blocks, *weights; /* by block; by tensor in the file */
  struct netc_operation op;            /* current */
  const char *layer;                   /* its name */
  size_t first_value;                  /* what it makes */
  bool is_last;                        /* of its layer */
  struct map shared;  /* what several layers read, by its name */
  struct map layouts; /* of renderings, each once, by its bytes */
  const char *why;    /* why it cannot be; NULL: it can */
};

/* The model outlives the net: others are compiled, to leave sizes open. */
const char *onnx_keep(struct exporting *x, const char *text);

/* A tensor shows a block, with a copy of its layout. */
void onnx_show(struct exporting *x, struct onnx_block *block, value_id value,
               const struct onnx_layout *at, bool whole);

/* "... cannot be written"; returns NO_VALUE. */
value_id onnx_refuse(struct exporting *x, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* How many values a constant has; false, and refused, if too many. */
bool onnx_constant_size(struct exporting *x, int rank, const int64_t *dims,
                        int64_t *values);

/* Operands as they are seen, their batch in front. */
struct view onnx_operand_view(struct exporting *x,
                              const struct netc_operand *operand);
struct view onnx_in(struct exporting *x, size_t in);

/*
 * A tensor with exactly these axes; those that are repeated have a size of 1,
 * or are `spread` out. NO_VALUE: refused.
 */
value_id onnx_get(struct exporting *x, const struct view *view);
value_id onnx_get_spread(struct exporting *x, const struct view *view);

/* An input of the net is as the first to read it wants it. */
void onnx_settle(struct exporting *x, const struct view *view);

/* What that would cost: 0 if it is there. */
int64_t onnx_get_cost(struct exporting *x, const struct view *view);

/* Whether an axis is repeated in part, so that only `onnx_get_spread` has it.
 */
bool view_mixes(const struct view *view);

/* The sizes that `get` gives. */
void view_sizes(const struct view *view, int64_t *dims);

/* What the operation makes; `at` says how it lies in the dense output. */
void onnx_put(struct exporting *x, size_t out, value_id value,
              const struct onnx_layout *at);

/* The same of its only output, if all went well; whether it did. */
bool onnx_put_first(struct exporting *x, value_id value,
                    const struct onnx_layout *at);

/* The dense space of an output. */
struct onnx_layout onnx_out(const struct exporting *x, size_t out);

/* Maps as ONNX has them: an operand and the output, channels first. */
struct view onnx_map_in(struct exporting *x, size_t in);
struct onnx_layout onnx_map_out(const struct exporting *x);

/* A node whose result has the sizes of `at`; NO_VALUE once it is refused. */
value_id onnx_node(struct exporting *x, const char *op,
                   const struct onnx_layout *at, const value_id *ins,
                   size_t in_count);
#define NODE(x, op, at, ...)                                  \
  onnx_node((x), (op), (at), (const value_id[]){__VA_ARGS__}, \
            sizeof((const value_id[]){__VA_ARGS__}) / sizeof(value_id))

/* Says of what type a value is, if there is one. */
value_id onnx_typed(struct exporting *x, value_id value,
                    enum onnx_element type);

/* The value with the sizes of `at`. */
value_id onnx_reshaped(struct exporting *x, value_id value,
                       const struct onnx_layout *at);

/* A sum, mean or the like over some axes, which stay with a size of 1. */
value_id onnx_reduce_axes(struct exporting *x, const char *op, value_id in,
                          const struct onnx_layout *at, const int64_t *axes,
                          int count, bool keeps);

/*
 * The cheapest way to see all operands with equal axes, as a layout of the
 * dense space of the output.
 */
struct onnx_layout onnx_choose_layout(struct exporting *x,
                                      const struct view *views, size_t count);

/* The same where axes stay what they are: an order of them. */
struct onnx_order {
  int rank, axis[LAYOUT_RANK];
};
struct onnx_order onnx_choose_order(struct exporting *x,
                                    const struct view *views, size_t count);
struct onnx_layout order_apply(const struct onnx_order *order,
                               const struct onnx_layout *at);

/* Where an axis went. */
int order_place(const struct onnx_order *order, int axis);

/* The forms of operations: forms.def. */
typedef bool onnx_fn(struct exporting *x);

struct onnx_form {
  const char *code; /* of runtime/ops.def */
  onnx_fn *write;
  const char *nodes; /* what it becomes, for the manual */
};

const struct onnx_form *onnx_form_find(const char *code);

#define FORM(code, function, ...) onnx_fn function;
#include "export/forms.def"
#undef FORM
onnx_fn onnx_function;

#endif
