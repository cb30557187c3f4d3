#!/usr/bin/env python3
"""torch_times.py [SECONDS] [--small DEVICE]

Times of PyTorch on the GPU for cases of croze-bench gpu, by their names: milliseconds as JSON.  `ms`
is as the calls stand there, `compiled_ms` by torch.compile, which takes its time: of so many cases
as it has compiled before SECONDS are over.  Those that models are made of come first.  --small: the
cases of croze-bench gpu --large --small, on any device of PyTorch's.
"""
import argparse
import json
import signal
import time

import torch
from torch import nn
from torch.nn import functional

parser = argparse.ArgumentParser()
parser.add_argument("seconds", type=float, nargs="?", default=60)
parser.add_argument("--small", metavar="DEVICE")
options = parser.parse_args()
DEVICE = options.small or "cuda"
BEGIN = time.perf_counter()


def random(*shape, dtype=torch.float32):
    return torch.rand(shape, device=DEVICE).sub_(0.5).to(dtype)


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
    one = torch.ones((), device=DEVICE)
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


class ConvNorm(nn.Sequential):
    def __init__(self, inner, outer, size, stride):
        super().__init__(nn.Conv2d(inner, outer, size, stride, size // 2, bias=False),
                         nn.BatchNorm2d(outer))


class Bottleneck(nn.Module):
    def __init__(self, inner, width, stride):
        super().__init__()
        self.first, self.second = ConvNorm(inner, width, 1, 1), ConvNorm(width, width, 3, stride)
        self.third, self.shortcut = ConvNorm(width, 4 * width, 1, 1), None
        if stride != 1 or inner != 4 * width:
            self.shortcut = ConvNorm(inner, 4 * width, 1, stride)

    def forward(self, x):
        y = functional.relu(self.second(functional.relu(self.first(x))))
        return functional.relu(self.third(y) + (self.shortcut(x) if self.shortcut else x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, inner = [], 64
        for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
            for i in range(count):
                blocks.append(Bottleneck(inner, width, 2 if i == 0 and width > 64 else 1))
                inner = 4 * width
        self.stem, self.blocks = ConvNorm(3, 64, 7, 2), nn.Sequential(*blocks)
        self.head = nn.Linear(2048, 1000)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.stem(x)), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for layer in (self.query, self.key, self.value))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return mixed.transpose(1, 2).flatten(2)

    def forward(self, x):
        x = x + self.output(self.attention(self.attention_norm(x)))
        return x + self.down(functional.gelu(self.up(self.mlp_norm(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.tokens, self.places = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.blocks = nn.Sequential(*[Block(768, 12) for _ in range(layers)])
        self.norm = nn.LayerNorm(768)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places.weight[:tokens.shape[1]]
        return functional.linear(self.norm(self.blocks(x)), self.tokens.weight)


def training_step(model, optimizer, inputs, labels):
    """Of a classifier; what torch.compile gets is the model and the loss."""
    def loss_of():
        return functional.cross_entropy(model(inputs).flatten(0, -2), labels)

    def step(loss=loss_of):
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    step.compiled = lambda: lambda loss=torch.compile(loss_of): step(loss)
    return step


def classes(shape, count):
    return torch.randint(count, shape, device=DEVICE)


def resnet50(images, side):
    model = ResNet50().to(DEVICE)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
    return training_step(model, sgd, random(images, 3, side, side), classes((images,), 1000))


def gpt2(batch, length, layers):
    model = Gpt2(layers).to(DEVICE)
    adam = torch.optim.Adam(model.parameters(), fused=True)
    return training_step(model, adam, classes((batch, length), 50257),
                         classes((batch * length,), 50257))


def packed_product(rows, inner, outer):
    """PyTorch's own product with weights of four bits: in groups of 32, of inputs in bfloat16."""
    x = random(rows, inner, dtype=torch.bfloat16)
    weight = torch.randint(256, (outer, inner // 2), device=DEVICE, dtype=torch.uint8)
    packed = torch._convert_weight_to_int4pack(weight, 8)
    scales = random(inner // 32, outer, 2, dtype=torch.bfloat16)
    return lambda: torch._weight_int4pack_mm(x, packed, 32, scales)


def large_products(divisor):
    bf16, fp8 = torch.bfloat16, torch.float8_e4m3fn
    n, hidden = 4096 // divisor, 14336 // divisor
    products = [(bf16, m, m, m) for m in (n, 2 * n)]
    products += [(torch.float16, n, n, n), (torch.float32, n, n, n)]
    products += [(bf16, m, n, hidden) for m in (2048 // divisor, 16, 1)]
    names = {bf16: "bfloat16", torch.float16: "float16", torch.float32: "float32"}

    def product(dtype, m, k, n):
        a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype)
        return lambda: a @ b

    def product_of_bytes(n):
        return scaled(random(n, n, dtype=fp8), random(n, n, dtype=fp8).t())

    for dtype, m, k, n2 in products:
        yield f"{names[dtype]} matmul {m}x{k}x{n2}", lambda: product(dtype, m, k, n2)
    yield f"float8_e4m3 matmul {n}x{n}x{n}", lambda: product_of_bytes(n)
    for m in (n, 2 * n):
        yield f"float8_e4m3 matmul {m}x{m}x{m}, b by columns", lambda: product_of_bytes(m)
    for rows in (1, 8):
        yield f"q4_0 product {rows}x{n}x{hidden}", lambda: packed_product(rows, n, hidden)


def large_cases(is_small):
    """Those of croze-bench gpu --large, by what makes them: a case that fails fails alone."""
    divisor = 64 if is_small else 1
    size = (2, 32) if is_small else (32, 224)
    yield "ResNet-50 step, {0} images of {1}x{1}".format(*size), lambda: resnet50(*size)
    tokens = (1, 16, 1) if is_small else (4, 1024, 12)
    yield "GPT-2 step, {2} layers, {0}x{1} tokens".format(*tokens), lambda: gpt2(*tokens)
    n = 8192 // divisor
    square = random(n, n)
    yield f"softmax {n}x{n}", lambda: lambda: functional.softmax(square, 1)
    yield f"layer norm {n}x{n}", lambda: lambda: functional.layer_norm(square, (n,))
    yield f"gelu {n}x{n}", lambda: lambda: functional.gelu(square)
    yield f"add {n}x{n}", lambda: lambda: square + 1
    yield from large_products(divisor)
    for backward in (False, True):
        for length in (2048, 4096, 8192, 16384):
            for causal in (False, True):
                name = (f"attention {length // divisor}{' causal' if causal else ''}"
                        f"{' and gradients' if backward else ''}")
                yield name, lambda: attention(length // divisor, causal, backward)
    batch, channels, side = (2, 16, 7) if is_small else (32, 128, 28)
    x = random(batch, channels, side, side, dtype=torch.bfloat16)
    w = random(channels, channels, 3, 3, dtype=torch.bfloat16)
    yield (f"bfloat16 conv 3x3 {batch}x{channels}x{side}x{side}",
           lambda: lambda: functional.conv2d(x, w, padding=1))


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def milliseconds(call, most_repeats=50, seconds=0.3):
    """The median of single calls, each waited for, by the host's clock, as croze-bench measures."""
    for _ in range(3):
        call()
    times = []
    while len(times) < 5 or len(times) < most_repeats and sum(times) < 1e3 * seconds:
        synchronize()
        begin = time.perf_counter()
        call()
        synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times)[len(times) // 2]


def stop(*_):
    raise TimeoutError("no time was left")


def all_cases():
    if not options.small:
        for name, call in cases():
            yield name, lambda: call
    yield from large_cases(options.small is not None)


def times_of(made, is_compiled):
    """By name, and what was wrong with the others; made anew one after the other, to keep memory."""
    ms, errors = {}, {}
    for name, make in made:
        if time.perf_counter() - BEGIN > options.seconds:
            break
        try:
            call = make()
            if is_compiled:
                compiled = getattr(call, "compiled", lambda: torch.compile(call))
                call = compiled()
            ms[name] = milliseconds(call)
        except Exception as error:  # whatever a library does not have here
            errors[name] = str(error)[:300]
    return ms, errors


torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
signal.signal(signal.SIGALRM, stop)
# And again: libraries may catch it.
signal.setitimer(signal.ITIMER_REAL, options.seconds, 1)
ms, errors = times_of(all_cases(), False)
compiled_ms, compiled_errors = times_of(large_cases(options.small is not None), True)
signal.setitimer(signal.ITIMER_REAL, 0)
name = torch.cuda.get_device_name() if DEVICE == "cuda" else DEVICE
print(json.dumps({"torch": torch.__version__, "gpu": name, "ms": ms, "compiled_ms": compiled_ms,
                  "errors": errors, "compiled_errors": compiled_errors}))
