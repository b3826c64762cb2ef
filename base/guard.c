/* Guard: where execution resumes after a failure that nothing can handle. */
#include "base/guard.h"

#include <stdlib.h>

#include "base/arena.h"

#ifdef NETC_NO_SETJMP

bool guard_run(struct arena *const arenas[GUARD_ARENAS],
               void (*call)(void *user), void *user) {
  (void)arenas;
  call(user);
  return true;
}

_Noreturn void guard_fail(struct guard *guard) {
  (void)guard;
  abort();
}

#else

#include <setjmp.h>

struct guard {
  jmp_buf at;
  struct arena *deepest[GUARD_ARENAS]; /* open arenas at the start, or NULL */
};

static void exchange(struct arena *const arenas[GUARD_ARENAS],
                     struct guard *guards[GUARD_ARENAS]) {
  for (int i = 0; i < GUARD_ARENAS; i++) {
    if (!arenas[i])
      continue;
    struct arena *root = arena_root(arenas[i]);
    struct guard *other = root->guard;
    root->guard = guards[i];
    guards[i] = other;
  }
}

bool guard_run(struct arena *const arenas[GUARD_ARENAS],
               void (*call)(void *user), void *user) {
  struct guard guard;
  struct guard *guards[GUARD_ARENAS] = {&guard, &guard, &guard};
  for (int i = 0; i < GUARD_ARENAS; i++)
    guard.deepest[i] = arenas[i] ? arena_deepest(arenas[i]) : NULL;
  exchange(arenas, guards);
  if (setjmp(guard.at) == 0) {
    call(user);
    exchange(arenas, guards);
    return true;
  }
  exchange(arenas, guards);
  return false;
}

_Noreturn void guard_fail(struct guard *guard) {
  if (!guard)
    abort(); /* an arena without a guard: a bug in netc */
  for (int i = 0; i < GUARD_ARENAS; i++)
    while (guard->deepest[i] && guard->deepest[i]->inner)
      arena_close(guard->deepest[i]->inner);
  longjmp(guard->at, 1);
}

#endif
