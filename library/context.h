/* Inside the library: a context, and the net that it has loaded. */
#ifndef NETC_LIBRARY_CONTEXT_H
#define NETC_LIBRARY_CONTEXT_H

#include "netc.h"
#include "netc_edit.h"

#include "base/file.h"
#include "base/guard.h"
#include "codegen/backend.h"
#include "sema/model/gpu.h"

/* A text that was loaded or taken in by `use`, read once. */
struct unit {
  struct slice path; /* as it was opened */
  struct file_id id;
  int source;
  const struct block *program; /* NULL: it could not be parsed at all */
  struct span used;            /* the name in the `use` that took it in */
  bool hidden;                 /* no line of it is shown: quote.c */
  bool hinted;                 /* that it has an error is said once */
};

/* Texts about a layer, made when it is first asked for. */
struct layer_texts {
  const char *name, *written;
  const int64_t *inputs;
  const struct slice *attributes; /* by row; NULL: not asked for yet */
};

/* What is put into a text that the grammar refuses: repair.c */
struct insertion {
  size_t at; /* in the text as the insertions before it leave it */
  struct slice text;
};

/* What netc_choice was asked last. */
struct last_choices {
  bool known;
  size_t source, byte, count;
  struct netc_choice *at;
};

/* A net. All of it is in its own arena, which the next load frees. */
struct load {
  struct arena arena;
  struct sources sources;
  struct diags diags;
  int statements;
  struct settings settings;
  VEC(const struct stmt *) chosen; /* settings of the context */
  VEC(struct define) defines, inputs;
  VEC(const struct stmt *) compared;
  VEC(struct unit) units;
  struct model model;
  struct expansion expansion;
  struct compiled compiled;      /* .model is NULL if the source has errors */
  struct model low_model;        /* with the lower ends of bounds */
  struct compiled low;           /* likewise */
  struct layer_texts *layers;    /* by node, once one is asked for */
  struct weights *weights;       /* likewise: weights.c */
  struct operations *operations; /* likewise: operations.c */
  struct netc_diagnostic *diagnostics; /* likewise */
  const struct placed *placed;         /* likewise: place.c */
  const struct netrt_model *runtime;   /* likewise; NULL: not asked for */
  const struct program *program;       /* likewise */
  struct q8_list *q8;                  /* likewise: q8.c */
  bool partial;                        /* layers are kept after an error */
  int repaired; /* the source with these in it, of which they are then made */
  VEC(struct insertion) repairs;
  const struct block *repaired_program; /* NULL: there are none */
  const struct source_names *names;     /* once one is asked for: names.c */
  struct source_tokens *tokens;         /* by unit, likewise: edit.c */
  struct last_choices choices;          /* choices.c */
  struct unit_hints *hints;             /* by unit, likewise: hints.c */
  struct rows *rows;                    /* of the report, likewise */
  bool sealed;                          /* no more files are read */
};

/* What netc_set or netc_define was given. */
struct setting_pair {
  struct slice name, value;
};

/* The same while the context lives; a later value takes its room. */
struct kept_pair {
  struct slice name;
  char *value; /* ends with a NUL */
  size_t room;
};

struct context_pairs {
  struct kept_pair *at;
  size_t count, room;
};

struct netc {
  struct arena arena; /* of what is configured */
  struct context_pairs settings, budgets, defines, inputs;
  struct adapters adapters;
  VEC(struct slice) folders;
  VEC(struct slice) confines; /* what `use` is kept below; none: anywhere */
  VEC(struct slice) compared; /* settings as on a `train` line */
  struct gpus gpus;           /* of the user */
  unsigned char level[SLUG_COUNT]; /* of diagnostics: enum severity */
  bool asked[SLUG_COUNT];          /* for by their names */
  enum netc_mode mode;
  bool partial;          /* of a source with errors the layers are kept */
  bool recalls;          /* what is known of a line is remembered */
  struct recall *recall; /* of the load before: recall.c; NULL: nothing */
  netc_read_fn *read;    /* NULL: files */
  void *read_user;
  struct progress progress;
  struct load *load;                                       /* NULL: none */
  void (*after_pass)(struct netc *netc, const char *pass); /* for tests */
  int busy; /* calls that go on: callbacks must not change it */
  char message[1024];
};

/* Sets what netc_message says; false. */
bool context_say(struct netc *netc, const char *format, ...) PRINTF_LIKE(2, 3);

/* "...; did you mean `x`?", if there is something near. */
void context_say_more(struct netc *netc, const char *format, ...)
    PRINTF_LIKE(2, 3);
void context_suggest(struct netc *netc, const struct suggestion *suggestion);

struct call;
typedef void call_fn(struct call *call);

/* A call on its way: what it is about, and memory until it ends. */
struct call {
  struct netc *netc;
  call_fn *fn;
  void *request;
  struct arena scratch;
  enum netc_status status; /* what it returns */
};

/* How a call treats the context. */
enum call_kind {
  CALL_CHANGES, /* it configures or loads: refused inside a callback */
  CALL_READS,
};

/*
 * Runs a function of the API: out of memory becomes a status, its scratch
 * arena is freed, and nothing of it stays.
 */
enum netc_status context_call(struct netc *netc, enum call_kind kind,
                              call_fn *fn, void *request);

/* A copy that ends with a NUL. */
struct slice context_keep(struct arena *arena, struct slice text);

/* Gives back what a load has. */
void load_close(struct netc *netc);

/* Tries a pair of the context by itself; false, and said, if it is wrong. */
bool load_try_setting(struct call *call, const struct setting_pair *pair);
bool load_try_budget(struct call *call, const struct setting_pair *pair);
bool load_try_define(struct call *call, const struct setting_pair *pair);
bool load_try_input(struct call *call, const struct setting_pair *pair);

bool load_try_compared(struct call *call, struct slice list);

/* Adds a text and parses it; returns its unit. */
struct unit *load_add_unit(struct load *load, struct slice path,
                           struct file_id id, struct slice text);

/* The name of a layer, kept for as long as the load. */
const char *load_layer_name(struct load *load, size_t index);

/*
 * The names of layers' modules, by node, of which options->tensor_names are
 * made; NULL: `why` says which cannot be.
 */
const struct module_name *load_module_names(struct call *call,
                                            const struct netc_options *options,
                                            const char **why);

/* The tensor of a parameter of the model, which no other one shares. */
int64_t load_tensor(struct call *call, size_t param);

/* That of the bias that folding makes for a layer. */
int64_t load_made_bias(struct call *call, int64_t layer);

/* Makes load->runtime; the call's status says whether it can be. */
void load_runtime(struct call *call);

/* What a prediction runs, made when it is first asked for; NULL: a sum passes
   2^63 - 1. */
const struct program *load_program(struct load *load);

/* Where a span lies in its source. */
struct netc_place load_place(struct load *load, struct span span);

/* How `use` finds other texts: use.c */
struct loader load_loader(struct netc *netc);

/* Takes text of used files that are no netc sources out of diagnostics. */
void quote_sources(struct load *load);

/* Reads a text as `read` or the file system has it. */
enum file_status load_read(struct netc *netc, struct slice path,
                           struct slice *text);

/* A text that begins at `base`, with edits in their order put into it. */
struct slice mend_put(struct arena *arena, struct slice text, uint32_t base,
                      const struct offer *edits, size_t count);

/* Tries what the errors offer, and keeps what mends the source: mend.c */
void mend_offers(struct netc *netc);

/* The passes over the first unit: compile.c */
enum netc_status compile_net(struct netc *netc);

/* Whether the model is whole; if not, says what a pass has left. */
/* Whether a setting was given by a call, not by the source. */
bool context_is_set(const struct netc *netc, const char *name);

bool context_verify(struct netc *netc, const char *pass);

/* Copies what fits the caller's size; NETC_USAGE if that is not a size. */
enum netc_status fill_struct(void *to, const void *from, size_t size);
#define FILL(to, from) fill_struct((to), (from), sizeof *(from))

#endif
