/*
 * netc import: each operator that a reader lists (`netc import --types`), with
 * operands and attributes that no exporter writes, alone and with another
 * behind it, strictly and with --allow-unknown. Each is read or refused with a
 * reason; a new row of a reader's table is tried by itself.
 */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard.h"
#include "import/proof.h"
#include "tests/operands.h"
#include "tests/run.h"

static const struct format {
  const char *name; /* of `netc import --types`, and its reader's */
  trial_write_fn *write;
  size_t part; /* `make check` tries one of so many */
} formats[] = {
    {"ONNX", onnx_trial, 5},    {"TensorFlow Lite", tflite_trial, 3},
    {"Caffe", caffe_trial, 25}, {"OpenVINO", openvino_trial, 25},
    {"Keras", keras_trial, 25},
};

/* Each operator of a format. */
struct row {
  const struct format *format;
  const char *type, *name;
  size_t index;
  bool imported; /* some case was */
};

/* The report of a child process. */
struct progress {
  size_t at;
  bool imported;
};

static VEC(struct row) rows;
static struct arena names;

/* Lists of operands: all of a kind, or that kind after an input, a constant, or
 * both. */
static const char kinds[] = {INPUT,  CONSTANT, UNKNOWN, OWN,
                             SCALAR, EMPTY,    NOTHING};
static const char *const firsts[] = {"", "x", "c", "xc"};
static const size_t counts[] = {1, 2, 3, MOST_OPERANDS};
static const int64_t numbers[] = {0, 1, -1, 3, INT64_MAX};

enum {
  KINDS = sizeof kinds,
  FIRSTS = sizeof firsts / sizeof *firsts,
  COUNTS = sizeof counts / sizeof *counts,
  NUMBERS = sizeof numbers / sizeof *numbers,
  LISTS = KINDS * FIRSTS * COUNTS + 1, /* and the empty one */
  CASES = LISTS * (NUMBERS + 1) * 4,
};

/* False: it is the same as another. */
static bool list_operands(size_t list, char operands[MOST_OPERANDS + 1]) {
  const char *first = firsts[list / COUNTS % FIRSTS];
  size_t count = counts[list % COUNTS], length = strlen(first);
  char kind = kinds[list / COUNTS / FIRSTS % KINDS];
  operands[0] = '\0';
  if (list == LISTS - 1)
    return true;
  if (count < length || (count == length && kind != kinds[0]))
    return false;
  memset(operands, kind, count);
  memcpy(operands, first, length);
  operands[count] = '\0';
  return true;
}

bool trial_has(const struct trial *trial, unsigned attribute) {
  unsigned mixed = (trial->seed + 1) * 2654435761u ^ attribute * 40503u;
  return trial->attributes && (mixed >> 7) % 4 == 0;
}

struct attempt {
  const struct format *format;
  struct trial trial;
  struct import_options options;
  struct arena arena;
  bool imported;
};

static void try(void *user) {
  struct attempt *a = user;
  struct graph graph;
  struct imported result;
  const struct import_reader *reader = NULL;
  for (size_t i = 0; i < import_reader_count(); i++)
    if (strcmp(import_reader_at(i)->name, a->format->name) == 0)
      reader = import_reader_at(i);
  a->trial.arena = &a->arena;
  graph_open(&graph, &a->arena);
  struct slice file = a->format->write(&a->trial);
  a->imported = import_file(reader, file, "net", &a->options, &graph, &result);
  if (!a->imported && graph.error.message.length == 0)
    abort(); /* a refusal says why */
  if (!a->imported)
    return;
  struct netc *netc = netc_open(NULL, NULL);
  struct slice text = text_slice(&result.source);
  netc_load_text(netc, "net", text.at, text.length);
  netc_close(netc);
}

/* False: there is no such case. */
static bool set_case(const struct row *row, size_t number,
                     struct attempt *attempt, char *operands) {
  size_t list = number / 4 / (NUMBERS + 1), value = number / 4 % (NUMBERS + 1);
  const struct row *behind = row - row->index; /* the first of the format */
  size_t of_format = 0;
  while (behind + of_format < rows.at + rows.count &&
         behind[of_format].format == row->format)
    of_format++;
  behind += (row->index * 31 + number / 4 * 7) % of_format;
  *attempt =
      (struct attempt){.format = row->format,
                       .trial = {.type = row->type,
                                 .operands = operands,
                                 .behind = number & 1 ? behind->type : NULL,
                                 .attributes = value < NUMBERS,
                                 .number = value < NUMBERS ? numbers[value] : 0,
                                 .seed = (unsigned)number / 4},
                       .options = {.allow_unknown = number & 2}};
  return list_operands(list, operands);
}

static void try_all(const struct row *row, volatile struct progress *to) {
  char operands[MOST_OPERANDS + 1];
  struct attempt attempt;
  for (size_t i = 0; i < CASES; i++) {
    struct arena *const arenas[GUARD_ARENAS] = {&attempt.arena};
    if (!in_part(i / 4, row->format->part) ||
        !set_case(row, i, &attempt, operands))
      continue;
    to->at = i;
    arena_open(&attempt.arena, NULL, NULL);
    guard_run(arenas, try, &attempt);
    to->imported = to->imported || attempt.imported;
    arena_close(&attempt.arena);
  }
}

/* Apart, so that a crash is one of that operator, and says of which case. */
static void check_row(void **state) {
  struct row *row = *state;
  struct attempt a;
  char operands[MOST_OPERANDS + 1];
  struct progress *to = mmap(NULL, sizeof *to, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int status;
  assert_true(to != MAP_FAILED);
  pid_t child = fork();
  if (child == 0) {
    static const int faults[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
      signal(faults[i], SIG_DFL); /* cmocka would go on with the next test */
    alarm(SANITIZED ? 600 : 60);
    try_all(row, to);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status) {
    set_case(row, to->at, &a, operands);
    print_error("%s %s, case %zu: operands \"%s\", attributes %s%lld, then %s, "
                "%s: status %x\n",
                row->format->name, row->type, to->at, operands,
                a.trial.attributes ? "of " : "none ", (long long)a.trial.number,
                a.trial.behind ? a.trial.behind : "nothing",
                a.options.allow_unknown ? "--allow-unknown" : "strictly",
                (unsigned)status);
  }
  row->imported = to->imported;
  munmap(to, sizeof *to);
  assert_int_equal(status, 0);
}

/* The table would try nothing if its models were no models. */
static void many_operators_are_read(void **state) {
  (void)state;
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    size_t all = 0, imported = 0;
    for (size_t i = 0; i < rows.count; i++) {
      bool of_format = rows.at[i].format == &formats[f];
      all += of_format;
      imported += of_format && rows.at[i].imported;
    }
    print_message("%s: %zu of %zu\n", formats[f].name, imported, all);
    assert_true(2 * imported > all);
  }
}

/* "ONNX\tConv\t..." */
static void add_rows(void) {
  struct graph graph;
  struct text types;
  arena_open(&names, NULL, NULL);
  graph_open(&graph, &names);
  types = text_new(&names);
  import_types(&graph, &types);
  text_putc(&types, '\0');
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    size_t index = 0, length = strlen(formats[f].name);
    for (const char *line = types.at; *line; line = strchr(line, '\n') + 1) {
      if (strncmp(line, formats[f].name, length) != 0 || line[length] != '\t')
        continue;
      size_t end = length + 1 + strcspn(line + length + 1, "\t");
      char *name = arena_copy(&names, line, end);
      name[length] = ' ';
      *VEC_PUSH(&names, &rows) = (struct row){.format = &formats[f],
                                              .type = name + length + 1,
                                              .name = name,
                                              .index = index++};
    }
    assert_in_range(index, 20, 1000);
  }
}

int main(void) {
  add_rows();
  struct CMUnitTest *tests = calloc(rows.count + 1, sizeof *tests);
  for (size_t i = 0; i < rows.count; i++)
    tests[i] = (struct CMUnitTest){.name = rows.at[i].name,
                                   .test_func = check_row,
                                   .initial_state = &rows.at[i]};
  tests[rows.count] =
      (struct CMUnitTest)cmocka_unit_test(many_operators_are_read);
  run_in_both_parts();
  int failed =
      _cmocka_run_group_tests("operands", tests, rows.count + 1, NULL, NULL);
  free(tests);
  arena_close(&names);
  return failed;
}
