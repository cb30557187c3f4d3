"""Small models with random weights, as llama.cpp's converter writes them.

Needs torch, transformers and gguf, and llama.cpp's package `conversion`, whose folder is the first
argument of the script that imports this.
"""
import json
import pathlib
import sys
import tempfile

import torch

sys.path.insert(1, sys.argv[1])
import conversion  # noqa: E402
import gguf  # noqa: E402


def randomize(model, spread_of):
    """Weights of this spread, but those of norms about 1, rounded to float16."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            values = torch.randn(weight.shape) * spread_of(name, weight)
            is_norm = "norm" in name.lower() or ".ln_" in name
            if name.endswith("weight") and is_norm:
                values += 1
            weight.copy_(values.half().float())
        for name, values in model.named_buffers():
            if name.endswith("e_score_correction_bias"):
                values.copy_((torch.randn(values.shape) * 0.1).half().float())
    return model


def convert(model, path, ftype, vocabulary, metadata, add_vocabulary=None, config=(), files=()):
    """`metadata` are added, `config` to the model's config.json, `files` beside it.  Without
    `add_vocabulary` there is none, but for the number of tokens."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model.save_pretrained(folder)
        # The converter counts the tokens of Gemma 3 here, and asks nomic for its kind.
        numbers = {str(i): i for i in range(vocabulary)}
        (folder / "tokenizer.json").write_text(
            json.dumps({"model": {"type": "WordPiece", "vocab": numbers}, "added_tokens": []}))
        for file, content in dict(files).items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(json.dumps(content))
        described = json.loads((folder / "config.json").read_text()) | dict(config)
        (folder / "config.json").write_text(json.dumps(described))
        base = conversion.get_model_class(described["architectures"][0])

        class Converter(base):
            model_arch = base.model_arch

            def set_vocab(self):
                if add_vocabulary:
                    return add_vocabulary(self.gguf_writer)
                self._set_vocab_none()
                self.gguf_writer.add_vocab_size(vocabulary)

        converter = Converter(folder, ftype, path, eager=True, model_name=path.stem)
        for key, value in metadata.items():
            if isinstance(value, list):
                converter.gguf_writer.add_array(key, value)
            elif isinstance(value, float):
                converter.gguf_writer.add_float32(key, value)
            else:
                converter.gguf_writer.add_uint32(key, value)
        converter.write()
