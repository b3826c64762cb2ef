/*
 * Repairs: inserts text that may be missing into a source with syntax errors,
 * only for the layers of a partial model. Insertions are minimal: a bracket, a
 * sign, a keyword of a statement, or an unknown name. Messages are for the
 * original text, and places are mapped back to it.
 */
#include "library/repair.h"

#include "parser/parse.h"

enum {
  ROUNDS = 3,           /* insertions */
  TRIAL_BYTES = 1 << 21 /* bytes to parse in all trials */
};

/* A name without a definition. */
#define SOMETHING "unknown__ "

/* A source during its repair. */
struct repairer {
  struct load *load;
  struct slice text;
  size_t at, start; /* place of the error, start of its statement */
  VEC(uint32_t)
  right;          /* before it: starts of statements outside of braces */
  size_t bytes;   /* parsed so far */
  int64_t errors; /* syntax errors */
  struct insertion best;
  int64_t best_errors;
};

static struct slice put_insertion(struct arena *arena, struct slice text,
                                  const struct insertion *insertion) {
  uint32_t at = (uint32_t)insertion->at;
  struct offer offer = {.span = {at, at}, .text = insertion->text};
  return mend_put(arena, text, 0, &offer, 1);
}

/* A source that is parsed by itself. */
struct alone {
  struct sources sources;
  struct diags diags;
  int source, statements;
};

static void open_alone(struct repairer *r, struct arena *arena,
                       struct slice text, struct alone *alone) {
  *alone = (struct alone){.sources = {.arena = arena}};
  alone->source = sources_add(&alone->sources, slice_of(""), text);
  diags_open(&alone->diags, arena, &alone->sources);
  r->bytes += text.length;
}

/* True if only a label precedes `begin` on its line. */
static bool begins_line(struct slice text, size_t line, size_t begin) {
  for (size_t i = line; i < begin; i++)
    if (!is_word_byte(text.at[i]) && !strchr(" \t:[]", text.at[i]))
      return false;
  return true;
}

/*
 * Counts the syntax errors and finds the first one. Also finds the starts of
 * statements outside of braces before it: parsing may begin there as at the
 * start of a text.
 */
static void find_errors(struct repairer *r, struct arena *arena) {
  struct alone *alone = ARENA_NEW(arena, struct alone);
  struct slice text = r->text;
  open_alone(r, arena, text, alone);
  const struct block *program =
      parse(arena, &alone->diags, alone->source, &alone->statements);
  r->at = text.length;
  r->errors = alone->diags.errors;
  for (size_t i = 0; i < alone->diags.all.count; i++) {
    const struct diagnostic *d = alone->diags.all.at[i];
    if (d->severity == SEVERITY_ERROR && d->span.begin < r->at)
      r->at = d->span.begin;
  }
  r->right.count = 0;
  for (const struct stmt *s = program->first; s; s = s->next) {
    size_t line = slice_line_begin(text, s->span.begin);
    if (s->kind == STMT_HOLE || s->span.begin >= r->at)
      break;
    if (begins_line(text, line, s->span.begin))
      *VEC_PUSH(&r->load->arena, &r->right) = (uint32_t)line;
  }
}

/* Start for parsing a text with an insertion at `at`: a line before the
 * statement there, or the beginning. */
static size_t read_from(const struct repairer *r, size_t at) {
  size_t from = 0;
  for (size_t i = 1; i < r->right.count && r->right.at[i] < at; i++)
    from = r->right.at[i - 1];
  return from;
}

/* Number of errors of a text, at most `most`. */
static int64_t count_errors(struct repairer *r, struct arena *arena,
                            struct slice text, int64_t most) {
  struct alone *alone = ARENA_NEW(arena, struct alone);
  open_alone(r, arena, text, alone);
  alone->diags.limit = most;
  parse_errors(arena, &alone->diags, alone->source, &alone->statements);
  return alone->diags.errors;
}

/* Tries an insertion and keeps it if it is the best. True if none is left to
 * try. */
static bool try(struct repairer *r, size_t at, const char *text) {
  struct arena arena;
  struct insertion insertion = {at, slice_of(text)};
  size_t from = read_from(r, at);
  if (r->best_errors == 0 || r->bytes > TRIAL_BYTES)
    return true;
  arena_open_in(&arena, &r->load->arena);
  struct slice with = put_insertion(&arena, r->text, &insertion);
  with = slice_from(with, from);
  int64_t errors = count_errors(r, &arena, with, r->best_errors);
  arena_close(&arena);
  if (errors < r->best_errors) {
    r->best_errors = errors;
    r->best = insertion;
  }
  return r->best_errors == 0;
}

/* Braces, by indentation */

struct line {
  size_t begin, code, end; /* `code`: first byte after the blanks */
};

static struct line line_at(struct slice text, size_t begin) {
  struct line line = {begin, begin, slice_line_end(text, begin)};
  while (line.code < line.end && scan_is_blank(text.at[line.code]))
    line.code++;
  return line;
}

/* End of the line without comment and trailing blanks. */
static size_t code_end(struct slice text, const struct line *line) {
  size_t end = line->code;
  bool quoted = false;
  while (end < line->end && (quoted || text.at[end] != '#'))
    quoted ^= text.at[end++] == '"';
  while (end > line->code && scan_is_blank(text.at[end - 1]))
    end--;
  return end;
}

/*
 * Finds the place for a missing closing brace: before a line that is not
 * indented more than the line with the opening brace, or that closes an earlier
 * one.
 */
static bool find_open(struct slice text, size_t *at) {
  size_t indents[LIMIT_DEPTH];
  int depth = 0;
  for (size_t begin = 0; begin < text.length;) {
    struct line line = line_at(text, begin);
    size_t end = code_end(text, &line), indent = line.code - line.begin;
    bool closes = line.code < end && text.at[line.code] == '}';
    bool quoted = false;
    if (line.code < end && depth &&
        (closes ? indent < indents[depth - 1] : indent <= indents[depth - 1])) {
      *at = line.code;
      return true;
    }
    for (size_t i = line.code; i < end; i++) {
      char c = text.at[i];
      quoted ^= c == '"';
      if (!quoted && c == '{' && depth < LIMIT_DEPTH)
        indents[depth++] = indent;
      else if (!quoted && c == '}' && depth)
        depth--;
    }
    begin = line.end + 1;
  }
  *at = text.length;
  return depth;
}

static void try_closing(struct repairer *r) {
  size_t at;
  if (!find_open(r->text, &at))
    return;
  char next = at < r->text.length ? r->text.at[at] : '\n';
  if (next != '{' && next != '}')
    try(r, at, "}; ");
  try(r, at, "} ");
  try(r, at, "\n}\n");
}

/* Other missing text */

static bool has_word(struct slice text, const char *word) {
  size_t length = strlen(word);
  for (size_t i = 0; i + length <= text.length; i++)
    if (memcmp(text.at + i, word, length) == 0 &&
        (i == 0 || !is_word_byte(text.at[i - 1])) &&
        (i + length == text.length || !is_word_byte(text.at[i + length])))
      return true;
  return false;
}

static void try_statement(struct repairer *r) {
  struct line line = line_at(r->text, r->start);
  struct slice rest = {r->text.at + r->start, line.end - r->start};
  bool compares =
      has_word(rest, "and") || has_word(rest, "or") || has_word(rest, "not");
  for (size_t i = 0; i < rest.length; i++)
    compares = compares || strchr("<>!", rest.at[i]) ||
               (i && rest.at[i] == '=' && rest.at[i - 1] == '=');
  if (!has_word(r->text, "input"))
    try(r, r->start, "input ");
  try(r, r->start, "let ");
  try(r, r->start, "for ");
  try(r, r->start, "param ");
  try(r, r->start, "def ");
  try(r, r->start, compares ? "if " : "repeat ");
  try(r, r->start, compares ? "repeat " : "if ");
  try(r, r->start, SOMETHING);
  try(r, r->start, "fork ");
}

/* The end of the code before the error, on an earlier line. */
static size_t end_before(const struct repairer *r) {
  size_t begin = slice_line_begin(r->text, r->at);
  while (begin > 0) {
    begin = slice_line_begin(r->text, begin - 1);
    struct line line = line_at(r->text, begin);
    if (code_end(r->text, &line) > line.code)
      return code_end(r->text, &line);
  }
  return 0;
}

static void try_sign(struct repairer *r) {
  static const char *const signs[] = {")",
                                      "]",
                                      "=",
                                      ",",
                                      "{",
                                      ":",
                                      " in ",
                                      "..",
                                      " " SOMETHING,
                                      "[",
                                      "(",
                                      ".",
                                      " * " SOMETHING "* ",
                                      " == "};
  size_t before = r->at;
  while (before > 0 && scan_is_blank(r->text.at[before - 1]))
    before--;
  if (r->text.at[r->at < r->text.length ? r->at : 0] == 'x')
    try(r, r->at + 1, " " SOMETHING); /* a size after x */
  if (r->at == r->start) {            /* brackets span lines */
    try(r, end_before(r), ")");
    try(r, end_before(r), "]");
  }
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    try(r, r->at, signs[i]);
  while (before > 0 && is_word_byte(r->text.at[before - 1]))
    before--;
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    try(r, before, signs[i]);
}

/* Tries `{` after a line that opens nothing, but is followed by deeper ones. */
static void try_opening(struct repairer *r) {
  struct slice text = r->text;
  struct line line = line_at(text, 0);
  while (line.end < text.length) {
    struct line next = line_at(text, line.end + 1);
    size_t end = code_end(text, &line);
    if (next.code == next.end && next.end < text.length) {
      line.end = next.end; /* skips empty lines */
      continue;
    }
    if (next.code - next.begin > line.code - line.begin && end > line.code &&
        !strchr("{[(\\", text.at[end - 1]))
      try(r, end, " {");
    line = next;
  }
}

static bool repair_once(struct repairer *r, struct insertion *insertion) {
  struct arena arena;
  arena_open_in(&arena, &r->load->arena);
  find_errors(r, &arena);
  arena_close(&arena);
  r->best_errors = r->errors;
  if (r->errors == 0)
    return false;
  if (r->at < r->text.length && r->text.at[r->at] == '\n') {
    struct line line = line_at(r->text, slice_line_begin(r->text, r->at));
    r->at = code_end(r->text, &line);
  }
  r->start = scan_statement_begin(r->text, r->at);
  try_closing(r);
  try_opening(r);
  bool defines = r->at < r->text.length && r->text.at[r->at] == '=';
  if (r->at == r->start || defines)
    try_statement(r);
  try_sign(r);
  if (r->at != r->start && !defines)
    try_statement(r);
  *insertion = r->best;
  return r->best_errors < r->errors;
}

const struct block *repair(struct load *load) {
  const struct unit *unit = &load->units.at[0];
  struct repairer r = {.load = load};
  r.text = load->sources.all.at[unit->source].text;
  for (int i = 0; i < ROUNDS; i++) {
    struct insertion insertion;
    if (!repair_once(&r, &insertion))
      break;
    r.text = put_insertion(&load->arena, r.text, &insertion);
    *VEC_PUSH(&load->arena, &load->repairs) = insertion;
  }
  if (load->repairs.count == 0)
    return NULL;
  load->repaired = sources_add(&load->sources, unit->path, r.text);
  if (load->repaired < 0)
    return NULL;
  struct diags quiet;
  diags_open(&quiet, &load->arena, &load->sources);
  return parse(&load->arena, &quiet, load->repaired, &load->statements);
}

struct span repair_written(const struct load *load, struct span span) {
  const struct sources *sources = &load->sources;
  if (!load->repairs.count || load->repaired < 0)
    return span;
  const struct source *repaired = &sources->all.at[load->repaired];
  uint32_t base = sources->all.at[load->units.at[0].source].base;
  uint32_t *ends[] = {&span.begin, &span.end};
  if (span.begin < repaired->base)
    return span;
  for (int end = 0; end < 2; end++) {
    size_t at = *ends[end] - repaired->base;
    for (size_t i = load->repairs.count; i-- > 0;) {
      const struct insertion *insertion = &load->repairs.at[i];
      if (at >= insertion->at + insertion->text.length)
        at -= insertion->text.length;
      else if (at > insertion->at)
        at = insertion->at;
    }
    *ends[end] = base + (uint32_t)at;
  }
  return span;
}
