/*
 * Reads the weights of a .cfg: a version, then floats, section by section
 * (src/parser.c, load_weights). The file has neither names nor sizes: the .cfg
 * must account for every byte.
 */
#include <inttypes.h>

#include "import/darknet/darknet.h"
#include "import/values.h"

struct darknet_values {
  struct tensor_file file;
  const char *path;
  uint64_t at;                        /* offset of the next value */
  const struct darknet_section *last; /* the last section that took values */
};

static bool unreadable(struct darknet *d) {
  const struct darknet_values *v = d->values;
  graph_fail(d->graph, 0, "the weights cannot be read from %s: %s", v->path,
             *v->file.store.fault ? v->file.store.fault : v->file.fault);
  return graph_help(d->graph, "--from FILE.weights names the file");
}

/* Reads major, minor, revision, and the number of images seen in training. */
static bool read_version(struct darknet *d) {
  struct darknet_values *v = d->values;
  struct byte_reader r;
  bytes_open(&r, &v->file.store, 0, UINT64_MAX);
  uint32_t major = bytes_u32(&r), minor = bytes_u32(&r);
  bytes_skip(&r, 4);
  if (bytes_ok(&r) && (major > 1000 || minor > 1000))
    return graph_fail(d->graph, 0,
                      "%s has no version of Darknet's weights that netc reads",
                      v->path);
  bytes_skip(&r, major * 10 + minor >= 2 ? 8 : 4);
  v->at = r.at;
  return bytes_ok(&r) || graph_fail(d->graph, 0, "%s: %s", v->path, r.fault);
}

bool darknet_values_open(struct darknet *d) {
  if (!d->options->values)
    return true;
  d->values = ARENA_NEW(d->graph->arena, struct darknet_values);
  d->values->path = d->options->values;
  return byte_store_open(&d->values->file.store, d->values->path)
             ? read_version(d)
             : unreadable(d);
}

/* False for options with which inference in netc differs from Darknet's. */
static bool are_plain(struct darknet *d, struct darknet_section *s) {
  static const char *const others[] = {"dontload", "dontloadscales", "flipped",
                                       "binary", "xnor"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (darknet_number(d, s, others[i], 0))
      return graph_fail(d->graph, s->line,
                        "the weights of a layer with `%s` are not converted",
                        others[i]);
  return true;
}

void darknet_take(struct darknet *d, struct darknet_section *s,
                  struct graph_node *node, const char *name, int64_t count) {
  struct darknet_values *v = d->values;
  if (!v || d->graph->failed || !are_plain(d, s))
    return;
  uint64_t left = (v->file.store.size - v->at) / 4;
  if ((uint64_t)count > left) {
    graph_fail(d->graph, s->line,
               "layer %zu, [%.*s], needs %" PRId64
               " values for its %s, but %s has only %" PRIu64 " more",
               d->layers.count, SLICE_ARG(s->name), count, name, v->path, left);
    graph_help(d->graph, "it was truncated, or belongs to another net");
    return;
  }
  struct stored_tensor stored = {.type = VALUE_F32, .at = v->at};
  if (!values_take(d->graph, node, name, &v->file, &stored, count)) {
    unreadable(d);
    return;
  }
  v->at += 4 * (uint64_t)count;
  v->last = s;
}

void darknet_lacks_values(struct darknet *d, const struct darknet_section *s) {
  if (!d->values || d->graph->failed)
    return;
  graph_fail(d->graph, s->line, "the weights of [%.*s] are not converted",
             SLICE_ARG(s->name));
  graph_help(d->graph, "without --weights the net is read");
}

/* Fails unless every byte belongs to a layer. */
bool darknet_values_end(struct darknet *d) {
  const struct darknet_values *v = d->values;
  uint64_t left = v ? v->file.store.size - v->at : 0;
  if (d->graph->failed || left == 0)
    return !d->graph->failed;
  graph_fail(d->graph, v->last ? v->last->line : 0,
             "%" PRIu64 " bytes of %s remain after the last layer with weights",
             left, v->path);
  return graph_help(d->graph, "it belongs to another net, or to another "
                              "version of this one");
}

void darknet_values_close(struct darknet *d) {
  if (d->values)
    tensors_close(&d->values->file);
}
