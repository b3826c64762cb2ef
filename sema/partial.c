/*
 * Partial models: shapes that are known in spite of an error. If an argument or
 * an input of a layer is unknown, its shape rule is tried with several values.
 * A size that is equal in all trials does not depend on the unknown one. Sizes
 * that differ are SIZE_UNKNOWN; a shape whose rank differs has rank 0. These
 * models are only for callers of netc_partial(). No guess is ever reported as
 * an error.
 */
#include "sema/statements.h"

enum {
  LIMIT_GUESSES = 400000, /* calls of shape rules per net */
  MOST_TRIED = 16,        /* inputs of a layer that is tried */
};

/* Stand-ins for an unknown size: most sizes divide the first. */
static const int64_t stand_ins[] = {40320, 20160, 48, 24};
enum { STAND_INS = sizeof stand_ins / sizeof *stand_ins };

/* Sizes that an unknown input is assumed to share with the others. */
enum guess_like { LIKE_NONE, LIKE_PLACES, LIKE_CHANNELS, LIKE_ALL, LIKENESSES };

struct guess {
  struct expander *e;
  const struct binding *b;
  struct layer layer; /* with the arguments that are tried */
  const struct layer *asked;
  void *args;
  struct diags quiet;
  struct layer_site site;
  struct shape in[MOST_TRIED];
  const struct shape *at[MOST_TRIED];
  struct shape found; /* common to all trials */
  int successes;
};

/* Arguments */

static int64_t within(const struct arg_spec *spec, int64_t value) {
  if (value < spec->min)
    value = spec->min;
  return spec->max && value > spec->max ? spec->max : value;
}

/* Stores the next value to try; false if there are no more. */
static bool vary(const struct arg_spec *spec, void *at, int which) {
  static const int64_t counts[] = {40320, 20160, 1, 2, 3, 4, 8};
  static const int64_t windows[] = {3, 1, 2, 5, 7};
  static const int64_t letters[] = {AXIS_C, 0, 1, 2};
  static const struct padding paddings[] = {{.mode = PADDING_NONE},
                                            {.mode = PADDING_SAME},
                                            {PADDING_GIVEN, {1, {1}}, {1, {1}}},
                                            {PADDING_GIVEN, {1, {2}}, {1, {2}}},
                                            {PADDING_GIVEN, {1, {3}}, {1, {3}}},
                                            {.mode = PADDING_TF}};
  size_t i = (size_t)which;
  switch (spec->type) {
  case TYPE_INT:
    if (i >= sizeof counts / sizeof *counts)
      return false;
    *(int64_t *)at = within(spec, counts[i]);
    return true;
  case TYPE_SIZES:
  case TYPE_SCALE: /* the whole number comes first */
    if (i >= sizeof windows / sizeof *windows)
      return false;
    *(struct sizes *)at = (struct sizes){1, {within(spec, windows[i])}};
    return true;
  case TYPE_PADDING:
    if (i >= sizeof paddings / sizeof *paddings)
      return false;
    *(struct padding *)at = paddings[i];
    return true;
  case TYPE_AXIS:
  case TYPE_AXES:
    if (i >= sizeof letters / sizeof *letters)
      return false;
    *(struct axes *)at = (struct axes){1, {letters[i]}};
    return true;
  case TYPE_NUMBERS:
    if (i >= 3)
      return false;
    *(struct numbers *)at = (struct numbers){1, {which + 1}};
    return true;
  case TYPE_MAPS:
    if (i >= sizeof windows / sizeof *windows)
      return false;
    *(struct map_list *)at = (struct map_list){1, {{1, {windows[i]}}}};
    return true;
  case TYPE_WORDS:
  case TYPE_CHOICE:
    if (!word_at(spec->words, which + 1).length)
      return false;
    *(int *)at = which + 1;
    return true;
  default: return false;
  }
}

static bool is_given(const struct binding *b, int row) {
  return b->given >> row & 1 && !(b->doubtful >> row & 1);
}

/* True if a positional value is missing, so that others may be shifted. */
static bool is_shifted(const struct binding *b) {
  for (int i = 0; b->specs[i].name; i++)
    if (b->failed && b->specs[i].required && !(b->given >> i & 1) &&
        b->specs[i].place == PLACE_POSITION)
      return true;
  return false;
}

/* True if the argument needs a value and it is unknown. */
static bool is_open(const struct binding *b, int row) {
  return b->doubtful >> row & 1 ||
         (b->failed && b->specs[row].required && !is_given(b, row)) ||
         (b->specs[row].place == PLACE_POSITION && is_shifted(b));
}

/* True if an argument matched no row, so that any row may be meant. */
static bool is_astray(const struct binding *b) {
  return b->failed && !b->poisoned;
}

/* True if everything the rule reads is present, and known if it cannot be
 * guessed. */
static bool may_try(const struct binding *b, const struct layer *layer) {
  if (layer->input_count > MOST_TRIED || layer->kind->source ||
      (layer->kind->join && layer->input_count == 0))
    return false;
  for (int i = 0; i < layer->input_count; i++)
    if (layer->in[i]->rank == 0 && layer->input_count == 1 &&
        !layer->kind->specs)
      return false;
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    const struct layer_ref *ref = (void *)((char *)b->args + spec->offset);
    bool open = is_open(b, i);
    if (open && (spec->type == TYPE_SHAPE || spec->type == TYPE_RANGE))
      return false;
    if (spec->type == TYPE_INPUT && ref->node == NO_NODE &&
        (spec->required || b->given >> i & 1))
      return false;
    if (spec->type != TYPE_LAYER || ref->node == NO_NODE || !ref->layer)
      continue;
    if (!shape_is_known(&ref->layer->out))
      return false;
    for (int k = 0; k < ref->layer->input_count; k++)
      if (!shape_is_known(ref->layer->in[k]))
        return false;
  }
  return true;
}

/* Trials */

static void agree(struct guess *g, const struct shape *out) {
  if (g->successes++ == 0) {
    g->found = *out;
    return;
  }
  if (g->found.rank != out->rank)
    g->found.rank = 0;
  for (int i = 0; i < g->found.rank; i++)
    if (g->found.dim[i] != out->dim[i])
      g->found.dim[i] = SIZE_UNKNOWN;
}

static void try(struct guess *g) {
  if (g->e->guesses++ > LIMIT_GUESSES)
    return;
  g->layer.out = (struct shape){0};
  if (node_infer(&g->layer))
    agree(g, &g->layer.out);
}

/* Tries each value of each row that may have been meant. */
static void try_rows(struct guess *g) {
  const struct arg_spec *specs = g->b->specs;
  size_t size = g->asked->kind->args_size;
  try(g);
  if (!is_astray(g->b))
    return;
  struct arena_mark before = arena_mark(&g->e->scratch);
  void *kept = arena_room(&g->e->scratch, size + 1, 1);
  memcpy(kept, g->args, size);
  for (int row = 0; specs[row].name; row++) {
    void *at = (char *)g->args + specs[row].offset;
    if (g->b->given >> row & 1 || is_open(g->b, row))
      continue;
    for (int i = 0; vary(&specs[row], at, i); i++)
      try(g);
    memcpy(g->args, kept, size);
  }
  arena_release(&g->e->scratch, before);
}

/* Stores value `which` or the last one; false if there are none. */
static bool vary_most(const struct arg_spec *spec, void *at, int which) {
  while (which >= 0 && !vary(spec, at, which))
    which--;
  return which >= 0;
}

/* Tries the values of all rows that must have one, in parallel. */
static void try_open(struct guess *g) {
  const struct arg_spec *specs = g->b->specs;
  struct arena_mark before = arena_mark(&g->e->scratch);
  void *next = arena_room(&g->e->scratch, g->asked->kind->args_size + 1, 1);
  bool more = true;
  for (int i = 0; more; i++) {
    more = false;
    memcpy(g->args, g->asked->args, g->asked->kind->args_size);
    for (int row = 0; specs[row].name; row++) {
      size_t at = specs[row].offset;
      if (!is_open(g->b, row))
        continue;
      vary_most(&specs[row], (char *)g->args + at, i);
      more = vary(&specs[row], (char *)next + at, i + 1) || more;
    }
    try_rows(g);
  }
  arena_release(&g->e->scratch, before);
}

/* Size of another input on that axis, or SIZE_UNKNOWN. */
static int64_t size_elsewhere(const struct layer *layer, int rank, int axis) {
  for (int i = 0; i < layer->input_count; i++)
    if (layer->in[i]->rank == rank && layer->in[i]->dim[axis] != SIZE_UNKNOWN)
      return layer->in[i]->dim[axis];
  return SIZE_UNKNOWN;
}

/* Fills in unknown sizes; inputs of unknown rank get `rank`. */
static void fill_inputs(struct guess *g, int rank, enum guess_like likeness,
                        int which) {
  for (int i = 0; i < g->asked->input_count; i++) {
    struct shape *in = &g->in[i];
    *in = *g->asked->in[i];
    if (in->rank == 0) {
      in->rank = rank;
      in->dtype = i == 0 && g->asked->kind->input == INPUT_INDEX ? DTYPE_I32
                                                                 : DTYPE_FLOAT;
      for (int k = 0; k < rank; k++)
        in->dim[k] = SIZE_UNKNOWN;
    }
    for (int k = 0; k < in->rank; k++) {
      bool last = k + 1 == in->rank;
      bool like = likeness == LIKE_ALL ||
                  likeness == (last ? LIKE_CHANNELS : LIKE_PLACES);
      if (in->dim[k] == SIZE_UNKNOWN && like)
        in->dim[k] = size_elsewhere(g->asked, in->rank, k);
      if (in->dim[k] == SIZE_UNKNOWN)
        in->dim[k] = stand_ins[which];
    }
  }
}

static void try_inputs(struct guess *g) {
  const struct layer *asked = g->asked;
  bool known = true, ranked = true;
  for (int i = 0; i < asked->input_count; i++) {
    known = known && shape_is_known(asked->in[i]);
    ranked = ranked && asked->in[i]->rank;
  }
  int last = known || asked->input_count == 1 ? 1 : LIKENESSES;
  for (int rank = 1; rank <= (ranked ? 1 : 4); rank++)
    for (int like = 0; like < last; like++)
      for (int i = 0; i < (known ? 1 : STAND_INS); i++) {
        fill_inputs(g, rank, (enum guess_like)like, i);
        try_open(g);
      }
  if (!known && g->successes == 1)
    g->successes = 0; /* one success has nothing to agree with */
}

/* If no trial succeeds: the sizes that all inputs of a join share. */
static struct shape of_inputs(const struct layer *layer) {
  struct shape out = {0};
  if (layer->input_count == 0)
    return out;
  out = *layer->in[0];
  for (int k = 0; k < out.rank; k++)
    for (int i = 0; i < layer->input_count; i++)
      if (!layer->kind->join || layer->in[i]->rank != out.rank ||
          layer->in[i]->dim[k] != out.dim[k])
        out.dim[k] = SIZE_UNKNOWN;
  if (!layer->kind->join)
    out.rank = 0;
  return out;
}

void partial_infer(struct expander *e, const struct binding *b,
                   struct layer *layer) {
  struct arena_mark before = arena_mark(&e->scratch);
  struct guess g = {.e = e, .b = b, .layer = *layer, .asked = layer};
  g.quiet = *e->diags;
  g.quiet.quiet = true;
  g.quiet.limit = INT64_MAX;
  g.quiet.repeated_errors = 0;
  g.site = *layer->site;
  g.site.diags = &g.quiet;
  g.site.context = NULL;
  g.args = arena_room(&e->scratch, layer->kind->args_size + 1, 1);
  g.layer.args = g.args;
  g.layer.site = &g.site;
  g.layer.in = g.at;
  for (int i = 0; i < layer->input_count && i < MOST_TRIED; i++)
    g.at[i] = &g.in[i];
  if (may_try(b, layer))
    try_inputs(&g);
  layer->out = g.successes ? g.found : of_inputs(layer);
  arena_release(&e->scratch, before);
}

bool partial_is_needed(const struct expander *e, const struct binding *b,
                       const int64_t *inputs, int count) {
  if (!e->in->partial)
    return false;
  bool needed = b->failed;
  for (int i = 0; i < count; i++)
    needed = needed || e->model->nodes.at[inputs[i]].unsure;
  return needed;
}

/* Statements */

/* A tensor of unknown origin. */
static const struct layer_kind unknown_kind = {.name = "?"};

static int64_t add_unknown(struct expander *e, struct span span,
                           struct node_name name, struct shape shape,
                           int64_t from) {
  struct shape *out = ARENA_NEW(e->arena, struct shape);
  int64_t index = (int64_t)e->model->nodes.count;
  *out = shape;
  struct node *node = VEC_PUSH(e->arena, &e->model->nodes);
  *node = (struct node){.kind = &unknown_kind,
                        .args = out,
                        .span = span,
                        .frame = e->frame,
                        .name = name,
                        .out = out,
                        .group = (int32_t)e->group,
                        .head = (int32_t)index,
                        .shares = NO_NODE,
                        .copies = 1,
                        .active = 1,
                        .first_input = (uint32_t)e->model->inputs.count,
                        .first_param = (uint32_t)e->model->params.count,
                        .train_only = e->trains,
                        .unsure = true};
  if (from != NO_NODE) {
    node->input_count = 1;
    *VEC_PUSH(e->arena, &e->model->inputs) = (uint32_t)from;
  }
  if (e->model->most_inputs < 1)
    e->model->most_inputs = 1;
  return index;
}

int64_t partial_operand(struct expander *e, struct span span) {
  struct node_name name = name_label(e, slice_of("unknown"));
  return add_unknown(e, span, name, (struct shape){0}, NO_NODE);
}

void partial_go_on(struct expander *e, const struct stmt *stmt,
                   int64_t before) {
  if (!e->in->partial || !e->lost || e->stopped ||
      (int64_t)e->model->nodes.count >= LIMIT_LAYERS)
    return;
  struct shape shape = {0};
  e->current = add_unknown(e, stmt->span, name_label(e, slice_of("unknown")),
                           shape, stmt->kind == STMT_FROM ? NO_NODE : before);
  e->lost = false;
}

void partial_join(struct expander *e, const struct stmt *stmt, int64_t from) {
  if (!e->in->partial || e->stopped)
    return;
  struct shape shape = *e->model->nodes.at[from].out;
  if (shape.rank) /* operands may be joined along the last axis */
    shape.dim[shape.rank - 1] = SIZE_UNKNOWN;
  e->current = add_unknown(e, stmt->span, name_label(e, slice_of("unknown")),
                           shape, from);
  e->lost = false;
}

void partial_input(struct expander *e, const struct stmt *stmt) {
  const struct expr *sizes = stmt->more->value;
  struct shape shape = {0};
  if (!e->in->partial)
    return;
  if (sizes->kind == EXPR_DIMS)
    for (const struct expr *x = sizes->items; x; x = x->next) {
      struct value size = eval(e, x);
      bool known = size.kind == VALUE_INT && size.integer >= 1;
      if (shape.rank < LIMIT_RANK)
        shape.dim[shape.rank++] = known ? size.integer : SIZE_UNKNOWN;
    }
  e->current = add_unknown(e, stmt->span, name_label(e, slice_of("unknown")),
                           shape, NO_NODE);
  e->lost = false;
}

/* The sizes that both have in common. */
static struct shape shape_meet(const struct shape *a, const struct shape *b) {
  struct shape out = *a;
  if (a->rank != b->rank || a->dtype != b->dtype)
    return (struct shape){0};
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i])
      out.dim[i] = SIZE_UNKNOWN;
  return out;
}

void partial_meet(struct expander *e, const struct stmt *stmt, int64_t other) {
  if (e->current == other || e->current == NO_NODE || other == NO_NODE)
    return;
  const struct node *nodes = e->model->nodes.at;
  struct shape shape = shape_meet(nodes[e->current].out, nodes[other].out);
  e->current = add_unknown(e, stmt->span, name_label(e, slice_of("unknown")),
                           shape, e->current);
}

void partial_mark(struct expander *e, const struct value *mark) {
  struct node *node = &e->model->nodes.at[e->current];
  struct shape *shape = ARENA_NEW(e->arena, struct shape);
  shape->rank = mark->kind == VALUE_SIZES ? mark->count : 1;
  shape->dtype = node->out->dtype;
  for (int i = 0; i < shape->rank; i++) {
    int64_t size = mark->kind == VALUE_SIZES ? mark->at[i]
                   : mark->kind == VALUE_INT ? mark->integer
                                             : SIZE_ANY;
    shape->dim[i] = size != SIZE_ANY                 ? size
                    : node->out->rank == shape->rank ? node->out->dim[i]
                                                     : SIZE_UNKNOWN;
  }
  node->out = shape;
  node->unsure = !shape_is_known(shape);
}
