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

/* The formulas of the figures: --explain. */
void serving_explain(struct serving_report *r);

void serving_put_json(struct json_writer *w);

#endif
