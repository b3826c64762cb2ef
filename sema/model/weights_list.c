/* Lists of types of weights: parts of a net in other types than the first. */
#include "base/check.h"
#include "layers/layer.h"
#include "sema/model/weights.h"

static const char *const words[] = {"",
#define WEIGHTS_PART(constant, word) word,
                                    WEIGHTS_PARTS(WEIGHTS_PART)
#undef WEIGHTS_PART
};

#define BIT(part) (1U << (part))
const struct weights_set weights_sets[WEIGHTS_SETS] = {
    {"attention", BIT(WEIGHTS_OF_LATENTS) | BIT(WEIGHTS_OF_Q) |
                      BIT(WEIGHTS_OF_K) | BIT(WEIGHTS_OF_V) |
                      BIT(WEIGHTS_OF_QKV) | BIT(WEIGHTS_OF_O)},
    {"mlp", BIT(WEIGHTS_OF_UP) | BIT(WEIGHTS_OF_DOWN)},
    {"experts", BIT(WEIGHTS_OF_EXPERTS_UP) | BIT(WEIGHTS_OF_EXPERTS_DOWN)}};

const char *weights_part_word(enum weights_part part) {
  return words[part];
}

const struct weights_other *weights_of_part(const struct weights_list *list,
                                            enum weights_part part,
                                            int64_t block) {
  for (int i = list ? list->count : 0; i-- > 0;) {
    const struct weights_other *other = &list->at[i];
    if (other->parts & BIT(part) && block >= other->first &&
        block <= other->last)
      return other;
  }
  return NULL;
}

/* The text up to a character, and what follows it; all, if there is none. */
static struct slice cut(struct slice *rest, char at) {
  size_t end = 0;
  while (end < rest->length && rest->at[end] != at)
    end++;
  struct slice first = slice_to(*rest, end);
  *rest = slice_from(*rest, end + 1);
  return first;
}

static unsigned parts_of(struct slice word) {
  unsigned parts = 0;
  for (int i = 0; i < WEIGHTS_SETS; i++)
    if (slice_is(word, weights_sets[i].word))
      parts |= weights_sets[i].parts;
  for (int i = 1; i < WEIGHTS_OF_COUNT; i++)
    if (slice_is(word, words[i]))
      parts |= BIT(i);
  return parts;
}

static bool read_block(struct slice text, int64_t *block) {
  *block = 0;
  for (size_t i = 0; i < text.length; i++) {
    if (!is_digit(text.at[i]) || *block > LIMIT_LAYERS)
      return false;
    *block = 10 * *block + text.at[i] - '0';
  }
  return text.length > 0;
}

static bool refuse(struct text *why, struct text *help, const char *what,
                   struct slice word, const char *way_out) {
  text_printf(why, "`%.*s` is %s", SLICE_ARG(word), what);
  text_put(help, way_out);
  return false;
}

/* A type that may be that of a part; NVFP4 is nvfp4. */
static bool read_type(struct slice word, int *type, struct text *why,
                      struct text *help) {
  char small[32];
  size_t length = word.length < sizeof small ? word.length : sizeof small;
  for (size_t i = 0; i < length; i++)
    small[i] = (char)(word.at[i] >= 'A' && word.at[i] <= 'Z' ? word.at[i] | 32
                                                             : word.at[i]);
  *type = weights_find((struct slice){small, length});
  enum weights_scope scope = weights_type(*type)->scope;
  return (*type && scope != SCOPE_FILE && scope != SCOPE_KERNELS) ||
         refuse(why, help, "no type for a part of the weights", word,
                "a list has types as fp8, nvfp4 or mlx_8; a part without one "
                "keeps the net's `dtype`: `\"nvfp4 head attention:fp8\"`");
}

/* "attention@0-2:fp8" */
static bool read_other(struct slice text, struct weights_other *other,
                       struct text *why, struct text *help) {
  struct slice type = text, place = cut(&type, ':'), blocks = place;
  struct slice part = cut(&blocks, '@'), to = blocks, from = cut(&to, '-');
  bool typed = place.length < text.length, placed = part.length < place.length;
  bool ranged = from.length < blocks.length;
  *other = (struct weights_other){
      .word = text, .parts = parts_of(part), .last = INT64_MAX};
  if (!other->parts) {
    refuse(why, help, "no part of a net", part,
           "the parts are attention, mlp, experts");
    for (int i = 1; i < WEIGHTS_OF_COUNT; i++)
      text_printf(help, ", %s", words[i]);
    return false;
  }
  if (placed && !read_block(from, &other->first))
    return refuse(why, help, "no number of a block", from.length ? from : place,
                  "blocks have numbers from 0 on: `mlp@3`, `mlp@0-2`");
  other->last = placed ? other->first : INT64_MAX;
  if (ranged && (!read_block(to, &other->last) || other->last < other->first))
    return refuse(why, help, "no last block of these", to.length ? to : place,
                  "blocks have numbers from 0 on: `mlp@3`, `mlp@0-2`");
  if (typed && !type.length)
    return refuse(why, help, "without a type after the colon", text,
                  "a part without a colon keeps the net's `dtype`");
  return !typed || read_type(type, &other->type, why, help);
}

bool weights_read_list(struct slice text, struct weights_list *list, int *type,
                       struct text *why, struct text *help) {
  struct slice rest = text;
  *list = (struct weights_list){.text = text};
  if (!read_type(cut(&rest, ' '), type, why, help))
    return false;
  while (rest.length) {
    struct slice other = cut(&rest, ' ');
    if (!other.length)
      continue;
    if (list->count == MOST_WEIGHTS_PARTS)
      return refuse(why, help, "a list with more than 64 parts", text,
                    "several blocks are one part: `mlp@0-2`");
    if (!read_other(other, &list->at[list->count++], why, help))
      return false;
  }
  return true;
}
