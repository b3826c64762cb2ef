/* Arguments: finds the row of the layer that takes each written argument. */

#include "sema/binding/hint.h"
#include "sema/binding/slip.h"
#include "sema/binding/slot.h"
#include "sema/model/settings.h"
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
  memset(b, 0, offsetof(struct binding, spans)); /* keeps their memory */
  b->specs = specs ? specs : none;
  b->owner = owner;
  room_for_spans(e, b);
  b->args = arena_alloc(e->arena, size ? size : 1, 1);
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    void *at = (char *)b->args + spec->offset;
    b->spans[i] = (struct span){0};
    if (arg_is_int64(spec))
      *(int64_t *)at = spec->initial;
    else if (spec->type == TYPE_REAL)
      *(double *)at = spec->initial_real;
    else if (spec->type == TYPE_CHOICE)
      *(int *)at = (int)spec->initial;
    else if (spec->type == TYPE_LAYER || spec->type == TYPE_INPUT)
      ((struct layer_ref *)at)->node = NO_NODE;
  }
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
  diag_offer_omission(d, span, "leave one of them out");
  b->failed = true;
}

/* The word that a name holds, or its own text: `bias=biased` of a param. */
static struct slice word_meant(struct expander *e, const struct expr *expr) {
  struct symbol *symbol =
      expr->kind == EXPR_NAME ? scope_find(e->scope, expr->name) : NULL;
  bool holds = symbol && symbol->kind == SYMBOL_CONSTANT &&
               symbol->value->kind == VALUE_NAME;
  return holds ? symbol->value->name
               : sources_slice(e->diags->sources, expr->span);
}

/* `window=none`, `gate=none`: as if nothing were written. */
static bool is_none(struct expander *e, const struct arg_spec *spec,
                    const struct expr *expr) {
  bool usual = spec->type == TYPE_CHOICE && spec->fallback &&
               strcmp(spec->fallback, "none") == 0;
  bool optional = !spec->required && (spec->place == PLACE_WORD ||
                                      spec->type == TYPE_INT || usual);
  return optional && expr->kind == EXPR_NAME &&
         slice_is(word_meant(e, expr), "none") &&
         !word_index(spec->words, slice_of("none"));
}

static void bind_row(struct expander *e, struct binding *b, int row,
                     const struct expr *expr, struct span span) {
  const struct arg_spec *spec = &b->specs[row];
  struct slot s = {e, b, spec, expr, {0}, (char *)b->args + spec->offset, {0}};
  if (is_given(b, row) && !arg_is_list(spec)) {
    given_twice(e, b, row, span);
    return;
  }
  if (slip_check(e, b, spec, expr, span))
    return;
  b->given |= (uint64_t)1 << row;
  b->spans[row] = span;
  bool failed = b->failed;
  b->failed = false;
  bool name = expr->kind == EXPR_NAME;
  /* A word may have a hyphen, as torch2-cuda, and parse as a difference. */
  int word =
      name && spec->type == TYPE_INT ? word_index(spec->words, expr->name) : 0;
  if (word) { /* words are stored as negative numbers: auto */
    *(int64_t *)s.at = -word;
  } else if (expr->kind == EXPR_TEXT) {
    slot_choose(&s, expr->name);
  } else if (arg_is_choice(spec) && (name || expr->kind == EXPR_BINARY ||
                                     expr->kind == EXPR_PATH || /* llama.cpp */
                                     settings_is_gpu(spec))) {  /* 4090 */
    slot_choose(&s, word_meant(e, expr));
  } else if (spec->type == TYPE_PADDING && name && slice_is(expr->name, "tf") &&
             !scope_find(e->scope, expr->name)) {
    *(struct padding *)s.at = (struct padding){.mode = PADDING_TF};
  } else if (arg_is_axes(spec) && name && axis_letter(expr->name)) {
    put_axis(b, row, axis_letter(expr->name));
  } else {
    s.value = eval(e, expr);
    slot_store(&s);
  }
  if (b->failed)
    b->doubtful |= (uint64_t)1 << row;
  if (b->failed && s.value.kind == VALUE_POISON)
    b->poisoned = true;
  b->failed = failed || b->failed;
  for (int i = 0; spec->forms && b->specs[i].name; i++)
    if (settings_is_part(spec, &b->specs[i]))
      b->spans[i] = span; /* as messages name that one */
}

/* The next free position; -1: none. */
static int free_position(const struct binding *b) {
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    if (spec->place == PLACE_POSITION && (!is_given(b, i) || arg_is_list(spec)))
      return i;
  }
  return -1;
}

bool bind_wants_position(const struct binding *b) {
  return free_position(b) >= 0;
}

/* The row with a bare word as an option, and its index in *index; -1: none. */
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
  return row >= 0 && arg_is_axes(&b->specs[row]);
}

bool bind_word(struct expander *e, struct binding *b, struct slice word,
               struct span span) {
  int index, position = free_position(b);
  bool axis =
      position >= 0 && arg_is_axes(&b->specs[position]) && axis_letter(word);
  int row = axis ? position : word_row(b, word, &index);
  if (row < 0)
    return false;
  const struct arg_spec *spec = &b->specs[row];
  void *at = (char *)b->args + spec->offset;
  if (arg_is_axes(spec))
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
    if (!b->specs[i].now)
      suggest_offer(&s, slice_of(b->specs[i].name));
  for (int i = 0; row_specs[i].name; i++)
    suggest_offer(&s, slice_of(row_specs[i].name));
  struct diagnostic *d =
      report(e, UNKNOWN_OPTION, arg_key_span(arg), "%s has no option `%.*s`",
             b->owner, SLICE_ARG(arg->key));
  b->failed = true;
  if (!diag_is_shown(d) || hint_foreign_option(e, d, b, arg))
    return;
  if (s.best.at)
    diag_suggest(d, arg_key_span(arg), s.best);
  struct text all = text_new(e->arena);
  for (int i = 0; b->specs[i].name; i++)
    if (!b->specs[i].now)
      text_printf(&all, "%s%s", i ? ", " : "options: ", b->specs[i].name);
  if (!all.length)
    text_printf(&all, "%s takes no options", b->owner);
  diag_otherwise(d, "%.*s", SLICE_ARG(all));
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
  struct span blank = {arg->span.begin - 1, arg->span.begin};
  if (slice_is(sources_slice(e->diags->sources, blank), " "))
    diag_offer(d, blank, (struct slice){"", 0},
               "to divide, write `/` with blanks on both sides or on none");
  diag_offer_omission(d, arg->span, "leave it out");
  diag_otherwise(d,
                 "to divide, write `/` with blanks on both sides or on none");
  b->failed = true;
}

static void too_many(struct expander *e, struct binding *b,
                     const struct arg *arg) {
  if (b->failed)
    return; /* report one error only */
  struct text takes = text_new(e->arena);
  for (int i = 0; b->specs[i].name; i++)
    if (b->specs[i].place == PLACE_POSITION)
      text_printf(&takes, " %s", b->specs[i].name);
  b->failed = true;
  struct diagnostic *d =
      report(e, WRONG_COUNT, arg->span, "%s takes no more values", b->owner);
  if (hint_surplus(e, d, b, arg))
    return;
  diag_offer_omission(d, arg->span, "leave it out");
  if (takes.length)
    diag_otherwise(d, "write `%s%.*s`; options follow by name", b->owner,
                   SLICE_ARG(takes));
  else
    diag_otherwise(d, "`netc layers %s` shows how it is written", b->owner);
}

/* `qknorm=norms` of a param whose value is the word `all`. */
static bool bind_held(struct expander *e, struct binding *b, int row,
                      const struct arg *arg) {
  struct text word = text_new(e->arena);
  if (b->specs[row].type != TYPE_WORDS || arg->value->kind != EXPR_NAME)
    return false;
  struct slice held = word_meant(e, arg->value);
  text_printf(&word, "%.*s=%.*s", SLICE_ARG(arg->key), SLICE_ARG(held));
  return bind_word(e, b, text_slice(&word), arg->span);
}

void bind_arg(struct expander *e, struct binding *b, const struct arg *arg) {
  int row;
  switch (arg->form) {
  case ARG_STRIDE: bind_stride(e, b, arg); break;
  case ARG_KEYED: /* a word may look like a key: qknorm=all */
    if (bind_word(e, b, sources_slice(e->diags->sources, arg->span), arg->span))
      break;
    row = find_key(b, arg->key);
    if (row < 0)
      unknown_key(e, b, arg);
    else if (!is_none(e, &b->specs[row], arg->value) &&
             !bind_held(e, b, row, arg))
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

/* True for an option of the layer before, as `pad bn relu` below a conv. */
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

/* Puts inputs in the order of the rows, however they are written. */
static void order_inputs(struct binding *b) {
  b->extra_count = 0;
  for (int i = 0; b->specs[i].name; i++) {
    const struct layer_ref *ref =
        (void *)((char *)b->args + b->specs[i].offset);
    if (b->specs[i].type == TYPE_INPUT && ref->node != NO_NODE)
      b->extra_inputs[b->extra_count++] = ref->node;
  }
}

void bind_end(struct expander *e, struct binding *b, struct span span) {
  order_inputs(b);
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    if (!spec->required || is_given(b, i) || b->failed)
      continue;
    struct diagnostic *d = report(e, MISSING_ARGUMENT, span, "%s needs its %s",
                                  b->owner, spec->name);
    if (continues_line(e, b->owner))
      diag_help(d, "to continue the line above, end that line with `\\`");
    else
      diag_help(d, "%s: %s", spec->name, spec->doc);
    b->failed = true;
  }
}

/* True if arguments name layers, which are completed later. */
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
