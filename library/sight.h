/* Scopes, while names.c walks a syntax tree. */
#ifndef NETC_LIBRARY_SIGHT_H
#define NETC_LIBRARY_SIGHT_H

#include "library/names.h"

/* Names defined inside the same braces. */
struct sight {
  struct sight *outer;
  bool home;        /* scope of a def or file; owns labels with an index */
  uint32_t end;     /* end of its braces */
  struct map names; /* the last of each name, index + 1 */
};

/* A name used in a def that may be defined before the call. */
struct late_word {
  struct sight *sight;
  struct slice name;
  struct span span;
};

/* `fpn.p`: a label inside what the label before the point stands for. */
struct late_path {
  struct sight *sight;
  const struct expr *path;
  struct span span; /* of the name behind the point */
};

struct name_walk {
  struct netc *netc;
  struct load *load;
  struct arena *arena;
  struct source_names *names;
  struct sight *sight;
  uint32_t moved; /* shift of the current arguments */
  bool *used;     /* by unit: names already added */
  VEC(struct late_word) late;
  VEC(struct late_path) paths;
};

/* Opens a scope that ends at `end`; returns to the outer one. */
struct sight *sight_enter(struct name_walk *w, uint32_t end);
void sight_leave(struct name_walk *w);

/* Records the role of the word at `span` unless it is in a repair. */
void sight_add_role(struct name_walk *w, struct span span,
                    struct word_role role);

/* Index of a name in one scope, or in it and the outer ones; -1: none. */
int64_t sight_find_in(const struct sight *sight, struct slice name);
int64_t sight_find(const struct sight *sight, struct slice name);

void sight_define(struct name_walk *w, struct sight *sight,
                  enum netc_name_kind kind, struct slice name, struct span span,
                  const struct stmt *stmt);
void sight_define_label(struct name_walk *w, const struct stmt *stmt);
/* Adds a name of another file, by its index. */
void sight_take_in(struct name_walk *w, struct sight *sight, int64_t index);

void sight_add_use(struct name_walk *w, int64_t index, struct span span);
/* Records a use and returns true if the name is visible here. */
bool sight_use(struct name_walk *w, struct slice name, struct span span);
/* Resolves names that are defined after their use. */
void sight_use_late(struct name_walk *w);

#endif
