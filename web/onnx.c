/* Files that import/onnx/ asks for: here they are the page's. */
#include "import/onnx/external.h"

/* Values that lie in another file */

void external_find(struct onnx *x, const char *folder, const char *location,
                   struct external_file *file) {
  struct byte_store store;
  (void)folder;
  if (byte_store_open(&store, location)) {
    file->path = location;
    file->size = (int64_t)store.size;
  } else {
    file->absent = graph_text(x->graph, "%s", store.fault);
  }
}

bool external_open_file(struct byte_store *store,
                        const struct external_file *file) {
  return byte_store_open(store, file->path);
}

bool external_has_hole(struct byte_store *store, int64_t from, int64_t to) {
  (void)store;
  (void)from;
  (void)to;
  return false;
}
