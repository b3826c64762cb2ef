/* Tables: a net for the runtime, runtime/netrt.h. */
#ifndef NETC_CODEGEN_C_TABLES_H
#define NETC_CODEGEN_C_TABLES_H

#include "codegen/backend.h"
#include "memory/program.h"
#include "runtime/netrt.h"

/*
 * Makes the model of a net in `c->model->arena`. An operation's kernel is its
 * code; the caller provides the kernels. Returns NULL, or why the runtime
 * cannot run the net, with a way out.
 */
const char *tables_make(const struct compiled *c, const struct program *program,
                        struct netrt_model *model);

/* The enum netrt_type of an operand's values. */
uint8_t tables_type(const struct program *program,
                    const struct operand *operand);

/* "conv": the name of the kernel with an enum netrt_code. */
const char *tables_kernel_name(unsigned code);

#endif
