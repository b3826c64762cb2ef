/* Tables of published figures: fields of a line, apart by commas. */
#ifndef NETC_TESTS_CSV_H
#define NETC_TESTS_CSV_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A row, which a test is named after: its first field. */
enum { CSV_COLUMNS = 20 };
struct row {
  char name[64];
  char *at[CSV_COLUMNS];
};

/* Takes a field off a line: up to a comma, or in quotes, which are doubled. */
static inline char *take_field(char **rest) {
  char *start = *rest, *to = start, *from = start;
  bool quoted = *from == '"';
  for (from += quoted; *from && (quoted || *from != ','); from++) {
    if (quoted && *from == '"' && *++from != '"')
      break;
    *to++ = *from;
  }
  *rest = *from ? from + 1 : from;
  *to = '\0';
  return start;
}

/*
 * Adds the rows of a table, whose fields stay in `text`; lines that begin with
 * # say what it is. False if the text is none of that many columns, or if
 * there are more than `most` rows.
 */
static inline bool read_rows(char *text, const char *header, int columns,
                             struct row *rows, size_t most, size_t *count) {
  char *rest = text;
  if (!text || !strstr(text, header))
    return false;
  for (char *line; (line = strtok_r(rest, "\n", &rest));) {
    if (*line == '#')
      continue;
    if (*count == most)
      return false;
    struct row *row = &rows[(*count)++];
    for (int i = 0; i < columns; i++)
      row->at[i] = take_field(&line);
    if (*line)
      return false;
    snprintf(row->name, sizeof row->name, "%s", row->at[0]);
  }
  return true;
}

#endif
