/* How PyTorch writes a layer: its module, and what is made of its inputs. */
#ifndef NETC_CODEGEN_TORCH_FORM_H
#define NETC_CODEGEN_TORCH_FORM_H

#include "sema/model/file_maps.h"
#include "codegen/backend.h"
#include "codegen/torch/code.h"
#include "ops/function.h"

/*
 * How the axes of a tensor lie. The batch is always in front; what netc calls
 * HxWxC is N, H, W, C with the channels last and N, C, H, W with them first.
 * A vector may be a map that was flattened with its channels first.
 */
enum torch_order { ORDER_LAST, ORDER_FIRST, ORDER_FLAT };

struct torch_seen {
  enum torch_order order;
  const struct shape *map; /* ORDER_FLAT: which */
  bool one;                /* its batch is 1: nothing but weights is in it */
  bool views;              /* it may share its memory with another tensor */
};

/* Classes and functions that a file brings along, as bits: helpers.def. */
enum helper {
#define HELPER(id, ...) HELPER_##id,
#include "codegen/torch/helpers.def"
#undef HELPER
  HELPER_COUNT
};

/* What the class of an attention is called. */
const char *attention_name(enum helper class);

struct torch_form {
  /* What there is. */
  struct arena *arena;
  const struct model *model;
  const int64_t *owner; /* by parameter of the model: the node that has it */
  const struct module_name *given; /* by node, or NULL */
  const struct layer *layer;
  enum layer_word word; /* its */
  const struct node *node;
  const struct file_maps *maps;
  int64_t index;               /* of the node */
  struct params params;        /* of the layer */
  const struct torch_seen *in; /* by input */
  bool in_place;               /* the input may be written over */

  /* What a form says; code and `out` are zero, and `out` like the input. */
  struct torch_code make; /* the module; empty: it has none of its own */
  struct torch_code call; /* the output */
  struct torch_seen out;
  int8_t joins;        /* `call` is a list, joined along this; 0: it is none */
  bool loose;          /* `call` is an operator's, which binds loosely */
  bool repeats;        /* `call` has an input twice: it must be a name */
  bool learned;        /* form_make_learned made it */
  unsigned helpers;    /* bits of enum helper */
  const char *refuses; /* why there is none */
};

/* Appends to what a form says. */
#define CALL(f, ...) code_format(&(f)->call, __VA_ARGS__)
#define MAKE(f, ...) code_format(&(f)->make, __VA_ARGS__)

struct form_kind {
  enum layer_word word; /* of the layer */
  const char *args;     /* the arguments that the form knows */
  void (*write)(struct torch_form *form);
};

/* NULL: PyTorch's form of that layer is not known. */
const struct form_kind *form_find(const char *layer);

/* Whether a form knows an argument of its layer. */
bool form_knows(const struct form_kind *kind, const char *arg);

/* The row of an argument. */
const struct arg_spec *form_spec(const struct torch_form *f, const char *arg);

/* Whether an argument is written. */
bool form_given(const struct torch_form *f, const char *arg);

/* Arguments by the names that `netc layers` prints. */
int64_t form_int(const struct torch_form *f, const char *arg);
double form_real(const struct torch_form *f, const char *arg);
int form_word(const struct torch_form *f, const char *arg);
const struct sizes *form_sizes(const struct torch_form *f, const char *arg);
const struct padding *form_padding(const struct torch_form *f, const char *arg);
const struct axes *form_axes(const struct torch_form *f, const char *arg);
const struct scale_by *form_scale_by(const struct torch_form *f,
                                     const char *arg);
const struct map_list *form_maps(const struct torch_form *f, const char *arg);
const struct range *form_range(const struct torch_form *f, const char *arg);

/* The parameter of that name; NULL: the layer has none. */
const struct param *form_param(const struct torch_form *f, const char *name);

/* That of the weights, whatever is computed of it first. */
const struct param *form_matrix(const struct torch_form *f);

/* What is around the module for that, torch.nn.utils.weight_norm, say; gives
 * what closes it and the module. */
const char *form_start_weights(struct torch_form *f);

/* The node whose module has the parameter of that number. */
int64_t form_owner(const struct torch_form *f, size_t param);

/* The node whose module the layer calls: its own, or that of `again`. */
int64_t form_module(const struct torch_form *f);

/*
 * Makes the one tensor of a layer, filled by the function `fill` of its sizes,
 * which are called by these hints: in a module of its own, or as a parameter
 * if that is what its name says.
 */
void form_make_learned(struct torch_form *f, const char *fill,
                       const char *const *hints);

/* Appends a parameter of a module, of its shape in netc. */
void form_parameter(const struct torch_form *f, struct torch_code *code,
                    size_t param);

/* Python's words for values. */
struct slice form_number(const struct torch_form *f, int64_t value);
struct slice form_decimal(const struct torch_form *f, double value);
struct slice form_truth(bool value);

/* 3 if all are equal, else (3, 2). */
struct slice form_tuple(const struct torch_form *f, const int64_t *values,
                        int count);

/* (3, 2), even of one: (3,) */
struct slice form_list(const struct torch_form *f, const int64_t *values,
                       int count);

#define LAST ((struct torch_seen){.order = ORDER_LAST})
#define FIRST ((struct torch_seen){.order = ORDER_FIRST})

/* An input with its axes in that order; `on`: to call a method of. */
const struct torch_code *form_in(const struct torch_form *f, int input,
                                 struct torch_seen order);
const struct torch_code *form_on(const struct torch_form *f, int input,
                                 struct torch_seen order);

/*
 * The order in which a layer that works value by value has to see its input:
 * `map` says which if that is not a vector. Weights of a vector lie as its file
 * has them.
 */
struct torch_seen form_by_value(const struct torch_form *f,
                                struct torch_seen map);

/* The order of a vector that a dense layer reads, or of what it gives. */
struct torch_seen form_dense_in(const struct torch_form *f);
struct torch_seen form_dense_out(const struct torch_form *f);

/* A map of one position or of one channel is flattened in one way only. */
bool form_flat_anyhow(const struct shape *map);

/* Appends what turns one order into another to a value of that shape. */
void form_turn(const struct torch_form *f, struct torch_code *code,
               const struct shape *shape, struct torch_seen from,
               struct torch_seen to);

/* Appends `.reshape(-1, 7, 7, 96)`: the batch, then these. */
void form_reshaped(struct torch_code *code, const int64_t *sizes, int count);

/* The dimension in PyTorch of an axis as netc counts them. */
int form_dim(const struct shape *shape, int axis, enum torch_order order);

/* (0, 1, 0, 1) for torch.nn.functional.pad: the last axis first. */
struct slice form_pads(const struct torch_form *f, const int64_t *before,
                       const int64_t *after, int axes);

#endif
