/* Opens a file of another framework for a command other than import. */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/guard.h"
#include "driver/import/request.h"
#include "driver/net_options.h"
#include "import/pytorch/modules.h"
#include "import/weights.h"

static void ask_modules(void *user) {
  struct opened_file *opening = user;
  opening->modules = modules_are_in(opening->path, &opening->arena);
}

bool opening_has_modules(struct opened_file *opening) {
  struct arena *const arenas[GUARD_ARENAS] = {&opening->arena};
  guard_run(arenas, ask_modules, opening);
  return opening->modules;
}

bool request_is_weights(struct opened_file *opening) {
  const struct file_kind *kind = file_kind(opening->kind);
  return kind->tensors && !kind->read && !opening_has_modules(opening);
}

struct import_opened {
  struct import_request request;
  struct opened_file *opening;
  const struct option_given *given;
  size_t count;
  struct text command;
};

/* Takes an option, and writes it as `netc import` would need it. */
static int take_given(struct import_request *r,
                      const struct option_given *given, struct text *command) {
  enum option_id option = given->option;
  if (option == OPTION_SETTING && strcmp(given->name, "weight-dtype") == 0)
    r->options.retyped = true;
  const char *text = given->value ? given->value : "";
  char *value = arena_copy(&r->arena, text, strlen(text)); /* it is modified */
  if (option >= OPTION_COUNT ||
      (option != OPTION_SIZES && option_row(option)->group != GROUP_IMPORT))
    return EXIT_DONE;
  text_printf(command, " --%s%s%s", option_row(option)->name, *text ? " " : "",
              *text ? shell_word("%s", text).text : "");
  return option == OPTION_SIZES ? request_take_input(r, value)
                                : request_take(r, option, given->name, value);
}

/* True if values are needed and can exist: not for a single .cfg. */
static bool wants_values(struct import_request *r,
                         const struct opened_file *opening) {
  const char *suffix = file_kind(opening->kind)->values;
  r->path = opening->path;
  r->from = opening->from;
  return opening->wants_values &&
         (!suffix || r->from || file_identify(request_beside(r, suffix)).known);
}

/* Keeps values in a temporary file, which ends with the program. */
static int keep_values(struct import_request *r, struct opened_file *opening,
                       struct graph *graph, const struct imported *result) {
  if (!r->options.weights || (graph->source.length && !graph->kept))
    return EXIT_DONE;
  opening->values = tmpfile();
  if (!opening->values)
    return output_failed("a temporary file", errno);
  if (!import_weights(r->netc, result, graph, opening->values))
    return request_refuse(r, graph);
  return fflush(opening->values) == 0
             ? EXIT_DONE
             : output_failed("a temporary file", errno);
}

/* Keeps the values of --input that the import has used: its source has these
 * sizes, perhaps for inputs of other names. */
static void keep_sizes(const struct import_opened *o) {
  size_t k = 0;
  for (size_t i = 0; i < o->count; i++)
    if (o->given[i].option == OPTION_SIZES && o->request.inputs[k++].used)
      *VEC_PUSH(&o->opening->arena, &o->opening->sizes) = o->given[i].value;
}

static void run_opened(void *user) {
  struct import_opened *o = user;
  struct import_request *r = &o->request;
  struct graph graph;
  struct imported result;
  o->command = text_new(&r->arena);
  for (size_t i = 0; i < o->count && r->status == EXIT_DONE; i++)
    r->status = take_given(r, &o->given[i], &o->command);
  r->options.weights = wants_values(r, o->opening);
  if (r->status == EXIT_DONE)
    r->status = request_make_source(r, o->opening, &graph, &result);
  if (r->status == EXIT_DONE)
    r->status = keep_values(r, o->opening, &graph, &result);
  if (r->status == EXIT_DONE && o->opening->kind == KIND_CONFIG)
    for (size_t i = 0; i < graph.notes.count; i++)
      say_note(o->opening->path, NULL, "%s", graph.notes.at[i]);
  for (size_t i = 0; r->status == EXIT_DONE && i < graph.beside.count; i++)
    *VEC_PUSH(&o->opening->arena, &o->opening->beside) = arena_copy(
        &o->opening->arena, graph.beside.at[i], strlen(graph.beside.at[i]));
  if (r->status == EXIT_DONE) {
    o->opening->text.at =
        arena_copy(&o->opening->arena, r->formatted.at, r->formatted.length);
    o->opening->text.length = r->formatted.length;
    keep_sizes(o);
  }
}

int opening_import(struct opened_file *opening,
                   const struct option_given *given, size_t count) {
  if (request_is_weights(opening))
    return opening_recognise(opening, true, true);
  struct import_opened o = {.opening = opening, .given = given, .count = count};
  struct import_request *r = &o.request;
  struct arena *const arenas[GUARD_ARENAS] = {&r->arena, &opening->arena};
  r->netc = request_context();
  if (!r->netc)
    return complain(EXIT_IO, "out of memory");
  arena_open(&r->arena, NULL, NULL);
  if (!guard_run(arenas, run_opened, &o))
    r->status = complain(EXIT_IO, "out of memory");
  if (r->status == EXIT_DONE)
    say_note(
        opening->path, NULL,
        "the file is read as %s; `netc import %s%.*s` writes the source that "
        "is compiled",
        file_kind(opening->kind)->name, shell_word("%s", opening->path).text,
        SLICE_ARG(o.command));
  arena_close(&r->arena);
  bytes_free(&r->formatted);
  netc_close(r->netc);
  return r->status;
}
