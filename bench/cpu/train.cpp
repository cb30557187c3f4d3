// train.cpp -- whole training steps: a loss, its gradients, the update.
#include <memory>

#include "corpus/resnet18.h"
#include "corpus/transformer_block.h"
#include "cpu/case.h"
#include "cpu/train_runs.h"
#include "croze/llm/train/gpt.h"
#include "croze/nn/nn.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/network/loss.h"
#include "examples/data/fashion_net.h"

namespace croze::bench {
namespace {

using Inputs = const std::vector<Tensor>&;

Runs fashion_runs(Inputs in) {
  return runs_of(std::make_shared<FashionNet>(), adam, [images = in[0], labels = in[1]](auto& net) {
    return cross_entropy(net(images), labels);
  });
}

Runs resnet18_runs(Inputs in) {
  return runs_of(
      std::make_shared<corpus::ResNet18>(), sgd,
      [images = in[0], labels = in[1]](auto& net) { return cross_entropy(net(images), labels); });
}

template <int Heads>
Runs block_runs(Inputs in) {
  const std::int64_t width = in[0].size(2);
  return runs_of(std::make_shared<corpus::TransformerBlock>(width, Heads), adam,
                 [x = in[0], target = in[1]](auto& block) { return mse_loss(block(x), target); });
}

// The network of croze train gpt, over windows of one token more than its context.
Runs gpt_runs(Inputs in) {
  const std::int64_t n = in[0].size(1) - 1;
  return runs_of(std::make_shared<llm::Gpt>(llm::GptShape{.context = n}), adam,
                 [windows = in[0], n](auto& net) {
                   return cross_entropy(net(windows.narrow(1, 0, n)).flatten(0, 1),
                                        windows.narrow(1, 1, n).flatten());
                 });
}

Runs lstm_runs(Inputs in) {
  const auto lstm = std::make_shared<nn::LSTM>(in[0].size(2), 256);
  return runs_of(lstm, adam, [x = in[0]](auto& net) { return net(x).output.square().mean(); });
}

struct Row {
  const char *name, *model;
  std::vector<Input> inputs;
  Runs (*prepare)(Inputs);
};

Input classes(const Shape& shape, std::int64_t count) { return {shape, DType::Int64, count}; }

std::vector<Row> rows() {
  const Input pictures{{128, 1, 28, 28}, DType::UInt8, 256};
  const Input block{{4, 64, 256}}, gpt{{1, 512, 768}};
  return {
      {"Fashion-MNIST network, batch 128", "fashion", {pictures, classes({128}, 10)}, fashion_runs},
      {"ResNet-18, 16 images of 64x64",
       "resnet18",
       {{{16, 3, 64, 64}}, classes({16}, 10)},
       resnet18_runs},
      {"transformer block, 4x64 of 256", "block", {block, block}, block_runs<4>},
      {"GPT-2-small block, 512 of 768", "gpt2_block", {gpt, gpt}, block_runs<12>},
      {"GPT of 4 layers of 192, 8x128 tokens", "gpt", {classes({8, 129}, 1024)}, gpt_runs},
      {"LSTM 128->256, sequence 64, batch 8", "lstm", {{{64, 8, 128}}}, lstm_runs},
  };
}

}  // namespace

Suite train_suite() {
  Group group{"training steps", {.geometric_mean = 1.3, .worst = 1}, {}};
  for (const Row& row : rows()) {
    Case c{.name = row.name,
           .operation = "train",
           .options = {{"model", row.model}},
           .inputs = row.inputs};
    c.tolerance = 1e-2;
    c.prepare = row.prepare;
    group.cases.push_back(std::move(c));
  }
  return {"train", Work::Runs, {std::move(group)}};
}

}  // namespace croze::bench
