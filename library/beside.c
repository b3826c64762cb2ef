/* Several nets in one process: netc_beside(). */
#include "library/uses.h"

enum { MOST_BESIDE = 16 };

struct beside_call {
  struct netc *other;
  bool frozen;
};

static bool has_memory(const struct netc *netc) {
  return netc->load && netc->load->compiled.model;
}

/* Inference is a forward pass in the framework, without gradients. */
static struct beside_net net_of(struct call *call, const struct netc *other,
                                bool frozen) {
  const struct load *load = other->load;
  const struct memory *memory = &load->compiled.memory;
  const struct inference *f = &memory->inference;
  int64_t weights = size_sum(f->parameters, f->buffers);
  return (struct beside_net){
      .name = context_keep(&call->netc->arena, load->model.name).at,
      .frozen = frozen,
      .params = load->model.total.params,
      .training = {load->settings.train.batch, memory->training.standing,
                   memory->training.peak},
      .inference = {load->settings.infer.batch, weights,
                    size_sum(weights, f->framework)}};
}

static void call_beside(struct call *call) {
  const struct beside_call *request = call->request;
  struct netc *netc = call->netc;
  call->status = NETC_USAGE;
  if (netc->beside.count == MOST_BESIDE)
    context_say(netc, "at most %d nets can share a process with this one",
                MOST_BESIDE);
  else if (request->other == netc || !has_memory(request->other))
    context_say(netc, "the other net is not loaded");
  else if (request->other->load->compiled.memory.parallel.stages.count)
    context_say(netc, "the other net is divided among devices, but nets that "
                      "share a process must run on one device");
  else
    call->status = NETC_OK;
  if (call->status == NETC_OK)
    *VEC_PUSH(&netc->arena, &netc->beside) =
        net_of(call, request->other, request->frozen);
}

enum netc_status netc_beside(struct netc *netc, struct netc *other,
                             bool frozen) {
  struct beside_call request = {other, frozen};
  return context_call(netc, CALL_CHANGES, call_beside, &request);
}

/* The device is that of the net itself, and so is how it is served. */
static bool is_own(struct slice name) {
  return slice_is(name, "gpu") || slice_is(name, "memory") ||
         slice_is(name, "reserve") || slice_is(name, "checkpoint") ||
         uses_of_inference(name);
}

enum netc_status netc_copy_settings(struct netc *to, const struct netc *from) {
  for (size_t i = 0; i < from->settings.count; i++) {
    const struct kept_pair *pair = &from->settings.at[i];
    enum netc_status status =
        is_own(pair->name)
            ? NETC_OK
            : netc_set(to, pair->name.at, pair->value); /* both end with NUL */
    if (status != NETC_OK)
      return status;
  }
  return NETC_OK;
}
