/* Fronts: variants to which no other is at least equal in every goal. */
#include "driver/search/front.h"

#include <stdlib.h>
#include <string.h>

static int compare_places(const int64_t *a, const int64_t *b) {
  for (size_t i = 0; i < MOST_AXES; i++) /* unused axes are 0 */
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* True if a is at least b in every goal. */
static bool covers(const struct search_front *front,
                   const struct front_member *a, const struct front_member *b) {
  for (size_t i = 0; i < front->goals.count; i++)
    if (!(a->goals[i] >= b->goals[i]))
      return false;
  return true;
}

static int keep(struct search_front *front, const struct front_member *member) {
  if (front->count == MOST_FRONT)
    return complain(EXIT_USAGE,
                    "more than %d variants are best in some goal; use fewer "
                    "goals, or a larger step",
                    MOST_FRONT);
  if (front->count == front->room) {
    size_t room = front->room ? 2 * front->room : 64;
    struct front_member *more = realloc(front->at, room * sizeof *more);
    if (!more)
      return complain(EXIT_IO, "out of memory");
    front->at = more;
    front->room = room;
  }
  front->at[front->count++] = *member;
  return EXIT_DONE;
}

int front_add(struct search_front *front, const int64_t *places,
              const struct measured_net *variant) {
  struct front_member member = {.variant = *variant};
  if (front->goals.timed && variant->at[FIGURE_SECONDS] == 0)
    return complain(EXIT_USAGE, "a goal of seconds needs a device whose speed "
                                "is known: `--gpu t4`");
  memcpy(member.places, places, front->axes * sizeof *places);
  for (size_t i = 0; i < front->goals.count; i++) {
    member.goals[i] = goal_value(&front->goals.at[i], variant);
    if (member.goals[i] != member.goals[i]) /* NaN: divided by 0 */
      return EXIT_DONE;
  }
  for (size_t i = 0; i < front->count; i++) {
    const struct front_member *other = &front->at[i];
    if (covers(front, other, &member) &&
        (!covers(front, &member, other) ||
         compare_places(other->places, member.places) > 0))
      return EXIT_DONE;
  }
  size_t kept = 0;
  for (size_t i = 0; i < front->count; i++)
    if (!covers(front, &member, &front->at[i]))
      front->at[kept++] = front->at[i];
  front->count = kept;
  return keep(front, &member);
}

static int by_places(const void *a, const void *b) {
  const struct front_member *left = a, *right = b;
  return compare_places(left->places, right->places);
}

void front_sort(struct search_front *front) {
  if (front->count)
    qsort(front->at, front->count, sizeof *front->at, by_places);
}

void front_close(struct search_front *front) {
  free(front->at);
  front->at = NULL;
  front->count = front->room = 0;
}
