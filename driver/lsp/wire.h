/* The wire of the language server: frames with a Content-Length, both ways. */
#ifndef NETC_DRIVER_LSP_WIRE_H
#define NETC_DRIVER_LSP_WIRE_H

#include "base/slice.h"

enum {
  LSP_MOST_FRAME = 64 << 20, /* bytes of a message */
  LSP_MOST_HEAD = 8192,      /* and of what is written above it */
};

struct lsp_wire {
  int in, out;
  char *at; /* what was read: [begin, end) */
  size_t begin, end, room;
  size_t body;   /* of the frame that was taken last */
  size_t looked; /* bytes from `begin` in which no head begins */
  bool lost;     /* the next head is looked for, wherever it begins */
  bool ended;    /* nothing more comes, or nobody reads */
};

enum lsp_frame {
  LSP_FRAME_NONE,   /* it is not whole yet */
  LSP_FRAME_WHOLE,  /* in *frame, until more is read */
  LSP_FRAME_BROKEN, /* in *frame why; what comes after it is read */
};

/* Reads what is there, after that long at most; -1: as long as it takes.
 * Whether anything came. */
bool wire_read(struct lsp_wire *wire, int milliseconds);

enum lsp_frame wire_take(struct lsp_wire *wire, struct slice *frame);

/* The frame that was taken is no message: if its length was wrong, the next
 * head begins in it. Before more is read. */
void wire_refuse(struct lsp_wire *wire);

void wire_write(struct lsp_wire *wire, struct slice body);
void wire_close(struct lsp_wire *wire);

#endif
