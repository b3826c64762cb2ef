/* Model: the graph of layers that a source describes, by indices. */
#include "sema/model/model.h"

#include "sema/model/settings.h"

/* The argument of an input is its shape. */
static bool input_shape(struct layer *layer) {
  layer->out = *(const struct shape *)layer->args;
  return true;
}

const struct layer_kind model_input_kind = {
    .name = "input",
    .summary = "an input of the net",
    .args_size = sizeof(struct shape),
    .source = true,
    .shape = input_shape,
};

struct layer model_layer(const struct model *model, int64_t index,
                         const struct shape **in) {
  const struct node *node = &model->nodes.at[index];
  for (int i = 0; i < node->input_count; i++)
    in[i] = model->nodes.at[node_input(model, node, i)].out;
  return (struct layer){.kind = node->kind,
                        .args = node->args,
                        .input_count = node->input_count,
                        .in = in,
                        .out = *node->out,
                        .copies = node->copies};
}

const struct shape **model_layer_room(const struct model *model) {
  return arena_alloc(model->arena, (size_t)model->most_inputs + 1,
                     sizeof(const struct shape *));
}

size_t model_params_alike(const struct model *model, size_t first, size_t end) {
  const struct model_param *a = &model->params.at[first], *b = a + 1;
  size_t count = 1;
  for (; first + count < end && !a->shared; count++, b++)
    if (b->count != a->count || b->matrix != a->matrix || b->rank != a->rank ||
        b->buffer != a->buffer || b->fixed != a->fixed ||
        b->train_only != a->train_only || b->element != a->element || b->shared)
      break;
  return count;
}

bool model_has_experts(const struct model *model) {
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].copies > 1)
      return true;
  return false;
}

int64_t model_other_type(const struct model *model, int element) {
  for (size_t i = 0; model->typed && i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    if (node->dtype && node->dtype != element)
      return (int64_t)i;
    for (int k = 0; k < node->param_count; k++)
      if (param_element(&model->params.at[node->first_param + (size_t)k],
                        element) != element)
        return (int64_t)i;
  }
  return NO_NODE;
}

/* Names */

static void put_stem(struct text *out, const struct node_name *name) {
  text_puts(out, name_text(name));
  if (name->repeated)
    text_putc(out, '_');
}

void name_put(struct text *out, const struct node_name *name) {
  put_stem(out, name);
  if (name->ordinal)
    text_int(out, name->ordinal);
}

static void put_prefix(struct text *out, const struct model *model,
                       int64_t group) {
  if (group <= 0)
    return;
  model_put_group_name(out, model, group);
  text_putc(out, '.');
}

void model_put_group_name(struct text *out, const struct model *model,
                          int64_t group) {
  put_prefix(out, model, model->groups.at[group].parent);
  name_put(out, &model->groups.at[group].name);
}

void model_put_stem(struct text *out, const struct model *model,
                    int64_t index) {
  const struct node *node = &model->nodes.at[index];
  if (node->head != index) {
    model_put_name(out, model, node->head);
    text_putc(out, '.');
  } else {
    put_prefix(out, model, node->group);
  }
  put_stem(out, &node->name);
}

void model_put_name(struct text *out, const struct model *model,
                    int64_t index) {
  const struct node *node = &model->nodes.at[index];
  model_put_stem(out, model, index);
  if (node->name.ordinal)
    text_int(out, node->name.ordinal);
}

/* Layers as text, with values in place of names */

static void put_sizes(struct text *out, const struct sizes *at,
                      const struct sizes *to) {
  bool pairs = false, negative = false;
  for (int i = 0; i < at->rank; i++) {
    pairs = pairs || at->at[i] != to->at[i];
    negative = negative || at->at[i] < 0;
  }
  for (int i = 0; i < at->rank; i++) {
    if (i)
      text_put(out, negative ? " x " : "x"); /* 1x-1 would not be parsed */
    text_int(out, at->at[i]);
    if (pairs) {
      text_putc(out, ':');
      text_int(out, to->at[i]);
    }
  }
}

void model_put_size(struct text *out, int64_t size) {
  if (size == SIZE_ANY)
    text_putc(out, '_');
  else
    text_int(out, size);
}

/* Puts `key` before numbers where words are expected, and before `c` if it
 * could be a label. */
static void put_axes(struct text *out, const struct axes *axes, const char *key,
                     bool letters, const char *between) {
  for (int i = 0; i < axes->count; i++) {
    if (i)
      text_put(out, between);
    if (key && (letters || axes->at[i] < AXIS_C))
      text_printf(out, "%s=", key);
    switch (axes->at[i]) {
    case AXIS_C: text_putc(out, 'c'); break;
    case AXIS_W: text_putc(out, 'w'); break;
    case AXIS_H: text_putc(out, 'h'); break;
    case AXIS_D: text_putc(out, 'd'); break;
    case AXIS_LENGTH: text_putc(out, 'l'); break;
    default: text_int(out, axes->at[i]);
    }
  }
}

static void put_numbers(struct text *out, const struct numbers *numbers) {
  for (int i = 0; i < numbers->count; i++) {
    if (i)
      text_putc(out, ' ');
    text_int(out, numbers->at[i]);
  }
}

static void put_maps(struct text *out, const struct map_list *maps,
                     const char *between) {
  for (int i = 0; i < maps->count; i++) {
    text_put(out, i ? between : "");
    put_sizes(out, &maps->at[i], &maps->at[i]);
  }
}

static const char *axes_key(const struct arg_spec *spec) {
  return spec->place == PLACE_WORD ? spec->name : NULL;
}

/* Prints a number, or the word for it. */
static void put_int(struct text *out, const struct arg_spec *spec,
                    int64_t value) {
  if (spec->words && value < 0)
    text_puts(out, word_at(spec->words, (int)-value));
  else
    text_int(out, value);
}

/* Prints 50, not 5e+01. */
static void put_real(struct text *out, double value) {
  if (value >= 0 && value < 1e15 && (double)(int64_t)value == value)
    text_int(out, (int64_t)value);
  else
    text_real(out, value);
}

static void put_value(struct text *out, const struct arg_spec *spec,
                      const void *at, const struct slice *labels) {
  const struct layer_ref *ref = at;
  const struct padding *pad = at;
  const struct scale_by *scale = at;
  const struct shape *shape = at;
  const struct range *range = at;
  switch (spec->type) {
  case TYPE_INT: put_int(out, spec, *(const int64_t *)at); break;
  case TYPE_DECIMAL: text_millionths(out, *(const int64_t *)at); break;
  case TYPE_REAL: put_real(out, *(const double *)at); break;
  case TYPE_SIZES: put_sizes(out, at, at); break;
  case TYPE_SCALE:
    if (scale->real > 0)
      text_real(out, scale->real);
    else
      put_sizes(out, &scale->whole, &scale->whole);
    break;
  case TYPE_PADDING:
    if (pad->mode == PADDING_TF)
      text_put(out, "tf");
    else
      put_sizes(out, &pad->before, &pad->after);
    break;
  case TYPE_SHAPE:
    for (int i = 0; i < shape->rank; i++) {
      if (i)
        text_putc(out, 'x');
      model_put_size(out, shape->dim[i]);
    }
    break;
  case TYPE_RANGE:
    model_put_size(out, range->from);
    text_putc(out, ':');
    model_put_size(out, range->to);
    break;
  case TYPE_AXIS:
  case TYPE_AXES: put_axes(out, at, axes_key(spec), labels, " "); break;
  case TYPE_NUMBERS: put_numbers(out, at); break;
  case TYPE_MAPS: put_maps(out, at, " "); break;
  case TYPE_WORDS:
  case TYPE_CHOICE:
    text_puts(out, word_at(spec->words, *(const int *)at));
    break;
  case TYPE_BIAS:
    text_puts(out, word_at(spec->words, (int)*(const enum bias *)at));
    break;
  case TYPE_LAYER:
  case TYPE_INPUT:
    text_puts(out, labels ? labels[ref->node] : ref->name);
    break;
  }
}

/* True for `/1` if 1 is the default. */
static bool is_unit_step(const struct arg_spec *spec, const void *at) {
  const struct sizes *sizes = at;
  return spec->place == PLACE_STRIDE && strcmp(spec->fallback, "1") == 0 &&
         sizes->rank == 1 && sizes->at[0] == 1;
}

static void put_arg(struct text *out, const struct arg_spec *spec,
                    const void *at, const struct slice *labels) {
  bool word = spec->place == PLACE_WORD;
  if (spec->place == PLACE_STRIDE)
    text_putc(out, '/');
  if (spec->place == PLACE_KEY)
    text_put(out, spec->name);
  if (spec->type == TYPE_PADDING &&
      ((const struct padding *)at)->mode == PADDING_SAME)
    return; /* only `pad` */
  if (spec->place == PLACE_KEY)
    text_putc(out, '=');
  if (word && spec->type == TYPE_WORDS && *(const int *)at == 0)
    text_printf(out, "%s=false", spec->name);
  else
    put_value(out, spec, at, labels);
}

/* True if a row has frozen parameters. */
static bool freezes_row(const struct model *model, int64_t index) {
  const struct node *node = &model->nodes.at[index];
  bool params = false;
  if (!node->frozen || node->head != index)
    return false;
  for (int64_t i = index; i < model_row_end(model, index) && !params; i++)
    params = model->nodes.at[i].param_count > 0;
  return params;
}

void model_put_argument(struct text *out, const struct model *model,
                        int64_t node, const struct arg_spec *spec) {
  put_arg(out, spec, (const char *)model->nodes.at[node].args + spec->offset,
          NULL);
}

static void put_layer(struct text *out, const struct model *model,
                      int64_t index, const struct slice *labels, bool common) {
  const struct node *node = &model->nodes.at[index];
  text_put(out, node->kind->name);
  for (int i = 0; node->kind->specs && node->kind->specs[i].name; i++) {
    const struct arg_spec *spec = &node->kind->specs[i];
    const void *at = (const char *)node->args + spec->offset;
    if (!(node->given >> i & 1) || is_unit_step(spec, at) ||
        (common && spec->varies))
      continue;
    text_putc(out, ' ');
    put_arg(out, spec, at, labels);
  }
  if (freezes_row(model, index))
    text_put(out, " frozen");
  if (node->inplace && node->head == index)
    text_put(out, node->inplace == TOGGLE_ON ? " inplace=on" : " inplace=off");
  if (node->dtype && node->head == index)
    text_printf(out, " dtype=%s", element_word(node->dtype));
}

void model_put_layer(struct text *out, const struct model *model, int64_t index,
                     const struct slice *labels) {
  put_layer(out, model, index, labels, false);
}

bool model_may_vary(const struct layer_kind *kind) {
  const struct arg_spec *spec = kind->specs;
  while (spec && spec->name && !spec->varies)
    spec++;
  return spec && spec->name;
}

bool model_put_alike(const struct model *model, int64_t a, int64_t b) {
  const struct node *x = &model->nodes.at[a], *y = &model->nodes.at[b];
  return x->kind == y->kind && x->given == y->given &&
         x->inplace == y->inplace && x->dtype == y->dtype &&
         (x->head == a) == (y->head == b) &&
         freezes_row(model, a) == freezes_row(model, b) &&
         (x->args == y->args ||
          memcmp(x->args, y->args, x->kind->args_size) == 0);
}

/* 3 and 3x3 are the same window of a map; so are no sizes and 1. */
static bool same_sizes(const struct sizes *a, const struct sizes *b) {
  int axes = a->rank > b->rank ? a->rank : b->rank;
  for (int i = 0; i < axes; i++) {
    int64_t x = a->rank == 0 ? 1 : a->at[a->rank == 1 ? 0 : i];
    int64_t y = b->rank == 0 ? 1 : b->at[b->rank == 1 ? 0 : i];
    if (x != y)
      return false;
  }
  return true;
}

bool model_same_window(const struct model *model, int64_t a, int64_t b,
                       const struct arg_spec *spec) {
  const void *x = (const char *)model->nodes.at[a].args + spec->offset;
  const void *y = (const char *)model->nodes.at[b].args + spec->offset;
  const struct scale_by *by = x, *other = y;
  if (spec->type == TYPE_SIZES)
    return same_sizes(x, y);
  if (spec->type == TYPE_SCALE)
    return same_sizes(&by->whole, &other->whole) && by->real == other->real;
  if (spec->type == TYPE_INT && strcmp(spec->name, "groups") == 0)
    return *(const int64_t *)x == *(const int64_t *)y;
  return true;
}

/* In parentheses a stride has its name, and commas separate axes. */
static void put_item(struct text *out, const struct arg_spec *spec,
                     const void *at, const struct slice *labels) {
  if (spec->type == TYPE_AXES) {
    put_axes(out, at, axes_key(spec), labels, ", ");
  } else if (spec->type == TYPE_MAPS) {
    put_maps(out, at, ", ");
  } else if (spec->place == PLACE_STRIDE) {
    text_printf(out, "%s=", spec->name);
    put_value(out, spec, at, labels);
  } else {
    put_arg(out, spec, at, labels);
  }
}

static void put_tail(struct text *out, const struct model *model, int64_t index,
                     const struct slice *labels, bool common) {
  const struct node *node = &model->nodes.at[index];
  const char *before = "(";
  text_put(out, node->kind->name);
  for (int i = 0; node->kind->specs && node->kind->specs[i].name; i++) {
    const struct arg_spec *spec = &node->kind->specs[i];
    if (!(node->given >> i & 1) || (common && spec->varies))
      continue;
    text_put(out, before);
    put_item(out, spec, (const char *)node->args + spec->offset, labels);
    before = ", ";
  }
  if (*before == ',')
    text_putc(out, ')');
}

void model_put_tail(struct text *out, const struct model *model, int64_t index,
                    const struct slice *labels) {
  put_tail(out, model, index, labels, false);
}

void model_put_common(struct text *out, const struct model *model,
                      int64_t index, bool tail) {
  if (tail)
    put_tail(out, model, index, NULL, true);
  else
    put_layer(out, model, index, NULL, true);
}

void model_put_value(struct text *out, const struct arg_spec *spec,
                     const void *at) {
  if (spec->type == TYPE_PADDING &&
      ((const struct padding *)at)->mode == PADDING_SAME)
    text_put(out, "same");
  else if (spec->type == TYPE_WORDS && *(const int *)at == 0)
    text_put(out, "false");
  else
    put_value(out, spec, at, NULL);
}

int64_t model_row_end(const struct model *model, int64_t head) {
  int64_t end = head + 1;
  while (end < (int64_t)model->nodes.count && model->nodes.at[end].head == head)
    end++;
  return end;
}
