/* UTF-8: the sequence that starts here, and its code point. */
#ifndef NETC_BASE_UTF8_H
#define NETC_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the valid sequence at `at`, of which `length` remain; 0 if there
 * is none (overlong forms, surrogates, values past U+10FFFF: RFC 3629).
 */
size_t utf8_length(const char *at, size_t length);

/* The code point of a valid sequence of that many bytes. */
uint32_t utf8_code_point(const char *at, size_t length);

#endif
