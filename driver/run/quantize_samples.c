/* netc weights --quantize: samples, arrays along the first axis. */
#include "driver/run/quantize.h"

#include <inttypes.h>
#include <math.h>

static int read_file(struct quantizing *q, struct end_file *given) {
  struct quantize_samples *file = ARENA_NEW(q->arena, struct quantize_samples),
                          **last;
  const struct netrt_port *port;
  uint32_t which;
  int status = run_find_input(q->real, "--quantize", given->argument, &which,
                              &file->path);
  if (status != EXIT_DONE)
    return status;
  port = &q->real->model.inputs[which];
  if (!npy_read(&file->npy, file->path, q->arena))
    return complain_of(file->npy.unread ? EXIT_IO : EXIT_SOURCE, file->path,
                       NULL, "%s", file->npy.fault);
  if (file->npy.rank != port->operand.rank)
    return complain_of(
        EXIT_SOURCE, file->path, "the first axis must be the samples",
        "it is %s, but samples of input `%s` must be Nx%s",
        sizes_text(file->npy.rank, file->npy.dims).text, port->name,
        port->operand.rank > 1 ? run_sample_sizes(q->real, which).text : "");
  if (file->npy.dims[0] == 0)
    return complain_of(EXIT_SOURCE, file->path, NULL, "it has no samples");
  for (last = &q->files[which]; *last; last = &(*last)->next)
    continue;
  *last = file;
  return EXIT_DONE;
}

static int64_t samples_of(const struct quantize_samples *file) {
  int64_t count = 0;
  for (; file; file = file->next)
    count += file->npy.dims[0];
  return count;
}

int quantize_read_samples(struct quantizing *q) {
  const struct netrt_model *model = &q->real->model;
  int status = EXIT_DONE;
  q->files = arena_alloc(q->arena, model->input_count + 1U, sizeof *q->files);
  for (size_t i = 0; i < q->given_count && status == EXIT_DONE; i++)
    status = read_file(q, &q->given[i]);
  for (uint32_t i = 0; i < model->input_count && status == EXIT_DONE; i++) {
    int64_t count = samples_of(q->files[i]);
    if (!count)
      status = complain(EXIT_USAGE,
                        "input `%s` has no samples: add --quantize %s=FILE.npy",
                        model->inputs[i].name, model->inputs[i].name);
    else if (i && count != q->samples)
      status = complain(
          EXIT_SOURCE,
          "input `%s` has %" PRId64 " samples, but `%s` has %" PRId64,
          model->inputs[i].name, count, model->inputs[0].name, q->samples);
    q->samples = count;
  }
  return status;
}

int quantize_take_sample(struct quantizing *q, uint32_t which, int64_t at) {
  const struct quantize_samples *file = q->files[which];
  const struct netrt_operand *operand = &q->real->model.inputs[which].operand;
  while (at >= file->npy.dims[0]) {
    at -= file->npy.dims[0];
    file = file->next;
  }
  struct npy one = file->npy;
  one.rank--;
  one.at += at * one.strides[0] * value_bytes(one.type);
  memmove(one.dims, one.dims + 1, (size_t)one.rank * sizeof *one.dims);
  memmove(one.strides, one.strides + 1, (size_t)one.rank * sizeof *one.strides);
  int status = run_take_input(q->real, file->path, &one, which);
  size_t count = netrt_values(&q->real->model, operand);
  const float *values = q->real->given[which];
  for (size_t i = 0;
       status == EXIT_DONE && operand->type == NETRT_F32 && i < count; i++)
    if (!isfinite(values[i]))
      status = complain_of(EXIT_SOURCE, file->path, NULL,
                           "sample %" PRId64 " has a value that is NaN or "
                           "infinite",
                           at);
  return status;
}
