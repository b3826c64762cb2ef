/* The arena planner: known optima, brute force, limits, equal plans. */
#define _GNU_SOURCE
#include "memory/plan/plan.h"

#include <inttypes.h>

#include "base/guard.h"
#include "memory/plan/plan_boxes.h"
#include "memory/plan/plan_points.h"
#include "tests/run.h"

#define DATA "tests/data/planner/"

struct instance {
  struct plan_buffer buffers[1024];
  size_t count;
};

static void *counting_resize(void *user, void *old, size_t size) {
  int64_t *blocks = user;
  if (size == 0) {
    *blocks -= old != NULL;
    free(old);
    return NULL;
  }
  *blocks += old == NULL;
  return realloc(old, size);
}

static enum plan_status try_plan(struct plan_buffer *buffers, size_t count,
                                 struct plan_options options,
                                 struct plan *plan) {
  struct arena arena;
  int64_t blocks = 0;
  arena_open(&arena, counting_resize, &blocks);
  enum plan_status status = plan_arena(&arena, buffers, count, &options, plan);
  assert_int_equal(blocks, 0); /* nothing stays behind */
  arena_close(&arena);
  return status;
}

static struct plan make_plan(struct plan_buffer *buffers, size_t count,
                             struct plan_options options) {
  struct plan plan;
  assert_int_equal(try_plan(buffers, count, options, &plan), PLAN_DONE);
  return plan;
}

static bool verify(const struct plan_buffer *buffers, size_t count,
                   struct plan_options options, int64_t height) {
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  bool right = plan_verify(&arena, buffers, count, &options, height);
  arena_close(&arena);
  return right;
}

/* The columns of the published instances are always in this order. */
static void read_instance(const char *name, struct instance *instance) {
  char path[256];
  snprintf(path, sizeof path, DATA "%s", name);
  char *text = read_text(path, NULL);
  assert_non_null(text);
  instance->count = 0;
  for (char *line = strchr(text, '\n'); line && line[1];
       line = strchr(line + 1, '\n')) {
    struct plan_buffer *b = &instance->buffers[instance->count++];
    *b = (struct plan_buffer){0};
    assert_true(instance->count < 1024);
    assert_int_equal(sscanf(line + 1 + strcspn(line + 1, ","),
                            ",%" SCNd64 ",%" SCNd64 ",%" SCNd64, &b->lower,
                            &b->upper, &b->size),
                     3);
  }
  free(text);
}

/* Networks: every one of them at its optimum, proven. */

static void networks_are_planned_at_their_optimum(void **state) {
  (void)state;
  static struct instance instance;
  char *list = read_text(DATA "cnn/LOWER_BOUNDS.csv", NULL);
  int nets = 0;
  for (char *line = strchr(list, '\n'); line && line[1];
       line = strchr(line + 1, '\n')) {
    char name[128], path[160];
    int64_t optimum;
    assert_int_equal(
        sscanf(line + 1, "%127[^,],%*d,%*d,%" SCNd64, name, &optimum), 2);
    snprintf(path, sizeof path, "cnn/%s", name);
    read_instance(path, &instance);
    struct plan plan =
        make_plan(instance.buffers, instance.count, (struct plan_options){0});
    if (plan.height != optimum || !plan.optimal)
      print_error("%s: %" PRId64 "\n", name, plan.height);
    assert_int_equal(plan.height, optimum);
    assert_true(plan.optimal);
    nets++;
  }
  assert_int_equal(nets, 18);
  free(list);
}

/* The challenging set of MiniMalloc, and instances without any slack. */

static uint64_t checksum(const struct instance *instance) {
  uint64_t sum = 0xCBF29CE484222325u; /* FNV-1a */
  for (size_t i = 0; i < instance->count; i++)
    for (int shift = 0; shift < 64; shift += 8) {
      sum ^= (uint64_t)instance->buffers[i].offset >> shift & 255;
      sum *= 0x100000001B3u;
    }
  return sum;
}

static uint64_t random_state;

static int64_t draw(int64_t from, int64_t to) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return from + (int64_t)(random_state % (uint64_t)(to - from + 1));
}

/* Rows that come as they were made are solved by first fit. */
static void shuffle(struct instance *instance) {
  random_state = 88172645463325252u;
  for (size_t left = instance->count; left > 1; left--) {
    size_t other = (size_t)draw(0, (int64_t)left - 1);
    struct plan_buffer last = instance->buffers[left - 1];
    instance->buffers[left - 1] = instance->buffers[other];
    instance->buffers[other] = last;
  }
}

/*
 * The checksums are those of every compiler and processor. Who improves the
 * search replaces them and the nodes it took: the message has the new ones.
 */
static void hard_instances_fit_and_plans_are_everywhere_the_same(void **state) {
  (void)state;
  static struct instance instance;
  static const struct {
    const char *name;
    int64_t capacity;
    bool shuffled;
    uint64_t checksum, nodes;
  } cases[] = {
      {"minimalloc/A.1048576.csv", 1048576, false, 0xE51913EFE37DAA59, 154},
      {"minimalloc/B.1048576.csv", 1048576, false, 0xCFBCEC0B02BCCB99, 170},
      {"minimalloc/C.1048576.csv", 1048576, false, 0xED09E5A61F64DD3A, 203},
      {"minimalloc/D.1048576.csv", 1048576, false, 0xF6C711650662153C, 213},
      {"minimalloc/E.1048576.csv", 1048576, false, 0x614CC5CBA83C52E9, 215},
      {"minimalloc/F.1048576.csv", 1048576, false, 0xD298075874037C40, 932},
      {"minimalloc/G.1048576.csv", 1048576, false, 0xAC0E71D7781FDB95, 302},
      {"minimalloc/H.1048576.csv", 1048576, false, 0xF81CE71D26A3A0AA, 543},
      {"minimalloc/I.1048576.csv", 1048576, false, 0xDF29ED8008271893, 23145},
      {"minimalloc/J.1048576.csv", 1048576, false, 0x9443F73358A15CB6, 642},
      {"minimalloc/K.1048576.csv", 1048576, false, 0x5990E334E78DC937, 454},
      {"minimalloc/C.1048576.csv", 1039360, false, 0xED09E5A61F64DD3A, 203},
      {"perfect/p50_1.csv", 1048576, true, 0x82E4C6F5301471FA, 50},
      {"perfect/p100_1.csv", 1048576, true, 0xF47E678808386097, 100},
      {"perfect/p200_1.csv", 1048576, true, 0x079FB2D95A817FEB, 200},
      {"perfect/p300_1.csv", 1048576, false, 0x9B5724CB27AB5A8A, 0},
      {"minimalloc/D.1048576.csv", 986112, false, 0xF66061CF9F55EABB, 3097},
      {"perfect/p150_1.csv", 1048576, true, 0x6DCA4E5F78A60301, 150},
      {"perfect/p300_1.csv", 1048576, true, 0x35C77688304B9156, 5874},
  };
  bool same = true;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    read_instance(cases[i].name, &instance);
    if (cases[i].shuffled)
      shuffle(&instance);
    struct plan plan =
        make_plan(instance.buffers, instance.count,
                  (struct plan_options){.capacity = cases[i].capacity});
    if (plan.height > cases[i].capacity)
      print_error("%s: %" PRId64 "\n", cases[i].name, plan.height);
    assert_true(plan.height <= cases[i].capacity);
    uint64_t sum = checksum(&instance);
    bool equal = sum == cases[i].checksum && plan.nodes == cases[i].nodes;
    if (!equal)
      print_error("      {\"%s\", %" PRId64 ", %s, 0x%016" PRIX64 ", %" PRIu64
                  "},\n",
                  cases[i].name, cases[i].capacity,
                  cases[i].shuffled ? "true" : "false", sum, plan.nodes);
    same = same && equal;
  }
  assert_true(same);
}

/* Cuts one of the buffers in two, in time or in bytes, `grain` at least. */
static void cut(struct instance *instance, int64_t grain) {
  struct plan_buffer *a =
      &instance->buffers[draw(0, (int64_t)instance->count - 1)];
  struct plan_buffer *b = &instance->buffers[instance->count];
  *b = *a;
  if (draw(0, 1) && a->upper - a->lower > 1) {
    a->upper = b->lower = draw(a->lower + 1, a->upper - 1);
  } else if (a->size > grain) {
    b->size = draw(1, a->size / grain - 1) * grain;
    a->size -= b->size;
  } else {
    return;
  }
  instance->count++;
}

/*
 * A block that is cut into pieces has room for all of them. Boxes find most of
 * these plans; one of the largest is found only by the search of the buffers.
 */
static void pieces_of_a_block_fit_into_it(void **state) {
  (void)state;
  static struct instance instance;
  for (uint64_t round = 0; round < 60; round++) {
    int64_t grain = round % 3 ? 1 : 64;
    instance.count = 1;
    instance.buffers[0] = (struct plan_buffer){0, 50, 1024 * grain, 0, 0};
    random_state = 88172645463325252u + (round << 32);
    while (instance.count < 20 + 3 * round)
      cut(&instance, grain);
    shuffle(&instance);
    struct plan plan = make_plan(instance.buffers, instance.count,
                                 (struct plan_options){.align = grain});
    assert_int_equal(plan.height, 1024 * grain);
    assert_true(plan.optimal);
  }
}

/* Brute force: each plan can be compacted to one that some order of placing
   each buffer on top of the earlier ones gives. */

struct orders {
  const struct plan_buffer *buffers;
  size_t count;
  int64_t offset[8], best;
};

static void try_orders(struct orders *o, unsigned placed, int64_t height) {
  if (height >= o->best)
    return;
  if (placed == (1u << o->count) - 1)
    o->best = height;
  for (size_t i = 0; i < o->count; i++) {
    const struct plan_buffer *b = &o->buffers[i];
    int64_t offset = 0, align = b->align ? b->align : 1;
    if (placed >> i & 1)
      continue;
    for (size_t k = 0; k < o->count; k++) {
      const struct plan_buffer *c = &o->buffers[k];
      if (placed >> k & 1 && c->lower < b->upper && b->lower < c->upper &&
          o->offset[k] + c->size > offset)
        offset = o->offset[k] + c->size;
    }
    offset = (offset + align - 1) / align * align;
    o->offset[i] = offset;
    int64_t top = offset + b->size;
    try_orders(o, placed | 1u << i, top > height ? top : height);
  }
}

/* True if no plan reaches the greatest load. */
static bool check_by_orders(struct plan_buffer *buffers, size_t count) {
  struct orders orders = {buffers, count, {0}, INT64_MAX};
  struct plan plan = make_plan(buffers, count, (struct plan_options){0});
  try_orders(&orders, 0, 0);
  if (plan.height != orders.best) {
    print_error("%" PRId64 ", not %" PRId64 ":", plan.height, orders.best);
    for (size_t i = 0; i < count; i++)
      print_error(" {%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "}",
                  buffers[i].lower, buffers[i].upper, buffers[i].size,
                  buffers[i].align);
  }
  assert_int_equal(plan.height, orders.best);
  assert_int_equal(plan.lower_bound, orders.best);
  assert_true(plan.optimal);
  assert_true(verify(buffers, count, (struct plan_options){0}, plan.height));
  int64_t load = 0;
  for (int64_t time = 0; time < 8; time++) {
    int64_t here = 0;
    for (size_t i = 0; i < count; i++)
      if (buffers[i].lower <= time && time < buffers[i].upper)
        here += buffers[i].size;
    load = here > load ? here : load;
  }
  return plan.height > load;
}

static void check_random(int rounds, bool aligned) {
  for (int round = 0; round < rounds; round++) {
    struct plan_buffer buffers[8] = {0};
    size_t count = (size_t)draw(1, 7);
    int64_t span = draw(3, 8), largest = draw(1, 9);
    for (size_t i = 0; i < count; i++) {
      buffers[i].lower = draw(0, span - 1);
      buffers[i].upper = draw(buffers[i].lower + 1, span);
      buffers[i].size = draw(1, largest);
      buffers[i].align = aligned ? (int64_t)1 << draw(0, 2) : 0;
    }
    buffers[0].align = aligned; /* so that sizes are not rounded */
    check_by_orders(buffers, count);
  }
}

static void small_instances_are_planned_as_brute_force_does(void **state) {
  (void)state;
  random_state = 88172645463325252u;
  check_random(tenth(40000), false);
}

static void
alignments_of_their_own_are_planned_as_brute_force_does(void **state) {
  (void)state;
  random_state = 362436069362436069u;
  check_random(tenth(15000), true);
}

/* Found by squaring, without a table: a bit each time that it passes 2. */
static void logarithms_are_those_of_squaring(void **state) {
  (void)state;
  for (int64_t mantissa = 256; mantissa < 512; mantissa++) {
    long double value = (long double)mantissa / 256;
    int64_t fraction = 0;
    for (int bit = 0; bit < 8; bit++) {
      value *= value;
      fraction = fraction * 2 + (value >= 2);
      value /= value >= 2 ? 2 : 1;
    }
    assert_int_equal(plan_log2(mantissa), 8 * 256 + fraction);
    assert_int_equal(plan_log2(mantissa << 20 | 7), 28 * 256 + fraction);
    if (mantissa % 128 == 0)
      assert_int_equal(plan_log2(mantissa >> 7), 256 + fraction);
  }
  assert_int_equal(plan_log2(1), 0);
  assert_int_equal(plan_log2(0), 0);
  assert_int_equal(plan_log2(3), 256 + 149); /* 256 * 0.58496 is 149.75 */
  assert_int_equal(plan_log2(INT64_MAX), 62 * 256 + 255);
}

/* Buffers of random lives; some kinds are aligned. */
static void draw_lives(struct instance *instance, size_t count, int kind) {
  int64_t span = (int64_t)count * (1 + kind % 3);
  for (instance->count = 0; instance->count < count; instance->count++) {
    struct plan_buffer *b = &instance->buffers[instance->count];
    int64_t life = draw(0, 3) == 0 || kind == 0 ? span / 3 + 1 : 6;
    *b = (struct plan_buffer){.lower = draw(0, span)};
    b->upper = b->lower + draw(1, life);
    b->size = kind == 2 ? draw(1, 6) * 10 : draw(1, 200);
    b->align = kind > 0 ? (int64_t)1 << draw(0, 2 * kind) : 0;
  }
}

/*
 * Plans that few steps must suffice for, which shows how they are spent; as
 * equal everywhere as the hard ones. BLESS=1 writes
 * tests/data/planner/plans.csv anew when a search is better.
 */
static void plans_are_as_they_were(void **state) {
  (void)state;
  static struct instance instance;
  static const uint64_t efforts[] = {100, 40, 300, 2500};
  char *made = NULL;
  size_t length;
  FILE *out = open_memstream(&made, &length);
  fprintf(out, "buffers,capacity,effort,height,bound,spent,offsets\n");
  for (int round = 0; round < 300; round++) {
    struct plan_options options = {.align = round % 5 == 4 ? 16 : 0,
                                   .nodes =
                                       round < 12 ? 0 : efforts[round % 4]};
    random_state = 88172645463325252u + ((uint64_t)round << 32);
    if (round >= 240) { /* where many tastes are tried */
      options.nodes = 6000;
      draw_lives(&instance, (size_t)(16 + round % 40), 1 + round % 3);
    } else if (round % 3 == 2) {
      instance.count = 1;
      instance.buffers[0] = (struct plan_buffer){0, 40, 2048, 0, 0};
      while (instance.count < (size_t)(20 + round))
        cut(&instance, 1);
      shuffle(&instance);
      if (round % 2)
        options.capacity = 2048 + draw(0, 200);
    } else {
      draw_lives(&instance, (size_t)(8 + round / 2), round / 3 % 4);
    }
    struct plan plan = make_plan(instance.buffers, instance.count, options);
    assert_true(verify(instance.buffers, instance.count, options, plan.height));
    fprintf(out, "%zu,%d,%d,%d,%d,%d,%016" PRIX64 "\n", instance.count,
            (int)options.capacity, (int)options.nodes, (int)plan.height,
            (int)plan.lower_bound, (int)plan.nodes, checksum(&instance));
  }
  fclose(out);
  check_file("tests/data/planner/plans.csv", made);
  free(made);
}

/* The one of least rank in the box that is not removed. */
static uint32_t look_at_all(const struct plan_points *p, struct plan_box box) {
  uint32_t least = PLAN_NOBODY;
  for (size_t i = 0; i < p->count; i++) {
    const struct plan_item *item = &p->items[i];
    if (item->first >= box.first && item->first <= box.first_most &&
        item->last >= box.last && item->last <= box.last_most &&
        p->rank[i] < least)
      least = p->rank[i];
  }
  return least;
}

/* In how many steps is as equal everywhere as what is found. */
static void points_are_found_as_by_looking_at_all(void **state) {
  (void)state;
  static struct plan_item items[150];
  uint32_t rank[150];
  int64_t steps = 0;
  random_state = 88172645463325252u;
  for (size_t count = 1; count <= 150; count++) {
    struct arena arena;
    struct plan_points points;
    struct plan_part part = {.items = items, .count = count};
    arena_open(&arena, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
      items[i].first = (int32_t)draw(0, 40);
      items[i].last = (int32_t)draw(items[i].first + 1, 41);
      rank[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < count; i++) {
      size_t other = (size_t)draw(0, (int64_t)count - 1);
      uint32_t here = rank[i];
      rank[i] = rank[other];
      rank[other] = here;
    }
    plan_points_open(&points, &arena, &part);
    plan_points_fill(&points, rank);
    for (int i = 0; i < 100; i++) {
      int32_t first = (int32_t)draw(0, 40), last = (int32_t)draw(1, 41);
      struct plan_box box = {first, (int32_t)draw(first, 41), last,
                             (int32_t)draw(last, 42)};
      assert_int_equal(plan_points_find(&points, box),
                       look_at_all(&points, box));
      uint32_t item = (uint32_t)draw(0, (int64_t)count - 1);
      if (i % 2)
        plan_points_remove(&points, item);
    }
    steps += points.steps;
    arena_close(&arena);
  }
  assert_int_equal(steps, 123738);
}

/* The ways to a plan, one by one: plan_part takes the first that arrives. */

enum { MOST_ITEMS = 320 };

struct drawn_part {
  struct plan_part part;
  struct plan_item items[MOST_ITEMS];
  int64_t load[MOST_ITEMS], best[MOST_ITEMS];
};

/* Loads and the bound, without a plan. */
static struct plan_part *close_part(struct drawn_part *d, size_t count,
                                    int32_t sections) {
  memset(d->load, 0, sizeof d->load);
  d->part = (struct plan_part){.items = d->items,
                               .count = count,
                               .load = d->load,
                               .sections = sections,
                               .height = INT64_MAX,
                               .best = d->best};
  for (size_t i = 0; i < count; i++)
    for (int32_t k = d->items[i].first; k < d->items[i].last; k++)
      d->load[k] += d->items[i].size;
  for (int32_t k = 0; k < sections; k++)
    if (d->load[k] > d->part.bound)
      d->part.bound = d->load[k];
  return &d->part;
}

static struct plan_part *draw_part(struct drawn_part *d, int round) {
  size_t count = (size_t)draw(6, 60);
  int32_t sections = (int32_t)draw(4, (int64_t)count);
  for (size_t i = 0; i < count; i++) {
    struct plan_item *item = &d->items[i];
    int32_t first = (int32_t)(i * (size_t)sections / count);
    int32_t last = first + (int32_t)draw(1, round % 2 ? 4 : sections);
    item->first = first;
    item->last = last < sections ? last : sections;
    item->size = round % 3 ? draw(1, 40) : draw(1, 3) * 10;
    item->align = round % 5 == 4 ? (int64_t)1 << draw(0, 3) : 1;
    item->origin = i;
  }
  return close_part(d, count, sections);
}

static uint64_t mix(uint64_t sum, int64_t value) {
  return (sum ^ (uint64_t)value) * 0x100000001B3u; /* FNV-1a, of words */
}

static uint64_t mix_plan(uint64_t sum, struct plan_part *part) {
  sum = mix(sum, part->height);
  for (size_t i = 0; i < part->count && part->height < INT64_MAX; i++)
    sum = mix(sum, part->best[i]);
  part->height = INT64_MAX;
  return sum;
}

/* As equal everywhere as the plans above: whose way is improved, whose
   checksum is replaced. */
static void each_way_to_a_plan_is_as_it_was(void **state) {
  (void)state;
  static struct drawn_part d;
  uint64_t first = 0, fullest = 0, skyline = 0, searched = 0, boxes = 0;
  random_state = 88172645463325252u;
  for (int round = 0; round < 150; round++) {
    struct arena arena;
    arena_open(&arena, NULL, NULL);
    struct plan_part *part = draw_part(&d, round);
    int64_t bound = part->bound;
    for (int more = 0; more < 3; more++) {
      int64_t goal = bound + more * bound / 8;
      first = mix(first, plan_first_fit(part, goal));
      first = mix_plan(first, part);
      fullest = mix(fullest, plan_fullest_first(&arena, part, goal));
      fullest = mix_plan(fullest, part);
    }
    for (size_t most = 1; most < 10; most++) {
      plan_skyline(&arena, part, 0, most);
      skyline = mix_plan(skyline, part);
    }
    struct plan_effort effort = {.most = UINT64_MAX};
    struct plan_search *search =
        plan_search_open(&arena, part, &effort, 88172645463325252u);
    for (int more = 0; more < 3; more++) {
      int64_t goal = bound + more * bound / 16;
      searched =
          mix(searched, plan_search_at(search, goal, round % 2 ? 700 : 4000));
      searched = mix(searched, (int64_t)effort.spent);
      searched = mix_plan(searched, part);
    }
    uint64_t random = 88172645463325252u;
    struct plan_boxes *b = plan_boxes_open(&arena, part);
    boxes = mix(boxes, b != NULL);
    for (int i = 0; b && i < 3; i++) {
      plan_skyline(&arena, plan_boxes_draw(b, &random), 0, 2);
      plan_boxes_take(b);
      boxes = mix_plan(boxes, part);
    }
    arena_close(&arena);
  }
  print_message("%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64
                ", %#" PRIx64 "\n",
                first, fullest, skyline, searched, boxes);
  assert_true(first == 0x928b23f1ed09224f);
  assert_true(fullest == 0xea0d70b525f38b5b);
  assert_true(skyline == 0x70c6c93a7eaee728);
  assert_true(searched == 0x705e1c8b7e67fbd);
  assert_true(boxes == 0x220a8af24696150b);
}

/* First fit, of which every step looks at all. */
static void first_fit_takes_the_lowest_place(void **state) {
  (void)state;
  static struct drawn_part d;
  random_state = 362436069362436069u;
  for (int round = 0; round < 300; round++) {
    struct plan_part *part = draw_part(&d, round);
    int64_t height = 0, place[MOST_ITEMS];
    for (size_t i = 0; i < part->count; i++) {
      const struct plan_item *item = &part->items[i];
      place[i] = 0;
      for (size_t k = 0; k < i; k++) /* anew after each that is in the way */
        if (part->items[k].last > item->first &&
            place[k] < place[i] + item->size &&
            place[i] < place[k] + part->items[k].size) {
          place[i] = plan_align(place[k] + part->items[k].size, item->align);
          k = SIZE_MAX;
        }
      if (place[i] + item->size > height)
        height = place[i] + item->size;
    }
    assert_false(plan_first_fit(part, height - 1));
    assert_true(plan_first_fit(part, height));
    assert_int_equal(part->height, height);
    for (size_t i = 0; i < part->count; i++)
      assert_int_equal(part->best[i], place[i]);
  }
}

static void put_items(struct drawn_part *d, size_t *count, size_t more,
                      int32_t first, int32_t last) {
  for (; more > 0; more--)
    d->items[(*count)++] = (struct plan_item){first, last, 1, 1, 0};
}

static bool is_filled(struct drawn_part *d, size_t count, int32_t sections) {
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  struct plan_part *part = close_part(d, count, sections);
  bool filled = plan_fullest_first(&arena, part, (int64_t)count);
  arena_close(&arena);
  return filled;
}

/* So many and no more. */
static void plain_ways_have_limits(void **state) {
  (void)state;
  static struct drawn_part d;
  for (size_t over = 0; over < 2; over++) {
    size_t count = 0;
    put_items(&d, &count, 128 + over, 0, 1); /* are born together */
    assert_int_equal(plan_first_fit(close_part(&d, count, 1), 1000), !over);
    count = 0;
    put_items(&d, &count, 127 + over, 0, 2); /* live when one is born */
    put_items(&d, &count, 1, 1, 2);
    assert_int_equal(plan_first_fit(close_part(&d, count, 2), 1000), !over);
    count = 0;
    put_items(&d, &count, 256 + over, 0, 1); /* in a section */
    assert_int_equal(is_filled(&d, count, 1), !over);
    count = 0;
    put_items(&d, &count, 10, 0, 1);
    put_items(&d, &count, 140, 0, 2); /* beside the one in the middle */
    put_items(&d, &count, 1, 1, 3);
    put_items(&d, &count, 116 + over, 2, 4);
    put_items(&d, &count, 30, 3, 4);
    assert_int_equal(is_filled(&d, count, 4), !over);
    count = 0;
    put_items(&d, &count, 2, 0, 65); /* live long */
    put_items(&d, &count, 1, 0, 65 + (int32_t)over);
    assert_int_equal(is_filled(&d, count, 65 + (int32_t)over), !over);
  }
}

/*
 * Every moment is full, and still no plan may reach the load: the first of
 * these needs 12, 1 more than its load. The others are its relatives.
 */
static void a_load_out_of_reach_is_proven_so(void **state) {
  (void)state;
  static const struct plan_buffer known[] = {
      {3, 5, 5, 0, 0}, {4, 5, 2, 0, 0}, {2, 5, 4, 0, 0}, {1, 4, 1, 0, 0},
      {0, 3, 2, 0, 0}, {0, 1, 9, 0, 0}, {1, 2, 8, 0, 0}, {2, 3, 4, 0, 0}};
  struct plan_buffer buffers[8];
  int out_of_reach = 0;
  memcpy(buffers, known, sizeof known);
  assert_true(check_by_orders(buffers, 8));
  random_state = 521288629521288629u;
  for (int round = 0; round < 1500; round++) {
    int64_t load[8] = {0}, most = 0;
    for (int i = 0; i < 8; i++)
      buffers[i].size =
          i < 5 ? known[i].size + draw(0, 3) : 0; /* the others fill up */
    for (int i = 0; i < 5; i++)
      for (int64_t time = known[i].lower; time < known[i].upper; time++)
        load[time] += buffers[i].size;
    for (int i = 0; i < 5; i++)
      most = load[i] > most ? load[i] : most;
    for (int i = 5; i < 8; i++)
      buffers[i].size = most - load[known[i].lower];
    out_of_reach += check_by_orders(buffers, 8);
  }
  assert_true(out_of_reach >= 20);
}

/* Limits */

static void nothing_needs_no_arena(void **state) {
  (void)state;
  struct plan plan = make_plan(NULL, 0, (struct plan_options){0});
  assert_int_equal(plan.height, 0);
  assert_true(plan.optimal);
  struct plan_buffer empty[] = {
      {0, 9, 0, 0, 7}, {5, 5, 100, 0, 7}, {7, 6, 100, 0, 7}};
  plan = make_plan(empty, 3, (struct plan_options){.align = 64});
  assert_int_equal(plan.height, 0);
  assert_int_equal(empty[0].offset + empty[1].offset + empty[2].offset, 0);
}

static void buffers_that_never_meet_share_the_ground(void **state) {
  (void)state;
  struct plan_buffer buffers[] = {{INT64_MIN, -5, 30, 0, 0},
                                  {-5, 0, 20, 0, 0},
                                  {0, 4, 10, 0, 0},
                                  {2, 6, 15, 0, 0},
                                  {6, INT64_MAX, 25, 0, 0}};
  struct plan plan = make_plan(buffers, 5, (struct plan_options){0});
  assert_int_equal(plan.height, 30);
  assert_int_equal(buffers[0].offset, 0);
  assert_int_equal(buffers[1].offset, 0);
  assert_int_equal(buffers[4].offset, 0);
}

static void offsets_are_aligned(void **state) {
  (void)state;
  struct plan_buffer buffers[] = {
      {0, 2, 100, 0, 0}, {1, 3, 60, 0, 0}, {0, 3, 1, 0, 0}};
  struct plan plan = make_plan(buffers, 3, (struct plan_options){.align = 64});
  assert_int_equal(plan.height, 256);
  for (int i = 0; i < 3; i++)
    assert_int_equal(buffers[i].offset % 64, 0);
  struct plan_buffer mixed[] = {
      {0, 2, 3, 1, 0}, {0, 2, 10, 4096, 0}, {0, 2, 5000, 24, 0}};
  plan = make_plan(mixed, 3, (struct plan_options){0});
  assert_int_equal(mixed[1].offset % 4096, 0);
  assert_int_equal(mixed[2].offset % 24, 0);
  assert_true(plan.height <= 5040);
}

static void a_capacity_that_is_too_small_shows_the_least(void **state) {
  (void)state;
  struct plan_buffer buffers[] = {
      {0, 2, 100, 0, 0}, {1, 3, 60, 0, 0}, {0, 3, 1, 0, 0}};
  struct plan plan =
      make_plan(buffers, 3, (struct plan_options){.capacity = 160});
  assert_int_equal(plan.height, 161);
  assert_int_equal(plan.lower_bound, 161);
  plan = make_plan(buffers, 3, (struct plan_options){.capacity = 1000});
  assert_true(plan.height <= 1000);
}

static void sums_beyond_63_bits_are_noticed(void **state) {
  (void)state;
  struct plan plan;
  struct plan_buffer large[] = {{0, 2, INT64_MAX, 0, 0},
                                {1, 3, INT64_MAX, 0, 0}};
  assert_int_equal(try_plan(large, 2, (struct plan_options){0}, &plan),
                   PLAN_TOO_LARGE);
  assert_int_equal(
      try_plan(large, 1, (struct plan_options){.align = 64}, &plan),
      PLAN_TOO_LARGE);
  struct plan_buffer terabytes[] = {{0, 2, (int64_t)1 << 59, 0, 0},
                                    {1, 3, ((int64_t)1 << 59) + 1, 0, 0}};
  plan = make_plan(terabytes, 2, (struct plan_options){0});
  assert_int_equal(plan.height, ((int64_t)1 << 60) + 1);
}

/* Two that wait for one another in steps of a byte, below a great capacity. */
static void small_buffers_do_not_climb_in_small_steps(void **state) {
  (void)state;
  static struct instance instance;
  instance.count = 0;
  random_state = 521288629521288629u;
  for (int i = 0; i < 60; i++) {
    int64_t lower = draw(0, 19), upper = draw(lower + 1, 20);
    int64_t size =
        i % 3 ? draw(1, 3) : draw((int64_t)1 << 40, (int64_t)1 << 41);
    instance.buffers[instance.count++] =
        (struct plan_buffer){lower, upper, size, 0, 0};
  }
  struct plan plan = make_plan(instance.buffers, instance.count,
                               (struct plan_options){.nodes = 50000});
  assert_true(plan.height >= plan.lower_bound);
}

/* A step of training: what goes forward comes back in reverse. */
static void a_long_trace_is_planned(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  static struct plan_buffer buffers[COUNT];
  random_state = 123456789123456789u;
  for (int i = 0; i < COUNT; i++) {
    int64_t lower = i / 2;
    buffers[i] =
        (struct plan_buffer){lower, i % 2 ? COUNT - lower : lower + draw(1, 6),
                             draw(1, 64) << draw(0, 14), 0, 0};
  }
  struct plan plan =
      make_plan(buffers, COUNT, (struct plan_options){.align = 256});
  assert_true(plan.height <= plan.lower_bound + plan.lower_bound / 50);
}

/* The verifier */

static void the_verifier_rejects_what_is_wrong(void **state) {
  (void)state;
  static struct instance instance;
  struct plan_options align = {.align = 64};
  struct plan_buffer pair[] = {{0, 2, 100, 0, 0}, {1, 3, 60, 0, 128}};
  assert_true(verify(pair, 2, align, 188));
  assert_false(verify(pair, 2, align, 187));
  pair[1].offset = 64;
  assert_false(verify(pair, 2, align, 1000));
  pair[1].offset = 100;
  assert_false(verify(pair, 2, align, 1000));
  assert_true(verify(pair, 2, (struct plan_options){0}, 1000));
  pair[1].offset = -64;
  assert_false(verify(pair, 2, align, 1000));
  pair[0].offset = INT64_MAX - 63;
  assert_false(verify(pair, 2, align, INT64_MAX));
  pair[0].offset = 0;
  pair[1] = (struct plan_buffer){2, 3, 60, 0, 0};
  assert_true(verify(pair, 2, align, 100));
  read_instance("cnn/nasnet_mobile_f32.csv", &instance);
  struct plan plan =
      make_plan(instance.buffers, instance.count, (struct plan_options){0});
  int rejected = 0, kept = 0;
  random_state = 1;
  for (size_t i = 0; i < instance.count; i++) {
    struct plan_buffer *b = &instance.buffers[i];
    int64_t offset = b->offset;
    b->offset = draw(0, plan.height - b->size);
    bool conflict = b->offset + b->size > plan.height;
    for (size_t k = 0; k < instance.count; k++) {
      const struct plan_buffer *c = &instance.buffers[k];
      conflict =
          conflict ||
          (k != i && c->lower < b->upper && b->lower < c->upper &&
           c->offset < b->offset + b->size && b->offset < c->offset + c->size);
    }
    bool right = verify(instance.buffers, instance.count,
                        (struct plan_options){0}, plan.height);
    assert_int_equal(right, !conflict);
    *(right ? &kept : &rejected) += 1;
    b->offset = offset;
  }
  assert_true(rejected > 0 && kept > 0);
}

/* Two of 100 and 60 bytes, of which the second may begin 10 below the first
 * or 80 above it. */
static void buffers_overlap_where_they_may(void **state) {
  (void)state;
  struct plan_overlap may = {.read = 0, .made = 1, .below = 10, .above = 80};
  struct plan_options options = {.overlaps = &may, .overlap_count = 1};
  struct plan_buffer pair[] = {{0, 2, 100, 0, 10}, {1, 3, 60, 0, 0}};
  assert_true(verify(pair, 2, options, 110));
  assert_false(verify(pair, 2, (struct plan_options){0}, 110));
  pair[1].offset = 1;
  assert_false(verify(pair, 2, options, 110));
  pair[1].offset = 89;
  assert_false(verify(pair, 2, options, 200));
  pair[1].offset = 90;
  assert_true(verify(pair, 2, options, 150));
  pair[0].upper = 3; /* it is still read later */
  assert_false(verify(pair, 2, options, 150));
  pair[0].upper = 2;
  struct plan plan = make_plan(pair, 2, options);
  assert_int_equal(plan.height, 110);
  assert_true(plan.optimal);
  /* A third one that lives with both stays apart from them. */
  struct plan_buffer three[] = {
      {0, 2, 100, 0, 0}, {1, 3, 60, 0, 0}, {0, 3, 7, 0, 0}};
  plan = make_plan(three, 3, options);
  assert_int_equal(plan.height, 117);
  options.align = 64;
  plan = make_plan(three, 3, options);
  assert_int_equal(plan.height, 256);
}

/* Chains of random sizes: no plan is above the one without overlaps, and most
 * reach their bound. */
static void chains_overlap_to_their_bound(void **state) {
  (void)state;
  enum { LENGTH = 24, ROUNDS = 200 };
  int bounds = 0;
  random_state = 123456789123456789u;
  for (int round = 0; round < ROUNDS; round++) {
    struct plan_buffer chain[LENGTH];
    struct plan_overlap may[LENGTH];
    for (int i = 0; i < LENGTH; i++)
      chain[i] =
          (struct plan_buffer){i ? i - 1 : 0, i + 1, draw(1, 1000), 0, 0};
    for (int i = 1; i < LENGTH; i++)
      may[i - 1] = (struct plan_overlap){.read = (size_t)i - 1,
                                         .made = (size_t)i,
                                         .below = draw(1, chain[i].size),
                                         .above = draw(1, chain[i - 1].size)};
    struct plan_options options = {.overlaps = may,
                                   .overlap_count = LENGTH - 1};
    struct plan apart = make_plan(chain, LENGTH, (struct plan_options){0});
    struct plan plan = make_plan(chain, LENGTH, options);
    assert_true(plan.height <= apart.height);
    assert_true(plan.height >= plan.lower_bound);
    assert_true(verify(chain, LENGTH, options, plan.height));
    bounds += plan.optimal;
  }
  assert_true(bounds >= ROUNDS / 2);
}

/* So many that each is only compared with those next to it. */
static void the_verifier_sees_both_neighbours_among_many(void **state) {
  (void)state;
  struct plan_buffer many[200];
  int64_t count = sizeof many / sizeof *many, height = 10 * (count + 1);
  for (int64_t i = 0; i < count; i++)
    many[i] = (struct plan_buffer){
        .lower = i, .upper = count + 1, .size = 10, .offset = 10 * i};
  assert_true(verify(many, (size_t)count, (struct plan_options){0}, height));
  for (int64_t i = 1; i < count; i++) {
    many[i].offset--; /* into the one below it, which is older */
    assert_false(verify(many, (size_t)count, (struct plan_options){0}, height));
    many[i].offset++;
  }
  for (int64_t i = 0; i < count; i++) /* those above are older */
    many[i].offset = 10 * (count - i);
  assert_true(verify(many, (size_t)count, (struct plan_options){0}, height));
  for (int64_t i = 1; i < count; i++) {
    many[i].offset++;
    assert_false(verify(many, (size_t)count, (struct plan_options){0}, height));
    many[i].offset--;
  }
}

/* Memory that runs out at any moment leaves nothing behind. */

struct failing {
  int64_t blocks, calls, limit;
};

static void *failing_resize(void *user, void *old, size_t size) {
  struct failing *f = user;
  if (size > 0 && f->calls++ == f->limit)
    return NULL;
  return counting_resize(&f->blocks, old, size);
}

struct attempt {
  struct arena *arena;
  struct instance *instance;
  const struct plan_options *options;
};

static void attempt_plan(void *user) {
  struct attempt *a = user;
  struct plan plan;
  plan_arena(a->arena, a->instance->buffers, a->instance->count, a->options,
             &plan);
}

static void no_memory_is_no_leak(void **state) {
  (void)state;
  static struct instance instance;
  read_instance("minimalloc/B.1048576.csv", &instance);
  int64_t limit = 0;
  for (bool done = false; !done; limit++) {
    struct failing failing = {.limit = limit};
    struct plan_options options = {.nodes = 3000};
    struct arena arena;
    struct arena *const arenas[GUARD_ARENAS] = {&arena};
    struct attempt attempt = {&arena, &instance, &options};
    arena_open(&arena, failing_resize, &failing);
    done = guard_run(arenas, attempt_plan, &attempt);
    assert_int_equal(failing.blocks, 0);
  }
  assert_true(limit > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(networks_are_planned_at_their_optimum),
      cmocka_unit_test(hard_instances_fit_and_plans_are_everywhere_the_same),
      cmocka_unit_test(pieces_of_a_block_fit_into_it),
      cmocka_unit_test(small_instances_are_planned_as_brute_force_does),
      cmocka_unit_test(alignments_of_their_own_are_planned_as_brute_force_does),
      cmocka_unit_test(logarithms_are_those_of_squaring),
      cmocka_unit_test(plans_are_as_they_were),
      cmocka_unit_test(points_are_found_as_by_looking_at_all),
      cmocka_unit_test(each_way_to_a_plan_is_as_it_was),
      cmocka_unit_test(first_fit_takes_the_lowest_place),
      cmocka_unit_test(plain_ways_have_limits),
      cmocka_unit_test(a_load_out_of_reach_is_proven_so),
      cmocka_unit_test(nothing_needs_no_arena),
      cmocka_unit_test(buffers_that_never_meet_share_the_ground),
      cmocka_unit_test(offsets_are_aligned),
      cmocka_unit_test(a_capacity_that_is_too_small_shows_the_least),
      cmocka_unit_test(sums_beyond_63_bits_are_noticed),
      cmocka_unit_test(small_buffers_do_not_climb_in_small_steps),
      cmocka_unit_test(a_long_trace_is_planned),
      cmocka_unit_test(the_verifier_rejects_what_is_wrong),
      cmocka_unit_test(the_verifier_sees_both_neighbours_among_many),
      cmocka_unit_test(buffers_overlap_where_they_may),
      cmocka_unit_test(chains_overlap_to_their_bound),
      cmocka_unit_test(no_memory_is_no_leak),
  };
  return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
