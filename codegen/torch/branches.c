/*
 * Bodies of the units in one class: lines of only some units follow an `if`,
 * whose condition is a parameter of the class.
 */
#include "codegen/torch/python.h"

enum { MOST_BRANCHES = 4 };

/* A body: finished lines, and pending lines by branch. */
struct branching_body {
  struct torch_code out, branch[MOST_BRANCHES];
};

struct branching {
  struct python *p;
  const struct python_variants *v;
  struct arena arena;            /* of everything but the result */
  bool run;                      /* forward, not __init__ */
  struct branching_body *bodies; /* by unit */
  size_t branches;
  size_t *branch_of; /* by unit */
};

static struct torch_code code_of(struct branching *w, size_t unit,
                                 size_t slot) {
  struct torch_code code = code_new(&w->arena);
  const struct python_turn *turn = python_turn_at(w->p, w->v, unit, slot);
  if (turn && w->run)
    python_put_lines_of(w->p, w->v->units[unit], turn, &code);
  else if (turn)
    python_put_makes(w->p, w->v->units[unit], turn, &code);
  return code;
}

/* Groups units by equal code in a slot. Returns the number of branches; 0: too
 * many. */
static size_t part(const struct branching *w, const struct torch_code *codes,
                   size_t *branch_of, size_t *first) {
  size_t count = 0;
  for (size_t u = 0; u < w->v->count; u++) {
    size_t i = 0;
    while (i < count && !slice_equal(text_slice(&codes[first[i]].text),
                                     text_slice(&codes[u].text)))
      i++;
    if (i == MOST_BRANCHES)
      return 0;
    if (i == count)
      first[count++] = u;
    branch_of[u] = i;
  }
  return count;
}

/* Appends lines that this unit does not run, so their numbers are unknown. */
static void append_unknown(struct torch_code *to,
                           const struct torch_code *code) {
  size_t first = to->holes.count;
  code_append(to, code);
  for (size_t i = first; i < to->holes.count; i++)
    if (to->holes.at[i].kind == HOLE_VALUE && !to->holes.at[i].flag)
      to->holes.at[i].value = (struct slice){NULL, 0};
}

static void put_indented(struct torch_code *out,
                         const struct torch_code *code) {
  bool begins = true;
  size_t at = 0;
  for (size_t i = 0; i < code->text.length; i++) {
    char c = code->text.at[i];
    if (begins)
      text_put(&out->text, "    ");
    begins = c == '\n';
    if (c == CODE_HOLE)
      code_hole(out, code->holes.at[at++]);
    else
      text_putc(&out->text, c);
  }
}

/* shortcut of `self.shortcut = ..`, roll of `x = torch.roll(..)` */
static const char *hint_of(const struct branching *w,
                           const struct torch_code *code) {
  struct slice text = text_slice(&code->text);
  struct text hint = text_new(w->p->arena);
  if (w->run && memchr(text.at, '+', text.length))
    return "residual";
  const char *end = memchr(text.at, w->run ? '(' : ' ', text.length);
  size_t last = end ? (size_t)(end - text.at) : 0, first = last;
  while (first > 0 &&
         (is_digit(text.at[first - 1]) || text.at[first - 1] == '_' ||
          (text.at[first - 1] >= 'a' && text.at[first - 1] <= 'z')))
    first--;
  text_puts(&hint, (struct slice){text.at + first, last - first});
  if (last == first)
    return "other";
  if (python_is_variable(text_slice(&hint)))
    return text_string(&hint);
  struct text with = text_new(w->p->arena);
  text_printf(&with, "with_%s", text_string(&hint));
  return text_string(&with);
}

/* The longest branch comes first; one without lines is none. */
static size_t next_branch(const struct branching *w,
                          const struct torch_code *branch, const bool *done) {
  size_t best = w->branches;
  for (size_t i = 0; i < w->branches; i++)
    if (!done[i] && (best == w->branches ||
                     branch[i].text.length > branch[best].text.length))
      best = i;
  return best;
}

static void put_branches_of(const struct branching *w, size_t unit) {
  struct torch_code *out = &w->bodies[unit].out;
  const struct torch_code *branch = w->bodies[unit].branch;
  bool done[MOST_BRANCHES] = {false};
  if (w->branches == 1)
    code_append(out, &branch[0]);
  for (size_t i = 0; w->branches > 1 && i < w->branches; i++) {
    size_t now = next_branch(w, branch, done);
    struct hole flag = {.kind = HOLE_VALUE, .flag = true};
    done[now] = true;
    if (code_is_empty(&branch[now]))
      break;
    flag.hint = hint_of(w, &branch[now]);
    flag.value = form_truth(w->branch_of[unit] == now);
    if (i + 1 == w->branches) {
      code_format(out, "else:\n");
    } else {
      code_format(out, i ? "elif " : "if ");
      code_hole(out, flag);
      code_format(out, ":\n");
    }
    put_indented(out, &branch[now]);
  }
}

static void put_branches(struct branching *w) {
  for (size_t u = 0; u < w->v->count; u++)
    put_branches_of(w, u);
  w->branches = 0;
}

static void begin_branches(struct branching *w, size_t *branch_of,
                           size_t branches) {
  put_branches(w);
  w->branch_of = branch_of;
  w->branches = branches;
  for (size_t u = 0; u < w->v->count; u++)
    for (size_t i = 0; i < branches; i++)
      w->bodies[u].branch[i] = code_new(&w->arena);
}

/* False if there are more variants than branches. */
static bool put_slot(struct branching *w, size_t slot) {
  size_t count = w->v->count, first[MOST_BRANCHES];
  size_t *branch_of = arena_alloc(&w->arena, count + 1, sizeof *branch_of);
  struct torch_code *codes = arena_alloc(&w->arena, count + 1, sizeof *codes);
  for (size_t u = 0; u < count; u++)
    codes[u] = code_of(w, u, slot);
  size_t branches = part(w, codes, branch_of, first);
  if (!branches)
    return false;
  if (branches != w->branches ||
      memcmp(branch_of, w->branch_of, count * sizeof *branch_of) != 0)
    begin_branches(w, branch_of, branches);
  for (size_t u = 0; u < count; u++)
    for (size_t i = 0; i < branches; i++)
      if (branch_of[u] == i)
        code_append(&w->bodies[u].branch[i], &codes[u]);
      else
        append_unknown(&w->bodies[u].branch[i], &codes[first[i]]);
  return true;
}

/* Joins `x = F.relu(..)` and `return x` to return F.relu(..). */
static void return_at_once(struct arena *arena, struct torch_code *run) {
  static const char word[] = "return ";
  size_t last = run->text.length, before;
  while (last > 1 && run->text.at[last - 2] != '\n')
    last--; /* one after the start of the last line */
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

/* Writes the bodies; false if there are more variants than branches. */
static bool put_all(struct branching *w) {
  struct arena *kept = w->p->arena;
  for (size_t u = 0; u < w->v->count; u++)
    w->bodies[u].out = code_new(&w->arena);
  for (size_t slot = 0; slot < w->v->slots; slot++)
    if (!put_slot(w, slot))
      return false;
  for (size_t u = 0; u < w->v->count; u++)
    for (size_t i = 0; w->run && i < w->branches; i++)
      return_at_once(&w->arena, &w->bodies[u].branch[i]);
  put_branches(w);
  for (size_t u = 0; u < w->v->count; u++) {
    struct python_unit *unit = &w->p->units.at[w->v->units[u]];
    if (w->run)
      return_at_once(&w->arena, &w->bodies[u].out);
    *(w->run ? &unit->run : &unit->make) = code_keep(kept, &w->bodies[u].out);
  }
  return true;
}

bool python_write_units(struct python *p, const struct python_variants *v) {
  bool whole = true;
  for (int run = 0; whole && run < 2; run++) {
    struct branching w = {.p = p, .v = v, .run = run == 1};
    arena_open_in(&w.arena, p->arena);
    w.bodies = arena_alloc(&w.arena, v->count + 1, sizeof *w.bodies);
    whole = put_all(&w);
    arena_close(&w.arena);
  }
  return whole;
}
