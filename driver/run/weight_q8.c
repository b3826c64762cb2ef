/*
 * The block of an 8-bit net: 32-bit biases, then for each operation its scales,
 * zero points, weights and tables (docs/weights.md). They are computed from the
 * scale and zero point of each layer's output and each tensor of weights. Real
 * weights get a scale for each output.
 */
#include "driver/run/weight_q8.h"

static const char *layer_name(const struct q8_making *m, int64_t index) {
  struct netc_layer layer = {.size = sizeof layer};
  netc_layer(m->set->netc, (size_t)index, &layer);
  return layer.name;
}

bool weight_q8_refuse(struct q8_making *m, int64_t layer, const char *format,
                      ...) {
  struct text text = text_new(m->scratch);
  va_list args;
  text_printf(&text, "%s: ", layer_name(m, layer));
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  m->status =
      complain_of(EXIT_SOURCE, m->path, "`--dtype f32` computes in float32",
                  "%s", text_string(&text));
  return false;
}

/* Steps */

static struct q8_step made_up(const struct netc_q8 *q8) {
  bool softmax = strcmp(q8->code, "q8softmax") == 0;
  bool positive =
      strncmp(q8->clamp, "relu", 4) == 0 || strncmp(q8->was, "relu", 4) == 0;
  return softmax    ? (struct q8_step){1.0 / 256, -128, true}
         : positive ? (struct q8_step){4.0 / 255, -128, true}
                    : (struct q8_step){8.0 / 255, 0, true};
}

/* The step that the file has for a layer. */
static struct q8_step stored_step(struct q8_making *m, int64_t layer) {
  struct text key = text_new(m->scratch);
  text_printf(&key, "%s.output", layer_name(m, layer));
  const struct tensor_steps *found =
      m->set->file ? tensors_steps(m->set->file, text_string(&key)) : NULL;
  if (!found)
    return (struct q8_step){0};
  return (struct q8_step){(double)found->scale[0], found->zero[0], true};
}

bool weight_q8_keeps_step(const struct netc_q8 *q8) {
  static const char *const codes[] = {"q8maxpool", "q8adaptmax", "q8pad",
                                      "q8up",      "copy",       "concat"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(q8->code, codes[i]) == 0)
      return true;
  return false;
}

static bool is_mean(const struct netc_q8 *q8) {
  return strcmp(q8->code, "q8avgpool") == 0 ||
         strcmp(q8->code, "q8adaptavg") == 0 ||
         strcmp(q8->code, "q8reduce") == 0;
}

/* Checks that a step fits 8 bits. */
static bool check_step(struct q8_making *m, int64_t layer,
                       const struct q8_step *step) {
  if (!step->known)
    return weight_q8_refuse(
        m, layer,
        "int8 needs a scale for its output, but the weights have none");
  if (step->zero < INT8_MIN || step->zero > INT8_MAX)
    return weight_q8_refuse(m, layer,
                            "the zero point of its output is %ld, not int8",
                            (long)step->zero);
  return true;
}

bool weight_q8_input_step(struct q8_making *m, const struct netc_q8 *q8,
                          size_t i, struct q8_step *step) {
  if (q8->ins[i] >= 0) {
    *step = m->steps[q8->ins[i]];
    return check_step(m, q8->ins[i], step);
  }
  const struct netc_tensor *tensor = &m->set->tensors.at[q8->tensors[i]];
  const struct stored_tensor *stored = m->set->from[tensor->weight];
  const struct tensor_steps *found =
      stored ? tensors_steps(m->set->file, stored->name) : NULL;
  *step = found ? (struct q8_step){(double)found->scale[0], found->zero[0],
                                   found->count == 1}
                : (struct q8_step){4.0 / 255, 0, !stored};
  return step->known ||
         weight_q8_refuse(m, tensor->layer,
                          "its values need one scale for all of them");
}

static bool output_step(struct q8_making *m, const struct netc_q8 *q8) {
  struct q8_step *step = &m->steps[q8->out], in;
  *step = stored_step(m, q8->out);
  if (!step->known && (weight_q8_keeps_step(q8) || is_mean(q8))) {
    if (!weight_q8_input_step(m, q8, 0, step))
      return false;
  } else if (!step->known && !m->set->file) {
    *step = made_up(q8);
  }
  if (!check_step(m, q8->out, step))
    return false;
  for (size_t i = 0; weight_q8_keeps_step(q8) && i < q8->in_count; i++)
    if (!weight_q8_input_step(m, q8, i, &in))
      return false;
    else if (!weight_q8_same_step(&in, step))
      return weight_q8_refuse(
          m, q8->layer,
          "its output has a different scale or zero point from %s",
          q8->in_count > 1 ? "an operand" : "its input");
  return true;
}

/* Finds the steps of the net's inputs. */
static void find_inputs(struct q8_making *m,
                        const struct netc_q8_block *block) {
  for (size_t i = 0; i < block->port_count; i++) {
    struct netc_end end = {.size = sizeof end};
    if (netc_input(m->set->netc, i, &end) != NETC_OK)
      break;
    struct q8_step *step = &m->steps[end.layer];
    *step = stored_step(m, end.layer);
    if (!step->known && !m->set->file)
      *step = (struct q8_step){1.0 / 128, 0, true};
  }
}

static bool put_ports(struct q8_making *m, const struct netc_q8_block *block) {
  for (size_t i = 0; i < block->port_count; i++) {
    const struct q8_step *step = &m->steps[block->port_layers[i]];
    if (!check_step(m, block->port_layers[i], step))
      return false;
    weight_q8_put_real(m, block->ports + 8 * (int64_t)i, step->scale);
    weight_q8_put_int(m, block->ports + 8 * (int64_t)i + 4, step->zero);
  }
  return true;
}

int weight_set_q8(const struct weight_set *set, const char *path,
                  unsigned char *bytes) {
  struct netc_q8_block block = {.size = sizeof block};
  struct netc_q8 q8 = {.size = sizeof q8};
  struct netc_layer layer = {.size = sizeof layer};
  struct q8_making m = {.set = set, .path = path, .block = bytes};
  size_t layers = 0;
  int status = weight_set_check_scales(set, path);
  if (status != EXIT_DONE)
    return status;
  netc_q8_block(set->netc, &block);
  while (netc_layer(set->netc, layers, &layer) == NETC_OK)
    layers++;
  memset(bytes, 0, (size_t)block.bytes);
  m.scratch = set->arena;
  m.steps = arena_alloc(set->arena, layers + 1, sizeof *m.steps);
  bool made = true;
  find_inputs(&m, &block);
  for (size_t i = 0; made && netc_q8(set->netc, i, &q8) == NETC_OK; i++) {
    struct arena own;
    arena_open_in(&own, set->arena);
    m.scratch = &own;
    made = output_step(&m, &q8) && weight_q8_put_constants(&m, &q8) &&
           weight_q8_make_op(&m, &q8);
    arena_close(&own);
    m.scratch = set->arena;
  }
  made = made && put_ports(&m, &block);
  if (made && m.rounded)
    say_note(path, NULL,
             "the weights of %zu layer%s have zero points other than 0; they "
             "are rounded to a scale for each output, with a zero of 0",
             m.rounded, m.rounded == 1 ? "" : "s");
  return m.status != EXIT_DONE ? m.status
         : made                ? EXIT_DONE
                               : weight_set_check(set, path);
}
