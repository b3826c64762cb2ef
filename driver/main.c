/* netc: selects the command. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/suggest.h"
#include "driver/command.h"
#include "driver/executable.h"

static const struct command_row commands[] = {
#define COMMAND(constant, word, function, operands, summary) \
  {word, function, operands, summary},
#include "driver/commands.def"
#undef COMMAND
};

const struct command_row *command_row(enum command command) {
  return &commands[command];
}

/*
 * Opens missing standard descriptors; otherwise the next opened file would get
 * one of them, and the output for it.
 */
static void open_standard_descriptors(void) {
  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 &&
        open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      exit(EXIT_IO);
}

/* Reports a word that is no file but similar to a command. */
static bool misspelt(const char *word) {
  struct suggestion s = suggest_begin(slice_of(word));
  if (strpbrk(word, "./") || access(word, F_OK) == 0)
    return false;
  for (int i = 1; i < COMMAND_COUNT; i++)
    suggest_offer(&s, slice_of(commands[i].word));
  if (s.best.at)
    complain(EXIT_USAGE, "unknown command `%s`; did you mean `%.*s`?", word,
             SLICE_ARG(s.best));
  return s.best.at != NULL;
}

/*
 * Passes over large nets need memory repeatedly. Keeping it saves the system
 * from mapping and clearing it for each pass: a quarter of the time for a
 * million layers.
 */
static void keep_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

int main(int argc, char **argv) {
  keep_memory();
  open_standard_descriptors();
  executable_keep_absolute();
  signal(SIGPIPE, SIG_IGN); /* a closed pipe becomes an error of the write */
  signal(SIGXFSZ, SIG_IGN); /* and so does the limit on file sizes */
  for (int i = 1; argc > 1 && i < COMMAND_COUNT; i++)
    if (strcmp(argv[1], commands[i].word) == 0)
      return commands[i].run(argc - 1, argv + 1);
  if (argc > 1 && *argv[1] != '-' && misspelt(argv[1]))
    return EXIT_USAGE;
  return commands[0].run(argc, argv);
}
