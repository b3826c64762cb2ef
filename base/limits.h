/* The limits of the compiler, all in one place: docs/reference.md has them. */
#ifndef NETC_BASE_LIMITS_H
#define NETC_BASE_LIMITS_H

#include <stddef.h>

/* Nesting of brackets, of operators in an expression, of calls. */
#define LIMIT_DEPTH 200

/* Bytes of all the texts of a compilation together. */
#define LIMIT_SOURCE_BYTES ((size_t)1 << 30)

/* Bytes of a used file that is no plain file, or does not know its size. */
#define LIMIT_SPECIAL_BYTES ((size_t)4 << 20)

/* Errors in one run; then the compiler gives up. */
#define LIMIT_ERRORS 20

/* Errors that loops repeat before the compiler gives up. */
#define LIMIT_REPEATED_ERRORS 1000

/* Warnings of one kind that are shown as text. */
#define LIMIT_SHOWN_ALIKE 20

/* Layers of a net, and turns of one loop. */
#define LIMIT_LAYERS 2000000

/*
 * What is carried out, loops unrolled, before a net is called endless: turns,
 * statements, operators, functions, pieces of a message, parameters of a call,
 * four for a call or checkpoint, and ten for an operand of a join.
 */
#define LIMIT_STEPS 20000000

/* Layers of a net that becomes C or Python, which takes 2 to 4.5 KB of memory a
   layer while it is written. */
#define LIMIT_CODE_LAYERS 20000

/* Axes of a tensor. */
#define LIMIT_RANK 8

/* Parts of all concats that dense chains put together anew. */
#define LIMIT_PARTS 4000000

#endif
