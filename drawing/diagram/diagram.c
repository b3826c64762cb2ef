/*
 * Diagrams as pictures, laid out here instead of by Graphviz. Chains run
 * straight down (or to the right) and wrap into columns if they are longer than
 * a page; where maps of several sizes meet, they share rows.
 */
#include "drawing/diagram/diagram_page.h"

/* Around an item. */
struct surroundings {
  struct diagram_part *frame; /* the innermost; NULL: none */
  bool grid;
};

/* Sides of a frame are not inside it. */
static void find_frames(struct diagram_part *part, struct surroundings around,
                        struct surroundings *of) {
  struct surroundings inside = around;
  if (part->kind == PART_FRAME) {
    part->around = around.frame;
    inside.frame = part;
  }
  inside.grid |= part->kind == PART_GRID;
  if (part->kind == PART_BOX || part->kind == PART_SPLIT)
    of[part->item] = around;
  for (struct diagram_part *p = part->first; p; p = p->next)
    find_frames(p, inside, of);
  for (struct diagram_part *p = part->side; p; p = p->next)
    find_frames(p, around, of);
}

enum { MOST_INSIDE = 40 }; /* skips in a frame, each in its own lane */

/* A skip whose ends are in one frame stays inside it. */
static void find_lane(struct diagram_skip *skip, struct diagram_part *frame,
                      bool grid) {
  while (frame &&
         (skip->to < frame->unit->first || skip->to >= frame->unit->end))
    frame = frame->around;
  skip->frame = frame;
  const struct diagram_part *inner = frame ? frame->first->first : NULL;
  skip->in_grid = frame ? inner && inner->kind == PART_GRID : grid;
  if (frame && !skip->in_grid)
    skip->lane = frame->lanes < MOST_INSIDE ? frame->lanes++ : MOST_INSIDE - 1;
}

/* Skips: links that no chain or split has drawn. */
static void find_skips(struct diagram_paper *l) {
  struct diagram *d = l->d;
  struct surroundings *around =
      arena_alloc(d->arena, d->items.count + 1, sizeof *around);
  for (struct diagram_part *net = d->parts; net; net = net->next)
    find_frames(net, (struct surroundings){0}, around);
  for (size_t i = 0; i < d->items.count; i++) {
    const struct diagram_item *item = &d->items.at[i];
    for (size_t k = 0; k < item->link_count; k++) {
      const struct diagram_link *link = &d->links.at[item->first_link + k];
      if (link->drawn)
        continue;
      struct diagram_skip *skip = VEC_PUSH(d->arena, &l->skips);
      *skip = (struct diagram_skip){
          .from = link->from, .to = i, .link = item->first_link + k};
      find_lane(skip, around[skip->from].frame, around[i].grid);
    }
  }
}

/* Marks the links that the structure draws. */
static void mark_links(struct diagram *d) {
  for (size_t i = 0; i < d->links.count; i++)
    d->links.at[i].drawn = false;
  for (const struct diagram_part *net = d->parts; net; net = net->next)
    part_draw(d, net, &(struct diagram_pen){.item = NO_ITEM});
}

/* The length of a part that leaves room for a title and a legend. */
static int64_t longest_part(const struct diagram_paper *l) {
  return paper_height(l) - 400;
}

static bool is_too_long(const struct diagram_paper *l,
                        const struct diagram_part *part) {
  return part->kind == PART_FRAME && part->unit->count == 1 &&
         part->length > longest_part(l) && part->first->kind == PART_CHAIN;
}

/* Ends the frame before `next`, where another frame with its letter begins. */
static struct diagram_part *begin_frame(struct arena *arena,
                                        struct diagram_part *frame,
                                        struct diagram_part *next) {
  struct diagram_part *more = ARENA_NEW(arena, struct diagram_part);
  struct text title = text_new(arena);
  text_printf(&title, "(%c), continued", frame->unit->call->letter);
  *more = *frame;
  more->title = text_slice(&title);
  more->first = ARENA_NEW(arena, struct diagram_part);
  *more->first = *frame->first;
  more->first->first = next;
  frame->next = more;
  frame->side = NULL;
  return more;
}

/*
 * Cuts a call that is drawn once into several frames, each with the letter of
 * its boxes elsewhere. False: it holds only one part, or its length is between
 * its parts.
 */
static bool cut_frame(const struct diagram_paper *l,
                      struct diagram_part *frame) {
  struct diagram_part *part = frame->first->first, *next;
  while (!part->next && is_too_long(l, part))
    part = frame->first->first = part->first->first;
  if (!frame->unit->call || !part->next)
    return false;
  int64_t room = longest_part(l) / 2;
  bool cut = false;
  for (; (next = part->next); part = next) {
    room -= part->length;
    if (room < next->length) {
      part->next = NULL;
      frame = begin_frame(l->d->arena, frame, next);
      room = longest_part(l) / 2;
      cut = true;
    }
  }
  return cut;
}

/* Cuts a frame longer than any page, or removes it from around its chain. */
static void open_frames(struct diagram_paper *l, struct diagram_part *net) {
  bool taken_off = false;
  for (struct diagram_part **at = &net->first; *at;) {
    struct diagram_part *part = *at;
    if (!is_too_long(l, part)) {
      at = &part->next;
      continue;
    }
    l->made = FORMS; /* looser layouts make parts anew */
    part->opened = true;
    if (cut_frame(l, part)) {
      part_measure(l->d, net);
      continue;
    }
    struct diagram_part *last = part->first->first;
    while (last->next)
      last = last->next;
    last->next = part->next;
    last->side = last->side ? last->side : part->side;
    *at = part->first->first;
    taken_off = true;
  }
  if (taken_off)
    part_measure(l->d, net);
}

static void list_parts(struct diagram_paper *l) {
  struct diagram *d = l->d;
  l->parts.count = l->columns.count = 0;
  l->packed = false;
  l->corridors = 0;
  for (struct diagram_part *net = d->parts; net; net = net->next) {
    if (is_at_stub(d, net))
      continue;
    part_measure(d, net);
    open_frames(l, net);
    for (struct diagram_part *part = net->first; part; part = part->next) {
      struct diagram_stretch *s = VEC_PUSH(d->arena, &l->parts);
      s->part = part;
      s->starts = part == net->first;
    }
  }
}

enum { MOST_CUTS = 8 /* each cut may allow others */ };

static void find_structure(struct diagram_paper *l) {
  struct diagram *d = l->d;
  d->parts = diagram_find_parts(d, d->units);
  mark_links(d);
  if (!d->grids)
    return;
  l->no_grid = !diagram_find_grids(d);
  mark_links(d);
}

/* Cuts links; the result does not depend on the tightness. */
static void cut_links(struct diagram_paper *l) {
  struct diagram *d = l->d;
  d->cut = NULL;
  diagram_find_links(d);
  find_structure(l);
  for (int i = 0; i < MOST_CUTS && diagram_cut_links(d); i++) {
    diagram_find_links(d);
    find_structure(l);
  }
  l->cut = d->cut;
}

/* True for a box of the net itself, false for one of a block. */
static bool is_in_net(const struct diagram *d, size_t item) {
  return d->items.at[item].row < d->sections.at[0].end;
}

/* Makes the parts and the skips beside them, which all levels share. */
static void make_parts(struct diagram_paper *l, enum diagram_form form) {
  struct diagram *d = l->d;
  if (l->made == form)
    return;
  l->made = form;
  l->skips.count = 0;
  d->grids = form_has_grid(form);
  d->led = form == FORM_LED;
  bool cuts = d->effort != EFFORT_NONE && form == FORM_COLUMNS;
  if (cuts && !l->cut)
    cut_links(l);
  d->cut = cuts ? l->cut : NULL;
  if (d->grids)
    diagram_cut_shared(d);
  diagram_find_links(d);
  find_structure(l);
  diagram_name_stubs(d);
  l->has_sources = diagram_find_sources(d);
  find_skips(l);
  for (size_t i = 0; i < l->skips.count && d->grids; i++)
    if (!l->skips.at[i].in_grid && !l->skips.at[i].frame &&
        is_in_net(d, l->skips.at[i].to))
      l->no_grid = true; /* the net itself has none */
}

static void find_parts(struct diagram_paper *l, enum diagram_form form) {
  make_parts(l, form);
  list_parts(l);
  for (size_t i = 0; i < l->parts.count; i++)
    part_number(l->parts.at[i].part, l->part_of, i);
}

/* Makes the items of an effort; false if it is not possible here. */
static bool make_items(struct diagram_paper *l, enum diagram_effort effort) {
  struct diagram *d = l->d;
  bool same_boxes = d->items.count && d->effort == EFFORT_NONE;
  if (d->c->options->unfold && effort >= EFFORT_LOOPS)
    return false;
  d->effort = effort;
  bool turned = effort >= EFFORT_BLOCKS;
  if (turned && !d->turned)
    d->turned = net_with_turns(d->plain);
  if (turned && !d->turned)
    return false;
  d->c = turned ? d->turned : d->plain;
  d->calls.count = 0;
  d->call_of_group = NULL;
  l->cut = NULL;
  l->made = FORMS;
  l->no_grid = false;
  if (effort == EFFORT_STUBS && same_boxes)
    return true;
  diagram_open_rows(d);
  if (effort >= EFFORT_CALLS) {
    diagram_find_items(d); /* finds repeats in the open net */
    if (!diagram_find_calls(d))
      return false;
    diagram_close_rows(d);
  }
  diagram_find_items(d);
  diagram_find_scales(d);
  diagram_find_tails(d);
  l->part_of = arena_alloc(d->arena, d->items.count + 1, sizeof *l->part_of);
  l->column_of_part =
      arena_alloc(d->arena, d->items.count + 1, sizeof *l->column_of_part);
  return true;
}

/* Makes the items of an effort; also false if they equal the previous
 * effort's. */
static bool make_effort(struct diagram_paper *l, enum diagram_effort effort) {
  struct diagram *d = l->d;
  size_t boxes = d->items.count, calls = d->calls.count;
  if (!make_items(l, effort))
    return false;
  if (effort == EFFORT_STUBS) {
    make_parts(l, FORM_COLUMNS);
    return d->stubs.count > 0 || (d->parts && d->parts->next);
  }
  return effort == EFFORT_NONE || effort >= EFFORT_BLOCKS ||
         d->items.count != boxes || d->calls.count != calls;
}

/* One layout to try. */
struct attempt {
  enum diagram_effort effort;
  int level;
  enum diagram_form form;
};

/* True if many lines leave a box for distant places. */
static bool is_tangled(const struct diagram_paper *l) {
  struct diagram *d = l->d;
  size_t *lines = arena_alloc(d->arena, d->items.count + 1, sizeof *lines);
  for (size_t i = 0; i < l->skips.count; i++)
    if (++lines[l->skips.at[i].from] >= MANY_LINES)
      return true;
  return false;
}

static bool lay_out(struct diagram_paper *l, struct attempt a) {
  l->scale = 0;
  find_parts(l, a.form);
  bool grid = form_has_grid(a.form);
  bool fits = grid ? layout_packed(l) : layout_columns(l);
  if (l->d->effort == EFFORT_BLOCKS || grid || !is_tangled(l))
    return fits;
  l->scale /= 2; /* tangled lines are harder to read than small letters */
  return false;
}

/* Tries a layout with sources beside their readers, if it stays readable. */
static bool try_layout(struct diagram_paper *l, struct attempt a) {
  struct diagram *d = l->d;
  d->level = a.level;
  d->sources_at_stubs = true;
  make_parts(l, a.form);
  l->scale = -1;
  if (form_has_grid(a.form) && l->no_grid)
    return false;
  if (lay_out(l, a))
    return true;
  d->sources_at_stubs = false;
  return l->has_sources && lay_out(l, a);
}

/* More boxes never fit a page. */
enum { MOST_BOXES = 600 };

/* The largest layout among those that are too small. */
struct largest {
  struct attempt attempt;
  int64_t scale;
};

static bool try_or_note(struct diagram_paper *l, struct attempt a,
                        struct largest *largest) {
  bool fits = try_layout(l, a);
  if (l->scale > largest->scale)
    *largest = (struct largest){a, l->scale};
  return fits;
}

/* Tries a form at each tightness. If the first is far too small, goes on only
 * if the tightest is not. Notes the largest; a grid with fewer boxes than one
 * before must be worth it. */
static bool try_levels(struct diagram_paper *l, enum diagram_effort effort,
                       enum diagram_form form, struct largest *largest) {
  bool grid = form_has_grid(form), fits = false;
  int last = grid ? LAST_LEVEL : PAGE_LEVELS - 1;
  int64_t least = grid ? READABLE / 2 : READABLE * 2 / 3;
  struct attempt a = {effort, l->d->items.count > MOST_BOXES ? last : 0, form};
  struct attempt tightest = {effort, last, form}, narrow = tightest;
  struct largest here = {.scale = -1};
  for (; a.level <= last && !fits; a.level++) {
    fits = try_or_note(l, a, &here);
    if (!fits && a.level == 0 && l->scale < least &&
        !try_or_note(l, tightest, &here))
      break;
  }
  narrow.level = COLUMN_LEVEL;
  if (!fits && l->raised && !grid)
    fits = try_or_note(l, narrow, &here);
  if (here.scale > largest->scale + (grid ? here.scale / 16 : 0))
    *largest = here;
  return fits;
}

enum {
  MOST_GRIDDED = 150,     /* boxes of a picture with grids */
  LEAST_WHOLE = WHOLE / 2 /* letters of 4 pt instead of cut links */
};

/* The reductions of a picture with grids, in turn. */
static const enum diagram_effort gridded[] = {EFFORT_NONE,  EFFORT_LOOPS,
                                              EFFORT_CALLS, EFFORT_SMALL,
                                              EFFORT_TURNS, EFFORT_BLOCKS};
enum { GRIDDED = sizeof gridded / sizeof *gridded };

/* Makes the parts of an effort with grids; false: they are not possible. */
static bool make_gridded(struct diagram_paper *l, enum diagram_effort effort,
                         enum diagram_form form) {
  if (!make_effort(l, effort) || l->d->items.count > MOST_GRIDDED)
    return false;
  make_parts(l, form);
  return !l->no_grid;
}

/* Finds the most detailed picture with a grid, of a pyramid or of another net,
 * or notes the largest. */
static bool find_grid(struct diagram_paper *l, bool pyramid,
                      struct largest *largest) {
  bool possible = pyramid ? net_has_rows(l->d) : l->has_grid;
  for (int k = 0; k < 2 * GRIDDED && possible; k++) {
    enum diagram_effort effort = gridded[k % GRIDDED];
    enum diagram_form form = k < GRIDDED ? FORM_GRID : FORM_LED;
    if (!make_gridded(l, effort, form))
      continue;
    l->has_grid |= !l->d->pyramid;
    if (l->d->pyramid == pyramid && try_levels(l, effort, form, largest))
      return true;
  }
  return false;
}

enum { MOST_LED = 16 /* cut links that lines may show as well */ };

/* Tries columns; if they fit, also without cut links. */
static bool try_columns(struct diagram_paper *l, enum diagram_effort effort,
                        struct largest *largest) {
  struct largest whole = {.scale = -1};
  if (!try_levels(l, effort, FORM_COLUMNS, largest))
    return false;
  struct attempt fits = {effort, l->d->level, FORM_COLUMNS};
  size_t cut = 0;
  for (size_t i = 0; i < l->d->stubs.count; i++)
    cut += l->d->stubs.at[i].from != NO_ITEM;
  if (cut == 0)
    return true;
  return (cut <= MOST_LED && try_levels(l, effort, FORM_WHOLE, &whole)) ||
         try_layout(l, fits);
}

/* True if no link between the boxes of the net itself is cut. */
static bool net_is_whole(struct diagram_paper *l) {
  struct diagram *d = l->d;
  make_parts(l, FORM_COLUMNS);
  if (d->stubs.count)
    for (size_t i = 0; i < d->items.count; i++)
      if (is_in_net(d, i) && d->items.at[i].stub_count)
        return false;
  return true;
}

/* Finds the first layout that is readable on a page, or the largest. One in
 * which no link is cut comes first. */
static bool find_layout(struct diagram_paper *l) {
  struct largest largest = {.attempt.form = FORM_COLUMNS, .scale = -1};
  struct largest grid = {.scale = -1};
  if (find_grid(l, true, &grid))
    return true;
  bool cut[EFFORTS]; /* possible efforts with links that are cut */
  for (int k = 0; k < EFFORTS; k++) {
    enum diagram_effort effort = (enum diagram_effort)k;
    bool possible = make_effort(l, effort), whole = possible && net_is_whole(l);
    cut[k] = possible && !whole;
    if (whole && try_columns(l, effort, &largest))
      return true;
  }
  if (find_grid(l, false, &grid))
    return true;
  if (grid.scale >= LEAST_WHOLE && !paper_is_given(l)) {
    make_items(l, grid.attempt.effort);
    return try_layout(l, grid.attempt);
  }
  for (int k = 0; k < EFFORTS; k++)
    if (cut[k] && make_items(l, (enum diagram_effort)k) &&
        try_columns(l, (enum diagram_effort)k, &largest))
      return true;
  make_items(l, largest.attempt.effort);
  struct attempt last = largest.attempt;
  last.level = LAST_LEVEL;
  return try_layout(l, last) || try_layout(l, largest.attempt);
}

/* By how much a page must be raised for the layout. */
static int64_t raised_for(const struct diagram_paper *l) {
  int64_t page = paper_height(l) * LEAST_TEXT / SMALL_SIZE;
  return l->raised - most(page - l->height, 0);
}

/* Finds a layout for a page that is hardly higher than needed; if there is
 * none, the one with the largest letters. */
static void find_higher(struct diagram_paper *l) {
  int64_t low, high, tolerance = paper_height(l) / 256;
  do {
    low = l->raised;
    l->raised += paper_height(l) / 4;
    if (paper_height(l) > 4 * MOST_HEIGHT)
      return;
  } while (!find_layout(l));
  high = raised_for(l);
  while (high - low > tolerance) {
    l->raised = (low + high) / 2;
    if (find_layout(l))
      high = raised_for(l);
    else
      low = l->raised;
  }
  for (l->raised = high; !find_layout(l);)
    l->raised += POINT;
}

void diagram_find_drawing(struct diagram *d) {
  struct diagram_paper l = {.d = d};
  find_layout(&l);
  d->level = 0;
}

/* Finds the fewest readable pages with a grid; false: there are none. */
static bool find_grid_pages(struct diagram_paper *l) {
  struct attempt best = {.form = FORM_GRID};
  size_t fewest = SIZE_MAX;
  for (int k = 0; k < GRIDDED && net_has_rows(l->d); k++) {
    bool possible = make_gridded(l, gridded[k], FORM_GRID);
    for (int level = 0; level <= LAST_LEVEL && possible; level++) {
      l->d->level = level;
      find_parts(l, FORM_GRID);
      if (layout_packed_pages(l) && l->page_count < fewest) {
        fewest = l->page_count;
        best.effort = gridded[k];
        best.level = level;
      }
    }
  }
  if (fewest == SIZE_MAX)
    return false;
  make_items(l, best.effort);
  l->d->level = best.level;
  find_parts(l, FORM_GRID);
  return layout_packed_pages(l);
}

/*
 * Finds the fewest readable pages, with the fewest boxes; of equally long
 * layouts the most detailed.
 */
static void find_pages(struct diagram_paper *l) {
  if (find_grid_pages(l))
    return;
  enum diagram_effort least = EFFORT_NONE;
  size_t boxes = SIZE_MAX, fewest = SIZE_MAX;
  int best = 0;
  bool fitted = false;
  for (enum diagram_effort effort = EFFORT_NONE; effort < EFFORT_BLOCKS;
       effort++)
    if (make_items(l, effort) && l->d->items.count < boxes) {
      boxes = l->d->items.count;
      least = effort;
    }
  make_items(l, least);
  l->d->sources_at_stubs = false;
  for (l->d->level = 0; l->d->level < PAGE_LEVELS; l->d->level++) {
    find_parts(l, FORM_COLUMNS);
    bool fits = layout_pages(l);
    if (fits > fitted || (fits == fitted && l->page_count < fewest)) {
      fitted = fits;
      fewest = l->page_count;
      best = l->d->level;
    }
  }
  l->d->level = best;
  find_parts(l, FORM_COLUMNS);
  layout_pages(l);
}

static struct slice describe(struct diagram *d) {
  const struct model *model = d->c->model;
  struct text text = text_new(d->arena);
  text_printf(&text, "%s layers in %s boxes, %s parameters, %s MACs for one %s",
              count_text((int64_t)model->nodes.count).text,
              count_text((int64_t)d->items.count).text,
              count_text(model->total.params).text,
              count_text(model->total.macs).text, sample_word(d->c));
  return text_slice(&text);
}

struct diagram diagram_of(const struct compiled *c) {
  struct diagram d = {.c = c,
                      .plain = c,
                      .arena = c->arena,
                      .lr = c->options->direction == NETC_RIGHT};
  d.families =
      arena_alloc(c->arena, layer_kind_count() + 1, sizeof *d.families);
  return d;
}

enum { MOST_DRAWN = 50000 /* boxes; larger pictures are of no use and slow */ };

/* The minimum number of boxes for a net. */
static size_t fewest_boxes(const struct compiled *c) {
  struct diagram d = diagram_of(c);
  struct diagram_paper l = {.d = &d};
  size_t boxes = SIZE_MAX;
  for (enum diagram_effort effort = EFFORT_NONE; effort < EFFORTS; effort++)
    if (make_items(&l, effort) && d.items.count < boxes)
      boxes = d.items.count;
  return boxes;
}

enum { MOST_IN_TEX = 1000 /* boxes; TeX's memory ends soon above */ };

/* NULL if that many boxes can be drawn, else the message. */
static const char *refuses_above(const struct compiled *c, size_t most,
                                 const char *what, const char *instead) {
  size_t boxes = c->model->nodes.count;
  if (boxes <= most || (boxes = fewest_boxes(c)) <= most)
    return NULL;
  struct text text = text_new(c->arena);
  text_printf(&text,
              "a diagram of %s boxes is %s, but the limit is %s: use `--depth "
              "1` for one box for each group; %s",
              count_text((int64_t)boxes).text, what,
              count_text((int64_t)most).text, instead);
  return text_string(&text);
}

const char *tex_refuses(const struct compiled *c) {
  return refuses_above(c, MOST_IN_TEX, "more than TeX accepts",
                       "LaTeX includes `-o x.pdf`, too");
}

const char *diagram_refuses(const struct compiled *c) {
  return refuses_above(c, MOST_DRAWN, "too large",
                       "`-o x.txt` and `-o x.csv` have all layers");
}

static void draw_pages(const struct compiled *c, bool split,
                       struct page_list *pages) {
  struct diagram d = diagram_of(c);
  struct diagram_paper l = {.d = &d};
  bool fits = find_layout(&l);
  if (!fits && split) {
    find_pages(&l);
  } else if (!fits && paper_is_given(&l)) {
    find_higher(&l);
  }
  for (size_t i = 0; i < l.page_count; i++) {
    struct scene *scene = ARENA_NEW(c->arena, struct scene);
    scene->arena = c->arena;
    scene->inlined = c->inlined;
    scene->title = c->model->name;
    if (c->options->title && *c->options->title)
      scene->title = slice_of(c->options->title);
    scene->title = text_tamed(c->arena, scene->title, false);
    scene->description = describe(&d);
    page_draw(&l, i, scene);
    *VEC_PUSH(c->arena, pages) = scene;
  }
}

void emit_svg(const struct compiled *c, struct text *out) {
  struct page_list pages = {0};
  draw_pages(c, false, &pages);
  scene_put_svg(pages.at[0], out);
}

void emit_tex(const struct compiled *c, struct text *out) {
  struct page_list pages = {0};
  draw_pages(c, false, &pages);
  scene_put_tex(pages.at[0], out);
}

void emit_drawing(const struct compiled *c, struct text *out) {
  struct page_list pages = {0};
  draw_pages(c, false, &pages);
  scene_put_dot(pages.at[0], out);
}

void emit_pdf(const struct compiled *c, struct text *out) {
  struct page_list pages = {0};
  draw_pages(c, true, &pages);
  scene_put_pdf(pages.at, pages.count, out);
}
