/* Diagnostics as data; rendering is separate. */
#ifndef NETC_BASE_DIAG_H
#define NETC_BASE_DIAG_H

#include "base/json.h"
#include "base/source.h"
#include "base/text.h"

enum severity { SEVERITY_OFF, SEVERITY_WARNING, SEVERITY_ERROR };

/* Every kind of diagnostic. A slug never changes its meaning. */
enum slug {
#define SLUG(id, name, severity, summary) id,
#include "base/slugs.def"
#undef SLUG
  SLUG_COUNT
};

struct slug_info {
  const char *name;
  enum severity severity; /* without -W */
  const char *summary;
};

const struct slug_info *slug_info(enum slug slug);

/* The slug of that name, or SLUG_COUNT. */
enum slug slug_find(struct slice name);

/* True if such a warning is about a net's design: not a mistake of somebody who
 * uses a published net. */
bool slug_is_choice(const char *name);

/* A place with a remark, or with text that fixes the source there. */
struct label {
  struct span span;
  struct slice text;
};

/* A replacement, shown only if the source with it compiles: library/mend.c. */
struct offer {
  struct span span;
  struct slice text;
  struct slice help; /* the sentence that offers it */
  bool last;         /* tried after all others */
};

struct diagnostic {
  enum slug slug;
  enum severity severity;
  struct span span;
  struct slice message;
  struct slice net;     /* file that an option is wrong for; or empty */
  struct slice at_span; /* remark at the place itself */
  VEC(struct label) labels;
  VEC(struct slice) notes;
  VEC(struct slice) help;
  VEC(struct label) fixits;
  VEC(struct offer) offers; /* best first */
  struct slice otherwise;   /* help, if there is no other */
  bool mended;              /* by the fix of an error before it */
  int64_t repeats;          /* further reports at this place */
  struct diags *owner;      /* NULL: not shown */
};

/* A warning that a file disables: `allow "huge-fc"`. */
struct file_allowance {
  struct span file; /* the file's text */
  enum slug slug;
};

struct diags {
  struct arena *arena;
  struct sources *sources;
  VEC(struct diagnostic *) all;
  unsigned char level[SLUG_COUNT]; /* enum severity */
  bool asked[SLUG_COUNT];          /* enabled by name: no file disables them */
  VEC(struct file_allowance) allowed;
  int64_t limit; /* maximum number of errors */
  bool quiet;    /* count, but keep and format nothing */
  int64_t errors, warnings;
  int64_t repeated_errors;   /* of further iterations of loops */
  struct diagnostic scratch; /* for diagnostics that are not shown */
  VEC(uint32_t) table; /* hash table of (slug, span): index in `all` plus 1 */
};

void diags_open(struct diags *diags, struct arena *arena,
                struct sources *sources);

/* Disables a warning in the file of `place` from here on. */
void diag_allow(struct diags *diags, enum slug slug, struct span place);

/* True if the file of that place allows it, and nothing asks for it anyway. */
bool diag_is_allowed(const struct diags *diags, enum slug slug,
                     struct span place);

/* True if there are enough errors, or enough repeats of errors. */
static inline bool diags_full(const struct diags *diags) {
  return diags->errors >= diags->limit ||
         diags->repeated_errors >= LIMIT_REPEATED_ERRORS;
}

/*
 * Reports a diagnostic. The result is never NULL and takes labels, notes and
 * help. A slug is reported once at each place; further reports count as
 * repeats.
 */
struct diagnostic *diag(struct diags *diags, enum slug slug, struct span span,
                        const char *format, ...) PRINTF_LIKE(4, 5);
struct diagnostic *diag_va(struct diags *diags, enum slug slug,
                           struct span span, const char *format, va_list args);
/* True if it will be shown; otherwise there is no need to search for help. */
static inline bool diag_is_shown(const struct diagnostic *d) {
  return d->owner;
}

void diag_here(struct diagnostic *d, const char *format, ...) PRINTF_LIKE(2, 3);
void diag_label(struct diagnostic *d, struct span span, const char *format, ...)
    PRINTF_LIKE(3, 4);
void diag_note(struct diagnostic *d, const char *format, ...) PRINTF_LIKE(2, 3);
/* Returns false, so that a check can return it. */
bool diag_help(struct diagnostic *d, const char *format, ...) PRINTF_LIKE(2, 3);

/*
 * Offers `text` as replacement of `span`; `format` is the sentence that offers
 * it. When all errors are known, the first offer with which the source compiles
 * is shown.
 */
void diag_offer(struct diagnostic *d, struct span span, struct slice text,
                const char *format, ...) PRINTF_LIKE(4, 5);

/* The same, tried before the other offers. */
void diag_offer_first(struct diagnostic *d, struct span span, struct slice text,
                      const char *format, ...) PRINTF_LIKE(4, 5);

/* Offers to omit `span` and the blanks before it. Tried last, and only if the
 * line is not known from elsewhere. */
void diag_offer_omission(struct diagnostic *d, struct span span,
                         const char *format, ...) PRINTF_LIKE(3, 4);

/* "did you mean `text`?" */
void diag_suggest(struct diagnostic *d, struct span span, struct slice text);

/* Help that is shown if there is no other. */
void diag_otherwise(struct diagnostic *d, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* Shows an offer that compiles. */
void diag_take(struct diagnostic *d, const struct offer *offer);

/* Drops all offers; none compiles. */
void diag_settle(struct diagnostic *d);

/* Renderers. Text ends with a newline; JSON is one object. */
void diag_render_text(struct text *out, struct sources *sources,
                      const struct diagnostic *d, bool colour);
void diag_render_json(struct json *json, struct sources *sources,
                      const struct diagnostic *d);

#endif
