#!/usr/bin/python3
"""font.py REGULAR.ttf BOLD.ttf >drawing/scene/sans.def: the glyphs that PDFs
embed, from Debian's fonts-liberation2 (LiberationSans-Regular and -Bold), as
rows of text. Instructions are left out, which a page at its size does not
need, and so is the name, which the licence reserves for the whole font.

GLYPH(code point, width, bold width), beyond ASCII OTHER, in the order of the
glyphs, from 1, then the bytes of both files, and LINE("...") of one after the
other: deflated, as ASCII85.
"""
import base64
import struct
import sys
import zlib

RANGES = ((0x20, 0x7E), (0xA0, 0xFF), (0x391, 0x3A1), (0x3A3, 0x3A9),
          (0x3B1, 0x3C9))
NAMES = map(ord, "ĆćČčĘęĚěĞğİıŁłŃńŇňŐőŒœŘřŚśŞşŠšŮůŰűŹźŻżŽž")  # of authors
OTHERS = (*NAMES, 0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026,
          0x20AC, 0x2190, 0x2191, 0x2192, 0x2193, 0x2212, 0x221A, 0x221E,
          0x2248, 0x2260, 0x2264, 0x2265)


class Font:
    def __init__(self, path):
        self.bytes = open(path, "rb").read()
        count, = struct.unpack_from(">H", self.bytes, 4)
        self.tables = {}
        for i in range(count):
            tag, _, at, size = struct.unpack_from(">4s3I", self.bytes,
                                                  12 + 16 * i)
            self.tables[tag.decode()] = self.bytes[at:at + size]
        self.units, = struct.unpack_from(">H", self.tables["head"], 18)
        self.metrics, = struct.unpack_from(">H", self.tables["hhea"], 34)
        long_offsets, = struct.unpack_from(">h", self.tables["head"], 50)
        glyphs, = struct.unpack_from(">H", self.tables["maxp"], 4)
        loca = self.tables["loca"]
        self.loca = struct.unpack_from(
            f">{glyphs + 1}{'I' if long_offsets else 'H'}", loca)
        if not long_offsets:
            self.loca = [2 * offset for offset in self.loca]
        self.points = dict(self.read_cmap())

    def read_cmap(self):
        cmap = self.tables["cmap"]
        for i in range(struct.unpack_from(">H", cmap, 2)[0]):
            *platform, at = struct.unpack_from(">2HI", cmap, 4 + 8 * i)
            if platform != [3, 1]:
                continue
            twice, = struct.unpack_from(">H", cmap, at + 6)
            n = twice // 2
            ends, starts, deltas, ranges = (
                struct.unpack_from(f">{n}H", cmap, at + 14 + k)
                for k in (0, twice + 2, 2 * twice + 2, 3 * twice + 2))
            for k in range(n):
                for point in range(starts[k], min(ends[k], 0xFFFE) + 1):
                    glyph = point
                    if ranges[k]:
                        glyph, = struct.unpack_from(
                            ">H", cmap, at + 16 + 3 * twice + 2 * k +
                            ranges[k] + 2 * (point - starts[k]))
                        if not glyph:
                            continue
                    yield point, (glyph + deltas[k]) & 0xFFFF

    def metric(self, glyph):
        at = 4 * min(glyph, self.metrics - 1)
        width, bearing = struct.unpack_from(">Hh", self.tables["hmtx"], at)
        if glyph >= self.metrics:
            bearing, = struct.unpack_from(
                ">h", self.tables["hmtx"],
                4 * self.metrics + 2 * (glyph - self.metrics))
        return width, bearing

    def width(self, point):
        return round(self.metric(self.points[point])[0] * 1000 / self.units)

    def outline(self, glyph):
        at, end = self.loca[glyph], self.loca[glyph + 1]
        return self.tables["glyf"][at:end]


def parts_of(outline):
    """The glyphs of a composite one, with the places of their numbers."""
    at, flags = 10, 0x20
    while flags & 0x20:
        flags, glyph = struct.unpack_from(">2H", outline, at)
        yield at, glyph
        at += 4 + (4 if flags & 1 else 2)
        at += 2 if flags & 8 else 4 if flags & 0x40 else 8 if flags & 0x80 \
            else 0
    yield at, None


def bare(outline, numbers):
    """Without instructions; parts have the numbers of the subset."""
    if not outline:
        return b""
    contours, = struct.unpack_from(">h", outline)
    if contours >= 0:
        at = 10 + 2 * contours
        size, = struct.unpack_from(">H", outline, at)
        return outline[:at] + b"\0\0" + outline[at + 2 + size:]
    *parts, (end, _) = parts_of(outline)
    made = bytearray(outline[:end])
    for at, glyph in parts:
        flags, = struct.unpack_from(">H", made, at)
        struct.pack_into(">2H", made, at, flags & ~0x100, numbers[glyph])
    return bytes(made)


def padded(data, to=4):
    return data + bytes(-len(data) % to)


def checksum(data):
    return sum(struct.unpack(f">{len(padded(data)) // 4}I",
                             padded(data))) & 0xFFFFFFFF


def file_of(tables):
    """A TrueType file; the sum of the whole is in none of its sums."""
    count = len(tables)
    power = count.bit_length() - 1
    head = struct.pack(">I4H", 0x10000, count, 16 << power, power,
                       16 * count - (16 << power))
    at, body = 12 + 16 * count, b""
    for tag, data in sorted(tables.items()):
        summed = data[:8] + bytes(4) + data[12:] if tag == "head" else data
        head += struct.pack(">4s3I", tag.encode(), checksum(summed),
                            at + len(body), len(data))
        body += padded(data)
    return head + body


def subset(font, points):
    glyphs = [0] + [font.points[point] for point in points]
    for glyph in glyphs:  # grows by the parts of composite ones
        outline = font.outline(glyph)
        if outline[:2] == b"\xff\xff":
            glyphs += [part for _, part in parts_of(outline)
                       if part is not None and part not in glyphs]
    numbers = {glyph: number for number, glyph in enumerate(glyphs)}
    glyf, loca = b"", [0]
    for glyph in glyphs:
        glyf += padded(bare(font.outline(glyph), numbers), 2)
        loca.append(len(glyf) // 2)
    head, hhea, maxp = (bytearray(font.tables[tag])
                        for tag in ("head", "hhea", "maxp"))
    struct.pack_into(">I", head, 8, 0)
    struct.pack_into(">h", head, 50, 0)
    struct.pack_into(">H", hhea, 34, len(glyphs))
    struct.pack_into(">H", maxp, 4, len(glyphs))
    struct.pack_into(">6H", maxp, 14, 1, 0, 0, 0, 0, 0)
    struct.pack_into(">H", maxp, 26, 0)
    tables = {"glyf": glyf, "head": bytes(head), "hhea": bytes(hhea),
              "hmtx": b"".join(struct.pack(">Hh", *font.metric(g))
                               for g in glyphs),
              "loca": struct.pack(f">{len(loca)}H", *loca),
              "maxp": bytes(maxp)}
    whole = (0xB1B0AFBA - checksum(file_of(tables))) & 0xFFFFFFFF
    struct.pack_into(">I", head, 8, whole)
    tables["head"] = bytes(head)
    return file_of(tables)


def put_file(data):
    """Lines of at most 64 letters, in 80 columns of C. The end is in one."""
    text = base64.a85encode(zlib.compress(data, 9)).decode()
    line = ""
    for letter in [*text, "~>"]:
        escaped = "\\" + letter if letter in '"\\?' else letter
        if len(line) + len(escaped) > 64:
            print(f'LINE("{line}")')
            line = ""
        line += escaped
    print(f'LINE("{line}")')


def main():
    fonts = [Font(path) for path in sys.argv[1:]]
    points = [point for first, last in RANGES
              for point in range(first, last + 1)] + list(OTHERS)
    points = sorted(p for p in points if all(p in f.points for f in fonts))
    print("/*\n * Made by tools/font.py from Liberation Sans 2.1.5: LICENSE. "
          "Do not edit.\n */")
    for point in points:
        print(f"{'GLYPH' if point < 0x80 else 'OTHER'}(0x{point:04X}, "
              f"{', '.join(str(font.width(point)) for font in fonts)})")
    files = [subset(font, points) for font in fonts]
    print(f"FILES({', '.join(str(len(file)) for file in files)})")
    for file in files:
        put_file(file)


main()
