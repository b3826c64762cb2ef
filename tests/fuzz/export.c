/*
 * Fuzzing the way there and back: a net that can be written as ONNX is read
 * again, and what is read compiles.
 */
#include <stdio.h>

#include "base/guard.h"
#include "export/onnx.h"
#include "import/reader.h"
#include "tests/fuzz/fuzz.h"

struct trip {
  struct arena arena;
  struct netc *netc;
};

static void come_back(struct trip *trip, const struct buffer *file) {
  struct import_options options = {0};
  struct graph graph;
  struct imported result;
  struct slice bytes = {file->at, file->length};
  const struct import_reader *reader = import_reader_of(KIND_ONNX);
  graph_open(&graph, &trip->arena);
  if (!import_file(reader, bytes, "fuzz", &options, &graph, &result)) {
    if (graph.error.message.length == 0)
      abort(); /* a refusal says why: nothing may be left of the net */
    return;
  }
  struct netc *again = netc_open(NULL, NULL);
  struct slice text = text_slice(&result.source);
  if (netc_load_text(again, "again.net", text.at, text.length) != NETC_OK) {
    fprintf(stderr, "what was read does not compile:\n%.*s", (int)text.length,
            text.at);
    abort();
  }
  netc_close(again);
}

/* Weights have no values here: they lie beside the model. */
static void leave_out(void *user, size_t weight) {
  (void)user;
  (void)weight;
}

static void go(void *user) {
  struct trip *trip = user;
  const struct onnx_weights none = {.beside = "fuzz.data", .put = leave_out};
  struct text why = text_new(&trip->arena);
  struct onnx_model *model = onnx_build(trip->netc, 21, &trip->arena, &why);
  struct buffer file = {0};
  if (!model && why.length == 0)
    abort(); /* a refusal says why */
  if (!model)
    return;
  onnx_write(model, &none, collect, &file);
  come_back(trip, &file);
  free(file.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct trip trip = {.netc = netc_open(NULL, NULL)};
  struct arena *const arenas[GUARD_ARENAS] = {&trip.arena};
  arena_open(&trip.arena, NULL, NULL);
  if (netc_load_text(trip.netc, "fuzz.net", (const char *)data, size) ==
          NETC_OK &&
      netc_layer_count(trip.netc) < 500)
    guard_run(arenas, go, &trip);
  arena_close(&trip.arena);
  netc_close(trip.netc);
  return 0;
}
