/*
 * netc: the compiler for neural-network architectures, as a library.
 *
 *   struct netc *netc = netc_open(NULL, NULL);
 *   netc_set(netc, "batch", "64");
 *   if (netc_load_file(netc, "vgg16.net") == NETC_OK)
 *     netc_emit(netc, "json", NULL, write, stdout);
 *   netc_close(netc);
 *
 * Threads: one thread at a time may use a context. Contexts share nothing. A
 * call needs at most 256 KiB of stack, however deep a source is nested.
 *
 * Ownership: the library owns every text and array that it returns. Those about
 * a net are valid until the next load or netc_close, those about the library
 * itself (outputs, settings, layers, slugs) for ever. Free none of them.
 *
 * Structs that a caller passes begin with their size, which the caller sets:
 * `struct netc_layer layer = {.size = sizeof layer};`. A later version may add
 * members at the end. The library never writes beyond the caller's size.
 *
 * Callbacks may call every function that does not change their context. Calls
 * that configure it or load a net return NETC_USAGE; netc_close does nothing.
 *
 * Units: sizes are in bytes, counts in values. An index of -1 means "none".
 */
#ifndef NETC_H
#define NETC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NETC_VERSION "0.3.0"
#define NETC_VERSION_NUMBER 300 /* 10000 * major + 100 * minor + patch */

#if defined __GNUC__
#define NETC_API __attribute__((visibility("default")))
#else
#define NETC_API
#endif

/* Version of the library in use; the macros are the version of this header. */
NETC_API const char *netc_version(void);
NETC_API int netc_version_number(void);

/* Contexts */

struct netc;

enum netc_status {
  NETC_OK,
  NETC_ERROR,     /* the source has an error or exceeds its budget, or an output
                     does not support this net */
  NETC_USAGE,     /* a name, value, index or size does not exist */
  NETC_IO,        /* a file cannot be read, or a sink returned false */
  NETC_NO_MEMORY, /* a load leaves no net; other calls change nothing */
  NETC_BUG,       /* a bug in netc: its verifier rejects a plan */
  NETC_STOPPED,   /* by netc_progress_fn; a load leaves no net */
};

/* Does the work of malloc, realloc and free: `old` is NULL for a new block,
 * `size` is 0 to free a block. Returns NULL if no memory is available. */
typedef void *netc_resize_fn(void *user, void *old, size_t size);

/* Receives bytes of an output; returns false if it cannot store them. */
typedef bool netc_sink_fn(void *user, const char *bytes, size_t length);

/* Opens a context. `resize` NULL: the C library's allocator. The caller closes
 * the context with netc_close. Returns NULL if no memory is available. */
NETC_API struct netc *netc_open(netc_resize_fn *resize, void *user);
NETC_API void netc_close(struct netc *netc);

/* Message about the last NETC_USAGE or NETC_IO, or NETC_ERROR of an output;
 * after NETC_OK of netc_emit a note on the output, or "". It is valid until the
 * next call. */
NETC_API const char *netc_message(const struct netc *netc);

/*
 * Options of the command line, for all later loads:
 *
 *   netc_set(netc, "batch", "64")     a setting of docs/reference.md
 *   netc_budget(netc, "params", "25M")  a limit for the net; it replaces the
 *                                     same limit of a `budget` line
 *   netc_define(netc, "depth", "50")  the value of a `param`
 *   netc_input_sizes(netc, "", "320x320x3")
 *                                     sizes of the input with that name; "" is
 *                                     the only input, `_` keeps a size, and
 *                                     "1..512" gives bounds; NULL restores the
 *                                     sizes of the source
 *   netc_warn(netc, "no-huge-fc")     the text after -W
 *   netc_include(netc, "lib")         adds a folder in which `use` looks
 *   netc_confine(netc, "nets")        `use` opens only files below this folder
 *                                     and the folders of netc_include, after
 *                                     links are resolved; "" is the folder of
 *                                     the net; each call adds a folder
 *
 * A second value for a name replaces the first one. Returns NETC_USAGE if a
 * name or value is wrong; netc_message has the reason.
 */
NETC_API enum netc_status netc_set(struct netc *netc, const char *name,
                                   const char *value);
NETC_API enum netc_status netc_budget(struct netc *netc, const char *name,
                                      const char *value);
NETC_API enum netc_status netc_define(struct netc *netc, const char *name,
                                      const char *value);
NETC_API enum netc_status netc_input_sizes(struct netc *netc, const char *name,
                                           const char *sizes);

/*
 * Adds LoRA adapters of this rank to a net that has none: all weights are
 * frozen, and the four matrices of attention get narrow ones, as with `lora=16
 * lora_on=qkvo` in a source. `all` also adapts `linear` and `fc`. Rank 0 adds
 * none.
 */
NETC_API enum netc_status netc_lora(struct netc *netc, int64_t rank, bool all);

/*
 * The same as a text, as `--lora` has it: RANK and words after colons, such as
 * "16:all:f32". `all` adapts dense layers, too; `qv` and `qkv` (lora_on=) only
 * these matrices of attention. f32, bf16 or f16 is the type of the adapters, as
 * PEFT has them in 32 bits beside a net in 16. `alpha=32` and `dropout=0.05`
 * are lora_alpha= and lora_dropout=.
 */
NETC_API enum netc_status netc_adapters(struct netc *netc, const char *text);

/*
 * Lengths that differ from batch to batch, as `--vary`: all inputs of tokens
 * have the longest one, and the report and JSON also have the peaks of training
 * at the shortest and the mean one.
 */
NETC_API enum netc_status netc_vary(struct netc *netc, int64_t shortest,
                                    int64_t mean, int64_t longest);
NETC_API enum netc_status netc_warn(struct netc *netc, const char *option);
NETC_API enum netc_status netc_include(struct netc *netc, const char *folder);
NETC_API enum netc_status netc_confine(struct netc *netc, const char *folder);

/* Purpose of all later loads. */
enum netc_mode {
  NETC_FOR_ALL,
  NETC_FOR_CHECK, /* diagnostics only; memory is computed only if settings or a
                     budget need it */
  NETC_FOR_PLACE, /* for netc_place: a degree may be given without the degrees
                     that it needs; memory is that of one device */
  NETC_FOR_FIT,   /* verdict only, without the largest batch and ways out */
  NETC_FOR_TABLE, /* without ways out */
};
NETC_API enum netc_status netc_mode(struct netc *netc, enum netc_mode mode);

/*
 * Keeps the layers of a source with errors, for editors. The load still returns
 * NETC_ERROR, and netc_layer and similar functions return what is known. Sizes
 * that depend on an error are NETC_UNKNOWN, and so are all counts and bytes of
 * layers. A line with an error gives a layer called "?", or its layer with the
 * arguments that are known. There are no totals, no memory and no outputs. The
 * same holds for a correct source, whose sizes are all known, if the load is
 * NETC_FOR_CHECK and computes no memory.
 */
NETC_API enum netc_status netc_partial(struct netc *netc, bool on);

/*
 * Devices for the setting `gpu` and for netc_place: those of netc's table
 * (docs/gpus.md), then those that netc_add_gpus added. `netc` may be NULL:
 * netc's table.
 */
struct netc_gpu {
  size_t size;
  const char *name;      /* "a100-80" */
  const char *names;     /* other names, separated by `|`; "": none */
  const char *kind;      /* kind of its driver: "geforce"; "": none */
  int64_t card_bytes;    /* memory of the card in bytes, from its maker */
  int64_t process_bytes; /* bytes that a process can use */
  bool estimated;        /* process_bytes is estimated from similar cards */
  const char *source;    /* page with process_bytes; "": none */
  int64_t bandwidth;     /* memory bandwidth in 10^9 bytes/s; 0: unknown */
  int64_t capability;    /* ten times the CUDA compute capability; 0: no CUDA */
};
NETC_API enum netc_status netc_gpu(const struct netc *netc, size_t index,
                                   struct netc_gpu *gpu);

/* Boards, for the setting `board`. docs/boards.md has the table. */
struct netc_board {
  size_t size;
  const char *name;  /* "nucleo-f746zg" */
  const char *names; /* other names, separated by `|` */
  const char *core;  /* "cortex-m7" */
  int64_t megahertz;
  int64_t ram_bytes;   /* RAM that a program can use for data */
  int64_t block_bytes; /* its largest contiguous part, in bytes */
  int64_t flash_bytes;
  bool measured; /* code and stack were measured for this core */
  bool loaded;   /* programs are copied into RAM, with the weights */
  const char *source;
};
NETC_API enum netc_status netc_board(size_t index, struct netc_board *board);

/*
 * Recipes, for the setting `like`: settings that a program or a guide uses.
 * docs/recipes.md has them with their sources.
 */
struct netc_recipe {
  size_t size;
  const char *name;  /* "hf/qlora" */
  const char *title; /* what it is, in a line */
  size_t setting_count;
  size_t runs;   /* published runs that check it */
  double median; /* of netc's figure / the published one; 0: no run */
  /* Where batches are padded to their longest sample; NULL: all are as long. */
  const char *varies;
};
NETC_API enum netc_status netc_recipe(size_t index, struct netc_recipe *recipe);

/* A setting of a recipe: "optimizer" and "adamw", or "lora" and "16:all". */
struct netc_recipe_setting {
  size_t size;
  const char *name, *value;
  const char *source; /* repository, file and version */
};
NETC_API enum netc_status
netc_recipe_setting(size_t recipe, size_t index,
                    struct netc_recipe_setting *setting);

/*
 * Adds devices from a table in CSV, whose first line names the columns
 * (docs/gpus.md). On an error it returns NETC_USAGE and adds none; netc_message
 * then begins with `name`, line and column.
 */
NETC_API enum netc_status netc_add_gpus(struct netc *netc, const char *name,
                                        const char *csv, size_t length);

/*
 * Compares a training step with other settings, written as on a `train` line:
 * "checkpoint=8 precision=mixed". They replace settings of the net. Every later
 * load gets a second timeline in the chart "timeline.svg" and a line in its
 * report. At most eight calls are allowed.
 */
NETC_API enum netc_status netc_compare(struct netc *netc, const char *settings);

/*
 * Reads sources from a callback instead of files, for editors, services and
 * platforms without files. The callback passes the text of `path` to `sink`, in
 * one or more pieces. The library then opens no file. `read` NULL: read files
 * again.
 */
enum netc_found {
  NETC_FOUND,
  NETC_ABSENT,     /* the library tries the next folder of netc_include */
  NETC_UNREADABLE, /* it exists, but cannot be read */
};
typedef enum netc_found netc_read_fn(void *user, const char *path,
                                     netc_sink_fn *sink, void *sink_user);
NETC_API enum netc_status netc_on_read(struct netc *netc, netc_read_fn *read,
                                       void *user);

/*
 * Reports progress of long work: loops of a source, checkpoints, the largest
 * batch, placements. `what` is a few words, such as "choosing checkpoints".
 * `done` counts up to `total`; total 0: unknown. The callback returns true to
 * go on. If it returns false, the work stops and the call returns NETC_STOPPED.
 * It must not longjmp or throw. `tell` NULL: no reports.
 */
typedef bool netc_progress_fn(void *user, const char *what, int64_t done,
                              int64_t total);
NETC_API enum netc_status netc_on_progress(struct netc *netc,
                                           netc_progress_fn *tell, void *user);

/* Loading */

/*
 * Compiles a net: reads, parses, infers shapes, counts and checks. Each load
 * frees the net before it. The path "-" is standard input. netc_load_text
 * copies the text; messages call it `name`.
 */
NETC_API enum netc_status netc_load_file(struct netc *netc, const char *path);
NETC_API enum netc_status netc_load_text(struct netc *netc, const char *name,
                                         const char *text, size_t length);

/* Path of a file that was read: 0 is the net's own. NULL after the last one. */
NETC_API const char *netc_source(const struct netc *netc, size_t index);

/*
 * Bytes of such a file as they were read, without a byte order mark; valid
 * until the next load. NULL after the last one, or if the file could not be
 * read.
 */
NETC_API const char *netc_source_text(const struct netc *netc, size_t index,
                                      size_t *length);

/* A `param` that netc_define can set, in the order of discovery; also known for
 * a net with errors. NETC_USAGE after the last one. */
struct netc_param {
  size_t size;
  const char *name;
  const char *fallback; /* the default as in the source: "50" */
  const char *value;    /* the current value */
  const char *allowed;  /* allowed values: "18 34 50", "0..1"; "": any */
  bool given;           /* set by netc_define */
  const char *follows;  /* expression of its default: "width/64"; "": none */
};

NETC_API enum netc_status netc_param(struct netc *netc, size_t index,
                                     struct netc_param *param);

/* Diagnostics, in the order of discovery */

enum netc_severity { NETC_SEVERITY_WARNING = 1, NETC_SEVERITY_ERROR };

/* A range of a source file; its end is exclusive. */
struct netc_place {
  const char *file;
  uint32_t line, column; /* from 1; columns count code points */
  uint32_t end_line, end_column;
  size_t begin, end; /* byte offsets in the file */
};

struct netc_label {
  struct netc_place place;
  const char *text; /* the message for this place */
};

/* A replacement of the text at `place` that fixes the source. */
struct netc_fixit {
  struct netc_place place;
  const char *text;
};

struct netc_diagnostic {
  size_t size;
  enum netc_severity severity;
  const char *slug; /* permanent name: "pool-remainder" */
  const char *message;
  struct netc_place place;
  const char *here; /* the message for the place itself, or "" */
  size_t label_count, note_count, help_count, fixit_count;
  const struct netc_label *labels;
  const char *const *notes;
  const char *const *help;
  const struct netc_fixit *fixits;
  int64_t repeats; /* how often iterations of loops repeated it */
  const char *net; /* file for which a command-line option is wrong; or NULL */
};

/* Text as `netc` prints it, the same in colour, or one line of JSON. */
enum netc_style { NETC_STYLE_TEXT, NETC_STYLE_COLOUR, NETC_STYLE_JSON };

NETC_API size_t netc_diagnostic_count(const struct netc *netc);
NETC_API enum netc_status netc_diagnostic(struct netc *netc, size_t index,
                                          struct netc_diagnostic *diagnostic);
NETC_API enum netc_status netc_diagnostic_emit(struct netc *netc, size_t index,
                                               enum netc_style style,
                                               netc_sink_fn *sink, void *user);

/* Outputs */

enum netc_units { NETC_IEC, NETC_SI, NETC_BYTES };

enum { NETC_TOTALS_ONLY = -1 }; /* value of `depth`: print no layers */

/* Diagrams: direction, meaning of the colours, and figures in the boxes. */
enum netc_direction { NETC_DOWN, NETC_RIGHT };
enum netc_tint {
  NETC_TINT_OP,
  NETC_TINT_MACS,
  NETC_TINT_SAVED, /* bytes kept for backward */
  NETC_TINT_PARAMS,
};
enum {
  NETC_NOTE_PARAMS = 1,
  NETC_NOTE_MACS = 2,
  NETC_NOTE_BYTES = 4, /* bytes of the output for one sample */
  NETC_NOTE_NONE = 8,
  NETC_NOTE_ALL = 15,
};

struct netc_tensor_shape {
  int rank;
  const int64_t *dims;
};

/* Result of a search over many nets, for the chart "pareto": one dot for each
 * variant of a net. Dots of the Pareto front have names. */
enum { NETC_MOST_GOALS = 4 };
enum netc_amount { NETC_AMOUNT_COUNT, NETC_AMOUNT_BYTES, NETC_AMOUNT_TIME };
struct netc_goal {
  const char *name; /* "parameters" */
  enum netc_amount amount;
  bool less; /* smaller is better */
};
struct netc_dot {
  const char *name;  /* name of a net on the front: "17, 192"; else NULL */
  const int64_t *at; /* one value per goal: a count, bytes or nanoseconds */
};
struct netc_front {
  size_t size;
  const struct netc_goal *goals; /* 2 to NETC_MOST_GOALS */
  size_t goal_count;
  const char *names; /* meaning of the dots' names: "width, input" */
  const struct netc_dot *dots;
  size_t dot_count;
  int64_t variants; /* number of all variants; a dot may stand for several */
};

/* Appearance of an output. All members except `size` may be 0: the defaults. */
struct netc_options {
  size_t size;
  enum netc_units units;
  bool channels_first; /* print shapes as CxHxW */
  int depth;           /* fold deeper groups into one row; 0: fold none */
  bool expand;  /* print layers of a tail (fused ones) on rows of their own */
  bool explain; /* print the formula of every number */
  bool ascii;
  int width;           /* columns of the report; 0: 80 */
  bool unfold;         /* print equal layers and all groups one by one */
  const char *columns; /* "name,output,macs"; NULL: the default columns */
  const char *sort;   /* column to sort by, largest first; NULL: source order */
  int64_t top;        /* maximum number of rows; 0: all */
  bool colour;        /* colour the report for a terminal */
  const char *prefix; /* prefix of names in C; NULL: the net's name */
  bool predict;       /* report inference instead of training */
  enum netc_direction direction; /* of diagrams */
  enum netc_tint tint;           /* meaning of a diagram's colours */
  unsigned notes;                /* sum of NETC_NOTE_*; 0: parameters */
  const char *links; /* "../": prefix of links to sources; NULL: "" */
  bool timeline;     /* add every moment of a training step to JSON */
  bool deploy;       /* write only the macros for inference to the C header */
  bool brief;        /* print the answer without the layers */
  int height; /* lines of the screen: a longer report repeats the answer at its
                 end; 0: no screen */
  /* For "py": a name for each tensor, by index of netc_weight. NULL: the names
   * of netc_weight_torch_name. */
  const char *const *tensor_names;
  /* For pictures: */
  bool source_labels; /* name layers as the source does, `layernorm`, and link
                         them to its lines; else as papers do: "Layer norm" */
  const char *title;  /* title; "": none; NULL: the default of each picture */
  bool no_legend;     /* omit the legend and drawing notes, for figures with a
                         caption */
  int64_t picture_width; /* width to lay out for, in tenths of a point; 0:
                            natural width */
  /* Shapes of the tensors in tensor_names, if these have more or fewer axes of
   * size 1 than in netc_weight; NULL: they do not. */
  const struct netc_tensor_shape *tensor_shapes;
  const struct netc_front *front; /* required by "pareto.svg" and similar */
  bool details; /* add PyTorch's allocator and all kinds of tensors to the
                   report */
  int64_t picture_height; /* height of a diagram's page, in tenths of a point;
                             0: A4's */
};

/* Limits of netc_options.picture_width and picture_height. */
enum { NETC_LEAST_WIDTH = 1000, NETC_MOST_WIDTH = 300000 };

/* Sets `name` to the prefix of names in C with these options: "vgg16". It is
 * valid until the next load. */
NETC_API enum netc_status netc_c_name(struct netc *netc,
                                      const struct netc_options *options,
                                      const char **name);

/* The columns of the table of layers; NETC_USAGE after the last one. */
struct netc_column {
  size_t size;
  const char *name, *summary;
  bool usual;    /* shown by default */
  bool sortable; /* allowed in netc_options.sort */
};

NETC_API enum netc_status netc_column(size_t index, struct netc_column *column);

/* Writes an output to `sink`: "txt", "json", "csv", "md", "net", "dot", or
 * another kind of netc_output_kind. `options` may be NULL: the defaults. */
NETC_API enum netc_status netc_emit(struct netc *netc, const char *kind,
                                    const struct netc_options *options,
                                    netc_sink_fn *sink, void *user);

/* The model: layers in the order of the source, inputs of the net first */

enum netc_type {
  NETC_FLOAT,
  NETC_I32,
  NETC_I64,
  NETC_I8,
  NETC_F16, /* only for weights */
  NETC_BF16
};

/* A size, rank or count that is unknown, in a partial model. */
#define NETC_UNKNOWN (-1)

/* Shape of a tensor without the batch; channels are last. */
struct netc_shape {
  enum netc_type type; /* NETC_FLOAT: the dtype of the settings */
  int rank;
  const int64_t *dims;
};

struct netc_layer {
  size_t size;
  const char *name;    /* "stem.conv1" */
  const char *op;      /* "conv"; "input" for an input of the net */
  const char *written; /* with its values: "conv 64 3x3 pad" */
  struct netc_place place;
  int64_t head; /* index of the layer in whose tail it is written, or its own */
  struct netc_shape out;
  size_t input_count;
  const int64_t *inputs; /* indices of layers */
  size_t attribute_count;
  int64_t param_count, trainable_count, buffer_count;
  int64_t mac_count;        /* for one sample */
  int64_t activation_count; /* by the rule of thumb, for one sample */
  int64_t saved_bytes;      /* bytes kept for backward, for the whole batch */
};

/* An argument of a layer, also if the source does not give it. */
struct netc_attribute {
  size_t size;
  const char *name;
  const char *value; /* in the syntax of a source; "": no value */
  bool given;        /* the source gives it */
};

/*
 * Returns the name of the net: the name in its `net` line, or the file name
 * without folders and suffix. "" before a load and after a failed one. Valid
 * until the next load or netc_close.
 */
NETC_API const char *netc_name(struct netc *netc);
NETC_API size_t netc_layer_count(const struct netc *netc);
NETC_API enum netc_status netc_layer(struct netc *netc, size_t index,
                                     struct netc_layer *layer);
NETC_API enum netc_status netc_attribute(struct netc *netc, size_t layer,
                                         size_t index,
                                         struct netc_attribute *attribute);

/* An input or output of the net. */
struct netc_end {
  size_t size;
  const char *name;
  int64_t layer;
  const int64_t *low; /* smallest sizes of an input with bounds; its layer has
                         the largest ones; else NULL */
};

NETC_API size_t netc_input_count(const struct netc *netc);
NETC_API enum netc_status netc_input(struct netc *netc, size_t index,
                                     struct netc_end *input);
NETC_API size_t netc_output_count(const struct netc *netc);
NETC_API enum netc_status netc_output(struct netc *netc, size_t index,
                                      struct netc_end *output);

struct netc_totals {
  size_t size;
  int64_t param_count, trainable_count, buffer_count;
  int64_t mac_count, activation_count, activation_bytes;
  int64_t active_count; /* parameters that process one token; of experts only
                           those that it is sent to */
};

/*
 * Sets `grows` to true if no count or size of the net shrinks when this `param`
 * grows: it is only added, multiplied, and used as channels. A search may then
 * bisect it. False if unknown.
 */
NETC_API enum netc_status netc_param_grows(struct netc *netc, const char *param,
                                           bool *grows);

/* Also after a load in NETC_FOR_CHECK, but there not with netc_partial on. */
NETC_API enum netc_status netc_totals(const struct netc *netc,
                                      struct netc_totals *totals);

/* Memory: docs/memory.md has the formulas. NETC_USAGE if no net is loaded */

enum netc_phase { NETC_FORWARD, NETC_BACKWARD, NETC_STEP };

/* A training step. Bytes are those of one device that holds the whole net,
 * except peak_bytes, device_peak_bytes and device_saved_bytes. */
struct netc_training {
  size_t size;
  const char *profile;   /* name of the simulated framework */
  bool measured;         /* the profile was compared with measured steps */
  const char *optimizer; /* "adam" */
  int64_t batch;
  int64_t parameter_bytes, gradient_bytes, optimizer_bytes, buffer_bytes;
  int64_t input_bytes;     /* bytes of the batch */
  int64_t rounding_bytes;  /* the allocator's rounding of these tensors */
  int64_t workspace_bytes; /* temporary bytes inside the optimizer step */
  int64_t saved_bytes;     /* bytes kept for backward when forward ends */
  int64_t forward_peak_bytes, backward_peak_bytes, step_peak_bytes;
  int64_t peak_bytes; /* of the most loaded device */
  enum netc_phase peak_phase;
  int64_t peak_layer;      /* layer at the peak; -1: in the optimizer step */
  int64_t extra_mac_count; /* recomputed MACs of one sample, for checkpoints */
  /* These are of the most loaded device. device_peak_bytes is an older name of
   * peak_bytes. */
  int64_t device_peak_bytes, device_saved_bytes;
  int64_t alone_peak_bytes; /* peak of one device that holds the whole net */
};

/* Duration of a step on the devices of the settings: docs/placement.md. */
struct netc_time {
  size_t size;
  double bound_seconds; /* lower bound; 0: the device's figures are unknown */
  double predicted_seconds; /* estimate; 0: none, see `missing` */
  double mfu;          /* model FLOPs utilization of the estimate, 0 to 1 */
  const char *missing; /* why there is no estimate; or NULL */
  double hours, money; /* of the whole training; 0: not asked (--tokens,
                          --samples, --price), or no estimate */
};

/* Inference, by netc's planned arena and in a framework. */
struct netc_inference {
  size_t size;
  int64_t batch;
  int64_t parameter_bytes, buffer_bytes;
  int64_t weight_bytes;      /* parameters and buffers after folding */
  int64_t cache_bytes;       /* KV cache */
  int64_t arena_bytes;       /* height of the planned arena */
  int64_t lower_bound_bytes; /* no plan needs less */
  bool optimal;              /* arena_bytes reaches the lower bound */
  int64_t peak_live_bytes; /* maximum in memory at once, in the chosen order */
  int64_t peak_layer;
  int64_t framework_peak_bytes; /* peak of activations in the framework */
};

/* A buffer of the arena: bytes [offset, offset + bytes), in memory from step
 * `first` to step `last` inclusive. */
struct netc_buffer {
  size_t size;
  int64_t layer;
  const char *part; /* name inside the layer: "scores"; "": the output */
  int64_t offset, bytes;
  int64_t first, last;
};

/*
 * Verdict on a training step for the device of the settings. `verdict` is
 * "fits", "tight" (it uses part of the reserve), "does not fit", or "" if no
 * device is named. `fits` is true for the first two.
 */
struct netc_verdict {
  size_t size;
  bool asked; /* a device is named; otherwise all is 0 */
  bool fits;
  int64_t device_bytes;
  int64_t framework_bytes; /* taken by PyTorch itself: context and libraries */
  int64_t room_bytes;      /* available to the step */
  int64_t peak_bytes;      /* of the most loaded device */
  int64_t largest_batch;   /* 0: not even one sample fits */
  size_t way_count;        /* changes that make it fit: netc_way */
  int64_t reserve_bytes;   /* kept free for memory that is not counted */
  int64_t host_bytes; /* offloaded to one host, by all its devices; 0: none */
  int64_t host_room_bytes; /* memory of that host; 0: unknown */
  const char *verdict;
};

/*
 * Verdict on inference for the device of the settings, in the net's runtime. If
 * the settings ask for serving, it is about the sequences served, and the
 * largest batch counts sequences: docs/serving.md.
 */
struct netc_prediction {
  size_t size;
  bool asked; /* a device is named */
  bool fits;
  int64_t device_bytes, framework_bytes, reserve_bytes, room_bytes;
  int64_t need_bytes;      /* need of a device with its KV cache; INT64_MAX: the
                              devices cannot share the net */
  int64_t largest_batch;   /* 0: not even one fits, or not computed */
  int64_t longest_context; /* tokens; -1: not computed, or no causal layer */
  const char *verdict;     /* as in netc_verdict */
};

/*
 * The question and its answer, as reports, tables and `netc diff` show them.
 * The question is a training step on the devices of the settings. With
 * `predict` it is inference in the net's runtime, or serving if the settings
 * ask for it.
 */
enum netc_question { NETC_TRAINING, NETC_PREDICTION, NETC_SERVING };
enum { NETC_ANY_CONTEXT = 1 << 30 }; /* longest_context if every context fits */

struct netc_answer {
  size_t size;
  enum netc_question question;
  bool on_device; /* a device is named; otherwise nothing about one is known */
  bool fits;
  int64_t bytes; /* of the most loaded device; of unequal cards, the one with
                    the least memory left; INT64_MAX: the devices cannot share
                    the net */
  int64_t alone_bytes;   /* need of one device that holds the whole net */
  int64_t planned_bytes; /* inference by netc's own plan; otherwise 0 */
  int64_t device_count;
  bool uneven; /* the other devices need less */
  int64_t device_bytes, framework_bytes, reserve_bytes, room_bytes;
  int64_t host_bytes, host_room_bytes;
  int64_t largest_batch;      /* -1: not computed */
  int64_t longest_context;    /* tokens; -1: not computed, or no causal layer */
  int64_t context, sequences; /* that are served, in tokens and their number */
  int64_t most_sequences; /* maximum sequences of `context`; -1: not computed */
  int64_t card_bytes; /* memory of the named card; 0: none named. A process can
                         use device_bytes of it. */
  /*
   * With gpu_layers, tensor_split or pipeline: number of layers and the output,
   * how many of the last ones are on the cards, and the card's need in bytes
   * with one more. 0: the layers are not divided, or all are on the card.
   */
  int64_t layer_count, gpu_layers, next_layer_bytes;
  int64_t positions; /* tokens whose KV cache fits beside weights and a step, in
                        all sequences; -1: not computed */
  const char *verdict; /* as in netc_verdict */
  /*
   * On a microcontroller (inference only), bytes needed and bytes of the board;
   * 0: no board, or unknown. `bytes` is then the RAM, or the flash if only that
   * is known.
   */
  int64_t ram_bytes, ram_room_bytes, flash_bytes, flash_room_bytes;
};

/*
 * Adds a loaded net that shares the process with all nets loaded later. It
 * trains, too, or is `frozen` and only runs forward. netc_answer then returns
 * the peak of all nets, which run one after the other. At most 16 nets; the
 * caller may close `other` afterwards.
 */
NETC_API enum netc_status netc_beside(struct netc *netc, struct netc *other,
                                      bool frozen);

/* Copies to `to` all settings of netc_set() in `from`, except the device and
 * reserve, checkpoint and settings only for inference. */
NETC_API enum netc_status netc_copy_settings(struct netc *to,
                                             const struct netc *from);

/*
 * Returns true if the settings ask about inference even without `predict`:
 * settings of netc_set() are about inference, or the net has a runtime other
 * than PyTorch (`infer runtime=`), and none is only about a training step.
 * Needs a loaded net.
 */
NETC_API bool netc_asks_inference(const struct netc *netc);

/*
 * Returns NETC_USAGE if a setting of netc_set would change the answer, but this
 * output does not use it; netc_message names the setting and a way out.
 * `output` is a kind of netc_emit, which makes this check itself, "answer"
 * (netc_answer), "place" (netc_place), "table" (several answers) or "diff" (two
 * answers).
 */
NETC_API enum netc_status netc_uses(struct netc *netc, const char *output,
                                    bool predict);

/* Returns NETC_USAGE if no value of a setting affects this output; netc_message
 * has the reason and a way out. No net need be loaded. */
NETC_API enum netc_status netc_shows(struct netc *netc, const char *setting,
                                     const char *output, bool predict);

struct netc_way {
  size_t size;
  const char *options; /* "--precision mixed" */
  int64_t peak_bytes;
  int64_t extra_mac_count;
};

/* One device of a pipeline stage. */
struct netc_stage {
  size_t size;
  int64_t first_layer, last_layer;
  int64_t parameter_bytes, gradient_bytes, optimizer_bytes, buffer_bytes;
  int64_t input_bytes, gathered_bytes, bucket_bytes;
  int64_t saved_bytes, temporary_bytes, peak_bytes;
  int64_t in_flight_count;             /* microbatches */
  int64_t master_bytes, average_bytes; /* 32-bit copy; moving average */
  int64_t deferred_bytes; /* for weight gradients that are computed later */
  int64_t host_bytes;     /* in the host's memory, besides peak_bytes */
  int64_t turn_count;     /* repeating blocks; 0: not cut between them */
};

struct netc_devices {
  size_t size;
  int64_t device_count; /* 1: one device, no stages */
  int64_t microbatch;   /* samples */
  size_t stage_count, most_loaded;
  int64_t host_device_count, host_bytes; /* devices per host; bytes offloaded */
};

NETC_API enum netc_status netc_training(struct netc *netc,
                                        struct netc_training *training);
/* Returns NETC_USAGE if no card is named (`gpu`). */
NETC_API enum netc_status netc_time(struct netc *netc, struct netc_time *time);
NETC_API enum netc_status netc_inference(struct netc *netc,
                                         struct netc_inference *inference);
NETC_API size_t netc_buffer_count(const struct netc *netc);
NETC_API enum netc_status netc_buffer(struct netc *netc, size_t index,
                                      struct netc_buffer *buffer);
NETC_API enum netc_status netc_answer(struct netc *netc, bool predict,
                                      struct netc_answer *answer);
/*
 * Answers as if training on another card, without another load. Returns
 * NETC_USAGE if that needs one, or if there is no such card.
 */
NETC_API enum netc_status netc_answer_on(struct netc *netc, const char *gpu,
                                         struct netc_answer *answer);
NETC_API enum netc_status netc_verdict(struct netc *netc,
                                       struct netc_verdict *verdict);
NETC_API enum netc_status netc_prediction(struct netc *netc,
                                          struct netc_prediction *prediction);
NETC_API enum netc_status netc_way(struct netc *netc, size_t index,
                                   struct netc_way *way);
NETC_API enum netc_status netc_devices(struct netc *netc,
                                       struct netc_devices *devices);
NETC_API enum netc_status netc_stage(struct netc *netc, size_t index,
                                     struct netc_stage *stage);

/*
 * Searches the ways in which several devices can train the loaded net:
 * docs/placement.md. It tries all degrees of parallelism, ZeRO, microbatches,
 * checkpoints and, with host_memory, offloading. Settings that differ from
 * their defaults are kept.
 */
struct netc_place_options {
  size_t size;
  const char *gpus;     /* "8xa100-80" */
  int64_t global_batch; /* samples per step of all devices; 0: the batch of the
                           net */
  int64_t network; /* Gbit/s per device between hosts; 0: the maker's value */
};

/* Result of the search. Times are in seconds; step_seconds is a lower bound. */
struct netc_placing {
  size_t size;
  int64_t device_count, global_batch;
  const char *gpu;
  bool fits; /* false: there is one placement, the closest; the verdict "tight"
                also counts as fitting */
  size_t placement_count;  /* fastest first */
  int64_t candidate_count; /* all, also those that bounds exclude */
  int64_t measured_count;  /* simulated to the byte */
  int64_t device_bytes, room_bytes;
  const char *missing; /* why there are no estimated times; or NULL */
  const char *verdict; /* of the first placement, as in netc_verdict */
};

struct netc_placement {
  size_t size;
  const char *options; /* "--batch 1 --zero 3": a report has the same peak */
  int64_t data, tensor, context, expert, pipeline;
  bool sequence; /* tensor-parallel devices also share the tokens */
  int64_t zero;  /* stage; 0: no ZeRO */
  int64_t microbatch, microbatch_count; /* samples; number per step */
  int64_t checkpoint;  /* segments; 0: as written, -1: auto, -2: selective */
  const char *offload; /* "optimizer"; "": nothing */
  int64_t peak_bytes;  /* of the most loaded device */
  int64_t host_bytes;  /* offloaded to one host, by all its devices */
  double step_seconds; /* maximum of the times below, except the bubble */
  double compute_seconds, bubble_seconds; /* with the bubble; the bubble */
  double near_seconds, far_seconds, host_seconds; /* transfers by link */
  int64_t virtual_stages; /* parts of the net per stage */
  /* Estimate from published runs, and its model FLOPs utilization; 0: none. */
  double predicted_seconds, mfu;
  double hours, money; /* as in netc_time */
};

/* Returns NETC_USAGE if the device is unknown, or if no degrees divide the net
 * and the batch; netc_message has the reason. */
NETC_API enum netc_status netc_place(struct netc *netc,
                                     const struct netc_place_options *options,
                                     struct netc_placing *placing);
/* Placement of the last netc_place; NETC_USAGE after the last one. */
NETC_API enum netc_status netc_placement(struct netc *netc, size_t index,
                                         struct netc_placement *placement);

/*
 * Weights: docs/weights.md. In a file, every parameter and buffer is a tensor
 * with the name and shape of PyTorch's module, in the order in which layers
 * first use them. A shared tensor is stored once.
 */
struct netc_weight {
  size_t size;
  const char *name; /* "stem.conv1.weight" */
  int64_t layer;    /* the first layer that uses it */
  int rank;
  const int64_t *dims; /* in the file: conv OxIxHxW, linear OxI */
  int64_t count;       /* number of values */
  bool buffer, trained;
  /* Random values are in [center - spread, center + spread]. Constants and
   * tensors without a spread have the value `center`. */
  double center, spread;
  bool sines; /* instead: sin and cos of p / 10000^(2i/C) in row p, in turn */
};

/*
 * How a weight is computed before inference, which reads only the result. Rows
 * run along the first axis of the file's tensor; `parts` of netc_tensor has the
 * other tensors in the order given here. docs/weights.md has the formulas.
 */
enum netc_computed {
  NETC_AS_STORED,
  NETC_WEIGHT_NORM,   /* parts: lengths of the rows */
  NETC_SPECTRAL_NORM, /* parts: u, v; rows run along `axis` */
  NETC_STANDARDISED,  /* parts: a gain of each row, or none */
  NETC_DORA,          /* parts: A, B, lengths of the rows */
  NETC_LORA_PADDED    /* parts: A, B, for queries and values only */
};

/*
 * A tensor as inference reads it: dense, with axes in netc's own order; the
 * axis of the outputs is last. Value (i, j, ..) is at first + i * strides[0] +
 * j * strides[1] + .. of the file's tensor.
 */
struct netc_tensor {
  size_t size;
  int64_t layer;
  const char *name; /* name in its layer: "weight" */
  int64_t weight;   /* index of netc_weight; -1: a bias made by folding */
  int64_t first;
  int rank;
  const int64_t *dims, *strides;
  int64_t count;
  int64_t offset;      /* bytes in the weight block; -1: folded into others */
  int64_t norm;        /* layer that is folded into it; -1: none */
  double eps;          /* of a norm, added to its variance */
  enum netc_type type; /* in the block: NETC_FLOAT, the type of weight_dtype, or
                          with dtype=i8 NETC_I8 and for biases NETC_I32 */
  enum netc_computed computed;
  int64_t parts[3]; /* indices of netc_weight; -1: none */
  double factor;    /* of the product of A and B */
  int axis;       /* axis of the outputs in the file's tensor, within a group */
  int64_t scales; /* for `weight_dtype=i8`: where the scales of the outputs are,
                     in bytes in the block; -1: none */
};

/* NETC_USAGE after the last one. */
NETC_API enum netc_status netc_weight(struct netc *netc, size_t index,
                                      struct netc_weight *weight);

/*
 * Sets `name` to the tensor's name in the state_dict() of the module that the
 * output "py" writes: "blocks.0.conv1.weight". NULL if that output cannot be
 * written.
 */
NETC_API enum netc_status
netc_weight_torch_name(struct netc *netc, size_t index, const char **name);

NETC_API enum netc_status netc_tensor(struct netc *netc, size_t index,
                                      struct netc_tensor *tensor);

/* An operation of inference in 8 bits (`infer dtype=i8`): the data in the
 * weight block besides the weights. docs/weights.md explains the numbers. */
struct netc_q8 {
  size_t size;
  const char *code;  /* name in runtime/ops.def: "q8conv" */
  const char *was;   /* the operation in float32: "conv", "gelu" */
  double reals[3];   /* real numbers of the operation in float32 */
  const char *clamp; /* merged clamp: "relu", "relu6", "hardtanh"; "" */
  int64_t layer;     /* layer of the operation */
  int64_t out; /* layer whose output it computes, after folding and the clamp */
  size_t in_count;        /* number of inputs; each is an output or a tensor */
  const int64_t *ins;     /* layers whose outputs are read; -1: see `tensors` */
  const int64_t *tensors; /* indices of netc_tensor; -1: see `ins` */
  int64_t weight, bias;   /* indices of netc_tensor; -1: none */
  bool outputs_first; /* the axis of the outputs is the first one in the block,
                         not the last one */
  int64_t outputs;    /* number of outputs of a product */
  int64_t scales, words, table; /* offsets in the block, in bytes; -1: none */
};

/* The weight block: size in bytes, and offset of the scales and zeros of the
 * net's inputs and outputs, which are outputs of these layers. */
struct netc_q8_block {
  size_t size;
  int64_t bytes, ports;
  int64_t narrow; /* values before this offset are 32 bits wide */
  size_t port_count;
  const int64_t *port_layers;
};

/* NETC_USAGE after the last one. NETC_ERROR if the net is not in 8 bits, or if
 * the runtime cannot run it; netc_message has the reason. */
NETC_API enum netc_status netc_q8(struct netc *netc, size_t index,
                                  struct netc_q8 *q8);
NETC_API enum netc_status netc_q8_block(struct netc *netc,
                                        struct netc_q8_block *block);

/*
 * The operations of the layers in source order, for exporters. runtime/ops.def
 * describes each code. Shapes have the batch first. Nothing is folded or placed
 * in an arena: each operation writes a block of its own, and views read from
 * that block.
 */

/*
 * Value (i, j, ..) of an operand is at first + i * strides[0] + j * strides[1]
 * + .. of its block. A block has `dims[0]` samples, one after the other; a
 * tensor of weights has no batch.
 */
struct netc_operand {
  int64_t block;  /* from 0, in the order of operations; -1: a tensor */
  int64_t tensor; /* index of netc_tensor; -1: a block */
  enum netc_type type;
  int64_t first;
  int rank;
  const int64_t *dims, *strides; /* a stride of 0 repeats a value */
};

/*
 * An operation of a layer. A layer without operations passes its input on.
 * runtime/ops.def names the numbers and reals of each code, in this order.
 * Kernels, strides, paddings and axes are in positions, counts in values.
 */
struct netc_operation {
  size_t size;
  int64_t layer;    /* its index; a layer may have several in a row */
  const char *part; /* name inside its layer: "scores" */
  const char *code; /* "conv"; "": unknown, without operands */
  size_t out_count, in_count, number_count, real_count;
  const struct netc_operand *outs, *ins; /* inputs end with the tensors */
  const int64_t *numbers;
  const double *reals;
};

/*
 * Returns an operation by index, from 0. NETC_USAGE after the last one, or
 * without a net; NETC_NO_MEMORY. Inputs of the net are blocks, too; an output
 * is a view of a block. Inputs and outputs used only in training are not
 * included.
 */
NETC_API enum netc_status netc_operation(struct netc *netc, size_t index,
                                         struct netc_operation *operation);
NETC_API enum netc_status netc_input_operand(struct netc *netc, size_t input,
                                             struct netc_operand *operand);
NETC_API enum netc_status netc_output_operand(struct netc *netc, size_t output,
                                              struct netc_operand *operand);

/* Inference operation by operation, in the order of the plan */

/*
 * Sets `model` to the net for the runtime (runtime/netrt.h), valid until the
 * next load. The `kernel` of an operation is its code, and `kernels` is empty:
 * link the runtime and set `kernels` to netrt_kernels in a copy. NETC_ERROR if
 * the runtime cannot run this net; netc_message has the reason.
 */
struct netrt_model;
NETC_API enum netc_status netc_runtime(struct netc *netc,
                                       const struct netrt_model **model);

/* The arena planner by itself: docs/plan.md */

/* In memory in [lower, upper); `align` 0: the alignment of the options. */
struct netc_plan_buffer {
  int64_t lower, upper, size, align;
  int64_t offset; /* result, in bytes */
};

struct netc_plan_options {
  size_t size;
  int64_t capacity; /* stop at any plan of at most this height; 0: minimize */
  int64_t align;    /* of buffers without their own, in bytes; 0: 1 */
  uint64_t effort;  /* maximum positions to try; 0: a default */
  netc_resize_fn *resize;
  void *user;
  netc_progress_fn *tell; /* reports the effort and may stop it; or NULL */
  void *tell_user;
};

struct netc_plan {
  size_t size;
  int64_t height; /* of the arena, in bytes */
  int64_t lower_bound;
  bool optimal;
  uint64_t effort; /* positions tried */
};

/*
 * Places buffers in an arena and sets their offsets. Returns NETC_USAGE for a
 * negative size or lower > upper, and NETC_ERROR if the sizes add up to more
 * than 2^61. A capacity that is not reached is no error: compare `height`.
 * `options` may be NULL.
 */
NETC_API enum netc_status netc_plan(struct netc_plan_buffer *buffers,
                                    size_t count,
                                    const struct netc_plan_options *options,
                                    struct netc_plan *plan);

/* Lists. Functions return NETC_USAGE after the last item */

/* The commands that use an output, -o and --emit, --dump, `netc fmt`, `netc
 * sweep`; or a page that shows the answer. */
enum netc_purpose {
  NETC_FOR_FILES,
  NETC_FOR_DUMP,
  NETC_FOR_FORMAT,
  NETC_FOR_SWEEP,
  NETC_FOR_PAGE
};

/* A kind of netc_emit. */
struct netc_output_kind {
  size_t size;
  const char *name; /* also the suffix of files */
  const char *summary;
  enum netc_purpose purpose;
  const char *word; /* another name for netc_emit: "header"; "": none */
};

/* Syntax of an argument. */
enum netc_form {
  NETC_POSITION, /* without a name, by position */
  NETC_KEY,      /* name=value */
  NETC_WORD,     /* one of `words`, without a name */
  NETC_STRIDE,   /* /value */
};

/* An argument of a layer, or a setting. */
struct netc_argument {
  size_t size;
  const char *name;
  enum netc_form form;
  bool required;
  const char *value;    /* kind of value: "N", "SIZE", "WORD" */
  const char *words;    /* allowed words, separated by spaces; "": any */
  const char *fallback; /* the default; "": none */
  const char *doc;
};

/* A setting of netc_set. */
struct netc_setting {
  size_t size;
  const char *name;    /* "data_parallel"; netc_set also takes - for _ */
  const char *section; /* "train", "infer" or "train infer" */
  const char *now;     /* an old name: the setting that replaces it; or NULL */
};

struct netc_layer_kind {
  size_t size;
  const char *name, *summary;
  const char *family; /* heading in the manual */
  bool joins;         /* takes operands: blocks and labels */
  size_t argument_count;
  bool takes_block; /* a block after its arguments */
};

/* A kind of diagnostic. */
struct netc_slug {
  size_t size;
  const char *name, *summary;
  enum netc_severity severity; /* default; netc_warn changes it */
  bool off;                    /* not checked by default */
  const char *page;            /* Markdown: the meaning and an example */
};

NETC_API enum netc_status netc_output_kind(size_t index,
                                           struct netc_output_kind *kind);
NETC_API enum netc_status netc_setting(size_t index,
                                       struct netc_setting *setting);
NETC_API enum netc_status netc_setting_argument(size_t setting,
                                                struct netc_argument *argument);
NETC_API enum netc_status netc_layer_kind(size_t index,
                                          struct netc_layer_kind *kind);
NETC_API enum netc_status netc_layer_argument(size_t kind, size_t index,
                                              struct netc_argument *argument);

/* An argument that every layer takes. */
NETC_API enum netc_status netc_row_argument(size_t index,
                                            struct netc_argument *argument);
NETC_API enum netc_status netc_slug(size_t index, struct netc_slug *slug);

/* A word of the report and its explanation, in Markdown. */
struct netc_word {
  size_t size;
  const char *name, *page;
};

NETC_API enum netc_status netc_word(size_t index, struct netc_word *word);

#ifdef __cplusplus
}
#endif

#endif
