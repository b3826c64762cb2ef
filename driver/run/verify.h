/* netc verify: the state of a comparison, for its files. */
#ifndef NETC_DRIVER_RUN_VERIFY_H
#define NETC_DRIVER_RUN_VERIFY_H

#include "driver/run/run.h"

enum { VERIFY_PATH = 8192 };

/* The parties: netc itself and programs for its outputs. */
enum verify_party {
  PARTY_RUNTIME, /* netc run with fast kernels */
  PARTY_C,
  PARTY_ONNX,
  PARTY_TORCH,
  PARTY_COUNT
};

struct verifying {
  struct running *run;
  const char *cc, *qemu;          /* NULL: `cc`; this machine */
  char node_modules[VERIFY_PATH]; /* has onnxruntime-node, or "" */
  char folder[512];               /* directory of the files; "": none */
  bool small;  /* int8: bytes must be equal; x.onnx may differ by STEPS */
  bool narrow; /* no float32 weights equal the narrow ones */
  /* By party: */
  bool asked[PARTY_COUNT];      /* netc has written its input */
  bool made[PARTY_COUNT];       /* it has outputs */
  char about[PARTY_COUNT][256]; /* description, or why there are no outputs */
  float **outputs[PARTY_COUNT]; /* by output, including indices */
  int status;
};

extern const char *const verify_names[PARTY_COUNT];

/* "FOLDER/name" */
struct verify_path {
  char text[VERIFY_PATH];
};
struct verify_path verify_path(const struct verifying *v, const char *name);

/* Writes weights, inputs and their descriptions for several parties. Returns an
 * exit status. */
int verify_write_files(struct verifying *v);

/* Writes one of netc's outputs for a party. Returns an exit status. If netc
 * refuses, `about` says why and the party is skipped. */
int verify_emit(struct verifying *v, enum verify_party party, const char *kind,
                const char *name);
int verify_write_torch(struct verifying *v); /* module and weights */
int verify_write_onnx(struct verifying *v);

/* Run a party other than the runtime and return an exit status. A party that is
 * absent or cannot run is skipped, and `about` says so. */
int verify_run_c(struct verifying *v);
int verify_run_onnx(struct verifying *v);
int verify_run_torch(struct verifying *v);

/* Checks the board of --qemu; returns an exit status. */
int verify_check_board(const char *machine);

/* Prints the differences; returns an exit status. */
int verify_compare(struct verifying *v);

#endif
