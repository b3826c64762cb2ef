/* Layers that take a block: the front, the block, then the layer itself. */
#include "base/check.h"
#include "sema/statements.h"

enum { LIMIT_COPIES = 65536 }; /* of a block, with nested copies */

static bool check_block(struct expander *e, const struct block_making *m) {
  if (m->block)
    return true;
  struct diagnostic *d = report(e, WRONG_COUNT, m->span,
                                "%s needs exactly one block", m->kind->name);
  return diag_help(d, "write `%s ... { linear 64 gelu; linear 16 }`",
                   m->kind->name);
}

/* Multiplies the copies by those of the enclosing blocks. */
static bool enter_copies(struct expander *e, const struct block_making *m) {
  struct copies own = m->kind->copies(m->binding->args);
  int64_t most;
  if (mul_i64(e->copies.all, own.all, &most) && most <= LIMIT_COPIES) {
    e->copies.all = most;
    e->copies.active *= own.active; /* at most `all` */
    return true;
  }
  report(e, OUT_OF_RANGE, m->span, "a layer has more than %d copies",
         LIMIT_COPIES);
  return false;
}

static bool add(struct expander *e, const struct block_making *m,
                const struct layer_kind *kind, const char *name,
                const int64_t *inputs, int count) {
  struct node_making making = {kind, m->binding, m->span,
                               name_label(e, slice_of(name)), NO_NODE};
  return node_add(e, &making, inputs, count);
}

bool block_expand(struct expander *e, const struct block_making *m) {
  struct copies outer = e->copies;
  int64_t inputs[3] = {0, 0, e->current};
  e->model->groups.at[e->group].block = true;
  if (!check_block(e, m) ||
      !add(e, m, m->kind->front, m->kind->front->name, &inputs[2], 1))
    return false;
  inputs[1] = e->current;
  bool known = enter_copies(e, m);
  if (known)
    expand_scoped(e, m->block);
  e->copies = outer;
  inputs[0] = e->current;
  if (!known || e->lost || !add(e, m, m->kind, "combine", inputs, 3))
    return false;
  struct text call = text_new(e->arena);
  model_put_layer(&call, e->model, e->current, NULL);
  e->model->groups.at[e->group].call = text_slice(&call);
  return true;
}
