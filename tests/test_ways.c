/*
 * The choice of checkpoints: what spans are said to take, against runs of the
 * whole, and the cheapest choice, against all choices there are.
 */
#include "library/context.h"
#include "memory/devices/fit.h"
#include "memory/checkpoint/checkpoint.h"
#include "memory/checkpoint/ways.h"
#include "tests/nets.h"

enum { MOST_NODES = 2500 };

static uint64_t seed = 1;

static size_t draw(size_t below) {
  seed = seed * 6364136223846793005 + 1442695040888963407;
  return (size_t)(seed >> 33) % below;
}

/* A net with its spans, while it is looked at. */
struct subject {
  struct netc *netc;
  struct arena scratch;
  struct step step;
  struct spans spans;
};

static void open_spans(struct subject *s) {
  step_trace(&s->step, &s->scratch);
  s->spans = (struct spans){.step = &s->step, .arena = &s->scratch};
  assert_true(spans_measure(&s->spans));
  spans_open(&s->spans);
}

static bool open_subject(struct subject *s, struct netc *netc) {
  *s = (struct subject){.netc = netc};
  if (!netc->load || !netc->load->compiled.model ||
      netc->load->model.nodes.count > MOST_NODES) {
    netc_close(netc);
    return false;
  }
  arena_open_in(&s->scratch, netc->load->model.arena);
  s->step = (struct step){.model = &netc->load->model,
                          .settings = netc->load->settings.train};
  open_spans(s);
  return true;
}

static void close_subject(struct subject *s) {
  arena_close(&s->scratch);
  netc_close(s->netc);
}

static struct netc *open_file(const char *path, const char *const *words) {
  struct netc *netc = netc_open(NULL, NULL);
  for (; words[0]; words += 2)
    assert_int_equal(netc_set(netc, words[0], words[1]), NETC_OK);
  netc_load_file(netc, path);
  return netc;
}

/* Peak of a step with these ranges, as it is simulated. */
static int64_t peak_of(struct subject *s, struct node_range *ranges,
                       size_t count, int64_t *macs) {
  struct arena scratch;
  struct peak_line line;
  struct step trial = {.model = s->step.model, .settings = s->step.settings};
  arena_open_in(&scratch, &s->scratch);
  trial.ranges.at = ranges;
  trial.ranges.count = count;
  step_trace(&trial, &scratch);
  int64_t peak = step_peak(&trial, 0, &scratch, &line);
  if (macs)
    *macs = trial.extra_macs;
  arena_close(&scratch);
  return peak;
}

/* The same by what spans take. */
static int64_t sum_of(const struct subject *s, const struct node_range *ranges,
                      size_t count) {
  const struct training *t = &s->spans.training;
  int64_t passes = t->standing - t->paged + ways_most(&s->spans, ranges, count);
  return passes > t->step ? passes : t->step;
}

/* Some spans, of one to a sixth of the units each. */
static size_t draw_ranges(const struct spans *s, struct node_range *ranges) {
  size_t count = 0, most = s->units / 6 + 1;
  for (size_t at = 0; at < s->units;) {
    size_t to = at + 1 + draw(draw(3) ? most : s->units);
    if (to > s->units)
      to = s->units;
    if (draw(3) && span_at(s, at, to)->macs >= 0)
      ranges[count++] = (struct node_range){s->cut[at], s->cut[to]};
    else
      to = at + 1;
    at = to;
  }
  return count;
}

/* Nothing checkpointed in between, a layer may write over an earlier unit's
   tensor: then it is less. */
static bool is_right(const struct subject *s, int64_t sum, int64_t peak) {
  return s->spans.fenced ? sum >= peak : sum == peak;
}

static int check_net(const char *path, const char *const *words, int times) {
  struct subject s;
  struct node_range ranges[MOST_UNITS];
  int wrong = 0;
  if (!open_subject(&s, open_file(path, words)))
    return 0;
  for (int i = 0; i < times; i++) {
    size_t count = i ? draw_ranges(&s.spans, ranges) : 0;
    int64_t peak = peak_of(&s, ranges, count, NULL);
    int64_t sum = sum_of(&s, ranges, count);
    if (is_right(&s, sum, peak))
      continue;
    print_error("%s %s: %lld bytes, not %lld\n", path, words[2],
                (long long)peak, (long long)sum);
    wrong++;
  }
  close_subject(&s);
  return wrong;
}

static void check_zoo(const char *const *words, int times) {
  struct paths nets = find_paths("examples/zoo", ".net");
  int wrong = 0;
  for (size_t i = 0; i < nets.count; i++)
    wrong += check_net(nets.at[i], words, times);
  paths_free(&nets);
  assert_int_equal(wrong, 0);
}

static void spans_are_what_a_run_of_the_whole_finds(void **state) {
  static const char *const words[][9] = {
      {"batch", "16", NULL},
      {"batch", "1", "loss", "sum", "profile", "torch1-cpu", NULL},
      {"batch", "5", "precision", "mixed", "accumulate", "2", NULL},
      {"batch", "3", "precision", "master", "loss", "crossentropy", NULL},
      {"batch", "2", "inplace", "off", "optimizer", "adam", NULL},
      {"batch", "8", "saved_dtype", "i8", NULL},
      {"batch", "3", "saved_dtype", "i2", "precision", "mixed", NULL}};
  (void)state;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    check_zoo(words[i], 8);
}

/* Random nets, and all choices */

enum { MOST_CHOICES = 6000, MOST_ALONE = 9 };

struct choice {
  int64_t peak, macs;
};

struct choices {
  struct subject *subject;
  struct node_range ranges[MOST_UNITS];
  struct choice all[MOST_CHOICES];
  size_t count;
};

/* All that can follow once `ranges` of the units before `at` are chosen. */
static void add_choices(struct choices *c, size_t at, size_t ranges) {
  const struct spans *s = &c->subject->spans;
  if (at == s->units) {
    assert_true(c->count < MOST_CHOICES);
    struct choice *choice = &c->all[c->count++];
    choice->peak = peak_of(c->subject, c->ranges, ranges, &choice->macs);
    assert_int_equal(choice->peak, sum_of(c->subject, c->ranges, ranges));
    return;
  }
  add_choices(c, at + 1, ranges);
  for (size_t to = at + 1; to <= s->units; to++) {
    c->ranges[ranges] = (struct node_range){s->cut[at], s->cut[to]};
    if (span_at(s, at, to)->macs >= 0)
      add_choices(c, to, ranges + 1);
  }
}

enum { TEXT = 1200 };

/* `@` is the number. */
static void put(char *net, const char *pattern, size_t number) {
  size_t used = strlen(net);
  for (; *pattern; pattern++)
    used += (size_t)(*pattern == '@'
                         ? snprintf(net + used, TEXT - used, "%zu", number)
                         : snprintf(net + used, TEXT - used, "%c", *pattern));
  assert_true(used < TEXT);
}

/* A chain of a few layers and blocks, some of which are read further on. */
static const char *write_net(void) {
  static char net[TEXT];
  static const char *const layers[] = {
      "conv @ 3x3 pad\n",
      "conv @ 3x3 pad bn relu\n",
      "conv @ 1x1\ngelu\n",
      "conv @ 3x3 pad frozen\nrelu\n",
      "add { conv 8 3x3 pad silu; conv 8 1x1 } {}\nconv @ 1x1\n",
      "dropout 0.2\nconv @ 1x1 relu\n",
      "bn\nconv @ 3x3 pad\n",
      "concat { conv @ 1x1 } { conv 4 1x1 relu }\n",
      "conv @ 3x3 pad wnorm\nrelu\n",
      "conv @ 1x1\ncheckpoint { conv 16 1x1; gelu }\n"};
  size_t labels = 0;
  net[0] = '\0';
  put(net, "net a\ninput 8x8x8\n", 0);
  for (size_t i = 0, count = 1 + draw(3); i < count; i++) {
    if (draw(3) == 0)
      put(net, "d@: ", labels++);
    put(net, "conv 8 3x3 pad\nconv 8 1x1\n", 0);
    if (labels && draw(3) == 0) {
      size_t label = draw(labels); /* of arguments C leaves the order open */
      put(net, draw(2) ? "add d@\nconv 8 1x1\n" : "concat d@\nconv 8 1x1\n",
          label);
    }
    size_t width = (size_t)4 << draw(4);
    put(net, layers[draw(sizeof layers / sizeof *layers)], width);
  }
  put(net, "gap\nfc 10\n", 0);
  return net;
}

static struct netc *open_random(const char *net) {
  static const char *const words[][2] = {
      {"precision", "mixed"},  {"accumulate", "2"},
      {"optimizer", "adam"},   {"inplace", "off"},
      {"loss", "sum"},         {"loss", "crossentropy"},
      {"precision", "master"}, {"profile", "torch1-cpu"},
      {"saved_dtype", "i4"}};
  struct netc *netc = netc_open(NULL, NULL);
  size_t at = draw(2 * sizeof words / sizeof *words);
  char batch[12];
  snprintf(batch, sizeof batch, "%d", 1 + (int)draw(40));
  assert_int_equal(netc_set(netc, "batch", batch), NETC_OK);
  if (at < sizeof words / sizeof *words)
    assert_int_equal(netc_set(netc, words[at][0], words[at][1]), NETC_OK);
  assert_int_equal(netc_set(netc, "checkpoint", "auto"), NETC_OK);
  assert_int_equal(netc_set(netc, "memory", "80GiB"), NETC_OK);
  if (netc_load_text(netc, "a.net", net, strlen(net)) != NETC_OK)
    print_error("%s%s", net, netc_message(netc));
  return netc;
}

/* The same by few ways at first, so that what is ahead prunes the others. */
static void check_pruned(const struct subject *s, struct arena *scratch,
                         int64_t room, int64_t least) {
  const struct training *t = &s->spans.training;
  struct ways ways = {.spans = &s->spans,
                      .budget = room - (t->standing - t->paged),
                      .few = 2,
                      .arena = scratch};
  if (t->step > room)
    return;
  assert_int_equal(ways_find(&ways), least < INT64_MAX);
  if (least < INT64_MAX)
    assert_int_equal(ways.macs, least);
}

/* The choice within `room` bytes. */
static void check_choice(struct choices *c, const char *net, int64_t room) {
  struct arena scratch;
  struct peak_line line;
  struct subject *s = c->subject;
  struct step step = {.model = s->step.model, .settings = s->step.settings};
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < c->count; i++)
    if (c->all[i].peak <= room && c->all[i].macs < least)
      least = c->all[i].macs;
  arena_open_in(&scratch, &s->scratch);
  checkpoint_choose(&step, room, &scratch);
  int64_t peak = step_peak(&step, 0, &scratch, &line);
  check_pruned(s, &scratch, room, least);
  arena_close(&scratch);
  if (least == INT64_MAX)
    return; /* then the source's own are taken */
  if (peak > room || step.extra_macs != least)
    print_error("%s%lld bytes: %lld and %lld MACs again, not %lld\n", net,
                (long long)room, (long long)peak, (long long)step.extra_macs,
                (long long)least);
  assert_true(peak <= room);
  assert_int_equal(step.extra_macs, least);
}

/* The least peak of all choices. */
static int64_t find_choices(struct choices *c, struct subject *s) {
  int64_t least = INT64_MAX;
  c->subject = s;
  c->count = 0;
  add_choices(c, 0, 0);
  for (size_t i = 0; i < c->count; i++)
    least = c->all[i].peak < least ? c->all[i].peak : least;
  return least;
}

/* The same with another batch. */
static int64_t least_peak(struct choices *c, struct subject *s, int64_t batch) {
  struct subject other = {.step = s->step};
  arena_open_in(&other.scratch, &s->scratch);
  other.step.settings.batch = batch;
  open_spans(&other);
  int64_t least = find_choices(c, &other), own;
  struct step alone = {.model = s->step.model, .settings = other.step.settings};
  struct peak_line line;
  alone.settings.checkpoint = 0; /* but for those in the source */
  checkpoint_choose(&alone, 0, &other.scratch);
  own = step_peak(&alone, 0, &other.scratch, &line);
  arena_close(&other.scratch);
  return own < least ? own : least;
}

static void check_batch(struct choices *c, struct subject *s, const char *net,
                        int64_t room) {
  struct fit_tries known = {0};
  int64_t batch = fit_largest_batch(&s->step, room, &known, &s->scratch);
  int64_t fits = batch ? least_peak(c, s, batch) : 0;
  int64_t fails = least_peak(c, s, batch + 1);
  if (fits > room || fails <= room)
    print_error("%s%lld bytes: a batch of %lld\n", net, (long long)room,
                (long long)batch);
  assert_true(fits <= room);
  assert_true(fails > room);
}

static bool check_random(void) {
  static struct choices c;
  struct subject s;
  const char *net = write_net();
  if (!open_subject(&s, open_random(net)))
    fail_msg("%s", net);
  bool small = s.spans.units <= MOST_ALONE && !s.spans.fenced;
  if (small) {
    int64_t least = find_choices(&c, &s), most = c.all[0].peak;
    for (int64_t i = -1; i <= 12; i++)
      check_choice(&c, net, least + (most - least) * i / 12);
    if (s.spans.units < MOST_ALONE - 1)
      check_batch(&c, &s, net, (least + most) / 2);
  }
  close_subject(&s);
  return small;
}

static void no_choice_is_cheaper_and_no_batch_larger(void **state) {
  int checked = 0;
  (void)state;
  for (int i = 0; i < tenth(2000); i++)
    checked += check_random();
  assert_true(checked > 80);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spans_are_what_a_run_of_the_whole_finds),
      cmocka_unit_test(no_choice_is_cheaper_and_no_batch_larger),
  };
  return cmocka_run_group_tests_name("ways", tests, NULL, NULL);
}
