/* Shared by the files of the expander that execute statements. */
#ifndef NETC_SEMA_STATEMENTS_H
#define NETC_SEMA_STATEMENTS_H

#include "sema/binding/expander.h"
#include "sema/expand.h"

/* Words: apply.c */

/* Meaning of a word: a layer or a def; neither after an error. */
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
  int64_t ordinal;         /* among the words of the same kind, from 1 */
  struct binding *binding; /* NULL: without arguments */
};

struct tail {
  VEC(struct tail_word) words;
};

/* Adds `relu` or `leaky(0.1)`. False after an error. */
bool tail_read(struct expander *e, struct tail *tail, const struct expr *expr);

/* Reports an argument after a word of the tail. */
void tail_refuse_value(struct expander *e, const struct tail *tail,
                       const struct arg *arg);

/* A layer has no bias of its own if its tail normalises the channels. */
void tail_drop_biases(struct tail *tail, struct binding *head);

/* Applies the tail to the current tensor. Without a layer in front of it (head
 * NO_NODE) the first word is the head and is named `alone`. */
bool tail_apply(struct expander *e, const struct tail *tail, int64_t head,
                const struct node_name *alone);

/* Makes the tail's bindings free for reuse. */
void tail_let_go(struct expander *e, const struct tail *tail);

/* Bindings of statements: bound.c */

/* An operand of a join: a block, or the label of a tensor. */
struct join_operand {
  const struct block *block;
  int64_t node;
  struct span span;
};

struct bound {
  struct bound *next; /* in the free list */
  const struct layer_kind *kind;
  const struct arg *args;
  uint32_t begin;    /* of the statement, in the source */
  uint32_t main_end; /* end of the layer without its tail */
  struct binding binding, options;
  struct tail tail;
  VEC(struct join_operand) operands;
  bool ranged; /* operands are a range, which excludes the current tensor */
  bool kept;   /* for this statement in a loop, or for an equal text */
};

/* Binds a statement. In a loop a statement of literals is bound once; outside
 * of loops equal texts share a binding while they mean the same. */
struct bound *bound_stmt(struct expander *e, const struct stmt *stmt,
                         const struct meaning *meaning);

/* Frees the binding after use, unless it is kept. */
void bound_let_go(struct expander *e, const struct stmt *stmt,
                  struct bound *bound);

/* Options of every layer: row_options.c */

/* Adds the net's adapters (`--lora`) to a layer. */
void adapt_binding(struct expander *e, struct binding *b,
                   const struct layer_kind *kind, struct span span);

void row_options_begin(struct expander *e, struct binding *options,
                       const char *owner);

/* Binds an option that any layer may have; false if it is none. */
bool row_options_read(struct expander *e, struct binding *options,
                      const struct binding *own, const struct arg *arg);

/* Sets the options for the nodes that follow. */
void row_options_set(struct expander *e, const struct binding *options);

/* Restores the defaults. */
void row_options_clear(struct expander *e);

/* Reports options without effect on the nodes from `first`; returns false. */
bool row_options_check(struct expander *e, const struct binding *options,
                       int64_t first);

/* freeze { ... } */
bool is_freeze(const struct stmt *stmt);
void expand_freeze(struct expander *e, const struct stmt *stmt,
                   struct slice label);

/* Layers: apply.c */

/* Layers with arguments, in tails and as values: layer_value.c */

/* Binds the arguments of `bn(eps=1e-3)` over those of its value. */
struct binding *layer_bind(struct expander *e, const struct meaning *meaning,
                           const struct expr *expr);

/* Like bind_begin(), with the arguments of the value. */
void layer_bind_begin(struct expander *e, struct binding *b,
                      const struct meaning *meaning);

/* Executes `word args` and sets the current tensor. */
void apply_stmt(struct expander *e, const struct stmt *stmt,
                struct slice label);

/*
 * True if a block that has run in a loop makes the same layers again for a
 * current tensor of the same shape: all its arguments are literals.
 */
bool block_repeats(const struct expander *e, const struct block *block);

/* Layers that take a block, like `moe`: block.c */

struct block_making {
  const struct layer_kind *kind;
  const struct binding *binding;
  struct span span;
  const struct block *block; /* NULL: none, or more than one */
};

/* Adds the front, the block and the layer. False after an error. */
bool block_expand(struct expander *e, const struct block_making *m);

/* Nodes: node.c */

/* Arguments of node_add(). */
struct node_making {
  const struct layer_kind *kind;
  const struct binding *binding;
  struct span span;
  struct node_name name;
  int64_t head; /* NO_NODE: the node itself */
};

/* Adds a node that applies `m` to the tensors `inputs` and makes it current. */
bool node_add(struct expander *e, const struct node_making *m,
              const int64_t *inputs, int input_count);

/* Reports the use of a `fork train` tensor outside of one; returns false. */
bool node_may_read(struct expander *e, int64_t node, struct span span);

/* Checks the inputs and applies the shape rule. */
bool node_infer(struct layer *layer);

/* False if the parameter has more than 2^63 - 1 values. */
bool node_count_param(const struct param *param, int64_t *count);

/* Adds the node of an input of the net. */
void node_add_input(struct expander *e, const struct stmt *stmt,
                    struct shape shape);

/* Completes references to layers with their inputs and arguments. */
void node_resolve_refs(struct expander *e, const struct binding *b);

/* Parts: part.c */

/* Adds the parts of the current node, a `split`, and makes the first
 * current. */
bool part_add_all(struct expander *e, const struct node_making *split);

/* Statements: expand.c */

void expand_stmt(struct expander *e, const struct stmt *stmt);
void expand_block(struct expander *e, const struct block *block);

void expand_enter(struct expander *e); /* opens a scope */
void expand_leave(struct expander *e);

/* Declares a label for the current tensor and the nodes since `first`. */
void expand_declare_label(struct expander *e, const struct stmt *stmt,
                          struct slice label, struct span span, int64_t first);

/* Executes a block in its own scope. */
void expand_scoped(struct expander *e, const struct block *block);

/* checkpoint { ... } is a group like a call. */
bool is_checkpoint(const struct stmt *stmt);
void expand_checkpoint(struct expander *e, const struct stmt *stmt,
                       struct slice label);

/* Loops and conditions: loop.c */

/* State at the start of an iteration. */
struct turn_mark {
  size_t nodes, inputs, params; /* counts of the model */
  int64_t steps;
  int64_t current;
  const struct shape *shape; /* of the current tensor; NULL: none */
  bool train_only;
};

struct loop {
  const struct stmt *stmt;
  int64_t total;          /* iterations */
  struct turn_mark at[3]; /* of the last two iterations and the next */
};

struct loop loop_begin(const struct expander *e, const struct stmt *stmt,
                       int64_t total);

/*
 * After an iteration, copies those that would make the same nodes as the last
 * two. Returns their number: copy.c
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

/* True if arguments or inputs of a layer are in doubt. */
bool partial_is_needed(const struct expander *e, const struct binding *b,
                       const int64_t *inputs, int count);

/* Infers the known part of such a layer's output. */
void partial_infer(struct expander *e, const struct binding *b,
                   struct layer *layer);

/* After a lost statement, makes a tensor current; `before` was the current
 * one. */
void partial_go_on(struct expander *e, const struct stmt *stmt, int64_t before);

/* As partial_go_on(), for an unknown word with operands like `from`. */
void partial_join(struct expander *e, const struct stmt *stmt, int64_t from);

/* Adds an input with its known sizes. */
void partial_input(struct expander *e, const struct stmt *stmt);

/* Adds a tensor for an unknown operand. */
int64_t partial_operand(struct expander *e, struct span span);

/* The current tensor or `other` is meant: keeps what both have in common. */
void partial_meet(struct expander *e, const struct stmt *stmt, int64_t other);

/* Takes the sizes of a mark for the current tensor, which is in doubt. */
void partial_mark(struct expander *e, const struct value *mark);

/* Marks: mark.c */

/* Reports a `-> DIMS` that differs from the shape of the current tensor. */
void mark_check(struct expander *e, const struct stmt *stmt);

/* Records that shape. Sizes that differ between calls become `_`. */
void mark_record(struct expander *e, const struct stmt *stmt);

/* A call of a def, with its group: call.c */
void expand_call(struct expander *e, struct symbol *def,
                 const struct stmt *stmt, struct slice label);

/* Enters a group with that label, or with `word` and the next number. */
int64_t group_enter(struct expander *e, struct slice label, struct slice word,
                    const struct stmt *stmt);
void group_leave(struct expander *e, int64_t outer);

/* `use`: use.c */
void expand_use(struct expander *e, const struct stmt *stmt);

#endif
