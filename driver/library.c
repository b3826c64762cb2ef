/*
 * The library: include/netc.h over the passes. The whole compiler reads as
 * the body of `compile`.
 */
#include "netc.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>

#include "base/file.h"
#include "codegen/backend.h"
#include "parser/parse.h"
#include "memory/budget.h"
#include "sema/lint.h"

/* A file that `use` or the user named, read once. */
struct unit {
  struct slice path; /* as it was opened */
  int source;
  const struct block *program; /* NULL: it could not be parsed at all */
};

struct netc {
  struct arena arena;
  struct sources sources;
  struct diags diags;
  int statements;
  struct settings settings;
  VEC(const struct stmt *) chosen; /* settings of the command line */
  VEC(struct define) defines;
  VEC(struct slice) folders;
  VEC(struct unit) units;
  struct model model;
  struct expansion expansion;
  struct compiled compiled;
  bool loaded, usable;
  bool timeline; /* moments of a training step are wanted */
  const char *message;
  netc_diagnostic_fn *on_diagnostic;
  void *user;
  size_t delivered; /* diagnostics that the user has seen */
};

/* Every entry starts with this: out of memory comes back here. */
#define ENTER(netc, result)            \
  jmp_buf failure;                     \
  (netc)->arena.on_failure = &failure; \
  if (setjmp(failure))                 \
  return (result)

struct netc *netc_open(netc_resize_fn *resize, void *user) {
  struct arena arena;
  jmp_buf failure;
  arena_open(&arena, resize, user);
  arena.on_failure = &failure;
  if (setjmp(failure))
    return NULL; /* the very first block failed: nothing to free */
  struct netc *netc = ARENA_NEW(&arena, struct netc);
  netc->arena = arena;
  netc->sources.arena = &netc->arena;
  diags_open(&netc->diags, &netc->arena, &netc->sources);
  settings_open(&netc->settings);
  netc->message = "";
  return netc;
}

void netc_close(struct netc *netc) {
  if (!netc)
    return;
  struct arena arena = netc->arena; /* it holds itself */
  arena_close(&arena);
}

void netc_on_diagnostic(struct netc *netc, netc_diagnostic_fn *fn, void *user) {
  netc->on_diagnostic = fn;
  netc->user = user;
}

const char *netc_message(const struct netc *netc) {
  return netc->message;
}

static const char *keep(struct netc *netc, struct slice text) {
  return arena_copy(&netc->arena, text.at, text.length);
}

static const char *format(struct netc *netc, const char *text, ...)
    PRINTF_LIKE(2, 3);
static const char *format(struct netc *netc, const char *text, ...) {
  struct text out = text_new(&netc->arena);
  va_list args;
  va_start(args, text);
  text_vprintf(&out, text, args);
  va_end(args);
  return keep(netc, text_slice(&out));
}

/* Diagnostics */

static const char *rendered(struct netc *netc, const struct diagnostic *d,
                            bool colour) {
  struct text out = text_new(&netc->arena);
  diag_render_text(&out, &netc->sources, d, colour);
  return keep(netc, text_slice(&out));
}

static const char *rendered_json(struct netc *netc,
                                 const struct diagnostic *d) {
  struct text out = text_new(&netc->arena);
  struct json json = json_writer(&out, 0);
  diag_render_json(&json, &netc->sources, d);
  return keep(netc, text_slice(&out));
}

static void deliver(struct netc *netc) {
  while (netc->delivered < netc->diags.all.count) {
    const struct diagnostic *d = netc->diags.all.at[netc->delivered++];
    if (!netc->on_diagnostic)
      continue;
    struct position p = sources_position(&netc->sources, d->span.begin);
    struct netc_diagnostic shown = {
        .severity = d->severity == SEVERITY_ERROR ? NETC_FAILURE : NETC_WARNING,
        .slug = slug_info(d->slug)->name,
        .message = keep(netc, d->message),
        .file = keep(netc, p.source->name),
        .line = p.line,
        .column = p.column,
        .text = rendered(netc, d, false),
        .colour = rendered(netc, d, true),
        .json = rendered_json(netc, d),
    };
    netc->on_diagnostic(netc->user, &shown);
  }
}

/* What the command line chooses: each is a statement of the language. */

static const struct stmt *parse_choice(struct netc *netc, const char *text) {
  struct slice copy = {keep(netc, slice_of(text)), strlen(text)};
  int source = sources_add(&netc->sources, slice_of("<command line>"), copy);
  if (source < 0 || !scan_check_text(&netc->diags, source))
    return NULL;
  return parse(&netc->arena, &netc->diags, source, &netc->statements)->first;
}

/* The first error since `before` becomes the message; it is not kept. */
static enum netc_status refuse(struct netc *netc, size_t before) {
  if (netc->diags.all.count > before) {
    const struct diagnostic *d = netc->diags.all.at[before];
    netc->message = keep(netc, d->message);
    for (size_t i = 0; i < d->help.count; i++)
      netc->message =
          format(netc, "%s; %.*s", netc->message, SLICE_ARG(d->help.at[i]));
  }
  netc->diags.all.count = before;
  netc->diags.table.room = 0; /* made anew from what is left */
  netc->diags.errors = 0;
  return NETC_USAGE;
}

static struct expansion expansion_of(struct netc *netc);

/* One `key=value` and nothing else. */
static bool is_one_setting(const struct stmt *stmt) {
  return stmt && !stmt->next && stmt->kind == STMT_SETTINGS && stmt->args &&
         !stmt->args->next;
}

/* Tries `train key=value`, and keeps it for when the source has been read. */
static bool choose(struct netc *netc, const char *section, const char *key,
                   const char *value) {
  size_t before = netc->diags.all.count;
  const struct stmt *stmt =
      parse_choice(netc, format(netc, "%s %s=%s", section, key, value));
  struct settings scratch = netc->settings;
  struct expansion trial = expansion_of(netc);
  trial.settings = &scratch;
  bool one = netc->diags.all.count == before && is_one_setting(stmt);
  if (one)
    expand_choice(&trial, stmt);
  if (!one || netc->diags.all.count > before) {
    netc->message = "this is no value for it";
    refuse(netc, before);
    return false;
  }
  *VEC_PUSH(&netc->arena, &netc->chosen) = stmt;
  return true;
}

/* `specs` has a row of that name. */
static bool has_key(const struct arg_spec *specs, const char *key,
                    struct suggestion *suggestion) {
  bool found = false;
  for (; specs->name; specs++) {
    suggest_offer(suggestion, slice_of(specs->name));
    found = found || strcmp(specs->name, key) == 0;
  }
  return found;
}

/* --data-parallel is data_parallel in the language. */
static const char *underscored(struct netc *netc, const char *key) {
  char *copy = arena_copy(&netc->arena, key, strlen(key));
  for (char *at = copy; *at; at++)
    if (*at == '-')
      *at = '_';
  return copy;
}

enum netc_status netc_set(struct netc *netc, const char *name,
                          const char *value) {
  ENTER(netc, NETC_NO_MEMORY);
  const char *key = underscored(netc, name);
  if (strcmp(key, "timeline") == 0) {
    netc->timeline = strcmp(value, "off") != 0;
    return NETC_OK;
  }
  struct suggestion s = suggest_begin(slice_of(key));
  bool train = has_key(train_specs, key, &s);
  bool infer = has_key(infer_specs, key, &s);
  if (train || infer)
    return (!train || choose(netc, "train", key, value)) &&
                   (!infer || choose(netc, "infer", key, value))
               ? NETC_OK
               : NETC_USAGE;
  netc->message = format(netc, "there is no setting `%s`", name);
  if (s.best.at)
    netc->message = format(netc, "%s; did you mean `%.*s`?", netc->message,
                           SLICE_ARG(s.best));
  return NETC_USAGE;
}

enum netc_status netc_define(struct netc *netc, const char *name,
                             const char *value) {
  ENTER(netc, NETC_NO_MEMORY);
  size_t before = netc->diags.all.count;
  const struct stmt *stmt =
      parse_choice(netc, format(netc, "param %s = %s", name, value));
  struct expansion expansion = expansion_of(netc);
  struct define define = {0};
  if (stmt && netc->diags.all.count == before && !stmt->next &&
      stmt->kind == STMT_PARAM)
    define = (struct define){.name = stmt->name,
                             .value = expand_value(&expansion, stmt->value),
                             .span = stmt->span};
  if (netc->diags.all.count > before || !define.name.at) {
    netc->message = "a value is a number, a truth value or a name";
    return refuse(netc, before);
  }
  *VEC_PUSH(&netc->arena, &netc->defines) = define;
  return NETC_OK;
}

static enum netc_status unknown_slug(struct netc *netc, struct slice name) {
  struct suggestion s = suggest_begin(name);
  for (int i = 0; i < SLUG_COUNT; i++)
    suggest_offer(&s, slice_of(slug_info((enum slug)i)->name));
  netc->message = format(netc, "there is no warning `%.*s`", SLICE_ARG(name));
  if (s.best.at)
    netc->message = format(netc, "%s; did you mean `%.*s`?", netc->message,
                           SLICE_ARG(s.best));
  return NETC_USAGE;
}

/* Takes `prefix` away from the front of a slice. */
static bool strip(struct slice *text, const char *prefix) {
  size_t length = strlen(prefix);
  if (text->length < length || memcmp(text->at, prefix, length) != 0)
    return false;
  text->at += length;
  text->length -= length;
  return true;
}

enum netc_status netc_warn(struct netc *netc, const char *option) {
  ENTER(netc, NETC_NO_MEMORY);
  struct slice name = slice_of(option);
  bool off = strip(&name, "no-");
  bool all = slice_is(name, "error");
  bool error = !all && strip(&name, "error=");
  for (int i = 0; i < SLUG_COUNT && all; i++) {
    unsigned char *level = &netc->diags.level[i];
    if (slug_info((enum slug)i)->severity == SEVERITY_ERROR ||
        *level == SEVERITY_OFF)
      continue;
    *level = off ? SEVERITY_WARNING : SEVERITY_ERROR;
  }
  if (all)
    return NETC_OK;
  enum slug slug = slug_find(name);
  if (slug == SLUG_COUNT)
    return unknown_slug(netc, name);
  if (slug_info(slug)->severity == SEVERITY_ERROR) {
    netc->message =
        format(netc, "`%.*s` is an error, no warning", SLICE_ARG(name));
    return NETC_USAGE;
  }
  netc->diags.level[slug] = error ? off ? SEVERITY_WARNING : SEVERITY_ERROR
                            : off ? SEVERITY_OFF
                                  : SEVERITY_WARNING;
  return NETC_OK;
}

enum netc_status netc_include(struct netc *netc, const char *folder) {
  ENTER(netc, NETC_NO_MEMORY);
  *VEC_PUSH(&netc->arena, &netc->folders) =
      (struct slice){keep(netc, slice_of(folder)), strlen(folder)};
  return NETC_OK;
}

/* Files */

static void skip_mark(struct slice *text) {
  strip(text, "\xEF\xBB\xBF");
}

/* Adds a text and parses it; returns its unit. */
static struct unit *add_unit(struct netc *netc, struct slice path,
                             struct slice text) {
  skip_mark(&text);
  struct unit *unit = VEC_PUSH(&netc->arena, &netc->units);
  unit->path = path;
  unit->source = sources_add(&netc->sources, path, text);
  if (unit->source >= 0 && scan_check_text(&netc->diags, unit->source))
    unit->program =
        parse(&netc->arena, &netc->diags, unit->source, &netc->statements);
  return unit;
}

static const struct unit *find_unit(struct netc *netc, struct slice path) {
  for (size_t i = 0; i < netc->units.count; i++)
    if (slice_equal(netc->units.at[i].path, path))
      return &netc->units.at[i];
  return NULL;
}

static const char *file_reason(enum file_status status) {
  if (status == FILE_TOO_LARGE)
    return "it is larger than 1 GiB";
  return errno ? strerror(errno) : "it cannot be read";
}

/* lib/x.net beside a/b.net is a/lib/x.net. */
static struct slice beside(struct netc *netc, struct slice folder,
                           struct slice path, bool is_file) {
  struct text joined = text_new(&netc->arena);
  size_t length = folder.length;
  while (is_file && length > 0 && folder.at[length - 1] != '/')
    length--;
  if (path.length == 0 || path.at[0] != '/') {
    text_bytes(&joined, folder.at, length);
    if (!is_file && length && folder.at[length - 1] != '/')
      text_putc(&joined, '/');
  }
  text_puts(&joined, path);
  return (struct slice){keep(netc, text_slice(&joined)), joined.length};
}

/* One place where the file may be; 1: found, 0: not there, -1: unreadable. */
static int try_path(struct netc *netc, struct slice path,
                    const struct unit **unit, struct slice *reason) {
  struct slice text;
  *unit = find_unit(netc, path);
  if (*unit)
    return 1;
  enum file_status status = file_read(&netc->arena, path.at, &text);
  *reason = slice_of(file_reason(status));
  if (status == FILE_ABSENT)
    return 0;
  if (status != FILE_OK)
    return -1;
  *unit = add_unit(netc, path, text);
  if ((*unit)->source >= 0)
    return 1;
  *reason = slice_of("all sources together pass 1 GiB");
  return -1;
}

static int load_used(void *user, struct slice path, uint32_t from,
                     const struct block **program, struct slice *reason) {
  static const struct block nothing = {0};
  struct netc *netc = user;
  struct slice user_file = sources_position(&netc->sources, from).source->name;
  const struct unit *unit;
  struct slice full = beside(netc, user_file, path, true);
  int found = try_path(netc, full, &unit, reason);
  for (size_t i = 0; i < netc->folders.count && found == 0; i++)
    found = try_path(netc, beside(netc, netc->folders.at[i], path, false),
                     &unit, reason);
  if (found <= 0)
    return -1;
  *program = unit->program ? unit->program : &nothing;
  return unit->source;
}

/* The passes */

static struct expansion expansion_of(struct netc *netc) {
  return (struct expansion){
      .arena = &netc->arena,
      .diags = &netc->diags,
      .source = netc->units.count ? netc->units.at[0].source : -1,
      .loader = {load_used, netc},
      .settings = &netc->settings,
      .defines = netc->defines.at,
      .define_count = netc->defines.count};
}

/* The file's name without folders and suffix. */
static struct slice stem(struct slice path) {
  size_t start = path.length;
  while (start > 0 && path.at[start - 1] != '/')
    start--;
  struct slice name = {path.at + start, path.length - start};
  for (size_t i = name.length; i-- > 1;)
    if (name.at[i] == '.') {
      name.length = i;
      break;
    }
  return slice_is(name, "-") ? slice_of("stdin") : name;
}

static bool no_errors(const struct netc *netc) {
  return netc->diags.errors == 0;
}

/* A -D that no `param` took is a slip of the pen. */
static bool all_defines_used(struct netc *netc, const struct block *program) {
  for (size_t i = 0; i < netc->defines.count; i++) {
    const struct define *define = &netc->defines.at[i];
    if (define->used)
      continue;
    struct suggestion s = suggest_begin(define->name);
    for (const struct stmt *stmt = program->first; stmt; stmt = stmt->next)
      if (stmt->kind == STMT_PARAM)
        suggest_offer(&s, stmt->name);
    netc->message =
        format(netc, "the source has no `param %.*s`", SLICE_ARG(define->name));
    if (s.best.at)
      netc->message = format(netc, "%s; did you mean `%.*s`?", netc->message,
                             SLICE_ARG(s.best));
    return false;
  }
  return true;
}

static enum netc_status compile(struct netc *netc, const struct unit *unit) {
  struct expansion *e = &netc->expansion;
  *e = expansion_of(netc);
  netc->model.name = stem(unit->path);
  if (unit->program && no_errors(netc))
    expand_program(e, unit->program, &netc->model);
  if (no_errors(netc) && !all_defines_used(netc, unit->program))
    return NETC_USAGE;
  for (size_t i = 0; i < netc->chosen.count; i++)
    expand_choice(e, netc->chosen.at[i]);
  netc->usable = no_errors(netc) &&
                 cost_find(&netc->model, &netc->settings, &netc->diags) &&
                 memory_find(&netc->model, &netc->settings, netc->timeline,
                             &netc->diags, &netc->compiled.memory);
  if (netc->usable) {
    lint_model(e, unit->program, &netc->model);
    lint_names(&netc->diags, unit->program);
    budget_check(&netc->model, &netc->settings, &netc->compiled.memory,
                 &netc->diags);
  }
  return no_errors(netc) ? NETC_OK : NETC_ERROR;
}

static enum netc_status load(struct netc *netc, struct slice name,
                             struct slice text) {
  netc->loaded = true;
  struct unit unit = *add_unit(netc, name, text);
  if (unit.source < 0) {
    netc->message = "the text is larger than 1 GiB";
    return NETC_IO;
  }
  netc->compiled = (struct compiled){.arena = &netc->arena,
                                     .sources = &netc->sources,
                                     .diags = &netc->diags,
                                     .source = unit.source,
                                     .program = unit.program,
                                     .parsed = no_errors(netc),
                                     .expansion = &netc->expansion,
                                     .settings = &netc->settings};
  enum netc_status status = compile(netc, &unit);
  netc->compiled.statements = netc->statements;
  if (netc->usable)
    netc->compiled.model = &netc->model;
  deliver(netc);
  return status;
}

enum netc_status netc_load_text(struct netc *netc, const char *name,
                                const char *text, size_t length) {
  ENTER(netc, NETC_NO_MEMORY);
  netc->message = "a context compiles one net";
  if (netc->loaded)
    return NETC_USAGE;
  struct slice copy = {arena_copy(&netc->arena, text, length), length};
  struct slice path = {keep(netc, slice_of(name)), strlen(name)};
  return load(netc, path, copy);
}

enum netc_status netc_load_file(struct netc *netc, const char *path) {
  ENTER(netc, NETC_NO_MEMORY);
  struct slice text;
  netc->message = "a context compiles one net";
  if (netc->loaded)
    return NETC_USAGE;
  enum file_status status = file_read(&netc->arena, path, &text);
  if (status != FILE_OK) {
    netc->message =
        format(netc, "cannot read %s: %s", path, file_reason(status));
    return NETC_IO;
  }
  bool standard_input = strcmp(path, "-") == 0;
  struct slice name =
      slice_of(standard_input ? "<stdin>" : keep(netc, slice_of(path)));
  return load(netc, name, text);
}

/* Outputs */

static struct emit_options options_of(const struct netc_options *o) {
  if (!o)
    return (struct emit_options){.units = UNITS_IEC};
  return (struct emit_options){.units = o->units == NETC_SI      ? UNITS_SI
                                        : o->units == NETC_BYTES ? UNITS_BYTES
                                                                 : UNITS_IEC,
                               .layout =
                                   o->channels_first ? LAYOUT_CHW : LAYOUT_HWC,
                               .depth = o->depth,
                               .expand = o->expand,
                               .explain = o->explain,
                               .ascii = o->ascii};
}

static bool is_ready(const struct compiled *c, enum backend_need needs) {
  return c->program && (needs < NEEDS_SYNTAX || c->parsed) &&
         (needs < NEEDS_MODEL || c->model);
}

enum netc_status netc_emit(struct netc *netc, const char *kind,
                           const struct netc_options *options,
                           netc_sink_fn *sink, void *user) {
  ENTER(netc, NETC_NO_MEMORY);
  const struct backend *backend = backend_find(slice_of(kind));
  if (!backend || !netc->loaded) {
    netc->message = backend ? "nothing has been loaded"
                            : format(netc, "there is no output `%s`", kind);
    return NETC_USAGE;
  }
  if (!is_ready(&netc->compiled, backend->needs))
    return NETC_ERROR;
  struct emit_options chosen = options_of(options);
  struct text out = text_to(&netc->arena, sink, user);
  backend->emit(&netc->compiled, &chosen, &out);
  netc->message = "the output could not be written";
  return text_flush(&out) ? NETC_OK : NETC_IO;
}

/* The model */

size_t netc_layer_count(const struct netc *netc) {
  return netc->compiled.model ? netc->model.nodes.count : 0;
}

enum netc_status netc_layer(struct netc *netc, size_t index,
                            struct netc_layer *layer) {
  ENTER(netc, NETC_NO_MEMORY);
  if (index >= netc_layer_count(netc))
    return NETC_USAGE;
  struct text name = text_new(&netc->arena);
  model_put_name(&name, &netc->model, (int64_t)index);
  const struct node *node = &netc->model.nodes.at[index];
  const struct cost *cost = &netc->model.costs[index];
  *layer = (struct netc_layer){.name = keep(netc, text_slice(&name)),
                               .op = node->kind->name,
                               .rank = node->out.rank,
                               .dims = node->out.dim,
                               .param_count = cost->params,
                               .mac_count = cost->macs,
                               .activation_count = cost->activations};
  return NETC_OK;
}

enum netc_status netc_totals(const struct netc *netc,
                             struct netc_totals *totals) {
  if (!netc->compiled.model)
    return NETC_USAGE;
  const struct cost *total = &netc->model.total;
  *totals = (struct netc_totals){.param_count = total->params,
                                 .trainable_count = total->trainable,
                                 .buffer_count = total->buffers,
                                 .mac_count = total->macs,
                                 .activation_count = total->activations,
                                 .activation_bytes = total->activation_bytes};
  return NETC_OK;
}

const char *netc_source(const struct netc *netc, size_t index) {
  return index < netc->units.count ? netc->units.at[index].path.at : NULL;
}
