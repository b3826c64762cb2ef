/* Diagrams: from the rows of a net to the scene that shows them. */
#ifndef NETC_DRAWING_DIAGRAM_DIAGRAM_H
#define NETC_DRAWING_DIAGRAM_DIAGRAM_H

#include "codegen/rows.h"
#include "drawing/scene/scene.h"

#define NO_ITEM SIZE_MAX

enum { MOST_FAMILIES = 64 }; /* families of layers; the table has 20 */

/* An input of a box. */
struct diagram_link {
  size_t from;
  int64_t node;  /* the node that makes the tensor */
  size_t number; /* index among all links, including cut ones */
  bool constant; /* all iterations of a repeat read this tensor */
  bool carried;  /* later iterations of a repeat read the one before instead */
  bool drawn;    /* as part of the structure; other links are drawn as skips */
};

enum stub_side { STUB_AHEAD, STUB_RIGHT, STUB_LEFT };

/* A cut link: a short arrow with the tensor's name at its end. */
struct diagram_stub {
  size_t from;    /* the item; NO_ITEM: in another drawing */
  int64_t node;   /* the node that makes the tensor */
  int64_t reader; /* its index in the row of the item */
  int input;      /* input index of the reader */
  struct slice name;
  enum stub_side side;
  size_t source; /* item to draw at the end instead of the name; or NO_ITEM */
};

/* Calls of a def that differ only in sizes: one is drawn, all others are
 * boxes. */
struct diagram_call {
  int64_t group; /* the call that is drawn */
  char letter;
  int64_t entry;         /* the node that it starts from, or NO_NODE */
  const int64_t *shared; /* outside nodes that all of them read */
  const int64_t *inputs; /* nodes that only this one reads, except the entry */
  size_t shared_count, input_count;
};

/* Rows of the net, or of a call that is drawn once. */
struct diagram_section {
  size_t first, end;
  const struct diagram_call *call; /* NULL: the net */
  int64_t *row_of;                 /* by node of the call, from its first */
};

/* Repeats around an item, inner ones first. */
enum { MOST_NESTED = 8 };

struct diagram_turns {
  size_t stride, count; /* rows of an iteration; iterations */
  bool varies;          /* their figures differ */
};

/* Tightness; the first level that is readable is used. */
/* The levels of a page, the last resort of one, a column of text. */
enum { PAGE_LEVELS = 5, LAST_LEVEL = PAGE_LEVELS, COLUMN_LEVEL, LEVELS };
enum { BESIDE_FROM = 2 };

/* The text of a box, notes last, and its size. */
struct diagram_label {
  struct slice lines[6];
  int line_count, note_count;
  int64_t width, height;
};

/* A box: a row, or one row for all of its repeats. */
struct diagram_item {
  size_t row, last_row; /* in the first and the last repeat */
  int64_t times;        /* number of times that the net has it */
  bool varies;          /* its repeats have different sizes */
  bool ends_repeat;     /* its output is that of the last repeat */
  bool opens_repeat;    /* it is alone in a repeat, drawn as a stack */
  int64_t stacked;      /* iterations in the stack */
  /* The innermost repeat: first row, rows of an iteration, iterations; or 0. */
  size_t turn, stride, turns;
  struct diagram_turns nested[MOST_NESTED];
  int nested_count;
  bool is_entry; /* the start of a call that is drawn once */
  size_t first_link, link_count;
  size_t next_link; /* the one after the last drawn */
  size_t first_stub, stub_count;
  int64_t reader;        /* the last item that reads it; -1: none */
  size_t kind;           /* index of its layer's kind */
  int family;            /* number of its layer's family; -1: none */
  struct slice output;   /* name as an output of the net, or empty */
  struct slice words[3]; /* full text; text without common tails */
  const struct diagram_label *labels[LEVELS]; /* by level, or NULL */
  const struct diagram_label *label;          /* for the current level */
  struct slice shape; /* output shape; empty until requested */
  struct slice out;   /* output shape if it changed, or empty */
  struct slice sign;  /* the name that stubs use if it has none, or empty */
  bool in_branch;     /* in a branch of a split */
  bool flip;          /* the flow runs up */
  int64_t x, y, width, height;
};

/* The source's tree: an item, or a group or repeat with its content. */
struct diagram_unit {
  size_t first, end; /* items */
  int64_t group;     /* or NO_NODE */
  int64_t count;     /* iterations */
  bool varies;
  const struct diagram_call
      *call;          /* the call that it shows for all equal ones; or NULL */
  struct slice title; /* of its frame, once requested */
  struct diagram_unit *child, *next; /* no child: one item */
};

/*
 * The tree as a drawing: a chain of parts in sequence, a split into branches
 * that a join ends, a frame around a chain, or a box.
 */
enum part_kind { PART_BOX, PART_CHAIN, PART_SPLIT, PART_FRAME, PART_GRID };

/* Cells in columns and rows. */
struct diagram_grid {
  int64_t rows, columns;
  bool led;                /* behind columns */
  int64_t *beside, *above; /* lines before a column; above a row */
  int64_t *across, *along; /* spines of columns; starts of rows, and the end */
};

struct diagram_part {
  enum part_kind kind;
  size_t item;                /* PART_BOX; PART_SPLIT: the join */
  struct diagram_unit *unit;  /* PART_FRAME */
  struct diagram_part *first; /* of a chain or frame; the branches of a split */
  struct diagram_part *next;
  struct diagram_part *side; /* chains that leave after this part and end */
  bool ends;                 /* PART_CHAIN of a frame: no line leaves it */
  bool forks;                /* PART_SPLIT: its branches have a common start */
  bool bar;    /* PART_SPLIT: branches end at the top of a wide join */
  bool flip;   /* the flow runs up */
  bool nested; /* PART_FRAME: inside another one */
  size_t main; /* PART_SPLIT: the branch on the spine, or SIZE_MAX */
  struct diagram_part *around; /* PART_FRAME: the frame around it */
  int lanes;   /* PART_FRAME: lanes of inner skips, to the right of its chain */
  bool opened; /* PART_FRAME: cut, or not drawn */
  struct diagram_grid *grid; /* PART_GRID; its parts are cells */
  int64_t row, column;       /* of a cell */
  struct slice title;        /* PART_FRAME: set when it is measured */
  int64_t left, right;       /* extent across the flow, from the spine */
  int64_t length;            /* along the flow, including `after` */
  int64_t after;             /* room after it for the arrow and its shape */
  int64_t shift, ahead;  /* in its parent: offset of the spine; of its entry */
  int64_t across, along; /* place: of the spine, and of the smaller end */
};

/* Reductions that are tried in turn until a page is readable. */
enum diagram_effort {
  EFFORT_NONE,
  EFFORT_STUBS,  /* no long lines */
  EFFORT_LOOPS,  /* iterations of `for` that differ in figures are drawn once */
  EFFORT_CALLS,  /* calls of a def are drawn once */
  EFFORT_SMALL,  /* small calls as well */
  EFFORT_BLOCKS, /* the net's blocks and iterations are boxes; no link is cut */
  EFFORTS,
  EFFORT_TURNS = EFFORTS /* small calls and iterations; only in grids */
};

struct diagram {
  const struct compiled *c;
  const struct compiled *plain, *turned; /* without, with groups for turns */
  struct arena *arena;
  enum diagram_effort effort;
  struct {
    const struct frame *parent;
    size_t begin; /* offset in the source */
    int count;
  } failed;         /* the loop last found not to repeat */
  struct rows open; /* with all calls open */
  struct rows rows;
  VEC(struct diagram_section) sections;
  VEC(struct diagram_call) calls;
  int *call_of_group; /* by group: call from 1; 0: open; NULL: all open */
  VEC(struct diagram_item) items;
  VEC(struct diagram_link) links;
  VEC(struct diagram_stub) stubs;
  size_t link_count; /* including cut links */
  bool *cut;         /* by number of a link; NULL: none is cut */
  size_t *item_of_row;
  int64_t *reader_of_row; /* the last row that reads it; -1: none */
  uint64_t *hash_of_row;
  int64_t search; /* comparisons left for finding repeats */
  size_t reading; /* counter of items whose links are found */
  size_t *reader_of_item, *reader_of_node; /* `reading` at the last link */
  struct diagram_unit *units;
  struct diagram_part *parts; /* a chain for each separate net */
  struct scene *scene;        /* NULL while only marking links */
  bool lr;
  bool has_units; /* of numbers in boxes; a legend says them else */
  int level;      /* tightness, from 0 */
  bool grids;     /* maps of one size share a row */
  bool led;       /* what is before the first line of a grid is columns */
  bool pyramid;   /* lines leave maps of several sizes */
  int64_t *maps;  /* by node: the height of its map; NULL: not known yet */
  bool sources_at_stubs; /* sources are drawn at stubs where possible */
  int64_t most_heat;     /* of a box */
  struct slice *tails;   /* by kind of layer: " bn relu" if all have it */
  int *families; /* by kind of layer: number of its family, once known */
  const char *shown[MOST_FAMILIES]; /* names of families with a filled box */
};

/* diagram.c */
struct diagram diagram_of(const struct compiled *c);

/* Finds the items and links of the picture, at the loosest level. */
void diagram_find_drawing(struct diagram *d);

/* diagram_rows.c: rows with all calls open, or with `calls` closed. */
void diagram_open_rows(struct diagram *d);
void diagram_close_rows(struct diagram *d);
const struct diagram_section *section_of(const struct diagram *d, size_t row);
int64_t row_of_node(const struct diagram *d, const struct diagram_section *s,
                    int64_t node);

/* True if its arguments may differ in blocks drawn as one; if it only moves
 * values. */
bool row_may_vary(const struct diagram *d, const struct row *row);
bool row_only_moves(const struct diagram *d, const struct row *row);

/* The first input of a row. */
static inline int64_t row_input(const struct diagram *d,
                                const struct row *row) {
  return node_input(d->c->model, &d->c->model->nodes.at[row->first], 0);
}

/* diagram_calls.c: chooses the calls to draw once; false: none. */
bool diagram_find_calls(struct diagram *d);

/* A node without a group is in no call. */
static inline const struct diagram_call *call_of_group(const struct diagram *d,
                                                       int64_t group) {
  int call = d->call_of_group && group >= 0 ? d->call_of_group[group] : 0;
  return call ? &d->calls.at[call - 1] : NULL;
}

/* diagram_items.c: rows to items and units; then their links. */
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

/* Sizes of items in the flow's axes. */
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

/* A row, or a group at the current level. */
struct diagram_piece {
  size_t first, end; /* rows */
  int64_t group;
};

struct diagram_pieces {
  struct diagram_piece *at;
  size_t count, room;
  uint64_t *sums; /* prefix sums of the pieces' hashes */
};

/* diagram_repeats.c: prepares the pieces; sets the budget of comparisons. */
void diagram_sum_pieces(struct diagram *d, struct diagram_pieces *p);
void diagram_open_search(struct diagram *d);

/* True if both have pieces of equal lengths and groups at the same places. */
bool diagram_same_groups(const struct diagram_pieces *p, size_t a, size_t b,
                         size_t period);

/* Calls `look` with the rows that give the same input to two rows, until it
 * returns false. False if the rows are of different layers. */
typedef bool diagram_look_fn(void *user, int64_t x, int64_t y);
bool diagram_look_at_rows(struct diagram *d, size_t a, size_t b,
                          diagram_look_fn *look, void *user);

/* The iterations from piece `at` on that save most rows. */
struct diagram_run {
  size_t period, count; /* pieces of an iteration; iterations */
  bool varies;
};

struct diagram_run diagram_find_run(struct diagram *d,
                                    const struct diagram_pieces *p, size_t at,
                                    size_t end);

/* diagram_loops.c: iterations of a `for` that start at a piece, or 1. */
size_t diagram_find_loop(struct diagram *d, const struct diagram_pieces *p,
                         size_t at, size_t end, size_t period);

/* The net with a group for each iteration of several layers; NULL: it has
 * none, or too many. */
const struct compiled *net_with_turns(const struct compiled *c);

/* diagram_figures.c: one text for all iterations: "conv 64 dilate=1-512". */

/* The number of iterations with different figures, at least 1, and an item's
 * row in each. */
size_t item_turns(const struct diagram *d, const struct diagram_item *item);
size_t item_turn_row(const struct diagram_item *item, size_t turn);

/* These count equal iterations as well. */
size_t item_all_turns(const struct diagram_item *item);
size_t item_any_row(const struct diagram_item *item, size_t turn);

bool same_but_figures(struct slice a, struct slice b);
struct slice merge_turns(struct arena *arena, const struct slice *turns,
                         size_t count);

/* For titles of frames: an argument may be missing in some calls. */
struct slice merge_titles(struct arena *arena, const struct slice *turns,
                          size_t count);

/* diagram_fill.c: colours, and the sizes that determine them. The edge is the
 * outline of a box. */
int family_of(const struct layer_kind *kind); /* a number; -1: none */
int item_fill(const struct diagram *d, size_t item);
int item_edge(const struct diagram *d, size_t item);
int64_t item_bytes(const struct diagram *d, size_t item);
void diagram_find_scales(struct diagram *d);

/* diagram_tree.c: units to parts, with a chain for each separate net. */
struct diagram_part *diagram_find_parts(struct diagram *d,
                                        struct diagram_unit *units);

/* Notes a number for each item of a part. */
void part_number(const struct diagram_part *part, size_t *of_item,
                 size_t number);

/* diagram_text.c: texts of boxes. */
void item_find_text(struct diagram *d, size_t item);
const char *item_sign(const struct diagram *d, size_t item);
struct slice shape_words(struct diagram *d, const struct shape *shape);
struct slice item_shape(struct diagram *d, size_t item); /* its output */
struct slice frame_title(struct diagram *d, struct diagram_unit *unit);

/* The label of a source whose shape is not beside an arrow. */
const struct diagram_label *source_label(struct diagram *d, size_t item);
void diagram_find_tails(struct diagram *d);

/* The beginning of some words, up to a blank, that fits a width; or empty. */
struct slice line_that_fits(struct slice words, int64_t size, int64_t most,
                            int64_t *width);

/* diagram_tip.c: facts about a box, one per line, through `put`. */
typedef void put_fn(struct text *out, struct slice text);
void item_tip(struct diagram *d, size_t item, struct text *out, put_fn *put,
              const char *newline);
void item_open(struct diagram *d, size_t item);

/* A unit such as " parameters", without its `s` for one. */
void put_plural(struct text *out, const char *unit, bool one);

/*
 * Maximum boxes that a line passes, and lines from a box. Lower for a named
 * tensor, as a name is clearer than a long line.
 */
enum { LONG_SKIP = 10, LONG_NAMED = 6, LONG_LINE = 20, LONG_NAMED_LINE = 3 };
enum { LONG_TURN = 2 /* boxes beside which a column turns up */ };
enum { MANY_LINES = 3 };

/* diagram_stubs.c: cuts links that no structure has drawn; false: none. */
bool diagram_cut_links(struct diagram *d);

/* Places an item's stubs once its text is known; returns their extent. */
void stubs_measure(struct diagram *d, size_t item, bool left, bool right);
int64_t stubs_extent(const struct diagram *d, size_t item, enum stub_side side);
void stubs_draw(struct diagram *d, size_t item, bool flip);

/* The corner of a box at the start of an arrow, which is left in the direction
 * (dx, dy). */
struct point stub_corner(struct point end, int dx, int dy, struct point size);

/* Along the flow: how far sources beside a box extend past its ends. */
int64_t stubs_overhang(const struct diagram *d, size_t item);

/* Across the flow: the width of a source ahead of a box, or 0. */
int64_t stub_ahead_width(const struct diagram *d, size_t item);

/*
 * diagram_sources.c: finds sources that only stubs read; false: none. The
 * source at a stub's end, or NO_ITEM. True if a net is only such a source.
 */
bool diagram_find_sources(struct diagram *d);
size_t stub_source(const struct diagram *d, const struct diagram_stub *stub);
bool is_at_stub(const struct diagram *d, const struct diagram_part *net);
void source_measure(struct diagram *d, size_t item);
void source_draw(struct diagram *d, size_t item, struct point end, int dx,
                 int dy);

/* diagram_names.c: names of tensors. */
void diagram_name_stubs(struct diagram *d);
bool item_has_name(const struct diagram *d, size_t item);

/* diagram_legend.c */
int64_t legend_measure(struct diagram *d, int64_t width);
void legend_draw(struct diagram *d, int64_t x, int64_t y, int64_t width);

/* Draws the title, or only returns its height. */
int64_t title_draw(struct diagram *d, int64_t width, bool drawn);

/* diagram_measure.c: sizes and places of parts. */
void part_measure(struct diagram *d, struct diagram_part *part);
void part_place(struct diagram *d, struct diagram_part *part, int64_t across,
                int64_t along);
void part_flip(struct diagram_part *part);

/* diagram_level.c: gives both ends of lines between cells of a row the same
 * place along it, by longer arrows. The cells are measured. */
void grid_level(struct diagram *d, struct diagram_part *grid);

/* diagram_grid.c: the height of an item's map; 0: it has none. */
int64_t map_of(struct diagram *d, size_t item);

/* True if the net has maps of enough sizes for a grid. */
bool net_has_rows(struct diagram *d);

/* Puts the net and blocks in which several sizes of maps meet in grids; false:
 * there are none. */
bool diagram_find_grids(struct diagram *d);

/* Cuts the links of a tensor that the whole net reads, such as a time. */
void diagram_cut_shared(struct diagram *d);

/* diagram_draw.c */

/* A line on its way to a box, in the flow's axes. */
struct diagram_pen {
  size_t item; /* source of the tensor; NO_ITEM: none */
  size_t count;
  struct point at[12]; /* x across, y along */
};

void part_draw(struct diagram *d, const struct diagram_part *part,
               struct diagram_pen *pen);

/* The border of a frame, without the sheets below it. */
struct scene_item frame_box(const struct diagram *d,
                            const struct diagram_part *part);

/* Draws a box without lines. */
void box_draw(struct diagram *d, size_t item);
void part_draw_side(struct diagram *d, const struct diagram_part *part,
                    const struct diagram_part *side,
                    const struct diagram_pen *pen);
void pen_to(struct diagram_pen *pen, int64_t across, int64_t along);
void pen_draw(struct diagram *d, const struct diagram_pen *pen, bool arrow);

struct diagram_tightness {
  int64_t gap;      /* between boxes */
  int64_t wide_gap; /* gap with a shape beside the arrow */
  int64_t branch_gap;
  int64_t text;    /* font size of a box's first line */
  int64_t leading; /* from line to line in a box */
  int64_t line;    /* length at which a line in a box is broken */
  bool few_frames; /* inner frames only around repeats */
  bool few_facts;  /* no numbers, no shapes inside branches */
  bool no_shapes;
  bool few_tails; /* tails that a layer always has are in the legend */
  bool short_words;
};

const struct diagram_tightness *tightness(const struct diagram *d);

/*
 * True if the output shape is beside a box, not above: on the way up in a tight
 * U, whose right side is free.
 */
bool shape_is_beside(const struct diagram *d, bool flip);

/* True if a frame is not drawn around its chain. */
bool is_bare(const struct diagram *d, const struct diagram_part *frame);

/* Lengths, in tenths of a point. */
enum {
  LINE = 11 * POINT,         /* line of text in the legend */
  BUS = 10 * POINT,          /* from the fork of branches to their tops */
  LANE = 9 * POINT,          /* width of a skip's lane */
  PAD = 6 * POINT,           /* inside a frame */
  BAND = 12 * POINT,         /* height of a frame's title */
  BESIDE_TITLE = 10 * POINT, /* before a title, and after it up to the corner */
  BESIDE = 45,               /* from an arrow to its shape, clear of the head */
  STACK = 25,                /* between the sheets of a stack */
  GUTTER = 26 * POINT,       /* between columns */
  NARROW_GUTTER = 14 * POINT,
  EDGE = 8 * POINT, /* around the picture */
  NARROW_EDGE = 2 * POINT,
  OVER = 11 * POINT, /* from a line above the columns to their boxes */
  SIGN = 14 * POINT,
  TITLE_SIZE = 10 * POINT,
};

/* A picture in a column of text has narrow margins. */
static inline int64_t edge_of(const struct diagram *d) {
  return d->c->options->picture_width ? NARROW_EDGE : EDGE;
}

#endif
