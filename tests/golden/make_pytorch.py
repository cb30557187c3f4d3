#!/usr/bin/env python3
"""Makes small checkpoints with PyTorch, and what is in them, for tests/io/pytorch.

    python3 make_pytorch.py FOLDER    # tests/golden/pytorch

The files there are by PyTorch 2.6.  expected.json has of each file the tensors, as dtype, sizes and the
bytes of their elements in order, and the other values, by name.
"""
import collections
import io
import json
import os
import sys
import zipfile

import torch

NAMES = {torch.float8_e4m3fn: "Float8E4M3", torch.float8_e5m2: "Float8E5M2"}


def dtypes():
    kinds = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
             torch.bfloat16, torch.float32, torch.float64, torch.uint16, torch.uint32, torch.uint64,
             torch.float8_e4m3fn, torch.float8_e5m2]
    return {str(k).split(".")[1]: torch.tensor([0, 1, 2, 3, 100]).to(k) for k in kinds}


def views():
    base = torch.arange(24, dtype=torch.float32)
    grid = base.reshape(4, 6)
    return {"base": base, "part": base[5:11], "transposed": grid.t(), "columns": grid[:, 1:5:2],
            "permuted": base.reshape(2, 3, 4).permute(2, 0, 1), "row": grid[2], "column": grid[:, 3],
            "expanded": base[3].expand(2, 3), "rows": grid[1:2].expand(3, 6), "one": base[7],
            "channels": torch.arange(48.0).reshape(2, 2, 3, 4).contiguous(memory_format=torch.channels_last),
            "empty": torch.zeros(0, 3), "windows": base.as_strided((3, 4), (2, 1)),
            "step": base[1::5], "ones": grid.reshape(1, 4, 1, 6).transpose(0, 2)}


def values():
    return {"none": None, "yes": True, "no": False, "int": 7, "minus": -1, "long": 1 << 40,
            "least": -(1 << 63), "float": 0.5, "text": "h\u00e9llo", "bytes": b"\x00\xff\x80a", "no bytes": b"",
            "list": [1, [2, "x"], ()], "tuple": (1, 2, 3, 4), "set": {5}, "size": torch.Size([2, 3]),
            "device": torch.device("cpu"), "cuda": torch.device("cuda:1"), "dtype": torch.float16,
            "ordered": collections.OrderedDict([("b", 1), ("a", 2)]), "empty": {}, 3: "three"}


def training():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.BatchNorm1d(4))
    adam = torch.optim.AdamW(model.parameters(), lr=0.01)
    model(torch.randn(5, 3)).sum().backward()
    adam.step()
    return {"model": model.state_dict(), "optimizer": adam.state_dict(), "epoch": 3,
            "shared": [model[0].weight, model[0].weight.data]}


FILES = {"dtypes": dtypes, "views": views, "values": values, "training": training,
         "tensor": lambda: torch.tensor([[1.5, -2]]), "parameter": lambda: torch.nn.Parameter(torch.ones(2))}


def flat(value, name, out):
    if isinstance(value, torch.Tensor):
        value = value.detach().contiguous()
        data = value.reshape(-1).view(torch.uint8) if value.numel() else torch.zeros(0, dtype=torch.uint8)
        out[name] = {"dtype": str(value.dtype)[6:], "sizes": list(value.shape), "bytes": data.tolist()}
    elif isinstance(value, (dict, list, tuple, set)):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, member in members:
            flat(member, f"{name}.{key}" if name else str(key), out)
    elif isinstance(value, bytes):
        out[name] = {"value": list(value)}
    else:
        plain = value is None or isinstance(value, (bool, int, float, str))
        out[name] = {"value": value if plain else str(value)}


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def saved(value, **options):
    stream = io.BytesIO()
    torch.save(value, stream, **options)
    return stream.getvalue()


def big_endian(data):
    """As a machine that is big-endian writes float32."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if "/data/" in name and content:
                content = torch.frombuffer(bytearray(content), dtype=torch.uint8).reshape(-1, 4).flip(1)
                content = bytes(content.flatten().tolist())
            new.writestr(zipfile.ZipInfo(name), b"big" if name.endswith("byteorder") else content)
    return out.getvalue()


def deflated(data):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), old.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


class Evil:
    def __reduce__(self):
        return os.system, ("exit 1",)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    expected = {}
    for name, make in FILES.items():
        value = make()
        out = {}
        flat(value, "", out)
        forms = {".pth": saved(value), ".protocol4.pth": saved(value, pickle_protocol=4)}
        if name != "dtypes":  # those newer than the format are none of it
            forms[".legacy.pth"] = saved(value, _use_new_zipfile_serialization=False)
        if name == "views":
            forms[".big.pth"] = big_endian(forms[".pth"])
            forms[".deflated.pth"] = deflated(forms[".pth"])
        for form, data in forms.items():
            write(folder, name + form, data)
            expected[name + form] = out
    write(folder, "refused.model.pth", saved(torch.nn.Linear(1, 1)))
    write(folder, "refused.evil.pth", saved({"a": Evil()}))
    write(folder, "refused.complex.pth", saved(torch.zeros(1, dtype=torch.complex64)))
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump(expected, file, separators=(",", ":"))


main()
