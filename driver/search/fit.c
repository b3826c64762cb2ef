/* netc fit: its options and the free axes. */
#include "driver/search/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

/* Turns "[18 34 50]" into a list; "1..8" stays. */
static char *allowed_values(const char *allowed) {
  size_t length = strlen(allowed);
  char *values = malloc(length + 1);
  if (!values)
    return NULL;
  bool list = *allowed == '[';
  snprintf(values, length + 1, "%.*s", (int)(list ? length - 2 : length),
           allowed + list);
  for (char *at = values; *at; at++)
    if (*at == ' ')
      *at = ',';
  return values;
}

static bool find_param(struct netc *netc, const char *name,
                       struct netc_param *p) {
  for (size_t i = 0; netc_param(netc, i, p) == NETC_OK; i++)
    if (strcmp(p->name, name) == 0)
      return true;
  return false;
}

static bool is_setting(char *name) {
  struct netc_setting setting = {.size = sizeof setting};
  for (char *at = name; *at; at++)
    *at = *at == '-' ? '_' : *at;
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++)
    if (strcmp(setting.name, name) == 0)
      return true;
  return false;
}

static bool is_input(struct netc *netc, const char *name) {
  struct netc_end end = {.size = sizeof end};
  for (size_t i = 0; netc_input(netc, i, &end) == NETC_OK; i++)
    if (strcmp(end.name, name) == 0)
      return true;
  return false;
}

static int complain_of_free(struct fit_search *s, const char *argument,
                            const char *name) {
  struct suggestion found = suggest_begin(slice_of(name));
  struct netc_param p = {.size = sizeof p};
  for (size_t i = 0; netc_param(s->bench.netc, i, &p) == NETC_OK; i++)
    suggest_offer(&found, slice_of(p.name));
  suggest_offer(&found, slice_of("input"));
  if (found.best.at)
    return complain(EXIT_USAGE,
                    "--free %s: the source has no `param %s`; did you mean "
                    "`%.*s`?",
                    argument, name, SLICE_ARG(found.best));
  return complain(EXIT_USAGE,
                  "--free %s: the source has no `param %s` and no such "
                  "input; `input` is the side of the input, `netc params %s` "
                  "lists params",
                  argument, name, s->options->files.at[0]);
}

/* NAME=VALUES, or NAME alone for a parameter that the source limits. */
static int free_one(struct fit_search *s, const char *argument, char **owned) {
  char name[AXIS_VALUE];
  struct netc_param p = {.size = sizeof p};
  size_t length = strcspn(argument, "=");
  const char *values = argument[length] ? argument + length + 1 : "";
  if (length == 0 || length >= sizeof name)
    return complain(EXIT_USAGE, "--free takes NAME=A..B, not `%s`", argument);
  snprintf(name, sizeof name, "%.*s", (int)length, argument);
  bool param = find_param(s->bench.netc, name, &p);
  bool only = !param && strcmp(name, "input") == 0;
  bool input = !param && !only && is_input(s->bench.netc, name);
  enum axis_kind kind = param           ? AXIS_PARAM
                        : only || input ? AXIS_INPUT
                                        : AXIS_SETTING;
  if (kind == AXIS_SETTING && !is_setting(name))
    return complain_of_free(s, argument, name);
  if (!*values && param && *p.allowed)
    values = *owned = allowed_values(p.allowed);
  if (!values)
    return complain(EXIT_IO, "out of memory");
  if (!*values)
    return complain(EXIT_USAGE, "--free %s: give its values, `--free %s=A..B`",
                    argument, name);
  int status = space_add(&s->space, kind, name, values);
  if (status == EXIT_DONE && input)
    snprintf(s->space.axes[s->space.count - 1].target, AXIS_VALUE, "%s", name);
  return status;
}

static int fit(struct fit_search *s) {
  char *owned[MOST_AXES] = {NULL};
  int status = EXIT_DONE;
  if (s->free_count == 0)
    return complain(
        EXIT_USAGE,
        "--free is missing: `--free width=1..256` for a `param width`, or "
        "`--free input=48..256:16`");
  if (s->front.goals.count == 0)
    return complain(EXIT_USAGE, "the goal is missing: `--maximize macs`");
  struct space none = {.count = 0};
  status = bench_open(&s->bench, s->options, &none);
  for (size_t i = 0; i < s->free_count && status == EXIT_DONE; i++)
    status = free_one(s, s->free[i], &owned[i]);
  if (status == EXIT_DONE)
    status = fit_plan(s);
  s->front.axes = s->space.count;
  if (status == EXIT_DONE)
    status = bench_open(&s->bench, s->options, &s->space);
  if (status == EXIT_DONE)
    status = fit_search(s);
  if (status == EXIT_DONE)
    status = fit_answer(s);
  for (size_t i = 0; i < s->free_count; i++)
    free(owned[i]);
  front_close(&s->front);
  return status;
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct fit_search *s = user;
  (void)name;
  if (option == OPTION_MAXIMIZE)
    return goals_read(&s->front.goals, value);
  if (option == OPTION_EXHAUSTIVE)
    s->exhaustive = true;
  if (option != OPTION_FREE)
    return EXIT_DONE;
  if (s->free_count == MOST_AXES)
    return complain(EXIT_USAGE, "at most %d names can be free", MOST_AXES);
  s->free[s->free_count++] = value;
  return EXIT_DONE;
}

int command_fit(int argc, char **argv) {
  struct net_options options = {.argc = 0};
  struct fit_search *s = calloc(1, sizeof *s);
  struct netc *netc = netc_open(NULL, NULL);
  int status = EXIT_IO;
  if (!netc || !s) {
    complain(EXIT_IO, "out of memory");
  } else {
    s->options = &options;
    status =
        net_options_read_more(&options, COMMAND_FIT, netc, argc, argv, take, s)
            ? fit(s)
            : options.files.status;
    net_options_close(&options);
  }
  netc_close(netc);
  free(s);
  return status;
}
