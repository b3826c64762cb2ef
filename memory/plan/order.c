/* Order: searches the order of a part of a net as a problem of chains. */
#include "memory/plan/order.h"

#include "base/check.h"
#include "memory/plan/chains.h"
#include "memory/plan/order_search.h"

/* Effort of all searches in all parts. */
#define ALL_EFFORT 4000000

/* A part and the problem of its chains. */
struct building {
  const struct order_part *part;
  struct chains chains;
  uint32_t *chain_of; /* by task of the part */
  struct order_problem problem;
};

static const struct plan_task *task_at(const struct building *b, size_t i) {
  return &b->part->graph->tasks.at[b->chains.tasks[i]];
}

static int64_t made_by(const struct task_graph *graph,
                       const struct plan_task *task, bool lasting) {
  int64_t bytes = 0;
  for (int i = 0; i < task->made_count; i++) {
    const struct plan_tensor *made =
        &graph->tensors.at[graph->makes.at[task->first_made + (size_t)i]];
    if (!lasting || made->readers || made->lasts)
      bytes += made->bytes;
  }
  return bytes;
}

/* Finds the bytes that a chain needs and leaves. Only its first task reads
 * tensors of other chains. */
static void weigh(const struct building *b, size_t chain,
                  struct order_chain *out) {
  const struct task_graph *graph = b->part->graph;
  size_t at = b->chains.begins[chain];
  const struct plan_task *task = task_at(b, at);
  out->first = made_by(graph, task, false) + task->work;
  out->left = out->later = made_by(graph, task, true);
  while (++at < b->chains.begins[chain + 1]) {
    task = task_at(b, at);
    int64_t made = made_by(graph, task, false), read = out->left;
    bool over = task_may_replace(task, 0) && made == read;
    out->later = max_i64(out->later, read + task->work + (over ? 0 : made));
    out->left = made_by(graph, task, true);
  }
}

/* True if a task may overwrite its read `i` as the last reader. */
static bool replaces(const struct task_graph *graph,
                     const struct plan_task *task, int i) {
  const struct plan_tensor *read =
      &graph->tensors.at[graph->reads.at[task->first_read + (size_t)i]];
  return task_may_replace(task, i) && task->made_count == 1 && !read->given &&
         read->bytes == made_by(graph, task, false);
}

/* Adds the reads of the chain's first task. Other chains make them, and they
 * may be freed here. */
static void add_reads(struct building *b, size_t chain) {
  const struct order_part *part = b->part;
  const struct task_graph *graph = part->graph;
  struct arena *arena = b->problem.arena;
  struct order_chain *out = &b->problem.chains[chain];
  const struct plan_task *task = task_at(b, b->chains.begins[chain]);
  out->reads = (uint32_t)b->problem.reads.count;
  out->needs = (uint32_t)b->problem.needs.count;
  for (int i = 0; i < task->read_count; i++) {
    size_t tensor = graph->reads.at[task->first_read + (size_t)i];
    size_t maker = part->room->maker[tensor];
    if (maker != SIZE_MAX && maker >= part->from)
      *VEC_PUSH(arena, &b->problem.needs) = b->chain_of[maker - part->from];
    if (graph->tensors.at[tensor].lasts)
      continue;
    if (!part->room->value[tensor]) {
      VEC_PUSH(arena, &b->problem.values)->bytes =
          graph->tensors.at[tensor].bytes;
      part->room->value[tensor] = (uint32_t)b->problem.values.count;
    }
    *VEC_PUSH(arena, &b->problem.reads) = (struct order_read){
        part->room->value[tensor] - 1, replaces(graph, task, i)};
  }
  out->reads_end = (uint32_t)b->problem.reads.count;
  out->needs_end = (uint32_t)b->problem.needs.count;
}

/* Lists the readers of each value. */
static void find_readers(struct order_problem *problem) {
  size_t count = problem->values.count;
  uint32_t *at = arena_alloc(problem->arena, count + 2, sizeof *at);
  problem->readers = arena_alloc(problem->arena, problem->reads.count + 1,
                                 sizeof *problem->readers);
  for (size_t i = 0; i < problem->reads.count; i++)
    at[problem->reads.at[i].value + 2]++;
  for (size_t i = 2; i < count + 2; i++)
    at[i] += at[i - 1];
  for (size_t c = 0; c < problem->count; c++)
    for (size_t i = problem->chains[c].reads; i < problem->chains[c].reads_end;
         i++)
      problem->readers[at[problem->reads.at[i].value + 1]++] = (uint32_t)c;
  for (size_t i = 0; i < count; i++) {
    problem->values.at[i].readers = at[i];
    problem->values.at[i].readers_end = at[i + 1];
  }
}

/* Lists the chains that need each chain. */
static void find_followers(struct order_problem *problem) {
  size_t count = problem->count;
  uint32_t *at = arena_alloc(problem->arena, count + 2, sizeof *at);
  problem->followers = arena_alloc(problem->arena, problem->needs.count + 1,
                                   sizeof *problem->followers);
  for (size_t i = 0; i < problem->needs.count; i++)
    at[problem->needs.at[i] + 2]++;
  for (size_t i = 2; i < count + 2; i++)
    at[i] += at[i - 1];
  for (size_t c = 0; c < count; c++)
    for (size_t i = problem->chains[c].needs; i < problem->chains[c].needs_end;
         i++)
      problem->followers[at[problem->needs.at[i] + 1]++] = (uint32_t)c;
  for (size_t c = 0; c < count; c++) {
    problem->chains[c].followers = at[c];
    problem->chains[c].followers_end = at[c + 1];
  }
}

static void build(struct building *b, struct arena *arena) {
  const struct order_part *part = b->part;
  chains_find(part->graph, part->from, part->count, part->room->reader, arena,
              &b->chains);
  size_t count = b->problem.count = b->chains.count;
  b->problem.arena = arena;
  b->problem.chains = arena_alloc(arena, count, sizeof *b->problem.chains);
  b->chain_of = arena_alloc(arena, part->count, sizeof *b->chain_of);
  for (size_t c = 0; c < count; c++)
    for (size_t k = b->chains.begins[c]; k < b->chains.begins[c + 1]; k++)
      b->chain_of[b->chains.tasks[k] - part->from] = (uint32_t)c;
  for (size_t c = 0; c < count; c++) {
    weigh(b, c, &b->problem.chains[c]);
    add_reads(b, c);
  }
  find_readers(&b->problem);
  find_followers(&b->problem);
}

bool order_improve(struct order_part *part, int64_t live, int64_t bound,
                   int64_t *least, size_t *order) {
  struct arena scratch;
  struct building b = {.part = part};
  if (part->room->effort >= ALL_EFFORT)
    return false;
  arena_open_in(&scratch, part->graph->arena);
  build(&b, &scratch);
  b.problem.live = live;
  b.problem.bound = bound;
  b.problem.least = *least;
  uint32_t *sequence = arena_alloc(&scratch, b.problem.count, sizeof *sequence);
  struct order_found found = order_search(&b.problem, sequence);
  size_t place = part->from;
  for (size_t i = 0; i < b.problem.count && found.better; i++)
    for (size_t k = b.chains.begins[sequence[i]];
         k < b.chains.begins[sequence[i] + 1]; k++)
      order[place++] = b.chains.tasks[k];
  arena_close(&scratch);
  part->room->effort += found.effort;
  *least = found.least;
  return found.complete;
}
