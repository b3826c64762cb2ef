/*
 * A net, and the folders about it, are a stranger's data: what netc runs, reads
 * and leaves behind does not follow from them. docs/security.md.
 */
#include "tests/run.h"

#include <unistd.h>

static char folder[1024]; /* absolute */

/* What is planted: it leaves its name in F/ran. */
static const char *const programs[] = {"cc",
                                       "gcc",
                                       "as",
                                       "ld",
                                       "python3",
                                       "node",
                                       "dot",
                                       "qemu-system-arm",
                                       "arm-none-eabi-gcc"};
static const char *const modules[] = {"sitecustomize.py", "usercustomize.py",
                                      "numpy.py",         "torch.py",
                                      "onnxruntime.py",   "onnx.py"};

static void shell(const char *command) {
  struct run r = run("cd %s && { %s; }", folder, command);
  if (r.status)
    print_error("%s: %s%s", command, r.out, r.err);
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void plant(const char *place) {
  char package[1200];
  shell(text_of("mkdir -p %s/node_modules/onnxruntime-node", place));
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    shell(text_of("printf '#!/bin/sh\\necho %s/%s >>%s/ran\\n' >%s/%s && "
                  "chmod +x %s/%s",
                  place, programs[i], folder, place, programs[i], place,
                  programs[i]));
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
    shell(text_of("printf 'open(\"%s/ran\", \"a\").write(\"%s/%s\\\\n\")\\n' "
                  ">%s/%s",
                  folder, place, modules[i], place, modules[i]));
  shell(text_of("printf '*cc1:\\n-fplugin=planted\\n\\n' >%s/rdimon.specs",
                place));
  snprintf(package, sizeof package, "%s/%s/node_modules/onnxruntime-node",
           folder, place);
  write_in(package, "package.json", "{\"version\": \"1.0.0\"}");
  write_in(package, "index.js",
           text_of("require(\"fs\").appendFileSync(\"%s/ran\", "
                   "\"%s/node_modules\\n\");\n",
                   folder, place));
}

/* Runs netc in F/above/here, with things planted there, beside the net and
 * above both; F/own has programs that are the user's. None of the others may
 * have run. */
static void nothing_ran(const char *environment, const char *arguments,
                        int status, const char *said) {
  struct run r =
      run("cd %s/above/here && : >%s/ran && own=%s/own && "
          "export TMPDIR=%s/tmp NETC_VERIFY_SECONDS=100 %s && " NETC_PATH
          " %s; s=$?; cat %s/ran; exit $s",
          folder, folder, folder, folder, environment, arguments, folder);
  char *ran = read_text(text_of("%s/ran", folder), NULL);
  if (!ran || *ran || strstr(r.err, "planted") ||
      (status >= 0 && r.status != status) || !strstr(r.out, said))
    fail_msg("%s: status %d\n%s%s", arguments, r.status, r.out, r.err);
  free(ran);
  run_free(&r);
}

static int plant_all(void **state) {
  (void)state;
  shell("mkdir -p own above/here/bin above/nets tmp && "
        "printf 'input 7x5x3\\nconv 4 3x3\\nflatten\\nfc 3\\n' "
        ">above/nets/n.net && cp above/nets/n.net above/here");
  shell("printf '#!/bin/sh\\necho it has none; exit 77\\n' >own/python3 && "
        "chmod +x own/python3 && cp own/python3 own/node && "
        "printf '#!/bin/sh\\nexec %s \"$@\" -O0\\n' \"$(command -v cc)\" "
        ">own/cc && chmod +x own/cc");
  plant(".");
  plant("above");
  plant("above/here");
  plant("above/here/bin");
  plant("above/nets");
  return 0;
}

#define RELATIVE ":.:bin:../nets:"

static void programs_are_those_of_absolute_folders(void **state) {
  (void)state;
  static const char path[] = "PATH=" RELATIVE "$own:$PATH:";
  nothing_ran(path, "verify ../nets/n.net", 0, "alike: the bound");
  nothing_ran("PATH=$own:$PATH COMPILER_PATH=" RELATIVE, "verify n.net", 0,
              "alike: the bound");
  nothing_ran(path, "../nets/n.net -o n.png -o n.arena.png",
              on_path("dot") ? 0 : 3, "");
  nothing_ran("PATH=", "n.net -o n.png", -1, "");
  nothing_ran("PATH=.", "n.net -o n.png", -1, "");
  /* Without newlib a compiler looks for its specs in the current folder. */
  nothing_ran(path, "verify n.net --qemu mps2-an500", -1, "");
  /* A program that the user names by a path, from the current folder. */
  nothing_ran(path, "verify n.net --cc ../../own/cc", 0, "alike: the bound");
}

static void modules_of_python_are_not_those_of_a_folder(void **state) {
  (void)state;
  nothing_ran("PATH=/usr/bin:$PATH PYTHONPATH=" RELATIVE,
              "verify ../nets/n.net --cc none", -1, "");
}

static void modules_of_node_are_those_of_named_folders(void **state) {
  (void)state;
  if (!on_path("node"))
    skip();
  static const char absent[] = "; node has no onnxruntime-node";
  shell("rm -f own/node");
  nothing_ran("PATH=$own:$PATH", "verify ../nets/n.net --cc none", 2, absent);
  nothing_ran("PATH=$own:$PATH NODE_PATH=.:node_modules:../nets/node_modules:",
              "verify n.net --cc none", 2, absent);
  /* Nor is what the named one needs, and has not. */
  shell("mkdir -p mods/onnxruntime-node node_modules/onnxruntime-common && "
        "cp -r node_modules/onnxruntime-node/* "
        "node_modules/onnxruntime-common && "
        "cp above/node_modules/onnxruntime-node/package.json "
        "mods/onnxruntime-node && "
        "echo 'require(\"onnxruntime-common\")' "
        ">mods/onnxruntime-node/index.js");
  nothing_ran("PATH=$own:$PATH NODE_PATH=$own/../mods",
              "verify n.net --cc none", 2, "; node cannot load");
  shell("mkdir -p node_modules/extra && cp -r mods node_modules/extra");
  nothing_ran(
      "PATH=$own:$PATH",
      "verify n.net --cc none --node-modules ../../node_modules/extra/mods", 2,
      "; node cannot load");
}

/* A session of a fake, so that a folder of the user's is seen to count. */
static void a_folder_of_modules_can_be_named(void **state) {
  (void)state;
  if (!on_path("node"))
    skip();
  shell("rm -f own/node; mkdir -p 'my mods/onnxruntime-node'");
  const char *package = text_of("%s/my mods/onnxruntime-node", folder);
  write_in(package, "package.json", "{\"version\": \"7.7.7\"}");
  write_in(package, "index.js",
           "exports.Tensor = class { };\n"
           "exports.InferenceSession = { create: async () => ({\n"
           "  inputMetadata: [{ shape: [2, 3, 7, 5] }], inputNames: [\"x\"],\n"
           "  outputNames: [\"y\"], run: async () => ({ y: { dims: [2, 3],\n"
           "  data: new Float32Array(6) } }) }) };\n");
  nothing_ran("PATH=$own:$PATH",
              "verify n.net --cc none --node-modules '../../my mods'", 1,
              "x.onnx    ONNX Runtime 7.7.7 for Node");
  nothing_ran("PATH=$own:$PATH NODE_PATH=\"$own/../my mods\"", "verify n.net",
              1, "x.onnx    ONNX Runtime 7.7.7 for Node");
  nothing_ran("PATH=$own:$PATH", "verify n.net --node-modules nowhere", 2, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_are_those_of_absolute_folders),
      cmocka_unit_test(modules_of_python_are_not_those_of_a_folder),
      cmocka_unit_test(modules_of_node_are_those_of_named_folders),
      cmocka_unit_test(a_folder_of_modules_can_be_named),
  };
  char *here = realpath(scratch("trust"), NULL);
  if (!here)
    return 1;
  snprintf(folder, sizeof folder, "%s", here);
  free(here);
  return cmocka_run_group_tests(tests, plant_all, NULL);
}
