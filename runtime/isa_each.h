/*
 * Includes the file BODY once for each instruction set: NAME(id) is a
 * function's name, TARGET its attribute, LANES the number of floats of a vector
 * (isa.h).
 */
#define NAME(id) base_##id
#define TARGET
#define LANES 4
#include BODY
#undef NAME
#undef TARGET
#undef LANES

#if ISA_HAS_X86
#define NAME(id) avx2_##id
#define TARGET ISA_TARGET_AVX2
#define LANES 8
#include BODY
#undef NAME
#undef TARGET
#undef LANES

#define NAME(id) avx512_##id
#define TARGET ISA_TARGET_AVX512
#define LANES 16
#include BODY
#undef NAME
#undef TARGET
#undef LANES
#endif

#undef BODY
