#!/usr/bin/env python3
"""The wheel, as it is installed: make check-python runs this in a fresh venv."""
import base64
import contextlib
import ctypes
import gc
import glob
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import unittest
import warnings

import netc
from netc import abi, native

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SOURCE = "param width = 8\ninput 24x24x3\nconv width 3x3 pad bn relu\n" \
         "pool 2x2\ngap\nfc 10\n"
WRONG = "input 24x24x3\ncnv 8 3x3\nfc 10\n"


def command(*arguments):
    return subprocess.run([native.program(), *arguments], text=True,
                          capture_output=True, check=True).stdout


class Binding(unittest.TestCase):
    def test_has_every_function(self):
        declared = set()
        for name in ("netc.h", "netc_edit.h"):
            with open(os.path.join(ROOT, "include", name),
                      encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            declared |= set(re.findall(r"NETC_API[^;(]*?\b(netc_\w+)\s*\(",
                                       text))
        self.assertGreater(len(declared), 80)
        self.assertEqual(set(abi.FUNCTIONS), declared)
        for name in declared:
            self.assertIsNotNone(getattr(native.lib, name).argtypes)

    def test_has_the_sizes_of_the_library(self):
        """A struct of another size would leave members that are not filled in:
        the last one of a struct is read back."""
        net = netc.loads(SOURCE)
        self.assertEqual(net.totals.active_count, net.param_count)
        training = net.training
        self.assertEqual(training.device_peak_bytes, training.peak_bytes)
        self.assertGreater(net.inference.framework_peak_bytes, 0)

    def test_plans(self):
        buffers = (abi.netc_plan_buffer * 2)((0, 2, 100, 4, 0),
                                             (1, 3, 60, 4, 0))
        plan = abi.netc_plan(size=ctypes.sizeof(abi.netc_plan))
        self.assertEqual(native.lib.netc_plan(
            buffers, 2, None, ctypes.byref(plan)), abi.Status.OK)
        self.assertEqual(plan.height, 160)

    def test_is_typed(self):
        folder = os.path.dirname(netc.__file__)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))
        self.assertIn("kept for backward", abi.Layer.__doc__)
        for name in netc.__all__:
            self.assertTrue(getattr(netc, name).__doc__, name)

    def test_is_what_mypy_takes(self):
        """Debian's, which knows nothing of this venv."""
        if subprocess.run(["/usr/bin/python3", "-c", "import mypy"],
                          capture_output=True, check=False).returncode:
            self.skipTest("python3-mypy is not installed")
        folder = os.path.join(sys.argv[1], "typed")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.dirname(netc.__file__),
                        os.path.join(folder, "netc"))
        with open(os.path.join(folder, "user.py"), "w",
                  encoding="utf-8") as file:
            file.write("import netc\nnet = netc.load('x.net', batch=4)\n"
                       "a: int = net.training.peak_bytes\n"
                       "b: str = net.layers[0].out.dims[0]\n")
        done = subprocess.run(
            ["/usr/bin/python3", "-m", "mypy", "--no-site-packages",
             "--ignore-missing-imports", "--cache-dir", os.devnull, "netc",
             "user.py"], cwd=folder, capture_output=True, text=True,
            check=False)
        errors = [line for line in done.stdout.splitlines()
                  if " error: " in line]
        self.assertEqual(len(errors), 1, done.stdout + done.stderr)
        self.assertIn('user.py:4: error: Incompatible types', errors[0])

    def test_is_small(self):
        wheel, = glob.glob(os.path.join(sys.argv[1], "netc-*.whl"))
        self.assertLess(os.path.getsize(wheel), 3_380_000)

    def test_imports_little(self):
        """Beside ctypes and functools, which the binding needs; what a call
        needs, it imports: a time would depend on the machine."""
        code = "import sys, ctypes, functools; had = set(sys.modules); " \
               "import netc; print(*sorted(set(sys.modules) - had))"
        done = subprocess.run([sys.executable, "-c", code], check=True,
                              capture_output=True, text=True)
        modules = set(done.stdout.split())
        self.assertEqual({name for name in modules if "netc" in name},
                         {"netc", "netc.abi", "netc.native", "netc.net",
                          "netc.record"})
        dear = {"dataclasses", "importlib.metadata", "inspect", "json", "re",
                "subprocess", "tempfile", "torch", "typing"}
        self.assertEqual(modules & dear, set())

    def test_wheel_says_which_c_library_it_needs(self):
        """Nothing in it needs a newer one than its tag has."""
        wheel, = glob.glob(os.path.join(sys.argv[1], "netc-*.whl"))
        tag = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_",
                                       wheel).groups()))
        newest = (0, 0)
        for path in (native.lib._name, native.program()):
            said = subprocess.run(["objdump", "-T", path], text=True,
                                  capture_output=True, check=True).stdout
            newest = max([newest] + [tuple(map(int, found)) for found in
                                     re.findall(r"GLIBC_(\d+)\.(\d+)", said)])
        self.assertEqual(newest, tag)


class Nets(unittest.TestCase):
    def test_have_the_numbers_of_the_command(self):
        net = netc.load("zoo:resnet", params={"depth": 18}, batch=4,
                        gpu="rtx4090")
        said = json.loads(command("zoo:resnet", "-D", "depth=18", "--batch", "4",
                                  "--gpu", "rtx4090", "--emit=json=-"))
        ours = json.loads(net.json())
        self.assertEqual(said.keys(), ours.keys())
        self.assertEqual(said["totals"], ours["totals"])
        self.assertEqual(said["training"], ours["training"])
        self.assertEqual(net.param_count, 11_689_512)
        self.assertEqual(net.training.peak_bytes,
                         said["training"]["peak_bytes"])
        self.assertGreater(net.largest_batch, 4)
        for shared in ({"data_parallel": 4, "zero": 3}, {"tensor_parallel": 2},
                       {"pipeline": 2, "batch": 4}, {"context_parallel": 2}):
            net = netc.load("zoo:gpt2", **shared)
            said = json.loads(net.json())
            self.assertEqual(net.training.peak_bytes,
                             said["training"]["peak_bytes"])
            self.assertEqual(net.training.peak_bytes, said["answer"]["bytes"])
            self.assertEqual(net.training.alone_peak_bytes,
                             said["training"]["alone_peak_bytes"])
            self.assertNotEqual(net.training.peak_bytes,
                                net.training.alone_peak_bytes)
        self.assertIsNone(netc.loads(SOURCE).largest_batch)

    def test_have_layers(self):
        net = netc.loads(SOURCE, params={"width": 16}, inputs=(32, 32, 3))
        conv = net.layers[1]
        self.assertEqual((conv.op, conv.out.dims, conv.param_count),
                         ("conv", [32, 32, 16], 3 * 3 * 3 * 16))
        self.assertEqual(conv.inputs, [0])
        self.assertEqual(net.attributes(1)["channels"], "16")
        self.assertEqual(net.params["width"].value, "16")
        self.assertEqual(net.weights[0].dims, [16, 3, 3, 3])
        self.assertEqual(net.inputs[0].layer, 0)
        self.assertEqual(net.variant(params={"width": 4}).layers[1].out.dims,
                         [32, 32, 4])

    def test_ask_what_the_settings_ask(self):
        net = netc.load("zoo:gpt2", context=1024)
        self.assertTrue(net.asks_inference)
        self.assertEqual(net.report(), command("zoo:gpt2", "--context", "1024"))
        said = json.loads(net.json())["answer"]
        self.assertEqual((said["question"], said["bytes"]),
                         ("serving", net.answer.bytes))
        self.assertIn("\ntrain, ", net.report(predict=False))
        self.assertIn(" for inference", net._repr_html_())
        net = netc.load("zoo:gpt2")
        self.assertFalse(net.asks_inference)
        self.assertEqual(net.report(), command("zoo:gpt2"))
        self.assertEqual(net.answer.bytes, net.training.peak_bytes)
        self.assertIn("\ninference, ", net.report(predict=True))
        self.assertIn(" to train a batch of 1", net._repr_html_())

    def test_write_outputs(self):
        net = netc.loads(SOURCE)
        self.assertIn("<svg", net.svg(title="A <title>"))
        self.assertIn("A &lt;title&gt;", net.svg(title="A <title>"))
        self.assertIn("<!DOCTYPE html>", net.html()[:100])
        self.assertIn("MACs", str(net))
        self.assertNotEqual(net.report(units="si"), net.report(units="bytes"))
        path = os.path.join(sys.argv[1], "x.timeline.svg")
        net.save(path)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), net.emit("timeline.svg"))
        with self.assertRaisesRegex(TypeError, "unknown option 'unit'"):
            net.svg(unit="si")
        with self.assertRaisesRegex(ValueError, "one of iec, si, bytes"):
            net.svg(units="pounds")
        for options in ({"columns": 5}, {"depth": "1"}, {"title": b"x"}):
            with self.assertRaisesRegex(TypeError, " takes "):
                net.svg(**options)
        with self.assertRaisesRegex(ValueError, "out of range"):
            net.report(depth=2 ** 40)
        with self.assertRaises(netc.Error):
            net.emit("nonsense")
        with self.assertRaisesRegex(ValueError, "names no output"):
            net.save(os.path.join(sys.argv[1], "x.jpeg2000"))
        self.assertEqual(net.source, SOURCE)

    def test_may_have_lengths_that_differ(self):
        want = json.loads(command("zoo:gpt2", "--vary", "91..512",
                                  "--emit=json"))["lengths"]
        net = netc.load("zoo:gpt2", vary=(91, 512))
        self.assertEqual(json.loads(net.json())["lengths"], want)
        self.assertEqual(net.variant(batch=1).training.peak_bytes,
                         want["longest"]["peak_bytes"])
        lengths = json.loads(netc.load("zoo:gpt2", vary=[91, 92, 93, 512])
                             .json())["lengths"]
        self.assertEqual(lengths["mean"]["length"], 197)
        with self.assertRaisesRegex(netc.Error, "lengths begin at 1"):
            netc.load("zoo:gpt2", vary=[0, 5])

    def test_raise_errors_with_carets(self):
        with self.assertRaises(netc.Error) as caught:
            netc.loads(WRONG, name="wrong.net")
        self.assertIn("wrong.net:2:1: error:", str(caught.exception))
        self.assertIn("^^^", str(caught.exception))
        self.assertEqual(caught.exception.diagnostics[0].slug, "unknown-layer")
        for settings, says in (({"bach": 2}, "did you mean `batch`"),
                               ({"params": {"with": 2}}, "width"),
                               ({"batch": "many"}, "batch='many'"),
                               ({"inputs": "1x1"}, "input")):
            with self.assertRaisesRegex(netc.Error, says):
                netc.loads(SOURCE, **settings)
        with self.assertRaisesRegex(netc.Error, "cannot read nowhere.net"):
            netc.load("nowhere.net")
        with self.assertRaisesRegex(FileNotFoundError, "netc zoo"):
            netc.load("zoo:nothing")
        with self.assertRaisesRegex(ValueError, "NUL"):
            netc.load("a.net\0b")
        with self.assertRaisesRegex(TypeError, "params is a dict"):
            netc.loads(SOURCE, params=8)
        for number in (-1, 99):
            with self.assertRaises(IndexError):
                netc.loads(SOURCE).attributes(number)

    def test_keep_budgets(self):
        @netc.budget(params="1K")
        def small():
            return netc.loads(SOURCE)

        @netc.budget(params="100")
        def large():
            return netc.loads(SOURCE)

        small()
        with self.assertRaisesRegex(netc.Error, "exceeds the budget by"):
            large()

    def test_keep_budgets_under_pytest(self):
        """As tests that others write are run: with fixtures, by name."""
        if not __import__("importlib.util").util.find_spec("pytest"):
            self.skipTest("python3-pytest is not installed")
        path = os.path.join(sys.argv[1], "test_budgets.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""\
import netc, pytest

@pytest.fixture
def width():
    return 8

@netc.budget(params="1K", train="1MiB")
def test_small(width):
    return netc.loads({SOURCE!r}, params={{"width": width}})

@netc.budget(params="1K")
def test_large(width):
    return netc.loads({SOURCE!r}, params={{"width": 100 * width}})
""")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", path],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("1 failed, 1 passed", done.stdout)
        self.assertIn("exceeds the budget by", done.stdout)
        self.assertNotIn("net.variant", done.stdout)

    def test_close_what_they_open(self):
        calls = {"netc_open": 0, "netc_close": 0}

        class Counted:
            def __getattr__(self, name):
                if name in calls:
                    calls[name] += 1
                return getattr(native.lib, name)

        from netc import net as module
        was, module.lib = module.lib, Counted()
        try:
            for text in (SOURCE, WRONG, "", SOURCE) * 5:
                try:
                    netc.loads(text).variant(batch=2)
                except netc.Error:
                    pass
            gc.collect()
        finally:
            module.lib = was
        self.assertEqual(calls, {"netc_open": 30, "netc_close": 30})

    def test_are_freed(self):
        def pages():
            for _ in range(60):
                netc.load("zoo:vgg")
            gc.collect()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        first = pages()
        for _ in range(4):
            last = pages()
        self.assertLess(last - first, 4096)  # KiB

    def test_may_be_shared_by_threads(self):
        net, wrong = netc.loads(SOURCE), []
        want = net.json()

        def ask():
            for i in range(20):
                own = netc.loads(SOURCE, params={"width": i + 1})
                if net.json() != want or own.layers[1].out.dims[2] != i + 1:
                    wrong.append(i)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Notebooks(unittest.TestCase):
    def test_show_tables_and_pictures(self):
        net = netc.loads(SOURCE)
        page = net._repr_html_()
        self.assertIn("<table>", page)
        self.assertIn(f"{net.param_count:,} parameters", page)
        picture = re.search(r"base64,([^\"]+)", page)[1]
        self.assertEqual(base64.b64decode(picture).decode(), net.svg())
        self.assertNotIn("<script", page)

    def test_compile_cells(self):
        class Shell:
            user_ns, magics = {}, {}

            def register_magic_function(self, function, kind, name):
                self.magics[kind, name] = function

        shell = Shell()
        netc.load_ipython_extension(shell)
        cell = shell.magics["cell", "netc"]
        net = cell("little batch=2", SOURCE)
        self.assertIs(shell.user_ns["little"], net)
        self.assertEqual(net.training.batch, 2)


@unittest.skipUnless(__import__("importlib.util").util.find_spec("torch"),
                     "python3-torch is not installed")
class Modules(unittest.TestCase):
    def test_have_pytorchs_parameters(self):
        import torch
        module = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, bias=False), torch.nn.BatchNorm2d(8),
            torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Dropout(),
            torch.nn.Linear(8 * 14 * 14, 5))
        module.eval()
        net = netc.from_torch(module, torch.zeros(6, 3, 16, 16))
        self.assertEqual(net.param_count,
                         sum(p.numel() for p in module.parameters()))
        self.assertEqual(net.training.batch, 6)
        self.assertEqual([layer.op for layer in net.layers][1:4],
                         ["conv", "bn", "relu"])
        self.assertFalse(any(m.training for m in module.modules()))
        with self.assertRaisesRegex(TypeError, "its batch first"):
            netc.from_torch(module, torch.tensor(1.0))

    def test_keep_their_names(self):
        import torch
        nn = torch.nn

        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.conv = nn.Conv2d(width, width, 3, padding=1, bias=False)
                self.norms = nn.ModuleList([nn.BatchNorm2d(width)
                                            for _ in range(2)])
                self.relu = nn.ReLU()  # a layer of netc has this name

            def forward(self, x):
                y = self.relu(self.norms[0](self.conv(x)))
                return self.relu(self.norms[1](y) + x)

        module = nn.Sequential(
            nn.Sequential(nn.Sequential(nn.Conv2d(3, 4, 1), nn.GELU()),
                          Block(4), Block(4)), nn.Flatten(),
            nn.Linear(4 * 64, 2))
        module.norm = nn.LayerNorm(2)
        net = netc.from_torch(module, (1, 3, 8, 8))
        parts = {path for path, part in module.named_modules()
                 if part._parameters}
        named = set(net.module_paths.values())
        self.assertEqual(parts - named, set())
        self.assertEqual(net.module_paths["Sequential0.Block1.Conv2d"],
                         "0.1.conv")
        for layer in net.layers:
            if layer.param_count:
                part = module.get_submodule(net.module_paths[layer.name])
                self.assertEqual(layer.param_count, sum(
                    p.numel() for p in part.parameters()), layer.name)
        self.assertEqual(net.variant(batch=2).module_paths, net.module_paths)
        double = netc.from_torch(module.double(), (1, 3, 8, 8))
        self.assertEqual(double.param_count, net.param_count)
        self.assertIn("\n    Block1 ", net.report(depth=2))
        self.assertNotIn("\n    Block1 ", net.report(depth=1))
        short = netc.from_torch(module, (1, 3, 8, 8), folded=True)
        self.assertIn("repeat 2", short.source)
        self.assertEqual(short.totals, net.totals)
        self.assertEqual(short.training.peak_bytes, net.training.peak_bytes)

    def test_may_be_recurrent_or_read_words(self):
        import torch
        nn = torch.nn

        class Words(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(100, 16)
                self.layers = nn.ModuleList([nn.TransformerEncoderLayer(
                    16, 2, 32, batch_first=True)])
                self.memory = nn.LSTM(16, 8, 2, batch_first=True)
                self.head = nn.Linear(8, 100)

            def forward(self, x):
                x = self.table(x)
                for layer in self.layers:
                    x = layer(x)
                return self.head(self.memory(x)[0])

        module = Words()
        net = netc.from_torch(module, torch.zeros(2, 7, dtype=torch.long))
        self.assertEqual(net.param_count,
                         sum(p.numel() for p in module.parameters()))
        self.assertIn("layers.TransformerEncoderLayer0",
                      " ".join(net.module_paths))
        self.assertNotIn("drops values", net.source)

    def test_say_what_a_run_does_not_use(self):
        import torch
        module = torch.nn.Sequential(torch.nn.Linear(4, 3))
        module.unused = torch.nn.Linear(3, 3)
        module.forward = lambda x: module[0](x)
        with self.assertWarnsRegex(UserWarning, "has 27 .* uses 15"):
            netc.from_torch(module, (2, 4))
        norm = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1),
                                   torch.nn.BatchNorm2d(3))
        self.assertEqual(netc.from_torch(norm, (2, 3, 8, 8)).param_count, 6)

    def test_have_tables_that_do_not_learn(self):
        import torch

        class Biased(torch.nn.Module):
            """A bias by distance, computed as in Swin V2."""

            def __init__(self):
                super().__init__()
                at = torch.arange(4)
                rows = (at // 2)[:, None] - (at // 2) + 1
                rows = 3 * rows + (at % 2)[:, None] - at % 2 + 1
                self.register_buffer("rows", rows.flatten())
                self.register_buffer("table", torch.rand(9, 2))
                self.lines = torch.nn.Linear(2, 5)

            def forward(self, x):
                bias = self.lines(self.table)[self.rows].reshape(4, 4, 5)
                return x + bias.permute(2, 0, 1)

        net = netc.from_torch(Biased(), (2, 5, 4, 4))
        self.assertEqual(net.param_count, 15)
        self.assertIn("weight 9x2 fixed", net.source)
        self.assertIn("distances 2x2 buffer", net.source)

    def test_are_printed(self):
        import torch
        printed = io.StringIO()
        module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
        with contextlib.redirect_stdout(printed):
            net = netc.summary(module, (2, 4), columns="name,params")
        self.assertEqual(net.param_count, 15)
        self.assertIn("Linear0", printed.getvalue())
        self.assertIn("total", printed.getvalue())

    def test_of_torchvision_have_them(self):
        try:
            from torchvision import models
        except ImportError:
            self.skipTest("python3-torchvision is not installed")
        import torch
        few = "resnet18 mobilenet_v3_small squeezenet1_1 shufflenet_v2_x0_5"
        for name in os.environ.get("MODELS", few).split():
            inception = name == "inception_v3"
            options = {"init_weights": False} if inception else {}
            size = 299 if inception else 224
            module = getattr(models, name)(**options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                net = netc.from_torch(module, (2, 3, size, size))
            self.assertEqual(net.param_count,
                             sum(p.numel() for p in module.parameters()), name)
            self.assertTrue(net.module_paths, name)
        small = models.VisionTransformer(32, 16, 1, 2, 16, 32)
        net = netc.from_torch(small, (2, 3, 32, 32))  # has a class token
        self.assertEqual(net.param_count,
                         sum(p.numel() for p in small.parameters()))
        self.assertEqual(net.module_paths["conv_proj"], "conv_proj")
        windows = models.SwinTransformer([4, 4], 8, [2], [2], [2, 2])
        net = netc.from_torch(windows, (2, 3, 32, 32))
        self.assertEqual(len(net.inputs), 1)
        self.assertIn("relative=2x2", net.source)
        lost = models.mobilenet_v3_small(width_mult=0.25)
        net = netc.from_torch(lost, (2, 3, 32, 32))
        self.assertIn("dropout 0.2 inplace=on", net.source)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
