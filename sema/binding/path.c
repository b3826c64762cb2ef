/* Paths: finds layers and groups by the names in reports. */
#include "sema/binding/expander.h"

/* The names inside a group that have been indexed so far. */
struct path_index {
  struct map names; /* encoded by place_of_group() and place_of_row() */
  int64_t groups, nodes;
};

static int64_t place_of_group(int64_t group) {
  return 2 * group + 2;
}

static int64_t place_of_row(int64_t head) {
  return 2 * head + 1;
}

static bool is_row(int64_t place) {
  return place % 2;
}

static void add_name(struct expander *e, struct path_index *index,
                     const struct node_name *name, int64_t place) {
  struct text text = text_new(e->arena);
  name_put(&text, name);
  int64_t *number =
      &map_add(e->arena, &index->names, text_slice(&text))->number;
  if (!*number)
    *number = place;
}

/* Indexes the names that were added to a group since the last call. */
static struct path_index *look_into(struct expander *e, int64_t group) {
  const struct model *model = e->model;
  while (e->paths.count <= (size_t)group)
    VEC_PUSH(e->arena, &e->paths);
  struct path_index **slot = &e->paths.at[group], *index = *slot;
  const struct group *g = &model->groups.at[group];
  bool open = g->out == GROUP_OPEN;
  int64_t end = open ? (int64_t)model->nodes.count : g->end;
  if (!index) {
    index = *slot = ARENA_NEW(e->arena, struct path_index);
    index->groups = group + 1;
    index->nodes = g->first;
  }
  for (; index->groups < (int64_t)model->groups.count; index->groups++) {
    const struct group *inner = &model->groups.at[index->groups];
    if (inner->first > end)
      break;
    if (inner->parent == group)
      add_name(e, index, &inner->name, place_of_group(index->groups));
  }
  for (; index->nodes < end; index->nodes++) {
    const struct node *node = &model->nodes.at[index->nodes];
    if (node->group == group && node->head == index->nodes)
      add_name(e, index, &node->name, place_of_row(index->nodes));
  }
  return index;
}

/* The place of a label: its group, or its row. */
static int64_t place_of_label(const struct model *model,
                              const struct symbol *label) {
  size_t low = 0, high = model->groups.count;
  while (low < high) { /* groups are ordered by first node */
    size_t middle = low + (high - low) / 2;
    if (model->groups.at[middle].first < label->first)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < model->groups.count; low++) {
    const struct group *group = &model->groups.at[low];
    if (group->first != label->first)
      break;
    if (group->end == label->end && group->out != GROUP_OPEN &&
        slice_equal(name_text(&group->name), label->name))
      return place_of_group((int64_t)low);
  }
  return place_of_row(model->nodes.at[label->node].head);
}

static struct symbol *symbol_of(struct expander *e, int64_t place) {
  const struct model *model = e->model;
  struct symbol *symbol = ARENA_NEW(e->arena, struct symbol);
  struct text name = text_new(e->arena);
  symbol->kind = SYMBOL_LABEL;
  if (is_row(place)) {
    symbol->first = place / 2;
    symbol->end = model_row_end(model, symbol->first);
    symbol->node = symbol->end - 1;
    model_put_name(&name, model, symbol->first);
  } else {
    const struct group *group = &model->groups.at[place / 2 - 1];
    symbol->first = group->first;
    symbol->end = group->end;
    symbol->node = group->out;
    model_put_group_name(&name, model, place / 2 - 1);
  }
  symbol->name = text_slice(&name);
  return symbol;
}

/* The name inside a group that is closest to a missing one. */
static struct slice nearest(const struct path_index *index, struct slice name) {
  struct suggestion s = suggest_begin(name);
  for (size_t i = 0; i < index->names.room; i++)
    if (index->names.entries[i].key.at)
      suggest_offer(&s, index->names.entries[i].key);
  return s.best;
}

struct symbol *path_find(struct expander *e, const struct symbol *label,
                         struct slice path, struct slice *near) {
  int64_t place = label ? place_of_label(e->model, label) : place_of_group(0);
  if (e->model->groups.count == 0)
    return NULL; /* a single value */
  while (path.length) {
    size_t start = *path.at == '.', end = start;
    while (end < path.length && path.at[end] != '.')
      end++;
    struct slice name = {path.at + start, end - start};
    path = slice_from(path, end);
    if (is_row(place))
      return NULL; /* a tail belongs to its layer: it may run in place */
    const struct path_index *index = look_into(e, place / 2 - 1);
    const struct map_entry *entry = map_find(&index->names, name);
    if (!entry) {
      if (near)
        *near = nearest(index, name);
      return NULL;
    }
    place = entry->number;
  }
  bool open =
      !is_row(place) && e->model->groups.at[place / 2 - 1].out == GROUP_OPEN;
  return open ? NULL : symbol_of(e, place);
}

/* True if the node is in a running loop, whose iterations have their own. */
static bool is_of_turn(const struct expander *e, int64_t node) {
  const struct frame *made = e->model->nodes.at[node].frame;
  for (; made; made = made->parent)
    for (const struct frame *f = e->frame; f; f = f->parent)
      if (frame_kind(f) == FRAME_LOOP && f->stmt == made->stmt &&
          f->parent == made->parent)
        return true;
  return false;
}

struct symbol *path_of_net(struct expander *e, struct slice path,
                           struct span span) {
  struct symbol *symbol = path_find(e, NULL, path, NULL);
  if (!symbol || symbol->first == symbol->end)
    return symbol;
  const char *dot = memchr(path.at, '.', path.length);
  struct slice root = {path.at, dot ? (size_t)(dot - path.at) : path.length};
  bool one = dot || !name_is_repeated(e, root);
  if (one && !is_of_turn(e, symbol->first))
    return symbol;
  struct diagnostic *d = report(
      e, UNKNOWN_LABEL, span,
      "`%.*s` is ambiguous: it may mean several layers here", SLICE_ARG(path));
  diag_label(d, e->model->nodes.at[symbol->first].span, "one of them is here");
  diag_help(d,
            "a label is visible inside its braces: write it before them, `fork "
            "%.*s: { ... }`, or with an index, `%.*s[i]: ...`",
            SLICE_ARG(root), SLICE_ARG(root));
  symbol->node = NO_NODE;
  return symbol;
}
