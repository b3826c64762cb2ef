/* Board: RAM and flash of a microcontroller, as rows of the first lines. */
#include "codegen/report/board.h"

#include "codegen/asked.h"

/* The unit of a line: KiB, or MiB for needs of 10,000 KiB and more. */
struct board_unit {
  int64_t bytes;
  const char *word;
};

static struct board_unit unit_of(const struct compiled *c, int64_t need) {
  static const struct board_unit all[][2] = {
      [UNITS_IEC] = {{1 << 10, "KiB"}, {1 << 20, "MiB"}},
      [UNITS_SI] = {{1000, "kB"}, {1000000, "MB"}},
      [UNITS_BYTES] = {{1, "B"}, {1, "B"}}};
  const struct board_unit *units = all[output_units(c)];
  return units[need / units->bytes >= 10000];
}

/* Three digits, without the unit: 1.54, 55.5, 1,024. */
static void put_amount(struct text *out, struct board_unit unit,
                       int64_t bytes) {
  int64_t rest = bytes % unit.bytes;
  if (bytes / unit.bytes < 100 && rest)
    text_fixed(out, (double)bytes / (double)unit.bytes,
               bytes / unit.bytes < 10 ? 2 : 1);
  else
    text_count(out,
               bytes / unit.bytes + (rest && rest >= (unit.bytes + 1) / 2));
}

/* "55.5 of 320 KiB"; "55.5 KiB" if the room is not known. */
static void put_need(struct text *out, struct board_unit unit, int64_t need,
                     int64_t room) {
  put_amount(out, unit, need);
  if (room) {
    text_put(out, " of ");
    put_amount(out, unit, room);
  }
  text_printf(out, " %s", unit.word);
}

struct board_part {
  const char *word;
  int64_t bytes;
  bool always;
};

static void put_row(const struct compiled *c, struct screen_row *row,
                    int64_t need, int64_t room, const struct board_part *parts,
                    const char *end) {
  struct text lead = text_new(c->arena), rest = lead;
  struct board_unit unit = unit_of(c, need);
  put_need(&lead, unit, need, room);
  for (; parts->word; parts++) {
    if (!parts->bytes && !parts->always)
      continue;
    text_printf(&rest, "%s%s ", rest.length ? ", " : "", parts->word);
    put_amount(&rest, unit, parts->bytes);
  }
  text_put(&rest, end);
  row->lead = text_slice(&lead);
  row->text = text_slice(&rest);
}

/* Ends a remark as a row of its own. */
static void put_remark(const struct compiled *c, struct text *line,
                       struct screen_row *rows, size_t *count) {
  rows[*count] = (struct screen_row){.label = "", .text = text_slice(line)};
  ++*count;
  *line = text_new(c->arena);
}

static bool is_tflite(const struct compiled *c) {
  static const char suffix[] = ".tflite";
  struct slice name = c->sources->all.at[c->source].name;
  size_t length = sizeof suffix - 1;
  return name.length > length &&
         memcmp(name.at + name.length - length, suffix, length) == 0;
}

/* Remarks: uncounted memory, and memory that is smaller than it seems. */
static void put_remarks(const struct compiled *c, const struct firmware *f,
                        struct screen_row *rows, size_t *count) {
  struct text line = text_new(c->arena);
  if (f->why) {
    text_printf(&line,
                "netrt cannot run this net, so only arena and weights are "
                "counted: %s",
                f->why);
    put_remark(c, &line, rows, count);
  } else if (!f->measured) {
    text_printf(&line, "code, stack and time are not measured on %s",
                core_word(f->board->core));
    put_remark(c, &line, rows, count);
  } else if (!f->board) {
    text_printf(&line,
                "code and stack are the largest of %d measured cores; --board "
                "names one",
                CORES_MEASURED);
    put_remark(c, &line, rows, count);
  }
  if (f->block && f->arena > f->block && f->block < f->ram_room) {
    text_put(&line, "the arena must be in one piece; the largest piece of RAM "
                    "has ");
    put_need(&line, unit_of(c, f->block), f->block, 0);
    put_remark(c, &line, rows, count);
  }
  if (is_tflite(c) && f->instead) {
    text_put(&line, "the planner of TensorFlow Lite Micro needs ");
    put_need(&line, unit_of(c, f->instead), f->instead, 0);
    text_put(&line, " for the tensors alone");
    put_remark(c, &line, rows, count);
  }
}

/* "at least 41.7 ms: 18.0 M instructions at 216 MHz, at most 2 in a cycle" */
static void put_time(const struct compiled *c, const struct firmware *f,
                     struct screen_row *rows, size_t *count) {
  struct text lead = text_new(c->arena), rest = lead;
  if (f->seconds <= 0)
    return;
  int issues = core_issues(f->board->core);
  text_put(&lead, "at least ");
  text_seconds(&lead, f->seconds);
  text_short_count(&rest, (int64_t)f->instructions, 'G');
  text_printf(&rest, " instructions for the products at %d MHz",
              f->board->megahertz);
  if (issues > 1)
    text_printf(&rest, ", at most %d in a cycle", issues);
  rows[(*count)++] = (struct screen_row){
      .label = "time", .lead = text_slice(&lead), .text = text_slice(&rest)};
}

size_t board_rows(const struct compiled *c, const struct firmware *f,
                  struct screen_row rows[BOARD_ROWS]) {
  const struct board_part ram[] = {{"arena", f->arena, true},
                                   {"stack", f->stack, false},
                                   {"runtime", f->state, false},
                                   {"program", f->loaded, false},
                                   {NULL, 0, false}};
  const struct board_part flash[] = {{"weights", f->weights, true},
                                     {"code", f->code, false},
                                     {"tables", f->tables, false},
                                     {NULL, 0, false}};
  size_t count = 2;
  rows[0] = (struct screen_row){.label = "RAM"};
  rows[1] = (struct screen_row){.label = "flash"};
  put_row(c, &rows[0], f->ram, f->ram_room, ram, ", I/O in the arena");
  put_row(c, &rows[1], f->flash, f->flash_room, flash, "");
  put_remarks(c, f, rows, &count);
  put_time(c, f, rows, &count);
  return count;
}

void board_put_name(const struct compiled *c, const struct firmware *f,
                    struct text *out) {
  if (f->board) {
    text_printf(out, "%s (%s, %d MHz)", f->board->word,
                core_word(f->board->core), f->board->megahertz);
    return;
  }
  text_put(out, "a board with ");
  if (f->ram_room)
    text_printf(out, "%s of RAM", output_size(c, f->ram_room).text);
  if (f->flash_room)
    text_printf(out, "%s%s of flash", f->ram_room ? " and " : "",
                output_size(c, f->flash_room).text);
}
