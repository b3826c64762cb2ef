/*
 * Weights in panels: the same bits as without them, by the plain kernels and
 * by those of each instruction set; the bytes that `--fold=panels` writes;
 * what is refused.
 */
#include "netc.h"
#include "runtime/netrt.h"
#include "tests/model_run.h"

static const char *const nets[] = {
    "input 9x11x5; conv 40 3 pad bn relu; conv 98 3x2 /2 relu6; "
    "dwconv 3 pad; conv 66 3x3 /2 dilate=2 pad groups=2; conv 33 1x1 nobias; "
    "conv 64 1x1; conv 4 1x1",
    "input 30x17; conv 35 3 pad dilate=2 relu; conv 70 2 /2 nobias gelu",
    "input 4x5x6x3; conv 36 2x3x2 /2x1x1 pad relu; conv 100 1x1x1",
    "input 23; fc 70 relu; fc 33 nobias; add { fc 33 } {}; fc 515 gelu; fc 5",
    "input 7x24; attention 3; linear 37 gelu; linear 515; linear 48; "
    "attention 6 packed kv=2; add { linear 48 } {}; linear 33 nobias",
    "input 600; fc 530 relu; fc 1100 silu",
    "input 14x14x32; add { conv 48 3x3 pad bn relu; conv 48 3x3 pad bn } { "
    "conv "
    "48 1x1 bn }; relu; conv 300 3x3 pad; gap; fc 40",
    /* Maps whose values are not side by side: the plain kernels. */
    "input 6x8x40; permute 2 0 1; conv 40 3x3 pad; linear 35",
};

static const unsigned flags[] = {NETRT_REFERENCE, 0, NETRT_NO_AVX512,
                                 NETRT_NO_AVX512 | NETRT_NO_AVX2, NETRT_APART};
enum { KINDS = sizeof flags / sizeof *flags };

static struct netc *load(const char *net, int batch, const char *patches,
                         const char *overlap) {
  struct netc *netc = netc_open(NULL, NULL);
  char number[12];
  snprintf(number, sizeof number, "%d", batch);
  assert_int_equal(netc_set(netc, "batch", number), NETC_OK);
  assert_int_equal(netc_set(netc, "patches", patches), NETC_OK);
  assert_int_equal(netc_set(netc, "overlap", overlap), NETC_OK);
  enum netc_status loaded =
      strchr(net, '/') && !strchr(net, ';')
          ? netc_load_file(netc, net)
          : netc_load_text(netc, "a.net", net, strlen(net));
  assert_int_equal(loaded, NETC_OK);
  return netc;
}

/* The same values in panels, after what says it; how many tensors are. */
static size_t put_panels(const struct netrt_model *m, const float *rows,
                         float *block) {
  float *to = block + NETRT_PANELS_BYTES / 4;
  size_t tensors = 0;
  uint32_t layout = netrt_panels_layout(m);
  memcpy(block, netrt_panels, NETRT_PANELS_BYTES);
  memcpy(to - 1, &layout, sizeof layout);
  memcpy(to, rows, m->weight_bytes);
  for (uint32_t i = 0; i < m->operand_count; i++) {
    const struct netrt_operand *at = &m->operands[i];
    if (at->place != NETRT_IN_PANELS)
      continue;
    size_t outs = (size_t)m->numbers[at->shape + at->rank - 1U];
    size_t ins = netrt_values(m, at) / outs;
    assert_true(outs > NETRT_PANEL && at->type == NETRT_F32);
    const float *from = rows + at->offset / 4;
    for (size_t k = 0; k < ins; k++)
      for (size_t o = 0; o < outs; o++) {
        size_t first = o - o % NETRT_PANEL, width = outs - first;
        width = width < NETRT_PANEL ? width : NETRT_PANEL;
        to[at->offset / 4 + first * ins + k * width + o % NETRT_PANEL] =
            from[k * outs + o];
      }
    tensors++;
  }
  return tensors;
}

/* Returns how many tensors are in panels. */
static size_t check_bits(struct netc *netc, const char *text,
                         const unsigned *by, size_t kinds) {
  const struct netrt_model *model;
  assert_int_equal(netc_runtime(netc, &model), NETC_OK);
  float *rows = calloc(model->weight_bytes / 4 + 1, 4);
  float *panels = calloc(model->weight_bytes / 4 + 32, 4);
  unsigned char *out = malloc(1 << 20), *truth = malloc(1 << 20);
  uint64_t seed = 77;
  for (size_t i = 0; i < model->weight_bytes / 4; i++)
    rows[i] = (float)(int32_t)model_bits(&seed) * 0x1p-34F;
  size_t tensors = put_panels(model, rows, panels);
  for (size_t i = 0; i < kinds; i++) {
    size_t used = model_run(model, rows, model->weight_bytes, by[i], truth);
    assert_true(used > 0 && used < 1 << 20);
    assert_int_equal(model_run(model, panels,
                               model->weight_bytes + NETRT_PANELS_BYTES, by[i],
                               out),
                     used);
    if (memcmp(out, truth, used) != 0)
      print_error("%s, batch %u, flags %u\n", text, model->batch, by[i]);
    assert_memory_equal(out, truth, used);
  }
  free(out);
  free(truth);
  free(panels);
  free(rows);
  return tensors;
}

static void the_bits_are_those_of_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    for (int batch = 1; batch <= 3; batch += 2) {
      struct netc *netc = load(nets[i], batch, "off", "off");
      assert_true(check_bits(netc, nets[i], flags, KINDS) >= 2);
      netc_close(netc);
    }
}

/* Line by line, and over its own input. */
static void so_they_are_line_by_line(void **state) {
  (void)state;
  const char *text = "input 40x9x3; conv 40 3 pad bn relu; add { conv 40 3 pad "
                     "bn } {}; relu; pool 2; conv 34 3 pad; gap; fc 3";
  struct netc *netc = load(text, 1, "auto", "off");
  const struct netrt_model *model;
  assert_int_equal(netc_runtime(netc, &model), NETC_OK);
  assert_int_equal(model->ops[0].kernel, NETRT_LINEBUFFER);
  assert_int_equal(check_bits(netc, text, flags, KINDS), 3);
  netc_close(netc);
  netc = load("input 12x12x40; conv 40 3x3 /2; conv 48 3x3 pad; conv 40 1x1", 1,
              "off", "on");
  assert_int_equal(check_bits(netc, "overlap", flags, KINDS), 3);
  netc_close(netc);
}

static void so_they_are_of_whole_nets(void **state) {
  (void)state;
  const char *const zoo[] = {"lenet5", "squeezenet", "mobilenet_v2",
                             "shufflenet_v2"};
  for (size_t i = 0; i < sizeof zoo / sizeof *zoo; i++) {
    char path[100];
    snprintf(path, sizeof path, "examples/zoo/%s.net", zoo[i]);
    struct netc *netc = load(path, 1, "off", "off");
    assert_true(check_bits(netc, path, &flags[1], 1) > 0);
    netc_close(netc);
  }
}

/* Weights that something else reads too, or that are no matrix. */
static void others_stay_in_rows(void **state) {
  (void)state;
  static const char *const plain[] = {
      "input 8x8x3; conv 32 3x3; dwconv 3; deconv 40 2; gap; fc 32",
      "input 8x8x64; conv 64 3x3 groups=2; dwconv 3 mult=2",
      "input 5 : i32; e: embed 50 64; linear 50 tie=e nobias"};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    struct netc *netc = load(plain[i], 1, "off", "off");
    const struct netrt_model *m;
    assert_int_equal(netc_runtime(netc, &m), NETC_OK);
    for (uint32_t k = 0; k < m->operand_count; k++)
      assert_true(m->operands[k].place != NETRT_IN_PANELS);
    netc_close(netc);
  }
}

static enum netrt_status open_status(const struct netrt_model *model,
                                     const void *weights, size_t bytes) {
  struct netrt net;
  struct netrt_model all = *model;
  all.kernels = netrt_kernels;
  all.kernel_count = NETRT_CODES;
  void *arena = malloc(model->arena_bytes + 64);
  enum netrt_status status =
      netrt_open(&net, &all, weights, bytes, arena, model->arena_bytes);
  if (status == NETRT_OK)
    netrt_close(&net);
  free(arena);
  return status;
}

/* No block in another order than its size and first words say. */
static void other_orders_are_refused(void **state) {
  (void)state;
  struct netc *netc = load("input 4; fc 40; fc 3", 1, "off", "off");
  const struct netrt_model *m;
  assert_int_equal(netc_runtime(netc, &m), NETC_OK);
  size_t bytes = m->weight_bytes;
  float *block = calloc(bytes / 4 + 16, 4);
  memcpy(block, netrt_panels, NETRT_PANELS_BYTES);
  assert_int_equal(netrt_reads_panels(), 1);
  assert_int_equal(open_status(m, block, bytes + NETRT_PANELS_BYTES), NETRT_OK);
  assert_int_equal(open_status(m, block, bytes), NETRT_OK); /* as values */
  assert_int_equal(open_status(m, block, bytes + 4), NETRT_WRONG_WEIGHTS);
  /* Tables that do not say which weights they are. */
  struct netrt_operand *plain =
      malloc(m->operand_count * sizeof(struct netrt_operand));
  struct netrt_model old = *m;
  memcpy(plain, m->operands, m->operand_count * sizeof *plain);
  for (uint32_t i = 0; i < m->operand_count; i++)
    plain[i].place =
        plain[i].place == NETRT_IN_ARENA ? NETRT_IN_ARENA : NETRT_IN_WEIGHTS;
  old.operands = plain;
  assert_int_equal(open_status(&old, block, bytes + NETRT_PANELS_BYTES),
                   NETRT_WRONG_WEIGHTS);
  plain[0].place = NETRT_IN_PANELS + 1;
  assert_int_equal(open_status(&old, block, bytes), NETRT_BAD_MODEL);
  block[10] += 1; /* another number of outputs */
  assert_int_equal(open_status(m, block, bytes + NETRT_PANELS_BYTES),
                   NETRT_WRONG_WEIGHTS);
  free(plain);
  free(block);
  netc_close(netc);
}

/* A block of another net with as many bytes, by its last word; 0 is of a block
 * that says nothing. */
static void blocks_of_other_nets_are_refused(void **state) {
  (void)state;
  struct netc *one = load("input 64; fc 40 nobias", 1, "off", "off");
  struct netc *two = load("input 40; fc 64 nobias", 1, "off", "off");
  const struct netrt_model *m, *other;
  assert_int_equal(netc_runtime(one, &m), NETC_OK);
  assert_int_equal(netc_runtime(two, &other), NETC_OK);
  assert_int_equal(m->weight_bytes, other->weight_bytes);
  size_t bytes = m->weight_bytes + NETRT_PANELS_BYTES;
  float *rows = calloc(m->weight_bytes / 4, 4), *block = calloc(bytes / 4, 4);
  assert_int_equal(put_panels(m, rows, block), 1);
  assert_int_equal(open_status(m, block, bytes), NETRT_OK);
  assert_int_equal(open_status(other, block, bytes), NETRT_WRONG_WEIGHTS);
  memset(block + NETRT_PANELS_BYTES / 4 - 1, 0, sizeof *block);
  assert_int_equal(open_status(other, block, bytes), NETRT_OK);
  free(block);
  free(rows);
  netc_close(one);
  netc_close(two);
}

static float *read_floats(const char *folder, const char *name, size_t *bytes) {
  char path[1100];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return (float *)(void *)read_text(path, bytes);
}

/* The same values, which compilers see, too. */
static void files_have_them(void **state) {
  (void)state;
  const char *folder = scratch("panels"), *text =
                                              "input 6x5x9; conv 70 3x2 bn; "
                                              "gap; fc 35; fc 4";
  struct run r =
      run("cd %s && echo '%s' >a.net && for p in '' =panels; do $OLDPWD/" NETC
          " weights a.net --random 3 --fold$p -o a$p.bin && $OLDPWD/" NETC
          " weights a.net --random 3 --fold$p -o s$p.S && $OLDPWD/" NETC
          " weights a.net --random 3 --fold$p -o c$p.c || exit; done; "
          "$OLDPWD/" NETC " a.net --prefix=a -o a.h",
          folder, text);
  assert_string_equal(r.err, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
  struct netc *netc = load(text, 1, "off", "off");
  const struct netrt_model *m;
  assert_int_equal(netc_runtime(netc, &m), NETC_OK);
  size_t plain, size, same;
  float *rows = read_floats(folder, "a.bin", &plain);
  float *panels = read_floats(folder, "a=panels.bin", &size);
  float *stub = read_floats(folder, "s=panels.bin", &same);
  assert_int_equal(plain, m->weight_bytes);
  assert_int_equal(size, plain + NETRT_PANELS_BYTES);
  assert_int_equal(same, size);
  assert_memory_equal(stub, panels, size);
  float *truth = calloc(size / 4, 4);
  assert_int_equal(put_panels(m, rows, truth), 2);
  assert_memory_equal(panels, truth, size);
  free(truth);
  free(stub);
  free(panels);
  free(rows);
  netc_close(netc);
  /* The arrays of both orders have other names, which the header declares. */
  r = run(
      "cd %s && { echo '#include \"a.h\"'; cat c.c c=panels.c; echo '"
      "#include <stdio.h>\n"
      "int main(void) { return fwrite(a_panels, 1, sizeof a_panels, stdout) "
      "!= A_WEIGHT_BYTES + %d || a_weights[0] == 0; }'; } >b.c && cc b.c -o "
      "b && ./b >b.bin && cmp b.bin a=panels.bin && cc -c s=panels.S && "
      "nm s=panels.o | grep -c ' a_panels$'",
      folder, NETRT_PANELS_BYTES);
  assert_string_equal(r.err, "");
  assert_string_equal(r.out, "1\n");
  run_free(&r);
}

static void what_does_not_go_is_told(void **state) {
  (void)state;
  const char *folder = scratch("told");
  char command[2200];
  const char *const rows[][4] = {
      {"input 4; fc 40", "--panels -o a.st", "2", "--panels needs --fold"},
      {"input 4; fc 40", "--fold=rows -o a.bin", "2",
       "--fold takes no value but `panels`, not `rows`"},
      {"input 4; fc 32", "--fold=panels -o a.bin", "1",
       "netc: a.net: panels would change nothing here; write `--fold`"},
      {"input 4; fc 40", "--fold --panels --weight-dtype f16 -o a.bin", "1",
       "netc: a.net: panels would change nothing here; write `--fold`"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(command, sizeof command,
             "cd %s && echo '%s' >a.net && $OLDPWD/" NETC
             " weights a.net --random 1 %s",
             folder, rows[i][0], rows[i][1]);
    expect(command, atoi(rows[i][2]), "", rows[i][3]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bits_are_those_of_rows),
      cmocka_unit_test(so_they_are_line_by_line),
      cmocka_unit_test(so_they_are_of_whole_nets),
      cmocka_unit_test(others_stay_in_rows),
      cmocka_unit_test(other_orders_are_refused),
      cmocka_unit_test(blocks_of_other_nets_are_refused),
      cmocka_unit_test(files_have_them),
      cmocka_unit_test(what_does_not_go_is_told),
  };
  return cmocka_run_group_tests_name("panels", tests, NULL, NULL);
}
