/*
 * Streams: a prediction takes one more row of the input and makes one more line
 * of each map, of which it keeps the lines that later windows read. The
 * operations after the last one of these see its map as it is in the window.
 */
#ifndef NETC_MEMORY_LINE_STREAM_H
#define NETC_MEMORY_LINE_STREAM_H

#include "memory/tasks.h"

/*
 * Makes task 0 of the graph of the first operations whose windows go on from
 * one prediction to the next. inference_lines says where they end, and why
 * there are none.
 */
void line_stream_find(struct tasks *b);

#endif
