/* Folders as operands: finds the model file in one. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "driver/opening.h"

/* Files that mark a folder as a model, with any other files. */
static const struct model_mark {
  const char *name;
  enum file_kind_id kind; /* refused as this kind; KIND_COUNT: by its bytes */
} marks[] = {{"saved_model.pb", KIND_SAVED_MODEL},
             {"Manifest.json", KIND_COREML},
             {"adapter_config.json", KIND_COUNT},
             {"config.json", KIND_COUNT},
             {"open_clip_config.json", KIND_COUNT},
             {"params.json", KIND_COUNT},
             {"model.json", KIND_COUNT},
             {"model.safetensors.index.json", KIND_COUNT}};

static const char pipeline[] = "model_index.json";

enum { MOST_LISTED = 8 };

struct model_folder {
  struct opened_file *opening;
  const char *path;
  VEC(const char *) names; /* of possible model files */
};

static const char *path_in(const struct model_folder *f, const char *name) {
  struct text path = text_new(&f->opening->arena);
  bool ends = slice_ends(slice_of(f->path), "/");
  text_printf(&path, "%s%s%s", f->path, ends ? "" : "/", name);
  return text_string(&path);
}

bool opening_is_folder(const char *path) {
  struct stat is;
  return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

/* True if the suffix belongs to a kind, and the bytes to a kind that is
 * read. */
static bool may_be_meant(const struct model_folder *f, const char *name) {
  struct slice none = {"", 0};
  enum file_kind_id kind = file_kind_of(name, none);
  if (*name == '.' || kind == KIND_COUNT)
    return false;
  kind = opening_kind(path_in(f, name));
  return kind != KIND_COUNT &&
         kind != KIND_TORCH_SOURCE && /* most are programs */
         (file_kind(kind)->read || file_kind(kind)->tensors);
}

static int by_name(const void *a, const void *b) {
  const char *const *x = a, *const *y = b;
  return strcmp(*x, *y);
}

/* A program that has a net. */
static bool is_module(const struct model_folder *f, const char *name) {
  return slice_ends(slice_of(name), ".py") &&
         opening_kind(path_in(f, name)) == KIND_TORCH_SOURCE;
}

typedef bool listed_fn(const struct model_folder *f, const char *name);

static void list(struct model_folder *f, listed_fn *is_listed) {
  struct arena *arena = &f->opening->arena;
  DIR *entries = opendir(f->path);
  for (struct dirent *entry; entries && (entry = readdir(entries));)
    if (is_listed(f, entry->d_name))
      *VEC_PUSH(arena, &f->names) =
          arena_copy(arena, entry->d_name, strlen(entry->d_name));
  if (entries)
    closedir(entries);
  if (f->names.count)
    qsort(f->names.at, f->names.count, sizeof *f->names.at, by_name);
}

static int take(struct model_folder *f, const char *name) {
  f->opening->path = path_in(f, name);
  say_note(f->path, NULL, "it is a folder; netc reads %s in it", name);
  return EXIT_DONE;
}

static int refuse(struct model_folder *f) {
  struct text names = text_new(&f->opening->arena);
  size_t count = f->names.count, i = 0;
  for (; i < count && i < MOST_LISTED; i++)
    text_printf(&names, "%s%s", i ? ", " : "", f->names.at[i]);
  if (i < count)
    text_printf(&names, " and %zu others", count - i);
  return complain(EXIT_IO,
                  "cannot read %s: it is a folder with %s; did you "
                  "mean `netc %s`?",
                  f->path, text_string(&names),
                  shell_word("%s", path_in(f, f->names.at[0])).text);
}

/* The folder of "FOLDER/model_index.json"; NULL: it is another file. */
static const char *pipeline_folder(struct model_folder *f) {
  const char *slash = strrchr(f->path, '/');
  if (opening_is_folder(f->path))
    return file_identify(path_in(f, pipeline)).known ? f->path : NULL;
  if (strcmp(slash ? slash + 1 : f->path, pipeline) != 0 ||
      !file_identify(f->path).known)
    return NULL;
  return slash ? arena_copy(&f->opening->arena, f->path,
                            (size_t)(slash - f->path) + (slash == f->path))
               : ".";
}

int opening_in_folder(struct opened_file *opening) {
  struct model_folder f = {.opening = opening, .path = opening->path};
  if (strcmp(f.path, "-") == 0)
    return EXIT_DONE;
  const char *folder = pipeline_folder(&f);
  if (folder)
    return opening_pipeline(opening, folder);
  if (!opening_is_folder(f.path))
    return EXIT_DONE;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    if (!file_identify(path_in(&f, marks[i].name)).known)
      continue;
    return marks[i].kind == KIND_COUNT
               ? take(&f, marks[i].name)
               : opening_refuse_file(f.path, marks[i].kind, "");
  }
  list(&f, may_be_meant);
  if (!f.names.count) {
    list(&f, is_module);
    if (f.names.count > 1 && is_module(&f, "__init__.py"))
      return take(&f, "__init__.py");
  }
  if (f.names.count > 1)
    return refuse(&f);
  if (f.names.count)
    return take(&f, f.names.at[0]);
  return complain_of(EXIT_IO, f.path,
                     "give netc a file, or a folder with config.json, "
                     "model_index.json, adapter_config.json or one model file",
                     "it is a folder without a model that netc reads");
}
