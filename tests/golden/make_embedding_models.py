#!/usr/bin/env python3
"""Writes small encoders with random weights and the vectors that transformers makes of texts, for
tests/llm/embed/.

    python3 make_embedding_models.py CONVERTER_FOLDER OUTPUT_FOLDER

Needs what make_language_models.py does.  To the files of llama.cpp's converter are added:

    test.lengths   how many tokens each of the texts has
    test.tokens    the tokens, text by text
    test.vectors   the vector of each text, of length 1

Each text is read alone.  bert.gguf has a vocabulary of letters.
"""
import logging
import pathlib
import sys

import gguf
import torch
import transformers

from small_models import convert, randomize

VOCABULARY, WIDTH, HIDDEN, CONTEXT = 56, 32, 40, 64
LENGTHS = [24, 1, 7, 64, 17]

SIZES = dict(vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=HIDDEN, num_hidden_layers=2,
             num_attention_heads=4, max_position_embeddings=CONTEXT, pad_token_id=0)

# What the converter asks for of the original's config.json, and transformers has by other names.
NOMIC = dict(n_embd=WIDTH, n_layer=2, n_head=4, n_inner=HIDDEN, n_positions=8192,
             max_trained_positions=2048, activation_function="swiglu", causal=False, prenorm=False,
             qkv_proj_bias=False, mlp_fc1_bias=False, mlp_fc2_bias=False, rotary_emb_fraction=1.0,
             rotary_emb_interleaved=False, rotary_emb_scale_base=None, rotary_emb_base=1000,
             layer_norm_epsilon=1e-12)

# Name, class, what of the vectors is the text's, what differs from SIZES, and in config.json.
MODELS = [
    ("bert", "Bert", "mean", {}, {}),
    ("bert_cls", "Bert", "cls", dict(hidden_size=24), {}),
    ("nomic_bert", "NomicBert", "mean", {}, NOMIC),
    ("qwen3_embedding", "Qwen3", "lasttoken", dict(num_key_value_heads=2, head_dim=12), {}),
]


# Letters that begin a word, and letters that go on.
def add_vocabulary(writer):
    letters = [chr(ord("a") + i) for i in range(26)]
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] +
                          ["\u2581" + c for c in letters] + letters)
    writer.add_token_types([gguf.TokenType.CONTROL] * 4 + [gguf.TokenType.NORMAL] * 52)
    writer.add_pad_token_id(0)
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_sep_token_id(3)


def vectors_of(model, texts, pooling):
    vectors = []
    for text in texts:
        with torch.no_grad():
            tokens = model(torch.tensor([text])).last_hidden_state[0]
        vector = {"mean": tokens.mean(0), "cls": tokens[0], "lasttoken": tokens[-1]}[pooling]
        vectors += torch.nn.functional.normalize(vector, dim=0).tolist()
    return vectors


def pooling_files(pooling):
    name = {"mean": "mean_tokens", "cls": "cls_token", "lasttoken": "lasttoken"}[pooling]
    return {"modules.json": [{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}],
            "1_Pooling/config.json": {f"pooling_mode_{name}": True}}


def main():
    logging.disable(logging.WARNING)
    output = pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    for name, kind, pooling, changes, config in MODELS:
        torch.manual_seed(0)
        configuration = getattr(transformers, kind + "Config")(**(SIZES | changes))
        model = getattr(transformers, kind + "Model")(configuration).eval()
        randomize(model, lambda name, weight: 0.1 if weight.ndim == 1 else 0.3)
        texts = [torch.randint(3, VOCABULARY, (n,)).tolist() for n in LENGTHS]
        convert(model, output / f"{name}.gguf", gguf.LlamaFileType.MOSTLY_F16, VOCABULARY,
                {"test.lengths": LENGTHS, "test.tokens": sum(texts, []),
                 "test.vectors": vectors_of(model, texts, pooling)},
                add_vocabulary if name == "bert" else None, config=config, files=pooling_files(pooling))
        print(name)


main()
