/* Outputs: files that are whole or not there, and dependency files. */
#define _POSIX_C_SOURCE 200809L
#include "driver/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool output_open(struct output_file *output, const char *path) {
  static const char suffix[] = ".XXXXXX";
  *output = (struct output_file){.path = path};
  if (strcmp(path, "-") == 0) {
    output->file = stdout;
    return true;
  }
  size_t length = strlen(path);
  output->temporary = malloc(length + sizeof suffix);
  if (!output->temporary)
    return false;
  memcpy(output->temporary, path, length);
  memcpy(output->temporary + length, suffix, sizeof suffix);
  int fd = mkstemp(output->temporary);
  if (fd < 0) {
    free(output->temporary);
    output->temporary = NULL;
    return false;
  }
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd, 0666 & ~mask) != 0) { /* mkstemp makes it private */
    int reason = errno;
    close(fd);
    output_abandon(output);
    errno = reason;
    return false;
  }
  output->file = fdopen(fd, "wb");
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

bool output_commit(struct output_file *output, bool if_changed) {
  if (!output->temporary)
    return fflush(stdout) == 0 && !ferror(stdout);
  bool written = !ferror(output->file);
  written = fclose(output->file) == 0 && written;
  output->file = NULL;
  if (!written) {
    output_abandon(output);
    return false;
  }
  if (if_changed && same_content(output->temporary, output->path)) {
    output_abandon(output);
    return true;
  }
  if (rename(output->temporary, output->path) != 0) {
    int reason = errno;
    output_abandon(output);
    errno = reason;
    return false;
  }
  free(output->temporary);
  output->temporary = NULL;
  return true;
}

void output_abandon(struct output_file *output) {
  if (!output->temporary)
    return;
  if (output->file)
    fclose(output->file);
  output->file = NULL;
  unlink(output->temporary);
  free(output->temporary);
  output->temporary = NULL;
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
