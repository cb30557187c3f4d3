#!/usr/bin/env python3
"""Times of PyTorch on the GPU for cases of croze-bench gpu, by their names: milliseconds as JSON."""
import json
import time

import torch
from torch.nn import functional


def random(*shape, dtype=torch.float32):
    return torch.rand(shape, device="cuda").sub_(0.5).to(dtype)


def cases():
    for m, k, n in [(512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (1009, 1009, 1009),
                    (336, 768, 560), (333, 777, 555)]:
        a, b = random(m, k), random(k, n)
        yield f"matmul {m}x{k}x{n}", lambda a=a, b=b: a @ b
    p, q = random(64, 128, 128), random(64, 128, 128)
    yield "matmul 128x128x128 batch 64", lambda: p @ q
    x, w = random(8, 64, 56, 56), random(64, 64, 3, 3)
    yield "conv 3x3 8x64x56x56", lambda: functional.conv2d(x, w, padding=1)
    large, other, rows = random(1 << 22), random(1 << 22), random(4096, 1000)
    odd, square, few, short = (random(1021, 1019), random(2048, 2048), random(8, 500000),
                               random(256, 1000))
    yield "add 4194304", lambda: large + other
    yield "gelu 4194304", lambda: functional.gelu(large)
    yield "odd add 1021x1019", lambda: odd + odd
    yield "transpose 2048x2048", lambda: square.t().contiguous()
    yield "softmax 4096x1000", lambda: functional.softmax(rows, 1)
    yield "softmax 8x500000", lambda: functional.softmax(few, 1)
    yield "layer norm 4096x1000", lambda: functional.layer_norm(rows, (1000,))
    yield "row sums 4096x1000", lambda: rows.sum(1)
    yield "column sums 4096x1000", lambda: rows.sum(0)
    yield "sum of all 4194304", lambda: large.sum()
    yield "argmax 4096x1000", lambda: rows.argmax(1)
    yield "cumulative sum 4096x1000", lambda: rows.cumsum(1)
    yield "sort 256x1000", lambda: short.sort(1)


def scaled(a, b):
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16)


def attention(length, causal, backward):
    q, k, v, g = (random(1, 16, length, 128, dtype=torch.bfloat16) for _ in range(4))

    def forward():
        return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def with_gradients():
        torch.autograd.grad(forward(), (q, k, v), g)

    if not backward:
        return forward
    for x in (q, k, v):
        x.requires_grad_()
    return with_gradients


def large_cases():
    """Those of croze-bench gpu --large."""
    bf16, fp8 = torch.bfloat16, torch.float8_e4m3fn
    products = [(bf16, n, n, n) for n in (4096, 8192)]
    products += [(torch.float16, 4096, 4096, 4096), (torch.float32, 4096, 4096, 4096)]
    products += [(bf16, m, 4096, 14336) for m in (2048, 16, 1)]
    names = {bf16: "bfloat16", torch.float16: "float16", torch.float32: "float32"}
    for dtype, m, k, n in products:
        a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype)
        yield f"{names[dtype]} matmul {m}x{k}x{n}", lambda a=a, b=b: a @ b
    a, b = random(4096, 4096, dtype=fp8), random(4096, 4096, dtype=fp8).t()
    yield "float8_e4m3 matmul 4096x4096x4096", scaled(a, b)
    yield "float8_e4m3 matmul 4096x4096x4096, b by columns", scaled(a, b)
    for length in (2048, 4096, 8192, 16384):
        for causal in (False, True):
            name = f"attention {length}{' causal' if causal else ''}"
            yield name, attention(length, causal, False)
            if length in (2048, 8192):
                yield name + " and gradients", attention(length, causal, True)
    x, w = random(32, 128, 28, 28, dtype=bf16), random(128, 128, 3, 3, dtype=bf16)
    yield "bfloat16 conv 3x3 32x128x28x28", lambda: functional.conv2d(x, w, padding=1)
    square = random(8192, 8192)
    yield "add 8192x8192", lambda: square + 1
    yield "gelu 8192x8192", lambda: functional.gelu(square)
    yield "softmax 8192x8192", lambda: functional.softmax(square, 1)
    yield "layer norm 8192x8192", lambda: functional.layer_norm(square, (8192,))


def milliseconds(call, most_repeats=50, seconds=0.5):
    """The median of single calls, each waited for, by the host's clock, as croze-bench measures."""
    for _ in range(5):
        call()
    times = []
    while len(times) < 5 or len(times) < most_repeats and sum(times) < 1e3 * seconds:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times)[len(times) // 2]


torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
ms, errors = {}, {}
for all_cases in (cases, large_cases):
    for case, compute in all_cases():
        try:
            ms[case] = milliseconds(compute)
        except (RuntimeError, NotImplementedError) as error:
            errors[case] = str(error)
print(json.dumps({"torch": torch.__version__, "gpu": torch.cuda.get_device_name(), "ms": ms,
                  "errors": errors}))
