/*
 * Palette. The outlines were found by a search: each has a contrast of at least
 * 3 : 1 to paper and differs from the next by 3.7 steps of CIE lightness (grey
 * print), and any two are at least 15 apart in CIELAB, in full colour vision
 * and in deuteranopia after Machado et al., 2009; convolution and attention 35.
 * Black text has a contrast of at least 12 : 1 on each fill.
 * tests/test_diagrams.c computes all of it.
 */
#include "drawing/scene/palette.h"

const struct palette_ink palette_inks[PALETTE_INKS] = {
    {PALETTE_PAPER, 0x16181d},   {PALETTE_WORDS, 0xb9bdc6},
    {PALETTE_ARROWS, 0xa4a9b3},  {PALETTE_FRAMES, 0x7d838e},
    {PALETTE_REPEATS, 0x252930}, {PALETTE_WARNING, 0xff7b6b}};

const struct palette_fill palette_chart_fills[PALETTE_CHART_FILLS] = {
    {0x243b6b, 0xffffff}, {0x7352a6, 0xffffff}, {0xd1603d, 0x111111},
    {0x4bb5aa, 0x111111}, {0xf0bf4c, 0x111111}, {0xf6ecd2, 0x111111}};

const int palette_chart_inks[2][PALETTE_CHART_INKS] = {
    {PALETTE_PAPER, 0x1b1b1b, 0x595959, 0xdcdcdc, 0x333333},
    {0x16181d, 0xececec, 0xa9adb5, 0x3a3e46, 0xd0d3d8}};

/* By headings of the manual: convolution, pooling, dense, normalisation,
 * activation, regularisation, shape, learned, join, sequence. */
static const int outlines[PALETTE_FAMILIES] = {
    0x1d7bc8, 0x5d9863, 0xb7710c, 0x939599, 0x546000,
    0x8d3230, 0x56685c, 0x0a7984, 0x3c3e41, 0x551fb7};

int palette_outline(int family) {
  return outlines[family % PALETTE_FAMILIES];
}

/* A seventh of the outline's ink; joins are white. */
int palette_fill(int family) {
  enum { JOIN = 8 };
  int outline = palette_outline(family), fill = 0;
  if (family % PALETTE_FAMILIES == JOIN)
    return PALETTE_PAPER;
  for (int shift = 0; shift <= 16; shift += 8)
    fill |= (0xff - (0xff - (outline >> shift & 0xff)) / 7) << shift;
  return fill;
}

int palette_heat(int index) {
  static const int heats[PALETTE_HEATS] = {0xffffff, 0xfff0cf, 0xfddc9a,
                                           0xf9bd6d, 0xee9a4d, 0xdd7a3f};
  return heats[index < PALETTE_HEATS ? index : PALETTE_HEATS - 1];
}
