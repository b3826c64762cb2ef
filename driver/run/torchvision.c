/* torchvision's names for the tensors of nets in the zoo. */
#include <stdlib.h>

#include "driver/run/weight_set.h"

struct torchvision_net {
  const char *net, *params, *names;
};

static const struct torchvision_net nets[] = {
#define NAMES(net, params, names) {net, params, names},
#include "driver/run/torchvision.def"
#undef NAMES
};

enum { NETS = sizeof nets / sizeof *nets };

/* Expansion of braces, as in shells */

struct expanded_names {
  struct arena *arena;
  VEC(const char *) words;
};

/* The end of a group or a part of one: its closing brace or comma. */
static size_t end_of(struct slice s, size_t from, bool at_commas) {
  int depth = 0;
  for (size_t i = from; i < s.length; i++) {
    if (depth == 0 && (s.at[i] == '}' || (at_commas && s.at[i] == ',')))
      return i;
    depth += (s.at[i] == '{') - (s.at[i] == '}');
  }
  return s.length;
}

static void expand(struct expanded_names *n, struct slice before,
                   struct slice word);

/* Expands the text before, one part of the group, and the text after the
 * group. */
static void expand_part(struct expanded_names *n, struct slice before,
                        struct slice part, struct slice after) {
  struct text text = text_new(n->arena);
  text_puts(&text, part);
  text_puts(&text, after);
  expand(n, before, text_slice(&text));
}

static void expand_range(struct expanded_names *n, struct slice before,
                         struct slice group, struct slice after) {
  char *end;
  for (long i = strtol(group.at, &end, 10), last = strtol(end + 2, NULL, 10);
       i <= last; i++) {
    struct text number = text_new(n->arena);
    text_int(&number, i);
    expand_part(n, before, text_slice(&number), after);
  }
}

static void expand(struct expanded_names *n, struct slice before,
                   struct slice word) {
  size_t open = 0, close;
  struct text text = text_new(n->arena);
  while (open < word.length && word.at[open] != '{')
    open++;
  text_puts(&text, before);
  text_bytes(&text, word.at, open);
  if (open == word.length) {
    *VEC_PUSH(n->arena, &n->words) = text_string(&text);
    return;
  }
  before = text_slice(&text);
  close = end_of(word, open + 1, false);
  struct slice group = {word.at + open + 1, close - open - 1};
  struct slice after = slice_from(word, close + 1);
  size_t digits = 0;
  while (digits < group.length && is_digit(group.at[digits]))
    digits++;
  if (digits && digits + 1 < group.length && group.at[digits] == '.' &&
      group.at[digits + 1] == '.') {
    expand_range(n, before, group, after);
    return;
  }
  for (size_t from = 0; from <= group.length;) {
    size_t end = end_of(group, from, true);
    expand_part(n, before, (struct slice){group.at + from, end - from}, after);
    from = end + 1;
  }
}

static void expand_all(struct expanded_names *n, const char *patterns) {
  while (*patterns) {
    size_t length = strcspn(patterns, " ");
    expand(n, (struct slice){"", 0}, (struct slice){patterns, length});
    patterns += length + (patterns[length] == ' ');
  }
}

/* The net */

/* True if two values are equal; 1.0 equals 1. */
static bool same_value(const char *a, const char *b) {
  char *ends[2];
  double x = strtod(a, &ends[0]), y = strtod(b, &ends[1]);
  bool numbers = ends[0] != a && ends[1] != b && !*ends[0] && !*ends[1];
  return numbers ? !(x < y) && !(x > y) : strcmp(a, b) == 0;
}

static bool has_param(const struct weight_set *set, struct slice wanted) {
  struct netc_param param = {.size = sizeof param};
  for (size_t i = 0; netc_param(set->netc, i, &param) == NETC_OK; i++) {
    size_t length = strlen(param.name);
    if (wanted.length > length && wanted.at[length] == '=' &&
        memcmp(wanted.at, param.name, length) == 0)
      return same_value(arena_copy(set->arena, wanted.at + length + 1,
                                   wanted.length - length - 1),
                        param.value);
  }
  return false;
}

static bool has_params(const struct weight_set *set, const char *params) {
  while (*params) {
    size_t length = strcspn(params, " ");
    if (!has_param(set, (struct slice){params, length}))
      return false;
    params += length + (params[length] == ' ');
  }
  return true;
}

static const struct torchvision_net *find_net(struct weight_set *set) {
  const char *name = netc_name(set->netc);
  struct text known = text_new(set->arena);
  for (size_t i = 0; i < NETS; i++)
    if (strcmp(nets[i].net, name) == 0 && has_params(set, nets[i].params))
      return &nets[i];
  for (size_t i = 0; i < NETS; i++)
    if (i == 0 || strcmp(nets[i].net, nets[i - 1].net) != 0)
      text_printf(&known, "%s%s", i ? ", " : "", nets[i].net);
  complain_of(
      EXIT_SOURCE, name,
      "`--names=FILE` takes the names from a file, by the order of tensors",
      "torchvision has no such net with these params; it has the zoo's %s",
      text_string(&known));
  return NULL;
}

/* Tensors */

/* "weight" of conv1.weight */
static const char *own_name(const struct weight_set *set,
                            const struct netc_weight *weight) {
  struct netc_layer layer = {.size = sizeof layer};
  netc_layer(set->netc, (size_t)weight->layer, &layer);
  size_t length = strlen(layer.name);
  return strncmp(weight->name, layer.name, length) == 0 &&
                 weight->name[length] == '.'
             ? weight->name + length + 1
             : weight->name;
}

/* The names in a program with matrices qkv and proj. */
static const char *of_qkv(const char *own) {
  static const char *const names[][2] = {{"in_proj_weight", "qkv.weight"},
                                         {"in_proj_bias", "qkv.bias"},
                                         {"out_proj.weight", "proj.weight"},
                                         {"out_proj.bias", "proj.bias"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(own, names[i][0]) == 0)
      return names[i][1];
  return own;
}

/* `axes`: "x11" for two axes of 1 after its own. */
static struct netc_tensor_shape shape_with(const struct weight_set *set,
                                           const struct netc_weight *weight,
                                           const char *axes) {
  int64_t *dims = arena_alloc(set->arena, strlen(axes) + (size_t)weight->rank,
                              sizeof *dims);
  int rank = 0, first = 0;
  while (first < weight->rank - 1 && weight->dims[first] == 1)
    first++; /* `axes` states them */
  for (; *axes; axes++) {
    if (*axes == '1')
      dims[rank++] = 1;
    else
      for (int i = first; i < weight->rank; i++)
        dims[rank++] = weight->dims[i];
  }
  return (struct netc_tensor_shape){rank, dims};
}

static void name_tensor(struct weight_set *set, const char **names, size_t i,
                        const char *word) {
  const struct netc_weight *weight = &set->weights.at[i];
  size_t length = strcspn(word, "=:");
  struct text text = text_new(set->arena);
  text_bytes(&text, word, length);
  set->shapes[i] = (struct netc_tensor_shape){weight->rank, weight->dims};
  if (word[length] == '=')
    set->shapes[i] = shape_with(set, weight, word + length + 1);
  else
    text_printf(&text, ".%s",
                word[length] ? of_qkv(own_name(set, weight))
                             : own_name(set, weight));
  names[i] = text_string(&text);
}

int torchvision_names(struct weight_set *set, const char **names) {
  const struct torchvision_net *net = find_net(set);
  struct expanded_names n = {.arena = set->arena};
  size_t layers = 0, count = set->weights.count;
  if (!net)
    return EXIT_SOURCE;
  expand_all(&n, net->names);
  set->shapes = arena_alloc(set->arena, count + 1, sizeof *set->shapes);
  for (size_t i = 0; i < count; i++) {
    layers +=
        i == 0 || set->weights.at[i].layer != set->weights.at[i - 1].layer;
    if (layers <= n.words.count)
      name_tensor(set, names, i, n.words.at[layers - 1]);
  }
  if (layers == n.words.count)
    return EXIT_DONE;
  return complain_of(
      EXIT_SOURCE, net->net,
      "`--names=FILE` takes the names from a file, by the order of tensors",
      "torchvision's net has %zu layers with weights, but this net has %zu",
      n.words.count, layers);
}
