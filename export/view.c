/* Views: creates tensors with requested axes from a block of values. */
#include <stdarg.h>

#include "export/export.h"

enum { COST_MOVE = 8 }; /* of a Transpose, relative to a Reshape or Slice */

/* A digit of an existing tensor; `take` indices from `start` on are read. */
struct cell {
  int64_t size, start, take, step;
  int axis;  /* of the existing tensor */
  int order; /* among the wanted atoms; -1: a single place */
};

/* Steps from an existing tensor to the wanted one. */
struct onnx_fitting {
  const struct onnx_rendering *from;
  struct cell cell[LAYOUT_RANK];
  int count;
  bool parts, slices, moves, reshapes;
  int64_t cost;
};

/* A wanted atom as pieces of existing atoms. */
struct wish {
  struct onnx_piece piece;
  int order;
};

value_id onnx_refuse(struct exporting *x, const char *format, ...) {
  va_list args;
  struct text text = text_new(x->arena);
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  if (!x->why)
    x->why = arena_copy(x->arena, text.at, text.length);
  return NO_VALUE;
}

/* Bytes of the atoms and sizes, without unused ones. */
static struct slice layout_key(struct exporting *x,
                               const struct onnx_layout *at) {
  struct text *key = &x->model.key;
  const int64_t head[] = {at->rank, at->count, at->first};
  key->arena = x->arena;
  key->length = 0;
  text_bytes(key, (const char *)head, sizeof head);
  text_bytes(key, (const char *)at->dim, (size_t)at->rank * sizeof *at->dim);
  for (int i = 0; i < at->count; i++) {
    const struct onnx_atom *atom = &at->atom[i];
    const int64_t numbers[] = {atom->size, atom->stride, atom->axis};
    text_bytes(key, (const char *)numbers, sizeof numbers);
  }
  return text_slice(key);
}

void onnx_show(struct exporting *x, struct onnx_block *block, value_id value,
               const struct onnx_layout *at, bool whole) {
  struct slice key = layout_key(x, at);
  struct map_entry *entry = map_add(x->arena, &x->layouts, key);
  if (!entry->pointer) {
    struct onnx_layout *copy = ARENA_NEW(x->arena, struct onnx_layout);
    *copy = *at;
    entry->key.at = arena_copy(x->arena, key.at, key.length);
    entry->pointer = copy;
  }
  VEC_RESERVE(x->arena, &block->seen, 0);
  *VEC_PUSH(x->arena, &block->seen) =
      (struct onnx_rendering){value, entry->pointer, whole};
}

void view_sizes(const struct view *view, int64_t *dims) {
  for (int i = 0; i < view->at.rank; i++)
    dims[i] = 1;
  for (int i = 0; i < view->at.count; i++)
    if (view->at.atom[i].stride)
      dims[view->at.atom[i].axis] *= view->at.atom[i].size;
}

bool view_mixes(const struct view *view) {
  int64_t sizes[LAYOUT_RANK];
  view_sizes(view, sizes);
  for (int i = 0; i < view->at.rank; i++)
    if (sizes[i] != 1 && sizes[i] != view->at.dim[i])
      return true;
  return false;
}

/* Fitting */

static int find_wishes(const struct onnx_layout *have,
                       const struct onnx_layout *want, struct wish *wishes) {
  int count = 0;
  for (int i = 0; i < want->count; i++) {
    struct onnx_piece pieces[LAYOUT_ATOMS];
    if (want->atom[i].stride == 0)
      continue;
    int made = layout_pieces(have->atom, have->count, want->atom[i].size,
                             want->atom[i].stride, pieces);
    if (made == 0 || count + made > LAYOUT_ATOMS)
      return -1;
    for (int k = 0; k < made; k++) {
      wishes[count] = (struct wish){pieces[k], count};
      count++;
    }
  }
  return count;
}

/* The wishes for one digit, largest step first. */
static int of_digit(const struct wish *wishes, int count, int digit,
                    struct wish *found) {
  int made = 0;
  for (int i = 0; i < count; i++) {
    int at = made;
    if (wishes[i].piece.digit != digit)
      continue;
    while (at > 0 && found[at - 1].piece.step < wishes[i].piece.step) {
      found[at] = found[at - 1];
      at--;
    }
    found[at] = wishes[i];
    made++;
  }
  return made;
}

static bool add_cell(struct onnx_fitting *f, struct cell cell) {
  if (cell.size == 1)
    return cell.start == 0 && cell.take == 1;
  if (f->count == LAYOUT_RANK || cell.take < 1 ||
      cell.start + (cell.take - 1) * cell.step >= cell.size)
    return false;
  f->cell[f->count++] = cell;
  return true;
}

/* Splits an atom into cells: one for each wish, and the rest. */
static bool part_atom(struct onnx_fitting *f, const struct onnx_atom *atom,
                      const struct wish *wishes, int count, int64_t place) {
  int64_t size = atom->size;
  if (count == 1) {
    const struct onnx_piece *piece = &wishes[0].piece;
    return add_cell(f, (struct cell){size, place, piece->size, piece->step,
                                     atom->axis, wishes[0].order});
  }
  for (int i = 0; i < count; i++) {
    int64_t step = wishes[i].piece.step;
    if (size % step != 0 ||
        !add_cell(f,
                  (struct cell){size / step, place / step, wishes[i].piece.size,
                                1, atom->axis, wishes[i].order}))
      return false;
    place %= step;
    size = step;
  }
  return add_cell(f, (struct cell){size, place, 1, 1, atom->axis, -1});
}

static void look(struct onnx_fitting *f, const struct view *want) {
  const struct onnx_layout *have = f->from->at;
  int64_t now[LAYOUT_RANK], then[LAYOUT_RANK];
  int order = -1;
  f->parts = f->slices = f->moves = false;
  for (int i = 0; i < have->rank; i++)
    now[i] = 1;
  for (int i = 0; i < f->count; i++) {
    const struct cell *cell = &f->cell[i];
    f->parts = f->parts || (i && cell->axis == f->cell[i - 1].axis);
    f->slices = f->slices || cell->take != cell->size;
    f->moves = f->moves || (cell->order >= 0 && cell->order < order);
    if (cell->order >= 0)
      order = cell->order;
    now[cell->axis] *= cell->take;
  }
  view_sizes(want, then);
  f->reshapes = have->rank != want->at.rank;
  for (int i = 0; i < have->rank && !f->reshapes; i++)
    f->reshapes = now[i] != then[i];
  f->parts = f->parts && (f->slices || f->moves);
  f->cost = f->parts + f->slices + (f->moves ? COST_MOVE : f->reshapes);
}

static bool fit(const struct onnx_rendering *from, const struct view *want,
                struct onnx_fitting *f) {
  struct wish wishes[LAYOUT_ATOMS], of[LAYOUT_ATOMS];
  int64_t place = want->at.first;
  *f = (struct onnx_fitting){.from = from};
  if (!from->whole)
    return layout_equal(from->at, &want->at);
  int count = find_wishes(from->at, &want->at, wishes);
  if (count < 0)
    return false;
  for (int i = 0; i < from->at->count; i++) {
    const struct onnx_atom *atom = &from->at->atom[i];
    int made = of_digit(wishes, count, i, of);
    if (!part_atom(f, atom, of, made, place / atom->stride % atom->size))
      return false;
  }
  look(f, want);
  return true;
}

static bool find_fitting(const struct view *want, struct onnx_fitting *best) {
  bool found = false;
  for (size_t i = 0; i < want->of->seen.count; i++) {
    struct onnx_fitting f;
    if (!fit(&want->of->seen.at[i], want, &f))
      continue;
    if (!found || f.cost < best->cost)
      *best = f;
    found = true;
  }
  return found;
}

/* Making */

/* A tensor between steps: its axes are cells; -1: an axis of size 1. */
struct onnx_making {
  struct exporting *x;
  value_id value;
  int rank;
  int64_t dim[LAYOUT_RANK];
  int cell[LAYOUT_RANK];
};

static enum onnx_element type_of(const struct exporting *x, value_id value) {
  return model_at(&x->model, value)->type;
}

static void reshape(struct onnx_making *m, int rank, const int64_t *dims) {
  struct onnx_model *model = &m->x->model;
  value_id ins[2] = {m->value, model_numbers(model, dims, rank)};
  m->value =
      model_node(model, "Reshape", type_of(m->x, m->value), rank, dims, ins, 2);
  m->rank = rank;
  memcpy(m->dim, dims, (size_t)rank * sizeof *dims);
}

static void begin(struct onnx_making *m, const struct onnx_fitting *f) {
  const struct onnx_layout *have = f->from->at;
  int64_t dims[LAYOUT_RANK];
  m->value = f->from->value;
  m->rank = have->rank;
  for (int i = 0; i < have->rank; i++) {
    m->dim[i] = have->dim[i];
    m->cell[i] = -1;
  }
  for (int i = 0; i < f->count && !f->parts; i++)
    m->cell[f->cell[i].axis] = i;
  if (!f->parts)
    return;
  for (int i = 0; i < f->count; i++) {
    dims[i] = f->cell[i].size;
    m->cell[i] = i;
  }
  reshape(m, f->count, dims);
}

static void slice(struct onnx_making *m, const struct onnx_fitting *f) {
  int64_t starts[LAYOUT_RANK], ends[LAYOUT_RANK], axes[LAYOUT_RANK],
      steps[LAYOUT_RANK];
  int count = 0;
  bool strided = false;
  for (int i = 0; i < m->rank; i++) {
    const struct cell *cell = m->cell[i] < 0 ? NULL : &f->cell[m->cell[i]];
    if (!cell || cell->take == cell->size)
      continue;
    starts[count] = cell->start;
    ends[count] = cell->start + (cell->take - 1) * cell->step + 1;
    axes[count] = i;
    strided = strided || cell->step != 1;
    steps[count++] = cell->step;
    m->dim[i] = cell->take;
  }
  struct onnx_model *model = &m->x->model;
  value_id ins[5] = {m->value, model_numbers(model, starts, count),
                     model_numbers(model, ends, count),
                     model_numbers(model, axes, count), NO_VALUE};
  if (strided)
    ins[4] = model_numbers(model, steps, count);
  m->value = model_node(model, "Slice", type_of(m->x, m->value), m->rank,
                        m->dim, ins, 5);
}

/* The axis with the piece of that order, or -1. */
static int axis_with(const struct onnx_making *m, const struct onnx_fitting *f,
                     int order) {
  for (int i = 0; i < m->rank; i++)
    if (m->cell[i] >= 0 && f->cell[m->cell[i]].order == order)
      return i;
  return -1;
}

/* The next axis of size 1; placing it in a Transpose saves a Reshape. */
static int next_single(const struct onnx_making *m,
                       const struct onnx_fitting *f, const bool *used) {
  for (int i = 0; i < m->rank; i++)
    if (!used[i] && (m->cell[i] < 0 || f->cell[m->cell[i]].order < 0))
      return i;
  return -1;
}

static void move(struct onnx_making *m, const struct onnx_fitting *f,
                 const struct view *want) {
  int64_t order[LAYOUT_RANK], dims[LAYOUT_RANK], sizes[LAYOUT_RANK];
  bool used[LAYOUT_RANK] = {false};
  int made = 0, piece = 0;
  view_sizes(want, sizes);
  for (int i = 0; i < want->at.rank; i++) {
    int single = sizes[i] == 1 ? next_single(m, f, used) : -1;
    if (single >= 0) {
      used[single] = true;
      order[made++] = single;
    }
    for (int64_t all = 1; all < sizes[i];) {
      int axis = axis_with(m, f, piece++);
      all *= f->cell[m->cell[axis]].take;
      used[axis] = true;
      order[made++] = axis;
    }
  }
  for (int i = 0; i < m->rank; i++)
    if (!used[i])
      order[made++] = i;
  for (int i = 0; i < m->rank; i++)
    dims[i] = m->dim[order[i]];
  m->value = model_node(&m->x->model, "Transpose", type_of(m->x, m->value),
                        m->rank, dims, &m->value, 1);
  model_ints(&m->x->model, "perm", order, (size_t)m->rank);
  memcpy(m->dim, dims, sizeof dims);
}

static bool has_sizes(const struct onnx_making *m, int rank,
                      const int64_t *dims) {
  bool same = m->rank == rank;
  for (int i = 0; i < rank && same; i++)
    same = m->dim[i] == dims[i];
  return same;
}

static void keep(struct exporting *x, const struct view *view,
                 const struct onnx_fitting *f, value_id value) {
  bool whole = f->from && !f->slices && f->from->whole;
  for (int i = 0; i < view->at.count; i++)
    whole = whole && view->at.atom[i].stride != 0;
  onnx_show(x, view->of, value, &view->at, whole);
}

void onnx_settle(struct exporting *x, const struct view *view) {
  struct onnx_block *block = view->of;
  if (block->input == NO_VALUE)
    return;
  struct model_value *value = &x->model.values.at[block->input];
  struct onnx_layout lies = layout_dense(value->rank, value->dim);
  struct onnx_layout first = layout_channels_first(&lies);
  if (value->rank == 3 && layout_equal(&view->at, &first))
    lies = first;
  memcpy(value->dim, lies.dim, (size_t)value->rank * sizeof *value->dim);
  onnx_show(x, block, block->input, &lies, true);
  block->input = NO_VALUE;
}

/* Tries the whole block as one flat axis. */
static bool get_dense(struct exporting *x, const struct view *view,
                      struct onnx_fitting *f) {
  struct view dense = {.of = view->of};
  if (view->of->seen.count == 0)
    return false;
  const struct onnx_layout *have = view->of->seen.at[0].at;
  int64_t values = layout_values(have);
  dense.at = layout_dense(1, &values);
  if (!find_fitting(&dense, f))
    return false;
  /* Create it only if it helps. */
  struct onnx_rendering flat = {.at = &dense.at, .whole = true};
  return fit(&flat, view, f) && onnx_get(x, &dense) != NO_VALUE &&
         find_fitting(view, f);
}

/* Overlapping windows: gathers each value by its place in the sample. */
static value_id get_picked(struct exporting *x, const struct view *view) {
  int64_t total =
      view->of->seen.count ? layout_values(view->of->seen.at[0].at) : 0;
  int64_t batch = view->at.dim[0], count;
  int64_t dims[LAYOUT_RANK], shape[2] = {batch, total / batch};
  const int64_t *inner = view->at.dim + 1, axis = 1;
  struct view flat = {.of = view->of, .at = layout_dense(2, shape)};
  int rank = view->at.rank - 1;
  bool by_sample = view->at.rank > 1 && total > 0 && total % batch == 0 &&
                   (batch == 1 || (view->at.atom[0].axis == 0 &&
                                   view->at.atom[0].size == batch &&
                                   view->at.atom[0].stride == shape[1]));
  if (!by_sample)
    return onnx_refuse(x, "no operator produces the layout that it reads");
  if (!onnx_constant_size(x, rank, inner, &count))
    return NO_VALUE;
  int64_t *places = arena_alloc(x->arena, (size_t)count + 1, sizeof *places);
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i;
    places[i] = view->at.first;
    for (int k = view->at.count; k-- > 0 && view->at.atom[k].axis > 0;) {
      places[i] += rest % view->at.atom[k].size * view->at.atom[k].stride;
      rest /= view->at.atom[k].size;
    }
  }
  value_id ins[2] = {onnx_get(x, &flat), model_tensor(&x->model, ELEMENT_INT64,
                                                      rank, inner, places)};
  if (ins[0] == NO_VALUE)
    return NO_VALUE;
  memcpy(dims, view->at.dim, sizeof dims);
  value_id y = model_node(&x->model, "Gather", type_of(x, ins[0]),
                          view->at.rank, dims, ins, 2);
  model_int(&x->model, "axis", axis);
  return y;
}

/* Atoms that are not repeated, largest strides first. */
static int by_stride(const struct onnx_layout *at, int *order) {
  int count = 0;
  for (int i = 0; i < at->count; i++) {
    int to = count;
    if (at->atom[i].stride == 0)
      continue;
    for (; to > 0 && at->atom[order[to - 1]].stride < at->atom[i].stride; to--)
      order[to] = order[to - 1];
    order[to] = i;
    count++;
  }
  return count;
}

/*
 * A contiguous part with axes that begin at no axis of the block: rows 1 to 9
 * as 2 x 4 rows. The part becomes a block.
 */
static value_id get_part(struct exporting *x, const struct view *view) {
  struct view run = {.of = view->of, .at = {.first = view->at.first}};
  struct onnx_block *part = arena_alloc(x->arena, 1, sizeof *part);
  struct view as = {part, view->at};
  int order[LAYOUT_ATOMS], count = by_stride(&view->at, order);
  int64_t stride = 1;
  for (int i = 0; i < count; i++) {
    struct onnx_atom atom = view->at.atom[order[i]];
    struct onnx_atom *last =
        run.at.count ? &run.at.atom[run.at.count - 1] : NULL;
    if (i && view->at.atom[order[i - 1]].stride < atom.stride * atom.size)
      return get_picked(x, view);
    if (last && last->stride == atom.stride * atom.size) {
      last->size *= atom.size;
      last->stride = atom.stride;
      run.at.dim[last->axis] = last->size;
    } else if (run.at.rank < LAYOUT_RANK) {
      atom.axis = run.at.rank;
      run.at.dim[run.at.rank++] = atom.size;
      run.at.atom[run.at.count++] = atom;
    }
  }
  if (run.at.count == count)
    return get_picked(x, view);
  value_id value = onnx_get(x, &run);
  if (value == NO_VALUE)
    return NO_VALUE;
  part->input = NO_VALUE;
  struct onnx_layout dense = layout_dense(run.at.rank, run.at.dim);
  onnx_show(x, part, value, &dense, true);
  as.at.first = 0;
  for (int i = count; i-- > 0; stride *= as.at.atom[order[i]].size)
    as.at.atom[order[i]].stride = stride;
  return onnx_get(x, &as);
}

/* Adds Reshape, Slice, Transpose, Reshape as needed. */
static value_id make(struct exporting *x, const struct view *view,
                     const struct onnx_fitting *f) {
  int64_t dims[LAYOUT_RANK];
  struct onnx_making m = {.x = x};
  begin(&m, f);
  if (f->slices)
    slice(&m, f);
  if (f->moves)
    move(&m, f, view);
  view_sizes(view, dims);
  if (f->from->whole && !has_sizes(&m, view->at.rank, dims))
    reshape(&m, view->at.rank, dims);
  return m.value;
}

value_id onnx_get(struct exporting *x, const struct view *view) {
  struct onnx_fitting f = {.from = NULL};
  value_id value;
  onnx_settle(x, view);
  if (find_fitting(view, &f) || get_dense(x, view, &f)) {
    value = make(x, view, &f);
  } else {
    f.from = NULL;
    value = get_part(x, view);
  }
  if (value != NO_VALUE && (!f.from || value != f.from->value))
    keep(x, view, &f, value);
  return value;
}

int64_t onnx_get_cost(struct exporting *x, const struct view *view) {
  struct onnx_fitting f;
  (void)x;
  if (view->of->input != NO_VALUE)
    return 0;
  int64_t spread = view_mixes(view) ? COST_MOVE : 0;
  return spread + (find_fitting(view, &f) ? f.cost : 3 * COST_MOVE);
}

/* Separates each repeated atom as an axis, which Expand repeats. */
value_id onnx_get_spread(struct exporting *x, const struct view *view) {
  struct view apart = {.of = view->of, .at = {.first = view->at.first}};
  int64_t dims[LAYOUT_RANK];
  bool repeats = false, mixed = view_mixes(view);
  for (int i = 0; i < view->at.count; i++)
    repeats = repeats || view->at.atom[i].stride == 0;
  if (!repeats)
    return onnx_get(x, view);
  if (view->at.count > LAYOUT_RANK)
    return onnx_refuse(x, "it repeats values along too many axes");
  apart.at = view->at;
  for (int i = 0; mixed && i < view->at.count; i++) {
    apart.at.atom[i].axis = i;
    apart.at.dim[i] = view->at.atom[i].size;
    apart.at.rank = view->at.count;
  }
  struct onnx_making m = {
      .x = x, .value = onnx_get(x, &apart), .rank = apart.at.rank};
  if (m.value == NO_VALUE)
    return NO_VALUE;
  for (int i = 0; i < apart.at.rank; i++)
    dims[i] = apart.at.dim[i];
  value_id ins[2] = {m.value, model_numbers(&x->model, dims, m.rank)};
  m.value = model_node(&x->model, "Expand", type_of(x, m.value), m.rank, dims,
                       ins, 2);
  if (mixed)
    reshape(&m, view->at.rank, view->at.dim);
  return m.value;
}
