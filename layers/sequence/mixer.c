/* Operations of a plan that ssm and deltanet share. */
#include "layers/sequence/mixer.h"

#include "layers/norm.h"

struct strides mixer_strides(const struct mixer_steps *m, int64_t features) {
  const int64_t dim[2] = {m->steps, features};
  return strides_dense(2, dim);
}

/* The extent of such a value. */
static struct extent rows_of(const struct mixer_steps *m, int64_t features) {
  return extent_sample(size_product(m->steps, features), WIDTH_NET);
}

size_t mixer_project(const struct mixer_steps *m, const char *name, size_t in,
                     int64_t out, int param, int count) {
  struct strides lies = mixer_strides(m, out);
  return tape_run_on(m->tape, in,
                     (struct operation){.name = name,
                                        .does = LOWERS(LINEAR, .out = &lies),
                                        .out = rows_of(m, out),
                                        .first_param = param,
                                        .param_count = count,
                                        .splits = true});
}

size_t mixer_part(const struct mixer_steps *m, const char *name, size_t in,
                  int64_t first, int64_t columns) {
  struct strides lies = tape_strides(m->tape, in);
  lies.offset += first;
  lies.dim[1] = columns;
  return tape_run_on(m->tape, in,
                     (struct operation){.name = name,
                                        .does = LOWERS(VIEW, .out = &lies),
                                        .out = rows_of(m, columns),
                                        .result = RESULT_VIEW});
}

size_t mixer_convolve(const struct mixer_steps *m, size_t in, int64_t window,
                      int param, int count) {
  int64_t channels = tape_strides(m->tape, in).dim[1];
  struct lowering does = {.opcode = DOES_CONV};
  lowering_add(&does, channels); /* groups */
  lowering_add(&does, 1);        /* stride */
  lowering_add(&does, 1);        /* dilation */
  lowering_add(&does, window - 1);
  size_t y = tape_run_on(m->tape, in,
                         (struct operation){.name = "conv",
                                            .does = &does,
                                            .out = rows_of(m, channels),
                                            .first_param = param,
                                            .param_count = count});
  return mixer_apply(m, "silu", DOES_SILU, y);
}

size_t mixer_apply(const struct mixer_steps *m, const char *name,
                   enum opcode opcode, size_t in) {
  struct lowering does = {.opcode = opcode};
  return tape_run_on(m->tape, in,
                     (struct operation){.name = name,
                                        .does = &does,
                                        .out = *tape_extent(m->tape, in),
                                        .elementwise = true});
}

size_t mixer_combine(const struct mixer_steps *m, const char *name,
                     enum opcode opcode, size_t a, size_t b) {
  const size_t in[2] = {a, b};
  struct lowering does = {.opcode = opcode};
  return tape_run(m->tape, &(struct operation){.name = name,
                                               .does = &does,
                                               .in = in,
                                               .in_count = 2,
                                               .out = *tape_extent(m->tape, a),
                                               .elementwise = true});
}

size_t mixer_add(const struct mixer_steps *m, const char *name, size_t in,
                 int param) {
  const size_t pair[2] = {in, tape_parameter(m->tape, param)};
  struct strides lies[2] = {tape_strides(m->tape, in)};
  lies[1] = strides_dense(1, &lies[0].dim[1]);
  lies[1] = strides_spread(&lies[1], &lies[0]);
  return tape_run(m->tape, &(struct operation){.name = name,
                                               .does = LOWERS(ADD, .in = lies),
                                               .in = pair,
                                               .in_count = 2,
                                               .out = *tape_extent(m->tape, in),
                                               .elementwise = true});
}

size_t mixer_scale(const struct mixer_steps *m, const char *name, size_t in,
                   double factor) {
  return tape_run_on(m->tape, in,
                     (struct operation){.name = name,
                                        .does = LOWERS(SCALE, .real = {factor}),
                                        .out = *tape_extent(m->tape, in),
                                        .elementwise = true});
}

size_t mixer_normalise(const struct mixer_steps *m, size_t in, int64_t parts,
                       double eps, int scale) {
  struct strides lies = tape_strides(m->tape, in), out = lies;
  int64_t features = lies.dim[1];
  lies = strides_split(&lies, 1, parts);
  out = strides_dense(lies.rank, lies.dim);
  struct lowering does = {
      .opcode = DOES_RMSNORM, .in = &lies, .out = &out, .real = {eps}};
  size_t value = norm_rms(m->tape, in,
                          (struct operation){.name = "norm",
                                             .does = &does,
                                             .out = *tape_extent(m->tape, in)},
                          size_product(m->steps, parts), scale);
  out = mixer_strides(m, features);
  tape_see(m->tape, value, &out);
  return value;
}

size_t mixer_gather(const struct mixer_steps *m, const char *name, size_t in,
                    int64_t parts, int64_t first, int64_t columns) {
  struct strides lies = tape_strides(m->tape, in);
  lies = strides_split(&lies, 1, parts);
  lies.offset += first;
  lies.dim[2] = columns;
  struct strides out = strides_dense(lies.rank, lies.dim);
  int64_t all = size_product(parts, columns);
  size_t value = tape_run_on(
      m->tape, in,
      (struct operation){.name = name,
                         .does = LOWERS(COPY, .in = &lies, .out = &out),
                         .out = rows_of(m, all)});
  out = mixer_strides(m, all);
  tape_see(m->tape, value, &out);
  return value;
}

size_t mixer_concat(const struct mixer_steps *m, const size_t in[3]) {
  int64_t columns = 0;
  for (int i = 0; i < 3; i++)
    columns = size_sum(columns, tape_strides(m->tape, in[i]).dim[1]);
  struct strides out = mixer_strides(m, columns);
  struct lowering does = {.opcode = DOES_CONCAT, .out = &out};
  lowering_add(&does, 2); /* axis 0 is the batch */
  return tape_run(m->tape, &(struct operation){.name = "concat",
                                               .does = &does,
                                               .in = in,
                                               .in_count = 3,
                                               .out = rows_of(m, columns)});
}
