"""Peak of the memory that a training step takes in PyTorch, eager: croze-bench memory --pytorch.

Prints one line of JSON: by model, the most bytes of tensors alive at once during one step, of those
that the step itself makes.  Storages are counted as operators return them, until they are freed;
what an operator takes for itself while it runs is not seen.  Parameters, the optimizer's state and
the batch are there before and do not count; gradients do.  The models are those of tools/corpus.
"""

import json
import weakref

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map


class Alive(TorchDispatchMode):
    """Counts the bytes of the storages that operators make."""

    def __init__(self):
        super().__init__()
        self.sizes, self.bytes, self.most = {}, 0, 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        known = set()
        tree_map(lambda x: known.add(x.untyped_storage()._cdata)
                 if isinstance(x, torch.Tensor) else None, (args, kwargs))
        result = operator(*args, **(kwargs or {}))
        tree_map(lambda x: self.add(x, known) if isinstance(x, torch.Tensor) else None, result)
        return result

    def add(self, tensor, known):
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self.sizes or key in known:
            return
        self.sizes[key] = storage.nbytes()
        self.bytes += storage.nbytes()
        self.most = max(self.most, self.bytes)
        weakref.finalize(storage, self.remove, key)

    def remove(self, key):
        self.bytes -= self.sizes.pop(key)


class BasicBlock(nn.Module):
    def __init__(self, fan_in, fan_out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(fan_in, fan_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(fan_out)
        self.conv2 = nn.Conv2d(fan_out, fan_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(fan_out)
        self.shortcut = nn.Identity()
        if stride != 1 or fan_in != fan_out:
            conv = nn.Conv2d(fan_in, fan_out, 1, stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(fan_out))

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


class ResNet18(nn.Module):
    shapes = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1),
              (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.norm = nn.BatchNorm2d(64)
        self.blocks = nn.Sequential(*[BasicBlock(*shape) for shape in self.shapes])
        self.head = nn.Linear(512, 10)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.norm(self.conv(images))), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


class TransformerBlock(nn.Module):
    heads = 4

    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        def by_head(t):
            return t.view(*t.shape[:2], self.heads, -1).transpose(1, 2)

        y = self.norm1(x)
        mixed = F.scaled_dot_product_attention(
            by_head(self.query(y)), by_head(self.key(y)), by_head(self.value(y)), is_causal=True)
        x = x + self.output(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    vocabulary, sequence, width, layers = 256, 64, 128, 4

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(self.vocabulary, self.width)
        self.places = nn.Parameter(torch.zeros(self.sequence, self.width))
        self.blocks = nn.Sequential(*[TransformerBlock(self.width) for _ in range(self.layers)])
        self.norm = nn.LayerNorm(self.width)
        self.head = nn.Linear(self.width, self.vocabulary)

    def forward(self, tokens):
        scores = self.head(self.norm(self.blocks(self.tokens(tokens) + self.places)))
        return scores.reshape(-1, self.vocabulary)


def most_alive(model, optimizer, inputs, labels):
    def step():
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    step()  # makes the optimizer's state
    optimizer.zero_grad(set_to_none=True)
    alive = Alive()
    with alive:
        step()
    return alive.most


def main():
    torch.manual_seed(0)
    resnet, gpt = ResNet18(), Gpt()
    tokens = torch.randint(Gpt.vocabulary, (16, Gpt.sequence))
    print(json.dumps({
        "version": torch.__version__,
        "resnet18": most_alive(resnet, torch.optim.SGD(resnet.parameters(), 0.01, momentum=0.9),
                               torch.randn(4, 3, 64, 64), torch.randint(10, (4,))),
        "gpt": most_alive(gpt, torch.optim.AdamW(gpt.parameters()), tokens, tokens.flatten()),
    }))


main()
