/*
 * Files of tensors as others write them: what PyTorch says of tests/data/torch
 * (tools/tensor_files.py), pickles that are refused by name, GGUF to the byte.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "import/tensors/gguf.h"
#include "import/tensors/hdf5.h"
#include "import/tensors/pickle.h"
#include "tests/run.h"

#define FOLDER "tests/data/torch/"

static char folder[1024];

static const char *path_of(const char *name) {
  static char path[1200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void put_file(const char *path, const void *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

/* As PyTorch counts them. */

struct truth {
  char name[64];
  int tensors, parameters, buffers, values;
};

static void check_truth(void **state) {
  const struct truth *t = *state;
  char buffers[64] = "";
  struct run r = run("%s weights " FOLDER "%s", NETC, t->name);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.err, "");
  if (t->buffers)
    snprintf(buffers, sizeof buffers, ", %d values of buffers", t->buffers);
  assert_holds(r.out, text_of("\n%d tensors, ", t->tensors));
  assert_holds(r.out, text_of("; %d parameters%s; ", t->parameters, buffers));
  run_free(&r);
  r = run("%s " FOLDER "%s", NETC, t->name);
  if (strcmp(t->name, "whole.pth") == 0) /* a net, but for its input's size */
    assert_holds(r.err, "--input HEIGHTxWIDTHx2");
  else
    assert_holds(r.out, text_of("\n%d tensors, ", t->tensors));
  run_free(&r);
}

/* Values are those of safetensors, bit for bit. */
static void values_are_equal(void **state) {
  const struct truth *t = *state;
  size_t length, other;
  char wanted[1200];
  snprintf(wanted, sizeof wanted, "%s", path_of("wanted.safetensors"));
  struct run r = run("%s weights " FOLDER "small.net --from " FOLDER
                     "small.safetensors -o %s",
                     NETC, wanted);
  assert_int_equal(r.status, 0);
  run_free(&r);
  r = run("%s weights " FOLDER "small.net --from " FOLDER "%s -o %s", NETC,
          t->name, path_of("ours.safetensors"));
  assert_string_equal(r.err, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
  char *a = read_text(wanted, &length);
  char *b = read_text(path_of("ours.safetensors"), &other);
  assert_int_equal(length, other);
  assert_memory_equal(a, b, length);
  free(a);
  free(b);
}

static void deflated_values_are_refused(void **state) {
  struct run r =
      run("%s weights " FOLDER "small.net --from " FOLDER "deflated.pth -o %s",
          NETC, path_of("no.safetensors"));
  (void)state;
  assert_int_equal(r.status, 3);
  assert_holds(r.err, "its members are compressed; torch.save and `zip -0` "
                      "store them");
  assert_int_not_equal(access(path_of("no.safetensors"), F_OK), 0);
  run_free(&r);
}

/* Cut anywhere, a file is an error or, of GGUF, a header alone. */
static void files_that_end_early(void **state) {
  static const char *const names[] = {"legacy.pth", "small.gguf"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t length;
    char path[128];
    snprintf(path, sizeof path, FOLDER "%s", names[i]);
    char *whole = read_text(path, &length);
    for (size_t at = 0; at < length; at += 1 + at / 64) {
      struct tensor_file file;
      struct arena arena;
      arena_open(&arena, NULL, NULL);
      put_file(path_of("part"), whole, at);
      bool opened = tensors_open(&file, path_of("part"), &arena);
      assert_true(opened ? file.missing > 0 && i == 1 : *file.fault);
      tensors_close(&file);
      arena_close(&arena);
    }
    free(whole);
  }
}

/* Pickles. */

struct pickled {
  const char *name, *bytes;
  size_t length;
  const char *said; /* NULL: it is read */
};

#define PICKLE(bytes) bytes, sizeof bytes - 1

static const struct pickled pickles[] = {
    {"none", PICKLE("\x80\2N."), NULL},
    {"call-of-a-shell", PICKLE("\x80\2cposix\nsystem\nX\2\0\0\0ls\x85R."),
     "`posix.system` is not allowed in a file of weights"},
    {"call-by-stack", PICKLE("\x80\4\x8c\2os\x8c\6system\x93)R."),
     "`os.system` is not allowed"},
    {"global-that-is-not-called", PICKLE("\x80\2}X\1\0\0\0acos\nsystem\ns."),
     "`os.system` is not allowed"},
    {"builtin",
     PICKLE("\x80\2c__builtin__\neval\nX\1\0\0\0"
            "1\x85R."),
     "`__builtin__.eval` is not allowed"},
    {"getattr", PICKLE("\x80\2cbuiltins\ngetattr\n)R."),
     "`builtins.getattr` is not allowed"},
    {"function-beside-an-allowed-one",
     PICKLE("\x80\2ctorch._utils\n_import\n."),
     "`torch._utils._import` is not allowed"},
    {"module-of-a-like-name", PICKLE("\x80\2ctorch.nnx\nA\n."),
     "`torch.nnx.A` is not allowed"},
    {"class-that-is-called", PICKLE("\x80\2ctorch.nn\nLinear\n)R."),
     "`torch.nn.Linear` is not allowed"},
    {"object-of-another-class", PICKLE("\x80\2c__main__\nNet\n)\x81}b."),
     "`__main__.Net` is not allowed"},
    {"module-of-the-users-own",
     PICKLE("\x80\2c__main__\nNet\n)\x81}(X\x8\0\0\0_modules}"
            "X\xb\0\0\0_parameters}ub."),
     NULL},
    {"state-without-modules",
     PICKLE("\x80\2c__main__\nNet\n)\x81}(X\x8\0\0\0_modules}ub."),
     "`__main__.Net` is not allowed"},
    {"opcode-inst", PICKLE("\x80\2(ios\nsystem\n."),
     "opcode INST is not allowed"},
    {"opcode-obj", PICKLE("\x80\2(cos\nsystem\no."),
     "opcode OBJ is not allowed"},
    {"opcode-ext", PICKLE("\x80\2\x82\1."), "opcode EXT1 is not allowed"},
    {"opcode-newobj-ex", PICKLE("\x80\4\x92."), "opcode NEWOBJ_EX is not"},
    {"no-opcode", PICKLE("\x80\2\xff."), "0xFF is not an opcode of a pickle"},
    {"later-protocol", PICKLE("\x80\x9."), "protocol 9 is not supported"},
    {"empty-stack", PICKLE("\x80\2."), "its stack is empty"},
    {"stack-below-a-mark", PICKLE("\x80\2N(\x85."), "its stack is empty"},
    {"no-mark", PICKLE("\x80\2Nt."), "its stack has no mark"},
    {"memo-that-is-not-there", PICKLE("\x80\2h\5."), "memo 5 does not exist"},
    {"memo-of-2-to-the-32", PICKLE("\x80\2Nr\xff\xff\xff\xff."),
     "memo 4294967295 is not the next"},
    {"items-of-a-number", PICKLE("\x80\2K\1K\2a."),
     "items are added to an object that cannot hold any"},
    {"odd-items", PICKLE("\x80\2}(K\1u."),
     "items are added to an object that cannot hold any"},
    {"text-beyond-the-end",
     PICKLE("\x80\2X\xff\xff\xff\x7f"
            "ab."),
     "it ends too early: some of its data are missing"},
    {"no-stop", PICKLE("\x80\2N"),
     "it ends too early: some of its data are missing"},
    {"filled-number", PICKLE("\x80\2K\1}b."),
     "the target of a state is not an object"},
    {"calls-a-text", PICKLE("\x80\2X\1\0\0\0a)R."), "has no name"},
};

static void check_pickle(void **state) {
  const struct pickled *p = *state;
  struct arena arena;
  struct byte_reader r;
  struct byte_store store = byte_store_of((struct slice){p->bytes, p->length});
  arena_open(&arena, NULL, NULL);
  bytes_open(&r, &store, 0, UINT64_MAX);
  const struct pickle_value *value = pickle_read(&r, &arena);
  if (p->said) {
    assert_null(value);
    assert_holds(r.fault, p->said);
  } else {
    assert_string_equal(r.fault, "");
    assert_non_null(value);
  }
  arena_close(&arena);
}

/* A list that holds itself, and 2^40 paths to one list. */
static void deep_trees_end(void **state) {
  static const char *const loops[] = {"loop", "bush"};
  (void)state;
  for (int i = 0; i < 2; i++) {
    char bytes[1024] = "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
                       "\x80\2M\xe9\3.\x80\2}.\x80\2";
    size_t used = 27;
    assert_int_equal(memcmp(bytes + used - 2, "\x80\2", 2), 0);
    if (i == 0) {
      memcpy(bytes + used, "]q\0h\0a.", 7);
      used += 7;
    } else {
      memcpy(bytes + used, "N", 1);
      used++;
      for (int k = 0; k < 40; k++) {
        bytes[used++] = 'q';
        bytes[used++] = (char)k;
        bytes[used++] = 'h';
        bytes[used++] = (char)k;
        bytes[used++] = '\x86';
      }
      bytes[used++] = '.';
    }
    memcpy(bytes + used, "\x80\2].", 4);
    used += 4;
    put_file(path_of(loops[i]), bytes, used);
    struct run r = run("%s weights %s", NETC, path_of(loops[i]));
    assert_int_equal(r.status, 1);
    assert_holds(r.err, "its pickle is too large, or nested too deep");
    run_free(&r);
  }
}

/* HDF5: values are read later, and a file may be another by then. */
static void a_file_that_shrinks_is_an_error(void **state) {
  struct byte_store store;
  struct arena arena;
  struct hdf5 hdf5;
  size_t length;
  (void)state;
  char *file = read_text("tests/data/import/saved/chain/model.h5", &length);
  put_file(path_of("shrinks.h5"), file, length);
  free(file);
  arena_open(&arena, NULL, NULL);
  assert_true(byte_store_open(&store, path_of("shrinks.h5")));
  assert_int_equal(truncate(path_of("shrinks.h5"), 100), 0);
  assert_false(hdf5_open(&hdf5, &store, &arena));
  assert_holds(hdf5.r.fault, "it was truncated while netc read it");
  byte_store_close(&store);
  arena_close(&arena);
}

/* GGUF. */

struct gguf_bytes {
  char at[4096];
  size_t used;
};

static void put(struct gguf_bytes *g, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++)
    g->at[g->used++] = (char)(value >> 8 * i & 255);
}

static void put_text(struct gguf_bytes *g, const char *text) {
  put(g, strlen(text), 8);
  memcpy(g->at + g->used, text, strlen(text));
  g->used += strlen(text);
}

static void put_head(struct gguf_bytes *g, uint64_t version, uint64_t tensors,
                     uint64_t keys) {
  g->used = 0;
  put(g, 0x46554747, 4);
  put(g, version, 4);
  put(g, tensors, 8);
  put(g, keys, 8);
}

static void put_tensor(struct gguf_bytes *g, const char *name, uint64_t rows,
                       uint64_t columns, uint64_t type, uint64_t offset) {
  put_text(g, name);
  put(g, 2, 4);
  put(g, columns, 8);
  put(g, rows, 8);
  put(g, type, 4);
  put(g, offset, 8);
}

/* Bytes of 256 values of each type: sizes of ggml.c's table. */
static const struct ggml {
  unsigned type;
  const char *word;
  uint64_t bytes;
} ggmls[] = {
    {0, "F32", 1024},    {1, "F16", 512},     {2, "Q4_0", 144},
    {3, "Q4_1", 160},    {6, "Q5_0", 176},    {7, "Q5_1", 192},
    {8, "Q8_0", 272},    {9, "Q8_1", 288},    {10, "Q2_K", 84},
    {11, "Q3_K", 110},   {12, "Q4_K", 144},   {13, "Q5_K", 176},
    {14, "Q6_K", 210},   {15, "Q8_K", 292},   {16, "IQ2_XXS", 66},
    {17, "IQ2_XS", 74},  {18, "IQ3_XXS", 98}, {19, "IQ1_S", 50},
    {20, "IQ4_NL", 144}, {21, "IQ3_S", 110},  {22, "IQ2_S", 82},
    {23, "IQ4_XS", 136}, {24, "I8", 256},     {25, "I16", 512},
    {26, "I32", 1024},   {27, "I64", 2048},   {28, "F64", 2048},
    {29, "IQ1_M", 56},   {30, "BF16", 512},   {34, "TQ1_0", 54},
    {35, "TQ2_0", 66},   {39, "MXFP4", 136},
};

static void types_have_their_bytes(void **state) {
  struct gguf_bytes g;
  struct tensor_file file;
  struct arena arena;
  (void)state;
  for (size_t i = 0; i < sizeof ggmls / sizeof *ggmls; i++) {
    arena_open(&arena, NULL, NULL);
    put_head(&g, 3, 1, 0);
    put_tensor(&g, "a", 3, 256, ggmls[i].type, 0);
    put_file(path_of("types.gguf"), g.at, g.used);
    assert_true(tensors_open(&file, path_of("types.gguf"), &arena));
    const struct stored_tensor *t = tensors_find(&file, "a");
    assert_string_equal(t->word, ggmls[i].word);
    assert_int_equal(t->bytes, 3 * ggmls[i].bytes);
    assert_int_equal(t->dims[0], 3);
    assert_int_equal(file.missing, (g.used + 31) / 32 * 32 + t->bytes - g.used);
    tensors_close(&file);
    arena_close(&arena);
  }
}

static void keys_are_found(void **state) {
  struct gguf_bytes g;
  struct gguf keys;
  struct arena arena;
  (void)state;
  arena_open(&arena, NULL, NULL);
  put_head(&g, 2, 0, 4);
  put_text(&g, "a.count");
  put(&g, 5, 4);
  put(&g, (uint64_t)-7, 4);
  put_text(&g, "a.base");
  put(&g, 12, 4);
  put(&g, 0xC004000000000000, 8);
  put_text(&g, "a.name");
  put(&g, 8, 4);
  put_text(&g, "llama");
  put_text(&g, "a.heads");
  put(&g, 9, 4);
  put(&g, 10, 4);
  put(&g, 2, 8);
  put(&g, 32, 8);
  put(&g, UINT64_MAX, 8);
  struct tensor_file file = {.store =
                                 byte_store_of((struct slice){g.at, g.used})};
  assert_true(gguf_read_keys(&file, &arena, &keys));
  assert_int_equal(keys.values.count, 4);
  assert_int_equal(gguf_find(&keys, "a.count")->integer, -7);
  assert_true(gguf_find(&keys, "a.count")->real == -7);
  assert_true(gguf_find(&keys, "a.base")->real == -2.5);
  assert_string_equal(gguf_find(&keys, "a.name")->text.at, "llama");
  const struct gguf_value *heads = gguf_find(&keys, "a.heads");
  assert_int_equal(heads->kind, GGUF_LIST);
  assert_int_equal(heads->count, 2);
  assert_int_equal(heads->items[0].integer, 32);
  assert_int_equal(heads->items[1].integer, INT64_MAX);
  assert_null(gguf_find(&keys, "a"));
  arena_close(&arena);
}

static void refuse_gguf(const struct gguf_bytes *g, const char *said) {
  struct tensor_file file = {.store =
                                 byte_store_of((struct slice){g->at, g->used})};
  struct gguf keys;
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  assert_false(gguf_read_keys(&file, &arena, &keys));
  assert_holds(file.fault, said);
  arena_close(&arena);
}

static void headers_are_refused(void **state) {
  struct gguf_bytes g;
  (void)state;
  put_head(&g, 4, 0, 0);
  refuse_gguf(&g, "it has version 4; versions 1 to 3 are supported");
  put_head(&g, 0x03000000, 0, 0);
  refuse_gguf(&g, "big-endian");
  put_head(&g, 3, UINT64_MAX, 0);
  refuse_gguf(&g, "it ends too early: some of its data are missing");
  put_head(&g, 3, 1, 0);
  put_tensor(&g, "a", 1, 100, 12, 0);
  refuse_gguf(&g, "rows of 100 values, but Q4_K has blocks of 256");
  put_head(&g, 3, 1, 0);
  put_tensor(&g, "a", 1, 256, 4, 0);
  refuse_gguf(&g, "tensor `a` has the unknown type 4");
  put_head(&g, 3, 1, 0);
  put_tensor(&g, "a", 1, 256, 0, 8);
  refuse_gguf(&g, "is not aligned to 32 bytes");
  put_head(&g, 3, 1, 0);
  put_tensor(&g, "a", INT64_C(1) << 40, 1 << 30, 0, 0);
  refuse_gguf(&g, "tensor `a` would have more than 2^63 values");
  put_head(&g, 3, 1, 0);
  put_tensor(&g, "a", 1, 32, 0, UINT64_MAX - 31);
  refuse_gguf(&g, "beyond 2^63 bytes");
  put_head(&g, 3, 0, 2);
  for (int i = 0; i < 2; i++) {
    put_text(&g, "a");
    put(&g, 7, 4);
    put(&g, 1, 1);
  }
  refuse_gguf(&g, "key `a` is repeated");
  put_head(&g, 3, 0, 1);
  put_text(&g, "a");
  put(&g, 9, 4);
  put(&g, 4, 4);
  put(&g, INT64_C(1) << 62, 8);
  refuse_gguf(&g, "it ends too early: some of its data are missing");
  put_head(&g, 3, 0, 1);
  put_text(&g, "a");
  put(&g, 9, 4);
  for (int i = 0; i < 220; i++) {
    put(&g, 9, 4);
    put(&g, 1, 8);
  }
  put(&g, 0, 4);
  put(&g, 0, 8);
  refuse_gguf(&g, "it is nested more than 200 levels deep");
}

enum { MOST = 40 };

static size_t read_truth(struct truth *rows) {
  size_t count = 0, length;
  char *text = read_text(FOLDER "truth.csv", &length);
  for (char *line = strchr(text, '\n'); line && line[1] && count < MOST;
       line = strchr(line + 1, '\n'), count++) {
    struct truth *t = &rows[count];
    assert_int_equal(sscanf(line + 1, "%63[^,],%d,%d,%d,%d", t->name,
                            &t->tensors, &t->parameters, &t->buffers,
                            &t->values),
                     5);
  }
  free(text);
  return count;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

int main(void) {
  static struct truth rows[MOST];
  static struct CMUnitTest tests[2 * MOST + COUNT(pickles) + 16];
  const struct CMUnitTest others[] = {
      cmocka_unit_test(deflated_values_are_refused),
      cmocka_unit_test(files_that_end_early),
      cmocka_unit_test(deep_trees_end),
      cmocka_unit_test(a_file_that_shrinks_is_an_error),
      cmocka_unit_test(types_have_their_bytes),
      cmocka_unit_test(keys_are_found),
      cmocka_unit_test(headers_are_refused),
  };
  size_t count = 0, truths = read_truth(rows);
  snprintf(folder, sizeof folder, "%s", scratch("tensor_files"));
  for (size_t i = 0; i < truths; i++)
    for (int values = 0; values <= rows[i].values; values++)
      tests[count++] = (struct CMUnitTest){
          .name = rows[i].name,
          .test_func = values ? values_are_equal : check_truth,
          .initial_state = &rows[i]};
  for (size_t i = 0; i < COUNT(pickles); i++)
    tests[count++] = (struct CMUnitTest){.name = pickles[i].name,
                                         .test_func = check_pickle,
                                         .initial_state = (void *)&pickles[i]};
  for (size_t i = 0; i < COUNT(others); i++)
    tests[count++] = others[i];
  return truths
             ? _cmocka_run_group_tests("tensor_files", tests, count, NULL, NULL)
             : 1;
}
