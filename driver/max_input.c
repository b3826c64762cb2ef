/*
 * --max-input: finds the largest square image that fits a device. Each trial
 * compiles the net with other sizes; nothing is estimated.
 */
#include "driver/max_input.h"

#include <inttypes.h>
#include <string.h>

enum {
  MOST_STEP = 256,    /* largest multiple to try */
  MOST_SIDE = 1 << 20 /* rows and columns */
};

/* Result of a trial: an error or a new warning, or the verdict. */
enum input_outcome { OUTCOME_ERROR, OUTCOME_FITS, OUTCOME_TOO_LARGE };

struct input_search {
  struct netc *netc;
  struct net_options *options;
  const char *input; /* name of the input */
  int rank;          /* of the input, with channels */
  int64_t step;      /* sides are multiples of it */
  int64_t tried;     /* number of compiled sizes */
  size_t warnings;   /* number of the source's own, which a size may have */
  int64_t least, most;
  int64_t need, room;           /* bytes of the last trial */
  int64_t best_need, over_need; /* of the largest that fits, and of the next */
};

/* HxWxC with equal sides; a video keeps its length. */
static void sizes_of(const struct input_search *s, int64_t side, char *to,
                     size_t room) {
  snprintf(to, room, "%s%" PRId64 "x%" PRId64 "x_", s->rank > 3 ? "_x" : "",
           side, side);
}

static enum input_outcome verdict_of(struct input_search *s) {
  struct netc_answer a = {.size = sizeof a};
  netc_answer(s->netc, s->options->look.predict, &a);
  s->need = a.bytes;
  s->room = a.room_bytes;
  return strcmp(a.verdict, "fits") == 0 ? OUTCOME_FITS : OUTCOME_TOO_LARGE;
}

/* Loads without showing errors, as other sizes are tried. */
static enum netc_status load(struct input_search *s) {
  const struct opened_file *opened = &s->options->opening;
  return netc_load_text(s->netc, opened->path, opened->text.at,
                        opened->text.length);
}

static enum input_outcome try_side(struct input_search *s, int64_t side) {
  char sizes[80];
  sizes_of(s, side, sizes, sizeof sizes);
  s->tried++;
  s->least = s->least == 0 || side < s->least ? side : s->least;
  s->most = side > s->most ? side : s->most;
  if (netc_input_sizes(s->netc, s->input, sizes) != NETC_OK ||
      load(s) != NETC_OK || netc_diagnostic_count(s->netc) > s->warnings)
    return OUTCOME_ERROR;
  enum input_outcome outcome = verdict_of(s);
  if (outcome == OUTCOME_FITS)
    s->best_need = s->need;
  else
    s->over_need = s->need;
  return outcome;
}

/* Finds the smallest power of two of which several consecutive multiples
 * compile. */
static bool find_step(struct input_search *s, int64_t side) {
  enum { IN_A_ROW = 3 };
  for (s->step = 1; s->step <= MOST_STEP; s->step *= 2) {
    int64_t first = (side + s->step - 1) / s->step;
    int i = 0;
    while (i < IN_A_ROW && try_side(s, (first + i) * s->step) != OUTCOME_ERROR)
      i++;
    if (i == IN_A_ROW)
      return true;
  }
  return false;
}

/* The largest multiple that fits, or 0; the next one does not. */
static int64_t bisect(struct input_search *s, int64_t start) {
  int64_t low = 0, high = start;
  int64_t most = MOST_SIDE / s->step;
  while (high <= most && try_side(s, high * s->step) == OUTCOME_FITS) {
    low = high;
    high *= 2;
  }
  if (high > most)
    return low;
  if (low == 0) { /* the net's own size does not fit */
    int64_t lower = high / 2;
    while (lower > 0 && try_side(s, lower * s->step) == OUTCOME_TOO_LARGE) {
      high = lower;
      lower /= 2;
    }
    low = lower > 0 && try_side(s, lower * s->step) == OUTCOME_FITS ? lower : 0;
  }
  while (low > 0 && high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (try_side(s, middle * s->step) == OUTCOME_FITS)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Finds the only image or video input; returns its side, or 0 after a
 * complaint. */
static int64_t find_input(struct input_search *s) {
  struct netc_end end = {.size = sizeof end};
  struct netc_layer layer = {.size = sizeof layer};
  int64_t side = 0;
  int maps = 0;
  for (size_t i = 0; netc_input(s->netc, i, &end) == NETC_OK; i++) {
    netc_layer(s->netc, (size_t)end.layer, &layer);
    if (layer.out.rank < 3 || layer.out.rank > 4)
      continue;
    maps++;
    s->input = end.name;
    s->rank = layer.out.rank;
    side = layer.out.dims[s->rank - 2];
  }
  if (maps == 1)
    return side;
  complain(EXIT_USAGE,
           "--max-input needs a net with one picture or clip as its input; "
           "this net has %d",
           maps);
  return 0;
}

static void put_answer(const struct input_search *s, int64_t side) {
  char sizes[80];
  sizes_of(s, side, sizes, sizeof sizes);
  printf("largest square input  %s x %s: %s of %s\n", count_text(side).text,
         count_text(side).text, size_text(s->best_need, UNITS_IEC).text,
         size_text(s->room, UNITS_IEC).text);
  if (s->over_need)
    printf("the next              %s x %s: %s\n",
           count_text(side + s->step).text, count_text(side + s->step).text,
           size_text(s->over_need, UNITS_IEC).text);
  printf("tried                 %" PRId64 " sizes from %s to %s, multiples of "
         "%" PRId64 "\n",
         s->tried, count_text(s->least).text, count_text(s->most).text,
         s->step);
  tell("to use it             netc %s --input %s", s->options->files.at[0],
       sizes);
  putchar('\n');
}

static int answer(struct input_search *s, int64_t side) {
  bool found = find_step(s, side);
  if (!found) { /* larger sizes may have warnings of their own */
    s->warnings = SIZE_MAX;
    found = find_step(s, side);
  }
  if (!found)
    return complain(EXIT_SOURCE,
                    "this net compiles only at %" PRId64 "x%" PRId64 "; no "
                    "multiples of 1 to %d near it compile",
                    side, side, MOST_STEP);
  int64_t largest = bisect(s, (side + s->step - 1) / s->step) * s->step;
  if (largest == 0)
    return complain(EXIT_SOURCE,
                    "no square input fits: %" PRId64
                    " sizes from %s to %s were tried, multiples "
                    "of %" PRId64,
                    s->tried, count_text(s->least).text,
                    count_text(s->most).text, s->step);
  /* Bytes of the next size are those of its own trial. */
  s->over_need = 0;
  try_side(s, largest + s->step);
  try_side(s, largest);
  put_answer(s, largest);
  return finish_stdout();
}

int max_input(struct netc *netc, struct net_options *options) {
  struct input_search s = {.netc = netc, .options = options};
  struct netc_answer a = {.size = sizeof a};
  char name[128];
  if (options->wanted_count || options->dump)
    return complain(
        EXIT_USAGE,
        "--max-input prints its own answer; leave out -o, --emit and --dump");
  netc_mode(netc, NETC_FOR_FIT);
  int status = net_options_load(options);
  if (status != EXIT_DONE)
    return status;
  enum netc_status asked = netc_answer(netc, options->look.predict, &a);
  if (asked != NETC_OK)
    return exit_status_of(netc, asked);
  if (!a.on_device)
    return complain(EXIT_USAGE, "--max-input needs a device: --gpu NAME or "
                                "--memory SIZE");
  int64_t side = find_input(&s);
  s.warnings = netc_diagnostic_count(netc);
  if (side == 0)
    return EXIT_USAGE;
  if (snprintf(name, sizeof name, "%s", s.input) >= (int)sizeof name)
    return complain(EXIT_USAGE, "the name of the input is too long");
  s.input = name; /* the net's name is freed by the next load */
  return answer(&s, side);
}
