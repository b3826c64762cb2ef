/*
 * The library on other platforms: reads a net from standard input through
 * the callback, writes its report. tools/portable.sh compares the bytes.
 */
#include <stdio.h>
#include <string.h>

#include "netc.h"

static bool put(void *user, const char *bytes, size_t length) {
  (void)user;
  return fwrite(bytes, 1, length, stdout) == length;
}

static enum netc_found read_input(void *user, const char *path,
                                  netc_sink_fn *sink, void *sink_user) {
  char piece[4096];
  size_t got;
  (void)user;
  if (strcmp(path, "main.net") != 0)
    return NETC_ABSENT;
  while ((got = fread(piece, 1, sizeof piece, stdin)) > 0)
    if (!sink(sink_user, piece, got))
      return NETC_UNREADABLE;
  return NETC_FOUND;
}

int main(int argc, char **argv) {
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return 3;
  netc_on_read(netc, read_input, NULL);
  enum netc_status status = netc_load_file(netc, "main.net");
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++)
    netc_diagnostic_emit(netc, i, NETC_STYLE_TEXT, put, NULL);
  if (status == NETC_OK)
    status = netc_emit(netc, argc > 1 ? argv[1] : "json", NULL, put, NULL);
  netc_close(netc);
  return (int)status;
}
