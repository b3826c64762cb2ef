/*
 * Eight bits: kernels beside NumPy's outputs, and MLPerf Tiny's nets from
 * .tflite to outputs, by `netc run` and by the program that netc writes. All
 * bytes are those of tools/q8_cases.py: tests/data/q8.
 */
#include "runtime/q8.h"
#include "tests/one_op.h"

#define DATA "tests/data/q8"

enum { SAMPLES = 20 };

/* One operation. */

struct operand {
  uint8_t type;
  int rank;
  int32_t size[NETRT_RANK];
  bool rows;
  const char *values;
};

struct one_case {
  char name[96];
  int code, ins, number_count;
  int32_t numbers[24];
  struct operand in[OPERANDS], out;
};

static struct one_case *cases;
static size_t case_count;

static size_t values_of(const struct operand *operand) {
  size_t values = 1;
  for (int i = 0; i < operand->rank; i++)
    values *= (size_t)operand->size[i];
  return values;
}

/* "i8 3x3x4x8 rows"; its values follow. */
static struct operand read_operand(const char *text, const char **values) {
  struct operand operand = {.type = text[0] == 'f'   ? NETRT_F32
                                    : text[1] == '3' ? NETRT_I32
                                                     : NETRT_I8,
                            .rows = strstr(text, " rows") != NULL,
                            .values = *values};
  char *at = strchr(text, ' ');
  do
    operand.size[operand.rank++] = (int32_t)strtol(at + 1, &at, 10);
  while (*at == 'x');
  *values += values_of(&operand) * netrt_type_bytes(operand.type);
  return operand;
}

static void read_line(char *line, const char **values) {
  struct one_case *c = case_count ? &cases[case_count - 1] : NULL;
  char *rest = strchr(line, ' ') + 1;
  if (strncmp(line, "case ", 5) == 0) {
    cases = realloc(cases, ++case_count * sizeof *cases);
    c = &cases[case_count - 1];
    *c = (struct one_case){0};
    snprintf(c->name, sizeof c->name, "%s", rest);
    *strchr(rest, ' ') = '\0';
    c->code = code_of(rest);
  } else if (strncmp(line, "numbers ", 8) == 0) {
    c->number_count = read_numbers(rest, c->numbers);
  } else if (strncmp(line, "in ", 3) == 0) {
    c->in[c->ins++] = read_operand(rest, values);
  } else {
    c->out = read_operand(text_of("i8 %s", rest), values);
  }
}

static void read_cases(void) {
  size_t length;
  char *text = read_text(DATA "/cases.txt", NULL);
  const char *values = read_text(DATA "/cases.bin", &length);
  const char *end = values + length;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    read_line(line, &values);
  assert_ptr_equal(values, end);
  free(text); /* the values stay */
}

/* The model of one operation. Values are dense, or axis 0 runs fastest. */

static void lay_out(struct one_op *b, struct netrt_operand *to,
                    const struct operand *from, bool strided) {
  int32_t stride[NETRT_RANK], step = 1, last = from->rank - 1;
  for (int i = 0; i < from->rank; i++) {
    int axis = strided ? i : last - i;
    if (from->rows) /* the last axis is the first one in memory */
      axis = i == last ? last : last - 1 - i;
    stride[axis] = step;
    step *= from->size[axis];
    step += strided ? i + 1 : 0;
  }
  to->type = from->type;
  one_op_shape(b, to, from->rank, from->size, stride);
}

static void fill(const struct one_op *b, const struct netrt_operand *at,
                 const struct operand *from) {
  unsigned char *to = one_op_data(b, at);
  const int32_t *stride = &b->numbers[at->shape + at->rank];
  size_t bytes = netrt_type_bytes(from->type), count = values_of(from);
  for (size_t i = 0; i < count; i++) {
    size_t rest = i, place = 0;
    for (int k = from->rank; k-- > 0; rest /= (size_t)from->size[k])
      place += rest % (size_t)from->size[k] * (size_t)stride[k];
    memcpy(to + place * bytes, from->values + i * bytes, bytes);
  }
}

static void open_case(struct one_op *b, const struct one_case *c, bool strided,
                      bool in_place, struct netrt *net) {
  bool pair = c->code == NETRT_Q8ADD || c->code == NETRT_Q8MUL;
  one_op_begin(b, c->name, c->code, c->ins, c->numbers, c->number_count);
  lay_out(b, &b->operands[0], &c->out, strided);
  for (int i = 0; i < c->ins; i++) {
    struct netrt_operand *at = &b->operands[1 + i];
    bool value = i == 0 || (i == 1 && pair);
    lay_out(b, at, &c->in[i], strided && value);
    at->place = value ? NETRT_IN_ARENA : NETRT_IN_WEIGHTS;
    one_op_input(b, at);
  }
  one_op_output(b, in_place);
  one_op_open(b, net);
  for (int i = 0; i < c->ins; i++)
    fill(b, &b->operands[1 + i], &c->in[i]);
}

static void run_form(const struct one_case *c, const char *form, bool strided,
                     bool in_place, unsigned threads) {
  struct one_op b = {.op.ins = 0};
  struct netrt net;
  open_case(&b, c, strided, in_place, &net);
  net.threads = threads;
  net.parallel = threads ? backwards : NULL;
  assert_int_equal(netrt_run(&net), NETRT_OK);
  size_t count = values_of(&c->out);
  int8_t *made = calloc(count, 1);
  netrt_copy_output(&net, 0, made);
  for (size_t i = 0; i < count; i++)
    if (made[i] != (int8_t)c->out.values[i])
      fail_msg("%s, %s: value %zu is %d, not %d", c->name, form, i, made[i],
               (int8_t)c->out.values[i]);
  assert_true(net.high_water <= b.model.arena_bytes);
  free(made);
  one_op_close(&b);
}

static void matches_numpy(void **state) {
  const struct one_case *c = *state;
  run_form(c, "dense", false, false, 0);
  run_form(c, "strided", true, false, 0);
  run_form(c, "in parts", false, false, 3);
  if (!operations[c->code].elementwise)
    return;
  run_form(c, "in place", false, true, 0);
  run_form(c, "in place, strided", true, true, 0);
}

static void every_kernel_has_cases(void **state) {
  (void)state;
  for (int code = 0; code < NETRT_CODES; code++) {
    int fewest = 1000, most = 0;
    if (strncmp(operations[code].name, "q8", 2) != 0)
      continue;
    for (size_t i = 0; i < case_count; i++)
      if (cases[i].code == code) {
        fewest = cases[i].ins < fewest ? cases[i].ins : fewest;
        most = cases[i].ins > most ? cases[i].ins : most;
      }
    assert_int_equal(fewest, operations[code].ins);
    assert_int_equal(most, operations[code].most);
  }
}

/* Both forms of a product, for all sizes of sums and scales. */
static void integers_round_as_floats(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int i = 0; i < 2000000; i++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    int32_t sum = (int32_t)(random >> 32) >> (random >> 16 & 31);
    uint32_t bits =
        (uint32_t)(random >> 40) | (uint32_t)(90 + (random >> 8 & 63)) << 23;
    float scale;
    bits &= 0x7fffffff;
    memcpy(&scale, &bits, sizeof scale);
    if (q8_product_of_floats(sum, scale) != q8_product_of_integers(sum, scale))
      fail_msg("%d * %a: %d, %d", sum, (double)scale,
               q8_product_of_floats(sum, scale),
               q8_product_of_integers(sum, scale));
  }
}

/* Nets. */

static const struct net {
  const char *name, *shape;
  size_t ins, outs;
} nets[] = {
    {"ad01_int8", "640", 640, 640},
    {"kws_ref_model", "49, 10, 1", 490, 12},
    {"pretrainedResnet_quant", "32, 32, 3", 3072, 10},
    {"vww_96_int8", "96, 96, 3", 27648, 2},
    {"str_ww_ref_model", "30, 1, 40", 1200, 3},
};

enum { NETS = sizeof nets / sizeof *nets, RESNET = 2, STREAMING = 4 };

/* Bytes by chance, as an array x.npy and alone. */
static void write_inputs(const char *folder, const char *shape, int samples,
                         size_t each) {
  size_t count = (size_t)samples * each;
  char *values = malloc(128 + count);
  uint32_t state = 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    values[128 + i] = (char)(state >> 24);
  }
  memset(values, ' ', 128);
  memcpy(values, "\x93NUMPY\x01\x00\x76\x00", 10);
  int used = snprintf(values + 10, 118,
                      "{'descr': '|i1', 'fortran_order': False, "
                      "'shape': (%d, %s)}",
                      samples, shape);
  values[10 + used] = ' ';
  values[127] = '\n';
  write_text(text_of("%s/x.npy", folder), values, 128 + count);
  write_text(text_of("%s/x.bin", folder), values + 128, count);
  free(values);
}

/* A folder with inputs and the expected outputs. */
static const char *prepare(const struct net *net) {
  const char *folder = scratch(net->name);
  size_t length, before = 0;
  char *all = read_text(DATA "/outputs.bin", &length);
  write_inputs(folder, net->shape, SAMPLES, net->ins);
  for (const struct net *at = nets; at < net; at++)
    before += SAMPLES * at->outs;
  write_text(text_of("%s/expected.bin", folder), all + before,
             SAMPLES * net->outs);
  free(all);
  const char *from = net == &nets[2] ? "tests/data/import/tflite" : DATA;
  struct run r = run("%s import %s/%s.tflite -o %s/net.net --weights %s/w.st",
                     NETC, from, net->name, folder, folder);
  assert_int_equal(r.status, 0);
  run_free(&r);
  return folder;
}

/* All samples at once, and two of them one by one. */
static void a_run_gives_the_same_bytes(void **state) {
  (void)state;
  for (size_t i = 0; i < NETS; i++) {
    const char *folder = prepare(&nets[i]);
    struct run r =
        run("cd %s && %s run net.net --weights w.st --batch %d --input x.npy "
            "-o y.npy --threads 2 && tail -c +129 y.npy | cmp - expected.bin "
            "&& head -c 40 y.npy | grep -q \"'|i1'\"",
            folder, NETC_PATH, SAMPLES);
    if (r.status)
      fail_msg("%s: %s%s", nets[i].name, r.out, r.err);
    run_free(&r);
  }
}

/* Reads inputs, writes outputs; the arena has exactly what is planned. */
static const char program[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#include \"netrt.h\"\n#include \"net.h\"\n"
    "int main(void) {\n"
    "  unsigned char *arena = malloc(NET_ARENA_BYTES + 64);\n"
    "  struct netrt net;\n"
    "  memset(arena, 0xa5, NET_ARENA_BYTES + 64);\n"
    "  if (netrt_open(&net, &net_model, net_weights, NET_WEIGHT_BYTES,\n"
    "                 arena, NET_ARENA_BYTES) != NETRT_OK)\n"
    "    return 2;\n"
    "  while (fread(netrt_input(&net, 0), 1, NET_INPUT_0_BYTES, stdin) ==\n"
    "         NET_INPUT_0_BYTES) {\n"
    "    if (netrt_run(&net) != NETRT_OK)\n"
    "      return 3;\n"
    "    fwrite(netrt_output(&net, 0), 1, NET_OUTPUT_0_BYTES, stdout);\n"
    "  }\n"
    "  for (int i = 0; i < 64; i++)\n"
    "    if (arena[NET_ARENA_BYTES + i] != 0xa5)\n"
    "      return 4;\n"
    "  return 0;\n"
    "}\n";

/* `settings` are those of the plan alone: the weights do not change. */
static void compile_in(const char *folder, const char *weights,
                       const char *settings, const char *options) {
  write_in(folder, "main.c", program);
  struct run r =
      run("cd %s && %s net.net %s --prefix=net -o net.h -o net.c && "
          "%s weights net.net --prefix=net %s --fold -o w.S && "
          "r=$OLDPWD/runtime && ${CC:-cc} -O2 %s -Wall -Wextra -Werror -I$r "
          "main.c net.c w.S $r/q8_*.c $r/netrt.c $r/kernel.c $r/check.c "
          "$r/overlap.c $r/line_buffer.c $r/move.c -lm -o a && "
          "./a <x.bin | cmp - expected.bin",
          folder, NETC_PATH, settings, NETC_PATH, weights, options);
  if (r.status)
    fail_msg("%s: %s%s", folder, r.out, r.err);
  run_free(&r);
}

static void compile(const struct net *net, const char *settings,
                    const char *options) {
  compile_in(prepare(net), "--from w.st", settings, options);
}

/* Every byte of the arena is watched, that of overlapping rows, too. */
static void a_program_gives_the_same_bytes(void **state) {
  (void)state;
  compile(&nets[1], "", "-DNETRT_CHECK");
}

/* Sums among the first stages, whose order the weights do not know. */
static void stages_by_rows_give_the_same_bytes(void **state) {
  (void)state;
  compile(&nets[RESNET], "--patches auto", "-DNETRT_CHECK");
}

/* Frames of sound one by one, and the windows that they end: the same bytes. */
static const char frames[] =
    "#include <stdio.h>\n#include <string.h>\n"
    "#include \"netrt.h\"\n#include \"net.h\"\n"
    "#include \"stream.h\"\n"
    "static unsigned char a[NET_ARENA_BYTES], b[STREAM_ARENA_BYTES];\n"
    "int main(void) {\n"
    "  struct netrt net, stream;\n"
    "  static char all[60 * STREAM_INPUT_0_BYTES];\n"
    "  size_t frame = STREAM_INPUT_0_BYTES, i;\n"
    "  int windows = 0;\n"
    "  if (fread(all, 1, sizeof all, stdin) != sizeof all ||\n"
    "      netrt_open(&net, &net_model, net_weights, NET_WEIGHT_BYTES, a,\n"
    "                 sizeof a) ||\n"
    "      netrt_open(&stream, &stream_model, net_weights, NET_WEIGHT_BYTES,\n"
    "                 b, sizeof b))\n"
    "    return 2;\n"
    "  for (i = 0; i < 60; i++) {\n"
    "    memcpy(netrt_input(&stream, 0), all + i * frame, frame);\n"
    "    if (netrt_run(&stream) != (i < 29 ? NETRT_NOT_YET : NETRT_OK))\n"
    "      return 3;\n"
    "    if (i < 29)\n      continue;\n"
    "    memcpy(netrt_input(&net, 0), all + (i - 29) * frame, 30 * frame);\n"
    "    if (netrt_run(&net) != NETRT_OK ||\n"
    "        memcmp(netrt_output(&net, 0), netrt_output(&stream, 0), 3))\n"
    "      return 4;\n"
    "    windows++;\n"
    "  }\n"
    "  printf(\"%d %zu\", windows, frame);\n"
    "  return 0;\n"
    "}\n";

static void streams_give_the_same_bytes(void **state) {
  (void)state;
  const char *folder = prepare(&nets[STREAMING]);
  write_in(folder, "frames.c", frames);
  struct run r =
      run("cd %s && %s net.net --prefix=net -o net.h -o net.c && "
          "%s net.net --stream on --prefix=stream -o stream.h -o stream.c && "
          "%s weights net.net --prefix=net --from w.st --fold -o w.S && "
          "r=$OLDPWD/runtime && ${CC:-cc} -O2 -DNETRT_CHECK -Wall -Wextra "
          "-Werror -I$r frames.c net.c stream.c w.S $r/q8_*.c $r/netrt.c "
          "$r/kernel.c $r/check.c $r/overlap.c $r/line_buffer.c $r/move.c -lm "
          "-o f && ./f <x.bin",
          folder, NETC_PATH, NETC_PATH, NETC_PATH);
  if (r.status)
    fail_msg("%d: %s%s", r.status, r.out, r.err);
  assert_string_equal(r.out, "31 40");
  run_free(&r);
}

/* Layers that MLPerf Tiny's nets lack, by floats here, by integers there. */
static void decoders_give_the_same_bytes(void **state) {
  (void)state;
  const char *folder = scratch("decoder");
  write_in(folder, "net.net",
           "net d\ninput 9x8x3 : i8\nconv 8 3x3 /2 pad prelu\n"
           "deconv 6 4x4 /2 pad=1 relu\ndeconv 12 3x3 groups=3 dilate=2\n"
           "prelu shared\nup 2\nup size=30x37 bilinear\n"
           "mean w relu6\nmax l\nfc 7 hswish\n");
  write_inputs(folder, "9, 8, 3", 3, 9 * 8 * 3);
  struct run r = run("cd %s && %s run net.net --random 3 --batch 3 --input "
                     "x.npy -o y.npy && tail -c +129 y.npy >expected.bin && "
                     "test $(wc -c <expected.bin) = 21",
                     folder, NETC_PATH);
  if (r.status)
    fail_msg("%s%s", r.out, r.err);
  run_free(&r);
  compile_in(folder, "--random 3", "--patches auto",
             "-DNETRT_CHECK -DNETRT_SMALL -DNETRT_Q8_INTEGER=1");
}

static void programs_give_the_same_bytes(void **state) {
  (void)state;
  for (size_t i = 0; i < NETS; i++) {
    compile(&nets[i], "", "-DNETRT_CHECK");
    compile(&nets[i], "--patches auto", "-DNETRT_CHECK");
    compile(&nets[i], "", "-DNETRT_SMALL -DNETRT_Q8_INTEGER=1");
  }
}

/* Reals that go in are rounded, and a line says so. */
static void reals_become_int8(void **state) {
  (void)state;
  const char *folder = prepare(&nets[1]);
  struct run r =
      run("cd %s && %s run net.net --weights w.st --random 1 && "
          "%s run net.net --weights w.st --random 1 --dtype f32 && "
          "%s weights net.net --from w.st -o v.st && "
          "%s weights net.net --from v.st --fold -o v.bin && "
          "%s weights net.net --from w.st --fold -o w.bin && "
          "cmp v.bin w.bin && %s weights net.net --random 3 --fold -o w.bin && "
          "test $(wc -c <w.bin) = $(%s net.net --prefix=net -o - "
          "--emit=header | sed -n 's/.*NET_WEIGHT_BYTES //p' | head -1)",
          folder, NETC_PATH, NETC_PATH, NETC_PATH, NETC_PATH, NETC_PATH,
          NETC_PATH, NETC_PATH);
  if (r.status)
    fail_msg("%s%s", r.out, r.err);
  run_free(&r);
  char *file = calloc(1, 128 + 490 * 4);
  memset(file, ' ', 128);
  int used = snprintf(file + 10, 118,
                      "{'descr': '<f4', 'fortran_order': False, 'shape': "
                      "(49, 10, 1)}");
  file[10 + used] = ' ';
  memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  file[127] = '\n';
  write_text(text_of("%s/r.npy", folder), file, 128 + 490 * 4);
  r = run("cd %s && %s run net.net --weights w.st --input r.npy -o y.npy",
          folder, NETC_PATH);
  assert_int_equal(r.status, 0);
  assert_holds(r.err, "input `input`: reals become int8, in steps of ");
  run_free(&r);
  free(file);
}

/* The part of a file that follows a text. */
static size_t after(const char *file, size_t length, const char *text) {
  size_t known = strlen(text), i = 0;
  while (i + known < length && memcmp(file + i, text, known) != 0)
    i++;
  assert_true(i + known < length);
  return i + known;
}

/* The weights of conv2 one less, and their zero points, too: the same values.
 * The header, whose length comes first, grows by a byte for each of 64. */
static void shift_weights(const char *folder) {
  size_t length, from;
  char *file = read_text(text_of("%s/w.st", folder), &length);
  char *to = malloc(length + 64);
  uint64_t head;
  memcpy(&head, file, 8);
  from = after(file, length, "\"conv2.weight\":");
  from += after(file + from, length - from, "\"data_offsets\":[");
  char *values = file + 8 + head + strtol(file + from, NULL, 10);
  for (size_t i = 0; i < 64 * 64; i++)
    values[i]--;
  from = after(file, length, "\"conv2.weight.zero_point\":\"");
  memcpy(to, file, from);
  size_t at = from;
  for (; file[from] != '"'; from++) {
    if (file[from] == '0')
      to[at++] = '-';
    to[at++] = file[from] == '0' ? '1' : file[from];
  }
  assert_int_equal(at, from + 64);
  memcpy(to + at, file + from, length - from);
  head += 64;
  memcpy(to, &head, 8);
  write_text(text_of("%s/z.st", folder), to, length + 64);
  free(file);
  free(to);
}

/* Asymmetric weights, as files of uint8 have them, are rounded anew: here each
 * by half of one step in 127, at most. */
static void weights_of_other_zeros_run(void **state) {
  (void)state;
  const char *folder = prepare(&nets[1]);
  size_t length, count;
  double sum = 0;
  shift_weights(folder);
  struct run r = run("cd %s && %s run net.net --weights z.st --batch %d "
                     "--input x.npy -o y.npy",
                     folder, NETC_PATH, SAMPLES);
  if (r.status)
    fail_msg("%s%s", r.out, r.err);
  assert_holds(r.err, "note: the weights of 1 layer have zero points other "
                      "than 0; they are rounded to a scale for each output");
  run_free(&r);
  char *made = read_text(text_of("%s/y.npy", folder), &length);
  char *expected = read_text(text_of("%s/expected.bin", folder), &count);
  assert_int_equal(length, 128 + count);
  for (size_t i = 0; i < count; i++)
    sum += abs((signed char)made[128 + i] - (signed char)expected[i]);
  if (sum / (double)count > 0.5)
    fail_msg("%g steps from what they were", sum / (double)count);
  free(made);
  free(expected);
}

static void check_refusal(const char *source, const char *arguments,
                          const char *says) {
  const char *folder = scratch("refused");
  write_in(folder, "a.net", source);
  struct run r = run("cd %s && %s %s", folder, NETC_PATH, arguments);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, says);
  run_free(&r);
}

/* An operation without a kernel of 8 bits is named, with the way out. */
static void what_cannot_run_is_refused(void **state) {
  (void)state;
  check_refusal("net a\ninput 8x8x3\nconv 4 3x3 relu\npad 1 reflect\n"
                "infer dtype=i8\n",
                "run a.net --random 1",
                "the runtime has no int8 kernel for `pad` of pad1: choose "
                "`--dtype f32`");
  check_refusal("net a\ninput 8x16 : i8\nlinear 16\nattention 4\n",
                "a.net -o a.c",
                "the runtime has no int8 kernel for `matmul` of attention1");
  check_refusal(
      "net a\ninput 8x16 : i8\ngru 4\n", "run a.net --random 1",
      "the runtime has no int8 kernel for `gru` of gru1: choose `--dtype f32`");
  check_refusal("net a\ninput 70000\nfc 4\ninfer dtype=i8\n",
                "run a.net --random 1",
                "fc1 sums more than 65536 products, which 32 bits may not "
                "hold: choose `--dtype f32`");
  check_refusal(
      "net a\ninput 8x8x3\nconv 4 3x3\n",
      "weights a.net --random 1 -o a.st && $OLDPWD/" NETC
      " run a.net --weights a.st --random 1 --dtype i8",
      "conv1: int8 needs a scale for its output, but the weights have none\n");
  check_refusal("net a\ninput 8x8x3\nconv 4 3x3\n",
                "weights a.net --random 1 --fold --weight-dtype int8 -o a.bin",
                "choose `--weight-dtype i8`");
}

/* kws with a QUANTIZE of another scale where it has a RESHAPE. */
static void another_scale_between_layers_is_told(void **state) {
  (void)state;
  enum { CODE = 53875, SCALE = 26764 };
  static const float scale = 0.1604723f;
  const char *folder = scratch("rescaled");
  size_t length;
  char *file = read_text(DATA "/kws_ref_model.tflite", &length);
  assert_true(length > CODE && file[CODE] == 22);
  file[CODE] = 114;
  memcpy(file + SCALE, &scale, sizeof scale);
  write_text(text_of("%s/a.tflite", folder), file, length);
  free(file);
  struct run r = run("cd %s && %s import a.tflite -o a.net --weights a.st && "
                     "cat a.net && %s run a.net --weights a.st --random 1 "
                     "--dtype f32 && ! %s run a.net --weights a.st --random 1",
                     folder, NETC_PATH, NETC_PATH, NETC_PATH);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "# `functional_1/flatten/Reshape` changes the scale of "
                      "8-bit values:");
  assert_holds(r.err,
               "int8 needs a scale for its output, but the weights have none");
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(every_kernel_has_cases),
      cmocka_unit_test(integers_round_as_floats),
      cmocka_unit_test(a_run_gives_the_same_bytes),
      cmocka_unit_test(a_program_gives_the_same_bytes),
      cmocka_unit_test(stages_by_rows_give_the_same_bytes),
      cmocka_unit_test(streams_give_the_same_bytes),
      cmocka_unit_test(decoders_give_the_same_bytes),
      slow_test(programs_give_the_same_bytes),
      cmocka_unit_test(reals_become_int8),
      cmocka_unit_test(weights_of_other_zeros_run),
      cmocka_unit_test(what_cannot_run_is_refused),
      cmocka_unit_test(another_scale_between_layers_is_told),
  };
  read_cases();
  return run_table("kernels", cases, case_count, sizeof *cases, matches_numpy,
                   others, sizeof others / sizeof *others);
}
