#!/usr/bin/env python3
"""Makes models of one com.microsoft node each, and records what onnxruntime makes of them, for
tests/io/onnx.

    python3 make_onnx.py FOLDER    # tests/golden/onnx

The files there are by onnxruntime 1.32.  CASE.onnx is the model; CASE.safetensors has the inputs, as
in.NAME, and the outputs, as out.NAME.
"""
import json
import math
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

F32, F16, I32, U8 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.UINT8
NAMES = {"float32": "F32", "float16": "F16", "int32": "I32", "int64": "I64", "uint8": "U8"}
random = np.random.default_rng(7)
cases = {}


def floats(*shape, scale=1.0, dtype=np.float32):
    return (random.standard_normal(shape) * scale).astype(dtype)


def ints(values, dtype=np.int32):
    return np.array(values, dtype)


def case(name, op, inputs, outputs=("y",), domain="com.microsoft", **attributes):
    """Inputs: arrays, or None for one left out."""
    assert name not in cases
    cases[name] = (op, inputs, outputs, domain, attributes)


def save_safetensors(path, arrays):
    header, body = {}, b""
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": NAMES[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text + body)


def record(folder, name):
    op, inputs, outputs, domain, attributes = cases[name]
    given = {f"x{i}": x for i, x in enumerate(inputs) if x is not None}
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    node = helper.make_node(op, names, outputs, domain=domain, **attributes)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
             for n, x in given.items()]
    kind = infos[0].type.tensor_type.elem_type if op != "EmbedLayerNormalization" else F32
    kinds = {"counts": I32}
    results = [helper.make_tensor_value_info(o, kinds.get(o, kind), None) for o in outputs if o]
    graph = helper.make_graph([node], "g", infos, results)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="")
    path = os.path.join(folder, name)
    onnx.save(model, path + ".onnx")
    session = onnxruntime.InferenceSession(path + ".onnx", providers=["CPUExecutionProvider"])
    made = session.run(None, given)
    arrays = {f"in.{n}": x for n, x in given.items()}
    arrays.update((f"out.{r.name}", y) for r, y in zip(results, made)
                  if not r.name.startswith("unchecked"))
    save_safetensors(path + ".safetensors", arrays)


def elementwise():
    x = floats(3, 8, scale=2)
    case("gelu", "Gelu", [x])
    case("fast_gelu", "FastGelu", [x])
    case("fast_gelu_bias", "FastGelu", [x, floats(8)])
    case("bias_gelu", "BiasGelu", [x, floats(8)])
    case("quick_gelu", "QuickGelu", [x])
    case("quick_gelu_alpha", "QuickGelu", [x], alpha=1.0)


def products():
    case("fused_matmul", "FusedMatMul", [floats(2, 5, 3), floats(2, 4, 5)], transA=1, transB=1,
         alpha=0.5)
    case("fused_matmul_batch", "FusedMatMul", [floats(3, 2, 5), floats(4, 2, 5)], transBatchA=1,
         transBatchB=1, transB=1)
    for bits in (2, 4, 8):
        rows, columns, block = 5, 40, 16
        blocks = math.ceil(columns / block)
        packed = random.integers(0, 256, (rows, blocks, block * bits // 8), np.uint8)
        zeros = random.integers(0, 256, (rows * math.ceil(blocks * bits / 8),), np.uint8)
        scales = floats(rows * blocks, scale=0.1)
        sizes = {"N": rows, "K": columns, "bits": bits, "block_size": block}
        x = floats(2, 3, columns)
        case(f"matmul_{bits}_bits", "MatMulNBits", [x, packed, scales], **sizes)
        case(f"matmul_{bits}_bits_zeros", "MatMulNBits", [x, packed, scales, zeros], **sizes)
    sizes = {"N": 4, "K": 32, "bits": 4, "block_size": 16}
    packed = random.integers(0, 256, (4, 2, 8), np.uint8)
    x, scales = floats(3, 32), floats(8, scale=0.1)
    case("matmul_4_bits_bias", "MatMulNBits", [x, packed, scales, None, None, floats(4)], **sizes)
    zeros = floats(8, scale=4)
    case("matmul_4_bits_float_zeros", "MatMulNBits", [x, packed, scales, zeros], **sizes)
    order = random.permutation(np.arange(32) // 16).astype(np.int32)
    case("matmul_4_bits_order", "MatMulNBits", [x, packed, scales, None, order], **sizes)


def norms():
    x, width = floats(2, 3, 8), 8
    gamma, beta, bias = floats(width), floats(width), floats(width)
    sums = ("y", "", "", "sum")
    case("skip_layer_norm", "SkipLayerNormalization", [x, floats(2, 3, 8), gamma, beta, bias], sums)
    case("skip_layer_norm_one_skip", "SkipLayerNormalization", [x, floats(3, 8), gamma], epsilon=0.01)
    case("skip_rms_norm", "SkipSimplifiedLayerNormalization", [x, floats(2, 3, 8), gamma, bias], sums,
         epsilon=1e-5)
    case("rms_norm", "SimplifiedLayerNormalization", [x, gamma], ("y", "inverse"), "", axis=-1,
         epsilon=1e-5)
    words, segments = ints([[1, 4, 2], [0, 3, 3]]), ints([[0, 0, 1], [1, 0, 1]])
    tables = [floats(6, width), floats(5, width), floats(2, width)]
    mask, places = ints([[1, 1, 0], [1, 1, 1]]), ints([[2, 1, 0], [4, 3, 2]])
    case("embed_layer_norm", "EmbedLayerNormalization",
         [words, segments, *tables, gamma, beta, mask, places], ("y", "counts", "sum"))
    case("embed_layer_norm_words", "EmbedLayerNormalization",
         [words, None, tables[0], tables[1], None, gamma, beta], ("y", "counts"))


def tables(rows, half):
    angles = np.outer(np.arange(rows), 0.7 ** np.arange(half))
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotations():
    cosines, sines = tables(6, 4)
    places = ints([[0, 1, 2], [3, 4, 5]], np.int64)
    x = floats(2, 3, 16)
    case("rotary", "RotaryEmbedding", [x, places, cosines, sines])
    case("rotary_interleaved", "RotaryEmbedding", [x, places, cosines, sines], interleaved=1)
    case("rotary_first", "RotaryEmbedding", [floats(2, 2, 3, 8), ints([2], np.int64), cosines, sines])
    case("rotary_part", "RotaryEmbedding", [floats(2, 3, 24), places, cosines, sines], num_heads=2,
         rotary_embedding_dim=8)


def many_heads():
    q, k, v = floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 12)
    case("mha", "MultiHeadAttention", [q, k, v], num_heads=2)
    case("mha_bias", "MultiHeadAttention", [q, k, v, floats(8 + 8 + 12)], num_heads=2, scale=0.7)
    for name, mask in {"counts": [5, 3], "keys": [[1, 1, 1, 0, 0], [0, 1, 1, 1, 0]]}.items():
        case("mha_mask_" + name, "MultiHeadAttention", [q, k, v, None, ints(mask)], num_heads=2)
    rows = ints([[[1, 0, 0, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]] * 2)
    case("mha_mask_rows", "MultiHeadAttention", [q, k, v, None, rows], num_heads=2,
         mask_filter_value=-50.0)
    case("mha_score_bias", "MultiHeadAttention", [q, k, v, None, None, floats(1, 2, 3, 5)], num_heads=2)
    past = [floats(2, 2, 4, 4), floats(2, 2, 4, 4)]
    present = ("y", "present_key", "present_value")
    x = [floats(2, 3, 8), floats(2, 3, 8), floats(2, 3, 8)]
    case("mha_past", "MultiHeadAttention", [*x, None, None, None, *past], present, num_heads=2,
         unidirectional=1)
    case("mha_cross", "MultiHeadAttention", [q, floats(2, 2, 5, 4), floats(2, 2, 5, 4)], num_heads=2)
    case("mha_causal", "MultiHeadAttention", x, num_heads=2, unidirectional=1)
    weights, bias = floats(8, 24, scale=0.5), floats(24)
    x, mask = floats(2, 3, 8), ints([[1, 1, 0], [1, 1, 1]])
    case("attention", "Attention", [x, weights, bias], num_heads=2)
    case("attention_mask", "Attention", [x, weights, bias, mask], num_heads=2, unidirectional=1)
    case("attention_sizes", "Attention", [x, floats(8, 20), floats(20)], num_heads=2,
         qkv_hidden_sizes=[8, 8, 4])
    case("attention_past", "Attention", [x, weights, bias, None, floats(2, 2, 2, 4, 4)],
         ("y", "present"), num_heads=2, unidirectional=1)


def grouped_queries():
    heads, groups, width = 2, 1, 16
    present = ("y", "present_key", "present_value")
    # Without these onnxruntime's results are not numbers; past the last position they are anything.
    unchecked = ("y", "unchecked_key", "unchecked_value")
    sizes = {"num_heads": heads, "kv_num_heads": groups}
    cosines, sines = tables(7, width // 2)

    def step(length, past, lasts, total, dtype=np.float32):
        batch = len(lasts)
        caches = [floats(batch, groups, past, width, dtype=dtype) for _ in range(2)]
        fresh = [floats(batch, length, n * width, dtype=dtype) for n in (heads, groups, groups)]
        return [*fresh, *caches, ints(lasts), ints(total)]

    def prompt():
        return step(3, 0, [2, 2], 3)

    def decode():
        return step(1, 4, [4, 4], 5)

    case("gqa_prompt", "GroupQueryAttention", prompt(), present, **sizes)
    case("gqa_prompt_rotary", "GroupQueryAttention", [*prompt(), cosines, sines], present, do_rotary=1,
         **sizes)
    case("gqa_step", "GroupQueryAttention", decode(), present, scale=0.2, **sizes)
    case("gqa_step_rotary", "GroupQueryAttention", [*decode(), cosines, sines], present, do_rotary=1,
         rotary_interleaved=1, **sizes)
    case("gqa_steps", "GroupQueryAttention", [*step(3, 4, [6], 7), cosines, sines], present,
         do_rotary=1, **sizes)
    case("gqa_lengths", "GroupQueryAttention", [*step(1, 4, [4, 2], 5), cosines, sines], unchecked,
         do_rotary=1, **sizes)
    case("gqa_window", "GroupQueryAttention", step(4, 0, [3, 3], 4), present, local_window_size=2, **sizes)
    case("gqa_window_step", "GroupQueryAttention", decode(), present, local_window_size=3, **sizes)
    case("gqa_softcap", "GroupQueryAttention", decode(), present, softcap=0.5, **sizes)
    case("gqa_smooth", "GroupQueryAttention", decode(), present, smooth_softmax=1, **sizes)
    case("gqa_sink", "GroupQueryAttention", [*decode(), None, None, None, None, floats(heads)], present,
         **sizes)
    case("gqa_score_bias", "GroupQueryAttention",
         [*prompt(), None, None, None, floats(2, heads, 3, 3)], present, **sizes)
    case("gqa_positions", "GroupQueryAttention",
         [*prompt(), cosines, sines, ints([[2, 3, 4]] * 2, np.int64)], present, do_rotary=1,
         **sizes)
    packed = prompt()
    packed[0] = np.concatenate(packed[:3], axis=2)
    packed[1] = packed[2] = None
    case("gqa_packed", "GroupQueryAttention", packed, present, **sizes)
    case("gqa_half", "GroupQueryAttention", step(1, 4, [4, 4], 5, np.float16), present, **sizes)


def main():
    folder = sys.argv[1]
    for family in (elementwise, products, norms, rotations, many_heads, grouped_queries):
        family()
    for name in cases:
        record(folder, name)


main()
