/* The font of pictures: widths for all of them, and the file that PDFs embed.
 */
#ifndef NETC_DRAWING_SCENE_FONT_H
#define NETC_DRAWING_SCENE_FONT_H

#include "base/text.h"

/* The glyph of a code point, or that of `?`. */
int font_glyph(uint32_t point);

/* The glyph's width in thousandths of the size, as in Helvetica. */
int font_width(int glyph, bool bold);

/* How many glyphs there are, which are numbered from 1, and their points. */
int font_count(void);
uint32_t font_point(int glyph);

/* The TrueType file, deflated, as ASCII85 with its end; its bytes before. */
int font_bytes(bool bold);
void font_put_file(struct text *out, bool bold);

#endif
