/* `allow "huge-fc"` in a source that was made of another framework's file. */
#include "import/allow.h"

#include <string.h>

#include "base/diag.h"

/* The first warning of its kind. */
static bool is_first(struct netc *netc, size_t index, const char *slug) {
  for (size_t i = 0; i < index; i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    if (netc_diagnostic(netc, i, &d) == NETC_OK && strcmp(d.slug, slug) == 0)
      return false;
  }
  return true;
}

/* Where such a line stands: after the net's name, or first. */
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
