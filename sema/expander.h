/* Inside the expander: what its files share. */
#ifndef NETC_SEMA_EXPANDER_H
#define NETC_SEMA_EXPANDER_H

#include "sema/expand.h"

struct bound; /* the arguments of a statement, bound: apply.c */
struct using; /* a source being taken in: use.c */

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
  bool stopped;              /* a limit or too many errors */
  int64_t share, share_end;  /* `again`: nodes whose parameters are next */
  VEC(struct map) counters;  /* by group: names given so far */
  VEC(int) used;             /* sources that `use` has taken in */
  struct using *using;       /* those it is in the middle of */
  VEC(struct bound *) bound; /* by statement, if it is always the same */
  bool depends;         /* what is being bound depends on names or shapes */
  struct params params; /* room for the rule of a layer */
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

/* Reports a name that nothing is called. `also` are further candidates. */
void report_unknown_name(struct expander *e, struct slice name,
                         struct span span, const struct arg_spec *also);

/* Reports, with notes on the calls and loops at hand. */
struct diagnostic *report(struct expander *e, enum slug slug, struct span span,
                          const char *format, ...) PRINTF_LIKE(4, 5);

/* Arguments: bind.c */

struct binding {
  const struct arg_spec *specs;
  const char *owner; /* what takes the arguments, for messages */
  void *args;        /* the struct that is filled */
  uint64_t given;
  struct span spans[LIMIT_SPECS];
  int64_t extra_inputs[LIMIT_SPECS]; /* nodes of TYPE_INPUT arguments */
  int extra_count;
  bool failed;
};

/* Allocates the struct and fills in the defaults. */
void bind_begin(struct expander *e, struct binding *b, const char *owner,
                const struct arg_spec *specs, size_t size);

/* Binds an argument, or reports what is wrong with it. */
void bind_arg(struct expander *e, struct binding *b, const struct arg *arg);

/* Binds a bare word if it is an option of these; else returns false. */
bool bind_word(struct binding *b, struct slice word, struct span span);

/* Whether a position is still free. */
bool bind_wants_position(const struct binding *b);

/* Reports what is missing. */
void bind_end(struct expander *e, struct binding *b, struct span span);

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

/* The node of an input of the net. */
void node_add_input(struct expander *e, const struct stmt *stmt,
                    struct shape shape);

/* Statements: expand.c */

void expand_stmt(struct expander *e, const struct stmt *stmt);
void expand_block(struct expander *e, const struct block *block);

/* A block in a scope of its own. */
void expand_scoped(struct expander *e, const struct block *block);

/* checkpoint { ... } is a group like a call. */
bool is_checkpoint(const struct stmt *stmt);
void expand_checkpoint(struct expander *e, const struct stmt *stmt,
                       struct slice label);

/* A call of a def, with its group. */
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
