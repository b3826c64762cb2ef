/* Size of the terminal. */
#ifndef NETC_DRIVER_TERMINAL_H
#define NETC_DRIVER_TERMINAL_H

/*
 * Columns for a report on standard output: COLUMNS, else the terminal's, else
 * 80. Files do not depend on either.
 */
int terminal_width(void);

/* Lines of the screen: LINES, else the terminal's; 0: unknown. */
int terminal_height(void);

#endif
