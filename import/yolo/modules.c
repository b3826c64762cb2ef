/* Writes the modules of YOLO's YAML as layers of netc and calls of defs. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/yolo/modules.h"

static const struct yolo_row rows[] = {
#define YOLO(name, def, write, kind, word) {name, def, write, kind, word},
#include "ops/yolo.def"
#undef YOLO
};

enum { ROWS = sizeof rows / sizeof *rows, CHANNELS_MOST = 1 << 20 };

bool yolo_type(struct graph *graph, size_t index, struct import_type *type) {
  (void)graph;
  if (index >= ROWS)
    return false;
  enum layer_word words[IMPORT_WORDS] = {rows[index].word, WORD_NONE};
  import_type_set(type, rows[index].name, words);
  return true;
}

const struct yolo_row *yolo_row_of(struct slice name) {
  for (size_t i = 0; i < ROWS; i++)
    if (slice_is(name, rows[i].name))
      return &rows[i];
  return NULL;
}

bool yolo_fail(struct yolo *y, const char *what) {
  return graph_fail(y->graph, y->at->line, "`%s` %s", y->at->row->name, what);
}

/* Arguments */

static const struct yolo_value *arg(const struct yolo *y, size_t i) {
  return i < y->at->args->items.count ? y->at->args->items.at[i] : NULL;
}

bool yolo_number(const struct yolo *y, const struct yolo_value *v,
                 double *number) {
  char text[40], *end;
  if (!v || v->list || v->text.length == 0 || v->text.length >= sizeof text)
    return false;
  if (slice_is(v->text, "nc")) {
    *number = (double)y->classes;
    return true;
  }
  memcpy(text, v->text.at, v->text.length);
  text[v->text.length] = '\0';
  *number = strtod(text, &end);
  return *end == '\0' && isfinite(*number);
}

/* An integer argument; false with an error if it is none or out of bounds. */
static bool whole(struct yolo *y, size_t i, int64_t usual, int64_t most,
                  int64_t *to) {
  double number = (double)usual;
  bool none = !arg(y, i) || slice_is(arg(y, i)->text, "None");
  if ((!none && !yolo_number(y, arg(y, i), &number)) || number < 0 ||
      number > (double)most || number != floor(number))
    return graph_fail(y->graph, y->at->line,
                      "argument %zu of `%s` must be an integer of at most "
                      "%" PRId64,
                      i + 1, y->at->row->name, most);
  *to = (int64_t)number;
  return true;
}

/* make_divisible(min(c, max_channels) * width, 8) */
static int64_t scaled(const struct yolo *y, int64_t channels) {
  double c = (double)channels < y->most ? (double)channels : y->most;
  return (int64_t)(ceil(c * y->width / 8) * 8);
}

/* The output's channels, the first argument: those of a head are not scaled. */
static bool channels_of(struct yolo *y, int64_t *to) {
  int64_t outputs = y->boxes ? y->boxes * (y->classes + 5) : y->classes;
  if (!whole(y, 0, 0, CHANNELS_MOST, to))
    return false;
  if (*to != outputs)
    *to = scaled(y, *to);
  return (*to > 0 && *to <= CHANNELS_MOST) || yolo_fail(y, "has no channels");
}

static struct yolo_module *source_of(struct yolo *y, size_t i) {
  int64_t at = y->at->from.at[i];
  return at < 0 ? NULL : y->modules.at[at];
}

/* Channels of input i; 0 with an error if a head is read. */
static int64_t channels_in(struct yolo *y, size_t i) {
  struct yolo_module *from = source_of(y, i);
  int64_t channels = from ? from->channels : 3;
  if (channels == 0)
    yolo_fail(y, "reads a head");
  return channels;
}

/* Writing */

#define PUT(y, ...) text_printf(&(y)->out, __VA_ARGS__)

bool yolo_same(struct yolo *y) {
  PUT(y, "%s", y->at->row->def);
  y->at->channels = channels_in(y, 0);
  return !y->graph->failed;
}

/* C3k2 nests blocks in the large scales, wherever the file does not. */
static bool nests(const struct yolo *y, size_t i) {
  return strcmp(y->at->row->def, "c3k2") == 0 && i == 1 && y->scale &&
         strchr("mlx", y->scale);
}

/* The first convolution of YOLOv5's Bottleneck is 1x1. */
bool yolo_block(struct yolo *y) {
  int64_t channels;
  if (!channels_of(y, &channels))
    return false;
  PUT(y, "%s %" PRId64, y->at->row->def, channels);
  if (y->at->row->kind == YOLO_REPEATS)
    PUT(y, " %" PRId64, y->at->repeats);
  size_t count = y->at->args->items.count;
  if (count == 1 && nests(y, 1))
    count = 2;
  if (strcmp(y->at->row->def, "c3_ghost") == 0) /* it always adds */
    count = 1;
  for (size_t i = 1; i < count; i++) {
    const struct yolo_value *v = arg(y, i);
    double number;
    if (nests(y, i) || (v && slice_is(v->text, "True")))
      PUT(y, " true");
    else if (v && slice_is(v->text, "False"))
      PUT(y, " false");
    else if (yolo_number(y, v, &number) && number >= 0 && number < 1000)
      PUT(y, " %g", number);
    else
      return yolo_fail(y, "has an argument that is not supported");
  }
  if (y->boxes && strcmp(y->at->row->def, "bottleneck") == 0)
    PUT(y, "%s %" PRId64 " 1", count > 1 ? "" : " true", channels / 2);
  y->at->channels = channels;
  return true;
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b > 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* c, k, s, p, g; of DWConv c, k, s, d. */
bool yolo_conv(struct yolo *y) {
  int64_t c, k, s, p = 0, g = 1, in = channels_in(y, 0);
  bool deep = strcmp(y->at->row->name, "DWConv") == 0;
  bool padded = !deep && arg(y, 3) && !slice_is(arg(y, 3)->text, "None");
  if (in == 0 || !channels_of(y, &c) || !whole(y, 1, 1, 1000, &k) ||
      !whole(y, 2, 1, 1000, &s) || !whole(y, 3, 0, 1000, &p) ||
      !whole(y, 4, 1, CHANNELS_MOST, &g))
    return false;
  if (y->at->args->items.count > 5 || (deep && (p > 1 || arg(y, 4))))
    return yolo_fail(y, "has more arguments than netc reads");
  y->at->channels = c;
  g = deep ? gcd(in, c) : g;
  p = padded ? p : k / 2;
  if (deep && g == in && c == in) {
    PUT(y, "dw %" PRId64 " %" PRId64 "", k, s);
    return true;
  }
  if (g == 1 && k % 2 == 1 && p == k / 2) {
    PUT(y, "cbs %" PRId64, c);
    if (k > 1 || s > 1)
      PUT(y, " %" PRId64, k);
    if (s > 1)
      PUT(y, " %" PRId64, s);
    return true;
  }
  PUT(y, "conv %" PRId64 " %" PRId64 "x%" PRId64, c, k, k);
  if (s > 1)
    PUT(y, " /%" PRId64, s);
  if (p > 0)
    PUT(y, " pad=%" PRId64, p);
  if (g > 1)
    PUT(y, " groups=%" PRId64, g);
  PUT(y, " bn(eps=1e-3) silu");
  return true;
}

bool yolo_deconv(struct yolo *y) {
  int64_t c, k, s, p;
  if (!channels_of(y, &c) || !whole(y, 1, 1, 1000, &k) ||
      !whole(y, 2, 1, 1000, &s) || !whole(y, 3, 0, 1000, &p))
    return false;
  y->at->channels = c;
  PUT(y, "deconv %" PRId64 " %" PRId64 "x%" PRId64 " /%" PRId64, c, k, k, s);
  if (p > 0)
    PUT(y, " pad=%" PRId64, p);
  return true;
}

/* Pools of 5, 9 and 13; others are refused. */
bool yolo_spp(struct yolo *y) {
  static const double usual[] = {5, 9, 13};
  const struct yolo_value *pools = arg(y, 1);
  int64_t c;
  for (size_t i = 0; pools && i < 3; i++) {
    double k = 0;
    if (pools->items.count != 3 || !yolo_number(y, pools->items.at[i], &k) ||
        k != usual[i])
      return yolo_fail(y, "has pools other than 5, 9 and 13");
  }
  if (!channels_of(y, &c))
    return false;
  y->at->channels = c;
  PUT(y, "spp %" PRId64, c);
  return true;
}

bool yolo_up(struct yolo *y) {
  int64_t factor;
  y->at->channels = channels_in(y, 0);
  bool linear = arg(y, 2) && slice_is(arg(y, 2)->text, "bilinear");
  if (!whole(y, 1, 0, 64, &factor) || y->at->channels == 0)
    return false;
  if (factor < 1 ||
      (arg(y, 2) && !linear && !slice_is(arg(y, 2)->text, "nearest")))
    return yolo_fail(y, "has a factor or a mode that is not supported");
  PUT(y, "up %" PRId64 "%s", factor, linear ? " bilinear" : "");
  return true;
}

bool yolo_pool(struct yolo *y) {
  int64_t k, s, p;
  y->at->channels = channels_in(y, 0);
  if (!whole(y, 0, 1, 1000, &k) || !whole(y, 1, k, 1000, &s) ||
      !whole(y, 2, 0, 1000, &p) || y->at->channels == 0)
    return false;
  PUT(y, "pool %" PRId64 "x%" PRId64 " /%" PRId64, k, k, s);
  if (p > 0)
    PUT(y, " pad=%" PRId64, p);
  return true;
}

/* Columns before and after, then rows. */
bool yolo_zeros(struct yolo *y) {
  const struct yolo_value *v = arg(y, 0);
  double zeros[4];
  for (size_t i = 0; i < 4; i++)
    if (!v || v->items.count != 4 ||
        !yolo_number(y, v->items.at[i], &zeros[i]) || zeros[i] < 0 ||
        zeros[i] > 100)
      return yolo_fail(y, "has no four numbers of zeros");
  y->at->channels = channels_in(y, 0);
  PUT(y, "pad %.0f:%.0fx%.0f:%.0f", zeros[2], zeros[3], zeros[0], zeros[1]);
  return y->at->channels > 0;
}

/* The tensor before and others, or others alone. */
bool yolo_concat(struct yolo *y) {
  bool first = y->at->from.at[0] == y->index - 1;
  size_t count = y->at->from.count;
  int64_t sum = 0;
  PUT(y, "concat");
  for (size_t i = 0; i < count; i++) {
    int64_t channels = channels_in(y, i);
    sum += channels;
    if (channels == 0 || sum > CHANNELS_MOST)
      return channels ? yolo_fail(y, "has too many channels") : false;
    if (y->at->from.at[i] < 0)
      return yolo_fail(y, "reads the input");
    if (y->at->from.at[i] == y->index - 1)
      PUT(y, "%s", first && count == 2 && i == 0 ? "" : " {}");
    else
      PUT(y, " m%" PRId64, y->at->from.at[i]);
  }
  y->at->channels = sum;
  return true;
}

bool yolo_classify(struct yolo *y) {
  int64_t classes;
  if (!whole(y, 0, 0, CHANNELS_MOST, &classes))
    return false;
  PUT(y, "classify %" PRId64, classes);
  return true;
}

/* Heads: for each level boxes and classes, and further values. */

static void put_level(struct yolo *y, size_t i, const char *name) {
  if (y->at->from.at[i] != y->index - 1 || i > 0)
    PUT(y, "from m%" PRId64 "\n", y->at->from.at[i]);
  if (name)
    PUT(y, "fork { %s", name);
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* YOLOv5: anchors, and a convolution for each level. */
static bool detect_anchors(struct yolo *y, int64_t masks) {
  int64_t outputs = y->boxes * (5 + y->classes + masks);
  for (size_t i = 0; i < y->at->from.count; i++) {
    put_level(y, i, NULL);
    PUT(y, "conv %" PRId64 " 1x1\noutput level%zu\n", outputs, i + 1);
  }
  return true;
}

/* Key points, angles or masks: their number at each place. */
static bool more_of(struct yolo *y, int64_t *more, int64_t *protos) {
  const char *name = y->at->row->name;
  size_t at = y->boxes ? 2 : 1;
  *more = *protos = 0;
  if (strcmp(name, "Segment") == 0) {
    if (!whole(y, at, 32, 4096, more) || !whole(y, at + 1, 256, 4096, protos))
      return false;
    *protos = scaled(y, *protos);
    return *more > 0 && *protos > 0 ? true : yolo_fail(y, "has no masks");
  }
  if (strcmp(name, "OBB") == 0)
    return whole(y, 1, 1, 4096, more);
  if (strcmp(name, "Pose") == 0)
    *more = y->points;
  return true;
}

bool yolo_detect(struct yolo *y) {
  int64_t more, protos, first = channels_in(y, 0);
  const char *name = y->at->row->name;
  bool twice = strcmp(name, "v10Detect") == 0, light = y->light || twice;
  if (first == 0 || !more_of(y, &more, &protos))
    return false;
  int64_t boxes = larger(first / 4, 64);
  int64_t classes = larger(first, y->classes < 100 ? y->classes : 100);
  if (protos > 0) {
    put_level(y, 0, NULL);
    PUT(y, "fork { proto%s %" PRId64 " %" PRId64 "; output masks }\n",
        y->boxes ? "5" : "", protos, more);
  }
  if (y->boxes)
    return detect_anchors(y, protos > 0 ? more : 0);
  for (size_t i = 0; i < y->at->from.count; i++) {
    if (channels_in(y, i) == 0)
      return false;
    put_level(y, i, NULL);
    if (more > 0)
      PUT(y, "fork { more %" PRId64 " %" PRId64 "; output more%zu }\n",
          larger(first / 4, more), more, i + 1);
    if (twice) /* one more head, which only training needs */
      PUT(y,
          "fork train { detect_dw %" PRId64 " %" PRId64 " %" PRId64
          "; output many%zu }\n",
          boxes, classes, y->classes, i + 1);
    PUT(y, "detect%s %" PRId64 " %" PRId64 " %" PRId64 "\noutput level%zu\n",
        light ? "_dw" : "", boxes, classes, y->classes, i + 1);
  }
  return true;
}
