/* Back ends: each writes one kind of output; outputs.def lists them. */
#ifndef NETC_CODEGEN_BACKEND_H
#define NETC_CODEGEN_BACKEND_H

#include "base/diag.h"
#include "sema/model/cost.h"
#include "sema/expand.h"
#include "memory/memory.h"

/* A training step with other settings than the net's own: --compare. */
struct comparison {
  struct slice text; /* "checkpoint=8 precision=mixed" */
  struct settings settings;
  struct memory memory;
};
enum { MOST_COMPARED = 8 };

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
  const struct comparison *compared;
  size_t compared_count;
  struct serving_answer **served; /* of an output, once it has asked for it */
};

enum tint { TINT_OP, TINT_MACS, TINT_SAVED, TINT_PARAMS };
enum { NOTE_PARAMS = 1, NOTE_MACS = 2, NOTE_BYTES = 4 };

struct emit_options {
  enum text_units units;
  enum layout layout;
  int depth; /* 0: all groups are shown open; below 0: no rows at all */
  bool expand, explain, ascii;
  int width;           /* of a line of the report; 0: 80 */
  bool unfold;         /* equal rows one by one */
  bool colour;         /* of a terminal */
  bool predict;        /* the verdict is on prediction */
  const char *columns; /* "name,output,macs"; NULL: the usual ones */
  const char *sort;    /* by that column, or NULL */
  int64_t top;         /* so many lines at most; 0: all */
  const char *prefix;  /* of C's names; NULL: the net's name */
  bool right;          /* diagrams flow to the right */
  enum tint tint;      /* what a diagram's fills tell */
  unsigned char notes; /* NOTE_*: figures in a diagram's boxes */
  bool timeline;       /* JSON has every moment of the training step */
  const char *links;   /* what leads to the folder of the sources, or NULL */
  bool inlined; /* a picture in a page: links lead to its lines of source */
};

static inline size_t options_width(const struct emit_options *options) {
  return options->width ? (size_t)options->width : 80;
}

/* How far the compilation must have come. */
enum backend_need { NEEDS_TEXT, NEEDS_SYNTAX, NEEDS_MODEL };

/* Who asks for it: -o and --emit, --dump, or `netc fmt`. */
enum backend_purpose { FOR_FILES, FOR_DUMP, FOR_FORMAT };

struct backend {
  const char *name; /* of --emit, and the suffix of files */
  const char *summary;
  const char *word; /* of --emit as well; NULL: none */
  enum backend_need needs;
  enum backend_purpose purpose;
  void (*emit)(const struct compiled *c, const struct emit_options *options,
               struct text *out);
  /* Why it cannot be written, and the way out; NULL, or gives NULL: it can. */
  const char *(*refuses)(const struct compiled *c);
};

size_t backend_count(void);
const struct backend *backend_at(size_t index);
const struct backend *backend_find(struct slice name);

#define OUTPUT(emit, ...)                                                 \
  void emit(const struct compiled *c, const struct emit_options *options, \
            struct text *out);
#include "codegen/outputs.def"
#undef OUTPUT

const char *source_refuses(const struct compiled *c);
const char *python_refuses(const struct compiled *c);

#endif
