/*
 * netc run: inference by the runtime, with the plan that a device has. Weights
 * are folded once; the arena has the size in the report.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "driver/run/run.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/guard.h"
#include "driver/run/threads.h"

struct running *run_new(void) {
  struct running *r = calloc(1, sizeof *r);
  if (r) {
    arena_open(&r->arena, NULL, NULL);
    r->file.store.file = -1;
  }
  return r;
}

void run_close(struct running *r) {
  netrt_close(&r->net);
  threads_close(r->pool);
  tensors_close(&r->file);
  free(r->block);
  free(r->arena_block);
  arena_close(&r->arena);
  net_options_close(&r->options);
  free(r);
}

/* Puts blocks of several MiB in large pages if possible: a product reads
 * weights across rows, and each row is in a different page. */
static void *allocate(size_t bytes) {
  enum { LARGE_PAGE = 2 << 20 };
  bool large = bytes >= 2 * LARGE_PAGE;
  size_t align = large ? LARGE_PAGE : NETRT_ALIGN;
  void *at;
  if (posix_memalign(&at, align, bytes ? bytes : 1) != 0)
    return NULL;
#ifdef MADV_HUGEPAGE
  if (large)
    madvise(at, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#endif
  return at;
}

/* Weights */

/* Opens weights of another framework as `netc import` writes them. */
static int open_imported(struct running *r) {
  if (tensors_open_file(&r->file, fileno(r->options.opening.values), &r->arena))
    return EXIT_DONE;
  return complain_of(EXIT_BUG, r->weights, NULL, "%s", r->file.fault);
}

int run_match_weights(struct running *r) {
  int status = EXIT_DONE;
  weight_set_open(&r->set, r->options.netc, &r->arena);
  r->set.seed = (uint64_t)r->seed;
  const struct opened_file *opening = &r->options.opening;
  bool recognised = opening->kind != KIND_COUNT && opening->path &&
                    file_kind(opening->kind)->tensors;
  if (opening->values || (recognised && !r->weights && !r->random))
    r->weights = opening->path;
  if (r->set.weights.count > 0 && !r->weights && !r->random)
    return complain(EXIT_USAGE, "weights are missing: write `--weights FILE` "
                                "or `--random SEED`");
  if (r->weights)
    status = r->options.opening.values
                 ? open_imported(r)
                 : weight_file_open(&r->file, r->weights, &r->arena);
  if (r->weights && status == EXIT_DONE)
    status = weight_set_match(&r->set, r->weights, &r->file, MATCH_BY_NAME);
  return status;
}

int run_fill_weights(struct running *r) {
  r->block = allocate(NETRT_PANELS_BYTES + r->model.weight_bytes);
  if (!r->block)
    return complain(EXIT_IO, "out of memory: the weights need %zu bytes",
                    r->model.weight_bytes);
  r->weight_block = (unsigned char *)r->block + NETRT_PANELS_BYTES;
  return weight_set_block(&r->set, r->weights, r->weight_block);
}

/* The net */

int run_open_net(struct running *r) {
  const struct netrt_model *tables;
  struct netc *netc = r->options.netc;
  enum netc_status made = netc_runtime(netc, &tables);
  if (made == NETC_ERROR)
    return complain(EXIT_SOURCE, "%s: %s", r->options.files.at[0],
                    netc_message(netc));
  if (made != NETC_OK)
    return exit_status_of(netc, made);
  r->model = *tables;
  r->model.kernels = netrt_kernels;
  r->model.kernel_count = NETRT_CODES;
  for (uint32_t i = 0; i < r->model.op_count; i++)
    if (r->model.ops[i].works == NETRT_STAYS)
      return complain(EXIT_USAGE,
                      "%s: `netc run` computes whole windows, with the same "
                      "outputs; leave out `--stream`",
                      r->options.files.at[0]);
  r->arena_block = allocate(r->model.arena_bytes);
  if (!r->arena_block)
    return complain(EXIT_IO, "out of memory: the arena needs %zu bytes",
                    r->model.arena_bytes);
  return EXIT_DONE;
}

int run_start(struct running *r) {
  bool panels = netrt_reads_panels() && weight_panels_some(&r->model) &&
                weight_panels_pack(&r->model, r->block);
  enum netrt_status status =
      netrt_open(&r->net, &r->model, panels ? r->block : r->weight_block,
                 r->model.weight_bytes + (panels ? NETRT_PANELS_BYTES : 0),
                 r->arena_block, r->model.arena_bytes);
  if (status != NETRT_OK)
    return complain(EXIT_BUG, "%s", netrt_status_text(status));
  if (r->threads > 1) {
    r->pool = threads_open((int)r->threads);
    if (!r->pool)
      return complain(EXIT_IO, "cannot start %lld threads",
                      (long long)r->threads);
    r->net.parallel = threads_run;
    r->net.parallel_user = r->pool;
    r->net.threads = (unsigned)r->threads;
  }
  return EXIT_DONE;
}

int run_explain(const struct running *r, enum netrt_status status) {
  if (status == NETRT_OK)
    return EXIT_DONE;
  const char *layer =
      r->net.failed_op < r->model.op_count
          ? r->model.layers[r->model.ops[r->net.failed_op].layer]
          : "the net";
  return complain(status == NETRT_BAD_INDEX ? EXIT_SOURCE : EXIT_BUG, "%s: %s",
                  layer, netrt_status_text(status));
}

static int run_net(struct running *r) {
  run_put_inputs(r);
  return run_explain(r, run_once(r));
}

/* Commands */

/* True for .weights or .caffemodel, which lack netc's names: `netc import
 * --from`. */
static bool is_from(const char *path) {
  struct slice name = slice_of(path);
  for (int i = 0; i < KIND_COUNT; i++) {
    const char *suffix = file_kind((enum file_kind_id)i)->values;
    if (suffix && slice_ends(name, suffix))
      return true;
  }
  return false;
}

int run_load(struct running *r) {
  struct opened_file *opening = &r->options.opening;
  opening->from = r->weights && is_from(r->weights) ? r->weights : NULL;
  opening->wants_values = !r->random && (!r->weights || opening->from);
  return net_options_load(&r->options);
}

static int serve(struct running *r) {
  int status = run_load(r);
  if (status == EXIT_DONE)
    status = run_open_net(r);
  if (status == EXIT_DONE)
    status = run_read_inputs(r);
  if (status == EXIT_DONE)
    status = run_match_weights(r);
  if (status == EXIT_DONE)
    status = run_fill_weights(r);
  if (status == EXIT_DONE)
    status = run_start(r);
  if (status == EXIT_DONE)
    status = run_net(r);
  if (status == EXIT_DONE)
    status = run_write_outputs(r);
  if (status == EXIT_DONE)
    run_warn_not_finite(r);
  if (status == EXIT_DONE && r->check)
    status = run_check(r);
  if (status == EXIT_DONE && r->profile)
    status = run_profile(r);
  return status;
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct running *r = user;
  bool right = true;
  (void)name;
  switch (option) {
  case OPTION_WEIGHTS: r->weights = value; break;
  case OPTION_INPUT:
    if (r->input_count == MOST_ENDS)
      return complain(EXIT_USAGE, "there are more than %d inputs", MOST_ENDS);
    r->inputs[r->input_count++].argument = value;
    break;
  case OPTION_RANDOM:
    r->random = true;
    right = option_number(option, value, 0, INT64_MAX, &r->seed);
    break;
  case OPTION_THREADS:
    right = option_number(option, value, 1, MOST_THREADS, &r->threads);
    break;
  case OPTION_PROFILE_RUN: r->profile = true; break;
  default: r->check = true;
  }
  return right ? EXIT_DONE : EXIT_USAGE;
}

static void run(void *user) {
  struct running *r = user;
  r->status = serve(r);
}

int command_run(int argc, char **argv) {
  struct running *r = run_new();
  struct netc *netc = netc_open(NULL, NULL);
  struct arena *const arenas[GUARD_ARENAS] = {r ? &r->arena : NULL};
  int status = EXIT_IO;
  if (!netc || !r)
    complain(EXIT_IO, "out of memory");
  if (netc && r) {
    netc_set(netc, "stream", "off"); /* overrides the source; same outputs */
    if (!net_options_read_more(&r->options, COMMAND_RUN, netc, argc, argv, take,
                               r))
      r->status = r->options.files.status;
    else if (!guard_run(arenas, run, r))
      r->status = complain(EXIT_IO, "out of memory");
    status = r->status;
  }
  if (r)
    run_close(r);
  netc_close(netc);
  return status;
}
