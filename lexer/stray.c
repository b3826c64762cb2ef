/* Characters that belong to no token, and what was probably meant. */

#include "base/shown.h"
#include "base/utf8.h"
#include "lexer/token.h"

static struct diagnostic *report(struct scan *scan, const char *format, ...)
    PRINTF_LIKE(2, 3);
static struct diagnostic *report(struct scan *scan, const char *format, ...) {
  struct span here = {scan->begin, scan->end};
  va_list args;
  va_start(args, format);
  struct diagnostic *d =
      diag_va(scan->diags, INVALID_CHARACTER, here, format, args);
  va_end(args);
  return d;
}

/* Offers `meant`. `how` explains it, even if the offer does not compile. */
static void mean(struct diagnostic *d, const struct scan *scan,
                 const char *meant, const char *how) {
  struct text help = text_new(scan->arena);
  for (; *how; how++) {
    bool here = how[0] == '%' && how[1] == 's';
    if (here)
      text_put(&help, meant);
    else
      text_putc(&help, *how);
    how += here;
  }
  diag_offer(d, (struct span){scan->begin, scan->end}, slice_of(meant), "%.*s",
             SLICE_ARG(help));
  diag_otherwise(d, "%.*s", SLICE_ARG(help));
}

static void stray_ascii(struct scan *scan, char c) {
  struct diagnostic *d = report(scan, "`%c` is not used in this language", c);
  if (c == '!' || c == '&' || c == '|')
    diag_otherwise(d, "conditions use the words `not`, `and`, `or`; write "
                      "layers that follow side by side");
  else if (c == '^')
    mean(d, scan, "**", "write a power as `**`");
  else if (c == '\'' || c == '`')
    diag_help(d, "write strings in double quotes");
}

/* Characters of word processors and web pages, and the ASCII ones meant. */
static const struct {
  uint32_t first, last;
  const char *meant;
} lookalikes[] = {
    {0xA0, 0xA0, " "},     {0xD7, 0xD7, "x"},      {0x2000, 0x200A, " "},
    {0x2010, 0x2015, "-"}, {0x201C, 0x201F, "\""}, {0x202F, 0x202F, " "},
    {0x205F, 0x205F, " "}, {0x2212, 0x2212, "-"},  {0x3000, 0x3000, " "},
    {0xFF08, 0xFF08, "("}, {0xFF09, 0xFF09, ")"},  {0xFF0C, 0xFF0C, ","},
    {0xFF1A, 0xFF1A, ":"}, {0xFF1B, 0xFF1B, ";"},  {0xFF1D, 0xFF1D, "="}};

static const char *meant_by(uint32_t point) {
  for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
    if (point >= lookalikes[i].first && point <= lookalikes[i].last)
      return lookalikes[i].meant;
  return NULL;
}

static void stray_sequence(struct scan *scan, const char *text) {
  size_t length = utf8_length(text, 4);
  uint32_t point = utf8_code_point(text, length);
  const char *meant = meant_by(point);
  bool blank = meant && *meant == ' ';
  struct diagnostic *d;
  if (blank || shown_is_hidden(point))
    d = report(
        scan,
        "the character U+%04X, %s, is allowed only in comments and strings",
        (unsigned)point, blank ? "a special blank" : "which is invisible");
  else
    d = report(scan, "`%.*s` is allowed only in comments and strings",
               (int)length, text);
  if (point == 0xD7)
    diag_help(d, "join sizes with the letter `x`: `3x3`");
  else if (blank)
    mean(d, scan, meant, "replace it with a normal blank");
  else if (shown_is_hidden(point))
    mean(d, scan, "", "delete it");
  else if (meant)
    mean(d, scan, meant, "did you mean `%s`?");
  else if (point >= 0xFF10 && point <= 0xFF19)
    mean(d, scan, (const char[]){(char)('0' + point - 0xFF10), 0},
         "did you mean `%s`?");
  else
    diag_help(d, "names consist of ASCII letters, digits and `_`");
}

int scan_stray(struct scan *scan, const char *text) {
  unsigned char c = (unsigned char)*text;
  if (scan->silent)
    return TOKEN_ERROR;
  if (c == '\\')
    diag_help(report(scan, "`\\` is allowed only at the end of a line"),
              "it joins the next line to this one");
  else if (c < 0x20 || c == 0x7F)
    mean(report(scan,
                "a control character (0x%02X) is allowed only in a comment", c),
         scan, "", "delete it");
  else if (c < 0x80)
    stray_ascii(scan, *text);
  else
    stray_sequence(scan, text);
  return TOKEN_ERROR;
}
