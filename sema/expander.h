/* Inside the expander: what its files share. */
#ifndef NETC_SEMA_EXPANDER_H
#define NETC_SEMA_EXPANDER_H

#include "sema/expand.h"

struct bound; /* the arguments of a statement, bound: apply.c */
struct using; /* a source being taken in: use.c */

enum { RECENT_SHAPES = 32, RECENT_NODES = 64, RECENT_ARGS = 64 };

/* Arguments of a layer, bound and never changed again. */
struct kept_args {
  const struct layer_kind *kind;
  void *args;
};

/* frozen: whether; inplace: enum toggle. */
struct row_options {
  int frozen, inplace;
};

struct expander {
  struct expansion *in;
  struct arena *arena;
  struct diags *diags;
  struct model *model;
  struct scope *scope;
  struct scope_pool pool;
  struct frame *frame, *spare_frames;
  int64_t current; /* the node whose tensor is the current one */
  bool lost;       /* it is unknown because of an error: stay silent */
  int64_t group;
  int64_t steps;
  bool stopped;                   /* a limit or too many errors */
  struct copies copies;           /* of what is being read */
  int64_t share, share_end;       /* `again`: nodes whose parameters are next */
  VEC(struct map) counters;       /* by group: names given so far */
  VEC(struct path_index *) paths; /* by group: path.c */
  struct map outputs;             /* by name, from 1 */
  VEC(int) used;                  /* sources that `use` has taken in */
  struct using *using;            /* those it is in the middle of */
  VEC(struct bound *) bound;      /* by statement, if it is always the same */
  struct bound *free_bound;       /* a list by `next`, for statements to come */
  struct row_options row;         /* of the nodes that are made */
  bool freezes;                   /* inside `freeze` */
  bool trains;                    /* inside `fork train` */
  bool depends;         /* what is being bound depends on names or shapes */
  struct params params; /* room for the rule of a layer */
  const struct shape *shapes[RECENT_SHAPES]; /* of tensors, by hash */
  struct kept_args kept[RECENT_ARGS];        /* of late, by their bytes */
  int64_t recent[RECENT_NODES];   /* by their arguments: nodes, from 1 */
  const struct shape **in_shapes; /* room for its inputs */
  struct span *in_spans;
  size_t in_room;
};

/* Evaluation: eval.c */

struct value eval(struct expander *e, const struct expr *expr);

/* An integer, or a report and false; false and silence for a poison. */
bool eval_int(struct expander *e, const struct expr *expr, int64_t *out);
bool eval_bool(struct expander *e, const struct expr *expr, bool *out);
bool want_int(struct expander *e, const struct value *value, int64_t *out);

/* A call of a function, like `min(a, b)`: function.c. */
struct value eval_call(struct expander *e, const struct expr *expr);

/* Whether a call of that name is one of a function. */
bool eval_is_function(struct slice name);

struct value eval_integer(int64_t value, struct span span);

/* Not finite: reported, and a poison. */
struct value eval_real(struct expander *e, double value, struct span span);

/* Report, and return a poison. */
struct value eval_overflow(struct expander *e, struct span span);
struct value eval_mismatch(struct expander *e, const struct value *value,
                           struct span span, const char *wanted);

/* What could stand where an unknown name does. */
enum name_place {
  NAME_OF_VALUE,  /* a constant, a label, a layer as a value */
  NAME_OF_TENSOR, /* a label */
  NAME_OF_TAIL,   /* a layer, or an option of `specs` */
};

/* Reports a name that is not defined. */
void report_unknown_name(struct expander *e, struct slice name,
                         struct span span, enum name_place place,
                         const struct arg_spec *specs);

/* Makes a name known here; one that is known already is an error. */
struct symbol *scope_declare(struct expander *e, enum symbol_kind kind,
                             struct slice name, struct span span);

/* Reports, with notes on the calls and loops at hand. */
struct diagnostic *report(struct expander *e, enum slug slug, struct span span,
                          const char *format, ...) PRINTF_LIKE(4, 5);

/* Parts: part.c */

struct node_making;

/* The parts of the current node, which is `split`; the first one is current
 * then. */
bool part_add_all(struct expander *e, const struct node_making *split);

/* The node of a part beside part `first`; NO_NODE: it is none, or there are
 * only `count`. */
int64_t part_find(const struct expander *e, int64_t first, int64_t index,
                  int64_t *count);

/* Arguments: bind.c */

struct binding {
  const struct arg_spec *specs;
  const char *owner; /* what takes the arguments, for messages */
  void *args;        /* the struct that is filled */
  uint64_t given;
  int extra_count;
  bool failed;
  int64_t extra_inputs[LIMIT_INPUTS]; /* nodes of TYPE_INPUT arguments */
  struct span *spans;                 /* by row of `specs` */
  int span_room;
};

/* Allocates the struct and fills in the defaults. */
void bind_begin(struct expander *e, struct binding *b, const char *owner,
                const struct arg_spec *specs, size_t size);

/* Binds an argument, or reports what is wrong with it. */
void bind_arg(struct expander *e, struct binding *b, const struct arg *arg);

/* Binds a bare word if it is an option of these; else returns false. */
bool bind_word(struct expander *e, struct binding *b, struct slice word,
               struct span span);

/* Whether a bare word is an option of these. */
bool bind_knows(const struct binding *b, struct slice word);

/* Whether a bare word would be one of its axes. */
bool bind_is_axis(const struct binding *b, struct slice word);

/* Whether a position is still free. */
bool bind_wants_position(const struct binding *b);

/* Reports what is missing. */
void bind_end(struct expander *e, struct binding *b, struct span span);

/* Of layers alike the arguments are those of the first. */
void bind_share(struct expander *e, struct binding *b,
                const struct layer_kind *kind);

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

/* Reports an argument that stands behind a word of the tail. */
void tail_refuse_value(struct expander *e, const struct tail *tail,
                       const struct arg *arg);

/* A layer whose tail normalises its channels has no bias of its own. */
void tail_drop_biases(struct tail *tail, struct binding *head);

/* Applies all of it to the current tensor. Where no layer stands in front of
 * it (head NO_NODE), the first word is called `alone` and is the head. */
bool tail_apply(struct expander *e, const struct tail *tail,
                const struct stmt *stmt, int64_t head,
                const struct node_name *alone);
/* What every row may be told: row_options.c */

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

/* What a word means: a layer, a def, or neither (reported). */
struct meaning {
  const struct layer_kind *kind;
  struct symbol *def;
};

bool resolve_word(struct expander *e, struct slice name, struct span span,
                  struct meaning *meaning);

/* A statement `word args`; sets the current tensor. */
void apply_stmt(struct expander *e, const struct stmt *stmt,
                struct slice label);

/* Layers that take a block, like `moe`: block.c */

struct block_making {
  const struct layer_kind *kind;
  const struct binding *binding;
  const struct stmt *stmt;
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
  const struct stmt *stmt;
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

/* Statements: expand.c */

void expand_stmt(struct expander *e, const struct stmt *stmt);
void expand_block(struct expander *e, const struct block *block);

/* Counts a step against LIMIT_STEPS; false: the net is given up. */
bool expand_step(struct expander *e, struct span span);

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

/* Labels: label.c */

/* The label of a statement with its indices: `skip[3]`. */
bool label_text(struct expander *e, const struct stmt *stmt,
                struct slice *label);

/* Makes `skip[3]` known in its def or file; NULL, and reported: it is. */
struct symbol *label_declare(struct expander *e, struct slice base,
                             struct slice label, struct span span);

/* The label that a reference means. NULL: reported, or in error itself. */
struct symbol *label_find(struct expander *e, const struct expr *expr);

/* Calls `take` for each of `skip[1..n]`; false as soon as one fails. */
bool label_each(struct expander *e, const struct expr *expr,
                bool (*take)(void *user, struct symbol *label), void *user);

/*
 * What reports call `path`, inside a label (`.conv1`) or the net (`stem.conv1`
 * with label NULL): path.c. NULL: there is nothing of that name, yet; *near
 * is then what is called like the first part that is not there.
 */
struct symbol *path_find(struct expander *e, const struct symbol *label,
                         struct slice path, struct slice *near);

/* Loops and conditions: loop.c */

/* The values of a range: first, first + step, ...; count of them. */
struct turns {
  int64_t first, step, count;
};

/* The value of turn i, from 0: it lies between the ends of the range. */
int64_t turn_at(const struct turns *turns, int64_t i);

/* `low..high step S`; false, and reported, if that is none. */
bool turns_of(struct expander *e, const struct expr *low,
              const struct expr *high, const struct expr *step,
              struct turns *turns);

void expand_repeat(struct expander *e, const struct stmt *stmt);
void expand_for(struct expander *e, const struct stmt *stmt);
void expand_if(struct expander *e, const struct stmt *stmt);

/* Statements that make no layer: directive.c */

void expand_input(struct expander *e, const struct stmt *stmt);
void expand_output(struct expander *e, const struct stmt *stmt);
void expand_def(struct expander *e, const struct stmt *stmt);
void expand_net(struct expander *e, const struct stmt *stmt);
void expand_settings(struct expander *e, const struct stmt *stmt);

/* Constants, and messages about them: param.c */

void expand_let(struct expander *e, const struct stmt *stmt);
void expand_param(struct expander *e, const struct stmt *stmt);
void expand_message(struct expander *e, const struct stmt *stmt);

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

/* A name in the group at hand, and no other's there. */
struct node_name name_label(struct expander *e, struct slice label);
struct node_name name_word(struct expander *e, struct slice word);

/* Enters a frame; false, and reported, if there are too many. */
bool frame_enter(struct expander *e, struct frame frame);
void frame_leave(struct expander *e);

/* `use`: use.c */
void expand_use(struct expander *e, const struct stmt *stmt);

#endif
