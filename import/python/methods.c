/* Methods of lists, dicts and texts. */
#include <string.h>

#include "import/python/python.h"

static struct py_value *arg(const struct py_args *a, size_t index) {
  return index < a->by_place.count ? a->by_place.at[index] : NULL;
}

static struct py_value *refuse(struct py *p, const char *name) {
  return py_fail(p, "these arguments of `%s` are not supported", name);
}

/* Lists: argument 0 is the list. */

static struct py_value *list_append(struct py *p, struct py_args *a) {
  if (a->by_place.count != 2)
    return refuse(p, "append");
  py_push(p, &arg(a, 0)->items, arg(a, 1));
  return p->error ? NULL : p->none;
}

static struct py_value *set_add(struct py *p, struct py_args *a) {
  if (a->by_place.count != 2)
    return refuse(p, "add");
  return py_add_once(p, &arg(a, 0)->items, arg(a, 1)) ? p->none : NULL;
}

/* set([..]).issubset(all) */
static struct py_value *set_is_subset(struct py *p, struct py_args *a) {
  const struct py_list *list = &arg(a, 0)->items;
  struct py_list all = {0};
  if (a->by_place.count != 2 || !py_items(p, arg(a, 1), &all))
    return p->error ? NULL : refuse(p, "issubset");
  for (size_t i = 0; i < list->count; i++) {
    int same = 0;
    for (size_t k = 0; !same && k < all.count; k++)
      same = py_equal(p, list->at[i], all.at[k]);
    if (same < 1)
      return same ? NULL : p->no;
  }
  return p->yes;
}

static struct py_value *list_extend(struct py *p, struct py_args *a) {
  struct py_list items = {0};
  if (a->by_place.count != 2 || !py_items(p, arg(a, 1), &items))
    return p->error ? NULL : refuse(p, "extend");
  for (size_t i = 0; i < items.count; i++)
    py_push(p, &arg(a, 0)->items, items.at[i]);
  return p->error ? NULL : p->none;
}

static struct py_value *list_insert(struct py *p, struct py_args *a) {
  struct py_list *list = &arg(a, 0)->items;
  if (a->by_place.count != 3 || arg(a, 1)->type != PY_INT || arg(a, 1)->power)
    return refuse(p, "insert");
  int64_t at = arg(a, 1)->integer, count = (int64_t)list->count;
  at = at < 0 ? at + count : at;
  at = at < 0 ? 0 : at > count ? count : at;
  py_push(p, list, NULL);
  if (p->error || !py_charge(p, list->count / 8))
    return NULL;
  memmove(&list->at[at + 1], &list->at[at],
          (size_t)(count - at) * sizeof *list->at);
  list->at[at] = arg(a, 2);
  return p->none;
}

static struct py_value *list_pop(struct py *p, struct py_args *a) {
  struct py_list *list = &arg(a, 0)->items;
  struct py_value *index = arg(a, 1), *out;
  if (!list->count || (index && (index->type != PY_INT || index->power)))
    return refuse(p, "pop");
  int64_t at = index ? index->integer : -1, count = (int64_t)list->count;
  at = at < 0 ? at + count : at;
  if (at < 0 || at >= count)
    return refuse(p, "pop");
  out = list->at[at];
  memmove(&list->at[at], &list->at[at + 1],
          (size_t)(count - at - 1) * sizeof *list->at);
  list->count--;
  return out;
}

static struct py_value *list_reverse(struct py *p, struct py_args *a) {
  struct py_list *list = &arg(a, 0)->items;
  for (size_t i = 0; i < list->count / 2; i++) {
    struct py_value *one = list->at[i];
    list->at[i] = list->at[list->count - 1 - i];
    list->at[list->count - 1 - i] = one;
  }
  return py_charge(p, list->count / 8) ? p->none : NULL;
}

static struct py_value *list_copy(struct py *p, struct py_args *a) {
  return py_call_with(p, py_builtin(p, slice_of("list")), arg(a, 0), NULL);
}

static struct py_value *list_index(struct py *p, struct py_args *a) {
  const struct py_list *list = &arg(a, 0)->items;
  for (size_t i = 0; arg(a, 1) && i < list->count; i++) {
    int same = py_equal(p, list->at[i], arg(a, 1));
    if (same)
      return same < 0 ? NULL : py_int(p, (int64_t)i);
  }
  return refuse(p, "index");
}

static struct py_value *list_count(struct py *p, struct py_args *a) {
  const struct py_list *list = &arg(a, 0)->items;
  int64_t count = 0;
  for (size_t i = 0; arg(a, 1) && i < list->count; i++) {
    int same = py_equal(p, list->at[i], arg(a, 1));
    if (same < 0)
      return NULL;
    count += same;
  }
  return py_int(p, count);
}

/* torch.Size.numel() */
static struct py_value *list_numel(struct py *p, struct py_args *a) {
  return py_call_with(p, py_builtin(p, slice_of("prod")), arg(a, 0), NULL);
}

/* Dicts */

static struct py_value *entries(struct py *p, const struct py_value *dict,
                                bool keys, bool values) {
  struct py_value *v = py_make(p, PY_LIST);
  for (size_t i = 0; v && !p->error && i + 1 < dict->items.count; i += 2) {
    struct py_value *both = py_make(p, PY_TUPLE);
    if (!both)
      return NULL;
    py_push(p, &both->items, dict->items.at[i]);
    py_push(p, &both->items, dict->items.at[i + 1]);
    py_push(p, &v->items, keys && values ? both : dict->items.at[i + values]);
  }
  return p->error ? NULL : v;
}

static struct py_value *dict_items(struct py *p, struct py_args *a) {
  return entries(p, arg(a, 0), true, true);
}

static struct py_value *dict_keys(struct py *p, struct py_args *a) {
  return entries(p, arg(a, 0), true, false);
}

static struct py_value *dict_values(struct py *p, struct py_args *a) {
  return entries(p, arg(a, 0), false, true);
}

static struct py_value *dict_get(struct py *p, struct py_args *a) {
  const struct py_list *dict = &arg(a, 0)->items;
  for (size_t i = 0; arg(a, 1) && i + 1 < dict->count; i += 2) {
    int same = py_equal(p, dict->at[i], arg(a, 1));
    if (same)
      return same < 0 ? NULL : dict->at[i + 1];
  }
  return !arg(a, 1) ? refuse(p, "get") : arg(a, 2) ? arg(a, 2) : p->none;
}

static struct py_value *dict_update(struct py *p, struct py_args *a) {
  struct py_value *with = arg(a, 1);
  if (with && with->type != PY_DICT)
    return refuse(p, "update");
  const struct py_list *all[] = {with ? &with->items : &a->by_name,
                                 &a->by_name};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i + 1 < all[k]->count; i += 2)
      if (!py_set_index(p, arg(a, 0), all[k]->at[i], all[k]->at[i + 1]))
        return NULL;
  return p->none;
}

static struct py_value *dict_pop(struct py *p, struct py_args *a) {
  struct py_list *dict = &arg(a, 0)->items;
  for (size_t i = 0; arg(a, 1) && i + 1 < dict->count; i += 2) {
    int same = py_equal(p, dict->at[i], arg(a, 1));
    struct py_value *out = dict->at[i + 1];
    if (!same)
      continue;
    memmove(&dict->at[i], &dict->at[i + 2],
            (dict->count - i - 2) * sizeof *dict->at);
    dict->count -= 2;
    return same < 0 ? NULL : out;
  }
  return arg(a, 2) ? arg(a, 2) : refuse(p, "pop");
}

/* Texts */

static struct py_value *cased(struct py *p, struct py_args *a, char from,
                              char to) {
  struct slice text = arg(a, 0)->text;
  char *copy = arena_copy(p->arena, text.at ? text.at : "", text.length);
  for (size_t i = 0; i < text.length; i++)
    if (copy[i] >= from && copy[i] <= from + 25)
      copy[i] = (char)(copy[i] - from + to);
  return py_charge(p, text.length)
             ? py_text(p, (struct slice){copy, text.length})
             : NULL;
}

static struct py_value *text_lower(struct py *p, struct py_args *a) {
  return cased(p, a, 'A', 'a');
}

static struct py_value *text_upper(struct py *p, struct py_args *a) {
  return cased(p, a, 'a', 'A');
}

static struct py_value *text_starts(struct py *p, struct py_args *a) {
  struct py_value *with = arg(a, 1);
  if (!with || with->type != PY_TEXT)
    return refuse(p, "startswith");
  struct slice start = slice_to(arg(a, 0)->text, with->text.length);
  return py_bool(p, slice_equal(start, with->text));
}

static struct py_value *text_ends(struct py *p, struct py_args *a) {
  if (!arg(a, 1) || arg(a, 1)->type != PY_TEXT)
    return refuse(p, "endswith");
  return py_bool(p, slice_ends_in(arg(a, 0)->text, arg(a, 1)->text));
}

static struct py_value *text_join(struct py *p, struct py_args *a) {
  struct text text = text_new(p->arena);
  struct py_list items = {0};
  if (!arg(a, 1) || !py_items(p, arg(a, 1), &items))
    return p->error ? NULL : refuse(p, "join");
  for (size_t i = 0; i < items.count; i++) {
    if (items.at[i]->type != PY_TEXT ||
        !py_charge(p, items.at[i]->text.length + arg(a, 0)->text.length + 1))
      return p->error ? NULL : refuse(p, "join");
    if (i)
      text_puts(&text, arg(a, 0)->text);
    text_puts(&text, items.at[i]->text);
  }
  return py_text(p, text_slice(&text));
}

static struct py_value *text_split(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_LIST), *by = arg(a, 1);
  struct slice text = arg(a, 0)->text;
  if (!v || !by || by->type != PY_TEXT || by->text.length != 1)
    return refuse(p, "split");
  for (;;) {
    const char *found =
        text.length ? memchr(text.at, by->text.at[0], text.length) : NULL;
    size_t length = found ? (size_t)(found - text.at) : text.length;
    struct py_value *part = py_text(p, slice_to(text, length));
    if (!part)
      return NULL;
    py_push(p, &v->items, part);
    if (!found || p->error)
      return p->error ? NULL : v;
    text = slice_from(text, length + 1);
  }
}

static struct py_value *text_lstrip(struct py *p, struct py_args *a) {
  struct slice text = arg(a, 0)->text;
  struct py_value *set = arg(a, 1);
  if (!set || set->type != PY_TEXT)
    return refuse(p, "lstrip");
  while (text.length && set->text.length &&
         memchr(set->text.at, text.at[0], set->text.length))
    text = slice_from(text, 1);
  return py_text(p, text);
}

/* Replaces one letter by another. */
static struct py_value *text_replace(struct py *p, struct py_args *a) {
  struct slice text = arg(a, 0)->text;
  struct py_value *from = arg(a, 1), *to = arg(a, 2);
  if (!from || !to || from->type != PY_TEXT || to->type != PY_TEXT ||
      from->text.length != 1 || to->text.length != 1 ||
      !py_charge(p, text.length))
    return p->error ? NULL : refuse(p, "replace");
  char *copy = arena_copy(p->arena, text.at ? text.at : "", text.length);
  for (size_t i = 0; i < text.length; i++)
    if (copy[i] == from->text.at[0])
      copy[i] = to->text.at[0];
  return py_text(p, (struct slice){copy, text.length});
}

/* "layer{}".format(3) */
static struct py_value *text_format(struct py *p, struct py_args *a) {
  struct text text = text_new(p->arena);
  struct slice format = arg(a, 0)->text;
  size_t next = 1;
  for (size_t i = 0; i < format.length; i++) {
    size_t digit = i + 1 < format.length && is_digit(format.at[i + 1]);
    if (format.at[i] != '{' && format.at[i] != '}') {
      text_putc(&text, format.at[i]);
      continue;
    }
    if (format.at[i] == '}' || i + 1 + digit >= format.length ||
        format.at[i + 1 + digit] != '}')
      return refuse(p, "format");
    size_t which = digit ? (size_t)(format.at[i + 1] - '0') + 1 : next++;
    if (!arg(a, which))
      return refuse(p, "format");
    text_put(&text, py_shown(p, arg(a, which)));
    i += 1 + digit;
  }
  return py_charge(p, text.length) ? py_text(p, text_slice(&text)) : NULL;
}

static const struct py_method_row {
  enum py_type type;
  const char *name;
  py_builtin_fn *call;
} methods[] = {
    {PY_LIST, "append", list_append},   {PY_LIST, "extend", list_extend},
    {PY_LIST, "insert", list_insert},   {PY_LIST, "pop", list_pop},
    {PY_LIST, "reverse", list_reverse}, {PY_LIST, "copy", list_copy},
    {PY_LIST, "index", list_index},     {PY_LIST, "count", list_count},
    {PY_LIST, "add", set_add},          {PY_LIST, "issubset", set_is_subset},
    {PY_TUPLE, "index", list_index},    {PY_TUPLE, "count", list_count},
    {PY_TUPLE, "numel", list_numel},    {PY_DICT, "items", dict_items},
    {PY_DICT, "keys", dict_keys},       {PY_DICT, "values", dict_values},
    {PY_DICT, "get", dict_get},         {PY_DICT, "update", dict_update},
    {PY_DICT, "pop", dict_pop},         {PY_TEXT, "lower", text_lower},
    {PY_TEXT, "upper", text_upper},     {PY_TEXT, "startswith", text_starts},
    {PY_TEXT, "endswith", text_ends},   {PY_TEXT, "join", text_join},
    {PY_TEXT, "split", text_split},     {PY_TEXT, "format", text_format},
    {PY_TEXT, "lstrip", text_lstrip},   {PY_TEXT, "replace", text_replace},
};

struct py_value *py_method(struct py *p, struct py_value *v,
                           struct slice name) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    if (methods[i].type == v->type && slice_is(name, methods[i].name)) {
      struct py_value *callee = py_make(p, PY_BUILTIN);
      struct py_value *bound = callee ? py_make(p, PY_BOUND) : NULL;
      if (!bound)
        return NULL;
      callee->text = name;
      callee->builtin = methods[i].call;
      bound->self = v;
      bound->callee = callee;
      return bound;
    }
  return NULL;
}
