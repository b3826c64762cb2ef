"""netc's figures of a text, and how they differ from PyTorch's."""
import json
import subprocess

from measure import FIGURES, measure
from net import build

SETTINGS = ("--emit=json=-", "--profile=torch1-cpu", "--optimizer=sgd",
            "--loss=sum")


class Crashed(Exception):
    pass


def netc_figures(netc, text, batch):
    """By figure; or what it says is wrong with the text."""
    done = subprocess.run([netc, "-", f"--batch={batch}", *SETTINGS],
                          input=text, capture_output=True, text=True,
                          timeout=60)
    if done.returncode not in (0, 1):
        raise Crashed(f"netc ends with {done.returncode}: {text}\n"
                      + done.stderr)
    if done.returncode:
        return {"error": done.stderr.strip()}
    told = json.loads(done.stdout)
    step, totals = told["training"], told["totals"]
    beside = sum(step[f"{name}_bytes"] for name in
                 ("parameter", "buffer", "input", "optimizer"))
    peak = max(step["forward_peak_bytes"], step["backward_peak_bytes"])
    return {"params": totals["param_count"],
            "macs": totals["mac_count"] * batch,
            "shape": [out["shape"] for out in told["outputs"]],
            "saved": step["saved_bytes"], "grads": step["gradient_bytes"],
            "peak": peak - beside,
            "predict": told["inference"]["framework_peak_bytes"]}


def compare(netc, net, smaller=lambda text: True):
    """Text, what both have, and the figures that differ; None if the text is
    not `smaller`."""
    text, program = build(net)
    if not smaller(text):
        return None
    truth = measure(program)
    told = netc_figures(netc, text, net.picks["batch"])
    if "error" in told:
        return text, told, truth, ["error"]
    return text, told, truth, [name for name in FIGURES
                               if told[name] != truth[name]]
