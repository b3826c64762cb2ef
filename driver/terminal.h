/* What is known of the terminal. */
#ifndef NETC_DRIVER_TERMINAL_H
#define NETC_DRIVER_TERMINAL_H

/*
 * Columns for a report on standard output: COLUMNS, else those of the
 * terminal, else 80. Files do not depend on either.
 */
int terminal_width(void);

/* Lines of the screen: LINES, else those of the terminal; 0: neither. */
int terminal_height(void);

#endif
