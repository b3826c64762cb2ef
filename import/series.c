/*
 * A series holds the tensors that one place of the body gives in each
 * iteration. A place is a layer's offset in its run. Every place that is named
 * outside its run needs a series.
 */
#include "import/series.h"

#include <limits.h>

enum { MOST_LAG = 4, MOST_SERIES = 6, MOST_EARLIER = 16 };

/* A tensor from before the first iteration, and its place in a series. */
struct earlier {
  int node, series, iteration;
};

struct series_view {
  struct source_plan *plan;
  const struct series_runs *runs;
  int begin, size; /* ordinal of the first layer; layers of a run */
  int place[MOST_SERIES], series;
  struct earlier earlier[MOST_EARLIER];
  int earlier_count, lag;
};

typedef VEC(struct source_piece *) label_list;

static struct statement *statement_of(const struct series_view *v, size_t run,
                                      size_t i) {
  const struct source_run *first = &v->runs->first;
  return &first->block->all.at[first->from + run * first->length + i];
}

static void collect(struct arena *arena, struct statement *s, size_t count,
                    label_list *out) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < s[i].pieces.count; k++) {
      struct source_piece *piece = &s[i].pieces.at[k];
      if (piece->kind == PIECE_LABEL)
        *VEC_PUSH(arena, out) = piece;
      else if (piece->kind == PIECE_BLOCK)
        collect(arena, piece->block->all.at, piece->block->all.count, out);
    }
}

static int begin_of(const struct series_view *v, size_t run) {
  return v->begin + (int)run * v->size;
}

/* True if all runs have equally many layers and none is in a series yet. */
static bool measure(struct series_view *v) {
  size_t length = v->runs->first.length, count = v->runs->count;
  v->begin = statement_of(v, 0, 0)->first;
  v->size = statement_of(v, 1, 0)->first - v->begin;
  for (size_t i = 0; i < count; i++)
    if (statement_of(v, i, 0)->first != begin_of(v, i))
      return false;
  int end = statement_of(v, count - 1, length - 1)->last + 1;
  for (int at = v->begin; at < end; at++)
    if (v->plan->series[v->plan->order[at]])
      return false;
  return end == begin_of(v, count);
}

static int series_at(const struct series_view *v, int place) {
  for (int i = 0; i < v->series; i++)
    if (v->place[i] == place)
      return i;
  return -1;
}

/* Makes a series of each place that is named outside its run, except for the
 * last tensor of all. */
static bool find_places(struct series_view *v) {
  size_t length = v->runs->first.length, count = v->runs->count;
  for (size_t run = 0; run < count; run++)
    for (size_t i = 0; i < length; i++) {
      const struct statement *s = statement_of(v, run, i);
      int end = begin_of(v, run + 1) - 1;
      if (s->read_until > end || s->index)
        return false;
      if (!s->labelled || v->plan->read_until[s->node] <= end ||
          (run + 1 == count && i + 1 == length))
        continue;
      int place = v->plan->ordinal[s->node] - begin_of(v, run);
      if (series_at(v, place) >= 0)
        continue;
      if (v->series == MOST_SERIES)
        return false;
      v->place[v->series++] = place;
    }
  return v->series > 0;
}

/* Adds a tensor from before the loop; false if it would need two labels. */
static bool note_earlier(struct series_view *v, int node, int series,
                         int iteration) {
  const struct graph_node *is = v->plan->graph->nodes.at[node];
  if (v->plan->series[node] || is->word == WORD_INPUT)
    return false;
  for (int i = 0; i < v->earlier_count; i++) {
    const struct earlier *e = &v->earlier[i];
    bool same = e->series == series && e->iteration == iteration;
    if (same && e->node == node)
      return true;
    if (same || e->node == node)
      return false;
  }
  if (v->earlier_count == MOST_EARLIER)
    return false;
  v->earlier[v->earlier_count++] = (struct earlier){node, series, iteration};
  return true;
}

/* True if the label names, in each run, the tensor made `lag` runs earlier. */
static bool fits_lag(struct series_view *v, const label_list *labels,
                     size_t slot) {
  size_t last = v->runs->count - 1;
  const int *ordinal = v->plan->ordinal;
  int from = ordinal[labels[last].at[slot]->node] - v->begin;
  int lag = from < 0 ? MOST_LAG + 1 : (int)last - from / v->size;
  int series = from < 0 ? -1 : series_at(v, from % v->size);
  if (lag > MOST_LAG || series < 0)
    return false;
  for (size_t run = 0; run <= last; run++) {
    int node = labels[run].at[slot]->node;
    int iteration = (int)run - lag;
    if (iteration >= 0
            ? ordinal[node] != begin_of(v, (size_t)iteration) + v->place[series]
            : ordinal[node] >= v->begin ||
                  !note_earlier(v, node, series, iteration))
      return false;
  }
  v->lag = lag > v->lag ? lag : v->lag;
  return true;
}

/* A label can name a tensor of its own run, the same tensor before all runs, or
 * one that an earlier run made. */
static bool fits_slot(struct series_view *v, const label_list *labels,
                      size_t slot) {
  const struct source_piece *first = labels[0].at[slot];
  int back = v->plan->ordinal[first->node] - v->begin;
  bool same = true, inside = true;
  for (size_t run = 0; run < v->runs->count; run++) {
    const struct source_piece *piece = labels[run].at[slot];
    int at = v->plan->ordinal[piece->node];
    if (piece->index)
      return false;
    same = same && piece->node == first->node && at < v->begin;
    inside = inside && at - begin_of(v, run) == back;
  }
  return same || (inside && back >= 0) || fits_lag(v, labels, slot);
}

static bool names_layers(const struct statement *s, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (statement_names_layer(&s[i]))
      return true;
    for (size_t k = 0; k < s[i].pieces.count; k++) {
      const struct source_block *block = s[i].pieces.at[k].block;
      if (block && names_layers(block->all.at, block->all.count))
        return true;
    }
  }
  return false;
}

static bool fits_labels(struct series_view *v) {
  struct arena *arena = v->plan->graph->arena;
  label_list *labels = arena_alloc(arena, v->runs->count, sizeof *labels);
  for (size_t run = 0; run < v->runs->count; run++)
    collect(arena, statement_of(v, run, 0), v->runs->first.length,
            &labels[run]);
  for (size_t slot = 0; slot < labels[0].count; slot++)
    if (!fits_slot(v, labels, slot))
      return false;
  return true;
}

bool series_is_repeat(struct source_plan *plan,
                      const struct series_runs *runs) {
  struct series_view v = {.plan = plan, .runs = runs};
  return measure(&v) && fits_labels(&v);
}

static bool look(struct source_plan *plan, const struct series_runs *runs,
                 struct series_view *v) {
  *v = (struct series_view){.plan = plan, .runs = runs};
  if (names_layers(statement_of(v, 0, 0), runs->first.length) || !measure(v) ||
      !find_places(v) || !fits_labels(v))
    return false;
  return v->lag > 0;
}

bool series_fits(struct source_plan *plan, const struct series_runs *runs) {
  struct series_view v;
  return look(plan, runs, &v);
}

static void join_series(struct source_plan *plan, int node, int series,
                        int iteration) {
  plan->series[node] = series;
  plan->iteration[node] = iteration;
}

/* In the body an index is relative. Labels of other loops keep theirs. */
static void index_label(struct series_view *v, struct source_piece *piece) {
  int iteration = v->plan->iteration[piece->node] - v->lag;
  if (v->plan->series[piece->node] <= v->plan->series_count - v->series)
    return;
  piece->index = iteration ? graph_text(v->plan->graph, "i%d", iteration) : "i";
}

void series_make(struct source_plan *plan, const struct series_runs *runs,
                 struct statement *loop, int64_t iterations[2]) {
  struct series_view v;
  label_list labels = {0};
  loop->series_from = INT_MAX;
  if (!look(plan, runs, &v))
    return;
  for (int s = 0; s < v.series; s++)
    for (size_t run = 0; run < runs->count; run++) {
      int node = plan->order[begin_of(&v, run) + v.place[s]];
      join_series(plan, node, plan->series_count + s + 1, (int)run + v.lag);
      if (plan->read_until[node] > loop->series_until)
        loop->series_until = plan->read_until[node];
    }
  for (int i = 0; i < v.earlier_count; i++) {
    const struct earlier *e = &v.earlier[i];
    join_series(plan, e->node, plan->series_count + e->series + 1,
                e->iteration + v.lag);
    if (plan->ordinal[e->node] < loop->series_from)
      loop->series_from = plan->ordinal[e->node];
  }
  plan->series_count += v.series;
  for (size_t i = 0; i < runs->first.length; i++) {
    struct statement *s = statement_of(&v, 0, i);
    if (s->node >= 0 && plan->series[s->node])
      s->index = "i";
  }
  collect(plan->graph->arena, statement_of(&v, 0, 0), runs->first.length,
          &labels);
  for (size_t i = 0; i < labels.count; i++)
    index_label(&v, labels.at[i]);
  iterations[0] = v.lag;
  iterations[1] = v.lag + (int64_t)runs->count - 1;
}
