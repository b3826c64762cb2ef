#!/usr/bin/python3
"""Adapters with a type of their own, beside netc: adapters.py NETC

Run by tools/oracle/run.sh in the root of `make oracle`. A dense layer with
adapters is written by hand as huggingface/peft has it (src/peft/tuners/lora/
layer.py, Linear.forward, v0.13): x is cast to the type of A, and the sum to the
type of the base's result. LoraConfig's autocast_adapter_dtype keeps A and B in
float32. Writes rows of tests/data/torch2/cuda.csv; a comment follows if netc
has others. Peaks only of rows of layers in bfloat16: a block's own frame holds
its input, and under autocast netc leaves out casts of gradients.
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))

import torch  # noqa: E402
from torch import nn  # noqa: E402

import alive  # noqa: E402
import compare  # noqa: E402
import fake_cuda  # noqa: E402
import written  # noqa: E402


class Adapted(nn.Module):
    def __init__(self, base, rank, dropout=0.0):
        super().__init__()
        self.base_layer = base.requires_grad_(False)
        self.lora_A = nn.Linear(base.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, base.out_features, bias=False)
        self.lora_dropout = nn.Dropout(dropout) if dropout else nn.Identity()

    def widen(self):
        self.lora_A.float()
        self.lora_B.float()

    def forward(self, x):
        result = self.base_layer(x)
        torch_result_dtype = result.dtype
        x = x.to(self.lora_A.weight.dtype)
        result = result + self.lora_B(self.lora_A(self.lora_dropout(x))) * 1.0
        return result.to(torch_result_dtype)


class Gated(nn.Module):
    """`mul { linear silu } { linear }`, then a `linear`."""

    def __init__(self, width, inner, rank):
        super().__init__()
        self.gate, self.up, self.down = (
            Adapted(nn.Linear(*sizes, bias=False), rank) for sizes in
            ((width, inner), (width, inner), (inner, width)))

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.layers(x)


def frozen(module):
    return module.requires_grad_(False)


# net, its adapters, shape of a sample, module, has a peak
GATED = ("input 40x64; repeat 2 {{ add {{ ln frozen; mul {{ linear 96 "
         "nobias {0} silu }} {{ linear 96 nobias {0} }}; linear 64 nobias {0} "
         "}} {{}} }}; linear 8 frozen")
NETS = [
    ("input 40x64; linear 96 {0}; relu; linear 32 {0}",
     "lora=4 lora_dtype=f32", (40, 64),
     lambda: nn.Sequential(Adapted(nn.Linear(64, 96), 4), nn.ReLU(True),
                           Adapted(nn.Linear(96, 32), 4)), True),
    ("input 40x64; linear 96 {0}; gelu; linear 32 {0}",
     "lora=4 lora_dropout=0.1 lora_dtype=f32", (40, 64),
     lambda: nn.Sequential(Adapted(nn.Linear(64, 96), 4, 0.1), nn.GELU(),
                           Adapted(nn.Linear(96, 32), 4, 0.1)), True),
    (GATED, "lora=8 lora_dtype=f32", (40, 64),
     lambda: nn.Sequential(
         *(Residual(frozen(nn.LayerNorm(64)), Gated(64, 96, 8))
           for _ in range(2)), frozen(nn.Linear(64, 8))), False),
]


def measured(build, shape, batch, precision, has_peak):
    with fake_cuda.card():
        model = build().to("cuda").train()
        x = torch.randn(batch, *shape, device="cuda")
        if precision == "bf16":
            model, x = model.bfloat16(), x.bfloat16()
        for module in model.modules():
            if isinstance(module, Adapted):
                module.widen()
        outside = compare.outside_of(model, [x])

        def run():
            with compare.context_of(precision)():
                return model(x)
        saved = compare.saved_of(run, outside)
        return saved, alive.peak_of(run, outside, block=fake_cuda.BLOCK) \
            if has_peak else ""


def main():
    for text, word, shape, build, has_peak in NETS:
        net = text.format(word)
        for precision in "bf16", "mixed":
            for batch in 1, 3:
                told = written.told(sys.argv[1], "-", [
                    *compare.PROFILE, *compare.PRECISIONS[precision],
                    f"--batch={batch}"], text=net)["training"]
                has = has_peak and precision == "bf16"
                found = measured(build, shape, batch, precision, has)
                ours = told["saved_bytes"], compare.peak_in(told) if has else ""
                print(f'"{net}",{batch},{precision},{found[0]},{found[1]},"",'
                      '""', flush=True)
                if ours != found:
                    print("# netc:", *ours, flush=True)


if __name__ == "__main__":
    main()
