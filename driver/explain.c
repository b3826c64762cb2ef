/* netc explain: pages of diagnostics and of words in the report. */
#include <string.h>

#include "base/suggest.h"
#include "driver/options.h"

static void put_list(void) {
  struct netc_slug slug = {.size = sizeof slug};
  for (size_t i = 0; netc_slug(i, &slug) == NETC_OK; i++)
    printf("%-22s %-8s %s\n", slug.name,
           slug.off                               ? "off"
           : slug.severity == NETC_SEVERITY_ERROR ? "error"
                                                  : "warning",
           slug.summary);
  struct netc_word word = {.size = sizeof word};
  fputs("\nWords of the report\n", stdout);
  for (size_t i = 0; netc_word(i, &word) == NETC_OK; i++)
    printf("%s%s", i ? ", " : "  ", word.name);
  putchar('\n');
}

/* Compares in any case, with hyphens for blanks: `lower-bound`. */
static bool is_word(const char *word, const char *name) {
  size_t i = 0;
  for (; word[i] && name[i]; i++) {
    char c = name[i] == '-' ? ' ' : name[i];
    if (c >= 'A' && c <= 'Z')
      c = (char)(c - 'A' + 'a');
    if (c != word[i])
      return false;
  }
  return word[i] == name[i];
}

static bool put_word(const char *name, struct suggestion *s) {
  struct netc_word word = {.size = sizeof word};
  for (size_t i = 0; netc_word(i, &word) == NETC_OK; i++) {
    suggest_offer(s, slice_of(word.name));
    if (!is_word(word.name, name))
      continue;
    fputs(word.page, stdout);
    return true;
  }
  return false;
}

static int put_page(const char *name) {
  struct netc_slug slug = {.size = sizeof slug};
  struct suggestion s = suggest_begin(slice_of(name));
  for (size_t i = 0; netc_slug(i, &slug) == NETC_OK; i++) {
    suggest_offer(&s, slice_of(slug.name));
    if (strcmp(slug.name, name) != 0)
      continue;
    fputs(slug.page, stdout);
    return EXIT_DONE;
  }
  if (put_word(name, &s))
    return EXIT_DONE;
  if (s.best.at)
    return complain(EXIT_USAGE,
                    "unknown diagnostic or word `%s`; did you mean `%.*s`?",
                    name, SLICE_ARG(s.best));
  return complain(EXIT_USAGE,
                  "unknown diagnostic or word `%s`; `netc explain` lists them",
                  name);
}

int command_explain(int argc, char **argv) {
  struct operands slugs;
  if (!options_read(COMMAND_EXPLAIN, argc, argv, NULL, NULL, &slugs))
    return slugs.status;
  int status = EXIT_DONE;
  if (slugs.count == 0)
    put_list();
  for (int i = 0; i < slugs.count && status == EXIT_DONE; i++)
    status = put_page(slugs.at[i]);
  int end = finish_stdout();
  return status ? status : end;
}
