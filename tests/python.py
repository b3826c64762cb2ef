#!/usr/bin/env python3
"""The wheel, as it is installed: make check-python runs this in a fresh venv."""
import base64
import ctypes
import gc
import json
import os
import re
import resource
import subprocess
import sys
import threading
import unittest
import warnings

import netc
from netc import abi, library

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SOURCE = "param width = 8\ninput 24x24x3\nconv width 3x3 pad bn relu\n" \
         "pool 2x2\ngap\nfc 10\n"
WRONG = "input 24x24x3\ncnv 8 3x3\nfc 10\n"


def command(*arguments):
    return subprocess.run([library.program(), *arguments], text=True,
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
            self.assertIsNotNone(getattr(library.lib, name).argtypes)

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
        self.assertEqual(library.lib.netc_plan(
            buffers, 2, None, ctypes.byref(plan)), abi.Status.OK)
        self.assertEqual(plan.height, 160)

    def test_is_typed(self):
        folder = os.path.dirname(netc.__file__)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))
        self.assertIn("kept for backward", abi.Layer.__doc__)


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
        with self.assertRaises(netc.Error):
            net.emit("nonsense")

    def test_raise_errors_with_carets(self):
        with self.assertRaises(netc.Error) as caught:
            netc.loads(WRONG, name="wrong.net")
        self.assertIn("wrong.net:2:1: error:", str(caught.exception))
        self.assertIn("^^^", str(caught.exception))
        self.assertEqual(caught.exception.diagnostics[0].slug, "unknown-layer")
        for settings, says in (({"bach": 2}, "did you mean `batch`"),
                               ({"params": {"with": 2}}, "width"),
                               ({"inputs": "1x1"}, "input")):
            with self.assertRaisesRegex(netc.Error, says):
                netc.loads(SOURCE, **settings)
        with self.assertRaisesRegex(netc.Error, "cannot read nowhere.net"):
            netc.load("nowhere.net")
        with self.assertRaisesRegex(FileNotFoundError, "netc zoo"):
            netc.load("zoo:nothing")

    def test_keep_budgets(self):
        @netc.budget(params="1K")
        def small():
            return netc.loads(SOURCE)

        @netc.budget(params="100")
        def large():
            return netc.loads(SOURCE)

        small()
        with self.assertRaisesRegex(netc.Error, "over by"):
            large()

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

    def test_of_torchvision_have_them(self):
        try:
            from torchvision import models
        except ImportError:
            self.skipTest("python3-torchvision is not installed")
        import torch
        torch.manual_seed(0)
        for name in ("resnet18", "mobilenet_v3_small", "efficientnet_b0",
                     "vit_b_32", "squeezenet1_1", "shufflenet_v2_x0_5"):
            module = getattr(models, name)()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                net = netc.from_torch(module, (2, 3, 224, 224))
            self.assertEqual(net.param_count,
                             sum(p.numel() for p in module.parameters()), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
