/* Parts: `p: split c 2` makes p[1], which becomes current, and p[2]. */
#include <inttypes.h>

#include "layers/split.h"
#include "sema/statements.h"

static bool add_part(struct expander *e, const struct node_making *split,
                     int64_t whole, int64_t index) {
  const struct layer_kind *kind = split->kind->parts;
  struct text text = text_new(e->arena);
  struct span spans[LIMIT_SPECS];
  struct binding binding = {.spans = spans, .span_room = LIMIT_SPECS};
  bind_begin(e, &binding, kind->name, kind->specs, kind->args_size);
  *(struct part *)binding.args = (struct part){index, split->binding->args};
  binding.given = 1;
  name_put(&text, &split->name);
  text_printf(&text, "[%" PRId64 "]", index);
  struct node_making making = *split;
  making.kind = kind;
  making.binding = &binding;
  making.name = name_label(e, text_slice(&text));
  return node_add(e, &making, &whole, 1);
}

bool part_add_all(struct expander *e, const struct node_making *split) {
  int64_t whole = e->current, count = split_count(split->binding->args);
  if (count > MOST_PARTS)
    return false; /* the split is in error */
  for (int64_t i = 1; i <= count; i++)
    if (!add_part(e, split, whole, i))
      return false;
  e->current = whole + 1;
  return true;
}
