/* netc check: diagnoses files, and whether they fit a device, for CI. */
#include "driver/sweep.h"

struct counts {
  size_t warnings, with_warnings;
};

static void count_warnings(const struct netc *netc, struct counts *counts) {
  size_t warnings = netc_diagnostic_count(netc);
  counts->warnings += warnings;
  counts->with_warnings += warnings > 0;
}

/* "room for 7.00 GiB"; what the framework itself takes may leave none. */
static const char *room_text(char *to, size_t size, int64_t bytes) {
  if (bytes <= 1)
    return "no room beside the framework";
  char room[32];
  snprintf(to, size, "room for %s", size_text(room, sizeof room, bytes));
  return to;
}

static int check_prediction(struct netc *netc, const char *file) {
  struct netc_prediction p = {.size = sizeof p};
  char need[32], room[64];
  netc_prediction(netc, &p);
  if (!p.asked || p.fits)
    return EXIT_DONE;
  if (p.need_bytes == INT64_MAX)
    fprintf(stderr,
            "%s: so many devices cannot serve it: `netc FILE.net --predict` "
            "says how many can\n",
            file);
  else
    fprintf(stderr,
            "%s: a prediction takes %s, and the device has %s\n", file,
            size_text(need, sizeof need, p.need_bytes),
            room_text(room, sizeof room, p.room_bytes));
  return EXIT_SOURCE;
}

/* --must-fit says what happens anyway, but for a device that nobody named. */
static int check_asked(struct netc *netc, const struct net_options *o) {
  struct netc_verdict v = {.size = sizeof v};
  struct netc_prediction p = {.size = sizeof p};
  netc_verdict(netc, &v);
  netc_prediction(netc, &p);
  return !o->must_fit || (o->look.predict ? p.asked : v.asked)
             ? EXIT_DONE
             : complain_no_device();
}

/* A device that was named is a promise: the step must fit it. */
static int check_fit(struct netc *netc, const char *file) {
  struct netc_verdict v = {.size = sizeof v};
  struct netc_way way = {.size = sizeof way};
  char peak[32], room[64];
  netc_verdict(netc, &v);
  if (!v.asked || v.fits)
    return EXIT_DONE;
  size_text(peak, sizeof peak, v.peak_bytes);
  if (v.peak_bytes > v.room_bytes)
    fprintf(stderr, "%s: a training step takes %s, and the device has %s\n",
            file, peak, room_text(room, sizeof room, v.room_bytes));
  if (v.host_bytes > v.host_room_bytes)
    fprintf(stderr, "%s: a host's devices have %s there, and it has %s\n",
            file, size_text(peak, sizeof peak, v.host_bytes),
            size_text(room, sizeof room, v.host_room_bytes));
  for (size_t i = 0; netc_way(netc, i, &way) == NETC_OK; i++)
    fprintf(stderr, "   = help: with %s it takes %s\n", way.options,
            size_text(peak, sizeof peak, way.peak_bytes));
  if (v.way_count == 0)
    fputs("   = help: no known setting makes it fit\n", stderr);
  return EXIT_SOURCE;
}

static int check_file(struct netc *netc, struct net_options *o,
                      const char *file, struct counts *counts) {
  enum netc_status loaded = net_options_compile(o, netc, file);
  show_diagnostics(netc, o->style);
  int status = exit_status_of(netc, loaded);
  if (loaded == NETC_OK) {
    count_warnings(netc, counts);
    status = check_asked(netc, o);
    if (status == EXIT_DONE)
      status = o->look.predict ? check_prediction(netc, file)
                               : check_fit(netc, file);
  }
  return status;
}

static int check(struct netc *netc, struct net_options *o) {
  if (sweep_wanted(o))
    return complain(EXIT_USAGE, "netc check takes one batch and one device");
  netc_set(netc, "check", o->look.predict ? "off" : "on");
  struct counts counts = {0, 0};
  int worst = EXIT_DONE;
  for (int i = 0; i < o->files.count; i++) {
    int status = check_file(netc, o, o->files.at[i], &counts);
    worst = status > worst ? status : worst;
  }
  if (counts.warnings && o->files.count > 1 && o->style != NETC_STYLE_JSON)
    fprintf(stderr, "%zu warning%s in %zu of %d files\n", counts.warnings,
            counts.warnings == 1 ? "" : "s", counts.with_warnings,
            o->files.count);
  return worst;
}

int command_check(int argc, char **argv) {
  struct net_options options = {.argc = 0};
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  int status = net_options_read(&options, COMMAND_CHECK, netc, argc, argv)
                   ? check(netc, &options)
                   : options.files.status;
  netc_close(netc);
  return status;
}
