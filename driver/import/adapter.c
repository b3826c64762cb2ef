/*
 * Folders of PEFT: adapter_config.json names the model that an adapter was
 * trained for. Its net is that model's, if that is in the folder.
 */
#include <string.h>

#include "base/file.h"
#include "driver/opening.h"
#include "import/huggingface/huggingface.h"

struct adapter {
  struct opened_file *opening;
  struct facts facts;
  struct graph graph;
  const char *folder;
};

/* Names of modules in transformers: attention, and other dense layers. */
static const char *const projections[] = {"q_proj", "k_proj", "v_proj",
                                          "o_proj"};
static const char *const others[] = {"gate_proj", "up_proj", "down_proj"};

static const char *word(struct adapter *a, const char *name) {
  const struct fact *f = fact_of(&a->facts, name);
  return f && f->kind == FACT_WORD
             ? graph_text(&a->graph, "%.*s", SLICE_ARG(f->text))
             : NULL;
}

static int64_t rank_of(const struct adapter *a) {
  const struct fact *f = fact_of(&a->facts, "r");
  return f && f->kind == FACT_INT && f->integer > 0 ? f->integer : 0;
}

static const struct fact *target(struct adapter *a, int64_t i) {
  return fact_of(&a->facts,
                 graph_text(&a->graph, "target_modules_%lld", (long long)i));
}

static int64_t target_count(const struct adapter *a) {
  const struct fact *f = fact_of(&a->facts, "target_modules");
  return f && f->kind == FACT_OBJECT && f->integer < 1000 ? f->integer : 0;
}

/* How many of these words are targets. */
static size_t count_of(struct adapter *a, const char *const *words,
                       size_t count) {
  size_t found = 0;
  for (int64_t i = 0; i < target_count(a); i++)
    for (size_t j = 0; j < count; j++) {
      const struct fact *f = target(a, i);
      found += f && f->kind == FACT_WORD && slice_is(f->text, words[j]);
    }
  return found;
}

/* "`netc BASE --lora 16:all` counts .."; "" if no option does. */
static const char *option_of(struct adapter *a) {
  const struct fact *f = fact_of(&a->facts, "target_modules");
  size_t inner = count_of(a, projections, 4), outer = count_of(a, others, 3);
  size_t count = (size_t)target_count(a);
  bool all = (f && f->kind == FACT_WORD && slice_is(f->text, "all-linear")) ||
             (inner == 4 && outer == 3 && count == 7);
  if (rank_of(a) == 0 || (!all && (inner != 4 || count != 4)))
    return "";
  return graph_text(&a->graph, " --lora %lld%s", (long long)rank_of(a),
                    all ? ":all" : "");
}

static void put_targets(struct adapter *a, struct text *text) {
  const struct fact *f = fact_of(&a->facts, "target_modules");
  enum { SHOWN = 8 };
  if (f && f->kind == FACT_WORD)
    text_printf(text, " on %.*s", SLICE_ARG(f->text));
  for (int64_t i = 0; i < target_count(a) && i < SHOWN; i++)
    if (target(a, i) && target(a, i)->kind == FACT_WORD)
      text_printf(text, "%s%.*s", i ? ", " : " on ",
                  SLICE_ARG(target(a, i)->text));
  if (target_count(a) > SHOWN)
    text_put(text, " and others");
}

/* The adapter's own values, if they are beside it. */
static void put_values(struct adapter *a, struct text *text) {
  static const char name[] = "adapter_model.safetensors";
  struct tensor_file file;
  int64_t values = 0;
  const char *path = graph_text(&a->graph, "%s/%s", a->folder, name);
  if (!stored_is_inside(a->graph.arena, a->folder, path))
    return;
  bool right = tensors_open(&file, path, a->graph.arena);
  for (size_t i = 0; right && i < file.tensors.count; i++)
    values += file.tensors.at[i].count;
  if (right)
    text_printf(text, "; %s has %s values", name, count_text(values).text);
  else
    text_printf(text, "; %s: %s", name, file.fault);
  tensors_close(&file);
}

/* "an adapter of X: LORA of rank 16 on q_proj, v_proj; .." */
static const char *describe(struct adapter *a) {
  struct text text = text_new(a->graph.arena);
  const char *type = word(a, "peft_type"), *base;
  base = word(a, "base_model_name_or_path");
  text_printf(&text, "an adapter of %s",
              base ? base
                   : "a model that it does "
                     "not name");
  if (type)
    text_printf(&text, ": %s", type);
  if (rank_of(a))
    text_printf(&text, " of rank %lld", (long long)rank_of(a));
  put_targets(a, &text);
  put_values(a, &text);
  return text_string(&text);
}

/* The config of the base, if the folder has it; NULL: it has not. */
static const char *base_of(struct adapter *a) {
  const char *base = word(a, "base_model_name_or_path");
  const char *places[] = {"config.json", NULL};
  if (base && *base && *base != '/' && !strstr(base, ".."))
    places[1] = graph_text(&a->graph, "%s/config.json", base);
  for (size_t i = 0; i < 2 && places[i]; i++) {
    const char *path = graph_text(&a->graph, "%s/%s", a->folder, places[i]);
    if (file_identify(path).known &&
        stored_is_inside(a->graph.arena, a->folder, path))
      return path;
  }
  return NULL;
}

static int refuse(struct adapter *a, const char *what) {
  const char *option = option_of(a);
  const char *help =
      *option
          ? graph_text(&a->graph,
                       "give netc the folder of that model: `netc FOLDER%s` "
                       "counts it with such an adapter",
                       option)
          : "give netc the folder of that model; `netc import FOLDER -o "
            "x.net` writes its source, in which a layer takes `lora=RANK` "
            "and attention `lora_on=qv`";
  return complain_of(EXIT_SOURCE, a->opening->path, help, "this is %s", what);
}

int opening_adapter(struct opened_file *opening) {
  struct adapter a = {.opening = opening};
  const char *slash = strrchr(opening->path, '/');
  struct arena *arena = &opening->arena;
  graph_open(&a.graph, arena);
  a.folder = slash ? arena_copy(arena, opening->path,
                                (size_t)(slash - opening->path) +
                                    (slash == opening->path))
                   : ".";
  if (!facts_read_json(&a.facts, &a.graph, opening->text))
    return complain_at(EXIT_SOURCE, opening->path, a.graph.error.line,
                       a.graph.error.column, NULL, "%.*s",
                       SLICE_ARG(a.graph.error.message));
  const char *what = describe(&a), *base = base_of(&a);
  if (strcmp(opening->path, "-") == 0 || !base)
    return refuse(&a, what);
  const char *option = option_of(&a);
  say_note(opening->path, NULL, "this is %s; netc reads its model%s%s%s", what,
           *option ? ", and `" : "", *option ? option + 1 : "",
           *option ? "` adds the adapter" : "");
  opening->path = base;
  opening->kind = KIND_CONFIG;
  return file_read(arena, base, &opening->text) == FILE_OK
             ? EXIT_DONE
             : complain(EXIT_IO, "cannot read %s", base);
}
