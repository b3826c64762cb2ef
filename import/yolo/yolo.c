/*
 * Reads the YAML of a YOLO model: scales, then the modules of `backbone` and
 * `head`, [from, repeats, module, arguments] each. The rules are those of
 * parse_model() of ultralytics' nn/tasks.py and of YOLOv5's models/yolo.py.
 */
#include "import/yolo/yolo.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/huggingface/huggingface.h"
#include "import/yolo/modules.h"

static double number_of(const struct yolo *y, const char *key, double usual) {
  double number = usual;
  const struct yolo_value *v = yolo_member(y->root, key);
  return v && yolo_number(y, v, &number) ? number : usual;
}

/* "yolov8n" of "models/yolov8n.yaml" */
static struct slice base_name(const struct yolo *y) {
  const char *path = y->options->path ? y->options->path : "yolo.yaml";
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path, *dot = strchr(name, '.');
  return (struct slice){name, dot ? (size_t)(dot - name) : strlen(name)};
}

/* The letter after the first number of a name: n of "yolov8n-seg"; 0: none. */
static char scale_in(struct slice name, size_t *at) {
  size_t i = 0;
  while (i < name.length && !is_digit(name.at[i]))
    i++;
  while (i < name.length && is_digit(name.at[i]))
    i++;
  *at = i;
  return i < name.length && strchr("nslmxbt", name.at[i]) ? name.at[i] : 0;
}

/* --as n, --as yolov8n, or the name of the file. */
static char wanted_scale(const struct yolo *y) {
  size_t at;
  const char *as = y->options->as;
  return !as               ? scale_in(base_name(y), &at)
         : strlen(as) == 1 ? *as
                           : scale_in(slice_of(as), &at);
}

/* The name of the file with the scale that is read. */
static const char *name_of_net(const struct yolo *y) {
  struct slice name = base_name(y);
  size_t at;
  char scale = scale_in(name, &at);
  struct slice rest = slice_from(name, y->scale ? at + (scale != 0) : 0);
  const char *text =
      graph_text(y->graph, "%.*s%.*s%.*s", y->scale ? (int)at : 0, name.at,
                 y->scale != 0, &y->scale, SLICE_ARG(rest));
  text = graph_identifier(y->graph, text);
  return text ? text : "yolo";
}

enum { MOST_TIMES = 1000 }; /* of depth or width */

static bool is_factor(double number) {
  return number > 0 && number <= MOST_TIMES;
}

static bool take_scale(struct yolo *y, const struct yolo_value *scale) {
  double numbers[3] = {1, 1, HUGE_VAL};
  for (size_t i = 0; i < 3; i++)
    if (scale->items.count != 3 ||
        !yolo_number(y, scale->items.at[i], &numbers[i]) ||
        (i < 2 ? !is_factor(numbers[i]) : numbers[i] <= 0))
      return graph_fail(y->graph, scale->line,
                        "a scale has three numbers above 0: depth and width of "
                        "at most %d, and the most channels",
                        MOST_TIMES);
  y->scale = scale->key.length ? scale->key.at[0] : 0;
  y->depth = numbers[0];
  y->width = numbers[1];
  y->most = numbers[2];
  return true;
}

static bool find_scale(struct yolo *y) {
  const struct yolo_value *scales = yolo_member(y->root, "scales"), *own = NULL;
  char wanted = wanted_scale(y);
  struct text names = text_new(y->graph->arena);
  y->depth = number_of(y, "depth_multiple", 1);
  y->width = number_of(y, "width_multiple", 1);
  y->most = HUGE_VAL;
  if (!scales || scales->items.count == 0)
    return (is_factor(y->depth) && is_factor(y->width)) ||
           graph_fail(y->graph, 0,
                      "its multiples must be above 0 and at most %d",
                      MOST_TIMES);
  for (size_t i = 0; i < scales->items.count; i++) {
    struct slice key = scales->items.at[i]->key;
    text_printf(&names, "%s%.*s", i ? ", " : "", SLICE_ARG(key));
    if (key.length == 1 && key.at[0] == wanted)
      own = scales->items.at[i];
  }
  if (!own && y->options->as) {
    graph_fail(y->graph, scales->line, "`%.32s` is no scale of this file",
               y->options->as);
    return graph_help(y->graph, "its scales are %s", text_string(&names));
  }
  if (!own) {
    own = scales->items.at[0];
    graph_note(y->graph,
               "The name of the file has no scale: %.*s is read, the first of "
               "%s. `--as s` reads s.",
               SLICE_ARG(own->key), text_string(&names));
  }
  return take_scale(y, own);
}

/* Classes, boxes at each place of YOLOv5, key points. */
static void find_heads(struct yolo *y) {
  const struct yolo_value *anchors = yolo_member(y->root, "anchors");
  const struct yolo_value *points = yolo_member(y->root, "kpt_shape");
  double a = 17, b = 3, classes = number_of(y, "nc", 80), number;
  y->classes = classes >= 1 && classes <= 1e6 ? (int64_t)classes : 80;
  if (anchors && anchors->list && anchors->items.count &&
      anchors->items.at[0]->list)
    y->boxes = (int64_t)anchors->items.at[0]->items.count / 2;
  else if (anchors && yolo_number(y, anchors, &number) && number >= 1 &&
           number <= 100)
    y->boxes = (int64_t)number;
  if (points && points->items.count == 2) {
    yolo_number(y, points->items.at[0], &a);
    yolo_number(y, points->items.at[1], &b);
  }
  y->points = a * b >= 1 && a * b <= 4096 ? (int64_t)(a * b) : 51;
}

/* Modules */

static bool strange(struct yolo *y, const struct yolo_value *v) {
  return graph_fail(y->graph, v->line,
                    "a module is [from, repeats, module, arguments]");
}

/* From -1, 6 or [-1, 6]: modules before this one. */
static bool take_from(struct yolo *y, struct yolo_module *m,
                      const struct yolo_value *v) {
  int64_t index = (int64_t)y->modules.count;
  size_t count = v->list ? v->items.count : 1;
  if (count == 0)
    return strange(y, v);
  for (size_t i = 0; i < count; i++) {
    double number;
    if (!yolo_number(y, v->list ? v->items.at[i] : v, &number) ||
        number != floor(number) || number < -1e6)
      return strange(y, v);
    double at = number < 0 ? (double)index + number : number;
    if (at < -1 || at >= (double)index || (at < 0 && index > 0))
      return graph_fail(y->graph, v->line,
                        "a module reads %g, but it can read modules 0 to "
                        "%" PRId64,
                        number, index - 1);
    *VEC_PUSH(y->graph->arena, &m->from) = (int64_t)at;
    if ((int64_t)at != index - 1 || i > 0)
      y->modules.at[(int64_t)at]->read = true;
  }
  return true;
}

static bool take_module(struct yolo *y, const struct yolo_value *v,
                        struct text *unknown) {
  struct yolo_module *m = ARENA_NEW(y->graph->arena, struct yolo_module);
  double repeats;
  if (v->items.count != 4 || v->items.at[2]->list || !v->items.at[3]->list ||
      !yolo_number(y, v->items.at[1], &repeats) || repeats < 1 ||
      repeats > 1000)
    return strange(y, v);
  if (y->modules.count == YOLO_MODULES)
    return graph_fail(y->graph, v->line, "more than %d modules", YOLO_MODULES);
  struct slice name = v->items.at[2]->text;
  if (name.length == 0)
    return strange(y, v);
  m->row = yolo_row_of(name);
  m->line = v->line;
  m->args = v->items.at[3];
  m->repeats = (int64_t)repeats;
  if (repeats > 1) /* round() of Python: half to even */
    m->repeats = (int64_t)fmax(nearbyint(repeats * y->depth), 1);
  if (m->repeats > 1000)
    return strange(y, v);
  if (!m->row && !map_find(&y->strange, name)) {
    map_add(y->graph->arena, &y->strange, name);
    text_printf(unknown, "%s%.*s", unknown->length ? ", " : "",
                (int)(name.length < 40 ? name.length : 40), name.at);
  }
  y->light = y->light || slice_is(name, "C3k2") || slice_is(name, "C2fCIB");
  if (!take_from(y, m, v->items.at[0]))
    return false;
  *VEC_PUSH(y->graph->arena, &y->modules) = m;
  return true;
}

static bool take_modules(struct yolo *y) {
  static const char *const parts[] = {"backbone", "head"};
  struct text unknown = text_new(y->graph->arena);
  for (int part = 0; part < 2; part++) {
    const struct yolo_value *v = yolo_member(y->root, parts[part]);
    if (part == 0 && (!v || !v->list || v->items.count == 0))
      return graph_fail(y->graph, 0, "the file has no list `backbone`");
    for (size_t i = 0; v && i < v->items.count; i++)
      if (!take_module(y, v->items.at[i], &unknown))
        return false;
  }
  if (unknown.length == 0)
    return true;
  graph_fail(y->graph, 0, "netc does not know these modules: %s",
             text_string(&unknown));
  return graph_help(y->graph, "`yolo export model=FILE.yaml format=onnx`, then "
                              "`netc` on the .onnx");
}

static bool write_module(struct yolo *y) {
  struct yolo_module *m = y->at;
  bool head = m->row->write == yolo_detect, many = head || m->from.count > 1;
  bool again = m->repeats > 1 && m->row->kind != YOLO_REPEATS;
  if (m->from.count > 1 && !head && m->row->write != yolo_concat)
    return yolo_fail(y, "reads several modules");
  if (!many && m->from.at[0] != y->index - 1)
    text_printf(&y->out, "from m%" PRId64 "\n", m->from.at[0]);
  if (m->read)
    text_printf(&y->out, "m%" PRId64 ": ", y->index);
  if (again)
    text_printf(&y->out, "%srepeat %" PRId64 " { ", m->read ? "{ " : "",
                m->repeats);
  if (!m->row->write(y))
    return false;
  if (again)
    text_printf(&y->out, " }%s", m->read ? " }" : "");
  text_put(&y->out, "\n");
  return true;
}

/* Defs */

static bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

static bool has_word(struct slice text, struct slice word) {
  for (size_t i = 0; i + word.length <= text.length; i++)
    if (memcmp(text.at + i, word.at, word.length) == 0 &&
        (i == 0 || !is_word(text.at[i - 1])) &&
        (i + word.length == text.length || !is_word(text.at[i + word.length])))
      return true;
  return false;
}

/* Puts the defs that `body` and later defs use before it. */
static struct slice with_defs(struct yolo *y, struct slice blocks,
                              struct slice body) {
  size_t end = blocks.length;
  for (size_t i = blocks.length; i-- > 0;) {
    if (i + 4 > end || memcmp(blocks.at + i, "def ", 4) != 0 ||
        (i > 0 && blocks.at[i - 1] != '\n'))
      continue;
    struct slice def = {blocks.at + i, end - i}, name = {def.at + 4, 0};
    while (is_word(name.at[name.length]))
      name.length++;
    for (const char *hash; (hash = memchr(def.at, '#', def.length));)
      def.length = (size_t)(hash - def.at); /* comment of the next def */
    if (has_word(body, name))
      body = slice_of(
          graph_text(y->graph, "%.*s%.*s", SLICE_ARG(def), SLICE_ARG(body)));
    end = i;
  }
  return body;
}

/* nn.ReLU() of `activation`, in place of silu. */
static bool take_activation(struct yolo *y, struct slice *source) {
  static const char *const words[][2] = {
      {"nn.SiLU()", "silu"},   {"nn.ReLU()", "relu"},
      {"nn.ReLU6()", "relu6"}, {"nn.LeakyReLU(0.1)", "leaky(0.1)"},
      {"nn.Mish()", "mish"},   {"nn.Hardswish()", "hswish"},
      {"nn.GELU()", "gelu"},   {"nn.ELU()", "elu"}};
  const struct yolo_value *act = yolo_member(y->root, "activation");
  struct text text = text_new(y->graph->arena);
  size_t i = 0, count = sizeof words / sizeof *words;
  while (act && i < count && !slice_is(act->text, words[i][0]) &&
         !slice_is(act->text, graph_text(y->graph, "torch.%s", words[i][0])))
    i++;
  if (i == count)
    return graph_fail(
        y->graph, act->line, "the activation `%.*s` is not supported",
        (int)(act->text.length < 64 ? act->text.length : 64), act->text.at);
  for (size_t k = 0; k < source->length;) {
    struct slice rest = slice_from(*source, k);
    bool here = slice_begins(rest, "silu") && (k == 0 || !is_word(rest.at[-1]));
    text_put(&text, here ? words[i][1] : "");
    if (!here)
      text_putc(&text, rest.at[0]);
    k += here ? 4 : 1;
  }
  *source = text_slice(&text);
  return true;
}

static bool make(struct yolo *y) {
  struct graph *graph = y->graph;
  struct slice blocks, body = text_slice(&y->out);
  int64_t side = 640, params, all;
  struct graph_shape input = {3, {0, 0, 3}};
  if (y->modules.at[y->modules.count - 1]->row->write == yolo_classify)
    side = 224;
  input.size[0] = input.size[1] = side;
  import_given(y->options, slice_of("images"), &input);
  if (!import_example(graph, y->options, "yolo/blocks/modules", &blocks))
    return graph_fail(graph, 0,
                      "examples/yolo/blocks/modules.net is not installed");
  body = with_defs(y, blocks, body);
  if (!take_activation(y, &body))
    return false;
  graph->source = text_new(graph->arena);
  for (size_t i = 0; i < graph->notes.count; i++)
    text_printf(&graph->source, "# %s\n", graph->notes.at[i]);
  text_printf(&graph->source, "net %s\ninput %s\n%.*s", name_of_net(y),
              graph_sizes(graph, input.size, input.rank), SLICE_ARG(body));
  return hugging_count(text_slice(&graph->source), &params, &all) ||
         graph_fail(graph, 0,
                    "its modules do not fit together: a tensor's sizes differ "
                    "where modules join, or are too small");
}

bool yolo_read(struct graph *graph, struct slice file,
               const struct import_options *options) {
  struct yolo y = {
      .graph = graph, .options = options, .out = text_new(graph->arena)};
  if (!yolo_parse(&y, file))
    return false;
  find_heads(&y);
  if (!find_scale(&y) || !take_modules(&y))
    return false;
  for (size_t i = 0; i < y.modules.count; i++) {
    y.at = y.modules.at[i];
    y.index = (int64_t)i;
    if (!write_module(&y))
      return false;
  }
  return make(&y);
}
