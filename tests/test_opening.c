/* Messages of `netc FILE` about files that are no sources, and their time. */
#include "tests/run.h"

/* The first bytes of a file, its name, and what must be said of it. */
struct kind {
  char name[40];
  const char *file, *bytes;
  size_t length;
  const char *is, *help;
};

#define BYTES(text) (text), sizeof(text) - 1

static struct kind kinds[] = {
    {"safetensors", "x", BYTES("\x10\x2b\0\0\0\0\0\0{\"__metadata__\":{}}"),
     "this is safetensors", "netc weights MODEL.net --from"},
    {"torch-zip", "x", BYTES("PK\3\4\0\0\x08\x08\0\0resnet/data.pklFB"),
     "a model or weights of PyTorch", "torch.onnx.export("},
    {"torch-script", "x", BYTES("PK\3\4\0\0\x08\x08\0\0lenet/code/a.py"),
     "a model or weights of PyTorch", "torch.onnx.export("},
    {"torch-legacy", "x",
     BYTES("\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."),
     "a model or weights of PyTorch", "torch.onnx.export("},
    {"torch-by-suffix", "x.pth", BYTES("\1\2\3\4"),
     "its name says a model or weights of PyTorch, but its first bytes do not",
     "was the download complete? `file"},
    {"torch-pickle", "x.pth", BYTES("\x80\4\x95\x1f\0\0\0\0\0\0\0}\x94"),
     "a Python pickle", "load it in Python"},
    {"pickle", "x", BYTES("\x80\4\x95\x1f\0\0\0\0\0\0\0}\x94"),
     "a Python pickle", "load it in Python"},
    {"zip", "x", BYTES("PK\3\4\x14\0\0\0\0\0a.txt"), "this is a zip archive",
     "unpack it"},
    {"saved-model", "x", BYTES("\x08\1\x12\xb3\x8c\5\x0a\xd2\1\x12\x06"),
     "a SavedModel of TensorFlow", "tf2onnx.convert --saved-model "},
    {"frozen-graph", "x",
     BYTES("\x0a\x1a\x0a\5input\x12\x0bPlaceholder"
           "\x2a\4\0\0\0\0"),
     "a frozen graph of TensorFlow",
     "--inputs INPUT:0 --outputs OUTPUT:0 --output"},
    {"caffe2", "predict_net.pb",
     BYTES("\x0a\3net\x12\x18\x0a\4\x64\x61ta\x0a\1w\x12\2c1\x1a\0"
           "\x22\4\x43onv"),
     "this is a net of Caffe2", "/init_net.pb --value-info '{"},
    {"caffe2-weights", "init_net.pb",
     BYTES("\x0a\3net\x12\x10\x12\1w\x1a\0\x22\x0fGivenTensorFill"),
     "this is a net of Caffe2", "convert-caffe2-to-onnx "},
    {"executorch", "x.pte", BYTES("\x30\0\0\0ET12\0\0\0\0"),
     "a program of ExecuTorch", "torch.export.save("},
    {"core-ml", "x", BYTES("\x08\4\x12\x3a\x0a\x12\x0a\5image\x1a\x09\x22\7"),
     "this is Core ML", "torch.onnx.export("},
    {"caffemodel", "x", BYTES("\x0a\7VGG_net\xa2\6\x10\x0a\4\x64\x61"),
     "a file of weights of Caffe", ".prototxt"},
    {"caffemodel-without-name", "x",
     BYTES("\xa2\6\x08\x0a\4\x64\x61\x74\x61\x12\0"),
     "a file of weights of Caffe", ".prototxt"},
    {"caffemodel-of-text", "x.caffemodel", BYTES("Not Found\n"),
     "its name says a file of weights of Caffe, but its first bytes do not",
     "`file "},
    {"darknet-weights", "yolo.weights", BYTES("\0\0\0\0\2\0\0\0\0\0\0\0"),
     "a file of weights of Darknet", ".cfg"},
    {"png", "x", BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "this is a picture",
     "reads none"},
    {"jpeg", "x", BYTES("\xff\xd8\xff\xe0\0\x10JFIF"), "this is a picture",
     "reads none"},
    {"pdf", "x", BYTES("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), "this is a PDF",
     "reads none"},
    {"numpy", "x", BYTES("\x93NUMPY\1\0\x76\0{'descr': '<f4'}"),
     "an array of NumPy", "netc run MODEL.net --input"},
    {"utf-16", "x", BYTES("\xff\xfei\0n\0p\0u\0t\0"), "text in UTF-16",
     "iconv"},
    {"zeros", "x", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0"),
     "neither a text nor a model", "netc reads its own sources"},
    {"weight-map", "x.json", BYTES("{\"metadata\": {}, \"weight_map\": {}}"),
     "an index of safetensors files", "config.json"},
    {"mxnet", "x-symbol.json", BYTES("{\"nodes\": [], \"arg_nodes\": [0]}"),
     "a model of MXNet", "mx.onnx.export_model"},
    {"notebook", "x", BYTES("{\"cells\": [], \"nbformat\": 4}"),
     "a Jupyter notebook", "torch.onnx.export("},
    {"json", "package.json", BYTES("{\"name\": \"left-pad\"}"),
     "JSON, but not a model that netc knows", "Keras' .json"},
    {"python-of-keras", "x",
     BYTES("from tensorflow.keras import layers\nmodel = Sequential()\n"),
     "Python with Keras", "model.to_json()"},
    {"python-of-jax", "x", BYTES("import jax\nfrom flax import linen as nn\n"),
     "this is Python\n", "torch.onnx.export("},
    {"python-by-suffix", "x.py", BYTES("print(1)\n"), "this is Python\n",
     "torch.onnx.export("},
    {"printed-model", "x",
     BYTES("Net(\n  (conv1): Conv2d(3, 6, kernel_size=(5, 5))\n)\n"),
     "the output of print(model) in PyTorch", "torch.onnx.export("},
    {"summary", "x",
     BYTES("Model: \"sequential\"\n_____\n Layer (type)   Output Shape\n"),
     "a summary printed by Keras or torchinfo", "model.to_json()"},
    {"yaml", "x.yml", BYTES("a: 1\n"), "this is YAML", "netc reads"},
    {"web-page", "resnet.onnx",
     BYTES("\n<!DOCTYPE html>\n<html lang=\"en\">\n"), "an HTML page", "Raw"},
    {"git-lfs", "model.onnx",
     BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n"),
     "a pointer of Git LFS", "git lfs pull"},
    {"solver", "x.prototxt", BYTES("net: \"a.prototxt\"\nbase_lr: 0.01\n"),
     "a solver of Caffe", "its `net:` or `train_net:` names"},
    {"hdf5-of-text", "x.h5", BYTES("Not Found\n"),
     "its name says HDF5 of Keras, but its first bytes do not", "`file "},
    {"hdf5-of-zip", "x.h5", BYTES("PK\3\4\x14\0\0\0\0\0a.txt"),
     "this is a zip archive", "unpack it"},
    {"safetensors-of-zeros", "x.safetensors", BYTES("\0\0\0\0\0\0\0\0\0\0"),
     "its name says safetensors, but its first bytes do not", "`file "},
    {"tflite-of-text", "x.tflite", BYTES("<p>Too many requests</p>\n"),
     "its name says TensorFlow Lite, but its first bytes do not", "`file "},
    {"gguf-of-zeros", "x.gguf", BYTES("\0\0\0\0\0\0\0\0\0\0"),
     "its name says GGUF, but its first bytes do not", "`file "},
    {"keras-of-xml", "x.keras", BYTES("<?xml version=\"1.0\"?><Error>\n"),
     "this is XML", "OpenVINO's .xml"},
    {"cfg-of-bytes", "x.cfg", BYTES("\1\2\3\4[net]\n"),
     "neither a text nor a model", "Darknet's .cfg"},
    {"json-of-bytes", "x.json", BYTES("\1\2\3\4{}\n"),
     "neither a text nor a model", "Keras' .json"},
    {"buffers", "x.csv", BYTES("# a plan\nid,size,upper,lower\nb1,4,3,0\n"),
     "this is a table of buffers", "netc plan "},
    {"pbtxt", "x", BYTES("node {\n  name: \"input\"\n  op: \"Placeholder\"\n"),
     "a graph of TensorFlow as text", "as_text=False) in Python"},
};

/* A terminal gets ASCII, whatever the file has. */
static void assert_ascii(const char *text) {
  for (; *text; text++)
    assert_true((unsigned char)*text < 0x7f);
}

static void check_kind(void **state) {
  const struct kind *k = *state;
  char path[600];
  snprintf(path, sizeof path, "%s/%s", scratch(k->name), k->file);
  write_text(path, k->bytes, k->length);
  static const char *const commands[] = {
      "", "check", "params", "fmt", "import", "diff examples/vgg16.net"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    struct run r = run(NETC " %s %s", commands[i], path);
    assert_int_equal(r.status, 1);
    assert_int_equal(strlen(r.out), 0);
    assert_holds(r.err, k->is);
    assert_holds(r.err, "\n   = help: ");
    assert_holds(r.err, k->help);
    assert_ascii(r.err);
    run_free(&r);
  }
  struct run r = run(NETC " --diagnostics=json %s", path);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "{\"slug\": \"refused\", \"severity\": \"error\"");
  run_free(&r);
}

/* A download that failed; an empty source has an error of its own. */
static void an_empty_file_is_told(void **state) {
  (void)state;
  static const char *const names[] = {"onnx", "h5",       "json",        "cfg",
                                      "pth",  "prototxt", "safetensors", "xml"};
  static const char *const commands[] = {"", "import", "weights"};
  const char *folder = scratch("empty");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
      struct run r = run("cd %s && : >x.%s && %s %s x.%s", folder, names[i],
                         NETC_PATH, commands[k], names[i]);
      char says[80];
      snprintf(says, sizeof says, "x.%s: error: the file is empty\n", names[i]);
      assert_int_equal(r.status, 1);
      assert_string_equal(r.out, "");
      assert_string_equal(r.err, says);
      run_free(&r);
    }
}

/* Zeros without an end say what they are at once, whatever their name. */
static void a_large_hole_is_told(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"onnx", "truncated or broken ONNX model: "},
      {"h5", "its name says HDF5 of Keras, but its first bytes do not"},
      {"keras",
       "its name says an archive of Keras, but its first bytes do not"},
      {"safetensors", "its name says safetensors, but its first bytes do not"},
      {"json", "neither a text nor a model that netc knows"},
      {"prototxt", "neither a text nor a model that netc knows"},
      {"net", "neither a text nor a model that netc knows"}};
  const char *folder = scratch("hole");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct run r =
        run("cd %s && truncate -s 3G x.%s && { %s %s import x.%s; "
            "status=$?; rm x.%s; exit $status; }",
            folder, names[i][0], SANITIZED ? "" : "ulimit -v 60000 &&",
            NETC_PATH, names[i][0], names[i][0]);
    assert_int_equal(r.status, 1);
    assert_holds(r.err, names[i][1]);
    run_free(&r);
  }
}

/* Files that import reads are compiled, with a note, as their source is. */
static void a_file_with_a_reader_is_compiled(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"darknet/tiny.cfg", "Darknet"},
      {"caffe/cifar10_quick.prototxt", "Caffe"},
  };
  const char *folder = scratch("opening-read");
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char said[200], command[900];
    snprintf(said, sizeof said,
             "%s: note: the file is read as %s; `netc import ", files[i][0],
             files[i][1]);
    snprintf(command, sizeof command,
             "cp tests/data/import/%s %s/bare && " NETC " %s/bare -o %s/a.csv"
             " 2>/dev/null && " NETC " import %s/bare -o %s/b.net && " NETC
             " %s/b.net -o %s/b.csv 2>/dev/null && cmp %s/a.csv %s/b.csv && "
             "cat %s/bare | " NETC " - --depth 0 2>/dev/null | grep -q total &&"
             " " NETC " tests/data/import/%s --gpu t4 --batch 1,2",
             files[i][0], folder, folder, folder, folder, folder, folder,
             folder, folder, folder, folder, files[i][0]);
    expect(command, 0, "batch", said);
  }
  expect(NETC " diff tests/data/import/darknet/tiny.cfg "
              "tests/data/import/darknet/tiny.cfg",
         0, "training", "note: the file is read as Darknet");
  expect(NETC " --diagnostics=json tests/data/import/darknet/tiny.cfg | "
              "grep -q total",
         0, NULL, NULL);
  /* An input of another size; what a reader refuses has its line. */
  expect(NETC " --input 64x64x3 tests/data/import/darknet/tiny.cfg", 0,
         "64x64x3", NULL);
  expect("printf '[net]\\ninputs=3\\n[warp]\\n' | " NETC " -", 1, NULL,
         "<stdin>:3: error: ");
}

/* A file that is not to be replaced, and is what the outputs depend on. */
static void an_imported_file_is_a_source(void **state) {
  (void)state;
  char command[900];
  const char *folder = scratch("opening-source");
  snprintf(command, sizeof command,
           "cp tests/data/import/darknet/tiny.cfg %s/a.json && " NETC
           " %s/a.json -o %s/a.json",
           folder, folder, folder);
  expect(command, 2, NULL, "a source of this net; give it another name");
  snprintf(command, sizeof command,
           NETC " %s/a.json -o %s/a.csv -MD -MF - | grep a.json", folder,
           folder);
  expect(command, 0, "a.json", NULL);
}

/* A writer that never ends is left after 64 KiB, and so is any other file. */
static void no_more_than_64_kib_is_read(void **state) {
  (void)state;
  struct run r = run("{ printf GGUF; head -c 999996 /dev/zero; } | "
                     "{ " NETC " - 2>/dev/null; wc -c; }");
  assert_int_equal(atoi(r.out), 1000000 - 65536);
  run_free(&r);
  const char *folder = scratch("opening-fifo");
  r = run("mkfifo %s/pipe && { cat /dev/zero >%s/pipe & } && "
          "timeout 10 " NETC " %s/pipe",
          folder, folder, folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "neither a text nor a model");
  run_free(&r);
  expect("timeout 10 " NETC " /dev/zero", 1, NULL, "neither a text");
  r = run(
      "truncate -s 70G %s/large.net && timeout 10 " NETC " %s/large.net;"
      " s=$?; printf 'input 3\\n' | dd of=%s/large.net conv=notrunc "
      "2>/dev/null; printf '%%65536s' '' | tr ' ' '\\n' | dd of=%s/large.net"
      " conv=notrunc 2>/dev/null; timeout 10 " NETC " %s/large.net || "
      "exit $s$?",
      folder, folder, folder, folder, folder);
  assert_int_equal(r.status, 13);
  assert_holds(r.err, "neither a text nor a model");
  assert_holds(r.err, "it is larger than 1 GiB");
  run_free(&r);
}

static void a_source_may_come_through_a_pipe(void **state) {
  (void)state;
  const char *folder = scratch("opening-pipe");
  struct run r = run("mkfifo %s/pipe && { (printf 'input 8x8x3\\n'; sleep 0.2;"
                     " printf 'fc 10\\n') >%s/pipe & } && " NETC " %s/pipe",
                     folder, folder, folder);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "fc 10");
  run_free(&r);
  /* It is read once, and compiled for each value. */
  expect("printf 'input 8x8x3\\nfc 10\\n' | " NETC " - --batch 1,2", 0, "batch",
         NULL);
  /* 64 KiB are no bound of a source. */
  expect("{ echo input 3; head -c 200000 /dev/zero | tr '\\0' '\\n'; "
         "echo fc 7; } | " NETC " -",
         0, "fc 7", NULL);
}

/* A pipe is waited for while somebody has it open, and else refused. */
static void a_pipe_without_a_writer_is_refused(void **state) {
  (void)state;
  const char *folder = scratch("opening-silent");
  struct run r =
      run("mkfifo %s/pipe && timeout 20 " NETC " %s/pipe", folder, folder);
  assert_int_equal(r.status, 3);
  assert_holds(r.err, "it is a pipe to which nobody writes");
  run_free(&r);
  r = run("{ sleep 1; { sleep 3; printf 'input 8x8x3\nfc 10\n'; } >%s/pipe; } "
          "& timeout 20 " NETC " %s/pipe && "
          "printf 'input 3\nfc 7\n' | timeout 20 " NETC " /dev/stdin && "
          "timeout 20 bash -c '" NETC " <(printf \"input 3\\nfc 9\\n\")'",
          folder, folder);
  assert_holds(r.out, "fc 10");
  assert_holds(r.out, "fc 7");
  assert_holds(r.out, "fc 9");
  assert_int_equal(r.status, 0);
  run_free(&r);
}

/* TensorFlow's, Core ML's and Hugging Face's models are folders. */
static void folders_are_known_by_a_file_in_them(void **state) {
  (void)state;
  static const char *const folders[][3] = {
      {"a/saved_model.pb", "error: this is a SavedModel of TensorFlow",
       "opening-folders/a --output model.onnx"},
      {"b/Manifest.json", "error: this is Core ML", "torch.onnx.export("},
      {"c/config.json",
       "/c: note: it is a folder; netc reads config.json in it",
       "/c/config.json: error: the file is empty"},
      {"d/e", "/d: error: it is a folder without a model that netc reads\n",
       "a folder with config.json, model_index.json"}};
  const char *at = scratch("opening-folders");
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const char *name = folders[i][0];
    struct run r = run("mkdir %s/%c && : >%s/%s && " NETC " %s/%c", at, *name,
                       at, name, at, *name);
    assert_true(r.status == 1 || r.status == 3);
    assert_holds(r.err, folders[i][1]);
    assert_holds(r.err, folders[i][2]);
    run_free(&r);
  }
}

/* One model alone is meant; of several, none. */
static void the_only_model_of_a_folder_is_read(void **state) {
  (void)state;
  const char *at = scratch("opening-only");
  struct run r =
      run("cp tests/data/import/tflite/hello_world_int8.tflite %s; touch "
          "%s/.hidden.onnx %s/read.me %s/t.json && " NETC " %s/ --depth 0",
          at, at, at, at, at);
  assert_int_equal(r.status, 0);
  assert_holds(r.err,
               "it is a folder; netc reads hello_world_int8.tflite in it");
  assert_holds(r.err, "/hello_world_int8.tflite` writes");
  run_free(&r);
  r = run("cp %s/hello_world_int8.tflite %s/b.tflite && " NETC " %s", at, at,
          at);
  assert_int_equal(r.status, 3);
  assert_holds(
      r.err,
      "it is a folder with b.tflite, hello_world_int8.tflite; did you mean");
  run_free(&r);
  r = run("rm %s/*.tflite && " NETC " %s", at, at);
  assert_int_equal(r.status, 3);
  assert_holds(r.err, "it is a folder without a model that netc reads\n");
  run_free(&r);
  r = run("printf '\\012\\032\\012\\005input\\022\\013Placeholder' | gzip "
          ">%s/g.pb.gz && " NETC " %s/g.pb.gz",
          at, at);
  assert_holds(r.err, "/g.pb.gz`, then `python -m tf2onnx.convert --graphdef ");
  assert_holds(r.err, "/g.pb --inputs INPUT:0");
  run_free(&r);
  r = run(NETC " tests/data/huggingface/llama_3_2_3b --predict --gpu rtx4090");
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "  FITS\ninference, batch 1, bfloat16, fused attention, "
                      "PyTorch on RTX 4090\n"
                      "  needs      6.99 of 19.9 GiB ");
  assert_holds(r.err, "it is a folder; netc reads config.json in it");
  run_free(&r);
  /* PyTorch has no fused kernel with sinks, and vLLM says nothing of it. */
  r = run(NETC " tests/data/huggingface/gpt_oss_20b.json --predict");
  assert_holds(r.out, "bfloat16, naive attention (sinks), PyTorch on CUDA\n");
  run_free(&r);
  r = run(NETC " tests/data/huggingface/gpt_oss_20b.json --runtime vllm");
  assert_holds(r.out, "tokens, bfloat16, vLLM\n");
  run_free(&r);
  expect("cd tests/data/huggingface/llama_3_2_3b && \"$OLDPWD/\"" NETC
         " import .",
         0, "compared with model.safetensors.index.json", NULL);
}

/* What gzip packed is read as what is in it: text, bytes, weights; from a
   file, a pipe or a folder; by the name without .gz. */
static void what_gzip_packed_is_unpacked(void **state) {
  (void)state;
  const char *at = scratch("opening-gzip");
  struct run r =
      run("cd %s && mkdir f && D=\"$OLDPWD/\" && I=\"$D\"tests/data/import && "
          "gzip -c $I/darknet/tiny.cfg >tiny.cfg.gz && "
          "gzip -c $I/tflite/hello_world_int8.tflite >f/h.tflite.gz && "
          "printf 'input 3\nfc 7\n' | gzip >a.net.gz && "
          "{ printf 'input 3\n' | gzip; printf 'fc 8\n' | gzip; } >two.gz && "
          "\"$D\"" NETC " tiny.cfg.gz -o a.csv && "
          "\"$D\"" NETC " $I/darknet/tiny.cfg -o b.csv && cmp a.csv b.csv && "
          "\"$D\"" NETC " a.net.gz && \"$D\"" NETC " two.gz && "
          "\"$D\"" NETC " f && "
          "\"$D\"" NETC " - <f/h.tflite.gz && "
          "cat two.gz | \"$D\"" NETC " /dev/stdin && "
          "\"$D\"" NETC " weights a.net.gz --random 1 -o w.safetensors && "
          "gzip w.safetensors && \"$D\"" NETC " weights w.safetensors.gz && "
          "\"$D\"" NETC " weights a.net.gz --check w.safetensors.gz",
          at);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "fc 7");
  assert_holds(r.out, "fc 8");
  assert_holds(r.out, "28 parameters; safetensors");
  assert_holds(r.err, "tiny.cfg.gz: note: the file is read as Darknet");
  assert_holds(r.err, "h.tflite.gz` writes");
  run_free(&r);
}

static void what_gzip_packed_is_bounded(void **state) {
  (void)state;
  const char *at = scratch("opening-bomb");
  /* 17 times 64 MiB of zeros. */
  struct run r = run("cd %s && head -c 67108864 /dev/zero | gzip -1 >one && "
                     "for i in $(seq 17); do cat one; done >bomb.gz && "
                     "timeout 60 \"$OLDPWD/\"" NETC " bomb.gz",
                     at);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "bomb.gz: error: ");
  run_free(&r);
  static const char *const broken[][2] = {
      {"head -c 300 t.gz", "its gzip data end too early"},
      {"{ head -c 300 t.gz; head -c 300 /dev/urandom; }",
       "its gzip data are corrupt"},
      {"{ head -c -8 t.gz; printf 12345678; }", "its gzip data are corrupt"},
      {"{ cat t.gz; echo more; }", "its gzip data are corrupt"},
      {"gzip -c t.gz", "this is compressed with gzip twice"},
  };
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    r = run("cd %s && gzip -c \"$OLDPWD/\"tests/data/import/darknet/"
            "cspx-p7-mish-omega.cfg >t.gz && %s >x.gz && \"$OLDPWD/\"" NETC
            " x.gz",
            at, broken[i][0]);
    assert_int_equal(r.status, 1);
    assert_holds(r.err, broken[i][1]);
    run_free(&r);
  }
}

/* Latin-1 is the compiler's to refuse, with its place. */
static void bytes_of_no_character_are_shown_as_one(void **state) {
  (void)state;
  struct run r = run("printf 'input 3\\n# caf\\351\\nfc 3\\n' | " NETC " -");
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "<stdin>:2:6: error: byte 0xE9 is not valid UTF-8");
  assert_null(strchr(r.err, '\351'));
  run_free(&r);
}

/* Sources that look like something else at a glance. */
static void a_source_stays_a_source(void **state) {
  (void)state;
  expect("printf '#!/usr/bin/env netc\\n# import torch\\ninput 3\\nbackbone: fc"
         " 3\\nfrom backbone\\nfc 2\\n' | " NETC " -",
         0, "fc 2", NULL);
  /* A file meant as a source is explained line by line. */
  struct run r =
      run("printf 'import torch\\nnn.ReLU()\\n' >%s/a.net; " NETC " %s/a.net",
          scratch("opening-source"), scratch("opening-source"));
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "a.net:2:");
  run_free(&r);
  expect("printf '\\357\\273\\277input 3\\nfc 2\\n' | " NETC " -", 0, "fc 2",
         NULL);
}

static void nets_of_the_zoo_have_names(void **state) {
  (void)state;
  expect(NETC " zoo", 0,
         "\n  resnet          2015   25.6 M   4.09 G  Deep Residual Learning "
         "for Image R...\n",
         NULL);
  struct run r = run("ls examples/zoo examples/huggingface | grep net$ | sort "
                     "-u | wc -l; " NETC " zoo | grep -c '^  [^ ]'; " NETC
                     " zoo | awk 'length > 79'");
  char *end;
  long there = strtol(r.out, &end, 10);
  assert_true(there > 50 && there == strtol(end, &end, 10));
  assert_string_equal(end, "\n"); /* no line is longer */
  run_free(&r);
  expect(NETC " zoo rnet no-such", 1, NULL, "the zoo has no such net");
  expect(NETC " zoo:resnet -D depth=18 --depth 0", 0, "11,689,512", NULL);
  expect(NETC " check zoo:vgg zoo:bert", 0, NULL, NULL);
  expect(NETC " zoo:renset", 2, NULL, "did you mean `zoo:resnet`?");
  expect(NETC " zoo:warp", 2, NULL,
         "the zoo has no `warp`; `netc zoo` lists its nets");
}

/* A path in a hint is one word for the shell that gets it. */
static void paths_in_hints_are_quoted(void **state) {
  (void)state;
  char path[600];
  snprintf(path, sizeof path, "%s/it's mine.xz", scratch("quoted"));
  write_text(path,
             "\xfd"
             "7zXZ",
             5);
  struct run r =
      run(NETC " \"%s\"; " NETC " import \"%s\" -o \"a b.svg\"", path, path);
  assert_holds(r.err, "`unxz -k '");
  assert_holds(r.err, "/it'\\''s mine.xz'`, and give");
  assert_holds(r.err, "`netc 'a b.net' -o 'a b.svg'`");
  run_free(&r);
}

/* bash makes three words of zoo:resnet. */
static void the_zoo_is_completed(void **state) {
  (void)state;
  expect("PATH=$(dirname $(realpath " NETC
         ")):$PATH bash -c 'eval \"$(netc completion bash)\"; "
         "COMP_WORDS=(netc zoo : resn); COMP_CWORD=3; _netc; "
         "echo \"${COMPREPLY[@]}\"'",
         0, "resnet\n", NULL);
}

static void a_name_leads_to_the_zoo(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"resnet50", "netc zoo:resnet -D depth=50"},
      {"ResNet-101", "netc zoo:resnet -D depth=101"},
      {"vgg16.net", "netc zoo:vgg -D depth=16"},
      {"densenet121", "netc zoo:densenet -D depth=121"},
      {"efficientnet_b3", "netc zoo:efficientnet -D b=3"},
      {"mobilenetv2", "netc zoo:mobilenet_v2"},
      {"bert", "netc zoo:bert"},
      {"dit", "netc zoo:dit"},
  };
  char said[100], command[200];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *meant = names[i][1];
    snprintf(said, sizeof said, "did you mean `%s`?", meant);
    snprintf(command, sizeof command, NETC " %s", names[i][0]);
    expect(command, 3, NULL, said);
    snprintf(command, sizeof command, NETC " check %s",
             meant + strlen("netc "));
    expect(command, 0, NULL, NULL);
  }
  struct run r = run(NETC " nothing/resnet50");
  assert_null(strstr(r.err, "did you mean"));
  run_free(&r);
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(an_empty_file_is_told),
      cmocka_unit_test(a_large_hole_is_told),
      cmocka_unit_test(a_file_with_a_reader_is_compiled),
      cmocka_unit_test(an_imported_file_is_a_source),
      cmocka_unit_test(no_more_than_64_kib_is_read),
      cmocka_unit_test(a_source_may_come_through_a_pipe),
      cmocka_unit_test(a_pipe_without_a_writer_is_refused),
      cmocka_unit_test(folders_are_known_by_a_file_in_them),
      cmocka_unit_test(the_only_model_of_a_folder_is_read),
      cmocka_unit_test(bytes_of_no_character_are_shown_as_one),
      cmocka_unit_test(what_gzip_packed_is_unpacked),
      cmocka_unit_test(what_gzip_packed_is_bounded),
      cmocka_unit_test(a_source_stays_a_source),
      cmocka_unit_test(paths_in_hints_are_quoted),
      cmocka_unit_test(nets_of_the_zoo_have_names),
      cmocka_unit_test(the_zoo_is_completed),
      cmocka_unit_test(a_name_leads_to_the_zoo),
  };
  return run_table("opening", kinds, sizeof kinds / sizeof *kinds,
                   sizeof *kinds, check_kind, others,
                   sizeof others / sizeof *others);
}
