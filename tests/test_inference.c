/*
 * The memory of a prediction: arenas computed by hand, and plans of the
 * published nets checked buffer by buffer.
 */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "tests/windows.h"

static int64_t ask_inference(const char *net, const char *options,
                             const char *name) {
  return take(compile(net, options), inference, name);
}

#define ARENA "arena.bytes"
#define TIGHT "align=1"

/* A convolution needs its input and output; what follows runs in place. */
static void element_wise_layers_run_in_place(void **state) {
  (void)state;
  int64_t in = 4 * 10 * 10 * 3, out = 4 * 10 * 10 * 7;
  const char *conv = "net a\ninput 10x10x3\nconv 7 3x3 pad\n";
  const char *more = "net a\ninput 10x10x3\nconv 7 3x3 pad\nrelu\nsigmoid\n"
                     "gelu\ntanh\ndropout\nhswish\n";
  assert_int_equal(ask_inference(conv, TIGHT, ARENA), in + out);
  assert_int_equal(ask_inference(more, TIGHT, ARENA), in + out);
  /* The input of the net is not written over. */
  assert_int_equal(ask_inference("net a\ninput 10\nrelu\n", TIGHT, ARENA), 80);
  /* Nor what is read once more: both are alive in the sum. */
  assert_int_equal(ask_inference("net a\ninput 10\nlinear 20\n"
                                 "add { sigmoid } {}\n",
                                 TIGHT, ARENA),
                   4 * (20 + 20));
  /* A sum takes the place of a term. */
  assert_int_equal(ask_inference("net a\ninput 10\nlinear 20\n"
                                 "add { linear 20 } {}\nlinear 1\n",
                                 TIGHT, ARENA),
                   4 * (20 + 20));
}

/* 3*3*3*8 weights and, folded, 8 shifts; apart 4 vectors of 8 and a count. */
static void norms_fold_into_weights(void **state) {
  (void)state;
  const char *net = "net a\ninput 10x10x3\nconv 8 3x3 pad nobias bn relu\n";
  int64_t in = 4 * 10 * 10 * 3, out = 4 * 10 * 10 * 8;
  assert_int_equal(ask_inference(net, TIGHT, "weight_bytes"),
                   4 * (9 * 3 * 8 + 8));
  assert_int_equal(ask_inference(net, TIGHT " fold=off", "weight_bytes"),
                   4 * (9 * 3 * 8 + 4 * 8));
  assert_int_equal(ask_inference(net, TIGHT, "buffer_bytes"), 4 * 16 + 8);
  assert_int_equal(ask_inference(net, TIGHT, ARENA), in + out);
  assert_int_equal(ask_inference(net, TIGHT " fold=off", ARENA), in + out);
  /* A folded norm is not counted among weights with a type of their own. */
  const char *plain = "net a\ninput 10x10x3\nconv 8 3x3 pad nobias relu\n";
  const char *narrow = TIGHT " dtype=f64 weight_dtype=q4_k_m";
  assert_int_equal(ask_inference(net, narrow, "weight_bytes"),
                   ask_inference(plain, narrow, "weight_bytes") + 8 * 8);
  /* With a bias there is already one to fold into. */
  assert_int_equal(ask_inference("net a\ninput 9x9x3\nconv 8 3x3\nbn\n", TIGHT,
                                 "weight_bytes"),
                   4 * (9 * 3 * 8 + 8));
  /* Not behind a pool, nor where the convolution itself is wanted. */
  assert_int_equal(
      ask_inference("net a\ninput 8x8x8\nconv 8 1x1 nobias\npool 2x2\nbn\n",
                    TIGHT, "weight_bytes"),
      4 * (64 + 32));
  assert_int_equal(
      ask_inference("net a\ninput 8x8x8\nconv 8 1x1 nobias\nadd { bn } {}\n",
                    TIGHT, "weight_bytes"),
      4 * (64 + 32));
  /* Nor twice into the same weights: they would have to be two. */
  assert_int_equal(
      ask_inference("net a\ninput 8x8x8\nc: conv 8 1x1 nobias\nbn\nagain c\n"
                    "bn\n",
                    TIGHT, "weight_bytes"),
      4 * (64 + 32 + 32));
}

static void views_cost_nothing(void **state) {
  (void)state;
  const char *plain = "net a\ninput 8x8x4\nconv 4 3x3 pad\ngap\n";
  const char *views = "net a\ninput 8x8x4\nconv 4 3x3 pad\nreshape 64 x 4\n"
                      "reshape 8 x 8 x 4\nidentity\ngap\nflatten\n";
  json_t *a = compile(plain, TIGHT), *b = compile(views, TIGHT);
  assert_int_equal(inference(a, ARENA), inference(b, ARENA));
  assert_int_equal(inference(a, ARENA), 2 * 4 * 256);
  assert_int_equal(json_array_size(find(a, "inference.arena.buffers")),
                   json_array_size(find(b, "inference.arena.buffers")));
  json_decref(a);
  json_decref(b);
}

/* Zeros beyond a map are read where they would be: no padded copy is made. */
static void padding_takes_no_memory(void **state) {
  (void)state;
  const char *uneven = "net a\ninput 10x9x3\nconv 7 3x3 pad=0:1\n";
  const char *keras = "net a\ninput 10x10x3\nconv 7 3x3 /2 pad=tf\n";
  const char *depth = "net a\ninput 10x10x4\ndwconv 5x5 /2 pad=tf\n";
  assert_int_equal(ask_inference(uneven, TIGHT, ARENA),
                   4 * (10 * 9 * 3 + 9 * 8 * 7));
  assert_int_equal(ask_inference(keras, TIGHT, ARENA), 4 * (300 + 5 * 5 * 7));
  assert_int_equal(ask_inference(depth, TIGHT, ARENA), 4 * (400 + 5 * 5 * 4));
}

/* Row by row over the input: the bounds that were published for the nets of
 * MLPerf Tiny, in int8. */
static void windows_overlap_their_input(void **state) {
  (void)state;
  const char *point = "net a\ninput 10x10x3\nconv 7 1x1\n";
  const char *keywords =
      "net kws\ninput 49x10x1\nconv 64 10x4 /2 pad=tf relu\nrepeat 4 {\n"
      "  dwconv 3x3 pad relu\n  conv 64 1x1 relu\n}\ngap\nfc 12 softmax\n";
  const char *visual =
      "net vww\ninput 96x96x3\nconv 8 3x3 /2 pad=tf relu\n"
      "for c s in [16 1; 32 2; 32 1; 64 2; 64 1; 128 2; 128 1; 128 1; 128 1; "
      "128 1; 128 1; 256 2; 256 1] {\n  dwconv 3x3 /s pad=tf relu\n"
      "  conv c 1x1 relu\n}\navgpool 3x3\nfc 2 softmax\n";
  /* Row 9 of the output ends where that of the input begins, or before. */
  assert_int_equal(ask_inference(point, TIGHT " overlap=on", ARENA),
                   4 * (10 * 30 + 10 * 70 - 9 * 30));
  assert_int_equal(ask_inference(point, TIGHT " overlap=off", ARENA),
                   4 * (300 + 700));
  assert_int_equal(ask_inference(point, TIGHT " dtype=i8", ARENA), 730);
  assert_int_equal(ask_inference(keywords, "dtype=i8", ARENA), 8640);
  assert_int_equal(ask_inference(visual, "dtype=i8", ARENA), 37248);
  assert_int_equal(ask_inference(visual, "dtype=i8 overlap=off", ARENA), 55296);
  assert_int_equal(ask_inference(visual, "overlap=on", ARENA), 4 * 37248);
}

/*
 * Of a 3x3 window three rows are kept, of a 1x1 one; a map that goes on, and
 * the input, are whole. Where the output may lie over the input, it ends
 * before the first row that is still to be read.
 */
static void first_stages_keep_some_rows(void **state) {
  (void)state;
  const char *net = "net a\ninput 16x16x1\nconv 8 3x3 pad\nconv 8 3x3 /2\n"
                    "conv 4 1x1\ngap\n";
  const char *tall = "net a\ninput 16x16x4\nconv 8 3x3 pad\nconv 8 3x3 /2\n"
                     "conv 4 1x1\ngap\n";
  enum { IN = 256, ROWS = 3 * 16 * 8 + 7 * 8, OUT = 7 * 7 * 4 };
  assert_int_equal(ask_inference(net, TIGHT " patches=auto", ARENA),
                   4 * (IN + ROWS + OUT));
  /* Row i of 56 values is written once rows to 2 i + 3 have been read. */
  assert_int_equal(ask_inference(tall, TIGHT " patches=auto overlap=on", ARENA),
                   4 * (4 * IN + 3 * 16 * 8));
  assert_int_equal(ask_inference(net, TIGHT " patches=off", ARENA),
                   4 * (256 * 8 + 49 * 8));
}

/* mobilenet_v2 of 224 rows in int8: MCUNetV2 publishes 1,372 kB, and 172 kB
 * with patches. */
static void first_stages_fit_a_microcontroller(void **state) {
  (void)state;
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_inference found = {.size = sizeof found};
  netc_set(netc, "dtype", "i8");
  netc_set(netc, "patches", "auto");
  assert_int_equal(netc_load_file(netc, "examples/zoo/mobilenet_v2.net"),
                   NETC_OK);
  assert_int_equal(netc_inference(netc, &found), NETC_OK);
  assert_int_equal(found.arena_bytes, 266112);
  netc_close(netc);
}

/* Two tensors of T positions for each head of keys; a window keeps fewer. */
static void caches_hold_keys_and_values(void **state) {
  (void)state;
  const char *net = "net a\ninput 16x64\nrepeat 3 {\n"
                    "add { attention 8 kv=2 causal%s } {}\n}\n";
  char text[128];
  snprintf(text, sizeof text, net, "");
  assert_int_equal(ask_inference(text, "decode=100 batch=5", "cache_bytes"),
                   2 * 3 * 5 * 100 * (2 * 8) * 4);
  assert_int_equal(
      ask_inference(text, "decode=100 batch=5 dtype=f16", "cache_bytes"),
      2 * 3 * 5 * 100 * (2 * 8) * 2);
  snprintf(text, sizeof text, net, " window=10");
  assert_int_equal(ask_inference(text, "decode=100 batch=5", "cache_bytes"),
                   2 * 3 * 5 * 10 * (2 * 8) * 4);
  assert_int_equal(ask_inference(text, "decode=7 batch=5", "cache_bytes"),
                   2 * 3 * 5 * 7 * (2 * 8) * 4);
  /* A layer that reads all tokens at once keeps none. */
  assert_int_equal(ask_inference("net a\ninput 16x64\nattention 8\n",
                                 "decode=100", "cache_bytes"),
                   0);
}

/* 108 weights and 4 biases that folding makes, 20 and 5; a norm that stays has
 * none. int8 has a scale for each output, too, and four words for each of the
 * three operations, one more for the mean, and two for input and output. */
static void biases_of_integers_have_32_bits(void **state) {
  (void)state;
  const char *net = "net a\ninput 8x8x3\nconv 4 3x3 bn; gap; fc 5\n";
  assert_int_equal(ask_inference(net, TIGHT " dtype=i8", "weight_bytes"),
                   108 + 4 * 4 + 20 + 4 * 5 + 4 * (4 + 5 + 3 * 4 + 1 + 4));
  assert_int_equal(ask_inference(net, TIGHT " dtype=i4", "weight_bytes"),
                   54 + 4 * 4 + 10 + 4 * 5);
  assert_int_equal(ask_inference(net, TIGHT " dtype=fp8", "weight_bytes"),
                   108 + 4 + 20 + 5);
  assert_int_equal(
      ask_inference(net, TIGHT " dtype=i8 fold=off", "weight_bytes"),
      108 + 16 + 20 + 4 * 5 + 4 * (4 + 5 + 3 * 4 + 1 + 4));
}

/* Two values of 4 bits are a byte; an odd one is rounded up. */
static void small_types_are_rounded_up(void **state) {
  (void)state;
  const char *net = "net a\ninput 5\nlinear 7 nobias\n";
  static const struct {
    const char *options;
    int64_t weights, arena;
  } all[] = {{TIGHT " dtype=f64", 8 * 35, 8 * 12},
             {TIGHT " dtype=tf32", 4 * 35, 4 * 12},
             {TIGHT " dtype=bf16", 2 * 35, 2 * 12},
             {TIGHT " dtype=fp8", 35, 12},
             {TIGHT " dtype=i8", 35 + 4 * (7 + 4 + 4), 12},
             {TIGHT " dtype=i4", 18, 3 + 4},
             {TIGHT " dtype=i4 batch=2", 18, 5 + 7},
             {TIGHT " dtype=i4 batch=3", 18, 8 + 11}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    assert_int_equal(ask_inference(net, all[i].options, "weight_bytes"),
                     all[i].weights);
    assert_int_equal(ask_inference(net, all[i].options, ARENA), all[i].arena);
  }
}

struct placed {
  int64_t offset, bytes, first, last;
  int64_t made;         /* the layer */
  int64_t read;         /* bytes of its input, of which it may begin */
  int64_t below, above; /* so far below or above; 0: it may not */
};

static bool meet(const struct placed *a, const struct placed *b) {
  return a->first <= b->last && b->first <= a->last &&
         a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static int64_t values(json_t *shape) {
  int64_t count = 1;
  size_t i;
  json_t *size;
  json_array_foreach(shape, i, size) count *= json_integer_value(size);
  return count;
}

/* Rows of one sample. */
struct row_walk {
  int64_t in_rows, out_rows, in_row, out_row, batch; /* and bytes of them */
  struct moved window;
};

/* The bytes that row `at` of the batch needs of the input. */
static bool needs(const struct row_walk *r, int64_t at, int64_t *from,
                  int64_t *to) {
  int64_t sample = at / r->out_rows * r->in_rows, row = at % r->out_rows;
  int64_t first = row * r->window.stride - r->window.before;
  int64_t end = first + (r->window.kernel - 1) * r->window.step + 1;
  first = first < 0 ? 0 : first;
  end = end > r->in_rows ? r->in_rows : end;
  *from = (sample + first) * r->in_row;
  *to = (sample + end) * r->in_row;
  return first < end;
}

/*
 * Row by row, from the first on or from the last: how far below or above the
 * input what is written must begin, so that no row that is still to be read,
 * by this row or by others, is written over.
 */
static void find_distances(const struct row_walk *r, struct placed *p) {
  int64_t rows = r->batch * r->out_rows, from, to;
  int64_t least = INT64_MAX, most = 0;
  for (int64_t i = rows; i-- > 0;) { /* what is read from row i on */
    if (needs(r, i, &from, &to) && from < least)
      least = from;
    if (least < INT64_MAX && (i + 1) * r->out_row - least > p->below)
      p->below = (i + 1) * r->out_row - least;
  }
  for (int64_t i = 0; i < rows; i++) { /* up to row i */
    if (needs(r, i, &from, &to) && to > most)
      most = to;
    if (most - i * r->out_row > p->above)
      p->above = most - i * r->out_row;
  }
}

/* A window of what one layer gives, written where all of a row is bytes. */
static void find_overlap(json_t *json, struct placed *p, const char *name,
                         int bits) {
  char path[64];
  snprintf(path, sizeof path, "layers.%lld", (long long)p->made);
  json_t *layer = find(json, path), *in = find(layer, "in.0");
  json_t *out = find(layer, "out.0");
  const char *op = json_string_value(find(layer, "op"));
  bool pools = strstr(op, "pool") != NULL, conv = strcmp(op, "conv") == 0;
  json_t *given = find(layer, "attributes");
  if (bits < 8 || json_array_size(find(layer, "in")) != 1 ||
      strcmp(name, json_string_value(find(layer, "name"))) != 0 ||
      !(pools || conv || strcmp(op, "dwconv") == 0) ||
      !(json_object_get(given, "kernel") || conv) ||
      json_object_get(given, "indices"))
    return;
  struct row_walk r = {.in_rows = json_integer_value(json_array_get(in, 0)),
                       .out_rows = json_integer_value(json_array_get(out, 0)),
                       .batch = inference(json, "batch"),
                       .window = window_along(layer, 0)};
  r.in_row = values(in) / r.in_rows * (bits / 8);
  r.out_row = values(out) / r.out_rows * (bits / 8);
  p->read = r.batch * r.in_rows * r.in_row;
  if (r.batch * r.out_rows * r.out_row == p->bytes)
    find_distances(&r, p);
}

/* A window reads it for the last time. */
static bool dies_in(const struct placed *read, const struct placed *made) {
  return made->below > 0 && read->last == made->first &&
         read->bytes == made->read;
}

static bool may_meet(const struct placed *read, const struct placed *made) {
  int64_t down = read->offset - made->offset;
  return dies_in(read, made) && (down >= made->below || -down >= made->above);
}

/* Bytes that two share at most. */
static int64_t shared(const struct placed *read, const struct placed *made) {
  int64_t below = made->below + read->bytes, above = made->above + made->bytes;
  below = below > made->bytes ? below : made->bytes;
  above = above > read->bytes ? above : read->bytes;
  below = read->bytes + made->bytes - (below < above ? below : above);
  return dies_in(read, made) && below > 0 ? below : 0;
}

/* How many pairs share bytes. */
static int check_arena(json_t *json, int bits) {
  static struct placed placed[4096];
  int64_t arena = inference(json, ARENA), live[8192] = {0}, most = 0;
  int64_t align = inference(json, "arena.align_bytes");
  json_t *buffer, *all = find(json, "inference.arena.buffers");
  size_t index;
  int pairs = 0;
  json_array_foreach(all, index, buffer) {
    assert_true(index < sizeof placed / sizeof *placed);
    struct placed *p = &placed[index];
    *p = (struct placed){.offset = number(buffer, "offset"),
                         .bytes = number(buffer, "bytes"),
                         .first = number(buffer, "first"),
                         .last = number(buffer, "last"),
                         .made = number(buffer, "layer")};
    if (bits)
      find_overlap(json, p, json_string_value(find(buffer, "name")), bits);
    assert_int_equal(p->offset % align, 0);
    assert_true(p->first <= p->last && p->last < 8192);
    assert_true(p->offset + p->bytes <= arena);
    for (size_t k = 0; k < index; k++) {
      if (!meet(p, &placed[k]))
        continue;
      assert_true(may_meet(&placed[k], p));
      pairs++;
    }
    for (int64_t t = p->first; t <= p->last; t++)
      live[t] += p->bytes;
    for (size_t k = 0; k < index; k++)
      live[p->first] -= shared(&placed[k], p);
  }
  for (size_t t = 0; t < 8192; t++)
    most = live[t] > most ? live[t] : most;
  /* The schedule and the buffers say the same about what is alive. */
  assert_int_equal(inference(json, "peak_live_bytes"), most);
  assert_true(arena >= inference(json, "arena.lower_bound_bytes"));
  assert_true(arena >= most);
  assert_true(inference(json, "source_order_peak_bytes") >= most);
  if (json_is_true(find(json, "inference.arena.optimal")))
    assert_int_equal(arena, inference(json, "arena.lower_bound_bytes"));
  return pairs;
}

/* Without its budget, which holds for some settings. */
static json_t *compile_without_budget(const char *path, const char *options) {
  struct netc *netc = netc_open(NULL, NULL);
  char *text = read_text(path, NULL), *at = text;
  assert_non_null(text);
  while ((at = strstr(at, "\nbudget ")) != NULL)
    at[1] = '#';
  choose(netc, options);
  json_t *json = report(netc, netc_load_text(netc, path, text, strlen(text)));
  free(text);
  return json;
}

static void arenas_of_published_nets_are_sound(void **state) {
  (void)state;
  static const struct {
    const char *options;
    int bits; /* where windows may overlap */
  } all[] = {{"batch=1 overlap=off", 0},
             {"batch=1 overlap=on dtype=f32", 32},
             {"batch=2 align=1 dtype=i4", 0},
             {"batch=2 align=1 dtype=i8", 8},
             {"batch=3 fold=off align=4096 overlap=off", 0}};
  struct paths nets = find_paths("examples", ".net");
  int pairs[sizeof all / sizeof *all] = {0};
  assert_true(nets.count > 30);
  for (size_t i = 0; i < nets.count; i++)
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
      json_t *json = compile_without_budget(nets.at[i], all[k].options);
      pairs[k] += check_arena(json, all[k].bits);
      json_decref(json);
    }
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    assert_true(all[k].bits ? pairs[k] > 100 : pairs[k] == 0);
  paths_free(&nets);
}

/* `head`, and `count` times `part`. */
static void repeated(char *out, size_t room, const char *head, const char *part,
                     int count, const char *foot) {
  size_t length = (size_t)snprintf(out, room, "%s", head);
  for (int i = 0; i < count; i++)
    length += (size_t)snprintf(out + length, room - length, "%s", part);
  snprintf(out + length, room - length, "%s", foot);
}

/*
 * A set of more than 64 branches no longer fits a word: the search for an
 * order once went on for ever. What is summed needs the sum so far only.
 */
static void any_number_of_branches_is_put_in_order(void **state) {
  (void)state;
  static const int counts[] = {63, 64, 65, 66, 129};
  char net[8192];
  alarm(100); /* ends what does not */
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    int n = counts[i];
    repeated(net, sizeof net, "net a\ninput 8x8x8\nadd", " { conv 4 1x1 }", n,
             "\n");
    assert_int_equal(ask_inference(net, TIGHT, ARENA),
                     4 * 64 * (8 + 4 + 4)); /* the input, the sum, a term */
    repeated(net, sizeof net, "net a\ninput 8\nin0: relu\nadd",
             " { linear 16 gelu; linear 8 }", n, "\n");
    assert_int_equal(ask_inference(net, TIGHT, ARENA),
                     4 * (8 + 8 + 16 + 8)); /* x, the sum, an expert's two */
    char forks[8192];
    size_t length = 0;
    for (int k = 0; k < n; k++)
      length += (size_t)snprintf(forks + length, sizeof forks - length,
                                 "fork { conv 8 1x1; output o%d }\n", k);
    repeated(net, sizeof net, "net a\ninput 8x8x8\nconv 8 1x1\n", forks, 1,
             "relu\noutput z\n");
    assert_int_equal(ask_inference(net, TIGHT, ARENA),
                     4 * 512 * (n + 1)); /* all outputs last */
  }
  alarm(0);
}

/*
 * A matrix of 32768 values and a bias: bytes of whole blocks as the structs of
 * ggml-common.h and the papers have them, and of one that is not filled.
 */
static void blocks_of_weights_have_scales(void **state) {
  (void)state;
  static const struct {
    const char *type;
    int64_t values, bytes; /* of a block */
    int64_t rest;          /* bytes of 35 values, 5 x 7 */
  } types[] = {
      {"nf4", 64, 32 + 4, 18 + 4},
      {"nf4_dq", 16384, 8192 + 256 + 4, 18 + 1 + 4},
      {"mlx_4", 64, 32 + 4, 18 + 4},
      {"mlx_8", 64, 64 + 4, 35 + 4},
      {"mxfp4", 32, 16 + 1, 18 + 2},
      {"q3_k", 256, 110, 14 + 3 + 2}, /* 3 scales of 6 bits */
      {"q2_k", 256, 84, 9 + 3 + 4},
      {"iq1_s", 256, 50, 7 + 1 + 2},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    char options[64];
    snprintf(options, sizeof options, "weight_dtype=%s dtype=bf16",
             types[i].type);
    assert_int_equal(ask_inference("net a\ninput 128\nlinear 256\n", options,
                                   "weight_bytes"),
                     32768 / types[i].values * types[i].bytes + 2 * 256);
    assert_int_equal(ask_inference("net a\ninput 5\nlinear 7 nobias\n", options,
                                   "weight_bytes"),
                     types[i].rest);
  }
  /* Tiles at the ends of rows and columns have scales, too. */
  assert_int_equal(ask_inference("net a\ninput 200\nlinear 300 nobias\n",
                                 "weight_dtype=fp8_128", "weight_bytes"),
                   200 * 300 + 4 * 2 * 3);
  /* A table that is tied counts once. */
  assert_int_equal(ask_inference("net a\ninput 8 : i32\nwords: embed 64 64\n"
                                 "linear 64 nobias tie=words\n",
                                 "weight_dtype=mxfp4", "weight_bytes"),
                   64 * 64 / 32 * 17);
}

/* An input with bounds: its ends are those of nets without. */

#define BOUNDED(size)                                                     \
  "input tokens " size " : i32\nembed 100 32\nrepeat 2 { add { ln; "      \
  "attention 4 causal rope } {}; add { ln; linear 128 gelu; linear 32 } " \
  "{} }\nlinear 100 nobias\n"

static void same_end(json_t *both, const char *end, const char *net,
                     const char *options) {
  static const char *const of[][2] = {
      {"mac_count", "totals.mac_count"},
      {"training_peak_bytes", "training.peak_bytes"},
      {"weight_bytes", "inference.weight_bytes"},
      {"arena_bytes", "inference.arena.bytes"}};
  json_t *alone = compile(net, options);
  assert_null(find(alone, "bounds"));
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(number(find(find(both, "bounds"), end), of[i][0]),
                     number(alone, of[i][1]));
  json_decref(alone);
}

static void bounds_have_the_figures_of_their_ends(void **state) {
  (void)state;
  static const char *const options[] = {
      "", "batch=3 optimizer=adamw precision=mixed", "fold=off decode=64",
      "memory=8GiB checkpoint=auto loss=crossentropy"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    json_t *both = compile(BOUNDED("7..96"), options[i]);
    same_end(both, "low", BOUNDED("7"), options[i]);
    same_end(both, "high", BOUNDED("96"), options[i]);
    json_decref(both);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_have_the_figures_of_their_ends),
      cmocka_unit_test(element_wise_layers_run_in_place),
      cmocka_unit_test(norms_fold_into_weights),
      cmocka_unit_test(biases_of_integers_have_32_bits),
      cmocka_unit_test(views_cost_nothing),
      cmocka_unit_test(padding_takes_no_memory),
      cmocka_unit_test(windows_overlap_their_input),
      cmocka_unit_test(first_stages_keep_some_rows),
      cmocka_unit_test(first_stages_fit_a_microcontroller),
      cmocka_unit_test(caches_hold_keys_and_values),
      cmocka_unit_test(small_types_are_rounded_up),
      cmocka_unit_test(blocks_of_weights_have_scales),
      cmocka_unit_test(any_number_of_branches_is_put_in_order),
      cmocka_unit_test(arenas_of_published_nets_are_sound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
