/* Files: a whole text in, with a status instead of a message. */
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
  FILE_SILENT,  /* a pipe to which nobody writes */
  FILE_ENDLESS, /* no plain file, and more than such a one may have */
};

/* Which file it is, by whatever path it was reached. */
struct file_id {
  bool known; /* not of standard input */
  uint64_t device, number;
};

static inline bool file_same(const struct file_id *a, const struct file_id *b) {
  return a->known && b->known && a->device == b->device &&
         a->number == b->number;
}

/* The identity of the file at a path; not known if there is none. */
struct file_id file_identify(const char *path);

/* Where a path leads, without links, `.` and `..`; false: there is no file. */
bool file_real(struct arena *arena, const char *path, struct slice *real);

/* A link, though it may lead nowhere. */
bool file_is_link(const char *path);

/*
 * Reads a file ("-" is standard input) into the arena. FILE_FAILED leaves
 * the reason in errno.
 */
enum file_status file_read(struct arena *arena, const char *path,
                           struct slice *text);

/* The same of a file that a source names: FILE_ENDLESS ends a device, or a
 * file whose size is not known, at LIMIT_SPECIAL_BYTES. */
enum file_status file_read_named(struct arena *arena, const char *path,
                                 struct slice *text);

/*
 * The same, but after its first FILE_HEAD bytes, or all if it has fewer, `ask`
 * says whether to read on. If not, these are the text, and that is FILE_OK.
 */
enum { FILE_HEAD = 1 << 16 };
typedef bool file_ask_fn(void *user, struct slice head);
enum file_status file_read_asking(struct arena *arena, const char *path,
                                  file_ask_fn *ask, void *user,
                                  struct slice *text);

/* Why a file could not be read, from the status and errno. */
struct file_reason {
  char text[160];
};
struct file_reason file_reason(enum file_status status);

#endif
