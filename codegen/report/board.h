/* Board: RAM and flash of a microcontroller, as rows of the first lines. */
#ifndef NETC_CODEGEN_REPORT_BOARD_H
#define NETC_CODEGEN_REPORT_BOARD_H

#include "codegen/report/screen.h"

enum { BOARD_ROWS = 7 }; /* maximum */

/* "nucleo-f746zg (cortex-m7, 216 MHz)", or what is known of another board. */
void board_put_name(const struct compiled *c, const struct firmware *firmware,
                    struct text *out);

/* Rows on RAM and flash: what the net needs, and what that consists of; then
 * what is not counted. Returns their number. */
size_t board_rows(const struct compiled *c, const struct firmware *firmware,
                  struct screen_row rows[BOARD_ROWS]);

#endif
