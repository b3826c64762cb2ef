/*
 * Regular expressions of a list of modules: a program of Thompson's, whose
 * threads all advance with each character, so that no pattern takes long.
 */
#include "import/huggingface/quantised.h"

enum regular_op { OP_BYTE, OP_ANY, OP_CLASS, OP_END, OP_SPLIT, OP_JUMP };
enum { MOST_STEPS = 1000, DEEPEST = 20 };

struct regular_step {
  enum regular_op op;
  char byte;
  struct slice class; /* between brackets */
  int to;             /* relative: of a jump, or the other way of a split */
};

struct regular {
  struct slice text;
  size_t at;
  struct regular_step steps[MOST_STEPS + 1]; /* the last: the end */
  int count, depth;
  bool valid;
};

static int next(const struct regular *r) {
  return r->at < r->text.length ? (unsigned char)r->text.at[r->at] : -1;
}

static void add(struct regular *r, struct regular_step step) {
  r->valid = r->valid && r->count < MOST_STEPS;
  if (r->valid)
    r->steps[r->count++] = step;
}

/* Jumps are relative, so that what moves stays right. */
static void insert(struct regular *r, int at, struct regular_step step) {
  add(r, step);
  if (!r->valid)
    return;
  memmove(&r->steps[at + 1], &r->steps[at],
          (size_t)(r->count - 1 - at) * sizeof *r->steps);
  r->steps[at] = step;
}

static void alternatives(struct regular *r);

static void group(struct regular *r) {
  r->at += next(r) == '?';
  if (r->text.at[r->at - 1] == '?') {
    r->valid = r->valid && next(r) == ':'; /* no look ahead */
    r->at++;
  }
  r->valid = r->valid && ++r->depth < DEEPEST;
  if (r->valid)
    alternatives(r);
  r->depth--;
  r->valid = r->valid && next(r) == ')';
  r->at++;
}

static void escape(struct regular *r) {
  static const struct slice digits = {"0-9", 3}, word = {"a-zA-Z0-9_", 10};
  int byte = next(r);
  r->valid = r->valid && byte > 0 &&
             (byte == 'd' || byte == 'w' || !is_word_byte((char)byte));
  r->at++;
  if (byte == 'd' || byte == 'w')
    add(r, (struct regular_step){.op = OP_CLASS,
                                 .class = byte == 'd' ? digits : word});
  else
    add(r, (struct regular_step){.op = OP_BYTE, .byte = (char)byte});
}

static void class(struct regular *r) {
  size_t begin = r->at;
  while (next(r) > 0 && (next(r) != ']' || r->at == begin))
    r->at++;
  struct slice inside = slice_from(slice_to(r->text, r->at), begin);
  r->valid = r->valid && next(r) == ']' && inside.length &&
             !memchr(inside.at, '\\', inside.length);
  r->at++;
  add(r, (struct regular_step){.op = OP_CLASS, .class = inside});
}

static void one(struct regular *r) {
  int byte = next(r);
  r->at++;
  switch (byte) {
  case '(': group(r); break;
  case '[': class(r); break;
  case '\\': escape(r); break;
  case '.': add(r, (struct regular_step){.op = OP_ANY}); break;
  case '$': add(r, (struct regular_step){.op = OP_END}); break;
  case '*':
  case '+':
  case '?':
  case '{':
  case '}': r->valid = false; break;
  default: add(r, (struct regular_step){.op = OP_BYTE, .byte = (char)byte});
  }
}

static void repeated(struct regular *r) {
  int begin = r->count;
  one(r);
  int length = r->count - begin, mark = next(r);
  if (mark < 0 || !strchr("*+?", mark))
    return;
  r->at++;
  r->at += next(r) == '?'; /* as few as possible: the same for a match */
  if (mark == '+')
    add(r, (struct regular_step){.op = OP_SPLIT, .to = -length});
  else
    insert(r, begin,
           (struct regular_step){.op = OP_SPLIT,
                                 .to = length + 1 + (mark == '*')});
  if (mark == '*')
    add(r, (struct regular_step){.op = OP_JUMP, .to = -length - 1});
}

static void alternatives(struct regular *r) {
  int ends[DEEPEST], count = 0;
  for (;;) {
    int first = r->count;
    while (r->valid && next(r) >= 0 && next(r) != '|' && next(r) != ')')
      repeated(r);
    if (!r->valid || next(r) != '|')
      break;
    r->at++;
    insert(r, first,
           (struct regular_step){.op = OP_SPLIT, .to = r->count - first + 2});
    r->valid = r->valid && count < DEEPEST;
    if (r->valid)
      ends[count++] = r->count;
    add(r, (struct regular_step){.op = OP_JUMP});
  }
  for (int i = 0; i < count; i++)
    r->steps[ends[i]].to = r->count - ends[i];
}

static bool is_in(struct slice class, char byte) {
  bool others = *class.at == '^', found = false;
  for (size_t i = others; i < class.length; i++) {
    bool range = i + 2 < class.length && class.at[i + 1] == '-';
    found = found || (range ? byte >= class.at[i] && byte <= class.at[i + 2]
                            : byte == class.at[i]);
    i += range ? 2 : 0;
  }
  return found != others;
}

/* Adds a thread and where it goes without a character. */
static void follow(const struct regular *r, bool *threads, int at, bool end) {
  int open[2 * MOST_STEPS + 4], count = 0; /* each step opens two at most */
  open[count++] = at;
  while (count) {
    int now = open[--count];
    const struct regular_step *step = &r->steps[now];
    if (threads[now])
      continue;
    threads[now] = true;
    if (now == r->count)
      continue;
    if (step->op == OP_SPLIT || (step->op == OP_END && end))
      open[count++] = now + 1;
    if (step->op == OP_SPLIT || step->op == OP_JUMP)
      open[count++] = now + step->to;
  }
}

static bool takes(const struct regular_step *step, char byte) {
  return step->op == OP_ANY || (step->op == OP_BYTE && step->byte == byte) ||
         (step->op == OP_CLASS && is_in(step->class, byte));
}

bool regular_matches(const struct regular *r, struct slice text) {
  bool threads[MOST_STEPS + 1], after[MOST_STEPS + 1];
  size_t size = (size_t)r->count + 1;
  memset(threads, false, size);
  follow(r, threads, 0, text.length == 0);
  for (size_t i = 0; i < text.length && !threads[r->count]; i++) {
    memset(after, false, size);
    for (int k = 0; k < r->count; k++)
      if (threads[k] && takes(&r->steps[k], text.at[i]))
        follow(r, after, k + 1, i + 1 == text.length);
    memcpy(threads, after, size);
  }
  return threads[r->count];
}

struct regular *regular_new(struct arena *arena, struct slice pattern) {
  struct regular *r = ARENA_NEW(arena, struct regular);
  *r = (struct regular){.text = pattern, .valid = true};
  r->at = pattern.length && *pattern.at == '^';
  alternatives(r);
  return r->valid && r->at == r->text.length ? r : NULL;
}
