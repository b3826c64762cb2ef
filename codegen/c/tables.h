/* Tables: a net as the runtime wants it, runtime/netrt.h. */
#ifndef NETC_CODEGEN_C_TABLES_H
#define NETC_CODEGEN_C_TABLES_H

#include "codegen/backend.h"
#include "memory/program.h"
#include "runtime/netrt.h"

/*
 * The model of a net; all of it is in `c->model->arena`. An operation's
 * kernel is its code; the kernels themselves are the caller's to name. Returns
 * NULL, or why the runtime cannot run the net, and the way out.
 */
const char *tables_make(const struct compiled *c, const struct program *program,
                        struct netrt_model *model);

/* The enum netrt_type of an operand's values. */
uint8_t tables_type(const struct program *program,
                    const struct operand *operand);

/* conv: what the kernel of an enum netrt_code is called. */
const char *tables_kernel_name(unsigned code);

#endif
