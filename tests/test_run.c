/*
 * netc run: whole nets against PyTorch's outputs, which tests/data/run holds
 * (tools/whole_nets.py), and what it says of files that do not fit.
 */
#include <math.h>

#include "base/arena.h"
#include "import/tensors/npy.h"
#include "import/tensors/safetensors.h"
#include "tests/run.h"

static char folder[1024];

static const char *path_of(const char *name) {
  static char paths[4][1200];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* Whole nets: weights by chance, their vectors shifted so that no norm is
 * idle; PyTorch had the same. */

struct whole {
  const char *name, *net, *options, *outputs[4];
};

static const struct whole wholes[] = {
    {"adapters",
     "tests/data/run/adapters.net",
     "",
     {"map", "states", "vector"}},
    {"computed", "tests/data/run/computed.net", "", {"map", "states"}},
    {"experts", "tests/data/run/experts.net", "", {"rows", "states"}},
    {"maps", "tests/data/run/maps.net", "", {"map", "vector"}},
    {"patches", "tests/data/run/patches.net", "", {"map", "vector"}},
    {"sequences",
     "tests/data/run/sequences.net",
     "",
     {"states", "last", "vector"}},
    {"states", "tests/data/run/states.net", "", {"scanned", "ruled"}},
    {"variants",
     "tests/data/run/variants.net",
     "",
     {"heads", "latent", "states"}},
    {"simple_cnn", "examples/simple_cnn.net", "", {"Out.softmax"}},
    {"lenet5", "examples/zoo/lenet5.net", "", {"fc1"}},
    {"resnet-18", "examples/zoo/resnet.net", "-D depth=18", {"fc1"}},
    {"squeezenet-1.1",
     "examples/zoo/squeezenet.net",
     "-D version=1.1",
     {"gap1"}},
    {"mobilenet_v2", "examples/zoo/mobilenet_v2.net", "", {"fc1"}},
    {"mobilenet_v3-true",
     "examples/zoo/mobilenet_v3.net",
     "-D small=true",
     {"fc2"}},
    {"shufflenet_v2", "examples/zoo/shufflenet_v2.net", "", {"fc1"}},
    {"efficientnet", "examples/zoo/efficientnet.net", "", {"fc1"}},
    {"regnet-true-400",
     "examples/zoo/regnet.net",
     "-D y=true -D mf=400",
     {"fc1"}},
    {"vit-2-48-3",
     "examples/zoo/vit.net",
     "-D layers=2 -D width=48 -D heads=3",
     {"fc1"}},
    {"dcgan_g", "examples/zoo/dcgan_g.net", "", {"deconv5.tanh"}},
    {"dcgan_d", "examples/zoo/dcgan_d.net", "", {"conv5.sigmoid"}},
    {"m5", "examples/zoo/m5.net", "", {"fc1.logsoftmax"}},
    {"transformer-1-16-2-30",
     "examples/zoo/transformer.net",
     "-D layers=1 -D width=16 -D heads=2 -D vocabulary=30",
     {"linear1"}},
    {"bert-2-48-3-8",
     "examples/zoo/bert.net",
     "-D num_hidden_layers=2 -D hidden_size=48 -D num_attention_heads=3 "
     "-D length=8",
     {"sequence", "pooled"}},
};

static struct arena arena; /* of arrays that are read */

/* Vectors get steps of 1/128 from -1/4 to 1/4, which are exact. */
static void shift_vectors(const char *from, const char *to) {
  struct tensor_file s;
  assert_true(tensors_open(&s, from, &arena));
  FILE *file = fopen(to, "wb");
  assert_non_null(file);
  size_t length;
  char *whole = read_text(from, &length);
  assert_int_equal(fwrite(whole, 1, length, file), length);
  free(whole);
  for (size_t i = 0; i < s.tensors.count; i++) {
    const struct stored_tensor *tensor = &s.tensors.at[i];
    float *values = malloc((size_t)tensor->count * sizeof *values + 1);
    assert_true(tensors_floats(&s, tensor, 0, tensor->count, values));
    for (int64_t k = 0; k < tensor->count; k++)
      values[k] += (float)(k * 37 % 64 - 32) / 128;
    if (tensor->rank == 1) {
      fseek(file, (long)tensor->at, SEEK_SET);
      floats_write(file, values, (size_t)tensor->count);
    }
    free(values);
  }
  assert_int_equal(fclose(file), 0);
  tensors_close(&s);
}

/* The largest difference by the root of the mean square. */
static double difference(const char *path, const char *truth_path) {
  struct npy ours, truth;
  double largest = 0, sum = 0;
  assert_true(npy_read(&ours, path, &arena));
  assert_true(npy_read(&truth, truth_path, &arena));
  assert_int_equal(ours.rank, truth.rank);
  assert_memory_equal(ours.dims, truth.dims, sizeof ours.dims);
  for (int64_t i = 0; i < truth.count; i++) {
    float a, b;
    memcpy(&a, ours.at + 4 * i, sizeof a);
    memcpy(&b, truth.at + 4 * i, sizeof b);
    double apart = fabs((double)a - (double)b);
    largest = apart <= largest ? largest : apart; /* also if it is none */
    sum += (double)b * (double)b;
  }
  double rms = sqrt(sum / (double)truth.count);
  return largest / rms;
}

static void check_whole(void **state) {
  const struct whole *whole = *state;
  char made[1200], shifted[1200], files[2048] = "";
  snprintf(made, sizeof made, "%s", path_of("made.safetensors"));
  snprintf(shifted, sizeof shifted, "%s", path_of("w.safetensors"));
  for (int i = 0; whole->outputs[i]; i++)
    snprintf(files + strlen(files), sizeof files - strlen(files),
             " -o %s=%s/%d.npy", whole->outputs[i], folder, i);
  struct run weights = run("%s weights %s %s --random 7 -o %s", NETC,
                           whole->net, whole->options, made);
  assert_int_equal(weights.status, 0);
  shift_vectors(made, shifted);
  struct run result =
      run("%s run %s %s --weights %s --random 7 --check --threads 2%s", NETC,
          whole->net, whole->options, shifted, files);
  if (result.status)
    print_error("%s", result.err);
  assert_int_equal(result.status, 0);
  for (int i = 0; whole->outputs[i]; i++) {
    char truth[256], number[16];
    snprintf(truth, sizeof truth, "tests/data/run/%s.%s.npy", whole->name,
             whole->outputs[i]);
    snprintf(number, sizeof number, "%d.npy", i);
    double apart = difference(path_of(number), truth);
    if (!(apart < 1e-4))
      print_error("%s: %g\n", whole->outputs[i], apart);
    assert_true(apart < 1e-4);
  }
  run_free(&weights);
  run_free(&result);
}

/* Arrays that the other tests give. */

static void put_array(const char *name, const char *type, const char *shape,
                      const void *values, size_t bytes) {
  char header[256];
  FILE *file = fopen(path_of(name), "wb");
  int length = snprintf(header, sizeof header,
                        "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                        *type == 'F' ? type + 1 : type,
                        *type == 'F' ? "True" : "False", shape);
  fwrite("\x93NUMPY\x01\x00", 1, 8, file);
  fputc(length, file);
  fputc(0, file);
  fwrite(header, 1, (size_t)length, file);
  fwrite(values, 1, bytes, file);
  assert_int_equal(fclose(file), 0);
}

static int put_arrays(void **state) {
  float reals[48];
  int64_t wide[4] = {1, 0, 2, 1}, huge[4] = {1, 0, INT64_C(1) << 40, 1},
          high[4] = {1, 0, 3, 1};
  unsigned char bytes[24];
  (void)state;
  for (int i = 0; i < 48; i++)
    reals[i] = (float)i;
  for (int i = 0; i < 24; i++)
    bytes[i] = (unsigned char)i;
  put_array("hwc.npy", "<f4", "(2, 3, 4)", reals, 96);
  put_array("one.npy", "<f4", "(1, 2, 3, 4)", reals, 96);
  put_array("two.npy", "<f4", "(2, 2, 3, 4)", reals, 192);
  put_array("chw.npy", "<f4", "(4, 2, 3)", reals, 96);
  put_array("columns.npy", "F<f4", "(2, 3, 4)", reals, 96);
  put_array("bytes.npy", "|u1", "(2, 3, 4)", bytes, 24);
  put_array("big.npy", ">f4", "(2, 3, 4)", reals, 96);
  put_array("short.npy", "<f4", "(2, 3, 4)", reals, 92);
  put_array("index.npy", "<i8", "(4,)", wide, 32);
  put_array("huge.npy", "<i8", "(4,)", huge, 32);
  put_array("high.npy", "<i8", "(4,)", high, 32);
  put_array("reals.npy", "<f4", "(4,)", reals, 16);
  return 0;
}

/* Runs it with F/ for the folder of these files. */
static struct run run_net(const char *net, const char *options) {
  char line[2048] = "";
  size_t used = 0;
  for (; *options; options++) {
    bool place = *options == 'F' && options[1] == '/';
    used += (size_t)snprintf(line + used, sizeof line - used, "%.*s",
                             place ? (int)strlen(folder) : 1,
                             place ? folder : options);
  }
  return run("echo '%s' | %s run - %s", net, NETC, line);
}

struct said {
  const char *name, *net, *options;
  int status;
  const char *said;
};

static const char map[] = "input x_ 2x3x4; relu";
static const char words[] = "input 4 : i32; embed 3 2";

static const struct said saids[] = {
    {"another-shape", map, "--input F/chw.npy", 1,
     "chw.npy: error: it is 4x2x3, but input `x_` is 2x3x4"},
    {"a-way-to-turn-channels", map, "--input F/chw.npy", 1,
     "channels are last here; use --layout=chw for the other order"},
    {"another-shape-channels-first", map, "--layout=chw --input F/hwc.npy", 1,
     "it is 2x3x4, but input `x_` is 4x2x3"},
    {"another-size", map, "--input F/two.npy --layout=chw", 1,
     "two.npy: error: it is 2x2x3x4, but input `x_` is 4x2x3\n"},
    {"another-batch", map, "--input F/two.npy", 1,
     "help: for 2 samples at once write --batch 2"},
    {"this-batch", map, "--input F/two.npy --batch 2", 0, ""},
    {"no-batch-where-there-is-one", map, "--input F/hwc.npy --batch 2", 1,
     "is 2x3x4, 2 of them"},
    {"a-big-endian-array", map, "--input F/big.npy", 1,
     "its values are big-endian"},
    {"an-array-that-ends-early", map, "--input F/short.npy", 1,
     "but 92 bytes follow"},
    {"an-array-that-is-absent", map, "--input F/absent.npy", 3,
     "absent.npy: error: No such file"},
    {"no-array-at-all", map, "", 2, "write --input FILE.npy, or --random"},
    {"an-array-twice", map, "--input F/hwc.npy --input x_=F/hwc.npy", 2,
     "input `x_` is given twice"},
    {"two-inputs-without-names",
     "input a 4; input b 4; add { from a } { from b }", "--input F/reals.npy",
     2, "the net has `a`, `b`"},
    {"two-inputs-one-of-them-given",
     "input a 4; input b 4; add { from a } { from b }", "--input a=F/reals.npy",
     2, "input `b` is missing: write --input b=FILE"},
    {
        "an-output-that-is-not-there",
        "input 4; relu; output a; tanh; output b",
        "--input F/reals.npy -o c=F/y.npy",
        2,
        "-o c=",
    },
    {"an-output-by-another-name", map, "--input F/hwc.npy -o relu2=F/y.npy", 2,
     "write -o NAME=FILE.npy; the net has `relu1`"},
    {"an-output-in-no-folder", map, "--input F/hwc.npy -o F/no/y.npy", 3,
     "cannot write"},
    {"indices-of-64-bits", words, "--input F/index.npy --random 1", 0, ""},
    {"indices-beyond-32-bits", words, "--input F/huge.npy --random 1", 1,
     "one of these does not fit 32 bits"},
    {"indices-beyond-the-table", words, "--input F/high.npy --random 1", 1,
     "embed1: "},
    {"indices-that-are-reals", words, "--input F/reals.npy --random 1", 1,
     "takes indices, but these are reals"},
    {"weights-from-nowhere", "input 4; fc 2", "--input F/reals.npy", 2,
     "weights are missing: write `--weights FILE` or `--random SEED`"},
    {"weights-of-another-net", "input 4; fc 2",
     "--input F/reals.npy --weights README.md", 1, "is it a safetensors file"},
    {"a-net-in-16-bits", "input 4; fc 2", "--random 1 --dtype f16", 1,
     "float32"},
    {"a-net-with-an-error", "input 4; fd 2", "--random 1", 1, "unknown"},
    {"several-batches", map, "--random 1 --batch 1,2", 2,
     "--batch takes one value here; `netc FILE.net` makes a table of several"},
    {"no-threads", map, "--random 1 --threads 0", 2,
     "--threads takes a number from 1 to"},
    {"many-threads", map, "--random 1 --threads 9 --check", 0, ""},
    {"an-option-of-another-command", map, "--by-order", 2,
     "belongs to `netc weights`"},
};

static void check_said(void **state) {
  const struct said *said = *state;
  struct run made = run_net(said->net, said->options);
  assert_holds(made.err, said->said);
  assert_int_equal(made.status, said->status);
  run_free(&made);
}

/* relu of 0, 1, 2 .. is the same; the axes show how it was read. */
static void check_values(const char *options, const float *wanted,
                         size_t count) {
  struct run made = run_net(map, options);
  struct npy npy;
  assert_string_equal(made.err, "");
  assert_int_equal(made.status, 0);
  assert_true(npy_read(&npy, path_of("y.npy"), &arena));
  assert_int_equal(npy.count, count);
  assert_memory_equal(npy.at, wanted, count * sizeof *wanted);
  run_free(&made);
}

static void arrays_are_read_as_they_lie(void **state) {
  float same[24], by_columns[24], turned[24];
  (void)state;
  for (int i = 0; i < 24; i++) {
    int h = i / 12, w = i / 4 % 3, c = i % 4;
    same[i] = (float)i;
    by_columns[i] = (float)(h + 2 * w + 6 * c);
    turned[i] = (float)(c * 6 + h * 3 + w);
  }
  check_values("--input F/hwc.npy -o F/y.npy", same, 24);
  check_values("--input F/one.npy -o F/y.npy", same, 24);
  check_values("--input F/bytes.npy -o F/y.npy", same, 24);
  check_values("--input F/columns.npy -o F/y.npy", by_columns, 24);
  check_values("--layout=chw --input F/chw.npy -o F/y.npy", same, 24);
  check_values("--layout=chw --input F/chw.npy -o relu1=F/y.npy", same, 24);
  struct run made = run_net("input 2x3x4; relu; flatten",
                            "--layout=chw --input F/chw.npy -o F/y.npy");
  struct npy npy;
  assert_true(npy_read(&npy, path_of("y.npy"), &arena));
  assert_memory_equal(npy.at, turned, sizeof turned);
  run_free(&made);
  made = run_net("input 24; relu; reshape 2x3x4",
                 "--layout=chw --random 1 -o F/y.npy");
  assert_int_equal(made.status, 0);
  assert_true(npy_read(&npy, path_of("y.npy"), &arena));
  assert_int_equal(npy.dims[1], 4);
  run_free(&made);
}

static void outputs_are_described_without_files(void **state) {
  struct run made =
      run_net("input 4; relu; output a; tanh; output b", "--input F/reals.npy");
  (void)state;
  assert_holds(made.out, "a  1x4, rms 1.87083; largest 3: 3, 2: 2, 1: 1, 0: 0");
  assert_holds(made.out, "b  1x4, rms ");
  run_free(&made);
}

/* Writing in place in training does not matter in inference. */
static void inplace_changes_no_prediction(void **state) {
  (void)state;
  const char *to = scratch("inplace");
  struct run made = run(
      "sed 's/ inplace=on//' tests/data/inplace.net >%s/b.net && "
      "%s weights %s/b.net --random 3 -o %s/w.safetensors >%s/log && "
      "for net in tests/data/inplace.net %s/b.net; do %s run $net --weights "
      "%s/w.safetensors --random 5 >%s/$(basename $net .net).out || exit; "
      "done; "
      "diff %s/inplace.out %s/b.out",
      to, NETC, to, to, to, to, NETC, to, to, to, to);
  if (made.status)
    print_error("%s%s", made.out, made.err);
  assert_int_equal(made.status, 0);
  run_free(&made);
}

/* One channel to one: the same as the first of two, whose weights begin so. */
static void a_convolution_may_have_one_channel(void **state) {
  static const char *const nets[] = {"c: conv 1 3x3 pad nobias\n",
                                     "c: conv 2 3x3 pad nobias\nslice c 0:1\n"};
  struct run made[2];
  (void)state;
  for (int i = 0; i < 2; i++) {
    char path[600];
    snprintf(path, sizeof path, "%s/one.net", scratch("one"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "net one\ninput 5x5x1\n%s", nets[i]);
    assert_int_equal(fclose(file), 0);
    made[i] = run("%s run %s --random 3 -o %s.npy && od -An -v -tx4 -j128 "
                  "%s.npy",
                  NETC, path, path, path);
    assert_int_equal(made[i].status, 0);
  }
  assert_true(strlen(made[0].out) > 25 * 8);
  assert_string_equal(made[0].out, made[1].out);
  run_free(&made[0]);
  run_free(&made[1]);
}

static void a_profile_has_every_layer(void **state) {
  struct run made = run_net("input 9x9x2; conv 4 3x3 bn relu; fc 2",
                            "--random 1 --profile --threads 2");
  (void)state;
  assert_int_equal(made.status, 0);
  assert_holds(made.out, "GFLOP/s");
  assert_holds(made.out, "conv1 ");
  assert_holds(made.out, "conv1.relu");
  assert_holds(made.out, "fc1 ");
  assert_holds(made.out, "2 threads");
  run_free(&made);
}

static void chance_is_the_same_twice(void **state) {
  struct run one = run_net("input 9x9x2; conv 4 3x3; fc 2", "--random 5");
  struct run two = run_net("input 9x9x2; conv 4 3x3; fc 2", "--random 5");
  struct run other = run_net("input 9x9x2; conv 4 3x3; fc 2", "--random 6");
  (void)state;
  assert_string_equal(one.out, two.out);
  assert_string_not_equal(one.out, other.out);
  run_free(&one);
  run_free(&two);
  run_free(&other);
}

/* Indices are whole numbers of 64 bits in the file, as in the net. */
static void indices_are_written_as_they_are(void **state) {
  (void)state;
  size_t length;
  struct run r = run_net("input x 4; topk 1 indices; output i",
                         "--input F/reals.npy -o F/i.npy");
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
  char *file = read_text(text_of("%s/i.npy", folder), &length);
  assert_int_equal(length, 128 + 8);
  assert_holds(file + 10, "'descr': '<i8'");
  for (int i = 1; i < 8; i++)
    assert_int_equal(file[128 + i], 0);
  assert_in_range(file[128], 0, 3);
  free(file);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

int main(void) {
  arena_open(&arena, NULL, NULL);
  static struct CMUnitTest tests[COUNT(wholes) + COUNT(saids) + 8];
  const struct CMUnitTest others[] = {
      cmocka_unit_test(arrays_are_read_as_they_lie),
      cmocka_unit_test(outputs_are_described_without_files),
      cmocka_unit_test(inplace_changes_no_prediction),
      cmocka_unit_test(a_convolution_may_have_one_channel),
      cmocka_unit_test(a_profile_has_every_layer),
      cmocka_unit_test(indices_are_written_as_they_are),
      cmocka_unit_test(chance_is_the_same_twice),
  };
  size_t count = 0;
  snprintf(folder, sizeof folder, "%s", scratch("run"));
  for (size_t i = 0; i < COUNT(wholes); i++)
    tests[count++] = (struct CMUnitTest){.name = wholes[i].name,
                                         .test_func = check_whole,
                                         .initial_state = (void *)&wholes[i]};
  for (size_t i = 0; i < COUNT(saids); i++)
    tests[count++] = (struct CMUnitTest){.name = saids[i].name,
                                         .test_func = check_said,
                                         .initial_state = (void *)&saids[i]};
  for (size_t i = 0; i < COUNT(others); i++)
    tests[count++] = others[i];
  return _cmocka_run_group_tests("run", tests, count, put_arrays, NULL);
}
