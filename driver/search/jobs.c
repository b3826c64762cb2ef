/*
 * The jobs of a sweep for other engines: a file for Ninja, or a script for a
 * Slurm array. Both compile parts of the rows and merge them with this
 * program's own options.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "driver/output.h"
#include "driver/search/sweep.h"

enum { USUAL_PARTS = 16, LONGEST_BASE = 4000 };

struct job_list {
  struct text *out;
  const struct sweep_run *run;
  const struct net_options *options;
  char base[LONGEST_BASE];   /* base name of the parts: "all" of all.csv */
  char result[LONGEST_BASE]; /* used if no output is named */
  int64_t parts;
  bool ninja;
};

/* Writes a text for the shell; Ninja needs dollars doubled. */
static void put_shell(const struct job_list *list, const char *text) {
  for (; *text; text++) {
    if (*text == '$' && list->ninja)
      text_putc(list->out, '$');
    text_putc(list->out, *text);
  }
}

static void put_word(const struct job_list *list, const char *text) {
  put_shell(list, shell_word("%s", text).text);
}

/* Writes a path in Ninja's own syntax. */
static void put_path(const struct job_list *list, const char *path) {
  for (; *path; path++) {
    if (strchr("$ :", *path))
      text_putc(list->out, '$');
    text_putc(list->out, *path);
  }
}

/* True if an option is the number of jobs. */
static bool is_count(enum option_id option) {
  return option == OPTION_SHARD || option == OPTION_SHARDS;
}

/* True if an option is for the whole sweep, not for compiling a part. */
static bool is_of_whole(enum option_id option) {
  return option == OPTION_OUTPUT || option == OPTION_PARETO ||
         is_count(option) || option == OPTION_TITLE ||
         option == OPTION_LEGEND || option == OPTION_WIDTH;
}

/* Writes an option as it was given. */
static void put_option(const struct job_list *list,
                       const struct option_given *given) {
  const struct option_row *row =
      given->option < OPTION_COUNT ? option_row(given->option) : NULL;
  const char *name = row ? row->name : given->name;
  if (name) { /* shell_word() would make a leading dash a path */
    text_put(list->out, " --");
    put_shell(list, shell_word("%s%s%s", name, given->value ? "=" : "",
                               given->value ? given->value : "")
                        .text);
  } else if (given->option == OPTION_WARNING) {
    text_put(list->out, " -");
    put_shell(list, shell_word("W%s", given->value).text);
  } else {
    text_printf(list->out, " -%c ", row->letter);
    put_word(list, given->value);
  }
}

/* " -D width=4..32:4 net.net" */
static void put_space(const struct job_list *list) {
  const struct net_options *o = list->options;
  for (size_t i = 0; i < o->given_count; i++)
    if (!is_of_whole(o->given[i].option))
      put_option(list, &o->given[i]);
  text_putc(list->out, ' ');
  put_word(list, o->files.at[0]);
}

/* " --pareto=macs,arena -o all.csv" */
static void put_whole(const struct job_list *list) {
  const struct net_options *o = list->options;
  for (size_t i = 0; i < o->given_count; i++)
    if (is_of_whole(o->given[i].option) &&
        o->given[i].option != OPTION_OUTPUT && !is_count(o->given[i].option))
      put_option(list, &o->given[i]);
  for (size_t i = 0; i < o->wanted_count; i++)
    if (o->wanted[i].path != list->run->list) {
      text_put(list->out, " -o ");
      put_word(list, o->wanted[i].path);
    }
  if (*list->result) {
    text_put(list->out, " -o ");
    put_word(list, list->result);
  }
}

/* Ninja */

static void put_ninja_sources(const struct job_list *list) {
  const struct net_options *o = list->options;
  const char *source;
  for (size_t i = 0; (source = netc_source(o->netc, i)) != NULL; i++)
    if (*source != '<') { /* not a file, such as the command line */
      text_putc(list->out, ' ');
      put_path(list, source);
    }
  for (size_t i = 0; i < o->given_count; i++)
    if (o->given[i].option == OPTION_DEVICES) {
      text_putc(list->out, ' ');
      put_path(list, o->given[i].value);
    }
}

static void put_ninja_results(const struct job_list *list) {
  const struct net_options *o = list->options;
  for (size_t i = 0; i < o->wanted_count; i++)
    if (o->wanted[i].path != list->run->list) {
      text_putc(list->out, ' ');
      put_path(list, o->wanted[i].path);
    }
  if (*list->result) {
    text_putc(list->out, ' ');
    put_path(list, list->result);
  }
}

static void put_ninja_part(const struct job_list *list, int64_t part) {
  put_path(list, list->base);
  text_printf(list->out, ".part%" PRId64 ".csv", part);
}

static void put_ninja(const struct job_list *list) {
  struct text *out = list->out;
  text_printf(out,
              "# A sweep in %" PRId64 " parts, which are put together. Run "
              "where netc was run:\n# ninja -f ",
              list->parts);
  put_shell(list, shell_word("%s", list->run->list).text);
  text_put(out, "\nsweep = \"$${NETC:-netc}\" sweep\nspace =");
  put_space(list);
  text_put(out, "\n\nrule part\n  command = $sweep --shard $part -o $out "
                "$space\n  description = part $part\n\nrule whole\n"
                "  command = $sweep");
  for (int64_t k = 1; k <= list->parts; k++) {
    text_put(out, " --from ");
    put_shell(list, shell_word("%s.part%" PRId64 ".csv", list->base, k).text);
  }
  put_whole(list);
  text_put(out, " $space\n  description = $out\n\n");
  for (int64_t k = 1; k <= list->parts; k++) {
    text_put(out, "build ");
    put_ninja_part(list, k);
    text_put(out, ": part |");
    put_ninja_sources(list);
    text_printf(out, "\n  part = %" PRId64 "/%" PRId64 "\n", k, list->parts);
  }
  text_put(out, "build");
  put_ninja_results(list);
  text_put(out, ": whole");
  for (int64_t k = 1; k <= list->parts; k++) {
    text_putc(out, ' ');
    put_ninja_part(list, k);
  }
  text_put(out, " |");
  put_ninja_sources(list);
  text_putc(out, '\n');
}

/* The first text with a character for which Ninja has no escape, or NULL: a bar
 * in a path, or a line end anywhere. */
static const char *unwritable(const struct job_list *list) {
  static const char ends[] = "\n\r", in_paths[] = "|\n\r";
  const struct net_options *o = list->options;
  const char *text;
  for (size_t i = 0; (text = netc_source(o->netc, i)) != NULL; i++)
    if (*text != '<' && strpbrk(text, in_paths))
      return text;
  for (size_t i = 0; i < o->wanted_count; i++)
    if (strpbrk(o->wanted[i].path, in_paths))
      return o->wanted[i].path;
  for (size_t i = 0; i < o->given_count; i++) {
    text = o->given[i].value;
    bool path = o->given[i].option == OPTION_DEVICES;
    if (text && strpbrk(text, path ? in_paths : ends))
      return text;
  }
  return strpbrk(o->files.at[0], ends) ? o->files.at[0] : NULL;
}

static int refuse_unwritable(const struct job_list *list) {
  const char *text = list->ninja ? unwritable(list) : NULL;
  if (strpbrk(list->run->list, "\n\r")) /* the name is in a comment */
    return complain(EXIT_USAGE,
                    "%s: the name of a file of jobs must not have a line break",
                    list->run->list);
  if (!text)
    return EXIT_DONE;
  return complain(EXIT_USAGE,
                  "%s: Ninja cannot read `%s`, which has %s; change it, or "
                  "write a script for Slurm, `-o x.sbatch`",
                  list->run->list, text,
                  strpbrk(text, "\n\r") ? "a line break" : "a `|`");
}

/* Slurm */

static void put_slurm(const struct job_list *list) {
  struct text *out = list->out;
  struct shell_word script = shell_word("%s", list->run->list);
  text_put(out, "#!/bin/sh\n#SBATCH --job-name=sweep\n#SBATCH --array=1-");
  text_int(out, list->parts);
  text_put(out, "\n#SBATCH --cpus-per-task=");
  text_int(out, list->run->jobs[0]->jobs);
  text_put(out, "\n# A sweep in ");
  text_int(out, list->parts);
  text_put(out, " parts, which task 0 puts together. Submit both where netc "
                "was run:\n# sbatch -d afterok:$(sbatch --parsable ");
  text_put(out, script.text);
  text_put(out, ") --array=0 ");
  text_put(out, script.text);
  text_put(out, "\n# Without Slurm, `sh ");
  text_put(out, script.text);
  text_put(out, "` puts together parts that are there.\n");
  text_put(out, "set -eu\nsweep() {\n  \"${NETC:-netc}\" sweep \"$@\"");
  put_space(list);
  text_put(out, "\n}\ntask=${SLURM_ARRAY_TASK_ID:-0}\nbase=");
  put_word(list, list->base);
  text_put(out, "\nif [ \"$task\" != 0 ]; then\n  sweep --shard \"$task/");
  text_int(out, list->parts);
  text_put(out, "\" -o \"$base.part$task.csv\"\n  exit\nfi\npart=1\n"
                "while [ $part -le ");
  text_int(out, list->parts);
  text_put(out, " ]; do\n  set -- \"$@\" --from \"$base.part$part.csv\"\n"
                "  part=$((part + 1))\ndone\nsweep \"$@\"");
  put_whole(list);
  text_putc(out, '\n');
}

/* Both */

/* Names the parts after the file of rows, or after the file of jobs. */
static int name_parts(struct job_list *list) {
  const struct sweep_run *run = list->run;
  const char *path = run->path ? run->path : run->list;
  const char *dot = strrchr(path, '.');
  size_t length = (size_t)(dot - path);
  if (length + 32 > sizeof list->base)
    return complain(EXIT_USAGE, "%s: this name is too long", path);
  snprintf(list->base, sizeof list->base, "%.*s", (int)length, path);
  if (list->options->wanted_count == 1) /* only the jobs */
    snprintf(list->result, sizeof list->result, "%.*s.csv", (int)length, path);
  return EXIT_DONE;
}

int sweep_write_jobs(struct sweep_run *run) {
  struct sweep_job *job = run->jobs[0];
  struct output_file output;
  char room[1024];
  struct job_list list = {.run = run,
                          .options = &job->options,
                          .parts = job->parts ? job->parts : USUAL_PARTS,
                          .ninja = path_ends(run->list, ".ninja")};
  int status = refuse_unwritable(&list);
  if (status == EXIT_DONE)
    status = name_parts(&list);
  if (status != EXIT_DONE)
    return status;
  if (!output_open(&output, run->list))
    return output_failed(run->list, errno);
  struct text out = text_by(room, sizeof room, file_sink, output.file);
  list.out = &out;
  if (list.ninja)
    put_ninja(&list);
  else
    put_slurm(&list);
  if (!text_flush(&out) || fflush(output.file) != 0) {
    status = output_failed(run->list, errno);
    output_abandon(&output);
    return status;
  }
  return output_commit(&output, false) ? EXIT_DONE
                                       : output_failed(run->list, errno);
}
