/* netc plan: plans an arena for a table of buffers in MiniMalloc's format. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/text.h"
#include "driver/options.h"
#include "driver/output.h"
#include "driver/progress.h"
#include "driver/buffers.h"

struct plan_request {
  struct netc_plan_options options;
  const char *path, *output;
  struct progress_line progress;
  struct arena arena;
  int status;
};

static int write_plan(const struct plan_request *p, const struct table *table) {
  struct output_file output;
  const char *path = p->output ? p->output : "-";
  if (!output_open(&output, path))
    return output_failed(path, errno);
  table_write(table, output.file);
  if (!output_commit(&output, false))
    return output_failed(path, errno);
  return EXIT_DONE;
}

/* Prints by how much the arena exceeds its bound, in thousandths of a per
 * cent. */
static void put_gap(const struct netc_plan *plan) {
  int64_t gap = plan->height - plan->lower_bound;
  int64_t bound = plan->lower_bound;
  while (gap > INT64_MAX / 100000) {
    gap /= 2;
    bound /= 2;
  }
  int64_t share = bound ? gap * 100000 / bound : 0;
  fprintf(stderr, "gap %" PRId64 ".%03" PRId64 " %%", share / 1000,
          share % 1000);
}

static void put_summary(const char *path, const struct netc_plan *plan,
                        size_t count) {
  say("%s: %s buffer%s, arena %s bytes, ", path,
      count_text((int64_t)count).text, count == 1 ? "" : "s",
      count_text(plan->height).text);
  fprintf(stderr, "lower bound %s, ", count_text(plan->lower_bound).text);
  put_gap(plan);
  fprintf(stderr, "; %s; %s node%s\n",
          plan->optimal ? "proven optimal" : "not proven optimal",
          count_text((int64_t)plan->effort).text, plan->effort == 1 ? "" : "s");
}

static int plan_table(struct plan_request *p, const char *name,
                      struct table *table) {
  struct netc_plan plan = {.size = sizeof plan};
  enum netc_status status =
      netc_plan(table->buffers.at, table->buffers.count, &p->options, &plan);
  progress_erase(&p->progress);
  if (status == NETC_ERROR) {
    say("%s: error: the sum of the sizes is more than 2^61", name);
    fputc('\n', stderr);
    return EXIT_SOURCE;
  }
  if (status != NETC_OK)
    return exit_status_of(NULL, status);
  put_summary(name, &plan, table->buffers.count);
  if (p->options.capacity && plan.height > p->options.capacity) {
    say("%s: error: no plan within %s bytes was found%s; the smallest found "
        "has %s bytes",
        name, count_text(p->options.capacity).text,
        plan.lower_bound > p->options.capacity ? ", and none exists" : "",
        count_text(plan.height).text);
    fputc('\n', stderr);
    return EXIT_SOURCE;
  }
  return write_plan(p, table);
}

static void plan_file(void *user) {
  struct plan_request *p = user;
  struct slice text;
  struct table table;
  const char *name = input_name(p->path);
  enum file_status status = file_read(&p->arena, p->path, &text);
  if (status != FILE_OK)
    p->status =
        complain(EXIT_IO, "cannot read %s: %s", name, file_reason(status).text);
  else if (!table_read(&p->arena, name, text, &table))
    p->status = EXIT_SOURCE;
  else
    p->status = plan_table(p, name, &table);
}

static int take(void *user, enum option_id option, const char *name,
                char *value) {
  struct plan_request *p = user;
  int64_t effort = 0;
  bool right = true;
  (void)name;
  switch (option) {
  case OPTION_OUTPUT: p->output = value; break;
  case OPTION_CAPACITY:
    right = option_number(option, value, 1, INT64_MAX, &p->options.capacity);
    break;
  case OPTION_ALIGN:
    right = option_number(option, value, 1, INT64_MAX, &p->options.align);
    break;
  default:
    right = option_number(option, value, 1, INT64_MAX, &effort);
    p->options.effort = (uint64_t)effort;
  }
  return right ? EXIT_DONE : EXIT_USAGE;
}

int command_plan(int argc, char **argv) {
  struct plan_request p = {.options = {.size = sizeof p.options}};
  struct arena *const arenas[GUARD_ARENAS] = {&p.arena};
  struct operands files;
  if (!options_read(COMMAND_PLAN, argc, argv, take, &p, &files))
    return files.status;
  if (files.count != 1)
    return complain(EXIT_USAGE, files.count
                                    ? "netc plan takes one file at a time"
                                    : "netc plan needs a file, or - for "
                                      "<stdin>");
  p.path = files.at[0];
  progress_open(&p.progress, NULL);
  p.options.tell = p.progress.wanted ? progress_show : NULL;
  p.options.tell_user = &p.progress;
  arena_open(&p.arena, NULL, NULL);
  if (!guard_run(arenas, plan_file, &p))
    p.status = complain(EXIT_IO, "out of memory");
  arena_close(&p.arena);
  return p.status;
}
