#!/usr/bin/python3
"""A whole training step by netc, by MemTracker and as it runs: steps.py NETC
NET...

Run by tools/oracle/run.sh in the root of `make oracle`. SGD with momentum on a
CPU, the second of two steps, the sum as the loss. A row of
tests/data/torch2/trackers.csv for each net: the peak with parameters, optimizer
state, buffers and inputs, in bytes, by netc (--profile torch2-cpu), by
torch.distributed._tools.mem_tracker.MemTracker on fake tensors, and by the
allocator in a real step, and the seconds of each.
"""
import argparse
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))

import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.distributed._tools.mem_tracker import MemTracker  # noqa: E402

import alive  # noqa: E402
import written  # noqa: E402

PROFILE = ["--profile=torch2-cpu", "--loss=sum", "--optimizer=momentum",
           "--dtype=f32", "--precision=full"]


def step(model, optimizer, inputs):
    alive.backward(tuple(alive.tensors_of(model(*inputs))))
    optimizer.step()
    optimizer.zero_grad()


def begin(kind, expressions, batch):
    model = kind().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9, momentum=0.9)
    return model, optimizer, written.inputs_of(expressions, batch)


def tracked(*net):
    """The peak that MemTracker has after two steps, and its seconds."""
    start = time.perf_counter()
    with FakeTensorMode(allow_non_fake_inputs=True):
        model, optimizer, inputs = begin(*net)
        tracker = MemTracker()
        tracker.track_external(model, optimizer, *inputs)
        with tracker:
            for first in True, False:
                step(model, optimizer, inputs)
                if first:
                    tracker.reset_mod_stats()
    peak = tracker.get_tracker_snapshot("peak")
    total = sum(part["Total"] for part in peak.values())
    return total, time.perf_counter() - start


def run(*net):
    """The most that the allocator gives in a second step, with what was there
    before, and the seconds of that step."""
    model, optimizer, inputs = begin(*net)
    step(model, optimizer, inputs)
    states = [t for state in optimizer.state.values() for t in state.values()
              if isinstance(t, torch.Tensor)]
    before = {alive.key_of(t): alive.nbytes_of(t) for t in
              [*model.parameters(), *model.buffers(), *inputs, *states]}
    start = time.perf_counter()
    with alive.allocations() as most:
        step(model, optimizer, inputs)
    return most[0] + sum(before.values()), time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("netc")
    parser.add_argument("nets", nargs="+")
    parser.add_argument("--batch", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for net in options.nets:
        kind, expressions = written.load(options.netc, net)
        start = time.perf_counter()
        told = written.told(options.netc, net, [
            *PROFILE, f"--batch={options.batch}"])
        ours = told["training"]["peak_bytes"], time.perf_counter() - start
        theirs = tracked(kind, expressions, options.batch)
        real = run(kind, expressions, options.batch)
        sizes = ",".join(str(size) for size, _ in (ours, theirs, real))
        seconds = ",".join(f"{s:.3f}" for _, s in (ours, theirs, real))
        print(f'"{net}",{options.batch},{sizes},{seconds}', flush=True)


if __name__ == "__main__":
    main()
