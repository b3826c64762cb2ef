/*
 * Fuzzing: any text may come in; whatever compiles must also survive the back
 * ends, and its canonical form must be canonical. `make fuzz`.
 */
#include "tests/fuzz/fuzz.h"

/* A third of the back ends a text, chosen by its hash: a run is as long as
   what it writes, and many texts find more than much of one. */
enum { MOST_LAYERS = 300, PARTS = 3 };

static bool format(const char *text, size_t length, struct buffer *out) {
  struct netc *netc = netc_open(NULL, NULL);
  netc_on_progress(netc, few_steps, NULL);
  netc_load_text(netc, "fuzz.net", text, length);
  bool done = netc_emit(netc, "fmt", NULL, collect, out) == NETC_OK;
  netc_close(netc);
  return done;
}

static void check_format(const char *text, size_t length) {
  struct buffer once = {0}, twice = {0};
  if (format(text, length, &once)) {
    if (!format(once.at, once.length, &twice) || once.length != twice.length ||
        (once.length && memcmp(once.at, twice.at, once.length) != 0))
      abort(); /* formatting must settle at once */
  }
  free(once.at);
  free(twice.at);
}

/* Settings by a hash of the text, so that a crash repeats itself. */
static uint32_t choose(struct netc *netc, const uint8_t *data, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ data[i]) * 16777619u;
  for (int i = 0; i < 3 && hash % 4; i++) {
    const struct fuzz_setting *s =
        &fuzz_settings[hash / 4 % fuzz_setting_count];
    netc_set(netc, s->key, s->value);
    hash = hash * 747796405u + 2891336453u;
  }
  return hash;
}

/* Diagnostics of the text, in every style. */
static void render(struct netc *netc) {
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++)
    for (int style = NETC_STYLE_TEXT; style <= NETC_STYLE_JSON; style++) {
      struct buffer out = {0};
      netc_diagnostic_emit(netc, i, (enum netc_style)style, collect, &out);
      free(out.at);
    }
}

/* They lie in the text; after an error they may be there as well. */
static void read_layers(struct netc *netc, size_t size) {
  for (size_t i = 0; i < netc_layer_count(netc) && i < MOST_LAYERS; i++) {
    struct netc_layer layer = {.size = sizeof layer};
    if (netc_layer(netc, i, &layer) != NETC_OK)
      return; /* out of memory */
    if (layer.place.begin > layer.place.end || layer.place.end > size)
      abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct netc_output_kind kind = {.size = sizeof kind};
  static const int64_t widths[] = {0, 2400, 5000, NETC_LEAST_WIDTH};
  struct netc_options options = {.size = sizeof options, .explain = true};
  struct netc *netc = netc_open(NULL, NULL);
  const char *text = (const char *)data;
  size_t first = choose(netc, data, size) >> 8;
  netc_on_progress(netc, few_steps, NULL);
  netc_partial(netc, first & 1);
  netc_load_text(netc, "fuzz.net", text, size);
  render(netc);
  read_layers(netc, size);
  options.source_labels = first >> 1 & 1;
  options.direction = first >> 2 & 1 ? NETC_RIGHT : NETC_DOWN;
  options.unfold = first >> 3 & 1;
  options.picture_width = widths[first >> 4 & 3];
  options.picture_height = widths[first >> 6 & 3];
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++) {
    struct buffer out = {0};
    if (netc_layer_count(netc) < MOST_LAYERS && (i + first) % PARTS == 0)
      netc_emit(netc, kind.name, &options, collect, &out);
    free(out.at);
  }
  netc_close(netc);
  check_format(text, size);
  return 0;
}
