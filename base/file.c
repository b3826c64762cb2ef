/*
 * Files: reads a whole file and returns a status. The library's only access to
 * a file system; NETC_NO_FILES omits it.
 */
#ifndef NETC_NO_FILES
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#include "base/file.h"

#include <errno.h>
#include <string.h>

#include "base/guard.h"
#include "base/limits.h"

#ifdef NETC_NO_FILES

struct file_id file_identify(const char *path) {
  (void)path;
  return (struct file_id){false, 0, 0};
}

bool file_real(struct arena *arena, const char *path, struct slice *real) {
  (void)arena;
  (void)path;
  (void)real;
  return false;
}

bool file_is_link(const char *path) {
  (void)path;
  return false;
}

enum file_status file_read_named(struct arena *arena, const char *path,
                                 struct slice *text) {
  return file_read(arena, path, text);
}

enum file_status file_read_asking(struct arena *arena, const char *path,
                                  file_ask_fn *ask, void *user,
                                  struct slice *text) {
  (void)arena;
  (void)path;
  (void)ask;
  (void)user;
  (void)text;
  errno = 0;
  return FILE_ABSENT;
}

#else

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_id file_identify(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0)
    return (struct file_id){false, 0, 0};
  return (struct file_id){true, (uint64_t)found.st_dev, (uint64_t)found.st_ino};
}

bool file_real(struct arena *arena, const char *path, struct slice *real) {
  char *place = realpath(path, NULL);
  if (place)
    *real = slice_of(arena_copy(arena, place, strlen(place)));
  free(place);
  return place != NULL;
}

bool file_is_link(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

struct reading {
  struct arena *arena;
  int file;
  file_ask_fn *ask;
  void *user;
  struct slice *text;
  enum file_status status;
  bool waited; /* for a writer of the pipe */
  bool named;  /* by a source: file_read_named() */
};

/* True if it may be read as a whole: larger files are
 * refused before reading. */
static bool is_small(const struct reading *r) {
  struct stat found;
  return fstat(r->file, &found) != 0 || !S_ISREG(found.st_mode) ||
         (uint64_t)found.st_size <= LIMIT_SOURCE_BYTES;
}

/* True for a file without an end: files of /proc are
 * regular and have size 0. */
static bool is_endless(const struct reading *r, size_t bytes) {
  struct stat found;
  return r->named && bytes > LIMIT_SPECIAL_BYTES &&
         (fstat(r->file, &found) != 0 || !S_ISREG(found.st_mode) ||
          (uint64_t)found.st_size <= LIMIT_SPECIAL_BYTES);
}

static bool read_on(struct reading *r, struct slice head) {
  if (r->ask && !r->ask(r->user, head))
    return false;
  if (!is_small(r))
    r->status = FILE_TOO_LARGE;
  return r->status == FILE_OK;
}

enum { WRITER_MS = 3000 }; /* wait for a writer of a named pipe */

/*
 * True if reading again may give more. A pipe is opened without waiting;
 * reading waits while it has a writer, or once for the first writer.
 */
static bool may_follow(struct reading *r, ssize_t got, size_t count) {
  struct pollfd wanted = {.fd = r->file, .events = POLLIN};
  struct stat found;
  if (got < 0 && errno == EAGAIN && r->file != STDIN_FILENO)
    return poll(&wanted, 1, -1) > 0 || errno == EINTR;
  if (got != 0 || count > 0 || r->file == STDIN_FILENO ||
      fstat(r->file, &found) != 0 || !S_ISFIFO(found.st_mode))
    return got < 0 && errno == EINTR;
  if (r->waited)
    r->status = FILE_SILENT;
  else
    poll(&wanted, 1, WRITER_MS);
  r->waited = true;
  return r->status == FILE_OK;
}

static void read_all(void *user) {
  struct reading *r = user;
  VEC(char) bytes = {0};
  bool asked = false, end = false;
  while (!end && r->status == FILE_OK) {
    if (bytes.room - bytes.count < 2)
      bytes.at = arena_grow(r->arena, bytes.at, &bytes.room, bytes.count, 1);
    size_t room = bytes.room - bytes.count - 1;
    if (!asked && room > FILE_HEAD - bytes.count)
      room = FILE_HEAD - bytes.count;
    ssize_t got = read(r->file, bytes.at + bytes.count, room);
    if (got <= 0 && may_follow(r, got, bytes.count))
      continue;
    bytes.count += got > 0 ? (size_t)got : 0;
    end = got <= 0;
    if (got < 0)
      r->status = FILE_FAILED;
    else if (bytes.count > LIMIT_SOURCE_BYTES)
      r->status = FILE_TOO_LARGE;
    else if (is_endless(r, bytes.count))
      r->status = FILE_ENDLESS;
    else if (!asked && (end || bytes.count == FILE_HEAD)) {
      asked = true;
      end = !read_on(r, (struct slice){bytes.at, bytes.count}) || end;
    }
  }
  bytes.at[bytes.count] = '\0';
  *r->text = (struct slice){bytes.at, bytes.count};
}

static enum file_status read_file(struct reading r, const char *path) {
  struct arena *const arenas[GUARD_ARENAS] = {r.arena};
  bool input = strcmp(path, "-") == 0;
  errno = 0;
  if (!input)
    r.file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (r.file < 0)
    return errno == ENOENT ? FILE_ABSENT : FILE_FAILED;
  bool done = guard_run(arenas, read_all, &r);
  int reason = errno;
  if (!input) /* also if there was no memory to read it */
    close(r.file);
  errno = reason;
  if (!done)
    arena_fail(r.arena);
  return r.status;
}

enum file_status file_read_asking(struct arena *arena, const char *path,
                                  file_ask_fn *ask, void *user,
                                  struct slice *text) {
  struct reading r = {arena, STDIN_FILENO, ask,   user,
                      text,  FILE_OK,      false, false};
  return read_file(r, path);
}

enum file_status file_read_named(struct arena *arena, const char *path,
                                 struct slice *text) {
  struct reading r = {arena, STDIN_FILENO, NULL,  NULL,
                      text,  FILE_OK,      false, true};
  return read_file(r, path);
}

#endif

bool file_is_inside(struct arena *arena, const char *folder, const char *path) {
  struct slice base, real;
  if (!file_real(arena, folder, &base) || !file_real(arena, path, &real))
    return false;
  bool slash = base.length == 1; /* the root */
  return real.length > base.length &&
         memcmp(real.at, base.at, base.length) == 0 &&
         (slash || real.at[base.length] == '/');
}

enum file_status file_read(struct arena *arena, const char *path,
                           struct slice *text) {
  return file_read_asking(arena, path, NULL, NULL, text);
}

struct file_reason file_reason(enum file_status status) {
  struct file_reason reason = {"it cannot be read"};
  if (status == FILE_TOO_LARGE)
    strcpy(reason.text, "it is larger than 1 GiB");
  else if (status == FILE_ENDLESS)
    strcpy(reason.text, "it is not a regular file; netc reads 4 MB of it");
  else if (status == FILE_SILENT)
    strcpy(reason.text, "it is a pipe to which nobody writes");
#ifndef NETC_NO_FILES
  else if (errno == EISDIR)
    strcpy(reason.text, "it is a folder, not a file");
  else if (errno && strerror_r(errno, reason.text, sizeof reason.text) != 0)
    strcpy(reason.text, "it cannot be read");
#endif
  return reason;
}
