/* All kernels by code, for models that are built at run time. */
#include "netrt.h"

const struct netrt_kernel *const netrt_kernels[NETRT_CODES] = {
#define OP(code, name, ins, most, numbers, reals, elementwise) &netrt_##name,
#include "ops.def"
#undef OP
};
