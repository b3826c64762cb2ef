/*
 * Fuzzing the smaller files: arrays of NumPy, safetensors, and tables of
 * buffers, whose plan has to be one. The first byte chooses.
 */
#define _GNU_SOURCE
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/guard.h"
#include "driver/command.h"
#include "driver/table.h"
#include "import/tensors/npy.h"
#include "import/tensors/safetensors.h"

struct attempt {
  struct arena arena;
  const uint8_t *data;
  size_t size;
  char path[64]; /* of a file with these bytes */
};

static volatile int sum;

/* What is said of a table goes nowhere. */
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
  if (npy_open(&npy, a->path))
    read_bytes(npy.at, npy.count * value_bytes(npy.type));
  else if (!*npy.fault)
    abort();
  npy_close(&npy);
}

static void try_safetensors(struct attempt *a) {
  struct safetensors s;
  if (!safetensors_open(&s, a->path, &a->arena) && !*s.fault)
    abort();
  else if (!*s.fault)
    for (size_t i = 0; i < s.tensors.count; i++) {
      const struct stored_tensor *t = &s.tensors.at[i];
      read_bytes(t->at, t->end - t->begin);
      if (safetensors_find(&s, t->name) != t)
        abort();
    }
  safetensors_close(&s);
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

static void try(void *user) {
  struct attempt *a = user;
  static void (*const tries[])(struct attempt *) = {try_npy, try_safetensors,
                                                    try_table};
  unsigned kind = *a->data % 3;
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
