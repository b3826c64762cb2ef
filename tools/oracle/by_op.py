#!/usr/bin/python3
"""Recomputation by operation beside netc's checkpoint=ops: by_op.py NETC NET...

Run by tools/oracle/run.sh in the root of `make oracle`. Each block of x.py is
wrapped as torchtitan's selective activation checkpointing by operation does
(pytorch/torchtitan, torchtitan/distributed/activation_checkpoint.py): results
of attention and of every second aten.mm are kept, and all of a block runs again
(early_stop=False). NET is a path, and options after a blank. A row of
tests/data/torch2/ops.csv for each net: bytes in memory after the forward pass
and at the peak of a step, without parameters and inputs. A comment follows if
netc has others. `cuda`: a fake GPU, whose storages have whole blocks of 512
bytes.
"""
import argparse
import contextlib
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))

import torch  # noqa: E402
from torch.utils.checkpoint import (  # noqa: E402
    CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts)

import alive  # noqa: E402
import compare  # noqa: E402
import fake_cuda  # noqa: E402
import written  # noqa: E402

aten = torch.ops.aten
KEPT = {aten.mm.default,
        aten._scaled_dot_product_efficient_attention.default,
        aten._scaled_dot_product_flash_attention.default,
        aten._scaled_dot_product_flash_attention_for_cpu.default}
OPTIONS = ["--loss=sum", "--optimizer=sgd", "--inplace=off"]


def contexts():
    counts = {False: 0, True: 0}

    def policy(context, func, *args, **kwargs):
        if func is aten.mm.default:
            counts[context.is_recompute] += 1
            if counts[context.is_recompute] % 2 == 0:
                return CheckpointPolicy.PREFER_RECOMPUTE
        return CheckpointPolicy.MUST_SAVE if func in KEPT \
            else CheckpointPolicy.PREFER_RECOMPUTE
    return create_selective_checkpoint_contexts(policy)


class Wrapped(torch.nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, *args):
        return checkpoint(self.block, *args, use_reentrant=False,
                          context_fn=contexts)


def wrap(model):
    """Wraps the modules of every list of blocks."""
    for module in list(model.modules()):
        if isinstance(module, torch.nn.ModuleList):
            for i, block in enumerate(module):
                module[i] = Wrapped(block)
    return model


def measured(kind, expressions, batch, precision, device):
    """Bytes after the forward pass, and at the peak."""
    card = fake_cuda.card() if device == "cuda" else contextlib.nullcontext()
    block = fake_cuda.BLOCK if device == "cuda" else 1
    with card:
        model = wrap(kind().to(device).train())
        inputs = written.inputs_of(expressions, batch)
        if precision == "bf16":
            model, inputs = model.bfloat16(), [compare.low(t) for t in inputs]
        outside = compare.outside_of(model, inputs)
        with alive.Watch(outside, block=block) as watch:
            outs = alive.tensors_of(model(*inputs))
            watch.count()
            kept = watch.bytes()
            outputs = {alive.key_of(t) for t in outs}
            kept -= sum(watch.alive[key][1] for key in outputs)
            alive.backward(tuple(outs))
        return kept, watch.peak


torch.utils.checkpoint.set_checkpoint_early_stop  # noqa


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("netc")
    parser.add_argument("nets", nargs="+")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precision", choices=compare.PRECISIONS,
                        default="f32")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.utils.checkpoint._enable_checkpoint_early_stop = False
    for net in options.nets:
        path, *more = net.split()
        more += OPTIONS
        told = written.told(options.netc, path, [
            *more, *compare.PRECISIONS[options.precision],
            f"--profile=torch2-{options.device}", f"--batch={options.batch}",
            "--checkpoint=ops"])["training"]
        kept, peak = measured(*written.load(options.netc, path, more),
                              options.batch, options.precision, options.device)
        print(f'"{net}",{options.batch},{options.device},{options.precision},'
              f"{kept},{peak}", flush=True)
        ours = told["saved_bytes"], compare.peak_in(told)
        if ours != (kept, peak):
            print("# netc:", *ours, flush=True)


if __name__ == "__main__":
    main()
