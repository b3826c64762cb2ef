#!/usr/bin/python3
"""Writes docs/accuracy.md: what NETC computes against what was measured.

    accuracy.py NETC [GPU]
    accuracy.py NETC --rows

reads tests/data/memory.csv, what others published (published.py), what is printed of
large models (large.py) and, where there are any, the files that
tools/bench/gpu_truth.py left in the folder GPU (tests/data/gpu). With --rows it
prints each row instead, which the page sums up.
"""
import csv
import glob
import json
import os
import statistics
import subprocess
import sys
import textwrap

sys.dont_write_bytecode = True
import differ  # noqa: E402, beside this file
import kinds  # noqa: E402
import large  # noqa: E402
import published  # noqa: E402
import torch2  # noqa: E402

HEAD = """\
# Accuracy

To judge netc's numbers, compare them with these measurements. An error is netc's number less
the measured one: below zero netc reports too little. `make accuracy` makes this page, and
`tools/accuracy.py NETC --rows` prints every row.

{table}
What published steps took differs more: [see below](#against-published-gpu-measurements).

## On a CPU: `--profile torch1-cpu`

`tests/data/memory.csv` has measurements of PyTorch 1.13 on a CPU in float32, of torchvision
0.14's models and some written by hand. They are no blind test: netc's rules were found with
measurements like these.

### Tensors

{headline}

"""

QUANTITIES = """
| quantity | what was measured |
|---|---|
| saved | tensors that autograd keeps after the forward pass, each storage \
once, without parameters, buffers and inputs |
| entropy | the same with cross-entropy after the net |
| gradients, buffers | all of the model's |
| momentum, adam | state of the optimizer after a step |
| predict | largest sum of tensors in memory in a forward pass without gradients, \
each freed after its last reader |
| step | largest sum of tensors in memory in forward and backward, with the sum as \
the loss; without parameters, buffers, state and inputs |

BERT makes its segment ids itself, but the net has them as an input: *saved* is without their
{inside} bytes a sample.

{constants}
"""

CONSTANTS = """\
*buffers* differ only where a model registers constants as buffers: the position indices of
BERT and GPT-2, and GPT-2's triangle of ones in each layer.

Two nets that were measured in small sizes (`tests/data/zoo.csv`) differ. In `sam_encoder` at
256x256 (`layers=8 width=96 heads=3`), PyTorch copies the weight gradient of a 3x3 convolution on
a map with channels last: its peak is 1,835,008 bytes more. For `efficientvit -D b=0` from a
batch of 2 on, netc counts copies of queries and keys that PyTorch does not make: 802,816 saved
bytes.
"""

WHOLE = """\
### A whole step, as allocated

The allocator's peak in a second step, with optimizer state, without parameters, buffers and
inputs. It includes the memory of running kernels, such as oneDNN's reordered weights, which
netc does not count: it **reports too little** where the peak is in forward or backward.

"""

TABLE = """\
Signed errors in bytes; `=` is equal, empty is not measured.

"""

NO_GPU = """
## On a GPU: `--profile torch2-cuda`

PyTorch 2.6 ran on fake tensors of a CUDA device: its own shapes, autograd, autocast and engine,
without kernels (`tools/oracle/fake_cuda.py`; [testing.md](testing.md#pytorch-26)).
`tests/data/torch2/cuda.csv` has each net, in float32 and under autocast to bfloat16, and the
causes of what differs. Each tensor counts in blocks of 512 bytes. The tool adds what fake
tensors lack: the kernel of attention, the order of channels through cuDNN's convolutions, the
copies of cuDNN's batch norm, and seeds of dropout in the host's memory. cuDNN's reserve for
recurrent layers and the workspaces of kernels are read in the sources.

The profile is also checked on nine recorded steps of a model of 3.4 billion parameters
(`tests/data/cuda/recorded.csv`, from PyTorch's memory snapshots by `tools/snapshot_truth.py`):

| tokens | saved for backward, float32 | autocast to bfloat16 | peak in backward | in the step |
|--:|--:|--:|--:|--:|
| 128 | = | = | -0.02 % | +0.16 % |
| 256 | = | = | -0.18 % | +0.12 % |
| 512 | = | = | -0.24 % | +0.04 % |

`=`: every tensor, to the byte, except operations that the model writes out itself: `rms` from
`vector_norm`, which is kept beside its root; softmax; a mask for every head; cosines. Under
autocast its norm's factor is an `einsum`, which runs in 16 bits, where netc's norm keeps 32.
"""

GPU = """
## On a GPU: `--profile torch2-cuda`

`tools/bench/gpu_truth.py` measured these, each in a process of its own, on
{devices}.
*measured* is `torch.cuda.max_memory_allocated` of a whole training step,
*reserved* what the allocator then held, *libraries* what was allocated before
the step beyond the model's tensors (workspaces that cuBLAS holds), which netc
counts apart; *error* is that of `peak_bytes`, *without libraries* with these
bytes taken off the measured.

| net | batch | optimizer | precision | netc | measured | reserved | \
libraries | error | without libraries |
|---|--:|---|---|--:|--:|--:|--:|--:|--:|
"""


def report(net, settings, options):
    defines = [word for s in settings.split() for word in ("-D", s)]
    command = [sys.argv[1], f"examples/zoo/{net}.net", *defines]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    done = subprocess.run(command + ["--emit=json=-"], capture_output=True)
    if done.returncode != 0:
        sys.exit(f"accuracy.py: {net}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def percent(error, measured):
    """Signed, never a zero for what is none; None if measured is nothing."""
    if measured == 0:
        return None
    value = 100 * error / measured
    text = f"{value:+.2f} %"
    return f"{value:+.0e} %" if float(text[:-2]) == 0 and error else text


def cell(error, measured):
    if error is None:
        return ""
    if error == 0:
        return "="
    part = percent(error, measured)
    return f"{error:+,}" + (f" ({part})" if part else "")


def relative(pair):
    error, measured = pair
    if measured:
        return error / measured
    return 0 if error == 0 else float("inf")


# CPU

# The quantities of tensors, and the peaks that have more in them.
TENSORS = ("saved", "entropy", "gradients", "buffers", "momentum", "adam",
           "predict", "step")
ALLOCATED = ("momentum_peak", "adam_peak")


def predictions(row):
    options = dict(option.split("=") for option in row["train"].split())
    options.update(profile="torch1-cpu", batch=row["batch"])

    def training(**more):
        return report(row["net"], row["settings"], {**options, **more})

    def without(numbers, peak, *parts):
        return peak - sum(numbers[part + "_bytes"]
                          for part in ("parameter", "buffer", "input", *parts))

    plain = training(loss="none")
    momentum = training(loss="sum", optimizer="momentum")["training"]
    adam = training(loss="sum", optimizer="adam")["training"]
    entropy = training(loss="crossentropy")["training"]
    step = max(adam["forward_peak_bytes"], adam["backward_peak_bytes"])
    return {
        "saved": plain["training"]["saved_bytes"],
        "entropy": entropy["saved_bytes"],
        "gradients": plain["training"]["gradient_bytes"],
        "buffers": plain["training"]["buffer_bytes"],
        "momentum": momentum["optimizer_bytes"],
        "adam": adam["optimizer_bytes"],
        "predict": plain["inference"]["framework_peak_bytes"],
        "step": without(adam, step, "optimizer"),
        "momentum_peak": without(momentum, momentum["peak_bytes"]),
        "adam_peak": without(adam, adam["peak_bytes"]),
    }


def measured_of(row, name):
    column = {"predict": "framework"}.get(name, name)
    if not row[column]:
        return None
    made_inside = int(row["inside"]) * int(row["batch"])
    return int(row[column]) - (made_inside if name == "saved" else 0)


def rows_of(path):
    """The last line of comment names the columns."""
    with open(path) as file:
        lines = file.read().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    names = comments[-1].lstrip("# ").split(",")
    rows = [line for line in lines if line and not line.startswith("#")]
    return list(csv.DictReader(rows, fieldnames=names))


def summary(errors):
    text = ("| quantity | rows | equal | worst | median | under-estimates |\n"
            "|---|--:|--:|--:|--:|--:|\n")
    for name, pairs in errors.items():
        worst = max(pairs, key=lambda p: (abs(relative(p)), abs(p[0])))
        middle = 100 * statistics.median(map(relative, pairs))
        under = sum(error < 0 for error, _ in pairs)
        text += (f"| {name} | {len(pairs)} | "
                 f"{sum(error == 0 for error, _ in pairs)} | "
                 f"{cell(*worst)} | {middle:.2f} % | "
                 f"{100 * under / len(pairs):.1f} % |\n")
    return text


def cpu_part():
    rows = rows_of("tests/data/memory.csv")
    names = TENSORS + ALLOCATED
    errors = {name: [] for name in names}
    table, unexplained, peaks = "", 0, []
    for row in rows:
        mine, cells = predictions(row), []
        for name in names:
            measured = measured_of(row, name)
            if measured is None:
                cells.append("")
                continue
            error = mine[name] - measured
            errors[name].append((error, measured))
            cells.append(cell(error, measured))
            if name in ALLOCATED:
                peaks.append((error, measured, row["model"]))
            if name == "buffers" and error != -int(row["constants"]):
                unexplained += 1
        path = f"../examples/zoo/{row['net']}.net"
        table += (f"| [{row['model']}]({path}) | {row['batch']} | "
                  + " | ".join(cells) + " |\n")
    every = [error for name in TENSORS for error, _ in errors[name]]
    headline = (f"Of {len(every)} measured quantities of "
                f"{len({row['model'] for row in rows})} models "
                f"{every.count(0)} are equal to the byte.")
    worst = [(min(part for part in (relative((error, measured))
                                    for error, measured, name in peaks
                                    if name == model)), model)
             for model in sorted({name for _, _, name in peaks})]
    far = [f"{model} ({100 * part:+.1f} %)" for part, model in sorted(worst)
           if part < -0.04]
    inside = max(int(row["inside"]) for row in rows)
    known = [errors[name] for name in ("saved", "step", "predict")]
    first = "".join(torch2.line(
        quantity, "PyTorch 1.13 on a CPU, whole models",
        [(measured + error, measured) for error, measured in pairs])
        for quantity, pairs in zip(torch2.NAMES.values(), known))
    page = (HEAD.format(headline=headline, table=torch2.head(first))
            + summary({name: errors[name] for name in TENSORS})
            + QUANTITIES.format(inside=f"{inside:,}",
                                constants="" if unexplained else CONSTANTS)
            + WHOLE + summary({name: errors[name] for name in ALLOCATED})
            + "\n" + textwrap.fill(
                f"More than 4 % too little: {', '.join(far)}. The errors of the other "
                f"{len(worst) - len(far)} models are smaller.", 86) + "\n")
    table = (TABLE + "| model | batch | " + " | ".join(names) + " |\n"
             + "|---|--:|" + "--:|" * len(names) + "\n" + table)
    return page, errors, table


# GPU

def gpu_runs(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as file:
            data = json.load(file)
        for run in data["runs"]:
            yield data, run


def gpu_row(data, run, errors):
    known = (f"| {data['model']} | {run['batch']} | {run['optimizer']} | "
             f"{run['precision']} | ")
    options = {"profile": "torch2-cuda", "batch": run["batch"],
               "optimizer": run["optimizer"], "precision": run["precision"],
               "loss": data["loss"]}
    options.update(option.split("=") for option in data["train"].split())
    training = report(data["net"], data["settings"], options)["training"]
    mine = training["peak_bytes"]
    known += f"{mine:,} | "
    if "error" in run:
        return known + run["error"] + " | | | | |\n"
    measured = run["step"]["allocated"]
    apart = run["library_bytes"]
    less = measured - apart
    errors["peak"].append((mine - measured, measured))
    errors["peak without libraries"].append((mine - less, less))
    return (known + f"{measured:,} | {run['step']['reserved']:,} | {apart:,} | "
            f"{cell(mine - measured, measured)} | "
            f"{cell(mine - less, less)} |\n")


def gpu_part(folder):
    runs = [(data, run) for data, run in gpu_runs(folder)
            if not data.get("dry_run")]
    errors = {"peak": [], "peak without libraries": []}
    table = "".join(gpu_row(data, run, errors) for data, run in runs)
    if not runs:
        return NO_GPU
    devices = sorted({f"{data['device']} (driver {data['driver']}, PyTorch "
                      f"{data['torch']}, CUDA {data['cuda']})"
                      for data, _ in runs})
    text = GPU.format(devices="; ".join(devices)) + table + "\n"
    if not errors["peak"]:
        return text + "None of the runs came to its end.\n"
    text += summary(errors) + "\n"
    for name, pairs in errors.items():
        middle = 100 * statistics.median(abs(relative(pair)) for pair in pairs)
        far = sum(relative(pair) < -0.01 for pair in pairs)
        text += (f"- *{name}*: the median of the errors' sizes is "
                 f"{middle:.2f} %;\n  {far} of {len(pairs)} "
                 "under-estimate by more than 1 %.\n")
    return text


def main():
    page, errors, table = cpu_part()
    if sys.argv[2:] == ["--rows"]:
        print(table + published.tables(published.results_of(sys.argv[1]))
              + large.tables(sys.argv[1]) + differ.table(sys.argv[1]), end="")
        return
    page += differ.part()
    page += torch2.trackers()
    page += gpu_part(sys.argv[2] if len(sys.argv) > 2 else "tests/data/gpu")
    results = published.results_of(sys.argv[1])
    page += published.part(results)
    page += kinds.part(sys.argv[1], results)
    page += large.part()
    page = page.rstrip("\n") + "\n"
    page += published.uncounted(results, errors["momentum_peak"])
    print(page, end="")


main()
