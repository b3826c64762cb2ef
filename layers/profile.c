/* Profiles: how a framework runs a net, as far as memory depends on it. */
#include "layers/profile.h"

#include <stddef.h>

static const struct profile profiles[] = {
    /*
     * PyTorch 2 on a GPU. 512 bytes: kMinBlockSize of
     * c10/cuda/CUDACachingAllocator.cpp; 8,519,680 bytes of workspace:
     * aten/src/ATen/cuda/CublasHandlePool.cpp before Hopper.
     */
    {.name = "torch2-cuda",
     .block = 512,
     .byte_masks = true,
     /* can_accumulate_inplace of torch/csrc/autograd/input_buffer.cpp */
     .sums_in_place = true,
     .pool_indices = true,
     .concat_anew = true,
     .fused_attention = true,
     .norm_in_float32 = true,
     .foreach_optimizer = true,
     .context = 400 << 20,
     .workspace = 8519680},
    /* Proven byte for byte: docs/accuracy.md. */
    {.name = "torch1-cpu",
     .block = 1,
     .mean_keeps_input = true,
     .concat_anew = true,
     .pool_indices = true},
};

const struct profile profile_planned = {.name = "planned", .block = 1};

const struct profile *profile_at(int place) {
  return &profiles[place - 1];
}
