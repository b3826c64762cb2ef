/* netc help gpus: lists the devices for --gpu; with --markdown, as a page. */
#include <string.h>

#include "driver/options.h"

static const char head[] =
    "# Devices\n"
    "\n"
    "To check if a net fits a card, write `--gpu NAME`, or `train gpu=NAME` in "
    "a source. `netc\nhelp gpus --markdown` makes this page from "
    "`sema/model/gpus.def`.\n"
    "\n"
    "Write a name as here or as a driver prints it, in upper or lower case: "
    "`--gpu \"NVIDIA\nGeForce RTX 4090\"`, `train "
    "gpu=\"NVIDIA A100-SXM4-80GB\"`. For any other card give its\nmemory: "
    "`--memory 48GiB`, `--memory 39.38GiB`.\n"
    "\n"
    "A process cannot use all memory of a card: the driver keeps a part. "
    "*Card* is the maker's\nfigure (nvidia-smi's memory.total). *Process* is "
    "the minimum that a program printed on\nLinux (PyTorch, llama.cpp, "
    "OpenCL; nvidia-smi's total less reserved; Apple's\n"
    "recommendedMaxWorkingSetSize), on the page given last; netc compares "
    "with it. `~`:\nestimated, with the worst share of its kind; reports "
    "print this. `rtx3080` has 10 GB;\nthe card of 12 GB is `rtx3080-12`.\n"
    "\n"
    "*CUDA* is the compute capability (developer.nvidia.com/cuda-gpus). bf16 "
    "needs 8.0, fp8\n8.9: on other cards the report says how programs run "
    "it.\n"
    "\n"
    "| name | kind | CUDA | card | process | GB/s | printed in |\n"
    "|---|---|--:|--:|--:|--:|---|\n";

static const char tail[] =
    "\n"
    "`--devices FILE.csv` adds other devices. The first line names the "
    "columns, "
    "in any order:\n`name` and `card_mib` are required; `process_mib` (usable "
    "MiB of a process), `names` (other\nnames, separated by `|`), `kind`, "
    "`capability` (ten times CUDA's: 89), `source`,\n`bandwidth` (of its "
    "memory, GB/s), `near`, `far`, `host` (MB/s one way to devices of its\n"
    "host, to other hosts, and to the host's memory) and `f64 f32 tf32 f16 "
    "bf16 fp8 i8 i4`\n(10^9 operations a second) are optional. An empty cell "
    "is unknown: `netc place` and the\nroofline report what is missing. "
    "Without `process_mib` netc takes the worst share of the\nkind, or without "
    "`kind` the whole card.\n"
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
                 : "\n"
                   "~ about: estimated, because no program's figure is known. "
                   "Names as drivers\n"
                   "print them are accepted, too: \"NVIDIA A100-SXM4-80GB\". "
                   "Any other card:\n"
                   "--memory 48GiB, or --devices FILE.csv.\n",
        stdout);
  return finish_stdout();
}
