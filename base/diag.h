/* Diagnostics: what a user is told, as data; the renderers are apart. */
#ifndef NETC_BASE_DIAG_H
#define NETC_BASE_DIAG_H

#include "base/json.h"
#include "base/source.h"
#include "base/text.h"

enum severity { SEVERITY_OFF, SEVERITY_WARNING, SEVERITY_ERROR };

/* Every kind of diagnostic; a slug keeps its meaning for ever. */
enum slug {
#define SLUG(id, name, severity, summary) id,
#include "base/slugs.def"
#undef SLUG
  SLUG_COUNT
};

struct slug_info {
  const char *name;
  enum severity severity; /* unless -W says otherwise */
  const char *summary;
};

const struct slug_info *slug_info(enum slug slug);

/* The slug of that name, or SLUG_COUNT. */
enum slug slug_find(struct slice name);

/* Whether such warnings are about how a net was designed: no slip of whoever
 * has it from its author. */
bool slug_is_choice(const char *name);

/* A place with what is said of it, or what would mend the source there. */
struct label {
  struct span span;
  struct slice text;
};

/* A replacement that is tried before anybody sees it: library/mend.c. */
struct offer {
  struct span span;
  struct slice text;
  struct slice help; /* how it is said */
  bool last;         /* only where nothing else was meant */
};

struct diagnostic {
  enum slug slug;
  enum severity severity;
  struct span span;
  struct slice message;
  struct slice at_span; /* what is said under the place itself */
  VEC(struct label) labels;
  VEC(struct slice) notes;
  VEC(struct slice) help;
  VEC(struct label) fixits;
  VEC(struct offer) offers; /* the best one first */
  struct slice otherwise;   /* help, where there is no other */
  int64_t repeats;          /* the same diagnostic at the same place, again */
  struct diags *owner;      /* NULL: nobody will see it */
};

/* A kind that a file is silent about: `allow "huge-fc"`. */
struct file_allowance {
  struct span file; /* its text, in which the warning's place is */
  enum slug slug;
};

struct diags {
  struct arena *arena;
  struct sources *sources;
  VEC(struct diagnostic *) all;
  unsigned char level[SLUG_COUNT]; /* enum severity */
  bool asked[SLUG_COUNT];          /* for, so that no file allows them */
  VEC(struct file_allowance) allowed;
  int64_t limit; /* of errors */
  bool quiet;    /* count, but keep and format nothing */
  int64_t errors, warnings;
  int64_t repeated_errors;   /* one more turn of a loop, the same mistake */
  struct diagnostic scratch; /* for those that nobody will see */
  VEC(uint32_t) table; /* hash of (slug, span) -> index in `all`, plus 1 */
};

void diags_open(struct diags *diags, struct arena *arena,
                struct sources *sources);

/* From here on no warning of that kind is told of the file of that place. */
void diag_allow(struct diags *diags, enum slug slug, struct span place);

/* No more errors are wanted, nor the same ones again and again. */
static inline bool diags_full(const struct diags *diags) {
  return diags->errors >= diags->limit ||
         diags->repeated_errors >= LIMIT_REPEATED_ERRORS;
}

/*
 * Reports. The result is never NULL and takes labels, notes and help. One
 * slug at one place is reported once; further ones count as its repeats.
 */
struct diagnostic *diag(struct diags *diags, enum slug slug, struct span span,
                        const char *format, ...) PRINTF_LIKE(4, 5);
struct diagnostic *diag_va(struct diags *diags, enum slug slug,
                           struct span span, const char *format, va_list args);
/* Whether it will be shown; if not, no help need be looked for. */
static inline bool diag_is_shown(const struct diagnostic *d) {
  return d->owner;
}

void diag_here(struct diagnostic *d, const char *format, ...) PRINTF_LIKE(2, 3);
void diag_label(struct diagnostic *d, struct span span, const char *format, ...)
    PRINTF_LIKE(3, 4);
void diag_note(struct diagnostic *d, const char *format, ...) PRINTF_LIKE(2, 3);
/* False, so that what refuses something may return it. */
bool diag_help(struct diagnostic *d, const char *format, ...) PRINTF_LIKE(2, 3);

/*
 * Offers `text` for what stands in `span`, and says so in the words of
 * `format`. Both are shown if the source then compiles there, as soon as all
 * errors are known, and the first of several that does.
 */
void diag_offer(struct diagnostic *d, struct span span, struct slice text,
                const char *format, ...) PRINTF_LIKE(4, 5);

/* The same of leaving out what stands in `span`, and blanks before it: where
 * the line is not known from elsewhere, either. */
void diag_offer_omission(struct diagnostic *d, struct span span,
                         const char *format, ...) PRINTF_LIKE(3, 4);

/* "did you mean `text`?" */
void diag_suggest(struct diagnostic *d, struct span span, struct slice text);

/* Help for where nothing else can be said. */
void diag_otherwise(struct diagnostic *d, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* Shows an offer that holds. */
void diag_take(struct diagnostic *d, const struct offer *offer);

/* All offers were tried: what is there to say without one? */
void diag_settle(struct diagnostic *d);

/* The two renderers. Text ends with a newline, JSON is one object. */
void diag_render_text(struct text *out, struct sources *sources,
                      const struct diagnostic *d, bool colour);
void diag_render_json(struct json *json, struct sources *sources,
                      const struct diagnostic *d);

#endif
