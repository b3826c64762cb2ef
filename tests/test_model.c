/* The model after each pass, for every net there is; and one that is wrong. */
#include "library/context.h"
#include "sema/model/verify.h"
#include "tests/nets.h"

static int passes_seen;

static void verify(struct netc *netc, const char *pass) {
  int64_t where;
  const char *wrong = NULL;
  if (netc->load->diags.errors == 0)
    wrong = model_verify(&netc->load->model, &where);
  if (wrong)
    print_error("%.*s, after %s, node %lld: %s\n",
                SLICE_ARG(netc->load->model.name), pass, (long long)where,
                wrong);
  assert_null(wrong);
  passes_seen++;
}

static void verify_all(const char *folder) {
  struct paths nets = find_paths(folder, ".net");
  assert_true(nets.count > 2);
  for (size_t i = 0; i < nets.count; i++) {
    if (strstr(nets.at[i], "never-ends") || strstr(nets.at[i], "billion"))
      continue; /* they take long to find out */
    struct netc *netc = netc_open(NULL, NULL);
    netc->after_pass = verify;
    netc_load_file(netc, nets.at[i]);
    netc_close(netc);
  }
  paths_free(&nets);
}

static void every_pass_leaves_a_whole_model(void **state) {
  (void)state;
  passes_seen = 0;
  verify_all("examples");
  verify_all("tests/golden");
  verify_all("tests/data/published");
  assert_true(passes_seen > 600);
}

static bool drop(void *user, const char *bytes, size_t length) {
  (void)user;
  (void)bytes;
  (void)length;
  return true;
}

/* Each change is found, and not dumped: the verifier itself can fail. */
static void a_broken_model_is_noticed(void **state) {
  (void)state;
  enum { CHANGES = 9 };
  static const char text[] = "input 8x8x4\nb: { conv 4 3x3 pad bn relu }\n"
                             "again b\nadd {} { conv 4 1x1 }\noutput y\n";
  for (int change = 0; change < CHANGES; change++) {
    int64_t where;
    struct netc *netc = netc_open(NULL, NULL);
    assert_int_equal(netc_load_text(netc, "x.net", text, strlen(text)),
                     NETC_OK);
    struct model *model = &netc->load->model;
    assert_null(model_verify(model, &where));
    switch (change) {
    case 0: model->inputs.at[1] = 5; break;
    case 1: ((struct shape *)model->nodes.at[2].out)->dim[0] = 0; break;
    case 2: model->nodes.at[2].group = 99; break;
    case 3: model->nodes.at[3].head = 2; break;
    case 4: model->nodes.at[4].shares = 6; break;
    case 5: model->params.at[0].same = 1; break;
    case 6: model->groups.at[1].end = 99; break;
    case 7: model->outputs.at[0].node = -2; break;
    case 8: model->costs.at[model->like[1]].macs++; break;
    }
    const char *wrong = model_verify(model, &where);
    if (!wrong)
      print_error("change %d was not noticed\n", change);
    assert_non_null(wrong);
    assert_int_equal(netc_emit(netc, "shapes", NULL, drop, NULL), NETC_BUG);
    assert_non_null(strstr(netc_message(netc), wrong));
    netc_close(netc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_pass_leaves_a_whole_model),
      cmocka_unit_test(a_broken_model_is_noticed),
  };
  return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
