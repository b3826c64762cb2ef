/*
 * NETRT_ONEDNN: convolutions and products by oneDNN 2 (Debian's libdnnl-dev),
 * called from fast kernels. All uses of its C interface are here, because
 * version 3 has another one. Its code and its copies of weights are made in the
 * first run and kept until netrt_close(). This memory and its threads are not
 * in the plan.
 */
#include "onednn.h"

#ifdef NETRT_ONEDNN

#include <dnnl.h>
#include <stdlib.h>
#include <string.h>

/* C = A B for rows with equal distances; C starts as the bias. */
int netrt_onednn_gemm(const struct gemm *g) {
  char transposed = g->b_step == 1 ? 'N' : 'T';
  ptrdiff_t row = g->b_step == 1 ? g->b_row : g->b_step, m;
  if (g->skip || g->rows || g->taps != 1 || (g->b_step != 1 && g->b_row != 1) ||
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

enum onednn_state { NEW, READY, REFUSED };

/* Kept for an operation. NULL: unused. */
struct onednn_layer {
  enum onednn_state state;
  dnnl_primitive_t primitive;
  dnnl_memory_t in, out, weight, bias, scratch;
};

/* Kept for a net: netrt.kept. */
struct kept {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_attr_t attributes;
  void *room; /* scratch memory shared by all operations */
  size_t room_bytes;
  uint32_t count;
  struct onednn_layer layers[]; /* by operation */
};

static void close_layer(struct onednn_layer *l) {
  dnnl_memory_t memories[5];
  int i;
  memories[0] = l->in;
  memories[1] = l->out;
  memories[2] = l->weight;
  memories[3] = l->bias;
  memories[4] = l->scratch;
  for (i = 0; i < 5; i++)
    if (memories[i])
      dnnl_memory_destroy(memories[i]);
  if (l->primitive)
    dnnl_primitive_destroy(l->primitive);
  memset(l, 0, sizeof *l);
}

void netrt_onednn_close(struct netrt *net) {
  struct kept *kept = net->kept;
  uint32_t i;
  if (!kept)
    return;
  net->kept = NULL;
  for (i = 0; i < kept->count; i++)
    close_layer(&kept->layers[i]);
  if (kept->attributes)
    dnnl_primitive_attr_destroy(kept->attributes);
  if (kept->stream)
    dnnl_stream_destroy(kept->stream);
  if (kept->engine)
    dnnl_engine_destroy(kept->engine);
  free(kept->room);
  free(kept);
}

/* If there is no memory, the portable kernels run. */
void netrt_onednn_open(struct netrt *net) {
  uint32_t count = net->model->op_count;
  struct kept *kept = calloc(1, sizeof *kept + count * sizeof *kept->layers);
  net->kept = kept;
  if (!kept)
    return;
  kept->count = count;
  /* oneDNN's own scratch memory would belong to one thread. */
  if (dnnl_engine_create(&kept->engine, dnnl_cpu, 0) != dnnl_success ||
      dnnl_stream_create(&kept->stream, kept->engine,
                         dnnl_stream_default_flags) != dnnl_success ||
      dnnl_primitive_attr_create(&kept->attributes) != dnnl_success ||
      dnnl_primitive_attr_set_scratchpad_mode(
          kept->attributes, dnnl_scratchpad_mode_user) != dnnl_success)
    netrt_onednn_close(net);
}

/* The entry of an operation whose weights are the net's; else NULL. */
static struct onednn_layer *layer_of(const struct netrt *net,
                                     const struct netrt_op *op) {
  struct kept *kept = net->kept;
  const struct netrt_operand *weight =
      &net->model->operands[op->operands + op->outs + 1];
  struct onednn_layer *l;
  if (!kept || weight->place != NETRT_IN_WEIGHTS)
    return NULL;
  l = &kept->layers[op - net->model->ops];
  return l->state == REFUSED ? NULL : l;
}

/* Operands of an operation as oneDNN's descriptions. */
struct onednn_parts {
  dnnl_memory_desc_t in, out, bias;
  dnnl_memory_desc_t weight;            /* in the net's order */
  dnnl_memory_desc_t any;               /* in any order */
  const float *weight_data, *bias_data; /* bias NULL: none */
};

static int init_strided(dnnl_memory_desc_t *desc, int rank,
                        const dnnl_dim_t *size, const dnnl_dim_t *stride) {
  return dnnl_memory_desc_init_by_strides(desc, rank, size, dnnl_f32, stride) ==
         dnnl_success;
}

static int init_any(dnnl_memory_desc_t *desc, int rank,
                    const dnnl_dim_t *size) {
  return dnnl_memory_desc_init_by_tag(desc, rank, size, dnnl_f32,
                                      dnnl_format_tag_any) == dnnl_success;
}

static int new_memory(dnnl_memory_t *memory, const dnnl_memory_desc_t *desc,
                      const struct kept *kept, const void *data) {
  return dnnl_memory_create(memory, desc, kept->engine,
                            (void *)(uintptr_t)data) == dnnl_success;
}

static int reorder(const struct kept *kept, const dnnl_memory_desc_t *from_desc,
                   dnnl_memory_t from, const dnnl_memory_desc_t *to_desc,
                   dnnl_memory_t to) {
  dnnl_primitive_desc_t packing = NULL;
  dnnl_primitive_t packer = NULL;
  dnnl_exec_arg_t args[2];
  int done;
  args[0].arg = DNNL_ARG_FROM;
  args[0].memory = from;
  args[1].arg = DNNL_ARG_TO;
  args[1].memory = to;
  done =
      dnnl_reorder_primitive_desc_create(&packing, from_desc, kept->engine,
                                         to_desc, kept->engine,
                                         NULL) == dnnl_success &&
      dnnl_primitive_create(&packer, packing) == dnnl_success &&
      dnnl_primitive_execute(packer, kept->stream, 2, args) == dnnl_success &&
      dnnl_stream_wait(kept->stream) == dnnl_success;
  if (packer)
    dnnl_primitive_destroy(packer);
  if (packing)
    dnnl_primitive_desc_destroy(packing);
  return done;
}

/* The weights in oneDNN's order: the net's, or a copy. */
static int pack_weights(const struct kept *kept, struct onednn_layer *l,
                        const_dnnl_primitive_desc_t made,
                        const struct onednn_parts *parts) {
  const dnnl_memory_desc_t *wanted =
      dnnl_primitive_desc_query_md(made, dnnl_query_weights_md, 0);
  dnnl_memory_t own = NULL;
  int done;
  if (!wanted || !new_memory(&own, &parts->weight, kept, parts->weight_data))
    return 0;
  if (dnnl_memory_desc_equal(wanted, &parts->weight)) {
    l->weight = own;
    return 1;
  }
  done = new_memory(&l->weight, wanted, kept, DNNL_MEMORY_ALLOCATE) &&
         reorder(kept, &parts->weight, own, wanted, l->weight);
  dnnl_memory_destroy(own);
  return done;
}

/* Scratch memory: the largest operation's serves all. */
static int take_room(struct kept *kept, struct onednn_layer *l,
                     const_dnnl_primitive_desc_t made) {
  const dnnl_memory_desc_t *wanted =
      dnnl_primitive_desc_query_md(made, dnnl_query_scratchpad_md, 0);
  size_t bytes = wanted ? dnnl_memory_desc_get_size(wanted) : 0;
  if (!bytes)
    return 1;
  if (bytes > kept->room_bytes) {
    void *room = malloc(bytes + NETRT_ALIGN);
    if (!room)
      return 0;
    free(kept->room);
    kept->room = room;
    kept->room_bytes = bytes;
  }
  return new_memory(&l->scratch, wanted, kept, DNNL_MEMORY_NONE);
}

enum { WIDE = 128 }; /* pixels of a line */

/* Measured without AVX-512: for windows of several pixels on wide lines, oneDNN
 * 2 is slower than the runtime's kernel. */
static int is_slow(const_dnnl_primitive_desc_t made,
                   const struct onednn_parts *parts) {
  const char *name = NULL;
  return parts->out.dims[3] >= WIDE &&
         dnnl_primitive_desc_query(made, dnnl_query_impl_info_str, 0,
                                   (void *)&name) == dnnl_success &&
         strcmp(name, "jit:avx2") == 0;
}

/* Creates the primitive. If oneDNN does not support it, it
 * is not tried again. */
static void make_layer(struct kept *kept, struct onednn_layer *l,
                       const_dnnl_op_desc_t what,
                       const struct onednn_parts *parts) {
  dnnl_primitive_desc_t made = NULL;
  int done = dnnl_primitive_desc_create(&made, what, kept->attributes,
                                        kept->engine, NULL) == dnnl_success &&
             !is_slow(made, parts) &&
             dnnl_primitive_create(&l->primitive, made) == dnnl_success &&
             new_memory(&l->in, &parts->in, kept, DNNL_MEMORY_NONE) &&
             new_memory(&l->out, &parts->out, kept, DNNL_MEMORY_NONE) &&
             (!parts->bias_data ||
              new_memory(&l->bias, &parts->bias, kept, parts->bias_data)) &&
             pack_weights(kept, l, made, parts) && take_room(kept, l, made);
  if (made)
    dnnl_primitive_desc_destroy(made);
  if (!done)
    close_layer(l);
  l->state = done ? READY : REFUSED;
}

static int run_layer(const struct kept *kept, const struct onednn_layer *l,
                     const float *in, float *out) {
  dnnl_exec_arg_t args[5];
  uintptr_t room = ((uintptr_t)kept->room + NETRT_ALIGN - 1) / NETRT_ALIGN;
  int count = 3;
  if (l->state != READY ||
      dnnl_memory_set_data_handle(l->in, (void *)(uintptr_t)in) !=
          dnnl_success ||
      dnnl_memory_set_data_handle(l->out, out) != dnnl_success ||
      (l->scratch &&
       dnnl_memory_set_data_handle(l->scratch, (void *)(room * NETRT_ALIGN)) !=
           dnnl_success))
    return NOT_FOR_ME;
  args[0].arg = DNNL_ARG_SRC;
  args[0].memory = l->in;
  args[1].arg = DNNL_ARG_WEIGHTS;
  args[1].memory = l->weight;
  args[2].arg = DNNL_ARG_DST;
  args[2].memory = l->out;
  if (l->bias) {
    args[count].arg = DNNL_ARG_BIAS;
    args[count++].memory = l->bias;
  }
  if (l->scratch) {
    args[count].arg = DNNL_ARG_SCRATCHPAD;
    args[count++].memory = l->scratch;
  }
  return dnnl_primitive_execute(l->primitive, kept->stream, count, args) ==
                     dnnl_success &&
                 dnnl_stream_wait(kept->stream) == dnnl_success
             ? NETRT_OK
             : NOT_FOR_ME;
}

/* With two spatial axes: batch, channels, height, width, with any strides. */
static int map_desc(const struct kernel_map *map, dnnl_memory_desc_t *desc) {
  dnnl_dims_t size = {map->size[0], map->size[4], map->size[2], map->size[3]};
  dnnl_dims_t stride = {map->stride[0], map->stride[4], map->stride[2],
                        map->stride[3]};
  return init_strided(desc, 4, size, stride);
}

/* (groups,) outputs, inputs, height, width. */
static int describe_weight(const struct kernel_conv *c,
                           struct onednn_parts *parts) {
  dnnl_dim_t groups = c->groups, outs = c->out.size[4] / groups;
  dnnl_dim_t ins = c->in.size[4] / groups;
  dnnl_dims_t size = {groups, outs, ins, c->window.kernel[1],
                      c->window.kernel[2]};
  dnnl_dims_t stride = {outs * c->out_stride, c->out_stride, c->in_stride,
                        c->tap_stride[1], c->tap_stride[2]};
  int skip = groups == 1;
  return init_strided(&parts->weight, 5 - skip, size + skip, stride + skip) &&
         init_any(&parts->any, 5 - skip, size + skip);
}

static int describe_conv(const struct kernel_conv *c,
                         struct onednn_parts *parts,
                         dnnl_convolution_desc_t *conv) {
  const struct kernel_window *w = &c->window;
  dnnl_dims_t channels = {c->out.size[4]}, one = {1};
  dnnl_dims_t stride, dilation, before, after;
  int i;
  for (i = 0; i < 2; i++) {
    ptrdiff_t extent = (w->kernel[i + 1] - 1) * w->dilation[i + 1] + 1;
    stride[i] = w->stride[i + 1];
    dilation[i] = w->dilation[i + 1] - 1;
    before[i] = w->before[i + 1];
    after[i] = (c->out.size[i + 2] - 1) * stride[i] + extent -
               c->in.size[i + 2] - before[i];
  }
  parts->weight_data = c->weight;
  parts->bias_data = c->bias;
  return map_desc(&c->in, &parts->in) && map_desc(&c->out, &parts->out) &&
         describe_weight(c, parts) &&
         init_strided(&parts->bias, 1, channels, one) &&
         dnnl_dilated_convolution_forward_desc_init(
             conv, dnnl_forward_inference, dnnl_convolution_direct, &parts->in,
             &parts->any, c->bias ? &parts->bias : NULL, &parts->out, stride,
             dilation, before, after) == dnnl_success;
}

int netrt_onednn_conv(const struct netrt *net, const struct netrt_op *op,
                      const struct kernel_conv *c) {
  struct onednn_layer *l = layer_of(net, op);
  struct onednn_parts parts;
  dnnl_convolution_desc_t conv;
  if (!l || c->skip.data || c->in.size[1] != 1 || c->window.kernel[0] != 1 ||
      c->window.before[0] != 0)
    return NOT_FOR_ME;
  if (l->state == NEW && describe_conv(c, &parts, &conv))
    make_layer(net->kept, l, &conv, &parts);
  return run_layer(net->kept, l, c->in.data, c->out.data);
}

/* Rows are pixels of one line, and the product is a 1 x 1 convolution: oneDNN 2
 * packs the weights of products in each run, except with AVX-512. */
static int describe_linear(const struct gemm *g, struct onednn_parts *parts,
                           dnnl_convolution_desc_t *conv) {
  dnnl_dims_t in = {1, g->ins, 1, g->m}, out = {1, g->n, 1, g->m};
  dnnl_dims_t in_stride = {g->m * g->a_row, 1, g->m * g->a_row, g->a_row};
  dnnl_dims_t out_stride = {g->m * g->out_row, 1, g->m * g->out_row,
                            g->out_row};
  dnnl_dims_t weight = {g->n, g->ins, 1, 1};
  dnnl_dims_t weight_stride = {g->b_step, g->b_row, 1, 1};
  dnnl_dims_t channels = {g->n}, one = {1, 1}, none = {0, 0};
  parts->weight_data = g->b;
  parts->bias_data = g->bias;
  return init_strided(&parts->in, 4, in, in_stride) &&
         init_strided(&parts->out, 4, out, out_stride) &&
         init_strided(&parts->weight, 4, weight, weight_stride) &&
         init_strided(&parts->bias, 1, channels, one) &&
         init_any(&parts->any, 4, weight) &&
         dnnl_convolution_forward_desc_init(
             conv, dnnl_forward_inference, dnnl_convolution_direct, &parts->in,
             &parts->any, g->bias ? &parts->bias : NULL, &parts->out, one, none,
             none) == dnnl_success;
}

/* One row reads the weights once in order: a packed copy gains nothing. */
int netrt_onednn_linear(const struct netrt *net, const struct netrt_op *op,
                        const struct gemm *g) {
  struct onednn_layer *l = layer_of(net, op);
  struct onednn_parts parts;
  dnnl_convolution_desc_t conv;
  if (!l || g->skip || g->m == 1 || g->a_row < g->ins || g->out_row < g->n)
    return NOT_FOR_ME;
  if (l->state == NEW && describe_linear(g, &parts, &conv))
    make_layer(net->kept, l, &conv, &parts);
  return run_layer(net->kept, l, g->a, g->out);
}

#else
typedef int netrt_onednn_is_off; /* an empty file is not valid C */
#endif
