/* Sweeps: one net with several values of its settings, as a table. */
#define _POSIX_C_SOURCE 200809L
#include "driver/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { VALUE = 64 }; /* bytes of a value, with its NUL */

/* A list on its way. */
struct sweep_list {
  const struct swept *list;
  const char *next; /* values to come; NULL: none */
  char value[VALUE];
  int width;
};

struct table_run {
  struct netc *netc;
  struct net_options *o;
  struct sweep_list lists[MOST_SWEPT]; /* a row for each combination */
  size_t count;
  const struct swept *across; /* batches, as columns; or NULL */
  struct netc_answer a;       /* of the last that was loaded */
  bool on_devices;            /* the table has a row for each device's name */
  bool shares;                /* there may be several devices */
  bool colour;
};

bool sweep_wanted(const struct net_options *options) {
  return options->swept_count > 0;
}

static bool sweeps(const struct table_run *s, const char *name) {
  for (size_t i = 0; i < s->o->swept_count; i++)
    if (strcmp(s->o->swept[i].name, name) == 0)
      return true;
  return false;
}

/* Values */

static int choose(struct table_run *s, const char *name, const char *value) {
  if (netc_set(s->netc, name, value) == NETC_OK)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--%s %s: %s", name, value,
                  netc_message(s->netc));
}

static int take_next(struct table_run *s, struct sweep_list *list) {
  list->next = swept_item(list->next, list->value, VALUE);
  return choose(s, list->list->name, list->value);
}

/* The last list that has more values takes its next, those after it begin
 * again; *done: none has. */
static int advance(struct table_run *s, bool *done) {
  size_t i = s->count;
  while (i > 0 && !s->lists[i - 1].next)
    i--;
  *done = i == 0;
  if (*done)
    return EXIT_DONE;
  int status = take_next(s, &s->lists[i - 1]);
  for (; i < s->count && status == EXIT_DONE; i++) {
    s->lists[i].next = s->lists[i].list->values;
    status = take_next(s, &s->lists[i]);
  }
  return status;
}

static int ask(struct table_run *s) {
  int status = net_options_compile(s->o, s->netc, s->o->files.at[0]);
  if (status != EXIT_DONE)
    return status;
  enum netc_status loaded = netc_uses(s->netc, "table", s->o->look.predict);
  if (loaded == NETC_OK)
    loaded = netc_answer(s->netc, s->o->look.predict, &s->a);
  return loaded == NETC_ERROR
             ? complain(EXIT_SOURCE, "%s: %s", s->o->files.at[0],
                        netc_message(s->netc))
             : exit_status_of(s->netc, loaded);
}

/* Cells */

static struct count_text size(const struct table_run *s, int64_t bytes) {
  static const enum text_units units[] = {
      [NETC_IEC] = UNITS_IEC, [NETC_SI] = UNITS_SI, [NETC_BYTES] = UNITS_BYTES};
  return size_text(bytes, units[s->o->look.units]);
}

static void put_size(const struct table_run *s, int width, int64_t bytes) {
  printf("  %*s", width, bytes == INT64_MAX ? "-" : size(s, bytes).text);
}

static void put_count(int width, int64_t count) {
  printf("  %*s", width, count < 0 ? "-" : count_text(count).text);
}

enum { BYTES = 12, LEFT = 21, BATCH = 13, CONTEXT = 15, SEQUENCES = 14 };

static void put_context(int64_t longest) {
  if (longest < NETC_ANY_CONTEXT)
    put_count(CONTEXT, longest);
  else
    printf("  %*s", CONTEXT, "any");
}

static void put_left(const struct table_run *s) {
  const struct netc_answer *a = &s->a;
  if (a->bytes == INT64_MAX) {
    printf("  %*s", LEFT, "not shared by so many");
    return;
  }
  int64_t left = a->room_bytes - a->bytes;
  bool host =
      left >= 0 && a->host_room_bytes && a->host_bytes > a->host_room_bytes;
  if (host)
    left = a->host_room_bytes - a->host_bytes;
  const char *word = host ? "on host" : left < 0 ? "too much" : "left";
  const char *colour = left < 0 ? "\033[31m" : "\033[32m";
  printf("  %*s %s%-8s%s", LEFT - 9, size(s, left < 0 ? -left : left).text,
         s->colour ? colour : "", word, s->colour ? "\033[0m" : "");
}

/* The table */

static const char *heading(const struct swept *list) {
  return strcmp(list->name, "gpu") == 0 ? "device" : list->name;
}

static void put_head(struct table_run *s) {
  const struct netc_answer *a = &s->a;
  char batch[VALUE], cell[VALUE + 8];
  bool trains = a->question == NETC_TRAINING;
  for (size_t i = 0; i < s->count; i++)
    printf("%s%-*s", i ? "  " : "", s->lists[i].width,
           heading(s->lists[i].list));
  if (s->on_devices)
    printf("  %*s", BYTES, "memory");
  if (s->shares)
    printf("  %*s", (int)strlen("devices"), "devices");
  if (!s->across)
    printf("  %*s", BYTES, trains ? "training" : "prediction");
  if (!a->on_device && a->question != NETC_SERVING)
    printf("  %*s", BYTES, trains ? "saved" : "planned");
  for (const char *at = s->across ? s->across->values : NULL; at;) {
    at = swept_item(at, batch, sizeof batch);
    snprintf(cell, sizeof cell, "batch %s", batch);
    printf("  %*s", LEFT, cell);
  }
  if (a->on_device) {
    if (!s->across)
      printf("  %*s", LEFT, "");
    if (a->largest_batch >= 0)
      printf("  %*s", BATCH, "largest batch");
    if (a->longest_context >= 0)
      printf("  %*s", CONTEXT, "longest context");
    if (a->most_sequences >= 0)
      printf("  %*s", SEQUENCES, "most sequences");
  }
  putchar('\n');
}

static int put_across(struct table_run *s) {
  char batch[VALUE];
  int status = EXIT_DONE;
  for (const char *at = s->across->values; at && status == EXIT_DONE;) {
    at = swept_item(at, batch, sizeof batch);
    status = choose(s, s->across->name, batch);
    if (status == EXIT_DONE)
      status = ask(s);
    if (status == EXIT_DONE)
      put_left(s);
  }
  return status;
}

/* Of what was loaded. */
static int put_row(struct table_run *s) {
  const struct netc_answer *a = &s->a;
  struct netc_training training = {.size = sizeof training};
  int status = EXIT_DONE;
  for (size_t i = 0; i < s->count; i++)
    printf("%s%-*s", i ? "  " : "", s->lists[i].width, s->lists[i].value);
  if (s->on_devices)
    put_size(s, BYTES, a->device_bytes);
  if (s->shares)
    put_count((int)strlen("devices"), a->device_count);
  if (!s->across)
    put_size(s, BYTES, a->bytes);
  netc_training(s->netc, &training);
  if (!a->on_device && a->question == NETC_TRAINING)
    put_size(s, BYTES, training.device_saved_bytes);
  if (!a->on_device && a->question == NETC_PREDICTION)
    put_size(s, BYTES, a->planned_bytes);
  if (s->across)
    status = put_across(s);
  else if (a->on_device)
    put_left(s);
  if (a->on_device && a->question != NETC_SERVING)
    put_count(BATCH, a->largest_batch);
  if (a->on_device && a->longest_context >= 0)
    put_context(a->longest_context);
  if (a->on_device && a->question == NETC_SERVING)
    put_count(SEQUENCES, a->most_sequences);
  putchar('\n');
  return status;
}

static void put_title(struct table_run *s) {
  const struct netc_answer *a = &s->a;
  struct netc_training training = {.size = sizeof training};
  const char *file = s->o->files.at[0];
  netc_training(s->netc, &training);
  if (a->question == NETC_TRAINING)
    tell("%s: training%s%s%s, %s (%s)", file,
         sweeps(s, "optimizer") ? "" : " with ",
         sweeps(s, "optimizer") ? "" : training.optimizer,
         a->uneven ? ", the most loaded device" : "",
         training.measured ? "exact" : "simulated", training.profile);
  else if (a->question == NETC_PREDICTION)
    tell("%s: prediction in PyTorch (%s)", file, training.profile);
  else if (sweeps(s, "context") || sweeps(s, "sequences"))
    tell("%s: serving", file);
  else
    tell("%s: serving, %s sequence%s of %s positions", file,
         count_text(a->sequences).text, a->sequences == 1 ? "" : "s",
         count_text(a->context).text);
  fputs("\n\n", stdout);
}

/* Batches stand beside each other where the rows are devices that train. */
static int open_lists(struct table_run *s) {
  int status = EXIT_DONE;
  s->on_devices = sweeps(s, "gpu");
  for (size_t i = 0; i < s->o->swept_count && status == EXIT_DONE; i++) {
    const struct swept *list = &s->o->swept[i];
    struct sweep_list *row = &s->lists[s->count];
    s->shares = s->shares || strstr(list->name, "parallel") ||
                strcmp(list->name, "pipeline") == 0;
    if (s->on_devices && !s->o->look.predict &&
        strcmp(list->name, "batch") == 0) {
      s->across = list;
      continue;
    }
    *row = (struct sweep_list){.list = list};
    row->width = (int)strlen(heading(list));
    for (const char *at = list->values; at;) {
      at = swept_item(at, row->value, VALUE);
      int length = (int)strlen(row->value);
      row->width = length > row->width ? length : row->width;
    }
    row->next = list->values;
    s->count++;
    status = take_next(s, row);
  }
  if (status == EXIT_DONE && s->across) {
    char batch[VALUE];
    swept_item(s->across->values, batch, sizeof batch);
    status = choose(s, s->across->name, batch);
  }
  return status;
}

int sweep(struct netc *netc, struct net_options *o) {
  struct table_run s = {.netc = netc,
                        .o = o,
                        .a = {.size = sizeof s.a},
                        .colour = wants_colour(o->colour, STDOUT_FILENO)};
  bool done = false;
  int status = open_lists(&s);
  if (status == EXIT_DONE)
    status = ask(&s);
  if (status != EXIT_DONE)
    return status;
  show_diagnostics(netc, o->style);
  s.shares = s.shares || s.a.device_count > 1;
  if (!o->look.brief)
    put_title(&s);
  put_head(&s);
  while (!done && status == EXIT_DONE) {
    status = put_row(&s);
    if (status == EXIT_DONE)
      status = advance(&s, &done);
    if (status == EXIT_DONE && !done)
      status = ask(&s);
  }
  int end = finish_stdout();
  return status ? status : end;
}
