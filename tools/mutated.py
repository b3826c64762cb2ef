#!/usr/bin/python3
"""Mutants of model files that keep their structure: mutated.py PROGRAM READER N SEED FILE..

Draws N mutants of the files and gives them to PROGRAM, which reads records (four bytes of
length, a byte for the reader, the file) from its standard input and answers each with four
bytes: tests/fuzz/each.c and import.c, linked with the objects of a SAN=1 build. READER is the
reader's name in import/kinds.def; or "netc": then PROGRAM is netc, and each FILE a command.
Text is changed by tokens: a number becomes another one, a word, string or line is copied,
moved or left out; JSON mostly by its values, so that it is JSON still. The members of a zip are changed and packed again, so that sizes and
checksums hold; a FlatBuffer is changed by its 32-bit words, a safetensors by the JSON of its
header, an HDF5 by the JSON of its net and by words that may be sizes or offsets. A mutant
that ends the program is written to mutant-READER-NUMBER.
"""
import copy
import functools
import io
import json
import os
import random
import re
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

NUMBERS = ["0", "1", "-1", "2", "3", "7", "255", "65536", "2147483647", "-2147483648",
           "4294967296", "9223372036854775807", "-9223372036854775808", "1e30", "-0.5", "1e-30"]
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=4000:"
                   "allocator_may_return_null=1")
WORDS = [0, 1, 2, 4, 8, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC]


@functools.lru_cache(maxsize=100)
def tokens_of(text):
    """Tokens, the places of numbers and of words among them, and lines."""
    tokens = re.findall(r"[A-Za-z_][\w.]*|-?\d+(?:\.\d+)?|\s+|.", text)
    return (tokens, [i for i, t in enumerate(tokens) if re.match(r"-?\d", t)],
            [i for i, t in enumerate(tokens) if re.match(r"[A-Za-z_]", t)],
            re.split(r"(?<=[\n{}\[\]>])", text))


def change_text(draw, text):
    """One change of a token or a line."""
    tokens, numbers, words, lines = tokens_of(text)
    if not tokens:
        return text
    tokens, kind = tokens[:], draw.random()
    at = draw.randrange(len(tokens))
    if kind < 0.4:
        if numbers:
            tokens[draw.choice(numbers)] = draw.choice(NUMBERS)
    elif kind < 0.6:
        if words:
            tokens[draw.choice(words)] = tokens[draw.choice(words)]
    elif kind < 0.7:
        del tokens[at:at + draw.randrange(1, 6)]
    elif kind < 0.8:
        tokens[at:at] = tokens[at:at + draw.randrange(1, 12)]
    else:
        lines, a, b = lines[:], draw.randrange(len(lines)), draw.randrange(len(lines))
        part = lines[a:a + draw.randrange(1, 4)]
        if kind < 0.9:
            lines[b:b] = part
        else:
            del lines[a:a + len(part)]
        return "".join(lines)
    return "".join(tokens)


def change_bytes(draw, data):
    """A 32-bit word becomes another one; rarely the end is cut off."""
    data = bytearray(data)
    if draw.random() < 0.05:
        return bytes(data[:draw.randrange(len(data) + 1)])
    at = draw.randrange(max(len(data) - 3, 1)) & ~3
    word = draw.choice(WORDS + [len(data), draw.randrange(1 << 32)])
    if draw.random() < 0.3 and len(data) >= at + 4:  # a near one: offsets
        word = struct.unpack_from("<I", data, at)[0] + draw.choice([-4, -1, 1, 4]) & 0xFFFFFFFF
    data[at:at + 4] = struct.pack("<I", word)
    return bytes(data)


def change_json(draw, text):
    """Another value for a member of an object or array, or one less or more; still JSON."""
    whole = json.loads(text)
    places, inner = [], [whole]
    while inner:
        values = inner.pop()
        places += [(values, key) for key in (values if isinstance(values, dict)
                                             else range(len(values)))]
        inner += [value for value in (values.values() if isinstance(values, dict) else values)
                  if isinstance(value, (dict, list))]
    values, key = draw.choice(places)
    other, of = draw.choice(places)
    kind = draw.random()
    if kind < 0.15:
        del values[key]
    elif kind < 0.3 and isinstance(values, list):
        values.insert(key, copy.deepcopy(other[of]))
    elif kind < 0.4:
        values[key] = draw.choice([None, True, [], {}, "", copy.deepcopy(other[of])])
    elif isinstance(values[key], str):
        values[key] = draw.choice([o[k] for o, k in places if isinstance(o[k], str)])
    else:
        values[key] = json.loads(draw.choice(NUMBERS))
    return json.dumps(whole)


def change_text_or_json(draw, text):
    try:
        return change_json(draw, text) if draw.random() < 0.7 else change_text(draw, text)
    except (ValueError, IndexError, TypeError):
        return change_text(draw, text)


def change_hdf5(draw, data):
    """Another text of the same length for the net's JSON, or another size, count or offset."""
    texts = [m.span() for m in re.finditer(rb'\{"[ -~]{99,}', data)]
    if texts and draw.random() < 0.6:
        start, end = draw.choice(texts)
        text = change_text_or_json(draw, data[start:end].decode())
        if len(text) > end - start:
            text = re.sub("([:,]) ", r"\1", text)[:end - start]
        return data[:start] + text.ljust(end - start).encode() + data[end:]
    words = struct.unpack_from(f"<{len(data) // 4}I", data)
    at = draw.choice([i for i, word in enumerate(words) if 0 < word <= len(data)] or [0])
    near = words[at] + draw.choice([-8, -4, -1, 1, 4, 8, 65536])
    word = draw.choice([near & 0xFFFFFFFF, draw.choice(words), draw.choice(WORDS)])
    return data[:at * 4] + struct.pack("<I", word) + data[at * 4 + 4:]


def is_text(data):
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def change(draw, data):
    if data[:4] == b"PK\3\4":
        old = zipfile.ZipFile(io.BytesIO(data))
        names = old.namelist()
        texts = [n for n in names if n.endswith(".json")] or names
        which, out = draw.choice(texts if draw.random() < 0.9 else names), io.BytesIO()
        with zipfile.ZipFile(out, "w") as new:
            for name in names:
                member = old.read(name)
                new.writestr(name, change(draw, member) if name == which else member)
        return out.getvalue()
    if data[:4] == b"\x89HDF":
        return change_hdf5(draw, data)
    if len(data) > 9 and data[8:9] == b"{" and not is_text(data[:8]):
        size = struct.unpack_from("<Q", data)[0]
        head = change_text_or_json(draw, data[8:8 + size].decode(errors="replace")).encode()
        size = len(head) if draw.random() < 0.9 else draw.choice(WORDS)
        return struct.pack("<Q", size) + head + data[8 + struct.unpack_from("<Q", data)[0]:]
    if is_text(data):
        return change_text_or_json(draw, data.decode()).encode()
    return change_bytes(draw, data)


def changed(draw, data):
    for _ in range(draw.choice([1, 1, 2, 3])):
        data = change(draw, data) or data
    return data


def read(path):
    with open(path, "rb") as file:
        return file.read()


def reader_byte(name):
    with open("import/kinds.def") as rows:
        names = re.findall(r'^READ\([^"]*"([^"]*)"', rows.read(), re.M)
    return names.index(name) if name in names else 1  # of tests/fuzz/files.c: tensors


class Records:
    """Mutants of files, as records of a process that reads them until one ends it."""

    def __init__(self, program, reader, paths):
        self.command, self.head = [program], reader_byte(reader)
        self.seeds = [read(path) for path in paths]
        self.running, self.record = None, b""

    def mutant(self, draw):
        mutant = changed(draw, draw.choice(self.seeds))
        self.record = bytes([self.head | draw.choice([0, 32, 64, 128, 160])]) + mutant

    def ended(self):
        """None, or the status and the errors of the process that the mutant has ended."""
        if self.running is None:
            self.running = subprocess.Popen(self.command, env=ENVIRONMENT, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running = self.running
        try:
            running.stdin.write(struct.pack("<I", len(self.record)) + self.record)
            running.stdin.flush()
            if len(running.stdout.read(4)) == 4:
                return None
        except BrokenPipeError:
            pass
        self.running = None
        return running.communicate()[1], running.returncode

    def keep(self, name):
        with open(name, "wb") as out:
            out.write(self.record)


class Commands:
    """Mutants in a copy of a folder; one process for each. The first word of a command that
    is a path is the model, FILE or FOLDER//FILE: the file is changed, or one of FOLDER."""

    def __init__(self, program, commands):
        self.program, self.top = program, tempfile.TemporaryDirectory()
        self.work = os.path.join(self.top.name, "model")
        self.seeds, self.words = [], []
        for words in map(shlex.split, commands):
            at = [i for i, word in enumerate(words) if "/" in word and os.path.exists(word)]
            whole = "//" in words[at[0]]
            folder = words[at[0]].split("//")[0] if whole else os.path.dirname(words[at[0]])
            names = [os.path.relpath(os.path.join(top, name), folder)
                     for top, _, inner in os.walk(folder) for name in inner] if whole else [
                         os.path.basename(words[at[0]])]
            for i in at:
                words[i] = words[i].replace(folder, self.work, 1)
            self.seeds.append((words, {name: read(os.path.join(folder, name)) for name in names}))

    def mutant(self, draw):
        self.words, files = draw.choice(self.seeds)
        which = draw.choice(sorted(files))
        shutil.rmtree(self.work, ignore_errors=True)
        for name, data in files.items():
            path = os.path.join(self.work, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(changed(draw, data) if name == which else data)

    def ended(self):
        """None, or the errors and the status, unless it is one of netc's own."""
        try:
            got = subprocess.run([self.program] + self.words, env=ENVIRONMENT, timeout=600,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(
                                     resource.RLIMIT_CPU, (60, 60)))
        except subprocess.TimeoutExpired:
            return b"", "ten minutes"
        bad = got.returncode not in (0, 1, 2, 3) or b"Sanitizer" in got.stderr
        return (got.stderr, got.returncode) if bad else None

    def keep(self, name):
        shutil.copytree(self.work, name)
        print(shlex.join(self.words))


def main():
    """Ctrl-C ends with the mutants so far."""
    program, reader, count, seed = sys.argv[1:5]
    draw, found, number, slowest = random.Random(int(seed)), 0, 0, (0.0, 0)
    tried = (Commands(program, sys.argv[5:]) if reader == "netc" else
             Records(program, reader, sys.argv[5:]))
    try:
        for number in range(int(count)):
            tried.mutant(draw)
            since = time.monotonic()
            ended = tried.ended()
            slowest = max(slowest, (time.monotonic() - since, number))
            if ended is None:
                continue
            name, found = f"mutant-{reader.replace(' ', '_')}-{number}", found + 1
            tried.keep(name)
            print(f"{name}: status {ended[1]}\n{ended[0].decode(errors='replace')[:3000]}")
            if found == 5:
                break
    except KeyboardInterrupt:
        pass
    print(f"{reader}: {number + 1} mutants of {len(tried.seeds)} files, {found} findings; "
          f"the slowest, {slowest[1]}, took {slowest[0]:.1f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
