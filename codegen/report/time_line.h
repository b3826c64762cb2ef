/* Lines on the time of inference: tokens per second and prefill, or a batch. */
#ifndef NETC_CODEGEN_REPORT_TIME_LINE_H
#define NETC_CODEGEN_REPORT_TIME_LINE_H

#include "codegen/report/screen.h"

enum { TIME_LINES = 2 };

/*
 * "speed", "about 117 tokens/s (calibrated on 59 runs of 7 cards, median error
 * 9 %)", and "prefill"; or "time" of a batch. Returns the number of lines: 0
 * without a known device.
 */
int time_lines(const struct compiled *c, struct screen_row lines[TIME_LINES]);

/*
 * "type", "bf16", "the t4 has compute capability 7.5, ..." if the card has no
 * units for the type that was asked about; returns the number of lines.
 */
int type_line(const struct compiled *c, struct screen_row *line);

#endif
