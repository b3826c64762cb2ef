/* What import/ reads from files that lie beside: a page has none. */
#include <stdio.h>

#include "import/huggingface/huggingface.h"

bool stored_read(struct stored *stored, struct graph *graph,
                 const char *folder) {
  (void)graph;
  (void)folder;
  *stored = (struct stored){.last = -1};
  return true;
}

bool stored_is_inside(struct arena *arena, const char *folder,
                      const char *path) {
  (void)arena;
  (void)folder;
  (void)path;
  return false;
}

/* Files: there are none. The scanner's own, which nothing calls, name some. */

#undef stdin
FILE *const stdin = NULL;

int fprintf(FILE *file, const char *format, ...) {
  (void)file;
  (void)format;
  return EOF;
}

int fputs(const char *text, FILE *file) {
  (void)text;
  (void)file;
  return EOF;
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *file) {
  (void)from;
  (void)size;
  (void)count;
  (void)file;
  return 0;
}

size_t fread(void *to, size_t size, size_t count, FILE *file) {
  (void)to;
  (void)size;
  (void)count;
  (void)file;
  return 0;
}

int getc(FILE *file) {
  (void)file;
  return EOF;
}
