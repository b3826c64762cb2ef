/* Runtimes: the programs whose memory inference is computed for. */
#ifndef NETC_SEMA_MODEL_RUNTIME_H
#define NETC_SEMA_MODEL_RUNTIME_H

/* Values of `infer runtime=`, from 1, in the order of its words. */
enum runtime {
  RUNTIME_UNSET,
#define RUNTIME(constant, ...) RUNTIME_##constant,
#include "sema/model/runtimes.def"
};

/* The words, each after a blank. */
extern const char runtime_words[];

/* "llama.cpp" as a word and as a name; RUNTIME_UNSET: "". */
const char *runtime_word(int runtime);
const char *runtime_name(int runtime);

/* The runtime that weights of a type are made for; RUNTIME_UNSET: any. */
int runtime_of_weights(int weight_dtype);

#endif
