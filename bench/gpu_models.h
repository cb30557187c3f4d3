// gpu_models.h -- what a GPU does for whole models: training steps, and products with packed
// weights.
#pragma once

#include <cstdint>

#include "cpu/case.h"

namespace croze::bench {

// Steps with momentum on square images of so many pixels a side.
Case resnet50_step(std::int64_t images, std::int64_t side);
// Steps of Adam on tokens (batch, length).
Case gpt2_step(std::int64_t batch, std::int64_t length, std::int64_t layers);
// x (rows, in) times a weight (out, in) of blocks of 32 numbers of four bits with a scale, as a
// language model has it that writes a token.
Case packed_product(std::int64_t rows, std::int64_t in, std::int64_t out);

}  // namespace croze::bench
