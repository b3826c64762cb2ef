/*
 * What fuzzing and reviews have found, again: every file of tests/data/seeds
 * ends with the status 0 or 1, in bounded time and memory. A source's first
 * line may give options, as those of the golden cases do, with a command in
 * front of them; a file of another framework is imported, strictly and with
 * --allow-unknown. Those in slow/ take more than a second; those in bounds/ end
 * within two seconds and 200 MB, or name the limit that they pass.
 */
#include "tests/run.h"

/* By folder: of processor and of addresses, which sanitizers take terabytes
   of. */
static const struct bounds {
  const char *folder;
  int seconds, kibibytes;
} bounds[] = {
    {"/slow/", 60, 4 << 20}, {"/bounds/", 2, 200000}, {"", 5, 1 << 20}};

static const struct bounds *bounds_of(const char *path) {
  const struct bounds *b = bounds;
  while (!strstr(path, b->folder))
    b++;
  return b;
}

static const char mark[] = "# netc: ";

/* The options of the first line, cut off in place. */
static const char *options_of(char *text) {
  if (strncmp(text, mark, sizeof mark - 1) != 0)
    return "";
  text[strcspn(text, "\n")] = '\0';
  return text + sizeof mark - 1;
}

static void replay_with(const char *path, const char *import) {
  const struct bounds *b = bounds_of(path);
  bool net = strcmp(strrchr(path, '.'), ".net") == 0;
  char memory[64] = "", *text = read_text(path, NULL);
  assert_non_null(text);
  if (!SANITIZED)
    snprintf(memory, sizeof memory, "ulimit -v %d &&", b->kibibytes);
  const char *options = net ? options_of(text) : "";
  int command = *options == '-' ? 0 : (int)strcspn(options, " ");
  struct run r =
      run("ulimit -t %d && %s %s %.*s %s %s %s",
          SANITIZED ? 10 * b->seconds : b->seconds, memory, NETC, command,
          options, net ? "" : import, path, options + command);
  if (r.status != 0 && r.status != 1)
    print_error("%s: status %d\n%.2000s\n", path, r.status, r.err);
  assert_in_range(r.status, 0, 1);
  if (r.status == 1)
    assert_true(strstr(r.err, "error: ") || strstr(r.err, "netc: "));
  run_free(&r);
  free(text);
}

static void replay(void **state) {
  const char *path = *state;
  replay_with(path, "import");
  if (strcmp(strrchr(path, '.'), ".net") != 0)
    replay_with(path, "import --allow-unknown");
}

int main(void) {
  static const char *const suffixes[] = {
      ".net",  ".onnx",   ".prototxt", ".cfg", ".json", ".gguf",
      ".yaml", ".tflite", ".param",    ".py",  ".pt2",  ".xml"};
  const char *folder = "tests/data/seeds";
  struct CMUnitTest *tests = NULL;
  size_t count = 0;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    struct paths paths = find_paths(folder, suffixes[i]);
    tests = realloc(tests, (count + paths.count + 1) * sizeof *tests);
    for (size_t k = 0; k < paths.count; k++) {
      char *path = paths.at[k], *name = malloc(strlen(path) + sizeof SLOW);
      assert_non_null(name);
      sprintf(name, "%s%s", strstr(path, "/slow/") ? SLOW : "", path);
      tests[count++] = (struct CMUnitTest){
          .name = name, .test_func = replay, .initial_state = path};
    }
    free(paths.at);
  }
  return count ? _cmocka_run_group_tests("seeds", tests, count, NULL, NULL) : 1;
}
