/*
 * Exporting: turns operations of a net into nodes. An operation's output is a
 * block of values. ONNX has one or several tensors for it, with the axes in
 * different orders, which are created when an operation reads them.
 */
#ifndef NETC_EXPORT_EXPORT_H
#define NETC_EXPORT_EXPORT_H

#include "export/model.h"
#include "netc.h"

/* A tensor with the values of a block. */
struct onnx_rendering {
  value_id value;
  const struct onnx_layout *at; /* shared by many renderings */
  bool whole;                   /* the whole block */
};

struct onnx_block {
  VEC(struct onnx_rendering) seen; /* the first is the original */
  value_id input;                  /* an input whose axes are not chosen yet */
};

/* Values of a block with the axes of an operand. */
struct view {
  struct onnx_block *of;
  struct onnx_layout at;
};

struct exporting {
  struct arena *arena;
  struct netc *netc;
  struct onnx_model model;
  struct onnx_block *blocks, *weights; /* by block; by tensor in the file */
  struct netc_operation op;            /* the current operation */
  const char *layer;                   /* name of its layer */
  size_t first_value;                  /* first value that it makes */
  bool is_last;                        /* last operation of its layer */
  struct map shared;                   /* by name: tensors of several layers */
  struct map layouts;                  /* by bytes: distinct layouts */
  const char *why; /* why the net cannot be exported; or NULL */
};

/* Copies a text, as the model outlives the net: open axes need several nets. */
const char *onnx_keep(struct exporting *x, const char *text);

/* Adds a tensor of a block, with a copy of its layout. */
void onnx_show(struct exporting *x, struct onnx_block *block, value_id value,
               const struct onnx_layout *at, bool whole);

/* Records the reason for "... cannot be written". Returns NO_VALUE. */
value_id onnx_refuse(struct exporting *x, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* Number of values of a constant; refuses and returns false if too many. */
bool onnx_constant_size(struct exporting *x, int rank, const int64_t *dims,
                        int64_t *values);

/* Operands with their batch in front. */
struct view onnx_operand_view(struct exporting *x,
                              const struct netc_operand *operand);
struct view onnx_in(struct exporting *x, size_t in);

/*
 * A tensor with exactly these axes. Repeated axes have size 1, or are expanded
 * by onnx_get_spread(). NO_VALUE: refused.
 */
value_id onnx_get(struct exporting *x, const struct view *view);
value_id onnx_get_spread(struct exporting *x, const struct view *view);

/* Fixes the axes of a net's input to those of its first reader. */
void onnx_settle(struct exporting *x, const struct view *view);

/* Cost of onnx_get(); 0 if the tensor exists. */
int64_t onnx_get_cost(struct exporting *x, const struct view *view);

/* True if a part of an axis is repeated, so that only onnx_get_spread()
 * works. */
bool view_mixes(const struct view *view);

/* Sizes of the tensor from onnx_get(). */
void view_sizes(const struct view *view, int64_t *dims);

/* Sets an output; `at` is its layout in the dense output. */
void onnx_put(struct exporting *x, size_t out, value_id value,
              const struct onnx_layout *at);

/* Sets the only output unless the operation was refused; returns success. */
bool onnx_put_first(struct exporting *x, value_id value,
                    const struct onnx_layout *at);

/* Dense layout of an output. */
struct onnx_layout onnx_out(const struct exporting *x, size_t out);

/* Maps in ONNX's order, channels first: an operand and the output. */
struct view onnx_map_in(struct exporting *x, size_t in);
struct onnx_layout onnx_map_out(const struct exporting *x);

/* Adds a node whose result has the sizes of `at`; NO_VALUE after a refusal. */
value_id onnx_node(struct exporting *x, const char *op,
                   const struct onnx_layout *at, const value_id *ins,
                   size_t in_count);
#define NODE(x, op, at, ...)                                  \
  onnx_node((x), (op), (at), (const value_id[]){__VA_ARGS__}, \
            sizeof((const value_id[]){__VA_ARGS__}) / sizeof(value_id))

/* Sets the type of a value, unless it is NO_VALUE. */
value_id onnx_typed(struct exporting *x, value_id value,
                    enum onnx_element type);

/* Reshapes a value to the sizes of `at`. */
value_id onnx_reshaped(struct exporting *x, value_id value,
                       const struct onnx_layout *at);

/* Reduces axes by a sum, mean or the like; `keeps` leaves them with size 1. */
value_id onnx_reduce_axes(struct exporting *x, const char *op, value_id in,
                          const struct onnx_layout *at, const int64_t *axes,
                          int count, bool keeps);

/* True if an input is the same parameter of all experts, which are tensors of
 * their own; one tensor of these, with an axis of experts in front. */
bool onnx_is_stack(struct exporting *x, size_t in);
value_id onnx_stack(struct exporting *x, size_t in);

/*
 * The cheapest common axes for all operands, as a layout in the dense space of
 * the output.
 */
struct onnx_layout onnx_choose_layout(struct exporting *x,
                                      const struct view *views, size_t count);

/* The cheapest order of the axes, which stay whole. */
struct onnx_order {
  int rank, axis[LAYOUT_RANK];
};
struct onnx_order onnx_choose_order(struct exporting *x,
                                    const struct view *views, size_t count);
struct onnx_layout order_apply(const struct onnx_order *order,
                               const struct onnx_layout *at);

/* New place of an axis. */
int order_place(const struct onnx_order *order, int axis);

/* Forms of operations: forms.def. */
typedef bool onnx_fn(struct exporting *x);

struct onnx_form {
  const char *code; /* from runtime/ops.def */
  onnx_fn *write;
  const char *nodes; /* its nodes, for the manual */
};

const struct onnx_form *onnx_form_find(const char *code);

#define FORM(code, function, ...) onnx_fn function;
#include "export/forms.def"
#undef FORM
onnx_fn onnx_function;

#endif
