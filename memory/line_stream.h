/*
 * Streams: each run takes one more input row, makes one more line of each map
 * and keeps the lines that later windows read. Later operations read the
 * complete map of the window.
 */
#ifndef NETC_MEMORY_LINE_STREAM_H
#define NETC_MEMORY_LINE_STREAM_H

#include "memory/tasks.h"

/*
 * Merges the first operations whose windows continue from one run to the next
 * into task 0 of the graph. inference_lines records where they end, or why
 * there are none.
 */
void line_stream_find(struct tasks *b);

#endif
