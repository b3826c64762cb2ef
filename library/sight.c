/*
 * Scopes for names.c. A name is visible after its definition, inside the same
 * braces.
 */
#include "library/sight.h"

#include "library/repair.h"

void sight_add_role(struct name_walk *w, struct span span,
                    struct word_role role) {
  role.span = repair_written(w->load, span);
  if (role.span.end > role.span.begin) /* otherwise it is in a repair */
    *VEC_PUSH(w->arena, &w->names->roles) = role;
}

static void add_name_role(struct name_walk *w, int64_t index, struct span span,
                          bool defines) {
  sight_add_role(
      w, span,
      (struct word_role){.kind = names_token(w->names->all.at[index].kind),
                         .defines = defines,
                         .name = index,
                         .layer_kind = -1,
                         .argument = -1});
}

int64_t sight_find_in(const struct sight *sight, struct slice name) {
  const struct map_entry *entry = map_find(&sight->names, name);
  return entry ? entry->number - 1 : -1;
}

int64_t sight_find(const struct sight *sight, struct slice name) {
  int64_t found = -1;
  for (; sight && found < 0; sight = sight->outer)
    found = sight_find_in(sight, name);
  return found;
}

void sight_add_use(struct name_walk *w, int64_t index, struct span span) {
  struct span written = repair_written(w->load, span);
  if (written.end == written.begin)
    return;
  *VEC_PUSH(w->arena, &w->names->all.at[index].uses) = written;
  add_name_role(w, index, span, false);
}

bool sight_use(struct name_walk *w, struct slice name, struct span span) {
  int64_t index = sight_find(w->sight, name);
  if (index >= 0)
    sight_add_use(w, index, span);
  return index >= 0;
}

void sight_take_in(struct name_walk *w, struct sight *sight, int64_t index) {
  struct slice name = w->names->all.at[index].name;
  map_add(w->arena, &sight->names, name)->number = index + 1;
}

void sight_define(struct name_walk *w, struct sight *sight,
                  enum netc_name_kind kind, struct slice name, struct span span,
                  const struct stmt *stmt) {
  int64_t index = (int64_t)w->names->all.count;
  struct span written = repair_written(w->load, span);
  if (written.end == written.begin)
    return;
  bool inner = kind == NETC_NAME_ARGUMENT || kind == NETC_NAME_TURN;
  struct span seen = inner || !stmt ? span : stmt->span;
  struct span end =
      repair_written(w->load, (struct span){sight->end, sight->end});
  *VEC_PUSH(w->arena, &w->names->all) =
      (struct source_name){.kind = kind,
                           .name = name,
                           .span = written,
                           .from = repair_written(w->load, seen).end,
                           .to = end.end,
                           .stmt = stmt};
  sight_take_in(w, sight, index);
  add_name_role(w, index, span, true);
}

struct sight *sight_enter(struct name_walk *w, uint32_t end) {
  struct sight *sight = ARENA_NEW(w->arena, struct sight);
  sight->outer = w->sight;
  sight->end = end;
  w->sight = sight;
  return sight;
}

void sight_leave(struct name_walk *w) {
  w->sight = w->sight->outer;
}

/* `skip[i]:` is a single name in its def or file, however often it is
 * defined. */
void sight_define_label(struct name_walk *w, const struct stmt *stmt) {
  const struct stmt_ends *ends = stmt->ends;
  struct sight *sight = w->sight;
  struct span span = {ends->label_span.begin,
                      ends->label_span.begin + (uint32_t)ends->label.length};
  if (!ends->label.at)
    return;
  while (ends->label_indices && !sight->home)
    sight = sight->outer;
  int64_t before = ends->label_indices ? sight_find_in(sight, ends->label) : -1;
  if (before >= 0)
    sight_add_use(w, before, span);
  else
    sight_define(w, sight, NETC_NAME_LABEL, ends->label, span, stmt);
}

/* Labels of the net by name: index + 1; -1: ambiguous. */
static struct map find_labels(const struct name_walk *w) {
  struct map labels = {0};
  for (size_t i = 0; i < w->names->all.count; i++) {
    const struct source_name *name = &w->names->all.at[i];
    if (name->kind != NETC_NAME_LABEL)
      continue;
    struct map_entry *entry = map_add(w->arena, &labels, name->name);
    entry->number = entry->number ? -1 : (int64_t)i + 1;
  }
  return labels;
}

/* The block of a def or group that a label stands for; NULL: none. */
static const struct block *block_of(const struct name_walk *w, int64_t label) {
  const struct stmt *stmt = w->names->all.at[label].stmt;
  if (!stmt || stmt->kind == STMT_GROUP)
    return stmt ? stmt->more->block : NULL;
  for (size_t i = w->names->all.count; stmt->kind == STMT_APPLY && i-- > 0;) {
    const struct source_name *def = &w->names->all.at[i];
    if (def->kind == NETC_NAME_DEF && slice_equal(def->name, stmt->name))
      return def->stmt->more->block;
  }
  return NULL;
}

/* The label called `name` in such a block; -1: there is none, or several. */
static int64_t label_in(const struct name_walk *w, const struct block *block,
                        struct slice name) {
  struct span all = repair_written(w->load, block->span);
  int64_t found = -1;
  for (size_t i = 0; i < w->names->all.count; i++) {
    const struct source_name *label = &w->names->all.at[i];
    if (label->kind != NETC_NAME_LABEL || !slice_equal(label->name, name) ||
        label->span.begin < all.begin || label->span.end > all.end)
      continue;
    if (found >= 0)
      return -1;
    found = (int64_t)i;
  }
  return found;
}

/* The label that an expression names; -1: it is not known. */
static int64_t label_of(const struct name_walk *w, const struct sight *sight,
                        const struct map *labels, const struct expr *expr) {
  const struct block *block;
  int64_t outer;
  switch (expr->kind) {
  case EXPR_INDEX: return label_of(w, sight, labels, expr->left);
  case EXPR_PATH:
    outer = label_of(w, sight, labels, expr->left);
    block = outer >= 0 ? block_of(w, outer) : NULL;
    return block ? label_in(w, block, expr->name) : -1;
  case EXPR_NAME:
    outer = sight_find(sight, expr->name);
    if (outer < 0) {
      const struct map_entry *entry = map_find(labels, expr->name);
      outer = entry && entry->number > 0 ? entry->number - 1 : -1;
    }
    return outer >= 0 && w->names->all.at[outer].kind == NETC_NAME_LABEL ? outer
                                                                         : -1;
  default: return -1;
  }
}

/* Resolves names that are defined after their use, and layers' full names. */
void sight_use_late(struct name_walk *w) {
  struct map labels = find_labels(w);
  for (size_t i = 0; i < w->late.count; i++) {
    const struct late_word *late = &w->late.at[i];
    w->sight = late->sight;
    if (sight_use(w, late->name, late->span))
      continue;
    const struct map_entry *label = map_find(&labels, late->name);
    if (label && label->number > 0)
      sight_add_use(w, label->number - 1, late->span);
  }
  for (size_t i = 0; i < w->paths.count; i++) {
    const struct late_path *late = &w->paths.at[i];
    int64_t label = label_of(w, late->sight, &labels, late->path);
    const struct map_entry *only = map_find(&labels, late->path->name);
    if (label < 0 && only && only->number > 0) /* behind an argument */
      label = only->number - 1;
    if (label >= 0)
      sight_add_use(w, label, late->span);
  }
}
