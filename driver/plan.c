/* netc plan: an arena for the buffers of a table, as MiniMalloc reads it. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "driver/output.h"
#include "driver/table.h"
#include "plan/plan.h"

struct plan_command {
  struct plan_options options;
  const char *path, *output;
  bool help;
};

static int take_number(const char *option, int64_t least, int64_t *value) {
  struct slice text = slice_of(optarg);
  if (table_number(text, value) == NULL && *value >= least)
    return EXIT_DONE;
  return complain(EXIT_USAGE, "--%s takes a number from %" PRId64 ", not `%s`",
                  option, least, optarg);
}

static int read_plan_options(struct plan_command *c, int argc, char **argv) {
  static const struct option long_options[] = {
      {"capacity", required_argument, NULL, 'c'},
      {"align", required_argument, NULL, 'a'},
      {"effort", required_argument, NULL, 'e'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  int choice, status = EXIT_DONE;
  int64_t nodes = 0;
  opterr = 0;
  optind = 1;
  while (status == EXIT_DONE &&
         (choice = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
    switch (choice) {
    case 'c': status = take_number("capacity", 1, &c->options.capacity); break;
    case 'a': status = take_number("align", 1, &c->options.align); break;
    case 'e': status = take_number("effort", 1, &nodes); break;
    case 'o': c->output = optarg; break;
    case 'h': c->help = true; break;
    case ':':
      return complain(EXIT_USAGE, "`%s` needs a value behind it",
                      argv[optind - 1]);
    default:
      return complain(EXIT_USAGE,
                      "unknown option `%s`; netc plan has --capacity --align "
                      "--effort -o",
                      argv[optind - 1]);
    }
  }
  c->options.nodes = (uint64_t)nodes;
  if (status == EXIT_DONE && !c->help && optind != argc - 1)
    return complain(EXIT_USAGE, optind == argc
                                    ? "netc plan needs a file, or - for "
                                      "standard input"
                                    : "netc plan takes one file at a time");
  c->path = argv[optind];
  return status;
}

static int write_plan(const struct plan_command *c, const struct table *table) {
  struct output_file output;
  const char *path = c->output ? c->output : "-";
  if (!output_open(&output, path))
    return complain(EXIT_IO, "cannot write %s: %s", path, strerror(errno));
  table_write(table, output.file);
  if (!output_commit(&output, false))
    return complain(EXIT_IO, "cannot write %s: %s",
                    strcmp(path, "-") == 0 ? "standard output" : path,
                    strerror(errno));
  return EXIT_DONE;
}

/* Thousandths of a per cent by which the arena exceeds its bound. */
static void put_gap(const struct plan *plan) {
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

static void put_summary(const char *path, const struct plan *plan,
                        size_t count) {
  say("%s: %s buffer%s, arena %s bytes, ", path,
      count_text((int64_t)count).text, count == 1 ? "" : "s",
      count_text(plan->height).text);
  fprintf(stderr, "lower bound %s, ", count_text(plan->lower_bound).text);
  put_gap(plan);
  fprintf(stderr, "; %s; %s node%s\n",
          plan->optimal ? "optimal, proven" : "not proven optimal",
          count_text((int64_t)plan->nodes).text, plan->nodes == 1 ? "" : "s");
}

static int plan_table(struct arena *arena, const struct plan_command *c,
                      const char *name, struct table *table) {
  struct plan plan;
  switch (plan_arena(arena, table->buffers.at, table->buffers.count,
                     &c->options, &plan)) {
  case PLAN_TOO_LARGE:
    say("%s: error: the sizes add up to more than 2^61", name);
    fputc('\n', stderr);
    return EXIT_SOURCE;
  case PLAN_BUG:
    return complain(EXIT_BUG, "the plan is wrong; please report this");
  case PLAN_DONE: break;
  }
  put_summary(name, &plan, table->buffers.count);
  if (c->options.capacity && plan.height > c->options.capacity) {
    say("%s: error: no plan within %s bytes was found%s; the least found "
        "is %s bytes",
        name, count_text(c->options.capacity).text,
        plan.lower_bound > c->options.capacity ? ", and none exists" : "",
        count_text(plan.height).text);
    fputc('\n', stderr);
    return EXIT_SOURCE;
  }
  return write_plan(c, table);
}

static int plan_file(struct arena *arena, const struct plan_command *c) {
  struct slice text;
  const char *name = strcmp(c->path, "-") == 0 ? "<stdin>" : c->path;
  enum file_status status = file_read(arena, c->path, &text);
  if (status != FILE_OK)
    return complain(EXIT_IO, "cannot read %s: %s", c->path,
                    status == FILE_TOO_LARGE ? "larger than 1 GiB"
                                             : strerror(errno));
  struct table table;
  if (!table_read(arena, name, text, &table))
    return EXIT_SOURCE;
  return plan_table(arena, c, name, &table);
}

int command_plan(int argc, char **argv) {
  struct plan_command command = {0};
  struct arena arena;
  jmp_buf failure;
  int status = read_plan_options(&command, argc, argv);
  if (status != EXIT_DONE)
    return status;
  if (command.help) {
    puts("netc plan FILE.csv [--capacity N] [--align N] [--effort N] [-o OUT]\n"
         "\n"
         "Plans an arena for buffers `id,lower,upper,size`, alive in [lower, "
         "upper):\nprints the rows with a column `offset`, as low an arena as "
         "can be found, or any\nwithin --capacity bytes. --effort is the "
         "number of positions to try.");
    return EXIT_DONE;
  }
  arena_open(&arena, NULL, NULL);
  arena.on_failure = &failure;
  status = setjmp(failure) ? complain(EXIT_IO, "out of memory")
                           : plan_file(&arena, &command);
  arena_close(&arena);
  return status;
}
