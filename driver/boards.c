/* netc help boards: lists the boards for --board; with --markdown, as a page.
 */
#include <inttypes.h>
#include <string.h>

#include "driver/options.h"

static const char head[] =
    "# Boards\n"
    "\n"
    "For readers who ask whether a net fits a microcontroller\n"
    "([microcontrollers.md](microcontrollers.md#does-it-fit)). Made by `netc "
    "help boards\n--markdown` from `sema/model/boards.def`.\n"
    "\n"
    "`--board NAME`, or `infer board=NAME` in a source. A name is that of the "
    "board or of its\nchip, in letters of any case: `--board nucleo-f746zg`, "
    "`--board STM32F746`. For any other\nboard say its memory: `--ram 256KiB "
    "--flash 1MiB`. `--ram` or `--flash` beside\n`--board` says how much "
    "of it the program leaves for the net.\n"
    "\n"
    "*RAM* is what a program can use for data, without external RAM, memory "
    "for instructions\nalone, backup memory and caches. *In one piece*: its "
    "largest contiguous part, which must\nhold the arena. *Flash* is the "
    "chip's, or where it has none, the board's. `loaded`: the\nprogram is "
    "copied into RAM at start, weights included. Code and stack are known for "
    "the\ncores that are marked *measured*.\n"
    "\n"
    "| name | other names | core | measured | MHz | RAM | in one piece | flash "
    "| | source |\n"
    "|---|---|---|---|--:|--:|--:|--:|---|---|\n";

static void put_names(const char *at) {
  for (bool first = true; *at; at += *at == '|', first = false) {
    size_t length = strcspn(at, "|");
    printf("%s%.*s", first ? "" : ", ", (int)length, at);
    at += length;
  }
}

static void put_markdown(const struct netc_board *b, const char *ram,
                         const char *block, const char *flash) {
  printf("| `%s` | ", b->name);
  put_names(b->names);
  printf(" | %s | %s | %" PRId64 " | %s | %s | %s | %s | <%s> |\n", b->core,
         b->measured ? "yes" : "no", b->megahertz, ram, block, flash,
         b->loaded ? "loaded" : "", b->source);
}

int print_boards(bool markdown) {
  struct netc_board board = {.size = sizeof board};
  if (markdown)
    fputs(head, stdout);
  else
    printf("%-20s  %-14s  %8s  %11s  %11s\n", "name", "core", "MHz", "RAM",
           "flash");
  for (size_t i = 0; netc_board(i, &board) == NETC_OK; i++) {
    struct count_text ram = size_text(board.ram_bytes, UNITS_IEC);
    struct count_text block = size_text(board.block_bytes, UNITS_IEC);
    struct count_text flash = size_text(board.flash_bytes, UNITS_IEC);
    if (markdown)
      put_markdown(&board, ram.text, block.text, flash.text);
    else
      printf("%-20s  %-14s  %8" PRId64 "  %11s  %11s\n", board.name, board.core,
             board.megahertz, ram.text, flash.text);
  }
  if (!markdown)
    fputs("\nNames of chips are accepted, too: STM32F746. Any other board: "
          "--ram 256KiB --flash 1MiB.\n",
          stdout);
  return finish_stdout();
}
