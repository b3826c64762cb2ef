/*
 * Calls that are drawn once. If a net is too large for a page, calls of a def
 * that differ only in sizes become boxes with a letter, and one of them is
 * drawn beside the net, as in papers. Other differences, as in a kernel or
 * stride, are in the text of the box.
 */
#include "drawing/diagram/diagram.h"

enum {
  LEAST_BOXES = 4,       /* of a call that is drawn once */
  LEAST_SMALL = 8,       /* in all calls of a smaller def together */
  MOST_CALLS = 26,       /* letters */
  MOST_CANDIDATES = 1000 /* with more, the net is drawn in full */
};

/* A call in the open drawing. */
struct diagram_candidate {
  const struct diagram_unit *unit;
  size_t class; /* the first candidate that equals it */
  size_t members;
  bool outer; /* no call is around one of them */
  bool chosen;
};

struct choice {
  struct diagram *d;
  VEC(struct diagram_candidate) all; /* inner ones first */
};

static const struct group *group_of(const struct diagram *d, int64_t group) {
  return &d->c->model->groups.at[group];
}

/* The name of the def. */
static struct slice word_of(const struct diagram *d, int64_t group) {
  struct slice call = group_of(d, group)->call;
  size_t length = 0;
  while (length < call.length && call.at[length] != ' ')
    length++;
  return (struct slice){call.at, length};
}

static bool same_kinds(const struct diagram *d, const struct row *a,
                       const struct row *b) {
  const struct model *model = d->c->model;
  if (a->end - a->first != b->end - b->first || a->warning_count ||
      b->warning_count)
    return false;
  for (int64_t i = 0; i < a->end - a->first; i++)
    if (model->nodes.at[a->first + i].kind !=
        model->nodes.at[b->first + i].kind)
      return false;
  return true;
}

/* Inputs from outside two units, in pairs. */
struct outsides {
  size_t a[16], b[16];
  size_t count;
};

static bool same_outside(struct outsides *o, size_t a, size_t b) {
  for (size_t i = 0; i < o->count; i++)
    if (o->a[i] == a || o->b[i] == b)
      return o->a[i] == a && o->b[i] == b;
  if (o->count == sizeof o->a / sizeof *o->a)
    return false;
  o->a[o->count] = a;
  o->b[o->count++] = b;
  return true;
}

static bool same_links(const struct diagram *d, const struct diagram_unit *a,
                       const struct diagram_unit *b, size_t offset,
                       struct outsides *outsides) {
  const struct diagram_item *x = &d->items.at[a->first + offset];
  const struct diagram_item *y = &d->items.at[b->first + offset];
  if (x->link_count != y->link_count)
    return false;
  for (size_t k = 0; k < x->link_count; k++) {
    size_t from = d->links.at[x->first_link + k].from;
    size_t other = d->links.at[y->first_link + k].from;
    bool inside = from >= a->first;
    if (inside != (other >= b->first) ||
        (inside ? from - a->first != other - b->first
                : !same_outside(outsides, from, other)))
      return false;
  }
  return true;
}

/* True if groups and repeats are equal, except for the outermost count. */
static bool same_shape(const struct diagram_unit *a,
                       const struct diagram_unit *b) {
  const struct diagram_unit *x = a->child, *y = b->child;
  for (; x && y; x = x->next, y = y->next)
    if (x->end - x->first != y->end - y->first || x->count != y->count ||
        !same_shape(x, y))
      return false;
  return !x && !y;
}

static bool same_calls(const struct diagram *d, const struct diagram_unit *a,
                       const struct diagram_unit *b) {
  struct outsides outsides = {.count = 0};
  if (a->end - a->first != b->end - b->first ||
      !slice_equal(word_of(d, a->group), word_of(d, b->group)) ||
      !same_shape(a, b))
    return false;
  for (size_t i = 0; i < a->end - a->first; i++)
    if (!same_kinds(d, item_row(d, a->first + i), item_row(d, b->first + i)) ||
        !same_links(d, a, b, i, &outsides))
      return false;
  return true;
}

/* True if small calls are closed, too. */
static bool closes_small(const struct diagram *d) {
  return d->effort == EFFORT_SMALL || d->effort == EFFORT_TURNS;
}

/* True for a group of an iteration that is no repeat. */
static bool is_single_turn(const struct diagram *d,
                           const struct diagram_unit *unit) {
  return d->effort == EFFORT_TURNS && unit->count < 2 &&
         (size_t)unit->group >= d->plain->model->groups.count;
}

/* True for a call with a drawn inside; a repeat is a group without a call. */
static bool is_call(const struct diagram *d, const struct diagram_unit *unit,
                    bool outer) {
  return unit->group > 0 && !is_single_turn(d, unit) &&
         (group_of(d, unit->group)->call.length > 0 ||
          (outer && d->effort == EFFORT_BLOCKS)) &&
         (closes_small(d) || unit->end - unit->first >= LEAST_BOXES);
}

static void find_candidates(struct choice *c, const struct diagram_unit *units,
                            bool outer) {
  for (const struct diagram_unit *u = units; u; u = u->next) {
    bool call = is_call(c->d, u, outer);
    find_candidates(c, u->child, outer && !call);
    if (!call || c->all.count == MOST_CANDIDATES)
      continue;
    struct diagram_candidate new = {.unit = u, .class = c->all.count};
    for (size_t i = 0; i < c->all.count; i++)
      if (c->all.at[i].class == i && same_calls(c->d, c->all.at[i].unit, u)) {
        new.class = i;
        break;
      }
    *VEC_PUSH(c->d->arena, &c->all) = new;
    c->all.at[new.class].members++;
    c->all.at[new.class].outer |= outer;
  }
}

static struct diagram_candidate *class_of(const struct choice *c,
                                          const struct diagram_unit *unit) {
  for (size_t i = 0; i < c->all.count; i++)
    if (c->all.at[i].unit == unit)
      return &c->all.at[c->all.at[i].class];
  return NULL;
}

/* The boxes in a unit once the chosen calls are closed. */
static size_t boxes_of(const struct choice *c,
                       const struct diagram_unit *unit) {
  size_t boxes = 0;
  for (const struct diagram_unit *u = unit->child; u; u = u->next) {
    const struct diagram_candidate *class = class_of(c, u);
    boxes += class && class->chosen ? 1 : boxes_of(c, u);
  }
  return unit->child ? boxes : 1;
}

/* Counts how often each class is drawn, in the net and in calls drawn once. */
static void count_boxes(const struct choice *c,
                        const struct diagram_unit *units, size_t *seen) {
  for (const struct diagram_unit *u = units; u; u = u->next) {
    struct diagram_candidate *class = class_of(c, u);
    bool first = true;
    if (class && class->chosen)
      first = seen[class - c->all.at]++ == 0;
    if (first)
      count_boxes(c, u->child, seen);
  }
}

static bool is_worth(const struct choice *c,
                     const struct diagram_candidate *class, size_t seen) {
  size_t boxes = boxes_of(c, class->unit);
  if (boxes >= LEAST_BOXES)
    return seen > 1 || (c->d->effort == EFFORT_BLOCKS && class->outer) ||
           (c->d->effort == EFFORT_TURNS && class->unit->count > 1);
  return closes_small(c->d) && seen > 2 && boxes > 1 &&
         boxes * seen >= LEAST_SMALL;
}

static void choose(struct choice *c) {
  size_t *seen = arena_alloc(c->d->arena, c->all.count + 1, sizeof *seen);
  for (size_t i = 0; i < c->all.count; i++)
    if (c->all.at[i].class == i)
      c->all.at[i].chosen = is_worth(c, &c->all.at[i], c->all.at[i].members);
  for (bool again = true; again;) {
    memset(seen, 0, c->all.count * sizeof *seen);
    count_boxes(c, c->d->units, seen);
    again = false;
    for (size_t i = 0; i < c->all.count; i++)
      if (c->all.at[i].chosen && !is_worth(c, &c->all.at[i], seen[i])) {
        c->all.at[i].chosen = false;
        again = true;
      }
  }
}

/* Calls */

/* The candidate with the items of a group or of its first iteration. */
static size_t candidate_of(const struct choice *c, int64_t group) {
  const struct diagram *d = c->d;
  const struct group *g = group_of(d, group);
  if ((!g->call.length && d->effort < EFFORT_BLOCKS) || g->first >= g->end)
    return SIZE_MAX;
  size_t first = d->item_of_row[d->rows.of_node[g->first]];
  size_t last = d->item_of_row[d->rows.of_node[g->end - 1]];
  for (size_t i = 0; i < c->all.count; i++) {
    const struct diagram_unit *unit = c->all.at[i].unit;
    if (unit->first == first && unit->end - 1 == last &&
        slice_equal(word_of(d, unit->group), word_of(d, group)))
      return c->all.at[i].class;
  }
  return SIZE_MAX;
}

static bool is_listed(const int64_t *list, size_t count, int64_t node) {
  for (size_t i = 0; i < count; i++)
    if (list[i] == node)
      return true;
  return false;
}

struct reads {
  int64_t *at;
  size_t count, room;
};

/* The nodes outside of a group that it reads, in that order. */
static struct reads reads_of(const struct diagram *d, int64_t group) {
  const struct model *model = d->c->model;
  const struct group *g = group_of(d, group);
  struct reads reads = {0};
  for (int64_t i = g->first; i < g->end; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++) {
      int64_t from = node_input(model, &model->nodes.at[i], k);
      if ((from < g->first || from >= g->end) &&
          !is_listed(reads.at, reads.count, from))
        *VEC_PUSH(d->arena, &reads) = from;
    }
  return reads;
}

/* Finds the outside nodes that all calls read, except their entries. */
static void find_shared(struct diagram *d, size_t index) {
  struct diagram_call *call = &d->calls.at[index];
  struct reads all = reads_of(d, call->group), shared = all;
  for (size_t g = 1; g < d->c->model->groups.count; g++) {
    if (d->call_of_group[g] != (int)index + 1)
      continue;
    struct reads here = reads_of(d, (int64_t)g), both = {0};
    for (size_t i = 0; i < shared.count; i++)
      if (is_listed(here.at, here.count, shared.at[i]))
        *VEC_PUSH(d->arena, &both) = shared.at[i];
    shared = both;
  }
  call->entry = all.count ? all.at[0] : NO_NODE;
  for (size_t i = all.count; i-- > 0;)
    if (!is_listed(shared.at, shared.count, all.at[i]))
      call->entry = all.at[i];
  struct reads rest = {0}, inputs = {0};
  for (size_t i = 0; i < all.count; i++)
    if (all.at[i] != call->entry) {
      bool by_all = is_listed(shared.at, shared.count, all.at[i]);
      *VEC_PUSH(d->arena, by_all ? &rest : &inputs) = all.at[i];
    }
  call->shared = rest.at;
  call->shared_count = rest.count;
  call->inputs = inputs.at;
  call->input_count = inputs.count;
}

/* Lists calls in the order of the source, outer ones first. */
static void list_calls(struct choice *c, const struct diagram_unit *units) {
  struct diagram *d = c->d;
  for (const struct diagram_unit *u = units; u; u = u->next) {
    struct diagram_candidate *class = class_of(c, u);
    bool listed = !class || !class->chosen;
    for (size_t i = 0; i < d->calls.count; i++)
      listed = listed || d->calls.at[i].group == class->unit->group;
    char letter = (char)('A' + d->calls.count);
    if (!listed && d->calls.count < MOST_CALLS)
      *VEC_PUSH(d->arena, &d->calls) =
          (struct diagram_call){.group = class->unit->group, .letter = letter};
    list_calls(c, u->child);
  }
}

bool diagram_find_calls(struct diagram *d) {
  struct choice c = {.d = d};
  size_t groups = d->c->model->groups.count;
  d->calls.count = 0;
  d->call_of_group = NULL;
  find_candidates(&c, d->units, true);
  choose(&c);
  list_calls(&c, d->units);
  if (d->calls.count == 0)
    return false;
  d->call_of_group =
      arena_alloc(d->arena, groups + 1, sizeof *d->call_of_group);
  for (size_t g = 1; g < groups; g++) {
    size_t class = candidate_of(&c, (int64_t)g);
    for (size_t i = 0; class != SIZE_MAX && i < d->calls.count; i++)
      if (d->calls.at[i].group == c.all.at[class].unit->group)
        d->call_of_group[g] = (int)i + 1;
  }
  for (size_t i = 0; i < d->calls.count; i++)
    find_shared(d, i);
  return true;
}
