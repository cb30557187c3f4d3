#!/usr/bin/env python3
"""compare_blocks.py GGML_TYPES_PAGE [SEED]: whether croze decodes random blocks of each of ggml's
types as ggml's package does, to the last bit.

Prints "skipped: .." where Python's gguf is missing.
"""
import os
import random
import subprocess
import sys
import tempfile

try:
    import gguf  # noqa: F401
except ImportError:
    print("skipped: there is no package gguf for", sys.executable)
    sys.exit()

import make_gguf

TIMES = 100  # as many blocks as blocks.gguf has

seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
print("seed", seed, flush=True)
with tempfile.TemporaryDirectory() as folder:
    make_gguf.write_blocks(folder, TIMES, seed)
    sys.exit(subprocess.run([sys.argv[1], os.path.join(folder, "blocks.gguf")]).returncode)
