/*
 * Tree: makes chains, splits and frames from units. A join closes the branches
 * that begin at a common place. Any other link (a skip by label, a second
 * reader) has no place in the tree and is drawn beside the chain.
 */
#include "drawing/diagram/diagram.h"

enum { FROM_ENTRY = -1, FROM_NOWHERE = -2 };

struct bead {
  struct diagram_part *part;
  int64_t unit; /* the unit that gives its output */
};

struct chain {
  VEC(struct bead) all;
  int64_t source; /* the unit where it branches off */
  bool closed;    /* it became part of a split */
};

struct diagram_place {
  int64_t chain, at; /* -1: inside a split */
};

struct region {
  struct diagram *d;
  struct diagram_unit **units;
  size_t count;
  size_t entry; /* the item that leads to it, or NO_ITEM */
  VEC(struct chain) chains;
  struct diagram_place *places; /* by unit */
  bool root;
};

static struct diagram_part *region_part(struct diagram *d,
                                        struct diagram_unit *units,
                                        size_t entry, bool root);

static struct diagram_part *new_part(struct diagram *d, enum part_kind kind) {
  struct diagram_part *part = ARENA_NEW(d->arena, struct diagram_part);
  part->kind = kind;
  part->item = NO_ITEM;
  return part;
}

static const struct diagram_link *link_of(const struct diagram *d, size_t item,
                                          size_t k) {
  return &d->links.at[d->items.at[item].first_link + k];
}

/* The item from which a frame is entered. */
static size_t entry_of(const struct diagram *d,
                       const struct diagram_unit *unit) {
  if (d->items.at[unit->first].link_count)
    return link_of(d, unit->first, 0)->from;
  for (size_t i = unit->first; i < unit->end && d->stubs.count > 0; i++)
    for (size_t k = 0; k < d->items.at[i].link_count; k++)
      if (link_of(d, i, k)->from < unit->first)
        return link_of(d, i, k)->from;
  return NO_ITEM;
}

static struct diagram_part *unit_part(struct diagram *d,
                                      struct diagram_unit *unit, bool root) {
  struct diagram_part *part;
  if (unit->end - unit->first == 1 && !unit->call) {
    part = new_part(d, PART_BOX);
    part->item = unit->first;
    diagram_mark_repeat(d, unit);
    return part;
  }
  part = new_part(d, PART_FRAME);
  part->unit = unit;
  part->item = unit->end - 1;
  part->nested = !root;
  part->first = region_part(d, unit->child, entry_of(d, unit), false);
  return part;
}

/* Chains */

static int64_t last_of(const struct region *r, size_t chain) {
  const struct chain *c = &r->chains.at[chain];
  return c->all.count ? c->all.at[c->all.count - 1].unit : c->source;
}

static size_t open_chain(struct region *r, int64_t source) {
  struct chain *chain = VEC_PUSH(r->d->arena, &r->chains);
  chain->source = source;
  return r->chains.count - 1;
}

static void append(struct region *r, size_t chain, struct diagram_part *part,
                   int64_t unit) {
  struct chain *c = &r->chains.at[chain];
  struct bead *element = VEC_PUSH(r->d->arena, &c->all);
  element->part = part;
  element->unit = unit;
  r->places[unit] =
      (struct diagram_place){(int64_t)chain, (int64_t)c->all.count - 1};
}

static struct diagram_place place_of(const struct region *r, int64_t unit) {
  static const struct diagram_place start = {0, -1}, nowhere = {-1, -1};
  return unit == FROM_ENTRY ? start : unit < 0 ? nowhere : r->places[unit];
}

static int64_t unit_of(const struct region *r, size_t item) {
  if (item == r->entry)
    return FROM_ENTRY;
  size_t low = 0, high = r->count;
  if (item < r->units[0]->first)
    return FROM_NOWHERE;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (r->units[middle]->first <= item)
      low = middle;
    else
      high = middle;
  }
  return r->units[low]->end - 1 == item ? (int64_t)low : FROM_NOWHERE;
}

/* Takes the elements from `at` on out of a chain and returns them as a part. */
static struct diagram_part *take_tail(struct region *r, size_t chain,
                                      int64_t at) {
  struct chain *c = &r->chains.at[chain];
  struct diagram_part *part = new_part(r->d, PART_CHAIN), **tail = &part->first;
  for (size_t i = (size_t)at; i < c->all.count; i++) {
    *tail = c->all.at[i].part;
    tail = &(*tail)->next;
    r->places[c->all.at[i].unit].chain = -1;
  }
  c->all.count = (size_t)at;
  return part;
}

static size_t tail_items(const struct region *r, size_t chain, int64_t at) {
  const struct chain *c = &r->chains.at[chain];
  if ((size_t)at >= c->all.count)
    return 0;
  int64_t first = at > 0 ? c->all.at[at - 1].unit : c->source;
  size_t start = first >= 0 ? r->units[first]->end
                 : r->d->effort == EFFORT_NONE
                     ? 0
                     : r->units[c->all.at[at].unit]->first;
  return r->units[c->all.at[c->all.count - 1].unit]->end - start;
}

/* True if neither `item` nor a later one reads elements from `at` on. */
static bool is_dead(const struct region *r, size_t chain, int64_t at,
                    size_t item) {
  const struct chain *c = &r->chains.at[chain];
  for (size_t i = (size_t)at; i < c->all.count; i++) {
    const struct diagram_unit *unit = r->units[c->all.at[i].unit];
    for (size_t k = unit->first; k < unit->end; k++)
      if (r->d->items.at[k].reader >= (int64_t)item)
        return false;
  }
  return true;
}

static void add_side(struct diagram_part *part, struct diagram_part *side) {
  struct diagram_part **tail = &part->side;
  while (*tail)
    tail = &(*tail)->next;
  *tail = side;
}

/* Makes a unit the end of its chain if the elements after it are dead. */
static bool bare_end(struct region *r, struct diagram_place p, size_t item) {
  struct chain *c = &r->chains.at[p.chain];
  if ((size_t)(p.at + 1) == c->all.count)
    return true;
  if (p.at < 0 || !is_dead(r, (size_t)p.chain, p.at + 1, item))
    return false;
  struct diagram_part *part = c->all.at[p.at].part;
  add_side(part, take_tail(r, (size_t)p.chain, p.at + 1));
  return true;
}

static void follow(struct region *r, int64_t unit, int64_t from) {
  struct diagram_place p = place_of(r, from);
  struct diagram_part *part = unit_part(r->d, r->units[unit], r->root);
  if (p.chain >= 0 && bare_end(r, p, r->units[unit]->first))
    append(r, (size_t)p.chain, part, unit);
  else
    append(r, open_chain(r, p.chain >= 0 ? from : FROM_NOWHERE), part, unit);
}

/* Splits */

struct inputs {
  int64_t *at;
  size_t count;
};

static bool is_end(const struct region *r, int64_t unit) {
  struct diagram_place p = place_of(r, unit);
  return p.chain >= 0 && !r->chains.at[p.chain].closed &&
         last_of(r, (size_t)p.chain) == unit;
}

/* Finds the fork: the latest place at which one of the branches begins. */
static int64_t find_fork(const struct region *r, const struct inputs *in) {
  int64_t fork = FROM_NOWHERE;
  struct diagram_place best = {-1, -2};
  for (size_t i = 0; i < in->count; i++) {
    struct diagram_place p = place_of(r, in->at[i]);
    int64_t from = in->at[i];
    if (p.chain < 0)
      continue;
    if (is_end(r, from)) {
      from = r->chains.at[p.chain].source;
      if (p.chain == 0 && r->entry != NO_ITEM)
        continue; /* the chain from which all others branch off */
      p = place_of(r, from);
    }
    if (p.chain >= 0 && !r->chains.at[p.chain].closed &&
        (p.chain > best.chain || (p.chain == best.chain && p.at > best.at))) {
      best = p;
      fork = from;
    }
  }
  return fork;
}

/* Without a fork, the longest chain is the one that others join. */
static int64_t find_trunk(const struct region *r, const struct inputs *in) {
  int64_t trunk = FROM_NOWHERE;
  size_t longest = 0, second = 0;
  for (size_t i = 0; i < in->count; i++) {
    struct diagram_place p = place_of(r, in->at[i]);
    if (!is_end(r, in->at[i]))
      continue;
    if (p.chain == 0 && r->entry != NO_ITEM)
      return in->at[i];
    size_t items = tail_items(r, (size_t)p.chain, 0);
    second = items < longest ? (items > second ? items : second) : longest;
    if (items > longest) {
      longest = items;
      trunk = in->at[i];
    }
  }
  bool alike = r->root ? longest < 10 + 3 * second
                       : longest < 2 * second + (in->count > 2);
  return alike ? FROM_NOWHERE : trunk;
}

enum branch { BRANCH_NONE, BRANCH_EMPTY, BRANCH_TAIL, BRANCH_CHAIN };

static enum branch branch_of(const struct region *r, int64_t in, int64_t fork) {
  struct diagram_place p = place_of(r, in), f = place_of(r, fork);
  if (in == fork)
    return BRANCH_EMPTY;
  if (!is_end(r, in))
    return BRANCH_NONE;
  if (p.chain == f.chain)
    return BRANCH_TAIL;
  int64_t source = r->chains.at[p.chain].source;
  return source == fork || source == FROM_NOWHERE ? BRANCH_CHAIN : BRANCH_NONE;
}

/* Marks all items in a branch. */
static void mark_branch(struct region *r, const struct diagram_part *part) {
  for (const struct diagram_part *p = part->first; p; p = p->next)
    mark_branch(r, p);
  if (part->item != NO_ITEM)
    r->d->items.at[part->item].in_branch = true;
}

static void add_branches(struct region *r, struct diagram_part *split,
                         const struct inputs *in, int64_t fork) {
  struct diagram_part **tail = &split->first;
  struct diagram_place f = place_of(r, fork);
  for (size_t i = 0; i < in->count; i++) {
    struct diagram_place p = place_of(r, in->at[i]);
    struct diagram_part *part = NULL;
    switch (branch_of(r, in->at[i], fork)) {
    case BRANCH_NONE: continue;
    case BRANCH_EMPTY: part = new_part(r->d, PART_CHAIN); break;
    case BRANCH_TAIL: part = take_tail(r, (size_t)f.chain, f.at + 1); break;
    case BRANCH_CHAIN:
      part = take_tail(r, (size_t)p.chain, 0);
      r->chains.at[p.chain].closed = true;
      break;
    }
    mark_branch(r, part);
    *tail = part;
    tail = &part->next;
  }
}

/* Maximum boxes in a branch beside an empty one. */
static size_t long_skip(const struct region *r, int64_t fork) {
  bool named = r->d->effort != EFFORT_NONE && fork >= 0 &&
               item_has_name(r->d, r->units[fork]->end - 1);
  return named ? LONG_NAMED : LONG_SKIP;
}

enum { SHORT_BRANCH = 4 /* units */ };

/* True if an item of a branch reads neither its fork nor the branch, whose
 * units may be inside a split. */
static bool reads_beside(const struct region *r, const struct chain *chain,
                         int64_t at, size_t item, int64_t fork) {
  const struct diagram *d = r->d;
  size_t first = r->units[chain->all.at[at].unit]->first;
  for (size_t k = 0; k < d->items.at[item].link_count; k++) {
    size_t from = link_of(d, item, k)->from;
    struct diagram_place p = place_of(r, unit_of(r, from));
    bool known =
        from == r->entry || (fork >= 0 && from == r->units[fork]->end - 1) ||
        (from >= first && (p.chain < 0 || &r->chains.at[p.chain] == chain));
    if (!known)
      return true;
  }
  return false;
}

/* The branch of a join on a chain, from `at` on. */
struct branch_reach {
  const struct chain *chain;
  int64_t at, fork;
  int64_t low, high; /* maps of the fork and the join */
};

/* True if a branch has other maps than those of its ends, as a pyramid has, or
 * reads what is beside it: a grid shows that. */
static bool leaves_row(const struct region *r, struct branch_reach b,
                       bool maps) {
  for (size_t i = (size_t)b.at; i < b.chain->all.count; i++) {
    const struct diagram_unit *unit = r->units[b.chain->all.at[i].unit];
    for (size_t k = unit->first; k < unit->end; k++) {
      int64_t map = map_of(r->d, k);
      if ((maps && map && (map < b.low || map > b.high)) ||
          (i > (size_t)b.at && reads_beside(r, b.chain, b.at, k, b.fork)))
        return true;
    }
  }
  return false;
}

/* True if a chain begins with a name in place of a line. */
static bool has_name_ahead(const struct region *r, const struct chain *chain) {
  size_t first = r->units[chain->all.at[0].unit]->first;
  const struct diagram_item *item = &r->d->items.at[first];
  return item->stub_count && !item->link_count;
}

/* True if a grid shows the branches of a join better. */
static bool needs_grid(struct region *r, const struct inputs *in, int64_t fork,
                       size_t join) {
  struct diagram *d = r->d;
  int64_t to = map_of(d, join), from = to;
  if (!d->grids)
    return false;
  if (fork >= 0)
    from = map_of(d, r->units[fork]->end - 1);
  if (!to)
    to = from;
  for (size_t i = 0; i < in->count; i++) {
    enum branch branch = branch_of(r, in->at[i], fork);
    struct diagram_place p = place_of(r, in->at[i]);
    if (branch != BRANCH_TAIL && branch != BRANCH_CHAIN)
      continue;
    int64_t at = branch == BRANCH_TAIL ? place_of(r, fork).at + 1 : 0;
    const struct chain *chain = &r->chains.at[p.chain];
    bool is_short = (int64_t)chain->all.count - at < SHORT_BRANCH;
    struct branch_reach reach = {chain, at, fork, from < to ? from : to,
                                 most(from, to)};
    bool alone =
        branch == BRANCH_CHAIN && !reach.high && has_name_ahead(r, chain);
    if (leaves_row(r, reach, !alone && (fork >= 0 || !is_short)))
      return true;
  }
  return false;
}

/* True if a split can show the branches. */
static bool can_split(struct region *r, const struct inputs *in, int64_t fork,
                      size_t item) {
  struct diagram_place f = place_of(r, fork);
  size_t shown = 0, real = 0;
  bool tail = false;
  for (size_t i = 0; i < in->count; i++) {
    enum branch branch = branch_of(r, in->at[i], fork);
    shown += branch != BRANCH_NONE;
    real += branch == BRANCH_TAIL || branch == BRANCH_CHAIN;
    tail = tail || branch == BRANCH_TAIL;
  }
  bool has_tail = (size_t)(f.at + 1) < r->chains.at[f.chain].all.count;
  if (shown < 2 || (has_tail && !tail) || needs_grid(r, in, fork, item))
    return false;
  if (has_tail && !is_dead(r, (size_t)f.chain, f.at + 1, item + 1) && !r->root)
    return false;
  bool turns = r->d->grids && !item_sign(r->d, item); /* a column, as in a U */
  size_t longest = turns ? LONG_TURN : long_skip(r, fork);
  return !(r->root && real == 1 && tail &&
           tail_items(r, (size_t)f.chain, f.at + 1) > longest);
}

static struct diagram_part *join_part(struct region *r, int64_t unit) {
  struct diagram_part *split = new_part(r->d, PART_SPLIT);
  split->item = r->units[unit]->first;
  diagram_mark_repeat(r->d, r->units[unit]);
  split->bar = !item_sign(r->d, split->item);
  return split;
}

/* Joins roots that meet, none before the others. */
static bool meet(struct region *r, int64_t unit, const struct inputs *in) {
  size_t shown = 0;
  for (size_t i = 0; i < in->count; i++)
    shown += branch_of(r, in->at[i], FROM_NOWHERE) == BRANCH_CHAIN;
  if (shown < 2 || needs_grid(r, in, FROM_NOWHERE, r->units[unit]->first))
    return false;
  struct diagram_part *split = join_part(r, unit);
  add_branches(r, split, in, FROM_NOWHERE);
  append(r, open_chain(r, FROM_NOWHERE), split, unit);
  return true;
}

static bool split(struct region *r, int64_t unit, const struct inputs *in) {
  int64_t fork = find_fork(r, in);
  size_t item = r->units[unit]->first;
  bool forks = fork != FROM_NOWHERE;
  if (!forks)
    fork = find_trunk(r, in);
  if (fork == FROM_NOWHERE)
    return meet(r, unit, in);
  if (!can_split(r, in, fork, item))
    return false;
  struct diagram_part *part = join_part(r, unit);
  struct diagram_place f = place_of(r, fork);
  part->forks = forks;
  add_branches(r, part, in, fork);
  append(r, (size_t)f.chain, part, unit);
  return true;
}

/* Units in order */

static struct inputs inputs_of(struct region *r,
                               const struct diagram_unit *unit) {
  const struct diagram_item *item = &r->d->items.at[unit->first];
  struct inputs in = {
      arena_alloc(r->d->arena, item->link_count + 1, sizeof *in.at), 0};
  size_t entry = unit->child ? entry_of(r->d, unit) : NO_ITEM;
  if (entry != NO_ITEM && unit_of(r, entry) != FROM_NOWHERE)
    in.at[in.count++] = unit_of(r, entry);
  for (size_t k = 0; k < item->link_count && !unit->child; k++) {
    int64_t from = unit_of(r, link_of(r->d, unit->first, k)->from);
    if (from != FROM_NOWHERE)
      in.at[in.count++] = from;
  }
  return in;
}

static void add_unit(struct region *r, int64_t unit) {
  struct inputs in = inputs_of(r, r->units[unit]);
  if (in.count > 1 && split(r, unit, &in))
    return;
  size_t chosen = 0;
  while (chosen < in.count && !is_end(r, in.at[chosen]))
    chosen++;
  follow(r, unit,
         in.count == 0        ? FROM_NOWHERE
         : chosen == in.count ? in.at[0]
                              : in.at[chosen]);
}

/* Closes the remaining chains: they are sides of others, or separate nets. */
static struct diagram_part *close_region(struct region *r) {
  struct diagram_part *first = NULL, **tail = &first;
  for (size_t i = r->chains.count; i-- > 0;) {
    struct chain *c = &r->chains.at[i];
    struct diagram_place p = place_of(r, c->source);
    if (c->closed || c->all.count == 0 || i == 0 || p.chain < 0 || p.at < 0)
      continue;
    add_side(r->chains.at[p.chain].all.at[p.at].part, take_tail(r, i, 0));
    c->closed = true;
  }
  for (size_t i = 0; i < r->chains.count; i++) {
    if (r->chains.at[i].closed || r->chains.at[i].all.count == 0)
      continue;
    *tail = take_tail(r, i, 0);
    tail = &(*tail)->next;
  }
  return first;
}

static struct diagram_part *region_part(struct diagram *d,
                                        struct diagram_unit *units,
                                        size_t entry, bool root) {
  struct region r = {.d = d, .entry = entry, .root = root};
  for (const struct diagram_unit *u = units; u; u = u->next)
    r.count++;
  r.units = arena_alloc(d->arena, r.count + 1, sizeof *r.units);
  r.places = arena_alloc(d->arena, r.count + 1, sizeof *r.places);
  r.count = 0;
  for (struct diagram_unit *u = units; u; u = u->next)
    r.units[r.count++] = u;
  if (entry != NO_ITEM)
    open_chain(&r, FROM_ENTRY);
  for (size_t i = 0; i < r.count; i++) {
    add_unit(&r, (int64_t)i);
  }
  struct diagram_part *first = close_region(&r);
  if (!root && first && first->next) { /* beside the first chain */
    const struct diagram_part *last = first->first;
    while (last->next)
      last = last->next;
    first->ends = last->item != r.units[r.count - 1]->end - 1;
    for (struct diagram_part *part = first->next; part;) {
      struct diagram_part *next = part->next;
      part->next = NULL;
      add_side(first->first, part);
      part = next;
    }
    first->next = NULL;
  }
  return first ? first : new_part(d, PART_CHAIN);
}

struct diagram_part *diagram_find_parts(struct diagram *d,
                                        struct diagram_unit *units) {
  return units ? region_part(d, units, NO_ITEM, true) : NULL;
}

void part_number(const struct diagram_part *part, size_t *of_item,
                 size_t number) {
  for (const struct diagram_part *p = part->first; p; p = p->next)
    part_number(p, of_item, number);
  for (const struct diagram_part *p = part->side; p; p = p->next)
    part_number(p, of_item, number);
  if (part->kind == PART_BOX || part->kind == PART_SPLIT)
    of_item[part->item] = number;
}
