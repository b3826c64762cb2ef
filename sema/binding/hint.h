/* Hints for words and values from other tools. */
#ifndef NETC_SEMA_BINDING_HINT_H
#define NETC_SEMA_BINDING_HINT_H

#include "sema/binding/expander.h"

/* Adds "choose one of: a, b, c". */
void hint_choices(struct diagnostic *d, struct arena *arena, const char *words);

/* Hints at netc's name of a layer named as elsewhere. False: unknown. */
bool hint_foreign_layer(struct diagnostic *d, struct slice name,
                        struct span span);

/* Hints at s2, p1, g32, d2, k3 after a layer. False: no such shorthand. */
bool hint_shorthand(struct diagnostic *d, const struct arg_spec *specs,
                    struct slice name, struct span span);

bool hint_is_shorthand(const struct arg_spec *specs, struct slice name);

/* True if a name is that of an option with a value. */
bool hint_is_key(const struct arg_spec *specs, struct slice name);

/* Hints at an option named as elsewhere. False: not one of these specs. */
bool hint_foreign_option(struct expander *e, struct diagnostic *d,
                         const struct binding *b, const struct arg *arg);

/*
 * The index from 1 of the one word that is meant; 0: none, or several in
 * *several. For devices, also checks those of `train`.
 */
int hint_find_choice(const struct arg_spec *spec,
                     const struct train_settings *train, struct slice word,
                     const char **several);

/* Hints at a surplus argument: `1 1` for stride and padding, `stride:2`. */
bool hint_surplus(struct expander *e, struct diagnostic *d,
                  const struct binding *b, const struct arg *arg);

#endif
