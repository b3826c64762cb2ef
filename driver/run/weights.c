/*
 * netc weights: the tensors of a net, and files of them. Lists them, writes a
 * random set, checks a file, renames PyTorch's tensors, or makes the block that
 * the runtime reads.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/guard.h"
#include "driver/net_options.h"
#include "driver/output.h"
#include "driver/run/quantize.h"
#include "import/tensors/safetensors.h"
#include "runtime/netrt.h"

struct weights_request {
  struct net_options options;
  struct arena arena;
  const char *from, *check, *output, *names;
  bool random, by_order, fold, panels;
  const struct netrt_model *model; /* if `fold` is set */
  int64_t seed;
  struct quantizing quantizing; /* if a file is given */
  int status;
};

/* The list */

static int name_width(const struct weight_set *set) {
  size_t width = 4;
  for (size_t i = 0; i < set->weights.count; i++) {
    size_t length = strlen(weight_set_name(set, i));
    width = length > width ? length : width;
  }
  return (int)width;
}

static int list(const struct weight_set *set) {
  int width = name_width(set);
  int64_t offset = 0;
  printf("%-*s  %-16s %14s %15s\n", width, "name", "shape", "bytes", "offset");
  for (size_t i = 0; i < set->weights.count; i++) {
    const struct netc_weight *weight = &set->weights.at[i];
    printf("%-*s  %-16s %14" PRId64 " %15" PRId64 "%s\n", width,
           weight_set_name(set, i), sizes_text(weight->rank, weight->dims).text,
           4 * weight->count, offset, weight->buffer ? "  buffer" : "");
    offset += 4 * weight->count;
  }
  printf("%zu tensors, %" PRId64 " bytes as float32; folded for inference "
         "%" PRId64 "\n",
         set->weights.count, offset, weight_set_block_bytes(set));
  return finish_stdout();
}

/* Files */

/* Nine digits are exact; C++11 has no hexadecimal ones. */
static void put_floats(const float *block, int64_t count, FILE *file) {
  for (int64_t i = 0; i < count && !ferror(file); i++)
    fprintf(file, "%s%.8ef,", i % 4 ? " " : "\n  ", (double)block[i]);
}

static void put_bytes(const unsigned char *block, int64_t count, FILE *file) {
  for (int64_t i = 0; i < count && !ferror(file); i++)
    fprintf(file, "%s%d,", i % 16 ? " " : "\n  ", block[i]);
}

/* The array's name in the net's header, after the name of the net. */
static const char *array_name(const struct weights_request *r) {
  return r->panels ? "panels" : "weights";
}

/* Bytes of the block that is written. */
static int64_t block_bytes(const struct weights_request *r,
                           const struct weight_set *set) {
  return weight_set_block_bytes(set) + (r->panels ? NETRT_PANELS_BYTES : 0);
}

/* `name` is the net's name in C; its header declares the array. */
static void put_array(const struct weights_request *r,
                      const struct weight_set *set, const void *block,
                      const char *name, FILE *file) {
  int64_t bytes = block_bytes(r, set);
  bool small = weight_set_is_bytes(set);
  const char *array = array_name(r);
  const char *type = small ? "unsigned char" : "float";
  int64_t count = small ? bytes : bytes / 4;
  fprintf(file,
          "/* Weights as the runtime reads them: netc weights --fold. */\n"
          "#if defined __GNUC__\n"
          "#define ALIGNED __attribute__((aligned(%d)))\n"
          "#elif defined __cplusplus && __cplusplus >= 201103L\n"
          "#define ALIGNED alignas(%d)\n"
          "#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L\n"
          "#define ALIGNED _Alignas(%d)\n"
          "#else\n#define ALIGNED\n#endif\n"
          "/* -DNETC_WEIGHTS_SECTION='\".qspi\"' puts them where you want. */\n"
          "#ifdef NETC_WEIGHTS_SECTION\n"
          "#define PLACED __attribute__((section(NETC_WEIGHTS_SECTION)))\n"
          "#else\n#define PLACED\n#endif\n\n"
          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
          "extern const %s %s_%s[];\n"
          "#ifdef __cplusplus\n}\n#endif\n\n"
          "ALIGNED PLACED const %s %s_%s[%" PRId64 "] = {",
          NETRT_ALIGN, NETRT_ALIGN, NETRT_ALIGN, type, name, array, type, name,
          array, count);
  if (small)
    put_bytes(block, count, file);
  else
    put_floats(block, count, file);
  fputs("\n};\n", file);
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The same array, with values that the assembler includes from a file. */
static void put_stub(const char *data, const char *name, const char *array,
                     FILE *file) {
  fputs("/* Weights as the runtime reads them: netc weights --fold. For gcc "
        "and\n * clang, which look for the file where they are and in the "
        "folders of -I. */\n"
        "#ifndef NETC_WEIGHTS_FILE\n"
        "#define NETC_WEIGHTS_FILE \"",
        file);
  for (const char *c = base_name(data); *c; c++)
    fprintf(file, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
  fprintf(file,
          "\"\n#endif\n\n"
          "#define JOIN(a, b) a##b\n#define PREFIXED(a, b) JOIN(a, b)\n"
          "#define ARRAY PREFIXED(__USER_LABEL_PREFIX__, %s_%s)\n\n"
          "#if defined NETC_WEIGHTS_SECTION\n"
          "  .section NETC_WEIGHTS_SECTION,\"a\",%%progbits\n"
          "#elif defined __APPLE__\n  .const\n"
          "#elif defined _WIN32\n  .section .rdata,\"dr\"\n"
          "#else\n  .section .rodata,\"a\",%%progbits\n#endif\n"
          "  .globl ARRAY\n  .balign %d\nARRAY:\n"
          "  .incbin NETC_WEIGHTS_FILE\n"
          "#if defined __ELF__\n  .type ARRAY, %%object\n"
          "  .size ARRAY, . - ARRAY\n"
          "  .section .note.GNU-stack,\"\",%%progbits\n#endif\n",
          name, array, NETRT_ALIGN);
}

static bool has_suffix(const char *path, const char *suffix) {
  const char *dot = strrchr(path, '.');
  return dot && strcasecmp(dot, suffix) == 0;
}

/* Runs before the output is opened, since memory may be short. */
static int make_block(const struct weights_request *r,
                      const struct weight_set *set, void **block) {
  size_t bytes = (size_t)block_bytes(r, set);
  size_t head = bytes - (size_t)weight_set_block_bytes(set);
  *block = arena_alloc(set->arena, bytes / 4 + 2, sizeof(float));
  int status = weight_set_block(set, r->from, (unsigned char *)*block + head);
  if (status == EXIT_DONE && head && !weight_panels_pack(r->model, *block))
    return complain(EXIT_IO, "out of memory: the weights need %zu bytes",
                    bytes);
  return status;
}

static void write_block(const struct weights_request *r,
                        const struct weight_set *set, const void *block,
                        FILE *file) {
  if (r->panels)
    words_write(file, block, NETRT_PANELS_BYTES / 4);
  weight_set_write_block(
      set, (const unsigned char *)block + (r->panels ? NETRT_PANELS_BYTES : 0),
      file);
}

static int write_block_as_c(const struct weights_request *r,
                            const struct weight_set *set, const void *block,
                            FILE *file) {
  const char *name;
  const float *values = block;
  int64_t count = block_bytes(r, set) / 4;
  for (int64_t i = 0; i < count && !weight_set_is_bytes(set); i++)
    if (!isfinite(values[i]))
      return complain(EXIT_SOURCE,
                      "a weight is infinite or NaN, which C cannot express; "
                      "write a .bin or a .S");
  enum netc_status status =
      netc_c_name(r->options.netc, &r->options.look, &name);
  if (status != NETC_OK)
    return exit_status_of(r->options.netc, status);
  put_array(r, set, block, name, file);
  return EXIT_DONE;
}

enum { LARGE_TEXT = 50000000 };

/* Compilers need some 15 times the memory of such a text. */
static void warn_of_text(const struct weights_request *r, long bytes) {
  if (!has_suffix(r->output, ".c") || bytes < LARGE_TEXT)
    return;
  say("netc: warning: %s has %s of C text, for which a compiler needs about %s "
      "of memory; `-o x.S` keeps the weights in a file",
      r->output, size_text(bytes, UNITS_SI).text,
      size_text(bytes * (int64_t)15, UNITS_SI).text);
  fputc('\n', stderr);
}

/* Warns that a file has float32 values though fewer bits were requested. */
static void warn_of_float32(const struct weights_request *r,
                            const struct weight_set *set) {
  struct netc_inference inference = {.size = sizeof inference};
  int64_t values = 0;
  for (size_t i = 0; i < set->weights.count; i++)
    values += set->weights.at[i].buffer ? 0 : set->weights.at[i].count;
  if (r->fold || weight_set_is_q8(set) ||
      netc_inference(r->options.netc, &inference) != NETC_OK ||
      inference.weight_bytes > 3 * values)
    return;
  say("netc: warning: %s is in float32; in the types that the net sets, its "
      "weights take %s",
      r->output, size_text(inference.weight_bytes, UNITS_IEC).text);
  fputc('\n', stderr);
}

/* Refuses to overwrite the net or the weights. */
static int spare_inputs(const struct weights_request *r, const char *path) {
  if (r->from && output_same_file(path, r->from))
    return complain(EXIT_USAGE,
                    "%s would be replaced by what is made of it; "
                    "give the output another name",
                    path);
  return output_spares_sources(path, r->options.netc);
}

static int write_to(const struct weights_request *r,
                    const struct weight_set *set, const char *path) {
  struct output_file output;
  void *block = NULL;
  int status = spare_inputs(r, path);
  if (status == EXIT_DONE)
    status =
        r->fold ? make_block(r, set, &block) : weight_set_check(set, r->from);
  if (status != EXIT_DONE)
    return status;
  if (!output_open(&output, path))
    return output_failed(path, errno);
  if (!r->fold)
    weight_set_write(set, output.file);
  else if (has_suffix(path, ".c"))
    status = write_block_as_c(r, set, block, output.file);
  else
    write_block(r, set, block, output.file);
  long bytes = ftell(output.file);
  if (status == EXIT_DONE)
    status = weight_set_check(set, r->from);
  if (status != EXIT_DONE)
    output_abandon(&output);
  else if (!output_commit(&output, false))
    status = output_failed(path, errno);
  if (status == EXIT_DONE) {
    warn_of_text(r, bytes);
    warn_of_float32(r, set);
  }
  return status;
}

/* True if everything was written; else errno has the reason. */
static bool arrived(const struct output_file *output) {
  return fflush(output->file) == 0 && !ferror(output->file);
}

/* Commits both files or neither. */
static int commit_both(struct output_file *values, const char *data,
                       struct output_file *stub, const char *path) {
  int status = EXIT_DONE;
  if (!arrived(values))
    status = output_failed(data, errno);
  else if (!arrived(stub))
    status = output_failed(path, errno);
  if (status != EXIT_DONE)
    output_abandon(values);
  else if (!output_commit(values, false))
    status = output_failed(data, errno);
  if (status != EXIT_DONE)
    output_abandon(stub);
  else if (!output_commit(stub, false))
    status = output_failed(path, errno);
  return status;
}

/* Writes weights.S, and its values in weights.bin. */
static int write_stub(const struct weights_request *r,
                      const struct weight_set *set) {
  size_t length = strlen(r->output) - 1;
  char *data = arena_alloc(set->arena, length + 4, 1);
  struct output_file values, stub;
  const char *name;
  memcpy(data, r->output, length);
  memcpy(data + length, "bin", 4);
  enum netc_status named =
      netc_c_name(r->options.netc, &r->options.look, &name);
  if (named != NETC_OK)
    return exit_status_of(r->options.netc, named);
  int status = spare_inputs(r, r->output);
  if (status == EXIT_DONE)
    status = spare_inputs(r, data);
  if (status == EXIT_DONE && output_same_file(r->output, data))
    status =
        complain(EXIT_USAGE,
                 "two outputs have the file %s; give each its own file", data);
  if (status != EXIT_DONE)
    return status;
  void *block;
  status = make_block(r, set, &block);
  if (status != EXIT_DONE)
    return status;
  if (!output_open(&stub, r->output))
    return output_failed(r->output, errno);
  if (!output_open(&values, data)) {
    status = output_failed(data, errno);
    output_abandon(&stub);
    return status;
  }
  put_stub(data, name, array_name(r), stub.file);
  write_block(r, set, block, values.file);
  return commit_both(&values, data, &stub, r->output);
}

/* The block is for the runtime, so a net that it cannot run has none. */
static int check_runtime(struct weights_request *r) {
  struct netc *netc = r->options.netc;
  enum netc_status status = netc_runtime(netc, &r->model);
  if (status == NETC_ERROR)
    return complain(EXIT_SOURCE, "%s: %s", r->options.files.at[0],
                    netc_message(netc));
  if (status == NETC_OK && r->panels && !weight_panels_some(r->model))
    return complain(EXIT_SOURCE,
                    "%s: panels would change nothing here; write `--fold`",
                    r->options.files.at[0]);
  return status == NETC_OK ? EXIT_DONE : exit_status_of(netc, status);
}

static int write_file(struct weights_request *r, const struct weight_set *set) {
  int status = r->fold ? check_runtime(r) : EXIT_DONE;
  if (status != EXIT_DONE)
    return status;
  return r->fold && has_suffix(r->output, ".S") ? write_stub(r, set)
                                                : write_to(r, set, r->output);
}

/* The request */

static int with_file(struct weights_request *r, struct weight_set *set) {
  const char *path = r->check ? r->check : r->from;
  enum weight_match match = r->by_order ? MATCH_BY_ORDER : MATCH_BY_NAME;
  struct tensor_file file;
  int status = weight_file_open(&file, path, &r->arena);
  if (status == EXIT_DONE)
    status = weight_set_match(set, path, &file, match);
  if (status == EXIT_DONE && r->check)
    status = weight_set_judge(set, path);
  if (status == EXIT_DONE && r->names)
    status = weight_set_rename(set, r->names);
  if (status == EXIT_DONE && r->output)
    status = write_file(r, set);
  tensors_close(&file);
  return status;
}

/* Prints the table once the file is written. */
static int write_quantized(struct weights_request *r) {
  struct quantizing *q = &r->quantizing;
  netc_set(r->options.netc, "dtype", "i8");
  q->argc = r->options.argc;
  q->argv = r->options.argv;
  q->from = r->from;
  q->seed = r->seed;
  int status = quantize(q);
  if (status == EXIT_DONE)
    status = net_options_load(&r->options);
  if (status == EXIT_DONE && r->names)
    status = weight_set_rename(&q->small->set, r->names);
  if (status == EXIT_DONE)
    status = write_file(r, &q->small->set);
  return status == EXIT_DONE ? quantize_report(q) : status;
}

static int serve(struct weights_request *r) {
  struct weight_set set;
  const struct operands *files = &r->options.files;
  if (files->count == 1 && !r->from && !r->check && !r->output &&
      weight_file_is(files->at[0]))
    return weight_file_show(files->at[0]);
  if (r->quantizing.given_count)
    return write_quantized(r);
  int status = net_options_load(&r->options);
  if (status != EXIT_DONE)
    return status;
  weight_set_open(&set, r->options.netc, &r->arena);
  set.seed = (uint64_t)r->seed;
  if (r->check || r->from)
    return with_file(r, &set);
  if (r->names && (status = weight_set_rename(&set, r->names)) != EXIT_DONE)
    return status;
  return r->output ? write_file(r, &set) : list(&set);
}

static int check_quantize(const struct weights_request *r) {
  const struct quantizing *q = &r->quantizing;
  if (!q->given_count)
    return EXIT_DONE;
  if (!r->output)
    return complain(EXIT_USAGE, "an output is missing: add `-o %s`",
                    r->fold ? "X.bin" : "X.safetensors");
  if (strcmp(r->output, "-") == 0 || strcmp(r->options.files.at[0], "-") == 0)
    return complain(EXIT_USAGE, "--quantize reads the net several times and "
                                "prints a table, so both files need a name");
  for (size_t i = 0; i < q->given_count; i++) {
    const char *equals = strchr(q->given[i].argument, '=');
    if (output_same_file(r->output, q->given[i].argument) ||
        (equals && output_same_file(r->output, equals + 1)))
      return complain(EXIT_USAGE,
                      "the output would replace the samples in %s; give it "
                      "another name",
                      r->output);
  }
  return EXIT_DONE;
}

/* Checks options that depend on one another. */
static int check_request(const struct weights_request *r) {
  int checked = check_quantize(r);
  if (checked != EXIT_DONE)
    return checked;
  int sources = (r->from != NULL) + (r->check != NULL) + r->random;
  if (sources > 1)
    return complain(EXIT_USAGE,
                    "--random, --from and --check exclude each other");
  if (r->check && (r->output || r->fold))
    return complain(EXIT_USAGE, "--check writes no file; leave out %s",
                    r->output ? "-o" : "--fold");
  if (sources && !r->check && !r->output)
    return complain(EXIT_USAGE, "an output is missing: add `-o %s`",
                    r->fold ? "X.bin" : "X.safetensors");
  if (!sources && (r->output || r->fold))
    return complain(EXIT_USAGE, "weights are missing: write `--from FILE` or "
                                "`--random SEED`");
  if (r->output && !r->fold &&
      (has_suffix(r->output, ".c") || has_suffix(r->output, ".S") ||
       has_suffix(r->output, ".bin")))
    return complain(EXIT_USAGE,
                    "-o %s: this writes a safetensors file; add --fold for the "
                    "runtime's weights",
                    r->output);
  if (r->output && r->fold && has_suffix(r->output, ".safetensors"))
    return complain(EXIT_USAGE, "-o %s: --fold writes X.bin, X.S or X.c",
                    r->output);
  const char *dot = r->output ? strrchr(r->output, '.') : NULL;
  if (r->fold && dot && strcmp(dot, ".s") == 0)
    return complain(
        EXIT_USAGE,
        "-o %s: compilers run the preprocessor only for X.S, with a capital S",
        r->output);
  if (r->fold && r->output && has_suffix(r->output, ".S"))
    for (const char *c = base_name(r->output); *c; c++)
      if ((unsigned char)*c < ' ' || *c == 0x7f)
        return complain(EXIT_USAGE,
                        "-o X.S: its name has a control character, which "
                        "assemblers do not take; give it another name");
  return EXIT_DONE;
}

static bool take_percentile(const char *value, double *percentile) {
  char *end;
  *percentile = strtod(value, &end);
  if (end != value && !*end && *percentile >= 50 && *percentile <= 100)
    return true;
  complain(EXIT_USAGE, "--percentile %s: give a number from 50 to 100", value);
  return false;
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct weights_request *r = user;
  bool right = true;
  (void)name;
  switch (option) {
  case OPTION_RANDOM:
    r->random = true;
    right = option_number(option, value, 0, INT64_MAX, &r->seed);
    break;
  case OPTION_FROM: r->from = value; break;
  case OPTION_BY_ORDER: r->by_order = true; break;
  case OPTION_NAMES:
    r->names = strcmp(value, "netc") == 0 ? NULL : value;
    break;
  case OPTION_CHECK_FILE: r->check = value; break;
  case OPTION_QUANTIZE:
    if (r->quantizing.given_count == MOST_ENDS)
      return complain(EXIT_USAGE, "there are more than %d files of samples",
                      MOST_ENDS);
    r->quantizing.given[r->quantizing.given_count++].argument = value;
    break;
  case OPTION_PERCENTILE:
    right = take_percentile(value, &r->quantizing.percentile);
    break;
  case OPTION_PANELS: r->panels = true; break;
  default:
    r->fold = true;
    right = !value || strcmp(value, "panels") == 0;
    r->panels = r->panels || value;
    if (!right)
      complain(EXIT_USAGE, "--fold takes no value but `panels`, not `%s`",
               value);
  }
  return right ? EXIT_DONE : EXIT_USAGE;
}

static void run(void *user) {
  struct weights_request *r = user;
  r->status = serve(r);
}

int command_weights(int argc, char **argv) {
  struct weights_request r = {.status = EXIT_DONE,
                              .quantizing = {.percentile = 100}};
  struct arena *const arenas[GUARD_ARENAS] = {&r.arena};
  struct netc *netc = netc_open(NULL, NULL);
  if (!netc)
    return complain(EXIT_IO, "out of memory");
  arena_open(&r.arena, NULL, NULL);
  if (!net_options_read_more(&r.options, COMMAND_WEIGHTS, netc, argc, argv,
                             take, &r))
    r.status = r.options.files.status;
  else if (!net_options_output(&r.options, &r.output))
    r.status = EXIT_USAGE;
  else
    r.status = check_request(&r);
  if (r.options.files.count && r.status == EXIT_DONE &&
      !guard_run(arenas, run, &r))
    r.status = complain(EXIT_IO, "out of memory");
  quantize_close(&r.quantizing);
  arena_close(&r.arena);
  net_options_close(&r.options);
  netc_close(netc);
  return r.status;
}
