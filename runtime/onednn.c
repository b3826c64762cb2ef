/*
 * NETRT_ONEDNN: convolutions and products by oneDNN 2 (Debian's libdnnl-dev),
 * behind the fast kernels' functions. All of its C interface is here, since
 * version 3 has another one. oneDNN takes memory and threads of its own, and
 * packs weights anew in each run: what the plan promises is no longer so.
 */
#include "onednn.h"

#ifdef NETRT_ONEDNN

#include <dnnl.h>
#include <string.h>

/* Rows lie evenly: C = A B, with the bias written before. */
int netrt_onednn_gemm(const struct gemm *g) {
  char transposed = g->b_step == 1 ? 'N' : 'T';
  ptrdiff_t row = g->b_step == 1 ? g->b_row : g->b_step, m;
  if (g->rows || g->taps != 1 || (g->b_step != 1 && g->b_row != 1) ||
      (g->m > 1 && (g->a_row < g->ins || g->out_row < g->n)) || g->m == 1 ||
      row < (g->b_step == 1 ? g->n : g->ins))
    return NOT_FOR_ME;
  for (m = 0; m < g->m && g->bias; m++)
    memcpy(g->out + m * g->out_row, g->bias, (size_t)g->n * sizeof(float));
  return dnnl_sgemm('N', transposed, g->m, g->n, g->ins, 1, g->a, g->a_row,
                    g->b, row, g->bias ? 1.0f : 0.0f, g->out,
                    g->out_row) == dnnl_success
             ? NETRT_OK
             : NOT_FOR_ME;
}

struct layer {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_desc_t description, packing;
  dnnl_primitive_t primitive, packer;
  dnnl_memory_t in, out, weight, bias, packed;
};

static void close_layer(struct layer *l) {
  dnnl_memory_t memories[5];
  int i;
  memories[0] = l->in;
  memories[1] = l->out;
  memories[2] = l->weight;
  memories[3] = l->bias;
  memories[4] = l->packed;
  for (i = 0; i < 5; i++)
    if (memories[i])
      dnnl_memory_destroy(memories[i]);
  if (l->primitive)
    dnnl_primitive_destroy(l->primitive);
  if (l->packer)
    dnnl_primitive_destroy(l->packer);
  if (l->description)
    dnnl_primitive_desc_destroy(l->description);
  if (l->packing)
    dnnl_primitive_desc_destroy(l->packing);
  if (l->stream)
    dnnl_stream_destroy(l->stream);
  if (l->engine)
    dnnl_engine_destroy(l->engine);
}

/* Two axes: batch, channels, height, width, wherever they lie. */
static int map_desc(const struct map *map, dnnl_memory_desc_t *desc) {
  dnnl_dims_t size = {map->size[0], map->size[4], map->size[2], map->size[3]};
  dnnl_dims_t stride = {map->stride[0], map->stride[4], map->stride[2],
                        map->stride[3]};
  return dnnl_memory_desc_init_by_strides(desc, 4, size, dnnl_f32, stride) ==
         dnnl_success;
}

/* (groups,) outputs, inputs, height, width; with strides or as it likes. */
static int weight_desc(const struct conv *c, int own,
                       dnnl_memory_desc_t *desc) {
  dnnl_dim_t groups = c->groups, outs = c->out.size[4] / groups;
  dnnl_dim_t ins = c->in.size[4] / groups;
  dnnl_dims_t size = {groups, outs, ins, c->window.kernel[1],
                      c->window.kernel[2]};
  dnnl_dims_t stride = {outs * c->out_stride, c->out_stride, c->in_stride,
                        c->tap_stride[1], c->tap_stride[2]};
  int skip = groups == 1, i;
  for (i = 0; i + skip < 5 && skip; i++) {
    size[i] = size[i + 1];
    stride[i] = stride[i + 1];
  }
  return (own ? dnnl_memory_desc_init_by_strides(desc, 5 - skip, size, dnnl_f32,
                                                 stride)
              : dnnl_memory_desc_init_by_tag(desc, 5 - skip, size, dnnl_f32,
                                             dnnl_format_tag_any)) ==
         dnnl_success;
}

static int describe(struct layer *l, const struct conv *c,
                    const dnnl_memory_desc_t *in,
                    const dnnl_memory_desc_t *out) {
  const struct window *w = &c->window;
  dnnl_memory_desc_t weight, bias;
  dnnl_convolution_desc_t conv;
  dnnl_dims_t channels = {c->out.size[4]}, stride, dilation, before, after;
  int i;
  for (i = 0; i < 2; i++) {
    ptrdiff_t extent = (w->kernel[i + 1] - 1) * w->dilation[i + 1] + 1;
    stride[i] = w->stride[i + 1];
    dilation[i] = w->dilation[i + 1] - 1;
    before[i] = w->before[i + 1];
    after[i] = (c->out.size[i + 2] - 1) * stride[i] + extent -
               c->in.size[i + 2] - before[i];
  }
  return weight_desc(c, 0, &weight) &&
         dnnl_memory_desc_init_by_tag(&bias, 1, channels, dnnl_f32, dnnl_x) ==
             dnnl_success &&
         dnnl_dilated_convolution_forward_desc_init(
             &conv, dnnl_forward_inference, dnnl_convolution_direct, in,
             &weight, c->bias ? &bias : NULL, out, stride, dilation, before,
             after) == dnnl_success &&
         dnnl_primitive_desc_create(&l->description, &conv, NULL, l->engine,
                                    NULL) == dnnl_success &&
         dnnl_primitive_create(&l->primitive, l->description) == dnnl_success &&
         (!c->bias ||
          dnnl_memory_create(&l->bias, &bias, l->engine,
                             (void *)(uintptr_t)c->bias) == dnnl_success);
}

/* The weights in the order that oneDNN wants. */
static int pack_weights(struct layer *l, const struct conv *c) {
  const dnnl_memory_desc_t *wanted =
      dnnl_primitive_desc_query_md(l->description, dnnl_query_weights_md, 0);
  dnnl_memory_desc_t own;
  dnnl_exec_arg_t args[2];
  if (!wanted || !weight_desc(c, 1, &own) ||
      dnnl_memory_create(&l->weight, &own, l->engine,
                         (void *)(uintptr_t)c->weight) != dnnl_success)
    return 0;
  if (dnnl_memory_desc_equal(wanted, &own))
    return 1;
  if (dnnl_memory_create(&l->packed, wanted, l->engine, DNNL_MEMORY_ALLOCATE) !=
          dnnl_success ||
      dnnl_reorder_primitive_desc_create(&l->packing, &own, l->engine, wanted,
                                         l->engine, NULL) != dnnl_success ||
      dnnl_primitive_create(&l->packer, l->packing) != dnnl_success)
    return 0;
  args[0].arg = DNNL_ARG_FROM;
  args[0].memory = l->weight;
  args[1].arg = DNNL_ARG_TO;
  args[1].memory = l->packed;
  return dnnl_primitive_execute(l->packer, l->stream, 2, args) == dnnl_success;
}

static int run(struct layer *l) {
  dnnl_exec_arg_t args[4];
  args[0].arg = DNNL_ARG_SRC;
  args[0].memory = l->in;
  args[1].arg = DNNL_ARG_WEIGHTS;
  args[1].memory = l->packed ? l->packed : l->weight;
  args[2].arg = DNNL_ARG_DST;
  args[2].memory = l->out;
  args[3].arg = DNNL_ARG_BIAS;
  args[3].memory = l->bias;
  return dnnl_primitive_execute(l->primitive, l->stream, l->bias ? 4 : 3,
                                args) == dnnl_success &&
         dnnl_stream_wait(l->stream) == dnnl_success;
}

/* Below so many pixels packing the weights takes longer than it saves. */
enum { LEAST_PIXELS = 400 };

int netrt_onednn_conv(const struct conv *c) {
  struct layer l;
  dnnl_memory_desc_t in, out;
  int done;
  if (c->in.size[1] != 1 || c->window.kernel[0] != 1 ||
      c->window.before[0] != 0 ||
      c->out.size[0] * c->out.size[2] * c->out.size[3] < LEAST_PIXELS)
    return NOT_FOR_ME;
  memset(&l, 0, sizeof l);
  done =
      dnnl_engine_create(&l.engine, dnnl_cpu, 0) == dnnl_success &&
      dnnl_stream_create(&l.stream, l.engine, dnnl_stream_default_flags) ==
          dnnl_success &&
      map_desc(&c->in, &in) && map_desc(&c->out, &out) &&
      dnnl_memory_create(&l.in, &in, l.engine, c->in.data) == dnnl_success &&
      dnnl_memory_create(&l.out, &out, l.engine, c->out.data) == dnnl_success &&
      describe(&l, c, &in, &out) && pack_weights(&l, c) && run(&l);
  close_layer(&l);
  return done ? NETRT_OK : NOT_FOR_ME;
}

#else
typedef int netrt_onednn_is_off; /* a file is never empty */
#endif
