/* Firmware: RAM and flash that a net takes on a microcontroller. */
#include "memory/firmware.h"

#include <stdlib.h>

#include "base/check.h"
#include "memory/tables.h"

static int64_t round_up(int64_t bytes, int64_t unit) {
  return ceil_div_i64(bytes, unit) * unit;
}

/* Measured */

static const struct measured_core {
  int64_t code, state, ends, run;
} runtimes[CORES_MEASURED] = {
#define RUNTIME(code, state, ends, run) {code, state, ends, run},
#include "memory/kernels.def"
};

/* Code that these kernels need on each core; their codes end with NETRT_CODES.
 */
static const struct shared_code {
  const uint8_t *kernels;
  uint16_t bytes[CORES_MEASURED];
} shared[] = {
#define K(kernel) NETRT_##kernel,
#define SHARED(kernels, ...) \
  {(const uint8_t[]){kernels NETRT_CODES}, {__VA_ARGS__}},
#include "memory/kernels.def"
#undef K
};
_Static_assert((int)NETRT_CODES <= UINT8_MAX, "codes are bytes");

/* Stack of each kernel. */
static const uint16_t stacks[NETRT_CODES][CORES_MEASURED] = {
#define STACK(kernel, ...) [NETRT_##kernel] = {__VA_ARGS__},
#include "memory/kernels.def"
};

/* The kernels of a model, by code. */
struct used_kernels {
  bool at[NETRT_CODES];
};

static bool are_used(const struct used_kernels *used, const uint8_t *kernels) {
  while (*kernels < NETRT_CODES)
    if (used->at[*kernels++])
      return true;
  return false;
}

static int64_t code_on(const struct used_kernels *used, int core) {
  int64_t code = runtimes[core].code;
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
    if (are_used(used, shared[i].kernels))
      code += shared[i].bytes[core];
  return code;
}

/* The kernel of line buffers runs the others. */
static int64_t stack_on(const struct used_kernels *used, int core) {
  int64_t deepest = 0, above = 0;
  for (int code = 0; code < NETRT_CODES; code++) {
    if (!used->at[code])
      continue;
    if (code == NETRT_LINEBUFFER)
      above = stacks[code][core];
    else
      deepest = max_i64(deepest, stacks[code][core]);
  }
  return max_i64(runtimes[core].ends, runtimes[core].run + above + deepest);
}

/* The figure of a core; without a board, the largest of all cores. */
static void measure(struct firmware *f, const struct used_kernels *used) {
  for (int core = 0; core < CORES_MEASURED; core++) {
    if (f->board && (int)f->board->core != core)
      continue;
    f->measured = true;
    f->code = max_i64(f->code, code_on(used, core));
    f->state = max_i64(f->state, runtimes[core].state);
    f->stack = max_i64(f->stack, stack_on(used, core));
  }
}

/* Tables, as the target's compiler lays out the structs of netrt.h */

static int64_t struct_bytes(int64_t words, int64_t others, int64_t word) {
  return round_up(words * word + others, word);
}

static int64_t name_bytes(const char *text) {
  return (int64_t)strlen(text) + 1;
}

static bool is_layer(const struct netrt_model *m, const char *name) {
  for (uint32_t i = 0; i < m->layer_count; i++)
    if (strcmp(m->layers[i], name) == 0)
      return true;
  return false;
}

/* Linkers keep one of equal texts. */
static int64_t names_bytes(const struct netrt_model *m) {
  int64_t bytes = is_layer(m, m->name) ? 0 : name_bytes(m->name);
  for (uint32_t i = 0; i < m->layer_count; i++)
    bytes += name_bytes(m->layers[i]);
  for (uint32_t i = 0; i < m->input_count; i++)
    if (!is_layer(m, m->inputs[i].name))
      bytes += name_bytes(m->inputs[i].name);
  for (uint32_t i = 0; i < m->output_count; i++)
    if (!is_layer(m, m->outputs[i].name))
      bytes += name_bytes(m->outputs[i].name);
  return bytes;
}

/* An empty table has one element, as C has no empty arrays. */
static int64_t array_bytes(uint32_t count, int64_t bytes) {
  return (int64_t)(count ? count : 1) * bytes;
}

static int64_t tables_bytes(const struct netrt_model *m, int64_t word,
                            const struct used_kernels *used) {
  int64_t operand = struct_bytes(1, 4 + 3, word);
  int64_t port = struct_bytes(2, operand, word);
  uint32_t kernels = 0;
  for (unsigned code = 0; code < NETRT_CODES; code++)
    kernels += used->at[code];
  return array_bytes(m->op_count, sizeof(struct netrt_op)) +
         array_bytes(m->operand_count, operand) +
         array_bytes(m->number_count, sizeof(int32_t)) +
         array_bytes(m->real_count, sizeof(float)) +
         array_bytes(kernels, word) + array_bytes(m->input_count, port) +
         array_bytes(m->output_count, port) +
         array_bytes(m->layer_count, word) + names_bytes(m) +
         struct_bytes(12, 11 * (int64_t)sizeof(uint32_t), word);
}

static void add_program(struct firmware *f, const struct netrt_model *m) {
  struct used_kernels used = {{false}};
  for (uint32_t i = 0; i < m->op_count; i++)
    used.at[m->ops[i].kernel] = true;
  f->tables =
      tables_bytes(m, f->board ? core_pointer(f->board->core) : 4, &used);
  measure(f, &used);
}

#ifndef NETC_NO_FILES /* the web page opens no .tflite */
/*
 * TensorFlow Lite Micro's GreedyMemoryPlanner (tensorflow/lite/micro/
 * memory_planner/greedy_memory_planner.cc): buffers by size, the largest first,
 * each at the lowest offset where it fits among those placed before, with an
 * alignment of 16 bytes (MicroArenaBufferAlignment).
 */
enum {
  TFLM_ALIGN = 16,
  TFLM_BUFFERS = 4096 /* it takes steps by the square of their number */
};

static bool live_together(const struct arena_buffer *a,
                          const struct arena_buffer *b) {
  return a->first <= b->last && b->first <= a->last;
}

/* Inserts a buffer among `placed`, which are by offset. */
static void place_greedily(struct arena_buffer *placed, size_t count,
                           struct arena_buffer buffer) {
  int64_t at = 0;
  size_t i;
  for (i = 0; i < count; i++) {
    if (!live_together(&placed[i], &buffer))
      continue;
    if (placed[i].offset - at >= buffer.bytes)
      break;
    at = max_i64(at, placed[i].offset + placed[i].bytes);
  }
  buffer.offset = at;
  for (i = count; i > 0 && placed[i - 1].offset > at; i--)
    placed[i] = placed[i - 1];
  placed[i] = buffer;
}

static int by_size(const void *a, const void *b) {
  const struct arena_buffer *x = a, *y = b;
  return x->bytes != y->bytes
             ? (x->bytes < y->bytes ? 1 : -1)
             : (x->offset > y->offset) - (x->offset < y->offset);
}

/* The arena of the planner above, for nets in 8 bits; 0: not known. */
static int64_t greedy_arena(const struct model *model,
                            const struct settings *settings) {
  struct settings plain = *settings;
  struct inference f;
  int64_t height = 0;
  plain.infer.overlap = plain.infer.fuse = TOGGLE_OFF;
  plain.infer.patches = PATCHES_OFF;
  plain.infer.stream = TOGGLE_OFF;
  if (plain.infer.dtype != ELEMENT_I8 || !inference_find(model, &plain, &f) ||
      f.arena.count > TFLM_BUFFERS)
    return 0;
  size_t count = f.arena.count;
  struct arena_buffer *placed =
      arena_alloc(model->arena, count + 1, sizeof *placed);
  for (size_t i = 0; i < count; i++) { /* offset: their order among equals */
    f.arena.at[i].offset = (int64_t)i;
    f.arena.at[i].bytes = round_up(f.arena.at[i].bytes, TFLM_ALIGN);
  }
  qsort(f.arena.at, count, sizeof *f.arena.at, by_size);
  for (size_t i = 0; i < count; i++)
    place_greedily(placed, i, f.arena.at[i]);
  for (size_t i = 0; i < count; i++)
    height = max_i64(height, placed[i].offset + placed[i].bytes);
  return height;
}
#endif

/* The time of a board whose core is measured. */
static void find_time(const struct model *model,
                      const struct settings *settings, struct firmware *f) {
  const struct board_row *board = f->board;
  if (!board || !f->measured)
    return;
  f->instructions = firmware_instructions(model, settings, (int)board->core) *
                    (double)settings->infer.batch;
  f->seconds = f->instructions / core_issues(board->core) /
               ((double)board->megahertz * 1e6);
}

/* The whole */

static bool is_within(int64_t need, int64_t room) {
  return !room || need <= room;
}

bool firmware_find(const struct model *model, const struct settings *settings,
                   struct firmware *f) {
  struct program program;
  struct netrt_model tables;
  *f = (struct firmware){.board = board_of(settings),
                         .ram_room = board_ram(settings),
                         .flash_room = board_flash(settings)};
  if (f->board) /* more RAM than the board's is external, and contiguous */
    f->block = f->ram_room > f->board->ram
                   ? f->ram_room
                   : min_i64(f->board->block, f->ram_room);
  if (!program_find(model, settings, &program))
    return false;
  f->arena = program.plan.plan.height;
  f->weights = program.weight_bytes;
  f->why = tables_make(model, settings, &program, &tables);
  if (!f->why)
    add_program(f, &tables);
  find_time(model, settings, f);
#ifndef NETC_NO_FILES
  f->instead = greedy_arena(model, settings);
#endif
  f->flash = size_sum(f->weights, f->tables + f->code);
  f->loaded = f->board && f->board->loaded ? f->flash : 0;
  f->ram = size_sum(size_sum(f->arena, f->loaded), f->state + f->stack);
  f->fits = is_within(f->ram, f->ram_room) && is_within(f->arena, f->block) &&
            is_within(f->flash, f->flash_room);
  return f->flash != INT64_MAX && f->ram != INT64_MAX;
}
