/*
 * Weights of 8 and 16 bits beside values of float32: the same bits as a net of
 * float32 has with these weights, by the plain kernels and by those of each
 * instruction set; how they are rounded, how many bytes are counted.
 */
#include <math.h>

#include "netc.h"
#include "runtime/netrt.h"
#include "tests/model_run.h"

static const char *const types[] = {"i8", "f16", "bf16"};

static const char *const nets[] = {
    "input 11x13x5; conv 12 3 pad bn relu; dwconv 3 pad bn relu6; "
    "conv 40 3x2 /2 groups=4; dwconv 3 mult=2 /2; "
    "add { conv 80 1x1; relu; dwconv 3 pad } {}; conv 33 1x1 nobias",
    "input 9x6; conv 7 3 pad dilate=2; relu; conv 18 2 /2 nobias; dwconv 2",
    "input 4x5x6x3; conv 6 2x3x2 /2x1x1 pad relu; dwconv 2x1x3 pad; conv 9 "
    "1x1x1",
    "input 23; fc 70 relu; fc 33 nobias; add { fc 33 } {}; fc 5 sigmoid",
    "input 7x24; attention 3; linear 37 gelu; linear 515; "
    "attention 5 packed kv=1; linear 3 nobias",
    "input 600; fc 530 relu; fc 1100",
    "input 9x24; moe experts=3 top=2 { linear 37 gelu; linear 24 nobias }; "
    "moe experts=4 top=1 capacity=1 { linear 9 relu; linear 5 }",
    "input 6x6x8; conv 8 3x3 pad groups=2 relu; conv 16 3x3 pad groups=4; "
    "conv 3 1x1; dwconv 3x3 /2 pad",
};

/* The first stages row by row, if `patches` is auto. */
static struct netc *load(const char *net, const char *weights, int batch,
                         const char *patches) {
  struct netc *netc = netc_open(NULL, NULL);
  char number[12];
  snprintf(number, sizeof number, "%d", batch);
  assert_int_equal(netc_set(netc, "batch", number), NETC_OK);
  assert_int_equal(netc_set(netc, "patches", patches), NETC_OK);
  if (weights)
    assert_int_equal(netc_set(netc, "weight_dtype", weights), NETC_OK);
  assert_int_equal(netc_load_text(netc, "a.net", net, strlen(net)), NETC_OK);
  return netc;
}

static const struct netrt_model *tables_of(struct netc *netc) {
  const struct netrt_model *model;
  assert_int_equal(netc_runtime(netc, &model), NETC_OK);
  return model;
}

/* A value of 16 bits near 1, or subnormal. */
static float put_half(unsigned char *to, bool brain, uint32_t bits) {
  uint32_t exponent = bits >> 16 & 3;
  uint16_t half = (uint16_t)(bits & 0x8000);
  if (brain)
    half |= (uint16_t)((124 + exponent) << 7 | (bits & 0x7f));
  else
    half |= (uint16_t)((exponent ? 11 + exponent : 0) << 10 | (bits & 0x3ff));
  memcpy(to, &half, sizeof half);
  int steps =
      brain ? 128 + (half & 0x7f) : (exponent ? 1024 : 0) + (half & 0x3ff);
  int power = brain      ? (int)(124 + exponent) - 134
              : exponent ? (int)(11 + exponent) - 25
                         : -24;
  return ldexpf((float)(bits & 0x8000 ? -steps : steps), power);
}

/* The same weights in both blocks. */
static void fill(struct netc *netc, struct netc *plain, unsigned char *block,
                 float *floats, uint64_t seed) {
  struct netc_tensor t = {.size = sizeof t}, wide = {.size = sizeof wide};
  size_t narrow = 0;
  for (size_t i = 0; netc_tensor(netc, i, &t) == NETC_OK; i++) {
    assert_int_equal(netc_tensor(plain, i, &wide), NETC_OK);
    assert_int_equal(wide.offset < 0, t.offset < 0);
    int64_t outs = t.rank ? t.dims[t.rank - 1] : 1;
    narrow += t.type != NETC_FLOAT;
    for (int64_t k = 0; t.offset >= 0 && k < t.count; k++) {
      float *to = floats + wide.offset / 4 + k;
      uint32_t bits = model_bits(&seed);
      if (t.type == NETC_I8) {
        float scale = ldexpf((float)(3 + k % outs % 5), -9);
        int8_t value = (int8_t)(bits >> 24);
        memcpy(block + t.scales + 4 * (k % outs), &scale, sizeof scale);
        memcpy(block + t.offset + k, &value, 1);
        *to = (float)value * scale;
      } else if (t.type != NETC_FLOAT)
        *to = put_half(block + t.offset + 2 * k, t.type == NETC_BF16, bits);
      else {
        *to = (float)(int32_t)bits * 0x1p-32F;
        memcpy(block + t.offset + 4 * k, to, sizeof *to);
      }
    }
  }
  assert_true(narrow > 0);
}

/* No kernel is one of float32, except a router's. */
static void check_kernels(const struct netrt_model *model, bool routes) {
  for (uint32_t i = 0; i < model->op_count; i++)
    assert_true(model->ops[i].kernel != NETRT_CONV &&
                model->ops[i].kernel != NETRT_EXPERTS &&
                (routes || model->ops[i].kernel != NETRT_LINEAR));
}

/* Returns whether stages were computed row by row. */
static bool check_bits(const char *text, const char *type, int batch,
                       const char *patches) {
  static const unsigned flags[] = {NETRT_REFERENCE, 0, NETRT_NO_AVX512,
                                   NETRT_NO_AVX512 | NETRT_NO_AVX2,
                                   NETRT_APART};
  struct netc *netc = load(text, type, batch, patches);
  struct netc *plain = load(text, NULL, batch, patches);
  const struct netrt_model *small = tables_of(netc), *model = tables_of(plain);
  struct netc_inference known = {.size = sizeof known};
  assert_int_equal(netc_inference(netc, &known), NETC_OK);
  assert_int_equal(known.weight_bytes, small->weight_bytes);
  assert_true(small->weight_bytes < model->weight_bytes);
  assert_int_equal(small->arena_bytes, model->arena_bytes);
  check_kernels(small, strstr(text, "moe"));
  float *floats = calloc(model->weight_bytes / 4 + 1, 4);
  unsigned char *block = calloc(small->weight_bytes / 4 + 1, 4);
  unsigned char *out = malloc(1 << 20), *truth = malloc(1 << 20);
  fill(netc, plain, block, floats, 77);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    size_t used =
        model_run(model, floats, model->weight_bytes, flags[i], truth);
    assert_true(used > 0 && used < 1 << 20);
    assert_int_equal(
        model_run(small, block, small->weight_bytes, flags[i], out), used);
    if (memcmp(out, truth, used) != 0)
      print_error("%s, %s, batch %d, flags %u\n", text, type, batch, flags[i]);
    assert_memory_equal(out, truth, used);
  }
  free(out);
  free(truth);
  free(block);
  free(floats);
  bool by_rows = small->ops[0].kernel == NETRT_LINEBUFFER;
  netc_close(netc);
  netc_close(plain);
  return by_rows;
}

static void the_bits_are_those_of_rounded_weights(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
      for (int batch = 1; batch <= 3; batch += 2)
        check_bits(nets[i], types[k], batch, "off");
}

static void so_they_are_row_by_row(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    assert_true(check_bits("input 40x9x3; conv 8 3 pad bn relu; "
                           "add { conv 8 3 pad bn } {}; relu; dwconv 3 pad /2; "
                           "pool 2; conv 4 3 pad; gap; fc 3",
                           types[k], 1, "auto"));
}

/* Values, and what they are rounded to. */
static void check_rounding(const char *type, const float *values,
                           const unsigned char *block, size_t bytes) {
  const char *folder = scratch("rounded");
  char path[1100], head[200], name[1100];
  snprintf(path, sizeof path, "%s/w.safetensors", folder);
  int length = snprintf(head + 8, sizeof head - 8,
                        "{\"fc1.weight\":{\"dtype\":\"F32\",\"shape\":[2,4],"
                        "\"data_offsets\":[0,32]}}");
  memset(head, 0, 8);
  head[0] = (char)length;
  memcpy(head + 8 + length, values, 32);
  write_text(path, head, 40 + (size_t)length);
  struct run r = run("echo 'input 4; fc 2 nobias' >%s/a.net; " NETC
                     " weights %s/a.net --from %s --fold --weight-dtype %s -o "
                     "%s/a.bin",
                     folder, folder, path, type, folder);
  assert_string_equal(r.err, "");
  run_free(&r);
  snprintf(name, sizeof name, "%s/a.bin", folder);
  size_t written;
  char *text = read_text(name, &written);
  assert_int_equal(written, bytes);
  assert_memory_equal(text, block, bytes);
  free(text);
}

/* Ties go to even; halves of IEEE 754, its largest and its subnormals. The
 * block has inputs x outputs. */
static void weights_are_rounded_to_the_nearest(void **state) {
  (void)state;
  const float half[8] = {1.0F,      1.00048828125F, 65504.0F, -0x1p-24F,
                         -2.00293F, 1.00146484375F, 0x1p-25F, 0x1.8p-24F};
  const unsigned char halves[16] = {0x00, 0x3c, 0x02, 0xc0, 0x00, 0x3c,
                                    0x02, 0x3c, 0xff, 0x7b, 0x00, 0x00,
                                    0x01, 0x80, 0x02, 0x00};
  check_rounding("f16", half, halves, sizeof halves);
  const float brain[8] = {1.0F,  1.00390625F, 1.01171875F, -3.0F,
                          0.25F, 1e30F,       0.0F,        1.9999F};
  const unsigned char brains[16] = {0x80, 0x3f, 0x80, 0x3e, 0x80, 0x3f,
                                    0x4a, 0x71, 0x82, 0x3f, 0x00, 0x00,
                                    0x40, 0xc0, 0x00, 0x40};
  check_rounding("bf16", brain, brains, sizeof brains);
  const float byte[8] = {12.7F, -12.7F, 1.0F, 0.26F, 0.0F, 0.0F, 0.0F, 0.0F};
  const float scales[2] = {12.7F / 127, 1};
  unsigned char bytes[16] = {0};
  memcpy(bytes, scales, sizeof scales);
  const signed char wholes[8] = {127, 0, -127, 0, 10, 0, 3, 0};
  memcpy(bytes + 8, wholes, sizeof wholes);
  check_rounding("i8", byte, bytes, sizeof bytes);
}

/* Errors: other types, values that a half does not hold. */
static void other_types_are_told_what_runs(void **state) {
  (void)state;
  const char *folder = scratch("told");
  char command[2200];
  const char *const rows[][2] = {
      {"--weight-dtype int8 -o x.c", "choose `--weight-dtype i8`, `f16` or"},
      {"--weight-dtype q8_0 -o x.c", "choose `--weight-dtype i8`, `f16` or"},
      {"--weight-dtype f16 --dtype i8 -o x.c", "a separate weight type needs "
                                               "float32 values: choose "
                                               "`--dtype f32`, or"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(command, sizeof command,
             "cd %s && echo 'input 4; fc 2' >a.net && $OLDPWD/" NETC
             " a.net %s",
             folder, rows[i][0]);
    expect(command, 1, "", rows[i][1]);
  }
  const char *const values[][3] = {
      {"\\0\\0\\200\\107", "f16",
       "`fc1.weight` has the value 65536, which float16 cannot represent:"},
      {"\\377\\377\\377\\177", "f16", "that is NaN or infinite"},
      {"\\377\\377\\377\\177", "bf16", "that is NaN or infinite"},
      {"\\377\\377\\377\\177", "i8", "that is NaN or infinite"}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    snprintf(command, sizeof command,
             "cd %s && echo 'input 1; fc 1 nobias' >a.net && printf "
             "'\\101\\0\\0\\0\\0\\0\\0\\0{\"fc1.weight\":{\"dtype\":\"F32\","
             "\"shape\":[1,1],\"data_offsets\":[0,4]}}%s' >w.st && "
             "$OLDPWD/" NETC " run a.net --weights w.st --random 1 "
             "--weight-dtype %s",
             folder, values[i][0], values[i][1]);
    expect(command, 1, "", values[i][2]);
  }
}

/* The report names the layers whose matrices stay as they are. */
static void what_stays_wide_is_told(void **state) {
  (void)state;
  const char *const rows[][2] = {
      {"lstm 6\\ngru 5\\ndeconv 3 3\\nlinear 3",
       "; other matrices stay in float32 (lstm1 and 2 more)"},
      {"deconv 4 3", "; other matrices stay in float32 (deconv1)"},
      {"conv 4 3 wnorm bn\\nattention 2\\nfc 2",
       "which the runtime widens in memory"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct run r = run("printf 'input 8x4\\n%s\\n' | " NETC
                       " - --details --weight-dtype i8 | tr -s '\\n ' ' '",
                       rows[i][0]);
    if (r.status || !strstr(r.out, rows[i][1]))
      fail_msg("%s\n%s%s", rows[i][0], r.out, r.err);
    run_free(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_stays_wide_is_told),
      cmocka_unit_test(the_bits_are_those_of_rounded_weights),
      cmocka_unit_test(so_they_are_row_by_row),
      cmocka_unit_test(weights_are_rounded_to_the_nearest),
      cmocka_unit_test(other_types_are_told_what_runs),
  };
  return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}
