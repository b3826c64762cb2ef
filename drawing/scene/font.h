/* The font of pictures: its widths, and the file that PDFs embed. */
#ifndef NETC_DRAWING_SCENE_FONT_H
#define NETC_DRAWING_SCENE_FONT_H

#include "base/text.h"

/* The glyph of a code point, or that of `?`. */
int font_glyph(uint32_t point);

/* The glyph's width in thousandths of the size, as in Helvetica. */
int font_width(int glyph, bool bold);

/* The number of glyphs, which are numbered from 1, and their code points. */
int font_count(void);
uint32_t font_point(int glyph);

/* The size of the TrueType file, and the file, deflated, in ASCII85 with its
 * end. */
int font_bytes(bool bold);
void font_put_file(struct text *out, bool bold);

#endif
