/* Needed: a lower bound of memory while a task runs, in any order. */
#include "memory/plan/needed.h"

#include "base/check.h"

enum { MOST_EFFORT = 200000 }; /* edges visited */

#define ENDLESS (INT64_MAX / 4)

/* An edge of the flow network. Edges 2k and 2k + 1 are each other's reverse. */
struct edge {
  size_t to, next; /* next edge of the same node, from 1 */
  int64_t room;
};

/*
 * Nodes are tasks, then tensors. A task on the side of the source has run. A
 * tensor is in memory if its maker has run and one of its readers has not: then
 * the edge from its maker is cut.
 */
struct network {
  const struct task_graph *graph;
  struct arena *arena;
  size_t source, sink;
  size_t *task_node; /* the task's ancestors are the source, it and its
                        descendants the sink */
  size_t *first;     /* by node: its edges, from 1 */
  size_t *by;        /* by node: the edge that leads to it, from 1 */
  size_t *queue;
  VEC(struct edge) edges;
  size_t effort;
};

static void add_edge(struct network *n, size_t from, size_t to, int64_t room) {
  size_t ends[2] = {from, to};
  for (int i = 0; i < 2; i++) {
    struct edge *edge = VEC_PUSH(n->arena, &n->edges);
    *edge = (struct edge){ends[1 - i], n->first[ends[i]], i ? 0 : room};
    n->first[ends[i]] = n->edges.count;
  }
}

/* Finds a path with capacity from the source to the sink. */
static bool find_way(struct network *n) {
  size_t count = 0;
  for (size_t i = 0; i <= n->sink; i++)
    n->by[i] = 0;
  n->queue[count++] = n->source;
  for (size_t at = 0; at < count && n->effort < MOST_EFFORT; at++)
    for (size_t e = n->first[n->queue[at]]; e; e = n->edges.at[e - 1].next) {
      const struct edge *edge = &n->edges.at[e - 1];
      n->effort++;
      if (!edge->room || n->by[edge->to] || edge->to == n->source)
        continue;
      n->by[edge->to] = e;
      if (edge->to == n->sink)
        return true;
      n->queue[count++] = edge->to;
    }
  return false;
}

static struct edge *back_of(struct network *n, size_t edge) {
  return &n->edges.at[(edge - 1) ^ 1];
}

/* The maximum flow, which equals the minimum cut. */
static int64_t find_flow(struct network *n) {
  int64_t flow = 0;
  while (find_way(n)) {
    int64_t room = ENDLESS;
    for (size_t e = n->by[n->sink]; e; e = n->by[back_of(n, e)->to])
      room = min_i64(room, n->edges.at[e - 1].room);
    for (size_t e = n->by[n->sink]; e; e = n->by[back_of(n, e)->to]) {
      n->edges.at[e - 1].room -= room;
      back_of(n, e)->room += room;
    }
    flow += room;
  }
  return flow;
}

/* Finds the tasks that must have run and those that cannot have. */
static void find_sides(struct network *n, const size_t *maker, size_t index) {
  const struct task_graph *graph = n->graph;
  for (size_t i = 0; i < graph->tasks.count; i++)
    n->task_node[i] = i;
  n->task_node[index] = n->sink;
  for (size_t i = index; i < graph->tasks.count; i++) {
    const struct plan_task *task = &graph->tasks.at[i];
    for (int k = 0; k < task->read_count; k++) {
      size_t by = maker[graph->reads.at[task->first_read + (size_t)k]];
      if (by != SIZE_MAX && n->task_node[by] == n->sink)
        n->task_node[i] = n->sink;
    }
  }
  for (size_t i = index + 1; i-- > 0;) {
    const struct plan_task *task = &graph->tasks.at[i];
    for (int k = 0; k < task->read_count; k++) {
      size_t by = maker[graph->reads.at[task->first_read + (size_t)k]];
      if (by != SIZE_MAX && (i == index || n->task_node[i] == n->source))
        n->task_node[by] = n->source;
    }
  }
}

static size_t maker_node(const struct network *n, const size_t *maker,
                         size_t tensor) {
  return maker[tensor] == SIZE_MAX ? n->source : n->task_node[maker[tensor]];
}

/* If an input of a task has to be made, it is in memory until the task ran. */
static void add_reads(struct network *n, const size_t *maker, size_t index) {
  const struct plan_task *task = &n->graph->tasks.at[index];
  size_t reader = n->task_node[index];
  for (int k = 0; k < task->read_count && reader != n->source; k++) {
    size_t tensor = n->graph->reads.at[task->first_read + (size_t)k];
    size_t by = maker_node(n, maker, tensor);
    if (by == n->sink)
      continue; /* it is not made yet */
    add_edge(n, n->graph->tasks.count + tensor, reader, ENDLESS);
    if (reader != n->sink && by != n->source)
      add_edge(n, reader, by, ENDLESS);
  }
}

static int64_t least_alive(const struct task_graph *graph, const size_t *maker,
                           size_t index, struct arena *arena) {
  size_t nodes = graph->tasks.count + graph->tensors.count;
  struct network n = {
      .graph = graph, .arena = arena, .source = nodes, .sink = nodes + 1};
  n.task_node = arena_alloc(arena, graph->tasks.count + 1, sizeof(size_t));
  n.first = arena_alloc(arena, nodes + 2, sizeof *n.first);
  n.by = arena_alloc(arena, nodes + 2, sizeof *n.by);
  n.queue = arena_alloc(arena, nodes + 2, sizeof *n.queue);
  find_sides(&n, maker, index);
  for (size_t i = 0; i < graph->tasks.count; i++)
    add_reads(&n, maker, i);
  for (size_t i = 0; i < graph->tensors.count; i++) {
    size_t by = maker_node(&n, maker, i);
    if (by == n.sink)
      continue;
    add_edge(&n, by, graph->tasks.count + i, graph->tensors.at[i].bytes);
    if (graph->tensors.at[i].lasts)
      add_edge(&n, graph->tasks.count + i, n.sink, ENDLESS);
  }
  return find_flow(&n);
}

int64_t task_needs(const struct task_graph *graph, const size_t *maker,
                   size_t index) {
  struct arena scratch;
  arena_open_in(&scratch, graph->arena);
  int64_t alive = least_alive(graph, maker, index, &scratch);
  arena_close(&scratch);
  return alive + task_adds(graph, &graph->tasks.at[index]);
}
