"""gpt.py: the network of croze train gpt (croze/llm/train/gpt.h)."""
import torch.nn.functional as F
from torch import nn


class GptBlock(nn.Module):
    def __init__(self, width, heads, hidden, epsilon, dropout):
        super().__init__()
        self.heads = heads
        self.kept = nn.Dropout(dropout) if dropout > 0 else nn.Identity()
        self.attention_norm = nn.RMSNorm(width, epsilon)
        self.query, self.key, self.value, self.output = (
            nn.Linear(width, width, bias=False) for _ in range(4))
        self.mlp_norm = nn.RMSNorm(width, epsilon)
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def in_heads(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def attention(self, x, turns):
        def turned(x):
            pairs = torch.view_as_complex(self.in_heads(x).unflatten(-1, (-1, 2)))
            return torch.view_as_real(pairs * turns).flatten(-2)

        mixed = F.scaled_dot_product_attention(
            turned(self.query(x)), turned(self.key(x)), self.in_heads(self.value(x)),
            is_causal=True)
        return mixed.transpose(1, 2).flatten(2)

    def forward(self, x, turns):
        x = x + self.kept(self.output(self.attention(self.attention_norm(x), turns)))
        normed = self.mlp_norm(x)
        return x + self.kept(self.down(F.silu(self.gate(normed)) * self.up(normed)))


class Gpt(nn.Module):
    def __init__(self, vocabulary=1024, context=128, width=192, layers=4, heads=3, hidden=512,
                 epsilon=1e-5, rotary_base=10000, dropout=0):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.kept = nn.Dropout(dropout) if dropout > 0 else nn.Identity()
        self.blocks = nn.ModuleList(
            GptBlock(width, heads, hidden, epsilon, dropout) for _ in range(layers))
        self.norm = nn.RMSNorm(width, epsilon)
        self.output = nn.Linear(width, vocabulary, bias=False)
        elements = width // heads
        frequencies = rotary_base ** -(torch.arange(0, elements, 2) / elements)
        angles = torch.outer(torch.arange(context), frequencies)
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, tokens):
        x = self.kept(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, self.turns)
        return self.output(self.norm(x))


def losses_of(network, windows, reduction="mean"):
    """Of all predictions in windows of one token more than the context."""
    return F.cross_entropy(network(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten(),
                           reduction=reduction)
