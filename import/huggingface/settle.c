/* Settling a source's params: edits of its text, by its syntax tree. */
#include "import/huggingface/settle.h"

#include <stdlib.h>

#include "base/map.h"
#include "import/huggingface/repeats.h"
#include "layers/layer.h"
#include "parser/parse.h"

enum { MOST_ROUNDS = 8 };

struct settle_edit {
  uint32_t begin, end; /* in the source map, */
  uint32_t order;      /* as they were made */
  struct slice text;
};

struct settler {
  struct arena *arena;
  struct sources sources;
  struct source *source;
  struct known_names names;
  VEC(struct settle_edit) edits;
  struct map called; /* names that stand somewhere */
  settle_fn *given;
  void *user;
  struct slice name;
  bool refused;
};

static void edit(struct settler *s, uint32_t begin, uint32_t end,
                 struct slice text) {
  *VEC_PUSH(s->arena, &s->edits) =
      (struct settle_edit){begin, end, (uint32_t)s->edits.count, text};
}

static char char_at(const struct settler *s, uint32_t at) {
  size_t place = at - s->source->base;
  return place < s->source->text.length ? s->source->text.at[place] : '\n';
}

/* A statement with the label in front of it, and the `;` after it. */
static void drop(struct settler *s, const struct stmt *stmt, uint32_t begin,
                 uint32_t end) {
  if (stmt->ends->label.at && stmt->ends->label_span.begin < begin)
    begin = stmt->ends->label_span.begin;
  while (strchr(" \t", char_at(s, end)))
    end++;
  edit(s, begin, end + (char_at(s, end) == ';'), (struct slice){"", 0});
}

/* Expressions. `moved`: bytes from their spans to where they stand. */

static bool is_literal(const struct expr *expr) {
  return expr->kind == EXPR_INT || expr->kind == EXPR_REAL ||
         expr->kind == EXPR_BOOL;
}

static void settle_expr(struct settler *s, const struct expr *expr,
                        uint32_t moved);

static void settle_list(struct settler *s, const struct expr *list,
                        uint32_t moved) {
  for (; list; list = list->next)
    settle_expr(s, list, moved);
}

static void put_known(struct settler *s, struct span span, uint32_t moved,
                      const struct settled *value) {
  struct text text = text_new(s->arena);
  uint32_t begin = span.begin + moved, end = span.end + moved;
  known_put(&text, value);
  bool whole = value->kind != KNOWN_WORD;
  while (whole && char_at(s, begin - 1) == '(' && char_at(s, end) == ')' &&
         strchr(" =*/+-x\t\n", char_at(s, begin - 2)))
    begin--, end++;
  edit(s, begin, end, text_slice(&text));
}

static void settle_expr(struct settler *s, const struct expr *expr,
                        uint32_t moved) {
  struct settled value = known_value(&s->names, expr);
  if (is_literal(expr))
    return;
  if (value.kind != KNOWN_NOT) {
    put_known(s, expr->span, moved, &value);
    return;
  }
  switch (expr->kind) {
  case EXPR_NAME: map_add(s->arena, &s->called, expr->name); break;
  case EXPR_CALL: map_add(s->arena, &s->called, expr->name); /* fallthrough */
  case EXPR_DIMS:
  case EXPR_LIST: settle_list(s, expr->items, moved); break;
  case EXPR_UNARY:
  case EXPR_KEYED:
  case EXPR_PATH: settle_expr(s, expr->left, moved); break;
  case EXPR_BINARY:
  case EXPR_INDEX:
  case EXPR_PAIR:
  case EXPR_RANGE:
    settle_expr(s, expr->left, moved);
    settle_expr(s, expr->right, moved);
    if (expr->step)
      settle_expr(s, expr->step, moved);
    break;
  default: break;
  }
}

/* Statements */

static void settle_block(struct settler *s, const struct block *block);

/* What a layer takes for granted, which a person does not write. */
static bool is_usual(struct slice key, const struct settled *value) {
#define USUAL(name, number)                             \
  if (slice_is(key, name) && value->real >= (number) && \
      value->real <= (number))                          \
    return true;
#define USUAL_WORD(name, word)                            \
  if (slice_is(key, name) && value->kind == KNOWN_WORD && \
      slice_is(value->text, word))                        \
    return true;
#include "import/huggingface/huggingface.def"
  return false;
}

/* `rotary=64` beside `dim=64`: as large as it is anyway. */
static bool is_as_large(struct settler *s, const struct stmt *stmt,
                        const struct arg *arg) {
  const char *of = NULL;
#define AS_LARGE(name, other)   \
  if (slice_is(arg->key, name)) \
    of = other;
#include "import/huggingface/huggingface.def"
  if (!of)
    return false;
  struct settled value = known_value(&s->names, arg->value);
  for (const struct arg *a = stmt->args; a; a = a->next)
    if (a->form == ARG_KEYED && slice_is(a->key, of)) {
      struct settled other = known_value(&s->names, a->value);
      return value.kind == KNOWN_INT && other.kind == KNOWN_INT &&
             value.integer == other.integer;
    }
  return false;
}

/* True for layers that have a bias unless the source says otherwise. */
static bool has_bias(const struct stmt *stmt) {
  const struct layer_kind *kind = layer_kind_find(stmt->name);
  const struct arg_spec *spec = kind ? kind->specs : NULL;
  while (spec && spec->name && strcmp(spec->name, "bias") != 0)
    spec++;
  return !spec || !spec->name || spec->type == TYPE_BIAS ||
         spec->type == TYPE_CHOICE;
}

/* key=true is the word alone, key=false nothing; of biases the other way. */
static void settle_keyed(struct settler *s, const struct stmt *stmt,
                         const struct arg *arg) {
  struct settled value = known_value(&s->names, arg->value);
  uint32_t begin = arg->span.begin + stmt->moved;
  uint32_t end = arg->span.end + stmt->moved;
  bool bias = slice_is(arg->key, "bias") && has_bias(stmt);
  bool applied = stmt->kind == STMT_APPLY;
  if (applied && (is_usual(arg->key, &value) || is_as_large(s, stmt, arg))) {
    edit(s, begin, end, (struct slice){"", 0});
  } else if (applied && value.kind == KNOWN_WORD &&
             (slice_is(value.text, "none") ||
              (bias && slice_is(value.text, "qkvo")))) {
    bool nobias = bias && slice_is(value.text, "none");
    edit(s, begin, end, nobias ? slice_of("nobias") : (struct slice){"", 0});
  } else if (is_literal(arg->value) || stmt->kind != STMT_APPLY ||
             value.kind == KNOWN_NOT || value.kind == KNOWN_WORD) {
    settle_expr(s, arg->value, stmt->moved);
  } else if (value.kind != KNOWN_BOOL) {
    put_known(s, arg->value->span, stmt->moved, &value);
  } else if (bias == !value.integer) {
    edit(s, begin, end, bias ? slice_of("nobias") : arg->key);
  } else {
    edit(s, begin, end, (struct slice){"", 0});
  }
}

static void settle_args(struct settler *s, const struct stmt *stmt) {
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    if (arg->form == ARG_BLOCK)
      settle_block(s, arg->block);
    else if (arg->form == ARG_KEYED)
      settle_keyed(s, stmt, arg);
    else
      settle_expr(s, arg->value, stmt->moved);
}

static void add_calls(struct settler *s, struct slice calls) {
  struct slice name;
  while (known_call(&calls, &name))
    map_add(s->arena, &s->called, name);
}

static void settle_param(struct settler *s, const struct stmt *stmt) {
  struct settled value = {.kind = KNOWN_NOT};
  if (stmt->more->value)
    value = known_value(&s->names, stmt->more->value);
  if (value.kind == KNOWN_NOT && stmt->more->value &&
      stmt->more->value->kind == EXPR_NAME)
    value =
        (struct settled){.kind = KNOWN_WORD, .text = stmt->more->value->name};
  value = s->given(s->user, stmt, &value);
  if (value.kind == KNOWN_NOT)
    s->refused = true;
  for (size_t i = 0; value.list && i < value.list->all.count; i++)
    add_calls(s, value.list->all.at[i]);
  known_add(&s->names, stmt->name, value);
  drop(s, stmt, stmt->span.begin, stmt->span.end);
}

static void settle_let(struct settler *s, const struct stmt *stmt) {
  struct settled value = known_value(&s->names, stmt->more->value);
  known_add(&s->names, stmt->name, value);
  if (value.kind != KNOWN_NOT)
    drop(s, stmt, stmt->span.begin, stmt->span.end);
  else
    settle_expr(s, stmt->more->value, 0);
}

static uint32_t if_end(const struct stmt *stmt) {
  const struct block *otherwise = stmt->more->otherwise;
  return otherwise ? otherwise->span.end : stmt->more->block->span.end;
}

/* `else if`: its block is that `if`, without braces. */
static const struct stmt *chained(const struct settler *s,
                                  const struct block *block) {
  return block && char_at(s, block->span.begin) != '{' ? block->first : NULL;
}

/* What is asked of tensors or loops stays, and what else follows it. */
static void keep_if(struct settler *s, const struct stmt *stmt) {
  const struct block *otherwise = stmt->more->otherwise;
  settle_expr(s, stmt->more->value, 0);
  settle_block(s, stmt->more->block);
  if (chained(s, otherwise))
    keep_if(s, otherwise->first);
  else if (otherwise)
    settle_block(s, otherwise);
}

/* The branch that is taken stands where the condition stood. */
static void settle_if(struct settler *s, const struct stmt *stmt) {
  struct settled value = known_value(&s->names, stmt->more->value);
  const struct block *taken =
      value.integer ? stmt->more->block : stmt->more->otherwise;
  uint32_t end = if_end(stmt);
  if (value.kind != KNOWN_BOOL) {
    keep_if(s, stmt);
  } else if (!taken || !taken->first) {
    drop(s, stmt, stmt->span.begin, end);
  } else {
    const struct stmt *next = chained(s, taken);
    edit(s, stmt->span.begin, next ? next->span.begin : taken->span.begin + 1,
         (struct slice){"", 0});
    settle_block(s, taken);
    edit(s, taken->span.end - !next, end, (struct slice){"", 0});
  }
}

/* Names that loops and defs bind hide what is known. */
static void settle_inner(struct settler *s, const struct stmt *stmt) {
  size_t outer = s->names.all.count;
  for (const struct def_param *p = stmt->more->params; p; p = p->next) {
    if (p->value)
      settle_expr(s, p->value, 0);
    known_add(&s->names, p->name, (struct settled){.kind = KNOWN_NOT});
  }
  if (stmt->kind == STMT_FOR)
    for (const struct name_list *n = stmt->more->names; n; n = n->next)
      known_add(&s->names, n->name, (struct settled){.kind = KNOWN_NOT});
  settle_block(s, stmt->more->block);
  s->names.all.count = outer;
}

/* `for block in pattern { block }`: the calls, repeated where they repeat. */
static bool settle_pattern(struct settler *s, const struct stmt *stmt) {
  if (stmt->kind != STMT_FOR || stmt->more->high || !stmt->more->value)
    return false;
  const struct stmt *call = stmt->more->block->first;
  struct settled list = known_value(&s->names, stmt->more->value);
  if (list.kind != KNOWN_LIST || !call || call->next || call->args ||
      call->kind != STMT_APPLY ||
      !slice_equal(call->name, stmt->more->names->name))
    return false;
  struct text text = text_new(s->arena);
  repeats_put(&text, list.list->all.at, list.list->all.count);
  edit(s, stmt->span.begin, stmt->more->block->span.end, text_slice(&text));
  return true;
}

/* A row of a table with `none`, a member that a list lacks, goes. */
static bool drop_row(struct settler *s, const struct table_row *row) {
  bool none = false;
  uint32_t end = 0;
  for (const struct expr *value = row->values; value; value = value->next) {
    struct settled known = known_value(&s->names, value);
    none = none || (known.kind == KNOWN_WORD && slice_is(known.text, "none"));
    end = value->span.end;
  }
  if (none)
    edit(s, row->values->span.begin, end + (char_at(s, end) == ';'),
         (struct slice){"", 0});
  return none;
}

static void settle_values(struct settler *s, const struct stmt *stmt) {
  settle_list(s, stmt->more->value, 0);
  if (stmt->more->high)
    settle_expr(s, stmt->more->high, 0);
  if (stmt->more->step)
    settle_expr(s, stmt->more->step, 0);
  for (const struct table_row *row = stmt->more->rows; row; row = row->next)
    if (!drop_row(s, row))
      settle_list(s, row->values, 0);
}

/* gelu(approximate=tanh) of a tail is `gelu approximate=tanh` by itself. */
static void settle_word(struct settler *s, const struct stmt *stmt) {
  struct expr name = {
      .kind = EXPR_NAME, .span = stmt->name_span, .name = stmt->name};
  struct settled value = known_value(&s->names, &name);
  if (value.kind != KNOWN_WORD) {
    settle_expr(s, &name, 0);
    return;
  }
  struct text text = text_new(s->arena);
  map_add(s->arena, &s->called, value.text);
  for (size_t i = 0; i < value.text.length; i++)
    if (value.text.at[i] != ')')
      text_putc(&text, value.text.at[i] == '(' ? ' ' : value.text.at[i]);
  edit(s, stmt->name_span.begin, stmt->name_span.end, text_slice(&text));
}

static void settle_apply(struct settler *s, const struct stmt *stmt) {
  settle_word(s, stmt);
  settle_args(s, stmt);
}

static void settle_stmt(struct settler *s, const struct stmt *stmt) {
  settle_list(s, stmt->ends->label_indices, 0);
  if (stmt->ends->mark)
    settle_expr(s, stmt->ends->mark, 0);
  switch (stmt->kind) {
  case STMT_PARAM: settle_param(s, stmt); return;
  case STMT_LET: settle_let(s, stmt); return;
  case STMT_IF: settle_if(s, stmt); return;
  case STMT_NET:
    edit(s, stmt->name_span.begin, stmt->name_span.end, s->name);
    return;
  case STMT_APPLY: settle_apply(s, stmt); return;
  default:
    if (settle_pattern(s, stmt))
      return;
    settle_values(s, stmt);
    settle_args(s, stmt);
    if (stmt->more->block)
      settle_inner(s, stmt);
  }
}

static void settle_block(struct settler *s, const struct block *block) {
  size_t outer = s->names.all.count;
  for (const struct stmt *stmt = block->first; stmt; stmt = stmt->next)
    settle_stmt(s, stmt);
  s->names.all.count = outer;
}

/* Defs that nothing calls any more, and labels of layers likewise. */
static bool drop_unused(struct settler *s, const struct block *program) {
  bool any = false;
  for (const struct stmt *stmt = program->first; stmt; stmt = stmt->next) {
    struct span label = stmt->ends->label_span;
    if (stmt->kind == STMT_DEF && !map_find(&s->called, stmt->name)) {
      drop(s, stmt, stmt->span.begin, stmt->more->block->span.end);
      any = true;
    }
    if (stmt->kind == STMT_APPLY && label.end > label.begin &&
        !map_find(&s->called, stmt->ends->label)) {
      edit(s, label.begin, stmt->span.begin, (struct slice){"", 0});
      any = true;
    }
  }
  return any;
}

/* The text */

static int by_place(const void *a, const void *b) {
  const struct settle_edit *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return x->end != y->end ? (x->end > y->end ? -1 : 1)
                          : (x->order > y->order) - (x->order < y->order);
}

/* Without comments, and without lines and `;` that nothing is left of. */
static void put_tidy(struct text *out, struct slice text) {
  bool quoted = false, comment = false;
  size_t line = out->length;
  for (size_t i = 0; i < text.length; i++) {
    char c = text.at[i];
    quoted = (quoted != (c == '"' && !comment)) && c != '\n';
    comment = (comment || (c == '#' && !quoted)) && c != '\n';
    if (comment || c == '\r')
      continue;
    if (c == '\\' && i + 1 < text.length && text.at[i + 1] == '\n') {
      for (i++; i + 1 < text.length && text.at[i + 1] == ' ';)
        i++;
      continue; /* lines that are joined are one */
    }
    char last = out->length > line ? out->at[out->length - 1] : '\n';
    size_t end = out->length;
    while (end > line && out->at[end - 1] == ' ')
      last = --end > line ? out->at[end - 1] : '\n';
    if (c == ' ' && !quoted && end > line && end < out->length) {
      continue; /* what stood between two blanks is gone */
    } else if (c == '\n' && end == line) {
      out->length = line; /* an empty line */
    } else if (c == ';' && !quoted && strchr(";{\n", last)) {
      continue;
    } else {
      if (c == '\n' || (c == '}' && last == ';'))
        out->length = end - (last == ';');
      if (c == '}' && last == ';')
        text_putc(out, ' ');
      text_putc(out, c);
      line = c == '\n' ? out->length : line;
    }
  }
}

static void put_edited(struct settler *s, struct text *out) {
  struct text text = text_new(s->arena);
  struct slice source = s->source->text;
  uint32_t at = s->source->base;
  if (s->edits.count)
    qsort(s->edits.at, s->edits.count, sizeof *s->edits.at, by_place);
  for (size_t i = 0; i < s->edits.count; i++) {
    const struct settle_edit *e = &s->edits.at[i];
    if (e->begin < at) /* inside what is replaced as a whole */
      continue;
    text_bytes(&text, source.at + (at - s->source->base), e->begin - at);
    text_puts(&text, e->text);
    at = e->end;
  }
  text_puts(&text, sources_rest(&s->sources, at));
  put_tidy(out, text_slice(&text));
}

/* Once over the text; whether it is worth another time. */
static bool settle_once(struct settler *s, struct slice source,
                        struct text *out) {
  struct diags quiet;
  int statements = 0;
  s->sources = (struct sources){.arena = s->arena};
  s->names = (struct known_names){.arena = s->arena};
  s->edits.count = 0;
  s->called = (struct map){0};
  diags_open(&quiet, s->arena, &s->sources);
  int number = sources_add(&s->sources, slice_of("template"), source);
  const struct block *program =
      number < 0 ? NULL : parse(s->arena, &quiet, number, &statements);
  if (!program || quiet.errors) {
    s->refused = true;
    return false;
  }
  s->source = &s->sources.all.at[number];
  settle_block(s, program);
  bool unused = drop_unused(s, program);
  put_edited(s, out);
  return unused;
}

bool settle_source(struct arena *arena, struct slice source, struct slice name,
                   settle_fn *given, void *user, struct text *out) {
  struct settler s = {
      .arena = arena, .name = name, .given = given, .user = user};
  bool again = true;
  for (int round = 0; again && round < MOST_ROUNDS && !s.refused; round++) {
    *out = text_new(arena);
    again = settle_once(&s, source, out);
    source = text_slice(out);
  }
  return !s.refused;
}
