/*
 * Files of the page, which are read in parts: those that import/bytes/file.c
 * finds on a disk. The page has them by number, and none is ever closed.
 */
#include <string.h>

#include "import/bytes/bytes.h"

#define PAGE_CALL(name) \
  __attribute__((import_module("page"), import_name(#name)))

/* -1: there is no file of that name. */
PAGE_CALL(find) int page_find(const char *name, size_t length);
PAGE_CALL(size) double page_size(int file);
/* 0: the browser cannot read it any more. */
PAGE_CALL(read) int page_read(int file, double at, void *to, size_t count);

bool byte_store_open(struct byte_store *store, const char *path) {
  path += strncmp(path, "./", 2) ? 0 : 2; /* beside the model */
  int file = page_find(path, strlen(path));
  *store = (struct byte_store){.file = file};
  if (file < 0)
    return byte_store_fail(store, "No such file or directory");
  store->size = (uint64_t)page_size(file);
  return true;
}

void byte_store_close(struct byte_store *store) {
  *store = (struct byte_store){.file = -1};
}

bool byte_store_fetch(struct byte_store *store, uint64_t at, unsigned char *to,
                      size_t count) {
  return page_read(store->file, (double)(store->begin + at), to, count) ||
         byte_store_fail(store, "the browser cannot read it any more");
}
