/* The macros of a header that netc wrote, and what they must be. */
#ifndef NETC_TESTS_MACROS_H
#define NETC_TESTS_MACROS_H

#include "tests/windows.h"

/* A macro whose value is a number, in the order of the header. */
struct macro {
  char name[160];
  int64_t value;
};

struct header {
  struct macro *at;
  size_t count, next; /* those before `next` have been looked at */
  char prefix[128];
};

static inline void read_header(struct header *h, char *text) {
  static const char guard[] = "\n#ifndef ";
  size_t lines = 0;
  for (const char *c = text; *c; c++)
    lines += *c == '\n';
  h->at = calloc(lines + 1, sizeof *h->at);
  h->count = h->next = 0;
  assert_non_null(h->at);
  const char *name = strstr(text, guard) + sizeof guard - 1;
  snprintf(h->prefix, sizeof h->prefix, "%.*s", (int)strcspn(name, "\n") - 1,
           name);
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    struct macro *m = &h->at[h->count];
    long long value;
    if (sscanf(line, "#define %159[A-Z0-9_] %lld", m->name, &value) != 2)
      continue; /* no macro, or one of words */
    m->value = value;
    h->count++;
  }
}

/* Rules for a group of macros side by side, whatever their order. */
struct wanted {
  struct macro at[64];
  size_t count;
};

static inline void want(struct wanted *w, int64_t value, const char *name,
                        const char *rest) {
  assert_true(w->count < 64);
  struct macro *m = &w->at[w->count++];
  snprintf(m->name, sizeof m->name, "%s%s", name, rest);
  m->value = value;
}

/* The next macros are those that are wanted, and no others. */
static inline void check_group(struct header *h, const char *stem,
                               const struct wanted *w) {
  size_t length = strlen(h->prefix);
  char begin[300], said[1024] = "";
  snprintf(begin, sizeof begin, "%s%s", h->prefix, stem);
  for (size_t i = 0; i < w->count; i++) {
    size_t k = 0, left = strlen(begin);
    const struct macro *m = &h->at[h->next + i];
    bool mine = h->next + i < h->count && !strncmp(m->name, begin, left);
    while (mine && k < w->count && strcmp(m->name + left, w->at[k].name) != 0)
      k++;
    if (mine && k < w->count && m->value == w->at[k].value)
      continue;
    snprintf(said, sizeof said, "%s is %lld",
             h->next + i < h->count ? m->name + length : "the end",
             (long long)m->value);
    for (k = 0; k < w->count; k++)
      print_error("  wanted %s%s %lld\n", begin, w->at[k].name,
                  (long long)w->at[k].value);
    fail_msg("%s: %s", begin, said);
  }
  h->next += w->count;
}

/* How C writes a layer's name; a number behind it parts equal ones. */
static inline void find_stem(const struct header *h, const char *name,
                             char *stem) {
  size_t length = 0;
  for (; *name && length < 120; name++) {
    char c = *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
    bool plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain)
      stem[length++] = c;
    else if (length > 0 && stem[length - 1] != '_')
      stem[length++] = '_';
  }
  while (length > 0 && stem[length - 1] == '_')
    length--;
  stem[length] = '\0';
  assert_true(h->next < h->count);
  const char *found = h->at[h->next].name + strlen(h->prefix);
  size_t number = strspn(found + length, "_0123456789");
  if (!strncmp(found, stem, length) && number > 2)
    snprintf(stem + length, 8, "%.*s", (int)number - 1, found + length);
}

/* A layer of the report. */

static inline const char *axis_of(json_t *layer, size_t axis, char room[32]) {
  const char *axes = json_string_value(find(layer, "axes"));
  switch (axes[axis]) {
  case 'D': return "DEPTH";
  case 'H': return "HEIGHT";
  case 'W': return "WIDTH";
  case 'L':
    if (strchr(axes, 'L') == strrchr(axes, 'L'))
      return "LENGTH";
    break;
  case 'C': return "CHANNELS";
  }
  snprintf(room, 32, "DIM_%zu", axis); /* further axes are numbered */
  return room;
}

/* Sizes by axis; returns the number of values. */
static inline int64_t want_shape(struct wanted *w, json_t *layer) {
  json_t *shape = find(layer, "out.0"), *size;
  int64_t count = 1;
  size_t i;
  char room[32];
  json_array_foreach(shape, i, size) {
    want(w, json_integer_value(size), "_", axis_of(layer, i, room));
    count *= json_integer_value(size);
  }
  return count;
}

static inline void want_windows(struct wanted *w, json_t *layer) {
  json_t *given = find(layer, "attributes");
  json_t *kernel = json_object_get(given, "kernel");
  char room[32];
  if (!has_window(layer))
    return;
  for (size_t i = 0; kernel && i + 1 < json_array_size(find(layer, "out.0"));
       i++) {
    const char *axis = axis_of(layer, i, room);
    struct moved window = window_along(layer, i);
    want(w, window.kernel, "_KERNEL_", axis);
    want(w, window.stride, "_STRIDE_", axis);
    want(w, window.step, "_DILATION_", axis);
    want(w, window.before, "_PAD_BEFORE_", axis);
    want(w, window.after, "_PAD_AFTER_", axis);
  }
  const char *op = json_string_value(find(layer, "op"));
  if (kernel && strstr(op, "conv")) {
    json_t *groups = json_object_get(given, "groups"),
           *in = find(layer, "in.0");
    int64_t channels =
        json_integer_value(json_array_get(in, json_array_size(in) - 1));
    want(w,
         groups                      ? json_integer_value(groups)
         : strcmp(op, "dwconv") == 0 ? channels
                                     : 1,
         "_GROUPS", "");
  }
}

#endif
