#!/usr/bin/env python3
"""Writes the seeds of the fuzzers: small files that use every part of the formats."""
import base64
import gzip
import io
import json
import os
import struct
import zipfile
import zlib

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def save(folder, name, data):
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    with open(os.path.join(HERE, folder, name), "wb") as file:
        file.write(data)


# ---- protobuf ----------------------------------------------------------------------------------

def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """An integer, a float, or bytes (texts and messages)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*fields):
    return b"".join(field(number, value) for number, value in fields)


def packed(values):
    return b"".join(varint(v) for v in values)


def tensor(name, kind, dims, *data):
    return message((1, packed(dims)), (2, kind), (8, name), *data)


def value_info(name, kind, dims):
    shape = b"".join(field(1, message((1, d) if isinstance(d, int) else (2, d))) for d in dims)
    return message((1, name), (2, message((1, message((1, kind), (2, shape))))))


def node(op, inputs, outputs, *attributes):
    fields = [(1, i) for i in inputs] + [(2, o) for o in outputs] + [(4, op)]
    return message(*fields, *[(5, a) for a in attributes])


def graph(nodes, initializers=(), inputs=(), outputs=(), sparse=()):
    return message(*[(1, n) for n in nodes], (2, "g"), *[(5, t) for t in initializers],
                   *[(11, i) for i in inputs], *[(12, o) for o in outputs],
                   *[(15, s) for s in sparse])


def model(body, *more):
    return message((1, 8), (2, "seed"), (7, body), (8, message((1, ""), (2, 17))), *more)


def onnx_seeds():
    y = value_info("y", 1, ["n", 2])
    floats = struct.pack("<2f", 1, 2)
    save("onnx", "relu", model(graph([node("Relu", ["x"], ["y"])], inputs=[value_info("x", 1, ["n", 2])],
                                     outputs=[y])))
    tensors = [
        tensor("raw", 1, [2], (9, floats)),
        tensor("float", 1, [2], (4, floats)),
        tensor("half", 10, [2], (5, packed([0x3C00, 0]))),
        tensor("int", 6, [2], (5, packed([1, -1]))),
        tensor("long", 7, [2], (7, packed([1, -1]))),
        tensor("double", 11, [1], (10, struct.pack("<d", 1))),
        tensor("unsigned", 13, [1], (11, packed([7]))),
        tensor("bool", 9, [2], (5, packed([0, 1]))),
        tensor("text", 8, [2], (6, "a"), (6, "b")),
        tensor("int4", 22, [3], (9, b"\x21\x03")),
        tensor("fp8", 17, [2], (9, b"\x38\x40")),
        tensor("external", 1, [2], (13, message((1, "location"), (2, "w.bin"))),
               (13, message((1, "offset"), (2, "16"))), (14, 1)),
    ]
    save("onnx", "initializers", model(graph([], tensors[:-1], outputs=[y])))
    save("onnx", "external", model(graph([], tensors[-1:], outputs=[y])))
    sparse = message((1, tensor("s", 1, [2], (9, floats))), (2, tensor("", 7, [2], (7, packed([0, 3])))),
                     (3, packed([2, 2])))
    save("onnx", "sparse", model(graph([], outputs=[y], sparse=[sparse])))
    branch = graph([node("Identity", ["x"], ["r"])], outputs=[value_info("r", 1, [2])])
    attributes = [
        message((1, "then_branch"), (6, branch), (20, 5)),
        message((1, "f"), (2, 0.5), (20, 1)),
        message((1, "i"), (3, 3), (20, 2)),
        message((1, "s"), (4, "text"), (20, 3)),
        message((1, "t"), (5, tensors[0]), (20, 4)),
        message((1, "fs"), (7, floats), (20, 6)),
        message((1, "is"), (8, packed([1, 2])), (20, 7)),
        message((1, "ss"), (9, "a"), (9, "b"), (20, 8)),
    ]
    save("onnx", "attributes", model(graph([node("If", ["c"], ["y"], *attributes)], outputs=[y])))
    function = message((1, "f"), (4, "x"), (5, "y"), (6, "a"), (7, node("Relu", ["x"], ["y"])),
                       (9, message((2, 17))), (10, "own"))
    save("onnx", "function", model(graph([node("f", ["x"], ["y"])], outputs=[y]), (25, function)))
    types = [message((1, "s"), (2, message((4, message((1, message((1, message((1, 1))))))))))]
    save("onnx", "sequence_type", model(graph([], inputs=types, outputs=[y])))
    save("onnx", "sequence", message((1, "s"), (2, 1), (3, tensors[0]), (3, tensors[1])))
    save("onnx", "tensor", tensors[0])


# ---- NumPy -------------------------------------------------------------------------------------

def array(code, shape, data, fortran=False, version=1):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (code, fortran, shape)
    start = 10 if version == 1 else 12
    header = header.ljust(-(-(len(header) + start + 1) // 64) * 64 - start - 1) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def npy_seeds():
    floats = struct.pack("<6f", *range(6))
    arrays = {
        "float": array("<f4", (6,), floats),
        "matrix": array("<f4", (2, 3), floats),
        "columns": array("<f4", (2, 3), floats, fortran=True),
        "big": array(">i2", (2,), b"\x00\x01\x00\x02"),
        "bool": array("|b1", (3,), b"\x00\x01\x02"),
        "scalar": array("<i8", (), struct.pack("<q", 5)),
        "version2": array("<u2", (2,), b"\x01\x00\x02\x00", version=2),
    }
    for name, data in arrays.items():
        save("npy", name + ".npy", data)
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            for entry in ("float", "matrix"):
                info = zipfile.ZipInfo(entry + ".npy", (1980, 1, 1, 0, 0, 0))
                info.compress_type = method
                with archive.open(info, "w", force_zip64=True) as file:
                    file.write(arrays[entry])
        save("npy", name + ".npz", out.getvalue())


# ---- safetensors -------------------------------------------------------------------------------

def safetensors(header, data=b""):
    return struct.pack("<Q", len(header)) + header.encode() + data


def safetensors_seeds():
    entry = '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}'
    floats = struct.pack("<6f", *range(6))
    tensors = [entry % ("weight", "F32", "2,3", 0, 24), entry % ("step", "I64", "", 24, 32),
               entry % ("mask", "BOOL", "3", 32, 35), entry % ("none", "F16", "0,4", 35, 35)]
    data = floats + struct.pack("<q", 7) + b"\0\1\1"
    save("safetensors", "empty", safetensors("{}"))
    save("safetensors", "tensors", safetensors("{%s}  " % ",".join(tensors), data))
    save("safetensors", "metadata", safetensors(
        '{"__metadata__":{"format":"pt","epoch":"3"},%s}' % (entry % ("w", "F8_E4M3", "2", 0, 2)),
        b"\x38\x40"))
    save("safetensors", "unknown_field", safetensors(
        '{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":{"a":[1,null]}}}', b"\7"))


# ---- GGUF --------------------------------------------------------------------------------------

def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf(values, tensors, data=b"", version=3, alignment=32):
    """Values are (name, type, bytes), tensors (name, sizes, type, offset)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values))
    for name, kind, value in values:
        out += gguf_text(name) + struct.pack("<I", kind) + value
    for name, sizes, kind, offset in tensors:
        out += gguf_text(name) + struct.pack("<I%dQIQ" % len(sizes), len(sizes), *sizes, kind, offset)
    return out + b"\0" * (-len(out) % alignment) + data


def gguf_array(kind, size, elements):
    return struct.pack("<IQ", kind, size) + elements


def gguf_seeds():
    formats = "BbHhIif?"
    values = [(f, i, struct.pack("<" + f, 1)) for i, f in enumerate(formats)]
    values += [("text", 8, gguf_text("hello")), ("Q", 10, struct.pack("<Q", 1)),
               ("q", 11, struct.pack("<q", -1)), ("d", 12, struct.pack("<d", 0.5))]
    inner = gguf_array(0, 2, b"ab") + gguf_array(7, 1, b"\1")
    values += [("texts", 9, gguf_array(8, 2, gguf_text("a") + gguf_text(""))),
               ("numbers", 9, gguf_array(5, 3, struct.pack("<3i", 1, 2, 3))),
               ("nested", 9, gguf_array(9, 2, inner))]
    save("gguf", "values", gguf(values, []))
    floats = struct.pack("<6f", *range(6))
    save("gguf", "plain", gguf([], [("w", (3, 2), 0, 0), ("h", (2,), 1, 32), ("s", (), 27, 64)],
                               floats + b"\0" * 8 + b"\0\x3c\0\x40" + b"\0" * 28 + b"\1" * 8))
    save("gguf", "blocks", gguf([("general.alignment", 4, struct.pack("<I", 8))],
                                [("a", (32, 2), 2, 0), ("b", (256,), 12, 40), ("c", (32,), 39, 184),
                                 ("d", (256,), 16, 208)], bytes(range(256)) + b"\7" * 24,
                                version=2, alignment=8))
    big = b"GGUF" + struct.pack(">IQQ", 3, 1, 1)
    big += struct.pack(">Q", 1) + b"n" + struct.pack(">IH", 2, 258)
    big += struct.pack(">Q", 1) + b"w" + struct.pack(">IQIQ", 1, 2, 0, 0)
    save("gguf", "big", big + b"\0" * (-len(big) % 32) + struct.pack(">2f", 1, 2))


# ---- IDX ---------------------------------------------------------------------------------------

def idx(code, sizes, data):
    return bytes([0, 0, code, len(sizes)]) + b"".join(struct.pack(">I", s) for s in sizes) + data


def idx_seeds():
    images = idx(8, [2, 2, 3], bytes(range(12)))
    save("idx", "bytes", images)
    save("idx", "doubles", idx(14, [2], struct.pack(">2d", 1, -2)))
    save("idx", "ints", idx(12, [1, 2], struct.pack(">2i", 1, -2)))
    save("idx", "packed", gzip.compress(images, mtime=0))
    save("idx", "members", gzip.compress(images[:9], mtime=0) + gzip.compress(images[9:], mtime=0))


# ---- pictures ----------------------------------------------------------------------------------

def png(width, height, depth, colour, rows, *chunks, interlace=0):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    packed = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(*c) for c in chunks) +
            chunk(b"IDAT", packed) + chunk(b"IEND", b""))


# Nothing in Python's own library writes JPEG: 9 x 10 pixels, written by libjpeg.
JPEGS = {
    "baseline":
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4n"
        "ICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIy"
        "MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAKAAkDASIAAhEBAxEB/8QAFgABAQEAAAAA"
        "AAAAAAAAAAAABwQI/8QAIxAAAQEFCQAAAAAAAAAAAAAAAQADBAchUQYRFiMzQVWU0v/EABUBAQEAAAAAAAAA"
        "AAAAAAAAAAAC/8QAHhEAAQQBBQAAAAAAAAAAAAAAAQACAxETBBJxgcH/2gAMAwEAAhEDEQA/AJoWuGjKiXMS"
        "We5Zy7LP0j6FoGTIbLPFwoFGojmfWJ+3q0jdGLyNJ4NeFf/Z",
    "progressive":
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4n"
        "ICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIy"
        "MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wgARCAAKAAkDASIAAhEBAxEB/8QAFgABAQEAAAAA"
        "AAAAAAAAAAAABgMH/8QAFQEBAQAAAAAAAAAAAAAAAAAAAAL/2gAMAwEAAhADEAAAAZLj+dy//8QAGRAAAgMB"
        "AAAAAAAAAAAAAAAAAAUCBBAU/9oACAEBAAEFAlcDprivP//EABcRAAMBAAAAAAAAAAAAAAAAAAABAkL/2gAI"
        "AQMBAT8BlzpH/8QAGREAAgMBAAAAAAAAAAAAAAAAAQIAAxEy/9oACAECAQE/AbFc8nJ//8QAGRAAAgMBAAAA"
        "AAAAAAAAAAAAAAECEDOS/9oACAEBAAY/Akaw6Qq//8QAFxAAAwEAAAAAAAAAAAAAAAAAABDB8P/aAAgBAQAB"
        "PyE+Ir//2gAMAwEAAgADAAAAENv/xAAYEQEBAAMAAAAAAAAAAAAAAAABEQBxwf/aAAgBAwEBPxAFo6Zxz//E"
        "ABYRAQEBAAAAAAAAAAAAAAAAABEAof/aAAgBAgEBPxAHM3//xAAZEAACAwEAAAAAAAAAAAAAAAABUQAQQRH/"
        "2gAIAQEAAT8QSVLAGBk4EJ//2Q==",
    "grey":
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4n"
        "ICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAAKAAkBAREA/8QAFgABAQEAAAAAAAAAAAAAAAAABgQH"
        "/8QAHhAAAgEDBQAAAAAAAAAAAAAAAAEFBBEhFCIyUWH/2gAIAQEAAD8AzCEoOOBRoPCKES24Qosukf/Z",
}


# The same of WebP and JPEG 2000, written by Pillow.  But for the lossy ones sample i is 37 i modulo
# 256 (of deep.jp2 a list, of tiles.j2k i): 5 x 4 pixels, and 20 x 12 of tiles.
PACKED_PICTURES = {
    "colours.webp":
        "UklGRigAAABXRUJQVlA4TBwAAAAvBMAAAM1lRP8DhNlGNHsdXP0JTmG2pySiAWA8",
    "alpha.webp":
        "UklGRjAAAABXRUJQVlA4TCQAAAAvBMAAEM1lRP/DQJBtQ3PjI97lCs1sT4lAIFEOZsRBIith/AA=",
    "lossy.webp":
        "UklGRjgAAABXRUJQVlA4ICwAAACwAQCdASoJAAcAAsBMJaACdLoAAAAAAOyPwrFP8W0joUyH/xDnEFtR1iAAAA==",
    "lossy_alpha.webp":
        "UklGRlwAAABXRUJQVlA4WAoAAAAQAAAACAAABgAAQUxQSAoAAAABB1CPiAhERP8DVlA4ICwAAACwAQCdASoJAAcA"
        "AsBMJaACdLoAAAAAAOyPwrFP8W0joUyH/xDnEFtR1iAAAA==",
    "moves.webp":
        "UklGRroAAABXRUJQVlA4WAoAAAACAAAABAAAAwAAQU5JTQYAAAAAAAAAAABBTk1GYAAAAAAAAAAAAAQAAAMAAAAA"
        "AAJWUDhMRwAAAC8EwAAAn2CkbSRcdvQEvH+PlxdBpG2bGi07PZG2bQyXjd7S5/8HDtcD9AOQZVrgFwAK2zZSQ8f4"
        "/BH9D8hriwfW8y2T+sdRAEFOTUYmAAAAAAAAAAAABAAAAwAAAAAAAFZQOEwOAAAALwTAAAAHEBH9D0RE/wM=",
    "grey.jp2":
        "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABAAAAAUAAQcHAAAAAAAP"
        "Y29scgEAAAAAABEAAACyanAyY/9P/1EAKQAAAAAABQAAAAQAAAAAAAAAAAAAAAUAAAAEAAAAAAAAAAAAAQcBAf9S"
        "AAwAAAABAAIEBAAB/1wACkBASEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS4z/5AA"
        "CgAAAAAAOgAB/5PD5wYIwr/B84GPtA4/ACAIAwhPBFfH2gk/AHj8AMAEWvZ/BNetCZJMdQOX9//Z",
    "grey_alpha.jp2":
        "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAABDanAyaAAAABZpaGRyAAAABAAAAAUAAgcHAAAAAAAP"
        "Y29scgEAAAAAABEAAAAWY2RlZgACAAAAAAABAAEAAQAAAAAA1WpwMmP/T/9RACwAAAAAAAUAAAAEAAAAAAAAAAAA"
        "AAAFAAAABAAAAAAAAAAAAAIHAQEHAQH/UgAMAAAAAQACBAQAAf9cAApAQEhIUEhIUP9kACUAAUNyZWF0ZWQgYnkg"
        "T3BlbkpQRUcgdmVyc2lvbiAyLjUuM/+QAAoAAAAAAFoAAf+TwfICCB/B8gMI/X/A+QDH2gcH1AIEACsPCKPtAwAL"
        "RFvH2gcfaDz8wMADsl8ACdzWMxnvD94/z8AOfgDx+AGADhjfAg5XDRIHLQIYP//Z",
    "colours.jp2":
        "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABAAAAAUAAwcHAAAAAAAP"
        "Y29scgEAAAAAABAAAAEGanAyY/9P/1EALwAAAAAABQAAAAQAAAAAAAAAAAAAAAUAAAAEAAAAAAAAAAAAAwcBAQcB"
        "AQcBAf9SAAwAAAABAAIEBAAB/1wACkBASEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIu"
        "NS4z/5AACgAAAAAAiAAB/5PH1AYFoU/B8gIFvMPnBADLwPkAx9oHD7QIBwA4HwWHw+oCj7QOH2gQBX8D7uIAJ6Pt"
        "AwAKkOfPwBJ+APD7QIAKTxPPEXC5xGqPqwVfz8ASPtCJ+YGABFdbPwwc9OU26DM/DDztz8AOPtB5+YGAA7JhBMYN"
        "Vun/Xw/0v//Z",
    "alpha.jp2":
        "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAABPanAyaAAAABZpaGRyAAAABAAAAAUABAcHAAAAAAAP"
        "Y29scgEAAAAAABAAAAAiY2RlZgAEAAAAAAABAAEAAAACAAIAAAADAAMAAQAAAAABNGpwMmP/T/9RADIAAAAAAAUA"
        "AAAEAAAAAAAAAAAAAAAFAAAABAAAAAAAAAAAAAQHAQEHAQEHAQEHAQH/UgAMAAAAAQACBAQAAf9cAApAQEhIUEhI"
        "UP9kACUAAUNyZWF0ZWQgYnkgT3BlbkpQRUcgdmVyc2lvbiAyLjUuM/+QAAoAAAAAALMAAf+Tw+cEDB/B8gMJy3/B"
        "8gIKf8PnBAV7wfOBj7QOPwAgCAOY8wRXwPkAx9oHD7QIBwCM3wWHwfOBh9QHB9QCBwpzHwej7QMACsObz8AWfgDx"
        "+AGAAJ+J/38Ez+C+O525EJK/z8ASfgER+AGAA9En5Q+GMXgy11NfDAqTz8ASfgDx+AGABFqUNwtnnfl8dRULr8/P"
        "wBI+0Hj8AIAKW0ZPBLm4skP/fwL9/9k=",
    "colours.j2k":
        "/0//UQAvAAAAAAAFAAAABAAAAAAAAAAAAAAABQAAAAQAAAAAAAAAAAADBwEBBwEBBwEB/1IADAAAAAEAAgQEAAH/"
        "XAAKQEBISFBISFD/ZAAlAAFDcmVhdGVkIGJ5IE9wZW5KUEVHIHZlcnNpb24gMi41LjP/kAAKAAAAAACIAAH/k8fU"
        "BgWhT8HyAgW8w+cEAMvA+QDH2gcPtAgHADgfBYfD6gKPtA4faBAFfwPu4gAno+0DAAqQ58/AEn4A8PtAgApPE88R"
        "cLnEao+rBV/PwBI+0In5gYAEV1s/DBz05TboMz8MPO3PwA4+0Hn5gYADsmEExg1W6f9fD/S//9k=",
    "deep.jp2":
        "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAAAgAAAAMAAQ8HAAAAAAAP"
        "Y29scgEAAAAAABEAAACianAyY/9P/1EAKQAAAAAAAwAAAAIAAAAAAAAAAAAAAAMAAAACAAAAAAAAAAAAAQ8BAf9S"
        "AAwAAAABAAEEBAAB/1wAB0CAiIiQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS4z/5AACgAA"
        "AAAALQAB/5PP/DAUBxd5V8vH/hgHP/EgWP9iQEADbx8LyAe2CQjg/9k=",
    "ycc.jp2":
        "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABAAAAAUAAwcHAAAAAAAP"
        "Y29scgEAAAAAABIAAAEGanAyY/9P/1EALwAAAAAABQAAAAQAAAAAAAAAAAAAAAUAAAAEAAAAAAAAAAAAAwcBAQcB"
        "AQcBAf9SAAwAAAABAAIEBAAB/1wACkBASEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIu"
        "NS4z/5AACgAAAAAAiAAB/5PH1AYFoU/B8gIFvMPnBADLwPkAx9oHD7QIBwA4HwWHw+oCj7QOH2gQBX8D7uIAJ6Pt"
        "AwAKkOfPwBJ+APD7QIAKTxPPEXC5xGqPqwVfz8ASPtCJ+YGABFdbPwwc9OU26DM/DDztz8AOPtB5+YGAA7JhBMYN"
        "Vun/Xw/0v//Z",
    "tiles.j2k":
        "/0//UQApAAAAAAAUAAAADAAAAAAAAAAAAAAACAAAAAgAAAAAAAAAAAABBwEB/1IADAAAAAEAAwQEAAD/XAAXQmc4"
        "Z1BnUGdoUAVQBVBHV9NX01di/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS4z/5AACgAAAAAA"
        "NwAB/5PH7AQG38AfICh+YEAAPwQ5wB0KH2goDPcLPXoAf6B84gADf9MYbxEbP/+QAAoAAQAAADgAAf+Tx+wGByB/"
        "wB8gKH5gQAA/BDnAHQofaCgM9ws9egB/oHziAAN/0xhvERs//5AACgACAAAALAAB/5PH7AQHg8PzAgQ5wB0GH2gY"
        "AQuUj6B84YADd67BGW//kAAKAAMAAAAsAAH/k8PzAgBwwB8gIAA/wB0GH2gYCgJnf6B84UALQXNtYP+QAAoABAAA"
        "ACwAAf+Tx+wEBHfAHyAgAD/AHQYfaBgKAmd/oHzhQAtBc21g/5AACgAFAAAAJQAB/5PH7AQEFIDAHQYfaBABBBeg"
        "fOEACz3sz//Z",
}


def bmp(width, height, bits, rows, packing=0, extra=b"", header=40, colours=0):
    """`extra` is what stands before the pixels: masks or a palette."""
    sizes = (struct.pack("<HHHH", width, height, 1, bits) if header == 12 else
             struct.pack("<iiHHIIiiII", width, height, 1, bits, packing, 0, 0, 0, colours, 0))
    # Longer headers hold the masks themselves.
    body = struct.pack("<I", header) + (sizes + extra).ljust(header - 4, b"\0")
    start = 14 + len(body)
    if packing in (1, 2):
        pixels = rows
    else:
        pixels = b"".join(row + bytes(-len(row) % 4) for row in rows)
    return b"BM" + struct.pack("<IHHI", start + len(pixels), 0, 0, start) + body + pixels


def tiff(order, entries, pixels):
    """A file of one picture: {tag: numbers}; tag 273 or 324, where its pixels are, is added."""
    where = 324 if 322 in entries else 273
    count = 325 if where == 324 else 279
    entries = {**entries, where: [0], count: [len(pixels)]}
    start = 8 + 2 + 12 * len(entries) + 4
    beside = b""
    table = b""
    for tag, numbers in sorted(entries.items()):
        if tag == where:
            numbers = [8 + 2 + 12 * len(entries) + 4 + sum(
                2 * len(n) for n in entries.values() if len(n) > 2)]
        kind = 4 if tag in (where, count) else 3
        data = struct.pack(order + "%d%s" % (len(numbers), "HI"[kind == 4]), *numbers)
        if len(data) > 4:
            data, beside = struct.pack(order + "I", start + len(beside)), beside + data
        table += struct.pack(order + "HHI", tag, kind, len(numbers)) + data.ljust(4, b"\0")
    mark = b"II" if order == "<" else b"MM"
    return (mark + struct.pack(order + "HI", 42, 8) + struct.pack(order + "H", len(entries)) + table +
            bytes(4) + beside + pixels)


def image_seeds():
    save("image", "colours.png", png(2, 2, 8, 2, [bytes(range(6)), bytes(range(6, 12))]))
    save("image", "alpha.png", png(1, 2, 8, 6, [b"\1\2\3\4", b"\5\6\7\x08"]))
    save("image", "bits.png", png(9, 1, 1, 0, [b"\xaa\x80"]))
    save("image", "deep.png", png(2, 1, 16, 0, [b"\xff\xff\x80\x80"]))
    palette = (b"PLTE", b"\xff\0\0\0\xff\0"), (b"tRNS", b"\x80")
    save("image", "palette.png", png(4, 1, 2, 3, [b"\x14"], *palette))
    save("image", "interlaced.png", png(1, 1, 8, 0, [b"\7"], interlace=1))
    save("image", "colours.ppm", b"P6\n# a comment\n2 1\n255\n\0\1\2\3\4\5")
    save("image", "grey.ppm", b"P5 3 1 15\n\0\7\x0f")
    for name, text in JPEGS.items():
        save("image", name + ".jpg", base64.b64decode(text))
    for name, text in PACKED_PICTURES.items():
        save("image", name, base64.b64decode(text))
    save("image", "colours.bmp", bmp(2, 2, 24, [bytes(range(6)), bytes(range(6, 12))]))
    save("image", "upright.bmp", bmp(2, -1, 32, [bytes(range(8))]))
    save("image", "masks.bmp", bmp(2, 1, 16, [b"\1\2\3\4"], 3, struct.pack("<3I", 0xf800, 0x7e0, 0x1f)))
    save("image", "alpha.bmp", bmp(1, 1, 32, [b"\1\2\3\4"], 3, struct.pack(
        "<4I", 0xff, 0xff00, 0xff0000, 0xff000000), header=124))
    two = b"\1\2\3\0\4\5\6\0"
    save("image", "bits.bmp", bmp(9, 1, 1, [b"\xaa\x80"], extra=two))
    save("image", "old.bmp", bmp(3, 1, 4, [b"\x10\x10"], extra=bytes(48), header=12))
    save("image", "runs.bmp", bmp(6, 2, 8, b"\3\1\0\3\0\1\1\0\0\0\0\2\1\0\2\1\0\1", 1, two, colours=2))
    save("image", "halves.bmp", bmp(6, 2, 4, b"\4\x10\0\0\0\5\x01\x01\0\0\0\1", 2, two, colours=2))
    rgb = {256: [2], 257: [2], 258: [8, 8, 8], 262: [2], 277: [3], 278: [2]}
    save("image", "colours.tif", tiff("<", rgb, bytes(range(12))))
    save("image", "packed.tif", tiff(">", {**rgb, 259: [8]}, zlib.compress(bytes(range(12)))))
    save("image", "alpha.tif", tiff("<", {**rgb, 257: [1], 258: [8, 8, 8, 8], 277: [4], 338: [2]},
                                    bytes(range(8))))
    save("image", "bits.tif", tiff(">", {256: [9], 257: [1], 258: [1], 262: [0], 277: [1]}, b"\xaa\x80"))
    save("image", "deep.tif", tiff("<", {256: [2], 257: [1], 258: [16], 262: [1], 277: [1]},
                                   b"\0\x80\xff\xff"))
    save("image", "palette.tif", tiff("<", {256: [3], 257: [1], 258: [4], 262: [3], 277: [1],
                                            320: [257 * i for i in range(48)]}, b"\x01\x20"))
    save("image", "tiles.tif", tiff("<", {256: [20], 257: [9], 258: [8], 262: [1], 277: [1], 322: [32],
                                          323: [16]}, bytes(range(256)) * 2))


# ---- tokenizers --------------------------------------------------------------------------------

def tokenizer(model, **components):
    added = [{"id": 0, "content": "<s>", "special": True, "normalized": False, "lstrip": True},
             {"id": 300, "content": "ab1", "special": False, "normalized": True,
              "single_word": True, "rstrip": True}]
    return json.dumps({"added_tokens": added, "model": model, **components},
                      separators=(",", ":")).encode()


def tokenizer_seeds():
    bytes_like = {"type": "BPE", "vocab": {"<s>": 0, "A": 1, "b": 2, "Ab": 3, "\u0120": 4, "1": 5},
                  "merges": ["A b"], "ignore_merges": True, "unk_token": "<s>"}
    pattern = r"(?i:'s)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+"
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    save("tokenizer", "bytes.json", tokenizer(
        bytes_like, normalizer={"type": "NFC"}, decoder={"type": "ByteLevel"},
        pre_tokenizer={"type": "Sequence", "pretokenizers": [split, level]},
        post_processor={"type": "Sequence", "processors": [level, {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                       {"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}}]}))
    space = "\u2581"
    fallback = {"type": "BPE", "vocab": {"<unk>": 0, space: 1, "A": 2, "b": 3, "Ab": 4, "<0xC3>": 5,
                                         "<0xA9>": 6}, "merges": [["A", "b"]],
                "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": space}
    back = {"type": "Replace", "pattern": {"String": space}, "content": " "}
    save("tokenizer", "fallback.json", tokenizer(
        fallback, normalizer={"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": space}, replace]},
        decoder={"type": "Sequence", "decoders": [
            back, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}))
    # A trie of one text, "A", that becomes "b".
    units = [0x400] + [0] * 127
    units[1 ^ 0x41] = 0x41 | 0x100 | (0x10 << 10)
    units[(1 ^ 0x41) ^ 0x10] = 0x80000000
    table = struct.pack("<I", 4 * len(units)) + struct.pack("<%dI" % len(units), *units) + b"b\0"
    one = {"type": "Unigram", "unk_id": 0, "byte_fallback": False,
           "vocab": [["<unk>", 0.0], [space, -1.5], ["b", -2.0], [space + "bb", -3.0], ["1", -4]]}
    spaces = {"type": "Metaspace", "replacement": space, "prepend_scheme": "always", "split": True}
    save("tokenizer", "unigram.json", tokenizer(
        one, normalizer={"type": "Precompiled",
                         "precompiled_charsmap": base64.b64encode(table).decode()},
        pre_tokenizer=spaces, decoder=spaces))
    words = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100, "vocab": {"[UNK]": 1, "a": 2, "##b": 3, "e": 4}}
    save("tokenizer", "words.json", tokenizer(
        words, normalizer={"type": "BertNormalizer", "lowercase": True},
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor={"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True}))

    def texts(*list):
        return gguf_array(8, len(list), b"".join(map(gguf_text, list)))

    def numbers(kind, code, *list):
        return gguf_array(kind, len(list), struct.pack("<%d%s" % (len(list), code), *list))

    def save_gguf(name, kind, *more):
        values = [("model", 8, gguf_text(kind)), *more]
        save("tokenizer", name, gguf([("tokenizer.ggml." + n, k, v) for n, k, v in values], []))

    types = ("token_type", 9, numbers(5, "i", 3, 1, 1, 1, 1, 6))
    scores = ("scores", 9, numbers(6, "f", 0, -1, -2, -3, -4, 0))
    bos = ("bos_token_id", 4, struct.pack("<I", 0))
    save_gguf("bytes.gguf", "gpt2", ("tokens", 9, texts("<s>", "A", "b", "Ab", "\u0120", "1")), types,
              ("pre", 8, gguf_text("llama-bpe")), ("merges", 9, texts("A b")), bos)
    save_gguf("scores.gguf", "llama", ("tokens", 9, texts("<s>", space, "A", "b", "Ab", "<0x0A>")),
              types, scores, bos)
    save_gguf("unigram.gguf", "t5", ("tokens", 9, texts("<s>", space, "A", "b", "Ab", "<0x0A>")),
              types, scores, ("precompiled_charsmap", 9, gguf_array(0, len(table), table)))
    save_gguf("words.gguf", "bert", ("tokens", 9, texts("<s>", space + "a", "b", "e", "1", "x")),
              types, ("unknown_token_id", 4, struct.pack("<I", 3)))


# ---- chat templates ----------------------------------------------------------------------------

def chat_template_seeds():
    """The templates of tests/golden that Jinja takes, those of one family in one file."""
    golden = os.path.join(HERE, "..", "..", "golden", "chat_templates", "expected.json.gz")
    recorded = json.loads(gzip.open(golden).read())
    variables = recorded["chats"]["variables"]["variables"]
    head = "".join("{%% set %s = %r %%}" % variable for variable in variables.items())
    families = {}
    for case in recorded["cases"]:
        name = case["name"].split(":")[0].rstrip("0123456789 ")
        if case["text"] is not None:
            families.setdefault(name.replace(" ", "_"), {})[case["template"]] = None
    for name, templates in families.items():
        save("chat_template", name, (head + "\n".join(templates)).encode())


# ---- PyTorch -----------------------------------------------------------------------------------

def pytorch_seeds():
    """The files of tests/golden that PyTorch made."""
    golden = os.path.join(HERE, "..", "..", "golden", "pytorch")
    for name in sorted(os.listdir(golden)):
        if name.endswith(".pth"):
            with open(os.path.join(golden, name), "rb") as file:
                save("pytorch", name, file.read())


# ---- traces --------------------------------------------------------------------------------------

def trace_seeds():
    """A trace with every kind of record: croze/trace/records.h describes them."""
    clock = [0]

    def at(time):
        step, clock[0] = time - clock[0], time
        return varint(step << 1 ^ step >> 63)

    def record(kind, *fields):
        data = b"".join(f if isinstance(f, bytes) else varint(f) for f in fields)
        return bytes([kind]) + varint(len(data)) + data

    def items(*parts):
        return varint(len(parts)) + b"".join(p if isinstance(p, bytes) else varint(p) for p in parts)

    def fields(*values):
        return b"".join(v if isinstance(v, bytes) else varint(v) for v in values)

    texts = ["version", "9.8.7", "main", "CPU of thread 1", "run", "step (net.cpp:7)", "x + 0 -> x",
             "algebra.cpp:12", "const", "float32", "1", "add", "simplify", "mul", "CPU", "bind r0 lane",
             "it was asked for", "block.0", "block.0.weight", 'Conv (node "stem")', "Relu",
             "     0:\txorl\t%eax, %eax\n     7:\tretq\n"]
    name = {text: number + 1 for number, text in enumerate(texts)}
    first = b"".join(record(1, t.encode()) for t in texts)
    first += record(2, name["version"], name["9.8.7"])
    first += record(3, 0, name["main"]) + record(3, 1, name["CPU of thread 1"])
    first += record(5, name["x + 0 -> x"], name["algebra.cpp:12"])
    for argument in ("1", "main"):
        first += record(6, name["const"], name["float32"], name[argument], items())
    first += record(6, name["add"], name["float32"], 0, items(2, 1))
    first += record(7, name["add"], name["simplify"], at(100))
    first += record(8, 0, 2) + record(9, 0, name["simplify"], 0, 2, 0, 40)
    for kernel in ("add", "mul"):
        first += record(10, name[kernel], 0, name["CPU"], 0, name["bind r0 lane"], 0, 0, len(texts), 0,
                        64, 128, 512)
    one = fields(name["CPU"], items(0), items(0), items(1), 64, 128, struct.pack("<d", 0.25))
    two = fields(name["CPU"], items(0, 1), items(1), items(0), 7, 300000000000, struct.pack("<d", 12.5))
    buffers = [fields(kind, name["CPU"], name["float32"], items(128, 10), 5120, 5120, 0, 1, 2,
                      name["it was asked for"], name["step (net.cpp:7)"]) for kind in (1, 2)]
    second = record(11, items(one, two), items(*buffers), items(fields(name["CPU"], 8192, 5120)))
    forward, gradient = (fields(name["block.0"], name["step (net.cpp:7)"], is_gradient, 300, items(0),
                                items(1)) for is_gradient in (0, 1))
    other = fields(0, 0, 0, 100, items(), items(1))
    second += record(18, 0, items(items(forward), items(gradient, other)),
                     items(name["block.0.weight"], 0))
    second += record(20, 0, items(items(name['Conv (node "stem")'], name["Relu"]), items()))
    second += record(19, 1, items(fields(0, 5), fields(7, 2)))
    tensors = (fields(name["const"], name["float32"], name["1"], items(128, 10), items(), 0, 0, 0, 1),
               fields(name["add"], name["float32"], 0, items(128, 10), items(1, 1), name["block.0"],
                      name["step (net.cpp:7)"], 1, 2))
    second += record(21, 0, items(*tensors))
    clock[0] = 0
    second += record(14, 0, 5, name["CPU"], 5120, at(300), name["float32"], name["step (net.cpp:7)"])
    second += record(14, 1, 1 << 40, name["CPU"], 8192, at(310), 0, 0)
    second += record(17, 5, name["block.0.weight"])
    second += record(12, 0, 0, name["step (net.cpp:7)"], at(320), items(1 << 40), items(fields(0, 5)))
    second += record(13, 1, 0, 0, at(1000), 250) + record(13, 1, 0, 1, at(900), 50)
    second += record(4, 3, 0, name["run"], name["step (net.cpp:7)"], at(320), 1000)
    second += record(15, 5, at(2000)) + record(99, b"of a later version") + record(16, 3)
    chunks = b"".join(struct.pack("<I", len(c)) + c for c in (first, second))
    save("trace", "step.trace", b"croze trace\n" + struct.pack("<I", 1) + chunks)


def step_seeds():
    """Heads of steps without kernels, as croze/prepared/file.cpp lists their fields."""
    def count(items):
        return struct.pack("<q", len(items)) + b"".join(items)

    def text(data):
        return struct.pack("<q", len(data)) + data

    def numbers(*values):
        return count([struct.pack("<q", v) for v in values])

    def value(name, dtype, offset, *shape):
        return text(name) + numbers(*shape) + struct.pack("<Bq", dtype, offset)

    def place(offset, size, memory=0):
        return struct.pack("<Bqq", memory, offset, size)

    def head(inputs=(), results=(), state=(), copies=(), sequences=(), keys=(), memory=256, start=b""):
        return (text(b"") + count(inputs) + count(results) + count(state) + count([]) + count(copies)
                + count([]) + count(sequences) + numbers(*keys) + struct.pack("<QQ", 1, 0)
                + struct.pack("<qq", memory, 0) + text(start) + text(b"") + struct.pack("<qQ", 0, 0))

    save("step", "empty", head())
    save("step", "copies", head([value(b"x", 17, 64, 2, 4)], [value(b"y", 17, 128, 8)],
                                copies=[place(128, 32) + place(64, 32)]))
    save("step", "state", head(state=[value(b"h", 10, 0, 3)], keys=[24], start=bytes(64)))
    save("step", "blocks", head(sequences=[numbers(3, 2) + count([])]))
    call = struct.pack("<qq", 0, 1) + count([place(0, 64)]) + numbers(7)
    save("step", "call", head(sequences=[numbers() + count([call])]))


onnx_seeds()
npy_seeds()
safetensors_seeds()
gguf_seeds()
idx_seeds()
image_seeds()
pytorch_seeds()
tokenizer_seeds()
chat_template_seeds()
trace_seeds()
step_seeds()
