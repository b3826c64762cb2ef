/* Options of the command line: a single table for getopt, help and
 * completion. */
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
  OPTION_SETTING /* a setting of the library */
};

enum option_group {
  GROUP_NONE,
  GROUP_OUTPUTS,
  GROUP_SETTINGS,
  GROUP_IMPORT,
  GROUP_DIAGNOSTICS
};

struct option_row {
  const char *name;  /* --name; NULL: only a letter */
  char letter;       /* -x */
  const char *value; /* value: "N", "iec|si|bytes"; NULL: none */
  bool optional;     /* the value is optional, after `=` */
  const int *values; /* values of its words */
  /* Offsets in struct net_options of a bool, a text, or a word with its size;
   * 0: none. */
  size_t flag, text, word, word_size;
  unsigned commands; /* commands that take it: FOR(...) */
  enum option_group group;
  const char *needs;    /* "from FILE": the option that it needs; or NULL */
  const char *excludes; /* options that do not go together with it; or NULL */
  const char *replaced; /* an old spelling, which no list shows, and the new */
  const char *shown;    /* text for the help, in place of the generated one */
  const char *help;
};

const struct option_row *option_row(enum option_id option);

/* Special handling of a setting by the command line. */
struct setting_row {
  const char *name;
  const char *heading; /* heading of its column in tables; NULL: its name */
  bool last;           /* set after all options, as --devices may follow */
  bool leads;          /* with several values, the first column of tables */
  bool devices;        /* names a device; `all` stands for all of them */
  unsigned hidden;     /* commands whose hints never mention it: FOR(...) */
};

/* Row of a setting in settings.def; empty for other settings. */
struct setting_row setting_row(struct slice name);

/* True if the value is one list, not several values of a table: `--cut 4,4` */
bool setting_is_list(const char *name, const char *value);

/* Prints `left`, and `text` from `column` on. */
void put_beside(const char *left, size_t column, const char *text);

/* "-i, --in-place", "--units=iec|si|bytes": a row in the help. */
struct option_text {
  char text[96];
};
struct option_text option_text(const struct option_row *row);

/* A setting in the help: "--batch N", "--fold on|off". */
struct option_text setting_text(const struct netc_setting *setting,
                                const struct netc_argument *argument);

/* True if a command takes settings, as all do that compile. */
bool settings_taken(enum command command);

/* True if a command takes an option and lists show it: no old spelling. */
bool option_listed(enum command command, const struct option_row *row);

/* The next setting for a list, from *index on: without old ones. */
bool setting_listed(size_t *index, struct netc_setting *setting);

/*
 * The next setting of a command for a list, from *index on. Omits old ones, and
 * settings with the name of one of its own options.
 */
bool option_setting(enum command command, size_t *index,
                    struct netc_setting *setting);

/*
 * Called for each option with its value or NULL; `name` is that of a setting.
 * Returns an exit status. May take the next argument, at getopt's `optind`.
 */
typedef int option_fn(void *user, enum option_id option, const char *name,
                      char *value);

/* Operands after the options. */
struct operands {
  char **at;
  int count;
  int status; /* exit status, if options_read() returns false */
};

/*
 * Parses the command line of a command. False if nothing is left to do: --help
 * and --version were answered, or a complaint was made. `take` may be NULL for
 * a command without its own options.
 */
bool options_read(enum command command, int argc, char **argv, option_fn *take,
                  void *user, struct operands *operands);

/* Value of an option's word; false if it has no such word. */
bool option_word(enum option_id option, const char *value, int *found);

/* As option_word(), with a complaint about an unknown word. */
bool option_choose(enum option_id option, const char *value, int *found);

/* An integer from `least` to `most`; false after a complaint. */
bool option_number(enum option_id option, const char *value, int64_t least,
                   int64_t most, int64_t *number);

#endif
