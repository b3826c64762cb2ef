/* Matrix products for each instruction set, divided by rows. */
#include "onednn.h"

#ifdef NETRT_HAS_FAST

enum {
  BLOCK_VALUES = 131072, /* 512 KiB, which fits most second-level caches */
  NEAR_ROWS = 128,       /* minimum rows for which packing weights pays */
  PANELS_AT_ONCE = 2     /* for one row; AVX2 has no registers for more */
};

/* Row k of b at column n in its panel; *row is the distance of rows. */
static inline const float *in_panel(const struct gemm *g, ptrdiff_t k,
                                    ptrdiff_t n, ptrdiff_t *row) {
  ptrdiff_t first = n - n % NETRT_PANEL;
  *row = least(NETRT_PANEL, g->n - first);
  return g->b + first * g->taps * g->ins + k * *row + n % NETRT_PANEL;
}

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

/* With few rows, tasks divide columns, each with panels of its own. */
static void columns_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct gemm_job *job = data;
  struct gemm part = *job->gemm;
  part.n = least(to * NETRT_PANEL, part.n) - from * NETRT_PANEL;
  part.out += from * NETRT_PANEL;
  if (part.narrow.at) {
    part.narrow_first += from * NETRT_PANEL;
    part.narrow_out += from * NETRT_PANEL;
  } else
    part.b +=
        from * NETRT_PANEL * (part.panels ? part.taps * part.ins : part.b_step);
  part.bias = part.bias ? part.bias + from * NETRT_PANEL : NULL;
  part.skip = part.skip ? part.skip + from * NETRT_PANEL : NULL;
  netrt_gemm_part(job->isa, &part, 0, part.m);
}

void netrt_gemm(const struct netrt *net, const struct gemm *gemm) {
  struct gemm_job job;
  ptrdiff_t work = gemm->taps * gemm->ins * gemm->n;
  job.gemm = gemm;
  job.isa = isa_of(net);
  if (!gemm->narrow.at && netrt_onednn_gemm(gemm) == NETRT_OK)
    return;
  if (gemm->m >= 8 * GEMM_ROWS || gemm->n <= NETRT_PANEL)
    netrt_run_parts(net, gemm->m, 1 + 200000 / work, rows_part, &job);
  else
    netrt_run_parts(net, (gemm->n + NETRT_PANEL - 1) / NETRT_PANEL,
                    1 + 200000 / (work / gemm->n * NETRT_PANEL * gemm->m),
                    columns_part, &job);
}

#else
typedef int netrt_gemm_is_off; /* an empty file is not valid C */
#endif
