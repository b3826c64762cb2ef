/* Diagrams: between the rows of a net and the scene that shows them. */
#ifndef NETC_DIAGRAMS_DIAGRAM_H
#define NETC_DIAGRAMS_DIAGRAM_H

#include "codegen/rows.h"
#include "diagrams/scene.h"

#define NO_ITEM SIZE_MAX

/* Where a box takes a tensor from. */
struct link {
  size_t from;
  bool drawn; /* as part of the structure; the others are drawn as skips */
};

/* A box: a row, or one row for all of its repeats. */
struct item {
  size_t row, last_row; /* of the first repeat and of the last */
  int64_t times;        /* how often the net has it */
  bool varies;          /* its repeats have different sizes */
  bool ends_repeat;     /* what leaves it is what leaves the last repeat */
  bool opens_repeat;    /* it is alone in a repeat: drawn as a stack */
  size_t first_link, link_count;
  int64_t reader;        /* the last item that reads it; -1: none */
  struct slice lines[6]; /* what stands in it, once it has been measured */
  int line_count, note_count;
  struct slice out; /* the shape that leaves it, if it changed; or empty */
  bool in_branch;   /* of a split */
  int64_t x, y, width, height;
};

/* The source's tree: an item, or a group or repeat that holds some. */
struct unit {
  size_t first, end; /* its items */
  int64_t group;     /* or NO_NODE */
  int64_t count;     /* turns */
  bool varies;
  struct unit *child, *next; /* no child: one item */
};

/*
 * The same as a drawing: a chain of parts, one behind the other; a split into
 * branches that a join ends; a frame around a chain; a box.
 */
enum part_kind { PART_BOX, PART_CHAIN, PART_SPLIT, PART_FRAME };

struct part {
  enum part_kind kind;
  size_t item;             /* PART_BOX; PART_SPLIT: the join */
  const struct unit *unit; /* PART_FRAME */
  struct part *first;      /* of a chain or frame; the branches of a split */
  struct part *next;
  struct part *side;     /* chains that leave behind this part and end */
  bool forks;            /* PART_SPLIT: its branches have a common start */
  bool bar;              /* PART_SPLIT: branches end on top of a wide join */
  bool flip;             /* the flow goes up */
  bool nested;           /* PART_FRAME: inside another one */
  size_t main;           /* PART_SPLIT: the branch on the spine; or none */
  int lanes;             /* skips that end inside it and pass on its side */
  int64_t left, right;   /* extent across the flow, from the spine */
  int64_t length;        /* along the flow, with `behind` */
  int64_t behind;        /* room for the arrow and its shape behind it */
  int64_t shift, ahead;  /* inside what holds it: of the spine; of its entry */
  int64_t across, along; /* the place: of the spine, and of the lesser end */
};

struct diagram {
  const struct compiled *c;
  const struct emit_options *options;
  struct arena *arena;
  struct rows rows;
  VEC(struct item) items;
  VEC(struct link) links;
  size_t *item_of_row;
  int64_t *reader_of_row; /* the last row that reads it; -1: none */
  uint64_t *hash_of_row;
  struct unit *units;
  struct part *parts;  /* a chain for each net that starts anew */
  struct scene *scene; /* NULL while links are only marked */
  bool lr;
  int level;                     /* how tightly it is set, from 0 */
  size_t long_skip;              /* over more boxes, skips pass outside */
  int64_t most_bytes, most_heat; /* of a tensor; of a box */
  struct slice *tails; /* by kind of layer: " bn relu", if all have it */
};

/* diagram.c */
struct diagram diagram_of(const struct compiled *c,
                          const struct emit_options *options);

/* diagram_items.c: rows to items and the tree of units. */
void diagram_find_items(struct diagram *d);
void diagram_mark_repeat(struct diagram *d, const struct unit *unit);
const struct row *item_row(const struct diagram *d, size_t item);

/* diagram_tree.c: units to parts; a chain for each net that starts anew. */
struct part *diagram_find_parts(struct diagram *d, const struct unit *units);

/* diagram_text.c: what stands in a box. */
void item_find_text(struct diagram *d, size_t item);
const char *item_sign(const struct diagram *d, size_t item);
int item_fill(const struct diagram *d, size_t item);
int64_t item_bytes(const struct diagram *d, size_t item);
void item_open(struct diagram *d, size_t item);
struct slice item_shape(struct diagram *d, size_t item); /* that leaves it */

/* What is known of it, a fact a line, each through `put`. */
typedef void put_fn(struct text *out, struct slice text);
void item_tip(struct diagram *d, size_t item, struct text *out, put_fn *put,
              const char *newline);
struct slice frame_title(struct diagram *d, const struct unit *unit);
void diagram_find_scales(struct diagram *d);
void diagram_find_tails(struct diagram *d);

/* diagram_legend.c */
int family_of(const struct layer_kind *kind); /* by number; -1: of none */
int64_t legend_measure(struct diagram *d, int64_t width);
void legend_draw(struct diagram *d, int64_t x, int64_t y, int64_t width);

/* diagram_measure.c: how large parts are, and where they stand. */
void part_measure(struct diagram *d, struct part *part);
void part_place(struct diagram *d, struct part *part, int64_t across,
                int64_t along);
void part_flip(struct part *part);

/* diagram_draw.c */

/* A line on its way to the box that it will end at, in the flow's axes. */
struct pen {
  size_t item; /* whose tensor it is; NO_ITEM: none */
  size_t count;
  struct point at[12]; /* x across, y along */
};

struct pen part_draw(struct diagram *d, const struct part *part,
                     struct pen pen);
void part_draw_side(struct diagram *d, const struct part *part,
                    const struct part *side, const struct pen *pen);
void pen_to(struct pen *pen, int64_t across, int64_t along);
void pen_draw(struct diagram *d, const struct pen *pen, bool arrow);
void link_draw(struct diagram *d, size_t item, const struct pen *pen);

/* How tightly a diagram is set: the first that can be read on a page. */
enum { LEVELS = 5 };

struct tightness {
  int64_t gap;      /* between boxes */
  int64_t wide_gap; /* with a shape beside the arrow */
  int64_t branch_gap;
  int64_t text;      /* size of what stands first in a box */
  int64_t line;      /* of text in a box, before it is broken */
  bool bare_numbers; /* the legend says what they are */
  bool few_frames;   /* inner ones only where something is repeated */
  bool few_facts;    /* no numbers, no shapes inside branches */
  bool few_tails;    /* a tail that a layer always has is in the legend */
};

const struct tightness *tightness(const struct diagram *d);

/* Whether a frame is no more than its chain. */
bool is_bare(const struct diagram *d, const struct part *frame);

/* Lengths, in tenths of a point. */
enum {
  BUS = 10 * POINT,  /* from where branches part to their tops */
  LANE = 9 * POINT,  /* of a skip */
  PAD = 6 * POINT,   /* inside a frame */
  BAND = 12 * POINT, /* for a frame's title */
  BESIDE = 45,       /* from an arrow to its shape: clear of the head */
  STACK = 25,        /* between the sheets of a stack */
  GUTTER = 26 * POINT,
  EDGE = 8 * POINT,  /* around the picture */
  OVER = 11 * POINT, /* from a line above the columns to their boxes */
  SIGN = 14 * POINT,
};

#endif
