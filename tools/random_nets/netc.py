"""netc's figures of a text; needs no PyTorch."""
import json
import subprocess

SETTINGS = "--emit=json=-", "--optimizer=sgd", "--loss=sum"
profile = "torch1-cpu"  # the PyTorch that runs the nets here


class Crashed(Exception):
    pass


def netc_figures(netc, text, batch):
    """By figure; or what it says is wrong with the text."""
    done = subprocess.run([netc, "-", f"--batch={batch}",
                           f"--profile={profile}", *SETTINGS],
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
