#!/usr/bin/python3
"""x.py under torch.export and torch.compile, and beside x.onnx: exports.py NETC
NET...

Run by tools/oracle/run.sh in the root of `make oracle`. A NET may have options:
"examples/zoo/vit.net -D layers=2". All get the weights of --random 1 and equal
inputs. A line for each net: the largest difference from x.py's outputs, as a
share of their root mean square, of torch.export's program, of the function of
torch.compile (fullgraph, backend aot_eager), of onnxruntime with x.onnx, and of
x.py in float64; or why there is none. Where x.py in float32 is itself further
than 1e-4 from float64, as with deep random weights or sines of large numbers,
programs that sum in another order cannot agree. Ends with 1 if another
difference is above 1e-4.
"""
import argparse
import copy
import json
import struct
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import safetensors.torch  # noqa: E402
import torch  # noqa: E402

import written  # noqa: E402
from alive import tensors_of  # noqa: E402

LIMIT = 1e-4
MOST_PARAMS = 500_000_000
onnxruntime.set_default_logger_severity(4)
# Options that make a net small enough for a CPU.
LANGUAGE = "-D num_hidden_layers=2 -D hidden_size=64 -D intermediate_size=96 " \
    "-D num_attention_heads=4 -D vocab_size=100 -D max_position_embeddings=48"
EXPERTS = LANGUAGE.replace("-D intermediate_size=96 ", "")
SMALL = {
    "bert": LANGUAGE, "llama": LANGUAGE, "olmo2": LANGUAGE, "phi3": LANGUAGE,
    "phi": EXPERTS, "modernbert": LANGUAGE,
    "mixtral": f"{LANGUAGE} -D num_key_value_heads=2 -D num_local_experts=4",
    "qwen3_moe": f"{EXPERTS} -D num_key_value_heads=2 -D head_dim=16 "
                 "-D moe_intermediate_size=32 -D num_experts=8",
    "deepseek_v2": f"{LANGUAGE} -D moe_intermediate_size=32 "
                   "-D n_routed_experts=8",
    "deepseek_v3": f"{LANGUAGE} -D moe_intermediate_size=32 "
                   "-D n_routed_experts=16 -D first_k_dense_replace=1",
    "gemma3": "-D size=270M -D layers=2 -D words=100 -D context=48",
    "qwen3": "-D words=100 -D context=48",
    "gpt2": "-D n_layer=2 -D n_embd=64 -D n_head=4 -D length=64",
    "mamba": "-D vocab_size=100 -D hidden_size=32 -D num_hidden_layers=2 "
             "--length 24",
    "mamba2": "-D layers=2 -D width=64 -D context=48",
    "t5": "-D num_layers=2 -D n_positions=64 -D target=32",
    "whisper": "-D max_source_positions=100 -D max_target_positions=32",
    "wav2vec2": "-D num_hidden_layers=2",
    "conformer": "-D layers=2 -D width=64 -D heads=4 -D frames=200",
    "dit": "-D layers=2 -D width=64 -D heads=4",
    "dinov2": "-D layers=2 -D size=112",
    "sam_encoder": "-D layers=4 -D width=96 -D heads=3 -D size=256",
    "vit": "-D layers=2 -D width=96 -D heads=3",
    "clip": "-D text_config_num_hidden_layers=2 "
            "-D vision_config_num_hidden_layers=2",
    "detr": "-D deep=2 -D size=256", "deformable_detr": "-D size=256",
    "siren": "-D points=256", "wavenet": "-D layers=4",
    "seq2seq": "-D width=64", "stylegan2_g": "-D size=64 -D base=2048",
    "nnunet": "-D side=64", "segformer": "-D size=128",
    "unet": "--input 64x64x1", "yolov3": "--input 128x128x3",
    "yolov8": "--input 128x128x3", "yolo11": "--input 128x128x3",
    "rt_detr": "-D size=256", "fcn": "--input 96x96x3",
    "deeplabv3": "--input 129x129x3", "mlp_mixer": "", "resnet": "-D depth=18",
    "retinanet": "-D high=128", "fcos": "-D high=128",
    "faster_rcnn": "-D high=128 -D proposals=16",
    "mask_rcnn": "-D high=128 -D proposals=16 -D objects=8",
    "semantic_fpn": "-D side=96",
    "pspnet": "-D side=96", "upernet": "-D side=96", "unetpp": "-D side=64",
}


def net_of(words):
    """A net's file and options."""
    path, *options = words.split()
    name = Path(path).stem
    return name, path, options or SMALL.get(name, "").split()


def inputs_of(net, expressions):
    """Random ones, with numbers of the rows that tables have."""
    drawn = torch.Generator().manual_seed(5)
    rows = min([10, *(m.num_embeddings for m in net.modules()
                      if isinstance(m, torch.nn.Embedding))])
    inputs = []
    for given in written.inputs_of(expressions, 1):
        if given.is_floating_point():
            inputs.append(torch.rand(given.shape, generator=drawn) * 2 - 1)
        else:
            inputs.append(torch.randint(rows, given.shape, generator=drawn))
    return inputs


def apart(outs, others):
    """The largest difference, as a share of an output's RMS."""
    worst = 0.0
    for one, other in zip(outs, others, strict=True):
        if one.shape != other.shape:
            raise ValueError(f"{tuple(other.shape)}, not {tuple(one.shape)}")
        rms = one.double().square().mean().sqrt().clamp(min=1e-30)
        most = float((one - other).abs().max() / rms)
        worst = most if not most <= worst else worst
    return worst


def channels_first(array, shape):
    """x.onnx may have the channels of a sequence first."""
    return array if list(array.shape) == list(shape) \
        else np.ascontiguousarray(np.moveaxis(array, -1, 1))


def by_onnx(path, inputs, outs):
    session = onnxruntime.InferenceSession(
        path, providers=["CPUExecutionProvider"])
    feeds = {}
    for about, given in zip(session.get_inputs(), inputs, strict=True):
        array = given.numpy()
        if "int32" in about.type:
            array = array.astype(np.int32)
        feeds[about.name] = channels_first(array, about.shape)
    made = session.run(None, feeds)
    return [torch.from_numpy(m if m.shape == tuple(o.shape) or m.ndim != 3
                             else np.moveaxis(m, 1, -1).copy())
            for m, o in zip(made, outs)]


def files_of(netc, path, options, folder):
    """Equal weights for x.py and x.onnx."""
    own, py = (f"{folder}/{name}.safetensors" for name in ("own", "py"))
    written.run([netc, "weights", path, *options, "--random", "1", "-o", own])
    written.run([netc, "weights", path, *options, "--from", own, "--names=py",
                 "-o", py])
    return own, py


def attempt(make, outs):
    """The difference, or the first line of why there is none."""
    try:
        with torch.no_grad():
            return apart(outs, tensors_of(make()))
    except Exception as e:  # of any program's
        lines = [line for line in str(e).split("\n") if line.strip()]
        return f"{type(e).__name__}: {lines[0][:90] if lines else ''}"


def check(netc, words):
    """Differences of torch.export, torch.compile and onnxruntime."""
    name, path, options = net_of(words)
    count = written.told(netc, path, options)["totals"]["param_count"]
    if count > MOST_PARAMS:
        return f"{count:,} parameters"
    with tempfile.TemporaryDirectory() as folder:
        own, py = files_of(netc, path, options, folder)
        kind, expressions = written.load(netc, path, options)
        net = kind().eval()
        net.load_state_dict(safetensors.torch.load_file(py))
        inputs = inputs_of(net, expressions)
        with torch.no_grad():
            outs = tensors_of(net(*inputs))

        def onnx():
            file = f"{folder}/x.onnx"
            written.run([netc, path, *options, "--opset=16", "--weights", own,
                         "-o", file])
            return by_onnx(file, inputs, outs)

        def double():
            return [o.float() for o in tensors_of(copy.deepcopy(net).double()(
                *(t.double() if t.is_floating_point() else t
                  for t in inputs)))]
        return {
            "export": attempt(lambda: torch.export.export(
                net, tuple(inputs)).module()(*inputs), outs),
            "compile": attempt(lambda: torch.compile(
                net, fullgraph=True, backend="aot_eager")(*inputs), outs),
            "onnxruntime": attempt(onnx, outs),
            "float64": attempt(double, outs)}


def blurs(how):
    """True if x.py in float32 is too far from float64 to compare with."""
    return not isinstance(how, str) and not how <= LIMIT


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("netc")
    parser.add_argument("nets", nargs="+")
    options = parser.parse_args()
    right, far = {}, False
    for words in options.nets:
        torch._dynamo.reset()
        try:
            told = check(options.netc, words)
        except Exception as e:  # as written.Refused
            told = str(e).split("\n")[0][:150]
        if isinstance(told, str):
            print(Path(words.split()[0]).stem, "not run:", told, flush=True)
            continue
        for way, how in told.items():
            known = not isinstance(how, str)
            right[way] = right.get(way, 0) + (known and how <= LIMIT)
            far |= known and not how <= LIMIT and not blurs(told["float64"])
        print(Path(words.split()[0]).stem, *(
            f"{way} {how if isinstance(how, str) else f'{how:.1e}'}"
            for way, how in told.items()), sep=", ", flush=True)
    print(", ".join(f"{way} {count}" for way, count in right.items()),
          "equal of", len(options.nets), "nets")
    sys.exit(far)


if __name__ == "__main__":
    main()
