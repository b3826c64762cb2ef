/*
 * `again GROUP`: a group without parameters whose layers equal those of another
 * group, node by node. It calls that group's module again.
 */
#include "codegen/torch/python.h"

struct again_pair {
  const struct python *p;
  int64_t first, again; /* first nodes of the two groups */
  int64_t count;
  VEC(int64_t) outside[2]; /* outside nodes that they read, in order */
};

/* The index of an input: inside the group, or after that among the outside
 * ones. */
static int64_t place_of(struct again_pair *pair, int which, int64_t value) {
  int64_t begin = which ? pair->again : pair->first;
  if (value >= begin && value < begin + pair->count)
    return value - begin;
  for (size_t i = 0; i < pair->outside[which].count; i++)
    if (pair->outside[which].at[i] == value)
      return pair->count + (int64_t)i;
  *VEC_PUSH(pair->p->arena, &pair->outside[which]) = value;
  return pair->count + (int64_t)pair->outside[which].count - 1;
}

static bool reads_alike(struct again_pair *pair, int64_t a, int64_t b) {
  int inputs = python_input_count(pair->p, a);
  if (inputs != python_input_count(pair->p, b))
    return false;
  for (int i = 0; i < inputs; i++) {
    int64_t x = python_input(pair->p, a, i), y = python_input(pair->p, b, i);
    if (place_of(pair, 0, x) != place_of(pair, 1, y))
      return false;
  }
  return true;
}

static bool calls_alike(const struct torch_code *a,
                        const struct torch_code *b) {
  if (!code_equal(a, b))
    return false;
  for (size_t i = 0; i < a->holes.count; i++)
    if (a->holes.at[i].kind == HOLE_MODULE &&
        a->holes.at[i].node != b->holes.at[i].node)
      return false;
  return true;
}

/* True if both give the same single tensor to others. */
static bool gives_alike(const struct again_pair *pair) {
  const struct python *p = pair->p;
  int outputs = 0;
  for (int64_t i = 0; i < pair->count; i++) {
    bool one = p->last[pair->first + i] >= pair->first + pair->count;
    bool other = p->last[pair->again + i] >= pair->again + pair->count;
    if (one != other)
      return false;
    outputs += one;
  }
  return outputs == 1;
}

static bool are_alike(struct again_pair *pair) {
  const struct python *p = pair->p;
  enum { MOST_INPUTS = 8 };
  for (int64_t i = 0; i < pair->count; i++) {
    int64_t a = pair->first + i, b = pair->again + i;
    if (p->model->nodes.at[a].kind == &model_input_kind ||
        !calls_alike(&p->made[a].call, &p->made[b].call) ||
        !reads_alike(pair, a, b) || pair->outside[0].count > MOST_INPUTS ||
        (p->made[a].real - a == 0) != (p->made[b].real - b == 0))
      return false;
  }
  return gives_alike(pair);
}

/* The first layer with parameters, if it shares those of another node. */
static int64_t shared_node(const struct python *p, const struct group *group) {
  for (int64_t i = group->first; i < group->end; i++) {
    const struct node *node = &p->model->nodes.at[i];
    if (node->param_count)
      return node->shares == NO_NODE ? NO_NODE : i;
  }
  return NO_NODE;
}

int64_t python_group_again(const struct python *p, int64_t index) {
  const struct group *group = &p->model->groups.at[index];
  int64_t node = shared_node(p, group);
  if (node == NO_NODE)
    return 0;
  int64_t first = p->model->nodes.at[node].shares - (node - group->first);
  int64_t g = p->model->nodes.at[p->model->nodes.at[node].shares].group;
  struct again_pair pair = {.p = p,
                            .first = first,
                            .again = group->first,
                            .count = group->end - group->first};
  for (; g > 0; g = p->model->groups.at[g].parent) {
    const struct group *other = &p->model->groups.at[g];
    if (other->first == first && other->end - first == pair.count &&
        other->end <= group->first)
      return are_alike(&pair) ? g : 0;
  }
  return 0;
}
