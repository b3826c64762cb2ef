/* Labels with an index, and references to labels. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "sema/binding/expander.h"
#include "layers/split.h"

/* Labels of one name in a def or file: `skip[1]`, `skip[2]`, ... */
struct family {
  struct map members; /* by full name */
  struct symbol *first, *last;
};

/* Formats a label in front of a layer, as skip[3]; false with a report. */
bool label_text(struct expander *e, const struct stmt *stmt,
                struct slice *label) {
  struct text text = text_new(e->arena);
  text_puts(&text, stmt->ends->label);
  for (const struct expr *x = stmt->ends->label_indices; x; x = x->next) {
    int64_t index;
    if (!eval_int(e, x, &index))
      return false;
    text_printf(&text, "[%" PRId64 "]", index);
  }
  *label = text_slice(&text);
  return true;
}

/* The scope of the enclosing def or file. Keeps the scopes inside it, which
 * `again` needs. */
static struct scope *find_home(struct expander *e) {
  struct scope *scope = e->scope;
  while (scope->home == SCOPE_INNER) {
    scope->kept = true;
    scope = scope->parent;
  }
  return scope;
}

static bool in_turn(const struct scope *scope, const struct stmt *loop) {
  while (scope && scope->loop != loop)
    scope = scope->parent;
  return scope;
}

/* True if the label is from an earlier iteration of a running loop. */
static bool is_over(const struct expander *e, const struct symbol *label) {
  const struct scope *scope = label->scope;
  while (scope && scope->home == SCOPE_INNER && !(scope->loop && scope->left))
    scope = scope->parent;
  return scope && scope->loop && in_turn(e->scope, scope->loop);
}

struct symbol *label_declare(struct expander *e, struct slice base,
                             struct slice label, struct span span) {
  struct scope *home = find_home(e);
  struct symbol *all = scope_own(home, base);
  if (!all) {
    all = scope_add(&e->pool, home, SYMBOL_FAMILY, base, span);
    all->family = ARENA_NEW(e->arena, struct family);
  }
  struct map_entry *entry = NULL;
  struct symbol *before = all;
  if (all->kind == SYMBOL_FAMILY) {
    entry = map_add(e->arena, &all->family->members, label);
    before = entry->pointer;
  }
  if (before && before->kind == SYMBOL_LABEL && is_over(e, before)) {
    before->span = span; /* the latest iteration replaces it */
    return before;
  }
  if (before) {
    struct diagnostic *d = report(e, DUPLICATE_NAME, span,
                                  "`%.*s` is defined twice", SLICE_ARG(label));
    diag_label(d, before->span, "first here");
    return NULL;
  }
  struct symbol *symbol = ARENA_NEW(e->arena, struct symbol);
  *symbol = (struct symbol){.kind = SYMBOL_LABEL, .name = label, .span = span};
  entry->pointer = symbol;
  if (all->family->last)
    all->family->last->next = symbol;
  else
    all->family->first = symbol;
  all->family->last = symbol;
  return symbol;
}

/* A reference: a name, and the text after it: `[3].conv1` */

struct reference {
  const struct expr *expr;
  const struct expr *root;
  struct text text; /* full text, with evaluated indices */
};

/* `in.conv1`, where `in.c` would be a size. */
static const struct expr in_label = {.kind = EXPR_NAME, .name = {"in", 2}};

static bool put_reference(struct expander *e, struct reference *r,
                          const struct expr *expr) {
  int64_t index;
  switch (expr->kind) {
  case EXPR_PATH:
    if (!put_reference(e, r, expr->left))
      return false;
    text_printf(&r->text, ".%.*s", SLICE_ARG(expr->name));
    return true;
  case EXPR_INDEX:
    if (!put_reference(e, r, expr->left))
      return false;
    if (expr->right->kind == EXPR_RANGE) {
      struct diagnostic *d = report(e, WRONG_TYPE, expr->right->span,
                                    "this needs one label, not a range");
      return diag_help(d, "only joins take a range: `add skip[1..3]`");
    }
    if (!eval_int(e, expr->right, &index))
      return false;
    text_printf(&r->text, "[%" PRId64 "]", index);
    return true;
  case EXPR_FIELD:
    r->root = &in_label;
    text_printf(&r->text, "in.%.*s", SLICE_ARG(expr->name));
    return true;
  default:
    r->root = expr;
    text_puts(&r->text, expr->name);
    return true;
  }
}

/* Existing indices */

static int compare_indices(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void put_run(struct text *out, const char *between, int64_t first,
                    int64_t last) {
  text_printf(out, "%s%" PRId64, between, first);
  if (last > first)
    text_printf(out, last > first + 1 ? " to %" PRId64 : " and %" PRId64, last);
}

/* Formats single indices as "1 to 3, 5", others by their names. */
static struct slice known_indices(struct expander *e,
                                  const struct family *family) {
  enum { SHOWN = 8 };
  struct text out = text_new(e->arena);
  size_t count = 0, shown = 0;
  int64_t *all = arena_alloc(e->arena, family->members.count + 1, sizeof *all);
  for (const struct symbol *s = family->first; s; s = s->next) {
    const char *open = memchr(s->name.at, '[', s->name.length);
    char *end;
    all[count++] = strtoll(open + 1, &end, 10);
    if (end + 1 == s->name.at + s->name.length)
      continue;
    for (s = family->first; s && shown < SHOWN; s = s->next)
      text_printf(&out, "%s%.*s", shown++ ? ", " : "", SLICE_ARG(s->name));
    text_put(&out, s ? " and more" : "");
    return text_slice(&out);
  }
  qsort(all, count, sizeof *all, compare_indices);
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && all[next] == all[next - 1] + 1;)
      next++;
    if (shown == SHOWN) {
      text_put(&out, " and more");
      break;
    }
    put_run(&out, shown++ ? ", " : "", all[i], all[next - 1]);
  }
  return text_slice(&out);
}

/* Offers the nearest index for `skip[4]`, if it is written as a number. */
static void offer_nearest(struct diagnostic *d, const struct reference *r,
                          const struct symbol *family) {
  const struct expr *index =
      r->expr->kind == EXPR_INDEX ? r->expr->right : NULL;
  const struct symbol *best = NULL;
  int64_t least = 0, apart;
  if (!index || index->kind != EXPR_INT || r->expr->left != r->root)
    return;
  for (const struct symbol *s = family->family->first; s; s = s->next) {
    const char *open = memchr(s->name.at, '[', s->name.length);
    char *end;
    int64_t at = strtoll(open + 1, &end, 10);
    if (end + 1 != s->name.at + s->name.length ||
        !sub_i64(at, index->integer, &apart))
      continue;
    apart = apart < 0 ? -apart : apart;
    if (!best || apart < least) {
      best = s;
      least = apart;
    }
  }
  if (best)
    diag_offer(d, r->expr->span, best->name, "the nearest is `%.*s`",
               SLICE_ARG(best->name));
}

static void report_index(struct expander *e, const struct reference *r,
                         const struct symbol *family) {
  struct slice name = text_slice(&r->text);
  struct diagnostic *d =
      report(e, UNKNOWN_LABEL, r->expr->span,
             "no layer above has the label `%.*s`", SLICE_ARG(name));
  if (!diag_is_shown(d))
    return;
  diag_label(d, family->span, "this is the first one with the name");
  struct slice known = known_indices(e, family->family);
  offer_nearest(d, r, family);
  diag_help(d, "`%.*s` has %.*s here", SLICE_ARG(family->name),
            SLICE_ARG(known));
}

static struct span root_span(const struct reference *r) {
  uint32_t begin = r->expr->span.begin;
  return (struct span){begin, begin + (uint32_t)r->root->name.length};
}

/* Reports that `path` does not exist inside `root`, or in the net. */
static void report_unknown(struct expander *e, const struct reference *r,
                           const struct symbol *root, struct slice path) {
  struct slice name = text_slice(&r->text);
  if (scope_lost(e, r->root->name))
    return;
  struct diagnostic *d =
      report(e, UNKNOWN_LABEL, r->expr->span,
             "no layer has the label `%.*s` here", SLICE_ARG(name));
  if (!diag_is_shown(d))
    return;
  struct suggestion s = suggest_begin(r->root->name);
  scope_suggest(e->scope, SYMBOL_LABEL, &s);
  scope_suggest(e->scope, SYMBOL_FAMILY, &s);
  struct slice near = {NULL, 0};
  bool dotted = r->expr->kind == EXPR_PATH || r->expr->kind == EXPR_FIELD;
  if (dotted)
    path_find(e, root, path, &near); /* again, for the closest name */
  if (near.at)
    diag_help(d, "did you mean `%.*s` in it?", SLICE_ARG(near));
  else if (s.best.at && s.distance)
    diag_suggest(d, root_span(r), s.best);
  if (dotted)
    diag_otherwise(
        d, "a path is a label and the names of layers and groups inside it, or "
           "a full name from a report; layers in a tail have no names");
  else
    diag_otherwise(d,
                   "write a label in front of a layer: `%.*s: conv ...`; it is "
                   "visible below the layer, inside its %s",
                   SLICE_ARG(name),
                   r->expr->kind == EXPR_INDEX ? "def" : "braces");
}

/* Reports `c[1]`, `c.conv1` and `from c` if c is no such label. */
static void report_other(struct expander *e, const struct reference *r,
                         const struct symbol *symbol) {
  bool poison =
      symbol->kind == SYMBOL_CONSTANT && symbol->value->kind == VALUE_POISON;
  if (poison)
    return;
  struct diagnostic *d = report(
      e, UNKNOWN_LABEL, r->expr->span, "`%.*s` is %s", SLICE_ARG(r->root->name),
      symbol->kind == SYMBOL_LABEL ? "one label, without an index"
      : symbol->kind == SYMBOL_DEF ? "a def, not a label"
                                   : "a constant, not a label");
  if (symbol->span.end > symbol->span.begin)
    diag_label(d, symbol->span, "defined here");
  if (symbol->kind == SYMBOL_LABEL)
    diag_offer(d, r->expr->span, r->root->name, "write `%.*s`",
               SLICE_ARG(r->root->name));
}

/* The member of a family, and the length of its name in the text. */
static struct symbol *find_member(const struct symbol *family,
                                  const struct reference *r, size_t *length) {
  struct text key = text_new(r->text.arena);
  struct slice rest = text_slice(&r->text);
  size_t base = r->root->name.length, last = 0;
  text_puts(&key, family->name);
  *length = base;
  while (*length < rest.length && rest.at[*length] != '.') {
    if (rest.at[*length] == '[')
      last = key.length;
    text_putc(&key, rest.at[(*length)++]);
  }
  struct slice all = text_slice(&key);
  struct map_entry *entry = map_find(&family->family->members, all);
  if (entry || !last)
    return entry ? entry->pointer : NULL;
  struct slice whole = {all.at, last}; /* split[1][2]: part 2 of split[1] */
  entry = map_find(&family->family->members, whole);
  if (entry)
    *length -= all.length - last;
  return entry ? entry->pointer : NULL;
}

/* The node of part `index` of a `split`, given its part `first`. NO_NODE: no
 * split, or the index exceeds *count. */
static int64_t part_find(const struct expander *e, int64_t first, int64_t index,
                         int64_t *count) {
  const struct node *node = &e->model->nodes.at[first];
  *count = 0;
  if (node->kind != &layer_part)
    return NO_NODE;
  const struct part *part = node->args;
  *count = split_count(part->split);
  return index >= 1 && index <= *count ? first + index - part->index : NO_NODE;
}

/* p[2] of a split p; NULL: no split, or reported. */
static struct symbol *find_part(struct expander *e, const struct reference *r,
                                const struct symbol *root, struct slice rest,
                                bool *is_split) {
  char *end;
  int64_t index, count, node;
  *is_split = false;
  if (rest.length < 3 || *rest.at != '[')
    return NULL;
  index = strtoll(rest.at + 1, &end, 10); /* up to the `]` */
  if (end + 1 != rest.at + rest.length)
    return NULL;
  node = part_find(e, root->node, index, &count);
  *is_split = count > 0;
  if (node == NO_NODE) {
    if (*is_split) {
      struct text nearest = text_new(e->arena);
      text_printf(&nearest, "%.*s[%" PRId64 "]", SLICE_ARG(root->name),
                  index < 1 ? 1 : count);
      diag_offer(report(e, UNKNOWN_LABEL, r->expr->span,
                        "`%.*s` has the parts 1 to %" PRId64,
                        SLICE_ARG(root->name), count),
                 r->expr->span, text_slice(&nearest), "the nearest is `%.*s`",
                 SLICE_ARG(nearest));
    }
    return NULL;
  }
  struct symbol *symbol = ARENA_NEW(e->arena, struct symbol);
  *symbol = *root;
  symbol->node = node;
  symbol->next = NULL;
  return symbol;
}

/* The label, family member or other symbol at the root; NULL: none. */
static struct symbol *find_root(struct expander *e, const struct reference *r,
                                size_t *length, struct symbol **family) {
  *family = NULL;
  for (struct scope *scope = e->scope; scope; scope = scope->parent) {
    struct symbol *symbol = scope_own(scope, r->root->name);
    if (!symbol)
      continue;
    symbol = scope_stands_for(symbol);
    if (symbol->kind != SYMBOL_FAMILY)
      return symbol;
    *family = symbol;
    symbol = find_member(symbol, r, length);
    if (symbol || scope->home != SCOPE_AGAIN)
      return symbol;
  }
  return NULL;
}

/* True if an erroneous label may be a split. */
static bool may_be_split(const struct symbol *label) {
  const struct layer_kind *kind =
      label->stmt ? layer_kind_find(label->stmt->name) : NULL;
  return !kind || kind->parts;
}

struct symbol *label_find(struct expander *e, const struct expr *expr) {
  struct reference r = {.expr = expr, .text = text_new(e->arena)};
  struct symbol *family, *root;
  e->depends = true;
  if (!put_reference(e, &r, expr))
    return NULL;
  size_t length = r.root->name.length;
  root = find_root(e, &r, &length, &family);
  struct slice all = text_slice(&r.text);
  struct slice rest = slice_from(all, length);
  if (!root && family) {
    if (length > r.root->name.length) {
      report_index(e, &r, family);
    } else {
      struct diagnostic *d = report(e, UNKNOWN_LABEL, expr->span,
                                    "`%.*s` needs an index", SLICE_ARG(all));
      struct slice known = known_indices(e, family->family);
      diag_help(d, "`%.*s[i]`; it has %.*s here", SLICE_ARG(all),
                SLICE_ARG(known));
    }
    return NULL;
  }
  if (root && root->kind == SYMBOL_LABEL && rest.length == 0)
    return root;
  if (root && root->kind == SYMBOL_LABEL && root->node == NO_NODE &&
      (*rest.at == '.' || may_be_split(root)))
    return NULL; /* reported at its own place */
  if (root && root->kind == SYMBOL_LABEL && root->node != NO_NODE) {
    bool is_split;
    struct symbol *part = find_part(e, &r, root, rest, &is_split);
    if (is_split)
      return part;
  }
  if (root && (root->kind != SYMBOL_LABEL || *rest.at == '[')) {
    report_other(e, &r, root);
    return NULL;
  }
  struct symbol *found =
      root ? path_find(e, root, rest, NULL) : path_of_net(e, all, expr->span);
  if (!found)
    report_unknown(e, &r, root, root ? rest : all);
  return found;
}

/* Takes each label of `skip[1..n]`. */
bool label_each(struct expander *e, const struct expr *expr,
                bool (*take)(void *user, struct symbol *label), void *user) {
  const struct expr *range = expr->right;
  struct expr number = {.kind = EXPR_INT, .span = range->span};
  struct expr one = {.kind = EXPR_INDEX,
                     .span = expr->span,
                     .left = expr->left,
                     .right = &number};
  struct turns turns;
  if (!turns_of(e, range->left, range->right, range->step, &turns))
    return false;
  for (int64_t i = 0; i < turns.count; i++) {
    number.integer = turn_at(&turns, i);
    struct symbol *symbol = label_find(e, &one);
    if (!symbol || !take(user, symbol))
      return false;
  }
  return true;
}
