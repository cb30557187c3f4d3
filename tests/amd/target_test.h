// target_test.h -- tests of what is compiled for one of AMD's processors, by its name.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "croze/base/error.h"
#include "croze/run/devices.h"

namespace croze::test {

// What does not compile says so; a processor that this LLVM does not know yet is told apart.
class TestOfAmd : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      target_.compile("nothing", "define amdgpu_kernel void @nothing() { ret void }\n");
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }

  const Target target_ = target_named(GetParam());
};

}  // namespace croze::test
