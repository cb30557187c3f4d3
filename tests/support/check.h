// check.h -- comparing tensors with the reference evaluator and with numbers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "croze/croze.h"
#include "support/errors.h"
#include "support/reference.h"

namespace croze::test {

// What the recorded graph of `t` means, worked out by the reference evaluator.
HostTensor reference_of(const Tensor& t);

// Computes `t` on its device and compares with the reference: |difference| <= tolerance * max(1,
// |expected|), NaN with NaN, exactly for integers.
void expect_reference(const Tensor& t, double tolerance = 1e-6);

// The elements of `t`, computed, against these.
void expect_numbers(const Tensor& t, const std::vector<double>& expected, double tolerance = 1e-6);

// Seeded numbers in [low, high], row by row.
Tensor random_tensor(const Shape& shape, double low, double high, const TensorOptions& options = {},
                     std::uint32_t seed = 1);

}  // namespace croze::test
