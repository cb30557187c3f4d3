"""Models that torch.onnx exports, and what onnxruntime computes with them: croze-bench onnx.

Writes an archive (tar) to standard output.  `open/NAME.onnx` leaves sizes open;
`open/NAME.json` has their bounds, and `open/NAME.K.inputs.npz`, `open/NAME.K.outputs.npz` are a run
of onnxruntime at the K-th of twenty lists of sizes.  `small/NAME.onnx` and its `inputs`, `outputs`
are networks that take less than a millisecond, with the shapes of keyword spotters.
"""

import io
import json
import os
import sys
import tarfile
import warnings

archive = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # whatever libraries print
warnings.filterwarnings("ignore")

import numpy as np
import onnxruntime
import torch
import torch.nn.functional as F
from torch import nn

RUNS = 20
random = np.random.default_rng(20)


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1)
        self.second = nn.Conv2d(after, after, 3, 1, 1)
        self.norm = nn.BatchNorm2d(after)
        self.shortcut = nn.Conv2d(before, after, 1, stride)

    def forward(self, x):
        y = self.norm(self.second(F.relu(self.first(x))))
        return F.relu(y + self.shortcut(x))


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 7, 2, 3)
        self.blocks = nn.Sequential(Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 48, 2))
        self.head = nn.Linear(48, 10)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.stem(images)), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


class UNet(nn.Module):
    """Halves an image twice and makes it whole again."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(1, 8, 3, 1, 1), nn.Conv2d(8, 16, 3, 2, 1),
                                   nn.Conv2d(16, 32, 3, 2, 1)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)])
        self.joined = nn.ModuleList([nn.Conv2d(32, 16, 3, 1, 1), nn.Conv2d(16, 8, 3, 1, 1)])
        self.last = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = F.relu(layer(x))
            kept.append(x)
        kept.pop()
        for up, joined in zip(self.up, self.joined):
            x = F.relu(joined(torch.cat([up(x), kept.pop()], 1)))
        return torch.sigmoid(self.last(x))


class Block(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    width = 64

    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(256, self.width), nn.Embedding(512, self.width)
        self.blocks = nn.Sequential(*[Block(self.width, 4, True) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(self.width), nn.Linear(self.width, 256)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


class Mlp(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten(), nn.Linear(16 * 96, 64), nn.LayerNorm(64), nn.ReLU(),
                         nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU(), nn.Linear(64, 1),
                         nn.Sigmoid())


class Separable(nn.Module):
    """Depthwise separable convolutions over 49 frames of 10 cepstral coefficients."""

    def __init__(self, width=64):
        super().__init__()
        self.stem = nn.Conv2d(1, width, (10, 4), 2, (5, 1))
        self.layers = nn.Sequential(*[nn.Sequential(
            nn.Conv2d(width, width, 3, 1, 1, groups=width), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 1), nn.BatchNorm2d(width), nn.ReLU()) for _ in range(4)])
        self.head = nn.Linear(width, 12)

    def forward(self, x):
        return self.head(self.layers(F.relu(self.stem(x))).mean((2, 3))).softmax(-1)


class Temporal(nn.Module):
    """Dilated convolutions over 100 frames of 40 bands."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv1d(40 if i == 0 else 32, 32, 3, 1, 2**i, 2**i)
                                     for i in range(5)])
        self.head = nn.Linear(32, 12)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.head(x.mean(-1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.head = nn.GRU(40, 64, batch_first=True), nn.Linear(64, 12)

    def forward(self, x):
        return self.head(self.gru(x)[0][:, -1])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(40, 64)
        self.blocks = nn.Sequential(*[Block(64, 4, False) for _ in range(2)])
        self.head = nn.Linear(64, 12)

    def forward(self, x):
        return self.head(self.blocks(self.enter(x)).mean(1))


class Spectrum(nn.Module):
    """Frames of sound times a matrix of waves, in bands, and a convolution over them."""

    def __init__(self):
        super().__init__()
        self.waves = nn.Conv1d(1, 258, 512, 160, bias=False)
        self.bands, self.last = nn.Linear(129, 32), nn.Conv1d(32, 32, 3)

    def forward(self, samples):
        real, imaginary = self.waves(samples.unsqueeze(1)).chunk(2, 1)
        power = real.square() + imaginary.square()
        return self.last(torch.log(self.bands(power.transpose(1, 2)).abs() + 1e-4).transpose(1, 2))


def export(model, example, open_sizes):
    file = io.BytesIO()
    torch.onnx.export(model.eval(), (example,), file, input_names=["x"], output_names=["y"],
                      opset_version=17, dynamic_axes={"x": open_sizes} if open_sizes else None,
                      dynamo=False)
    return file.getvalue()


class Archive:
    def __init__(self, stream):
        self.tar = tarfile.open(fileobj=stream, mode="w|")

    def add(self, name, data):
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        self.tar.addfile(entry, io.BytesIO(data))

    def add_run(self, name, model, x):
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        for what, arrays in (("inputs", {"x": x}), ("outputs", {"y": session.run(None, {"x": x})[0]})):
            file = io.BytesIO()
            np.savez(file, **arrays)
            self.add(f"{name}.{what}.npz", file.getvalue())


def numbers(*shape):
    return random.standard_normal(shape).astype(np.float32)


# Name: the model, its open axes with name, least, most and multiple, and an input of given sizes.
OPEN = {
    "convolutional": (Convolutional, {0: ("batch", 1, 8, 1), 2: ("height", 32, 160, 1),
                                      3: ("width", 32, 160, 1)},
                      lambda batch, height, width: numbers(batch, 3, height, width)),
    "unet": (UNet, {0: ("batch", 1, 4, 1), 2: ("height", 16, 128, 4), 3: ("width", 16, 128, 4)},
             lambda batch, height, width: numbers(batch, 1, height, width)),
    "transformer": (Transformer, {0: ("batch", 1, 8, 1), 1: ("length", 1, 256, 1)},
                    lambda batch, length: random.integers(0, 256, (batch, length))),
}
SMALL = {
    "mlp": (Mlp, (1, 16, 96)),
    "separable": (Separable, (1, 1, 49, 10)),
    "temporal": (Temporal, (1, 40, 100)),
    "recurrent": (Recurrent, (1, 25, 40)),
    "encoder": (Encoder, (1, 32, 40)),
    "spectrum": (Spectrum, (1, 2400)),
}


def main():
    torch.manual_seed(20)
    out = Archive(archive)
    for name, (kind, axes, make) in OPEN.items():
        bounds = list(axes.values())
        example = [(2 * multiple + least, multiple) for _, least, _, multiple in bounds]
        example = torch.from_numpy(make(*[size // multiple * multiple for size, multiple in example]))
        model = export(kind(), example, {axis: size[0] for axis, size in axes.items()})
        out.add(f"open/{name}.onnx", model)
        out.add(f"open/{name}.json", json.dumps([
            {"name": size, "least": least, "most": most, "multiple": multiple}
            for size, least, most, multiple in bounds]).encode())
        for run in range(RUNS):
            sizes = [int(random.integers(least // multiple, most // multiple, endpoint=True)) * multiple
                     for _, least, most, multiple in bounds]
            out.add_run(f"open/{name}.{run}", model, make(*[max(size, bound[1]) for size, bound
                                                            in zip(sizes, bounds)]))
    for name, (kind, shape) in SMALL.items():
        x = numbers(*shape)
        model = export(kind(), torch.from_numpy(x), None)
        out.add(f"small/{name}.onnx", model)
        out.add_run(f"small/{name}", model, x)
    out.tar.close()


main()
