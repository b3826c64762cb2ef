/* UTF-8: length and code point of a sequence. */
#ifndef NETC_BASE_UTF8_H
#define NETC_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Length of the valid sequence at `at`, of which `length` bytes remain; 0 if it
 * is invalid (overlong forms, surrogates, values past U+10FFFF: RFC 3629).
 */
size_t utf8_length(const char *at, size_t length);

/* The code point of a valid sequence of `length` bytes. */
uint32_t utf8_code_point(const char *at, size_t length);

#endif
