/* The source of an import as text, in lines of 80 columns. */
#include <ctype.h>
#include <string.h>

#include "import/level.h"

enum {
  STEP = 2,
  CONTINUED = 4,
  LONG_NAME = 16 /* a module's path: the level is clearer */
};

struct source_writer {
  struct source_plan *plan;
  struct text *out;
  size_t line; /* offset of the current line */
  struct map names;
  const char **series;      /* names of labels with an index, by series */
  bool *written;            /* by def */
  const char *const *level; /* by node: level_names */
  bool in_def; /* a label here stands for several layers of the file */
};

static void statement_text(struct source_writer *w, const struct statement *s,
                           int indent, bool on_one_line);

static int column(const struct source_writer *w) {
  return (int)(w->out->length - w->line);
}

static void new_line(struct source_writer *w, int indent) {
  text_putc(w->out, '\n');
  w->line = w->out->length;
  text_fill(w->out, ' ', (size_t)indent);
}

static const char *new_name(struct source_writer *w, const char *name) {
  struct graph *graph = w->plan->graph;
  const char *whole = name;
  for (int i = 2; map_find(&w->names, slice_of(whole)); i++)
    whole = graph_text(graph, "%s_%d", name, i);
  map_add(graph->arena, &w->names, slice_of(whole));
  return whole;
}

/* The file's name of a tensor without its numbers: "add_bn" for "add_3_bn". */
static const char *without_numbers(struct source_writer *w, int node) {
  const char *file = w->plan->graph->nodes.at[node]->name;
  struct text text = text_new(w->plan->graph->arena);
  file = file ? graph_identifier(w->plan->graph, file) : NULL;
  for (; file && *file; file++) {
    bool number = isdigit((unsigned char)*file);
    bool blank = *file == '_' && (!file[1] || isdigit((unsigned char)file[1]));
    bool axes = number && file[1] == 'd'; /* conv2d */
    if (axes || (!number && !blank))
      text_putc(&text, *file);
  }
  bool is_short = text.length < 2;
  return is_short ? "skip" : text_string(&text);
}

static const char *series_name(struct source_writer *w, int node) {
  const char **name = &w->series[w->plan->series[node]];
  if (!*name)
    *name = new_name(w, without_numbers(w, node));
  return *name;
}

/* `skip[i-1]` */
static const char *indexed(struct source_writer *w, int node,
                           const char *index) {
  return graph_text(w->plan->graph, "%s[%s]", series_name(w, node), index);
}

/* The name of a label, chosen when it is first written. */
static const char *label_of(struct source_writer *w, int node) {
  struct graph *graph = w->plan->graph;
  if (w->plan->series[node])
    return indexed(w, node, graph_text(graph, "%d", w->plan->iteration[node]));
  if (w->plan->label[node])
    return w->plan->label[node];
  const char *name = w->in_def
                         ? without_numbers(w, node)
                         : graph_identifier(graph, graph->nodes.at[node]->name);
  if (!w->in_def && w->level[node] && (!name || strlen(name) > LONG_NAME))
    return w->plan->label[node] = new_name(w, w->level[node]);
  if (!name)
    name = graph->nodes.at[node]->word == WORD_INPUT ? "data" : "skip";
  /* Parameters have names such as c, s, k2. */
  if (strlen(name) == 1 || (strlen(name) == 2 && name[1] < 'A'))
    name = graph_text(graph, "at_%s", name);
  return w->plan->label[node] = new_name(w, name);
}

/* The text of a label that a statement names. */
static const char *named(struct source_writer *w,
                         const struct source_piece *piece) {
  if (piece->index)
    return indexed(w, piece->node, piece->index);
  if (w->plan->series[piece->node] && piece->text.part == PART_COUNT)
    return indexed(w, piece->node, piece->text.value);
  return label_of(w, piece->node);
}

static void inline_block(struct source_writer *w,
                         const struct source_block *block) {
  text_put(w->out, "{");
  for (size_t i = 0; i < block->all.count; i++) {
    text_put(w->out, i ? "; " : " ");
    statement_text(w, &block->all.at[i], 0, true);
  }
  text_put(w->out, block->all.count ? " }" : "}");
}

static void open_block(struct source_writer *w,
                       const struct source_block *block, int indent) {
  text_putc(w->out, '{');
  for (size_t i = 0; i < block->all.count; i++) {
    new_line(w, indent + STEP);
    statement_text(w, &block->all.at[i], indent + STEP, false);
  }
  new_line(w, indent);
  text_putc(w->out, '}');
}

/* Writes a blank, or starts a new line if `width` more does not fit. */
static void space(struct source_writer *w, int width, int indent,
                  bool on_one_line) {
  if (!on_one_line && column(w) + width > LINE - 3 &&
      column(w) > indent + CONTINUED) {
    text_put(w->out, " \\");
    new_line(w, indent + CONTINUED);
  } else {
    text_putc(w->out, ' ');
  }
}

static void block_text(struct source_writer *w,
                       const struct source_block *block, int indent,
                       bool on_one_line) {
  int width = block_width(block);
  size_t line = w->line, length = w->out->length;
  if (on_one_line || width <= LINE - indent - CONTINUED - 3) {
    space(w, width, indent, on_one_line);
    inline_block(w, block);
    if (on_one_line || column(w) < LINE - 1)
      return;
    w->line = line;
    w->out->length = length;
  }
  text_putc(w->out, ' ');
  open_block(w, block, indent);
}

static void rows_text(struct source_writer *w, const struct source_piece *piece,
                      int indent) {
  text_put(w->out, " [");
  for (size_t i = 0; i < piece->values.count; i++) {
    const char *value = piece->values.at[i].value;
    if (piece->columns > 1 && i % piece->columns == 0)
      new_line(w, indent + STEP);
    else if (piece->columns == 1 && column(w) + (int)strlen(value) > LINE - 6)
      new_line(w, indent + CONTINUED);
    else if (i > 0)
      text_putc(w->out, ' ');
    text_put(w->out, value);
  }
  if (piece->columns > 1)
    new_line(w, indent);
  text_putc(w->out, ']');
}

static bool is_loop(const struct statement *s) {
  return statement_is(s, "repeat") || statement_is(s, "for");
}

static void part_text(struct source_writer *w, const struct part_text *text) {
  bool sum = strpbrk(text->value, "*/") &&
             (strcmp(text->before, "/") == 0 || text->after);
  text_put(w->out, text->before);
  text_put(w->out, sum ? "(" : "");
  text_put(w->out, text->value);
  text_put(w->out, sum ? ")" : "");
  text_put(w->out, text->after ? text->after : "");
}

static void pieces_text(struct source_writer *w, const struct statement *s,
                        int indent, bool on_one_line) {
  bool begun = false;
  for (size_t i = 0; i < s->pieces.count; i++) {
    const struct source_piece *piece = &s->pieces.at[i];
    if (piece->kind == PIECE_BLOCK) {
      block_text(w, piece->block, indent, on_one_line);
    } else if (piece->kind == PIECE_ROWS) {
      rows_text(w, piece, indent);
    } else if (piece->kind == PIECE_LABEL) {
      if (!w->plan->labelled[piece->node])
        continue;
      const char *name = named(w, piece);
      space(w, (int)strlen(name) + 8, indent, on_one_line);
      text_put(w->out, piece->text.before ? piece->text.before : "");
      text_put(w->out, name);
    } else if (part_is_shown(&piece->text)) {
      if (begun)
        space(w, (int)strlen(piece->text.value) + 8, indent, on_one_line);
      part_text(w, &piece->text);
    }
    begun = true;
  }
}

static void statement_text(struct source_writer *w, const struct statement *s,
                           int indent, bool on_one_line) {
  size_t line = w->line;
  bool fits = on_one_line || s->width + indent <= LINE;
  bool named = s->labelled && !statement_is(s, "input");
  if (named) {
    text_put(w->out,
             s->index ? indexed(w, s->node, s->index) : label_of(w, s->node));
    text_put(w->out, is_loop(s) ? ": { " : ": ");
  }
  size_t begun = w->out->length;
  pieces_text(w, s, indent, fits);
  if (fits && !on_one_line && column(w) > LINE) {
    /* The labels are longer than `width` assumes. */
    w->line = line;
    w->out->length = begun;
    pieces_text(w, s, indent, false);
  }
  if (named && is_loop(s))
    text_put(w->out, " }");
}

/* Definitions. */

static void def_text(struct source_writer *w, size_t index);

static void defs_of(struct source_writer *w, const struct source_block *block) {
  for (size_t i = 0; i < block->all.count; i++) {
    const struct statement *s = &block->all.at[i];
    for (size_t d = 0; d < w->plan->defs.all.count; d++)
      if (strcmp(w->plan->defs.all.at[d].pieces.at[1].text.value,
                 s->pieces.at[0].text.value) == 0)
        def_text(w, d);
    for (size_t k = 0; k < s->pieces.count; k++)
      if (s->pieces.at[k].kind == PIECE_BLOCK)
        defs_of(w, s->pieces.at[k].block);
  }
}

/* Writes a def after the defs that it uses. */
static void def_text(struct source_writer *w, size_t index) {
  const struct statement *def = &w->plan->defs.all.at[index];
  const struct source_block *body = def->pieces.at[def->pieces.count - 1].block;
  if (w->written[index])
    return;
  w->written[index] = true;
  defs_of(w, body);
  text_printf(w->out, "def %s(", def->pieces.at[1].text.value);
  for (size_t i = 2; i + 1 < def->pieces.count; i++)
    text_printf(w->out, "%s%s", i > 2 ? ", " : "",
                def->pieces.at[i].text.value);
  text_put(w->out, ") ");
  w->in_def = true;
  open_block(w, body, 0);
  w->in_def = false;
  new_line(w, 0);
}

/* Checks of shapes. */

static const struct graph_shape *shape_of(const struct source_writer *w,
                                          const struct statement *s) {
  if (s->node < 0 || is_loop(s) || statement_is(s, "from") ||
      statement_is(s, "output") || statement_is(s, "input"))
    return NULL;
  return &w->plan->graph->nodes.at[s->node]->shape;
}

/* Adds the file's shape as a check where the sizes of maps change. */
static void mark(struct source_writer *w, const struct statement *s,
                 struct graph_shape *last) {
  const struct graph_shape *shape = shape_of(w, s);
  bool same = shape && shape->rank == last->rank;
  if (!shape || shape->rank == 0)
    return;
  for (int i = 0; same && i + 1 < shape->rank; i++)
    same = shape->size[i] == last->size[i];
  const char *dims = graph_sizes(w->plan->graph, shape->size, shape->rank);
  if (same || column(w) + (int)strlen(dims) + 4 > LINE)
    return;
  text_put(w->out, " -> ");
  text_put(w->out, dims);
  *last = *shape;
}

void source_write(struct source_plan *plan, struct text *out) {
  struct graph *graph = plan->graph;
  struct source_writer w = {.plan = plan, .out = out, .line = out->length};
  struct graph_shape last = {0};
  w.series =
      arena_alloc(graph->arena, (size_t)plan->series_count + 1, sizeof(char *));
  w.level = level_names(plan);
  w.written = arena_alloc(graph->arena, plan->defs.all.count + 1, sizeof(bool));
  for (size_t i = 0; i < plan->defs.all.count; i++)
    map_add(graph->arena, &w.names,
            slice_of(plan->defs.all.at[i].pieces.at[1].text.value));
  /* A label such as `add` would hide the layer. */
  for (size_t i = 0; i < graph->nodes.count; i++)
    map_add(graph->arena, &w.names,
            slice_of(word_name(graph->nodes.at[i]->word)));
  for (size_t i = 0; i < graph->notes.count; i++)
    text_printf(out, "# %s\n", graph->notes.at[i]);
  if (graph->name)
    text_printf(out, "net %s\n", graph->name);
  w.line = out->length;
  bool defined = false;
  for (size_t i = 0; i < plan->top.all.count; i++) {
    const struct statement *s = &plan->top.all.at[i];
    bool is_input = statement_is(s, "input");
    for (size_t d = 0; !is_input && !defined && d < plan->defs.all.count; d++)
      def_text(&w, d);
    defined = defined || !is_input;
    w.line = out->length;
    statement_text(&w, s, 0, false);
    if (is_input)
      last = graph->nodes.at[s->node]->shape;
    else
      mark(&w, s, &last);
    text_putc(out, '\n');
  }
  if (graph->infer)
    text_printf(out, "infer %s\n", graph->infer);
}
