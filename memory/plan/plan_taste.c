/*
 * Taste: the choice of the next buffer in a plan search. Scores are integers,
 * so that every machine makes the same choice.
 */
#include "base/check.h"
#include "memory/plan/plan_state.h"

int64_t plan_log2(int64_t value) {
  /*
   * floor(256 * log2(1 + i / 256)): less than 1/256 too low. It is a table
   * because math libraries differ in the last bit, and then plans would differ.
   */
  static const uint8_t fraction[256] = {
      0,   1,   2,   4,   5,   7,   8,   9,   11,  12,  14,  15,  16,  18,  19,
      21,  22,  23,  25,  26,  27,  29,  30,  31,  33,  34,  35,  37,  38,  39,
      40,  42,  43,  44,  46,  47,  48,  49,  51,  52,  53,  54,  56,  57,  58,
      59,  61,  62,  63,  64,  65,  67,  68,  69,  70,  71,  73,  74,  75,  76,
      77,  78,  80,  81,  82,  83,  84,  85,  87,  88,  89,  90,  91,  92,  93,
      94,  96,  97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 108, 109, 110,
      111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125,
      126, 127, 128, 129, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 140,
      141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155,
      156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169,
      170, 171, 172, 173, 173, 174, 175, 176, 177, 178, 179, 180, 181, 181, 182,
      183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193, 194, 194, 195,
      196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 205, 206, 207, 208,
      209, 209, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219, 220,
      221, 222, 222, 223, 224, 225, 225, 226, 227, 228, 229, 229, 230, 231, 232,
      232, 233, 234, 235, 235, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243,
      244, 245, 245, 246, 247, 247, 248, 249, 250, 250, 251, 252, 253, 253, 254,
      255};
  if (value < 1)
    return 0;
  int exponent = 63 - __builtin_clzll((uint64_t)value);
  int64_t mantissa =
      exponent >= 8 ? value >> (exponent - 8) : value << (8 - exponent);
  return exponent * 256 + fraction[mantissa - 256];
}

static const struct plan_taste tastes[] = {
    {.load = 256000, .width = 256, .size = 40},
    {.load = 256000, .width = 256, .size = 256, .wall = 256},
    {.load = 256000, .width = 70, .size = 240, .wall = 850},
    {.width = 60, .size = 230, .wall = 700, .failure = 64},
    {.load = 512, .width = 64, .size = 256, .wall = 512, .failure = 256},
    {.width = 200, .size = 60, .wall = 400, .failure = 128},
};

size_t plan_taste_count(void) {
  return sizeof tastes / sizeof *tastes;
}

const struct plan_taste *plan_taste_at(size_t index) {
  return &tastes[index];
}

struct plan_taste plan_taste_drawn(uint64_t *random) {
  struct plan_taste taste = {0};
  uint64_t draw = plan_random(random), other = plan_random(random);
  taste.width = draw & 255;
  taste.size = draw >> 8 & 255;
  uint64_t kind = (draw >> 16 & 1023) % 5;
  taste.load = kind < 2 ? 0 : kind < 4 ? 256000 : (int64_t)(draw >> 26 & 1023);
  taste.noise = draw >> 36 & 1 ? (int64_t)((draw >> 37 & 1023) % 110) : 0;
  taste.wall = (int64_t)((draw >> 47 & 4095) % 1100);
  taste.tight = other >> 40 & 1;
  taste.failure = other >> 17 & 1 ? (int64_t)(other >> 18 & 255) : 0;
  return taste;
}

static int64_t greatest(const int64_t *values, const struct plan_item *item) {
  int64_t most = 0;
  for (int32_t i = item->first; i < item->last; i++)
    most = max_i64(most, values[i]);
  return most;
}

void plan_taste_rank(struct plan_state *s, const struct plan_taste *taste,
                     struct plan_group group, uint64_t *random) {
  for (size_t i = 0; i < group.count; i++) {
    size_t item = group.items[i];
    int64_t noise =
        taste->noise ? (int64_t)(plan_random(random) >> 20 & 255) : 0;
    int64_t load =
        taste->load ? plan_log2(greatest(s->load, &s->part->items[item])) : 0;
    plan_state_set(s, &s->rank[item],
                   taste->width * s->log_width[item] +
                       taste->size * s->log_size[item] + taste->load * load +
                       taste->noise * noise);
  }
}

/* True at the border, or if the section's floor is above `place`. */
static bool is_wall(const struct plan_state *s, int32_t section,
                    int64_t place) {
  return section < 0 || section == s->part->sections ||
         s->floor[section] > place;
}

/* Sections [first, last) whose floor is `place`. */
struct plan_valley {
  int64_t place;
  int32_t first, last;
};

static int64_t score(const struct plan_state *s, const struct plan_taste *taste,
                     size_t item, int64_t place) {
  const struct plan_item *it = &s->part->items[item];
  int64_t sum = s->rank[item];
  if (taste->wall)
    sum += taste->wall * 256 *
           (is_wall(s, it->first - 1, place) + is_wall(s, it->last, place));
  if (taste->failure)
    sum += taste->failure * plan_log2(greatest(s->failures, it) + 1);
  return sum;
}

static bool is_over(const struct plan_item *item, int32_t section) {
  return item->first <= section && section < item->last;
}

/*
 * The section to place in next: where the last attempt failed, because any
 * other choice is likely to fail there again (last conflicts: Lecoutre and
 * others, 2009). Otherwise the lowest section of the group, or the lowest of
 * those with the least free space.
 */
static int32_t find_section(const struct plan_state *s,
                            const struct plan_taste *taste,
                            struct plan_group group) {
  int64_t least_room = INT64_MAX, least = PLAN_FAR;
  int32_t found = group.first;
  if (s->conflict >= group.first && s->conflict < group.last &&
      s->floor[s->conflict] < PLAN_FAR)
    return s->conflict;
  for (int32_t i = group.first; i < group.last; i++) {
    int64_t floor = s->floor[i];
    int64_t room = taste->tight ? s->capacity - s->load[i] - floor : 0;
    if (floor == PLAN_FAR)
      continue; /* all are placed */
    if (room < least_room || (room == least_room && floor < least)) {
      least_room = room;
      least = floor;
      found = i;
    }
  }
  return found;
}

/*
 * Descends from a section to sections of one floor with no lower neighbour. An
 * item that can be placed there is below all its neighbours.
 */
static struct plan_valley
find_valley(struct plan_state *s, struct plan_group group, int32_t section) {
  struct plan_valley valley = {.place = PLAN_FAR};
  while (s->floor[section] < valley.place) {
    const struct plan_item *item =
        &s->part->items[plan_state_lowest(s, section)];
    valley = (struct plan_valley){s->floor[section], section, section + 1};
    for (int32_t i = item->first; i < item->last; i++)
      if (s->floor[i] < s->floor[section])
        section = i;
  }
  while (valley.first > group.first &&
         s->floor[valley.first - 1] == valley.place)
    valley.first--;
  while (valley.last < group.last && s->floor[valley.last] == valley.place)
    valley.last++;
  return valley;
}

/* Above any score. */
#define FIRST (INT64_MAX / 4)

uint16_t plan_taste_choose(struct plan_state *s, const struct plan_taste *taste,
                           struct plan_group group) {
  struct plan_valley valley =
      find_valley(s, group, find_section(s, taste, group));
  const struct plan_item *items = s->part->items;
  const int64_t *low = s->low;
  int64_t most = INT64_MIN;
  uint16_t best = plan_state_lowest(s, valley.first);
  for (size_t i = 0; i < group.count; i++) {
    uint16_t item = group.items[i];
    if (low[item] != valley.place || s->pos[item] != valley.place ||
        items[item].first < valley.first || items[item].last > valley.last)
      continue;
    int64_t here = score(s, taste, item, valley.place) +
                   (is_over(&items[item], s->conflict) ? FIRST : 0);
    if (here > most) {
      most = here;
      best = item;
    }
  }
  return best;
}
