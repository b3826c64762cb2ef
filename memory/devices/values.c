/* Values: parameters of a part of the net, before ZeRO. */
#include "memory/devices/stage.h"

#include "base/check.h"

/* Number of values, and bytes of those in blocks or in types of their own. */
struct amount {
  int64_t values, packed;
};

enum { DENSE, EXPERT, SMALL, SORTS };

/* Prefix sums over the nodes, by enum stage_values. */
struct value_sums {
  struct amount of[VALUES_KINDS][SORTS];
  int64_t count[VALUES_KINDS];
  size_t shared; /* number of shared parameters */
};

/* True if the parameter is shared with an earlier node of the part. */
static bool is_repeated(const struct model_param *param, size_t first) {
  return param->shared && param->same >= first;
}

static bool is_kind(const struct model_param *param, int kind) {
  return param->buffer == (kind == VALUES_BUFFERS) &&
         (kind != VALUES_TRAINED || !param->fixed);
}

static void add_param(struct search *s, struct value_sums *sums, int kind,
                      size_t param) {
  int64_t count = s->shards.share[param], bytes = 0;
  int sort = s->expert[param]               ? EXPERT
             : count < s->train->keep_small ? SMALL
                                            : DENSE;
  struct amount *to = &sums->of[kind][sort];
  sums->count[kind] = stage_sum(s, sums->count[kind], count);
  bool alike = kind == VALUES_TRAINED && s->train->gradient_dtype;
  if (alike || !step_is_apart(s->step, param))
    to->values = stage_sum(s, to->values, count);
  else if (step_param_bytes(s->step, param, count, &bytes))
    to->packed = stage_sum(s, to->packed, bytes);
  else
    s->overflow = true;
}

/* Adds a node's parameters. `first`: first parameter of the part, whose
 * repetitions are left out. */
static void add_node(struct search *s, struct value_sums *sums, int64_t index,
                     size_t first) {
  const struct node *node = &s->step->model->nodes.at[index];
  for (int k = 0; k < node->param_count; k++) {
    const struct model_param *param =
        &s->step->model->params.at[node->first_param + (size_t)k];
    sums->shared += param->shared;
    for (int kind = 0; kind < VALUES_KINDS; kind++)
      if (!is_repeated(param, first) && is_kind(param, kind))
        add_param(s, sums, kind, param->same);
  }
}

void stage_sums_open(struct search *s) {
  size_t nodes = s->step->model->nodes.count;
  struct value_sums *sums = arena_alloc(s->arena, nodes + 1, sizeof *sums);
  for (size_t i = 0; i < nodes; i++) {
    sums[i + 1] = sums[i];
    add_node(s, &sums[i + 1], (int64_t)i, SIZE_MAX);
  }
  s->sums = sums;
}

/* Sums of a part. A parameter tied to another stage is on both. */
static struct value_sums sums_of(struct search *s, struct node_range nodes) {
  struct value_sums sums = s->sums[nodes.end];
  const struct value_sums *before = &s->sums[nodes.first];
  size_t first = s->step->model->nodes.at[nodes.first].first_param;
  if (sums.shared > before->shared) { /* counted one by one */
    sums = (struct value_sums){0};
    for (int64_t i = nodes.first; i < nodes.end; i++)
      add_node(s, &sums, i, first);
    return sums;
  }
  for (int kind = 0; kind < VALUES_KINDS; kind++) {
    sums.count[kind] -= before->count[kind];
    for (int sort = 0; sort < SORTS; sort++) {
      sums.of[kind][sort].values -= before->of[kind][sort].values;
      sums.of[kind][sort].packed -= before->of[kind][sort].packed;
    }
  }
  return sums;
}

static int64_t amount_bytes(struct search *s, const struct amount *of,
                            int element) {
  int64_t bytes = 0;
  if (!element_bytes(element, of->values, &bytes))
    s->overflow = true;
  return stage_sum(s, bytes, of->packed);
}

struct stage_held stage_values(struct search *s, struct node_range nodes,
                               enum stage_values kind, int element) {
  struct value_sums sums = sums_of(s, nodes);
  const struct amount *of = sums.of[kind];
  return (struct stage_held){amount_bytes(s, &of[DENSE], element),
                             amount_bytes(s, &of[EXPERT], element),
                             amount_bytes(s, &of[SMALL], element)};
}

const int64_t *stage_alone(struct search *s, enum stage_values kind) {
  int64_t nodes = (int64_t)s->step->model->nodes.count;
  if (s->alone[kind])
    return s->alone[kind];
  int64_t *bytes = arena_alloc(s->arena, (size_t)nodes + 1, sizeof *bytes);
  for (int64_t i = 0; i < nodes; i++) {
    struct node_range one = {i, i + 1};
    struct stage_held held = stage_values(s, one, kind, s->train->dtype);
    bytes[i] = stage_sum(s, held.dense, held.expert);
  }
  return s->alone[kind] = bytes;
}

int64_t stage_count(struct search *s, struct node_range nodes,
                    enum stage_values kind) {
  return sums_of(s, nodes).count[kind];
}
