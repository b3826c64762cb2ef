/* Archives of torch.export: the program's JSON, and where values lie. */
#include <string.h>

#include "import/exported/exported.h"
#include "import/tensors/tensors.h"

/* Both layouts name the JSON by its end: "serialized_exported_program.json",
 * or "models/model.json" below a folder of the archive's name. */
static const struct zip_member *find_json(const struct zip *zip) {
  const struct zip_member *m =
      zip_find_end(zip, "serialized_exported_program.json");
  for (size_t i = 0; !m && i < zip->members.count; i++) {
    struct slice name = slice_of(zip->members.at[i].name);
    if (slice_ends(name, ".json") &&
        (strstr(name.at, "/models/") || slice_begins(name, "models/")))
      m = &zip->members.at[i];
  }
  return m;
}

static void keep(struct exported *p, const char *name, uint64_t at,
                 uint64_t bytes) {
  struct exported_stored *stored =
      ARENA_NEW(p->graph->arena, struct exported_stored);
  *stored = (struct exported_stored){at, bytes};
  map_add(p->graph->arena, &p->stored,
          slice_of(arena_copy(p->graph->arena, name, strlen(name))))
      ->pointer = stored;
}

/* 2.6: an archive of torch.save in this one. Its tensors have their places in
 * the file if nothing is packed. */
static void find_saved(struct exported *p, const char *end) {
  const struct zip_member *m = zip_find_end(&p->zip, end);
  struct tensor_file file = {.unread = false};
  if (!m || m->method != 0 ||
      !zip_member_store(&p->zip, m, false, p->graph->arena, &file.store) ||
      !torch_read_zip(&file, p->graph->arena))
    return;
  for (size_t i = 0; i < file.tensors.count; i++) {
    const struct stored_tensor *t = &file.tensors.at[i];
    if (!t->packed && !t->strides)
      keep(p, t->name, m->at + t->at, t->bytes);
  }
}

/* From 2.8 on: plain bytes, and a list of the tensors' files. */
static bool find_plain(struct exported *p, const char *list_end,
                       const char *folder) {
  const struct zip_member *m = zip_find_end(&p->zip, list_end);
  struct slice text;
  if (!m)
    return true;
  if (!zip_read(&p->zip, m, p->graph->arena, &text))
    return graph_fail(p->graph, 0, "%s", p->zip.fault);
  json_t *list = json_loadb(text.at, text.length, 0, NULL);
  const char *name;
  json_t *about;
  json_object_foreach(json_object_get(list, "config"), name, about) {
    const char *path = json_string_value(json_object_get(about, "path_name"));
    bool pickled = json_is_true(json_object_get(about, "use_pickle"));
    const struct zip_member *values =
        path && !pickled
            ? zip_find_end(&p->zip, graph_text(p->graph, "%s%s", folder, path))
            : NULL;
    if (values && values->method == 0)
      keep(p, name, values->at, values->size);
  }
  json_decref(list);
  return true;
}

static bool parse(struct exported *p, const char *name, struct slice text) {
  json_error_t error;
  p->root = json_loadb(text.at, text.length, JSON_ALLOW_NUL, &error);
  return p->root ||
         graph_fail(p->graph, (size_t)(error.line > 0 ? error.line : 1),
                    "%s is not JSON: %s", name, error.text);
}

bool exported_open(struct exported *p, struct byte_store *store) {
  struct slice text;
  if (!zip_open(&p->zip, store, p->graph->arena))
    return graph_fail(p->graph, 0, "%s", p->zip.fault);
  const struct zip_member *m = find_json(&p->zip);
  if (!m)
    return graph_fail(p->graph, 0,
                      "the archive has no program of "
                      "torch.export in JSON");
  if (!zip_read(&p->zip, m, p->graph->arena, &text))
    return graph_fail(p->graph, 0, "%s", p->zip.fault);
  if (!parse(p, "the program in it", text))
    return false;
  find_saved(p, "serialized_state_dict.pt");
  find_saved(p, "serialized_constants.pt");
  return find_plain(p, "data/weights/model_weights_config.json",
                    "data/weights/") &&
         find_plain(p, "data/constants/model_constants_config.json",
                    "data/constants/");
}

bool exported_parse(struct exported *p, struct slice text) {
  return parse(p, "it", text);
}
