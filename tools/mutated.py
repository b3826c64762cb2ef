#!/usr/bin/python3
"""Mutants of model files that keep their structure: mutated.py PROGRAM READER N SEED FILE..

Draws N mutants of the files and gives them to PROGRAM, which reads records (four bytes of
length, a byte for the reader, the file) from its standard input and answers each with four
bytes: tests/fuzz/each.c and import.c, linked with the objects of a SAN=1 build. READER is the
reader's name in import/kinds.def. Text is changed by tokens: a number becomes another one, a word, string or
line is copied, moved or left out. The members of a zip are changed and packed again, so that
sizes and checksums hold; a FlatBuffer is changed by its 32-bit words, a safetensors by the
JSON of its header. A mutant that ends the program is written to mutant-READER-NUMBER.
"""
import io
import os
import random
import re
import struct
import subprocess
import sys
import zipfile

NUMBERS = ["0", "1", "-1", "2", "3", "7", "255", "65536", "2147483647", "-2147483648",
           "4294967296", "9223372036854775807", "-9223372036854775808", "1e30", "-0.5", "1e-30"]
ASAN = "detect_leaks=0:hard_rss_limit_mb=4000:allocator_may_return_null=1"
WORDS = [0, 1, 2, 4, 8, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFC]


def change_text(draw, text):
    """One change of a token or a line."""
    tokens = re.findall(r"[A-Za-z_][\w.]*|-?\d+(?:\.\d+)?|\s+|.", text)
    if not tokens:
        return text
    kind = draw.random()
    at = draw.randrange(len(tokens))
    if kind < 0.4:
        numbers = [i for i, t in enumerate(tokens) if re.match(r"-?\d", t)]
        if numbers:
            tokens[draw.choice(numbers)] = draw.choice(NUMBERS)
    elif kind < 0.6:
        words = [i for i, t in enumerate(tokens) if re.match(r"[A-Za-z_]", t)]
        if words:
            tokens[draw.choice(words)] = tokens[draw.choice(words)]
    elif kind < 0.7:
        del tokens[at:at + draw.randrange(1, 6)]
    elif kind < 0.8:
        tokens[at:at] = tokens[at:at + draw.randrange(1, 12)]
    else:
        lines = re.split(r"(?<=[\n{}\[\]>])", text)
        a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
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
    if len(data) > 9 and data[8:9] == b"{" and not is_text(data[:8]):
        size = struct.unpack_from("<Q", data)[0]
        head = change_text(draw, data[8:8 + size].decode(errors="replace")).encode()
        size = len(head) if draw.random() < 0.9 else draw.choice(WORDS)
        return struct.pack("<Q", size) + head + data[8 + struct.unpack_from("<Q", data)[0]:]
    if is_text(data):
        return change_text(draw, data.decode()).encode()
    return change_bytes(draw, data)


def reader_byte(name):
    with open("import/kinds.def") as rows:
        names = re.findall(r'^READ\([^"]*"([^"]*)"', rows.read(), re.M)
    return names.index(name) if name in names else 1  # of tests/fuzz/files.c: tensors


def main():
    """Ctrl-C ends with the mutants so far."""
    program, reader, count, seed = sys.argv[1:5]
    draw = random.Random(int(seed))
    seeds = [open(path, "rb").read() for path in sys.argv[5:]]
    head, found, running = reader_byte(reader), 0, None
    number = 0
    try:
        for number in range(int(count)):
            mutant = draw.choice(seeds)
            for _ in range(draw.choice([1, 1, 2, 3])):
                mutant = change(draw, mutant) or mutant
            if running is None:
                running = subprocess.Popen(
                    [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, env=dict(os.environ, ASAN_OPTIONS=ASAN))
            record = bytes([head | draw.choice([0, 32, 64, 128])]) + mutant
            try:
                running.stdin.write(struct.pack("<I", len(record)) + record)
                running.stdin.flush()
                answer = running.stdout.read(4)
            except BrokenPipeError:
                answer = b""
            if len(answer) == 4:
                continue
            name, found = f"mutant-{reader.replace(' ', '_')}-{number}", found + 1
            with open(name, "wb") as out:
                out.write(record)
            error = running.stderr.read().decode(errors="replace")
            running.wait()
            print(f"{name}: status {running.returncode}\n{error[:3000]}")
            running = None
            if found == 5:
                break
    except KeyboardInterrupt:
        pass
    print(f"{reader}: {number + 1} mutants of {len(seeds)} files, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
