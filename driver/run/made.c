/* Reads the result of an operation value by value. */
#include "driver/run/run.h"

struct run_made run_made_of(const struct netrt *net,
                            const struct netrt_operand *made) {
  const int32_t *size = net->model->numbers + made->shape;
  return (struct run_made){.from = net->arena + made->offset,
                           .size = size,
                           .stride = size + made->rank,
                           .rank = made->rank,
                           .more = made->type == NETRT_F32};
}

bool run_made_next(struct run_made *made, float *value) {
  if (!made->more)
    return false;
  memcpy(value, made->from + (size_t)made->place * sizeof *value,
         sizeof *value);
  for (int axis = made->rank - 1; axis >= 0; axis--) {
    made->place += made->stride[axis];
    if (++made->at[axis] < made->size[axis])
      return true;
    made->place -= (int64_t)made->stride[axis] * made->at[axis];
    made->at[axis] = 0;
  }
  made->more = false; /* it was the last one */
  return true;
}
