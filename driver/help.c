/* Help, from the tables of commands, options and settings. */
#include <string.h>

#include "base/suggest.h"
#include "driver/export.h"
#include "driver/graphviz.h"
#include "driver/options.h"

enum { WIDTH = 79, OPERANDS_COLUMN = 43, HELP_COLUMN = 32, DOC_COLUMN = 30 };

static const char *const titles[] = {
    [GROUP_NONE] = "For -o x.onnx and -o x.py",
    [GROUP_OUTPUTS] = "Outputs",
    [GROUP_SETTINGS] = "Settings, which override the file's",
    [GROUP_IMPORT] = "Files of other frameworks",
    [GROUP_DIAGNOSTICS] = "Diagnostics"};

void put_beside(const char *left, size_t column, const char *text) {
  size_t at = (size_t)printf("%s", left);
  for (const char *word = text; *word; word += strspn(word, " ")) {
    size_t length = strcspn(word, " ");
    if (at >= column && (word == text || at + 1 + length > WIDTH)) {
      putchar('\n');
      at = 0;
    }
    if (at < column)
      at += (size_t)printf("%*s", (int)(column - at), "");
    else
      at += (size_t)printf(" ");
    at += (size_t)printf("%.*s", (int)length, word);
    word += length;
  }
  putchar('\n');
}

/* "  netc fmt [-i | --check] FILE.net...    rewrite in canonical form" */
static void put_command(const struct command_row *row) {
  char line[128];
  snprintf(line, sizeof line, "  netc %s%s%s", row->word, *row->word ? " " : "",
           row->operands);
  put_beside(line, OPERANDS_COLUMN, row->summary);
}

static void put_options(enum command command, enum option_group group) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = option_row((enum option_id)i);
    if (row->group != group || !option_listed(command, row))
      continue;
    char left[sizeof(struct option_text) + 2];
    snprintf(left, sizeof left, "  %s", option_text(row).text);
    put_beside(left, HELP_COLUMN, row->help);
  }
}

/* Writes all settings, as many on a line as fit. */
static void put_settings(enum command command) {
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  size_t column = 0;
  for (size_t i = 0; option_setting(command, &i, &setting);) {
    if (command == COMMAND_PLACE && strcmp(setting.section, "infer") == 0)
      continue; /* it only trains */
    netc_setting_argument(i - 1, &argument);
    struct option_text shown = setting_text(&setting, &argument);
    size_t width = strlen(shown.text) + 2;
    if (column && column + width > WIDTH) {
      putchar('\n');
      column = 0;
    }
    printf("  %s", shown.text);
    column += width;
  }
  puts("\n  `netc help settings` describes each of them");
}

static bool has_group(enum command command, enum option_group group) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = option_row((enum option_id)i);
    if (row->group == group && option_listed(command, row))
      return true;
  }
  return false;
}

static void put_group(enum command command, enum option_group group) {
  bool settings = group == GROUP_SETTINGS && settings_taken(command);
  if (!settings && !has_group(command, group))
    return;
  if (command == COMMAND_BUILD)
    puts(titles[group]);
  put_options(command, group);
  if (settings)
    put_settings(command);
}

static int print_page(enum command command) {
  const struct command_row *row = command_row(command);
  if (command == COMMAND_BUILD) {
    puts("netc: the compiler for neural-network architectures\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
      put_command(command_row((enum command)i));
    puts("");
  } else {
    printf("netc %s %s\n\n  %s\n\n", row->word, row->operands, row->summary);
  }
  bool build = command == COMMAND_BUILD; /* its own options are few */
  put_group(command, build ? GROUP_OUTPUTS : GROUP_NONE);
  put_group(command, build ? GROUP_NONE : GROUP_OUTPUTS);
  put_group(command, GROUP_SETTINGS);
  put_group(command, GROUP_IMPORT);
  put_group(command, GROUP_DIAGNOSTICS);
  if (build)
    puts("\nExit status: 0 done, 1 an error or no fit, 2 usage, 3 files, "
         "4 a bug");
  return finish_stdout();
}

/* Questions of new users; others know the names of options. */
static const struct {
  const char *question, *command;
} questions[] = {
    {"what does it take?", "netc FILE.net"},
    {"how is it computed?", "netc FILE.net --explain"},
    {"will it fit?", "netc FILE.net --gpu t4 --batch 64"},
    {"which card?", "netc FILE.net --gpu all"},
    {"will an LLM run?", "netc FILE.net --gpu t4 --weight-dtype q4_k_m"},
    {"on eight cards?", "netc place FILE.net --gpus 8xh100"},
    {"my own model?", "netc import model.onnx -o model.net"},
    {"what has changed?", "netc diff old.net FILE.net"},
    {"within its budget?", "netc check FILE.net --budget params=5M,macs=1G"},
    {"a figure?", "netc FILE.net -o net.svg -o net.timeline.pdf"},
    {"C for a device?", "netc FILE.net -o net.h -o net.c"},
    {"which layers?", "netc layers"},
};

static int print_questions(void) {
  enum { QUESTION_COLUMN = 20 };
  puts("netc: the compiler for neural-network architectures\n");
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
    printf("  %-*s  %s\n", QUESTION_COLUMN, questions[i].question,
           questions[i].command);
  fputs("\nCommands:", stdout);
  int column = (int)strlen("Commands:");
  for (int i = 1; i < COMMAND_COUNT; i++) {
    const char *word = command_row((enum command)i)->word;
    int width = (int)strlen(word) + 1;
    if (column + width > WIDTH) {
      fputs("\n ", stdout);
      column = 1;
    }
    column += printf(" %s", word);
  }
  puts("\nOptions: -o -D --gpu --memory --batch --optimizer --precision "
       "--checkpoint\n  --lora --data-parallel --zero --predict --runtime "
       "--weight-dtype --context\n  --length --input --attention --budget "
       "--unfold --details --explain --brief");
  puts("  netc help COMMAND   its options; also: help all, gpus, boards, "
       "recipes\n"
       "  netc help settings  settings such as --gpu; help outputs: kinds of "
       "-o\n"
       "Exit status: 0 done, 1 an error or no fit, 2 usage, 3 files, 4 a bug");
  return finish_stdout();
}

int print_help(enum command command) {
  return command == COMMAND_BUILD ? print_questions() : print_page(command);
}

/* netc help settings: a line for each, with words and default. */
static int print_settings(void) {
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  puts("`train NAME=VALUE` or `infer NAME=VALUE` in a source, --NAME VALUE on "
       "the\ncommand line, where data_parallel is --data-parallel.\n");
  for (size_t i = 0; setting_listed(&i, &setting);) {
    netc_setting_argument(i - 1, &argument);
    char left[64], text[1024];
    snprintf(left, sizeof left, "%-16s %s", setting.name, setting.section);
    snprintf(text, sizeof text, "%s (%s)", argument.doc, argument.fallback);
    put_beside(left, DOC_COLUMN, text);
    snprintf(text, sizeof text, "one of: %s%s",
             strcmp(argument.value, "WORD") == 0 ? "" : "a number or ",
             argument.words);
    if (*argument.words)
      put_beside("", DOC_COLUMN, text);
  }
  return finish_stdout();
}

/* netc help outputs: kinds for -o and --emit, with pictures. */
static int print_outputs(void) {
  struct netc_output_kind kind = {.size = sizeof kind};
  puts("`-o x.SUFFIX`, or `--emit=KIND=FILE` for any other name.\n");
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++)
    if (kind.purpose == NETC_FOR_FILES)
      printf("%-14s %s\n", kind.name, kind.summary);
  for (size_t i = 0; picture_at(i); i++)
    printf("%-14s %s, by Graphviz\n", picture_at(i),
           i ? "that chart as a picture" : "picture of the diagram");
  for (size_t i = 0; export_at(i); i++)
    printf("%-14s %s\n", export_at(i)->name, export_at(i)->summary);
  return finish_stdout();
}

/* Writes the rows as scdoc, which the build includes in the manual page. */

static void put_bold(const char *text) {
  for (const char *at = text; *at; at++) {
    if (strchr("_*\\", *at))
      putchar('\\');
    putchar(*at);
  }
}

static void put_row(const char *shown, const char *help, const char *words) {
  putchar('*');
  put_bold(shown);
  fputs("*\n\t", stdout);
  put_bold(help);
  if (*words && !strchr(shown, '|')) /* otherwise they are shown already */
    printf(". One of: %s", words);
  puts("\n");
}

static void put_kinds(void) {
  struct netc_output_kind kind = {.size = sizeof kind};
  puts("## Kinds of output, by suffix\n");
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++)
    if (kind.purpose == NETC_FOR_FILES)
      put_row(kind.name, kind.summary, "");
}

static int print_manual(void) {
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  for (int g = GROUP_OUTPUTS; g <= GROUP_DIAGNOSTICS; g++) {
    printf("## %s\n\n", titles[g]);
    for (int i = 0; i < OPTION_COUNT; i++) {
      const struct option_row *row = option_row((enum option_id)i);
      if (row->group == (enum option_group)g && !row->replaced)
        put_row(option_text(row).text, row->help, "");
    }
    for (size_t i = 0; g == GROUP_SETTINGS && setting_listed(&i, &setting);) {
      netc_setting_argument(i - 1, &argument);
      put_row(setting_text(&setting, &argument).text, argument.doc,
              argument.words);
    }
  }
  put_kinds();
  for (int c = 0; c < COMMAND_COUNT; c++) {
    if (!has_group((enum command)c, GROUP_NONE))
      continue;
    if (c == COMMAND_BUILD)
      printf("## %s\n\n", titles[GROUP_NONE]);
    else
      printf("## netc %s\n\n", command_row((enum command)c)->word);
    for (int i = 0; i < OPTION_COUNT; i++) {
      const struct option_row *row = option_row((enum option_id)i);
      if (row->group == GROUP_NONE && option_listed((enum command)c, row))
        put_row(option_text(row).text, row->help, "");
    }
  }
  return finish_stdout();
}

/* netc help [COMMAND | settings | outputs | gpus | boards | recipes | all],
 * netc help recipe NAME */

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  bool *given = user;
  (void)name;
  (void)value;
  given[option == OPTION_MARKDOWN] = true;
  return EXIT_DONE;
}

static int help_on(const char *word, bool markdown) {
  struct suggestion s = suggest_begin(slice_of(word));
  if (strcmp(word, "settings") == 0)
    return print_settings();
  if (strcmp(word, "outputs") == 0)
    return print_outputs();
  if (strcmp(word, "gpus") == 0)
    return print_gpus(markdown);
  if (strcmp(word, "boards") == 0)
    return print_boards(markdown);
  if (strcmp(word, "recipes") == 0)
    return print_recipes(markdown);
  if (strcmp(word, "all") == 0)
    return print_page(COMMAND_BUILD);
  if (strcmp(word, "manual") == 0)
    return print_manual();
  for (int i = 1; i < COMMAND_COUNT; i++) {
    const char *known = command_row((enum command)i)->word;
    if (strcmp(word, known) == 0)
      return print_help((enum command)i);
    suggest_offer(&s, slice_of(known));
  }
  if (s.best.at)
    return complain(EXIT_USAGE, "unknown command `%s`; did you mean `%.*s`?",
                    word, SLICE_ARG(s.best));
  return complain(EXIT_USAGE,
                  "unknown command `%s`; `netc layers %s` shows a layer, "
                  "`netc explain %s` a diagnostic",
                  word, word, word);
}

int command_help(int argc, char **argv) {
  bool given[2] = {false, false}; /* --manual, --markdown */
  struct operands words;
  if (!options_read(COMMAND_HELP, argc, argv, take, given, &words))
    return words.status;
  if (given[0])
    return print_manual();
  if (words.count == 2 && strcmp(words.at[0], "recipe") == 0)
    return print_recipe(words.at[1]);
  if (words.count > 1)
    return complain(EXIT_USAGE, "netc help takes one command at a time");
  return words.count == 1 ? help_on(words.at[0], given[1])
                          : print_help(COMMAND_BUILD);
}
