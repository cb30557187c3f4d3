// matrix_products.h -- kernels that multiply matrices as a matrix unit has them, with numbers to
// try them on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/matrix_unit.h"

namespace croze::test {

struct ProductSizes {
  std::int64_t rows, inner, columns, batch = 1;
};

// out[n, i, j] = sum over k of a[n, i, k] * b[n, k, j], each loaded as the unit has it.
UOp product_kernel(Graph& g, const ProductSizes& s, const MatrixUnit& unit);

// Small whole numbers, of which sums are exact in any order.
std::vector<std::byte> small_numbers(std::int64_t count, DType t, unsigned seed);

double number_at(std::span<const std::byte> memory, std::int64_t i, DType t);

// Buffers of such a kernel, and what it is to compute of them.
class Product {
 public:
  Product(const ProductSizes& s, const MatrixUnit& unit);

  std::vector<std::span<std::byte>> buffers() { return {out_, a_, b_}; }
  // Fails the test where the result is another.
  void expect_right() const;

 private:
  double expected(std::int64_t batch, std::int64_t row, std::int64_t column) const;

  ProductSizes sizes_;
  const MatrixUnit& unit_;
  std::vector<std::byte> a_, b_, out_;
};

}  // namespace croze::test
