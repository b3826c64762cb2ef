/* `use "file.net"`: takes defs, lets and params of another file, once. */
#include "sema/statements.h"

struct using {
  struct using *outer;
  int source;
  struct slice name;
};

/* True for statements that a file shares. Its net is not shared. */
static bool is_shared(enum stmt_kind kind) {
  return kind == STMT_DEF || kind == STMT_LET || kind == STMT_PARAM ||
         kind == STMT_USE;
}

static bool is_known(const struct expander *e, int source) {
  for (size_t i = 0; i < e->used.count; i++)
    if (e->used.at[i] == source)
      return true;
  return false;
}

static bool is_cycle(struct expander *e, const struct stmt *stmt, int source) {
  bool found = source == e->in->source;
  for (const struct using *u = e->using; u; u = u->outer)
    found = found || u->source == source;
  if (!found)
    return false;
  struct diagnostic *d =
      report(e, USE_CYCLE, stmt->name_span,
             "\"%.*s\" uses itself, directly or through other files",
             SLICE_ARG(stmt->name));
  for (const struct using *u = e->using; u; u = u->outer)
    diag_note(d, "inside \"%.*s\"", SLICE_ARG(u->name));
  diag_help(d, "move the definitions that both need into a third file");
  return true;
}

void expand_use(struct expander *e, const struct stmt *stmt) {
  const struct loader *loader = &e->in->loader;
  const struct block *program = NULL;
  struct slice reason = {0};
  int source = loader->load(loader->user, stmt->name, stmt->name_span, &program,
                            &reason);
  if (source < 0) {
    struct diagnostic *d =
        report(e, CANNOT_READ, stmt->name_span, "cannot use \"%.*s\": %.*s",
               SLICE_ARG(stmt->name), SLICE_ARG(reason));
    diag_help(d, "netc looks in the folder of the file that uses it, then in "
                 "the folders of -I");
    return;
  }
  if (is_cycle(e, stmt, source) || is_known(e, source))
    return;
  *VEC_PUSH(e->arena, &e->used) = source;
  struct using inner = {e->using, source, stmt->name};
  e->using = &inner;
  for (const struct stmt *s = program->first; s; s = s->next)
    if (is_shared(s->kind))
      expand_stmt(e, s);
  e->using = inner.outer;
}
