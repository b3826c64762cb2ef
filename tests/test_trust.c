/*
 * A net, and the folders about it, are a stranger's data: what netc runs, reads
 * and leaves behind does not follow from them. docs/security.md.
 */
#include "tests/run.h"

#include <unistd.h>

static char folder[1024]; /* absolute */

/* Planted programs: each leaves its name in F/ran. */
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

/* Where `use` leads */

static const char *const leaks[][2] = {
    {"secret.ini", "[db]\npassword = hunter2 [\n"},
    {"secret.net", "def hunter2(n) { fc n }\n"},
    {"nets-evil/lib.net", "def head(n) { fc n }\n"},
    {"lib/std.net", "def head(n) { fc n }\n"},
    {"nets/sub/real.net", "def head(n) { fc n }\n"},
    {"nets/sub/deep.net", "use \"../../secret.ini\"\n"},
    {"nets/a.net", "use \"../secret.ini\"\nparam w = 4\ninput 8\nfc w\n"},
    {"nets/b.net", "use \"../secret.net\"\ninput 8\nfc 4\n"},
    {"nets/none.net", "use \"../none.ini\"\ninput 8\nfc 4\n"},
    {"nets/evil.net", "use \"../nets-evil/lib.net\"\ninput 8\nhead 4\n"},
    {"nets/deep.net", "use \"sub/deep.net\"\ninput 8\nfc 4\n"},
    {"nets/link.net", "use \"leads.net\"\ninput 8\nfc 4\n"},
    {"nets/dangling.net", "use \"nowhere.net\"\ninput 8\nfc 4\n"},
    {"nets/folder.net", "use \"up/none/x.net\"\ninput 8\nfc 4\n"},
    {"nets/absolute.net", "use \"/etc/passwd\"\ninput 8\nfc 4\n"},
    {"nets/device.net", "use \"/proc/self/environ\"\ninput 8\nfc 4\n"},
    {"nets/ok.net", "use \"inside.net\"\ninput 8\nhead 4\n"},
    {"nets/other.net", "use \"std.net\"\ninput 8\nhead 4\n"},
    {"nets/up.net", "use \"../lib/std.net\"\ninput 8\nhead 4\n"},
    {"nets/absent.net", "use \"sub/none.net\"\ninput 8\nfc 4\n"},
    {"nets/pipe.net", "use \"../pipe\"\ninput 8\nfc 4\n"},
    {"nets/zero.net", "use \"/dev/zero\"\ninput 8\nfc 4\n"},
    {"nets/pages.net", "use \"/proc/self/pagemap\"\ninput 8\nfc 4\n"},
    {"nets/words.net", "use \"words.inc\"\ninput 8\nfc 4\n"},
    {"nets/words.inc", "let hunter2 = hunter3\n"},
    {"nets/wrong.net", "use \"sub/wrong.net\"\ninput 8\nfc 4\n"},
    {"nets/sub/wrong.net", "let quoted = [\n"},
};

static void write_leaks(void) {
  shell("mkdir -p conf/nets/sub conf/nets-evil conf/lib && cd conf/nets && "
        "ln -sf ../secret.ini leads.net && ln -sf ../nothing nowhere.net && "
        "ln -sf sub/real.net inside.net && ln -sfn .. up && rm -f ../pipe && "
        "mkfifo ../pipe");
  for (size_t i = 0; i < sizeof leaks / sizeof *leaks; i++)
    write_in(text_of("%s/conf", folder), leaks[i][0], leaks[i][1]);
}

/* In F/conf; nothing of a secret is said, as text or as JSON. */
static void says(const char *command, int status, const char *said) {
  struct run r =
      run("cd %s/conf && timeout 20 " NETC_PATH " %s", folder, command);
  if (r.status != status || !strstr(r.err, said) || strstr(r.err, "hunter") ||
      strstr(r.out, "hunter") || strstr(r.err, "root:") ||
      strstr(r.err, "PATH="))
    fail_msg("%s: status %d\n%s%s", command, r.status, r.out, r.err);
  run_free(&r);
}

static const char outside[] =
    "it is outside the folders that --confine and -I allow";

static void use_is_confined(void **state) {
  (void)state;
  static const struct {
    const char *command;
    int status;
    const char *said;
  } cases[] = {
      {"check --confine nets/a.net", 1, outside},
      {"check --confine nets/b.net", 1, outside},
      {"check --confine nets/none.net", 1, outside},
      {"check --confine nets/evil.net", 1, outside},
      {"check --confine=nets nets/evil.net", 1, outside},
      {"check --confine nets/deep.net", 1, outside},
      {"check --confine nets/link.net", 1, outside},
      {"check --confine nets/dangling.net", 1, outside},
      {"check --confine nets/folder.net", 1, outside},
      {"check --confine nets/absolute.net", 1, outside},
      {"check --confine nets/device.net", 1, outside},
      {"check --confine nets/pipe.net", 1, outside},
      {"check --confine nets/up.net", 1, outside},
      {"check --confine=lib nets/ok.net", 1, outside},
      {"check --confine nets/absent.net", 1, "No such file"},
      {"check --confine nets/ok.net", 0, ""},
      {"check --confine=. nets/up.net", 0, ""},
      {"check --confine=. nets/evil.net", 0, ""},
      {"check --confine=/ nets/up.net", 0, ""},
      {"check --confine --confine=lib nets/up.net", 0, ""},
      {"check --confine -I lib nets/other.net", 0, ""},
      {"check --confine -I nets/../lib nets/other.net", 0, ""},
      {"check --confine -I lib nets/up.net", 0, ""},
      {"check --confine -I lib nets/a.net", 1, outside},
      {"check --confine=none nets/ok.net", 2, "this is not a folder; "},
      {"check --confine=secret.ini nets/ok.net", 2, "this is not a folder; "},
      {"check --diagnostics=json --confine nets/a.net", 1, outside},
      {"check --confine - <nets/deep.net", 1, "No such file"},
      {"check --confine - <nets/a.net", 1, outside},
  };
  write_leaks();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    says(cases[i].command, cases[i].status, cases[i].said);
  static const char *const commands[] = {
      "%s",
      "check %s",
      "diff %s nets/ok.net",
      "params %s",
      "place %s --gpus 2xt4",
      "fit %s --free w=1..4 --maximize params",
      "sweep %s -D w=1..4",
      "weights %s",
      "run %s --random 1",
      "verify %s --cc none",
      "fmt --shapes %s"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    char command[200];
    snprintf(command, sizeof command, commands[i], "nets/a.net --confine");
    bool formats = strncmp(command, "fmt", 3) == 0; /* wrong as it may be */
    says(command, formats ? 0 : 1, formats ? "" : outside);
  }
}

/* A writer to a pipe waits until somebody opens it. */
static void what_is_outside_is_not_opened(void **state) {
  (void)state;
  write_leaks();
  shell("cd conf && rm -f opened && { sh -c 'echo x >pipe; : >opened' & } && "
        "{ " NETC_PATH
        " check --confine nets/pipe.net 2>&1 | grep 'is outside' && " NETC_PATH
        " fmt --confine nets/pipe.net; sleep 0.2; "
        "test ! -e opened; s=$?; cat pipe >/dev/null; wait; exit $s; }");
}

static void only_sources_are_quoted(void **state) {
  (void)state;
  static const char hidden[] = "; the line is not shown, because the name of "
                               "the file does not end in .net";
  write_leaks();
  says("check nets/a.net", 1, hidden);
  says("check nets/a.net", 1,
       "nets/a.net:1:5: error: line 1 of "
       "\"nets/../secret.ini\" has an error");
  says("check --diagnostics=json nets/a.net", 1, hidden);
  says("check nets/deep.net", 1, hidden);
  says("check nets/deep.net", 1, "nets/sub/deep.net:1:5: error: line 1");
  says("check nets/link.net", 1, hidden);
  says("check nets/words.net", 1, hidden);
  says("check nets/absolute.net", 1, hidden);
  says("check nets/device.net", 1, hidden);
  says("check nets/wrong.net", 1, "let quoted = [");
}

static void what_has_no_end_is_read_to_4_mb(void **state) {
  (void)state;
  write_leaks();
  says("check nets/zero.net", 1,
       "it is not a regular file; netc reads 4 MB of it");
  says("check nets/pages.net", 1, "");
  shell("cd conf && { head -c 5000000 /dev/zero | tr '\\0' '#' >pipe & } "
        "&& " NETC_PATH
        " check nets/pipe.net 2>&1 | grep 'netc reads 4 MB of it'");
  shell("cd conf && { echo 'let a = 1' >pipe & } && " NETC_PATH
        " check nets/pipe.net");
  shell("cd conf && head -c 5000000 /dev/zero | tr '\\0' '#' >large.net && "
        "printf 'use \"large.net\"\\ninput 4\\nfc 2\\n' >uses.net && " NETC_PATH
        " check uses.net");
}

/* Files that are left behind */

/* The first output waits for the second one, which blocks. */
static void a_killed_run_leaves_no_output(void **state) {
  (void)state;
  shell("rm -rf killed && mkdir killed && cd killed && mkfifo pipe && "
        "echo old >x.json && { timeout -s KILL 1 " NETC_PATH
        " ../above/nets/n.net -o x.json -o y.json --emit=csv=pipe; "
        "test $? = 137; } && ls >../left && cat x.json >>../left");
  char *left = read_text(text_of("%s/left", folder), NULL);
  assert_string_equal(left, "pipe\nx.json\nold\n");
  free(left);
}

/* Where a file has a name, or got one when it was about to take its place. */
static void the_next_run_removes_what_was_left(void **state) {
  (void)state;
  shell("rm -rf killed && mkdir -p killed/netc-tmp.folder killed/tmp && "
        "cd killed && : >netc-tmp.abcDEF && : >netc-tmp.living && "
        ": >netc-tmp.mine.txt && : >netc-tmp.yours && ln -s x netc-tmp.linked "
        "&& mkdir tmp/netc-verify.abcdef tmp/netc-verify.living && "
        ": >tmp/netc-verify.abcdef/net.c && "
        "flock netc-tmp.living flock tmp/netc-verify.living sh -c '" NETC_PATH
        " ../above/nets/n.net -o x.json && PATH=../own:$PATH "
        "TMPDIR=$PWD/tmp " NETC_PATH
        " verify ../above/nets/n.net --cc none' >log 2>&1; "
        "ls . tmp >../left");
  char *left = read_text(text_of("%s/left", folder), NULL);
  assert_string_equal(left, ".:\nlog\nnetc-tmp.linked\nnetc-tmp.living\n"
                            "netc-tmp.mine.txt\nnetc-tmp.yours\ntmp\nx.json\n"
                            "\ntmp:\nnetc-verify.living\n");
  free(left);
}

/* Two at a time; then one is killed, whose child lives a while. */
static void verify_removes_no_folder_that_is_in_use(void **state) {
  (void)state;
  shell("rm -rf killed && mkdir -p killed/tmp killed/slow && cd killed && "
        "printf '#!/bin/sh\\necho $$ >>%s/killed/pids; exec sleep 30\\n' "
        "\"$(dirname \"$PWD\")\" >slow/python3 && chmod +x slow/python3 && "
        "export TMPDIR=$PWD/tmp && "
        "verify() { " NETC_PATH
        " verify ../above/nets/n.net --cc none >log 2>&1; } && "
        "{ PATH=$PWD/slow:$PATH exec " NETC_PATH
        " verify ../above/nets/n.net --cc none >log1 2>&1 & } && first=$! && "
        "for i in 1 2 3 4 5 6 7 8 9 10; do test -s pids && break; sleep 0.2; "
        "done; export PATH=$PWD/../own:$PATH; { verify || true; } && "
        "ls tmp | wc -l >count && kill -9 $first && { verify || true; } && "
        "ls tmp | wc -l >>count && kill $(cat pids) && sleep 0.2 && "
        "{ verify || true; } && ls tmp | wc -l >>count");
  char *count = read_text(text_of("%s/killed/count", folder), NULL);
  assert_string_equal(count, "1\n1\n0\n");
  free(count);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_are_those_of_absolute_folders),
      cmocka_unit_test(modules_of_python_are_not_those_of_a_folder),
      cmocka_unit_test(modules_of_node_are_those_of_named_folders),
      cmocka_unit_test(a_folder_of_modules_can_be_named),
      cmocka_unit_test(use_is_confined),
      cmocka_unit_test(what_is_outside_is_not_opened),
      cmocka_unit_test(only_sources_are_quoted),
      cmocka_unit_test(what_has_no_end_is_read_to_4_mb),
      cmocka_unit_test(a_killed_run_leaves_no_output),
      cmocka_unit_test(the_next_run_removes_what_was_left),
      cmocka_unit_test(verify_removes_no_folder_that_is_in_use),
  };
  char *here = realpath(scratch("trust"), NULL);
  if (!here)
    return 1;
  snprintf(folder, sizeof folder, "%s", here);
  free(here);
  return cmocka_run_group_tests(tests, plant_all, NULL);
}
