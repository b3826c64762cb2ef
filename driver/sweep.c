/* Sweeps: one net for several batches and devices, as a table. */
#define _POSIX_C_SOURCE 200809L
#include "driver/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool sweep_wanted(const struct net_options *options) {
  return options->batches || options->all_gpus;
}

static int load(struct netc *netc, struct net_options *o) {
  return exit_status_of(netc, net_options_compile(o, netc, o->files.at[0]));
}

static int set(struct netc *netc, const char *name, const char *value) {
  if (netc_set(netc, name, value) == NETC_OK)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--%s %s: %s", name, value, netc_message(netc));
}

/* Batches: a line for each */

static int put_batch(struct netc *netc) {
  struct netc_training training = {.size = sizeof training};
  struct netc_inference predict = {.size = sizeof predict};
  struct netc_verdict verdict = {.size = sizeof verdict};
  netc_training(netc, &training);
  netc_inference(netc, &predict);
  netc_verdict(netc, &verdict);
  int64_t prediction =
      predict.weight_bytes + predict.arena_bytes + predict.cache_bytes;
  printf("%10s  %12s  %12s  %12s", count_text(training.batch).text,
         size_text(training.peak_bytes, UNITS_IEC).text,
         size_text(training.saved_bytes, UNITS_IEC).text,
         size_text(prediction, UNITS_IEC).text);
  int64_t left = verdict.room_bytes - verdict.peak_bytes;
  if (verdict.asked)
    printf("  %s %s", size_text(left < 0 ? -left : left, UNITS_IEC).text,
           left < 0 ? "too much" : "left");
  putchar('\n');
  return EXIT_DONE;
}

/* The next of "1,8,32" into `to`; NULL after the last one. */
static const char *next_item(const char *list, char *to, size_t room) {
  size_t length = strcspn(list, ",");
  snprintf(to, room, "%.*s", (int)length, list);
  return list[length] ? list + length + 1 : NULL;
}

static int sweep_batches(struct netc *netc, struct net_options *o) {
  char batch[32];
  int status = EXIT_DONE;
  printf("%10s  %12s  %12s  %12s\n", "batch", "training", "saved",
         "prediction");
  for (const char *at = o->batches; at && status == EXIT_DONE;) {
    at = next_item(at, batch, sizeof batch);
    status = set(netc, "batch", batch);
    if (status == EXIT_DONE)
      status = load(netc, o);
    if (status == EXIT_DONE)
      status = put_batch(netc);
  }
  return status;
}

/* Devices: a line for each, and a column for each batch */

static bool find_gpus(struct netc_argument *argument) {
  struct netc_setting setting = {.size = sizeof setting};
  for (size_t i = 0; netc_setting(i, &setting) == NETC_OK; i++)
    if (strcmp(setting.name, "gpu") == 0)
      return netc_setting_argument(i, argument) == NETC_OK;
  return false;
}

static void put_verdict(const struct netc_verdict *v) {
  int64_t left = v->room_bytes - v->peak_bytes;
  printf("  %12s %-8s", size_text(left < 0 ? -left : left, UNITS_IEC).text,
         left < 0 ? "too much" : "left");
}

static int put_device(struct netc *netc, struct net_options *o,
                      const char *gpu) {
  struct netc_verdict v = {.size = sizeof v};
  char batch[32];
  int status = set(netc, "gpu", gpu);
  const char *at = o->batches;
  for (int i = 0; status == EXIT_DONE && (at || i == 0); i++) {
    if (at) {
      at = next_item(at, batch, sizeof batch);
      status = set(netc, "batch", batch);
    }
    if (status == EXIT_DONE)
      status = load(netc, o);
    if (status != EXIT_DONE)
      return status;
    netc_verdict(netc, &v);
    if (i == 0)
      printf("%-10s  %10s", gpu, size_text(v.device_bytes, UNITS_IEC).text);
    put_verdict(&v);
  }
  printf("  %13s\n", count_text(v.largest_batch).text);
  return status;
}

static int sweep_devices(struct netc *netc, struct net_options *o) {
  struct netc_argument gpus = {.size = sizeof gpus};
  char gpu[32], batch[32], heading[48];
  int status = EXIT_DONE;
  if (!find_gpus(&gpus))
    return EXIT_BUG;
  printf("%-10s  %10s", "device", "memory");
  for (const char *at = o->batches; at;) {
    at = next_item(at, batch, sizeof batch);
    snprintf(heading, sizeof heading, "batch %s", batch);
    printf("  %-21s", heading);
  }
  if (!o->batches)
    printf("  %-21s", "training step");
  printf("  %13s\n", "largest batch");
  for (const char *at = gpus.words; *at && status == EXIT_DONE;) {
    size_t length = strcspn(at, " ");
    snprintf(gpu, sizeof gpu, "%.*s", (int)length, at);
    status = put_device(netc, o, gpu);
    at += length + (at[length] == ' ');
  }
  return status;
}

int sweep(struct netc *netc, struct net_options *o) {
  struct netc_training training = {.size = sizeof training};
  int status = load(netc, o);
  show_diagnostics(netc, o->style);
  if (status != EXIT_DONE)
    return status;
  netc_training(netc, &training);
  tell("%s: training with %s, %s (%s)", o->files.at[0], training.optimizer,
       training.measured ? "exact" : "simulated", training.profile);
  fputs("\n\n", stdout);
  status = o->all_gpus ? sweep_devices(netc, o) : sweep_batches(netc, o);
  int end = finish_stdout();
  return status ? status : end;
}
