/* Chains: tasks that some best order runs without interruption. */
#include "memory/plan/chains.h"

#include "base/check.h"

/* A chain so far, in bytes on top of those in memory before it. */
struct growth {
  int64_t frees, frees_least;      /* bytes that its first task frees */
  int64_t first_least, first_most; /* while its first task runs */
  int64_t later; /* in later tasks, before subtracting those freed */
  int64_t left;  /* size of its result */
  size_t result; /* that tensor; SIZE_MAX: none, or several */
};

static const struct plan_tensor *made_by(const struct task_graph *graph,
                                         const struct plan_task *task, int i) {
  return &graph->tensors.at[graph->makes.at[task->first_made + (size_t)i]];
}

static struct growth begin(const struct task_graph *graph,
                           const struct plan_task *task) {
  struct growth g = {.result = SIZE_MAX};
  bool overwrites = false;
  for (int i = 0; i < task->made_count; i++)
    g.left += made_by(graph, task, i)->bytes;
  for (int i = 0; i < task->read_count; i++) {
    const struct plan_tensor *read =
        &graph->tensors.at[graph->reads.at[task->first_read + (size_t)i]];
    if (read->lasts)
      continue;
    g.frees += read->bytes;
    if (read->readers > 1)
      continue;
    g.frees_least += read->bytes;
    overwrites = overwrites || (task_may_replace(task, i) && !read->given &&
                                task->made_count == 1 && read->bytes == g.left);
  }
  g.first_most = overwrites ? task->work : g.left + task->work;
  g.first_least = task->elementwise ? task->work : g.first_most;
  if (task->made_count == 1)
    g.result = graph->makes.at[task->first_made];
  return g;
}

/* True if `task` is the chain's only reader and reads nothing else. */
static bool continues(const struct task_graph *graph, const struct growth *g,
                      const struct plan_task *task) {
  return g->result != SIZE_MAX && task->read_count == 1 &&
         graph->reads.at[task->first_read] == g->result &&
         graph->tensors.at[g->result].readers == 1 &&
         !graph->tensors.at[g->result].lasts && task->made_count == 1;
}

/* Adds the task to the chain if that is never worse. */
static bool extend(const struct task_graph *graph, struct growth *g,
                   const struct plan_task *task) {
  int64_t left = made_by(graph, task, 0)->bytes;
  bool over = task_may_replace(task, 0) && left == g->left;
  int64_t need = g->left + task->work + (over ? 0 : left);
  bool lower = need <= g->later || need - g->frees_least <= g->first_least;
  bool higher = g->first_most <= need - g->frees && g->later <= need;
  bool falls = left <= g->left, rises = g->left >= g->frees;
  if (!(lower && falls) && !(higher && rises))
    return false;
  g->later = max_i64(g->later, need);
  g->left = left;
  g->result = graph->makes.at[task->first_made];
  return true;
}

void chains_find(const struct task_graph *graph, size_t from, size_t count,
                 size_t *reader, struct arena *arena, struct chains *chains) {
  bool *taken = arena_alloc(arena, count + 1, sizeof *taken);
  size_t used = 0;
  *chains = (struct chains){
      .begins = arena_alloc(arena, count + 1, sizeof *chains->begins),
      .tasks = arena_alloc(arena, count + 1, sizeof *chains->tasks)};
  for (size_t i = 0; i < count; i++) {
    const struct plan_task *task = &graph->tasks.at[from + i];
    for (int k = 0; k < task->read_count; k++)
      reader[graph->reads.at[task->first_read + (size_t)k]] = i + 1;
  }
  for (size_t i = 0; i < count; i++) {
    if (taken[i])
      continue;
    struct growth g = begin(graph, &graph->tasks.at[from + i]);
    chains->begins[chains->count++] = used;
    chains->tasks[used++] = from + i;
    while (g.result != SIZE_MAX && reader[g.result]) {
      size_t next = reader[g.result] - 1;
      const struct plan_task *task = &graph->tasks.at[from + next];
      if (!continues(graph, &g, task) || !extend(graph, &g, task))
        break;
      taken[next] = true;
      chains->tasks[used++] = from + next;
    }
  }
  chains->begins[chains->count] = used;
}
