/*
 * The body of a module: the lines of __init__ and forward for each row of
 * layers and each call of an inner module. A tensor has a variable from the
 * line that makes it to the last one that reads it. Then the next tensor may
 * take the name, so that the main path is `x` throughout.
 */
#include "codegen/torch/python.h"

enum { NO_VALUE = -1 };

struct variable {
  struct slice name;
  int64_t value; /* that it holds, or NO_VALUE */
};

/* Variables that hold tensors, with the lowest free one. */
struct variables {
  VEC(struct variable) all;
  size_t lowest; /* all variables before it are in use */
};

struct body {
  struct python *p;
  struct arena *arena; /* of the current piece */
  struct python_unit *unit;
  int64_t index;             /* of the unit */
  struct variables pool;     /* x, y, z, .. */
  struct variables named;    /* named after labels */
  struct map labels;         /* of `named`, from 1 */
  const int64_t *last;       /* by value: its last reader in this body */
  int64_t *variable;         /* by value: from 1 in pool, from -1 in named */
  struct python_item *items; /* by piece, and the end */
  struct python_item *item;  /* of the current piece */
  VEC(int64_t) read;         /* values that the current statement reads */
  const char *indent;        /* of the lines: in a loop over experts */
};

/* Variables */

static struct slice pool_name(struct body *b, size_t number) {
  static const char letters[] = "xyzuvw";
  struct text text = text_new(b->p->arena);
  if (number < sizeof letters - 1)
    text_putc(&text, letters[number]);
  else
    text_printf(&text, "t%zu", number - (sizeof letters - 2));
  return text_slice(&text);
}

/* The first free variable of the pool. */
static int64_t free_one(struct body *b) {
  struct variables *pool = &b->pool;
  while (pool->lowest < pool->all.count &&
         pool->all.at[pool->lowest].value != NO_VALUE)
    pool->lowest++;
  if (pool->lowest == pool->all.count)
    *VEC_PUSH(b->p->arena, &pool->all) =
        (struct variable){pool_name(b, pool->lowest), NO_VALUE};
  return (int64_t)pool->lowest + 1;
}

/* The variable named after a label, or one of the pool if that is in use. */
static int64_t free_named(struct body *b, struct slice name) {
  struct map_entry *entry = map_add(b->p->arena, &b->labels, name);
  if (!entry->number) {
    *VEC_PUSH(b->p->arena, &b->named.all) = (struct variable){name, NO_VALUE};
    entry->number = (int64_t)b->named.all.count;
  }
  size_t at = (size_t)entry->number - 1;
  return b->named.all.at[at].value == NO_VALUE ? -entry->number : free_one(b);
}

static struct variable *variable_at(struct body *b, int64_t place) {
  return place > 0 ? &b->pool.all.at[place - 1] : &b->named.all.at[-place - 1];
}

static struct slice name_of(struct body *b, int64_t value) {
  return variable_at(b, b->variable[value])->name;
}

static struct slice hold(struct body *b, int64_t value, struct slice label) {
  int64_t place = label.at ? free_named(b, label) : free_one(b);
  b->variable[value] = place;
  variable_at(b, place)->value = value;
  return name_of(b, value);
}

static void let_go(struct body *b, int64_t value) {
  int64_t place = b->variable[value];
  struct variable *variable = variable_at(b, place);
  if (variable->value != value)
    return;
  variable->value = NO_VALUE;
  if (place > 0 && (size_t)place - 1 < b->pool.lowest)
    b->pool.lowest = (size_t)place - 1;
}

/* Frees variables that no node after `now` reads. */
static void let_go_read(struct body *b, int64_t now) {
  for (size_t i = 0; i < b->read.count; i++)
    if (b->last[b->read.at[i]] <= now)
      let_go(b, b->read.at[i]);
  b->read.count = 0;
}

/* skip of skip[3], halves of halves_2[1]: without the counters. */
static struct slice stem_of(struct slice label) {
  const char *open = memchr(label.at, '[', label.length);
  size_t length = open ? (size_t)(open - label.at) : label.length, end = length;
  if (!open)
    return label;
  while (end > 0 && is_digit(label.at[end - 1]))
    end--;
  if (end > 1 && end < length && label.at[end - 1] == '_')
    length = end - 1;
  return (struct slice){label.at, length};
}

/* True if a neighbour of the node is another part with that stem. */
static bool is_part(const struct body *b, int64_t node, struct slice stem) {
  const struct model *model = b->p->model;
  for (int64_t i = node - 1; i <= node + 1; i += 2) {
    if (i < b->unit->first || i >= b->unit->end)
      continue;
    struct slice other = name_text(&model->nodes.at[i].name);
    if (stem_of(other).length < other.length &&
        slice_equal(stem_of(other), stem))
      return true;
  }
  return false;
}

/*
 * skip[3] becomes skip_3, or skip in a module with many instances, which must
 * not differ in words. Parts stay distinct: halves_1 of halves_2[1].
 */
static struct slice variable_word(const struct body *b, struct slice label,
                                  int64_t node) {
  struct text word = text_new(b->p->arena);
  struct slice stem = stem_of(label);
  size_t last = label.length;
  if (b->unit->parent < 0)
    stem = label;
  for (size_t i = 0; i < stem.length; i++)
    if (stem.at[i] != ']')
      text_putc(&word, stem.at[i] == '[' ? '_' : stem.at[i]);
  if (stem.length == label.length || !is_part(b, node, stem))
    return text_slice(&word);
  while (label.at[last - 1] != '[')
    last--;
  text_printf(&word, "_%.*s", (int)(label.length - last - 1), label.at + last);
  return text_slice(&word);
}

/*
 * The label of a value, from its row or group, if something after the next
 * piece reads it. The main path needs no names.
 */
static struct slice label_of(struct body *b, const struct python_piece *piece,
                             int64_t value) {
  const struct model *model = b->p->model;
  const struct node_name *name = &model->nodes.at[piece->first].name;
  struct slice none = {NULL, 0};
  if (piece->unit >= 0 && b->p->units.at[piece->unit].turn)
    return none;
  if (piece->unit >= 0)
    name = &model->groups.at[b->p->units.at[piece->unit].group].name;
  if (piece->end == b->unit->end || b->last[value] < piece[1].end ||
      (name->ordinal && !name->repeated))
    return none;
  struct slice word = variable_word(b, name_text(name), piece->first);
  return python_is_variable(word) ? word : none;
}

/* Modules */

/* conv1, a module made by nn.Conv2d(..) */
static void add_own(struct body *b, int64_t node,
                    const struct torch_code *make) {
  struct python_own own = {.node = node,
                           .base = python_base(b->p, node),
                           .make = code_keep(b->p->arena, make)};
  if (b->p->given)
    python_give_name(b->p, b->index, &own);
  *VEC_PUSH(b->p->arena, &b->item->own) = own;
}

static void add_modules(struct body *b, const struct python_piece *piece) {
  for (int64_t i = piece->first; i < piece->end; i++)
    if (!code_is_empty(&b->p->made[i].make))
      add_own(b, i, &b->p->made[i].make);
}

/* Statements */

/* An expression that is not in a variable yet. */
struct pending {
  int64_t value; /* NO_VALUE: none */
  struct torch_code code;
  bool loose;
};

static void flush(struct body *b, const struct python_piece *piece,
                  struct pending *pending, int64_t now) {
  struct torch_code line = code_new(b->arena);
  if (pending->value == NO_VALUE)
    return;
  let_go_read(b, now);
  struct slice name =
      hold(b, pending->value, label_of(b, piece, pending->value));
  code_format(&line, "%s%S = %c\n", b->indent, name, &pending->code);
  code_append(&b->item->run, &line);
  if (b->last[pending->value] <= now)
    let_go(b, pending->value);
  pending->value = NO_VALUE;
}

/* Replaces a hole by an input or the pending expression. */
static void put_input(struct body *b, struct torch_code *out,
                      const struct hole *hole, const struct pending *pending,
                      int64_t value) {
  if (pending->value == value) {
    bool braces = pending->loose && hole->receiver;
    code_format(out, braces ? "(%c)" : "%c", &pending->code);
    return;
  }
  const struct made *made = &b->p->made[value];
  if (made->list && !hole->starred)
    code_format(out, "torch.cat(%S, %d)", name_of(b, value),
                (int64_t)made->joins);
  else
    code_format(out, made->list ? "*%S" : "%S", name_of(b, value));
  *VEC_PUSH(b->p->arena, &b->read) = value;
}

/* The call of a node with its inputs. */
static struct torch_code fill_in(struct body *b, int64_t node,
                                 const struct pending *pending) {
  const struct torch_code *call = &b->p->made[node].call;
  struct torch_code out = code_new(b->arena);
  size_t next = 0;
  for (size_t i = 0; i < call->text.length; i++) {
    if (call->text.at[i] != CODE_HOLE) {
      text_putc(&out.text, call->text.at[i]);
      continue;
    }
    struct hole hole = call->holes.at[next++];
    if (hole.kind != HOLE_INPUT) {
      code_hole(&out, hole);
      continue;
    }
    int64_t value = python_input(b->p, node, hole.input);
    put_input(b, &out, &hole, pending, value);
  }
  struct torch_code whole = code_new(b->arena);
  if (!b->p->made[node].joins || b->p->made[node].list)
    return out;
  code_format(&whole, "torch.cat(%c, %d)", &out,
              (int64_t)b->p->made[node].joins);
  return whole;
}

/* True if the pending expression may be nested in the next call. */
static bool nests(struct body *b, const struct pending *pending, int64_t node) {
  enum { ROOM = 64 }; /* columns after `x = ` */
  const struct made *made = &b->p->made[node];
  return pending->value != NO_VALUE &&
         b->p->made[pending->value].readers == 1 && !made->repeats &&
         code_width(&pending->code) + code_width(&made->call) <= ROOM;
}

/* True if the first operand of a sum is a variable that nobody reads again. */
static bool adds_to_variable(const struct body *b, int64_t node) {
  const struct python *p = b->p;
  if (!p->made[node].adds)
    return false;
  int64_t to = python_input(p, node, 0);
  return !p->made[to].list && b->last[to] <= node;
}

/*
 * Writes `x + y + z` as `x += y` and `x += z`. Operands contain no ` + `, since
 * a call that repeats has names for them.
 */
static void write_sum(struct body *b, const struct python_piece *piece,
                      int64_t node, const struct torch_code *sum) {
  int64_t to = python_input(b->p, node, 0);
  int64_t place = b->variable[to];
  struct slice name = name_of(b, to), label = label_of(b, piece, node);
  struct torch_code lines = code_new(b->arena);
  size_t hole = 0;
  for (size_t i = name.length; i < sum->text.length; i++) {
    const char *at = sum->text.at + i;
    if (i + 3 < sum->text.length && memcmp(at, " + ", 3) == 0) {
      code_format(&lines,
                  i > name.length ? "\n%s%S += " : "%s%S += ", b->indent, name);
      i += 2;
    } else if (*at == CODE_HOLE) {
      code_hole(&lines, sum->holes.at[hole++]);
    } else {
      text_putc(&lines.text, *at);
    }
  }
  code_format(&lines, "\n");
  let_go_read(b, node);
  b->variable[node] = place;
  variable_at(b, place)->value = node;
  if (label.at) {
    let_go(b, node);
    code_format(&lines, "%s%S = %S\n", b->indent, hold(b, node, label), name);
  }
  code_append(&b->item->run, &lines);
}

/* Appends all lines of a statement but the last, which is returned. */
static struct torch_code write_head(struct body *b,
                                    const struct torch_code *code) {
  struct torch_code line = code_new(b->arena);
  size_t hole = 0;
  for (size_t i = 0; i < code->text.length; i++) {
    if (code->text.at[i] == CODE_HOLE) {
      code_hole(&line, code->holes.at[hole++]);
      continue;
    }
    text_putc(&line.text, code->text.at[i]);
    if (code->text.at[i] != '\n')
      continue;
    code_format(&b->item->run, "%s%c", b->indent, &line);
    line = code_new(b->arena);
  }
  return line;
}

/* True if the next call reads the pending expression. */
static bool is_read(const struct body *b, const struct pending *pending,
                    int64_t node) {
  for (int i = 0; i < python_input_count(b->p, node); i++)
    if (python_input(b->p, node, i) == pending->value)
      return true;
  return false;
}

static void write_row(struct body *b, const struct python_piece *piece) {
  struct pending pending = {.value = NO_VALUE};
  add_modules(b, piece);
  for (int64_t i = piece->first; i < piece->end; i++) {
    const struct made *made = &b->p->made[i];
    if (made->real != i || code_is_empty(&made->call))
      continue;
    if (!nests(b, &pending, i) || !is_read(b, &pending, i))
      flush(b, piece, &pending, i - 1);
    pending.code = fill_in(b, i, &pending);
    if (adds_to_variable(b, i)) {
      write_sum(b, piece, i, &pending.code);
      continue;
    }
    pending.value = i;
    pending.loose = made->loose;
    if (made->opens || made->closes) {
      pending.code = write_head(b, &pending.code);
      b->indent = made->opens ? "    " : "";
      flush(b, piece, &pending, i);
    }
  }
  flush(b, piece, &pending, piece->end - 1);
}

/* x, y = self.block1(x, skip, self.emb) */
static void put_call(struct body *b, const struct python_piece *piece) {
  struct python_unit *inner = &b->p->units.at[piece->unit];
  struct torch_code call = code_new(b->arena), line = code_new(b->arena);
  code_format(&call, "%m(",
              unit_as_node(inner->again ? inner->again : piece->unit));
  for (size_t i = 0; i < inner->inputs.count; i++) {
    int64_t value = inner->inputs.at[i];
    code_format(&call, i ? ", %S" : "%S", name_of(b, value));
    *VEC_PUSH(b->p->arena, &b->read) = value;
  }
  for (size_t i = 0; i < inner->modules.count; i++)
    code_format(&call, i || inner->inputs.count ? ", %m" : "%m",
                inner->modules.at[i]);
  code_format(&call, ")");
  b->item->calls = true;
  let_go_read(b, piece->end - 1);
  for (size_t i = 0; i < inner->outputs.count; i++) {
    int64_t value = inner->outputs.at[i];
    code_format(&line, i ? ", %S" : "%S",
                hold(b, value, label_of(b, piece, value)));
  }
  code_format(&line, inner->outputs.count ? " = %c\n" : "%c\n", &call);
  code_append(&b->item->run, &line);
  for (size_t i = 0; i < inner->outputs.count; i++)
    if (b->last[inner->outputs.at[i]] < piece->end)
      let_go(b, inner->outputs.at[i]);
}

/* Block(64, 128) */
static void put_made(struct body *b, const struct python_piece *piece) {
  const struct python_unit *inner = &b->p->units.at[piece->unit];
  const struct class *class = &b->p->classes.at[inner->class_index];
  struct torch_code make = code_new(b->arena);
  bool first = true;
  code_format(&make, "%S(", class->name);
  for (size_t i = 0; i < class->param_count; i++) {
    if (class->param_flags[i])
      continue;
    code_format(&make, first ? "%v" : ", %v", class->params[i].at,
                inner->values[i]);
    first = false;
  }
  for (size_t i = 0; i < class->param_count; i++)
    if (class->param_flags[i])
      code_hole(&make, (struct hole){.kind = HOLE_VALUE,
                                     .flag = true,
                                     .hint = class->params[i].at,
                                     .key = class->params[i].at,
                                     .usual = "False",
                                     .value = inner->values[i]});
  code_format(&make, ")");
  add_own(b, unit_as_node(piece->unit), &make);
}

static void write_call(struct body *b, const struct python_piece *piece) {
  if (!b->p->units.at[piece->unit].again)
    put_made(b, piece);
  put_call(b, piece);
}

/* The end and the start */

static void find_last(struct body *b, int64_t *last) {
  const struct python *p = b->p;
  const struct python_unit *s = b->unit;
  for (size_t i = 0; i < s->pieces.count; i++) {
    const struct python_piece *piece = &s->pieces.at[i];
    const struct python_unit *inner =
        piece->unit >= 0 ? &p->units.at[piece->unit] : NULL;
    for (size_t k = 0; inner && k < inner->inputs.count; k++)
      last[inner->inputs.at[k]] = piece->end - 1;
    for (int64_t n = piece->first; !inner && n < piece->end; n++)
      for (int k = 0; k < python_input_count(p, n) && p->made[n].real == n; k++)
        last[python_input(p, n, k)] = n;
  }
  for (size_t i = 0; i < s->outputs.count; i++)
    last[s->outputs.at[i]] = INT64_MAX;
}

/* Returns outputs as users expect them: maps have channels first. */
static void put_output(struct body *b, struct torch_code *line, int64_t value) {
  const struct shape *shape = b->p->model->nodes.at[value].out;
  bool map = shape->dtype == DTYPE_FLOAT && shape->rank > 2;
  struct torch_form f = {.arena = b->arena};
  code_format(line, "%S", name_of(b, value));
  if (b->index == 0)
    form_turn(&f, line, shape, b->p->made[value].seen, map ? FIRST : LAST);
}

static void put_return(struct body *b) {
  const struct python_unit *s = b->unit;
  struct torch_code line = code_new(b->arena);
  for (size_t i = 0; i < s->outputs.count; i++) {
    code_format(&line, i ? ", " : "return ");
    put_output(b, &line, s->outputs.at[i]);
  }
  if (s->outputs.count)
    code_format(&line, "\n");
  b->items[s->pieces.count] = (struct python_item){.run = line};
}

/* Inputs of the net keep their names. */
static void name_inputs(struct body *b) {
  struct python_unit *s = b->unit;
  const struct model *model = b->p->model;
  for (size_t i = 0; i < s->inputs.count; i++) {
    struct slice label = {NULL, 0};
    const struct node *node = &model->nodes.at[s->inputs.at[i]];
    if (b->index == 0 && python_is_variable(name_text(&node->name)) &&
        !slice_is(name_text(&node->name), "input"))
      label = name_text(&node->name);
    *VEC_PUSH(b->arena, &s->names) = hold(b, s->inputs.at[i], label);
  }
  for (size_t i = 0; i < s->modules.count; i++) {
    struct text name = text_new(b->arena);
    text_printf(&name, "shared%zu", i + 1);
    *VEC_PUSH(b->arena, &s->names) = text_slice(&name);
  }
}

/* Lists the outputs of the net's `output` statements; some may repeat. */
static void find_ends(struct python *p, struct python_unit *net) {
  for (size_t i = 0; i < p->model->sources.count; i++)
    *VEC_PUSH(p->arena, &net->inputs) = p->model->sources.at[i];
  for (size_t i = 0; i < p->model->outputs.count; i++)
    *VEC_PUSH(p->arena, &net->outputs) =
        p->made[p->model->outputs.at[i].node].real;
}

/* Writes a piece and keeps only the result. */
static void write_piece(struct body *b, size_t index) {
  const struct python_piece *piece = &b->unit->pieces.at[index];
  struct arena scratch, *kept = b->arena;
  arena_open_in(&scratch, kept);
  struct python_item item = {.run = code_new(&scratch)};
  b->arena = &scratch;
  b->item = &item;
  if (piece->unit < 0)
    write_row(b, piece);
  else
    write_call(b, piece);
  item.run = code_keep(kept, &item.run);
  b->items[index] = item;
  arena_close(&scratch);
  b->arena = kept;
}

void python_write_items(struct python *p, int64_t index) {
  struct python_unit *unit = &p->units.at[index];
  struct body b = {.p = p,
                   .arena = p->arena,
                   .unit = unit,
                   .index = index,
                   .last = p->last,
                   .variable = p->variable,
                   .indent = ""};
  if (index == 0)
    find_ends(p, unit);
  b.items = arena_alloc(p->arena, unit->pieces.count + 1, sizeof *b.items);
  find_last(&b, p->last);
  name_inputs(&b);
  for (size_t i = 0; i < unit->pieces.count; i++)
    write_piece(&b, i);
  put_return(&b);
  unit->items = b.items;
  unit->item_count = unit->pieces.count + 1;
  python_find_turns(p, unit);
}
