/*
 * Facts of an architecture, whatever file says them: names with values, as
 * `hidden_size` is 4096. Those of inner objects and lists are joined by `_`:
 * `text_config_hidden_size`, `depths_0`.
 */
#ifndef NETC_IMPORT_HUGGINGFACE_FACTS_H
#define NETC_IMPORT_HUGGINGFACE_FACTS_H

#include "import/graph.h"

enum fact_kind {
  FACT_NULL,
  FACT_BOOL,
  FACT_INT,
  FACT_REAL, /* its text is a number of the language */
  FACT_WORD,
  FACT_OBJECT, /* and a list: `integer` members follow */
};

struct fact {
  struct slice name, text; /* text: as the file has it */
  struct slice shown;      /* `text_config.depths[0]`; empty: as `name` */
  enum fact_kind kind;
  bool counted;    /* by netc: it may be 0 where the file's may not */
  int64_t integer; /* FACT_BOOL, too */
  size_t line, column;
};

struct facts {
  struct graph *graph; /* takes errors */
  VEC(struct fact) all;
  struct map places; /* in it, by name; of two, the first */
};

/* Objects of JSON as Python writes them. False: the graph says why not. Keys
 * that are no number (NaN) are null, with a note. */
bool facts_read_json(struct facts *facts, struct graph *graph,
                     struct slice file);

/* NULL: there is none, or it is null. */
const struct fact *fact_find(const struct facts *facts, struct slice name);
const struct fact *fact_of(const struct facts *facts, const char *name);

/* Adds one, or changes its value. */
struct fact *fact_put(struct facts *facts, struct slice name);

/* The text decides its kind: a number, true, false or a word. */
void fact_put_text(struct facts *facts, struct slice name, struct slice text);

/* The name as a person writes it. */
const struct slice *fact_shown(const struct fact *fact);

/* Whether it is there and is that word. */
bool fact_is(const struct facts *facts, const char *name, const char *word);

/* The error is at that fact; false. */
bool fact_fail(struct facts *facts, const struct fact *fact, const char *format,
               ...) PRINTF_LIKE(3, 4);

#endif
