/* Statements of an import: their size, and when two are alike. */
#include "import/statement.h"

#include <limits.h>
#include <string.h>

bool part_is_shown(const struct part_text *text) {
  return !text->usual || strcmp(text->usual, text->value) != 0;
}

bool part_is_one(const struct part_text *text) {
  return text->part == PART_KERNEL && strspn(text->value, "1x") > 0 &&
         !text->value[strspn(text->value, "1x")] && !strstr(text->value, "11");
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + UINT64_C(0x9E3779B97F4A7C15) + (hash << 6) + (hash >> 2);
  return hash * UINT64_C(0xBF58476D1CE4E5B9);
}

static uint64_t mix_text(uint64_t hash, const char *text) {
  for (; text && *text; text++)
    hash = mix(hash, (unsigned char)*text);
  return mix(hash, 256);
}

/* True for a number or sizes, which a fold may replace with a parameter. */
static bool is_free(const struct part_text *text) {
  return text->part != PART_NONE && !strchr(text->value, ':');
}

static void mix_part(struct statement *s, const struct part_text *text) {
  s->exact = mix_text(mix_text(s->exact, text->before), text->value);
  s->exact = mix_text(s->exact, text->after);
  s->form = mix_text(mix(s->form, text->part), text->before);
  s->form = mix_text(s->form, text->after);
  if (!is_free(text))
    s->form = mix_text(s->form, text->value);
}

struct source_piece *statement_put(const struct source_plan *plan,
                                   struct statement *s, enum piece_kind kind) {
  VEC_RESERVE(plan->graph->arena, &s->pieces, 2); /* there may be a million */
  struct source_piece *piece = VEC_PUSH(plan->graph->arena, &s->pieces);
  piece->kind = kind;
  piece->node = -1;
  return piece;
}

void statement_put_text(const struct source_plan *plan, struct statement *s,
                        enum graph_part part, const char *text) {
  statement_put(plan, s, PIECE_TEXT)->text =
      (struct part_text){.part = part, .before = "", .value = text};
}

static const char *statement_word(const struct statement *s) {
  return s->pieces.at[0].kind == PIECE_TEXT ? s->pieces.at[0].text.value : "";
}

bool statement_is(const struct statement *s, const char *word) {
  return strcmp(statement_word(s), word) == 0;
}

bool statement_names_layer(const struct statement *s) {
  return statement_is(s, "again") || statement_is(s, "unpool");
}

bool source_has_word(const struct source_plan *plan, const char *name) {
  for (size_t i = 0; i < plan->graph->nodes.count; i++)
    if (strcmp(word_name(plan->graph->nodes.at[i]->word), name) == 0)
      return true;
  for (size_t i = 0; i < plan->defs.all.count; i++)
    if (strcmp(plan->defs.all.at[i].pieces.at[1].text.value, name) == 0)
      return true;
  return false;
}

int block_width(const struct source_block *block) {
  size_t width = 2;
  if (block->all.count > 3)
    return WIDE;
  for (size_t i = 0; i < block->all.count && width < WIDE; i++)
    width += (size_t)block->all.at[i].width + 2;
  return width < WIDE ? (int)width : WIDE;
}

static int later(int a, int b) {
  return a > b ? a : b;
}

static void add_block(const struct source_plan *plan, struct statement *s,
                      const struct source_block *block) {
  int width = block_width(block);
  s->width = width < WIDE && s->width < WIDE ? s->width + width + 1 : WIDE;
  s->exact = mix(s->exact, block->all.count);
  s->form = mix(s->form, block->all.count);
  for (size_t i = 0; i < block->all.count; i++) {
    const struct statement *inner = &block->all.at[i];
    s->exact = mix(s->exact, inner->exact + inner->labelled);
    s->form = mix(s->form, inner->form + inner->labelled);
    s->reads = inner->reads < s->reads ? inner->reads : s->reads;
    s->read_until = later(s->read_until, inner->read_until);
    if (inner->labelled)
      s->read_until = later(s->read_until, plan->read_until[inner->node]);
    s->lines += inner->lines;
  }
  s->lines += block->all.count > 0;
}

void statement_measure(const struct source_plan *plan, struct statement *s) {
  s->labelled = s->node >= 0 && plan->labelled[s->node];
  s->exact = s->form = 1;
  s->reads = INT_MAX;
  s->read_until = -1;
  s->lines = 1;
  s->width = s->labelled ? 8 : -1;
  for (size_t i = 0; i < s->pieces.count; i++) {
    const struct source_piece *piece = &s->pieces.at[i];
    s->exact = mix(s->exact, piece->kind);
    s->form = mix(s->form, piece->kind);
    if (piece->kind == PIECE_BLOCK) {
      add_block(plan, s, piece->block);
    } else if (piece->kind == PIECE_TEXT) {
      mix_part(s, &piece->text);
      if (part_is_shown(&piece->text))
        s->width +=
            (int)(strlen(piece->text.before) + strlen(piece->text.value)) +
            (piece->text.after ? 3 : 1);
    } else if (piece->kind == PIECE_LABEL) {
      int ordinal = plan->ordinal[piece->node];
      s->exact = mix_text(s->exact, piece->text.before);
      s->form = mix_text(s->form, piece->text.before);
      s->reads = ordinal < s->reads ? ordinal : s->reads;
      s->width += (int)strlen(piece->text.before) + 9;
    } else {
      s->width = WIDE;
      s->lines += (int)(piece->values.count / piece->columns) + 1;
      for (size_t k = 0; k < piece->values.count; k++)
        mix_part(s, &piece->values.at[k]);
    }
  }
  if (s->width <= LINE - 8)
    s->lines = 1;
  if (s->series_until > 0) {
    s->reads = s->series_from < s->reads ? s->series_from : s->reads;
    s->read_until = later(s->read_until, s->series_until);
  }
}

void block_measure(struct source_plan *plan, struct source_block *block) {
  for (size_t i = 0; i < block->all.count; i++) {
    struct statement *s = &block->all.at[i];
    for (size_t k = 0; k < s->pieces.count; k++)
      if (s->pieces.at[k].kind == PIECE_BLOCK)
        block_measure(plan, s->pieces.at[k].block);
    statement_measure(plan, s);
  }
}

static bool same_text(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_part(const struct part_text *a, const struct part_text *b,
                      bool form) {
  if (strcmp(a->before, b->before) != 0 || !same_text(a->after, b->after) ||
      a->part != b->part || !a->usual != !b->usual)
    return false;
  return (form && is_free(a) && is_free(b)) || strcmp(a->value, b->value) == 0;
}

static bool same_label(const struct likeness *how, const struct statement *in_a,
                       const struct source_piece *a,
                       const struct statement *in_b,
                       const struct source_piece *b) {
  int at_a = how->plan->ordinal[a->node], at_b = how->plan->ordinal[b->node];
  bool outside = at_a < how->first_a && at_b < how->first_b;
  return strcmp(a->text.before, b->text.before) == 0 &&
         same_text(a->index, b->index) &&
         (outside || a->node == b->node ||
          in_a->first - at_a == in_b->first - at_b);
}

static bool same_piece(const struct likeness *how, const struct statement *in_a,
                       const struct source_piece *a,
                       const struct statement *in_b,
                       const struct source_piece *b) {
  if (a->kind != b->kind)
    return false;
  switch (a->kind) {
  case PIECE_TEXT: return same_part(&a->text, &b->text, how->form);
  case PIECE_LABEL: return same_label(how, in_a, a, in_b, b);
  case PIECE_BLOCK:
    if (a->block->all.count != b->block->all.count)
      return false;
    for (size_t i = 0; i < a->block->all.count; i++)
      if (a->block->all.at[i].labelled != b->block->all.at[i].labelled ||
          !statement_same(how, &a->block->all.at[i], &b->block->all.at[i]))
        return false;
    return true;
  case PIECE_ROWS: break;
  }
  if (a->columns != b->columns || a->values.count != b->values.count)
    return false;
  for (size_t i = 0; i < a->values.count; i++)
    if (!same_part(&a->values.at[i], &b->values.at[i], how->form))
      return false;
  return true;
}

bool statement_same(const struct likeness *how, const struct statement *a,
                    const struct statement *b) {
  if ((how->form ? a->form != b->form : a->exact != b->exact) ||
      a->pieces.count != b->pieces.count || !same_text(a->index, b->index))
    return false;
  for (size_t i = 0; i < a->pieces.count; i++)
    if (!same_piece(how, a, &a->pieces.at[i], b, &b->pieces.at[i]))
      return false;
  return true;
}
