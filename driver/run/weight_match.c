/* A file of weights against a net: names, shapes, types. */
#include <inttypes.h>

#include "driver/run/weight_set.h"

enum { MOST_COMPLAINTS = 20 };

struct matching {
  struct weight_set *set;
  const char *path;
  struct tensor_file *file;
  enum weight_match match;
  bool *taken; /* by tensor of the file */
  size_t complaints;
};

static void object(struct matching *m, const char *format, ...)
    PRINTF_LIKE(2, 3);
static void object(struct matching *m, const char *format, ...) {
  va_list args;
  if (m->complaints++ >= MOST_COMPLAINTS)
    return;
  va_start(args, format);
  complain_of_va(EXIT_SOURCE, m->path, NULL, format, args);
  va_end(args);
}

/* PyTorch counts the batches that a norm has seen; nothing reads it. */
static bool is_counter(const struct stored_tensor *stored) {
  return slice_ends(slice_of(stored->name), "num_batches_tracked") &&
         stored->count == 1;
}

static int next_axis(int at, int rank, const int64_t *dims, bool loosely) {
  while (loosely && at < rank && dims[at] == 1)
    at++;
  return at;
}

static bool same_shape(const struct netc_weight *weight,
                       const struct stored_tensor *stored, bool loosely) {
  int i = 0, k = 0;
  for (;; i++, k++) {
    i = next_axis(i, weight->rank, weight->dims, loosely);
    k = next_axis(k, stored->rank, stored->dims, loosely);
    if (i == weight->rank || k == stored->rank)
      return i == weight->rank && k == stored->rank;
    if (weight->dims[i] != stored->dims[k])
      return false;
  }
}

/* Takes the values of a tensor for a weight, if they fit. */
static void take(struct matching *m, size_t index,
                 const struct stored_tensor *stored) {
  const struct netc_weight *weight = &m->set->weights.at[index];
  struct netc_layer layer = {.size = sizeof layer};
  netc_layer(m->set->netc, (size_t)weight->layer, &layer);
  m->taken[stored - m->file->tensors.at] = true;
  m->set->from[index] = stored;
  if (!same_shape(weight, stored, m->match != MATCH_EXACTLY))
    object(m, "tensor `%s` is %s, but `%s` needs %s for `%s`", stored->name,
           sizes_text(stored->rank, stored->dims).text, weight->name,
           sizes_text(weight->rank, weight->dims).text, layer.written);
  else if (!value_is_real(stored->type))
    object(m, "tensor `%s` holds %s; weights are F32, F16, BF16 or F64",
           stored->name, stored->word);
}

/* Whether the file has all weights, by the names of x.py or the net's own. */
static bool has_all(const struct matching *m, bool torch) {
  for (size_t i = 0; i < m->set->weights.count; i++) {
    const struct netc_weight *weight = &m->set->weights.at[i];
    const char *name = torch ? weight_set_torch_name(m->set, i) : weight->name;
    if (!weight->sines && (!name || !tensors_find(m->file, name)))
      return false;
  }
  return true;
}

static void match_by_name(struct matching *m) {
  bool torch = !has_all(m, false) && has_all(m, true);
  for (size_t i = 0; i < m->set->weights.count; i++) {
    const struct netc_weight *weight = &m->set->weights.at[i];
    const struct stored_tensor *stored = tensors_find(
        m->file, torch ? weight_set_torch_name(m->set, i) : weight->name);
    if (stored)
      take(m, i, stored);
    else if (!weight->sines) /* these are known anyhow */
      object(m, "tensor `%s`, %s, is missing", weight->name,
             sizes_text(weight->rank, weight->dims).text);
  }
}

static bool same_bytes(const struct matching *m, const struct stored_tensor *a,
                       const struct stored_tensor *b) {
  char one[1 << 12], other[1 << 12];
  for (uint64_t at = 0; at < a->bytes; at += sizeof one) {
    size_t now =
        a->bytes - at < sizeof one ? (size_t)(a->bytes - at) : sizeof one;
    if (!tensors_bytes(m->file, a, at, now, one) ||
        !tensors_bytes(m->file, b, at, now, other) ||
        memcmp(one, other, now) != 0)
      return false;
  }
  return true;
}

/* The same values once more: PyTorch saves what layers share twice. */
static bool is_copy(const struct matching *m,
                    const struct stored_tensor *stored) {
  for (size_t i = 0; i < m->file->tensors.count; i++) {
    const struct stored_tensor *other = &m->file->tensors.at[i];
    if (m->taken[i] && other->type == stored->type &&
        other->count == stored->count && other->bytes == stored->bytes &&
        (other->at == stored->at || same_bytes(m, other, stored)))
      return true;
  }
  return false;
}

static void name_superfluous(struct matching *m) {
  for (size_t i = 0; i < m->file->tensors.count; i++) {
    const struct stored_tensor *stored = &m->file->tensors.at[i];
    if (!m->taken[i] && !is_counter(stored) && !is_copy(m, stored))
      object(m, "tensor `%s`, %s, is superfluous: no layer of the net has it",
             stored->name, sizes_text(stored->rank, stored->dims).text);
  }
}

/* As they lie in the file. A first one that does not fit makes the rest
 * doubtful. */
static void match_by_order(struct matching *m) {
  size_t at = 0, count = m->file->tensors.count;
  for (size_t i = 0; i < m->set->weights.count && !m->complaints; i++) {
    const struct netc_weight *weight = &m->set->weights.at[i];
    while (at < count && is_counter(&m->file->tensors.at[at]))
      at++;
    if (weight->sines &&
        (at == count || !same_shape(weight, &m->file->tensors.at[at], true)))
      continue;
    if (at == count)
      object(m, "tensor `%s`, %s, is missing: the file ends before it",
             weight->name, sizes_text(weight->rank, weight->dims).text);
    else
      take(m, i, &m->file->tensors.at[at++]);
  }
}

int weight_set_match(struct weight_set *set, const char *path,
                     struct tensor_file *file, enum weight_match match) {
  struct matching m = {.set = set, .path = path, .file = file, .match = match};
  set->file = file;
  m.taken = arena_alloc(set->arena, file->tensors.count + 1, sizeof *m.taken);
  if (match == MATCH_BY_ORDER)
    match_by_order(&m);
  else
    match_by_name(&m);
  if (match != MATCH_BY_ORDER || !m.complaints)
    name_superfluous(&m);
  if (m.complaints > MOST_COMPLAINTS)
    complain_of(EXIT_SOURCE, path, NULL, "%zu more errors like these",
                m.complaints - MOST_COMPLAINTS);
  return m.complaints ? EXIT_SOURCE : EXIT_DONE;
}
