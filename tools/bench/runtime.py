#!/usr/bin/python3
"""The runtime beside PyTorch and onnxruntime: runtime.py BUILD [--nets].

Kernels and whole nets, one thread each. All take turns in the same minutes;
the figures are medians, as Markdown for docs/performance.md. Needs Debian's
python3-torch, python3-torchvision and libopenblas0-pthread, and, for
onnxruntime, a folder in NODE_PATH with
    ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node
"""
import os
import subprocess
import sys
import tempfile
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
import torch  # noqa: E402
import torchvision  # noqa: E402
from torch.nn import functional as F  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = """\
resnet18|conv 224 224 3 64 7 2 3 1
resnet18|conv 56 56 64 64 3 1 1 1
resnet18|conv 56 56 64 128 3 2 1 1
resnet18|conv 28 28 128 128 3 1 1 1
resnet18|conv 14 14 256 256 3 1 1 1
resnet18|conv 7 7 512 512 3 1 1 1
resnet18|conv 56 56 64 128 1 2 0 1
resnet18|linear 1 512 1000
mobilenet_v2|conv 112 112 32 16 1 1 0 1
mobilenet_v2|conv 112 112 16 96 1 1 0 1
mobilenet_v2|conv 56 56 24 144 1 1 0 1
mobilenet_v2|conv 14 14 384 64 1 1 0 1
mobilenet_v2|conv 7 7 960 320 1 1 0 1
mobilenet_v2|conv 112 112 32 32 3 1 1 32
mobilenet_v2|conv 112 112 96 96 3 2 1 96
mobilenet_v2|conv 14 14 384 384 3 1 1 384
vit_b_16|linear 197 768 3072
vit_b_16|linear 197 3072 768
vit_b_16|matmul 12 197 64 197
vit_b_16|matmul 12 197 197 64
vit_b_16|softmax 12 197 197
vit_b_16|gelu 197 3072
vit_b_16|ln 197 768
alexnet|linear 1 9216 4096""".split("\n")
ROUNDS = 9


class Child:
    """A program that answers lines."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, line="run"):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            sys.exit(f"{self.process.args[0]} ended")
        return [float(word) for word in answer]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def seconds(run, least=0.02):
    """Of one call, after two that do not count."""
    run()
    start = time.perf_counter()
    run()
    turns = int(least / (time.perf_counter() - start)) + 1
    start = time.perf_counter()
    for _ in range(turns):
        run()
    return (time.perf_counter() - start) / turns


def median(values):
    return sorted(values)[len(values) // 2]


def torch_kernel(word, v):
    """What PyTorch runs, and multiply-adds."""
    if word == "conv":
        h, w, ins, outs, kernel, stride, pad, groups = v
        layer = torch.nn.Conv2d(ins, outs, kernel, stride, pad, groups=groups)
        x = torch.randn(1, ins, h, w)
        out = (h + 2 * pad - kernel) // stride + 1
        return lambda: layer(x), out * out * kernel**2 * ins * outs // groups
    if word == "linear":
        layer, x = torch.nn.Linear(v[1], v[2]), torch.randn(v[0], v[1])
        return lambda: layer(x), v[0] * v[1] * v[2]
    if word == "matmul":
        a, b = torch.randn(*v[:3]), torch.randn(v[0], v[2], v[3])
        return lambda: a @ b, v[0] * v[1] * v[2] * v[3]
    x = torch.randn(*v)
    return {"softmax": lambda: F.softmax(x, -1), "gelu": lambda: F.gelu(x),
            "ln": lambda: F.layer_norm(x, x.shape[-1:])}[word], 0


def kernels(build):
    child = Child(f"{build}/bench/kernels")
    print("| net | operation | netrt ms | GFLOP/s | PyTorch ms | GFLOP/s "
          "| ratio |\n|---|---|---:|---:|---:|---:|---:|")
    for row in KERNELS:
        net, line = row.split("|")
        word, *v = line.split()
        run, macs = torch_kernel(word, list(map(int, v)))
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(child.ask(line)[0])
            theirs.append(seconds(run))
        a, b = median(ours), median(theirs)
        rate = [f"{2 * macs / t / 1e9:.1f}" if macs else "" for t in (a, b)]
        print(f"| {net} | {line} | {a * 1e3:.3f} | {rate[0]} | {b * 1e3:.3f} "
              f"| {rate[1]} | {a / b:.2f} |", flush=True)
    child.end()


class Attention(torch.nn.Module):
    """causal, packed, as GPT-2 writes it"""

    def __init__(self, width, heads, length):
        super().__init__()
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.heads = heads
        self.register_buffer("seen", torch.ones(length, length).tril() == 1)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(x).split(width, 2))
        scores = q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5
        scores = torch.where(self.seen, scores, torch.tensor(-1e9))
        y = (F.softmax(scores, -1) @ v).transpose(1, 2).reshape(x.shape)
        return self.out(y)


class Gpt2Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = torch.nn.LayerNorm(768), torch.nn.LayerNorm(768)
        self.attention = Attention(768, 12, 256)
        self.up = torch.nn.Linear(768, 3072)
        self.down = torch.nn.Linear(3072, 768)

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


def two(ins, outs):
    return torch.nn.Sequential(
        torch.nn.Conv2d(ins, outs, 3, padding=1), torch.nn.ReLU(),
        torch.nn.Conv2d(outs, outs, 3, padding=1), torch.nn.ReLU())


class Unet(torch.nn.Module):
    """examples/zoo/unet.net"""

    def __init__(self):
        super().__init__()
        c = [64, 128, 256, 512]
        self.down = torch.nn.ModuleList(
            two(i, o) for i, o in zip([1] + c, c))
        self.middle = two(512, 1024)
        self.grow = torch.nn.ModuleList(
            torch.nn.ConvTranspose2d(2 * n, n, 2, 2) for n in c[::-1])
        self.up = torch.nn.ModuleList(two(2 * n, n) for n in c[::-1])
        self.last = torch.nn.Conv2d(64, 2, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            skips.append(block(x))
            x = F.max_pool2d(skips[-1], 2)
        x = self.middle(x)
        for grow, up in zip(self.grow, self.up):
            x = up(torch.cat([grow(x), skips.pop()], 1))
        return self.last(x)


class Recurrent(torch.nn.Module):
    """An LSTM or GRU whose states are the output."""

    def __init__(self, kind, *sizes):
        super().__init__()
        self.inner = kind(*sizes, batch_first=True)

    def forward(self, x):
        return self.inner(x)[0]


NETS = [
    ("resnet18", "examples/zoo/resnet.net", ["-D", "depth=18"],
     torchvision.models.resnet18, (1, 3, 224, 224)),
    ("mobilenet_v2", "examples/zoo/mobilenet_v2.net", [],
     torchvision.models.mobilenet_v2, (1, 3, 224, 224)),
    ("vit_b_16", "examples/zoo/vit.net", [], torchvision.models.vit_b_16,
     (1, 3, 224, 224)),
    ("GPT-2 block, 256 tokens", "tools/bench/nets/gpt2_block.net", [], Gpt2Block,
     (1, 256, 768)),
    ("lstm, 2 layers of 256", "tools/bench/nets/lstm.net", [],
     lambda: Recurrent(torch.nn.LSTM, 256, 256, 2), (1, 128, 256)),
    ("gru of 128", "tools/bench/nets/gru.net", [],
     lambda: Recurrent(torch.nn.GRU, 64, 128), (1, 128, 64)),
    ("unet, 256x256", "examples/zoo/unet.net", [], Unet, (1, 1, 256, 256)),
]


def build_net(build, source, options, folder):
    path = f"{folder}/net"
    subprocess.run([f"{build}/netc", f"{HERE}/../{source}", *options,
                    "--prefix=net", "-o", path + ".h", "-o", path + ".c"],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    libs = os.environ.get("NETRT_LIBS", "-lm").split()
    subprocess.run(["cc", "-O2", f"-I{HERE}/../runtime", f"-I{folder}",
                    "-DMODEL=net_model", f"{HERE}/net.c", path + ".c",
                    f"{build}/libnetrt.a", *libs, "-o", path], check=True)
    return path


def nets(build):
    print("| net | netrt ms | onnxruntime ms | PyTorch ms | to onnxruntime "
          "| to PyTorch | plan MiB | resident MiB |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, source, options, make, shape in NETS:
        with tempfile.TemporaryDirectory() as folder:
            model, x = make().eval(), torch.zeros(shape)
            with torch.enable_grad():  # without, a transformer is one node
                torch.onnx.export(model, x, f"{folder}/net.onnx",
                                  opset_version=13)
            ours = Child(build_net(build, source, options, folder))
            try:
                onnx = Child("node", f"{HERE}/onnx.js", f"{folder}/net.onnx",
                             "1")
                onnx.ask()
            except (FileNotFoundError, SystemExit):
                onnx = None
            ours.ask()
            model(x)
            times = [[], [], []]
            for _ in range(ROUNDS):
                answer = ours.ask()
                times[0].append(answer[0])
                times[1].append(onnx.ask()[0] if onnx else float("nan"))
                start = time.perf_counter()
                model(x)
                times[2].append(time.perf_counter() - start)
            a, b, c = map(median, times)
            print(f"| {name} | {a * 1e3:.1f} | {b * 1e3:.1f} | {c * 1e3:.1f} "
                  f"| {a / b:.2f} | {a / c:.2f} | {answer[2] / 2**20:.1f} "
                  f"| {answer[1] / 2**10:.1f} |", flush=True)
            ours.end()
            if onnx:
                onnx.end()


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    with torch.no_grad():
        if "--nets" not in sys.argv:
            kernels(sys.argv[1])
            print()
        nets(sys.argv[1])
