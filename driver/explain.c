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
  fputs("\nWords\n", stdout);
  for (size_t i = 0; netc_word(i, &word) == NETC_OK; i++)
    printf("%s%s", i ? ", " : "  ", word.name);
  putchar('\n');
}

/* The next letter or digit in small letters; 0 at the end. Names are equal
 * with other signs between: `lower-bound`, `optimizers_state`. */
static char next_letter(struct slice *s) {
  while (s->length) {
    char c = *s->at;
    *s = slice_from(*s, 1);
    if (c >= 'A' && c <= 'Z')
      return (char)(c - 'A' + 'a');
    if (is_word_byte(c) && c != '_')
      return c;
  }
  return 0;
}

/* True if equal in any case, or but for a plural's s. */
static bool is_word(struct slice word, struct slice name) {
  char a, b;
  do {
    a = next_letter(&word);
    b = next_letter(&name);
  } while (a && a == b);
  return a == b || (a == 's' && !b && !next_letter(&word)) ||
         (b == 's' && !a && !next_letter(&name));
}

static bool is_one_of(const char *words, struct slice name) {
  struct slice word;
  for (int i = 1; (word = word_at(words, i)).length; i++)
    if (is_word(word, name))
      return true;
  return false;
}

/* The field's words: rows with a page, and rows with an option. */
static const struct synonyms {
  const char *page, *words, *say;
} synonyms[] = {
#define PAGE(page, words) {page, words, NULL},
#include "driver/foreign_options.def"
#define OPTION(words, say) {NULL, words, say},
#include "driver/foreign_options.def"
};

enum { SYNONYMS = sizeof synonyms / sizeof *synonyms };

/* The page of a row of options that has one of the page's words; or NULL. */
static const char *page_beside(const char *words) {
  struct slice word;
  for (int i = 0; i < SYNONYMS && synonyms[i].page; i++)
    for (int k = 1; (word = word_at(words, k)).length; k++)
      if (is_one_of(synonyms[i].words, word))
        return synonyms[i].page;
  return NULL;
}

static const struct synonyms *find_synonym(struct slice name) {
  for (int i = 0; i < SYNONYMS; i++)
    if (is_one_of(synonyms[i].words, name))
      return &synonyms[i];
  return NULL;
}

static bool put_section(struct slice name, struct suggestion *s) {
  struct netc_word word = {.size = sizeof word};
  for (size_t i = 0; netc_word(i, &word) == NETC_OK; i++) {
    suggest_offer(s, slice_of(word.name));
    if (!is_word(slice_of(word.name), name))
      continue;
    fputs(word.page, stdout);
    return true;
  }
  return false;
}

static bool put_word(const char *name, struct suggestion *s) {
  if (put_section(slice_of(name), s))
    return true;
  const struct synonyms *row = find_synonym(slice_of(name));
  const char *page = !row        ? NULL
                     : row->page ? row->page
                                 : page_beside(row->words);
  if (page)
    return put_section(slice_of(page), s);
  if (row)
    printf("%s: %s\n", name, row->say);
  return row;
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
