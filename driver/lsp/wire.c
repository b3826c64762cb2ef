/* The wire of the language server: reading, framing, writing. */
#define _POSIX_C_SOURCE 200809L
#include "driver/lsp/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

static bool make_room(struct lsp_wire *wire) {
  if (wire->begin > 0) {
    memmove(wire->at, wire->at + wire->begin, wire->end - wire->begin);
    wire->end -= wire->begin;
    wire->begin = 0;
  }
  if (wire->room - wire->end >= PIECE)
    return true;
  size_t room = wire->room * 2 + PIECE;
  char *at = realloc(wire->at, room);
  if (!at)
    return false;
  wire->at = at;
  wire->room = room;
  return true;
}

bool wire_read(struct lsp_wire *wire, int milliseconds) {
  struct pollfd fd = {wire->in, POLLIN, 0};
  if (wire->ended || wire->drained)
    return false;
  if (poll(&fd, 1, milliseconds) <= 0)
    return false; /* not in time, or a signal */
  if (!make_room(wire)) {
    wire->ended = true;
    return false;
  }
  ssize_t got = read(wire->in, wire->at + wire->end, wire->room - wire->end);
  if (got > 0)
    wire->end += (size_t)got;
  wire->drained = got == 0;
  wire->ended = got < 0 && errno != EINTR && errno != EAGAIN;
  return got > 0;
}

/* The empty line after a head, and the byte after it. */
static bool find_head(const struct lsp_wire *wire, size_t *head,
                      size_t *after) {
  const char *at = wire->at + wire->begin;
  size_t length = wire->end - wire->begin;
  for (size_t i = 0; i + 1 < length && i < LSP_MOST_HEAD; i++)
    if (at[i] == '\n' &&
        (at[i + 1] == '\n' ||
         (at[i + 1] == '\r' && i + 2 < length && at[i + 2] == '\n'))) {
      *head = i + 1;
      *after = i + 2 + (at[i + 1] == '\r');
      return true;
    }
  return false;
}

static bool is_field(const char *at, size_t length, const char *name) {
  for (; *name; at++, name++, length--) {
    char c = length ? *at : '\0';
    if (c >= 'A' && c <= 'Z')
      c = (char)(c - 'A' + 'a');
    if (c != *name)
      return false;
  }
  return true;
}

/* The value of Content-Length; SIZE_MAX: none. */
static size_t find_length(const char *at, size_t length) {
  static const char name[] = "content-length:";
  size_t found = SIZE_MAX;
  for (size_t i = 0; i < length; i++) {
    if ((i > 0 && at[i - 1] != '\n') || !is_field(at + i, length - i, name))
      continue;
    i += sizeof name - 1;
    while (i < length && (at[i] == ' ' || at[i] == '\t'))
      i++;
    bool digits = i < length && is_digit(at[i]);
    for (found = 0; i < length && is_digit(at[i]); i++)
      if (found <= (SIZE_MAX >> 5))
        found = found * 10 + (size_t)(at[i] - '0');
    while (i < length && strchr(" \t\r", at[i]))
      i++;
    if (!digits || (i < length && at[i] != '\n'))
      return SIZE_MAX;
  }
  return found;
}

/*
 * Looks for a line "Content-Length: 80" from `from` on after framing is lost. A
 * body has none, as JSON has no line ends in strings. *at: its place, or the
 * first byte that may still begin one.
 */
static bool find_next(const struct lsp_wire *wire, size_t from, size_t *at) {
  enum { LONGEST_LINE = 64 };
  const char *bytes = wire->at + wire->begin;
  size_t length = wire->end - wire->begin, i = from;
  for (; i < length; i++) {
    size_t rest = length - i, most = rest < LONGEST_LINE ? rest : LONGEST_LINE;
    if ((bytes[i] != 'C' && bytes[i] != 'c') ||
        !is_field(bytes + i, rest, "content-length:"))
      continue;
    const char *line = memchr(bytes + i, '\n', most);
    if (line &&
        find_length(bytes + i, (size_t)(line - bytes) + 1 - i) != SIZE_MAX)
      break;
  }
  *at = i < length                     ? i
        : length > from + LONGEST_LINE ? length - LONGEST_LINE
                                       : from;
  return i < length;
}

/* Goes to the next head; false: it has not arrived. */
static bool find_way(struct lsp_wire *wire) {
  size_t at;
  wire->lost = !find_next(wire, 0, &at);
  wire->begin += at;
  return !wire->lost;
}

/* No frame begins here; a head may begin at the second byte. */
static enum lsp_frame lose(struct lsp_wire *wire, struct slice *frame,
                           const char *why) {
  wire->begin++;
  wire->looked = 0;
  wire->lost = true;
  *frame = slice_of(why);
  return LSP_FRAME_BROKEN;
}

void wire_refuse(struct lsp_wire *wire) {
  wire->begin = wire->body;
  wire->lost = true;
}

/* Waits for the rest of a body, unless the next head comes before its end. */
static enum lsp_frame wait(struct lsp_wire *wire, size_t after,
                           struct slice *frame) {
  size_t at;
  if (!find_next(wire, wire->looked > after ? wire->looked : after, &at)) {
    wire->looked = at;
    return LSP_FRAME_NONE;
  }
  wire->begin += at;
  wire->looked = 0;
  *frame = slice_of("a message is shorter than its Content-Length");
  return LSP_FRAME_BROKEN;
}

enum lsp_frame wire_take(struct lsp_wire *wire, struct slice *frame) {
  size_t head, after;
  if (wire->begin == wire->end || (wire->lost && !find_way(wire)))
    return LSP_FRAME_NONE;
  size_t there = wire->end - wire->begin;
  if (!find_head(wire, &head, &after))
    return there < LSP_MOST_HEAD
               ? LSP_FRAME_NONE
               : lose(wire, frame, "the header does not end within 8192 bytes");
  size_t length = find_length(wire->at + wire->begin, head);
  if (length == SIZE_MAX)
    return lose(wire, frame, "a header has no valid Content-Length");
  if (length > LSP_MOST_FRAME)
    return lose(wire, frame, "a message has more than 64 MiB");
  if (there - after < length)
    return wait(wire, after, frame);
  wire->body = wire->begin + after;
  wire->looked = 0;
  *frame = (struct slice){wire->at + wire->body, length};
  wire->begin = wire->body + length;
  return LSP_FRAME_WHOLE;
}

static void put_bytes(struct lsp_wire *wire, const char *at, size_t length) {
  while (length && !wire->ended) {
    ssize_t put = write(wire->out, at, length);
    if (put > 0) {
      at += put;
      length -= (size_t)put;
    } else if (put < 0 && errno != EINTR) {
      wire->ended = true;
    }
  }
}

void wire_write(struct lsp_wire *wire, struct slice body) {
  char head[64];
  int length =
      snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", body.length);
  /* In one write, so that a client need not read twice. */
  char *whole = malloc((size_t)length + body.length);
  if (!whole) {
    put_bytes(wire, head, (size_t)length);
    put_bytes(wire, body.at, body.length);
    return;
  }
  memcpy(whole, head, (size_t)length);
  memcpy(whole + length, body.at, body.length);
  put_bytes(wire, whole, (size_t)length + body.length);
  free(whole);
}

void wire_close(struct lsp_wire *wire) {
  free(wire->at);
  *wire = (struct lsp_wire){.ended = true};
}
