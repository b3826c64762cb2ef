/*
 * Beside: several nets in one process, as policy, reference and reward model,
 * generator and discriminator, or U-Net, VAE and text encoder.
 */
#ifndef NETC_MEMORY_BESIDE_H
#define NETC_MEMORY_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Another net of the process. A frozen one only runs forward. */
struct beside_net {
  const char *name;
  bool frozen;
  int64_t batch, params;
  int64_t standing; /* bytes between its passes: weights, optimizer state */
  int64_t peak;     /* bytes of a pass, including these */
};

struct beside_nets {
  const struct beside_net *at;
  size_t count;
};

/*
 * Bytes of the process: what all nets keep, and the largest pass, as they run
 * one after the other. `standing` and `peak` are those of the net itself.
 * INT64_MAX on overflow.
 */
int64_t beside_total(const struct beside_nets *beside, int64_t standing,
                     int64_t peak);

#endif
