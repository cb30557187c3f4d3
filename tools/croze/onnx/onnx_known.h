// onnx_known.h -- the recorded tests of ONNX that croze is known not to pass, each with the reason.
#pragma once

#include <span>
#include <string_view>

namespace croze::tool {

// A version of libonnx-testdata, and how many node tests it has.
struct NodeTests {
  std::string_view version;
  int count;
};
inline constexpr NodeTests old_node_tests{"1.17.0", 1288}, new_node_tests{"1.20.0", 1653};

struct KnownDifference {
  std::string_view test;  // a node test
  std::string_view reason;
  bool in_old = true, in_new = true;  // which of the two versions it does not pass in
};

std::span<const KnownDifference> known_differences();
// The reason of a test; empty if it is expected to pass.
std::string_view known_reason(std::string_view group, std::string_view test);

}  // namespace croze::tool
