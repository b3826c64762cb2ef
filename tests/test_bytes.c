/*
 * Bytes that others wrote: the reader that never leaves them, from memory and
 * from files, and zip archives as they come and as they should not.
 */
#define _GNU_SOURCE
#include "import/bytes/bytes.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/limits.h"
#include "import/bytes/zip.h"
#include "tests/run.h"

static char folder[1024];

static const char *path_of(const char *name) {
  static char path[1200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static const char *put_file(const char *name, const void *bytes,
                            size_t length) {
  const char *path = path_of(name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
  return path;
}

/* The reader. */

/* The same from memory and from a file. */
static void read_all(struct byte_reader *r, struct arena *arena) {
  assert_int_equal(bytes_u8(r), 0xFE);
  assert_int_equal(bytes_u16(r), 0x0201);
  assert_int_equal(bytes_u32(r), 0x06050403);
  assert_int_equal(bytes_signed(r, 2), -2);
  assert_int_equal(bytes_unsigned_big(r, 2), 0x1234);
  assert_true(bytes_real(r, 4) == 1.5);
  assert_true(bytes_real(r, 8) == -2.5);
  assert_false(bytes_match(r, "AB", 2));
  assert_true(bytes_match(r, "ab", 2));
  assert_string_equal(bytes_text(r, arena, 3).at, "cde");
  assert_string_equal(bytes_line(r, arena, '\n').at, "line");
  assert_int_equal(r->at, r->end);
  assert_true(bytes_go(r, 1));
  assert_int_equal(bytes_u8(r), 1);
  assert_true(bytes_ok(r));
  assert_true(bytes_go(r, r->end - r->begin));
  assert_false(bytes_match(r, "a", 1)); /* no error: nothing is promised */
  assert_true(bytes_ok(r));
  assert_int_equal(bytes_u8(r), 0);
  assert_holds(r->fault, "it ends too early: some of its data are missing "
                         "(byte ");
  bytes_fail(r, "another");
  assert_false(bytes_go(r, 0));
  assert_null(strstr(r->fault, "another"));
}

static void values_are_read(void **state) {
  static const char bytes[] = "\xFE\1\2\3\4\5\6\xFE\xFF\x12\x34\0\0\xC0\x3F"
                              "\0\0\0\0\0\0\4\xC0"
                              "abcdeline\n";
  struct arena arena;
  struct byte_reader r;
  (void)state;
  arena_open(&arena, NULL, NULL);
  struct byte_store store =
      byte_store_of((struct slice){bytes, sizeof bytes - 1});
  bytes_open(&r, &store, 0, UINT64_MAX);
  read_all(&r, &arena);
  byte_store_close(&store);
  assert_true(byte_store_open(&store, put_file("x", bytes, sizeof bytes - 1)));
  bytes_open(&r, &store, 0, UINT64_MAX);
  read_all(&r, &arena);
  byte_store_close(&store);
  arena_close(&arena);
}

/* A part ends where it ends, though the store goes on. */
static void parts_are_not_left(void **state) {
  struct byte_store store = byte_store_of(slice_of("abcdefgh"));
  struct arena arena;
  struct byte_reader r;
  (void)state;
  arena_open(&arena, NULL, NULL);
  bytes_open(&r, &store, 2, 5);
  assert_int_equal(bytes_u8(&r), 'c');
  assert_false(bytes_go(&r, 4));
  bytes_open(&r, &store, 2, 5);
  assert_false(bytes_fits(&r, UINT64_MAX / 8 + 2, 8));
  bytes_open(&r, &store, 2, 5);
  assert_int_equal(bytes_text(&r, &arena, UINT64_MAX).length, 0);
  assert_false(bytes_ok(&r));
  bytes_open(&r, &store, 2, 5);
  assert_int_equal(bytes_line(&r, &arena, 'f').length, 0);
  assert_false(bytes_ok(&r));
  bytes_open(&r, &store, 7, 3);
  assert_int_equal(r.end, r.begin);
  assert_false(bytes_skip(&r, 1));
  arena_close(&arena);
}

static void nesting_is_limited(void **state) {
  struct byte_store store = byte_store_of(slice_of("a"));
  struct byte_reader r;
  (void)state;
  bytes_open(&r, &store, 0, 1);
  for (int i = 0; i < LIMIT_DEPTH; i++)
    assert_true(bytes_enter(&r));
  bytes_leave(&r);
  assert_true(bytes_enter(&r));
  assert_false(bytes_enter(&r));
  assert_holds(r.fault, "it is nested more than 200 levels deep");
}

/* Large ones are read at their end, at once; one that shrinks is an error. */
static void files_of_any_size(void **state) {
  struct byte_store store;
  struct byte_reader r;
  const char *path = put_file("large", "", 0);
  char byte;
  (void)state;
  assert_int_equal(truncate(path, INT64_C(5000000000)), 0);
  assert_true(byte_store_open(&store, path));
  assert_int_equal(store.size, INT64_C(5000000000));
  assert_true(byte_store_read(&store, UINT64_C(4999999999), &byte, 1));
  assert_false(byte_store_read(&store, UINT64_C(5000000000), &byte, 1));
  assert_false(byte_store_read(&store, UINT64_MAX, &byte, 2));
  bytes_open(&r, &store, 0, UINT64_MAX);
  assert_true(bytes_go(&r, UINT64_C(4999990000)));
  assert_int_equal(truncate(path, 10), 0);
  bytes_u64(&r);
  assert_holds(r.fault, "it was truncated while netc read it");
  byte_store_close(&store);
}

static void what_is_no_file(void **state) {
  struct byte_store store;
  (void)state;
  assert_false(byte_store_open(&store, path_of("absent")));
  assert_holds(store.fault, "No such file");
  byte_store_close(&store);
  assert_false(byte_store_open(&store, "/dev/zero"));
  assert_holds(store.fault, "it is not a regular file");
  byte_store_close(&store);
  assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
  assert_false(byte_store_open(&store, path_of("pipe")));
  assert_holds(store.fault, "it is not a regular file");
  byte_store_close(&store);
}

/* Zip archives. */

enum { ROOM = 1 << 20 };

/* An archive that is written here, with what may be wrong with it. */
struct archive {
  char *at;
  size_t used;
  char directory[4096];
  size_t directory_used, count;
  bool descriptors, wide;
  unsigned flags;
};

static void put(char *to, size_t *used, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++)
    to[(*used)++] = (char)(value >> 8 * i & 255);
}

static void put_text(char *to, size_t *used, const char *text, size_t length) {
  memcpy(to + *used, text, length);
  *used += length;
}

static size_t pack(const char *bytes, size_t length, char *to, size_t room) {
  z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes,
                     .avail_in = (unsigned)length,
                     .next_out = (unsigned char *)to,
                     .avail_out = (unsigned)room};
  assert_int_equal(
      deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY),
      Z_OK);
  assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
  deflateEnd(&stream);
  return stream.total_out;
}

/* With 64-bit sizes, they stand in the extra field. */
static void put_member(struct archive *a, const char *name, const char *bytes,
                       size_t length, int method) {
  char *packed = malloc(ROOM), *d = a->directory;
  size_t header = a->used, *n = &a->directory_used;
  size_t size = method == 8 ? pack(bytes, length, packed, ROOM) : length;
  uint64_t crc = crc32(0, (const unsigned char *)bytes, (unsigned)length);
  unsigned flags = a->flags | (a->descriptors ? 8 : 0);
  bool late = a->descriptors;
  put(a->at, &a->used, 0x04034b50, 4);
  put(a->at, &a->used, 20, 2);
  put(a->at, &a->used, flags, 2);
  put(a->at, &a->used, (uint64_t)method, 2);
  put(a->at, &a->used, 0, 4);
  put(a->at, &a->used, late ? 0 : crc, 4);
  put(a->at, &a->used, late ? 0 : size, 4);
  put(a->at, &a->used, late ? 0 : length, 4);
  put(a->at, &a->used, strlen(name), 2);
  put(a->at, &a->used, 5, 2); /* padding, as torch.save writes */
  put_text(a->at, &a->used, name, strlen(name));
  put_text(a->at, &a->used, "FB\1\0Z", 5);
  put_text(a->at, &a->used, method == 8 ? packed : bytes, size);
  if (late) {
    put(a->at, &a->used, 0x08074b50, 4);
    put(a->at, &a->used, crc, 4);
    put(a->at, &a->used, size, 4);
    put(a->at, &a->used, length, 4);
  }
  put(d, n, 0x02014b50, 4);
  put(d, n, 20, 2);
  put(d, n, 20, 2);
  put(d, n, flags, 2);
  put(d, n, (uint64_t)method, 2);
  put(d, n, 0, 4);
  put(d, n, crc, 4);
  put(d, n, a->wide ? UINT32_MAX : size, 4);
  put(d, n, a->wide ? UINT32_MAX : length, 4);
  put(d, n, strlen(name), 2);
  put(d, n, a->wide ? 28 : 0, 2);
  put(d, n, 0, 2);
  put(d, n, 0, 8);
  put(d, n, a->wide ? UINT32_MAX : header, 4);
  put_text(d, n, name, strlen(name));
  if (a->wide) {
    put(d, n, 1, 2);
    put(d, n, 24, 2);
    put(d, n, length, 8);
    put(d, n, size, 8);
    put(d, n, header, 8);
  }
  a->count++;
  free(packed);
}

static void put_end(struct archive *a, const char *comment) {
  size_t begin = a->used, *n = &a->used;
  put_text(a->at, n, a->directory, a->directory_used);
  if (a->wide) {
    size_t end = *n;
    put(a->at, n, 0x06064b50, 4);
    put(a->at, n, 44, 8);
    put(a->at, n, 45, 2);
    put(a->at, n, 45, 2);
    put(a->at, n, 0, 8);
    put(a->at, n, a->count, 8);
    put(a->at, n, a->count, 8);
    put(a->at, n, a->directory_used, 8);
    put(a->at, n, begin, 8);
    put(a->at, n, 0x07064b50, 4);
    put(a->at, n, 0, 4);
    put(a->at, n, end, 8);
    put(a->at, n, 1, 4);
  }
  put(a->at, n, 0x06054b50, 4);
  put(a->at, n, 0, 4);
  put(a->at, n, a->wide ? 0xFFFF : a->count, 2);
  put(a->at, n, a->wide ? 0xFFFF : a->count, 2);
  put(a->at, n, a->wide ? UINT32_MAX : a->directory_used, 4);
  put(a->at, n, a->wide ? UINT32_MAX : begin, 4);
  put(a->at, n, strlen(comment), 2);
  put_text(a->at, n, comment, strlen(comment));
}

static void check_good(struct archive a, const char *comment, int method) {
  struct zip zip;
  struct arena arena;
  struct slice bytes;
  char text[1000];
  arena_open(&arena, NULL, NULL);
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = (char)('a' + i % 26);
  a.at = malloc(ROOM);
  put_member(&a, "x/one", text, sizeof text, method);
  put_member(&a, "../two", "2", 1, 0);
  put_member(&a, "x/none", "", 0, method);
  put_end(&a, comment);
  struct byte_store store = byte_store_of((struct slice){a.at, a.used});
  if (!zip_open(&zip, &store, &arena))
    fail_msg("%s", zip.fault);
  assert_int_equal(zip.members.count, 3);
  assert_true(zip_read(&zip, zip_find(&zip, "x/one"), &arena, &bytes));
  assert_true(slice_equal(bytes, (struct slice){text, sizeof text}));
  assert_true(zip_read(&zip, zip_find(&zip, "../two"), &arena, &bytes));
  assert_string_equal(bytes.at, "2");
  assert_true(zip_read(&zip, zip_find_end(&zip, "/none"), &arena, &bytes));
  assert_int_equal(bytes.length, 0);
  assert_null(zip_find(&zip, "three"));
  assert_int_equal(a.at[zip_find(&zip, "../two")->at], '2');
  /* A part of it is no archive, and no part makes it read what is not there. */
  for (size_t length = 0; length < a.used; length++) {
    char *part = malloc(length + 1);
    memcpy(part, a.at, length);
    store = byte_store_of((struct slice){part, length});
    assert_false(zip_open(&zip, &store, &arena));
    assert_true(*zip.fault);
    free(part);
  }
  free(a.at);
  arena_close(&arena);
}

static void archives_are_read(void **state) {
  (void)state;
  check_good((struct archive){0}, "", 0);
  check_good((struct archive){0}, "", 8);
  check_good((struct archive){.descriptors = true}, "a comment", 8);
  check_good((struct archive){.wide = true}, "PK", 8);
}

/* Archives that are wrong. */

enum { DIRECTORY_CRC = 16, DIRECTORY_SIZE = 24, DIRECTORY_HEADER = 42 };

/* Opens and reads one of a member of 400 bytes with a byte changed. */
static const char *fault_of(struct archive a, size_t changed, char to,
                            int method) {
  static char fault[320];
  static const char zeros[400] = "not quite";
  struct zip zip;
  struct arena arena;
  struct slice bytes;
  arena_open(&arena, NULL, NULL);
  a.at = malloc(ROOM);
  put_member(&a, "one", zeros, sizeof zeros, method);
  if (changed)
    a.directory[changed] = to;
  put_end(&a, "");
  struct byte_store store = byte_store_of((struct slice){a.at, a.used});
  if (zip_open(&zip, &store, &arena) &&
      zip_read(&zip, zip_find(&zip, "one"), &arena, &bytes))
    fail_msg("it was read");
  snprintf(fault, sizeof fault, "%s", zip.fault);
  free(a.at);
  arena_close(&arena);
  return fault;
}

static void archives_are_refused(void **state) {
  struct archive plain = {0};
  (void)state;
  assert_holds(fault_of((struct archive){.flags = 1}, 0, 0, 0),
               "`one` is encrypted");
  assert_holds(fault_of(plain, DIRECTORY_CRC, 7, 8), "`one` is corrupt: its "
                                                     "checksum differs");
  assert_holds(fault_of(plain, DIRECTORY_SIZE, 7, 8), "`one` is corrupt, or "
                                                      "has a different size");
  assert_holds(fault_of(plain, DIRECTORY_SIZE, 7, 0), "has two sizes");
  assert_holds(fault_of(plain, DIRECTORY_SIZE + 2, 7, 8),
               "unpacked it would be more than 100 times its size");
  assert_holds(fault_of(plain, DIRECTORY_HEADER, 1, 8),
               "`one` is not where its directory says");
  assert_holds(fault_of(plain, 10, 12, 8), "is packed by method 12");
  assert_holds(fault_of(plain, 46, 'O', 8),
               "`One` is not where its directory says");
  assert_holds(fault_of(plain, 47, '\0', 8), "has a NUL");
  assert_holds(fault_of(plain, 1, 0, 8), "its directory is broken");
  assert_holds(fault_of(plain, DIRECTORY_SIZE - 2, 7, 0), "has two sizes");
  assert_holds(fault_of(plain, DIRECTORY_SIZE - 2, 7, 8), "but ");
}

/* All that is inflated is what the directory says, and 42 kB of nothing are
 * no 40 MB. */
static void bombs_are_refused(void **state) {
  struct zip zip;
  struct arena arena;
  struct archive a = {.at = malloc(ROOM)};
  char *zeros = calloc(1, 1 << 22);
  (void)state;
  arena_open(&arena, NULL, NULL);
  put_member(&a, "zeros", zeros, 1 << 22, 8);
  put_end(&a, "");
  assert_true(a.used < 1 << 14);
  struct byte_store store = byte_store_of((struct slice){a.at, a.used});
  assert_false(zip_open(&zip, &store, &arena));
  assert_holds(zip.fault, "unpacked it would be more than 100 times its size");
  arena_close(&arena);
  free(zeros);
  free(a.at);
}

static void names_stand_once(void **state) {
  struct zip zip;
  struct arena arena;
  struct archive a = {.at = malloc(ROOM)};
  (void)state;
  arena_open(&arena, NULL, NULL);
  put_member(&a, "a\033[2J", "1", 1, 0);
  put_member(&a, "a\033[2J", "2", 1, 0);
  put_end(&a, "");
  struct byte_store store = byte_store_of((struct slice){a.at, a.used});
  assert_false(zip_open(&zip, &store, &arena));
  assert_string_equal(zip.fault, "two members are named `a?[2J`");
  arena_close(&arena);
  free(a.at);
}

int main(void) {
  snprintf(folder, sizeof folder, "%s", scratch("bytes"));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_read),
      cmocka_unit_test(parts_are_not_left),
      cmocka_unit_test(nesting_is_limited),
      cmocka_unit_test(files_of_any_size),
      cmocka_unit_test(what_is_no_file),
      cmocka_unit_test(archives_are_read),
      cmocka_unit_test(archives_are_refused),
      cmocka_unit_test(bombs_are_refused),
      cmocka_unit_test(names_stand_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
