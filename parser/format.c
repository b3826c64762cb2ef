/*
 * Formatter: works on tokens and the text between them, so that it cannot lose
 * a comment. The text becomes lines with their indentation, cells, mark and
 * comment; then neighbouring lines are aligned.
 */
#include "parser/format.h"

enum { INDENT = 2, CONTINUED = 4 };

struct format_line {
  struct slice text;    /* the tokens with canonical blanks */
  struct slice mark;    /* `-> DIMS`, if it ends the line */
  struct slice comment; /* including its # */
  size_t indent;
  bool blank_before;
  bool in_table;           /* a row of a table on a line of its own */
  bool continued;          /* the line ends with a backslash */
  VEC(struct slice) cells; /* of a table row */
};

struct token_seen {
  enum token token;
  struct slice text;
  struct span span;
};

struct formatter {
  struct arena *arena;
  const struct source *source;
  struct scan scan;
  VEC(struct format_line) lines;
  /* The current line. */
  struct format_line *line;
  struct text text;
  size_t cell_start;
  bool any_token;     /* on this line */
  size_t newlines;    /* since the last line with content */
  bool was_continued; /* the line before ends with a backslash */
  size_t mark_start;  /* offset of the line's last mark; 0: none */
  /* Context. */
  struct token_seen last;
  bool last_blank;  /* a blank came after the last token */
  bool at_start;    /* the next token starts a statement */
  bool nothing_yet; /* no token since the last line end, `;`, `{` or `[` */
  enum token first; /* the first token of the statement */
  size_t line_number;
  VEC(struct {
    char bracket;
    size_t line;
  })
  open;
  const struct format_mark *marks;
  size_t mark_count, next_mark, next_old;
};

/* Blanks between two tokens */

static bool is_arithmetic(enum token t) {
  return t == TOKEN_PLUS || t == TOKEN_MINUS || t == TOKEN_STAR ||
         t == TOKEN_SLASH || t == TOKEN_FLOOR || t == TOKEN_PERCENT ||
         t == TOKEN_POWER;
}

static char innermost(const struct formatter *f) {
  return f->open.count ? f->open.at[f->open.count - 1].bracket : '{';
}

static bool spaced_assign(const struct formatter *f) {
  return (f->first == TOKEN_KW_LET || f->first == TOKEN_KW_PARAM) &&
         innermost(f) != '(';
}

/* `L: layer`, `input 8 : i32`, `a:b`. */
enum colon { COLON_LABEL, COLON_TYPE, COLON_PAIR };

static enum colon colon_kind(const struct formatter *f) {
  if (f->first == TOKEN_KW_INPUT && innermost(f) != '(')
    return COLON_TYPE;
  return f->first == TOKEN_COLON ? COLON_LABEL : COLON_PAIR;
}

static bool is_literal_size(enum token t) {
  return t == TOKEN_INT || t == TOKEN_ANY;
}

static bool is_blank(char c) {
  return scan_is_blank(c) || c == '\n' || c == '\\';
}

/* An operator keeps its blanks if the source has one on either side. */
static bool blank_in_source(const struct formatter *f, struct span span) {
  size_t begin = span.begin - f->source->base;
  size_t end = span.end - f->source->base;
  struct slice text = f->source->text;
  bool before = begin > 0 && is_blank(text.at[begin - 1]);
  bool after = end < text.length && is_blank(text.at[end]);
  return before || after;
}

/* `y[3..1 step -1]`: inside brackets, a sign is scanned like an operator. */
static bool signs_step(const struct formatter *f, struct token_seen seen) {
  struct slice before = f->source->text;
  size_t end = seen.span.end - f->source->base;
  bool blank = end == before.length || is_blank(before.at[end]);
  before.length = seen.span.begin - f->source->base;
  while (before.length && is_blank(before.at[before.length - 1]))
    before.length--;
  return seen.token == TOKEN_MINUS && !blank && slice_ends(before, " step");
}

/* A token and the one after it. */
struct token_pair {
  struct token_seen now;
  enum token next;
};

static bool wants_blank(const struct formatter *f, const struct token_pair *p) {
  enum token a = f->last.token, b = p->now.token;
  if (b == TOKEN_COMMA || b == TOKEN_SEMICOLON || b == TOKEN_PAREN_CLOSE ||
      b == TOKEN_BRACKET_CLOSE || a == TOKEN_PAREN || a == TOKEN_BRACKET ||
      a == TOKEN_STRIDE || a == TOKEN_NEGATE || a == TOKEN_DOT ||
      b == TOKEN_DOT || a == TOKEN_RANGE || b == TOKEN_RANGE ||
      a == TOKEN_FUNC || a == TOKEN_SUBSCRIPT || b == TOKEN_SUBSCRIPT)
    return false;
  if ((a == TOKEN_BRACE && b == TOKEN_BRACE_CLOSE) ||
      (f->first == TOKEN_KW_DEF && a == TOKEN_NAME && b == TOKEN_PAREN))
    return false;
  if (b == TOKEN_ASSIGN || a == TOKEN_ASSIGN)
    return spaced_assign(f);
  if (b == TOKEN_COLON)
    return colon_kind(f) == COLON_TYPE;
  if (a == TOKEN_COLON)
    return colon_kind(f) != COLON_PAIR;
  if (b == TOKEN_BY)
    return !(is_literal_size(a) && is_literal_size(p->next));
  if (a == TOKEN_BY)
    return f->last_blank;
  if (signs_step(f, f->last))
    return false;
  if (is_arithmetic(b))
    return blank_in_source(f, p->now.span);
  if (is_arithmetic(a))
    return blank_in_source(f, f->last.span);
  return true;
}

/* Lines */

static void begin_line(struct formatter *f) {
  f->line = VEC_PUSH(f->arena, &f->lines);
  f->line->blank_before = f->newlines > 1 && f->lines.count > 1;
  f->text = text_new(f->arena);
  f->cell_start = 0;
  f->mark_start = 0;
  f->any_token = false;
  f->newlines = 0;
}

static void need_line(struct formatter *f) {
  if (!f->line)
    begin_line(f);
}

static size_t open_lines(const struct formatter *f) {
  size_t levels = 0;
  for (size_t i = 0; i < f->open.count; i++)
    levels += i == 0 || f->open.at[i].line != f->open.at[i - 1].line;
  return levels;
}

static void end_cell(struct formatter *f) {
  struct slice cell = slice_from(text_slice(&f->text), f->cell_start);
  if (cell.length)
    *VEC_PUSH(f->arena, &f->line->cells) =
        (struct slice){arena_copy(f->arena, cell.at, cell.length), cell.length};
  f->cell_start = f->text.length + 1;
}

static void end_line(struct formatter *f) {
  if (!f->line)
    return;
  if (f->line->in_table)
    end_cell(f);
  struct slice all = text_slice(&f->text);
  if (f->mark_start) {
    f->line->mark = slice_from(all, f->mark_start + 1);
    all.length = f->mark_start;
  }
  f->line->text = all;
  f->was_continued = f->line->continued;
  f->line = NULL;
  f->line_number++;
}

static void put_comment(struct formatter *f, struct slice comment) {
  need_line(f);
  while (comment.length && strchr(" \t\r", comment.at[comment.length - 1]))
    comment.length--;
  if (!f->any_token)
    f->line->indent = INDENT * open_lines(f);
  f->line->comment = comment;
}

/* Brackets */

static char closer_of(enum token t) {
  return t == TOKEN_PAREN_CLOSE     ? '('
         : t == TOKEN_BRACKET_CLOSE ? '['
         : t == TOKEN_BRACE_CLOSE   ? '{'
                                    : '\0';
}

static void close_bracket(struct formatter *f) {
  if (f->open.count)
    f->open.count--;
}

static void open_bracket(struct formatter *f, enum token t) {
  char bracket = t == TOKEN_PAREN       ? '('
                 : t == TOKEN_SUBSCRIPT ? '('
                 : t == TOKEN_BRACKET   ? '['
                 : t == TOKEN_BRACE     ? '{'
                                        : '\0';
  if (!bracket)
    return;
  (void)VEC_PUSH(f->arena, &f->open);
  f->open.at[f->open.count - 1].bracket = bracket;
  f->open.at[f->open.count - 1].line = f->line_number;
}

/* Tokens */

static void start_statement(struct formatter *f, const struct token_pair *p) {
  if (!f->at_start)
    return;
  f->at_start = false;
  bool label = p->now.token == TOKEN_NAME &&
               (p->next == TOKEN_COLON || p->next == TOKEN_SUBSCRIPT);
  f->first = label ? TOKEN_COLON : p->now.token;
}

static void first_on_line(struct formatter *f, enum token t) {
  if (f->any_token)
    return;
  f->any_token = true;
  size_t levels = open_lines(f);
  f->line->indent = INDENT * levels;
  f->line->in_table = innermost(f) == '[' && t != TOKEN_BRACKET_CLOSE;
  if (f->was_continued && !closer_of(t))
    f->line->indent += CONTINUED;
}

static void put_token(struct formatter *f, const struct token_pair *p) {
  enum token t = p->now.token;
  need_line(f);
  bool blank = f->any_token && wants_blank(f, p);
  start_statement(f, p);
  if (closer_of(t) && !f->any_token)
    close_bracket(f); /* a closer at the start of a line: one level less */
  bool closed = closer_of(t) && !f->any_token;
  first_on_line(f, t);
  if (t == TOKEN_ARROW)
    f->mark_start = f->text.length;
  if (blank) {
    if (f->line->in_table && innermost(f) == '[' &&
        f->last.token != TOKEN_BRACE_CLOSE &&
        token_ends_operand(f->last.token) && t != TOKEN_BY &&
        !is_arithmetic(t) && f->last.token != TOKEN_BY)
      end_cell(f);
    text_putc(&f->text, ' ');
  }
  text_puts(&f->text, p->now.text);
  if (closer_of(t) && !closed)
    close_bracket(f);
  open_bracket(f, t);
  if (t == TOKEN_SEMICOLON || t == TOKEN_BRACE || t == TOKEN_BRACE_CLOSE ||
      t == TOKEN_KW_ELSE)
    f->at_start = innermost(f) == '{';
  if ((t == TOKEN_COLON && f->first == TOKEN_COLON) || t == TOKEN_KW_FORK ||
      (t == TOKEN_KW_TRAIN && f->last.token == TOKEN_KW_FORK))
    f->at_start = true; /* a statement follows the label or `fork` */
  if (t == TOKEN_SEMICOLON || t == TOKEN_BRACE || t == TOKEN_BRACE_CLOSE)
    f->mark_start = 0; /* only a mark at the end of a line is aligned */
  f->nothing_yet =
      t == TOKEN_SEMICOLON || t == TOKEN_BRACE || t == TOKEN_BRACKET;
  f->last = p->now;
  f->last_blank = blank;
}

/* Writes what is between two tokens: blanks, comments, line ends. */
static void put_gap(struct formatter *f, size_t begin, size_t end) {
  struct slice text = f->source->text;
  for (size_t i = begin; i < end; i++) {
    if (text.at[i] == '#') {
      size_t start = i;
      while (i < end && text.at[i] != '\n')
        i++;
      put_comment(f, (struct slice){text.at + start, i - start});
      i--;
    } else if (text.at[i] == '\\') {
      need_line(f);
      f->line->continued = true;
    } else if (text.at[i] == '\n') {
      end_line(f);
      f->newlines++;
    }
  }
}

/* True for a `;` with a statement or row on both sides in its line. */
static bool separates(const struct formatter *f, enum token next) {
  bool before = !f->nothing_yet;
  bool behind = next != TOKEN_SEMICOLON && next != TOKEN_NEWLINE &&
                next != TOKEN_END && next != TOKEN_BRACE_CLOSE &&
                next != TOKEN_BRACKET_CLOSE;
  return before && behind;
}

static struct token_seen next_token(struct formatter *f) {
  struct token_seen seen;
  union scan_value value;
  seen.token = scan_next(&f->scan, &value, &seen.span);
  seen.text =
      (struct slice){f->source->text.at + (seen.span.begin - f->source->base),
                     seen.span.end - seen.span.begin};
  return seen;
}

/* Marks that are replaced */

static bool inside(struct span inner, struct span outer) {
  return outer.end > outer.begin && inner.begin >= outer.begin &&
         inner.end <= outer.end;
}

/* True if a new mark replaces the token. */
static bool is_replaced(struct formatter *f, struct span span) {
  while (f->next_old < f->mark_count &&
         f->marks[f->next_old].old.end <= span.begin)
    f->next_old++; /* an empty `old` is passed at once */
  return f->next_old < f->mark_count && inside(span, f->marks[f->next_old].old);
}

static void put_new_mark(struct formatter *f, struct span span) {
  while (f->next_mark < f->mark_count &&
         f->marks[f->next_mark].stmt.end < span.end)
    f->next_mark++;
  if (f->next_mark == f->mark_count ||
      f->marks[f->next_mark].stmt.end != span.end ||
      !f->marks[f->next_mark].dims.length)
    return;
  f->mark_start = f->text.length;
  text_put(&f->text, " -> ");
  text_puts(&f->text, f->marks[f->next_mark].dims);
  f->last.token = TOKEN_INT;
}

static void read_lines(struct formatter *f) {
  size_t end = 0;
  struct token_seen now = next_token(f), next;
  f->at_start = f->nothing_yet = true;
  for (; now.token != TOKEN_END; now = next) {
    size_t begin = now.span.begin - f->source->base;
    next = next_token(f);
    put_gap(f, end, begin);
    end = now.span.end - f->source->base;
    if (now.token == TOKEN_NEWLINE) {
      end_line(f);
      f->newlines++;
      f->nothing_yet = true;
      if (innermost(f) == '{')
        f->at_start = true;
      continue;
    }
    if (is_replaced(f, now.span))
      continue;
    if (now.token == TOKEN_SEMICOLON && !separates(f, next.token)) {
      f->at_start = true;
      continue;
    }
    struct token_pair pair = {now, next.token};
    put_token(f, &pair);
    put_new_mark(f, now.span);
  }
  put_gap(f, end, f->source->text.length);
  end_line(f);
}

/* Alignment of neighbouring lines */

static size_t width_of(const struct format_line *line) {
  return line->indent + text_width(line->text);
}

static bool is_number(struct slice cell) {
  return cell.length &&
         ((cell.at[0] >= '0' && cell.at[0] <= '9') || cell.at[0] == '-');
}

/* The end of a run of rows in one table with equally many cells. */
static size_t table_run(const struct formatter *f, size_t first) {
  size_t last = first + 1;
  const struct format_line *head = &f->lines.at[first];
  while (last < f->lines.count && f->lines.at[last].in_table &&
         f->lines.at[last].indent == head->indent &&
         f->lines.at[last].cells.count == head->cells.count)
    last++;
  return last;
}

static void align_row(struct formatter *f, struct format_line *line,
                      const size_t *widths, const bool *numbers) {
  struct text out = text_new(f->arena);
  for (size_t c = 0; c < line->cells.count; c++) {
    struct slice cell = line->cells.at[c];
    size_t pad = widths[c] - text_width(cell);
    bool last = c + 1 == line->cells.count;
    if (c)
      text_putc(&out, ' ');
    if (numbers[c])
      text_fill(&out, ' ', pad);
    text_puts(&out, cell);
    if (!numbers[c] && !last)
      text_fill(&out, ' ', pad);
  }
  line->text = text_slice(&out);
}

static size_t align_table(struct formatter *f, size_t first) {
  size_t last = table_run(f, first);
  size_t count = f->lines.at[first].cells.count;
  size_t *widths = arena_alloc(f->arena, count + 1, sizeof *widths);
  bool *numbers = arena_alloc(f->arena, count + 1, sizeof *numbers);
  for (size_t c = 0; c < count; c++) {
    numbers[c] = true;
    for (size_t i = first; i < last; i++) {
      struct slice cell = f->lines.at[i].cells.at[c];
      numbers[c] = numbers[c] && is_number(cell);
      if (text_width(cell) > widths[c])
        widths[c] = text_width(cell);
    }
  }
  for (size_t i = first; i < last; i++)
    align_row(f, &f->lines.at[i], widths, numbers);
  return last;
}

static void align_tables(struct formatter *f) {
  for (size_t i = 0; i < f->lines.count;) {
    const struct format_line *line = &f->lines.at[i];
    bool row = line->in_table && line->cells.count > 0;
    i = row ? align_table(f, i) : i + 1;
  }
}

/* Appends a member to each line of a run, aligned at one column. */
static void append_aligned(struct formatter *f, size_t first, size_t last,
                           size_t member, size_t gap) {
  size_t column = 0;
  for (size_t i = first; i < last; i++)
    if (width_of(&f->lines.at[i]) > column)
      column = width_of(&f->lines.at[i]);
  for (size_t i = first; i < last; i++) {
    struct format_line *line = &f->lines.at[i];
    struct slice more;
    memcpy(&more, (char *)line + member, sizeof more);
    struct text out = text_new(f->arena);
    text_puts(&out, line->text);
    text_fill(&out, ' ', column - width_of(line) + gap);
    text_puts(&out, more);
    line->text = text_slice(&out);
  }
}

static bool has_part(const struct format_line *line, size_t member) {
  struct slice part;
  memcpy(&part, (const char *)line + member, sizeof part);
  return part.length && line->text.length;
}

static void align_parts(struct formatter *f, size_t member, size_t gap) {
  for (size_t i = 0; i < f->lines.count; i++) {
    if (!has_part(&f->lines.at[i], member))
      continue;
    size_t first = i;
    while (i + 1 < f->lines.count && !f->lines.at[i + 1].blank_before &&
           has_part(&f->lines.at[i + 1], member))
      i++;
    append_aligned(f, first, i + 1, member, gap);
  }
}

static void append_backslashes(struct formatter *f) {
  for (size_t i = 0; i < f->lines.count; i++) {
    struct format_line *line = &f->lines.at[i];
    if (!line->continued)
      continue;
    struct text out = text_new(f->arena);
    text_puts(&out, line->text);
    text_put(&out, " \\");
    line->text = text_slice(&out);
  }
}

static void put_lines(const struct formatter *f, struct text *out) {
  for (size_t i = 0; i < f->lines.count; i++) {
    const struct format_line *line = &f->lines.at[i];
    bool only_comment = line->text.length == 0;
    bool closes = !only_comment && line->text.at[0] == '}';
    if (line->blank_before && !closes)
      text_putc(out, '\n');
    text_fill(out, ' ', line->indent);
    text_puts(out, only_comment ? line->comment : line->text);
    text_putc(out, '\n');
  }
}

void format_source(struct arena *arena, struct sources *sources, int source,
                   const struct format_mark *marks, size_t mark_count,
                   struct text *out) {
  struct diags quiet;
  struct formatter f = {.arena = arena,
                        .source = &sources->all.at[source],
                        .marks = marks,
                        .mark_count = mark_count};
  diags_open(&quiet, arena, sources);
  quiet.quiet = true;
  scan_begin(&f.scan, arena, &quiet, source);
  read_lines(&f);
  align_tables(&f);
  align_parts(&f, offsetof(struct format_line, mark), 1);
  append_backslashes(&f);
  align_parts(&f, offsetof(struct format_line, comment), 2);
  put_lines(&f, out);
}
