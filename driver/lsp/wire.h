/* The wire of the language server: frames with a Content-Length, both ways. */
#ifndef NETC_DRIVER_LSP_WIRE_H
#define NETC_DRIVER_LSP_WIRE_H

#include "base/slice.h"

enum {
  LSP_MOST_FRAME = 64 << 20, /* bytes of a message */
  LSP_MOST_HEAD = 8192,      /* bytes of its head */
};

struct lsp_wire {
  int in, out;
  char *at; /* received bytes: [begin, end) */
  size_t begin, end, room;
  size_t body;   /* offset of the last frame's body */
  size_t looked; /* bytes from `begin` in which no head begins */
  bool lost;     /* searching for the next head */
  bool ended;    /* the output is closed, or reading fails */
  bool drained;  /* the client writes no more */
};

enum lsp_frame {
  LSP_FRAME_NONE,   /* incomplete */
  LSP_FRAME_WHOLE,  /* in *frame, until the next read */
  LSP_FRAME_BROKEN, /* *frame has the reason; reading can go on */
};

/* Reads what arrives within `milliseconds`; -1: no limit. Returns whether
 * anything arrived. */
bool wire_read(struct lsp_wire *wire, int milliseconds);

enum lsp_frame wire_take(struct lsp_wire *wire, struct slice *frame);

/* Called if the frame is no message, before the next read: if its length was
 * wrong, the next head may begin inside it. */
void wire_refuse(struct lsp_wire *wire);

void wire_write(struct lsp_wire *wire, struct slice body);
void wire_close(struct lsp_wire *wire);

#endif
