/* Tables: a net with several values of its settings. */
#define _POSIX_C_SOURCE 200809L
#include "driver/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { NAMES_WIDTH = 24, LONGEST_NAMES = 64 };
enum { VALUE = 64 }; /* bytes of a value with its NUL */
enum { MOST_SAID = 32, SAID = 128 };
enum { MOST_KNOWN = 8192 }; /* answers kept, of 300 bytes */

/* A list during iteration. */
struct table_list {
  const struct listed *list;
  const char *next; /* remaining values; NULL: none */
  char value[VALUE];
  int width;
};

/* Answer for a card, found without a load; `others` are the other lists. */
struct known_answer {
  char gpu[VALUE], others[MOST_LISTED * VALUE];
  struct netc_answer a;
};

struct table_run {
  struct netc *netc;
  struct net_options *o;
  struct table_list lists[MOST_LISTED]; /* a row for each combination */
  size_t count;
  const struct listed *across; /* batches as columns; or NULL */
  struct netc_answer a;        /* of the last load */
  struct netc_answer first;    /* the first answer: has the columns */
  bool failed;                 /* the last load has no answer */
  int status;                  /* exit status of the first failure */
  char said[MOST_SAID][SAID];  /* reasons, each printed once */
  size_t said_count;
  bool on_devices; /* rows are devices */
  bool shares;     /* several devices may share the net */
  bool parts;      /* layers are divided by an option */
  bool colour;
  const char *gpus;  /* NULL: none are listed */
  char batch[VALUE]; /* of the column */
  struct known_answer *known;
  size_t known_count;
};

bool table_wanted(const struct net_options *options) {
  return options->listed_count > 0;
}

static bool lists(const struct table_run *s, const char *name) {
  for (size_t i = 0; i < s->o->listed_count; i++)
    if (strcmp(s->o->listed[i].name, name) == 0)
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

static int take_next(struct table_run *s, struct table_list *list) {
  list->next = list_item(list->next, list->value, VALUE);
  return choose(s, list->list->name, list->value);
}

/* Advances the last list that has more values, and restarts those after it.
 * *done: none has. */
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

static bool was_said(struct table_run *s, const char *message) {
  for (size_t i = 0; i < s->said_count; i++)
    if (strncmp(s->said[i], message, SAID - 1) == 0)
      return true;
  if (s->said_count < MOST_SAID)
    snprintf(s->said[s->said_count++], SAID, "%s", message);
  return false;
}

static int say_errors(struct table_run *s) {
  struct netc_diagnostic d = {.size = sizeof d};
  for (size_t i = 0; netc_diagnostic(s->netc, i, &d) == NETC_OK; i++)
    if (d.severity == NETC_SEVERITY_ERROR) {
      if (!was_said(s, d.message))
        show_diagnostics(s->netc, s->o->style);
      break;
    }
  return EXIT_SOURCE;
}

static int say_failed(struct table_run *s, enum netc_status why) {
  const char *message = netc_message(s->netc);
  if (why != NETC_ERROR && why != NETC_USAGE)
    return exit_status_of(s->netc, why);
  int status = why == NETC_ERROR ? EXIT_SOURCE : EXIT_USAGE;
  if (was_said(s, message))
    return status;
  return why == NETC_ERROR
             ? complain(status, "%s: %s", s->o->files.at[0], message)
             : complain(status, "%s", message);
}

/* Other cards */

/* The current values of the lists, except the card, which is returned. */
static const char *current_gpu(const struct table_run *s, char *others,
                               size_t room) {
  const char *gpu = "";
  size_t used = (size_t)snprintf(others, room, "%s", s->batch);
  for (size_t i = 0; i < s->count; i++)
    if (s->lists[i].list->values == s->gpus)
      gpu = s->lists[i].value;
    else if (used < room)
      used += (size_t)snprintf(others + used, room - used, ",%s",
                               s->lists[i].value);
  return gpu;
}

/* The known answer for a card, or with `gpu` NULL for any; or NULL. */
static const struct known_answer *
find_known(const struct table_run *s, const char *gpu, const char *others) {
  for (size_t i = 0; i < s->known_count; i++)
    if ((!gpu || strcmp(s->known[i].gpu, gpu) == 0) &&
        strcmp(s->known[i].others, others) == 0)
      return &s->known[i];
  return NULL;
}

/* Takes an answer that is known without a load. */
static bool recall(struct table_run *s) {
  char others[sizeof s->known->others];
  const char *gpu = current_gpu(s, others, sizeof others);
  const struct known_answer *known = find_known(s, gpu, others);
  if (known)
    s->a = known->a;
  return known != NULL;
}

/* The step is the same on every card: judges it on all that are listed. */
static void judge_others(struct table_run *s) {
  char others[sizeof s->known->others];
  current_gpu(s, others, sizeof others);
  if (s->o->look.predict ||
      find_known(s, NULL, others)) /* the last card needed a load */
    return;
  for (const char *at = s->gpus; at && s->known_count < MOST_KNOWN;) {
    struct known_answer *known = &s->known[s->known_count];
    at = list_item(at, known->gpu, sizeof known->gpu);
    known->a.size = sizeof known->a;
    memcpy(known->others, others, sizeof others);
    s->known_count += netc_answer_on(s->netc, known->gpu, &known->a) == NETC_OK;
  }
}

/* Asks for an answer. A failure sets `failed` and does not end the table. */
static int ask(struct table_run *s) {
  s->failed = false;
  if (s->gpus && recall(s))
    return EXIT_DONE;
  const char *file = s->o->files.at[0];
  enum netc_status why;
  int status = net_options_try(s->o, s->netc, file, &why);
  if (status != EXIT_DONE)
    return status;
  if (why == NETC_ERROR) {
    status = say_errors(s);
  } else {
    if (why == NETC_OK)
      why = netc_uses(s->netc, "table", s->o->look.predict);
    if (why == NETC_OK)
      why = netc_answer(s->netc, s->o->look.predict, &s->a);
    status = why == NETC_OK ? EXIT_DONE : say_failed(s, why);
  }
  s->failed = status == EXIT_SOURCE || status == EXIT_USAGE;
  if (status == EXIT_DONE && s->gpus)
    judge_others(s);
  if (!s->failed)
    return status;
  s->status = s->status ? s->status : status;
  return EXIT_DONE;
}

/* Asks for the first of the batches in columns that has an answer. */
static int ask_row(struct table_run *s) {
  if (!s->across)
    return ask(s);
  int status = EXIT_DONE;
  s->failed = true;
  for (const char *at = s->across->values;
       at && s->failed && status == EXIT_DONE;) {
    at = list_item(at, s->batch, sizeof s->batch);
    status = choose(s, s->across->name, s->batch);
    if (status == EXIT_DONE)
      status = ask(s);
  }
  return status;
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

enum {
  BYTES = 12,
  LEFT = 21,
  BATCH = 13,
  CONTEXT = 15,
  SEQUENCES = 14,
  POSITIONS = 11,
  LAYERS = 10
};

static void put_context(int64_t longest) {
  if (longest < NETC_ANY_CONTEXT)
    put_count(CONTEXT, longest);
  else
    printf("  %*s", CONTEXT, "any");
}

/* "20 of 33", and the host memory for the others. */
static void put_layers(const struct table_run *s) {
  char cell[VALUE];
  const struct netc_answer *a = &s->a;
  if (!s->parts || !s->first.layer_count)
    return;
  snprintf(cell, sizeof cell, "%" PRId64 " of %" PRId64, a->gpu_layers,
           a->layer_count);
  printf("  %*s", LAYERS, a->layer_count ? cell : "-");
  put_size(s, BYTES, a->host_bytes);
}

/* Flash of a microcontroller, and whether it fits both memories. */
static void put_board(const struct table_run *s) {
  const struct netc_answer *a = &s->a;
  printf("  %*s", BYTES, size(s, a->flash_bytes).text);
  printf("  %s%s%s",
         !s->colour ? ""
         : a->fits  ? "\033[32m"
                    : "\033[31m",
         a->verdict, s->colour ? "\033[0m" : "");
}

static void put_left(const struct table_run *s) {
  const struct netc_answer *a = &s->a;
  if (s->failed || a->bytes == INT64_MAX) {
    printf("  %*s", LEFT, s->failed ? "-" : "cannot be divided so");
    return;
  }
  if (s->first.ram_bytes) {
    put_board(s);
    return;
  }
  int64_t left = a->room_bytes - a->bytes;
  bool host =
      left >= 0 && a->host_room_bytes && a->host_bytes > a->host_room_bytes;
  if (host)
    left = a->host_room_bytes - a->host_bytes;
  bool tight = left < 0 && a->fits;
  const char *word = host       ? "on host"
                     : tight    ? "tight"
                     : left < 0 ? "too much"
                                : "left";
  const char *colour = tight ? "\033[33m" : left < 0 ? "\033[31m" : "\033[32m";
  printf("  %*s %s%-8s%s", LEFT - 9, size(s, left < 0 ? -left : left).text,
         s->colour ? colour : "", word, s->colour ? "\033[0m" : "");
}

/* The table */

static const char *heading(const struct listed *list) {
  struct setting_row row = setting_row(slice_of(list->name));
  return row.heading ? row.heading : list->name;
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
    printf("  %*s", BYTES,
           trains         ? "training"
           : a->ram_bytes ? "RAM"
                          : "inference");
  if (!a->on_device && a->question != NETC_SERVING)
    printf("  %*s", BYTES, trains ? "saved" : "planned");
  if (s->parts && a->layer_count)
    printf("  %*s  %*s", LAYERS, "layers", BYTES, "host");
  for (const char *at = s->across ? s->across->values : NULL; at;) {
    at = list_item(at, batch, sizeof batch);
    snprintf(cell, sizeof cell, "batch %s", batch);
    printf("  %*s", LEFT, cell);
  }
  if (a->on_device) {
    if (a->ram_bytes)
      printf("  %*s", BYTES, "flash");
    else if (!s->across)
      printf("  %*s", LEFT, "");
    if (a->largest_batch >= 0)
      printf("  %*s", BATCH, "largest batch");
    if (a->longest_context >= 0)
      printf("  %*s", CONTEXT, "longest context");
    if (a->most_sequences >= 0)
      printf("  %*s", SEQUENCES, "most sequences");
    if (a->positions >= 0)
      printf("  %*s", POSITIONS, "tokens");
  }
  putchar('\n');
}

static int put_across(struct table_run *s, bool failed) {
  int status = EXIT_DONE;
  for (const char *at = s->across->values; at && status == EXIT_DONE;) {
    at = list_item(at, s->batch, sizeof s->batch);
    if (!failed)
      status = choose(s, s->across->name, s->batch);
    if (!failed && status == EXIT_DONE)
      status = ask(s);
    if (status == EXIT_DONE)
      put_left(s);
  }
  return status;
}

/* Makes all cells dashes. */
static void forget(struct table_run *s) {
  struct netc_answer *a = &s->a;
  *a = s->first;
  a->device_bytes = a->bytes = a->planned_bytes = a->host_bytes = INT64_MAX;
  a->layer_count = 0;
  a->device_count = a->largest_batch = -1;
  a->longest_context = a->most_sequences = a->positions = -1;
}

static int64_t saved_bytes(const struct table_run *s) {
  struct netc_training training = {.size = sizeof training};
  return !s->failed && netc_training(s->netc, &training) == NETC_OK
             ? training.device_saved_bytes
             : INT64_MAX;
}

/* Prints the row of the current load. */
static int put_row(struct table_run *s) {
  const struct netc_answer *a = &s->a, *columns = &s->first;
  int status = EXIT_DONE;
  bool failed = s->failed;
  if (failed)
    forget(s);
  for (size_t i = 0; i < s->count; i++)
    printf("%s%-*s", i ? "  " : "", s->lists[i].width, s->lists[i].value);
  if (s->on_devices)
    put_size(s, BYTES, a->device_bytes);
  if (s->shares)
    put_count((int)strlen("devices"), a->device_count);
  if (!s->across)
    put_size(s, BYTES, a->bytes);
  if (!columns->on_device && columns->question == NETC_TRAINING)
    put_size(s, BYTES, saved_bytes(s));
  if (!columns->on_device && columns->question == NETC_PREDICTION)
    put_size(s, BYTES, a->planned_bytes);
  put_layers(s);
  if (s->across)
    status = put_across(s, failed);
  else if (columns->on_device)
    put_left(s);
  if (columns->on_device && columns->question != NETC_SERVING &&
      !columns->ram_bytes)
    put_count(BATCH, a->largest_batch);
  if (columns->on_device && columns->longest_context >= 0)
    put_context(a->longest_context);
  if (columns->on_device && columns->question == NETC_SERVING)
    put_count(SEQUENCES, a->most_sequences);
  if (columns->positions >= 0)
    put_count(POSITIONS, a->positions);
  putchar('\n');
  return status;
}

static void put_title(struct table_run *s) {
  const struct netc_answer *a = &s->a;
  struct netc_training training = {.size = sizeof training};
  const char *file = s->o->files.at[0];
  /* each recipe has an optimizer of its own */
  bool differ = lists(s, "optimizer") || lists(s, "like");
  netc_training(s->netc, &training);
  if (a->question == NETC_TRAINING)
    tell("%s: training%s%s%s, %s (%s)", file, differ ? "" : " with ",
         differ ? "" : training.optimizer,
         a->uneven ? ", the most loaded device" : "",
         training.measured ? "exact" : "simulated", training.profile);
  else if (a->ram_bytes)
    tell("%s: inference with netc's runtime (netrt)", file);
  else if (a->question == NETC_PREDICTION)
    tell("%s: inference in PyTorch (%s)", file, training.profile);
  else if (lists(s, "context") || lists(s, "sequences"))
    tell("%s: serving", file);
  else
    tell("%s: serving, %s sequence%s of %s tokens", file,
         count_text(a->sequences).text, a->sequences == 1 ? "" : "s",
         count_text(a->context).text);
  fputs("\n\n", stdout);
}

/* Refuses lists that the table does not show, as rows would be equal. */
static int check_lists(const struct table_run *s) {
  for (size_t i = 0; i < s->o->listed_count; i++) {
    const struct listed *list = &s->o->listed[i];
    if (netc_shows(s->netc, list->name, "table", s->o->look.predict) != NETC_OK)
      return complain(EXIT_USAGE, "--%s %s: %s", list->name, list->values,
                      netc_message(s->netc));
  }
  return EXIT_DONE;
}

/* A list of values that only inference has asks about inference. */
static void ask_inference(struct netc *netc, struct net_options *o) {
  for (size_t i = 0; i < o->listed_count; i++) {
    const char *name = o->listed[i].name;
    if (netc_shows(netc, name, "table", false) != NETC_OK &&
        netc_shows(netc, name, "table", true) == NETC_OK)
      o->look.predict = o->predict_given = true;
  }
}

/* Opens the lists. Batches become columns if the rows are devices that
 * train. */
static void open_lists(struct table_run *s) {
  for (size_t i = 0; i < s->o->listed_count; i++)
    s->on_devices |= setting_row(slice_of(s->o->listed[i].name)).devices;
  for (size_t i = 0; i < s->o->listed_count; i++) {
    const struct listed *list = &s->o->listed[i];
    if (strcmp(list->name, "gpu") == 0 && s->known)
      s->gpus = list->values;
    struct table_list *row = &s->lists[s->count];
    s->shares = s->shares || strstr(list->name, "parallel") ||
                strcmp(list->name, "pipeline") == 0;
    if (s->on_devices && !s->o->look.predict &&
        strcmp(list->name, "batch") == 0) {
      s->across = list;
      continue;
    }
    *row = (struct table_list){.list = list};
    row->width = (int)strlen(heading(list));
    for (const char *at = list->values; at;) {
      at = list_item(at, row->value, VALUE);
      int length = (int)strlen(row->value);
      row->width = length > row->width ? length : row->width;
    }
    s->count++;
  }
}

/* True if an option divides the layers; a runtime puts all on the card. */
static bool parts_layers(const struct net_options *o) {
  for (size_t i = 0; i < o->given_count; i++)
    if (strcmp(o->given[i].name, "gpu-layers") == 0 ||
        strcmp(o->given[i].name, "host-experts") == 0)
      return true;
  return false;
}

static int rewind_lists(struct table_run *s) {
  int status = EXIT_DONE;
  for (size_t i = 0; i < s->count && status == EXIT_DONE; i++) {
    s->lists[i].next = s->lists[i].list->values;
    status = take_next(s, &s->lists[i]);
  }
  return status;
}

/* Finds the first row with an answer; *skipped rows have none. */
static int find_first(struct table_run *s, size_t *skipped) {
  bool done = false;
  int status = rewind_lists(s);
  if (status == EXIT_DONE)
    status = ask_row(s);
  for (*skipped = 0; status == EXIT_DONE && s->failed; ++*skipped) {
    status = advance(s, &done);
    if (done)
      return s->status;
    if (status == EXIT_DONE)
      status = ask_row(s);
  }
  s->first = s->a;
  return status;
}

/* Prints all rows. The first with an answer is already loaded. */
static int put_rows(struct table_run *s, size_t skipped) {
  bool done = false;
  int status = rewind_lists(s);
  for (size_t row = 0; status == EXIT_DONE && !done; row++) {
    if (row > skipped)
      status = ask_row(s);
    else
      s->failed = row < skipped;
    if (row == skipped)
      s->a = s->first;
    if (status == EXIT_DONE)
      status = put_row(s);
    if (status == EXIT_DONE)
      status = advance(s, &done);
  }
  return status;
}

/* All devices, ranked */

/* Devices of equal memory with the same answer. */
struct ranked_row {
  char names[LONGEST_NAMES];
  size_t count;
  bool failed;
  struct netc_answer a;
};

enum { MOST_RANKED = 1024 };

static int by_room(const void *x, const void *y) {
  const struct ranked_row *a = x, *b = y;
  return a->a.device_bytes != b->a.device_bytes
             ? (a->a.device_bytes > b->a.device_bytes ? 1 : -1)
             : strcmp(a->names, b->names);
}

static bool is_alike(const struct ranked_row *a, const struct ranked_row *b) {
  return a->a.device_bytes == b->a.device_bytes && a->a.bytes == b->a.bytes &&
         a->a.room_bytes == b->a.room_bytes && a->failed == b->failed;
}

static void join_names(struct ranked_row *to, const struct ranked_row *from) {
  size_t used = strlen(to->names);
  if (used + strlen(from->names) + 3 < sizeof to->names && used < NAMES_WIDTH)
    snprintf(to->names + used, sizeof to->names - used, ", %s", from->names);
  to->count++;
}

/* Asks for all devices; equal ones become one row. Returns an exit status. */
static int find_ranked(struct table_run *s, struct ranked_row *rows,
                       size_t *count) {
  bool done = false;
  size_t found = 0;
  int status = rewind_lists(s);
  for (; status == EXIT_DONE && !done && found < MOST_RANKED; found++) {
    status = ask_row(s);
    rows[found] =
        (struct ranked_row){.count = 1, .failed = s->failed, .a = s->a};
    snprintf(rows[found].names, sizeof rows[found].names, "%s",
             s->lists[0].value);
    if (status == EXIT_DONE)
      status = advance(s, &done);
  }
  qsort(rows, found, sizeof *rows, by_room);
  *count = 0;
  for (size_t i = 0; i < found; i++) {
    if (*count && is_alike(&rows[*count - 1], &rows[i]))
      join_names(&rows[*count - 1], &rows[i]);
    else
      rows[(*count)++] = rows[i];
  }
  return status;
}

static void put_rest(const struct ranked_row *rows, size_t count,
                     const char *what) {
  size_t devices = 0;
  for (size_t i = 0; i < count; i++)
    devices += rows[i].count;
  if (devices)
    printf("... %zu with %s memory %s\n", devices,
           rows[0].a.fits ? "more" : "less", what);
}

/* The rows around the first device that it fits. */
static int put_ranked(struct table_run *s) {
  enum { BEFORE = 6, AFTER = 11 };
  struct ranked_row *rows = calloc(MOST_RANKED, sizeof *rows);
  size_t count = 0, edge = 0;
  if (!rows)
    return complain(EXIT_IO, "out of memory");
  int status = find_ranked(s, rows, &count);
  while (edge < count && !(rows[edge].a.fits && !rows[edge].failed))
    edge++;
  size_t first = edge > BEFORE ? edge - BEFORE : 0;
  size_t end = edge + AFTER < count ? edge + AFTER : count;
  s->lists[0].width = NAMES_WIDTH;
  put_head(s);
  put_rest(rows, first, "are too small");
  for (size_t i = first; i < end && status == EXIT_DONE; i++) {
    s->a = rows[i].a;
    s->failed = rows[i].failed;
    snprintf(s->lists[0].value, VALUE, "%s", rows[i].names);
    if (rows[i].count > 1 && strlen(rows[i].names) > NAMES_WIDTH)
      snprintf(s->lists[0].value, VALUE, "%.*s and %zu more",
               (int)strcspn(rows[i].names, ","), rows[i].names,
               rows[i].count - 1);
    status = put_row(s);
  }
  put_rest(&rows[end], count - end, "are large enough");
  if (first > 0 || end < count)
    puts("--details: all devices");
  free(rows);
  return status;
}

/* True for --gpu all and nothing else that makes rows. */
static bool is_ranked(const struct table_run *s) {
  return s->on_devices && s->count == 1 && !s->across && !s->o->look.details &&
         s->lists[0].list->values == s->o->devices;
}

static int put_table(struct table_run *s) {
  size_t skipped;
  int status = check_lists(s);
  if (status != EXIT_DONE)
    return status;
  open_lists(s);
  s->parts = parts_layers(s->o);
  status = find_first(s, &skipped);
  if (status != EXIT_DONE)
    return status;
  show_diagnostics(s->netc, s->o->style);
  s->shares = s->shares || s->a.device_count > 1;
  if (!s->o->look.brief)
    put_title(s);
  if (!is_ranked(s))
    put_head(s);
  status = is_ranked(s) ? put_ranked(s) : put_rows(s, skipped);
  status = status ? status : s->status;
  int end = finish_stdout();
  return status ? status : end;
}

int table(struct netc *netc, struct net_options *o) {
  struct table_run s = {.netc = netc,
                        .o = o,
                        .a = {.size = sizeof s.a},
                        .colour = wants_colour(o->colour, STDOUT_FILENO)};
  s.known = calloc(MOST_KNOWN, sizeof *s.known);
  ask_inference(netc, o);
  netc_mode(netc, NETC_FOR_TABLE);
  int status = put_table(&s);
  free(s.known);
  return status;
}
