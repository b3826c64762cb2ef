/* Variants: a net at one place of a space, compiled and measured. */
#include "driver/search/variant.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"

const char *const figure_names[FIGURE_COUNT] = {
    [FIGURE_PARAMS] = "params",  [FIGURE_MACS] = "macs",
    [FIGURE_INFER] = "infer",    [FIGURE_TRAIN] = "train",
    [FIGURE_ARENA] = "arena",    [FIGURE_WEIGHTS] = "weights",
    [FIGURE_SECONDS] = "seconds"};

static enum netc_status load(struct bench *bench) {
  const struct opened_file *opened = &bench->options->opening;
  bench->compiled++;
  return netc_load_text(bench->netc, input_name(opened->path), opened->text.at,
                        opened->text.length);
}

/* The rank of an input, or of the only one if `name` is ""; 0: none. */
static int rank_of(struct netc *netc, const char *name) {
  struct netc_end end = {.size = sizeof end};
  struct netc_layer layer = {.size = sizeof layer};
  for (size_t i = 0; netc_input(netc, i, &end) == NETC_OK; i++)
    if ((!*name || strcmp(end.name, name) == 0) &&
        netc_layer(netc, (size_t)end.layer, &layer) == NETC_OK)
      return layer.out.rank;
  return 0;
}

static int find_ranks(struct bench *bench, struct space *space) {
  for (size_t i = 0; i < space->count; i++) {
    struct axis *axis = &space->axes[i];
    if (axis->kind != AXIS_INPUT)
      continue;
    axis->rank = rank_of(bench->netc, axis->target);
    if (axis->rank == 0)
      return complain(EXIT_USAGE, "%s has no input `%s`",
                      bench->options->files.at[0], axis->target);
  }
  return EXIT_DONE;
}

int bench_open(struct bench *bench, struct net_options *options,
               struct space *space) {
  enum netc_status loaded;
  bool parsed; /* other errors may depend on the free values */
  const char *file = options->files.at[0];
  *bench =
      (struct bench){.netc = options->netc, .options = options, .space = space};
  if (options->files.count > 1)
    return complain(EXIT_USAGE, "one net at a time: `%s` and `%s`", file,
                    options->files.at[1]);
  if (net_options_single(options) != EXIT_DONE)
    return EXIT_USAGE;
  netc_mode(options->netc, NETC_FOR_FIT);
  netc_partial(options->netc, true);
  int status = net_options_try(options, options->netc, file, &loaded);
  if (status == EXIT_DONE && loaded != NETC_OK && loaded != NETC_ERROR)
    status = exit_status_of(options->netc, loaded);
  if (status == EXIT_DONE)
    status = find_ranks(bench, space);
  if (status == EXIT_DONE && loaded == NETC_ERROR &&
      netc_param_grows(options->netc, "", &parsed) != NETC_OK) {
    show_diagnostics(options->netc, options->style);
    status = EXIT_SOURCE;
  }
  netc_partial(options->netc, false);
  return status;
}

/* 160 is 160x160x_ for an image, 160x_ for a sequence; full sizes stay. */
static void put_sizes(const struct axis *axis, const char *side, char *to,
                      size_t room) {
  size_t used = 0;
  if (axis->rank < 2 || strchr(side, 'x')) {
    snprintf(to, room, "%s", side);
    return;
  }
  for (int i = 1; i < axis->rank && used < room; i++)
    used += (size_t)snprintf(to + used, room - used, "%sx",
                             axis->rank > 3 && i == 1 ? "_" : side);
  if (used < room)
    snprintf(to + used, room - used, "_");
}

static enum netc_status set_axis(struct bench *bench, const struct axis *axis,
                                 int64_t place) {
  char value[AXIS_VALUE], sizes[4 * AXIS_VALUE];
  axis_value(axis, place, value, sizeof value);
  if (axis->kind == AXIS_PARAM)
    return netc_define(bench->netc, axis->name, value);
  if (axis->kind == AXIS_SETTING)
    return netc_set(bench->netc, axis->name, value);
  put_sizes(axis, value, sizes, sizeof sizes);
  return netc_input_sizes(bench->netc, axis->target, sizes);
}

static int set_places(struct bench *bench, const int64_t *places) {
  char value[AXIS_VALUE];
  for (size_t i = 0; i < bench->space->count; i++) {
    const struct axis *axis = &bench->space->axes[i];
    if (bench->set && bench->places[i] == places[i])
      continue;
    if (set_axis(bench, axis, places[i]) != NETC_OK) {
      axis_value(axis, places[i], value, sizeof value);
      return complain(EXIT_USAGE, "%s=%s: %s", axis->name, value,
                      netc_message(bench->netc));
    }
    bench->places[i] = places[i];
  }
  bench->set = true;
  return EXIT_DONE;
}

/* At least 1, as 0 means no figure. */
static int64_t nanoseconds(double seconds) {
  double value = seconds * 1e9 + 0.5;
  return value >= 9e18 ? INT64_MAX : value < 1 ? 1 : (int64_t)value;
}

static void read_answer(struct bench *bench, struct measured_net *v) {
  struct netc_answer a = {.size = sizeof a};
  for (int i = ANSWER_BYTES; i < ANSWER_END; i++)
    v->at[i] = -1;
  if (!bench->predict || netc_answer(bench->netc, true, &a) != NETC_OK)
    return;
  v->verdict = a.on_device ? a.verdict : "";
  v->at[ANSWER_BYTES] = a.bytes == INT64_MAX ? -1 : a.bytes;
  v->at[ANSWER_HOST] = a.host_bytes;
  v->at[ANSWER_CONTEXT] = a.longest_context;
  v->at[ANSWER_SEQUENCES] = a.most_sequences;
  v->at[ANSWER_RAM] = a.ram_bytes;
  v->at[ANSWER_FLASH] = a.flash_bytes;
}

static void read_figures(struct bench *bench, struct measured_net *v) {
  struct netc *netc = bench->netc;
  struct netc_totals totals = {.size = sizeof totals};
  struct netc_inference inference = {.size = sizeof inference};
  struct netc_training training = {.size = sizeof training};
  struct netc_verdict verdict = {.size = sizeof verdict};
  struct netc_time time = {.size = sizeof time};
  netc_totals(netc, &totals);
  netc_inference(netc, &inference);
  netc_training(netc, &training);
  netc_verdict(netc, &verdict);
  v->at[FIGURE_PARAMS] = totals.param_count;
  v->at[FIGURE_MACS] = totals.mac_count;
  v->at[FIGURE_TRAIN] = training.peak_bytes;
  v->at[FIGURE_ARENA] = inference.arena_bytes;
  v->at[FIGURE_WEIGHTS] = inference.weight_bytes;
  int64_t *infer = &v->at[FIGURE_INFER]; /* as in a budget */
  if (!add_i64(inference.weight_bytes, inference.arena_bytes, infer) ||
      !add_i64(*infer, inference.cache_bytes, infer))
    *infer = INT64_MAX;
  v->arena_bound = inference.lower_bound_bytes;
  v->verdict = verdict.asked ? verdict.verdict : "";
  if (verdict.asked && !bench->predict && netc_time(netc, &time) == NETC_OK)
    v->at[FIGURE_SECONDS] = nanoseconds(time.bound_seconds);
  read_answer(bench, v);
}

/* A variant that only exceeds its budget keeps its figures. */
static enum variant_state state_of(struct bench *bench,
                                   struct measured_net *v) {
  struct netc_diagnostic d = {.size = sizeof d};
  struct netc_totals totals = {.size = sizeof totals};
  for (size_t i = 0; netc_diagnostic(bench->netc, i, &d) == NETC_OK; i++) {
    bool over = strcmp(d.slug, "over-budget") == 0;
    if (d.severity != NETC_SEVERITY_ERROR || (over && *v->why))
      continue;
    if (over || !d.place.line)
      snprintf(v->why, sizeof v->why, "%s", d.message);
    else
      snprintf(v->why, sizeof v->why, "%s:%" PRIu32 ":%" PRIu32 ": %s",
               d.place.file, d.place.line, d.place.column, d.message);
    if (!over)
      return VARIANT_WRONG;
  }
  return netc_totals(bench->netc, &totals) == NETC_OK ? VARIANT_OVER
                                                      : VARIANT_WRONG;
}

int bench_measure(struct bench *bench, const int64_t *places,
                  struct measured_net *variant) {
  *variant = (struct measured_net){.verdict = ""};
  int status = set_places(bench, places);
  if (status != EXIT_DONE)
    return status;
  enum netc_status loaded = load(bench);
  if (loaded != NETC_OK && loaded != NETC_ERROR)
    return exit_status_of(bench->netc, loaded);
  if (loaded == NETC_ERROR)
    variant->state = state_of(bench, variant);
  if (variant->state != VARIANT_WRONG)
    read_figures(bench, variant);
  return EXIT_DONE;
}
