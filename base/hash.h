/* Hashes of texts, and of words that are mostly small or similar. */
#ifndef NETC_BASE_HASH_H
#define NETC_BASE_HASH_H

#include <stdint.h>

#include "base/slice.h"

/* FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv). */
#define HASH_TEXT UINT64_C(0xcbf29ce484222325)
static inline uint64_t hash_text(uint64_t hash, struct slice text) {
  for (size_t i = 0; i < text.length; i++)
    hash = (hash ^ (unsigned char)text.at[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* Multiplication by 2^64 over the golden ratio (Knuth, volume 3, 6.4).
 * Use the high bits. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word) {
  return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* hash_word() with good low bits, and for chains of words. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t word) {
  hash = hash_word(hash, word);
  return hash ^ hash >> 32;
}

#endif
