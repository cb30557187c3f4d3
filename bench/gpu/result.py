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


suites = {name: tests(name) for name in ("device_suite", "far_offsets", "op_list", "golden")}
result = {"devices": parsed("devices"), **suites, "times": parsed("times"),
          "large": parsed("large"), "torch": parsed("torch")}
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
ms = result["torch"].get("ms", {})
for row in sum((result[part].get("results", []) for part in ("times", "large", "wgmma")), []):
    if row.get("name") in ms and row.get("ms"):
        row["torch_ms"] = ms[row["name"]]
        row["speed_of_torch"] = ms[row["name"]] / row["ms"]
print(json.dumps(result, indent=1))
# Without a GPU all tests are skipped: that is no success either.
differs = any(row.get("is_same") is False for row in result["wgmma"].get("results", []))
sys.exit(differs or
         any(s["status"] != 0 or s["SKIPPED"] > 0 and s["PASSED"] == 0 for s in suites.values()))
