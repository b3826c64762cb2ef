/* Readers of foreign files: the rows READ of kinds.def. */
#ifndef NETC_IMPORT_READER_H
#define NETC_IMPORT_READER_H

#include "import/bytes/bytes.h"
#include "import/graph.h"
#include "import/kinds.h"

/* A size from the command line. */
struct import_input {
  const char *name; /* NULL: of the only input */
  struct graph_shape shape;
};

/* A size that the file leaves open. */
struct import_size {
  const char *name;
  int64_t value;
};

/* "zoo/llama.net" of the examples; false: it is not here. */
typedef bool import_template_fn(const char *name, struct slice *text);

struct import_options {
  bool flat;             /* a line a layer */
  bool allow_unknown;    /* leave out what netc has no equivalent of */
  bool weights;          /* the values of weights are wanted, too */
  bool assume_bn;        /* where an exporter may have folded them, there are */
  bool no_source;        /* one that the file has does not count */
  const char *folder;    /* where the file lies; NULL: it has no neighbours */
  const char *path;      /* of the file; NULL: it is in memory alone */
  const char *values;    /* of one with its weights, if these are wanted */
  const char *templates; /* the examples' folder; NULL: they are not here */
  import_template_fn *template_of; /* or in memory, if not NULL */
  const struct import_input *inputs;
  size_t input_count;
  const struct import_size *sizes;
  size_t size_count;
  const char *const *parameters; /* inputs of the file that are parameters */
  size_t parameter_count;
};

/* The command line's size of an input of that name, or of the only one. */
bool import_given(const struct import_options *options, struct slice name,
                  struct graph_shape *shape);

/* Fills the graph; false: graph->error says why not. */
typedef bool import_read_fn(struct graph *graph, struct slice file,
                            const struct import_options *options);

/*
 * The bytes that are read, to be closed: of the file itself, of which a part
 * may have come (kinds.def's opens_file), or of what a pipe gave.
 */
struct byte_store import_bytes(const struct import_options *options,
                               struct slice file);

/* A layer of another framework, and those of netc that it becomes. */
enum { IMPORT_WORDS = 9 };

struct import_type {
  const char *name;
  enum layer_word words[IMPORT_WORDS]; /* those after WORD_NONE are none */
};

void import_type_set(struct import_type *type, const char *name,
                     const enum layer_word *words);

/* The functions that a dialect calls by a name, as layers of its reader:
 * `format` has a %.*s for the name. False: there are fewer. */
bool import_function_type(struct graph *graph, enum dialect dialect,
                          const char *format, size_t index,
                          struct import_type *type);

/* The reader's layer of that number; false: there are fewer. */
typedef bool import_type_fn(struct graph *graph, size_t index,
                            struct import_type *type);

struct import_reader {
  const char *name; /* "Darknet" */
  import_read_fn *read;
  enum file_kind_id kind;
};

size_t import_reader_count(void);
const struct import_reader *import_reader_at(size_t index);

/* The reader of a kind of files; NULL: there is none. */
const struct import_reader *import_reader_of(enum file_kind_id kind);

/* A table of all that readers know, a line each: format, layer, words. */
void import_types(struct graph *graph, struct text *out);

/* The result of an import: the source, and the layers of its lines, if the
   reader gave layers and no source. */
enum { IMPORT_WAYS = 32 };

struct imported {
  struct text source;
  size_t layer_count;
  struct graph_node **layers; /* in the order of the source's layers */
  /* By way to write it: the lines of each that was tried; those of this one. */
  int lines[IMPORT_WAYS], least;
};

/*
 * Reads a file into a source. `name` is that of the net if the file has none.
 * False: `graph` holds the error.
 */
bool import_file(const struct import_reader *reader, struct slice file,
                 const char *name, const struct import_options *options,
                 struct graph *graph, struct imported *result);

/* Writes the graph in the next way, with more lines; false: there is none. */
bool import_longer(struct graph *graph, struct imported *result);

/* Writes the graph with a line a layer. */
void import_flat(struct graph *graph, struct imported *result);

#endif
