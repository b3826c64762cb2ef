/*
 * Nets by the names and shapes of their weights alone: torchvision's models
 * with 7 classes (tests/data/torch/names.txt), chains that are guessed, and
 * what is not recognised.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <unistd.h>

#include "tests/run.h"

enum { MOST = 40 };

static char folder[1024];

/* A model of names.txt: "ResNet-34: 21288263", then its tensors. */
struct model {
  char label[64];
  long long parameters;
  int tensors;
  char *lines;
};

static const char *path_of(const char *name) {
  static char path[1200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* A file of safetensors with these tensors, whose values are a hole. */
static void put_tensors(const char *path, const char *lines) {
  char *header = malloc(1 << 20), name[200], shape[80];
  size_t used = (size_t)sprintf(header, "{");
  long long offset = 0;
  int taken;
  while (sscanf(lines, "  %199s%79[^\n]%n", name, shape, &taken) == 2) {
    bool counter = strstr(name, "num_batches") || strstr(name, "index");
    long long count = 1;
    char sizes[80];
    snprintf(sizes, sizeof sizes, "%s", shape + strspn(shape, " "));
    for (char *c = sizes; *c; c++)
      *c = *c == 'x' ? ',' : *c;
    for (const char *c = sizes; *c; c += strspn(c, ",")) {
      char *end;
      count *= strtoll(c, &end, 10);
      c = end;
    }
    long long bytes = count * (counter ? 8 : 4);
    used += (size_t)sprintf(header + used,
                            "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],"
                            "\"data_offsets\":[%lld,%lld]}",
                            used > 1 ? "," : "", name, counter ? "I64" : "F32",
                            sizes, offset, offset + bytes);
    offset += bytes;
    lines += taken;
    lines += *lines == '\n';
    if (*lines != ' ')
      break;
  }
  header[used++] = '}';
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (int i = 0; i < 8; i++)
    fputc((int)(used >> 8 * i & 255), file);
  assert_int_equal(fwrite(header, 1, used, file), used);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(truncate(path, (long)(8 + used) + offset), 0);
  free(header);
}

/* The word gives the names that the file does, and their shapes. */
static void check_names(const char *path) {
  const char *net = path_of("x.net");
  struct run word = run("%s weights %s --names=torchvision", NETC, net);
  assert_int_equal(word.status, 0);
  struct run file = run("%s weights %s --names=%s", NETC, net, path);
  assert_int_equal(file.status, 0);
  assert_string_equal(word.out, file.out);
  run_free(&file);
  file = run("%s %s --emit=py --names=%s", NETC, net, path);
  run_free(&word);
  word = run("%s %s --emit=py --names=torchvision", NETC, net);
  assert_string_equal(word.out, file.out);
  run_free(&word);
  run_free(&file);
}

static void check_model(void **state) {
  const struct model *m = *state;
  char text[200], path[1200];
  snprintf(path, sizeof path, "%s", path_of("w.safetensors"));
  put_tensors(path, m->lines);
  struct run r = run("%s %s --emit=json", NETC, path);
  snprintf(text, sizeof text,
           "the file is recognised as %s by %d names; classes 7\n", m->label,
           m->tensors);
  assert_holds(r.err, text);
  assert_int_equal(r.status, 0);
  snprintf(text, sizeof text, "\"param_count\": %lld", m->parameters);
  assert_holds(r.out, text);
  run_free(&r);
  /* The source says that it is guessed, and is the same net. */
  r = run("%s import %s -o %s && %s %s --emit=json", NETC, path,
          path_of("x.net"), NETC, path_of("x.net"));
  assert_int_equal(r.status, 0);
  assert_holds(r.out, text);
  run_free(&r);
  size_t length;
  char *source = read_text(path_of("x.net"), &length);
  assert_int_equal(strncmp(source, "# guessed from the names and shapes", 35),
                   0);
  free(source);
  check_names(path);
  unlink(path);
}

/* The row of torchvision.def fits each net. */
static void all_nets_have_their_names(void **state) {
  static const struct {
    const char *net, *params;
  } nets[] = {
#define NAMES(net, params, names) {net, params},
#include "driver/run/torchvision.def"
#undef NAMES
  };
  (void)state;
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    struct run r = run("%s weights zoo:%s $(echo '%s' | sed 's/[^ ]*=/-D&/g') "
                       "--names=torchvision",
                       NETC, nets[i].net, nets[i].params);
    if (r.status)
      print_error("%s %s: %s", nets[i].net, nets[i].params, r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
}

static void other_nets_have_none(void **state) {
  (void)state;
  struct run r = run("%s weights zoo:unet --names=torchvision", NETC);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "unet: error: torchvision has no such net");
  assert_holds(r.err, "resnet, alexnet, vgg");
  run_free(&r);
  r = run("sed 's/^fc 1000/&; fc 10/' examples/zoo/alexnet.net | "
          "%s - --names=torchvision -o %s",
          NETC, path_of("x.py"));
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "torchvision's net has 8 layers with weights, but this "
                      "net has 9");
  run_free(&r);
}

/* With another head, or a tensor more, it is another net. */
static void others_are_refused(void **state) {
  char path[1200];
  (void)state;
  snprintf(path, sizeof path, "%s", path_of("other.safetensors"));
  put_tensors(path, "  features.0.weight 64x3x11x11\n  features.0.scale 64\n"
                    "  classifier.6.weight 7x4096\n  classifier.6.bias 7\n");
  struct run r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 1);
  assert_string_equal(r.out, "");
  assert_holds(r.err,
               "its 4 tensors do not match any net that netc knows: "
               "`features.0.weight` 64x3x11x11 to `classifier.6.bias` 7");
  assert_holds(r.err, "= help: `netc weights ");
  run_free(&r);
  r = run("%s %s", NETC, path);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "4 tensors, ");
  run_free(&r);
  unlink(path);
}

static void check_chain(const char *lines, const char *wanted) {
  char path[1200];
  snprintf(path, sizeof path, "%s", path_of("chain.safetensors"));
  put_tensors(path, lines);
  struct run r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 0);
  assert_holds(r.err, "the file is recognised as a chain of layers by ");
  assert_holds(r.err, "are guessed");
  assert_holds(r.out, "# guessed from the names and shapes of the ");
  assert_holds(r.out, wanted);
  run_free(&r);
  unlink(path);
}

static void chains_are_guessed(void **state) {
  (void)state;
  check_chain("  a.weight 20x30\n  a.bias 20\n  b.weight 5x20\n",
              "input 30\nfc 20 relu\nfc 5 nobias\n");
  check_chain("  c1.weight 6x3x5x5\n  c1.bias 6\n  n.weight 6\n  n.bias 6\n"
              "  n.running_mean 6\n  n.running_var 6\n  p.weight 6\n"
              "  c2.weight 6x1x3x1\n  f.weight 4x24\n  f.bias 4\n",
              "input 8x6x3\nconv 6 5x5\nbn\nprelu\nconv 6 3x1 groups=6 nobias "
              "relu\nflatten\nfc 4\n");
}

/* Two layers that read one are no chain. */
static void branches_are_refused(void **state) {
  char path[1200];
  (void)state;
  snprintf(path, sizeof path, "%s", path_of("branch.safetensors"));
  put_tensors(path, "  a.weight 20x30\n  b.weight 5x20\n  c.weight 4x20\n");
  struct run r = run("%s import %s", NETC, path);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "its 3 tensors do not match any net that netc knows");
  run_free(&r);
  r = run("%s import --input 3x3x3 %s", NETC, path);
  assert_int_equal(r.status, 2);
  assert_holds(r.err, "branch.safetensors has only weights: its net is written "
                      "as in the zoo, without options");
  run_free(&r);
}

static size_t read_models(struct model *models) {
  size_t count = 0, length;
  char *text = read_text("tests/data/torch/names.txt", &length);
  for (char *line = text; line && *line && count < MOST;) {
    struct model *m = &models[count++];
    int used = 0;
    assert_int_equal(
        sscanf(line, "%63[^:]: %lld%n", m->label, &m->parameters, &used), 2);
    line += used + 1;
    m->lines = line;
    for (; *line == ' '; m->tensors++)
      line = strchr(line, '\n') + 1;
  }
  return count; /* the text stays */
}

/* " 64x3x7x7" is " 64x1x7x7"; how much less that is, 0: there is none. */
static long long grey(char *lines) {
  for (char *at = lines; (at = strstr(at, "x3x")) != NULL; at++) {
    char *from = at;
    int high, wide;
    while (from > lines && isdigit((unsigned char)from[-1]))
      from--;
    if (from[-1] == ' ' && sscanf(at, "x3x%dx%d", &high, &wide) == 2) {
      at[1] = '1';
      return 2LL * atoi(from) * high * wide;
    }
  }
  return 0;
}

/* Nets for grey pictures have another first convolution alone. */
static void one_channel_is_recognised(void **state) {
  static struct model models[MOST];
  size_t count = read_models(models), known = 0;
  char path[1200], text[200];
  (void)state;
  snprintf(path, sizeof path, "%s", path_of("grey.safetensors"));
  for (size_t i = 0; i < count; i++) {
    char *next =
        i + 1 < count ? strstr(models[i].lines, models[i + 1].label) : NULL;
    char *lines =
        next ? strndup(models[i].lines, (size_t)(next - models[i].lines))
             : strdup(models[i].lines);
    long long less = grey(lines);
    put_tensors(path, lines);
    struct run r = run("%s %s --emit=json", NETC, path);
    snprintf(text, sizeof text, "\"param_count\": %lld",
             models[i].parameters - less);
    if (less && strstr(r.err, models[i].label)) {
      assert_int_equal(r.status, 0);
      assert_holds(r.out, text);
      known++;
    } else
      print_message("%s is not\n", models[i].label);
    run_free(&r);
    free(lines);
    unlink(path);
  }
  assert_true(known >= 15);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

int main(void) {
  static struct model models[MOST];
  const struct CMUnitTest others[] = {
      cmocka_unit_test(others_are_refused),
      cmocka_unit_test(chains_are_guessed),
      cmocka_unit_test(branches_are_refused),
      cmocka_unit_test(one_channel_is_recognised),
      cmocka_unit_test(all_nets_have_their_names),
      cmocka_unit_test(other_nets_have_none),
  };
  snprintf(folder, sizeof folder, "%s", scratch("recognise"));
  return run_table("recognise", models, read_models(models), sizeof *models,
                   check_model, others, COUNT(others));
}
