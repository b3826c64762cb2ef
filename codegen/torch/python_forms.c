/* The form of every layer of a net, in the order of its nodes. */
#include "memory/step/trace.h"
#include "codegen/torch/python.h"

/* Finds the first node with each parameter. */
static void find_owners(struct python *p) {
  p->owner = arena_alloc(p->arena, p->model->params.count + 1, sizeof(int64_t));
  for (size_t i = 0; i < p->model->nodes.count; i++) {
    const struct node *node = &p->model->nodes.at[i];
    for (int k = 0; k < node->param_count; k++)
      p->owner[node->first_param + (size_t)k] = (int64_t)i;
  }
}

/* True if a layer's only operation, or each sum of several, may overwrite its
 * first input in training. */
static bool is_in_place(const struct python *p, const struct trace *trace,
                        size_t node) {
  size_t begin = node ? trace->op_end[node - 1] : 0;
  size_t count = trace->op_end[node] - begin;
  bool only =
      count == 1 || count + 1 == (size_t)p->model->nodes.at[node].input_count;
  for (size_t i = begin; only && i < begin + count; i++)
    only = trace->tape.ops.at[i].facts->result == RESULT_IN_PLACE;
  return count > 0 && only;
}

/* The file runs under autocast as well, where a sum must not be written over a
 * narrower operand. */
static bool *find_in_place(const struct python *p) {
  const struct train_settings *train = &p->c->settings->train;
  size_t count = p->model->nodes.count;
  bool *in_place = arena_alloc(p->arena, count + 1, sizeof *in_place);
  for (int mixed = 0; mixed < 2; mixed++) {
    struct arena scratch;
    struct trace trace;
    struct trace_options options = {.train = train,
                                    .profile = profile_at(train->profile),
                                    .training = true,
                                    .in_place = train->inplace == TOGGLE_ON,
                                    .mixed = mixed,
                                    .half = mixed};
    arena_open_in(&scratch, p->arena);
    trace_model(&trace, p->model, &options, &scratch);
    for (size_t i = 0; i < count; i++)
      in_place[i] = (!mixed || in_place[i]) && is_in_place(p, &trace, i);
    arena_close(&scratch);
  }
  return in_place;
}

static void refuse(struct python *p, size_t index, const char *what,
                   const char *arg) {
  struct text text = text_new(p->arena);
  text_put(&text, "`");
  model_put_layer(&text, p->model, (int64_t)index, NULL);
  text_put(&text, "` (");
  model_put_name(&text, p->model, (int64_t)index);
  text_printf(&text, ") cannot be written for PyTorch: %s", what);
  if (arg)
    text_printf(&text, "`%s`", arg);
  text_putc(&text, '\0');
  p->refuses = text.at;
}

/* An argument that the source gives but the form does not know, or NULL. */
static const char *unknown_arg(const struct node *node,
                               const struct form_kind *kind) {
  const struct arg_spec *specs = node->kind->specs;
  for (int i = 0; specs && specs[i].name; i++)
    if ((node->given >> i & 1) && !form_knows(kind, specs[i].name))
      return specs[i].name;
  return NULL;
}

static const struct form_kind *kind_of(struct python *p, size_t index) {
  const struct node *node = &p->model->nodes.at[index];
  const struct form_kind *kind = form_find(node->kind->name);
  const char *arg = kind ? unknown_arg(node, kind) : NULL;
  if (!kind)
    refuse(p, index, "netc cannot write ", node->kind->name);
  else if (arg)
    refuse(p, index, "netc cannot write its ", arg);
  return arg ? NULL : kind;
}

static bool has_own_params(const struct python *p, const struct node *node) {
  for (int i = 0; i < node->param_count; i++) {
    size_t at = node->first_param + (size_t)i;
    if (p->model->params.at[at].same == at)
      return true;
  }
  return false;
}

/* True if the form only passes on its input. */
static bool passes_on(const struct torch_form *f) {
  return f->call.holes.count == 1 && f->call.text.length == 1 &&
         f->call.holes.at[0].kind == HOLE_INPUT &&
         f->call.holes.at[0].input == 0;
}

/* True if a value depends on weights alone; without inputs the form says so. */
static bool is_one(const struct torch_form *f, int inputs) {
  bool one = inputs > 0 || f->out.one;
  for (int i = 0; i < inputs; i++)
    one = one && f->in[i].one;
  return one;
}

/* Counts readers of each value, including outputs of the net. */
static int64_t *count_reads(const struct python *p) {
  const struct model *model = p->model;
  int64_t *reads = arena_alloc(p->arena, model->nodes.count + 1, sizeof *reads);
  for (size_t i = 0; i < model->nodes.count; i++)
    for (int k = 0; k < model->nodes.at[i].input_count; k++)
      reads[node_input(model, &model->nodes.at[i], k)]++;
  for (size_t i = 0; i < model->outputs.count; i++)
    reads[model->outputs.at[i].node]++;
  return reads;
}

/* Makes a module for each expert, and calls the one of the loop. */
static void make_copies(struct python *p, const struct node *node,
                        struct torch_form *f) {
  struct torch_code make = code_new(f->arena), call = code_new(f->arena);
  size_t next = 0;
  if (!code_is_empty(&f->make))
    code_format(&make, "nn.ModuleList(%c for _ in range(%i))", &f->make,
                "experts", (int64_t)node->copies);
  for (size_t i = 0; i < f->call.text.length; i++) {
    if (f->call.text.at[i] != CODE_HOLE) {
      text_putc(&call.text, f->call.text.at[i]);
      continue;
    }
    struct hole hole = f->call.holes.at[next++];
    code_hole(&call, hole);
    if (hole.kind == HOLE_MODULE && p->model->nodes.at[hole.node].copies > 1)
      code_format(&call, "[expert]");
  }
  f->make = make;
  f->call = call;
}

/* True if an expert reads a value that has not the expert's rows. */
static bool reads_outside(const struct python *p, const struct node *node) {
  for (int i = 0; i < node->input_count; i++) {
    int64_t from = node_input(p->model, node, i);
    if (p->model->nodes.at[from].copies == 1 && !p->made[from].opens &&
        !p->made[from].seen.one)
      return true;
  }
  return false;
}

/*
 * If some layers have a type of their own, each has its parameters in its type
 * and casts its inputs. A module that nothing calls cannot cast.
 */
static void type_form(const struct python *p, const struct node *node,
                      struct torch_form *f) {
  int element = node->dtype ? node->dtype : p->element;
  if (code_is_empty(&f->make) || (f->learned && node->input_count > 0)) {
    f->refuses = "no module of its own casts to ";
    f->refused = element_word(element);
    return;
  }
  if (element_is_integer(element) || element == ELEMENT_FP8) {
    f->refuses = "PyTorch has no layers of the type ";
    f->refused = element_word(element);
    return;
  }
  struct torch_code make = code_new(f->arena);
  code_format(&make, "typed(%c, torch.%s)", &f->make,
              element == ELEMENT_TF32 ? "float32" : element_long_name(element));
  f->make = make;
  f->helpers |= HELPER_BIT << HELPER_typed;
}

static void write_form(struct python *p, size_t index, struct torch_form *f,
                       struct torch_seen *in, const struct form_kind *kind) {
  const struct node *node = &p->model->nodes.at[index];
  struct made *made = &p->made[index];
  for (int i = 0; i < node->input_count; i++)
    in[i] = p->made[node_input(p->model, node, i)].seen;
  f->in = in;
  f->make = code_new(f->arena);
  f->call = code_new(f->arena);
  if (node->input_count) {
    f->out = in[0];
    f->out.views = false;
  }
  kind->write(f);
  if (p->element && node->param_count)
    type_form(p, node, f);
  f->out.one = is_one(f, node->input_count);
  for (int i = 0; i < node->input_count; i++)
    f->out.table |= in[i].table;
  f->out.table &= f->out.one;
  made->seen = f->out;
  made->joins = f->joins;
  made->loose = f->loose;
  made->repeats = f->repeats;
  made->adds = f->adds;
  made->helpers = f->helpers;
  made->opens = f->opens;
  made->closes = f->closes;
  if (node->frozen && !code_is_empty(&f->make))
    code_format(&f->make, ".requires_grad_(False)");
  if (node->copies > 1 && reads_outside(p, node))
    f->refuses = "an expert that reads another value than its tokens";
  if (node->copies > 1)
    make_copies(p, node, f);
  made->call = code_keep(p->arena, &f->call);
  if (!node->param_count || has_own_params(p, node))
    made->make = code_keep(p->arena, &f->make);
  if (passes_on(f))
    made->real = p->made[node_input(p->model, node, 0)].real;
  p->helpers |= f->helpers;
  if (p->given && p->given[index].alone && !f->learned)
    p->refuses = python_misnamed(p, (int64_t)index, f->params.all.at[0].name);
  if (f->refuses)
    refuse(p, index, f->refuses, f->refused);
}

/* Maps have channels first, sequences last. */
static void see_input(struct python *p, size_t index) {
  const struct shape *shape = p->model->nodes.at[index].out;
  bool map = shape->dtype == DTYPE_FLOAT && shape->rank > 2;
  p->made[index].seen = map ? FIRST : LAST;
  p->made[index].seen.views = true;
}

static void find_form(struct python *p, size_t index,
                      const struct shape **shapes, struct torch_seen *in) {
  const struct node *node = &p->model->nodes.at[index];
  const struct train_settings *train = &p->c->settings->train;
  struct layer layer = model_layer(p->model, (int64_t)index, shapes);
  struct arena scratch;
  struct torch_form form = {.arena = &scratch,
                            .model = p->model,
                            .owner = p->owner,
                            .given = p->given,
                            .layer = &layer,
                            .node = node,
                            .maps = &p->maps,
                            .index = (int64_t)index,
                            .params = {.arena = &scratch},
                            .in_place = p->in_place[index],
                            .naive = train->attention > TAPE_FUSED};
  if (node->input_count)
    form.alone = p->reads[node_input(p->model, node, 0)] == 1;
  p->made[index].real = (int64_t)index;
  if (node->kind == &model_input_kind) {
    see_input(p, index);
    return;
  }
  const struct form_kind *kind = kind_of(p, index);
  if (!kind)
    return;
  form.word = kind->word;
  arena_open_in(&scratch, p->arena);
  if (layer.kind->params)
    layer.kind->params(&layer, &form.params);
  write_form(p, index, &form, in, kind);
  arena_close(&scratch);
}

void python_find_forms(struct python *p) {
  size_t count = p->model->nodes.count;
  const struct shape **shapes = model_layer_room(p->model);
  struct torch_seen *in =
      arena_alloc(p->arena, (size_t)p->model->most_inputs + 1, sizeof *in);
  if (count > LIMIT_CODE_LAYERS) { /* for --names=py: -o is refused earlier */
    p->refuses = "netc does not write a net of more than 20,000 layers as code";
    return;
  }
  p->made = arena_alloc(p->arena, count + 1, sizeof *p->made);
  file_maps_find(p->model, p->arena, &p->maps);
  find_owners(p);
  p->in_place = find_in_place(p);
  int element = p->c->settings->train.dtype;
  bool typed = model_other_type(p->model, element) != NO_NODE;
  p->element = typed ? element : 0;
  p->reads = count_reads(p);
  for (size_t i = 0; i < count && !p->refuses; i++)
    find_form(p, i, shapes, in);
  python_settle_attention(p);
}
