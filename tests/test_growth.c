/*
 * How the work of the compiler grows with its sources. Not seconds are
 * measured but the basic blocks that the library runs, which the compiler
 * that built it counts (-fsanitize-coverage=trace-pc), and the bytes that
 * it asks for: the same on every machine. Each source is compiled in three
 * sizes, of which each is twice the one before; what the second doubling
 * adds must be about twice what the first adds, whatever both rest on.
 */

#include "netc.h"
#include "netc_edit.h"
#include "tests/run.h"

enum { MOST_GROWTH = 240 }; /* percent; twice is linear, four times square */

static uint64_t steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
  steps++;
}

/* Memory */

struct heap {
  uint64_t bytes; /* asked for, all in all */
  uint64_t now;   /* and not given back */
  uint64_t most;  /* of that */
};

struct header {
  _Alignas(16) size_t size;
};

static void *resize(void *user, void *old, size_t size) {
  struct heap *heap = user;
  struct header *block = old ? (struct header *)old - 1 : NULL;
  heap->now -= block ? block->size : 0;
  if (size == 0) {
    free(block);
    return NULL;
  }
  block = realloc(block, sizeof *block + size);
  assert_non_null(block);
  block->size = size;
  heap->bytes += size;
  heap->now += size;
  heap->most = heap->now > heap->most ? heap->now : heap->most;
  return block + 1;
}

/* Sources */

struct source {
  char *at;
  size_t length, room;
};

static void put(struct source *source, const char *bytes, size_t length) {
  if (source->room - source->length < length + 1) {
    source->room = (source->room + length) * 2 + 1024;
    source->at = realloc(source->at, source->room);
    assert_non_null(source->at);
  }
  memcpy(source->at + source->length, bytes, length);
  source->length += length;
  source->at[source->length] = '\0';
}

/* Copies a text; `@` becomes a number. */
static void put_numbered(struct source *source, const char *text, int number) {
  char digits[16];
  int length = snprintf(digits, sizeof digits, "%d", number);
  for (; *text; text++)
    if (*text == '@')
      put(source, digits, (size_t)length);
    else
      put(source, text, 1);
}

/* A family of sources, by size. */
struct family {
  char name[64];
  int size;
  const char *head; /* `@` is the size */
  const char *part; /* that often; `@` counts upwards */
  const char *back; /* and then this; `@` counts downwards */
  const char *foot;
  const char *options; /* "batch=8", of netc_set; "check", of netc_mode */
  const char *output;  /* "names": netc_name_at; "place": netc_place; NULL: it
                          is only checked */
};

static struct source source_of(const struct family *f, int size) {
  struct source source = {0};
  put_numbered(&source, f->head, size);
  for (int i = 0; f->part && i < size; i++)
    put_numbered(&source, f->part, i);
  const char *back = f->back, *once = back ? strchr(back, '^') : NULL;
  if (once) {
    put(&source, back, (size_t)(once - back));
    back = once + 1;
  }
  for (int i = size; back && i-- > 0;)
    put_numbered(&source, back, i);
  put_numbered(&source, f->foot ? f->foot : "\n", size);
  return source;
}

static const struct family families[] = {
    {"skips with line buffers", 250,
     "input 8x8x4\nfor i in 1..@ { a[i]: conv 4 1x1 }\n"
     "for i in @..1 step -1 { add a[i] {} }\n",
     NULL, NULL, NULL, "patches=auto", NULL},
    {"a long line of layers, each with a warning", 200, "input 8x8x8\n",
     "conv 8 3x3 pad bias bn relu;", NULL, NULL, NULL, NULL},
    {"a long line of layers, each with a warning in JSON", 200, "input 8x8x8\n",
     "conv 8 3x3 pad bias bn relu;", NULL, NULL, "messages as JSON", NULL},
    {"a long tail, each layer with a warning", 500, "input 8x8x8\nconv 8 1x1",
     " relu", NULL, NULL, NULL, NULL},
    {"a long tail", 2000, "input 8x8x8\nconv 8 1x1", " gelu silu", NULL, NULL,
     NULL, NULL},
    {"a long tail in canonical form", 2000, "input 8x8x8\nconv 8 1x1",
     " gelu silu", NULL, NULL, NULL, "fmt"},
    {"a long line in canonical form", 1000, "input 8x8x8\n",
     "conv 8 3x3 pad bn relu;", NULL, NULL, NULL, "fmt"},
    {"lines with their shapes", 1000, "input 8x8x8\n",
     "conv 8 3x3 pad bn relu\n", NULL, NULL, NULL, "fmt-shapes"},
    {"constants, and a wrong name in a loop", 1600, "input 8\n",
     "let value_@ = @\n", NULL, "repeat @ { linear wrong_name }\n", NULL, NULL},
    {"constants, and a wrong layer in a loop", 200, "input 8\n",
     "def value_@() { relu }\n", NULL, "repeat @ { wrong_name 3 }\n", NULL,
     NULL},
    {"labels, and a wrong label in a loop", 200, "input 8\n", "value_@: relu\n",
     NULL, "repeat @ { from wrong_name }\n", NULL, NULL},
    {"a call by name", 1000, "def f(b = 1", ", a@ = 1",
     ") { relu }\ninput 8\nf^ a@=2", NULL, "check", NULL},
    {"a call by position", 1000, "def f(b = 1", ", a@ = 1",
     ") { relu }\ninput 8\nf^ 2", NULL, "check", NULL},
    {"a call of defaults", 1000, "def f(b = 1", ", a@ = 1", NULL,
     ") { relu }\ninput 8\nf\n", "check", NULL},
    {"parameters", 1000, "input 8\n", "param a@ = 1\n", NULL, NULL, "check",
     NULL},
    {"a chain on a device", 2000, "input 8x8x8\n", "conv 8 3x3 pad\n", NULL,
     NULL, "memory=1GiB", "txt"},
    {"remainders of one map", 1000, "input 9x9x8\n",
     "conv 8 3x3 pad\nfork { pool 2x2 }\n", NULL, NULL, NULL, NULL},
    {"branches, too many for a search", 3000, "input 8\nadd",
     " { linear 9; linear 8 }", NULL, NULL, NULL, "csv"},
    {"outputs with a softmax before a loss", 3000, "input 8\n",
     "fork { linear 8 softmax; output o@ }\n", NULL,
     "linear 8 softmax\noutput z\n", "loss=crossentropy", "csv"},
    {"skips inside each other", 3000, "input 8x8x8\n", "s@: conv 8 3x3 pad\n",
     "add s@\nconv 8 3x3 pad\n", NULL, NULL, "json"},
    {"one far tensor added", 1000, "input 8x8x8\na: conv 8 1x1\n",
     "conv 8 1x1\nadd a\n", NULL, NULL, NULL, "json"},
    {"residual blocks below one skip", 3000,
     "input 8x8x8\na: conv 8 1x1\n"
     "repeat @ { add { conv 8 1x1; relu } {} }\nadd a\n",
     NULL, NULL, NULL, NULL, "csv"},
    {"py of a loop, a class for its turns", 100,
     "input 8x8x8\nrepeat @ { conv 8 3x3 pad bn; conv 8 1x1 bn relu }\n", NULL,
     NULL, NULL, NULL, "py"},
    {"py of a def, a class for its calls", 100,
     "def f(c) { conv c 3x3 pad; if c > 8 { bn } }\ninput 8x8x8\n",
     "f 8; f 9\n", NULL, NULL, NULL, "py"},
    {"names, each used once", 1000, "input 8\n",
     "let value_@ = 8\nlinear value_@\n", NULL, NULL, "check", "names"},
    {"names, each used in a def before it", 1000, "input 8\n",
     "def f_@(a, b=2) { linear value_@ }\n", "let value_@ = 8\nf_@ 3 b=4\n",
     NULL, "check", "names"},
    /* Most traces of smaller nets are remembered. */
    {"place one join of many labels", 2500,
     "input 8x8x4\nfor i in 1..@ { a[i]: conv 4 1x1 }\nadd a[1..@]\n", NULL,
     NULL, NULL, NULL, "place"},
    {"place many heads and one join", 2500,
     "input 8x8x4\nfor i in 1..@ { a[i]: conv 4 1x1; fork { fc 4 } }\n"
     "add a[1..@]\n",
     NULL, NULL, NULL, NULL, "place"},
    {"place far skips", 2500,
     "input 8x8x4\nfor i in 1..@ { a[i]: conv 4 1x1 }\n"
     "for i in @..1 step -1 { add a[i] {} }\n",
     NULL, NULL, NULL, NULL, "place"},
};

/* Diagrams: `output` lists those that are drawn of a family. */
static const struct family drawn[] = {
    {"far skips", 350, "input 8x8x4\nfor i in 1..@ { a[i]: conv 4 1x1 }\n",
     NULL, NULL, "for i in @..1 step -1 { add a[i] {} }\n", NULL,
     "svg dot pdf html mmd"},
    {"far skips", 100, "input 8x8x4\nfor i in 1..@ { a[i]: conv 4 1x1 }\n",
     NULL, NULL, "for i in @..1 step -1 { add a[i] {} }\n", NULL,
     "tex"}, /* of at most 1,000 boxes */
    {"one join of many labels", 650,
     "input 8x8x4\nfor i in 1..@ { a[i]: relu }\n", NULL, NULL, "add a[1..@]\n",
     NULL, "svg dot pdf html mmd volumes.svg"},
    {"one join of many labels", 200,
     "input 8x8x4\nfor i in 1..@ { a[i]: relu }\n", NULL, NULL, "add a[1..@]\n",
     NULL, "tex"},
    {"lines with names, each another", 700, "input 8x8x4\n",
     "a@: conv 4 1x1 leaky(0.@)\n", NULL, NULL, NULL, "svg pdf dot html"},
    {"lines with names, and skips", 2000, "input 8x8x4\n",
     "a@: conv 4 1x1 leaky(0.@); conv 4 1x1; concat {} { from a@ }\n", NULL,
     NULL, NULL, "svg pdf"},
    {"branches of one join", 650, "input 8x8x4\nconcat", " { conv 4 1x1 }",
     NULL, NULL, NULL, "svg mmd"},
    {"outputs", 350, "input 8x8x4\n",
     "fork { conv 2 1x1; output o@ }\nconv 4 3x3 pad\n", NULL, NULL, NULL,
     "dot"},
    {"blocks of two layers, each another", 250, "input 8x8x4\n",
     "add {} { conv 4 3x3 pad leaky(0.@); conv 4 3x3 pad }\n", NULL, NULL, NULL,
     "html"},
    {"blocks of two layers, each another", 60, "input 8x8x4\n",
     "add {} { conv 4 3x3 pad leaky(0.@); conv 4 3x3 pad }\n", NULL, NULL, NULL,
     "tex"},
    {"residual blocks", 300, "", NULL, NULL,
     "input 8x8x4\nrepeat @ { add {} { conv 4 3x3 pad relu } }\n", NULL,
     "svg pdf"},
};

/*
 * Searches whose work depends on more than the size. The bound is in times
 * what a plain net of a thousand lines takes.
 */
static const struct family plain = {
    "plain lines", 1000, "input 8x8x8\n", "conv 8 3x3 pad\n", NULL, NULL,
    NULL,          NULL};
static const struct bounded {
  struct family family;
  uint64_t times;
} searches[] = {
    {{"checkpoints are chosen for many batches", 300, "input 8x8x8\n",
      "conv 8 3x3 pad\n", NULL, "train batch=100 checkpoint=auto\n",
      "memory=440MiB", "txt"},
     120},
    {{"sizes without remainders, of many inputs", 1000, "",
      "input i@ 9x9x8\npool 2x2\nl@: gap\n", NULL, "add l0 l1\n", NULL, NULL},
     30},
    {{"sizes without remainders", 1,
      "input 8000 x 1\nconv 32 80 /16 bn relu\npool 4\n"
      "repeat 3 { conv 64 3 bn relu; pool 4 }\ngap\nfc 35\n",
      NULL, NULL, NULL, NULL, NULL},
     2},
};

/*
 * What a layer costs beside those before: at most so much, with room for what
 * another compiler or a sanitizer adds.
 */
static const struct cost_of_a_layer {
  struct family family;
  uint64_t steps, bytes;
} costs[] = {
    {{"check, repeated", 8192, "input 8x8x8\nrepeat @ { conv 8 3x3 pad }\n",
      NULL, NULL, NULL, "check", NULL},
     330,
     370},
    {{"json, repeated", 8192, "input 8x8x8\nrepeat @ { conv 8 3x3 pad }\n",
      NULL, NULL, NULL, NULL, "json"},
     1700,
     640},
    {{"check, written", 8192, "input 8x8x8\n", "conv 8 3x3 pad\n", NULL, NULL,
      "check", NULL},
     1800,
     450},
    {{"json, written", 8192, "input 8x8x8\n", "conv 8 3x3 pad\n", NULL, NULL,
      NULL, "json"},
     3300,
     720},
    {{"check, written with labels", 8192, "input 8x8x8\n",
      "layer_@: conv 8 3x3 pad\n", NULL, NULL, "check", NULL},
     2250,
     870},
    {{"check, written, each line another", 8192, "input 8x8x8\n",
      "conv 8 3x3 pad leaky(0.@)\n", NULL, NULL, "check", NULL},
     4200,
     1850},
    {{"a warning in a loop", 8192,
      "input 8\nfor i in 1..@ { warn \"{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}\" }\n",
      NULL, NULL, NULL, "check", NULL},
     850,
     1},
    {{"calls of a def with twenty parameters", 4096,
      "def f(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, "
      "b6, b7, b8, b9) {}\ninput 8\nrepeat @ { f 1 2 3 4 5 6 7 8 9 0 1 2 3 "
      "4 5 6 7 8 9 b9=0 }\n",
      NULL, NULL, NULL, "check", NULL},
     4200,
     500},
    {{"calls of an empty def", 8192, "def f() {}\ninput 8\nrepeat @ { f }\n",
      NULL, NULL, NULL, "check", NULL},
     300,
     190},
    {{"py, repeated", 8192, "input 8x8x8\nrepeat @ { conv 8 3x3 pad }\n", NULL,
      NULL, NULL, NULL, "py"},
     14500,
     4300},
    {{"py, written", 4096, "input 8x8x8\n", "conv 8 3x3 pad\n", NULL, NULL,
      NULL, "py"},
     16500,
     4300},
    {{"py, layers that are nothing in Python", 4096,
      "input 8x8x8\nrepeat @ { reshape 8x8x8 }\n", NULL, NULL, NULL, NULL,
      "py"},
     2800,
     1400},
    {{"h, repeated", 4096, "input 8x8x4\nrepeat @ { conv 4 1x1 }\n", NULL, NULL,
      NULL, NULL, "h"},
     16000,
     2700},
    {{"c, repeated", 4096, "input 8x8x4\nrepeat @ { conv 4 1x1 }\n", NULL, NULL,
      NULL, NULL, "c"},
     4400,
     2400},
    {{"md, repeated", 4096, "input 8x8x4\nrepeat @ { conv 4 1x1 }\n", NULL,
      NULL, NULL, NULL, "md"},
     1600,
     900},
    {{"net, repeated", 4096, "input 8x8x4\nrepeat @ { conv 4 1x1 }\n", NULL,
      NULL, NULL, NULL, "net"},
     1900,
     900},
    {{"json, residual blocks of six layers", 1024,
      "input 8x8x8\nrepeat @ {\n"
      "  add {} { conv 8 3x3 pad relu; conv 8 3x3 pad } relu\n}\n",
      NULL, NULL, NULL, NULL, "json"},
     10500,
     2700},
    {{"json, transformers of eight layers", 1024,
      "input 8x8\nrepeat @ {\n  add {} { ln; attention 4 }\n"
      "  add {} { ln; linear 32 gelu; linear 8 }\n}\n",
      NULL, NULL, NULL, NULL, "json"},
     19000,
     7000},
    {{"json, a list that grows by a layer at a time", 1024,
      "input 8x8x8\nrepeat @ { concat {} { conv 1 3x3 pad } }\n", NULL, NULL,
      NULL, NULL, "json"},
     150000,
     3100},
};

/* Reports that were slow, and what they spent it on. */
static const struct file_cost {
  const char *path;
  uint64_t steps;
} files[] = {
    {"examples/resnet50.net", 1500000},        /* largest batches */
    {"examples/zoo/dit.net", 4000000},         /* an order that is best */
    {"examples/zoo/qwen3_moe.net", 6500000},   /* names of parameters */
    {"examples/zoo/stylegan2_g.net", 2500000}, /* an order, for 2 KB */
    {"examples/zoo/wavenet.net", 3500000},     /* an order */
};

struct work {
  uint64_t steps, bytes, most;
};

static bool drop(void *user, const char *bytes, size_t length) {
  (void)user;
  (void)bytes;
  (void)length;
  return true;
}

static void choose(struct netc *netc, const char *option) {
  char key[64];
  const char *value = strchr(option, '=');
  if (strcmp(option, "check") == 0) {
    assert_int_equal(netc_mode(netc, NETC_FOR_CHECK), NETC_OK);
    return;
  }
  assert_non_null(value);
  snprintf(key, sizeof key, "%.*s", (int)(value - option), option);
  assert_int_equal(netc_set(netc, key, value + 1), NETC_OK);
}

static struct work compile(const struct family *f, int size) {
  struct heap heap = {0};
  struct source source = source_of(f, size);
  enum netc_style style = NETC_STYLE_TEXT;
  uint64_t before = steps;
  struct netc *netc = netc_open(resize, &heap);
  assert_non_null(netc);
  if (f->options && strcmp(f->options, "messages as JSON") == 0)
    style = NETC_STYLE_JSON;
  else if (f->options)
    choose(netc, f->options);
  enum netc_status status =
      netc_load_text(netc, "grown.net", source.at, source.length);
  for (size_t i = 0; i < netc_diagnostic_count(netc); i++)
    netc_diagnostic_emit(netc, i, style, drop, NULL);
  if (f->output)
    assert_int_equal(status, NETC_OK);
  if (f->output && strcmp(f->output, "names") == 0) {
    struct netc_name name = {.size = sizeof name};
    assert_int_equal(netc_name_at(netc, 0, &name), NETC_OK);
  } else if (f->output && strcmp(f->output, "place") == 0) {
    const struct netc_place_options on = {.size = sizeof on, .gpus = "8xt4"};
    struct netc_placing placing = {.size = sizeof placing};
    assert_int_equal(netc_place(netc, &on, &placing), NETC_OK);
  } else if (f->output) {
    assert_int_equal(netc_emit(netc, f->output, NULL, drop, NULL), NETC_OK);
  }
  netc_close(netc);
  free(source.at);
  assert_int_equal(heap.now, 0);
  return (struct work){steps - before, heap.bytes, heap.most};
}

/* Percent by which the second doubling adds more than the first. */
static uint64_t growth(const char *what, uint64_t one, uint64_t two,
                       uint64_t four) {
  assert_true(two > one && four > two);
  uint64_t result = (four - two) * 100 / (two - one);
  if (getenv("GROWTH"))
    printf("%10ju %10ju %10ju %s, %ju %%\n", (uintmax_t)one, (uintmax_t)two,
           (uintmax_t)four, what, (uintmax_t)result);
  return result;
}

static void work_grows_with_the_size(void **state) {
  const struct family *f = *state;
  struct work one = compile(f, f->size), two = compile(f, f->size * 2),
              four = compile(f, f->size * 4);
  uint64_t of_steps = growth("steps", one.steps, two.steps, four.steps);
  uint64_t of_bytes = growth("bytes", one.bytes, two.bytes, four.bytes);
  assert_in_range(of_steps, 0, MOST_GROWTH);
  assert_in_range(of_bytes, 0, MOST_GROWTH);
}

static void searches_end_soon(void **state) {
  (void)state;
  uint64_t unit = compile(&plain, plain.size).steps;
  for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
    const struct bounded *b = &searches[i];
    struct work work = compile(&b->family, b->family.size);
    if (getenv("GROWTH"))
      printf("%10ju steps of %ju: %s\n", (uintmax_t)work.steps, (uintmax_t)unit,
             b->family.name);
    assert_in_range(work.steps, 0, b->times * unit);
  }
}

static void a_layer_costs_little(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
    const struct cost_of_a_layer *c = &costs[i];
    int size = c->family.size;
    struct work one = compile(&c->family, size),
                two = compile(&c->family, 2 * size);
    uint64_t more = (two.steps - one.steps) / (uint64_t)size;
    uint64_t bytes = (two.most - one.most) / (uint64_t)size;
    if (getenv("GROWTH"))
      printf("%10ju steps %6ju bytes a layer: %s\n", (uintmax_t)more,
             (uintmax_t)bytes, c->family.name);
    assert_in_range(more, 0, c->steps);
    assert_in_range(bytes, 0, c->bytes);
  }
}

static void reports_end_soon(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    uint64_t before = steps;
    struct netc *netc = netc_open(NULL, NULL);
    assert_non_null(netc);
    assert_int_equal(netc_load_file(netc, files[i].path), NETC_OK);
    assert_int_equal(netc_emit(netc, "txt", NULL, drop, NULL), NETC_OK);
    netc_close(netc);
    if (getenv("GROWTH"))
      printf("%10ju steps: %s\n", (uintmax_t)(steps - before), files[i].path);
    assert_in_range(steps - before, 0, files[i].steps);
  }
}

static bool never(void *user, const char *bytes, size_t length) {
  fail_msg("written: %.*s", (int)length, bytes);
  return user != NULL;
}

/* An output too large to look at is refused with a way out, before any work. */
static void a_diagram_has_a_limit(void **state) {
  static const struct family f = {
      "",   50001, "input 8x8x4\n", "a@: conv 4 1x1 leaky(0.@)\n", NULL, NULL,
      NULL, NULL};
  static const char *const kinds[] = {"svg", "pdf", "dot", "html"};
  struct source source = source_of(&f, f.size);
  struct netc *netc = netc_open(NULL, NULL);
  (void)state;
  assert_non_null(netc);
  assert_int_equal(netc_load_text(netc, "x.net", source.at, source.length),
                   NETC_OK);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    assert_int_equal(netc_emit(netc, kinds[i], NULL, never, NULL), NETC_ERROR);
    assert_non_null(strstr(netc_message(netc), "50,002 boxes"));
    assert_non_null(strstr(netc_message(netc), "--depth"));
  }
  static const char *const code[] = {"c", "h", "py"};
  for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
    assert_int_equal(netc_emit(netc, code[i], NULL, never, NULL), NETC_ERROR);
    assert_non_null(strstr(netc_message(netc), "at most 20,000"));
  }
  assert_int_equal(netc_emit(netc, "csv", NULL, drop, NULL), NETC_OK);
  netc_close(netc);
  free(source.at);
}

/* A short source that asks for gigabytes ends with the limit's name. */
static void joins_end_before_memory_does(void **state) {
  static const struct family f = {
      "chains of joins by labels",
      5000,
      "input 8x8x4\na[0]: conv 4 1x1\n"
      "for i in 1..@ { b: concat a[0..i-1]\na[i]: conv 4 1x1 }\n",
      NULL,
      NULL,
      NULL,
      NULL,
      NULL};
  (void)state;
  struct work work = compile(&f, f.size);
  assert_in_range(work.most, 0, 200000000);
  struct source source = source_of(&f, f.size);
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_diagnostic d = {.size = sizeof d};
  assert_int_equal(netc_load_text(netc, "x.net", source.at, source.length),
                   NETC_ERROR);
  assert_int_equal(netc_diagnostic(netc, 0, &d), NETC_OK);
  assert_non_null(strstr(d.message, "more than 20,000,000 steps"));
  netc_close(netc);
  free(source.at);
}

enum { WRITTEN = sizeof families / sizeof *families, MOST_DRAWN = 40 };

/* Each family of diagrams with each of its outputs; returns the end. */
static struct family *add_drawn(struct family *row) {
  static char kinds[MOST_DRAWN][16];
  size_t count = 0;
  for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
    for (const char *at = drawn[i].output; *at; at += strspn(at, " ")) {
      size_t length = strcspn(at, " ");
      assert_true(count < MOST_DRAWN && length < sizeof *kinds);
      memcpy(kinds[count], at, length);
      *row = drawn[i];
      row->output = kinds[count++];
      snprintf(row->name, sizeof row->name, "%.40s as %.9s", drawn[i].name,
               row->output);
      row++;
      at += length;
    }
  return row;
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(searches_end_soon),
      cmocka_unit_test(a_layer_costs_little),
      cmocka_unit_test(reports_end_soon),
      cmocka_unit_test(a_diagram_has_a_limit),
      cmocka_unit_test(joins_end_before_memory_does)};
  struct family rows[WRITTEN + MOST_DRAWN];
  memcpy(rows, families, sizeof families);
  size_t count = (size_t)(add_drawn(rows + WRITTEN) - rows);
  return run_table("growth", rows, count, sizeof *rows,
                   work_grows_with_the_size, others, 5);
}
