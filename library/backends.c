/* The table of outputs, from outputs.def. */
#include "library/backends.h"

#define OUTPUT(emit, ...) void emit(const struct compiled *c, struct text *out);
#include "library/outputs.def"
#undef OUTPUT

static const struct backend backends[] = {
#define OUTPUT(function, kind, need, who, ...) \
  {.name = kind,                               \
   .needs = need,                              \
   .purpose = who,                             \
   .emit = function,                           \
   .summary = __VA_ARGS__},
#include "library/outputs.def"
#undef OUTPUT
};

size_t backend_count(void) {
  return sizeof backends / sizeof *backends;
}

const struct backend *backend_at(size_t index) {
  return &backends[index];
}

const struct backend *backend_find(struct slice name) {
  for (size_t i = 0; i < backend_count(); i++)
    if (slice_is(name, backends[i].name) ||
        (backends[i].word && slice_is(name, backends[i].word)))
      return &backends[i];
  return NULL;
}
