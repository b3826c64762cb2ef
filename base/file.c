/* Files: a whole text in, with a status instead of a message. */
#include "base/file.h"

#include <errno.h>
#include <stdio.h>

#include "base/limits.h"

static enum file_status read_all(struct arena *arena, FILE *file,
                                 struct slice *text) {
  VEC(char) bytes = {0};
  for (;;) {
    if (bytes.room - bytes.count < 2)
      bytes.at = arena_grow(arena, bytes.at, &bytes.room, bytes.count, 1);
    size_t got =
        fread(bytes.at + bytes.count, 1, bytes.room - bytes.count, file);
    bytes.count += got;
    if (got == 0)
      break;
    if (bytes.count > LIMIT_SOURCE_BYTES)
      return FILE_TOO_LARGE;
  }
  *text = (struct slice){bytes.at, bytes.count};
  return ferror(file) ? FILE_FAILED : FILE_OK;
}

enum file_status file_read(struct arena *arena, const char *path,
                           struct slice *text) {
  if (path[0] == '-' && path[1] == '\0')
    return read_all(arena, stdin, text);
  errno = 0;
  FILE *file = fopen(path, "rb");
  if (!file)
    return errno == ENOENT ? FILE_ABSENT : FILE_FAILED;
  jmp_buf *outer = arena->on_failure;
  jmp_buf here;
  if (setjmp(here)) { /* no memory: the file must be closed all the same */
    fclose(file);
    arena->on_failure = outer;
    longjmp(*outer, 1);
  }
  if (outer)
    arena->on_failure = &here;
  enum file_status status = read_all(arena, file, text);
  arena->on_failure = outer;
  int reason = errno;
  fclose(file);
  errno = reason;
  return status;
}
