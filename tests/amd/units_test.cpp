// units_test.cpp -- products of matrices and attention on AMD's graphics processors use their
// matrix instructions, which are counted in what libLLVM makes of the kernels, and all of it stays
// in registers.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "amd/target_test.h"
#include "croze/base/error.h"
#include "croze/run/devices.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/network/functional.h"
#include "support/target_sets.h"
#include "targets/code_object.h"

namespace croze::test {
namespace {

using targets::KernelUse;
using targets::TargetKernel;

// Data to come.
Tensor placeholder(const Shape& shape, DType t) {
  const std::int64_t bytes = shape.numel() * size_of(t);
  std::shared_ptr<std::byte[]> memory(new std::byte[static_cast<std::size_t>(bytes)]);
  return Tensor::from_blob(memory.get(), shape, t, memory);
}

// The product of two matrices as a model has it: of bytes with sums of 32 bits.
template <DType t>
std::vector<Tensor> product() {
  const Tensor a = placeholder({1024, 1024}, t), b = placeholder({1024, 1024}, t);
  if constexpr (t == DType::Int8) return {matmul(a.cast(DType::Int32), b.cast(DType::Int32))};
  return {matmul(a, b)};
}

std::vector<Tensor> product_of_odd_sizes() {
  return {matmul(placeholder({500, 333}, DType::Float16), placeholder({333, 777}, DType::Float16))};
}

std::vector<Tensor> convolution() {
  return {conv2d(placeholder({8, 64, 56, 56}, DType::Float16),
                 placeholder({64, 64, 3, 3}, DType::Float16), {}, {.padding = 1})};
}

// Its scores; the weights are computed where they are multiplied by the values, and wider.
std::vector<Tensor> attention() {
  const Shape shape{2, 8, 1024, 64};
  const auto part = [&] { return placeholder(shape, DType::Float16); };
  return {scaled_dot_product_attention(part(), part(), part())};
}

struct Case {
  TargetGraph graph;
  // As the assembler calls them; nothing where the processor has none.
  std::string_view gfx942, gfx950, gfx1100, gfx1200;
  int units = 1;  // kernels that have it
};
constexpr std::string_view wmma_f16 = "v_wmma_f32_16x16x16_f16",
                           wmma_bf16 = "v_wmma_f32_16x16x16_bf16",
                           wmma_i8 = "v_wmma_i32_16x16x16_iu8",
                           mfma_f16 = "v_mfma_f32_16x16x16_f16",
                           mfma_f16_32 = "v_mfma_f32_16x16x32_f16",
                           mfma_fp8 = "v_mfma_f32_16x16x32_fp8_fp8",
                           mfma_f32 = "v_mfma_f32_16x16x4_f32", mfma_f64 = "v_mfma_f64_16x16x4_f64";
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {{"product of float16", product<DType::Float16>}, mfma_f16, mfma_f16_32, wmma_f16, wmma_f16},
      {{"product of bfloat16", product<DType::BFloat16>},
       "v_mfma_f32_16x16x16_bf16",
       "v_mfma_f32_16x16x32_bf16",
       wmma_bf16,
       wmma_bf16},
      {{"product of int8", product<DType::Int8>},
       "v_mfma_i32_16x16x32_i8",
       "v_mfma_i32_16x16x64_i8",
       wmma_i8,
       wmma_i8},
      {{"product of float8_e4m3", product<DType::Float8E4M3>},
       "",
       mfma_fp8,
       "",
       "v_wmma_f32_16x16x16_fp8_fp8"},
      {{"product of float8_e4m3fnuz", product<DType::Float8E4M3FNUZ>}, mfma_fp8, "", "", ""},
      {{"product of float32", product<DType::Float32>}, mfma_f32, mfma_f32, "", ""},
      {{"product of float64", product<DType::Float64>}, mfma_f64, mfma_f64, "", ""},
      {{"product of odd sizes", product_of_odd_sizes}, mfma_f16, mfma_f16_32, wmma_f16, wmma_f16},
      {{"convolution of float16", convolution}, mfma_f16, mfma_f16_32, wmma_f16, wmma_f16},
      {{"attention of float16", attention}, mfma_f16, mfma_f16_32, wmma_f16, wmma_f16, 2},
  };
  return all;
}

std::string_view instruction_of(const Case& c, const std::string& processor) {
  if (processor == "gfx942") return c.gfx942;
  if (processor == "gfx950") return c.gfx950;
  return processor == "gfx1100" ? c.gfx1100 : c.gfx1200;
}

class UnitsOfAmd : public TestOfAmd {};

TEST_P(UnitsOfAmd, MultiplyMatricesInRegisters) {
  const Target& target = target_;
  const std::optional<std::string> linker = targets::find_code_linker();
  for (const Case& c : cases()) {
    int with_units = 0;
    for (const TargetKernel& k : kernels_of(target, c.graph)) {
      std::string object = target.compile(k.name, k.source).bytes;
      if (linker) object = targets::link_code_object(*linker, object);
      const KernelUse use = targets::uses_in_code_object(object).at(0);
      EXPECT_EQ(use.spill_stores + use.spill_loads + use.stack_bytes, 0) << k.source;
      std::map<std::string, int> units;
      for (const auto& [name, count] : targets::count_instructions(object, target.name)) {
        if (name.starts_with("v_mfma") || name.starts_with("v_wmma")) units[name] = count;
      }
      fmt::print("{:8} {:28} {:32} {:3} registers, {}\n", target.name, c.graph.name, k.name,
                 use.registers, units);
      if (units.empty()) continue;
      with_units++;
      EXPECT_EQ(units.begin()->first, instruction_of(c, target.name)) << k.source;
    }
    EXPECT_EQ(with_units, instruction_of(c, target.name).empty() ? 0 : c.units) << c.graph.name;
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(All, UnitsOfAmd, testing::Values("gfx942", "gfx950", "gfx1100", "gfx1200"),
                         test_name);

}  // namespace
}  // namespace croze::test
