/* What the files that write the JSON report share. */
#ifndef NETC_CODEGEN_JSON_WRITER_H
#define NETC_CODEGEN_JSON_WRITER_H

#include "base/json.h"
#include "codegen/backend.h"

struct json_writer {
  const struct compiled *c;
  struct json json;
  struct text scratch;
};

/*
 * A row that is like many others: its text, with holes where they differ. It
 * is put together from there; in a large net only few rows are written anew.
 */
enum { HOLES = 6 };

struct json_form {
  struct text text;
  size_t ends[HOLES + 1]; /* of what stands before each hole, and of all */
  size_t holes;
  bool first; /* of its list, as form_begin() found it */
};

/*
 * What is written until form_end() is the row of a form, the bracket that
 * opens it at first. Returns where the writer wrote to.
 */
struct text *form_begin(struct json_writer *w, struct json_form *form);
void form_hole(struct json_writer *w, struct json_form *form); /* of a value */
void form_end(struct json_writer *w, struct json_form *form, struct text *out);

/* What stands before the first hole; after hole `hole`. */
void form_open(struct json_writer *w, const struct json_form *form);

static inline void form_put(struct text *out, const struct json_form *form,
                            size_t hole) {
  const size_t *end = &form->ends[hole];
  text_bytes(out, form->text.at + end[0], end[1] - end[0]);
}

/* Names of nodes, of which one is mostly that before with another number. */
struct names {
  const struct node *like; /* NULL: nothing yet */
  struct text stem;        /* what stands before its number */
  struct counter number;
};

/* The name of a node; it has nothing that JSON escapes. */
void names_put(struct names *names, struct text *out, const struct model *model,
               int64_t node);

/* The text made in `scratch`, which is then empty again. */
struct slice writer_text(struct json_writer *w);

/* The member "layers", and what its rows share with other members. */
void writer_put_layers(struct json_writer *w);
void writer_put_shape(struct json_writer *w, const struct shape *shape);
void writer_put_cost(struct json_writer *w, const struct cost *cost);

/* A key and the value of an argument or a setting. */
void writer_put_argument(struct json_writer *w, const struct arg_spec *spec,
                         const void *at);

/* The members "answer", "training" and "inference". */
void writer_put_answer(struct json_writer *w);
void writer_put_training(struct json_writer *w);
void writer_put_inference(struct json_writer *w);

#endif
