/* The expander: walks the syntax tree and builds the model. */
#ifndef NETC_SEMA_EXPAND_H
#define NETC_SEMA_EXPAND_H

#include "sema/binding/expansion.h"

/*
 * Builds the model of a program: binds arguments, infers shapes. Both happen
 * together, because `in.c` and `if` make what follows depend on shapes.
 * Errors are reported; the model then holds what could be built.
 */
void expand_program(struct expansion *expansion, const struct block *program,
                    struct model *model);

/* Carries out one `train`, `infer` or `budget` statement by itself. */
void expand_choice(struct expansion *expansion, const struct stmt *stmt);

/* The value of an expression that sees no names but those of layers. */
struct value expand_value(struct expansion *expansion, const struct expr *expr);

#endif
