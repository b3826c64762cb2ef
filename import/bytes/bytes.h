/*
 * Bytes that others wrote: where they lie, and a reader that never leaves
 * them. Little-endian wherever this runs, unless a name says otherwise.
 */
#ifndef NETC_IMPORT_BYTES_BYTES_H
#define NETC_IMPORT_BYTES_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

/*
 * In memory, or in a regular file of any size, of which is read what is asked
 * for: a file that shrinks meanwhile is an error.
 */
struct byte_store {
  const unsigned char *memory; /* NULL: a file */
  int file;                    /* -1: none */
  uint64_t size, begin;        /* of a part: where it begins in the file */
  char fault[160];             /* why the last read failed; empty: none did */
};

struct byte_store byte_store_of(struct slice bytes);

/* A file; of one that gzip packed, what is in it, all of which is unpacked.
   False: `fault` says why. Close it in any case. */
bool byte_store_open(struct byte_store *store, const char *path);
/* The first bytes that such a store would have, `room` at most: how many are
   read. 0: none can be. */
size_t byte_head(const char *path, char *to, size_t room);
/* The same of a file that is open, which stays so. */
bool byte_store_dup(struct byte_store *store, int file);
void byte_store_close(struct byte_store *store);
/* Bytes of a store, which all lie in it, as one; the store is closed, this is
   not. */
struct byte_store byte_store_part(const struct byte_store *store, uint64_t at,
                                  uint64_t size);

/* False, with `fault`, if it does not have all of these bytes. */
bool byte_store_read(struct byte_store *store, uint64_t at, void *to,
                     size_t count);

/* For those who open files: the same of a file, within its size; and a fault,
   which is false. */
bool byte_store_fetch(struct byte_store *store, uint64_t at, unsigned char *to,
                      size_t count);
bool byte_store_fail(struct byte_store *store, const char *reason);

/*
 * A place in a part of a store. After an error nothing is read: integers are
 * 0, texts are empty, and the first error stays. A loop whose number of turns
 * comes from the file must ask bytes_ok, or bytes_fits before it.
 */
struct byte_reader {
  struct byte_store *store;
  uint64_t at, begin, end; /* in the store */
  int depth;
  char fault[256]; /* "it ends at byte 12"; empty: all is well */
  uint64_t window_at;
  size_t window_count;
  unsigned char window[4096]; /* of a file */
};

/* From `begin` to `end`, which is made the store's if it is beyond. */
void bytes_open(struct byte_reader *r, struct byte_store *store, uint64_t begin,
                uint64_t end);

static inline bool bytes_ok(const struct byte_reader *r) {
  return !*r->fault;
}

/* Always false. An error at this place; only the first one is kept. */
bool bytes_fail(struct byte_reader *r, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* An error unless `count` things of `size` bytes each may follow. */
bool bytes_fits(struct byte_reader *r, uint64_t count, uint64_t size);

bool bytes_copy(struct byte_reader *r, void *to, size_t count);
bool bytes_skip(struct byte_reader *r, uint64_t count);

/* To a place counted from `begin`. */
bool bytes_go(struct byte_reader *r, uint64_t place);

/* Of 1 to 8 bytes. */
uint64_t bytes_unsigned(struct byte_reader *r, int bytes);
uint64_t bytes_unsigned_big(struct byte_reader *r, int bytes);
int64_t bytes_signed(struct byte_reader *r, int bytes);
double bytes_real(struct byte_reader *r, int bytes); /* 4 or 8 */

static inline uint8_t bytes_u8(struct byte_reader *r) {
  return (uint8_t)bytes_unsigned(r, 1);
}

static inline uint16_t bytes_u16(struct byte_reader *r) {
  return (uint16_t)bytes_unsigned(r, 2);
}

static inline uint32_t bytes_u32(struct byte_reader *r) {
  return (uint32_t)bytes_unsigned(r, 4);
}

static inline uint64_t bytes_u64(struct byte_reader *r) {
  return bytes_unsigned(r, 8);
}

/* A copy with a NUL after it; up to `stop`, which is skipped. */
struct slice bytes_text(struct byte_reader *r, struct arena *arena,
                        uint64_t count);
struct slice bytes_line(struct byte_reader *r, struct arena *arena, char stop);

/* Whether these bytes come next, which are skipped then. */
bool bytes_match(struct byte_reader *r, const void *magic, size_t count);

/* Things inside things: an error beyond LIMIT_DEPTH of them. */
bool bytes_enter(struct byte_reader *r);
void bytes_leave(struct byte_reader *r);

#endif
