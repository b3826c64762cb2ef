/* Lengths that differ from batch to batch: netc_vary(). */
#include "library/vary.h"

#include <inttypes.h>
#include <stdio.h>

#include "sema/expand.h"
#include "sema/repeat/node_turns.h"

static void call_vary(struct call *call) {
  const struct lengths *asked = call->request;
  if (asked->shortest < 1 || asked->mean < asked->shortest ||
      asked->longest < asked->mean) {
    context_say(call->netc, "lengths begin at 1, and the mean is between the "
                            "shortest and the longest");
    call->status = NETC_USAGE;
    return;
  }
  call->netc->lengths = *asked;
}

enum netc_status netc_vary(struct netc *netc, int64_t shortest, int64_t mean,
                           int64_t longest) {
  struct lengths request = {shortest, mean, longest};
  char tokens[32];
  enum netc_status status =
      context_call(netc, CALL_CHANGES, call_vary, &request);
  snprintf(tokens, sizeof tokens, "%" PRId64, longest);
  return status == NETC_OK ? netc_input_sizes(netc, INPUT_OF_TOKENS, tokens)
                           : status;
}

/* The inputs of the command line, with another number of tokens. */
static struct define *inputs_of(const struct load *load, int64_t length,
                                struct arena *arena) {
  size_t count = load->inputs.count;
  struct define *inputs = arena_alloc(arena, count + 1, sizeof *inputs);
  for (size_t i = 0; i < count; i++) {
    inputs[i] = load->inputs.at[i];
    if (slice_is(inputs[i].name, INPUT_OF_TOKENS))
      inputs[i].value = inputs[i].low =
          (struct value){.kind = VALUE_INT, .integer = length};
  }
  return inputs;
}

/* The peak of the most loaded device; 0: the net does not compile. */
static int64_t peak_of(struct load *load, int64_t length, struct arena *arena) {
  struct expansion trial = load->expansion;
  struct settings settings = load->settings;
  struct model model = {.name = load->model.name};
  struct memory memory = {.fit.alone = true};
  struct diags quiet;
  diags_open(&quiet, arena, &load->sources);
  quiet.quiet = true;
  trial.arena = arena;
  trial.diags = &quiet;
  trial.settings = &settings;
  trial.ignore_marks = true;
  trial.partial = false;
  trial.records = NULL;
  trial.inputs = inputs_of(load, length, arena);
  expand_program(&trial, load->compiled.program, &model);
  settings = load->settings;
  if (!quiet.errors)
    cost_find(&model, &settings, &quiet);
  if (quiet.errors)
    return 0;
  node_turns_find(&model);
  bool found = memory_find(&model, &settings, &quiet, &memory);
  return found ? memory_device(&memory).peak : 0;
}

void vary_find(struct load *load, const struct lengths *lengths) {
  struct memory *memory = &load->compiled.memory;
  const int64_t each[] = {lengths->shortest, lengths->mean};
  int64_t *peaks[] = {&memory->lengths.shortest_peak,
                      &memory->lengths.mean_peak};
  if (!lengths->longest || !load->compiled.model)
    return;
  memory->lengths.of = *lengths;
  for (int i = 0; i < 2; i++) {
    struct arena scratch;
    arena_open_in(&scratch, &load->arena);
    *peaks[i] = peak_of(load, each[i], &scratch);
    arena_close(&scratch);
  }
}
