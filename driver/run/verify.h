/* netc verify: a net that is run by several programs, for its files. */
#ifndef NETC_DRIVER_RUN_VERIFY_H
#define NETC_DRIVER_RUN_VERIFY_H

#include "driver/run/run.h"

enum { VERIFY_PATH = 8192 };

/* Who computes: netc itself, and what it writes. */
enum verify_party {
  PARTY_RUNTIME, /* netc run: with its fast kernels */
  PARTY_C,
  PARTY_ONNX,
  PARTY_TORCH,
  PARTY_COUNT
};

struct verifying {
  struct running *run;
  const char *cc, *qemu;          /* NULL: cc, and the machine here */
  char node_modules[VERIFY_PATH]; /* that may have onnxruntime-node; "" */
  char folder[512];               /* of the files; "": there is none */
  bool small;  /* of int8: all bytes must be equal, or nearly, to x.onnx */
  bool narrow; /* no weights of float32 give what fewer bits give */
  /* By party: */
  bool asked[PARTY_COUNT];      /* netc has written what it needs */
  bool made[PARTY_COUNT];       /* there are outputs */
  char about[PARTY_COUNT][256]; /* by what; or why there are none */
  float **outputs[PARTY_COUNT]; /* by output; of indices, too */
  int status;
};

extern const char *const verify_names[PARTY_COUNT];

/* "FOLDER/name" */
struct verify_path {
  char text[VERIFY_PATH];
};
struct verify_path verify_path(const struct verifying *v, const char *name);

/* Files that several need: weights, inputs, what the ends are like. An exit
 * status. */
int verify_write_files(struct verifying *v);

/* Writes one of netc's outputs for a party. An exit status; where netc refuses
 * it, `about` says why, and the party is not asked. */
int verify_emit(struct verifying *v, enum verify_party party, const char *kind,
                const char *name);
int verify_write_torch(struct verifying *v); /* module and weights */
int verify_write_onnx(struct verifying *v);

/* Runs a party other than the runtime. An exit status: a party that is absent,
 * or cannot be asked, is skipped, and says so in `about`. */
int verify_run_c(struct verifying *v);
int verify_run_onnx(struct verifying *v);
int verify_run_torch(struct verifying *v);

/* Whether there is such a board for --qemu; an exit status. */
int verify_check_board(const char *machine);

/* Prints how far apart they are; an exit status. */
int verify_compare(struct verifying *v);

#endif
