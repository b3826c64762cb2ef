#!/usr/bin/env python3
"""Reads PyTorch's memory snapshots, for tests/data/cuda: CSV in place of them.

    snapshot_truth.py FILE.pickle... [--name NAME] [--requests FILE.csv]

FILE is what torch.cuda.memory._dump_snapshot wrote of a step whose history
was recorded. A row of the output is

    recording,phase,what,bytes,count,operation

phase: start, forward, backward or step (of the optimizer), and at what:
live       a size of tensors that are alive when forward has ended, how many
           there are, the operation that made them and where it was called
allocated  the most of the phase, of requests in whole blocks of 512 bytes:
           torch.cuda.max_memory_allocated less rests
reserved   the most of the phase, as torch.cuda.max_memory_reserved
workspace  of the library of products; each handle has one
segment    segments of a size that are there in the end
rest       what blocks are larger than their requests, rounded to 512 bytes

--requests writes every request of the first file, too: when it came and went,
by which an allocator can be run again (tests/data/cuda/requests.csv).

A pickle can run programs. This reader refuses whatever is no dict, list,
string or number, files of more than 512 MiB, and takes at most 8 GiB.
"""
import argparse
import collections
import csv
import os
import pickle
import re
import resource
import sys

MOST_FILE = 512 << 20
MOST_MEMORY = 8 << 30
BLOCK = 512
COLUMNS = ("recording", "phase", "what", "bytes", "count", "operation")
PHASES = ("forward", "backward", "step")


class Refused(Exception):
    """What the file is not."""


class Reader(pickle.Unpickler):
    """Knows no classes, so that nothing is called."""

    def find_class(self, module, name):
        raise Refused(f"it asks for {module}.{name}")

    def persistent_load(self, pid):
        raise Refused("it refers to objects elsewhere")


def need(what, kind, text):
    # bool is an int, and no number here
    if not isinstance(what, kind) or isinstance(what, bool):
        raise Refused(text)
    return what


def number(row, key):
    value = need(row.get(key), int, f"`{key}` is not a number")
    if not 0 <= value < 1 << 64:
        raise Refused(f"`{key}` is out of range")
    return value


def frames(event):
    rows = need(event.get("frames", []), list, "`frames` are not a list")
    return [(str(row.get("filename", "")), str(row.get("name", "")),
             row.get("line", 0))
            for row in rows if isinstance(row, dict)]


def read(path):
    """The segments and the trace of the device that has one."""
    if os.path.getsize(path) > MOST_FILE:
        raise Refused("it has more than 512 MiB")
    with open(path, "rb") as file:
        try:
            snapshot = Reader(file).load()
        except Refused:
            raise
        except MemoryError:
            raise Refused("it takes more than 8 GiB") from None
        except Exception as error:  # whatever bytes make of an unpickler
            raise Refused(f"it is not a pickle ({error})") from None
    need(snapshot, dict, "it is not a snapshot: not a dict")
    segments = need(snapshot.get("segments"), list, "no list of segments")
    traces = need(snapshot.get("device_traces"), list, "no list of traces")
    recorded = [trace for trace in traces if trace]
    if len(recorded) != 1:
        raise Refused(f"{len(recorded)} devices have a history, not one")
    for row in segments + need(recorded[0], list, "a trace is not a list"):
        need(row, dict, "a row is not a dict")
    for event in recorded[0]:
        need(event.get("action"), str, "`action` is not a word")
        number(event, "addr")
        number(event, "size")
        frames(event)
    for segment in segments:
        number(segment, "total_size")
        for block in need(segment.get("blocks"), list, "no list of blocks"):
            need(block, dict, "a block is not a dict")
    return segments, recorded[0]


def phase_of(event):
    """By who asked: autograd's thread, the optimizer's step, or the model."""
    for file, name, _ in frames(event):
        if "autograd::Engine" in name:
            return "backward"
        if name == "step" and file.endswith(".py"):
            return "step"
    return "forward"


def is_workspace(event):
    return any("Workspace" in name for _, name, _ in frames(event))


HELPERS = re.compile(r"einops|torch/(functional|_tensor|_refs)|/nn/modules/")


def operation_of(event):
    """`einsum bmm, transformer.py:22`: the outermost and the innermost."""
    if is_workspace(event):
        return "workspace"
    names = [re.match(r"at::_ops::(\w+?)(?:_(?:Tensor|Scalar|dim\w*))*::", name)
             for _, name, _ in frames(event)]
    names = [match.group(1) for match in names if match]
    inner = [name for name in names if not name.startswith("empty")] or names
    place = [f"{os.path.basename(file)}:{line}"
             for file, _, line in frames(event)
             if file.endswith(".py") and not HELPERS.search(file)]
    text = " ".join(dict.fromkeys([names[-1], inner[0]])) if names else "?"
    return f"{text}, {place[0]}" if place else text


def rounded(size):
    return max(-(-size // BLOCK) * BLOCK, BLOCK)


class Run:
    """A recording, played from its beginning."""

    def __init__(self, segments, trace):
        self.segments = segments
        self.trace = trace
        self.end = {}  # of what is there: size and request, by address
        for segment in segments:
            for block in segment["blocks"]:
                if str(block.get("state", "")).startswith("active"):
                    self.end[number(block, "address")] = (
                        number(block, "size"), number(block, "requested_size"))
        # What was there when the recording began: the end, less the trace.
        there = {at: size for at, (_, size) in self.end.items()}
        for event in reversed(trace):
            if event["action"] == "alloc":
                there.pop(event["addr"], None)
            elif event["action"] == "free_completed":
                there[event["addr"]] = event["size"]
        self.start = there

    def play(self):
        """Yields each event, with places of what has come and is there."""
        live = {}
        for place, event in enumerate(self.trace):
            if event["action"] == "alloc":
                live[event["addr"]] = place
            elif event["action"] == "free_completed":
                live.pop(event["addr"], None)
            yield place, event, live


def levels(run):
    """The most allocated and reserved by phase, and what forward leaves."""
    allocated = sum(rounded(asked) for _, asked in run.end.values())
    reserved = sum(segment["total_size"] for segment in run.segments)
    for event in run.trace:
        action, size = event["action"], event["size"]
        if action == "segment_alloc":
            reserved -= size
        elif action == "segment_free":
            reserved += size
        elif action == "alloc":
            allocated -= rounded(size)
        elif action == "free_completed":
            allocated += rounded(size)
    peaks = {"start": [allocated, reserved]}
    phase, forward, workspaces = "forward", None, collections.Counter()
    live = {}
    for _, event, live in run.play():
        action, size = event["action"], event["size"]
        if action == "alloc":
            now = phase_of(event)
            if PHASES.index(now) > PHASES.index(phase):
                if phase == "forward":
                    forward = dict(live)
                    del forward[event["addr"]]
                phase = now
            allocated += rounded(size)
            if is_workspace(event):
                workspaces[phase, size] += 1
        elif action == "free_completed":
            allocated -= rounded(size)
        elif action == "segment_alloc":
            reserved += size
        elif action == "segment_free":
            reserved -= size
        if action in ("oom", "segment_map", "segment_unmap"):
            raise Refused(f"`{action}` is not followed")
        most = peaks.setdefault(phase, [0, 0])
        most[0] = max(most[0], allocated)
        most[1] = max(most[1], reserved)
    if forward is None:  # nothing came after it
        forward = dict(live)
    return peaks, forward, workspaces


def rows_of(name, run):
    peaks, forward, workspaces = levels(run)
    for phase, (allocated, reserved) in peaks.items():
        yield name, phase, "allocated", allocated, 1, ""
        yield name, phase, "reserved", reserved, 1, ""
    kept = collections.Counter(
        (run.trace[place]["size"], operation_of(run.trace[place]))
        for place in forward.values() if not is_workspace(run.trace[place]))
    for (size, operation), count in sorted(kept.items(), reverse=True):
        yield name, "forward", "live", size, count, operation
    for (phase, size), count in sorted(workspaces.items()):
        yield name, phase, "workspace", size, count, ""
    by_size = collections.Counter(
        segment["total_size"] for segment in run.segments)
    for size, count in sorted(by_size.items()):
        yield name, "end", "segment", size, count, ""
    rests = [size - rounded(asked) for size, asked in run.end.values()
             if size != rounded(asked)]
    yield name, "end", "rest", sum(rests), len(rests), ""


def requests_of(run):
    """Bytes, when it came (0: before) and when it went, in events."""
    rows = {}
    for at in sorted(run.start):
        rows[at] = [run.start[at], 0, ""]
    done = list(rows.values())
    for place, event, _ in run.play():
        at = event["addr"]
        if event["action"] == "alloc":
            rows[at] = [event["size"], place + 1, ""]
            done.append(rows[at])
        elif event["action"] == "free_completed" and at in rows:
            rows.pop(at)[2] = place + 1
    return done


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.pickle")
    parser.add_argument("--name", help="in place of the file's name")
    parser.add_argument("--requests", metavar="FILE.csv")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for path in given.files:
        name = given.name or os.path.splitext(os.path.basename(path))[0]
        try:
            run = Run(*read(path))
            writer.writerows(list(rows_of(name, run)))
            rows = requests_of(run) if given.requests else ()
        except (OSError, Refused) as error:
            sys.exit(f"{path}: {error}")
        if given.requests and path == given.files[0]:
            with open(given.requests, "w", encoding="utf-8") as file:
                out = csv.writer(file, lineterminator="\n")
                out.writerow(("bytes", "came", "went"))
                out.writerows(rows)


if __name__ == "__main__":
    main()
