/* Shown: what others wrote, as a terminal may be given it. */
#ifndef NETC_BASE_SHOWN_H
#define NETC_BASE_SHOWN_H

#include <stdarg.h>

#include "base/text.h"

/*
 * What would reorder or hide what stands beside it, or does things to a
 * terminal: controls, marks that turn the direction of what follows (Unicode's
 * Bidi_Control, https://trojansource.codes), ends of lines and paragraphs,
 * what has no width, tags.
 */
bool shown_is_hidden(uint32_t point);

/*
 * Copies a text that is to be read by people. Control characters become `?`,
 * what else is hidden U+FFFD, and so does each byte that is not UTF-8. A tab
 * fills up to a multiple of `tab` columns; with 0 it is a control character.
 * Returns the columns written.
 */
size_t shown_put(struct text *out, struct slice text, size_t tab);

/* A message that may have names of others in it, made so, with a NUL after as
 * much of it as has room. */
void shown_format(char *to, size_t room, struct arena *arena,
                  const char *format, va_list args);

#endif
