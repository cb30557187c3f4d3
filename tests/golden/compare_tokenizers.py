#!/usr/bin/env python3
"""Compares croze with Hugging Face's tokenizers on real vocabularies and some megabytes of text.

    python3 compare_tokenizers.py CROZE_COMMAND NAME=tokenizer.json ... [NAME=tokenizer.json,model.gguf]

Needs the Python package tokenizers and Debian's bible-kjv; prints "skipped: .." without them.  A
file that is missing is skipped, by name.  Of a pair the second file is what croze reads.  Prints
the table of docs/tokenizers.md.  Special tokens are found in the text.  What is compared: all ids
of encoding, and the text of decoding them.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import tokenizers
except ImportError:
    print("skipped: there is no package tokenizers for", sys.executable)
    sys.exit()

import tokenizer_texts

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SIZE = 5_000_000


def croze(command, *arguments):
    return subprocess.run([command, "tokenize", *arguments], capture_output=True, check=True).stdout


def first_difference(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def compare(command, name, reference, model, path, text):
    peer = tokenizers.Tokenizer.from_file(reference)
    peer.no_truncation()
    peer.no_padding()
    begin = time.time()
    wanted = peer.encode(text).ids
    peer_seconds = time.time() - begin
    got = json.loads(croze(command, model, path, "--special", "--json"))
    ids = got["ids"]
    with tempfile.NamedTemporaryFile("w") as file:
        json.dump(wanted, file)
        file.flush()
        decoded = croze(command, model, file.name, "--decode").decode()
    same_text = decoded == peer.decode(wanted)
    at = first_difference(ids, wanted)
    equal = len(ids) == len(wanted) == at
    print(f"| {name} | {peer.get_vocab_size()} | {len(wanted)} | {'all' if equal else at} | "
          f"{'equal' if same_text else 'DIFFERS'} | {got['load_seconds']:.2f} | "
          f"{got['encode_seconds']:.2f} | {peer_seconds:.2f} |", flush=True)
    if not equal:
        print("  differs:", ids[at:at + 8], wanted[at:at + 8], repr(peer.decode(wanted[at - 4:at + 8])))
    return equal and same_text


def main():
    if not shutil.which("bible"):
        return print("skipped: there is no bible (Debian's bible-kjv)")
    command, models = sys.argv[1], sys.argv[2:]
    data = tokenizer_texts.big(ROOT, SIZE)
    text = data.decode(errors="replace")
    good = True
    print(f"{len(data)} bytes, tokenizers {tokenizers.__version__}\n")
    print("| vocabulary | tokens of it | tokens of the text | equal | decoded | load, s | encode, s "
          "| tokenizers, s |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        for model in models:
            name, paths = model.split("=", 1)
            paths = paths.split(",")
            if not all(map(os.path.exists, paths)):
                print(f"| {name} | skipped: not there |")
                continue
            good &= compare(command, name, paths[0], paths[-1], file.name, text)
    sys.exit(0 if good else 1)


main()
