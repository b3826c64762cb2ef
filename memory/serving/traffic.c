/* Traffic: bytes that devices send in a step when they shard each layer. */
#include "base/check.h"
#include "memory/serving/serving.h"

/* Elements of tensors that all devices need completely. */
struct shared_tensors {
  int64_t summed, gathered;
};

static bool add_rows(int64_t rows, int64_t features, int64_t *sum) {
  int64_t count;
  return mul_i64(rows, features, &count) && add_i64(*sum, count, sum);
}

/*
 * A matrix split by rows gives each device a part of every sum, and so does a
 * table split by rows. Experts are summed before that, so that a layer of them
 * counts once.
 */
static bool add_node(const struct serving *s, const struct node *node,
                     int64_t rows, int64_t ends, struct shared_tensors *all) {
  for (int i = 0; i < node->param_count; i++) {
    const struct weight_tensor *tensor =
        &s->roles.at[node->first_param + (size_t)i];
    switch (tensor->role) {
    case ROLE_TABLE:
    case ROLE_ATTENDED:
    case ROLE_STATED:
    case ROLE_BACK: return add_rows(rows, tensor->out, &all->summed);
    case ROLE_HEAD: return add_rows(ends, tensor->out, &all->gathered);
    default: break;
    }
  }
  return true;
}

/* The part (T - 1) / T of `count` values that are summed or gathered. */
static bool part_bytes(const struct serving *s, int64_t count, int64_t times,
                       int64_t *bytes) {
  int64_t all;
  return element_bytes(s->settings->infer.dtype, count, &all) &&
         mul_i64(all, times * (s->devices - 1), bytes) &&
         (*bytes = ceil_div_i64(*bytes, s->devices), true);
}

/* Tokens that a node processes in a step. */
static bool rows_of(const struct serving *s, size_t node,
                    const struct served_step *step, int64_t *rows) {
  const struct shape *shape = s->model->nodes.at[node].out;
  *rows = !s->after || s->after[node] ? step->rows : 0;
  if (*rows || s->whole_tower)
    return true; /* a device computes all of its pictures */
  return mul_i64(shape_values(shape) / shape_channels(shape), step->sources,
                 rows);
}

bool serving_traffic(const struct serving *s, struct served_step step,
                     struct served_traffic *traffic) {
  struct shared_tensors all = {0};
  for (size_t i = 0; i < s->model->nodes.count; i++) {
    const struct node *node = &s->model->nodes.at[i];
    int64_t rows;
    if (!node->train_only && (!rows_of(s, i, &step, &rows) ||
                              !add_node(s, node, rows, step.ends, &all)))
      return false;
  }
  return part_bytes(s, all.summed, 2, &traffic->all_reduce) &&
         part_bytes(s, all.gathered, 1, &traffic->all_gather) &&
         add_i64(traffic->all_reduce, traffic->all_gather, &traffic->sent);
}
