#!/usr/bin/python3
"""What PyTorch keeps and allocates for each loss, beside netc.

    tools/loss_truth.py NETC >tests/data/losses.csv
    tools/oracle/run.sh ROOT python3 tools/loss_truth.py NETC, and with --card:
        tests/data/torch2/losses.csv

A row for each loss of a small net, by the functions that x.py has or those of
torch.nn.functional: bytes that autograd saves, and the peak of forward and
backward, where the caller holds the outputs. Targets as large as the outputs
are made in the step and counted; numbers of classes are the caller's. --card
is a fake GPU, with tensors in whole blocks of 512 bytes. It leaves out mse,
whose result is in a tensor as large as the outputs, which fake tensors do not
show, and a batch of 1, whose tensors are no larger than numbers.
"""
import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent / "oracle"))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import alive  # noqa: E402
import written  # noqa: E402

NETS = {"input 64x8; linear 32 nobias": ("focal", "smooth_l1", "mse"),
        "input 7x8; linear 5": ("focal", "smooth_l1", "mse"),
        "input 9x8x3; conv 4 3x3 pad; relu; conv 6 1": ("dice", "focal"),
        "input 9x8x3; conv 4 3x3 pad; relu; conv 1 1": ("dice",)}
PLAIN = {"mse": F.mse_loss}


def target_of(loss, out):
    if loss == "dice":
        return torch.zeros(out.shape[0], 1, *out.shape[2:], dtype=torch.long,
                           device=out.device)
    return torch.rand(out.shape, dtype=torch.float32, device=out.device)


def net_of(netc, net, loss, folder):
    """The module of x.py, its inputs, and the function of the loss."""
    path = Path(folder, "x.net")
    path.write_text(net.replace("; ", "\n") + "\n")
    kind, inputs = written.load(netc, path, [f"--loss={loss}"])
    function = PLAIN.get(loss) or kind.forward.__globals__[loss]
    return kind, inputs, function


def measure(kind, expressions, loss, function, batch, card):
    device = "cuda" if card else "cpu"
    block = 512 if card else 1
    model = kind().to(device).train()
    inputs = [t.to(device) for t in written.inputs_of(expressions, batch)]
    labels = []
    if loss == "dice":
        with torch.no_grad():
            labels.append(target_of(loss, model(*inputs)))
    held = []

    def run():
        held.clear()
        held.append(model(*inputs))
        given = labels[0] if labels else target_of(loss, held[0])
        return function(held[0], given)
    outside = {alive.key_of(t) for t in
               [*inputs, *labels, *model.parameters(), *model.buffers()]}
    kept, outs = alive.kept_by(run, outside)
    saved = {alive.key_of(h.tensor): alive.nbytes_of(h.tensor) for h in kept}
    saved.update((key, alive.NUMBER) for node in alive.nodes_of(outs)
                 for key in alive.numbers_of(node) - outside if not card)
    saved = sum(-(-size // block) * block for size in saved.values())
    del kept, outs
    held.clear()
    peak = alive.peak_of(run, outside, block=block)
    gradients = sum(alive.nbytes_of(p.grad) for p in model.parameters())
    return saved, gradients, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("netc")
    parser.add_argument("--card", action="store_true")
    options = parser.parse_args()
    context = contextlib.nullcontext
    if options.card:
        import fake_cuda
        context = fake_cuda.card
    torch.set_num_threads(1)
    device = "a fake GPU" if options.card else "CPU, float32"
    print(f"# What PyTorch {alive.VERSION} keeps and allocates with a loss, "
          "in\n"
          f"# bytes ({device}): tools/loss_truth.py.\n"
          "# net,batch,settings,saved,gradients,peak")
    with tempfile.TemporaryDirectory() as folder:
        for net, losses in NETS.items():
            for loss in losses:
                if options.card and loss in PLAIN:
                    continue
                kind, inputs, function = net_of(options.netc, net, loss,
                                                folder)
                for batch in (3,) if options.card else (1, 3):
                    with context():
                        sizes = measure(kind, inputs, loss, function, batch,
                                        options.card)
                    card = " profile=torch2-cuda" if options.card else ""
                    print(f'"{net}",{batch},"loss={loss}{card}",'
                          + ",".join(map(str, sizes)))


if __name__ == "__main__":
    main()
