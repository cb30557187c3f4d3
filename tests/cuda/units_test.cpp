// units_test.cpp -- products by matrix units in the code of GPUs that are not here: NVIDIA's
// disassembler reads it, its instructions are counted, and nothing is spilled.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "croze/backends/cuda/nvrtc_library.h"
#include "croze/base/options.h"
#include "croze/jit/capture.h"
#include "croze/run/devices.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/tensor.h"
#include "cuda/tools.h"
#include "support/files.h"
#include "support/target_sets.h"
#include "targets/ptxas_notes.h"
#include "targets/target_kernels.h"

namespace croze::test {
namespace {

using targets::KernelUse;
using targets::TargetKernel;

// Stands for data: only what is made of it is compiled.
Tensor placeholder(const Shape& shape, DType t) {
  const auto bytes = static_cast<std::size_t>(shape.numel() * size_of(t));
  std::shared_ptr<std::byte[]> memory(new std::byte[bytes]);
  return Tensor::from_blob(memory.get(), shape, t, memory);
}

struct Products {
  std::string_view name;
  std::string_view instruction;  // of the unit
  int units;                     // kernels that have it
  std::vector<Tensor> (*trace)();
  bool is_of_fp8 = false;  // which sm_80 has not
  bool allows_tf32 = false;
  std::size_t kernels = 0;  // in all; 0: not asked
};

std::vector<Tensor> product(DType t, const Shape& a, const Shape& b) {
  return {matmul(placeholder(a, t), placeholder(b, t))};
}
// Of elements that are widened first.
std::vector<Tensor> product_of_bytes(DType a, DType b) {
  const DType wide = is_float(a) ? DType::Float32 : DType::Int32;
  return {matmul(placeholder({512, 768}, a).cast(wide), placeholder({768, 640}, b).cast(wide))};
}
std::vector<Tensor> gradients_of_convolution(DType t) {
  const Tensor x = placeholder({32, 128, 28, 28}, t), weight = placeholder({128, 128, 3, 3}, t);
  const Tensor wanted = placeholder({32, 128, 28, 28}, t);
  return sum(conv2d(x, weight, {}, {.padding = 1}).cast(DType::Float32) *
             wanted.cast(DType::Float32))
      .gradient({x, weight});
}
std::vector<Tensor> attention(DType t, bool is_causal) {
  const Shape shape{2, 8, 512, 64};
  return {scaled_dot_product_attention(placeholder(shape, t), placeholder(shape, t),
                                       placeholder(shape, t), {.causal = is_causal})};
}

using enum DType;
const Products all_products[] = {
    {"bf16 1024 x 1024 x 1024", "HMMA", 1,
     [] {
       return product(BFloat16, {1024, 1024}, {1024, 1024});
     }},
    {"f16 512 x 768 x 640", "HMMA", 1,
     [] {
       return product(Float16, {512, 768}, {768, 640});
     }},
    {"bf16 500 x 333 x 777", "HMMA", 1,
     [] {
       return product(BFloat16, {500, 333}, {333, 777});
     }},
    {"bf16, 16 of them", "HMMA", 1,
     [] {
       return product(BFloat16, {16, 256, 128}, {16, 128, 256});
     }},
    {"int8", "IMMA", 1, [] { return product_of_bytes(Int8, Int8); }},
    {"uint8 x int8", "IMMA", 1, [] { return product_of_bytes(UInt8, Int8); }},
    {"float64", "DMMA", 1,
     [] {
       return product(Float64, {512, 512}, {512, 512});
     }},
    {"e4m3", "MMA.", 1, [] { return product_of_bytes(Float8E4M3, Float8E4M3); }, true},
    {"e5m2 x e4m3", "MMA.", 1, [] { return product_of_bytes(Float8E5M2, Float8E4M3); }, true},
    {"float32", "MMA.", 0,
     [] {
       return product(Float32, {512, 512}, {512, 512});
     }},
    {"float32, large", "MMA.", 0,
     [] {
       return product(Float32, {4096, 4096}, {4096, 4096});
     }},
    {"float32 as TF32", "HMMA", 1,
     [] {
       return product(Float32, {512, 512}, {512, 512});
     },
     false, true},
    {"convolution of bf16", "HMMA", 1,
     [] {
       return std::vector<Tensor>{conv2d(placeholder({8, 64, 56, 56}, BFloat16),
                                         placeholder({64, 64, 3, 3}, BFloat16), {},
                                         {.padding = 1})};
     }},
    {"gradients of a convolution", "HMMA", 2, [] { return gradients_of_convolution(BFloat16); }},
    {"float32 rounded to bf16", "HMMA", 1,
     [] {
       return std::vector<Tensor>{matmul(placeholder({512, 512}, Float32).cast(BFloat16),
                                         placeholder({512, 512}, BFloat16))};
     }},
    {"attention of bf16", "HMMA", 1, [] { return attention(BFloat16, false); }, false, false, 1},
    {"attention of bf16, causal", "HMMA", 1, [] { return attention(BFloat16, true); }, false, false,
     1},
};

class CudaCode : public FilesTest {
 protected:
  void SetUp() override {
    FilesTest::SetUp();
    if (!found_nvrtc()) GTEST_SKIP() << "no NVRTC here (tests/cuda/install.sh fetches it)";
    disassembler_ = fetched_tool("nvdisasm");
    if (disassembler_.empty() && std::system("nvdisasm --version >/dev/null 2>&1") == 0)
      disassembler_ = "nvdisasm";
    if (disassembler_.empty())
      GTEST_SKIP() << "no nvdisasm here (tests/cuda/install.sh fetches it)";
  }

  // How many instructions of the name the code has.
  int count(const KernelImage& image, std::string_view instruction) const {
    const std::string code = file("kernel.cubin", image.bytes), text = code + ".sass";
    const std::string line = fmt::format("{} -c {} >{}", disassembler_, code, text);
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    const std::string sass = content_of(text);
    int found = 0;
    for (std::size_t at = sass.find(instruction); at != std::string::npos;
         at = sass.find(instruction, at + 1)) {
      found++;
    }
    return found;
  }

  // So many kernels of the products have the instruction, and none of them spills.
  void expect_units(const Target& target, const Products& p) const {
    int with_units = 0;
    const std::vector<TargetKernel> kernels = kernels_of(target, {p.name, p.trace});
    if (p.kernels > 0) {
      EXPECT_EQ(kernels.size(), p.kernels) << p.name;
    }
    for (const TargetKernel& k : kernels) {
      const KernelImage image = target.compile(k.name, k.source);
      const std::vector<KernelUse> uses = targets::kernel_uses(image.notes);
      ASSERT_EQ(uses.size(), 1u);
      const int found = count(image, p.instruction);
      with_units += found > 0;
      fmt::print("{:8} {:28} {:3} {}, {:3} registers, {} bytes of stack, {} spilled: {}\n",
                 target.name, p.name, found, p.instruction, uses[0].registers, uses[0].stack_bytes,
                 uses[0].spill_stores + uses[0].spill_loads, k.name);
      EXPECT_EQ(uses[0].spill_stores + uses[0].spill_loads, 0) << p.name << ", " << k.name;
      EXPECT_EQ(image.notes.find("serialized"), std::string::npos) << image.notes;
    }
    EXPECT_EQ(with_units, p.units) << p.name;
  }

  std::string disassembler_;
};

class CudaUnits : public CudaCode, public testing::WithParamInterface<std::string> {
 protected:
  const Target target_ = target_named(GetParam());
};

TEST_P(CudaUnits, MultiplyAndSpillNothing) {
  for (const Products& p : all_products) {
    if (p.is_of_fp8 && GetParam() == "sm_80") continue;
    const Options::Scope allowed{{Option::Tf32, p.allows_tf32}};
    expect_units(target_, p);
  }
}

// Units of four warps, which nothing has run yet: their code spills nothing, and the assembler has
// not made one wait for the other.
TEST_F(CudaCode, OfFourWarpsKeepsItsSumsInRegisters) {
  const Options::Scope asked{{Option::Wgmma, 1}};
  const Target target = target_named("sm_90a");
  const Products products[] = {
      {"bf16 4096 x 4096 x 4096", "HGMMA.64x256x16", 1,
       [] {
         return product(BFloat16, {4096, 4096}, {4096, 4096});
       }},
      {"bf16 8192 x 8192 x 8192", "HGMMA.64x256x16", 1,
       [] {
         return product(BFloat16, {8192, 8192}, {8192, 8192});
       }},
      {"f16 500 x 333 x 777", "HGMMA", 1,
       [] {
         return product(Float16, {500, 333}, {333, 777});
       }},
      {"bf16, 16 of them", "HGMMA", 1,
       [] {
         return product(BFloat16, {16, 256, 128}, {16, 128, 256});
       }},
      {"int8", "IGMMA", 1, [] { return product_of_bytes(Int8, Int8); }},
      {"e4m3", "QGMMA", 1, [] { return product_of_bytes(Float8E4M3, Float8E4M3); }},
      {"e5m2 x e4m3", "QGMMA", 1, [] { return product_of_bytes(Float8E5M2, Float8E4M3); }},
      {"gradients of a convolution", "HGMMA", 2, [] { return gradients_of_convolution(BFloat16); }},
      // One kernel in which warps hold scores, as without these units.
      {"attention of bf16", "HMMA", 1, [] { return attention(BFloat16, false); }, false, false, 1},
  };
  for (const Products& p : products) expect_units(target, p);
}

// What they read the processor copies by boxes, where rows begin at multiples of 16 bytes.
TEST_F(CudaCode, OfFourWarpsIsFedByBoxes) {
  const Options::Scope asked{{Option::Wgmma, 1}};
  const Target target = target_named("sm_90a");
  const Products products[] = {
      {"bf16 4096 x 4096 x 4096", "UTMALDG.2D", 1,
       [] {
         return product(BFloat16, {4096, 4096}, {4096, 4096});
       }},
      {"f16 500 x 336 x 776", "UTMALDG.2D", 1,
       [] {
         return product(Float16, {500, 336}, {336, 776});
       }},
      {"f16 500 x 333 x 777", "UTMALDG", 0,
       [] {
         return product(Float16, {500, 333}, {333, 777});
       }},
      {"bf16, 16 of them", "UTMALDG", 1,
       [] {
         return product(BFloat16, {16, 256, 128}, {16, 128, 256});
       }},
  };
  for (const Products& p : products) expect_units(target, p);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(All, CudaUnits, testing::Values("sm_80", "sm_90a", "sm_100a"), test_name);

}  // namespace
}  // namespace croze::test
