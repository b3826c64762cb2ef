/* netc params: lists the params of a net, for -D. */
#include <string.h>

#include "driver/net_options.h"

struct widths {
  int name, value;
};

static int wider(int width, const char *text) {
  return (int)strlen(text) > width ? (int)strlen(text) : width;
}

/* "384", or "width/64 = 6" if it depends on others. */
static char *put_default(const struct netc_param *p, char *to, size_t room) {
  snprintf(to, room, "%s%s%s", p->follows, *p->follows ? " = " : "",
           p->fallback);
  return to;
}

/* Prints name, default and allowed values; values of -D follow. */
static void put_params(struct netc *netc) {
  struct netc_param p = {.size = sizeof p};
  char text[200];
  struct widths w = {(int)strlen("param"), (int)strlen("default")};
  for (size_t i = 0; netc_param(netc, i, &p) == NETC_OK; i++) {
    w.name = wider(w.name, p.name);
    w.value = wider(w.value, put_default(&p, text, sizeof text));
  }
  printf("%-*s  %-*s  allowed\n", w.name, "param", w.value, "default");
  for (size_t i = 0; netc_param(netc, i, &p) == NETC_OK; i++) {
    printf("%-*s  %-*s  %s", w.name, p.name, w.value,
           put_default(&p, text, sizeof text), *p.allowed ? p.allowed : "any");
    printf(p.given ? "; is %s\n" : "\n", p.value);
  }
}

static int params(struct netc *netc, struct net_options *o) {
  struct netc_param first = {.size = sizeof first};
  int status = net_options_load(o);
  if (netc_param(netc, 0, &first) == NETC_OK) {
    put_params(netc);
  } else if (status == EXIT_DONE) {
    tell("%s has no `param`", o->files.at[0]);
    putchar('\n');
  }
  int written = finish_stdout();
  return status == EXIT_DONE ? written : status;
}

int command_params(int argc, char **argv) {
  struct net_options options = {.argc = 0};
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  int status = net_options_read(&options, COMMAND_PARAMS, netc, argc, argv)
                   ? params(netc, &options)
                   : options.files.status;
  net_options_close(&options);
  netc_close(netc);
  return status;
}
