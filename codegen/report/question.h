/* Question: the net's size, and what is asked about it, in two lines. */
#ifndef NETC_CODEGEN_REPORT_QUESTION_H
#define NETC_CODEGEN_REPORT_QUESTION_H

#include "codegen/backend.h"

struct report_question {
  const struct compiled *c;
  const struct answer *a; /* NULL: a size passes 2^63 - 1 */
  bool predict;
  struct text *line; /* is written to */
};

/* "25.6 M parameters" */
void question_put_counts(const struct report_question *q);

/* "train, batch 256, Adam, float32, PyTorch on T4" */
void question_put(const struct report_question *q);

#endif
