/* Options of the commands that compile a net. */
#ifndef NETC_DRIVER_NET_OPTIONS_H
#define NETC_DRIVER_NET_OPTIONS_H

#include "driver/opening.h"
#include "driver/options.h"
#include "driver/progress.h"

enum { MOST_OUTPUTS = 64, MOST_GIVEN = 1000, MOST_BESIDE = 8 };

/* A requested output: a kind and its destination. */
struct wanted {
  char kind[16];    /* "": from the path's suffix */
  const char *path; /* "-": standard output */
};

/* A parsed option. */
struct option_given {
  enum option_id option;
  const char *name;  /* only for settings */
  const char *value; /* NULL: no value */
};

/* A setting with several values: --batch 1,8,32, --gpu all. */
enum { MOST_LISTED = 4 };
struct listed {
  const char *name, *values; /* separated by commas */
};

/* Copies the first of `values` to `to`, without surrounding blanks. Returns the
 * rest, NULL after the last. */
const char *list_item(const char *values, char *to, size_t room);

/*
 * Takes several values, "4..32:4" or "1,2", of a param (OPTION_DEFINE), an
 * input (OPTION_SIZES; "" is the only one) or a setting. Returns an exit
 * status.
 */
typedef int axis_fn(void *user, enum option_id option, const char *name,
                    const char *values);

struct net_options {
  struct netc *netc; /* settings are applied at once */
  int argc;
  char **argv;
  struct operands files;
  struct option_given given[MOST_GIVEN];
  size_t given_count;
  struct wanted wanted[MOST_OUTPUTS];
  size_t wanted_count;
  const char *beside[MOST_BESIDE]; /* --beside */
  size_t beside_count;
  struct netc_options look;
  bool predict_given; /* --predict; look.predict may follow from settings */
  struct listed listed[MOST_LISTED]; /* makes a table */
  size_t listed_count;
  struct listed last;  /* set after all options, as --devices may follow */
  char devices[16384]; /* all names, for --gpu all */
  bool markdown;
  bool exit_zero;     /* differences are no failure */
  bool first_defines; /* the first -D of a name counts */
  bool other_defines; /* a name has several -D */
  const char *dump;
  const char *weights; /* for exports */
  const char *names;   /* of tensors in x.py: a file's; NULL: own names */
  int64_t opset;
  bool dynamic;          /* leaves the batch open */
  bool no_source;        /* omits the source from the model */
  enum netc_style style; /* of diagnostics */
  enum colour colour;
  bool must_fit;
  bool fix;
  bool max_input;
  bool if_changed;
  bool live;    /* the page can compile again */
  bool depfile; /* -MD or -MF */
  bool phony;   /* -MP */
  const char *dep_path, *dep_target;
  int64_t lora_values; /* of the adapter of --lora; -1: not known */
  char *lora_files[OPENING_LORA_FILES]; /* that it is in */
  struct progress_line progress;
  struct opened_file opening; /* the last compiled file */
  axis_fn *axis;   /* for commands that iterate over values; or NULL */
  option_fn *more; /* for options of only some commands */
  void *user;
};

/*
 * As options_read(), for a command that compiles. A `first_defines` that was
 * set before stays.
 */
bool net_options_read(struct net_options *options, enum command command,
                      struct netc *netc, int argc, char **argv);

/* As net_options_read(), with options of the command's own. */
bool net_options_read_more(struct net_options *options, enum command command,
                           struct netc *netc, int argc, char **argv,
                           option_fn *more, void *user);

/* True if the command iterates over these values, a range or a list. */
bool net_options_is_axis(const struct net_options *options, const char *values);

/* True for an --input that changes the compiled source, not one that an import
 * has used to make it. */
bool net_options_resizes(const struct net_options *options,
                         const struct option_given *given);

/* The only output of -o; NULL: none. "-" counts. False after a complaint about
 * several. */
bool net_options_output(const struct net_options *options, const char **path);

/* --confine: NULL is the net's own folder. Returns an exit status. */
int net_options_confine(struct netc *netc, const char *folder);

/* Complains if a setting has several values, for commands without a table. */
int net_options_single(const struct net_options *options);

/* Loads the only operand; returns an exit status. Warnings are left to `netc
 * check`. */
int net_options_load(struct net_options *options);

/*
 * Compiles a file, or the source that is made from it. Reports errors and
 * returns an exit status. The file is read once, even if it is compiled
 * again.
 */
int net_options_compile(struct net_options *options, struct netc *netc,
                        const char *path);

/* As net_options_compile(), without reporting errors of the net. */
int net_options_try(struct net_options *options, struct netc *netc,
                    const char *path, enum netc_status *loaded);

/*
 * True if a load with errors was given a setting that inference does not use:
 * that is reported, by netc_message(), in place of the errors.
 */
bool net_options_unused(const struct net_options *options, struct netc *netc,
                        enum netc_status loaded);

void net_options_close(struct net_options *options);

#endif
