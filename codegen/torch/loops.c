/* Loops: lines that follow each other alike but for the numbers in names. */
#include <inttypes.h>

#include "codegen/torch/python.h"
#include "base/hash.h"

/* Items [first, first + period), `times` times. */
struct torch_turn {
  size_t first, period, times;
};

struct looping {
  struct python *p;
  struct python_unit *unit;
  const struct python_item *items;
  size_t count;
  uint64_t *hashes;
  struct torch_turn turn; /* at hand; times 1: no loop */
  int64_t start;          /* what `i` is in its first turn */
};

static void hash_items(struct looping *l) {
  l->hashes = arena_alloc(l->p->arena, l->count + 1, sizeof *l->hashes);
  for (size_t i = 0; i < l->count; i++)
    l->hashes[i] =
        hash_text(hash_text(HASH_TEXT, text_slice(&l->items[i].make.text)),
                  text_slice(&l->items[i].run.text));
}

static bool counts(const struct hole *hole) {
  return hole->kind == HOLE_MODULE && hole->ordinal >= 0;
}

/*
 * Whether `now` is what `first` is in turn `times`, if `second` is it in the
 * next one: the numbers of names grow alike.
 */
static bool follows(const struct torch_code *first,
                    const struct torch_code *second,
                    const struct torch_code *now, int64_t times) {
  if (first->holes.count != now->holes.count ||
      first->holes.count != second->holes.count ||
      !slice_equal(text_slice(&first->text), text_slice(&now->text)))
    return false;
  for (size_t i = 0; i < first->holes.count; i++) {
    struct hole hole = first->holes.at[i];
    if (counts(&hole))
      hole.ordinal += times * (second->holes.at[i].ordinal - hole.ordinal);
    if (hole.attribute != now->holes.at[i].attribute ||
        !hole_equal(&hole, &now->holes.at[i]))
      return false;
  }
  return true;
}

static bool item_follows(const struct looping *l, size_t first, size_t period,
                         size_t times) {
  const struct python_item *a = &l->items[first],
                           *b = &l->items[first + period];
  const struct python_item *now = &l->items[first + period * times];
  if (l->hashes[first] != l->hashes[first + period * times])
    return false;
  return follows(&a->make, &b->make, &now->make, (int64_t)times) &&
         follows(&a->run, &b->run, &now->run, (int64_t)times);
}

static size_t count_turns(const struct looping *l, size_t first,
                          size_t period) {
  size_t times = 1;
  while (first + period * (times + 1) <= l->count) {
    for (size_t i = 0; i < period; i++)
      if (!item_follows(l, first + i, period, times))
        return times;
    times++;
  }
  return times;
}

static size_t lines_of(const struct torch_code *code) {
  size_t lines = 0;
  for (size_t i = 0; i < code->text.length; i++)
    lines += code->text.at[i] == '\n';
  return lines;
}

/*
 * The turn from `first` on that saves the most lines; one of no saving. A
 * multiple of a period that goes on beyond its second turn saves no more.
 */
static struct torch_turn find_turn(const struct looping *l, size_t first) {
  enum { LONGEST = 64, WORTH = 2 };
  struct torch_turn best = {first, 1, 1};
  size_t saved_most = WORTH, lines = 0;
  for (size_t period = 1; period <= LONGEST && first + 2 * period <= l->count;
       period++) {
    const struct python_item *last = &l->items[first + period - 1];
    lines += lines_of(&last->make) + lines_of(&last->run);
    if (lines == 0 ||
        (period % best.period == 0 && 2 * period <= best.period * best.times))
      continue;
    size_t times = count_turns(l, first, period);
    size_t saved = (times - 1) * lines;
    if (times > 1 && saved > saved_most) {
      saved_most = saved;
      best = (struct torch_turn){first, period, times};
    }
  }
  return best;
}

/* Names in loops */

static void put_path(struct looping *l, struct text *out,
                     const struct hole *hole, const struct hole *next);

/* The first number that grows by one begins the loop; else it begins at 0. */
static int64_t start_of(const struct looping *l) {
  for (size_t i = 0; i < l->turn.period; i++) {
    const struct python_item *item = &l->items[l->turn.first + i];
    const struct python_item *next = item + l->turn.period;
    const struct torch_code *a[2] = {&item->make, &item->run};
    const struct torch_code *b[2] = {&next->make, &next->run};
    for (int k = 0; k < 2; k++)
      for (size_t h = 0; h < a[k]->holes.count; h++)
        if (counts(&a[k]->holes.at[h]) &&
            b[k]->holes.at[h].ordinal == a[k]->holes.at[h].ordinal + 1)
          return a[k]->holes.at[h].ordinal;
  }
  return 0;
}

/* {i}, {2 * i - 1}: the number of a name. */
static void put_number(struct text *out, int64_t first, int64_t by,
                       int64_t start) {
  int64_t rest = first - by * start;
  text_put(out, "{");
  if (by != 1)
    text_printf(out, "%" PRId64 " * ", by);
  text_put(out, "i");
  if (rest)
    text_printf(out, " %c %" PRId64, rest < 0 ? '-' : '+',
                rest < 0 ? -rest : rest);
  text_put(out, "}");
}

/* self.skip["3"], self.skip[f"{i}"]: of a ModuleDict. */
static void put_indexed(struct looping *l, struct text *out,
                        const struct hole *hole, int64_t by) {
  struct hole dict = *hole;
  dict.indexed = false;
  dict.ordinal = -1;
  dict.rest = (struct slice){NULL, 0};
  put_path(l, out, &dict, NULL);
  text_put(out, by ? "[f\"" : "[\"");
  if (by)
    put_number(out, hole->ordinal, by, l->start);
  else
    text_int(out, hole->ordinal);
  text_put(out, "\"]");
}

static void put_path(struct looping *l, struct text *out,
                     const struct hole *hole, const struct hole *next) {
  int64_t by = next && counts(hole) ? next->ordinal - hole->ordinal : 0;
  if (hole->local) {
    text_puts(out, hole->stem);
  } else if (hole->indexed) {
    put_indexed(l, out, hole, by);
  } else if (by == 0 && hole->attribute) {
    text_printf(out, "self.%.*s", SLICE_ARG(hole->stem));
    if (hole->ordinal >= 0)
      text_int(out, hole->ordinal);
  } else {
    l->p->helpers |= 1u << HELPER_Module;
    text_put(out, by ? "self[f\"" : "self[\"");
    python_put_plain(out, hole->stem);
    if (by)
      put_number(out, hole->ordinal, by, l->start);
    else if (hole->ordinal >= 0)
      text_int(out, hole->ordinal);
    text_put(out, "\"]");
  }
  text_puts(out, hole->rest);
}

/* Code without holes for modules; `next`: the same in the next turn. */
static void put_code(struct looping *l, struct torch_code *out,
                     const struct torch_code *code,
                     const struct torch_code *next, bool inside) {
  size_t at = 0;
  bool begins = inside;
  for (size_t i = 0; i < code->text.length; i++) {
    char c = code->text.at[i];
    if (begins)
      text_put(&out->text, "    ");
    begins = inside && c == '\n';
    if (c != CODE_HOLE) {
      text_putc(&out->text, c);
      continue;
    }
    const struct hole *hole = &code->holes.at[at];
    if (hole->kind == HOLE_MODULE)
      put_path(l, &out->text, hole, next ? &next->holes.at[at] : NULL);
    else
      code_hole(out, *hole);
    at++;
  }
}

static const struct torch_code *code_of(const struct python_item *item,
                                        bool run) {
  return run ? &item->run : &item->make;
}

/* Whether a name of the loop has another number in each turn. */
static bool uses_number(const struct looping *l, bool run) {
  for (size_t i = 0; i < l->turn.period; i++) {
    const struct python_item *item = &l->items[l->turn.first + i];
    const struct torch_code *now = code_of(item, run);
    const struct torch_code *next = code_of(item + l->turn.period, run);
    for (size_t h = 0; h < now->holes.count; h++)
      if (counts(&now->holes.at[h]) &&
          now->holes.at[h].ordinal != next->holes.at[h].ordinal)
        return true;
  }
  return false;
}

/* for i in range(1, 13): */
static void put_for(struct looping *l, struct torch_code *out, bool run) {
  int64_t times = (int64_t)l->turn.times;
  bool uses = uses_number(l, run);
  code_format(out, uses ? "for i in range(" : "for _ in range(");
  if (uses && l->start)
    code_format(out, "%d, %i):\n", l->start, "end", l->start + times);
  else
    code_format(out, "%i):\n", "times", times);
}

static void put_turn(struct looping *l, struct torch_code *out, bool run) {
  const struct torch_turn *t = &l->turn;
  bool loops = t->times > 1;
  struct torch_code body = code_new(l->p->arena);
  for (size_t i = 0; i < t->period; i++) {
    const struct python_item *item = &l->items[t->first + i];
    put_code(l, &body, code_of(item, run),
             loops ? code_of(item + t->period, run) : NULL, loops);
  }
  if (loops && !code_is_empty(&body))
    put_for(l, out, run);
  code_append(out, &body);
}

/* `x = F.relu(..)` and `return x` are one line: return F.relu(..) */
static void return_at_once(struct arena *arena, struct torch_code *run) {
  static const char word[] = "return ";
  size_t last = run->text.length, before;
  while (last > 1 && run->text.at[last - 2] != '\n')
    last--; /* one behind where the last line begins */
  if (last < 2)
    return;
  last -= 2; /* the end of the line before */
  before = last;
  while (before > 0 && run->text.at[before - 1] != '\n')
    before--;
  const char *line = run->text.at + before, *end = run->text.at + last + 1;
  size_t rest = run->text.length - last - 1;
  size_t name = rest > sizeof word ? rest - sizeof word : 0;
  if (!name || memcmp(end, word, sizeof word - 1) != 0 ||
      last - before < name + 3 ||
      memcmp(line, end + sizeof word - 1, name) != 0 ||
      memcmp(line + name, " = ", 3) != 0)
    return;
  struct text text = text_new(arena);
  text_bytes(&text, run->text.at, before);
  text_put(&text, word);
  text_bytes(&text, line + name + 3, last - before - name - 3);
  text_putc(&text, '\n');
  run->text = text;
}

void python_put_items(struct python *p, struct python_unit *unit,
                      const struct python_item *items, size_t count) {
  struct looping l = {.p = p, .unit = unit, .items = items, .count = count};
  unit->make = code_new(p->arena);
  unit->run = code_new(p->arena);
  hash_items(&l);
  for (size_t i = 0; i < count; i += l.turn.period * l.turn.times) {
    l.turn = find_turn(&l, i);
    l.start = l.turn.times > 1 ? start_of(&l) : 0;
    put_turn(&l, &unit->make, false);
    put_turn(&l, &unit->run, true);
  }
  return_at_once(p->arena, &unit->run);
}
