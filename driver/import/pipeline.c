/*
 * Folders of diffusers: model_index.json lists the parts of a pipeline, each in
 * a folder of its own. One is the net, the others run in the same process.
 */
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "driver/opening.h"
#include "driver/zoo.h"
#include "import/huggingface/huggingface.h"
#include "import/reader.h"

struct pipeline {
  struct opened_file *opening;
  const char *folder;
  struct facts facts;
  struct graph graph;
  struct slice real;     /* the folder without links */
  struct text left_out;  /* parts that netc does not read */
  struct text beside;    /* names of the others */
  const char *main_name; /* NULL: none is found yet */
};

/* The part that a step of sampling runs, the likeliest first. */
static const char *const mains[] = {"transformer", "unet", "prior", "decoder"};

/* Classes that compute nothing with weights. */
static bool is_net(struct slice class) {
  static const char *const ends[] = {"Tokenizer", "TokenizerFast", "Scheduler",
                                     "Processor", "FeatureExtractor"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (slice_ends(class, ends[i]))
      return false;
  return true;
}

/* Everything in the file is data: a name is no path. */
static bool is_name(struct slice name) {
  for (size_t i = 0; i < name.length; i++)
    if (!isalnum((unsigned char)name.at[i]) && name.at[i] != '_')
      return false;
  return name.length > 0;
}

/* The class of a part, or NULL: the fact is something else. */
static const struct fact *class_of(struct pipeline *p,
                                   const struct fact *part) {
  struct arena *arena = &p->opening->arena;
  struct text name = text_new(arena);
  text_printf(&name, "%.*s_1", SLICE_ARG(part->name));
  const struct fact *class = fact_find(&p->facts, text_slice(&name));
  bool top = slice_equal(*fact_shown(part), part->name);
  return top && part->kind == FACT_OBJECT && part->integer == 2 && class &&
                 class->kind == FACT_WORD && is_name(part->name) &&
                 is_net(class->text)
             ? class
             : NULL;
}

static void leave_out(struct pipeline *p, const struct fact *part,
                      const struct fact *class, struct slice why) {
  text_printf(&p->left_out, "%s%.*s (%.*s): %.*s",
              p->left_out.length ? "; " : "", SLICE_ARG(part->name),
              SLICE_ARG(class->text), SLICE_ARG(why));
}

/* The config of a part that netc reads, or NULL. */
static const char *config_of(struct pipeline *p, const struct fact *part,
                             const struct fact *class) {
  struct arena *arena = &p->opening->arena;
  struct import_options options = {.templates = zoo_examples(arena)};
  struct graph graph;
  struct slice text;
  graph_open(&graph, arena);
  options.folder =
      graph_text(&graph, "%s/%.*s", p->folder, SLICE_ARG(part->name));
  const char *path = graph_text(&graph, "%s/config.json", options.folder);
  if (!file_identify(path).known)
    graph_fail(&graph, 0, "it is not in the folder");
  else if (!stored_is_inside(arena, p->folder, path))
    graph_fail(&graph, 0, "it is a link out of the folder");
  else if (file_read(arena, path, &text) != FILE_OK)
    graph_fail(&graph, 0, "its config.json cannot be read");
  else
    import_reader_of(KIND_CONFIG)->read(&graph, text, &options);
  graph_close_rules(&graph);
  if (graph.failed)
    leave_out(p, part, class, graph.error.message);
  return graph.failed ? NULL : path;
}

static bool is_main(struct slice name) {
  for (size_t i = 0; i < sizeof mains / sizeof *mains; i++)
    if (slice_is(name, mains[i]))
      return true;
  return false;
}

static void add_part(struct pipeline *p, const struct fact *part,
                     const struct fact *class) {
  struct opened_file *o = p->opening;
  const char *path = config_of(p, part, class);
  if (path && !p->main_name && is_main(part->name)) {
    p->main_name = arena_copy(&o->arena, part->name.at, part->name.length);
    o->path = path;
  } else if (path) {
    *VEC_PUSH(&o->arena, &o->parts) = path;
    text_printf(&p->beside, "%s%.*s", p->beside.length ? ", " : "",
                SLICE_ARG(part->name));
  }
}

/* Without a part that samples, the first one is the net. */
static bool choose(struct pipeline *p) {
  struct opened_file *o = p->opening;
  if (p->main_name || o->parts.count == 0)
    return p->main_name;
  o->path = o->parts.at[0];
  o->parts.count--;
  memmove(o->parts.at, o->parts.at + 1, o->parts.count * sizeof *o->parts.at);
  size_t first = strcspn(text_string(&p->beside), ",");
  p->main_name = arena_copy(&o->arena, p->beside.at, first);
  p->beside.at += first + (first < p->beside.length ? 2 : 0);
  p->beside.length -= first + (first < p->beside.length ? 2 : 0);
  return true;
}

static int report(struct pipeline *p) {
  const struct fact *class = fact_of(&p->facts, "_class_name");
  struct slice name =
      class && class->kind == FACT_WORD ? class->text : slice_of("a pipeline");
  if (!choose(p))
    return complain_of(
        EXIT_SOURCE, p->folder, "give netc the folder of one part",
        "netc reads no part of this pipeline: %s", text_string(&p->left_out));
  say_note(p->folder, NULL,
           "it is a folder of diffusers, %.*s; netc reads its %s%s%s",
           SLICE_ARG(name), p->main_name,
           p->beside.length ? ", and beside it " : "",
           p->beside.length ? text_string(&p->beside) : "");
  if (p->left_out.length)
    say_note(p->folder, NULL, "left out: %s", text_string(&p->left_out));
  return EXIT_DONE;
}

int opening_pipeline(struct opened_file *opening, const char *folder) {
  struct arena *arena = &opening->arena;
  struct pipeline p = {.opening = opening, .folder = folder};
  struct slice text;
  graph_open(&p.graph, arena);
  const char *index = graph_text(&p.graph, "%s/model_index.json", folder);
  p.left_out = text_new(arena);
  p.beside = text_new(arena);
  if (!stored_is_inside(arena, folder, index) ||
      file_read(arena, index, &text) != FILE_OK)
    return complain(EXIT_IO, "cannot read %s", index);
  if (!facts_read_json(&p.facts, &p.graph, text))
    return complain_at(EXIT_SOURCE, index, p.graph.error.line,
                       p.graph.error.column, NULL, "%.*s",
                       SLICE_ARG(p.graph.error.message));
  for (size_t i = 0; i < p.facts.all.count; i++) {
    const struct fact *part = &p.facts.all.at[i];
    const struct fact *class = class_of(&p, part);
    if (class)
      add_part(&p, part, class);
  }
  return report(&p);
}
