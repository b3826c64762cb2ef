/*
 * Turns that are copied to the tape, or left out, and not all run, against nets
 * that are traced and simulated layer by layer: the zoo and small nets, in
 * several ways.
 */
#include "library/context.h"
#include "memory/checkpoint/checkpoint.h"
#include "tests/nets.h"

/* The memory of a net. */
struct measured {
  struct step step;
  struct simulation run;
  struct training training;
  bool fits;
};

static struct measured measure(const struct model *model,
                               const struct settings *settings,
                               struct arena *arena) {
  struct measured m = {.step = {.model = model, .settings = settings->train},
                       .run = {.lists = true, .skips = true}};
  m.run.saved_by_node =
      arena_alloc(arena, model->nodes.count + 1, sizeof *m.run.saved_by_node);
  checkpoint_choose(&m.step, 0, arena);
  m.fits = step_measure(&m.step, arena, &m.run, &m.training);
  return m;
}

/* The same part of both tapes. */
#define SAME(a, b, array) \
  (assert_int_equal((a)->array.count, (b)->array.count), (a)->array.count)

static void check_extents(const struct tape *a, const struct tape *b, size_t x,
                          size_t y) {
  struct extent p = a->extents.at[x], q = b->extents.at[y];
  assert_int_equal(!p.share, !q.share);
  if (p.share)
    assert_memory_equal(p.share, q.share, sizeof *p.share);
  q.share = p.share; /* each tape has its own */
  assert_true(extent_equal(&p, &q));
}

static void check_storages(const struct tape *a, const struct tape *b) {
  for (size_t i = 0; i < SAME(a, b, storages); i++) {
    const struct tape_storage *x = &a->storages.at[i], *y = &b->storages.at[i];
    check_extents(a, b, x->extent, y->extent);
    assert_int_equal(x->node, y->node);
    assert_int_equal(x->view_of, y->view_of);
    assert_int_equal(x->weight, y->weight);
    assert_int_equal(x->owned, y->owned);
    assert_int_equal(x->saved, y->saved);
    assert_int_equal(x->leads_back, y->leads_back);
  }
}

static void check_values(const struct tape *a, const struct tape *b) {
  for (size_t i = 0; i < SAME(a, b, values); i++) {
    const struct tape_value *x = &a->values.at[i], *y = &b->values.at[i];
    check_extents(a, b, x->extent, y->extent);
    assert_int_equal(x->storage, y->storage);
    assert_int_equal(x->param, y->param);
    assert_int_equal(x->param_count, y->param_count);
    assert_int_equal(x->view, y->view);
    assert_int_equal(x->needs_gradient, y->needs_gradient);
    assert_int_equal(x->still, y->still);
    assert_int_equal(x->shared, y->shared);
    assert_int_equal(x->part, y->part);
  }
}

static void check_places(const uint32_t *a, const uint32_t *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    assert_int_equal(a[i], b[i]);
}

static void check_tapes(const struct trace *x, const struct trace *y,
                        size_t nodes) {
  const struct tape *a = &x->tape, *b = &y->tape;
  check_storages(a, b);
  check_values(a, b);
  check_places(a->ins.at, b->ins.at, SAME(a, b, ins));
  check_places(a->saved.at, b->saved.at, SAME(a, b, saved));
  check_places(a->params.at, b->params.at, SAME(a, b, params));
  check_places(x->value_of, y->value_of, nodes);
  check_places(x->op_end, y->op_end, nodes);
  for (size_t i = 0; i < SAME(a, b, ops); i++) {
    const struct tape_op *p = &a->ops.at[i], *q = &b->ops.at[i];
    assert_string_equal(p->facts->name, q->facts->name);
    assert_int_equal(p->facts->in_count, q->facts->in_count);
    assert_int_equal(p->facts->saved_count, q->facts->saved_count);
    assert_int_equal(p->facts->param_count, q->facts->param_count);
    assert_int_equal(p->facts->result, q->facts->result);
    assert_int_equal(p->facts->drops, q->facts->drops);
    assert_int_equal(p->node, q->node);
    assert_int_equal(p->first_in, q->first_in);
    assert_int_equal(p->first_out, q->first_out);
    assert_int_equal(p->first_saved, q->first_saved);
    assert_int_equal(p->first_param, q->first_param);
    assert_int_equal(p->first_storage, q->first_storage);
  }
}

static void check_moments(const struct moment *a, const struct moment *b) {
  assert_int_equal(a->bytes, b->bytes);
  assert_memory_equal(a->parts, b->parts, sizeof a->parts);
  assert_int_equal(a->node, b->node);
  assert_int_equal(a->number, b->number);
  if (a->op)
    assert_string_equal(a->op, b->op);
}

/* The order in which tensors came is no part of what was found. */
static int by_node(const void *a, const void *b) {
  const struct step_alive *x = a, *y = b;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  if (x->part != y->part)
    return x->part < y->part ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void check_runs(struct measured *a, struct measured *b, size_t nodes) {
  assert_int_equal(a->fits, b->fits);
  if (!a->fits)
    return;
  check_moments(&a->run.forward, &b->run.forward);
  check_moments(&a->run.backward, &b->run.backward);
  assert_int_equal(a->run.saved, b->run.saved);
  assert_int_equal(a->training.peak, b->training.peak);
  for (size_t i = 0; i < nodes; i++)
    assert_int_equal(a->run.saved_by_node[i], b->run.saved_by_node[i]);
  size_t count = SAME(&a->run, &b->run, alive);
  if (count == 0)
    return;
  qsort(a->run.alive.at, count, sizeof *a->run.alive.at, by_node);
  qsort(b->run.alive.at, count, sizeof *b->run.alive.at, by_node);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(by_node(&a->run.alive.at[i], &b->run.alive.at[i]), 0);
}

/* Turns that are on no tape at all; `b` has them all. Returns how many. */
static size_t check_leaps(const struct model *model,
                          const struct settings *settings, struct measured *b,
                          struct arena *arena) {
  struct measured m = {
      .step = {.model = model, .settings = settings->train, .leaps = true}};
  size_t turns = 0, nodes = model->nodes.count;
  if (b->step.ranges.count || settings->train.base)
    return 0;
  m.run.saved_by_node = arena_alloc(arena, nodes + 1, sizeof(int64_t));
  step_trace(&m.step, arena);
  m.fits = step_measure(&m.step, arena, &m.run, &m.training);
  m.run.alive = b->run.alive; /* nobody has asked for these */
  if (!m.run.uneven)
    check_runs(&m, b, nodes);
  for (size_t i = 0; i < m.step.trace.leaps.count && !m.run.uneven; i++)
    turns += (size_t)m.step.trace.leaps.at[i].count;
  return turns;
}

static void check_inference(const struct model *model,
                            const struct model *without,
                            const struct settings *settings) {
  struct inference x, y;
  bool fits = inference_find(model, settings, &x);
  assert_int_equal(inference_find(without, settings, &y), fits);
  if (!fits)
    return;
  assert_int_equal(x.framework, y.framework);
  assert_int_equal(x.source_order, y.source_order);
  assert_int_equal(x.live, y.live);
  assert_int_equal(x.live_node, y.live_node);
  assert_int_equal(x.order_exact, y.order_exact);
  assert_int_equal(x.weights, y.weights);
  assert_int_equal(x.plan.height, y.plan.height);
  assert_int_equal(x.folds.count, y.folds.count);
  for (size_t i = 0; i < SAME(&x, &y, order); i++)
    assert_int_equal(x.order.at[i], y.order.at[i]);
  for (size_t i = 0; i < SAME(&x, &y, arena); i++) {
    const struct arena_buffer *p = &x.arena.at[i], *q = &y.arena.at[i];
    assert_int_equal(p->node, q->node);
    assert_string_equal(p->part ? p->part : "", q->part ? q->part : "");
    assert_int_equal(p->offset, q->offset);
    assert_int_equal(p->bytes, q->bytes);
    assert_int_equal(p->first, q->first);
    assert_int_equal(p->last, q->last);
  }
}

static size_t left_out; /* turns */

/* Returns how many turns are alike. */
static size_t check_model(struct netc *netc) {
  struct load *load = netc->load;
  struct model without;
  struct arena scratch;
  size_t turns = 0;
  if (!load || !load->compiled.model)
    return 0;
  arena_open_in(&scratch, load->model.arena);
  without = load->model;
  without.turns.count = 0;
  struct measured a = measure(&load->model, &load->settings, &scratch);
  struct measured b = measure(&without, &load->settings, &scratch);
  check_tapes(&a.step.trace, &b.step.trace, without.nodes.count);
  check_runs(&a, &b, without.nodes.count);
  left_out += check_leaps(&load->model, &load->settings, &b, &scratch);
  check_inference(&load->model, &without, &load->settings);
  for (size_t i = 0; i < a.step.trace.turns.count; i++)
    turns += a.step.trace.turns.at[i].count;
  arena_close(&scratch);
  return turns;
}

static struct netc *netc_with(const char *const *words) {
  struct netc *netc = netc_open(NULL, NULL);
  for (; words[0]; words += 2)
    assert_int_equal(netc_set(netc, words[0], words[1]), NETC_OK);
  return netc;
}

static const char *const plain[] = {"batch", "2", NULL};
static const char *const one[] = {"profile", "torch1-cpu", "loss", "sum", NULL};
static const char *const mixed[] = {"batch",       "4",  "precision", "mixed",
                                    "saved_dtype", "i8", NULL};
static const char *const moved[] = {
    "batch",       "3",       "inplace",    "off",        "offload",
    "activations", "profile", "torch1-cpu", "accumulate", "2",
    "host_memory", "64GiB",   NULL};
static const char *const parted[] = {"checkpoint", "5", "batch", "2", NULL};
static const char *const *const ways[] = {plain, one, mixed, moved, parted};
enum { WAYS = sizeof ways / sizeof *ways };

static void nets_of_the_zoo(void **state) {
  struct paths nets = find_paths("examples/zoo", ".net");
  size_t turns = 0;
  (void)state;
  for (size_t i = 0; i < nets.count; i++) {
    struct netc *netc = netc_with(ways[i % WAYS]);
    assert_int_equal(show_errors(netc, netc_load_file(netc, nets.at[i])),
                     NETC_OK);
    turns += check_model(netc);
    netc_close(netc);
  }
  if (turns < 200 || left_out < 100)
    print_error("%zu turns, %zu left out\n", turns, left_out);
  assert_true(turns >= 200 && left_out >= 100);
  paths_free(&nets);
}

struct small {
  char name[48];
  const char *text;
  size_t turns; /* that are alike, where nothing is set */
};

/* Each with something that a turn could do to its neighbours. */
static const struct small smalls[] = {
    {"a-chain", "repeat 9 { conv 16 3x3 pad relu }", 7},
    {"written-line-by-line",
     "conv 16 1x1; conv 16 1x1; conv 16 1x1; conv 16 1x1; conv 16 1x1; "
     "conv 16 1x1; conv 16 1x1",
     5},
    {"residual-blocks-whose-sums-are-in-place",
     "repeat 9 { add { conv 16 3x3 pad bn relu; conv 16 3x3 pad bn } {} relu }",
     6},
    {"turns-inside-turns",
     "repeat 7 { repeat 6 { conv 16 1x1 relu }; conv 16 3x3 pad }", 8},
    {"what-is-in-front-of-all",
     "a: conv 16 1x1; conv 16 1x1; repeat 8 { conv 16 1x1; add a }", 6},
    {"results-that-are-read-behind-all",
     "for i in 1..8 { h[i]: conv 16 1x1 }; add h[1..8]", 0},
    {"a-result-read-three-turns-later",
     "a: conv 16 1x1; b: conv 16 1x1; c: conv 16 1x1; add a; "
     "repeat 9 { add { conv 16 1x1 } {} }",
     7},
    {"outputs-of-all",
     "for i in 1..8 { conv 16 1x1; fork x[i]: { gap; linear 3; output } }", 0},
    {"parameters-that-are-shared",
     "a: conv 16 1x1; repeat 9 { conv 16 1x1; again a }", 0},
    {"concats-whose-lists-grow",
     "repeat 8 { concat { conv 8 1x1 } { conv 8 3x3 pad } }", 0},
    {"layers-that-only-training-runs",
     "repeat 8 { conv 16 1x1 dropout(0.1) relu }", 6},
    {"norms-of-rows",
     "reshape 64x16; repeat 8 { add { ln; attention 4; dropout 0.1 } {}; "
     "add { ln; linear 32 gelu; linear 16 } {} }",
     5},
    {"experts",
     "reshape 64x16; repeat 8 { add { rmsnorm; moe experts=8 top=2 { "
     "linear 32 silu; linear 16 } } {} }",
     6},
    {"norms-that-are-folded", "repeat 20 { conv 16 3x3 pad bn relu }", 18},
    {"work-and-views",
     "reshape 64x16; repeat 20 { add { attention 4 } {}; linear 16 }", 18},
    {"an-inner-loop-that-is-left-out",
     "repeat 3 { repeat 12 { conv 16 1x1 relu }; pool 3x3 /1 pad }", 20},
    {"batches-that-pass-63-bits",
     "repeat 9 { conv 16 3x3 pad relu }; train batch=1000000000000000", 7},
};

static void check_small(void **state) {
  const struct small *small = *state;
  for (size_t i = 0; i < WAYS; i++) {
    struct netc *netc = netc_with(ways[i]);
    char text[400];
    snprintf(text, sizeof text, "input 8x8x16; %s", small->text);
    enum netc_status status = netc_load_text(netc, "a.net", text, strlen(text));
    size_t turns = check_model(netc);
    if (i == 0 && turns != small->turns)
      fail_msg("%zu turns; status %d", turns, (int)status);
    netc_close(netc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nets_of_the_zoo)};
  size_t count = sizeof smalls / sizeof *smalls;
  int failed = run_table("small turns", (void *)(uintptr_t)smalls, count,
                         sizeof *smalls, check_small, NULL, 0);
  return cmocka_run_group_tests_name("turns", tests, NULL, NULL) || failed;
}
