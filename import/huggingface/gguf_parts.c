/*
 * A GGUF in several files, as llama-gguf-split writes them: the first has the
 * keys, and each has some of the tensors.
 */
#include <inttypes.h>

#include "import/huggingface/gguf.h"

enum { MOST_PARTS = 99999 }; /* five digits */

/* 0: it does not say it. */
static int64_t number_of(const struct gguf *gguf, const char *key) {
  const struct gguf_value *value = gguf_find(gguf, key);
  return value && value->kind == GGUF_INTEGER ? value->integer : 0;
}

/* The end of a part's name (llama_split_path of src/llama.cpp). */
static const char *ending(struct gguf_facts *g, int64_t part, int64_t count) {
  return graph_text(g->graph, "-%05" PRId64 "-of-%05" PRId64 ".gguf", part,
                    count);
}

/* The path of another part, or NULL. */
static const char *path_of(struct gguf_facts *g, const char *path, int64_t from,
                           int64_t to, int64_t count) {
  struct slice name = slice_of(path ? path : "");
  const char *end = ending(g, from, count);
  if (!slice_ends(name, end))
    return NULL;
  name = slice_less(name, strlen(end));
  return graph_text(g->graph, "%.*s%s", SLICE_ARG(name), ending(g, to, count));
}

static bool is_gguf(struct byte_store *store) {
  char magic[4];
  return byte_store_read(store, 0, magic, 4) && memcmp(magic, "GGUF", 4) == 0;
}

static bool add_part(struct gguf_facts *g, const char *path, int64_t part,
                     int64_t count, struct tensor_file *file) {
  struct arena *arena = g->graph->arena;
  struct gguf gguf;
  if (!byte_store_open(&file->store, path)) {
    graph_fail(g->graph, 0,
               "part %" PRId64 " of %" PRId64 ", `%s`, cannot be read: %s",
               part, count, path, file->store.fault);
    return graph_help(g->graph, "all parts belong in one folder");
  }
  if (!is_gguf(&file->store))
    return graph_fail(g->graph, 0, "part `%s` is not a GGUF", path);
  if (!gguf_read_keys(file, arena, &gguf))
    return graph_fail(g->graph, 0, "part `%s`: %s", path, file->fault);
  if (number_of(&gguf, "split.no") != part - 1 ||
      number_of(&gguf, "split.count") != count)
    return graph_fail(g->graph, 0,
                      "part `%s` says that it is part %" PRId64 " of %" PRId64,
                      path, number_of(&gguf, "split.no") + 1,
                      number_of(&gguf, "split.count"));
  for (size_t i = 0; i < file->tensors.count; i++)
    *VEC_PUSH(arena, &g->file.tensors) = file->tensors.at[i];
  return true;
}

/* The file is not the first part, or the others have no known names. */
static bool lacks_others(struct gguf_facts *g, const char *path, int64_t part,
                         int64_t count) {
  const char *first = path_of(g, path, part, 1, count);
  if (part > 1) {
    graph_fail(g->graph, 0, "it is part %" PRId64 " of %" PRId64, part, count);
    return graph_help(g->graph, "give the first part, `%s`",
                      first ? first : ending(g, 1, count));
  }
  graph_fail(g->graph, 0,
             "it is the first of %" PRId64 " parts, and the others cannot be "
             "found",
             count);
  return graph_help(g->graph, "give a file whose name ends in `%s`",
                    ending(g, 1, count));
}

bool gguf_read_parts(struct gguf_facts *g, const char *path) {
  int64_t count = number_of(&g->gguf, "split.count");
  int64_t part = number_of(&g->gguf, "split.no") + 1;
  const struct gguf_value *all = gguf_find(&g->gguf, "split.tensors.count");
  bool right = true;
  if (count < 2)
    return true;
  if (count > MOST_PARTS || part < 1 || part > count)
    return graph_fail(g->graph, 0,
                      "`split.no` is %" PRId64 " and `split.count` %" PRId64
                      ": there is no such part",
                      part - 1, count);
  if (part > 1 || !path_of(g, path, 1, 1, count))
    return lacks_others(g, path, part, count);
  for (int64_t i = 2; right && i <= count; i++) {
    struct tensor_file file = {.store = byte_store_of((struct slice){"", 0})};
    right = add_part(g, path_of(g, path, 1, i, count), i, count, &file);
    tensors_close(&file);
  }
  if (right && all && all->kind == GGUF_INTEGER &&
      (all->integer < 0 || (uint64_t)all->integer != g->file.tensors.count))
    return graph_fail(g->graph, 0,
                      "its parts have %zu tensors, and `split.tensors.count` "
                      "is %" PRId64,
                      g->file.tensors.count, all->integer);
  return right;
}
