/* From facts to a source: the template with its params settled, checked. */
#define _GNU_SOURCE /* memmem */
#include "import/huggingface/huggingface.h"

/* "mistral", which has the net of llama, in examples/huggingface or zoo. */
static bool read_example(struct hugging *h, const char *file,
                         struct slice *source) {
  static const char *const folders[] = {"huggingface", "zoo"};
  for (size_t i = 0; i < 2; i++)
    if (import_example(h->graph, h->options,
                       graph_text(h->graph, "%s/%s", folders[i], file), source))
      return true;
  graph_fail(h->graph, 0, "the net of `%s` is not installed", h->type->name);
  return graph_help(h->graph,
                    "%s.net is installed in "
                    "share/netc/examples/huggingface beside bin",
                    file);
}

/* `use "blocks/latent.net"` of a template: the text of that file. */
static bool read_template(struct hugging *h, struct slice *source) {
  static const char use[] = "use \"";
  struct text text = text_new(h->graph->arena);
  struct slice file;
  if (!read_example(h, h->type->file, &file))
    return false;
  for (size_t i = 0; i < file.length;) {
    struct slice rest = slice_from(file, i), used;
    const char *end = memchr(rest.at, '\n', rest.length);
    rest.length = end ? (size_t)(end - rest.at) + 1 : rest.length;
    size_t ahead = sizeof use - 1, behind = sizeof ".net\"\n" - 1;
    i += rest.length;
    if (rest.length < ahead + behind || memcmp(rest.at, use, ahead) != 0) {
      text_puts(&text, rest);
      continue;
    }
    const char *name = graph_text(
        h->graph, "%.*s", (int)(rest.length - ahead - behind), rest.at + ahead);
    if (!read_example(h, name, &used))
      return false;
    text_puts(&text, used);
  }
  *source = text_slice(&text);
  return true;
}

/* Lines `train` and `infer` with the types of the weights. */
static void put_types(struct hugging *h, struct slice source,
                      struct text *out) {
  for (size_t i = 0; i < source.length;) {
    const char *end = memchr(source.at + i, '\n', source.length - i);
    size_t length = end ? (size_t)(end - source.at) - i + 1 : source.length - i;
    struct slice line = {source.at + i, length};
    bool train = length > 6 && memcmp(line.at, "train ", 6) == 0;
    const char *type = train ? memmem(line.at, length, " dtype=", 7) : NULL;
    i += length;
    if (length > 6 && memcmp(line.at, "infer ", 6) == 0)
      continue;
    if (!type) {
      text_puts(out, line);
      continue;
    }
    text_bytes(out, line.at, (size_t)(type - line.at));
    text_printf(out, " dtype=%s", h->dtype);
    type += 7;
    type += strcspn(type, " \n");
    text_bytes(out, type, (size_t)(line.at + length - type));
  }
  text_printf(out, "infer dtype=%s", h->dtype);
  if (h->state_dtype && strcmp(h->state_dtype, h->dtype) != 0)
    text_printf(out, " state_dtype=%s", h->state_dtype);
  if (h->weight_dtype)
    text_printf(out, " weight_dtype=%s", h->weight_dtype);
  /* Only what continues a sequence is served. */
  if (h->runtime && memmem(source.at, source.length, " causal", 7))
    text_printf(out, " runtime=%s", h->runtime);
  text_putc(out, '\n');
}

/* What the source begins with. */
static void put_head(struct hugging *h, struct text *out) {
  const struct fact *class = fact_of(h->facts, "architectures_0");
  if (!class)
    class = fact_of(h->facts, "_class_name");
  text_put(out, "# ");
  if (class && class->kind == FACT_WORD)
    text_printf(out, "%.*s, ", SLICE_ARG(class->text));
  text_printf(out, "as its %s says", h->origin);
  if (h->stored.name)
    text_printf(out, ",\n# compared with %s", h->stored.name);
  text_putc(out, '\n');
  for (size_t i = 0; i < h->graph->notes.count; i++)
    text_printf(out, "# %s\n", h->graph->notes.at[i]);
}

/* The config's own word for what it is, if the type is not chosen. */
static const char *name_of(const struct hugging *h) {
  const struct fact *said = fact_of(h->facts, "model_type");
  return said && said->kind == FACT_WORD && !h->options->as
             ? graph_text(h->graph, "%.*s", SLICE_ARG(said->text))
             : h->type->name;
}

/* Towers and further layers that the config has and the template has not. */
static void note_left_out(struct hugging *h) {
  const char *before = "";
#define LEFT_OUT(name, what)                                               \
  {                                                                        \
    const struct fact *fact = hugging_fact(h, slice_of(name));             \
    bool there = fact && (fact->kind == FACT_OBJECT || fact->integer > 0); \
    if (there && !hugging_counts(h, name) && strcmp(before, what) != 0) {  \
      graph_note(h->graph, "its %s (%s) is left out", what, name);         \
      before = what;                                                       \
    }                                                                      \
  }
#include "import/huggingface/huggingface.def"
}

static bool make(struct hugging *h, struct slice template) {
  struct graph *graph = h->graph;
  struct text source, typed = text_new(graph->arena);
  int64_t params = 0, all = 0;
  const char *name = graph_identifier(graph, name_of(h));
  if (!name) /* no letter of it is one of a name */
    name = graph_identifier(graph, h->type->name);
  if (!settle_source(graph->arena, template, slice_of(name), hugging_given, h,
                     &source))
    return graph_fail(graph, 0, "%s.net cannot be read", h->type->file);
  if (!h->headed && fact_of(h->facts, "head") &&
      !fact_is(h->facts, "head", "none"))
    return hugging_unknown_head(h);
  if (!hugging_lists_fit(h))
    return false;
  bool right = hugging_count(text_slice(&source), &params, &all);
  if (!right && !hugging_blame(h, template, slice_of(name)))
    return false;
  if (h->stored.dtype)
    h->dtype = h->stored.dtype;
  hugging_guess_dtype(h, params);
  if (!h->dtype)
    h->dtype = strcmp(h->type->file, "decoder") == 0 ? "bf16" : "f32";
  note_left_out(h);
  put_types(h, text_slice(&source), &typed);
  if (right && h->quantised)
    hugging_note_bytes(h, text_slice(&typed));
  else if (right && (!hugging_check(h, params, all) ||
                     !hugging_check_rows(h, text_slice(&source))))
    return false;
  graph->source = text_new(graph->arena);
  put_head(h, &graph->source);
  text_puts(&graph->source, text_slice(&typed));
  return true;
}

bool hugging_make(struct hugging *h) {
  struct slice template;
  return hugging_choose(h) && read_template(h, &template) && make(h, template);
}

bool huggingface_read(struct graph *graph, struct slice file,
                      const struct import_options *options) {
  struct facts facts;
  struct hugging h = {.facts = &facts,
                      .graph = graph,
                      .options = options,
                      .origin = "config.json"};
  if (!facts_read_json(&facts, graph, file))
    return false;
  return stored_read(&h.stored, graph, options->folder) &&
         (hugging_is_timm(&h) ? hugging_make_timm(&h) : hugging_make(&h));
}
