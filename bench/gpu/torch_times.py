#!/usr/bin/env python3
"""Times of PyTorch on the GPU for cases of croze-bench gpu, by their names: milliseconds as JSON."""
import json

import torch
from torch.nn import functional


def cases():
    def random(*shape):
        return torch.rand(shape, device="cuda")

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    for m, k, n in [(512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (1009, 1009, 1009),
                    (336, 768, 560), (333, 777, 555)]:
        a, b = random(m, k), random(k, n)
        yield f"matmul {m}x{k}x{n}", lambda a=a, b=b: a @ b
    large, rows = random(1 << 22), random(4096, 1000)
    yield "add", lambda: large + large
    yield "gelu", lambda: functional.gelu(large)
    yield "softmax", lambda: functional.softmax(rows, 1)
    yield "layer norm", lambda: functional.layer_norm(rows, (1000,))
    yield "row sums", lambda: rows.sum(1)
    yield "column sums", lambda: rows.sum(0)
    yield "argmax", lambda: rows.argmax(1)
    yield "cumulative sum", lambda: rows.cumsum(1)


def milliseconds(call, repeat=50):
    """The median of single calls, each waited for, as croze-bench measures."""
    for _ in range(5):
        call()
    times = []
    for _ in range(repeat):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[repeat // 2]


print(json.dumps({"torch": torch.__version__, "gpu": torch.cuda.get_device_name(),
                  "ms": {name: milliseconds(call) for name, call in cases()}}))
