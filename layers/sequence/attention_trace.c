/* attention: the operations of a framework. */
#include <math.h>

#include "base/check.h"
#include "layers/norm.h"
#include "layers/sequence/attention.h"
#include "layers/tape/lowering.h"

struct extent attention_rows(const struct attention_recorder *r, int64_t rows,
                             int64_t features) {
  return extent_sample(size_product(size_product(r->s.groups, rows), features),
                       WIDTH_NET);
}

size_t attention_unary(const struct attention_recorder *r, size_t in,
                       struct operation op) {
  op.by_channel = !op.splits; /* heads are divided among devices */
  return tape_run_on(r->tape, in, op);
}

struct strides attention_strides(const struct attention_recorder *r,
                                 int64_t rows, int64_t features) {
  const int64_t dim[3] = {r->s.groups, rows, features};
  return strides_dense(3, dim);
}

/* The product with A has the rows of `seen` and `rank` columns. */
static size_t adapt(const struct attention_recorder *r,
                    const struct projection *p, size_t in, size_t base,
                    int64_t rows, const struct strides *seen) {
  const struct lora *lora = &r->attention->lora;
  struct strides lies[2] = {*seen, *seen};
  if (r->tape->lowers)
    lies[0].dim[seen->rank - 1] = lora->rank;
  for (int i = 0; i < 2; i++)
    lies[i] = strides_dense(lies[i].rank, lies[i].dim);
  int64_t parts = p->padded ? 2 : 1; /* each with an A of its own */
  struct lora_site site = {
      .steps = {{LOWERS(LINEAR, .out = &lies[0]),
                 attention_rows(r, rows, size_product(lora->rank, parts)), true,
                 false, false},
                {LOWERS(LINEAR, .out = &lies[1]),
                 attention_rows(r, rows, p->padded ? p->padded : p->out), true,
                 false, false}},
      .weight = p->first,
      .first = p->first + p->count,
      .in = p->in,
      .out = p->out,
      .kept_out = p->padded};
  if (p->padded)
    site.padded = attention_rows(r, rows, p->out);
  return lora_trace(r->tape, lora, in, base, &site);
}

/* True for inputs that nn.MultiheadAttention has transposed. */
static bool positions_first(const struct attention_recorder *r, int which) {
  return r->attention->sbhd && !r->attention->rope && which != PROJECTION_OUT;
}

/* The rows of an input that nn.MultiheadAttention transposes: those of several
 * samples are copied. */
static size_t transposed(const struct attention_recorder *r, int which,
                         size_t in) {
  bool module =
      attention_is_packed(r->attention) || r->attention->values.name.length;
  bool copied = module && positions_first(r, which) &&
                r->attention->sbhd != ATTENTION_SBHD_ALL && r->s.groups == 1;
  return copied && !r->tape->lowers ? tape_together(r->tape, in, ROWS_OF_ONE)
                                    : in;
}

/* Leading axes of the input are a batch, too. */
static size_t project(const struct attention_recorder *r, int which, size_t in,
                      int64_t rows) {
  static const char *const names[] = {"query", "key", "value", "out"};
  const struct projection *p = &r->projections[which];
  struct strides seen = tape_strides(r->tape, in);
  if (r->tape->lowers)
    seen.dim[seen.rank - 1] = p->out;
  struct strides out = strides_dense(seen.rank, seen.dim);
  struct lowering does = {.opcode = DOES_LINEAR, .out = &out};
  /* The runtime cannot read a partial bias of a packed matrix. */
  bool partial = p->biases && p->biases < p->out && r->tape->lowers;
  if (partial)
    does.opcode = DOES_UNKNOWN;
  enum row_order order;
  size_t from = tape_rows(r->tape, transposed(r, which, in), &order);
  /* The result of addmm is viewed: is_view() of layers/dense.c. */
  bool view = p->count > 1 && r->s.groups == 1 && !r->tape->share &&
              order == ROWS_TOGETHER &&
              (from == in || positions_first(r, which));
  size_t value = attention_unary(
      r, from,
      (struct operation){.name = partial ? "partial bias of a packed matrix"
                                         : names[which % PROJECTION_JOINT],
                         .rows = order,
                         .view = view,
                         .layout = LAYOUT_ROWS,
                         .does = &does,
                         .out = attention_rows(r, rows, p->out),
                         .keeps = KEEPS_IN(0),
                         .first_param = p->first,
                         .param_count = p->count,
                         .splits = true,
                         .guarded = true,
                         .bias_after = positions_first(r, which),
                         .cast = CAST_LOW});
  if (p->adapted)
    value = adapt(r, p, in, value, rows, &seen);
  out = which == PROJECTION_OUT ? strides_of(&r->layer->out)
                                : attention_strides(r, rows, p->out);
  tape_see(r->tape, value, &out);
  return value;
}

/* The input as rows of the queries of all heads. PyTorch views it by heads
 * after the projections of keys and values. */
static size_t given_queries(const struct attention_recorder *r, size_t in) {
  struct strides rows = attention_strides(r, r->s.queries, r->s.width);
  if (!r->tape->lowers)
    return in;
  size_t value = attention_unary(
      r, tape_dense(r->tape, in),
      (struct operation){.name = "queries",
                         .does = LOWERS(VIEW, .out = &rows),
                         .out = attention_rows(r, r->s.queries, r->s.width),
                         .result = RESULT_VIEW});
  tape_see(r->tape, value, &rows);
  return value;
}

/* Parts of a copy of a packed projection. Each gives the copy a gradient of its
 * own, of the copy's size: _in_projection_packed() of torch/nn/functional.py.
 */
static size_t select_parts(const struct attention_recorder *r, size_t packed,
                           int64_t rows, int parts) {
  struct operation op = {.name = "copy", .out = *tape_extent(r->tape, packed)};
  size_t copy = attention_unary(r, packed, op), first = 0;
  op.name = "select";
  op.out = attention_rows(r, rows, r->s.kv_width);
  op.result = RESULT_VIEW;
  for (int i = 0; i < parts; i++) {
    size_t part = attention_unary(r, copy, op);
    r->tape->values.at[part].view = false; /* nor is its gradient */
    first = i ? first : part;
  }
  return first;
}

/* Parts of a packed projection; backward concatenates their gradients. */
static size_t split(const struct attention_recorder *r, size_t packed,
                    int64_t rows, int parts) {
  struct strides lies[3];
  int64_t offset = 0;
  if (attention_copies_whole(r))
    return select_parts(r, packed, rows, parts);
  for (int i = 0; i < parts; i++) {
    bool queries = parts == 3 && i == 0;
    lies[i] = tape_strides(r->tape, packed);
    lies[i].offset += offset;
    lies[i].dim[2] = queries ? r->s.width : r->s.kv_width;
    offset += lies[i].dim[2];
  }
  return attention_unary(
      r, packed,
      (struct operation){.name = "split",
                         .does = LOWERS(VIEW, .out = lies),
                         .out = attention_rows(r, rows, r->s.kv_width),
                         .outs = parts,
                         .result = RESULT_VIEW,
                         .layout = LAYOUT_APART});
}

/* Projects queries, keys and values of one tensor, by `first`
 * and the next ones. */
static void project_own(const struct attention_recorder *r, int first,
                        size_t in, int64_t rows, size_t qkv[3]) {
  if (!attention_is_packed(r->attention)) {
    for (int i = 0; i < 3; i++)
      qkv[i] = i == PROJECTION_VALUE && r->attention->novalues
                   ? qkv[PROJECTION_KEY]
               : i == PROJECTION_QUERY && r->attention->noqueries
                   ? given_queries(r, in)
                   : project(r, first + i, in, rows);
    return;
  }
  qkv[0] = split(r, project(r, first, in, rows), rows, 3);
  qkv[1] = qkv[0] + 1;
  qkv[2] = qkv[0] + 2;
  tape_resize(r->tape, qkv[0], attention_rows(r, rows, r->s.width));
}

/* Queries of one tensor, keys and values of others. */
static void project_cross(const struct attention_recorder *r, const size_t *in,
                          size_t qkv[3]) {
  qkv[0] = r->attention->noqueries
               ? given_queries(r, in[0])
               : project(r, PROJECTION_QUERY, in[0], r->s.queries);
  if (attention_is_packed(r->attention)) {
    qkv[1] =
        split(r, project(r, PROJECTION_KEY, in[1], r->s.keys), r->s.keys, 2);
    qkv[2] = qkv[1] + 1;
  } else {
    int keys = attention_keys(r->attention);
    int values = attention_values(r->attention);
    qkv[1] = project(r, PROJECTION_KEY, in[keys], r->s.keys);
    qkv[2] = r->attention->novalues
                 ? qkv[1]
                 : project(r, PROJECTION_VALUE, in[values], r->s.keys);
  }
}

struct strides attention_heads(const struct strides *rows, int64_t dim) {
  return strides_split(rows, 2, rows->dim[2] / dim);
}

struct extent attention_work(const struct attention_recorder *r,
                             struct extent extent) {
  return r->tape->lowers ? extent_fixed(0, extent.width) : extent;
}

/* Normalises the features of each head (transformers' Qwen3), or of
 * all heads (OLMo 2). */
static size_t normalise(const struct attention_recorder *r, size_t in,
                        int which) {
  struct extent extent = *tape_extent(r->tape, in);
  bool all = attention_norm_is_all(r->attention->qknorm);
  int64_t features = !all ? r->s.dim : which % 2 ? r->s.kv_width : r->s.width;
  int64_t rows = extent.count / features;
  bool rms = attention_norm_is_rms(r->attention->qknorm);
  struct strides lies = tape_strides(r->tape, in), heads = lies;
  if (!r->attention->qknorm)
    return in;
  if (r->tape->lowers && !all)
    heads = attention_heads(&lies, r->s.dim);
  struct strides out = strides_dense(heads.rank, heads.dim);
  struct lowering does = {.opcode = rms ? DOES_RMSNORM : DOES_LN,
                          .in = &heads,
                          .out = &out,
                          .real = {1e-6}};
  struct operation op =
      rms ? (struct operation){0} : norm_ln(r->tape, rows, extent.count);
  op.name = "norm";
  op.does = &does;
  op.out = extent;
  op.by_channel = true; /* heads are divided among devices */
  op.first_param = r->places.norm[which];
  bool own = r->attention->qknorm == QKLN_OWN;
  op.param_count = own ? 0 : 2;
  size_t value = rms ? norm_rms(r->tape, in, op, rows, op.first_param)
                     : tape_run_on(r->tape, in, op);
  out = strides_dense(lies.rank, lies.dim);
  tape_see(r->tape, value, &out);
  return own ? layer_weigh(r->tape, value, r->places.norm[which], false, extent)
             : value;
}

/* torch.cat of the other stream's rows and its own. */
static size_t join(const struct attention_recorder *r, size_t other, size_t own,
                   int64_t features) {
  size_t pair[2] = {other, own};
  struct strides lies[2] = {tape_strides(r->tape, other),
                            tape_strides(r->tape, own)};
  struct strides out = attention_strides(r, r->s.queries, features);
  struct lowering does = {.opcode = DOES_CONCAT, .in = lies, .out = &out};
  lowering_add(&does, 2); /* axes 0 and 1 are the batch and the groups */
  return tape_run(r->tape, &(struct operation){
                               .name = "concat",
                               .does = &does,
                               .in = pair,
                               .in_count = 2,
                               .by_channel = true,
                               .out = attention_rows(r, r->s.queries, features),
                               .gradient = GRADIENT_SHARED});
}

/*
 * Projections of a stream with heads first. Their gradient is a slice; norms
 * and the split of a packed matrix read it without a copy, other rows are
 * copied.
 */
static void project_stream(const struct attention_recorder *r, int first,
                           size_t in, int64_t rows, size_t qkv[3]) {
  bool packed = attention_is_packed(r->attention);
  project_own(r, first, in, rows, qkv);
  for (int i = 0; i < 3; i++) {
    bool norm = i < 2 && r->attention->qknorm;
    if (norm)
      qkv[i] = normalise(r, qkv[i], first ? 2 + i : i);
    else if (!packed && !r->tape->lowers)
      qkv[i] = attention_unary(
          r, qkv[i],
          (struct operation){.name = "heads",
                             .out = *tape_extent(r->tape, qkv[i]),
                             .result = RESULT_VIEW});
  }
}

/*
 * Each stream has its own projections and norms; then both are concatenated
 * (black-forest-labs/flux, DoubleStreamBlock of modules/layers.py).
 */
static void project_joint(const struct attention_recorder *r, const size_t *in,
                          size_t qkv[3]) {
  size_t other[3];
  project_stream(r, PROJECTION_QUERY, in[0], r->s.queries - r->s.joined, qkv);
  project_stream(r, PROJECTION_JOINT, in[1], r->s.joined, other);
  for (int i = 0; i < 3; i++)
    qkv[i] = join(r, other[i], qkv[i], i ? r->s.kv_width : r->s.width);
}

/* Queries, keys and values as rows of all heads' features, and the gate. */
static void project_all(const struct attention_recorder *r, const size_t *in,
                        size_t qkv[3], size_t *gate) {
  if (attention_is_joint(r->attention)) {
    project_joint(r, in, qkv);
    return;
  }
  if (attention_values(r->attention))
    project_cross(r, in, qkv);
  else
    project_own(r, PROJECTION_QUERY, in[0], r->s.queries, qkv);
  if (r->attention->gate == ATTENTION_GATE_CHANNELS)
    attention_part_gate(r, qkv[0], &qkv[0], gate);
  else if (r->attention->gate)
    *gate = attention_project_gate(r, in[0]);
  for (int i = r->attention->noqueries; i < 2; i++)
    qkv[i] = normalise(r, qkv[i], i);
  if (r->attention->vnorm)
    qkv[2] = attention_normalise_values(r, qkv[2]);
}

/*
 * x cosines + rotated(x) sines: apply_rotary_pos_emb of transformers. In
 * training its maximum of memory is in backward. Before a fused kernel, a
 * server rotates in place.
 */
size_t attention_rotate(const struct attention_recorder *r, size_t in,
                        const struct lowering *does) {
  struct extent extent = *tape_extent(r->tape, in), half = extent;
  struct operation op = {.name = "rope", .does = does, .out = extent};
  if (r->tape->lowers || r->tape->training || r->fused) {
    op.work = attention_work(r, extent);
    op.back_work = extent;
    return attention_unary(r, in, op);
  }
  half.count /= 2;
  size_t pair[2] = {attention_unary(r, in, op)};
  op.work = half; /* the half that is negated */
  pair[1] = attention_unary(r, in, op);
  op.work.count = 0;
  pair[1] = attention_unary(r, pair[1], op);
  op.in = pair;
  op.in_count = 2;
  return tape_run(r->tape, &op);
}

static size_t turn(const struct attention_recorder *r, size_t in,
                   const struct strides *heads) {
  struct strides out = strides_dense(heads->rank, heads->dim);
  struct lowering does = {.in = heads, .out = &out};
  rope_lower(&does, &r->attention->turns, false); /* halves of a head: Llama */
  return attention_rotate(r, in, &does);
}

/* Rotates the first features of each head and concatenates the others. */
static size_t turn_part(const struct attention_recorder *r, size_t in,
                        const struct strides *heads) {
  struct extent extent = *tape_extent(r->tape, in);
  struct strides lies[2] = {*heads, *heads};
  struct strides out = strides_dense(heads->rank, heads->dim);
  int last = heads->rank - 1;
  int64_t part = r->attention->rotary, rows = extent.count / r->s.dim;
  if (r->tape->lowers) {
    lies[0].dim[last] = part;
    lies[1].dim[last] -= part;
    lies[1].offset += part * heads->stride[last];
  }
  size_t first =
      attention_unary(r, in,
                      (struct operation){.name = "split",
                                         .does = LOWERS(VIEW, .out = lies),
                                         .out = extent,
                                         .outs = 2,
                                         .result = RESULT_VIEW,
                                         .layout = LAYOUT_APART});
  struct extent front = extent, behind = extent;
  front.count = size_product(rows, part);
  behind.count -= front.count;
  tape_resize(r->tape, first, front);
  tape_resize(r->tape, first + 1, behind);
  size_t pair[2] = {turn(r, first, &lies[0]), first + 1};
  lies[0] = strides_dense(lies[0].rank, lies[0].dim);
  struct lowering does = {.opcode = DOES_CONCAT, .in = lies, .out = &out};
  lowering_add(&does, heads->rank); /* the last axis; axis 0 is the batch */
  return tape_run(r->tape, &(struct operation){.name = "concat",
                                               .does = &does,
                                               .in = pair,
                                               .in_count = 2,
                                               .by_channel = true,
                                               .out = extent,
                                               .gradient = GRADIENT_SHARED});
}

bool attention_turns_part(const struct attention_recorder *r) {
  return r->attention->rotary && r->attention->rotary < r->s.dim;
}

static size_t rotate(const struct attention_recorder *r, size_t in) {
  struct strides lies = tape_strides(r->tape, in), heads = lies;
  if (r->tape->lowers)
    heads = attention_heads(&lies, r->s.dim);
  size_t value =
      attention_turns_part(r) ? turn_part(r, in, &heads) : turn(r, in, &heads);
  struct strides out = strides_dense(lies.rank, lies.dim);
  tape_see(r->tape, value, &out);
  return value;
}

void attention_lower_mask(const struct attention_recorder *r,
                          struct lowering *does) {
  lowering_add(does, attention_behind(r->attention));
  lowering_add(does, attention_ahead(r->attention));
}

/*
 * A concatenation has heads first: of rotated and other features, in timm and
 * litgpt even without others, and of the two streams of `joint`. The output of
 * the 16-bit kernel has the queries' strides (`empty_like(q_padded)` in
 * aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp) and is then
 * copied to have its heads together. The 32-bit kernel's has them together.
 */
static bool gives_heads_first(const struct attention_recorder *r) {
  bool joins =
      attention_is_joint(r->attention) ||
      (r->attention->rope && (r->attention->views || attention_turns_part(r)));
  return r->tape->half && !r->tape->lowers && joins && r->s.vdim == r->s.dim;
}

/* The mask's gradient before it is reduced: a value for each score. */
static struct extent mask_gradient(const struct attention_recorder *r) {
  bool trained = attention_mask(r->attention) &&
                 r->tape->values.at[r->mask].needs_gradient;
  int64_t rows = size_product(r->s.heads, r->s.queries);
  return trained ? attention_rows(r, rows, r->s.keys) : (struct extent){0};
}

/* Flash is the kernel for 16 bits without a mask, for values of the keys' size
 * (check_head_dim_size_flash of aten/src/ATen/native/transformers/cuda/
 * sdp_utils.cpp). */
static bool takes_flash(const struct attention_recorder *r) {
  return r->tape->half && attention_mask(r->attention) <= 0 &&
         r->s.vdim == r->s.dim;
}

struct extent attention_row_sums(const struct attention_recorder *r,
                                 bool alike) {
  enum { ALIGNED = 32 };
  int64_t rows = r->s.queries;
  bool pads = !r->tape->profile->cpu_kernels;
  if (pads && (!takes_flash(r) || !alike))
    rows = size_product(ceil_div_i64(rows, ALIGNED), ALIGNED);
  struct extent sums = attention_rows(r, r->s.heads, rows);
  sums.width = WIDTH_F32;
  return sums;
}

/* nn.MultiheadAttention expands a mask of each sample to all heads: its view()
 * copies it, unless there is one sample with a row for all queries. */
static size_t mask_by_heads(const struct attention_recorder *r) {
  const struct shape *mask = r->layer->in[attention_mask(r->attention)];
  struct extent all = *tape_extent(r->tape, r->mask);
  int last = mask->rank - 1;
  bool module = r->attention->sbhd && !r->attention->rope;
  if (!attention_mask(r->attention) || !module || all.fixed ||
      r->s.heads == 1 || (last > 1 && mask->dim[last - 2] != 1) ||
      r->tape->lowers)
    return r->mask;
  all.count = size_product(all.count, r->s.heads);
  return attention_unary(
      r, r->mask,
      (struct operation){.name = "heads",
                         .out = all,
                         .view_of_one = last < 1 || mask->dim[last - 1] == 1});
}

/*
 * One kernel, which keeps its inputs, its output, and a 32-bit logarithm of
 * each row's sum (torch.nn.functional.scaled_dot_product_attention); without
 * dropout a seed and an offset, which else are in the host's memory.
 */
static size_t attend_fused(const struct attention_recorder *r, size_t q,
                           size_t k, size_t v) {
  size_t in[4] = {q, k, v, mask_by_heads(r)};
  bool masked = attention_mask(r->attention) > 0;
  struct extent sums = attention_row_sums(r, r->s.vdim == r->s.dim);
  bool seeds = r->attention->dropout <= 0 && !r->tape->profile->cpu_kernels;
  struct extent seed = extent_fixed(seeds, WIDTH_INDEX);
  struct extent none = {0};
  seed.whole = true;
  struct strides lies[3];
  /* Flash alone takes fewer heads of keys: enable_gqa of PyTorch. */
  if (!takes_flash(r)) {
    in[1] = attention_repeat(r, k, r->s.dim);
    in[2] = attention_repeat(r, v, r->s.vdim);
  }
  for (int i = 0; i < 3; i++) {
    lies[i] = tape_strides(r->tape, in[i]);
    if (r->tape->lowers)
      lies[i] = attention_heads(&lies[i], r->s.dim);
  }
  struct strides out = attention_strides(r, r->s.queries, r->s.value_width);
  struct strides by_heads = attention_heads(&out, r->s.vdim);
  struct lowering does = {
      .opcode = DOES_ATTENTION, .in = lies, .out = &by_heads, .real = {1}};
  if (r->attention->scale != ATTENTION_UNSCALED)
    does.real[0] = r->factor;
  attention_lower_mask(r, &does);
  size_t value = tape_run(
      r->tape, &(struct operation){
                   .name = "attention",
                   .does = &does,
                   .in = in,
                   .in_count = 3 + masked,
                   .by_channel = true,
                   .attends = true,
                   .sdpa = true,
                   .out = attention_rows(r, r->s.queries, r->s.value_width),
                   .keeps = KEEPS_IN(0) | KEEPS_IN(1) | KEEPS_IN(2) |
                            KEEPS_OUT | (masked ? KEEPS_IN(3) : 0),
                   .kept = {sums, seed, seed},
                   .back_work = r->tape->profile->cpu_kernels ? none : sums,
                   .back_more = mask_gradient(r),
                   .cast = CAST_LOW});
  tape_see(r->tape, value, &out);
  bool turned = gives_heads_first(r);
  /* nn.MultiheadAttention, which has no `rope`: flash's output lies as its
   * queries, by position. The kernel of others gives it by sample. */
  bool flash = takes_flash(r) || r->tape->profile->cpu_kernels;
  bool copied = r->attention->sbhd && (!flash || r->attention->rope ||
                                       r->tape->profile->flash_by_samples);
  if (!turned && (!copied || r->tape->lowers))
    return value;
  struct extent rows = attention_rows(r, r->s.queries, r->s.value_width);
  return attention_together(r, value, rows, !turned);
}

bool attention_is_fused(const struct tape *tape, int kernel) {
  if (kernel)
    return kernel == ATTENTION_FUSED;
  return tape->attention ? tape->attention == TAPE_FUSED
                         : tape->profile->fused_attention;
}

static bool drops(const struct attention_recorder *r) {
  return r->tape->training && r->attention->dropout > 0;
}

size_t attention_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in) {
  struct attention_recorder r = {.tape = tape,
                                 .layer = layer,
                                 .attention = layer->args,
                                 .s = attention_sizes(layer)};
  r.factor = 1 / sqrt((double)r.s.dim);
  r.mask = in[attention_mask(r.attention)];
  size_t qkv[3], gate = 0, context;
  bool steps = r.attention->relative.rank || r.attention->talking ||
               (attention_steps(r.attention) && !tape->profile->fused_steps);
  r.fused = attention_is_fused(tape, r.attention->kernel) &&
            (r.attention->kernel || !steps);
  r.math = r.fused && tape->profile->cpu_kernels && drops(&r);
  r.fused = r.fused && !r.math;
  if (tape->lowers && (attention_mask(r.attention) ||
                       r.attention->relative.rank || r.s.vdim != r.s.dim))
    r.fused = false; /* not supported by the runtime's kernel */
  attention_projections(layer, r.projections);
  r.places = attention_places(layer);
  project_all(&r, in, qkv, &gate);
  if (r.attention->rope) {
    qkv[0] = rotate(&r, qkv[0]);
    qkv[1] = rotate(&r, qkv[1]);
  }
  if (r.attention->shared)
    qkv[2] = qkv[1];
  context = r.fused ? attend_fused(&r, qkv[0], qkv[1], qkv[2])
                    : attention_step_by_step(&r, qkv[0], qkv[1], qkv[2]);
  if (r.attention->gate)
    context = attention_gate(&r, context, gate);
  if (!r.attention->noout && !attention_is_joint(r.attention))
    return project(&r, PROJECTION_OUT, context, r.s.queries);
  struct strides lies = strides_of(&layer->out);
  tape_see(tape, context, &lies);
  if (!tape->lowers) /* heads are together */
    tape->values.at[context].strides = LAYOUT_ROWS;
  return context;
}
