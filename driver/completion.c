/* netc completion: scripts that complete commands and options in shells. */
#include <string.h>

#include "base/slice.h"
#include "driver/completion.h"
#include "driver/export.h"
#include "driver/init.h"
#include "driver/options.h"

/* Words after an option, from the option's value */
static void put_words(const char *words, char between) {
  for (const char *at = words; *at; at++)
    putchar(*at == ' ' || *at == '|' ? between : *at);
}

/* True for "a|b|c"; false for "KIND[=OUT]" and "N". */
static bool is_choice(const char *value) {
  return value && strchr(value, '|') && !strpbrk(value, "[=");
}

static void put_kinds(char between) {
  for (size_t i = 0; export_at(i); i++)
    printf("%s%c", export_at(i)->name, between);
  struct netc_output_kind kind = {.size = sizeof kind};
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++)
    if (kind.purpose == NETC_FOR_FILES)
      printf("%s%c%s%s", kind.name, between, kind.word,
             *kind.word ? (char[]){between, '\0'} : "");
}

static void put_stages(char between) {
  struct netc_output_kind kind = {.size = sizeof kind};
  for (size_t i = 0; netc_output_kind(i, &kind) == NETC_OK; i++)
    if (kind.purpose == NETC_FOR_DUMP)
      printf("%s%c", kind.name, between);
}

static void put_warnings(char between) {
  struct netc_slug slug = {.size = sizeof slug};
  for (size_t i = 0; netc_slug(i, &slug) == NETC_OK; i++)
    if (slug.severity == NETC_SEVERITY_WARNING)
      printf("-W%s%c-Wno-%s%c", slug.name, between, slug.name, between);
}

static void put_layers(char between) {
  struct netc_layer_kind kind = {.size = sizeof kind};
  for (size_t i = 0; netc_layer_kind(i, &kind) == NETC_OK; i++)
    printf("%s%c", kind.name, between);
}

static void put_slugs(char between) {
  struct netc_slug slug = {.size = sizeof slug};
  for (size_t i = 0; netc_slug(i, &slug) == NETC_OK; i++)
    printf("%s%c", slug.name, between);
}

static void put_templates(char between) {
  for (size_t i = 0; init_template(i); i++)
    printf("%s%c", init_template(i), between);
}

/* Options of a command: --name, -x. */
static void put_options(enum command command, char between) {
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = option_row((enum option_id)i);
    if (!option_listed(command, row))
      continue;
    if (row->name)
      printf("--%s%c", row->name, between);
    if (row->letter && i != OPTION_WARNING)
      printf("-%c%c", row->letter, between);
  }
  for (size_t i = 0; option_setting(command, &i, &setting);) {
    netc_setting_argument(i - 1, &argument);
    struct option_text text = setting_text(&setting, &argument);
    printf("%.*s%c", (int)strcspn(text.text, " "), text.text, between);
  }
}

/* Words that may follow an option, for each option that takes one. */
typedef void value_fn(const char *option, const char *words);

static void each_value(value_fn *put) {
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = option_row((enum option_id)i);
    if (row->name && is_choice(row->value) && !row->replaced)
      put(row->name, row->value);
  }
  for (size_t i = 0; setting_listed(&i, &setting);) {
    netc_setting_argument(i - 1, &argument);
    struct option_text text = setting_text(&setting, &argument);
    text.text[strcspn(text.text, " ")] = '\0';
    if (*argument.words)
      put(text.text + 2, argument.words);
  }
}

/* bash */

static void put_bash_value(const char *option, const char *words) {
  printf("    --%s) words=\"", option);
  put_words(words, ' ');
  puts("\" ;;");
}

/* Other words of a command. */
static void put_operands(enum command command) {
  switch (command) {
  case COMMAND_LAYERS: put_layers(' '); break;
  case COMMAND_EXPLAIN: put_slugs(' '); break;
  case COMMAND_CHECK: put_warnings(' '); break;
  case COMMAND_COMPLETION: fputs("bash zsh fish", stdout); break;
  case COMMAND_INIT: put_templates(' '); break;
  default: break;
  }
}

static void put_bash_commands(void) {
  for (int c = 1; c < COMMAND_COUNT; c++) {
    printf("      %s) words=\"", command_row((enum command)c)->word);
    put_options((enum command)c, ' ');
    put_operands((enum command)c);
    puts("\" ;;");
  }
}

/* Writes the text for a word of the template. */
static void put_bash_part(struct slice word) {
  if (slice_is(word, "values"))
    each_value(put_bash_value);
  else if (slice_is(word, "commands"))
    put_bash_commands();
  else if (slice_is(word, "kinds"))
    put_kinds(' ');
  else if (slice_is(word, "stages"))
    put_stages(' ');
  else if (slice_is(word, "options")) {
    put_options(COMMAND_BUILD, ' ');
    put_warnings(' ');
  } else
    for (int c = 1; c < COMMAND_COUNT; c++)
      printf(" %s", command_row((enum command)c)->word);
}

/* Writes driver/netc.bash.in with each `@word@` replaced. */
static void put_bash(void) {
  for (const char *const *line = completion_bash; *line; line++) {
    const char *at = *line, *end;
    bool whole = *at == '@'; /* its text has lines of its own */
    for (const char *next;
         (next = strstr(at, "@")) && (end = strchr(next + 1, '@')) &&
         !memchr(next, ' ', (size_t)(end - next));
         at = end + 1) {
      printf("%.*s", (int)(next - at), at);
      put_bash_part((struct slice){next + 1, (size_t)(end - next - 1)});
    }
    printf("%s%s", at, whole ? "" : "\n");
  }
}

/* zsh: _arguments of each command */

/* Writes text inside quotes and escapes the characters of `ends`. */
static void put_zsh_escaped(const char *text, const char *ends) {
  for (; *text; text++) {
    if (strchr(ends, *text))
      putchar('\\');
    if (*text == '\'')
      fputs("'\\'", stdout);
    putchar(*text);
  }
}

/* '--gpu=[the device]:value:(t4 l4)' */
static void put_zsh_spec(const char *names, const char *help, bool value,
                         const char *words) {
  printf(" \\\n      '%s%s[", names, value ? "=" : "");
  put_zsh_escaped(help, "[]:\\");
  putchar(']');
  if (value)
    fputs(":value:", stdout);
  if (value && *words) {
    putchar('(');
    put_words(words, ' ');
    putchar(')');
  } else if (value) {
    fputs("_files", stdout);
  }
  putchar('\'');
}

static void put_zsh_options(enum command command) {
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = option_row((enum option_id)i);
    char name[64];
    if (!option_listed(command, row) || i == OPTION_WARNING)
      continue;
    snprintf(name, sizeof name, row->name ? "--%s" : "%s",
             row->name ? row->name : "");
    if (row->name)
      put_zsh_spec(name, row->help, row->value && !row->optional,
                   is_choice(row->value) ? row->value : "");
  }
  for (size_t i = 0; option_setting(command, &i, &setting);) {
    netc_setting_argument(i - 1, &argument);
    struct option_text text = setting_text(&setting, &argument);
    text.text[strcspn(text.text, " ")] = '\0';
    put_zsh_spec(text.text, argument.doc, true, argument.words);
  }
}

static void put_zsh_operands(enum command command) {
  fputs(" \\\n      '*:file:", stdout);
  if (command == COMMAND_LAYERS || command == COMMAND_EXPLAIN) {
    putchar('(');
    if (command == COMMAND_LAYERS)
      put_layers(' ');
    else
      put_slugs(' ');
    puts(")'");
  } else if (command == COMMAND_COMPLETION) {
    puts("(bash zsh fish)'");
  } else if (command == COMMAND_INIT) {
    putchar('(');
    put_templates(' ');
    puts(")'");
  } else {
    puts("_files'");
  }
}

static void put_zsh(void) {
  puts("#compdef netc\n# zsh completion for netc: netc completion zsh\n"
       "local -a commands warnings\ncommands=(");
  for (int c = 1; c < COMMAND_COUNT; c++) {
    printf("  '%s:", command_row((enum command)c)->word);
    put_zsh_escaped(command_row((enum command)c)->summary, "\\");
    puts("'");
  }
  fputs(")\nwarnings=(", stdout);
  put_warnings(' ');
  puts(")\nif (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
       "  _describe command commands\n  _files -g '*.net'\n"
       "  compadd -- zoo:${^$(netc zoo 2>/dev/null | sed -n "
       "'s/^  \\([^ ]*\\).*/\\1/p')}\n"
       "  return\nfi\n"
       "if [[ $words[CURRENT] == -W* ]]; then\n"
       "  compadd -a warnings\n  return\nfi\ncase $words[2] in");
  for (int c = 1; c <= COMMAND_COUNT; c++) {
    enum command command = c < COMMAND_COUNT ? (enum command)c : COMMAND_BUILD;
    printf("  %s)\n    _arguments",
           command == COMMAND_BUILD ? "*" : command_row(command)->word);
    put_zsh_options(command);
    put_zsh_operands(command);
    puts("    ;;");
  }
  puts("esac");
}

/* fish */

static void put_quoted(const char *text) {
  putchar('\'');
  for (; *text; text++) {
    if (strchr("'\\", *text))
      putchar('\\');
    putchar(*text);
  }
  putchar('\'');
}

static void put_fish_condition(unsigned commands) {
  if (commands >> COMMAND_BUILD & 1)
    return;
  fputs(" -n '__fish_seen_subcommand_from", stdout);
  for (int c = 1; c < COMMAND_COUNT; c++)
    if (commands >> c & 1)
      printf(" %s", command_row((enum command)c)->word);
  putchar('\'');
}

static void put_fish_row(const struct option_row *row) {
  fputs("complete -c netc", stdout);
  put_fish_condition(row->commands);
  if (row->letter)
    printf(" -s %c", row->letter);
  if (row->name)
    printf(" -l %s", row->name);
  if (row->value && !row->optional)
    fputs(" -r", stdout);
  if (is_choice(row->value)) {
    fputs(" -f -a '", stdout);
    put_words(row->value, ' ');
    putchar('\'');
  }
  fputs(" -d ", stdout);
  put_quoted(row->help);
  putchar('\n');
}

static void put_fish(void) {
  struct netc_setting setting = {.size = sizeof setting};
  struct netc_argument argument = {.size = sizeof argument};
  puts("# fish completion for netc: netc completion fish");
  for (int c = 1; c < COMMAND_COUNT; c++) {
    const struct command_row *row = command_row((enum command)c);
    printf("complete -c netc -n __fish_use_subcommand -a %s -d ", row->word);
    put_quoted(row->summary);
    putchar('\n');
  }
  puts("complete -c netc -a '(netc zoo 2>/dev/null | string replace -rf "
       "\"^  (\\S+).*\" \"zoo:\\$1\")'");
  for (int i = 0; i < OPTION_COUNT; i++)
    if (i != OPTION_WARNING && !option_row((enum option_id)i)->replaced)
      put_fish_row(option_row((enum option_id)i));
  for (size_t i = 0; setting_listed(&i, &setting);) {
    netc_setting_argument(i - 1, &argument);
    struct option_text text = setting_text(&setting, &argument);
    printf("complete -c netc -l %.*s -r -f -a '",
           (int)strcspn(text.text + 2, " "), text.text + 2);
    put_words(argument.words, ' ');
    fputs("' -d ", stdout);
    put_quoted(argument.doc);
    putchar('\n');
  }
  fputs("complete -c netc -n '__fish_seen_subcommand_from layers' -f -a '",
        stdout);
  put_layers(' ');
  fputs("'\ncomplete -c netc -n '__fish_seen_subcommand_from init' -f -a '",
        stdout);
  put_templates(' ');
  fputs("'\ncomplete -c netc -n '__fish_seen_subcommand_from explain' -f -a '",
        stdout);
  put_slugs(' ');
  fputs("'\ncomplete -c netc -f -a '", stdout);
  put_warnings(' ');
  puts("'");
}

int command_completion(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*put)(void);
  } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
  struct operands names;
  if (!options_read(COMMAND_COMPLETION, argc, argv, NULL, NULL, &names))
    return names.status;
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
    if (names.count != 1 || strcmp(names.at[0], shells[i].name) != 0)
      continue;
    shells[i].put();
    return finish_stdout();
  }
  return complain(EXIT_USAGE,
                  "netc completion takes one of bash, zsh and fish");
}
