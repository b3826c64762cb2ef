/* Map: names to pointers or numbers. */
#include "base/map.h"

#include "base/hash.h"

static struct map_entry *place(const struct map *map, struct slice key) {
  uint64_t hash = hash_text(HASH_TEXT, key);
  size_t i = (size_t)(hash ^ hash >> 32) & (map->room - 1);
  while (map->entries[i].key.at && !slice_equal(map->entries[i].key, key))
    i = (i + 1) & (map->room - 1);
  return &map->entries[i];
}

struct map_entry *map_find(const struct map *map, struct slice key) {
  if (map->room == 0)
    return NULL;
  struct map_entry *entry = place(map, key);
  return entry->key.at ? entry : NULL;
}

static void grow(struct arena *arena, struct map *map) {
  struct map old = *map;
  map->room = old.room ? old.room * 2 : 8;
  map->entries = arena_alloc(arena, map->room, sizeof *map->entries);
  for (size_t i = 0; i < old.room; i++)
    if (old.entries[i].key.at)
      *place(map, old.entries[i].key) = old.entries[i];
  if (old.room)
    arena_take_back(arena, old.entries, old.room * sizeof *old.entries);
}

struct map_entry *map_add(struct arena *arena, struct map *map,
                          struct slice key) {
  if (2 * map->count >= map->room)
    grow(arena, map);
  struct map_entry *entry = place(map, key);
  if (!entry->key.at) {
    entry->key = key;
    map->count++;
  }
  return entry;
}

void map_clear(struct map *map) {
  if (map->count)
    memset(map->entries, 0, map->room * sizeof *map->entries);
  map->count = 0;
}
