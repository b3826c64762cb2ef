/* bn, instnorm, gn, ln, rmsnorm, lrn: normalisation. */
#include "kernel.h"

/* (x - mean) / sqrt(var + eps) * scale + shift, by channel. */
static int netrt_reference_bn(const struct netrt *net,
                              const struct netrt_op *op) {
  struct netrt_view views[6] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct kernel_along along[4];
  struct kernel_walk walk;
  float eps = netrt_reals(net, op)[0];
  int vectors = op->ins - 1, mean = vectors, i; /* the last two */
  for (i = 0; i < vectors; i++) {
    struct netrt_view vector = netrt_in(net, op, (uint32_t)i + 1);
    netrt_along_last(&along[i], &vector, &views[0]);
    views[2 + i] = along[i].view;
  }
  netrt_walk_open(&walk, views, 2 + vectors);
  do {
    const float *at[6];
    ptrdiff_t k;
    for (i = 0; i < 2 + vectors; i++)
      at[i] = netrt_floats(&views[i]) + walk.offset[i];
    for (k = 0; k < walk.length; k++) {
      float x = at[1][k * walk.step[1]] - at[mean][k * walk.step[mean]];
      x /= sqrtf(at[mean + 1][k * walk.step[mean + 1]] + eps);
      if (vectors > 2)
        x *= at[2][k * walk.step[2]];
      if (vectors > 3)
        x += at[3][k * walk.step[3]];
      netrt_floats(&views[0])[walk.offset[0] + k * walk.step[0]] = x;
    }
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL_FAST(bn);

/* Mean and 1 / sqrt(variance + eps) of a walk's values in
 * channels [from, to). */
struct moments {
  float mean, factor;
};

struct norm_scope {
  struct netrt_view in, out;
  const float *scale, *shift;
  ptrdiff_t scale_step, shift_step;
  float eps;
};

static struct norm_scope scope_of(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct norm_scope s;
  struct netrt_view vector;
  s.out = netrt_out(net, op);
  s.in = netrt_in(net, op, 0);
  s.scale = s.shift = NULL;
  s.scale_step = s.shift_step = 0;
  s.eps = netrt_reals(net, op)[0];
  if (op->ins > 1) {
    vector = netrt_in(net, op, 1);
    s.scale = netrt_floats(&vector);
    s.scale_step = vector.stride[0];
  }
  if (op->ins > 2) {
    vector = netrt_in(net, op, 2);
    s.shift = netrt_floats(&vector);
    s.shift_step = vector.stride[0];
  }
  return s;
}

/* Channels [from, from + count) of a sample, at all its positions. */
struct norm_part {
  struct netrt_view views[2]; /* out, in; without the batch axis */
  int32_t size[NETRT_RANK];
};

static struct norm_part part_of(const struct norm_scope *s, ptrdiff_t batch,
                                ptrdiff_t from, ptrdiff_t count) {
  struct norm_part part;
  int i, k, rank = s->in.rank - 1;
  for (i = 0; i < rank; i++)
    part.size[i] = s->in.size[i + 1];
  part.size[rank - 1] = (int32_t)count;
  part.views[0] = s->out;
  part.views[1] = s->in;
  for (k = 0; k < 2; k++) {
    struct netrt_view *view = &part.views[k];
    ptrdiff_t skip = batch * view->stride[0] + from * view->stride[rank];
    view->data += skip * (ptrdiff_t)sizeof(float);
    view->stride++;
    view->rank = rank;
  }
  return part;
}

/* Sums of (x - about) or of its squares over a part. */
static float sum_part(struct norm_part *part, float about, int squares) {
  struct kernel_walk walk;
  float sum = 0;
  ptrdiff_t k;
  part->views[0].size = part->views[1].size = part->size;
  netrt_walk_open(&walk, part->views, 2);
  do {
    const float *in = netrt_floats(&part->views[1]) + walk.offset[1];
    float row = 0;
    for (k = 0; k < walk.length; k++) {
      float x = in[k * walk.step[1]] - about;
      row += squares ? x * x : x;
    }
    sum += row;
  } while (netrt_walk_next(&walk));
  return sum;
}

static void write_part(const struct norm_scope *s, struct norm_part *part,
                       ptrdiff_t channel, struct moments m) {
  struct kernel_walk walk;
  ptrdiff_t c, channels = part->size[part->views[0].rank - 1];
  part->views[0].size = part->views[1].size = part->size;
  netrt_walk_open_outer(&walk, part->views, 2, 1);
  do
    for (c = 0; c < channels; c++) {
      ptrdiff_t to = walk.offset[0] + c * stride_back(&part->views[0], 0);
      ptrdiff_t from = walk.offset[1] + c * stride_back(&part->views[1], 0);
      float x = (netrt_floats(&part->views[1])[from] - m.mean) * m.factor;
      if (s->scale)
        x *= s->scale[(channel + c) * s->scale_step];
      if (s->shift)
        x += s->shift[(channel + c) * s->shift_step];
      netrt_floats(&part->views[0])[to] = x;
    }
  while (netrt_walk_next(&walk));
}

/* Normalises `groups` of channels of each sample, over all positions. */
static int normalise_groups(const struct netrt *net, const struct netrt_op *op,
                            ptrdiff_t groups) {
  struct norm_scope s = scope_of(net, op);
  ptrdiff_t each = size_back(&s.in, 0) / groups, batch, g;
  for (batch = 0; batch < s.in.size[0]; batch++)
    for (g = 0; g < groups; g++) {
      struct norm_part part = part_of(&s, batch, g * each, each);
      float values = (float)(rows_of(&s.in, 1) / s.in.size[0] * each);
      struct moments m;
      m.mean = sum_part(&part, 0, 0) / values;
      /* A second pass around the mean removes the rounding
       * error of the first sum. */
      m.mean += sum_part(&part, m.mean, 0) / values;
      m.factor = 1 / sqrtf(sum_part(&part, m.mean, 1) / values + s.eps);
      write_part(&s, &part, g * each, m);
    }
  return NETRT_OK;
}

static int netrt_reference_gn(const struct netrt *net,
                              const struct netrt_op *op) {
  return normalise_groups(net, op, netrt_args(net, op)[0]);
}

static int netrt_reference_instnorm(const struct netrt *net,
                                    const struct netrt_op *op) {
  struct netrt_view in = netrt_in(net, op, 0);
  return normalise_groups(net, op, size_back(&in, 0));
}

KERNEL(gn);
KERNEL(instnorm);

/* Rows of the last axis: ln, or rmsnorm, which has no mean. */
static int normalise_rows(const struct netrt *net, const struct netrt_op *op,
                          int centre) {
  struct norm_scope s = scope_of(net, op);
  struct netrt_view views[2];
  struct kernel_walk walk;
  ptrdiff_t n = size_back(&s.in, 0), i;
  ptrdiff_t to = stride_back(&s.out, 0), from = stride_back(&s.in, 0);
  views[0] = s.out;
  views[1] = s.in;
  netrt_walk_open_outer(&walk, views, 2, 1);
  do {
    const float *in = netrt_floats(&s.in) + walk.offset[1];
    float *out = netrt_floats(&s.out) + walk.offset[0];
    float mean = 0, squares = 0, factor;
    for (i = 0; i < n && centre; i++)
      mean += in[i * from];
    mean /= (float)n;
    for (i = 0; i < n; i++)
      squares += (in[i * from] - mean) * (in[i * from] - mean);
    factor = 1 / sqrtf(squares / (float)n + s.eps);
    for (i = 0; i < n; i++) {
      float x = (in[i * from] - mean) * factor;
      if (s.scale)
        x *= s.scale[i * s.scale_step];
      if (s.shift)
        x += s.shift[i * s.shift_step];
      out[i * to] = x;
    }
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

static int netrt_reference_ln(const struct netrt *net,
                              const struct netrt_op *op) {
  return normalise_rows(net, op, 1);
}

static int netrt_reference_rmsnorm(const struct netrt *net,
                                   const struct netrt_op *op) {
  return normalise_rows(net, op, 0);
}

KERNEL_FAST(ln);
KERNEL_FAST(rmsnorm);

/* size / 2 channels before, (size - 1) / 2 after (nn.LocalResponseNorm). */
static int netrt_reference_lrn(const struct netrt *net,
                               const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  const float *reals = netrt_reals(net, op);
  ptrdiff_t size = netrt_args(net, op)[0], n = size_back(&views[1], 0), c, k;
  ptrdiff_t from = stride_back(&views[1], 0), to = stride_back(&views[0], 0);
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 1);
  do {
    const float *in = netrt_floats(&views[1]) + walk.offset[1];
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    for (c = 0; c < n; c++) {
      float sum = 0;
      for (k = most(c - size / 2, 0); k <= least(c + (size - 1) / 2, n - 1);
           k++)
        sum += in[k * from] * in[k * from];
      out[c * to] = in[c * from] /
                    powf(reals[2] + reals[0] * sum / (float)size, reals[1]);
    }
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(lrn);
