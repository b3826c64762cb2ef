/* Parts that the targets of `make fuzz` share: a sink and settings. */
#include "tests/fuzz/fuzz.h"

bool collect(void *user, const char *bytes, size_t length) {
  struct buffer *buffer = user;
  if (buffer->length + length > (size_t)64 << 20)
    return false;
  buffer->at = realloc(buffer->at, buffer->length + length + 1);
  if (!buffer->at)
    abort();
  memcpy(buffer->at + buffer->length, bytes, length);
  buffer->length += length;
  buffer->at[buffer->length] = '\0';
  return true;
}

bool few_steps(void *user, const char *what, int64_t done, int64_t total) {
  (void)user;
  (void)what;
  (void)total;
  return done < 300000;
}

const struct fuzz_setting fuzz_settings[] = {
    {"checkpoint", "auto"},
    {"checkpoint", "3"},
    {"checkpoint", "selective"},
    {"memory", "1GiB"},
    {"memory", "70000"},
    {"pipeline", "2"},
    {"pipeline", "4"},
    {"virtual_stages", "2"},
    {"schedule", "zb_v"},
    {"schedule", "gpipe"},
    {"schedule", "zb_h1"},
    {"microbatches", "3"},
    {"tensor_parallel", "4"},
    {"sequence_parallel", "on"},
    {"context_parallel", "2"},
    {"expert_parallel", "2"},
    {"data_parallel", "8"},
    {"zero", "1"},
    {"zero", "2"},
    {"zero", "3"},
    {"gather", "layer"},
    {"bucket", "1MiB"},
    {"bucket", "view"},
    {"offload", "all"},
    {"offload", "optimizer"},
    {"host_memory", "64GiB"},
    {"precision", "mixed"},
    {"precision", "master"},
    {"loss", "crossentropy"},
    {"loss", "fused_crossentropy"},
    {"loss_dtype", "same"},
    {"loss_chunks", "7"},
    {"profile", "torch1-cpu"},
    {"profile", "torch2-cuda-2023"},
    {"batch", "7"},
    {"batch", "4611686018427387904"},
    {"batch", "0"},
    {"batch", "-1"},
    {"decode", "100"},
    {"context", "512"},
    {"sequences", "5"},
    {"page", "7"},
    {"sinks", "3"},
    {"prefill", "9"},
    {"sampler", "vllm"},
    {"cache", "fp8"},
    {"weight_dtype", "q4_k_m"},
    {"weight_dtype", "nf4"},
    {"accumulate", "2"},
    {"fold", "off"},
    {"optimizer", "adam8bit"},
    {"optimizer", "adafactor"},
    {"dtype", "i4"},
    {"dtype", "f64"},
    {"saved_dtype", "i2"},
    {"norms", "efficient"},
    {"norms", "float"},
    {"clip", "double"},
    {"ema", "on"},
    {"paged", "on"},
    {"base", "nf4"},
    {"gpu", "t4"},
    {"align", "4096"},
    {"align", "9223372036854775807"},
    {"reserve", "99"},
    {"rule", "x3"},
    {"rule", "misc:1"},
    {"nonsense", "1"},
    {"inplace", "off"},
    {"shard_devices", "2"},
    {"gather", "no_reshard small:1000"},
    {"host_devices", "2"},
    {"update", "fused"},
    {"update", "backward"},
    {"keep_gradients", "on"},
    {"keep_outputs", "off"},
    {"gather", "flat"},
    {"sequence_parallel", "keep"},
    {"gather", "block no_prefetch"},
    {"gradient_dtype", "bf16"},
};

const size_t fuzz_setting_count = sizeof fuzz_settings / sizeof *fuzz_settings;
