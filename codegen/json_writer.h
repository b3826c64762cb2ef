/* Functions and types that the files of the JSON report share. */
#ifndef NETC_CODEGEN_JSON_WRITER_H
#define NETC_CODEGEN_JSON_WRITER_H

#include "base/json.h"
#include "codegen/backend.h"

struct json_writer {
  const struct compiled *c;
  struct json json;
  struct text scratch;
};

/* A row that is like many others: its text, with holes where they differ. Other
 * rows are built from it; in a large net only few rows are formatted anew. */
enum { HOLES = 6 };

struct json_form {
  struct text text;
  size_t ends[HOLES + 1]; /* offset of each hole, then the length */
  size_t holes;
  bool first; /* first row of its list */
};

/* Until form_end(), the writer writes the row of a form, from its opening
 * bracket on. Returns the writer's previous output. */
struct text *form_begin(struct json_writer *w, struct json_form *form);
void form_hole(struct json_writer *w, struct json_form *form); /* of a value */
void form_end(struct json_writer *w, struct json_form *form, struct text *out);

/* Writes the text before the first hole; form_put() the text after a hole. */
void form_open(struct json_writer *w, const struct json_form *form);

static inline void form_put(struct text *out, const struct json_form *form,
                            size_t hole) {
  const size_t *end = &form->ends[hole];
  text_bytes(out, form->text.at + end[0], end[1] - end[0]);
}

/* Cached names of nodes: most differ from the last one only in a number. */
struct names {
  const struct node *like; /* NULL: none yet */
  struct text stem;        /* the name up to its number */
  struct counter number;
};

/* Writes the name of a node, which never needs escapes. */
void names_put(struct names *names, struct text *out, const struct model *model,
               int64_t node);

/* The text in `scratch`, which is cleared. */
struct slice writer_text(struct json_writer *w);

/* The member "layers", and functions that other members share. */
void writer_put_layers(struct json_writer *w);
void writer_put_shape(struct json_writer *w, const struct shape *shape);
void writer_put_cost(struct json_writer *w, const struct cost *cost);

/* A key and the value of an argument or a setting. */
void writer_put_argument(struct json_writer *w, const struct arg_spec *spec,
                         const void *at);

/* The members "answer", "training" and "inference". */
void writer_put_answer(struct json_writer *w);
void writer_put_beside(struct json_writer *w);
void writer_put_lengths(struct json_writer *w);
void writer_put_files(struct json_writer *w);
void writer_put_board(struct json_writer *w);
void writer_put_training(struct json_writer *w);
void writer_put_inference(struct json_writer *w);

#endif
