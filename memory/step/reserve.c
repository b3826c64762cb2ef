/* Reserve: what the allocator holds for a step, segments and all. */
#include "memory/step/reserve.h"

#include "base/check.h"
#include "base/hash.h"

/* What is no tensor of the passes. */
enum kind { LASTING, GRADIENT, GATHERED, WORK, KINDS };

struct reserve_request {
  uint32_t block;
  uint32_t below; /* the one before of the same name, from 1 */
};

/* Requests of a name that are open: the latest, from 1. */
struct reserve_named {
  uint64_t name; /* 0: free */
  uint32_t top;
};

struct requests {
  struct arena *arena;
  struct allocator allocator;
  VEC(struct reserve_request) all;
  uint32_t unused; /* of these, likewise */
  uint32_t of_kind[KINDS];
  struct reserve_named *names; /* in a power of two of places */
  size_t count, room;
  bool apart; /* gradients of parameters are not asked for */
  bool lost;  /* what was given back had not been asked for */
};

/* Those of a key, or of a size. */
static uint64_t name_of(size_t key, int64_t bytes) {
  return key ? (uint64_t)key * 2 + 1 : (uint64_t)bytes * 2;
}

static struct reserve_named *find(const struct requests *r, uint64_t name) {
  size_t at = (size_t)hash_mix(0, name) & (r->room - 1);
  while (r->names[at].name && r->names[at].name != name)
    at = (at + 1) & (r->room - 1);
  return &r->names[at];
}

static struct reserve_named *find_or_add(struct requests *r, uint64_t name) {
  if (r->count * 2 >= r->room) {
    struct reserve_named *old = r->names;
    size_t before = r->room;
    r->room = before ? 2 * before : 256;
    r->names = arena_alloc(r->arena, r->room, sizeof *r->names);
    for (size_t i = 0; i < before; i++)
      if (old[i].name)
        *find(r, old[i].name) = old[i];
  }
  struct reserve_named *named = find(r, name);
  r->count += !named->name;
  named->name = name;
  return named;
}

static void ask(struct requests *r, uint32_t *top, int64_t bytes) {
  uint32_t at = r->unused;
  if (bytes <= 0)
    return;
  if (at) {
    r->unused = r->all.at[at - 1].below;
  } else {
    VEC_PUSH(r->arena, &r->all);
    at = (uint32_t)r->all.count;
  }
  r->all.at[at - 1] =
      (struct reserve_request){allocator_take(&r->allocator, bytes), *top};
  *top = at;
}

static void give_back(struct requests *r, uint32_t *top) {
  uint32_t at = *top;
  allocator_give(&r->allocator, r->all.at[at - 1].block);
  *top = r->all.at[at - 1].below;
  r->all.at[at - 1].below = r->unused;
  r->unused = at;
}

static void give_kind(struct requests *r, enum kind kind) {
  while (r->of_kind[kind])
    give_back(r, &r->of_kind[kind]);
}

void reserve_change(struct requests *r, size_t key, enum memory_part part,
                    int64_t bytes) {
  if (bytes == 0 || (part == PART_GRADIENTS && r->apart))
    return;
  if (part == PART_GRADIENTS) {
    ask(r, &r->of_kind[GRADIENT], bytes);
  } else if (bytes > 0) {
    ask(r, &find_or_add(r, name_of(key, bytes))->top, bytes);
  } else {
    struct reserve_named *named = find_or_add(r, name_of(key, -bytes));
    if (named->top)
      give_back(r, &named->top);
    else
      r->lost = true;
  }
}

/* What the passes have not given back, as what they return. */
static void end_passes(struct requests *r) {
  for (size_t i = 0; i < r->room; i++)
    while (r->names[i].top)
      give_back(r, &r->names[i].top);
}

/* Tensors of the sizes of parameters that are `bytes` together. */
static void spread(struct requests *r, const struct model *model,
                   enum kind kind, int64_t bytes) {
  int64_t all = 0, left = bytes;
  for (size_t i = 0; i < model->params.count; i++)
    if (!model->params.at[i].shared)
      all += model->params.at[i].count; /* checked with the totals */
  for (size_t i = 0; i < model->params.count && left > 0 && all > 0; i++) {
    const struct model_param *param = &model->params.at[i];
    int64_t own = param->shared ? 0 : share_i64(bytes, param->count, all);
    own = min_i64(own, left);
    ask(r, &r->of_kind[kind], own);
    left -= own;
  }
  ask(r, &r->of_kind[kind], left); /* what is rounded away */
}

/* The state has so many tensors of 32 bits by parameter, or one. */
static void make_state(struct requests *r, const struct model *model,
                       int64_t bytes) {
  int64_t each = 0, count = 1;
  if (mul_i64(model->total.trainable, 4, &each) && each > 0)
    count = max_i64(1, min_i64((bytes + each / 2) / each, 8));
  for (int64_t i = 0; i < count; i++)
    spread(r, model, LASTING, bytes / count);
}

/* What was stepped is gathered: a device's own, pieces of all, and these in a
   row. */
static void gather_flat(struct requests *r, const struct reserve_of *of) {
  uint32_t *work = &r->of_kind[WORK];
  ask(r, work, of->flat_part);
  for (int64_t left = of->flat; left > 0; left -= of->flat_part)
    ask(r, work, min_i64(left, of->flat_part));
  ask(r, work, of->flat);
  give_kind(r, WORK);
}

/* Passes and a step; what they leave in the cache is there in the next. */
static void play(struct requests *r, const struct simulation *s,
                 const struct reserve_of *of, bool first) {
  struct simulation run = *s;
  uint32_t *gathered = &r->of_kind[GATHERED];
  give_kind(r, GRADIENT);
  ask(r, gathered, of->gathered / 2); /* a unit, and the next one */
  ask(r, gathered, of->gathered - of->gathered / 2);
  run.requests = r;
  simulate(&run);
  r->lost = r->lost || run.overflow;
  end_passes(r);
  give_kind(r, GATHERED);
  if (first)
    make_state(r, s->model, of->state);
  spread(r, s->model, WORK, of->work);
  give_kind(r, WORK);
  if (of->flat_part)
    gather_flat(r, of);
}

bool reserve_find(const struct simulation *s, const struct reserve_of *of,
                  struct reserved *reserved) {
  struct requests r = {.arena = s->arena, .apart = of->gradients > 0};
  allocator_open(&r.allocator, s->arena);
  spread(&r, s->model, LASTING, of->standing);
  spread(&r, s->model, LASTING, of->gradients);
  play(&r, s, of, true);
  play(&r, s, of, false);
  *reserved = (struct reserved){r.allocator.reserved, r.allocator.most};
  return !r.lost;
}
