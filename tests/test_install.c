/* The files of `make install`, as other programs use them. */
#include <unistd.h>

#include "tests/run.h"

/* Installed once, below a root of its own, for all tests. */
static char root[1100];

static int install(void **state) {
  (void)state;
  struct run r;
  snprintf(root, sizeof root, "%s", scratch("root"));
  r = run("cd %s && pwd", root);
  snprintf(root, sizeof root, "%.*s", (int)strcspn(r.out, "\n"), r.out);
  run_free(&r);
  r = run("unset MAKEFLAGS MAKELEVEL; make -s install build=%s DESTDIR=%s "
          "PREFIX=/opt libdir=/opt/lib/here",
          BUILD, root);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  int status = r.status;
  run_free(&r);
  return status;
}

#define PKG                                           \
  "export PKG_CONFIG_PATH=%s/opt/lib/here/pkgconfig " \
  "PKG_CONFIG_SYSROOT_DIR=%s LD_LIBRARY_PATH=%s/opt/lib/here; cd %s && "

static void expect_run(struct run r, const char *out) {
  if (r.status || strcmp(r.out, out) != 0)
    print_error("status %d\n%s%s", r.status, r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.out, out);
  run_free(&r);
}

static const char c_program[] =
    "#include <netc.h>\n#include <stdio.h>\n"
    "static bool put(void *user, const char *b, size_t n) {\n"
    "  (void)user;\n  return fwrite(b, 1, n, stdout) == n;\n}\n"
    "int main(void) {\n"
    "  struct netc_totals totals = {.size = sizeof totals};\n"
    "  const char t[] = \"input 4\\nfc 2\\n\";\n"
    "  struct netc *n = netc_open(NULL, NULL);\n"
    "  if (netc_load_text(n, \"t\", t, sizeof t - 1) != NETC_OK) return 1;\n"
    "  if (netc_totals(n, &totals) != NETC_OK) return 2;\n"
    "  printf(\"%d\\n\", (int)totals.param_count);\n"
    "  netc_emit(n, \"shapes\", NULL, put, NULL);\n"
    "  netc_close(n);\n"
    "  return netc_version_number() != NETC_VERSION_NUMBER;\n}\n";

static const char cxx_program[] =
    "#include <netc.h>\n#include <cstdio>\n"
    "static bool put(void *, const char *b, size_t n) {\n"
    "  return std::fwrite(b, 1, n, stdout) == n;\n}\n"
    "int main() {\n  struct netc *n = netc_open(nullptr, nullptr);\n"
    "  struct netc_totals totals{};\n  totals.size = sizeof totals;\n"
    "  const char t[] = \"input 4\\nfc 2\\n\";\n"
    "  netc_load_text(n, \"t\", t, sizeof t - 1);\n"
    "  netc_totals(n, &totals);\n"
    "  std::printf(\"%d\\n\", static_cast<int>(totals.param_count));\n"
    "  netc_emit(n, \"shapes\", nullptr, put, nullptr);\n"
    "  netc_close(n);\n}\n";

static void c_programs_link_the_archive_and_the_shared_library(void **state) {
  (void)state;
  const char *dir = scratch("consumer-c");
  write_in(dir, "p.c", c_program);
  expect_run(run(PKG "cc -std=c99 -Wall -Wextra -pedantic -Werror p.c "
                     "$(pkg-config --cflags --libs netc) -o shared && ./shared "
                     "&& ldd shared | grep -c libnetc.so.0 && cc p.c "
                     "$(pkg-config --cflags netc) %s/opt/lib/here/libnetc.a "
                     "-lm -o static && ./static && ldd static | grep -c "
                     "libnetc || true",
                 root, root, root, dir, root),
             "10\ninput 4\nfc1 2\n1\n10\ninput 4\nfc1 2\n0\n");
}

static void cxx_programs_use_the_header(void **state) {
  (void)state;
  const char *dir = scratch("consumer-cxx");
  write_in(dir, "p.cc", cxx_program);
  expect_run(run(PKG "c++ -Wall -Wextra -pedantic -Werror p.cc $(pkg-config "
                     "--cflags --libs netc) -o p && ./p",
                 root, root, root, dir),
             "10\ninput 4\nfc1 2\n");
}

/* What a header of a room declares has a user in another file, or a test: of
   the API, of kernels that are chosen by macros and of what bison, flex and
   protobuf-c write there is more. */
static void nothing_is_extern_for_one_file(void **state) {
  (void)state;
  char here[1100];
  assert_non_null(getcwd(here, sizeof here));
  expect_run(
      run("cd " BUILD "/obj && rooms=$(find . -name '*.o' ! -path './gen/*' ! "
          "-path './runtime/*' | while read -r o; do test -e \"%s/${o%%.o}.c\" "
          "&& echo $o; done) && nm -g --defined-only $rooms | sed -n "
          "'s/^[0-9a-f]* [TDRB] //p' | sort > ../defined && nm -gu $rooms "
          "$(find gen -name '*.o') | sed -n 's/^ *U //p' | sort -u > ../used "
          "&& "
          "test $(wc -l < ../defined) -gt 1000 && names=$(comm -23 ../defined "
          "../used | grep -v '^netc_\\|^main$') && cd %s && for name in "
          "$names; "
          "do grep -qw $name tests/*.c tools/bench/*.c */*.def */*/*.def || "
          "echo "
          "$name; "
          "done",
          here, here),
      "");
}

/* Whoever calls the library decides what is printed, and when it ends. */
static void the_library_neither_prints_nor_exits(void **state) {
  (void)state;
  expect_run(
      run("nm -D --undefined-only %s/opt/lib/here/libnetc.so | sed -n "
          "'s/^ *U \\([a-z_]*\\).*/\\1/p' | grep -Ex '_?_?exit|stdout|"
          "stderr|__v?[df]?printf_chk|f?printf|f?puts|f?putc|putchar|perror|"
          "fwrite|localeconv|setlocale'; nm -D --undefined-only "
          "%s/opt/lib/here/libnetc.so | grep -o snprintf",
          root, root),
      "snprintf\nsnprintf\n");
}

/* Relocations are read-only from the start, stacks and calls are guarded. */
static void what_is_linked_is_hardened(void **state) {
  (void)state;
  char library[1200];
  snprintf(library, sizeof library, "%s/opt/lib/here/libnetc.so", root);
  const char *const files[] = {NETC_PATH, library};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    expect_run(run("readelf -lW %s | grep -o GNU_RELRO; readelf -dW %s | sed "
                   "-n '/FLAGS_1/s/.*NOW.*/NOW/p'; readelf -sW %s | grep -oE "
                   "'__(stack_chk_fail|memcpy_chk)' | sort -u",
                   files[i], files[i], files[i]),
               "GNU_RELRO\nNOW\n__memcpy_chk\n__stack_chk_fail\n");
}

/* Only names of netc.h and netc_edit.h are visible, in either library. */
static void nothing_else_is_visible(void **state) {
  (void)state;
  struct run declared = run("grep -ohE '\\bnetc_[a-z_]+\\(' include/netc*.h | "
                            "sort -u | wc -l");
  struct run visible =
      run("for l in 'nm -g' 'nm -D'; do :; done; nm -g --defined-only "
          "%s/opt/lib/here/libnetc.a | grep -o ' [A-Z] .*' | grep -v ' T "
          "netc_'; nm -D --defined-only %s/opt/lib/here/libnetc.so | grep -o "
          "' [A-Z] .*' | grep -v ' T netc_'; nm -D --defined-only "
          "%s/opt/lib/here/libnetc.so | wc -l; nm -g --defined-only "
          "%s/opt/lib/here/libnetc.a | grep -c ' T '",
          root, root, root, root);
  assert_true(atoi(declared.out) >= 40);
  char twice[64];
  int shared = 0, archived = 0;
  assert_int_equal(sscanf(visible.out, "%d\n%d\n", &shared, &archived), 2);
  assert_int_equal(shared, archived);
  snprintf(twice, sizeof twice, "%d\n%d\n", shared, shared);
  assert_string_equal(visible.out, twice);
  assert_in_range(shared, 40, atoi(declared.out));
  run_free(&visible);
  run_free(&declared);
}

/* A plugin: the archive goes into a shared object. */
static void a_shared_object_takes_the_archive(void **state) {
  (void)state;
  const char *dir = scratch("consumer-so");
  write_in(dir, "plugin.c",
           "#include <netc.h>\nint layers(const char *text, unsigned long n);\n"
           "int layers(const char *text, unsigned long n) {\n"
           "  struct netc *c = netc_open(0, 0);\n"
           "  netc_load_text(c, \"t\", text, n);\n"
           "  int count = (int)netc_layer_count(c);\n  netc_close(c);\n"
           "  return count;\n}\n");
  write_in(
      dir, "main.c",
      "#include <stdio.h>\nint layers(const char *text, unsigned long n);\n"
      "int main(void) { printf(\"%d\\n\", layers(\"input 4\\nfc 2\\n\", 13)); "
      "}\n");
  expect_run(run(PKG "cc -shared -fPIC plugin.c $(pkg-config --cflags netc) "
                     "%s/opt/lib/here/libnetc.a -lm -o libplugin.so && cc "
                     "main.c -L. -lplugin -Wl,-rpath,. -o main && ./main",
                 root, root, root, dir, root),
             "2\n");
}

static void python_loads_the_shared_library(void **state) {
  (void)state;
  const char *dir = scratch("consumer-python");
  if (!on_path("python3"))
    skip();
  write_in(dir, "p.py",
           "import ctypes as c, sys\n"
           "n = c.CDLL(sys.argv[1])\n"
           "n.netc_open.restype = c.c_void_p\n"
           "n.netc_version.restype = c.c_char_p\n"
           "class Totals(c.Structure):\n"
           "    _fields_ = [('size', c.c_size_t), ('params', c.c_int64),\n"
           "                ('trainable', c.c_int64), ('buffers', c.c_int64),\n"
           "                ('macs', c.c_int64)]\n"
           "h = c.c_void_p(n.netc_open(None, None))\n"
           "t = b'input 4\\nfc 2\\n'\n"
           "assert n.netc_load_text(h, b't', t, c.c_size_t(len(t))) == 0\n"
           "totals = Totals(c.sizeof(Totals))\n"
           "assert n.netc_totals(h, c.byref(totals)) == 0\n"
           "print(totals.params, totals.macs)\n"
           "n.netc_close(h)\n");
  expect_run(
      run("cd %s && python3 p.py %s/opt/lib/here/libnetc.so.0", dir, root),
      "10 8\n");
}

static void cmake_finds_the_package_and_follows_dependencies(void **state) {
  (void)state;
  const char *dir = scratch("consumer-cmake");
  if (!on_path("cmake") || !on_path("ninja"))
    skip();
  write_in(dir, "CMakeLists.txt",
           "cmake_minimum_required(VERSION 3.20)\nproject(consumer C)\n"
           "find_package(netc 0.3 REQUIRED)\n"
           "netc_generate(model SOURCE nets/model.net REPORT model.txt\n"
           "  DIAGRAM model.dot OUTPUTS out/model.json HEADER model.h\n"
           "  DEFINE width=3\n"
           "  OPTIONS --batch 4)\n"
           "add_executable(p p.c)\ntarget_link_libraries(p netc::netc model)\n"
           "add_executable(q p.c)\ntarget_link_libraries(q netc::static)\n"
           "add_executable(h h.c)\ntarget_link_libraries(h model)\n");
  write_in(
      dir, "h.c",
      "#include <stdio.h>\n#include \"model.h\"\n"
      "int main(void) {\n  static unsigned char arena[MODEL_ARENA_BYTES];\n"
      "  printf(\"%d %d\\n\", MODEL_BATCH, (int)sizeof arena);\n"
      "  return 0;\n}\n");
  write_in(dir, "p.c", c_program);
  struct run made = run("mkdir %s/nets", dir);
  run_free(&made);
  write_in(dir, "nets/model.net",
           "use \"part.net\"\nparam width = 2\ninput 4\npart width\n");
  write_in(dir, "nets/part.net", "def part(n) { fc n }\n");
  struct run r = run(
      "cd %s && cmake -S . -B b -G Ninja -Dnetc_DIR=%s/opt/lib/here/"
      "cmake/netc >log && ninja -C b >>log && b/p && "
      "b/q && b/h && grep -c 'fc 3' b/model.txt && ninja -C b | tail -n 1 && "
      "sleep "
      "1.1 && echo 'def part(n) { fc n; fc 7 }' >nets/part.net && ninja -C b "
      ">>log && grep -c 'fc 7' b/model.txt b/model.dot b/out/model.json",
      dir, root);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_holds(r.out, "10\ninput 4\nfc1 2\n10\ninput 4\nfc1 2\n4 128\n1\n");
  assert_holds(r.out, "no work to do");
  assert_holds(r.out, "b/model.txt:1\nb/model.dot:1\n");
  run_free(&r);
}

/* A net over its budget fails a build, also through a file that it uses; one
 * within it is not looked at again. */
static void cmake_holds_budgets(void **state) {
  (void)state;
  const char *dir = scratch("consumer-budget");
  if (!on_path("cmake") || !on_path("ninja"))
    skip();
  write_in(dir, "CMakeLists.txt",
           "cmake_minimum_required(VERSION 3.20)\nproject(consumer NONE)\n"
           "find_package(netc 0.3 REQUIRED)\n"
           "netc_budget(small SOURCE model.net DEFINE width=3\n"
           "  BUDGET params=20 train=1MiB OPTIONS --batch 2)\n"
           "netc_budget(device SOURCE model.net OPTIONS --memory ${memory})\n");
  write_in(dir, "model.net",
           "use \"part.net\"\nparam width = 2\ninput 4\npart width\n");
  write_in(dir, "part.net", "def part(n) { fc n }\n");
  expect_run(run("cd %s && cmake -S . -B b -G Ninja -Dmemory=8GiB -Dnetc_DIR="
                 "%s/opt/lib/here/cmake/netc >log && ninja -C b >>log && grep "
                 "-c 'fc 3' b/small.txt && ninja -C b | tail -n 1",
                 dir, root),
             "1\nninja: no work to do.\n");
  struct run r = run("cd %s && sleep 1.1 && echo 'def part(n) { fc n; fc 7 }' "
                     ">part.net && ninja -C b",
                     dir);
  assert_true(r.status != 0);
  assert_holds(r.out, "43 parameters, but the budget is 20");
  run_free(&r);
  r = run("cd %s && echo 'def part(n) { fc n }' >part.net && cmake -Dmemory="
          "1MiB b >log && ninja -C b",
          dir);
  assert_true(r.status != 0);
  assert_holds(r.out, "a training step");
  run_free(&r);
}

/* README's lines, in a folder with the program and the net; and the target
 * of the program where the net's belongs. */
static void cmake_lines_of_readme_make_a_program(void **state) {
  (void)state;
  const char *dir = scratch("consumer-readme");
  if (!on_path("cmake") || !on_path("ninja"))
    skip();
  write_in(dir, "main.c",
           "#include \"model.h\"\n#include <netrt.h>\n#include <stdio.h>\n"
           "static NETRT_ALIGNED unsigned char arena[MODEL_ARENA_BYTES];\n"
           "static const float weights[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"
           "int main(void) {\n  struct netrt net;\n"
           "  return netrt_open(&net, &model_model, weights, sizeof weights,\n"
           "                    arena, sizeof arena) != NETRT_OK ||\n"
           "         netrt_run(&net) != NETRT_OK || puts(\"ran\") < 0;\n}\n");
  write_in(dir, "model.net", "net model\ninput 2\nfc 3 relu\n");
  struct run r = run(
      "cp README.md %s/ && cd %s && { printf 'cmake_minimum_required(VERSION "
      "3.20)\nproject(p C)\n'; awk '/^```cmake$/ { c = 1; next } /^```/ { c = "
      "0 } c' README.md; } >CMakeLists.txt && cmake -S . -B b -G Ninja "
      "-Dnetc_DIR=%s/opt/lib/here/cmake/netc >log && ninja -C b >>log && b/app",
      dir, dir, root);
  if (r.status)
    print_error("%s%s", r.out, r.err);
  assert_int_equal(r.status, 0);
  assert_string_equal(r.out, "ran\n");
  run_free(&r);
  r = run("cd %s && sed 's/netc_generate(app_model/netc_generate(app/' "
          "CMakeLists.txt >c && mv c CMakeLists.txt && cmake -S . -B bad -G "
          "Ninja -Dnetc_DIR=%s/opt/lib/here/cmake/netc",
          dir, root);
  assert_true(r.status != 0);
  assert_holds(r.err, "there is a target `app`");
  assert_holds(r.err, "netc_generate(app_model SOURCE ...)");
  run_free(&r);
}

/* Written C, run by the installed archive, or by the sources alone. */
static void programs_run_a_net(void **state) {
  (void)state;
  const char *dir = scratch("consumer-runtime");
  write_in(
      dir, "p.c",
      "#include <netrt.h>\n#include <stdio.h>\n#include \"m.h\"\n"
      "static NETRT_ALIGNED unsigned char arena[M_ARENA_BYTES];\n"
      "static const float weights[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"
      "int main(void) {\n  struct netrt net;\n"
      "  float *in;\n  const float *y;\n"
      "  if (netrt_open(&net, &m_model, weights, sizeof weights, arena,\n"
      "                 sizeof arena) != NETRT_OK) return 1;\n"
      "  in = (float *)netrt_input(&net, 0);\n  in[0] = 1;\n  in[1] = -1;\n"
      "  if (netrt_run(&net) != NETRT_OK) return 2;\n"
      "  y = (const float *)netrt_output(&net, 0);\n"
      "  printf(\"%g %g %g\\n\", y[0], y[1], y[2]);\n  return 0;\n}\n");
  write_in(dir, "m.net", "net m\ninput 2\nfc 3 relu\n");
  expect_run(run(PKG "%s/opt/bin/netc m.net -o m.c -o "
                     "m.h >log && cc -std=c99 -Wall -Wextra -pedantic -Werror "
                     "p.c m.c $(pkg-config --cflags --libs netrt) -o p && ./p "
                     "&& c++ -x c++ p.c -x c m.c -x none $(pkg-config "
                     "--cflags --libs netrt) -o pp && ./pp && cc -std=c99 -Os "
                     "-DNETRT_SMALL -I%s/opt/share/netc/runtime p.c m.c "
                     "%s/opt/share/netc/runtime/*.c -lm -o small && ./small",
                 root, root, root, dir, root, root, root),
             "4 5 6\n4 5 6\n4 5 6\n");
}

/* Names of the runtime begin with netrt_, whatever is linked beside it. */
static void the_runtime_names_are_its_own(void **state) {
  (void)state;
  expect_run(
      run("nm -g --defined-only %s/opt/lib/here/libnetrt.a | grep ' [A-Z]"
          " ' | grep -v ' netrt_' || true",
          root),
      "");
}

static void the_manual_and_completion_are_there(void **state) {
  (void)state;
  struct run r = run(
      "cd %s/opt/share && grep -c -i neural man/man1/netc.1 && grep -c "
      "'data-parallel' man/man1/netc.1 && bash -n "
      "bash-completion/completions/netc && head -n 1 zsh/site-functions/_netc "
      "&& grep -c rtx4090 fish/vendor_completions.d/netc.fish && ls "
      "netc/examples/zoo | grep -c net && ../bin/netc "
      "netc/examples/zoo/lenet5.net --depth 0 | grep -c total && ls "
      "netc/editors/*/netc-mode.el netc/editors/vim/*/netc.vim",
      root);
  assert_int_equal(r.status, 0);
  assert_holds(r.out, "#compdef netc\n");
  run_free(&r);
}

static void shells_take_the_completion(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"bash", "bash-completion/completions/netc"},
      {"zsh", "zsh/site-functions/_netc"},
      {"fish", "fish/vendor_completions.d/netc.fish"}};
  for (size_t i = 0; i < 3; i++)
    if (on_path(files[i][0]))
      expect_run(run("%s -n %s/opt/share/%s", files[i][0], root, files[i][1]),
                 "");
}

/* An object is made where there is none, or by other flags. */
static void other_flags_make_objects_again(void **state) {
  (void)state;
  const char *dir = scratch("flags");
  expect_run(run("unset MAKEFLAGS MAKELEVEL; o=%s/b/obj/runtime/kernel.o;"
                 "m() { make -s build=%s/b \"$@\"; echo $?; };"
                 "m $o CFLAGS=-O0; m $o CFLAGS=-O0; m $o CFLAGS=-O0 CI=1;"
                 "m -n $o CFLAGS=-O1; m -n uninstall install CFLAGS=-O1 "
                 ">%s/log; m $o CFLAGS=-O0; m $o CFLAGS=-O1",
                 dir, dir, dir),
             "CC runtime/kernel.c\n0\n0\n0\n0\n0\nCC runtime/kernel.c\n0\n");
}

static void uninstall_leaves_nothing(void **state) {
  (void)state;
  struct run r = run("unset MAKEFLAGS MAKELEVEL; make -s uninstall build=%s "
                     "DESTDIR=%s PREFIX=/opt libdir=/opt/lib/here && find %s "
                     "-not -type d",
                     BUILD, root, root);
  expect_run(r, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(c_programs_link_the_archive_and_the_shared_library),
      cmocka_unit_test(cxx_programs_use_the_header),
      cmocka_unit_test(nothing_else_is_visible),
      cmocka_unit_test(what_is_linked_is_hardened),
      cmocka_unit_test(nothing_is_extern_for_one_file),
      cmocka_unit_test(the_library_neither_prints_nor_exits),
      cmocka_unit_test(a_shared_object_takes_the_archive),
      cmocka_unit_test(python_loads_the_shared_library),
      cmocka_unit_test(cmake_finds_the_package_and_follows_dependencies),
      cmocka_unit_test(cmake_holds_budgets),
      cmocka_unit_test(cmake_lines_of_readme_make_a_program),
      cmocka_unit_test(programs_run_a_net),
      cmocka_unit_test(the_runtime_names_are_its_own),
      cmocka_unit_test(the_manual_and_completion_are_there),
      cmocka_unit_test(shells_take_the_completion),
      cmocka_unit_test(other_flags_make_objects_again),
      cmocka_unit_test(uninstall_leaves_nothing),
  };
  return cmocka_run_group_tests_name("install", tests, install, NULL);
}
