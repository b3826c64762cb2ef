/* Inputs whose sizes were probably meant otherwise. */
#include "sema/lint/given_input.h"

#include <math.h>

enum { FEW = 4 }; /* channels of images with a depth or alpha channel */

struct span given_sizes(struct sources *sources, const struct node *input) {
  struct slice text = sources_slice(sources, input->span);
  size_t begin = text.length;
  while (begin > 0 && text.at[begin - 1] != ' ')
    begin--;
  for (size_t i = begin; i < text.length; i++)
    if (text.at[i] != 'x' && !is_digit(text.at[i]))
      return (struct span){0, 0};
  return (struct span){input->span.begin + (uint32_t)begin, input->span.end};
}

static bool is_few(int64_t size) {
  return size == 1 || size == 3;
}

static struct shape picture(int64_t rows, int64_t columns, int64_t channels) {
  return (struct shape){.rank = 3, .dim = {rows, columns, channels}};
}

/* 784 values are 28x28x1, 3072 are 32x32x3; false: no picture of equal sides.
 */
static bool as_square(int64_t values, struct shape *meant) {
  for (int64_t channels = 1; channels <= 3; channels += 2) {
    int64_t side = (int64_t)sqrt((double)values / (double)channels);
    *meant = picture(side, side, channels);
    if (values < ((int64_t)1 << 40) && side > FEW &&
        side * side * channels == values)
      return true;
  }
  return false;
}

/* True if an error is at a layer that moves windows over a map. */
static bool is_at_windows(const struct diags *diags,
                          const struct diagnostic *d) {
  struct slice text = sources_slice(diags->sources, d->span);
  size_t length = 0;
  while (length < text.length && is_word_byte(text.at[length]))
    length++;
  const struct layer_kind *kind = layer_kind_find(slice_to(text, length));
  return kind && kind->windows;
}

/* Four sizes with a batch; NULL: a volume. */
static const char *without_batch(const int64_t *dim, bool rank,
                                 struct shape *meant) {
  bool cube = dim[0] == dim[1] && dim[1] == dim[2];
  bool first = is_few(dim[1]) && (rank || dim[2] == dim[3]);
  if (dim[2] <= FEW || cube || (!first && (!rank || dim[3] > FEW)))
    return NULL;
  *meant =
      first ? picture(dim[2], dim[3], dim[1]) : picture(dim[1], dim[2], dim[3]);
  return first ? "an input has no batch, and its channels come last"
               : "an input has no batch";
}

/* The picture that was meant, and the reason; NULL: none is known. */
static const char *meant_by(const struct diags *diags,
                            const struct diagnostic *d,
                            const struct shape *given, struct shape *meant) {
  const int64_t *dim = given->dim;
  switch (given->rank) {
  case 1:
    return is_at_windows(diags, d) && as_square(dim[0], meant)
               ? "a vector has no rows and columns; `reshape` makes a map of it"
               : NULL;
  case 2:
    *meant = picture(dim[0], dim[1], 1);
    return dim[0] > FEW && dim[1] > FEW ? "a grey image has one channel" : NULL;
  case 3:
    *meant = picture(dim[1], dim[2], dim[0]);
    return is_few(dim[0]) && dim[1] > FEW && dim[2] > FEW ? "channels come last"
                                                          : NULL;
  case 4: return without_batch(dim, d->slug == WRONG_RANK, meant);
  default: return NULL;
  }
}

static struct diagnostic *first_of_shapes(const struct diags *diags) {
  for (size_t i = 0; i < diags->all.count; i++) {
    struct diagnostic *d = diags->all.at[i];
    if (d->slug == WRONG_RANK || d->slug == KERNEL_TOO_LARGE)
      return d;
  }
  return NULL;
}

void given_input_help(const struct expansion *expansion,
                      const struct model *model) {
  struct diags *diags = expansion->diags;
  struct diagnostic *d = first_of_shapes(diags);
  if (!d || model->sources.count != 1 || expansion->input_count)
    return;
  const struct node *input = &model->nodes.at[model->sources.at[0]];
  struct span place = given_sizes(diags->sources, input);
  struct shape meant;
  const char *why = input->out->dtype == DTYPE_FLOAT
                        ? meant_by(diags, d, input->out, &meant)
                        : NULL;
  if (!why || !place.begin)
    return;
  struct shape_text text = shape_text(&meant);
  struct slice sizes = slice_of(text.text);
  diag_offer_first(d, place, sizes, "%s: write `input %.*s`", why,
                   SLICE_ARG(sizes));
}
