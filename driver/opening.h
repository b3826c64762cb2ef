/* Opening: identifies an operand, and finds or makes its source. */
#ifndef NETC_DRIVER_OPENING_H
#define NETC_DRIVER_OPENING_H

#include "base/arena.h"
#include "driver/command.h"
#include "import/kinds.h"
#include "import/tensors/tensors.h"

/* Starts as zeros. */
struct opened_file {
  struct arena arena;
  bool open;
  const char *operand;    /* as given: "zoo:resnet" */
  const char *path;       /* of the file; "-" is standard input */
  enum file_kind_id kind; /* KIND_COUNT: a source */
  bool modules;           /* opening_has_modules */
  struct slice text;
  VEC(const char *) parts;  /* of a pipeline: paths of its other nets */
  VEC(const char *) beside; /* other files that an import has read */
  VEC(const char *) sizes;  /* values of --input that an import has used */
  /* Kept when another file is opened: whether values of weights are wanted, a
   * file that has them, and then these as safetensors. */
  bool wants_values;
  const char *from;
  FILE *values; /* NULL: no values */
};

/*
 * Reads a file and identifies it by its first bytes: a source, or a kind with a
 * reader. Refuses others before reading more. Returns an exit status.
 */
int opening_open(struct opened_file *opening, const char *operand);

/* True if there is a folder at the path. */
bool opening_is_folder(const char *path);

/*
 * Finds the model file in a folder: sets the path to it and prints a note.
 * Returns an exit status; EXIT_DONE also if the operand is no folder.
 */
int opening_in_folder(struct opened_file *opening);

/*
 * Finds the nets of a folder of diffusers by its model_index.json: sets the
 * path to the one that samples, and `parts` to the others. Returns an exit
 * status.
 */
int opening_pipeline(struct opened_file *opening, const char *folder);

/*
 * Finds the net of an adapter, whose adapter_config.json is the text: that of
 * its model, if it is in the folder. Returns an exit status.
 */
int opening_adapter(struct opened_file *opening);

enum { OPENING_LORA_FILES = 2 };

/* An adapter as --lora has it, and its values in adapter_model.safetensors; -1:
 * not known. */
struct opening_lora {
  char text[128];
  int64_t values;
  char *files[OPENING_LORA_FILES]; /* that it is read from, to be freed */
};

/* Reads adapter_config.json, or a folder with it. Returns an exit status. */
int opening_lora(const char *path, struct opening_lora *lora);

/* Kind of a file on disk by its bytes, without opening it; KIND_COUNT: a
 * source, or unknown. */
enum file_kind_id opening_kind(const char *operand);

/* Refuses a file of another kind than the command takes. */
int opening_refuse(const struct opened_file *opening, enum file_kind_id kind);

/* As opening_refuse(), with a reason, `why`, or "". */
int opening_refuse_file(const char *path, enum file_kind_id kind,
                        const char *why);

void opening_close(struct opened_file *opening);

/*
 * Finds the net of a file of tensors and makes its source the text. Guesses a
 * chain of layers only if `guess`. Returns an exit status; `say` reports an
 * unknown net.
 */
int opening_recognise(struct opened_file *opening, bool guess, bool say);

/* True if a file of tensors has torchvision's names for nets of the zoo, in the
 * order of their layers. */
bool opening_knows_names(const struct tensor_file *file);

/* True if PyTorch saved modules that form a net, for opening_import(). */
bool opening_has_modules(struct opened_file *opening);

/*
 * Replaces the text of a file with the source made by its reader. Takes those
 * of the given options that `netc import` has. Returns an exit status.
 */
struct option_given;
int opening_import(struct opened_file *opening,
                   const struct option_given *given, size_t count);

#endif
