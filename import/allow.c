/* Adds `allow "huge-fc"` to a source that was made from a foreign file. */
#include "import/allow.h"

#include <string.h>

#include "base/diag.h"

/* True if no warning before `index` has this slug. */
static bool is_first(struct netc *netc, size_t index, const char *slug) {
  for (size_t i = 0; i < index; i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    if (netc_diagnostic(netc, i, &d) == NETC_OK && strcmp(d.slug, slug) == 0)
      return false;
  }
  return true;
}

/* Offset at which the line is inserted: after the net's name, or 0. */
static size_t place_of_line(struct slice source) {
  for (size_t at = 0; at < source.length;) {
    const char *end = memchr(source.at + at, '\n', source.length - at);
    size_t next = end ? (size_t)(end + 1 - source.at) : source.length;
    if (next - at > 4 && memcmp(source.at + at, "net ", 4) == 0)
      return next;
    at = next;
  }
  return 0;
}

size_t import_allow(struct netc *netc, struct slice source, struct text *out) {
  size_t count = 0, place = place_of_line(source);
  text_puts(out, (struct slice){source.at, place});
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    if (netc_diagnostic(netc, i, &d) != NETC_OK || !slug_is_choice(d.slug))
      continue;
    if (is_first(netc, i, d.slug))
      text_printf(out, "%s%s", count ? " " : "allow \"", d.slug);
    count++;
  }
  text_put(out, count ? "\"\n" : "");
  text_puts(out, slice_from(source, place));
  return count;
}
