/* --vary: lengths that differ from batch to batch. */
#include "driver/vary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { MOST_TOKENS = 1 << 30 };

struct vary_file {
  int64_t shortest, longest, sum, count;
};

/* A length at `at`, after which `*end` begins; 0: none. */
static int64_t length_at(const char *at, char **end) {
  errno = 0;
  long long length = strtoll(at, end, 10);
  return errno || *end == at || length < 1 || length > MOST_TOKENS ? 0 : length;
}

/* Blanks, commas and line ends are between the lengths. */
static bool read_line(struct vary_file *file, char *at) {
  for (char *end; *(at += strspn(at, " \t\r\n,")); at = end) {
    int64_t length = length_at(at, &end);
    if (!length || (*end && !strchr(" \t\r\n,", *end)))
      return false;
    if (!file->count || length < file->shortest)
      file->shortest = length;
    file->longest = max_i64(file->longest, length);
    if (!add_i64(file->sum, length, &file->sum))
      return false;
    file->count++;
  }
  return true;
}

static int set_file(struct net_options *o, const char *path) {
  struct vary_file file = {0};
  char line[4096];
  long at = 0;
  bool right = true;
  FILE *in = fopen(path, "r");
  if (!in)
    return complain(EXIT_IO,
                    "--vary %s: %s; give A..B, such as 91..8192, or a file "
                    "with a length on each line",
                    path, strerror(errno));
  for (; right && fgets(line, sizeof line, in); at++)
    right = (strchr(line, '\n') || feof(in)) && read_line(&file, line);
  bool failed = ferror(in);
  fclose(in);
  if (failed)
    return complain(EXIT_IO, "--vary %s: it cannot be read", path);
  if (!right)
    return complain(EXIT_USAGE,
                    "%s:%ld: this is not a number of tokens; write a length "
                    "on each line",
                    path, at);
  if (!file.count)
    return complain(EXIT_USAGE,
                    "--vary %s: the file has no length; write one on each line",
                    path);
  return exit_status_of(
      o->netc,
      netc_vary(o->netc, file.shortest, file.sum / file.count, file.longest));
}

int vary_set(struct net_options *o, const char *argument) {
  char *end = NULL;
  int64_t shortest = length_at(argument, &end);
  if (!shortest || strncmp(end, "..", 2) != 0)
    return set_file(o, argument);
  int64_t longest = length_at(end + 2, &end);
  if (!longest || *end || longest < shortest)
    return complain(EXIT_USAGE,
                    "--vary %s: give the shortest and the longest length, "
                    "such as 91..8192",
                    argument);
  return exit_status_of(o->netc, netc_vary(o->netc, shortest,
                                           shortest + (longest - shortest) / 2,
                                           longest));
}
