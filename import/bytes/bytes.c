/* Bytes that others wrote, from memory or a file. */
#include "import/bytes/bytes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"

/* Stores */

struct byte_store byte_store_of(struct slice bytes) {
  static const unsigned char nothing[1];
  return (struct byte_store){
      .memory = bytes.length ? (const unsigned char *)bytes.at : nothing,
      .file = -1,
      .size = bytes.length};
}

bool byte_store_fail(struct byte_store *store, const char *reason) {
  snprintf(store->fault, sizeof store->fault, "%s", reason);
  return false;
}

struct byte_store byte_store_part(const struct byte_store *store, uint64_t at,
                                  uint64_t size) {
  return (struct byte_store){.memory =
                                 store->memory ? store->memory + at : NULL,
                             .file = store->file,
                             .size = size,
                             .begin = store->begin + at};
}

bool byte_store_read(struct byte_store *store, uint64_t at, void *to,
                     size_t count) {
  if (at > store->size || count > store->size - at)
    return byte_store_fail(store,
                           "it ends too early: some of its data are missing");
  if (!store->memory)
    return byte_store_fetch(store, at, to, count);
  memcpy(to, store->memory + at, count);
  return true;
}

/* Readers */

void bytes_open(struct byte_reader *r, struct byte_store *store, uint64_t begin,
                uint64_t end) {
  end = end < store->size ? end : store->size;
  begin = begin < end ? begin : end;
  r->store = store;
  r->at = r->begin = begin;
  r->end = end;
  r->depth = 0;
  r->fault[0] = '\0';
  r->window_at = 0;
  r->window_count = 0;
}

bool bytes_fail(struct byte_reader *r, const char *format, ...) {
  va_list args;
  if (!bytes_ok(r))
    return false;
  va_start(args, format);
  vsnprintf(r->fault, sizeof r->fault, format, args);
  va_end(args);
  size_t used = strlen(r->fault);
  snprintf(r->fault + used, sizeof r->fault - used, " (byte %" PRIu64 ")",
           r->at);
  return false;
}

bool bytes_fits(struct byte_reader *r, uint64_t count, uint64_t size) {
  if (!bytes_ok(r))
    return false;
  if (size > 0 && count > (r->end - r->at) / size)
    return bytes_fail(r, "it ends too early: some of its data are missing");
  return true;
}

/* From the window, which is moved there if it must be: it may go beyond the
 * reader's end, which a caller may move. */
static bool take_file(struct byte_reader *r, unsigned char *to, size_t count) {
  uint64_t skipped = r->at - r->window_at;
  if (r->at < r->window_at || skipped > r->window_count ||
      count > r->window_count - skipped) {
    uint64_t left = r->store->size - r->at;
    size_t room = left < sizeof r->window ? (size_t)left : sizeof r->window;
    if (count > room)
      return byte_store_read(r->store, r->at, to, count);
    r->window_count = 0;
    if (!byte_store_read(r->store, r->at, r->window, room))
      return false;
    r->window_at = r->at;
    r->window_count = room;
    skipped = 0;
  }
  memcpy(to, r->window + skipped, count);
  return true;
}

bool bytes_copy(struct byte_reader *r, void *to, size_t count) {
  if (!bytes_fits(r, count, 1))
    return false;
  if (r->store->memory)
    memcpy(to, r->store->memory + r->at, count);
  else if (!take_file(r, to, count))
    return bytes_fail(r, "%s", r->store->fault);
  r->at += count;
  return true;
}

bool bytes_skip(struct byte_reader *r, uint64_t count) {
  if (!bytes_fits(r, count, 1))
    return false;
  r->at += count;
  return true;
}

bool bytes_go(struct byte_reader *r, uint64_t place) {
  if (!bytes_ok(r))
    return false;
  if (place > r->end - r->begin)
    return bytes_fail(r, "it ends before byte %" PRIu64 ", to which it refers",
                      place);
  r->at = r->begin + place;
  return true;
}

uint64_t bytes_unsigned(struct byte_reader *r, int bytes) {
  unsigned char raw[8];
  uint64_t value = 0;
  if (!bytes_copy(r, raw, (size_t)bytes))
    return 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | raw[i];
  return value;
}

uint64_t bytes_unsigned_big(struct byte_reader *r, int bytes) {
  unsigned char raw[8];
  uint64_t value = 0;
  if (!bytes_copy(r, raw, (size_t)bytes))
    return 0;
  for (int i = 0; i < bytes; i++)
    value = value << 8 | raw[i];
  return value;
}

int64_t bytes_signed(struct byte_reader *r, int bytes) {
  uint64_t value = bytes_unsigned(r, bytes);
  uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
  return (int64_t)((value ^ sign) - sign);
}

double bytes_real(struct byte_reader *r, int bytes) {
  uint64_t bits = bytes_unsigned(r, bytes);
  uint32_t half = (uint32_t)bits;
  float narrow;
  double wide;
  memcpy(&narrow, &half, sizeof narrow);
  memcpy(&wide, &bits, sizeof wide);
  return bytes == 4 ? (double)narrow : wide;
}

struct slice bytes_text(struct byte_reader *r, struct arena *arena,
                        uint64_t count) {
  struct slice none = {"", 0};
  if (!bytes_fits(r, count, 1))
    return none;
  if (count >= LIMIT_SOURCE_BYTES) {
    bytes_fail(r, "a text of %" PRIu64 " bytes is not supported", count);
    return none;
  }
  char *text = arena_room(arena, (size_t)count + 1, 1);
  if (!bytes_copy(r, text, (size_t)count))
    return none;
  text[count] = '\0';
  return (struct slice){text, (size_t)count};
}

struct slice bytes_line(struct byte_reader *r, struct arena *arena, char stop) {
  uint64_t from = r->at;
  char c = (char)~stop;
  while (bytes_ok(r) && c != stop)
    c = (char)bytes_u8(r);
  if (!bytes_ok(r))
    return (struct slice){"", 0};
  uint64_t count = r->at - 1 - from;
  r->at = from;
  struct slice text = bytes_text(r, arena, count);
  bytes_skip(r, 1);
  return text;
}

bool bytes_match(struct byte_reader *r, const void *magic, size_t count) {
  unsigned char there[16];
  if (!bytes_ok(r) || count > sizeof there || count > r->end - r->at)
    return false;
  if (!bytes_copy(r, there, count))
    return false;
  if (memcmp(there, magic, count) == 0)
    return true;
  r->at -= count;
  return false;
}

bool bytes_enter(struct byte_reader *r) {
  if (bytes_ok(r) && r->depth == LIMIT_DEPTH)
    return bytes_fail(r, "it is nested more than %d levels deep", LIMIT_DEPTH);
  r->depth++;
  return bytes_ok(r);
}

void bytes_leave(struct byte_reader *r) {
  r->depth--;
}
