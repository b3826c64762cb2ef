/*
 * Memory of the page: malloc for few and large pieces, as arenas take them. A
 * piece has a power of two of bytes, and what is given back waits in a list of
 * its size; wasi-libc's own is ten times as large.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 65536, LEAST = 4, KINDS = 32 }; /* log2 of the smallest */

/* Before each piece, as large as what must be aligned most. */
struct head {
  _Alignas(16) struct head *next; /* of those that were given back */
  uint32_t kind;                  /* log2 of its bytes, without this */
};

extern unsigned char __heap_base; /* the linker's */
static struct head *given_back[KINDS];
static uintptr_t top;

/* From the end of memory; NULL: there is no more. */
static struct head *take(size_t size) {
  if (!top)
    top = ((uintptr_t)&__heap_base + 15) / 16 * 16;
  size_t have = __builtin_wasm_memory_size(0) * (size_t)PAGE - top;
  if (have < size) {
    size_t pages = (size - have + PAGE - 1) / PAGE;
    if (__builtin_wasm_memory_grow(0, pages) == SIZE_MAX)
      return NULL;
  }
  struct head *head = (struct head *)top;
  top += size;
  return head;
}

void *malloc(size_t size) {
  uint32_t kind = LEAST;
  while (kind < KINDS - 1 && (size_t)1 << kind < size)
    kind++;
  if ((size_t)1 << kind < size)
    return NULL;
  struct head *head = given_back[kind];
  if (head)
    given_back[kind] = head->next;
  else if (!(head = take(sizeof *head + ((size_t)1 << kind))))
    return NULL;
  head->kind = kind;
  return head + 1;
}

void free(void *piece) {
  struct head *head = piece;
  if (!head--)
    return;
  head->next = given_back[head->kind];
  given_back[head->kind] = head;
}

void *realloc(void *piece, size_t size) {
  size_t room = piece ? (size_t)1 << ((struct head *)piece - 1)->kind : 0;
  if (piece && size <= room)
    return piece;
  void *larger = malloc(size);
  if (larger && piece)
    memcpy(larger, piece, room);
  free(larger ? piece : NULL);
  return larger;
}

void *calloc(size_t count, size_t size) {
  size_t bytes;
  void *piece =
      __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes);
  return piece ? memset(piece, 0, bytes) : NULL;
}
