/* Size of the terminal. */
#define _DEFAULT_SOURCE
#include "driver/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, WIDEST = 400, USUAL = 80, LONGEST = 1000000 };

/* Number in a variable; 0: not set. */
static long from_environment(const char *name) {
  const char *value = getenv(name);
  long number = value ? strtol(value, NULL, 10) : 0;
  return number < 0 ? 0 : number > LONGEST ? LONGEST : number;
}

static struct winsize size_of_terminal(void) {
  struct winsize size = {0};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return (struct winsize){0};
  return size;
}

int terminal_width(void) {
  long width = from_environment("COLUMNS");
  if (width == 0)
    width = size_of_terminal().ws_col;
  if (width == 0)
    width = USUAL;
  return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : (int)width;
}

int terminal_height(void) {
  long height = from_environment("LINES");
  return height ? (int)height : size_of_terminal().ws_row;
}
