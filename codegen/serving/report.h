/* State that the files of the section on serving share. */
#ifndef NETC_CODEGEN_SERVING_REPORT_H
#define NETC_CODEGEN_SERVING_REPORT_H

#include "codegen/section.h"
#include "memory/serving/serving.h"

struct serving_report {
  const struct compiled *c;
  struct text *out;
  struct text line;
  struct serving_answer a;
};

/* Fills `line` and `a`; false if the section is empty. */
bool serving_report_find(struct serving_report *r);

/* "keys and values in bf16" */
void serving_put_types(struct text *out, const struct infer_settings *infer);

/* "RTX 4090"; "card 2" if no name is given. */
void serving_put_card(struct text *out, const struct serving_answer *a,
                      int card);

/* "2 x M40 and T4" */
void serving_put_cards(struct text *out, const struct serving_answer *a);

/* "layers 1 to 12 and the output" */
void serving_put_range(struct text *out, int64_t first, int64_t last,
                       bool output);

/* The formulas of the figures: --explain. */
void serving_explain(struct serving_report *r);

void serving_put_json(struct json_writer *w);

#endif
