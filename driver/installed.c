/* Folders that are installed with netc: nets, sources of the runtime. */
#define _XOPEN_SOURCE 700
#include "driver/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

void installed_find(const char *name, const char *in_tree, char *path,
                    size_t room) {
  const char *const places[] = {"../share/netc/", name,     "../",
                                in_tree,          "../../", in_tree};
  char program[LONGEST_PATH], there[2 * LONGEST_PATH];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  while (length > 0 && program[length - 1] != '/')
    length--;
  for (size_t i = 0; length > 0 && i < sizeof places / sizeof *places; i += 2) {
    snprintf(there, sizeof there, "%.*s%s%s", (int)length, program, places[i],
             places[i + 1]);
    char *real = realpath(there, NULL);
    if (!real)
      continue;
    snprintf(path, room, "%s", real);
    free(real);
    return;
  }
  snprintf(path, room, "%s/%s", NETC_DATA, name);
}
