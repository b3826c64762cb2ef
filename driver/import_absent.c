/* A program that was built without `netc import` says so. */
#include "driver/command.h"

int command_import(int argc, char **argv) {
  (void)argc;
  (void)argv;
  return complain(EXIT_USAGE,
                  "this netc was built without `import` (`make IMPORT=0`); "
                  "`make` builds it with readers of other frameworks' files");
}
