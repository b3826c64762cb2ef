/* Hints: the shape at the end of each line. */
#include "library/hints.h"

#include "codegen/formula.h"
#include "library/repair.h"

/* The last statement that ends on a line, and the widest of those: an `add`
 * rather than its layers. Loops and calls may repeat it. */
struct line_end {
  struct span span;
  int64_t first, last; /* nodes; -1: none */
};

struct line_table {
  const struct source *source;
  size_t count;
  uint32_t *starts; /* of lines, as offsets */
  struct line_end *ends;
};

struct line_finder {
  struct load *load;
  struct line_table *tables; /* by unit */
  size_t unit, line;         /* of the last lookup */
};

static void open_table(struct arena *arena, const struct source *source,
                       struct line_table *table) {
  VEC(uint32_t) starts = {0};
  *VEC_PUSH(arena, &starts) = 0;
  for (size_t i = 0; i < source->text.length; i++)
    if (source->text.at[i] == '\n')
      *VEC_PUSH(arena, &starts) = (uint32_t)i + 1;
  table->source = source;
  table->count = starts.count;
  table->starts = starts.at;
  table->ends = arena_alloc(arena, starts.count, sizeof *table->ends);
  for (size_t i = 0; i < starts.count; i++)
    table->ends[i] = (struct line_end){{0, 0}, -1, -1};
}

static bool is_in_table(const struct line_table *table, uint32_t place) {
  return table->source && place >= table->source->base &&
         place - table->source->base <= table->source->text.length;
}

static bool is_on_line(const struct line_table *table, size_t line,
                       uint32_t at) {
  return at >= table->starts[line] &&
         (line + 1 == table->count || at < table->starts[line + 1]);
}

static struct line_end *find_line(struct line_finder *f, uint32_t place) {
  if (!is_in_table(&f->tables[f->unit], place)) {
    size_t unit = 0;
    while (unit < f->load->units.count && !is_in_table(&f->tables[unit], place))
      unit++;
    if (unit == f->load->units.count)
      return NULL; /* an option of the command line */
    f->unit = unit;
    f->line = 0;
  }
  struct line_table *table = &f->tables[f->unit];
  uint32_t at = place - table->source->base;
  size_t low = 0, high = table->count;
  if (!is_on_line(table, f->line, at)) {
    while (high - low > 1) {
      size_t middle = (low + high) / 2;
      *(table->starts[middle] <= at ? &low : &high) = middle;
    }
    f->line = low;
  }
  return &table->ends[f->line];
}

/* Offers a statement whose output is that of a node. */
static void offer_end(struct line_finder *f, struct span span, int64_t node) {
  span = repair_written(f->load, span);
  if (span.end <= span.begin)
    return;
  struct line_end *end = find_line(f, span.end - 1);
  if (!end)
    return;
  bool same = end->first >= 0 && end->span.begin == span.begin &&
              end->span.end == span.end;
  if (same)
    end->last = node;
  else if (end->first < 0 || span.end > end->span.end ||
           (span.end == end->span.end && span.begin < end->span.begin))
    *end = (struct line_end){span, node, node};
}

/* Calls and groups have the output of their last layer. */
static void find_ends(struct line_finder *f) {
  const struct model *model = &f->load->model;
  for (size_t i = 0; i < model->nodes.count; i++)
    offer_end(f, model->nodes.at[i].span, (int64_t)i);
  for (size_t i = 0; i < model->groups.count; i++) {
    const struct group *group = &model->groups.at[i];
    if (group->stmt && group->out >= 0)
      offer_end(f, group->stmt->span, group->out);
  }
}

static struct line_hint hint_of(struct load *load,
                                const struct line_table *table, size_t line) {
  struct line_hint hint = {.layer = table->ends[line].last};
  struct slice text = table->source->text;
  hint.end =
      line + 1 < table->count ? table->starts[line + 1] - 1 : text.length;
  if (hint.end > table->starts[line] && text.at[hint.end - 1] == '\r')
    hint.end--;
  if (hint.layer < 0)
    return hint;
  const struct shape *first = load->model.nodes.at[table->ends[line].first].out;
  const struct shape *last = load->model.nodes.at[hint.layer].out;
  struct text shape = text_new(&load->arena);
  shape_put(&shape, first, LAYOUT_HWC);
  if (!shape_equal(first, last)) {
    text_put(&shape, " .. ");
    shape_put(&shape, last, LAYOUT_HWC);
  }
  hint.shape = text_string(&shape);
  hint.exact = !strchr(hint.shape, '?');
  return hint;
}

static bool has_layers(const struct load *load) {
  return load->partial || load->compiled.model;
}

const struct unit_hints *hints_of(struct call *call) {
  struct load *load = call->netc->load;
  size_t count = load->units.count;
  if (load->hints)
    return load->hints;
  struct line_finder f = {
      .load = load,
      .tables = arena_alloc(&call->scratch, count + 1, sizeof *f.tables)};
  load->hints = arena_alloc(&load->arena, count + 1, sizeof *load->hints);
  for (size_t i = 0; i < count; i++)
    if (load->units.at[i].source >= 0)
      open_table(&call->scratch,
                 &load->sources.all.at[load->units.at[i].source], &f.tables[i]);
  if (count && has_layers(load))
    find_ends(&f);
  for (size_t i = 0; i < count; i++) {
    struct unit_hints *hints = &load->hints[i];
    hints->count = f.tables[i].count;
    hints->lines =
        arena_alloc(&load->arena, hints->count + 1, sizeof *hints->lines);
    for (size_t k = 0; k < hints->count; k++)
      hints->lines[k] = hint_of(load, &f.tables[i], k);
  }
  return load->hints;
}

/* Queries */

struct hint_asking {
  size_t source, index;
  void *to;
};

static void call_hint(struct call *call) {
  const struct hint_asking *asking = call->request;
  struct load *load = call->netc->load;
  hints_of(call);
  struct unit_hints *hints = &load->hints[asking->source];
  if (!hints->made.at)
    for (size_t i = 0; i < hints->count; i++)
      if (hints->lines[i].shape)
        *VEC_PUSH(&load->arena, &hints->made) = (uint32_t)i;
  call->status = NETC_USAGE;
  if (asking->index >= hints->made.count)
    return;
  uint32_t line = hints->made.at[asking->index];
  const struct line_hint *at = &hints->lines[line];
  struct netc_hint hint = {.line = line + 1,
                           .byte = at->end,
                           .shape = at->shape,
                           .exact = at->exact,
                           .recalled = at->recalled,
                           .layer = at->layer};
  call->status = FILL(asking->to, &hint);
}

enum netc_status netc_hint(struct netc *netc, size_t source, size_t index,
                           struct netc_hint *hint) {
  struct hint_asking asking = {source, index, hint};
  if (!netc->load || source >= netc->load->units.count)
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_hint, &asking);
}

static void call_formulas(struct call *call) {
  const struct hint_asking *asking = call->request;
  struct load *load = call->netc->load;
  const struct netc_options plain = {.size = sizeof plain};
  struct compiled compiled = load->compiled;
  struct text text = text_new(&load->arena);
  if (compiled.model) {
    compiled.options = &plain;
    if (!load->rows) {
      load->rows = ARENA_NEW(&load->arena, struct rows);
      *load->rows = rows_of(&compiled);
    }
    int64_t row = load->rows->of_node[asking->index];
    formula_put_row(&text, &compiled, &load->rows->at[row], "", 0);
  }
  *(const char **)asking->to = text_string(&text);
}

enum netc_status netc_layer_formulas(struct netc *netc, size_t layer,
                                     const char **formulas) {
  struct hint_asking asking = {0, layer, formulas};
  if (layer >= netc_layer_count(netc))
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_formulas, &asking);
}
