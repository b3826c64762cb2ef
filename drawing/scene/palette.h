/* Palette: pale fills with outlines that differ in lightness, for grey print
 * and colour blindness. */
#ifndef NETC_DRAWING_SCENE_PALETTE_H
#define NETC_DRAWING_SCENE_PALETTE_H

enum { PALETTE_FAMILIES = 10, PALETTE_HEATS = 6 };

/*
 * Colours beside and around the boxes. These change on a dark screen; fills of
 * layers and the text on them do not.
 */
enum {
  PALETTE_PAPER = 0xffffff,
  PALETTE_INK = 0x000000,   /* text in boxes */
  PALETTE_NOTES = 0x555555, /* small text in them */
  PALETTE_EDGES = 0x444444, /* of boxes without a family */
  PALETTE_WORDS = 0x444444, /* shapes, titles, the legend */
  PALETTE_ARROWS = 0x777b82,
  PALETTE_FRAMES = 0x888888,
  PALETTE_REPEATS = 0xf7f7f7, /* background of a repeating frame */
  PALETTE_WARNING = 0xa93226
};
struct palette_ink {
  int light, dark;
};
enum { PALETTE_INKS = 6 }; /* the paper is the first */
extern const struct palette_ink palette_inks[PALETTE_INKS];

/* The outline of a family of layers, by its number, and its fill. */
int palette_outline(int family);
int palette_fill(int family);

/* The fill of a cost, from low to high. */
int palette_heat(int index);

/*
 * Charts: fills from dark to light, each with its text colour, any two distinct
 * in grey and in deuteranopia; then paper, letters, faint letters, grid and
 * edges, for a light screen and for a dark one.
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
