/* Back ends: each writes one kind of output; table.c lists them. */
#ifndef NETC_CODEGEN_BACKEND_H
#define NETC_CODEGEN_BACKEND_H

#include "base/diag.h"
#include "sema/cost.h"
#include "sema/expand.h"
#include "memory/memory.h"

/* All that is known of a net once it is compiled. */
struct compiled {
  struct arena *arena;
  struct sources *sources;
  struct diags *diags;
  int source;                        /* the number of the net's own text */
  const struct block *program;       /* NULL if it is no text */
  bool parsed;                       /* without an error of syntax */
  int statements;                    /* of all texts */
  const struct expansion *expansion; /* how it was expanded */
  const struct model *model;         /* NULL if the source has errors */
  const struct settings *settings;
  struct memory memory;
};

struct emit_options {
  enum text_units units;
  enum layout layout;
  int depth; /* 0: all groups are shown open */
  bool expand, explain, ascii;
};

/* How far the compilation must have come. */
enum backend_need { NEEDS_TEXT, NEEDS_SYNTAX, NEEDS_MODEL };

struct backend {
  const char *name; /* of --emit, and the suffix of files */
  const char *summary;
  enum backend_need needs;
  bool hidden; /* for --dump and `netc fmt`, not for --emit */
  void (*emit)(const struct compiled *c, const struct emit_options *options,
               struct text *out);
};

size_t backend_count(void);
const struct backend *backend_at(size_t index);
const struct backend *backend_find(struct slice name);

/* The back ends, each in the file of its name. */
void emit_report(const struct compiled *c, const struct emit_options *options,
                 struct text *out);
void emit_json(const struct compiled *c, const struct emit_options *options,
               struct text *out);
void emit_csv(const struct compiled *c, const struct emit_options *options,
              struct text *out);
void emit_markdown(const struct compiled *c, const struct emit_options *options,
                   struct text *out);
void emit_net(const struct compiled *c, const struct emit_options *options,
              struct text *out);
void emit_dot(const struct compiled *c, const struct emit_options *options,
              struct text *out);
void emit_fmt(const struct compiled *c, const struct emit_options *options,
              struct text *out);
void emit_fmt_shapes(const struct compiled *c,
                     const struct emit_options *options, struct text *out);
void dump_tokens(const struct compiled *c, const struct emit_options *options,
                 struct text *out);
void dump_ast(const struct compiled *c, const struct emit_options *options,
              struct text *out);
void dump_graph(const struct compiled *c, const struct emit_options *options,
                struct text *out);
void dump_plan(const struct compiled *c, const struct emit_options *options,
               struct text *out);
void dump_shapes(const struct compiled *c, const struct emit_options *options,
                 struct text *out);

#endif
