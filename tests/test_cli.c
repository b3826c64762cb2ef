/* The command: options, files, exit statuses, build systems. */
#include "tests/run.h"

static void exit_statuses_are_as_documented(void **state) {
  (void)state;
  expect(NETC " examples/simple_cnn.net", 0, "4,632,902", "pool-remainder");
  expect(NETC " tests/golden/errors/a-broken-budget.net", 1, "total",
         "over-budget");
  expect(NETC " tests/golden/errors/an-empty-file.net", 1, "", "no-input");
  expect(NETC, 2, "", "no file");
  expect(NETC " a.net b.net", 2, "", "one net at a time");
  expect(NETC " no/such.net", 3, "", "cannot read no/such.net: No such file");
  expect(NETC " base", 3, "", "it is a folder without a model");
  expect(NETC " examples/vgg16.net -o no/such/folder/x.txt", 3, "",
         "cannot write no/such/folder/x.txt");
  expect(NETC " examples/vgg16.net >/dev/full", 3, "",
         "cannot write standard output: No space left");
  expect(NETC " --help", 0, "Exit status", "");
  expect(NETC " check --version", 0, "netc 0.", "");
  expect(NETC " check --help", 0, "netc check", "");
  expect(NETC " help fmt", 0, "netc fmt", "");
  expect(NETC " examples/resnet50.net --depth 0 2>&1 | grep 'conv 64 7x7 /2 '",
         1, "", "");
  expect(NETC " --version", 0, "netc 0.3", "");
}

/* In JSON they are in the order in which they are declared. */
static void all_settings_may_be_given_at_once(void **state) {
  (void)state;
  expect(NETC " examples/simple_cnn.net --emit=json --batch 4 --optimizer adam "
              "--dtype f32 --precision mixed --loss crossentropy --rule x3 "
              "--inplace off --profile torch1-cpu --accumulate 2 "
              "--checkpoint 2 --memory 1GiB --data-parallel 2 "
              "--zero 1 --tensor-parallel 2 --pipeline 2 --microbatches 2 "
              "--schedule gpipe --misc 5",
         0, "\"schedule\": \"gpipe\", \"cut\": \"layers\", \"misc\": 5}", "");
}

static void slips_of_the_command_line_are_explained(void **state) {
  (void)state;
  expect(NETC " --optimiser=adam x.net", 2, "", "did you mean `--optimizer`");
  expect(NETC " --frobnicate x.net", 2, "", "unknown option `--frobnicate`");
  expect(NETC " -q x.net", 2, "", "unknown option `-q`");
  expect(NETC " -o", 2, "", "`-o` needs a value");
  expect(NETC " --units=kb x.net", 2, "", "--units takes iec or si or bytes");
  expect(NETC " --units=byte x.net", 2, "", "did you mean `bytes`");
  expect(NETC " --depth=-1 x.net", 2, "", "--depth takes a number");
  expect(NETC " --batch 0 x.net", 2, "", "at least 1");
  expect(NETC " -D n=* x.net", 2, "", "-D n: ");
  expect(NETC " -Wno-such x.net", 2, "", "unknown warning `such`");
  expect(NETC " examples/vgg16.net -o x.xyz", 2, "", "unknown output format");
  expect(NETC " examples/vgg16.net --emit=jsn", 2, "", "unknown output format");
  expect(NETC " examples/vgg16.net --dump=wrong", 2, "", "--dump takes");
  expect(NETC " -MX x.net", 2, "", "-MD -MF FILE");
  expect(NETC " -D depht=3 examples/simple_cnn.net", 2, "",
         "the source has no `param depht`");
  expect(NETC " layers cnov", 2, "", "did you mean `conv`");
  expect(NETC " explain pool-remaindr", 2, "", "did you mean `pool-remainder`");
  expect(NETC " fmt", 2, "", "needs a file");
  expect(NETC " check", 2, "", "no file");
  expect(NETC " chek x.net", 2, "", "did you mean `check`");
  expect(NETC " help chek", 2, "", "did you mean `check`");
  expect(NETC " examples/vgg16.net -o out", 2, "", "--emit=KIND=out");
  expect(NETC " examples/vgg16.net -o a.svg b.png", 2, "", "`-o b.png`");
  expect(NETC " examples/vgg16.net --svg", 2, "", "`-o NAME.svg`");
  expect(NETC " examples/vgg16.net --json", 2, "", "`--emit=json`");
  expect(NETC " examples/vgg16.net -b 64", 2, "", "`--batch N`");
  expect(NETC " examples/vgg16.net -Wall", 2, "",
         "-Wall is not needed: all warnings are on, except those that `netc");
  expect(NETC " examples/vgg16.net --capacity 5", 2, "", "`netc plan`");
  expect(NETC " examples/vgg16.net -D depth 3", 2, "", "`-D depth=3`");
  expect(NETC " examples/vgg16.net --must-fit", 2, "", "needs a device");
  expect(NETC " examples/unet.net --gpu ''", 2, "", "a value is missing");
  expect(NETC " examples/unet.net --batch 1,", 2, NULL, "a value is missing");
  expect(NETC " examples/unet.net -D wide=1", 2, "", "`param wide = 1`");
  expect(NETC " examples/unet.net --memory 0", 2, "",
         "memory of the device in bytes");
}

/* Options of other programs: what is said names one of ours, or nothing does.
 */
static void options_of_other_programs_are_known(void **state) {
  static const struct {
    const char *given, *say;
  } rows[] = {{"--tp 2", "write `--tensor-parallel N`"},
              {"--dp 2", "write `--data-parallel N`"},
              {"--pp 2", "write `--pipeline N`"},
              {"--cuda", "write `--gpu NAME`"},
              {"--vram 8GiB", "write `--memory 24GiB`"},
              {"--format svg", "write `-o NAME.svg`"},
              {"--ctx-size 4096", "write `--context N`"},
              {"--load-in-4bit", "write `--weight-dtype q4_k_m`"},
              {"--learning-rate 1", "changes no shape, count or byte"},
              {"--zero stages", "it takes a number"},
              {"--watch", "see `netc --help`"}};
  char command[200];
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(command, sizeof command, NETC " examples/vgg16.net %s",
             rows[i].given);
    expect(command, 2, "", rows[i].say);
  }
  expect(NETC " examples/vgg16.net --emit=csv --zero stage3 --data-parallel 2",
         0, NULL, NULL);
  expect("! " NETC " examples/vgg16.net --gpu rtx4080 2>&1 | "
         "grep -q 'did you mean'",
         0, "", "");
}

/* Every option that the table of other programs' options sends to is ours. */
static void options_of_other_programs_lead_to_ours(void **state) {
  (void)state;
  expect("{ " NETC " --help; " NETC " help all; } >build/options.txt 2>&1; "
         "grep -o '`--[a-z-]*' driver/foreign_options.def | tr -d '`' | "
         "sort -u | while read o; do grep -q -e \"$o\\b\" build/options.txt || "
         "exit 1; done",
         0, "", "");
}

/* Old spellings do what the new ones do, and no help lists them. */
static void old_spellings_are_accepted(void **state) {
  (void)state;
#define VGG "examples/vgg16.net "
#define GPT "zoo:gpt2 --tensor-parallel 2 --emit=net "
  static const char *const pairs[][2] = {
      {VGG "--sort macs --top 2", VGG "--sort macs:2"},
      {VGG "--unfold --expand", VGG "--unfold=fused"},
      {VGG "--emit=json --timeline", VGG "--emit=json --details"},
      {VGG "--emit=net --misc 64MiB --rule x3",
       VGG "--emit=net --rule 'x3 misc:64MiB'"},
      {VGG
       "--emit=net --unit layer --keep-small 9 --reshard off --prefetch off",
       VGG "--emit=net --gather 'layer no_reshard no_prefetch small:9'"},
      {VGG "--emit=net --flat-gather on", VGG "--emit=net --gather flat"},
      {GPT "--keep-gathered on --sequence-parallel on",
       GPT "--sequence-parallel keep"},
      {GPT "--cache-v q4_0 --cache q8_0", GPT "--cache 'q8_0 q4_0'"}};
#undef VGG
#undef GPT
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    struct run old = run(NETC " %s", pairs[i][0]);
    struct run now = run(NETC " %s", pairs[i][1]);
    assert_int_equal(old.status, 0);
    assert_true(*old.out);
    assert_string_equal(old.out, now.out);
    run_free(&old);
    run_free(&now);
  }
  expect(NETC " help all | grep -e "
              "'--top\\|--expand\\|--timeline\\|--step\\|--reshard'",
         1, "", "");
  expect(NETC " examples/vgg16.net --sort macs:x", 2, "",
         "--sort takes a number from 1 ");
  expect(NETC " examples/vgg16.net --gather 'layer block'", 2, "",
         "`block` sets what an earlier word of gather sets");
  expect(NETC " examples/vgg16.net --cache ''", 2, "", "a value is missing");
  expect(NETC " examples/vgg16.net --gather small:many", 2, "",
         "unknown gather `small:many`; choose one of: block, ");
  expect(NETC " examples/vgg16.net --unfold=x", 2, "",
         "write --unfold, or --unfold=fused");
  expect(NETC " explain receptive field tight | grep '^# '", 0,
         "# receptive field\n# tight\n", "");
}

/* Help offers no option that a command does not take. */
static void an_offer_can_be_taken(void **state) {
  (void)state;
  expect(NETC " examples/llama3.net --predict --expert-parallel 8", 2, "",
         "of language models: add --context 8192, or --runtime vllm");
  expect(NETC " check zoo:mixtral --predict --expert-parallel 8", 2, "",
         "of language models: add --context 8192, or --runtime vllm");
  expect(NETC " examples/vgg16.net --bs 4", 2, "", "write `--batch N`");
  expect(NETC " plan --bs 4 x.csv", 2, "",
         "unknown option `--bs`; see `netc plan --help`");
  expect(NETC " import --ctx 4 x.onnx", 2, "", "see `netc import --help`");
  expect(NETC " place --card t4 x.net", 2, "", "see `netc place --help`");
  expect(NETC " check --svg x.net", 2, "", "see `netc check --help`");
  expect(NETC " import --gpu t4 x.onnx", 2, "",
         "`--gpu` belongs to `netc FILE.net`");
  expect(
      NETC " examples/vgg16.net --device h100", 3, "",
      "cannot read h100: No such file or directory; --devices takes a file of");
}

static void what_is_no_value_is_told_what_is(void **state) {
  (void)state;
  expect(NETC " examples/vgg16.net --checkpoint sometimes", 2, "",
         "--checkpoint sometimes: it takes a number, or one of: auto "
         "selective blocks ops\n");
  expect(NETC " examples/vgg16.net --batch many", 2, "",
         "--batch many: it takes a number\n");
  expect(NETC " examples/vgg16.net --input axb", 2, "",
         "sizes are joined by x, like 320x320x3\n");
  expect(NETC " examples/vgg16.net -o x.jpeg", 2, "",
         "netc: x.jpeg: a picture needs the suffix svg, pdf, tex or png\n");
}

/* A prediction has a verdict of its own, which ends where it says. */
static void a_prediction_has_a_verdict(void **state) {
  (void)state;
#define GPT " examples/zoo/gpt2.net --predict --gpu rtx3060 "
  expect(NETC GPT, 0, "\n  batch      up to 47\n", "");
  expect(NETC GPT, 0, "\n  context    1,024 tokens for one sequence\n", "");
  expect(NETC " check --decode 153939" GPT, 0, "", "");
  expect(NETC " check --decode 153940" GPT, 1, "", "inference needs ");
  expect(NETC " check --batch 55" GPT, 0, "", "");
  expect(NETC " check --batch 56" GPT, 1, "", "inference needs ");
  expect(NETC " --must-fit --batch 56 --emit=csv=/dev/null" GPT, 1, NULL, NULL);
  expect(NETC " --must-fit --batch 55" GPT, 0, "  TIGHT\ninference, batch 55, ",
         "");
  expect(NETC " examples/vgg16.net --predict --gpu t4", 0,
         "  FITS\ninference, batch 1, ", NULL);
#undef GPT
#define LLAMA " examples/zoo/llama.net --predict --gpu h100 --prefill 2048 "
  /* With --sequences the verdict is about them. */
  expect(NETC LLAMA "--context 8192 --sequences 13", 0,
         "  FITS\ninference, 13 sequences of 8,192 tokens, ", "");
  expect(NETC LLAMA "--context 8192 --sequences 14", 0,
         "  TIGHT\ninference, 14 sequences of 8,192 tokens, ", "");
  expect(NETC LLAMA "--context 8192 --sequences 17", 0,
         "  DOES NOT FIT\ninference, 17 sequences of 8,192 tokens, ", "");
  expect(NETC " check --context 8192 --sequences 16" LLAMA, 0, "", "");
  expect(NETC " check --context 8192 --sequences 17" LLAMA, 1, "",
         "inference needs ");
  expect(NETC LLAMA "--must-fit --context 8192 --sequences 17", 1, NULL, NULL);
  expect(NETC LLAMA "--tensor-parallel 3", 1, "",
         "1, 2, 4, 8, 16 or 32 devices can share them");
  expect(NETC " check examples/zoo/llama.net --predict --gpu h100 "
              "--tensor-parallel 3",
         1, "", "tensor_parallel=3 does not divide 32 heads");
  expect("{ printf 'infer tensor_parallel=3\\n'; cat examples/zoo/llama.net; } "
         "| " NETC " check --predict --gpu h100 -",
         1, "", "this number of devices cannot share the net");
#undef LLAMA
}

/* Several batches and devices, or two nets, are a table. */
static void tables_compare_batches_devices_and_nets(void **state) {
  (void)state;
#define RESNET " examples/zoo/resnet.net "
  expect(NETC RESNET "--batch 8,256", 0, "256       20.", "");
  expect(NETC RESNET "--gpu all --batch 8,256", 0, "rtx4090", "");
  expect(NETC RESNET "--batch 8,256 --gpu t4", 0, "too much", "");
  expect(NETC RESNET "--batch 8,,9", 2, "",
         "--batch 8,,9: a value is missing between the commas");
  expect(NETC RESNET "--gpu t4,", 2, "",
         "--gpu t4,: a value is missing after the last comma");
  expect(NETC RESNET "--batch ' ,8'", 2, "", "missing before the first comma");
  expect(NETC RESNET "--batch '8 , 256' --gpu 't4, h100'", 0,
         "\nh100       79.11 GiB", "");
  expect(
      NETC RESNET "--batch 8,256 -o x.json", 2, "",
      "several values of a setting make a table; leave out -o, --emit, --dump");
  expect(
      NETC " check" RESNET "--gpu all", 2, "",
      "--gpu takes one value here; `netc FILE.net` makes a table of several");
  expect(NETC " diff" RESNET "-D depth=50 -D depth=101", 1, "18,992,128", "");
  expect(NETC " diff" RESNET "-D depth=50 -D depth=50", 0, "25,557,032", "");
  expect(NETC " diff" RESNET, 2, "", "two nets");
  expect(NETC " diff" RESNET "x.net y.net", 2, "", "netc diff needs two nets");
  expect(NETC " diff" RESNET "nowhere.net", 3, "", "cannot read nowhere.net");
  expect(NETC " diff examples/vgg16.net examples/vgg16.net", 0, "", "");
  expect(NETC " diff --markdown examples/vgg16.net examples/resnet50.net", 1,
         "| parameters | 138,357,544 | 25,557,032 |", "");
  expect(NETC " diff examples/vgg16.net examples/simple_cnn.net", 1,
         "- conv1                conv 64 3x3 pad              224x224x64", "");
#undef RESNET
}

/* Values as PyTorch, shops and hands write them. */
static void values_may_be_written_as_people_write_them(void **state) {
  (void)state;
#define NET " examples/simple_cnn.net -o - "
#define JSON " --emit=json"
#define DEVICE(bytes) "\"device_bytes\": " bytes ","
  static const char *const cases[][2] = {
      {"--gpu 'RTX 4090'" JSON, DEVICE("25253904384")},
      {"--gpu NVIDIA-A10" JSON, DEVICE("23606591488")},
      {"--gpu 'NVIDIA A100-SXM4-80GB'" JSON, DEVICE("84988133376")},
      {"--gpu 'Tesla T4'" JSON, DEVICE("15633219584")},
      {"--gpu 'nvidia geforce gtx 1080 ti'" JSON, DEVICE("11719933952")},
      {"--gpu 'AMD Instinct MI300X'" JSON, DEVICE("205822885888")},
      {"--gpu rtx2080" JSON, "\"process_estimated\": true"},
      {"--gpu rtx2080ti" JSON, "\"process_estimated\": false"},
      {"--gpu apple-64" JSON, DEVICE("51539607552")},
      {"--memory 39.38GiB" JSON, DEVICE("42283953029")},
      {"--memory '24 gb'" JSON, DEVICE("24000000000")},
      {"--memory 512mib" JSON, "\"left_bytes\": -34289523,"},
      {"--memory 512mib", "PyTorch on 512 MiB\n  needs      115 of 82.5 MiB "},
      {"--gpu 'RTX 4090'", "PyTorch on RTX 4090\n"},
      {"--optimizer AdamW", ", AdamW, float32"},
      {"--dtype bfloat16", ", bfloat16"},
      {"--dtype Half", ", float16"},
      {"--loss CrossEntropyLoss", "train, "},
  };
  static const char *const wrong[][2] = {
      {"--gpu a100", "ambiguous gpu `a100`; choose one of: a100-40, a100-80"},
      {"--gpu 'RTX 4060 Ti'", "choose one of: rtx4060ti-8, rtx4060ti-16"},
      {"--gpu X800-80GB", "give its memory: `--memory 80GiB`; `netc help gpus` "
                          "lists the known names"},
      {"--gpu 'RTX 4090 Laptop GPU'", "give its memory: `--memory 48GiB`; "
                                      "`netc help gpus` lists the known"},
      {"--gpu rtx4080x",
       "unknown gpu `rtx4080x`; give its memory: `--memory 48GiB`; "},
      {"--memory 0.5B", "`0.5B` is not a whole number of bytes; "},
      {"--optimizer addam", "did you mean `adam`? choose one of: sgd,"},
      {"-D abc=1", "its parameters: groups = 1, width = 64, depth"},
      {"--batch x", "--batch x: it takes a number\n"},
      {"--optimizer x", "it takes one of: sgd momentum"},
      {"--checkpoint x", "it takes a number, or one of: auto"},
      {"-D 3=x", "-D 3: `3` is unexpected here"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[300];
    snprintf(command, sizeof command, NETC NET "%s", cases[i][0]);
    expect(command, 0, cases[i][1], "");
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char command[300];
    snprintf(command, sizeof command, NETC " examples/zoo/resnet.net %s",
             wrong[i][0]);
    expect(command, 2, "", wrong[i][1]);
  }
#undef DEVICE
#undef JSON
#undef NET
}

/* A device is a promise to `netc check`, and with --must-fit to all. */
static void a_step_that_does_not_fit_can_fail_a_job(void **state) {
  (void)state;
#define RESNET " -D depth=50 examples/zoo/resnet.net --optimizer adam --gpu t4"
  expect(NETC " check --batch 256" RESNET, 1, "", "with --batch ");
  expect(NETC " check --batch 256" RESNET, 1, "", "--precision mixed");
  expect(NETC " check --batch 8" RESNET, 0, "", "");
  expect(NETC " --batch 256" RESNET, 0, "  DOES NOT FIT\n", "");
  expect(NETC " --must-fit --batch 256" RESNET, 1, "  DOES NOT FIT\n", "");
  expect(NETC " --must-fit --batch 8" RESNET, 0, "  FITS\n", "");
  expect(NETC " check --must-fit --batch 256" RESNET, 1, "",
         " GiB, but the device has 12.42 GiB available");
  expect(NETC " check --must-fit examples/vgg16.net", 2, "", "needs a device");
  expect(NETC " check examples/unet.net --memory 300MiB", 1, "",
         "the device has no memory left beside the framework");
  expect(NETC " check examples/unet.net --memory 300MiB --predict", 1, "",
         "the device has no memory left beside the framework");
  expect(NETC " examples/unet.net --memory 300MiB", 0,
         "\n  available  300 device - 416 PyTorch\n", "");
  expect(NETC " examples/unet.net --memory 300MiB --units bytes", 0,
         " - 436,469,760 PyTorch\n", "");
#undef RESNET
}

/* A slip of the hand must cost no source, and no output silently. */
static void outputs_replace_no_source_and_no_output(void **state) {
  (void)state;
  const char *dir = scratch("places");
  struct run r = run(
      "cd %s && cp $OLDPWD/examples/unet.net . && cp unet.net kept.net && "
      "cp $OLDPWD/tests/data/import/darknet/tiny.cfg . && ln -s unet.net l.net "
      "&& cp tiny.cfg kept.cfg && for a in 'unet.net -o unet.net' "
      "'unet.net -o ./unet.net' 'l.net --emit=txt=unet.net' "
      "'unet.net -o x.json -o ./x.json' 'unet.net --emit=json=x.d -MD' "
      "'unet.net --emit=txt=x -MD -MF x' 'weights unet.net --random 1 -o "
      "unet.net' 'place unet.net --gpus 2xh100 -o unet.net' 'import tiny.cfg "
      "-o tiny.cfg' 'import tiny.cfg --weights tiny.cfg' 'import tiny.cfg -o x "
      "--weights x'; do %s $a >out 2>err; s=$?; test $s = 2 && grep -qe "
      "'replace' -e 'two outputs' err || { echo \"$s: $a\"; cat err; "
      "}; done; cmp unet.net kept.net; cmp tiny.cfg kept.cfg; ls x*; %s "
      "unet.net --emit=txt=/dev/null --emit=csv=/dev/null && %s unet.net -o - "
      "-o - >/dev/null && %s fmt -i unet.net",
      dir, NETC_PATH, NETC_PATH, NETC_PATH, NETC_PATH);
  assert_string_equal(r.out, "");
  assert_string_equal(r.err, "ls: cannot access 'x*': No such file or "
                             "directory\n");
  assert_int_equal(r.status, 0);
  run_free(&r);
  expect(NETC " -Wno-huge-fc check a.net", 2, "", "`netc check ... a.net`");
}

static void standard_input_and_output_are_files_too(void **state) {
  (void)state;
  expect("printf 'input 4\\nfc 2\\n' | " NETC " -", 0, "stdin", "");
  expect("printf 'input 4\\nfc 2\\n' | " NETC " --emit=csv -", 0, "fc1,fc 2",
         "");
  expect("printf 'input 4\\nfx 2\\n' | " NETC " -", 1, "",
         "<stdin>:2:1: error");
  expect(NETC " - <.", 3, "", "cannot read <stdin>: ");
  expect(NETC " plan - <.", 3, "", "cannot read <stdin>: ");
  expect("printf 'input   4\\n' | " NETC " fmt -", 0, "input 4\n", "");
}

static void several_outputs_come_from_one_run(void **state) {
  (void)state;
  const char *dir = scratch("several");
  struct run r =
      run(NETC " examples/resnet50.net -Wno-stride-skips -o %s/r.json "
               "-o %s/r.csv -o %s/r.dot --emit=md=%s/table -o - "
               "--emit=net=%s/flat.net && ls %s && grep -c . "
               "%s/r.csv",
          dir, dir, dir, dir, dir, dir, dir);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.err, "");
  assert_holds(r.out, "flat.net\nr.csv\nr.dot\nr.json\ntable\n90\n");
  run_free(&r);
}

static void a_failed_run_leaves_nothing_behind(void **state) {
  (void)state;
  const char *dir = scratch("failed");
  struct run r = run("printf 'input 4\\nfc\\n' >%s/bad.net; " NETC
                     " %s/bad.net -o %s/a.json"
                     " -MD; printf 'input 4\\nfc 2\\n' >%s/good.net; " NETC
                     " %s/good.net -o %s/b.txt -o %s/no/c.txt -MD; ls %s",
                     dir, dir, dir, dir, dir, dir, dir, dir);
  assert_string_equal(r.out, "bad.net\ngood.net\n");
  run_free(&r);
}

/* A net that breaks its budget is shown, but a build keeps no file of it. */
static void a_broken_budget_writes_no_file(void **state) {
  (void)state;
  const char *dir = scratch("budget");
  struct run r = run(NETC " tests/golden/errors/a-broken-budget.net -o "
                          "%s/a.txt -o - -MD; echo $?; ls %s",
                     dir, dir);
  assert_holds(r.out, "a-broken-budget   1,930 parameters\n");
  assert_holds(r.out, "\n1\n");
  assert_null(strstr(r.out, "a.txt"));
  run_free(&r);
}

static void equal_files_can_be_left_untouched(void **state) {
  (void)state;
  const char *dir = scratch("changed");
  struct run r =
      run("cp examples/vgg16.net %s/v.net; " NETC " %s/v.net -o %s/v.csv 2>&1 "
          ">/dev/null | grep -c warning; touch -d 2001-01-01 %s/v.csv; " NETC
          " %s/v.net -o %s/v.csv --write-if-changed 2>/dev/null; "
          "find %s -name v.csv -newermt 2002-01-01; echo 'dropout' "
          ">>%s/v.net; " NETC
          " %s/v.net -o %s/v.csv --write-if-changed 2>/dev/null; "
          "find %s -name v.csv -newermt 2002-01-01",
          dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir);
  char expected[128];
  snprintf(expected, sizeof expected, "1\n%s/v.csv\n", dir);
  assert_string_equal(r.out, expected);
  run_free(&r);
}

static void files_get_the_usual_permissions(void **state) {
  (void)state;
  const char *dir = scratch("modes");
  struct run r = run("umask 027; " NETC " examples/unet.net -o %s/u.txt; "
                     "stat -c %%a %s/u.txt",
                     dir, dir);
  assert_string_equal(r.out, "640\n");
  run_free(&r);
}

static void only_plain_files_are_replaced(void **state) {
  (void)state;
  const char *dir = scratch("special");
  struct run r =
      run("mkfifo %s/pipe; ln -s real %s/link; (timeout 5 head -n 1 %s/pipe "
          ">%s/read) & " NETC " examples/unet.net --emit=csv=%s/pipe "
          "--emit=csv=%s/link; wait; cut -c 1-10 %s/read; test -p %s/pipe && "
          "test -L %s/link && test -s %s/real && echo kept; test -c /dev/null "
          "&& " NETC
          " examples/unet.net --emit=csv=/dev/null && test -c /dev/null && "
          "echo device",
          dir, dir, dir, dir, dir, dir, dir, dir, dir, dir);
  assert_string_equal(r.out, "index,name\nkept\ndevice\n");
  run_free(&r);
}

/* An output that cannot be written is an error. */
/* --input replaces sizes, and says which inputs there are. */
static void inputs_take_other_sizes(void **state) {
  (void)state;
  struct run r = run(NETC " examples/zoo/resnet.net --input 320x256x_");
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "resnet   25.6 M parameters\ntrain, ");
  assert_holds(r.out, " 320x256x3 ");
  run_free(&r);
  r = run(NETC " examples/zoo/clip.net --input 64");
  assert_int_equal(r.status, 2);
  assert_holds(r.err, "this net has 2 inputs: name the input, --input "
                      "NAME=SIZES");
  run_free(&r);
  r = run(NETC " check examples/zoo/resnet.net --input pictures=1x1x1");
  assert_int_equal(r.status, 2);
  assert_holds(r.err, "the source has no input `pictures`");
  run_free(&r);
  r = run(NETC " check examples/zoo/resnet.net --input 320x320");
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "these sizes do not fit `input` [wrong-rank]");
  run_free(&r);
  r = run(NETC " check examples/zoo/resnet.net --input 3,3");
  assert_int_equal(r.status, 2);
  run_free(&r);
}

/* --devices adds those of a table, wherever it stands on the line. */
static void devices_may_be_a_table(void **state) {
  (void)state;
#define NET " examples/simple_cnn.net -o - "
#define DEVICES BUILD "/tests/devices.csv"
#define TABLE(text)                             \
  "printf '" text "' >" DEVICES " && " NETC NET \
  "--gpu mine-1 --devices " DEVICES
  expect(TABLE("names,name,card_mib,process_mib\\nOne of mine,mine-1,49152,"
               "40960\\n\\n\"b\", \"c\" ,1,\\n"),
         0, "PyTorch on MINE-1\n", "");
  expect(NETC NET "--gpu mine-1 --emit=json --devices " DEVICES, 0,
         "\"device_bytes\": 42949672960,", "");
  expect(NETC NET "--devices " DEVICES " --gpu 'ONE of "
                  "mine' --emit=json",
         0, "\"gpu\": \"mine-1\"", "");
  expect(NETC " examples/simple_cnn.net "
              "--devices " DEVICES " --gpu all --details",
         0, "mine-1             40.00 GiB", "");
  expect(NETC " place examples/simple_cnn.net --gpus 2xmine-1 "
              "--devices " DEVICES,
         2, NULL, "the bandwidth of its memory is not known");
  expect(
      TABLE("name,kind,card_mib,bandwidth,near,f32\\r\\nmine-1,geforce,"
            "8192,1000,32000,10000\\r\\n") " && " NETC
                                           " place examples/simple_cnn.net "
                                           "--gpus 2xmine-1 --devices " DEVICES,
      0, "simple_cnn on 2 mine-1", "");
  static const char *const wrong[][2] = {
      {TABLE(""), ".csv:1:1: the first line needs the columns name and card"},
      {TABLE("name\\na\\n"), ".csv:1:1: the first line needs"},
      {TABLE("name,size\\n"), ".csv:1:6: unknown column `size`; the columns"},
      {TABLE("name,card_mib,name\\n"),
       ".csv:1:15: the column `name` appears twice"},
      {TABLE("name,card_mib\\na,12\\nb,1.5\\n"), ".csv:3:3: `1.5` should be"},
      {TABLE("name,card_mib\\na,9999999999"), ".csv:2:3: `9999999999` should"},
      {TABLE("name,card_mib\\na,12,13"),
       ".csv:2:6: this line has more columns than the first line, which has 2"},
      {TABLE("name,card_mib\\na b,12"), ".csv:2:1: a name has letters"},
      {TABLE("card_mib,name\\n1,Tesla-T4"), ".csv:2:3: `Tesla-T4` is a device"},
      {TABLE("name,card_mib\\na,1\\nA,2"), ".csv:3:1: `A` is a device"},
      {TABLE("name,card_mib\\na,\\n"), ".csv:2:3: this line has no card_mib"},
      {TABLE("name,card_mib\\n\"a,1\\n"), ".csv:2:1: a quote is not closed"},
      {TABLE("name,card_mib\\n\"a\" b,1\\n"), ".csv:2:1: a comma is missing"},
      {TABLE("name,card_mib,process_mib\\na,1,2"),
       ".csv:2:5: process_mib must not be more than card_mib"},
      {TABLE("name,card_mib\\na,1"), "unknown gpu `mine-1`"},
      {TABLE("name,card_mib\\nall,1"),
       ".csv:2:1: the name `all` means every device; choose another"},
      {TABLE("name,card_mib,names\\na,1,b|h100\\n"), "`h100` is a device"},
      {TABLE("name,card_mib,names\\na,1,b|all\\n"),
       ".csv:2:5: the name `all` means every device; choose another"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    expect(wrong[i][0], 2, NULL, wrong[i][1]);
  /* Words of the language, too; a card of 1 MiB is one. */
  expect("printf 'name,card_mib,kind\\nx,1,geforce\\nnet,2,\\n' "
         ">" DEVICES "; for g in x net; do " NETC NET "--devices " DEVICES
         " --brief --gpu $g; done | "
         "grep -c 'DOES NOT FIT'",
         0, "2\n", "");
  expect("{ echo name,card_mib; seq 1001 | sed 's/.*/c&,1/'; } "
         ">" DEVICES "; " NETC NET "--devices " DEVICES,
         2, NULL, ".csv:1002:7: a table has at most 1000 devices");
  expect(NETC NET "--devices nowhere.csv", 3, "", "cannot read nowhere.csv");
#undef TABLE
#undef NET
}

/* The size that --max-input finds fits, and the next multiple does not. */
static void the_largest_input_fits(void **state) {
  (void)state;
  struct run r = run(NETC " examples/zoo/yolov3.net --max-input --gpu t4");
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "largest square input  2,400 x 2,400: ");
  assert_holds(r.out, "the next              2,432 x 2,432: ");
  assert_holds(r.out, "multiples of 32\n");
  run_free(&r);
  r = run(NETC " examples/zoo/yolov3.net --must-fit --gpu t4 "
               "--input 2400x2400x3");
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "  FITS\ntrain, ");
  run_free(&r);
  r = run(NETC " examples/zoo/yolov3.net --must-fit --gpu t4 "
               "--input 2432x2432x3");
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "  TIGHT\ntrain, ");
  run_free(&r);
  r = run(NETC " examples/zoo/yolov3.net --must-fit --gpu t4 "
               "--input 2624x2624x3");
  assert_int_equal(r.status, 1);
  run_free(&r);
  static const struct {
    const char *arguments, *words;
    int status;
  } refused[] = {
      {"examples/zoo/yolov3.net", "needs a device: --gpu NAME", 2},
      {"examples/zoo/gpt2.net --gpu t4", "one picture or clip", 2},
      {"examples/zoo/yolov3.net --gpu t4 -o x.svg",
       "--max-input prints its own answer; leave out -o, --emit and --dump", 2},
      {"examples/zoo/yolov3.net --memory 10MiB", "no square input fits", 1},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    r = run(NETC " --max-input %s", refused[i].arguments);
    assert_holds(r.err, refused[i].words);
    assert_int_equal(r.status, refused[i].status);
    run_free(&r);
  }
}

/* A word that is no value: the source says what would be. */
static void words_of_params_are_refused_where_they_are_allowed(void **state) {
  (void)state;
#define YOLO NETC " examples/zoo/yolov8.net -D "
  expect(YOLO "size=q", 1, "", "`size` must be one of n s m l x, not q");
  expect(YOLO "size=q", 1, "", "   1 | param size = q\n     | ^^^");
  expect(YOLO "size=q", 1, "", "   5 | param size w last n in [\n");
  expect(YOLO "size=x", 0, "68,229,632", "");
  expect(YOLO "size=3", 1, "", "`size` must be one of n s m l x, not 3");
  expect(YOLO "abc=1", 2, "", "its parameters: size = n, side = 640");
  expect(
      YOLO "side=1..3", 2, "",
      "it takes one value, not a range; `netc sweep` tries A..B or A..B:STEP");
  expect(YOLO "side=x", 1, "", "`x` is neither a number, `true`, `false`");
  expect(NETC " examples/zoo/vgg.net -D norm=bnn", 1, "",
         "`norm` must be one of identity bn, not bnn");
  expect(NETC " examples/zoo/vgg.net -D norm=bnn", 1, "",
         "did you mean `bn`?\n");
  expect(NETC " examples/zoo/vgg.net -D worm=x", 2, "", "no `param worm`");
#undef YOLO
}

/* The params that -D can set; also those of a net with errors. */
static void params_are_listed(void **state) {
  (void)state;
  struct run r = run(NETC " params examples/zoo/vgg.net");
  assert_string_equal(r.out, "param  default   allowed\n"
                             "depth  16        11 13 16 19\n"
                             "norm   identity  identity bn\n");
  assert_string_equal(r.err, "");
  run_free(&r);
  r = run(NETC " params examples/zoo/vgg.net -D depth=15");
  assert_int_equal(r.status, 1);
  assert_holds(r.out, "depth  16        11 13 16 19; is 15\n");
  assert_holds(r.err, "`depth` must be one of 11 13 16 19, not 15");
  assert_holds(r.err, "the nearest is 16");
  run_free(&r);
  r = run(NETC " params examples/zoo/vit.net -D width=512");
  assert_string_equal(r.out, "param   default       allowed\n"
                             "layers  12            any\n"
                             "width   768           any; is 512\n"
                             "heads   width/64 = 8  any\n"
                             "patch   16            any\n");
  assert_string_equal(r.err, "");
  run_free(&r);
  r = run(NETC " params examples/simple_cnn.net");
  assert_string_equal(r.out, "examples/simple_cnn.net has no `param`\n");
  run_free(&r);
  r = run("bash -c 'eval \"$(" NETC " completion bash)\"; "
          "netc() { " NETC " \"$@\"; }; compopt() { :; }; "
          "COMP_WORDS=(netc examples/zoo/resnet.net -D de); COMP_CWORD=3; "
          "_netc; echo \"${COMPREPLY[@]}\"'");
  assert_string_equal(r.out, "depth=\n");
  run_free(&r);
}

static void full_disks_are_noticed(void **state) {
  (void)state;
  static const char *const commands[] = {
      "examples/simple_cnn.net --dump=graph",
      "--help",
      "--version",
      "plan --help",
      "layers",
      "params examples/zoo/vgg.net",
      "explain",
      "help settings",
      "fmt --help",
      "fmt examples/simple_cnn.net",
      "completion bash",
      ("plan "
       "tests/data/planner/minimalloc/input.12.csv"),
  };
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    struct run r = run(NETC " %s >/dev/full", commands[i]);
    if (r.status != 3)
      print_error("%s: status %d\n", commands[i], r.status);
    assert_int_equal(r.status, 3);
    assert_holds(r.err, "cannot write standard output: No space left");
    run_free(&r);
  }
}

/* Files that may not grow further: each limit is an error, until it is enough;
   nothing is left behind, and no output without all of them. What gcov counts
   would be half a file, too. */
static void any_write_to_a_file_may_fail(void **state) {
  (void)state;
  const char *dir = scratch("limits");
  struct run r =
      run("export GCOV_PREFIX=/dev/null GCOV_ERROR_FILE=/dev/null; "
          "n=" NETC_PATH "; cp examples/*.net %s; cd %s; mkdir out; "
          "for o in 'resnet50.net -o out/x.json -o out/x.svg' "
          "'resnet50.net -o out/x.pdf -MD' 'resnet50.net -o out/x.onnx' "
          "'resnet50.net --emit=c=out/x' "
          "'weights simple_cnn.net --random 1 -o out/x.safetensors'; "
          "do for limit in 0 1 4 16 64 256 1024 4096 16384 65536 262144; do "
          "said=$( (ulimit -f $limit; exec $n $o) 2>&1 >/dev/null); s=$?; "
          "[ $s != 0 ] || break; left=$(ls out); "
          "case \"$s $left $said\" in '3  netc: cannot write out/'*) ;; "
          "*) echo \"$o, limit $limit: $s, $left: $said\";; esac; done; "
          "[ $s = 0 ] && [ $limit != 0 ] || echo \"$o never fails or ends\"; "
          "rm out/*; done",
          dir, dir);
  assert_string_equal(r.out, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void the_longest_names_can_be_written(void **state) {
  (void)state;
  const char *dir = scratch("names");
  struct run r =
      run("n=" NETC_PATH "; cp examples/simple_cnn.net %s; cd %s; "
          "long=$(printf '%%0251d' 0); $n simple_cnn.net -o $long.svg "
          "-o $long.net && $n fmt -i $long.net && ls | wc -l; "
          "$n simple_cnn.net -o 0$long.svg",
          dir, dir);
  assert_string_equal(r.out, "3\n");
  assert_int_equal(r.status, 3);
  assert_holds(r.err, "File name too long");
  run_free(&r);
}

/* A net that no output can hold is an error of the net, not of the output. */
static void nets_that_cannot_be_written_have_one_status(void **state) {
  (void)state;
  const char *dir = scratch("cannot");
  static const struct {
    const char *net, *options, *says;
  } rows[] = {
      {"input 9x9x2\navgpool 3 dilate=2\n", "x.py", "for PyTorch: `dilate`"},
      {"input 9x9x2\navgpool 3x3 /3 dilate=2 ceil\n", "x.onnx",
       "AveragePool with dilation needs `--opset 19` or later"},
      {"input 8x8\nlstm 8 proj=2\n", "x.c",
       "netc can measure this net, but not run it"},
      {"input 8x8\nattention 4 packed kv=2 bias=qvo\n", "x.c", "partial bias"},
      {"input 8x8\nattention 4 packed bias=qvo\n", "x.onnx", "partial bias"},
      {"input 8x8\nlinear 4\n", "x.c --weight-dtype int8", "--weight-dtype i8"},
      {"input 8x8\nattention 2\n", "x.h -o x.c --decode 1", "`decode`"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    write_in(dir, "a.net", rows[i].net);
    struct run r = run("n=" NETC_PATH "; cd %s; $n a.net -o %s; s=$?; ls; "
                       "exit $s",
                       dir, rows[i].options);
    assert_holds(r.err, rows[i].says);
    assert_string_equal(r.out, "a.net\n");
    assert_int_equal(r.status, 1);
    run_free(&r);
  }
}

/* A reader that has enough is no failure worth a word. */
static void a_closed_pipe_is_quiet(void **state) {
  (void)state;
  struct run r = run("{ " NETC " examples/resnet50.net -Wno-stride-skips "
                     "--emit=json; echo $? >&2; } | head -n 1");
  assert_string_equal(r.out, "{\n");
  assert_string_equal(r.err, "3\n");
  run_free(&r);
}

static void a_file_that_is_replaced_keeps_its_mode(void **state) {
  (void)state;
  const char *dir = scratch("private");
  struct run r =
      run("cd %s && touch a.json && chmod 600 a.json && printf "
          "'input   4\\nfc 2\\n' >b.net && chmod 640 b.net && " NETC_PATH
          " b.net -o a.json && " NETC_PATH
          " fmt -i b.net && stat -c '%%a %%s' a.json b.net | "
          "cut -d ' ' -f 1 && head -c 8 b.net",
          dir);
  assert_string_equal(r.out, "600\n640\ninput 4\n");
  run_free(&r);
}

/* The first output waits, without a name, while the second blocks. */
static void a_signal_leaves_nothing_behind(void **state) {
  (void)state;
  static const char *const signals[] = {"INT", "TERM", "HUP"};
  for (size_t i = 0; i < 3; i++) {
    const char *dir = scratch("signal");
    struct run r =
        run("cd %s && mkfifo pipe && echo old >x.json && set -m; "
            "env --default-signal=INT timeout 20 " NETC_PATH
            " $OLDPWD/examples/unet.net -o x.json --emit=csv=pipe 2>log & "
            "sleep 2; ls | grep -vc ^netc-tmp; kill -s %s -- -$!; wait $!; "
            "test $? -gt 128 && echo gone; ls; cat x.json",
            dir, signals[i]);
    assert_string_equal(r.out, "3\ngone\nlog\npipe\nx.json\nold\n");
    run_free(&r);
  }
}

/* With standard output closed, nothing of it lands in a file. */
static void closed_standard_descriptors_harm_no_file(void **state) {
  (void)state;
  const char *dir = scratch("closed");
  struct run r = run(NETC " examples/vgg16.net -o %s/x.json --emit=txt >&-; "
                          "echo $?; ls %s; " NETC " examples/vgg16.net -o "
                          "%s/y.json 2>&- <&-; echo $?; tail -c 2 %s/y.json",
                     dir, dir, dir, dir);
  assert_string_equal(r.out, "3\n0\n}\n");
  run_free(&r);
}

/* One file, however it is reached */

static void a_file_by_two_paths_is_one_file(void **state) {
  (void)state;
  const char *dir = scratch("paths");
  struct run r = run(
      "cd %s && mkdir lib other && printf 'def blk(n) { fc n }\\n' "
      ">lib/a.net && ln -s a.net lib/alias.net && printf 'use \"../lib/a.net\""
      "\\nuse \"./../lib/./a.net\"\\n' >other/b.net && printf 'use "
      "\"lib/a.net\"\\nuse \"lib/alias.net\"\\nuse \"./lib//a.net\"\\nuse "
      "\"other/b.net\"\\ninput 4\\nblk 3\\n' >main.net && " NETC_PATH
      " main.net --emit=csv -MF deps -MT main.net; "
      "cat deps; printf 'use \"./self.net\""
      "\\ninput 4\\n' >self.net; " NETC_PATH " check self.net",
      dir);
  assert_holds(r.out, "fc 3");
  assert_holds(r.out, "main.net: \\\n  main.net \\\n  lib/a.net \\\n"
                      "  other/b.net\n");
  assert_holds(r.err, "\"./self.net\" uses itself, directly or through other "
                      "files");
  run_free(&r);
}

/* Dependencies, as make and Ninja read them */

static const char *with_library(const char *name) {
  const char *dir = scratch(name);
  char command[1024];
  snprintf(command, sizeof command,
           "cd %s && mkdir 'a lib' && printf 'def two(c) { conv c 3x3; conv "
           "c 3x3 }\\n' >'a lib/blocks.net' && printf 'use \"a lib/blocks.net"
           "\"\\ninput 32x32x3\\ntwo 8\\n' >main.net",
           dir);
  assert_int_equal(system(command), 0);
  return dir;
}

static void make_follows_the_dependencies(void **state) {
  (void)state;
  const char *dir = with_library("make");
  char path[300];
  static const char makefile[] =
      "out.json: main.net\n\t$(NETC) main.net -o out.json -MD -MP\n"
      "-include out.d\n";
  snprintf(path, sizeof path, "%s/Makefile", dir);
  write_text(path, makefile, strlen(makefile));
  struct run r = run(
      "cd %s && unset MAKEFLAGS MAKELEVEL && make -s NETC=" NETC_PATH
      " && cat out.d && "
      "make NETC=" NETC_PATH " && touch -d +1minute 'a lib/blocks.net' && "
      "make -q NETC=x; echo $?; rm -r 'a lib' && printf 'input 4\\nfc 2\\n' "
      ">main.net; make -s NETC=" NETC_PATH " && cat out.d",
      dir);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.out,
                      "out.json: \\\n  main.net \\\n  a\\ lib/blocks.net\n"
                      "\na\\ lib/blocks.net:\n"
                      "make: 'out.json' is up to date.\n1\n"
                      "out.json: \\\n  main.net\n");
  run_free(&r);
}

static void ninja_follows_the_dependencies(void **state) {
  (void)state;
  const char *dir = with_library("ninja");
  char path[300];
  static const char rules[] =
      "rule netc\n  command = $netc $in -o $out -MD -MF $out.d -MT $out\n"
      "  depfile = $out.d\n  deps = gcc\n"
      "build out.json: netc main.net\n";
  if (!on_path("ninja"))
    skip();
  struct run where = run("pwd");
  char *file = malloc(strlen(where.out) + sizeof rules + 64);
  where.out[strcspn(where.out, "\n")] = '\0';
  sprintf(file, "netc = %s/" NETC "\n%s", where.out, rules);
  snprintf(path, sizeof path, "%s/build.ninja", dir);
  write_text(path, file, strlen(file));
  struct run r = run("cd %s && ninja && ninja && sleep 1.1 && "
                     "touch 'a lib/blocks.net' && ninja -n",
                     dir);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "no work to do");
  assert_holds(strstr(r.out, "no work to do"), "[1/1]");
  free(file);
  run_free(&where);
  run_free(&r);
}

static void a_target_of_ones_own_is_taken(void **state) {
  (void)state;
  const char *dir = scratch("target");
  struct run r = run(NETC " examples/unet.net -o %s/u.csv -MF %s/deps -MT "
                          "'x y' && cat %s/deps",
                     dir, dir, dir);
  assert_string_equal(r.out, "x y: \\\n  examples/unet.net\n");
  run_free(&r);
}

/* Names that both can read, and names that neither can. */
static void names_of_any_kind_are_quoted_or_refused(void **state) {
  (void)state;
  static const char *const right[] = {
      "a b", "a:b",  "a#b", "a$b", "a\\b", "a\\ b", "a'b", "a\"b",
      "a<b", "a`b`", "-rf", "a@b", "$(ls", "a!b",   "~a",
  };
  static const char *const wrong[] = {
      "a;touch pwned;", "a(b)", "a|b", "a\tb", "a\nb", "=a", "a=b", "b\\",
  };
  const char *dir = scratch("names");
  char path[600];
  static const char makefile[] = "all: out.json\n-include out.d\n"
                                 "out.json:\n\ttouch out.json\n";
  snprintf(path, sizeof path, "%s/Makefile", dir);
  write_text(path, makefile, strlen(makefile));
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    if (strchr(right[i], '"'))
      continue; /* no string of the language */
    snprintf(path, sizeof path, "%s/%s", dir, right[i]);
    write_text(path, "let a = 1\n", 10);
    snprintf(path, sizeof path, "%s/main.net", dir);
    FILE *file = fopen(path, "wb");
    fprintf(file, "use \"%s\"\ninput 4\nfc 2\n", right[i]);
    fclose(file);
    struct run r =
        run("cd %s && rm -f out.json out.d && " NETC_PATH
            " -Wno-unused-param main.net -o out.json -MD -MP && unset "
            "MAKEFLAGS MAKELEVEL && make -q; echo $?; touch -d +1minute -- "
            "\"$(ls -t | grep -vE '^(main.net|out|Makefile)' | head -n 1)\"; "
            "make -q; echo $?",
            dir);
    if (strcmp(r.out, "0\n1\n") != 0)
      print_error("%s: %s%s\n", right[i], r.out, r.err);
    assert_string_equal(r.out, "0\n1\n");
    run_free(&r);
    snprintf(path, sizeof path, "%s/%s", dir, right[i]);
    remove(path);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    snprintf(path, sizeof path, "%s/%s", dir, wrong[i]);
    write_text(path, "input 4\nfc 2\n", 13);
    struct run r = run("cd %s && rm -f out.json out.d; for f in *; do case "
                       "\"$f\" in main.net|Makefile) ;; *) " NETC_PATH
                       " ./\"$f\" -o out.json -MD; s=$?;; esac; done; echo $s; "
                       "ls out.json out.d",
                       dir);
    if (r.out[0] != '3' || r.out[2])
      print_error("%s: %s\n", wrong[i], r.out);
    assert_string_equal(r.out, "3\n");
    assert_holds(r.err, "netc: make cannot name the file `./");
    assert_holds(r.err, "`, so there are no dependencies for it; rename it\n");
    run_free(&r);
    remove(path);
  }
}

/* Pictures */

static void graphviz_draws_the_diagram(void **state) {
  (void)state;
  const char *dir = scratch("pictures");
  struct run r = run(NETC " examples/simple_cnn.net -o %s/s.svg -o %s/s.png "
                          "-o %s/s.pdf && head -c 4 %s/s.pdf && head -c 4 "
                          "%s/s.png | tail -c 3 && grep -c 50×50×32 %s/s.svg",
                     dir, dir, dir, dir, dir, dir);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.out, "%PDFPNG2\n");
  run_free(&r);
}

static void without_graphviz_a_picture_is_refused(void **state) {
  (void)state;
  const char *dir = scratch("nodot");
  struct run r =
      run("PATH=$(realpath %s) " NETC " examples/unet.net -o %s/u.png; echo $?;"
          " ls %s",
          dir, dir, dir);
  assert_string_equal(r.out, "3\n");
  assert_holds(r.err, "apt-get install graphviz");
  run_free(&r);
}

static void a_graphviz_that_fails_leaves_no_picture(void **state) {
  (void)state;
  const char *dir = scratch("baddot");
  struct run r =
      run("printf '#!/bin/sh\\nhead -c 9 >/dev/null\\necho half\\n"
          "exit 3\\n' >%s/dot; chmod +x %s/dot; PATH=$(realpath %s):$PATH " NETC
          " examples/resnet50.net -Wno-stride-skips -o %s/u.png;"
          " echo $?; ls %s",
          dir, dir, dir, dir, dir);
  assert_string_equal(r.out, "3\ndot\n");
  assert_holds(r.err, "dot failed with status 3");
  run_free(&r);
}

/* A program named dot, and what is said of it. */
static const struct fake_dot {
  const char *body, *message;
} fake_dots[] = {
    {"cat >/dev/null; echo garbage", "dot succeeded, but wrote no complete "
                                     "PNG; check with `dot -V` that it"},
    {"cat >/dev/null", "dot succeeded, but wrote no complete PNG; check with "
                       "`dot -V` that it"},
    {"exec /usr/bin/dot \"$@\" | head -c 4000",
     "dot succeeded, but wrote no complete PNG; check with `dot -V` that it"},
    {"kill -SEGV $$", "dot was killed by signal 11"},
    {"exec >&- <&- sleep 600", "dot took more than 1 second"},
    {"exec sleep 600", "NETC_DOT_SECONDS=10 waits longer"},
};

static void fake_dots_are_told(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof fake_dots / sizeof *fake_dots; i++) {
    const struct fake_dot *fake = &fake_dots[i];
    const char *dir = scratch("fakedot");
    struct run r = run(
        "cat >%s/dot <<'END'\n#!/bin/sh\n%s\nEND\n"
        "chmod +x %s/dot; NETC_DOT_SECONDS=%d PATH=$(realpath %s):$PATH " NETC
        " examples/resnet50.net -Wno-stride-skips -o %s/u.png;"
        " echo $?; ls %s",
        dir, fake->body, dir, strstr(fake->body, "600") ? 1 : 60, dir, dir,
        dir);
    assert_string_equal(r.out, "3\ndot\n");
    assert_holds(r.err, fake->message);
    run_free(&r);
  }
}

/* netc fmt and netc check */

static void check_mends_what_it_knows(void **state) {
  (void)state;
  const char *dir = scratch("mend");
  struct run r = run(
      "cd %s && printf 'input 25x25x3\nconv 8 3x3 pad=same\nskip: conv 8 3x3 "
      "pad pad\npool 2x2\nconv 8 3x3 relu relu\nfrom skp\nfc 10\n' >a.net; "
      "printf 'def f(c) { conv c 3x3 /2 pad=same }\n' >b.net; "
      "printf 'use \"b.net\"\ninput 9x9x3\nf 3\nfrobnicate\n' >c.net; "
      "chmod 640 a.net; n=$OLDPWD/" NETC
      "; $n check --fix a.net; stat -c %%a a.net; cat a.net; "
      "$n check --fix c.net; echo $?; cat b.net c.net",
      dir);
  assert_string_equal(
      r.out, "640\ninput 25x25x3\nconv 8 3x3 pad\nskip: conv 8 3x3 pad\n"
             "pool 2x2 ceil\nconv 8 3x3 relu\nfrom skip\nfc 10\n1\n"
             "def f(c) { conv c 3x3 /2 pad=tf }\nuse \"b.net\"\n"
             "input 9x9x3\nf 3\nfrobnicate\n");
  assert_holds(r.err, "a.net:4:9: mended: pool 2x2 leaves");
  assert_holds(r.err, "unknown layer or def `frobnicate`");
  run_free(&r);
  expect("printf 'input 4\\n' | " NETC " check --fix -", 2, "",
         "--fix changes sources; `-` is another kind of file, or comes with "
         "netc");
  expect(NETC " check --fix zoo:lenet5", 2, "",
         "--fix changes sources; `zoo:lenet5` is another kind of file, or "
         "comes with netc");
  expect(NETC " check --fix tests/data/import/darknet/cifar.test_ab.cfg", 2, "",
         "--fix changes sources; `tests/data/import/darknet/cifar.test_ab.cfg` "
         "is another kind of");
}

/* It is changed while the compiler waits for what it uses. */
static void check_leaves_a_file_that_changed(void **state) {
  (void)state;
  const char *dir = scratch("changed");
  struct run r =
      run("cd %s && rm -f p.net && mkfifo p.net && n=$OLDPWD/" NETC
          "; printf 'use \"p.net\"\ninput 4\nfc 2 3 relu relu\n' >a.net; "
          "(echo '# mine' >>a.net; echo 'def f() { relu }') >p.net & "
          "timeout 20 $n check --fix a.net; echo $?; tail -1 a.net; rm p.net",
          dir);
  assert_string_equal(r.out, "3\n# mine\n");
  assert_holds(r.err, "a.net has changed since it was read");
  run_free(&r);
}

static void fmt_works_in_place_and_checks(void **state) {
  (void)state;
  const char *dir = scratch("fmt");
  struct run r = run(
      "printf 'input   4\\nfc  2   # two\\n' >%s/a.net; " NETC
      " fmt --check %s/a.net; echo $?; " NETC " fmt -i %s/a.net; " NETC
      " fmt --check %s/a.net; echo $?; cat %s/a.net; " NETC
      " fmt -i --shapes %s/a.net; cat %s/a.net; printf 'input (\\n' >%s/b.net;"
      " " NETC " fmt -i %s/b.net; echo $?; cat %s/b.net",
      dir, dir, dir, dir, dir, dir, dir, dir, dir, dir);
  assert_string_equal(r.out, "1\n0\ninput 4\nfc 2  # two\n"
                             "input 4\nfc 2 -> 2  # two\n1\ninput (\n");
  assert_holds(r.err, "not in canonical form");
  assert_holds(r.err, "syntax");
  run_free(&r);
}

static void check_takes_several_files(void **state) {
  (void)state;
  expect(NETC " check -Wno-huge-fc examples/vgg16.net examples/unet.net", 0, "",
         "");
  expect(NETC " check examples/unet.net tests/golden/errors/an-empty-file.net"
              " no.net",
         3, "", "no-input");
  expect(NETC " check -D c=3 tests/golden/errors/an-empty-file.net", 1, "",
         "no-input");
}

static void colour_is_for_terminals_only(void **state) {
  (void)state;
  expect(NETC " examples/simple_cnn.net 2>&1 >/dev/null | grep -c '\\[1;35m'",
         1, "0", "");
  if (!on_path("script"))
    skip();
  expect("script -qec '" NETC " examples/simple_cnn.net' /dev/null | "
         "grep -c '\\[1;35m'",
         0, "2", "");
  expect("NO_COLOR=1 script -qec '" NETC " examples/simple_cnn.net' /dev/null"
         " | grep -c '\\[1;35m'",
         1, "0", "");
}

/* On a screen the answer is what is seen: coloured, and at the bottom. */
static void the_answer_is_seen_on_a_screen(void **state) {
  (void)state;
  static const char fits[] = "  \x1b[1;32mFITS\x1b[0m\ntrain, ";
  static const char no[] = "  \x1b[1;31mDOES NOT FIT\x1b[0m\ntrain, ";
  expect(NETC " examples/resnet50.net --gpu t4 --color=always", 0, fits, "");
  expect(NETC " examples/resnet50.net --gpu t4 --batch 512 --color=always", 0,
         no, "");
  expect(NETC " examples/resnet50.net --gpu t4,h100 --batch 512 "
              "--color=always",
         0, "\x1b[31mtoo much\x1b[0m", "");
  expect(NETC " examples/resnet50.net --gpu t4,h100 --color=never", 0, " left ",
         "");
  expect(NETC " examples/resnet50.net --gpu t4 | grep -c '\x1b'", 1, "0", "");
  /* The answer is printed again if it scrolls off the screen. */
  expect("LINES=24 " NETC " examples/resnet50.net --details | tail -n 5", 0,
         "\nresnet50   25.6 M parameters\ntrain, batch 1, ", "");
  expect("LINES=24 " NETC " examples/resnet50.net --batch 512 --gpu t4 "
         "--unfold | tail -n 4",
         0, "  DOES NOT FIT\ntrain, batch 512, ", "");
  expect("LINES=24 " NETC " examples/llama3.net --data-parallel 8 --zero 3 "
         "--gpu h100 --details | tail -n 3 | tr -s '\n ' ' '",
         0, " of 67.8 GiB on each of 8 devices ", "");
  expect("LINES=200 " NETC " examples/resnet50.net --details | "
         "grep -c '^train, '",
         0, "1", "");
  expect("LINES=24 " NETC " examples/llama3.net --gpu h100 | "
         "grep -c '^train, '",
         0, "1", "");
  expect("LINES=24 " NETC " examples/resnet50.net --details "
         "--emit=txt=/dev/stdout | grep -c '^train, '",
         0, "1", "");
  if (!on_path("script"))
    skip();
  expect("script -qec 'stty rows 20 cols 80; " NETC_PATH
         " examples/resnet50.net --gpu t4' /dev/null | tail -n 4",
         0, "  \x1b[1;32mFITS\x1b[0m\r\ntrain, ", "");
  expect("NO_COLOR=1 script -qec '" NETC_PATH
         " examples/resnet50.net --gpu t4' /dev/null | grep -c '\x1b.1;32m'",
         1, "0", "");
}

static void a_brief_report_is_the_answer(void **state) {
  (void)state;
  struct run r = run(NETC " examples/resnet50.net --brief");
  assert_int_equal(r.status, 0);
  assert_int_equal(strncmp(r.out, "resnet50   25.6 M parameters\ntrain, ", 36),
                   0);
  assert_holds(r.out, "\n  needs      353 MiB   ");
  assert_holds(r.out, "\n  inference  ");
  assert_null(strstr(r.out, "stem"));
  run_free(&r);
  r = run(NETC " examples/resnet50.net --predict --gpu t4 --brief");
  assert_int_equal(strncmp(r.out, "resnet50   25.6 M parameters  ", 30), 0);
  assert_holds(r.out, "  FITS\ninference, ");
  assert_null(strstr(r.out, "layer"));
  run_free(&r);
  expect(NETC " examples/resnet50.net --gpu t4 --batch 512 --brief", 0,
         "\n  fits with  --checkpoint auto ", "");
  r = run(NETC " examples/resnet50.net --gpu t4,h100 --brief");
  assert_int_equal(strncmp(r.out, "device ", 7), 0);
  run_free(&r);
}

/* 24 lines of 80 characters, and each of its commands does what it says. */
static void help_fits_a_screen(void **state) {
  (void)state;
  expect(NETC " help | wc -l", 0, "23", "");
  expect(NETC " --help | awk 'length > 79' | wc -l", 0, "0", "");
  expect(NETC " help all", 0, "--tensor-parallel N", "");
  const char *dir = scratch("questions");
  struct run r = run("n=" NETC_PATH "; cp examples/llama3.net %s/FILE.net; "
                     "cp examples/simple_cnn.net %s/old.net; cd %s; "
                     "$n old.net -o model.onnx 2>/dev/null; "
                     "$n help | sed -n 's/^  .*[?]  *netc //p' >questions; "
                     "grep -c . questions; "
                     "while read -r q; do $n $q >out 2>err || [ $? = 1 ] || "
                     "{ echo \"$q\"; cat err; }; done <questions",
                     dir, dir, dir);
  assert_string_equal(r.err, "");
  assert_string_equal(r.out, "12\n");
  run_free(&r);
}

static void the_manual_page_has_every_command_and_option(void **state) {
  (void)state;
  struct run r = run(
      "n=" NETC_PATH "; { cat docs/netc.1.scd; $n help manual; } | "
      "tr -d '\\\\' >%s/manual; "
      "for c in $($n help all | sed -n 's/^  netc \\([a-z]*\\) .*/\\1/p'); do "
      "grep -q \"^\\*netc $c\\*\" %s/manual || echo \"$c: synopsis\"; "
      "grep -q \"^\\*$c\\* \\| \\*$c\\* \" %s/manual || echo \"$c: text\"; "
      "for o in $($n help $c | grep -o -e '--[a-z][a-z-]*'); do "
      "grep -q -e \"$o\" %s/manual || echo \"$c: $o\"; done; done; "
      "for o in $($n help all | grep -o -e '--[a-z][a-z-]*'); do "
      "grep -q -e \"$o\" %s/manual || echo \"$o\"; done",
      scratch("manual"), scratch("manual"), scratch("manual"),
      scratch("manual"), scratch("manual"));
  assert_string_equal(r.out, "");
  run_free(&r);
}

/* The commands of docs/ci.md must not end a script under `set -e`. */
static void a_difference_need_not_end_a_job(void **state) {
  (void)state;
  expect("set -e; " NETC " diff examples/resnet50.net examples/vgg16.net "
         ">/dev/null; echo on",
         1, "", "");
  expect("set -e; " NETC " diff --exit-zero --markdown examples/resnet50.net "
         "examples/vgg16.net >/dev/null; echo on",
         0, "on", "");
  expect(NETC " diff --exit-zero examples/resnet50.net "
              "tests/golden/errors/an-empty-file.net",
         1, "", "no-input");
}

/* A host of no size is asked for nothing: it is told what it needs. */
static void a_host_may_have_any_size(void **state) {
  (void)state;
  static const char offload[] = NETC " examples/llama3.net --data-parallel 8 "
                                     "--zero 3 --offload optimizer --gpu h100 "
                                     "--brief --units bytes";
  struct run r = run("%s", offload);
  char *needs = strstr(r.out, "\n  host  ");
  assert_non_null(needs);
  long long bytes = 0;
  for (needs += strlen("\n  host  "); *needs != 'B'; needs++)
    if (*needs >= '0' && *needs <= '9')
      bytes = bytes * 10 + *needs - '0';
  run_free(&r);
  for (int less = 0; less < 2; less++) {
    r = run("%s --must-fit --host-memory %lld", offload, bytes - less);
    assert_int_equal(r.status, less);
    assert_true(!strstr(r.out, "  DOES NOT FIT\n") == !less);
    assert_true(!strstr(r.out, "\n  fits with  ") == !less);
    run_free(&r);
  }
}

/* The values that the error names work: the first that the total stride
 * divides. Below 16018 none works. */
static void sizes_that_are_offered_work(void **state) {
  (void)state;
  static const char unet[] =
      NETC " check -Wno-pool-remainder -Wno-stride-remainder tests/golden/"
           "errors/a-u-net-";
  expect(NETC " check tests/golden/errors/"
              "a-u-net-of-sound-whose-steps-do-not-meet.net",
         1, "", "with input 16020x1 all sizes match");
  for (int length = 16001; length <= 16018; length++) {
    struct run r = run("%sof-sound-whose-steps-do-not-meet.net --input %dx1",
                       unet, length);
    assert_int_equal(r.status, length < 16018);
    run_free(&r);
  }
  struct run sound = run("%sof-sound-whose-steps-do-not-meet.net --input "
                         "16020x1",
                         unet);
  assert_int_equal(sound.status, 0);
  run_free(&sound);
  struct run r = run("%swhose-maps-do-not-meet.net --input 352x528x1", unet);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* LoRA as an option, and the same net written by hand; but for columns. */
static void lora_is_what_would_be_written(void **state) {
  (void)state;
  static const struct {
    const char *net, *edits, *lora, *others;
  } cases[] = {
      {"llama3.net",
       "-e 's/^embed/freeze {; embed/' -e 's/^train/}; train/' "
       "-e 's/attention heads/& lora=16 lora_on=qkvo lora_dtype=f32/'",
       "16:f32", "--base nf4 --dtype bf16 --precision full --gpu rtx4090"},
      {"zoo/bert.net",
       "-e 's/^from tokens/freeze {; &/' -e 's/^train/}; &/' "
       "-e 's/attention num_attention_heads/& lora=8 lora_on=qkvo/' "
       "-e 's/linear hidden_size tanh/linear hidden_size lora=8 tanh/' "
       "-e 's/    linear [a-z]*_size/& lora=8/'",
       "8:all", "--optimizer adamw --gpu t4"},
      {"llama3.net",
       "-e 's/^embed/freeze {; embed/' -e 's/^train/}; train/' "
       "-e 's/attention heads/& lora=8 lora_on=qv lora_alpha=16 "
       "lora_dropout=0.05/'",
       "8:qv:alpha=16:dropout=0.05", "--dtype bf16 --gpu rtx4090"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *dir = scratch("lora");
    struct run r = run(
        "mkdir %s/a %s/b; cp examples/%s %s/a/x.net; "
        "sed %s examples/%s >%s/b/x.net; cd %s/a; "
        "%s x.net --lora %s %s -o ../a.json -o ../a.net; cd ../b; "
        "%s x.net %s -o ../b.json -o ../b.net; cd ..; "
        "sed -i 's/\"col\": [0-9]*//g' a.json b.json; "
        "cmp a.json b.json && cmp a.net b.net && grep -c lora= a.net",
        dir, dir, cases[i].net, dir, cases[i].edits, cases[i].net, dir, dir,
        NETC_PATH, cases[i].lora, cases[i].others, NETC_PATH, cases[i].others);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.err, "");
    assert_string_equal(r.out, i == 1 ? "37\n" : "32\n");
    run_free(&r);
  }
  expect(NETC " examples/llama3.net --lora 16 --brief", 0,
         "llama3   8.04 B parameters, 13.6 M trained\n", "");
  expect(NETC " examples/llama3.net --lora 16 --emit=json", 0,
         "\"trainable_count\": 13631488,", "");
  expect(NETC " examples/llama3.net --lora 16 --unfold | tr -s '\\n ' ' '", 0,
         " nobias lora=16 lora_on=qkvo ", "");
  expect(NETC " examples/resnet50.net --lora 16", 2, "", "--lora 16:all");
  static const char *const wrong[] = {
      "16:al",          "16:all:qv",         "16:qv:qkv",      "16:f32:bf16",
      "16:dropout=1.5", "16:dropout=",       "16:alpha=1.2.3", "16:alpha=0",
      "16:alpha=1e3",   "16:alpha=1:alpha=2"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    expect(text_of(NETC " examples/llama3.net --lora %s", wrong[i]), 2, "",
           "`16:all`, `16:qv:f32`");
  expect(NETC " examples/llama3.net --lora 16:qv --brief", 0,
         "LoRA of rank 16 on qv of attention, ", "");
  expect(NETC " examples/resnet50.net --lora 16:all --brief", 0,
         "resnet50   25.6 M parameters, 48,768 trained\n", "");
  expect(NETC " examples/resnet50.net --lora 16:all", 0,
         " fc 1000 lora=16 frozen ", "");
  /* As PEFT prints it for all-linear of Llama 3 8B, without the output layer.
   */
  expect(
      NETC " examples/llama3.net --lora 8:all --loss fused_crossentropy "
           "--brief | tr -s '\\n ' ' '",
      0,
      "8.05 B parameters, 21.0 M trained train, batch 1, AdamW, LoRA of rank "
      "8 on all dense layers but the output, ",
      "");
  expect(NETC " examples/llama3.net --lora 8:all --emit=json", 0,
         "\"trainable_count\": 20971520,", "");
}

/* Llama 2 7B in nf4 with adapters, as QLoRA trains it: 12.38 GiB. */
static void qlora_needs_no_other_net(void **state) {
  (void)state;
  const char *dir = scratch("qlora");
  char path[300];
  snprintf(path, sizeof path, "%s/llama2.net", dir);
  FILE *file = fopen(path, "w");
  fputs("input tokens 2048 : i32\nembed 32000 4096\nrepeat 32 {\n"
        "add { rmsnorm; attention 32 causal rope nobias } {}\n"
        "add { rmsnorm; mul { linear 11008 nobias silu } "
        "{ linear 11008 nobias }; linear 4096 nobias } {}\n}\n"
        "rmsnorm\nlinear 32000 nobias\n"
        "train optimizer=adamw dtype=bf16 loss=crossentropy\n",
        file);
  fclose(file);
  struct run r = run(NETC " %s --lora 16 --base nf4 --brief", path);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "\n  needs      13.4 GiB   ");
  run_free(&r);
  r = run(NETC " %s --lora 16 --base nf4 --details", path);
  assert_holds(r.out, "  13.38 GiB ");
  run_free(&r);
}

/* Sizes that no one writes by hand. Each must end, and quickly. */

static void make_file(const char *dir, const char *name, const char *head,
                      const char *piece, size_t times, const char *tail) {
  char path[300];
  size_t length = strlen(piece);
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "wb");
  fputs(head, file);
  for (size_t i = 0; i < times; i++)
    fwrite(piece, 1, length, file);
  fputs(tail, file);
  fclose(file);
}

/* A line that rewrites itself and is gone when there is something to say. */
static void what_lasts_shows_its_progress_on_a_terminal(void **state) {
  (void)state;
  static const char job[] = /* of a second, and a pause */
      " plan tests/data/planner/minimalloc/J.1048576.csv --effort 500000";
  struct run r = run("TERM=xterm tests/terminal.py --pause " NETC "%s", job);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "\rnetc: planning the arena, ");
  assert_holds(r.out, " %\x1b[K\r");
  const char *end = strstr(r.out, "\r\x1b[K"), *last = strrchr(r.out, '\x1b');
  assert_non_null(end);
  assert_ptr_equal(end + 1, last); /* erased once, and nothing after it */
  assert_non_null(strstr(end, "409 buffers"));
  run_free(&r);
  r = run("TERM=dumb tests/terminal.py --pause " NETC "%s", job);
  assert_null(strstr(r.out, "planning"));
  run_free(&r);
  r = run("TERM=xterm " NETC "%s", job);
  assert_null(strstr(r.err, "planning"));
  assert_null(strchr(r.err, '\r'));
  run_free(&r);
  /* A quick run prints no progress. */
  r = run("TERM=xterm tests/terminal.py " NETC " examples/unet.net");
  assert_string_equal(r.out, "");
  run_free(&r);
}

static void extreme_texts_end_with_an_error_and_not_with_a_crash(void **state) {
  (void)state;
  const char *dir = scratch("extreme");
  make_file(dir, "braces.net", "input 8\n", "{", 100000, "\n");
  make_file(dir, "parens.net", "let a = ", "(", 100000, "\n");
  make_file(dir, "brackets.net", "for a in ", "[", 100000, "\n");
  make_file(dir, "closing.net", "input 8\n", "}", 100000, "\n");
  make_file(dir, "sum.net", "let a = 1", "+1", 500000, "\n");
  make_file(dir, "minus.net", "let a = ", "-", 500000, "1\n");
  make_file(dir, "power.net", "let a = 2", "**1", 300000, "\n");
  make_file(dir, "not.net", "let a = ", "not ", 250000, "true\n");
  make_file(dir, "sizes.net", "input 1", "x1", 500000, "\n");
  make_file(dir, "any.net", "input _", "x_", 500000, "\n");
  make_file(dir, "elses.net", "input 8\n", "if false { relu } else ", 50000,
            "{ relu }\n");
  make_file(dir, "name.net", "input 8\n", "a", 1000000, "\n");
  make_file(dir, "digits.net", "input ", "9", 1000000, "\n");
  make_file(dir, "comment.net", "#", "-", 1000000, "\n");
  make_file(dir, "string.net", "use \"", "a", 1000000, "\"\n");
  make_file(dir, "words.net", "input 8\nfc 8", " relu6", 170000, " x\n");
  make_file(dir, "commas.net", "let a = min(1", ",1", 500000, ")\n");
  make_file(dir, "nulls.net", "", "\001", 100000, "");
  make_file(dir, "quotes.net", "", "\"", 100001, "\n");
  make_file(dir, "lines.net", "", "\n", 1000000, "");
  struct paths nets = find_paths(dir, ".net");
  assert_int_equal(nets.count, 20);
  for (size_t i = 0; i < nets.count; i++) {
    struct run r = run("timeout 10 " NETC " check %s", nets.at[i]);
    if (r.status != 1 || strlen(r.err) > 60000)
      print_error("%s: status %d\n%.300s\n", nets.at[i], r.status, r.err);
    assert_int_equal(r.status, 1);
    assert_true(strlen(r.err) < 60000);
    assert_holds(r.err, ": error: ");
    run_free(&r);
  }
  paths_free(&nets);
}

static void large_texts_that_are_right_are_compiled(void **state) {
  (void)state;
  const char *dir = scratch("large");
  make_file(dir, "layers.net", "input 8x8x4\n", "conv 4 3x3 pad relu6\n", 50000,
            "");
  make_file(dir, "semicolons.net", "input 8x8x4", ";conv 4 3x3 pad", 60000,
            "\n");
  make_file(dir, "operands.net", "input 8x8x4\nconcat", " {}", 30000, "\n");
  char path[300];
  snprintf(path, sizeof path, "%s/lets.net", dir);
  FILE *file = fopen(path, "wb");
  for (int i = 0; i < 60000; i++)
    fprintf(file, "let a%d = %d\n", i, i);
  fputs("input 8x8x4\nconv a59999 1x1\n", file);
  fclose(file);
  struct paths nets = find_paths(dir, ".net");
  for (size_t i = 0; i < nets.count; i++) {
    struct run r = run("timeout 20 " NETC " -Wno-unused-param %s -o %s/x.json"
                       " -o %s/x.net",
                       nets.at[i], dir, dir);
    if (r.status != 0)
      print_error("%s: status %d\n%.300s\n", nets.at[i], r.status, r.err);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  paths_free(&nets);
}

static void a_million_layers_are_compiled(void **state) {
  (void)state;
  const char *dir = scratch("million");
  struct run r = run("printf 'input 32x32x64\\nrepeat 1000000 { conv 64 3x3 "
                     "pad }\\n' >%s/m.net; timeout 60 " NETC
                     " %s/m.net --emit=json | tail -n 80 | grep mac_count; "
                     "printf 'input 8\\nrepeat 1000 { repeat 2000 { relu6 } "
                     "}\\n' >%s/n.net; timeout 60 " NETC " check %s/n.net",
                     dir, dir, dir, dir);
  assert_holds(r.out, "\"mac_count\": 37748736000000");
  assert_holds(r.err, "more than 2,000,000 layers");
  run_free(&r);
}

static void names_of_files_cannot_steer_a_terminal(void **state) {
  (void)state;
  const char *dir = scratch("names");
  static const char *const commands[] = {"check", "fmt --check", "plan",
                                         "--emit=json", "check no-such-file"};
  char path[300];
  snprintf(path, sizeof path, "%s/\x1B[31m\xC2\x9B.net", dir);
  write_text(path, "input 8\n foo\n", 13);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    struct run r = run(NETC " %s '%s'", commands[i], path);
    assert_true(r.status != 0);
    assert_null(strchr(r.err, '\x1B'));
    assert_null(strstr(r.err, "\xC2\x9B"));
    assert_holds(r.err, "?[31m\xEF\xBF\xBD.net");
    run_free(&r);
  }
}

/* `netc layers NAME` begins with the name and shows how it is written. */
static void every_layer_says_how_it_is_written(void **state) {
  (void)state;
  struct run r = run(
      "n=0; for l in $(%s layers | sed -n 's/^  \\([a-z0-9]*\\)  .*/\\1/p'); "
      "do said=$(%s layers $l) || echo \"$l: $?\"; n=$((n + 1)); "
      "case $said in \"$l: \"*\"  $l\"*) ;; *) echo \"$l: $said\";; esac; "
      "done; [ $n -gt 60 ]",
      NETC, NETC);
  assert_string_equal(r.out, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
  expect(NETC " layers conv", 0, "  conv CHANNELS KERNEL [/STRIDE] [pad=SIZE]",
         "");
  expect(NETC " layers --markdown", 0, "- `channels`: channels of the output",
         "");
}

/* All shells know all options; only those of a choice have words. */
static void shells_complete_every_option(void **state) {
  (void)state;
  expect(NETC " completion zsh", 0, "'--batch=[batch size]:value:", "");
  expect(NETC " completion fish", 0,
         "complete -c netc -l batch -r -f -a '' -d 'batch size'", "");
  struct run r = run(
      "for o in $(%s help manual | sed -n 's/^\\*--\\([a-z-]*\\).*/\\1/p'); "
      "do for s in bash zsh fish; do %s completion $s | grep -q -e \"$o\" || "
      "echo \"$s: $o\"; done; done",
      NETC, NETC);
  assert_string_equal(r.out, "");
  run_free(&r);
}

/* --input has bounds as the statement has; the rest is that net's. */
static void input_gives_bounds(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"input 16x4", "--input 1..9x_"},
      {"input x 1..9x4", "--input x=1..9x4"},
      {"input 2..30x4", "--input 1..9x4"},
  };
  struct run bounds =
      run("echo 'input 1..9x4; conv 3 1' | %s - --details | tail -n 6", NETC);
  assert_holds(bounds.out, "1x4");
  assert_holds(bounds.out, "9x4");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct run r = run("echo '%s; conv 3 1' | %s - --details %s | tail -n 6",
                       rows[i][0], NETC, rows[i][1]);
    assert_string_equal(r.out, bounds.out);
    run_free(&r);
  }
  run_free(&bounds);
  struct run r =
      run("echo 'input 1..9x4; conv 3 1' | %s - --details --input 7x_ | "
          "grep -c Bounds",
          NETC);
  assert_string_equal(r.out, "0\n");
  run_free(&r);
  r = run("echo 'input 9x4; conv 3 1' | %s - --input 9..1x4", NETC);
  assert_int_equal(r.status, 2);
  assert_holds(
      r.err,
      "--input 9..1x4: bounds must increase, from at least 1; write `1..9`");
  run_free(&r);
  r = run("echo 'input 9x4; flatten; fc 3' | %s - --input 1..9x4", NETC);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "the number of weights depends on this size");
  run_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exit_statuses_are_as_documented),
      cmocka_unit_test(every_layer_says_how_it_is_written),
      cmocka_unit_test(shells_complete_every_option),
      cmocka_unit_test(all_settings_may_be_given_at_once),
      cmocka_unit_test(slips_of_the_command_line_are_explained),
      cmocka_unit_test(options_of_other_programs_are_known),
      cmocka_unit_test(options_of_other_programs_lead_to_ours),
      cmocka_unit_test(old_spellings_are_accepted),
      cmocka_unit_test(an_offer_can_be_taken),
      cmocka_unit_test(what_is_no_value_is_told_what_is),
      cmocka_unit_test(a_prediction_has_a_verdict),
      cmocka_unit_test(tables_compare_batches_devices_and_nets),
      cmocka_unit_test(values_may_be_written_as_people_write_them),
      cmocka_unit_test(a_step_that_does_not_fit_can_fail_a_job),
      cmocka_unit_test(outputs_replace_no_source_and_no_output),
      cmocka_unit_test(standard_input_and_output_are_files_too),
      cmocka_unit_test(several_outputs_come_from_one_run),
      cmocka_unit_test(a_failed_run_leaves_nothing_behind),
      cmocka_unit_test(a_broken_budget_writes_no_file),
      cmocka_unit_test(equal_files_can_be_left_untouched),
      cmocka_unit_test(files_get_the_usual_permissions),
      cmocka_unit_test(only_plain_files_are_replaced),
      cmocka_unit_test(make_follows_the_dependencies),
      cmocka_unit_test(ninja_follows_the_dependencies),
      cmocka_unit_test(a_target_of_ones_own_is_taken),
      cmocka_unit_test(words_of_params_are_refused_where_they_are_allowed),
      cmocka_unit_test(params_are_listed),
      cmocka_unit_test(inputs_take_other_sizes),
      cmocka_unit_test(the_largest_input_fits),
      cmocka_unit_test(devices_may_be_a_table),
      cmocka_unit_test(full_disks_are_noticed),
      cmocka_unit_test(any_write_to_a_file_may_fail),
      cmocka_unit_test(the_longest_names_can_be_written),
      cmocka_unit_test(nets_that_cannot_be_written_have_one_status),
      cmocka_unit_test(a_closed_pipe_is_quiet),
      cmocka_unit_test(a_file_that_is_replaced_keeps_its_mode),
      cmocka_unit_test(a_signal_leaves_nothing_behind),
      cmocka_unit_test(closed_standard_descriptors_harm_no_file),
      cmocka_unit_test(a_file_by_two_paths_is_one_file),
      cmocka_unit_test(names_of_any_kind_are_quoted_or_refused),
      cmocka_unit_test(graphviz_draws_the_diagram),
      cmocka_unit_test(without_graphviz_a_picture_is_refused),
      cmocka_unit_test(a_graphviz_that_fails_leaves_no_picture),
      cmocka_unit_test(fake_dots_are_told),
      cmocka_unit_test(check_mends_what_it_knows),
      cmocka_unit_test(check_leaves_a_file_that_changed),
      cmocka_unit_test(fmt_works_in_place_and_checks),
      cmocka_unit_test(check_takes_several_files),
      cmocka_unit_test(colour_is_for_terminals_only),
      cmocka_unit_test(the_answer_is_seen_on_a_screen),
      cmocka_unit_test(a_brief_report_is_the_answer),
      cmocka_unit_test(help_fits_a_screen),
      cmocka_unit_test(the_manual_page_has_every_command_and_option),
      cmocka_unit_test(a_difference_need_not_end_a_job),
      cmocka_unit_test(a_host_may_have_any_size),
      cmocka_unit_test(sizes_that_are_offered_work),
      cmocka_unit_test(lora_is_what_would_be_written),
      cmocka_unit_test(qlora_needs_no_other_net),
      slow_test(what_lasts_shows_its_progress_on_a_terminal),
      cmocka_unit_test(extreme_texts_end_with_an_error_and_not_with_a_crash),
      cmocka_unit_test(large_texts_that_are_right_are_compiled),
      slow_test(a_million_layers_are_compiled),
      cmocka_unit_test(names_of_files_cannot_steer_a_terminal),
      cmocka_unit_test(input_gives_bounds),
  };
  return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
