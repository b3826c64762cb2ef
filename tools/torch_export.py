#!/usr/bin/python3
"""`-o x.py` against PyTorch: runs what netc writes.

    torch_export.py NETC             all rows of docs/zoo.csv, and the nets of
                                     tests/data/run and tests/golden/torch
    torch_export.py NETC NAME...     those of that name

The runtime has no kernel for moe, ssm and deltanet: these are run, but not
compared.

For each net: the parameters and the output shapes are netc's own (on the
device `meta`, which computes no values, where a net is too large for this);
`netc weights` loads with load_state_dict; the outputs are those of `netc run`,
to 1e-4 of their root mean square, or to three times what PyTorch's own results
in 32 bits differ from those in 64; attention is the same by PyTorch 2's one
function for it, of which 1.13 gets one from here; and the bytes that autograd keeps
(torch.autograd.graph.saved_tensors_hooks, each storage once, without
parameters, buffers and inputs) are those of `--profile torch1-cpu`. KEPT says
where these differ, and why. Needs python3-torch (1.13); run by hand.
"""
import csv
import glob
import importlib.util
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from alive import key_of, saved_by

sys.path.append(os.path.join(os.path.dirname(__file__), "verify"))
from onednn import switch_off_if_wrong

netc = os.path.abspath(sys.argv[1])
LIMIT = 1e-4
MOST_PARAMS = 180_000_000  # of nets whose values are computed here
MOST_MACS = 20_000_000_000
KEPT_MACS = 40_000_000_000  # forward in training, for saved bytes

# Nets whose file keeps other bytes than netc says, and why.
KEPT = {
    "t5": "indices of distances are buffers here",
    "sam_encoder": "the same",
    "every-layer-of-maps":
        "padding that differs from side to side, which pools and deconv "
        "do not take, is a tensor of its own here; padding by reflection or "
        "replication keeps its input, an rmsnorm without weights no product",
    "every-layer-of-sequences":
        "at a batch of one, parts of a packed matrix's output keep all of "
        "it, and so does the last state of several layers",
    "dit": "at a batch of one, parts of a packed matrix's output keep all",
    "dinov2": "the same",
    "newer-layers": "open: its attention agrees, layer by layer",
    "experts-and-states": "netc has Mamba 2's kernel, which keeps less",
    "heads-and-experts-of-a-size": "the same",
    "delta-nets": "netc has fla's kernels, which keep less",
    "gates-and-values":
        "queries beside a gate are copied here, a view in transformers",
    "one-gate-for-all": "the same",
    "efficientvit": "activations do not overwrite a part of a tensor here",
    "flattened-maps":
        "maps that are flattened in netc's order are turned, which copies",
}


class Refused(Exception):
    """netc writes no file, and says why."""


class Meta(TorchFunctionMode):
    """Tensors that are made have a shape only."""
    MAKERS = {torch.empty, torch.zeros, torch.ones, torch.randn, torch.rand,
              torch.tensor, torch.arange, torch.full}

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function in self.MAKERS:
            kwargs["device"] = "meta"
        return function(*args, **kwargs)


def report(path, settings, batch=1):
    done = subprocess.run(
        [netc, path, *settings, "--profile", "torch1-cpu", "--batch",
         str(batch), "--dtype", "f32", "--loss", "none", "--emit=json=-"],
        capture_output=True, check=True)
    return json.loads(done.stdout)


def module_of(path):
    spec = importlib.util.spec_from_file_location("net", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    classes = [c for c in vars(module).values()
               if isinstance(c, type) and c.__module__ == "net"]
    return classes[-1]


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(*struct.unpack("<Q", file.read(8))))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, about in header.items():
        first, end = about["data_offsets"]
        values = np.frombuffer(data[first:end], "<f4").copy()
        tensors[name] = torch.from_numpy(values.reshape(about["shape"]))
    return tensors


def save(path, tensors):
    header, data, at = {}, [], 0
    for name, tensor in tensors.items():
        values = tensor.detach().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(values)]}
        data.append(values)
        at += len(values)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def shift(tensors):
    """So that no norm is idle: as tools/whole_nets.py does."""
    for tensor in tensors.values():
        if tensor.dim() == 1:
            tensor += ((torch.arange(len(tensor)) * 37 % 64 - 32) / 128.0)


def calm(tensors, about):
    """A softmax of large values is 0 and 1, whatever they are."""
    for output in about["outputs"]:
        layer, _, last = output["name"].rpartition(".")
        for name in tensors:
            if last == "softmax" and name.startswith(layer + "."):
                tensors[name] *= 0.01


def is_map(about):
    return about.get("dtype", "float") == "float" and len(about["shape"]) > 2


def lying(shape):
    return (1, shape[-1], *shape[:-1])


def inputs_of(net, about):
    """As PyTorch has them, and as netc run reads them."""
    generator = torch.Generator().manual_seed(5)
    entries = [m.num_embeddings for m in net.modules()
               if isinstance(m, torch.nn.Embedding)]
    inputs, arrays = [], []
    for each in about["inputs"]:
        shape = [1, *each["shape"]]
        if each["dtype"] == "float":
            values = torch.rand(shape, generator=generator) * 2 - 1
            array = values.numpy()
        else:
            values = torch.randint(min(entries), shape, generator=generator)
            array = values.numpy().astype("<i4")
        if is_map(each):
            values = values.movedim(-1, 1).contiguous()
        inputs.append(values)
        arrays.append(array)
    return inputs, arrays


def outputs_of(net, inputs):
    out = net(*inputs)
    return list(out) if isinstance(out, tuple) else [out]


def check_shapes(net, outputs, about):
    count = sum(p.numel() for p in net.parameters())
    assert count == about["totals"]["param_count"], (count, "parameters")
    if outputs is None:
        return
    for out, wanted in zip(outputs, about["outputs"], strict=True):
        shape = tuple(wanted["shape"])
        shape = lying(shape) if len(shape) > 2 else (1, *shape)
        assert tuple(out.shape) == shape, (tuple(out.shape), shape)


def saved_bytes(net, inputs):
    """Of storages that autograd keeps beside those that are there anyway."""
    outside = {key_of(t) for t in
               [*net.parameters(), *net.buffers(), *inputs]}
    net.train()
    saved = saved_by(lambda: outputs_of(net, inputs), outside)
    net.eval()
    return saved


def calibrate(net, inputs, weights):
    """Norms get the statistics of what they see: see tools/whole_nets.py."""
    norms = [m for m in net.modules() if isinstance(
        m, torch.nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    net(torch.randn(4, *inputs[0].shape[1:]))
    for norm in norms:
        norm.eval()
    state = net.state_dict()
    for name in weights:
        weights[name] = state[name]


def attend(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False):
    """What F.scaled_dot_product_attention of PyTorch 2.0 gives."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    assert attn_mask is None or not is_causal
    if attn_mask is not None:
        scores = scores + attn_mask
    if is_causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    return F.dropout(scores.softmax(-1), dropout_p) @ v


def check_fused(net, inputs, outputs):
    """The file's other way, which PyTorch before 2.0 does not take."""
    if hasattr(F, "scaled_dot_product_attention"):
        return
    F.scaled_dot_product_attention = attend
    with torch.no_grad():
        again = outputs_of(net, inputs)
    del F.scaled_dot_product_attention
    for one, other in zip(again, outputs):
        rms = other.double().square().mean().sqrt()
        assert (one - other).abs().max() <= LIMIT * rms, "fused attention"


def difference(net, path, settings, folder, about):
    """The largest, as a share of an output's root mean square."""
    file = os.path.join(folder, "w.safetensors")
    subprocess.run([netc, "weights", path, *settings, "--random", "7",
                    "--names=py", "-o", file], check=True)
    weights = load(file)
    shift(weights)
    calm(weights, about)
    net.load_state_dict(weights)
    inputs, arrays = inputs_of(net, about)
    words = []
    with torch.no_grad():
        if "efficientnet_v2" in path:
            calibrate(net, inputs, weights)
        outputs = outputs_of(net, inputs)
    check_fused(net, inputs, outputs)
    save(file, weights)
    for i, (each, array) in enumerate(zip(about["inputs"], arrays)):
        name = os.path.join(folder, f"in{i}.npy")
        np.save(name, array)
        words += ["--input", f"{each['name']}={name}"
                  if len(arrays) > 1 else name]
    # A prediction is without the outputs that only training has.
    kept = [(each, out) for each, out in zip(about["outputs"], outputs)
            if not each.get("only_training")]
    names = [os.path.join(folder, f"out{i}.npy") for i in range(len(kept))]
    for (each, _), name in zip(kept, names):
        words += ["-o", f"{each['name']}={name}" if len(names) > 1 else name]
    done = subprocess.run([netc, "run", path, *settings, "--dtype", "f32",
                           "--weights", file, *words],
                          stderr=subprocess.PIPE, text=True)
    if "the runtime has no kernel" in done.stderr:  # for moe, ssm..
        return None
    sys.stderr.write(done.stderr)
    done.check_returncode()
    worst = 0.0
    for (_, out), name in zip(kept, names):
        theirs = torch.from_numpy(np.load(name))
        ours = out.movedim(1, -1) if out.dim() > 3 else out
        assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
        assert ours.isfinite().all()
        rms = theirs.double().square().mean().sqrt()
        worst = max(worst, float((ours - theirs).abs().max() / rms))
    if worst >= LIMIT:
        worst = excused(worst, net, inputs, outputs)
    return worst


def excused(worst, net, inputs, outputs):
    """Weights by chance let rounding grow: less than LIMIT if it is that."""
    with torch.no_grad():
        wide = outputs_of(net.double(), [
            each.double() if each.is_floating_point() else each
            for each in inputs])
    net.float()
    own = max(float((a - b).abs().max() / b.square().mean().sqrt())
              for a, b in zip(outputs, wide))
    print(f"# {worst:.1e}; PyTorch's 32 and 64 bits differ by {own:.1e}")
    return LIMIT / 2 if worst < 3 * own else worst


def check(path, settings, folder):
    """The difference, and saved bytes here and there; None: not computed."""
    about = report(path, settings)
    file = os.path.join(folder, "net.py")
    done = subprocess.run([netc, path, *settings, "-o", file],
                          capture_output=True, text=True)
    if "cannot be written for PyTorch" in done.stderr:
        raise Refused(done.stderr.strip().rpartition(": ")[2])
    done.check_returncode()
    kind = module_of(file)
    totals = about["totals"]
    if totals["param_count"] > MOST_PARAMS or totals["mac_count"] > KEPT_MACS:
        with Meta(), torch.no_grad():
            net = kind().eval()
        inputs = [each.to("meta") for each in inputs_of(net, about)[0]]
        try:
            with Meta(), torch.no_grad():
                outputs = outputs_of(net, inputs)
        except NotImplementedError:  # tokens of an expert depend on values
            outputs = None
        check_shapes(net, outputs, about)
        return None, None, None
    net = kind().eval()
    inputs, _ = inputs_of(net, about)
    with torch.no_grad():
        outputs = outputs_of(net, inputs)
    check_shapes(net, outputs, about)
    worst = None
    if totals["mac_count"] <= MOST_MACS:
        worst = difference(net, path, settings, folder, about)
    if any(isinstance(m, torch.nn.BatchNorm1d) for m in net.modules()):
        # which does not train on one vector
        about = report(path, settings, 2)
        inputs = [torch.cat([each, each]) for each in inputs]
    return worst, saved_bytes(net, inputs), about["training"]["saved_bytes"]


# Members of families whose published sizes are too large for this.
SMALL = [
    ("yolov3", "size=128"), ("gpt2", "n_layer=2 length=64"),
    ("gpt2", "n_layer=2 length=64 embd_pdrop=0 attn_pdrop=0 resid_pdrop=0"),
    ("bert", "num_hidden_layers=2"),
    ("t5", "num_layers=1"),
    ("phi", "num_hidden_layers=2 hidden_size=80 num_attention_heads=2 "
            "max_position_embeddings=16"),
    ("phi3", "num_hidden_layers=2 hidden_size=64 num_attention_heads=4 "
             "num_key_value_heads=2 intermediate_size=96 "
             "max_position_embeddings=16"),
    ("detr", "size=128"), ("dit", "layers=2 width=96 heads=4"),
    ("dinov2", "layers=2 size=70"), ("sd_unet", "size=8"),
    ("sam_encoder", "layers=2 width=96 heads=3"),
    ("stylegan2_g", "size=16 base=256"), ("stylegan2_d", "size=16 base=256"),
    ("whisper", "encoder_layers=1 decoder_layers=1 d_model=192 "
                "encoder_ffn_dim=256 decoder_ffn_dim=256"),
    ("seq2seq", "width=64"),
    ("mixtral", "num_hidden_layers=2 hidden_size=64 num_attention_heads=4 "
                "num_key_value_heads=2 intermediate_size=96 vocab_size=100 "
                "max_position_embeddings=16"),
    ("deepseek_v2",
     "num_hidden_layers=2 hidden_size=64 num_attention_heads=4 "
     "kv_lora_rank=16 qk_nope_head_dim=16 qk_rope_head_dim=8 v_head_dim=12 "
     "intermediate_size=96 moe_intermediate_size=32 n_routed_experts=4 "
     "num_experts_per_tok=2 vocab_size=100 max_position_embeddings=16"),
    ("mamba", "num_hidden_layers=1 hidden_size=16 vocab_size=100"),
    ("llama", "num_hidden_layers=2 hidden_size=64 num_attention_heads=4 "
              "num_key_value_heads=2 intermediate_size=96 "
              "max_position_embeddings=24 sliding_window=9"),
]


def cases():
    with open("docs/zoo.csv") as file:
        rows = csv.reader(line for line in file if line[0] != "#")
        for name, settings in dict.fromkeys((row[0], row[1]) for row in rows):
            yield f"examples/zoo/{name}.net", settings
    for name, settings in SMALL:
        yield f"examples/zoo/{name}.net", settings
    for path in sorted(glob.glob("examples/*.net")
                       + glob.glob("tests/data/run/*.net")
                       + glob.glob("tests/golden/torch/*.net")):
        yield path, ""


def main():
    torch.manual_seed(1)
    torch.set_num_threads(2)
    switch_off_if_wrong()
    failed = 0
    print("net,settings,difference,saved,of netc")
    for path, settings in cases():
        name = os.path.splitext(os.path.basename(path))[0]
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        words = [word for s in settings.split() for word in ("-D", s)]
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst, ours, theirs = check(path, words, folder)
            except Refused as error:
                print(f"{name},{settings},refused: {error}", flush=True)
                continue
            except Exception as error:  # the others are still of interest
                print(f"{name},{settings},failed: {type(error).__name__}: "
                      f"{str(error)[:300]}", flush=True)
                failed += 1
                continue
        good = (worst is None or worst < LIMIT) and (
            ours == theirs or name in KEPT)
        failed += not good
        print(f"{name},{settings},"
              f"{'meta' if worst is None else f'{worst:.1e}'},{ours},{theirs}"
              + ("" if good else ",DIFFERS"), flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
