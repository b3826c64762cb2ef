/* netc sweep: rows, fronts, charts, and jobs that make the same of parts. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <unistd.h>

#include "netc.h"
#include "tests/run.h"

#define WIDTHS_NET "tests/data/search/widths.net"

#define SWEEP NETC " sweep " WIDTHS_NET " -D width=4..24 --input 48..96:16 "

/* Any number of threads, parts and beginnings writes the same bytes. */
static void rows_of_a_sweep_are_the_same(void **state) {
  (void)state;
  const char *dir = scratch("sweep");
  struct run r = run(
      SWEEP
      "-o %s/a.csv && " SWEEP
      "--jobs 3 -o %s/b.csv && cmp %s/a.csv %s/b.csv && head -c 1000 %s/a.csv "
      ">%s/c.csv && " SWEEP "--append -o %s/c.csv && cmp %s/a.csv %s/c.csv "
      "&& " SWEEP "--append --jobs 2 -o %s/d.csv && cmp %s/a.csv %s/d.csv && "
      "{ " SWEEP "--shard 1/2; " SWEEP "--shard 2/2 | tail -n +2; } | cmp - "
      "%s/a.csv && wc -l <%s/a.csv",
      dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir);
  assert_int_equal(r.status, 0);
  assert_int_equal(atoi(r.out), 85);
  run_free(&r);
  expect(SWEEP, 0,
         "width,input,param_count,mac_count,arena_bytes,weight_bytes,"
         "training_peak_bytes,origin\n"
         "4,48,56370,595360,36864,225480,823296,netc-0.3-",
         "");
  expect(text_of(NETC " sweep " WIDTHS_NET " -D width=5..9 --append -o "
                      "%s/a.csv",
                 dir),
         2, "", "is not of this sweep");
}

/* With settings of inference a row has their answer, not a training step's. */
static void rows_answer_what_is_asked(void **state) {
  (void)state;
  static const char *const sweeps[] = {
      "examples/llama3.net -D layers=16,32 --gpu rtx4090 "
      "--weight-dtype q4_k_m",
      "examples/simple_cnn.net --board rpi-pico,nucleo-f746zg"};
  expect(text_of(NETC " sweep %s", sweeps[0]), 0,
         "training_peak_bytes,inference_bytes,host_bytes,longest_context,"
         "most_sequences,verdict,origin\n16,4540469248,",
         "");
  expect(text_of(NETC " sweep %s", sweeps[0]), 0,
         ",5962194944,303890432,151296,18,fits,netc-", "");
  expect(text_of(NETC " sweep %s", sweeps[1]), 0,
         ",ram_bytes,flash_bytes,verdict,origin\nrpi-pico,4632902,", "");
  expect(text_of(NETC " sweep %s", sweeps[1]), 0,
         ",400992,18547187,does not fit,netc-", "");
  expect(NETC " sweep examples/llama3.net --context 8K,32K --weight-dtype "
              "q4_k_m",
         0, ",inference_bytes,host_bytes,longest_context,most_sequences,origin",
         "");
  const char *dir = scratch("sweep");
  for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++)
    for (int json = 0; json < 2; json++) {
      const char *end = json ? "jsonl" : "csv";
      const char *sweep = sweeps[i];
      struct run r = run(
          NETC " sweep %s -o %s/q.%s && head -n -1 %s/q.%s >%s/r.%s && " NETC
               " sweep %s --append -o %s/r.%s && cmp %s/q.%s %s/r.%s",
          sweep, dir, end, dir, end, dir, end, sweep, dir, end, dir, end, dir,
          end);
      assert_int_equal(r.status, 0);
      run_free(&r);
    }
}

static void sweeps_that_cannot_be_are_errors(void **state) {
  (void)state;
  expect(NETC " sweep " WIDTHS_NET " -D width=1..9 >/dev/full", 3, "",
         "No space left");
  expect(
      NETC " sweep " WIDTHS_NET " -D width=1..1000000000000", 2, "",
      "there are 1,000,000,000,000 variants, but at most 1,000,000,000 can be");
  expect(NETC " sweep " WIDTHS_NET " -D width=1..99 --shard 3/2", 2, "",
         "--shard takes K/N");
  expect(NETC " sweep " WIDTHS_NET " -D width=1..2 -o x.svg", 2, "",
         "--pareto");
  static const struct {
    const char *arguments, *says;
  } rows[] = {
      {"-o x.doc", "a sweep writes x.csv or x.jsonl; with --pareto x.svg"},
      {"-o x.png", "x.png: the chart needs --pareto: `--pareto macs,arena`"},
      {"-o x.csv -o x.jsonl", "give one file of rows: `"},
      {"--pareto macs", "--pareto macs: a front needs several goals: "},
      {"--pareto mcs,arena", "did you mean `macs`"},
      {"--pareto macs:arena",
       "--pareto macs:arena: separate the names of goals with commas"},
      {"--budget arena=1KiB", "`--budget` belongs to `netc FILE.net`"},
      {"--pareto macs,speed",
       "separate the names of goals with commas: params, macs"},
      {"--pareto macs,arena,macs",
       "--pareto macs,arena,macs: `macs` is repeated"},
      {"--pareto params,macs,arena,weights,train", "at most 4 goals"},
      {"--pareto macs,seconds", "a device whose speed is known"},
      {"--pareto macs,arena --append -o x.csv",
       "--append writes all rows of a sweep; leave it out with --pareto, "
       "--from and jobs"},
      {"--pareto macs,arena --shard 1/2", "`--from PART.csv`"},
      {"--append", "--append needs a file"},
      {"--shard 4", "`-o x.ninja`"},
      {"--shard 9999 -o x.ninja", "from 1 to 500"},
      {"-o x.ninja -o y.sbatch", "give one file of jobs: `"},
      {"-o x.ninja -o -", "jobs write files"},
      {"--from no/such.csv", "cannot read no/such.csv"},
      {"--from x.csv -o x.csv", "--from reads x.csv; write to another file"},
      {"-o " WIDTHS_NET, "a sweep writes"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct run r =
        run(NETC " sweep " WIDTHS_NET " -D width=1..2 %s", rows[i].arguments);
    if (r.status < 2 || *r.out || !strstr(r.err, rows[i].says))
      fail_msg("%s: %d, %s", rows[i].arguments, r.status, r.err);
    run_free(&r);
  }
  expect("cat " WIDTHS_NET " | " NETC " sweep - -D width=1..2 -o x.ninja", 2,
         "", "jobs need a file");
  expect(NETC " sweep " WIDTHS_NET " -D width=-1..1", 0, "-1,,,,,,netc-",
         "2 of 3 variants do not compile");
  expect(NETC " check " WIDTHS_NET " -D width=1..2", 2, "", "`netc sweep`");
  expect(NETC " " WIDTHS_NET " -D width=1..3", 2, "", "`netc sweep`");
  expect(NETC " " WIDTHS_NET " --input 48..96:8", 2, "", "`netc sweep`");
  expect(NETC " sweep --help", 0, "--pareto GOALS", "");
  expect(NETC " sweep", 2, "", "no file to compile");
}

/* A value that another one begins with is not that one: 4 and 48. */
static void rows_of_another_sweep_are_not_taken(void **state) {
  (void)state;
  const char *dir = scratch("other");
  struct run r = run(NETC " sweep " WIDTHS_NET " -D width=40,50 -o %s/a.csv && "
                          "cp %s/a.csv %s/b.csv && " NETC " sweep " WIDTHS_NET
                          " -D width=4,5 --append -o %s/a.csv; echo $?; " NETC
                          " sweep " WIDTHS_NET " -D width=4,5 --from %s/a.csv; "
                          "echo $?; cmp %s/a.csv %s/b.csv",
                     dir, dir, dir, dir, dir, dir, dir);
  assert_string_equal(r.out, "2\n2\n");
  assert_non_null(strstr(r.err, "line 2 of"));
  run_free(&r);
}

/*
 * Rows carry their origin: those of another source, of a file that it uses,
 * of other settings or another version are refused by --append and --from, and
 * what was there stays as it is. The same question goes on.
 */
static void rows_of_another_origin_are_refused(void **state) {
  static const struct {
    const char *change, *arguments, *says; /* NULL: it goes on */
  } rows[] = {
      {"true", "", NULL},
      {"true", "--jobs 2", NULL},
      {"true", "--batch 32 --batch=4", NULL}, /* the last one counts */
      {"true", "-I .", NULL},
      {"cp n.net m.net; cat m.net >n.net", "", NULL},
      {"echo '# more' >>n.net", "", "is from another source"},
      {"echo 'param d = 2' >>part.net", "", "is from another source"},
      {"true", "--batch 8", "with other settings"},
      {"true", "--optimizer adam", "with other settings"},
      {"true", "-D k=5", "with other settings"},
      {"true", "--input 12x12x4", "with other settings"},
      {"true", "--dtype f16", "with other settings"},
      {"sed -i s/netc-0[.][0-9]*-/netc-0.1-/ $f", "",
       "is from another version of netc"},
  };
  static const char *const more[] = {
      "s/^2,\\([0-9]*\\),/2,\\1,\\1,/", /* a cell too many */
      "3s/$/,/",
      "3s/^2,[0-9]*,/2,/",     /* one too few */
      "3s/^2,[0-9]*,/2,12x,/", /* no number */
      "3s/^2,[0-9]*,/2,012,/", /* not as netc writes it */
      "3s/^2,[0-9]*,/2,-1,/",
      "3s/^2,[0-9]*,/2,1\\x00,/", /* a zero byte */
      "3s/^2,[0-9]*,/2,99999999999999999999,/",
      "3s/^2.*/2,1,1/", /* torn, with a line end */
      "3s/^2,[0-9]*,/2,1111111111222222222233333333334444444444555555,/",
      "1s/origin/orign/"};
  (void)state;
  const char *dir = scratch("origin");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int kind = 0; kind < 3; kind++) {
      const char *file = kind == 2 ? "a.jsonl" : "a.csv";
      bool from = kind == 1;
      struct run r = run(
          "cd %s && rm -f * && printf 'use \"part.net\"\nparam c = 4\nparam k "
          "= 3\ninput 8x8x4\nconv c k pad\npart\n' >n.net && printf 'def part "
          "{ relu }\n' >part.net && s='" NETC_PATH " sweep n.net -D c=1..4 "
          "--batch 4' f=a.%s && $s -o $f && cp $f whole && { %s; } && head -n "
          "%d $f >b.%s && cp b.%s before && $s %s %s; echo $?; cmp b.%s %s",
          dir, file + 2, rows[i].change, from ? 9 : 3, file + 2, file + 2,
          rows[i].arguments,
          from ? "--from b.csv -o new.csv && cmp new.csv whole"
               : text_of("--append -o b.%s", file + 2),
          file + 2, rows[i].says || from ? "before" : "whole");
      if (strcmp(r.out, rows[i].says ? "2\n" : "0\n") != 0 ||
          (rows[i].says && !strstr(r.err, rows[i].says)))
        fail_msg("%s %s, %d: %s%s", rows[i].change, rows[i].arguments, kind,
                 r.out, r.err);
      run_free(&r);
    }
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    struct run r =
        run("cd %s && " NETC_PATH " sweep n.net -D c=1..4 -o w.csv "
            "&& sed '%s' w.csv >v.csv && ! cmp -s v.csv w.csv && cp "
            "v.csv before && " NETC_PATH " sweep n.net -D c=1..4 "
            "--append -o v.csv; echo $?; " NETC_PATH
            " sweep n.net -D c=1..4 --from v.csv -o no.csv; echo $?; "
            "cmp v.csv before; ls no.csv 2>&1 | wc -l",
            dir, more[i]);
    if (strcmp(r.out, "2\n2\n1\n") != 0)
      fail_msg("%s: %s%s", more[i], r.out, r.err);
    run_free(&r);
  }
}

/* A writer that is killed leaves rows, with which the next one goes on. */
static void a_killed_sweep_goes_on(void **state) {
  (void)state;
  const char *dir = scratch("killed");
#define LONG "sweep " WIDTHS_NET " -D width=1..60 --input 48..256:8 "
  struct run r = run(
      NETC " " LONG "-o %s/a.csv && { " NETC " " LONG "--append -o %s/b.csv & "
           "while [ ! -s %s/b.csv ]; do :; done; kill -9 $!; wait $!; echo $?; "
           "} && head -n 9 %s/b.csv >%s/c.csv && printf 1,1 >>%s/c.csv && for "
           "f in b c; do " NETC " " LONG "--append --jobs 2 -o %s/$f.csv && "
           "cmp %s/a.csv %s/$f.csv && echo same; done; ls %s | wc -l",
      dir, dir, dir, dir, dir, dir, dir, dir, dir, dir);
  assert_string_equal(r.out, "137\nsame\nsame\n3\n");
  run_free(&r);
#undef LONG
}

enum { COLUMNS = 7, MOST_ROWS = 400 };

/* Rows of numbers, with a header; as many as there are. */
static int read_rows(const char *path, int64_t rows[][COLUMNS]) {
  int count = 0;
  char *text = read_text(path, &(size_t){0});
  assert_non_null(text);
  for (char *at = strchr(text, '\n') + 1; *at; at++, count++) {
    assert_true(count < MOST_ROWS);
    for (int i = 0; i < COLUMNS; i++) {
      rows[count][i] = strtoll(at, &at, 10);
      if (i + 1 < COLUMNS)
        at++;
    }
    at = strchr(at, '\n'); /* behind its origin */
  }
  free(text);
  return count;
}

/* True if a is at least as good: more params and MACs, less arena. */
static bool is_as_good(const int64_t *a, const int64_t *b) {
  return a[2] >= b[2] && a[3] >= b[3] && a[4] <= b[4];
}

static void a_front_is_what_nothing_beats(void **state) {
  (void)state;
  static int64_t all[MOST_ROWS][COLUMNS], front[MOST_ROWS][COLUMNS];
  const char *dir = scratch("front");
  struct run r = run(SWEEP "-o %s/all.csv && " SWEEP
                           "--pareto params,macs,arena -o %s/front.csv",
                     dir, dir);
  assert_int_equal(r.status, 0);
  run_free(&r);
  int count = read_rows(text_of("%s/all.csv", dir), all);
  int best = read_rows(text_of("%s/front.csv", dir), front), found = 0;
  for (int i = 0; i < count; i++) {
    bool beaten = false;
    for (int k = 0; k < count && !beaten; k++)
      beaten = k != i && is_as_good(all[k], all[i]) &&
               (k > i || !is_as_good(all[i], all[k]));
    if (beaten)
      continue;
    assert_true(found < best);
    assert_memory_equal(front[found++], all[i], sizeof *all);
  }
  assert_int_equal(found, best);
  assert_true(best > 5 && best < count);
}

/* The later of equal goals; less of a count where that is asked for. */
static void a_front_obeys_its_goals(void **state) {
  (void)state;
  expect(NETC " sweep " WIDTHS_NET " -D width=2..4 --optimizer sgd,adam "
              "--pareto macs,arena",
         0, "\n2,adam,", "");
  struct run r = run(NETC " sweep " WIDTHS_NET " -D width=2..9 "
                          "--pareto=-macs,arena | tail -n +2");
  assert_int_equal(strncmp(r.out, "2,", 2), 0);
  assert_ptr_equal(strchr(r.out, '\n'), strrchr(r.out, '\n'));
  run_free(&r);
  expect(NETC " sweep " WIDTHS_NET " -D width=2..4 --gpu t4,h100 "
              "--pareto macs,seconds",
         0, "4,h100,", "");
  expect(NETC " sweep " WIDTHS_NET " -D width=-2..0 --pareto macs,arena", 1, "",
         "3 of 3 variants do not compile");
}

static void charts_are_drawn_of_fronts(void **state) {
  (void)state;
  const char *dir = scratch("charts");
  struct run r =
      run(SWEEP "--pareto macs,arena -o %s/a.svg -o %s/a.pdf -o %s/a.tex "
                "--title Fronts -o %s/a.csv --width 240pt && " SWEEP
                "-o %s/all.csv && " SWEEP "--pareto macs,arena --jobs 2 -o "
                "%s/b.svg --title Fronts --width 240pt --from %s/all.csv && "
                "cmp %s/a.svg %s/b.svg && head -c 4 %s/a.pdf && grep -o "
                "'<text[^>]*>[^<]*</text>' %s/a.svg | sed 's/<[^>]*>//g' && "
                "xmllint --noout %s/a.svg 2>/dev/null; grep -c '<title>width, "
                "input: ' %s/a.svg; expr $(wc -l <%s/a.csv) - 1",
          dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir, dir);
  static const char *const has[] = {"%PDF",      "Fronts\n",   "\nMACs\n",
                                    "\narena\n", "\n24, 96\n", " KiB\n"};
  assert_int_equal(r.status, 0);
  for (size_t i = 0; i < sizeof has / sizeof *has; i++)
    if (!strstr(r.out, has[i]))
      fail_msg("no %s in\n%s", has[i], r.out);
  /* A diamond for each row of the front. */
  int rows, titles;
  char *last = strrchr(r.out, '\n');
  while (last > r.out && last[-1] != '\n')
    last--;
  rows = atoi(last);
  for (last--; last > r.out && last[-1] != '\n';)
    last--;
  titles = atoi(last);
  assert_true(rows > 3);
  assert_int_equal(rows, titles);
  run_free(&r);
  if (on_path("dot"))
    expect(text_of(SWEEP "--pareto params,macs,arena,weights -o %s/a.png && "
                         "head -c 4 %s/a.png",
                   dir, dir),
           0, "\x89PNG", "");
}

/* More variants than dots: they are rounded, and memory does not grow. */
static void many_variants_have_one_chart(void **state) {
  (void)state;
  const char *dir = scratch("many");
  struct run r = run(
      "printf 'param a = 1\\nparam b = 1\\ninput 8x8x1\\nconv a 1x1\\nconv b "
      "1x1\\n' >%s/x.net && " NETC " sweep %s/x.net -D a=1..120 -D b=1..120 "
      "--pareto macs,arena --jobs 2 -o %s/a.svg && " NETC " sweep %s/x.net "
      "-D a=1..120 -D b=1..120 --pareto macs,arena -o %s/b.svg && cmp "
      "%s/a.svg %s/b.svg && wc -c <%s/a.svg && grep -o '14,400 variants' "
      "%s/a.svg",
      dir, dir, dir, dir, dir, dir, dir, dir, dir);
  assert_int_equal(r.status, 0);
  assert_true(atoi(r.out) > 10000 && atoi(r.out) < 2000000);
  assert_non_null(strstr(r.out, "14,400 variants"));
  run_free(&r);
}

#define EXAMPLE                                                             \
  "sweep mcunet.net -D width=0.2..1:0.05 -D depth=1..4 --input 48..224:16 " \
  "--pareto macs,arena,weights "

/* The files of examples/search are what netc writes. */
static void jobs_of_the_examples_are_current(void **state) {
  (void)state;
  const char *dir = scratch("jobs");
  struct run r = run("cp examples/search/* %s && cd %s && " NETC_PATH
                     " " EXAMPLE "--shard 4 -o pareto.csv -o pareto.svg -o "
                     "build.ninja && " NETC_PATH " " EXAMPLE "--shard 4 -o "
                     "pareto.csv -o pareto.svg -o sweep.sbatch && cd "
                     "$OLDPWD && for f in build.ninja sweep.sbatch; do diff "
                     "%s/$f examples/search/$f || exit 1; done",
                     dir, dir, dir);
  if (r.status != 0)
    fail_msg("examples/search: %s%s", r.out, r.err);
  run_free(&r);
}

/* Ninja has no escape for these; a script for Slurm is the way out, unless it
 * is itself called so. */
static void names_that_ninja_cannot_read_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"a\nrule z", "a|b", "a\rb",
                                      "a\\\nb",    "|",   "a\n"};
  const char *dir = scratch("hostile");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    bool bar = strchr(names[i], '|');
    struct run r = run(
        "cd %s && rm -f * && n='%s' && netc=" NETC_PATH " && printf 'param c = "
        "4\ninput 8x8x4\nconv c 3x3\n' | tee ./\"$n.net\" >good.net && "
        "s() { $netc sweep \"$@\" -D c=1..4; echo $?; } && "
        "s \"$n.net\" -o all.csv -o j.ninja; s good.net -o \"$n.csv\" -o "
        "j.ninja; s good.net -o \"$n.ninja\"; ls -b | wc -l; "
        "s \"$n.net\" -o all.csv -o j.sbatch --shard 2; for k in 1 2 0; do "
        "NETC=$netc SLURM_ARRAY_TASK_ID=$k sh j.sbatch; done; "
        "$netc sweep good.net -D c=1..4 -o - | cmp - all.csv && echo same; "
        "s good.net -o \"$n.sbatch\"",
        dir, names[i]);
    assert_string_equal(r.out, bar ? "2\n2\n2\n2\n0\nsame\n0\n"
                                   : "2\n2\n2\n2\n0\nsame\n2\n");
    assert_holds(r.err, bar ? "which has a `|`; change it, or write a script"
                            : "which has a line break; change it, or write");
    run_free(&r);
  }
}

static void ninja_makes_the_same(void **state) {
  (void)state;
  const char *dir = scratch("ninja");
  if (!on_path("ninja"))
    skip();
  struct run r = run("cp examples/search/* %s && cd %s && NETC=" NETC_PATH
                     " ninja && " NETC_PATH " " EXAMPLE "-o one.csv -o "
                     "one.svg && cmp pareto.csv one.csv && cmp pareto.svg "
                     "one.svg && NETC=" NETC_PATH " ninja && touch mcunet.net "
                     "&& NETC=" NETC_PATH " ninja -n",
                     dir, dir);
  if (r.status != 0)
    fail_msg("%s%s", r.out, r.err);
  assert_non_null(strstr(r.out, "[5/5]"));
  assert_non_null(strstr(r.out, "no work to do"));
  assert_non_null(strstr(strstr(r.out, "no work to do"), "[5/5]"));
  run_free(&r);
}

/* Names that a shell and Ninja would read otherwise; all rows; a device. */
static void jobs_keep_names_as_they_are(void **state) {
  (void)state;
  const char *dir = scratch("names");
  struct run r = run(
      "cp " WIDTHS_NET " '%s/my $net: 1.net' && cd %s && netc() { " NETC_PATH
      " sweep \"$@\" -D width=4..9 --input 48..96:16 --gpu t4 "
      "'my $net: 1.net'; } && netc -o one.csv && netc -o 'a b.csv' -o 'my "
      "jobs.sbatch' --shard 3 && for t in 1 2 3 0; do NETC=" NETC_PATH
      " SLURM_ARRAY_TASK_ID=$t sh 'my jobs.sbatch' || exit 1; done; cmp "
      "one.csv 'a b.csv' && netc --shard 2 -o n.ninja && { command -v ninja "
      ">/dev/null || exit 0; } && NETC=" NETC_PATH
      " ninja -f n.ninja && cmp one.csv n.csv",
      dir, dir);
  if (r.status != 0)
    fail_msg("%s%s", r.out, r.err);
  run_free(&r);
}

/* A text of the library's has at most 255 bytes in a format. */
static void names_of_jobs_may_be_long(void **state) {
  (void)state;
  const char *dir = scratch("long");
  char name[201];
  memset(name, 'x', 200);
  name[200] = '\0';
  struct run r =
      run("cd %s && cp $OLDPWD/" WIDTHS_NET " %s.net && for s in ninja sbatch; "
          "do " NETC_PATH " sweep %s.net -D width=1,2 --shard 2 -o %s.$s || "
          "exit 1; done && for t in 1 2 0; do NETC=" NETC_PATH
          " SLURM_ARRAY_TASK_ID=$t sh %s.sbatch || exit 1; done; wc -l <%s.csv",
          dir, name, name, name, name, name);
  assert_string_equal(r.out, "3\n");
  run_free(&r);
}

/* Parts that are out of order, or not all, are not put together. */
static void parts_are_whole(void **state) {
  (void)state;
  const char *dir = scratch("parts");
  struct run r =
      run("for k in 1 2 3; do " SWEEP "--shard $k/3 -o %s/$k.csv || "
          "exit 1; done; p=%s; " SWEEP "-o $p/all.csv && " SWEEP
          "--from $p/1.csv --from $p/2.csv --from $p/3.csv | cmp - "
          "$p/all.csv && echo same; " SWEEP "--from $p/1.csv --from "
          "$p/3.csv --from $p/2.csv; echo $?; " SWEEP "--from "
          "$p/1.csv --from $p/2.csv; echo $?; " SWEEP "--from "
          "$p/all.csv --from $p/1.csv; echo $?; head -c 200 "
          "$p/all.csv >$p/torn.csv; " SWEEP "--from $p/torn.csv; "
          "echo $?; : >$p/empty.csv; " SWEEP "--from $p/empty.csv; "
          "echo $?; " SWEEP "--from $p/all.csv -o $p/x.jsonl && " SWEEP
          "-o $p/y.jsonl && cmp $p/x.jsonl $p/y.jsonl && echo "
          "same",
          dir, dir);
  assert_string_equal(r.out, "same\n2\n2\n2\n2\n2\nsame\n");
  assert_non_null(strstr(r.err, "/3.csv is not of this sweep"));
  assert_non_null(
      strstr(r.err, "only 56 of 84 rows are there; name all parts, in order"));
  run_free(&r);
}

/* On one node, where Slurm can be started: as root, with slurm-wlm. */
static void slurm_makes_the_same(void **state) {
  (void)state;
  const char *dir = scratch("slurm");
  struct run r =
      run("cp examples/search/* %s && here=$PWD && cd %s && " NETC_PATH
          " " EXAMPLE "-o one.csv -o one.svg && NETC=" NETC_PATH
          " timeout 120 sh $here/tests/slurm.sh $PWD/slurm sh -c "
          "'sbatch -W -d afterok:$(sbatch --parsable sweep.sbatch) "
          "--array=0 sweep.sbatch' && cmp one.csv pareto.csv && cmp "
          "one.svg pareto.svg",
          dir, dir);
  int status = r.status;
  if (status == 77)
    print_message("%s", r.err);
  else if (status != 0)
    fail_msg("%s%s", r.out, r.err);
  run_free(&r);
  if (status == 77)
    skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_a_sweep_are_the_same),
      cmocka_unit_test(rows_answer_what_is_asked),
      cmocka_unit_test(sweeps_that_cannot_be_are_errors),
      cmocka_unit_test(rows_of_another_sweep_are_not_taken),
      cmocka_unit_test(rows_of_another_origin_are_refused),
      cmocka_unit_test(a_killed_sweep_goes_on),
      cmocka_unit_test(names_that_ninja_cannot_read_are_refused),
      cmocka_unit_test(a_front_is_what_nothing_beats),
      cmocka_unit_test(a_front_obeys_its_goals),
      cmocka_unit_test(charts_are_drawn_of_fronts),
      cmocka_unit_test(many_variants_have_one_chart),
      cmocka_unit_test(jobs_of_the_examples_are_current),
      cmocka_unit_test(ninja_makes_the_same),
      cmocka_unit_test(jobs_keep_names_as_they_are),
      cmocka_unit_test(names_of_jobs_may_be_long),
      cmocka_unit_test(parts_are_whole),
      slow_test(slurm_makes_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
