/* Convolutions and products by oneDNN; without NETRT_ONEDNN never. */
#ifndef NETRT_ONEDNN_H
#define NETRT_ONEDNN_H

#include "conv.h"
#include "gemm.h"

#ifdef NETRT_ONEDNN
int netrt_onednn_gemm(const struct gemm *gemm);
int netrt_onednn_conv(const struct conv *conv);
#else
static inline int netrt_onednn_gemm(const struct gemm *gemm) {
  (void)gemm;
  return NOT_FOR_ME;
}

static inline int netrt_onednn_conv(const struct conv *conv) {
  (void)conv;
  return NOT_FOR_ME;
}
#endif

#endif
