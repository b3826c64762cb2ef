/* Progress: a line on a terminal for work that takes over a second. */
#define _POSIX_C_SOURCE 200809L
#include "driver/progress.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/command.h"

enum { PATIENCE = 1000, BETWEEN = 100 }; /* milliseconds */

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void progress_open(struct progress_line *line, struct netc *netc) {
  const char *terminal = getenv("TERM");
  bool dumb = !terminal || strcmp(terminal, "dumb") == 0;
  *line = (struct progress_line){.wanted = !dumb && isatty(STDERR_FILENO),
                                 .start = now()};
  if (netc && line->wanted)
    netc_on_progress(netc, progress_show, line);
}

bool progress_show(void *user, const char *what, int64_t done, int64_t total) {
  struct progress_line *line = user;
  int64_t time = line->wanted ? now() : 0;
  if (time < line->start + PATIENCE || time < line->last + BETWEEN)
    return true;
  line->last = time;
  line->shown = true;
  fprintf(stderr, "\rnetc: %s", what);
  if (total > 0)
    fprintf(stderr, ", %d %%", (int)(100.0 * (double)done / (double)total));
  else if (done > 0)
    fprintf(stderr, ", %s", count_text(done).text);
  fputs("\033[K", stderr); /* erases the rest of a longer line */
  fflush(stderr);
  return true;
}

void progress_erase(struct progress_line *line) {
  if (line->shown)
    fputs("\r\033[K", stderr);
  line->shown = false;
}
