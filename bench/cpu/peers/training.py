"""training.py: PyTorch's training steps, of the models of bench/cpu/train.cpp."""
from torch import nn

FIRST_SEED = 100


def start(model):
    """The numbers that croze's parameters have, in the same order."""
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            numbers = input_tensor(
                {"shape": list(p.shape), "dtype": "float32", "below": 0}, FIRST_SEED + i)
            p.copy_(numbers / (p.numel() / p.shape[0] if p.dim() > 1 else 1) ** 0.5)
    return model


class Fashion(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.hidden = nn.Linear(32 * 7 * 7, 128)
        self.output = nn.Linear(128, 10)

    def forward(self, images):
        x = (images.to(torch.float32) / 255 - 0.286) / 0.353
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.output(F.relu(self.hidden(x.flatten(1))))


class ConvNorm(nn.Sequential):
    def __init__(self, inner, outer, size, stride):
        super().__init__(nn.Conv2d(inner, outer, size, stride, size // 2, bias=False),
                         nn.BatchNorm2d(outer))


class BasicBlock(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.first = ConvNorm(inner, outer, 3, stride)
        self.second = ConvNorm(outer, outer, 3, 1)
        self.shortcut = None
        if stride != 1 or inner != outer:
            self.shortcut = ConvNorm(inner, outer, 1, stride)

    def forward(self, x):
        y = self.second(F.relu(self.first(x)))
        return F.relu(y + (self.shortcut(x) if self.shortcut else x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1),
                  (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
        self.stem = ConvNorm(3, 64, 7, 2)
        self.blocks = nn.Sequential(*[BasicBlock(*w) for w in widths])
        self.head = nn.Linear(512, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.stem(x)), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for layer in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return mixed.transpose(1, 2).flatten(2)

    def forward(self, x):
        x = x + self.output(self.attention(self.attention_norm(x)))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x)), approximate="tanh"))


def adam(parameters):
    return torch.optim.Adam(parameters, fused=True)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, fused=True)


def squares_of_outputs(model, x):
    return model(x)[0].square().mean()


def cross_entropy_of(model, images, labels):
    return F.cross_entropy(model(images), labels)


def distance_to(model, x, target):
    return F.mse_loss(model(x), target)


MODELS = {
    "fashion": (Fashion, adam, cross_entropy_of),
    "resnet18": (ResNet18, sgd, cross_entropy_of),
    "block": (lambda: Block(256, 4), adam, distance_to),
    "gpt2_block": (lambda: Block(768, 12), adam, distance_to),
    "gpt": (Gpt, adam, losses_of),
    "lstm": (lambda: nn.LSTM(128, 256), adam, squares_of_outputs),
}


@operation
def train(options, *inputs):
    make, make_optimizer, loss_of = MODELS[options["model"]]
    model = start(make().train())
    optimizer = make_optimizer(model.parameters())

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model, *inputs)
        loss.backward()
        optimizer.step()
        return loss
    return {"PyTorch": step}
