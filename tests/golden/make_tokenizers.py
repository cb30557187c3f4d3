#!/usr/bin/env python3
"""Trains small vocabularies of each kind and records what the reference makes of texts.

    python3 make_tokenizers.py OUTPUT_FOLDER

Needs tokenizers, sentencepiece, protobuf, gguf and Debian's bible-kjv (made with tokenizers 0.23.1,
sentencepiece 0.2.3, gguf 0.19.0).  *.json are files of Hugging Face's tokenizers; *.gguf hold the
same vocabularies, or one that SentencePiece trained, and the truth about these is what
SentencePiece says.  expected.json.gz has, for each file and each text of tokenizer_texts.py:

    ids       with special tokens found in the text and others added to it
    plain     the text taken as text
    decoded   of ids, without special tokens; decoded_all with them
"""
import gzip
import io
import json
import os
import sys

import gguf
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

import tokenizer_texts

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
BYTES = ["<0x%02X>" % b for b in range(256)]
SPACE = "\u2581"
QUIET = {"show_progress": False}
# What a table of SentencePiece says, as it is trained: code points to code points.
RULES = ["FB01\t66 69", "FF21\t41", "337F\t682A 5F0F 4F1A 793E", "65 301\tE9", "3000\t20", "9\t20",
         "212B\tC5", "AD\t", "D A\tA"]


def corpus():
    texts = [tokenizer_texts.bible("gen1:1-gen4:26"), tokenizer_texts.source_code(ROOT, 20000)]
    t = tokenizer_texts
    lines = "".join(texts).splitlines() + [t.JAPANESE, t.OTHER, t.PUNCTUATION] * 3
    # GGUF marks words of WordPiece by it, so it should not stand in tokens.
    return [line.replace(SPACE, "") for line in lines]


def extra():
    return [AddedToken("<|end|>", special=True, normalized=False),
            AddedToken("<extra>", normalized=False, lstrip=True),
            AddedToken("[MASK]", special=True, normalized=False, rstrip=True),
            AddedToken("there", normalized=True, single_word=True)]


def finish(tokenizer):
    tokenizer.add_tokens(extra())
    return tokenizer


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def template(tokenizer, before=(), behind=()):
    names = [*before, *behind]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[*before, "$A", *behind], special_tokens=[(n, tokenizer.token_to_id(n)) for n in names])


def byte_level(pre, normalizer=None, specials=("<|endoftext|>",), whole_words=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=whole_words))
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=700, special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **QUIET))
    return tokenizer


def gpt2():
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return finish(tokenizer)


def roberta():
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True), specials=["<s>", "</s>"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return finish(tokenizer)


def llama3():
    tokenizer = byte_level(split(LLAMA3), specials=["<s>", "<|end|>"], whole_words=True)
    template(tokenizer, before=["<s>"])
    return tokenizer


def qwen2():
    return finish(byte_level(split(QWEN2), normalizers.NFC()))


def spm_bpe(normalizer, pre, strip):
    model = {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"}
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()  # so that training sees words
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=800, special_tokens=["<unk>", "<s>", "</s>", *BYTES], limit_alphabet=150, **QUIET))
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = data["added_tokens"][:3]  # the bytes are none
    data["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(data))
    if pre:
        tokenizer.pre_tokenizer = pre
    steps = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence(steps + [decoders.Strip(" ", 1, 0)] * strip)
    template(tokenizer, before=["<s>"])
    return finish(tokenizer)


def llama2():
    steps = [normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)]
    return spm_bpe(normalizers.Sequence(steps), None, True)


def gemma():
    return spm_bpe(normalizers.Replace(" ", SPACE),
                   pre_tokenizers.Split(" ", "merged_with_previous"), False)


def unigram(normalizer, pre, byte_fallback, decoder):
    tokenizer = Tokenizer(models.Unigram())
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre
    tokenizer.train_from_iterator(corpus(), trainers.UnigramTrainer(
        vocab_size=700, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", **QUIET))
    data = json.loads(tokenizer.to_str())
    if byte_fallback:
        data["model"]["byte_fallback"] = True
        data["model"]["vocab"] += [[b, -50.0] for b in BYTES]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.decoder = decoder
    template(tokenizer, behind=["</s>"])
    return finish(tokenizer)


def train_spm(kind, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()), model_writer=model, model_type=kind, vocab_size=750,
        minloglevel=2, num_threads=1, hard_vocab_limit=False, **options)
    return model.getvalue()


def proto_of(model):
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model)
    return proto


def t5(folder):
    rules = os.path.join(folder, "rules.tsv")
    with open(rules, "w") as file:
        file.write("\n".join(RULES) + "\n")
    table = proto_of(train_spm("unigram", normalization_rule_tsv=rules)).normalizer_spec
    os.remove(rules)
    pre = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    return unigram(normalizers.Precompiled(table.precompiled_charsmap), pre, False,
                   decoders.Metaspace())


def unigram_bytes():
    normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    return unigram(normalizer, pre_tokenizers.Metaspace(prepend_scheme="first"), True,
                   decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]))


def bert(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(corpus(), trainers.WordPieceTrainer(
        vocab_size=600, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], **QUIET))
    tokenizer.decoder = decoders.WordPiece(cleanup=lowercase)
    template(tokenizer, before=["[CLS]"], behind=["[SEP]"])
    return finish(tokenizer)


def steps():
    """The steps that the families above do not have."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.NFD(),
        normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.CharDelimiterSplit("_"),
        pre_tokenizers.Split("th", "merged_with_next"),
        pre_tokenizers.Split(Regex("[aeiou]{2}"), "merged_with_previous")])
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=500, special_tokens=["<unk>"], limit_alphabet=200,
        continuing_subword_prefix="##", **QUIET))
    return finish(tokenizer)


# ---- GGUF --------------------------------------------------------------------------------------

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def write_gguf(path, kind, tokens, types, scores=None, merges=None, pre=None, **values):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(kind)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    if scores:
        writer.add_token_scores(scores)
    if merges:
        writer.add_token_merges(merges)
    if pre:
        writer.add_tokenizer_pre(pre)
    for name, value in values.items():
        add = writer.add_bool if isinstance(value, bool) else writer.add_uint32
        add("tokenizer.ggml." + name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def gguf_of_json(path, tokenizer, kind, pre, **values):
    data = json.loads(tokenizer.to_str())
    added = {t["id"]: t for t in data["added_tokens"]}
    tokens, types = [], []
    for i in range(tokenizer.get_vocab_size()):
        text = tokenizer.id_to_token(i)
        type = NORMAL if i not in added else CONTROL if added[i]["special"] else USER_DEFINED
        if kind == "bert" and type != CONTROL:
            text = text[2:] if text.startswith("##") else SPACE + text
        tokens.append(text)
        types.append(type)
    merges = [" ".join(m) for m in data["model"].get("merges", [])]
    write_gguf(path, kind, tokens, types, merges=merges, pre=pre, **values)


def gguf_of_spm(path, kind, model, **values):
    pieces = proto_of(model).pieces
    write_gguf(path, kind, [p.piece for p in pieces], [p.type for p in pieces],
               scores=[p.score for p in pieces], **values)


# ---- what is expected ---------------------------------------------------------------------------

def expected_of(tokenizer, texts):
    result = []
    for _, data in texts:
        text = data.decode(errors="replace")
        tokenizer.encode_special_tokens = False
        ids = tokenizer.encode(text).ids
        tokenizer.encode_special_tokens = True
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        result.append({"ids": ids, "plain": plain, "decoded": tokenizer.decode(ids),
                       "decoded_all": tokenizer.decode(ids, skip_special_tokens=False)})
    return result


def expected_of_spm(model, texts):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    texts = [data.decode(errors="replace") for _, data in texts]
    return [{"plain": processor.encode(text)} for text in texts]


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    texts = tokenizer_texts.small(ROOT)
    made = {"gpt2": gpt2(), "roberta": roberta(), "llama3": llama3(), "qwen2": qwen2(),
            "llama2": llama2(), "gemma": gemma(), "t5": t5(folder), "unigram": unigram_bytes(),
            "bert": bert(True), "bert_cased": bert(False), "steps": steps()}
    expected = {}
    for name, tokenizer in made.items():
        tokenizer.save(os.path.join(folder, name + ".json"), pretty=False)
        expected[name + ".json"] = expected_of(tokenizer, texts)

    path = lambda name: os.path.join(folder, name)
    gguf_of_json(path("llama3.gguf"), made["llama3"], "gpt2", "llama-bpe", bos_token_id=0, eos_token_id=1)
    expected["llama3.gguf"] = expected["llama3.json"]
    gguf_of_json(path("bert.gguf"), made["bert"], "bert", None, cls_token_id=2, seperator_token_id=3,
                 unknown_token_id=1, padding_token_id=0)
    expected["bert.gguf"] = expected["bert.json"]
    bpe = train_spm("bpe", byte_fallback=True, normalization_rule_name="identity",
                    remove_extra_whitespaces=False)
    gguf_of_spm(path("spm_bpe.gguf"), "llama", bpe)
    expected["spm_bpe.gguf"] = expected_of_spm(bpe, texts)
    one = train_spm("unigram", normalization_rule_name="identity")
    gguf_of_spm(path("spm_unigram.gguf"), "t5", one, unknown_token_id=0, eos_token_id=2)
    expected["spm_unigram.gguf"] = expected_of_spm(one, texts)
    data = {"texts": [{"name": name, "bytes": list(data)} for name, data in texts],
            "expected": expected}
    with open(path("expected.json.gz"), "wb") as file:
        file.write(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 9, mtime=0))


main()
