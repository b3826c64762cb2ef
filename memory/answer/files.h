/* Files: sizes of the weights on disk and of a training checkpoint. */
#ifndef NETC_MEMORY_ANSWER_FILES_H
#define NETC_MEMORY_ANSWER_FILES_H

#include "memory/memory.h"

/*
 * Bytes of tensors, without a format's headers, as torch.save() of state_dict()
 * writes them. With adapters (`lora=`) a checkpoint has only what is trained,
 * as PEFT's save_pretrained() does.
 */
struct model_files {
  int64_t weights;    /* parameters and buffers */
  int64_t checkpoint; /* and the optimizer's state */
};

/* `predict`: weights in the types of inference. INT64_MAX on overflow. */
struct model_files files_find(const struct model *model,
                              const struct settings *settings,
                              const struct memory *memory, bool predict);

#endif
