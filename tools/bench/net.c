/*
 * Seconds of a whole net: compiled with -DMODEL=NAME_model beside `netc X.net
 * -o NAME.c`. Answers each line that it reads with the time of one run, memory
 * and, last, the processor's time; the line `profile` with the time of each
 * operation. Its weights are those of a file that `netc weights X.net --fold -o
 * FILE.bin` has written, with or without --panels, or random. Blocks of memory
 * are in large pages, as docs/runtime.md says; with SMALL_PAGES in the
 * environment they are not.
 */
#define _DEFAULT_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "netrt.h"

extern const struct netrt_model MODEL;

struct profile {
  double begun, seconds[NETRT_CODES];
};

static double at(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void) {
  return at(CLOCK_MONOTONIC);
}

static int measure(void *user, const struct netrt *net, uint32_t op,
                   enum netrt_when when) {
  struct profile *p = user;
  if (when == NETRT_BEFORE)
    p->begun = now();
  else
    p->seconds[net->model->ops[op].kernel] += now() - p->begun;
  return 0;
}

static void print_profile(const struct netrt *net, const struct profile *p) {
  for (uint32_t k = 0; k < net->model->kernel_count; k++)
    printf("%s %.3f ms  ", net->model->kernels[k]->name, p->seconds[k] * 1e3);
  printf("\n");
}

/* KiB; what getrusage says begins with the parent's. */
static long resident_most(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[128];
  long most = 0;
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, "VmHWM:", 6) == 0)
      most = strtol(line + 6, NULL, 10);
  if (status)
    fclose(status);
  return most;
}

/* How many bytes there are, if no more than `room`. */
static size_t read_weights(const char *path, float *weights, size_t room) {
  FILE *file = fopen(path, "rb");
  size_t read = file ? fread(weights, 1, room, file) : 0;
  if (file)
    fclose(file);
  return read;
}

static void put_inputs(struct netrt *net) {
  for (uint32_t i = 0; i < MODEL.input_count; i++) {
    const struct netrt_operand *at = &MODEL.inputs[i].operand;
    size_t values = netrt_values(&MODEL, at);
    float *to = netrt_input(net, i);
    memset(to, 0, values * netrt_type_bytes(at->type));
    for (size_t k = 0; at->type == NETRT_F32 && k < values; k++)
      to[k] = 0.5f;
  }
}

static void *block(size_t bytes) {
  bool large = bytes >= 4 << 20 && !getenv("SMALL_PAGES");
  size_t align = large ? 2 << 20 : 64;
  size_t whole = (bytes + align - 1) / align * align;
  void *at = aligned_alloc(align, whole);
#ifdef MADV_HUGEPAGE
  if (at && large)
    madvise(at, whole, MADV_HUGEPAGE);
#endif
  return at;
}

int main(int argc, char **argv) {
  struct netrt net;
  struct profile profile;
  char line[64];
  size_t bytes = MODEL.weight_bytes, room = bytes + NETRT_PANELS_BYTES;
  float *weights = block(room);
  unsigned char *arena = block(MODEL.arena_bytes);
  for (size_t i = 0; i < bytes / 4; i++)
    weights[i] = (float)(i * 2654435761u % 2001) / 50000.0f - 0.02f;
  if (argc > 1)
    bytes = read_weights(argv[1], weights, room);
  memset(arena, 0, MODEL.arena_bytes);
  enum netrt_status status =
      netrt_open(&net, &MODEL, weights, bytes, arena, MODEL.arena_bytes);
  while (status == NETRT_OK && fgets(line, sizeof line, stdin)) {
    int profiled = strncmp(line, "profile", 7) == 0;
    memset(&profile, 0, sizeof profile);
    net.hook = profiled ? measure : NULL;
    net.hook_user = &profile;
    put_inputs(&net);
    double start = now(), begun = at(CLOCK_PROCESS_CPUTIME_ID);
    status = netrt_run(&net);
    double end = now(), spent = at(CLOCK_PROCESS_CPUTIME_ID) - begun;
    if (profiled)
      print_profile(&net, &profile);
    else
      printf("%.9f %ld %zu %.9f\n", end - start, resident_most(),
             MODEL.weight_bytes + MODEL.arena_bytes, spent);
    fflush(stdout);
  }
  netrt_close(&net);
  free(arena);
  free(weights);
  if (status != NETRT_OK)
    fprintf(stderr, "%s: %s\n", MODEL.name, netrt_status_text(status));
  return status != NETRT_OK;
}
