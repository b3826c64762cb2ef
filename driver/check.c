/* netc check: reports diagnostics, and whether nets fit a device, for CI. */
#include "driver/must_fit.h"
#include "driver/mend.h"

struct counts {
  size_t warnings, with_warnings;
};

static void count_warnings(const struct netc *netc, struct counts *counts) {
  size_t warnings = netc_diagnostic_count(netc);
  counts->warnings += warnings;
  counts->with_warnings += warnings > 0;
}

static int check_file(struct netc *netc, struct net_options *o,
                      const char *file, struct counts *counts) {
  int status = o->fix ? mend(o, netc, file) : EXIT_DONE;
  if (status == EXIT_DONE)
    status = net_options_compile(o, netc, file);
  if (status == EXIT_DONE) {
    show_diagnostics(netc, o->style);
    count_warnings(netc, counts);
    status = must_fit_is_asked(netc, o);
    if (status == EXIT_DONE) /* naming a device means that it must fit */
      status = must_fit_check(netc, o, file, true);
  }
  return status;
}

static int check(struct netc *netc, struct net_options *o) {
  if (net_options_single(o) != EXIT_DONE)
    return EXIT_USAGE;
  netc_mode(netc, o->look.predict ? NETC_FOR_ALL : NETC_FOR_CHECK);
  netc_partial(netc, true); /* reports errors after errors, too */
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
  net_options_close(&options);
  netc_close(netc);
  return status;
}
