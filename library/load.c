/* Loading: reads the sources of a net, and applies the context's settings. */
#include "library/hints.h"

#include "base/suggest.h"
#include "parser/parse.h"
#include "sema/binding/hint.h"

/* Opening and closing */

struct load_opening {
  struct arena arena;
  struct load *load;
};

static void open_load(void *user) {
  struct load_opening *opening = user;
  opening->load = ARENA_NEW(&opening->arena, struct load);
}

/* Opens a load without sources; parses settings and defines. */
static struct load *load_open(struct netc *netc) {
  struct load_opening opening = {.load = NULL};
  struct arena *const arenas[GUARD_ARENAS] = {&opening.arena};
  load_close(netc);
  arena_open(&opening.arena, netc->arena.resize, netc->arena.user);
  if (!guard_run(arenas, open_load, &opening))
    return NULL;
  struct load *load = netc->load = opening.load;
  load->arena = opening.arena; /* the arena is stored in itself */
  load->sources.arena = &load->arena;
  diags_open(&load->diags, &load->arena, &load->sources);
  memcpy(load->diags.level, netc->level, sizeof netc->level);
  memcpy(load->diags.asked, netc->asked, sizeof netc->asked);
  settings_open(&load->settings);
  load->settings.train.own = &netc->gpus;
  return load;
}

void load_close(struct netc *netc) {
  struct load *load = netc->load;
  netc->load = NULL;
  if (load) {
    struct arena arena = load->arena;
    arena_close(&arena);
  }
}

/* Settings of the context; each pair becomes a statement */

/* Destination for a parsed pair: a trial or the load. */
struct load_reading {
  struct arena *arena;
  struct sources *sources;
  struct diags *diags;
  int *statements;
};

static const struct stmt *parse_pair(const struct load_reading *r,
                                     const char *word,
                                     const struct setting_pair *pair,
                                     const char *between) {
  struct text text = text_new(r->arena);
  text_printf(&text, "%s%.*s%s%.*s", word, SLICE_ARG(pair->name), between,
              SLICE_ARG(pair->value));
  struct slice copy = context_keep(r->arena, text_slice(&text));
  int source = sources_add(r->sources, slice_of(COMMAND_LINE), copy);
  if (source < 0 || !scan_check_text(r->diags, source))
    return NULL;
  return parse(r->arena, r->diags, source, r->statements)->first;
}

/* True for a single `key=value`. */
static bool is_one_setting(const struct stmt *stmt) {
  return stmt && !stmt->next && stmt->kind == STMT_SETTINGS && stmt->args &&
         !stmt->args->next;
}

/* A trial that leaves nothing but a message. */
struct load_trial {
  struct sources sources;
  struct diags diags;
  struct settings settings;
  int statements;
  struct load_reading reading;
  struct expansion expansion;
};

static void trial_open(struct load_trial *trial, struct call *call) {
  struct arena *arena = &call->scratch;
  *trial = (struct load_trial){.sources = {.arena = arena}};
  diags_open(&trial->diags, arena, &trial->sources);
  settings_open(&trial->settings);
  trial->settings.train.own = &call->netc->gpus;
  trial->reading = (struct load_reading){arena, &trial->sources, &trial->diags,
                                         &trial->statements};
  trial->expansion = (struct expansion){.arena = arena,
                                        .diags = &trial->diags,
                                        .source = -1,
                                        .settings = &trial->settings};
}

/* Sets the trial's first error as message, or `fallback`. */
static bool trial_end(const struct load_trial *trial, bool right,
                      struct netc *netc, const char *fallback) {
  if (right && trial->diags.all.count == 0)
    return true;
  context_say(netc, "%s", fallback);
  if (trial->diags.all.count == 0)
    return false;
  struct diagnostic *d = trial->diags.all.at[0];
  if (d->slug == UNKNOWN_NAME && !d->offers.count)
    return false;      /* the command line cannot define names */
  if (d->offers.count) /* a word of the list that matches */
    diag_take(d, &d->offers.at[0]);
  if (d->slug == UNKNOWN_NAME)
    d->otherwise.length = 0;
  diag_settle(d);
  struct text message = text_new(trial->diags.arena);
  text_puts(&message, d->message);
  for (size_t i = 0; i < d->help.count; i++) {
    bool asks = message.length && message.at[message.length - 1] == '?';
    text_put(&message, asks ? " " : "; ");
    text_puts(&message, d->help.at[i]);
  }
  return context_say(netc, "%.*s", SLICE_ARG(message));
}

/* Normalises a value as in a source: "RTX 4090" to rtx4090, "24 gb" to 24GB. */
static struct slice plain_value(struct arena *arena,
                                const struct settings *settings,
                                const struct arg_spec *spec,
                                struct slice value) {
  const struct train_settings *train = &settings->train;
  struct text text = text_new(arena);
  static const char stage[] = "stage"; /* prefix of ZeRO stages */
  size_t prefix = sizeof stage - 1;
  if (spec->type == TYPE_INT && value.length > prefix &&
      memcmp(value.at, stage, prefix) == 0)
    return slice_from(value, prefix);
  if (spec->type == TYPE_CHOICE) {
    const char *several;
    bool list = settings_is_list(spec, value);
    int index = list ? 0 : hint_find_choice(spec, train, value, &several);
    if (!list && !index)
      return value;
    if (!list && !settings_is_gpu(spec))
      return settings_choice(settings, spec, index);
    /* Quotes the name, as a user's name may be a word of the language. */
    text_printf(&text, "\"%.*s\"", SLICE_ARG(value));
    return text_slice(&text);
  }
  for (size_t i = 0; i < value.length; i++) /* 24 gib, 32k */
    if (value.at[i] != ' ' && (spec->bytes || arg_is_int64(spec)))
      text_putc(&text, value.at[i]);
  struct slice plain = text_slice(&text), unit = plain;
  while (unit.length && (is_digit(*unit.at) || *unit.at == '.'))
    unit.at++, unit.length--;
  const char *known = unit.length < plain.length ? scan_unit(unit) : NULL;
  if (!known)
    return value;
  text.length -= unit.length;
  text_put(&text, known);
  return text_slice(&text);
}

static const struct arg_spec *spec_of(const struct arg_spec *specs,
                                      struct slice key) {
  while (specs->name && !slice_is(key, specs->name))
    specs++;
  return specs;
}

static struct setting_pair plain_pair(struct arena *arena,
                                      const struct settings *settings,
                                      const struct arg_spec *specs,
                                      const struct setting_pair *pair) {
  return (struct setting_pair){
      pair->name,
      plain_value(arena, settings, spec_of(specs, pair->name), pair->value)};
}

/*
 * Reports an unknown device, or a word with several meanings: it need not be a
 * word of the language, as 2xrtx3090 and 4bit.
 */
static bool unknown_word(struct call *call, const struct train_settings *train,
                         const struct arg_spec *spec, struct slice value) {
  struct text help = text_new(&call->scratch);
  const char *several = NULL;
  struct slice word;
  if (spec->type != TYPE_CHOICE ||
      hint_find_choice(spec, train, value, &several) ||
      (!several && !settings_is_gpu(spec)))
    return false;
  gpu_put_help(&help, value, true);
  context_say(call->netc, "%s %s `%.*s`; ", several ? "ambiguous" : "unknown",
              spec->name, SLICE_ARG(value));
  for (int i = 1; several && (word = word_at(several, i)).length; i++)
    context_say_more(call->netc, "%s%.*s",
                     i > 1 ? ", " : "choose one of: ", SLICE_ARG(word));
  if (!several)
    context_say_more(call->netc, "%.*s", SLICE_ARG(help));
  return true;
}

/* Reports an unknown board, with the nearest name of a board or chip. */
static bool unknown_board(struct call *call, const struct arg_spec *spec,
                          struct slice value) {
  if (!settings_is_board(spec) || board_find(value))
    return false;
  struct slice nearest = board_nearest(value);
  context_say(call->netc, "unknown board `%.*s`; ", SLICE_ARG(value));
  if (nearest.length)
    context_say_more(call->netc, "did you mean `%.*s`? ", SLICE_ARG(nearest));
  context_say_more(call->netc,
                   "`netc help boards` lists the boards; for any other give "
                   "its memory: `--ram 256KiB --flash 1MiB`");
  return true;
}

static bool try_section(struct call *call, const char *word,
                        const struct arg_spec *specs,
                        const struct setting_pair *given) {
  struct load_trial trial;
  trial_open(&trial, call);
  struct setting_pair pair =
      plain_pair(&call->scratch, &trial.settings, specs, given);
  const struct arg_spec *row = spec_of(specs, given->name);
  if (unknown_word(call, &trial.settings.train, row, given->value) ||
      unknown_board(call, row, given->value))
    return false;
  const struct arg_spec *spec = spec_of(specs, given->name);
  struct text fallback = text_new(&call->scratch);
  text_printf(&fallback, "it takes %s%s%s",
              spec->type == TYPE_CHOICE ? "" : "a number",
              !spec->words                ? ""
              : spec->type == TYPE_CHOICE ? "one of: "
                                          : ", or one of: ",
              spec->words ? spec->words : "");
  text_putc(&fallback, '\0');
  if (slice_is(pair.value, "x")) /* cannot be parsed: it joins sizes */
    return context_say(call->netc, "%s", fallback.at);
  const struct stmt *stmt = parse_pair(&trial.reading, word, &pair, "=");
  bool one = trial.diags.all.count == 0 && is_one_setting(stmt);
  if (one)
    expand_choice(&trial.expansion, stmt);
  return trial_end(&trial, one, call->netc, fallback.at);
}

/* Reports "4..32": only a sweep takes several values. */
static bool is_range(struct call *call, struct slice value) {
  for (size_t i = 1; i < value.length; i++)
    if (memcmp(value.at + i - 1, "..", 2) == 0)
      return !context_say(call->netc, "it takes one value, not a range; `netc "
                                      "sweep` tries A..B or A..B:STEP");
  return false;
}

/* True if `specs` has a row with that name. */
static bool has_key(const struct arg_spec *specs, struct slice key,
                    struct suggestion *suggestion) {
  bool found = false;
  for (; specs->name; specs++) {
    if (!specs->now)
      suggest_offer(suggestion, slice_of(specs->name));
    found = found || slice_is(key, specs->name);
  }
  return found;
}

bool load_try_setting(struct call *call, const struct setting_pair *pair) {
  struct suggestion s = suggest_begin(pair->name);
  bool train = has_key(train_specs, pair->name, &s);
  bool infer = has_key(infer_specs, pair->name, &s);
  if (pair->value.length == 0)
    return context_say(call->netc, "a value is missing");
  bool list = settings_takes_list(
      spec_of(train ? train_specs : infer_specs, pair->name));
  if (is_range(call, pair->value))
    return false;
  if (!list && memchr(pair->value.at, ',', pair->value.length))
    return context_say(call->netc, "it takes one value, without a comma");
  if (train || infer)
    return (!train || try_section(call, "train ", train_specs, pair)) &&
           (!infer || try_section(call, "infer ", infer_specs, pair));
  context_say(call->netc, "unknown setting `%.*s`", SLICE_ARG(pair->name));
  context_suggest(call->netc, &s);
  return false;
}

/* Explains other words for a budget. */
static const char *budget_meant(struct slice name) {
  static const struct {
    const char *word, *say;
  } words[] = {
      {"ram", "; the RAM of inference is `arena`"},
      {"sram", "; the RAM of inference is `arena`"},
      {"flash", "; flash holds `weights`"},
      {"rom", "; flash holds `weights`"},
      {"flops", "; two FLOPs are one of `macs`"},
      {"vram", "; a training step is `train`, inference `infer`"},
      {"memory", "; a training step is `train`, inference `infer`"},
      {"latency", "; a step takes `seconds`, with a device"},
      {"time", "; a step takes `seconds`, with a device"},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (slice_is(name, words[i].word))
      return words[i].say;
  return "";
}

bool load_try_budget(struct call *call, const struct setting_pair *pair) {
  struct suggestion s = suggest_begin(pair->name);
  if (!has_key(budget_specs, pair->name, &s)) {
    struct text all = text_new(&call->scratch);
    for (const struct arg_spec *spec = budget_specs; spec->name; spec++)
      text_printf(&all, "%s%s", all.length ? ", " : "", spec->name);
    const char *meant = budget_meant(pair->name);
    context_say(call->netc, "unknown budget `%.*s`; choose one of %.*s%s",
                SLICE_ARG(pair->name), SLICE_ARG(all), meant);
    if (!*meant)
      context_suggest(call->netc, &s);
    return false;
  }
  if (pair->value.length)
    return try_section(call, "budget ", budget_specs, pair);
  return context_say(call->netc, "a value is missing");
}

/* Parses the words after `train`; NULL or errors if they are not settings. */
static const struct stmt *parse_compared(const struct load_reading *r,
                                         struct slice list) {
  struct setting_pair pair = {{"", 0}, list};
  const struct stmt *stmt = parse_pair(r, "train ", &pair, "");
  bool settings = stmt && !stmt->next && stmt->kind == STMT_SETTINGS;
  return settings && stmt->args ? stmt : NULL;
}

bool load_try_compared(struct call *call, struct slice list) {
  struct load_trial trial;
  trial_open(&trial, call);
  bool option = list.length && *list.at == '-';
  const struct stmt *stmt =
      option ? NULL : parse_compared(&trial.reading, list);
  if (stmt && trial.diags.all.count == 0)
    expand_choice(&trial.expansion, stmt);
  return trial_end(&trial, stmt != NULL, call->netc,
                   "write settings as on a `train` line: `checkpoint=8 "
                   "precision=mixed`");
}

/* True for a list of words; the param says which names they are. */
static bool are_names(const struct expr *x) {
  const struct expr *item = x->kind == EXPR_LIST ? x->items : NULL;
  while (item && item->kind == EXPR_NAME)
    item = item->next;
  return x->kind == EXPR_LIST && !item;
}

static struct value names_of(struct arena *arena, const struct expr *x) {
  VEC(struct value) items = {0};
  for (const struct expr *item = x->items; item; item = item->next)
    *VEC_PUSH(arena, &items) = (struct value){
        .kind = VALUE_NAME, .name = item->name, .span = item->span};
  return (struct value){.kind = VALUE_LIST,
                        .items = items.at,
                        .count = (int)items.count,
                        .span = x->span};
}

static struct define read_define(const struct load_reading *r,
                                 struct expansion *expansion,
                                 const struct setting_pair *pair) {
  const struct stmt *stmt = parse_pair(r, "param ", pair, " = ");
  if (!stmt || stmt->next || stmt->kind != STMT_PARAM || stmt->more->names ||
      r->diags->all.count)
    return (struct define){.name = {NULL, 0}};
  const struct expr *x = stmt->more->value;
  if (x->kind == EXPR_NAME && !layer_kind_find(x->name))
    return (struct define){
        .name = stmt->name,
        .value = {.kind = VALUE_NAME, .name = x->name, .span = x->span},
        .span = stmt->span,
        .unknown = true};
  if (are_names(x))
    return (struct define){.name = stmt->name,
                           .value = names_of(r->diags->arena, x),
                           .span = stmt->span};
  return (struct define){.name = stmt->name,
                         .value = expand_value(expansion, stmt->more->value),
                         .span = stmt->span};
}

bool load_try_define(struct call *call, const struct setting_pair *pair) {
  struct load_trial trial;
  if (pair->value.length == 0)
    return context_say(call->netc, "a value is missing");
  if (is_range(call, pair->value))
    return false;
  trial_open(&trial, call);
  struct define define = read_define(&trial.reading, &trial.expansion, pair);
  return trial_end(&trial, define.name.at != NULL, call->netc,
                   "a value is a number, `true`, `false`, a name or a list of "
                   "names: `[attend dense]`");
}

/* Reads sizes for an input as in `input SIZES`. */
static struct define read_input(const struct load_reading *r,
                                struct expansion *expansion,
                                const struct setting_pair *pair) {
  struct setting_pair sizes = {slice_of(""), pair->value};
  const struct stmt *stmt =
      sizes.value.length ? parse_pair(r, "input", &sizes, " ") : NULL;
  if (!stmt || stmt->next || stmt->kind != STMT_INPUT || stmt->more->dtype.at ||
      r->diags->all.count)
    return (struct define){.used = true};
  struct expansion low = *expansion;
  struct define input = {.name = pair->name, .span = stmt->more->value->span};
  expansion->bounds = (struct span){0};
  input.value = input.low = expand_value(expansion, stmt->more->value);
  input.bounds = expansion->bounds.end > 0;
  low.low = true;
  if (input.bounds)
    input.low = expand_value(&low, stmt->more->value);
  return input;
}

bool load_try_input(struct call *call, const struct setting_pair *pair) {
  struct load_trial trial;
  trial_open(&trial, call);
  struct define input = read_input(&trial.reading, &trial.expansion, pair);
  return trial_end(&trial, !input.used, call->netc,
                   "sizes are joined by x, like 320x320x3");
}

static struct load_reading reading_of(struct load *load) {
  return (struct load_reading){&load->arena, &load->sources, &load->diags,
                               &load->statements};
}

/* Adds the statements of a setting: `train`, `infer`, or both. */
static void read_setting(struct load *load, const struct setting_pair *pair,
                         void (*take)(struct load *, const struct stmt *)) {
  static const struct {
    const char *word;
    const struct arg_spec *specs;
  } sections[] = {{"train ", train_specs}, {"infer ", infer_specs}};
  struct load_reading r = reading_of(load);
  for (size_t i = 0; i < 2; i++) {
    struct suggestion none = suggest_begin(pair->name);
    struct setting_pair plain =
        plain_pair(&load->arena, &load->settings, sections[i].specs, pair);
    if (has_key(sections[i].specs, pair->name, &none))
      take(load, parse_pair(&r, sections[i].word, &plain, "="));
  }
}

static void follow(struct load *load, const struct stmt *stmt) {
  expand_choice(&load->expansion, stmt);
}

void load_take_setting(struct load *load, const struct setting_pair *pair) {
  read_setting(load, pair, follow);
}

static void add_chosen(struct load *load, const struct stmt *stmt) {
  *VEC_PUSH(&load->arena, &load->chosen) = stmt;
}

static struct setting_pair pair_of(const struct kept_pair *kept) {
  return (struct setting_pair){kept->name, slice_of(kept->value)};
}

/* Parses all pairs into the load; each was checked when it was set. */
static void take_pairs(struct netc *netc) {
  struct load *load = netc->load;
  struct load_reading r = reading_of(load);
  struct expansion expansion = {.arena = &load->arena,
                                .diags = &load->diags,
                                .source = -1,
                                .settings = &load->settings};
  const struct settings *settings = &load->settings;
  for (size_t i = 0; i < netc->settings.count; i++) {
    struct setting_pair pair = pair_of(&netc->settings.at[i]);
    read_setting(load, &pair, add_chosen);
  }
  for (size_t i = 0; i < netc->budgets.count; i++) {
    struct setting_pair pair = pair_of(&netc->budgets.at[i]);
    struct setting_pair plain =
        plain_pair(&load->arena, settings, budget_specs, &pair);
    *VEC_PUSH(&load->arena, &load->chosen) =
        parse_pair(&r, "budget ", &plain, "=");
  }
  for (size_t i = 0; i < netc->compared.count; i++)
    *VEC_PUSH(&load->arena, &load->compared) =
        parse_compared(&r, netc->compared.at[i]);
  for (size_t i = 0; i < netc->defines.count; i++) {
    struct setting_pair pair = pair_of(&netc->defines.at[i]);
    *VEC_PUSH(&load->arena, &load->defines) =
        read_define(&r, &expansion, &pair);
  }
  for (size_t i = 0; i < netc->inputs.count; i++) {
    struct setting_pair pair = pair_of(&netc->inputs.at[i]);
    *VEC_PUSH(&load->arena, &load->inputs) = read_input(&r, &expansion, &pair);
  }
}

/* Sources */

static void skip_mark(struct slice *text) {
  static const char mark[] = "\xEF\xBB\xBF";
  size_t length = sizeof mark - 1;
  if (text->length < length || memcmp(text->at, mark, length) != 0)
    return;
  *text = slice_from(*text, length);
}

struct unit *load_add_unit(struct load *load, struct slice path,
                           struct file_id id, struct slice text) {
  skip_mark(&text);
  struct unit *unit = VEC_PUSH(&load->arena, &load->units);
  unit->path = path;
  unit->id = id;
  unit->source = sources_add(&load->sources, path, text);
  if (unit->source >= 0 && scan_check_text(&load->diags, unit->source))
    unit->program =
        parse(&load->arena, &load->diags, unit->source, &load->statements);
  return unit;
}

/* The source of the net. */
struct request {
  struct slice path;
  const struct slice *text; /* NULL: read from the path */
};

static void call_load(struct call *call) {
  const struct request *request = call->request;
  struct netc *netc = call->netc;
  struct load *load = netc->load;
  bool input = !request->text && slice_is(request->path, "-");
  struct slice path = context_keep(&load->arena, request->path), text;
  struct slice name = input ? slice_of("<stdin>") : path;
  struct file_id id = {.known = false};
  call->status = NETC_IO;
  if (request->text) {
    text = context_keep(&load->arena, *request->text);
  } else {
    enum file_status status = load_read(netc, path, &text);
    if (status != FILE_OK) {
      context_say(netc, "cannot read %.*s: %s", SLICE_ARG(name),
                  file_reason(status).text);
      return;
    }
  }
  if (!netc->read && !input) /* a text may be the file's, too */
    id = file_identify(path.at);
  take_pairs(netc);
  if (load_add_unit(load, name, id, text)->source < 0)
    context_say(netc, "the text is larger than 1 GiB");
  else
    call->status = compile_net(netc);
  quote_sources(load);
  if (netc->recalls && (call->status == NETC_OK || call->status == NETC_ERROR))
    recall_lines(call);
}

static enum netc_status load(struct netc *netc, const struct request *request) {
  struct request copy = *request;
  if (netc->busy) {
    context_say(netc, "a callback must not load another net");
    return NETC_USAGE;
  }
  if (!load_open(netc))
    return NETC_NO_MEMORY;
  enum netc_status status = context_call(netc, CALL_CHANGES, call_load, &copy);
  if (status == NETC_NO_MEMORY || status == NETC_IO || status == NETC_STOPPED)
    load_close(netc);
  return status;
}

enum netc_status netc_load_text(struct netc *netc, const char *name,
                                const char *text, size_t length) {
  struct slice bytes = {text, length};
  struct request request = {slice_of(name), &bytes};
  return load(netc, &request);
}

enum netc_status netc_load_file(struct netc *netc, const char *path) {
  struct request request = {slice_of(path), NULL};
  return load(netc, &request);
}

const char *netc_source(const struct netc *netc, size_t index) {
  if (!netc->load || index >= netc->load->units.count)
    return NULL;
  return netc->load->units.at[index].path.at;
}

const char *netc_source_text(const struct netc *netc, size_t index,
                             size_t *length) {
  *length = 0;
  if (!netc_source(netc, index) || netc->load->units.at[index].source < 0)
    return NULL;
  int source = netc->load->units.at[index].source;
  struct slice text = netc->load->sources.all.at[source].text;
  *length = text.length;
  return text.at;
}
