/* The expander: its state, and the meaning of words and values. */
#ifndef NETC_SEMA_BINDING_EXPANDER_H
#define NETC_SEMA_BINDING_EXPANDER_H

#include "sema/binding/expansion.h"

struct bound; /* the bound arguments of a statement: apply.c */
struct using; /* a source that is being included: use.c */

enum {
  RECENT_SHAPES = 128,
  RECENT_NODES = 256,
  RECENT_ARGS = 256,
  RECENT_BOUND = 64
};

/* Arguments of a layer, bound and immutable. */
struct kept_args {
  const struct layer_kind *kind;
  void *args;
};

/* frozen: a bool; inplace: enum toggle; dtype: enum element. */
struct row_options {
  int frozen, inplace, dtype;
};

struct expander {
  struct expansion *in;
  struct arena *arena;
  struct arena scratch; /* for arguments during binding */
  struct diags *diags;
  struct model *model;
  const struct block *program;
  struct scope *scope;
  struct scope_pool pool;
  struct frame *frame, *spare_frames;
  int depth;                   /* number of entered frames, */
  size_t entered[LIMIT_DEPTH]; /* and the number of nodes before each */
  int64_t current;             /* node of the current tensor */
  bool lost;                   /* unknown because of an error: report nothing */
  int64_t group;
  int64_t steps;
  int64_t told;             /* steps at the last progress report */
  bool stopped;             /* by a limit or too many errors */
  int64_t guesses;          /* of shapes: partial.c */
  bool broken;              /* the source has syntax errors */
  struct copies copies;     /* of the experts around the current statement */
  int64_t share, share_end; /* `again`: nodes with the next parameters */
  VEC(struct map) counters; /* by group: names given so far */
  VEC(struct path_index *) paths; /* by group: path.c */
  VEC(struct span) holes;         /* unreadable parts of the source */
  struct map outputs;             /* by name, from 1 */
  struct map words;          /* words that only a param may have as a value */
  struct map recorded;       /* by place: each `param` seen */
  VEC(int) used;             /* sources included by `use` */
  struct using *using;       /* those being included */
  VEC(struct bound *) bound; /* by statement, if it is constant */
  struct bound *free_bound;  /* free list by `next` */
  struct binding *free_bindings;            /* free list */
  struct bound *recent_bound[RECENT_BOUND]; /* outside of loops, by arguments */
  struct row_options row;                   /* for new nodes */
  bool freezes;                             /* inside `freeze` */
  bool trains;                              /* inside `fork train` */
  int64_t scanned, vocabulary; /* nodes, and what they have: adapt.c */
  bool depends;         /* the bound arguments depend on names or shapes */
  struct params params; /* scratch for the rule of a layer */
  const struct shape *shapes[RECENT_SHAPES]; /* of tensors, by hash */
  struct kept_args kept[RECENT_ARGS];        /* recent ones, by their bytes */
  int64_t recent[RECENT_NODES];              /* by arguments: nodes, from 1 */
  const struct shape **in_shapes;            /* scratch for its inputs */
  struct span *in_spans;
  size_t in_room;
};

/* Evaluation: eval.c */

struct value eval(struct expander *e, const struct expr *expr);

/* Makes a word a value from here on, for a param. */
struct value eval_word(struct expander *e, const struct expr *name);

/* An integer. False with a report; for a poison false without one. */
bool eval_int(struct expander *e, const struct expr *expr, int64_t *out);

/* A count: also a real number that is an integer, as log2(4). */
bool eval_count(struct expander *e, const struct expr *expr, int64_t *out);
bool eval_bool(struct expander *e, const struct expr *expr, bool *out);
bool want_int(struct expander *e, const struct value *value, int64_t *out);

/* Calls a function, as `min(a, b)`: function.c. */
struct value eval_call(struct expander *e, const struct expr *expr);

/* A layer as a value, as `leaky(0.1)`: layer_value.c. */
struct value eval_layer(struct expander *e, const struct expr *call);

/* True if `in.NAME` is a size of the current tensor. */
bool eval_is_size(struct slice name);

/* Name of a function by number; NULL after the last one. */
const char *eval_function(size_t index);

/* True if a call with that name is a function. */
bool eval_is_function(struct slice name);

struct value eval_integer(int64_t value, struct span span);

/* Explains how a real number becomes the integer that is needed. */
void eval_help_integer(struct diagnostic *d, struct span span, double real);

/* Reports a value that is not finite and returns a poison. */
struct value eval_real(struct expander *e, double value, struct span span);

/* Report an error and return a poison. */
struct value eval_overflow(struct expander *e, struct span span);
struct value eval_mismatch(struct expander *e, const struct value *value,
                           struct span span, const char *wanted);

/* Unknown names: unknown.c */

/* The kinds of names that fit in a place. */
enum name_place {
  NAME_OF_VALUE,  /* a constant, a label, or a layer as a value */
  NAME_OF_TENSOR, /* a label */
  NAME_OF_TAIL,   /* a layer, or an option in `specs` */
};

/* Reports an undefined name. */
void report_unknown_name(struct expander *e, struct slice name,
                         struct span span, enum name_place place,
                         const struct arg_spec *specs);

/* True if an unreadable statement may have defined a name. */
bool scope_lost(const struct expander *e, struct slice name);

/* Declares a name here; reports a name that is declared already. */
struct symbol *scope_declare(struct expander *e, enum symbol_kind kind,
                             struct slice name, struct span span);

/* Reports an error with notes on the current calls and loops. */
struct diagnostic *report(struct expander *e, enum slug slug, struct span span,
                          const char *format, ...) PRINTF_LIKE(4, 5);

/* The arguments of a statement with its own positions, valid until e->scratch
 * is released: moved.c. */
const struct arg *args_of(struct expander *e, const struct stmt *stmt);

/* Arguments: bind.c */

struct binding {
  const struct arg_spec *specs;
  const char *owner; /* owner of the arguments, for messages */
  void *args;        /* struct to fill in */
  size_t hash;       /* hash of `args`, once shared */
  uint64_t given;
  uint64_t doubtful; /* of these, arguments with an erroneous value, */
  bool poisoned;     /* caused by an erroneous name */
  int extra_count;
  bool failed;
  int64_t extra_inputs[LIMIT_INPUTS]; /* nodes of TYPE_INPUT arguments */
  struct span *spans;                 /* by row of `specs` */
  int span_room;
  struct binding *next; /* in the free list */
};

/* Allocates the struct and fills in the defaults. */
void bind_begin(struct expander *e, struct binding *b, const char *owner,
                const struct arg_spec *specs, size_t size);

/* Binds an argument, or reports an error in it. */
void bind_arg(struct expander *e, struct binding *b, const struct arg *arg);

/* Binds a bare word if it is one of the options; else returns false. */
bool bind_word(struct expander *e, struct binding *b, struct slice word,
               struct span span);

/* True if a bare word is one of the options. */
bool bind_knows(const struct binding *b, struct slice word);

/* True if a bare word is one of the axes. */
bool bind_is_axis(const struct binding *b, struct slice word);

/* True if a position is still free. */
bool bind_wants_position(const struct binding *b);

/* Reports missing arguments. */
void bind_end(struct expander *e, struct binding *b, struct span span);

/* Shares the arguments of the first equal layer. */
void bind_share(struct expander *e, struct binding *b,
                const struct layer_kind *kind);

/* Labels: label.c */

/* Text of a statement's label with its indices: `skip[3]`. */
bool label_text(struct expander *e, const struct stmt *stmt,
                struct slice *label);

/* Declares `skip[3]` in its def or file. NULL, with a report: it exists. */
struct symbol *label_declare(struct expander *e, struct slice base,
                             struct slice label, struct span span);

/* The label of a reference. NULL: reported, or itself in error. */
struct symbol *label_find(struct expander *e, const struct expr *expr);

/* Calls `take` for each of `skip[1..n]`; stops at the first false. */
bool label_each(struct expander *e, const struct expr *expr,
                bool (*take)(void *user, struct symbol *label), void *user);

/*
 * The symbol that reports call `path`, inside a label (`.conv1`) or in the net
 * (`stem.conv1`, label NULL): path.c. NULL: not found yet; *near is then the
 * closest name to the first missing part.
 */
struct symbol *path_find(struct expander *e, const struct symbol *label,
                         struct slice path, struct slice *near);

/* The symbol of a whole name; reports an ambiguous one as an error. */
struct symbol *path_of_net(struct expander *e, struct slice path,
                           struct span span);

/* Ranges: turns.c */

/* The values of a range: first, first + step, ...; `count` values. */
struct turns {
  int64_t first, step, count;
};

/* Value i of a range, from 0; it is between the range's ends. */
int64_t turn_at(const struct turns *turns, int64_t i);

/* Evaluates `low..high step S`; false with a report if invalid. */
bool turns_of(struct expander *e, const struct expr *low,
              const struct expr *high, const struct expr *step,
              struct turns *turns);

/* Counts a step. At LIMIT_STEPS it reports, stops and returns false. */
bool turns_step(struct expander *e, struct span span);

/* A unique name in the current group. */
struct node_name name_label(struct expander *e, struct slice label);
struct node_name name_word(struct expander *e, struct slice word);

/* True if the net itself has a label more than once: `C` and `C_2`. */
bool name_is_repeated(const struct expander *e, struct slice label);

/* True if name_word() counts up by one because no label is in the way. */
bool names_are_counted(struct expander *e);

/* Records a name, and those below it, as given. */
void name_given(struct expander *e, const struct node_name *name);

/* Enters a frame; false with a report if there are too many. */
bool frame_enter(struct expander *e, struct frame frame);
void frame_leave(struct expander *e);

#endif
