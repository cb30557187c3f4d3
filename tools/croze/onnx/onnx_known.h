// onnx_known.h -- the recorded tests of ONNX that croze is known not to pass, each with the reason.
#pragma once

#include <span>
#include <string_view>

namespace croze::tool {

// The node tests that there are in libonnx-testdata 1.17.0.
inline constexpr int num_node_tests = 1288;

struct KnownDifference {
  std::string_view test;  // a node test
  std::string_view reason;
};

std::span<const KnownDifference> known_differences();
// The reason of a test; empty if it is expected to pass.
std::string_view known_reason(std::string_view group, std::string_view test);

}  // namespace croze::tool
