/* fmt: formats a source, for `netc fmt`. */
#include "codegen/backend.h"
#include "parser/format.h"

void emit_fmt(const struct compiled *c, struct text *out) {
  format_source(c->arena, c->sources, c->source, NULL, 0, out);
}

struct shape_marks {
  const struct compiled *c;
  const struct shape_record *records;
  VEC(struct format_mark) all;
};

static bool has_block(const struct stmt *stmt) {
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    if (arg->form == ARG_BLOCK)
      return true;
  return false;
}

/* New shape marks are added where a line ends with its layer; old ones stay. */
static bool wants_mark(const struct shape_marks *m, const struct stmt *stmt) {
  struct slice text = m->c->sources->all.at[m->c->source].text;
  uint32_t base = m->c->sources->all.at[m->c->source].base;
  if (stmt->ends->mark)
    return true;
  if (stmt->kind != STMT_APPLY || has_block(stmt))
    return false;
  size_t i = stmt->span.end - base;
  while (i < text.length && strchr(" \t;", text.at[i]))
    i++; /* the formatter drops a `;` at the end of a line */
  return i == text.length || strchr("\r\n#", text.at[i]);
}

static struct slice dims_of(const struct shape_marks *m,
                            const struct stmt *stmt) {
  const struct shape_record *record = &m->records[stmt->index];
  struct text text = text_new(m->c->arena);
  if (!record->seen || record->differs)
    return (struct slice){0};
  for (int i = 0; i < record->shape.rank; i++) {
    if (i)
      text_putc(&text, 'x');
    if (record->shape.dim[i] == SIZE_ANY)
      text_putc(&text, '_');
    else
      text_int(&text, record->shape.dim[i]);
  }
  return text_slice(&text);
}

static void collect(struct shape_marks *m, const struct block *block) {
  for (const struct stmt *s = block->first; s; s = s->next) {
    for (const struct arg *arg = s->args; arg; arg = arg->next)
      if (arg->form == ARG_BLOCK)
        collect(m, arg->block);
    if (s->more->block)
      collect(m, s->more->block);
    if (s->more->otherwise)
      collect(m, s->more->otherwise);
    bool gives =
        s->kind == STMT_APPLY || s->kind == STMT_GROUP || s->kind == STMT_AGAIN;
    if (!gives || !wants_mark(m, s))
      continue;
    struct format_mark *mark = VEC_PUSH(m->c->arena, &m->all);
    mark->stmt = s->span;
    mark->dims = dims_of(m, s);
    if (s->ends->mark)
      mark->old = s->ends->mark_span;
  }
}

void emit_fmt_shapes(const struct compiled *c, struct text *out) {
  struct expansion trial = *c->expansion;
  struct settings settings = *c->settings;
  struct diags quiet;
  struct model model = {0};
  diags_open(&quiet, c->arena, c->sources);
  quiet.quiet = true;
  trial.diags = &quiet;
  trial.settings = &settings;
  trial.ignore_marks = true;
  trial.record_count = (size_t)c->statements;
  trial.records =
      arena_alloc(c->arena, trial.record_count + 1, sizeof *trial.records);
  expand_program(&trial, c->program, &model);
  struct shape_marks marks = {.c = c, .records = trial.records};
  collect(&marks, c->program);
  format_source(c->arena, c->sources, c->source, marks.all.at, marks.all.count,
                out);
}
