// traces.h -- the computations whose compilation is measured, recorded and not computed.
#pragma once

#include <vector>

#include "croze/tensor/tensor.h"

namespace croze::corpus {

// A product of two 512 x 512 matrices.
std::vector<Tensor> trace_matmul();
// A training step (loss, gradients) of a transformer block: batch 4, 64 tokens.
std::vector<Tensor> trace_block();
// A training step of ResNet-18 (loss, gradients, running statistics): 4 images of 64 x 64.
std::vector<Tensor> trace_resnet18();
// A block of a Llama (attention with four heads for each of keys and values, rotated positions, a
// gated perceptron) that reads 128 tokens of width 1024.
std::vector<Tensor> trace_llama_block();

}  // namespace croze::corpus
