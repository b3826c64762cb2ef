/*
 * Palette. The fills were found by a search: black text has a contrast of at
 * least 6 : 1 on each, each differs from the next by 3.7 steps of CIE lightness
 * (grey print), and any two are at least 15 apart in CIELAB, in full colour
 * vision and in deuteranopia after Machado et al., 2009. tests/test_diagrams.c
 * computes all three.
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

int palette_fill(int index) {
  static const int fills[PALETTE_FILLS] = {
      0xa8c0e7, 0xcdf2d8, 0xf4cf85, 0xfcd2f2, 0xf9f7bb,
      0x5d9eb9, 0xb7d297, 0x4cafa5, 0xb8a797, 0xa3b0fa};
  return fills[index % PALETTE_FILLS];
}

int palette_heat(int index) {
  static const int heats[PALETTE_HEATS] = {0xffffff, 0xfff0cf, 0xfddc9a,
                                           0xf9bd6d, 0xee9a4d, 0xdd7a3f};
  return heats[index < PALETTE_HEATS ? index : PALETTE_HEATS - 1];
}
