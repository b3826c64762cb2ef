/* Functions of rows for each instruction set. */
#include "values.h"

#ifdef NETRT_HAS_FAST

#define BODY "values_body.h"
#include "isa_each.h"

const struct values *netrt_values_of(const struct netrt *net) {
  switch (isa_of(net)) {
#if ISA_HAS_X86
  case ISA_AVX512: return &avx512_values;
  case ISA_AVX2: return &avx2_values;
#endif
  default: return &base_values;
  }
}

#else
typedef int netrt_values_is_off; /* an empty file is not valid C */
#endif
