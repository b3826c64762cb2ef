/*
 * `-o x.py` without PyTorch: whether every layer has a form, whether Python
 * can read what is written. tools/torch_export.py runs it.
 */
#include "layers/layer.h"
#include "tests/nets.h"
#include "codegen/torch/form.h"

/* Layers that netc has and PyTorch's form of which it does not know. */
static const char *const without_form[] = {"local", "unpool", "unfold",
                                           "convlstm", NULL};

/* Arguments of others that are refused: "layer.argument". */
static const char *const without_argument[] = {"pool.indices",
                                               "lrn.within",
                                               "conv.lora",
                                               "conv.lora_alpha",
                                               "conv.lora_dropout",
                                               "conv.lora_dtype",
                                               "conv.dora",
                                               "fc.lora",
                                               "fc.lora_alpha",
                                               "fc.lora_dropout",
                                               "fc.lora_dtype",
                                               "fc.dora",
                                               "linear.lora",
                                               "linear.lora_alpha",
                                               "linear.lora_dropout",
                                               "linear.lora_dtype",
                                               "linear.dora",
                                               "attention.lora",
                                               "attention.lora_alpha",
                                               "attention.lora_dropout",
                                               "attention.lora_dtype",
                                               "attention.dora",
                                               "attention.lora_on",
                                               "rnn.norm",
                                               "lstm.norm",
                                               "gru.norm",
                                               NULL};

/* Nets that have such layers. */
static const char *const without_file[] = {
    "tests/data/run/adapters.net", "tests/data/run/computed.net",
    "tests/data/run/patches.net", "tests/data/run/variants.net", NULL};

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

/* A form that no layer has would be a leftover. */
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
    {"one bias of each gate", "input 4x5; gru 3 bias=one",
     "one bias for each gate, but PyTorch has two"},
    {"a reset before the product", "input 4x5; gru 3 reset=before",
     "PyTorch's reset gate acts after the product"},
    {"TensorFlow's mean", "input 8x8x2; avgpool 3 /2 pad=tf", "`pad=tf`"},
    {"experts of experts",
     "input 4x8; moe experts=2 top=1 { moe experts=2 top=1 { linear 8 } }",
     "experts inside of experts"},
    {"an expert that reads more than its tokens",
     "input 8x8; a: linear 8; moe experts=2 top=1 { matmul {} a }",
     "an expert that reads another value than its tokens"},
    {"keys that an earlier layer has chosen",
     "input 8x8; mla 2 latent=4 rope=2 qlatent=6 indextop=4 causal",
     "`indextop` of an earlier layer"},
    {"keys that layers beside it have chosen",
     "input 8x8; attention 2 indextop=4 causal", "`indextop`: the keys"},
    {"an argument that is new", "input 8; fc 2 lora=2",
     "netc cannot write its `lora`"},
    {"more layers than code may have", "input 4; repeat 20001 { relu }",
     "the net has 20,002 layers; `-o x.py` takes at most 20,000"},
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

/* grid_sample wants places for each sample, and these are of weights alone:
 * what is between them and the weights does not change that. */
static void places_of_weights_are_repeated(void **state) {
  (void)state;
  static const char *const between[] = {
      "identity", "ln",
      "gelu",     "rmsnorm",
      "posembed", "linear 32",
      "bn",       "matmul { linear 8 } { linear 8 } transpose; linear 32",
      "scale"};
  for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
    char net[400];
    snprintf(net, sizeof net,
             "echo 'input 16x16x32; v: conv 32 1x1; weight 30x32; %s; "
             "linear 64; reshape 30x8x4x2; g: permute 1 0 2 3; from v; "
             "gridsample g' | " NETC " --emit=py -",
             between[i]);
    expect(net, 0, ".expand(len(x), -1, -1, -1, -1).flatten(0, 1)", "");
  }
}

/* Attention asks with them, so each sample has its own from the start. */
static void queries_are_repeated_at_once(void **state) {
  (void)state;
  static const char net[] =
      "echo 'input 16x16x32; v: conv 32 1x1; weight 30x32; linear 32; "
      "attention 4; linear 64; reshape 30x8x4x2; g: permute 1 0 2 3; from v; "
      "gridsample g' | " NETC " --emit=py -";
  expect(net, 0, "weight.expand(len(x), -1, -1)", "");
  expect(net, 0, "(x.reshape(-1, 4, 16, 16), y.flatten(0, 1),", "");
}

/* Names of x.py's state_dict(): written, and read again. */
static void weights_go_by_the_names_of_the_file(void **state) {
  (void)state;
  const char *folder = scratch("torch-names");
  expect(NETC " weights tests/golden/torch/classes-and-loops.net --names=py", 0,
         "encoder.blocks.3.attention.q_proj.weight", "");
  struct run r = run(NETC " weights tests/golden/torch/classes-and-loops.net "
                          "--random 3 --names=py -o %s/w.safetensors && " NETC
                          " weights tests/golden/torch/classes-and-loops.net "
                          "--check %s/w.safetensors && " NETC
                          " weights tests/golden/torch/classes-and-loops.net "
                          "--random 3 -o %s/a.safetensors && " NETC
                          " weights tests/golden/torch/classes-and-loops.net "
                          "--from %s/w.safetensors -o %s/b.safetensors && "
                          "cmp %s/a.safetensors %s/b.safetensors",
                     folder, folder, folder, folder, folder, folder, folder);
  assert_string_equal(r.err, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
  expect(NETC " weights examples/simple_cnn.net --names=torchvision", 1, "",
         "torchvision has no such net");
  expect(NETC " weights examples/simple_cnn.net --names=timm", 2, "",
         "--names takes `netc`, `py`, `torchvision`, or a file of weights ");
  expect("echo 'input 8; fc 2 lora=2' | " NETC " weights - --names=py", 1, "",
         "cannot be written for PyTorch");
}

/* Zeros, of tensors in lines as "conv1.weight 8,3,3,3". */
static void write_zeros(const char *path, const char *tensors) {
  struct arena arena;
  arena_open(&arena, NULL, NULL);
  struct text header = text_new(&arena);
  long at = 0;
  while (*tensors) {
    int name = (int)strcspn(tensors, " "), all = (int)strcspn(tensors, "\n");
    long bytes = 4;
    for (const char *size = tensors + name; size < tensors + all;
         size = strpbrk(size + 1, ",\n"))
      bytes *= strtol(size + 1, NULL, 10);
    text_printf(&header,
                "%s\"%.*s\":{\"dtype\":\"F32\",\"shape\":[%.*s],"
                "\"data_offsets\":[%ld,%ld]}",
                at ? "," : "{", name, tensors, all - name - 1,
                tensors + name + 1, at, at + bytes);
    at += bytes;
    tensors += all + (tensors[all] == '\n');
  }
  text_putc(&header, '}');
  FILE *file = fopen(path, "wb");
  for (int i = 0; i < 8; i++)
    fputc((int)(header.length >> 8 * i & 255), file);
  fwrite(header.at, 1, header.length, file);
  for (; at > 0; at--)
    fputc(0, file);
  fclose(file);
  arena_close(&arena);
}

/* x.py as `--names` makes it, of the net with tensors that are called so. */
static struct run named(const char *folder, const char *net,
                        const char *tensors) {
  char path[512];
  snprintf(path, sizeof path, "%s/w.safetensors", folder);
  write_zeros(path, tensors);
  snprintf(path, sizeof path, "%s/a.net", folder);
  write_text(path, net, strlen(net));
  return run("cd %s && %s a.net --emit=py --names=w.safetensors", folder,
             NETC_PATH);
}

static void names_are_those_of_a_file(void **state) {
  (void)state;
  static const char net[] =
      "input 8x8x3\n"
      "def cell(c, s) { add { conv c 3x3 /s pad bn relu } "
      "{ if s > 1 { conv c 1x1 /s nobias } } relu }\n"
      "conv 4 3x3 pad relu; cell 4 1; cell 4 1; cell 8 2; cell 8 1\n"
      "gap; fc 5\n";
  static const struct {
    const char *tensors, *lines[6];
  } cases[] = {
      {"stem.0.weight 4,3,3,3\nstem.0.bias 4\n"
       "layer1.0.conv.weight 4,4,3,3\nlayer1.0.bn.weight 4\n"
       "layer1.0.bn.bias 4\nlayer1.0.bn.running_mean 4\n"
       "layer1.0.bn.running_var 4\n"
       "layer1.1.conv.weight 4,4,3,3\nlayer1.1.bn.weight 4\n"
       "layer1.1.bn.bias 4\nlayer1.1.bn.running_mean 4\n"
       "layer1.1.bn.running_var 4\n"
       "layer2.0.conv.weight 8,4,3,3\nlayer2.0.bn.weight 8\n"
       "layer2.0.bn.bias 8\nlayer2.0.bn.running_mean 8\n"
       "layer2.0.bn.running_var 8\nlayer2.0.skip.0.weight 8,4,1,1\n"
       "layer2.1.conv.weight 8,8,3,3\nlayer2.1.bn.weight 8\n"
       "layer2.1.bn.bias 8\nlayer2.1.bn.running_mean 8\n"
       "layer2.1.bn.running_var 8\nhead.weight 5,8\nhead.bias 5\n",
       {"self.stem = nn.ModuleDict()\n"
        "        self.stem[\"0\"] = nn.Conv2d(3, 4, 3, padding=1)\n",
        "self.layer1 = nn.ModuleList([\n"
        "            Cell(4, 4, 1),\n            Cell(4, 4, 1),\n        ])",
        "for cell in self.layer2:\n            x = cell(x)\n",
        "        if skip:\n"
        "            self.skip = nn.ModuleDict()\n"
        "            self.skip[\"0\"] = ",
        "self.bn(self.conv(", "self.head(x"}},
  };
  const char *folder = scratch("torch-file");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct run r = named(folder, net, cases[i].tensors);
    if (r.status)
      print_error("%s", r.err);
    assert_int_equal(r.status, 0);
    for (size_t k = 0; k < 6; k++)
      assert_holds(r.out, cases[i].lines[k]);
    run_free(&r);
  }
}

/* Blocks that the file numbers on are no units; lists have gaps. */
static void names_of_chains_are_kept(void **state) {
  (void)state;
  struct run r = named(scratch("torch-chain"),
                       "input 8x8x3\ndef two(c) { conv c 3x3 pad relu; conv c "
                       "3x3 pad relu }\ntwo 4; pool 2; two 6; fc 5; ln\n",
                       "body.0.weight 4,3,3,3\nbody.0.bias 4\n"
                       "body.2.weight 4,4,3,3\nbody.2.bias 4\n"
                       "body.5.weight 6,4,3,3\nbody.5.bias 6\n"
                       "body.7.weight 6,6,3,3\nbody.7.bias 6\n"
                       "fc.weight 5,96\nfc.bias 5\n"
                       "a.b-c.d.weight 5\na.b-c.d.bias 5\n");
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "self.body[\"7\"] = nn.Conv2d(6, 6, 3, padding=1)\n");
  assert_holds(r.out, "F.relu(self.body[\"0\"](x)");
  assert_holds(r.out, "self.a = nn.ModuleDict()\n"
                      "        self.a[\"b-c\"] = nn.ModuleDict()\n"
                      "        self.a[\"b-c\"][\"d\"] = nn.LayerNorm(5)\n");
  assert_null(strstr(r.out, "Two"));
  run_free(&r);
}

/* A module saves those in it as they were made: Swin's merging of patches. */
static void modules_may_be_saved_before_they_work(void **state) {
  (void)state;
  static const char net[] = "input 4x4x8\nln; linear 8\nln; linear 6 nobias\n"
                            "ln; linear 5\n";
  static const char tensors[] =
      "a.norm.weight 8\na.norm.bias 8\na.fc.weight 8,8\na.fc.bias 8\n"
      "b.reduction.weight 6,8\nb.norm.weight 8\nb.norm.bias 8\n"
      "head.norm.weight 6\nhead.norm.bias 6\n"
      "head.fc.weight 5,6\nhead.fc.bias 5\n";
  struct run r = named(scratch("torch-early"), net, tensors);
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "self.b[\"reduction\"] = nn.Linear(8, 6, bias=False)");
  assert_holds(r.out, "        x = self.b[\"norm\"](x)\n"
                      "        x = self.b[\"reduction\"](x)\n");
  run_free(&r);
  /* Not beyond the module around it. */
  r = named(scratch("torch-early"), net,
            "a.norm.weight 8\na.norm.bias 8\na.fc.weight 8,8\na.fc.bias 8\n"
            "c.reduction.weight 6,8\nb.norm.weight 8\nb.norm.bias 8\n"
            "head.norm.weight 6\nhead.norm.bias 6\n"
            "head.fc.weight 5,6\nhead.fc.bias 5\n");
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "tensor `c.reduction.weight` is 6x8, but `ln2.weight` "
                      "needs 8 for `ln`");
  run_free(&r);
}

/* Parameters beside modules, of the file's shapes; qkv and proj. */
static void parameters_may_be_alone(void **state) {
  (void)state;
  struct run r = named(scratch("torch-alone"),
                       "input 6x8\ntoken; posembed\nadd { attention 2 packed; "
                       "scale } {}; ln\nslice l 0:1; fc 5\n",
                       "cls 1,1,8\nencoder.places 1,7,8\n"
                       "encoder.block.scale 8,1\n"
                       "encoder.block.attn.qkv.weight 24,8\n"
                       "encoder.block.attn.qkv.bias 24\n"
                       "encoder.block.attn.proj.weight 8,8\n"
                       "encoder.block.attn.proj.bias 8\n"
                       "encoder.norm.weight 8\nencoder.norm.bias 8\n"
                       "head.weight 5,8\nhead.bias 5\n");
  static const char *const lines[] = {
      "self.cls = nn.Parameter(0.02 * torch.randn(1, 1, 8))\n",
      "self.cls.view(1, 8).expand(",
      "self.encoder = nn.ModuleDict()\n        self.encoder.places = "
      "nn.Parameter(0.02 * torch.randn(1, 7, 8))\n",
      "x + self.encoder.places.view(7, 8)",
      "self.encoder[\"block\"].scale = nn.Parameter(torch.ones(8, 1))\n",
      "self.encoder[\"block\"].scale.flatten()",
      "[\"attn\"] = QkvAttention(8, 2)\n",
  };
  if (r.status)
    print_error("%s", r.err);
  assert_int_equal(r.status, 0);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    assert_holds(r.out, lines[i]);
  assert_null(strstr(r.out, "Learned"));
  run_free(&r);
}

static void names_that_no_module_has_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *tensors, *why;
  } cases[] = {
      {"a.weight 4,3,3,3\na.bias 4\nb.weight 5,4\nc.bias 5\n",
       "`fc1.bias` cannot be named `c.bias`: the module of its layer names "
       "its"},
      {"a.kernel 4,3,3,3\na.bias 4\nb.weight 5,4\nb.bias 5\n",
       "`conv1.weight` cannot be named `a.kernel`"},
      {"a 4,3,3,3\na.bias 4\nb.weight 5,4\nb.bias 5\n",
       "`conv1.weight` cannot be named `a`"},
      {"weight 4,3,3,3\nbias 4\nb.weight 5,4\nb.bias 5\n",
       "`conv1.weight` cannot be named `weight`"},
      {"0.weight 4,3,3,3\n0.bias 4\n2.weight 5,4\n2.bias 5\n",
       "`conv1` cannot be named `0` in PyTorch: netc cannot write such a name"},
      {"a.keys.weight 4,3,3,3\na.keys.bias 4\nb.weight 5,4\nb.bias 5\n",
       "`a.keys` in PyTorch: netc cannot write"},
      {"a.weight 4,3,3,3\na.bias 4\na.b.weight 5,4\na.b.bias 5\n",
       "`a.b` in PyTorch: it would be inside another layer"},
      {"a.weight 4,3,3,3\na.bias 4\nb.weight 6,4\nb.bias 6\n",
       "tensor `b.weight` is 6x4, but `fc1.weight` needs 5x4"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct run r =
        named(scratch("torch-refused"), "input 8x8x3\nconv 4 3x3; gap; fc 5\n",
              cases[i].tensors);
    assert_int_equal(r.status, 1);
    assert_string_equal(r.out, "");
    assert_holds(r.err, cases[i].why);
    assert_holds(r.err, "--names");
    run_free(&r);
  }
  expect(NETC " examples/simple_cnn.net -o x.json --names=x.pth", 2, "",
         "--names=FILE need -o x.py");
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(every_layer_has_a_form_or_is_listed),
      cmocka_unit_test(every_argument_of_a_form_is_one_of_its_layer),
      cmocka_unit_test(every_net_is_python),
      cmocka_unit_test(a_hostile_file_name_stays_a_comment),
      cmocka_unit_test(a_default_may_be_written_out),
      cmocka_unit_test(places_of_weights_are_repeated),
      cmocka_unit_test(queries_are_repeated_at_once),
      cmocka_unit_test(weights_go_by_the_names_of_the_file),
      cmocka_unit_test(names_are_those_of_a_file),
      cmocka_unit_test(names_of_chains_are_kept),
      cmocka_unit_test(modules_may_be_saved_before_they_work),
      cmocka_unit_test(parameters_may_be_alone),
      cmocka_unit_test(names_that_no_module_has_are_refused),
  };
  return run_table("torch", refusals, sizeof refusals / sizeof *refusals,
                   sizeof *refusals, is_refused, others,
                   sizeof others / sizeof *others);
}
