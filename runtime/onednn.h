/* Convolutions and products by oneDNN; only with NETRT_ONEDNN. */
#ifndef NETRT_ONEDNN_H
#define NETRT_ONEDNN_H

#include "conv.h"
#include "gemm.h"

#ifdef NETRT_ONEDNN
int netrt_onednn_gemm(const struct gemm *gemm);

/* Run operation `op`; its first run packs the weights. */
int netrt_onednn_conv(const struct netrt *net, const struct netrt_op *op,
                      const struct kernel_conv *conv);
int netrt_onednn_linear(const struct netrt *net, const struct netrt_op *op,
                        const struct gemm *gemm);

/* State between runs: net->kept. */
void netrt_onednn_open(struct netrt *net);
void netrt_onednn_close(struct netrt *net);
#else
static inline int netrt_onednn_gemm(const struct gemm *gemm) {
  (void)gemm;
  return NOT_FOR_ME;
}

static inline int netrt_onednn_conv(const struct netrt *net,
                                    const struct netrt_op *op,
                                    const struct kernel_conv *conv) {
  (void)net;
  (void)op;
  (void)conv;
  return NOT_FOR_ME;
}

static inline int netrt_onednn_linear(const struct netrt *net,
                                      const struct netrt_op *op,
                                      const struct gemm *gemm) {
  (void)net;
  (void)op;
  (void)gemm;
  return NOT_FOR_ME;
}

static inline void netrt_onednn_open(struct netrt *net) {
  (void)net;
}

static inline void netrt_onednn_close(struct netrt *net) {
  (void)net;
}
#endif

#endif
