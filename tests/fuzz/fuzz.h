/* What the targets of `make fuzz` share. */
#ifndef NETC_TESTS_FUZZ_H
#define NETC_TESTS_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "netc.h"

struct buffer {
  char *at;
  size_t length;
};

/* A sink; refuses what is longer than 64 MiB. */
bool collect(void *user, const char *bytes, size_t length);

/* Told of progress: stops a net whose loops take seconds. */
bool few_steps(void *user, const char *what, int64_t done, int64_t total);

/* Keys and values of netc_set, with some that are refused. */
struct fuzz_setting {
  const char *key, *value;
};

extern const struct fuzz_setting fuzz_settings[];
extern const size_t fuzz_setting_count;

/* What libFuzzer calls, and what it offers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed);

/* One to three changes of an ONNX model; 0: it is none, or has no room. */
size_t fuzz_onnx(uint8_t *data, size_t size, size_t room, unsigned seed);

#endif
