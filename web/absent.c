/* What import/ reads from files that lie beside: a page has none. */
#include <stdio.h>

#include "import/caffe/caffe.h"
#include "import/darknet/darknet.h"
#include "import/huggingface/huggingface.h"
#include "import/weights.h"

bool caffe_values_open(struct caffe *caffe) {
  (void)caffe;
  return true;
}

void caffe_values_end(struct caffe *caffe) {
  (void)caffe;
}

float *caffe_take(struct caffe *caffe, struct graph_node *node,
                  const char *name, int place, int64_t count) {
  (void)caffe;
  (void)node;
  (void)name;
  (void)place;
  (void)count;
  return NULL;
}

bool caffe_lacks_values(struct caffe *caffe, const char *why) {
  (void)caffe;
  (void)why;
  return false;
}

void caffe_tensor(struct caffe *caffe, struct graph_node *node,
                  const char *name, int place, const int64_t *sizes,
                  size_t count) {
  (void)caffe;
  (void)name;
  (void)place;
  graph_tensor(node, sizes, count);
}

bool darknet_values_open(struct darknet *d) {
  (void)d;
  return true;
}

bool darknet_values_end(struct darknet *d) {
  return !d->graph->failed;
}

void darknet_values_close(struct darknet *d) {
  (void)d;
}

void darknet_take(struct darknet *d, struct darknet_section *s,
                  struct graph_node *node, const char *name, int64_t count) {
  (void)d;
  (void)s;
  (void)node;
  (void)name;
  (void)count;
}

void darknet_lacks_values(struct darknet *d, const struct darknet_section *s) {
  (void)d;
  (void)s;
}

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

bool import_has_weights(struct netc *netc, const struct graph *graph) {
  (void)netc;
  (void)graph;
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
