/*
 * netc: the compiler for neural-network architectures, as a library.
 *
 *   struct netc *netc = netc_open(NULL, NULL);
 *   netc_set(netc, "batch", "64");
 *   if (netc_load_file(netc, "vgg16.net") == NETC_OK)
 *     netc_emit(netc, "json", NULL, write, stdout);
 *   netc_close(netc);
 *
 * Threads: a context is used by one thread at a time; contexts share nothing.
 * A call needs at most 256 KiB of stack, however deep a source is nested.
 *
 * Ownership: the library owns every text and array that it hands out. Those
 * about a net live until the next load or netc_close, those about the library
 * itself (outputs, settings, layers, slugs) for ever.
 *
 * Structs that a caller gives begin with their size, which the caller sets:
 * `struct netc_layer layer = {.size = sizeof layer};`. A later version
 * may add members at the end; it fills in no more than the caller's size.
 *
 * Callbacks may call every function of a context that does not change it:
 * those that configure it, load or close it are refused with NETC_USAGE.
 *
 * Units: sizes in bytes; counts in values. -1 stands for "none" in an index.
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

/* Of the library that runs, where the macros are those of this header. */
NETC_API const char *netc_version(void);
NETC_API int netc_version_number(void);

/* Contexts */

struct netc;

enum netc_status {
  NETC_OK,
  NETC_ERROR,     /* the source has an error, or breaks its budget; an output
                     cannot hold this net */
  NETC_USAGE,     /* a name, value, index or size that does not exist */
  NETC_IO,        /* a file cannot be read, a sink refused */
  NETC_NO_MEMORY, /* a load leaves no net, other calls change nothing */
  NETC_BUG,       /* of ours: a plan that its verifier rejects */
  NETC_STOPPED,   /* by netc_progress_fn; the net is as with NETC_NO_MEMORY */
};

/*
 * malloc, realloc and free in one: `old` is NULL for a new block, `size` is
 * 0 to free. Returns NULL when out of memory.
 */
typedef void *netc_resize_fn(void *user, void *old, size_t size);

/* Takes bytes; returns false if it could not. */
typedef bool netc_sink_fn(void *user, const char *bytes, size_t length);

/* NULL for the C library's allocator. Returns NULL when out of memory. */
NETC_API struct netc *netc_open(netc_resize_fn *resize, void *user);
NETC_API void netc_close(struct netc *netc);

/* What the last NETC_USAGE or NETC_IO was about; valid until the next call. */
NETC_API const char *netc_message(const struct netc *netc);

/*
 * What the command line of `netc` can choose; for every load that follows.
 *
 *   netc_set(netc, "batch", "64")     a setting of docs/reference.md
 *   netc_budget(netc, "params", "25M")  what the net must not exceed, as on a
 *                                     `budget` line, which it replaces
 *   netc_define(netc, "depth", "50")  the value of a `param`
 *   netc_input_sizes(netc, "", "320x320x3")
 *                                     other sizes for an input, by its name;
 *                                     "": the only one; `_` keeps a size, and
 *                                     "1..512" has bounds
 *   netc_warn(netc, "no-huge-fc")     the text behind -W
 *   netc_include(netc, "lib")         a folder for `use`
 *   netc_confine(netc, "nets")        `use` opens no file but below this folder
 *                                     and those of netc_include, links
 *                                     followed; "": the net's own; again for
 *                                     further folders
 *
 * A second value for a name replaces the first.
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
 * LoRA on a net that says nothing of it: all is frozen, and attention's four
 * matrices have narrow ones beside them, as `lora=16 lora_on=qkvo` in the
 * source gives them; with `all` those of `linear` and `fc`, too. Rank 0: none.
 */
NETC_API enum netc_status netc_lora(struct netc *netc, int64_t rank, bool all);
NETC_API enum netc_status netc_warn(struct netc *netc, const char *option);
NETC_API enum netc_status netc_include(struct netc *netc, const char *folder);
NETC_API enum netc_status netc_confine(struct netc *netc, const char *folder);

/* What the loads that follow are for. */
enum netc_mode {
  NETC_FOR_ALL,
  NETC_FOR_CHECK, /* diagnostics only: memory is computed where settings or a
                     budget ask for it */
  NETC_FOR_PLACE, /* netc_place: degrees that need others may stand alone, and
                     memory is that of one device */
  NETC_FOR_FIT,   /* whether it fits: without a largest batch and ways out */
};
NETC_API enum netc_status netc_mode(struct netc *netc, enum netc_mode mode);

/*
 * For editors: of a source with errors the layers that are known are kept. A
 * load returns NETC_ERROR as ever; netc_layer and its kin then give what there
 * is, with sizes of NETC_UNKNOWN that depend on what is wrong. A line in error
 * gives a layer called "?", or its layer with what is known of its arguments.
 * There are no totals, no memory and no outputs of a kind of netc_emit; counts
 * and bytes of a layer are NETC_UNKNOWN. So it is with a right source, its
 * sizes and totals known, where a load in NETC_FOR_CHECK computes no memory.
 */
NETC_API enum netc_status netc_partial(struct netc *netc, bool on);

/*
 * Devices, for the setting `gpu` and for netc_place: those of netc's table,
 * then those that were added. docs/gpus.md has the table.
 */
struct netc_gpu {
  size_t size;
  const char *name;      /* "a100-80" */
  const char *names;     /* others, parted by `|`; "" */
  const char *kind;      /* "geforce"; "" */
  int64_t card_bytes;    /* as its maker says */
  int64_t process_bytes; /* that a process can have */
  bool estimated;        /* these, from others of its kind */
  const char *source;    /* else where they were printed; "" */
  int64_t bandwidth;     /* of its memory, 10^9 bytes a second; 0: not known */
  int64_t capability;    /* ten times CUDA's compute capability; 0: none */
};
NETC_API enum netc_status netc_gpu(const struct netc *netc, size_t index,
                                   struct netc_gpu *gpu);

/* Boards, for the setting `board`. docs/boards.md has the table. */
struct netc_board {
  size_t size;
  const char *name;  /* "nucleo-f746zg" */
  const char *names; /* others, parted by `|` */
  const char *core;  /* "cortex-m7" */
  int64_t megahertz;
  int64_t ram_bytes;   /* that a program can use for data */
  int64_t block_bytes; /* of them the largest contiguous part */
  int64_t flash_bytes;
  bool measured; /* code and stack of its core are known */
  bool loaded;   /* programs are copied into RAM, weights included */
  const char *source;
};
NETC_API enum netc_status netc_board(size_t index, struct netc_board *board);

/*
 * Adds devices: a table in CSV, whose first line names columns (docs/gpus.md).
 * An error is said with `name`, line and column, and adds none.
 */
NETC_API enum netc_status netc_add_gpus(struct netc *netc, const char *name,
                                        const char *csv, size_t length);

/*
 * Compares a training step with other settings: a list as on a `train` line,
 * over the net's own, "checkpoint=8 precision=mixed". Adds a timeline to the
 * chart "timeline.svg" and a line to the report of every load that follows;
 * up to eight.
 */
NETC_API enum netc_status netc_compare(struct netc *netc, const char *settings);

/*
 * Where texts come from, instead of files: for editors, services and
 * platforms without any. Gives the text of `path` to `sink`, in pieces if it
 * likes. With it set, the library opens no file at all. NULL: files again.
 */
enum netc_found {
  NETC_FOUND,
  NETC_ABSENT,     /* the next folder of netc_include is tried */
  NETC_UNREADABLE, /* it is there, and cannot be read */
};
typedef enum netc_found netc_read_fn(void *user, const char *path,
                                     netc_sink_fn *sink, void *sink_user);
NETC_API enum netc_status netc_on_read(struct netc *netc, netc_read_fn *read,
                                       void *user);

/*
 * Called again and again while work lasts: the loops of a source, checkpoints,
 * the largest batch, the arena. `what` is a few words, "choosing checkpoints",
 * with `done` of `total`; total 0: nobody knows how much there will be. Returns
 * true to go on; false stops the work, and the call that does it returns
 * NETC_STOPPED. It must not longjmp or throw. NULL: nobody is told.
 */
typedef bool netc_progress_fn(void *user, const char *what, int64_t done,
                              int64_t total);
NETC_API enum netc_status netc_on_progress(struct netc *netc,
                                           netc_progress_fn *tell, void *user);

/* Loading */

/*
 * Compiles a net: reads, parses, infers, counts and checks. A further load
 * forgets the net before. The path "-" is standard input.
 */
NETC_API enum netc_status netc_load_file(struct netc *netc, const char *path);
NETC_API enum netc_status netc_load_text(struct netc *netc, const char *name,
                                         const char *text, size_t length);

/* The files that were read, for dependencies; NULL behind the last one. */
NETC_API const char *netc_source(const struct netc *netc, size_t index);

/* The bytes of such a file as they were read, until the next load; NULL behind
 * the last one, or if it could not be read. */
NETC_API const char *netc_source_text(const struct netc *netc, size_t index,
                                      size_t *length);

/* What the source lets be chosen with netc_define, where it was found; of a
 * net with errors, too. NETC_USAGE behind the last one. */
struct netc_param {
  size_t size;
  const char *name;
  const char *fallback; /* as the source has it: "50" */
  const char *value;    /* what it is now */
  const char *allowed;  /* "18 34 50", "0..1"; "": not limited */
  bool given;           /* by netc_define */
  const char *follows;  /* what its default is made of: "width/64"; or "" */
};

NETC_API enum netc_status netc_param(struct netc *netc, size_t index,
                                     struct netc_param *param);

/* Diagnostics, in the order of discovery */

enum netc_severity { NETC_SEVERITY_WARNING = 1, NETC_SEVERITY_ERROR };

/* A piece of a source; its end is exclusive. */
struct netc_place {
  const char *file;
  uint32_t line, column; /* from 1; columns are code points */
  uint32_t end_line, end_column;
  size_t begin, end; /* bytes of the file */
};

struct netc_label {
  struct netc_place place;
  const char *text; /* what is said at that place */
};

/* A replacement that would mend the source. */
struct netc_fixit {
  struct netc_place place;
  const char *text;
};

struct netc_diagnostic {
  size_t size;
  enum netc_severity severity;
  const char *slug; /* permanent: "pool-remainder" */
  const char *message;
  struct netc_place place;
  const char *here; /* what is said at the place itself, or "" */
  size_t label_count, note_count, help_count, fixit_count;
  const struct netc_label *labels;
  const char *const *notes;
  const char *const *help;
  const struct netc_fixit *fixits;
  int64_t repeats; /* how often loops repeated it */
  const char *net; /* the file that an option of the command line is wrong for;
                      or NULL */
};

/* As `netc` prints it, the same in colour, or one object on one line. */
enum netc_style { NETC_STYLE_TEXT, NETC_STYLE_COLOUR, NETC_STYLE_JSON };

NETC_API size_t netc_diagnostic_count(const struct netc *netc);
NETC_API enum netc_status netc_diagnostic(struct netc *netc, size_t index,
                                          struct netc_diagnostic *diagnostic);
NETC_API enum netc_status netc_diagnostic_emit(struct netc *netc, size_t index,
                                               enum netc_style style,
                                               netc_sink_fn *sink, void *user);

/* Outputs */

enum netc_units { NETC_IEC, NETC_SI, NETC_BYTES };

enum { NETC_TOTALS_ONLY = -1 }; /* as a depth: no rows at all */

/* Diagrams: where they flow; fills by the layer's family, or by how much;
 * figures in their boxes. */
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
  NETC_NOTE_BYTES = 4, /* of the output, for one sample */
  NETC_NOTE_NONE = 8,
  NETC_NOTE_ALL = 15,
};

struct netc_tensor_shape {
  int rank;
  const int64_t *dims;
};

/*
 * What a search of many nets found, for the chart "pareto": a dot for each
 * variant of a net, the best of which are named.
 */
enum { NETC_MOST_GOALS = 4 };
enum netc_amount { NETC_AMOUNT_COUNT, NETC_AMOUNT_BYTES, NETC_AMOUNT_TIME };
struct netc_goal {
  const char *name; /* "parameters" */
  enum netc_amount amount;
  bool less; /* of it is better */
};
struct netc_dot {
  const char *name;  /* of one of the front, "17, 192"; NULL: of the others */
  const int64_t *at; /* by goal: a count, bytes or nanoseconds */
};
struct netc_front {
  size_t size;
  const struct netc_goal *goals; /* from 2 to NETC_MOST_GOALS */
  size_t goal_count;
  const char *names; /* of what names the front: "width, input" */
  const struct netc_dot *dots;
  size_t dot_count;
  int64_t variants; /* that there are; dots may stand for several */
};

/* How an output looks; all zero but the size is the default. */
struct netc_options {
  size_t size;
  enum netc_units units;
  bool channels_first; /* shapes as CxHxW */
  int depth;    /* groups deeper than this are one row; 0: all are open */
  bool expand;  /* a row for every layer of a tail */
  bool explain; /* formulas with their numbers */
  bool ascii;
  int width;           /* of a line of the report; 0: 80 */
  bool unfold;         /* equal rows one by one, all groups open */
  const char *columns; /* "name,output,macs"; NULL: the usual ones */
  const char *sort;    /* by that column, the largest first; or NULL */
  int64_t top;         /* so many lines at most; 0: all */
  bool colour;         /* the report is for a terminal */
  const char *prefix;  /* of the names in C; NULL: from the net's */
  bool predict;        /* its verdict is on prediction, not on training */
  enum netc_direction direction; /* of diagrams */
  enum netc_tint tint;           /* what their fills tell */
  unsigned notes;                /* NETC_NOTE_*; 0: parameters */
  const char *links; /* "../": what leads from where a diagram will lie to the
                        folder that sources are named from; NULL: nothing */
  bool timeline;     /* the JSON has every moment of a training step */
  bool deploy;       /* the header in C has what a prediction needs alone */
  bool brief;        /* of the report only what answers the question */
  int height; /* of a report's screen: a longer one repeats the answer in its
                 last line; 0: no screen */
  /* In py: what tensors are called, by the numbers of netc_weight; NULL: as
   * netc_weight_torch_name says. */
  const char *const *tensor_names;
  /* Of pictures: */
  bool plain;        /* layers in the words of papers: "Layer norm" */
  const char *title; /* above them; "": none; NULL: charts have their own */
  bool no_legend;    /* nor what says how it is drawn: it is in the caption */
  int64_t picture_width; /* laid out for it, in tenths of a point; 0: as wide
                            as it needs to be */
  /* Of tensor_names: their shapes, which may have more or fewer axes of 1 than
   * netc_weight says; NULL: those. */
  const struct netc_tensor_shape *tensor_shapes;
  const struct netc_front *front; /* of pareto.svg and its like alone */
  bool details; /* the report has what PyTorch's allocator holds, too */
};

/* Limits of netc_options.picture_width. */
enum { NETC_LEAST_WIDTH = 1000, NETC_MOST_WIDTH = 300000 };

/*
 * What names in C begin with, as outputs with these options have them:
 * "vgg16". It lives as long as the load.
 */
NETC_API enum netc_status netc_c_name(struct netc *netc,
                                      const struct netc_options *options,
                                      const char **name);

/* The columns of the table of layers; NETC_USAGE behind the last one. */
struct netc_column {
  size_t size;
  const char *name, *summary;
  bool usual;    /* shown if none are chosen */
  bool sortable; /* netc_options.sort takes it */
};

NETC_API enum netc_status netc_column(size_t index, struct netc_column *column);

/*
 * Writes an output: "txt", "json", "csv", "md", "net", "dot", or one of the
 * others that netc_output lists. `options` may be NULL.
 */
NETC_API enum netc_status netc_emit(struct netc *netc, const char *kind,
                                    const struct netc_options *options,
                                    netc_sink_fn *sink, void *user);

/* The model: layers in the order of the source, inputs of the net first */

enum netc_type {
  NETC_FLOAT,
  NETC_I32,
  NETC_I64,
  NETC_I8,
  NETC_F16, /* of weights alone */
  NETC_BF16
};

/* In a partial model: of a size, a rank, or a count of a layer. */
#define NETC_UNKNOWN (-1)

/* A tensor without its batch; sizes channels last. */
struct netc_shape {
  enum netc_type type; /* NETC_FLOAT: of the settings' dtype */
  int rank;
  const int64_t *dims;
};

struct netc_layer {
  size_t size;
  const char *name;    /* "stem.conv1" */
  const char *op;      /* "conv"; "input" for an input of the net */
  const char *written; /* with values: "conv 64 3x3 pad" */
  struct netc_place place;
  int64_t head; /* the layer in whose tail it is written, or itself */
  struct netc_shape out;
  size_t input_count;
  const int64_t *inputs; /* indices of layers */
  size_t attribute_count;
  int64_t param_count, trainable_count, buffer_count;
  int64_t mac_count;        /* of one sample */
  int64_t activation_count; /* by the rule of thumb */
  int64_t saved_bytes;      /* kept for backward, of the batch */
};

/* An argument of a layer, given or not. */
struct netc_attribute {
  size_t size;
  const char *name;
  const char *value; /* as it could be written; "" if there is none */
  bool given;        /* in the source */
};

/*
 * The net's name: that of its `net` line, else that of its file without
 * folders and suffix; "" before a load and behind one that failed. It lives
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
  const int64_t *low; /* of an input with bounds: the lower ends, for each size
                         of its layer, whose sizes are the upper ends; else
                         NULL */
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
  int64_t active_count; /* of the parameters, those that a value sees: of
                           experts, as many as it is sent to */
};

/*
 * Whether every count and size grows with a `param` of the source that is
 * loaded, or stays: it is added, multiplied, and counts channels, but decides
 * nothing. So a search may bisect it. False where that is not known.
 */
NETC_API enum netc_status netc_param_grows(struct netc *netc, const char *param,
                                           bool *grows);

/* Also after a load in NETC_FOR_CHECK, but not while netc_partial is on. */
NETC_API enum netc_status netc_totals(const struct netc *netc,
                                      struct netc_totals *totals);

/* Memory: docs/memory.md says how each figure is found */

enum netc_phase { NETC_FORWARD, NETC_BACKWARD, NETC_STEP };

/* A training step. Bytes are those of one device that holds all of the net,
 * except for peak_bytes and device_saved_bytes. */
struct netc_training {
  size_t size;
  const char *profile;   /* the framework that is simulated */
  bool measured;         /* its figures were compared with measured ones */
  const char *optimizer; /* "adam" */
  int64_t batch;
  int64_t parameter_bytes, gradient_bytes, optimizer_bytes, buffer_bytes;
  int64_t input_bytes;     /* the batch */
  int64_t rounding_bytes;  /* of these, by the allocator */
  int64_t workspace_bytes; /* inside the optimizer's step */
  int64_t saved_bytes;     /* kept for backward when forward has ended */
  int64_t forward_peak_bytes, backward_peak_bytes, step_peak_bytes;
  int64_t peak_bytes; /* of the most loaded device of the settings */
  enum netc_phase peak_phase;
  int64_t peak_layer;      /* -1: in the optimizer's step */
  int64_t extra_mac_count; /* computed once more, for checkpoints */
  /* Of the most loaded device; the former is an older name of peak_bytes. */
  int64_t device_peak_bytes, device_saved_bytes;
  int64_t alone_peak_bytes; /* of one device that holds all of the net */
};

/* How long a step takes on the devices of the settings: docs/placement.md. */
struct netc_time {
  size_t size;
  double bound_seconds;     /* no step is shorter; 0: figures are not known */
  double predicted_seconds; /* 0: nothing is predicted */
  double mfu;               /* of that; of the peak */
  const char *missing;      /* why nothing is predicted; or NULL */
  double hours, money; /* of --tokens or --samples and --price; 0: not asked */
};

/* A prediction, from an arena and in a framework. */
struct netc_inference {
  size_t size;
  int64_t batch;
  int64_t parameter_bytes, buffer_bytes;
  int64_t weight_bytes;      /* both, after folding */
  int64_t cache_bytes;       /* keys and values of earlier positions */
  int64_t arena_bytes;       /* of the plan */
  int64_t lower_bound_bytes; /* no plan has less */
  bool optimal;              /* the plan reaches the bound */
  int64_t peak_live_bytes;   /* in the order that was chosen */
  int64_t peak_layer;
  int64_t framework_peak_bytes; /* liveness as the profile's framework has it */
};

/* A buffer of the arena: bytes [offset, offset + bytes) from step `first` to
 * step `last`, both included. */
struct netc_buffer {
  size_t size;
  int64_t layer;
  const char *part; /* inside the layer: "scores"; "": its output */
  int64_t offset, bytes;
  int64_t first, last;
};

/*
 * Whether a training step fits the device that the settings name: `verdict` is
 * "fits"; "tight", if it takes of the reserve; "does not fit"; or "" where no
 * device was named. `fits` is true of the first two.
 */
struct netc_verdict {
  size_t size;
  bool asked; /* a device was named; else all is zero */
  bool fits;
  int64_t device_bytes;
  int64_t framework_bytes; /* taken by its context and libraries */
  int64_t room_bytes;      /* what is left for the step */
  int64_t peak_bytes;      /* of the most loaded device */
  int64_t largest_batch;   /* 0: not even one sample fits */
  size_t way_count;        /* changes with which it would fit */
  int64_t reserve_bytes;   /* kept free for what is not counted */
  int64_t host_bytes;      /* of a host's devices, there; 0: nothing */
  int64_t host_room_bytes; /* which the host has for them; 0: not said */
  const char *verdict;
};

/*
 * Whether inference fits it, in the net's runtime; or, if the settings ask for
 * serving, the sequences that are served, in which case the batch is one of
 * sequences. docs/serving.md.
 */
struct netc_prediction {
  size_t size;
  bool asked; /* a device was named */
  bool fits;
  int64_t device_bytes, framework_bytes, reserve_bytes, room_bytes;
  int64_t need_bytes;      /* parameters, buffers, activations, cache;
                              INT64_MAX: so many devices cannot share it */
  int64_t largest_batch;   /* 0: not even one sample fits */
  int64_t longest_context; /* positions to look back at; -1: nothing does */
  const char *verdict;     /* as of a step */
};

/*
 * What was asked, and the number that answers it, which reports, tables and
 * `netc diff` show: a training step, on as many devices as the settings have;
 * or, with `predict`, inference in the net's runtime, or what is served where
 * settings ask for that.
 */
enum netc_question { NETC_TRAINING, NETC_PREDICTION, NETC_SERVING };
enum { NETC_ANY_CONTEXT = 1 << 30 }; /* as a longest one: all of them fit */

struct netc_answer {
  size_t size;
  enum netc_question question;
  bool on_device; /* one was named; else nothing of it is known */
  bool fits;
  int64_t bytes;         /* of the most loaded device; INT64_MAX: so many
                            devices cannot share the net */
  int64_t alone_bytes;   /* the same where one device has all of it */
  int64_t planned_bytes; /* of a prediction, in netc's own plan; or 0 */
  int64_t device_count;
  bool uneven; /* the other devices have less */
  int64_t device_bytes, framework_bytes, reserve_bytes, room_bytes;
  int64_t host_bytes, host_room_bytes;
  int64_t largest_batch;      /* -1: not asked */
  int64_t longest_context;    /* -1: not asked, or nothing looks back */
  int64_t context, sequences; /* that are served */
  int64_t most_sequences;     /* of that context; -1: not asked */
  int64_t card_bytes; /* of the card that was named, of which device_bytes
                         are what a process can have; 0: none was */
  /* gpu_layers: of so many, with the output, those on the card, from the last
     on; what it needs with one more. 0: none are parted, or it has all. */
  int64_t layer_count, gpu_layers, next_layer_bytes;
  int64_t positions; /* whose keys and values fit beside weights and a step, in
                        all sequences; -1: not asked */
  const char *verdict; /* as of a step */
  /* On a microcontroller, which asks about a prediction: what it needs and
     what the board has. 0: no board, or not known. `bytes` is then RAM. */
  int64_t ram_bytes, ram_room_bytes, flash_bytes, flash_room_bytes;
};

/*
 * Adds a loaded net that shares the process of the nets that are loaded from
 * now on: it trains, too, or is `frozen` and only runs forward. The answer is
 * then the peak of all, one after the other. `other` may be closed afterwards.
 */
NETC_API enum netc_status netc_beside(struct netc *netc, struct netc *other,
                                      bool frozen);

/* Sets in `to` what netc_set() has set in `from`, without its device and what
 * is about inference alone. */
NETC_API enum netc_status netc_copy_settings(struct netc *to,
                                             const struct netc *from);

/*
 * True if the settings ask about inference, also without `predict`: those of
 * netc_set() are about inference, or the net has another runtime than PyTorch
 * (`infer runtime=`), and none of netc_set() is about a training step alone.
 */
NETC_API bool netc_asks_inference(const struct netc *netc);

/*
 * NETC_USAGE if a setting of netc_set would change what is asked, and is not
 * used for it: netc_message says which, and the way out. `output` is one of
 * netc_emit, which calls it, "answer", as netc_answer does, "place", as
 * netc_place does; or "table" of several answers, or "diff" of two.
 */
NETC_API enum netc_status netc_uses(struct netc *netc, const char *output,
                                    bool predict);

/*
 * NETC_USAGE if a setting has no effect on such an output, whatever its value:
 * netc_message says why, and the way out. Nothing need be loaded.
 */
NETC_API enum netc_status netc_shows(struct netc *netc, const char *setting,
                                     const char *output, bool predict);

struct netc_way {
  size_t size;
  const char *options; /* "--precision mixed" */
  int64_t peak_bytes;
  int64_t extra_mac_count;
};

/* One of several devices: what a stage of the pipeline holds. */
struct netc_stage {
  size_t size;
  int64_t first_layer, last_layer;
  int64_t parameter_bytes, gradient_bytes, optimizer_bytes, buffer_bytes;
  int64_t input_bytes, gathered_bytes, bucket_bytes;
  int64_t saved_bytes, temporary_bytes, peak_bytes;
  int64_t in_flight_count;             /* microbatches */
  int64_t master_bytes, average_bytes; /* parameters once more */
  int64_t deferred_bytes; /* for gradients of weights that are yet to come */
  int64_t host_bytes;     /* in the host's memory, beside peak_bytes */
  int64_t turn_count;     /* of the layers that repeat, if cut between turns */
};

struct netc_devices {
  size_t size;
  int64_t device_count; /* 1: only one, and no stages */
  int64_t microbatch;   /* samples */
  size_t stage_count, most_loaded;
  int64_t host_device_count, host_bytes; /* of a host, and what they have */
};

NETC_API enum netc_status netc_training(struct netc *netc,
                                        struct netc_training *training);
/* NETC_USAGE: no device was named. */
NETC_API enum netc_status netc_time(struct netc *netc, struct netc_time *time);
NETC_API enum netc_status netc_inference(struct netc *netc,
                                         struct netc_inference *inference);
NETC_API size_t netc_buffer_count(const struct netc *netc);
NETC_API enum netc_status netc_buffer(struct netc *netc, size_t index,
                                      struct netc_buffer *buffer);
NETC_API enum netc_status netc_answer(struct netc *netc, bool predict,
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
 * How a number of devices may train the net that is loaded: docs/placement.md.
 * Searches all degrees of parallelism, ZeRO, microbatches, checkpoints and, if
 * host_memory is set, what is offloaded; settings that are not their defaults
 * are kept.
 */
struct netc_place_options {
  size_t size;
  const char *gpus;     /* "8xa100-80" */
  int64_t global_batch; /* samples in a step of all; 0: the net's batch */
  int64_t network; /* Gbit/s of each to other hosts; 0: the maker's machine */
};

/* What was found. Times are in seconds; no step is shorter than
 * step_seconds. */
struct netc_placing {
  size_t size;
  int64_t device_count, global_batch;
  const char *gpu;
  bool fits;               /* else there is one placement, which lacks least,
                              as where what comes nearest is tight */
  size_t placement_count;  /* the fastest first */
  int64_t candidate_count; /* all that were tried, by bounds or */
  int64_t measured_count;  /* to the byte */
  int64_t device_bytes, room_bytes;
  const char *missing; /* why no times are predicted; or NULL */
  const char *verdict; /* of the first one, as of a step */
};

struct netc_placement {
  size_t size;
  const char *options; /* "--batch 1 --zero 3": a report has its peak */
  int64_t data, tensor, context, expert, pipeline;
  bool sequence; /* tensor parallel devices share the positions, too */
  int64_t zero;  /* 0: none */
  int64_t microbatch, microbatch_count; /* samples; in a step */
  int64_t checkpoint;  /* segments; 0: the source's, -2: selective, -1: auto */
  const char *offload; /* "optimizer"; "": nothing */
  int64_t peak_bytes;  /* of the most loaded device */
  int64_t host_bytes;  /* of a host, all its devices */
  double step_seconds; /* the longest of these */
  double compute_seconds, bubble_seconds;         /* the one with the other */
  double near_seconds, far_seconds, host_seconds; /* bytes sent */
  int64_t virtual_stages; /* parts of the net that each stage has */
  /* From what others measured; 0: nothing is predicted. Of the peak: MFU. */
  double predicted_seconds, mfu;
  double hours, money; /* of --tokens or --samples and --price; 0: not asked */
};

/* NETC_USAGE: no such device, or no degrees that share the net and the batch;
 * netc_message says so. */
NETC_API enum netc_status netc_place(struct netc *netc,
                                     const struct netc_place_options *options,
                                     struct netc_placing *placing);
/* Of the last netc_place. NETC_USAGE behind the last one. */
NETC_API enum netc_status netc_placement(struct netc *netc, size_t index,
                                         struct netc_placement *placement);

/*
 * Weights: docs/weights.md. In files every parameter and buffer is a tensor
 * with the name and shape that PyTorch's module gives it, in the order in
 * which layers first use them; what layers share is there once.
 */
struct netc_weight {
  size_t size;
  const char *name; /* "stem.conv1.weight" */
  int64_t layer;    /* that uses it first */
  int rank;
  const int64_t *dims; /* in the file: conv OxIxHxW, linear OxI */
  int64_t count;       /* of values */
  bool buffer, trained;
  /* A random set: values in [center - spread, center + spread]; without one
   * all are the center: 1 of what scales and of constants, else 0. */
  double center, spread;
  bool sines; /* no: row p has sin(p / 10000^(2i/C)), cos of the same, ... */
};

/*
 * What becomes of weights before a prediction, of which it reads the result
 * alone: rows are places of the file's first axis, and of `parts` the weights
 * are said in their order. docs/weights.md has the formulas.
 */
enum netc_computed {
  NETC_AS_STORED,
  NETC_WEIGHT_NORM,   /* rows, whose lengths are apart */
  NETC_SPECTRAL_NORM, /* u and v: rows are places of `axis` */
  NETC_STANDARDISED,  /* perhaps a gain: rows */
  NETC_DORA,          /* A, B and lengths of rows */
  NETC_LORA_PADDED    /* A and B, for queries and values alone */
};

/*
 * A tensor as a prediction reads it: dense, its axes in netc's own order (the
 * last is that of the outputs). Value (i, j, ..) is that of the file's tensor
 * at first + i * strides[0] + j * strides[1] ...
 */
struct netc_tensor {
  size_t size;
  int64_t layer;
  const char *name; /* in its layer: "weight" */
  int64_t weight;   /* in the file; -1: it is a bias that folding makes */
  int64_t first;
  int rank;
  const int64_t *dims, *strides;
  int64_t count;
  int64_t offset;      /* bytes in the block, -1: gone into others */
  int64_t norm;        /* the layer that is folded into it; -1: none */
  double eps;          /* of a norm, added to its variance */
  enum netc_type type; /* of a value in the block: float32, or in a net whose
                          dtype is i8 NETC_I8 and, of biases, NETC_I32 */
  enum netc_computed computed;
  int64_t parts[3]; /* tensors in the file; -1: none */
  double factor;    /* of what A and B make */
  int axis;         /* of the file's tensor that has the outputs, of a group */
  int64_t scales;   /* of `weight_dtype=i8`, where one for each output lies:
                       bytes in the block; -1: there are none */
};

/* NETC_USAGE behind the last one. */
NETC_API enum netc_status netc_weight(struct netc *netc, size_t index,
                                      struct netc_weight *weight);

/*
 * The name of the same tensor in the state_dict() of the module that the output
 * py writes: "blocks.0.conv1.weight"; NULL if it cannot be written.
 */
NETC_API enum netc_status
netc_weight_torch_name(struct netc *netc, size_t index, const char **name);

NETC_API enum netc_status netc_tensor(struct netc *netc, size_t index,
                                      struct netc_tensor *tensor);

/*
 * A prediction of 8 bits (`infer dtype=i8`): what its block has beside weights
 * for each operation of the runtime. docs/weights.md says what the numbers are.
 */
struct netc_q8 {
  size_t size;
  const char *code;   /* "q8conv", of runtime/ops.def */
  const char *was;    /* what it is in float32: "conv", "gelu", */
  double reals[3];    /* and the reals of that */
  const char *clamp;  /* that is part of it: "relu", "relu6", "hardtanh"; "" */
  int64_t layer;      /* whose operation it is */
  int64_t out;        /* whose output it gives: that of the clamp */
  size_t in_count;    /* values that it reads, of which each is */
  const int64_t *ins; /* the output of that layer; -1: no, */
  const int64_t *tensors; /* it is that netc_tensor */
  int64_t weight, bias;   /* of netc_tensor; -1: it has none */
  bool outputs_first; /* the weights of each output lie side by side: its axis
                         is the first one in the block, not the last one */
  int64_t outputs;    /* of a product */
  int64_t scales, words, table; /* bytes in the block; -1: none */
};

/* The block in bytes, and where the scales and zeros of the net's inputs and
 * outputs lie in it, which are outputs of layers. */
struct netc_q8_block {
  size_t size;
  int64_t bytes, ports;
  int64_t narrow; /* before it all are words of 32 bits */
  size_t port_count;
  const int64_t *port_layers;
};

/* NETC_USAGE after the last one; NETC_ERROR where the net is not of 8 bits, or
 * the runtime cannot run it: netc_message says why. */
NETC_API enum netc_status netc_q8(struct netc *netc, size_t index,
                                  struct netc_q8 *q8);
NETC_API enum netc_status netc_q8_block(struct netc *netc,
                                        struct netc_q8_block *block);

/*
 * What the layers compute, operation by operation in the order of the source:
 * for other formats. runtime/ops.def says what each one is; shapes have the
 * batch first. Nothing is folded, and nothing lies in an arena: what an
 * operation makes is a block of its own, which views of it are read from.
 */

/*
 * Value (i, j, ..) is that of its block at first + i * strides[0] + j *
 * strides[1] ... A block has `dims[0]` samples, one behind the other, unless it
 * is a tensor of weights.
 */
struct netc_operand {
  int64_t block;  /* from 0, in the order of the operations; -1: a tensor */
  int64_t tensor; /* of netc_tensor; -1: a block */
  enum netc_type type;
  int64_t first;
  int rank;
  const int64_t *dims, *strides; /* a stride of 0: the same value again */
};

/*
 * An operation of a layer; one without operations passes its input on. The
 * numbers and reals are those that runtime/ops.def names for the code, in its
 * order: kernel, strides, paddings and axes in positions, counts in values.
 */
struct netc_operation {
  size_t size;
  int64_t layer;    /* of netc_layer; several follow each other */
  const char *part; /* inside its layer: "scores" */
  const char *code; /* "conv"; "": nothing says what it computes, nor on what */
  size_t out_count, in_count, number_count, real_count;
  const struct netc_operand *outs, *ins; /* tensors are the last inputs */
  const int64_t *numbers;
  const double *reals;
};

/*
 * The operation of that number, from 0. NETC_USAGE behind the last one, or
 * without a net; NETC_NO_MEMORY. The inputs of the net are blocks, too; an
 * output is a view of one. Those that only training has come last, and are
 * none of these.
 */
NETC_API enum netc_status netc_operation(struct netc *netc, size_t index,
                                         struct netc_operation *operation);
NETC_API enum netc_status netc_input_operand(struct netc *netc, size_t input,
                                             struct netc_operand *operand);
NETC_API enum netc_status netc_output_operand(struct netc *netc, size_t output,
                                              struct netc_operand *operand);

/* A prediction operation by operation, as the plan has it */

/*
 * The net for its runtime: runtime/netrt.h has the struct. An operation's
 * `kernel` is its code and there are no kernels, so a program that has linked
 * them sets `kernels` to netrt_kernels in a copy of its own. NETC_ERROR: the
 * runtime cannot run this net; netc_message says why.
 */
struct netrt_model;
NETC_API enum netc_status netc_runtime(struct netc *netc,
                                       const struct netrt_model **model);

/* The arena planner by itself: docs/plan.md */

/* Alive in [lower, upper); `align` 0: that of the options. */
struct netc_plan_buffer {
  int64_t lower, upper, size, align;
  int64_t offset; /* out */
};

struct netc_plan_options {
  size_t size;
  int64_t capacity; /* any plan that fits will do; 0: the least */
  int64_t align;    /* of every buffer without one of its own; 0: 1 */
  uint64_t effort;  /* positions to try; 0: a default */
  netc_resize_fn *resize;
  void *user;
  netc_progress_fn *tell; /* of the effort, which it may stop; or NULL */
  void *tell_user;
};

struct netc_plan {
  size_t size;
  int64_t height; /* of the arena */
  int64_t lower_bound;
  bool optimal;
  uint64_t effort; /* spent */
};

/*
 * NETC_ERROR: the sizes add up to more than 2^61. A capacity that cannot be
 * reached is no error: compare `height`. `options` may be NULL.
 */
NETC_API enum netc_status netc_plan(struct netc_plan_buffer *buffers,
                                    size_t count,
                                    const struct netc_plan_options *options,
                                    struct netc_plan *plan);

/* What exists. Functions return NETC_USAGE behind the last one */

/* Who asks for an output: -o and --emit, --dump, `netc fmt`, `netc sweep`. */
enum netc_purpose {
  NETC_FOR_FILES,
  NETC_FOR_DUMP,
  NETC_FOR_FORMAT,
  NETC_FOR_SWEEP
};

/* A kind of netc_emit. */
struct netc_output_kind {
  size_t size;
  const char *name; /* and the suffix of files */
  const char *summary;
  enum netc_purpose purpose;
  const char *word; /* for netc_emit as well: "header"; "": none */
};

/* How an argument is written. */
enum netc_form {
  NETC_POSITION, /* by its place */
  NETC_KEY,      /* name=value */
  NETC_WORD,     /* one of `words`, bare */
  NETC_STRIDE,   /* /value */
};

/* An argument of a layer, or a setting. */
struct netc_argument {
  size_t size;
  const char *name;
  enum netc_form form;
  bool required;
  const char *value;    /* its type in a word: "N", "SIZE", "WORD" */
  const char *words;    /* what may be said, apart by blanks; "": anything */
  const char *fallback; /* the default; "": none */
  const char *doc;
};

/* A setting of netc_set. */
struct netc_setting {
  size_t size;
  const char *name;    /* "data_parallel"; - stands for _ as well */
  const char *section; /* "train", "infer" or "train infer" */
};

struct netc_layer_kind {
  size_t size;
  const char *name, *summary;
  const char *family; /* the heading in the manual */
  bool joins;         /* takes operands: blocks and labels */
  size_t argument_count;
  bool takes_block; /* one, behind its arguments */
};

/* A kind of diagnostic. */
struct netc_slug {
  size_t size;
  const char *name, *summary;
  enum netc_severity severity; /* unless netc_warn says otherwise */
  bool off;                    /* it is not looked for until asked for */
  const char *page;            /* Markdown: what it means, and an example */
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

/* What every layer may be told besides. */
NETC_API enum netc_status netc_row_argument(size_t index,
                                            struct netc_argument *argument);
NETC_API enum netc_status netc_slug(size_t index, struct netc_slug *slug);

/* A word of the report, with what it means. */
struct netc_word {
  size_t size;
  const char *name, *page;
};

NETC_API enum netc_status netc_word(size_t index, struct netc_word *word);

#ifdef __cplusplus
}
#endif

#endif
