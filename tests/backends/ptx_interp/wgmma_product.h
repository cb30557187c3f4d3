// wgmma_product.h -- products by units of four warps, as PTX, and what they have to be.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "backends/ptx_interp/unit_product.h"
#include "croze/codegen/pipeline.h"
#include "croze/graph/matrix_unit.h"
#include "croze/render/ptx/ptx.h"

namespace croze::test {

// out[l, i, j] = sum over k of a[l, i, k] * b[l, k, j], of which a may lie by columns and b by
// rows; perhaps max(.. + bias[j], 0), rounded to bfloat16.
struct WgmmaProduct {
  std::string_view unit;
  std::int64_t rows, inner, columns;
  std::int64_t batch = 1;
  bool a_by_columns = false, b_by_columns = false;
  bool has_epilogue = false;
  std::int64_t group_memory = 227 << 10;
  bool by_boxes = false;    // the device copies them
  std::int64_t before = 0;  // elements of the factors' buffers in front of them

  DType out() const { return has_epilogue ? DType::BFloat16 : of().accumulator; }
  const MatrixUnit& of() const { return *find_matrix_unit(unit); }
  std::string name() const {
    return fmt::format("{} of {} x {} x {}{}{}", unit, rows, inner, columns,
                       a_by_columns ? ", a by columns" : "", b_by_columns ? ", b by columns" : "");
  }
};

inline Caps caps_of(const WgmmaProduct& p) {
  Caps caps = ptx_caps();
  caps.threads = 1;  // of multiprocessors: a small product is work enough
  caps.group_memory = p.group_memory;
  caps.copies_boxes = p.by_boxes;
  caps.matrix_units = {&p.of()};
  return caps;
}

inline UOp kernel_of(Graph& g, const WgmmaProduct& p) {
  const UOp l = p.batch > 1 ? g.range(0, p.batch, LoopKind::Parallel) : g.index(0),
            i = g.range(1, p.rows, LoopKind::Parallel),
            j = g.range(2, p.columns, LoopKind::Parallel),
            k = g.range(3, p.inner, LoopKind::Reduce);
  const DType t = p.of().accumulator;
  const auto widened = [&](DType of, std::int64_t slot, std::int64_t size, UOp index) {
    const std::int64_t before = slot < 3 ? p.before : 0;
    return g.cast(g.load(g.place(g.param(of, slot, before + size), index + before)), t);
  };
  const UOp x = widened(
                p.of().a, 1, p.batch * p.rows * p.inner,
                p.a_by_columns ? (l * p.inner + k) * p.rows + i : (l * p.rows + i) * p.inner + k),
            y = widened(p.of().b, 2, p.batch * p.inner * p.columns,
                        p.b_by_columns ? (l * p.columns + j) * p.inner + k
                                       : (l * p.inner + k) * p.columns + j);
  UOp value = g.reduce(Op::Add, x * y, std::span(&k, 1));
  if (p.has_epilogue) {
    const UOp sum = value + widened(p.of().accumulator, 3, p.columns, j);
    value = g.cast(g.alu(Op::Max, {sum, g.constant(t, std::int64_t{0})}), p.out());
  }
  const UOp to =
      g.place(g.param(p.out(), 0, p.batch * p.rows * p.columns), (l * p.rows + i) * p.columns + j);
  std::vector<UOp> over{i, j};
  if (p.batch > 1) over.insert(over.begin(), l);
  const UOp store = g.store(to, value, over);
  return g.sink(std::span(&store, 1));
}

struct Numbers {
  explicit Numbers(const WgmmaProduct& product)
      : p(product),
        out(p.batch * p.rows, p.columns, p.out()),
        a(p.batch * (p.a_by_columns ? p.inner : p.rows), p.a_by_columns ? p.rows : p.inner,
          p.of().a),
        b(p.batch * (p.b_by_columns ? p.columns : p.inner), p.b_by_columns ? p.inner : p.columns,
          p.of().b),
        bias(1, p.columns, p.of().accumulator) {
    std::mt19937 random(11);
    for (StoredMatrix* m : {&a, &b, &bias}) m->fill(random, true);
  }

  std::vector<std::span<std::byte>> buffers() {
    std::vector<std::span<std::byte>> all{out.memory, a.memory, b.memory};
    if (p.has_epilogue) all.emplace_back(bias.memory);
    return all;
  }

  double expected(std::int64_t l, std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t k = 0; k < p.inner; k++) {
      sum += (p.a_by_columns ? a.at(l * p.inner + k, i) : a.at(l * p.rows + i, k)) *
             (p.b_by_columns ? b.at(l * p.columns + j, k) : b.at(l * p.inner + k, j));
    }
    if (!p.has_epilogue) return sum;
    const std::int64_t bits = bits_of(std::max(sum + bias.at(0, j), 0.0), p.out());
    return std::bit_cast<double>(convert(bits, p.out(), DType::Float64));
  }

  // The first number that is wrong; empty if none is.
  std::string wrong_number() const {
    for (std::int64_t l = 0; l < p.batch; l++) {
      for (std::int64_t i = 0; i < p.rows; i++) {
        for (std::int64_t j = 0; j < p.columns; j++) {
          const double is = out.at(l * p.rows + i, j), wanted = expected(l, i, j);
          if (is != wanted) return fmt::format("{}, {}, {} is {}, not {}", l, i, j, is, wanted);
        }
      }
    }
    return {};
  }

  const WgmmaProduct p;
  StoredMatrix out, a, b, bias;
};

inline std::string text_of(const LinearProgram& program) {
  return PtxRenderer(ptx_sm_90a).render(program);
}

inline void launch(Device& device, const ProgramInfo& info, const std::string& text,
                   Numbers& numbers) {
  const auto loaded = device.load(info, device.compile(info.name, text));
  fuzz::launch_program(device, *loaded, numbers.buffers());
}

}  // namespace croze::test
