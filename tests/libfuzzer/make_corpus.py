#!/usr/bin/env python3
"""Writes the seeds of the fuzzers: small files that use every part of the formats."""
import io
import os
import struct
import zipfile

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


onnx_seeds()
npy_seeds()
