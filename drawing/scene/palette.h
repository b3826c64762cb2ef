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

#endif
