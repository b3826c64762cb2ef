/* Lists of words separated by blanks: "conv pool". */
#include "base/slice.h"

#include <string.h>

static struct slice first_word(const char *words) {
  return (struct slice){words, strcspn(words, " ")};
}

static const char *behind(struct slice word) {
  const char *end = word.at + word.length;
  return end + (*end == ' ');
}

int word_index_as(const char *words, struct slice word,
                  bool same(struct slice, struct slice)) {
  for (int i = 1; words && *words; i++) {
    struct slice known = first_word(words);
    if (same(known, word))
      return i;
    words = behind(known);
  }
  return 0;
}

int word_index(const char *words, struct slice word) {
  return word_index_as(words, word, slice_equal);
}

struct slice word_at(const char *words, int index) {
  for (; index > 1 && *words; index--)
    words = behind(first_word(words));
  return first_word(words);
}
