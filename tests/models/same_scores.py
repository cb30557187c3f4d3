#!/usr/bin/env python3
"""same_scores.py [--llama "chroot /srv/sid"] MODEL.gguf ..: whether llama.cpp computes what
transformers has computed for small models (golden/make_language_models.py and
make_embedding_models.py), which is what croze is held against, to 1e-4, in tests/llm/.

llama.cpp reads each model with its weights as float32 and as they are stored, as float16 but for
llama.gguf.  Compared are the scores behind each token of the prompt, from which their mean is
taken, relative to the largest, and the 64 likeliest tokens; of encoders the elements of vectors of
length 1.

What llama.cpp rounds has other limits: it looks GELU up in a table of float16, and rounds to
float16 what it multiplies with weights of float16; tokens may differ then.  For Mistral it knows no
window, so no more tokens than that are compared.

Prints "skipped: .." where Python's gguf or llama.cpp is missing.
"""
import argparse
import os
import sys
import tempfile

try:
    import gguf
    import numpy as np
except ImportError:
    print("skipped: there is no package gguf for", sys.executable)
    sys.exit()

from llama_server import EXACT, Served, is_installed, program

LIMIT, LIMIT_OF_GELU, LIMIT_OF_FLOAT16 = 9e-4, 2e-3, 1e-2
HAVE_GELU = ("gemma", "gemma2", "gemma3", "gpt2", "starcoder2", "bert")
# Tokens have no texts in these files, and the server wants some.  By the name of a model llama.cpp
# would look for tokens of Phi 3.
LEFT_OUT = ("tokenizer.", "GGUF.", "general.architecture", "general.name", "test.")


# llama.cpp knows a DeepSeek V2 without compressed queries by its 27 layers.  More layers that add
# nothing to what they get do not change a model.
LAYERS_WITHOUT_QUERY_RANK = 27


def idle_layers(fields):
    name = fields["general.architecture"]
    if name != "deepseek2" or f"{name}.attention.q_lora_rank" in fields:
        return []
    return range(fields[f"{name}.block_count"], LAYERS_WITHOUT_QUERY_RANK)


def copy_tensors(reader, writer, is_float32, idle):
    for tensor in reader.tensors:
        data = tensor.data
        if is_float32 and tensor.tensor_type == gguf.GGMLQuantizationType.F16:
            data = data.astype(np.float32)
        writer.add_tensor(tensor.name, data)
        last = f"blk.{idle[0] - 1}." if idle else None
        if last and tensor.name.startswith(last):
            adds = "attn_output" in tensor.name or "ffn_down" in tensor.name
            for i in idle:
                writer.add_tensor(tensor.name.replace(last, f"blk.{i}."), data * 0 if adds else data)


def with_vocabulary(path, copy, is_float32):
    """Writes the model with a vocabulary; what was recorded of it."""
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    idle = idle_layers(fields)
    writer = gguf.GGUFWriter(copy, fields["general.architecture"])
    for name, field in reader.fields.items():
        if name.startswith(LEFT_OUT):
            continue
        value = idle[-1] + 1 if idle and name.endswith(".block_count") else fields[name]
        writer.add_key_value(name, value, field.types[0],
                             field.types[-1] if len(field.types) > 1 else None)
    rows = {tensor.name: int(tensor.shape[-1]) for tensor in reader.tensors}
    count = rows["token_embd.weight"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([f"<{i}>" for i in range(count)])
    writer.add_token_types([gguf.TokenType.NORMAL] * count)
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(0)
    if "token_types.weight" in rows:
        writer.add_token_type_count(rows["token_types.weight"])
    copy_tensors(reader, writer, is_float32, idle)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return fields


def next_token(server, tokens, **more):
    answer = server.post("/completion", dict(prompt=tokens, n_predict=1, temperature=0, **more))
    return answer["completion_probabilities"][0]


def scores_behind(server, tokens, count):
    """Logarithms of the probabilities of all tokens."""
    scores = np.full(count, -np.inf)
    for top in next_token(server, tokens, n_probs=count)["top_logprobs"]:
        scores[top["id"]] = top["logprob"]
    return scores


def centred(scores):
    return scores - scores.mean(axis=-1, keepdims=True)


def compare_vectors(server, recorded):
    tokens, vectors = list(recorded["test.tokens"]), np.array(recorded["test.vectors"])
    lengths = recorded["test.lengths"]
    wanted, difference = vectors.reshape(len(lengths), -1), 0.0
    for i, length in enumerate(lengths):
        text, tokens = tokens[:length], tokens[length:]
        if length == max(lengths):  # as long as the context, and the server wants some more
            continue
        answer = server.post("/embedding", {"content": text})
        difference = max(difference, abs(np.array(answer[0]["embedding"][0]) - wanted[i]).max())
    return float(difference), 0, 0


def compare(server, recorded):
    """The largest difference of scores, relative to the largest score, and how many tokens agree."""
    if "test.vectors" in recorded:
        return compare_vectors(server, recorded)
    prompt, greedy = list(recorded["test.tokens"]), list(recorded["test.greedy"])
    wanted = np.array(recorded["test.logits"], dtype=np.float64).reshape(len(prompt), -1)
    window = recorded.get("llama.attention.sliding_window")
    if window:
        prompt, wanted, greedy = prompt[:window], wanted[:window], []
    got = [scores_behind(server, prompt[:i + 1], wanted.shape[1]) for i in range(len(prompt))]
    difference = abs(centred(np.array(got)) - centred(wanted)).max() / abs(centred(wanted)).max()
    equal = sum(next_token(server, prompt + greedy[:i], n_probs=1)["id"] == token
                for i, token in enumerate(greedy))
    return float(difference), equal, len(greedy)


def compare_forms(path, prefix):
    """Prints the row of a model; whether all is within its limits."""
    row, good = [os.path.basename(path)[:-5]], True
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "model.gguf")
        for is_float32 in (True, False):
            recorded = with_vocabulary(path, copy, is_float32)
            command = [*program(prefix, "llama-server"), "-m", copy, "-t", "1", "-c", "128",
                       "-np", "1", *EXACT]
            with Served(command + ["--embedding"] * ("test.vectors" in recorded)) as server:
                difference, equal, tokens = compare(server, recorded)
            has_gelu = recorded["general.architecture"] in HAVE_GELU
            limit = LIMIT_OF_GELU if has_gelu else LIMIT
            good &= difference < (limit if is_float32 else LIMIT_OF_FLOAT16)
            good &= equal == tokens or not is_float32
            row += [f"{difference:.1e}", f"{equal} of {tokens}"]
    print("|", " | ".join(row), "|" if good else "| DIFFERS", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--llama", default="", help="command before llama.cpp's programs")
    options = parser.parse_args()
    if not is_installed(options.llama):
        return print("skipped: llama.cpp's llama-server is not installed")
    print("| model | float32: scores | tokens | as stored: scores | tokens |\n|---|---|---|---|---|")
    good = [compare_forms(path, options.llama) for path in options.models]
    sys.exit(not all(good))


main()
