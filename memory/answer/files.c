/* Files: sizes of the weights on disk and of a training checkpoint. */
#include "memory/answer/files.h"

#include "base/check.h"
#include "layers/tape/shape.h"
#include "sema/model/cost.h"

/* True if a layer has low-rank adapters, so that little else is trained. */
static bool adapts(const struct model *model) {
  for (size_t i = 0; i < model->params.count; i++)
    if (model->params.at[i].adapter)
      return true;
  return false;
}

/* Bytes of the trained parameters in the type that is stepped. */
static int64_t trained_bytes(const struct model *model,
                             const struct train_settings *train) {
  int64_t bytes;
  bool own = train->precision == PRECISION_FULL;
  bool fits = own ? model_param_bytes(model, SUM_TRAINED, train->dtype, &bytes)
                  : element_bytes(ELEMENT_F32, model->total.trainable, &bytes);
  return fits ? bytes : INT64_MAX;
}

struct model_files files_find(const struct model *model,
                              const struct settings *settings,
                              const struct memory *memory, bool predict) {
  const struct training *t = &memory->training;
  const struct inference *f = &memory->inference;
  bool adapters = adapts(model);
  struct model_files files = {
      .weights = predict ? size_sum(f->parameters, f->buffers)
                         : size_sum(t->parameters, t->buffers)};
  int64_t kept = adapters ? trained_bytes(model, &settings->train)
                          : size_sum(size_sum(t->parameters, t->master),
                                     size_sum(t->buffers, t->averaged));
  files.checkpoint = size_sum(kept, t->optimizer);
  return files;
}
