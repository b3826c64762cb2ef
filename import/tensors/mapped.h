/* Mapped: a file's bytes without reading them, however large it is. */
#ifndef NETC_IMPORT_TENSORS_MAPPED_H
#define NETC_IMPORT_TENSORS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

struct mapped {
  const unsigned char *at; /* NULL: the file is empty */
  size_t length;
};

/* False, with a reason in words, if there is not a regular file to read. */
bool mapped_open(struct mapped *mapped, const char *path, const char **reason);
void mapped_close(struct mapped *mapped);

#endif
