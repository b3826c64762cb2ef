/*
 * Shapes of stored matrices against those of a net: how many rows there are of
 * each width. Queries, keys and values in one matrix are as many rows as
 * apart, and so are experts.
 */
#include <inttypes.h>

#include "import/huggingface/huggingface.h"
#include "netc.h"

enum { WIDTHS = 1000 }; /* that are looked at: a net has a few */

/* NULL: there are too many. */
static struct stored_rows *rows_of(struct stored *stored, struct arena *arena,
                                   int64_t width) {
  for (size_t i = 0; i < stored->rows.count; i++)
    if (stored->rows.at[i].width == width)
      return &stored->rows.at[i];
  if (stored->rows.count == WIDTHS)
    return NULL;
  struct stored_rows *rows = VEC_PUSH(arena, &stored->rows);
  *rows = (struct stored_rows){.width = width};
  return rows;
}

/* The last axis, but for those of kernels of one; 0: it is no matrix. */
static int64_t width_of(const int64_t *dims, int rank) {
  while (rank > 2 && dims[rank - 1] == 1)
    rank--;
  return rank < 2 ? 0 : dims[rank - 1];
}

void stored_add_rows(struct stored *stored, struct arena *arena,
                     const struct stored_tensor *t) {
  int64_t width = width_of(t->dims, t->rank);
  if (width < 1)
    return;
  struct stored_rows *rows = rows_of(stored, arena, width);
  if (!rows)
    return;
  rows->first = rows->first ? rows->first : t->name;
  rows->file += t->count / width;
}

static void add_net(struct hugging *h, struct slice source) {
  struct netc_weight weight = {.size = sizeof weight};
  struct netc *netc = netc_open(NULL, NULL);
  bool right = netc && netc_load_text(netc, "template", source.at,
                                      source.length) == NETC_OK;
  for (size_t i = 0; right && netc_weight(netc, i, &weight) == NETC_OK; i++) {
    int64_t width = width_of(weight.dims, (int)weight.rank);
    struct stored_rows *rows =
        width > 0 ? rows_of(&h->stored, h->graph->arena, width) : NULL;
    if (rows)
      rows->net += weight.count / width;
  }
  netc_close(netc);
}

bool hugging_check_rows(struct hugging *h, struct slice source) {
  if (h->stored.rows.count == 0 || h->options->allow_unknown)
    return true;
  add_net(h, source);
  for (size_t i = 0; i < h->stored.rows.count; i++) {
    const struct stored_rows *rows = &h->stored.rows.at[i];
    if (rows->file == rows->net)
      continue;
    graph_fail(h->graph, 0,
               "%s has %" PRId64 " rows of %" PRId64 " values%s%.64s%s, but "
               "the net has %" PRId64,
               h->stored.name, rows->file, rows->width,
               rows->first ? ", the first in `" : "",
               rows->first ? rows->first : "", rows->first ? "`" : "",
               rows->net);
    return graph_help(h->graph,
                      "`netc import --allow-unknown` writes the net anyway");
  }
  return true;
}
