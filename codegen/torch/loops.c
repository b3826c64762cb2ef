/*
 * Loops: consecutive pieces that are alike, each with modules of its own,
 * become lists of modules and a loop.
 */
#include "codegen/torch/python.h"
#include "base/hash.h"

struct looping {
  struct python *p;
  const struct python_item *items;
  size_t count;
  uint64_t *hashes;
};

static void hash_items(struct looping *l) {
  l->hashes = arena_alloc(l->p->arena, l->count + 1, sizeof *l->hashes);
  for (size_t i = 0; i < l->count; i++)
    l->hashes[i] = hash_text(HASH_TEXT, text_slice(&l->items[i].run.text));
}

int64_t python_own_index(const struct python_item *item, int64_t node) {
  for (size_t i = 0; i < item->own.count; i++)
    if (item->own.at[i].node == node)
      return (int64_t)i;
  return -1;
}

/* True if one module is the first in a list and the other at that place in it,
 * or if their names have one base. */
static bool may_be_listed(const struct python_own *a,
                          const struct python_own *b, size_t place) {
  return a->given ? a->list.length && slice_equal(a->list, b->list) &&
                        a->place == 0 && b->place == (int64_t)place
                  : slice_equal(a->base, b->base);
}

/* True if two items do the same with modules of their own. */
static bool are_alike(const struct looping *l, size_t a, size_t b,
                      size_t place) {
  const struct python_item *one = &l->items[a], *other = &l->items[b];
  if (l->hashes[a] != l->hashes[b] || one->own.count != other->own.count ||
      one->run.holes.count != other->run.holes.count ||
      !slice_equal(text_slice(&one->run.text), text_slice(&other->run.text)))
    return false;
  for (size_t i = 0; i < one->own.count; i++)
    if (!may_be_listed(&one->own.at[i], &other->own.at[i], place))
      return false;
  for (size_t i = 0; i < one->run.holes.count; i++) {
    const struct hole *x = &one->run.holes.at[i], *y = &other->run.holes.at[i];
    int64_t own = x->kind == HOLE_MODULE ? python_own_index(one, x->node) : -1;
    if (own < 0
            ? !hole_equal(x, y)
            : y->kind != HOLE_MODULE || python_own_index(other, y->node) != own)
      return false;
  }
  return true;
}

static size_t count_turns(const struct looping *l, size_t first,
                          size_t period) {
  size_t times = 1;
  while (first + period * (times + 1) <= l->count) {
    for (size_t i = 0; i < period; i++)
      if (!are_alike(l, first + i, first + period * times + i, times))
        return times;
    times++;
  }
  return times;
}

/* True if lists with given names contain all modules of these names. */
static bool are_whole(const struct looping *l, size_t first, size_t period,
                      size_t times) {
  for (size_t i = first; i < first + period; i++)
    for (size_t o = 0; o < l->items[i].own.count; o++) {
      const struct python_own *own = &l->items[i].own.at[o];
      size_t there = 0;
      for (size_t k = 0; k < l->count && own->given; k++)
        for (size_t m = 0; m < l->items[k].own.count; m++)
          there += python_given_in(l->items[k].own.at[m].base, own->list);
      if (own->given && there != times)
        return false;
    }
  return true;
}

static size_t lines_of(const struct python_item *item) {
  size_t lines = item->own.count;
  for (size_t i = 0; i < item->run.text.length; i++)
    lines += item->run.text.at[i] == '\n';
  return lines;
}

/*
 * The turn from `first` on that saves most lines, or a single item. A multiple
 * of a period that continues after its second turn saves no more. Two single
 * layers are not a list; two modules with layers inside are.
 */
static struct python_turn find_turn(const struct looping *l, size_t first) {
  enum { LONGEST = 64 };
  struct python_turn best = {first, 1, 1};
  size_t saved_most = 0, lines = 0;
  bool calls = false;
  for (size_t period = 1; period <= LONGEST && first + 2 * period <= l->count;
       period++) {
    const struct python_item *last = &l->items[first + period - 1];
    lines += lines_of(last);
    calls = calls || last->calls;
    if (lines == 0 ||
        (period % best.period == 0 && 2 * period <= best.period * best.times))
      continue;
    size_t times = count_turns(l, first, period);
    size_t saved = (times - 1) * lines;
    if (times > (calls ? 1 : 2) && saved > saved_most &&
        are_whole(l, first, period, times)) {
      saved_most = saved;
      best = (struct python_turn){first, period, times};
    }
  }
  return best;
}

void python_find_turns(struct python *p, struct python_unit *unit) {
  struct looping l = {.p = p, .items = unit->items, .count = unit->item_count};
  hash_items(&l);
  for (size_t i = 0; i < l.count;) {
    struct python_turn turn = find_turn(&l, i);
    *VEC_PUSH(p->arena, &unit->turns) = turn;
    i += turn.period * turn.times;
  }
}
