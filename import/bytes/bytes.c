/* Bytes that others wrote, from memory or a file, by pread. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "import/bytes/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "import/bytes/gzip.h"

/* Stores */

struct byte_store byte_store_of(struct slice bytes) {
  static const unsigned char nothing[1];
  return (struct byte_store){
      .memory = bytes.length ? (const unsigned char *)bytes.at : nothing,
      .file = -1,
      .size = bytes.length};
}

static bool store_fail(struct byte_store *store, const char *reason) {
  snprintf(store->fault, sizeof store->fault, "%s", reason);
  return false;
}

static bool open_store(struct byte_store *store, int file) {
  struct stat found;
  *store = (struct byte_store){.file = file};
  if (store->file < 0 || fstat(store->file, &found) != 0)
    return store_fail(store, strerror(errno));
  if (!S_ISREG(found.st_mode))
    return store_fail(store, "it is not a regular file");
  store->size = (uint64_t)found.st_size;
  return true;
}

/*
 * A pipe is not even opened: it would be waited for, without O_NONBLOCK, and
 * who writes to it would find its reader gone.
 */
static bool open_packed(struct byte_store *store, const char *path,
                        uint64_t most) {
  struct stat found;
  *store = (struct byte_store){.file = -1};
  if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
    return store_fail(store, "it is not a regular file");
  return open_store(store, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) &&
         (!gzip_is(store) || gzip_unpack(store, most));
}

bool byte_store_open(struct byte_store *store, const char *path) {
  return open_packed(store, path, UINT64_MAX);
}

size_t byte_head(const char *path, char *to, size_t room) {
  struct byte_store store;
  bool opened = open_packed(&store, path, room);
  size_t count = store.size < room ? (size_t)store.size : room;
  bool read = opened && byte_store_read(&store, 0, to, count);
  byte_store_close(&store);
  return read ? count : 0;
}

bool byte_store_dup(struct byte_store *store, int file) {
  return open_store(store, fcntl(file, F_DUPFD_CLOEXEC, 0));
}

void byte_store_close(struct byte_store *store) {
  if (!store->memory && store->file >= 0)
    close(store->file);
  *store = (struct byte_store){.file = -1};
}

struct byte_store byte_store_part(const struct byte_store *store, uint64_t at,
                                  uint64_t size) {
  return (struct byte_store){.memory =
                                 store->memory ? store->memory + at : NULL,
                             .file = store->file,
                             .size = size,
                             .begin = store->begin + at};
}

static bool read_file(struct byte_store *store, uint64_t at, unsigned char *to,
                      size_t count) {
  while (count > 0) {
    ssize_t got = pread(store->file, to, count, (off_t)(store->begin + at));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return store_fail(store, strerror(errno));
    if (got == 0)
      return store_fail(store, "it was truncated while netc read it");
    to += got;
    at += (uint64_t)got;
    count -= (size_t)got;
  }
  return true;
}

bool byte_store_read(struct byte_store *store, uint64_t at, void *to,
                     size_t count) {
  if (at > store->size || count > store->size - at)
    return store_fail(store, "it ends too early: some of its data are missing");
  if (!store->memory)
    return read_file(store, at, to, count);
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
