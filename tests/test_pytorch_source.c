/*
 * netc import of PyTorch's sources: parameters and output sizes are those of
 * PyTorch, which has run the files (tools/source_truth.py).
 */
#define _XOPEN_SOURCE 700
#include <unistd.h>

#include "tests/csv.h"
#include "tests/imported.h"

#define FOLDER "tests/data/import/pytorch_source/"

enum { NAME, OPTIONS, PARAMETERS, UNUSED, OUTPUT, COLUMNS, MOST = 80 };

/* Values of the net's first output. */
static int64_t output_of(const char *path, const char *source) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_end end = {.size = sizeof end};
  struct netc_layer layer = {.size = sizeof layer};
  assert_int_equal(netc_load_text(netc, path, source, strlen(source)), NETC_OK);
  assert_int_equal(netc_output(netc, 0, &end), NETC_OK);
  assert_int_equal(netc_layer(netc, (size_t)end.layer, &layer), NETC_OK);
  int64_t values = 1;
  for (int i = 0; i < layer.out.rank; i++)
    values *= layer.out.dims[i];
  netc_close(netc);
  return values;
}

static int64_t product_of(const char *sizes) {
  int64_t values = 1;
  for (char *end; *sizes; sizes = *end ? end + 1 : end)
    values *= strtoll(sizes, &end, 10);
  return values;
}

/* The rows of a table of PyTorch's numbers, of which there are at least so
 * many. Free the text after the last use of a row. */
static char *read_truth(const char *path, const char *head, int columns,
                        size_t least, struct row *rows, size_t *count) {
  char *text = read_text(path, NULL);
  assert_true(read_rows(text, head, columns, rows, MOST, count));
  assert_true(*count >= least);
  return text;
}

static void parameters_and_outputs_are_those_of_pytorch(void **state) {
  (void)state;
  static struct row rows[MOST];
  size_t count = 0;
  char *text = read_truth(FOLDER "truth.csv",
                          "# name,options,parameters,unused,output\n", COLUMNS,
                          20, rows, &count);
  for (size_t i = 0; i < count; i++) {
    char path[200], said[80];
    snprintf(path, sizeof path, FOLDER "%s.py", rows[i].at[NAME]);
    char *source = import(path, rows[i].at[OPTIONS]);
    int64_t parameters = strtoll(rows[i].at[PARAMETERS], NULL, 10);
    int64_t unused = strtoll(rows[i].at[UNUSED], NULL, 10);
    if (totals_of(path, source).trainable_count != parameters ||
        output_of(path, source) != product_of(rows[i].at[OUTPUT]))
      print_error("%s %s:\n%s\n", path, rows[i].at[OPTIONS], source);
    assert_int_equal(totals_of(path, source).trainable_count, parameters);
    assert_int_equal(output_of(path, source), product_of(rows[i].at[OUTPUT]));
    snprintf(said, sizeof said, "does not use %lld of the %lld parameters",
             (long long)unused, (long long)(parameters + unused));
    assert_int_equal(strstr(source, "does not use") != NULL, unused > 0);
    if (unused)
      assert_holds(source, said);
    free(source);
  }
  free(text);
}

/* Blocks of a class are one def, loops are loops, and ties are ties. */
static void sources_are_what_a_person_would_write(void **state) {
  (void)state;
  char *source = import(FOLDER "gpt.py", "--input 32");
  assert_string_equal(
      source,
      "net GPT\ninput 32 : i64\ntransformer_wte: embed 65 64 -> 32x64\n"
      "posembed\nrepeat 3 {\n  add {} { ln; attention 4 causal packed }\n"
      "  add {} { ln; linear 256 gelu; linear 64 }\n}\nln\n"
      "linear 65 nobias tie=transformer_wte\n");
  free(source);
  source = import(FOLDER "in_place.py", "");
  assert_string_equal(
      source, "net Net\ninput 8\nfc 16 relu\ndropout 0.2 inplace=on\nfc 16\n"
              "dropout 0.1 inplace=on\ndropout 0.3\nfc 4\n");
  free(source);
  source = import(FOLDER "attention.py", "--input 16x64");
  assert_string_equal(
      source,
      "net Net\ninput 16x64\nadd {} { attention 4 dropout=0.1 packed }\n"
      "add {} { attention 4 dropout=0.2 packed sbhd }\nlinear 10\n");
  free(source);
  expect(NETC " " FOLDER "autoencoder.py --depth 0 --units bytes", 0,
         "\n  files      weights 881,280 B, ",
         "note: the file is read as PyTorch source");
}

/* nn.MultiheadAttention, by need_weights, the order of its axes and its masks.
 */
static void what_is_kept_is_that_of_pytorch(void **state) {
  (void)state;
  enum { VERSION, FILE_NAME, GIVEN, BATCH, SAVED, KEPT_COLUMNS };
  static struct row rows[MOST];
  size_t count = 0;
  char *text =
      read_truth(FOLDER "saved.csv", "# version,name,options,batch,saved\n",
                 KEPT_COLUMNS, 60, rows, &count);
  for (size_t i = 0; i < count; i++) {
    char path[200], options[80];
    snprintf(path, sizeof path, FOLDER "%s.py", rows[i].at[FILE_NAME]);
    snprintf(options, sizeof options, "batch=%s loss=sum profile=torch%c-cpu",
             rows[i].at[BATCH], *rows[i].at[VERSION]);
    char *source = import(path, rows[i].at[GIVEN]);
    int64_t saved = ask(source, options, "saved_bytes");
    if (saved != strtoll(rows[i].at[SAVED], NULL, 10))
      print_error("%s %s %s:\n%s\n", path, rows[i].at[GIVEN], options, source);
    assert_int_equal(saved, strtoll(rows[i].at[SAVED], NULL, 10));
    free(source);
  }
  free(text);
}

/* A file, options, and what is said of it. */
static struct refusal {
  char name[32];
  const char *options, *lines, *says;
} refusals[] = {
    {"no-module", "", "def f(): return 1\n",
     "the file has no class of torch.nn.Module with a `forward`"},
    {"no-class", "--arg class=Nit", "M(4)",
     "--arg class: the file has no class or function `Nit`"},
    {"no-argument", "", "M(n)", "x.py:9: error: `Net` needs arguments"},
    {"way-out", "", "M(n)", "give it: --arg n=VALUE"},
    {"wrong-argument", "--arg n=4 --arg m=2", "M(n)",
     "`Net` has no argument `m`"},
    {"no-input", "", "nn.Conv2d(n, 4, 3)", "give it: --input HEIGHTxWIDTHx7"},
    {"no-length", "", "nn.Embedding(n, 4)", "give it: --input LENGTH\n"},
    {"channels", "--input 8x8x3", "nn.Conv2d(n, 4, 3)",
     "x.py:13: error: conv2d needs 7 channels, but gets sizes (batch, 3, 8, "
     "8)"},
    {"features", "--input 8", "nn.Linear(n, 4)",
     "x.py:13: error: it needs 7 features, but gets sizes (batch, 8)"},
    {"other-library", "--input 4", "einops.Rearrange('b c -> c b')",
     "x.py:10: error: netc does not know `einops`"},
    {"other-file", "--input 4", "Block(4)", "`Block` is in another file"},
    {"unknown-class", "--input 4", "nn.Warp(4)",
     "netc does not know `torch.nn.Warp`"},
    {"generator", "--input 4", "[(yield n)]",
     "x.py:10: error: this statement of Python is not supported"},
    {"values", "--input 4", "M(4) if torch.zeros(1) else M(3)",
     "it depends on the values of a tensor"},
    {"plain-list", "--input 7", "[nn.Linear(n, 4)][0]", NULL},
    {"endless", "--input 4", "[0 for i in range(10 ** 9)]",
     "a list has more than 200000 items"},
    {"long", "--input 4", "[[0 for i in range(9999)] for j in range(9999)]",
     "evaluating it "},
    {"unregistered", "--input 7", "lambda x, l=nn.Linear(7, 4): l(x)",
     "it has parameters that PyTorch does not register: use nn.ModuleList"},
    {"large-list", "--input 4", "[0] * 10 ** 9", "more than 200000 items"},
    {"deep", "--input 4", "recurse(n)", "nested too deep"},
    {"large-text", "--input 4", "'x' * 10 ** 9", "more than "},
    {"large-number", "--input 4", "2 ** 10 ** 9", "a number is too large"},
    {"large-tensor", "--input 4", "nn.Linear(10 ** 12, 4)", "is not supported"},
    {"zero", "--input 4", "nn.Linear(n // 0, 4)", "it divides by zero"},
    {"built-in", "--input 4", "open('x').read()",
     "x.py:10: error: `open` reads a file, and netc reads none but those that "
     "are imported: give what it would read by --arg"},
    {"executes", "--input 4", "eval('1')",
     "`eval` executes text, and netc executes nothing"},
    {"loads", "--input 4", "torch.load('x')",
     "`torch.load` reads files, and netc reads none"},
    {"undefined", "--input 4", "layer(n)", "`layer` is not defined"},
};

/* The class, whose layer is as the row says; M(4) is a Linear. */
static void write_refused(const char *path, const char *lines) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  bool needs = strchr(lines, '(') && strstr(lines, "M(n)");
  fprintf(file, "import torch\nimport torch.nn as nn\nimport einops\n"
                "from .blocks import Block\ndef M(n): return nn.Linear(n, 3)\n"
                "def recurse(n): return recurse(n + 1)\n");
  if (strncmp(lines, "def", 3) == 0)
    fprintf(file, "%s", lines);
  else
    fprintf(file,
            "\nclass Net(nn.Module):\n    def __init__(self, n%s):\n"
            "        self.layer = %s\n\n    def forward(self, x):\n"
            "        return self.layer(x)\n",
            needs ? "" : "=7", lines);
  assert_int_equal(fclose(file), 0);
}

static void check_refusal(void **state) {
  const struct refusal *c = *state;
  const char *folder = scratch("refusals");
  char path[300];
  snprintf(path, sizeof path, "%s/x.py", folder);
  write_refused(path, c->lines);
  struct run r = run("timeout 20 " NETC " import %s %s -o %s/x.net", path,
                     c->options, folder);
  if (c->says)
    assert_holds(r.err, c->says);
  assert_int_equal(r.status, c->says ? 1 : 0);
  run_free(&r);
}

/* A program in a folder: files as "NAME: line; line|NAME: ..", and what is said
 * of net.py, whose layer is `B(4)`. */
static const struct program {
  const char *files, *says;
} programs[] = {
    {"a.py:import torch.nn as nn;B = lambda n: nn.Linear(n, 3)|"
     "net.py:from a import *",
     NULL},
    {"net.py:from .a import B",
     "`B` is in another file, which is not there: a"},
    {"net.py:from .a import *", "net.py:6: error: `B` is not defined: `*` is "
                                "in another file, which is not "
                                "there: a"},
    {"a.py:C = 1|net.py:from a import B", "/a.py has no such name"},
    {"a.py:C = 1|net.py:import a;B = lambda n: a.D", "/a.py has no `D`"},
    {"a.py:from net import N;from b import C;B = C|b.py:from a import B;"
     "import torch.nn as nn;C = lambda n: nn.Linear(n, 3)|"
     "net.py:from a import B",
     NULL},
    {"a.py:import torch.nn as nn;;def B(n): return nn.Conv2d(n, 3, 1)|"
     "net.py:from a import B",
     "error: conv2d needs a tensor with 4 axes"},
    {"a.py:;;def B(n): return n.size|net.py:from a import B",
     "/a.py:3: error: `size` of an int is not supported"},
    {"a.py:from outside import C;B = C|net.py:from a import B",
     "/outside.py is a link out of the folder, which netc does not "
     "follow"},
    {"net.py:from ....a import B;from .....c import C", "is in another file"},
};

static void write_program(const char *folder, const char *files) {
  while (*files) {
    char path[300];
    size_t name = strcspn(files, ":");
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)name, files);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (files += name + 1; *files && *files != '|'; files++)
      fputc(*files == ';' ? '\n' : *files, file);
    files += *files == '|';
    if (strncmp(path + strlen(folder), "/net.py", 7) == 0)
      fprintf(file, "\nfrom torch.nn import Module\nclass Net(Module):\n"
                    "    def __init__(self):\n"
                    "        super().__init__()\n"
                    "        self.layer = B(4)\n"
                    "    def forward(self, x):\n"
                    "        return self.layer(x)\n");
    assert_int_equal(fclose(file), 0);
  }
}

static void check_program(void **state) {
  const struct program *c = *state;
  char name[32], outside[300], link[300], target[300];
  snprintf(name, sizeof name, "program%d", (int)(c - programs));
  const char *folder = scratch(name);
  snprintf(outside, sizeof outside, "%s.py", folder);
  snprintf(link, sizeof link, "%s/outside.py", folder);
  snprintf(target, sizeof target, "..%s", strrchr(outside, '/'));
  FILE *file = fopen(outside, "w");
  assert_non_null(file);
  fputs("C = 1\n", file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(symlink(target, link), 0);
  write_program(folder, c->files);
  struct run r = run("timeout 20 " NETC " import %s/net.py --input 4 -o "
                     "%s/x.net",
                     folder, folder);
  if (c->says)
    assert_holds(r.err, c->says);
  if (r.status != (c->says ? 1 : 0))
    print_error("%s:\n%s", c->files, r.err);
  assert_int_equal(r.status, c->says ? 1 : 0);
  run_free(&r);
}

static void files_of_a_program_are_read(void **state) {
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    *state = (void *)&programs[i];
    check_program(state);
  }
}

/* make builds again when a file changes that the given one imports. */
static void dependencies_are_all_files(void **state) {
  (void)state;
  const char *folder = scratch("dependencies");
  struct run r = run(NETC " " FOLDER "parts/net.py --input 32x32x3 -MF %s/x.d "
                          "-o %s/x.json && cat %s/x.d",
                     folder, folder, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "/parts/net.py \\\n");
  assert_holds(r.out, "/parts/head.py");
  assert_holds(r.out, "/parts/blocks/sizes.py");
  run_free(&r);
}

/* Found by name in all modules: a and its parameters. */
static void frozen_parameters_are_noted(void **state) {
  (void)state;
  static const char *const freezes[] = {
      "for n, p in self.named_parameters():\n"
      "            if n.startswith('a.'):\n"
      "                p.requires_grad = False\n",
      "for n, p in self.named_parameters():\n"
      "            p.requires_grad_('b.' in n)\n",
      "[m.requires_grad_(False) for n, m in self.named_modules() if n == "
      "'a']\n"};
  const char *folder = scratch("frozen");
  for (size_t i = 0; i < sizeof freezes / sizeof *freezes; i++) {
    struct run r =
        run("cat >%s/net.py <<'END'\nimport torch.nn as nn\n"
            "class Net(nn.Module):\n    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.a, self.b = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3)\n"
            "        %s    def forward(self, x):\n"
            "        return self.b(self.a(x))\nEND\n" NETC
            " import %s/net.py --input 16x16x3",
            folder, freezes[i], folder);
    assert_int_equal(r.status, 0);
    assert_holds(r.out, "# 224 of the 516 parameters have requires_grad=False "
                        "and are trained here: write `frozen` after their "
                        "layers.\n");
    run_free(&r);
  }
}

/* The source calls the inputs at_a and at_b, as its layers are a and b. */
static void sizes_of_several_inputs_are_those_of_the_file(void **state) {
  (void)state;
  const char *folder = scratch("inputs");
  struct run r =
      run("cat >%s/two.py <<'END'\nimport torch.nn as nn\n"
          "class Two(nn.Module):\n    def __init__(self):\n"
          "        super().__init__()\n"
          "        self.a, self.b = nn.Linear(10, 4), nn.Linear(20, 4)\n"
          "    def forward(self, a, b):\n"
          "        return self.a(a) + self.b(b)\nEND\n"
          "echo 'input 8; fc 4' >%s/one.net; cd %s\n"
          "both='--input a=1x10 --input b=1x20' netc=$OLDPWD/" NETC "\n"
          "$netc two.py $both && $netc two.py --predict $both -o x.json &&"
          "$netc params two.py $both && $netc weights two.py $both &&"
          "$netc diff two.py two.py $both && $netc check two.py two.py $both &&"
          "$netc sweep two.py --batch 1,2 $both && $netc import two.py $both",
          folder, folder, folder);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "Two   128 parameters\n");
  assert_holds(r.out, "two.py has no `param`\n");
  assert_holds(r.out, "input at_b 1x20\n");
  run_free(&r);
  r = run("cd %s && netc=$OLDPWD/" NETC "\n"
          "$netc check two.py one.net --input a=10 --input b=20; "
          "$netc two.py --input a=10 --input b=20 --input c=3; "
          "$netc import two.py --input a=10 --input b=20 --input c=3",
          folder);
  assert_holds(r.err, "the source has no input `a`; its only one is `input`\n");
  assert_holds(r.err, "netc: the source has no input `c`\n");
  assert_holds(r.err, "netc: --input: the file has no input `c`\n");
  assert_string_equal(r.out, "");
  run_free(&r);
}

static void folders_are_read_or_named(void **state) {
  (void)state;
  expect(NETC " check " FOLDER "parts --input 32x32x3", 0, NULL,
         "parts: note: it is a folder; netc reads __init__.py in it\n");
  expect(NETC " " FOLDER, 3, "", "did you mean `netc " FOLDER "attention.py`?");
  expect(NETC " plan " FOLDER, 3, "", "it is a folder, not a file\n");
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(parameters_and_outputs_are_those_of_pytorch),
      cmocka_unit_test(sources_are_what_a_person_would_write),
      cmocka_unit_test(what_is_kept_is_that_of_pytorch),
      cmocka_unit_test(files_of_a_program_are_read),
      cmocka_unit_test(frozen_parameters_are_noted),
      cmocka_unit_test(sizes_of_several_inputs_are_those_of_the_file),
      cmocka_unit_test(folders_are_read_or_named),
      cmocka_unit_test(dependencies_are_all_files)};
  return run_table("pytorch source", refusals,
                   sizeof refusals / sizeof *refusals, sizeof *refusals,
                   check_refusal, others, sizeof others / sizeof *others);
}
