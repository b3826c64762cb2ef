/*
 * netc verify: runs a net in every available way. netc's runtime, a program
 * made from x.c, ONNX Runtime with x.onnx and PyTorch with x.py get equal
 * weights and inputs, and their outputs are compared.
 */
#define _XOPEN_SOURCE 700
#include "driver/run/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/guard.h"
#include "driver/child.h"

const char *const verify_names[PARTY_COUNT] = {"runtime", "x.c", "x.onnx",
                                               "x.py"};

/* An interrupt stops a run at the next operation. */
static int stop(void *user, const struct netrt *net, uint32_t op,
                enum netrt_when when) {
  (void)user, (void)net, (void)op, (void)when;
  return child_stopped();
}

/* Allocates outputs, except the runtime's. */
static void open_outputs(struct verifying *v) {
  const struct netrt_model *model = &v->run->model;
  for (int i = 0; i < PARTY_COUNT; i++) {
    v->outputs[i] = arena_alloc(&v->run->arena, model->output_count + 1U,
                                sizeof *v->outputs[i]);
    for (uint32_t k = 0; i != PARTY_RUNTIME && k < model->output_count; k++)
      v->outputs[i][k] = arena_alloc(
          &v->run->arena, netrt_values(model, &model->outputs[k].operand) + 1,
          sizeof(float));
  }
}

static int run_runtime(struct verifying *v) {
  struct running *r = v->run;
  int status = run_start(r);
  if (status != EXIT_DONE)
    return status;
  r->net.hook = stop;
  run_put_inputs(r);
  status = run_explain(r, netrt_run(&r->net));
  for (uint32_t i = 0; i < r->model.output_count && status == EXIT_DONE; i++)
    v->outputs[PARTY_RUNTIME][i] = run_output(r, i);
  v->made[PARTY_RUNTIME] = status == EXIT_DONE;
  snprintf(v->about[PARTY_RUNTIME], sizeof *v->about, "netc %s, fast kernels",
           netc_version());
  return status;
}

/* Tries each party even if another fails. */
static int run_parties(struct verifying *v) {
  static int (*const parties[])(struct verifying *) = {
      run_runtime, verify_run_c, verify_run_onnx, verify_run_torch};
  int first = EXIT_DONE;
  for (size_t i = 0; i < PARTY_COUNT && !child_stopped(); i++) {
    if (v->narrow && i >= PARTY_ONNX) {
      snprintf(v->about[i], sizeof *v->about,
               "only x.c has weights that are computed and then rounded");
      continue;
    }
    if (v->small && i == PARTY_TORCH) {
      snprintf(v->about[i], sizeof *v->about,
               "verify compares int8 nets with x.c and x.onnx only");
      continue;
    }
    int status = parties[i](v);
    if (status != EXIT_DONE)
      snprintf(v->about[i], sizeof *v->about, "it failed");
    first = first ? first : status;
  }
  return child_stopped() ? EXIT_IO : first;
}

static int prepare(struct verifying *v) {
  struct running *r = v->run;
  int status = run_load(r);
  r->random = true; /* generates inputs, and weights without a file */
  if (status == EXIT_DONE)
    status = run_open_net(r);
  if (status == EXIT_DONE)
    status = run_read_inputs(r);
  if (status == EXIT_DONE)
    status = run_match_weights(r);
  if (status == EXIT_DONE)
    status = weight_set_judge(&r->set, r->weights);
  r->set.shifted = true;
  if (status == EXIT_DONE)
    status = run_fill_weights(r);
  v->small = status == EXIT_DONE && weight_set_is_q8(&r->set);
  v->narrow = status == EXIT_DONE && weight_set_is_narrow(&r->set) &&
              !weight_narrow_round(&r->set, r->weight_block);
  return status;
}

static int serve(struct verifying *v) {
  int status = prepare(v);
  if (status != EXIT_DONE)
    return status;
  open_outputs(v);
  if (!child_folder_make(v->folder, sizeof v->folder))
    return complain(EXIT_IO, "cannot make a temporary folder: %s",
                    strerror(errno));
  status = verify_write_files(v);
  if (status != EXIT_DONE)
    return status;
  status = run_parties(v);
  if (child_stopped() || !v->made[PARTY_RUNTIME])
    return status;
  tell("%s, batch %u, weights %s", v->run->options.files.at[0],
       (unsigned)v->run->model.batch,
       v->run->weights ? v->run->weights : "random");
  fputs("\n\n", stdout);
  int compared = verify_compare(v);
  return status ? status : compared;
}

/* Takes an absolute path, since a child has another current directory. */
static int take_node_modules(struct verifying *v, const char *folder) {
  static const char package[] = "onnxruntime-node/package.json";
  char path[VERIFY_PATH + sizeof package];
  char *real = realpath(folder, NULL);
  snprintf(path, sizeof path, "%s/%s", real ? real : "", package);
  bool there = real && access(path, R_OK) == 0;
  snprintf(v->node_modules, sizeof v->node_modules, "%s", real ? real : "");
  free(real);
  return there ? EXIT_DONE
               : complain(EXIT_USAGE,
                          "--node-modules %s: there is no onnxruntime-node in "
                          "this folder; `npm install onnxruntime-node` makes a "
                          "folder node_modules that has it",
                          folder);
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct verifying *v = user;
  (void)name;
  switch (option) {
  case OPTION_WEIGHTS: v->run->weights = value; break;
  case OPTION_CC: v->cc = value; break;
  case OPTION_NODE_MODULES: return take_node_modules(v, value);
  case OPTION_QEMU: v->qemu = value; return verify_check_board(value);
  default:
    v->run->random = true;
    return option_number(option, value, 0, INT64_MAX, &v->run->seed)
               ? EXIT_DONE
               : EXIT_USAGE;
  }
  return EXIT_DONE;
}

static void run(void *user) {
  struct verifying *v = user;
  v->status = serve(v);
}

static int verify(struct verifying *v, struct netc *netc, int argc,
                  char **argv) {
  struct arena *const arenas[GUARD_ARENAS] = {&v->run->arena};
  v->run->seed = 1;
  if (netc_set(netc, "batch", "2") != NETC_OK ||
      netc_set(netc, "stream", "off") != NETC_OK)
    return complain(EXIT_IO, "out of memory");
  if (!net_options_read_more(&v->run->options, COMMAND_VERIFY, netc, argc, argv,
                             take, v))
    return v->run->options.files.status;
  if (!guard_run(arenas, run, v))
    v->status = complain(EXIT_IO, "out of memory");
  child_folder_remove(v->folder);
  return v->status;
}

int command_verify(int argc, char **argv) {
  struct verifying v = {.run = run_new()};
  struct netc *netc = netc_open(NULL, NULL);
  int status = v.run && netc ? verify(&v, netc, argc, argv)
                             : complain(EXIT_IO, "out of memory");
  if (v.run)
    run_close(v.run);
  netc_close(netc);
  return status;
}
