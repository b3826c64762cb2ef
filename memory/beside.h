/*
 * Beside: several nets in one process, as policy, reference and reward model,
 * generator and discriminator, or U-Net, VAE and text encoder.
 */
#ifndef NETC_MEMORY_BESIDE_H
#define NETC_MEMORY_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of a net that runs alone. */
struct beside_pass {
  int64_t batch;
  int64_t standing; /* bytes between passes: weights, optimizer state */
  int64_t peak;     /* bytes of a pass, including these */
};

/* Another net of the process. A frozen one only runs forward. */
struct beside_net {
  const char *name;
  bool frozen;
  int64_t params;
  struct beside_pass training, inference;
};

struct beside_nets {
  const struct beside_net *at;
  size_t count;
};

/* The passes of a net in a training step, or with `predict` in inference. */
static inline const struct beside_pass *
beside_pass_of(const struct beside_net *net, bool predict) {
  return predict || net->frozen ? &net->inference : &net->training;
}

/*
 * Bytes of the process: what all nets keep, and the largest pass, as they run
 * one after the other. `standing` and `peak` are those of the net itself.
 * INT64_MAX on overflow.
 */
int64_t beside_total(const struct beside_nets *beside, bool predict,
                     int64_t standing, int64_t peak);

#endif
