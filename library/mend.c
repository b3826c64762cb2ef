/*
 * Mends: tries the fixes that errors offer before they are shown. The source
 * with the replacement is parsed and expanded again, in memory that is freed
 * afterwards. A fix is shown if its line is then right and no other line
 * becomes wrong.
 */
#include "layers/foreign/foreign.h"
#include "library/mend.h"

enum {
  WARNING_NODES = 20000,   /* of all trials; then warnings are not mended */
  LONGEST_STATEMENT = 4000 /* bytes of lines that belong together */
};

/* Errors of shapes, in a statement that is otherwise right. */
static bool is_of_shapes(enum slug slug) {
  return slug == NO_TENSOR || slug == NO_INPUT ||
         (slug >= WRONG_RANK && slug <= TIE_MISMATCH && slug != OUT_OF_RANGE);
}

/* Errors that a right word may still cause. */
static bool is_of_values(enum slug slug) {
  return is_of_shapes(slug) || slug == MISSING_ARGUMENT ||
         (slug > TIE_MISMATCH && slug <= WRONG_COUNT) || slug == OUT_OF_RANGE;
}

/* Errors that another form of the statement can fix. */
static bool is_of_writing(enum slug slug) {
  return slug <= DUPLICATE_ARGUMENT || slug == UNKNOWN_LAYER ||
         slug == TAIL_ARGUMENT || slug == WRONG_TYPE || slug == WRONG_COUNT;
}

/* Quality of a fix. */
enum merit {
  FAILS,
  BINDS,    /* all words and arguments are known; shapes may not match */
  COMPILES, /* no error on its lines */
};

static enum merit merit_in(const struct mend_trial *t, struct span region,
                           bool (*bearable)(enum slug slug)) {
  struct slice text = t->sources.all.at[t->source].text;
  size_t begin = slice_line_begin(text, region.begin);
  size_t end = slice_line_end(text, region.end);
  enum merit merit = COMPILES;
  for (size_t i = 0; i < t->diags.all.count; i++) {
    const struct diagnostic *d = t->diags.all.at[i];
    if (d->slug == TOO_MANY_LAYERS || d->slug == TOO_MANY_STEPS)
      return FAILS; /* the lines may not have been reached */
    if (d->span.begin < t->base + begin || d->span.begin > t->base + end)
      continue;
    if (!bearable(d->slug))
      return FAILS;
    merit = BINDS;
  }
  return merit;
}

/* Adds an edit to the others, in order; false if it overlaps one. */
static bool add_edit(struct arena *arena, const struct mend_edits *edits,
                     const struct offer *offer, struct mend_edits *all,
                     struct span *region) {
  bool placed = false;
  int64_t shift = 0;
  for (size_t i = 0; i < edits->at.count; i++) {
    const struct offer *edit = &edits->at.at[i];
    if (edit->span.begin < offer->span.end &&
        offer->span.begin < edit->span.end)
      return false;
    if (!placed && edit->span.begin >= offer->span.end) {
      *VEC_PUSH(arena, &all->at) = *offer;
      placed = true;
    }
    if (!placed)
      shift += (int64_t)edit->text.length -
               (int64_t)(edit->span.end - edit->span.begin);
    *VEC_PUSH(arena, &all->at) = *edit;
  }
  if (!placed)
    *VEC_PUSH(arena, &all->at) = *offer;
  region->begin = (uint32_t)(offer->span.begin + shift);
  region->end = region->begin + (uint32_t)offer->text.length;
  return true;
}

/* A fix that is tried for a diagnostic. */
struct mend_attempt {
  struct offer offer;
  bool syntax; /* it fixes a syntax error */
  bool guesses;
  struct span own; /* the diagnostic, if the fix is on other lines; or 0, 0 */
  bool (*bearable)(enum slug slug);
  struct mend_edits all; /* with the earlier edits */
  int64_t left;          /* syntax errors after it */
  bool breaks;           /* it causes errors on other lines */
};

/* Where a place is after edits before it. */
static struct span moved(const struct mend_edits *edits, struct span span) {
  int64_t shift = 0;
  for (size_t i = 0; i < edits->at.count; i++) {
    const struct offer *edit = &edits->at.at[i];
    if (edit->span.end <= span.begin)
      shift += (int64_t)edit->text.length -
               (int64_t)(edit->span.end - edit->span.begin);
  }
  return (struct span){(uint32_t)(span.begin + shift),
                       (uint32_t)(span.end + shift)};
}

/* The merit of a fix on other lines: the error must be gone, with no new one.
 */
static enum merit merit_of_own(const struct mender *m,
                               const struct mend_trial *t,
                               const struct mend_attempt *a) {
  struct span own = moved(&a->all, a->own);
  own.begin -= m->base;
  own.end -= m->base;
  return a->breaks ? FAILS : merit_in(t, own, a->bearable);
}

static enum merit try_once(struct mender *m, struct mend_attempt *a) {
  struct arena scratch;
  struct span region;
  a->all = (struct mend_edits){{0}};
  a->left = 0;
  if (!add_edit(&m->arena, &m->edits, &a->offer, &a->all, &region))
    return FAILS;
  region.begin -= m->base;
  region.end -= m->base;
  arena_open_in(&scratch, &m->arena);
  struct mend_trial *t = ARENA_NEW(&scratch, struct mend_trial);
  enum merit merit = FAILS;
  if (mend_try(m, &scratch, t, &a->all, m->syntax - a->syntax)) {
    a->left = mend_syntax_errors(&t->diags, t->source);
    a->breaks = t->diags.errors > m->errors;
    m->nodes += t->model.nodes.count;
    if (a->left <= m->syntax - a->syntax)
      merit = merit_in(t, region, a->bearable);
    if (a->own.end && merit != FAILS) {
      enum merit own = merit_of_own(m, t, a);
      merit = own < merit ? own : merit;
    }
  }
  arena_close(&scratch);
  return merit;
}

/* Unparsed lines may define missing names, so a guess is tried with them,
 * too. */
static enum merit try_offer(struct mender *m, struct mend_attempt *a) {
  m->strict = true;
  enum merit merit = try_once(m, a);
  if (merit != FAILS || !a->guesses || a->left == 0)
    return merit;
  m->strict = false;
  merit = try_once(m, a);
  m->strict = true;
  return merit == FAILS ? FAILS : BINDS;
}

/* Later fixes are tried in a source with this one. */
static void keep_attempt(struct mender *m, const struct mend_attempt *a) {
  m->edits = a->all;
  m->syntax = a->left;
}

/* Lines */

/* The statement at a place: lines joined by brackets, without comment. */
static struct span lines_at(const struct mender *m, uint32_t place) {
  struct slice text = m->text;
  size_t at = place - m->base, end;
  int depth = 0;
  if (at > text.length)
    at = text.length;
  size_t begin = slice_line_begin(text, at);
  while (begin < text.length && strchr(" \t", text.at[begin]))
    begin++;
  for (end = begin; end < text.length && end - begin < LONGEST_STATEMENT;
       end++) {
    char c = text.at[end];
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if ((c == '\n' && depth <= 0) || c == '#')
      break;
  }
  if (end - begin >= LONGEST_STATEMENT || (depth > 0 && end > at))
    end = slice_line_end(text, at);
  while (end > begin && strchr(" \t\r", text.at[end - 1]))
    end--;
  return (struct span){m->base + (uint32_t)begin, m->base + (uint32_t)end};
}

/* The innermost statement at a place, between braces and semicolons. */
static struct span piece_at(const struct mender *m, struct span lines,
                            uint32_t place) {
  const char *text = m->text.at;
  uint32_t base = m->base;
  uint32_t begin = place < lines.end ? place : lines.end, end = begin;
  while (begin > lines.begin && !strchr("{};", text[begin - 1 - base]))
    begin--;
  while (end < lines.end && !strchr("{};", text[end - base]))
    end++;
  while (begin < end && strchr(" \t\n", text[begin - base]))
    begin++;
  while (end > begin && strchr(" \t\n", text[end - 1 - base]))
    end--;
  return (struct span){begin, end};
}

/* Adds the statement in netc's language, and the reason. */
static void say_reading(struct diagnostic *d, struct span span,
                        const struct foreign_line *line, enum merit merit) {
  const char *why = line->why || !mend_is_syntax(d->slug)
                        ? line->why
                        : "a layer is a word and its values, then the layers "
                          "that follow: `conv 64 3x3 pad bn relu`";
  bool said = d->help.count;
  struct text one = text_new(d->owner->arena); /* as a single line */
  for (size_t i = 0; i < line->ours.length; i++) {
    text_put(&one, line->ours.at[i] == '\n' ? "; " : "");
    if (line->ours.at[i] != '\n')
      text_putc(&one, line->ours.at[i]);
  }
  if (line->ours.length)
    diag_offer(d, span, line->ours,
               line->open ? "write `%.*s`, and `}` after its body"
                          : "write `%.*s`",
               SLICE_ARG(one));
  else
    diag_offer(d, span, line->ours, "leave it out");
  struct offer offer = d->offers.at[d->offers.count - 1];
  if (why && !said)
    diag_help(d, "%s", why);
  diag_take(d, &offer);
  if (line->open || merit != COMPILES)
    d->fixits.count = 0; /* more must be changed by hand */
}

static struct slice closed(struct mender *m, struct slice text) {
  struct text out = text_new(&m->arena);
  text_puts(&out, text);
  text_put(&out, " }");
  return text_slice(&out);
}

/* Translates a piece if it is known from another language. */
static bool reads_as(struct mender *m, struct diagnostic *d, struct span span) {
  struct slice text = {m->text.at + (span.begin - m->base),
                       span.end - span.begin};
  if (text.length > LONGEST_STATEMENT)
    return false;
  struct foreign_line line = {.at = text}, best_line = line;
  struct mend_attempt a = {.bearable = is_of_shapes,
                           .guesses = true,
                           .syntax = mend_is_syntax(d->slug)};
  struct mend_attempt best = a;
  enum merit found = FAILS;
  const char *why = NULL;
  for (int i = 0;
       text.length && found != COMPILES && foreign_read(&m->arena, i, &line);
       i++) {
    a.offer = (struct offer){span, line.ours, {NULL, 0}, false};
    why = why ? why : line.why;
    if (line.open)
      a.offer.text = closed(m, line.ours);
    enum merit merit = try_offer(m, &a);
    if (merit <= found)
      continue;
    found = merit;
    best = a;
    best_line = line;
  }
  if (found == FAILS && why && !d->help.count && d->slug == SYNTAX)
    diag_help(d, "%s", why);
  if (found == FAILS)
    return false;
  keep_attempt(m, &best);
  say_reading(d, span, &best_line, found);
  return true;
}

/* The error's place, if a fix is on other lines; fixes of warnings may be. */
static struct span own_place(const struct mender *m, const struct diagnostic *d,
                             struct span fix) {
  size_t at = d->span.begin - m->base;
  size_t begin = slice_line_begin(m->text, at);
  size_t end = slice_line_end(m->text, at);
  bool here = fix.begin - m->base <= end && fix.end - m->base >= begin;
  return here || d->severity != SEVERITY_ERROR ? (struct span){0, 0} : d->span;
}

/* Takes the first of a diagnostic's fixes with the required merit. */
static bool take_offer(struct mender *m, struct diagnostic *d, enum merit least,
                       bool last) {
  struct mend_attempt a = {.bearable = is_of_values,
                           .syntax = mend_is_syntax(d->slug)};
  for (size_t i = 0; i < d->offers.count; i++) {
    a.offer = d->offers.at[i];
    if (a.offer.last != last || a.offer.span.begin < m->base ||
        a.offer.span.end > m->base + m->text.length)
      continue;
    a.own = own_place(m, d, a.offer.span);
    enum merit merit = try_offer(m, &a);
    if (merit < least)
      continue;
    if (d->severity == SEVERITY_ERROR)
      keep_attempt(m, &a);
    diag_take(d, &a.offer);
    if (merit != COMPILES || (a.breaks && d->severity != SEVERITY_ERROR))
      d->fixits.count = 0;
    return true;
  }
  return false;
}

/* Finds errors on the line of another, which hide each other's fixes. */
static int find_beside(const struct mender *m, const struct diagnostic *d,
                       struct diagnostic **beside, int most) {
  const struct diags *diags = &m->load->diags;
  const struct source *source = &m->load->sources.all.at[m->unit->source];
  struct span line = lines_at(m, d->span.begin);
  int count = 0;
  for (size_t i = 0; i < diags->all.count && count < most; i++) {
    struct diagnostic *other = diags->all.at[i];
    if (other != d && other->severity == SEVERITY_ERROR &&
        mend_is_in(source, other->span) && other->offers.count &&
        !other->offers.at[0].last && other->span.begin >= line.begin &&
        other->span.end <= line.end)
      beside[count++] = other;
  }
  return count;
}

/* The line with the first fix of each error; empty: they overlap. */
static struct slice together(struct mender *m, struct diagnostic *const *all,
                             int count, struct span line) {
  struct mend_edits edits = {{0}};
  for (int i = 0; i < count; i++) {
    struct mend_edits more = {{0}};
    const struct offer *offer = &all[i]->offers.at[0];
    struct span region;
    if (offer->last || offer->span.begin < line.begin ||
        offer->span.end > line.end ||
        !add_edit(&m->arena, &edits, offer, &more, &region))
      return (struct slice){"", 0};
    edits = more;
  }
  struct slice text =
      slice_from(slice_to(m->text, line.end - m->base), line.begin - m->base);
  return mend_put(m->load->diags.arena, text, line.begin, edits.at.at,
                  edits.at.count);
}

/*
 * Fixes the mistakes of a line at once: `conv 64 3x3 padd bn rel`. The first
 * error has the edit, and the others their help.
 */
static bool take_together(struct mender *m, struct diagnostic *d) {
  enum { MOST = 5 };
  struct diagnostic *all[MOST] = {d};
  int count = 1 + find_beside(m, d, all + 1, MOST - 1);
  struct span line = lines_at(m, d->span.begin);
  if (count == 1 || !d->offers.count)
    return false;
  struct slice text = together(m, all, count, line);
  struct text help = text_new(m->load->diags.arena);
  text_printf(&help, "write `%.*s`", SLICE_ARG(text));
  struct mend_attempt a = {.offer = {line, text, text_slice(&help), false},
                           .bearable = is_of_values,
                           .syntax = mend_is_syntax(d->slug)};
  if (!text.length || try_offer(m, &a) != COMPILES)
    return false;
  keep_attempt(m, &a);
  diag_take(d, &a.offer);
  for (int i = 1; i < count; i++) {
    struct offer offer = all[i]->offers.at[0];
    diag_take(all[i], &offer);
    all[i]->fixits.count = 0;
    all[i]->mended = true;
  }
  return true;
}

static void mend_diagnostic(struct mender *m, struct diagnostic *d) {
  bool error = d->severity == SEVERITY_ERROR;
  if (!error && m->nodes > WARNING_NODES)
    return;
  if (d->mended || take_offer(m, d, COMPILES, false) ||
      (!error && take_offer(m, d, COMPILES, true)) || !error)
    return;
  struct span lines = lines_at(m, d->span.begin);
  struct span piece = piece_at(m, lines, d->span.begin);
  bool inside = piece.begin != lines.begin || piece.end != lines.end;
  if (is_of_writing(d->slug) &&
      ((inside && reads_as(m, d, piece)) || reads_as(m, d, lines)))
    return;
  if (!take_together(m, d) && !take_offer(m, d, COMPILES, true) &&
      !take_offer(m, d, BINDS, false))
    take_offer(m, d, BINDS, true);
}

/*
 * Counts the errors of the unchanged text. The load's own count is too low only
 * if its list is full, or if layers in doubt hide errors from a warning's
 * fix.
 */
static void count_before(struct mender *m, int source) {
  const struct diags *diags = &m->load->diags;
  struct arena scratch;
  m->syntax = mend_syntax_errors(diags, source);
  m->errors = diags->errors;
  if (!diags_full(diags) && (!diags->errors || !diags->warnings))
    return;
  arena_open_in(&scratch, &m->arena);
  struct mend_trial *t = ARENA_NEW(&scratch, struct mend_trial);
  if (mend_try(m, &scratch, t, &m->edits, INT64_MAX)) {
    m->syntax = mend_syntax_errors(&t->diags, t->source);
    m->errors = t->diags.errors;
  }
  arena_close(&scratch);
}

/* Mends the errors of one source in order. */
static void mend_unit(struct mender *m, const struct unit *unit) {
  struct load *load = m->load;
  const struct source *source = &load->sources.all.at[unit->source];
  m->unit = unit;
  m->text = source->text;
  m->base = source->base;
  m->edits = (struct mend_edits){{0}};
  count_before(m, unit->source);
  for (size_t i = 0; i < load->diags.all.count; i++) {
    struct diagnostic *d = load->diags.all.at[i];
    if (mend_is_in(source, d->span))
      mend_diagnostic(m, d);
  }
}

static bool has_mends(const struct load *load) {
  for (size_t i = 0; i < load->diags.all.count; i++) {
    const struct diagnostic *d = load->diags.all.at[i];
    if (d->offers.count || d->severity == SEVERITY_ERROR)
      return true;
  }
  return false;
}

/* Sorts errors of two passes by place. */
static void sort_errors(struct load *load) {
  struct diagnostic **all = load->diags.all.at;
  for (size_t i = 1; i < load->diags.all.count; i++) {
    struct diagnostic *d = all[i];
    size_t at = i;
    for (; at > 0 && all[at - 1]->span.begin > d->span.begin; at--)
      all[at] = all[at - 1];
    all[at] = d;
  }
}

void mend_offers(struct netc *netc) {
  struct load *load = netc->load;
  if (!load->compiled.parsed)
    sort_errors(load);
  struct mender m = {.netc = netc, .load = load};
  bool sealed = load->sealed;
  if (has_mends(load)) {
    load->sealed = true;
    arena_open_in(&m.arena, &load->arena);
    for (size_t i = 0; i < load->units.count; i++)
      if (load->units.at[i].source >= 0 && load->units.at[i].program)
        mend_unit(&m, &load->units.at[i]);
    arena_close(&m.arena);
    load->sealed = sealed;
  }
  for (size_t i = 0; i < load->diags.all.count; i++)
    diag_settle(load->diags.all.at[i]);
}
