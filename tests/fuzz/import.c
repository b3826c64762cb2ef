/*
 * Fuzzing the readers of foreign files: any bytes may come in; what a reader
 * takes has to become a source that compiles or is refused, and never a crash.
 */
#include "tests/fuzz/fuzz.h"

#include "base/guard.h"
#include "import/reader.h"

struct attempt {
  struct arena arena;
  struct slice file;
  const struct import_reader *reader;
  struct import_options options;
  struct import_input input; /* PyTorch's source has no sizes */
};

static void try(void *user) {
  struct attempt *a = user;
  struct graph graph;
  struct imported result;
  graph_open(&graph, &a->arena);
  if (!import_file(a->reader, a->file, "fuzz", &a->options, &graph, &result)) {
    if (graph.error.message.length == 0)
      abort(); /* a refusal says why */
    return;
  }
  struct netc *netc = netc_open(NULL, NULL);
  struct slice text = text_slice(&result.source);
  netc_load_text(netc, "fuzz.net", text.at, text.length);
  netc_close(netc);
}

/* The reader that READER names, else the one of that number. */
static const struct import_reader *reader_of(uint8_t number) {
  const char *name = getenv("READER");
  for (size_t i = 0; name && i < import_reader_count(); i++)
    if (strcmp(import_reader_at(i)->name, name) == 0)
      return import_reader_at(i);
  return import_reader_at((number & 31) % import_reader_count());
}

/* The first byte chooses the reader and the options. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct attempt a = {.file = {(const char *)data + 1, size - 1}};
  struct arena *const arenas[GUARD_ARENAS] = {&a.arena};
  if (size == 0)
    return 0;
  a.reader = reader_of(data[0]);
  a.options.weights = data[0] & 32;
  a.options.templates = "examples";
  a.options.flat = data[0] & 64;
  a.options.allow_unknown = data[0] & 128;
  a.input.shape = (struct graph_shape){3, {32, 32, 3}};
  a.options.inputs = &a.input;
  a.options.input_count =
      a.options.allow_unknown && a.reader->kind == KIND_TORCH_SOURCE;
  arena_open(&a.arena, NULL, NULL);
  guard_run(arenas, try, &a);
  arena_close(&a.arena);
  return 0;
}

#ifdef FUZZ_ONNX
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
                               unsigned seed) {
  if (size > 1 && seed % 2 && strcmp(reader_of(data[0])->name, "ONNX") == 0) {
    size_t changed = fuzz_onnx(data + 1, size - 1, room - 1, seed);
    if (changed)
      return changed + 1;
  }
  return LLVMFuzzerMutate(data, size, room);
}
#endif
