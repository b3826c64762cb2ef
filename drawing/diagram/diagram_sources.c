/*
 * Sources: inputs and learned tensors that only stubs read are drawn at the end
 * of the first stub, beside their reader; other stubs show the name.
 */
#include "drawing/diagram/diagram.h"

/* The item of a net that is one box without inputs or readers, or NO_ITEM. */
static size_t lone_source(const struct diagram *d,
                          const struct diagram_part *net) {
  const struct diagram_part *part = net->first;
  if (net->kind != PART_CHAIN || !part || part->next || part->side ||
      part->kind != PART_BOX)
    return NO_ITEM;
  const struct diagram_item *item = &d->items.at[part->item];
  return item->link_count + item->stub_count == 0 && item->reader < 0 &&
                 !item->is_entry && !item->output.at && item->times == 1
             ? part->item
             : NO_ITEM;
}

bool diagram_find_sources(struct diagram *d) {
  bool found = false;
  for (size_t i = 0; i < d->stubs.count; i++)
    d->stubs.at[i].source = NO_ITEM;
  for (const struct diagram_part *net = d->parts; net; net = net->next) {
    size_t item = lone_source(d, net);
    if (item == NO_ITEM)
      continue;
    const struct row *row = item_row(d, item);
    for (size_t i = 0; i < d->stubs.count; i++)
      if (d->stubs.at[i].node >= row->first && d->stubs.at[i].node < row->end) {
        d->stubs.at[i].source = item;
        found = true;
        break;
      }
  }
  return found;
}

size_t stub_source(const struct diagram *d, const struct diagram_stub *stub) {
  return d->sources_at_stubs ? stub->source : NO_ITEM;
}

bool is_at_stub(const struct diagram *d, const struct diagram_part *net) {
  size_t item = d->sources_at_stubs ? lone_source(d, net) : NO_ITEM;
  for (size_t i = 0; item != NO_ITEM && i < d->stubs.count; i++)
    if (d->stubs.at[i].source == item)
      return true;
  return false;
}

void source_measure(struct diagram *d, size_t index) {
  struct diagram_item *item = &d->items.at[index];
  item->label = source_label(d, index);
  item->width = item->label->width;
  item->height = item->label->height;
  item->out = (struct slice){0};
}

/* Draws a source where the arrow of its stub begins. */
void source_draw(struct diagram *d, size_t index, struct point end, int dx,
                 int dy) {
  struct diagram_item *item = &d->items.at[index];
  struct point at =
      stub_corner(end, dx, dy, (struct point){item->width, item->height});
  item->x = at.x;
  item->y = at.y;
  box_draw(d, index);
}
