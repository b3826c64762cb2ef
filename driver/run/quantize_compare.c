/* netc weights --quantize: errors of int8 against float32, and their table. */
#include "driver/run/quantize.h"

#include <inttypes.h>
#include <math.h>

static void compare(struct quantize_level *level, const float *real,
                    const float *small, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double error = fabs((double)real[i] - (double)small[i]);
    level->worst = fmax(level->worst, error);
    level->square_error += error * error;
    level->square += (double)real[i] * (double)real[i];
  }
  level->compared += (int64_t)count;
}

/* True for the last operation of a layer, which makes its output. */
static bool gives_output(const struct quantizing *q, size_t op) {
  for (size_t i = op + 1; i < q->q8_count; i++)
    if (q->q8[i].out == q->q8[op].out)
      return false;
  return true;
}

static int look_at_small(void *user, const struct netrt *net, uint32_t op,
                         enum netrt_when when) {
  struct quantizing *q = user;
  int64_t layer = q->q8[op].out;
  const struct netrt_operand *made =
      &net->model->operands[net->model->ops[op].operands];
  size_t count = netrt_values(net->model, made);
  if (when != NETRT_AFTER || made->type != NETRT_I8 ||
      count != q->made_count[layer] || count > q->scratch_room ||
      !gives_output(q, op))
    return 0;
  quantize_gather(net, made, &q->levels[layer], q->scratch);
  compare(&q->levels[layer], q->made[layer], q->scratch, count);
  return 0;
}

static size_t largest_at(const float *values, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    best = values[i] > values[best] ? i : best;
  return best;
}

static size_t output_values(const struct quantizing *q, uint32_t i) {
  return netrt_values(&q->real->model, &q->real->model.outputs[i].operand);
}

/* True for a vector, whose maximum is a class. */
static bool is_vector(const struct quantizing *q, uint32_t i) {
  const struct netrt_operand *real = &q->real->model.outputs[i].operand;
  const struct netrt_operand *small = &q->small->model.outputs[i].operand;
  return real->rank == 2 && output_values(q, i) > 1 &&
         real->type == NETRT_F32 && small->type == NETRT_I8;
}

static void compare_outputs(struct quantizing *q) {
  for (uint32_t i = 0; i < q->small->model.output_count; i++) {
    if (!is_vector(q, i))
      continue;
    size_t count = output_values(q, i);
    netrt_copy_output(&q->real->net, i, q->classes);
    size_t best = largest_at(q->classes, count);
    netrt_copy_output(&q->small->net, i, q->small_classes);
    for (size_t k = 0; k < count; k++)
      q->classes[k] = (float)q->small_classes[k];
    q->agreed[i] += largest_at(q->classes, count) == best;
  }
}

static int compare_sample(struct quantizing *q, int64_t sample) {
  struct running *r = q->small;
  int status = quantize_run_real(q, sample);
  for (uint32_t i = 0; i < r->model.input_count && status == EXIT_DONE; i++) {
    const struct netrt_operand *operand = &r->model.inputs[i].operand;
    if (operand->type == NETRT_I8)
      run_round_input(r, i, q->real->given[i], netrt_input(&r->net, i));
    else
      memcpy(netrt_input(&r->net, i), q->real->given[i],
             netrt_values(&r->model, operand) *
                 netrt_type_bytes(operand->type));
  }
  if (status == EXIT_DONE)
    status = run_explain(r, netrt_run(&r->net));
  if (status == EXIT_DONE)
    compare_outputs(q);
  return status;
}

int quantize_compare(struct quantizing *q) {
  uint32_t count = q->small->model.output_count;
  size_t most = 0;
  int status = EXIT_DONE;
  q->agreed = arena_alloc(q->arena, count + 1U, sizeof *q->agreed);
  for (uint32_t i = 0; i < count; i++)
    most = is_vector(q, i) && output_values(q, i) > most ? output_values(q, i)
                                                         : most;
  q->classes = arena_alloc(q->arena, most + 1, sizeof *q->classes);
  q->small_classes = arena_alloc(q->arena, most + 1, 1);
  q->pass = QUANTIZE_NOTHING;
  q->small->net.hook = look_at_small;
  q->small->net.hook_user = q;
  for (int64_t i = 0; i < q->samples && status == EXIT_DONE; i++)
    status = compare_sample(q, i);
  q->small->net.hook = NULL;
  return status;
}

/* The table */

static void put_level(const struct quantize_level *level, int width) {
  double range = 255 * (double)level->scale;
  double low = (double)level->scale * (-128 - level->zero);
  printf("%-*s  %10.4g %10.4g  %10.4g %5" PRId32, width, level->name, low,
         low + range, (double)level->scale, level->zero);
  if (!level->compared) {
    printf("  %8s %8s %7s\n", "-", "-", "-");
    return;
  }
  printf("  %7.2f%% %7.3f%% ", 100 * level->worst / range,
         100 * sqrt(level->square_error / (double)level->compared) / range);
  if (level->square_error > 0 && level->square > 0)
    printf("%7.1f\n", 10 * log10(level->square / level->square_error));
  else
    printf("%7s\n", level->square > 0 ? "exact" : "-");
}

int quantize_report(const struct quantizing *q) {
  const struct netrt_model *model = &q->small->model;
  int width = 5;
  for (size_t i = 0; i < q->layers; i++) {
    int length = (int)strlen(q->levels[i].name);
    width = q->levels[i].used && length > width ? length : width;
  }
  printf("%-*s  %10s %10s  %10s %5s  %8s %8s %7s\n", width, "layer", "from",
         "to", "scale", "zero", "largest", "rms", "dB");
  for (size_t i = 0; i < q->layers; i++)
    if (q->levels[i].used)
      put_level(&q->levels[i], width);
  printf("%" PRId64 " samples; errors of int8 beside float32, of the range; dB "
         "of signal to noise\n",
         q->samples);
  for (uint32_t i = 0; i < model->output_count; i++)
    if (is_vector(q, i))
      printf("%s: the largest value is at the same place in %" PRId64
             " of %" PRId64 " samples\n",
             model->outputs[i].name, q->agreed[i], q->samples);
  return finish_stdout();
}
