/* Words of other frameworks, and their equivalents in netc: typed.def. */
#ifndef NETC_LAYERS_FOREIGN_FOREIGN_H
#define NETC_LAYERS_FOREIGN_FOREIGN_H

#include "base/text.h"

struct foreign_layer {
  const char *word;
  const char *ours; /* "": no equivalent; `note` explains */
  const char *arguments;
  const char *note; /* or "" */
};

struct foreign_option {
  const char *word;
  const char *ours; /* % is the value; "": `note` explains what to do */
  const char *note; /* or "" */
};

/* The row of a word, or NULL. */
const struct foreign_layer *foreign_layer_find(struct slice word);
const struct foreign_option *foreign_option_find(struct slice word);

/* A value of an option in netc's words, NULL: unknown; several
 * words: any of them. */
const char *foreign_choice_find(const char *option, struct slice word);

/* True if equal but for case, `_`, `-`, blanks, and a maker's name in front. */
bool foreign_same(struct slice a, struct slice b);

/*
 * Writes the call `Conv2d(3, 64, 3, stride=2)` as `conv 64 3 /2`. The layer has
 * an `ours`; `arguments` is the text between the parentheses. False: a value
 * was not used.
 */
bool foreign_call(struct text *out, const struct foreign_layer *layer,
                  struct slice arguments);

/* A statement of another language, or with mistakes, and netc's equivalent. */
struct foreign_line {
  struct slice at;
  struct slice ours; /* empty: leave the statement out */
  const char *why;   /* or NULL */
  bool open;         /* it ends with a brace; its body follows */
};

/* Reads the line by rule; `which` skips that many readings, the likeliest
 * first. False: there are no more. */
bool foreign_read(struct arena *arena, int which, struct foreign_line *line);

/* Writes an option that has an `ours`, with its value: `/2`, `pad=1`. */
void foreign_put_option(struct text *out, const struct foreign_option *option,
                        struct slice value);

/* The number of rows, for tests. */
size_t foreign_count(void);
const char *foreign_layer_target(size_t index); /* NULL after the last */

#endif
