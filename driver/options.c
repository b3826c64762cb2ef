/* Options of the command line: one table for getopt, --help and the manual. */
#define _GNU_SOURCE
#include "driver/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

enum choice {
  CHOOSE_OUTPUT = 'o',
  CHOOSE_DEFINE = 'D',
  CHOOSE_INCLUDE = 'I',
  CHOOSE_WARNING = 'W',
  CHOOSE_DEPENDENCY = 'M',
  CHOOSE_HELP = 'h',
  CHOOSE_EMIT = 256,
  CHOOSE_UNITS,
  CHOOSE_LAYOUT,
  CHOOSE_DEPTH,
  CHOOSE_EXPAND,
  CHOOSE_EXPLAIN,
  CHOOSE_ASCII,
  CHOOSE_DIAGNOSTICS,
  CHOOSE_IF_CHANGED,
  CHOOSE_DUMP,
  CHOOSE_VERSION,
  CHOOSE_SETTING,
  CHOOSE_TIMELINE,
};

static const struct option long_options[] = {
    {"emit", required_argument, NULL, CHOOSE_EMIT},
    {"units", required_argument, NULL, CHOOSE_UNITS},
    {"layout", required_argument, NULL, CHOOSE_LAYOUT},
    {"depth", required_argument, NULL, CHOOSE_DEPTH},
    {"expand", no_argument, NULL, CHOOSE_EXPAND},
    {"explain", no_argument, NULL, CHOOSE_EXPLAIN},
    {"ascii", no_argument, NULL, CHOOSE_ASCII},
    {"diagnostics", required_argument, NULL, CHOOSE_DIAGNOSTICS},
    {"write-if-changed", no_argument, NULL, CHOOSE_IF_CHANGED},
    {"dump", required_argument, NULL, CHOOSE_DUMP},
    {"help", no_argument, NULL, CHOOSE_HELP},
    {"version", no_argument, NULL, CHOOSE_VERSION},
    {"batch", required_argument, NULL, CHOOSE_SETTING},
    {"optimizer", required_argument, NULL, CHOOSE_SETTING},
    {"dtype", required_argument, NULL, CHOOSE_SETTING},
    {"precision", required_argument, NULL, CHOOSE_SETTING},
    {"loss", required_argument, NULL, CHOOSE_SETTING},
    {"misc", required_argument, NULL, CHOOSE_SETTING},
    {"rule", required_argument, NULL, CHOOSE_SETTING},
    {"profile", required_argument, NULL, CHOOSE_SETTING},
    {"accumulate", required_argument, NULL, CHOOSE_SETTING},
    {"checkpoint", required_argument, NULL, CHOOSE_SETTING},
    {"memory", required_argument, NULL, CHOOSE_SETTING},
    {"gpu", required_argument, NULL, CHOOSE_SETTING},
    {"data-parallel", required_argument, NULL, CHOOSE_SETTING},
    {"zero", required_argument, NULL, CHOOSE_SETTING},
    {"tensor-parallel", required_argument, NULL, CHOOSE_SETTING},
    {"pipeline", required_argument, NULL, CHOOSE_SETTING},
    {"microbatches", required_argument, NULL, CHOOSE_SETTING},
    {"schedule", required_argument, NULL, CHOOSE_SETTING},
    {"fold", required_argument, NULL, CHOOSE_SETTING},
    {"align", required_argument, NULL, CHOOSE_SETTING},
    {"decode", required_argument, NULL, CHOOSE_SETTING},
    {"timeline", no_argument, NULL, CHOOSE_TIMELINE},
    {"inplace", required_argument, NULL, CHOOSE_SETTING},
    {NULL, 0, NULL, 0},
};

void put_help(FILE *file) {
  fputs(
      "netc: the compiler for neural-network architectures\n"
      "\n"
      "  netc [options] FILE.net [-o OUT]...   compile; without -o, a report\n"
      "  netc check FILE.net...                only diagnose\n"
      "  netc fmt [-i | --check] FILE.net...   rewrite canonically\n"
      "  netc plan FILE.csv [--capacity N]     an arena for a table of "
      "buffers\n"
      "  netc layers [NAME]                    the layers and their options\n"
      "  netc explain [SLUG]                   what a diagnostic means\n"
      "\n"
      "Outputs\n"
      "  -o OUT, --emit=KIND[=OUT]   by suffix or kind: txt json csv md net\n"
      "                              dot svg png pdf; - is standard output\n"
      "  -MD -MF FILE -MT NAME -MP   dependencies for make and Ninja\n"
      "  --write-if-changed          leave an equal file untouched\n"
      "  --units=iec|si|bytes  --layout=hwc|chw  --depth N  --expand\n"
      "  --explain                   every number with its formula\n"
      "  --ascii                     no other characters in reports\n"
      "  --timeline                  in JSON: memory after every operation\n"
      "Settings, before those of the file\n"
      "  -D NAME=VALUE               the value of a `param`\n"
      "  -I FOLDER                   where `use` looks for files\n"
      "  --batch N  --optimizer NAME  --dtype TYPE  --precision full|mixed\n"
      "  --loss NAME  --inplace on|off  --misc BYTES  --rule optimizer|x3\n"
      "  --profile torch2-cuda|torch1-cpu   whose memory is computed\n"
      "  --memory SIZE  --gpu NAME   does a training step fit? --accumulate N\n"
      "  --checkpoint N|auto         segments that keep only their inputs\n"
      "  --data-parallel N  --zero 1|2|3  --tensor-parallel N\n"
      "  --pipeline N  --microbatches N  --schedule pipedream|gpipe\n"
      "  --decode N  --fold on|off  --align N   at prediction\n"
      "Diagnostics\n"
      "  -WSLUG -Wno-SLUG -Werror -Werror=SLUG\n"
      "  --diagnostics=text|json     how they are written\n"
      "  --dump=tokens|ast|graph|shapes|plan\n"
      "\n"
      "Exit status: 0 compiled, 1 error or broken budget in the source,\n"
      "2 usage, 3 files, 4 a bug of ours. Manual: man netc, docs/.\n",
      file);
}

static int unknown_option(const char *argument) {
  struct slice name = slice_of(argument);
  while (name.length && *name.at == '-') {
    name.at++;
    name.length--;
  }
  const char *equals = memchr(name.at, '=', name.length);
  if (equals)
    name.length = (size_t)(equals - name.at);
  struct suggestion s = suggest_begin(name);
  for (const struct option *o = long_options; o->name; o++)
    suggest_offer(&s, slice_of(o->name));
  if (s.best.at)
    return complain(EXIT_USAGE, "unknown option `%s`; did you mean `--%.*s`?",
                    argument, SLICE_ARG(s.best));
  return complain(EXIT_USAGE, "unknown option `%s`; see `netc --help`",
                  argument);
}

/* The place of a word among those an option takes; -1: complained. */
static int choose(const char *option, const char *value,
                  const char *const *words) {
  struct suggestion s = suggest_begin(slice_of(value));
  for (int i = 0; words[i]; i++) {
    if (strcmp(words[i], value) == 0)
      return i;
    suggest_offer(&s, slice_of(words[i]));
  }
  if (s.best.at)
    complain(EXIT_USAGE, "--%s=%s: did you mean `%.*s`?", option, value,
             SLICE_ARG(s.best));
  else
    complain(EXIT_USAGE, "--%s takes %s%s%s%s%s, not `%s`", option, words[0],
             words[1] ? " or " : "", words[1] ? words[1] : "",
             words[1] && words[2] ? " or " : "",
             words[1] && words[2] ? words[2] : "", value);
  return -1;
}

static int add_output(struct options *o, const char *kind, size_t length,
                      const char *path) {
  if (o->wanted_count == MOST_OUTPUTS)
    return complain(EXIT_USAGE, "more than %d outputs", MOST_OUTPUTS);
  struct wanted *wanted = &o->wanted[o->wanted_count++];
  if (length >= sizeof wanted->kind)
    length = sizeof wanted->kind - 1; /* no kind is that long */
  memcpy(wanted->kind, kind, length);
  wanted->kind[length] = '\0';
  wanted->path = path;
  return EXIT_DONE;
}

/* KIND or KIND=PATH */
static int add_emit(struct options *o, const char *argument) {
  size_t length = strcspn(argument, "=");
  return add_output(o, argument, length,
                    argument[length] ? argument + length + 1 : "-");
}

static int add_define(struct netc *netc, char *argument) {
  char *equals = strchr(argument, '=');
  if (equals)
    *equals = '\0';
  enum netc_status status =
      netc_define(netc, argument, equals ? equals + 1 : "true");
  if (status != NETC_OK)
    complain(EXIT_USAGE, "-D %s: %s", argument, netc_message(netc));
  if (equals)
    *equals = '=';
  return status == NETC_OK ? EXIT_DONE : EXIT_USAGE;
}

static int set_depth(struct options *o, const char *value) {
  char *end;
  long depth = strtol(value, &end, 10);
  if (*end || end == value || depth < 0 || depth > 1000)
    return complain(EXIT_USAGE,
                    "--depth takes a number from 0 to 1000, not "
                    "`%s`",
                    value);
  o->look.depth = (int)depth;
  return EXIT_DONE;
}

/* -MD, -MF FILE, -MT NAME, -MP: the letter, and for two of them a word. */
static int add_dependency(struct options *o, const char *letter, int argc,
                          char **argv) {
  const char *value = letter[1] ? letter + 1 : NULL;
  if (*letter == 'D' && !value) {
    o->depfile = true;
    return EXIT_DONE;
  }
  if (*letter == 'P' && !value) {
    o->phony = true;
    return EXIT_DONE;
  }
  if (*letter != 'F' && *letter != 'T')
    return complain(EXIT_USAGE,
                    "unknown option `-M%s`; there are -MD "
                    "-MF FILE -MT NAME -MP",
                    letter);
  if (!value && optind < argc)
    value = argv[optind++];
  if (!value)
    return complain(EXIT_USAGE, "-M%c needs a name behind it", *letter);
  if (*letter == 'F') {
    o->depfile = true;
    o->dep_path = value;
  } else {
    o->dep_target = value;
  }
  return EXIT_DONE;
}

static int add_setting(struct netc *netc, const char *key, const char *value) {
  if (netc_set(netc, key, value) == NETC_OK)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--%s %s: %s", key, value, netc_message(netc));
}

static int set_word(struct options *o, int choice, const char *value) {
  static const char *const units[] = {"iec", "si", "bytes", NULL};
  static const char *const layouts[] = {"hwc", "chw", NULL};
  static const char *const styles[] = {"text", "json", NULL};
  int index = choice == CHOOSE_UNITS    ? choose("units", value, units)
              : choice == CHOOSE_LAYOUT ? choose("layout", value, layouts)
                                        : choose("diagnostics", value, styles);
  if (index < 0)
    return EXIT_USAGE;
  if (choice == CHOOSE_UNITS)
    o->look.units = (enum netc_units)index;
  else if (choice == CHOOSE_LAYOUT)
    o->look.channels_first = index == 1;
  else
    o->display.json = index == 1;
  return EXIT_DONE;
}

static int take_option(struct options *o, struct netc *netc, int choice,
                       const char *name, int argc, char **argv) {
  switch (choice) {
  case CHOOSE_OUTPUT: return add_output(o, "", 0, optarg);
  case CHOOSE_EMIT: return add_emit(o, optarg);
  case CHOOSE_DEFINE: return add_define(netc, optarg);
  case CHOOSE_INCLUDE: netc_include(netc, optarg); return EXIT_DONE;
  case CHOOSE_WARNING:
    if (netc_warn(netc, optarg) == NETC_OK)
      return EXIT_DONE;
    return complain(EXIT_USAGE, "-W%s: %s", optarg, netc_message(netc));
  case CHOOSE_DEPENDENCY: return add_dependency(o, optarg, argc, argv);
  case CHOOSE_UNITS:
  case CHOOSE_LAYOUT:
  case CHOOSE_DIAGNOSTICS: return set_word(o, choice, optarg);
  case CHOOSE_DEPTH: return set_depth(o, optarg);
  case CHOOSE_EXPAND: o->look.expand = true; return EXIT_DONE;
  case CHOOSE_EXPLAIN: o->look.explain = true; return EXIT_DONE;
  case CHOOSE_ASCII: o->look.ascii = true; return EXIT_DONE;
  case CHOOSE_IF_CHANGED: o->if_changed = true; return EXIT_DONE;
  case CHOOSE_DUMP: o->dump = optarg; return EXIT_DONE;
  case CHOOSE_HELP: o->help = true; return EXIT_DONE;
  case CHOOSE_VERSION: o->version = true; return EXIT_DONE;
  case CHOOSE_TIMELINE: return add_setting(netc, "timeline", "on");
  default: return add_setting(netc, name, optarg);
  }
}

int read_options(struct options *o, struct netc *netc, int argc, char **argv) {
  int status = EXIT_DONE;
  opterr = 0;
  optind = 1;
  while (status == EXIT_DONE) {
    int index = -1, at = optind;
    int choice = getopt_long(argc, argv, ":o:D:I:W:M:h", long_options, &index);
    if (choice == -1)
      break;
    if (choice == ':')
      status = complain(EXIT_USAGE, "`%s` needs a value behind it",
                        argv[optind - 1]);
    else if (choice == '?')
      status = unknown_option(argv[optind > at ? optind - 1 : at]);
    else
      status =
          take_option(o, netc, choice,
                      index >= 0 ? long_options[index].name : "", argc, argv);
  }
  if (status != EXIT_DONE || o->help || o->version)
    return status;
  if (optind == argc)
    return complain(EXIT_USAGE, "no file to compile; see `netc --help`");
  o->files = argv + optind;
  o->file_count = argc - optind;
  return EXIT_DONE;
}
