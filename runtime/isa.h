/*
 * Fast kernels are compiled for several instruction sets, and one is chosen at
 * run time. *_body.h are included once for each: clang 14 does not support
 * target_clones.
 *
 * Vectors are extensions of gcc and clang. Other compilers, and NETRT_SMALL,
 * have only the plain kernels.
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
 * The best instruction set of the processor whose registers the system saves.
 * gcc's __builtin_cpu_supports() would run at the start of every program with
 * the runtime, even if it runs no net: in a virtual machine a tenth of the
 * start time.
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

/* The set that netrt_open() found, unless flags exclude it. */
static inline enum isa isa_of(const struct netrt *net) {
  enum isa most = net->flags & NETRT_NO_AVX2     ? ISA_BASE
                  : net->flags & NETRT_NO_AVX512 ? ISA_AVX2
                                                 : ISA_AVX512;
  return net->isa < (unsigned)most ? (enum isa)net->isa : most;
}

#endif
