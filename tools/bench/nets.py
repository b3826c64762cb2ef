#!/usr/bin/python3
"""Whole nets beside onnxruntime:
nets.py BUILD.. [--runs N] [--rounds N] [--small-pages] [--nets NAME..].

One thread each, in turns; the figures are minima of the processor's time, which
other programs on the machine disturb least, as Markdown: the least of all, the
ratio in each round, and the share of what peak.c multiplies and adds in the
same turns. Both run what netc writes of one net with the same random weights:
`-o X.c`, its weights in panels, and `-o X.onnx`. Needs onnxruntime-node in NODE_PATH. Other builds
given beside the first take turns, too; --small-pages adds the first build once
more, without the large pages of docs/runtime.md.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ZOO, BENCH = "examples/zoo/", "tools/bench/nets/"
PEAK_FLOPS = 0.768  # thousands of millions, of one answer of peak.c
NETS = {
    "lenet5": [ZOO + "lenet5.net"],
    "DS-CNN": ["examples/firmware/kws.net"],
    "mobilenet_v2": [ZOO + "mobilenet_v2.net"],
    "squeezenet 1.1": [ZOO + "squeezenet.net", "-D", "version=1.1"],
    "efficientnet_b0": [ZOO + "efficientnet.net"],
    "resnet18": [ZOO + "resnet.net", "-D", "depth=18"],
    "resnet50": [ZOO + "resnet.net"],
    "densenet121": [ZOO + "densenet.net"],
    "convnext_tiny": [ZOO + "convnext.net"],
    "GPT-2 block": [BENCH + "gpt2_block.net"],
    "vit_b_16": [ZOO + "vit.net"],
    "unet 256": [ZOO + "unet.net"],
    "resnext50": [ZOO + "resnet.net", "-D", "groups=32", "-D", "width=4"],
    "lstm": [BENCH + "lstm.net"],
    "gru": [BENCH + "gru.net"],
}


class Child:
    """A program that answers each line, last with the processor's seconds."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})

    def ask(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[-1])

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def ours(build, net, folder, **environment):
    path = f"{folder}/{len(os.listdir(folder))}"
    source = [f"{ROOT}/{net[0]}", *net[1:]]
    run(f"{build}/netc", *source, "--prefix=net", "-o", path + ".h", "-o",
        path + ".c")
    with open(path + ".h") as header:
        panels = ["--fold=panels"] * ("_panels[]" in header.read())
    run(f"{build}/netc", "weights", *source, "--random=1", "--fold", *panels,
        "-o", path + ".bin")
    run("cc", "-O2", f"-I{ROOT}/runtime", f"-I{folder}", "-DMODEL=net_model",
        f"{HERE}/net.c", path + ".c", f"{build}/libnetrt.a", "-lm", "-o", path)
    return Child(path, path + ".bin", **environment)


def theirs(build, net, folder):
    path, source = f"{folder}/net", [f"{ROOT}/{net[0]}", *net[1:]]
    run(f"{build}/netc", "weights", *source, "--random=1", "-o",
        path + ".safetensors")
    run(f"{build}/netc", *source, "--weights", path + ".safetensors", "-o",
        path + ".onnx")
    return Child("node", f"{HERE}/onnx.js", path + ".onnx", "1")


def peak_program(folder):
    run("cc", "-O3", "-march=native", f"{HERE}/peak.c", "-o", f"{folder}/peak")
    return Child(f"{folder}/peak")


def multiply_adds(build, net):
    """Of one run, in thousands of millions."""
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/net.json"
        run(f"{build}/netc", f"{ROOT}/{net[0]}", *net[1:], "-o", report)
        with open(report) as file:
            return json.load(file)["totals"]["mac_count"] * 1e-9


def least(children, runs):
    """Each child's least seconds of runs in turns; short ones run longer."""
    best = [math.inf] * len(children)
    done, spent = 0, 0
    while done < runs or (spent < 0.3 and done < 40 * runs):
        for i, child in enumerate(children):
            seconds = child.ask()
            best[i] = min(best[i], seconds)
            spent += seconds
        done += 1
    return best


def measure(builds, small_pages, name, runs, rounds):
    """Of each round the least seconds: the machine's peak, theirs, ours."""
    net = NETS[name]
    with tempfile.TemporaryDirectory() as folder:
        children = [peak_program(folder), theirs(builds[0], net, folder)]
        children += [ours(build, net, folder) for build in builds]
        if small_pages:
            children.append(ours(builds[0], net, folder, SMALL_PAGES="1"))
        for child in children:
            child.ask()
        found = [least(children, runs) for _ in range(rounds)]
        for child in children:
            child.end()
    return found


def row_of(builds, small_pages, name, runs, rounds):
    """Prints a row of the table; gives each round's ratios, by build."""
    found = measure(builds, small_pages, name, runs, rounds)
    best = [min(column) for column in zip(*found)]
    macs = multiply_adds(builds[0], NETS[name])
    ratios = [[ours / round[1] for ours in round[2:]] for round in found]
    cells = [name, f"{best[1] * 1e3:.3f}"]
    for i, ours in enumerate(best[2:]):
        speed = 2 * macs / ours
        peak = PEAK_FLOPS / best[0]
        cells += [f"{ours * 1e3:.3f}",
                  ", ".join(f"{round[i]:.2f}" for round in ratios),
                  f"{speed:.0f}", f"{100 * speed / peak:.0f} %"]
    print("| " + " | ".join(cells) + " |", flush=True)
    return ratios


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="+", help="folders of a build")
    parser.add_argument("--runs", type=int, default=15, help="of a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--small-pages", action="store_true")
    parser.add_argument("--nets", nargs="*", default=list(NETS))
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    measured = given.build + ["small pages"] * given.small_pages
    print("| net | onnxruntime ms |" + " ms | to onnxruntime | GFLOP/s | of the "
          "peak |" * len(measured))
    print("|---|--:|" + "--:|--:|--:|--:|" * len(measured))
    rows = [row_of(given.build, given.small_pages, name, given.runs,
                   given.rounds) for name in given.nets]
    for i, build in enumerate(measured):
        for number in range(given.rounds):
            column = [row[number][i] for row in rows]
            mean = math.exp(sum(map(math.log, column)) / len(column))
            print(f"{build}, round {number + 1}: geometric mean {mean:.3f}, "
                  f"worst {max(column):.2f}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
