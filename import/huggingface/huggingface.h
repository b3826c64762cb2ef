/* Models of Hugging Face: a template with what their config.json says. */
#ifndef NETC_IMPORT_HUGGINGFACE_H
#define NETC_IMPORT_HUGGINGFACE_H

#include "import/huggingface/facts.h"
#include "import/huggingface/settle.h"
#include "import/reader.h"
#include "import/tensors/tensors.h"

/* Rows of so many values in matrices, of the file and of the net. */
struct stored_rows {
  int64_t width, file, net;
  const char *first; /* tensor of the file that has some; NULL: none */
};

/* What is stored beside a config: the check of what is made of it. */
struct stored {
  const char *name;  /* of the file; NULL: there is none */
  const char *dtype; /* of most bytes, as netc says it; NULL: not known */
  int64_t bytes;     /* of all tensors; 0: not known */
  int64_t values;    /* of tensors that are learned; 0: not known */
  int64_t computed;  /* tensors that are not */
  int64_t formats;   /* tensors of a byte that say how values lie */
  int64_t last;      /* number of the last layer; -1: not known */
  bool output;       /* lm_head.weight is among them */
  VEC(struct slice) scaled;     /* modules whose weights have scales */
  VEC(struct stored_rows) rows; /* by width; none: not known */
};

void stored_add_rows(struct stored *stored, struct arena *arena,
                     const struct stored_tensor *t);

/* False: the file is a link out of the folder. It may lead to the `blobs` where
 * Hugging Face's cache keeps the files of its `snapshots`. */
bool stored_is_inside(struct arena *arena, const char *folder,
                      const char *path);

/* False: the graph says what is wrong with it. */
bool stored_read(struct stored *stored, struct graph *graph,
                 const char *folder);

struct template_type {
  const char *name, *file, *defaults;
};

enum {
  HUGGING_MOST = 1 << 30,      /* that a number may be */
  HUGGING_MOST_LAYERS = 10000, /* as many blocks: a line makes millions else */
};

struct hugging {
  struct facts *facts;
  struct graph *graph;
  const struct import_options *options;
  const struct template_type *type;
  const char *dtype, *weight_dtype; /* NULL: not known; none */
  const char *state_dtype;          /* of recurrent layers; NULL: as dtype */
  /* The key of the type, if facts have the template's names: those that a type
     gives another meaning have it already. NULL: model_type of a config. */
  const char *type_key;
  const char *runtime; /* that files of this kind are made for; or NULL */
  struct stored stored;
  const char *origin;       /* "config.json": what says all this */
  bool headed;              /* the template knows heads */
  VEC(struct slice) params; /* of the template */
  /* Lists of layers that were asked for: which are in them. */
  VEC(struct {
    const char *name;
    bool *has; /* HUGGING_MOST_LAYERS + 1 */
  })
  listed;
  bool quantised; /* values are stored with others beside them */
  bool trying;    /* each layer that differs is made once */
};

/* "`NAME` is VALUE, not WHAT", at its place; false. */
bool hugging_refuse(struct hugging *h, const struct fact *fact,
                    const char *what);
/* "a=1 b=word": the next pair; false: there is none. */
bool hugging_pair(const char **at, struct slice *name, struct slice *value);
/* How weights are stored; false: refused. */
bool hugging_quantised(struct hugging *h);
bool hugging_unknown_head(struct hugging *h);
/* The way out if types of weights are not understood; false. */
bool hugging_help_retype(struct hugging *h, const char *type);
/* The blocks of a layer: "attend" or "delta", and "dense" or "experts"; "": it
 * has none. */
struct layer_blocks {
  const char *mixer, *feed;
  bool alone; /* it is one module, whatever it does */
};

/* False: refused. */
bool hugging_layer(struct hugging *h, int64_t layer,
                   struct layer_blocks *blocks);
/* As many as the config says, or as a list has kinds; 0: it says nothing. */
int64_t hugging_layers(const struct hugging *h);

/* Those of a part of several are found without its name, too. */
const struct fact *hugging_fact(const struct hugging *h, struct slice name);

/* True if the template has params of that member of the config: one that has
 * several towers has the one of the type. */
bool hugging_counts(const struct hugging *h, const char *name);

/* The net of facts, whoever filled them, in graph->source. */
bool hugging_make(struct hugging *h);

/* The type of a config that names none, as open_clip's and Mistral's, with the
 * facts that it needs; NULL: it is none of them. */
const char *hugging_other_type(struct hugging *h);

/* A config of timm, and its net of the zoo; false: refused. */
bool hugging_is_timm(const struct hugging *h);
bool hugging_make_timm(struct hugging *h);

/* NULL: there is no such type. */
const struct template_type *hugging_type(struct slice name);

/* Facts of the template's lists; false: refused. */
bool hugging_lists(struct hugging *h);

/* False: a list has more members than the template has params. */
bool hugging_lists_fit(struct hugging *h);

/* The type and what follows of it; false: refused. */
bool hugging_choose(struct hugging *h);

/* The value of a param, of the kind that its default has: a settle_fn. */
struct settled hugging_given(void *user, const struct stmt *param,
                             const struct settled *usual);

/* The param `pattern`: a list of blocks. */
struct settled hugging_pattern(struct hugging *h, const struct settled *usual);

/* Parameters of a source, and with buffers; false: it does not compile. */
bool hugging_count(struct slice source, int64_t *params, int64_t *all);

/* The template's source does not compile: an error at the keys whose values it
 * is about, and false. True: no key is to blame. */
bool hugging_blame(struct hugging *h, struct slice template, struct slice name);

/* Of an index that names no type: the one that its bytes say. */
void hugging_guess_dtype(struct hugging *h, int64_t params);

/* Whether the net has what is stored; if not, the graph says so. */
bool hugging_check(struct hugging *h, int64_t params, int64_t all);
/* Whether its bytes are those of a source with types of weights: if not, the
 * graph has a note. */
void hugging_note_bytes(struct hugging *h, struct slice source);
/* The same by the shapes of its matrices, if these are known. */
bool hugging_check_rows(struct hugging *h, struct slice source);

#endif
