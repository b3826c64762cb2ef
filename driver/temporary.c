/*
 * Temporary files and folders. A lock by flock() marks their owner. It ends
 * with the process in any case, and needs no process id, which another process
 * may have by then.
 */
#define _GNU_SOURCE
#include "driver/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LETTERS = 6, LONGEST_PATH = 8192, DEEPEST = 4 };

bool temporary_hold(int fd) {
  struct stat found;
  int reason = errno;
  while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
    ;
  errno = reason; /* without locks, nobody sweeps */
  return fstat(fd, &found) == 0 && found.st_nlink > 0;
}

static void remove_folder(const char *path, int deeper) {
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    char name[LONGEST_PATH];
    struct stat about;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
        (size_t)snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >=
            sizeof name)
      continue;
    if (deeper > 0 && lstat(name, &about) == 0 && S_ISDIR(about.st_mode))
      remove_folder(name, deeper - 1);
    else
      unlink(name);
  }
  if (folder)
    closedir(folder);
  rmdir(path);
}

void temporary_remove(const char *path) {
  remove_folder(path, DEEPEST);
}

/* True if it belongs to this user and nobody holds it; *fd then has the
 * lock. */
static bool is_left(const char *path, struct stat *about, int *fd) {
  struct stat found;
  *fd = -1;
  if (lstat(path, about) != 0 || about->st_uid != geteuid())
    return false;
  if (S_ISDIR(about->st_mode))
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  else if (S_ISREG(about->st_mode))
    *fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  return *fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0 &&
         fstat(*fd, &found) == 0 && found.st_ino == about->st_ino &&
         found.st_dev == about->st_dev;
}

static void sweep_one(const char *path) {
  struct stat about;
  int fd;
  if (is_left(path, &about, &fd)) {
    if (S_ISDIR(about.st_mode))
      temporary_remove(path);
    else
      unlink(path);
  }
  if (fd >= 0)
    close(fd);
}

void temporary_sweep(const char *folder, const char *prefix) {
  size_t length = strlen(prefix);
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    char path[LONGEST_PATH];
    if (strncmp(entry->d_name, prefix, length) == 0 &&
        strlen(entry->d_name) == length + LETTERS &&
        (size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) <
            sizeof path)
      sweep_one(path);
  }
  if (entries)
    closedir(entries);
}
