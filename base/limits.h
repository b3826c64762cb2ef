/* The compiler's limits; docs/reference.md lists them. */
#ifndef NETC_BASE_LIMITS_H
#define NETC_BASE_LIMITS_H

#include <stddef.h>

/* Nesting of brackets, of operators in an expression, of calls. */
#define LIMIT_DEPTH 200

/* Bytes of all texts of a compilation. */
#define LIMIT_SOURCE_BYTES ((size_t)1 << 30)

/* Bytes of a used file that is not regular, or of unknown size. */
#define LIMIT_SPECIAL_BYTES ((size_t)4 << 20)

/* Errors of one run, after which the compiler stops. */
#define LIMIT_ERRORS 20

/* Errors repeated by loops, after which the compiler stops. */
#define LIMIT_REPEATED_ERRORS 1000

/* Warnings of one kind that are shown as text. */
#define LIMIT_SHOWN_ALIKE 20

/* Layers of a net, and iterations of one loop. */
#define LIMIT_LAYERS 2000000

/*
 * Steps of expansion, with loops unrolled, before a net is reported as endless:
 * iterations, statements, operators, functions, pieces of a message and
 * parameters of a call count one, calls and checkpoints four, operands of a
 * join ten.
 */
#define LIMIT_STEPS 20000000

/* Layers of a net that is written as C or Python: that takes 2 to 4.5 KB of
 * memory a layer. */
#define LIMIT_CODE_LAYERS 20000

/* Axes of a tensor. */
#define LIMIT_RANK 8

/* Parts that all concats of dense chains copy in total. */
#define LIMIT_PARTS 4000000

#endif
