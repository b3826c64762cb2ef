/* Mistakes in arguments: legal text that likely means something else. */
#include "sema/binding/slip.h"

#include "base/check.h"
#include "layers/foreign/foreign.h"
#include "sema/binding/hint.h"

static bool has_free_stride(const struct binding *b) {
  for (int i = 0; b->specs[i].name; i++)
    if (b->specs[i].place == PLACE_STRIDE && !(b->given >> i & 1))
      return true;
  return false;
}

static void offer_stride(struct expander *e, struct diagnostic *d,
                         struct span span, struct slice sizes,
                         struct slice stride, const char *blank) {
  struct text text = text_new(e->arena);
  text_printf(&text, "%.*s /%.*s", SLICE_ARG(sizes), SLICE_ARG(stride));
  diag_offer(d, span, text_slice(&text), "a stride needs %s its `/`: `%.*s`",
             blank, SLICE_ARG(text));
}

/* `conv 8 4 / 2`: a kernel of 2, where a stride was probably meant. */
static void warn_of_division(struct expander *e, const struct binding *b,
                             const struct arg_spec *spec,
                             const struct expr *expr) {
  if (!has_free_stride(b) || spec->type != TYPE_SIZES ||
      spec->place != PLACE_POSITION || expr->kind != EXPR_BINARY ||
      expr->op != OP_DIV)
    return;
  struct slice left = sources_slice(e->diags->sources, expr->left->span);
  struct slice right = sources_slice(e->diags->sources, expr->right->span);
  struct slice all = sources_slice(e->diags->sources, expr->span);
  struct span before = {expr->span.begin - 1, expr->span.begin};
  if (all.length != left.length + right.length + 3 ||
      slice_is(sources_slice(e->diags->sources, before), "("))
    return; /* without blanks or in parentheses, a division is meant */
  struct diagnostic *d =
      report(e, STRIDE_OR_DIVISION, expr->span,
             "`%.*s` is a division, not a stride", SLICE_ARG(all));
  offer_stride(e, d, expr->span, left, right, "no blank after");
}

/* `conv 8 3x3/2`: parses as a size of 3/2. */
static bool stride_in_sizes(struct expander *e, struct binding *b,
                            const struct arg_spec *spec,
                            const struct expr *expr) {
  const struct expr *last = expr->kind == EXPR_DIMS ? expr->items : NULL;
  while (last && last->next)
    last = last->next;
  if (!last || last->kind != EXPR_BINARY || last->op != OP_DIV ||
      last->left->kind != EXPR_INT || last->right->kind != EXPR_INT ||
      spec->type != TYPE_SIZES || spec->place != PLACE_POSITION ||
      !has_free_stride(b))
    return false;
  struct sources *sources = e->diags->sources;
  struct slice sizes = sources_slice(
      sources, (struct span){expr->span.begin, last->left->span.end});
  struct slice stride = sources_slice(sources, last->right->span);
  struct slice whole = sources_slice(sources, expr->span);
  bool exact =
      last->right->integer && last->left->integer % last->right->integer == 0;
  struct diagnostic *d =
      report(e, exact ? STRIDE_OR_DIVISION : WRONG_TYPE, expr->span,
             "`%.*s` divides the last size", SLICE_ARG(whole));
  offer_stride(e, d, expr->span, sizes, stride, "a blank before");
  b->failed = b->failed || !exact;
  return !exact;
}

/* pad=same */
static bool padding_word(struct expander *e, struct binding *b,
                         const struct arg_spec *spec, const struct expr *expr,
                         struct span argument) {
  if (spec->type != TYPE_PADDING || expr->kind != EXPR_NAME ||
      scope_find(e->scope, expr->name) || slice_is(expr->name, "tf"))
    return false;
  bool valid = foreign_same(expr->name, slice_of("valid")) ||
               foreign_same(expr->name, slice_of("none"));
  struct diagnostic *d = report(e, WRONG_TYPE, expr->span,
                                "`%.*s` is not a number of rows and columns",
                                SLICE_ARG(expr->name));
  struct slice rest = sources_rest(e->diags->sources, expr->span.end);
  bool strided = !has_free_stride(b) ||
                 (rest.length > 1 && rest.at[0] == ' ' && rest.at[1] == '/');
  if (valid)
    diag_offer_omission(d, argument, "leave it out");
  else if (strided)
    diag_offer(
        d, expr->span, slice_of("tf"),
        "write `pad=tf` for TensorFlow's SAME; PyTorch's needs a stride of 1");
  else
    diag_offer(d, argument, slice_of("pad"), "write `pad`");
  if (valid)
    diag_help(d, "without `pad` there is no padding");
  else
    diag_help(d, "`pad` alone keeps the size at stride 1, `pad=1` adds one "
                 "row and column at each side");
  b->failed = true;
  return true;
}

/* `conv 64 k3`; `deformattn 8 4x4 points 2`: a list takes every value. */
static bool option_as_value(struct expander *e, struct binding *b,
                            const struct arg_spec *spec,
                            const struct expr *expr) {
  bool list = arg_is_list(spec) && !arg_is_axes(spec);
  if (expr->kind != EXPR_NAME || scope_find(e->scope, expr->name) ||
      !(hint_is_shorthand(b->specs, expr->name) ||
        (list && hint_is_key(b->specs, expr->name))) ||
      path_find(e, NULL, expr->name, NULL)) /* a label in a fork: `p1` */
    return false;
  report_unknown_name(e, expr->name, expr->span, NAME_OF_TAIL, b->specs);
  b->failed = true;
  return true;
}

/* Number of factors of a product of numbers, as 32*32*3; 0: it is none. */
static int factors_of(const struct expr *expr) {
  int count = 1;
  for (; expr->kind == EXPR_BINARY && expr->op == OP_MUL; count++) {
    if (expr->right->kind != EXPR_INT)
      return 0;
    expr = expr->left;
  }
  return expr->kind == EXPR_INT ? count : 0;
}

/* Prints the factors as sizes; false if their product passes 2^63 - 1. */
static bool put_factors(struct text *out, const struct expr *expr,
                        int64_t *product) {
  bool several = expr->kind == EXPR_BINARY;
  int64_t left = 1;
  if (several && !put_factors(out, expr->left, &left))
    return false;
  const struct expr *last = several ? expr->right : expr;
  text_put(out, several ? "x" : "");
  text_int(out, last->integer);
  return mul_i64(left, last->integer, product);
}

void slip_product(struct expander *e, const struct expr *expr) {
  struct span before = {expr->span.begin - 1, expr->span.begin};
  struct text sizes = text_new(e->arena);
  int64_t product;
  if (factors_of(expr) < 2 || !put_factors(&sizes, expr, &product) ||
      slice_is(sources_slice(e->diags->sources, before), "("))
    return;
  struct slice meant = text_slice(&sizes);
  struct slice said = sources_slice(e->diags->sources, expr->span);
  struct diagnostic *d = report(e, SIZES_OR_PRODUCT, expr->span,
                                "`%.*s` is a product, so it gives one size, %s",
                                SLICE_ARG(said), count_text(product).text);
  diag_offer(d, expr->span, meant,
             "did you mean `%.*s`? For the product write `(%.*s)`",
             SLICE_ARG(meant), SLICE_ARG(said));
}

bool slip_check(struct expander *e, struct binding *b,
                const struct arg_spec *spec, const struct expr *expr,
                struct span argument) {
  if (spec->type == TYPE_SIZES || spec->type == TYPE_SHAPE ||
      spec->type == TYPE_MAPS)
    slip_product(e, expr);
  if (stride_in_sizes(e, b, spec, expr) ||
      padding_word(e, b, spec, expr, argument) ||
      option_as_value(e, b, spec, expr))
    return true;
  warn_of_division(e, b, spec, expr);
  return false;
}

bool slip_comment(struct expander *e, struct binding *b,
                  const struct arg *arg) {
  const struct expr *expr = arg->form == ARG_BLOCK ? NULL : arg->value;
  if (expr && expr->kind == EXPR_DIMS)
    for (expr = expr->items; expr->next;)
      expr = expr->next;
  if (!expr || expr->kind != EXPR_BINARY || expr->op != OP_FLOOR ||
      expr->right->kind != EXPR_NAME || scope_find(e->scope, expr->right->name))
    return false;
  report_unknown_name(e, expr->right->name, expr->right->span, NAME_OF_VALUE,
                      NULL);
  b->failed = true;
  return true;
}
