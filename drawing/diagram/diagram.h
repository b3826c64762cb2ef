/* Diagrams: between the rows of a net and the scene that shows them. */
#ifndef NETC_DRAWING_DIAGRAM_DIAGRAM_H
#define NETC_DRAWING_DIAGRAM_DIAGRAM_H

#include "codegen/rows.h"
#include "drawing/scene/scene.h"

#define NO_ITEM SIZE_MAX

enum { MOST_FAMILIES = 64 }; /* of layers; the table has 20 */

/* Where a box takes a tensor from. */
struct diagram_link {
  size_t from;
  int64_t node;  /* whose tensor it is */
  size_t number; /* among all links, also those that are cut */
  bool constant; /* all turns of a repeat read it */
  bool carried;  /* later turns of a repeat read the turn before instead */
  bool drawn;    /* as part of the structure; the others are drawn as skips */
};

enum stub_side { STUB_AHEAD, STUB_RIGHT, STUB_LEFT };

/* A link that is cut: only its name stands at the end of a short arrow. */
struct diagram_stub {
  size_t from;    /* the item; NO_ITEM: it is not in the same drawing */
  int64_t node;   /* whose tensor it is */
  int64_t reader; /* by its place in the row of the item that has the stub */
  int input;      /* of the reader */
  struct slice name;
  enum stub_side side;
  size_t source; /* that can stand at its end instead of a name; NO_ITEM */
};

/* Calls of a def that are equal but for sizes: all are boxes; one is drawn. */
struct diagram_call {
  int64_t group; /* the one that is drawn */
  char letter;
  int64_t entry;         /* the node that it starts from; or NO_NODE */
  const int64_t *shared; /* nodes that all of them read from outside */
  const int64_t *inputs; /* nodes that only this one reads, without the entry */
  size_t shared_count, input_count;
};

/* Rows of the net, or of a call that is drawn once. */
struct diagram_section {
  size_t first, end;
  const struct diagram_call *call; /* NULL: of the net */
  int64_t *row_of; /* of the call's nodes, by their place in it */
};

/* Repeats that an item lies in: inner ones first. */
enum { MOST_NESTED = 8 };

struct diagram_turns {
  size_t stride, count; /* rows of a turn; turns */
  bool varies;          /* they have figures of their own */
};

/* How tightly a diagram is set: the first that can be read on a page. */
enum { PAGE_LEVELS = 5, LEVELS, BESIDE_FROM = 2 }; /* the last in a column */

/* What stands in a box, notes last, and what that takes. */
struct diagram_label {
  struct slice lines[6];
  int line_count, note_count;
  int64_t width, height;
};

/* A box: a row, or one row for all of its repeats. */
struct diagram_item {
  size_t row, last_row; /* of the first repeat and of the last */
  int64_t times;        /* how often the net has it */
  bool varies;          /* its repeats have different sizes */
  bool ends_repeat;     /* what leaves it is what leaves the last repeat */
  bool opens_repeat;    /* it is alone in a repeat: drawn as a stack */
  int64_t stacked;      /* so many turns of that */
  size_t turn, stride, turns; /* of the innermost repeat: its first row, rows
                                 of a turn, how many turns; or 0 */
  struct diagram_turns nested[MOST_NESTED];
  int nested_count;
  bool is_entry; /* what a call that is drawn once starts from */
  size_t first_link, link_count;
  size_t next_link; /* after the one that was drawn last */
  size_t first_stub, stub_count;
  int64_t reader;        /* the last item that reads it; -1: none */
  size_t kind;           /* of its layer, by number */
  int family;            /* of its layer, by number; -1: of none */
  struct slice output;   /* of the net, if it has a name; or empty */
  struct slice words[2]; /* what it is: in full, and without usual tails */
  const struct diagram_label *labels[LEVELS]; /* by level, once measured */
  const struct diagram_label *label;          /* of the level it has */
  struct slice shape; /* that leaves it, once it has been asked for */
  struct slice out;   /* the same, if it changed; or empty */
  struct slice sign;  /* by which stubs know it, if it has no name; or empty */
  bool in_branch;     /* of a split */
  int64_t x, y, width, height;
};

/* The source's tree: an item, or a group or repeat that holds some. */
struct diagram_unit {
  size_t first, end; /* its items */
  int64_t group;     /* or NO_NODE */
  int64_t count;     /* turns */
  bool varies;
  const struct diagram_call
      *call;          /* that it shows for all of its kind; or NULL */
  struct slice title; /* of its frame, once it has been asked for */
  struct diagram_unit *child, *next; /* no child: one item */
};

/*
 * The same as a drawing: a chain of parts, one after the other; a split into
 * branches that a join ends; a frame around a chain; a box.
 */
enum part_kind { PART_BOX, PART_CHAIN, PART_SPLIT, PART_FRAME };

struct diagram_part {
  enum part_kind kind;
  size_t item;                /* PART_BOX; PART_SPLIT: the join */
  struct diagram_unit *unit;  /* PART_FRAME */
  struct diagram_part *first; /* of a chain or frame; the branches of a split */
  struct diagram_part *next;
  struct diagram_part *side; /* chains that leave after this part and end */
  bool ends;                 /* PART_CHAIN of a frame: no line leaves it */
  bool forks;                /* PART_SPLIT: its branches have a common start */
  bool bar;    /* PART_SPLIT: branches end on top of a wide join */
  bool flip;   /* the flow goes up */
  bool nested; /* PART_FRAME: inside another one */
  size_t main; /* PART_SPLIT: the branch on the spine; or none */
  struct diagram_part *around; /* PART_FRAME: the frame that it is in */
  int lanes;   /* PART_FRAME: of skips inside it, on the right of its chain */
  bool opened; /* PART_FRAME: it is cut, or no more drawn */
  struct slice title;    /* PART_FRAME: once it has been measured */
  int64_t left, right;   /* extent across the flow, from the spine */
  int64_t length;        /* along the flow, with `after` */
  int64_t after;         /* room for the arrow and its shape after it */
  int64_t shift, ahead;  /* inside what holds it: of the spine; of its entry */
  int64_t across, along; /* the place: of the spine, and of the lesser end */
};

/* What is tried in turn to make a page that can be read. */
enum diagram_effort {
  EFFORT_NONE,
  EFFORT_STUBS, /* no long lines */
  EFFORT_LOOPS, /* turns of `for` that differ in figures are drawn once */
  EFFORT_CALLS, /* calls of a def are drawn once */
  EFFORT_SMALL, /* small ones, too */
  EFFORTS
};

struct diagram {
  const struct compiled *c;
  struct arena *arena;
  enum diagram_effort effort;
  struct {
    const struct frame *parent;
    size_t begin; /* in the source */
    int count;
  } failed;         /* the loop that was last found to be no repeat */
  struct rows open; /* with all calls open */
  struct rows rows;
  VEC(struct diagram_section) sections;
  VEC(struct diagram_call) calls;
  int *call_of_group; /* from 1; 0: it is open; NULL: all are */
  VEC(struct diagram_item) items;
  VEC(struct diagram_link) links;
  VEC(struct diagram_stub) stubs;
  size_t link_count; /* also of those that are cut */
  bool *cut;         /* by number of a link; NULL: none is */
  size_t *item_of_row;
  int64_t *reader_of_row; /* the last row that reads it; -1: none */
  uint64_t *hash_of_row;
  int64_t search; /* rows that may still be compared to find repeats */
  size_t reading; /* the item whose links are found, of all that ever were */
  size_t *reader_of_item, *reader_of_node; /* so numbered: already linked */
  struct diagram_unit *units;
  struct diagram_part *parts; /* a chain for each net that starts anew */
  struct scene *scene;        /* NULL while links are only marked */
  bool lr;
  int level;                     /* how tightly it is set, from 0 */
  size_t long_skip;              /* over more boxes, skips pass outside */
  bool sources_at_stubs;         /* those that can stand there do */
  int64_t most_bytes, most_heat; /* of a tensor; of a box */
  struct slice *tails; /* by kind of layer: " bn relu", if all have it */
  int *families;       /* by kind of layer: its family's number, once known */
  const char *shown[MOST_FAMILIES]; /* their names, if a box is filled so */
};

/* diagram.c */
struct diagram diagram_of(const struct compiled *c);

/* Its items and links as the picture has them, but loosely set. */
void diagram_find_drawing(struct diagram *d);

/* diagram_rows.c: all calls open, or those of `calls` closed. */
void diagram_open_rows(struct diagram *d);
void diagram_close_rows(struct diagram *d);
const struct diagram_section *section_of(const struct diagram *d, size_t row);
int64_t row_of_node(const struct diagram *d, const struct diagram_section *s,
                    int64_t node);

/* Whether it has arguments in which blocks drawn as one differ; whether it only
 * puts them elsewhere. */
bool row_may_vary(const struct diagram *d, const struct row *row);
bool row_only_moves(const struct diagram *d, const struct row *row);

/* The node that a chain begins with. */
static inline int64_t row_input(const struct diagram *d,
                                const struct row *row) {
  return node_input(d->c->model, &d->c->model->nodes.at[row->first], 0);
}

/* diagram_calls.c: which calls are drawn once; false: none. */
bool diagram_find_calls(struct diagram *d);

/* What stands in no group is in no call. */
static inline const struct diagram_call *call_of_group(const struct diagram *d,
                                                       int64_t group) {
  int call = d->call_of_group && group >= 0 ? d->call_of_group[group] : 0;
  return call ? &d->calls.at[call - 1] : NULL;
}

/* diagram_items.c: rows to items and the tree of units; then their links. */
void diagram_find_items(struct diagram *d);
void diagram_find_links(struct diagram *d);
void diagram_mark_repeat(struct diagram *d, const struct diagram_unit *unit);
const struct row *item_row(const struct diagram *d, size_t item);
static inline const struct node *item_node(const struct diagram *d,
                                           size_t item) {
  return &d->c->model->nodes.at[item_row(d, item)->head];
}

static inline int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Items in the flow's axes. */
static inline int64_t item_along(const struct diagram *d,
                                 const struct diagram_item *item) {
  return d->lr ? item->width : item->height;
}

static inline int64_t item_across(const struct diagram *d,
                                  const struct diagram_item *item) {
  return d->lr ? item->height : item->width;
}

static inline int64_t item_low(const struct diagram *d, size_t item) {
  return d->lr ? d->items.at[item].x : d->items.at[item].y;
}

static inline int64_t item_middle(const struct diagram *d, size_t item) {
  return item_low(d, item) + item_along(d, &d->items.at[item]) / 2;
}

/* A row, or a group that stands where the level is looked at. */
struct diagram_piece {
  size_t first, end; /* rows */
  int64_t group;
};

struct diagram_pieces {
  struct diagram_piece *at;
  size_t count, room;
  uint64_t *sums; /* by piece: of the texts of all before it */
};

/* diagram_repeats.c: once all pieces are there; how much may be compared. */
void diagram_sum_pieces(struct diagram *d, struct diagram_pieces *p);
void diagram_open_search(struct diagram *d);

/* Both have pieces of equal lengths, and groups at the same places. */
bool diagram_same_groups(const struct diagram_pieces *p, size_t a, size_t b,
                         size_t period);

/* Calls `look` with the rows that give the same input to two rows, until it
 * returns false. Rows of other layers have none: false. */
typedef bool diagram_look_fn(void *user, int64_t x, int64_t y);
bool diagram_look_at_rows(struct diagram *d, size_t a, size_t b,
                          diagram_look_fn *look, void *user);

/* The turns from piece `at` on that save most. */
struct diagram_run {
  size_t period, count; /* pieces of a turn; turns */
  bool varies;
};

struct diagram_run diagram_find_run(struct diagram *d,
                                    const struct diagram_pieces *p, size_t at,
                                    size_t end);

/* diagram_loops.c: how many turns of a `for` start at a piece, or 1. */
size_t diagram_find_loop(struct diagram *d, const struct diagram_pieces *p,
                         size_t at, size_t end, size_t period);

/* diagram_figures.c: one text for all turns: "conv 64 dilate=1-512". */

/* How many turns with figures of their own an item has, at least 1; the row
 * that it stands for in each. */
size_t item_turns(const struct diagram *d, const struct diagram_item *item);
size_t item_turn_row(const struct diagram_item *item, size_t turn);

/* The same of all turns, also of those that are equal. */
size_t item_all_turns(const struct diagram_item *item);
size_t item_any_row(const struct diagram_item *item, size_t turn);

bool same_but_figures(struct slice a, struct slice b);
struct slice merge_turns(struct arena *arena, const struct slice *turns,
                         size_t count);

/* The same of frames: an argument that some calls leave out is no matter. */
struct slice merge_titles(struct arena *arena, const struct slice *turns,
                          size_t count);

/* diagram_fill.c: colours, and the sizes that they are measured by. */
int family_of(const struct layer_kind *kind); /* by number; -1: of none */
int item_fill(const struct diagram *d, size_t item);
int64_t item_bytes(const struct diagram *d, size_t item);
void diagram_find_scales(struct diagram *d);

/* diagram_tree.c: units to parts; a chain for each net that starts anew. */
struct diagram_part *diagram_find_parts(struct diagram *d,
                                        struct diagram_unit *units);

/* diagram_text.c: what stands in a box. */
void item_find_text(struct diagram *d, size_t item);
const char *item_sign(const struct diagram *d, size_t item);
struct slice shape_words(struct diagram *d, const struct shape *shape);
struct slice item_shape(struct diagram *d, size_t item); /* that leaves it */
struct slice frame_title(struct diagram *d, struct diagram_unit *unit);

/* What a source says of itself where no arrow has its shape beside it. */
const struct diagram_label *source_label(struct diagram *d, size_t item);
void diagram_find_tails(struct diagram *d);

/* What of some words, up to a blank, is no wider than that; or nothing. */
struct slice line_that_fits(struct slice words, int64_t size, int64_t most,
                            int64_t *width);

/* diagram_tip.c: what is known of a box, a fact a line, through `put`. */
typedef void put_fn(struct text *out, struct slice text);
void item_tip(struct diagram *d, size_t item, struct text *out, put_fn *put,
              const char *newline);
void item_open(struct diagram *d, size_t item);

/* " parameters", or one of them. */
void put_plural(struct text *out, const char *unit, bool one);

/*
 * Boxes that a line passes, and how many lines may leave one box. Where a
 * tensor has a name, that says better from where it comes, much sooner.
 */
enum { LONG_SKIP = 10, LONG_NAMED = 6, LONG_LINE = 20, LONG_NAMED_LINE = 3 };
enum { MANY_LINES = 3 };

/* diagram_stubs.c: cuts what no structure has drawn; false: nothing. */
bool diagram_cut_links(struct diagram *d, bool far);

/* Where an item's stubs stand, once its text is known; what they take. */
void stubs_measure(struct diagram *d, size_t item, bool left, bool right);
int64_t stubs_extent(const struct diagram *d, size_t item, enum stub_side side);
void stubs_draw(struct diagram *d, size_t item, bool flip);

/* Along the flow, by how much sources beside a box pass each of its ends. */
int64_t stubs_overhang(const struct diagram *d, size_t item);

/* Across the flow, of a source that stands ahead of a box; or 0. */
int64_t stub_ahead_width(const struct diagram *d, size_t item);

/*
 * diagram_sources.c: sources that only stubs read: true if there are any. The
 * one that stands at a stub's end; or NO_ITEM. Whether a net is no more.
 */
bool diagram_find_sources(struct diagram *d);
size_t stub_source(const struct diagram *d, const struct diagram_stub *stub);
bool is_at_stub(const struct diagram *d, const struct diagram_part *net);
void source_measure(struct diagram *d, size_t item);
void source_draw(struct diagram *d, size_t item, struct point end, int dx,
                 int dy);

/* diagram_names.c: of tensors. */
void diagram_name_stubs(struct diagram *d);
bool item_has_name(const struct diagram *d, size_t item);

/* diagram_legend.c */
int64_t legend_measure(struct diagram *d, int64_t width);
void legend_draw(struct diagram *d, int64_t x, int64_t y, int64_t width);

/* Height of the title that was asked for, and the title itself. */
int64_t title_draw(struct diagram *d, int64_t width, bool drawn);

/* diagram_measure.c: how large parts are, and where they stand. */
void part_measure(struct diagram *d, struct diagram_part *part);
void part_place(struct diagram *d, struct diagram_part *part, int64_t across,
                int64_t along);
void part_flip(struct diagram_part *part);

/* diagram_draw.c */

/* A line on its way to the box that it will end at, in the flow's axes. */
struct diagram_pen {
  size_t item; /* whose tensor it is; NO_ITEM: none */
  size_t count;
  struct point at[12]; /* x across, y along */
};

void part_draw(struct diagram *d, const struct diagram_part *part,
               struct diagram_pen *pen);

/* The box alone, at its place. */
void box_draw(struct diagram *d, size_t item);
void part_draw_side(struct diagram *d, const struct diagram_part *part,
                    const struct diagram_part *side,
                    const struct diagram_pen *pen);
void pen_to(struct diagram_pen *pen, int64_t across, int64_t along);
void pen_draw(struct diagram *d, const struct diagram_pen *pen, bool arrow);

struct diagram_tightness {
  int64_t gap;      /* between boxes */
  int64_t wide_gap; /* with a shape beside the arrow */
  int64_t branch_gap;
  int64_t text;      /* size of what stands first in a box */
  int64_t line;      /* of text in a box, before it is broken */
  bool bare_numbers; /* the legend says what they are */
  bool few_frames;   /* inner ones only where something is repeated */
  bool few_facts;    /* no numbers, no shapes inside branches */
  bool no_shapes;
  bool few_tails; /* a tail that a layer always has is in the legend */
};

const struct diagram_tightness *tightness(const struct diagram *d);

/*
 * Whether the shape that leaves a box stands beside the box and not above it:
 * on the way up in a U that is set tightly, where the right side is free.
 */
bool shape_is_beside(const struct diagram *d, bool flip);

/* Whether a frame is no more than its chain. */
bool is_bare(const struct diagram *d, const struct diagram_part *frame);

/* Lengths, in tenths of a point. */
enum {
  LINE = 11 * POINT,         /* of text in a box */
  BUS = 10 * POINT,          /* from where branches part to their tops */
  LANE = 9 * POINT,          /* of a skip */
  PAD = 6 * POINT,           /* inside a frame */
  BAND = 12 * POINT,         /* for a frame's title */
  BESIDE_TITLE = 10 * POINT, /* before it, and up to the corner after it */
  BESIDE = 45,               /* from an arrow to its shape: clear of the head */
  STACK = 25,                /* between the sheets of a stack */
  GUTTER = 26 * POINT,       /* between columns */
  NARROW_GUTTER = 14 * POINT,
  EDGE = 8 * POINT, /* around the picture */
  NARROW_EDGE = 2 * POINT,
  OVER = 11 * POINT, /* from a line above the columns to their boxes */
  SIGN = 14 * POINT,
  TITLE_SIZE = 10 * POINT,
};

/* A column of text has its own margins. */
static inline int64_t edge_of(const struct diagram *d) {
  return d->c->options->picture_width ? NARROW_EDGE : EDGE;
}

#endif
