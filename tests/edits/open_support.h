// open_support.h -- kernels of open sizes, compiled once and run at many sizes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "croze/codegen/pipeline.h"
#include "croze/graph/analysis/spec.h"
#include "fuzz/launch.h"
#include "fuzz/open/kernels.h"
#include "support/programs.h"

namespace croze::test {

using namespace fuzz;

// A program for all values of its sizes.
class OpenProgram {
 public:
  OpenProgram(Device& device, const OpenForm& form, std::vector<SizeBounds> bounds,
              Chooser choose = {})
      : device_(device), form_(form), bounds_(std::move(bounds)) {
    const OpenKernel kernel = open_kernel(form, bounds_);
    check_kernel(kernel.sink);
    linear_ = make_program(kernel.sink, device.caps(), choose);
    check_program(linear_.instructions);
    program_ = compile_program(device, linear_);
  }

  const LinearProgram& linear() const { return linear_; }

  // The whole buffers, which are just as large as they need to be.
  void expect_right_at(const std::vector<std::int64_t>& sizes, const std::string& what = "") {
    IntBuffers buffers = open_buffers(form_, sizes), expected = buffers;
    form_.compute(sizes, expected);
    std::vector<std::span<std::byte>> bytes;
    for (auto& b : buffers) bytes.push_back(bytes_of(b));
    launch_program(device_, *program_, bytes, variables_of(bounds_, sizes));
    EXPECT_EQ(buffers, expected) << device_.name() << ", " << form_.name << " of "
                                 << testing::PrintToString(sizes) << " " << what << "\n"
                                 << print_program(linear_);
  }

 private:
  Device& device_;
  const OpenForm& form_;
  std::vector<SizeBounds> bounds_;
  LinearProgram linear_;
  std::unique_ptr<Program> program_;
};

inline const OpenForm& open_form(std::string_view name) {
  for (const OpenForm& form : open_forms()) {
    if (form.name == name) return form;
  }
  throw std::runtime_error("no such form");
}

// Every combination of these values, each within its bounds.
inline std::vector<std::vector<std::int64_t>> points(std::span<const SizeBounds> bounds,
                                                     std::span<const std::int64_t> values) {
  std::vector<std::vector<std::int64_t>> result{{}};
  for (const SizeBounds& b : bounds) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& point : result) {
      for (std::int64_t v : values) {
        if (v < b.lo || v > b.hi) continue;
        longer.push_back(point);
        longer.back().push_back(v);
      }
      if (b.lo != b.hi) continue;
      longer.push_back(point);
      longer.back().push_back(b.hi);
    }
    result = std::move(longer);
  }
  return result;
}

}  // namespace croze::test
