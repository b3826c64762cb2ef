/*
 * The words of layers as numbers, from the table of layers: for importers and
 * exporters, which speak of layers without calling them.
 */
#ifndef NETC_LAYERS_WORD_H
#define NETC_LAYERS_WORD_H

enum layer_word {
  WORD_NONE,
#define LAYER(id, WORD) WORD_##WORD,
#include "layers/layers.def"
#undef LAYER
  WORD_PART, /* of a split */
  /* What stands among layers in an imported net. */
  WORD_INPUT,
  WORD_AGAIN,  /* another use of a layer */
  WORD_ERF,    /* only ever a part of gelu */
  WORD_CENTRE, /* a mean over the channels, which a norm may contain */
};

#endif
