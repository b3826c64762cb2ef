/* Trace: the tape of a whole net. */
#ifndef NETC_SEMA_TRACE_H
#define NETC_SEMA_TRACE_H

#include "layers/tape.h"
#include "sema/settings.h"
#include "sema/model.h"

struct trace {
  struct tape tape;
  size_t *value_of; /* by node: its output */
  int64_t *op_end;  /* by node: its operations end here */
  VEC(size_t) ends; /* training: values that backward starts from */
  bool has_loss;    /* they are numbers, not the outputs themselves */
};

/*
 * For training with its loss, or for prediction if `train` is NULL, as a
 * profile runs it.
 */
void trace(struct trace *trace, const struct model *model,
           const struct profile *profile, const struct train_settings *train,
           bool in_place);

#endif
