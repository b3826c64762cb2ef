/*
 * Folders of PEFT: adapter_config.json names the model that an adapter was
 * trained for, and the modules that have one. As an operand, its net is that
 * model's, if that is in the folder; for --lora it is a rank and words.
 */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/guard.h"
#include "driver/opening.h"
#include "import/huggingface/huggingface.h"

struct adapter {
  struct facts facts;
  struct graph graph;
  const char *path, *folder;
  const struct fact *wrong; /* what `--lora` cannot have; NULL: nothing */
  const char *why;          /* and the reason */
};

/* Modules of transformers and diffusers, by the parts of a layer that they are:
 * q, k, v and o of attention, and a gated (g, u, d) or a plain (1, 2) MLP. */
static const struct adapter_module {
  const char *parts, *names;
} modules[] = {
    {"q", "q_proj query to_q q"},
    {"k", "k_proj key to_k k"},
    {"v", "v_proj value to_v v"},
    {"o", "o_proj out_proj to_out.0 o"},
    {"qkv", "qkv_proj query_key_value c_attn Wqkv"},
    {"g", "gate_proj"},
    {"u", "up_proj"},
    {"gu", "gate_up_proj"},
    {"d", "down_proj"},
    {"1", "fc1 c_fc"},
    {"2", "fc2"},
    {"o2", "c_proj"},
};

/* Sets of parts that `--lora` has a word for. */
static const struct adapter_set {
  const char *parts, *word;
} sets[] = {{"qv", "qv"},
            {"qkv", "qkv"},
            {"qkvo", "qkvo"},
            {"qkvogud", "all"},
            {"qkvo12", "all"}};

static const char parts[] = "qkvogud12";

/* Keys that change the net in a way that `--lora` has no word for, and the only
 * value that does not; "": null, or nothing in it. */
static const struct adapter_key {
  const char *name, *value;
} keys[] = {
    {"peft_type", "LORA"},     {"modules_to_save", ""},
    {"bias", "none"},          {"lora_bias", "false"},
    {"use_dora", "false"},     {"use_qalora", "false"},
    {"use_bdlora", ""},        {"rank_pattern", ""},
    {"target_parameters", ""}, {"trainable_token_indices", ""},
    {"exclude_modules", ""},   {"layers_to_transform", ""},
    {"layer_replication", ""}, {"arrow_config", ""},
    {"kasa_config", ""},       {"monteclora_config", ""},
    {"velora_config", ""},
};

static const char *word(struct adapter *a, const char *name) {
  const struct fact *f = fact_of(&a->facts, name);
  return f && f->kind == FACT_WORD
             ? graph_text(&a->graph, "%.*s", SLICE_ARG(f->text))
             : NULL;
}

/* LoraConfig of peft has 8 if the file is silent; 0: it is no rank. */
static int64_t rank_of(const struct adapter *a) {
  const struct fact *f = fact_of(&a->facts, "r");
  bool right =
      f && f->kind == FACT_INT && f->integer > 0 && f->integer <= HUGGING_MOST;
  return !f ? 8 : right ? f->integer : 0;
}

static const struct fact *target(struct adapter *a, int64_t i) {
  return fact_of(&a->facts,
                 graph_text(&a->graph, "target_modules_%lld", (long long)i));
}

static int64_t target_count(const struct adapter *a) {
  const struct fact *f = fact_of(&a->facts, "target_modules");
  return f && f->kind == FACT_OBJECT && f->integer < 1000 ? f->integer : 0;
}

/* "lm_head, embed_tokens", or the value as the file has it. */
static const char *shown(struct adapter *a, const struct fact *f) {
  enum { SHOWN = 8 };
  struct text text = text_new(a->graph.arena);
  for (int64_t i = 0; f->kind == FACT_OBJECT && i < f->integer && i < SHOWN;
       i++) {
    const struct fact *member =
        fact_of(&a->facts, graph_text(&a->graph, "%.*s_%lld",
                                      SLICE_ARG(f->name), (long long)i));
    if (member && member->kind == FACT_WORD)
      text_printf(&text, "%s%.*s", i ? ", " : "", SLICE_ARG(member->text));
  }
  if (text.length == 0)
    text_puts(&text, f->text);
  else if (f->integer > SHOWN)
    text_put(&text, " and others");
  return text_string(&text);
}

/* Notes the reason; false. */
static bool wrong(struct adapter *a, const struct fact *fact, const char *why) {
  a->wrong = fact;
  a->why = why;
  return false;
}

/* The first key that `--lora` has no word for; NULL: there is none. */
static const struct fact *odd_key(const struct adapter *a) {
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const struct fact *f = fact_of(&a->facts, keys[i].name);
    bool empty = !f || (f->kind == FACT_OBJECT && f->integer == 0);
    if (!empty && !slice_is(f->text, keys[i].value))
      return f;
  }
  return NULL;
}

/* The word of `--lora` for the target modules; NULL: there is none. */
static const char *set_of(struct adapter *a, const struct fact *targets) {
  bool has[sizeof parts] = {false};
  struct text set = text_new(a->graph.arena);
  if (targets->kind == FACT_WORD && slice_is(targets->text, "all-linear"))
    return "all";
  for (int64_t i = 0; i < target_count(a); i++) {
    const struct fact *f = target(a, i);
    const char *of = NULL;
    for (size_t j = 0; f && j < sizeof modules / sizeof *modules; j++)
      if (f->kind == FACT_WORD && word_index(modules[j].names, f->text))
        of = modules[j].parts;
    if (!of)
      return NULL;
    for (; *of; of++)
      has[strchr(parts, *of) - parts] = true;
  }
  for (size_t i = 0; parts[i]; i++)
    if (has[i])
      text_putc(&set, parts[i]);
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    if (slice_is(text_slice(&set), sets[i].parts))
      return sets[i].word;
  return NULL;
}

/* ":dropout=0.05" unless it is `usual`; false: it is not from 0 to `most`. */
static bool put_number(struct adapter *a, struct text *text, const char *key,
                       const char *name, double factor, double usual,
                       double most) {
  const struct fact *f = fact_of(&a->facts, key);
  bool number = f && (f->kind == FACT_INT || f->kind == FACT_REAL);
  double value =
      number ? strtod(graph_text(&a->graph, "%.*s", SLICE_ARG(f->text)), NULL)
             : 0;
  value *= factor;
  if (f && (!number || value < 0 || value > most))
    return wrong(a, f,
                 most > 1 ? ", not from 0 to 1,000,000" : ", not from 0 to 1");
  if (value < 1e-4 || fabs(value - usual) < 1e-9)
    return true;
  text_printf(text, ":%s=", name);
  text_fixed(text, value, 6); /* without an exponent */
  return true;
}

/* True if `--lora` has words for the rank and the modules. */
static bool has_words(struct adapter *a, const struct fact *targets) {
  const struct fact *odd = odd_key(a);
  if (odd)
    return wrong(a, odd, ", which `--lora` does not support");
  if (rank_of(a) == 0)
    return wrong(a, fact_of(&a->facts, "r"), ", not from 1 to 2^30");
  if (!targets)
    return wrong(a, NULL, "the file has no `target_modules`");
  if (!set_of(a, targets))
    return wrong(a, targets,
                 ": `--lora` adapts q and v, q, k and v, or q, k, v and o of "
                 "attention, or all dense layers");
  return true;
}

/*
 * "16:qv:f32:alpha=32": what `--lora` takes for the adapter; NULL if it has no
 * words for that, and `wrong` says why. PEFT has adapters in 32 bits
 * (autocast_adapter_dtype of peft's mapping_func.py).
 */
static const char *lora_of(struct adapter *a) {
  const struct fact *targets = fact_of(&a->facts, "target_modules");
  const struct fact *rslora = fact_of(&a->facts, "use_rslora");
  struct text text = text_new(a->graph.arena);
  bool rooted = rslora && rslora->kind == FACT_BOOL && rslora->integer;
  double rank = (double)rank_of(a);
  if (!has_words(a, targets))
    return NULL;
  text_printf(&text, "%lld:%s:f32", (long long)rank_of(a), set_of(a, targets));
  bool right = put_number(a, &text, "lora_alpha", "alpha",
                          rooted ? sqrt(rank) : 1, rank, 1e6) &&
               put_number(a, &text, "lora_dropout", "dropout", 1, 0, 1);
  return right ? text_string(&text) : NULL;
}

static const char stored[] = "adapter_model.safetensors";

/* Values of the adapter that are beside it, or only those that are named so;
 * -1: there is no such file; or a fault. */
static int64_t stored_values(struct adapter *a, const char *named,
                             const char **fault) {
  struct tensor_file file;
  int64_t values = 0;
  const char *path = graph_text(&a->graph, "%s/%s", a->folder, stored);
  if (!stored_is_inside(a->graph.arena, a->folder, path))
    return -1;
  bool right = tensors_open(&file, path, a->graph.arena);
  *fault = right ? NULL : file.fault;
  for (size_t i = 0; right && i < file.tensors.count; i++)
    if (strstr(file.tensors.at[i].name, named))
      values += file.tensors.at[i].count;
  tensors_close(&file);
  return values;
}

static void put_values(struct adapter *a, struct text *text) {
  const char *fault = NULL;
  int64_t values = stored_values(a, "", &fault);
  if (fault)
    text_printf(text, "; %s: %s", stored, fault);
  else if (values >= 0)
    text_printf(text, "; %s has %s values", stored, count_text(values).text);
}

/* "an adapter of X: LORA of rank 16 on q_proj, v_proj; .." */
static const char *describe(struct adapter *a) {
  struct text text = text_new(a->graph.arena);
  const struct fact *targets = fact_of(&a->facts, "target_modules");
  const char *type = word(a, "peft_type");
  const char *base = word(a, "base_model_name_or_path");
  text_printf(&text, "an adapter of %s",
              base ? base
                   : "a model that it does "
                     "not name");
  if (type)
    text_printf(&text, ": %s", type);
  if (rank_of(a))
    text_printf(&text, " of rank %lld", (long long)rank_of(a));
  if (targets)
    text_printf(&text, " on %s", shown(a, targets));
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

/* The operand as `--lora` takes it. */
static const char *option_of(struct adapter *a, const struct opened_file *o) {
  return graph_text(&a->graph, "--lora %s", shell_word("%s", o->operand).text);
}

static int refuse(struct adapter *a, const struct opened_file *o,
                  const char *what) {
  bool counted = lora_of(a) && strcmp(o->path, "-") != 0;
  const char *help =
      counted
          ? graph_text(&a->graph,
                       "give netc the folder of that model: `netc FOLDER %s` "
                       "counts it with this adapter",
                       option_of(a, o))
          : "give netc the folder of that model; `netc import FOLDER -o "
            "x.net` writes its source, in which a layer takes `lora=RANK` "
            "and attention `lora_on=qv`";
  return complain_of(EXIT_SOURCE, o->path, help, "this is %s", what);
}

/* The path is that of adapter_config.json. Returns an exit status. */
static int read_config(struct adapter *a, struct arena *arena, const char *path,
                       struct slice text) {
  const char *slash = strrchr(path, '/');
  *a = (struct adapter){.path = path, .folder = "."};
  graph_open(&a->graph, arena);
  if (slash)
    a->folder =
        arena_copy(arena, path, (size_t)(slash - path) + (slash == path));
  if (facts_read_json(&a->facts, &a->graph, text))
    return EXIT_DONE;
  return complain_at(EXIT_SOURCE, path, a->graph.error.line,
                     a->graph.error.column, NULL, "%.*s",
                     SLICE_ARG(a->graph.error.message));
}

int opening_adapter(struct opened_file *opening) {
  struct adapter a;
  struct arena *arena = &opening->arena;
  int status = read_config(&a, arena, opening->path, opening->text);
  if (status != EXIT_DONE)
    return status;
  const char *what = describe(&a), *base = base_of(&a);
  if (strcmp(opening->path, "-") == 0 || !base)
    return refuse(&a, opening, what);
  const char *option = lora_of(&a) ? option_of(&a, opening) : "";
  say_note(opening->path, NULL, "this is %s; netc reads its model%s%s%s", what,
           *option ? ", and `" : "", option,
           *option ? "` adds the adapter" : "");
  opening->path = base;
  opening->kind = KIND_CONFIG;
  return file_read(arena, base, &opening->text) == FILE_OK
             ? EXIT_DONE
             : complain(EXIT_IO, "cannot read %s", base);
}

/* --lora FOLDER */

struct adapter_run {
  struct arena arena;
  const char *path;
  struct opening_lora *lora;
  int status;
};

static int refuse_key(struct adapter *a) {
  const struct fact *f = a->wrong;
  const char *help =
      "`--lora 16:qv` names the rank and the matrices instead; "
      "in the source that `netc import` writes, `lora=16` adapts "
      "a layer and `frozen=false` trains one";
  if (!f)
    return complain_of(EXIT_SOURCE, a->path, help, "%s", a->why);
  return complain_at(EXIT_SOURCE, a->path, f->line, f->column, help,
                     "`%.*s` is %s%s", SLICE_ARG(*fact_shown(f)), shown(a, f),
                     a->why);
}

static void read_lora(void *user) {
  struct adapter_run *run = user;
  struct adapter a;
  struct slice text;
  const char *path = run->path, *fault = NULL;
  if (opening_is_folder(path)) {
    struct text file = text_new(&run->arena);
    bool ends = slice_ends(slice_of(path), "/");
    text_printf(&file, "%s%sadapter_config.json", path, ends ? "" : "/");
    path = text_string(&file);
  }
  if (file_read(&run->arena, path, &text) != FILE_OK) {
    run->status =
        complain(EXIT_IO, "--lora %s: cannot read %s", run->path, path);
    return;
  }
  run->status = read_config(&a, &run->arena, path, text);
  if (run->status != EXIT_DONE)
    return;
  const char *lora = lora_of(&a);
  if (!lora) {
    run->status = refuse_key(&a);
    return;
  }
  snprintf(run->lora->text, sizeof run->lora->text, "%s", lora);
  run->lora->values = stored_values(&a, "lora_", &fault);
  run->lora->files[0] = strdup(path);
  if (run->lora->values >= 0 || fault)
    run->lora->files[1] =
        strdup(graph_text(&a.graph, "%s/%s", a.folder, stored));
}

int opening_lora(const char *path, struct opening_lora *lora) {
  struct adapter_run run = {.path = path, .lora = lora, .status = EXIT_DONE};
  struct arena *const arenas[GUARD_ARENAS] = {&run.arena};
  *lora = (struct opening_lora){.values = -1};
  arena_open(&run.arena, NULL, NULL);
  if (!guard_run(arenas, read_lora, &run))
    run.status = complain(EXIT_IO, "out of memory");
  arena_close(&run.arena);
  return run.status;
}
