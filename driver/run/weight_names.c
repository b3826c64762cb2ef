/* Names for the tensors of a net: --names. */
#include "base/guard.h"
#include "driver/run/weight_set.h"

static int take_torch(const struct weight_set *set, const char **names) {
  for (size_t i = 0; i < set->weights.count; i++) {
    names[i] = weight_set_torch_name(set, i);
    if (!names[i])
      return complain(EXIT_SOURCE, "--names=py: the net cannot be written for "
                                   "PyTorch; `-o x.py` gives the reason");
  }
  return EXIT_DONE;
}

static int open_named(struct tensor_file *file, const char *path,
                      struct arena *arena) {
  if (tensors_open(file, path, arena))
    return EXIT_DONE;
  return complain_of(
      file->unread ? EXIT_USAGE : EXIT_SOURCE, path,
      "--names takes `netc`, `py`, `torchvision`, or a file of weights with "
      "the names to use: --names=resnet50.pth",
      "%s", file->fault);
}

static struct netc_tensor_shape shape_of(const struct weight_set *set,
                                         size_t index) {
  const struct stored_tensor *stored = set->from[index];
  const struct netc_weight *weight = &set->weights.at[index];
  return stored ? (struct netc_tensor_shape){stored->rank, stored->dims}
                : (struct netc_tensor_shape){weight->rank, weight->dims};
}

/* Matches the tensors of a file with those of the net in order. */
static int take_stored(struct weight_set *set, const char *path,
                       const char **names) {
  struct weight_set other;
  struct tensor_file file;
  weight_set_open(&other, set->netc, set->arena);
  int status = open_named(&file, path, set->arena);
  if (status == EXIT_DONE)
    status = weight_set_match(&other, path, &file, MATCH_BY_ORDER);
  if (status == EXIT_SOURCE && file.tensors.count)
    say_note(path, "`netc weights X.net --names=py` lists x.py's own names",
             "--names takes its names by the order of tensors");
  set->shapes =
      arena_alloc(set->arena, set->weights.count + 1, sizeof *set->shapes);
  for (size_t i = 0; i < set->weights.count; i++) {
    names[i] = other.from[i] ? other.from[i]->name : set->weights.at[i].name;
    set->shapes[i] = shape_of(&other, i);
  }
  tensors_close(&file);
  return status;
}

int weight_set_rename(struct weight_set *set, const char *wanted) {
  const char **names =
      arena_alloc(set->arena, set->weights.count + 1, sizeof *names);
  set->names = names;
  if (strcmp(wanted, "torchvision") == 0)
    return torchvision_names(set, names);
  return strcmp(wanted, "py") == 0 ? take_torch(set, names)
                                   : take_stored(set, wanted, names);
}

struct naming_run {
  struct weight_set set;
  const char *wanted;
  int status;
};

static void run(void *user) {
  struct naming_run *r = user;
  weight_set_open(&r->set, r->set.netc, r->set.arena);
  r->status = weight_set_rename(&r->set, r->wanted);
}

int weight_names_find(struct netc *netc, const char *wanted,
                      struct arena *arena, struct netc_options *options) {
  struct arena *const arenas[GUARD_ARENAS] = {arena};
  struct naming_run r = {.set = {.netc = netc, .arena = arena},
                         .wanted = wanted};
  if (!guard_run(arenas, run, &r))
    return complain(EXIT_IO, "out of memory");
  options->tensor_names = r.set.names;
  options->tensor_shapes = r.set.shapes;
  return r.status;
}
