// onnx_drawn.h -- recorded tests whose outputs are drawn at random, and the law they follow.
//
// A recording is one draw of NumPy's generator, which no operator's definition names: ONNX's test
// of its own reference leaves Bernoulli out for that, and onnxruntime's dropout draws otherwise
// too. What is defined is the law: which values may come, and how often.  That is compared here,
// over many draws.
#pragma once

#include <croze/io/onnx/value.h>

#include <string>
#include <string_view>
#include <vector>

namespace croze::tool {

enum class DrawnLaw {
  None,     // not drawn: compared with the recording
  Ones,     // 1 as often as the input says, else 0
  Zeros,    // 0 as often as the input says, else 1
  Dropout,  // 0 as often as input 1 says, else input 0 scaled up; a second output says which
};

// How many tests there are.
int num_drawn_tests();

// The law of a test.
DrawnLaw drawn_law(std::string_view group, std::string_view test);

using Values = std::vector<onnx::Value>;

// What in the outputs of each draw is not as the law says; empty if all is.  Frequencies may be off
// by five standard deviations.
std::string difference_from_law(DrawnLaw law, const Values& inputs,
                                const std::vector<Values>& draws);

}  // namespace croze::tool
