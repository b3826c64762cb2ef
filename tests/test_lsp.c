/*
 * netc lsp, as a client sees it over pipes. tests/data/lsp/NAME.txt are
 * conversations: `> ` is sent, and what is answered has to be the `< ` lines
 * after it, which BLESS=1 writes. FOLDER stands for tests/data/lsp.
 */
#define _XOPEN_SOURCE 700
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/nets.h"

#include "netc_edit.h"

extern char **environ;

/* How long an answer may take, and how long silence lasts, in ms. */
enum { PATIENCE = 60000, SILENCE = 150 };

struct talk {
  pid_t pid;
  int to, from;
  char *at; /* what was read */
  size_t length;
};

static struct talk talk_open(void) {
  char *argv[] = {"netc", "lsp", "--stdio", NULL};
  struct talk t = {0};
  int to[2], from[2];
  signal(SIGPIPE, SIG_IGN);
  assert_int_equal(pipe(to), 0);
  assert_int_equal(pipe(from), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  for (int i = 0; i < 2; i++) {
    posix_spawn_file_actions_addclose(&actions, to[i]);
    posix_spawn_file_actions_addclose(&actions, from[i]);
  }
  assert_int_equal(
      posix_spawn(&t.pid, NETC_PATH, &actions, NULL, argv, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  t.to = to[1];
  t.from = from[0];
  return t;
}

static void talk_raw(struct talk *t, const char *bytes, size_t length) {
  while (length) {
    ssize_t put = write(t->to, bytes, length);
    if (put <= 0)
      return; /* it has gone: its status tells */
    bytes += put;
    length -= (size_t)put;
  }
}

static void talk_send(struct talk *t, const char *body) {
  char head[64];
  int length =
      snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", strlen(body));
  talk_raw(t, head, (size_t)length);
  talk_raw(t, body, strlen(body));
}

/* The next message, from malloc; NULL: none in that time, or the end. */
static char *talk_read(struct talk *t, int milliseconds) {
  static const char name[] = "Content-Length: ";
  for (;;) {
    char *end = t->at ? strstr(t->at, "\r\n\r\n") : NULL;
    if (end) {
      assert_memory_equal(t->at, name, sizeof name - 1);
      size_t length = strtoul(t->at + sizeof name - 1, NULL, 10);
      size_t whole = (size_t)(end + 4 - t->at) + length;
      if (t->length >= whole) {
        char *body = calloc(length + 1, 1);
        assert_non_null(body);
        memcpy(body, end + 4, length);
        t->length -= whole;
        memmove(t->at, t->at + whole, t->length + 1);
        return body;
      }
    }
    struct pollfd fd = {t->from, POLLIN, 0};
    char piece[1 << 16];
    if (poll(&fd, 1, milliseconds) <= 0)
      return NULL;
    ssize_t got = read(t->from, piece, sizeof piece);
    if (got <= 0)
      return NULL;
    t->at = realloc(t->at, t->length + (size_t)got + 1);
    assert_non_null(t->at);
    memcpy(t->at + t->length, piece, (size_t)got);
    t->length += (size_t)got;
    t->at[t->length] = '\0';
  }
}

/* The server's exit status; the server must end soon. */
static int talk_end(struct talk *t) {
  int status = -1;
  if (t->to >= 0)
    close(t->to);
  for (int i = 0; waitpid(t->pid, &status, WNOHANG) == 0; i++) {
    if (i == 2000) {
      kill(t->pid, SIGKILL);
      print_error("netc lsp does not end\n");
    }
    poll(NULL, 0, 5);
  }
  close(t->from);
  free(t->at);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Conversations */

static char *replace(const char *text, const char *from, const char *to) {
  char *out = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&out, &length);
  const char *at;
  for (; *from && (at = strstr(text, from)); text = at + strlen(from))
    fprintf(file, "%.*s%s", (int)(at - text), text, to);
  fputs(text, file);
  fclose(file);
  return out;
}

static void hold_talk(const char *path) {
  char *text = read_text(path, NULL), *made = NULL;
  char *folder = realpath("tests/data/lsp", NULL);
  size_t length = 0;
  struct talk t = talk_open();
  FILE *out = open_memstream(&made, &length);
  bool bless = getenv("BLESS");
  assert_true(text && folder);
  for (char *line = text, *next; *line; line = next) {
    next = line + strcspn(line, "\n");
    next += *next == '\n';
    size_t size = (size_t)(next - line);
    if (*line == '>') {
      char *body = replace(line, "FOLDER", folder);
      body[strcspn(body, "\n")] = '\0';
      talk_send(&t, body + 2);
      free(body);
    }
    if (*line != '<')
      fprintf(out, "%.*s", (int)size, line);
    /* As many answers as there were; blessing, all that come. */
    char *answer;
    while ((bless ? *line == '>' : *line == '<') &&
           (answer = talk_read(&t, bless ? SILENCE : PATIENCE))) {
      char *shown = replace(answer, folder, "FOLDER");
      fprintf(out, "< %s\n", shown);
      free(shown);
      free(answer);
      if (!bless)
        break;
    }
  }
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"id\":\"end\",\"method\":\"shutdown\"}");
  char *last = talk_read(&t, PATIENCE);
  assert_non_null(last);
  fclose(out);
  check_file(path, made);
  assert_string_equal(last,
                      "{\"jsonrpc\":\"2.0\",\"id\":\"end\",\"result\":null}");
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
  assert_int_equal(talk_end(&t), 0);
  free(last);
  free(made);
  free(text);
  free(folder);
}

static void conversations(void **state) {
  (void)state;
  struct paths paths = find_paths("tests/data/lsp", ".txt");
  assert_true(paths.count > 8);
  for (size_t i = 0; i < paths.count; i++)
    hold_talk(paths.at[i]);
  paths_free(&paths);
}

/* Frames that are none */

static const char initialize[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}";

static void expect_answer(struct talk *t, const char *part) {
  char *answer = talk_read(t, PATIENCE);
  if (!answer)
    print_error("no answer with %s\n", part);
  assert_non_null(answer);
  assert_holds(answer, part);
  free(answer);
}

static const char *const broken_frames[] = {
    "Content-Length: x\r\n\r\n",
    "Content-Length: -5\r\n\r\n",
    "Content-Length: 5 5\r\n\r\n",
    "Content-Length: 99999999999999999999999\r\n\r\n",
    "Content-Type: a\r\n\r\n",
    "hello\n\n",
    "\r\n\r\n",
    "Content-Length: 2\r\n\r\n{]",
    "Content-Length: 0\r\n\r\n",
    "Content-Length: 4\r\n\r\n\"\xFF\"\n",
    "Content-Length: 5\r\n\r\n\0\0\0\0\0",
};

static void a_broken_frame_is_an_error(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof broken_frames / sizeof *broken_frames; i++) {
    struct talk t = talk_open();
    bool zeros = strstr(broken_frames[i], ": 5\r\n\r\n") != NULL;
    talk_raw(&t, broken_frames[i], strlen(broken_frames[i]) + (zeros ? 5 : 0));
    expect_answer(&t, "\"id\":null,\"error\":{\"code\":-32700");
    talk_send(&t, initialize); /* what comes after it is answered */
    expect_answer(&t, "\"id\":1,\"result\":{\"capabilities\"");
    assert_int_equal(talk_end(&t), 1);
  }
}

/* The header of a message of 61 bytes, with its own length or another. */
static const char *const wrong_heads[] = {
    "Content-Length: 62\r\n\r\n",
    "Content-Length: 70\r\n\r\n",
    "Content-Length: 100\r\n\r\n",
    "Content-Length: 150\r\n\r\n",
    "Content-Length: 250\r\n\r\n",
    "Content-Length: 100000\r\n\r\n",
    "Content-Length: 99999999999\r\n\r\n",
    "Content-Length: 60\r\n\r\n",
    "Content-Length: 1\r\n\r\n",
    "Content-Length: 0\r\n\r\n",
    "Content-Length: 00\r\n\r\n",
    "Content-Length: -61\r\n\r\n",
    "Content-Length: many\r\n\r\n",
    "Content-Length:\r\n\r\n",
    "Content-Length 61\r\n\r\n",
    "Content-Length: 61\r\nContent-Length: x\r\n\r\n",
    "Content-Type: a\r\n\r\n",
    "\r\n\r\n",
    "",
};

/* All at once, or so many bytes at a time: answers to what comes after it. */
static void after_a_wrong_length_requests_are_answered(void **state) {
  (void)state;
  static const char body[] = "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"none/"
                             "of/these/at/all/here\"}";
  static const size_t pieces[] = {10000, 7};
  for (size_t i = 0; i < 2 * sizeof wrong_heads / sizeof *wrong_heads; i++) {
    struct talk t = talk_open();
    char one[100], all[1000];
    size_t used = (size_t)snprintf(all, sizeof all, "%s", wrong_heads[i / 2]);
    for (int id = 6; id <= 9; id++) {
      int length = snprintf(one, sizeof one, body, id);
      assert_int_equal(length, 61);
      used +=
          (size_t)snprintf(all + used, sizeof all - used,
                           id == 6 ? "%.0d%s" : "Content-Length: %d\r\n\r\n%s",
                           id == 6 ? 0 : length, one);
    }
    talk_send(&t, initialize);
    expect_answer(&t, "\"capabilities\"");
    for (size_t at = 0, n = pieces[i % 2]; at < used; at += n)
      talk_raw(&t, all + at, used - at < n ? used - at : n);
    expect_answer(&t, "\"id\":null,\"error\":{\"code\":-32700");
    for (int id = 7, errors = 0; id <= 9;) {
      char *answer = talk_read(&t, PATIENCE);
      snprintf(one, sizeof one, "\"id\":%d,", id);
      if (!answer || (!strstr(answer, one) && ++errors > 3))
        fail_msg("%s: no answer to %d, but %s", wrong_heads[i / 2], id, answer);
      id += strstr(answer, one) != NULL;
      free(answer);
    }
    assert_int_equal(talk_end(&t), 1);
  }
}

/* 64 MiB and more are passed over, not kept. */
static void a_message_may_not_be_endless(void **state) {
  (void)state;
  struct talk t = talk_open();
  enum { PIECE = 1 << 20, PIECES = 70 };
  char *piece = malloc(PIECE);
  assert_non_null(piece);
  memset(piece, 'x', PIECE);
  char head[64];
  snprintf(head, sizeof head, "Content-Length: %d\r\n\r\n", PIECE * PIECES);
  talk_raw(&t, head, strlen(head));
  for (int i = 0; i < PIECES; i++)
    talk_raw(&t, piece, PIECE);
  expect_answer(&t, "a message has more than 64 MiB");
  talk_send(&t, initialize);
  expect_answer(&t, "\"capabilities\"");
  for (int i = 0; i < 1; i++) /* nor a header */
    talk_raw(&t, piece, 8192);
  expect_answer(&t, "the header does not end within 8192 bytes");
  free(piece);
  assert_int_equal(talk_end(&t), 1);
}

/* The server ends with the process that started it. */
static void it_ends_with_its_client(void **state) {
  (void)state;
  static const char *const last[] = {"", "Content-Le", "Content-Length: 50\r\n",
                                     "Content-Length: 50\r\n\r\n{\"jsonrpc\""};
  for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
    struct talk t = talk_open();
    talk_send(&t, initialize);
    expect_answer(&t, "\"capabilities\"");
    talk_raw(&t, last[i], strlen(last[i]));
    assert_int_equal(talk_end(&t), 1);
  }
  struct talk t = talk_open();
  talk_send(&t, initialize);
  expect_answer(&t, "\"capabilities\"");
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
  assert_int_equal(talk_end(&t), 1); /* no shutdown before it */

  /* A client that died, whose end of the pipe another process holds. */
  pid_t dead = fork();
  if (dead == 0)
    _exit(0);
  waitpid(dead, NULL, 0);
  char text[300];
  snprintf(text, sizeof text,
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
           "\"params\":{\"processId\":%d}}",
           (int)dead);
  t = talk_open();
  talk_send(&t, text);
  expect_answer(&t, "\"capabilities\"");
  int kept = t.to;
  t.to = -1;
  assert_int_equal(talk_end(&t), 1);
  close(kept);
}

/* Cancelling */

static void open_text(struct talk *t, const char *uri, const char *text,
                      int version) {
  json_t *message = json_pack(
      "{s:s, s:s, s:{s:{s:s, s:s, s:i, s:s}}}", "jsonrpc", "2.0", "method",
      "textDocument/didOpen", "params", "textDocument", "uri", uri,
      "languageId", "netc", "version", version, "text", text);
  char *body = json_dumps(message, JSON_COMPACT);
  talk_send(t, body);
  free(body);
  json_decref(message);
}

/* Requests that wait, the one that is answered, and one that was. */
static void requests_can_be_cancelled(void **state) {
  (void)state;
  /* Seconds of work: choosing checkpoints for each of many batches. */
  char slow[200];
  snprintf(slow, sizeof slow,
           "input 224x224x3\nrepeat %d { conv 8 3x3 pad bn relu }\n"
           "train batch=8 checkpoint=auto gpu=t4\n",
           SANITIZED ? 4000 : 60000);
  struct talk t = talk_open();
  talk_send(&t, initialize);
  expect_answer(&t, "\"capabilities\"");
  open_text(&t, "file:///slow.net", slow, 1);
  expect_answer(&t, "publishDiagnostics");
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":"
                "\"textDocument/codeLens\",\"params\":{\"textDocument\":"
                "{\"uri\":\"file:///slow.net\"}}}");
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":"
                "\"textDocument/inlayHint\",\"params\":{\"textDocument\":"
                "{\"uri\":\"file:///slow.net\"}}}");
  poll(NULL, 0, 50);
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\","
                "\"params\":{\"id\":\"x\"}}");
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\","
                "\"params\":{\"id\":2}}");
  expect_answer(&t, "\"id\":2,\"error\":{\"code\":-32800");
  expect_answer(&t, "\"id\":\"x\",\"error\":{\"code\":-32800");
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\","
                "\"params\":{\"id\":2}}");
  /* A text that changes makes the work on it idle. */
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
                "\"textDocument/codeLens\",\"params\":{\"textDocument\":"
                "{\"uri\":\"file:///slow.net\"}}}");
  poll(NULL, 0, 50);
  talk_send(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didChange\","
                "\"params\":{\"textDocument\":{\"uri\":\"file:///slow.net\","
                "\"version\":2},\"contentChanges\":[{\"text\":"
                "\"input 8x8x3\\nfc 2\\n\"}]}}");
  expect_answer(&t, "\"id\":3,\"error\":{\"code\":-32801");
  expect_answer(&t, "\"version\":2");
  assert_int_equal(talk_end(&t), 1);
}

/* The answer to a request, as text from malloc. */
static char *ask(struct talk *t, const char *method, const char *uri,
                 const char *more) {
  char body[1000];
  snprintf(body, sizeof body,
           "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"%s\",\"params\":{"
           "\"textDocument\":{\"uri\":\"%s\"}%s}}",
           method, uri, more);
  talk_send(t, body);
  char *answer = talk_read(t, PATIENCE);
  assert_non_null(answer);
  assert_holds(answer, "\"id\":9,");
  return answer;
}

static void a_diagram_is_svg(void **state) {
  (void)state;
  struct talk t = talk_open();
  talk_send(&t, initialize);
  expect_answer(&t, "\"capabilities\"");
  open_text(&t, "file:///a.net", "input 8x8x3\nconv 4 3x3\nfc 2\n", 1);
  expect_answer(&t, "publishDiagnostics");
  static const char *const looks[] = {"", ",\"direction\":\"right\"",
                                      ",\"depth\":1", ",\"depth\":\"x\""};
  for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
    char *answer = ask(&t, "netc/preview", "file:///a.net", looks[i]);
    assert_holds(answer, "\"version\":1,\"svg\":\"<svg ");
    assert_holds(answer, "</svg>");
    assert_holds(answer, "\"card\":\"<p class=\\\"verdict\\\">needs ");
    free(answer);
  }
  assert_int_equal(talk_end(&t), 1);
}

/* Random edits: a buffer that was edited is what it were, opened anew. */

enum { MOST_TEXT = 3000 };

static uint32_t dice = 2463534242u;

static size_t roll(size_t sides) {
  dice ^= dice << 13, dice ^= dice >> 17, dice ^= dice << 5;
  return dice % sides;
}

/* The position of a byte, by another way than the server's. */
static void put_position(const char *text, size_t byte, char *out,
                         size_t room) {
  size_t line = 0, units = 0;
  for (size_t i = 0; i < byte; i++) {
    unsigned char c = (unsigned char)text[i];
    bool end = c == '\n' || (c == '\r' && text[i + 1] != '\n');
    line += end;
    units = end                               ? 0
            : c == '\r' || (c & 0xC0) == 0x80 ? units
                                              : units + 1 + (c >= 0xF0);
  }
  snprintf(out, room, "{\"line\":%zu,\"character\":%zu}", line, units);
}

/* A place between two characters; none between \r and \n. */
static size_t some_place(const char *text, size_t length) {
  size_t at = roll(length + 1);
  while (at > 0 && ((text[at] & 0xC0) == 0x80 ||
                    (text[at] == '\n' && text[at - 1] == '\r')))
    at--;
  return at;
}

static void edit_once(struct talk *t, char *text, int version) {
  static const char *const pieces[] = {"conv 4 3x3 pad\n",
                                       "\xF0\x9F\x98\x80",
                                       "{",
                                       "}",
                                       "\r\n",
                                       "\xC3\xA9",
                                       " bn relu",
                                       "A: ",
                                       "add A\n",
                                       "#",
                                       "repeat 2 { relu }\n",
                                       "def f(c) { conv c 1x1 }\n",
                                       "f 4\n",
                                       "\n",
                                       "input 8x8x3\n",
                                       "x",
                                       "",
                                       "",
                                       "gap\nfc 3\n",
                                       "\"",
                                       "\t",
                                       "pool 2x2 -> 4x4x4\n"};
  char from[64], to[64], *all = NULL;
  size_t length = strlen(text), begin = some_place(text, length), size;
  size_t end = some_place(text, length);
  if (end < begin) {
    size_t other = begin;
    begin = end;
    end = other;
  }
  if (end - begin > 12 && length < MOST_TEXT / 2)
    end = begin;
  const char *piece = pieces[roll(sizeof pieces / sizeof *pieces)];
  if (length > MOST_TEXT)
    piece = "";
  put_position(text, begin, from, sizeof from);
  put_position(text, end, to, sizeof to);
  FILE *out = open_memstream(&all, &size);
  fprintf(out, "%.*s%s%s", (int)begin, text, piece, text + end);
  fclose(out);
  assert_true(size < 2 * MOST_TEXT);
  memcpy(text, all, size + 1);
  free(all);
  json_t *string = json_string(piece);
  char *quoted = json_dumps(string, JSON_ENCODE_ANY), body[600];
  snprintf(body, sizeof body,
           "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didChange\","
           "\"params\":{\"textDocument\":{\"uri\":\"file:///a.net\","
           "\"version\":%d},\"contentChanges\":[{\"range\":{\"start\":%s,"
           "\"end\":%s},\"text\":%s}]}}",
           version, from, to, quoted);
  talk_send(t, body);
  json_decref(string);
  free(quoted);
}

/* Hints that are not remembered: `a` has others, too. */
static void compare_hints(const char *a, const char *b) {
  json_t *left = json_loads(a, 0, NULL), *right = json_loads(b, 0, NULL);
  json_t *mine = json_object_get(left, "result"), *hint;
  json_t *fresh = json_object_get(right, "result");
  size_t i, k = 0;
  json_array_foreach(mine, i, hint) {
    json_t *position = json_object_get(hint, "position");
    const char *label = json_string_value(json_object_get(hint, "label"));
    json_t *other = json_array_get(fresh, k);
    bool there =
        other && json_equal(json_object_get(other, "position"), position);
    k += there;
    if (label[3] == '~')
      continue;
    assert_true(there);
    assert_true(json_equal(hint, other));
  }
  assert_int_equal(k, json_array_size(fresh));
  json_decref(left);
  json_decref(right);
}

static char *read_diagnostics(struct talk *t) {
  char *answer = talk_read(t, PATIENCE);
  assert_non_null(answer);
  assert_holds(answer, "publishDiagnostics");
  char *all = replace(strstr(answer, "\"diagnostics\""), "b.net", "a.net");
  free(answer);
  return all;
}

static void compare_fresh(struct talk *t, const char *text, char *diagnostics) {
  static const char *const methods[] = {"semanticTokens/full", "documentSymbol",
                                        "foldingRange", "inlayHint"};
  char method[64];
  open_text(t, "file:///b.net", text, 1);
  char *fresh = read_diagnostics(t);
  assert_same_text(text, fresh, diagnostics);
  free(fresh);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    snprintf(method, sizeof method, "textDocument/%s", methods[i]);
    char *a = ask(t, method, "file:///a.net", "");
    char *b = ask(t, method, "file:///b.net", "");
    char *same = replace(b, "b.net", "a.net");
    if (strcmp(methods[i], "inlayHint") == 0)
      compare_hints(a, same);
    else
      assert_same_text(methods[i], same, a);
    free(a);
    free(b);
    free(same);
  }
  talk_send(t, "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didClose\","
               "\"params\":{\"textDocument\":{\"uri\":\"file:///b.net\"}}}");
  expect_answer(t, "\"diagnostics\":[]");
}

static long resident_pages(const struct talk *t) {
  char path[64];
  long all = 0, resident = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)t->pid);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &all, &resident), 2);
  fclose(file);
  return resident;
}

/* The whole text at once. */
static void set_text(struct talk *t, const char *text, int version) {
  json_t *message = json_pack(
      "{s:s, s:s, s:{s:{s:s, s:i}, s:[{s:s}]}}", "jsonrpc", "2.0", "method",
      "textDocument/didChange", "params", "textDocument", "uri",
      "file:///a.net", "version", version, "contentChanges", "text", text);
  char *body = json_dumps(message, JSON_COMPACT);
  talk_send(t, body);
  free(body);
  json_decref(message);
}

/*
 * And memory does not grow: no more than by 2 MiB in two thirds of them. A
 * text of which little is left is set anew.
 */
static void edit_at_random(const char *name, const char *begin, int edits) {
  enum { ANEW = 100 };
  static char text[2 * MOST_TEXT];
  assert_true(strlen(begin) < MOST_TEXT);
  strcpy(text, begin);
  struct talk t = talk_open();
  talk_send(&t, initialize);
  expect_answer(&t, "\"capabilities\"");
  open_text(&t, "file:///a.net", text, 0);
  free(read_diagnostics(&t));
  long before = 0;
  for (int i = 1; i <= edits; i++) {
    if (i % ANEW == 0)
      set_text(&t, strcpy(text, begin), i);
    else
      edit_once(&t, text, i);
    char *diagnostics = read_diagnostics(&t);
    if (i % 10 == 0)
      compare_fresh(&t, text, diagnostics);
    free(diagnostics);
    if (i == edits / 3)
      before = resident_pages(&t);
  }
  long grown = (resident_pages(&t) - before) * (sysconf(_SC_PAGESIZE) / 1024);
  print_message("%s, %d edits: %ld KiB more\n", name, edits, grown);
  assert_true(SANITIZED || grown <= 2048);
  assert_int_equal(talk_end(&t), 1);
}

static void random_edits(void **state) {
  (void)state;
  edit_at_random("a small net",
                 "input 16x16x3\nconv 4 3x3 pad bn relu\n# \xF0\x9F\x98\x80\n"
                 "A: pool 2x2\nadd A\nfc 10\n",
                 300);
}

/* Nets of the zoo, which have all kinds of statements. */
static void more_random_edits(void **state) {
  (void)state;
  static const char *const nets[] = {
      "alexnet", "detr",        "gpt2", "inception_v3", "mobilenet_v2",
      "nfnet",   "transformer", "unet", "vit",          "wavenet"};
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    char path[200];
    snprintf(path, sizeof path, "examples/zoo/%s.net", nets[i]);
    char *text = read_text(path, NULL);
    edit_at_random(nets[i], text, tenth(1000));
    free(text);
  }
}

/* Another name for all that has one: the net stays. */

static char *with_edits(const char *text, const json_t *edits) {
  char *copy = strdup(text);
  size_t i;
  json_t *edit;
  json_array_foreach(edits, i, edit) { /* as long as it was: in place */
    json_t *range = json_object_get(edit, "range");
    json_t *start = json_object_get(range, "start");
    json_int_t line = json_integer_value(json_object_get(start, "line"));
    char *at = copy;
    while (line--)
      at = strchr(at, '\n') + 1;
    const char *word = json_string_value(json_object_get(edit, "newText"));
    at += json_integer_value(json_object_get(start, "character"));
    memcpy(at, word, strlen(word));
  }
  return copy;
}

static void assert_same_net(struct netc *a, struct netc *b, const char *what) {
  if (netc_layer_count(a) != netc_layer_count(b))
    print_error("%s\n", what);
  assert_int_equal(netc_layer_count(a), netc_layer_count(b));
  for (size_t i = 0; i < netc_layer_count(a); i++) {
    struct netc_layer x = {.size = sizeof x}, y = {.size = sizeof y};
    assert_int_equal(netc_layer(a, i, &x), NETC_OK);
    assert_int_equal(netc_layer(b, i, &y), NETC_OK);
    bool same = strcmp(x.op, y.op) == 0 && x.place.begin == y.place.begin &&
                x.out.rank == y.out.rank && x.param_count == y.param_count &&
                x.mac_count == y.mac_count &&
                memcmp(x.out.dims, y.out.dims,
                       (size_t)x.out.rank * sizeof *x.out.dims) == 0;
    if (!same)
      print_error("%s: %s became %s\n", what, x.name, y.name);
    assert_true(same);
  }
}

static void rename_one(struct talk *t, struct netc *whole, const char *text,
                       const char *uri, const struct netc_name *name) {
  char more[300], word[100];
  snprintf(word, sizeof word, "%s", name->name);
  word[0] = 'Q';
  snprintf(more, sizeof more,
           ",\"position\":{\"line\":%u,\"character\":%u},\"newName\":\"%s\"",
           (unsigned)name->place.line - 1, (unsigned)name->place.column - 1,
           word);
  char *answer = ask(t, "textDocument/rename", uri, more);
  json_t *json = json_loads(answer, 0, NULL);
  json_t *changes = json_object_get(json_object_get(json, "result"), "changes");
  assert_holds(answer, "\"result\"");
  assert_int_equal(json_object_size(changes), 1);
  const json_t *edits = json_object_get(changes, uri);
  assert_int_equal(json_array_size(edits), 1 + name->use_count);
  char *renamed = with_edits(text, edits);
  struct netc *netc = netc_open(NULL, NULL);
  assert_int_equal(netc_load_text(netc, "a.net", renamed, strlen(renamed)),
                   NETC_OK);
  assert_same_net(whole, netc, name->name);
  netc_close(netc);
  free(renamed);
  json_decref(json);
  free(answer);
}

/* Nets of one file in ASCII, so that columns are characters. */
static bool is_plain(const char *text) {
  for (const char *c = text; *c; c++)
    if ((unsigned char)*c > 127)
      return false;
  return !strstr(text, "\nuse ");
}

static void rename_in_zoo(size_t each) {
  struct paths paths = find_paths("examples/zoo", ".net");
  struct talk t = talk_open();
  int count = 0;
  talk_send(&t, initialize);
  expect_answer(&t, "\"capabilities\"");
  for (size_t i = 0; i < paths.count; i++) {
    char *text = read_text(paths.at[i], NULL), uri[200];
    struct netc *netc = netc_open(NULL, NULL);
    struct netc_name name = {.size = sizeof name};
    snprintf(uri, sizeof uri, "file:///%s", paths.at[i]);
    if (i % each == 0 && is_plain(text) &&
        netc_load_text(netc, "a.net", text, strlen(text)) == NETC_OK) {
      open_text(&t, uri, text, 1);
      expect_answer(&t, "publishDiagnostics");
      for (size_t k = 0; netc_name_at(netc, k, &name) == NETC_OK; k++)
        if (name.kind == NETC_NAME_LABEL || name.kind == NETC_NAME_DEF) {
          rename_one(&t, netc, text, uri, &name);
          count++;
        }
    }
    netc_close(netc);
    free(text);
  }
  print_message("%d names\n", count);
  assert_true(count > (each > 1 ? 20 : 200));
  assert_int_equal(talk_end(&t), 1);
  paths_free(&paths);
}

static void renamed_nets_are_the_same(void **state) {
  (void)state;
  rename_in_zoo(10);
}

static void all_renamed_nets_are_the_same(void **state) {
  (void)state;
  rename_in_zoo(1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(conversations),
      cmocka_unit_test(a_broken_frame_is_an_error),
      cmocka_unit_test(after_a_wrong_length_requests_are_answered),
      cmocka_unit_test(a_message_may_not_be_endless),
      cmocka_unit_test(it_ends_with_its_client),
      cmocka_unit_test(requests_can_be_cancelled),
      cmocka_unit_test(a_diagram_is_svg),
      cmocka_unit_test(random_edits),
      slow_test(more_random_edits),
      cmocka_unit_test(renamed_nets_are_the_same),
      slow_test(all_renamed_nets_are_the_same),
  };
  return cmocka_run_group_tests_name("lsp", tests, NULL, NULL);
}
