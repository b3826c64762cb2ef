/* Shown: makes foreign text safe for a terminal. */
#ifndef NETC_BASE_SHOWN_H
#define NETC_BASE_SHOWN_H

#include <stdarg.h>

#include "base/text.h"

/*
 * True for characters that reorder or hide text, or control a terminal: control
 * characters, Unicode's Bidi_Control (https://trojansource.codes), line and
 * paragraph separators, characters of no width, tags.
 */
bool shown_is_hidden(uint32_t point);

/*
 * Copies text for people. Control characters become `?`; other hidden
 * characters and bytes that are not UTF-8 become U+FFFD. A tab fills to a
 * multiple of `tab` columns, or with 0 is a control character. Returns the
 * columns written.
 */
size_t shown_put(struct text *out, struct slice text, size_t tab);

/* Formats a message with foreign names, made safe. It is cut to `room`
 * bytes, with a NUL. */
void shown_format(char *to, size_t room, struct arena *arena,
                  const char *format, va_list args);

#endif
