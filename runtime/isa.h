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
#include <cpuid.h>
#define ISA_HAS_X86 1
#define ISA_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define ISA_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")))
#else
#define ISA_HAS_X86 0
#endif

/*
 * The best one that the processor has, and whose registers the system saves.
 * gcc's __builtin_cpu_supports() would ask at the start of every program that
 * has the runtime in it, also where no net runs: in a virtual machine a tenth
 * of the time that a start takes.
 */
static inline enum isa isa_here(void) {
#if ISA_HAS_X86
  const unsigned avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW;
  unsigned a, b, c, d, saved;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_FMA))
    return ISA_BASE;
  __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
  if ((saved & 0x06) != 0x06 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
      !(b & bit_AVX2))
    return ISA_BASE;
  return (saved & 0xe6) == 0xe6 && (b & avx512) == avx512 && b & bit_AVX512VL
             ? ISA_AVX512
             : ISA_AVX2;
#else
  return ISA_BASE;
#endif
}

/* What netrt_open has found, if the flags allow it. */
static inline enum isa isa_of(const struct netrt *net) {
  enum isa most = net->flags & NETRT_NO_AVX2     ? ISA_BASE
                  : net->flags & NETRT_NO_AVX512 ? ISA_AVX2
                                                 : ISA_AVX512;
  return net->isa < (unsigned)most ? (enum isa)net->isa : most;
}

#endif
