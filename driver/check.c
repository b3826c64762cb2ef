/* netc check: reports diagnostics, and whether nets fit a device, for CI. */
#include "driver/must_fit.h"
#include "driver/findings.h"
#include "driver/mend.h"

struct counts {
  size_t errors, warnings;
};

static void count(const struct netc *netc, struct counts *counts) {
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++) {
    struct netc_diagnostic d = {.size = sizeof d};
    if (netc_diagnostic((struct netc *)netc, i, &d) == NETC_OK)
      (*(d.severity == NETC_SEVERITY_ERROR ? &counts->errors
                                           : &counts->warnings))++;
  }
}

static int check_file(struct netc *netc, struct net_options *o,
                      const char *file, struct counts *counts) {
  enum netc_status loaded;
  findings_about(file);
  int status = o->fix ? mend(o, netc, file) : EXIT_DONE;
  if (status == EXIT_DONE)
    status = net_options_try(o, netc, file, &loaded);
  if (status != EXIT_DONE) { /* nothing was loaded */
    counts->errors++;
    return status;
  }
  if (net_options_unused(o, netc, loaded)) {
    counts->errors++;
    return exit_status_of(netc, NETC_USAGE);
  }
  show_diagnostics(netc, o->style);
  count(netc, counts);
  if (loaded != NETC_OK)
    return exit_status_of(netc, loaded);
  status = must_fit_is_asked(netc, o);
  if (status == EXIT_DONE) /* naming a device means that it must fit */
    status = must_fit_check(netc, o, file, true);
  counts->errors += status != EXIT_DONE;
  return status;
}

/* "2 errors and 1 warning in 6 files" */
static void put_counts(const struct counts *counts, int files) {
  const struct {
    size_t count;
    const char *what;
  } all[] = {{counts->errors, "error"}, {counts->warnings, "warning"}};
  int said = 0;
  for (int i = 0; i < 2; i++)
    if (all[i].count)
      fprintf(stderr, "%s%s %s%s", said++ ? " and " : "",
              count_text((int64_t)all[i].count).text, all[i].what,
              all[i].count == 1 ? "" : "s");
  fprintf(stderr, "%s in %d file%s\n", said ? "" : "no errors or warnings",
          files, files == 1 ? "" : "s");
}

static int check_files(struct netc *netc, struct net_options *o) {
  struct counts counts = {0, 0};
  int worst = EXIT_DONE;
  netc_mode(netc, o->look.predict ? NETC_FOR_ALL : NETC_FOR_CHECK);
  netc_partial(netc, true); /* reports errors after errors, too */
  for (int i = 0; i < o->files.count; i++) {
    int status = check_file(netc, o, o->files.at[i], &counts);
    worst = status > worst ? status : worst;
  }
  if (o->style == NETC_STYLE_TEXT || o->style == NETC_STYLE_COLOUR)
    put_counts(&counts, o->files.count);
  return worst;
}

static int check(struct netc *netc, struct net_options *o) {
  if (net_options_single(o) != EXIT_DONE)
    return EXIT_USAGE;
  bool document = (int)o->style > NETC_STYLE_JSON;
  if (document)
    findings_open((int)o->style);
  int worst = check_files(netc, o);
  if (document) {
    int status = findings_write(o->files.at, o->files.count);
    worst = status > worst ? status : worst;
  }
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
