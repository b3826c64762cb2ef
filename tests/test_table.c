/* netc plan: tables of buffers in, the same with offsets out. */
#include "tests/run.h"

#define PLAN "tests/data/planner/"

static void a_table_gets_its_offsets(void **state) {
  (void)state;
  struct run r = run(NETC " plan " PLAN "minimalloc/input.12.csv");
  assert_int_equal(r.status, 0);
  assert_same_text("offsets",
                   "id,lower,upper,size,offset\n"
                   "b1,0,3,4,0\n"
                   "b2,3,9,4,0\n"
                   "b3,0,9,4,4\n"
                   "b4,9,21,4,0\n"
                   "b5,0,21,4,8\n",
                   r.out);
  assert_string_equal(
      r.err, PLAN "minimalloc/input.12.csv: 5 buffers, arena 12 bytes, lower "
                  "bound 12, gap 0.000 %; proven optimal; 0 nodes\n");
  run_free(&r);
}

/* A table that netc wrote is read again; other columns stay as they were. */
static void columns_are_found_by_name(void **state) {
  (void)state;
  expect("printf 'size,who,upper,id,lower\\r\\n4,\"a, b\",2,x,0\\r\\n"
         "\\r\\n6, y z ,3,\"y\",1' | " NETC " plan -",
         0,
         "size,who,upper,id,lower,offset\n4,\"a, b\",2,x,0,0\n"
         "6, y z ,3,\"y\",1,4\n",
         "<stdin>: 2 buffers, arena 10 bytes");
  expect(
      "printf 'id,offset,lower,upper,size\\na,77,0,2,4\\nb,9,2,3,5\\n' | " NETC
      " plan -",
      0, "id,lower,upper,size,offset\na,0,2,4,0\nb,2,3,5,0\n", "");
  expect("printf '\\357\\273\\277id,lower,upper,size\\na,0,2,4\\n' | " NETC
         " plan -",
         0, "id,lower,upper,size,offset\na,0,2,4,0\n", "1 buffer, arena 4");
  expect("printf 'id,lower,upper,size,alignment\\na,0,2,1,1\\nb,0,2,5,8\\n' "
         "| " NETC " plan -",
         0, "b,0,2,5,8,0\n", "arena 6 bytes");
  expect("printf 'id,lower,upper,size\\n' | " NETC " plan -", 0,
         "id,lower,upper,size,offset\n", "0 buffers, arena 0 bytes");
  const char *dir = scratch("plan");
  struct run r = run(NETC " plan " PLAN "cnn/resnet50_224_f32.csv -o %s/a.csv "
                          "&& " NETC " plan %s/a.csv -o - | cmp - %s/a.csv && "
                          "ls %s",
                     dir, dir, dir, dir);
  assert_string_equal(r.out, "a.csv\n");
  assert_int_equal(r.status, 0);
  run_free(&r);
}

static void capacity_and_alignment_are_kept(void **state) {
  (void)state;
  expect(NETC " plan --capacity 12 " PLAN "minimalloc/input.12.csv", 0,
         "offset\n", "arena 12 bytes");
  expect(NETC " plan --capacity=11 " PLAN "minimalloc/input.12.csv", 1, "",
         "input.12.csv: error: no plan within 11 bytes was found, and none "
         "exists; the smallest found has 12 bytes\n");
  expect(NETC " plan --effort 10 --capacity=986112 " PLAN
              "minimalloc/D.1048576.csv",
         1, "",
         "D.1048576.csv: error: no plan within 986,112 bytes was found; the "
         "smallest found has 1,045,504 bytes\n");
  expect(NETC " plan --align 64 " PLAN "minimalloc/input.12.csv", 0, ",64\n",
         "arena 192 bytes");
  const char *dir = scratch("plan");
  struct run r = run(NETC " plan --capacity=11 " PLAN
                          "minimalloc/input.12.csv -o %s/x.csv; ls %s",
                     dir, dir);
  assert_string_equal(r.out, "");
  run_free(&r);
}

static void mistakes_in_a_table_are_shown_where_they_are(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "<stdin>:1:1: error: the table is empty; the first line must name "
           "the columns id,lower,upper,size"},
      {"\\n\\n", "<stdin>:1:1: error: the table is empty; the first line must "
                 "name the columns id,lower,upper,size"},
      {"id,lower,upper\\na,0,1\\n",
       "<stdin>:1:1: error: column `size` is missing"},
      {"id,lower,uper,size\\n", "<stdin>:1:10: error: column "
                                "`upper` is missing; did you mean `uper`?"},
      {"id,lower,lower,upper,size\\n", "<stdin>:1:10: error: column "
                                       "`lower` appears twice"},
      {"id,lower,upper,size\\na,0,1,-4\\n",
       "<stdin>:2:7: error: `size`: a number must not be negative"},
      {"id,lower,upper,size\\na,-1,1,4\\n",
       "<stdin>:2:3: error: `lower`: a number must not be negative"},
      {"id,lower,upper,size\\na,0,1,4.5\\n",
       "<stdin>:2:7: error: `size`: this is not a whole number"},
      {"id,lower,upper,size\\na,0,1,\\n",
       "<stdin>:2:7: error: `size`: a number is missing"},
      {"id,lower,upper,size\\n\\nq,3,3,4\\n",
       "<stdin>:3:5: error: `upper` must be above `lower`; "},
      {"id,lower,upper,size\\n\\303\\251,9,3,4\\n",
       "<stdin>:2:5: error: `upper` must be above `lower`; "},
      {"id,lower,upper,size\\na,0,1,9223372036854775808\\n",
       "<stdin>:2:7: error: `size`: this number has more than 63 bits"},
      {"id,lower,upper,size\\na,0,1,9223372036854775807\\n",
       "<stdin>: error: the sum of the sizes is more than 2^61"},
      {"id,lower,upper,size\\na,0,1\\n",
       "<stdin>:2:1: error: 3 fields, but the header has 4"},
      {"id,lower,upper,size\\na,0,1,4,5\\n",
       "<stdin>:2:1: error: 5 fields, but the header has 4"},
      {"id,lower,upper,size\\n\"a,0,1,4\\n",
       "<stdin>:2:1: error: a quote is not closed on its line"},
      {"\\177ELF\\001\\002\\000\\000",
       "<stdin>:1:5: error: byte 0x01 is not text"},
      {"id,lower,upper,size\\na,0,\\377,4\\n",
       "<stdin>:2:5: error: byte 0xFF is not text"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct run r = run("printf '%s' | " NETC " plan -", cases[i].text);
    if (r.status != 1)
      print_error("%s: status %d\n", cases[i].text, r.status);
    assert_int_equal(r.status, 1);
    assert_string_equal(r.out, "");
    assert_holds(r.err, cases[i].message);
    run_free(&r);
  }
}

static void many_mistakes_are_not_all_shown(void **state) {
  (void)state;
  struct run r = run("{ echo id,lower,upper,size; yes x,5,4,1 | head -n 500; } "
                     "| " NETC " plan - 2>&1 | grep -c error:; "
                     "{ echo id,lower,upper,size; yes x,5,4,1 | head -n 500; } "
                     "| " NETC " plan -");
  assert_string_equal(r.out, "20\n");
  assert_holds(r.err, "netc: stopped after 20 errors\n");
  assert_int_equal(r.status, 1);
  run_free(&r);
}

static void slips_of_the_command_line_are_explained(void **state) {
  (void)state;
  expect(NETC " plan", 2, "", "netc plan needs a file");
  expect(NETC " plan a.csv b.csv", 2, "", "one file at a time");
  expect(NETC " plan --capacity", 2, "", "`--capacity` needs a value");
  expect(NETC " plan --capacity 1k x.csv", 2, "",
         "--capacity takes a number from 1, not `1k`");
  expect(NETC " plan --align 0 x.csv", 2, "", "--align takes a number from 1");
  expect(NETC " plan --effort -5 x.csv", 2, "", "--effort takes a number");
  expect(NETC " plan --alihn=4 x.csv", 2, "", "unknown option `--alihn=4`");
  expect(NETC " plan no/such.csv", 3, "", "cannot read no/such.csv: No such");
  expect(NETC " plan tests", 3, "", "cannot read tests");
  expect(NETC " plan " PLAN "minimalloc/input.12.csv -o no/such/x.csv", 3, "",
         "cannot write no/such/x.csv");
  expect(NETC " plan " PLAN "minimalloc/input.12.csv >/dev/full", 3, "",
         "cannot write standard output: No space left");
  expect(NETC " plan --help", 0, "--capacity N", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_table_gets_its_offsets),
      cmocka_unit_test(columns_are_found_by_name),
      cmocka_unit_test(capacity_and_alignment_are_kept),
      cmocka_unit_test(mistakes_in_a_table_are_shown_where_they_are),
      cmocka_unit_test(many_mistakes_are_not_all_shown),
      cmocka_unit_test(slips_of_the_command_line_are_explained),
  };
  return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
