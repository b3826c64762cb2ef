/*
 * Interprets the syntax tree. Loops run, conditions are decided, calls bind
 * their parameters, and every layer becomes a node with its shape. There is one
 * current tensor.
 */
#include "sema/expand.h"

#include "sema/statements.h"

/* Names */

/* Declares a name; reports it if this scope has it already. */
struct symbol *scope_declare(struct expander *e, enum symbol_kind kind,
                             struct slice name, struct span span) {
  struct symbol *before = scope_own(e->scope, name);
  if (!before)
    return scope_add(&e->pool, e->scope, kind, name, span);
  struct diagnostic *d = report(e, DUPLICATE_NAME, span,
                                "`%.*s` is defined twice", SLICE_ARG(name));
  diag_label(d, before->span, "first here");
  return before;
}

void expand_declare_label(struct expander *e, const struct stmt *stmt,
                          struct slice label, struct span span, int64_t first) {
  struct symbol *symbol = stmt->ends->label_indices
                              ? label_declare(e, stmt->ends->label, label, span)
                              : scope_declare(e, SYMBOL_LABEL, label, span);
  if (!symbol || symbol->kind != SYMBOL_LABEL)
    return;
  symbol->stmt = stmt;
  symbol->scope = e->scope;
  symbol->node = e->lost ? NO_NODE : e->current;
  symbol->first = first;
  symbol->end = (int64_t)e->model->nodes.count;
}

/* Scopes and blocks */

void expand_enter(struct expander *e) {
  e->scope = scope_enter(&e->pool, e->scope);
}

void expand_leave(struct expander *e) {
  e->scope = scope_leave(&e->pool, e->scope);
}

void expand_scoped(struct expander *e, const struct block *block) {
  expand_enter(e);
  expand_block(e, block);
  expand_leave(e);
}

/* Statements about tensors */

static void expand_group(struct expander *e, const struct stmt *stmt,
                         struct slice label) {
  if (!label.at) { /* braces without a name only limit the scope of labels */
    expand_scoped(e, stmt->more->block);
    return;
  }
  int64_t outer = group_enter(e, label, label, stmt);
  expand_scoped(e, stmt->more->block);
  group_leave(e, outer);
}

bool is_checkpoint(const struct stmt *stmt) {
  const struct arg *arg = stmt->args;
  return slice_is(stmt->name, CHECKPOINT_WORD) && arg && !arg->next &&
         arg->form == ARG_BLOCK;
}

/* checkpoint { ... }: a group whose activations are recomputed. */
void expand_checkpoint(struct expander *e, const struct stmt *stmt,
                       struct slice label) {
  int64_t outer = group_enter(e, label, stmt->name, stmt);
  e->model->groups.at[e->group].checkpoint = true;
  expand_scoped(e, stmt->args->block);
  group_leave(e, outer);
}

static void expand_fork(struct expander *e, const struct stmt *stmt,
                        struct slice label) {
  int64_t current = e->current, first = (int64_t)e->model->nodes.count;
  bool lost = e->lost, trains = e->trains;
  e->trains = trains || stmt->training;
  if (stmt->single) { /* its label is visible outside, as a layer's is */
    expand_stmt(e, stmt->more->block->first);
  } else if (label.at) {
    expand_group(e, stmt, label);
    expand_declare_label(e, stmt, label, stmt->ends->label_span, first);
  } else {
    expand_scoped(e, stmt->more->block);
  }
  e->current = current;
  e->lost = lost;
  e->trains = trains;
}

static void expand_from(struct expander *e, const struct stmt *stmt) {
  struct symbol *symbol = label_find(e, stmt->more->value);
  e->lost = !symbol || symbol->node == NO_NODE;
  if (!e->lost)
    e->current = symbol->node;
}

static bool can_repeat(struct expander *e, const struct stmt *stmt,
                       const struct symbol *symbol) {
  if (symbol->node == NO_NODE)
    return false;
  if (!symbol->stmt) {
    struct diagnostic *d = report(e, UNKNOWN_LABEL, stmt->name_span,
                                  "`again` needs a label, and `%.*s` is a path",
                                  SLICE_ARG(stmt->name));
    return diag_help(
        d, "write a label in front of the layer: `shared[1]: conv ...` is "
           "visible in its whole def or file");
  }
  enum stmt_kind kind = symbol->stmt->kind;
  if (kind == STMT_APPLY || kind == STMT_GROUP || kind == STMT_AGAIN)
    return true;
  struct diagnostic *d = report(e, UNKNOWN_LABEL, stmt->name_span,
                                "`%.*s` is not a layer or group to apply again",
                                SLICE_ARG(stmt->name));
  diag_label(d, symbol->span, "labelled here");
  return false;
}

static void expand_body(struct expander *e, const struct stmt *stmt,
                        struct slice label);

static void expand_again(struct expander *e, const struct stmt *stmt,
                         struct slice label) {
  struct symbol *symbol = label_find(e, stmt->more->value);
  struct frame frame = {.stmt = stmt};
  if (!symbol || !can_repeat(e, stmt, symbol) || !frame_enter(e, frame)) {
    e->lost = true;
    return;
  }
  struct scope *outer_scope = e->scope;
  int64_t share = e->share, share_end = e->share_end;
  if (share == NO_NODE) { /* not inside another `again` */
    e->share = symbol->first;
    e->share_end = symbol->end;
  }
  e->scope = scope_enter(&e->pool, symbol->scope);
  e->scope->home = SCOPE_AGAIN;
  expand_body(e, symbol->stmt, label.at ? label : symbol->name);
  expand_leave(e);
  e->scope = outer_scope;
  if (share == NO_NODE) {
    e->share = share;
    e->share_end = share_end;
  }
  frame_leave(e);
}

/* Source that cannot be parsed: the current tensor becomes unknown. */
static void expand_hole(struct expander *e, const struct stmt *stmt) {
  *VEC_PUSH(e->arena, &e->holes) = stmt->span;
  e->lost = true;
}

static void expand_body(struct expander *e, const struct stmt *stmt,
                        struct slice label) {
  switch (stmt->kind) {
  case STMT_APPLY: apply_stmt(e, stmt, label); break;
  case STMT_GROUP: expand_group(e, stmt, label); break;
  default: expand_again(e, stmt, label); break;
  }
}

void expand_stmt(struct expander *e, const struct stmt *stmt) {
  int64_t first = (int64_t)e->model->nodes.count;
  int64_t before = e->current;
  struct slice label = stmt->ends->label;
  if (stmt->ends->label_indices && !label_text(e, stmt, &label)) {
    e->lost = true;
    partial_go_on(e, stmt, before);
    return;
  }
  switch (stmt->kind) {
  case STMT_APPLY:
  case STMT_GROUP:
  case STMT_AGAIN:
    expand_body(e, stmt, label);
    partial_go_on(e, stmt, before);
    mark_record(e, stmt);
    if (label.at)
      expand_declare_label(e, stmt, label, stmt->ends->label_span, first);
    break;
  case STMT_FORK: expand_fork(e, stmt, label); break;
  case STMT_FROM: expand_from(e, stmt); break;
  case STMT_OUTPUT: expand_output(e, stmt); break;
  case STMT_NET: expand_net(e, stmt); break;
  case STMT_INPUT: expand_input(e, stmt); break;
  case STMT_DEF: expand_def(e, stmt); break;
  case STMT_LET: expand_let(e, stmt); break;
  case STMT_PARAM: expand_param(e, stmt); break;
  case STMT_REPEAT: expand_repeat(e, stmt); break;
  case STMT_FOR: expand_for(e, stmt); break;
  case STMT_IF: expand_if(e, stmt); break;
  case STMT_USE: expand_use(e, stmt); break;
  case STMT_SETTINGS: expand_settings_line(e, stmt); break;
  case STMT_MESSAGE: expand_message(e, stmt); break;
  case STMT_HOLE: expand_hole(e, stmt); break;
  }
  partial_go_on(e, stmt, before);
  if (stmt->ends->mark)
    mark_check(e, stmt);
}

void expand_block(struct expander *e, const struct block *block) {
  for (const struct stmt *stmt = block->first; stmt; stmt = stmt->next) {
    if (!turns_step(e, stmt->span))
      return;
    expand_stmt(e, stmt);
  }
}

/* Marks inputs that only training reads; inference does not have them. */
static void find_training_inputs(struct model *model, struct arena *arena) {
  size_t count = model->nodes.count + 1;
  bool *read = arena_alloc(arena, count, sizeof *read);
  bool *predicted = arena_alloc(arena, count, sizeof *predicted);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++) {
      int64_t from = node_input(model, node, k);
      read[from] = true;
      predicted[from] = predicted[from] || !node->train_only;
    }
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    predicted[model->outputs.at[i].node] = true;
  for (size_t i = 0; i < model->sources.count; i++) {
    int64_t source = model->sources.at[i];
    model->nodes.at[source].train_only = read[source] && !predicted[source];
  }
}

/* Puts the inputs and outputs of inference first and keeps their order. */
static void part_ends(struct model *model, struct arena *arena) {
  size_t inputs = model->sources.count, outputs = model->outputs.count;
  int64_t *sources = arena_alloc(arena, inputs + 1, sizeof *sources);
  struct output *ends = arena_alloc(arena, outputs + 1, sizeof *ends);
  size_t in = 0, out = 0;
  for (int train = 0; train <= 1; train++) {
    for (size_t i = 0; i < inputs; i++)
      if (model->nodes.at[model->sources.at[i]].train_only == train)
        sources[in++] = model->sources.at[i];
    for (size_t i = 0; i < outputs; i++)
      if (model->outputs.at[i].train_only == train)
        ends[out++] = model->outputs.at[i];
    if (!train) {
      model->predicted_sources = in;
      model->predicted_outputs = out;
    }
  }
  if (inputs)
    memcpy(model->sources.at, sources, inputs * sizeof *sources);
  if (outputs)
    memcpy(model->outputs.at, ends, outputs * sizeof *ends);
}

static void find_prediction(struct expander *e) {
  struct model *model = e->model;
  find_training_inputs(model, e->arena);
  part_ends(model, e->arena);
  if (model->predicted_outputs || !model->outputs.count)
    return;
  struct diagnostic *d = diag(e->diags, NO_TENSOR, model->outputs.at[0].span,
                              "all outputs are in `fork train`, so inference "
                              "has none");
  diag_help(d, "name an output for inference with `output`, outside `fork "
               "train`");
}

static void finish(struct expander *e, const struct block *program) {
  struct model *model = e->model;
  model->groups.at[0].end = (int64_t)model->nodes.count;
  if (e->diags->errors || e->lost)
    return;
  if (model->sources.count == 0 && model->nodes.count == 0) {
    struct diagnostic *d =
        diag(e->diags, NO_INPUT, program->close, "this file describes no net");
    diag_help(d, "start the net with `input 224x224x3`; `netc --help` and the "
                 "examples show more");
  } else if (model->outputs.count == 0) {
    *VEC_PUSH(e->arena, &model->outputs) = (struct output){.node = e->current};
  }
  find_prediction(e);
}

static struct expander open_expander(struct expansion *expansion,
                                     struct model *model) {
  struct scope *file = ARENA_NEW(expansion->arena, struct scope);
  file->home = SCOPE_HOME;
  return (struct expander){.in = expansion,
                           .arena = expansion->arena,
                           .diags = expansion->diags,
                           .model = model,
                           .scope = file,
                           .pool = {.arena = expansion->arena},
                           .current = NO_NODE,
                           .copies = {1, 1},
                           .freezes = expansion->adapters.rank > 0,
                           .row = {.frozen = expansion->adapters.rank > 0},
                           .share = NO_NODE};
}

void expand_program(struct expansion *expansion, const struct block *program,
                    struct model *model) {
  struct expander e = open_expander(expansion, model);
  model->arena = expansion->arena;
  expansion->settings->budget_given = 0; /* may be set by an earlier trial */
  expansion->small = expansion->typed = (struct span){0};
  struct group *net = VEC_PUSH(e.arena, &model->groups);
  net->parent = NO_NODE;
  net->span = program->span;
  net->out = GROUP_OPEN;
  e.program = program;
  e.broken = e.diags->errors;
  arena_open_in(&e.scratch, e.arena);
  expand_block(&e, program);
  arena_close(&e.scratch);
  finish(&e, program);
}

void expand_choice(struct expansion *expansion, const struct stmt *stmt) {
  struct model none = {0};
  struct expander e = open_expander(expansion, &none);
  expansion->settings->budget_given = 0; /* overrides the source */
  if (stmt->kind == STMT_SETTINGS)
    expand_settings(&e, stmt);
}

struct value expand_value(struct expansion *expansion,
                          const struct expr *expr) {
  struct model none = {0};
  struct expander e = open_expander(expansion, &none);
  return eval(&e, expr);
}
