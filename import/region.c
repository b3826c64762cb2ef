/* Regions of a graph. A join's operands can be blocks if a node d dominates the
 * join and no tensor between d and the join has other users. */

#include "import/builder.h"

enum {
  MOST_IN_BLOCKS = 2000, /* nodes between d and a join */
  LONG_BRANCH = 12       /* of a branch beside {}; then names */
};

bool region_stamp(struct source_builder *b, int top, int bottom) {
  size_t next = b->region.count;
  if (b->stamp[bottom] == b->now)
    return true;
  b->stamp[bottom] = b->now;
  *VEC_PUSH(b->arena, &b->region) = bottom;
  for (; next < b->region.count; next++) {
    const struct graph_node *node = graph_at(b->graph, b->region.at[next]);
    if (b->region.count > MOST_IN_BLOCKS || b->written[node->index] ||
        node->word == WORD_INPUT)
      return false;
    for (size_t i = 0; i < graph_feeds(node); i++) {
      int from = graph_feed(node, i);
      if (from == top || b->stamp[from] == b->now)
        continue;
      b->stamp[from] = b->now;
      *VEC_PUSH(b->arena, &b->region) = from;
    }
  }
  return true;
}

void region_new(struct source_builder *b) {
  b->now++;
  b->region.count = 0;
}

bool region_keeps(const struct source_builder *b, int node, int end) {
  for (int i = b->tree.first_use[node]; i < b->tree.first_use[node + 1]; i++) {
    int user = b->tree.uses[i];
    if (user != end && b->stamp[user] != b->now && b->side_of[user] != node)
      return false;
  }
  return true;
}

bool region_is_private(const struct source_builder *b, int end) {
  for (size_t i = 0; i < b->region.count; i++)
    if (b->region.at[i] != end && !region_keeps(b, b->region.at[i], end))
      return false;
  return true;
}

/* True if every operand of a join can be a block on its dominator. */
static bool fits_blocks(struct source_builder *b,
                        const struct graph_node *join) {
  int top = b->tree.parent[join->index], longest = 0;
  bool idle = false;
  if (top < 0 || graph_feeds(join) > join->inputs.count || b->layout.flat)
    return false;
  for (size_t i = 0; i < join->inputs.count; i++) {
    int bottom = join->inputs.at[i];
    idle = idle || bottom == top;
    if (bottom == top)
      continue;
    region_new(b);
    if (!region_stamp(b, top, bottom) || !region_is_private(b, join->index))
      return false;
    int count = (int)b->region.count;
    for (size_t other = 0; other < i; other++)
      if (join->inputs.at[other] == bottom)
        return false;
    longest = count > longest ? count : longest;
  }
  return !idle || longest <= LONG_BRANCH * 2;
}

enum source_form source_form_of(struct source_builder *b,
                                const struct graph_node *node) {
  if (graph_feeds(node) <= 1)
    return FORM_CHAIN;
  return fits_blocks(b, node) ? FORM_BLOCKS : FORM_LABELS;
}
