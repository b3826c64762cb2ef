/* Relative paths from one folder to another. */
#define _POSIX_C_SOURCE 200809L
#include "driver/relative.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Appends the parts of `path` to a folder "/a/b"; false if it is too long. */
static bool append(struct relative *folder, const char *path, size_t length) {
  const char *end = path + length;
  for (const char *part = path, *next; part < end; part = next + 1) {
    next = memchr(part, '/', (size_t)(end - part));
    next = next ? next : end;
    size_t size = (size_t)(next - part), used = strlen(folder->text);
    if (size == 0 || (size == 1 && *part == '.'))
      continue;
    if (size == 2 && memcmp(part, "..", 2) == 0) {
      char *slash = strrchr(folder->text, '/');
      if (slash)
        *slash = '\0';
      continue;
    }
    if (used + size + 2 > sizeof folder->text)
      return false;
    snprintf(folder->text + used, sizeof folder->text - used, "/%.*s",
             (int)size, part);
  }
  return true;
}

/* Length of the common start: "/a/b" and "/a/c/d" share "/a". */
static size_t shared(const char *a, const char *b) {
  size_t same = 0;
  for (size_t i = 0;; i++) {
    bool ends = (a[i] == '/' || !a[i]) && (b[i] == '/' || !b[i]);
    if (ends)
      same = i;
    if (!a[i] || !b[i] || a[i] != b[i])
      return same;
  }
}

struct relative relative_to_here(const char *path) {
  struct relative here = {""}, from = {""}, found = {""};
  const struct relative none = {""};
  char folder[sizeof here.text];
  const char *slash = strrchr(path, '/');
  if (strcmp(path, "-") == 0 || !getcwd(folder, sizeof folder) ||
      !append(&here, folder, strlen(folder)))
    return none;
  if (*path != '/')
    from = here;
  if (slash && !append(&from, path, (size_t)(slash - path)))
    return none;
  size_t same = shared(here.text, from.text), used = 0;
  for (const char *at = from.text + same; *at; at++) {
    if (*at == '/' && used + 4 > sizeof found.text)
      return none;
    if (*at == '/')
      used += (size_t)snprintf(found.text + used, 4, "../");
  }
  const char *down = here.text + same;
  if (!*down)
    return found;
  if (used + strlen(down) + 1 > sizeof found.text)
    return none;
  snprintf(found.text + used, sizeof found.text - used, "%s/", down + 1);
  return found;
}
