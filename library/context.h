/* Shared by the files of the library: a context and its loaded net. */
#ifndef NETC_LIBRARY_CONTEXT_H
#define NETC_LIBRARY_CONTEXT_H

#include "netc.h"
#include "netc_edit.h"

#include "base/file.h"
#include "base/guard.h"
#include "codegen/backend.h"
#include "memory/beside.h"
#include "sema/model/gpu.h"

/* A source that was loaded or used; read once. */
struct unit {
  struct slice path; /* as it was opened */
  struct file_id id;
  int source;
  const struct block *program; /* NULL: it cannot be parsed */
  struct span used;            /* place of the name in the first `use` of it */
  bool hidden;                 /* its lines must not be shown: quote.c */
  bool hinted;                 /* its error has been mentioned */
};

/* Texts about a layer, made on demand. */
struct layer_texts {
  const char *name, *written;
  const int64_t *inputs;
  const struct slice *attributes; /* by row; NULL until requested */
};

/* Inserted into a source with syntax errors: repair.c */
struct insertion {
  size_t at; /* in the text after the earlier insertions */
  struct slice text;
};

/* Result of the last netc_choice(). */
struct last_choices {
  bool known;
  size_t source, byte, count;
  struct netc_choice *at;
};

/* A loaded net. It is allocated in its own arena, which the next load frees. */
struct load {
  struct arena arena;
  struct sources sources;
  struct diags diags;
  int statements;
  struct settings settings;        /* with what the runtime sets */
  struct settings given;           /* without */
  VEC(const struct stmt *) chosen; /* settings from the context */
  VEC(struct define) defines, inputs;
  VEC(const struct stmt *) compared;
  VEC(struct unit) units;
  struct model model;
  struct expansion expansion;
  struct compiled compiled;            /* .model is NULL after errors */
  struct model low_model;              /* with the lower bounds */
  struct compiled low;                 /* of low_model */
  struct layer_texts *layers;          /* by node; NULL until requested */
  struct weights *weights;             /* on demand: weights.c */
  struct operations *operations;       /* on demand: operations.c */
  struct netc_diagnostic *diagnostics; /* on demand */
  const struct placed *placed;         /* of the last netc_place(): place.c */
  const struct netrt_model *runtime;   /* on demand; NULL: not yet */
  const struct program *program;       /* on demand */
  struct q8_list *q8;                  /* on demand: q8.c */
  bool partial;                        /* keep layers after errors */
  int repaired; /* source with the repairs, of the partial model */
  VEC(struct insertion) repairs;
  const struct block *repaired_program; /* NULL: no repairs */
  const struct source_names *names;     /* on demand: names.c */
  struct source_tokens *tokens;         /* by unit; on demand: edit.c */
  struct last_choices choices;          /* choices.c */
  struct unit_hints *hints;             /* by unit; on demand: hints.c */
  struct rows *rows;                    /* of the report, on demand */
  bool sealed;                          /* no more files may be read */
};

/* Arguments of netc_set() or netc_define(). */
struct setting_pair {
  struct slice name, value;
};

/* A pair of the context; a later value reuses its room. */
struct kept_pair {
  struct slice name;
  char *value; /* ends with NUL */
  size_t room;
};

struct context_pairs {
  struct kept_pair *at;
  size_t count, room;
};

struct netc {
  struct arena arena; /* for the configuration */
  struct context_pairs settings, budgets, defines, inputs;
  struct adapters adapters;
  VEC(struct slice) folders;
  VEC(struct slice) confines;      /* folders for `use`; none: no limit */
  VEC(struct slice) compared;      /* settings, as after `train` */
  VEC(struct beside_net) beside;   /* other nets of the process */
  struct lengths lengths;          /* that differ from batch to batch */
  struct gpus gpus;                /* added by the user */
  unsigned char level[SLUG_COUNT]; /* by diagnostic: enum severity */
  bool asked[SLUG_COUNT];          /* enabled by name */
  enum netc_mode mode;
  bool partial;          /* keep layers of sources with errors */
  bool recalls;          /* remember shapes of lines */
  struct recall *recall; /* from the last load: recall.c; NULL: none */
  netc_read_fn *read;    /* NULL: reads files */
  void *read_user;
  struct progress progress;
  struct load *load;                                       /* NULL: no net */
  void (*after_pass)(struct netc *netc, const char *pass); /* for tests */
  int busy; /* calls in progress; callbacks must not change the context */
  char message[1024];
};

/* Sets the text of netc_message(); returns false. */
bool context_say(struct netc *netc, const char *format, ...) PRINTF_LIKE(2, 3);

/* Appends "...; did you mean `x`?" if there is a suggestion. */
void context_say_more(struct netc *netc, const char *format, ...)
    PRINTF_LIKE(2, 3);
void context_suggest(struct netc *netc, const struct suggestion *suggestion);

struct call;
typedef void call_fn(struct call *call);

/* A running call: its request, and memory until it ends. */
struct call {
  struct netc *netc;
  call_fn *fn;
  void *request;
  struct arena scratch;
  enum netc_status status; /* return value */
};

/* Effect of a call on the context. */
enum call_kind {
  CALL_CHANGES, /* configures or loads; refused inside callbacks */
  CALL_READS,
};

/*
 * Runs a function of the API. Running out of memory becomes a status, and the
 * scratch arena is freed.
 */
enum netc_status context_call(struct netc *netc, enum call_kind kind,
                              call_fn *fn, void *request);

/* Copies a text and appends NUL. */
struct slice context_keep(struct arena *arena, struct slice text);

/* Frees the loaded net. */
void load_close(struct netc *netc);

/* Checks a pair by itself; false after setting a message. */
bool load_try_setting(struct call *call, const struct setting_pair *pair);
bool load_try_budget(struct call *call, const struct setting_pair *pair);
bool load_try_define(struct call *call, const struct setting_pair *pair);
bool load_try_input(struct call *call, const struct setting_pair *pair);

bool load_try_compared(struct call *call, struct slice list);

/* Takes a setting as if the command line had it, for training and inference. */
void load_take_setting(struct load *load, const struct setting_pair *pair);

/* Finds the recipe of `like`, and its adapters: recipe.c */
void recipe_open(const struct netc *netc, struct expansion *expansion);

/* Takes its settings, over those of the source. */
void recipe_follow(struct netc *netc);

/* Adds a source and parses it; returns its unit. */
struct unit *load_add_unit(struct load *load, struct slice path,
                           struct file_id id, struct slice text);

/* Name of a layer, valid until the next load. */
const char *load_layer_name(struct load *load, size_t index);

/*
 * Names of the layers' modules by node, from options->tensor_names. NULL: `why`
 * has the name that cannot be used.
 */
const struct module_name *load_module_names(struct call *call,
                                            const struct netc_options *options,
                                            const char **why);

/* Tensor of a parameter of the model that is not shared. */
int64_t load_tensor(struct call *call, size_t param);

/* Tensor of the bias that folding creates for a layer. */
int64_t load_made_bias(struct call *call, int64_t layer);

/* Makes load->runtime; the call's status reports a refusal. */
void load_runtime(struct call *call);

/* The program of inference, made on demand; NULL: a sum passes 2^63 - 1. */
const struct program *load_program(struct load *load);

/* Place of a span in its source. */
struct netc_place load_place(struct load *load, struct span span);

/* Loads other sources for `use`: use.c */
struct loader load_loader(struct netc *netc);

/* Removes text of used files that are no netc sources from diagnostics. */
void quote_sources(struct load *load);

/* Reads a source by the callback `read` or from the file system. */
enum file_status load_read(struct netc *netc, struct slice path,
                           struct slice *text);

/* Applies edits, in order, to a text that begins at `base`. */
struct slice mend_put(struct arena *arena, struct slice text, uint32_t base,
                      const struct offer *edits, size_t count);

/* Tries the fixes that errors offer and keeps those that work: mend.c */
void mend_offers(struct netc *netc);

/* Runs the passes over the first unit: compile.c */
enum netc_status compile_net(struct netc *netc);

/* True if a setting was given by a call, not by the source. */
bool context_is_set(const struct netc *netc, const char *name);

/* Checks the model; false after setting a message with the pass. */
bool context_verify(struct netc *netc, const char *pass);

/* Copies as much as the caller's struct holds; NETC_USAGE for a wrong size. */
enum netc_status fill_struct(void *to, const void *from, size_t size);
#define FILL(to, from) fill_struct((to), (from), sizeof *(from))

#endif
