/*
 * Parsing, as a ratio to a bare flex scanner: the patterns of lexer/scan.l
 * with nothing behind them, which count tokens.
 * usage: parse ROUNDS FILE.net...
 */
#include "parser/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"

int bare_lex_init(void **scanner);
int bare_lex(void *scanner);
int bare_lex_destroy(void *scanner);
struct yy_buffer_state *bare__scan_bytes(const char *bytes, int length,
                                         void *scanner);

static void run_bare(struct slice text) {
  void *scanner;
  bare_lex_init(&scanner);
  bare__scan_bytes(text.at, (int)text.length, scanner);
  while (bare_lex(scanner))
    ;
  bare_lex_destroy(scanner);
}

/* What a text meets in netc, in memory of its own. */
struct reader {
  struct arena arena;
  struct sources sources;
  struct diags diags;
  int source;
};

static void open_reader(struct reader *r, struct slice text) {
  arena_open(&r->arena, NULL, NULL);
  r->sources = (struct sources){.arena = &r->arena};
  diags_open(&r->diags, &r->arena, &r->sources);
  r->source = sources_add(&r->sources, slice_of("bench"), text);
}

static void run_check(struct slice text) {
  struct reader r;
  open_reader(&r, text);
  scan_check_text(&r.diags, r.source);
  arena_close(&r.arena);
}

static void run_scan(struct slice text) {
  struct reader r;
  struct scan scan;
  union scan_value value;
  struct span span;
  open_reader(&r, text);
  scan_begin(&scan, &r.arena, &r.diags, r.source);
  while (scan_next(&scan, &value, &span) != TOKEN_END)
    ;
  arena_close(&r.arena);
}

static void run_parse(struct slice text) {
  struct reader r;
  int statements = 0;
  open_reader(&r, text);
  parse(&r.arena, &r.diags, r.source, &statements);
  arena_close(&r.arena);
}

static double seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC; /* of the processor */
}

/* Of all texts, the least time of some rounds, in which all take turns. */
int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*run)(struct slice text);
  } ways[] = {{"bare flex", run_bare},
              {"is it UTF-8", run_check},
              {"netc's tokens", run_scan},
              {"netc's syntax tree", run_parse}};
  enum { WAYS = sizeof ways / sizeof *ways };
  double least[WAYS] = {0};
  struct arena arena;
  VEC(struct slice) texts = {0};
  size_t bytes = 0;
  arena_open(&arena, NULL, NULL);
  for (int i = 2; i < count; i++) {
    struct slice *text = VEC_PUSH(&arena, &texts);
    if (file_read(&arena, arguments[i], text) != FILE_OK)
      return 1;
    bytes += text->length;
  }
  for (int round = 0; count > 2 && round < atoi(arguments[1]); round++)
    for (size_t w = 0; w < WAYS; w++) {
      double begin = seconds();
      for (size_t i = 0; i < texts.count; i++)
        ways[w].run(texts.at[i]);
      double took = seconds() - begin;
      if (round == 0 || took < least[w])
        least[w] = took;
    }
  for (size_t w = 0; w < WAYS; w++)
    printf("%-46s %10.1f MB/s %8.2f x bare flex\n", ways[w].name,
           (double)bytes / least[w] / 1e6, least[0] / least[w]);
  arena_close(&arena);
  return 0;
}
