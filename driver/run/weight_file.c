/* Files of weights: opened, and listed with totals. */
#include <inttypes.h>

#include "base/check.h"
#include "base/shown.h"
#include "base/guard.h"
#include "driver/opening.h"
#include "driver/output.h"
#include "driver/run/weight_set.h"

int weight_file_open(struct tensor_file *file, const char *path,
                     struct arena *arena) {
  if (tensors_open(file, path, arena))
    return EXIT_DONE;
  return complain_of(file->unread ? EXIT_IO : EXIT_SOURCE, path, NULL, "%s",
                     file->fault);
}

/* Totals over the tensors of a file. */
struct weight_sums {
  size_t tensors;
  int64_t parameters, buffers, bytes;
};

static const char *note_of(const struct stored_tensor *t) {
  return t->shared ? "  shared" : tensor_is_buffer(t) ? "  buffer" : "";
}

/* Saturates, since a header may claim any size. */
static void add_count(int64_t *sum, int64_t count) {
  if (!add_i64(*sum, count, sum))
    *sum = INT64_MAX;
}

static void add(struct weight_sums *sums, const struct stored_tensor *t) {
  sums->tensors++;
  if (t->shared)
    return;
  add_count(tensor_is_buffer(t) ? &sums->buffers : &sums->parameters, t->count);
  add_count(&sums->bytes, (int64_t)t->bytes);
}

/* Names are escaped: a file's names may contain terminal codes. */
static void put_row(struct arena *arena, int width,
                    const struct stored_tensor *t) {
  struct arena scratch;
  arena_open_in(&scratch, arena);
  struct text name = text_new(&scratch);
  int used = (int)shown_put(&name, slice_of(t->name), 0);
  printf("%.*s%*s  %-8s %-16s %14" PRIu64 "%s\n", SLICE_ARG(name),
         used < width ? width - used : 0, "", t->word,
         sizes_text(t->rank, t->dims).text, t->bytes, note_of(t));
  arena_close(&scratch);
}

static int list(const struct tensor_file *file, const char *path,
                struct arena *arena) {
  struct weight_sums sums = {0};
  size_t width = 4;
  for (size_t i = 0; i < file->tensors.count; i++) {
    size_t length = strlen(file->tensors.at[i].name);
    width = length > width ? length : width;
  }
  width = width < 200 ? width : 200;
  printf("%-*s  %-8s %-16s %14s\n", (int)width, "name", "type", "shape",
         "bytes");
  for (size_t i = 0; i < file->tensors.count; i++) {
    put_row(arena, (int)width, &file->tensors.at[i]);
    add(&sums, &file->tensors.at[i]);
  }
  printf("%zu tensors, %" PRId64 " bytes; %" PRId64 " parameters", sums.tensors,
         sums.bytes, sums.parameters);
  if (sums.buffers)
    printf(", %" PRId64 " values of buffers", sums.buffers);
  printf("; %s%s%s%s\n", file->format, file->part ? ", `" : "",
         file->part ? file->part : "", file->part ? "`" : "");
  int status = finish_stdout();
  if (file->missing)
    say_note(path, NULL,
             "%" PRIu64 " bytes of values are cut off; only names and shapes "
             "can be read",
             file->missing);
  return status;
}

bool weight_file_is(const char *operand) {
  enum file_kind_id kind = opening_kind(operand);
  return kind != KIND_COUNT && file_kind(kind)->tensors;
}

struct weight_showing {
  const char *path;
  struct arena arena;
  struct tensor_file file;
  int status;
};

static void show(void *user) {
  struct weight_showing *s = user;
  if (tensors_open(&s->file, s->path, &s->arena))
    s->status = list(&s->file, s->path, &s->arena);
  else
    s->status =
        opening_refuse_file(s->path, opening_kind(s->path), s->file.fault);
}

int weight_file_show(const char *path) {
  struct weight_showing s = {.path = path, .file.store.file = -1};
  struct arena *const arenas[GUARD_ARENAS] = {&s.arena};
  arena_open(&s.arena, NULL, NULL);
  if (!guard_run(arenas, show, &s))
    s.status = complain(EXIT_IO, "out of memory");
  tensors_close(&s.file);
  arena_close(&s.arena);
  return s.status;
}
