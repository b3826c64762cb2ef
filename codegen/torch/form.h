/* Form: the PyTorch code of a layer, with its module and its call. */
#ifndef NETC_CODEGEN_TORCH_FORM_H
#define NETC_CODEGEN_TORCH_FORM_H

#include "sema/model/file_maps.h"
#include "codegen/backend.h"
#include "codegen/torch/code.h"
#include "ops/function.h"

/*
 * The order of a tensor's axes. The batch is always first; HxWxC in netc is N,
 * H, W, C with channels last and N, C, H, W with channels first. A vector may
 * be a map that was flattened with channels first.
 */
enum torch_order { ORDER_LAST, ORDER_FIRST, ORDER_FLAT };

struct torch_seen {
  enum torch_order order;
  const struct shape *map; /* ORDER_FLAT: the map */
  bool one;                /* its batch is 1: it depends on weights alone */
  bool table;              /* it is `one`, and rows by distance */
  bool views; /* it may share memory with another tensor that is read */
};

/* Classes and functions that an output file includes, as bits: helpers.def. */
enum helper {
#define HELPER(id, ...) HELPER_##id,
#include "codegen/torch/helpers.def"
#undef HELPER
  HELPER_COUNT
};
#define HELPER_BIT UINT64_C(1)
_Static_assert(HELPER_COUNT <= 64, "a bit for each helper");

/* The name of an attention class. */
const char *attention_name(enum helper class);

struct torch_form {
  /* Inputs of a form. */
  struct arena *arena;
  const struct model *model;
  const int64_t *owner; /* by parameter of the model: the node that owns it */
  const struct module_name *given; /* by node, or NULL */
  const struct layer *layer;
  enum layer_word word; /* its word */
  const struct node *node;
  const struct file_maps *maps;
  int64_t index;               /* of the node */
  struct params params;        /* of the layer */
  const struct torch_seen *in; /* by input */
  bool in_place;               /* the first input may be overwritten */
  bool alone;                  /* nothing else reads the first input */
  bool naive; /* attention that names no kernel stores its scores */

  /* Results of a form; at first no code, and `out` like the input. */
  struct torch_code make; /* the module; empty: no module of its own */
  struct torch_code call; /* the output */
  struct torch_seen out;
  int8_t joins;        /* `call` is a list to join on this axis; 0: none */
  bool loose;          /* `call` may need parentheses */
  bool repeats;        /* `call` needs an input twice, so as a name */
  bool adds;           /* `call`, a sum, may overwrite the first input */
  const char *refused; /* the word that `refuses` ends with; or NULL */
  bool learned;        /* form_make_learned made it */
  uint64_t helpers;    /* bits of enum helper */
  bool opens, closes;  /* `call` begins or ends the loop of experts */
  const char *refuses; /* why there is no form, or NULL */
};

/* Append to the results of a form. */
#define CALL(f, ...) code_format(&(f)->call, __VA_ARGS__)
#define MAKE(f, ...) code_format(&(f)->make, __VA_ARGS__)

struct form_kind {
  enum layer_word word; /* of the layer */
  const char *args;     /* the arguments that the form knows */
  void (*write)(struct torch_form *form);
};

/* NULL: the PyTorch form of the layer is not known. */
const struct form_kind *form_find(const char *layer);

/* True if a form knows an argument of its layer. */
bool form_knows(const struct form_kind *kind, const char *arg);

/* The spec of an argument. */
const struct arg_spec *form_spec(const struct torch_form *f, const char *arg);

/* True if the source gives an argument. */
bool form_given(const struct torch_form *f, const char *arg);

/* Arguments by their names in `netc layers`. */
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

/* The parameter of that name, or NULL. */
const struct param *form_param(const struct torch_form *f, const char *name);

/* The parameter of the weights, even if others are computed from it. */
const struct param *form_matrix(const struct torch_form *f);

/* Begins a wrapper for computed weights, such as torch.nn.utils.weight_norm;
 * returns the end of wrapper and module. */
const char *form_start_weights(struct torch_form *f);

/* The node that owns a parameter of the model. */
int64_t form_owner(const struct torch_form *f, size_t param);

/* The node whose module the layer calls: its own, or that of `again`. */
int64_t form_module(const struct torch_form *f);

/*
 * Makes the single tensor of a layer by a function `fill` of its sizes, named
 * by `hints`: in a module, or as a parameter if its given name says so.
 */
void form_make_learned(struct torch_form *f, const char *fill,
                       const char *const *hints);

/* Appends a parameter of the module in its shape in netc. */
void form_parameter(const struct torch_form *f, struct torch_code *code,
                    size_t param);

/* Values in Python's notation. */
struct slice form_number(const struct torch_form *f, int64_t value);
struct slice form_decimal(const struct torch_form *f, double value);
struct slice form_truth(bool value);

/* 3 if all are equal, else (3, 2). */
struct slice form_tuple(const struct torch_form *f, const int64_t *values,
                        int count);

/* (3, 2); with one value (3,). */
struct slice form_list(const struct torch_form *f, const int64_t *values,
                       int count);

#define LAST ((struct torch_seen){.order = ORDER_LAST})
#define FIRST ((struct torch_seen){.order = ORDER_FIRST})

/* An input in that order of axes; `form_on` is for calling a method on it. */
const struct torch_code *form_in(const struct torch_form *f, int input,
                                 struct torch_seen order);
const struct torch_code *form_on(const struct torch_form *f, int input,
                                 struct torch_seen order);

/*
 * The order that a layer by values needs. `map` is for other than vectors;
 * weights of a vector have their file's order.
 */
struct torch_seen form_by_value(const struct torch_form *f,
                                struct torch_seen map);

/* The order of a vector that a dense layer reads, or of its output. */
struct torch_seen form_dense_in(const struct torch_form *f);
struct torch_seen form_dense_out(const struct torch_form *f);

/* True for a map of one position or one channel, which has only one flat
 * order. */
bool form_flat_anyhow(const struct shape *map);

/* Appends the conversion of a value of that shape from one order to another. */
void form_turn(const struct torch_form *f, struct torch_code *code,
               const struct shape *shape, struct torch_seen from,
               struct torch_seen to);

/* Appends `.reshape(-1, 7, 7, 96)`: the batch, then the sizes. */
void form_reshaped(struct torch_code *code, const int64_t *sizes, int count);

/* PyTorch's dimension of an axis that is numbered as in netc. */
int form_dim(const struct shape *shape, int axis, enum torch_order order);

/* (0, 1, 0, 1) for torch.nn.functional.pad: the last axis first. */
struct slice form_pads(const struct torch_form *f, const int64_t *before,
                       const int64_t *after, int axes);

#endif
