/* Other programs as child processes, and a folder for their files. */
#define _GNU_SOURCE /* for posix_spawn_file_actions_addchdir_np */
#include "driver/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver/executable.h"
#include "driver/temporary.h"

extern char **environ;

/* Signal handlers can only reach static variables. */
static volatile sig_atomic_t stopped_by;

static void note_signal(int signal_number) {
  stopped_by = signal_number;
}

int child_stopped(void) {
  return stopped_by;
}

static void watch_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction before,
        action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(signals[i], NULL, &before);
    if (before.sa_handler != SIG_IGN) /* ignored under nohup */
      sigaction(signals[i], &action, NULL);
  }
}

/* Starts the child with default signals, as netc ignores some. */
static int spawn(char *argv[], const char *folder, const char *log,
                 pid_t *pid) {
  struct executable program;
  if (!executable_find(argv[0], &program))
    return ENOENT;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  sigaddset(&usual, SIGXFSZ);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&files, folder);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0); /* to kill it with its children */
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  char *name = argv[0];
  if (strchr(name, '/'))
    argv[0] = program.text; /* programs look for files beside themselves */
  int reason =
      posix_spawn(pid, program.text, &files, &attributes, argv, environ);
  argv[0] = name;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return reason;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum child_end child_run(char *argv[], const char *folder, const char *log,
                         long seconds, int *status) {
  static const struct timespec moment = {0, 5 * 1000 * 1000};
  double deadline = seconds_now() + (double)seconds;
  pid_t pid, ended;
  if (child_stopped())
    return CHILD_STOPPED;
  int reason = spawn(argv, folder, log, &pid);
  if (reason != 0) {
    errno = reason;
    return reason == ENOENT ? CHILD_ABSENT : CHILD_FAILED;
  }
  while ((ended = waitpid(pid, status, WNOHANG)) == 0 && !child_stopped() &&
         seconds_now() < deadline)
    nanosleep(&moment, NULL);
  if (ended == 0)
    kill(-pid, SIGKILL);
  while (ended == 0 && waitpid(pid, status, 0) < 0 && errno == EINTR)
    ;
  if (ended != 0)
    return CHILD_ENDED;
  return child_stopped() ? CHILD_STOPPED : CHILD_LATE;
}

/* Makes a folder and keeps it open: children hold it if netc is killed. */
static bool make_held(char *path, size_t letters) {
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES; i++) {
    memset(path + letters, 'X', strlen(path) - letters);
    if (!mkdtemp(path))
      return false;
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    if (fd < 0 || temporary_hold(fd))
      return true;
    close(fd);
  }
  errno = EEXIST;
  return false;
}

bool child_folder_make(char *path, unsigned long room) {
  const char *place = getenv("TMPDIR");
  place = place && *place == '/' ? place : "/tmp";
  int length = snprintf(path, room, "%s/" TEMPORARY_FOLDER "XXXXXX", place);
  if (length < 0 || (unsigned long)length >= room) {
    errno = ENAMETOOLONG;
    return false;
  }
  temporary_sweep(place, TEMPORARY_FOLDER);
  watch_signals();
  if (!make_held(path, (size_t)length - strlen("XXXXXX"))) {
    *path = '\0';
    return false;
  }
  setenv("TMPDIR", path, 1); /* for temporary files of compilers, too */
  return true;
}

void child_folder_remove(const char *path) {
  if (*path)
    temporary_remove(path);
  if (!stopped_by)
    return;
  signal(stopped_by, SIG_DFL);
  raise(stopped_by);
}
