/* Given: where settings are given, and how messages name others. */
#include "sema/model/given.h"

#include <stdarg.h>

static struct span span_of(const struct model *model,
                           const struct arg_spec *specs,
                           const struct span *spans, const char *name) {
  for (int row = 0; specs[row].name; row++)
    if (strcmp(specs[row].name, name) == 0 && spans[row].end)
      return spans[row];
  return model->nodes.at[0].span;
}

struct span given_train(const struct model *model,
                        const struct settings *settings, const char *name) {
  return span_of(model, train_specs, settings->train_spans, name);
}

struct span given_infer(const struct model *model,
                        const struct settings *settings, const char *name) {
  return span_of(model, infer_specs, settings->infer_spans, name);
}

static bool is_given(const struct arg_spec *specs, const struct span *spans,
                     const char *name) {
  for (int row = 0; specs[row].name; row++)
    if (strcmp(specs[row].name, name) == 0)
      return spans[row].end > 0;
  return false;
}

bool given_has(const struct settings *settings, const char *name) {
  return is_given(train_specs, settings->train_spans, name);
}

bool given_has_infer(const struct settings *settings, const char *name) {
  return is_given(infer_specs, settings->infer_spans, name);
}

static bool is_key(const struct arg_spec *specs, struct slice word) {
  while (specs->name && !slice_is(word, specs->name))
    specs++;
  return specs->name;
}

/* Length of the setting before `=` at `at`; 0: none. */
static size_t key_length(const char *at, const char *end) {
  struct slice word = {at, 0};
  while (at + word.length < end && at[word.length] != '=')
    word.length++;
  bool known = is_key(train_specs, word) || is_key(infer_specs, word);
  return known ? word.length : 0;
}

/* Prints "`zero=3 page=`" as "`--zero 3 --page`". */
static void put_options(struct text *out, struct slice help) {
  const char *end = help.at + help.length;
  bool code = false, begins = false;
  for (const char *p = help.at; p < end; p++) {
    size_t key = code && begins ? key_length(p, end) : 0;
    if (key)
      text_put(out, "--");
    for (size_t i = 0; i < key; i++, p++)
      text_putc(out, *p == '_' ? '-' : *p);
    bool bare = key && p + 1 < end && p[1] == '`';
    if (!bare)
      text_putc(out, key ? ' ' : *p);
    code ^= *p == '`';
    begins = *p == '`' || *p == ' ';
  }
}

void given_help(struct diagnostic *d, struct span place, const char *format,
                ...) {
  if (!diag_is_shown(d))
    return;
  struct text text = text_new(d->owner->arena);
  struct text options = text_new(d->owner->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  struct position at = sources_position(d->owner->sources, place.begin);
  if (slice_is(at.source->name, COMMAND_LINE))
    put_options(&options, text_slice(&text));
  else
    options = text;
  diag_help(d, "%.*s", SLICE_ARG(options));
}
