/*
 * Diagrams as pictures, laid out here and not by Graphviz: chains run straight
 * down (or to the right), wrap into columns where they are longer than a page,
 * and turn up again in a U where skips nest, as in a U-Net.
 */
#include "diagrams/diagram_page.h"

/* The skips: links that no chain or split has drawn. */
static void find_skips(struct paper *l) {
  struct diagram *d = l->d;
  for (size_t i = 0; i < d->items.count; i++) {
    const struct item *item = &d->items.at[i];
    for (size_t k = 0; k < item->link_count; k++) {
      const struct link *link = &d->links.at[item->first_link + k];
      if (!link->drawn)
        *VEC_PUSH(d->arena, &l->skips) =
            (struct skip){.from = link->from, .to = i};
    }
  }
}

static void mark_links(struct diagram *d) {
  for (const struct part *net = d->parts; net; net = net->next)
    part_draw(d, net, (struct pen){.item = NO_ITEM});
}

/* A frame longer than any page is taken off the chain that it holds. */
static void open_frames(struct diagram *d, struct part *net) {
  for (struct part **at = &net->first; *at;) {
    struct part *part = *at;
    if (part->kind != PART_FRAME || part->unit->count > 1 ||
        part->length <= LONGEST_PART || part->first->kind != PART_CHAIN) {
      at = &part->next;
      continue;
    }
    struct part *last = part->first->first;
    while (last->next)
      last = last->next;
    last->next = part->next;
    last->side = last->side ? last->side : part->side;
    *at = part->first->first;
  }
  part_measure(d, net);
}

static void list_parts(struct paper *l) {
  struct diagram *d = l->d;
  for (struct part *net = d->parts; net; net = net->next) {
    part_measure(d, net);
    open_frames(d, net);
    for (struct part *part = net->first; part; part = part->next) {
      struct stretch *s = VEC_PUSH(d->arena, &l->parts);
      s->part = part;
      s->starts = part == net->first;
    }
  }
}

/* The part that holds each item, by number. */
static void number_items(struct paper *l, const struct part *part,
                         size_t number) {
  for (const struct part *p = part->first; p; p = p->next)
    number_items(l, p, number);
  for (const struct part *p = part->side; p; p = p->next)
    number_items(l, p, number);
  if (part->kind == PART_BOX || part->kind == PART_SPLIT)
    l->part_of[part->item] = number;
}

static void find_parts(struct paper *l) {
  struct diagram *d = l->d;
  for (size_t i = 0; i < d->links.count; i++)
    d->links.at[i].drawn = false;
  l->skips.count = l->parts.count = l->columns.count = 0;
  l->is_u = false;
  d->parts = diagram_find_parts(d, d->units);
  mark_links(d);
  find_skips(l);
  list_parts(l);
  for (size_t i = 0; i < l->parts.count; i++)
    number_items(l, l->parts.at[i].part, i);
}

enum { LONG_SKIP = 10 }; /* boxes */

/* The first that can be read on a page: a U, columns, and tighter ones. */
static bool find_layout(struct paper *l) {
  struct diagram *d = l->d;
  for (d->level = 0; d->level < LEVELS; d->level++) {
    d->long_skip = 0;
    find_parts(l);
    if (layout_u(l))
      return true;
    d->long_skip = LONG_SKIP;
    find_parts(l);
    if (layout_columns(l))
      return true;
  }
  d->level = LEVELS - 1;
  return false;
}

/* The fewest pages; of layouts that take as many, the one that says most. */
static void find_pages(struct paper *l) {
  struct diagram *d = l->d;
  size_t fewest = SIZE_MAX;
  int best = 0;
  for (d->level = 0; d->level < LEVELS; d->level++) {
    find_parts(l);
    layout_pages(l);
    if (l->page_count < fewest) {
      fewest = l->page_count;
      best = d->level;
    }
  }
  d->level = best;
  find_parts(l);
  layout_pages(l);
}

static struct slice describe(struct diagram *d) {
  const struct model *model = d->c->model;
  struct text text = text_new(d->arena);
  text_count(&text, (int64_t)model->nodes.count);
  text_put(&text, " layers in ");
  text_count(&text, (int64_t)d->items.count);
  text_put(&text, " boxes, ");
  text_count(&text, model->total.params);
  text_put(&text, " parameters, ");
  text_count(&text, model->total.macs);
  text_put(&text, " MACs for one ");
  text_put(&text, sample_word(d->c));
  return text_slice(&text);
}

struct diagram diagram_of(const struct compiled *c,
                          const struct emit_options *options) {
  struct diagram d = {.c = c,
                      .options = options,
                      .arena = c->arena,
                      .rows = rows_of(c, options),
                      .lr = options->right};
  return d;
}

static void draw_pages(const struct compiled *c,
                       const struct emit_options *options, bool split,
                       struct page_list *pages) {
  struct diagram d = diagram_of(c, options);
  struct paper l = {.d = &d};
  diagram_find_items(&d);
  diagram_find_scales(&d);
  diagram_find_tails(&d);
  l.part_of = arena_alloc(c->arena, d.items.count + 1, sizeof *l.part_of);
  if (!find_layout(&l) && split)
    find_pages(&l);
  for (size_t i = 0; i < l.page_count; i++) {
    struct scene *scene = ARENA_NEW(c->arena, struct scene);
    scene->arena = c->arena;
    scene->inlined = options->inlined;
    scene->title = text_tamed(c->arena, c->model->name, false);
    scene->description = describe(&d);
    page_draw(&l, i, scene);
    *VEC_PUSH(c->arena, pages) = scene;
  }
}

void emit_svg(const struct compiled *c, const struct emit_options *options,
              struct text *out) {
  struct page_list pages = {0};
  draw_pages(c, options, false, &pages);
  scene_put_svg(pages.at[0], out);
}

void emit_drawing(const struct compiled *c, const struct emit_options *options,
                  struct text *out) {
  struct page_list pages = {0};
  draw_pages(c, options, false, &pages);
  scene_put_dot(pages.at[0], out);
}

void emit_pdf(const struct compiled *c, const struct emit_options *options,
              struct text *out) {
  struct page_list pages = {0};
  draw_pages(c, options, true, &pages);
  scene_put_pdf(pages.at, pages.count, out);
}
