/* Zip archives: the central directory, and members by zlib. */
#include "import/bytes/zip.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/limits.h"
#include "base/shown.h"

enum {
  ZIP_END = 22, /* bytes of the record at the end, without a comment */
  ZIP_TAIL = ZIP_END + 0xFFFF,
  ZIP_BOMB = 100,    /* times its size, unpacked */
  ZIP_WIDE = 1,      /* the extra field of sizes over 32 bits */
  ZIP_ENCRYPTED = 1, /* of the flags */
  ZIP_STORED = 0,
  ZIP_DEFLATED = 8,
};

#define ZIP_NARROW UINT32_MAX /* "see the wide one" */

struct zip_reading {
  struct zip *zip;
  struct arena *arena;
  struct byte_reader r;
  uint64_t count, begin, end; /* members; the directory */
};

/* Always false. Names come from the file: they are made harmless. */
static bool fault(struct zip *zip, struct arena *arena, const char *format, ...)
    PRINTF_LIKE(3, 4);
static bool fault(struct zip *zip, struct arena *arena, const char *format,
                  ...) {
  va_list args;
  va_start(args, format);
  shown_format(zip->fault, sizeof zip->fault, arena, format, args);
  va_end(args);
  return false;
}

/* The end of the directory */

/* Sizes of the wide record, which lies before the narrow one. */
static bool read_wide_end(struct zip_reading *z, uint64_t narrow) {
  struct byte_reader *r = &z->r;
  if (narrow < 20 || !bytes_go(r, narrow - 20) || bytes_u32(r) != 0x07064b50)
    return fault(z->zip, z->arena, "it has no ZIP64 record");
  bytes_skip(r, 4);
  uint64_t place = bytes_u64(r);
  if (!bytes_go(r, place) || bytes_u32(r) != 0x06064b50)
    return fault(z->zip, z->arena, "it has no ZIP64 record");
  bytes_skip(r, 28);
  z->count = bytes_u64(r);
  uint64_t size = bytes_u64(r);
  z->begin = bytes_u64(r);
  z->end = size <= narrow && z->begin <= narrow - size ? z->begin + size : 0;
  return bytes_ok(r);
}

static bool read_end(struct zip_reading *z, uint64_t place) {
  struct byte_reader *r = &z->r;
  bytes_go(r, place + 4);
  unsigned disk = bytes_u16(r), first = bytes_u16(r);
  bytes_skip(r, 2);
  z->count = bytes_u16(r);
  uint64_t size = bytes_u32(r);
  z->begin = bytes_u32(r);
  z->end = z->begin + size;
  if (disk == 0xFFFF || first == 0xFFFF || z->count == 0xFFFF ||
      size == ZIP_NARROW || z->begin == ZIP_NARROW) {
    if (!read_wide_end(z, place))
      return false;
  } else if (disk || first) {
    return fault(z->zip, z->arena, "it is one part of several");
  }
  if (!bytes_ok(r) || z->end > place || z->begin > z->end)
    return fault(z->zip, z->arena,
                 "its directory would be at bytes %" PRIu64 " to %" PRIu64 " "
                 "of %" PRIu64,
                 z->begin, z->end, place);
  return true;
}

/* It lies before a comment, which fills the file up. */
static bool find_end(struct zip_reading *z) {
  uint64_t size = z->zip->store->size;
  size_t room = size < ZIP_TAIL ? (size_t)size : ZIP_TAIL;
  const uint64_t from = size - room;
  struct byte_reader *r = &z->r;
  bytes_go(r, from);
  const char *tail = bytes_text(r, z->arena, room).at;
  if (!bytes_ok(r))
    return fault(z->zip, z->arena, "%s", r->fault);
  for (size_t i = room; i-- > 0;) {
    if (room - i < ZIP_END || memcmp(tail + i, "PK\5\6", 4) != 0)
      continue;
    bytes_go(r, from + i + 20);
    if (bytes_u16(r) == room - i - ZIP_END)
      return read_end(z, from + i);
  }
  return fault(z->zip, z->arena,
               "its directory is missing; is the file complete?");
}

/* Members */

/* Sizes and the place that do not fit 32 bits. */
static void read_wide(struct byte_reader *r, unsigned extra,
                      struct zip_member *m, uint64_t *header) {
  while (bytes_ok(r) && extra >= 4) {
    unsigned kind = bytes_u16(r), length = bytes_u16(r);
    uint64_t *const wide[] = {&m->size, &m->packed, header};
    extra -= 4;
    length = length < extra ? length : extra;
    extra -= length;
    for (size_t i = 0; kind == ZIP_WIDE && i < 3; i++) {
      if (*wide[i] != ZIP_NARROW || length < 8)
        continue;
      *wide[i] = bytes_u64(r);
      length -= 8;
    }
    bytes_skip(r, length);
  }
  bytes_skip(r, extra);
}

/* The local header has the same name; its sizes may follow the bytes. */
static bool find_bytes(struct zip_reading *z, uint64_t header,
                       struct zip_member *m) {
  struct byte_reader *r = &z->r;
  uint64_t next = r->at;
  size_t length = strlen(m->name);
  bytes_go(r, header);
  bool local = bytes_u32(r) == 0x04034b50;
  bytes_skip(r, 22);
  unsigned name = bytes_u16(r), extra = bytes_u16(r);
  struct slice there = bytes_text(r, z->arena, name);
  m->at = r->at + extra;
  if (!bytes_ok(r) || !local ||
      !slice_equal(there, (struct slice){m->name, length}))
    return fault(z->zip, z->arena,
                 "`%s` is not where its directory says, at byte %" PRIu64,
                 m->name, header);
  if (m->at > z->begin || m->packed > z->begin - m->at)
    return fault(z->zip, z->arena,
                 "`%s` would have %" PRIu64 " bytes, but %" PRIu64 " follow",
                 m->name, m->packed, m->at > z->begin ? 0 : z->begin - m->at);
  return bytes_go(r, next);
}

static bool read_member(struct zip_reading *z) {
  struct byte_reader *r = &z->r;
  struct zip_member m = {.name = ""};
  if (bytes_u32(r) != 0x02014b50)
    return fault(z->zip, z->arena, "its directory is broken at byte %" PRIu64,
                 r->at);
  bytes_skip(r, 4);
  unsigned flags = bytes_u16(r);
  m.method = bytes_u16(r);
  bytes_skip(r, 4);
  m.crc = bytes_u32(r);
  m.packed = bytes_u32(r);
  m.size = bytes_u32(r);
  unsigned name = bytes_u16(r), extra = bytes_u16(r), comment = bytes_u16(r);
  bytes_skip(r, 8);
  uint64_t header = bytes_u32(r);
  struct slice text = bytes_text(r, z->arena, name);
  read_wide(r, extra, &m, &header);
  bytes_skip(r, comment);
  m.name = text.at;
  if (!bytes_ok(r))
    return fault(z->zip, z->arena, "its directory is broken: %s", r->fault);
  if (strlen(text.at) != text.length)
    return fault(z->zip, z->arena, "the name of `%s` has a NUL", text.at);
  if (flags & ZIP_ENCRYPTED)
    return fault(z->zip, z->arena, "`%s` is encrypted", m.name);
  if (m.method == ZIP_STORED && m.packed != m.size)
    return fault(z->zip, z->arena,
                 "`%s` is stored, but has two sizes, %" PRIu64 " and %" PRIu64,
                 m.name, m.packed, m.size);
  if (!find_bytes(z, header, &m))
    return false;
  *VEC_PUSH(z->arena, &z->zip->members) = m;
  return true;
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(const struct zip_member *const *)a)->name,
                (*(const struct zip_member *const *)b)->name);
}

static bool sort_names(struct zip_reading *z) {
  struct zip *zip = z->zip;
  size_t count = zip->members.count;
  zip->by_name = arena_alloc(z->arena, count + 1, sizeof(void *));
  for (size_t i = 0; i < count; i++)
    zip->by_name[i] = &zip->members.at[i];
  qsort(zip->by_name, count, sizeof(void *), by_name);
  for (size_t i = 1; i < count; i++)
    if (strcmp(zip->by_name[i - 1]->name, zip->by_name[i]->name) == 0)
      return fault(zip, z->arena, "two members are named `%s`",
                   zip->by_name[i]->name);
  return true;
}

static bool check_sizes(struct zip_reading *z) {
  uint64_t most = z->zip->store->size, sum = 0;
  most = most > UINT64_MAX / ZIP_BOMB ? UINT64_MAX : most * ZIP_BOMB;
  for (size_t i = 0; i < z->zip->members.count; i++) {
    uint64_t size = z->zip->members.at[i].size;
    if (size > most - sum)
      return fault(z->zip, z->arena,
                   "unpacked it would be more than %d times its size",
                   ZIP_BOMB);
    sum += size;
  }
  return true;
}

bool zip_open(struct zip *zip, struct byte_store *store, struct arena *arena) {
  struct zip_reading z = {.zip = zip, .arena = arena};
  memset(zip, 0, sizeof *zip);
  zip->store = store;
  bytes_open(&z.r, store, 0, UINT64_MAX);
  if (!find_end(&z))
    return false;
  bytes_go(&z.r, z.begin);
  for (uint64_t i = 0; i < z.count; i++)
    if (!read_member(&z))
      return false;
  if (z.r.at != z.end)
    return fault(zip, arena,
                 "its directory has %" PRIu64
                 " bytes, but its members have %" PRIu64,
                 z.end - z.begin, z.r.at - z.begin);
  return sort_names(&z) && check_sizes(&z);
}

const struct zip_member *zip_find(const struct zip *zip, const char *name) {
  const struct zip_member wanted = {.name = name}, *key = &wanted;
  const struct zip_member **found = NULL;
  if (zip->members.count)
    found = bsearch(&key, zip->by_name, zip->members.count, sizeof(void *),
                    by_name);
  return found ? *found : NULL;
}

const struct zip_member *zip_find_end(const struct zip *zip, const char *end) {
  for (size_t i = 0; i < zip->members.count; i++)
    if (slice_ends(slice_of(zip->members.at[i].name), end))
      return &zip->members.at[i];
  return NULL;
}

/* Their bytes */

/* The arena is zlib's memory, too: it may leave in the middle. */
static void *zip_alloc(void *user, unsigned count, unsigned size) {
  return arena_alloc(user, count, size);
}

static void zip_free(void *user, void *at) {
  (void)user;
  (void)at;
}

/* True if it gives exactly the bytes that the directory promises. */
static bool inflate_all(struct slice from, unsigned char *to, uint64_t size,
                        struct arena *scratch) {
  z_stream stream = {.zalloc = zip_alloc, .zfree = zip_free, .opaque = scratch};
  stream.next_in = (unsigned char *)(uintptr_t)from.at;
  stream.avail_in = (unsigned)from.length;
  stream.next_out = to;
  stream.avail_out = (unsigned)size;
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return status == Z_STREAM_END && stream.total_out == size;
}

static bool is_sum(struct zip *zip, const struct zip_member *m,
                   struct arena *arena, unsigned long sum) {
  return sum == m->crc ||
         fault(zip, arena, "`%s` is corrupt: its checksum differs", m->name);
}

bool zip_read(struct zip *zip, const struct zip_member *m, struct arena *arena,
              struct slice *bytes) {
  struct arena scratch;
  if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
    return fault(
        zip, arena,
        "`%s` is packed by method %d; netc reads stored and deflated members",
        m->name, m->method);
  if (m->size >= LIMIT_SOURCE_BYTES || m->packed >= LIMIT_SOURCE_BYTES)
    return fault(zip, arena, "`%s` has %" PRIu64 " bytes, over 1 GiB", m->name,
                 m->size);
  char *to = arena_room(arena, (size_t)m->size + 1, 1);
  to[m->size] = '\0';
  *bytes = (struct slice){to, (size_t)m->size};
  arena_open_in(&scratch, arena);
  char *from = m->method == ZIP_STORED
                   ? to
                   : arena_room(&scratch, (size_t)m->packed + 1, 1);
  bool read = byte_store_read(zip->store, m->at, from, (size_t)m->packed);
  bool whole = read && (m->method == ZIP_STORED ||
                        inflate_all((struct slice){from, (size_t)m->packed},
                                    (unsigned char *)to, m->size, &scratch));
  arena_close(&scratch);
  if (!read)
    return fault(zip, arena, "%s", zip->store->fault);
  if (!whole)
    return fault(zip, arena, "`%s` is corrupt, or has a different size",
                 m->name);
  return is_sum(zip, m, arena,
                crc32(0, (const unsigned char *)to, (unsigned)m->size));
}

static bool check_sum(struct zip *zip, const struct zip_member *m,
                      struct byte_store *store, struct arena *arena) {
  unsigned char bytes[1 << 14];
  unsigned long sum = crc32(0, NULL, 0);
  for (uint64_t at = 0; at < m->size;) {
    uint64_t left = m->size - at;
    size_t now = left < sizeof bytes ? (size_t)left : sizeof bytes;
    if (!byte_store_read(store, at, bytes, now))
      return fault(zip, arena, "%s", store->fault);
    sum = crc32(sum, bytes, (unsigned)now);
    at += now;
  }
  return is_sum(zip, m, arena, sum);
}

bool zip_member_store(struct zip *zip, const struct zip_member *m, bool check,
                      struct arena *arena, struct byte_store *store) {
  struct slice bytes;
  if (m->method == ZIP_STORED) {
    *store = byte_store_part(zip->store, m->at, m->size);
    return !check || check_sum(zip, m, store, arena);
  }
  if (!zip_read(zip, m, arena, &bytes))
    return false;
  *store = byte_store_of(bytes);
  return true;
}
