/* Tables: a net for the runtime, runtime/netrt.h. */
#ifndef NETC_MEMORY_TABLES_H
#define NETC_MEMORY_TABLES_H

#include "memory/program.h"
#include "runtime/netrt.h"

/*
 * Makes the model of a net in `net->arena`. An operation's kernel is its
 * code; the caller provides the kernels. Returns NULL, or why the runtime
 * cannot run the net, with a way out.
 */
const char *tables_make(const struct model *net,
                        const struct settings *settings,
                        const struct program *program,
                        struct netrt_model *model);

/* The enum netrt_type of an operand's values. */
uint8_t tables_type(const struct program *program,
                    const struct operand *operand);

/* "conv": the name of the kernel with an enum netrt_code. */
const char *tables_kernel_name(unsigned code);

#endif
