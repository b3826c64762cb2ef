/* The context: opening, closing, and configuration. */
#include <stdio.h>

#include "sema/model/board.h"
#include "library/hints.h"
#include "base/suggest.h"

const char *netc_version(void) {
  return NETC_VERSION;
}

int netc_version_number(void) {
  return NETC_VERSION_NUMBER;
}

/* Opening and closing */

struct opening {
  struct arena arena;
  struct netc *netc;
};

static void open_context(void *user) {
  struct opening *opening = user;
  opening->netc = ARENA_NEW(&opening->arena, struct netc);
}

struct netc *netc_open(netc_resize_fn *resize, void *user) {
  struct opening opening = {.netc = NULL};
  struct arena *const arenas[GUARD_ARENAS] = {&opening.arena};
  arena_open(&opening.arena, resize, user);
  if (!guard_run(arenas, open_context, &opening))
    return NULL; /* no memory for the first block, so nothing to free */
  struct netc *netc = opening.netc;
  netc->arena = opening.arena;
  for (int i = 0; i < SLUG_COUNT; i++)
    netc->level[i] = (unsigned char)slug_info((enum slug)i)->severity;
  return netc;
}

void netc_close(struct netc *netc) {
  if (!netc || netc->busy)
    return; /* a callback must not close its context */
  load_close(netc);
  recall_close(netc);
  struct arena arena = netc->arena; /* the arena is stored in itself */
  arena_close(&arena);
}

/* Messages */

bool context_say(struct netc *netc, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(netc->message, sizeof netc->message, format, args);
  va_end(args);
  return false;
}

void context_say_more(struct netc *netc, const char *format, ...) {
  size_t length = strlen(netc->message);
  va_list args;
  va_start(args, format);
  vsnprintf(netc->message + length, sizeof netc->message - length, format,
            args);
  va_end(args);
}

void context_suggest(struct netc *netc, const struct suggestion *suggestion) {
  if (suggestion->best.at)
    context_say_more(netc, "; did you mean `%.*s`?",
                     SLICE_ARG(suggestion->best));
}

const char *netc_message(const struct netc *netc) {
  return netc->message;
}

/* Calls */

static void run_call(void *user) {
  struct call *call = user;
  call->fn(call);
}

static enum netc_status may_change(struct netc *netc) {
  if (!netc->busy)
    return NETC_OK;
  context_say(netc, "a callback must not change its context");
  return NETC_USAGE;
}

enum netc_status context_call(struct netc *netc, enum call_kind kind,
                              call_fn *fn, void *request) {
  struct call call = {.netc = netc, .fn = fn, .request = request};
  struct arena *const arenas[GUARD_ARENAS] = {
      &netc->arena, &call.scratch, netc->load ? &netc->load->arena : NULL};
  if (kind == CALL_CHANGES && may_change(netc) != NETC_OK)
    return NETC_USAGE;
  arena_open(&call.scratch, netc->arena.resize, netc->arena.user);
  netc->busy++;
  if (!guard_run(arenas, run_call, &call))
    call.status = netc->progress.stopped ? NETC_STOPPED : NETC_NO_MEMORY;
  netc->progress.stopped = false;
  netc->busy--;
  arena_close(&call.scratch);
  return call.status;
}

struct slice context_keep(struct arena *arena, struct slice text) {
  return (struct slice){arena_copy(arena, text.at, text.length), text.length};
}

enum netc_status fill_struct(void *to, const void *from, size_t size) {
  size_t room;
  memcpy(&room, to, sizeof room);
  if (room < sizeof room)
    return NETC_USAGE;
  size_t most = room < size ? room : size;
  memcpy((char *)to + sizeof room, (const char *)from + sizeof room,
         most - sizeof room);
  return NETC_OK;
}

/* Settings and values of params */

/* A later value of a name replaces the earlier one. */
static void keep_pair(struct netc *netc, struct context_pairs *pairs,
                      const struct setting_pair *pair) {
  struct kept_pair *at = NULL;
  for (size_t i = 0; i < pairs->count && !at; i++)
    if (slice_equal(pairs->at[i].name, pair->name))
      at = &pairs->at[i];
  if (at && pair->value.length <= at->room) {
    memcpy(at->value, pair->value.at, pair->value.length);
    at->value[pair->value.length] = '\0';
    return;
  }
  size_t room = pair->value.length < 24 ? 24 : pair->value.length;
  char *value = arena_alloc(&netc->arena, room + 1, 1);
  memcpy(value, pair->value.at, pair->value.length);
  if (!at) {
    struct slice name = context_keep(&netc->arena, pair->name);
    at = VEC_PUSH(&netc->arena, pairs);
    at->name = name;
  }
  at->value = value;
  at->room = room;
}

/* A pair that is checked by itself and kept if it is valid. */
struct pair_request {
  struct setting_pair pair;
  bool (*attempt)(struct call *call, const struct setting_pair *pair);
  struct context_pairs *kept;
};

static void call_pair(struct call *call) {
  const struct pair_request *request = call->request;
  if (request->attempt(call, &request->pair))
    keep_pair(call->netc, request->kept, &request->pair);
  else
    call->status = NETC_USAGE;
}

static void call_set(struct call *call) {
  struct pair_request *request = call->request;
  struct slice name = request->pair.name;
  struct text key = text_new(&call->scratch);
  for (size_t i = 0; i < name.length; i++) /* data-parallel */
    text_putc(&key, name.at[i] == '-' ? '_' : name.at[i]);
  request->pair.name = text_slice(&key);
  call_pair(call);
}

enum netc_status netc_set(struct netc *netc, const char *name,
                          const char *value) {
  struct pair_request request = {
      {slice_of(name), slice_of(value)}, load_try_setting, &netc->settings};
  return context_call(netc, CALL_CHANGES, call_set, &request);
}

enum netc_status netc_budget(struct netc *netc, const char *name,
                             const char *value) {
  struct pair_request request = {
      {slice_of(name), slice_of(value)}, load_try_budget, &netc->budgets};
  return context_call(netc, CALL_CHANGES, call_pair, &request);
}

/* Replaces hyphens in keys: data-parallel=4 is data_parallel=4. */
static struct slice with_underscores(struct call *call, struct slice list) {
  struct text text = text_new(&call->scratch);
  bool key = true;
  for (size_t i = 0; i < list.length; i++) {
    key = list.at[i] == ' ' || (key && list.at[i] != '=');
    bool inside = i && list.at[i - 1] != ' ' && list.at[i - 1] != '-';
    text_putc(&text, key && inside && list.at[i] == '-' ? '_' : list.at[i]);
  }
  return text_slice(&text);
}

static void call_compare(struct call *call) {
  struct netc *netc = call->netc;
  struct slice list =
      with_underscores(call, *(const struct slice *)call->request);
  call->status = NETC_USAGE;
  if (netc->compared.count == MOST_COMPARED) {
    context_say(netc, "at most %d other steps can be compared", MOST_COMPARED);
  } else if (load_try_compared(call, list)) {
    struct slice kept = context_keep(&netc->arena, list);
    *VEC_PUSH(&netc->arena, &netc->compared) = kept;
    call->status = NETC_OK;
  }
}

enum netc_status netc_compare(struct netc *netc, const char *settings) {
  struct slice list = slice_of(settings);
  return context_call(netc, CALL_CHANGES, call_compare, &list);
}

/* Devices */

enum netc_status netc_gpu(const struct netc *netc, size_t index,
                          struct netc_gpu *gpu) {
  const struct gpus *own = netc ? &netc->gpus : NULL;
  if (index >= (size_t)gpu_count(own))
    return NETC_USAGE;
  const struct gpu *g = gpu_at(own, (int)index + 1);
  struct netc_gpu found = {.name = g->word,
                           .names = g->names,
                           .kind = g->kind,
                           .card_bytes = gpu_card_bytes(g),
                           .process_bytes = gpu_bytes(g),
                           .estimated = gpu_is_estimated(g),
                           .source = g->source,
                           .bandwidth = g->bandwidth,
                           .capability = g->capability};
  return FILL(gpu, &found);
}

enum netc_status netc_board(size_t index, struct netc_board *board) {
  if (index >= (size_t)board_count())
    return NETC_USAGE;
  const struct board_row *b = board_at((int)index + 1);
  struct netc_board found = {.name = b->word,
                             .names = b->names,
                             .core = core_word(b->core),
                             .megahertz = b->megahertz,
                             .ram_bytes = b->ram,
                             .block_bytes = b->block,
                             .flash_bytes = b->flash,
                             .measured = (int)b->core < CORES_MEASURED,
                             .loaded = b->loaded,
                             .source = b->source};
  return FILL(board, &found);
}

struct gpus_call {
  const char *name;
  struct slice csv;
};

static void call_add_gpus(struct call *call) {
  const struct gpus_call *added = call->request;
  struct netc *netc = call->netc;
  struct text error = text_new(&call->scratch);
  if (gpu_read(&netc->arena, added->csv, &netc->gpus, &error))
    return;
  context_say(netc, "%s:%.*s", added->name, SLICE_ARG(error));
  call->status = NETC_USAGE;
}

enum netc_status netc_add_gpus(struct netc *netc, const char *name,
                               const char *csv, size_t length) {
  struct gpus_call added = {name, {csv, length}};
  return context_call(netc, CALL_CHANGES, call_add_gpus, &added);
}

enum netc_status netc_define(struct netc *netc, const char *name,
                             const char *value) {
  struct pair_request request = {
      {slice_of(name), slice_of(value)}, load_try_define, &netc->defines};
  return context_call(netc, CALL_CHANGES, call_pair, &request);
}

static void call_forget_input(struct call *call) {
  struct context_pairs *inputs = &call->netc->inputs;
  const char *name = *(const char *const *)call->request;
  size_t kept = 0;
  for (size_t i = 0; i < inputs->count; i++)
    if (!slice_is(inputs->at[i].name, name))
      inputs->at[kept++] = inputs->at[i];
  inputs->count = kept;
}

enum netc_status netc_input_sizes(struct netc *netc, const char *name,
                                  const char *sizes) {
  if (!sizes)
    return context_call(netc, CALL_CHANGES, call_forget_input, &name);
  struct pair_request request = {
      {slice_of(name), slice_of(sizes)}, load_try_input, &netc->inputs};
  return context_call(netc, CALL_CHANGES, call_pair, &request);
}

/* Adapters */

struct lora_request {
  int64_t rank;
  bool all;
};

static void call_lora(struct call *call) {
  const struct lora_request *request = call->request;
  if (request->rank < 0) {
    context_say(call->netc, "the rank must be at least 1");
    call->status = NETC_USAGE;
    return;
  }
  call->netc->adapters =
      (struct adapters){.rank = request->rank, .all = request->all};
}

enum netc_status netc_lora(struct netc *netc, int64_t rank, bool all) {
  struct lora_request request = {rank, all};
  return context_call(netc, CALL_CHANGES, call_lora, &request);
}

/* A text as `--lora` has it. */
static void call_adapters(struct call *call) {
  struct adapters read;
  if (adapters_read(*(const char *const *)call->request, &read)) {
    call->netc->adapters = read;
    return;
  }
  context_say(call->netc,
              "give a rank, with `:all` for all dense layers or `:qv` for "
              "queries and values, and `:f32` for adapters in 32 bits: `16`, "
              "`16:all`, `16:qv:f32`");
  call->status = NETC_USAGE;
}

enum netc_status netc_adapters(struct netc *netc, const char *text) {
  return context_call(netc, CALL_CHANGES, call_adapters, &text);
}

/* Warnings */

static void unknown_slug(struct call *call, struct slice name) {
  struct suggestion s = suggest_begin(name);
  for (int i = 0; i < SLUG_COUNT; i++)
    suggest_offer(&s, slice_of(slug_info((enum slug)i)->name));
  context_say(call->netc, "unknown warning `%.*s`", SLICE_ARG(name));
  context_suggest(call->netc, &s);
  call->status = NETC_USAGE;
}

/* Removes `prefix` from the front of a slice. */
static bool strip(struct slice *text, const char *prefix) {
  size_t length = strlen(prefix);
  if (text->length < length || memcmp(text->at, prefix, length) != 0)
    return false;
  *text = slice_from(*text, length);
  return true;
}

static void set_all_errors(struct netc *netc, bool off) {
  for (int i = 0; i < SLUG_COUNT; i++) {
    if (slug_info((enum slug)i)->severity != SEVERITY_ERROR &&
        netc->level[i] != SEVERITY_OFF)
      netc->level[i] = off ? SEVERITY_WARNING : SEVERITY_ERROR;
  }
}

static void call_warn(struct call *call) {
  struct netc *netc = call->netc;
  struct slice name = *(const struct slice *)call->request;
  bool off = strip(&name, "no-");
  if (slice_is(name, "error")) {
    set_all_errors(netc, off);
    return;
  }
  bool error = strip(&name, "error=");
  enum slug slug = slug_find(name);
  if (slug == SLUG_COUNT) {
    unknown_slug(call, name);
  } else if (slug_info(slug)->severity == SEVERITY_ERROR) {
    context_say(netc, "`%.*s` is an error and cannot be turned off",
                SLICE_ARG(name));
    call->status = NETC_USAGE;
  } else {
    netc->level[slug] = error ? off ? SEVERITY_WARNING : SEVERITY_ERROR
                        : off ? SEVERITY_OFF
                              : SEVERITY_WARNING;
    netc->asked[slug] = !off;
  }
}

enum netc_status netc_warn(struct netc *netc, const char *option) {
  struct slice text = slice_of(option);
  return context_call(netc, CALL_CHANGES, call_warn, &text);
}

/* Sources */

static void call_include(struct call *call) {
  struct netc *netc = call->netc;
  struct slice folder =
      context_keep(&netc->arena, *(const struct slice *)call->request);
  *VEC_PUSH(&netc->arena, &netc->folders) = folder;
}

enum netc_status netc_include(struct netc *netc, const char *folder) {
  struct slice text = slice_of(folder);
  return context_call(netc, CALL_CHANGES, call_include, &text);
}

static void call_confine(struct call *call) {
  struct netc *netc = call->netc;
  const struct slice *folder = call->request;
  *VEC_PUSH(&netc->arena, &netc->confines) =
      context_keep(&netc->arena, *folder);
}

enum netc_status netc_confine(struct netc *netc, const char *folder) {
  struct slice text = slice_of(folder);
  return context_call(netc, CALL_CHANGES, call_confine, &text);
}

enum netc_status netc_partial(struct netc *netc, bool on) {
  enum netc_status status = may_change(netc);
  if (status == NETC_OK)
    netc->partial = on;
  return status;
}

enum netc_status netc_recall(struct netc *netc, bool on) {
  enum netc_status status = may_change(netc);
  if (status == NETC_OK && !on)
    recall_close(netc);
  if (status == NETC_OK)
    netc->recalls = on;
  return status;
}

enum netc_status netc_mode(struct netc *netc, enum netc_mode mode) {
  enum netc_status status = may_change(netc);
  if (status == NETC_OK && (unsigned)mode > NETC_FOR_TABLE) {
    context_say(netc, "unknown mode %d", (int)mode);
    status = NETC_USAGE;
  }
  if (status == NETC_OK)
    netc->mode = mode;
  return status;
}

enum netc_status netc_on_progress(struct netc *netc, netc_progress_fn *tell,
                                  void *user) {
  enum netc_status status = may_change(netc);
  if (status == NETC_OK)
    netc->progress = (struct progress){tell, user, &netc->arena, false};
  return status;
}

enum netc_status netc_on_read(struct netc *netc, netc_read_fn *read,
                              void *user) {
  enum netc_status status = may_change(netc);
  if (status != NETC_OK)
    return status;
  netc->read = read;
  netc->read_user = user;
  return NETC_OK;
}
