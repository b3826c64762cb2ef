/* Matches a file of weights with a net: names, shapes, types. */
#include <inttypes.h>

#include "base/map.h"
#include "driver/opening.h"
#include "driver/origin.h"
#include "driver/run/weight_set.h"

enum { MOST_COMPLAINTS = 20 };

struct matching {
  struct weight_set *set;
  const char *path;
  struct tensor_file *file;
  enum weight_match match;
  bool *taken; /* by tensor of the file */
  size_t complaints;
  bool quiet; /* only counts complaints */
};

static void object(struct matching *m, const char *format, ...)
    PRINTF_LIKE(2, 3);
static void object(struct matching *m, const char *format, ...) {
  va_list args;
  if (m->complaints++ >= MOST_COMPLAINTS || m->quiet)
    return;
  va_start(args, format);
  complain_of_va(EXIT_SOURCE, m->path, NULL, format, args);
  va_end(args);
}

/* True for tensors that PyTorch saves beside weights and netc computes: batch
 * counters of norms, and position tables of Swin and BERT. */
static bool is_counter(const struct stored_tensor *stored) {
  static const char *const ends[] = {"num_batches_tracked",
                                     "relative_position_index", "position_ids"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (slice_ends(slice_of(stored->name), ends[i]))
      return i == 0 ? stored->count == 1 : !value_is_real(stored->type);
  return false;
}

static int next_axis(int at, int rank, const int64_t *dims) {
  while (at < rank && dims[at] == 1)
    at++;
  return at;
}

static bool same_shape(const struct netc_weight *weight,
                       const struct stored_tensor *stored) {
  int i = 0, k = 0;
  for (;; i++, k++) {
    i = next_axis(i, weight->rank, weight->dims);
    k = next_axis(k, stored->rank, stored->dims);
    if (i == weight->rank || k == stored->rank)
      return i == weight->rank && k == stored->rank;
    if (weight->dims[i] != stored->dims[k])
      return false;
  }
}

/* True if a position table is longer; its first rows are used. */
static bool is_longer(const struct netc_weight *weight,
                      const struct stored_tensor *stored) {
  return weight->sines && weight->rank == 2 && stored->rank == 2 &&
         stored->dims[0] > weight->dims[0] &&
         stored->dims[1] == weight->dims[1];
}

/* True for integers with one scale, or a scale for each part of an axis. */
static bool has_steps(const struct tensor_file *file,
                      const struct stored_tensor *stored) {
  const struct tensor_steps *steps =
      stored->stepped ? tensors_steps(file, stored->name) : NULL;
  return steps &&
         (steps->count == 1 ||
          (stored->rank > 0 && stored->dims[0] % (int64_t)steps->count == 0));
}

/* Takes a tensor's values for a weight if they fit. */
static void take(struct matching *m, size_t index,
                 const struct stored_tensor *stored) {
  const struct netc_weight *weight = &m->set->weights.at[index];
  struct netc_layer layer = {.size = sizeof layer};
  netc_layer(m->set->netc, (size_t)weight->layer, &layer);
  m->taken[stored - m->file->tensors.at] = true;
  m->set->from[index] = stored;
  if (!same_shape(weight, stored) && !is_longer(weight, stored))
    object(m, "tensor `%s` is %s, but `%s` needs %s for `%s`", stored->name,
           sizes_text(stored->rank, stored->dims).text, weight->name,
           sizes_text(weight->rank, weight->dims).text, layer.written);
  else if (!value_is_real(stored->type) && !has_steps(m->file, stored))
    object(m,
           "tensor `%s` holds %s without a scale; weights are F32, F16, BF16 "
           "or F64",
           stored->name, stored->word);
}

/* True if the file has all weights, named as in x.py or in the net. */
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
    else if (!weight->sines) /* sines can be computed */
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

/* True for a duplicate: PyTorch saves tensors that layers share twice. */
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
      object(m, "tensor `%s`, %s, is not used by any layer of the net",
             stored->name, sizes_text(stored->rank, stored->dims).text);
  }
}

/* The path up to the last dot. */
static struct slice up_to_dot(struct slice path) {
  while (path.length > 0 && path.at[path.length - 1] != '.')
    path.length--;
  return path;
}

/* The module of a tensor, with its dot: "a.b." of a.b.weight. */
static struct slice module_of(const struct stored_tensor *stored) {
  return up_to_dot(slice_of(stored->name));
}

/* The module around another: "a." of "a.b."; empty: none. */
static struct slice module_around(struct slice module) {
  return up_to_dot(slice_less(module, 1));
}

static bool is_below(const struct stored_tensor *stored, struct slice module) {
  return strncmp(stored->name, module.at, module.length) == 0;
}

/* A tensor that the net has later, but before that module ends. */
struct put_aside {
  const struct stored_tensor *tensor;
  struct slice module;
};

/* A walk in the order of the file, with tensors that are put aside until the
 * net needs them. */
struct in_order {
  struct matching *m;
  size_t at;
  VEC(struct put_aside) aside;
};

static const struct stored_tensor *next_of(struct in_order *o) {
  const struct tensor_file *file = o->m->file;
  while (o->at < file->tensors.count && is_counter(&file->tensors.at[o->at]))
    o->at++;
  return o->at < file->tensors.count ? &file->tensors.at[o->at] : NULL;
}

/*
 * True for a module's own parameter, such as class_token. PyTorch saves it
 * before those of inner modules, even if these run first.
 */
static bool is_own(const struct in_order *o) {
  const struct stored_tensor *tensors = o->m->file->tensors.at;
  struct slice module = module_of(&tensors[o->at]);
  for (size_t i = o->at + 1; i < o->m->file->tensors.count; i++) {
    if (!is_below(&tensors[i], module))
      return false;
    if (strchr(tensors[i].name + module.length, '.'))
      return true;
  }
  return false;
}

/*
 * True for a tensor that runs later. Modules are saved in the order of their
 * construction: Swin's patch merging has `reduction` before the `norm` that
 * runs first. It is put aside if the next tensor, of a sibling module, fits.
 */
static bool is_early(const struct in_order *o,
                     const struct netc_weight *weight) {
  const struct stored_tensor *tensors = o->m->file->tensors.at;
  size_t i = o->at;
  struct slice module = module_of(&tensors[i]), around = module_around(module);
  while (i < o->m->file->tensors.count && is_below(&tensors[i], module))
    i++;
  return around.length > 0 && i < o->m->file->tensors.count &&
         is_below(&tensors[i], around) && same_shape(weight, &tensors[i]);
}

/* The last tensor put aside that fits or whose module ends: its index plus 1;
 * 0: none. */
static size_t find_aside(const struct in_order *o,
                         const struct netc_weight *weight,
                         const struct stored_tensor *next) {
  for (size_t i = o->aside.count; i-- > 0;) {
    struct slice module = o->aside.at[i].module;
    bool ends = !next || !is_below(next, module);
    bool first = i == 0 || !slice_equal(module, o->aside.at[i - 1].module);
    if (same_shape(weight, o->aside.at[i].tensor) || (ends && first))
      return i + 1;
  }
  return 0;
}

/* The tensor for a weight; NULL: the file ends. */
static const struct stored_tensor *pick(struct in_order *o,
                                        const struct netc_weight *weight) {
  for (size_t before = o->aside.count;;) {
    const struct stored_tensor *next = next_of(o);
    const struct put_aside *last =
        o->aside.count ? &o->aside.at[o->aside.count - 1] : NULL;
    bool ends = last && (!next || !is_below(next, last->module));
    if (next && !ends && same_shape(weight, next)) {
      o->at++;
      return next;
    }
    size_t aside = find_aside(o, weight, next);
    if (aside > 0) {
      const struct stored_tensor *found = o->aside.at[aside - 1].tensor;
      memmove(&o->aside.at[aside - 1], &o->aside.at[aside],
              (o->aside.count-- - aside) * sizeof *o->aside.at);
      return found;
    }
    if (!next)
      return NULL;
    bool own = is_own(o), early = is_early(o, weight);
    struct slice module = module_of(next);
    o->at++;
    if (!own && !early) /* take() reports that the first does not fit */
      return o->aside.count > before ? o->aside.at[before].tensor : next;
    *VEC_PUSH(o->m->set->arena, &o->aside) =
        (struct put_aside){next, own ? module : module_around(module)};
  }
}

/* Matches in the order of the file. After a mismatch the rest is uncertain. */
static void match_by_order(struct matching *m) {
  struct in_order o = {.m = m};
  for (size_t i = 0; i < m->set->weights.count && !m->complaints; i++) {
    const struct netc_weight *weight = &m->set->weights.at[i];
    const struct stored_tensor *next = next_of(&o);
    if (weight->sines && (!next || !same_shape(weight, next)))
      continue;
    const struct stored_tensor *stored = pick(&o, weight);
    if (stored)
      take(m, i, stored);
    else
      object(m, "tensor `%s`, %s, is missing: the file ends before it",
             weight->name, sizes_text(weight->rank, weight->dims).text);
  }
}

/* "bias" of a.b.bias, if it is one of PyTorch's tensor names. */
static const char *part_of(const char *name) {
  static const char *const parts[] = {"weight", "bias", "running_mean",
                                      "running_var"};
  const char *dot = strrchr(name, '.');
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strcmp(dot ? dot + 1 : name, parts[i]) == 0)
      return parts[i];
  return NULL;
}

/* A tensor with that name in the same module, of equal shape. */
static const struct stored_tensor *
find_beside(const struct matching *m, const struct stored_tensor *stored,
            const char *part) {
  struct slice module = module_of(stored);
  struct text name = text_new(m->set->arena);
  text_printf(&name, "%.*s%s", SLICE_ARG(module), part);
  const struct stored_tensor *other = tensors_find(m->file, text_string(&name));
  return other && other->count == stored->count ? other : NULL;
}

/* Refuses a bias that order matches with a weight if its weight exists too:
 * files that are sorted by name have the bias first. */
static void check_parts(struct matching *m) {
  for (size_t i = 0; i < m->set->weights.count && !m->complaints; i++) {
    const struct stored_tensor *stored = m->set->from[i], *other = NULL;
    const char *ours = part_of(m->set->weights.at[i].name);
    const char *theirs = stored ? part_of(stored->name) : NULL;
    if (ours && theirs && ours != theirs)
      other = find_beside(m, stored, ours);
    if (other)
      object(m,
             "by order `%s` would be `%s`, but the next tensor is `%s`: the "
             "file's order differs from the net's",
             m->set->weights.at[i].name, stored->name, other->name);
  }
}

/* If a file has the net's names, order must agree with them. */
static void check_names(struct matching *m) {
  bool own = has_all(m, false), torch = !own && has_all(m, true);
  for (size_t i = 0; i < m->set->weights.count && (own || torch); i++) {
    const char *name =
        torch ? weight_set_torch_name(m->set, i) : m->set->weights.at[i].name;
    const struct stored_tensor *from = m->set->from[i];
    if (from && tensors_find(m->file, name) && strcmp(from->name, name) != 0) {
      object(m,
             "by order `%s` would be `%s`, but the file has all names of the "
             "net; leave out --by-order",
             name, from->name);
      return;
    }
  }
}

/* The number of weights that only order distinguishes: equal in shape and part
 * of the layer. */
static size_t count_alike(const struct matching *m) {
  struct map kinds = {0};
  size_t alike = 0;
  for (size_t i = 0; i < m->set->weights.count; i++) {
    const struct netc_weight *weight = &m->set->weights.at[i];
    const char *part = part_of(weight->name);
    struct text key = text_new(m->set->arena);
    text_printf(&key, "%s %s", part ? part : "",
                sizes_text(weight->rank, weight->dims).text);
    struct map_entry *entry =
        map_add(m->set->arena, &kinds, slice_of(text_string(&key)));
    entry->number += m->set->from[i] != NULL;
    alike += entry->number == 2 ? 2 : entry->number > 2;
  }
  return alike;
}

static void say_alike(const struct matching *m) {
  size_t alike = count_alike(m);
  if (alike)
    say_note(m->path, NULL,
             "tensors are matched by order: %zu of %zu have the same shape as "
             "another one, so a swap would not be noticed",
             alike, m->set->weights.count);
}

static void take_all(struct matching *m) {
  if (m->match == MATCH_BY_ORDER)
    match_by_order(m);
  else
    match_by_name(m);
  if (m->match == MATCH_BY_ORDER && !m->complaints) {
    check_names(m);
    check_parts(m);
  }
  if (m->match != MATCH_BY_ORDER || !m->complaints)
    name_superfluous(m);
}

static void begin(struct matching *m, enum weight_match match, bool quiet) {
  memset(m->set->from, 0, m->set->weights.count * sizeof(void *));
  memset(m->taken, 0, m->file->tensors.count * sizeof *m->taken);
  m->match = match;
  m->quiet = quiet;
  m->complaints = 0;
  take_all(m);
}

/* True if more than half of the weights have a tensor of the file. */
static bool has_most(const struct matching *m) {
  size_t found = 0;
  for (size_t i = 0; i < m->set->weights.count; i++)
    found += m->set->from[i] != NULL;
  return 2 * found > m->set->weights.count;
}

/* True if a file is sorted by name, so its order is not that of the layers. */
static bool is_sorted(const struct tensor_file *file) {
  for (size_t i = 1; i < file->tensors.count; i++)
    if (strcmp(file->tensors.at[i - 1].name, file->tensors.at[i].name) > 0)
      return false;
  return true;
}

/* Reports the errors of a file with other names; returns an exit status. */
static int refuse(struct matching *m, enum weight_match match, bool offer) {
  begin(m, match, false);
  if (m->complaints > MOST_COMPLAINTS)
    complain_of(EXIT_SOURCE, m->path, NULL, "%zu more errors like these",
                m->complaints - MOST_COMPLAINTS);
  if (offer)
    say_note(m->path,
             "`netc weights X.net --from FILE --by-order -o w.safetensors` "
             "renames its tensors",
             "its names differ, but it has all tensors of the net in order and "
             "shape");
  return EXIT_SOURCE;
}

/*
 * Matches a file with other names than the net's: by order, if no other order
 * has these shapes, or if the names are torchvision's, which saves a net's
 * tensors in the order of its layers.
 */
static int match_others(struct matching *m) {
  begin(m, MATCH_BY_ORDER, true);
  size_t alike = m->complaints ? 0 : count_alike(m);
  bool known = !is_sorted(m->file) && opening_knows_names(m->file);
  if (m->complaints)
    return refuse(m, known && has_most(m) ? MATCH_BY_ORDER : MATCH_BY_NAME,
                  false);
  if (alike && !known)
    return refuse(m, MATCH_BY_NAME, true);
  say_note(m->path, NULL, "its names differ: tensors are matched by %s",
           alike ? "torchvision's order" : "shape");
  return EXIT_DONE;
}

int weight_set_match(struct weight_set *set, const char *path,
                     struct tensor_file *file, enum weight_match match) {
  struct matching m = {.set = set, .path = path, .file = file};
  set->file = file;
  m.taken = arena_alloc(set->arena, file->tensors.count + 1, sizeof *m.taken);
  begin(&m, match, true);
  if (!m.complaints && match == MATCH_BY_ORDER)
    say_alike(&m);
  if (!m.complaints)
    return EXIT_DONE;
  return match == MATCH_BY_ORDER || has_most(&m) || !file->tensors.count
             ? refuse(&m, match, false)
             : match_others(&m);
}

int weight_set_check_scales(const struct weight_set *set, const char *path) {
  struct origin_word origin;
  const char *stored = set->file ? set->file->origin : NULL;
  if (!stored)
    return EXIT_DONE;
  if (!origin_of_layers(set->netc, &origin))
    return complain(EXIT_IO, "out of memory");
  if (!origin_other_net(&origin, slice_of(stored)))
    return EXIT_DONE;
  return complain_of(
      EXIT_SOURCE, path,
      "`netc weights X.net --from FILE --quantize SAMPLES.npy -o "
      "w8.safetensors` measures them again",
      "its scales were measured on another net (%s; this one is %s)", stored,
      origin.text);
}
