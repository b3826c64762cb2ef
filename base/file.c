/*
 * Files: a whole text in, with a status instead of a message. All that the
 * library knows of a file system is here; NETC_NO_FILES leaves it out.
 */
#ifndef NETC_NO_FILES
#define _POSIX_C_SOURCE 200809L
#endif
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/guard.h"
#include "base/limits.h"

#ifdef NETC_NO_FILES

struct file_id file_identify(const char *path) {
  (void)path;
  return (struct file_id){false, 0, 0};
}

enum file_status file_read(struct arena *arena, const char *path,
                           struct slice *text) {
  (void)arena;
  (void)path;
  (void)text;
  errno = 0;
  return FILE_ABSENT;
}

#else

#include <sys/stat.h>

struct file_id file_identify(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0)
    return (struct file_id){false, 0, 0};
  return (struct file_id){true, (uint64_t)found.st_dev, (uint64_t)found.st_ino};
}

struct reading {
  struct arena *arena;
  FILE *file;
  struct slice *text;
  enum file_status status;
};

static void read_all(void *user) {
  struct reading *r = user;
  VEC(char) bytes = {0};
  for (;;) {
    if (bytes.room - bytes.count < 2)
      bytes.at = arena_grow(r->arena, bytes.at, &bytes.room, bytes.count, 1);
    size_t got =
        fread(bytes.at + bytes.count, 1, bytes.room - bytes.count, r->file);
    bytes.count += got;
    if (got == 0)
      break;
    if (bytes.count > LIMIT_SOURCE_BYTES) {
      r->status = FILE_TOO_LARGE;
      return;
    }
  }
  bytes.at[bytes.count] = '\0';
  *r->text = (struct slice){bytes.at, bytes.count};
  r->status = ferror(r->file) ? FILE_FAILED : FILE_OK;
}

enum file_status file_read(struct arena *arena, const char *path,
                           struct slice *text) {
  struct reading r = {arena, stdin, text, FILE_OK};
  struct arena *const arenas[GUARD_ARENAS] = {arena};
  bool input = strcmp(path, "-") == 0;
  errno = 0;
  if (!input)
    r.file = fopen(path, "rb");
  if (!r.file)
    return errno == ENOENT ? FILE_ABSENT : FILE_FAILED;
  bool done = guard_run(arenas, read_all, &r);
  int reason = errno;
  if (!input) /* it is closed, even when there is no memory to read it */
    fclose(r.file);
  errno = reason;
  if (!done)
    arena_fail(arena);
  return r.status;
}

#endif

struct file_reason file_reason(enum file_status status) {
  struct file_reason reason = {"it cannot be read"};
  if (status == FILE_TOO_LARGE)
    strcpy(reason.text, "it is larger than 1 GiB");
#ifndef NETC_NO_FILES
  else if (errno && strerror_r(errno, reason.text, sizeof reason.text) != 0)
    strcpy(reason.text, "it cannot be read");
#endif
  return reason;
}
