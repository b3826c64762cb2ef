/* Files of the system that have values of a model. */
#define _GNU_SOURCE /* SEEK_DATA */
#include "import/onnx/external.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if a path is below a folder; both are without links. */
static bool is_below(const char *folder, const char *path) {
  size_t length = strlen(folder);
  return strncmp(folder, path, length) == 0 &&
         (path[length] == '/' || (length == 1 && *folder == '/'));
}

void external_find(struct onnx *x, const char *folder, const char *location,
                   struct external_file *file) {
  struct stat found;
  char *home = realpath(folder, NULL);
  char *whole = realpath(graph_text(x->graph, "%s/%s", folder, location), NULL);
  if (!home || !whole)
    file->absent = graph_text(x->graph, "%s", strerror(errno));
  else if (!is_below(home, whole))
    file->wrong = "which is a link to a place outside the model's folder";
  else if (stat(whole, &found) != 0)
    file->absent = graph_text(x->graph, "%s", strerror(errno));
  else if (!S_ISREG(found.st_mode))
    file->wrong = "which is not a file";
  else {
    file->path = graph_text(x->graph, "%s", whole);
    file->size = found.st_size;
  }
  free(home);
  free(whole);
}

/* Opens the resolved path without following a link placed there since. */
bool external_open_file(struct byte_store *store,
                        const struct external_file *file) {
  int opened = open(file->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  bool right = byte_store_dup(store, opened);
  if (opened >= 0)
    close(opened);
  return right;
}

bool external_has_hole(struct byte_store *store, int64_t from, int64_t to) {
#ifdef SEEK_DATA
  off_t data = lseek(store->file, (off_t)from, SEEK_DATA);
  return data < 0 ? errno == ENXIO : data >= to;
#else
  (void)store, (void)from, (void)to;
  return false;
#endif
}
