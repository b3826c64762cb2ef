/* --beside NET[:frozen][:batch=N]: other nets in the same process. */
#define _POSIX_C_SOURCE 200809L
#include "driver/beside.h"

#include <stdlib.h>
#include <string.h>

struct beside_spec {
  char *net;         /* a file, or zoo:NAME */
  const char *batch; /* NULL: that of the settings */
  bool frozen;
};

/* Cuts the words off the end; the rest is the net. */
static int read_spec(const char *argument, struct beside_spec *spec) {
  *spec = (struct beside_spec){.net = strdup(argument)};
  if (!spec->net)
    return complain(EXIT_IO, "out of memory");
  for (char *colon; (colon = strrchr(spec->net, ':')) && colon > spec->net;) {
    if (strcmp(colon, ":frozen") == 0)
      spec->frozen = true;
    else if (strncmp(colon, ":batch=", 7) == 0)
      spec->batch = argument + (colon - spec->net) + 7;
    else
      break;
    *colon = '\0';
  }
  return EXIT_DONE;
}

static int set_batch(struct netc *netc, const struct beside_spec *spec) {
  char batch[32];
  if (!spec->batch)
    return EXIT_DONE;
  snprintf(batch, sizeof batch, "%.*s", (int)strcspn(spec->batch, ":"),
           spec->batch);
  if (netc_set(netc, "batch", batch) == NETC_OK)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--beside %s:batch=%s: %s", spec->net, batch,
                  netc_message(netc));
}

/* A file of another framework is read like the net itself. */
static int load(struct net_options *o, struct netc *netc, const char *net) {
  struct opened_file opening = {.open = false};
  int status = opening_open(&opening, net);
  if (status == EXIT_DONE && opening.kind != KIND_COUNT)
    status = opening_import(&opening, o->given, o->given_count);
  if (status == EXIT_DONE) {
    enum netc_status loaded = netc_load_text(
        netc, input_name(opening.path), opening.text.at, opening.text.length);
    if (loaded != NETC_OK) {
      show_diagnostics(netc, o->style);
      status = exit_status_of(netc, loaded);
    }
  }
  opening_close(&opening);
  return status;
}

/* Adds a net to those of `to`. */
static int add(struct net_options *o, struct netc *to,
               const struct beside_spec *spec) {
  struct netc *netc = netc_open(NULL, NULL);
  int status = netc ? EXIT_DONE : complain(EXIT_IO, "out of memory");
  if (status == EXIT_DONE && netc_copy_settings(netc, o->netc) != NETC_OK)
    status =
        complain(EXIT_USAGE, "--beside %s: %s", spec->net, netc_message(netc));
  if (status == EXIT_DONE)
    status = set_batch(netc, spec);
  if (status == EXIT_DONE)
    status = load(o, netc, spec->net);
  if (status == EXIT_DONE && netc_beside(to, netc, spec->frozen) != NETC_OK)
    status =
        complain(EXIT_USAGE, "--beside %s: %s", spec->net, netc_message(to));
  netc_close(netc);
  return status;
}

int beside_load(struct net_options *o) {
  int status = EXIT_DONE;
  for (size_t i = 0; i < o->beside_count && status == EXIT_DONE; i++) {
    struct beside_spec spec;
    status = read_spec(o->beside[i], &spec);
    if (status == EXIT_DONE)
      status = add(o, o->netc, &spec);
    free(spec.net);
  }
  return status;
}

int beside_load_parts(struct net_options *o, struct netc *netc) {
  int status = EXIT_DONE;
  for (size_t i = 0; i < o->opening.parts.count && status == EXIT_DONE; i++) {
    struct beside_spec spec = {.net = strdup(o->opening.parts.at[i]),
                               .frozen = true};
    status =
        spec.net ? add(o, netc, &spec) : complain(EXIT_IO, "out of memory");
    free(spec.net);
  }
  return status;
}
