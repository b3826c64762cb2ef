/* Words of other frameworks, and how they are written here: typed.def. */
#ifndef NETC_LAYERS_FOREIGN_FOREIGN_H
#define NETC_LAYERS_FOREIGN_FOREIGN_H

#include "base/text.h"

struct foreign_layer {
  const char *word;
  const char *ours; /* "": no layer says it, `note` does */
  const char *arguments;
  const char *note; /* or "" */
};

struct foreign_option {
  const char *word;
  const char *ours; /* with % for its value; "": `note` says the way out */
  const char *note; /* or "" */
};

/* The row of a word, or NULL. */
const struct foreign_layer *foreign_layer_find(struct slice word);
const struct foreign_option *foreign_option_find(struct slice word);

/* What a value of an option is called here; several words: any; or NULL. */
const char *foreign_choice_find(const char *option, struct slice word);

/* Equal but for case, `_`, `-`, blanks, and what a maker puts in front. */
bool foreign_same(struct slice a, struct slice b);

/*
 * Puts a call with its arguments, `Conv2d(3, 64, 3, stride=2)`, as it is
 * written here: `conv 64 3 /2`. The layer has an `ours` and its arguments;
 * `arguments` is what stands between the parentheses. False: a value found no
 * place.
 */
bool foreign_call(struct text *out, const struct foreign_layer *layer,
                  struct slice arguments);

/* A statement of another language, or with slips, and what it is here. */
struct foreign_line {
  struct slice at;
  struct slice ours; /* empty: nothing need be said */
  const char *why;   /* or NULL */
  bool open;         /* it ends with a brace that its body needs */
};

/* The reading number `which` of several, the likeliest first; false: none. */
bool foreign_read(struct arena *arena, int which, struct foreign_line *line);

/* An option that has an `ours`, with that value: `/2`, `pad=1`. */
void foreign_put_option(struct text *out, const struct foreign_option *option,
                        struct slice value);

/* The number of rows, for the tests. */
size_t foreign_count(void);
const char *foreign_layer_target(size_t index); /* NULL after the last */

#endif
