/* Functions that all writers of C share. */
#ifndef NETC_CODEGEN_C_C_TEXT_H
#define NETC_CODEGEN_C_C_TEXT_H

#include "codegen/c/identifier.h"

/* Writes a string literal. */
void c_put_string(struct text *out, struct slice text);

/* Writes text inside a comment; the text cannot end the comment. */
void c_put_comment(struct text *out, struct slice text);

/* Writes 1e-05f, 1.0f. */
void c_put_float(struct text *out, float value);

/* Writes 16 hexadecimal digits: a hash of the sources and the settings. */
void c_put_hash(struct text *out, const struct compiled *c);

#endif
