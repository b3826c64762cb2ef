/* Options of the command line: a single table for getopt, help and
 * completion. */
#define _GNU_SOURCE
#include "driver/options.h"
#include "driver/findings.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "driver/net_options.h"

/* Words of options, with their values. */
#define UNITS_WORDS(W) W(iec, NETC_IEC) W(si, NETC_SI) W(bytes, NETC_BYTES)
#define LAYOUT_WORDS(W) W(hwc, false) W(chw, true)
#define HEADER_WORDS(W) W(full, false) W(deploy, true)
#define DIRECTION_WORDS(W) W(tb, NETC_DOWN) W(lr, NETC_RIGHT)
#define FILL_WORDS(W) \
  W(op, NETC_TINT_OP) \
  W(macs, NETC_TINT_MACS) W(saved, NETC_TINT_SAVED) W(params, NETC_TINT_PARAMS)
enum { ALL_NOTES = NETC_NOTE_PARAMS | NETC_NOTE_MACS | NETC_NOTE_BYTES };
#define NOTES_WORDS(W)        \
  W(params, NETC_NOTE_PARAMS) \
  W(macs, NETC_NOTE_MACS)     \
  W(bytes, NETC_NOTE_BYTES) W(all, ALL_NOTES) W(none, NETC_NOTE_NONE)
#define LABELS_WORDS(W) W(plain, false) W(source, true)
#define LEGEND_WORDS(W) W(shown, false) W(none, true)
#define DIAGNOSTICS_WORDS(W) \
  W(text, NETC_STYLE_TEXT)   \
  W(json, NETC_STYLE_JSON) W(sarif, STYLE_SARIF) W(junit, STYLE_JUNIT)
#define COLOR_WORDS(W) \
  W(auto, COLOUR_AUTO) W(always, COLOUR_ALWAYS) W(never, COLOUR_NEVER)

#define WORD_TEXT(word, stands_for) "|" #word
#define WORD_VALUE(word, stands_for) stands_for,
/* Members of struct net_options that options set. */
#define FLAG(member) .flag = offsetof(struct net_options, member)
#define TEXT(member) .text = offsetof(struct net_options, member)
#define WORDS(option, member)                                            \
  .word = offsetof(struct net_options, member),                          \
  .word_size = sizeof(((struct net_options *)NULL)->member),             \
  .value = &("" option##_WORDS(WORD_TEXT))[1], .values = (const int[]) { \
    option##_WORDS(WORD_VALUE)                                           \
  }

static const struct option_row rows[] = {
#define OPTION(constant, ...) [OPTION_##constant] = {__VA_ARGS__},
#include "driver/options.def"
#undef OPTION
};

enum {
  MOST_OPTIONS = 256, /* with all settings and the end */
  FIRST_CODE = 256,   /* of getopt's codes, above any letter */
};

/* Arguments for getopt, from a command's rows and the settings. */
struct option_parser {
  enum command command;
  struct option longs[MOST_OPTIONS];
  enum option_id codes[MOST_OPTIONS]; /* by index in `longs` */
  size_t count;
  struct option_text names[MOST_OPTIONS]; /* of settings */
  char letters[2 * OPTION_COUNT + 2];
};

const struct option_row *option_row(enum option_id option) {
  return &rows[option];
}

static void append(struct option_text *to, const char *format, ...)
    PRINTF_LIKE(2, 3);
static void append(struct option_text *to, const char *format, ...) {
  size_t used = strlen(to->text);
  va_list args;
  va_start(args, format);
  vsnprintf(to->text + used, sizeof to->text - used, format, args);
  va_end(args);
}

struct option_text option_text(const struct option_row *row) {
  struct option_text to = {""};
  if (row->shown) {
    append(&to, "%s", row->shown);
    return to;
  }
  if (row->letter)
    append(&to, row->name ? "-%c, " : "-%c", row->letter);
  if (row->name)
    append(&to, "--%s", row->name);
  if (row->value)
    append(&to, strpbrk(row->value, "|[") ? "=%s" : " %s", row->value);
  return to;
}

/* Appends a name with hyphens: data_parallel is --data-parallel. */
static void put_hyphens(struct option_text *to, const char *name) {
  size_t used = strlen(to->text), length = strlen(name);
  for (size_t i = 0; i <= length && used + i < sizeof to->text; i++)
    to->text[used + i] = name[i] == '_' ? '-' : name[i];
}

struct option_text setting_text(const struct netc_setting *setting,
                                const struct netc_argument *argument) {
  enum { MOST_WORDS = 20 };
  struct option_text to = {"--"};
  put_hyphens(&to, setting->name);
  bool word = strcmp(argument->value, "WORD") == 0;
  bool few = word && strlen(argument->words) < MOST_WORDS;
  size_t from = strlen(to.text) + 1;
  append(&to, " %s%s",
         few    ? argument->words
         : word ? "NAME"
                : argument->value,
         !word && *argument->words ? "|" : "");
  if (!word)
    append(&to, "%s", argument->words);
  for (char *at = to.text + from; *at; at++)
    if (*at == ' ')
      *at = '|';
  return to;
}

static bool option_taken(enum command command, const struct option_row *row) {
  return row->commands >> command & 1;
}

bool settings_taken(enum command command) {
  return NETS >> command & 1;
}

static bool is_hidden(enum command command, const char *name) {
  for (int i = 0; i < OPTION_COUNT; i++)
    if (option_taken(command, &rows[i]) && rows[i].name &&
        *rows[i].name == *name && strcmp(rows[i].name, name) == 0)
      return true;
  return false;
}

bool option_setting(enum command command, size_t *index,
                    struct netc_setting *setting) {
  while (settings_taken(command) &&
         netc_setting((*index)++, setting) == NETC_OK)
    if (!is_hidden(command, setting->name) && !setting->now)
      return true;
  return false;
}

bool option_listed(enum command command, const struct option_row *row) {
  return !row->replaced && option_taken(command, row);
}

bool setting_listed(size_t *index, struct netc_setting *setting) {
  while (netc_setting((*index)++, setting) == NETC_OK)
    if (!setting->now)
      return true;
  return false;
}

static void add_long(struct option_parser *p, const char *name, int argument,
                     enum option_id option) {
  if (p->count + 1 == MOST_OPTIONS) { /* a table outgrew this program */
    complain(EXIT_BUG, "there are too many options for --%s", name);
    exit(EXIT_BUG);
  }
  p->longs[p->count] =
      (struct option){name, argument, NULL, FIRST_CODE + (int)p->count};
  p->codes[p->count++] = option;
}

static void add_setting(struct option_parser *p,
                        const struct netc_setting *setting) {
  struct option_text *name = &p->names[p->count];
  put_hyphens(name, setting->name);
  add_long(p, name->text, required_argument, OPTION_SETTING);
}

static void open_parser(struct option_parser *p, enum command command) {
  char *letter = p->letters;
  memset(p, 0, sizeof *p);
  p->command = command;
  *letter++ = ':'; /* reports a missing value with ':' */
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = &rows[i];
    if (!option_taken(command, row))
      continue;
    if (row->name)
      add_long(p, row->name,
               row->optional ? optional_argument
               : row->value  ? required_argument
                             : no_argument,
               (enum option_id)i);
    if (row->letter)
      *letter++ = row->letter;
    if (row->letter && row->value)
      *letter++ = ':';
  }
  struct netc_setting setting = {.size = sizeof setting};
  for (size_t i = 0;
       settings_taken(command) && netc_setting(i, &setting) == NETC_OK; i++)
    if (!is_hidden(command, setting.name))
      add_setting(p, &setting);
}

/* True if `words`, separated by blanks, contain the name. */
static bool is_word_of(const char *words, struct slice name) {
  for (const char *at = words; *at; at += strspn(at, " ")) {
    struct slice word = {at, strcspn(at, " ")};
    if (slice_equal(word, name))
      return true;
    at += word.length;
  }
  return false;
}

struct setting_row setting_row(struct slice name) {
  static const struct setting_row known[] = {
#define SETTING(name, ...) {name, __VA_ARGS__},
#include "driver/settings.def"
#undef SETTING
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (slice_is(name, known[i].name))
      return known[i];
  return (struct setting_row){.name = ""};
}

/* Finds a setting by its name with hyphens. */
static bool find_setting(struct slice name, size_t *index) {
  struct netc_setting setting = {.size = sizeof setting};
  for (*index = 0; netc_setting(*index, &setting) == NETC_OK; ++*index) {
    struct option_text text = {""};
    put_hyphens(&text, setting.name);
    if (slice_is(name, text.text))
      return true;
  }
  return false;
}

static bool is_setting(struct slice name) {
  size_t index;
  return find_setting(name, &index);
}

bool setting_is_list(const char *name, const char *value) {
  struct netc_argument argument = {.size = sizeof argument};
  struct slice first = {value, strcspn(value, ",")};
  size_t index;
  return find_setting(slice_of(name), &index) &&
         netc_setting_argument(index, &argument) == NETC_OK &&
         strcmp(argument.value, "N,N,..") == 0 &&
         !is_word_of(argument.words, first);
}

/* True if the command takes `--NAME ...` or `-X ...`. */
static bool takes(const struct option_parser *p, const char *at) {
  if (at[1] != '-')
    return strchr(p->letters, at[1]) != NULL;
  struct slice name = {at + 2, strcspn(at + 2, " =`")};
  for (size_t i = 0; i < p->count; i++)
    if (slice_is(name, p->longs[i].name))
      return !(setting_row(name).hidden & 1u << p->command);
  return false;
}

/* True if the command takes all options between backticks in a hint. */
static bool takes_all(const struct option_parser *p, const char *hint) {
  for (const char *at = strchr(hint, '`'); at; at = strchr(at + 1, '`')) {
    if (at[1] == '-' && !takes(p, at + 1))
      return false;
    at = strchr(at + 1, '`');
  }
  return true;
}

/* Explains an option of another program or of another command. */
static bool explain_foreign(const struct option_parser *p, const char *argument,
                            struct slice name) {
  static const struct {
    const char *words, *say;
  } foreign[] = {
#define OPTION(words, say) {words, say},
#include "driver/foreign_options.def"
  };
  for (int i = 0; i < OPTION_COUNT; i++) {
    for (int c = 0; c < COMMAND_COUNT; c++) {
      const struct command_row *command = command_row((enum command)c);
      if (!rows[i].name || !slice_is(name, rows[i].name) ||
          !option_taken((enum command)c, &rows[i]) || (unsigned)c == p->command)
        continue;
      complain(EXIT_USAGE, "`--%s` belongs to `netc %s`", rows[i].name,
               *command->word ? command->word : "FILE.net");
      return true;
    }
  }
  if (is_setting(name) && !settings_taken(p->command)) {
    complain(EXIT_USAGE, "`--%.*s` belongs to `netc FILE.net`",
             SLICE_ARG(name));
    return true;
  }
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    if (!is_word_of(foreign[i].words, name) || !takes_all(p, foreign[i].say))
      continue;
    complain(EXIT_USAGE, "netc has no `%.*s`: %s",
             (int)(name.at + name.length - argument), argument, foreign[i].say);
    return true;
  }
  return false;
}

/* The argument at which getopt stopped; in -O2 it has not moved on. */
static const char *stopped_in(char **argv, int at) {
  const char *last = argv[optind > at ? optind - 1 : at];
  bool letters = *last == '-' && last[1] != '-';
  return !optopt || (letters && strchr(last, optopt)) ? last : argv[optind];
}

static int unknown_option(const struct option_parser *p, const char *argument) {
  struct slice name = slice_of(argument);
  const char *word = command_row(p->command)->word;
  while (name.length && *name.at == '-') {
    name.at++;
    name.length--;
  }
  const char *equals = memchr(name.at, '=', name.length);
  if (equals)
    name.length = (size_t)(equals - name.at);
  if (explain_foreign(p, argument, name))
    return EXIT_USAGE;
  if (argument[1] != '-' && name.length > 1)
    name.length = 1; /* -b64 */
  if (explain_foreign(p, argument, name))
    return EXIT_USAGE;
  struct suggestion s = suggest_begin(name);
  for (size_t i = 0; i < p->count; i++)
    suggest_offer(&s, slice_of(p->longs[i].name));
  if (s.best.at)
    return complain(EXIT_USAGE, "unknown option `%s`; did you mean `--%.*s`?",
                    argument, SLICE_ARG(s.best));
  return complain(EXIT_USAGE, "unknown option `%s`; see `netc%s%s --help`",
                  argument, *word ? " " : "", word);
}

static enum option_id option_of_letter(int letter) {
  int i = 0;
  while (rows[i].letter != letter)
    i++;
  return (enum option_id)i;
}

/* --help and --version end the parsing of all commands. */
static bool answered(enum command command, enum option_id option, int *status) {
  if (option == OPTION_HELP)
    *status = print_help(command);
  else if (option == OPTION_VERSION)
    *status = print_version();
  return option == OPTION_HELP || option == OPTION_VERSION;
}

/* --diagnostics=json also applies to complaints about earlier options. */
static void foresee_style(enum command command, int argc, char **argv) {
  const struct option_row *row = &rows[OPTION_DIAGNOSTICS];
  char whole[64];
  snprintf(whole, sizeof whole, "--%s=json", row->name);
  for (int i = 1; i < argc && option_taken(command, row); i++)
    if (strcmp(argv[i], whole) == 0)
      complain_as(NETC_STYLE_JSON);
}

static bool is_given(const bool *given, struct slice name) {
  for (int i = 0; i < OPTION_COUNT; i++)
    if (given[i] && rows[i].name && slice_is(name, rows[i].name))
      return true;
  return false;
}

/* Options that are given with one that they exclude, or without one that they
 * need. */
static int check_together(const bool *given) {
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = &rows[i];
    if (!given[i])
      continue;
    if (row->needs && !is_given(given, word_at(row->needs, 1)))
      return complain(EXIT_USAGE, "--%s needs --%s", row->name, row->needs);
    struct slice other;
    for (int k = 1; row->excludes && (other = word_at(row->excludes, k)).length;
         k++)
      if (is_given(given, other))
        return complain(EXIT_USAGE, "--%s and --%.*s exclude each other",
                        row->name, SLICE_ARG(other));
  }
  return EXIT_DONE;
}

bool options_read(enum command command, int argc, char **argv, option_fn *take,
                  void *user, struct operands *operands) {
  static struct option_parser p; /* names of settings outlive the call */
  int *status = &operands->status;
  bool given[OPTION_COUNT + 2] = {false}; /* settings, too */
  open_parser(&p, command);
  foresee_style(command, argc, argv);
  opterr = 0;
  optind = 1;
  *status = EXIT_DONE;
  while (*status == EXIT_DONE) {
    int at = optind;
    int code = getopt_long(argc, argv, p.letters, p.longs, NULL);
    if (code == -1)
      break;
    bool is_long = code >= FIRST_CODE;
    enum option_id option = is_long ? p.codes[code - FIRST_CODE] : OPTION_COUNT;
    const char *name = is_long ? p.longs[code - FIRST_CODE].name : "";
    if (code == ':') {
      *status = complain(EXIT_USAGE, "`%s` needs a value", argv[optind - 1]);
    } else if (code == '?' && optopt >= FIRST_CODE) {
      *status = complain(EXIT_USAGE, "`--%s` takes no value",
                         p.longs[optopt - FIRST_CODE].name);
    } else if (code == '?') {
      *status = unknown_option(&p, stopped_in(argv, at));
    } else {
      option = is_long ? option : option_of_letter(code);
      if (answered(command, option, status))
        return false;
      given[option] = true;
      *status = take(user, option, name, optarg);
    }
  }
  if (*status == EXIT_DONE)
    *status = check_together(given);
  operands->at = argv + optind;
  operands->count = argc - optind;
  return *status == EXIT_DONE;
}

/* Values */

static struct slice word_of(const char *words, int index) {
  for (; index > 0 && words; index--) {
    words = strchr(words, '|');
    words = words ? words + 1 : NULL;
  }
  if (!words)
    return (struct slice){NULL, 0};
  return (struct slice){words, strcspn(words, "|")};
}

/* "--units takes iec or si or bytes, not `kb`" */
static void complain_choices(const struct option_row *row, const char *value) {
  char words[128] = "";
  struct slice word;
  for (int i = 0; (word = word_of(row->value, i)).at; i++) {
    size_t used = strlen(words);
    snprintf(words + used, sizeof words - used, "%s%.*s", i ? " or " : "",
             SLICE_ARG(word));
  }
  complain(EXIT_USAGE, "--%s takes %s, not `%s`", row->name, words, value);
}

bool option_word(enum option_id option, const char *value, int *found) {
  const struct option_row *row = &rows[option];
  int i = 0;
  while (word_of(row->value, i).at && !slice_is(word_of(row->value, i), value))
    i++;
  if (!word_of(row->value, i).at)
    return false;
  *found = row->values[i];
  return true;
}

bool option_choose(enum option_id option, const char *value, int *found) {
  const struct option_row *row = &rows[option];
  struct suggestion s = suggest_begin(slice_of(value));
  if (option_word(option, value, found))
    return true;
  for (int i = 0; word_of(row->value, i).at; i++)
    suggest_offer(&s, word_of(row->value, i));
  if (s.best.at)
    complain(EXIT_USAGE, "--%s=%s: did you mean `%.*s`?", row->name, value,
             SLICE_ARG(s.best));
  else
    complain_choices(row, value);
  return false;
}

bool option_number(enum option_id option, const char *value, int64_t least,
                   int64_t most, int64_t *number) {
  char *end;
  errno = 0;
  long long found = strtoll(value, &end, 10);
  bool right = *value && !*end && errno == 0 && found >= least && found <= most;
  *number = found;
  if (!right && most < INT64_MAX)
    complain(EXIT_USAGE,
             "--%s takes a number from %" PRId64 " to %" PRId64 ", not `%s`",
             rows[option].name, least, most, value);
  else if (!right)
    complain(EXIT_USAGE, "--%s takes a number from %" PRId64 ", not `%s`",
             rows[option].name, least, value);
  return right;
}
