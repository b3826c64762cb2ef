/* Devices: the table, drivers' names, and users' tables. */
#include "sema/model/gpu.h"

#include "base/check.h"
#include "layers/foreign/foreign.h"
#include "sema/model/runtime.h"
#include "sema/model/weights.h"

/* The web page must be small and has no sources. */
#ifdef NETC_NO_SOURCES
#define SOURCE(text) ""
#else
#define SOURCE(text) text
#endif

static const struct gpu known[] = {
#define GPU(word, names, kind, capability, mebibytes, usable, source, \
            bandwidth, near, far, host, ...)                          \
  {word,   names,          kind,      capability,        mebibytes,   \
   usable, SOURCE(source), bandwidth, {near, far, host}, {__VA_ARGS__}},
#include "sema/model/gpus.def"
#undef GPU
#undef SOURCE
};

enum { KNOWN = sizeof known / sizeof *known };

int gpu_count(const struct gpus *own) {
  return KNOWN + (own ? (int)own->count : 0);
}

const struct gpu *gpu_at(const struct gpus *own, int number) {
  return number <= KNOWN ? &known[number - 1] : &own->at[number - KNOWN - 1];
}

const struct gpu *gpu_of(const struct train_settings *train) {
  return train->gpu ? gpu_at(train->own, train->gpu) : NULL;
}

/* Names */

static bool is_named(const struct gpu *gpu, struct slice word) {
  if (foreign_same(word, slice_of(gpu->word)))
    return true;
  for (const char *at = gpu->names; *at;) {
    struct slice name = {at, strcspn(at, "|")};
    if (foreign_same(word, name))
      return true;
    at += name.length + (at[name.length] == '|');
  }
  return false;
}

int gpu_find(const struct gpus *own, struct slice word, const char **several) {
  *several = NULL;
  for (int number = 1; number <= gpu_count(own); number++)
    if (is_named(gpu_at(own, number), word))
      return number;
  *several = foreign_choice_find("gpu", word);
  return 0;
}

void gpu_put_title(struct text *out, const struct gpu *gpu) {
  static const struct {
    const char *of, *shown;
  } parts[] = {{"rtx", "RTX "}, {"gtx", "GTX "},  {"super", " Super"},
               {"ti", " Ti"},   {"ada", " Ada"},  {"orin", "Jetson Orin"},
               {"agx", "AGX"},  {"nano", "Nano"}, {"apple", "Apple"}};
  enum { COUNT = sizeof parts / sizeof *parts };
  for (const char *at = gpu->word; *at;) {
    int i = 0;
    while (i < COUNT && strncmp(at, parts[i].of, strlen(parts[i].of)) != 0)
      i++;
    if (i < COUNT) {
      text_put(out, parts[i].shown);
      at += strlen(parts[i].of);
    } else {
      bool blank = *at == '-' && (strncmp(gpu->word, "orin", 4) == 0 ||
                                  strncmp(gpu->word, "apple", 5) == 0);
      text_putc(out, blank                      ? ' '
                     : *at >= 'a' && *at <= 'z' ? (char)(*at - 32)
                                                : *at);
      at++;
    }
  }
}

/* The gigabytes in a name, as 48 for 48GB; or 0. */
static int gigabytes_in(struct slice word) {
  for (size_t i = 0; i + 1 < word.length; i++) {
    int value = 0;
    if (!is_digit(word.at[i]) || (i && is_digit(word.at[i - 1])))
      continue;
    for (; i < word.length && is_digit(word.at[i]) && value < 10000; i++)
      value = 10 * value + (word.at[i] - '0');
    if (i + 1 < word.length && (word.at[i] | 32) == 'g' &&
        ((word.at[i + 1] | 32) == 'b' || (word.at[i + 1] | 32) == 'i'))
      return value;
  }
  return 0;
}

/* A number of a known device: 2xrtx3090, 3090x2; *name is without it. Or 0. */
static int several_in(struct slice word, struct slice *name) {
  const char *several;
  for (size_t x = 1; x + 1 < word.length; x++) {
    struct slice left = slice_to(word, x), right = slice_from(word, x + 1);
    for (int side = 0; side < 2 && (word.at[x] | 32) == 'x'; side++) {
      struct slice number = side ? right : left;
      int count = 0;
      *name = side ? left : right;
      for (size_t i = 0; i < number.length && count >= 0 && count < 10000; i++)
        count = is_digit(number.at[i]) ? 10 * count + (number.at[i] - '0') : -1;
      if (count > 1 && (gpu_find(NULL, *name, &several) || several))
        return count;
    }
  }
  return 0;
}

void gpu_put_help(struct text *out, struct slice word, bool as_option) {
  struct slice name = {NULL, 0};
  int size = gigabytes_in(word), several = several_in(word, &name);
  if (several > 1 && as_option)
    text_printf(out,
                "for %d devices write `--gpu %.*s --data-parallel %d`, or for "
                "inference `--tensor-parallel %d`, or ask `netc place NET "
                "--gpus %dx%.*s`",
                several, SLICE_ARG(name), several, several, several,
                SLICE_ARG(name));
  else if (several > 1)
    text_printf(out, "for %d devices write `gpu=%.*s data_parallel=%d`",
                several, SLICE_ARG(name), several);
  else
    text_printf(
        out,
        "give its memory: `%s%dGiB`; `netc help gpus` lists the known names",
        as_option ? "--memory " : "memory=", size ? size : 48);
}

/* Cards of tensor_split= */

enum { WHOLE_SHARE = 1000000 }; /* shares are in millionths */

/* Reads "3" or "0.25", above 0 and at most 10^6. */
static bool read_share(struct slice text, int64_t *share) {
  int64_t unit = WHOLE_SHARE;
  bool fraction = false, digits = false;
  *share = 0;
  for (size_t i = 0; i < text.length; i++) {
    if (text.at[i] == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (!is_digit(text.at[i]) || *share > INT64_C(100000) * WHOLE_SHARE)
      return false;
    digits = true;
    if (fraction)
      unit /= 10;
    else
      *share *= 10;
    *share += (text.at[i] - '0') * unit;
  }
  return digits && *share > 0;
}

static bool read_card(const struct gpus *own, struct slice item,
                      struct split_card *card, struct text *why,
                      struct text *help) {
  const char *several = NULL;
  size_t colon = 0;
  *card = (struct split_card){0, 0};
  if (read_share(item, &card->share))
    return true;
  while (colon < item.length && item.at[colon] != ':')
    colon++;
  struct slice name = slice_to(item, colon);
  card->gpu = gpu_find(own, name, &several);
  if (!card->gpu && (!item.length || is_digit(*item.at))) {
    text_printf(why, "`%.*s` is not a share", SLICE_ARG(item));
    text_put(help, "a share is a number above 0 and at most 100000: `3,2`");
    return false;
  }
  if (!card->gpu) {
    text_printf(why,
                several ? "ambiguous device `%.*s`"
                        : "`%.*s` is neither a share nor a known device",
                SLICE_ARG(name));
    if (several)
      text_printf(help, "it is one of %s", several);
    else
      text_put(help, "write shares, as `3,2`, or names of `netc help gpus`, "
                     "as `rtx4090,rtx3060`");
    return false;
  }
  if (colon == item.length ||
      read_share(slice_from(item, colon + 1), &card->share))
    return true;
  text_printf(why, "`%.*s` has no share after the colon", SLICE_ARG(item));
  text_printf(help, "write `%.*s:2`", SLICE_ARG(name));
  return false;
}

/* A share counts only in relation to the others. */
static bool is_uniform(const struct split_list *split, struct text *why,
                       struct text *help) {
  int named = 0, shared = 0;
  for (int i = 0; i < split->count; i++) {
    named += split->at[i].gpu > 0;
    shared += split->at[i].share > 0;
  }
  if (split->count < 2) {
    text_put(why, "one card has all layers");
    text_put(help, "write a share for each of several cards, as `3,2`");
    return false;
  }
  if ((!named || named == split->count) && (!shared || shared == split->count))
    return true;
  text_printf(why, "some of the cards have a %s, others have none",
              named < split->count && named ? "name" : "share");
  text_put(help, "write `rtx4090:3,rtx3060:2`; without shares the memory of "
                 "the cards decides");
  return false;
}

bool gpu_read_split(const struct gpus *own, struct slice text,
                    struct split_list *split, struct text *why,
                    struct text *help) {
  *split = (struct split_list){.text = text};
  for (size_t from = 0, end; from <= text.length; from = end + 1) {
    for (end = from; end < text.length && text.at[end] != ',';)
      end++;
    if (split->count == MOST_CARDS) {
      text_printf(why, "more than %d cards", MOST_CARDS);
      text_printf(help, "llama.cpp uses at most %d", MOST_CARDS);
      return false;
    }
    struct slice item = slice_from(slice_to(text, end), from);
    while (item.length && *item.at == ' ')
      item = slice_from(item, 1);
    while (item.length && item.at[item.length - 1] == ' ')
      item.length--;
    if (!read_card(own, item, &split->at[split->count++], why, help))
      return false;
  }
  return is_uniform(split, why, help);
}

/* Figures */

int64_t gpu_card_bytes(const struct gpu *gpu) {
  return gpu->mebibytes << 20;
}

bool gpu_is_estimated(const struct gpu *gpu) {
  return gpu->usable == 0;
}

/* Usable memory: if unknown, by the smallest share of a card of its kind. */
int64_t gpu_bytes(const struct gpu *gpu) {
  const struct gpu *worst = NULL;
  if (gpu->usable)
    return gpu->usable << 20;
  for (int i = 0; i < KNOWN; i++)
    if (known[i].usable && strcmp(known[i].kind, gpu->kind) == 0 &&
        (!worst || known[i].usable * worst->mebibytes <
                       worst->usable * known[i].mebibytes))
      worst = &known[i];
  return worst ? max_i64(gpu->mebibytes * worst->usable / worst->mebibytes, 1)
                     << 20
               : gpu_card_bytes(gpu);
}

/* MiB besides tensors by a card's word; the last row has no word. */
struct beside {
  const char *word;
  int64_t mebibytes;
};

static int64_t bytes_beside(const struct beside *at, const struct gpu *gpu) {
  while (at->word && strcmp(at->word, gpu->word) != 0)
    at++;
  return at->mebibytes << 20;
}

int64_t gpu_context(const struct gpu *gpu) {
  static const struct beside contexts[] = {
#define CONTEXT(word, mebibytes) {word, mebibytes},
#define WORKSPACE(word, mebibytes)
#include "sema/model/contexts.def"
#undef WORKSPACE
#undef CONTEXT
      {NULL, 0}};
  return bytes_beside(contexts, gpu);
}

int64_t gpu_workspace(const struct gpu *gpu) {
  static const struct beside workspaces[] = {
#define CONTEXT(word, mebibytes)
#define WORKSPACE(word, mebibytes) {word, mebibytes},
#include "sema/model/contexts.def"
#undef WORKSPACE
#undef CONTEXT
      {NULL, 0}};
  return bytes_beside(workspaces, gpu);
}

int64_t gpu_rate(const struct gpu *gpu, int element) {
  return element ? gpu->rates[element - 1] : 0;
}

int64_t gpu_needed_capability(int element) {
  return element == ELEMENT_BF16 ? 80 : element == ELEMENT_FP8 ? 89 : 0;
}

/* The narrowest float type that products of these settings read. */
static int product_type(const struct settings *settings, bool predict) {
  const struct infer_settings *infer = &settings->infer;
  const char *weights =
      infer->weight_dtype ? weights_word(infer->weight_dtype) : "";
  if (!predict)
    return settings->train.dtype;
  if (infer->runtime == RUNTIME_LLAMA_CPP) /* computes in 16 or 8 bits it has */
    return ELEMENT_F16;
  return strncmp(weights, "fp8", 3) == 0 ? ELEMENT_FP8 : infer->dtype;
}

int gpu_lacks(const struct settings *settings, bool predict) {
  const struct gpu *gpu = gpu_of(&settings->train);
  int element = product_type(settings, predict);
  return gpu && gpu->capability &&
                 gpu->capability < gpu_needed_capability(element)
             ? element
             : 0;
}

/*
 * bf16: vLLM issues 1157 and 946; torch.cuda.is_bf16_supported's
 * including_emulation. fp8: vLLM's docs/features/quantization, FP8 W8A8: Marlin
 * from 7.5 on; torch._scaled_mm from 8.9 on.
 */
const char *gpu_instead(const struct gpu *gpu, int element) {
  if (element == ELEMENT_BF16)
    return "PyTorch converts to 32 bits and back, vLLM refuses it; use f16";
  return gpu->capability < 75
             ? "PyTorch and vLLM refuse it; use f16"
             : "vLLM computes in 16 bits with fp8 weights (Marlin, W8A16), "
               "PyTorch refuses products";
}

/* Users' tables */

enum {
  MOST_FIGURE = 1 << 30, /* keeps MiB << 20 and 10^9 / s far below 2^63 */
  MOST_COLUMNS = 64,
  MOST_DEVICES = 1000
};

struct gpu_column {
  const char *name;
  size_t offset;
  bool is_text;
};

#define TEXT(member) \
  { #member, offsetof(struct gpu, member), true }
#define FIGURE(name, member) \
  { name, offsetof(struct gpu, member), false }

/* In the order of gpus.def. */
static const struct gpu_column columns[] = {
    {"name", offsetof(struct gpu, word), true},
    TEXT(names),
    TEXT(kind),
    FIGURE("capability", capability),
    FIGURE("card_mib", mebibytes),
    FIGURE("process_mib", usable),
    TEXT(source),
    FIGURE("bandwidth", bandwidth),
    FIGURE("near", links[LINK_NEAR]),
    FIGURE("far", links[LINK_FAR]),
    FIGURE("host", links[LINK_HOST]),
#define ELEMENT(constant, word, ...) \
  FIGURE(word, rates[ELEMENT_##constant - 1]),
#include "sema/model/elements.def"
};

enum { COLUMNS = sizeof columns / sizeof *columns };

struct gpu_table {
  struct arena *arena;
  struct slice csv;
  size_t at, line_start;
  int line;
  const struct gpu_column *of[MOST_COLUMNS];
  int count;
  VEC(struct gpu) found;
  struct text *error;
};

struct gpu_cell {
  struct slice text; /* without surrounding quotes and blanks */
  int line, column;
  bool last; /* last cell of its line */
};

/* Reports an error at a cell; returns false. */
static bool fail(struct gpu_table *t, const struct gpu_cell *cell,
                 const char *format, ...) PRINTF_LIKE(3, 4);

static bool fail(struct gpu_table *t, const struct gpu_cell *cell,
                 const char *format, ...) {
  va_list args;
  t->error->length = 0;
  text_printf(t->error, "%d:%d: ", cell->line, cell->column);
  va_start(args, format);
  text_vprintf(t->error, format, args);
  va_end(args);
  return false;
}

static bool at_end(const struct gpu_table *t) {
  return t->at == t->csv.length;
}

/* True if the next byte is `c`. */
static bool meets(const struct gpu_table *t, char c) {
  return !at_end(t) && t->csv.at[t->at] == c;
}

static bool at_line_end(const struct gpu_table *t) {
  return at_end(t) || meets(t, '\n') || meets(t, '\r');
}

static void end_line(struct gpu_table *t, struct gpu_cell *cell) {
  cell->last = true;
  t->at += meets(t, '\r');
  t->at += meets(t, '\n');
  t->line++;
  t->line_start = t->at;
}

/* Reads a quoted cell, as "a ""b""", where two quotes are one. */
static bool quoted(struct gpu_table *t, struct gpu_cell *cell) {
  struct text text = text_new(t->arena);
  for (t->at++; !at_line_end(t); t->at++) {
    bool twice = t->at + 1 < t->csv.length && t->csv.at[t->at + 1] == '"';
    if (t->csv.at[t->at] == '"' && !twice) {
      t->at++;
      cell->text = text_slice(&text);
      return true;
    }
    t->at += t->csv.at[t->at] == '"';
    text_putc(&text, t->csv.at[t->at]);
  }
  return fail(t, cell, "a quote is not closed on its line");
}

static bool next_cell(struct gpu_table *t, struct gpu_cell *cell) {
  while (meets(t, ' '))
    t->at++;
  *cell = (struct gpu_cell){.line = t->line,
                            .column = (int)(t->at - t->line_start) + 1};
  if (meets(t, '"')) {
    if (!quoted(t, cell))
      return false;
    while (meets(t, ' '))
      t->at++;
  } else {
    size_t start = t->at;
    while (!at_line_end(t) && !meets(t, ','))
      t->at++;
    cell->text = (struct slice){t->csv.at + start, t->at - start};
    while (cell->text.length && cell->text.at[cell->text.length - 1] == ' ')
      cell->text.length--;
  }
  if (at_line_end(t)) {
    end_line(t, cell);
    return true;
  }
  if (!meets(t, ','))
    return fail(t, cell, "a comma is missing after the closing quote");
  t->at++;
  return true;
}

static bool unknown_column(struct gpu_table *t, const struct gpu_cell *cell) {
  fail(t, cell, "unknown column `%.*s`; the columns are ",
       SLICE_ARG(cell->text));
  for (int i = 0; i < COLUMNS; i++)
    text_printf(t->error, "%s%s", i ? ", " : "", columns[i].name);
  return false;
}

static bool has_column(const struct gpu_table *t,
                       const struct gpu_column *column) {
  for (int i = 0; i < t->count; i++)
    if (t->of[i] == column)
      return true;
  return false;
}

static bool read_header(struct gpu_table *t) {
  struct gpu_cell cell;
  do {
    const struct gpu_column *column = columns;
    if (!next_cell(t, &cell))
      return false;
    while (column < columns + COLUMNS && !slice_is(cell.text, column->name))
      column++;
    if (cell.last && t->count == 0 && cell.text.length == 0)
      break;
    if (column == columns + COLUMNS)
      return unknown_column(t, &cell);
    if (has_column(t, column))
      return fail(t, &cell, "the column `%s` appears twice", column->name);
    t->of[t->count++] = column;
  } while (!cell.last);
  if (has_column(t, &columns[0]) && has_column(t, &columns[4]))
    return true;
  return fail(t, &cell, "the first line needs the columns %s and %s",
              columns[0].name, columns[4].name);
}

static bool is_word(struct slice word) {
  bool right =
      word.length > 0 && (word.at[0] | 32) >= 'a' && (word.at[0] | 32) <= 'z';
  for (size_t i = 1; i < word.length && right; i++)
    right = is_digit(word.at[i]) || word.at[i] == '-' || word.at[i] == '_' ||
            ((word.at[i] | 32) >= 'a' && (word.at[i] | 32) <= 'z');
  return right && word.length < 64;
}

/* Checks that no device has the name. */
static bool is_free(struct gpu_table *t, const struct gpu_cell *cell,
                    struct slice name) {
  const char *several;
  struct gpus found = {t->found.at, t->found.count};
  if (slice_is(name, "all"))
    return fail(t, cell,
                "the name `all` means every device; choose another name");
  if (!gpu_find(&found, name, &several) && !several)
    return true;
  return fail(t, cell, "`%.*s` is a device already; choose another name",
              SLICE_ARG(name));
}

static bool read_name(struct gpu_table *t, const struct gpu_cell *cell) {
  if (is_word(cell->text))
    return is_free(t, cell, cell->text);
  return fail(t, cell,
              "a name has letters, digits, `-` and `_`, and begins with "
              "a letter: `my-card-48`");
}

/* Reads the other names, as `h100|NVIDIA H100`. */
static bool read_names(struct gpu_table *t, const struct gpu_cell *cell) {
  struct slice rest = cell->text;
  while (rest.length) {
    const char *bar = memchr(rest.at, '|', rest.length);
    size_t length = bar ? (size_t)(bar - rest.at) : rest.length;
    if (!is_free(t, cell, (struct slice){rest.at, length}))
      return false;
    rest = slice_from(rest, length + (bar != NULL));
  }
  return true;
}

static bool read_figure(struct gpu_table *t, const struct gpu_cell *cell,
                        int64_t *figure) {
  bool right = true;
  for (size_t i = 0; i < cell->text.length && right; i++) {
    *figure = 10 * *figure + (cell->text.at[i] - '0');
    right = is_digit(cell->text.at[i]) && *figure <= MOST_FIGURE;
  }
  if (right)
    return true;
  return fail(t, cell,
              "`%.*s` should be a whole number of at most %d, or empty if it "
              "is not known",
              SLICE_ARG(cell->text), MOST_FIGURE);
}

static bool check_row(struct gpu_table *t, const struct gpu *gpu,
                      const struct gpu_cell *end) {
  bool many = t->found.count == MOST_DEVICES;
  if (*gpu->word && gpu->mebibytes && gpu->usable <= gpu->mebibytes && !many)
    return true;
  return fail(t, end, "%s",
              many              ? "a table has at most 1000 devices"
              : !*gpu->word     ? "this line has no name"
              : !gpu->mebibytes ? "this line has no card_mib"
                                : "process_mib must not be more than card_mib");
}

static bool read_row(struct gpu_table *t) {
  struct gpu gpu = {"", "", "", .source = ""};
  struct gpu_cell cell;
  int count = 0;
  do {
    if (!next_cell(t, &cell))
      return false;
    if (cell.last && count == 0 && cell.text.length == 0)
      return true; /* an empty line */
    if (count == t->count)
      return fail(
          t, &cell,
          "this line has more columns than the first line, which has %d",
          t->count);
    const struct gpu_column *column = t->of[count++];
    void *at = (char *)&gpu + column->offset;
    if (column == columns && !read_name(t, &cell))
      return false;
    if (column == columns + 1 && !read_names(t, &cell))
      return false;
    if (!column->is_text && !read_figure(t, &cell, at))
      return false;
    if (column->is_text)
      *(const char **)at = arena_copy(t->arena, cell.text.at, cell.text.length);
  } while (!cell.last);
  if (!check_row(t, &gpu, &cell))
    return false;
  *VEC_PUSH(t->arena, &t->found) = gpu;
  return true;
}

bool gpu_read(struct arena *arena, struct slice csv, struct gpus *own,
              struct text *error) {
  struct gpu_table t = {.arena = arena, .csv = csv, .line = 1, .error = error};
  if (csv.length >= 3 && memcmp(csv.at, "\xEF\xBB\xBF", 3) == 0)
    t.at = t.line_start = 3;
  for (size_t i = 0; i < own->count; i++)
    *VEC_PUSH(arena, &t.found) = own->at[i];
  if (!read_header(&t))
    return false;
  while (!at_end(&t))
    if (!read_row(&t))
      return false;
  *own = (struct gpus){t.found.at, t.found.count};
  return true;
}
