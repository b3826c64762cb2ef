/*
 * Guesses a chain of layers from weights alone: linear and convolutional layers
 * with batch norms, in the order of the file. Their sizes come from the file,
 * which does not have activations, strides, pooling or the input's size.
 */
#include <inttypes.h>

#include "import/recognise.h"

struct chain_layer {
  struct slice name; /* "features.0" of "features.0.weight" */
  const struct stored_tensor *weight, *bias, *mean;
};

struct guessed_chain {
  VEC(struct chain_layer) layers;
  struct text text;
  int64_t channels;      /* 0: none yet */
  int64_t height, width; /* taken off by kernels, then of the map */
  bool flat;             /* a vector */
};

/* "weight" of "fc.weight"; "" for a tensor that no chain has. */
static const char *last_part(const char *name, struct slice *layer) {
  const char *dot = strrchr(name, '.');
  *layer = (struct slice){name, dot ? (size_t)(dot - name) : 0};
  return dot ? dot + 1 : name;
}

static bool take(struct chain_layer *layer, const char *part,
                 const struct stored_tensor *t) {
  const struct stored_tensor **to = strcmp(part, "weight") == 0 ? &layer->weight
                                    : strcmp(part, "bias") == 0 ? &layer->bias
                                    : strcmp(part, "running_mean") == 0
                                        ? &layer->mean
                                        : NULL;
  if (to)
    *to = t;
  return to || strcmp(part, "running_var") == 0 ||
         strcmp(part, "num_batches_tracked") == 0;
}

static bool find_layers(const struct tensor_file *file, struct arena *arena,
                        struct guessed_chain *chain) {
  for (size_t i = 0; i < file->tensors.count; i++) {
    const struct stored_tensor *t = &file->tensors.at[i];
    struct chain_layer *layer = NULL;
    struct slice name;
    const char *part = last_part(t->name, &name);
    for (size_t k = 0; k < chain->layers.count && !layer; k++)
      if (slice_equal(chain->layers.at[k].name, name))
        layer = &chain->layers.at[k];
    if (!layer) {
      if (chain->layers.count > 200) /* such a net is no chain */
        return false;
      layer = VEC_PUSH(arena, &chain->layers);
      layer->name = name;
    }
    if (!take(layer, part, t))
      return false;
  }
  return chain->layers.count > 0;
}

/* Flattens the map before a linear layer. Only its number of places is known:
 * the sides are as close to a square as possible. */
static bool flatten(struct guessed_chain *chain, int64_t inputs) {
  if (!chain->channels || inputs % chain->channels)
    return false;
  int64_t places = inputs / chain->channels, side = 1;
  while ((side + 1) * (side + 1) <= places && side < 4096)
    side++;
  while (places % side)
    side--;
  chain->height += places / side;
  chain->width += side;
  text_put(&chain->text, "flatten\n");
  chain->channels = inputs;
  chain->flat = true;
  return true;
}

static bool put_linear(struct guessed_chain *chain,
                       const struct chain_layer *layer) {
  const struct stored_tensor *w = layer->weight;
  bool first = chain->channels == 0;
  if (first)
    chain->flat = true;
  else if (!chain->flat && !flatten(chain, w->dims[1]))
    return false;
  if (!first && chain->channels != w->dims[1])
    return false;
  chain->channels = w->dims[0];
  text_printf(&chain->text, "fc %" PRId64 "%s", w->dims[0],
              layer->bias ? "" : " nobias");
  return true;
}

/* A depthwise kernel has 1 on its axis of inputs. */
static bool put_conv(struct guessed_chain *chain,
                     const struct chain_layer *layer) {
  const int64_t *dims = layer->weight->dims;
  bool depthwise =
      chain->channels > 1 && dims[1] == 1 && dims[0] % chain->channels == 0;
  if (chain->flat ||
      (chain->channels && chain->channels != dims[1] && !depthwise))
    return false;
  text_printf(&chain->text, "conv %" PRId64 " %" PRId64 "x%" PRId64, dims[0],
              dims[2], dims[3]);
  if (depthwise)
    text_printf(&chain->text, " groups=%" PRId64, chain->channels);
  text_put(&chain->text, layer->bias ? "" : " nobias");
  chain->channels = dims[0];
  chain->height += dims[2] - 1;
  chain->width += dims[3] - 1;
  return true;
}

static bool put_layer(struct guessed_chain *chain,
                      const struct chain_layer *layer) {
  const struct stored_tensor *w = layer->weight;
  if (w && w->rank == 2 && !layer->mean)
    return put_linear(chain, layer);
  if (w && w->rank == 4 && !layer->mean)
    return put_conv(chain, layer);
  if (!w || w->rank != 1 || chain->channels != w->dims[0])
    return false;
  text_put(&chain->text, layer->mean ? "bn" : layer->bias ? "ln" : "prelu");
  return true;
}

/* Adds an activation after each layer that has no norm after it. */
static bool put_layers(struct guessed_chain *chain) {
  for (size_t i = 0; i < chain->layers.count; i++) {
    const struct chain_layer *layer = &chain->layers.at[i];
    const struct chain_layer *next =
        i + 1 < chain->layers.count ? layer + 1 : NULL;
    if (!put_layer(chain, layer))
      return false;
    bool prelu = layer->weight->rank == 1 && !layer->bias;
    bool other = next && next->weight && next->weight->rank == 1;
    text_put(&chain->text, next && !prelu && !other ? " relu\n" : "\n");
  }
  return true;
}

void recognise_chain(const struct tensor_file *file, const char *name,
                     struct netc *netc, struct arena *arena,
                     struct recognised *result) {
  struct guessed_chain chain = {.text = text_new(arena)};
  struct text source = text_new(arena);
  *result = (struct recognised){.label = NULL};
  if (!find_layers(file, arena, &chain) || !chain.layers.at[0].weight ||
      chain.layers.at[0].weight->rank < 2 || !put_layers(&chain))
    return;
  const struct stored_tensor *first = chain.layers.at[0].weight;
  text_printf(&source,
              "# guessed from the names and shapes of the %zu tensors of %s,\n"
              "# in the order of the file; activations, strides, pooling and "
              "the size of the\n# input are not in it\ninput ",
              file->tensors.count, name);
  if (first->rank == 4)
    text_printf(&source, "%" PRId64 "x%" PRId64 "x", chain.height + !chain.flat,
                chain.width + !chain.flat);
  text_printf(&source, "%" PRId64 "\n%.*s", first->dims[1],
              SLICE_ARG(chain.text));
  if (recognise_holds(file, netc, text_slice(&source)))
    *result = (struct recognised){source, "a chain of layers",
                                  file->tensors.count, 0, true};
}
