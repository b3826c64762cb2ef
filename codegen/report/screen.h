/*
 * Screen: what the first lines of every report say: the net, the question, the
 * answer, and what would change it. As text it is at most one screen, with the
 * layers below.
 */
#ifndef NETC_CODEGEN_REPORT_SCREEN_H
#define NETC_CODEGEN_REPORT_SCREEN_H

#include "codegen/backend.h"

/* Ways to fit: all that there are with --details. */
enum {
  SCREEN_LINES = 24,
  SCREEN_WAYS = 6,
  SCREEN_MOST_WAYS = 12,
  SCREEN_ROWS = 48
};

struct screen_row {
  const char *label; /* "needs"; "": as above */
  struct slice lead, text;
  bool option;              /* the lead is options of the command line */
  int64_t bytes, available; /* for a bar; 0: none */
};

/* A part of what is needed; the last one may be the rest, "other". */
struct screen_part {
  const char *name;
  int64_t bytes;
  struct slice size; /* in the unit of the total */
};
enum { SCREEN_PARTS = 16 };

struct screen_page {
  struct slice counts;   /* "25.6 M parameters" */
  struct slice question; /* "train, batch 256, Adam, float32, PyTorch on T4" */
  enum fit_verdict verdict; /* VERDICT_NONE: no device is named */
  struct screen_row rows[SCREEN_ROWS];
  size_t count;
  struct screen_part parts[SCREEN_PARTS]; /* of the first row, largest first */
  size_t part_count;
};

struct screen_page *screen_page(const struct compiled *c);

/* Writes the page as text. */
void screen_put_answer(const struct compiled *c, struct text *out);

/* card.c: the same as HTML, without what is around it. */
void card_put_html(const struct compiled *c, struct text *out);

/* The first lines of it, to be repeated below a long report. */
void screen_put_last(const struct compiled *c, struct text *out);

/* Where to read on, and how many rows of the table are not in it. */
void screen_put_foot(const struct compiled *c, bool folded, size_t left_out,
                     struct text *out);

#endif
