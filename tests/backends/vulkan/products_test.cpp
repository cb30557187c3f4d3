// products_test.cpp -- products of tensors by a driver's cooperative matrices, with what is
// computed beside them, against the interpreter.  cooperative.sh runs this where a driver has them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "croze/backends/vulkan/vulkan_device.h"
#include "croze/base/options.h"
#include "croze/graph/observer.h"
#include "croze/run/devices.h"
#include "croze/run/programs.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/tensor.h"

namespace croze::test {
namespace {

// Kernels with units that the thread compiles.
class CountUnits : public CompileObserver {
 public:
  void edited(std::string_view edits) override {
    if (edits.find("contract") != std::string_view::npos) kernels++;
  }
  int kernels = 0;
};

// Tensors whose elements are multiples of 1/16 between -1 and 1, each time the same.
class Numbers {
 public:
  explicit Numbers(std::string device) : device_(std::move(device)) {}

  Tensor operator()(const Shape& shape, DType t) {
    std::int64_t count = 1;
    for (std::int64_t size : shape) count *= size;
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; i++) {
      state_ = state_ * 1664525u + 1013904223u;
      const int number = static_cast<int>(state_ >> 16) % 33 - 16;
      values.push_back(static_cast<float>(number) / (is_float(t) ? 16.0f : 1.0f));
    }
    return Tensor::from_data(values, shape).cast(t).to(device_).contiguous().realize();
  }

 private:
  std::string device_;
  std::uint32_t state_ = 1;
};

class VulkanProducts : public testing::Test {
 protected:
  void SetUp() override {
    if (count_vulkan_devices() == 0) GTEST_SKIP() << "no driver of Vulkan here";
    if (device(device_index("VULKAN")).caps().matrix_units.empty())
      GTEST_SKIP() << "the driver has no matrices";
  }

  using Function = std::function<Tensor(Numbers&)>;

  // Sums in another order may differ by so much of the greatest element.
  static void expect_same(const Function& f, int kernels_with_units, double tolerance = 1e-3) {
    const Options::Scope compiled_anew{{Option::Cache, 0}};
    clear_program_cache();
    CountUnits units;
    const std::vector<float> got = [&] {
      const Observing watching(units);
      Numbers numbers("VULKAN");
      return f(numbers).cast(DType::Float32).to_vector<float>();
    }();
    EXPECT_GE(units.kernels, kernels_with_units);
    Numbers numbers("INTERP");
    const std::vector<float> want = f(numbers).cast(DType::Float32).to_vector<float>();
    ASSERT_EQ(got.size(), want.size());
    float greatest = 1;
    for (float v : want) greatest = std::max(greatest, std::abs(v));
    for (std::size_t i = 0; i < got.size(); i++)
      ASSERT_NEAR(got[i], want[i], tolerance * static_cast<double>(greatest)) << i;
  }
};

TEST_F(VulkanProducts, OfHalfsWithOddSizes) {
  expect_same(
      [](Numbers& n) {
        return matmul(n({45, 67}, DType::Float16), n({67, 39}, DType::Float16));
      },
      1);
}

TEST_F(VulkanProducts, OfATransposedMatrixWithWhatFollows) {
  expect_same(
      [](Numbers& n) {
        const Tensor x = n({64, 96}, DType::Float16), w = n({48, 96}, DType::Float16);
        return (linear(x, w, n({48}, DType::Float16)).relu() * 0.5).cast(DType::Float16);
      },
      1);
}

TEST_F(VulkanProducts, OfBatchesThatShareAFactor) {
  expect_same(
      [](Numbers& n) {
        return matmul(n({3, 2, 40, 64}, DType::Float16), n({2, 64, 24}, DType::Float16));
      },
      1);
}

TEST_F(VulkanProducts, OfBytesAreExact) {
  for (DType t : {DType::Int8, DType::UInt8}) {
    expect_same(
        [t](Numbers& n) {
          const Tensor a = n({50, 130}, t), b = n({130, 33}, t);
          return matmul(a.cast(DType::Int32), b.cast(DType::Int32));
        },
        1, 0);
  }
}

TEST_F(VulkanProducts, AreConvolutions) {
  expect_same(
      [](Numbers& n) {
        const Tensor x = n({2, 16, 12, 12}, DType::Float16), w = n({24, 16, 3, 3}, DType::Float16);
        return conv2d(x, w);
      },
      1);
}

// By x, a product with w; by w, one with x transposed.
TEST_F(VulkanProducts, AreGradientsOfProducts) {
  for (const bool by_weight : {false, true}) {
    expect_same(
        [=](Numbers& n) {
          const Tensor x = n({56, 40}, DType::Float16), w = n({72, 40}, DType::Float16);
          const Tensor loss = linear(x, w).square().sum();
          return loss.gradient({by_weight ? w : x})[0];
        },
        2, 4e-3);
  }
}

TEST_F(VulkanProducts, OneOfWhatAnotherHasMade) {
  expect_same(
      [](Numbers& n) {
        const Shape heads{2, 48, 32};
        return scaled_dot_product_attention(n(heads, DType::Float16), n(heads, DType::Float16),
                                            n(heads, DType::Float16));
      },
      1, 4e-3);
}

}  // namespace
}  // namespace croze::test
