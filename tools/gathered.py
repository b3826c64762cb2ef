#!/usr/bin/env python3
"""Files of other frameworks that were gathered, and what netc makes of them.

    tools/gathered.py NETC FOLDER           do the rows still hold?
    tools/gathered.py NETC FOLDER --write   writes them anew

A row of tests/data/import/gathered.csv for each file: the folder that it lies in, its
name, the options that it takes, the parameters, or why it is refused. FOLDER has folders
of these names with the files, which are not part of the repository: most names begin
with the GitHub repository that they are from. docs/import.md has the sums and what is
refused, which tests/test_gathered.c compares with the rows. Ends with 1 if a row does not
hold; a file that is not there is told, and no more.
"""
import csv
import json
import os
import subprocess
import sys

ROWS = "tests/data/import/gathered.csv"
HEAD = ["kind", "file", "options", "parameters", "reason"]
# What a template leaves open, and the order in which folders are listed.
OPTIONS = {
    "CMU-Perceptual-Computing-Lab_openpose_models_face_pose_deploy.prototxt":
        "--input 368x368x3",
    "CMU-Perceptual-Computing-Lab_openpose_models_pose_mpi_"
    "pose_deploy_linevec.prototxt": "--input 368x368x3",
}
KINDS = {"caffe": ".prototxt", "darknet": ".cfg", "gguf": ".gguf .gguf.gz",
         "huggingface": "", "keras_saved": ".h5 .hdf5 .keras",
         "onnx": ".onnx", "openvino": ".xml",
         "safetensors": ".safetensors .safetensors.gz", "tflite": ".tflite",
         "torch": ".pt .pth .pt.gz .pth.gz"}


def ask(netc, path, options):
    """The parameters and why not: one of them is empty."""
    done = subprocess.run([netc, path, *options.split(), "--depth=0",
                           "--emit=json"], capture_output=True, text=True)
    if done.returncode == 0:
        return str(json.loads(done.stdout)["totals"]["param_count"]), ""
    error = next((line for line in done.stderr.splitlines()
                  if "error: " in line), done.stderr[:80])
    return "", error.split("error: ", 1)[-1]


def files_of(folder):
    for kind, ends in KINDS.items():
        there = os.path.join(folder, kind)
        for name in sorted(os.listdir(there)) if os.path.isdir(there) else []:
            config = os.path.join(there, name, "config.json")
            if os.path.isfile(config) if not ends else \
                    name.endswith(tuple(ends.split())):
                yield kind, name


def path_of(folder, kind, name):
    path = os.path.join(folder, kind, name)
    return os.path.join(path, "config.json") if os.path.isdir(path) else path


def write(netc, folder):
    with open(ROWS, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(HEAD)
        for kind, name in files_of(folder):
            options = OPTIONS.get(name, "")
            rows.writerow([kind, name, options,
                           *ask(netc, path_of(folder, kind, name), options)])


def check(netc, folder):
    wrong = absent = right = 0
    with open(ROWS, newline="") as file:
        for row in csv.DictReader(file):
            path = path_of(folder, row["kind"], row["file"])
            if not os.path.exists(path):
                absent += 1
                continue
            now = ask(netc, path, row["options"])
            if now == (row["parameters"], row["reason"]):
                right += 1
                continue
            wrong += 1
            print(f"{row['kind']}/{row['file']}: {now[0] or now[1]}, and "
                  f"{row['parameters'] or row['reason']} in {ROWS}")
    print(f"{right} rows hold, {wrong} do not, {absent} files are not there")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if "--write" in sys.argv:
        write(*sys.argv[1:3])
    else:
        sys.exit(check(*sys.argv[1:3]))
