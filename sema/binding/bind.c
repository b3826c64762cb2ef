/* Arguments: from what is written to the struct that a layer declares. */
#include <inttypes.h>
#include <stdio.h>

#include "layers/foreign/foreign.h"
#include "sema/binding/hint.h"
#include "sema/binding/slip.h"
#include "base/hash.h"

static bool is_given(const struct binding *b, int row) {
  return b->given >> row & 1;
}

static void room_for_spans(struct expander *e, struct binding *b) {
  int rows = 0;
  while (b->specs[rows].name)
    rows++;
  if (rows <= b->span_room)
    return;
  b->spans = arena_room(e->arena, (size_t)rows, sizeof *b->spans);
  b->span_room = rows;
}

void bind_begin(struct expander *e, struct binding *b, const char *owner,
                const struct arg_spec *specs, size_t size) {
  static const struct arg_spec none[] = {SPEC_END};
  memset(b, 0, offsetof(struct binding, spans)); /* whose room stays */
  b->specs = specs ? specs : none;
  b->owner = owner;
  room_for_spans(e, b);
  b->args = arena_alloc(e->arena, size ? size : 1, 1);
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    void *at = (char *)b->args + spec->offset;
    b->spans[i] = (struct span){0};
    if (spec->type == TYPE_INT)
      *(int64_t *)at = spec->initial;
    else if (spec->type == TYPE_REAL)
      *(double *)at = spec->initial_real;
    else if (spec->type == TYPE_CHOICE)
      *(int *)at = (int)spec->initial;
    else if (spec->type == TYPE_LAYER || spec->type == TYPE_INPUT)
      ((struct layer_ref *)at)->node = NO_NODE;
  }
}

/* One argument on its way into the struct. */
struct slot {
  struct expander *e;
  struct binding *b;
  const struct arg_spec *spec;
  const struct expr *expr;
  struct value value;
  void *at;
};

/* conv 3x3 64: the sizes stand where the channels belong. */
static bool sizes_come_first(struct slot *s, struct diagnostic *d) {
  const struct arg_spec *next = s->spec + 1;
  if (s->value.kind != VALUE_SIZES || s->spec->place != PLACE_POSITION ||
      next->name == NULL || next->type != TYPE_SIZES)
    return false;
  struct slice sizes = sources_slice(s->e->diags->sources, s->expr->span);
  struct slice rest = sources_rest(s->e->diags->sources, s->expr->span.end);
  size_t from = rest.length && rest.at[0] == ' ', to = from;
  while (to < rest.length && rest.at[to] >= '0' && rest.at[to] <= '9')
    to++;
  diag_help(d, "%s come first: `%s %.*s %.*s`", s->spec->name, s->b->owner,
            to > from ? (int)(to - from) : 2, to > from ? rest.at + from : "64",
            SLICE_ARG(sizes));
  return true;
}

/* What is wrong with a value, at the value, in terms of its argument. */
static bool refuse(struct slot *s, enum slug slug, const char *wanted) {
  s->b->failed = true;
  if (s->value.kind == VALUE_POISON)
    return false;
  struct text text = text_new(s->e->arena);
  value_put(&text, &s->value);
  struct diagnostic *d =
      report(s->e, slug, s->expr->span, "`%s` of %s must be %s, not %.*s",
             s->spec->name, s->b->owner, wanted, SLICE_ARG(text_slice(&text)));
  if (s->value.kind == VALUE_REAL && s->spec->type != TYPE_REAL &&
      s->spec->type != TYPE_SCALE)
    eval_help_integer(d, s->value.real);
  else if (s->spec->type == TYPE_INT && sizes_come_first(s, d))
    return false;
  else if (s->spec->bytes && s->value.kind == VALUE_INT && s->value.integer > 0)
    diag_help(d, "sizes are in bytes; with a unit: `%" PRId64 "GiB`",
              s->value.integer);
  else if (s->spec->doc)
    diag_help(d, "%s: %s", s->spec->name, s->spec->doc);
  return false;
}

static bool store_int(struct slot *s) {
  const struct arg_spec *spec = s->spec;
  char wanted[80];
  if (s->value.kind != VALUE_INT)
    return refuse(s, WRONG_TYPE, "an integer");
  int64_t value = s->value.integer;
  *(int64_t *)s->at = value;
  if (value >= spec->min && (!spec->max || value <= spec->max))
    return true;
  if (spec->max)
    snprintf(wanted, sizeof wanted, "an integer from %" PRId64 " to %" PRId64,
             spec->min, spec->max);
  else
    snprintf(wanted, sizeof wanted, "an integer of at least %" PRId64,
             spec->min);
  return refuse(s, OUT_OF_RANGE, wanted);
}

static bool store_real(struct slot *s) {
  const struct arg_spec *spec = s->spec;
  if (!value_is_number(&s->value))
    return refuse(s, WRONG_TYPE, "a number");
  double value = value_number(&s->value);
  if (spec->low < spec->high && (value < spec->low || value >= spec->high)) {
    struct text wanted = text_new(s->e->arena);
    text_put(&wanted, "at least ");
    text_real(&wanted, spec->low);
    text_put(&wanted, " and below ");
    text_real(&wanted, spec->high);
    text_putc(&wanted, '\0');
    return refuse(s, OUT_OF_RANGE, wanted.at);
  }
  *(double *)s->at = value;
  return true;
}

/* One size for all axes, or one for each; false if it is neither. */
static bool read_sizes(const struct value *value, struct sizes *at,
                       struct sizes *to) {
  if (value->kind == VALUE_INT) {
    *at = *to = (struct sizes){.rank = 1, .at = {value->integer}};
    return true;
  }
  if (value->kind != VALUE_SIZES || value->count > 3)
    return false;
  *at = *to = (struct sizes){.rank = value->count};
  for (int i = 0; i < value->count; i++) {
    at->at[i] = value->at[i];
    to->at[i] = value->to[i];
    if (value->at[i] == SIZE_ANY || value->to[i] == SIZE_ANY)
      return false;
  }
  return true;
}

static bool at_least(const struct sizes *sizes, int64_t least) {
  for (int i = 0; i < sizes->rank; i++)
    if (sizes->at[i] < least)
      return false;
  return true;
}

static bool store_sizes(struct slot *s) {
  struct sizes at, to;
  char wanted[80];
  if (s->value.paired || !read_sizes(&s->value, &at, &to))
    return refuse(s, WRONG_TYPE, "one size, or up to three joined by x");
  *(struct sizes *)s->at = at;
  if (at_least(&at, s->spec->min))
    return true;
  snprintf(wanted, sizeof wanted, "at least %" PRId64, s->spec->min);
  return refuse(s, OUT_OF_RANGE, wanted);
}

static bool store_scale(struct slot *s) {
  struct scale_by *scale = s->at;
  s->at = &scale->whole;
  if (s->value.kind != VALUE_REAL)
    return store_sizes(s);
  if (!(s->value.real > 0) || s->value.real > 1e6)
    return refuse(s, OUT_OF_RANGE, "above 0 and at most 1e6");
  scale->real = s->value.real;
  return true;
}

static bool store_padding(struct slot *s) {
  struct sizes before, after;
  if (!read_sizes(&s->value, &before, &after))
    return refuse(s, WRONG_TYPE, "like 1, 1x2 or 0:1");
  if (!at_least(&before, 0) || !at_least(&after, 0))
    return refuse(s, OUT_OF_RANGE, "at least 0");
  *(struct padding *)s->at = (struct padding){PADDING_GIVEN, before, after};
  return true;
}

static bool store_shape(struct slot *s) {
  struct shape shape = {0};
  const struct value *value = &s->value;
  if (value->kind == VALUE_INT || value->kind == VALUE_ANY) {
    shape.rank = 1;
    shape.dim[0] = value->kind == VALUE_ANY ? SIZE_ANY : value->integer;
  } else if (value->kind == VALUE_SIZES && !value->paired) {
    shape.rank = value->count;
    for (int i = 0; i < value->count; i++)
      shape.dim[i] = value->at[i];
  } else {
    return refuse(s, WRONG_TYPE, "sizes joined by x");
  }
  for (int i = 0; i < shape.rank; i++)
    if (shape.dim[i] != SIZE_ANY && shape.dim[i] < 1)
      return refuse(s, OUT_OF_RANGE, "of sizes of at least 1");
  *(struct shape *)s->at = shape;
  return true;
}

static bool store_range(struct slot *s) {
  const struct value *value = &s->value;
  if (value->kind != VALUE_SIZES || value->count != 1 || !value->paired)
    return refuse(s, WRONG_TYPE, "a range like 0:32");
  *(struct range *)s->at = (struct range){value->at[0], value->to[0]};
  return true;
}

static bool store_axes(struct slot *s) {
  struct axes *axes = s->at;
  if (s->value.kind != VALUE_INT)
    return refuse(s, WRONG_TYPE, "a number, or one of c h w d l");
  if (axes->count == LIMIT_RANK)
    return refuse(s, WRONG_RANK, "of at most 8 axes");
  if (s->value.integer < -LIMIT_RANK || s->value.integer >= LIMIT_RANK)
    return refuse(s, WRONG_AXIS, "an axis of a tensor");
  axes->at[axes->count++] = s->value.integer;
  return true;
}

static bool store_numbers(struct slot *s) {
  struct numbers *numbers = s->at;
  const struct arg_spec *spec = s->spec;
  if (s->value.kind != VALUE_INT)
    return refuse(s, WRONG_TYPE, "integers");
  if (s->value.integer < spec->min)
    return refuse(s, OUT_OF_RANGE, "at least 1");
  if (numbers->count == LIMIT_NUMBERS)
    return refuse(s, WRONG_COUNT, "16 numbers at most");
  numbers->at[numbers->count++] = s->value.integer;
  return true;
}

/* `bias=true`, for values that come from elsewhere. */
static bool store_truth(struct slot *s) {
  bool pair = s->spec->type == TYPE_BIAS;
  if (s->value.kind != VALUE_BOOL ||
      (!pair && word_at(s->spec->words, 2).length))
    return refuse(s, WRONG_TYPE, "true or false");
  if (pair)
    *(enum bias *)s->at = s->value.integer ? BIAS_YES : BIAS_NO;
  else
    *(int *)s->at = (int)s->value.integer;
  return true;
}

static bool store_layer(struct slot *s) {
  struct symbol *symbol = s->value.kind == VALUE_NAME ? s->value.symbol : NULL;
  s->e->depends = true;
  if (!symbol || symbol->kind != SYMBOL_LABEL)
    return refuse(s, WRONG_TYPE, "the label of a layer above");
  struct layer_ref *ref = s->at;
  *ref = (struct layer_ref){symbol->name, s->expr->span, symbol->node, NULL};
  if (symbol->node == NO_NODE) {
    s->b->failed = true; /* in error, and reported there */
    return false;
  }
  if (s->spec->type == TYPE_INPUT)
    s->b->extra_inputs[s->b->extra_count++] = symbol->node;
  else /* its tail has no weights */
    ref->node = s->e->model->nodes.at[symbol->node].head;
  return true;
}

static bool store(struct slot *s) {
  switch (s->spec->type) {
  case TYPE_INT: return store_int(s);
  case TYPE_REAL: return store_real(s);
  case TYPE_SIZES: return store_sizes(s);
  case TYPE_SCALE: return store_scale(s);
  case TYPE_PADDING: return store_padding(s);
  case TYPE_SHAPE: return store_shape(s);
  case TYPE_RANGE: return store_range(s);
  case TYPE_AXIS:
  case TYPE_AXES: return store_axes(s);
  case TYPE_NUMBERS: return store_numbers(s);
  case TYPE_WORDS:
  case TYPE_BIAS: return store_truth(s);
  case TYPE_LAYER:
  case TYPE_INPUT: return store_layer(s);
  case TYPE_CHOICE: return refuse(s, WRONG_TYPE, "one of its words");
  }
  return false;
}

static bool choose(struct slot *s, struct slice word) {
  int index = hint_find_choice(s->spec, word);
  if (index) {
    *(int *)s->at = index;
    return true;
  }
  const char *several = foreign_choice_find(s->spec->name, word);
  struct suggestion suggestion = suggest_begin(word);
  for (int i = 1; word_at(s->spec->words, i).length; i++)
    suggest_offer(&suggestion, word_at(s->spec->words, i));
  struct diagnostic *d =
      report(s->e, UNKNOWN_CHOICE, s->expr->span,
             several ? "ambiguous %s `%.*s`" : "unknown %s `%.*s`",
             s->spec->name, SLICE_ARG(word));
  if (suggestion.best.at && !several)
    diag_help(d, "did you mean `%.*s`?", SLICE_ARG(suggestion.best));
  hint_choices(d, s->e->arena, several ? several : s->spec->words);
  s->b->failed = true;
  return false;
}

static int64_t axis_letter(struct slice word) {
  static const struct {
    const char *word;
    int64_t axis;
  } letters[] = {{"c", AXIS_C}, {"h", AXIS_H},      {"w", AXIS_W},
                 {"d", AXIS_D}, {"l", AXIS_LENGTH}, {"len", AXIS_LENGTH}};
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
    if (slice_is(word, letters[i].word))
      return letters[i].axis;
  return 0;
}

static bool is_axes(const struct arg_spec *spec) {
  return spec->type == TYPE_AXIS || spec->type == TYPE_AXES;
}

/* All positions that follow are its. */
static bool is_list(const struct arg_spec *spec) {
  return spec->type == TYPE_AXES || spec->type == TYPE_NUMBERS;
}

static void put_axis(struct binding *b, int row, int64_t axis) {
  struct axes *axes = (void *)((char *)b->args + b->specs[row].offset);
  if (axes->count < LIMIT_RANK)
    axes->at[axes->count++] = axis;
}

static void given_twice(struct expander *e, struct binding *b, int row,
                        struct span span) {
  struct diagnostic *d =
      report(e, DUPLICATE_ARGUMENT, span, "`%s` of %s is given twice",
             b->specs[row].name, b->owner);
  diag_label(d, b->spans[row], "first here");
  b->failed = true;
}

/* A word among several, for which no value stands. */
static bool is_choice(const struct arg_spec *spec) {
  return spec->type == TYPE_CHOICE ||
         (spec->type == TYPE_WORDS && word_at(spec->words, 2).length);
}

static void bind_row(struct expander *e, struct binding *b, int row,
                     const struct expr *expr, struct span span) {
  const struct arg_spec *spec = &b->specs[row];
  struct slot s = {e, b, spec, expr, {0}, (char *)b->args + spec->offset};
  if (is_given(b, row) && !is_list(spec)) {
    given_twice(e, b, row, span);
    return;
  }
  if (slip_check(e, b, spec, expr))
    return;
  b->given |= (uint64_t)1 << row;
  b->spans[row] = span;
  bool name = expr->kind == EXPR_NAME;
  /* torch2-cuda: a word may have a hyphen, which looks like a difference. */
  int word =
      name && spec->type == TYPE_INT ? word_index(spec->words, expr->name) : 0;
  if (word) { /* auto: below any number */
    *(int64_t *)s.at = -word;
  } else if (is_choice(spec) && (name || expr->kind == EXPR_BINARY)) {
    choose(&s, sources_slice(e->diags->sources, expr->span));
  } else if (spec->type == TYPE_PADDING && name && slice_is(expr->name, "tf") &&
             !scope_find(e->scope, expr->name)) {
    *(struct padding *)s.at = (struct padding){.mode = PADDING_TF};
  } else if (is_axes(spec) && name && axis_letter(expr->name)) {
    put_axis(b, row, axis_letter(expr->name));
  } else {
    s.value = eval(e, expr);
    store(&s);
  }
}

/* The next free position; -1: there is none. */
static int free_position(const struct binding *b) {
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    if (spec->place == PLACE_POSITION && (!is_given(b, i) || is_list(spec)))
      return i;
  }
  return -1;
}

bool bind_wants_position(const struct binding *b) {
  return free_position(b) >= 0;
}

/* The row that a bare word is an option of, with its place in *index; -1. */
static int word_row(const struct binding *b, struct slice word, int *index) {
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    bool padding = spec->type == TYPE_PADDING && spec->place == PLACE_KEY;
    *index = spec->place == PLACE_WORD ? word_index(spec->words, word) : 0;
    if (*index || (padding && slice_is(word, spec->name)))
      return i;
  }
  return -1;
}

bool bind_knows(const struct binding *b, struct slice word) {
  int index;
  return word_row(b, word, &index) >= 0;
}

bool bind_is_axis(const struct binding *b, struct slice word) {
  int index, row = word_row(b, word, &index);
  return row >= 0 && is_axes(&b->specs[row]);
}

bool bind_word(struct expander *e, struct binding *b, struct slice word,
               struct span span) {
  int index, position = free_position(b);
  bool axis =
      position >= 0 && is_axes(&b->specs[position]) && axis_letter(word);
  int row = axis ? position : word_row(b, word, &index);
  if (row < 0)
    return false;
  const struct arg_spec *spec = &b->specs[row];
  void *at = (char *)b->args + spec->offset;
  if (is_axes(spec))
    put_axis(b, row, axis_letter(word));
  else if (is_given(b, row))
    given_twice(e, b, row, span);
  else if (spec->type == TYPE_BIAS)
    *(enum bias *)at = index == 1 ? BIAS_YES : BIAS_NO;
  else if (spec->type == TYPE_PADDING)
    *(struct padding *)at = (struct padding){.mode = PADDING_SAME};
  else
    *(int *)at = index;
  b->given |= (uint64_t)1 << row;
  b->spans[row] = span;
  return true;
}

static int find_key(const struct binding *b, struct slice key) {
  for (int i = 0; b->specs[i].name; i++)
    if (slice_is(key, b->specs[i].name))
      return i;
  return -1;
}

static void unknown_key(struct expander *e, struct binding *b,
                        const struct arg *arg) {
  struct suggestion s = suggest_begin(arg->key);
  for (int i = 0; b->specs[i].name; i++)
    suggest_offer(&s, slice_of(b->specs[i].name));
  for (int i = 0; row_specs[i].name; i++)
    suggest_offer(&s, slice_of(row_specs[i].name));
  struct diagnostic *d =
      report(e, UNKNOWN_OPTION, arg_key_span(arg), "%s has no option `%.*s`",
             b->owner, SLICE_ARG(arg->key));
  b->failed = true;
  if (!diag_is_shown(d) || hint_foreign_option(e, d, b, arg))
    return;
  if (s.best.at) {
    diag_help(d, "did you mean `%.*s`?", SLICE_ARG(s.best));
    diag_fixit(d, arg_key_span(arg), "%.*s", SLICE_ARG(s.best));
  } else {
    struct text all = text_new(e->arena);
    for (int i = 0; b->specs[i].name; i++)
      text_printf(&all, "%s%s", i ? ", " : "options: ", b->specs[i].name);
    if (!all.length)
      text_printf(&all, "%s takes no options", b->owner);
    diag_help(d, "%.*s", SLICE_ARG(text_slice(&all)));
  }
}

static void bind_stride(struct expander *e, struct binding *b,
                        const struct arg *arg) {
  for (int i = 0; b->specs[i].name; i++) {
    if (b->specs[i].place == PLACE_STRIDE) {
      bind_row(e, b, i, arg->value, arg->span);
      return;
    }
  }
  struct diagnostic *d =
      report(e, UNKNOWN_OPTION, arg->span, "%s has no stride", b->owner);
  diag_help(d, "to divide, write the `/` with blanks on both sides or on "
               "none");
  b->failed = true;
}

static void too_many(struct expander *e, struct binding *b,
                     const struct arg *arg) {
  if (b->failed)
    return; /* one mistake, one error */
  struct text takes = text_new(e->arena);
  for (int i = 0; b->specs[i].name; i++)
    if (b->specs[i].place == PLACE_POSITION)
      text_printf(&takes, " %s", b->specs[i].name);
  b->failed = true;
  struct diagnostic *d =
      report(e, WRONG_COUNT, arg->span, "%s takes no further value", b->owner);
  if (hint_surplus(e, d, b, arg))
    return;
  if (takes.length)
    diag_help(d, "it is written `%s%.*s`; options follow by name", b->owner,
              SLICE_ARG(text_slice(&takes)));
  else
    diag_help(d, "`netc layers %s` shows how it is written", b->owner);
}

void bind_arg(struct expander *e, struct binding *b, const struct arg *arg) {
  int row;
  switch (arg->form) {
  case ARG_STRIDE: bind_stride(e, b, arg); break;
  case ARG_KEYED:
    row = find_key(b, arg->key);
    if (row < 0)
      unknown_key(e, b, arg);
    else
      bind_row(e, b, row, arg->value, arg->span);
    break;
  case ARG_PLAIN:
    row = free_position(b);
    if (row < 0)
      too_many(e, b, arg);
    else
      bind_row(e, b, row, arg->value, arg->span);
    break;
  case ARG_BLOCK:
    report(e, WRONG_TYPE, arg->span, "%s takes no block", b->owner);
    b->failed = true;
    break;
  }
}

/* `pad bn relu` below a conv: an option of the layer before. */
static bool continues_line(struct expander *e, const char *word) {
  if (e->current == NO_NODE)
    return false;
  const struct node *node = &e->model->nodes.at[e->current];
  const struct arg_spec *spec = e->model->nodes.at[node->head].kind->specs;
  for (; spec && spec->name; spec++)
    if (spec->place == PLACE_KEY && strcmp(spec->name, word) == 0)
      return true;
  return false;
}

void bind_end(struct expander *e, struct binding *b, struct span span) {
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    if (!spec->required || is_given(b, i) || b->failed)
      continue;
    struct diagnostic *d = report(e, MISSING_ARGUMENT, span, "%s needs its %s",
                                  b->owner, spec->name);
    if (continues_line(e, b->owner))
      diag_help(d, "to continue the line above, end it with `\\`");
    else
      diag_help(d, "%s: %s", spec->name, spec->doc);
    b->failed = true;
  }
}

/* Whether layers are named in them, of which more will be known. */
static bool refers(const struct binding *b) {
  for (int i = 0; b->specs[i].name; i++)
    if ((b->specs[i].type == TYPE_LAYER || b->specs[i].type == TYPE_INPUT) &&
        ((struct layer_ref *)((char *)b->args + b->specs[i].offset))->node !=
            NO_NODE)
      return true;
  return false;
}

void bind_share(struct expander *e, struct binding *b,
                const struct layer_kind *kind) {
  const unsigned char *bytes = b->args;
  size_t size = kind->args_size;
  uint64_t hash = size;
  if (b->failed || refers(b))
    return;
  for (size_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof word);
    hash = hash_word(hash, word);
  }
  b->hash = (size_t)(hash >> 32);
  struct kept_args *kept = &e->kept[b->hash % RECENT_ARGS];
  if (kept->kind == kind && memcmp(kept->args, b->args, size) == 0) {
    arena_take_back(e->arena, b->args, size);
    b->args = kept->args;
  }
  *kept = (struct kept_args){kind, b->args};
}
