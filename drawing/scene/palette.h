/* Palette: fills that differ in lightness, for grey print and colour-blind. */
#ifndef NETC_DRAWING_SCENE_PALETTE_H
#define NETC_DRAWING_SCENE_PALETTE_H

enum { PALETTE_FILLS = 10, PALETTE_HEATS = 6 };

/*
 * All that is drawn beside the boxes, and around them. On a dark screen these
 * change; fills of layers, and what is written on them, do not.
 */
enum {
  PALETTE_PAPER = 0xffffff,
  PALETTE_INK = 0x000000,   /* around boxes, and on them */
  PALETTE_WORDS = 0x444444, /* shapes, titles, the legend */
  PALETTE_ARROWS = 0x555555,
  PALETTE_FRAMES = 0x888888,
  PALETTE_REPEATS = 0xf3f3f3, /* the ground of a frame that repeats */
  PALETTE_WARNING = 0xa93226
};
struct palette_ink {
  int light, dark;
};
enum { PALETTE_INKS = 6 }; /* the paper is the first */
extern const struct palette_ink palette_inks[PALETTE_INKS];

/* Of a family of layers, by its number. */
int palette_fill(int index);

/* From little to much. */
int palette_heat(int index);

/*
 * Charts: fills from dark to light, of which each pair is told apart in grey
 * and by deuteranopes, with what is written on them; paper, letters, faint
 * letters, lines of a grid and edges, first on a light screen, then a dark one.
 */
enum { PALETTE_CHART_FILLS = 6 };
struct palette_fill {
  int fill, ink;
};
extern const struct palette_fill palette_chart_fills[PALETTE_CHART_FILLS];

enum palette_chart_ink {
  CHART_PAPER,
  CHART_LETTERS,
  CHART_FAINT,
  CHART_GRID,
  CHART_EDGES,
  PALETTE_CHART_INKS
};
extern const int palette_chart_inks[2][PALETTE_CHART_INKS];

#endif
