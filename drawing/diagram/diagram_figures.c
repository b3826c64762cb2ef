/* Figures of all turns of a loop in one text: "conv 64 dilate=1-512". */
#include "drawing/diagram/diagram.h"

size_t item_turns(const struct diagram *d, const struct diagram_item *item) {
  size_t turns = 1;
  for (int i = 0; i < item->nested_count && d->effort >= EFFORT_LOOPS; i++)
    turns *= item->nested[i].count;
  return turns;
}

size_t item_turn_row(const struct diagram_item *item, size_t turn) {
  size_t row = item->row;
  for (int i = 0; i < item->nested_count; i++) {
    row += turn % item->nested[i].count * item->nested[i].stride;
    turn /= item->nested[i].count;
  }
  return row;
}

static bool digit_at(const struct slice *text, size_t at) {
  return at < text->length && text->at[at] >= '0' && text->at[at] <= '9';
}

/* A number, perhaps with a fraction, or what stands between two. */
static struct slice next_token(struct slice text, size_t *at) {
  size_t from = *at;
  bool number = digit_at(&text, from);
  while (*at < text.length && digit_at(&text, *at) == number)
    ++*at;
  if (number && *at < text.length && text.at[*at] == '.' &&
      digit_at(&text, *at + 1))
    for (++*at; digit_at(&text, *at);)
      ++*at;
  return (struct slice){text.at + from, *at - from};
}

static bool is_number(struct slice token) {
  return digit_at(&token, 0);
}

static size_t whole_digits(struct slice number) {
  size_t digits = 0;
  while (digit_at(&number, digits))
    digits++;
  return digits;
}

/* By size, however long: digit by digit, where both have the same places. */
static int compare(struct slice a, struct slice b) {
  size_t x = whole_digits(a), y = whole_digits(b);
  if (x != y)
    return x > y ? 1 : -1;
  size_t common = a.length < b.length ? a.length : b.length;
  int order = memcmp(a.at, b.at, common);
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

bool same_but_figures(struct slice a, struct slice b) {
  size_t i = 0, k = 0;
  while (i < a.length && k < b.length) {
    struct slice x = next_token(a, &i), y = next_token(b, &k);
    if (is_number(x) != is_number(y) || (!is_number(x) && !slice_equal(x, y)))
      return false;
  }
  return i == a.length && k == b.length;
}

/* The number that stands so many tokens on, in the text of each turn. */
struct figures {
  struct slice first, last, least, most;
  bool falls, rises;
};

static void add_turn(struct figures *f, struct slice text, size_t token,
                     bool first) {
  size_t at = 0;
  struct slice found = {0};
  for (size_t i = 0; i <= token; i++)
    found = next_token(text, &at);
  if (first)
    *f = (struct figures){found, found, found, found, false, false};
  f->falls |= compare(found, f->last) < 0;
  f->rises |= compare(found, f->last) > 0;
  f->least = compare(found, f->least) < 0 ? found : f->least;
  f->most = compare(found, f->most) > 0 ? found : f->most;
  f->last = found;
}

/* The first and the last; if they go up and down, the least and the most. */
static void put_figures(struct text *out, const struct figures *f) {
  bool both = f->falls && f->rises;
  text_puts(out, both ? f->least : f->first);
  if (f->falls || f->rises) {
    text_put(out, "\xE2\x80\x93");
    text_puts(out, both ? f->most : f->last);
  }
}

struct slice merge_turns(struct arena *arena, const struct slice *turns,
                         size_t count) {
  struct text text = text_new(arena);
  size_t at = 0;
  for (size_t i = 1; i < count; i++)
    if (!same_but_figures(turns[0], turns[i]))
      return turns[0];
  for (size_t token = 0; at < turns[0].length; token++) {
    struct slice here = next_token(turns[0], &at);
    struct figures figures = {0};
    for (size_t i = 0; i < count && is_number(here); i++)
      add_turn(&figures, turns[i], token, i == 0);
    if (is_number(here))
      put_figures(&text, &figures);
    else
      text_puts(&text, here);
  }
  return text_slice(&text);
}
