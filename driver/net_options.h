/* Options of the commands that compile a net. */
#ifndef NETC_DRIVER_NET_OPTIONS_H
#define NETC_DRIVER_NET_OPTIONS_H

#include "driver/opening.h"
#include "driver/options.h"
#include "driver/progress.h"

enum { MOST_OUTPUTS = 64, MOST_GIVEN = 1000 };

/* An output that was asked for: a kind, and where it goes. */
struct wanted {
  char kind[16];    /* empty: by the path's suffix */
  const char *path; /* "-": standard output */
};

/* An option as it was read. */
struct option_given {
  enum option_id option;
  const char *name;  /* of a setting */
  const char *value; /* NULL: it takes none */
};

/* A setting with several values: --batch 1,8,32, --gpu all. */
enum { MOST_LISTED = 4 };
struct listed {
  const char *name, *values; /* apart by commas */
};

/* The first of `values` into `to`, without blanks about it; what follows it,
 * NULL after the last. */
const char *list_item(const char *values, char *to, size_t room);

/*
 * Takes several values, "4..32:4" or "1,2": of a param (OPTION_DEFINE), an
 * input (OPTION_SIZES; "" is the only one) or a setting. An exit status.
 */
typedef int axis_fn(void *user, enum option_id option, const char *name,
                    const char *values);

struct net_options {
  struct netc *netc; /* settings go straight to it */
  int argc;
  char **argv;
  struct operands files;
  struct option_given given[MOST_GIVEN];
  size_t given_count;
  struct wanted wanted[MOST_OUTPUTS];
  size_t wanted_count;
  struct netc_options look;
  struct listed listed[MOST_LISTED]; /* a table */
  size_t listed_count;
  struct listed last;  /* set when all is read: --devices may follow */
  char devices[16384]; /* the names of all, for --gpu all */
  bool markdown;
  bool exit_zero;     /* differences are no failure */
  bool first_defines; /* of several -D of a name the first counts */
  bool other_defines; /* there were several */
  const char *dump;
  const char *weights; /* for what is exported */
  const char *names;   /* of tensors in x.py: a file's; NULL: its own */
  int64_t opset;
  bool dynamic;          /* its batch is left open */
  bool no_source;        /* it does not keep its source */
  enum netc_style style; /* of diagnostics */
  enum colour colour;
  bool must_fit;
  bool fix;
  bool max_input;
  bool if_changed;
  bool live;    /* the page compiles again */
  bool depfile; /* -MD or -MF */
  bool phony;   /* -MP */
  const char *dep_path, *dep_target;
  struct progress_line progress;
  struct opened_file opening; /* the file that was compiled last */
  axis_fn *axis;   /* of a command that runs through values; or NULL */
  option_fn *more; /* for options that not all of these commands have */
  void *user;
};

/*
 * As options_read does, for a command that compiles. What is
 * set in `first_defines` before stays.
 */
bool net_options_read(struct net_options *options, enum command command,
                      struct netc *netc, int argc, char **argv);

/* The same with options of the command's own. */
bool net_options_read_more(struct net_options *options, enum command command,
                           struct netc *netc, int argc, char **argv,
                           option_fn *more, void *user);

/* True if a command with axes takes these values as a range or a list. */
bool net_options_is_axis(const struct net_options *options, const char *values);

/* The one output that -o names; NULL: none, "-" included if it is said. False
 * and a complaint if there are several. */
bool net_options_output(const struct net_options *options, const char **path);

/* --confine: NULL is the net's own folder; an exit status. */
int net_options_confine(struct netc *netc, const char *folder);

/* A complaint if a setting has several values, where there is no table. */
int net_options_single(const struct net_options *options);

/* Loads the one net that is an operand; an exit status. It is used here, not
 * judged: warnings are for `netc check`. */
int net_options_load(struct net_options *options);

/*
 * Compiles a file, or what it becomes as a source: an exit status. What keeps
 * it from that is said. The file is read once, however often it is compiled.
 */
int net_options_compile(struct net_options *options, struct netc *netc,
                        const char *path);

/* The same, and what keeps the net from being compiled is not said. */
int net_options_try(struct net_options *options, struct netc *netc,
                    const char *path, enum netc_status *loaded);

void net_options_close(struct net_options *options);

#endif
