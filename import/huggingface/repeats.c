/* Runs that repeat in a sequence, found from left to right. */
#include "import/huggingface/repeats.h"

enum { WIDE = 72, LONGEST = 64 }; /* columns; calls of a turn */

struct repeats_run {
  size_t period, turns;
};

/* How often the first `period` words follow each other. */
static size_t turns_of(const struct slice *words, size_t count, size_t period) {
  size_t at = period;
  while (at < count && slice_equal(words[at], words[at - period]))
    at++;
  return at / period;
}

/* The run that covers most words; of equal ones that with the shortest turn. */
static struct repeats_run best_run(const struct slice *words, size_t count) {
  struct repeats_run best = {1, 1};
  size_t most = count / 2 < LONGEST ? count / 2 : LONGEST;
  for (size_t period = 1; period <= most; period++) {
    size_t turns = turns_of(words, count, period);
    if (turns > 1 &&
        (best.turns == 1 || period * turns > best.period * best.turns))
      best = (struct repeats_run){period, turns};
  }
  return best;
}

static size_t column_of(const struct text *out) {
  size_t at = out->length;
  while (at > 0 && out->at[at - 1] != '\n')
    at--;
  return out->length - at;
}

static void put_line(struct text *out, int depth) {
  text_putc(out, '\n');
  for (int i = 0; i < depth; i++)
    text_put(out, "  ");
}

/* Calls of a turn in lines that are not too wide; `parted`: one for each run,
 * as at the top. */
static void put_words(struct text *out, const struct slice *words, size_t count,
                      int depth, bool parted);

static void put_run(struct text *out, const struct slice *words,
                    struct repeats_run run, int depth) {
  if (run.turns == 1) {
    text_puts(out, *words);
    return;
  }
  struct text one = {.arena = out->arena};
  put_words(&one, words, run.period, 0, false);
  bool wide = memchr(one.at, '\n', one.length) || one.length > WIDE - 20;
  text_printf(out, "repeat %zu {", run.turns);
  if (wide) {
    put_line(out, depth + 1);
    put_words(out, words, run.period, depth + 1, false);
    put_line(out, depth);
  } else {
    text_printf(out, " %.*s ", SLICE_ARG(one));
  }
  text_putc(out, '}');
}

static void put_words(struct text *out, const struct slice *words, size_t count,
                      int depth, bool parted) {
  for (size_t at = 0; at < count;) {
    struct repeats_run run = best_run(words + at, count - at);
    struct text one = {.arena = out->arena};
    put_run(&one, words + at, run, depth);
    if (at > 0 && (parted || column_of(out) + one.length + 2 > WIDE))
      put_line(out, depth);
    else if (at > 0)
      text_put(out, "; ");
    text_puts(out, text_slice(&one));
    at += run.period * run.turns;
  }
}

void repeats_put(struct text *out, const struct slice *words, size_t count) {
  put_words(out, words, count, 0, true);
}
