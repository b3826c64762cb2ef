/*
 * Fast kernels are compiled for several instruction sets, one of which is
 * taken when they run. Their bodies are in *_body.h, included once for each:
 * target_clones would do it without that, but clang 14 does not know it.
 *
 * Vectors are those of gcc and clang; with other compilers, or NETRT_SMALL,
 * there are only the plain kernels.
 */
#ifndef NETRT_ISA_H
#define NETRT_ISA_H

#include "kernel.h"

enum isa { ISA_BASE, ISA_AVX2, ISA_AVX512 };

#if defined __x86_64__ && defined __GNUC__ && !defined NETRT_NO_DISPATCH
#define ISA_HAS_X86 1
#define ISA_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define ISA_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")))
#else
#define ISA_HAS_X86 0
#endif

/* The best one that is here and that the flags allow. */
static inline enum isa isa_of(const struct netrt *net) {
#if ISA_HAS_X86
  if (!(net->flags & (NETRT_NO_AVX2 | NETRT_NO_AVX512)) &&
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return ISA_AVX512;
  if (!(net->flags & NETRT_NO_AVX2) && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma"))
    return ISA_AVX2;
#else
  (void)net;
#endif
  return ISA_BASE;
}

#endif
