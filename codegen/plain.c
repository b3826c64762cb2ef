/* Describes rows in the words of papers, from ops/ops.def. */
#define _GNU_SOURCE /* memmem */
#include "codegen/plain.h"

struct paper_words {
  const struct compiled *c;
  const struct node *node;
  int64_t index;
  uint64_t said; /* bit mask of arguments that are always written */
};

static const struct arg_spec *spec_of(const struct paper_words *p,
                                      struct slice name) {
  const struct arg_spec *specs = p->node->kind->specs;
  for (; specs && specs->name; specs++)
    if (slice_is(name, specs->name))
      return specs;
  return NULL;
}

static const void *value_of(const struct paper_words *p,
                            const struct arg_spec *spec) {
  return (const char *)p->node->args + spec->offset;
}

static bool is_one(const struct sizes *sizes) {
  for (int i = 0; i < sizes->rank; i++)
    if (sizes->at[i] != 1)
      return false;
  return true;
}

/* True if an argument is given and is not the default: `/1`, `groups=1`. */
static bool says_something(const struct paper_words *p, struct slice name) {
  const struct arg_spec *spec = spec_of(p, name);
  if (spec && p->said >> (spec - p->node->kind->specs) & 1)
    return true;
  if (!spec || !(p->node->given >> (spec - p->node->kind->specs) & 1))
    return false;
  const void *at = value_of(p, spec);
  if (spec->type == TYPE_SIZES && spec->place != PLACE_POSITION)
    return !is_one(at);
  if (spec->type == TYPE_WORDS)
    return *(const int *)at != 0;
  if (spec->type == TYPE_INT)
    return *(const int64_t *)at != 1;
  return true;
}

/* A window has a size for each axis, 3x3; a step is written once if it is the
 * same for all. */
static void put_sizes(struct text *out, const struct paper_words *p,
                      const struct arg_spec *spec, struct sizes sizes) {
  bool window = spec->place == PLACE_POSITION && p->node->input_count > 0;
  int axes = sizes.rank;
  if (window) {
    int64_t in = node_input(p->c->model, p->node, 0);
    axes = shape_spatial(p->c->model->nodes.at[in].out);
  }
  bool same = true;
  if (sizes.rank == 0)
    sizes = (struct sizes){.rank = 1, .at = {1}};
  for (int i = 1; i < sizes.rank; i++)
    same = same && sizes.at[i] == sizes.at[0];
  if (same && !window)
    sizes.rank = 1;
  for (int i = sizes.rank; window && sizes.rank == 1 && i < axes && i < 3; i++)
    sizes.at[i] = sizes.at[0];
  if (window && sizes.rank == 1 && axes > 1 && axes <= 3)
    sizes.rank = axes;
  model_put_value(out, spec, &sizes);
}

static void put_value(struct text *out, const struct paper_words *p,
                      struct slice name) {
  const struct arg_spec *spec = spec_of(p, name);
  if (!spec)
    return;
  if (spec->type == TYPE_SIZES)
    put_sizes(out, p, spec, *(const struct sizes *)value_of(p, spec));
  else
    model_put_value(out, spec, value_of(p, spec));
}

/* The index of a letter, or the end of the text. */
static size_t find(struct slice text, size_t at, char letter) {
  while (at < text.length && text.at[at] != letter)
    at++;
  return at;
}

/* Writes a text with `{}` for values. */
static void put_words(struct text *out, const struct paper_words *p,
                      struct slice words) {
  for (size_t i = 0; i < words.length; i++) {
    if (words.at[i] != '{') {
      text_putc(out, words.at[i]);
      continue;
    }
    size_t end = find(words, i, '}');
    put_value(out, p, (struct slice){words.at + i + 1, end - i - 1});
    i = end;
  }
}

/* `[name:words|other words]`, without its brackets. */
static void put_choice(struct text *out, const struct paper_words *p,
                       struct slice choice) {
  size_t colon = find(choice, 0, ':'), bar = find(choice, colon, '|');
  if (says_something(p, (struct slice){choice.at, colon}))
    put_words(out, p, (struct slice){choice.at + colon + 1, bar - colon - 1});
  else if (bar < choice.length)
    put_words(out, p, slice_from(choice, bar + 1));
}

/* Without the marks of ops.def. */
static struct slice words_of(const struct layer_kind *kind) {
  const char *words = layer_plain_words(kind);
  return slice_of(words + strspn(words, "-*"));
}

static void put_node(struct text *out, const struct compiled *c, int64_t index,
                     uint64_t said) {
  struct paper_words p = {c, &c->model->nodes.at[index], index, said};
  struct slice words = words_of(p.node->kind);
  while (words.length) {
    size_t open = find(words, 0, '[');
    put_words(out, &p, (struct slice){words.at, open});
    size_t end = find(words, open, ']');
    if (open < words.length)
      put_choice(out, &p, (struct slice){words.at + open + 1, end - open - 1});
    end += end < words.length;
    words = slice_from(words, end);
  }
}

/* "dilation 2", "5x5 depthwise conv": the part of the words with a value. */
static void put_argument(struct text *out, const struct paper_words *p,
                         const struct arg_spec *spec) {
  struct slice words = words_of(p->node->kind);
  struct text name = text_new(p->c->arena);
  text_printf(&name, "{%s}", spec->name);
  const char *at = memmem(words.at, words.length, name.at, name.length);
  if (!at) {
    text_printf(out, "%s ", spec->name);
    put_value(out, p, slice_of(spec->name));
    return;
  }
  size_t begin = (size_t)(at - words.at), end = begin;
  while (begin > 0 && !strchr(",:|[]", words.at[begin - 1]))
    begin--;
  while (end < words.length && !strchr(",|[]", words.at[end]))
    end++;
  begin += words.at[begin] == ' ';
  put_words(out, p, slice_from(slice_to(words, end), begin));
}

void group_put_differences(struct text *out, const struct compiled *c,
                           int64_t group, int64_t from) {
  const struct model *model = c->model;
  const struct group *g = &model->groups.at[group];
  int64_t other = model->groups.at[from].first;
  for (int64_t i = g->first; i < g->end; i++, other++) {
    struct paper_words p = {c, &model->nodes.at[i], i, 0};
    const struct arg_spec *spec = p.node->kind->specs;
    for (; spec && spec->name; spec++) {
      struct text words = text_new(c->arena);
      if (p.node->kind != model->nodes.at[other].kind ||
          model_same_window(model, i, other, spec))
        continue;
      text_put(&words, !c->options->source_labels ? ", " : " ");
      if (!c->options->source_labels)
        put_argument(&words, &p, spec);
      else
        model_put_argument(&words, model, i, spec);
      if (!memmem(out->at, out->length, words.at, words.length))
        text_puts(out, text_slice(&words));
    }
  }
}

static void raise(struct text *out, size_t at) {
  if (at < out->length && out->at[at] >= 'a' && out->at[at] <= 'z')
    out->at[at] = (char)(out->at[at] - 'a' + 'A');
}

void plain_put_name(struct text *out, struct slice name) {
  size_t begin = out->length, end = find(name, 0, '[');
  for (size_t i = 0; i < end; i++)
    text_putc(out, name.at[i] == '_' ? ' ' : name.at[i]);
  raise(out, begin);
}

void plain_put_call(struct text *out, struct slice call) {
  size_t name = find(call, 0, ' '), end = name + 1;
  plain_put_name(out, (struct slice){call.at, name});
  while (end < call.length && is_digit(call.at[end]))
    end++;
  bool number = end > name + 1 && (end == call.length || call.at[end] == ' ');
  if (number)
    text_printf(out, ", %.*s", (int)(end - name - 1), call.at + name + 1);
}

/* Layers that a paper's figure does not mention after another layer. */
static bool is_silent(const struct node *node) {
  return *layer_plain_words(node->kind) == '-';
}

/* True for a label such as `memory:` of a layer whose words say little. One of
 * a letter or two, or with an index, says no more. */
static bool says_more(const struct node *node) {
  struct slice name = name_text(&node->name);
  return layer_plain_words(node->kind)[is_silent(node)] == '*' &&
         !node->name.ordinal && name.length > 2 &&
         find(name, 0, '[') == name.length;
}

void row_find_varying(const struct compiled *c, const struct row *row,
                      const struct row *turn, uint64_t *said) {
  const struct model *model = c->model;
  for (int64_t i = row->first; i < row->end; i++) {
    int64_t other = turn->first + (i - row->first);
    const struct arg_spec *specs = model->nodes.at[i].kind->specs;
    for (int k = 0; specs && specs[k].name; k++)
      if (other < turn->end &&
          model->nodes.at[i].kind == model->nodes.at[other].kind &&
          !model_same_window(model, i, other, &specs[k]))
        said[i - row->first] |= (uint64_t)1 << k;
  }
}

void row_put_plain(struct text *out, const struct compiled *c,
                   const struct row *row, const uint64_t *said) {
  const struct model *model = c->model;
  size_t begin = out->length;
  if (row->group != NO_NODE) {
    const struct group *group = &model->groups.at[row->group];
    if (group->call.length)
      plain_put_call(out, group->call);
    else
      plain_put_name(out, name_text(&group->name));
    return;
  }
  if (model->nodes.at[row->head].kind == &model_input_kind)
    return;
  if (says_more(&model->nodes.at[row->head]))
    plain_put_name(out, name_text(&model->nodes.at[row->head].name));
  else
    put_node(out, c, row->head, said ? said[row->head - row->first] : 0);
  for (int64_t i = row->first + 1; i < row->end; i++) {
    if (is_silent(&model->nodes.at[i]))
      continue;
    text_put(out, ", ");
    put_node(out, c, i, said ? said[i - row->first] : 0);
  }
  raise(out, begin);
}
