/* Statements of an import's source, before they are written as text. */
#ifndef NETC_IMPORT_STATEMENT_H
#define NETC_IMPORT_STATEMENT_H

#include "import/graph.h"

struct source_block;

enum { WIDE = 100000, LINE = 80 };

enum piece_kind {
  PIECE_TEXT,  /* a word or an argument */
  PIECE_BLOCK, /* { ... } */
  PIECE_LABEL, /* the name of a node, after `text.before` */
  PIECE_ROWS,  /* [ ... ] of a `for` */
};

struct source_piece {
  enum piece_kind kind;
  struct part_text text;
  struct source_block *block;
  int node;                     /* of PIECE_LABEL */
  const char *index;            /* in the loop of a series: "i-1"; or NULL */
  size_t columns;               /* of PIECE_ROWS, */
  VEC(struct part_text) values; /* row by row */
};

/* A statement: words, arguments, blocks, and the layers of its tail. Ordinals
 * number the layers in written order. */
struct statement {
  VEC(struct source_piece) pieces;
  int node;          /* node whose tensor becomes the current one; -1: none */
  bool labelled;     /* some statement names `node`: it has a label */
  bool takes_tail;   /* layers after it may be on its line */
  size_t bias;       /* piece with the bias, from 1; 0: none */
  int first, last;   /* ordinals of its layers */
  int reads;         /* minimum ordinal of a label that it names */
  int read_until;    /* last ordinal that names a label inside it; -1: none */
  uint64_t exact;    /* hash without the targets of labels */
  uint64_t form;     /* hash without the values of parts */
  const char *index; /* index of its label in the loop of a series; or NULL */
  /* For a loop with series: the minimum ordinal of a tensor before it, and the
   * maximum that names one of its iterations. */
  int series_from, series_until;
  int lines; /* estimated number of lines */
  int width; /* columns on one line; WIDE: does not fit */
};

struct source_block {
  VEC(struct statement) all;
};

/* A layout for writing a graph. The shortest one depends on the net. */
struct source_layout {
  bool flat;
  /*
   * Maximum nesting of operands that are blocks although they start at another
   * tensor; 0: blocks only if all start at one. Shorter if cells take or give
   * two tensors.
   */
  int cells;
  bool series_early; /* loops with indexed labels come before defs */
  bool small_defs;   /* the shortest defs that save lines come first */
  bool bare_joins;   /* layers after a join are separate lines */
  bool pads;         /* windows of 1x1 have `pad`, too */
  bool late; /* tensors come before their first use, not in the file's order */
  bool listed; /* outputs come in the order of the file's list */
};

/* The whole net. */
struct source_plan {
  struct graph *graph;
  struct source_block top;
  struct source_block defs;
  int *order;         /* nodes in written order */
  int *ordinal;       /* by node: its position in `order` */
  int count;          /* length of `order` */
  bool *labelled;     /* by node */
  int *read_until;    /* by node: the last ordinal that names it; -1: none */
  const char **label; /* by node: its name, set when first written */
  /* By node: its series, from 1, and its index there. 0: none. */
  int *series, *iteration;
  int series_count;
  struct source_layout layout;
};

/*
 * Orders the graph into statements. Chains become lines with tails. Branches
 * become blocks of the join that ends them, if their tensors have no other
 * users; else they use labels and `from`. Heads become forks. A flat layout has
 * one layer per line.
 */
void source_structure(struct source_plan *plan, struct graph *graph,
                      struct source_layout layout);

/* Folds equal runs into `repeat`, `for` and `def`. */
void source_fold(struct source_plan *plan);

/* Folds runs of a block and its inner blocks; `tables`: into `for`, too. */
void source_fold_block(struct source_plan *plan, struct source_block *block,
                       bool tables);

/* Makes a `def` of each run in several places, the longest first. */
void source_fold_defs(struct source_plan *plan);

/* Inlines every `def` that is called only once. */
void source_inline_defs(struct source_plan *plan);

/* Computes a statement's hashes and sizes from its pieces. */
void statement_measure(const struct source_plan *plan,
                       struct statement *statement);

/* Adds a piece. The caller sets the node of a label. */
struct source_piece *statement_put(const struct source_plan *plan,
                                   struct statement *statement,
                                   enum piece_kind kind);
void statement_put_text(const struct source_plan *plan,
                        struct statement *statement, enum graph_part part,
                        const char *text);
/* True if the statement begins with `word`. */
bool statement_is(const struct statement *statement, const char *word);

/* True if it names a layer itself, not the layer's tensor. Such a label cannot
 * be a def's argument and has no index. */
bool statement_names_layer(const struct statement *statement);

/* True if a layer of the net or a def has that name. */
bool source_has_word(const struct source_plan *plan, const char *name);

/* Measures all statements of a block, the inner ones first. */
void block_measure(struct source_plan *plan, struct source_block *block);

/* Rules for comparing statements. */
struct likeness {
  const struct source_plan *plan;
  bool form; /* ignore the values of parts */
  /* Labels are alike if their distances are equal, or if both are before these
   * ordinals, at which the compared runs begin. */
  int first_a, first_b;
};

/* True if they are equal, apart from their own labels. */
bool statement_same(const struct likeness *how, const struct statement *a,
                    const struct statement *b);

/* True if the argument is written. */
bool part_is_shown(const struct part_text *text);

/* True for a window of 1x1. */
bool part_is_one(const struct part_text *text);

/* Columns of `{ a; b }`, or WIDE. */
int block_width(const struct source_block *block);

/* Writes the source in canonical form. */
void source_write(struct source_plan *plan, struct text *out);

#endif
