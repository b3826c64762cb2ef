/* Stores that are files of the system, by pread. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/bytes/gzip.h"

static bool open_store(struct byte_store *store, int file) {
  struct stat found;
  *store = (struct byte_store){.file = file};
  if (store->file < 0 || fstat(store->file, &found) != 0)
    return byte_store_fail(store, strerror(errno));
  if (!S_ISREG(found.st_mode))
    return byte_store_fail(store, "it is not a regular file");
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
    return byte_store_fail(store, "it is not a regular file");
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

bool byte_store_fetch(struct byte_store *store, uint64_t at, unsigned char *to,
                      size_t count) {
  while (count > 0) {
    ssize_t got = pread(store->file, to, count, (off_t)(store->begin + at));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return byte_store_fail(store, strerror(errno));
    if (got == 0)
      return byte_store_fail(store, "it was truncated while netc read it");
    to += got;
    at += (uint64_t)got;
    count -= (size_t)got;
  }
  return true;
}
