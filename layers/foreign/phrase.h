/* Statements of other languages: what their rules share. */
#ifndef NETC_LAYERS_FOREIGN_PHRASE_H
#define NETC_LAYERS_FOREIGN_PHRASE_H

#include "layers/foreign/foreign.h"
#include "layers/foreign/words.h"

struct phrase {
  struct arena *arena;
  struct slice line;
  struct text *out;
  const char *why;
  bool open; /* its body is on the lines that follow */
  int depth; /* of calls in calls */
};

enum { PHRASE_DEEPEST = 8 };

/* What a rule ends with; `why` may be NULL. */
static inline bool phrase_said(struct phrase *p, const char *why) {
  p->why = why;
  return true;
}

/* A rule writes its kind of statement in our words; false: it is another. */
typedef bool phrase_rule(struct phrase *p);

/* What stands around layers: phrase_around.c. */
phrase_rule phrase_taken_in, phrase_method, phrase_leave_out, phrase_setting,
    phrase_constant, phrase_label;

/* What has a body: phrase_blocks.c. */
phrase_rule phrase_loop, phrase_repetition, phrase_condition, phrase_definition;

/* A line of ours or of theirs: phrase.c. */
bool phrase_put_line(struct phrase *p, struct slice line);

/* A word that may be a name here: those of the language get a `_`. */
void phrase_put_name(struct text *out, struct slice name);

/* block(4, s=2) without its parentheses */
void phrase_put_call(struct text *out, struct slice word, struct slice call);

/* &&, || and ! in words; a lone = compares where `compares`. */
void phrase_put_logic(struct text *out, struct slice s, bool compares);

/* The numbers of a text, up to `most`; -1 if there is anything else. */
int phrase_numbers(struct slice s, struct slice *numbers, int most);

bool phrase_is_one_of(struct slice word, const char *words);
bool phrase_is_name(struct slice s);

/* What is left after a word, without blanks. */
struct slice phrase_after_word(struct slice s);

/* The line without what ends it in other languages. */
struct slice phrase_bare(struct slice line);

#endif
