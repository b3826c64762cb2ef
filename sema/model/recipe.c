/* Recipes: settings that programs and guides use, by name. */
#include "sema/model/recipe.h"

#include <string.h>

/* The web page must be small and has no sources. */
#ifdef NETC_NO_SOURCES
#define SOURCE(text) ""
#else
#define SOURCE(text) text
#endif

const char recipe_words[] =
#define RECIPE(constant, word, ...) " " word
#include "sema/model/recipes.def"
    ;

static const struct recipe recipes[] = {
#define RECIPE(constant, word, title, runs, median) \
  {word, SOURCE(title), runs, median, NULL, NULL, 0},
#include "sema/model/recipes.def"
};

/* The rows of all, in order; one without a name begins those of a recipe, and
 * one without a value says that lengths vary. */
static const struct recipe_row rows[] = {
#define RECIPE(...) {NULL, NULL, NULL},
#define SETS(name, value, source) {name, value, SOURCE(source)},
#define VARIES(source) {"", NULL, SOURCE(source)},
#include "sema/model/recipes.def"
};

int recipe_count(void) {
  return sizeof recipes / sizeof *recipes;
}

struct recipe recipe_at(int number) {
  struct recipe found = {NULL, NULL, 0, 0, NULL, NULL, 0};
  int begun = 0;
  if (number < 1)
    return found;
  found = recipes[number - 1];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    begun += !rows[i].name;
    if (begun != number)
      continue;
    if (!rows[i].name)
      found.rows = &rows[i + 1];
    else if (!rows[i].value)
      found.varies = rows[i].source;
    else
      found.count++;
  }
  return found;
}

const char *recipe_value(int number, const char *name) {
  struct recipe recipe = recipe_at(number);
  for (size_t i = 0; i < recipe.count; i++)
    if (strcmp(recipe.rows[i].name, name) == 0)
      return recipe.rows[i].value;
  return NULL;
}
