/*
 * Variants: units of one def or loop that differ in some layers. Finds what
 * they have in common, so that they are one class where the rest follows an
 * `if`.
 */
#include "codegen/torch/python.h"

enum { MOST_VARIANTS = 12, MOST_SLOTS = 400 };

const struct python_turn *python_turn_at(const struct python *p,
                                         const struct python_variants *v,
                                         size_t unit, size_t slot) {
  int64_t turn = v->turn_at[unit][slot];
  return turn < 0 ? NULL : &p->units.at[v->units[unit]].turns.at[turn];
}

size_t python_first_with(const struct python *p,
                         const struct python_variants *v, size_t slot) {
  size_t unit = 0;
  while (!python_turn_at(p, v, unit, slot))
    unit++;
  return unit;
}

/* The lines that make a turn's modules, or its forward lines if it has none. */
static struct slice sign(struct python *p, int64_t unit,
                         const struct python_turn *turn) {
  struct torch_code code = code_new(p->arena);
  python_put_makes(p, unit, turn, &code);
  if (code_is_empty(&code)) {
    text_putc(&code.text, '\x03');
    python_put_lines_of(p, unit, turn, &code);
  }
  text_printf(&code.text, "\x03%d", turn->times > 1);
  return text_slice(&code.text);
}

/* The turns of units that have the same signs. */
struct variant {
  struct slice *signs;
  size_t count;
  size_t *slot; /* by turn */
};

struct aligning {
  struct python *p;
  struct variant variants[MOST_VARIANTS];
  size_t count;
  size_t *variant_of; /* by unit */
  struct slice slots[MOST_SLOTS];
  size_t slot_count;
};

static bool same_signs(const struct variant *a, const struct variant *b) {
  bool same = a->count == b->count;
  for (size_t i = 0; same && i < a->count; i++)
    same = slice_equal(a->signs[i], b->signs[i]);
  return same;
}

/* False if there are too many. */
static bool add_variant(struct aligning *a, int64_t unit, size_t index) {
  const struct python_unit *s = &a->p->units.at[unit];
  struct variant now = {.count = s->turns.count};
  now.signs = arena_alloc(a->p->arena, now.count + 1, sizeof *now.signs);
  now.slot = arena_alloc(a->p->arena, now.count + 1, sizeof *now.slot);
  python_name_plainly(a->p, unit);
  for (size_t i = 0; i < now.count; i++)
    now.signs[i] = sign(a->p, unit, &s->turns.at[i]);
  size_t found = 0;
  while (found < a->count && !same_signs(&a->variants[found], &now))
    found++;
  a->variant_of[index] = found;
  if (found == MOST_VARIANTS || now.count > MOST_SLOTS)
    return false;
  if (found == a->count)
    a->variants[a->count++] = now;
  return true;
}

/* The longest common subsequence of slots and a variant: `slot` by turn. */
static void find_common(struct aligning *a, struct variant *v) {
  size_t n = a->slot_count, m = v->count;
  unsigned short *best =
      arena_alloc(a->p->arena, (n + 1) * (m + 1), sizeof *best);
#define BEST(i, k) best[(i) * (m + 1) + (k)]
  for (size_t i = n; i-- > 0;)
    for (size_t k = m; k-- > 0;) {
      unsigned short down = BEST(i + 1, k), right = BEST(i, k + 1);
      BEST(i, k) = down > right ? down : right;
      if (slice_equal(a->slots[i], v->signs[k]))
        BEST(i, k) = (unsigned short)(BEST(i + 1, k + 1) + 1);
    }
  size_t i = 0, k = 0;
  while (k < m) {
    bool equal = i < n && slice_equal(a->slots[i], v->signs[k]);
    if (equal && BEST(i, k) == BEST(i + 1, k + 1) + 1)
      v->slot[k++] = i++;
    else if (i < n && BEST(i + 1, k) >= BEST(i, k + 1))
      i++;
    else
      v->slot[k++] = SIZE_MAX;
  }
#undef BEST
}

/* Inserts a slot; later slots of other variants move up. */
static bool insert_slot(struct aligning *a, size_t at, struct slice sign) {
  if (a->slot_count == MOST_SLOTS)
    return false;
  for (size_t i = a->slot_count++; i > at; i--)
    a->slots[i] = a->slots[i - 1];
  a->slots[at] = sign;
  for (size_t v = 0; v < a->count; v++)
    for (size_t k = 0; k < a->variants[v].count; k++)
      if (a->variants[v].slot[k] != SIZE_MAX && a->variants[v].slot[k] >= at)
        a->variants[v].slot[k]++;
  return true;
}

static bool merge_variant(struct aligning *a, struct variant *v) {
  find_common(a, v);
  for (size_t k = 0; k < v->count; k++) {
    size_t at = k ? v->slot[k - 1] + 1 : 0;
    if (v->slot[k] != SIZE_MAX)
      continue;
    if (!insert_slot(a, at, v->signs[k]))
      return false;
    v->slot[k] = at;
  }
  return true;
}

/* True if the variants have enough in common for one class. */
static bool is_worth_it(const struct aligning *a) {
  size_t longest = 0, shared = 0;
  for (size_t v = 0; v < a->count; v++)
    if (a->variants[v].count > longest)
      longest = a->variants[v].count;
  for (size_t slot = 0; slot < a->slot_count; slot++) {
    size_t have = 0;
    for (size_t v = 0; v < a->count; v++)
      for (size_t k = 0; k < a->variants[v].count; k++)
        have += a->variants[v].slot[k] == slot;
    shared += have == a->count;
  }
  return 3 * a->slot_count <= 5 * longest && 3 * shared >= longest;
}

static bool align(struct aligning *a, const struct python_variants *v) {
  for (size_t u = 0; u < v->count; u++)
    if (!add_variant(a, v->units[u], u))
      return false;
  for (size_t i = 0; i < a->count; i++)
    for (size_t k = 0; k < a->variants[i].count; k++)
      a->variants[i].slot[k] = SIZE_MAX;
  for (size_t i = 0; i < a->count; i++)
    if (!merge_variant(a, &a->variants[i]))
      return false;
  return is_worth_it(a);
}

static int64_t *no_turns(struct python *p, size_t slots) {
  int64_t *turns = arena_alloc(p->arena, slots + 1, sizeof *turns);
  for (size_t i = 0; i < slots; i++)
    turns[i] = -1;
  return turns;
}

bool python_align(struct python *p, struct python_variants *v) {
  struct aligning *a = ARENA_NEW(p->arena, struct aligning);
  *a = (struct aligning){.p = p};
  a->variant_of = arena_alloc(p->arena, v->count + 1, sizeof *a->variant_of);
  v->turn_at = arena_alloc(p->arena, v->count + 1, sizeof *v->turn_at);
  v->slots = p->units.at[v->units[0]].turns.count;
  if (v->count > 1) {
    if (!align(a, v))
      return false;
    v->slots = a->slot_count;
  }
  for (size_t u = 0; u < v->count; u++) {
    const struct variant *way = &a->variants[a->variant_of[u]];
    size_t turns = p->units.at[v->units[u]].turns.count;
    v->turn_at[u] = no_turns(p, v->slots);
    for (size_t k = 0; k < turns; k++)
      v->turn_at[u][v->count > 1 ? way->slot[k] : k] = (int64_t)k;
  }
  return true;
}
