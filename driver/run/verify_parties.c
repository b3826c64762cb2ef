/*
 * netc verify: programs that run netc's outputs. A C compiler makes one from
 * x.c and the runtime's sources, which runs here or on a board that QEMU
 * emulates; tools/verify has one for Python and one for Node.
 */
#define _XOPEN_SOURCE 700
#include "driver/run/verify.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "driver/child.h"
#include "driver/installed.h"

enum { MOST_WORDS = 400, VERIFY_SECONDS = 300, ABSENT = 77 };

/* The time limit for each program. */
static long seconds_for_each(void) {
  const char *word = getenv("NETC_VERIFY_SECONDS");
  long seconds = word ? strtol(word, NULL, 10) : 0;
  return seconds > 0 && seconds < 1000000 ? seconds : VERIFY_SECONDS;
}

/* Command lines */

struct words {
  struct arena *arena;
  char *at[MOST_WORDS + 1];
  size_t count;
};

static void add(struct words *words, const char *text) {
  if (words->count < MOST_WORDS)
    words->at[words->count++] = arena_copy(words->arena, text, strlen(text));
}

static void add_joined(struct words *words, const char *a, const char *b,
                       const char *c) {
  struct text text = text_new(words->arena);
  text_printf(&text, "%s%s%s", a, b, c);
  add(words, text_string(&text));
}

/* The first line of a child's output, or the last lines of standard error. */

static void first_line(const char *log, char *to, size_t room) {
  FILE *file = fopen(log, "r");
  *to = '\0';
  if (file && !fgets(to, (int)room, file))
    *to = '\0';
  if (file)
    fclose(file);
  to[strcspn(to, "\r\n")] = '\0';
}

static void show_log(const char *log) {
  enum { SHOWN = 2000 };
  char bytes[SHOWN + 1];
  FILE *file = fopen(log, "rb");
  if (!file)
    return;
  if (fseek(file, -SHOWN, SEEK_END) != 0)
    rewind(file);
  size_t length = fread(bytes, 1, SHOWN, file);
  bytes[length] = '\0';
  fclose(file);
  for (char *line = strtok(bytes, "\n"); line; line = strtok(NULL, "\n")) {
    say("  | %s", line);
    fputc('\n', stderr);
  }
}

/*
 * Runs a program for a party. EXIT_DONE: it succeeded, or it is absent and
 * `about` says so. Any other status has been reported.
 */
static int ask(struct verifying *v, enum verify_party party,
               struct words *words, bool *done) {
  struct verify_path log = verify_path(v, "log");
  const char *program = words->at[0], *name = verify_names[party];
  char *about = v->about[party];
  int status = 0;
  *done = false;
  words->at[words->count] = NULL;
  switch (
      child_run(words->at, v->folder, log.text, seconds_for_each(), &status)) {
  case CHILD_ABSENT:
    snprintf(about, sizeof *v->about, "there is no program `%s`", program);
    return EXIT_DONE;
  case CHILD_FAILED:
    return complain(EXIT_IO, "%s: cannot run %s: %s", name, program,
                    strerror(errno));
  case CHILD_LATE:
    return complain(EXIT_IO,
                    "%s: %s took more than %ld seconds; "
                    "NETC_VERIFY_SECONDS=%ld waits longer",
                    name, program, seconds_for_each(), 10 * seconds_for_each());
  case CHILD_STOPPED: return EXIT_IO;
  case CHILD_ENDED: break;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == ABSENT) {
    first_line(log.text, about, sizeof *v->about);
    return EXIT_DONE;
  }
  *done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (*done)
    return EXIT_DONE;
  if (WIFSIGNALED(status))
    complain(EXIT_SOURCE, "%s: %s was killed by signal %d (%s)", name, program,
             WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    complain(EXIT_SOURCE, "%s: %s failed with status %d", name, program,
             WEXITSTATUS(status));
  show_log(log.text);
  return EXIT_SOURCE;
}

/* Reads the output files of a party. */
static int read_outputs(struct verifying *v, enum verify_party party,
                        const char *prefix) {
  const struct running *r = v->run;
  for (uint32_t i = 0; i < r->model.output_count; i++) {
    char name[64];
    size_t count = netrt_values(&r->model, &r->model.outputs[i].operand);
    snprintf(name, sizeof name, "%s.out%u", prefix, (unsigned)i);
    FILE *file = fopen(verify_path(v, name).text, "rb");
    size_t got =
        file ? fread(v->outputs[party][i], sizeof(float), count, file) : 0;
    bool whole = file && got == count && fgetc(file) == EOF;
    if (file)
      fclose(file);
    if (whole)
      continue;
    complain(EXIT_SOURCE, "%s: output `%s` does not have %zu values",
             verify_names[party], r->model.outputs[i].name, count);
    show_log(verify_path(v, "log").text);
    return EXIT_SOURCE;
  }
  v->made[party] = true;
  return EXIT_DONE;
}

/* Adds the path of a script that is installed with netc. */
static void add_script(struct words *words, const char *name) {
  char folder[4096];
  installed_find("verify", "tools/verify", folder, sizeof folder);
  add_joined(words, folder, "/", name);
}

/* x.c */

/* Boards in QEMU, with compiler options for their processors. */
struct board {
  const char *machine, *cpu, *floats, *fpu, *psram;
};
static const struct board boards[] = {
    {"mps2-an385", "-mcpu=cortex-m3", "-mfloat-abi=soft", "-mfpu=auto",
     "0x21000000"},
    {"mps2-an386", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16",
     "0x21000000"},
    {"mps2-an500", "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16",
     "0x60000000"},
};
enum { BOARDS = sizeof boards / sizeof *boards, BOARD_BYTES = 14 << 20 };

static const struct board *find_board(const char *machine) {
  for (size_t i = 0; machine && i < BOARDS; i++)
    if (strcmp(boards[i].machine, machine) == 0)
      return &boards[i];
  return NULL;
}

int verify_check_board(const char *machine) {
  return !machine || find_board(machine)
             ? EXIT_DONE
             : complain(EXIT_USAGE, "--qemu takes %s, %s or %s, not `%s`",
                        boards[0].machine, boards[1].machine, boards[2].machine,
                        machine);
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds all sources of the runtime; a linker takes those it needs. */
static void add_runtime(struct words *words) {
  char folder[4096];
  size_t first = words->count;
  installed_find("runtime", "runtime", folder, sizeof folder);
  add_joined(words, "-I", folder, "");
  first++;
  DIR *sources = opendir(folder);
  for (struct dirent *entry; sources && (entry = readdir(sources));) {
    size_t length = strlen(entry->d_name);
    if (length > 2 && strcmp(entry->d_name + length - 2, ".c") == 0)
      add_joined(words, folder, "/", entry->d_name);
  }
  if (sources)
    closedir(sources);
  qsort(words->at + first, words->count - first, sizeof *words->at, by_name);
}

static const char *compiler(const struct verifying *v) {
  return v->cc ? v->cc : v->qemu ? "arm-none-eabi-gcc" : "cc";
}

static void add_compiler(struct verifying *v, struct words *words) {
  const struct board *board = find_board(v->qemu);
  add(words, compiler(v));
  add(words, board ? "-Os" : "-O2");
  add(words, "-std=c99");
  add(words, "-DNETRT_SMALL");
  add(words, "-ffunction-sections");
  add(words, "-fdata-sections");
  add_joined(words, "-I", v->folder, "");
  add_runtime(words);
  add(words, verify_path(v, "net.c").text);
  add_script(words, "main.c");
  add(words, "-o");
  add(words, verify_path(v, "net.exe").text);
  if (board) {
    add(words, board->cpu);
    add(words, board->floats);
    add(words, board->fpu);
    add_joined(words, "-Wl,--defsym=psram=", board->psram, "");
    add_script(words, "start.c");
    add(words, "-T");
    add_script(words, "mps2.ld");
    add(words, "-nostartfiles");
    add(words, "--specs=rdimon.specs");
    add(words, "-Wl,--gc-sections");
  }
  add(words, "-lm");
}

static void add_program(struct verifying *v, struct words *words) {
  if (!v->qemu) {
    add(words, verify_path(v, "net.exe").text);
    return;
  }
  add(words, "qemu-system-arm");
  add(words, "-M");
  add(words, v->qemu);
  add(words, "-nographic");
  add(words, "-monitor");
  add(words, "none");
  add(words, "-semihosting");
  add(words, "-kernel");
  add(words, verify_path(v, "net.exe").text);
}

/* "arm-none-eabi-gcc, QEMU's mps2-an500, plain kernels" */
static void name_program(struct verifying *v) {
  snprintf(v->about[PARTY_C], sizeof *v->about, "%s%s%s, plain kernels",
           compiler(v), v->qemu ? ", QEMU's " : "", v->qemu ? v->qemu : "");
}

int verify_run_c(struct verifying *v) {
  struct words compile = {.arena = &v->run->arena};
  struct words run = {.arena = &v->run->arena};
  size_t bytes = v->run->model.arena_bytes + v->run->model.weight_bytes;
  bool done;
  if (v->qemu && bytes > BOARD_BYTES) {
    snprintf(v->about[PARTY_C], sizeof *v->about,
             "%s has 14 MiB for weights and arena, but they need %zu bytes",
             v->qemu, bytes);
    return EXIT_DONE;
  }
  int status = verify_emit(v, PARTY_C, "h", "net.h");
  if (status == EXIT_DONE && v->asked[PARTY_C])
    status = verify_emit(v, PARTY_C, "c", "net.c");
  if (status != EXIT_DONE || !v->asked[PARTY_C])
    return status;
  add_compiler(v, &compile);
  status = ask(v, PARTY_C, &compile, &done);
  if (!done)
    return status;
  add_program(v, &run);
  status = ask(v, PARTY_C, &run, &done);
  if (!done)
    return status;
  name_program(v);
  return read_outputs(v, PARTY_C, "c");
}

/* x.onnx, x.py */

static int ask_script(struct verifying *v, enum verify_party party,
                      const char *program, const char *script,
                      const char *engine, bool *done) {
  struct words words = {.arena = &v->run->arena};
  add(&words, program);
  if (strcmp(program, "python3") == 0)
    add(&words, "-B"); /* no __pycache__ in netc's installation */
  add_script(&words, script);
  if (engine)
    add(&words, engine);
  add(&words, v->folder);
  if (strcmp(program, "node") == 0 && *v->node_modules)
    add(&words, v->node_modules);
  int status = ask(v, party, &words, done);
  if (*done)
    first_line(verify_path(v, "log").text, v->about[party], sizeof *v->about);
  return status;
}

int verify_run_onnx(struct verifying *v) {
  static const struct {
    const char *program, *script, *engine;
  } ways[] = {{"python3", "run_onnx.py", "onnxruntime"},
              {"node", "run_onnx.js", NULL},
              {"python3", "run_onnx.py", "onnx"}};
  char why[3 * sizeof *v->about] = "";
  bool done = false;
  if (v->small && (!v->run->weights || !v->made[PARTY_RUNTIME])) {
    snprintf(v->about[PARTY_ONNX], sizeof *v->about,
             "random weights have no scales for it");
    return EXIT_DONE;
  }
  int status = verify_write_onnx(v);
  if (status != EXIT_DONE || !v->asked[PARTY_ONNX])
    return status;
  for (size_t i = 0; i < 3 && !done && status == EXIT_DONE; i++) {
    status = ask_script(v, PARTY_ONNX, ways[i].program, ways[i].script,
                        ways[i].engine, &done);
    size_t used = strlen(why);
    if (!done && !strstr(why, v->about[PARTY_ONNX]))
      snprintf(why + used, sizeof why - used, "%s%s", used ? "; " : "",
               v->about[PARTY_ONNX]);
  }
  if (!done)
    snprintf(v->about[PARTY_ONNX], sizeof *v->about, "%.250s", why);
  return done ? read_outputs(v, PARTY_ONNX, "onnx") : status;
}

int verify_run_torch(struct verifying *v) {
  bool done;
  int status = verify_write_torch(v);
  if (status != EXIT_DONE || !v->asked[PARTY_TORCH])
    return status;
  status = ask_script(v, PARTY_TORCH, "python3", "run_torch.py", NULL, &done);
  return done ? read_outputs(v, PARTY_TORCH, "py") : status;
}
