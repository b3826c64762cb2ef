/*
 * `-o x.py` without PyTorch: whether every layer has a form, whether Python
 * can read what is written. tools/torch_export.py runs it.
 */
#include "layers/layer.h"
#include "tests/nets.h"
#include "codegen/torch/form.h"

/* Layers that netc has and PyTorch's form of which it does not know. */
static const char *const without_form[] = {
    "local", "unpool", "roialign", "roipool",  "unfold",
    "mla",   "moe",    "ssm",      "convlstm", NULL};

/* Arguments of others that are refused: "layer.argument". */
static const char *const without_argument[] = {"conv.gain",
                                               "dwconv.gain",
                                               "fc.weights",
                                               "linear.weights",
                                               "pool.indices",
                                               "lrn.within",
                                               "conv.lora",
                                               "conv.lora_alpha",
                                               "conv.lora_dropout",
                                               "conv.dora",
                                               "fc.lora",
                                               "fc.lora_alpha",
                                               "fc.lora_dropout",
                                               "fc.dora",
                                               "linear.lora",
                                               "linear.lora_alpha",
                                               "linear.lora_dropout",
                                               "linear.dora",
                                               "attention.lora",
                                               "attention.lora_alpha",
                                               "attention.lora_dropout",
                                               "attention.dora",
                                               "attention.lora_on",
                                               "attention.sbhd",
                                               "rnn.norm",
                                               "lstm.norm",
                                               "gru.norm",
                                               NULL};

/* Nets that have such layers. */
static const char *const without_file[] = {
    "examples/zoo/deepseek_v2.net", "examples/zoo/deepseek_v3.net",
    "examples/zoo/mamba.net",       "examples/zoo/mamba2.net",
    "examples/zoo/mixtral.net",     "examples/zoo/qwen3_moe.net",
    "tests/data/run/adapters.net",  "tests/data/run/patches.net",
    "tests/data/run/variants.net",  NULL};

static bool is_listed(const char *const *list, const char *name) {
  for (; *list; list++)
    if (strcmp(*list, name) == 0)
      return true;
  return false;
}

static void every_layer_has_a_form_or_is_listed(void **state) {
  (void)state;
  int failed = 0;
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *kind = layer_kind_at(i);
    const struct form_kind *form = form_find(kind->name);
    if (!form != is_listed(without_form, kind->name)) {
      print_error("%s: a form and a place in the list\n", kind->name);
      failed++;
    }
    for (const struct arg_spec *s = kind->specs; form && s && s->name; s++) {
      char name[128];
      snprintf(name, sizeof name, "%s.%s", kind->name, s->name);
      if (form_knows(form, s->name) != is_listed(without_argument, name))
        continue;
      print_error("%s: known to its form and listed, or neither\n", name);
      failed++;
    }
  }
  assert_int_equal(failed, 0);
}

/* What a form knows and no layer has would be a leftover. */
static void every_argument_of_a_form_is_one_of_its_layer(void **state) {
  (void)state;
  for (size_t i = 0; i < layer_kind_count(); i++) {
    const struct layer_kind *kind = layer_kind_at(i);
    const struct form_kind *form = form_find(kind->name);
    for (int k = 1; form && word_at(form->args, k).length; k++) {
      struct slice arg = word_at(form->args, k);
      bool known = false;
      for (const struct arg_spec *s = kind->specs; s && s->name; s++)
        known = known || slice_is(arg, s->name);
      if (!known)
        print_error("%s has no %.*s\n", kind->name, SLICE_ARG(arg));
      assert_true(known);
    }
  }
}

/* In scratch/torch: a file for each net, all of them read at once. */
static void python_reads(const char *folder) {
  if (!on_path("python3")) {
    print_message("no python3: its syntax is not checked\n");
    return;
  }
  struct run r = run("python3 -c 'import ast, sys\n"
                     "for name in sys.argv[1:]:\n"
                     "    text = open(name, encoding=\"utf-8\").read()\n"
                     "    ast.parse(text, name)\n"
                     "    for i, line in enumerate(text.splitlines()):\n"
                     "        if len(line) > 79:\n"
                     "            sys.exit(f\"{name}:{i + 1}: too wide\")\n"
                     "' %s/*.py",
                     folder);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void every_net_is_python(void **state) {
  (void)state;
  char path[600];
  const char *folder = scratch("torch");
  const char *const places[] = {"examples", "examples/zoo", "tests/data/run",
                                "tests/golden/layers"};
  int written = 0;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    struct paths nets = find_paths(places[i], ".net");
    for (size_t k = 0; k < nets.count; k++) {
      snprintf(path, sizeof path, "%s/%zu-%zu.py", folder, i, k);
      struct run r = run("%s %s -o %s", NETC, nets.at[k], path);
      bool refused = strstr(r.err, "cannot be written for PyTorch");
      bool listed = is_listed(without_file, nets.at[k]);
      if (i < 3 && refused != listed)
        print_error("%s: %s", nets.at[k], r.err);
      assert_true(r.status == 0 || refused || i == 3);
      assert_true(i == 3 || refused == listed);
      written += r.status == 0;
      run_free(&r);
    }
    paths_free(&nets);
  }
  assert_true(written > 60);
  python_reads(folder);
}

/* A file's name is the net's, whatever bytes it has. */
static void a_hostile_file_name_stays_a_comment(void **state) {
  (void)state;
  const char *folder = scratch("torch-hostile");
  const char *const names[] = {"\"$(printf 'a\\nimport os')\"",
                               "'\"\"\"'",
                               "\"$(printf '\\377\\\\')\"",
                               "1",
                               "import",
                               "-é"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct run r = run("cd %s && echo 'input 4x4x3; conv 2 3' >./%s.net && "
                       "%s ./%s.net -o %zu.py",
                       folder, names[i], NETC_PATH, names[i], i);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  struct run r = run("grep -c '^import os' %s/0.py", folder);
  assert_string_equal(r.out, "0\n");
  run_free(&r);
  python_reads(folder);
}

/* Refusals */

struct refusal {
  char name[64];
  const char *net, *says;
};

static struct refusal refusals[] = {
    {"a mean with dilation", "input 9x9x2; avgpool 3 dilate=2",
     "`avgpool 3 dilate=2` (avgpool1) cannot be written for PyTorch: "
     "`dilate`"},
    {"a mean that is rounded up over uneven padding",
     "input 9x9x2; avgpool 2 pad=0:1 ceil", "`ceil`"},
    {"a packed matrix with some biases",
     "input 9x8; here: attention 2 packed bias=qvo", "(here)"},
    {"a norm of more axes than PyTorch takes", "input 2x3x4x5x6; bn",
     "more than 3 axes"},
    {"groups of a flattened map", "input 4x4x6; flatten; gn 2", "groups"},
    {"weights of a flattened map elsewhere",
     "input 4x4x6; a: fc 96; fc 96 tie=a; reshape 4x4x6; conv 1 1", "`tie=`"},
    {"one bias of each gate", "input 4x5; gru 3 bias=one", "one bias"},
    {"a reset before the product", "input 4x5; gru 3 reset=before",
     "PyTorch's reset gate acts after the product"},
    {"TensorFlow's mean", "input 8x8x2; avgpool 3 /2 pad=tf", "`pad=tf`"},
    {"an expert's router", "input 4x8; moe experts=2 top=1 { linear 8 }",
     "netc cannot write `router`"},
    {"a name with an index and without",
     "input 8x8x2; { s: conv 2 1 }; for i in 1..2 { s[i]: conv 2 1 }",
     "with an index and without"},
    {"an argument that is new", "input 8; fc 2 wnorm",
     "netc cannot write its `weights`"},
    {"weights that PyTorch has no module for", "input 8x8x2; conv 2 3 ws",
     "standardised weights"},
    {"more layers than PyTorch can build", "input 4; repeat 200001 { relu }",
     "200,000"},
};

static void is_refused(void **state) {
  const struct refusal *c = *state;
  struct run r = run("echo '%s' | %s --emit=py -", c->net, NETC);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, c->says);
  assert_string_equal(r.out, "");
  run_free(&r);
}

static void a_default_may_be_written_out(void **state) {
  (void)state;
  expect("echo 'input 17x8; gru 5 reset=after' | " NETC " --emit=py -", 0,
         "nn.GRU(8, 5, batch_first=True)", "");
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(every_layer_has_a_form_or_is_listed),
      cmocka_unit_test(every_argument_of_a_form_is_one_of_its_layer),
      cmocka_unit_test(every_net_is_python),
      cmocka_unit_test(a_hostile_file_name_stays_a_comment),
      cmocka_unit_test(a_default_may_be_written_out),
  };
  return run_table("torch", refusals, sizeof refusals / sizeof *refusals,
                   sizeof *refusals, is_refused, others,
                   sizeof others / sizeof *others);
}
