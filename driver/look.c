/* Options for the look of outputs that need parsing. */
#include "driver/look.h"

#include <stdlib.h>
#include <string.h>

#include "driver/options.h"

/* Complains about an unknown column; lists those of a report, or those that
 * sort. */
static int no_column(enum option_id option, const char *name, size_t length) {
  struct netc_column column = {.size = sizeof column};
  char all[400];
  size_t used = 0;
  for (size_t i = 0; netc_column(i, &column) == NETC_OK; i++)
    if (used < sizeof all && (option == OPTION_COLUMNS || column.sortable))
      used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                               used ? ", " : "", column.name);
  return complain(EXIT_USAGE, "--%s: unknown column `%.*s`; choose from %s",
                  option_row(option)->name, (int)length, name, all);
}

static bool find_column(const char *name, size_t length, bool sortable) {
  struct netc_column column = {.size = sizeof column};
  for (size_t i = 0; netc_column(i, &column) == NETC_OK; i++)
    if (strlen(column.name) == length && memcmp(column.name, name, length) == 0)
      return column.sortable || !sortable;
  return false;
}

int look_set_columns(struct netc_options *look, const char *list) {
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, ",");
    if (!find_column(at, length, false))
      return no_column(OPTION_COLUMNS, at, length);
    at += length + (at[length] == ',');
  }
  look->columns = list;
  return EXIT_DONE;
}

int look_set_sort(struct netc_options *look, char *value) {
  size_t length = strcspn(value, ":");
  if (!find_column(value, length, true))
    return no_column(OPTION_SORT, value, length);
  look->sort = value;
  if (!value[length])
    return EXIT_DONE;
  value[length] = '\0';
  return look_set_top(look, OPTION_SORT, value + length + 1);
}

int look_set_top(struct netc_options *look, enum option_id option,
                 const char *value) {
  return option_number(option, value, 1, INT32_MAX, &look->top) ? EXIT_DONE
                                                                : EXIT_USAGE;
}

int look_set_unfold(struct netc_options *look, const char *value) {
  look->unfold = true;
  look->expand = look->expand || value;
  if (!value || strcmp(value, "fused") == 0)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--unfold=%s: write --unfold, or --unfold=fused",
                  value);
}

int look_set_length(enum option_id option, const char *value, int64_t *length) {
  static const struct {
    const char *unit;
    double tenths;
  } units[] = {
      {"pt", 10}, {"mm", 720 / 25.4}, {"cm", 7200 / 25.4}, {"in", 720}};
  const struct option_row *row = option_row(option);
  size_t digits = strspn(value, "0123456789");
  digits +=
      value[digits] == '.' ? 1 + strspn(value + digits + 1, "0123456789") : 0;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (digits == 0 || digits > 12 || strcmp(value + digits, units[i].unit))
      continue;
    double tenths = strtod(value, NULL) * units[i].tenths;
    if (tenths < NETC_LEAST_WIDTH || tenths > NETC_MOST_WIDTH)
      return complain(EXIT_USAGE, "--%s %s: the %s must be from %dpt to %dpt",
                      row->name, value, row->name, NETC_LEAST_WIDTH / 10,
                      NETC_MOST_WIDTH / 10);
    *length = (int64_t)(tenths + 0.5);
    return EXIT_DONE;
  }
  return complain(EXIT_USAGE,
                  "--%s %s: write a length with a unit (pt, mm, cm or in): "
                  "`%s`",
                  row->name, value, row->shown);
}
