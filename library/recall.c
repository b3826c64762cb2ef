/*
 * Remembers the shapes of unchanged lines for a source with errors. Lines are
 * compared with those of the load before: first from both ends, then between
 * them by their text.
 */
#include "base/hash.h"
#include "library/hints.h"

enum { LOOK_AHEAD = 64 }; /* lines that may be deleted between two that stay */

struct recalled_line {
  uint64_t hash; /* of its text */
  size_t shape;  /* in `chars`; 0: unknown */
};

struct recalled_unit {
  size_t path; /* in `chars` */
  size_t first, count;
};

/* Allocated as one block; outlives loads. */
struct recall {
  size_t unit_count;
  struct recalled_unit *units;
  struct recalled_line *lines;
  char *chars;
};

static uint64_t line_hash(const struct load *load, size_t unit,
                          const struct unit_hints *hints, size_t line) {
  const struct source *source =
      &load->sources.all.at[load->units.at[unit].source];
  const char *at = source->text.at;
  size_t begin = line ? hints->lines[line - 1].end : 0;
  while (begin < hints->lines[line].end &&
         (at[begin] == '\n' || at[begin] == '\r'))
    begin++;
  return hash_text(HASH_TEXT,
                   (struct slice){at + begin, hints->lines[line].end - begin});
}

/* Lines of a unit in this load and in the one before. */
struct recall_match {
  const struct recall *old;
  const struct recalled_unit *unit;
  const uint64_t *hashes;
  struct unit_hints *hints;
};

/* True if a full shape matches the partly known one: ?x?x64. */
static bool agrees(const char *known, const char *shape) {
  if (!strpbrk(known, "0123456789"))
    return true;
  while (*known && *shape)
    if (*known == '?') {
      known++;
      shape += strspn(shape, "0123456789");
    } else if (*known++ != *shape++) {
      return false;
    }
  return !*known && !*shape;
}

static void recall_one(struct arena *arena, const struct recall_match *m,
                       size_t line, size_t old) {
  const struct recalled_line *was = &m->old->lines[m->unit->first + old];
  const char *shape = m->old->chars + was->shape;
  struct line_hint *hint = &m->hints->lines[line];
  if (!was->shape ||
      (hint->shape && (hint->exact || !agrees(hint->shape, shape))))
    return;
  hint->shape = context_keep(arena, slice_of(shape)).at;
  hint->recalled = true;
}

static bool is_same(const struct recall_match *m, size_t line, size_t old) {
  return m->hashes[line] == m->old->lines[m->unit->first + old].hash;
}

static void match_lines(struct arena *arena, const struct recall_match *m) {
  size_t count = m->hints->count, before = m->unit->count;
  size_t least = count < before ? count : before, head = 0, tail = 0;
  while (head < least && is_same(m, head, head))
    recall_one(arena, m, head, head), head++;
  while (tail < least - head &&
         is_same(m, count - 1 - tail, before - 1 - tail)) {
    recall_one(arena, m, count - 1 - tail, before - 1 - tail);
    tail++;
  }
  size_t next = head;
  for (size_t line = head; line < count - tail; line++)
    for (size_t old = next; old < before - tail && old < next + LOOK_AHEAD;
         old++)
      if (is_same(m, line, old)) {
        recall_one(arena, m, line, old);
        next = old + 1;
        break;
      }
}

static const struct recalled_unit *find_recalled(const struct recall *recall,
                                                 struct slice path) {
  for (size_t i = 0; recall && i < recall->unit_count; i++)
    if (slice_is(path, recall->chars + recall->units[i].path))
      return &recall->units[i];
  return NULL;
}

/* Copies a string with its NUL; returns the byte after it. */
static char *put_string(char *at, const char *string) {
  size_t length = strlen(string) + 1;
  memcpy(at, string, length);
  return at + length;
}

/* Keeps all known shapes; without memory, none. */
static void keep_lines(struct netc *netc, uint64_t *const *hashes) {
  const struct load *load = netc->load;
  size_t units = load->units.count, lines = 0, chars = 1;
  for (size_t i = 0; i < units; i++) {
    const struct unit_hints *hints = &load->hints[i];
    lines += hints->count;
    chars += load->units.at[i].path.length + 1;
    for (size_t k = 0; k < hints->count; k++)
      if (hints->lines[k].exact || hints->lines[k].recalled)
        chars += strlen(hints->lines[k].shape) + 1;
  }
  recall_close(netc);
  struct recall *r = netc->arena.resize(netc->arena.user, NULL,
                                        sizeof *r + units * sizeof *r->units +
                                            lines * sizeof *r->lines + chars);
  if (!r)
    return;
  netc->recall = r;
  r->unit_count = units;
  r->units = (struct recalled_unit *)(r + 1);
  r->lines = (struct recalled_line *)(r->units + units);
  r->chars = (char *)(r->lines + lines);
  struct recalled_line *line = r->lines;
  char *at = r->chars + 1; /* 0 means unknown */
  for (size_t i = 0; i < units; i++) {
    const struct unit_hints *hints = &load->hints[i];
    struct slice path = load->units.at[i].path;
    r->units[i] = (struct recalled_unit){
        (size_t)(at - r->chars), (size_t)(line - r->lines), hints->count};
    at = put_string(at, path.at);
    for (size_t k = 0; k < hints->count; k++, line++) {
      const struct line_hint *hint = &hints->lines[k];
      bool known = hint->exact || hint->recalled;
      *line = (struct recalled_line){hashes[i][k],
                                     known ? (size_t)(at - r->chars) : 0};
      if (known)
        at = put_string(at, hint->shape);
    }
  }
}

void recall_lines(struct call *call) {
  struct load *load = call->netc->load;
  hints_of(call);
  uint64_t **hashes =
      arena_alloc(&call->scratch, load->units.count + 1, sizeof *hashes);
  for (size_t i = 0; i < load->units.count; i++) {
    struct unit_hints *hints = &load->hints[i];
    hashes[i] = arena_alloc(&call->scratch, hints->count + 1, sizeof **hashes);
    for (size_t k = 0; k < hints->count; k++)
      hashes[i][k] = line_hash(load, i, hints, k);
    struct recall_match m = {
        .old = call->netc->recall, .hashes = hashes[i], .hints = hints};
    m.unit = find_recalled(m.old, load->units.at[i].path);
    if (m.unit && call->status == NETC_ERROR)
      match_lines(&load->arena, &m);
  }
  keep_lines(call->netc, hashes);
}

void recall_close(struct netc *netc) {
  if (netc->recall)
    netc->arena.resize(netc->arena.user, netc->recall, 0);
  netc->recall = NULL;
}
