/* Replaces the only call of a def by the def's body. */
#include <ctype.h>
#include <string.h>

#include "import/parameter.h"

struct calls {
  struct source_block *block;
  size_t at, count;
};

static void count_calls(struct source_block *block, const char *name,
                        struct calls *calls) {
  for (size_t i = 0; i < block->all.count; i++) {
    const struct statement *s = &block->all.at[i];
    if (statement_is(s, name)) {
      calls->block = block;
      calls->at = i;
      calls->count++;
    }
    for (size_t k = 0; k < s->pieces.count; k++)
      if (s->pieces.at[k].kind == PIECE_BLOCK)
        count_calls(s->pieces.at[k].block, name, calls);
  }
}

static struct source_block *body_of(const struct statement *def) {
  return def->pieces.at[def->pieces.count - 1].block;
}

/* The argument for the parameter with which `value` begins, or NULL. */
static const struct source_piece *given(const struct statement *def,
                                        const struct statement *call,
                                        const char *value, size_t *length) {
  *length = strcspn(value, "*/");
  for (size_t i = 2; i + 1 < def->pieces.count; i++) {
    const char *name = def->pieces.at[i].text.value;
    if (strlen(name) == *length && strncmp(name, value, *length) == 0)
      return &call->pieces.at[i - 1];
  }
  return NULL;
}

/* True if `by` can stand before `rest`. Only a name can be part of an
 * expression: 64*4 and c*2*4 are hard to read. */
static bool may_stand(const struct source_piece *by, const char *rest) {
  return !*rest || (by->kind == PIECE_TEXT &&
                    strspn(by->text.value, "*/0123456789") == 0 &&
                    !strpbrk(by->text.value, "*/"));
}

static bool put_given(struct source_plan *plan, const struct statement *def,
                      const struct statement *call, struct source_piece *piece,
                      struct part_text *text, bool try) {
  size_t length;
  const struct source_piece *by = given(def, call, text->value, &length);
  if (text->part == PART_NONE || !by)
    return true;
  const char *rest = text->value + length;
  if (try)
    return may_stand(by, rest);
  if (by->kind == PIECE_LABEL) {
    piece->kind = PIECE_LABEL;
    piece->node = by->node;
    piece->index = by->index;
    text->value = by->text.value;
  } else {
    text->value = graph_text(plan->graph, "%s%s", by->text.value, rest);
  }
  return true;
}

/* Puts the call's arguments into a body; `try` only checks if that works. */
static bool fill(struct source_plan *plan, const struct statement *def,
                 const struct statement *call, struct source_block *block,
                 bool try) {
  for (size_t i = 0; i < block->all.count; i++)
    for (size_t k = 0; k < block->all.at[i].pieces.count; k++) {
      struct source_piece *piece = &block->all.at[i].pieces.at[k];
      bool can = true;
      if (piece->kind == PIECE_BLOCK)
        can = fill(plan, def, call, piece->block, try);
      else if (piece->kind == PIECE_TEXT)
        can = put_given(plan, def, call, piece, &piece->text, try);
      for (size_t v = 0; v < piece->values.count; v++)
        can =
            can && put_given(plan, def, call, piece, &piece->values.at[v], try);
      if (!can)
        return false;
    }
  return true;
}

/* Replaces a call by the body. */
static void replace(struct source_plan *plan, const struct calls *calls,
                    struct source_block *body) {
  struct source_block next = {0};
  struct statement *old = calls->block->all.at;
  struct statement *last = &body->all.at[body->all.count - 1];
  last->node = old[calls->at].node;
  last->index = old[calls->at].index; /* set in a loop with a series */
  for (size_t i = 0; i < calls->block->all.count; i++) {
    if (i != calls->at) {
      *VEC_PUSH(plan->graph->arena, &next.all) = old[i];
      continue;
    }
    for (size_t k = 0; k < body->all.count; k++)
      *VEC_PUSH(plan->graph->arena, &next.all) = body->all.at[k];
  }
  *calls->block = next;
}

/* True if a block has a loop with series. A label in a def's body would become
 * one label in each iteration. */
static bool has_index(const struct source_block *block) {
  for (size_t i = 0; i < block->all.count; i++)
    if (block->all.at[i].series_until > 0)
      return true;
  return false;
}

static bool inline_def(struct source_plan *plan, size_t index) {
  struct statement *def = &plan->defs.all.at[index];
  struct calls calls = {0};
  const char *name = def->pieces.at[1].text.value;
  count_calls(&plan->top, name, &calls);
  for (size_t i = 0; i < plan->defs.all.count; i++)
    count_calls(body_of(&plan->defs.all.at[i]), name, &calls);
  if (calls.count != 1 || has_index(body_of(def)))
    return false;
  const struct statement *call = &calls.block->all.at[calls.at];
  struct source_block *body = body_of(def);
  if (!fill(plan, def, call, body, true))
    return false;
  fill(plan, def, call, body, false);
  replace(plan, &calls, body);
  for (size_t i = index + 1; i < plan->defs.all.count; i++)
    plan->defs.all.at[i - 1] = plan->defs.all.at[i];
  plan->defs.all.count--;
  return true;
}

static void rename_calls(struct source_block *block, const char *from,
                         const char *to) {
  for (size_t i = 0; i < block->all.count; i++) {
    struct statement *s = &block->all.at[i];
    if (statement_is(s, from))
      s->pieces.at[0].text.value = to;
    for (size_t k = 0; k < s->pieces.count; k++)
      if (s->pieces.at[k].kind == PIECE_BLOCK)
        rename_calls(s->pieces.at[k].block, from, to);
  }
}

/* Renames `block3` to `block2` if that name is free again. */
static void renumber(struct source_plan *plan, struct statement *def) {
  const char *old = def->pieces.at[1].text.value;
  size_t length = strlen(old);
  while (length > 1 && isdigit((unsigned char)old[length - 1]))
    length--;
  const char *base = graph_text(plan->graph, "%.*s", (int)length, old);
  const char *name = base;
  for (int i = 2; strcmp(name, old) != 0 && source_has_word(plan, name); i++)
    name = graph_text(plan->graph, "%s%d", base, i);
  def->pieces.at[1].text.value = name;
  rename_calls(&plan->top, old, name);
  for (size_t i = 0; i < plan->defs.all.count; i++)
    rename_calls(body_of(&plan->defs.all.at[i]), old, name);
}

void source_inline_defs(struct source_plan *plan) {
  for (size_t i = plan->defs.all.count; i-- > 0;)
    inline_def(plan, i);
  for (size_t i = 0; i < plan->defs.all.count; i++)
    renumber(plan, &plan->defs.all.at[i]);
  block_measure(plan, &plan->top);
  block_measure(plan, &plan->defs);
}
