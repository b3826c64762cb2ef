/* Recipes: settings that programs and guides use, by name. */
#ifndef NETC_SEMA_MODEL_RECIPE_H
#define NETC_SEMA_MODEL_RECIPE_H

#include <stddef.h>

#include "base/slice.h"

/* A setting of `train`, or `lora`, in source syntax. */
struct recipe_row {
  const char *name, *value;
  const char *source; /* repository, file and version; "" in the web page */
};

struct recipe {
  const char *word;   /* "hf/qlora" */
  const char *title;  /* "Hugging Face PEFT and bitsandbytes: ..." */
  int runs;           /* published runs that check it */
  double median;      /* of netc's figure / the published one; 0: no run */
  const char *varies; /* the source of lengths that differ; NULL: they do not */
  const struct recipe_row *rows;
  size_t count;
};

/* Their words, each after a blank. */
extern const char recipe_words[];

/* Numbers start at 1, as those of words. */
int recipe_count(void);
struct recipe recipe_at(int number);

/* The value that a recipe has for a setting; NULL: none. */
const char *recipe_value(int number, const char *name);

#endif
