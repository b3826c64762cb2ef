/* Pictures that netc draws by itself: charts, TikZ and Mermaid. */
#include <math.h>

#include "codegen/backend.h"
#include "drawing/scene/palette.h"
#include "netc.h"
#include "sema/model/gpu.h"
#include "tests/run.h"

static const char *const kinds[] = {
    "timeline.svg", "arena.svg", "bars.svg",  "roofline.svg", "volumes.svg",
    "tex",          "mmd",       "arena.tex", "volumes.tex"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void check_pictures(const char *folder) {
  struct run r = run("/usr/bin/python3 tests/pictures.py $(find %s -type f "
                     "-name '*.svg' -o -name '*.tex' -o -name '*.mmd')",
                     folder);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* All kinds of a net, "FOLDER/NAME.kind". */
static void draw_but(const char *left_out, const char *options, const char *net,
                     const char *folder, const char *name) {
  char outputs[1024] = "";
  size_t used = 0;
  for (int k = 0; k < KINDS; k++)
    if (strcmp(kinds[k], left_out) != 0)
      used += (size_t)snprintf(outputs + used, sizeof outputs - used,
                               " -o %s/%s.%s", folder, name, kinds[k]);
  struct run r = run(NETC " %s %s %s", options, net, outputs);
  if (r.status)
    print_error("%s: %s", net, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void draw(const char *options, const char *net, const char *folder,
                 const char *name) {
  draw_but("", options, net, folder, name);
}

static void those_of_every_net_are_well_formed(void **state) {
  (void)state;
  const char *folder = scratch("pictures");
  struct paths nets = find_paths("examples", ".net");
  assert_true(nets.count >= 40);
  for (size_t i = 0; i < nets.count; i++) {
    char name[32];
    snprintf(name, sizeof name, "n%zu", i);
    char *text = read_text(nets.at[i], &(size_t){0});
    bool one = strstr(text, "\nbudget "); /* of a prediction of one */
    draw(i % 2 || one ? "--gpu t4"
                      : "--batch 32 --precision mixed --checkpoint 4",
         nets.at[i], folder, name);
    free(text);
  }
  check_pictures(folder);
  paths_free(&nets);
}

static void those_of_golden_cases_are_well_formed(void **state) {
  (void)state;
  static const char *const options[] = {"--depth 0", "--expand",
                                        "--units=bytes",
                                        "--layout=chw --units=si --batch 2"};
  const char *folder = scratch("pictures-golden");
  struct paths nets = find_paths("tests/golden/layers", ".net");
  for (size_t i = 0; i < nets.count; i++) {
    char name[32];
    snprintf(name, sizeof name, "n%zu", i);
    struct run r = run(NETC " check %s", nets.at[i]);
    if (r.status == 0)
      draw(options[i % 4], nets.at[i], folder, name);
    run_free(&r);
  }
  check_pictures(folder);
  paths_free(&nets);
}

static void ten_thousand_layers_stay_small(void **state) {
  (void)state;
  static const char *const nets[] = {
      "input 8x8x4\nrepeat 10000 { conv 4 3x3 pad }\n",
      "input 8x8x4\nrepeat 2500 { add { conv 4 3x3 pad relu; conv 4 3x3 pad } "
      "{} }\n",
      "input 8x8x4\nfor i in 1..3000 { conv i 1x1; relu; drop: dropout 0.1 "
      "}\n"};
  const char *folder = scratch("pictures-long");
  for (size_t i = 0; i < 3; i++) {
    char path[256], name[32];
    snprintf(path, sizeof path, "%s/long%zu.net", folder, i);
    snprintf(name, sizeof name, "long%zu", i);
    write_text(path, nets[i], strlen(nets[i]));
    draw_but(i < 2 ? "" : "tex", "", path, folder, name);
  }
  char command[512];
  snprintf(command, sizeof command, NETC " %s/long2.net -o %s/no.tex", folder,
           folder);
  expect(command, 1, NULL, "more than TeX accepts, but the limit is 1,000");
  check_pictures(folder);
}

static bool collect(void *user, const char *bytes, size_t length) {
  return fwrite(bytes, 1, length, user) == length;
}

static bool tex_is_there(void) {
  struct run r = run("command -v pdflatex && kpsewhich tikz.sty");
  bool there = r.status == 0;
  run_free(&r);
  return there;
}

/* Each makes one page. */
static void tex_takes(const char *folder, const char *files) {
  struct run r =
      run("cd %s && for f in %s; do pdflatex -interaction=nonstopmode "
          "-halt-on-error $f >$f.out && ! grep -q 'Output written.*(2' $f.out "
          "|| { echo $f; exit 1; }; done",
          folder, files);
  if (r.status)
    print_error("see %s/%s.out\n", folder, r.out);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* A file's name may be anything. */
static void names_that_mean_something_else_are_harmless(void **state) {
  (void)state;
  static const char *const names[] = {
      "a<b>&amp;\"'`;--#{}[]()|.net",
      "\\input{/etc/passwd}$x$%_^~&#.net",
      "line\nline\r\ttab\x1b[31m\x01.net",
      "\xE2\x80\xAE\xE2\x81\xA6right to left\xEF\xBB\xBF.net",
      "\xFF\xFE\xC0\x80\xED\xA0\x80\xEF\xBF\xBF.net",
      "]]></title><script>alert(1)</script>--><!--.net",
      "%%{init: {}}%%\nend\n.net",
      "\xE7\xA5\x9E\xE7\xBB\x8F\xF0\x9F\x98\x80.net"};
  static const char text[] = "input 8x8x3\nconv 4 3x3 pad relu\nfc 10\n";
  const char *folder = scratch("pictures-names");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct netc *netc = netc_open(NULL, NULL);
    assert_int_equal(netc_load_text(netc, names[i], text, sizeof text - 1),
                     NETC_OK);
    for (int k = 0; k < KINDS; k++) {
      char path[256];
      snprintf(path, sizeof path, "%s/h%zu.%s", folder, i, kinds[k]);
      FILE *file = fopen(path, "wb");
      assert_non_null(file);
      assert_int_equal(netc_emit(netc, kinds[k], NULL, collect, file), NETC_OK);
      fclose(file);
    }
    netc_close(netc);
  }
  check_pictures(folder);
  struct run r =
      run("cat %s/*.svg | grep -aE '<script|\xE2\x80\xAE|\x1b'", folder);
  assert_string_equal(r.out, "");
  run_free(&r);
  if (tex_is_there())
    tex_takes(folder, "h?.tex");
}

/* Where TeX is there, it is asked. */
static void tex_compiles(void **state) {
  (void)state;
  static const char *const nets[] = {"examples/unet.net",
                                     "examples/zoo/transformer.net",
                                     "examples/inception.net"};
  if (!tex_is_there())
    skip();
  const char *folder = scratch("pictures-tex");
  for (size_t i = 0; i < 3; i++) {
    struct run r = run(NETC " %s -o %s/t%zu.tex", nets[i], folder, i);
    assert_int_equal(r.status, 0);
    run_free(&r);
  }
  tex_takes(folder, "t?.tex");
}

/* Charts and the report have the same figures. */
static void they_say_what_the_report_says(void **state) {
  (void)state;
  expect(NETC " examples/simple_cnn.net --emit=timeline.svg", 0,
         "Peak 115.24 MiB in the backward pass of P2", NULL);
  expect(NETC " examples/simple_cnn.net --emit=timeline.svg", 0,
         "A step, simulated; saved tensors equal PyTorch 2.6's in 80 of 82 "
         "nets; torch2-cuda",
         NULL);
  expect(NETC " examples/simple_cnn.net --emit=timeline.svg "
              "--profile torch1-cpu",
         0, ">A step, exact; torch1-cpu", NULL);
  expect("t='examples/zoo/resnet.net --batch 256 --optimizer adam --gpu t4'; "
         "m=$(" NETC " $t --emit=json | awk '/\"left_bytes\": -/ {"
         " printf \"%.2f GiB too much\", -$2 / 2^30; exit }'); "
         "test -n \"$m\" && " NETC " $t --emit=timeline.svg | "
         "grep -qF \"it does not fit, $m\"",
         0, NULL, NULL);
  expect(NETC " examples/simple_cnn.net --emit=arena.svg", 0,
         "Arena 390.62 KiB = the lower bound", NULL);
  expect(NETC " examples/zoo/llama.net --emit=arena.svg", 0,
         "; 13 equal spans of 40 steps are left out", NULL);
  expect(NETC " examples/zoo/llama.net --emit=arena.svg | "
              "grep -c '>attention[0-9]*.matmul</text'",
         0, "6", NULL); /* of 32 blocks */
  expect(NETC " examples/resnet50.net --emit=arena.svg | grep -c 'equal spans'",
         1, "0", NULL);
  expect(NETC " examples/simple_cnn.net --emit=bars.svg", 0,
         "4,632,902 parameters, 18,293,000 multiply-accumulates", NULL);
  expect(NETC " examples/vgg16.net --emit=roofline.svg", 0,
         "no --gpu was given", NULL);
  expect(NETC " examples/vgg16.net --gpu t4 --dtype bf16 --emit=roofline.svg",
         0, "bfloat16, for which no figure is known: the roof is for float32",
         NULL);
  expect(NETC " examples/unet.net --emit=volumes.svg | grep -c 'class=\"skip\" "
              "d=\"M[^\"]*V[^\"]*H[^\"]*V'",
         0, "4", NULL);
}

static double height_of(const char *net, const char *options) {
  struct run r = run(NETC " examples/%s.net %s", net, options);
  const char *height = strstr(r.out, "height=\"");
  assert_non_null(height);
  double value = atof(height + 8);
  run_free(&r);
  return value;
}

/* Names of rows, from the largest size down, one a line. */
static void expect_rows(const char *net, const char *rows) {
  expect(text_of(NETC " examples/%s --emit=volumes.svg | sed -n 's/.*\"text\" "
                      "x=\"16\"[^>]*>\\(.*\\)<.*/\\1/p' | tr '\\n' ' '",
                 net),
         0, rows, NULL);
}

/* A row for each size, where ResNet is a line; a U stays one on a column of a
 * paper, and its skips run level. */
static void volumes_that_grow_again_are_in_rows(void **state) {
  (void)state;
  expect_rows("unet.net", "128×128 64×64 32×32 16×16 ");
  expect_rows("unet.net --width 240pt", "128×128 64×64 32×32 16×16 ");
  expect_rows("zoo/sd_unet.net", "32×32 16×16 8×8 ");
  expect_rows("zoo/hrnet.net", "128×96 64×48 32×24 16×12 8×6 ");
  expect_rows("zoo/yolov8.net", "320×320 160×160 80×80 40×40 20×20 ");
  expect_rows("zoo/retinanet.net",
              "400×400 200×200 100×100 50×50 25×25 13×13 7×7 ");
  expect_rows("zoo/unetpp.net", "128×128 64×64 32×32 16×16 ");
  expect(NETC " examples/zoo/resnet.net --emit=volumes.svg | "
              "grep -c 'Maps of one size'",
         1, "0", NULL);
  expect(NETC " examples/zoo/sd_unet.net --emit=volumes.svg", 0,
         "A number is a vector", NULL);
  expect(NETC " examples/zoo/sd_unet.net --emit=volumes.svg | "
              "grep -c 'not drawn'",
         1, "0", NULL);
  expect(NETC " examples/unet.net --emit=volumes.svg | grep -c 'class=\"skip\" "
              "d=\"M[^\"HV]*H[^\"HV]*V[^\"HV]*\"'",
         0, "4", NULL);
  expect(NETC " examples/unet.net --width 240pt --emit=volumes.svg | "
              "grep -c 'class=\"skip\" d=\"M[^\"HV]*H[^\"HV]*\"'",
         0, "5", NULL); /* four skips, and the input */
}

/* Turns of other sizes are one row, or drawn as their first, and none is left
 * out; the dearest layers are named at their dots. */
static void charts_of_deep_nets_show_all_of_them(void **state) {
  (void)state;
  expect(NETC " examples/zoo/densenet.net --emit=bars.svg", 0,
         ">conv40 × 24</text>", NULL);
  expect(NETC " examples/zoo/densenet.net --emit=bars.svg | "
              "grep -c ' others</text>'",
         1, "0", NULL);
  expect(NETC " examples/zoo/densenet.net --emit=volumes.svg | "
              "grep -c 'left out'",
         1, "0", NULL);
  expect(NETC " examples/zoo/densenet.net --emit=volumes.svg", 0,
         "Repeats with other sizes", NULL);
  expect(NETC " examples/zoo/detr.net --emit=volumes.svg | "
              "grep -c 'left out'",
         1, "0", NULL);
  expect(NETC " examples/zoo/detr.net --labels=source --emit=volumes.svg", 0,
         ">add13.. +6</text>", NULL);
  expect(NETC " examples/zoo/detr.net --emit=bars.svg", 0,
         ">add1..encoder[1].ln2 × 6</text>", NULL);
  expect(NETC " examples/zoo/detr.net --emit=bars.svg | "
              "grep -c ' others</text>'",
         1, "0", NULL);
  expect(NETC " examples/resnet50.net --emit=roofline.svg | "
              "grep -c 'small over.*>bottleneck[0-9]*.conv[0-9] +'",
         0, "8", NULL);
}

/* A panel of --compare is the chart of a run with these settings. */
static void compared_steps_stand_beside_each_other(void **state) {
  (void)state;
  static const char *const lists[] = {
      "checkpoint=8",
      "precision=mixed",
      "pipeline=4",
      "data-parallel=8 zero=3",
      "optimizer=sgd",
      "pipeline=3 schedule=gpipe microbatches=4",
      "checkpoint=auto memory=2GiB",
      "batch=7 tensor_parallel=2"};
  static const char *const options[] = {
      "--checkpoint 8",
      "--precision mixed",
      "--pipeline 4",
      "--data-parallel 8 --zero 3",
      "--optimizer sgd",
      "--pipeline 3 --schedule gpipe --microbatches 4",
      "--checkpoint auto --memory 2GiB",
      "--batch 7 --tensor-parallel 2"};
  const char *folder = scratch("pictures-compared");
  char path[256], all[1024] = "";
  size_t used = 0;
  for (size_t i = 0; i < 8; i++)
    used += (size_t)snprintf(all + used, sizeof all - used, " --compare \"%s\"",
                             lists[i]);
  snprintf(path, sizeof path, "%s/all.timeline.svg", folder);
  struct run r = run(NETC " examples/resnet50.net --batch 16 %s -o %s -W "
                          "no-uneven-stages",
                     all, path);
  assert_string_equal(r.err, "");
  assert_int_equal(r.status, 0);
  run_free(&r);
  check_pictures(folder);
  r = run("grep -c 'class=\"ring\"' %s", path);
  assert_string_equal(r.out, "9\n");
  run_free(&r);
  for (size_t i = 0; i < 8; i++) {
    /* "Peak 1.85 GiB in the forward pass of conv1" */
    r = run("p=$(" NETC " examples/resnet50.net --batch 16 %s "
            "--emit=timeline.svg | sed -n 's/^<desc[^>]*>Peak \\([^;,.]*\\."
            "[^;,]*[a-z0-9]\\)[;,.].*/\\1/p'); test -n \"$p\" && "
            "grep -qF \"$p\" %s || echo \"$p\"",
            options[i], path);
    if (*r.out)
      print_error("%s: %s", options[i], r.out);
    assert_string_equal(r.out, "");
    run_free(&r);
  }
  expect(NETC " examples/simple_cnn.net --compare 'checkpoint=2'", 0,
         "  as set        115.24 MiB\n", NULL);
}

static void a_comparison_has_settings(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"chekpoint=8", "no option `chekpoint`; did you mean `checkpoint`?"},
      {"precision=mixd", "did you mean `mixed`?"},
      {"checkpoint=8,precision=mixed", "separate arguments with blanks, and "
                                       "statements with `;`"},
      {"--checkpoint 8", "as on a `train` line"},
      {"", "as on a `train` line"},
      {"batch=8\nconv 3", "as on a `train` line"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char command[256];
    snprintf(command, sizeof command,
             NETC " examples/vgg16.net --compare \"%s\"", wrong[i][0]);
    expect(command, 2, NULL, wrong[i][1]);
  }
  expect(NETC " examples/vgg16.net --compare 'checkpoint=auto'", 1, NULL,
         "with --compare \"checkpoint=auto\"");
  expect(NETC " examples/vgg16.net $(for i in 1 2 3 4 5 6 7 8 9; do "
              "echo --compare batch=$i; done)",
         2, NULL, "at most 8");
}

static void a_suffix_of_two_words_is_a_chart(void **state) {
  (void)state;
  const char *folder = scratch("pictures-suffix");
  char command[1024];
  snprintf(command, sizeof command,
           NETC " examples/vgg16.net -o %s/a.b.bars.svg -o %s/a.bars.txt && "
                "grep -q bars-title %s/a.b.bars.svg && "
                "grep -q total %s/a.bars.txt",
           folder, folder, folder, folder);
  expect(command, 0, NULL, NULL);
  static const char *const diagrams[] = {"dot", "mmd", "html"};
  for (size_t i = 0; i < sizeof diagrams / sizeof *diagrams; i++) {
    snprintf(command, sizeof command,
             NETC " examples/vgg16.net -o %s/no.bars.%s; s=$?; "
                  "test ! -e %s/no.bars.%s && exit $s",
             folder, diagrams[i], folder, diagrams[i]);
    expect(command, 2, NULL,
           "this chart is written as svg, pdf, tex and png: `-o");
  }
  expect(NETC " examples/vgg16.net -o x.bar.svgg", 2, NULL, "timeline.svg");
}

/* Every kind by its suffix in small and in capital letters: the same bytes. */
static void a_suffix_may_be_of_any_case(void **state) {
  (void)state;
  static const char *const suffixes[][2] = {
      {"svg", "SVG"},
      {"pdf", "Pdf"},
      {"tex", "TEX"},
      {"json", "JSON"},
      {"timeline.pdf", "Timeline.PDF"},
      {"arena.svg", "ARENA.svg"},
      {"bars.tex", "Bars.Tex"},
      {"h", "H"},
  };
  const char *folder = scratch("pictures-case");
  char command[1024];
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    const char *small = suffixes[i][0], *large = suffixes[i][1];
    snprintf(command, sizeof command,
             NETC " examples/vgg16.net -o %s/a.%s -o %s/b.%s && "
                  "cmp %s/a.%s %s/b.%s",
             folder, small, folder, large, folder, small, folder, large);
    expect(command, 0, NULL, NULL);
  }
  snprintf(command, sizeof command,
           NETC " examples/vgg16.net -o %s/no.Volumes.HTML", folder);
  expect(command, 2, NULL, "this chart is written as svg, pdf, tex and png");
}

/* Each file of a chart has its text, and a PNG is as large. */
static void charts_are_drawn_for_paper_too(void **state) {
  (void)state;
  static const char *const charts[][2] = {
      {"timeline", "memory through one training step"},
      {"arena", "arena for inference"},
      {"bars", "parameters, MACs and saved bytes"},
      {"roofline", "its layers under the roof"},
      {"volumes", "tensors that flow through the net"}};
  const char *folder = scratch("pictures-paper");
  for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) {
    const char *name = charts[i][0], *title = charts[i][1];
    char command[1024];
    snprintf(command, sizeof command,
             NETC " examples/simple_cnn.net -Wno-pool-remainder -o %s/a.%s.pdf "
                  "-o %s/a.%s.tex -o %s/a.%s.png && "
                  "/usr/bin/python3 tests/pdf.py %s/a.%s.pdf | "
                  "grep -q '%s' && "
                  "grep -q 'node.*%s' %s/a.%s.tex && "
                  "od -An -tu1 -j16 -N4 %s/a.%s.png",
             folder, name, folder, name, folder, name, folder, name, title,
             title, folder, name, folder, name);
    expect(command, 0, "0   0   8  85", NULL); /* 800 pt at 192 dpi */
  }
}

/* Publishers refuse PDFs with fonts that are not in the file. */
static void fonts_are_in_the_file(void **state) {
  (void)state;
  const char *folder = scratch("pictures-fonts");
  struct paths nets = find_paths("examples", ".net");
  for (size_t i = 0; i < nets.count; i++) {
    char command[1024];
    snprintf(command, sizeof command,
             NETC " %s -o %s/x.pdf -o %s/y.volumes.pdf >/dev/null && "
                  "/usr/bin/python3 tests/pdf.py %s/*.pdf",
             nets.at[i], folder, folder, folder);
    if (in_part(i, 8))
      expect(command, 0, "\n", NULL);
  }
  paths_free(&nets);
  expect(text_of(NETC " examples/simple_cnn.net -o %s/z.pdf --title "
                      "'Größe α→β ≤ ½ "
                      "– Łukasz … 漢' && "
                      "/usr/bin/python3 tests/pdf.py %s/z.pdf",
                 folder, folder),
         0,
         "Größe α→β ≤ ½ – "
         "Łukasz … ?\n",
         NULL);
  if (on_path("pdffonts"))
    expect(text_of("pdffonts %s/z.pdf", folder), 0, "yes yes yes", NULL);
}

/* The words of papers, a title, no legend, and the width of a column. */
static void papers_have_their_way(void **state) {
  (void)state;
  const char *folder = scratch("pictures-plain");
  const char *const options =
      "--labels=plain --legend=none --title \"A <b> & c\" --width 240pt";
  char command[1024];
  snprintf(command, sizeof command,
           NETC " examples/zoo/vit.net %s -o %s/v.svg -o %s/v.bars.svg "
                "-o %s/v.volumes.pdf && cat %s/v.svg",
           options, folder, folder, folder, folder);
  struct run r = run("%s", command);
  assert_int_equal(r.status, 0);
  static const char *const there[] = {
      "width=\"239.9pt\"", ">Layer norm<", ">Multi-head attention (12)<",
      ">A &lt;b&gt; &amp; c<", "16\u00D716 conv, 768"};
  static const char *const gone[] = {">convolution<", "packed<", ">ln<",
                                     "wider for more bytes"};
  for (size_t i = 0; i < sizeof there / sizeof *there; i++)
    assert_non_null(strstr(r.out, there[i]));
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
    assert_null(strstr(r.out, gone[i]));
  run_free(&r);
  snprintf(command, sizeof command,
           "grep -q 'width=\"240pt\"' %s/v.bars.svg && "
           "! grep -q 'Saved bytes: ' %s/v.bars.svg && "
           "grep -aq 'MediaBox .0 0 240 ' %s/v.volumes.pdf",
           folder, folder, folder);
  expect(command, 0, NULL, NULL);
  /* In two columns; folded where one page cannot hold it. */
  static const struct {
    const char *net;
    int height;
  } columns[] = {{"zoo/vit", 370},      {"zoo/swin", 770},
                 {"resnet50", 640},     {"zoo/yolov3", 830},
                 {"zoo/sd_unet", 1080}, {"zoo/detr", 1310}};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    assert_true(height_of(columns[i].net,
                          "--labels=plain --legend=none --title '' "
                          "--width 240pt --emit=svg") < columns[i].height);
  expect(
      NETC " examples/vgg16.net --width 240 --emit=svg", 2, NULL,
      "--width 240: write a length with a unit (pt, mm, cm or in): `--width");
  expect(NETC " examples/vgg16.net --width 1mm --emit=svg", 2, NULL,
         "from 100pt to 30000pt");
  expect(NETC " examples/vgg16.net --height 1mm --emit=svg", 2, NULL,
         "--height 1mm: the height must be from 100pt to 30000pt");
  expect(NETC " examples/vgg16.net --height 200mm --emit=bars.svg", 2, NULL,
         "--height is for diagrams: add `-o x.svg`, `x.pdf`, `x.png` or");
  expect(NETC " examples/zoo/yolov8.net --direction=lr --width 84mm --emit=svg "
              ">/dev/null",
         0, NULL, "yolov8.net: note: the page is too small: the diagram is ");
  expect(text_of(NETC " examples/unet.net --height 40mm -o %s/u.tex -o "
                      "%s/u.png 2>&1 | grep -o 'note: .*small'",
                 folder, folder),
         0, "note: the page is too small\nnote: the page is too small\n", NULL);
  expect(NETC " examples/vgg16.net --title '' --emit=bars.svg", 0, NULL, NULL);
}

/* No link, no tooltip and no title says where a source was. */
static void papers_name_no_file(void **state) {
  (void)state;
  static const char *const sources[] = {"$PWD/examples/unet.net", "zoo:resnet"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    expect(text_of("for kind in svg dot mmd tex pdf volumes.svg bars.svg "
                   "timeline.svg arena.svg; do " NETC " %s --labels=plain "
                   "--emit=$kind || exit; done 2>/dev/null | grep -a -e "
                   "'net\\.net' -e /examples -e 'href='; test $? = 1",
                   sources[i]),
           0, NULL, NULL);
  expect(
      NETC
      " $PWD/examples/unet.net --labels=source --emit=svg | grep -c 'href=\"/'",
      0, NULL, NULL);
}

/* Whole lines, in the overview, for each edge of a paper's figure. */
static void a_picture_has_the_edges_of_its_paper(void **state) {
  (void)state;
  expect("/usr/bin/python3 tests/figures.py " NETC " tests/data/figures/*.txt",
         0, "", NULL);
}

/* Kernels, strides, dilations and groups that the net has are all shown. */
static void letters_hide_nothing_that_differs(void **state) {
  (void)state;
  expect("/usr/bin/python3 tests/plain.py " NETC
         " examples/zoo/*.net examples/*.net",
         0, NULL, NULL);
  /* The stem, its pool, and a block for each of three stages. */
  expect(NETC " examples/zoo/detr.net --labels=plain --width 240pt --emit=svg "
              "| grep -cE '>[^<]*(stride |/)2[^<]*</text>'",
         0, "5\n", NULL);
}

/* Those of the manual are what `make docs` makes. */
static void the_manual_shows_what_is_drawn(void **state) {
  (void)state;
  const char *folder = scratch("pictures-docs");
  struct run r = run("tools/charts.sh " NETC " %s && "
                     "diff -rq %s docs/charts && "
                     "for f in docs/charts/*; do grep -q \"(charts/${f##*/})\" "
                     "docs/pictures.md || exit; done",
                     folder, folder);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* Pictures of the manual, which are those that netc draws, are whole. */
static void the_manual_shows_no_faults(void **state) {
  (void)state;
  expect("/usr/bin/python3 tests/pictures.py --shown "
         "$(grep -l aria-labelledby docs/*.svg) docs/charts/*.svg "
         "docs/gallery/*.svg >&2",
         0, NULL, NULL);
}

/* Colours */

static void linear(int colour, double rgb[3]) {
  for (int i = 0; i < 3; i++) {
    double c = (colour >> (16 - 8 * i) & 0xFF) / 255.0;
    rgb[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
  }
}

static double luminance(const double rgb[3]) {
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

/* WCAG 2.1: 4.5 for text. */
static double contrast(int a, int b) {
  double x[3], y[3];
  linear(a, x);
  linear(b, y);
  double high = fmax(luminance(x), luminance(y)) + 0.05;
  return high / (fmin(luminance(x), luminance(y)) + 0.05);
}

static double root(double t) {
  return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void to_lab(const double rgb[3], double lab[3]) {
  double x =
      root((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505);
  double y = root(luminance(rgb));
  double z =
      root((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089);
  lab[0] = 116 * y - 16;
  lab[1] = 500 * (x - y);
  lab[2] = 200 * (y - z);
}

/* Machado, Oliveira, Fernandes 2009, deuteranopia, severity 1. */
static void deuteranope(double rgb[3]) {
  static const double m[3][3] = {{0.367322, 0.860646, -0.227968},
                                 {0.280085, 0.672501, 0.047413},
                                 {-0.011820, 0.042940, 0.968881}};
  double seen[3];
  for (int i = 0; i < 3; i++)
    seen[i] = fmin(
        1, fmax(0, m[i][0] * rgb[0] + m[i][1] * rgb[1] + m[i][2] * rgb[2]));
  memcpy(rgb, seen, sizeof seen);
}

static void colours_are_told_apart(void **state) {
  (void)state;
  for (int i = 0; i < PALETTE_CHART_FILLS; i++) {
    assert_true(contrast(palette_chart_fills[i].fill,
                         palette_chart_fills[i].ink) >= 4.5);
    for (int k = 0; k < i; k++) {
      double a[3], b[3], grey[2][3], seen[2][3];
      linear(palette_chart_fills[i].fill, a);
      linear(palette_chart_fills[k].fill, b);
      to_lab(a, grey[0]);
      to_lab(b, grey[1]);
      deuteranope(a);
      deuteranope(b);
      to_lab(a, seen[0]);
      to_lab(b, seen[1]);
      double distance = sqrt(pow(seen[0][0] - seen[1][0], 2) +
                             pow(seen[0][1] - seen[1][1], 2) +
                             pow(seen[0][2] - seen[1][2], 2));
      if (fabs(grey[0][0] - grey[1][0]) < 10 || distance < 15)
        print_error("fills %d and %d: %.1f in grey, %.1f\n", k, i,
                    fabs(grey[0][0] - grey[1][0]), distance);
      assert_true(fabs(grey[0][0] - grey[1][0]) >= 10 && distance >= 15);
    }
  }
  for (int dark = 0; dark < 2; dark++)
    for (int ink = 1; ink < 3; ink++)
      assert_true(contrast(palette_chart_inks[dark][0],
                           palette_chart_inks[dark][ink]) >= 4.5);
}

/* Devices: a card that computes in 16 bits is not slower at it. */
static void every_gpu_has_a_roof(void **state) {
  (void)state;
  int roofs = 0;
  for (int number = 1; number <= gpu_count(NULL); number++) {
    const struct gpu *gpu = gpu_at(NULL, number);
    int64_t rate = gpu_rate(gpu, ELEMENT_F32);
    roofs += gpu->bandwidth > 0 && rate > 0;
    assert_true(gpu_rate(gpu, ELEMENT_F64) <= rate);
    for (int e = ELEMENT_TF32; e <= ELEMENT_I4; e++)
      assert_true(!gpu_rate(gpu, e) || gpu_rate(gpu, e) >= rate);
  }
  assert_true(roofs >= 50);
  expect(NETC " examples/vgg16.net --gpu apple-64 --emit=roofline.svg", 0,
         "the peaks of apple-64 are not known", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(those_of_every_net_are_well_formed),
      cmocka_unit_test(those_of_golden_cases_are_well_formed),
      cmocka_unit_test(ten_thousand_layers_stay_small),
      cmocka_unit_test(names_that_mean_something_else_are_harmless),
      cmocka_unit_test(tex_compiles),
      cmocka_unit_test(they_say_what_the_report_says),
      cmocka_unit_test(volumes_that_grow_again_are_in_rows),
      cmocka_unit_test(charts_of_deep_nets_show_all_of_them),
      cmocka_unit_test(compared_steps_stand_beside_each_other),
      cmocka_unit_test(a_comparison_has_settings),
      cmocka_unit_test(a_suffix_of_two_words_is_a_chart),
      cmocka_unit_test(a_suffix_may_be_of_any_case),
      cmocka_unit_test(charts_are_drawn_for_paper_too),
      cmocka_unit_test(fonts_are_in_the_file),
      slow_test(fonts_are_in_the_file),
      cmocka_unit_test(papers_have_their_way),
      cmocka_unit_test(papers_name_no_file),
      cmocka_unit_test(a_picture_has_the_edges_of_its_paper),
      cmocka_unit_test(letters_hide_nothing_that_differs),
      cmocka_unit_test(the_manual_shows_what_is_drawn),
      cmocka_unit_test(the_manual_shows_no_faults),
      cmocka_unit_test(colours_are_told_apart),
      cmocka_unit_test(every_gpu_has_a_roof),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
