/* What is known of the terminal. */
#define _DEFAULT_SOURCE
#include "driver/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, WIDEST = 400, USUAL = 80 };

int terminal_width(void) {
  const char *columns = getenv("COLUMNS");
  struct winsize size;
  long width = columns ? strtol(columns, NULL, 10) : 0;
  if (width <= 0 && isatty(STDOUT_FILENO) &&
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    width = size.ws_col;
  if (width <= 0)
    width = USUAL;
  return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : (int)width;
}
