/* Warnings about windows: pool-remainder, stride-remainder, stride-skips. */
#include <inttypes.h>

#include "base/check.h"
#include "sema/lint/linter.h"

/* The spatial part of a shape, as 25x25. */
static struct shape_text map_text(const struct shape *shape) {
  struct shape map = *shape;
  map.rank = shape_spatial(shape);
  map.dtype = DTYPE_I32; /* no channel axis */
  return shape_text(&map);
}

static bool same_map(const struct shape *a, const struct shape *b) {
  bool same = a->rank == b->rank;
  for (int i = 0; same && i < shape_spatial(a); i++)
    same = a->dim[i] == b->dim[i];
  return same;
}

/* Finds the origin of maps by the first inputs of nodes, and strided layers. */
static void find_maps(struct lint *l) {
  const struct model *model = l->model;
  size_t source = 0;
  l->maps = arena_alloc(model->arena, model->nodes.count, sizeof *l->maps);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *n = &model->nodes.at[i];
    struct map_origin *map = &l->maps[i];
    struct window windows[3];
    struct remainder r[3];
    bool input = source < model->sources.count &&
                 model->sources.at[source] == (int64_t)i;
    *map = (struct map_origin){(int64_t)i, -1};
    if (input)
      map->input = (int64_t)source++;
    if (n->input_count == 0)
      continue;
    int64_t before = node_input(model, n, 0);
    map->input = l->maps[before].input;
    if (same_map(n->out, model->nodes.at[before].out))
      map->node = l->maps[before].node;
    int axes = remainders_of(model, (int64_t)i, l->in, windows, r);
    for (int a = 0; a < axes && n->kind->params; a++)
      l->strided = l->strided || windows[a].stride > 1;
  }
}

/* Prints "1 row and 1 column". */
static void put_unread(struct text *out, const struct remainder *r, int axes) {
  static const char *const names[] = {"column", "row", "plane"};
  int parts = 0;
  for (int i = 0; i < axes; i++) {
    if (r[i].unread == 0)
      continue;
    const char *name = axes == 1 ? "value" : names[axes - 1 - i];
    text_printf(out, "%s%" PRId64 " %s%s", parts++ ? " and " : "", r[i].unread,
                name, r[i].unread == 1 ? "" : "s");
  }
}

static bool has_option(const struct layer_kind *kind, const char *name) {
  for (int i = 0; kind->specs && kind->specs[i].name; i++)
    if (strcmp(kind->specs[i].name, name) == 0)
      return true;
  return false;
}

static void put_clean(struct text *out, struct lint *l, int64_t node) {
  int64_t input = l->maps[node].input;
  if (input < 0)
    return; /* a learned tensor */
  struct clean_sizes *clean = &l->clean[input];
  if (!clean->searched)
    *clean = clean_sizes_find(l->expansion, l->program, l->model, input,
                              &l->clean_effort);
  if (!clean->has_below && !clean->has_above)
    return;
  text_put(out, "with input ");
  if (clean->has_below)
    text_put(out, map_text(&clean->below).text);
  if (clean->has_below && clean->has_above)
    text_put(out, " or ");
  if (clean->has_above)
    text_put(out, map_text(&clean->above).text);
  text_put(out, l->strided ? " every pool and stride divides evenly"
                           : " every pool divides evenly");
}

static void put_ceil(struct text *out, struct lint *l, int64_t node,
                     const struct window *windows, int axes) {
  struct shape up = *l->model->nodes.at[node].out;
  for (int i = 0; i < axes; i++) {
    int64_t step = windows[i].stride;
    int64_t left = windows[i].in + windows[i].before + windows[i].after -
                   windows[i].dilation * (windows[i].kernel - 1) - 1;
    up.dim[i] = left / step + 1 + (left % step > 0);
  }
  if (out->length)
    text_put(out, "; or ");
  struct slice layer = lint_layer_text(l, node);
  text_printf(out, "round up: `%.*s ceil` (%s)", SLICE_ARG(layer),
              map_text(&up).text);
}

static void report_remainder(struct lint *l, int64_t node,
                             const struct window *windows,
                             const struct remainder *r, int axes) {
  const struct node *n = &l->model->nodes.at[node];
  enum slug slug = n->kind->params ? STRIDE_REMAINDER : POOL_REMAINDER;
  struct text unread = text_new(l->model->arena);
  put_unread(&unread, r, axes);
  struct shape map = *l->in[0], read = map;
  for (int i = 0; i < axes; i++)
    read.dim[i] -= r[i].unread;
  struct slice layer = lint_layer_text(l, node);
  struct diagnostic *d =
      lint_warn(l, slug, node, "%.*s leaves %.*s of the %s map unread",
                SLICE_ARG(layer), SLICE_ARG(unread), map_text(&map).text);
  if (!diag_is_shown(d))
    return;
  diag_here(d, "reads %s", map_text(&read).text);
  if (!l->maps)
    find_maps(l);
  int64_t from = node_input(l->model, n, 0), origin = l->maps[from].node;
  diag_label(d, l->model->nodes.at[origin].span, "makes it %s",
             map_text(&map).text);
  struct text help = text_new(l->model->arena);
  put_clean(&help, l, node);
  if (has_option(n->kind, "ceil"))
    put_ceil(&help, l, node, windows, axes);
  else
    text_printf(&help, "%spad the map before it", help.length ? "; or " : "");
  if (has_option(n->kind, "ceil"))
    lint_offer_word(l, d, node, "ceil", text_string(&help));
  else
    diag_help(d, "%.*s", SLICE_ARG(help));
}

static bool skips_values(struct lint *l, int64_t node) {
  struct window windows[3];
  struct remainder r[3];
  int axes = remainders_of(l->model, node, l->in, windows, r);
  for (int i = 0; i < axes; i++)
    if (r[i].skipped > 0)
      return true;
  return false;
}

/* A shortcut may skip values that a neighbouring branch reads. */
static bool another_reads_all(struct lint *l, int64_t node) {
  int64_t from = node_input(l->model, &l->model->nodes.at[node], 0);
  enum { NEAR = 256 }; /* branches are close to each other */
  int64_t first = max_i64(from + 1, node - NEAR);
  int64_t end = min_i64((int64_t)l->model->nodes.count, node + NEAR);
  for (int64_t i = first; i < end && l->readers[from] > 1; i++) {
    const struct node *n = &l->model->nodes.at[i];
    for (int k = 0; k < n->input_count && i != node; k++)
      if (node_input(l->model, n, k) == from && !skips_values(l, i))
        return true;
  }
  return false;
}

void lint_windows(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  struct window windows[3];
  struct remainder r[3];
  if (!n->kind->windows)
    return;
  struct fitting *late = &l->fitting[l->model->like[node] % LINT_FITTING];
  struct fitting this = {n->kind, n->args, model_input(l->model, n)};
  if (memcmp(late, &this, sizeof this) == 0)
    return; /* as in an earlier iteration */
  int axes = remainders_of(l->model, node, l->in, windows, r);
  bool unread = false, skipped = false;
  for (int i = 0; i < axes; i++) {
    unread = unread || r[i].unread > 0;
    skipped = skipped || r[i].skipped > 0;
  }
  if (!unread && !skipped)
    *late = this;
  if (unread)
    report_remainder(l, node, windows, r, axes);
  if (!skipped || another_reads_all(l, node))
    return;
  struct slice layer = lint_layer_text(l, node);
  struct diagnostic *d =
      lint_warn(l, STRIDE_SKIPS, node, "%.*s skips values that no window reads",
                SLICE_ARG(layer));
  diag_help(d, "a stride larger than the kernel drops part of the map; "
               "`avgpool` before it with that stride keeps all of it");
}
