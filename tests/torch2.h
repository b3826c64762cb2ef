/*
 * The tables of tests/data/torch2 are of PyTorch 2.6. The tools that measured
 * 1.13 wrote them. differ.csv has the figures that netc has otherwise: net,
 * batch, the figures with netc's values, and the cause.
 */
#ifndef NETC_TESTS_TORCH2_H
#define NETC_TESTS_TORCH2_H

#include "tests/report.h"

#define TORCH2 "tests/data/torch2/"

/* The value of `figure` in words like "saved:8 peak:36", or `truth`. */
static inline long long value_in(const char *words, const char *figure,
                                 long long truth) {
  size_t length = strlen(figure);
  for (const char *at = words; (at = strstr(at, figure)); at += length)
    if ((at == words || at[-1] == ' ') && at[length] == ':')
      return atoll(at + length + 1);
  return truth;
}

/* A figure of a net as netc has to have it: what was measured, unless
 * differ.csv has another value. */
static inline long long expected(bool torch2, const char *net, long long batch,
                                 const char *figure, long long truth) {
  char known[640], words[96];
  long long of;
  if (!torch2)
    return truth;
  char *text = read_text(TORCH2 "differ.csv", NULL), *rest = text;
  assert_non_null(text);
  for (char *line; (line = strtok_r(rest, "\n", &rest));)
    if (sscanf(line, "\"%639[^\"]\",%lld,\"%95[^\"]\",\"", known, &of, words) ==
            3 &&
        of == batch && strcmp(known, net) == 0)
      truth = value_in(words, figure, truth);
  free(text);
  return truth;
}

#endif
