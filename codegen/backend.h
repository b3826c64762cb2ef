/* Back ends: each writes one kind of output; library/outputs.def has them. */
#ifndef NETC_CODEGEN_BACKEND_H
#define NETC_CODEGEN_BACKEND_H

#include "include/netc.h"
#include "base/diag.h"
#include "sema/model/cost.h"
#include "sema/expand.h"
#include "memory/answer/answer.h"

/* A training step with other settings than the net's own: --compare. */
struct comparison {
  struct slice text; /* "checkpoint=8 precision=mixed" */
  struct settings settings;
  struct memory memory;
};
enum { MOST_COMPARED = 8 };

/* What x.py is to call the module of a node. */
struct module_name {
  struct slice path; /* layer1.0.bn1; nothing: it has none */
  bool alone; /* path is of its one tensor, which the module around has */
  struct netc_tensor_shape shape; /* of that */
  bool qkv; /* an attention's matrices are called qkv and proj in it */
};

/* All that is known of a net once it is compiled. */
struct compiled {
  struct arena *arena;
  struct sources *sources;
  struct diags *diags;
  int source;                        /* the number of the net's own text */
  const struct block *program;       /* NULL if it is not a text */
  bool parsed;                       /* without an error of syntax */
  int statements;                    /* of all texts */
  const struct expansion *expansion; /* how it was expanded */
  const struct model *model;         /* NULL if the source has errors */
  const struct settings *settings;
  struct memory memory;
  const struct compiled *low; /* with the lower ends of bounds, or NULL */
  const struct comparison *compared;
  size_t compared_count;
  /* Of an output: */
  const struct netc_options *options;
  const struct module_name *module_names; /* by node, of x.py; NULL: its own */
  bool inlined; /* a picture in a page: links lead to its lines of source */
  const struct answer **answer;         /* once it has asked for it: asked.h */
  const struct serving_answer **served; /* likewise */
};

/* How an output of it looks. */
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

/* How far the compilation must have come. */
enum backend_need { NEEDS_TEXT, NEEDS_SYNTAX, NEEDS_MODEL };

/* Who asks for it: -o and --emit, --dump, `netc fmt`, or `netc sweep`. */
enum backend_purpose { FOR_FILES, FOR_DUMP, FOR_FORMAT, FOR_SWEEP };

struct backend {
  const char *name; /* of --emit, and the suffix of files */
  const char *summary;
  const char *word; /* of --emit as well; NULL: none */
  enum backend_need needs;
  enum backend_purpose purpose;
  void (*emit)(const struct compiled *c, struct text *out);
  /* Why it cannot be written, and the way out; NULL, or gives NULL: it can. */
  const char *(*refuses)(const struct compiled *c);
  int64_t most_layers; /* of a net that it can be of; 0: any number */
};

/* The diagram as SVG, which a page of HTML has in it, too. */
void emit_svg(const struct compiled *c, struct text *out);

const char *source_refuses(const struct compiled *c);
const char *python_refuses(const struct compiled *c);

/*
 * What the module of each node is called in the state_dict() of that file, by
 * node; of length 0: it has none. NULL: there is no such file.
 */
const struct slice *python_names(const struct compiled *c);
const char *diagram_refuses(const struct compiled *c);
const char *tex_refuses(const struct compiled *c);
const char *pareto_refuses(const struct compiled *c);

#endif
