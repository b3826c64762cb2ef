/* Map: names to pointers or numbers. */
#ifndef NETC_BASE_MAP_H
#define NETC_BASE_MAP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

struct map_entry {
  struct slice key; /* .at NULL: free */
  union {
    void *pointer;
    int64_t number;
  };
};

/* Zero initialization makes it empty. Keys are not copied. */
struct map {
  struct map_entry *entries;
  size_t count, room;
};

/* The entry of a key, or NULL. */
struct map_entry *map_find(const struct map *map, struct slice key);

/* Removes all entries and keeps the memory. */
void map_clear(struct map *map);

/* Finds or adds the entry of a key; a new value is 0. Valid until the
 * next one is added. */
struct map_entry *map_add(struct arena *arena, struct map *map,
                          struct slice key);

#endif
