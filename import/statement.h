/* Statements of the source that an import makes, before they are text. */
#ifndef NETC_IMPORT_STATEMENT_H
#define NETC_IMPORT_STATEMENT_H

#include "import/graph.h"

struct source_block;

enum { WIDE = 100000, LINE = 80 };

enum piece_kind {
  PIECE_TEXT,  /* a word or an argument */
  PIECE_BLOCK, /* { ... } */
  PIECE_LABEL, /* the name of a node; `text.before` stands before it */
  PIECE_ROWS,  /* [ ... ] of a `for` */
};

struct source_piece {
  enum piece_kind kind;
  struct part_text text;
  struct source_block *block;
  int node;                     /* of PIECE_LABEL */
  const char *index;            /* of a series in its loop: "i-1"; or NULL */
  size_t columns;               /* of PIECE_ROWS, */
  VEC(struct part_text) values; /* row by row */
};

/*
 * A statement: words, arguments, blocks, and the layers of its tail. Ordinals
 * count the layers in the order in which they are written.
 */
struct statement {
  VEC(struct source_piece) pieces;
  int node;          /* whose tensor it leaves as the current one; -1: none */
  bool labelled;     /* some statement names that node: it has a label */
  bool takes_tail;   /* what follows may stand on its line */
  size_t bias;       /* the piece that says so, from 1; 0: none */
  int first, last;   /* ordinals of its layers */
  int reads;         /* the least ordinal of a label that it names */
  int read_until;    /* the last that names a label inside it; -1: none */
  uint64_t exact;    /* hash, but for what labels name */
  uint64_t form;     /* the same without the values of parts */
  const char *index; /* its label's, in the loop of a series; or NULL */
  /* A loop with series has the least ordinal before it and the last that
   * names one of its iterations. */
  int series_from, series_until;
  int lines; /* that it takes, about */
  int width; /* on one line; WIDE: it does not go on one */
};

struct source_block {
  VEC(struct statement) all;
};

/* How a graph is said; what is shortest differs. */
struct source_layout {
  bool flat;
  /* A join's operands are blocks where nothing else uses them, though they
   * begin at another tensor, so many in each other; 0: only where all begin at
   * one. Shorter where cells take two tensors or give two. */
  int cells;
  bool series_early; /* loops whose labels have an index come before defs */
  bool small_defs;   /* the shortest that save lines come first */
  bool bare_joins;   /* what follows a join is a separate line */
  bool late; /* tensors are made before their first use, not as in the file */
};

/* The whole net. */
struct source_plan {
  struct graph *graph;
  struct source_block top;
  struct source_block defs;
  int *order;         /* the nodes, in the order in which they are written */
  int *ordinal;       /* of a node in `order` */
  int count;          /* of `order` */
  bool *labelled;     /* by node */
  int *read_until;    /* by node: the last ordinal that names it; -1 */
  const char **label; /* by node: its name, once it is written */
  /* By node: the labels with an index that it is one of, from 1, and which. */
  int *series, *iteration;
  int series_count;
  struct source_layout layout;
};

/*
 * Orders the graph into statements: chains as lines with tails, branches as
 * blocks of the join that ends them where nothing else uses their inside,
 * labels and `from` elsewhere, heads as forks. Flat, a line a layer.
 */
void source_structure(struct source_plan *plan, struct graph *graph,
                      struct source_layout layout);

/* Folds equal runs into `repeat`, `for` and `def`. */
void source_fold(struct source_plan *plan);

/* Equal runs of one block and those inside it; `tables`: `for`, too. */
void source_fold_block(struct source_plan *plan, struct source_block *block,
                       bool tables);

/* Makes a `def` of each run that appears in several places, the longest
 * first. */
void source_fold_defs(struct source_plan *plan);

/* Writes a `def` that is called only once where it is called. */
void source_inline_defs(struct source_plan *plan);

/* Fills in a statement's hashes and extent from its pieces. */
void statement_measure(const struct source_plan *plan,
                       struct statement *statement);

/* Adds a piece; of a label, its node follows. */
struct source_piece *statement_put(const struct source_plan *plan,
                                   struct statement *statement,
                                   enum piece_kind kind);
void statement_put_text(const struct source_plan *plan,
                        struct statement *statement, enum graph_part part,
                        const char *text);
/* The word that a statement begins with. */
const char *statement_word(const struct statement *statement);
bool statement_is(const struct statement *statement, const char *word);

/* True if it names a layer itself and not the tensor that the layer gives: such
 * a label is neither a def's argument nor has an index. */
bool statement_names_layer(const struct statement *statement);

/* True if a layer or a def has that name. */
bool source_has_word(const struct source_plan *plan, const char *name);

/* Measures all statements of a block, the inner ones first. */
void block_measure(struct source_plan *plan, struct source_block *block);

/* How statements are compared. */
struct likeness {
  const struct source_plan *plan;
  bool form; /* but for the values of parts */
  /* Labels are alike if their distance is, or if both are before these
   * ordinals, where the runs that are compared begin. */
  int first_a, first_b;
};

/* True if they are the same but for their own labels. */
bool statement_same(const struct likeness *how, const struct statement *a,
                    const struct statement *b);

/* True if an argument is written. */
bool part_is_shown(const struct part_text *text);

/* The width of `{ a; b }`, or WIDE. */
int block_width(const struct source_block *block);

/* The source in canonical form. */
void source_write(struct source_plan *plan, struct text *out);

#endif
