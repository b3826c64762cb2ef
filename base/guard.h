/* Guard: where execution resumes after a failure that nothing can handle. */
#ifndef NETC_BASE_GUARD_H
#define NETC_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct guard;

enum { GUARD_ARENAS = 3 }; /* NULL: unused */

/*
 * Runs `call`. Returns false if one of the arenas runs out of memory, or if the
 * work is stopped (arena_fail). Arenas opened inside them meanwhile are then
 * closed; they themselves stay open. Guards nest: an arena fails to its
 * innermost guard. On platforms without setjmp (NETC_NO_SETJMP) the program
 * aborts.
 */
bool guard_run(struct arena *const arenas[GUARD_ARENAS],
               void (*call)(void *user), void *user);

/* Does not return. */
_Noreturn void guard_fail(struct guard *guard);

#endif
