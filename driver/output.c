/* Outputs: files that are complete or absent. */
#define _GNU_SOURCE /* for O_TMPFILE */
#include "driver/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/temporary.h"

/*
 * Existing temporary files. A signal handler can only reach static variables;
 * this is the program's only state of that kind.
 */
enum { MOST_TEMPORARY = 128 };
static char *volatile temporary_files[MOST_TEMPORARY];

static void remove_all(int signal_number) {
  for (int i = 0; i < MOST_TEMPORARY; i++)
    if (temporary_files[i])
      unlink(temporary_files[i]);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void watch_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction before, action = {.sa_handler = remove_all};
    sigaction(signals[i], NULL, &before);
    if (before.sa_handler != SIG_IGN) /* ignored under nohup */
      sigaction(signals[i], &action, NULL);
  }
}

static int note_temporary(char *path) {
  for (int i = 0; i < MOST_TEMPORARY; i++) {
    if (temporary_files[i])
      continue;
    temporary_files[i] = path;
    return i;
  }
  return -1; /* more than a run can open */
}

static void forget(struct output_file *output) {
  int reason = errno;
  if (output->temporary && output->slot >= 0)
    temporary_files[output->slot] = NULL;
  free(output->path);
  free(output->temporary);
  output->path = output->temporary = NULL;
  errno = reason;
}

char *path_copy(const char *path, size_t length, const char *end) {
  size_t more = strlen(end);
  char *copy = malloc(length + more + 1);
  if (copy) {
    memcpy(copy, path, length);
    memcpy(copy + length, end, more + 1);
  }
  return copy;
}

/* Resolves a path; of a missing file, its folder. From malloc. NULL without
 * memory, or if it is not a regular file. */
static char *place_of(const char *path) {
  struct stat stat_of;
  if (strcmp(path, "-") == 0 ||
      (stat(path, &stat_of) == 0 && !S_ISREG(stat_of.st_mode)))
    return NULL;
  char *place = realpath(path, NULL);
  if (place)
    return place;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char *folder = path_copy(path, (size_t)(name - path), slash ? "" : ".");
  char *there = folder ? realpath(folder, NULL) : NULL;
  size_t room = there ? strlen(there) + strlen(name) + 2 : 0;
  if (there && (place = malloc(room)))
    snprintf(place, room, "%s/%s", there, name);
  free(there);
  free(folder);
  return place;
}

bool output_same_file(const char *a, const char *b) {
  char *left = place_of(a), *right = place_of(b);
  bool same = left && right && strcmp(left, right) == 0;
  free(left);
  free(right);
  return same;
}

int output_spares_sources(const char *path, const struct netc *netc) {
  const char *source;
  for (size_t i = 0; (source = netc_source(netc, i)); i++)
    if (output_same_file(path, source))
      return complain(EXIT_USAGE,
                      "the output would replace %s, a source of this net; give "
                      "it another name",
                      path);
  return EXIT_DONE;
}

/* Mode of the replaced file, or that of the umask. */
static mode_t mode_for(const char *path) {
  struct stat old;
  if (stat(path, &old) == 0)
    return old.st_mode & 07777;
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == path ? path_copy("/", 1, "")
         : slash       ? path_copy(path, (size_t)(slash - path), "")
                       : path_copy(".", 1, "");
}

/* Makes a temporary file beside the output. It has its own name, as the
 * output's may already have 255 bytes. -1: errno. */
static int make_named(struct output_file *output) {
  const char *slash = strrchr(output->path, '/');
  size_t folder = slash ? (size_t)(slash + 1 - output->path) : 0;
  free(output->temporary);
  output->temporary = path_copy(output->path, folder, TEMPORARY_FILE "XXXXXX");
  return output->temporary ? mkstemp(output->temporary) : -1;
}

/* Path of a descriptor in /proc, if that is mounted. */
struct descriptor_path {
  char text[64];
};
static struct descriptor_path descriptor_path(int fd) {
  struct descriptor_path path;
  snprintf(path.text, sizeof path.text, "/proc/self/fd/%d", fd);
  return path;
}

static int open_unnamed(const char *folder) {
#ifdef O_TMPFILE
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  struct stat found;
  if (fd < 0 || stat(descriptor_path(fd).text, &found) == 0)
    return fd;
  close(fd);
#endif
  (void)folder;
  return -1;
}

static int open_named(struct output_file *output) {
  enum { TRIES = 100 };
  int fd = -1;
  for (int i = 0; i < TRIES; i++) {
    fd = make_named(output);
    if (fd < 0 || temporary_hold(fd))
      break;
    close(fd); /* another process has swept it */
    fd = -1;
  }
  if (fd >= 0)
    output->slot = note_temporary(output->temporary);
  return fd;
}

static bool open_temporary(struct output_file *output) {
  char *folder = folder_of(output->path);
  int fd = -1;
  watch_signals();
  if (folder) {
    temporary_sweep(folder, TEMPORARY_FILE);
    fd = open_unnamed(folder);
  }
  free(folder);
  if (fd >= 0)
    temporary_hold(fd); /* for when it gets a name */
  else
    fd = open_named(output);
  if (fd < 0) {
    forget(output);
    return false;
  }
  output->placed = true;
  output->held = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  bool opened = output->held >= 0 && fchmod(fd, mode_for(output->path)) == 0;
  output->file = opened ? fdopen(fd, "wb") : NULL;
  if (!output->file) {
    int reason = errno;
    close(fd);
    errno = reason;
    output_abandon(output);
  }
  return opened && output->file;
}

bool output_open(struct output_file *output, const char *path) {
  struct stat stat_of;
  *output = (struct output_file){.slot = -1, .held = -1};
  if (strcmp(path, "-") == 0) {
    output->file = stdout;
    return true;
  }
  output->path = realpath(path, NULL); /* resolves links */
  if (!output->path)
    output->path = path_copy(path, strlen(path), "");
  if (!output->path)
    return false;
  bool special = lstat(output->path, &stat_of) == 0 &&
                 !S_ISREG(stat_of.st_mode); /* or a link to a missing file */
  if (!special)
    return open_temporary(output);
  output->file = fopen(output->path, "wb");
  if (!output->file)
    forget(output);
  return output->file != NULL;
}

static bool same_content(const char *a, const char *b) {
  FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
  bool same = x && y;
  while (same) {
    char left[4096], right[4096];
    size_t n = fread(left, 1, sizeof left, x);
    size_t m = fread(right, 1, sizeof right, y);
    same = n == m && memcmp(left, right, n) == 0;
    if (n < sizeof left)
      break;
  }
  if (x)
    fclose(x);
  if (y)
    fclose(y);
  return same;
}

/* Closes the file; false if any byte was lost. */
static bool close_file(struct output_file *output) {
  bool written = !ferror(output->file);
  if (output->file == stdout)
    written = fflush(stdout) == 0 && written;
  else
    written = fclose(output->file) == 0 && written;
  output->file = NULL;
  return written;
}

/* Gives an unnamed file a temporary name, held by this process. */
static bool name_unnamed(struct output_file *output) {
#ifdef O_TMPFILE
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES; i++) {
    int fd = make_named(output); /* to find a free name */
    if (fd < 0)
      return false;
    close(fd);
    unlink(output->temporary);
    output->slot = note_temporary(output->temporary);
    if (linkat(AT_FDCWD, descriptor_path(output->held).text, AT_FDCWD,
               output->temporary, AT_SYMLINK_FOLLOW) == 0)
      return true;
    if (output->slot >= 0)
      temporary_files[output->slot] = NULL;
    if (errno != EEXIST)
      break;
  }
#endif
  free(output->temporary);
  output->temporary = NULL;
  return false;
}

/* Puts the file in place: links it, or replaces another one. */
static bool place(struct output_file *output) {
  if (!output->temporary &&
      linkat(AT_FDCWD, descriptor_path(output->held).text, AT_FDCWD,
             output->path, AT_SYMLINK_FOLLOW) == 0)
    return true;
  return (output->temporary || name_unnamed(output)) &&
         rename(output->temporary, output->path) == 0;
}

static void let_go(struct output_file *output, bool placed) {
  int reason = errno;
  if (output->temporary && !placed)
    unlink(output->temporary);
  if (output->placed && output->held >= 0)
    close(output->held);
  errno = reason;
  forget(output);
}

bool output_commit(struct output_file *output, bool if_changed) {
  bool done = close_file(output), placed = false;
  if (output->placed && done) {
    struct descriptor_path made = descriptor_path(output->held);
    bool same = if_changed &&
                same_content(output->temporary ? output->temporary : made.text,
                             output->path);
    placed = !same && place(output);
    done = same || placed;
  }
  let_go(output, placed);
  return done;
}

void output_abandon(struct output_file *output) {
  if (output->file && output->file != stdout)
    fclose(output->file);
  output->file = NULL;
  let_go(output, false);
}

/* Does not report a closed pipe on standard output. */
int output_failed(const char *path, int error) {
  bool standard = strcmp(path, "-") == 0;
  if (standard && error == EPIPE)
    return EXIT_IO;
  return complain(EXIT_IO, "cannot write %s: %s",
                  standard ? "standard output" : path, strerror(error));
}
