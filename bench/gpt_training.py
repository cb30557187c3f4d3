"""gpt_training.py: PyTorch learns a text, as croze-bench gpt asks (croze/llm/train)."""
import math
import time


def start(network):
    """Weights as croze's begin."""
    def fill(weight, factor=1):
        nn.init.normal_(weight, std=factor / math.sqrt(weight.shape[1]))

    added = 1 / math.sqrt(2 * len(network.blocks))
    nn.init.normal_(network.embedding.weight)
    fill(network.output.weight, 0.1)
    for block in network.blocks:
        for layer in (block.query, block.key, block.value, block.gate, block.up):
            fill(layer.weight)
        fill(block.output.weight, added)
        fill(block.down.weight, added)
    return network


class Training:
    def __init__(self, shape, settings):
        torch.manual_seed(settings["seed"])
        self.network = start(Gpt(**shape, dropout=settings["dropout"]))
        self.clip = settings["clip"]
        self.adam = torch.optim.AdamW(self.network.parameters(), betas=(0.9, 0.95),
                                      weight_decay=settings["weight_decay"], fused=True)

    def step(self, windows, rate):
        self.adam.zero_grad(set_to_none=True)
        loss = losses_of(self.network, windows)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        return loss.item()

    def steps(self, batches, rates):
        """Seconds that each takes."""
        self.network.train()
        seconds = []
        for windows, rate in zip(torch.tensor(batches), rates):
            begin = time.perf_counter()
            self.step(windows, rate)
            seconds.append(time.perf_counter() - begin)
        return seconds

    @torch.inference_mode()
    def nats(self, windows):
        losses = losses_of(self.network.eval(), torch.tensor(windows), "none")
        return losses.view(len(windows), -1).sum(1).tolist()


class Trainer:
    training = None

    def answer(self, request):
        if "shape" in request:
            torch.set_num_threads(request["threads"])
            bind(True)
            self.training = Training(request["shape"], request["settings"])
            return {"version": torch.__version__}
        if "batches" in request:
            return {"seconds": self.training.steps(request["batches"], request["rates"])}
        return {"nats": self.training.nats(request["windows"])}


serve(Trainer().answer)
