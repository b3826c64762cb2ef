/*
 * Groups: tensors saved for backward in fewer bits. Sources: ActNN (arXiv
 * 2104.14129, section 4.1) and GACT (arXiv 2206.11357), whose gact/quantizer.py
 * and gact/ops.py define what is stored in groups: tensors of a floating-point
 * type that a gradient passes through, each once, in whole groups of 256 values
 * with a scale and a minimum in the tensor's type.
 */
#include "base/check.h"
#include "memory/step/run.h"

enum { GROUP = 256 };

/* Bits of a value of an extent that is written in groups; 0: it is not. */
static int64_t bits_of(const struct run *run, const struct extent *extent) {
  int own = extent->width == WIDTH_NET ? run->s->element
                                       : width_element(extent->width);
  int64_t bits = extent->width == WIDTH_LOW ? 16 : own ? element_bits(own) : 0;
  bool smaller = run->s->saved_bits && run->s->saved_bits < bits;
  return smaller && bits % 8 == 0 && !extent->fixed && !extent->mask &&
                 !run->repeated
             ? bits
             : 0;
}

bool run_packable(const struct run *run, size_t storage) {
  const struct tape_storage *at = &run->tape->storages.at[storage];
  return run->s->saved_bits && at->owned && at->leads_back &&
         bits_of(run, tape_storage_extent(run->tape, storage));
}

static bool in_blocks(int64_t block, int64_t times, int64_t *bytes,
                      int64_t *sum) {
  return add_i64(*bytes, block - 1, bytes) &&
         add_product_i64(*bytes / block * block, times, sum);
}

int64_t run_packed_bytes(struct run *run, const struct extent *extent) {
  struct simulation *s = run->s;
  int64_t block = run->tape->profile->block, sum = 0;
  int64_t width = bits_of(run, extent) / 8, numbers;
  int64_t values =
      extent_bytes(extent, s->batch, s->element, 1, &s->overflow) / width;
  int64_t groups = ceil_div_i64(values, GROUP);
  int64_t codes = groups * (GROUP * s->saved_bits / 8); /* less than before */
  if (!mul_i64(groups, width, &numbers) || !in_blocks(block, 1, &codes, &sum) ||
      !in_blocks(block, 2, &numbers, &sum))
    s->overflow = true;
  return sum;
}

int64_t run_stored_bytes(struct run *run, const struct tape_op *op) {
  int64_t sum = run_kept_bytes(run, op);
  for (int i = 0; i < KEPT_CASTS && run->s->saved_bits; i++) {
    const struct extent *kept = &op->facts->kept[i];
    if (kept->count && bits_of(run, kept) &&
        !add_i64(sum, run_packed_bytes(run, kept) - run_bytes_of(run, kept),
                 &sum))
      run->s->overflow = true;
  }
  return sum;
}

void run_pack(struct run *run, size_t storage) {
  struct run_use *use = run_use_of(run, storage);
  if (!use->packs || use->stored)
    return;
  use->stored = true;
  run_note_change(run, CHANGE_STORED, storage);
  run_change(run, PART_SAVED,
             run_packed_bytes(run, tape_storage_extent(run->tape, storage)));
}

void run_unpack(struct run *run, size_t storage) {
  struct run_use *use = run_use_of(run, storage);
  if (--use->packed > 0 || !use->stored)
    return;
  use->stored = false;
  run_note_change(run, CHANGE_STORED, storage);
  run_change(run, PART_SAVED,
             -run_packed_bytes(run, tape_storage_extent(run->tape, storage)));
}

void run_each_input(struct run *run, const struct segment *segment,
                    void (*does)(struct run *run, size_t storage)) {
  for (size_t i = segment->first; i < segment->end; i++) {
    const struct tape_op *op = &run->tape->ops.at[i];
    for (int k = 0; k < op->facts->in_count; k++) {
      size_t storage = run_storage_of(run, run_input_of(run, op, k));
      if (!run_made_in(run, segment, storage))
        does(run, storage);
    }
  }
}
