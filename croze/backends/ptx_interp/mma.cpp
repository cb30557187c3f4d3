#include "croze/backends/ptx_interp/mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "croze/graph/eval.h"

namespace croze::ptx_interp {
namespace {

struct Factor {
  std::string_view name;
  DType dtype;
};
constexpr Factor factors[] = {{"f16", DType::Float16},     {"bf16", DType::BFloat16},
                              {"tf32", DType::Float32},    {"f64", DType::Float64},
                              {"s8", DType::Int8},         {"u8", DType::UInt8},
                              {"e4m3", DType::Float8E4M3}, {"e5m2", DType::Float8E5M2}};

// Those of one row may be mixed.
struct Row {
  std::string_view shape;
  std::int64_t rows, columns, depth;
  std::string_view sums;
  std::string_view factors[2];
};
constexpr Row table[] = {
    {"m16n8k16", 16, 8, 16, "f32", {"f16"}},      {"m16n8k16", 16, 8, 16, "f32", {"bf16"}},
    {"m16n8k8", 16, 8, 8, "f32", {"tf32"}},       {"m8n8k4", 8, 8, 4, "f64", {"f64"}},
    {"m16n8k32", 16, 8, 32, "s32", {"s8", "u8"}}, {"m16n8k32", 16, 8, 32, "f32", {"e4m3", "e5m2"}},
};

DType sums_named(std::string_view name) {
  return name == "s32" ? DType::Int32 : name == "f64" ? DType::Float64 : DType::Float32;
}

// Row, or column, and term.
struct Element {
  std::int64_t line, term;
};

// Where a thread has its elements of a factor.  Its registers hold neighbouring terms; what the
// next one holds is eight lines further, if there are so many, and else as many terms as four
// threads have.
struct Fragment {
  std::int64_t in_register;  // elements
  std::int64_t lines;        // in eights

  Element at(std::int64_t thread, std::int64_t i) const {
    const std::int64_t number = i / in_register;
    return {thread / 4 + 8 * (number % lines),
            thread % 4 * in_register + i % in_register + 4 * in_register * (number / lines)};
  }
};

Fragment fragment_of(DType t, std::int64_t lines) {
  return {std::max<std::int64_t>(1, 4 / size_of(t)), lines / 8};
}

// What was not rounded before (cvt.rna) is cut off.
double as_tf32(double value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) & ~0x1fffu);
}

// A factor's lines, each with its terms.
std::vector<double> matrix(const Mma& mma, std::span<const std::uint64_t> registers, DType t,
                           std::int64_t lines) {
  const Fragment fragment = fragment_of(t, lines);
  std::vector<double> result(static_cast<std::size_t>(lines * mma.depth));
  const std::int64_t of_thread = std::ssize(result) / warp_items;
  const std::int64_t words = std::ssize(registers) / warp_items;
  for (std::int64_t thread = 0; thread < warp_items; thread++) {
    for (std::int64_t i = 0; i < of_thread; i++) {
      std::byte bytes[8];
      std::memcpy(bytes,
                  &registers[static_cast<std::size_t>(thread * words + i / fragment.in_register)],
                  sizeof bytes);
      const std::int64_t bits = load_bits(bytes + i % fragment.in_register * size_of(t), t);
      const double value = is_float(t) ? std::bit_cast<double>(bits) : static_cast<double>(bits);
      const Element e = fragment.at(thread, i);
      result[static_cast<std::size_t>(e.line * mma.depth + e.term)] =
          mma.is_tf32 ? as_tf32(value) : value;
    }
  }
  return result;
}

}  // namespace

std::uint64_t sum_of(DType t, std::uint64_t sum, std::span<const double> a,
                     std::span<const double> b) {
  if (t == DType::Float64) {
    auto result = std::bit_cast<double>(sum);
    for (std::size_t k = 0; k < a.size(); k++) result = std::fma(a[k], b[k], result);
    return std::bit_cast<std::uint64_t>(result);
  }
  double products = 0;
  for (std::size_t k = 0; k < a.size(); k++) products += a[k] * b[k];
  const auto low = static_cast<std::uint32_t>(sum);
  if (t == DType::Int32)
    return low + static_cast<std::uint32_t>(static_cast<std::int64_t>(products));
  const double result = static_cast<double>(std::bit_cast<float>(low)) + products;
  return std::bit_cast<std::uint32_t>(static_cast<float>(result));
}

std::optional<Mma> find_mma(std::string_view name) {
  for (const Row& row : table) {
    for (const Factor& a : factors) {
      for (const Factor& b : factors) {
        const bool is_of_row = std::ranges::find(row.factors, a.name) != std::end(row.factors) &&
                               std::ranges::find(row.factors, b.name) != std::end(row.factors);
        if (!is_of_row || name != fmt::format("mma.sync.aligned.{}.row.col.{}.{}.{}.{}", row.shape,
                                              row.sums, a.name, b.name, row.sums))
          continue;
        return Mma{row.rows, row.columns,          row.depth,       a.dtype,
                   b.dtype,  sums_named(row.sums), a.name == "tf32"};
      }
    }
  }
  return {};
}

void multiply(const Mma& mma, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
              std::span<std::uint64_t> sums) {
  const std::vector<double> rows = matrix(mma, a, mma.a, mma.rows),
                            columns = matrix(mma, b, mma.b, mma.columns);
  const std::int64_t of_thread = mma.sum_registers();
  const auto terms = static_cast<std::size_t>(mma.depth);
  for (std::int64_t thread = 0; thread < warp_items; thread++) {
    for (std::int64_t i = 0; i < of_thread; i++) {
      const auto row = static_cast<std::size_t>(thread / 4 + 8 * (i / 2)),
                 column = static_cast<std::size_t>(thread % 4 * 2 + i % 2);
      std::uint64_t& sum = sums[static_cast<std::size_t>(thread * of_thread + i)];
      sum = sum_of(mma.sums, sum, std::span(rows).subspan(row * terms, terms),
                   std::span(columns).subspan(column * terms, terms));
    }
  }
}

}  // namespace croze::ptx_interp
