/*
 * Programs of torch.export (.pt2): a zip with calls of ATen's operators as
 * JSON. archive.c finds the JSON and where values lie, read.c reads the graph,
 * and calls.c translates each call into ONNX's operators (ops/aten.def), which
 * the ONNX reader reads. Nothing in the file is executed.
 * torch/_export/serde/schema.py describes the JSON, docs/source/export of
 * PyTorch the archives of 2.6 and, from 2.8 on, of `PT2 Archive`.
 */
#ifndef NETC_IMPORT_EXPORTED_EXPORTED_H
#define NETC_IMPORT_EXPORTED_EXPORTED_H

#include <jansson.h>

#include "base/map.h"
#include "import/bytes/zip.h"
#include "import/onnx/said.h"

/* A tensor of the program. */
struct meta {
  int rank;
  int type;                /* of onnx.proto */
  int64_t dims[MOST_AXES]; /* -1: dynamic */
};

struct exported {
  struct onnx_said s;
  struct graph *graph;
  const struct import_options *options;
  struct zip zip;
  json_t *root;
  const json_t *about; /* tensor_values: types by name */
  struct map names;    /* of the program's values: their names in ONNX */
  const char *file;    /* its own name, for values; NULL: it has none */
  struct map own;      /* parameters and buffers, by the author's names */
  struct map stored;   /* where values lie, by the tensor's own name */
  struct map used;     /* tensors that calls and outputs read */
  struct map regions;  /* parts of tensors, by the program's name */

  /* The current call. */
  const json_t *call;
  const char *target;         /* "aten.conv2d.default" */
  struct slice op, overload;  /* "conv2d" without "_", "default" */
  const struct aten_row *row; /* of that operator */
};

/* Bytes of a tensor in the file. */
struct exported_stored {
  uint64_t at, bytes;
};

/*
 * A slice of a tensor, which a later call may write over: `x[1:3, 4:] = 0`.
 * Axis i of the slice is axis axes[i] of the tensor.
 */
struct exported_region {
  const char *base; /* the program's name of the whole */
  struct meta whole;
  int rank, axes[MOST_AXES];
  int64_t from[MOST_AXES], to[MOST_AXES];
};

/* Finds the JSON and the values; false with the graph's error. */
bool exported_open(struct exported *p, struct byte_store *store);
/* Takes the JSON alone, without values. */
bool exported_parse(struct exported *p, struct slice text);

/* Fails with "`layer1.0.conv1` (aten.conv2d): ..."; returns false. */
bool exported_fail(struct exported *p, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* Arguments of the current call, by name. NULL: it is left out, or None. */
const json_t *exported_arg(const struct exported *p, const char *name);
/* An argument that is an integer, real or truth; or `usual`. */
int64_t exported_int(const struct exported *p, const char *name, int64_t usual);
double exported_real(const struct exported *p, const char *name, double usual);
bool exported_true(const struct exported *p, const char *name, bool usual);
const char *exported_word(const struct exported *p, const char *name);
/* Integers; a size that is computed is -1. Returns their count, 0 if left out,
 * and fails with -1 if there are more than `most`. */
int exported_ints(struct exported *p, const char *name, int64_t *to, int most);
/* The name in ONNX of a tensor; NULL: left out. */
const char *exported_tensor(struct exported *p, const char *name);
/* Item `index` of a list of tensors; NULL past the end. */
const char *exported_item(struct exported *p, const char *name, size_t index);
/* A tensor or a number, as a constant of the type of `self`. */
const char *exported_operand(struct exported *p, const char *name);

/* The type of a value; false if the file has none. */
bool exported_meta(const struct exported *p, const char *value, struct meta *m);
/* The type of an argument; fails without one. */
bool exported_meta_of(struct exported *p, const char *name, struct meta *m);
/* The program's own name of a tensor; NULL: left out. */
const char *exported_own(const struct exported *p, const char *name);
/* The program's name of output `index`; NULL past the end. */
const char *exported_out(const struct exported *p, size_t index);
bool exported_out_meta(struct exported *p, size_t index, struct meta *m);

/* True if something reads output `index`. */
bool exported_reads(const struct exported *p, size_t index);

/* Nodes of the current call. */
Onnx__NodeProto *exported_node(struct exported *p, const char *type,
                               size_t ins);
/* Makes the node's next output the call's output; true. */
bool exported_give(struct exported *p, Onnx__NodeProto *node, size_t out);
/* Makes a value the call's first output; false if it is NULL. */
bool exported_give_same(struct exported *p, const char *value);

/* ONNX's operators, for calls that are the same in both. */
import_type_fn onnx_type;

/* Calls: a row of ops/aten.def each. */
typedef bool call_fn(struct exported *p);

struct aten_row {
  const char *name, *onnx;
  call_fn *say;
};

#define ATEN(name, onnx, function) call_fn function;
#include "ops/aten.def"
#undef ATEN

/* Translates the current call. */
bool exported_say(struct exported *p);
/* "relu" of "relu_", which writes over its operand. */
struct slice exported_op(struct slice name);
/* True if there is an equivalent of a call: "conv2d", "relu_". */
bool exported_knows(struct slice name);

/* Reads a program that another reader has made; takes `root`. */
bool exported_read_json(struct graph *graph, json_t *root,
                        const struct import_options *options);

#endif
