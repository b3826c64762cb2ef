#!/usr/bin/python3
"""pdf.py FILE...: prints the texts of PDFs, a line each; exits with 1 if a
font is not embedded, its file is none, or an object is not where the table says.
"""
import base64
import re
import struct
import sys
import zlib


def objects_of(data):
    start = int(re.search(rb"startxref\n(\d+)\n%%EOF\n$", data)[1])
    count = int(re.match(rb"xref\n0 (\d+)\n", data[start:])[1])
    offsets = re.findall(rb"(\d{10}) 00000 n \n", data[start:])
    assert len(offsets) == count - 1
    made = {}
    for number, offset in enumerate(map(int, offsets), 1):
        head = b"%d 0 obj\n" % number
        assert data[offset:].startswith(head), f"object {number}"
        made[number] = data[offset + len(head):data.index(b"\nendobj", offset)]
    return made


def stream_of(body):
    data = body[body.index(b"stream\n") + 7:-len(b"endstream")]
    assert int(re.search(rb"/Length (\d+)", body)[1]) == len(data)
    if b"/ASCII85Decode" in body:
        data = zlib.decompress(base64.a85decode(
            b"".join(data.split())[:-2]))
        assert int(re.search(rb"/Length1 (\d+)", body)[1]) == len(data)
    return data


def check_truetype(data):
    """Its sums are right, and it has the tables that a PDF asks for."""
    assert sum(struct.unpack(f">{len(data) // 4}I", data)) % 2**32 == \
        0xB1B0AFBA
    tags = {data[at:at + 4] for at in range(12, 12 + 16 * data[5], 16)}
    assert tags == {b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp"}


def characters_of(body):
    """By the number of a glyph."""
    made = {}
    for words in re.findall(rb"<(\w+)> <(\w+)> <(\w+)>\nend", stream_of(body)):
        first, last, point = (int(word, 16) for word in words)
        made.update((first + i, chr(point + i))
                    for i in range(last - first + 1))
    return made


def fonts_of(objects):
    for body in objects.values():
        assert b"/Type1" not in body and b"/Type3" not in body
        if b"/Subtype /Type0" in body:
            def follow(body, name):
                return objects[int(re.search(
                    rb"/%s \[?(\d+) 0 R" % name, body)[1])]
            parts = follow(body, b"DescendantFonts")
            file = follow(follow(parts, b"FontDescriptor"), b"FontFile2")
            check_truetype(stream_of(file))
            yield characters_of(follow(body, b"ToUnicode"))


def texts_of(data):
    objects = objects_of(data)
    fonts = list(fonts_of(objects))
    assert fonts
    for body in objects.values():
        for glyphs in re.findall(rb"^BT .*<(\w+)> Tj ET$", body, re.M):
            yield "".join(fonts[0][int(glyphs[i:i + 4], 16)]
                          for i in range(0, len(glyphs), 4))


for path in sys.argv[1:]:
    print("\n".join(texts_of(open(path, "rb").read())))
