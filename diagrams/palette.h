/* Palette: fills that differ in lightness, for grey print and colour-blind. */
#ifndef NETC_DIAGRAMS_PALETTE_H
#define NETC_DIAGRAMS_PALETTE_H

enum { PALETTE_FILLS = 10, PALETTE_HEATS = 6 };

/* Of a family of layers, by its number. */
int palette_fill(int index);

/* From little to much. */
int palette_heat(int index);

#endif
