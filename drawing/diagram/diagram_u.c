/*
 * A U: where skips nest between maps that shrink and grow, the chain runs down
 * on the left and up again on the right, with both ends of each skip at one
 * height. Further inputs and calls that are drawn once have columns beside it.
 */
#include "drawing/diagram/diagram_page.h"

/* Nets */

static int64_t side_of(const struct node *node) {
  return node->out->rank > 2 ? node->out->dim[0] : 0;
}

/* By node: the next node with a smaller map, or the number of nodes. */
static size_t *find_smaller(const struct model *model, struct arena *arena) {
  size_t count = model->nodes.count, depth = 0;
  size_t *smaller = arena_alloc(arena, count + 1, sizeof *smaller);
  size_t *open = arena_alloc(arena, count + 1, sizeof *open);
  for (size_t i = 0; i < count; i++) {
    int64_t side = side_of(&model->nodes.at[i]);
    smaller[i] = count;
    if (!side)
      continue;
    while (depth > 0 && side_of(&model->nodes.at[open[depth - 1]]) > side)
      smaller[open[--depth]] = i;
    open[depth++] = i;
  }
  return smaller;
}

bool net_is_u(const struct compiled *c) {
  const struct model *model = c->model;
  size_t *smaller = find_smaller(model, c->arena);
  int64_t inner = INT64_MAX, side = 0;
  int sizes = 0;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->input_count; k++) {
      int64_t from = node_input(model, node, k);
      int64_t now = side_of(&model->nodes.at[from]);
      if (!now || smaller[from] >= i)
        continue;
      if (from >= inner)
        return false;
      inner = from;
      sizes += now > side;
      side = now;
    }
  }
  return sizes > 1;
}

/* Arms */

enum { MOST_ARMS = 64 };

struct arm {
  size_t from, to; /* parts */
  int64_t size;    /* of the map that it carries */
};

/* The net of the U, which has all skips. */
struct u {
  struct diagram_paper *l;
  size_t end; /* of its parts, which come first */
  struct arm arms[MOST_ARMS];
  size_t count;
};

static bool find_arms(struct u *u) {
  struct diagram_paper *l = u->l;
  const struct diagram *d = l->d;
  struct arm *arms = u->arms;
  size_t *count = &u->count;
  *count = 0;
  for (size_t i = 0; i < l->skips.count; i++) {
    struct arm arm = {l->part_of[l->skips.at[i].from],
                      l->part_of[l->skips.at[i].to], 0};
    const struct shape *out = row_shape(d->c, item_row(d, l->skips.at[i].from));
    if (arm.from >= arm.to || arm.to >= u->end || out->rank < 2)
      return false;
    arm.size = out->dim[0];
    size_t at = (*count)++;
    for (; at > 0 && arms[at - 1].from > arm.from; at--)
      arms[at] = arms[at - 1];
    arms[at] = arm;
  }
  for (size_t i = 1; i < *count; i++)
    if (arms[i].from <= arms[i - 1].from || arms[i].to >= arms[i - 1].to ||
        arms[i].size > arms[i - 1].size)
      return false;
  return *count > 1 && arms[*count - 1].size < arms[0].size;
}

/* Moves the parts of the net with the skips to the front. */
static void put_first(struct u *u) {
  struct diagram_paper *l = u->l;
  struct diagram_stretch *parts = l->parts.at;
  size_t count = l->parts.count, first = l->part_of[l->skips.at[0].from];
  while (!parts[first].starts)
    first--;
  u->end = first + 1;
  while (u->end < count && !parts[u->end].starts)
    u->end++;
  struct diagram_stretch *all =
      arena_alloc(l->d->arena, count + 1, sizeof *all);
  memcpy(all, parts, count * sizeof *all);
  for (size_t i = first; i < u->end; i++)
    parts[i - first] = all[i];
  for (size_t i = 0; i < first; i++)
    parts[u->end - first + i] = all[i];
  u->end -= first;
  diagram_number_parts(l);
}

/* Sets by how much a part enlarges the map, negative if it shrinks it. False if
 * the part has no single map as input and output. */
static bool growth_of(const struct diagram_paper *l, size_t index,
                      int64_t *growth) {
  const struct diagram *d = l->d;
  const struct diagram_part *part = l->parts.at[index].part;
  if (part->kind != PART_BOX || !d->items.at[part->item].link_count)
    return false;
  const struct diagram_item *item = &d->items.at[part->item];
  const struct shape *out = row_shape(d->c, item_row(d, part->item));
  const struct shape *in =
      row_shape(d->c, item_row(d, d->links.at[item->first_link].from));
  if (out->rank != in->rank || out->rank < 2)
    return false;
  *growth = out->dim[0] - in->dim[0];
  return true;
}

static int64_t length_of(const struct diagram_paper *l, size_t first,
                         size_t end) {
  int64_t length = 0;
  for (size_t i = first; i < end; i++)
    length += l->parts.at[i].part->length;
  return length;
}

/*
 * The turning point between the inner ends of the innermost skip: parts that
 * enlarge go up; parts that keep the size are split evenly.
 */
static size_t turning_point(const struct u *u) {
  const struct diagram_paper *l = u->l;
  struct arm inner = u->arms[u->count - 1];
  size_t first = inner.to, last = inner.to;
  int64_t growth;
  while (first > inner.from + 1 && growth_of(l, first - 1, &growth) &&
         growth >= 0) {
    first--;
    last = growth > 0 ? first : last;
  }
  while (first < last && length_of(l, inner.from + 1, first + 1) <=
                             length_of(l, first, inner.to))
    first++;
  return first;
}

/* The length from the top of the U to the middle of an item, unstretched. */
static int64_t depth_left(struct diagram_paper *l, size_t part, size_t item) {
  int64_t depth = length_of(l, 0, part);
  part_place(l->d, l->parts.at[part].part, 0, depth);
  return item_middle(l->d, item);
}

static int64_t depth_right(const struct u *u, size_t part, size_t item) {
  struct diagram_paper *l = u->l;
  int64_t depth = length_of(l, part + 1, u->end);
  part_place(l->d, l->parts.at[part].part, 0, depth);
  return item_middle(l->d, item);
}

static void measure_arm(struct diagram_paper *l,
                        struct diagram_column *column) {
  for (size_t i = column->first; i < column->end; i++) {
    const struct diagram_part *part = l->parts.at[i].part;
    column->left = most(column->left, part->left);
    column->right = most(column->right, part->right);
  }
}

/* Levels both ends of every skip by longer arrows. */
static void level_arms(const struct u *u, size_t turn) {
  struct diagram_paper *l = u->l;
  const struct arm *arms = u->arms;
  int64_t left = 0, right = 0; /* how far each arm is lowered */
  size_t low = 0, high = u->end;
  int64_t bottom = 0, offset = 0;
  int64_t *down = arena_alloc(l->d->arena, l->parts.count, sizeof *down);
  for (size_t k = 0; k < u->count; k++) {
    const struct diagram_skip *skip = l->skips.at;
    while (l->part_of[skip->from] != arms[k].from ||
           l->part_of[skip->to] != arms[k].to)
      skip++;
    int64_t a = depth_left(l, arms[k].from, skip->from) + left;
    int64_t b = depth_right(u, arms[k].to, skip->to) + right;
    /* Parts above this level are placed; the rest is lowered. */
    if (a < b)
      left += b - a;
    else
      right += a - b;
    for (; low <= arms[k].from; low++)
      down[low] = left;
    for (; high > arms[k].to; high--)
      down[high - 1] = right;
  }
  for (; low < turn; low++)
    down[low] = left;
  for (; high > turn; high--)
    down[high - 1] = right;
  for (size_t i = 0; i < turn; i++) {
    l->parts.at[i].offset = offset + down[i];
    offset += l->parts.at[i].part->length;
    bottom = most(bottom, offset + down[i]);
  }
  offset = 0;
  for (size_t i = u->end; i-- > turn;) {
    l->parts.at[i].offset = offset + down[i];
    offset += l->parts.at[i].part->length;
    bottom = most(bottom, offset + down[i]);
  }
  for (size_t i = 0; i < 2; i++)
    l->columns.at[i].length = bottom + 8 * POINT;
}

/* True if sides of an arm would be in the way of its skips. */
static bool has_sides(const struct u *u) {
  for (size_t i = 0; i < u->end; i++)
    if (u->l->parts.at[i].part->side)
      return true;
  return false;
}

bool layout_u(struct diagram_paper *l) {
  struct u u = {.l = l};
  if (l->skips.count < 2 || l->skips.count > MOST_ARMS)
    return false;
  put_first(&u);
  if (has_sides(&u) || !find_arms(&u))
    return false;
  size_t turn = turning_point(&u);
  l->columns.count = 0;
  column_add(l, 0)->end = turn;
  *column_add(l, turn) =
      (struct diagram_column){.first = turn, .end = u.end, .flip = true};
  l->is_u = true;
  l->made[FORM_U] = false; /* the flip is not undone */
  for (size_t i = turn; i < u.end; i++)
    part_flip(l->parts.at[i].part);
  for (size_t i = 0; i < u.end; i++)
    part_measure(l->d, l->parts.at[i].part);
  measure_arm(l, &l->columns.at[0]);
  measure_arm(l, &l->columns.at[1]);
  level_arms(&u, turn);
  columns_add(l, u.end);
  l->page_count = 1;
  return paper_is_readable(l);
}
