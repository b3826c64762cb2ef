/* Files: a whole text in, with a status instead of a message. */
#ifndef NETC_BASE_FILE_H
#define NETC_BASE_FILE_H

#include "base/arena.h"
#include "base/slice.h"

enum file_status { FILE_OK, FILE_ABSENT, FILE_FAILED, FILE_TOO_LARGE };

/*
 * Reads a file ("-" is standard input) into the arena. FILE_FAILED leaves
 * the reason in errno.
 */
enum file_status file_read(struct arena *arena, const char *path,
                           struct slice *text);

#endif
