/* The expander: walks the syntax tree and builds the model. */
#ifndef NETC_SEMA_EXPAND_H
#define NETC_SEMA_EXPAND_H

#include "sema/binding/expansion.h"

/*
 * Builds the model of a program: binds arguments and infers shapes. Both happen
 * together because `in.c` and `if` make later statements depend on shapes.
 * After errors the model holds all that could be built.
 */
void expand_program(struct expansion *expansion, const struct block *program,
                    struct model *model);

/* Executes a single `train`, `infer` or `budget` statement. */
void expand_choice(struct expansion *expansion, const struct stmt *stmt);

/* Value of an expression without any names but those of layers. */
struct value expand_value(struct expansion *expansion, const struct expr *expr);

#endif
