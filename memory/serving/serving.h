/*
 * Serving: a language model that processes many sequences at once, on one
 * device or on several that shard each layer. docs/serving.md.
 */
#ifndef NETC_MEMORY_SERVING_SERVING_H
#define NETC_MEMORY_SERVING_SERVING_H

#include "base/text.h"
#include "memory/devices/fit.h"
#include "memory/serving/speed.h"
#include "memory/weight_format.h"
#include "sema/model/runtime.h"

/*
 * A layer is on a card or in the host's memory. Cards are counted from ON_CARD.
 * Without gpu_layers= and tensor_split= all layers are on one card.
 */
enum served_place { ON_CARD, ON_HOST = MOST_CARDS, SERVED_PLACES };

/* A layer's cache on one device. */
struct served_layer {
  int64_t node;
  struct cache_terms kept;  /* the device's part */
  struct head_counts heads; /* of all devices */
  int64_t state;            /* values of a state, in state_dtype= */
  int64_t recent; /* values of its convolution's window, in the net's type */
};

/* The tokens of one step. */
struct served_step {
  int64_t rows;    /* tokens of any sequences */
  int64_t ends;    /* of these, tokens that get logits */
  int64_t sources; /* sequences whose encoder also runs */
  int64_t context; /* attended tokens if scores of them are stored; or 0 */
};

/* A step with known activations; bytes -1: not yet. */
struct known_step {
  struct served_step step;
  enum served_place place;
  int64_t bytes;
};
enum { KNOWN_STEPS = 64 };

/* A net with the state of serving it; see serving_open. */
struct serving {
  const struct model *model;
  const struct settings *settings;
  struct arena *arena;
  int64_t devices;
  VEC(struct served_layer) layers;
  struct weight_roles roles;
  int32_t *experts; /* by parameter: number of experts that it has; or 0 */
  int64_t words;    /* positions of the layers that cache: the tokens of the
                     * net's input, and those of a picture beside them */
  bool meets;       /* attention scores are stored */
  bool *after;      /* by node: it depends on the tokens; NULL: all do */
  bool *values_after, *storages_after; /* the same by value and storage */
  bool whole_tower; /* each device has all of what does not depend on them */
  int64_t head;     /* node of the logits, or the end */
  bool parted;      /* divided among cards and their host: places.c */
  bool staged;      /* of a pipeline: the first card has the token table */
  int cards;        /* that have layers */
  double ends[MOST_CARDS]; /* fraction of the layers up to each card's last */
  int64_t blocks;          /* layers that may be on the card, and the output */
  int32_t *slot;           /* by node: its layer, from 1; 0: before them */
  int64_t on_card; /* number of last layers there; `blocks`: with the output */
  bool *held[SERVED_PLACES];      /* by parameter */
  bool *reaches[SERVED_PLACES];   /* by storage: it is made or read there */
  int64_t weights[SERVED_PLACES]; /* bytes with buffers, on one device */
  int64_t copied;                 /* of these, bytes in a second place */
  struct trace trace;
  /* Extents as traced; `values` and `storages` are indices on the tape. */
  struct extent *extents;
  uint32_t *values, *storages;
  size_t recorded;         /* number of traced extents */
  struct op_facts **facts; /* by operation: its own copy */
  struct served_step last; /* last simulated step */
  enum served_place at;    /* its place */
  struct known_step known[KNOWN_STEPS];
};

/* Bytes that each device sends, and receives, in a step. */
struct served_traffic {
  int64_t all_reduce, all_gather;
  int64_t sent; /* both */
};

/* A row of the table: a combination that fits a device. */
struct served {
  int64_t context, sequences;
  int64_t cache; /* KV cache bytes of one such sequence */
};

/* The longest context that settings allow; if it fits, longer ones do, too. */
enum { SERVED_ROWS = 6, LONGEST_CONTEXT = 1 << 30 };

/* Bytes of the layers in one place. */
struct served_part {
  int64_t weights, cache;
  int64_t sequence; /* cache and states of one sequence */
  int64_t state;    /* of these, bytes that do not depend on the context */
  int64_t source;   /* of these, keys and values from an encoder */
  int64_t prefill, decode; /* activations of a step */
  int64_t sampler;         /* logits of all sequences and their copies */
  int64_t compute;         /* llama.cpp's buffer for both steps; 0: none */
  int64_t need;            /* weights, cache and the largest step */
};

/* One of several cards with layers of their own. */
struct served_card {
  const struct gpu *gpu; /* NULL: none named */
  struct fit_device device;
  struct served_part part;
  int64_t first, last; /* layers, from 1; first > last: none */
  bool output;
};

/* Bytes on each device. */
struct serving_answer {
  int64_t devices; /* of a stage */
  bool staged;     /* the cards are stages of a pipeline */
  bool uneven;     /* some devices have fewer experts */
  /* The card, of several the one with the least memory left; without
   * gpu_layers= and tensor_split= the host has nothing. */
  struct served_part card, host;
  int cards;    /* of tensor_split=, or stages; else 1 */
  int tightest; /* the one of `card` and `device`, from 0 */
  struct served_card by_card[MOST_CARDS]; /* of several */
  int64_t blocks;    /* layers and the output; 0: not divided */
  int64_t on_card;   /* number of last ones on the card */
  int64_t next;      /* card's need with one more; 0: all are there */
  int64_t copied;    /* weights on both */
  int64_t host_room; /* 0: unknown */
  int64_t context, sequences;
  struct served_traffic prefill_traffic,
      decode_traffic;       /* for several devices */
  struct serving_time time; /* of a named device; else all 0 */
  struct fit_device device;
  bool strict;         /* utilization= is a hard limit, as in vLLM */
  int64_t longest;     /* context for `sequences`; in whole blocks */
  int64_t most;        /* sequences for `context` */
  int64_t limit;       /* tokens of a learned position table; 0: none */
  int64_t positions;   /* total KV cache tokens that fit; -1: not computed */
  int64_t concurrency; /* sequences of `context` that fit, in hundredths */
  int count;
  struct served by_context[SERVED_ROWS];   /* maximum sequences of each */
  struct served by_sequences[SERVED_ROWS]; /* maximum context of each */
};

/* Verdict for a named device: the card and, if layers are divided, the host. */
static inline enum fit_verdict serving_verdict(const struct serving_answer *a) {
  return fit_judge(a->card.need, a->device.room,
                   a->strict ? 0 : a->device.slack, a->host.need, a->host_room);
}

/* Bytes of the states of a sequence; INT64_MAX on overflow. */
int64_t serving_states(const struct serving *s, enum served_place place);

/* Types of its states, and of the windows of convolutions before them. */
int serving_state_type(const struct serving *s);
int serving_window_type(const struct serving *s);

/* KV cache bytes of a sequence's source; INT64_MAX on overflow. */
int64_t serving_source(const struct serving *s, enum served_place place);

/* True if a layer's cache grows per token, or it has a state. */
bool serving_grows(const struct layer *layer);

/*
 * Number of layers that gpu_layers= can put on a card, with the output; 0: no
 * loop repeats them. Fills in `slot`, by node, for struct serving.
 */
int64_t serving_layers(const struct model *model, struct arena *arena,
                       int32_t *slot);

/* True if layers are divided among cards or their host's memory. */
bool serving_parts(const struct infer_settings *infer);

enum served_place serving_place(const struct serving *serving, int64_t node);

/* The next place with layers after `place`, from -1; SERVED_PLACES: none. */
int serving_next_place(const struct serving *serving, int place);

/* Puts the last layers on the cards; false if a size passes 2^63 - 1. */
bool serving_put(struct serving *serving, int64_t on_card);

/*
 * The input node of the tokens that are continued; other inputs affect it only
 * by attention, or are rows beside them (a picture's). NO_WORDS: none,
 * NOTHING_GROWS: no causal layer.
 */
enum { NO_WORDS = -1, NOTHING_GROWS = -2 };
int64_t serving_words(const struct model *model);

/* Positions of the first layer that caches: tokens, and what is beside them. */
int64_t serving_length(const struct model *model);

/*
 * True if the number of devices does not divide the heads of a tower. Each
 * device then has the whole tower, as with vLLM's `--mm-encoder-tp-mode data`;
 * without that option vLLM refuses the number.
 */
bool serving_tower_is_whole(const struct model *model, int64_t degree);

/* By node, and by value of a trace: true if it depends on the tokens. */
bool *serving_after(const struct model *model, int64_t words,
                    struct arena *arena);
bool *serving_values_after(const struct trace *trace, int64_t words,
                           struct arena *arena);

/* True if the settings ask for serving. */
bool serving_wanted(const struct settings *settings);

/* True if inference with these settings means serving. */
bool serving_asked(const struct settings *settings);

/* True if the net can be served with the settings; otherwise fills in the
 * reason and a hint. */
bool serving_possible(const struct model *model,
                      const struct settings *settings, struct text *why,
                      struct text *help);

/* Rows of the net's learned table of positions; 0: none. */
int64_t serving_position_limit(const struct model *model);

/* Reports the reason if the net cannot be served; true: nothing to report. */
bool serving_check(const struct model *model, const struct settings *settings,
                   struct diags *diags);

/* Opens a net that can be served; false if a size passes 2^63 - 1. */
bool serving_open(const struct model *model, const struct settings *settings,
                  struct arena *arena, struct serving *serving);

/*
 * Bytes of a parameter on one device; 0 if counted elsewhere. False if they
 * pass 2^63 - 1.
 */
bool serving_weight(const struct serving *serving, size_t index,
                    int64_t *bytes);

/*
 * KV cache bytes of one sequence, in whole blocks. A layer with a window keeps
 * the blocks that it touches, and those of the sinks (Xiao et al. 2023, arXiv
 * 2309.17453). INT64_MAX if they pass 2^63 - 1.
 */
int64_t serving_cache(const struct serving *serving, enum served_place place,
                      int64_t context);

/* The bytes of these that a decode step reads: an indexer chooses tokens. */
int64_t serving_read(const struct serving *serving, enum served_place place,
                     int64_t context);

/* Number of logits per token. */
int64_t serving_scores(const struct serving *serving);

/*
 * Bytes of the logits of `sequences` and a sampler's memory besides; 0: none is
 * counted. INT64_MAX if they pass 2^63 - 1.
 */
int64_t serving_sampler(const struct serving *serving, enum served_place place,
                        int64_t sequences);

/* The device of a card, and the name of its GPU; NULL: none. */
const struct gpu *serving_gpu(const struct settings *settings, int card);
struct fit_device serving_device(const struct settings *settings, int card);

/* True if llama.cpp's attention stores no scores. */
bool serving_is_fused(const struct infer_settings *infer);

/* True if the step is llama.cpp's. */
bool serving_is_llama_cpp(const struct serving *serving);

/*
 * Bytes of llama.cpp's compute buffer in one place: llama_cpp.c. INT64_MAX if
 * they pass 2^63 - 1.
 */
int64_t serving_compute(const struct serving *serving, enum served_place place,
                        int64_t context, int64_t sequences);

/*
 * Chooses the runtime of a net, if none is given, and sets what it would set by
 * itself. Runtimes of language models are chosen for nets they can serve.
 */
void runtime_settle(const struct model *model, struct settings *settings);

/* The part of the settings' device that the runtime can use for inference. */
struct fit_device runtime_device(const struct settings *settings);

/* Fills in `positions` and `concurrency` from the other members. */
void serving_positions_in_all(const struct serving *serving,
                              struct serving_answer *answer);

/* Tokens per block of the KV cache. */
int64_t serving_page(const struct infer_settings *infer);

/* Vectors of a context that a layer keeps, of tokens in whole blocks. */
int64_t serving_vectors(const struct serving *serving,
                        const struct served_layer *layer, int64_t context);

/*
 * Bytes of a step's activations, with copies of those from the other place;
 * attention is fused. INT64_MAX if they pass 2^63 - 1.
 */
int64_t serving_step(struct serving *serving, enum served_place place,
                     struct served_step step);

/*
 * Bytes that devices send in a step: all-reduce after matrices split by rows,
 * in rings whose devices send 2 (T - 1) / T of the tensor (Patarasuk & Yuan
 * 2009, "Bandwidth optimal all-reduce algorithms"), and all-gather of logits
 * with (T - 1) / T. False if they pass 2^63 - 1.
 */
bool serving_traffic(const struct serving *serving, struct served_step step,
                     struct served_traffic *traffic);

/*
 * A prefill step: one whole prompt, or as many tokens as `prefill` allows; and
 * a decode step: one token per sequence.
 */
struct served_step serving_prompt(const struct serving *serving,
                                  int64_t context, int64_t sequences);
struct served_step serving_decoding(const struct serving *serving,
                                    int64_t context, int64_t sequences);

/* Fills in the answer, with or without the table; false if a size overflows. */
bool serving_find(const struct model *model, const struct settings *settings,
                  struct arena *arena, bool table,
                  struct serving_answer *answer);

#endif
