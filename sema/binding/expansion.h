/* What an expansion is given: settings, choices, a loader of sources. */
#ifndef NETC_SEMA_BINDING_EXPANSION_H
#define NETC_SEMA_BINDING_EXPANSION_H

#include "base/diag.h"
#include "sema/binding/scope.h"
#include "sema/model/model.h"
#include "sema/model/settings.h"

/* Reads another source file for `use`; see driver and library. */
struct loader {
  /*
   * Parses the file that `path`, which is at `named`, means there. Returns
   * its number among the sources, with its tree in *program; -1 if it cannot
   * be read, with the reason in *reason.
   */
  int (*load)(void *user, struct slice path, struct span named,
              const struct block **program, struct slice *reason);
  void *user;
};

/* A value for a `param`, or sizes of an input, from the command line. */
struct define {
  struct slice name;
  struct value value;
  struct value low; /* of an input with bounds: their lower ends */
  struct span span;
  bool used;
  bool bounds;
  bool unknown; /* a word that is no layer: a param may say what it allows */
};

/* Other sizes for one of the inputs: to try what they would give. */
struct input_override {
  bool active;
  int64_t input; /* its number among the inputs */
  struct shape shape;
};

/* The shape that a statement gives, however often it is carried out. */
struct shape_record {
  bool seen;
  bool differs;       /* in its number of axes */
  struct shape shape; /* SIZE_ANY where it is not always the same */
};

/* LoRA on layers that say nothing of it: adapt.c */
struct adapters {
  int64_t rank; /* 0: none */
  bool all;     /* dense layers, too, not attention alone */
};

struct expansion {
  struct arena *arena;
  struct diags *diags;
  int source; /* the number of the program's text */
  struct loader loader;
  struct settings *settings;
  struct define *defines;
  size_t define_count;
  struct define *inputs; /* by name; empty: the only one */
  size_t input_count;
  int64_t inputs_seen; /* statements, with those in error */
  struct input_override override;
  struct span small;  /* `: i8` of an input, and */
  struct span typed;  /* `infer dtype=`; of length 0: there is none */
  bool low;           /* inputs have the lower ends of their bounds, */
  struct span bounds; /* which stand there; of length 0: there are none */
  struct adapters adapters;
  bool adapters_used;           /* by any layer */
  bool adapters_own;            /* a layer has a rank of its own */
  bool partial;                 /* what errors leave is wanted: partial.c */
  bool ignore_marks;            /* what `-> DIMS` says does not matter */
  struct shape_record *records; /* by statement; NULL: not wanted */
  size_t record_count;
  int64_t node_budget; /* of a trial; 0: LIMIT_LAYERS */
  int64_t step_budget; /* likewise; 0: LIMIT_STEPS */
  bool strict; /* names that an unread statement may define are unknown */
};

#endif
