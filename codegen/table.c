/* The table of back ends. A new one is a file and a row here. */
#include "codegen/backend.h"

static const struct backend backends[] = {
    {"txt", "report with every layer and the memory it takes", NEEDS_MODEL,
     false, emit_report},
    {"json", "the same for programs: docs/report.schema.json", NEEDS_MODEL,
     false, emit_json},
    {"csv", "a row for each layer", NEEDS_MODEL, false, emit_csv},
    {"md", "a table for documents", NEEDS_MODEL, false, emit_markdown},
    {"net", "the source with every loop and call written out", NEEDS_MODEL,
     false, emit_net},
    {"dot", "diagram of the shapes, for Graphviz", NEEDS_MODEL, false,
     emit_dot},
    {"fmt", "the source in canonical form", NEEDS_SYNTAX, true, emit_fmt},
    {"fmt-shapes", "the same with its marks written anew", NEEDS_SYNTAX, true,
     emit_fmt_shapes},
    {"tokens", "what the scanner sees", NEEDS_TEXT, true, dump_tokens},
    {"ast", "what the parser sees", NEEDS_TEXT, true, dump_ast},
    {"graph", "the nodes with their inputs", NEEDS_MODEL, true, dump_graph},
    {"shapes", "the nodes with their shapes", NEEDS_MODEL, true, dump_shapes},
    {"plan", "the arena, for `netc plan`", NEEDS_MODEL, true, dump_plan},
};

size_t backend_count(void) {
  return sizeof backends / sizeof *backends;
}

const struct backend *backend_at(size_t index) {
  return &backends[index];
}

const struct backend *backend_find(struct slice name) {
  for (size_t i = 0; i < backend_count(); i++)
    if (slice_is(name, backends[i].name))
      return &backends[i];
  return NULL;
}
