/* Source map: the texts of a compilation, and where a span lies in them. */
#include "base/source.h"

#include "base/text.h"

int sources_add(struct sources *sources, struct slice name, struct slice text) {
  size_t base = 0;
  if (sources->all.count) {
    const struct source *last = &sources->all.at[sources->all.count - 1];
    base = last->base + last->text.length + 1; /* its end is a place too */
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

static size_t line_of(const struct source *source, uint32_t at) {
  size_t low = 0, high = source->line_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (source->lines[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The column of byte `at` in a line that starts at `start`, from 1. */
static uint32_t column_of(struct source *source, size_t line, uint32_t start,
                          uint32_t at) {
  uint32_t from = start, column = 1;
  if (source->known_column && source->known_line == line &&
      source->known_offset <= at) {
    from = source->known_offset;
    column = source->known_column;
  }
  struct slice between = {source->text.at + from, at - from};
  source->known_line = line;
  source->known_offset = at;
  source->known_column = column + (uint32_t)text_width(between);
  return source->known_column;
}

struct position sources_position(struct sources *sources, uint32_t offset) {
  struct source *source = find(sources, offset);
  if (!source->lines)
    find_lines(sources, source);
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
      .column = column_of(source, line, start, at),
      .text = {source->text.at + start, end - start},
      .offset = at - start,
  };
}

struct slice sources_slice(const struct sources *sources, struct span span) {
  const struct source *source = find(sources, span.begin);
  return (struct slice){source->text.at + (span.begin - source->base),
                        span.end - span.begin};
}
