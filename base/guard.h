/* Guard: the one place that work which cannot go on comes back to. */
#ifndef NETC_BASE_GUARD_H
#define NETC_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct guard;

enum { GUARD_ARENAS = 3 }; /* NULL: no further one */

/*
 * Runs `call`. If one of the arenas cannot get memory meanwhile, or the work
 * is stopped (arena_fail), returns false: what was opened meanwhile inside any
 * of the arenas is closed, they themselves are not.
 * Guards nest; the innermost of an arena is the one that is returned to.
 * Where the platform has no setjmp (NETC_NO_SETJMP), the program ends.
 */
bool guard_run(struct arena *const arenas[GUARD_ARENAS],
               void (*call)(void *user), void *user);

/* Does not return. */
_Noreturn void guard_fail(struct guard *guard);

#endif
