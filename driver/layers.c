/* netc layers: layers and their options, from the binder's rows. */
#include <string.h>

#include "base/suggest.h"
#include "driver/options.h"

/* A layer with its index in the table. */
struct entry {
  size_t at;
  struct netc_layer_kind kind;
};

static bool entry_at(size_t at, struct entry *entry) {
  *entry = (struct entry){.at = at, .kind = {.size = sizeof entry->kind}};
  return netc_layer_kind(at, &entry->kind) == NETC_OK;
}

static struct netc_argument argument_at(const struct entry *entry, size_t i) {
  struct netc_argument argument = {.size = sizeof argument};
  netc_layer_argument(entry->at, i, &argument);
  return argument;
}

static void put_upper(const char *text) {
  for (; *text; text++)
    putchar(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
}

static struct netc_argument row_argument_at(size_t i, bool *there) {
  struct netc_argument argument = {.size = sizeof argument};
  *there = netc_row_argument(i, &argument) == NETC_OK;
  return argument;
}

/* conv CHANNELS KERNEL [/STRIDE] [pad=SIZE] ... */
static void put_usage(const struct entry *entry) {
  fputs(entry->kind.name, stdout);
  if (entry->kind.joins)
    fputs(" OPERAND...", stdout);
  for (size_t i = 0; i < entry->kind.argument_count; i++) {
    struct netc_argument a = argument_at(entry, i);
    fputs(a.required ? " " : " [", stdout);
    if (a.form == NETC_STRIDE)
      putchar('/');
    if (a.form == NETC_KEY)
      printf("%s=%s", a.name, a.value);
    else if (a.form == NETC_WORD)
      for (const char *c = a.words; *c; c++)
        putchar(*c == ' ' ? '|' : *c);
    else
      put_upper(a.name);
    if (!a.required)
      putchar(']');
  }
  if (entry->kind.takes_block)
    fputs(" { ... }", stdout);
}

static void put_row(const struct netc_argument *a, const char *format) {
  char what[64];
  const char *name = a->form == NETC_WORD ? a->words : a->name;
  snprintf(what, sizeof what, "%s%s", a->form == NETC_STRIDE ? "/" : "", name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  printf(format, what, a->doc, a->fallback);
#pragma GCC diagnostic pop
}

static void put_layer(const struct entry *entry) {
  printf("%s: %s\n\n  ", entry->kind.name, entry->kind.summary);
  put_usage(entry);
  fputs("\n\n", stdout);
  for (size_t i = 0; i < entry->kind.argument_count; i++) {
    struct netc_argument a = argument_at(entry, i);
    put_row(&a, *a.fallback ? "  %-18s %s (%s)\n" : "  %-18s %s%s\n");
  }
}

/* Options of every layer, after the requested layers. */
static void put_common(void) {
  bool there;
  struct netc_argument a = row_argument_at(0, &there);
  puts("\nevery layer, with its tail");
  for (size_t i = 0; there; a = row_argument_at(++i, &there))
    put_row(&a, *a.fallback ? "  %-18s %s (%s)\n" : "  %-18s %s%s\n");
}

static void put_list(void) {
  const char *family = "";
  struct entry entry;
  for (size_t i = 0; entry_at(i, &entry); i++) {
    if (strcmp(entry.kind.family, family) != 0)
      printf("%s%s\n", i ? "\n" : "", entry.kind.family);
    family = entry.kind.family;
    printf("  %-14s %s\n", entry.kind.name, entry.kind.summary);
  }
  fputs("\nnetc layers NAME shows the options of a layer.\n", stdout);
}

/* Index of the first layer with an argument of this name and meaning. */
static size_t first_with(const struct netc_argument *a, size_t at) {
  struct entry entry;
  for (size_t i = 0; i < at && entry_at(i, &entry); i++)
    for (size_t k = 0; k < entry.kind.argument_count; k++) {
      struct netc_argument b = argument_at(&entry, k);
      if (a->form == b.form && strcmp(a->name, b.name) == 0 &&
          strcmp(a->doc, b.doc) == 0 && strcmp(a->fallback, b.fallback) == 0)
        return i;
    }
  return at;
}

/* Describes each argument once; those of earlier layers refer to them. */
static void put_arguments(const struct entry *entry) {
  size_t before = entry->at;
  if (entry->kind.argument_count)
    putchar('\n');
  for (size_t i = 0; i < entry->kind.argument_count; i++) {
    struct netc_argument a = argument_at(entry, i);
    if (first_with(&a, entry->at) == entry->at)
      put_row(&a, *a.fallback ? "- `%s`: %s (%s)\n" : "- `%s`: %s%s\n");
  }
  for (size_t i = 0; i < entry->kind.argument_count; i++) {
    struct netc_argument a = argument_at(entry, i);
    size_t first = first_with(&a, entry->at);
    struct entry other;
    if (first == entry->at || !entry_at(first, &other))
      continue;
    if (first != before)
      printf("%s- as in `%s`:", before == entry->at ? "" : "\n",
             other.kind.name);
    before = first;
    put_row(&a, " `%s`");
  }
  if (before != entry->at)
    putchar('\n');
}

/* docs/layers.md */
static void put_manual(void) {
  const char *family = "";
  struct entry entry;
  fputs("# Layers\n\nTo look up a layer and its arguments, use this page, or "
        "`netc layers NAME` for all\narguments of one. `netc layers "
        "--markdown` makes the page from the rows that the compiler\nbinds "
        "arguments with. Write values in this order, then options by name; "
        "defaults are in\nparentheses. Each layer also takes these, for itself "
        "and its tail:\n\n",
        stdout);
  bool there;
  struct netc_argument row = row_argument_at(0, &there);
  for (size_t i = 0; there; row = row_argument_at(++i, &there))
    put_row(&row, *row.fallback ? "- `%s`: %s (%s)\n" : "- `%s`: %s%s\n");
  for (size_t i = 0; entry_at(i, &entry); i++) {
    if (strcmp(entry.kind.family, family) != 0)
      printf("\n## %s\n", entry.kind.family);
    family = entry.kind.family;
    printf("\n### %s\n\n%s\n", entry.kind.name, entry.kind.summary);
    if (!entry.kind.argument_count && !entry.kind.joins &&
        !entry.kind.takes_block)
      continue;
    fputs("\n```\n", stdout);
    put_usage(&entry);
    fputs("\n```\n", stdout);
    put_arguments(&entry);
  }
}

static int find_layer(const char *name, struct entry *entry) {
  struct suggestion s = suggest_begin(slice_of(name));
  for (size_t i = 0; entry_at(i, entry); i++) {
    if (strcmp(entry->kind.name, name) == 0)
      return EXIT_DONE;
    suggest_offer(&s, slice_of(entry->kind.name));
  }
  if (s.best.at)
    return complain(EXIT_USAGE, "unknown layer `%s`; did you mean `%.*s`?",
                    name, SLICE_ARG(s.best));
  return complain(EXIT_USAGE,
                  "unknown layer `%s`; `netc layers` lists "
                  "them",
                  name);
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  bool *markdown = user;
  (void)name;
  (void)value;
  *markdown = option == OPTION_MARKDOWN;
  return EXIT_DONE;
}

int command_layers(int argc, char **argv) {
  bool markdown = false;
  struct operands names;
  struct entry entry;
  if (!options_read(COMMAND_LAYERS, argc, argv, take, &markdown, &names))
    return names.status;
  int status = EXIT_DONE;
  if (markdown)
    put_manual();
  else if (names.count == 0)
    put_list();
  for (int i = 0; i < names.count && status == EXIT_DONE; i++) {
    status = find_layer(names.at[i], &entry);
    if (status == EXIT_DONE && i > 0)
      putchar('\n');
    if (status == EXIT_DONE)
      put_layer(&entry);
  }
  if (names.count && status == EXIT_DONE)
    put_common();
  int end = finish_stdout();
  return status ? status : end;
}
