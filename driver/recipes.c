/* netc help recipes: lists the recipes for --like; with --markdown, as a page.
 * netc help recipe NAME: one of them, as the options that it stands for. */
#include <string.h>

#include "base/suggest.h"
#include "driver/options.h"

static const char head[] =
    "# Recipes\n"
    "\n"
    "For readers who train as a program or a guide does. Made by `netc help "
    "recipes\n--markdown` from `sema/model/recipes.def`.\n"
    "\n"
    "`--like NAME`, or `train like=NAME` in a source, takes the settings "
    "below. What you set\nyourself wins, and so does what a source sets beside "
    "its own `like`. `--like` on the\ncommand line wins over the source. "
    "`--lora 32` changes the rank only, `--lora 32:bf16`\nalso the type of the "
    "adapters. A recipe says nothing about batch, length, card and\nnumber of "
    "devices.\n";

/* "--loss-dtype f32" */
static void put_option(const struct netc_recipe_setting *setting) {
  fputs("--", stdout);
  for (const char *at = setting->name; *at; at++)
    putchar(*at == '_' ? '-' : *at);
  printf(" %s", setting->value);
}

/* "2 published runs check it: netc's figure is 0.97 of theirs (median)" */
static void put_checks(const struct netc_recipe *recipe) {
  if (recipe->runs)
    printf("%zu published run%s check%s it: netc's figure is %.2f of theirs in "
           "the median.\n",
           recipe->runs, recipe->runs > 1 ? "s" : "",
           recipe->runs > 1 ? "" : "s", recipe->median);
  else
    puts("No published run checks it.");
}

static void put_lengths(const struct netc_recipe *recipe) {
  if (recipe->varies)
    printf("Lengths differ from batch to batch (%s): `--vary A..B` has the "
           "range of peaks.\n",
           recipe->varies);
}

static void put_markdown(size_t index, const struct netc_recipe *recipe) {
  struct netc_recipe_setting setting = {.size = sizeof setting};
  printf("\n## %s\n\n%s. ", recipe->name, recipe->title);
  put_checks(recipe);
  put_lengths(recipe);
  puts("\n| setting | source |\n|---|---|");
  for (size_t i = 0; netc_recipe_setting(index, i, &setting) == NETC_OK; i++) {
    fputs("| `", stdout);
    put_option(&setting);
    printf("` | %s |\n", setting.source);
  }
}

int print_recipes(bool markdown) {
  struct netc_recipe recipe = {.size = sizeof recipe};
  if (markdown)
    fputs(head, stdout);
  for (size_t i = 0; netc_recipe(i, &recipe) == NETC_OK; i++)
    if (markdown)
      put_markdown(i, &recipe);
    else
      printf("%-20s  %s\n", recipe.name, recipe.title);
  if (!markdown)
    puts(
        "\n`netc FILE.net --like NAME` uses one; `netc help recipe NAME` shows "
        "its settings.");
  return finish_stdout();
}

int print_recipe(const char *name) {
  struct netc_recipe recipe = {.size = sizeof recipe};
  struct netc_recipe_setting setting = {.size = sizeof setting};
  struct suggestion s = suggest_begin(slice_of(name));
  size_t index = 0;
  while (netc_recipe(index, &recipe) == NETC_OK &&
         strcmp(recipe.name, name) != 0) {
    suggest_offer(&s, slice_of(recipe.name));
    index++;
  }
  if (netc_recipe(index, &recipe) != NETC_OK)
    return complain(EXIT_USAGE,
                    "unknown recipe `%s`%s%.*s%s; `netc help "
                    "recipes` lists them",
                    name, s.best.at ? "; did you mean `" : "",
                    SLICE_ARG(s.best), s.best.at ? "`?" : "");
  printf("%s: %s\n\n", recipe.name, recipe.title);
  for (size_t i = 0; netc_recipe_setting(index, i, &setting) == NETC_OK; i++) {
    fputs("  ", stdout);
    put_option(&setting);
    printf("\n      %s\n", setting.source);
  }
  puts("");
  put_checks(&recipe);
  put_lengths(&recipe);
  return finish_stdout();
}
