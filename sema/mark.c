/* Marks, `-> DIMS` after a layer: compared with the shape, or recorded. */
#include "sema/statements.h"

static bool mark_agrees(const struct value *mark, const struct shape *shape) {
  int rank = mark->kind == VALUE_SIZES ? mark->count : 1;
  if (rank != shape->rank)
    return false;
  for (int i = 0; i < rank; i++) {
    int64_t size = mark->kind == VALUE_SIZES ? mark->at[i]
                   : mark->kind == VALUE_INT ? mark->integer
                                             : SIZE_ANY;
    if (size != SIZE_ANY && size != shape->dim[i])
      return false;
  }
  return true;
}

void mark_check(struct expander *e, const struct stmt *stmt) {
  if (e->lost || e->current == NO_NODE || e->in->ignore_marks)
    return;
  struct value mark = eval(e, stmt->ends->mark);
  const struct shape *shape = e->model->nodes.at[e->current].out;
  if (mark.kind == VALUE_POISON)
    return;
  if (mark.kind != VALUE_INT && mark.kind != VALUE_ANY &&
      (mark.kind != VALUE_SIZES || mark.paired)) {
    report(e, WRONG_TYPE, stmt->ends->mark->span, "this needs sizes, not %s",
           value_words(mark.kind));
    return;
  }
  if (e->model->nodes.at[e->current].unsure) {
    partial_mark(e, &mark);
    return;
  }
  if (mark_agrees(&mark, shape))
    return;
  struct text text = text_new(e->arena);
  value_put(&text, &mark);
  struct diagnostic *d = report(e, SHAPE_MARK, stmt->ends->mark->span,
                                "the shape here is %s, not %.*s",
                                shape_text(shape).text, SLICE_ARG(text));
  diag_label(d, stmt->span, "gives %s", shape_text(shape).text);
  diag_help(d, "`netc fmt --shapes` updates the marks");
  diag_offer(d, stmt->ends->mark->span, slice_of(shape_text(shape).text),
             "write `-> %s`", shape_text(shape).text);
}

void mark_record(struct expander *e, const struct stmt *stmt) {
  size_t index = (size_t)stmt->index;
  if (!e->in->records || stmt->index < 0 || index >= e->in->record_count ||
      e->lost || e->current == NO_NODE)
    return;
  struct shape_record *record = &e->in->records[index];
  const struct shape *shape = e->model->nodes.at[e->current].out;
  if (!record->seen)
    record->shape = *shape;
  record->seen = true;
  record->differs = record->differs || record->shape.rank != shape->rank;
  for (int i = 0; i < shape->rank && !record->differs; i++)
    if (record->shape.dim[i] != shape->dim[i])
      record->shape.dim[i] = SIZE_ANY;
}
