/*
 * Files: a whole text in, with a status instead of a message. All that the
 * library knows of a file system is here; NETC_NO_FILES leaves it out.
 */
#ifndef NETC_NO_FILES
#define _POSIX_C_SOURCE 200809L
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
#include <sys/stat.h>
#include <unistd.h>

struct file_id file_identify(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0)
    return (struct file_id){false, 0, 0};
  return (struct file_id){true, (uint64_t)found.st_dev, (uint64_t)found.st_ino};
}

struct reading {
  struct arena *arena;
  int file;
  file_ask_fn *ask;
  void *user;
  struct slice *text;
  enum file_status status;
  bool waited; /* for somebody who writes */
};

/* Whether all of it may be read: nobody waits for 70 GB to be refused. */
static bool is_small(const struct reading *r) {
  struct stat found;
  return fstat(r->file, &found) != 0 || !S_ISREG(found.st_mode) ||
         (uint64_t)found.st_size <= LIMIT_SOURCE_BYTES;
}

static bool read_on(struct reading *r, struct slice head) {
  if (r->ask && !r->ask(r->user, head))
    return false;
  if (!is_small(r))
    r->status = FILE_TOO_LARGE;
  return r->status == FILE_OK;
}

enum { WRITER_MS = 3000 }; /* that a named pipe is given to find a writer */

/*
 * Whether to read again what gave nothing: a pipe is opened without waiting,
 * and waited for as long as somebody has it open. Nobody may have yet.
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
    else if (!asked && (end || bytes.count == FILE_HEAD)) {
      asked = true;
      end = !read_on(r, (struct slice){bytes.at, bytes.count}) || end;
    }
  }
  bytes.at[bytes.count] = '\0';
  *r->text = (struct slice){bytes.at, bytes.count};
}

enum file_status file_read_asking(struct arena *arena, const char *path,
                                  file_ask_fn *ask, void *user,
                                  struct slice *text) {
  struct reading r = {arena, STDIN_FILENO, ask, user, text, FILE_OK, false};
  struct arena *const arenas[GUARD_ARENAS] = {arena};
  bool input = strcmp(path, "-") == 0;
  errno = 0;
  if (!input)
    r.file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (r.file < 0)
    return errno == ENOENT ? FILE_ABSENT : FILE_FAILED;
  bool done = guard_run(arenas, read_all, &r);
  int reason = errno;
  if (!input) /* it is closed, even when there is no memory to read it */
    close(r.file);
  errno = reason;
  if (!done)
    arena_fail(arena);
  return r.status;
}

#endif

enum file_status file_read(struct arena *arena, const char *path,
                           struct slice *text) {
  return file_read_asking(arena, path, NULL, NULL, text);
}

struct file_reason file_reason(enum file_status status) {
  struct file_reason reason = {"it cannot be read"};
  if (status == FILE_TOO_LARGE)
    strcpy(reason.text, "it is larger than 1 GiB");
  else if (status == FILE_SILENT)
    strcpy(reason.text, "it is a pipe to which nobody writes");
#ifndef NETC_NO_FILES
  else if (errno && strerror_r(errno, reason.text, sizeof reason.text) != 0)
    strcpy(reason.text, "it cannot be read");
#endif
  return reason;
}
