#!/usr/bin/env python3
"""Fills in tinygrad's counts in tests/index/corpus.txt, whose head says what they are.

    PYTHONPATH=<tinygrad> python3 tests/golden/tinygrad_index_counts.py tests/index/corpus.txt

Made with tinygrad a9069c177a (22 August 2026).  Each chain is scheduled as tinygrad does it; its
kernel goes through the simplifying passes of tinygrad's code generator (load collapse, splitting and
shrinking of ranges, the full symbolic rules, moving conditions to loads, simplification of indices
under their conditions) with no loop optimisations in between, and what is left is counted.
"""
import os
import re
import sys

os.environ.setdefault("NOOPT", "1")

from tinygrad import Tensor, dtypes
from tinygrad.codegen import multi_pm, pm_mops
from tinygrad.codegen.late.coalesce import indexing_simplify
from tinygrad.codegen.simplify import (pm_flatten_range, pm_load_collapse, pm_reduce_unparented,
                                       pm_simplify_ranges, pm_split_ranges)
from tinygrad.uop.ops import Ops, graph_rewrite
from tinygrad.uop.symbolic import pm_move_where_on_load, sym

DIVISIONS = {Ops.FLOORDIV, Ops.CDIV}
REMAINDERS = {Ops.FLOORMOD, Ops.CMOD}


def pairs(numbers):
    return tuple(zip(numbers[0::2], numbers[1::2]))


def window(x, axis, size, stride, dilation):
    order = [i for i in range(x.ndim) if i != axis] + [axis]
    back = [order.index(i) for i in range(x.ndim)] + [x.ndim]
    return x.permute(order)._pool((size,), stride, dilation).permute(back)


def dilate(x, axis, stride):
    shape = list(x.shape)
    x = x.reshape(shape[:axis + 1] + [1] + shape[axis + 1:])
    x = x.pad(tuple((0, stride - 1 if i == axis + 1 else 0) for i in range(x.ndim)))
    x = x.reshape(shape[:axis] + [shape[axis] * stride] + shape[axis + 1:])
    end = (shape[axis] - 1) * stride + 1
    return x.shrink(tuple((0, end if i == axis else s) for i, s in enumerate(x.shape)))


def take(x, axis, size):
    index = Tensor.empty(size, dtype=dtypes.int)
    return x[tuple(index if i == axis else slice(None) for i in range(x.ndim))]


def slice_axis(x, axis, begin, end, step):
    return x[tuple(slice(begin, end, step) if i == axis else slice(None) for i in range(x.ndim))]


def join(x, axis, size):
    return x.cat(Tensor.empty([size if i == axis else s for i, s in enumerate(x.shape)]), dim=axis)


def add_halves(x):
    half = x.shape[0] // 2
    return x[:half] + x[half:]


OPS = {
    "reshape": lambda x, *a: x.reshape(a),
    "permute": lambda x, *a: x.permute(a),
    "expand": lambda x, *a: x.expand(a),
    "flip": lambda x, *a: x.flip(a),
    "pad": lambda x, *a: x.pad(pairs(a)),
    "shrink": lambda x, *a: x.shrink(pairs(a)),
    "slice": slice_axis,
    "window": window,
    "dilate": dilate,
    "roll": lambda x, axis, shift: x.roll(shift, axis),
    "repeat": lambda x, *a: x.repeat(*a),
    "interleave": lambda x, axis, times: x.repeat_interleave(times, axis),
    "cat": join,
    "tril": lambda x, k: x.tril(k),
    "triu": lambda x, k: x.triu(k),
    "take": take,
    "sum": lambda x, *a: x.sum(a),
    "add": add_halves,
}


def build(shape, chain):
    x = Tensor.empty([int(n) for n in shape.split()])
    for step in filter(None, (s.strip() for s in chain)):
        name, *numbers = step.split()
        x = OPS[name](x, *map(int, numbers))
    return x.contiguous()


def simplified(sink):
    sink = graph_rewrite(sink, multi_pm)
    sink = graph_rewrite(sink, pm_mops, bottom_up=True)
    sink = graph_rewrite(sink, pm_load_collapse)
    sink = graph_rewrite(sink, pm_split_ranges + pm_flatten_range, ctx={})
    sink = graph_rewrite(sink, sym + pm_flatten_range)
    sink = graph_rewrite(sink, pm_flatten_range + pm_simplify_ranges, ctx={})
    sink = graph_rewrite(sink, sym + pm_move_where_on_load + pm_flatten_range + pm_reduce_unparented)
    return graph_rewrite(sink, sym + indexing_simplify)


def counts(x):
    kernels = [call.src[0] for call in x.schedule_linear().src if call.src[0].op is Ops.SINK]
    total = [0, 0, 0]
    for kernel in kernels:
        ops = [u.op for u in simplified(kernel).toposort()]
        total[0] += sum(op in DIVISIONS for op in ops)
        total[1] += sum(op in REMAINDERS for op in ops)
        total[2] += sum(op is Ops.WHERE for op in ops)
    return total


def main(path):
    lines = open(path).read().splitlines()
    for i, line in enumerate(lines):
        if not line or line.startswith("#"):
            continue
        name, chain, *rest = [part.strip() for part in line.split(":")]
        shape, *steps = chain.split(";")
        found = " ".join(map(str, counts(build(shape, steps))))
        own = rest[1] if len(rest) > 1 else ""
        lines[i] = re.sub(r"\s+$", "", f"{name:25} : {chain.rstrip()} : {found} : {own}")
        print(lines[i], file=sys.stderr, flush=True)
        with open(path, "w") as out:
            out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
