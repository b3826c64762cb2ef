/* Statements of other languages: shared by their rules. */
#ifndef NETC_LAYERS_FOREIGN_PHRASE_H
#define NETC_LAYERS_FOREIGN_PHRASE_H

#include "layers/foreign/foreign.h"
#include "layers/foreign/words.h"

struct phrase {
  struct arena *arena;
  struct slice line;
  struct text *out;
  const char *why;
  bool open; /* the body is on the lines that follow */
  int depth; /* of nested calls */
};

enum { PHRASE_DEEPEST = 8 };

/* Sets `why`, which may be NULL, and returns true. */
static inline bool phrase_said(struct phrase *p, const char *why) {
  p->why = why;
  return true;
}

/* Writes a statement in netc's syntax; false: the rule does not apply. */
typedef bool phrase_rule(struct phrase *p);

/* Code around layers: phrase_around.c. */
phrase_rule phrase_taken_in, phrase_method, phrase_leave_out, phrase_setting,
    phrase_constant, phrase_label;

/* Statements with a body: phrase_blocks.c. */
phrase_rule phrase_loop, phrase_repetition, phrase_condition, phrase_definition;

/* Writes a line of netc's or of another language: phrase.c. */
bool phrase_put_line(struct phrase *p, struct slice line);

/* Writes a valid name; a keyword gets a trailing `_`. */
void phrase_put_name(struct text *out, struct slice name);

/* Writes block(4, s=2) without parentheses. */
void phrase_put_call(struct text *out, struct slice word, struct slice call);

/* Writes &&, || and ! as words. `compares`: = is a comparison. */
void phrase_put_logic(struct text *out, struct slice s, bool compares);

/* The words of a text, up to `most`; -1 if there are more. */
int phrase_numbers(struct slice s, struct slice *numbers, int most);

bool phrase_is_one_of(struct slice word, const char *words);
bool phrase_is_name(struct slice s);

/* The text after the first word, without surrounding blanks. */
struct slice phrase_after_word(struct slice s);

/* The line without other languages' terminators. */
struct slice phrase_bare(struct slice line);

#endif
