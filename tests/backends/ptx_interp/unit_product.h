// unit_product.h -- a product of matrices by a unit of a warp, as PTX, and what it has to be.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "croze/base/options.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/eval.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/ptx/ptx.h"
#include "support/programs.h"

namespace croze::test {

// A matrix as it lies in memory.
struct StoredMatrix {
  std::int64_t columns;
  DType dtype;
  std::vector<std::byte> memory;

  StoredMatrix(std::int64_t rows, std::int64_t width, DType t)
      : columns(width), dtype(t), memory(static_cast<std::size_t>(rows * width * size_of(t))) {}

  void fill(std::mt19937& random, bool with_whole_numbers) {
    std::uniform_real_distribution<double> number(is_unsigned(dtype) ? 0 : -8, 8);
    for (std::size_t at = 0; at < memory.size(); at += static_cast<std::size_t>(size_of(dtype))) {
      const double x = number(random);
      store_bits(bits_of(with_whole_numbers ? std::round(x) : x, dtype), dtype, &memory[at]);
    }
  }
  double at(std::int64_t row, std::int64_t column) const {
    const auto place = static_cast<std::size_t>((row * columns + column) * size_of(dtype));
    return std::bit_cast<double>(convert(load_bits(&memory[place], dtype), dtype, DType::Float64));
  }
};

struct ProductSizes {
  std::int64_t rows, inner, columns;
};

// out[i, j] = sum over k of a[i, k] * b[k, j].
struct UnitProduct {
  UnitProduct(const MatrixUnit& by, const ProductSizes& s, bool with_whole_numbers)
      : unit(by),
        sizes(s),
        a(s.rows, s.inner, by.a),
        b(s.inner, s.columns, by.b),
        out(s.rows, s.columns, by.accumulator) {
    std::mt19937 random(5);
    a.fill(random, with_whole_numbers);
    b.fill(random, with_whole_numbers);
  }

  UOp kernel(Graph& g) const {
    const UOp i = g.range(0, sizes.rows, LoopKind::Parallel),
              j = g.range(1, sizes.columns, LoopKind::Parallel),
              k = g.range(2, sizes.inner, LoopKind::Reduce);
    const auto widened = [&](const StoredMatrix& m, std::int64_t slot, std::int64_t rows,
                             UOp index) {
      const UOp place = g.place(g.param(m.dtype, slot, rows * m.columns), index);
      return g.cast(g.load(place), unit.accumulator);
    };
    const UOp x = widened(a, 1, sizes.rows, i * sizes.inner + k),
              y = widened(b, 2, sizes.inner, k * sizes.columns + j);
    const UOp sum = g.reduce(Op::Add, x * y, std::span(&k, 1)),
              to = g.place(g.param(unit.accumulator, 0, sizes.rows * sizes.columns),
                           i * sizes.columns + j);
    const UOp over[] = {i, j}, store = g.store(to, sum, over);
    return g.sink(std::span(&store, 1));
  }

  // Returns the text.
  std::string run(Device& device, const PtxTarget& target) {
    Caps caps = ptx_caps();
    caps.matrix_units = {&unit};
    Graph graph;
    const LinearProgram program = make_program(kernel(graph), caps);
    const std::string text = PtxRenderer(target).render(program);
    const auto loaded = device.load(program.info, device.compile(program.info.name, text));
    const std::span<std::byte> buffers[] = {out.memory, a.memory, b.memory};
    fuzz::launch_program(device, *loaded, buffers);
    return text;
  }

  // As it is, or as the unit sees it if it may.
  double factor(double x) const {
    if (unit.factor_bits == 0 || !Options::flag(Option::Tf32)) return x;
    const double step = std::ldexp(1.0, std::ilogb(x) - unit.factor_bits);
    return x == 0 ? x : std::round(x / step) * step;
  }

  // Each sum is off by no more than its terms, each rounded once, could make it.
  void expect_right(double rounding) const {
    for (std::int64_t i = 0; i < sizes.rows; i++) {
      for (std::int64_t j = 0; j < sizes.columns; j++) {
        double expected = 0, all = 0;
        for (std::int64_t k = 0; k < sizes.inner; k++) {
          const double product = factor(a.at(i, k)) * factor(b.at(k, j));
          expected += product;
          all += std::abs(product);
        }
        const double most = rounding * all * static_cast<double>(sizes.inner);
        ASSERT_LE(std::abs(out.at(i, j) - expected), most)
            << unit.name << ": " << i << ", " << j << " is " << out.at(i, j) << ", not "
            << expected;
      }
    }
  }

  const MatrixUnit& unit;
  ProductSizes sizes;
  StoredMatrix a, b, out;
};

}  // namespace croze::test
