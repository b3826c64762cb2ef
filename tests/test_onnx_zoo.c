/*
 * The zoo, written as ONNX and read again: nets that have an ONNX form keep
 * their parameters and multiplications, in at most twice the lines.
 */
#define _XOPEN_SOURCE 700
#include <glob.h>

#include "tests/imported.h"

/* Those of which one or the other is not so, and why. */
static const struct apart {
  const char *name, *why;
  bool counts, lines, macs;
} apart[] = {
    {"clip", "the exponential of a weight comes back as a constant", true,
     false, false},
    {"encodec", "computed weights are written as what they give", true, false,
     false},
    {"faster_rcnn", "heads of five maps make no loop of labels", false, true,
     false},
    {"fcos", "heads of five maps make no loop of labels", false, true, false},
    {"flux", "joint attention comes back written out", false, true, false},
    {"hifigan", "computed weights are written as what they give", true, false,
     false},
    {"hrnet", "branches that read each other make no loop of labels", false,
     true, false},
    {"mask_rcnn", "heads of five maps make no loop of labels", false, true,
     false},
    {"nfnet", "computed weights are written as what they give", true, false,
     false},
    {"pspnet", "no head for training; means of uneven areas are products", true,
     false, true},
    {"retinanet", "heads of five maps make no loop of labels", false, true,
     false},
    {"sd_unet", "levels of a U-Net make no loop of labels", false, true, false},
    {"sdxl", "levels of a U-Net make no loop of labels", false, true, false},
    {"tcn", "computed weights are written as what they give", true, false,
     false},
    {"upernet", "no head for training; means of uneven areas are products",
     true, false, true},
    {"wavenet", "skips that are summed at the end make no series", false, true,
     false},
};

/* Those whose layers ONNX cannot say, or not before opset 16. */
static const char *const unwritten[] = {"deformable_detr", "rt_detr", NULL};

/* Experts and states: netc does not recognise them in nodes, only by the
 * source. */
static const char *const unread[] = {"deepseek_v2", "deepseek_v3", "mamba",
                                     "mamba2",      "mixtral",     "qwen3_moe",
                                     NULL};

static bool is_in(const char *const *list, const char *name) {
  for (; *list; list++)
    if (strcmp(*list, name) == 0)
      return true;
  return false;
}

/* A file that is refused with the operator's name. */
static void is_refused(char *onnx) {
  struct run r = run("%s import %s", NETC, onnx);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "netc has no equivalent of these operators");
  run_free(&r);
  remove(onnx);
  remove(strcat(onnx, ".data"));
}

static struct apart apart_of(const char *name) {
  for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
    if (strcmp(apart[i].name, name) == 0)
      return apart[i];
  return (struct apart){.name = name};
}

/* Lines that say something: no comments, none empty. */
static int lines_of(const char *text) {
  int lines = 0;
  while (*text) {
    const char *first = text + strspn(text, " ");
    lines += *first != '#' && *first != '\n';
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return lines;
}

static void check_net(const char *path, const char *folder) {
  char name[64], onnx[512];
  const char *base = strrchr(path, '/') + 1;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
  snprintf(onnx, sizeof onnx, "%s/%s.onnx", folder, name);
  struct run r = run("%s %s --no-source -o %s", NETC, path, onnx);
  assert_int_equal(r.status != 0, is_in(unwritten, name));
  bool written = r.status == 0;
  run_free(&r);
  if (written && is_in(unread, name))
    is_refused(onnx);
  if (!written || is_in(unread, name))
    return;
  struct apart but = apart_of(name);
  char *text = read_text(path, NULL), *source = import(onnx, "");
  struct netc_totals before = totals_of(path, text);
  struct netc_totals after = totals_of(onnx, source);
  bool same = before.param_count == after.param_count &&
              before.mac_count == after.mac_count;
  bool brief = lines_of(source) <= 2 * lines_of(text);
  if (same == but.counts || brief == but.lines)
    print_error("%s: parameters %lld and %lld, macs %lld and %lld, lines %d "
                "and %d\n",
                path, (long long)before.param_count,
                (long long)after.param_count, (long long)before.mac_count,
                (long long)after.mac_count, lines_of(text), lines_of(source));
  assert_int_equal(same, !but.counts);
  assert_int_equal(brief, !but.lines);
  assert_int_equal(before.mac_count == after.mac_count, !but.macs);
  remove(onnx);
  remove(strcat(onnx, ".data"));
  free(text);
  free(source);
}

static void the_zoo_comes_back(void **state) {
  (void)state;
  glob_t found;
  const char *folder = scratch("zoo");
  assert_int_equal(glob("examples/zoo/*.net", 0, NULL, &found), 0);
  assert_true(found.gl_pathc >= 63);
  for (size_t i = 0; i < found.gl_pathc; i++)
    check_net(found.gl_pathv[i], folder);
  globfree(&found);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_zoo_comes_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
