#!/usr/bin/env python3
"""Measures training steps on an NVIDIA GPU, for docs/accuracy.md.

    gpu_truth.py [FOLDER] [--only NET,NET] [--batches N,N] [--jobs N]
    gpu_truth.py FOLDER --dry-run

needs PyTorch (2.x; 1.13 works) and torchvision. FOLDER (tests/data/gpu) gets a
JSON for each net and recorded.csv, with the columns of tools/snapshot_truth.py:
the most allocated and reserved up to the end of a phase, as torch.cuda counts,
and what libraries hold. Each measurement is a process of its own, because what an
allocator holds depends on all that it was asked for before. A dry run takes
the same path on a CPU, without numbers of memory.
"""
import argparse
import concurrent.futures
import contextlib
import csv
import json
import os
import subprocess
import sys

OPTIMIZERS = ("momentum", "adamw")
PRECISIONS = ("full", "mixed")
WARM_UP = 3
SECONDS = 900  # for one process

# Model: net of examples/zoo/, settings as behind -D, loss, batch sizes.
NETS = {
    "alexnet": ("alexnet", "", "crossentropy", (16, 128)),
    "densenet121": ("densenet", "depth=121", "crossentropy", (8, 64)),
    "efficientnet_b0": ("efficientnet", "b=0", "crossentropy", (8, 64)),
    "googlenet": ("googlenet", "", "crossentropy", (8, 64)),
    "mobilenet_v2": ("mobilenet_v2", "", "crossentropy", (8, 64)),
    "resnet18": ("resnet", "depth=18", "crossentropy", (8, 64)),
    "resnet50": ("resnet", "depth=50", "crossentropy", (8, 64)),
    "shufflenet_v2_x1_0": ("shufflenet_v2", "", "crossentropy", (8, 64)),
    "squeezenet1_1": ("squeezenet", "version=1.1", "crossentropy", (8, 64)),
    "vgg16": ("vgg", "depth=16", "crossentropy", (8, 64)),
    "vit_b_16": ("vit", "", "crossentropy", (8, 64)),
    "bert_base_128": ("bert", "length=128", "sum", (4, 32)),
    "gpt2_small": ("gpt2", "", "crossentropy", (1, 4)),
    "lstm_lm": ("lstm_lm", "", "crossentropy", (20, 80)),
    "unet": ("unet", "", "sum", (1, 8)),
}


# The models that torchvision does not have. They import torch late, so that
# the process that only starts the others needs none.

def attend(q, k, v, causal, dropout):
    import torch
    import torch.nn.functional as F
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=causal)
    weights = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        side = q.shape[-2]
        ones = torch.ones(side, side, dtype=torch.bool, device=q.device)
        weights = weights.masked_fill(~ones.tril(), float("-inf"))
    return F.dropout(weights.softmax(-1), dropout) @ v


def split_heads(x, heads):
    n, length, width = x.shape
    return x.view(n, length, heads, width // heads).transpose(1, 2)


def gpt2_small():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width, heads, drop):
            super().__init__()
            self.heads, self.drop = heads, drop
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.packed = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.dropout = nn.Dropout(drop)
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(),
                nn.Linear(4 * width, width), nn.Dropout(drop))

        def attention(self, x):
            q, k, v = (split_heads(part, self.heads) for part in
                       self.packed(x).split(x.shape[-1], dim=-1))
            y = attend(q, k, v, True, self.drop if self.training else 0.0)
            return self.dropout(self.out(y.transpose(1, 2).reshape(x.shape)))

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class Model(nn.Module):
        def __init__(self, layers=12, width=768, heads=12, drop=0.1):
            super().__init__()
            self.tokens = nn.Embedding(50257, width)
            self.positions = nn.Embedding(1024, width)
            self.dropout = nn.Dropout(drop)
            self.blocks = nn.Sequential(
                *(Block(width, heads, drop) for _ in range(layers)))
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, 50257, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, tokens):
            places = torch.arange(tokens.shape[1], device=tokens.device)
            x = self.tokens(tokens) + self.positions(places)
            return self.head(self.norm(self.blocks(self.dropout(x))))

    return Model()


def bert_base_128():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width, heads, drop):
            super().__init__()
            self.heads, self.drop = heads, drop
            self.q, self.k, self.v, self.out = (
                nn.Linear(width, width) for _ in range(4))
            self.dropout = nn.Dropout(drop)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(),
                nn.Linear(4 * width, width), nn.Dropout(drop))

        def forward(self, x):
            q, k, v = (split_heads(part(x), self.heads)
                       for part in (self.q, self.k, self.v))
            y = attend(q, k, v, False, self.drop if self.training else 0.0)
            y = self.dropout(self.out(y.transpose(1, 2).reshape(x.shape)))
            x = self.norm1(x + y)
            return self.norm2(x + self.mlp(x))

    class Model(nn.Module):
        def __init__(self, layers=12, width=768, heads=12, drop=0.1):
            super().__init__()
            self.tokens = nn.Embedding(30522, width)
            self.segments = nn.Embedding(2, width)
            self.positions = nn.Embedding(512, width)
            self.norm = nn.LayerNorm(width)
            self.dropout = nn.Dropout(drop)
            self.blocks = nn.Sequential(
                *(Block(width, heads, drop) for _ in range(layers)))
            self.pool = nn.Linear(width, width)

        def forward(self, tokens, segments):
            places = torch.arange(tokens.shape[1], device=tokens.device)
            x = self.tokens(tokens) + self.segments(segments)
            x = self.dropout(self.norm(x + self.positions(places)))
            x = self.blocks(x)
            return x, torch.tanh(self.pool(x[:, 0]))

    return Model()


def lstm_lm():
    from torch import nn

    class Model(nn.Module):
        def __init__(self, words=10000, width=650):
            super().__init__()
            self.tokens = nn.Embedding(words, width)
            self.lstm = nn.LSTM(width, width, 2, batch_first=True)
            self.head = nn.Linear(width, words)

        def forward(self, tokens):
            return self.head(self.lstm(self.tokens(tokens))[0])

    return Model()


def unet():
    import torch
    from torch import nn

    def two(before, after):
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(after, after, 3, padding=1), nn.ReLU(inplace=True))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            sizes = (64, 128, 256, 512)
            self.down = nn.ModuleList(
                two(a, b) for a, b in zip((1, *sizes), sizes))
            self.bottom = two(512, 1024)
            self.up = nn.ModuleList(
                nn.ConvTranspose2d(2 * c, c, 2, 2) for c in sizes[::-1])
            self.both = nn.ModuleList(two(2 * c, c) for c in sizes[::-1])
            self.pool = nn.MaxPool2d(2)
            self.head = nn.Conv2d(64, 2, 1)

        def forward(self, x):
            kept = []
            for block in self.down:
                kept.append(block(x))
                x = self.pool(kept[-1])
            x = self.bottom(x)
            for up, both in zip(self.up, self.both):
                x = both(torch.cat([up(x), kept.pop()], 1))
            return self.head(x)

    return Model()


BY_HAND = {"gpt2_small": gpt2_small, "bert_base_128": bert_base_128,
           "lstm_lm": lstm_lm, "unet": unet}


def make_model(name):
    """None where this torchvision has no such model."""
    if name in BY_HAND:
        return BY_HAND[name]()
    import torchvision
    make = getattr(torchvision.models, name, None)
    if not make:
        return None
    if name == "googlenet":
        return make(aux_logits=False, init_weights=False)
    return make()


def make_inputs(name, batch, device):
    """What the model takes, and the targets of its loss."""
    import torch

    def whole(*shape, below):
        return torch.randint(below, shape, device=device)

    if name == "gpt2_small":
        return ((whole(batch, 1024, below=50257),),
                whole(batch, 1024, below=50257))
    if name == "bert_base_128":
        return ((whole(batch, 128, below=30522), whole(batch, 128, below=2)),
                None)
    if name == "lstm_lm":
        return ((whole(batch, 35, below=10000),),
                whole(batch, 35, below=10000))
    if name == "unet":
        return (torch.randn(batch, 1, 256, 256, device=device),), None
    return ((torch.randn(batch, 3, 224, 224, device=device),),
            whole(batch, below=1000))


def loss_of(out, targets):
    import torch.nn.functional as F
    outputs = out if isinstance(out, tuple) else (out,)
    if targets is None:
        return sum(part.sum() for part in outputs)
    # Classes are the last axis; a view, where the batch is the first.
    return F.cross_entropy(outputs[0].flatten(0, -2), targets.flatten())


# One measurement, in its own process.

class Meter:
    """Peaks since the start of a step; nothing on a CPU."""

    def __init__(self, device):
        import torch
        self.cuda = torch.cuda if device == "cuda" else None

    def start(self):
        if not self.cuda:
            return None
        self.cuda.synchronize()
        self.cuda.reset_peak_memory_stats()
        return self.cuda.memory_allocated()

    def read(self):
        if not self.cuda:
            return None
        self.cuda.synchronize()
        stats = self.cuda.memory_stats()
        return {"allocated": self.cuda.max_memory_allocated(),
                "reserved": self.cuda.max_memory_reserved(),
                # What was asked for, before it was rounded up: from 2.1.
                "requested": stats.get("requested_bytes.all.peak")}


def storage_of(tensor):
    storage = (tensor.untyped_storage() if hasattr(tensor, "untyped_storage")
               else tensor.storage())
    return storage.data_ptr(), storage.nbytes()


def known_bytes(model, optimizer, others):
    """Of the tensors that live between steps, as the allocator rounds them."""
    import torch
    tensors = [*model.parameters(), *model.buffers(), *others]
    for state in optimizer.state.values():
        tensors += [value for value in state.values()
                    if isinstance(value, torch.Tensor)]
    sizes = dict(storage_of(tensor) for tensor in tensors if tensor.is_cuda)
    return sum((size + 511) // 512 * 512 for size in sizes.values())


def make_optimizer(name, model):
    import torch
    if name == "momentum":
        return torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    return torch.optim.AdamW(model.parameters(), lr=1e-4)


def take_step(model, optimizer, inputs, targets, precision, meter):
    """Returns the peaks up to the end of each phase, outputs alive."""
    import torch
    kind = inputs[0].device.type
    casts = (torch.autocast(device_type=kind, dtype=torch.bfloat16)
             if precision == "mixed" else contextlib.nullcontext())
    optimizer.zero_grad(set_to_none=True)
    found = {"before": meter.start()}
    with casts:
        out = model(*inputs)
        loss = loss_of(out, targets)
    found["forward"] = meter.read()
    loss.backward()
    found["backward"] = meter.read()
    optimizer.step()
    found["step"] = meter.read()
    return found


def is_out_of_memory(error):
    return (type(error).__name__ == "OutOfMemoryError"
            or "out of memory" in str(error)
            or "STATUS_ALLOC_FAILED" in str(error))  # cuDNN's and cuBLAS's


def measure(name, batch, optimizer, precision, device, warm_up):
    import torch
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    run = {"batch": batch, "optimizer": optimizer, "precision": precision}
    try:
        model = make_model(name)
        if model is None:
            return None
        model = model.to(device).train()
        inputs, targets = make_inputs(name, batch, device)
        stepper, meter = make_optimizer(optimizer, model), Meter(device)
        for _ in range(warm_up):
            take_step(model, stepper, inputs, targets, precision, meter)
        run.update(take_step(model, stepper, inputs, targets, precision,
                             meter))
        run["param_count"] = sum(p.numel() for p in model.parameters())
        if device == "cuda":
            fixed = [*inputs, *([] if targets is None else [targets])]
            run["library_bytes"] = run["before"] - known_bytes(
                model, stepper, fixed)
    except RuntimeError as error:  # torch's out of memory is one
        if not is_out_of_memory(error):
            raise
        run["error"] = "out of memory"
    return run


# All of them.

def driver_version():
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version",
             "--format=csv,noheader"], capture_output=True, text=True)
        return done.stdout.split("\n")[0].strip()
    except OSError:
        return ""


def describe(device):
    """Also in a process: a context here would take memory from the others."""
    import torch
    try:
        import torchvision
        vision = torchvision.__version__
    except ImportError:
        vision = ""
    if device == "cuda" and not torch.cuda.is_available():
        return None
    cuda = device == "cuda"
    return {"device": torch.cuda.get_device_name() if cuda else "cpu",
            "memory": (torch.cuda.get_device_properties(0).total_memory
                       if cuda else None),
            "driver": driver_version(), "torch": torch.__version__,
            "torchvision": vision, "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version() if cuda else None}


def ask(*words):
    """Runs this program for one answer: the last line, in JSON."""
    # The allocator as it is by default, whatever the user likes.
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith("PYTORCH_")}
    try:
        done = subprocess.run([sys.executable, os.path.abspath(__file__),
                               "--ask", *map(str, words)],
                              capture_output=True, text=True, env=plain,
                              timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return {"error": "timeout"}
    if done.returncode != 0:
        lines = done.stderr.strip().split("\n")
        return {"error": "failed", "why": lines[-1][:200]}
    return json.loads(done.stdout.strip().split("\n")[-1])


def answer(words):
    if words[0] == "machine":
        return describe(words[1])
    name, batch, optimizer, precision, device, warm_up = words
    return measure(name, int(batch), optimizer, precision, device,
                   int(warm_up))


def measure_net(name, batches, device, warm_up, pool):
    """None where torchvision has no such model."""
    settings = [(batch, optimizer, precision) for batch in batches
                for optimizer in OPTIMIZERS for precision in PRECISIONS]

    def one(setting):
        run = ask(name, *setting, device, warm_up)
        if run and "batch" not in run:
            run = dict(zip(("batch", "optimizer", "precision"), setting),
                       **run)
        return run

    runs = list(pool.map(one, settings))
    return None if None in runs else runs


def write_whole(path, data):
    with open(path + ".tmp", "w") as file:
        json.dump(data, file, indent=1)
        file.write("\n")
    os.replace(path + ".tmp", path)


COLUMNS = ("recording", "phase", "what", "bytes", "count", "operation")


def rows_of(name, runs):
    """As tools/snapshot_truth.py has them; a dry run has no numbers."""
    for run in runs:
        words = (name, run["batch"], run["optimizer"], run["precision"])
        recording = "_".join(map(str, words))
        if run.get("before") is not None:
            yield recording, "start", "allocated", run["before"], 1, ""
        for phase in ("forward", "backward", "step"):
            for what in ("allocated", "reserved"):
                most = (run.get(phase) or {}).get(what)
                if most is not None:
                    yield recording, phase, what, most, 1, ""
        if run.get("library_bytes"):
            yield recording, "start", "workspace", run["library_bytes"], 1, ""


def write_rows(path, rows):
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows(rows)
    os.replace(path + ".tmp", path)


def say(run):
    peak = (run.get("step") or {}).get("allocated")
    text = run.get("error") or (f"{peak:,} bytes" if peak else "done")
    return (f"  batch {run['batch']}, {run['optimizer']}, {run['precision']}: "
            f"{text} {run.get('why', '')}".rstrip())


def main():
    parser = argparse.ArgumentParser(
        description="Measures training steps on a GPU.")
    parser.add_argument("folder", nargs="?", default="tests/data/gpu")
    parser.add_argument("--only", help="some nets: " + ", ".join(NETS))
    parser.add_argument("--batches", help="these batch sizes for every net")
    parser.add_argument("--jobs", type=int, default=1,
                        help="at a time; the GPU must have room for all")
    parser.add_argument("--dry-run", action="store_true",
                        help="on a CPU, without numbers of memory")
    options = parser.parse_args()
    device = "cpu" if options.dry_run else "cuda"
    names = options.only.split(",") if options.only else list(NETS)
    for name in names:
        if name not in NETS:
            parser.error(f"no net is called {name}")
    machine = ask("machine", device)
    if not machine or "error" in machine:
        sys.exit("gpu_truth.py: " + (machine or {}).get(
            "why", "PyTorch sees no GPU; --dry-run needs none"))
    os.makedirs(options.folder, exist_ok=True)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name in names:
            net, settings, loss, batches = NETS[name]
            if options.dry_run:
                batches = (2,)
            if options.batches:
                batches = [int(size) for size in options.batches.split(",")]
            print(name, flush=True)
            runs = measure_net(name, batches, device,
                               0 if options.dry_run else WARM_UP, pool)
            if runs is None:
                print(f"  skipped: torchvision {machine['torchvision']} "
                      "has none", flush=True)
                continue
            print("\n".join(map(say, runs)), flush=True)
            write_whole(os.path.join(options.folder, name + ".json"),
                        {"model": name, "net": net, "settings": settings,
                         "train": "", "loss": loss,
                         "dry_run": options.dry_run, **machine,
                         "runs": runs})
            rows += rows_of(name, runs)
            write_rows(os.path.join(options.folder, "recorded.csv"), rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        print(json.dumps(answer(sys.argv[2:])))
    else:
        main()
