/*
 * The words of layers as numbers, from ops.def: for importers and exporters,
 * which speak of layers without calling them.
 */
#ifndef NETC_OPS_WORD_H
#define NETC_OPS_WORD_H

enum layer_word {
  WORD_NONE,
#define LAYER(id, WORD, ...) WORD_##WORD,
#include "ops/ops.def"
  WORD_PART, /* of a split */
  /* Only importers know the rest. */
  WORD_INPUT,
  WORD_AGAIN,  /* another use of a layer */
  WORD_ERF,    /* only ever a part of gelu */
  WORD_CENTRE, /* a mean over the channels, which a norm may contain */
};

/* The word as a source has it; "" for WORD_NONE. */
const char *word_name(enum layer_word word);

#endif
