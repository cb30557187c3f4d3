// workloads.cpp -- the computations, in the order in which the bench reports them.
#include "corpus/workloads.h"

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "corpus/gpt.h"
#include "corpus/resnet18.h"
#include "croze/nn/nn.h"
#include "croze/tensor/network/loss.h"
#include "croze/tensor/network/recurrent.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/reduce/sort.h"
#include "examples/data/fashion_net.h"

namespace croze::corpus {
namespace {

Tensor numbers(const Shape& shape, unsigned seed) {
  return Tensor::from_data(random_numbers(shape, seed), shape);
}

// Whole numbers below `count`, all of them about equally often.
Tensor classes(const Shape& shape, std::int32_t count) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); i++) {
    values[i] = static_cast<std::int32_t>(i * 7 + i / 5) % count;
  }
  return Tensor::from_data(values, shape);
}

// Writes starting values of usual sizes into the parameters and buffers of a model.
template <typename Model>
void start(const Model& model) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& named : nn::state_dict(model)) {
    Tensor t = named.tensor;
    const bool variance = named.name.find("running_var") != std::string::npos;
    const double fan_in = static_cast<double>(t.ndim() > 1 ? t.numel() / t.size(0) : 1);
    const Tensor values = numbers(t.shape(), static_cast<unsigned>(tensors.size() + 1));
    t.assign(variance ? values.square() + 0.5 : values / std::sqrt(fan_in));
    tensors.push_back(t);
  }
  realize(tensors);
}

// The gradients of `loss` and the loss itself.
std::vector<Tensor> with_gradients(const Tensor& loss, const std::vector<Tensor>& targets) {
  std::vector<Tensor> results = loss.gradient(targets);
  results.push_back(loss);
  return results;
}

// ---- functions of rows ------------------------------------------------------------------------

constexpr std::int64_t row_count = 512, row_size = 1000;

template <typename F>
Computation of_rows(F f) {
  const Tensor x = numbers({row_count, row_size}, 1);
  return [=] { return std::vector<Tensor>{f(x)}; };
}

Computation softmax_rows() {
  return of_rows([](const Tensor& x) { return x.softmax(-1); });
}
Computation log_softmax_rows() {
  return of_rows([](const Tensor& x) { return log_softmax(x); });
}
Computation layer_norm_rows() {
  const Tensor weight = numbers({row_size}, 2), bias = numbers({row_size}, 3);
  return of_rows([=](const Tensor& x) { return layer_norm(x, 1, weight, bias); });
}
Computation rms_norm_rows() {
  const Tensor weight = numbers({row_size}, 2);
  return of_rows([=](const Tensor& x) { return rms_norm(x, 1, weight, 1e-5); });
}
Computation variance_rows() {
  return of_rows([](const Tensor& x) { return x.var(-1); });
}
Computation argmax_rows() {
  return of_rows([](const Tensor& x) { return x.argmax(-1); });
}
// Rows that no cache holds.
Computation logsumexp_long_rows() {
  const Tensor x = numbers({4, 1 << 20}, 1);
  return [=] { return std::vector<Tensor>{logsumexp(x, -1)}; };
}
Computation logsumexp_rows() {
  return of_rows([](const Tensor& x) { return logsumexp(x, -1); });
}
Computation cross_entropy_rows() {
  const Tensor labels = classes({row_count}, row_size);
  return of_rows([=](const Tensor& x) { return cross_entropy(x, labels); });
}

// A row of a language model on its way to queries, keys and values.
Computation normed_row_products() {
  const Tensor x = numbers({1, 512}, 1), weight = numbers({512}, 2);
  const std::vector<Tensor> matrices = {numbers({512, 512}, 3), numbers({512, 256}, 4),
                                        numbers({512, 256}, 5)};
  return [=] {
    const Tensor normed = rms_norm(x, 1, weight, 1e-5);
    std::vector<Tensor> products;
    for (const Tensor& m : matrices) products.push_back(matmul(normed, m));
    return products;
  };
}

// ---- layers -----------------------------------------------------------------------------------

Computation batch_norm_training() {
  const Tensor x = numbers({8, 32, 16, 16}, 1), weight = numbers({32}, 2), bias = numbers({32}, 3);
  return [=] {
    const ChannelStatistics batch = batch_statistics(x);
    return std::vector<Tensor>{batch_norm(x, batch.mean, batch.var, weight, bias)};
  };
}

Computation conv_bias_norm_relu() {
  const Tensor x = numbers({4, 32, 16, 16}, 1),
               kernel = (numbers({32, 32, 3, 3}, 2) / 17).realize();
  const Tensor bias = numbers({32}, 3), weight = numbers({32}, 4), shift = numbers({32}, 5);
  const Tensor mean = numbers({32}, 6), variance = (numbers({32}, 7).square() + 0.5).realize();
  return [=] {
    const Tensor y = conv2d(x, kernel, bias, {.padding = 1});
    return std::vector<Tensor>{relu(batch_norm(y, mean, variance, weight, shift))};
  };
}

constexpr std::int64_t heads = 4, tokens = 128, head_size = 32;

template <typename Options>
Computation attention_with(std::int64_t key_heads, Options options) {
  const Tensor q = numbers({2, heads, tokens, head_size}, 1);
  const Tensor k = numbers({2, key_heads, tokens, head_size}, 2);
  const Tensor v = numbers({2, key_heads, tokens, head_size}, 3);
  const AttentionOptions chosen = options();
  return [=] { return std::vector<Tensor>{scaled_dot_product_attention(q, k, v, chosen)}; };
}

Computation attention() {
  return attention_with(heads, [] { return AttentionOptions{}; });
}
Computation attention_causal() {
  return attention_with(heads, [] { return AttentionOptions{.causal = true}; });
}
Computation attention_masked() {
  return attention_with(heads, [] {
    return AttentionOptions{.mask = numbers({tokens, tokens}, 4)};
  });
}
Computation attention_grouped() {
  return attention_with(2, [] { return AttentionOptions{.grouped = true}; });
}
Computation attention_backward() {
  const Shape shape{2, heads, tokens, head_size};
  const Tensor q = numbers(shape, 1), k = numbers(shape, 2), v = numbers(shape, 3);
  const Tensor upstream = numbers(shape, 4);
  return [=] {
    const Tensor mixed = scaled_dot_product_attention(q, k, v);
    return (mixed * upstream).sum().gradient({q, k, v});
  };
}

Computation embedding_rows() {
  const Tensor table = numbers({1000, 64}, 1), index = classes({32, 16}, 1000);
  return [=] { return std::vector<Tensor>{embedding(table, index)}; };
}
Computation embedding_gradient() {
  const Tensor table = numbers({1000, 64}, 1), index = classes({32, 16}, 1000);
  const Tensor upstream = numbers({32, 16, 64}, 2);
  return [=] { return (embedding(table, index) * upstream).sum().gradient({table}); };
}

// Rows one by one, columns, and positions.
Computation assigned_parts() {
  const Tensor x = numbers({64, 256}, 1), y = numbers({64, 256}, 2), index = classes({16}, 64);
  return [=] {
    Tensor state = x;
    for (int i = 0; i < 64; i++) state[i] = y[63 - i] * 2;
    for (int i = 1; i < 4; i++) state.narrow(1, 64 * i, 64) += state.narrow(1, 0, 64);
    state.index_put_({index}, y.narrow(0, 0, 16));
    return std::vector<Tensor>{state};
  };
}

// ---- scans and sorts --------------------------------------------------------------------------

Computation cumsum_4096() {
  const Tensor x = numbers({4096}, 1);
  return [=] { return std::vector<Tensor>{cumsum(x, 0)}; };
}
Computation sort_4096() {
  const Tensor x = numbers({4096}, 1);
  return [=] { return std::vector<Tensor>{sort(x).values}; };
}
Computation topk_4096() {
  const Tensor x = numbers({4096}, 1);
  return [=] { return std::vector<Tensor>{topk(x, 16).values}; };
}

// ---- training ---------------------------------------------------------------------------------

Computation adam_resnet18() {
  auto net = std::make_shared<ResNet18>();
  start(*net);
  auto adam = std::make_shared<optim::Adam>(nn::parameters(*net), optim::AdamOptions{});
  std::vector<Tensor> gradients;
  for (const Tensor& p : adam->parameters) gradients.push_back(numbers(p.shape(), 9));
  return [=] {
    adam->step(gradients);
    return adam->parameters;
  };
}

template <bool Backward>
Computation block() {
  auto net = std::make_shared<TransformerBlock>(256);
  start(*net);
  const Tensor x = numbers({4, 64, 256}, 1), target = numbers({4, 64, 256}, 2);
  return [=] {
    const Tensor y = (*net)(x);
    if (!Backward) return std::vector<Tensor>{y};
    return with_gradients(mse_loss(y, target), nn::parameters(*net));
  };
}

Computation resnet18_evaluating() {
  auto net = std::make_shared<ResNet18>();
  start(*net);
  const Tensor images = numbers({4, 3, 64, 64}, 1);
  return [=] { return std::vector<Tensor>{(*net)(images, false)}; };
}

Computation resnet18_training() {
  auto net = std::make_shared<ResNet18>();
  start(*net);
  const Tensor images = numbers({4, 3, 64, 64}, 1), labels = classes({4}, 10);
  return [=] {
    std::vector<Tensor> results =
        with_gradients(cross_entropy((*net)(images), labels), nn::parameters(*net));
    for (const NamedTensor& t : nn::state_dict(*net)) {
      if (t.name.find("running") != std::string::npos) results.push_back(t.tensor);
    }
    return results;
  };
}

Computation gpt_step() {
  auto net = std::make_shared<Gpt>();
  start(*net);
  const Tensor text = classes({16, Gpt::sequence}, Gpt::vocabulary);
  const Tensor next = classes({16 * Gpt::sequence}, Gpt::vocabulary);
  auto adam = std::make_shared<optim::AdamW>(nn::parameters(*net), optim::AdamWOptions{});
  return [=] {
    const Tensor scores = reshape((*net)(text), {-1, Gpt::vocabulary});
    const Tensor loss = cross_entropy(scores, next);
    adam->step(loss.gradient(adam->parameters));
    std::vector<Tensor> results = adam->parameters;
    results.push_back(loss);
    return results;
  };
}

Computation lstm_training() {
  constexpr std::int64_t sequence = 64, batch = 8, in = 32, hidden = 64;
  const Tensor x = numbers({sequence, batch, in}, 1);
  const CellWeights cell{(numbers({4 * hidden, in}, 2) / 6).realize(),
                         (numbers({4 * hidden, hidden}, 3) / 8).realize(), numbers({4 * hidden}, 4),
                         numbers({4 * hidden}, 5)};
  return [=] {
    const std::array<CellWeights, 1> cells{cell};
    return with_gradients(lstm(x, cells).output.square().mean(),
                          {cell.ih, cell.hh, cell.bias_ih, cell.bias_hh});
  };
}

Computation fashion_step() {
  auto net = std::make_shared<FashionNet>();
  start(*net);
  auto adam = std::make_shared<optim::Adam>(nn::parameters(*net), optim::AdamOptions{});
  const Tensor images = classes({128, 1, 28, 28}, 256).cast(DType::UInt8).realize();
  const Tensor labels = classes({128}, 10);
  return [=] {
    const Tensor scores = (*net)(images);
    const Tensor loss = cross_entropy(scores, labels);
    const Tensor accuracy = (scores.argmax(1) == labels).cast(DType::Float32).mean();
    adam->step(loss.gradient(adam->parameters));
    std::vector<Tensor> results = adam->parameters;
    results.insert(results.end(), {loss, accuracy});
    return results;
  };
}

constexpr Workload all[] = {
    {"softmax", 1, softmax_rows},
    {"log_softmax", 1, log_softmax_rows},
    {"layer_norm", 1, layer_norm_rows},
    {"rms_norm", 1, rms_norm_rows},
    {"variance", 1, variance_rows},
    {"argmax", 1, argmax_rows},
    {"logsumexp", 1, logsumexp_rows},
    {"logsumexp_long", 1, logsumexp_long_rows},
    {"cross_entropy", 2, cross_entropy_rows},
    {"batch_norm_training", 2, batch_norm_training},
    {"attention", 1, attention},
    {"attention_causal", 1, attention_causal},
    {"attention_masked", 1, attention_masked},
    {"attention_grouped", 1, attention_grouped},
    {"attention_backward", 3, attention_backward},
    {"normed_row_products", 1, normed_row_products},
    {"embedding", 1, embedding_rows},
    {"embedding_gradient", 1, embedding_gradient},
    {"assigned_parts", 4, assigned_parts},
    {"conv_bias_norm_relu", 1, conv_bias_norm_relu},
    {"cumsum", 2, cumsum_4096},
    {"sort", 12, sort_4096},
    {"topk", 4, topk_4096},
    {"adam_resnet18", 2, adam_resnet18, true},
    {"block_forward", 9, block<false>},
    {"block_training", 26, block<true>, true},
    {"resnet18_evaluating", 22, resnet18_evaluating, true},
    {"resnet18_training", 105, resnet18_training, true},
    {"gpt_step", 110, gpt_step, true},
    {"lstm_training", 12, lstm_training, true},
    {"fashion_step", 28, fashion_step, true},
};

}  // namespace

std::span<const Workload> workloads() { return all; }

}  // namespace croze::corpus
