/* Common functions of forms: arguments, values, the order of axes. */
#include "codegen/torch/form.h"

#include <assert.h>

#define PART LAYER(part, PART, "", part, "part")
#define ROUTER                      \
  LAYER(router, ROUTER, "", router, \
        "experts top latent capacity scores norm bias scale")

#define LAYER(id, WORD, plain, form, args) \
  void form_##form(struct torch_form *f);
PART ROUTER
#include "ops/ops.def"

#define form_refused NULL
    static const struct form_kind kinds[] = {
#define LAYER(id, WORD, plain, form, args) {WORD_##WORD, args, form_##form},
        PART ROUTER
#include "ops/ops.def"
};

const struct form_kind *form_find(const char *layer) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(word_name(kinds[i].word), layer) == 0)
      return kinds[i].write ? &kinds[i] : NULL;
  return NULL;
}

bool form_knows(const struct form_kind *kind, const char *arg) {
  return word_index(kind->args, slice_of(arg)) > 0;
}

/* Arguments */

const struct arg_spec *form_spec(const struct torch_form *f, const char *arg) {
  const struct arg_spec *spec = f->layer->kind->specs;
  while (spec && spec->name && strcmp(spec->name, arg) != 0)
    spec++;
  assert(spec && spec->name);
  return spec;
}

bool form_given(const struct torch_form *f, const char *arg) {
  return f->node->given >> (form_spec(f, arg) - f->layer->kind->specs) & 1;
}

static const void *value_of(const struct torch_form *f,
                            const struct arg_spec *spec) {
  return (const char *)f->layer->args + spec->offset;
}

static const void *find(const struct torch_form *f, const char *arg,
                        enum arg_type type) {
  const struct arg_spec *spec = form_spec(f, arg);
  assert(spec->type == type);
  (void)type;
  return value_of(f, spec);
}

int64_t form_int(const struct torch_form *f, const char *arg) {
  return *(const int64_t *)find(f, arg, TYPE_INT);
}

double form_real(const struct torch_form *f, const char *arg) {
  return *(const double *)find(f, arg, TYPE_REAL);
}

int form_word(const struct torch_form *f, const char *arg) {
  return *(const int *)value_of(f, form_spec(f, arg));
}

const struct sizes *form_sizes(const struct torch_form *f, const char *arg) {
  return find(f, arg, TYPE_SIZES);
}

const struct padding *form_padding(const struct torch_form *f,
                                   const char *arg) {
  return find(f, arg, TYPE_PADDING);
}

const struct axes *form_axes(const struct torch_form *f, const char *arg) {
  return value_of(f, form_spec(f, arg));
}

const struct scale_by *form_scale_by(const struct torch_form *f,
                                     const char *arg) {
  return find(f, arg, TYPE_SCALE);
}

const struct map_list *form_maps(const struct torch_form *f, const char *arg) {
  return find(f, arg, TYPE_MAPS);
}

const struct range *form_range(const struct torch_form *f, const char *arg) {
  return find(f, arg, TYPE_RANGE);
}

/* Parameters */

const struct param *form_param(const struct torch_form *f, const char *name) {
  for (size_t i = 0; i < f->params.all.count; i++)
    if (strcmp(f->params.all.at[i].name, name) == 0)
      return &f->params.all.at[i];
  return NULL;
}

const struct param *form_matrix(const struct torch_form *f) {
  static const char *const names[] = {"weight", "weight_orig", "weight_v"};
  const struct param *weight = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !weight; i++)
    weight = form_param(f, names[i]);
  return weight;
}

const char *form_start_weights(struct torch_form *f) {
  switch (form_matrix(f)->computed) {
  case WEIGHTS_WNORM:
    MAKE(f, "weight_norm(");
    f->helpers |= HELPER_BIT << HELPER_weight_norm;
    return "))";
  case WEIGHTS_SPECTRAL: MAKE(f, "nn.utils.spectral_norm("); return "))";
  case WEIGHTS_WS:
    MAKE(f, "standardised(");
    f->helpers |= HELPER_BIT << HELPER_standardised;
    return form_param(f, "gain") ? "), gain=True)" : "))";
  default: return ")";
  }
}

int64_t form_owner(const struct torch_form *f, size_t param) {
  return f->owner[f->model->params.at[f->node->first_param + param].same];
}

int64_t form_module(const struct torch_form *f) {
  return f->node->param_count ? form_owner(f, 0) : f->index;
}

static const struct module_name *alone(const struct torch_form *f,
                                       int64_t node) {
  return f->given && f->given[node].alone ? &f->given[node] : NULL;
}

/* 96, 1, 1: PyTorch's shape may have more or fewer axes of 1. */
static void make_sizes(struct torch_form *f, const struct module_name *name,
                       const char *const *hints) {
  const struct param *param = &f->params.all.at[0];
  int own = 0;
  if (param->rank == 0)
    MAKE(f, "()");
  for (int i = 0; i < (name ? name->shape.rank : param->rank); i++) {
    MAKE(f, i ? ", " : "");
    if (name && name->shape.dims[i] == 1) {
      MAKE(f, "1");
      continue;
    }
    while (name && param->dim[own] == 1)
      own++;
    MAKE(f, "%i", hints[own], param->dim[own]);
    own++;
  }
}

void form_make_learned(struct torch_form *f, const char *fill,
                       const char *const *hints) {
  const struct module_name *name = alone(f, f->index);
  f->learned = true;
  if (!name)
    f->helpers |= HELPER_BIT << HELPER_Learned;
  MAKE(f, name ? "nn.Parameter(%s(" : "Learned(weight=%s(", fill);
  make_sizes(f, name, hints);
  MAKE(f, "))");
}

static bool same_sizes(const struct param *param,
                       const struct netc_tensor_shape *shape) {
  return param->rank == shape->rank &&
         memcmp(param->dim, shape->dims,
                (size_t)shape->rank * sizeof *shape->dims) == 0;
}

void form_parameter(const struct torch_form *f, struct torch_code *code,
                    size_t number) {
  const struct param *param = &f->params.all.at[number];
  int64_t owner = form_owner(f, number);
  const struct module_name *name = alone(f, owner);
  code_format(code, name ? "%m" : "%m.%s", owner, param->name);
  if (!name || same_sizes(param, &name->shape))
    return;
  if (param->rank == 1)
    code_format(code, ".flatten()");
  else
    code_format(code, ".view%S", form_list(f, param->dim, param->rank));
}

/* Values */

struct slice form_number(const struct torch_form *f, int64_t value) {
  struct text text = text_new(f->arena);
  text_int(&text, value);
  return text_slice(&text);
}

struct slice form_decimal(const struct torch_form *f, double value) {
  struct text text = text_new(f->arena);
  text_real(&text, value);
  return text_slice(&text);
}

struct slice form_truth(bool value) {
  return slice_of(value ? "True" : "False");
}

struct slice form_list(const struct torch_form *f, const int64_t *values,
                       int count) {
  struct text text = text_new(f->arena);
  if (count == 0)
    return slice_of("()");
  for (int i = 0; i < count; i++) {
    text_put(&text, i ? ", " : "(");
    text_int(&text, values[i]);
  }
  text_put(&text, count == 1 ? ",)" : ")");
  return text_slice(&text);
}

struct slice form_tuple(const struct torch_form *f, const int64_t *values,
                        int count) {
  bool equal = true;
  for (int i = 1; i < count; i++)
    equal = equal && values[i] == values[0];
  return equal ? form_number(f, values[0]) : form_list(f, values, count);
}

struct slice form_pads(const struct torch_form *f, const int64_t *before,
                       const int64_t *after, int axes) {
  int64_t pads[2 * LIMIT_RANK];
  for (int i = 0; i < axes; i++) {
    pads[2 * i] = before[axes - 1 - i];
    pads[2 * i + 1] = after[axes - 1 - i];
  }
  return form_list(f, pads, 2 * axes);
}

void form_reshaped(struct torch_code *code, const int64_t *sizes, int count) {
  code_format(code, ".reshape(-1");
  for (int i = 0; i < count; i++)
    code_format(code, ", %i", "size", sizes[i]);
  code_format(code, ")");
}

/* Axes */

int form_dim(const struct shape *shape, int axis, enum torch_order order) {
  if (order != ORDER_FIRST || shape->rank == 1)
    return axis + 1;
  return axis == shape->rank - 1 ? 1 : axis + 2;
}

bool form_flat_anyhow(const struct shape *map) {
  int64_t values = shape_values(map);
  return shape_channels(map) == values || shape_channels(map) == 1;
}

/* The sizes of a map in its order: (3, 224, 224). */
static struct slice lying(const struct torch_form *f, const struct shape *map,
                          bool first) {
  int64_t sizes[LIMIT_RANK];
  int at = 0;
  if (first)
    sizes[at++] = shape_channels(map);
  for (int i = 0; i < map->rank - first; i++)
    sizes[at++] = map->dim[i];
  return form_list(f, sizes, map->rank);
}

/* Changes the order of a flattened map. */
static void turn_vector(const struct torch_form *f, struct torch_code *code,
                        const struct shape *map, bool to_last) {
  if (form_flat_anyhow(map))
    return;
  code_format(code, ".unflatten(1, %v).movedim(%s).flatten(1)", "shape",
              lying(f, map, to_last), to_last ? "1, -1" : "-1, 1");
}

static void turn_map(struct torch_code *code, const struct shape *shape,
                     bool to_last) {
  if (shape->rank == 2)
    code_format(code, ".transpose(1, 2)");
  else
    code_format(code, to_last ? ".movedim(1, -1)" : ".movedim(-1, 1)");
}

void form_turn(const struct torch_form *f, struct torch_code *code,
               const struct shape *shape, struct torch_seen from,
               struct torch_seen to) {
  if (shape->rank == 1 && from.order == ORDER_FLAT && to.order == ORDER_FLAT &&
      shape_equal(from.map, to.map))
    return;
  if (shape->rank == 1) {
    if (from.order == ORDER_FLAT)
      turn_vector(f, code, from.map, true);
    if (to.order == ORDER_FLAT)
      turn_vector(f, code, to.map, false);
  } else if (from.order != to.order) {
    turn_map(code, shape, to.order == ORDER_LAST);
  }
}

static const struct torch_code *input(const struct torch_form *f, int number,
                                      struct torch_seen wanted, bool receiver) {
  struct torch_code *code = ARENA_NEW(f->arena, struct torch_code);
  struct torch_code turn = code_new(f->arena);
  *code = code_new(f->arena);
  form_turn(f, &turn, f->layer->in[number], f->in[number], wanted);
  code_format(code, code_is_empty(&turn) && !receiver ? "%x" : "%r", number);
  code_append(code, &turn);
  return code;
}

const struct torch_code *form_in(const struct torch_form *f, int number,
                                 struct torch_seen order) {
  return input(f, number, order, false);
}

const struct torch_code *form_on(const struct torch_form *f, int number,
                                 struct torch_seen order) {
  return input(f, number, order, true);
}

static struct torch_seen flat(const struct shape *map) {
  return map && !form_flat_anyhow(map)
             ? (struct torch_seen){.order = ORDER_FLAT, .map = map}
             : LAST;
}

struct torch_seen form_by_value(const struct torch_form *f,
                                struct torch_seen map) {
  const struct shape *vector = f->maps->vector[f->index];
  if (f->layer->in[0]->rank > 1)
    return map;
  return flat(vector ? vector : f->maps->becoming[f->index]);
}

struct torch_seen form_dense_in(const struct torch_form *f) {
  int64_t from = node_input(f->model, f->node, 0);
  const struct shape *in = f->layer->in[0];
  if (in->rank == 1)
    return flat(f->maps->vector[from]);
  return flat(f->maps->channels_first[from] ? in : NULL);
}

struct torch_seen form_dense_out(const struct torch_form *f) {
  return f->layer->out.rank == 1 ? flat(f->maps->becoming[f->index]) : LAST;
}
