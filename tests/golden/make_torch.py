#!/usr/bin/env python3
"""Records what PyTorch computes, for tests/golden/torch_golden_test.cpp to compare with.

    croze docs ops --json > ops.json
    python3 make_torch.py ops.json OUTPUT_FOLDER [NAME ...]

Needs torch (made with 2.6.0 of Debian 13: python3-torch, python3-setuptools, python3-expecttest).
Inputs are the samples of torch's own test database (op_db), and values and shapes on the edge.  A
case is one call: op, arguments by name, results, and for floats the gradients of

    sum over results r of sum(r * w),  w[i] = ((7 * i + 3 * k) % 11 - 5) / 4

where i counts the elements of the k-th float result.  Cases with numbers beyond 1e6 or undefined
ones have no gradients, and a gradient beyond 1e8, at a pole, is not compared.  A case is left out
if torch does not agree with itself: in another run, or at a higher precision within half of the
tolerance of the test.

One file per family, compressed with gzip: the length of the JSON text (8 bytes, little-endian), the
text, and the bytes of all tensors.  In the text a tensor is ["t", dtype, shape, offset], a text
["s", ..], a dtype ["d", ..], a list ["l", ..], a slice ["slice", ..], an Ellipsis ["..."], and a
float that JSON does not have ["f", "inf"].
Results of which others are as right are null.
"""

import gzip
import itertools
import json
import math
import os
import re
import sys
import warnings
import zlib

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import (
    BinaryUfuncInfo,
    ReductionOpInfo,
    SampleInput,
    UnaryUfuncInfo,
)

DTYPES = {
    "bool": torch.bool,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "float8_e4m3": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOAT8 = {torch.float8_e4m3fn, torch.float8_e5m2}
# Absolute and relative; the test states the same.
TOLERANCE = {
    torch.float16: 2e-3,
    torch.bfloat16: 1.6e-2,
    torch.float32: 1e-5,
    torch.float8_e4m3fn: 0.125,
    torch.float8_e5m2: 0.25,
}
# How many cases an op has per dtype.
LIMIT = {torch.float32: 12, torch.float64: 12}
OTHER_LIMIT = 5
MAX_ELEMENTS = 5000  # of the arguments of a case, and of its results

EDGES = {
    "float": [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.5, math.inf, -math.inf, math.nan],
    "integer": [0, 1, -1, 2, -2, 7, -7],
}
# Where the database does not call a function as torch does: the order of its arguments.
ORDER = {
    "nn.functional.embedding": ["weight", "input"],
    "polygamma": ["input", "n"],
    "nn.functional.embedding_bag": ["weight", "input"],
    "where": ["input", "condition", "other"],
    "cdist": ["x1", "x2", "p", "compute_mode"],
}
# Arguments that say nothing about the result.
IDLE = {"device", "generator", "compute_mode", "return_complex"}
# Functions that read one triangle; torch gives the other one a gradient, too.
TRIANGLES = {
    "cholesky_inverse": lambda l, upper=False: torch.cholesky_inverse(
        l.triu() if upper else l.tril(), upper=upper
    ),
    "cholesky_solve": lambda b, l, upper=False: torch.cholesky_solve(
        b, l.triu() if upper else l.tril(), upper=upper
    ),
}
# Zeros and the least integer end torch's process in some of them.
DIVISIONS = {"div", "true_divide", "floor_divide", "remainder", "fmod", "lcm"}
# Not the same twice, or by chance: with these arguments.
RANDOM = {
    "bernoulli": lambda a: True,
    "nn.functional.rrelu": lambda a: a.get("training"),
    "nn.functional.dropout": lambda a: a.get("training", True) and a.get("p", 0.5) > 0,
    "nn.functional.scaled_dot_product_attention": lambda a: a.get("dropout_p", 0) > 0,
}
# Values that torch takes for a parameter of these types, and the table does not: they belong to
# another overload.
OVERLOADS = {
    "int64": torch.Tensor,
    "Axes": bool,
    "double": torch.Tensor,
    "text": torch.Tensor,
}
# Which of equal elements they take is left open: positions are recorded if there are none.
ANY_OF_EQUALS = {"topk", "kthvalue", "mode"}
# Results that are right with either sign.
EITHER_SIGN = {"linalg.eigh": [1], "linalg.svd": [0, 2]}
# What C leaves open: floats as integers that do not hold them.
CASTS = {
    "byte": torch.uint8,
    "char": torch.int8,
    "short": torch.int16,
    "int": torch.int32,
    "long": torch.int64,
}
# Complex arguments stand here as pairs along the last axis.
COMPLEX = {"fft.hfft"} | {
    f"fft.{name}{axes}" for name in ("fft", "ifft", "irfft") for axes in ("", "2", "n")
}


class Skip(Exception):
    """A sample that cannot be recorded; says why."""


# ---- walking through arguments ------------------------------------------------------------------


def mapped(value, f):
    """`value` with f applied to each tensor in it."""
    if isinstance(value, torch.Tensor):
        return f(value)
    if isinstance(value, (list, tuple)):
        return [mapped(v, f) for v in value]
    if isinstance(value, dict):
        return {k: mapped(v, f) for k, v in value.items()}
    return value


def tensors_in(value):
    found = []
    mapped(value, lambda t: found.append(t) or t)
    return found


def is_float(tensor):
    return tensor.dtype.is_floating_point


# ---- the file -----------------------------------------------------------------------------------


class Recording:
    def __init__(self):
        self.cases = []
        self.blob = bytearray()
        self.offsets = {}

    def tensor(self, t):
        t = as_real(t.detach()).resolve_neg()
        if t.dtype not in NAMES:
            raise Skip(f"dtype {t.dtype}")
        t = t.contiguous()
        data = bytes(t.reshape(-1).view(torch.uint8).numpy()) if t.numel() else b""
        if data not in self.offsets:
            self.offsets[data] = len(self.blob)
            self.blob += data
        return ["t", NAMES[t.dtype], list(t.shape), self.offsets[data]]

    def value(self, v):
        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if isinstance(v, torch.dtype):
            if v not in NAMES:
                raise Skip(f"dtype {v}")
            return ["d", NAMES[v]]
        if v is None or isinstance(v, (bool, int)):
            if isinstance(v, int) and not -(2**63) <= v < 2**63:
                raise Skip("a number beyond int64")
            return v
        if isinstance(v, float):
            return v if math.isfinite(v) else ["f", str(v)]
        if isinstance(v, str):
            return ["s", v]
        if isinstance(v, slice):
            return ["slice", v.start, v.stop, v.step]
        if v is Ellipsis:
            return ["..."]
        if isinstance(v, (list, tuple)):
            return ["l"] + [self.value(x) for x in v]
        raise Skip(f"a {type(v).__name__} as argument")

    def write(self, path):
        text = json.dumps({"cases": self.cases}, separators=(",", ":")).encode()
        body = len(text).to_bytes(8, "little") + text + bytes(self.blob)
        with open(path, "wb") as file:
            with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
                packed.write(body)


# ---- samples ------------------------------------------------------------------------------------


def edge_samples(info, dtype):
    """Values and shapes on the edge for elementwise functions and reductions."""
    if dtype == torch.bool:
        values = [False, True]
    elif dtype.is_floating_point:
        limits = torch.finfo(dtype)
        values = EDGES["float"]
        if info.name not in DIVISIONS:  # torch's remainder of large numbers is NaN
            values = values + [limits.max, limits.min, limits.tiny, limits.tiny / 2]
    else:
        limits = torch.iinfo(dtype)
        values = [v for v in EDGES["integer"] if v >= limits.min] + [limits.max]
        if info.name != "gcd":  # whose result torch gives the wrong sign
            values.append(limits.min)
    line = torch.tensor(values, dtype=torch.float64 if dtype.is_floating_point else dtype).to(dtype)
    small = torch.arange(3).to(dtype)
    tame = line[:8]  # has gradients
    if isinstance(info, UnaryUfuncInfo):
        shapes = [small[1], small[:0].reshape(0, 2), small[None, None]]
        return [SampleInput(t) for t in [line, tame, *shapes]]
    if isinstance(info, BinaryUfuncInfo):
        pair = torch.cartesian_prod(line, line)
        if info.name in DIVISIONS and not dtype.is_floating_point:
            limits = torch.iinfo(dtype)
            pair = pair[((pair != 0) & (pair > limits.min) & (pair < limits.max)).all(1)]
        pairs_of_tame = torch.cartesian_prod(tame, tame)
        shapes = [(pairs_of_tame[:, 0].clone(), pairs_of_tame[:, 1].clone())]
        if info.name in DIVISIONS and not dtype.is_floating_point:
            shapes = []
        shapes += [(small[1], small[2]), (small[:0], small[1]), (small[None], small[1:2])]
        pairs = [(pair[:, 0].clone(), pair[:, 1].clone())] + shapes
        return [SampleInput(a, args=(b,)) for a, b in pairs]
    if isinstance(info, ReductionOpInfo):
        rows = torch.stack([line, line.flip(0), line[:1].expand(line.shape)])
        inputs = [(rows, 1), (rows, 0), (small[1], 0), (small[:0].reshape(2, 0, 3), 0)]
        return [SampleInput(t, kwargs={"dim": d}) for t, d in inputs]
    return []


def database_samples(info, dtype):
    torch.manual_seed(zlib.crc32(f"{info.name} {info.variant_test_name} {dtype}".encode()))
    if dtype not in FLOAT8:
        if dtype not in info.dtypes:
            return []
        return list(itertools.islice(info.sample_inputs("cpu", dtype), 400))
    # The database has none for fp8: take those of float32.
    if torch.float32 not in info.dtypes:
        return []
    samples = list(itertools.islice(info.sample_inputs("cpu", torch.float32), 40))
    convert = lambda t: t.to(dtype) if t.dtype == torch.float32 else t
    return [
        SampleInput(
            mapped(s.input, convert),
            args=tuple(mapped(s.args, convert)),
            kwargs=mapped(s.kwargs, convert),
        )
        for s in samples
    ]


def spread(items, count):
    """`count` of the items, from all over the list."""
    if len(items) <= count:
        return items
    return [items[i * len(items) // count] for i in range(count)]


def rounded(t):
    """Numbers of few bits, which compress well and are the same in float16."""
    if not is_float(t) or t.dtype in FLOAT8 or t.numel() == 0:
        return t
    steps = (t.double() * 64).round() / 64
    keep = torch.isfinite(steps) & (steps.abs() < 16) & ((steps == 0) == (t == 0))
    return torch.where(keep, steps, t.double()).to(t.dtype)


# ---- one case -----------------------------------------------------------------------------------


def bind(row, args, kwargs):
    """Arguments by the names of the row's parameters."""
    names, types = row["parameters"], row["types"]
    order = ORDER.get(row["name"], names)
    args = list(args)
    one_list = types[0] == "Tensors" and not isinstance(args[0], (list, tuple))
    if len(args) > len(order) or one_list:
        # Several arguments where the row has a list.
        last = next((i for i, t in enumerate(types) if t in ("Tensors", "Shape", "Axes")), None)
        if last is None or last >= len(args):
            raise Skip("more arguments than parameters")
        args = args[:last] + [args[last:]]
    bound = dict(zip(order, args))
    bound.update(kwargs)
    if "unbiased" in bound:
        bound["correction"] = int(bound.pop("unbiased"))
    for name in [n for n in bound if n not in names]:
        value = bound.pop(name)
        if value is not None and value is not False and name not in IDLE:
            raise Skip(f"argument {name}")
    for name, kind in zip(names, types):
        value = bound.get(name)
        if kind == "Tensor" and isinstance(value, (list, tuple)):
            if not all(isinstance(v, int) for v in value):
                raise Skip(f"{name} is a list")
            bound[name] = torch.tensor(value)
        if value is not None and isinstance(value, OVERLOADS.get(kind, ())):
            raise Skip(f"{name} is a {type(value).__name__}")
    return bound


def as_real(t):
    """Complex numbers as pairs along the last axis."""
    return torch.view_as_real(t.resolve_conj()) if t.dtype.is_complex else t


def of_pairs(function):
    """The function of complex numbers as one of pairs of real ones."""

    def real(x, *args, **kwargs):
        result = function(torch.view_as_complex(x.contiguous()), *args, **kwargs)
        return as_real(result)

    return real


def results_of(function, args, kwargs):
    result = function(*args, **kwargs)
    if isinstance(result, torch.Tensor):
        return [as_real(result)]
    if isinstance(result, (list, tuple)) and all(isinstance(r, torch.Tensor) for r in result):
        return list(result)
    raise Skip(f"a result of type {type(result).__name__}")


def weights_of(result, k):
    i = torch.arange(result.numel(), dtype=torch.int64)
    return (((7 * i + 3 * k) % 11 - 5).double() / 4).to(result.dtype).reshape(result.shape)


def gradients_of(function, args, kwargs):
    """One gradient per tensor among the arguments, None for those without."""
    leaves = []

    def leaf(t):
        t = t.detach().clone()
        if is_float(t):
            t.requires_grad_(True)
        leaves.append(t)
        return t

    args, kwargs = mapped(args, leaf), mapped(kwargs, leaf)
    results = [r for r in results_of(function, args, kwargs) if is_float(r)]
    loss = sum(((r * weights_of(r, k)).sum() for k, r in enumerate(results)), torch.zeros(()))
    targets = [t for t in leaves if t.requires_grad]
    if not targets or not loss.requires_grad:
        return None
    found = iter(torch.autograd.grad(loss, targets, allow_unused=True))
    gradients = [next(found) if t.requires_grad else None for t in leaves]
    return [
        torch.zeros_like(t) if g is None and t.requires_grad else g
        for t, g in zip(leaves, gradients)
    ]


def drop_empty(gradients):
    """Without those of no elements; None if nothing is left."""
    kept = [g if g is not None and g.numel() > 0 else None for g in gradients or []]
    return kept if any(g is not None for g in kept) else None


def same(a, b, tolerance):
    if a.shape != b.shape:
        return False
    a, b = a.double(), b.double()
    return torch.allclose(a, b, atol=tolerance, rtol=tolerance, equal_nan=True)


def agrees_with_itself(function, args, kwargs, results, dtype):
    again = results_of(function, mapped(args, torch.clone), mapped(kwargs, torch.clone))
    if not all(same(a, b, 0) for a, b in zip(results, again)):
        return False
    # Floats as float64; integers that become floats too, others as int64 (they wrap).
    floats = any(is_float(r) for r in results)
    if dtype in (torch.float64, torch.bool) or (dtype == torch.int64 and not floats):
        return True
    wide_type = torch.float64 if floats or dtype.is_floating_point else torch.int64
    widen = lambda t: t.to(wide_type) if t.dtype == dtype else t
    try:
        wide = results_of(function, mapped(args, widen), mapped(kwargs, widen))
    except (RuntimeError, ValueError, TypeError, NotImplementedError):
        return True  # not for the wide dtype: nothing to compare with
    return len(wide) == len(results) and all(
        same(r, w.to(r.dtype), TOLERANCE.get(r.dtype, 0) / 2) for r, w in zip(results, wide)
    )


def refuse(name, args, bound):
    """Raises Skip for what is random, or open, or no call that torch documents."""
    inputs = tensors_in(bound)
    if name in DIVISIONS and any(not is_float(t) and (t == 0).any() for t in inputs):
        raise Skip("zeros")
    if name in CASTS and not all(fits(t, CASTS[name]) for t in inputs):
        raise Skip("out of range")
    if name == "nn.functional.batch_norm" and args[0].ndim < 2:
        raise Skip("no channels")
    if name == "nn.functional.local_response_norm" and not is_float(args[0]):
        raise Skip("nothing, or an error")
    if RANDOM.get(name, lambda a: False)(bound):
        raise Skip("random")


def case_of(row, info, sample, dtype, recording):
    args, kwargs = [sample.input, *sample.args], dict(sample.kwargs)
    function = TRIANGLES.get(row["name"], info.op)
    if row["name"] in COMPLEX:
        function = of_pairs(function)
        args[0] = torch.stack([args[0], args[0].flip(-1)], -1)
    args, kwargs = mapped(args, rounded), mapped(kwargs, rounded)
    bound = bind(row, args, kwargs)
    inputs = tensors_in(bound)
    refuse(info.name, args, bound)
    if sum(t.numel() for t in inputs) > MAX_ELEMENTS:
        raise Skip("too large")
    with torch.no_grad():
        results = results_of(function, mapped(args, torch.clone), mapped(kwargs, torch.clone))
        if sum(t.numel() for t in results) > MAX_ELEMENTS:
            raise Skip("too large")
        if not agrees_with_itself(function, args, kwargs, results, dtype):
            raise Skip("torch does not agree with itself")
    case = {
        "op": row["name"],
        "dtype": NAMES[dtype],
        "arguments": {name: recording.value(v) for name, v in bound.items()},
        "results": [recording.tensor(r) for r in results],
    }
    is_open = EITHER_SIGN.get(info.name, [])
    if info.name in ANY_OF_EQUALS and args[0].unique().numel() < args[0].numel():
        is_open = [1]
    for k in is_open:
        case["results"][k] = None
    tame = not is_open and all(is_moderate(t) for t in inputs + results)
    if row["gradients"] and tame and dtype in (torch.float32, torch.float64):
        gradients = recorded_gradients(function, args, kwargs, dtype, recording)
        if gradients is not None:
            case["gradients"] = gradients
    return case


def fits(t, dtype):
    limits = torch.iinfo(dtype)
    t = t.double()
    return bool(((t >= limits.min) & (t <= limits.max)).all())


def is_moderate(t):
    return not is_float(t) or bool((t.abs() < 1e6).all())


def recorded_gradients(function, args, kwargs, dtype, recording):
    try:
        found = drop_empty(gradients_of(function, args, kwargs))
    except (RuntimeError, NotImplementedError):
        return None
    if found is None or any(g is not None and g.dtype.is_complex for g in found):
        return None
    if dtype == torch.float32:
        widen = lambda t: t.double() if t.dtype == dtype else t
        wide = gradients_of(function, mapped(args, widen), mapped(kwargs, widen))
        if not all(g is None or same(g, w, 5e-5) for g, w in zip(found, wide)):
            return None
    return [None if g is None else recording.tensor(g) for g in found]


# ---- all ----------------------------------------------------------------------------------------


def record_op(row, infos, recording, reasons):
    count = gradients = 0
    for dtype in (DTYPES[name] for name in row["dtypes"] if name in DTYPES):
        candidates, seen = [], set()
        for info in infos:
            samples = []
            for source in (edge_samples, database_samples):
                try:
                    samples += source(info, dtype)
                except Exception as error:  # not for this dtype
                    reasons[f"{source.__name__}: {type(error).__name__}"] = 1
            candidates.append([(info, s) for s in samples])
        kept = 0
        limit = LIMIT.get(dtype, OTHER_LIMIT)
        share = max(2, math.ceil(limit / len(infos)))
        for group in candidates:
            good = []
            for info, sample in spread(group, 40):
                try:
                    case = case_of(row, info, sample, dtype, recording)
                    text = json.dumps(case)
                    if text not in seen:
                        seen.add(text)
                        good.append(case)
                except Skip as reason:
                    reasons[str(reason)] = reasons.get(str(reason), 0) + 1
                except Exception as error:
                    reason = f"{type(error).__name__}: {str(error)[:80]}"
                    reasons[reason] = reasons.get(reason, 0) + 1
            chosen = spread(good, share)
            recording.cases += chosen
            kept += len(chosen)
            gradients += sum("gradients" in c for c in chosen)
        count += kept
    return count, gradients


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    rows = json.load(open(sys.argv[1]))
    folder, wanted = sys.argv[2], set(sys.argv[3:])
    families = {}
    for row in rows:
        families.setdefault(row["family"], []).append(row)
    total = [0, 0, 0]
    for family, members in families.items():
        if wanted and family not in wanted:
            continue
        recording = Recording()
        for row in members:
            infos = [i for i in op_db if i.name == row["name"] and i.variant_test_name != "nuc"]
            reasons = {}
            count, gradients = record_op(row, infos, recording, reasons) if infos else (0, 0)
            total = [total[0] + (count > 0), total[1] + count, total[2] + gradients]
            print(f"{row['name']}: {count} cases, {gradients} with gradients", flush=True)
            print(f"    left out: {reasons}")
        compact(recording)
        slug = re.sub("[^a-z]+", "_", family.lower())
        recording.write(os.path.join(folder, f"{slug}.gz"))
    print("{} ops, {} cases, {} with gradients".format(*total))


def compact(recording):
    """Drops the tensors of cases that were not chosen."""
    fresh, old = Recording(), bytes(recording.blob)

    def moved(v):
        if isinstance(v, dict):
            return {k: moved(x) for k, x in v.items()}
        if not isinstance(v, list):
            return v
        if v and v[0] == "t":
            size = math.prod(v[2]) * DTYPES[v[1]].itemsize
            data = old[v[3] : v[3] + size]
            if data not in fresh.offsets:
                fresh.offsets[data] = len(fresh.blob)
                fresh.blob += data
            return [*v[:3], fresh.offsets[data]]
        return [moved(x) for x in v]

    recording.cases = [moved(c) for c in recording.cases]
    recording.blob = fresh.blob


if __name__ == "__main__":
    main()
