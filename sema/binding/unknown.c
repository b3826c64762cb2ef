/* Undefined names: the report, and suggestions. */
#include "layers/foreign/items.h"
#include "sema/binding/hint.h"

/* True for `3xk` or `kxk` if every part is a number or a constant. */
static bool looks_like_sizes(struct expander *e, struct slice name) {
  size_t start = 0, parts = 0;
  for (size_t i = 0; i <= name.length; i++) {
    if (i < name.length && name.at[i] != 'x')
      continue;
    struct slice part = {name.at + start, i - start};
    bool number = part.length > 0;
    for (size_t j = 0; j < part.length; j++)
      number = number && is_digit(part.at[j]);
    if (!number && (!part.length || !scope_find(e->scope, part)))
      return false;
    parts++;
    start = i + 1;
  }
  return parts > 1;
}

static void suggest_words(struct suggestion *s, const struct arg_spec *spec) {
  for (; spec && spec->name; spec++) {
    suggest_offer(s, slice_of(spec->name));
    for (int i = 1; spec->words && word_at(spec->words, i).length; i++)
      suggest_offer(s, word_at(spec->words, i));
  }
}

static bool hint_sizes(struct expander *e, struct diagnostic *d,
                       struct slice name, struct span span) {
  if (!looks_like_sizes(e, name))
    return false;
  struct text sizes = text_new(e->arena);
  for (size_t i = 0; i < name.length; i++) {
    if (name.at[i] == 'x')
      text_put(&sizes, " x ");
    else
      text_putc(&sizes, name.at[i]);
  }
  struct slice apart = text_slice(&sizes);
  diag_offer(d, span, apart, "to join sizes, put blanks around the x: `%.*s`",
             SLICE_ARG(apart));
  return true;
}

/* True if a word may be defined at a place: `c = 4`, `def f(c):`. */
static bool defines(struct slice text, size_t begin, size_t end) {
  while (begin > 0 && text.at[begin - 1] == ' ')
    begin--;
  while (end < text.length && text.at[end] == ' ')
    end++;
  return (begin > 0 && is_word_byte(text.at[begin - 1])) ||
         (end < text.length && strchr("=:(),{[", text.at[end]));
}

static bool defines_word(struct slice text, struct slice word) {
  for (size_t i = 0; i + word.length <= text.length; i++)
    if (memcmp(text.at + i, word.at, word.length) == 0 &&
        (i == 0 || !is_word_byte(text.at[i - 1])) &&
        (i + word.length == text.length ||
         !is_word_byte(text.at[i + word.length])) &&
        defines(text, i, i + word.length))
      return true;
  return false;
}

bool scope_lost(const struct expander *e, struct slice name) {
  for (size_t i = 0; i < e->holes.count && !e->in->strict; i++)
    if (defines_word(sources_slice(e->diags->sources, e->holes.at[i]), name))
      return true;
  return false;
}

/* The closest name that is allowed in that place. */
static struct slice closest_name(struct expander *e, struct slice name,
                                 enum name_place place,
                                 const struct arg_spec *specs) {
  struct suggestion s = suggest_begin(name);
  scope_suggest(e->scope, SYMBOL_LABEL, &s);
  if (place == NAME_OF_TENSOR)
    return s.best;
  if (place == NAME_OF_TAIL)
    s = suggest_begin(name);
  scope_suggest(e->scope, SYMBOL_CONSTANT, &s);
  if (place == NAME_OF_TAIL) {
    suggest_words(&s, specs);
    suggest_words(&s, row_specs);
  }
  if (place == NAME_OF_TAIL || !s.best.at)
    for (size_t i = 0; i < layer_kind_count(); i++)
      suggest_offer(&s, slice_of(layer_kind_at(i)->name));
  return s.best;
}

/* Offers `=` for `groups 2`. */
static void offer_sign(struct expander *e, struct diagnostic *d,
                       struct slice name, struct span span) {
  struct slice rest = sources_rest(e->diags->sources, span.end);
  struct text text = text_new(e->arena);
  size_t begin = 0, end;
  while (begin < rest.length && rest.at[begin] == ' ')
    begin++;
  for (end = begin; end < rest.length && is_digit(rest.at[end]);)
    end++;
  if (begin == 0 || end == begin)
    return;
  text_printf(&text, "%.*s=%.*s", SLICE_ARG(name), (int)(end - begin),
              rest.at + begin);
  span.end += (uint32_t)end;
  diag_offer(d, span, text_slice(&text), "the option needs a value: `%.*s`",
             SLICE_ARG(text));
}

/* Hints at `/2` or `=` for `stride 2`. */
static bool hint_value(struct expander *e, struct diagnostic *d,
                       const struct arg_spec *spec, struct slice name,
                       struct span span) {
  for (; spec && spec->name; spec++) {
    if (!slice_is(name, spec->name))
      continue;
    bool stride = spec->place == PLACE_STRIDE;
    if (stride)
      diag_help(d, "the option needs a value: `/2`, or `%s=...`", spec->name);
    else
      offer_sign(e, d, name, span);
    diag_otherwise(d, "the option needs a value: `%s=...`", spec->name);
    return true;
  }
  return false;
}

/* `3 // three`: a comment of other languages. */
static bool hint_comment(struct expander *e, struct diagnostic *d,
                         struct span span) {
  struct sources *sources = e->diags->sources;
  size_t room = sources_position(sources, span.begin).offset, back = 0;
  const char *at = sources_rest(sources, span.begin).at;
  while (back < room && at[-1 - (ptrdiff_t)back] == ' ')
    back++;
  if (room < back + 2 || memcmp(at - back - 2, "//", 2) != 0)
    return false;
  uint32_t place = span.begin - (uint32_t)back - 2;
  diag_offer(d, (struct span){place, place + 2}, slice_of("#"),
             "a comment begins with `#` and ends with the line");
  return true;
}

static bool takes_word(const struct arg_spec *spec, struct slice name) {
  for (; spec && spec->name; spec++)
    for (int i = 1; spec->place == PLACE_WORD && word_at(spec->words, i).length;
         i++)
      if (slice_equal(word_at(spec->words, i), name))
        return true;
  return false;
}

/* Explains a word of other layers: `deconv 8 2 ws`. */
static bool hint_other_layers(struct expander *e, struct diagnostic *d,
                              struct slice name, struct span span) {
  enum { SHOWN = 4 };
  struct text layers = text_new(e->arena);
  size_t count = 0, left = 0;
  for (size_t i = 0; i < layer_kind_count(); i++)
    count += takes_word(layer_kind_at(i)->specs, name);
  left = count;
  for (size_t i = 0; i < layer_kind_count() && count - left < SHOWN; i++) {
    if (!takes_word(layer_kind_at(i)->specs, name))
      continue;
    left--;
    text_printf(&layers, "%s`%s`",
                left + 1 == count ? ""
                : left            ? ", "
                                  : " and ",
                layer_kind_at(i)->name);
  }
  if (left)
    text_printf(&layers, " and %zu other layers", left);
  if (count) {
    diag_offer_omission(d, span,
                        "leave it out: %.*s take%s it, but this layer does not",
                        SLICE_ARG(layers), count == 1 ? "s" : "");
    diag_otherwise(d, "%.*s take%s `%.*s`, but this layer does not",
                   SLICE_ARG(layers), count == 1 ? "s" : "", SLICE_ARG(name));
  }
  return count;
}

/* An option of other frameworks without a value, which a layer does not need.
 */
static bool hint_option_word(struct diagnostic *d, const struct arg_spec *specs,
                             struct slice name, struct span span) {
  const char *meaning = specs ? items_meaning(NULL, name) : NULL;
  if (!meaning || (strcmp(meaning, "states") != 0 && strcmp(meaning, "-") != 0))
    return false;
  diag_offer_omission(d, span, "leave it out: %s", items_why(meaning, name));
  return true;
}

void report_unknown_name(struct expander *e, struct slice name,
                         struct span span, enum name_place place,
                         const struct arg_spec *specs) {
  if (scope_lost(e, name))
    return;
  struct diagnostic *d =
      report(e, UNKNOWN_NAME, span, "`%.*s` is not defined", SLICE_ARG(name));
  if (!diag_is_shown(d) || hint_comment(e, d, span) ||
      hint_sizes(e, d, name, span) || hint_shorthand(d, specs, name, span) ||
      hint_value(e, d, specs, name, span) ||
      hint_option_word(d, specs, name, span) ||
      (place == NAME_OF_TAIL && (hint_foreign_layer(d, name, span) ||
                                 hint_other_layers(e, d, name, span))))
    return;
  struct slice best = closest_name(e, name, place, specs);
  if (best.at && !slice_equal(best, name))
    diag_suggest(d, span, best);
  if (slice_is(name, "True") || slice_is(name, "False"))
    diag_otherwise(d, "write `true` and `false` in lower case");
  else if (slice_is(name, "x"))
    diag_otherwise(d, "between two sizes x joins them: `3x3`, `k x k`");
  else if (name.length == 3 && name.at[1] == 'x') /* kxk */
    diag_otherwise(d, "join named sizes with an x between blanks: `let k = 3`, "
                      "then `conv 64 k x k`");
  else if (place == NAME_OF_TENSOR)
    diag_otherwise(d, "a label is visible only below its layer, within the "
                      "same braces");
  else
    diag_otherwise(d, "a constant, def or label is visible only after its "
                      "definition, within the same braces");
}
