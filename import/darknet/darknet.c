/*
 * Reads Darknet's .cfg: sections of `key=value`, one for each layer, which
 * refer to each other by number (github.com/pjreddie/darknet, src/parser.c, and
 * AlexeyAB's fork of it).
 */
#include <ctype.h>

#include "import/darknet/darknet.h"

struct slice darknet_trim(struct slice s) {
  while (s.length && isspace((unsigned char)*s.at))
    s = slice_from(s, 1);
  while (s.length && isspace((unsigned char)s.at[s.length - 1]))
    s.length--;
  return s;
}

/* Takes the next line, without comment and blanks. */
static bool next_line(struct slice *rest, struct slice *line) {
  if (rest->length == 0)
    return false;
  const char *end = memchr(rest->at, '\n', rest->length);
  size_t length = end ? (size_t)(end - rest->at) : rest->length;
  *line = darknet_trim((struct slice){rest->at, length});
  if (line->length && (*line->at == '#' || *line->at == ';'))
    line->length = 0;
  length += end != NULL;
  *rest = (struct slice){rest->at + length, rest->length - length};
  return true;
}

static bool read_sections(struct darknet *d, struct slice rest) {
  struct graph *g = d->graph;
  struct slice line;
  for (size_t number = 1; next_line(&rest, &line); number++) {
    const char *equals = memchr(line.at, '=', line.length);
    if (line.length == 0)
      continue;
    if (*line.at == '[') {
      const char *end = memchr(line.at, ']', line.length);
      if (!end)
        return graph_fail(g, number, "a section has no closing `]`");
      struct darknet_section *s = VEC_PUSH(g->arena, &d->sections);
      s->name = (struct slice){line.at + 1, (size_t)(end - line.at) - 1};
      s->line = number;
      continue;
    }
    if (!equals || d->sections.count == 0)
      return graph_fail(g, number,
                        "`%.*s` is neither `[section]` nor "
                        "`key=value`",
                        SLICE_ARG(line));
    struct darknet_section *s = &d->sections.at[d->sections.count - 1];
    struct darknet_option *option = VEC_PUSH(g->arena, &s->options);
    size_t length = (size_t)(equals - line.at);
    option->key = darknet_trim((struct slice){line.at, length});
    option->value =
        darknet_trim((struct slice){equals + 1, line.length - length - 1});
    option->line = number;
  }
  return true;
}

/* The input is an image, or a sequence of one step for recurrent nets. */
static void read_input(struct darknet *d, struct darknet_section *net) {
  struct graph_shape shape = {3, {0}};
  bool recurrent_net = false;
  for (size_t i = 1; i < d->sections.count; i++)
    recurrent_net = recurrent_net || slice_is(d->sections.at[i].name, "gru") ||
                    slice_is(d->sections.at[i].name, "rnn") ||
                    slice_is(d->sections.at[i].name, "lstm");
  shape.size[0] = darknet_at_least(d, net, "height", 0, 0);
  shape.size[1] = darknet_at_least(d, net, "width", 0, 0);
  shape.size[2] = darknet_at_least(d, net, "channels", 0, 0);
  if (shape.size[0] <= 0 || shape.size[1] <= 0 || shape.size[2] <= 0) {
    int64_t inputs = darknet_at_least(d, net, "inputs", 0, 1);
    shape = recurrent_net ? (struct graph_shape){2, {1, inputs}}
                          : (struct graph_shape){1, {inputs}};
  }
  import_given(d->options, slice_of(""), &shape);
  graph_input(d->graph, NULL, &shape, NULL);
}

bool darknet_read(struct graph *graph, struct slice file,
                  const struct import_options *options) {
  struct darknet d = {.graph = graph, .options = options};
  if (!read_sections(&d, file))
    return false;
  if (d.sections.count == 0 || (!slice_is(d.sections.at[0].name, "net") &&
                                !slice_is(d.sections.at[0].name, "network")))
    return graph_fail(graph, 1, "the first section must be [net]");
  read_input(&d, &d.sections.at[0]);
  darknet_values_open(&d);
  for (size_t i = 1; i < d.sections.count && !graph->failed; i++) {
    int node = darknet_layer(&d, &d.sections.at[i]);
    graph_shape(graph, node);
    *VEC_PUSH(graph->arena, &d.layers) = node;
  }
  darknet_values_end(&d);
  darknet_values_close(&d);
  return !graph->failed;
}
