/* What the files that write C share. */
#ifndef NETC_CODEGEN_C_C_TEXT_H
#define NETC_CODEGEN_C_C_TEXT_H

#include "codegen/c/identifier.h"

/* A string literal. */
void c_put_string(struct text *out, struct slice text);

/* Text inside of a comment, which it cannot end. */
void c_put_comment(struct text *out, struct slice text);

/* 1e-05f, 1.0f */
void c_put_float(struct text *out, float value);

/* 16 hexadecimal digits of the sources and what was chosen for them. */
void c_put_hash(struct text *out, const struct compiled *c);

#endif
