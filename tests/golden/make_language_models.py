#!/usr/bin/env python3
"""Writes small language models with random weights and what transformers makes of them, for
tests/llm/model/.

    python3 make_language_models.py CONVERTER_FOLDER OUTPUT_FOLDER [NAMES]

Needs torch, transformers and gguf, and llama.cpp's package `conversion`, which CONVERTER_FOLDER
holds (made with torch 2.14.1, transformers 5.12.1 and llama.cpp build 11669).  The files are those
that llama.cpp's converter writes; only the vocabulary is left out, and metadata are added:

    test.tokens   a prompt
    test.logits   the scores after each token of the prompt, row by row
    test.greedy   the 64 tokens that follow it, the likeliest one each time
    test.margin   the smallest distance between the two highest scores while these were chosen

Weights are rounded to float16, in which matrices are stored, before transformers computes with them
in float32; those of llama.gguf are stored as float32.  talking.gguf has a vocabulary and a chat
template.
"""
import logging
import pathlib
import sys

import gguf
import torch
import transformers

from small_models import convert, randomize

VOCABULARY, WIDTH, HIDDEN, CONTEXT = 48, 32, 40, 128
PROMPT, GREEDY = 24, 64

SIZES = dict(vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=HIDDEN, num_hidden_layers=2,
             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=CONTEXT,
             bos_token_id=1, eos_token_id=2, pad_token_id=0)


def rope(kind, **rest):
    return dict(rope_parameters=dict(rope_type=kind, rope_theta=10000.0, **rest))


LONG = rope("longrope", short_factor=[1.0, 1.1, 1.3, 1.5], long_factor=[1.0, 2.0, 3.0, 4.0],
            original_max_position_embeddings=16, factor=8.0)

TURNS_BY_LAYER = dict(
    full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1000000.0),
    sliding_attention=dict(rope_type="default", rope_theta=10000.0))

# Of DeepSeek: a layer without experts, then one with.
LATENT = dict(num_key_value_heads=4, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=12,
              v_head_dim=10, n_shared_experts=2, moe_intermediate_size=16, first_k_dense_replace=1)

# Name, class, what differs from SIZES, and metadata that the converter leaves out.
MODELS = [
    ("llama", "Llama", {}, {}),
    ("llama_scaled", "Llama",
     dict(tie_word_embeddings=True,
          **rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                 original_max_position_embeddings=32)), {}),
    ("llama_linear", "Llama", dict(attention_bias=True, **rope("linear", factor=4.0)), {}),
    ("mistral", "Mistral", dict(head_dim=12, sliding_window=8),
     {"llama.attention.sliding_window": 8}),
    ("qwen2", "Qwen2", dict(tie_word_embeddings=True), {}),
    ("qwen2_yarn", "Qwen2",
     rope("yarn", factor=4.0, original_max_position_embeddings=32), {}),
    ("qwen3", "Qwen3", dict(head_dim=12), {}),
    ("gemma", "Gemma", dict(head_dim=12), {}),
    ("gemma2", "Gemma2", dict(head_dim=12, sliding_window=8, query_pre_attn_scalar=12,
                              attn_logit_softcapping=2.0, final_logit_softcapping=3.0), {}),
    ("gemma3", "Gemma3", dict(head_dim=8, hidden_size=24, sliding_window=8, num_hidden_layers=6,
                              query_pre_attn_scalar=8, rope_parameters=TURNS_BY_LAYER), {}),
    ("phi3", "Phi3", dict(original_max_position_embeddings=CONTEXT), {}),
    ("phi3_long", "Phi3", dict(original_max_position_embeddings=16, **LONG), {}),
    ("olmo2", "Olmo2", {}, {}),
    ("starcoder2", "Starcoder2", dict(use_bias=True), {}),
    ("olmo", "Olmo", dict(clip_qkv=1.0), {}),
    ("mixtral", "Mixtral", dict(num_local_experts=4, num_experts_per_tok=2), {}),
    ("qwen2moe", "Qwen2Moe",
     dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24,
          shared_expert_intermediate_size=40), {}),
    ("qwen3moe", "Qwen3Moe",
     dict(head_dim=12, num_experts=8, num_experts_per_tok=3, moe_intermediate_size=16,
          norm_topk_prob=True), {}),
    ("olmoe", "Olmoe", dict(num_key_value_heads=4, num_experts=8, num_experts_per_tok=2,
                            intermediate_size=16), {}),
    ("deepseek2", "DeepseekV2",
     dict(LATENT, q_lora_rank=None, n_routed_experts=6, num_experts_per_tok=2, n_group=1,
          topk_group=1, topk_method="greedy", scoring_func="softmax", routed_scaling_factor=1.5),
     {}),
    ("deepseek3", "DeepseekV3",
     dict(LATENT, q_lora_rank=20, n_routed_experts=8, num_experts_per_tok=3, n_group=4,
          topk_group=2, scoring_func="sigmoid", norm_topk_prob=True, routed_scaling_factor=2.5,
          **rope("yarn", factor=4.0, original_max_position_embeddings=32, mscale=1.0,
                 mscale_all_dim=1.0)), {}),
    ("talking", "Llama", dict(vocab_size=259, hidden_size=16, intermediate_size=24), {}),
    ("gpt2", "GPT2", dict(n_embd=24, n_layer=2, n_head=4, n_positions=CONTEXT, n_ctx=CONTEXT), {}),
]


# A vocabulary for talking.gguf: bytes as GPT-2 writes them, a merged token, and marks of turns.
TEMPLATE = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def byte_texts():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return [chr(b) if b in printable else chr(256 + others.index(b)) for b in range(256)]


def add_vocabulary(writer):
    normal, control = gguf.TokenType.NORMAL, gguf.TokenType.CONTROL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(byte_texts() + ["ab", "<|im_start|>", "<|im_end|>"])
    writer.add_token_types([normal] * 257 + [control] * 2)
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(258)
    writer.add_chat_template(TEMPLATE)


def random_model(kind, changes):
    config_class = getattr(transformers, kind + ("TextConfig" if kind == "Gemma3" else "Config"))
    model_class = getattr(transformers,
                          kind + ("LMHeadModel" if kind == "GPT2" else "ForCausalLM"))
    sizes = SIZES | changes
    if kind == "GPT2":
        sizes = dict(changes, vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2)
    config = config_class(**sizes, attn_implementation="eager")
    model = model_class(config).eval()
    # Gemma scales its embeddings, which are the output as well: small ones keep it from repeating
    # the last token for ever.
    is_gemma = kind.startswith("Gemma")
    return randomize(model, lambda name, weight: 0.1 if weight.ndim == 1 or
                     (is_gemma and "embed" in name) else 0.3)


def recording(model):
    tokens = torch.randint(3, model.config.vocab_size, (1, PROMPT))
    with torch.no_grad():
        logits = model(tokens).logits[0]
        margin, greedy, text = float("inf"), [], tokens
        for _ in range(GREEDY):
            scores = model(text).logits[0, -1]
            best = scores.topk(2)
            margin = min(margin, float(best.values[0] - best.values[1]))
            greedy.append(int(best.indices[0]))
            text = torch.cat([text, best.indices[None, :1]], dim=1)
    return tokens[0].tolist(), logits.flatten().tolist(), greedy, margin


def main():
    logging.disable(logging.WARNING)
    output = pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[3:]  # by default all
    for name, kind, changes, metadata in MODELS:
        if wanted and name not in wanted:
            continue
        # A seed whose greedy tokens are no near ties.
        for seed in range(100):
            torch.manual_seed(seed)
            model = random_model(kind, changes)
            tokens, logits, greedy, margin = recording(model)
            if margin > 2e-3 and len(set(greedy)) > 8:
                break
        ftype = gguf.LlamaFileType.ALL_F32 if name == "llama" else gguf.LlamaFileType.MOSTLY_F16
        convert(model, output / f"{name}.gguf", ftype, VOCABULARY,
                metadata | {"test.tokens": tokens, "test.logits": logits, "test.greedy": greedy,
                            "test.margin": margin},
                add_vocabulary if name == "talking" else None)
        print(name, "seed", seed, "margin", margin, len(set(greedy)), "kinds of tokens")


main()
