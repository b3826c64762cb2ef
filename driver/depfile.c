/*
 * Dependency files for make and Ninja. Both accept `\` before a blank, `#` and
 * `:`, and `$$`. make cannot quote anything else: a `;` in a name would begin a
 * recipe, a `=` a variable.
 */
#include "driver/depfile.h"

#include <errno.h>
#include <string.h>

/*
 * True if a makefile can name the file: % makes a target a pattern, and a(b) is
 * the member b of the archive a.
 */
static bool can_be_named(const char *name, bool target) {
  size_t length = strlen(name);
  for (const char *at = name; *at; at++)
    if ((unsigned char)*at < ' ' || *at == 0x7F || strchr(";|=", *at) ||
        (target && *at == '%'))
      return false;
  bool member = length && name[length - 1] == ')' && strchr(name, '(');
  return length && name[length - 1] != '\\' && strcmp(name, "&") != 0 &&
         !member;
}

static bool put_name(FILE *file, const char *name, bool target) {
  if (!can_be_named(name, target)) {
    complain(EXIT_IO,
             "make cannot name the file `%s`, so there are no dependencies for "
             "it; rename it",
             name);
    return false;
  }
  for (const char *at = name; *at; at++) {
    if (strchr(" #:", *at)) {
      for (const char *back = at; back != name && back[-1] == '\\'; back--)
        fputc('\\', file); /* backslashes before one count double */
      fputc('\\', file);
    }
    if (*at == '$')
      fputc('$', file);
    fputc(*at, file);
  }
  return true;
}

static bool put_targets(FILE *file, const struct net_options *o) {
  bool any = false, right = true;
  if (o->dep_target)
    return fputs(o->dep_target, file) >= 0;
  for (size_t i = 0; i < o->wanted_count && right; i++) {
    if (strcmp(o->wanted[i].path, "-") == 0)
      continue;
    if (any)
      fputc(' ', file);
    right = put_name(file, o->wanted[i].path, true);
    any = true;
  }
  return right;
}

/* True unless it is standard input. */
static bool is_file(const struct netc *netc, size_t index) {
  const char *name = netc_source(netc, index);
  return index > 0 || strcmp(name, "<stdin>") != 0;
}

/* The file of that number: sources, files that an import has read, and those of
 * an adapter. */
static const char *dependency(const struct netc *netc,
                              const struct net_options *o, size_t index) {
  size_t sources = 0;
  while (netc_source(netc, sources) && sources <= index)
    sources++;
  if (index < sources)
    return netc_source(netc, index);
  index -= sources;
  if (index < o->opening.beside.count)
    return o->opening.beside.at[index];
  index -= o->opening.beside.count;
  return index < OPENING_LORA_FILES ? o->lora_files[index] : NULL;
}

static bool put_dependencies(FILE *file, const struct netc *netc,
                             const struct net_options *o) {
  const char *name;
  bool right = put_targets(file, o);
  fputc(':', file);
  for (size_t i = 0; right && (name = dependency(netc, o, i)); i++) {
    if (!is_file(netc, i))
      continue;
    fputs(" \\\n  ", file);
    right = put_name(file, name, false);
  }
  fputc('\n', file);
  for (size_t i = 1; right && o->phony && (name = dependency(netc, o, i));
       i++) {
    fputc('\n', file);
    right = put_name(file, name, true);
    fputs(":\n", file);
  }
  return right;
}

/* Default path as compilers choose it: vgg.d for vgg.json. */
static char *default_path(const struct net_options *o) {
  const char *base = o->files.at[0];
  for (size_t i = o->wanted_count; i-- > 0;)
    if (strcmp(o->wanted[i].path, "-") != 0)
      base = o->wanted[i].path;
  const char *dot = strrchr(base, '.');
  const char *slash = strrchr(base, '/');
  size_t length =
      dot && (!slash || dot > slash) ? (size_t)(dot - base) : strlen(base);
  return path_copy(base, length, ".d");
}

int depfile_write(const struct netc *netc, const struct net_options *options,
                  struct output_file *output, char **path) {
  const char *given = options->dep_path;
  *path = given ? path_copy(given, strlen(given), "") : default_path(options);
  if (!*path)
    return complain(EXIT_IO, "out of memory");
  if (!output_open(output, *path))
    return output_failed(*path, errno);
  if (put_dependencies(output->file, netc, options))
    return EXIT_DONE;
  output_abandon(output);
  return EXIT_IO;
}
