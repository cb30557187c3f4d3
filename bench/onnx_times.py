"""Microseconds that onnxruntime takes for a run of a model: croze-bench onnx, make export-demo.

Who calls this sets, in lines before these, MODELS: by name the file of a model and the shapes of
its inputs; THREADS, and SECONDS for each model.  Inputs and outputs are bound beforehand, so that
little of what is measured is Python's.  Prints one line of JSON.
"""

import base64
import json
import os
import time

result = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever libraries print

import numpy as np
import onnxruntime

DTYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}


def median_microseconds(model, shapes):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(base64.b64decode(model), options,
                                           providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    random = np.random.default_rng(1)
    for port in session.get_inputs():
        dtype = DTYPES[port.type]
        shape = shapes[port.name]
        value = random.uniform(-1, 1, shape) if dtype == np.float32 else np.full(shape, 16000)
        binding.bind_cpu_input(port.name, np.ascontiguousarray(value, dtype))
    for port in session.get_outputs():
        binding.bind_output(port.name, "cpu")
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 20:
        begin = time.perf_counter()
        session.run_with_iobinding(binding)
        times.append(time.perf_counter() - begin)
    return 1e6 * sorted(times)[len(times) // 2]


print(json.dumps({"version": onnxruntime.__version__, "threads": THREADS, "microseconds": {
    name: median_microseconds(*model) for name, model in MODELS.items()}}), file=result)
