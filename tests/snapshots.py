#!/usr/bin/env python3
"""Whether tools/snapshot_truth.py reads what it should and runs nothing.

    snapshots.py FOLDER

makes snapshots in FOLDER, one of a step that is known and others that are
harmful or torn, and says what is not as it should be.
"""
import os
import pickle
import subprocess
import sys

TOOL = "tools/snapshot_truth.py"
MODEL = {"filename": "/home/model.py", "name": "forward", "line": 7}
BACK = {"filename": "??", "name": "torch::autograd::Engine::run", "line": 0}
STEP = {"filename": "/home/adam.py", "name": "step", "line": 9}


def made(name):
    return {"filename": "??", "name": f"at::_ops::{name}::call(x)", "line": 0}


class Harm:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def known():
    """Two tensors of forward, one of backward, and a workspace."""
    work = {"filename": "??", "name": "at::cuda::getNewWorkspace()", "line": 0}
    trace = [
        ("segment_alloc", 0x100, 2 << 20, []),
        ("alloc", 0x100, 1000, [made("empty"), made("mul_Tensor"), MODEL]),
        ("alloc", 0x500, 3000, [made("exp"), MODEL]),
        ("free_requested", 0x500, 3000, []),
        ("free_completed", 0x500, 3000, []),
        ("alloc", 0x1100, 4096, [work, MODEL]),
        ("alloc", 0x2100, 600, [made("add"), BACK]),
        ("free_completed", 0x100, 1000, []),
        ("alloc", 0x3100, 512, [made("sqrt"), STEP]),
    ]
    blocks = [(512, 1024, "inactive"), (4096, 4096, "active_allocated"),
              (1024, 600, "active_allocated"), (1024, 512, "active_allocated"),
              (512, 512, "active_allocated")]
    places = [0x100, 0x1100, 0x2100, 0x3100, 0x9000]
    return {
        "segments": [{"address": 0x100, "total_size": 2 << 20, "blocks": [
            {"address": at, "size": size, "requested_size": asked,
             "state": state}
            for at, (size, asked, state) in zip(places, blocks)]}],
        "device_traces": [[], [
            {"action": action, "addr": at, "size": size, "frames": frames}
            for action, at, size, frames in trace]]}


EXPECTED = """\
recording,phase,what,bytes,count,operation
known,start,allocated,512,1,
known,start,reserved,0,1,
known,forward,allocated,5632,1,
known,forward,reserved,2097152,1,
known,backward,allocated,6656,1,
known,backward,reserved,2097152,1,
known,step,allocated,6144,1,
known,step,reserved,2097152,1,
known,forward,live,1000,1,"mul, model.py:7"
known,forward,workspace,4096,1,
known,end,segment,2097152,1,
known,end,rest,512,1,
"""

REQUESTS = """\
bytes,came,went
512,0,
1000,2,8
3000,3,5
4096,6,
600,7,
512,9,
"""


def run(path, *more):
    return subprocess.run([sys.executable, TOOL, path, *more],
                          capture_output=True, text=True)


def measured():
    """tools/bench/gpu_truth.py, whose rows have the same columns."""
    sys.path[:0] = ["tools", "tools/bench"]
    sys.dont_write_bytecode = True
    import gpu_truth
    import snapshot_truth
    expect("columns", gpu_truth.COLUMNS, snapshot_truth.COLUMNS)
    run = {"batch": 2, "optimizer": "adamw", "precision": "full"}
    peaks = {"allocated": 7, "reserved": 9, "requested": None}
    rows = list(gpu_truth.rows_of("vgg16", [
        dict(run, before=5, forward=peaks, backward=peaks, step=peaks,
             library_bytes=3),
        dict(run, before=None, forward=None), dict(run, error="timeout")]))
    expect("rows", rows, [
        ("vgg16_2_adamw_full", phase, what, size, 1, "")
        for phase, what, size in (
            ("start", "allocated", 5), ("forward", "allocated", 7),
            ("forward", "reserved", 9), ("backward", "allocated", 7),
            ("backward", "reserved", 9), ("step", "allocated", 7),
            ("step", "reserved", 9), ("start", "workspace", 3))])


def expect(name, got, want):
    if got != want:
        sys.exit(f"{name}:\n{got}\nin place of\n{want}")


def refused(folder, name, data, why):
    path = os.path.join(folder, f"{name}.pickle")
    with open(path, "wb") as file:
        file.write(data)
    done = run(path)
    if done.returncode != 1 or done.stdout.count("\n") > 1 \
            or why not in done.stderr or "Traceback" in done.stderr:
        sys.exit(f"{name}: {done.returncode}, {done.stdout}{done.stderr}")


def main():
    folder = sys.argv[1]
    path = os.path.join(folder, "known.pickle")
    rows = os.path.join(folder, "requests.csv")
    with open(path, "wb") as file:
        pickle.dump(known(), file)
    done = run(path, "--requests", rows)
    expect("known", done.stderr + done.stdout, EXPECTED)
    with open(rows, encoding="utf-8") as file:
        expect("requests", file.read(), REQUESTS)

    harm = os.path.join(folder, "harm")
    refused(folder, "harmful", pickle.dumps({"segments": Harm(harm)}),
            "it asks for ")
    if os.path.exists(harm):
        sys.exit("the tool ran what a pickle asked for")
    whole = pickle.dumps(known())
    refused(folder, "empty", b"", "not a pickle")
    refused(folder, "pointer", b"version https://git-lfs\n", "not a pickle")
    refused(folder, "elsewhere", b"Pname\n.", "objects elsewhere")
    refused(folder, "list", pickle.dumps([]), "not a dict")
    for i in range(1, len(whole), len(whole) // 12):
        refused(folder, "torn", whole[:i], "not a pickle")
    for key, value in (("size", -1), ("size", "x"), ("size", True),
                       ("frames", 3), ("addr", []), ("action", {})):
        other = known()
        other["device_traces"][1][1][key] = value
        refused(folder, key, pickle.dumps(other), f"`{key}`")
    other = known()
    del other["segments"][0]["blocks"]
    refused(folder, "blocks", pickle.dumps(other), "no list of blocks")
    other = known()
    other["device_traces"][0] = other["device_traces"][1]
    refused(folder, "devices", pickle.dumps(other), "2 devices")
    measured()


if __name__ == "__main__":
    main()
