/* Runtimes: the programs whose memory inference is computed for. */
#include "sema/model/runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sema/model/weights.h"

const char runtime_words[] =
#define RUNTIME(constant, word, ...) " " word
#include "sema/model/runtimes.def"
    ;

static const struct {
  const char *word, *name, *weights;
} runtimes[] = {
    {"", "", ""},
#define RUNTIME(constant, word, name, weights) {word, name, weights},
#include "sema/model/runtimes.def"
};

const char *runtime_word(int runtime) {
  return runtimes[runtime].word;
}

const char *runtime_name(int runtime) {
  return runtimes[runtime].name;
}

/* True if a list of words, which may end with `*`, has the word. */
static bool lists(const char *all, const char *word) {
  for (const char *at = all; *at; at += strspn(at, " ")) {
    size_t length = strcspn(at, " ");
    bool begins = length && at[length - 1] == '*';
    if (begins ? strncmp(at, word, length - 1) == 0
               : strlen(word) == length && strncmp(at, word, length) == 0)
      return true;
    at += length;
  }
  return false;
}

int runtime_of_weights(int weight_dtype) {
  int count = sizeof runtimes / sizeof *runtimes;
  for (int i = 1; weight_dtype && i < count; i++)
    if (lists(runtimes[i].weights, weights_type(weight_dtype)->word))
      return i;
  return RUNTIME_UNSET;
}
