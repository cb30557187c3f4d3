#!/usr/bin/env python3
"""light_weights.py FILE..: gives ONNX's `light` networks weights, in place.

Those files are networks as they were published, with each large weight replaced by a node that makes
one number of its shape: as fast a network as that would be, it is another one.
"""
import sys

import numpy as np
import onnx


def is_vector(initializer):
    return len(initializer.dims) == 1 and initializer.data_type == onnx.TensorProto.FLOAT


def random_weight(random, shape):
    """Numbers for which values are about as large behind a layer as before it. A vector may be a
    variance, so it is positive."""
    if len(shape) == 1:
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    scale = (3 / np.prod(shape[1:])) ** 0.5
    return random.uniform(-scale, scale, shape).astype(np.float32)


def with_weights(model):
    graph = model.graph
    shapes = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    made = [n for n in graph.node if n.op_type == "ConstantOfShape" and n.input[0] in shapes]
    random = np.random.default_rng(1)
    for node in made:
        numbers = random_weight(random, shapes[node.input[0]])
        graph.initializer.append(onnx.numpy_helper.from_array(numbers, node.output[0]))
        graph.node.remove(node)
    for vector in [i for i in graph.initializer if is_vector(i)]:
        numbers = random_weight(random, vector.dims)
        vector.CopyFrom(onnx.numpy_helper.from_array(numbers, vector.name))
    read = {name for node in graph.node for name in node.input}
    for unread in [x for x in graph.initializer if x.name not in read]:
        graph.initializer.remove(unread)
    # Since this version weights need not be inputs, and are constants if they are none.
    model.ir_version = 4
    weights = {x.name for x in graph.initializer}
    for needless in [x for x in graph.input if x.name in weights or x.name not in read]:
        graph.input.remove(needless)
    return model


for path in sys.argv[1:]:
    onnx.save(with_weights(onnx.load(path)), path)
