#!/usr/bin/python3
"""Sets NETC's figures against those that are printed of large models.

    large.py NETC

prints tables in Markdown of the rows of tests/data/published/large.csv that differ,
whose head explains the columns; tools/accuracy.py counts them in its page.
tests/test_large.c compares each row.
"""
import json
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
from published import rows_of  # noqa: E402, beside this file

DATA = "tests/data/published/large.csv"

HEAD = """
## Large models: `--precision master`, several devices, offload, adapters

`tests/data/published/large.csv` has {count} figures that papers and programs print for
training large models, or that follow from their formulas. They are not measurements. A test
compares each: to the byte where the source is a formula ({exact} rows), within its rounding
otherwise. The others differ on purpose, for a reason that the file has: a figure that is cut
off instead of rounded, statistics of norms and causal masks that a paper leaves out, a factor
for other memory (DeepSpeed's 1.5), a part that the source does not state.

| source | figures | as printed |
|---|--:|--:|
{sources}
"""


def report(netc, net, options):
    command = [netc, net]
    for word in shlex.split(options):
        name, value = word.split("=", 1)
        if name.startswith("-D"):
            command += ["-D", f"{name[2:]}={value}"]
        else:
            command += [f"--{name.replace('_', '-')}", value]
    done = subprocess.run(command + ["--emit=json=-"], capture_output=True)
    if done.returncode != 0:
        sys.exit(f"large.py: {net} {options}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def number_of(data, path):
    path = re.sub(r"^stage\.", "training.parallel.stages.0.", path)
    at = data
    for word in path.split("."):
        at = at[int(word)] if isinstance(at, list) else at.get(word, 0)
    return at


def value_of(expression, data, less):
    """netc's numbers in the place of their names."""
    def look_up(match):
        name = match.group()
        if name == "max":
            return name
        if name.startswith("less."):
            return str(number_of(less, name[5:]))
        return str(number_of(data, name))
    text = re.sub(r"[a-z][a-z0-9_.]*", look_up, expression.replace("e9", "0" * 9))
    return eval(text.replace(";", ","), {"__builtins__": {}, "max": max})


def shown(value, within):
    if within == 0 and abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def part():
    rows = rows_of(DATA)
    exact = sum(float(row["within"]) == 0 for row in rows)
    sources = ""
    for source in dict.fromkeys(row["source"] for row in rows):
        of = [row for row in rows if row["source"] == source]
        agree = sum(not row["differs"] for row in of)
        sources += f"| <{source}> | {len(of)} | {agree} |\n"
    return HEAD.format(count=len(rows), exact=exact,
                       sources=sources.rstrip("\n"))


def tables(netc):
    rows = rows_of(DATA)
    page, source = "", None
    for row in rows:
        sources = [r for r in rows if r["source"] == row["source"]]
        differ = sum(bool(r["differs"]) for r in sources)
        if row["source"] != source:
            source = row["source"]
            page += f"\n<{source}>: {len(sources) - differ} of {len(sources)}\n"
            if differ:
                page += ("\n| id | what | where | printed | netc | "
                         "unit | differs |\n|---|---|---|--:|--:|---|---|\n")
        if not row["differs"]:
            continue
        data = report(netc, row["net"], row["options"])
        less = report(netc, row["net"], row["less"]) if row["less"] else None
        value = value_of(row["value"], data, less) / float(row["unit"])
        unit = {1: "", 1e6: "10^6", 1e9: "10^9", 1e12: "10^12", 1 << 20: "MiB",
                1 << 30: "GiB"}[float(row["unit"])]
        page += (f"| {row['id']} | {row['what']} | {row['where']} | "
                 f"{row['printed'].replace('*', ' x ')} | "
                 f"{shown(value, float(row['within']))} | {unit} | "
                 f"{row['differs']} |\n")
    return page


if __name__ == "__main__":
    print(tables(sys.argv[1]))
