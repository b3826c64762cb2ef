/* netc init: writes a commented net to start with, from examples/templates. */
#include "driver/init.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/suggest.h"
#include "driver/options.h"
#include "driver/output.h"
#include "driver/zoo.h"

/* A file of examples/templates, and the next question about such a net. */
static const struct net_template {
  const char *name, *what, *next, *answer;
} templates[] = {
    {"cnn", "an image classifier", "--batch 256 --gpu t4",
     "check that it trains on a card"},
    {"unet", "segmentation: a class for each pixel", "--batch 32 --gpu t4",
     "check that it trains on a card"},
    {"llm", "a language model", "--predict --gpu rtx4090 --context 1024",
     "check that a card can serve it"},
    {"detector", "boxes around objects", "--batch 64 --gpu t4",
     "check that it trains on a card"},
    {"mcu", "a classifier for a microcontroller, in int8", "--predict",
     "check its RAM and flash"},
};
enum { TEMPLATES = sizeof templates / sizeof *templates, COLUMN = 12 };

const char *init_template(size_t index) {
  return index < TEMPLATES ? templates[index].name : NULL;
}

struct init_call {
  const struct net_template *wanted;
  const char *path; /* NULL: the template's name, in the current folder */
  struct arena arena;
  int status;
};

static int list(void) {
  for (int i = 0; i < TEMPLATES; i++)
    put_beside(templates[i].name, COLUMN, templates[i].what);
  puts("\n`netc init cnn` writes cnn.net, `netc init cnn -o x.net` x.net.");
  return finish_stdout();
}

static const struct net_template *find(const char *name) {
  struct suggestion s = suggest_begin(slice_of(name));
  for (int i = 0; i < TEMPLATES; i++) {
    if (strcmp(templates[i].name, name) == 0)
      return &templates[i];
    suggest_offer(&s, slice_of(templates[i].name));
  }
  if (s.best.at)
    complain(EXIT_USAGE, "unknown template `%s`; did you mean `%.*s`?", name,
             SLICE_ARG(s.best));
  else
    complain(EXIT_USAGE,
             "unknown template `%s`; `netc init` lists the templates", name);
  return NULL;
}

static int write_to(const char *path, struct slice source) {
  struct output_file output;
  if (strcmp(path, "-") != 0 && access(path, F_OK) == 0)
    return complain(
        EXIT_USAGE,
        "%s exists and was not changed; give another name with `-o`", path);
  if (!output_open(&output, path))
    return output_failed(path, errno);
  if (fwrite(source.at, 1, source.length, output.file) != source.length ||
      fflush(output.file) != 0) {
    int error = errno;
    output_abandon(&output);
    return output_failed(path, error);
  }
  return output_commit(&output, false) ? EXIT_DONE : output_failed(path, errno);
}

static void say_line(const char *command, const char *word, const char *more,
                     const char *answer) {
  tell("  netc %s%s%s%s", command, word, *more ? " " : "", more);
  printf("\n      %s\n", answer);
}

static void say_next(const struct net_template *from, const char *path) {
  struct shell_word word = shell_word("%s", path);
  tell("%s: %s. Next:", path, from->what);
  putchar('\n');
  say_line("", word.text, "",
           "shapes, parameters, multiply-accumulates and memory");
  say_line("", word.text, from->next, from->answer);
  say_line("params ", word.text, "", "values that `-D NAME=VALUE` can set");
  puts("`netc layers` lists the layers, and `netc help` the other commands.");
}

static void init(void *user) {
  struct init_call *call = user;
  struct text from = text_new(&call->arena), to = text_new(&call->arena);
  struct slice source;
  text_printf(&from, "%s/templates/%s.net", zoo_examples(&call->arena),
              call->wanted->name);
  text_printf(&to, "%s.net", call->wanted->name);
  const char *path = call->path ? call->path : text_string(&to);
  if (file_read(&call->arena, text_string(&from), &source) != FILE_OK)
    call->status =
        complain(EXIT_IO, "the templates are missing: they should be in "
                          "share/netc/examples/templates beside bin");
  else
    call->status = write_to(path, source);
  if (call->status == EXIT_DONE && strcmp(path, "-") != 0) {
    say_next(call->wanted, path);
    call->status = finish_stdout();
  }
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct init_call *call = user;
  (void)option;
  (void)name;
  call->path = value;
  return EXIT_DONE;
}

int command_init(int argc, char **argv) {
  struct init_call call = {.status = EXIT_DONE};
  struct arena *const arenas[GUARD_ARENAS] = {&call.arena};
  struct operands words;
  if (!options_read(COMMAND_INIT, argc, argv, take, &call, &words))
    return words.status;
  if (words.count == 0 && call.path)
    return complain(EXIT_USAGE, "name a template; `netc init` lists them");
  if (words.count == 0)
    return list();
  if (words.count > 1)
    return complain(
        EXIT_USAGE,
        "give one template; -o names the file: `netc init %s -o %s`",
        words.at[0], shell_word("%s", words.at[1]).text);
  call.wanted = find(words.at[0]);
  if (!call.wanted)
    return EXIT_USAGE;
  arena_open(&call.arena, NULL, NULL);
  if (!guard_run(arenas, init, &call))
    call.status = complain(EXIT_IO, "out of memory");
  arena_close(&call.arena);
  return call.status;
}
