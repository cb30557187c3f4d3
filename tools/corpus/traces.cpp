// traces.cpp -- the computations whose compilation is measured.
#include "corpus/traces.h"

#include "corpus/llama_block.h"
#include "corpus/resnet18.h"
#include "corpus/transformer_block.h"
#include "croze/nn/state.h"
#include "croze/tensor/network/loss.h"

namespace croze::corpus {
namespace {

// The loss and its gradient by all parameters.
template <typename Model>
std::vector<Tensor> training_step(const Model& model, const Tensor& loss) {
  std::vector<Tensor> results = loss.gradient(nn::parameters(model));
  results.push_back(loss);
  return results;
}

}  // namespace

std::vector<Tensor> trace_matmul() {
  return {matmul(placeholder({512, 512}), placeholder({512, 512}))};
}

std::vector<Tensor> trace_block() {
  const Shape shape{4, 64, 256};
  const TransformerBlock block(256);
  return training_step(block, mse_loss(block(placeholder(shape)), placeholder(shape)));
}

std::vector<Tensor> trace_resnet18() {
  ResNet18 net;
  const Tensor images = placeholder({4, 3, 64, 64});
  const Tensor labels = placeholder({4}).bitcast(DType::Int32);
  std::vector<Tensor> results = training_step(net, cross_entropy(net(images), labels));
  // Everything else that the step assigns: the running statistics.
  for (const NamedTensor& t : nn::state_dict(net)) {
    if (t.name.find("running") != std::string::npos) results.push_back(t.tensor);
  }
  return results;
}

std::vector<Tensor> trace_llama_block() {
  const std::int64_t tokens = 128;
  const LlamaBlock block(1024, 16, 4);
  return {
      block(placeholder({1, tokens, 1024}), placeholder({tokens, 64}), placeholder({tokens, 64}))};
}

}  // namespace croze::corpus
