/* Options of the commands that compile a net. */
#define _POSIX_C_SOURCE 200809L
#include "driver/net_options.h"
#include "driver/beside.h"
#include "driver/findings.h"
#include "driver/vary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "driver/look.h"

static int add_output(struct net_options *o, const char *kind, size_t length,
                      const char *path) {
  if (o->wanted_count == MOST_OUTPUTS)
    return complain(EXIT_USAGE, "there are more than %d outputs", MOST_OUTPUTS);
  struct wanted *wanted = &o->wanted[o->wanted_count++];
  if (length >= sizeof wanted->kind)
    length = sizeof wanted->kind - 1; /* no kind is that long */
  memcpy(wanted->kind, kind, length);
  wanted->kind[length] = '\0';
  wanted->path = path;
  return EXIT_DONE;
}

/* KIND or KIND=PATH */
static int add_emit(struct net_options *o, const char *argument) {
  size_t length = strcspn(argument, "=");
  if (length == 0)
    return complain(EXIT_USAGE, "--emit takes KIND or KIND=OUT: `--emit=json`");
  return add_output(o, argument, length,
                    argument[length] ? argument + length + 1 : "-");
}

/* True for `-D depth 3`: the value is the next argument. */
static bool is_parted(const struct net_options *o, const char *argument) {
  const char *next = optind < o->argc ? o->argv[optind] : "";
  return !strchr(argument, '=') && *next &&
         strspn(next, "0123456789.") == strlen(next);
}

/* True if an earlier -D has the same name: `-D depth=50 -D depth=101`. */
static bool was_defined(const struct net_options *o, const char *argument) {
  size_t length = strcspn(argument, "=");
  for (size_t i = 0; i + 1 < o->given_count; i++) {
    const char *text = o->given[i].value;
    if (o->given[i].option == OPTION_DEFINE && strcspn(text, "=") == length &&
        memcmp(text, argument, length) == 0)
      return true;
  }
  return false;
}

/* True for several values, if the command iterates over them. */
bool net_options_is_axis(const struct net_options *o, const char *values) {
  return o->axis && (strchr(values, ',') || strstr(values, ".."));
}

static int add_define(struct net_options *o, char *argument) {
  char *equals = strchr(argument, '=');
  if (is_parted(o, argument))
    return complain(EXIT_USAGE, "-D takes NAME=VALUE: write `-D %s=%s`",
                    argument, o->argv[optind]);
  if (equals == argument)
    return complain(EXIT_USAGE, "-D takes NAME=VALUE, not `%s`", argument);
  bool again = was_defined(o, argument);
  o->other_defines = o->other_defines || again;
  if (again && o->first_defines)
    return EXIT_DONE;
  if (equals)
    *equals = '\0';
  if (equals && net_options_is_axis(o, equals + 1)) {
    int status = o->axis(o->user, OPTION_DEFINE, argument, equals + 1);
    *equals = '=';
    return status;
  }
  enum netc_status status =
      netc_define(o->netc, argument, equals ? equals + 1 : "true");
  if (status != NETC_OK)
    complain(EXIT_USAGE, "-D %s: %s", argument, netc_message(o->netc));
  if (equals)
    *equals = '=';
  return status == NETC_OK ? EXIT_DONE : EXIT_USAGE;
}

/* --input 320x320x3, --input left=320x320x3; `used` by the import of the net's
 * file, so that the source has these sizes. */
static int set_sizes(struct net_options *o, const char *argument, bool used) {
  char name[128];
  const char *equals = strchr(argument, '=');
  size_t length = equals ? (size_t)(equals - argument) : 0;
  if (length >= sizeof name)
    return complain(EXIT_USAGE, "--input %s: no input has such a long name",
                    argument);
  memcpy(name, argument, length);
  name[length] = '\0';
  const char *sizes = equals ? equals + 1 : argument;
  if (!o->axis && strstr(sizes, "..") && strchr(sizes, ':'))
    return complain(EXIT_USAGE,
                    "--input %s: give one size, or bounds A..B; `netc sweep` "
                    "tries A..B:STEP",
                    argument);
  if (net_options_is_axis(o, sizes))
    return o->axis(o->user, OPTION_SIZES, name, sizes);
  if (netc_input_sizes(o->netc, name, used ? NULL : sizes) == NETC_OK)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--input %s: %s", argument,
                  netc_message(o->netc));
}

/* --length 512, --length 512,1024 */
static int set_length(struct net_options *o, const char *tokens) {
  if (net_options_is_axis(o, tokens))
    return o->axis(o->user, OPTION_SIZES, "*", tokens);
  if (netc_input_sizes(o->netc, "*", tokens) == NETC_OK)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--length %s: %s", tokens, netc_message(o->netc));
}

/* -MD, -MF FILE, -MT NAME, -MP: the letter, and a word for -MF and -MT. */
static int add_dependency(struct net_options *o, char *letter) {
  char *value = letter[1] ? letter + 1 : NULL;
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
                    "unknown option `-M%s`; the options for dependencies are "
                    "-MD -MF FILE -MT NAME -MP",
                    letter);
  if (!value && optind < o->argc)
    value = o->argv[optind++];
  if (!value)
    return complain(EXIT_USAGE, "-M%c needs a name after it", *letter);
  if (*letter == 'F') {
    o->depfile = true;
    o->dep_path = value;
  } else {
    o->dep_target = value;
  }
  return EXIT_DONE;
}

static int add_setting(struct net_options *o, const char *name,
                       const char *value) {
  if (netc_set(o->netc, name, value) == NETC_OK)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--%s %s: %s", name, value,
                  netc_message(o->netc));
}

struct devices_call {
  struct netc *netc;
  const char *path;
  struct arena arena;
  int status;
};

static int add_compared(struct net_options *o, const char *settings) {
  if (netc_compare(o->netc, settings) == NETC_OK)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--compare \"%s\": %s", settings,
                  netc_message(o->netc));
}

static int add_beside(struct net_options *o, const char *net) {
  if (o->beside_count == MOST_BESIDE)
    return complain(EXIT_USAGE, "--beside can be given at most %d times",
                    MOST_BESIDE);
  o->beside[o->beside_count++] = net;
  return EXIT_DONE;
}

/* --budget params=25M,arena=512KiB */
static int add_budget(struct net_options *o, const char *list) {
  static const char between[] = ", ";
  char name[32], value[64];
  if (!list[strspn(list, between)])
    return complain(EXIT_USAGE,
                    "--budget needs a limit: `--budget params=25M`");
  for (const char *at = list + strspn(list, between); *at;
       at += strspn(at, between)) {
    const char *next = at + strcspn(at, between);
    const char *equals = memchr(at, '=', (size_t)(next - at));
    size_t length = (size_t)((equals ? equals : next) - at);
    size_t rest = equals ? (size_t)(next - equals - 1) : 0;
    if (length >= sizeof name || rest >= sizeof value)
      return complain(EXIT_USAGE, "--budget %s: the budget is too long", list);
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    snprintf(value, sizeof value, "%.*s", (int)rest, equals ? equals + 1 : "");
    if (!equals && strcmp(name, "fits") == 0) /* the value is optional */
      snprintf(value, sizeof value,
               o->look.predict ? "prediction" : "training");
    if (netc_budget(o->netc, name, value) != NETC_OK)
      return complain(EXIT_USAGE, "--budget %s: %s", list,
                      netc_message(o->netc));
    at = next;
  }
  return EXIT_DONE;
}

#define BLANKS " \t"

const char *list_item(const char *values, char *to, size_t room) {
  const char *end = strchr(values, ',');
  size_t length = end ? (size_t)(end - values) : strlen(values);
  size_t blanks = strspn(values, BLANKS);
  values += blanks < length ? blanks : length;
  length -= blanks < length ? blanks : length;
  while (length > 0 && strchr(BLANKS, values[length - 1]))
    length--;
  snprintf(to, room, "%.*s", (int)length, values);
  return end ? end + 1 : NULL;
}

static int complain_of_gap(const struct listed *list, bool first, bool last) {
  return complain(EXIT_USAGE, "--%s %s: a value is missing %s", list->name,
                  list->values,
                  first  ? "before the first comma"
                  : last ? "after the last comma"
                         : "between the commas");
}

/* Checks each value; the last list of a setting counts. */
static int add_listed(struct net_options *o, const struct listed *listed) {
  char value[64];
  size_t i = 0;
  if (o->axis)
    return o->axis(o->user, OPTION_SETTING, listed->name, listed->values);
  while (i < o->listed_count && strcmp(o->listed[i].name, listed->name) != 0)
    i++;
  if (i == MOST_LISTED)
    return complain(EXIT_USAGE,
                    "--%s %s: at most %d settings can have several values",
                    listed->name, listed->values, MOST_LISTED);
  for (const char *at = listed->values; at;) {
    bool first = at == listed->values;
    at = list_item(at, value, sizeof value);
    if (!*value)
      return complain_of_gap(listed, first, !at);
    if (add_setting(o, listed->name, value) != EXIT_DONE)
      return EXIT_USAGE;
  }
  o->listed_count += i == o->listed_count;
  if (setting_row(slice_of(listed->name)).leads)
    for (; i > 0; i--)
      o->listed[i] = o->listed[i - 1];
  o->listed[i] = *listed;
  return EXIT_DONE;
}

/* Lists the names of all devices, separated by commas. */
static int add_all_devices(struct net_options *o, const char *setting) {
  struct netc_gpu gpu = {.size = sizeof gpu};
  struct listed list = {setting, o->devices};
  size_t used = 0;
  for (size_t i = 0; netc_gpu(o->netc, i, &gpu) == NETC_OK; i++) {
    used += (size_t)snprintf(o->devices + used, sizeof o->devices - used,
                             "%s%s", i ? "," : "", gpu.name);
    if (used >= sizeof o->devices)
      return complain(EXIT_USAGE,
                      "--%s all: there are too many devices; name some: --%s "
                      "rtx4090,h100",
                      setting, setting);
  }
  return add_listed(o, &list);
}

/* `--batch 1,8,32` makes a table, as does `--gpu all`. */
static int set_listed(struct net_options *o, const struct listed *given) {
  struct setting_row row = setting_row(slice_of(given->name));
  const char *value = given->values;
  bool whole = setting_is_list(given->name, value);
  bool axis = !row.last && net_options_is_axis(o, value);
  if (row.devices && strcmp(value, "all") == 0)
    return add_all_devices(o, given->name);
  return (strchr(value, ',') || axis) && !whole
             ? add_listed(o, given)
             : add_setting(o, given->name, value);
}

static int take_setting(struct net_options *o, const char *name,
                        const char *value) {
  struct listed given = {name, value};
  if (!setting_row(slice_of(name)).last)
    return set_listed(o, &given);
  o->last = given;
  return EXIT_DONE;
}

static void add_devices(void *user) {
  struct devices_call *call = user;
  struct slice text;
  enum file_status status = file_read(&call->arena, call->path, &text);
  if (status != FILE_OK)
    call->status = complain(EXIT_IO,
                            "cannot read %s: %s; --devices takes a file of "
                            "devices, not the name of a device",
                            input_name(call->path), file_reason(status).text);
  else if (netc_add_gpus(call->netc, call->path, text.at, text.length) !=
           NETC_OK)
    call->status = complain(EXIT_USAGE, "%s", netc_message(call->netc));
}

static int read_devices(struct netc *netc, const char *path) {
  struct devices_call call = {.netc = netc, .path = path};
  struct arena *const arenas[GUARD_ARENAS] = {&call.arena};
  arena_open(&call.arena, NULL, NULL);
  if (!guard_run(arenas, add_devices, &call))
    call.status = complain(EXIT_IO, "out of memory");
  arena_close(&call.arena);
  return call.status;
}

int net_options_confine(struct netc *netc, const char *folder) {
  struct stat found;
  if (folder && (stat(folder, &found) != 0 || !S_ISDIR(found.st_mode)))
    return complain(EXIT_USAGE,
                    "--confine=%s: this is not a folder; `--confine` alone "
                    "uses the net's folder",
                    folder);
  return exit_status_of(netc, netc_confine(netc, folder ? folder : ""));
}

static int set_warning(struct net_options *o, const char *option) {
  if (netc_warn(o->netc, option) == NETC_OK)
    return EXIT_DONE;
  if (strcmp(option, "all") == 0 || strcmp(option, "extra") == 0)
    return complain(EXIT_USAGE,
                    "-W%s is not needed: all warnings are on, except those "
                    "that `netc explain` marks as off",
                    option);
  return complain(EXIT_USAGE, "-W%s: %s", option, netc_message(o->netc));
}

/* 0 means "default" in the library; here it asks for totals only. */
static int set_depth(struct net_options *o, const char *value) {
  int64_t depth;
  if (!option_number(OPTION_DEPTH, value, 0, 1000, &depth))
    return EXIT_USAGE;
  o->look.depth = depth == 0 ? NETC_TOTALS_ONLY : (int)depth;
  return EXIT_DONE;
}

static void free_lora(struct net_options *o) {
  for (int i = 0; i < OPENING_LORA_FILES; i++) {
    free(o->lora_files[i]);
    o->lora_files[i] = NULL;
  }
}

/* A rank with words, or an adapter of PEFT. */
static int set_lora(struct net_options *o, const char *value) {
  struct opening_lora lora;
  o->lora_values = -1;
  free_lora(o);
  if (netc_adapters(o->netc, value) == NETC_OK)
    return EXIT_DONE;
  if (!strchr(value, '/') && !file_identify(value).known)
    return complain(EXIT_USAGE,
                    "--lora %s: %s; or the folder of an adapter of PEFT", value,
                    netc_message(o->netc));
  int status = opening_lora(value, &lora);
  memcpy(o->lora_files, lora.files, sizeof lora.files);
  if (status != EXIT_DONE)
    return status;
  o->lora_values = lora.values;
  return netc_adapters(o->netc, lora.text) == NETC_OK
             ? EXIT_DONE
             : complain(EXIT_USAGE, "--lora %s: %s: %s", value, lora.text,
                        netc_message(o->netc));
}

static int set_word(struct net_options *o, enum option_id option,
                    const char *value) {
  int found;
  if (option == OPTION_COLOR && option_word(OPTION_FILL, value, &found))
    option = OPTION_FILL; /* --color=macs is older than --fill */
  if (!option_choose(option, value, &found))
    return EXIT_USAGE;
  const struct option_row *row = option_row(option);
  char *to = (char *)o + row->word;
  if (row->word_size == sizeof(bool))
    *(bool *)to = found;
  else
    memcpy(to, &found, row->word_size);
  if (option == OPTION_DIAGNOSTICS)
    complain_as(o->style);
  return EXIT_DONE;
}

/* Options that need more than a member: options.def. */
static int call_option(struct net_options *o, enum option_id option,
                       const char *name, char *value) {
  switch (option) {
  case OPTION_OUTPUT: return add_output(o, "", 0, value);
  case OPTION_EMIT: return add_emit(o, value);
  case OPTION_DEFINE: return add_define(o, value);
  case OPTION_SIZES: return set_sizes(o, value, false);
  case OPTION_LENGTH: return set_length(o, value);
  case OPTION_VARY: return vary_set(o, value);
  case OPTION_LORA: return set_lora(o, value);
  case OPTION_INCLUDE: netc_include(o->netc, value); break;
  case OPTION_CONFINE: return net_options_confine(o->netc, value);
  case OPTION_WARNING: return set_warning(o, value);
  case OPTION_DEPENDENCIES: return add_dependency(o, value);
  case OPTION_WIDTH:
    return look_set_length(option, value, &o->look.picture_width);
  case OPTION_HEIGHT:
    return look_set_length(option, value, &o->look.picture_height);
  case OPTION_DEPTH: return set_depth(o, value);
  case OPTION_COLUMNS: return look_set_columns(&o->look, value);
  case OPTION_SORT: return look_set_sort(&o->look, value);
  case OPTION_TOP: return look_set_top(&o->look, OPTION_TOP, value);
  case OPTION_UNFOLD: return look_set_unfold(&o->look, value);
  case OPTION_BUDGET: return add_budget(o, value);
  case OPTION_COMPARE: return add_compared(o, value);
  case OPTION_BESIDE: return add_beside(o, value);
  case OPTION_DEVICES: return read_devices(o->netc, value);
  case OPTION_SETTING: return take_setting(o, name, value);
  case OPTION_DIM:
  case OPTION_ARG:
  case OPTION_VALUE:
  case OPTION_PARAMETER:
  case OPTION_ASSUME_BN:
  case OPTION_AS:
  case OPTION_ALLOW_UNKNOWN: break; /* handled by opening_import() */
  default: return o->more(o->user, option, name, value);
  }
  return EXIT_DONE;
}

/* True if the library takes the value. */
static bool takes_value(const char *setting, const char *value) {
  struct netc *scratch = netc_open(NULL, NULL);
  bool right = scratch && netc_set(scratch, setting, value) == NETC_OK;
  netc_close(scratch);
  return right;
}

/* `nvfp4,head` is one list of parts; `nvfp4,fp8` are types for a table. */
static void join_parts(char *value) {
  char *comma;
  char kept[200];
  if (strlen(value) >= sizeof kept)
    return;
  strcpy(kept, value);
  while ((comma = strchr(value, ',')))
    *comma = ' ';
  if (!takes_value("weight_dtype", value))
    strcpy(value, kept);
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct net_options *o = user;
  if (option == OPTION_SETTING && strcmp(name, "weight-dtype") == 0)
    join_parts(value);
  if (o->given_count == MOST_GIVEN)
    return complain(EXIT_USAGE, "there are more than %d options", MOST_GIVEN);
  o->given[o->given_count++] = (struct option_given){option, name, value};
  const struct option_row *row =
      option < OPTION_COUNT ? option_row(option) : NULL;
  if (row && row->flag)
    *(bool *)((char *)o + row->flag) = true;
  else if (row && row->text)
    *(const char **)((char *)o + row->text) = value;
  else if (row && row->word)
    return set_word(o, option, value);
  else
    return call_option(o, option, name, value);
  return EXIT_DONE;
}

bool net_options_read(struct net_options *options, enum command command,
                      struct netc *netc, int argc, char **argv) {
  return net_options_read_more(options, command, netc, argc, argv, NULL, NULL);
}

bool net_options_output(const struct net_options *options, const char **path) {
  *path = options->wanted_count ? options->wanted[0].path : NULL;
  if (options->wanted_count > 1)
    complain(EXIT_USAGE, "one output at a time: `%s` and `%s`",
             options->wanted[0].path, options->wanted[1].path);
  return options->wanted_count < 2;
}

/* Refuses options for files of other frameworks if there is only a source. */
static int refuse_import_options(const struct net_options *o) {
  for (size_t i = 0; i < o->given_count && o->files.count == 1; i++) {
    enum option_id option = o->given[i].option;
    if (option < OPTION_COUNT && option_row(option)->group == GROUP_IMPORT)
      return complain(EXIT_USAGE,
                      "--%s needs a file of another framework, but %s is a "
                      "netc source",
                      option_row(option)->name, input_name(o->opening.path));
  }
  return EXIT_DONE;
}

static bool has_given(const struct net_options *o, enum option_id option) {
  for (size_t i = 0; i < o->given_count; i++)
    if (o->given[i].option == option)
      return true;
  return false;
}

/* Who adds adapters asks about training, which `--weight-dtype` does not. */
static void note_base(const struct net_options *o, const char *path) {
  const char *type = NULL;
  for (size_t i = 0; i < o->given_count; i++)
    if (o->given[i].option == OPTION_SETTING &&
        strcmp(o->given[i].name, "weight-dtype") == 0)
      type = o->given[i].value;
  if (type && has_given(o, OPTION_LORA) && o->look.predict &&
      !o->predict_given && takes_value("base", type))
    say_note(path, NULL,
             "--weight-dtype asks about inference; `--base %s` instead trains "
             "the adapters beside weights in that type",
             type);
}

bool net_options_resizes(const struct net_options *o,
                         const struct option_given *given) {
  bool used = false;
  for (size_t i = 0; i < o->opening.sizes.count && !used; i++)
    used = o->opening.sizes.at[i] == given->value;
  return given->option == OPTION_SIZES && !used;
}

/* Imports a file of another framework, and leaves the library only those sizes
 * that the import has not used. */
static int import_net(struct net_options *o) {
  bool source = o->opening.kind == KIND_COUNT;
  int status = source ? refuse_import_options(o)
                      : opening_import(&o->opening, o->given, o->given_count);
  for (size_t i = 0; i < o->given_count && status == EXIT_DONE; i++) {
    const struct option_given *given = &o->given[i];
    if (given->option == OPTION_SIZES && !net_options_is_axis(o, given->value))
      status = set_sizes(o, given->value, !net_options_resizes(o, given));
  }
  return status;
}

/* Layers that the adapter was trained without, or that netc does not adapt. */
static void note_adapter(struct net_options *o, struct netc *netc,
                         const char *path) {
  struct netc_totals totals = {.size = sizeof totals};
  if (!has_given(o, OPTION_LORA) || o->lora_values < 0 ||
      netc_totals(netc, &totals) != NETC_OK)
    return;
  if (totals.trainable_count != o->lora_values)
    say_note(path, NULL,
             "the adapter has %" PRId64 " values, but `--lora` adds %" PRId64
             " to this net: it was trained for another net, or for other "
             "layers of it",
             o->lora_values, totals.trainable_count);
  o->lora_values = -1;
}

int net_options_try(struct net_options *options, struct netc *netc,
                    const char *path, enum netc_status *loaded) {
  struct opened_file *opening = &options->opening;
  int status = EXIT_DONE;
  if (!opening->open || strcmp(opening->operand, path) != 0) {
    status = opening_open(opening, path);
    if (status == EXIT_DONE)
      status = import_net(options);
    if (status == EXIT_DONE)
      status = beside_load_parts(options, netc);
    if (status != EXIT_DONE) {
      opening_close(opening);
      return status;
    }
  }
  if (opening->kind == KIND_CONFIG && has_given(options, OPTION_DEFINE))
    return complain(
        EXIT_USAGE,
        "-D sets a `param` of a source, and %s has none: change its "
        "keys, or edit what `netc import %s -o x.net` writes",
        path, shell_word("%s", path).text);
  const char *name = input_name(opening->path);
  *loaded = netc_load_text(netc, name, opening->text.at, opening->text.length);
  progress_erase(&options->progress);
  options->look.predict = options->predict_given || netc_asks_inference(netc);
  note_base(options, path);
  if (*loaded == NETC_OK)
    note_adapter(options, netc, path);
  return EXIT_DONE;
}

bool net_options_unused(const struct net_options *options, struct netc *netc,
                        enum netc_status loaded) {
  return loaded == NETC_ERROR && options->look.predict &&
         netc_uses(netc, "answer", true) == NETC_USAGE;
}

int net_options_compile(struct net_options *options, struct netc *netc,
                        const char *path) {
  enum netc_status loaded;
  int status = net_options_try(options, netc, path, &loaded);
  if (status != EXIT_DONE)
    return status;
  if (net_options_unused(options, netc, loaded))
    return exit_status_of(netc, NETC_USAGE);
  if (loaded != NETC_OK)
    show_diagnostics(netc, options->style);
  return exit_status_of(netc, loaded);
}

void net_options_close(struct net_options *options) {
  opening_close(&options->opening);
  free_lora(options);
}

int net_options_single(const struct net_options *options) {
  if (options->listed_count == 0)
    return EXIT_DONE;
  return complain(
      EXIT_USAGE,
      "--%s takes one value here; `netc FILE.net` makes a table of several",
      options->listed[0].name);
}

int net_options_load(struct net_options *options) {
  const struct operands *files = &options->files;
  if (files->count > 1)
    return complain(EXIT_USAGE, "one net at a time: `%s` and `%s`",
                    files->at[0], files->at[1]);
  if (net_options_single(options) != EXIT_DONE)
    return EXIT_USAGE;
  return net_options_compile(options, options->netc, files->at[0]);
}

bool net_options_read_more(struct net_options *options, enum command command,
                           struct netc *netc, int argc, char **argv,
                           option_fn *more, void *user) {
  *options = (struct net_options){.first_defines = options->first_defines,
                                  .opset = options->opset,
                                  .axis = options->axis,
                                  .netc = netc,
                                  .argc = argc,
                                  .argv = argv,
                                  .look = {.size = sizeof options->look},
                                  .more = more,
                                  .user = user};
  const char *word = command_row(command)->word;
  struct operands *files = &options->files;
  if (!options_read(command, argc, argv, take, options, files))
    return false;
  options->predict_given = options->look.predict;
  if (options->last.name)
    files->status = set_listed(options, &options->last);
  if (files->status != EXIT_DONE)
    return false;
  if (command != COMMAND_CHECK && (int)options->style > NETC_STYLE_JSON) {
    files->status =
        complain(EXIT_USAGE, "only `netc check` writes SARIF and JUnit; "
                             "--diagnostics=json works here");
    return false;
  }
  progress_open(&options->progress, netc);
  if (options->style == NETC_STYLE_TEXT)
    options->style = style_of(options->colour);
  if (files->count > 0 && files->status == EXIT_DONE)
    files->status = beside_load(options);
  if (files->status != EXIT_DONE)
    return false;
  if (files->count == 0)
    files->status =
        complain(EXIT_USAGE, "no file to compile; see `netc%s%s --help`",
                 *word ? " " : "", word);
  return files->count > 0;
}
