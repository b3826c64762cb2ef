/* The font of pictures: a subset of Liberation Sans, which has the widths of
 * Helvetica and Arial. */
#include "drawing/scene/font.h"

/* Layout gives letters beyond ASCII one width; only a PDF has theirs. */
#define GLYPH(point, width, bold) {point, {width, bold}},
#ifdef NETC_FEW
#define OTHER(point, width, bold)
#else
#define OTHER GLYPH
#endif
#define LINE(text)
#define FILES(regular, bold)
static const struct {
  uint16_t point;
  int16_t width[2];
} glyphs[] = {
#include "drawing/scene/sans.def"
};
#undef GLYPH
#undef OTHER
#undef LINE
#undef FILES

enum { GLYPHS = sizeof glyphs / sizeof *glyphs, LINE_ROOM = 65 };

#define GLYPH(point, width, bold)
#define OTHER(point, width, bold)
#define LINE(text) text,
#define FILES(regular, bold)
static const char files[][LINE_ROOM] = {
#include "drawing/scene/sans.def"
};
#undef LINE
#undef FILES

#define LINE(text)
#define FILES(regular, bold) regular, bold
int font_bytes(bool bold) {
  static const int bytes[] = {
#include "drawing/scene/sans.def"
  };
  return bytes[bold];
}

int font_count(void) {
  return GLYPHS;
}

uint32_t font_point(int glyph) {
  return glyphs[glyph - 1].point;
}

int font_width(int glyph, bool bold) {
  return glyphs[glyph - 1].width[bold];
}

int font_glyph(uint32_t point) {
  size_t low = 0, high = GLYPHS;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (glyphs[middle].point == point)
      return (int)middle + 1;
    if (glyphs[middle].point < point)
      low = middle + 1;
    else
      high = middle;
  }
  return '?' - ' ' + 1; /* ASCII glyphs are first */
}

/* The files follow one another; each ends with `~>`. */
void font_put_file(struct text *out, bool bold) {
  size_t i = 0;
  for (bool ends = false; bold && !ends; i++)
    ends = strstr(files[i], "~>") != NULL;
  for (bool ends = false; !ends; i++) {
    ends = strstr(files[i], "~>") != NULL;
    text_printf(out, "%s\n", files[i]);
  }
}
