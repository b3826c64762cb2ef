/*
 * Scenes as PDF 1.4, one page each, after ISO 32000-1: boxes, lines and texts.
 * The font is embedded, as publishers require, with the meaning of its glyphs,
 * so that text can be searched. There is no date and no random number, so equal
 * nets give equal bytes. Characters that the font lacks are shown as `?`.
 */
#include <stdio.h>
#include <string.h>

#include "drawing/scene/font.h"
#include "drawing/scene/scene.h"

struct pdf_writer {
  struct text *out;
  size_t length; /* bytes before the current buffer */
  VEC(size_t) offsets;
  struct arena *arena;
  size_t fonts[2]; /* by weight: its object; 0: not used */
};

/* Objects by number: the catalogue, the list of pages, the glyph map; two for
 * each page; those of the fonts. */
enum { MEANING = 3, FIRST_PAGE, FONT_OBJECTS = 4 };

static const char *const weights[] = {"R", "B"};

static void put_real(struct text *out, int64_t tenths) {
  put_length(out, tenths);
  text_putc(out, ' ');
}

static void put_colour(struct text *out, int colour, const char *operator) {
  for (int shift = 16; shift >= 0; shift -= 8) {
    int part = colour >> shift & 0xFF;
    text_printf(out, "%d.%03d ", part / 255, part % 255 * 1000 / 255);
  }
  text_printf(out, "%s ", operator);
}

static void put_pen(struct text *out, const struct scene_item *item) {
  text_printf(out, "%d.%02d w %s d ", (int)(item->stroke_width / 100),
              (int)(item->stroke_width % 100),
              item->dashed ? "[3 2] 0" : "[] 0");
  put_colour(out, item->stroke, "RG");
}

/* Corners as curves: 0.55 of the radius is nearly a quarter of a circle. */
static void put_round(struct text *out, const struct scene_item *b) {
  int64_t r = b->radius, k = r * 45 / 100;
  int64_t x = b->x, y = b->y, right = b->x + b->width, low = b->y + b->height;
  const int64_t path[4][8] = {
      {right - r, y, right - k, y, right, y + k, right, y + r},
      {right, low - r, right, low - k, right - k, low, right - r, low},
      {x + r, low, x + k, low, x, low - k, x, low - r},
      {x, y + r, x, y + k, x + k, y, x + r, y}};
  put_real(out, x + r);
  put_real(out, y);
  text_put(out, "m ");
  for (int side = 0; side < 4; side++)
    for (int i = 0; i < 8; i += 2) {
      put_real(out, path[side][i]);
      put_real(out, path[side][i + 1]);
      text_put(out, i == 0 ? "l " : i == 6 ? "c " : "");
    }
  text_put(out, "h ");
}

static void put_colours(struct text *out, const struct scene_item *item) {
  if (item->fill != NO_COLOUR)
    put_colour(out, item->fill, "rg");
  if (item->stroke != NO_COLOUR)
    put_pen(out, item);
}

static void put_paint(struct text *out, const struct scene_item *item) {
  text_put(out, item->fill == NO_COLOUR     ? "S\n"
                : item->stroke == NO_COLOUR ? "f\n"
                                            : "B\n");
}

static void put_shape(struct text *out, const struct scene_item *item) {
  put_colours(out, item);
  for (size_t i = 0; i < item->point_count; i++) {
    put_real(out, item->points[i].x);
    put_real(out, item->points[i].y);
    text_put(out, i ? "l " : "m ");
  }
  text_put(out, item->closed ? "h " : "");
  put_paint(out, item);
}

static void put_box(struct text *out, const struct scene_item *item) {
  put_colours(out, item);
  if (item->radius) {
    put_round(out, item);
  } else {
    put_real(out, item->x);
    put_real(out, item->y);
    put_real(out, item->width);
    put_real(out, item->height);
    text_put(out, "re ");
  }
  put_paint(out, item);
}

/* `mode` 0 fills the letters, 1 draws around them. */
static void put_letters(struct text *out, const struct scene_item *item,
                        int64_t x, int mode) {
  text_printf(out, "/%s ", weights[item->bold]);
  put_real(out, item->size);
  /* The page is flipped vertically, text is not. */
  text_printf(out, "Tf %s ", item->up ? "0 -1 -1 0" : "1 0 0 -1");
  put_real(out, x);
  put_real(out, item->y);
  text_put(out, "Tm ");
  text_put(out, item->halo ? mode ? "1 Tr <" : "0 Tr <" : "<");
  for (size_t at = 0, bytes; at < item->text.length; at += bytes)
    text_printf(out, "%04X",
                (unsigned)font_glyph(text_code_point(item->text, at, &bytes)));
  text_put(out, "> Tj ");
}

/* The width of its glyphs; boxes are measured by text_extent. */
static int64_t width_of(const struct scene_item *item) {
  int64_t sum = 0;
  for (size_t at = 0, bytes; at < item->text.length; at += bytes)
    sum += font_width(font_glyph(text_code_point(item->text, at, &bytes)),
                      item->bold);
  return sum * item->size / 1000;
}

static void put_words(struct text *out, const struct scene_item *item) {
  int64_t width = width_of(item);
  int64_t x = item->anchor == ANCHOR_START    ? item->x
              : item->anchor == ANCHOR_MIDDLE ? item->x - width / 2
                                              : item->x - width;
  text_put(out, "BT ");
  put_colour(out, item->fill == NO_COLOUR ? 0 : item->fill, "rg");
  if (item->halo) {
    text_put(out, "3 w [] 0 d 1 1 1 RG ");
    put_letters(out, item, x, 1);
  }
  put_letters(out, item, x, 0);
  text_put(out, "ET\n");
}

static void put_step(void *user, const struct point *points, int count) {
  for (int i = 0; i < count; i++) {
    put_real(user, points[i].x);
    put_real(user, points[i].y);
  }
  text_put(user, count == 1 ? "l " : "c ");
}

static void put_line(struct text *out, const struct scene_item *item) {
  put_pen(out, item);
  put_real(out, item->points[0].x);
  put_real(out, item->points[0].y);
  text_put(out, "m ");
  line_walk(item, put_step, out);
  text_put(out, "S\n");
  if (!item->arrow)
    return;
  struct point corners[3];
  line_arrow(item, corners);
  put_colour(out, item->stroke, "rg");
  for (int i = 0; i < 3; i++) {
    put_real(out, corners[i].x);
    put_real(out, corners[i].y);
    text_put(out, i ? "l " : "m ");
  }
  text_put(out, "f\n");
}

/* The scale, at which it is no larger than a page. */
static int64_t scale_of(const struct scene *scene) {
  int64_t page = page_scale(scene->width, scene->height);
  int64_t own = scene_scale(scene);
  return scene->print_width || own < page ? own : page;
}

static struct slice page_content(const struct scene *scene,
                                 struct arena *arena) {
  struct text out = text_new(arena);
  int64_t scale = scale_of(scene);
  char factor[32];
  snprintf(factor, sizeof factor, "%d.%04d", (int)(scale / 10000),
           (int)(scale % 10000));
  text_printf(&out, "%s 0 0 -%s 0 ", factor, factor);
  put_length(&out, scene->height * scale / 10000);
  text_put(&out, " cm 1 j\n");
  for (size_t i = 0; i < scene->items.count; i++) {
    const struct scene_item *item = &scene->items.at[i];
    if (item->kind == SCENE_BOX && !scene_is_hidden(item))
      put_box(&out, item);
    else if (item->kind == SCENE_SHAPE && !scene_is_hidden(item))
      put_shape(&out, item);
    else if (item->kind == SCENE_TEXT)
      put_words(&out, item);
    else if (item->kind == SCENE_LINE)
      put_line(&out, item);
  }
  return text_slice(&out);
}

/* Objects: each is first built as a text, so that its offset is known. */

static void put_raw(struct pdf_writer *w, struct slice bytes) {
  text_puts(w->out, bytes);
  w->length += bytes.length;
}

static void put_object(struct pdf_writer *w, const struct text *body) {
  struct text frame = text_new(w->arena);
  *VEC_PUSH(w->arena, &w->offsets) = w->length;
  text_printf(&frame, "%zu 0 obj\n", w->offsets.count);
  text_puts(&frame, text_slice(body));
  text_put(&frame, "\nendobj\n");
  put_raw(w, text_slice(&frame));
}

static void put_page(struct pdf_writer *w, const struct scene *scene) {
  int64_t scale = scale_of(scene);
  struct text page = text_new(w->arena), stream = page;
  struct slice content = page_content(scene, w->arena);
  text_put(&page, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ");
  put_real(&page, scene->width * scale / 10000);
  put_length(&page, scene->height * scale / 10000);
  text_printf(&page, "] /Contents %zu 0 R /Resources << /Font <<",
              w->offsets.count + 2);
  for (int bold = 0; bold < 2; bold++)
    if (w->fonts[bold])
      text_printf(&page, " /%s %zu 0 R", weights[bold], w->fonts[bold]);
  text_put(&page, " >> >> >>");
  put_object(w, &page);
  text_printf(&stream, "<< /Length %zu >>\nstream\n", content.length);
  text_puts(&stream, content);
  text_put(&stream, "endstream");
  put_object(w, &stream);
}

static void put_catalogue(struct pdf_writer *w, size_t pages) {
  struct text catalogue = text_new(w->arena), kids = catalogue;
  text_put(&catalogue, "<< /Type /Catalog /Pages 2 0 R >>");
  put_object(w, &catalogue);
  text_put(&kids, "<< /Type /Pages /Kids [");
  for (size_t i = 0; i < pages; i++)
    text_printf(&kids, "%s%zu 0 R", i ? " " : "", FIRST_PAGE + 2 * i);
  text_printf(&kids, "] /Count %zu >>", pages);
  put_object(w, &kids);
}

/* Fonts: glyphs are written by their numbers. */

/* The last glyph of a run from `first` on whose code points are consecutive and
 * differ only in the last byte. */
static int end_of_run(int first) {
  int last = first;
  while (last < font_count() && (last + 1) % 256 &&
         font_point(last + 1) == font_point(last) + 1 &&
         font_point(last + 1) % 256)
    last++;
  return last;
}

/* The map from glyphs to characters, for both fonts. */
static void put_meaning(struct pdf_writer *w) {
  struct text map = text_new(w->arena), stream = map;
  text_put(&map, "/CIDInit /ProcSet findresource begin\n12 dict begin\n"
                 "begincmap\n/CMapName /Netc def\n/CMapType 2 def\n"
                 "1 begincodespacerange\n<0000> <FFFF>\n"
                 "endcodespacerange\n");
  for (int first = 1, last; first <= font_count(); first = last + 1) {
    last = end_of_run(first);
    text_printf(&map, "1 beginbfrange\n<%04X> <%04X> <%04X>\nendbfrange\n",
                (unsigned)first, (unsigned)last, (unsigned)font_point(first));
  }
  text_put(&map, "endcmap\nCMapName currentdict /CMap defineresource pop\n"
                 "end\nend\n");
  text_printf(&stream, "<< /Length %zu >>\nstream\n", map.length);
  text_puts(&stream, text_slice(&map));
  text_put(&stream, "endstream");
  put_object(w, &stream);
}

/* The objects of a font: font, descendant, descriptor and file. Metrics are
 * those of Liberation Sans. */
static void put_font(struct pdf_writer *w, bool bold) {
  struct text font = text_new(w->arena), parts = font, looks = font,
              file = font, stream = font;
  const char *name =
      bold ? "NETCBB+LiberationSans-Bold" : "NETCAA+LiberationSans";
  size_t number = w->offsets.count + 1;
  text_printf(&font,
              "<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding "
              "/Identity-H /DescendantFonts [%zu 0 R] /ToUnicode %d 0 R >>",
              name, number + 1, MEANING);
  put_object(w, &font);
  text_printf(&parts,
              "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s "
              "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) "
              "/Supplement 0 >> /CIDToGIDMap /Identity /FontDescriptor "
              "%zu 0 R /DW 1000 /W [1 [",
              name, number + 2);
  for (int glyph = 1; glyph <= font_count(); glyph++)
    text_printf(&parts, "%s%d", glyph % 16 == 1 ? "\n" : " ",
                font_width(glyph, bold));
  text_put(&parts, "]] >>");
  put_object(w, &parts);
  text_printf(&looks,
              "<< /Type /FontDescriptor /FontName /%s /Flags 32 /FontBBox [%s] "
              "/ItalicAngle 0 /Ascent 905 /Descent -212 /CapHeight 688 /StemV "
              "%d /FontFile2 %zu 0 R >>",
              name, bold ? "-482 -376 1304 1033" : "-544 -303 1302 980",
              bold ? 140 : 80, number + 3);
  put_object(w, &looks);
  font_put_file(&file, bold);
  text_printf(&stream,
              "<< /Length %zu /Length1 %d /Filter [/ASCII85Decode "
              "/FlateDecode] >>\nstream\n",
              file.length, font_bytes(bold));
  text_puts(&stream, text_slice(&file));
  text_put(&stream, "endstream");
  put_object(w, &stream);
}

static bool has_weight(const struct scene *const *pages, size_t count,
                       bool bold) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < pages[i]->items.count; k++)
      if (pages[i]->items.at[k].kind == SCENE_TEXT &&
          pages[i]->items.at[k].bold == bold)
        return true;
  return false;
}

void scene_put_pdf(const struct scene *const *pages, size_t count,
                   struct text *out) {
  struct pdf_writer w = {.out = out, .arena = pages[0]->arena};
  struct text end = text_new(w.arena);
  put_raw(&w, slice_of("%PDF-1.4\n"));
  size_t next = FIRST_PAGE + 2 * count;
  put_catalogue(&w, count);
  put_meaning(&w);
  for (int bold = 0; bold < 2; bold++)
    if (has_weight(pages, count, bold)) {
      w.fonts[bold] = next;
      next += FONT_OBJECTS;
    }
  for (size_t i = 0; i < count; i++)
    put_page(&w, pages[i]);
  for (int bold = 0; bold < 2; bold++)
    if (w.fonts[bold])
      put_font(&w, bold);
  text_printf(&end, "xref\n0 %zu\n0000000000 65535 f \n", w.offsets.count + 1);
  for (size_t i = 0; i < w.offsets.count; i++)
    text_printf(&end, "%010zu 00000 n \n", w.offsets.at[i]);
  text_printf(&end,
              "trailer\n<< /Size %zu /Root 1 0 R >>\nstartxref\n%zu\n%%%%EOF\n",
              w.offsets.count + 1, w.length);
  put_raw(&w, text_slice(&end));
}
