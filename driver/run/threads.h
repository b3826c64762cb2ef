/* Threads: a parallel for-loop, as the runtime wants one. */
#ifndef NETC_DRIVER_RUN_THREADS_H
#define NETC_DRIVER_RUN_THREADS_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_THREADS = 1024 };

struct threads;

/* `count` threads, the caller's included; NULL: they cannot be had. */
struct threads *threads_open(int count);
void threads_close(struct threads *threads);

/* Calls task(data, i) for every i < count; `threads` is a struct threads. */
void threads_run(void *threads, size_t count, void (*task)(void *, size_t),
                 void *data);

#endif
