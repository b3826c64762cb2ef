/* Parses a part of YAML: keys with words, lists in brackets, lists of lines
 * with dashes, and objects of indented keys. */
#include <string.h>

#include "import/yolo/yolo.h"

struct yaml_text {
  struct yolo *y;
  const char *at, *end, *begin_of_line;
  size_t line, values;
};

static bool fail(struct yaml_text *p, const char *what) {
  return graph_fail(p->y->graph, p->line, "%s", what);
}

/* Passes blanks, and with `lines` also comments and ends of lines. */
static void pass(struct yaml_text *p, bool lines) {
  while (p->at < p->end) {
    if (*p->at == ' ' || *p->at == '\t' || *p->at == '\r') {
      p->at++;
    } else if (*p->at == '#' &&
               (p->at == p->begin_of_line || p->at[-1] == ' ' ||
                p->at[-1] == '\t' || p->at[-1] == ',' || p->at[-1] == '[')) {
      while (p->at < p->end && *p->at != '\n')
        p->at++;
    } else if (*p->at == '\n' && lines) {
      p->begin_of_line = ++p->at;
      p->line++;
    } else {
      return;
    }
  }
}

static struct yolo_value *add_value(struct yaml_text *p) {
  struct yolo_value *v = ARENA_NEW(p->y->graph->arena, struct yolo_value);
  v->line = p->line;
  if (++p->values > YOLO_VALUES)
    fail(p, "the file has too many values");
  return v;
}

/* A word up to a comma, a bracket, a comment or the end of the line. */
static struct yolo_value *read_word(struct yaml_text *p, bool flow) {
  struct yolo_value *v = add_value(p);
  const char *from = p->at;
  char quote =
      p->at < p->end && (*p->at == '"' || *p->at == '\'') ? *p->at++ : 0;
  for (; p->at < p->end && *p->at != '\n'; p->at++)
    if (quote ? *p->at == quote
              : (flow && strchr(",]", *p->at)) ||
                    (*p->at == '#' && p->at > from && p->at[-1] == ' '))
      break;
  v->text = (struct slice){from + (quote != 0),
                           (size_t)(p->at - from) - (quote != 0)};
  if (quote && (p->at == p->end || *p->at != quote))
    fail(p, "a quote is not closed");
  p->at += quote && p->at < p->end;
  while (!quote && v->text.length > 0 &&
         strchr(" \t\r", v->text.at[v->text.length - 1]))
    v->text.length--;
  return v;
}

static struct yolo_value *read_flow(struct yaml_text *p, int depth) {
  if (p->at == p->end || *p->at != '[')
    return read_word(p, true);
  struct yolo_value *v = add_value(p);
  v->list = true;
  if (depth == YOLO_DEEPEST) {
    fail(p, "lists are nested too deep");
    return v;
  }
  p->at++;
  for (;;) {
    pass(p, true);
    if (p->y->graph->failed || p->at == p->end) {
      if (!p->y->graph->failed)
        graph_fail(p->y->graph, v->line,
                   "a list is not closed: `]` is missing");
      return v;
    }
    if (*p->at == ']')
      break;
    *VEC_PUSH(p->y->graph->arena, &v->items) = read_flow(p, depth + 1);
    pass(p, true);
    if (p->at < p->end && *p->at == ',')
      p->at++;
    else if (p->at < p->end && *p->at != ']') {
      fail(p, "a list needs a comma between its values");
      return v;
    }
  }
  p->at++;
  return v;
}

static struct yolo_value *read_value(struct yaml_text *p, bool outer);

/* `key: value` lines with one indentation; those of the file have none. */
static void read_members(struct yaml_text *p, struct yolo_value *v) {
  ptrdiff_t indent = p->at - p->begin_of_line;
  while (!p->y->graph->failed && p->at < p->end &&
         p->at - p->begin_of_line == indent) {
    const char *from = p->at;
    while (p->at < p->end && *p->at != ':' && *p->at != '\n')
      p->at++;
    if (p->at == p->end || *p->at != ':') {
      fail(p, "a line has no `key:`");
      return;
    }
    struct slice key = {from, (size_t)(p->at++ - from)};
    if (key.length > 1 && (*from == '"' || *from == '\''))
      key = (struct slice){from + 1, key.length - 2};
    struct yolo_value *member = read_value(p, indent == 0);
    member->key = key;
    *VEC_PUSH(p->y->graph->arena, &v->items) = member;
    pass(p, true);
  }
}

/* The value of a key; `outer`: a key of the file, below which is more. */
static struct yolo_value *read_value(struct yaml_text *p, bool outer) {
  size_t line = p->line;
  pass(p, false);
  if (p->at < p->end && *p->at != '\n')
    return *p->at == '[' ? read_flow(p, 0) : read_word(p, false);
  pass(p, true);
  bool below = outer && p->line > line && p->at < p->end;
  bool dash = below && *p->at == '-' && p->at + 1 < p->end && p->at[1] == ' ';
  if (below && *p->at == '[')
    return read_flow(p, 0);
  struct yolo_value *v = add_value(p);
  v->list = dash;
  if (below && !dash && p->at > p->begin_of_line)
    read_members(p, v);
  ptrdiff_t indent = p->at - p->begin_of_line;
  while (dash && !p->y->graph->failed && p->end - p->at > 1 && *p->at == '-' &&
         p->at[1] == ' ' && p->at - p->begin_of_line == indent) {
    p->at++;
    pass(p, false);
    *VEC_PUSH(p->y->graph->arena, &v->items) =
        p->at < p->end && *p->at == '[' ? read_flow(p, 0) : read_word(p, false);
    pass(p, true);
  }
  return v;
}

bool yolo_parse(struct yolo *y, struct slice file) {
  struct yaml_text p = {.y = y,
                        .at = file.at,
                        .end = file.at + file.length,
                        .begin_of_line = file.at,
                        .line = 1};
  y->root = add_value(&p);
  pass(&p, true);
  if (p.end - p.at >= 3 && memcmp(p.at, "---", 3) == 0) {
    p.at += 3;
    pass(&p, true);
  }
  if (p.at < p.end && p.at != p.begin_of_line)
    return fail(&p, "the first key is indented");
  read_members(&p, y->root);
  if (!y->graph->failed && p.at < p.end)
    fail(&p, "this line is not part of the YAML that netc reads");
  return !y->graph->failed;
}

const struct yolo_value *yolo_member(const struct yolo_value *object,
                                     const char *key) {
  const struct yolo_value *found = NULL;
  for (size_t i = 0; i < object->items.count; i++)
    if (slice_is(object->items.at[i]->key, key))
      found = object->items.at[i];
  return found;
}
