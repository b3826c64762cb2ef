#!/usr/bin/env python3
"""What of others' ONNX models netc import reads, and whether it runs equal.

    tools/onnx_models.py build/netc testdata [FOLDER]
    tools/onnx_models.py build/netc torchvision [NAME ...]
    tools/onnx_models.py build/netc files MODEL.onnx ...
    tools/onnx_models.py build/netc strip NAME FOLDER
    tools/onnx_models.py build/netc tiny FOLDER
    tools/onnx_models.py build/netc gru FOLDER
    tools/onnx_models.py build/netc rows FOLDER
    tools/onnx_models.py build/netc windows FOLDER
    tools/onnx_models.py build/netc beside FOLDER
    tools/onnx_models.py build/netc detector FOLDER
    tools/onnx_models.py build/netc regions FOLDER
    tools/onnx_models.py build/netc branch FOLDER

`testdata` are the models of Debian's libonnx-testdata with their inputs and
outputs: a line for each, then the reasons and how often. An input that only
says a shape, an axis or weights becomes an initializer first: netc's weights
are no inputs. `torchvision` exports models with weights by chance, imports
them with their weights and compares parameters and outputs with PyTorch's.
`zoo` writes the nets of examples/zoo as ONNX and reads them again: their lines,
without comments, parameters and multiplications before and after.
`strip` writes such a model with ConstantOfShape nodes in the place of its weights,
`tiny` a small one of many patterns with its input and output, `gru` that of
libonnx-testdata whose reset gate comes first, `rows` one of PyTorch that
picks rows by their scores, `windows` Swin's attention in shifted windows, `beside` one whose
tensors are in a file of their own, `detector` torchvision's RetinaNet on a
small backbone with its picture and what its heads give, `regions` Mask
R-CNN with regions and what its heads give, `branch` a model of
Ifs whose conditions are constant: they are in tests/data/import/onnx, the
last three in tests/data/import/control.
Needs python3-onnx, and for torchvision python3-torch and python3-torchvision.
"""
import collections
import glob
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import numpy_helper

NETC = sys.argv[1] if len(sys.argv) > 1 else ""
TESTDATA = "/usr/share/libonnx-testdata/data"
TORCHVISION = """alexnet convnext_tiny densenet121 efficientnet_b0
    efficientnet_v2_s googlenet inception_v3 mnasnet1_0 mobilenet_v2
    mobilenet_v3_large mobilenet_v3_small regnet_x_400mf regnet_y_400mf
    resnet18 resnet50 resnext50_32x4d shufflenet_v2_x1_0 squeezenet1_1 swin_t
    vgg16_bn vit_b_16 wide_resnet50_2""".split()


def netc(*arguments):
    return subprocess.run([NETC, *arguments], capture_output=True, text=True,
                          timeout=300)


class Refused(Exception):
    pass


def reason(text):
    """An error without the names and numbers of its file."""
    line = text.strip().split("\n")[0].split("error: ", 1)[-1]
    unknown = re.match(r"netc has no equivalent of these operators: (.*); "
                       r"the first", line)
    if unknown:
        return "no equivalent: " + re.sub(r" \(\d+\)", "", unknown.group(1))
    line = re.sub(r"^`[^`]*` \((\w+)[^)]*\): ", r"\1: ", line)
    line = re.sub(r"`[^`]*`", "`..`", line)
    line = re.sub(r"-?\d+(x\d+)*", "N", line)
    return line[:100]


def arrangements(shape):
    """How an array of the file may lie in netc: (order of axes, batch)."""
    rank = len(shape)
    axes = list(range(rank))
    for batch in [0, 1, None]:
        if batch is not None and batch >= rank:
            continue
        rest = [a for a in axes if a != batch]
        yield rest, batch
        if len(rest) > 1 and 1 in rest:
            yield [a for a in rest if a != 1] + [1], batch


def lying(array, sizes):
    """The array with axes as netc's input of these sizes, in every way."""
    seen = set()
    for order, batch in arrangements(array.shape):
        count = 1 if batch is None else array.shape[batch]
        turned = array.transpose(([] if batch is None else [batch]) + order)
        dims = [d for d in turned.shape[0 if batch is None else 1:]]
        if [d for d in dims if d != 1] != [d for d in sizes if d != 1]:
            continue
        if (tuple(order), batch) not in seen:
            seen.add((tuple(order), batch))
            yield numpy.ascontiguousarray(turned.reshape([count] + sizes))


def same(array, expected):
    """Whether it is what is expected, in some arrangement of axes."""
    for order, batch in arrangements(expected.shape):
        turned = expected.transpose(([] if batch is None else [batch]) + order)
        if turned.size != array.size:
            return False
        if turned.dtype.kind in "fiub" and numpy.allclose(
                array.ravel(), turned.ravel().astype("f4"), rtol=1e-3,
                atol=1e-4, equal_nan=True):
            return True
    return expected.ndim == 0 and numpy.allclose(
        array.ravel(), expected.ravel(), rtol=1e-3, atol=1e-4)


def import_model(folder, model, weights=True):
    path = os.path.join(folder, "x.onnx")
    onnx.save(model, path)
    options = ["--weights", os.path.join(folder, "w")] if weights else []
    done = netc("import", path, "-o", os.path.join(folder, "x.net"), *options)
    if done.returncode != 0:
        if done.returncode != 1:
            raise Refused("status %d: %s" % (done.returncode, done.stderr[:80]))
        raise Refused(reason(done.stderr))


def run_model(folder, inputs):
    """Outputs by name for one arrangement of the inputs."""
    arguments = ["run", os.path.join(folder, "x.net"), "--weights",
                 os.path.join(folder, "w")]
    batch = 1
    source = open(os.path.join(folder, "x.net")).read()
    reals = {n for n in inputs
             if not re.search(r"^input\b.*: i(32|64)", source, re.M)}
    for name, array in inputs.items():
        path = os.path.join(folder, name + ".npy")
        if array.dtype.kind in "bu" or (array.dtype.kind == "i" and
                                        name in reals):
            array = array.astype("f4")
        numpy.save(path, array)
        batch = max(batch, array.shape[0])
        arguments += ["--input", name + "=" + path]
    if batch > 1:
        arguments += ["--batch", str(batch)]
    done = netc(os.path.join(folder, "x.net"), "--emit=json")
    report = json.loads(done.stdout)
    outputs = [o["name"] for o in report["outputs"]]
    for name in outputs:
        arguments += ["-o", "%s=%s" % (name, os.path.join(folder,
                                                          name + ".out.npy"))]
    done = netc(*arguments)
    if done.returncode != 0:
        raise Refused("run: " + reason(done.stderr))
    return [numpy.load(os.path.join(folder, name + ".out.npy"))
            for name in outputs]


def compare(folder, inputs, expected):
    report = json.loads(netc(os.path.join(folder, "x.net"),
                             "--emit=json").stdout)
    ends = report["inputs"]
    if len(ends) > len(inputs):
        raise Refused("other inputs than the file")
    ways = []
    for end in ends:
        arrays = [a for n, a in inputs.items()
                  if len(ends) == 1 or re.sub(r"\W", "_", n).strip("_")
                  in (end["name"], end["name"].rstrip("_"))]
        ways.append([(end["name"], w) for a in arrays
                     for w in lying(a, end["shape"])])
    last = None
    for way in itertools.islice(itertools.product(*ways), 64):
        try:
            outputs = run_model(folder, dict(way))
        except Refused as refused:
            last = refused
            continue
        last = None
        if all(any(same(o, e) for e in expected) for o in outputs):
            return
    if last is None and open(os.path.join(folder, "x.net")).read()[0] == "#":
        raise Refused("other values, as the source's comment says")
    raise last or Refused("other values")


SHAPE_INPUTS = {"Reshape", "Expand", "Tile", "Slice", "Pad", "Resize",
                "Upsample", "Unsqueeze", "Squeeze", "Split", "ReduceSum",
                "ConstantOfShape", "TopK", "OneHot", "Gather", "Range",
                "CumSum", "Trilu", "Clip", "Dropout"}


def with_initializers(model, arrays, keep):
    """A copy in which inputs that are not kept are initializers."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.input[:]
    for info in model.graph.input:
        if info.name in keep or info.name not in arrays:
            copy.graph.input.append(info)
        else:
            copy.graph.initializer.append(
                numpy_helper.from_array(arrays[info.name], info.name))
    return copy


def attempts(model, arrays):
    names = [i.name for i in model.graph.input if i.name in arrays]
    second = {i for n in model.graph.node for i in n.input[1:]
              if n.op_type in SHAPE_INPUTS}
    yield [n for n in names if n not in second] or names[:1]
    yield names[:1]
    for name in names[1:]:
        yield [name]


def test_case(folder, path):
    model = onnx.load(path)
    data = os.path.join(os.path.dirname(path), "test_data_set_0")
    inits = {i.name for i in model.graph.initializer}
    infos = [i for i in model.graph.input if i.name not in inits]
    arrays, expected = {}, []
    for kind in ["input", "output"]:
        files = sorted(glob.glob(os.path.join(data, kind + "_*.pb")),
                       key=lambda f: int(re.findall(r"\d+", f)[-1]))
        for i, name in enumerate(files):
            tensor = onnx.TensorProto()
            try:
                tensor.ParseFromString(open(name, "rb").read())
                array = numpy_helper.to_array(tensor)
            except Exception:
                raise Refused("sequences, optionals or texts")
            if kind == "input" and i < len(infos):
                arrays[infos[i].name] = array
            elif kind == "output":
                expected.append(array)
    last = Refused("no inputs")
    imported = False
    for keep in attempts(model, arrays):
        if not keep:
            continue
        try:
            import_model(folder, with_initializers(model, arrays, keep))
            imported = True
            compare(folder, {k: arrays[k] for k in keep}, expected)
            return
        except Refused as refused:
            last = refused if not imported or "value" in str(refused) else last
    raise Refused(("imported; " if imported else "") + str(last))


def testdata(root):
    counts = collections.Counter()
    total = imported = equal = 0
    folders = collections.defaultdict(lambda: [0, 0, 0])
    for path in sorted(glob.glob(os.path.join(root, "*", "*", "model.onnx"))):
        kind, name = path.split("/")[-3:-1]
        total += 1
        folders[kind][0] += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                test_case(folder, path)
                print("equal    %s/%s" % (kind, name))
                imported += 1
                equal += 1
                folders[kind][1] += 1
                folders[kind][2] += 1
            except Refused as refused:
                text = str(refused)
                counts[text] += 1
                if text.startswith("imported; "):
                    imported += 1
                    folders[kind][1] += 1
                print("-        %s/%s: %s" % (kind, name, text))
            except subprocess.TimeoutExpired:
                counts["too long"] += 1
                print("-        %s/%s: too long" % (kind, name))
    print()
    for text, count in counts.most_common():
        print("%5d  %s" % (count, text))
    print()
    for kind, (all_of, read, right) in sorted(folders.items()):
        print("%-18s %5d models, %5d imported, %5d run equal"
              % (kind, all_of, read, right))
    print("%-18s %5d models, %5d imported, %5d run equal"
          % ("all", total, imported, equal))


def torchvision_models(names):
    import torch
    import torchvision
    print("| model | lines | parameters | difference |\n|---|---:|---:|---:|")
    for name in names or TORCHVISION:
        torch.manual_seed(1)
        options = {"init_weights": False, "aux_logits": True} if name in (
            "googlenet", "inception_v3") else {}
        net = torchvision.models.get_model(name, weights=None, **options)
        net.eval()
        if options:
            net.aux_logits = False
            for part in ["AuxLogits", "aux1", "aux2"]:
                if hasattr(net, part):
                    setattr(net, part, None)
        for part in net.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.running_mean.uniform_(-.1, .1)
                part.running_var.uniform_(.8, 1.2)
            if isinstance(part, torch.nn.Linear):
                torch.nn.init.normal_(part.weight, std=.05)
        size = 299 if name == "inception_v3" else 224
        x = torch.randn(1, 3, size, size)
        y = net(x).detach().numpy()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.onnx")
            torch.onnx.export(net, x, path, input_names=["data"],
                              opset_version=13, do_constant_folding=False,
                              training=torch.onnx.TrainingMode.PRESERVE)
            source = os.path.join(folder, "x.net")
            done = netc("import", path, "-o", source, "--weights",
                        os.path.join(folder, "w"))
            if done.returncode != 0:
                print("| %s | | | %s |" % (name, reason(done.stderr)))
                continue
            report = json.loads(netc(source, "--emit=json").stdout)
            numpy.save(os.path.join(folder, "x.npy"),
                       numpy.ascontiguousarray(x.numpy().transpose(0, 2, 3, 1)))
            done = netc("run", source, "--weights", os.path.join(folder, "w"),
                        "--input", os.path.join(folder, "x.npy"), "-o",
                        os.path.join(folder, "y.npy"))
            if done.returncode != 0:
                print("| %s | | | run: %s |" % (name, reason(done.stderr)))
                continue
            z = numpy.load(os.path.join(folder, "y.npy"))
            wrong = abs(z.ravel() - y.ravel()).max() / (y ** 2).mean() ** .5
            count = report["totals"]["param_count"]
            theirs = sum(p.numel() for p in net.parameters())
            print("| %s | %d | %s%s | %.1e |"
                  % (name, open(source).read().count("\n"), format(count, ","),
                     "" if count == theirs else " (PyTorch: %s)"
                     % format(theirs, ","), wrong), flush=True)


def strip(name, folder):
    """Weights become nodes that fill their shape: a file of some kilobytes."""
    import torch
    import torchvision
    net = torchvision.models.get_model(name, weights=None).eval()
    path = os.path.join(folder, name + ".onnx")
    torch.onnx.export(net, torch.zeros(1, 3, 224, 224), path, opset_version=13,
                      input_names=["data"], do_constant_folding=False,
                      dynamic_axes={"data": {0: "batch"}},
                      training=torch.onnx.TrainingMode.PRESERVE)
    model = onnx.load(path)
    fills = []
    for tensor in list(model.graph.initializer):
        if tensor.data_type != onnx.TensorProto.FLOAT or not tensor.dims:
            continue
        sizes = numpy_helper.from_array(
            numpy.array(tensor.dims, dtype=numpy.int64), tensor.name + ".sizes")
        model.graph.initializer.remove(tensor)
        model.graph.initializer.append(sizes)
        fills.append(onnx.helper.make_node("ConstantOfShape", [sizes.name],
                                           [tensor.name]))
    nodes = fills + list(model.graph.node)
    del model.graph.node[:]
    for node in nodes:
        node.doc_string = ""
        model.graph.node.append(node)
    onnx.save(model, path)


def tiny(folder):
    """What PyTorch writes out of smaller operators, in one small net."""
    import torch
    from torch import nn

    class Tiny(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3, padding=1, stride=2)
            self.norm = nn.BatchNorm2d(8)
            self.gate = nn.Conv2d(8, 8, 1)
            self.group = nn.GroupNorm(2, 8)
            self.deep = nn.Conv2d(8, 12, 3, groups=2)
            self.qkv = nn.Linear(12, 36)
            self.out = nn.Linear(12, 12)
            self.before = nn.LayerNorm(12)
            self.wide, self.back = nn.Linear(12, 24), nn.Linear(24, 12)
            self.state = nn.LSTM(12, 5, batch_first=True, bidirectional=True)
            self.flat = nn.Linear(12 * 9, 7)
            self.last = nn.Linear(17, 4)

        def attention(self, x):
            n, steps, c = x.shape
            q, k, v = self.qkv(x).reshape(n, steps, 3, 3, 4).permute(
                2, 0, 3, 1, 4).unbind(0)
            y = ((q * .5) @ k.transpose(-2, -1)).softmax(-1) @ v
            return self.out(y.transpose(1, 2).reshape(n, steps, c))

        def forward(self, x):
            x = nn.functional.silu(self.norm(self.conv(x)))
            x = x * torch.sigmoid(self.gate(x.mean((2, 3), keepdim=True)))
            x = nn.functional.hardswish(self.group(x))
            x = nn.functional.max_pool2d(self.deep(x), 2)
            flat = torch.relu(self.flat(torch.flatten(x, 1)))
            y = x.flatten(2).transpose(1, 2)
            y = y + self.attention(self.before(y))
            y = y + self.back(nn.functional.gelu(self.wide(y)))
            y = self.state(y)[0][:, -1]
            return self.last(torch.cat([flat, y], 1))

    torch.manual_seed(4)
    net = Tiny().eval()
    for part in [net.norm, net.group, net.before]:
        nn.init.uniform_(part.weight, .5, 1.5)
        nn.init.uniform_(part.bias, -.5, .5)
    net.norm.running_mean.uniform_(-.1, .1)
    net.norm.running_var.uniform_(.8, 1.2)
    x = torch.randn(1, 3, 16, 16)
    torch.onnx.export(net, x, os.path.join(folder, "tiny.onnx"),
                      input_names=["data"], opset_version=13,
                      do_constant_folding=False, output_names=["scores"],
                      training=torch.onnx.TrainingMode.PRESERVE)
    numpy.save(os.path.join(folder, "tiny.x.npy"),
               numpy.ascontiguousarray(x.numpy().transpose(0, 2, 3, 1)))
    numpy.save(os.path.join(folder, "tiny.y.npy"), net(x).detach().numpy())
    print("parameters: %d" % sum(p.numel() for p in net.parameters()))


def backbone_of_two_levels():
    import torch
    from torch import nn

    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 6, 3, padding=1, stride=4)
            self.second = nn.Conv2d(6, 6, 3, padding=1, stride=2)
            self.out_channels = 6

        def forward(self, x):
            x = torch.relu(self.first(x))
            return {"0": x, "1": torch.relu(self.second(x))}

    return Backbone()


def detector(folder):
    """One picture without a batch; no score is high enough for a box."""
    import torch
    from torch import nn
    from torchvision.models.detection import RetinaNet
    from torchvision.models.detection.anchor_utils import AnchorGenerator

    torch.manual_seed(4)
    net = RetinaNet(backbone_of_two_levels(), 3, min_size=24, max_size=64,
                    anchor_generator=AnchorGenerator(((4,), (8,)),
                                                     ((1.0,), (1.0,)))).eval()
    for part in net.parameters():
        nn.init.normal_(part, std=.2)
    x = torch.rand(3, 16, 24)
    torch.onnx.export(net, ([x],), os.path.join(folder, "detector.onnx"),
                      input_names=["picture"], opset_version=13)
    images, _ = net.transform([x])
    heads = net.head(list(net.backbone(images.tensors).values()))
    print("parameters: %d" % sum(p.numel() for p in net.parameters()))
    scores = torch.sigmoid(heads["cls_logits"])[0]
    numpy.save(os.path.join(folder, "detector.x.npy"),
               numpy.ascontiguousarray(x.numpy().transpose(1, 2, 0)))
    numpy.save(os.path.join(folder, "detector.y.npy"), scores.detach().numpy())


def regions(folder):
    """Two stages: heads on what RoiAlign pools of two levels."""
    import torch
    from torch import nn
    from torchvision.models.detection import MaskRCNN
    from torchvision.models.detection.anchor_utils import AnchorGenerator
    from torchvision.models.detection.faster_rcnn import (FastRCNNPredictor,
                                                          TwoMLPHead)
    from torchvision.models.detection.mask_rcnn import (MaskRCNNHeads,
                                                        MaskRCNNPredictor)
    from torchvision.ops import MultiScaleRoIAlign

    torch.manual_seed(5)
    net = MaskRCNN(
        backbone_of_two_levels(), None, min_size=24, max_size=64,
        rpn_anchor_generator=AnchorGenerator(((4,), (8,)), ((1.0,), (1.0,))),
        box_roi_pool=MultiScaleRoIAlign(["0", "1"], 3, 2),
        box_head=TwoMLPHead(6 * 9, 8), box_predictor=FastRCNNPredictor(8, 3),
        mask_roi_pool=MultiScaleRoIAlign(["0", "1"], 4, 2),
        mask_head=MaskRCNNHeads(6, (5, 7), 1),
        mask_predictor=MaskRCNNPredictor(7, 4, 3)).eval()
    for part in net.parameters():
        nn.init.normal_(part, std=.3)
    torch.onnx.export(net, ([torch.rand(3, 16, 24)],),
                      os.path.join(folder, "regions.onnx"),
                      input_names=["picture"], opset_version=11)
    boxes, masks = torch.randn(2, 6, 3, 3), torch.randn(3, 6, 4, 4)
    heads = net.roi_heads
    scores, _ = heads.box_predictor(heads.box_head(boxes))
    shown = heads.mask_predictor(heads.mask_head(masks))
    print("parameters: %d" % sum(p.numel() for p in net.parameters()))
    for name, x in ("boxes", boxes.movedim(1, -1)), \
                   ("masks", masks.movedim(1, -1)), \
                   ("scores", scores.softmax(-1)), \
                   ("shown", shown.sigmoid().movedim(1, -1)):
        numpy.save(os.path.join(folder, f"regions.{name}.npy"),
                   numpy.ascontiguousarray(x.detach().numpy()))


def branch(folder):
    """The same names in both graphs, names from around them, one in one."""
    def tensor(name, values, kind=onnx.TensorProto.FLOAT):
        values = numpy.array(values, "f4" if kind == 1 else "i8")
        return numpy_helper.from_array(values, name)

    def graph(name, nodes, output, weights=()):
        info = onnx.helper.make_tensor_value_info(output, 1, None)
        return onnx.helper.make_graph(nodes, name, [], [info],
                                      initializer=list(weights))

    node = onnx.helper.make_node
    inner = graph("inner", [node("Mul", ["r", "by"], ["v"]),
                            node("Add", ["v", "bias"], ["u"])], "u",
                  [tensor("by", [2, 3, 4])])
    other = graph("other", [node("Sin", ["t"], ["u"])], "u")
    taken = graph("taken", [
        node("Abs", ["x"], ["t"]), node("Sqrt", ["t"], ["r"]),
        node("If", ["flag"], ["s"], then_branch=inner, else_branch=other)],
        "s", [tensor("bias", [1, 0, -1])])
    refused = graph("left", [node("NonZero", ["x"], ["t"]),
                             node("Cast", ["t"], ["s"], to=1)], "s")
    nodes = [node("Shape", ["x"], ["shape"]),
             node("ReduceProd", ["shape"], ["size"], keepdims=0),
             node("Greater", ["size", "five"], ["flag"]),
             node("Not", ["flag"], ["small"]),
             node("If", ["small"], ["y"], then_branch=refused,
                  else_branch=taken)]
    info = onnx.helper.make_tensor_value_info
    model = onnx.helper.make_model(onnx.helper.make_graph(
        nodes, "branch", [info("x", 1, [1, 2, 3])], [info("y", 1, [1, 2, 3])],
        initializer=[tensor("five", 5, onnx.TensorProto.INT64)]),
        opset_imports=[onnx.helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(folder, "branch.onnx"))


def gru(folder):
    """Three sequences of two steps; netc has the samples in front."""
    path = TESTDATA + "/node/test_gru_seq_length"
    model, arrays = onnx.load(path + "/model.onnx"), []
    for name in [f"input_{i}" for i in range(4)] + ["output_0"]:
        tensor = onnx.TensorProto()
        with open(f"{path}/test_data_set_0/{name}.pb", "rb") as file:
            tensor.ParseFromString(file.read())
        arrays.append(numpy_helper.to_array(tensor))
    onnx.save(with_initializers(model, dict(zip("XWRB", arrays)), ["X"]),
              os.path.join(folder, "gru.onnx"))
    numpy.save(os.path.join(folder, "gru.x.npy"),
               numpy.ascontiguousarray(arrays[0].transpose(1, 0, 2)))
    numpy.save(os.path.join(folder, "gru.y.npy"), arrays[4])


def windows(folder):
    """Swin's attention in windows, once shifted, and with its table picked."""
    import torch
    from torch import nn
    from torchvision.models.swin_transformer import ShiftedWindowAttention

    class Windows(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 1)
            self.plain = ShiftedWindowAttention(8, [4, 4], [0, 0], 2)
            self.moved = ShiftedWindowAttention(8, [4, 4], [2, 2], 2)
            self.norm = nn.LayerNorm(8)

        def forward(self, x):
            x = self.plain(self.conv(x).permute(0, 2, 3, 1))
            return self.moved(self.norm(x)).permute(0, 3, 1, 2)

    torch.manual_seed(6)
    net = Windows().eval()
    for part in net.parameters():
        nn.init.normal_(part, std=.4)
    x = torch.randn(1, 3, 8, 12)
    path = os.path.join(folder, "windows")
    for name, folds in ("windows", False), ("picked", True):
        model = os.path.join(folder, name + ".onnx")
        torch.onnx.export(net, x, model, opset_version=13,
                          do_constant_folding=folds)
        small = onnx.load(model)
        for node in small.graph.node:
            node.ClearField("doc_string")
        onnx.save(small, model)
    numpy.save(path + ".x.npy",
               numpy.ascontiguousarray(x.numpy().transpose(0, 2, 3, 1)))
    numpy.save(path + ".y.npy", numpy.ascontiguousarray(
        net(x).detach().numpy().transpose(0, 2, 3, 1)))
    print("parameters: %d" % sum(p.numel() for p in net.parameters()))


def rows(folder):
    """The best rows as two-stage detectors take them: GatherElements."""
    import torch

    class Best(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.score, self.out = torch.nn.Linear(8, 3), torch.nn.Linear(8, 4)

        def forward(self, x):
            best = self.score(x).max(-1).values.topk(3, dim=1).indices
            return self.out(x.gather(1, best[..., None].expand(-1, -1, 8)))
    torch.manual_seed(3)
    net, x = Best(), torch.randn(1, 6, 8)
    path = os.path.join(folder, "rows")
    torch.onnx.export(net, x, path + ".onnx", opset_version=13)
    numpy.save(path + ".x.npy", x.numpy())
    numpy.save(path + ".y.npy", net(x).detach().numpy())


def beside(folder):
    """A model and its tensors in values.bin; the same in one file."""
    random = numpy.random.RandomState(0)
    tensors = [
        numpy_helper.from_array(random.randn(4, 3, 3, 3).astype("f4"), "w"),
        numpy_helper.from_array(random.randn(4).astype("f4"), "b"),
        numpy_helper.from_array(numpy.array([1, -1], dtype="i8"), "sizes")]
    real = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Conv", ["x", "w", "b"], ["maps"], "conv",
                               kernel_shape=[3, 3]),
         onnx.helper.make_node("Reshape", ["maps", "sizes"], ["y"], "flat")],
        "beside", [onnx.helper.make_tensor_value_info("x", real, [1, 3, 8, 8])],
        [onnx.helper.make_tensor_value_info("y", real, [1, 144])], tensors)
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    onnx.save(model, os.path.join(folder, "inside.onnx"))
    onnx.save_model(model, os.path.join(folder, "beside.onnx"),
                    save_as_external_data=True, location="values.bin",
                    size_threshold=0)


def lines_of(text):
    return sum(1 for line in text.split("\n")
               if line.strip() and line.strip()[0] != "#")


def zoo(names):
    print("| net | lines | read again | parameters | multiplications |\n"
          "|---|---:|---:|---|---|")
    for path in sorted(glob.glob("examples/zoo/*.net")):
        name = os.path.basename(path)[:-4]
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, name + ".onnx")
            again = os.path.join(folder, name + ".net")
            if netc(path, "--no-source", "-o",
                    model).returncode != 0:
                continue
            done = netc("import", model, "-o", again)
            if done.returncode != 0:
                print("| %s | | | %s | |" % (name, reason(done.stderr)))
                continue
            totals = [json.loads(netc(p, "--emit=json").stdout)["totals"]
                      for p in (path, again)]
            cells = ["equal" if a == b else "%s, not %s" % (format(b, ","),
                                                            format(a, ","))
                     for a, b in [[t[k] for t in totals]
                                  for k in ("param_count", "mac_count")]]
            print("| %s | %d | %d | %s |" % (
                name, lines_of(open(path).read()),
                lines_of(open(again).read()), " | ".join(cells)), flush=True)


def files(paths):
    for path in paths:
        done = netc("import", path)
        print(path, "lines: %d" % done.stdout.count("\n")
              if done.returncode == 0 else reason(done.stderr))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[2] == "zoo":
        zoo(sys.argv[3:])
    elif sys.argv[2] == "testdata":
        testdata(sys.argv[3] if len(sys.argv) > 3 else TESTDATA)
    elif sys.argv[2] == "torchvision":
        torchvision_models(sys.argv[3:])
    elif sys.argv[2] == "strip":
        strip(sys.argv[3], sys.argv[4])
    elif sys.argv[2] == "tiny":
        tiny(sys.argv[3])
    elif sys.argv[2] == "gru":
        gru(sys.argv[3])
    elif sys.argv[2] == "windows":
        windows(sys.argv[3])
    elif sys.argv[2] == "rows":
        rows(sys.argv[3])
    elif sys.argv[2] == "detector":
        detector(sys.argv[3])
    elif sys.argv[2] == "regions":
        regions(sys.argv[3])
    elif sys.argv[2] == "branch":
        branch(sys.argv[3])
    elif sys.argv[2] == "beside":
        beside(sys.argv[3])
    else:
        files(sys.argv[3:])


main()
