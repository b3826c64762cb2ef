/* Map: from names to pointers or numbers. */
#ifndef NETC_BASE_MAP_H
#define NETC_BASE_MAP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

struct map_entry {
  struct slice key; /* .at is NULL while free */
  union {
    void *pointer;
    int64_t number;
  };
};

/* Zero-initialised, it is empty. The keys' texts are not copied. */
struct map {
  struct map_entry *entries;
  size_t count, room;
};

/* The entry of that key, or NULL. */
struct map_entry *map_find(const struct map *map, struct slice key);

/* Empty again, with its room. */
void map_clear(struct map *map);

/* The entry of that key; a new one holds 0. Valid until the next one. */
struct map_entry *map_add(struct arena *arena, struct map *map,
                          struct slice key);

#endif
