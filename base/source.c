/* Source map: the texts of a compilation, and positions in them. */
#include "base/source.h"

#include "base/text.h"

enum { COLUMN_STEP = 256 }; /* bytes between counted positions */

int sources_add(struct sources *sources, struct slice name, struct slice text) {
  size_t base = 0;
  if (sources->all.count) {
    const struct source *last = &sources->all.at[sources->all.count - 1];
    base = last->base + last->text.length + 1; /* the end has an offset */
  }
  if (base > LIMIT_SOURCE_BYTES || text.length > LIMIT_SOURCE_BYTES - base)
    return -1;
  struct source *source = VEC_PUSH(sources->arena, &sources->all);
  source->name = name;
  source->text = text;
  source->base = (uint32_t)base;
  return (int)sources->all.count - 1;
}

static struct source *find(const struct sources *sources, uint32_t offset) {
  size_t low = 0, high = sources->all.count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (sources->all.at[middle].base <= offset)
      low = middle;
    else
      high = middle;
  }
  return &sources->all.at[low];
}

static void find_lines(struct sources *sources, struct source *source) {
  const char *text = source->text.at;
  size_t count = 1;
  for (size_t i = 0; i < source->text.length; i++)
    count += text[i] == '\n';
  source->lines = arena_alloc(sources->arena, count, sizeof *source->lines);
  source->line_count = count;
  size_t line = 1;
  for (size_t i = 0; i < source->text.length; i++)
    if (text[i] == '\n')
      source->lines[line++] = (uint32_t)i + 1;
}

static void count_code_points(struct sources *sources, struct source *source) {
  size_t steps = source->text.length / COLUMN_STEP;
  source->code_points =
      arena_alloc(sources->arena, steps + 1, sizeof *source->code_points);
  for (size_t i = 0; i < steps; i++) {
    struct slice piece = {source->text.at + i * COLUMN_STEP, COLUMN_STEP};
    source->code_points[i + 1] =
        source->code_points[i] + (uint32_t)text_width(piece);
  }
}

/* Most requests are for the line of the last one or the next,
 * which are tried first. */
static size_t line_of(struct source *source, uint32_t at) {
  size_t low = 0, high = source->line_count, late = source->late_line;
  if (source->lines[late] <= at)
    low = late;
  if (late + 2 < high && source->lines[late + 2] > at)
    high = late + 2;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (source->lines[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  return source->late_line = low;
}

/* Code points before byte `at` of the text. */
static uint32_t code_points_before(const struct source *source, uint32_t at) {
  uint32_t from = at - at % COLUMN_STEP;
  struct slice rest = {source->text.at + from, at - from};
  return source->code_points[at / COLUMN_STEP] + (uint32_t)text_width(rest);
}

static uint32_t code_points_between(const struct source *source, uint32_t from,
                                    uint32_t to) {
  if (to - from < COLUMN_STEP)
    return (uint32_t)text_width(
        (struct slice){source->text.at + from, to - from});
  return code_points_before(source, to) - code_points_before(source, from);
}

struct position sources_position(struct sources *sources, uint32_t offset) {
  struct source *source = find(sources, offset);
  if (!source->lines) {
    find_lines(sources, source);
    count_code_points(sources, source);
  }
  uint32_t at = offset - source->base;
  size_t line = line_of(source, at);
  uint32_t start = source->lines[line];
  size_t end = line + 1 < source->line_count ? source->lines[line + 1] - 1
                                             : source->text.length;
  if (end > start && source->text.at[end - 1] == '\r')
    end--;
  if (at > end)
    at = (uint32_t)end;
  return (struct position){
      .source = source,
      .line = (uint32_t)line + 1,
      .column = code_points_between(source, start, at) + 1,
      .text = {source->text.at + start, end - start},
      .offset = at - start,
  };
}

struct slice sources_slice(const struct sources *sources, struct span span) {
  const struct source *source = find(sources, span.begin);
  return (struct slice){source->text.at + (span.begin - source->base),
                        span.end - span.begin};
}

struct slice sources_rest(const struct sources *sources, uint32_t offset) {
  const struct source *source = find(sources, offset);
  size_t at = offset - source->base;
  return slice_from(source->text, at);
}
