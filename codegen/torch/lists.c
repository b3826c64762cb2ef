/*
 * The code of a turn: lines that make its modules, one by one or as lists, and
 * lines of forward, in a loop over the lists.
 */
#include <inttypes.h>

#include "codegen/torch/python.h"

struct torch_listing {
  struct python *p;
  int64_t unit;
  const struct python_item *items;
};

static struct slice path_of(const struct python *p, int64_t node) {
  return node < 0 ? p->units.at[unit_as_node(node)].path : p->made[node].path;
}

/* blocks of blocks[3] */
static struct slice list_of(const struct python *p, int64_t node) {
  struct slice path = path_of(p, node);
  while (path.length > 0 && path.at[path.length - 1] != '[')
    path.length--;
  return slice_less(path, 1);
}

/* True if lines of the turn already use a name. */
static bool is_said(const struct torch_listing *l,
                    const struct python_turn *turn, struct slice name) {
  for (size_t k = 0; k < turn->period; k++) {
    const struct text *run = &l->items[turn->first + k].run.text;
    for (size_t i = 0; i + name.length <= run->length; i++)
      if (memcmp(run->at + i, name.at, name.length) == 0)
        return true;
  }
  return false;
}

/* The loop variable of a list: conv of self.convs. */
static struct slice loop_variable(struct torch_listing *l,
                                  const struct python_turn *turn,
                                  int64_t node) {
  struct slice list = list_of(l->p, node);
  struct slice base = python_attribute(l->p->arena, python_base(l->p, node));
  struct slice plural = python_plural(l->p->arena, base);
  struct text name = text_new(l->p->arena);
  text_puts(&name, base);
  if (!l->p->given)
    text_puts(&name, slice_from(list, plural.length));
  while (!python_is_variable(text_slice(&name)) ||
         is_said(l, turn, text_slice(&name)))
    text_putc(&name, '_');
  return text_slice(&name);
}

/* Lists */

static bool number_of(struct slice value, int64_t *number) {
  enum { MOST_DIGITS = 9 };
  *number = 0;
  for (size_t i = 0; i < value.length; i++) {
    if (!is_digit(value.at[i]) || i >= MOST_DIGITS)
      return false;
    *number = 10 * *number + (value.at[i] - '0');
  }
  return value.length > 0;
}

/* 64, 96, 128: true if the numbers grow by a constant. */
static bool goes_on(const struct torch_code *a, const struct torch_code *b,
                    const struct torch_code *c) {
  bool grows = false;
  if (!slice_equal(text_slice(&a->text), text_slice(&b->text)) ||
      !slice_equal(text_slice(&a->text), text_slice(&c->text)) ||
      a->holes.count != b->holes.count || a->holes.count != c->holes.count)
    return false;
  for (size_t i = 0; i < a->holes.count; i++) {
    int64_t x, y, z;
    if (slice_equal(b->holes.at[i].value, a->holes.at[i].value) &&
        slice_equal(c->holes.at[i].value, a->holes.at[i].value))
      continue;
    if (!number_of(a->holes.at[i].value, &x) ||
        !number_of(b->holes.at[i].value, &y) ||
        !number_of(c->holes.at[i].value, &z) || z - y != y - x || y < x)
      return false;
    grows = true;
  }
  return grows;
}

/* The code of a module whose numbers grow by their distance to `next`. */
static void put_growing(struct torch_code *out, const struct torch_code *code,
                        const struct torch_code *next) {
  size_t at = 0;
  for (size_t i = 0; i < code->text.length; i++) {
    if (code->text.at[i] != CODE_HOLE) {
      text_putc(&out->text, code->text.at[i]);
      continue;
    }
    struct hole hole = code->holes.at[at];
    int64_t x, y;
    if (slice_equal(hole.value, next->holes.at[at].value)) {
      code_hole(out, hole);
    } else {
      number_of(hole.value, &x);
      number_of(next->holes.at[at].value, &y);
      if (hole.key)
        code_format(out, ", %s=", hole.key);
      code_format(out, "%i + %i * i", hole.hint, x, "growth", y - x);
    }
    at++;
  }
}

struct torch_list {
  const struct torch_listing *l;
  const struct python_turn *turn;
  size_t item, own;
};

static const struct torch_code *element(const struct torch_list *list,
                                        size_t t) {
  const struct python_item *item =
      &list->l->items[list->item + t * list->turn->period];
  return &item->own.at[list->own].make;
}

/* The number of elements from `t` on that are equal or grow by a constant. */
static size_t run_length(const struct torch_list *list, size_t t, bool *grows) {
  size_t count = 1;
  *grows = false;
  if (list->turn->times == 2) /* no runs of two: one def may have equal and
                               * unequal calls */
    return 1;
  while (t + count < list->turn->times &&
         code_equal(element(list, t), element(list, t + count)))
    count++;
  if (count > 1 || t + 3 > list->turn->times)
    return count;
  while (t + count + 1 < list->turn->times &&
         goes_on(element(list, t + count - 1), element(list, t + count),
                 element(list, t + count + 1)))
    count++;
  *grows = count > 1;
  return *grows ? count + 1 : 1;
}

/* Names of parameters are longer than numbers. */
static bool is_long(const struct torch_code *code) {
  enum { LONG = 40, NAME = 9 };
  return code->text.length + NAME * code->holes.count > LONG;
}

/* Writes a module and its count, on separate lines if both are long. */
static void put_run(struct torch_code *out, const struct torch_list *list,
                    size_t t, size_t count, bool grows, const char *indent) {
  bool breaks = is_long(element(list, t));
  if (grows)
    put_growing(out, element(list, t), element(list, t + 1));
  else
    code_append(out, element(list, t));
  if (count > 1)
    code_format(out, "%s%sfor %s in range(%i)", breaks ? "\n" : " ",
                breaks ? indent : "", grows ? "i" : "_", "depth",
                (int64_t)count);
}

/* self.blocks = nn.ModuleList(Block(64) for _ in range(3)) */
static void put_list(struct torch_code *out, const struct torch_list *list,
                     struct slice name) {
  size_t times = list->turn->times;
  bool grows;
  code_format(out, "self.%S = nn.ModuleList(", name);
  if (run_length(list, 0, &grows) == times) {
    code_format(out, is_long(element(list, 0)) ? "\n    " : "");
    put_run(out, list, 0, times, grows, "    ");
    code_format(out, ")\n");
    return;
  }
  code_format(out, "[\n");
  for (size_t t = 0, count; t < times; t += count) {
    count = run_length(list, t, &grows);
    code_format(out, count > 1 ? "    *(" : "    ");
    put_run(out, list, t, count, grows, "      ");
    code_format(out, count > 1 ? "),\n" : ",\n");
  }
  code_format(out, "])\n");
}

static void put_makes(struct torch_listing *l, struct torch_code *out,
                      const struct python_turn *turn) {
  for (size_t k = 0; k < turn->period; k++) {
    const struct python_item *item = &l->items[turn->first + k];
    for (size_t o = 0; o < item->own.count; o++) {
      const struct python_own *own = &item->own.at[o];
      struct torch_list list = {l, turn, turn->first + k, o};
      struct slice path = path_of(l->p, own->node);
      if (turn->times > 1)
        path = list_of(l->p, own->node);
      if (own->given)
        python_put_containers(l->p, l->unit, turn->first + k, o, path, out);
      if (turn->times > 1)
        put_list(out, &list, path);
      else
        code_format(out, "self.%S = %c\n", path, &own->make);
    }
  }
}

/* Lines of forward */

/* for conv, bn in zip(self.convs, self.bns): */
static void put_for(struct torch_listing *l, struct torch_code *out,
                    const struct python_turn *turn) {
  struct text lists = text_new(l->p->arena);
  int count = 0;
  code_format(out, "for ");
  for (size_t k = 0; k < turn->period; k++) {
    const struct python_item *item = &l->items[turn->first + k];
    for (size_t o = 0; o < item->own.count; o++) {
      int64_t node = item->own.at[o].node;
      struct slice list = list_of(l->p, node);
      code_format(out, count ? ", %S" : "%S", loop_variable(l, turn, node));
      text_printf(&lists, count ? ", self.%.*s" : "self.%.*s", SLICE_ARG(list));
      count++;
    }
  }
  if (count)
    code_format(out, count > 1 ? " in zip(%S):\n" : " in %S:\n",
                text_slice(&lists));
  else
    code_format(out, "_ in range(%i):\n", "times", (int64_t)turn->times);
}

/* Writes code with the names of its modules. */
static void put_run_of(struct torch_listing *l, struct torch_code *out,
                       const struct python_turn *turn,
                       const struct python_item *item) {
  bool begins = turn->times > 1, inside = begins;
  size_t at = 0;
  for (size_t i = 0; i < item->run.text.length; i++) {
    char c = item->run.text.at[i];
    if (begins)
      text_put(&out->text, "    ");
    begins = inside && c == '\n';
    if (c != CODE_HOLE) {
      text_putc(&out->text, c);
      continue;
    }
    const struct hole *hole = &item->run.holes.at[at++];
    if (hole->kind != HOLE_MODULE)
      code_hole(out, *hole);
    else if (inside && python_own_index(item, hole->node) >= 0)
      text_puts(&out->text, loop_variable(l, turn, hole->node));
    else
      python_put_path(l->p, &out->text, l->unit, hole->node);
  }
}

static void put_turn(struct torch_listing *l, struct torch_code *out,
                     const struct python_turn *turn) {
  struct torch_code body = code_new(l->p->arena);
  for (size_t k = 0; k < turn->period; k++)
    put_run_of(l, &body, turn, &l->items[turn->first + k]);
  if (turn->times > 1 && !code_is_empty(&body))
    put_for(l, out, turn);
  code_append(out, &body);
}

void python_put_makes(struct python *p, int64_t unit,
                      const struct python_turn *turn, struct torch_code *out) {
  struct torch_listing l = {p, unit, p->units.at[unit].items};
  put_makes(&l, out, turn);
}

void python_put_lines_of(struct python *p, int64_t unit,
                         const struct python_turn *turn,
                         struct torch_code *out) {
  struct torch_listing l = {p, unit, p->units.at[unit].items};
  put_turn(&l, out, turn);
}
