/* Names of maps by their level in a pyramid: that of stride 2^4 is C4 or P4. */
#include "import/level.h"

#include <string.h>

enum { LEVELS = 8 };

static bool rises(enum layer_word word) {
  return word == WORD_UP || word == WORD_DECONV;
}

/* The net's only input, if that is an image; NULL: there is none. */
static const struct graph_shape *image_of(const struct graph *graph) {
  const struct graph_shape *image = NULL;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const struct graph_node *node = graph_at(graph, (int)i);
    if (node->word != WORD_INPUT)
      continue;
    if (image || node->shape.rank != 3)
      return NULL;
    image = &node->shape;
  }
  return image;
}

/* The power of two of a map's stride; 0: it has none. */
static int level_of(const struct graph_shape *image,
                    const struct graph_shape *map) {
  for (int level = 1; map->rank == 3 && level < LEVELS; level++) {
    int64_t step = (int64_t)1 << level;
    if ((image->size[0] + step - 1) / step == map->size[0] &&
        (image->size[1] + step - 1) / step == map->size[1])
      return level;
  }
  return 0;
}

/* Marks all that marked maps give; false: no map is marked. */
static bool mark_raised(const struct graph *graph, bool *raised) {
  bool any = false;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const struct graph_node *node = graph_at(graph, (int)i);
    for (size_t k = 0; k < graph_feeds(node); k++)
      raised[i] = raised[i] || raised[graph_feed(node, k)];
  }
  for (size_t i = 0; i < graph->nodes.count; i++)
    any = any || raised[i];
  return any;
}

const char *const *level_names(const struct source_plan *plan) {
  struct graph *graph = plan->graph;
  size_t count = graph->nodes.count;
  const char **name = arena_alloc(graph->arena, count + 1, sizeof *name);
  bool *raised = arena_alloc(graph->arena, count + 1, sizeof *raised);
  const struct graph_shape *image = image_of(graph);
  int labels[2][LEVELS] = {{0}};
  if (!image || plan->layout.flat)
    return name;
  for (size_t i = 0; i < count; i++)
    if (rises(graph_at(graph, (int)i)->word))
      raised[graph_feed(graph_at(graph, (int)i), 0)] = true;
  if (!mark_raised(graph, raised))
    return name;
  for (int turn = 0; turn < 2; turn++)
    for (size_t i = 0; i < count; i++) {
      int level = plan->labelled[i] && !plan->series[i]
                      ? level_of(image, &graph_at(graph, (int)i)->shape)
                      : 0;
      if (level && turn == 0)
        labels[raised[i]][level]++;
      else if (level && labels[raised[i]][level] == 1)
        name[i] = graph_text(graph, "%c%d", raised[i] ? 'P' : 'C', level);
    }
  return name;
}
