/* netc diff: changes from one net to another. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "driver/net_options.h"

enum { MOST_LINES = 60 }; /* of layers, unless --unfold */

/* One of the two nets, its layers sorted by name. */
struct side {
  struct netc *netc;
  struct net_options options;
  struct netc_layer *layers;
  size_t count;
  struct netc_answer answer;
};

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct netc_layer *)a)->name,
                ((const struct netc_layer *)b)->name);
}

static int load_side(struct side *side, const char *file) {
  int status = net_options_compile(&side->options, side->netc, file);
  if (status != EXIT_DONE)
    return status;
  bool predict = side->options.look.predict;
  enum netc_status asked = netc_uses(side->netc, "diff", predict);
  side->answer.size = sizeof side->answer;
  if (asked == NETC_OK)
    asked = netc_answer(side->netc, predict, &side->answer);
  if (asked == NETC_ERROR)
    return complain(EXIT_SOURCE, "%s: %s", file, netc_message(side->netc));
  if (asked != NETC_OK)
    return exit_status_of(side->netc, asked);
  side->count = netc_layer_count(side->netc);
  side->layers = calloc(side->count + 1, sizeof *side->layers);
  if (!side->layers)
    return complain(EXIT_IO, "out of memory");
  for (size_t i = 0; i < side->count; i++) {
    side->layers[i].size = sizeof side->layers[i];
    if (netc_layer(side->netc, i, &side->layers[i]) != NETC_OK)
      return complain(EXIT_BUG, "%s", netc_message(side->netc));
  }
  qsort(side->layers, side->count, sizeof *side->layers, by_name);
  return EXIT_DONE;
}

/* Totals */

static struct count_text amount_text(int64_t amount, bool bytes) {
  return bytes ? size_text(amount, UNITS_IEC) : count_text(amount);
}

static bool put_total(const char *what, int64_t before, int64_t after,
                      bool bytes, bool markdown) {
  char change[36], percent[32] = "";
  struct count_text a = amount_text(before, bytes);
  struct count_text b = amount_text(after, bytes);
  int64_t by = after - before;
  snprintf(change, sizeof change, "%c%s", by < 0 ? '-' : '+',
           amount_text(by < 0 ? -by : by, bytes).text);
  if (by == 0)
    strcpy(change, "=");
  else if (before)
    snprintf(percent, sizeof percent, "%+.1f %%",
             100.0 * (double)by / (double)before);
  if (markdown)
    printf("| %s | %s | %s | %s | %s |\n", what, a.text, b.text, change,
           percent);
  else
    printf("%-13s  %16s  %16s  %16s%s%s\n", what, a.text, b.text, change,
           *percent ? "  " : "", percent);
  return by != 0;
}

/* "fits", "tight", "does not fit", if both sides name a device. */
static bool put_verdicts(const char *a, const char *b, bool markdown) {
  bool differ = strcmp(a, b) != 0;
  if (*a && *b)
    printf(markdown ? "| %s | %s | %s | %s | |\n" : "%-13s  %16s  %16s  %16s\n",
           "verdict", a, b, differ ? "" : "=");
  return *a && *b && differ;
}

/* Compares a number unless a side does not know it. */
static bool put_known(const char *what, int64_t before, int64_t after,
                      bool markdown) {
  return before >= 0 && after >= 0 &&
         put_total(what, before, after, false, markdown);
}

/* Compares predicted times of a step if both sides have one, else the
 * bounds. */
static bool put_times(struct netc *before, struct netc *after, bool markdown) {
  struct netc_time a = {.size = sizeof a}, b = {.size = sizeof b};
  if (netc_time(before, &a) != NETC_OK || netc_time(after, &b) != NETC_OK ||
      a.bound_seconds <= 0 || b.bound_seconds <= 0)
    return false;
  bool predicted = a.predicted_seconds > 0 && b.predicted_seconds > 0;
  double x = predicted ? a.predicted_seconds : a.bound_seconds;
  double y = predicted ? b.predicted_seconds : b.bound_seconds;
  return put_total(predicted ? "step, us" : "least, us", (int64_t)(1e6 * x),
                   (int64_t)(1e6 * y), false, markdown);
}

/* Compares the requested number and those that belong to it. */
static bool put_answers(const struct netc_answer *a,
                        const struct netc_answer *b, bool markdown) {
  bool several = a->device_count > 1 || b->device_count > 1;
  bool differ = several && put_total("devices", a->device_count,
                                     b->device_count, false, markdown);
  differ |= put_total(a->question == NETC_TRAINING ? "training" : "inference",
                      a->bytes, b->bytes, true, markdown);
  differ |= put_verdicts(a->verdict, b->verdict, markdown);
  bool all = a->gpu_layers == a->layer_count && b->gpu_layers == b->layer_count;
  if (a->host_bytes || b->host_bytes)
    differ |= put_total("host", a->host_bytes, b->host_bytes, true, markdown);
  if (!all)
    differ |=
        put_total("on the card", a->gpu_layers, b->gpu_layers, false, markdown);
  differ |=
      put_known("largest batch", a->largest_batch, b->largest_batch, markdown);
  differ |=
      put_known("context", a->longest_context, b->longest_context, markdown);
  differ |=
      put_known("sequences", a->most_sequences, b->most_sequences, markdown);
  return put_known("tokens", a->positions, b->positions, markdown) || differ;
}

static bool put_totals(const struct side *a, const struct side *b,
                       bool markdown) {
  struct netc_totals x = {.size = sizeof x}, y = {.size = sizeof y};
  struct netc_training s = {.size = sizeof s}, t = {.size = sizeof t};
  struct netc_inference p = {.size = sizeof p}, q = {.size = sizeof q};
  netc_training(a->netc, &s);
  netc_training(b->netc, &t);
  netc_totals(a->netc, &x);
  netc_totals(b->netc, &y);
  netc_inference(a->netc, &p);
  netc_inference(b->netc, &q);
  if (markdown)
    fputs("| | before | after | change | |\n|---|---:|---:|---:|---:|\n",
          stdout);
  else
    printf("%-13s  %16s  %16s  %16s\n", "", "before", "after", "change");
  bool differ = put_total("layers", (int64_t)a->count, (int64_t)b->count, false,
                          markdown);
  differ |=
      put_total("parameters", x.param_count, y.param_count, false, markdown);
  differ |= put_total("MACs", x.mac_count, y.mac_count, false, markdown);
  differ |= put_answers(&a->answer, &b->answer, markdown);
  if (a->answer.question == NETC_TRAINING) {
    differ |= put_times(a->netc, b->netc, markdown);
    differ |= put_total("saved", s.device_saved_bytes, t.device_saved_bytes,
                        true, markdown);
  }
  differ |=
      put_total("weights", p.weight_bytes, q.weight_bytes, true, markdown);
  differ |= put_total("arena", p.arena_bytes, q.arena_bytes, true, markdown);
  return differ;
}

/* Layers */

static bool same_shape(const struct netc_shape *a, const struct netc_shape *b) {
  return a->type == b->type && a->rank == b->rank &&
         memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

static bool same_layer(const struct netc_layer *a, const struct netc_layer *b) {
  return strcmp(a->written, b->written) == 0 && same_shape(&a->out, &b->out) &&
         a->param_count == b->param_count;
}

/* "+ conv1  conv 64 3x3 pad  32x32x64  1,792" */
static void put_layer(char sign, const struct netc_layer *layer) {
  printf("%c %-20s %-28s ", sign, layer->name, layer->written);
  for (int i = 0; i < layer->out.rank; i++)
    printf("%s%" PRId64, i ? "x" : "", layer->out.dims[i]);
  if (layer->param_count)
    printf("  %s", count_text(layer->param_count).text);
  putchar('\n');
}

/* Prints layers that differ; returns the number of lines. */
static size_t put_layers(const struct side *a, const struct side *b,
                         size_t most) {
  size_t i = 0, k = 0, lines = 0;
  while (i < a->count || k < b->count) {
    int order = i == a->count   ? 1
                : k == b->count ? -1
                                : strcmp(a->layers[i].name, b->layers[k].name);
    if (order == 0 && same_layer(&a->layers[i], &b->layers[k])) {
      i++, k++;
      continue;
    }
    if (order <= 0 && lines++ < most)
      put_layer('-', &a->layers[i]);
    if (order >= 0 && lines++ < most)
      put_layer('+', &b->layers[k]);
    i += order <= 0;
    k += order >= 0;
  }
  return lines;
}

static int compare(const struct side *a, const struct side *b) {
  const struct net_options *o = &b->options;
  bool differ = put_totals(a, b, o->markdown);
  putchar('\n');
  if (o->markdown)
    fputs("```diff\n", stdout);
  size_t most = o->look.unfold ? SIZE_MAX : MOST_LINES;
  size_t lines = put_layers(a, b, most);
  if (o->markdown)
    fputs("```\n", stdout);
  if (lines > most)
    printf("%zu more lines: --unfold shows them\n", lines - most);
  int end = finish_stdout();
  if (end != EXIT_DONE || o->exit_zero)
    return end;
  return differ || lines ? EXIT_SOURCE : EXIT_DONE;
}

static int diff(struct side *a, struct side *b) {
  const struct operands *files = &b->options.files;
  if (files->count > 2)
    return complain(EXIT_USAGE, "netc diff needs two nets");
  if (files->count == 1 && !a->options.other_defines)
    return complain(EXIT_USAGE,
                    "netc diff needs two nets, or one with two values: `-D "
                    "depth=50 -D depth=101`");
  int status = net_options_single(&b->options);
  if (status == EXIT_DONE)
    status = load_side(a, files->at[0]);
  if (status == EXIT_DONE)
    status = load_side(b, files->at[files->count - 1]);
  return status == EXIT_DONE ? compare(a, b) : status;
}

int command_diff(int argc, char **argv) {
  struct side a = {.netc = netc_open(NULL, NULL)};
  struct side b = {.netc = netc_open(NULL, NULL)};
  int status = EXIT_IO;
  a.options.first_defines = true;
  if (!a.netc || !b.netc)
    complain(EXIT_IO, "out of memory");
  else if (!net_options_read(&a.options, COMMAND_DIFF, a.netc, argc, argv))
    status = a.options.files.status;
  else if (!net_options_read(&b.options, COMMAND_DIFF, b.netc, argc, argv))
    status = b.options.files.status;
  else
    status = diff(&a, &b);
  free(a.layers);
  free(b.layers);
  net_options_close(&a.options);
  net_options_close(&b.options);
  netc_close(a.netc);
  netc_close(b.netc);
  return status;
}
