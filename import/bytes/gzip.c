/* Files that gzip packed: one stream after the other into a temporary file. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "import/bytes/gzip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/limits.h"

enum {
  GZIP_BLOCK = 1 << 16,
  GZIP_BOMB = 100,       /* times its size, unpacked */
  GZIP_WINDOW = 15 + 16, /* of zlib: with gzip's header and sum */
  GZIP_ID_1 = 0x1f,      /* the first bytes of a stream, */
  GZIP_ID_2 = 0x8b,
  GZIP_DEFLATE = 8, /* of the only method */
};

struct gzip {
  struct byte_store *packed;
  z_stream stream;
  FILE *to;
  uint64_t at;   /* in what is packed: what zlib was not yet given */
  uint64_t size; /* unpacked */
  uint64_t most; /* of it is wanted */
  unsigned char in[GZIP_BLOCK], out[GZIP_BLOCK];
};

static bool gzip_fail(struct gzip *g, const char *why) {
  snprintf(g->packed->fault, sizeof g->packed->fault, "%s", why);
  return false;
}

bool gzip_is(struct byte_store *store) {
  unsigned char head[3];
  return store->size >= sizeof head &&
         byte_store_read(store, 0, head, sizeof head) && head[0] == GZIP_ID_1 &&
         head[1] == GZIP_ID_2 && head[2] == GZIP_DEFLATE;
}

static bool fill(struct gzip *g) {
  uint64_t left = g->packed->size - g->at;
  size_t count = left < GZIP_BLOCK ? (size_t)left : GZIP_BLOCK;
  if (count == 0)
    return gzip_fail(g, "its gzip data end too early");
  if (!byte_store_read(g->packed, g->at, g->in, count))
    return false;
  g->at += count;
  g->stream.next_in = g->in;
  g->stream.avail_in = (unsigned)count;
  return true;
}

/* Blocks of zeros, which weights may have many of, stay holes. */
static bool put(struct gzip *g, size_t count) {
  static const unsigned char zeros[GZIP_BLOCK];
  uint64_t limit = g->packed->size > UINT64_MAX / GZIP_BOMB
                       ? UINT64_MAX
                       : g->packed->size * GZIP_BOMB;
  if (g->size + count > LIMIT_SOURCE_BYTES && g->size + count > limit)
    return gzip_fail(
        g,
        "unpacked by gzip it would exceed 1 GiB, more than 100 times its size");
  bool hole = memcmp(g->out, zeros, count) == 0;
  for (size_t done = 0; done < count && !hole;) {
    ssize_t put = pwrite(fileno(g->to), g->out + done, count - done,
                         (off_t)(g->size + done));
    if (put < 0 && errno != EINTR)
      return gzip_fail(g, strerror(errno));
    done += put > 0 ? (size_t)put : 0;
  }
  g->size += count;
  return true;
}

/* One stream, or as much of it as is wanted. */
static bool unpack_stream(struct gzip *g) {
  int status = Z_OK;
  while (status != Z_STREAM_END && g->size < g->most) {
    g->stream.next_out = g->out;
    g->stream.avail_out = GZIP_BLOCK;
    while (g->stream.avail_out > 0 && status != Z_STREAM_END) {
      if (g->stream.avail_in == 0 && !fill(g))
        return false;
      status = inflate(&g->stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END)
        return gzip_fail(g, status == Z_MEM_ERROR
                                ? "out of memory"
                                : "its gzip data are corrupt");
    }
    if (!put(g, GZIP_BLOCK - g->stream.avail_out))
      return false;
  }
  return true;
}

/* Streams may follow each other, and zeros the last one. */
static bool unpack(struct gzip *g) {
  bool more = true;
  while (more) {
    if (!unpack_stream(g))
      return false;
    more = g->size < g->most &&
           (g->stream.avail_in > 0 || g->at < g->packed->size);
    if (more && g->stream.avail_in == 0 && !fill(g))
      return false;
    if (more && *g->stream.next_in == 0)
      break;
    if (more && inflateReset(&g->stream) != Z_OK)
      return gzip_fail(g, "out of memory");
  }
  return ftruncate(fileno(g->to), (off_t)g->size) == 0 ||
         gzip_fail(g, strerror(errno));
}

/* The file in place of what was packed. */
static bool replace(struct byte_store *store, FILE *file) {
  struct byte_store unpacked;
  bool opened = byte_store_dup(&unpacked, fileno(file));
  byte_store_close(store);
  *store = unpacked;
  return opened;
}

bool gzip_unpack(struct byte_store *store, uint64_t most) {
  struct gzip g = {.packed = store, .to = tmpfile(), .most = most};
  bool done = g.to ? inflateInit2(&g.stream, GZIP_WINDOW) == Z_OK ||
                         gzip_fail(&g, "out of memory")
                   : gzip_fail(&g, strerror(errno));
  if (done) {
    done = unpack(&g);
    inflateEnd(&g.stream);
  }
  done = done && replace(store, g.to);
  if (g.to)
    fclose(g.to);
  return done;
}
