/*
 * The grammar. It knows "a word with arguments" and the statements that
 * shape a file; the layers are data in layers/. The actions only construct
 * the tree, so that errors beyond the syntax are found later, when more is
 * known about them.
 */
%require "3.8"
%expect 0
%define api.prefix {netc_grammar_}
%define lr.type ielr
%define api.pure full
%define api.value.type union
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%define parse.lac.es-capacity-initial {2000}
%locations
%param {struct parser *p}

%code requires {
#include "parser/marks.h"
#include "parser/advice.h"
#include "parser/build.h"
#include "parser/syntax.h"
}

%code {
/*
 * Bison's stacks grow in the scanner's arena. The heap would leak them on an
 * error path, alike.c frees parts of the tree's arena, and WebAssembly has
 * only 64 KiB of C stack.
 */
#define YYINITDEPTH 100
#define YYMAXDEPTH 2000

#define GROW(stack, used, depth) \
  (*(stack) = grow(p, *(stack), used, sizeof **(stack), depth))

#define yyoverflow(text, states, states_used, values, values_used, spans, \
                   spans_used, depth)                                     \
  do {                                                                    \
    if (*(depth) >= YYMAXDEPTH) {                                         \
      netc_grammar_error(&yylloc, p, text);                               \
    } else {                                                              \
      *(depth) = *(depth)*2 < YYMAXDEPTH ? *(depth)*2 : YYMAXDEPTH;       \
      GROW(states, states_used, *(depth));                                \
      GROW(values, values_used, *(depth));                                \
      GROW(spans, spans_used, *(depth));                                  \
    }                                                                     \
  } while (0)

#define YYLLOC_DEFAULT(now, rhs, n)                                  \
  ((now).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end, \
   (now).end = YYRHSLOC(rhs, n).end)

static int netc_grammar_lex(NETC_GRAMMAR_STYPE *value, struct span *span,
                            struct parser *p);
static void netc_grammar_error(const struct span *span, struct parser *p,
                               const char *message);
static struct block *open_block(struct parser *p, struct stmt_list list,
                                struct span span);
static void *grow(struct parser *p, const void *stack, ptrdiff_t used,
                  size_t size, ptrdiff_t depth);
static struct named named(const struct parser *p, struct span span);
static void set_dtype(const struct parser *p, struct stmt *stmt,
                      struct span span);
}

/* In the order of lexer/tokens.def; the epilogue checks that. */
%token <struct slice> NAME FUNC
%token <int64_t> INT
%token <double> REAL
%token <struct slice> STRING
%token NEWLINE SEMICOLON ANY BY NEGATE MINUS PLUS STAR SLASH FLOOR STRIDE
%token PERCENT
%token POWER ASSIGN EQUAL UNEQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL ARROW
%token RANGE DOT COMMA COLON PAREN PAREN_CLOSE BRACKET SUBSCRIPT
%token BRACKET_CLOSE BRACE BRACE_CLOSE
%token KW_NET KW_INPUT KW_FORK KW_FROM KW_AGAIN KW_OUTPUT KW_DEF KW_LET
%token KW_PARAM KW_REPEAT KW_FOR KW_IN KW_IF KW_ELSE KW_USE KW_TRAIN KW_INFER
%token KW_BUDGET KW_AND KW_OR KW_NOT KW_TRUE KW_FALSE VALUE_ALONE

%left KW_OR
%left KW_AND
%precedence KW_NOT
%left PLUS MINUS
%left STAR SLASH FLOOR PERCENT
%precedence NEGATE
%right POWER

%type <struct stmt_list> list statements
%type <struct stmt *> statement body layer single marked directive
%type <struct block *> block otherwise
%type <bool> training
%type <struct arg_list> args
%type <struct arg *> arg
%type <struct expr *> value sum constant fallback sized expression sizes
%type <struct expr *> bounds bound call_item reference index step
%type <struct expr_list> call_items row_values
%type <struct row_list> rows
%type <struct table_row *> row
%type <struct name_items> names
%type <struct param_list> def_params def_param_list
%type <struct def_param *> def_param
%type <struct slice> key def_name
%type <struct span> dtype
%type <struct new_label *> new_label
%type <enum op> compare

%%

program:
  statements            { p->program = open_block(p, $statements, @$); }
| VALUE_ALONE constant  { p->value = $constant; }
;

statements:
  list
| list statement  { $$ = $list; APPEND($$, $statement); }
| list error      {
    struct stmt *hole = build_hole(p, @error);
    $$ = $list;
    APPEND($$, hole);
  }
;

list:
  %empty                     { $$ = (struct stmt_list){0}; }
| list[l] separator          { $$ = $l; }
| list[l] statement separator { $$ = $l; APPEND($$, $statement); }
| list[l] error separator    {
    struct stmt *hole = build_hole(p, @error);
    $$ = $l;
    APPEND($$, hole);
    yyerrok;
  }
;

separator: NEWLINE | SEMICOLON;

block:
  BRACE statements BRACE_CLOSE {
    $$ = build_block(p, $statements.first, @$);
  }
;

statement:
  marked
| new_label COLON marked { $$ = build_label(p, $marked, $new_label); }
| directive
;

new_label:
  NAME {
    $$ = ARENA_NEW(p->arena, struct new_label);
    $$->named = named(p, @NAME);
  }
| new_label[l] SUBSCRIPT sum BRACKET_CLOSE {
    $$ = $l;
    APPEND($$->indices, $sum);
    $$->named.span = @$;
  }
;

marked:
  body
| body ARROW sizes {
    $$ = build_mark(p, $body, $sizes, span_join(@ARROW, @sizes));
  }
;

/* One layer without braces. */
single:
  layer
| layer ARROW sizes {
    $$ = build_mark(p, $layer, $sizes, span_join(@ARROW, @sizes));
  }
;

body:
  layer
| block {
    $$ = build_stmt(p, STMT_GROUP, @$);
    $$->more->block = $block;
  }
;

layer:
  NAME args { $$ = build_apply(p, named(p, @NAME), $args.first, @$); }
| KW_AGAIN reference[r] { $$ = build_reference(p, STMT_AGAIN, $r, @$); }
;

directive:
  KW_NET NAME { $$ = build_named(p, STMT_NET, named(p, @NAME), @$); }
| KW_INPUT bounds[dims] dtype {
    $$ = build_stmt(p, STMT_INPUT, @$);
    $$->name_span = @KW_INPUT;
    $$->more->value = $dims;
    set_dtype(p, $$, $dtype);
  }
| KW_INPUT NAME bounds[dims] dtype {
    $$ = build_named(p, STMT_INPUT, named(p, @NAME), @$);
    $$->more->value = $dims;
    set_dtype(p, $$, $dtype);
  }
| KW_FORK training block {
    $$ = build_stmt(p, STMT_FORK, @$);
    $$->training = $training;
    $$->more->block = $block;
  }
| KW_FORK training new_label COLON block {
    $$ = build_label(p, build_stmt(p, STMT_FORK, @$), $new_label);
    $$->training = $training;
    $$->more->block = $block;
  }
| KW_FORK training single { $$ = build_fork(p, $training, $single, @$); }
| KW_FORK training new_label COLON single {
    $$ = build_fork(p, $training, build_label(p, $single, $new_label), @$);
  }
| KW_FROM reference[r] { $$ = build_reference(p, STMT_FROM, $r, @$); }
| KW_OUTPUT NAME {
    $$ = build_named(p, STMT_OUTPUT, named(p, @NAME), @$);
  }
| KW_OUTPUT {
    $$ = build_stmt(p, STMT_OUTPUT, @$);
    $$->name_span = @$;
  }
| KW_DEF def_name def_params block {
    $$ = build_named(p, STMT_DEF, named(p, @def_name),
                     span_join(@1, @def_params));
    $$->more->params = $def_params.first;
    $$->more->block = $block;
  }
| KW_LET NAME ASSIGN constant[e] {
    $$ = build_named(p, STMT_LET, named(p, @NAME), @$);
    $$->more->value = $e;
  }
| KW_PARAM names fallback[e] { $$ = build_param(p, $names.first, $e, @$); }
| KW_PARAM names fallback[e] KW_IN BRACKET rows BRACKET_CLOSE {
    $$ = build_param(p, $names.first, $e, @$);
    $$->more->rows = $rows.first;
  }
| KW_PARAM names fallback[e] KW_IN sum[low] RANGE sum[high] {
    $$ = build_param(p, $names.first, $e, @$);
    $$->more->range = build_range(p, $low, $high, NULL);
  }
| KW_REPEAT expression[e] block {
    $$ = build_stmt(p, STMT_REPEAT, span_join(@1, @e));
    $$->more->value = $e;
    $$->more->block = $block;
  }
| KW_FOR names KW_IN BRACKET rows BRACKET_CLOSE block {
    $$ = build_stmt(p, STMT_FOR, span_join(@1, @BRACKET_CLOSE));
    $$->more->names = $names.first;
    $$->more->rows = $rows.first;
    $$->more->block = $block;
  }
| KW_FOR names KW_IN sum[low] RANGE sum[high] step block {
    $$ = build_stmt(p, STMT_FOR, span_join(@1, $step ? @step : @high));
    $$->more->names = $names.first;
    $$->more->value = $low;
    $$->more->high = $high;
    $$->more->step = $step;
    $$->more->block = $block;
  }
| KW_FOR names KW_IN NAME[list] block {
    $$ = build_stmt(p, STMT_FOR, span_join(@1, @list));
    $$->more->names = $names.first;
    $$->more->value = build_name(p, EXPR_NAME, $list, @list);
    $$->more->block = $block;
  }
| KW_IF expression[e] block otherwise {
    $$ = build_stmt(p, STMT_IF, span_join(@1, @e));
    $$->more->value = $e;
    $$->more->block = $block;
    $$->more->otherwise = $4;
  }
| KW_USE STRING {
    $$ = build_named(p, STMT_USE, (struct named){$STRING, @STRING}, @$);
  }
| NAME STRING {
    $$ = build_message(p, named(p, @NAME), @STRING, @$);
    if (!$$)
      YYERROR;
  }
| KW_TRAIN args  { $$ = build_settings(p, "train", $args.first, @1); }
| KW_INFER args  { $$ = build_settings(p, "infer", $args.first, @1); }
| KW_BUDGET args { $$ = build_settings(p, "budget", $args.first, @1); }
;

/* `step` is a keyword only here; in brackets, its sign is an operator. */
step:
  %empty          { $$ = NULL; }
| NAME sum        { $$ = build_step(p, named(p, @NAME), $sum); }
| NAME MINUS sum %prec NEGATE {
    struct span negated = span_join(@MINUS, @sum);
    $$ = build_step(p, named(p, @NAME),
                    build_unary(p, OP_NEGATE, $sum, negated));
  }
;

/* The default value of a param; for a list, the first value. */
fallback:
  %empty             { $$ = NULL; }
| ASSIGN constant[e] { $$ = $e; }
;

/* `fork train { ... }` */
training:
  %empty   { $$ = false; }
| KW_TRAIN { $$ = true; }
;

otherwise:
  %empty        { $$ = NULL; }
| KW_ELSE block { $$ = $block; }
| KW_ELSE KW_IF expression[e] block[then] otherwise[rest] {
    struct stmt *chained = build_stmt(p, STMT_IF, span_join(@2, @e));
    chained->more->value = $e;
    chained->more->block = $then;
    chained->more->otherwise = $rest;
    $$ = build_block(p, chained, @$);
  }
;

def_name: NAME | FUNC;

dtype:
  %empty     { $$ = (struct span){0}; }
| COLON NAME { $$ = @NAME; }
;

def_params:
  %empty                                { $$ = (struct param_list){0}; }
| PAREN PAREN_CLOSE                     { $$ = (struct param_list){0}; }
| PAREN def_param_list[all] PAREN_CLOSE { $$ = $all; }
;

def_param_list:
  def_param[one] {
    $$ = (struct param_list){0};
    APPEND($$, $one);
  }
| def_param_list[all] COMMA def_param[one] {
    $$ = $all;
    APPEND($$, $one);
  }
;

def_param:
  NAME {
    $$ = ARENA_NEW(p->arena, struct def_param);
    $$->name = $NAME;
    $$->span = @NAME;
  }
| NAME ASSIGN constant[e] {
    $$ = ARENA_NEW(p->arena, struct def_param);
    $$->name = $NAME;
    $$->span = @NAME;
    $$->value = $e;
  }
;

names:
  NAME {
    $$ = (struct name_items){0};
    struct name_list *item = ARENA_NEW(p->arena, struct name_list);
    item->name = $NAME;
    item->span = @NAME;
    APPEND($$, item);
  }
| names[all] NAME {
    $$ = $all;
    struct name_list *item = ARENA_NEW(p->arena, struct name_list);
    item->name = $NAME;
    item->span = @NAME;
    APPEND($$, item);
  }
;

rows:
  row                        { $$ = (struct row_list){0};
                               if ($row) APPEND($$, $row); }
| rows[all] separator row    { $$ = $all; if ($row) APPEND($$, $row); }
;

row:
  %empty     { $$ = NULL; }
| row_values {
    $$ = ARENA_NEW(p->arena, struct table_row);
    $$->values = $row_values.first;
    $$->span = @$;
  }
;

row_values:
  value                 { $$ = (struct expr_list){0}; APPEND($$, $value); }
| row_values[all] value { $$ = $all; APPEND($$, $value); }
;

/* Arguments are juxtaposed, so each is a sum; comparisons need parentheses. */

args:
  %empty        { $$ = build_args(p); }
| args[all] arg { $$ = $all; APPEND($$, $arg); }
;

arg:
  value        { $$ = build_arg(p, ARG_PLAIN, $value, @$); }
| key ASSIGN value {
    $$ = build_arg(p, ARG_KEYED, $value, @$);
    $$->key = $key;
  }
| key ASSIGN STRING {
    struct expr *text = build_quoted(p, $key, $STRING, @STRING);
    if (!text)
      YYERROR;
    $$ = build_arg(p, ARG_KEYED, text, @$);
    $$->key = $key;
  }
| STRIDE value { $$ = build_arg(p, ARG_STRIDE, $value, @$); }
| block        {
    $$ = build_arg(p, ARG_BLOCK, NULL, @$);
    $$->block = $block;
  }
;

/* `budget train=..` */
key:
  NAME
| KW_TRAIN { $$ = slice_of("train"); }
| KW_INFER { $$ = slice_of("infer"); }
;

value:
  sum
| sum[from] COLON sum[to] { $$ = build_pair(p, $from, $to); }
| value[v] BY sum         { $$ = build_dims(p, $v, $sum); }
| value[v] BY sum[from] COLON sum[to] {
    $$ = build_dims(p, $v, build_pair(p, $from, $to));
  }
;

sizes:
  sum
| sizes[s] BY sum { $$ = build_dims(p, $s, $sum); }
;

/* An input `1..512x768` has a length from 1 to 512. */
bounds:
  bound
| bounds[s] BY bound { $$ = build_dims(p, $s, $bound); }
;

bound:
  sum
| sum[low] RANGE sum[high] { $$ = build_range(p, $low, $high, NULL); }
;

/* Values of a name, including `let k = 3x3`. */
constant:
  expression
| sized
| BRACKET rows BRACKET_CLOSE { $$ = build_list(p, $rows.first, @$); }
;

sized:
  sum[from] COLON sum[to] { $$ = build_pair(p, $from, $to); }
| sum[v] BY sum[next]     { $$ = build_dims(p, $v, $next); }
| sum[v] BY sum[from] COLON sum[to] {
    $$ = build_dims(p, $v, build_pair(p, $from, $to));
  }
| sized[v] BY sum         { $$ = build_dims(p, $v, $sum); }
| sized[v] BY sum[from] COLON sum[to] {
    $$ = build_dims(p, $v, build_pair(p, $from, $to));
  }
;

/*
 * Expressions, from the loosest to the tightest. They use precedence, since
 * a number would be reduced through a symbol for each level.
 */

expression:
  sum
| sum[l] compare sum[r]              { $$ = build_binary(p, $compare, $l, $r); }
| expression[l] KW_OR expression[r]  { $$ = build_binary(p, OP_OR, $l, $r); }
| expression[l] KW_AND expression[r] { $$ = build_binary(p, OP_AND, $l, $r); }
| KW_NOT expression[e]               { $$ = build_unary(p, OP_NOT, $e, @$); }
;

compare:
  EQUAL         { $$ = OP_EQ; }
| UNEQUAL       { $$ = OP_NE; }
| LESS          { $$ = OP_LT; }
| LESS_EQUAL    { $$ = OP_LE; }
| GREATER       { $$ = OP_GT; }
| GREATER_EQUAL { $$ = OP_GE; }
;

sum:
  sum[l] PLUS sum[r]    { $$ = build_binary(p, OP_ADD, $l, $r); }
| sum[l] MINUS sum[r]   { $$ = build_binary(p, OP_SUB, $l, $r); }
| sum[l] STAR sum[r]    { $$ = build_binary(p, OP_MUL, $l, $r); }
| sum[l] SLASH sum[r]   { $$ = build_binary(p, OP_DIV, $l, $r); }
| sum[l] FLOOR sum[r]   { $$ = build_binary(p, OP_FLOOR, $l, $r); }
| sum[l] PERCENT sum[r] { $$ = build_binary(p, OP_MOD, $l, $r); }
| sum[l] POWER sum[r]   { $$ = build_binary(p, OP_POW, $l, $r); }
| NEGATE sum[e]         { $$ = build_unary(p, OP_NEGATE, $e, @$); }
| INT      { $$ = build_int(p, $INT, @$); }
| REAL     { $$ = build_real(p, $REAL, @$); }
| KW_TRUE  { $$ = build_bool(p, true, @$); }
| KW_FALSE { $$ = build_bool(p, false, @$); }
| reference
| ANY      { $$ = build_expr(p, EXPR_ANY, @$); }
| FUNC PAREN call_items[items] PAREN_CLOSE {
    $$ = build_call(p, $FUNC, $items.first, @$);
  }
| PAREN constant[e] PAREN_CLOSE { $$ = $e; }
;

/* A name, or a label: `skip[i]`, `stem.conv1`. */
reference:
  NAME                  { $$ = build_name(p, EXPR_NAME, $NAME, @$); }
| KW_IN DOT NAME        { $$ = build_name(p, EXPR_FIELD, $NAME, @$); }
| reference[r] DOT NAME { $$ = build_path(p, $r, $NAME, @$); }
| reference[r] SUBSCRIPT index BRACKET_CLOSE {
    $$ = build_index(p, $r, $index, @$);
  }
;

index:
  sum
| sum[low] RANGE sum[high] step { $$ = build_range(p, $low, $high, $step); }
;

call_items:
  call_item[e]                       { $$ = (struct expr_list){0};
                                       APPEND($$, $e); }
| call_items[all] COMMA call_item[e] { $$ = $all; APPEND($$, $e); }
;

/* Keys are for layers: `bn(eps=1e-3)`. */
call_item:
  constant
| NAME ASSIGN constant[e] {
    $$ = build_keyed(p, named(p, @NAME), $e, @$);
  }
;

%%

#define SAME(id) \
  _Static_assert((int)id == (int)TOKEN_##id, "lexer/tokens.def: " #id)
#define TOKEN(id, words) SAME(id);
#include "lexer/tokens.def"
#undef TOKEN

static struct block *open_block(struct parser *p, struct stmt_list list,
                                struct span span) {
  struct block *block = build_block(p, list.first, span);
  block->close = (struct span){span.end, span.end};
  return block;
}

/* Symbols' values are small: a name is only its place in the source. */
static struct named named(const struct parser *p, struct span span) {
  struct slice text = {p->scan.text.at + (span.begin - p->scan.base),
                       span.end - span.begin};
  return (struct named){text, span};
}

/* After the colon of an input, if any. */
static void set_dtype(const struct parser *p, struct stmt *stmt,
                      struct span span) {
  if (!span.end)
    return;
  stmt->more->dtype = named(p, span).name;
  stmt->more->dtype_span = span;
}

static int netc_grammar_lex(NETC_GRAMMAR_STYPE *value, struct span *span,
                            struct parser *p) {
  union scan_value carried = {0};
  if (p->value_alone && !p->begun) {
    p->begun = true;
    *span = (struct span){p->scan.base, p->scan.base};
    return (int)TOKEN_VALUE_ALONE;
  }
  if (p->stops && diags_full(p->diags))
    return (int)TOKEN_END;
  enum token token = scan_next(&p->scan, &carried, span);
  switch (token) {
  case TOKEN_ERROR: advice_skip_line(p, *span); break;
  case TOKEN_INT: value->INT = carried.integer; break;
  case TOKEN_REAL: value->REAL = carried.real; break;
  case TOKEN_NAME: value->NAME = carried.text; break;
  case TOKEN_FUNC: value->FUNC = carried.text; break;
  case TOKEN_STRING: value->STRING = carried.text; break;
  default: break;
  }
  return (int)token;
}

/* The stack with more room; `used` bytes are copied. */
static void *grow(struct parser *p, const void *stack, ptrdiff_t used,
                  size_t size, ptrdiff_t depth) {
  void *more = arena_alloc(p->scan.arena, (size_t)depth, size);
  memcpy(more, stack, (size_t)used);
  return more;
}

/* Bison calls this only if its stack is full. */
static void netc_grammar_error(const struct span *span, struct parser *p,
                               const char *message) {
  (void)message;
  struct diagnostic *d = diag(p->diags, NESTED_TOO_DEEP, *span,
                              "the text is nested too deep here");
  diag_help(d, "move the inner part into a `def` or a `let`");
}

/* Bison's own symbols come first: the end, the error, the unknown. */
static enum token token_of(yysymbol_kind_t kind) {
  return kind < YYSYMBOL_NAME
             ? TOKEN_END
             : (enum token)(kind - YYSYMBOL_NAME + TOKEN_NAME);
}

static int yyreport_syntax_error(const yypcontext_t *context,
                                 struct parser *p) {
  yysymbol_kind_t kinds[YYNTOKENS];
  enum token expected[YYNTOKENS];
  int count = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
  for (int i = 0; i < count; i++)
    expected[i] = token_of(kinds[i]);
  syntax_report(p, token_of(yypcontext_token(context)),
                *yypcontext_location(context), expected, count);
  return 0;
}

static struct block *read_text(struct arena *arena, struct diags *diags,
                               int source, int *statements, bool stops) {
  struct arena scratch; /* flex copies the text */
  struct parser p = {.arena = arena,
                     .diags = diags,
                     .statements = statements,
                     .stops = stops};
  arena_open_in(&scratch, arena);
  p.alike = alike_open(&scratch);
  scan_begin(&p.scan, &scratch, diags, source);
  if (marks_report(diags, source) || netc_grammar_parse(&p) != 0 ||
      !p.program) {
    uint32_t end = p.scan.end;
    p.program = open_block(&p, (struct stmt_list){0}, (struct span){end, end});
  }
  arena_close(&scratch);
  return p.program;
}

struct block *parse(struct arena *arena, struct diags *diags, int source,
                    int *statements) {
  return read_text(arena, diags, source, statements, false);
}

struct block *parse_errors(struct arena *arena, struct diags *diags, int source,
                           int *statements) {
  return read_text(arena, diags, source, statements, true);
}

struct expr *parse_value(struct arena *arena, struct diags *diags,
                         struct span span, int *statements) {
  struct parser p = {.arena = arena,
                     .diags = diags,
                     .statements = statements,
                     .value_alone = true};
  scan_begin_value(&p.scan, arena, diags, span);
  return netc_grammar_parse(&p) == 0 ? p.value : NULL;
}
