/* Which names are seen where, while names.c walks over a syntax tree. */
#ifndef NETC_LIBRARY_SIGHT_H
#define NETC_LIBRARY_SIGHT_H

#include "library/names.h"

/* Names that are defined inside of the same braces. */
struct sight {
  struct sight *outer;
  bool home;        /* of a def or file: labels with an index belong to it */
  uint32_t end;     /* of its braces */
  struct map names; /* the last one of each, plus 1 */
};

/* Of a def: a name that is defined after it, before it is called. */
struct late_word {
  struct sight *sight;
  struct slice name;
  struct span span;
};

struct name_walk {
  struct netc *netc;
  struct load *load;
  struct arena *arena;
  struct source_names *names;
  struct sight *sight;
  uint32_t moved; /* of the arguments that are being read */
  bool *used;     /* by number of the unit: taken in already */
  VEC(struct late_word) late;
};

/* Braces that end there; those around them again. */
struct sight *sight_enter(struct name_walk *w, uint32_t end);
void sight_leave(struct name_walk *w);

/* What the word at `span` stands for, if it was written. */
void sight_add_role(struct name_walk *w, struct span span,
                    struct word_role role);

/* A name in one sight, or in that and those around it; -1: there is none. */
int64_t sight_find_in(const struct sight *sight, struct slice name);
int64_t sight_find(const struct sight *sight, struct slice name);

void sight_define(struct name_walk *w, struct sight *sight,
                  enum netc_name_kind kind, struct slice name, struct span span,
                  const struct stmt *stmt);
void sight_define_label(struct name_walk *w, const struct stmt *stmt);
/* The same for a name of another file, which has that number. */
void sight_take_in(struct name_walk *w, struct sight *sight, int64_t index);

void sight_add_use(struct name_walk *w, int64_t index, struct span span);
/* Whether the word is a name that is known here. */
bool sight_use(struct name_walk *w, struct slice name, struct span span);
/* Names that are defined after they are used, once all are known. */
void sight_use_late(struct name_walk *w);

#endif
