/*
 * Layer words as numbers, from ops.def, for importers and exporters: they refer
 * to layers without calling them.
 */
#ifndef NETC_OPS_WORD_H
#define NETC_OPS_WORD_H

enum layer_word {
  WORD_NONE,
#define LAYER(id, WORD, ...) WORD_##WORD,
#include "ops/ops.def"
  WORD_PART,   /* one part of a split */
  WORD_ROUTER, /* the front of moe */
  /* Only importers use the rest. */
  WORD_INPUT,
  WORD_AGAIN,  /* another use of a layer */
  WORD_ERF,    /* always a part of gelu */
  WORD_CENTRE, /* a mean over channels, as norms contain it */
};

/* The word in sources; "" for WORD_NONE. */
const char *word_name(enum layer_word word);

#endif
