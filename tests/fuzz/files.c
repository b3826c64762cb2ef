/*
 * Fuzzing the smaller files: arrays of NumPy, tensors, tables of buffers, whose
 * plan has to be one, zip archives and pickles. The first byte chooses.
 */
#define _GNU_SOURCE
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/guard.h"
#include "driver/command.h"
#include "driver/buffers.h"
#include "import/bytes/zip.h"
#include "import/recognise.h"
#include "import/tensors/npy.h"
#include "import/tensors/pickle.h"
#include "import/tensors/tensors.h"

struct attempt {
  struct arena arena;
  const uint8_t *data;
  size_t size;
  char path[64]; /* of a file with these bytes */
};

static volatile int sum;

/* Messages about a table are dropped. */
int complain(int status, const char *format, ...) {
  (void)format;
  return status;
}

void say_va(const char *format, va_list args) {
  (void)format;
  (void)args;
}

void say(const char *format, ...) {
  (void)format;
}

/* All bytes that are promised are there. */
static void read_bytes(const unsigned char *at, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    sum ^= at[i];
}

static void try_npy(struct attempt *a) {
  struct npy npy;
  if (npy_read(&npy, a->path, &a->arena))
    read_bytes(npy.at, npy.count * value_bytes(npy.type));
  else if (!*npy.fault)
    abort();
}

/* A guessed net compiles. */
static void try_chain(struct attempt *a, const struct tensor_file *file) {
  struct recognised found;
  struct netc *netc = netc_open(NULL, NULL);
  recognise_chain(file, "fuzz", netc, &a->arena, &found);
  netc_close(netc);
}

/* safetensors, GGUF, torch.save: values lie in the file, or are cut off. */
static void try_tensors(struct attempt *a) {
  struct tensor_file s;
  float value;
  if (!tensors_open(&s, a->path, &a->arena) && !*s.fault)
    abort();
  bool whole = !*s.fault && !s.missing;
  if (!*s.fault)
    try_chain(a, &s);
  for (size_t i = 0; !*s.fault && i < s.tensors.count; i++) {
    const struct stored_tensor *t = &s.tensors.at[i];
    if (tensors_find(&s, t->name) != t)
      abort();
    if (whole && (t->at > s.store.size || t->bytes > s.store.size - t->at))
      abort();
    if (whole && value_is_real(t->type) && t->count > 0 && !t->packed &&
        (!tensors_floats(&s, t, 0, 1, &value) ||
         !tensors_floats(&s, t, t->count - 1, 1, &value)))
      abort();
  }
  tensors_close(&s);
}

/* A pickle alone: in an archive its checksum would be in the way. */
static void try_pickle(struct attempt *a) {
  struct byte_reader r;
  struct byte_store store =
      byte_store_of((struct slice){(const char *)a->data, a->size});
  bytes_open(&r, &store, 0, UINT64_MAX);
  if (!pickle_read(&r, &a->arena) && bytes_ok(&r))
    abort();
}

/* Buffers that are there at the same time are not in the same place. */
static void check_plan(const struct table *table,
                       const struct netc_plan *plan) {
  const struct netc_plan_buffer *at = table->buffers.at;
  for (size_t i = 0; i < table->buffers.count; i++) {
    if (at[i].offset < 0 || at[i].offset > plan->height - at[i].size)
      abort();
    for (size_t k = 0; k < i; k++)
      if (at[i].lower < at[k].upper && at[k].lower < at[i].upper &&
          at[i].offset < at[k].offset + at[k].size &&
          at[k].offset < at[i].offset + at[i].size)
        abort();
  }
}

static void try_table(struct attempt *a) {
  struct netc_plan_options options = {.size = sizeof options};
  struct netc_plan plan = {.size = sizeof plan};
  struct table table = {0};
  struct slice text = {(const char *)a->data, a->size};
  if (!table_read(&a->arena, "fuzz.csv", text, &table) ||
      table.buffers.count > 60)
    return;
  enum netc_status status =
      netc_plan(table.buffers.at, table.buffers.count, &options, &plan);
  if (status == NETC_BUG)
    abort();
  if (status == NETC_OK)
    check_plan(&table, &plan);
}

/* Entries of the directory exist, or are reported as missing. */
static void try_zip(struct attempt *a) {
  struct byte_store store;
  struct zip zip;
  struct slice bytes;
  if (!byte_store_open(&store, a->path))
    abort();
  if (!zip_open(&zip, &store, &a->arena) && !*zip.fault)
    abort();
  for (size_t i = 0; !*zip.fault && i < zip.members.count; i++) {
    const struct zip_member *m = &zip.members.at[i];
    if (zip_find(&zip, m->name) != m)
      abort();
    if (zip_read(&zip, m, &a->arena, &bytes))
      read_bytes((const unsigned char *)bytes.at, (int64_t)bytes.length);
    else if (!*zip.fault)
      abort();
  }
  byte_store_close(&store);
}

static void try(void *user) {
  struct attempt *a = user;
  static void (*const tries[])(struct attempt *) = {
      try_npy, try_tensors, try_table, try_zip, try_pickle};
  unsigned kind = *a->data % (sizeof tries / sizeof *tries);
  a->data++;
  a->size--;
  int file = memfd_create("fuzz", 0);
  if (file < 0 || write(file, a->data, a->size) != (ssize_t)a->size)
    abort();
  snprintf(a->path, sizeof a->path, "/proc/self/fd/%d", file);
  tries[kind](a);
  close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct attempt a = {.data = data, .size = size};
  struct arena *const arenas[GUARD_ARENAS] = {&a.arena};
  if (size == 0)
    return 0;
  arena_open(&a.arena, NULL, NULL);
  guard_run(arenas, try, &a);
  arena_close(&a.arena);
  return 0;
}
