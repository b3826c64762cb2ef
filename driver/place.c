/* netc place: the best ways to train a net on several devices. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/guard.h"
#include "base/json.h"
#include "base/shown.h"
#include "driver/net_options.h"
#include "driver/output.h"

struct placing_run {
  struct net_options options;
  struct netc_place_options place;
  struct netc_placing found;
  const char *output; /* path of the JSON; NULL: none */
  struct arena arena;
  int status;
};

/* The command lines */

/* Quotes a word for a shell. */
static void put_word(struct text *text, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                              "UVWXYZ0123456789_-./=,:+%@";
  if (*word && strspn(word, plain) == strlen(word)) {
    text_put(text, word);
    return;
  }
  text_putc(text, '\'');
  for (; *word; word++) {
    if (*word == '\'')
      text_put(text, "'\\''");
    else
      text_putc(text, *word);
  }
  text_putc(text, '\'');
}

/* True if a list of options has one with that name. */
static bool has_option(const char *options, const char *name) {
  size_t length = strlen(name);
  for (const char *at = options; (at = strstr(at, "--")) != NULL; at += 2)
    if (strncmp(at + 2, name, length) == 0 && at[2 + length] == ' ')
      return true;
  return false;
}

static void put_option(struct text *text, const struct option_given *given) {
  const struct option_row *row =
      given->option < OPTION_COUNT ? option_row(given->option) : NULL;
  if (row && (given->option == OPTION_OUTPUT || row->commands == FOR(PLACE)))
    return; /* only for this command */
  if (row && !row->name)
    text_printf(text, " -%c", row->letter);
  else
    text_printf(text, " --%s", row ? row->name : given->name);
  if (!given->value)
    return;
  text_putc(text, ' ');
  put_word(text, given->value);
}

/* The typed options without those of this command, and the options found. */
static struct slice command_line(struct placing_run *run,
                                 const struct netc_placement *p) {
  struct text text = text_new(&run->arena);
  const struct net_options *o = &run->options;
  const char *file = o->files.at[0];
  text_put(&text, file[0] == '-' && file[1] ? "netc ./" : "netc ");
  put_word(&text, file);
  for (size_t i = 0; i < o->given_count; i++)
    if (o->given[i].option != OPTION_SETTING ||
        !has_option(p->options, o->given[i].name))
      put_option(&text, &o->given[i]);
  text_printf(&text, " %s", p->options);
  return text_slice(&text);
}

/* The table */

static void put_seconds(struct text *text, double seconds, int width) {
  struct text own = text_new(text->arena);
  text_seconds(&own, seconds);
  struct slice slice = text_slice(&own);
  text_fill(text, ' ',
            slice.length < (size_t)width ? (size_t)width - slice.length : 0);
  text_puts(text, slice);
}

static void put_column(struct text *text, const char *value, int width) {
  size_t length = strlen(value);
  text_fill(text, ' ', length < (size_t)width ? (size_t)width - length : 1);
  text_put(text, value);
}

static void put_degree(struct text *text, int64_t degree, int width) {
  put_column(text, count_text(degree).text, width);
}

static const char *checkpoint_text(int64_t checkpoint, char *room,
                                   size_t size) {
  if (checkpoint <= 0)
    return checkpoint == -3   ? "blocks"
           : checkpoint == -2 ? "core"
           : checkpoint       ? "auto"
                              : "-";
  snprintf(room, size, "%" PRId64, checkpoint);
  return room;
}

/* "optimizer_parameters" as "op", "all" as "opa". */
static const char *offload_text(const char *words, char *room) {
  bool all = strcmp(words, "all") == 0;
  size_t length = 0;
  if (all || strstr(words, "optimizer"))
    room[length++] = 'o';
  if (all || strstr(words, "parameters"))
    room[length++] = 'p';
  if (all || strstr(words, "activations"))
    room[length++] = 'a';
  room[length] = '\0';
  return length ? room : "-";
}

/* Columns that are shown only if they have content. */
struct columns {
  bool context, experts, offload, sequence, again, parts, hours, money;
};

static struct columns find_columns(struct netc *netc) {
  struct netc_placement p = {.size = sizeof p};
  struct columns c = {.context = false};
  for (size_t i = 0; netc_placement(netc, i, &p) == NETC_OK; i++) {
    c.context |= p.context > 1;
    c.experts |= p.expert > 1;
    c.offload |= *p.offload != '\0';
    c.sequence |= p.sequence;
    c.again |= p.checkpoint != 0;
    c.parts |= p.virtual_stages > 1;
    c.hours |= p.hours > 0;
    c.money |= p.money > 0;
  }
  return c;
}

static void put_heading(struct text *text, const struct columns *c,
                        bool predicted) {
  put_column(text, predicted ? "predicted" : "at least", 12);
  if (predicted)
    put_column(text, "at least", 9);
  if (c->hours)
    put_column(text, "hours", 9);
  if (c->money)
    put_column(text, "cost", 11);
  put_column(text, "sent", 9);
  put_column(text, "left", 10);
  put_column(text, "data", 5);
  put_column(text, "tensor", 7);
  if (c->context)
    put_column(text, "context", 8);
  if (c->experts)
    put_column(text, "experts", 8);
  put_column(text, "pipe", 5);
  put_column(text, "ZeRO", 5);
  put_column(text, "batch", 8);
  put_column(text, "again", 6);
  if (c->offload)
    put_column(text, "host", 5);
  text_putc(text, '\n');
}

/* "4x16": samples of a microbatch, and microbatches of a step. */
static void put_batch(struct text *text, const struct netc_placement *p) {
  char both[48];
  snprintf(both, sizeof both, "%" PRId64 "x%" PRId64, p->microbatch,
           p->microbatch_count);
  put_column(text, both, 8);
}

static void put_degrees(struct text *text, const struct columns *c,
                        const struct netc_placement *p) {
  char room[32];
  put_degree(text, p->data, 5);
  snprintf(room, sizeof room, "%" PRId64 "%s", p->tensor,
           p->sequence ? "s" : "");
  put_column(text, room, 7);
  if (c->context)
    put_degree(text, p->context, 8);
  if (c->experts)
    put_degree(text, p->expert, 8);
  if (p->virtual_stages > 1)
    snprintf(room, sizeof room, " %" PRId64 "x%" PRId64, p->pipeline,
             p->virtual_stages);
  else
    snprintf(room, sizeof room, "%" PRId64, p->pipeline);
  put_column(text, room, 5);
  put_column(text, p->zero ? count_text(p->zero).text : "-", 5);
}

static void put_predicted(struct text *text, double seconds) {
  if (seconds > 0)
    put_seconds(text, seconds, 9);
  else
    put_column(text, "-", 9);
}

static void put_cost(struct text *text, double value, int width) {
  struct text own = text_new(text->arena);
  text_money(&own, value);
  put_column(text, value > 0 ? text_string(&own) : "-", width);
}

static void put_row(struct text *text, const struct placing_run *run,
                    const struct columns *c, size_t index,
                    const struct netc_placement *p) {
  char room[32], left[34];
  double sent =
      p->near_seconds > p->far_seconds ? p->near_seconds : p->far_seconds;
  int64_t margin = run->found.room_bytes - p->peak_bytes;
  snprintf(room, sizeof room, "%zu", index + 1);
  put_column(text, room, 3);
  if (!run->found.missing)
    put_predicted(text, p->predicted_seconds);
  put_seconds(text, p->step_seconds, 9);
  if (c->hours)
    put_cost(text, p->hours, 9);
  if (c->money)
    put_cost(text, p->money, 11);
  put_seconds(text, sent > p->host_seconds ? sent : p->host_seconds, 9);
  snprintf(left, sizeof left, "%c%s", margin < 0 ? '-' : ' ',
           size_text(margin < 0 ? -margin : margin, UNITS_IEC).text);
  put_column(text, left, 10);
  put_degrees(text, c, p);
  put_batch(text, p);
  put_column(text, checkpoint_text(p->checkpoint, room, sizeof room), 6);
  if (c->offload)
    put_column(text, offload_text(p->offload, room), 5);
  text_putc(text, '\n');
}

static void put_summary(struct text *text, const struct placing_run *run) {
  const struct netc_placing *f = &run->found;
  text_printf(text, "%s on %s %s, %s sample%s a step, ",
              netc_name(run->options.netc), count_text(f->device_count).text,
              f->gpu, count_text(f->global_batch).text,
              f->global_batch == 1 ? "" : "s");
  text_printf(text, "%s available on each device\n",
              size_text(f->room_bytes, UNITS_IEC).text);
  text_printf(text, "%s placements, %s of them simulated; ",
              count_text(f->candidate_count).text,
              count_text(f->measured_count).text);
  if (strcmp(f->verdict, "fits") == 0)
    text_printf(text,
                "no placement is better than %s in both time and memory\n",
                f->placement_count == 1 ? "this one" : "these");
  else
    text_printf(text, "none fits; the closest one is shown%s\n",
                f->fits ? ": it is tight" : "");
}

static void put_legend(struct text *text, const struct columns *c,
                       const char *missing) {
  text_put(text, "sent: communication time, overlapped with computation; left: "
                 "unused memory");
  text_put(text, "\nbatch: samples at a time x number of times");
  text_put(text, c->sequence ? "; s: with sequence_parallel" : "");
  text_put(text, c->parts ? "\npipe: stages x parts of the net in each" : "");
  text_put(text,
           c->again ? "\nagain: recomputed segments, or attention's core" : "");
  text_put(text, c->offload ? "\nhost: o, p, a are offloaded: optimizer, "
                              "parameters, activations"
                            : "");
  if (missing)
    text_printf(text,
                "\nTimes are lower bounds, not estimates: "
                "docs/placement.md\n(%s)\n",
                missing);
  else
    text_put(
        text,
        "\n"
        "predicted: calibrated with published runs; at least: lower bound;\n"
        "see docs/placement.md\n");
}

/* Writes a command on several lines, broken before options. */
static void put_wrapped(struct text *text, struct slice line) {
  enum { WIDTH = 76 };
  size_t column = 3;
  bool quoted = false;
  for (size_t i = 0; i < line.length; i++) {
    char c = line.at[i];
    size_t to = i + 1; /* end of the option with its value */
    quoted ^= c == '\'';
    while (to + 1 < line.length &&
           !(line.at[to] == ' ' && line.at[to + 1] == '-'))
      to++;
    bool breaks = c == ' ' && !quoted && i + 1 < line.length &&
                  line.at[i + 1] == '-' && column + (to - i) > WIDTH;
    if (breaks) {
      text_put(text, " \\\n     ");
      column = 5;
    } else {
      text_putc(text, c);
      column++;
    }
  }
}

static int put_table(struct placing_run *run) {
  struct text text = text_new(&run->arena);
  struct netc *netc = run->options.netc;
  struct netc_placement p = {.size = sizeof p};
  struct columns columns = find_columns(netc);
  put_summary(&text, run);
  text_putc(&text, '\n');
  put_heading(&text, &columns, !run->found.missing);
  for (size_t i = 0; netc_placement(netc, i, &p) == NETC_OK; i++)
    put_row(&text, run, &columns, i, &p);
  put_legend(&text, &columns, run->found.missing);
  for (size_t i = 0; netc_placement(netc, i, &p) == NETC_OK; i++) {
    text_printf(&text, "\n%zu  ", i + 1);
    struct text shown = text_new(&run->arena);
    shown_put(&shown, command_line(run, &p), 0);
    put_wrapped(&text, text_slice(&shown));
    text_putc(&text, '\n');
  }
  struct slice all = text_slice(&text);
  fwrite(all.at, 1, all.length, stdout);
  return finish_stdout();
}

/* JSON */

static void member_real(struct json *json, const char *key, double value) {
  json_put_key(json, key);
  json_put_real(json, value);
}

/* 0 means unknown. */
static void member_known(struct json *json, const char *key, double value) {
  json_put_key(json, key);
  if (value > 0)
    json_put_real(json, value);
  else
    json_put_null(json);
}

static void put_placement(struct json *json, struct placing_run *run,
                          const struct netc_placement *p) {
  char room[32];
  json_put_open(json, '{');
  json_member_string(json, "command", command_line(run, p));
  json_member_string(json, "options", slice_of(p->options));
  json_member_int(json, "data_parallel", p->data);
  json_member_int(json, "tensor_parallel", p->tensor);
  json_member_bool(json, "sequence_parallel", p->sequence);
  json_member_int(json, "context_parallel", p->context);
  json_member_int(json, "expert_parallel", p->expert);
  json_member_int(json, "pipeline", p->pipeline);
  json_member_int(json, "virtual_stages", p->virtual_stages);
  json_member_int(json, "zero", p->zero);
  json_member_int(json, "microbatch", p->microbatch);
  json_member_int(json, "microbatches", p->microbatch_count);
  json_member_string(
      json, "checkpoint",
      slice_of(p->checkpoint == -2
                   ? "selective"
                   : checkpoint_text(p->checkpoint, room, sizeof room)));
  json_member_string(json, "offload", slice_of(p->offload));
  json_member_int(json, "peak_bytes", p->peak_bytes);
  json_member_int(json, "left_bytes", run->found.room_bytes - p->peak_bytes);
  json_member_int(json, "host_bytes", p->host_bytes);
  member_known(json, "predicted_seconds", p->predicted_seconds);
  member_known(json, "mfu", p->mfu);
  if (p->hours > 0)
    member_real(json, "hours", p->hours);
  if (p->money > 0)
    member_real(json, "money", p->money);
  member_real(json, "step_seconds", p->step_seconds);
  member_real(json, "compute_seconds", p->compute_seconds);
  member_real(json, "bubble_seconds", p->bubble_seconds);
  member_real(json, "near_seconds", p->near_seconds);
  member_real(json, "far_seconds", p->far_seconds);
  member_real(json, "host_seconds", p->host_seconds);
  json_put_close(json, '}');
}

static int write_json(struct placing_run *run) {
  const struct netc_placing *f = &run->found;
  struct text text = text_new(&run->arena);
  struct json json = json_writer(&text, 9);
  struct netc_placement p = {.size = sizeof p};
  struct output_file output;
  json_put_open(&json, '{');
  json_member_string(&json, "net", slice_of(netc_name(run->options.netc)));
  json_member_int(&json, "devices", f->device_count);
  json_member_string(&json, "gpu", slice_of(f->gpu));
  json_member_int(&json, "global_batch", f->global_batch);
  json_member_bool(&json, "fits", f->fits);
  json_member_string(&json, "verdict", slice_of(f->verdict));
  json_member_int(&json, "device_bytes", f->device_bytes);
  json_member_int(&json, "room_bytes", f->room_bytes);
  json_member_int(&json, "candidates", f->candidate_count);
  json_member_int(&json, "simulated", f->measured_count);
  if (f->missing)
    json_member_string(&json, "missing", slice_of(f->missing));
  json_member_open(&json, "placements", '[');
  for (size_t i = 0; netc_placement(run->options.netc, i, &p) == NETC_OK; i++)
    put_placement(&json, run, &p);
  json_put_close(&json, ']');
  json_put_close(&json, '}');
  text_putc(&text, '\n');
  const char *slash = strrchr(run->output, '/');
  const char *dot = strrchr(slash ? slash : run->output, '.');
  if (output_spares_sources(run->output, run->options.netc) != EXIT_DONE)
    return EXIT_USAGE;
  if (dot && strcasecmp(dot, ".json") != 0)
    return complain(
        EXIT_USAGE, "-o %s: placements can only be written as JSON: `-o %s`",
        run->output,
        shell_word("%.*s.json", (int)(dot - run->output), run->output).text);
  if (!output_open(&output, run->output))
    return output_failed(run->output, errno);
  struct slice all = text_slice(&text);
  fwrite(all.at, 1, all.length, output.file);
  if (!output_commit(&output, false))
    return output_failed(run->output, errno);
  return EXIT_DONE;
}

/* The command */

/* Complains about the memory that the closest placement lacks, and offers
 * help. */
static int say_short(struct placing_run *run) {
  struct netc_placement p = {.size = sizeof p};
  if (run->found.fits || netc_placement(run->options.netc, 0, &p) != NETC_OK)
    return EXIT_DONE;
  static const char help[] = "try more or larger devices, --host-memory for "
                             "offloading, --precision master, --optimizer "
                             "adam8bit or lora= after layers";
  const char *file = run->options.files.at[0];
  int64_t more = p.peak_bytes - run->found.room_bytes;
  if (more > 0)
    return complain_of_fit(file, help, "nothing fits: each device lacks %s",
                           size_text(more, UNITS_IEC).text);
  return complain_of_fit(file, help, "nothing fits: a host needs %s of memory",
                         size_text(p.host_bytes, UNITS_IEC).text);
}

static void place(void *user) {
  struct placing_run *run = user;
  struct netc *netc = run->options.netc;
  run->status = net_options_load(&run->options);
  if (run->status != EXIT_DONE)
    return;
  run->found = (struct netc_placing){.size = sizeof run->found};
  enum netc_status status = netc_place(netc, &run->place, &run->found);
  progress_erase(&run->options.progress);
  if (status != NETC_OK) {
    run->status = exit_status_of(netc, status);
    return;
  }
  run->status = run->output ? write_json(run) : EXIT_DONE;
  if (run->status == EXIT_DONE && !(run->output && !strcmp(run->output, "-")))
    run->status = put_table(run);
  if (run->status == EXIT_DONE)
    run->status = say_short(run);
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct placing_run *run = user;
  (void)name;
  switch (option) {
  case OPTION_GPUS: run->place.gpus = value; return EXIT_DONE;
  case OPTION_GLOBAL_BATCH:
    return option_number(option, value, 1, INT64_C(1) << 40,
                         &run->place.global_batch)
               ? EXIT_DONE
               : EXIT_USAGE;
  default:
    return option_number(option, value, 1, 1000000, &run->place.network)
               ? EXIT_DONE
               : EXIT_USAGE;
  }
}

int command_place(int argc, char **argv) {
  struct placing_run run = {.place = {.size = sizeof run.place}};
  struct arena *const arenas[GUARD_ARENAS] = {&run.arena};
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc || netc_mode(netc, NETC_FOR_PLACE) != NETC_OK)
    return complain(EXIT_IO, "out of memory");
  arena_open(&run.arena, NULL, NULL);
  if (!net_options_read_more(&run.options, COMMAND_PLACE, netc, argc, argv,
                             take, &run))
    run.status = run.options.files.status;
  else if (!run.place.gpus)
    run.status = complain(EXIT_USAGE, "netc place needs devices: --gpus "
                                      "8xa100-80");
  else if (!net_options_output(&run.options, &run.output))
    run.status = EXIT_USAGE;
  else if (!guard_run(arenas, place, &run))
    run.status = complain(EXIT_IO, "out of memory");
  arena_close(&run.arena);
  net_options_close(&run.options);
  netc_close(netc);
  return run.status;
}
