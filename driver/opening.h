/* Opening: what an operand is, and the source that it is or becomes. */
#ifndef NETC_DRIVER_OPENING_H
#define NETC_DRIVER_OPENING_H

#include "base/arena.h"
#include "driver/command.h"
#include "import/kinds.h"
#include "import/tensors/tensors.h"

/* All zero before the first. */
struct opened_file {
  struct arena arena;
  bool open;
  const char *operand;    /* as it was given: "zoo:resnet" */
  const char *path;       /* of the file; "-" is standard input */
  enum file_kind_id kind; /* KIND_COUNT: a source */
  bool modules;           /* opening_has_modules */
  struct slice text;
  /* What stays when another file is opened: whether the values of weights are
   * wanted, too, and a file that has them; then, as safetensors, these. */
  bool wants_values;
  const char *from;
  FILE *values; /* NULL: the file has none */
};

/*
 * Reads a file. What it is, its first bytes say: a source, or a kind that has
 * a reader; anything else is refused before more of it is read. An exit
 * status.
 */
int opening_open(struct opened_file *opening, const char *operand);

/*
 * A folder that is a model, or has one: the path becomes that of a file in it,
 * and a note says so. An exit status, after saying why not; EXIT_DONE, too, if
 * it is none.
 */
int opening_in_folder(struct opened_file *opening);

/* What a file on disk is by its bytes, without opening it; KIND_COUNT: a
   source, or not to be told. */
enum file_kind_id opening_kind(const char *operand);

/* Refuses a file that is another kind than the command takes. */
int opening_refuse(const struct opened_file *opening, enum file_kind_id kind);

/* The same for what is wrong with it: `why`, or "". */
int opening_refuse_file(const char *path, enum file_kind_id kind,
                        const char *why);

void opening_close(struct opened_file *opening);

/*
 * Finds the net that a file of tensors is of, and makes its source the text;
 * a chain of layers is guessed only if that is wanted. An exit status; what
 * is not recognised is said if `say` is set.
 */
int opening_recognise(struct opened_file *opening, bool guess, bool say);

/* Whether a file of tensors has names that torchvision gives nets of the zoo,
   whose order is that of their layers. */
bool opening_knows_names(const struct tensor_file *file);

/* Whether PyTorch saved modules that are a net, which opening_import reads. */
bool opening_has_modules(struct opened_file *opening);

/*
 * Makes a source of a file that has a reader, in place of its text; of the
 * options that were given those are taken that `netc import` has. An exit
 * status.
 */
struct option_given;
int opening_import(struct opened_file *opening,
                   const struct option_given *given, size_t count);

#endif
