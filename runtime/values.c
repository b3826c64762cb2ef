/* Functions of rows for each instruction set. */
#include "values.h"

#ifdef NETRT_HAS_FAST

#define NAME(id) base_##id
#define TARGET
#define LANES 4
#include "vector_body.h"
#include "values_body.h"
#undef NAME
#undef TARGET
#undef LANES

#if ISA_HAS_X86
#define NAME(id) avx2_##id
#define TARGET ISA_TARGET_AVX2
#define LANES 8
#include "vector_body.h"
#include "values_body.h"
#undef NAME
#undef TARGET
#undef LANES

#define NAME(id) avx512_##id
#define TARGET ISA_TARGET_AVX512
#define LANES 16
#include "vector_body.h"
#include "values_body.h"
#undef NAME
#undef TARGET
#undef LANES
#endif

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
typedef int netrt_values_is_off; /* a file is never empty */
#endif
