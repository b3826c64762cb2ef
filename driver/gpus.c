/* netc help gpus: lists the devices for --gpu; with --markdown, as a page. */
#include <string.h>

#include "driver/options.h"

static const char head[] =
    "# Devices\n"
    "\n"
    "For readers who ask whether a net fits a card. Made by `netc help gpus\n"
    "--markdown` from `sema/model/gpus.def`.\n"
    "\n"
    "`--gpu NAME`, or `train gpu=NAME` in a source. A name is written as here "
    "or as a\ndriver prints it, in letters of any case: `--gpu \"NVIDIA "
    "GeForce "
    "RTX 4090\"`, `train\ngpu=\"NVIDIA A100-SXM4-80GB\"`. For any other card "
    "say "
    "its memory: `--memory 48GiB`,\n`--memory 39.38GiB`.\n"
    "\n"
    "A process cannot have all of a card: the driver keeps a part. *Card* is "
    "what the maker\nsays (nvidia-smi's memory.total), *process* the least "
    "that a program printed on Linux\n(PyTorch, llama.cpp, OpenCL; "
    "nvidia-smi's total less reserved; Apple's\n"
    "recommendedMaxWorkingSetSize), on the page given last. What fits is "
    "decided by it. `~`:\nestimated, the worst share of its kind; reports "
    "say so. An RTX 3080 has 10 GB, unless\nit is said to have 12.\n"
    "\n"
    "*CUDA* is the compute capability (developer.nvidia.com/cuda-gpus). bf16 "
    "needs 8.0, fp8\n8.9: reports say what programs do on a card that has "
    "less.\n"
    "\n"
    "| name | kind | CUDA | card | process | GB/s | printed in |\n"
    "|---|---|--:|--:|--:|--:|---|\n";

static const char tail[] =
    "\n"
    "Other devices: `--devices FILE.csv` adds those of a table. Its first line "
    "names columns,\nin any order: `name` and `card_mib`, and whatever is "
    "known of `process_mib` (usable MiB of a\nprocess), `names` (others, "
    "parted by `|`), `kind`, `capability` (ten times CUDA's:\n89), `source`, "
    "`bandwidth` (of its memory, GB/s), `near`, `far`, `host` (what it sends "
    "one way\nto devices of its host, of others, and to the host's memory, "
    "MB/s) and `f64 f32 tf32 f16\nbf16 fp8 i8 i4` (10^9 operations a second). "
    "An empty cell is not known: `netc place` and the\nroofline say what they "
    "lack. Without `process_mib` the worst share of its kind is taken, and\nof "
    "no kind all of the card.\n"
    "\n"
    "```csv\n"
    "name,card_mib,process_mib,bandwidth\n"
    "my-card-80,81920,81038,2039\n"
    "```\n";

static void put_figure(int64_t figure) {
  if (figure)
    printf("%s", count_text(figure).text);
  else
    putchar('-');
}

static void put_markdown(const struct netc_gpu *gpu, const char *card,
                         const char *process) {
  printf("| `%s` | %s | ", gpu->name, gpu->kind);
  if (gpu->capability)
    printf("%d.%d", (int)(gpu->capability / 10), (int)(gpu->capability % 10));
  else
    putchar('-');
  printf(" | %s | %s%s | ", card, gpu->estimated ? "~ " : "", process);
  put_figure(gpu->bandwidth);
  if (strncmp(gpu->source, "http", 4) == 0)
    printf(" | <%s> |\n", gpu->source);
  else
    printf(" | %s |\n", *gpu->source ? gpu->source : "-");
}

int print_gpus(bool markdown) {
  struct netc_gpu gpu = {.size = sizeof gpu};
  if (markdown)
    fputs(head, stdout);
  else
    printf("%-16s  %10s  %12s\n", "name", "card", "a process");
  for (size_t i = 0; netc_gpu(NULL, i, &gpu) == NETC_OK; i++) {
    struct count_text card = size_text(gpu.card_bytes, UNITS_IEC);
    struct count_text process = size_text(gpu.process_bytes, UNITS_IEC);
    if (markdown)
      put_markdown(&gpu, card.text, process.text);
    else
      printf("%-16s  %10s  %s%10s\n", gpu.name, card.text,
             gpu.estimated ? "~ " : "  ", process.text);
  }
  fputs(markdown ? tail
                 : "\n~ about: no program's figure is known. Names as drivers "
                   "print them will do, too:\n\"NVIDIA A100-SXM4-80GB\". Any "
                   "other card: --memory 48GiB, or --devices FILE.csv.\n",
        stdout);
  return finish_stdout();
}
