/*
 * Weights in panels of outputs, in the order in which products read them
 * (runtime/netrt.h). The model's tables mark the weights that may be packed.
 */
#include <stdlib.h>

#include "driver/run/weight_set.h"

static size_t inputs_of(const struct netrt_model *model,
                        const struct netrt_operand *at) {
  size_t count = 1;
  for (int i = 0; i < at->rank - 1; i++)
    count *= (size_t)model->numbers[at->shape + (size_t)i];
  return count;
}

static size_t outputs_of(const struct netrt_model *model,
                         const struct netrt_operand *at) {
  return (size_t)model->numbers[at->shape + (size_t)at->rank - 1];
}

static int by_offset(const void *a, const void *b) {
  const struct netrt_operand *const *x = a, *const *y = b;
  return ((*x)->offset > (*y)->offset) - ((*x)->offset < (*y)->offset);
}

/* Lists all of them in the order of the block; shared ones repeat. */
static size_t find_all(const struct netrt_model *model,
                       const struct netrt_operand **all) {
  size_t count = 0;
  for (uint32_t i = 0; i < model->operand_count; i++)
    if (model->operands[i].place == NETRT_IN_PANELS)
      all[count++] = &model->operands[i];
  qsort(all, count, sizeof(struct netrt_operand *), by_offset);
  return count;
}

static void pack(float *matrix, size_t ins, size_t outs, float *scratch) {
  memcpy(scratch, matrix, ins * outs * sizeof *matrix);
  for (size_t first = 0; first < outs; first += NETRT_PANEL) {
    size_t width = outs - first < NETRT_PANEL ? outs - first : NETRT_PANEL;
    for (size_t i = 0; i < ins; i++, matrix += width)
      memcpy(matrix, scratch + i * outs + first, width * sizeof *matrix);
  }
}

bool weight_panels_some(const struct netrt_model *model) {
  for (uint32_t i = 0; i < model->operand_count; i++)
    if (model->operands[i].place == NETRT_IN_PANELS)
      return true;
  return false;
}

bool weight_panels_pack(const struct netrt_model *model, void *block) {
  unsigned char *weights = (unsigned char *)block + NETRT_PANELS_BYTES;
  size_t room = model->operand_count, largest = 1;
  const struct netrt_operand **all = malloc((room + 1) * sizeof *all);
  size_t count = all ? find_all(model, all) : 0;
  for (size_t i = 0; i < count; i++) {
    size_t values = inputs_of(model, all[i]) * outputs_of(model, all[i]);
    largest = values > largest ? values : largest;
  }
  float *scratch = malloc(largest * sizeof *scratch);
  bool fits = all && scratch;
  for (size_t i = 0; i < count && fits; i++)
    if (i == 0 || all[i]->offset != all[i - 1]->offset)
      pack((float *)(void *)(weights + all[i]->offset),
           inputs_of(model, all[i]), outputs_of(model, all[i]), scratch);
  uint32_t layout = netrt_panels_layout(model);
  if (fits) {
    memcpy(block, netrt_panels, NETRT_PANELS_BYTES);
    memcpy(weights - sizeof layout, &layout, sizeof layout);
  }
  free(scratch);
  free(all);
  return fits;
}
