/* The question that an output answers; the answer is computed once. */
#ifndef NETC_CODEGEN_ASKED_H
#define NETC_CODEGEN_ASKED_H

#include "codegen/backend.h"

/* NULL: a size passes 2^63 - 1. */
const struct answer *asked_of(const struct compiled *c);

/*
 * Memory of serving, if settings ask for it, or --predict of a device for a
 * suitable net; else NULL.
 */
const struct serving_answer *asked_served(const struct compiled *c);

/* Writes "bfloat16": the type of the answer, or both types if they differ. */
void asked_put_types(struct text *out, const struct compiled *c);

#endif
