/* Diagnostics as data; rendering is separate. */
#include "base/diag.h"

static const struct slug_info slugs[] = {
#define SLUG(id, name, severity, summary) {name, severity, summary},
#include "base/slugs.def"
#undef SLUG
};

const struct slug_info *slug_info(enum slug slug) {
  return &slugs[slug];
}

enum slug slug_find(struct slice name) {
  for (int i = 0; i < SLUG_COUNT; i++)
    if (slice_is(name, slugs[i].name))
      return (enum slug)i;
  return SLUG_COUNT;
}

bool slug_is_choice(const char *name) {
  static const char *const choices[] = {
      "bias-before-norm", "dead-branch",  "dense-on-map",   "dense-on-states",
      "huge-fc",          "pool-padding", "pool-remainder", "redundant-layer",
      "stride-remainder", "stride-skips",
  };
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
    if (strcmp(name, choices[i]) == 0)
      return true;
  return false;
}

void diags_open(struct diags *diags, struct arena *arena,
                struct sources *sources) {
  memset(diags, 0, sizeof *diags);
  diags->arena = arena;
  diags->sources = sources;
  diags->limit = LIMIT_ERRORS;
  for (int i = 0; i < SLUG_COUNT; i++)
    diags->level[i] = (unsigned char)slugs[i].severity;
}

static uint32_t hash(enum slug slug, struct span span) {
  uint64_t h = ((uint64_t)span.begin << 32 | span.end) + (uint64_t)slug;
  h *= 0x9E3779B97F4A7C15u;
  return (uint32_t)(h >> 32);
}

static uint32_t *find(struct diags *diags, enum slug slug, struct span span) {
  size_t mask = diags->table.room - 1;
  size_t i = hash(slug, span) & mask;
  for (; diags->table.at[i]; i = (i + 1) & mask) {
    const struct diagnostic *d = diags->all.at[diags->table.at[i] - 1];
    if (d->slug == slug && d->span.begin == span.begin &&
        d->span.end == span.end)
      break;
  }
  return &diags->table.at[i];
}

static void grow_table(struct diags *diags) {
  diags->table.room = diags->table.room ? diags->table.room * 2 : 64;
  diags->table.at =
      arena_alloc(diags->arena, diags->table.room, sizeof(uint32_t));
  for (size_t i = 0; i < diags->all.count; i++) {
    const struct diagnostic *d = diags->all.at[i];
    *find(diags, d->slug, d->span) = (uint32_t)i + 1;
  }
}

static void count(struct diags *diags, enum severity severity) {
  if (severity == SEVERITY_ERROR)
    diags->errors++;
  else
    diags->warnings++;
}

static struct diagnostic *add(struct diags *diags, enum slug slug,
                              struct span span) {
  if (2 * (diags->all.count + 1) > diags->table.room)
    grow_table(diags);
  uint32_t *entry = find(diags, slug, span);
  if (*entry) {
    struct diagnostic *first = diags->all.at[*entry - 1];
    first->repeats++;
    diags->repeated_errors += first->severity == SEVERITY_ERROR;
    return NULL;
  }
  struct diagnostic *d = ARENA_NEW(diags->arena, struct diagnostic);
  *VEC_PUSH(diags->arena, &diags->all) = d;
  *entry = (uint32_t)diags->all.count;
  return d;
}

void diag_allow(struct diags *diags, enum slug slug, struct span place) {
  for (size_t i = 0; i < diags->sources->all.count; i++) {
    const struct source *source = &diags->sources->all.at[i];
    struct span file = {source->base,
                        source->base + (uint32_t)source->text.length};
    if (place.begin >= file.begin && place.begin < file.end)
      *VEC_PUSH(diags->arena, &diags->allowed) =
          (struct file_allowance){file, slug};
  }
}

bool diag_is_allowed(const struct diags *diags, enum slug slug,
                     struct span span) {
  for (size_t i = 0; i < diags->allowed.count; i++) {
    const struct file_allowance *a = &diags->allowed.at[i];
    if (a->slug == slug && span.begin >= a->file.begin &&
        span.begin < a->file.end)
      return !diags->asked[slug];
  }
  return false;
}

/* Long names are shortened in the middle. */
enum {
  LONGEST_NAME = 60, /* code points; longer names keep both ends */
  NAME_BEGIN = 40,
  NAME_END = 16,
  LONGEST_TEXT = 500, /* bytes of a message */
};

static bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* Bytes of the first `count` code points. */
static size_t bytes_of(struct slice text, size_t count) {
  size_t at = 0;
  while (at < text.length && count-- > 0)
    do
      at++;
    while (at < text.length && ((unsigned char)text.at[at] & 0xC0) == 0x80);
  return at;
}

static void put_name(struct text *out, struct slice name) {
  size_t width = text_width(name);
  if (width <= LONGEST_NAME) {
    text_puts(out, name);
    return;
  }
  size_t end = bytes_of(name, width - NAME_END);
  text_bytes(out, name.at, bytes_of(name, NAME_BEGIN));
  text_put(out, "...");
  text_puts(out, slice_from(name, end));
}

static struct slice format_whole(struct diagnostic *d, const char *format,
                                 va_list args) {
  struct text text = text_new(d->owner->arena);
  text_vprintf(&text, format, args);
  return text_slice(&text);
}

static struct slice format_text(struct diagnostic *d, const char *format,
                                va_list args) {
  struct slice whole = format_whole(d, format, args);
  struct text text = text_new(d->owner->arena);
  for (size_t i = 0; i < whole.length && text.length <= LONGEST_TEXT;) {
    size_t end = i;
    while (end < whole.length && in_name(whole.at[end]))
      end++;
    put_name(&text, (struct slice){whole.at + i, end - i});
    if (end < whole.length)
      text_putc(&text, whole.at[end++]);
    i = end;
  }
  if (text.length > LONGEST_TEXT) {
    text.length = LONGEST_TEXT;
    while (((unsigned char)text.at[text.length] & 0xC0) == 0x80)
      text.length--;
    text_put(&text, "...");
  }
  return text_slice(&text);
}

struct diagnostic *diag_va(struct diags *diags, enum slug slug,
                           struct span span, const char *format, va_list args) {
  enum severity severity = (enum severity)diags->level[slug];
  diags->scratch = (struct diagnostic){0};
  if (severity == SEVERITY_OFF || diag_is_allowed(diags, slug, span) ||
      diags_full(diags))
    return &diags->scratch;
  if (diags->quiet) {
    count(diags, severity);
    return &diags->scratch;
  }
  struct diagnostic *d = add(diags, slug, span);
  if (!d)
    return &diags->scratch;
  count(diags, severity);
  d->slug = slug;
  d->severity = severity;
  d->span = span;
  d->owner = diags;
  d->message = format_text(d, format, args);
  return d;
}

struct diagnostic *diag(struct diags *diags, enum slug slug, struct span span,
                        const char *format, ...) {
  va_list args;
  va_start(args, format);
  struct diagnostic *d = diag_va(diags, slug, span, format, args);
  va_end(args);
  return d;
}

void diag_here(struct diagnostic *d, const char *format, ...) {
  if (!d->owner)
    return;
  va_list args;
  va_start(args, format);
  d->at_span = format_text(d, format, args);
  va_end(args);
}

static bool has_label(const struct diagnostic *d, const struct label *label) {
  for (size_t i = 0; i < d->labels.count; i++)
    if (d->labels.at[i].span.begin == label->span.begin &&
        d->labels.at[i].span.end == label->span.end &&
        slice_equal(d->labels.at[i].text, label->text))
      return true;
  return false;
}

void diag_label(struct diagnostic *d, struct span span, const char *format,
                ...) {
  if (!d->owner)
    return;
  va_list args;
  va_start(args, format);
  struct label label = {span, format_text(d, format, args)};
  va_end(args);
  if (!has_label(d, &label)) /* a tensor may be an input twice */
    *VEC_PUSH(d->owner->arena, &d->labels) = label;
}

void diag_note(struct diagnostic *d, const char *format, ...) {
  if (!d->owner)
    return;
  va_list args;
  va_start(args, format);
  *VEC_PUSH(d->owner->arena, &d->notes) = format_text(d, format, args);
  va_end(args);
}

bool diag_help(struct diagnostic *d, const char *format, ...) {
  if (!d->owner)
    return false;
  va_list args;
  va_start(args, format);
  *VEC_PUSH(d->owner->arena, &d->help) = format_text(d, format, args);
  va_end(args);
  return false;
}

static void put_offer(struct diagnostic *d, struct span span, struct slice text,
                      struct slice help, bool last) {
  struct arena *arena = d->owner->arena;
  struct slice kept = {arena_copy(arena, text.at, text.length), text.length};
  *VEC_PUSH(arena, &d->offers) = (struct offer){span, kept, help, last};
}

void diag_offer(struct diagnostic *d, struct span span, struct slice text,
                const char *format, ...) {
  if (!d->owner)
    return;
  va_list args;
  va_start(args, format);
  put_offer(d, span, text, format_text(d, format, args), false);
  va_end(args);
}

void diag_offer_first(struct diagnostic *d, struct span span, struct slice text,
                      const char *format, ...) {
  if (!d->owner)
    return;
  va_list args;
  va_start(args, format);
  put_offer(d, span, text, format_text(d, format, args), false);
  va_end(args);
  struct offer first = d->offers.at[d->offers.count - 1];
  for (size_t i = d->offers.count - 1; i > 0; i--)
    d->offers.at[i] = d->offers.at[i - 1];
  d->offers.at[0] = first;
}

void diag_offer_omission(struct diagnostic *d, struct span span,
                         const char *format, ...) {
  if (!d->owner)
    return;
  struct span before = {span.begin - 1, span.begin};
  while (before.end > 0 &&
         slice_is(sources_slice(d->owner->sources, before), " ")) {
    span.begin--;
    before = (struct span){span.begin - 1, span.begin};
  }
  va_list args;
  va_start(args, format);
  put_offer(d, span, (struct slice){"", 0}, format_text(d, format, args), true);
  va_end(args);
}

void diag_suggest(struct diagnostic *d, struct span span, struct slice text) {
  diag_offer(d, span, text, "did you mean `%.*s`?", SLICE_ARG(text));
}

void diag_otherwise(struct diagnostic *d, const char *format, ...) {
  if (!d->owner)
    return;
  va_list args;
  va_start(args, format);
  d->otherwise = format_text(d, format, args);
  va_end(args);
}

/* Puts the offer's help before other help. */
void diag_take(struct diagnostic *d, const struct offer *offer) {
  struct arena *arena = d->owner->arena;
  VEC_PUSH(arena, &d->help);
  for (size_t i = d->help.count; i-- > 1;)
    d->help.at[i] = d->help.at[i - 1];
  d->help.at[0] = offer->help;
  *VEC_PUSH(arena, &d->fixits) = (struct label){offer->span, offer->text};
  d->offers.count = 0;
}

void diag_settle(struct diagnostic *d) {
  d->offers.count = 0;
  if (d->otherwise.length && !d->help.count)
    *VEC_PUSH(d->owner->arena, &d->help) = d->otherwise;
  d->otherwise.length = 0;
}
