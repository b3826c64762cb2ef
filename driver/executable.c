/* Finds other programs, independently of the current folder. */
#define _XOPEN_SOURCE 700
#include "driver/executable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Lists of folders, separated by colons, with programs, libraries, headers and
 * modules. */
static const char *const lists[] = {
    "PATH",  "LD_LIBRARY_PATH", "COMPILER_PATH", "LIBRARY_PATH",
    "CPATH", "C_INCLUDE_PATH",  "PYTHONPATH",    "NODE_PATH"};

static size_t folder_length(const char *folder) {
  return strcspn(folder, ":");
}

static void keep_absolute(const char *name) {
  const char *list = getenv(name);
  char *kept = list ? malloc(strlen(list) + 2) : NULL;
  if (list && !kept) {
    unsetenv(name);
    return;
  }
  size_t used = 0;
  while (list && *list) {
    size_t length = folder_length(list);
    if (*list == '/') {
      memcpy(kept + used, list, length);
      used += length;
      kept[used++] = ':';
    }
    list += length + (list[length] == ':');
  }
  if (used) {
    kept[used - 1] = '\0';
    setenv(name, kept, 1);
  } else if (list && strcmp(name, "PATH") == 0) {
    setenv(name, "/nonexistent", 1); /* without PATH, shells have a default */
  } else {
    unsetenv(name);
  }
  free(kept);
}

void executable_keep_absolute(void) {
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    keep_absolute(lists[i]);
}

static bool is_executable(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISREG(found.st_mode) &&
         access(path, X_OK) == 0;
}

/* Makes a path absolute; false if it is too long. */
static bool make_absolute(const char *name, struct executable *path) {
  char here[EXECUTABLE_PATH] = "";
  if (*name != '/' && !getcwd(here, sizeof here))
    return false;
  int length = snprintf(path->text, sizeof path->text, "%s%s%s", here,
                        *name == '/' ? "" : "/", name);
  return length > 0 && (size_t)length < sizeof path->text;
}

bool executable_find(const char *name, struct executable *path) {
  char usual[256] = "/usr/bin:/bin";
  if (strchr(name, '/'))
    return make_absolute(name, path) && is_executable(path->text);
  const char *list = getenv("PATH");
  if (!list && confstr(_CS_PATH, usual, sizeof usual) <= sizeof usual)
    list = usual;
  while (list && *list && *name) {
    size_t length = folder_length(list);
    int made = snprintf(path->text, sizeof path->text, "%.*s/%s", (int)length,
                        list, name);
    if (*list == '/' && made > 0 && (size_t)made < sizeof path->text &&
        is_executable(path->text))
      return true;
    list += length + (list[length] == ':');
  }
  return false;
}
