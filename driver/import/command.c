/* netc import: translates a model of another framework into a source. */
#include <errno.h>
#include <string.h>

#include "base/guard.h"
#include "driver/import/request.h"
#include "import/allow.h"
#include "import/weights.h"

static int write_source(const struct import_request *r) {
  struct output_file output;
  const char *path = r->output ? r->output : "-";
  if (!output_open(&output, path))
    return output_failed(path, errno);
  fwrite(r->formatted.at, 1, r->formatted.length, output.file);
  if (!output_commit(&output, false))
    return output_failed(path, errno);
  return EXIT_DONE;
}

static int allow_choices(struct import_request *r) {
  struct text out = text_new(&r->arena);
  struct slice source = {r->formatted.at, r->formatted.length};
  size_t count = import_allow(r->netc, source, &out);
  if (count == 0)
    return EXIT_DONE;
  r->formatted.length = 0;
  if (!bytes_sink(&r->formatted, out.at, out.length))
    return complain(EXIT_IO, "out of memory");
  say_note(r->path, NULL,
           "%zu warning%s about choices of the net's author, which the source "
           "allows; `netc check %s` shows %s",
           count, count == 1 ? "" : "s", shell_word("%s", r->path).text,
           count == 1 ? "it" : "them");
  return EXIT_DONE;
}

static int write_weights(const struct import_request *r, struct graph *graph,
                         const struct imported *result) {
  struct output_file output;
  if (graph->source.length && !graph->kept)
    return complain(EXIT_USAGE,
                    "--weights: a config has no weights; the files beside it "
                    "use Hugging Face's names");
  if (!output_open(&output, r->weights))
    return output_failed(r->weights, errno);
  if (!import_weights(r->netc, result, graph, output.file)) {
    output_abandon(&output);
    return request_refuse(r, graph);
  }
  if (!output_commit(&output, false))
    return output_failed(r->weights, errno);
  return EXIT_DONE;
}

/* Refuses a file that no reader knows. */
static int refuse_format(struct import_request *r) {
  struct text help = text_new(&r->arena);
  text_put(&help, "one of:");
  for (size_t i = 0; i < import_reader_count(); i++)
    text_printf(&help, " %s", import_reader_at(i)->name);
  text_printf(&help, "\n`netc %s` compiles it, if it is a source",
              shell_word("%s", r->path).text);
  text_putc(&help, '\0');
  return complain_of(EXIT_SOURCE, r->path, help.at,
                     "netc does not import this format");
}

/* Writes the net whose weights a file has. */
static int write_recognised(struct import_request *r) {
  const struct import_options *o = &r->options;
  if (r->from || o->flat || o->allow_unknown || o->assume_bn ||
      o->input_count || o->size_count)
    return complain(EXIT_USAGE,
                    "%s has only weights: its net is written as in the zoo, "
                    "without options",
                    r->path);
  int status = opening_recognise(&r->opening, true, true);
  if (status == EXIT_DONE && r->weights)
    return complain(EXIT_USAGE,
                    "--weights: the file has other names; `netc weights X.net "
                    "--from %s --by-order -o %s` renames its tensors",
                    shell_word("%s", r->path).text,
                    shell_word("%s", r->weights).text);
  struct slice text = r->opening.text;
  if (status == EXIT_DONE && !bytes_sink(&r->formatted, text.at, text.length))
    return complain(EXIT_IO, "out of memory");
  return status == EXIT_DONE ? write_source(r) : status;
}

/* Refuses an --input that no input has taken. */
static int refuse_unused(const struct import_request *r) {
  for (size_t i = 0; i < r->options.input_count; i++) {
    const struct import_input *input = &r->inputs[i];
    if (!input->used && input->name)
      return complain(EXIT_USAGE, "--input: the file has no input `%s`",
                      input->name);
    if (!input->used)
      return complain(EXIT_USAGE,
                      "--input: an import keeps the sizes that the file "
                      "states; `netc %s --input SIZES` changes them",
                      shell_word("%s", r->path).text);
  }
  return EXIT_DONE;
}

static int serve(struct import_request *r) {
  struct graph graph;
  struct imported result;
  int status = opening_open(&r->opening, r->path);
  if (status == EXIT_DONE && r->opening.parts.count)
    say_note(r->path, NULL,
             "the source is that of one net; `netc import %s` writes another",
             shell_word("%s", r->opening.parts.at[0]).text);
  if (status == EXIT_DONE && r->opening.kind == KIND_COUNT)
    return refuse_format(r);
  if (status == EXIT_DONE && request_is_weights(&r->opening))
    return write_recognised(r);
  if (status == EXIT_DONE)
    status = request_make_source(r, &r->opening, &graph, &result);
  if (status == EXIT_DONE)
    status = refuse_unused(r);
  if (status == EXIT_DONE && !graph.kept)
    status = allow_choices(r);
  if (status == EXIT_DONE && r->weights)
    status = write_weights(r, &graph, &result);
  return status == EXIT_DONE ? write_source(r) : status;
}

static int list_types(struct import_request *r) {
  struct text text = text_new(&r->arena);
  struct graph graph;
  graph_open(&graph, &r->arena);
  import_types(&graph, &text);
  r->formatted = (struct bytes){.at = text.at, .length = text.length};
  int status = write_source(r);
  r->formatted = (struct bytes){0};
  return status;
}

static void run(void *user) {
  struct import_request *r = user;
  r->status = r->types ? list_types(r) : serve(r);
}

/* Explains for -o x.svg that a diagram takes two steps. */
static int check_suffix(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash ? slash : path, '.');
  if (!dot || dot[1] == '\0' || dot[1] == '/' || strcmp(dot, ".net") == 0)
    return EXIT_DONE;
  struct shell_word source = shell_word("%.*s.net", (int)(dot - path), path);
  return complain(EXIT_USAGE,
                  "-o %s: an import writes a source: `-o %s`; then `netc %s -o "
                  "%s` makes this output",
                  path, source.text, source.text, shell_word("%s", path).text);
}

/* Checks that no output would replace the input or the other output. */
static int check_places(const struct import_request *r) {
  const char *source = r->output ? r->output : "-";
  const char *weights = r->weights ? r->weights : "-";
  const char *path = r->path ? r->path : "-";
  if (output_same_file(source, path) || output_same_file(weights, path))
    return request_would_replace(path);
  if (r->from &&
      (output_same_file(source, r->from) || output_same_file(weights, r->from)))
    return request_would_replace(r->from);
  if (output_same_file(source, weights))
    return complain(EXIT_USAGE,
                    "two outputs have the file %s; give each its own file",
                    source);
  return r->types ? EXIT_DONE : check_suffix(source);
}

int command_import(int argc, char **argv) {
  struct import_request r = {.status = EXIT_DONE};
  struct arena *const arenas[GUARD_ARENAS] = {&r.arena};
  struct operands files;
  if (!options_read(COMMAND_IMPORT, argc, argv, request_take, &r, &files))
    return files.status;
  if (files.count != !r.types)
    return complain(EXIT_USAGE, "netc import needs one file");
  r.path = files.count ? files.at[0] : NULL;
  if (check_places(&r) != EXIT_DONE)
    return EXIT_USAGE;
  r.netc = request_context();
  if (!r.netc)
    return complain(EXIT_IO, "out of memory");
  arena_open(&r.arena, NULL, NULL);
  if (!guard_run(arenas, run, &r))
    r.status = complain(EXIT_IO, "out of memory");
  arena_close(&r.arena);
  opening_close(&r.opening);
  bytes_free(&r.formatted);
  netc_close(r.netc);
  return r.status;
}
