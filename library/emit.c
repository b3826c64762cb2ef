/* Writes outputs to a sink. */
#include "base/suggest.h"
#include "codegen/columns.h"
#include "library/backends.h"
#include "library/uses.h"

struct emission {
  const char *kind;
  struct netc_options options;
  netc_sink_fn *sink;
  void *user;
};

static bool is_length(int64_t length) {
  return length == 0 ||
         (length >= NETC_LEAST_WIDTH && length <= NETC_MOST_WIDTH);
}

static bool are_valid(const struct netc_options *o) {
  const struct column *chosen[COLUMN_MOST], *by;
  struct slice wrong;
  columns_choose(o->columns, chosen, &wrong);
  by = o->sort ? column_find(slice_of(o->sort)) : NULL;
  return (unsigned)o->units <= NETC_BYTES && o->depth >= NETC_TOTALS_ONLY &&
         (unsigned)o->direction <= NETC_RIGHT &&
         (unsigned)o->tint <= NETC_TINT_PARAMS && o->notes <= NETC_NOTE_ALL &&
         is_length(o->picture_width) && is_length(o->picture_height) &&
         o->width >= 0 && o->height >= 0 && o->top >= 0 && !wrong.at &&
         (!o->sort || (by && by->value));
}

enum netc_status netc_column(size_t index, struct netc_column *column) {
  if (index >= column_count())
    return NETC_USAGE;
  const struct column *at = column_at(index);
  struct netc_column found = {.name = at->name,
                              .summary = at->summary,
                              .usual = at->usual,
                              .sortable = at->value != NULL};
  return fill_struct(column, &found, sizeof found);
}

static bool is_ready(const struct compiled *c, enum backend_need needs) {
  return c->program && (needs < NEEDS_SYNTAX || c->parsed) &&
         (needs < NEEDS_MODEL || c->model);
}

static void refuse(struct call *call, enum netc_status status,
                   const char *why) {
  context_say(call->netc, "%s", why);
  call->status = status;
}

static void unknown_kind(struct call *call, const char *kind) {
  struct suggestion s = suggest_begin(slice_of(kind));
  for (size_t i = 0; i < backend_count(); i++)
    suggest_offer(&s, slice_of(backend_at(i)->name));
  context_say(call->netc, "unknown output `%s`", kind);
  context_suggest(call->netc, &s);
  call->status = NETC_USAGE;
}

/* Memory of an output is freed after writing. */
/* Refuses a net with more layers than the output supports. */
static bool too_many_layers(struct call *call, const struct backend *backend,
                            const struct model *model) {
  struct text why = text_new(&call->scratch);
  int64_t layers = (int64_t)model->nodes.count;
  if (!backend->most_layers || layers <= backend->most_layers)
    return false;
  text_printf(&why, "the net has %s layers; `-o x.%s` takes at most %s",
              count_text(layers).text, backend->name,
              count_text(backend->most_layers).text);
  refuse(call, NETC_ERROR, text_string(&why));
  return true;
}

static void write_output(struct call *call, const struct backend *backend,
                         const struct emission *e) {
  const struct load *load = call->netc->load;
  struct compiled compiled = load->compiled;
  struct model model = load->model;
  struct expansion expansion = load->expansion;
  const struct serving_answer *served = NULL;
  const struct answer *answer = NULL;
  const char *why, *note = "";
  compiled.options = &e->options;
  compiled.note = &note;
  compiled.answer = &answer;
  compiled.served = &served;
  compiled.arena = model.arena = expansion.arena = &call->scratch;
  compiled.expansion = &expansion;
  if (compiled.model)
    compiled.model = &model;
  if (compiled.model && backend->purpose == FOR_DUMP &&
      !context_verify(call->netc, "compiling")) {
    call->status = NETC_BUG;
    return;
  }
  if (e->options.tensor_names &&
      !(compiled.module_names = load_module_names(call, &e->options, &why))) {
    refuse(call, NETC_ERROR, why);
    return;
  }
  if (too_many_layers(call, backend, &model))
    return;
  if (backend->refuses && (why = backend->refuses(&compiled)) != NULL) {
    refuse(call, NETC_ERROR, why);
    return;
  }
  struct text out = text_to(&call->scratch, e->sink, e->user);
  backend->emit(&compiled, &out);
  context_say(call->netc, "%s", note);
  if (!text_flush(&out))
    refuse(call, NETC_IO, "the output could not be written");
}

static void call_emit(struct call *call) {
  const struct emission *e = call->request;
  const struct load *load = call->netc->load;
  const struct backend *backend = backend_find(slice_of(e->kind));
  if (!backend) {
    unknown_kind(call, e->kind);
  } else if (!load) {
    refuse(call, NETC_USAGE, "no net has been loaded");
  } else if (!is_ready(&load->compiled, backend->needs)) {
    call->status = NETC_ERROR;
  } else if (!are_valid(&e->options)) {
    refuse(call, NETC_USAGE, "these options have values that do not exist");
  } else if (uses_all(call, backend->name, e->options.predict)) {
    write_output(call, backend, e);
  }
}

enum netc_status netc_emit(struct netc *netc, const char *kind,
                           const struct netc_options *options,
                           netc_sink_fn *sink, void *user) {
  struct emission e = {.kind = kind, .sink = sink, .user = user};
  if (options) {
    e.options.size = options->size;
    if (options->size > sizeof e.options)
      e.options.size = sizeof e.options;
    if (options->size < sizeof options->size) {
      context_say(netc, "the options have no size");
      return NETC_USAGE;
    }
    memcpy(&e.options, options, e.options.size);
  }
  e.options.predict = uses_prediction(netc, e.options.predict);
  if (!e.options.notes)
    e.options.notes = NETC_NOTE_PARAMS;
  return context_call(netc, CALL_READS, call_emit, &e);
}
