#!/usr/bin/python3
"""Compare the instructions of commands with the counts of instructions.csv.

usage: instructions.py NETC [--bless]

valgrind's callgrind counts them, which repeats on a machine whatever else runs
there. The C library's vector functions are turned off, because it chooses them
by processor. A count that is more than 3 % away from the committed one is an
error in both directions: `--bless` writes the counts of this program, for a
change that is meant. The counts are those of gcc 12 at -O2.
"""
import concurrent.futures
import csv
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_suffix(".csv")
AWAY = 0.03
PLAIN = "glibc.cpu.hwcaps=" + ",".join(
    "-" + name for name in ("AVX", "AVX2", "AVX2_Usable", "AVX512F", "AVX512VL",
                            "BMI2", "ERMS", "FSRM", "SSE4_2", "SSSE3"))


def count(netc, command, folder):
    """Instructions of one command, which may use the file {layers}."""
    words = shlex.split(command.format(layers=f"{folder}/layers.net"))
    with tempfile.TemporaryDirectory(dir=folder) as out:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind",
             f"--callgrind-out-file={out}/callgrind", netc, *words],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            check=False, env=dict(os.environ, GLIBC_TUNABLES=PLAIN, LC_ALL="C"))
    found = re.search(r"Collected : (\d+)", run.stderr)
    if not found or run.returncode > 1:
        sys.exit(f"netc {command}: status {run.returncode}\n{run.stderr}")
    return int(found[1])


def main():
    netc, bless = os.path.abspath(sys.argv[1]), "--bless" in sys.argv
    with open(TABLE, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/layers.net", "w", encoding="utf-8") as file:
            file.write("input 32x32x16\nrepeat 100000 { conv 16 3x3 pad }\n")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            counts = list(pool.map(
                lambda row: count(netc, row["command"], folder), rows))
    wrong = 0
    for row, now in zip(rows, counts):
        before = float(row["millions"])
        change = now / 1e6 / before - 1 if before else 1
        wrong += abs(change) > AWAY
        print(f"{now / 1e6:10.2f} M {before:10.2f} M {change:+7.1%}  netc "
              f"{row['command']}{'  <--' if abs(change) > AWAY else ''}")
        row["millions"] = f"{now / 1e6:.2f}"
    if bless:
        with open(TABLE, "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, ["millions", "command"],
                                 lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
    elif wrong:
        sys.exit(f"{wrong} of {len(rows)} commands take 3 % more or fewer "
                 f"instructions than {TABLE.name} says. If that is meant: "
                 "make bench-instructions BLESS=1")


if __name__ == "__main__":
    main()
