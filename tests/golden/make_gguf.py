#!/usr/bin/env python3
"""Writes GGUF files and what ggml's own Python package reads in them, for tests/io/gguf/.

    python3 make_gguf.py OUTPUT_FOLDER LIBGGML

Needs gguf and numpy (made with gguf 0.19.0, numpy 2.4.6) and ggml's library libggml-base.so (that of
the npm package @node-llama-cpp/linux-x64 3.22.1).

blocks.gguf has, for each type of block, random blocks (tensor "Q4_K") and their elements as the
package decodes them ("Q4_K.decoded").  The scales are finite, some of them subnormal or zero; all
other bits are random.  Two types the package does not decode: Q8_1 and Q8_K, which are products of
a scale and eight-bit numbers; their structs are those of ggml-common.h.

little.gguf and big.gguf hold the same metadata of all types and the same tensors in the two byte
orders.  plain.gguf has a few tensors, for the writer to be compared with; split-*.gguf are a model
in three parts.

quantized.gguf has numbers of several distributions, a row each ("numbers"), the blocks that the
package makes of them ("Q4_0"), and for the k-quants, which it does not make, the sum of the squared
errors of each row that ggml's library leaves ("Q4_K.errors").
"""
import ctypes
import os
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

# Where the float16 scales of a block are.
HALVES = {
    Type.Q4_0: [0],
    Type.Q4_1: [0, 2],
    Type.Q5_0: [0],
    Type.Q5_1: [0, 2],
    Type.Q8_0: [0],
    Type.Q8_1: [0, 2],
    Type.Q2_K: [80, 82],
    Type.Q3_K: [108],
    Type.Q4_K: [0, 2],
    Type.Q5_K: [0, 2],
    Type.Q6_K: [208],
    Type.Q8_K: [],  # a float32
    Type.IQ4_NL: [0],
    Type.IQ4_XS: [0],
    Type.MXFP4: [],  # a power of two
    Type.NVFP4: [],  # eight-bit floats
    Type.TQ1_0: [52],
    Type.TQ2_0: [64],
    Type.IQ1_S: [0],
    Type.IQ1_M: [],  # in pieces
    Type.IQ2_XXS: [0],
    Type.IQ2_XS: [0],
    Type.IQ2_S: [0],
    Type.IQ3_XXS: [0],
    Type.IQ3_S: [0],
}
SIZES = gguf.GGML_QUANT_SIZES
SIZES[Type.Q8_1] = (32, 36)  # the package still has the struct of before 2024, with float32


def random_halves(random, count):
    bits = random.integers(0, 1 << 16, count, dtype=np.uint16)
    bits[(bits & 0x7C00) == 0x7C00] &= 0xBFFF  # no infinity, no NaN
    bits[0], bits[1 % count] = 0x8001, 0x0000
    return bits


def blocks_of(kind, random, count):
    blocks = random.integers(0, 256, (count, SIZES[kind][1]), dtype=np.uint8)
    for offset in HALVES[kind]:
        blocks[:, offset:offset + 2] = random_halves(random, count).reshape(-1, 1).view(np.uint8)
    if kind == Type.Q8_K:
        scales = random.standard_normal(count).astype(np.float32)
        blocks[:, 0:4] = scales.reshape(-1, 1).view(np.uint8)
    if kind == Type.IQ1_M:  # the top nibble of the scale, which is in the last byte
        blocks[:, 55] &= 0xBF
    if kind == Type.MXFP4:
        blocks[:, 0] = np.minimum(blocks[:, 0], 252)  # more than that times 12 is no float32
        blocks[:3, 0] = [0, 1, 250]
    if kind == Type.NVFP4:
        blocks[:2, 0:4] = [[0, 127, 255, 128], [1, 7, 8, 126]]
    return blocks


def decoded(kind, blocks):
    if kind == Type.Q8_1:
        return blocks[:, 0:2].copy().view(np.float16).astype(np.float32) * blocks[:, 4:].view(np.int8)
    if kind == Type.Q8_K:
        numbers = blocks[:, 4:260].copy().view(np.int8).astype(np.float32)
        return blocks[:, 0:4].copy().view(np.float32) * numbers
    return gguf.quants.dequantize(blocks, kind)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_blocks(folder, times=1, seed=1):
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(os.path.join(folder, "blocks.gguf"), "golden")
    for kind in HALVES:
        blocks = blocks_of(kind, random, times * (2 if SIZES[kind][0] == 256 else 8))
        elements = decoded(kind, blocks).astype(np.float32)
        assert np.isfinite(elements).all(), kind
        writer.add_tensor(kind.name, blocks, raw_dtype=kind)
        writer.add_tensor(kind.name + ".decoded", elements)
    finish(writer)


def add_metadata(writer):
    writer.add_uint8("a.uint8", 200)
    writer.add_int8("a.int8", -100)
    writer.add_uint16("a.uint16", 60000)
    writer.add_int16("a.int16", -30000)
    writer.add_uint32("a.uint32", 4000000000)
    writer.add_int32("a.int32", -2000000000)
    writer.add_float32("a.float32", 1.5)
    writer.add_bool("a.bool", True)
    writer.add_string("a.string", "Grüße")
    writer.add_uint64("a.uint64", 1 << 63)
    writer.add_int64("a.int64", -(1 << 62))
    writer.add_float64("a.float64", 0.1)
    writer.add_array("a.integers", [1, -2, 3])
    writer.add_array("a.floats", [0.5, -0.25])
    writer.add_array("a.bools", [True, False, True])
    writer.add_array("a.strings", ["one", "", "three"])


def write_orders(folder):
    for name, order in (("little", gguf.GGUFEndian.LITTLE), ("big", gguf.GGUFEndian.BIG)):
        writer = gguf.GGUFWriter(os.path.join(folder, name + ".gguf"), "golden", endianess=order)
        add_metadata(writer)
        for dtype in ("float16", "float32", "float64", "int8", "int16", "int32", "int64"):
            numbers = (np.arange(6) * 11 - 20).astype(dtype).reshape(2, 3)
            writer.add_tensor(dtype, numbers)
        for kind in (Type.Q4_0, Type.Q8_0, Type.Q4_K, Type.Q6_K, Type.MXFP4):
            # The package writes bytes as they are: a big-endian file has its scales turned.
            blocks = blocks_of(kind, np.random.default_rng(2), 2 if SIZES[kind][0] == 256 else 4)
            if order == gguf.GGUFEndian.BIG:
                for offset in HALVES[kind]:
                    blocks[:, offset:offset + 2] = blocks[:, [offset + 1, offset]]
            writer.add_tensor(kind.name, blocks, raw_dtype=kind)
        finish(writer)


def write_plain(folder):
    writer = gguf.GGUFWriter(os.path.join(folder, "plain.gguf"), "golden")
    writer.add_tensor("matrix", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("halves", np.arange(5, dtype=np.float16))
    writer.add_tensor("integers", np.arange(-2, 3, dtype=np.int64))
    finish(writer)


def write_split(folder):
    writer = gguf.GGUFWriter(os.path.join(folder, "split.gguf"), "golden", split_max_tensors=2)
    writer.add_string("general.name", "in three parts")
    for i in range(5):
        writer.add_tensor(f"t{i}", np.full((i + 1, 2), i, dtype=np.float32))
    finish(writer)


def distributions(random):
    size = 256
    normal = random.standard_normal((4, size))
    sparse = np.where(random.random(size) < 0.05, normal[2], 0)
    groups = np.exp(2 * random.standard_normal(size // 32)).repeat(32)
    return np.stack([
        0.02 * normal[0], random.laplace(size=size), 0.05 * random.standard_t(3, size),
        random.uniform(-1, 1, size), abs(normal[1]), normal[1] + 5, sparse, normal[3] * groups,
        np.zeros(size)]).astype(np.float32)


def errors_of(library, numbers, kind):
    size, block_bytes = SIZES[kind]
    blocks = np.zeros((len(numbers), numbers.shape[1] // size * block_bytes), np.uint8)
    library.ggml_quantize_chunk(
        ctypes.c_int(kind), numbers.ctypes.data_as(ctypes.c_void_p),
        blocks.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(0), ctypes.c_int64(len(numbers)),
        ctypes.c_int64(numbers.shape[1]), None)
    found = gguf.quants.dequantize(blocks, kind).astype(np.float64)
    return ((found - numbers)**2).sum(axis=1).astype(np.float32)


def write_quantized(folder, library):
    numbers = distributions(np.random.default_rng(3))
    writer = gguf.GGUFWriter(os.path.join(folder, "quantized.gguf"), "golden")
    writer.add_tensor("numbers", numbers)
    for kind in (Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.MXFP4):
        writer.add_tensor(kind.name, gguf.quants.quantize(numbers, kind), raw_dtype=kind)
    for kind in (Type.Q4_K, Type.Q5_K, Type.Q6_K):
        writer.add_tensor(kind.name + ".errors", errors_of(library, numbers, kind))
    finish(writer)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    write_blocks(folder)
    write_orders(folder)
    write_plain(folder)
    write_split(folder)
    write_quantized(folder, ctypes.CDLL(sys.argv[2]))


if __name__ == "__main__":
    main()
