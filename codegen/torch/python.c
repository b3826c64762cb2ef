/* py: the net as a PyTorch module in a self-contained file. */
#include "codegen/torch/python.h"

#include <inttypes.h>

#include "netc.h"

static const struct {
  const char *text;
  uint64_t needs;
} helpers[] = {
#define HELPER(id, wanted, code) {code, wanted},
#include "codegen/torch/helpers.def"
#undef HELPER
};

/* Losses that programs write out: as functions of outputs and targets. */
static const struct {
  int loss;
  const char *text;
} losses[] = {
#define WRITTEN(loss, code) {LOSS_##loss, code},
#include "codegen/torch/losses.def"
};

enum { MOST_OF_A_LINE = 70 }; /* columns of a text, without the final `, ` */

/* Finding the parts of the file */

static const char *find_all(const struct compiled *c, struct python *p) {
  *p = (struct python){
      .c = c, .model = c->model, .arena = c->arena, .given = c->module_names};
  python_find_forms(p);
  if (p->given && !p->refuses)
    python_check_given(p);
  return p->refuses;
}

static void find_classes(struct python *p) {
  for (size_t i = 0; i < HELPER_COUNT; i++)
    for (size_t k = 0; k < HELPER_COUNT; k++)
      if (p->helpers >> k & 1)
        p->helpers |= helpers[k].needs;
  python_find_units(p);
  for (int height = 0; height <= p->units.at[0].height; height++)
    python_find_classes(p, height);
}

const char *python_refuses(const struct compiled *c) {
  struct python p;
  if (find_all(c, &p) || !c->module_names)
    return p.refuses;
  find_classes(&p);
  python_check_keys(&p);
  return p.refuses;
}

const struct slice *python_names(const struct compiled *c) {
  size_t count = c->model->nodes.count;
  struct slice *names = arena_alloc(c->arena, count + 1, sizeof *names);
  struct python p;
  if (find_all(c, &p))
    return NULL;
  find_classes(&p);
  for (size_t i = 0; i < count; i++)
    if (p.made[i].path.length)
      names[i] = python_key(&p, (int64_t)i);
  return names;
}

/* Classes */

struct python_writing {
  struct python *p;
  struct text *out;
  const struct class *class;
  const struct python_unit *unit; /* the first unit of the class */
};

/* A number, or the parameter for it, which is `self._` plus its name in
 * forward. */
static void put_value(struct python_writing *w, struct text *out,
                      const struct hole *hole, int64_t param, bool run) {
  bool usual = hole->usual && slice_is(hole->value, hole->usual);
  if (param < 0 && hole->key && usual)
    return;
  if (hole->key)
    text_printf(out,
                out->at[out->length - 1] == '(' ? "%s=" : ", %s=", hole->key);
  if (param < 0) {
    text_puts(out, hole->value);
    return;
  }
  text_put(out, run ? "self._" : "");
  text_puts(out, w->class->params[param]);
}

static void put_body(struct python_writing *w, const struct torch_code *code,
                     bool run) {
  struct text lines = text_new(w->p->arena);
  size_t at = 0, before = run ? w->unit->make.holes.count : 0;
  for (size_t i = 0; i < code->text.length; i++) {
    if (code->text.at[i] != CODE_HOLE) {
      text_putc(&lines, code->text.at[i]);
      continue;
    }
    put_value(w, &lines, &code->holes.at[at], w->class->hole_param[before + at],
              run);
    at++;
  }
  python_put_lines(w->out, text_slice(&lines), 8);
}

static bool is_used_in_run(const struct python_writing *w, size_t param) {
  size_t makes = w->unit->make.holes.count;
  for (size_t i = 0; i < w->unit->run.holes.count; i++)
    if (w->class->hole_param[makes + i] == (int64_t)param)
      return true;
  return false;
}

static void put_init(struct python_writing *w) {
  struct text line = text_new(w->p->arena);
  text_put(&line, "def __init__(self");
  for (int flags = 0; flags < 2; flags++)
    for (size_t i = 0; i < w->class->param_count; i++)
      if (w->class->param_flags[i] == (flags == 1))
        text_printf(&line, flags ? ", %.*s=False" : ", %.*s",
                    SLICE_ARG(w->class->params[i]));
  text_put(&line, "):");
  python_put_lines(w->out, text_slice(&line), 4);
  text_put(w->out, "        super().__init__()\n");
  for (size_t i = 0; i < w->class->param_count; i++)
    if (is_used_in_run(w, i))
      text_printf(w->out, "        self._%.*s = %.*s\n",
                  SLICE_ARG(w->class->params[i]),
                  SLICE_ARG(w->class->params[i]));
  put_body(w, &w->unit->make, false);
  if (w->unit == w->p->units.at && w->p->helpers >> HELPER_Rotation & 1)
    text_put(w->out, "        share_rotations(self)\n");
}

/* The arguments of a unit: inputs, then modules or single parameters. */
static bool is_tensor(const struct python_writing *w, size_t given) {
  size_t inputs = w->unit->inputs.count;
  int64_t node = given < inputs ? -1 : w->unit->modules.at[given - inputs];
  return given < inputs ||
         (node >= 0 && w->p->given && w->p->given[node].alone);
}

/* The type of an input or output in all units of the class. */
static const char *type_of(const struct python_writing *w, bool output,
                           size_t at) {
  size_t lists = 0;
  for (size_t i = 0; i < w->class->units.count; i++) {
    const struct python_unit *unit = &w->p->units.at[w->class->units.at[i]];
    int64_t value = output ? unit->outputs.at[at] : unit->inputs.at[at];
    lists += w->p->made[value].list;
  }
  return lists == 0                       ? "Tensor"
         : lists == w->class->units.count ? "list[Tensor]"
                                          : "\"Tensor | list[Tensor]\"";
}

static const char *type_given(const struct python_writing *w, size_t given) {
  return given < w->unit->inputs.count ? type_of(w, false, given)
         : is_tensor(w, given)         ? "Tensor"
                                       : "nn.Module";
}

static void put_forward(struct python_writing *w) {
  struct text line = text_new(w->p->arena);
  size_t outputs = w->unit->outputs.count;
  text_put(&line, "def forward(self");
  for (size_t i = 0; i < w->unit->names.count; i++)
    text_printf(&line, ", %.*s: %s", SLICE_ARG(w->unit->names.at[i]),
                type_given(w, i));
  text_put(&line, outputs == 0   ? ") -> None:"
                  : outputs == 1 ? ") -> "
                                 : ") -> tuple[");
  for (size_t i = 0; i < outputs; i++)
    text_printf(&line, "%s%s", i ? ", " : "", type_of(w, true, i));
  text_put(&line, outputs == 0 ? "" : outputs == 1 ? ":" : "]:");
  text_putc(w->out, '\n');
  python_put_lines(w->out, text_slice(&line), 4);
  put_body(w, &w->unit->run, true);
}

static void put_outputs(struct python_writing *w) {
  const struct model *model = w->p->model;
  struct text line = text_new(w->p->arena);
  if (model->outputs.count < 2)
    return;
  text_put(&line, "    \"\"\"Gives (");
  for (size_t i = 0; i < model->outputs.count; i++) {
    struct slice name = model->outputs.at[i].name;
    if (i > 0 && line.length + name.length > MOST_OF_A_LINE) {
      text_puts(w->out, text_slice(&line));
      text_put(w->out, ",\n");
      line = text_new(w->p->arena);
      text_put(&line, "    ");
    } else {
      text_put(&line, i ? ", " : "");
    }
    python_put_plain(&line, name);
  }
  text_puts(w->out, text_slice(&line));
  text_put(w->out, ").\"\"\"\n\n");
}

/* (N, 64, 56, 56): the shape of a value in its order */
static void put_value_shape(struct python_writing *w, struct text *out,
                            int64_t value) {
  const struct shape *shape = w->p->model->nodes.at[value].out;
  bool first = w->p->made[value].seen.order == ORDER_FIRST && shape->rank > 1;
  text_put(out, w->p->made[value].seen.one ? "(1" : "(N");
  if (first)
    text_printf(out, ", %" PRId64, shape_channels(shape));
  for (int i = 0; i < shape->rank - first; i++)
    text_printf(out, ", %" PRId64, shape->dim[i]);
  text_put(out, ")");
}

/* (N, 64, 56, 56) to (N, 256, 56, 56) */
static void put_shapes(struct python_writing *w) {
  struct text line = text_new(w->p->arena);
  for (size_t i = 0; i < w->unit->inputs.count; i++) {
    text_put(&line, i ? ", " : "");
    put_value_shape(w, &line, w->unit->inputs.at[i]);
  }
  struct text to = text_new(w->p->arena);
  text_put(&to, "to ");
  for (size_t i = 0; i < w->unit->outputs.count; i++) {
    text_put(&to, i ? ", " : "");
    put_value_shape(w, &to, w->unit->outputs.at[i]);
  }
  text_put(&to, w->class->units.count > 1 ? " in the first." : ".");
  if (line.length)
    text_putc(&line, line.length + to.length > MOST_OF_A_LINE ? '\n' : ' ');
  text_puts(&line, text_slice(&to));
  python_put_lines(w->out, text_slice(&line), 4);
}

/* stage1.block1; for an iteration: ln1 to linear2 */
static void put_unit_name(struct python_writing *w) {
  const struct model *model = w->p->model;
  struct text name = text_new(w->p->arena);
  int64_t first = w->unit->first, last = w->unit->end - 1;
  if (!w->unit->turn) {
    model_put_group_name(&name, model, w->unit->group);
  } else {
    while (first < last && code_is_empty(&w->p->made[first].make))
      first++;
    while (last > first && code_is_empty(&w->p->made[last].make))
      last--;
    model_put_name(&name, model, first);
    text_put(&name, " to ");
    model_put_name(&name, model, last);
  }
  python_put_plain(w->out, text_slice(&name));
}

/* Writes the class's name in netc's report, and its shapes. */
static void put_where(struct python_writing *w) {
  size_t more = w->class->units.count - 1;
  text_put(w->out, "    \"\"\"");
  put_unit_name(w);
  if (more)
    text_printf(w->out, " and %zu more", more);
  text_put(w->out, "\n\n");
  put_shapes(w);
  text_put(w->out, "    \"\"\"\n\n");
}

/* torch.jit.script omits code after an `if` on a false constant. */
static void put_constants(struct python_writing *w) {
  enum { WIDTH = 79 };
  static const char begin[] = "    __constants__ = [";
  size_t width = 0; /* of the last line */
  for (size_t i = 0; i < w->class->param_count; i++) {
    size_t needs = w->class->params[i].length + strlen(", \"_\"]");
    if (!w->class->param_flags[i] || !is_used_in_run(w, i))
      continue;
    if (!width)
      text_put(w->out, begin);
    else if (width + needs > WIDTH)
      text_printf(w->out, ",\n%*s", (int)strlen(begin), "");
    else
      text_put(w->out, ", ");
    width =
        (!width || width + needs > WIDTH ? strlen(begin) : width) + needs - 1;
    text_printf(w->out, "\"_%.*s\"", SLICE_ARG(w->class->params[i]));
  }
  text_put(w->out, width ? "]\n\n" : "");
}

static void put_class(struct python_writing *w) {
  text_printf(w->out, "\n\nclass %.*s(nn.Module):\n",
              SLICE_ARG(w->class->name));
  if (w->unit != w->p->units.at)
    put_where(w);
  else
    put_outputs(w);
  put_constants(w);
  put_init(w);
  put_forward(w);
}

/* The file */

static void put_input(struct text *out, const struct shape *shape) {
  bool map = shape->dtype == DTYPE_FLOAT && shape->rank > 2;
  text_put(out, "torch.zeros(1");
  if (map)
    text_printf(out, ", %" PRId64, shape_channels(shape));
  for (int i = 0; i < shape->rank - map; i++)
    text_printf(out, ", %" PRId64, shape->dim[i]);
  text_put(out, shape->dtype == DTYPE_FLOAT ? ")" : ", dtype=torch.long)");
}

static void put_main(struct python_writing *w) {
  const struct model *model = w->p->model;
  struct text line = text_new(w->p->arena);
  text_printf(w->out,
              "\n\nif __name__ == \"__main__\":\n"
              "    net = %.*s().eval()\n"
              "    print(sum(p.numel() for p in net.parameters()), "
              "\"parameters\")\n"
              "    with torch.no_grad():\n",
              SLICE_ARG(w->class->name));
  text_put(&line, "out = net(");
  for (size_t i = 0; i < model->sources.count; i++) {
    text_put(&line, i ? ", " : "");
    put_input(&line, model->nodes.at[model->sources.at[i]].out);
  }
  text_putc(&line, ')');
  python_put_lines(w->out, text_slice(&line), 8);
  if (model->outputs.count > 1)
    text_put(w->out,
             "    for each in out:\n        print(tuple(each.shape))\n");
  else
    text_put(w->out, "    print(tuple(out.shape))\n");
}

static bool holds(const struct text *text, const char *word) {
  size_t length = strlen(word);
  for (size_t i = 0; i + length <= text->length; i++)
    if (memcmp(text->at + i, word, length) == 0)
      return true;
  return false;
}

static void put_head(struct python *p, struct text *out,
                     const struct text *rest) {
  struct slice name = p->model->name;
  enum { LONGEST_NAME = 60 };
  if (name.length > LONGEST_NAME)
    name.length = LONGEST_NAME;
  text_put(out, "# ");
  python_put_plain(out, name);
  text_put(out, ", by netc " NETC_VERSION ":\n# ");
  text_count(out, p->model->total.params);
  text_put(out, " parameters, ");
  text_count(out, p->model->total.macs);
  text_put(out,
           " MACs for one sample\n"
           "#\n"
           "# Maps are N C H W, sequences N L C. load_state_dict() takes ");
  text_put(out, p->given ? "tensors with the\n# names that --names gave."
                         : "what `netc weights\n# --names=py` writes.");
  text_put(out, "\n\n");
  bool caches = holds(rest, "functools."), math = holds(rest, "math.");
  text_put(out, caches ? "import functools\n" : "");
  text_put(out, math ? "import math\n" : "");
  text_put(out, caches || math ? "\n" : "");
  text_put(out, "import torch\n");
  if (holds(rest, "F."))
    text_put(out, "import torch.nn.functional as F\n");
  if (holds(rest, "torchvision."))
    text_put(out, "import torchvision\n");
  text_put(out, "from torch import Tensor, nn\n");
}

void emit_python(const struct compiled *c, struct text *out) {
  struct python p;
  struct text rest = text_new(c->arena);
  struct python_writing w = {.p = &p, .out = &rest};
  if (find_all(c, &p)) /* python_refuses has already reported it */
    return;
  find_classes(&p);
  for (size_t i = 0; i < HELPER_COUNT; i++)
    if ((p.helpers >> i & 1) &&
        !python_put_attention(&p, &rest, (enum helper)i) && helpers[i].text[0])
      text_printf(&rest, "\n\n%s", helpers[i].text);
  for (size_t i = 0; i < p.classes.count; i++) {
    w.class = &p.classes.at[i];
    w.unit = &p.units.at[w.class->first];
    put_class(&w);
  }
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    if (has_loss(&c->settings->train, losses[i].loss))
      text_printf(&rest, "\n\n%s", losses[i].text);
  put_main(&w);
  put_head(&p, out, &rest);
  text_puts(out, text_slice(&rest));
}
