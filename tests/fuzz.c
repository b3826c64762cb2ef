/*
 * Fuzzing: any text may come in; whatever compiles must also survive every
 * back end, and its canonical form must be canonical. `make fuzz`.
 */
#include <stdlib.h>
#include <string.h>

#include "netc.h"

struct buffer {
  char *at;
  size_t length;
};

static bool collect(void *user, const char *bytes, size_t length) {
  struct buffer *buffer = user;
  buffer->at = realloc(buffer->at, buffer->length + length + 1);
  if (!buffer->at)
    abort();
  memcpy(buffer->at + buffer->length, bytes, length);
  buffer->length += length;
  return true;
}

static bool format(const char *text, size_t length, struct buffer *out) {
  struct netc *netc = netc_open(NULL, NULL);
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
static void choose(struct netc *netc, const uint8_t *data, size_t size) {
  static const char *const settings[][2] = {{"checkpoint", "auto"},
                                            {"checkpoint", "3"},
                                            {"memory", "1GiB"},
                                            {"memory", "70000"},
                                            {"pipeline", "2"},
                                            {"microbatches", "3"},
                                            {"tensor_parallel", "4"},
                                            {"data_parallel", "8"},
                                            {"zero", "3"},
                                            {"precision", "mixed"},
                                            {"loss", "crossentropy"},
                                            {"profile", "torch1-cpu"},
                                            {"batch", "7"},
                                            {"batch", "4611686018427387904"},
                                            {"decode", "100"},
                                            {"accumulate", "2"},
                                            {"fold", "off"},
                                            {"optimizer", "adam8bit"},
                                            {"dtype", "i4"}};
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ data[i]) * 16777619u;
  for (int i = 0; i < 3 && hash % 4; i++) {
    size_t at = hash / 4 % (sizeof settings / sizeof *settings);
    netc_set(netc, settings[at][0], settings[at][1]);
    hash = hash * 747796405u + 2891336453u;
  }
}

/* What is said of the text, in every style. */
static void render(struct netc *netc) {
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++)
    for (int style = NETC_STYLE_TEXT; style <= NETC_STYLE_JSON; style++) {
      struct buffer out = {0};
      netc_diagnostic_emit(netc, i, (enum netc_style)style, collect, &out);
      free(out.at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct netc_output_kind kind = {.size = sizeof kind};
  struct netc_options options = {.size = sizeof options, .explain = true};
  struct netc *netc = netc_open(NULL, NULL);
  const char *text = (const char *)data;
  choose(netc, data, size);
  netc_load_text(netc, "fuzz.net", text, size);
  render(netc);
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++) {
    struct buffer out = {0};
    if (netc_layer_count(netc) < 2000)
      netc_emit(netc, kind.name, &options, collect, &out);
    free(out.at);
  }
  netc_close(netc);
  check_format(text, size);
  return 0;
}
