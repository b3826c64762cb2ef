/* Warnings: what is legal but awkward. */
#include "sema/lint.h"

#include <inttypes.h>

#include "base/check.h"
#include "sema/remainder.h"

/* `huge-fc` is for layers that are large by any measure, too. */
enum { HUGE_PARAMS = 10 * 1000 * 1000 };
enum { ALIGNMENT = 8 }; /* of channels, for tensor cores and SIMD */

struct lint {
  const struct expansion *expansion;
  const struct block *program;
  struct model *model;
  struct diags *diags;
  const struct shape **in;
  int32_t *readers;          /* by node: how many nodes read it */
  int64_t *reader;           /* by node: the last of them */
  bool *alive;               /* by node: some output depends on it */
  bool strided;              /* a layer with weights has a stride */
  struct clean_sizes *clean; /* by input */
};

/* Reports about a node, and remembers it for the rows of reports. */
static struct diagnostic *warn(struct lint *l, enum slug slug, int64_t node,
                               const char *format, ...) PRINTF_LIKE(4, 5);
static struct diagnostic *warn(struct lint *l, enum slug slug, int64_t node,
                               const char *format, ...) {
  va_list args;
  va_start(args, format);
  struct diagnostic *d =
      diag_va(l->diags, slug, l->model->nodes.at[node].span, format, args);
  va_end(args);
  if (l->diags->level[slug] != SEVERITY_OFF)
    *VEC_PUSH(l->model->arena, &l->model->warnings) =
        (struct node_warning){node, slug};
  frame_describe(d, l->diags->sources, l->model->nodes.at[node].frame);
  return d;
}

static struct slice layer_text(struct lint *l, int64_t node) {
  struct text text = text_new(l->model->arena);
  model_put_layer(&text, l->model, node, NULL);
  return text_slice(&text);
}

/* 25x25: the spatial part of a shape. */
static struct shape_text map_text(const struct shape *shape) {
  struct shape map = *shape;
  map.rank = shape_spatial(shape);
  map.dtype = DTYPE_I32; /* no channel axis */
  return shape_text(&map);
}

/* pool-remainder, stride-remainder, stride-skips */

/* The node that gave the map of `node`'s input its size. */
static int64_t size_origin(const struct lint *l, int64_t node) {
  const struct model *model = l->model;
  int64_t at = node_input(model, &model->nodes.at[node], 0);
  const struct shape *map = &model->nodes.at[at].out;
  for (;;) {
    const struct node *n = &model->nodes.at[at];
    if (n->input_count == 0)
      return at;
    int64_t before = node_input(model, n, 0);
    const struct shape *from = &model->nodes.at[before].out;
    bool same = from->rank == map->rank;
    for (int i = 0; same && i < shape_spatial(map); i++)
      same = from->dim[i] == map->dim[i];
    if (!same)
      return at;
    at = before;
  }
}

/* "1 row and 1 column" */
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

static void find_strides(struct lint *l) {
  for (size_t i = 0; i < l->model->nodes.count; i++) {
    struct window windows[3];
    struct remainder r[3];
    int axes = remainders_of(l->model, (int64_t)i, l->in, windows, r);
    for (int a = 0; a < axes && l->model->nodes.at[i].kind->params; a++)
      l->strided = l->strided || windows[a].stride > 1;
  }
}

/* The number of the input that a node's first inputs lead back to. */
static int64_t input_behind(const struct lint *l, int64_t node) {
  const struct model *model = l->model;
  while (model->nodes.at[node].input_count > 0)
    node = node_input(model, &model->nodes.at[node], 0);
  for (size_t i = 0; i < model->sources.count; i++)
    if (model->sources.at[i] == node)
      return (int64_t)i;
  return -1; /* a learned tensor */
}

static void put_clean(struct text *out, struct lint *l, int64_t node) {
  int64_t input = input_behind(l, node);
  if (input < 0)
    return;
  struct clean_sizes *clean = &l->clean[input];
  if (!clean->searched) {
    find_strides(l);
    *clean = clean_sizes_find(l->expansion, l->program, l->model, input);
  }
  if (!clean->has_below && !clean->has_above)
    return;
  text_put(out, "with input ");
  if (clean->has_below)
    text_put(out, map_text(&clean->below).text);
  if (clean->has_below && clean->has_above)
    text_put(out, " or ");
  if (clean->has_above)
    text_put(out, map_text(&clean->above).text);
  text_put(out, l->strided ? " every pool and stride divides cleanly"
                           : " every pool divides cleanly");
}

static void put_ceil(struct text *out, struct lint *l, int64_t node,
                     const struct window *windows, int axes) {
  struct shape up = l->model->nodes.at[node].out;
  for (int i = 0; i < axes; i++) {
    int64_t step = windows[i].stride;
    int64_t left = windows[i].in + windows[i].before + windows[i].after -
                   windows[i].dilation * (windows[i].kernel - 1) - 1;
    up.dim[i] = left / step + 1 + (left % step > 0);
  }
  if (out->length)
    text_put(out, "; or ");
  text_printf(out, "round up: `%.*s ceil` (%s)", SLICE_ARG(layer_text(l, node)),
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
  struct diagnostic *d =
      warn(l, slug, node, "%.*s leaves %.*s of the %s map unread",
           SLICE_ARG(layer_text(l, node)), SLICE_ARG(text_slice(&unread)),
           map_text(&map).text);
  if (!d->owner)
    return;
  diag_here(d, "reads %s", map_text(&read).text);
  int64_t origin = size_origin(l, node);
  diag_label(d, l->model->nodes.at[origin].span, "makes it %s",
             map_text(&map).text);
  struct text help = text_new(l->model->arena);
  put_clean(&help, l, node);
  if (has_option(n->kind, "ceil"))
    put_ceil(&help, l, node, windows, axes);
  else
    text_printf(&help, "%spad the map before it", help.length ? "; or " : "");
  diag_help(d, "%.*s", SLICE_ARG(text_slice(&help)));
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

/* A shortcut may skip what the branch beside it reads. */
static bool another_reads_all(struct lint *l, int64_t node) {
  int64_t from = node_input(l->model, &l->model->nodes.at[node], 0);
  enum { NEAR = 256 }; /* branches stand side by side */
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

static void check_windows(struct lint *l, int64_t node) {
  struct window windows[3];
  struct remainder r[3];
  int axes = remainders_of(l->model, node, l->in, windows, r);
  bool unread = false;
  for (int i = 0; i < axes; i++)
    unread = unread || r[i].unread > 0;
  if (unread)
    report_remainder(l, node, windows, r, axes);
  if (!skips_values(l, node) || another_reads_all(l, node))
    return;
  struct diagnostic *d =
      warn(l, STRIDE_SKIPS, node, "%.*s steps over values that no window reads",
           SLICE_ARG(layer_text(l, node)));
  diag_help(d, "a stride beyond the kernel drops part of the map; "
               "`avgpool` before it with that stride keeps all of it");
}

/* bias-before-norm */

/* The row of a layer's arguments that is about its bias; -1: none is. */
static int bias_row(const struct layer_kind *kind) {
  for (int i = 0; kind->specs && kind->specs[i].name; i++)
    if (kind->specs[i].type == TYPE_BIAS)
      return i;
  return -1;
}

static bool has_bias(const struct node *node, int row) {
  const char *args = node->args;
  return row >= 0 &&
         *(const enum bias *)(args + node->kind->specs[row].offset) != BIAS_NO;
}

static void check_bias(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  int row = bias_row(n->kind);
  if (l->readers[node] != 1 || !has_bias(n, row))
    return;
  const struct node *next = &l->model->nodes.at[l->reader[node]];
  if (!next->kind->cancels_bias)
    return;
  struct diagnostic *d =
      warn(l, BIAS_BEFORE_NORM, node, "the bias of %s has no effect before %s",
           n->kind->name, next->kind->name);
  diag_label(d, next->span, "subtracts the mean again");
  diag_help(d, n->given >> row & 1 ? "write `nobias`, not `bias`"
                                   : "add `nobias`");
}

/* huge-fc */

/* The map that a layer takes as a vector, itself or behind a `flatten`. */
static const struct shape *flattened_map(const struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  while (n->input_count == 1) {
    n = &l->model->nodes.at[node_input(l->model, n, 0)];
    if (n->out.rank >= 2)
      return &n->out;
    if (n->kind->memory == OUTPUT_FRESH)
      break;
  }
  return NULL;
}

/* Parameters of a layer if its input were 1x1xC; -1: it is no map. */
static int64_t params_behind_gap(struct lint *l, int64_t node) {
  struct layer layer = model_layer(l->model, node, l->in);
  const struct shape *map = flattened_map(l, node);
  if (!map || layer.out.rank != 1)
    return -1;
  struct shape pooled = *map;
  const struct shape *in[1] = {&pooled};
  struct params params = {.arena = l->model->arena};
  for (int i = 0; i < shape_spatial(&pooled); i++)
    pooled.dim[i] = 1;
  layer.in = in;
  layer.kind->params(&layer, &params);
  int64_t sum = 0;
  for (size_t i = 0; i < params.all.count; i++) {
    int64_t count = 1;
    for (int k = 0; k < params.all.at[i].rank; k++)
      count *= params.all.at[i].dim[k]; /* fewer than it has now */
    sum += count;
  }
  return sum;
}

static void check_share(struct lint *l, int64_t node) {
  int64_t mine = l->model->costs[node].params;
  int64_t all = l->model->total.params;
  if (mine < HUGE_PARAMS || mine <= all / 2 ||
      !l->model->nodes.at[node].kind->macs)
    return;
  int64_t pooled = params_behind_gap(l, node);
  if (pooled < 0 || pooled >= mine)
    return;
  struct text share = text_new(l->model->arena);
  text_count(&share, mine);
  text_put(&share, " of ");
  text_count(&share, all);
  struct diagnostic *d =
      warn(l, HUGE_FC, node, "this layer holds %.*s parameters, %" PRId64 " %%",
           SLICE_ARG(text_slice(&share)),
           (int64_t)(100.0 * (double)mine / (double)all));
  struct text rest = text_new(l->model->arena);
  text_count(&rest, pooled);
  diag_help(d, "with `gap` before it, it would have %.*s",
            SLICE_ARG(text_slice(&rest)));
}

/* redundant-layer, channel-alignment, softmax-before-loss */

static void check_redundant(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  if (!n->kind->redundant || n->input_count != 1)
    return;
  int64_t before = node_input(l->model, n, 0);
  const struct node *b = &l->model->nodes.at[before];
  const struct shape **in =
      arena_alloc(l->model->arena, (size_t)b->input_count + 1, sizeof *in);
  struct layer first = model_layer(l->model, before, in);
  struct layer layer = model_layer(l->model, node, l->in);
  if (!n->kind->redundant(&layer, &first))
    return;
  struct diagnostic *d =
      warn(l, REDUNDANT_LAYER, node, "%.*s changes nothing here",
           SLICE_ARG(layer_text(l, node)));
  diag_label(d, b->span, "gives %s", shape_text(&b->out).text);
}

static void check_alignment(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  if (l->diags->level[CHANNEL_ALIGNMENT] == SEVERITY_OFF || !n->kind->macs ||
      !n->kind->params || shape_channels(&n->out) % ALIGNMENT == 0)
    return;
  int64_t channels = shape_channels(&n->out);
  struct diagnostic *d =
      warn(l, CHANNEL_ALIGNMENT, node,
           "%" PRId64 " channels are no multiple of %d", channels, ALIGNMENT);
  diag_help(d,
            "matrix units work on blocks of %d: %" PRId64
            " channels cost no more time",
            ALIGNMENT, (channels / ALIGNMENT + 1) * ALIGNMENT);
}

static bool is_output(const struct lint *l, int64_t node) {
  for (size_t i = 0; i < l->model->outputs.count; i++)
    if (l->model->outputs.at[i].node == node)
      return true;
  return false;
}

static void check_loss(struct lint *l, int64_t node) {
  int loss = l->expansion->settings->train.loss;
  const struct layer_kind *kind = l->model->nodes.at[node].kind;
  if ((loss != LOSS_CROSSENTROPY && loss != LOSS_BCE) || !kind->loss ||
      !is_output(l, node))
    return;
  struct slice name = loss_name(loss);
  if (slice_is(name, kind->loss)) {
    struct diagnostic *d =
        warn(l, SOFTMAX_BEFORE_LOSS, node, "loss=%.*s computes its own %s",
             SLICE_ARG(name), kind->name);
    diag_help(d, "train on the values before `%s`", kind->name);
    return;
  }
  struct diagnostic *d = warn(l, SOFTMAX_BEFORE_LOSS, node,
                              "loss=%.*s does not go with the output of %s",
                              SLICE_ARG(name), kind->name);
  diag_help(d, "train on the values before `%s`, with loss=%s", kind->name,
            kind->loss);
}

/* dead-branch, unused-label */

static void find_alive(struct lint *l) {
  struct model *model = l->model;
  for (size_t i = 0; i < model->outputs.count; i++)
    l->alive[model->outputs.at[i].node] = true;
  for (size_t i = model->nodes.count; i-- > 0;) {
    const struct node *n = &model->nodes.at[i];
    for (int k = 0; l->alive[i] && k < n->input_count; k++)
      l->alive[node_input(model, n, k)] = true;
  }
}

/* The labelled fork that ends with this node, if there is one. */
static const struct stmt *fork_of(const struct lint *l, int64_t node) {
  int64_t group = l->model->nodes.at[node].group;
  for (; group > 0; group = l->model->groups.at[group].parent) {
    const struct group *g = &l->model->groups.at[group];
    if (g->end == node + 1 && g->stmt->kind == STMT_FORK)
      return g->stmt;
  }
  return NULL;
}

/* Only the last layer of a dead branch is named: one mistake, one warning. */
static void check_dead(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  if (l->alive[node] || l->readers[node] > 0)
    return;
  const struct stmt *fork = fork_of(l, node);
  if (n->kind == &model_input_kind) {
    warn(l, UNUSED_LABEL, node, "the input `%.*s` is never read",
         SLICE_ARG(n->name.text));
  } else if (fork) {
    struct diagnostic *d =
        warn(l, UNUSED_LABEL, node, "the fork `%.*s` is never used",
             SLICE_ARG(fork->label));
    diag_label(d, fork->label_span, "labelled here");
    diag_help(d,
              "join it, read it with `from %.*s`, or name its result with "
              "`output`",
              SLICE_ARG(fork->label));
  } else {
    struct diagnostic *d =
        warn(l, DEAD_BRANCH, node, "nothing uses what this layer gives");
    if (node == (int64_t)l->model->nodes.count - 1)
      diag_help(d, "this net names its outputs: name this one, too, with "
                   "`output`");
    else
      diag_help(d, "join it, name it with `output`, or remove the branch");
  }
}

static void count_readers(struct lint *l) {
  for (size_t i = 0; i < l->model->nodes.count; i++) {
    const struct node *n = &l->model->nodes.at[i];
    for (int k = 0; k < n->input_count; k++) {
      int64_t from = node_input(l->model, n, k);
      l->readers[from]++;
      l->reader[from] = (int64_t)i;
    }
  }
}

void lint_model(const struct expansion *expansion, const struct block *program,
                struct model *model) {
  size_t count = model->nodes.count;
  struct lint l = {
      .expansion = expansion,
      .program = program,
      .model = model,
      .diags = expansion->diags,
      .in = model_layer_room(model),
      .readers = arena_alloc(model->arena, count + 1, sizeof(int32_t)),
      .reader = arena_alloc(model->arena, count + 1, sizeof(int64_t)),
      .alive = arena_alloc(model->arena, count + 1, sizeof(bool)),
      .clean = arena_alloc(model->arena, model->sources.count + 1,
                           sizeof(struct clean_sizes))};
  count_readers(&l);
  find_alive(&l);
  for (size_t i = 0; i < count; i++) {
    int64_t node = (int64_t)i;
    check_windows(&l, node);
    check_bias(&l, node);
    check_share(&l, node);
    check_redundant(&l, node);
    check_alignment(&l, node);
    check_loss(&l, node);
    check_dead(&l, node);
  }
}
