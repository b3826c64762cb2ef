/* Formulas: how each number of a row is computed. */
#include "codegen/formula.h"

struct formula {
  struct text *out;
  const struct compiled *c;
  const char *mark;
  size_t indent;
};

static void open_line(struct formula *f, const char *what) {
  text_fill(f->out, ' ', f->indent);
  text_printf(f->out, "%s%s", f->mark, what);
}

/* (3*3*3)*64: factors, with a group before or after `split`. */
static void put_factors(struct text *out, const struct term *term) {
  for (int i = 0; i < term->count; i++) {
    bool first = term->split > 1 && i == 0;
    bool second = term->count - term->split > 1 && i == term->split;
    bool closes = (term->split > 1 && i == term->split - 1) ||
                  (term->count - term->split > 1 && i == term->count - 1);
    if (i)
      text_putc(out, '*');
    if (first || second)
      text_putc(out, '(');
    text_int(out, term->factor[i]);
    if (closes)
      text_putc(out, ')');
  }
}

static void put_terms(struct formula *f, const char *what,
                      const struct terms *terms) {
  int64_t sum;
  if (terms->all.count == 0 || !terms_sum(terms, &sum))
    return;
  open_line(f, what);
  for (size_t i = 0; i < terms->all.count; i++) {
    if (i)
      text_put(f->out, " + ");
    put_factors(f->out, &terms->all.at[i]);
  }
  text_put(f->out, " = ");
  text_count(f->out, sum);
  text_putc(f->out, '\n');
}

/* floor((50 + 1 + 1 - 3) / 1) + 1 = 50, for each axis that differs. */
static void put_window(struct formula *f, const struct window *w,
                       const char *axis) {
  struct text *out = f->out;
  open_line(f, axis);
  text_printf(out, " %s((%lld", w->ceil ? "ceil" : "floor", (long long)w->in);
  if (w->before || w->after)
    text_printf(out, " + %lld + %lld", (long long)w->before,
                (long long)w->after);
  if (w->dilation > 1)
    text_printf(out, " - %lld*(%lld - 1) - 1", (long long)w->dilation,
                (long long)w->kernel);
  else
    text_printf(out, " - %lld", (long long)w->kernel);
  text_printf(out, ") / %lld) + 1 = %lld\n", (long long)w->stride,
              (long long)w->out);
}

/* (5 - 1)*2 - 1 - 1 + 3 + 1 = 10: PyTorch's ConvTranspose2d, whose padding is
 * cut off and whose output padding is added. */
static void put_spread(struct formula *f, const struct window *w,
                       const char *axis) {
  struct text *out = f->out;
  int64_t extent = w->dilation * (w->kernel - 1) + 1;
  int64_t rest =
      w->out - ((w->in - 1) * w->stride - w->before - w->after) - extent;
  open_line(f, axis);
  text_printf(out, " (%lld - 1)*%lld", (long long)w->in, (long long)w->stride);
  if (w->before || w->after)
    text_printf(out, " - %lld - %lld", (long long)w->before,
                (long long)w->after);
  if (w->dilation > 1)
    text_printf(out, " + %lld*(%lld - 1) + 1", (long long)w->dilation,
                (long long)w->kernel);
  else
    text_printf(out, " + %lld", (long long)w->kernel);
  if (rest)
    text_printf(out, " + %lld", (long long)rest);
  text_printf(out, " = %lld\n", (long long)w->out);
}

/* Padding of TensorFlow's SAME, by the size of the map: max((ceil(10 / 2) -
 * 1)*2 + 3 - 10, 0) = 1, 0 before and 1 after. */
static void put_same(struct formula *f, const struct window *w) {
  struct text *out = f->out;
  if (!w->same)
    return;
  open_line(f, "padding");
  text_printf(out, " max((ceil(%lld / %lld) - 1)*%lld", (long long)w->in,
              (long long)w->stride, (long long)w->stride);
  if (w->dilation > 1)
    text_printf(out, " + %lld*(%lld - 1) + 1", (long long)w->dilation,
                (long long)w->kernel);
  else
    text_printf(out, " + %lld", (long long)w->kernel);
  text_printf(out, " - %lld, 0) = %lld, %lld before and %lld after\n",
              (long long)w->in, (long long)(w->before + w->after),
              (long long)w->before, (long long)w->after);
}

static bool same_window(const struct window *a, const struct window *b) {
  return a->in == b->in && a->kernel == b->kernel && a->before == b->before &&
         a->after == b->after && a->stride == b->stride &&
         a->dilation == b->dilation && a->out == b->out;
}

static void put_axis(struct formula *f, const struct layer *layer,
                     const struct window *w, const char *axis) {
  if (!layer->kind->windows) {
    put_spread(f, w, axis);
    return;
  }
  put_same(f, w);
  put_window(f, w, axis);
}

static void put_windows(struct formula *f, const struct layer *layer) {
  static const char *const names[] = {"width", "height", "depth"};
  const struct layer_kind *kind = layer->kind;
  struct window w[3];
  bool spreads = kind->spreads && kind->params; /* not a copy of values */
  if (!kind->windows && !spreads)
    return;
  int count = spreads ? kind->spreads(layer, w) : kind->windows(layer, w);
  bool all_same = true;
  for (int i = 1; i < count; i++)
    all_same = all_same && same_window(&w[0], &w[i]);
  if (all_same) {
    put_axis(f, layer, &w[0], count == 1 ? "length" : "each side");
    return;
  }
  for (int i = 0; i < count; i++)
    put_axis(f, layer, &w[i], names[count - 1 - i]);
}

/* The term of a parameter, of all copies. */
static struct term param_term(const struct param *param, int64_t copies) {
  struct term term = {.count = param->rank, .split = param->rank - 1};
  for (int i = 0; i < param->rank; i++)
    term.factor[i] = param->dim[i];
  if (copies > 1) {
    term.split++;
    term.factor[term.count++] = copies;
  }
  return term;
}

static void put_params(struct formula *f, const struct layer *layer,
                       const struct node *node) {
  struct params params = {.arena = f->c->arena};
  int64_t copies = node->copies;
  struct terms own = {.arena = f->c->arena}, shared = own, buffers = own;
  if (!layer->kind->params)
    return;
  layer->kind->params(layer, &params);
  for (size_t i = 0; i < params.all.count; i++) {
    const struct param *param = &params.all.at[i];
    const struct model_param *stored =
        &f->c->model->params.at[node->first_param + i * (size_t)copies];
    terms_add(param->buffer    ? &buffers
              : stored->shared ? &shared
                               : &own,
              param_term(param, copies));
  }
  put_terms(f, "parameters ", &own);
  put_terms(f, "shared parameters ", &shared);
  put_terms(f, "buffers ", &buffers);
}

static void put_node(struct formula *f, int64_t index,
                     const struct shape **in) {
  const struct node *node = &f->c->model->nodes.at[index];
  struct layer layer = model_layer(f->c->model, index, in);
  struct terms macs = {.arena = f->c->arena};
  put_windows(f, &layer);
  put_params(f, &layer, node);
  if (layer.kind->macs)
    layer.kind->macs(&layer, &macs);
  put_terms(f, "MACs ", &macs);
}

void formula_put_row(struct text *out, const struct compiled *c,
                     const struct row *row, const char *mark, size_t indent) {
  struct formula f = {out, c, mark, indent};
  const struct shape **in = model_layer_room(c->model);
  if (row->group != NO_NODE)
    return; /* a folded group is the sum of its layers */
  for (int64_t i = row->first; i < row->end; i++)
    put_node(&f, i, in);
}
