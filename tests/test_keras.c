/*
 * netc import of files that Keras and TensorFlow.js save, with their weights;
 * tests/cases/files.txt has the forms that a model's JSON comes in.
 */
#define _XOPEN_SOURCE 700
#define _FILE_OFFSET_BITS 64
#include "tests/imported.h"

#define WEIGHTS "--weights w.safetensors"

/*
 * What tools/keras_saved.js and .py made: three nets in three forms, and what
 * TensorFlow.js computes.
 */
#define SAVED "tests/data/import/saved"

static char *numbers_in(const char *path) {
  struct run r = run("od -An -tfF -j128 %s", path);
  char *text = strdup(r.out);
  run_free(&r);
  return text;
}

/* All values of a net's file of weights, in the order of their bytes. */
static int64_t values_in(const char *folder) {
  struct run r = run("%s weights %s/x.net --check %s/w.safetensors && "
                     "%s weights %s/x.net | tail -1",
                     NETC, folder, folder, NETC, folder);
  const char *bytes = strstr(r.out, " tensors, ");
  assert_int_equal(r.status, 0);
  assert_non_null(bytes);
  int64_t count = strtoll(bytes + strlen(" tensors, "), NULL, 10) / 4;
  run_free(&r);
  return count;
}

static void saved_models_compute_the_same(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int64_t params;
  } nets[] = {{"picture", 1714}, {"words", 874}, {"chain", 171}};
  static const char *const forms[] = {"model.json", "model.h5", "model.keras"};
  for (int i = 0; i < 9; i++) {
    char from[256], options[512];
    const char *name = nets[i / 3].name;
    const char *folder = scratch("keras-run");
    snprintf(from, sizeof from, SAVED "/%s/%s", name, forms[i % 3]);
    struct run r = run("%s import %s -o %s/x.net --weights %s/w.safetensors",
                       NETC, from, folder, folder);
    if (r.status)
      print_error("%s: %s", from, r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
    assert_int_equal(values_in(folder), nets[i / 3].params);
    snprintf(options, sizeof options,
             "--weights %s/w.safetensors --input " SAVED "/%s/x.npy", folder,
             name);
    snprintf(from, sizeof from, SAVED "/%s/y.npy", name);
    char net[256];
    snprintf(net, sizeof net, "%s/x.net", folder);
    char *ours = values_of(folder, net, options), *theirs = numbers_in(from);
    assert_true(strlen(ours) > 10);
    assert_near(ours, theirs);
    free(ours);
    free(theirs);
  }
}

/* Keras 2.13 stores the second Conv2D as conv2d_2. */
static void layers_may_be_numbered_twice(void **state) {
  (void)state;
  const char *folder = scratch("keras-213");
  struct run r = run("%s import " SAVED "/keras213.keras -o %s/x.net "
                     "--weights %s/w.safetensors",
                     NETC, folder, folder);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.err, "");
  run_free(&r);
  assert_int_equal(values_in(folder), 54);
}

/* Whole numbers of a byte stand for low + number * step. */
static void quantized_shards_are_read(void **state) {
  (void)state;
  const char *folder = scratch("keras-quantized");
  write_in(folder, "model.json",
           "{\"modelTopology\": {\"class_name\": \"Sequential\", \"config\": "
           "{\"layers\": [{\"class_name\": \"Dense\", \"config\": {\"name\": "
           "\"d\", \"units\": 1, \"use_bias\": false, "
           "\"batch_input_shape\": [null, 2]}}]}}, \"weightsManifest\": "
           "[{\"paths\": [\"w.bin\"], \"weights\": [{\"name\": "
           "\"d/kernel\", \"shape\": [2, 1], \"dtype\": \"float32\", "
           "\"quantization\": {\"dtype\": \"uint8\", \"min\": -1, \"scale\": "
           "0.5}}]}]}");
  struct run r = run("cd %s && printf '\\001\\377' >w.bin && %s import "
                     "model.json -o x.net --weights w.safetensors && tail -c 8 "
                     "w.safetensors | od -An -tfF",
                     folder, NETC_PATH);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, " -0.5 ");
  assert_holds(r.out, " 126.5\n");
  run_free(&r);
}

/* A suffix says nothing; from a pipe all but the shards can be read. */
static void bytes_tell_what_it_is(void **state) {
  (void)state;
  const char *folder = scratch("keras-told");
  struct run r =
      run("cp " SAVED "/chain/model.h5 %s/a.keras && cp " SAVED
          "/chain/model.keras %s/a.h5 && cp " SAVED "/chain/model.h5 %s/a && "
          "for f in a.keras a.h5 a; do %s import %s/$f --flat | tail -n +2; "
          "done; %s import - --flat <" SAVED "/chain/model.keras",
          folder, folder, folder, NETC, folder, NETC);
  struct run one = run("%s import " SAVED "/chain/model.json --flat", NETC);
  const char *lines = strchr(one.out, '\n') + 1;
  assert_int_equal(r.status, 0);
  assert_string_equal(r.err, "");
  const char *at = r.out;
  for (int i = 0; i < 3; i++, at += strlen(lines))
    assert_int_equal(strncmp(at, lines, strlen(lines)), 0);
  assert_holds(at, lines);
  run_free(&r);
  run_free(&one);
}

/* Files above 1 GiB: the values of one matrix lie behind a hole. */

enum { KERNEL = 4 * 180 * 5, END_OF_FILE = 40 }; /* bytes; in a superblock */
#define HOLE (INT64_C(1) << 30)

static void put_number(char *at, int64_t value, int bytes) {
  for (int i = 0; i < bytes; i++)
    at[i] = (char)((uint64_t)value >> 8 * i & 255);
}

static char *find_in(char *file, size_t length, const char *bytes,
                     size_t count) {
  for (size_t i = 0; i + count <= length; i++)
    if (memcmp(file + i, bytes, count) == 0)
      return file + i;
  fail_msg("the file does not have what the test looks for");
  return NULL;
}

/* Where its layout says that the matrix lies, whose only one of that size it
   is: version 3, in one piece, the place, the size. */
static char *place_in(char *hdf5, size_t length) {
  char size[8];
  put_number(size, KERNEL, 8);
  char *place = find_in(hdf5, length, size, 8) - 8;
  assert_int_equal(place[-2], 3);
  assert_int_equal(place[-1], 1);
  return place;
}

static void write_part(const char *path, int64_t at, const char *bytes,
                       size_t count) {
  FILE *file = fopen(path, at ? "r+" : "w");
  assert_non_null(file);
  assert_int_equal(fseeko(file, at, SEEK_SET), 0);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

/* The HDF5 that begins at `hdf5`, with a hole. */
static void dig(char *hdf5, size_t length, char *kernel) {
  char *place = place_in(hdf5, length);
  uint64_t at = 0;
  for (int i = 8; i-- > 0;)
    at = at << 8 | (unsigned char)place[i];
  memcpy(kernel, hdf5 + at, KERNEL);
  memset(hdf5 + at, 0, KERNEL);
  put_number(place, HOLE, 8);
  put_number(hdf5 + END_OF_FILE, HOLE + KERNEL, 8);
}

static void values_may_lie_beyond_a_gibibyte(void **state) {
  char path[300], kernel[KERNEL];
  size_t length;
  const char *folder = scratch("keras-large");
  char *file = read_text(SAVED "/picture/model.h5", &length);
  (void)state;
  snprintf(path, sizeof path, "%s/large.h5", folder);
  dig(file, length, kernel);
  write_part(path, 0, file, length);
  write_part(path, HOLE, kernel, KERNEL);
  struct run r = run("ulimit -v %s; %s import %s -o %s/a.net --weights %s/a.st "
                     "&& %s import " SAVED "/picture/model.h5 -o %s/b.net "
                     "--weights %s/b.st && cmp %s/a.st %s/b.st",
                     SANITIZED ? "unlimited" : "1048576", NETC, path, folder,
                     folder, NETC, folder, folder, folder, folder);
  assert_null(strstr(r.err, "error"));
  assert_int_equal(r.status, 0);
  run_free(&r);
  remove(path);
  free(file);
}

/* The archive's last member, stored plainly; the sum is the small one's. */
static void archives_may_be_larger_than_a_gibibyte(void **state) {
  char path[300], kernel[KERNEL];
  size_t length;
  const char *folder = scratch("keras-large-archive");
  char *file = read_text(SAVED "/picture/model.keras", &length);
  (void)state;
  char *hdf5 = find_in(file, length, "\x89HDF", 4);
  char *local = hdf5 - 30 - strlen("model.weights.h5");
  char *directory = find_in(file, length, "PK\1\2", 4);
  char *end = find_in(file, length, "PK\5\6", 4), *entry = directory;
  while (memcmp(entry + 46, "model.weights.h5", 16) != 0)
    entry++;
  dig(hdf5, (size_t)(directory - hdf5), kernel);
  put_number(local + 18, HOLE + KERNEL, 4);
  put_number(local + 22, HOLE + KERNEL, 4);
  put_number(entry + 20, HOLE + KERNEL, 4);
  put_number(entry + 24, HOLE + KERNEL, 4);
  int64_t after = (hdf5 - file) + HOLE;
  put_number(end + 16, after + KERNEL, 4);
  snprintf(path, sizeof path, "%s/large.keras", folder);
  write_part(path, 0, file, (size_t)(directory - file));
  write_part(path, after, kernel, KERNEL);
  write_part(path, after + KERNEL, directory,
             length - (size_t)(directory - file));
  struct run r =
      run("%s import %s | tail -n +2 >%s/a && %s import " SAVED
          "/picture/model.keras | tail -n +2 | cmp - %s/a && %s "
          "import %s -o %s/x.net --weights %s/x.st",
          NETC, path, folder, NETC, folder, NETC, path, folder, folder);
  assert_int_equal(r.status, 1);
  assert_string_equal(r.out, "");
  assert_holds(r.err, "`model.weights.h5` is corrupt: its checksum differs");
  run_free(&r);
  remove(path);
  free(file);
}

/* Files and what is changed of them; `says` is in the error. */
static const struct damage {
  const char *name, *file, *change, *options, *says;
} damages[] = {
    {"superblock", "superblock3.h5", "cat", "",
     "this HDF5 cannot be read: a superblock of version 3 is not supported "
     "(byte 9)\n   = help: `h5repack -l CONTI -f NONE FILE x.h5`"},
    {"chunks", "chunked.h5", "cat", WEIGHTS,
     "`d` (Dense): `d/k:0` is stored in chunks, which is not supported\n   = "
     "help: without --weights netc reads the net alone"},
    {"compressed", "gzip.h5", "cat", WEIGHTS, "`d/k:0` is compressed"},
    {"big-endian", "big_endian.h5", "cat", WEIGHTS, "`d/k:0` is big-endian"},
    {"weights-of-keras-2", "weights_2.h5", "cat", "",
     "it has only weights, 64 values in 1 tensor: save_weights() leaves out "
     "the net\n   = help: model.to_json() writes the net"},
    {"weights-of-keras-3", "weights_3.h5", "cat", "",
     "it has only weights, 64 values in 1 tensor: save_weights() leaves out"},
    {"no-model", "other.h5", "cat", "", "this HDF5 has no model of Keras"},
    {"cut", "picture/model.h5", "head -c 30000", "",
     "cannot be read: it is cut off: 30000 of "},
    {"cut-early", "picture/model.h5", "head -c 60", "", "cannot be read: it "},
    {"address-elsewhere", "picture/model.h5", "sed 's/HEAP/HEAQ/'", "",
     "an address does not lead to a group's names"},
    {"other-node", "picture/model.h5", "sed 's/SNOD/SNOP/'", "",
     "an address does not lead to a group's node"},
    {"other-tree", "picture/model.h5", "sed 's/TREE/TREF/'", "",
     "an address does not lead to a group's tree"},
    {"other-heap", "picture/model.h5", "sed 's/GCOL/GCOM/'", "",
     "an address does not lead to a text's heap"},
    {"unlisted", "picture/model.h5", "sed 's/layer_names/layer_namez/'", "",
     "`model_weights@layer_names` does not list its layers"},
    {"listed-alone", "picture/model.h5", "sed 's/stem.bias:0/stem\\/biaz:0/'",
     "", "`model_weights/stem/stem/biaz:0` is listed, but not in the file"},
    {"other-layer", "picture/model.h5",
     "sed 's/\"name\": \"stem\"/\"name\": \"stam\"/g;s/\"stem\", 0/\"stam\", "
     "0/'",
     "",
     "`stam` (Conv2D): the file has 0 weights for it, but its class has more"},
    {"other-shape", "picture/model.h5", "sed 's/\"units\": 5/\"units\": 6/'",
     "",
     "`classes` (Dense): `classes/kernel:0` is 180x5 in the file, but 180x6 in "
     "its config"},
    {"other-count", "picture/model.h5",
     "sed 's/\"scale\": false/\"scale\": true /'", "",
     "the file has 3 weights for it, but its class has more"},
    {"fewer", "picture/model.h5", "sed 's/\"scale\": true,/\"scale\":false,/'",
     "", "`bn_1` "},
    {"archive-cut", "picture/model.keras", "head -c 30000", "", "error: "},
    {"archive-alone", "picture/model.keras", "head -c 4", "", "error: "},
    {"archive-without-net", "picture/model.keras",
     "sed 's/config.json/confix.json/g'", "", "the archive has no config.json"},
    {"swapped", "swapped.keras", "cat", "",
     "`d` (Dense): `layers/dense/vars/0` belongs to `e` in the file"},
    {"own-class", "nested_container.keras", "cat", "",
     "`NestedDenseModel` is a custom class: its layers are in Python code,"},
    {"manifest-other-shape", "picture/model.json",
     "sed 's/\"units\":5/\"units\":6/'", "",
     "`classes` (Dense): `classes/kernel` is 180x5 in the file, but 180x6 in "
     "its config"},
    {"manifest-more", "picture/model.json",
     "sed 's/\"weights\":\\[/&{\"name\":\"z\",\"shape\":[2],\"dtype\":"
     "\"float32\"},/'",
     "", "`z` is in the file, but no layer uses it"},
    {"manifest-type", "picture/model.json",
     "sed 's/\"dtype\":\"float32\"}/\"dtype\":\"string\"}/'", "",
     "is of the type string, which is not supported"},
    {"manifest-impossible", "picture/model.json",
     "sed 's/\"shape\":\\[3,3,3,4\\]/\"shape\":[4000000000,4000000000,9]/'", "",
     "has an impossible shape"},
    {"shard-absent", "picture/model.json", "sed 's/shard1of2/shard1of3/'",
     WEIGHTS, "cannot read `group1-shard1of3.bin`: No such file"},
    {"shard-twice", "picture/model.json", "sed 's/shard1of2/shard2of2/'",
     WEIGHTS,
     "its weights need 6856 bytes, but the files in its folder have 6854"},
    {"other-cell", "words/model.json",
     "sed 's/\"recurrent_activation\":\"sigmoid\"/"
     "\"recurrent_activation\":\"hard_sigmoid\"/'",
     WEIGHTS,
     "its weights are for tanh and hard_sigmoid, or for a backward run; netc's "
     "cell runs forwards with tanh and sigmoid"},
    {"hard-sigmoid", "chain/model.json",
     "sed 's/\"activation\":\"sigmoid\"/\"activation\":\"hard_sigmoid\"/; "
     "s/keras_version/version/'",
     WEIGHTS, "hard_sigmoid is x/5 + 1/2 in Keras 2 and x/6 + 1/2 in Keras 3"},
    {"channels-first", "picture/model.json",
     "sed 's/\"channels_last\"/\"channels_first\"/g'", WEIGHTS,
     "the weights of a channels_first model cannot be converted"},
    {"shard-elsewhere", "picture/model.json",
     "sed 's/group1-shard1of2/..\\/x/'", WEIGHTS,
     "its weights are in `../x.bin`, which is not in the model's folder"},
};

static void check_damage(void **state) {
  const struct damage *d = *state;
  char name[64];
  snprintf(name, sizeof name, "keras-%s", d->name);
  const char *folder = scratch(name);
  struct run r = run("LC_ALL=C %s <" SAVED "/%s >%s/x && cp " SAVED
                     "/$(dirname %s)/*.bin %s 2>/dev/null; cd %s && %s import "
                     "%s x -o x.net",
                     d->change, d->file, folder, d->file, folder, folder,
                     NETC_PATH, d->options);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, d->says);
  run_free(&r);
}

int main(void) {
  enum { FIRST = 6, DAMAGES = sizeof damages / sizeof *damages };
  struct CMUnitTest tests[FIRST + DAMAGES] = {
      cmocka_unit_test(saved_models_compute_the_same),
      cmocka_unit_test(layers_may_be_numbered_twice),
      cmocka_unit_test(quantized_shards_are_read),
      cmocka_unit_test(bytes_tell_what_it_is),
      cmocka_unit_test(values_may_lie_beyond_a_gibibyte),
      cmocka_unit_test(archives_may_be_larger_than_a_gibibyte)};
  for (size_t i = 0; i < DAMAGES; i++)
    tests[FIRST + i] =
        (struct CMUnitTest){.name = damages[i].name,
                            check_damage,
                            .initial_state = (void *)&damages[i]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
