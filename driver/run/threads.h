/* Threads: a parallel for-loop for the runtime. */
#ifndef NETC_DRIVER_RUN_THREADS_H
#define NETC_DRIVER_RUN_THREADS_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_THREADS = 1024 };

struct threads;

/* Opens `count` threads, including the caller's; NULL if not possible. */
struct threads *threads_open(int count);
void threads_close(struct threads *threads);

/* Calls task(data, i) for every i < count; `threads` is a struct threads. */
void threads_run(void *threads, size_t count, void (*task)(void *, size_t),
                 void *data);

#endif
