/* Layers that view values in another shape, or move them. */
#include "layers/split.h"
#include "codegen/torch/form.h"

/* The output shares memory with the input, which others may read. */
static void view(struct torch_form *f, struct torch_seen order) {
  bool views = f->in[0].views || !f->alone;
  f->out = order;
  f->out.views = views;
}

static bool is_float(const struct torch_form *f) {
  return f->layer->out.dtype == DTYPE_FLOAT;
}

/* Makes a vector; a former map in the order that weight files expect. */
static void to_vector(struct torch_form *f) {
  const struct shape *map = f->maps->vector[f->index];
  struct torch_seen flat = {.order = ORDER_FLAT, .map = map};
  if (f->layer->in[0]->rank == 1) {
    CALL(f, "%c", form_in(f, 0, f->in[0]));
    view(f, f->in[0]);
    return;
  }
  struct torch_seen lies = map && is_float(f) ? FIRST : LAST;
  if (form_flat_anyhow(f->layer->in[0]))
    lies = f->in[0];
  CALL(f, "%c.flatten(1)", form_on(f, 0, lies));
  view(f, map && is_float(f) ? flat : LAST);
}

/* True for a vector that was a map, channels first. */
static bool is_map_again(const struct torch_form *f) {
  return f->in[0].order == ORDER_FLAT && f->layer->out.rank > 2 &&
         shape_equal(f->in[0].map, &f->layer->out);
}

/* Merges axes by flatten(), from the last on, so that no size is written. */
static bool put_merged(struct torch_form *f) {
  const struct shape *in = f->layer->in[0], *out = &f->layer->out;
  int end[LIMIT_RANK], at = 0;
  for (int i = 0; i < out->rank; i++) {
    int64_t size = 1;
    do
      size *= at < in->rank ? in->dim[at++] : 0;
    while (size > 0 && size < out->dim[i]);
    if (size != out->dim[i])
      return false;
    while (i + 1 < out->rank && out->dim[i + 1] != 1 && at + 1 < in->rank &&
           in->dim[at] == 1)
      at++; /* an axis of 1 merges with the axes before it */
    end[i] = at;
  }
  if (at != in->rank || in->rank == out->rank)
    return false;
  CALL(f, "%c", form_on(f, 0, LAST));
  for (int i = out->rank; i-- > 0;) {
    int begin = i ? end[i - 1] : 0;
    if (end[i] - begin > 1)
      CALL(f, ".flatten(%d, %d)", (int64_t)begin + 1, (int64_t)end[i]);
  }
  view(f, LAST);
  return true;
}

/* Writes the positions of a map as a sequence. */
static bool put_positions(struct torch_form *f) {
  const struct shape *in = f->layer->in[0], *out = &f->layer->out;
  if (f->in[0].order != ORDER_FIRST || in->rank < 3 || out->rank != 2 ||
      shape_channels(in) != shape_channels(out))
    return false;
  CALL(f, "%c.flatten(2).transpose(1, 2)", form_on(f, 0, FIRST));
  view(f, LAST);
  return true;
}

void form_reshape(struct torch_form *f) {
  const struct shape *out = &f->layer->out;
  int64_t sizes[LIMIT_RANK + 1];
  bool again = is_map_again(f);
  if (out->rank == 1) {
    to_vector(f);
    return;
  }
  if (shape_equal(out, f->layer->in[0])) {
    CALL(f, "%c", form_in(f, 0, f->in[0]));
    view(f, f->in[0]);
    return;
  }
  if (!again && (put_positions(f) || put_merged(f)))
    return;
  for (int i = 0; i < out->rank; i++)
    sizes[form_dim(out, i, again ? ORDER_FIRST : ORDER_LAST)] = out->dim[i];
  CALL(f, "%c", form_on(f, 0, again ? f->in[0] : LAST));
  form_reshaped(&f->call, sizes + 1, out->rank);
  view(f, again ? FIRST : LAST);
}

void form_permute(struct torch_form *f) {
  const struct axes *order = form_axes(f, "axes");
  const struct shape *in = f->layer->in[0];
  enum torch_order lies = in->rank > 1 ? f->in[0].order : ORDER_LAST;
  CALL(f, "%c.permute(0", form_on(f, 0, in->rank > 1 ? f->in[0] : LAST));
  for (int i = 0; i < order->count; i++) {
    int axis = axis_index(order->at[i], in);
    CALL(f, ", %d", (int64_t)form_dim(in, axis, lies));
  }
  CALL(f, ")");
  view(f, LAST);
}

/*
 * [:, 3:5] or [..., 3:5]; `from` and the output have netc's axes. Each `:` is a
 * view whose backward makes a tensor as large as the whole: applySlicing() of
 * torch/csrc/autograd/python_variable_indexing.cpp.
 */
static void part(struct torch_form *f, const int64_t *from) {
  const struct shape *in = f->layer->in[0], *out = &f->layer->out;
  struct torch_seen lies = in->rank > 1 ? f->in[0] : LAST;
  int last = 0, cuts = 0;
  int axis_of[LIMIT_RANK + 1] = {0};
  for (int i = 0; i < in->rank; i++) {
    int dim = form_dim(in, i, lies.order);
    axis_of[dim] = i;
    cuts += out->dim[i] != in->dim[i];
    if (out->dim[i] != in->dim[i] && dim > last)
      last = dim;
  }
  bool alone = cuts == 1 && last == in->rank;
  CALL(f, "%c", last ? form_on(f, 0, lies) : form_in(f, 0, lies));
  if (alone)
    CALL(f, "[...");
  for (int dim = alone ? last : 0; last && dim <= last; dim++) {
    int i = axis_of[dim];
    bool whole = dim == 0 || out->dim[i] == in->dim[i];
    CALL(f, dim ? ", " : "[");
    if (whole)
      CALL(f, ":");
    else
      CALL(f, "%i:%i", "begin", from[i], "end", from[i] + out->dim[i]);
  }
  if (last)
    CALL(f, "]");
  view(f, lies);
}

void form_slice(struct torch_form *f) {
  const struct range *range = form_range(f, "range");
  int64_t from[LIMIT_RANK] = {0};
  int axis = axis_index(form_axes(f, "axis")->at[0], f->layer->in[0]);
  if (range->from != SIZE_ANY)
    from[axis] = range->from;
  part(f, from);
}

/* Sums the sizes of the parts before this one. */
void form_part(struct torch_form *f) {
  const struct part *of = f->layer->args;
  const struct numbers *parts = &of->split->parts;
  int64_t from[LIMIT_RANK] = {0};
  int axis = axis_index(of->split->axis.at[0], f->layer->in[0]);
  if (parts->count == 1)
    from[axis] = f->layer->out.dim[axis] * (of->index - 1);
  for (int i = 0; parts->count > 1 && i + 1 < of->index; i++)
    from[axis] += parts->at[i];
  part(f, from);
}

void form_detach(struct torch_form *f) {
  CALL(f, "%c.detach()", form_on(f, 0, f->in[0]));
  f->out.views = true;
}

void form_topk(struct torch_form *f) {
  const struct axes *axes = form_axes(f, "axis");
  const struct shape *in = f->layer->in[0];
  int axis = axes->count ? axis_index(axes->at[0], in) : in->rank - 1;
  struct torch_seen seen = in->rank > 1 ? f->in[0] : LAST;
  CALL(f, "%c.topk(%v, %d%s)[%d]", form_on(f, 0, seen), "count",
       form_number(f, form_int(f, "count")),
       (int64_t)form_dim(in, axis, seen.order),
       form_word(f, "smallest") ? ", largest=False" : "",
       (int64_t)(form_word(f, "indices") != 0));
  f->out = seen;
  f->out.views = false;
}

/* Repeats indices for all values of a row. */
void form_gather(struct torch_form *f) {
  const struct shape *in = f->layer->in[0];
  CALL(f, "%c.gather(1, %c", form_on(f, 0, LAST), form_on(f, 1, LAST));
  if (in->rank > 1) {
    CALL(f, "[:, :");
    for (int i = 1; i < in->rank; i++)
      CALL(f, ", None");
    CALL(f, "].repeat(1, 1");
    for (int i = 1; i < in->rank; i++)
      CALL(f, ", %d", in->dim[i]);
    CALL(f, ")");
  }
  CALL(f, ")");
  f->out = LAST;
}

void form_crop(struct torch_form *f) {
  int64_t from[LIMIT_RANK] = {0};
  for (int i = 0; i < f->layer->out.rank; i++)
    from[i] = (f->layer->in[0]->dim[i] - f->layer->out.dim[i]) / 2;
  part(f, from);
}

void form_pad(struct torch_form *f) {
  static const char *const modes[] = {"", "", ", mode=\"reflect\"",
                                      ", mode=\"replicate\"",
                                      ", mode=\"circular\""};
  const struct padding *pad = form_padding(f, "pad");
  const struct padding *channels = form_padding(f, "c");
  int axes = shape_spatial(f->layer->in[0]);
  int64_t before[4] = {0}, after[4] = {0};
  bool more = channels->mode == PADDING_GIVEN; /* channels come first */
  if (more) {
    before[0] = size_at(&channels->before, 0, 0);
    after[0] = size_at(&channels->after, 0, 0);
  }
  for (int i = 0; i < axes; i++) {
    before[i + more] = size_at(&pad->before, i, 0);
    after[i + more] = size_at(&pad->after, i, 0);
  }
  f->out = FIRST;
  CALL(f, "F.pad(%c, %v%s)", form_in(f, 0, FIRST), "pad",
       form_pads(f, before, after, axes + more), modes[form_word(f, "mode")]);
}

void form_roll(struct torch_form *f) {
  const struct shape *in = f->layer->in[0];
  int axes = shape_spatial(in);
  int64_t shifts[3], dims[3];
  for (int i = 0; i < axes; i++) {
    shifts[i] = size_at(form_sizes(f, "shift"), i, 0);
    dims[i] = form_dim(in, i, f->in[0].order);
  }
  CALL(f, "torch.roll(%c, %v, %S)", form_in(f, 0, f->in[0]), "shifts",
       form_list(f, shifts, axes), form_list(f, dims, axes));
}

void form_shuffle(struct torch_form *f) {
  struct torch_seen lies = f->layer->in[0]->rank > 1 ? FIRST : LAST;
  CALL(f, "%c.unflatten(1, (%i, -1)).transpose(1, 2).flatten(1, 2)",
       form_on(f, 0, lies), "groups", form_int(f, "groups"));
  view(f, lies);
}

/* PyTorch's functions have two spatial axes; others are permuted. */
static void put_permute(struct torch_form *f, const int64_t *order, int count) {
  CALL(f, ".permute%S", form_list(f, order, count));
}

/* N, C * b.., L.. to N, C, L, b, .. */
void form_pixelshuffle(struct torch_form *f) {
  int axes = shape_spatial(f->layer->in[0]);
  int64_t by = form_int(f, "factor");
  int64_t blocks[4] = {-1, by, by, by}, order[8] = {0, 1};
  if (axes == 2) {
    f->out = FIRST;
    CALL(f, "F.pixel_shuffle(%c, %i)", form_in(f, 0, FIRST), "factor", by);
    return;
  }
  for (int i = 0; i < axes; i++) {
    order[2 + 2 * i] = 2 + axes + i;
    order[3 + 2 * i] = 2 + i;
  }
  CALL(f, "%c.unflatten(1, %v)", form_on(f, 0, FIRST), "blocks",
       form_list(f, blocks, axes + 1));
  put_permute(f, order, 2 * axes + 2);
  for (int i = 0; i < axes; i++)
    CALL(f, ".flatten(%d, %d)", (int64_t)(2 + i), (int64_t)(3 + i));
  view(f, FIRST);
}

/* N, C, L * b.. to N, C, b.., L.. */
void form_space2depth(struct torch_form *f) {
  int axes = shape_spatial(f->layer->in[0]);
  int64_t by = form_int(f, "factor");
  int64_t block[2] = {-1, by}, order[8] = {0, 1};
  if (axes == 2) {
    f->out = FIRST;
    CALL(f, "F.pixel_unshuffle(%c, %i)", form_in(f, 0, FIRST), "factor", by);
    return;
  }
  CALL(f, "%c", form_on(f, 0, FIRST));
  for (int i = 0; i < axes; i++) {
    CALL(f, ".unflatten(%d, %v)", (int64_t)(2 + 2 * i), "block",
         form_list(f, block, 2));
    order[2 + i] = 3 + 2 * i;
    order[2 + axes + i] = 2 + 2 * i;
  }
  put_permute(f, order, 2 * axes + 2);
  CALL(f, ".flatten(1, %d)", (int64_t)(1 + axes));
  view(f, FIRST);
}

/* PyTorch takes a fractional factor itself and uses it for the step. */
void form_up(struct torch_form *f) {
  static const char *const linear[] = {"linear", "bilinear", "trilinear"};
  const struct scale_by *by = form_scale_by(f, "scale");
  const struct sizes *size = form_sizes(f, "size");
  int axes = shape_spatial(f->layer->in[0]);
  int64_t scale[3];
  for (int i = 0; i < axes; i++)
    scale[i] = size_at(size->rank ? size : &by->whole, i, 1);
  f->out = FIRST;
  CALL(f, "F.interpolate(%c, %s=%v", form_in(f, 0, FIRST),
       size->rank ? "size" : "scale_factor", "scale",
       by->real > 0 ? form_decimal(f, by->real) : form_tuple(f, scale, axes));
  if (form_word(f, "mode") > 1)
    CALL(f, ", mode=\"%s\"",
         form_word(f, "mode") == 2 ? linear[axes - 1] : "bicubic");
  CALL(f, ")");
}
