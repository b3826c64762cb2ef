/* Expansion: its input: settings, choices and a loader of sources. */
#ifndef NETC_SEMA_BINDING_EXPANSION_H
#define NETC_SEMA_BINDING_EXPANSION_H

#include "base/diag.h"
#include "sema/binding/scope.h"
#include "sema/model/model.h"
#include "sema/model/settings.h"

/* Loads another source for `use`; see driver and library. */
struct loader {
  /*
   * Parses the file to which `path` at `named` refers. Returns its source
   * number and sets *program; -1 with *reason if it cannot be read.
   */
  int (*load)(void *user, struct slice path, struct span named,
              const struct block **program, struct slice *reason);
  void *user;
};

/* Names all inputs of tokens: indices along one axis. */
#define INPUT_OF_TOKENS "*"

/* A value for a `param`, or sizes of an input, from the command line. */
struct define {
  struct slice name;
  struct value value;
  struct value low; /* lower bounds of an input with bounds */
  struct span span;
  bool used;
  bool bounds;
  bool unknown; /* a word that is no layer: a param may allow it */
};

/* Other sizes for one of the inputs, for a trial. */
struct input_override {
  bool active;
  int64_t input; /* index of the input */
  struct shape shape;
};

/* The shape that a statement gives, over all its runs. */
struct shape_record {
  bool seen;
  bool differs;       /* in its number of axes */
  struct shape shape; /* SIZE_ANY where it varies */
};

/* LoRA on layers without a setting of their own: adapt.c */
struct adapters {
  int64_t rank; /* 0: none */
  bool all;     /* dense layers, too, not only attention */
  int on;       /* from 1 in LORA_ON; 0: all four matrices of attention */
  int type;     /* from 1 in LORA_TYPES; 0: the layer's */
  double alpha, dropout; /* 0: the layer's */
};

/* Reads RANK[:all|:qv|:qkv|:qkvo][:TYPE][:alpha=X][:dropout=X] as `--lora` has
 * it; false if it is something else. */
bool adapters_read(const char *text, struct adapters *adapters);

struct expansion {
  struct arena *arena;
  struct diags *diags;
  int source; /* source number of the program */
  struct loader loader;
  struct settings *settings;
  struct define *defines;
  size_t define_count;
  struct define *inputs; /* by name; empty: the only input */
  size_t input_count;
  int64_t inputs_seen; /* statements, including erroneous ones */
  struct input_override override;
  struct span small;  /* `: i8` of an input, and */
  struct span typed;  /* `infer dtype=`; length 0: none */
  bool low;           /* inputs have their lower bounds, */
  struct span bounds; /* written here; length 0: none */
  struct adapters adapters;
  bool adapters_used;           /* by any layer */
  bool adapters_own;            /* a layer has its own rank */
  int recipe;                   /* whose settings were taken; 0: none */
  bool adapters_spare;          /* the output layer has none */
  bool partial;                 /* keep the net despite errors: partial.c */
  bool ignore_marks;            /* ignore `-> DIMS` */
  struct shape_record *records; /* by statement; NULL: not recorded */
  size_t record_count;
  int64_t node_budget; /* of a trial; 0: LIMIT_LAYERS */
  int64_t step_budget; /* of a trial; 0: LIMIT_STEPS */
  bool strict;         /* names from unreadable statements are unknown */
};

#endif
