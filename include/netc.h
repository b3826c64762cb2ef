/*
 * netc: the compiler for neural-network architectures, as a library.
 *
 *   struct netc *netc = netc_open(NULL, NULL);
 *   netc_on_diagnostic(netc, print, NULL);
 *   if (netc_load_file(netc, "vgg16.net") == NETC_OK)
 *     netc_emit(netc, "json", NULL, write, stdout);
 *   netc_close(netc);
 *
 * A context is used by one thread at a time; different contexts share
 * nothing. All texts handed out live until netc_close.
 */
#ifndef NETC_H
#define NETC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NETC_VERSION "0.1.0"

#if defined __GNUC__
#define NETC_API __attribute__((visibility("default")))
#else
#define NETC_API
#endif

struct netc;

enum netc_status {
  NETC_OK,
  NETC_ERROR,     /* the source has an error, or breaks its budget */
  NETC_USAGE,     /* a name, setting or kind that does not exist */
  NETC_IO,        /* a file cannot be read, a sink refused */
  NETC_NO_MEMORY, /* the context can only be closed now */
};

/*
 * malloc, realloc and free in one: `old` is NULL for a new block, `size` is
 * 0 to free. Returns NULL when out of memory.
 */
typedef void *netc_resize_fn(void *user, void *old, size_t size);

/* Takes bytes; returns false if it could not. */
typedef bool netc_sink_fn(void *user, const char *bytes, size_t length);

enum netc_severity { NETC_WARNING = 1, NETC_FAILURE };

struct netc_diagnostic {
  enum netc_severity severity;
  const char *slug; /* permanent: "pool-remainder" */
  const char *message;
  const char *file;
  uint32_t line, column; /* from 1; columns are code points */
  const char *text;      /* with source lines, as `netc` prints it */
  const char *colour;    /* the same with terminal colours */
  const char *json;      /* one object on one line */
};

typedef void netc_diagnostic_fn(void *user,
                                const struct netc_diagnostic *diagnostic);

/* NULL for the C library's allocator. Returns NULL when out of memory. */
NETC_API struct netc *netc_open(netc_resize_fn *resize, void *user);
NETC_API void netc_close(struct netc *netc);

/* Called for each diagnostic of a load, in the order of discovery. */
NETC_API void netc_on_diagnostic(struct netc *netc, netc_diagnostic_fn *fn,
                                 void *user);

/*
 * Before a load: what the command line of `netc` can choose. NETC_USAGE
 * leaves an explanation for netc_message.
 *
 *   netc_set(netc, "batch", "64")     a setting of docs/language.md
 *   netc_define(netc, "depth", "50")  the value of a `param`
 *   netc_warn(netc, "no-huge-fc")     the text behind -W
 *   netc_include(netc, "lib")         a folder for `use`
 */
NETC_API enum netc_status netc_set(struct netc *netc, const char *key,
                                   const char *value);
NETC_API enum netc_status netc_define(struct netc *netc, const char *name,
                                      const char *value);
NETC_API enum netc_status netc_warn(struct netc *netc, const char *option);
NETC_API enum netc_status netc_include(struct netc *netc, const char *folder);

/* Compiles a net: reads, parses, infers, counts and checks. Once. */
NETC_API enum netc_status netc_load_file(struct netc *netc, const char *path);
NETC_API enum netc_status netc_load_text(struct netc *netc, const char *name,
                                         const char *text, size_t length);

/* What the last NETC_USAGE or NETC_IO was about. */
NETC_API const char *netc_message(const struct netc *netc);

enum netc_units { NETC_IEC, NETC_SI, NETC_BYTES };

/* How an output looks; all zero is the default. */
struct netc_options {
  enum netc_units units;
  bool channels_first; /* shapes as CxHxW */
  int depth;           /* groups deeper than this are one row; 0: all */
  bool expand;         /* a row for every layer of a tail */
  bool explain;        /* formulas with their numbers */
  bool ascii;
};

/*
 * Writes an output: "txt", "json", "csv", "md", "net", "dot", or a dump:
 * "tokens", "ast", "graph", "shapes", "plan". `options` may be NULL.
 */
NETC_API enum netc_status netc_emit(struct netc *netc, const char *kind,
                                    const struct netc_options *options,
                                    netc_sink_fn *sink, void *user);

/* The model. Counts of values; bytes are in the outputs. */
struct netc_layer {
  const char *name; /* "stem.conv1" */
  const char *op;   /* "conv" */
  int rank;
  const int64_t *dims; /* of the output, channels last, without the batch */
  int64_t param_count, mac_count, activation_count;
};

struct netc_totals {
  int64_t param_count, trainable_count, buffer_count;
  int64_t mac_count, activation_count, activation_bytes;
};

NETC_API size_t netc_layer_count(const struct netc *netc);
NETC_API enum netc_status netc_layer(struct netc *netc, size_t index,
                                     struct netc_layer *layer);
NETC_API enum netc_status netc_totals(const struct netc *netc,
                                      struct netc_totals *totals);

/* The files that were read, for dependencies; NULL behind the last one. */
NETC_API const char *netc_source(const struct netc *netc, size_t index);

#ifdef __cplusplus
}
#endif

#endif
