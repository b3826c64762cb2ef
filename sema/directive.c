/* Statements that make no layer: inputs, outputs, names and settings. */
#include <ctype.h>

#include "sema/binding/slip.h"
#include "layers/foreign/foreign.h"
#include "sema/model/given.h"
#include "sema/statements.h"

static int dtype_row(void) {
  int row = 0;
  while (strcmp(infer_specs[row].name, "dtype") != 0)
    row++;
  return row;
}

/* Reports an i8 input that contradicts the last `infer dtype=`. */
static bool agree_on_dtype(struct expander *e) {
  const char *word = element_word(e->in->settings->infer.dtype);
  if (!e->in->small.end || !e->in->typed.end ||
      e->in->settings->infer.dtype == ELEMENT_I8)
    return true;
  struct diagnostic *d =
      report(e, WRONG_DTYPE, e->in->typed,
             "`infer dtype=%s` is set, but an input has the type i8", word);
  diag_label(d, e->in->small, "inference has one type");
  return diag_help(d, "leave out one of them");
}

/* An i8 input sets `infer dtype=i8`. */
static bool take_small(struct expander *e, const struct stmt *stmt) {
  struct settings *settings = e->in->settings;
  e->in->small = stmt->more->dtype_span;
  if (e->in->typed.end)
    return agree_on_dtype(e);
  settings->infer_spans[dtype_row()] = stmt->more->dtype_span;
  settings->infer.dtype = ELEMENT_I8;
  return true;
}

static bool read_dtype(struct expander *e, const struct stmt *stmt,
                       enum dtype *dtype) {
  *dtype = DTYPE_FLOAT;
  if (!stmt->more->dtype.at || slice_is(stmt->more->dtype, "f32"))
    return true;
  if (slice_is(stmt->more->dtype, "i8"))
    return take_small(e, stmt);
  bool i64 = slice_is(stmt->more->dtype, "i64");
  if (i64 || slice_is(stmt->more->dtype, "i32")) {
    *dtype = i64 ? DTYPE_I64 : DTYPE_I32;
    return true;
  }
  const char *ours = foreign_choice_find("input", stmt->more->dtype);
  struct diagnostic *d =
      report(e, UNKNOWN_CHOICE, stmt->more->dtype_span,
             "unknown type of input `%.*s`", SLICE_ARG(stmt->more->dtype));
  if (ours)
    diag_suggest(d, stmt->more->dtype_span, slice_of(ours));
  diag_otherwise(
      d, "`: i32` and `: i64` make indices, and `: i8` makes inference int8; "
         "set other types with `infer dtype=`, `train dtype=` or `--dtype`");
  return false;
}

/* True if a name of the command line is that of an input: as the source has
 * it, or as the file has it that the source was imported from. Import writes
 * `serving_default_x:0` as serving_default_x_0, and the keyword `input` as
 * input_ (graph_identifier). */
static bool names_input(struct slice given, struct slice name) {
  size_t at = 0;
  bool gap = false;
  if (slice_equal(given, name))
    return true;
  for (size_t i = 0; i < given.length; i++) {
    unsigned char c = (unsigned char)given.at[i];
    bool part = c < 128 && (isalnum(c) || c == '_');
    if (part && gap && at > 0 && (at == name.length || name.at[at++] != '_'))
      return false;
    if (part && at == 0 && isdigit(c) && name.length && name.at[0] == 'n')
      at++;
    if (part && (at == name.length || name.at[at++] != (char)c))
      return false;
    gap = !part;
  }
  return at > 0 &&
         (at == name.length || (at + 1 == name.length && name.at[at] == '_'));
}

/* Replaces sizes of this input by those of the command line; `_` keeps one. */
static bool take_sizes(struct expander *e, const struct stmt *stmt,
                       struct shape *shape) {
  struct slice name = stmt->name.at ? stmt->name : slice_of("input");
  struct define *found = NULL;
  for (size_t i = 0; i < e->in->input_count; i++) {
    struct define *input = &e->in->inputs[i];
    if (slice_is(input->name, INPUT_OF_TOKENS)
            ? shape->dtype != DTYPE_FLOAT && shape->rank == 1
        : input->name.length ? names_input(input->name, name)
                             : !input->used)
      found = input;
  }
  if (!found)
    return true;
  found->used = true;
  struct value value = e->in->low ? found->low : found->value;
  if (found->bounds && !e->in->bounds.end)
    e->in->bounds = found->span;
  if (value.kind == VALUE_INT || value.kind == VALUE_ANY)
    value = (struct value){
        .count = 1, .at = {value.kind == VALUE_ANY ? SIZE_ANY : value.integer}};
  bool right = value.count == shape->rank && !value.paired;
  for (int i = 0; right && i < shape->rank; i++) {
    if (value.at[i] != SIZE_ANY)
      shape->dim[i] = value.at[i];
    right = shape->dim[i] >= 1;
  }
  if (right)
    return true;
  struct diagnostic *d =
      report(e, WRONG_RANK, found->span, "these sizes do not fit `%.*s`",
             SLICE_ARG(name));
  diag_label(d, stmt->more->value->span, "has %d ax%s", shape->rank,
             shape->rank == 1 ? "is" : "es");
  return diag_help(d, "give the same number of sizes, each at least 1, or `_` "
                      "to keep a size");
}

static bool read_input_shape(struct expander *e, const struct stmt *stmt,
                             struct shape *shape) {
  struct value value = eval(e, stmt->more->value);
  int64_t count;
  *shape = (struct shape){0};
  slip_product(e, stmt->more->value);
  if (!read_dtype(e, stmt, &shape->dtype) || value.kind == VALUE_POISON)
    return false;
  if (value.kind == VALUE_INT) {
    shape->rank = 1;
    shape->dim[0] = value.integer;
  } else if (value.kind == VALUE_SIZES) {
    shape->rank = value.count;
    memcpy(shape->dim, value.at, sizeof shape->dim);
  } else {
    report(e, WRONG_TYPE, stmt->more->value->span,
           "an input needs sizes such as 224x224x3, not %s",
           value_words(value.kind));
    return false;
  }
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] >= 1)
      continue;
    report(e, OUT_OF_RANGE, stmt->more->value->span,
           "the sizes of an input must be known, and at least 1");
    return false;
  }
  if (!take_sizes(e, stmt, shape))
    return false;
  const struct input_override *override = &e->in->override;
  if (override->active && override->input == (int64_t)e->model->sources.count)
    *shape = override->shape;
  if (shape_count(shape, &count))
    return true;
  report(e, TOO_LARGE, stmt->more->value->span,
         "this input has more than 2^63 - 1 values");
  return false;
}

void expand_input(struct expander *e, const struct stmt *stmt) {
  struct shape shape;
  int64_t first = (int64_t)e->model->nodes.count;
  e->in->inputs_seen++;
  e->lost = !read_input_shape(e, stmt, &shape);
  if (e->lost)
    partial_input(e, stmt);
  else
    node_add_input(e, stmt, shape);
  if (stmt->name.at) {
    expand_declare_label(e, stmt, stmt->name, stmt->name_span, first);
  } else if (e->model->sources.count > 1) {
    struct diagnostic *d = report(e, DUPLICATE_NAME, stmt->span,
                                  "every input after the first needs a name");
    diag_help(d, "write `input left 224x224x3`; `from left` makes it current");
  }
}

/* An output without a name has the name of its layer: `stem_conv1`. */
static struct slice output_name(struct expander *e, const struct stmt *stmt) {
  if (stmt->name.at)
    return stmt->name;
  struct text text = text_new(e->arena);
  model_put_name(&text, e->model, e->model->nodes.at[e->current].head);
  size_t length = 0;
  for (size_t i = 0; i < text.length; i++)
    if (text.at[i] != ']')
      text.at[length++] = strchr(".[", text.at[i]) ? '_' : text.at[i];
  text.length = length;
  return text_slice(&text);
}

void expand_output(struct expander *e, const struct stmt *stmt) {
  if (e->lost)
    return;
  if (e->current == NO_NODE) {
    report(e, NO_TENSOR, stmt->span, "there is no tensor yet to output");
    return;
  }
  struct slice name = output_name(e, stmt);
  int64_t *number = &map_add(e->arena, &e->outputs, name)->number;
  if (*number) {
    struct diagnostic *d =
        report(e, DUPLICATE_NAME, stmt->name_span,
               "two outputs have the name `%.*s`", SLICE_ARG(name));
    diag_label(d, e->model->outputs.at[*number - 1].span, "first here");
    return;
  }
  if (!node_may_read(e, e->current, stmt->span))
    return;
  struct output *output = VEC_PUSH(e->arena, &e->model->outputs);
  *output = (struct output){.node = e->current,
                            .name = name,
                            .span = stmt->name_span,
                            .train_only = e->trains};
  *number = (int64_t)e->model->outputs.count;
}

void expand_def(struct expander *e, const struct stmt *stmt) {
  struct arena_mark before = arena_mark(&e->scratch);
  struct map params = {0};
  for (struct def_param *p = stmt->more->params; p; p = p->next) {
    struct map_entry *entry = map_add(&e->scratch, &params, p->name);
    const struct def_param *first = entry->pointer;
    if (first) {
      diag_label(report(e, DUPLICATE_NAME, p->span,
                        "two parameters have the name `%.*s`",
                        SLICE_ARG(p->name)),
                 first->span, "first here");
      return;
    }
    entry->pointer = p;
    e->steps++;
  }
  arena_release(&e->scratch, before);
  struct symbol *symbol =
      scope_declare(e, SYMBOL_DEF, stmt->name, stmt->name_span);
  if (symbol->kind != SYMBOL_DEF || symbol->stmt)
    return;
  symbol->stmt = stmt;
  symbol->scope = e->scope;
}

void expand_net(struct expander *e, const struct stmt *stmt) {
  if (e->model->named) {
    struct diagnostic *d = report(e, DUPLICATE_NAME, stmt->span,
                                  "a file can describe only one net");
    diag_help(d, "the name of this net is already `%.*s`",
              SLICE_ARG(e->model->name));
    return;
  }
  e->model->named = true;
  e->model->name = stmt->name;
}

void expand_settings(struct expander *e, const struct stmt *stmt) {
  struct settings *settings = e->in->settings;
  bool train = slice_is(stmt->name, "train");
  bool infer = slice_is(stmt->name, "infer");
  struct binding b = {
      .spans = train   ? settings->train_spans
               : infer ? settings->infer_spans
                       : settings->budget_spans,
      .specs = train   ? train_specs
               : infer ? infer_specs
                       : budget_specs,
      .owner = train   ? "train"
               : infer ? "infer"
                       : "budget",
      .args = train   ? (void *)&settings->train
              : infer ? (void *)&settings->infer
                      : (void *)&settings->budget,
  };
  if (!train && !infer) /* given bits are kept: a budget may be given once */
    b.given = settings->budget_given;
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    bind_arg(e, &b, arg);
  if (train)
    settings->trains = true;
  if (settings->train.offload == OFFLOAD_OFF) /* no bit is set */
    settings->train.offload = OFFLOAD_NONE;
  if (!train && !infer)
    settings->budget_given = b.given;
}

void expand_settings_line(struct expander *e, const struct stmt *stmt) {
  expand_settings(e, stmt);
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    if (slice_is(stmt->name, "infer") && slice_is(arg->key, "dtype")) {
      e->in->typed = arg->span;
      agree_on_dtype(e);
    }
}
