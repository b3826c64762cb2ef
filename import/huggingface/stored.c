/* What lies beside a config.json: safetensors, or the index of many. */
#define _GNU_SOURCE /* memmem */
#include <dirent.h>
#include <stdlib.h>

#include "base/file.h"
#include "import/huggingface/huggingface.h"
#include "import/tensors/tensors.h"

/* Names of files begin so: transformers, diffusers. */
static const char *const stems[] = {"model", "diffusion_pytorch_model"};

static const char *path_in(struct graph *graph, const char *folder,
                           const char *name) {
  return graph_text(graph, "%s/%s", folder, name);
}

bool stored_is_inside(struct arena *arena, const char *folder,
                      const char *path) {
  static const char snapshots[] = "/snapshots/";
  struct slice base;
  struct text blobs = text_new(arena);
  if (file_is_inside(arena, folder, path))
    return true;
  const char *cut =
      file_real(arena, folder, &base)
          ? memmem(base.at, base.length, snapshots, sizeof snapshots - 1)
          : NULL;
  if (!cut)
    return false;
  text_printf(&blobs, "%.*s/blobs", (int)(cut - base.at), base.at);
  return file_is_inside(arena, text_string(&blobs), path);
}

/* Files that are compared with a net are those of its folder. */
static bool may_read(struct graph *graph, const char *folder,
                     const char *name) {
  if (stored_is_inside(graph->arena, folder, path_in(graph, folder, name)))
    return true;
  graph_note(graph, "%s is a link out of the folder: it is not compared", name);
  return false;
}

/* Rotations and positions, which some files hold. */
static bool is_computed(struct slice name) {
#define BUFFER(end)          \
  if (slice_ends(name, end)) \
    return true;
#include "import/huggingface/huggingface.def"
  return false;
}

/* What follows of names: "model.layers.60.mlp" of the last layer. */
static void note_name(struct stored *stored, struct arena *arena,
                      struct slice name) {
  static const char layers[] = ".layers.";
  static const char *const scales[] = {".weight_scale", ".weight_scale_inv",
                                       ".weight_packed", ".qweight"};
  const char *at = memmem(name.at, name.length, layers, sizeof layers - 1);
  int64_t layer = at ? strtol(at + sizeof layers - 1, NULL, 10) : -1;
  stored->computed += is_computed(name);
  stored->formats += slice_ends(name, ".weight_format");
  stored->last = layer > stored->last ? layer : stored->last;
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
    if (slice_ends(name, scales[i]))
      *VEC_PUSH(arena, &stored->scaled) = slice_less(name, strlen(scales[i]));
}

static bool read_index(struct stored *stored, struct graph *graph,
                       const char *index_name, struct slice text) {
  static const char map[] = "weight_map_";
  struct facts facts;
  if (!facts_read_json(&facts, graph, text)) {
    graph->error.message = slice_of(graph_text(
        graph, "%s: %.*s", index_name, SLICE_ARG(graph->error.message)));
    graph->error.line = graph->error.column = 0;
    return false;
  }
  const struct fact *total = fact_of(&facts, "metadata_total_size");
  if (total && total->kind == FACT_INT && total->integer > 0)
    stored->bytes = total->integer;
  for (size_t i = 0; i < facts.all.count; i++) {
    struct slice name = facts.all.at[i].name;
    note_name(stored, graph->arena,
              slice_begins(name, map) ? slice_from(name, sizeof map - 1)
                                      : name);
  }
  stored->output = fact_of(&facts, "weight_map_lm_head.weight");
  stored->name = index_name;
  return true;
}

/* netc's word for a type of safetensors; NULL: it has none. */
static const char *dtype_of(enum value_type type) {
  switch (type) {
  case VALUE_F64: return "f64";
  case VALUE_F32: return "f32";
  case VALUE_F16: return "f16";
  case VALUE_BF16: return "bf16";
  default: return NULL;
  }
}

static bool read_tensors(struct stored *stored, struct graph *graph,
                         const char *folder, const char *name, uint64_t *most) {
  struct tensor_file file;
  bool right = tensors_open(&file, path_in(graph, folder, name), graph->arena);
  if (!right)
    graph_fail(graph, 0, "%s: %s", name, file.fault);
  for (size_t i = 0; right && i < file.tensors.count; i++) {
    const struct stored_tensor *t = &file.tensors.at[i];
    note_name(stored, graph->arena,
              slice_of(arena_copy(graph->arena, t->name, strlen(t->name))));
    if (is_computed(slice_of(t->name)))
      continue;
    stored->output |= strcmp(t->name, "lm_head.weight") == 0;
    stored->values += t->count;
    stored->bytes += (int64_t)t->bytes;
    if (t->bytes > *most) {
      *most = t->bytes;
      stored->dtype = dtype_of(t->type);
    }
  }
  tensors_close(&file);
  return right;
}

static int by_name(const void *a, const void *b) {
  const char *const *x = a, *const *y = b;
  return strcmp(*x, *y);
}

/*
 * model.safetensors or the model-00001-of-00002.safetensors of a folder: other
 * files have the same tensors once more.
 */
static bool read_files(struct stored *stored, struct graph *graph,
                       const char *folder, const char *stem) {
  const char *only = graph_text(graph, "%s.safetensors", stem);
  VEC(const char *) names = {0};
  uint64_t most = 0;
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    struct slice name = slice_of(entry->d_name);
    if (slice_begins(name, stem) && slice_ends(name, ".safetensors") &&
        may_read(graph, folder, name.at))
      *VEC_PUSH(graph->arena, &names) =
          arena_copy(graph->arena, name.at, name.length);
  }
  if (entries)
    closedir(entries);
  if (names.count)
    qsort(names.at, names.count, sizeof *names.at, by_name);
  for (size_t i = 0; i < names.count; i++) {
    bool whole = strcmp(names.at[i], only) == 0;
    if (whole)
      *stored = (struct stored){.last = -1};
    if (!read_tensors(stored, graph, folder, names.at[i], &most))
      return false;
    stored->name = names.count > 1 && !whole ? "*.safetensors" : names.at[i];
    if (whole)
      return true;
  }
  return true;
}

static bool read_stem(struct stored *stored, struct graph *graph,
                      const char *folder, const char *stem) {
  struct slice text;
  const char *index = graph_text(graph, "%s.safetensors.index.json", stem);
  const char *path = path_in(graph, folder, index);
  if (file_identify(path).known && !may_read(graph, folder, index))
    return true;
  enum file_status status = file_read(graph->arena, path, &text);
  if (status == FILE_OK)
    return read_index(stored, graph, index, text);
  if (status != FILE_ABSENT)
    return graph_fail(graph, 0, "cannot read %s", index);
  return read_files(stored, graph, folder, stem);
}

bool stored_read(struct stored *stored, struct graph *graph,
                 const char *folder) {
  *stored = (struct stored){.last = -1};
  for (size_t i = 0; folder && i < sizeof stems / sizeof *stems; i++)
    if (stored->name == NULL && !read_stem(stored, graph, folder, stems[i]))
      return false;
  return true;
}
