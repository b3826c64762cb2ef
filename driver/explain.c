/* netc explain: the page of a diagnostic. */
#include <string.h>

#include "base/diag.h"
#include "base/suggest.h"
#include "driver/command.h"
#include "driver/pages.h"

static const char *find_page(const char *slug) {
  for (size_t i = 0; i < page_count; i++)
    if (strcmp(pages[i].slug, slug) == 0)
      return pages[i].text;
  return NULL;
}

static void put_list(void) {
  static const char *const words[] = {"off", "warning", "error"};
  for (int i = 0; i < SLUG_COUNT; i++) {
    const struct slug_info *info = slug_info((enum slug)i);
    printf("%-22s %-8s %s\n", info->name, words[info->severity], info->summary);
  }
}

static int unknown(const char *slug) {
  struct suggestion s = suggest_begin(slice_of(slug));
  for (int i = 0; i < SLUG_COUNT; i++)
    suggest_offer(&s, slice_of(slug_info((enum slug)i)->name));
  if (s.best.at)
    return complain(EXIT_USAGE,
                    "no diagnostic is called `%s`; did you mean `%.*s`?", slug,
                    SLICE_ARG(s.best));
  return complain(EXIT_USAGE,
                  "no diagnostic is called `%s`; `netc explain` "
                  "lists them",
                  slug);
}

int command_explain(int argc, char **argv) {
  if (argc == 1)
    put_list();
  for (int i = 1; i < argc; i++) {
    const char *page = find_page(argv[i]);
    if (!page)
      return unknown(argv[i]);
    fputs(page, stdout);
  }
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_IO;
}
