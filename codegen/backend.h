/* Back ends: each writes one kind of output; library/outputs.def lists them. */
#ifndef NETC_CODEGEN_BACKEND_H
#define NETC_CODEGEN_BACKEND_H

#include "include/netc.h"
#include "base/diag.h"
#include "sema/model/cost.h"
#include "sema/expand.h"
#include "memory/answer/answer.h"

/* For --compare: a training step with other settings. */
struct comparison {
  struct slice text; /* "checkpoint=8 precision=mixed" */
  struct settings settings;
  struct memory memory;
};
enum { MOST_COMPARED = 8 };

/* The name of a node's module in x.py. */
struct module_name {
  struct slice path; /* layer1.0.bn1; empty: none */
  bool alone;        /* `path` is a parameter of the enclosing module */
  struct netc_tensor_shape shape; /* of that parameter */
  bool qkv; /* attention with matrices called qkv and proj */
};

/* All results of compiling a net. */
struct compiled {
  struct arena *arena;
  struct sources *sources;
  struct diags *diags;
  int source;                        /* number of the net's source file */
  const struct block *program;       /* NULL: not from a text */
  bool parsed;                       /* the syntax is valid */
  int statements;                    /* of all source files */
  const struct expansion *expansion; /* how the source was expanded */
  const struct model *model;         /* NULL if the source has errors */
  const struct settings *settings;
  const struct settings *given; /* without what the runtime sets */
  struct memory memory;
  const struct compiled *low; /* at the minimum of bounds, or NULL */
  const struct comparison *compared;
  size_t compared_count;
  /* For an output: */
  const struct netc_options *options;
  const struct module_name *module_names; /* by node, of x.py; NULL: default */
  bool inlined; /* in an HTML page: links lead to source lines */
  const struct answer **answer;         /* cached: asked.h */
  const struct serving_answer **served; /* cached */
  const char **note; /* set by an output that lacks something asked for */
};

/* The units of an output. */
static inline enum text_units output_units(const struct compiled *c) {
  static const enum text_units units[] = {
      [NETC_IEC] = UNITS_IEC, [NETC_SI] = UNITS_SI, [NETC_BYTES] = UNITS_BYTES};
  return units[c->options->units];
}

static inline struct count_text output_size(const struct compiled *c,
                                            int64_t bytes) {
  return size_text(bytes, output_units(c));
}

static inline enum layout output_layout(const struct compiled *c) {
  return c->options->channels_first ? LAYOUT_CHW : LAYOUT_HWC;
}

static inline size_t output_width(const struct compiled *c) {
  return c->options->width ? (size_t)c->options->width : 80;
}

/* The stage of compilation that an output needs. */
enum backend_need { NEEDS_TEXT, NEEDS_SYNTAX, NEEDS_MODEL };

/* As enum netc_purpose. */
enum backend_purpose { FOR_FILES, FOR_DUMP, FOR_FORMAT, FOR_SWEEP, FOR_PAGE };

struct backend {
  const char *name; /* for --emit; suffix of files */
  const char *summary;
  const char *word; /* another name for --emit; NULL: none */
  enum backend_need needs;
  enum backend_purpose purpose;
  void (*emit)(const struct compiled *c, struct text *out);
  /* Why the output is impossible, and a way out. NULL, or gives NULL:
   * possible. */
  const char *(*refuses)(const struct compiled *c);
  int64_t most_layers; /* maximum layers of the net; 0: any */
};

/* The diagram as SVG, also for HTML pages. */
void emit_svg(const struct compiled *c, struct text *out);

const char *source_refuses(const struct compiled *c);
const char *python_refuses(const struct compiled *c);

/*
 * By node, the module's name in the state_dict() of the Python output; length
 * 0: none. NULL: there is no such output.
 */
const struct slice *python_names(const struct compiled *c);
const char *diagram_refuses(const struct compiled *c);
const char *tex_refuses(const struct compiled *c);
const char *pareto_refuses(const struct compiled *c);

#endif
