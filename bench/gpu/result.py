#!/usr/bin/env python3
"""result.py FOLDER: what the steps of run.sh have left there, as one JSON."""
import json
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])


def read(name):
    path = folder / name
    return path.read_text(errors="replace") if path.exists() else ""


def parsed(name):
    lines = [line for line in read(name + ".log").splitlines() if line[:1] in ("{", "[")]
    try:
        return json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        return {"errors": read(name + ".errors")[-2000:]}


def tests(name):
    text = read(name + ".log")
    counts = {word: sum(map(int, re.findall(rf"\[  {word} +\] (\d+) tests?", text)))
              for word in ("PASSED", "SKIPPED", "FAILED")}
    status = int(read(name + ".status") or -1)
    failures = [] if status == 0 else text.splitlines()[-60:]
    return {"status": status, **counts, "failures": failures,
            "counts": [line for line in text.splitlines() if re.match(r"CUDA[ :]", line)]}


# Thousands of millions of operations a second, by the dtype of factors (those of float32 without
# tensor cores), and of bytes: what makers say of processors whose names have this.
PEAKS = {
    "H200": {"float32": 67e3, "float16": 989e3, "bfloat16": 989e3, "float8": 1979e3, "bytes": 4800},
    "H100": {"float32": 67e3, "float16": 989e3, "bfloat16": 989e3, "float8": 1979e3, "bytes": 3350},
    "A100": {"float32": 19.5e3, "float16": 312e3, "bfloat16": 312e3, "bytes": 2039},
}


def peak_of(name, peaks):
    """Of a case, and what that is of: operations on these numbers, or bytes."""
    if re.match("(add|gelu|softmax|layer norm|q4_0)", name) or re.search("matmul (1|16)x", name):
        return "bytes", peaks.get("bytes")
    dtype = re.match("float16|bfloat16|float8", name)
    kind = dtype[0] if dtype else "bfloat16" if name.startswith("attention") else "float32"
    return kind, peaks.get(kind)


def add_fraction_of_peak(row, peaks):
    """Products of few rows are bound by the bytes that they read, of which `giga_per_s` is not."""
    kind, peak = peak_of(row["name"], peaks)
    rate = row.get("giga_per_s")
    product = re.match(r"b?float16 matmul (\d+)x(\d+)x(\d+)", row["name"])
    if product and kind == "bytes":
        m, k, n = map(int, product.groups())
        rate = 2e-9 * (m * k + k * n + m * n) / (1e-3 * row["ms"])
    if peak and rate:
        row["bound_by"], row["of_peak"] = kind, rate / peak


suites = {name: tests(name) for name in ("device_suite", "far_offsets", "op_list", "golden")}
result = {"devices": parsed("devices"), **suites, "times": parsed("times"),
          "large": parsed("large"), "models": parsed("models"), "torch": parsed("torch")}
# What wgmma computes beside the same without it: results of as many bits, rounded on other ways.
without = {row.get("name"): row for row in result["large"].get("results", [])}
result["wgmma"] = parsed("wgmma")
for row in result["wgmma"].get("results", []):
    other = without.get(row.get("name"), {})
    if not row.get("ms") or not other.get("ms"):
        continue
    row["speed_of_without"] = other["ms"] / row["ms"]
    size, most = other["results"][0], 0.05 if "float8" in row["name"] else 0.02
    row["is_same"] = all(abs(a - b) <= most * size
                         for a, b in zip(row["results"], other["results"], strict=True))
peers = {"torch": result["torch"].get("ms", {}),
         "torch_compiled": result["torch"].get("compiled_ms", {})}
gpu = result["torch"].get("gpu", "") + read("devices.log")
peaks = next((peaks for name, peaks in PEAKS.items() if name in gpu), {})
for part in ("times", "large", "models", "wgmma"):
    for row in result[part].get("results", []):
        if not row.get("ms"):
            continue
        if part != "times":
            add_fraction_of_peak(row, peaks)
        for peer, ms in peers.items():
            if row["name"] in ms:
                row[peer + "_ms"] = ms[row["name"]]
                row["speed_of_" + peer] = ms[row["name"]] / row["ms"]
print(json.dumps(result, indent=1))
# Without a GPU all tests are skipped: that is no success either.
differs = any(row.get("is_same") is False for row in result["wgmma"].get("results", []))
sys.exit(differs or
         any(s["status"] != 0 or s["SKIPPED"] > 0 and s["PASSED"] == 0 for s in suites.values()))
