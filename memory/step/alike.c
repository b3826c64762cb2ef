/* Alike: finds parts of a net that run alike, so that one run serves all. */
#include "memory/step/alike.h"

enum { RECENT = 64 };

struct facts_mixed {
  const struct op_facts *of;
  uint64_t sum;
};

struct mixer {
  const struct step *step;
  struct facts_mixed facts[RECENT];
  uint64_t sum;
  size_t segment; /* index of the next segment of the step */
};

/* Steele et al. 2014, "Fast splittable pseudorandom number generators". */
static void mix(struct mixer *m, uint64_t value) {
  uint64_t z = m->sum + value + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  m->sum = z ^ (z >> 31);
}

static void mix_extent(struct mixer *m, const struct extent *extent) {
  mix(m, (uint64_t)extent->count);
  mix(m, (uint64_t)extent->at_once << 18 | (uint64_t)extent->routed << 17 |
             (uint64_t)extent->pages << 16 | (uint64_t)extent->several << 15 |
             (uint64_t)extent->meets << 14 | (uint64_t)extent->width << 3 |
             (uint64_t)extent->mask << 2 | (uint64_t)extent->whole << 1 |
             extent->fixed);
}

/* A shared parameter equals none of another part, so its index goes in. */
static void mix_param(struct mixer *m, size_t index) {
  const struct model_param *param = &m->step->model->params.at[index];
  mix(m, (uint64_t)param->count);
  mix(m, (uint64_t)param->element << 11 | (uint64_t)param->rank << 3 |
             (uint64_t)param->buffer << 2 | (uint64_t)param->fixed << 1 |
             (m->step->packed && m->step->packed[param->same]));
  if (param->shared)
    mix(m, index);
}

/* Places are relative to those of the operation, so that parts can agree. */
static void mix_value(struct mixer *m, size_t value, const struct tape_op *op) {
  const struct tape *tape = &m->step->trace.tape;
  const struct tape_value *v = &tape->values.at[value];
  const struct tape_storage *s = &tape->storages.at[v->storage];
  mix(m, op->first_out - value);
  mix(m, op->first_storage - v->storage);
  mix(m, s->view_of ? v->storage + 1 - s->view_of : SIZE_MAX);
  mix(m, v->needs_gradient | (unsigned)s->owned << 1 | (unsigned)v->still << 3 |
             (unsigned)s->leads_back << 4);
  mix(m, v->strides);
  mix(m, v->param_count);
  mix(m, v->param);
  mix_extent(m, tape_extent(tape, value));
  mix_extent(m, tape_storage_extent(tape, v->storage));
}

/* Mixes all facts of an operation but its name, which a run does not read. */
static void mix_facts(struct mixer *m, const struct op_facts *facts) {
#define FOUND(type, member) mix(m, (uint64_t)facts->member);
#define FACT FOUND
#define NAME(member)
#define FOUND_EXTENT(member)                                                \
  for (size_t i = 0; i < sizeof facts->member / sizeof(struct extent); i++) \
    mix_extent(m, (const struct extent *)&facts->member + i);
#define EXTENT(member, said, found) FOUND_EXTENT(member)
#include "layers/tape/facts.def"
}

/* Few operations differ in their facts, and most users of one are nearby. */
static uint64_t facts_sum(struct mixer *m, const struct op_facts *facts) {
  struct facts_mixed *seen = &m->facts[(uintptr_t)facts / 64 % RECENT];
  if (seen->of != facts) {
    struct mixer own = {0};
    mix_facts(&own, facts);
    *seen = (struct facts_mixed){facts, own.sum};
  }
  return seen->sum;
}

static void mix_op(struct mixer *m, size_t index) {
  const struct tape *tape = &m->step->trace.tape;
  const struct tape_op *op = &tape->ops.at[index];
  const struct segment *segments = m->step->segments.at;
  mix(m, facts_sum(m, op->facts));
  for (int i = 0; i < op->facts->in_count; i++)
    mix_value(m, tape_input(tape, op, i), op);
  for (int i = 0; i < op->facts->out_count; i++)
    mix_value(m, op->first_out + (size_t)i, op);
  for (int i = 0; i < op->facts->saved_count; i++)
    mix(m, op->first_storage - tape->saved.at[op->first_saved + (size_t)i]);
  for (int i = 0; i < op->facts->param_count; i++)
    mix_param(m, tape->params.at[op->first_param + (size_t)i]);
  while (m->segment < m->step->segments.count &&
         segments[m->segment].end <= index)
    m->segment++;
  if (m->segment < m->step->segments.count &&
      segments[m->segment].first <= index) {
    mix(m, index - segments[m->segment].first);
    mix(m, segments[m->segment].end - index);
  }
}

/* The outermost group around a node; 0: only the net. */
static int64_t outermost(const struct model *model, int64_t group) {
  while (group > 0 && model->groups.at[group].parent > 0)
    group = model->groups.at[group].parent;
  return group;
}

static void mix_node(struct mixer *m, int64_t index) {
  const struct model *model = m->step->model;
  const struct node *node = &model->nodes.at[index];
  int64_t group = outermost(model, node->group);
  mix(m, (uint64_t)node->param_count);
  mix(m, (uint64_t)node->copies);
  mix(m, (uint64_t)node_index_bytes(node));
  if (node->shares != NO_NODE || node->kind == &model_input_kind)
    mix(m, (uint64_t)index);
  for (int i = 0; i < node->param_count; i++)
    mix_param(m, node->first_param + (size_t)i);
  if (group > 0) {
    mix(m, (uint64_t)(index - model->groups.at[group].first));
    mix(m, (uint64_t)(model->groups.at[group].end - index));
  }
  for (size_t i = 0; i < model->outputs.count; i++)
    if (model->outputs.at[i].node == index)
      mix(m, (uint64_t)index);
}

void alike_find(struct alike *alike, const struct step *step,
                const int64_t *cut, size_t parts, struct arena *arena) {
  const struct trace *trace = &step->trace;
  struct mixer m = {.step = step};
  size_t op = 0;
  alike->sums = arena_alloc(arena, parts + 1, sizeof *alike->sums);
  alike->powers = arena_alloc(arena, parts + 1, sizeof *alike->powers);
  alike->powers[0] = 1;
  for (size_t i = 0; i < parts; i++) {
    size_t end =
        i + 1 == parts ? trace->tape.ops.count : trace->op_end[cut[i + 1] - 1];
    m.sum = i + 1 == parts; /* the loss belongs to the last part */
    for (int64_t node = cut[i]; node < cut[i + 1]; node++)
      mix_node(&m, node);
    for (; op < end; op++)
      mix_op(&m, op);
    /* A polynomial in an odd number, so that differences give spans. */
    alike->powers[i + 1] = alike->powers[i] * 0xd1342543de82ef95;
    alike->sums[i + 1] = alike->sums[i] * 0xd1342543de82ef95 + m.sum;
  }
}

uint64_t alike_span(const struct alike *alike, size_t from, size_t to) {
  return alike->sums[to] - alike->sums[from] * alike->powers[to - from];
}
