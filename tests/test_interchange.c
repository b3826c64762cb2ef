/*
 * docs/interchange.md's table of all layers: what they are in other programs.
 * It is made of what the program does: files that it writes, and the rows of
 * its readers (`netc import --types`).
 */
#define _XOPEN_SOURCE 700
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "tests/onnx_samples.h"
#include "tests/report.h"

enum { MOST_FORMATS = 12, LONG_CELL = 60 };

struct formats {
  char *types;
  const char *name[MOST_FORMATS];
  size_t count;
};

/* The formats that are read, in the order of their tables. */
static struct formats read_formats(struct arena *arena) {
  struct run r = run("%s import --types", NETC);
  struct formats f = {.types = strdup(r.out)};
  assert_int_equal(r.status, 0);
  run_free(&r);
  for (const char *line = f.types; *line; line = strchr(line, '\n') + 1) {
    size_t length = strcspn(line, "\t");
    if (strncmp(line, "Hugging Face", length) == 0)
      continue; /* its rows are whole nets */
    if (f.count && strlen(f.name[f.count - 1]) == length &&
        strncmp(f.name[f.count - 1], line, length) == 0)
      continue;
    assert_true(f.count < MOST_FORMATS);
    f.name[f.count++] = arena_copy(arena, line, length);
  }
  return f;
}

static bool has_word(const char *words, size_t length, const char *word) {
  size_t wanted = strlen(word);
  for (size_t i = 0; i + wanted <= length; i++)
    if (strncmp(words + i, word, wanted) == 0 &&
        (i == 0 || words[i - 1] == ' ') &&
        (i + wanted == length || words[i + wanted] == ' '))
      return true;
  return false;
}

/* Layers of a format that become `layer`. */
static size_t put_read(struct text *out, const struct formats *f,
                       const char *format, const char *layer) {
  size_t count = 0;
  for (const char *line = f->types; *line; line = strchr(line, '\n') + 1) {
    const char *type = strchr(line, '\t') + 1, *words = strchr(type, '\t') + 1;
    if (strncmp(line, format, strlen(format)) != 0 ||
        !has_word(words, strcspn(words, "\n"), layer))
      continue;
    text_printf(out, "%s%.*s", count++ ? ", " : "", (int)(words - type - 1),
                type);
  }
  return count;
}

/* ONNX: the nodes are in the table that tests/test_onnx.c makes. */
static void put_onnx(struct text *out, const char *page, const char *layer) {
  char row[64];
  snprintf(row, sizeof row, "\n| `%s` | `", layer);
  const char *at = strstr(page, row);
  assert_non_null(at);
  const char *end = strchr(at + 1, '\n'), *cell = end - 2;
  while (strncmp(cell, " | ", 3) != 0)
    cell--;
  int length = (int)(end - cell) - 5;
  if (strncmp(cell + 3, "none: ", 6) == 0)
    text_put(out, "none");
  else if (length > LONG_CELL)
    text_put(out, "[many](../tests/data/onnx_nodes.md)");
  else
    text_printf(out, "%.*s", length, cell + 3);
}

/* PyTorch: what the net of one layer calls. */
static void put_call(struct text *out, const char *at, size_t begin) {
  size_t length = 0;
  while (isalnum((unsigned char)at[length]) || at[length] == '_' ||
         at[length] == '.')
    length++;
  struct slice so_far = {out->at + begin, out->length - begin};
  for (size_t i = 0; i + length <= so_far.length; i++)
    if (strncmp(so_far.at + i, at, length) == 0)
      return;
  text_printf(out, "%s%.*s", so_far.length ? ", " : "", (int)length, at);
}

static bool is_call(const char *at) {
  static const char *const rooms[] = {"nn.", "F.", "torch."};
  if (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.')
    return false;
  size_t length = 0;
  while (isalnum((unsigned char)at[length]) || at[length] == '_' ||
         at[length] == '.')
    length++;
  if (at[length] != '(')
    return false;
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
    if (strncmp(at, rooms[i], strlen(rooms[i])) == 0)
      return true;
  return isupper((unsigned char)*at); /* a class that the file brings */
}

static void put_torch(struct text *out, const char *path) {
  struct run r = run("%s %s -o %s.py", NETC, path, path);
  size_t begin = out->length;
  if (r.status) {
    assert_holds(r.err, "cannot be written");
    text_put(out, "none");
    run_free(&r);
    return;
  }
  run_free(&r);
  char file[1200];
  snprintf(file, sizeof file, "%s.py", path);
  char *source = read_text(file, NULL);
  assert_non_null(source);
  char *at = strstr(source, "class Sample(nn.Module)");
  assert_non_null(at);
  char *end = strstr(at, "if __name__");
  for (at = strchr(at, '\n'); at < end; at++)
    if (is_call(at))
      put_call(out, at, begin);
  if (out->length == begin)
    text_put(out, "an expression");
  free(source);
}

static void write_sample(const char *path, const char *layer) {
  const char *input = "8x8x4", *written = layer;
  char net[256];
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
    if (strcmp(samples[i].layer, layer) == 0) {
      input = samples[i].input;
      written = samples[i].written;
    }
  snprintf(net, sizeof net, "net sample\ninput t %s\n%sfrom t\n%s\n", input,
           second_input(written), written);
  write_text(path, net, strlen(net));
}

static void put_table(struct text *out, struct arena *arena, const char *page) {
  struct formats f = read_formats(arena);
  struct netc_layer_kind kind = {.size = sizeof kind};
  char path[1024];
  snprintf(path, sizeof path, "%s/net.net", scratch("interchange"));
  assert_true(f.count >= 3);
  text_put(out, "| netc | written as ONNX | written as PyTorch |");
  for (size_t i = 0; i < f.count; i++)
    text_printf(out, " read from %s |", f.name[i]);
  text_put(out, "\n|---|---|---|");
  for (size_t i = 0; i < f.count; i++)
    text_put(out, "---|");
  text_put(out, "\n");
  for (size_t i = 0; netc_layer_kind(i, &kind) == NETC_OK; i++) {
    text_printf(out, "| `%s` | ", kind.name);
    put_onnx(out, page, kind.name);
    text_put(out, " | ");
    write_sample(path, kind.name);
    put_torch(out, path);
    text_put(out, " |");
    for (size_t k = 0; k < f.count; k++) {
      text_put(out, " ");
      put_read(out, &f, f.name[k], kind.name);
      text_put(out, " |");
    }
    text_put(out, "\n");
  }
  free(f.types);
}

static void the_manual_says_what_becomes_of_what(void **state) {
  (void)state;
  struct arena arena;
  char *page = read_text("tests/data/onnx_nodes.md", NULL);
  assert_non_null(page);
  arena_open(&arena, NULL, NULL);
  struct text table = text_new(&arena);
  put_table(&table, &arena, page);
  text_putc(&table, '\0');
  check_part("docs/interchange.md",
             "<!-- made by tests/test_interchange.c -->\n",
             "<!-- end of it -->\n", table.at);
  arena_close(&arena);
  free(page);
}

/* Every word that a reader promises is a layer. */
static void readers_name_layers(void **state) {
  (void)state;
  struct run r = run("%s import --types", NETC);
  struct netc_layer_kind kind = {.size = sizeof kind};
  size_t lines = 0;
  assert_int_equal(r.status, 0);
  for (char *line = r.out; *line; lines++) {
    char *words = strchr(strchr(line, '\t') + 1, '\t') + 1;
    char *end = strchr(words, '\n');
    *end = '\0';
    for (char *word; (word = strtok_r(words, " ", &words));) {
      bool known = false;
      for (size_t i = 0; netc_layer_kind(i, &kind) == NETC_OK; i++)
        known = known || strcmp(kind.name, word) == 0;
      if (!known)
        print_error("%s: no layer `%s`\n", line, word);
      assert_true(known);
    }
    line = end + 1;
  }
  assert_true(lines > 200);
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_manual_says_what_becomes_of_what),
      cmocka_unit_test(readers_name_layers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
