/* Options of the command line: one table for getopt, help and completion. */
#ifndef NETC_DRIVER_OPTIONS_H
#define NETC_DRIVER_OPTIONS_H

#include "driver/command.h"

#define FOR(command) (1u << COMMAND_##command)

/* Commands that compile a net. */
#define NETS                                                       \
  (FOR(BUILD) | FOR(CHECK) | FOR(DIFF) | FOR(WEIGHTS) | FOR(RUN) | \
   FOR(VERIFY) | FOR(PARAMS) | FOR(PLACE) | FOR(FIT) | FOR(SWEEP))

enum option_id {
#define OPTION(constant, ...) OPTION_##constant,
#include "driver/options.def"
#undef OPTION
  OPTION_COUNT,
  OPTION_SETTING /* one of the library's */
};

enum option_group {
  GROUP_NONE,
  GROUP_OUTPUTS,
  GROUP_SETTINGS,
  GROUP_IMPORT,
  GROUP_DIAGNOSTICS
};

struct option_row {
  const char *name;  /* --name; NULL: there is only the letter */
  char letter;       /* -x */
  const char *value; /* what it takes: "N", "iec|si|bytes"; NULL: nothing */
  bool optional;     /* its value, after a `=` */
  const int *values; /* what each of its words stands for */
  /* Where it sets a bool, a text, or a word of so many bytes in struct
   * net_options; 0: it does not. */
  size_t flag, text, word, word_size;
  unsigned commands; /* FOR(...) those that take it */
  enum option_group group;
  const char *shown; /* in the help, instead of what the above make */
  const char *help;
};

const struct option_row *option_row(enum option_id option);

/* What the command line does with a setting besides setting it. */
struct setting_row {
  const char *name;
  const char *heading; /* of its column in a table; NULL: its name */
  bool last;           /* set when all options are read: --devices may follow */
  bool leads;          /* several values of it are a table's first column */
  bool devices;        /* it names a device, and `all` is all of them */
  bool whole;          /* from a digit on, commas are part of one value */
  unsigned hidden;     /* FOR(...) the commands whose hints never name it */
};

/* The row of settings.def; one without members for other settings. */
struct setting_row setting_row(struct slice name);

/* What stands at the left, and its explanation from `column` on. */
void put_beside(const char *left, size_t column, const char *text);

/* "-i, --in-place", "--units=iec|si|bytes": how a row is shown. */
struct option_text {
  char text[96];
};
struct option_text option_text(const struct option_row *row);

/* The same of a setting: "--batch N", "--fold on|off". */
struct option_text setting_text(const struct netc_setting *setting,
                                const struct netc_argument *argument);

/* Whether a command takes an option; all settings go to those that compile. */
bool option_taken(enum command command, const struct option_row *row);
bool settings_taken(enum command command);

/*
 * The settings that a command takes, one by one from *index on; not those
 * whose name is that of an option of its own.
 */
bool option_setting(enum command command, size_t *index,
                    struct netc_setting *setting);

/*
 * Called for each option, with its value or NULL; `name` is that of a
 * setting. Returns an exit status. getopt's `optind` is the next argument,
 * which it may take.
 */
typedef int option_fn(void *user, enum option_id option, const char *name,
                      char *value);

/* The operands after the options. */
struct operands {
  char **at;
  int count;
  int status; /* where there is nothing left to do: how to exit */
};

/*
 * Reads the command line of a command. False if that is all: --help and
 * --version have been answered, or a complaint was made. `take` may be NULL
 * for a command without options of its own.
 */
bool options_read(enum command command, int argc, char **argv, option_fn *take,
                  void *user, struct operands *operands);

/* What a word of an option stands for; false if it has no such word. */
bool option_word(enum option_id option, const char *value, int *found);

/* The same with a complaint about an unknown word. */
bool option_choose(enum option_id option, const char *value, int *found);

/* A whole number from `least` to `most`; false, and a complaint, if not. */
bool option_number(enum option_id option, const char *value, int64_t least,
                   int64_t most, int64_t *number);

#endif
