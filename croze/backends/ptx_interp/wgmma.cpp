#include "croze/backends/ptx_interp/wgmma.h"

#include <fmt/format.h>

namespace croze::ptx_interp {
namespace {

struct Factor {
  std::string_view name;
  DType dtype;
  std::int64_t kind;  // those of one kind may be mixed
};
constexpr Factor factors[] = {{"f16", DType::Float16, 0},     {"bf16", DType::BFloat16, 1},
                              {"s8", DType::Int8, 2},         {"u8", DType::UInt8, 2},
                              {"e4m3", DType::Float8E4M3, 3}, {"e5m2", DType::Float8E5M2, 3}};

// "n" of the shape: integers have not all multiples of eight.
bool is_column_count(std::int64_t n, bool is_integer) {
  return n >= 8 && n <= 256 && n % 8 == 0 && (!is_integer || n <= 32 || n % 16 == 0);
}

}  // namespace

std::optional<Wgmma> find_wgmma(std::string_view name) {
  for (const Factor& a : factors) {
    for (const Factor& b : factors) {
      if (a.kind != b.kind) continue;
      const std::int64_t depth = 32 / size_of(a.dtype);
      const DType sums = is_float(a.dtype) ? DType::Float32 : DType::Int32;
      for (std::int64_t n = 8; n <= 256; n += 8) {
        if (!is_column_count(n, !is_float(a.dtype))) continue;
        if (name == fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}", n, depth,
                                is_float(sums) ? "f32" : "s32", a.name, b.name))
          return Wgmma{n, depth, a.dtype, b.dtype, sums};
      }
    }
  }
  return {};
}

MatrixDescriptor::MatrixDescriptor(std::uint64_t bits)
    : start(static_cast<std::int64_t>(bits & 0x3fff) << 4),
      leading(static_cast<std::int64_t>(bits >> 16 & 0x3fff) << 4),
      stride(static_cast<std::int64_t>(bits >> 32 & 0x3fff) << 4),
      base_offset(static_cast<int>(bits >> 49 & 7)),
      swizzle(static_cast<int>(bits >> 62)) {}

std::string_view MatrixDescriptor::refusal() const {
  if (swizzle != 1) return "a matrix descriptor without 128-byte swizzling";
  if (base_offset != 0) return "a matrix descriptor with a base offset";
  if (start / 128 % 8 != 0) return "a matrix that begins inside of eight rows";
  return {};
}

// The canonical layouts, of elements of which T are 16 bytes: K-major ((8,m),(T,2k)) with strides
// ((8T,SBO),(1,T)), MN-major ((T,8,m),(8,k)) with ((1,T,LBO),(8T,SBO)).  Swizzling takes the bits
// of 16 bytes in 128 with those of 128 in 1024.
std::int64_t MatrixDescriptor::place(bool by_lines, DType t, std::int64_t line,
                                     std::int64_t term) const {
  const std::int64_t in_row = 128 / size_of(t);
  const std::int64_t behind = by_lines ? line % in_row * size_of(t) + line / in_row * leading +
                                             term % 8 * 128 + term / 8 * stride
                                       : line % 8 * 128 + line / 8 * stride + term * size_of(t);
  const std::int64_t address = start + behind;
  return address ^ (address / 128 % 8 * 16);
}

SumPlace sum_place(std::int64_t thread, std::int64_t i) {
  return {thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8, i / 4 * 8 + thread % 4 * 2 + i % 2};
}

}  // namespace croze::ptx_interp
