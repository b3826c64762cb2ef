/* Lint: warnings about legal but awkward nets. */
#include <inttypes.h>

#include "base/check.h"
#include "sema/lint/linter.h"
#include "sema/model/written.h"

/* `huge-fc` also requires a layer that is large in absolute terms. */
enum { HUGE_PARAMS = 10 * 1000 * 1000 };
enum { ALIGNMENT = 8 }; /* of channels, for tensor cores and SIMD units */

struct diagnostic *lint_warn(struct lint *l, enum slug slug, int64_t node,
                             const char *format, ...) {
  va_list args;
  va_start(args, format);
  struct diagnostic *d =
      diag_va(l->diags, slug, l->model->nodes.at[node].span, format, args);
  va_end(args);
  struct span span = l->model->nodes.at[node].span;
  if (l->diags->level[slug] != SEVERITY_OFF &&
      !diag_is_allowed(l->diags, slug, span))
    *VEC_PUSH(l->model->arena, &l->model->warnings) =
        (struct node_warning){node, slug};
  frame_describe(d, l->diags->sources, l->model->nodes.at[node].frame);
  return d;
}

struct slice lint_layer_text(struct lint *l, int64_t node) {
  struct text text = text_new(l->model->arena);
  model_put_layer(&text, l->model, node, NULL);
  return text_slice(&text);
}

void lint_offer_word(struct lint *l, struct diagnostic *d, int64_t node,
                     const char *word, const char *help) {
  const struct node *n = &l->model->nodes.at[node];
  if (!diag_is_shown(d))
    return;
  struct slice said = sources_slice(l->diags->sources, n->span);
  struct text more = text_new(l->model->arena);
  text_printf(&more, " %s", word);
  if (!n->frame && slice_equal(said, lint_layer_text(l, node)))
    diag_offer(d, (struct span){n->span.end, n->span.end}, text_slice(&more),
               "%s", help);
  diag_otherwise(d, "%s", help);
}

/* bias-before-norm */

/* The row of a layer's bias argument; -1: none. */
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
  struct diagnostic *d = lint_warn(l, BIAS_BEFORE_NORM, node,
                                   "the bias of %s has no effect before %s",
                                   n->kind->name, next->kind->name);
  diag_label(d, next->span, "subtracts the mean again");
  if (n->given >> row & 1)
    diag_help(d, "write `nobias`, not `bias`");
  else
    lint_offer_word(l, d, node, "nobias", "add `nobias`");
}

/* huge-fc */

/* The map that a layer reads as a vector, directly or after `flatten`. */
static const struct shape *flattened_map(const struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  while (n->input_count == 1) {
    n = &l->model->nodes.at[node_input(l->model, n, 0)];
    if (n->out->rank >= 2)
      return n->out;
    if (n->kind->memory == OUTPUT_FRESH)
      break;
  }
  return NULL;
}

/* Parameters of a layer if its input were 1x1xC; -1: it reads no map. */
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
      count *= params.all.at[i].dim[k]; /* less than now */
    sum += count;
  }
  return sum;
}

static void check_share(struct lint *l, int64_t node) {
  int64_t mine = model_cost(l->model, node)->params;
  int64_t all = l->model->total.params;
  if (mine < HUGE_PARAMS || mine <= all / 2 ||
      !l->model->nodes.at[node].kind->macs)
    return;
  int64_t pooled = params_behind_gap(l, node);
  if (pooled < 0 || pooled >= mine)
    return;
  struct text share = text_new(l->model->arena);
  text_printf(&share, "%s of %s", count_text(mine).text, count_text(all).text);
  struct diagnostic *d = lint_warn(
      l, HUGE_FC, node, "this layer holds %.*s parameters, %" PRId64 " %%",
      SLICE_ARG(share), (int64_t)(100.0 * (double)mine / (double)all));
  struct text rest = text_new(l->model->arena);
  text_count(&rest, pooled);
  diag_help(d, "with `gap` before it, the layer would have %.*s",
            SLICE_ARG(rest));
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
  struct slice text = lint_layer_text(l, node);
  struct diagnostic *d = lint_warn(
      l, REDUNDANT_LAYER, node, "%.*s changes nothing here", SLICE_ARG(text));
  diag_label(d, b->span, "gives %s", shape_text(b->out).text);
  if (!n->frame) /* elsewhere it may have an effect */
    diag_offer_omission(d, n->span, "leave it out");
}

static void check_alignment(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  if (l->diags->level[CHANNEL_ALIGNMENT] == SEVERITY_OFF || !n->kind->macs ||
      !n->kind->params || shape_channels(n->out) % ALIGNMENT == 0)
    return;
  int64_t channels = shape_channels(n->out);
  struct diagnostic *d = lint_warn(
      l, CHANNEL_ALIGNMENT, node,
      "%" PRId64 " is not a multiple of %d channels", channels, ALIGNMENT);
  diag_help(d,
            "matrix units work on blocks of %d: %" PRId64 " channels take no "
            "more time",
            ALIGNMENT, (channels / ALIGNMENT + 1) * ALIGNMENT);
}

/* The plain loss after whose function of the output a loss goes on: focal loss
 * computes a sigmoid, Dice loss a softmax, or a sigmoid of one class
 * (memory/step/losses.def). 0: none. */
static int plain_loss(int loss, const struct shape *out) {
  switch (loss) {
  case LOSS_CROSSENTROPY:
  case LOSS_FUSED_CROSSENTROPY: return LOSS_CROSSENTROPY;
  case LOSS_BCE:
  case LOSS_FOCAL: return LOSS_BCE;
  case LOSS_DICE: return shape_channels(out) > 1 ? LOSS_CROSSENTROPY : LOSS_BCE;
  default: return 0;
  }
}

static void check_loss(struct lint *l, int64_t node) {
  const struct train_settings *train = &l->expansion->settings->train;
  const struct layer_kind *kind = l->model->nodes.at[node].kind;
  int loss = train->loss; /* of a list, that of the first output of a node */
  for (size_t i = l->model->outputs.count; train->losses && i-- > 0;)
    if (l->model->outputs.at[i].node == node)
      loss = loss_of_output(train, i);
  if (!kind->loss || !l->output[node])
    return;
  int plain = plain_loss(loss, l->model->nodes.at[node].out);
  if (!plain)
    return;
  struct slice name = loss_name(loss);
  if (slice_is(loss_name(plain), kind->loss)) {
    struct diagnostic *d =
        lint_warn(l, SOFTMAX_BEFORE_LOSS, node, "loss=%.*s computes its own %s",
                  SLICE_ARG(name), kind->name);
    diag_help(d, "train on the values before `%s`", kind->name);
    return;
  }
  struct diagnostic *d = lint_warn(l, SOFTMAX_BEFORE_LOSS, node,
                                   "loss=%.*s does not match the output of %s",
                                   SLICE_ARG(name), kind->name);
  diag_help(d, "train on the values before `%s`, with loss=%s", kind->name,
            kind->loss);
}

/* dead-branch, unused-label */

static void find_alive(struct lint *l) {
  struct model *model = l->model;
  for (size_t i = 0; i < model->outputs.count; i++)
    l->output[model->outputs.at[i].node] = true;
  for (size_t i = model->nodes.count; i-- > 0;) {
    const struct node *n = &model->nodes.at[i];
    l->alive[i] = l->alive[i] || l->output[i];
    for (int k = 0; l->alive[i] && k < n->input_count; k++)
      l->alive[node_input(model, n, k)] = true;
  }
}

/* The labelled fork that ends with this node; NULL: none. */
static const struct stmt *fork_of(const struct lint *l, int64_t node) {
  int64_t group = l->model->nodes.at[node].group;
  for (; group > 0; group = l->model->groups.at[group].parent) {
    const struct group *g = &l->model->groups.at[group];
    if (g->end == node + 1 && g->stmt->kind == STMT_FORK)
      return g->stmt;
  }
  return NULL;
}

/* Warns only of the last layer of a dead branch: one mistake, one warning. */
static void check_dead(struct lint *l, int64_t node) {
  const struct node *n = &l->model->nodes.at[node];
  bool part = n->input_count == 1 &&
              l->model->nodes.at[node_input(l->model, n, 0)].kind->parts;
  if (l->alive[node] || l->readers[node] > 0 || part)
    return;
  const struct stmt *fork = fork_of(l, node);
  if (n->kind == &model_input_kind) {
    struct slice name = name_text(&n->name);
    lint_warn(l, UNUSED_LABEL, node, "the input `%.*s` is never read",
              SLICE_ARG(name));
  } else if (fork) {
    struct diagnostic *d =
        lint_warn(l, UNUSED_LABEL, node, "the fork `%.*s` is never used",
                  SLICE_ARG(fork->ends->label));
    diag_label(d, fork->ends->label_span, "labelled here");
    diag_help(d,
              "join it, read it with `from %.*s`, or name its result with "
              "`output`",
              SLICE_ARG(fork->ends->label));
  } else {
    struct diagnostic *d = lint_warn(l, DEAD_BRANCH, node,
                                     "nothing uses the output of this layer");
    if (node == (int64_t)l->model->nodes.count - 1)
      diag_help(d, "this net names its outputs: name this one with `output`, "
                   "too");
    else
      diag_help(d, "join it, name it with `output`, or remove the branch");
  }
}

/* nothing-kept: reported once */

static void check_kept(struct lint *l) {
  const struct infer_settings *infer = &l->expansion->settings->infer;
  if (!infer->decode && !infer->context && !infer->sequences)
    return;
  int64_t node = unkept_attention(l->model);
  if (node == NO_NODE)
    return;
  if (l->model->nodes.at[node].kind->cache) {
    struct diagnostic *d =
        lint_warn(l, NOTHING_KEPT, node,
                  "attention without `causal` has no KV cache, because it "
                  "reads later tokens; none is counted");
    diag_help(d, "add `causal` if the net continues a sequence; leave out "
                 "`decode=` for an encoder");
    return;
  }
  struct diagnostic *d = lint_warn(
      l, NOTHING_KEPT, node,
      "attention written as matrix products has no KV cache; none is counted");
  diag_help(d, "`attention 8 causal` has one; see `netc layers attention`");
}

/* A new check is a function and a line here. */
static void (*const checks[])(struct lint *l, int64_t node) = {
    lint_channels_first,  lint_windows, lint_pool_padding, lint_dense_on_map,
    lint_dense_on_states, check_bias,   check_share,       check_redundant,
    check_alignment,      check_loss,   check_dead,
};

static void count_readers(struct lint *l) {
  for (size_t i = 0; i < l->model->nodes.count; i++) {
    const struct node *n = &l->model->nodes.at[i];
    for (int k = 0; k < n->input_count; k++) {
      int64_t from = node_input(l->model, n, k);
      l->readers[from]++;
      l->reader[from] = (int32_t)i;
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
      .reader = arena_alloc(model->arena, count + 1, sizeof(int32_t)),
      .output = arena_alloc(model->arena, count + 1, sizeof(bool)),
      .alive = arena_alloc(model->arena, count + 1, sizeof(bool)),
      .clean = arena_alloc(model->arena, model->sources.count + 1,
                           sizeof(struct clean_sizes)),
      .clean_effort = clean_sizes_effort(model)};
  count_readers(&l);
  find_alive(&l);
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++)
      checks[k](&l, (int64_t)i);
  check_kept(&l);
}
