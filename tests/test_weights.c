/*
 * Weights: names and shapes against those of PyTorch's modules
 * (tools/weight_truth.py), flattened maps, the block of a prediction, and
 * what `netc weights` does with files.
 */
#include <glob.h>

#include "tests/nets.h"

static struct netc *load_text(const char *text) {
  struct netc *netc = netc_open(NULL, NULL);
  enum netc_status loaded = netc_load_text(netc, "net", text, strlen(text));
  assert_int_equal(show_errors(netc, loaded), NETC_OK);
  return netc;
}

/* "8x3x3" */
static void put_sizes(char *to, size_t room, int count, const int64_t *sizes) {
  *to = '\0';
  for (int i = 0; i < count; i++)
    snprintf(to + strlen(to), room - strlen(to), "%s%lld", i ? "x" : "",
             (long long)sizes[i]);
}

/* Names. */

struct named {
  char *net, *tensors;
};

/* The output of netc, as tests/data/weights/names.txt has it. */
static void check_names(void **state) {
  const struct named *named = *state;
  struct netc *netc = load_text(named->net);
  struct netc_weight weight = {.size = sizeof weight};
  char found[4096] = "", sizes[128];
  for (size_t i = 0; netc_weight(netc, i, &weight) == NETC_OK; i++) {
    size_t used = strlen(found);
    put_sizes(sizes, sizeof sizes, weight.rank, weight.dims);
    snprintf(found + used, sizeof found - used, "  %s %s\n", weight.name,
             sizes);
  }
  assert_string_equal(found, named->tensors);
  netc_close(netc);
}

/* A case is a line, and those behind it that begin with blanks. */
static size_t read_cases(char *text, struct named *cases, size_t most) {
  size_t count = 0;
  while (*text && count < most) {
    struct named *named = &cases[count++];
    named->net = text;
    text += strcspn(text, "\n");
    *text++ = '\0';
    named->tensors = text;
    while (*text == ' ')
      text += strcspn(text, "\n") + 1;
    char *copy = malloc((size_t)(text - named->tensors) + 1);
    memcpy(copy, named->tensors, (size_t)(text - named->tensors));
    copy[text - named->tensors] = '\0';
    named->tensors = copy;
  }
  return count;
}

/* Where values of netc's order lie in files. */

struct lying {
  const char *name, *net;
  size_t tensor;
  const char *dims, *strides;
  int64_t first;
};

static const struct lying lyings[] = {
    {"a-convolution", "input 9x9x4; conv 6 3x2", 0, "3x2x4x6", "2x1x6x24", 0},
    {"a-transposed-convolution-of-groups", "input 9x9x4; deconv 6 3x2 groups=2",
     0, "3x2x2x2x3", "2x1x18x36x6", 0},
    {"a-flattened-map", "input 2x3x4; fc 5", 0, "2x3x4x5", "3x1x6x24", 0},
    {"a-map-flattened-before", "input 2x3x4; flatten; relu; linear 5", 0,
     "2x3x4x5", "3x1x6x24", 0},
    {"a-norm-of-a-flattened-map", "input 2x3x4; flatten; bn; fc 5", 0, "2x3x4",
     "3x1x6", 0},
    {"a-sequence-of-a-convolution", "input 5x4; conv 4 2; fc 3", 2, "4x4x3",
     "1x4x16", 0},
    {"a-sequence-of-vectors", "input 5x4; linear 4; fc 3", 2, "20x3", "1x20",
     0},
    {"a-vector-that-becomes-a-map", "input 7; fc 24 bn relu; reshape 2x3x4", 0,
     "7x2x3x4", "1x21x7x42", 0},
    {"a-norm-of-what-becomes-a-map", "input 7; fc 24 bn relu; reshape 2x3x4", 2,
     "2x3x4", "3x1x6", 0},
    {"a-vector-that-others-read",
     "input 7; a: fc 24; reshape 2x3x4; flatten; "
     "concat { from a }",
     0, "7x24", "1x7", 0},
    {"keys-and-values-in-one-tensor-with-queries",
     "input a 7x6; input b 5x6; from a; attention 2 packed cross=b", 2, "6x12",
     "1x6", 36},
    {"biases-of-keys-and-values",
     "input a 7x6; input b 5x6; from a; attention 2 packed cross=b", 3, "12",
     "1", 6},
    {"a-table-of-relative-positions",
     "input 4x6; attention 2 relative=2x2 nobias", 4, "3x3x2", "6x2x1", 0},
    {"more-axes-than-five", "weight 2x1x3x1x2x1x2", 0, "6x1x2x1x2", "4x4x2x2x1",
     0},
};

static void check_lying(void **state) {
  const struct lying *lying = *state;
  struct netc *netc = load_text(lying->net);
  struct netc_tensor tensor = {.size = sizeof tensor};
  char text[128];
  assert_int_equal(netc_tensor(netc, lying->tensor, &tensor), NETC_OK);
  put_sizes(text, sizeof text, tensor.rank, tensor.dims);
  assert_string_equal(text, lying->dims);
  put_sizes(text, sizeof text, tensor.rank, tensor.strides);
  assert_string_equal(text, lying->strides);
  assert_int_equal(tensor.first, lying->first);
  netc_close(netc);
}

/* The block has no gaps and is as large as the plan says. */
static void check_block(const char *path, struct netc *netc) {
  struct netc_inference inference = {.size = sizeof inference};
  struct netc_tensor tensor = {.size = sizeof tensor};
  int64_t end = 0;
  netc_set(netc, "dtype", "f32");
  assert_int_equal(show_errors(netc, netc_load_file(netc, path)), NETC_OK);
  assert_int_equal(netc_inference(netc, &inference), NETC_OK);
  for (size_t i = 0; netc_tensor(netc, i, &tensor) == NETC_OK; i++) {
    if (tensor.offset < 0)
      continue;
    assert_int_equal(tensor.offset, end);
    end += 4 * tensor.count;
  }
  if (end != inference.weight_bytes)
    print_error("%s: ", path);
  assert_int_equal(end, inference.weight_bytes);
}

static void blocks_are_as_large_as_plans_say(void **state) {
  glob_t found;
  (void)state;
  assert_int_equal(glob("examples/zoo/*.net", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    struct netc *netc = netc_open(NULL, NULL);
    check_block(found.gl_pathv[i], netc);
    netc_close(netc);
  }
  globfree(&found);
}

static void nothing_is_known_of_no_net(void **state) {
  struct netc *netc = netc_open(NULL, NULL);
  struct netc_weight weight = {.size = sizeof weight};
  struct netc_tensor tensor = {.size = sizeof tensor};
  (void)state;
  assert_int_equal(netc_weight(netc, 0, &weight), NETC_USAGE);
  assert_int_equal(netc_tensor(netc, 0, &tensor), NETC_USAGE);
  netc_close(netc);
}

/* The command. */

static char folder[1024];

struct said {
  const char *name, *net, *options;
  int status;
  const char *said; /* on standard error */
};

/* Written first: small.safetensors by chance, from the first net. */
static const char small[] = "input 4x4x2; a: conv 3 3x3 bn; b: fc 2";

static const struct said saids[] = {
    {"a-file-of-its-own", small, "--check F/small.safetensors", 0, ""},
    {"a-tensor-that-is-missing",
     "input 4x4x2; a: conv 3 3x3 bn; b: fc 2; c: "
     "fc 2",
     "--check F/small.safetensors", 1,
     "small.safetensors: error: tensor `c.weight`, 2x2, is missing"},
    {"a-tensor-that-is-superfluous", "input 4x4x2; a: conv 3 3x3 bn",
     "--check F/small.safetensors", 1,
     "error: tensor `b.weight`, 2x12, is not used by any layer of the net"},
    {"a-tensor-of-another-shape", "input 4x4x2; a: conv 3 3x3 bn; b: fc 3",
     "--check F/small.safetensors", 1,
     "tensor `b.weight` is 2x12, but `b.weight` needs 3x12 for `fc 3`"},
    {"other-names", "input 4x4x2; p: conv 3 3x3 bn; q: fc 2",
     "--from F/small.safetensors -o F/o", 0,
     "its names differ: tensors are matched by shape"},
    {"other-names-by-order", "input 4x4x2; p: conv 3 3x3 bn; q: fc 2",
     "--from F/small.safetensors --by-order -o F/o", 0, ""},
    {"another-shape-by-order", "input 4x4x2; p: conv 4 3x3 bn; q: fc 2",
     "--from F/small.safetensors --by-order -o F/o", 1,
     "tensor `a.weight` is 3x2x3x3, but `p.weight` needs 4x2x3x3"},
    {"one-more-by-order", "input 4x4x2; p: conv 3 3x3 bn; q: fc 2; fc 3",
     "--from F/small.safetensors --by-order -o F/o", 1,
     "tensor `fc1.weight`, 3x2, is missing: the file ends before it"},
    {"one-less-by-order", "input 4x4x2; p: conv 3 3x3 bn",
     "--from F/small.safetensors --by-order -o F/o", 1,
     "tensor `b.weight`, 2x12, is not used by any layer of the net"},
    {"a-file-that-is-absent", small, "--check F/absent", 3,
     "absent: error: No such file"},
    {"a-file-that-is-something-else", small, "--check README.md", 1,
     "README.md: error: its header would have"},
    {"no-way-to-go", small, "--random 1", 2,
     "an output is missing: add `-o X.safetensors`"},
    {"nothing-to-write", small, "-o F/o", 2,
     "weights are missing: write `--from FILE` or `--random SEED`"},
    {"two-things-at-once", small, "--random 1 --check F/o", 2,
     "--random, --from and --check exclude each other"},
    {"an-order-of-nothing", small, "--by-order", 2, "needs --from"},
    {"float32-where-fewer-bits-count", small,
     "--random 1 --dtype f16 -o F/o.safetensors", 0,
     "is in float32; in the types that the net sets, its weights take 166"},
    {"a-block-without-fold", small, "--random 1 -o F/o.bin", 2,
     "this writes a safetensors file; add --fold for the runtime's weights"},
    {"a-file-with-fold", small, "--random 1 --fold -o F/o.safetensors", 2,
     "--fold writes X.bin, X.S or X.c"},
    {"a-seed-that-is-none", small, "--random x -o F/o", 2,
     "--random takes a number from 0, not `x`"},
    {"two-outputs", small, "--random 1 -o F/o -o F/p", 2,
     "one output at a time"},
    {"a-folder-that-is-not-there", small, "--random 1 -o F/no/o", 3,
     "cannot write"},
    {"a-control-character", small,
     "--random 1 --fold -o \"$(printf 'F/a\\tb.S')\"", 2,
     "its name has a control character"},
    {"a-control-character-in-the-folder", small,
     "--random 1 --fold -o \"$(printf 'F/a\\tb/c.S')\"", 3, "cannot write"},
};

/* Runs netc weights; F stands for the folder of the test. */
static struct run weights_of(const char *net, const char *options) {
  char line[2048] = "";
  size_t used = 0;
  for (; *options; options++)
    used +=
        (size_t)(*options == 'F' && options[1] == '/'
                     ? snprintf(line + used, sizeof line - used, "%s", folder)
                     : snprintf(line + used, sizeof line - used, "%c",
                                *options));
  return run("echo '%s' | %s weights - %s", net, NETC, line);
}

static void check_said(void **state) {
  const struct said *said = *state;
  struct run first = weights_of(small, "--random 7 -o F/small.safetensors");
  struct run made = weights_of(said->net, said->options);
  assert_int_equal(first.status, 0);
  assert_holds(made.err, said->said);
  assert_int_equal(made.status, said->status);
  run_free(&first);
  run_free(&made);
}

static void random_weights_are_these_bytes(void **state) {
  struct run made = weights_of(small, "--random 7 -o - | md5sum");
  (void)state;
  assert_string_equal(made.out, "940dd270fcea5edacd625113daa9b46c  -\n");
  run_free(&made);
}

/* The file with names by order is the one with its own names. */
static void order_keeps_values(void **state) {
  struct run made = weights_of(small, "--random 7 -o F/a.safetensors");
  struct run renamed =
      weights_of("input 4x4x2; p: conv 3 3x3 bn; q: fc 2",
                 "--from F/a.safetensors --by-order -o F/b.safetensors");
  struct run back =
      weights_of(small, "--from F/b.safetensors --by-order -o F/c.safetensors");
  struct run same =
      run("cmp %s/a.safetensors %s/c.safetensors", folder, folder);
  (void)state;
  assert_int_equal(same.status, 0);
  run_free(&made);
  run_free(&renamed);
  run_free(&back);
  run_free(&same);
}

/* Tensors whose values are 1, 2, 3 and so on, in the order of the file. */
static void write_numbered(const char *path, const char *const *names,
                           const int *counts, size_t count) {
  char file[4096] = "        {";
  size_t length = 9, end = 0;
  float values[64];
  for (size_t i = 0; i < count; i++) {
    length += (size_t)snprintf(
        file + length, sizeof file - length,
        "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s%d],\"data_offsets\":"
        "[%zu,%zu]}",
        i ? "," : "", names[i], counts[i] == 4 ? "2," : "",
        counts[i] == 4 ? 2 : counts[i], 4 * end, 4 * (end + (size_t)counts[i]));
    for (int k = 0; k < counts[i]; k++, end++)
      values[end] = (float)(end + 1);
  }
  file[length++] = '}';
  memset(file, 0, 8);
  file[0] = (char)((length - 8) & 255);
  file[1] = (char)((length - 8) >> 8);
  memcpy(file + length, values, 4 * end);
  write_text(path, file, length + 4 * end);
}

/*
 * PyTorch saves a block's own parameter before those of its modules, which
 * work first: of two alike each block has its own.
 */
static void own_parameters_come_when_their_module_ends(void **state) {
  static const char *const names[] = {
      "token",        "b.0.gamma",  "b.0.one.weight",
      "b.0.one.bias", "b.1.gamma",  "b.1.one.weight",
      "b.1.one.bias", "end.weight", "end.bias"};
  static const int counts[] = {2, 2, 4, 2, 2, 4, 2, 4, 2};
  char path[1100], wanted[] = "5 6 7 8 9 10 3 4 13 14 15 16 17 18 11 12 1 2 "
                              "19 20 21 22 23 24";
  (void)state;
  snprintf(path, sizeof path, "%s/own.safetensors", folder);
  write_numbered(path, names, counts, sizeof names / sizeof *names);
  struct run made = weights_of(
      "input 3x2; linear 2; scale; linear 2; scale; token; linear 2",
      "--from F/own.safetensors --by-order -o F/taken.safetensors && tail -c "
      "96 F/taken.safetensors | od -v -An -tfF");
  assert_holds(made.err, "tensors are matched by order: 8 of 9 have the same "
                         "shape as another");
  assert_int_equal(made.status, 0);
  char *at = made.out;
  for (char *want = wanted; *want;)
    assert_true(strtod(at, &at) == strtod(want, &want)); /* whole numbers */
  run_free(&made);
  struct run refused =
      weights_of("input 3x2; linear 2; linear 2; scale; token; linear 2",
                 "--from F/own.safetensors --by-order -o F/taken.safetensors");
  assert_int_equal(refused.status, 1);
  assert_holds(refused.err, "tensor `b.0.gamma` is 2, but `linear2.weight` "
                            "needs 2x2 for `linear 2`");
  run_free(&refused);
}

/* The order that names imply: another one is refused. */
static void names_may_contradict_the_order(void **state) {
  static const char *const sorted[] = {"n.bias", "n.weight"};
  static const char *const turned[] = {"b.weight", "b.bias", "a.weight",
                                       "a.bias"};
  static const int two[] = {2, 2}, four[] = {4, 2, 4, 2};
  char path[1100];
  (void)state;
  snprintf(path, sizeof path, "%s/sorted.safetensors", folder);
  write_numbered(path, sorted, two, 2);
  snprintf(path, sizeof path, "%s/turned.safetensors", folder);
  write_numbered(path, turned, four, 4);
  struct run r = weights_of("input 3x2; ln",
                            "--from F/sorted.safetensors --by-order -o F/o");
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "by order `ln1.weight` would be `n.bias`, but the next "
                      "tensor is `n.weight`: the file's order");
  run_free(&r);
  r = weights_of("input 3x2; a: linear 2; b: linear 2",
                 "--from F/turned.safetensors --by-order -o F/o");
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "by order `a.weight` would be `b.weight`, but the file "
                      "has all names of the net;");
  run_free(&r);
  r = weights_of("input 3x2; c: linear 2; d: linear 2",
                 "--from F/turned.safetensors -o F/o");
  assert_int_equal(r.status, 1);
  assert_holds(r.err,
               "note: its names differ, but it has all tensors of the net in "
               "order and shape\n   = help: `netc weights X.net --from");
  run_free(&r);
  r = weights_of("input 3x2; c: linear 2; d: linear 3",
                 "--from F/turned.safetensors -o F/o");
  assert_int_equal(r.status, 1);
  assert_null(strstr(r.err, "by order"));
  run_free(&r);
}

/* Other names are taken where shapes tell, or torchvision's order. */
static void other_names_are_taken_where_something_tells(void **state) {
  static const char *const known[] = {"stem.weight", "stem.bias",
                                      "layer1.0.conv1.weight",
                                      "layer1.0.conv1.bias"};
  static const char *const sorted[] = {"layer1.0.conv1.bias",
                                       "layer1.0.conv1.weight"};
  static const char *const any[] = {"b.weight", "b.bias", "a.weight"};
  static const int four[] = {4, 2, 4, 2}, two[] = {2, 2}, three[] = {4, 2, 4};
  static const struct {
    const char *net, *file;
    int status;
    const char *says;
  } ways[] = {
      {"input 3x2; linear 2; linear 2", "known", 0,
       "note: its names differ: tensors are matched by torchvision's order"},
      {"input 3x2; linear 2; linear 3", "known", 1,
       "error: tensor `layer1.0.conv1.weight` is 2x2, but `linear2.weight` "
       "needs 3x2 for `linear 3`"},
      {"input 3x2; linear 2; token; linear 2 nobias", "any", 1,
       "tensor `linear1.weight`, 2x2, is missing"},
      {"input 3x2; ln", "sorted", 1, "tensor `ln1.weight`, 2, is missing"},
      {"input 3x2; linear 2", "one", 0,
       "note: its names differ: tensors are matched by shape"}};
  char path[1100];
  (void)state;
  snprintf(path, sizeof path, "%s/known.safetensors", folder);
  write_numbered(path, known, four, 4);
  snprintf(path, sizeof path, "%s/sorted.safetensors", folder);
  write_numbered(path, sorted, two, 2);
  snprintf(path, sizeof path, "%s/any.safetensors", folder);
  write_numbered(path, any, three, 3);
  snprintf(path, sizeof path, "%s/one.safetensors", folder);
  write_numbered(path, any, three, 2);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    char options[100];
    snprintf(options, sizeof options,
             "--from F/%s.safetensors -o F/other.safetensors", ways[i].file);
    struct run r = weights_of(ways[i].net, options);
    assert_int_equal(r.status, ways[i].status);
    assert_holds(r.err, ways[i].says);
    run_free(&r);
  }
}

/* A block as bytes and as C is the same; C compiles. */
static void blocks_are_written_as_bytes_and_as_c(void **state) {
  struct run bytes = weights_of(small, "--random 7 --fold -o F/w-1.bin");
  struct run source = weights_of(small, "--random 7 --fold -o F/w-1.c");
  struct run same =
      run("cd %s && cc -std=c99 -pedantic -Wall -Werror -c w-1.c && echo "
          "'#include <stdio.h>\nextern const float stdin_weights[83];\nint "
          "main(void) { fwrite(stdin_weights, 4, 83, stdout); }' >main.c && cc "
          "main.c w-1.o -o main && ./main | cmp - w-1.bin",
          folder);
  (void)state;
  assert_int_equal(bytes.status, 0);
  assert_int_equal(source.status, 0);
  assert_string_equal(same.err, "");
  assert_int_equal(same.status, 0);
  run_free(&bytes);
  run_free(&source);
  run_free(&same);
}

/* An output is not its own input, by its name, by a link, or beside a stub. */
static void inputs_are_spared(void **state) {
  static const char *const outputs[] = {
      "-o F/own.bin --fold", "-o F/own.S --fold", "-o F/link.safetensors",
      "-o F/./own.bin --fold"};
  struct run made =
      weights_of(small, "--random 7 -o F/own.safetensors && cd F/ && mv "
                        "own.safetensors own.bin && cp own.bin kept && ln -sf "
                        "own.bin link.safetensors && rm -f own.S");
  (void)state;
  assert_string_equal(made.err, "");
  assert_int_equal(made.status, 0);
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    char options[256];
    snprintf(options, sizeof options, "--from F/own.bin %s", outputs[i]);
    struct run refused = weights_of(small, options);
    struct run same =
        run("cd %s && cmp own.bin kept && test ! -e own.S", folder);
    assert_holds(refused.err, "would be replaced by what is made of it");
    assert_int_equal(refused.status, 2);
    assert_int_equal(same.status, 0);
    run_free(&refused);
    run_free(&same);
  }
  run_free(&made);
}

/* X.S and X.bin: both, or neither, and nothing else. */
static void a_stub_and_its_block_are_one(void **state) {
  static const struct {
    const char *before, *left;
    int status;
    const char *said;
  } cases[] = {
      {"rm -rf s && mkdir -p s/k.S", "k.S\n", 3, "k.S: Is a directory"},
      {"rm -rf s && mkdir -p s/k.bin", "k.bin\n", 3, "k.bin: Is a directory"},
      {"rm -rf s && mkdir s && ln -s /dev/full s/k.S", "k.S\n", 3,
       "k.S: No space left"},
      {"rm -rf s && mkdir s && touch s/k.bin && ln -s k.bin s/k.S",
       "k.S\nk.bin\n", 2, "two outputs have the file"},
      {"rm -rf s && mkdir s", "k.S\nk.bin\n", 0, ""},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct run ready = run("cd %s && %s", folder, cases[i].before);
    struct run made = weights_of(small, "--random 7 --fold -o F/s/k.S");
    struct run left = run("LC_ALL=C ls -A %s/s", folder);
    assert_int_equal(ready.status, 0);
    assert_holds(made.err, cases[i].said);
    assert_int_equal(made.status, cases[i].status);
    assert_string_equal(left.out, cases[i].left);
    run_free(&ready);
    run_free(&made);
    run_free(&left);
  }
}

/* The block of 800 MB is made before there is a file. */
static void without_memory_nothing_is_left(void **state) {
  static const char *const outputs[] = {"k.S", "k.bin", "k.c"};
  (void)state;
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    struct run made = run("rm -rf %s/m && mkdir %s/m && ulimit -v 400000 && "
                          "echo 'input 1000; fc 200000' | %s weights - "
                          "--random 7 --fold -o %s/m/%s",
                          folder, folder, NETC, folder, outputs[i]);
    struct run left = run("ls -A %s/m", folder);
    assert_holds(made.err, "out of memory");
    assert_int_equal(made.status, 3);
    assert_string_equal(left.out, "");
    run_free(&made);
    run_free(&left);
  }
}

static void a_stub_finds_a_name_with_quotes(void **state) {
  struct run made =
      weights_of(small, "--random 7 --fold -o 'F/a\"b\\c\\n.S' && cd F/ && "
                        "cp 'a\"b\\c\\n.S' quoted.S && cc -c quoted.S && echo "
                        "'#include <stdio.h>\nextern const float "
                        "stdin_weights[83];\nint main(void) { "
                        "fwrite(stdin_weights, 4, 83, stdout); }' >quoting.c "
                        "&& cc quoting.c quoted.o -o quoted && ./quoted | cmp "
                        "- 'a\"b\\c\\n.bin'");
  (void)state;
  assert_string_equal(made.err, "");
  assert_int_equal(made.status, 0);
  run_free(&made);
}

enum { MOST_CASES = 256 };

int main(void) {
  size_t length, count = 0;
  char *text = read_text("tests/data/weights/names.txt", &length);
  static struct named cases[MOST_CASES];
  static struct CMUnitTest tests[2 * MOST_CASES];
  size_t cases_count = read_cases(text, cases, MOST_CASES);
  for (size_t i = 0; i < cases_count; i++)
    tests[count++] = (struct CMUnitTest){.name = cases[i].net,
                                         .test_func = check_names,
                                         .initial_state = &cases[i]};
  for (size_t i = 0; i < sizeof lyings / sizeof *lyings; i++)
    tests[count++] = (struct CMUnitTest){.name = lyings[i].name,
                                         .test_func = check_lying,
                                         .initial_state = (void *)&lyings[i]};
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(blocks_are_as_large_as_plans_say);
  snprintf(folder, sizeof folder, "%s", scratch("weights"));
  for (size_t i = 0; i < sizeof saids / sizeof *saids; i++)
    tests[count++] = (struct CMUnitTest){.name = saids[i].name,
                                         .test_func = check_said,
                                         .initial_state = (void *)&saids[i]};
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(random_weights_are_these_bytes);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(order_keeps_values);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(
      own_parameters_come_when_their_module_ends);
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(names_may_contradict_the_order);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(
      other_names_are_taken_where_something_tells);
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(blocks_are_written_as_bytes_and_as_c);
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(inputs_are_spared);
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(a_stub_and_its_block_are_one);
  if (!SANITIZED) /* its shadow is larger than any limit */
    tests[count++] =
        (struct CMUnitTest)cmocka_unit_test(without_memory_nothing_is_left);
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(a_stub_finds_a_name_with_quotes);
  tests[count++] =
      (struct CMUnitTest)cmocka_unit_test(nothing_is_known_of_no_net);
  int failed =
      cases_count ? _cmocka_run_group_tests("weights", tests, count, NULL, NULL)
                  : 1;
  for (size_t i = 0; i < cases_count; i++)
    free(cases[i].tensors);
  free(text);
  return failed;
}
