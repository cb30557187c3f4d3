// data.h -- tensors for the corpus: over memory that nobody has written yet, where only compiling
// is measured, and filled with repeatable numbers, where results are looked at.
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "croze/tensor/tensor.h"

namespace croze::corpus {

// A Float32 tensor that stands for data to come: making it computes nothing.
inline Tensor placeholder(const Shape& shape) {
  std::shared_ptr<float[]> memory(new float[static_cast<std::size_t>(shape.numel())]);
  return Tensor::from_blob(memory.get(), shape, DType::Float32, memory);
}

// Uniform in [-1, 1).
inline std::vector<float> random_numbers(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(static_cast<std::size_t>(shape.numel()));
  for (float& x : numbers) x = uniform(generator);
  return numbers;
}

}  // namespace croze::corpus
