/* netc_place: ways to train a net on a number of devices. */
#include <inttypes.h>

#include "base/check.h"
#include "library/uses.h"
#include "sema/model/given.h"
#include "memory/devices/placement.h"

/* The last result, in the arena of the load. */
struct placed {
  struct place_placing placing;
  struct netc_placement *all;
};

struct place_call {
  const struct netc_place_options *options;
  struct place_request request;
  struct train_settings train;
  struct netc_placing found;
};

enum { MOST_DEVICES = 1 << 20 };

/* Options */

static bool unknown_gpu(struct call *call, struct slice name,
                        const char *several) {
  struct slice word;
  context_say(call->netc, "unknown device `%.*s`", SLICE_ARG(name));
  if (name.length && *name.at >= '0' && *name.at <= '9')
    context_say_more(call->netc,
                     ": write number, x and name, such as 8xa100-80");
  else if (!several)
    context_say_more(call->netc, "; `netc help gpus` lists the known devices, "
                                 "and `--devices FILE.csv` adds others");
  for (int i = 1; several && (word = word_at(several, i)).length; i++)
    context_say_more(call->netc, "%s`%.*s`%s",
                     i > 1 ? " or " : "; did you mean ", SLICE_ARG(word),
                     word_at(several, i + 1).length ? "" : "?");
  return false;
}

/* Explains "h100x8", with the number after the name. */
static bool turned_about(struct call *call, const char *text) {
  struct slice name = slice_of(text), number;
  const char *several;
  while (name.length && is_digit(name.at[name.length - 1]))
    name.length--;
  number = slice_of(name.at + name.length);
  if (!number.length || name.length < 2 ||
      !strchr("x*: ", name.at[name.length - 1]))
    return false;
  name.length--;
  if (!gpu_find(&call->netc->gpus, name, &several))
    return false;
  return !context_say(call->netc,
                      "unknown device `%s`; did you mean `%.*sx%.*s`?", text,
                      SLICE_ARG(number), SLICE_ARG(name));
}

/* Reads "8xa100-80"; a name alone is one device. */
static bool read_gpus(struct call *call, const char *text) {
  struct place_call *place = call->request;
  struct bound_cluster *cluster = &place->request.cluster;
  const char *name = text;
  int64_t count = 0;
  for (; *name >= '0' && *name <= '9'; name++)
    count = count > MOST_DEVICES ? count : 10 * count + (*name - '0');
  if (name == text || *name != 'x') {
    name = text;
    count = 1;
  } else {
    name++;
  }
  if (count < 1 || count > MOST_DEVICES)
    return context_say(call->netc, "`%s` should be 1 to %d devices: 8xa100-80",
                       text, MOST_DEVICES);
  cluster->devices = count;
  if (strpbrk(name, "+,"))
    return context_say(call->netc,
                       "`%s`: several kinds of devices are not supported; "
                       "`--gpus %.*s` uses one kind",
                       text, (int)strcspn(text, "+,"), text);
  const char *several;
  const struct gpus *own = &call->netc->gpus;
  int number = gpu_find(own, slice_of(name), &several);
  if (!number && turned_about(call, text))
    return false;
  if (!number)
    return unknown_gpu(call, slice_of(name), several);
  place->train.gpu = number;
  cluster->gpu = gpu_at(own, number);
  return true;
}

/* Checks that all figures for a lower bound of the time are known. */
static bool has_figures(struct call *call, const struct bound_cluster *cluster,
                        const struct train_settings *train) {
  const char *lacks = bound_lacks(cluster, train);
  if (!lacks)
    return true;
  return context_say(call->netc,
                     "netc cannot place on `%s`: %s is not known; give it in "
                     "`--devices FILE.csv`",
                     cluster->gpu->word, lacks);
}

static bool read_options(struct call *call) {
  struct place_call *place = call->request;
  const struct netc_place_options *o = place->options;
  struct place_request *request = &place->request;
  struct bound_cluster *cluster = &request->cluster;
  const struct load *load = call->netc->load;
  if (!o->gpus)
    return context_say(call->netc, "name the devices: 8xa100-80");
  if (o->global_batch < 0 || o->network < 0)
    return context_say(call->netc, "batch and rate must not be negative");
  place->train = load->settings.train;
  if (!read_gpus(call, o->gpus))
    return false;
  *cluster = bound_cluster_of(&place->train, cluster->gpu, cluster->devices,
                              o->network * 125 /* MB/s of a Gbit/s */);
  request->model = &load->model;
  request->train = &place->train;
  request->cut = given_has(&load->settings, "cut");
  request->zero = given_has(&load->settings, "zero");
  if (!has_figures(call, cluster, &place->train))
    return false;
  request->batch = o->global_batch ? o->global_batch : place->train.batch;
  return true;
}

/* Results */

static void put_words(struct text *text, const char *name) {
  text_put(text, text->length ? " --" : "--");
  for (; *name; name++)
    text_putc(text, *name == '_' ? '-' : *name);
  text_putc(text, ' ');
}

/* Options that differ from the net's settings. */
static const char *options_of(const struct load *load, struct arena *arena,
                              const struct train_settings *train) {
  struct text text = text_new(arena);
  const struct train_settings *own = &load->settings.train;
  struct settings settings = load->settings;
  settings.train = *train;
  for (const struct arg_spec *spec = train_specs; spec->name; spec++) {
    const void *a = (const char *)train + spec->offset;
    const void *b = (const char *)own + spec->offset;
    bool number = spec->type == TYPE_INT;
    int64_t value = number ? *(const int64_t *)a : *(const int *)a;
    if (value == (number ? *(const int64_t *)b : *(const int *)b))
      continue;
    put_words(&text, spec->name);
    if (number && value >= 0)
      text_int(&text, value);
    else
      text_puts(&text, settings_choice(&settings, spec,
                                       (int)(number ? -value : value)));
  }
  return text_string(&text);
}

static const char *word_of(struct arena *arena, const char *setting,
                           int index) {
  const struct arg_spec *spec = train_specs;
  while (strcmp(spec->name, setting) != 0)
    spec++;
  return index ? context_keep(arena, word_at(spec->words, index)).at : "";
}

static struct netc_placement describe(struct load *load,
                                      const struct placement *p) {
  const struct train_settings *train = &p->settings;
  return (struct netc_placement){
      .options = options_of(load, &load->arena, train),
      .data = train->data_parallel,
      .tensor = train->tensor_parallel,
      .context = train->context_parallel,
      .expert = train->expert_parallel,
      .pipeline = train->pipeline,
      .sequence = train->sequence_parallel == TOGGLE_ON,
      .zero = train->zero,
      .microbatch = p->microbatch,
      .microbatch_count = p->passes,
      .checkpoint = train->checkpoint,
      .offload = word_of(&load->arena, "offload", train->offload),
      .peak_bytes = p->peak,
      .host_bytes = p->host,
      .step_seconds = p->time.bound.step,
      .compute_seconds = p->time.bound.computes,
      .bubble_seconds = p->time.bound.bubble,
      .near_seconds = p->time.bound.near,
      .far_seconds = p->time.bound.far,
      .host_seconds = p->time.bound.host,
      .virtual_stages = train->virtual_stages,
      .predicted_seconds = p->time.predicted,
      .mfu = p->time.mfu,
      .hours = p->time.cost.hours,
      .money = p->time.cost.money};
}

/* Product of the degrees that were given. */
static int64_t given_degrees(const struct train_settings *train) {
  const int64_t degrees[] = {train->data_parallel, train->tensor_parallel,
                             train->context_parallel, train->pipeline};
  int64_t product = 1;
  for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
    if (!mul_i64(product, degrees[i], &product))
      return INT64_MAX;
  return product;
}

static void say_devices(struct netc *netc, int64_t devices, int64_t degrees) {
  context_say(netc,
              "the given degrees need %" PRId64
              " devices or a multiple, not %" PRId64,
              degrees, devices);
  if (degrees > devices)
    context_say_more(netc, "; use `--gpus` with %" PRId64, degrees);
  else
    context_say_more(netc, "; use `--gpus` with %" PRId64 " or %" PRId64,
                     devices / degrees * degrees,
                     (devices / degrees + 1) * degrees);
}

/* Explains why no degrees were found, and offers other numbers. */
static void say_none(struct call *call, const struct place_placing *placing) {
  const struct place_call *place = call->request;
  int64_t devices = place->request.cluster.devices;
  int64_t batch = place->request.batch;
  int64_t most = INT64_MAX - devices, degrees = given_degrees(&place->train);
  int64_t data = place->train.data_parallel;
  call->status = NETC_USAGE;
  if (placing->tried) {
    context_say(call->netc,
                "%" PRId64 " devices could only be stages of a pipeline, but "
                "this net cannot be cut into that many stages; use another "
                "number of devices, or give fewer settings",
                devices);
    return;
  }
  if (devices % degrees != 0) {
    say_devices(call->netc, devices, degrees);
    return;
  }
  context_say(call->netc,
              "no degrees divide the net and a global batch of %" PRId64 " "
              "among %" PRId64 " devices: data parallelism must divide the "
              "batch, tensor parallelism the heads, context parallelism the "
              "tokens, %sand given settings are kept",
              batch, devices,
              place->train.shard_devices ? "shard_devices the replicas, " : "");
  data = data > 1 ? data : devices / degrees;
  if (batch % data != 0 && batch < most)
    context_say_more(call->netc, "; a batch of %" PRId64 " can be divided",
                     (batch / data + 1) * data);
}

static void call_place(struct call *call) {
  struct place_call *place = call->request;
  struct load *load = call->netc->load;
  const struct bound_cluster *cluster = &place->request.cluster;
  if (!uses_all(call, "place", false))
    return;
  if (!read_options(call)) {
    call->status = NETC_USAGE;
    return;
  }
  struct placed *placed = ARENA_NEW(&load->arena, struct placed);
  struct place_placing *placing = &placed->placing;
  place_find(&place->request, &call->scratch, placing);
  if (!placing->found) {
    say_none(call, placing);
    return;
  }
  const char *asked = place->train.tokens    ? "tokens"
                      : place->train.samples ? "samples"
                                             : NULL;
  if (asked && placing->missing) {
    context_say(call->netc, "--%s needs a predicted time: %s", asked,
                placing->missing);
    call->status = NETC_USAGE;
    return;
  }
  placed->all =
      arena_alloc(&load->arena, placing->best.count, sizeof *placed->all);
  for (size_t i = 0; i < placing->best.count; i++)
    placed->all[i] = describe(load, &placing->best.at[i]);
  load->placed = placed;
  place->found = (struct netc_placing){
      .device_count = cluster->devices,
      .global_batch = place->request.batch,
      .gpu = cluster->gpu->word,
      .fits = verdict_holds(placing->verdict),
      .verdict = fit_word(placing->verdict),
      .placement_count = placing->best.count,
      .candidate_count = placing->tried,
      .measured_count = placing->measured,
      .device_bytes =
          place->train.memory ? place->train.memory : gpu_bytes(cluster->gpu),
      .room_bytes = placing->room,
      .missing = placing->missing};
}

enum netc_status netc_place(struct netc *netc,
                            const struct netc_place_options *options,
                            struct netc_placing *placing) {
  struct netc_place_options own = {.size = sizeof own};
  struct place_call place = {.options = &own};
  size_t room = options ? options->size : sizeof own;
  if (!netc->load || !netc->load->compiled.model) {
    context_say(netc, "no net is loaded");
    return NETC_USAGE;
  }
  if (room < sizeof room)
    return NETC_USAGE;
  if (options) {
    memcpy(&own, options, room < sizeof own ? room : sizeof own);
    own.size = sizeof own;
  }
  enum netc_status status = context_call(netc, CALL_READS, call_place, &place);
  return status == NETC_OK ? FILL(placing, &place.found) : status;
}

enum netc_status netc_placement(struct netc *netc, size_t index,
                                struct netc_placement *placement) {
  const struct placed *placed = netc->load ? netc->load->placed : NULL;
  if (!placed || index >= placed->placing.best.count)
    return NETC_USAGE;
  return FILL(placement, &placed->all[index]);
}
