/* The zoo: nets that are installed with netc, by name, and `netc zoo`. */
#define _XOPEN_SOURCE 700
#include "driver/zoo.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/shown.h"
#include "base/suggest.h"
#include "driver/installed.h"
#include "driver/options.h"

enum { MOST_NETS = 1000, LONGEST_PATH = 4096, LONGEST_NAME = 64 };

static const char prefix[] = "zoo:";

/* If two nets have the same name, the first folder's is used. */
static const char *const folders[] = {"zoo", "huggingface"};
enum { FOLDERS = sizeof folders / sizeof *folders };

struct zoo_net {
  char name[LONGEST_NAME];
  int folder;
};

/* The nets of the examples' folders, sorted. */
struct zoo {
  char examples[LONGEST_PATH];
  struct zoo_net *nets;
  size_t count;
};

static void find_examples(char *examples) {
  installed_find("examples", "examples", examples, LONGEST_PATH);
}

const char *zoo_examples(struct arena *arena) {
  char examples[LONGEST_PATH];
  find_examples(examples);
  return arena_copy(arena, examples, strlen(examples));
}

static int by_name(const void *a, const void *b) {
  const struct zoo_net *x = a, *y = b;
  return strcmp(x->name, y->name);
}

static bool zoo_has(const struct zoo *zoo, struct slice name) {
  for (size_t i = 0; i < zoo->count; i++)
    if (slice_is(name, zoo->nets[i].name))
      return true;
  return false;
}

static void add_folder(struct zoo *zoo, int number) {
  char path[LONGEST_PATH + LONGEST_NAME];
  snprintf(path, sizeof path, "%s/%s", zoo->examples, folders[number]);
  DIR *folder = opendir(path);
  for (struct dirent *entry;
       folder && zoo->count < MOST_NETS && (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name);
    struct slice name = {entry->d_name, length < 4 ? 0 : length - 4};
    if (name.length == 0 || name.length >= LONGEST_NAME ||
        strcmp(entry->d_name + length - 4, ".net") != 0 || zoo_has(zoo, name))
      continue;
    struct zoo_net *net = &zoo->nets[zoo->count++];
    memcpy(net->name, name.at, name.length);
    net->folder = number;
  }
  if (folder)
    closedir(folder);
}

/* False if there are none, or without memory. */
static bool zoo_open(struct zoo *zoo) {
  find_examples(zoo->examples);
  zoo->count = 0;
  zoo->nets = calloc(MOST_NETS, sizeof *zoo->nets);
  for (int i = 0; zoo->nets && i < FOLDERS; i++)
    add_folder(zoo, i);
  if (zoo->count)
    qsort(zoo->nets, zoo->count, sizeof *zoo->nets, by_name);
  else
    free(zoo->nets);
  return zoo->count > 0;
}

struct zoo_file {
  char path[LONGEST_PATH + 2 * LONGEST_NAME];
};

static struct zoo_file file_of(const struct zoo *zoo,
                               const struct zoo_net *net) {
  struct zoo_file file;
  snprintf(file.path, sizeof file.path, "%s/%s/%s.net", zoo->examples,
           folders[net->folder], net->name);
  return file;
}

static int no_zoo(void) {
  return complain(EXIT_IO, "the nets of the zoo are missing: they should be in "
                           "share/netc/examples beside bin");
}

bool zoo_is_name(const char *operand) {
  return strncmp(operand, prefix, strlen(prefix)) == 0;
}

/* Names */

/* Reduces a name to lower-case letters and digits, to find VGG-16 and
 * mobilenetv2. */
static void plain_name(const char *name, char *to, size_t room) {
  size_t length = 0;
  for (; *name && length + 1 < room; name++)
    if (isalnum((unsigned char)*name))
      to[length++] = (char)tolower((unsigned char)*name);
  to[length] = '\0';
}

/* The longest net's name that the word begins with; `rest` follows it. */
static const struct zoo_net *name_in(const struct zoo *zoo, const char *word,
                                     const char **rest) {
  const struct zoo_net *best = NULL;
  size_t most = 0;
  for (size_t i = 0; i < zoo->count; i++) {
    char plain[LONGEST_NAME];
    plain_name(zoo->nets[i].name, plain, sizeof plain);
    size_t length = strlen(plain);
    if (length > most && strncmp(word, plain, length) == 0) {
      best = &zoo->nets[i];
      most = length;
    }
  }
  *rest = word + most;
  return best;
}

/* True if "18 34 50" or "0..7" contains a number. */
static bool allows(const char *allowed, const char *value) {
  char *end;
  long number = strtol(value, &end, 10);
  if (!isdigit((unsigned char)*value) || *end)
    return false;
  for (const char *at = allowed; isdigit((unsigned char)*at);) {
    long least = strtol(at, &end, 10);
    long most = strncmp(end, "..", 2) == 0 ? strtol(end + 2, &end, 10) : least;
    if (number >= least && number <= most)
      return true;
    at = end + strspn(end, " ");
  }
  return false;
}

/* Finds the param that allows the 50 of "resnet 50". "b0" is a value of b. */
static bool find_param(const struct zoo *zoo, const struct zoo_net *net,
                       const char *value, char *to, size_t room) {
  struct netc_param p = {.size = sizeof p};
  struct netc *netc = netc_open(NULL, NULL);
  bool found = false;
  if (netc && netc_load_file(netc, file_of(zoo, net).path) == NETC_OK)
    for (size_t i = 0; !found && netc_param(netc, i, &p) == NETC_OK; i++) {
      size_t length = strlen(p.name);
      const char *number =
          strncmp(value, p.name, length) == 0 ? value + length : value;
      found = allows(p.allowed, number);
      if (found)
        snprintf(to, room, " -D %s=%s", p.name, number);
    }
  netc_close(netc);
  return found;
}

struct zoo_text zoo_suggestion(const char *word) {
  struct zoo_text found = {""};
  struct zoo zoo;
  char plain[LONGEST_NAME], param[LONGEST_NAME] = "";
  const struct zoo_net *net;
  const char *rest, *name;
  size_t length = strlen(word);
  if (length >= sizeof plain || strchr(word, '/') || !zoo_open(&zoo))
    return found;
  if (length > 4 && strcmp(word + length - 4, ".net") == 0)
    length -= 4;
  snprintf(param, sizeof param, "%.*s", (int)length, word);
  plain_name(param, plain, sizeof plain);
  *param = '\0';
  net = name_in(&zoo, plain, &rest);
  if (net && *rest && !find_param(&zoo, net, rest, param, sizeof param))
    net = NULL;
  name = net ? net->name : NULL;
  if (!name) {
    struct suggestion s = suggest_begin(slice_of(plain));
    for (size_t i = 0; i < zoo.count; i++)
      suggest_offer(&s, slice_of(zoo.nets[i].name));
    name = s.best.at; /* part of a name that ends with NUL */
  }
  if (name)
    snprintf(found.text, sizeof found.text, "%s%s%s", prefix, name, param);
  free(zoo.nets);
  return found;
}

const char *zoo_path(struct arena *arena, const char *operand) {
  const char *name = operand + strlen(prefix);
  struct zoo zoo;
  if (!zoo_open(&zoo)) {
    no_zoo();
    return NULL;
  }
  const char *path = NULL;
  for (size_t i = 0; i < zoo.count && !path; i++)
    if (strcmp(zoo.nets[i].name, name) == 0) {
      struct zoo_file file = file_of(&zoo, &zoo.nets[i]);
      path = arena_copy(arena, file.path, strlen(file.path));
    }
  free(zoo.nets);
  if (path)
    return path;
  struct zoo_text meant = zoo_suggestion(name);
  complain(EXIT_USAGE, "the zoo has no `%s`; %s%s%s", name,
           *meant.text ? "did you mean `" : "`netc zoo` lists its nets",
           meant.text, *meant.text ? "`?" : "");
  return NULL;
}

/* netc zoo */

static const struct zoo_group {
  const char *name, *nets;
} groups[] = {
#define GROUP(name, nets) {name, nets},
#include "driver/zoo.def"
};

enum { GROUPS = sizeof groups / sizeof *groups };

struct zoo_listing {
  const struct operands *words;
  struct arena arena;
  struct zoo zoo;
  struct netc *netc;
  int status;
};

/* The first comment, on one line. */
static struct slice comment_of(struct arena *arena, struct slice source) {
  struct text line = text_new(arena);
  for (size_t i = 0; i < source.length && source.at[i] == '#'; i++) {
    for (i++; i < source.length && source.at[i] != '\n'; i++)
      if (line.length || source.at[i] != ' ')
        text_putc(&line, source.at[i]);
  }
  return text_slice(&line);
}

/* The first year in it; 0: none. */
static int year_in(struct slice text) {
  for (size_t i = 0; i + 4 <= text.length; i++) {
    const char *at = text.at + i;
    bool starts = i == 0 || !is_word_byte(at[-1]);
    bool ends = i + 4 == text.length || !is_word_byte(at[4]);
    if (starts && ends && (memcmp(at, "19", 2) == 0 || !memcmp(at, "20", 2)) &&
        is_digit(at[2]) && is_digit(at[3]))
      return (at[0] - '0') * 1000 + (at[1] - '0') * 100 + (at[2] - '0') * 10 +
             at[3] - '0';
  }
  return 0;
}

/* The quoted title, or what comes before the end of the sentence. */
static struct slice title_in(struct slice text) {
  const char *quote = memchr(text.at, '"', text.length);
  if (quote) {
    struct slice rest = slice_from(text, (size_t)(quote + 1 - text.at));
    const char *end = memchr(rest.at, '"', rest.length);
    return (struct slice){rest.at, end ? (size_t)(end - rest.at) : rest.length};
  }
  size_t length = 0;
  while (length < text.length && text.at[length] != ';' &&
         (text.at[length] != '.' ||
          (length > 2 && memcmp(&text.at[length - 2], "al", 2) == 0)))
    length++;
  return (struct slice){text.at, length};
}

/* "resnet  2015  25.6 M  4.09 G  Deep Residual Learning for Image Recognition",
 * cut at the width of a line. */
static void put_net(struct zoo_listing *l, const struct zoo_net *net) {
  enum { WIDTH = 79, COUNT = 8 };
  struct slice source, comment = {"", 0};
  struct netc_totals totals = {.size = sizeof totals};
  struct text line = text_new(&l->arena), cell = line;
  struct zoo_file file = file_of(&l->zoo, net);
  if (file_read(&l->arena, file.path, &source) == FILE_OK)
    comment = comment_of(&l->arena, source);
  text_printf(&line, "  %-16s", net->name);
  int year = year_in(comment);
  text_printf(&line, year ? "%4d" : "    ", year);
  bool known = netc_load_file(l->netc, file.path) == NETC_OK &&
               netc_totals(l->netc, &totals) == NETC_OK;
  for (int i = 0; i < 2; i++) {
    cell.length = 0;
    if (known)
      text_short_count(&cell, i ? totals.mac_count : totals.param_count,
                       i ? 'G' : 'B');
    text_printf(&line, "%*.*s", COUNT + 1, (int)cell.length, cell.at);
  }
  text_put(&line, "  ");
  shown_put(&line, title_in(comment), 0);
  struct slice shown = text_slice(&line);
  bool cut = text_width(shown) > WIDTH;
  printf("%.*s%s\n", cut ? WIDTH - 3 : (int)shown.length, shown.at,
         cut ? "..." : "");
}

/* True if a list of words has the name. */
static bool lists(const char *all, const char *name) {
  size_t length = strlen(name);
  for (const char *at = all; (at = strstr(at, name)); at++)
    if ((at == all || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
      return true;
  return false;
}

/* Nets without a group come last. */
static int group_of(const char *name) {
  int group = 0;
  while (group < GROUPS && !lists(groups[group].nets, name))
    group++;
  return group;
}

static bool is_wanted(const struct operands *words, const struct zoo_net *net) {
  int group = group_of(net->name);
  for (int i = 0; i < words->count; i++)
    if (!strstr(net->name, words->at[i]) &&
        !(group < GROUPS && strstr(groups[group].name, words->at[i])))
      return false;
  return true;
}

static size_t list_group(struct zoo_listing *l, int group) {
  size_t count = 0;
  for (size_t i = 0; i < l->zoo.count; i++) {
    const struct zoo_net *net = &l->zoo.nets[i];
    if (group_of(net->name) != group || !is_wanted(l->words, net))
      continue;
    if (count++ == 0)
      printf("%s\n", group < GROUPS ? groups[group].name : "other");
    put_net(l, net);
  }
  return count;
}

static void list(void *user) {
  struct zoo_listing *l = user;
  size_t count = 0;
  if (!zoo_open(&l->zoo)) {
    l->status = no_zoo();
    return;
  }
  puts("name              year   params    MACs  title");
  for (int i = 0; i <= GROUPS; i++)
    count += list_group(l, i);
  free(l->zoo.nets);
  if (count == 0)
    l->status = complain(EXIT_SOURCE, "the zoo has no such net or group; `netc "
                                      "zoo` lists all");
}

int command_zoo(int argc, char **argv) {
  struct operands words;
  struct zoo_listing l = {.words = &words, .status = EXIT_DONE};
  struct arena *const arenas[GUARD_ARENAS] = {&l.arena};
  if (!options_read(COMMAND_ZOO, argc, argv, NULL, NULL, &words))
    return words.status;
  l.netc = netc_open(NULL, NULL);
  if (!l.netc)
    return complain(EXIT_IO, "out of memory");
  netc_mode(l.netc, NETC_FOR_CHECK);
  arena_open(&l.arena, NULL, NULL);
  if (!guard_run(arenas, list, &l))
    l.status = complain(EXIT_IO, "out of memory");
  arena_close(&l.arena);
  netc_close(l.netc);
  int end = finish_stdout();
  return l.status ? l.status : end;
}
