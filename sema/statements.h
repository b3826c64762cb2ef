/* Inside the expander: what the files that carry out statements share. */
#ifndef NETC_SEMA_STATEMENTS_H
#define NETC_SEMA_STATEMENTS_H

#include "sema/binding/expander.h"
#include "sema/expand.h"

/* Words: apply.c */

/* What a word means: a layer, a def, or neither (reported). */
struct meaning {
  const struct layer_kind *kind;
  const struct layer_value *given; /* its arguments, or NULL */
  struct symbol *def;
};

bool resolve_word(struct expander *e, struct slice name, struct span span,
                  struct meaning *meaning);

/* Tails: tail.c */

struct tail_word {
  const struct layer_kind *kind;
  struct span span;
  int64_t ordinal;         /* among the words of its kind, from 1 */
  struct binding *binding; /* NULL: without arguments */
};

struct tail {
  VEC(struct tail_word) words;
};

/* Adds `relu` or `leaky(0.1)`; false, and reported, if it cannot stand there.
 */
bool tail_read(struct expander *e, struct tail *tail, const struct expr *expr);

/* Reports an argument that stands after a word of the tail. */
void tail_refuse_value(struct expander *e, const struct tail *tail,
                       const struct arg *arg);

/* A layer whose tail normalises its channels has no bias of its own. */
void tail_drop_biases(struct tail *tail, struct binding *head);

/* Applies all of it to the current tensor. Where no layer stands in front of
 * it (head NO_NODE), the first word is called `alone` and is the head. */
bool tail_apply(struct expander *e, const struct tail *tail, int64_t head,
                const struct node_name *alone);

/* Its bindings are used again. */
void tail_let_go(struct expander *e, const struct tail *tail);

/* What a statement is bound to: bound.c */

/* An operand of a join: a block, or the label of a tensor. */
struct join_operand {
  const struct block *block;
  int64_t node;
  struct span span;
};

struct bound {
  struct bound *next; /* among those that are free */
  const struct layer_kind *kind;
  const struct arg *args;
  uint32_t begin;    /* of the statement */
  uint32_t main_end; /* of the layer itself, without its tail */
  struct binding binding, options;
  struct tail tail;
  VEC(struct join_operand) operands;
  bool ranged; /* operands by a range: the current tensor is none of them */
  bool kept;   /* for the same statement, or for an equal text */
};

/* In a loop, a statement of literals only is bound once; outside, equal texts
   are, while they mean the same. */
struct bound *bound_stmt(struct expander *e, const struct stmt *stmt,
                         const struct meaning *meaning);

/* It was applied, and is used again unless it is kept. */
void bound_let_go(struct expander *e, const struct stmt *stmt,
                  struct bound *bound);

/* What every row may be told: row_options.c */

/* Gives a layer the adapters that were chosen for the whole net. */
void adapt_binding(struct expander *e, struct binding *b,
                   const struct layer_kind *kind, struct span span);

void row_options_begin(struct expander *e, struct binding *options,
                       const char *owner);

/* Binds an argument that any layer may have; false: it is none of these. */
bool row_options_read(struct expander *e, struct binding *options,
                      const struct binding *own, const struct arg *arg);

/* For the nodes that come next. */
void row_options_set(struct expander *e, const struct binding *options);

/* What holds where nothing is said. */
void row_options_clear(struct expander *e);

/* Reports what has no meaning for the nodes from `first`: false. */
bool row_options_check(struct expander *e, const struct binding *options,
                       int64_t first);

/* freeze { ... } */
bool is_freeze(const struct stmt *stmt);
void expand_freeze(struct expander *e, const struct stmt *stmt,
                   struct slice label);

/* Layers: apply.c */

/* Layers with arguments, in tails and as values: layer_value.c */

/* Binds those of `bn(eps=1e-3)`, after those that its value has. */
struct binding *layer_bind(struct expander *e, const struct meaning *meaning,
                           const struct expr *expr);

/* As bind_begin(), with what the value has. */
void layer_bind_begin(struct expander *e, struct binding *b,
                      const struct meaning *meaning);

/* A statement `word args`; sets the current tensor. */
void apply_stmt(struct expander *e, const struct stmt *stmt,
                struct slice label);

/*
 * Whether a block, which has been carried out in a loop, makes the same layers
 * whenever the current tensor has the same shape: all are made of literals.
 */
bool block_repeats(const struct expander *e, const struct block *block);

/* Layers that take a block, like `moe`: block.c */

struct block_making {
  const struct layer_kind *kind;
  const struct binding *binding;
  struct span span;
  const struct block *block; /* NULL: there is not one, but none or several */
};

/* Its front, the block and the layer itself; false, and reported: not so. */
bool block_expand(struct expander *e, const struct block_making *m);

/* Nodes: node.c */

/* What a node is made of. */
struct node_making {
  const struct layer_kind *kind;
  const struct binding *binding;
  struct span span;
  struct node_name name;
  int64_t head; /* NO_NODE: itself */
};

/* Adds the node that applies `m` to the tensors `inputs`; makes it current. */
bool node_add(struct expander *e, const struct node_making *m,
              const int64_t *inputs, int input_count);

/* Reports the tensor of a `fork train` that is read outside of one: false. */
bool node_may_read(struct expander *e, int64_t node, struct span span);

/* The shape rule, and what is checked for every layer. */
bool node_infer(struct layer *layer);

/* False if it has more than 2^63 - 1 values. */
bool node_count_param(const struct param *param, int64_t *count);

/* The node of an input of the net. */
void node_add_input(struct expander *e, const struct stmt *stmt,
                    struct shape shape);

/* Completes references to layers, of which the model knows more. */
void node_resolve_refs(struct expander *e, const struct binding *b);

/* Parts: part.c */

/* The parts of the current node, which is `split`; the first one is current
 * then. */
bool part_add_all(struct expander *e, const struct node_making *split);

/* Statements: expand.c */

void expand_stmt(struct expander *e, const struct stmt *stmt);
void expand_block(struct expander *e, const struct block *block);

void expand_enter(struct expander *e); /* a scope */
void expand_leave(struct expander *e);

/* The label of the current tensor, and of the nodes made since `first`. */
void expand_declare_label(struct expander *e, const struct stmt *stmt,
                          struct slice label, struct span span, int64_t first);

/* A block in a scope of its own. */
void expand_scoped(struct expander *e, const struct block *block);

/* checkpoint { ... } is a group like a call. */
bool is_checkpoint(const struct stmt *stmt);
void expand_checkpoint(struct expander *e, const struct stmt *stmt,
                       struct slice label);

/* Loops and conditions: loop.c */

/* What a turn of a loop begins with. */
struct turn_mark {
  size_t nodes, inputs, params; /* of the model */
  int64_t steps;
  int64_t current;
  const struct shape *shape; /* of the current tensor; NULL: there is none */
  bool train_only;
};

struct loop {
  const struct stmt *stmt;
  int64_t total;          /* turns */
  struct turn_mark at[3]; /* of the last two turns, and of the next one */
};

struct loop loop_begin(const struct expander *e, const struct stmt *stmt,
                       int64_t total);

/*
 * After a turn: carries out all that would make what the last two have made,
 * without a look at the statements. Returns how many: copy.c.
 */
int64_t loop_copy(struct expander *e, struct loop *loop, int64_t done);

void expand_repeat(struct expander *e, const struct stmt *stmt);
void expand_for(struct expander *e, const struct stmt *stmt);
void expand_if(struct expander *e, const struct stmt *stmt);

/* Statements that make no layer: directive.c */

void expand_input(struct expander *e, const struct stmt *stmt);
void expand_output(struct expander *e, const struct stmt *stmt);
void expand_def(struct expander *e, const struct stmt *stmt);
void expand_net(struct expander *e, const struct stmt *stmt);
void expand_settings(struct expander *e, const struct stmt *stmt);
void expand_settings_line(struct expander *e, const struct stmt *stmt);

/* Constants, and messages about them: param.c */

void expand_let(struct expander *e, const struct stmt *stmt);
void expand_param(struct expander *e, const struct stmt *stmt);
void expand_message(struct expander *e, const struct stmt *stmt);

/* After an error: partial.c */

/* Whether a layer is in doubt, because of its arguments or inputs. */
bool partial_is_needed(const struct expander *e, const struct binding *b,
                       const int64_t *inputs, int count);

/* The output of such a layer, as far as it is known. */
void partial_infer(struct expander *e, const struct binding *b,
                   struct layer *layer);

/* Makes a tensor current for a statement that is lost; `before` was it. */
void partial_go_on(struct expander *e, const struct stmt *stmt, int64_t before);

/* The same for a word that is unknown, with operands like `from`. */
void partial_join(struct expander *e, const struct stmt *stmt, int64_t from);

/* An input with those of its sizes that are known. */
void partial_input(struct expander *e, const struct stmt *stmt);

/* One for an operand of which nothing is known. */
int64_t partial_operand(struct expander *e, struct span span);

/* Either the current tensor or `other` is meant: what both have is known. */
void partial_meet(struct expander *e, const struct stmt *stmt, int64_t other);

/* What a mark says of the current tensor, which is in doubt. */
void partial_mark(struct expander *e, const struct value *mark);

/* Marks: mark.c */

/* Reports a `-> DIMS` that is not the shape of the current tensor. */
void mark_check(struct expander *e, const struct stmt *stmt);

/* Remembers that shape. Sizes that differ from call to call become `_`. */
void mark_record(struct expander *e, const struct stmt *stmt);

/* A call of a def, with its group: call.c */
void expand_call(struct expander *e, struct symbol *def,
                 const struct stmt *stmt, struct slice label);

/* Enters a group of that label, or of that word and the next number. */
int64_t group_enter(struct expander *e, struct slice label, struct slice word,
                    const struct stmt *stmt);
void group_leave(struct expander *e, int64_t outer);

/* `use`: use.c */
void expand_use(struct expander *e, const struct stmt *stmt);

#endif
