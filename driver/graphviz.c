/* Graphviz: makes pictures of diagrams with `dot` as a child process. */
#define _POSIX_C_SOURCE 200809L
#include "driver/graphviz.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver/executable.h"

static const char *const pictures[] = {"png",          "timeline.png",
                                       "arena.png",    "bars.png",
                                       "roofline.png", "volumes.png"};

const char *picture_at(size_t index) {
  return index < sizeof pictures / sizeof *pictures ? pictures[index] : NULL;
}

const char *picture_find(const char *kind) {
  for (size_t i = 0; picture_at(i); i++)
    if (strcmp(picture_at(i), kind) == 0)
      return picture_at(i);
  return NULL;
}

extern char **environ;

/* Bytes of a PNG up to its width and height, and of its last chunk. */
enum { PNG_HEADER = 24, PNG_END = 12 };
static const char png_start[] = "\x89PNG\r\n\x1a\n";
static const char png_end[] = "\0\0\0\0IEND\xae\x42\x60\x82";

struct child {
  pid_t pid;
  int in, out; /* our ends of its input and output; -1: closed */
  unsigned char head[PNG_HEADER]; /* first bytes of the picture */
  size_t head_length;
  char tail[PNG_END]; /* last bytes */
};

static void note_bytes(struct child *child, const char *bytes, size_t length) {
  size_t room = PNG_HEADER - child->head_length;
  size_t taken = length < room ? length : room;
  size_t last = length < PNG_END ? length : PNG_END;
  memcpy(child->head + child->head_length, bytes, taken);
  child->head_length += taken;
  memmove(child->tail, child->tail + last, PNG_END - last);
  memcpy(child->tail + PNG_END - last, bytes + length - last, last);
}

static bool is_whole(const struct child *child) {
  return child->head_length == PNG_HEADER &&
         memcmp(child->head, png_start, sizeof png_start - 1) == 0 &&
         memcmp(child->tail, png_end, PNG_END) == 0;
}

/*
 * Many viewers open no larger pictures, ImageMagick among them. Cairo shrinks
 * pictures beyond 32,767 until nothing can be read.
 */
enum { MOST_PIXELS = 16384 };

static bool is_too_large(const struct child *child) {
  const unsigned char *h = child->head;
  unsigned long width = (unsigned long)h[16] << 24 |
                        (unsigned long)h[17] << 16 | (unsigned long)h[18] << 8 |
                        h[19];
  unsigned long height = (unsigned long)h[20] << 24 |
                         (unsigned long)h[21] << 16 |
                         (unsigned long)h[22] << 8 | h[23];
  return width > MOST_PIXELS || height > MOST_PIXELS;
}

static void shut(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

static int spawn_dot(struct child *child) {
  struct executable program;
  char *argv[] = {"dot", "-Kneato", "-n2", "-Tpng", NULL};
  int to[2], from[2];
  if (!executable_find(argv[0], &program))
    return ENOENT;
  if (pipe(to) != 0)
    return errno;
  if (pipe(from) != 0) {
    int reason = errno;
    close(to[0]);
    close(to[1]);
    return reason;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, to[1]);
  posix_spawn_file_actions_addclose(&actions, from[0]);
  int reason =
      posix_spawn(&child->pid, program.text, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  child->in = to[1];
  child->out = from[0];
  if (reason != 0) {
    shut(&child->in);
    shut(&child->out);
  }
  return reason;
}

static long seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long)now.tv_sec;
}

/* Time limit of `dot`. */
static long dot_seconds(void) {
  const char *word = getenv("NETC_DOT_SECONDS");
  long seconds = word ? strtol(word, NULL, 10) : 0;
  return seconds > 0 && seconds < 1000000 ? seconds : DOT_SECONDS;
}

/* Alternates writing and reading, so that neither pipe blocks the other. */
static bool exchange(struct child *child, const struct bytes *dot, FILE *file,
                     long deadline) {
  size_t sent = 0;
  fcntl(child->in, F_SETFL, O_NONBLOCK);
  while (child->out >= 0) {
    struct pollfd fds[2] = {{child->out, POLLIN, 0}, {child->in, POLLOUT, 0}};
    if (seconds_now() >= deadline)
      return false;
    if (poll(fds, 2, 1000) < 0 && errno != EINTR)
      return false;
    if (child->in >= 0 && fds[1].revents) {
      ssize_t n = write(child->in, dot->at + sent, dot->length - sent);
      if (n > 0)
        sent += (size_t)n;
      if (sent == dot->length || (n < 0 && errno != EAGAIN))
        shut(&child->in);
    }
    if (fds[0].revents) {
      char buffer[16384];
      ssize_t n = read(child->out, buffer, sizeof buffer);
      if (n > 0) {
        note_bytes(child, buffer, (size_t)n);
        fwrite(buffer, 1, (size_t)n, file);
      }
      if (n == 0 || (n < 0 && errno != EINTR))
        shut(&child->out);
    }
  }
  return true;
}

/* Waits for the child to end, or kills it at the deadline. */
static int child_end(struct child *child, bool in_time, long deadline) {
  static const struct timespec moment = {0, 10 * 1000 * 1000};
  int status = 0;
  pid_t ended = 0;
  while (in_time && ended == 0 && seconds_now() < deadline) {
    ended = waitpid(child->pid, &status, WNOHANG);
    if (ended == 0)
      nanosleep(&moment, NULL);
  }
  if (ended > 0)
    return status;
  kill(child->pid, SIGKILL);
  while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
    ;
  return -1;
}

/* Explains why there is no usable picture; EXIT_DONE if there is one. */
static int explain_end(const struct child *child, int status) {
  if (status == -1)
    return complain(EXIT_IO,
                    "dot took more than %ld second%s; `--depth 1` folds groups "
                    "into one box each, and NETC_DOT_SECONDS=%ld waits longer",
                    dot_seconds(), dot_seconds() == 1 ? "" : "s",
                    10 * dot_seconds());
  if (WIFSIGNALED(status))
    return complain(EXIT_IO, "dot was killed by signal %d (%s)",
                    WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == 127)
    return complain(EXIT_IO, "PNG needs Graphviz: `apt-get install graphviz`");
  if (WEXITSTATUS(status) != 0)
    return complain(EXIT_IO, "dot failed with status %d", WEXITSTATUS(status));
  if (!is_whole(child))
    return complain(EXIT_IO, "dot succeeded, but wrote no complete PNG; check "
                             "with `dot -V` that it is Graphviz's");
  if (is_too_large(child))
    return complain(EXIT_IO,
                    "this picture has more than the %d pixels of a PNG that "
                    "viewers open; write an .svg or .pdf, or fold it with "
                    "`--depth 1`",
                    MOST_PIXELS);
  return EXIT_DONE;
}

int graphviz_render(const struct bytes *dot, FILE *file) {
  struct child child = {.in = -1, .out = -1};
  int reason = spawn_dot(&child);
  if (reason == ENOENT)
    return complain(EXIT_IO, "PNG needs Graphviz: `apt-get install graphviz`, "
                             "or write an .svg file");
  if (reason != 0)
    return complain(EXIT_IO, "cannot run dot: %s", strerror(reason));
  long deadline = seconds_now() + dot_seconds();
  bool in_time = exchange(&child, dot, file, deadline);
  shut(&child.in);
  shut(&child.out);
  return explain_end(&child, child_end(&child, in_time, deadline));
}
