#!/usr/bin/env python3
"""same_tokens.py [--llama "chroot /srv/sid"] CROZE MODEL.gguf: whether croze writes what llama.cpp
writes, with real weights.

Both serve the model and go on with ten prompts by 64 tokens, the likeliest one each time.  Where
they differ, the two tokens have to be the two likeliest ones of llama.cpp, closer than TIE: such
ties are listed, and croze goes on behind the token that llama.cpp has chosen.

croze reads the packed weights, llama.cpp the same weights as float32, which llama-quantize makes of
them: what llama.cpp multiplies with packed weights it rounds to eight bits, which parts tokens at
distances a hundred times as large.  Both keep keys and values as float32.

Prints "skipped: .." where the model or llama.cpp is missing.
"""
import argparse
import os
import subprocess
import sys
import tempfile

from llama_server import EXACT, Served, is_installed, program

PROMPTS = [
    "The capital of France is", "Once upon a time", "def fibonacci(n):", "Water boils at",
    "The three laws of robotics are", "In 1969,", "My favourite recipe for bread:",
    "To sort a list in Python,", "The moon is", "Dear Sir or Madam,",
]
TOKENS = 64
TIE = 1e-3
CONTEXT = "128"


def llama_tokens(llama, prompt):
    """The prompt's tokens, and those that follow: number, text, and the likeliest ones there."""
    ids = llama.post("/tokenize", {"content": prompt, "add_special": True})["tokens"]
    answer = llama.post("/completion", dict(prompt=ids, n_predict=TOKENS, temperature=0, n_probs=2,
                                            cache_prompt=False))
    return ids, answer["completion_probabilities"]


def croze_texts(croze, prompt, count):
    choice = croze.post("/v1/completions", dict(prompt=prompt, max_tokens=count, temperature=0,
                                                logprobs=0))["choices"][0]
    # The token that ends a text has none, and llama.cpp lists it.
    return choice["logprobs"]["tokens"] + ([""] if choice["finish_reason"] == "stop" else [])


def tie_of(wanted, text):
    """How far apart llama.cpp's two likeliest tokens are, if `text` is the second of them."""
    first, second = wanted["top_logprobs"][:2]
    return first["logprob"] - second["logprob"] if second["token"] == text else float("inf")


def compare(llama, croze, prompt):
    """Whether all is equal but for ties.  The first answer is to the text, later ones to tokens."""
    ids, wanted = llama_tokens(llama, prompt)
    done, ties, asked = 0, 0, prompt
    while done < len(wanted):
        got = croze_texts(croze, asked, len(wanted) - done)
        equal = next((i for i, text in enumerate(got) if text != wanted[done + i]["token"]), len(got))
        done += equal
        if equal == len(got):
            break
        text = got[equal]
        distance = tie_of(wanted[done], text)
        print(f"  {'tie' if distance < TIE else 'DIFFERS'} at token {done} of {prompt!r}: "
              f"{wanted[done]['token']!r} and {text!r}, {distance:.2g} apart", flush=True)
        if distance >= TIE:
            return False
        ties, done = ties + 1, done + 1
        asked = ids + [token["id"] for token in wanted[:done]]
    print(f"{prompt!r}: {done} of {len(wanted)} tokens, {ties} ties", flush=True)
    return done == len(wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("croze")
    parser.add_argument("model")
    parser.add_argument("--llama", default="", help="command before llama.cpp's programs")
    options = parser.parse_args()
    if not os.path.exists(options.model):
        return print("skipped: there is no", options.model)
    if not is_installed(options.llama):
        return print("skipped: llama.cpp's llama-server is not installed")
    with tempfile.TemporaryDirectory() as folder:
        decoded = os.path.join(folder, "float32.gguf")
        subprocess.run([*program(options.llama, "llama-quantize"), "--allow-requantize",
                        options.model, decoded, "F32"], check=True, capture_output=True)
        # A thread alone does not wait for others that the system has set aside.
        llama_command = [*program(options.llama, "llama-server"), "-m", decoded, "-t", "1",
                         "-c", CONTEXT, "-np", "1", *EXACT]
        croze_command = [options.croze, "serve", options.model, "--context", CONTEXT,
                         "--cache-type", "f32"]
        with Served(llama_command) as llama, Served(croze_command) as croze:
            results = [compare(llama, croze, prompt) for prompt in PROMPTS]
    print(f"{os.path.basename(options.model)}: {sum(results)} of {len(results)} prompts equal")
    sys.exit(not all(results))


main()
