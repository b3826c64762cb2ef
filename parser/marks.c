/* Marks that tools around a source leave in it: of Git and of Markdown. */
#include "parser/marks.h"

struct foreign_marks {
  struct diags *diags;
  struct slice text;
  uint32_t base;
};

static struct span span_of(const struct foreign_marks *m, size_t begin,
                           size_t end) {
  return (struct span){m->base + (uint32_t)begin, m->base + (uint32_t)end};
}

/* The next line from `at` on that begins with `mark`; the text's length: none.
 * Blanks may precede a fence. */
static size_t find_line(const struct foreign_marks *m, size_t at,
                        const char *mark) {
  while (at < m->text.length) {
    size_t end = slice_line_end(m->text, at);
    struct slice line = slice_from(slice_to(m->text, end), at);
    while (*mark == '`' && line.length && line.at[0] == ' ')
      line = slice_from(line, 1);
    if (slice_begins(line, mark))
      return at;
    at = end + 1;
  }
  return m->text.length;
}

/* The marks of Git: <<<<<<< ours, =======, >>>>>>> theirs. */
static bool report_conflict(const struct foreign_marks *m) {
  size_t begin = find_line(m, 0, "<<<<<<<");
  size_t middle = find_line(m, begin, "=======");
  size_t last = find_line(m, middle, ">>>>>>>");
  if (last == m->text.length)
    return false;
  struct diagnostic *d =
      diag(m->diags, SYNTAX, span_of(m, begin, slice_line_end(m->text, begin)),
           "a merge left a conflict here, with two versions of the lines");
  diag_label(d, span_of(m, middle, slice_line_end(m->text, middle)),
             "this mark separates the versions");
  diag_label(d, span_of(m, last, slice_line_end(m->text, last)),
             "this mark ends the second version");
  diag_help(d, "keep one version, and delete the other version and the lines "
               "with marks");
  return true;
}

/* ```net, its lines, ```: what a chat answers, or a README has. */
static bool report_fence(const struct foreign_marks *m) {
  size_t begin = find_line(m, 0, "```");
  if (begin == m->text.length)
    return false;
  size_t inside = slice_line_end(m->text, begin);
  size_t close = find_line(m, inside + 1, "```");
  struct diagnostic *d =
      diag(m->diags, SYNTAX, span_of(m, begin, inside),
           "a fence of Markdown is not part of the language");
  struct slice lines = slice_from(slice_to(m->text, close), inside + 1);
  if (lines.length)
    diag_offer(d, span_of(m, 0, m->text.length), lines,
               "keep only the lines between the fences");
  diag_otherwise(d, "keep only the lines between the fences");
  return true;
}

/* A part of another format, which a reader of its own takes. */
static bool report_format(const struct foreign_marks *m) {
  static const struct {
    const char *line, *with, *name, *file;
  } formats[] = {
      {"[net]", "=", "Darknet", "x.cfg"},
      {"[convolutional]", "filters=", "Darknet", "x.cfg"},
      {"[maxpool]", "size=", "Darknet", "x.cfg"},
      {"layer {", "type:", "Caffe", "x.prototxt"},
      {"layers {", "type:", "Caffe", "x.prototxt"},
  };
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    size_t begin = find_line(m, 0, formats[i].line);
    struct slice rest = slice_from(m->text, begin);
    size_t at = 0;
    while (at < rest.length &&
           !slice_begins(slice_from(rest, at), formats[i].with))
      at++;
    if (at == rest.length)
      continue;
    struct diagnostic *d = diag(
        m->diags, SYNTAX, span_of(m, begin, slice_line_end(m->text, begin)),
        "this layer is in the syntax of %s", formats[i].name);
    diag_help(d, "`netc import %s -o x.net` converts such a file",
              formats[i].file);
    return true;
  }
  return false;
}

/* "layer {" or "layers {". */
static bool starts_layer(const char *at, const char *end) {
  struct slice line = {at, (size_t)(end - at)};
  return *at == 'l' &&
         (slice_begins(line, "layer {") || slice_begins(line, "layers {"));
}

/* One pass over the lines, since nearly all sources have none of these. */
static bool may_have_marks(struct slice text) {
  const char *end = text.at + text.length, *next;
  for (const char *at = text.at; at < end; at = next + 1) {
    while (at < end && *at == ' ')
      at++;
    if (at < end &&
        (*at == '<' || *at == '`' || *at == '[' || starts_layer(at, end)))
      return true;
    next = memchr(at, '\n', (size_t)(end - at));
    if (!next)
      return false;
  }
  return false;
}

bool marks_report(struct diags *diags, int source) {
  const struct source *all = &diags->sources->all.at[source];
  struct foreign_marks m = {diags, all->text, all->base};
  return may_have_marks(all->text) &&
         (report_conflict(&m) || report_fence(&m) || report_format(&m));
}
