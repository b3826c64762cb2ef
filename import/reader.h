/* Readers of foreign files: the rows READ of kinds.def. */
#ifndef NETC_IMPORT_READER_H
#define NETC_IMPORT_READER_H

#include "import/bytes/bytes.h"
#include "import/graph.h"
#include "import/kinds.h"

/* The size of an input, from the command line. */
struct import_input {
  const char *name; /* NULL: of the only input */
  struct graph_shape shape;
  bool used; /* import_given() has given it */
};

/* A size that the file does not fix. */
struct import_size {
  const char *name;
  int64_t value;
};

/* A constructor's argument, for PyTorch's source. */
struct import_arg {
  const char *name, *value;
};

/* The number of an input of one value. */
struct import_scalar {
  const char *name;
  double value;
};

/* Gives an example's text, as of "zoo/llama.net"; false if it is missing. */
typedef bool import_template_fn(const char *name, struct slice *text);

struct import_options {
  bool flat;             /* one layer per line */
  bool allow_unknown;    /* leave out layers without an equivalent in netc */
  bool weights;          /* read the values of weights, too */
  bool assume_bn;        /* assume batch norms that may be folded */
  bool no_source;        /* ignore a source stored in the file */
  bool own_vectors;      /* vectors of layers are merged only by the author */
  bool steps_first;      /* the batch is the second axis of inputs */
  bool retyped;          /* --weight-dtype is given: a file's own is not used */
  const char *as;        /* the type of a config.json; NULL: its own */
  const char *folder;    /* of the file; NULL: it has no neighbours */
  const char *path;      /* of the file; NULL: it is only in memory */
  const char *values;    /* path of the file with its weights, if needed */
  const char *templates; /* folder of the examples; NULL: none */
  import_template_fn *template_of; /* gives examples from memory, if not NULL */
  struct import_input *inputs;
  size_t input_count;
  const struct import_size *sizes;
  size_t size_count;
  const struct import_arg *args;
  size_t arg_count;
  const struct import_scalar *scalars;
  size_t scalar_count;
  const char *const *parameters; /* inputs of the file that are parameters */
  size_t parameter_count;
};

/* The text of an example, "zoo/llama"; false if it is not installed. */
bool import_example(struct graph *graph, const struct import_options *options,
                    const char *name, struct slice *source);

/* Finds the command line's size for the input `name`, or for the only one, and
 * marks it as used. */
bool import_given(const struct import_options *options, struct slice name,
                  struct graph_shape *shape);

/* Fills the graph; false if graph->error is set. */
typedef bool import_read_fn(struct graph *graph, struct slice file,
                            const struct import_options *options);

/* The bytes to read, which the caller closes. They are the file's own if only a
 * part was read (`opens_file` in kinds.def), or the content of a pipe. */
struct byte_store import_bytes(const struct import_options *options,
                               struct slice file);

/* A layer of another framework and the netc layers it becomes. */
enum { IMPORT_WORDS = 9 };

struct import_type {
  const char *name;
  enum layer_word words[IMPORT_WORDS]; /* ended by WORD_NONE */
};

void import_type_set(struct import_type *type, const char *name,
                     const enum layer_word *words);

/* The functions of a dialect as layers of its reader; `format` has a %.*s for
 * the name. False if `index` is past the end. */
bool import_function_type(struct graph *graph, enum dialect dialect,
                          const char *format, size_t index,
                          struct import_type *type);

/* Gives the reader's layer `index`; false past the end. */
typedef bool import_type_fn(struct graph *graph, size_t index,
                            struct import_type *type);

struct import_reader {
  const char *name; /* "Darknet" */
  import_read_fn *read;
  enum file_kind_id kind;
};

size_t import_reader_count(void);
const struct import_reader *import_reader_at(size_t index);

/* The reader for a kind of file; NULL if there is none. */
const struct import_reader *import_reader_of(enum file_kind_id kind);

/* Writes a table of the layers that all readers know: format, layer, words. */
void import_types(struct graph *graph, struct text *out);

/* The result of an import: the source, and the layers of its lines if the
 * reader gave a graph and no source. */
enum { IMPORT_WAYS = 32 };

struct imported {
  struct text source;
  size_t layer_count;
  struct graph_node **layers; /* in the order of the source's layers */
  /* Lines of each layout that was tried, by layout; lines of this source. */
  int lines[IMPORT_WAYS], least;
  int defs, widest; /* defs; maximum number of parameters of one */
};

/* Reads a file into a source. `name` is used if the file does not name the net.
 * False: `graph` holds the error. */
bool import_file(const struct import_reader *reader, struct slice file,
                 const char *name, const struct import_options *options,
                 struct graph *graph, struct imported *result);

/* Writes the graph in the next longer layout; false if none is left. */
bool import_longer(struct graph *graph, struct imported *result);

/* Writes the graph with one layer per line. */
void import_flat(struct graph *graph, struct imported *result);

#endif
