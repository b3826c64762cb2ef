/*
 * Names: walks the syntax tree with scopes, without executing it. Therefore it
 * finds branches that are not taken and defs that are not called, which
 * renaming needs. Both this walk and sema follow the same rule: a name is
 * visible after its definition, inside the same braces.
 */
#include <stdlib.h>

#include "library/repair.h"
#include "library/sight.h"
#include "sema/binding/expander.h"

static void walk_block(struct name_walk *w, const struct block *block);
static void walk_expr(struct name_walk *w, const struct expr *expr);

enum netc_token_kind names_token(enum netc_name_kind kind) {
  return kind == NETC_NAME_LABEL ? NETC_TOKEN_LABEL
         : kind == NETC_NAME_DEF ? NETC_TOKEN_DEF
                                 : NETC_TOKEN_CONSTANT;
}

static int64_t kind_index(struct slice name) {
  for (size_t i = 0; i < layer_kind_count(); i++)
    if (slice_is(name, layer_kind_at(i)->name))
      return (int64_t)i;
  return -1;
}

static bool add_layer_role(struct name_walk *w, struct slice name,
                           struct span span) {
  int64_t kind = kind_index(name);
  if (kind >= 0)
    sight_add_role(
        w, span,
        (struct word_role){{0, 0}, NETC_TOKEN_LAYER, false, -1, kind, -1});
  return kind >= 0;
}

/* Row of an argument's word or of a padding's key, or -1. */
static int64_t row_of(const struct arg_spec *specs, struct slice word) {
  static const char letters[] = "c h w d l len";
  for (int64_t i = 0; specs && word.length && specs[i].name; i++) {
    bool padding = specs[i].type == TYPE_PADDING;
    if ((arg_is_axes(&specs[i]) && specs[i].place == PLACE_POSITION &&
         word_index(letters, word)) ||
        (specs[i].place == PLACE_WORD && word_index(specs[i].words, word)) ||
        ((specs[i].place == PLACE_KEY || padding) &&
         slice_is(word, specs[i].name)))
      return i;
  }
  return -1;
}

/* Expressions */

static struct span moved(const struct name_walk *w, struct span span) {
  return (struct span){span.begin + w->moved, span.end + w->moved};
}

static struct span word_span(const struct name_walk *w, struct span span,
                             struct slice word) {
  span.end = span.begin + (uint32_t)word.length;
  return moved(w, span);
}

static void walk_list(struct name_walk *w, const struct expr *expr) {
  for (; expr; expr = expr->next)
    walk_expr(w, expr);
}

static void walk_word(struct name_walk *w, struct slice name,
                      struct span span) {
  if (sight_use(w, name, span) || add_layer_role(w, name, span))
    return;
  *VEC_PUSH(w->arena, &w->late) = (struct late_word){w->sight, name, span};
}

static int64_t key_row(const struct arg_spec *specs, struct slice key) {
  for (int64_t i = 0; specs && specs[i].name; i++)
    if (slice_is(key, specs[i].name))
      return i;
  return -1;
}

/* True if the value of a key is one of its words, not a name: a param may hold
 * a word (`qknorm=norms`), a label cannot. */
static bool is_choice(const struct name_walk *w, const struct arg_spec *specs,
                      struct slice key, const struct expr *value) {
  int64_t row = key_row(specs, key);
  if (row < 0 || value->kind != EXPR_NAME)
    return false;
  int64_t name = sight_find(w->sight, value->name);
  if (name >= 0 && w->names->all.at[name].kind != NETC_NAME_LABEL &&
      w->names->all.at[name].kind != NETC_NAME_DEF)
    return false;
  const struct arg_spec *spec = &specs[row];
  return arg_is_choice(spec) ||
         (spec->type == TYPE_INT && word_index(spec->words, value->name));
}

static void walk_call(struct name_walk *w, const struct expr *call) {
  struct span span = word_span(w, call->span, call->name);
  bool function = eval_is_function(call->name); /* `min` is a layer, too */
  int64_t kind = function ? -1 : kind_index(call->name);
  if (function)
    sight_add_role(
        w, span,
        (struct word_role){{0, 0}, NETC_TOKEN_FUNCTION, false, -1, -1, -1});
  else
    walk_word(w, call->name, span);
  for (const struct expr *x = call->items; x; x = x->next) {
    struct slice word = x->kind == EXPR_KEYED  ? x->name
                        : x->kind == EXPR_NAME ? x->name
                                               : (struct slice){"", 0};
    const struct arg_spec *specs =
        kind >= 0 ? layer_kind_at((size_t)kind)->specs : NULL;
    int64_t row = row_of(specs, word);
    if (row >= 0)
      sight_add_role(
          w, word_span(w, x->span, word),
          (struct word_role){{0, 0}, NETC_TOKEN_OPTION, false, -1, kind, row});
    if (x->kind == EXPR_KEYED && !is_choice(w, specs, word, x->left))
      walk_expr(w, x->left);
    else if (x->kind != EXPR_KEYED && row < 0)
      walk_expr(w, x);
  }
}

static void walk_expr(struct name_walk *w, const struct expr *expr) {
  if (!expr)
    return;
  switch (expr->kind) {
  case EXPR_NAME: walk_word(w, expr->name, moved(w, expr->span)); break;
  case EXPR_CALL: walk_call(w, expr); break;
  case EXPR_DIMS:
  case EXPR_LIST: walk_list(w, expr->items); break;
  case EXPR_UNARY:
  case EXPR_KEYED: walk_expr(w, expr->left); break;
  case EXPR_PATH: {
    struct span span = {expr->span.end - (uint32_t)expr->name.length,
                        expr->span.end};
    walk_expr(w, expr->left);
    *VEC_PUSH(w->arena, &w->paths) =
        (struct late_path){w->sight, expr, moved(w, span)};
    break;
  }
  case EXPR_RANGE: walk_expr(w, expr->step); /* fall through */
  case EXPR_BINARY:
  case EXPR_INDEX:
  case EXPR_PAIR:
    walk_expr(w, expr->left);
    walk_expr(w, expr->right);
    break;
  default: break;
  }
}

/* Arguments */

/* Records a bare word that is an option of the layer or of any layer. */
static bool is_option(struct name_walk *w, const struct arg_spec *specs,
                      int64_t kind, struct slice word, struct span span,
                      bool key) {
  int64_t row = key ? key_row(specs, word) : row_of(specs, word);
  bool own = row >= 0;
  if (!own)
    row = key ? key_row(row_specs, word) : row_of(row_specs, word);
  if (row < 0 || (!key && specs && specs[row].place == PLACE_KEY && own &&
                  specs[row].type != TYPE_PADDING))
    return false;
  bool setting = own && kind < 0; /* its rows are found by netc_setting() */
  sight_add_role(w, span,
                 (struct word_role){{0, 0},
                                    NETC_TOKEN_OPTION,
                                    false,
                                    -1,
                                    own ? kind : -1,
                                    setting ? -1 : row});
  return true;
}

/* Records the use of a def's parameter as a key. */
static void use_parameter(struct name_walk *w, int64_t def,
                          const struct arg *arg) {
  const struct source_name *all = w->names->all.at;
  for (int64_t i = def + 1;
       (size_t)i < w->names->all.count && all[i].kind == NETC_NAME_ARGUMENT &&
       all[i].stmt == all[def].stmt;
       i++)
    if (slice_equal(all[i].name, arg->key))
      sight_add_use(w, i, moved(w, arg_key_span(arg)));
}

static void walk_arg(struct name_walk *w, const struct arg *arg,
                     const struct arg_spec *specs, int64_t kind, int64_t def) {
  struct slice word = arg->form == ARG_PLAIN && arg->value->kind == EXPR_NAME
                          ? arg->value->name
                          : (struct slice){"", 0};
  if (arg->form == ARG_BLOCK) {
    sight_enter(w, arg->block->span.end);
    walk_block(w, arg->block);
    sight_leave(w);
    return;
  }
  if (word.length && def < 0 &&
      is_option(w, specs, kind, word, moved(w, arg->span), false))
    return;
  if (arg->form == ARG_KEYED && def >= 0)
    use_parameter(w, def, arg);
  if (arg->form == ARG_KEYED && def < 0)
    is_option(w, specs, kind, arg->key, moved(w, arg_key_span(arg)), true);
  if (arg->form != ARG_KEYED || !is_choice(w, specs, arg->key, arg->value))
    walk_expr(w, arg->value);
}

static const struct arg_spec *section_specs(struct slice name) {
  return slice_is(name, "train")   ? train_specs
         : slice_is(name, "infer") ? infer_specs
                                   : budget_specs;
}

static void walk_args(struct name_walk *w, const struct stmt *stmt) {
  bool section = stmt->kind == STMT_SETTINGS;
  int64_t kind = section ? -1 : kind_index(stmt->name);
  int64_t def = section ? -1 : sight_find(w->sight, stmt->name);
  const struct arg_spec *specs = section ? section_specs(stmt->name)
                                 : kind >= 0
                                     ? layer_kind_at((size_t)kind)->specs
                                     : NULL;
  if (!section)
    walk_word(w, stmt->name, stmt->name_span);
  uint32_t outer = w->moved;
  w->moved = stmt->moved;
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    walk_arg(w, arg, specs, kind, def);
  w->moved = outer;
}

/* Statements */

static void walk_inner(struct name_walk *w, const struct block *block) {
  if (!block)
    return;
  sight_enter(w, block->span.end);
  walk_block(w, block);
  sight_leave(w);
}

static void walk_def(struct name_walk *w, const struct stmt *stmt) {
  sight_define(w, w->sight, NETC_NAME_DEF, stmt->name, stmt->name_span, stmt);
  struct sight *inner = sight_enter(w, stmt->more->block->span.end);
  inner->home = true;
  for (const struct def_param *p = stmt->more->params; p; p = p->next) {
    walk_expr(w, p->value);
    sight_define(w, inner, NETC_NAME_ARGUMENT, p->name, p->span, stmt);
  }
  walk_block(w, stmt->more->block);
  sight_leave(w);
}

static void walk_rows(struct name_walk *w, const struct stmt *stmt) {
  for (const struct table_row *row = stmt->more->rows; row; row = row->next)
    walk_list(w, row->values);
}

static void define_all(struct name_walk *w, enum netc_name_kind kind,
                       const struct stmt *stmt) {
  for (const struct name_list *n = stmt->more->names; n; n = n->next)
    sight_define(w, w->sight, kind, n->name, n->span, stmt);
}

static void walk_for(struct name_walk *w, const struct stmt *stmt) {
  walk_expr(w, stmt->more->value);
  walk_expr(w, stmt->more->high);
  walk_expr(w, stmt->more->step);
  walk_rows(w, stmt);
  sight_enter(w, stmt->more->block->span.end);
  define_all(w, NETC_NAME_TURN, stmt);
  walk_block(w, stmt->more->block);
  sight_leave(w);
}

static void walk_use(struct name_walk *w, const struct stmt *stmt);

static void walk_stmt(struct name_walk *w, const struct stmt *stmt) {
  const struct stmt_more *more = stmt->more;
  for (const struct expr *x = stmt->ends->label_indices; x; x = x->next)
    walk_expr(w, x);
  switch (stmt->kind) {
  case STMT_APPLY:
  case STMT_SETTINGS: walk_args(w, stmt); break;
  case STMT_GROUP: walk_inner(w, more->block); break;
  case STMT_FORK:
    if (stmt->single)
      walk_block(w, more->block);
    else
      walk_inner(w, more->block);
    break;
  case STMT_INPUT:
    walk_expr(w, more->value);
    if (stmt->name.at)
      sight_define(w, w->sight, NETC_NAME_LABEL, stmt->name, stmt->name_span,
                   stmt);
    break;
  case STMT_DEF: walk_def(w, stmt); break;
  case STMT_LET:
    walk_expr(w, more->value);
    sight_define(w, w->sight, NETC_NAME_LET, stmt->name, stmt->name_span, stmt);
    break;
  case STMT_PARAM:
    walk_rows(w, stmt);
    walk_expr(w, more->range);
    walk_expr(w, more->value);
    sight_define(w, w->sight, NETC_NAME_PARAM, stmt->name, stmt->name_span,
                 stmt);
    define_all(w, NETC_NAME_PARAM, stmt);
    break;
  case STMT_FOR: walk_for(w, stmt); break;
  case STMT_REPEAT:
  case STMT_IF:
    walk_expr(w, more->value);
    walk_inner(w, more->block);
    walk_inner(w, more->otherwise);
    break;
  case STMT_FROM:
  case STMT_AGAIN: walk_expr(w, more->value); break;
  case STMT_MESSAGE: walk_list(w, more->value); break;
  case STMT_USE: walk_use(w, stmt); break;
  default: break;
  }
  walk_expr(w, stmt->ends->mark);
  sight_define_label(w, stmt);
}

static void walk_block(struct name_walk *w, const struct block *block) {
  for (const struct stmt *stmt = block->first; stmt; stmt = stmt->next)
    walk_stmt(w, stmt);
}

/* Adds the names of another file, visible from here on. */
static void walk_use(struct name_walk *w, const struct stmt *stmt) {
  struct loader loader = load_loader(w->netc);
  const struct block *program = NULL;
  struct slice reason;
  int source =
      loader.load(loader.user, stmt->name, stmt->name_span, &program, &reason);
  for (size_t i = 1; i < w->load->units.count; i++) {
    const struct unit *unit = &w->load->units.at[i];
    if (source < 0 || unit->source != source || w->used[i] || !unit->program)
      continue;
    w->used[i] = true;
    size_t first = w->names->all.count;
    struct sight *outer = w->sight;
    w->sight = NULL; /* the file only has its own names */
    struct sight *own = sight_enter(w, unit->program->span.end);
    own->home = true;
    walk_block(w, unit->program);
    w->sight = outer;
    for (size_t k = first; k < w->names->all.count; k++) {
      struct source_name *name = &w->names->all.at[k];
      if (name->kind == NETC_NAME_LABEL ||
          sight_find_in(own, name->name) != (int64_t)k)
        continue;
      sight_take_in(w, outer, (int64_t)k);
      name->used_from = repair_written(w->load, stmt->span).end;
      name->used_to =
          repair_written(w->load, (struct span){outer->end, outer->end}).end;
    }
  }
}

static int compare_roles(const void *a, const void *b) {
  uint32_t x = ((const struct word_role *)a)->span.begin;
  uint32_t y = ((const struct word_role *)b)->span.begin;
  return (x > y) - (x < y);
}

const struct source_names *names_of(struct netc *netc) {
  struct load *load = netc->load;
  if (load->names)
    return load->names;
  struct source_names *names = ARENA_NEW(&load->arena, struct source_names);
  struct name_walk w = {
      .netc = netc, .load = load, .arena = &load->arena, .names = names};
  const struct block *program = load->repaired_program
                                    ? load->repaired_program
                                    : load->units.at[0].program;
  w.used = arena_alloc(w.arena, load->units.count + 1, sizeof *w.used);
  if (program) {
    sight_enter(&w, program->span.end)->home = true;
    walk_block(&w, program);
  }
  sight_use_late(&w);
  if (names->roles.count)
    qsort(names->roles.at, names->roles.count, sizeof *names->roles.at,
          compare_roles);
  load->names = names;
  return names;
}
