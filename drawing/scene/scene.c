/* Scene: metrics, corners and escapes that all writers of pictures use. */
#include "drawing/scene/scene.h"

#include "base/shown.h"
#include "base/utf8.h"
#include "drawing/scene/font.h"

void scene_add(struct scene *scene, struct scene_item item) {
  *VEC_PUSH(scene->arena, &scene->items) = item;
}

uint32_t text_code_point(struct slice text, size_t at, size_t *bytes) {
  size_t length = utf8_length(text.at + at, text.length - at);
  *bytes = length ? length : 1;
  return length ? utf8_code_point(text.at + at, length) : 0xFFFD;
}

int64_t text_extent(struct slice text, int64_t size, bool bold) {
  int64_t sum = 0;
  for (size_t at = 0, bytes = 1; at < text.length; at += bytes) {
    char c = text.at[at];
    bytes = 1;
    if (c >= ' ' && c <= '~')
      sum += font_width(c - ' ' + 1, bold); /* ASCII glyphs are first */
    else
      sum += text_code_point(text, at, &bytes) < 0x2E80
                 ? 600
                 : 1000; /* East Asian characters are square */
  }
  return (sum * size + 999) / 1000;
}

struct slice text_tamed(struct arena *arena, struct slice text, bool times) {
  struct text tame = text_new(arena);
  for (size_t at = 0, bytes; at < text.length; at += bytes) {
    uint32_t point = text_code_point(text, at, &bytes);
    bool joins = times && point == 'x' && at > 0 && at + 1 < text.length &&
                 (is_digit(text.at[at - 1]) || text.at[at - 1] == '_') &&
                 (is_digit(text.at[at + 1]) || text.at[at + 1] == '_');
    if (joins)
      text_put(&tame, "\xC3\x97");
    else if (point == 0xFFFD || shown_is_hidden(point))
      text_put(&tame, "\xEF\xBF\xBD");
    else
      text_bytes(&tame, text.at + at, bytes);
  }
  return text_slice(&tame);
}

void put_length(struct text *out, int64_t tenths) {
  if (tenths < 0)
    text_putc(out, '-');
  int64_t size = tenths < 0 ? -tenths : tenths;
  text_int(out, size / 10);
  if (size % 10) {
    text_putc(out, '.');
    text_int(out, size % 10);
  }
}

int64_t page_scale(int64_t width, int64_t height) {
  int64_t wide = width > height ? PAGE_HEIGHT : PAGE_WIDTH;
  int64_t high = width > height ? PAGE_WIDTH : PAGE_HEIGHT;
  int64_t scale = WHOLE;
  if (width > wide)
    scale = wide * WHOLE / width;
  if (height > high && high * WHOLE / height < scale)
    scale = high * WHOLE / height;
  return scale > 0 ? scale : 1;
}

/* Lines: pieces are parallel to the axes, so lengths are sums. */

enum { CORNER = 4 * POINT, ARROW = 6 * POINT };

static int64_t absolute(int64_t x) {
  return x < 0 ? -x : x;
}

static int64_t distance(struct point a, struct point b) {
  return absolute(a.x - b.x) + absolute(a.y - b.y);
}

/* The point at a distance from `a` on the way to `b`. */
static struct point towards(struct point a, struct point b, int64_t far) {
  int64_t whole = distance(a, b);
  if (whole == 0)
    return a;
  return (struct point){a.x + (b.x - a.x) * far / whole,
                        a.y + (b.y - a.y) * far / whole};
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void line_walk(const struct scene_item *line, line_step_fn *step, void *user) {
  const struct point *p = line->points;
  for (size_t i = 1; i < line->point_count; i++) {
    if (i + 1 == line->point_count) {
      struct point end = p[i];
      if (line->arrow) /* the head covers the line's end */
        end = towards(end, p[i - 1], least(ARROW, distance(end, p[i - 1]) / 2));
      step(user, &end, 1);
      return;
    }
    int64_t round = least(CORNER, least(distance(p[i - 1], p[i]) / 2,
                                        distance(p[i], p[i + 1]) / 2));
    struct point before = towards(p[i], p[i - 1], round);
    struct point curve[3] = {towards(p[i], p[i - 1], round / 2),
                             towards(p[i], p[i + 1], round / 2),
                             towards(p[i], p[i + 1], round)};
    step(user, &before, 1);
    step(user, curve, 3);
  }
}

void line_arrow(const struct scene_item *line, struct point corners[3]) {
  struct point tip = line->points[line->point_count - 1];
  struct point from = line->points[line->point_count - 2];
  int64_t half = 24;
  struct point back = towards(tip, from, ARROW);
  bool along_x = tip.y == from.y;
  corners[0] = tip;
  corners[1] = corners[2] = back;
  if (along_x) {
    corners[1].y -= half;
    corners[2].y += half;
  } else {
    corners[1].x -= half;
    corners[2].x += half;
  }
}
