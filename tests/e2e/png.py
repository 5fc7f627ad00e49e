"""png.py FILE [--expect dark|light] [--hues N]: a screenshot is not blank: its ground is dark or light, and so many different
hues are drawn on it. Prints what it found; exit status 1 if that is not what is expected."""

import argparse
import colorsys
import struct
import sys
import zlib


def unfilter(kind, row, above, step):
    """One row of a PNG as it was before filtering (PNG specification, 9.2)."""
    out = bytearray(row)
    for i in range(len(out)):
        left = out[i - step] if i >= step else 0
        up = above[i]
        if kind == 1:
            out[i] = (out[i] + left) & 255
        elif kind == 2:
            out[i] = (out[i] + up) & 255
        elif kind == 3:
            out[i] = (out[i] + (left + up) // 2) & 255
        elif kind == 4:
            corner = above[i - step] if i >= step else 0
            guess = left + up - corner
            apart = (abs(guess - left), abs(guess - up), abs(guess - corner))
            out[i] = (out[i] + (left, up, corner)[apart.index(min(apart))]) & 255
    return out


def rows_of(data):
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit("not a PNG")
    at, packed, shape = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            shape = struct.unpack(">IIBB", data[at + 8:at + 18])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    width, height, depth, colour = shape
    step = {2: 3, 6: 4}[colour]
    if depth != 8:
        sys.exit("not eight bits a colour")
    raw = zlib.decompress(packed)
    above = bytes(width * step)
    for y in range(height):
        begin = y * (width * step + 1)
        above = unfilter(raw[begin], raw[begin + 1:begin + 1 + width * step], above, step)
        yield width, step, above


def main():
    options = argparse.ArgumentParser()
    options.add_argument("file")
    options.add_argument("--expect", choices=("dark", "light"))
    options.add_argument("--hues", type=int, default=0)
    asked = options.parse_args()
    counts, hues = {}, {}
    with open(asked.file, "rb") as file:
        for width, step, row in rows_of(file.read()):
            for x in range(0, width, 2):
                colour = bytes(row[x * step:x * step + 3])
                counts[colour] = counts.get(colour, 0) + 1
    for colour, count in counts.items():
        hue, lightness, saturation = colorsys.rgb_to_hls(*(part / 255 for part in colour))
        if saturation > 0.4 and 0.2 < lightness < 0.85:
            hues[int(hue * 24)] = hues.get(int(hue * 24), 0) + count
    ground = max(counts, key=counts.get)
    drawn = [hue for hue, count in hues.items() if count >= 40]
    light = sum(ground) > 3 * 128
    print(f"{len(counts)} colours, ground {ground.hex()}, {len(drawn)} hues")
    wrong = (asked.expect and light != (asked.expect == "light")) or len(drawn) < asked.hues
    sys.exit(1 if wrong else 0)


main()
