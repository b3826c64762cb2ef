/* Outputs: files that are whole or not there, and dependency files. */
#define _XOPEN_SOURCE 700
#include "driver/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget(struct output_file *output) {
  int reason = errno;
  free(output->path);
  free(output->temporary);
  output->path = output->temporary = NULL;
  errno = reason;
}

static char *copy_of(const char *text, const char *end) {
  size_t length = strlen(text), more = strlen(end);
  char *copy = malloc(length + more + 1);
  if (copy) {
    memcpy(copy, text, length);
    memcpy(copy + length, end, more + 1);
  }
  return copy;
}

/* A temporary file with the permissions that the umask leaves. */
static bool open_temporary(struct output_file *output) {
  output->temporary = copy_of(output->path, ".XXXXXX");
  int fd = output->temporary ? mkstemp(output->temporary) : -1;
  if (fd < 0) {
    forget(output);
    return false;
  }
  mode_t mask = umask(0);
  umask(mask);
  bool opened = fchmod(fd, 0666 & ~mask) == 0;
  output->file = opened ? fdopen(fd, "wb") : NULL;
  if (!output->file) {
    int reason = errno;
    close(fd);
    unlink(output->temporary);
    errno = reason;
    forget(output);
  }
  return output->file != NULL;
}

bool output_open(struct output_file *output, const char *path) {
  struct stat stat_of;
  *output = (struct output_file){0};
  if (strcmp(path, "-") == 0) {
    output->file = stdout;
    return true;
  }
  output->path = realpath(path, NULL); /* where a link leads */
  if (!output->path)
    output->path = copy_of(path, "");
  if (!output->path)
    return false;
  bool special = lstat(output->path, &stat_of) == 0 &&
                 !S_ISREG(stat_of.st_mode); /* or a link to nothing yet */
  if (!special)
    return open_temporary(output);
  output->file = fopen(output->path, "wb");
  if (!output->file)
    forget(output);
  return output->file != NULL;
}

static bool same_content(const char *a, const char *b) {
  FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
  bool same = x && y;
  while (same) {
    char left[4096], right[4096];
    size_t n = fread(left, 1, sizeof left, x);
    size_t m = fread(right, 1, sizeof right, y);
    same = n == m && memcmp(left, right, n) == 0;
    if (n < sizeof left)
      break;
  }
  if (x)
    fclose(x);
  if (y)
    fclose(y);
  return same;
}

/* Closes the file; false if any byte of it was lost. */
static bool close_file(struct output_file *output) {
  bool written = !ferror(output->file);
  if (output->file == stdout)
    written = fflush(stdout) == 0 && written;
  else
    written = fclose(output->file) == 0 && written;
  output->file = NULL;
  return written;
}

bool output_commit(struct output_file *output, bool if_changed) {
  bool done = close_file(output);
  if (output->temporary) {
    bool same =
        done && if_changed && same_content(output->temporary, output->path);
    if (done && !same)
      done = rename(output->temporary, output->path) == 0;
    int reason = errno;
    if (same || !done)
      unlink(output->temporary);
    errno = reason;
  }
  forget(output);
  return done;
}

void output_abandon(struct output_file *output) {
  if (output->file && output->file != stdout)
    fclose(output->file);
  output->file = NULL;
  if (output->temporary)
    unlink(output->temporary);
  forget(output);
}

void put_make_name(FILE *file, const char *name) {
  for (; *name; name++) {
    if (*name == ' ' || *name == '#' || *name == '\\')
      fputc('\\', file);
    if (*name == '$')
      fputc('$', file);
    fputc(*name, file);
  }
}
