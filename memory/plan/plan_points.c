/*
 * Lifetimes as points (first, last) in a k-d tree (Bentley 1975). Each node
 * stores the minimum rank below it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "memory/plan/plan_points.h"

enum { LEAF = 8 }; /* items */

struct plan_leaf {
  int32_t first, last;
  uint32_t item;
};

static int by_first(const void *a, const void *b) {
  const struct plan_leaf *x = a, *y = b;
  int order = compare_i64(x->first, y->first);
  return order ? order : compare_i64(x->item, y->item);
}

static int by_last(const void *a, const void *b) {
  const struct plan_leaf *x = a, *y = b;
  int order = compare_i64(x->last, y->last);
  return order ? order : compare_i64(x->item, y->item);
}

static struct plan_box join(struct plan_box a, struct plan_box b) {
  return (struct plan_box){
      a.first < b.first ? a.first : b.first,
      a.first_most > b.first_most ? a.first_most : b.first_most,
      a.last < b.last ? a.last : b.last,
      a.last_most > b.last_most ? a.last_most : b.last_most};
}

static void build(struct plan_points *p, struct plan_leaf *points, size_t node,
                  size_t begin, size_t end, bool by_the_last) {
  struct plan_point_node *here = &p->nodes[node];
  if (end - begin <= LEAF) {
    here->box = (struct plan_box){INT32_MAX, 0, INT32_MAX, 0};
    for (size_t i = begin; i < end; i++) {
      const struct plan_leaf *q = &points[i];
      here->box = join(here->box,
                       (struct plan_box){q->first, q->first, q->last, q->last});
      p->sorted[i] = q->item;
      p->leaf[q->item] = (uint32_t)node;
    }
    return;
  }
  size_t middle = begin + (end - begin) / 2;
  qsort(points + begin, end - begin, sizeof *points,
        by_the_last ? by_last : by_first);
  build(p, points, 2 * node, begin, middle, !by_the_last);
  build(p, points, 2 * node + 1, middle, end, !by_the_last);
  here->box = join(p->nodes[2 * node].box, p->nodes[2 * node + 1].box);
}

void plan_points_open(struct plan_points *p, struct arena *arena,
                      const struct plan_part *part) {
  size_t n = part->count;
  *p = (struct plan_points){.items = part->items, .count = n};
  size_t nodes = 2;
  while (nodes < n)
    nodes *= 2;
  p->nodes = arena_alloc(arena, nodes, sizeof *p->nodes);
  p->sorted = arena_alloc(arena, n, sizeof *p->sorted);
  p->leaf = arena_alloc(arena, n, sizeof *p->leaf);
  p->rank = arena_alloc(arena, n, sizeof *p->rank);
  struct plan_leaf *points = arena_alloc(arena, n, sizeof *points);
  for (size_t i = 0; i < n; i++)
    points[i] = (struct plan_leaf){part->items[i].first, part->items[i].last,
                                   (uint32_t)i};
  build(p, points, 1, 0, n, true);
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

static void fill(struct plan_points *p, size_t node, size_t begin, size_t end) {
  struct plan_point_node *here = &p->nodes[node];
  here->best = PLAN_NOBODY;
  if (end - begin <= LEAF) {
    for (size_t i = begin; i < end; i++)
      here->best = least(here->best, p->rank[p->sorted[i]]);
    return;
  }
  size_t middle = begin + (end - begin) / 2;
  fill(p, 2 * node, begin, middle);
  fill(p, 2 * node + 1, middle, end);
  here->best = least(p->nodes[2 * node].best, p->nodes[2 * node + 1].best);
}

void plan_points_fill(struct plan_points *p, const uint32_t *rank) {
  memcpy(p->rank, rank, p->count * sizeof *rank);
  fill(p, 1, 0, p->count);
}

/* Finds the items of a leaf by following the path to it. */
static void find_leaf(const struct plan_points *p, size_t node, size_t *begin,
                      size_t *end) {
  int depth = 63 - __builtin_clzll((unsigned long long)node);
  *begin = 0;
  *end = p->count;
  while (depth-- > 0) {
    size_t middle = *begin + (*end - *begin) / 2;
    *(node >> depth & 1 ? begin : end) = middle;
  }
}

void plan_points_remove(struct plan_points *p, uint32_t item) {
  size_t node = p->leaf[item], begin, end;
  uint32_t best = PLAN_NOBODY;
  find_leaf(p, node, &begin, &end);
  p->rank[item] = PLAN_NOBODY;
  for (size_t i = begin; i < end; i++)
    best = least(best, p->rank[p->sorted[i]]);
  p->nodes[node].best = best;
  for (node /= 2; node > 0; node /= 2)
    p->nodes[node].best =
        least(p->nodes[2 * node].best, p->nodes[2 * node + 1].best);
}

static bool is_inside(struct plan_box a, struct plan_box b) {
  return a.first >= b.first && a.first_most <= b.first_most &&
         a.last >= b.last && a.last_most <= b.last_most;
}

static bool is_apart(struct plan_box a, struct plan_box b) {
  return a.first > b.first_most || a.first_most < b.first ||
         a.last > b.last_most || a.last_most < b.last;
}

/* The minimum of `best` and the ranks in the box below a node. */
static uint32_t find(struct plan_points *p, struct plan_box box, size_t node,
                     size_t begin, size_t end, uint32_t best) {
  const struct plan_point_node *here = &p->nodes[node];
  p->steps++;
  if (here->best >= best || is_apart(here->box, box))
    return best;
  if (is_inside(here->box, box))
    return here->best;
  if (end - begin <= LEAF) {
    for (size_t i = begin; i < end; i++) {
      uint32_t item = p->sorted[i];
      struct plan_box point = {p->items[item].first, p->items[item].first,
                               p->items[item].last, p->items[item].last};
      if (p->rank[item] < best && is_inside(point, box))
        best = p->rank[item];
    }
    return best;
  }
  size_t middle = begin + (end - begin) / 2;
  if (p->nodes[2 * node].best < p->nodes[2 * node + 1].best) {
    best = find(p, box, 2 * node, begin, middle, best);
    return find(p, box, 2 * node + 1, middle, end, best);
  }
  best = find(p, box, 2 * node + 1, middle, end, best);
  return find(p, box, 2 * node, begin, middle, best);
}

uint32_t plan_points_find(struct plan_points *p, struct plan_box box) {
  return find(p, box, 1, 0, p->count, PLAN_NOBODY);
}
