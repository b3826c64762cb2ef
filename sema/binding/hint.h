/* Ways out for words and values that people know from elsewhere. */
#ifndef NETC_SEMA_BINDING_HINT_H
#define NETC_SEMA_BINDING_HINT_H

#include "sema/binding/expander.h"

/* "choose one of: a, b, c" */
void hint_choices(struct diagnostic *d, struct arena *arena, const char *words);

/* A layer by its name elsewhere: says ours. False: it is none. */
bool hint_foreign_layer(struct diagnostic *d, struct slice name,
                        struct span span);

/* s2, p1, g32, d2, k3 after a layer. False: it is nothing like that. */
bool hint_shorthand(struct diagnostic *d, const struct arg_spec *specs,
                    struct slice name, struct span span);

bool hint_is_shorthand(const struct arg_spec *specs, struct slice name);

/* Whether a name is that of an option with a value. */
bool hint_is_key(const struct arg_spec *specs, struct slice name);

/* An option by its name elsewhere; false: it is none of these specs. */
bool hint_foreign_option(struct expander *e, struct diagnostic *d,
                         const struct binding *b, const struct arg *arg);

/*
 * The place from 1 of the one word that is meant; 0: none, or several, which
 * are then in *several. Among devices those of `train`, too.
 */
int hint_find_choice(const struct arg_spec *spec,
                     const struct train_settings *train, struct slice word,
                     const char **several);

/* An argument too many: `1 1` for stride and padding, `stride:2`. */
bool hint_surplus(struct expander *e, struct diagnostic *d,
                  const struct binding *b, const struct arg *arg);

#endif
