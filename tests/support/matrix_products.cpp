#include "support/matrix_products.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "croze/graph/eval.h"

namespace croze::test {

using i64 = std::int64_t;

UOp product_kernel(Graph& g, const ProductSizes& s, const MatrixUnit& unit) {
  const UOp i = g.range(0, s.rows, LoopKind::Parallel),
            j = g.range(1, s.columns, LoopKind::Parallel),
            k = g.range(2, s.inner, LoopKind::Reduce);
  const UOp n = s.batch > 1 ? g.range(3, s.batch, LoopKind::Parallel) : g.index(0);
  const UOp a = g.load(
      g.place(g.param(unit.a, 1, s.batch * s.rows * s.inner), (n * s.rows + i) * s.inner + k));
  const UOp b = g.load(g.place(g.param(unit.b, 2, s.batch * s.inner * s.columns),
                               (n * s.inner + k) * s.columns + j));
  const UOp sum = g.reduce(Op::Add, g.cast(a, unit.accumulator) * g.cast(b, unit.accumulator),
                           std::vector<UOp>{k});
  const UOp out = g.place(g.param(unit.accumulator, 0, s.batch * s.rows * s.columns),
                          (n * s.rows + i) * s.columns + j);
  std::vector<UOp> loops{i, j};
  if (s.batch > 1) loops.insert(loops.begin(), n);
  return g.sink(std::vector<UOp>{g.store(out, sum, loops)});
}

std::vector<std::byte> small_numbers(i64 count, DType t, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(is_unsigned(t) ? 0 : -8, 8);
  std::vector<std::byte> memory(static_cast<std::size_t>(count * size_of(t)));
  for (i64 i = 0; i < count; i++) {
    store_bits(bits_of(static_cast<double>(number(random)), t), t,
               &memory[static_cast<std::size_t>(i * size_of(t))]);
  }
  return memory;
}

double number_at(std::span<const std::byte> memory, i64 i, DType t) {
  const i64 bits = load_bits(&memory[static_cast<std::size_t>(i * size_of(t))], t);
  return std::bit_cast<double>(convert(bits, t, DType::Float64));
}

Product::Product(const ProductSizes& s, const MatrixUnit& unit)
    : sizes_(s),
      unit_(unit),
      a_(small_numbers(s.batch * s.rows * s.inner, unit.a, 1)),
      b_(small_numbers(s.batch * s.inner * s.columns, unit.b, 2)),
      out_(static_cast<std::size_t>(s.batch * s.rows * s.columns * size_of(unit.accumulator))) {}

double Product::expected(i64 batch, i64 row, i64 column) const {
  double sum = 0;
  for (i64 k = 0; k < sizes_.inner; k++) {
    sum += number_at(a_, (batch * sizes_.rows + row) * sizes_.inner + k, unit_.a) *
           number_at(b_, (batch * sizes_.inner + k) * sizes_.columns + column, unit_.b);
  }
  return sum;
}

void Product::expect_right() const {
  for (i64 n = 0; n < sizes_.batch; n++) {
    for (i64 r = 0; r < sizes_.rows; r++) {
      for (i64 c = 0; c < sizes_.columns; c++) {
        const i64 at = (n * sizes_.rows + r) * sizes_.columns + c;
        ASSERT_EQ(number_at(out_, at, unit_.accumulator), expected(n, r, c))
            << unit_.name << ": " << n << ", " << r << ", " << c;
      }
    }
  }
}

}  // namespace croze::test
