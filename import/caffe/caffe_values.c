/* Reads the weights of a .prototxt's net from a .caffemodel, by layer name. */
#include <inttypes.h>
#include <string.h>

#include "import/caffe/caffe.h"
#include "import/values.h"

struct caffe_values {
  struct tensor_file file;
  const char *path;
  bool *taken; /* by tensor */
};

bool caffe_values_open(struct caffe *c) {
  if (!c->options->values)
    return true;
  struct caffe_values *v = ARENA_NEW(c->graph->arena, struct caffe_values);
  c->values = v;
  v->path = c->options->values;
  if (tensors_open(&v->file, v->path, c->graph->arena)) {
    v->taken = arena_alloc(c->graph->arena, v->file.tensors.count + 1,
                           sizeof *v->taken);
    return true;
  }
  tensors_close(&v->file);
  graph_fail(c->graph, 0, "the weights cannot be read from %s: %s", v->path,
             v->file.fault);
  return graph_help(c->graph, "--from FILE.caffemodel names the file");
}

/* Reports why a blob is missing. */
static void lack(struct caffe *c, int place) {
  const struct caffe_values *v = c->values;
  const char *first = graph_text(c->graph, "%s.0", c->at->name);
  bool known = tensors_find(&v->file, first);
  caffe_fail(
      c, known
             ? graph_text(c->graph, "%s has no blob %d for it", v->path, place)
             : graph_text(c->graph, "%s has no values for it", v->path));
  graph_help(c->graph, "layers are matched by name: does the file belong to "
                       "another net?");
}

float *caffe_take(struct caffe *c, struct graph_node *node, const char *name,
                  int place, int64_t count) {
  struct caffe_values *v = c->values;
  if (!v || c->graph->failed)
    return NULL;
  const struct stored_tensor *t =
      tensors_find(&v->file, graph_text(c->graph, "%s.%d", c->at->name, place));
  if (!t) {
    lack(c, place);
    return NULL;
  }
  if (t->count != count) {
    caffe_fail(c, graph_text(c->graph,
                             "blob %d has %" PRId64 " values in %s, but the "
                             "prototxt needs %" PRId64,
                             place, t->count, v->path, count));
    return NULL;
  }
  v->taken[t - v->file.tensors.at] = true;
  float *values = values_take(c->graph, node, name, &v->file, t, count);
  if (!values)
    graph_fail(c->graph, 0, "%s: %s", v->path, v->file.fault);
  return values;
}

void caffe_tensor(struct caffe *c, struct graph_node *node, const char *name,
                  int place, const int64_t *sizes, size_t count) {
  graph_tensor(node, sizes, count);
  caffe_take(c, node, name, place, graph_count(sizes, count));
}

bool caffe_lacks_values(struct caffe *c, const char *why) {
  if (!c->values)
    return false;
  caffe_fail(c, why);
  graph_help(c->graph, "without --weights netc reads the net alone");
  return true;
}

/* Notes layers of the .caffemodel that the net lacks. As in Caffe they are no
 * error: a net is often a part of the one that was trained. */
void caffe_values_end(struct caffe *c) {
  struct caffe_values *v = c->values;
  for (size_t i = 0; v && !c->graph->failed && i < v->file.tensors.count; i++)
    if (!v->taken[i] && v->file.tensors.at[i].count > 0) {
      const char *name = v->file.tensors.at[i].name;
      graph_note(c->graph,
                 "The .caffemodel has weights for layers that the prototxt "
                 "lacks, such as `%.*s`.",
                 (int)(strrchr(name, '.') - name), name);
      break;
    }
  if (v)
    tensors_close(&v->file);
}
