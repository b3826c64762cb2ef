/* Files: reads a whole file and returns a status. */
#ifndef NETC_BASE_FILE_H
#define NETC_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

enum file_status {
  FILE_OK,
  FILE_ABSENT,
  FILE_FAILED,
  FILE_TOO_LARGE,
  FILE_SILENT,  /* a pipe without a writer */
  FILE_ENDLESS, /* not a regular file, and larger than such a file may be */
};

/* The identity of a file, equal for all paths to it. */
struct file_id {
  bool known; /* false for standard input */
  uint64_t device, number;
};

static inline bool file_same(const struct file_id *a, const struct file_id *b) {
  return a->known && b->known && a->device == b->device &&
         a->number == b->number;
}

/* The identity of the file at a path; not known if there is none. */
struct file_id file_identify(const char *path);

/* The absolute path without links, `.` and `..`; false: there is no file. */
bool file_real(struct arena *arena, const char *path, struct slice *real);

/* True if a file exists below the folder, also with all links followed. */
bool file_is_inside(struct arena *arena, const char *folder, const char *path);

/* True if it is a link, even a dangling one. */
bool file_is_link(const char *path);

/*
 * Reads a file ("-" is standard input) into the arena. FILE_FAILED leaves
 * the reason in errno.
 */
enum file_status file_read(struct arena *arena, const char *path,
                           struct slice *text);

/* file_read() for a file that a source names: FILE_ENDLESS if a device, or a
 * file of unknown size, exceeds LIMIT_SPECIAL_BYTES. */
enum file_status file_read_named(struct arena *arena, const char *path,
                                 struct slice *text);

/*
 * file_read() that calls `ask` after the first FILE_HEAD bytes, or after all if
 * there are fewer. If `ask` returns false, the text is these bytes, with
 * FILE_OK.
 */
enum { FILE_HEAD = 1 << 16 };
typedef bool file_ask_fn(void *user, struct slice head);
enum file_status file_read_asking(struct arena *arena, const char *path,
                                  file_ask_fn *ask, void *user,
                                  struct slice *text);

/* The reason why a file was not read, from the status and errno. */
struct file_reason {
  char text[160];
};
struct file_reason file_reason(enum file_status status);

#endif
