/* Opening: identifies an operand, and finds or makes its source. */
#include "driver/opening.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/limits.h"
#include "driver/zoo.h"
#include "import/bytes/gzip.h"

struct opening_run {
  struct opened_file *opening;
  int status;
};

/* A path quoted for a shell, or escaped inside Python's quotes. */
static void put_path(struct text *text, const char *path) {
  if (!text->length || text->at[text->length - 1] != '"') {
    struct shell_word word = shell_word("%s", path);
    text_put(text, word.text);
    return;
  }
  for (; *path; path++)
    text_printf(text, strchr("\"\\", *path) ? "\\%c" : "%c", *path);
}

/* The folder of a file, or a folder itself. */
static const char *folder_of(struct arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  if (strcmp(path, "-") == 0)
    return "FOLDER";
  if (opening_is_folder(path))
    return path;
  return slash
             ? arena_copy(arena, path, (size_t)(slash - path) + (slash == path))
             : ".";
}

/* Hints of a kind, with the file's path for %s and its folder for %d. */
static const char *help_text(struct arena *arena, const char *help,
                             const char *path) {
  struct text text = text_new(arena);
  for (const char *at = help; *at;) {
    size_t length = strcspn(at, "%");
    text_bytes(&text, at, length);
    at += length;
    if (*at == '%') {
      put_path(&text, at[1] == 'd'             ? folder_of(arena, path)
                      : strcmp(path, "-") == 0 ? "FILE"
                                               : path);
      at += 2;
    }
  }
  text_putc(&text, '\0');
  return text.at;
}

/* Other tools do not read what gzip packed. */
static const char *packed_help(struct arena *arena, const char *help,
                               const char *path) {
  struct text text = text_new(arena);
  if (!slice_ends(slice_of(path), ".gz") || strstr(help, "gunzip"))
    return help_text(arena, help, path);
  text_put(&text, "`gunzip -k ");
  put_path(&text, path);
  text_printf(
      &text, "`, then %s",
      help_text(arena, help, arena_copy(arena, path, strlen(path) - 3)));
  return text_string(&text);
}

enum file_kind_id opening_kind(const char *operand) {
  char head[FILE_HEAD];
  size_t length = byte_head(operand, head, sizeof head);
  return file_kind_of("", (struct slice){head, length});
}

int opening_refuse_file(const char *path, enum file_kind_id kind,
                        const char *why) {
  struct arena arena;
  const struct file_kind *k = file_kind(kind);
  arena_open(&arena, NULL, NULL);
  const char *help = k->help ? packed_help(&arena, k->help, path) : NULL;
  int status = complain_of(EXIT_SOURCE, path, help, "this is %s%s%s", k->name,
                           *why ? ": " : "", why);
  arena_close(&arena);
  return status;
}

int opening_refuse(const struct opened_file *opening, enum file_kind_id kind) {
  return opening_refuse_file(opening->path, kind, "");
}

/* Refuses a file whose bytes do not match its name, or an empty one. */
static int refuse_name(const struct opened_file *o) {
  struct arena arena;
  const char *name = file_kind(o->kind)->name;
  arena_open(&arena, NULL, NULL);
  const char *help = help_text(
      &arena, "was the download complete? `file %s` may name its type",
      o->path);
  int status =
      o->text.length == 0
          ? complain_of(EXIT_SOURCE, o->path, NULL, "the file is empty")
          : complain_of(EXIT_SOURCE, o->path, help,
                        "its name says %.*s, but its first bytes do not",
                        (int)strcspn(name, ","), name);
  arena_close(&arena);
  return status;
}

/* A pipe can only be read once. */
static bool is_file(const struct opened_file *o) {
  char first;
  return strcmp(o->path, "-") != 0 && byte_head(o->path, &first, 1) == 1;
}

/* True except for unusable files, and kinds whose readers read the file. */
static bool is_read_whole(const struct opened_file *o) {
  const struct file_kind *k = o->kind == KIND_COUNT ? NULL : file_kind(o->kind);
  return !k || o->kind == KIND_ADAPTER ||
         (k->read && !k->header && !(k->opens_file && is_file(o)));
}

/* True if the whole file is to be read. */
static bool goes_on(void *user, struct slice head) {
  struct opened_file *o = user;
  o->kind = file_kind_of(o->path, head);
  if (o->kind != KIND_COUNT && !file_kind_fits(o->kind, head))
    return false;
  return o->kind == KIND_GZIP ? !is_file(o) : is_read_whole(o);
}

/* "x.cfg" of "x.cfg.gz" */
static const char *unpacked_name(struct opened_file *o) {
  size_t length = strlen(o->path);
  bool packed = slice_ends(slice_of(o->path), ".gz");
  return arena_copy(&o->arena, o->path, packed ? length - 3 : length);
}

/* Reads packed text and identifies it. */
static bool read_packed(struct opened_file *o, struct byte_store *store) {
  size_t most = store->size < FILE_HEAD ? (size_t)store->size : FILE_HEAD;
  char *head = arena_room(&o->arena, most + 1, 1), *all = head;
  if (!byte_store_read(store, 0, head, most))
    return false;
  head[most] = '\0';
  o->text = (struct slice){head, most};
  o->kind = file_kind_of(unpacked_name(o), o->text);
  if (!is_read_whole(o) || store->size <= most)
    return true;
  if (store->size > LIMIT_SOURCE_BYTES) {
    snprintf(store->fault, sizeof store->fault,
             "unpacked by gzip it is larger than 1 GiB");
    return false;
  }
  all = arena_room(&o->arena, (size_t)store->size + 1, 1);
  all[store->size] = '\0';
  o->text = (struct slice){all, (size_t)store->size};
  return byte_store_read(store, 0, all, o->text.length);
}

/* Opens a file, or the content of a pipe, packed by gzip. */
static int open_packed(struct opened_file *o) {
  struct byte_store store = byte_store_of(o->text);
  bool read = is_file(o) ? byte_store_open(&store, o->path)
                         : gzip_unpack(&store, UINT64_MAX);
  int status = EXIT_DONE;
  if (!read || !read_packed(o, &store))
    status = complain_of(EXIT_SOURCE, o->path, NULL, "%s", store.fault);
  byte_store_close(&store);
  return status;
}

static int unread(const struct opened_file *opening, enum file_status status) {
  struct file_reason reason = file_reason(status);
  struct zoo_text meant =
      zoo_suggestion(status == FILE_ABSENT ? opening->operand : "");
  return complain(EXIT_IO, "cannot read %s: %s%s%s%s",
                  input_name(opening->path), reason.text,
                  *meant.text ? "; did you mean `netc " : "", meant.text,
                  *meant.text ? "`?" : "");
}

static bool is_tensors(const struct opened_file *o) {
  return file_kind(o->kind)->tensors && is_file(o);
}

static void open_file(void *user) {
  struct opening_run *run = user;
  struct opened_file *o = run->opening;
  if (zoo_is_name(o->operand) && !(o->path = zoo_path(&o->arena, o->operand))) {
    run->status = EXIT_USAGE;
    return;
  }
  run->status = opening_in_folder(o);
  if (run->status != EXIT_DONE)
    return;
  enum file_status status =
      file_read_asking(&o->arena, o->path, goes_on, o, &o->text);
  if (status != FILE_OK)
    run->status = unread(o, status);
  else if (o->kind == KIND_GZIP)
    run->status = open_packed(o);
  if (run->status != EXIT_DONE)
    return;
  if (o->kind != KIND_COUNT && !file_kind_fits(o->kind, o->text))
    run->status = refuse_name(o);
  else if (o->kind == KIND_ADAPTER)
    run->status = opening_adapter(o);
  else if (o->kind != KIND_COUNT && !file_kind(o->kind)->read && !is_tensors(o))
    run->status = opening_refuse(o, o->kind);
}

int opening_open(struct opened_file *opening, const char *operand) {
  struct opening_run run = {opening, EXIT_DONE};
  struct arena *const arenas[GUARD_ARENAS] = {&opening->arena};
  opening_close(opening);
  *opening = (struct opened_file){.open = true,
                                  .operand = operand,
                                  .path = operand,
                                  .kind = KIND_COUNT,
                                  .wants_values = opening->wants_values,
                                  .from = opening->from};
  arena_open(&opening->arena, NULL, NULL);
  if (!guard_run(arenas, open_file, &run))
    run.status = complain(EXIT_IO, "out of memory");
  if (run.status != EXIT_DONE)
    opening_close(opening);
  return run.status;
}

void opening_close(struct opened_file *opening) {
  if (opening->open)
    arena_close(&opening->arena);
  if (opening->values)
    fclose(opening->values);
  *opening = (struct opened_file){.wants_values = opening->wants_values,
                                  .from = opening->from};
}
