"""inputs.py: the inputs of a case and the signatures of results, as bench/cpu/case.cpp has them."""
import json
import os
import sys

CPUS = sorted(os.sched_getaffinity(0))  # before OpenMP binds this thread to one

try:
    import numpy as np
    import torch
except ImportError as problem:
    print(json.dumps({"error": str(problem)}), flush=True)
    sys.exit()


def hashed(count, seed):
    h = np.arange(count, dtype=np.uint32)
    h *= np.uint32(0x9E3779B1)
    h += np.uint32(seed * 0x85EBCA77 & 0xFFFFFFFF)
    for shift, factor in ((15, 0x2C1B3C6D), (12, 0x297A2D39)):
        h ^= h >> np.uint32(shift)
        h *= np.uint32(factor)
    return h ^ (h >> np.uint32(15))


def input_tensor(given, seed):
    shape, dtype, below = given["shape"], getattr(torch, given["dtype"]), given["below"]
    h = hashed(int(np.prod(shape, dtype=np.int64)), seed)
    if dtype.is_floating_point:
        numbers = (h >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
        numbers = numbers if below else numbers * np.float32(2) - np.float32(1)
    else:
        numbers = (h % np.uint32(below)) if below else (h % np.uint32(255)).astype(np.int64) - 127
        numbers = numbers.astype(np.int64)
    return torch.from_numpy(numbers.reshape(shape)).to(dtype)


def signature(result):
    flat = torch.as_tensor(result).detach().to_dense().reshape(-1).to(torch.float64)
    count = flat.numel()
    places = [i * count // 64 for i in range(64)]
    return {"count": count, "norm": float(flat.norm()), "some": flat[places].tolist()}
