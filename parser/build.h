/* Build: constructors of the syntax tree, for the actions of grammar.y. */
#ifndef NETC_PARSER_BUILD_H
#define NETC_PARSER_BUILD_H

#include "parser/parse.h"

/* Lists that are built from left to right. */
struct expr_list {
  struct expr *first, *last;
};
struct arg_list {
  struct arg *first, *last;
};
struct stmt_list {
  struct stmt *first, *last;
};
struct row_list {
  struct table_row *first, *last;
};
struct name_items {
  struct name_list *first, *last;
};
struct param_list {
  struct def_param *first, *last;
};

/* A name and its place. */
struct named {
  struct slice name;
  struct span span;
};

/* `skip[i]` in front of a layer. */
struct new_label {
  struct named named;
  struct expr_list indices;
};

/* Appends to a list of any of the kinds above. */
#define APPEND(list, item)        \
  do {                            \
    if ((list).last)              \
      (list).last->next = (item); \
    else                          \
      (list).first = (item);      \
    (list).last = (item);         \
  } while (0)

/* Recent texts of layers: alike.c */
struct parsed_alike *alike_open(struct arena *arena);

struct expr *build_expr(struct parser *p, enum expr_kind kind,
                        struct span span);
struct expr *build_int(struct parser *p, int64_t value, struct span span);
struct expr *build_real(struct parser *p, double value, struct span span);
struct expr *build_bool(struct parser *p, bool value, struct span span);
struct expr *build_name(struct parser *p, enum expr_kind kind,
                        struct slice name, struct span span);

/* These return the left part if the tree is deeper than LIMIT_DEPTH. */
struct expr *build_unary(struct parser *p, enum op op, struct expr *operand,
                         struct span span);
struct expr *build_binary(struct parser *p, enum op op, struct expr *left,
                          struct expr *right);
struct expr *build_pair(struct parser *p, struct expr *left,
                        struct expr *right);
struct expr *build_call(struct parser *p, struct slice name, struct expr *items,
                        struct span span);

/* left[index], left.name */
struct expr *build_index(struct parser *p, struct expr *left,
                         struct expr *index, struct span span);
struct expr *build_path(struct parser *p, struct expr *left, struct slice name,
                        struct span span);

/* low..high, with the step after the word `step`, if any. */
struct expr *build_range(struct parser *p, struct expr *low, struct expr *high,
                         struct expr *step);

/* The step after a word. If the word is not `step`: an error, and NULL. */
struct expr *build_step(struct parser *p, struct named word, struct expr *step);

/* key=value in a call. */
struct expr *build_keyed(struct parser *p, struct named key, struct expr *value,
                         struct span span);

/* `left` joined to `right` by x; both may be lists already. */
struct expr *build_dims(struct parser *p, struct expr *left,
                        struct expr *right);

/* The values of all rows, in one list. */
struct expr *build_list(struct parser *p, struct table_row *rows,
                        struct span span);
struct arg *build_arg(struct parser *p, enum arg_form form, struct expr *value,
                      struct span span);
struct block *build_block(struct parser *p, struct stmt *first,
                          struct span span);
struct stmt *build_stmt(struct parser *p, enum stmt_kind kind,
                        struct span span);
/* Stands for a statement that could not be parsed. */
struct stmt *build_hole(struct parser *p, struct span span);
struct stmt *build_named(struct parser *p, enum stmt_kind kind,
                         struct named named, struct span span);
/* An empty list, at the start of the arguments. */
struct arg_list build_args(struct parser *p);
/* A word with its arguments, or those of an equal earlier text: alike.c */
struct stmt *build_apply(struct parser *p, struct named word, struct arg *args,
                         struct span span);
/* `param size depth = n in ..`: the first name is the parameter's. */
struct stmt *build_param(struct parser *p, struct name_list *names,
                         struct expr *value, struct span span);
/* `fork a: linear 1`: a fork of one layer. */
struct stmt *build_fork(struct parser *p, bool training, struct stmt *layer,
                        struct span span);
/* `from LABEL`, `again LABEL` */
struct stmt *build_reference(struct parser *p, enum stmt_kind kind,
                             struct expr *label, struct span span);
struct stmt *build_label(struct parser *p, struct stmt *stmt,
                         const struct new_label *label);
struct stmt *build_mark(struct parser *p, struct stmt *stmt, struct expr *sizes,
                        struct span span);
/* `error "depth is {depth}"`. If it is no message: an error, and NULL. */
struct stmt *build_message(struct parser *p, struct named word,
                           struct span string, struct span span);

/* gpu="NVIDIA GeForce RTX 4090", the only quoted value. NULL: an error. */
struct expr *build_quoted(struct parser *p, struct slice key, struct slice text,
                          struct span string);
struct stmt *build_settings(struct parser *p, const char *word,
                            struct arg *args, struct span span);

#endif
