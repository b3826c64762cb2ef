/*
 * Files of tensors: safetensors and .npy as anybody may have written them,
 * types of values, and `netc weights` over such files.
 */
#include "base/arena.h"
#include "import/tensors/npy.h"
#include "import/tensors/safetensors.h"
#include "tests/run.h"

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

/* A safetensors file of a header and so many bytes that are 0. */
static const char *put_safetensors(const char *header, long long length,
                                   size_t zeros) {
  static char bytes[4096];
  const char *path = path_of("x.safetensors");
  size_t used = strlen(header);
  memset(bytes, 0, sizeof bytes);
  for (int i = 0; i < 8; i++)
    bytes[i] = (char)(length >> 8 * i & 255);
  memcpy(bytes + 8, header, used);
  put_file(path, bytes, 8 + used + zeros);
  return path;
}

/* Files of safetensors that are wrong. */

struct wrong {
  const char *name, *header;
  long long length; /* of the header, as the file says; 0: the true one */
  size_t zeros;
  const char *said;
};

#define TENSOR(name, type, shape, from, to)                \
  "\"" name "\":{\"dtype\":\"" type "\",\"shape\":[" shape \
  "],\"data_offsets\":[" #from "," #to "]}"

static const struct wrong wrongs[] = {
    {"header-longer-than-the-file", "{}", 3, 0, "is the file complete?"},
    {"header-over-the-limit", "{}", 100000001, 0, "is it a safetensors file?"},
    {"header-of-all-bits", "{}", -1, 0, "is it a safetensors file?"},
    {"header-that-is-no-json", "{\"a\":", 0, 0, "its header is not JSON"},
    {"header-that-is-a-list", "[1]", 0, 0, "the header is not a JSON object"},
    {"header-with-a-nul", "{\"a\\u0000b\":1}", 0, 0, "its header is not JSON"},
    {"name-twice",
     "{" TENSOR("a", "F32", "1", 0, 4) "," TENSOR("a", "F32", "1", 4, 8) "}", 0,
     8, "duplicate object key near '\"a\"'"},
    {"tensor-that-is-a-number", "{\"a\":1}", 0, 0,
     "tensor `a` is not described"},
    {"no-dtype", "{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 0, 4,
     "tensor `a` has no dtype"},
    {"dtype-that-is-not-known", "{" TENSOR("a", "F3", "4", 0, 4) "}", 0, 4,
     "tensor `a` has the unknown type `F3`"},
    {"no-shape", "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 0, 4,
     "tensor `a` has no shape"},
    {"negative-size", "{" TENSOR("a", "F32", "-1", 0, 4) "}", 0, 4,
     "tensor `a` has a size that is not a whole number"},
    {"size-with-a-fraction", "{" TENSOR("a", "F32", "1.5", 0, 4) "}", 0, 4,
     "tensor `a` has a size that is not a whole number"},
    {"sizes-that-overflow",
     "{" TENSOR("a", "F32", "9223372036854775807,4", 0, 4) "}", 0, 4,
     "tensor `a` would have more than 2^63 values"},
    {"bytes-that-overflow",
     "{" TENSOR("a", "F64", "4611686018427387904", 0, 4) "}", 0, 4,
     "tensor `a` has 4611686018427387904 values of F64, which do not take 4 "
     "bytes"},
    {"size-beyond-64-bits",
     "{" TENSOR("a", "F32", "99999999999999999999", 0, 4) "}", 0, 4,
     "too big integer"},
    {"more-axes-than-16",
     "{" TENSOR("a", "F32", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", 0, 4) "}", 0,
     4, "tensor `a` has 17 axes"},
    {"one-offset",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 0, 4,
     "tensor `a` needs two data_offsets"},
    {"offsets-beyond-the-file", "{" TENSOR("a", "F32", "2", 0, 8) "}", 0, 4,
     "tensor `a` should be at bytes 0 to 8, but the data have only 4; is the"},
    {"offsets-turned-round", "{" TENSOR("a", "F32", "1", 4, 0) "}", 0, 4,
     "tensor `a` should be at bytes 4 to 0, but the data have only 4; is the"},
    {"negative-offset", "{" TENSOR("a", "F32", "1", -4, 0) "}", 0, 4,
     "tensor `a` should be at bytes -4 to 0, but the data have only 4; is"},
    {"shape-that-is-not-the-bytes", "{" TENSOR("a", "F32", "2", 0, 4) "}", 0, 4,
     "tensor `a` has 2 values of F32, which do not take 4 bytes"},
    {"tensors-that-overlap",
     "{" TENSOR("a", "F32", "2", 0, 8) "," TENSOR("b", "F32", "2", 4, 12) "}",
     0, 12, "tensors `a` and `b` overlap"},
    {"gap-between-tensors",
     "{" TENSOR("a", "F32", "1", 0, 4) "," TENSOR("b", "F32", "1", 8, 12) "}",
     0, 12, "bytes 4 to 8 of the data, before tensor `b`, belong to no tensor"},
    {"bytes-at-the-end", "{" TENSOR("a", "F32", "1", 0, 4) "}", 0, 8,
     "4 bytes after the last tensor belong to no tensor"},
    {"name-that-steers-a-terminal",
     "{" TENSOR("a\\u001b[2J", "F32", "2", 0, 4) "}", 0, 4,
     "tensor `a?[2J` has 2 values"},
};

static void check_wrong(void **state) {
  const struct wrong *wrong = *state;
  struct tensor_file s;
  struct arena arena;
  long long length =
      wrong->length ? wrong->length : (long long)strlen(wrong->header);
  arena_open(&arena, NULL, NULL);
  assert_false(tensors_open(
      &s, put_safetensors(wrong->header, length, wrong->zeros), &arena));
  assert_false(s.unread);
  assert_holds(s.fault, wrong->said);
  tensors_close(&s);
  arena_close(&arena);
}

static void files_that_are_none(void **state) {
  struct tensor_file s;
  struct arena arena;
  (void)state;
  arena_open(&arena, NULL, NULL);
  assert_false(tensors_open(&s, path_of("absent"), &arena));
  assert_true(s.unread);
  tensors_close(&s);
  assert_false(tensors_open(&s, folder, &arena));
  assert_holds(s.fault, "it is not a regular file");
  tensors_close(&s);
  put_file(path_of("empty"), "", 0);
  assert_false(tensors_open(&s, path_of("empty"), &arena));
  assert_holds(s.fault, "too few");
  tensors_close(&s);
  arena_close(&arena);
}

/* A header of brackets inside brackets must not use up the stack. */
static void nesting_is_limited(void **state) {
  enum { DEEP = 3000000 };
  struct tensor_file s;
  struct arena arena;
  char *bytes = malloc(DEEP + 8);
  (void)state;
  memset(bytes, '[', DEEP + 8);
  for (int i = 0; i < 8; i++)
    bytes[i] = (char)(DEEP >> 8 * i % 32 & (i < 4 ? 255 : 0));
  put_file(path_of("deep"), bytes, DEEP + 8);
  arena_open(&arena, NULL, NULL);
  assert_false(tensors_open(&s, path_of("deep"), &arena));
  assert_holds(s.fault, "maximum parsing depth");
  tensors_close(&s);
  arena_close(&arena);
  free(bytes);
}

static void tensors_are_found_by_name(void **state) {
  struct tensor_file s;
  struct arena arena;
  const char *header = "{\"__metadata__\":{\"format\":\"pt\"}," TENSOR(
      "b", "F16", "2", 4, 8) "," TENSOR("a", "I32", "1", 0,
                                        4) "," TENSOR("c", "F32", "0,7", 8,
                                                      8) "}";
  (void)state;
  arena_open(&arena, NULL, NULL);
  assert_true(tensors_open(
      &s, put_safetensors(header, (long long)strlen(header), 8), &arena));
  assert_int_equal(s.tensors.count, 3);
  assert_string_equal(s.tensors.at[0].name, "a");
  assert_int_equal(tensors_find(&s, "b")->at, 8 + strlen(header) + 4);
  assert_int_equal(tensors_find(&s, "c")->count, 0);
  assert_null(tensors_find(&s, "d"));
  tensors_close(&s);
  arena_close(&arena);
}

/* Values. */

struct valued {
  enum value_type type;
  uint64_t bits;
  double value;
};

static const struct valued valued[] = {
    {VALUE_F32, 0x3FC00000, 1.5},
    {VALUE_F64, 0xC004000000000000, -2.5},
    {VALUE_F16, 0x3E00, 1.5},
    {VALUE_F16, 0xBC00, -1},
    {VALUE_F16, 0x0001, 1.0 / 16777216},
    {VALUE_F16, 0x83FF, -1023.0 / 16777216},
    {VALUE_F16, 0x7BFF, 65504},
    {VALUE_BF16, 0x3FC0, 1.5},
    {VALUE_I64, 0xFFFFFFFFFFFFFFFE, -2},
    {VALUE_I16, 0xFFFF, -1},
    {VALUE_I8, 0x80, -128},
    {VALUE_U8, 0x80, 128},
    {VALUE_BOOL, 1, 1},
};

static void values_are_converted(void **state) {
  unsigned char bytes[9] = {0};
  const int64_t one = 1;
  float found;
  (void)state;
  for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
    for (int k = 0; k < 8; k++) /* at an address that is not even */
      bytes[1 + k] = (unsigned char)(valued[i].bits >> 8 * k);
    struct scattered from = {bytes + 1, valued[i].type, 1, &one, &one};
    scattered_floats(&from, &found);
    assert_true((double)found == valued[i].value);
  }
  for (int k = 0; k < 2; k++)
    bytes[k] = (unsigned char)(0x7C00 >> 8 * k);
  struct scattered from = {bytes, VALUE_F16, 1, &one, &one};
  scattered_floats(&from, &found);
  assert_true(found > 3e38F);
}

static void strides_are_followed(void **state) {
  const float values[] = {0, 1, 2, 3, 4, 5};
  const int64_t size[] = {3, 2}, stride[] = {1, 3};
  const float wanted[] = {0, 3, 1, 4, 2, 5};
  float found[6];
  (void)state;
  struct scattered from = {(const unsigned char *)values, VALUE_F32, 2, size,
                           stride};
  scattered_floats(&from, found);
  assert_memory_equal(found, wanted, sizeof found);
}

static void whole_numbers_fit_or_are_named(void **state) {
  const int64_t values[] = {7, -1, INT64_C(1) << 31};
  const int64_t size = 3, fewer = 2, stride = 1;
  int32_t found[3];
  int64_t wrong;
  (void)state;
  struct scattered from = {(const unsigned char *)values, VALUE_I64, 1, &size,
                           &stride};
  assert_false(scattered_ints(&from, found, &wrong));
  assert_int_equal(wrong, 2);
  from.size = &fewer;
  assert_true(scattered_ints(&from, found, &wrong));
  assert_int_equal(found[1], -1);
}

/* .npy. */

struct array {
  const char *name, *header;
  int version;
  size_t bytes;
  const char *said; /* NULL: it is right */
};

#define HEADER(type, order, shape) \
  "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }"

static const struct array arrays[] = {
    {"version-1", HEADER("<f4", "False", "(2, 3)"), 1, 24, NULL},
    {"version-2", HEADER("<f4", "False", "(2, 3)"), 2, 24, NULL},
    {"version-3", HEADER("<f8", "False", "(2,)"), 3, 16, NULL},
    {"one-value", HEADER("<f4", "False", "()"), 1, 4, NULL},
    {"by-columns", HEADER("<f4", "True", "(2, 3)"), 1, 24, NULL},
    {"bytes-without-an-order", HEADER("|u1", "False", "(3,)"), 1, 3, NULL},
    {"double-quotes",
     "{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"<f2\"}", 1, 4,
     NULL},
    {"version-4", HEADER("<f4", "False", "(2, 3)"), 4, 24,
     "it has version 4; versions 1 to 3 are supported"},
    {"big-endian", HEADER(">f4", "False", "(2, 3)"), 1, 24,
     "big-endian (`>f4`); in Python, `x.astype('<f4')`"},
    {"complex-values", HEADER("<c8", "False", "(2,)"), 1, 16,
     "values of type `<c8` cannot be read"},
    {"records", "{'descr': [('a', '<f4')], 'fortran_order': False}", 1, 4,
     "its values are records"},
    {"too-few-bytes", HEADER("<f4", "False", "(2, 3)"), 1, 20,
     "its shape needs 6 values of 4 bytes, but 20 bytes follow"},
    {"too-many-bytes", HEADER("<f4", "False", "(2, 3)"), 1, 28,
     "but 28 bytes follow"},
    {"negative-size", HEADER("<f4", "False", "(-2, 3)"), 1, 24,
     "its shape is broken"},
    {"sizes-that-overflow", HEADER("<f4", "False", "(9223372036854775807, 9)"),
     1, 4, "its shape is broken"},
    {"more-axes-than-32",
     HEADER("<f4", "False",
            "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
            ")"),
     1, 4, "it has more than 32 axes"},
    {"shape-without-an-end",
     "{'descr': '<f4', 'fortran_order': False, "
     "'shape': (2, 3",
     1, 24, "its shape is broken"},
    {"no-order", "{'descr': '<f4', 'shape': (2, 3)}", 1, 24,
     "needs descr, fortran_order and shape"},
    {"shape-twice", "{'descr': '<f4', 'shape': (2,), 'shape': (3,)}", 1, 24,
     "its header repeats the key `shape`"},
    {"key-that-is-not-known", "{'size': 3}", 1, 24,
     "its header has the unknown key `size`"},
    {"no-dictionary", "[]", 1, 24, "its header is not a dictionary"},
    {"string-without-an-end", "{'descr", 1, 24,
     "its header is not a dictionary"},
};

static const char *put_npy(const struct array *array) {
  static char bytes[4096];
  size_t length = strlen(array->header);
  size_t start = array->version == 1 ? 10 : 12;
  memset(bytes, 0, sizeof bytes);
  memcpy(bytes, "\x93NUMPY", 6);
  bytes[6] = (char)array->version;
  bytes[8] = (char)(length & 255);
  bytes[9] = (char)(length >> 8);
  memcpy(bytes + start, array->header, length);
  put_file(path_of("x.npy"), bytes, start + length + array->bytes);
  return path_of("x.npy");
}

static void check_array(void **state) {
  const struct array *array = *state;
  struct npy npy;
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  bool opened = npy_read(&npy, put_npy(array), &arena);
  if (array->said) {
    assert_false(opened);
    assert_holds(npy.fault, array->said);
  } else {
    if (!opened)
      print_error("%s\n", npy.fault);
    assert_true(opened);
    assert_int_equal(npy.count * value_bytes(npy.type), array->bytes);
  }
  if (strcmp(array->name, "by-columns") == 0)
    assert_int_equal(npy.strides[1], 2);
  arena_close(&arena);
}

static void arrays_that_end_early(void **state) {
  struct npy npy;
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  (void)state;
  put_npy(&arrays[0]);
  size_t length;
  char *whole = read_text(path_of("x.npy"), &length);
  for (size_t i = 0; i < length; i++) {
    put_file(path_of("part.npy"), whole, i);
    assert_false(npy_read(&npy, path_of("part.npy"), &arena));
  }
  arena_close(&arena);
  free(whole);
}

static void headers_are_read_back(void **state) {
  const int64_t dims[NPY_RANK] = {3, 1, 2};
  struct npy npy;
  struct arena arena;
  size_t length;
  arena_open(&arena, NULL, NULL);
  (void)state;
  for (int rank = 0; rank <= 3; rank++) {
    FILE *file = fopen(path_of("y.npy"), "wb");
    const float values[6] = {0};
    size_t count = rank == 0 ? 1 : rank < 3 ? 3 : 6;
    npy_write_header(file, VALUE_F32, rank, dims);
    floats_write(file, values, count);
    fclose(file);
    assert_true(npy_read(&npy, path_of("y.npy"), &arena));
    assert_int_equal(npy.rank, rank);
    assert_memory_equal(npy.dims, dims, (size_t)rank * sizeof *dims);
    free(read_text(path_of("y.npy"), &length));
    assert_int_equal((length - count * sizeof *values) % 64, 0);
  }
  arena_close(&arena);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

int main(void) {
  static struct CMUnitTest tests[COUNT(wrongs) + COUNT(arrays) + 16];
  const struct CMUnitTest others[] = {
      cmocka_unit_test(files_that_are_none),
      cmocka_unit_test(nesting_is_limited),
      cmocka_unit_test(tensors_are_found_by_name),
      cmocka_unit_test(values_are_converted),
      cmocka_unit_test(strides_are_followed),
      cmocka_unit_test(whole_numbers_fit_or_are_named),
      cmocka_unit_test(arrays_that_end_early),
      cmocka_unit_test(headers_are_read_back),
  };
  size_t count = 0;
  snprintf(folder, sizeof folder, "%s", scratch("tensors"));
  for (size_t i = 0; i < COUNT(wrongs); i++)
    tests[count++] = (struct CMUnitTest){.name = wrongs[i].name,
                                         .test_func = check_wrong,
                                         .initial_state = (void *)&wrongs[i]};
  for (size_t i = 0; i < COUNT(arrays); i++)
    tests[count++] = (struct CMUnitTest){.name = arrays[i].name,
                                         .test_func = check_array,
                                         .initial_state = (void *)&arrays[i]};
  for (size_t i = 0; i < COUNT(others); i++)
    tests[count++] = others[i];
  return _cmocka_run_group_tests("tensors", tests, count, NULL, NULL);
}
