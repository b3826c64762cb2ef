/* Products of matrices for each instruction set, in parts by rows. */
#include "onednn.h"

#ifdef NETRT_HAS_FAST

enum {
  BLOCK_VALUES = 131072, /* half a megabyte: of most second caches */
  NEAR_ROWS = 128        /* for which packing weights pays, at least */
};

#define BODY "gemm_body.h"
#include "isa_each.h"

void netrt_gemm_part(enum isa isa, const struct gemm *gemm, ptrdiff_t from,
                     ptrdiff_t to) {
#if ISA_HAS_X86
  if (isa == ISA_AVX512) {
    avx512_gemm_part(gemm, from, to);
    return;
  }
  if (isa == ISA_AVX2) {
    avx2_gemm_part(gemm, from, to);
    return;
  }
#endif
  (void)isa;
  base_gemm_part(gemm, from, to);
}

struct gemm_job {
  const struct gemm *gemm;
  enum isa isa;
};

static void rows_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct gemm_job *job = data;
  netrt_gemm_part(job->isa, job->gemm, from, to);
}

/* Parts of columns: of few rows, each with a panel of its own. */
enum { PANEL = 32 };

static void columns_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct gemm_job *job = data;
  struct gemm part = *job->gemm;
  part.n = least(to * PANEL, part.n) - from * PANEL;
  part.out += from * PANEL;
  if (part.narrow.at) {
    part.narrow_first += from * PANEL;
    part.narrow_out += from * PANEL;
  } else
    part.b += from * PANEL * part.b_step;
  part.bias = part.bias ? part.bias + from * PANEL : NULL;
  part.skip = part.skip ? part.skip + from * PANEL : NULL;
  netrt_gemm_part(job->isa, &part, 0, part.m);
}

void netrt_gemm(const struct netrt *net, const struct gemm *gemm) {
  struct gemm_job job;
  ptrdiff_t work = gemm->taps * gemm->ins * gemm->n;
  job.gemm = gemm;
  job.isa = isa_of(net);
  if (!gemm->narrow.at && netrt_onednn_gemm(gemm) == NETRT_OK)
    return;
  if (gemm->m >= 8 * GEMM_ROWS || gemm->n <= PANEL)
    netrt_run_parts(net, gemm->m, 1 + 200000 / work, rows_part, &job);
  else
    netrt_run_parts(net, (gemm->n + PANEL - 1) / PANEL,
                    1 + 200000 / (work / gemm->n * PANEL * gemm->m),
                    columns_part, &job);
}

#else
typedef int netrt_gemm_is_off; /* a file is never empty */
#endif
