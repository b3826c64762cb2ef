/* The expander: what it knows, and what words and values mean to it. */
#ifndef NETC_SEMA_BINDING_EXPANDER_H
#define NETC_SEMA_BINDING_EXPANDER_H

#include "sema/binding/expansion.h"

struct bound; /* the arguments of a statement, bound: apply.c */
struct using; /* a source being taken in: use.c */

enum {
  RECENT_SHAPES = 128,
  RECENT_NODES = 256,
  RECENT_ARGS = 256,
  RECENT_BOUND = 64
};

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
  struct arena scratch; /* for arguments while they are bound */
  struct diags *diags;
  struct model *model;
  const struct block *program;
  struct scope *scope;
  struct scope_pool pool;
  struct frame *frame, *spare_frames;
  int depth;                   /* frames that were entered, */
  size_t entered[LIMIT_DEPTH]; /* and the nodes that there were before */
  int64_t current;             /* the node whose tensor is the current one */
  bool lost; /* it is unknown because of an error: stay silent */
  int64_t group;
  int64_t steps;
  int64_t told;             /* the steps when the progress was last told */
  bool stopped;             /* a limit or too many errors */
  int64_t guesses;          /* of shapes: partial.c */
  bool broken;              /* the text has errors of the grammar */
  struct copies copies;     /* of what is being read */
  int64_t share, share_end; /* `again`: nodes whose parameters are next */
  VEC(struct map) counters; /* by group: names given so far */
  VEC(struct path_index *) paths; /* by group: path.c */
  VEC(struct span) holes;         /* what could not be read */
  struct map outputs;             /* by name, from 1 */
  struct map words;               /* that a param may be, and nothing else */
  struct map recorded;            /* by place: each `param` that was met */
  VEC(int) used;                  /* sources that `use` has taken in */
  struct using *using;            /* those it is in the middle of */
  VEC(struct bound *) bound;      /* by statement, if it is always the same */
  struct bound *free_bound;       /* a list by `next`, for statements to come */
  struct binding *free_bindings;  /* likewise */
  struct bound *recent_bound[RECENT_BOUND]; /* outside of loops, by arguments */
  struct row_options row;                   /* of the nodes that are made */
  bool freezes;                             /* inside `freeze` */
  bool trains;                              /* inside `fork train` */
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

/* Makes a word a value from here on: what a param may be. */
struct value eval_word(struct expander *e, const struct expr *name);

/* An integer, or a report and false; false and silence for a poison. */
bool eval_int(struct expander *e, const struct expr *expr, int64_t *out);

/* Of turns: also a real number that is an integer, as log2(4) is. */
bool eval_count(struct expander *e, const struct expr *expr, int64_t *out);
bool eval_bool(struct expander *e, const struct expr *expr, bool *out);
bool want_int(struct expander *e, const struct value *value, int64_t *out);

/* A call of a function, like `min(a, b)`: function.c. */
struct value eval_call(struct expander *e, const struct expr *expr);

/* `leaky(0.1)` as a value: layer_value.c. */
struct value eval_layer(struct expander *e, const struct expr *call);

/* Whether `in.NAME` is a size of the current tensor. */
bool eval_is_size(struct slice name);

/* The functions by number; NULL after the last one. */
const char *eval_function(size_t index);

/* Whether a call of that name is one of a function. */
bool eval_is_function(struct slice name);

struct value eval_integer(int64_t value, struct span span);

/* Where an integer is needed: how a real becomes one. */
void eval_help_integer(struct diagnostic *d, struct span span, double real);

/* Not finite: reported, and a poison. */
struct value eval_real(struct expander *e, double value, struct span span);

/* Report, and return a poison. */
struct value eval_overflow(struct expander *e, struct span span);
struct value eval_mismatch(struct expander *e, const struct value *value,
                           struct span span, const char *wanted);

/* Unknown names: unknown.c */

/* What could stand where one does. */
enum name_place {
  NAME_OF_VALUE,  /* a constant, a label, a layer as a value */
  NAME_OF_TENSOR, /* a label */
  NAME_OF_TAIL,   /* a layer, or an option of `specs` */
};

/* Reports a name that is not defined. */
void report_unknown_name(struct expander *e, struct slice name,
                         struct span span, enum name_place place,
                         const struct arg_spec *specs);

/* Whether a statement that could not be read may have defined a name. */
bool scope_lost(const struct expander *e, struct slice name);

/* Makes a name known here; one that is known already is an error. */
struct symbol *scope_declare(struct expander *e, enum symbol_kind kind,
                             struct slice name, struct span span);

/* Reports, with notes on the calls and loops at hand. */
struct diagnostic *report(struct expander *e, enum slug slug, struct span span,
                          const char *format, ...) PRINTF_LIKE(4, 5);

/* The arguments of a statement where they stand, until e->scratch is
   released: moved.c. */
const struct arg *args_of(struct expander *e, const struct stmt *stmt);

/* Arguments: bind.c */

struct binding {
  const struct arg_spec *specs;
  const char *owner; /* what takes the arguments, for messages */
  void *args;        /* the struct that is filled */
  size_t hash;       /* of it, once it is shared */
  uint64_t given;
  uint64_t doubtful; /* of these, those with a value in error, */
  bool poisoned;     /* which is that of a name in error */
  int extra_count;
  bool failed;
  int64_t extra_inputs[LIMIT_INPUTS]; /* nodes of TYPE_INPUT arguments */
  struct span *spans;                 /* by row of `specs` */
  int span_room;
  struct binding *next; /* among those that are free */
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

/* What a whole name means; in error, and reported, where that is doubtful. */
struct symbol *path_of_net(struct expander *e, struct slice path,
                           struct span span);

/* Ranges: turns.c */

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

/* Counts a step against LIMIT_STEPS; false: the net is given up. */
bool turns_step(struct expander *e, struct span span);

/* A name in the current group, and no other's there. */
struct node_name name_label(struct expander *e, struct slice label);
struct node_name name_word(struct expander *e, struct slice word);

/* Whether the net itself has that label more than once: `C` and `C_2`. */
bool name_is_repeated(const struct expander *e, struct slice label);

/* Whether name_word() counts up by one, since no label is in its way. */
bool names_are_counted(struct expander *e);

/* Such a name was given, and those below it. */
void name_given(struct expander *e, const struct node_name *name);

/* Enters a frame; false, and reported, if there are too many. */
bool frame_enter(struct expander *e, struct frame frame);
void frame_leave(struct expander *e);

#endif
