#!/usr/bin/env python3
"""Turn an X window dump (xwd, 24 or 32 bits a pixel, true colour) into a PNG.

usage: xwd_to_png.py IN.xwd OUT.png
"""
import struct
import sys
import zlib

FIELDS = ("header_size file_version pixmap_format pixmap_depth pixmap_width pixmap_height xoffset byte_order bitmap_unit "
          "bitmap_bit_order bitmap_pad bits_per_pixel bytes_per_line visual_class red_mask green_mask blue_mask bits_per_rgb "
          "colormap_entries ncolors").split()


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def main():
    raw = open(sys.argv[1], "rb").read()
    head = dict(zip(FIELDS, struct.unpack(f">{len(FIELDS)}I", raw[:4 * len(FIELDS)])))
    # 24 where windows of several visuals are on the screen.
    if head["bits_per_pixel"] not in (24, 32) or head["byte_order"] != 0:
        sys.exit(f"{sys.argv[1]}: needs 24 or 32 bits a pixel, least significant byte first")
    at = head["header_size"] + 12 * head["ncolors"]
    width, height = head["pixmap_width"], head["pixmap_height"]
    step = head["bits_per_pixel"] // 8
    rows = bytearray()
    for y in range(height):
        line = raw[at + y * head["bytes_per_line"]:][:step * width]
        pixels = bytearray(3 * width)
        pixels[0::3], pixels[1::3], pixels[2::3] = line[2::step], line[1::step], line[0::step]
        rows += b"\0" + pixels
    with open(sys.argv[2], "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                  + chunk(b"IDAT", zlib.compress(bytes(rows), 6)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    main()
