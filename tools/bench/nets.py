#!/usr/bin/python3
"""Whole nets beside onnxruntime: nets.py BUILD [--rounds N] [--netc NETC] [NAME..].

One thread each, in turns; the figures are minima of the processor's time, which
other programs on the machine disturb least, as Markdown. Both run what netc writes of one net with
the same random weights: `-o X.c` and `-o X.onnx`. Needs onnxruntime-node in
NODE_PATH. --netrt BUILD names another build whose runtime takes turns, too.
"""
import argparse
import math
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ZOO, BENCH = "examples/zoo/", "tools/bench/nets/"
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

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

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


def ours(build, net, folder):
    path = f"{folder}/{len(os.listdir(folder))}"
    source = [f"{ROOT}/{net[0]}", *net[1:]]
    run(f"{build}/netc", *source, "--prefix=net", "-o", path + ".h", "-o",
        path + ".c")
    run(f"{build}/netc", "weights", *source, "--random=1", "--fold", "-o",
        path + ".bin")
    run("cc", "-O2", f"-I{ROOT}/runtime", f"-I{folder}", "-DMODEL=net_model",
        f"{HERE}/net.c", path + ".c", f"{build}/libnetrt.a", "-lm", "-o", path)
    return Child(path, path + ".bin")


def theirs(build, net, folder):
    path, source = f"{folder}/net", [f"{ROOT}/{net[0]}", *net[1:]]
    run(f"{build}/netc", "weights", *source, "--random=1", "-o",
        path + ".safetensors")
    run(f"{build}/netc", *source, "--weights", path + ".safetensors", "-o",
        path + ".onnx")
    return Child("node", f"{HERE}/onnx.js", path + ".onnx", "1")


def measure(builds, name, rounds):
    net = NETS[name]
    with tempfile.TemporaryDirectory() as folder:
        children = [theirs(builds[0], net, folder)]
        children += [ours(build, net, folder) for build in builds]
        for child in children:
            child.ask()
        best = [math.inf] * len(children)
        done, spent = 0, 0
        while done < rounds or (spent < 0.3 and done < 40 * rounds):
            for i, child in enumerate(children):
                seconds = child.ask()
                best[i] = min(best[i], seconds)
                spent += seconds
            done += 1
        for child in children:
            child.end()
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="+", help="folders of a build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--nets", nargs="*", default=list(NETS))
    given = parser.parse_args()
    ratios = []
    print(f"load {os.getloadavg()[0]:.1f}")
    for name in given.nets:
        best = measure(given.build, name, given.rounds)
        row = [t / best[0] for t in best[1:]]
        ratios.append(row)
        print(f"| {name} | {best[0] * 1e3:.3f} | " + " | ".join(
            f"{t * 1e3:.3f} | {r:.2f}" for t, r in zip(best[1:], row)) + " |",
              flush=True)
    for column in zip(*ratios):
        mean = math.exp(sum(map(math.log, column)) / len(column))
        print(f"geometric mean {mean:.3f}, worst {max(column):.2f}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
