/*
 * Serving: a language model that answers many sequences at once, on one device
 * or on several that share each layer. docs/serving.md.
 */
#ifndef NETC_MEMORY_SERVING_SERVING_H
#define NETC_MEMORY_SERVING_SERVING_H

#include "base/text.h"
#include "memory/devices/fit.h"
#include "memory/weight_format.h"

/* Where a layer of a served net is; without gpu_layers= all are on the card. */
enum served_place { ON_CARD, ON_HOST, SERVED_PLACES };

/* What a layer keeps of earlier positions, on one device. */
struct served_layer {
  int64_t node;
  int64_t each;   /* values for each position */
  int64_t always; /* values that no context changes */
  int64_t window; /* positions that it sees; 0: all */
  int64_t source; /* positions of what it attends to; 0: the words */
  int64_t state;  /* values of a state, in the net's type */
  struct head_counts heads;
};

/* What runs at once. */
struct served_step {
  int64_t rows;    /* positions, of whatever sequences */
  int64_t ends;    /* of these, which get scores */
  int64_t sources; /* sequences whose encoder runs, too */
  int64_t context; /* that they attend to, if scores of it are stored; or 0 */
};

/* A step whose activations are known; bytes -1: not yet. */
struct known_step {
  struct served_step step;
  enum served_place place;
  int64_t bytes;
};
enum { KNOWN_STEPS = 64 };

/* A net as it is served; see serving_open. */
struct serving {
  const struct model *model;
  const struct settings *settings;
  struct arena *arena;
  int64_t devices;
  VEC(struct served_layer) layers;
  struct weight_roles roles;
  int64_t words; /* positions of the net's input of words */
  bool meets;    /* scores of attention are stored */
  bool *after;   /* by node: it comes from the words; NULL: all do */
  bool *values_after, *storages_after; /* likewise */
  int64_t head;    /* the node whose results are the scores, or after all */
  bool parted;     /* between a card and its host: places.c */
  int64_t blocks;  /* layers of which some are on the card, and the output */
  int32_t *slot;   /* by node: its layer, from 1; 0: it is before them */
  int64_t on_card; /* the last so many; all blocks: the output, too */
  bool *held[SERVED_PLACES];      /* by parameter */
  bool *reaches[SERVED_PLACES];   /* by storage: it is made or read there */
  int64_t weights[SERVED_PLACES]; /* with buffers, on one device: bytes */
  int64_t copied;                 /* of these, what both have */
  struct trace trace;
  /* As they were traced: those of operations, places of the tape's. */
  struct extent *extents;
  uint32_t *values, *storages;
  size_t recorded;         /* the tape's extents then */
  struct op_facts **facts; /* by operation: its own */
  struct served_step last; /* that was simulated */
  enum served_place at;    /* and where */
  struct known_step known[KNOWN_STEPS];
};

/* Bytes that each device sends in a step, and as many it receives. */
struct served_traffic {
  int64_t all_reduce, all_gather;
  int64_t sent; /* both */
};

/* A row of the table: what goes together on a device. */
struct served {
  int64_t context, sequences;
  int64_t cache; /* bytes of keys and values of one such sequence */
};

/* As the settings have it; if it fits, all that are longer do, too. */
enum { SERVED_ROWS = 6, LONGEST_CONTEXT = 1 << 30 };

/* What the layers in one place take, in bytes. */
struct served_part {
  int64_t weights, cache;
  int64_t sequence;        /* keys, values and states of one sequence */
  int64_t state;           /* of these, what no context changes */
  int64_t source;          /* likewise: of what an encoder gives */
  int64_t prefill, decode; /* activations of a step */
  int64_t sampler;         /* scores of all sequences and their copies */
  int64_t compute;         /* llama.cpp's buffer for both steps; 0: none */
  int64_t need;            /* weights, cache, and the largest step */
};

/* Bytes on each device. */
struct serving_answer {
  int64_t devices;
  struct served_part card,
      host;          /* without gpu_layers= nothing is on the host */
  int64_t blocks;    /* layers and the output; 0: they are not parted */
  int64_t on_card;   /* of these, so many of the last */
  int64_t next;      /* that the card needs with one more; 0: it has all */
  int64_t copied;    /* weights that both have */
  int64_t host_room; /* 0: not said */
  int64_t context, sequences;
  struct served_traffic prefill_traffic,
      decode_traffic; /* of several devices */
  struct fit_device device;
  bool strict;         /* vLLM refuses what passes its share */
  int64_t longest;     /* context, of `sequences`; in whole blocks */
  int64_t most;        /* sequences, of `context` */
  int64_t limit;       /* of positions, by a table of them; 0: none */
  int64_t positions;   /* in what weights and the step leave; -1: not asked */
  int64_t concurrency; /* hundredths of sequences of `context` that these are */
  int count;
  struct served by_context[SERVED_ROWS];   /* the most sequences of each */
  struct served by_sequences[SERVED_ROWS]; /* the longest context of each */
};

/* Of a device that was named: the card and, where layers are parted, the host.
 */
static inline enum fit_verdict serving_verdict(const struct serving_answer *a) {
  return fit_judge(a->card.need, a->device.room,
                   a->strict ? 0 : a->device.reserve, a->host.need,
                   a->host_room);
}

/* Bytes of the states of a sequence; INT64_MAX: too many. */
int64_t serving_states(const struct serving *s, enum served_place place);

/* Bytes of keys and values of a sequence's source; INT64_MAX: too many. */
int64_t serving_source(const struct serving *s, enum served_place place);

/* Whether a layer keeps more with each position, or a state. */
bool serving_grows(const struct layer *layer);

/*
 * Layers that gpu_layers= can put on a card, with the output; 0: no loop
 * repeats them. `slot`, by node and 0 before, becomes that of struct serving.
 */
int64_t serving_layers(const struct model *model, struct arena *arena,
                       int32_t *slot);

/* Whether layers are to be on a card and in its host's memory. */
bool serving_parts(const struct infer_settings *infer);

enum served_place serving_place(const struct serving *serving, int64_t node);

/* The last layers are on the card; false if a size passes 2^63 - 1. */
bool serving_put(struct serving *serving, int64_t on_card);

/*
 * The node of the input whose words are continued, which other inputs reach
 * only by what layers attend to; NO_WORDS: there is none, NOTHING_GROWS: no
 * layer looks back.
 */
enum { NO_WORDS = -1, NOTHING_GROWS = -2 };
int64_t serving_words(const struct model *model);

/* By node, and by value of a trace: whether it comes from the words. */
bool *serving_after(const struct model *model, int64_t words,
                    struct arena *arena);
bool *serving_values_after(const struct trace *trace, int64_t words,
                           struct arena *arena);

/* Whether the settings ask for it. */
bool serving_wanted(const struct settings *settings);

/* Whether a question about a prediction is one about serving. */
bool serving_asked(const struct settings *settings);

/* Whether the net can be served as the settings say; if not, why, and help. */
bool serving_possible(const struct model *model,
                      const struct settings *settings, struct text *why,
                      struct text *help);

/* Positions of the net's learned table of them; 0: it has none. */
int64_t serving_position_limit(const struct model *model);

/* Reports that; true if there is nothing to report. */
bool serving_check(const struct model *model, const struct settings *settings,
                   struct diags *diags);

/* For a net that can be served; false if a size passes 2^63 - 1. */
bool serving_open(const struct model *model, const struct settings *settings,
                  struct arena *arena, struct serving *serving);

/*
 * Bytes of a parameter on one device; 0 if it is counted elsewhere. False if
 * they pass 2^63 - 1.
 */
bool serving_weight(const struct serving *serving, size_t index,
                    int64_t *bytes);

/*
 * Bytes of the keys and values of one sequence. Blocks are whole; a layer with
 * a window keeps the blocks that it touches, and those of the sinks (Xiao et
 * al. 2023, arXiv 2309.17453). INT64_MAX if they pass 2^63 - 1.
 */
int64_t serving_cache(const struct serving *serving, enum served_place place,
                      int64_t context);

/* Scores of words that a sequence has. */
int64_t serving_scores(const struct serving *serving);

/*
 * Bytes of the scores of so many sequences, and of what a sampler has beside
 * them; 0: none is counted. INT64_MAX if they pass 2^63 - 1.
 */
int64_t serving_sampler(const struct serving *serving, enum served_place place,
                        int64_t sequences);

/* Whether the step is llama.cpp's. */
bool serving_is_llama_cpp(const struct serving *serving);

/*
 * Bytes of llama.cpp's compute buffer in one place: llama_cpp.c. INT64_MAX if
 * they pass 2^63 - 1.
 */
int64_t serving_compute(const struct serving *serving, enum served_place place,
                        int64_t context, int64_t sequences);

/* fit_device, or the part of the device that utilization= says. */
struct fit_device serving_device(const struct settings *settings);

/* The answer's `positions` and `concurrency`, of its other members. */
void serving_positions_in_all(const struct serving *serving,
                              struct serving_answer *answer);

/* Positions of a block of keys and values. */
int64_t serving_page(const struct infer_settings *infer);

/* Positions that a layer keeps of a context, in whole blocks. */
int64_t serving_positions(const struct serving *serving,
                          const struct served_layer *layer, int64_t context);

/*
 * Bytes of activations of a step, with copies of what comes from the other
 * place; attention is fused. INT64_MAX if they pass 2^63 - 1.
 */
int64_t serving_step(struct serving *serving, enum served_place place,
                     struct served_step step);

/*
 * What devices send in a step: sums of matrices that are split by rows, by
 * rings whose devices send 2 (T - 1) / T of the tensor (Patarasuk & Yuan 2009,
 * "Bandwidth optimal all-reduce algorithms"), scores of words by a ring with
 * (T - 1) / T. False if they pass 2^63 - 1.
 */
bool serving_traffic(const struct serving *serving, struct served_step step,
                     struct served_traffic *traffic);

/*
 * A step of prompts: all of one, or as many positions as `prefill` says; and
 * one of decoding, a position of each sequence.
 */
struct served_step serving_prompt(const struct serving *serving,
                                  int64_t context, int64_t sequences);
struct served_step serving_decoding(const struct serving *serving,
                                    int64_t context, int64_t sequences);

/* All of it, or without the table; false if a size passes 2^63 - 1. */
bool serving_find(const struct model *model, const struct settings *settings,
                  struct arena *arena, bool table,
                  struct serving_answer *answer);

#endif
