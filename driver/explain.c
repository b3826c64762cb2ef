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

/* A name stands for a page or a line. */
struct explained {
  const char *page, *say;
};

static const char *section_of(struct slice name, struct suggestion *s) {
  struct netc_word word = {.size = sizeof word};
  for (size_t i = 0; netc_word(i, &word) == NETC_OK; i++) {
    suggest_offer(s, slice_of(word.name));
    if (is_word(slice_of(word.name), name))
      return word.page;
  }
  return NULL;
}

static const char *slug_of(const char *name, struct suggestion *s) {
  struct netc_slug slug = {.size = sizeof slug};
  for (size_t i = 0; netc_slug(i, &slug) == NETC_OK; i++) {
    suggest_offer(s, slice_of(slug.name));
    if (strcmp(slug.name, name) == 0)
      return slug.page;
  }
  return NULL;
}

static struct explained find(const char *name, struct suggestion *s) {
  struct explained found = {slug_of(name, s), NULL};
  if (!found.page)
    found.page = section_of(slice_of(name), s);
  const struct synonyms *row = found.page ? NULL : find_synonym(slice_of(name));
  if (!row)
    return found;
  const char *page = row->page ? row->page : page_beside(row->words);
  if (page)
    found.page = section_of(slice_of(page), s);
  else
    found.say = row->say;
  return found;
}

/* True if there was something to print. */
static bool put_found(const char *name, const struct explained *found) {
  if (found->page)
    fputs(found->page, stdout);
  else if (found->say)
    printf("%s: %s\n", name, found->say);
  return found->page || found->say;
}

static int put_page(const char *name) {
  struct suggestion s = suggest_begin(slice_of(name));
  struct explained found = find(name, &s);
  if (put_found(name, &found))
    return EXIT_DONE;
  if (s.best.at)
    return complain(EXIT_USAGE,
                    "unknown diagnostic or word `%s`; did you mean `%.*s`?",
                    name, SLICE_ARG(s.best));
  return complain(EXIT_USAGE,
                  "unknown diagnostic or word `%s`; `netc explain` lists them",
                  name);
}

/* Prints the operand, or with those after it a term of several words: receptive
 * field. Returns the number of operands; 0 after a complaint. */
static int put_term(char **operands, int count) {
  enum { MOST_WORDS = 4 };
  for (int words = count < MOST_WORDS ? count : MOST_WORDS; words > 1;
       words--) {
    char name[128];
    size_t used = 0;
    for (int i = 0; i < words && used < sizeof name; i++)
      used += (size_t)snprintf(name + used, sizeof name - used, "%s%s",
                               i ? " " : "", operands[i]);
    struct suggestion s = suggest_begin(slice_of(name));
    struct explained found = find(name, &s);
    if (used < sizeof name && put_found(name, &found))
      return words;
  }
  return put_page(operands[0]) == EXIT_DONE;
}

int command_explain(int argc, char **argv) {
  struct operands slugs;
  if (!options_read(COMMAND_EXPLAIN, argc, argv, NULL, NULL, &slugs))
    return slugs.status;
  int status = EXIT_DONE;
  if (slugs.count == 0)
    put_list();
  for (int i = 0, words; i < slugs.count; i += words) {
    words = put_term(&slugs.at[i], slugs.count - i);
    if (!words) {
      status = EXIT_USAGE;
      break;
    }
  }
  int end = finish_stdout();
  return status ? status : end;
}
