/* Mapped: a file's bytes, by mmap. */
#define _POSIX_C_SOURCE 200809L
#include "import/tensors/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool map(struct mapped *mapped, int fd, const char **reason) {
  struct stat stat_of;
  if (fstat(fd, &stat_of) < 0) {
    *reason = strerror(errno);
    return false;
  }
  if (!S_ISREG(stat_of.st_mode)) {
    *reason = "it is not a regular file";
    return false;
  }
  if (stat_of.st_size == 0)
    return true;
  if ((uintmax_t)stat_of.st_size > SIZE_MAX) {
    *reason = "it is larger than this machine can map";
    return false;
  }
  size_t length = (size_t)stat_of.st_size;
  void *at = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) {
    *reason = strerror(errno);
    return false;
  }
  *mapped = (struct mapped){at, length};
  return true;
}

/* A pipe without a writer would be waited for: O_NONBLOCK. */
bool mapped_open(struct mapped *mapped, const char *path, const char **reason) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  *mapped = (struct mapped){NULL, 0};
  if (fd < 0) {
    *reason = strerror(errno);
    return false;
  }
  bool done = map(mapped, fd, reason);
  close(fd);
  return done;
}

void mapped_close(struct mapped *mapped) {
  if (mapped->at)
    munmap((void *)(uintptr_t)mapped->at, mapped->length);
  *mapped = (struct mapped){NULL, 0};
}
