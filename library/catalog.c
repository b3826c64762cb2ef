/* Lists of outputs, settings, layers and kinds of diagnostics. */
#include "library/backends.h"
#include "library/context.h"
#include "library/pages.h"

enum netc_status netc_output_kind(size_t index, struct netc_output_kind *kind) {
  static const enum netc_purpose purposes[] = {[FOR_FILES] = NETC_FOR_FILES,
                                               [FOR_DUMP] = NETC_FOR_DUMP,
                                               [FOR_FORMAT] = NETC_FOR_FORMAT,
                                               [FOR_SWEEP] = NETC_FOR_SWEEP,
                                               [FOR_PAGE] = NETC_FOR_PAGE};
  if (index >= backend_count())
    return NETC_USAGE;
  const struct backend *backend = backend_at(index);
  struct netc_output_kind found = {.name = backend->name,
                                   .summary = backend->summary,
                                   .purpose = purposes[backend->purpose],
                                   .word = backend->word ? backend->word : ""};
  return FILL(kind, &found);
}

/* Arguments */

static const char *value_word(const struct arg_spec *spec) {
  static const char *const values[] = {
#define TYPE(name, store, value, list) value,
#include "layers/arg_types.def"
#undef TYPE
  };
  return spec->bytes                 ? "SIZE"
         : settings_takes_list(spec) ? "N,N,.."
                                     : values[spec->type];
}

static enum netc_status fill_argument(struct netc_argument *to,
                                      const struct arg_spec *spec) {
  static const enum netc_form forms[] = {[PLACE_POSITION] = NETC_POSITION,
                                         [PLACE_KEY] = NETC_KEY,
                                         [PLACE_WORD] = NETC_WORD,
                                         [PLACE_STRIDE] = NETC_STRIDE};
  struct netc_argument found = {.name = spec->name,
                                .form = forms[spec->place],
                                .required = spec->required,
                                .value = value_word(spec),
                                .words = spec->words ? spec->words : "",
                                .fallback =
                                    spec->fallback ? spec->fallback : "",
                                .doc = spec->doc ? spec->doc : ""};
  return FILL(to, &found);
}

/* Settings: those of train, then those only in infer */

static bool has_row(const struct arg_spec *specs, const char *name) {
  for (; specs->name; specs++)
    if (*specs->name == *name && strcmp(specs->name, name) == 0)
      return true;
  return false;
}

static const struct arg_spec *setting_at(size_t index, const char **section) {
  if (index < train_spec_count) {
    const struct arg_spec *s = &train_specs[index];
    *section = has_row(infer_specs, s->name) ? "train infer" : "train";
    return s;
  }
  index -= train_spec_count;
  *section = "infer";
  for (const struct arg_spec *s = infer_specs; s->name; s++)
    if (!has_row(train_specs, s->name) && index-- == 0)
      return s;
  return NULL;
}

enum netc_status netc_setting(size_t index, struct netc_setting *setting) {
  struct netc_setting found = {.name = NULL};
  const struct arg_spec *spec = setting_at(index, &found.section);
  if (!spec)
    return NETC_USAGE;
  found.name = spec->name;
  found.now = spec->now;
  return FILL(setting, &found);
}

enum netc_status netc_setting_argument(size_t setting,
                                       struct netc_argument *argument) {
  const char *section;
  const struct arg_spec *spec = setting_at(setting, &section);
  return spec ? fill_argument(argument, spec) : NETC_USAGE;
}

/* Layers */

enum netc_status netc_layer_kind(size_t index, struct netc_layer_kind *kind) {
  if (index >= layer_kind_count())
    return NETC_USAGE;
  const struct layer_kind *k = layer_kind_at(index);
  struct netc_layer_kind found = {.name = k->name,
                                  .summary = k->summary,
                                  .family = k->family,
                                  .joins = k->join,
                                  .takes_block = k->front};
  while (k->specs && k->specs[found.argument_count].name)
    found.argument_count++;
  return FILL(kind, &found);
}

enum netc_status netc_layer_argument(size_t kind, size_t index,
                                     struct netc_argument *argument) {
  struct netc_layer_kind found = {.size = sizeof found};
  if (netc_layer_kind(kind, &found) != NETC_OK || index >= found.argument_count)
    return NETC_USAGE;
  return fill_argument(argument, &layer_kind_at(kind)->specs[index]);
}

enum netc_status netc_row_argument(size_t index,
                                   struct netc_argument *argument) {
  size_t count = 0;
  while (row_specs[count].name)
    count++;
  return index < count ? fill_argument(argument, &row_specs[index])
                       : NETC_USAGE;
}

/* Diagnostics */

static const char *page_of(const char *slug) {
  for (size_t i = 0; i < page_count; i++)
    if (strcmp(pages[i].slug, slug) == 0)
      return pages[i].text;
  return "";
}

enum netc_status netc_slug(size_t index, struct netc_slug *slug) {
  if (index >= SLUG_COUNT)
    return NETC_USAGE;
  const struct slug_info *info = slug_info((enum slug)index);
  bool error = info->severity == SEVERITY_ERROR;
  struct netc_slug found = {.name = info->name,
                            .summary = info->summary,
                            .severity = error ? NETC_SEVERITY_ERROR
                                              : NETC_SEVERITY_WARNING,
                            .off = info->severity == SEVERITY_OFF,
                            .page = page_of(info->name)};
  return FILL(slug, &found);
}

enum netc_status netc_word(size_t index, struct netc_word *word) {
  if (index >= word_count)
    return NETC_USAGE;
  struct netc_word found = {.name = words[index].slug,
                            .page = words[index].text};
  return FILL(word, &found);
}
