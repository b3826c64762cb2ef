/* Reserve: bytes that the allocator reserves for a step, in whole segments. */
#include "memory/step/reserve.h"

#include "base/check.h"
#include "base/hash.h"

/* Kinds of requests that are not tensors of the passes. */
enum kind { LASTING, GRADIENT, GATHERED, WORK, KINDS };

/* A request and the slot of its block; a free has the same slot. */
struct placed_request {
  int64_t bytes; /* below 0: a free */
  uint32_t slot; /* index in `blocks`; 0: a gradient of a parameter */
};

struct requests {
  struct arena *arena;
  struct allocator allocator;
  VEC(struct placed_request) passes; /* of forward and backward */
  VEC(uint32_t) blocks;              /* by slot; slot 0 is none */
  VEC(uint32_t) left;                /* slots that the passes do not free */
  VEC(uint32_t) of_kind[KINDS];      /* blocks */
};

static void ask(struct requests *r, enum kind kind, int64_t bytes) {
  if (bytes > 0)
    *VEC_PUSH(r->arena, &r->of_kind[kind]) =
        allocator_take(&r->allocator, bytes);
}

static void give_kind(struct requests *r, enum kind kind) {
  while (r->of_kind[kind].count)
    allocator_give(&r->allocator,
                   r->of_kind[kind].at[--r->of_kind[kind].count]);
}

/* Pairs: each free with its request */

/* The stack of slots that are in use under a name. */
struct open_slots {
  uint64_t name; /* 0: free */
  uint32_t top;
};

struct pairs {
  struct arena *arena;
  struct open_slots *names; /* hash table; `room` is a power of two */
  size_t count, room;
  VEC(uint32_t) below; /* by slot: the slot before it under that name, or 0 */
  uint32_t unused;     /* stack of unused slots, linked by `below` */
};

/* Requests are named by key or, without one, by size. */
static uint64_t name_of(const struct step_request *of) {
  return of->key ? (uint64_t)of->key * 2 + 1
                 : (uint64_t)(of->bytes < 0 ? -of->bytes : of->bytes) * 2;
}

static struct open_slots *find(const struct pairs *p, uint64_t name) {
  size_t at = (size_t)hash_mix(0, name) & (p->room - 1);
  while (p->names[at].name && p->names[at].name != name)
    at = (at + 1) & (p->room - 1);
  return &p->names[at];
}

static struct open_slots *find_or_add(struct pairs *p, uint64_t name) {
  if (p->count * 2 >= p->room) {
    struct open_slots *old = p->names;
    size_t before = p->room;
    p->room = before ? 2 * before : 256;
    p->names = arena_alloc(p->arena, p->room, sizeof *p->names);
    for (size_t i = 0; i < before; i++)
      if (old[i].name)
        *find(p, old[i].name) = old[i];
  }
  struct open_slots *named = find(p, name);
  p->count += !named->name;
  named->name = name;
  return named;
}

static uint32_t new_slot(struct pairs *p, struct open_slots *named) {
  uint32_t slot = p->unused;
  if (slot) {
    p->unused = p->below.at[slot];
  } else {
    slot = (uint32_t)p->below.count;
    VEC_PUSH(p->arena, &p->below);
  }
  p->below.at[slot] = named->top;
  return named->top = slot;
}

static uint32_t old_slot(struct pairs *p, struct open_slots *named) {
  uint32_t slot = named->top;
  named->top = p->below.at[slot];
  p->below.at[slot] = p->unused;
  return p->unused = slot;
}

/*
 * Finds the slot of each request of the passes. Gradients of parameters stay,
 * unless they are counted `apart`. False if a free matches no request.
 */
static bool pair(struct requests *r, const struct simulation *s, bool apart) {
  struct pairs p = {.arena = r->arena};
  VEC_PUSH(r->arena, &p.below);
  for (size_t i = 0; i < s->requests.count; i++) {
    const struct step_request *of = &s->requests.at[i];
    struct placed_request asked = {of->bytes, 0};
    if (of->part == PART_GRADIENTS && (apart || of->bytes < 0))
      continue;
    if (of->part != PART_GRADIENTS) {
      struct open_slots *named = find_or_add(&p, name_of(of));
      if (of->bytes < 0 && !named->top)
        return false;
      asked.slot = of->bytes > 0 ? new_slot(&p, named) : old_slot(&p, named);
    }
    *VEC_PUSH(r->arena, &r->passes) = asked;
  }
  for (size_t i = 0; i < p.room; i++)
    for (uint32_t at = p.names[i].top; at; at = p.below.at[at])
      *VEC_PUSH(r->arena, &r->left) = at;
  r->blocks.count = 0;
  memset(VEC_MORE(r->arena, &r->blocks, p.below.count), 0,
         p.below.count * sizeof *r->blocks.at);
  return true;
}

/* Steps */

/* Makes the requests of both passes, then frees tensors that they still
 * hold. */
static void run_passes(struct requests *r) {
  for (size_t i = 0; i < r->passes.count; i++) {
    const struct placed_request *asked = &r->passes.at[i];
    if (!asked->slot)
      ask(r, GRADIENT, asked->bytes);
    else if (asked->bytes > 0)
      r->blocks.at[asked->slot] = allocator_take(&r->allocator, asked->bytes);
    else
      allocator_give(&r->allocator, r->blocks.at[asked->slot]);
  }
  for (size_t i = 0; i < r->left.count; i++)
    allocator_give(&r->allocator, r->blocks.at[r->left.at[i]]);
}

/* Requests `bytes` in tensors with the proportions of the parameters. */
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
    ask(r, kind, own);
    left -= own;
  }
  ask(r, kind, left); /* the rest of the rounding */
}

/* The state has 1 to 8 tensors per parameter, by its bytes in 32 bits. */
static void make_state(struct requests *r, const struct model *model,
                       int64_t bytes) {
  int64_t each = 0, count = 1;
  if (mul_i64(model->total.trainable, 4, &each) && each > 0)
    count = max_i64(1, min_i64((bytes + each / 2) / each, 8));
  for (int64_t i = 0; i < count; i++)
    spread(r, model, LASTING, bytes / count);
}

/* Stepped parameters are gathered: a device's own, pieces of all, and these in
 * a row. */
static void gather_flat(struct requests *r, const struct reserve_of *of) {
  ask(r, WORK, of->flat_part);
  for (int64_t left = of->flat; left > 0; left -= of->flat_part)
    ask(r, WORK, min_i64(left, of->flat_part));
  ask(r, WORK, of->flat);
  give_kind(r, WORK);
}

/* Plays the passes and a step; the next step finds the cache they leave. */
static void play(struct requests *r, const struct model *model,
                 const struct reserve_of *of, bool first) {
  give_kind(r, GRADIENT);
  ask(r, GATHERED, of->gathered / 2); /* one unit and the next */
  ask(r, GATHERED, of->gathered - of->gathered / 2);
  run_passes(r);
  give_kind(r, GATHERED);
  if (first)
    make_state(r, model, of->state);
  spread(r, model, WORK, of->work);
  give_kind(r, WORK);
  if (of->flat_part)
    gather_flat(r, of);
}

bool reserve_find(const struct simulation *s, const struct reserve_of *of,
                  struct reserved *reserved) {
  struct requests r = {.arena = s->arena};
  struct simulation run = *s;
  run.asks = run.skips = run.peaks_only = true;
  simulate(&run);
  if (run.overflow || !pair(&r, &run, of->gradients > 0))
    return false;
  allocator_open(&r.allocator, s->arena);
  spread(&r, s->model, LASTING, of->standing);
  spread(&r, s->model, LASTING, of->gradients);
  play(&r, s->model, of, true);
  play(&r, s->model, of, false);
  *reserved = (struct reserved){r.allocator.reserved, r.allocator.most};
  return true;
}
