/* Figures of all iterations of a loop in one text: "conv 64 dilate=1-512". */
#include "drawing/diagram/diagram.h"

static size_t count_turns(const struct diagram_item *item, bool equal) {
  size_t turns = 1;
  for (int i = 0; i < item->nested_count; i++)
    if (equal || item->nested[i].varies)
      turns *= item->nested[i].count;
  return turns;
}

static size_t turn_row(const struct diagram_item *item, size_t turn,
                       bool equal) {
  size_t row = item->row;
  for (int i = 0; i < item->nested_count; i++)
    if (equal || item->nested[i].varies) {
      row += turn % item->nested[i].count * item->nested[i].stride;
      turn /= item->nested[i].count;
    }
  return row;
}

size_t item_turns(const struct diagram *d, const struct diagram_item *item) {
  return d->effort >= EFFORT_LOOPS ? count_turns(item, false) : 1;
}

size_t item_turn_row(const struct diagram_item *item, size_t turn) {
  return turn_row(item, turn, false);
}

size_t item_all_turns(const struct diagram_item *item) {
  return count_turns(item, true);
}

size_t item_any_row(const struct diagram_item *item, size_t turn) {
  return turn_row(item, turn, true);
}

static bool digit_at(const struct slice *text, size_t at) {
  return at < text->length && text->at[at] >= '0' && text->at[at] <= '9';
}

/* A number with its fraction, or the text between two numbers. */
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

/* Compares numbers of any length: digit by digit if equally long. */
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

/* The range of one number over all iterations. */
struct figures {
  struct slice least, most;
};

static void add_turn(struct figures *f, struct slice text, size_t token,
                     bool first) {
  size_t at = 0;
  struct slice found = {0};
  for (size_t i = 0; i <= token; i++)
    found = next_token(text, &at);
  if (first)
    *f = (struct figures){found, found};
  f->least = compare(found, f->least) < 0 ? found : f->least;
  f->most = compare(found, f->most) > 0 ? found : f->most;
}

static void put_figures(struct text *out, const struct figures *f) {
  text_puts(out, f->least);
  if (compare(f->least, f->most) != 0) {
    text_put(out, "\xE2\x80\x93");
    text_puts(out, f->most);
  }
}

/* Words */

static struct slice next_word(struct slice text, size_t *at) {
  size_t from = *at;
  while (*at < text.length && text.at[*at] != ' ')
    ++*at;
  struct slice word = {text.at + from, *at - from};
  *at += *at < text.length;
  return word;
}

static size_t count_words(struct slice text) {
  size_t count = 0;
  for (size_t at = 0; at < text.length; count++)
    next_word(text, &at);
  return count;
}

static struct slice nth_word(struct slice text, size_t index) {
  struct slice word = {0};
  size_t at = 0;
  for (size_t i = 0; i <= index; i++)
    word = next_word(text, &at);
  return word;
}

/* "windows 3 false/true": words that differ at one place. */
static struct slice merge_words(struct arena *arena, const struct slice *turns,
                                size_t count) {
  struct text text = text_new(arena);
  size_t words = count_words(turns[0]);
  for (size_t w = 0; w < words; w++) {
    struct slice first = nth_word(turns[0], w), other = first;
    for (size_t i = 1; i < count && slice_equal(first, other); i++)
      other = nth_word(turns[i], w);
    text_put(&text, w ? " " : "");
    text_puts(&text, first);
    if (!slice_equal(first, other))
      text_printf(&text, "/%.*s", SLICE_ARG(other));
  }
  return text_slice(&text);
}

/* True if a text contains the words of another in order. */
static bool holds_words(struct slice longer, struct slice shorter) {
  size_t at = 0, from = 0;
  while (from < shorter.length) {
    struct slice wanted = next_word(shorter, &from), found = {0};
    while (at < longer.length && !slice_equal(found, wanted))
      found = next_word(longer, &at);
    if (!slice_equal(found, wanted))
      return false;
  }
  return true;
}

/* "(roll) reshape permute": words of only some iterations are in
 * parentheses. */
static struct slice mark_words(struct arena *arena, struct slice longer,
                               struct slice shorter) {
  struct text text = text_new(arena);
  size_t from = 0;
  for (size_t at = 0; at < longer.length;) {
    size_t next = from;
    struct slice word = next_word(longer, &at);
    bool both =
        from < shorter.length && slice_equal(next_word(shorter, &next), word);
    text_printf(&text, both ? "%s%.*s" : "%s(%.*s)", text.length ? " " : "",
                SLICE_ARG(word));
    from = both ? next : from;
  }
  return text_slice(&text);
}

/* Merges iterations with unlike texts; the first text if they have too little
 * in common. */
static struct slice merge_unlike(struct arena *arena, const struct slice *turns,
                                 size_t count) {
  struct slice shortest = turns[0], longest = turns[0];
  size_t words = count_words(turns[0]);
  bool even = true;
  for (size_t i = 1; i < count; i++) {
    even = even && count_words(turns[i]) == words;
    shortest = turns[i].length < shortest.length ? turns[i] : shortest;
    longest = turns[i].length > longest.length ? turns[i] : longest;
  }
  if (even)
    return merge_words(arena, turns, count);
  for (size_t i = 0; i < count; i++)
    if (!slice_equal(turns[i], shortest) && !slice_equal(turns[i], longest))
      return turns[0];
  return holds_words(longest, shortest) ? mark_words(arena, longest, shortest)
                                        : turns[0];
}

struct slice merge_turns(struct arena *arena, const struct slice *turns,
                         size_t count) {
  struct text text = text_new(arena);
  size_t at = 0;
  for (size_t i = 1; i < count; i++)
    if (!same_but_figures(turns[0], turns[i]))
      return merge_unlike(arena, turns, count);
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

struct slice merge_titles(struct arena *arena, const struct slice *turns,
                          size_t count) {
  struct slice shortest = turns[0];
  bool even = true;
  for (size_t i = 1; i < count; i++) {
    even = even && count_words(turns[i]) == count_words(turns[0]);
    shortest = turns[i].length < shortest.length ? turns[i] : shortest;
  }
  return even ? merge_turns(arena, turns, count) : shortest;
}
