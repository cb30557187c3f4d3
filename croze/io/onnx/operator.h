// operator.h -- what an operator of ONNX is: a row (domain, name, first opset, function).  The rows
// stand in ops/, a table per family; operator.cpp joins them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/io/onnx/value.h"

namespace croze::onnx {

class NodeCall;

// One value per output of the node; outputs that the node does not want may be missing at the end
// or be nothing.
using Results = std::vector<Value>;
using OpFunction = Results (*)(const NodeCall& call);

struct Operator {
  std::string_view name;
  int since;  // the first opset of its domain in which it means this
  OpFunction function;
  std::string_view domain = {};
};

// The operator as it is in `version` of the domain; null if there is none.
const Operator* find_operator(std::string_view domain, std::string_view name, std::int64_t version);
// All rows, by domain, name and opset.
std::span<const Operator> all_operators();

// The families, one file each.
std::span<const Operator> activation_operators();
std::span<const Operator> attention_operators();
std::span<const Operator> cache_operators();
std::span<const Operator> contrib_attention_operators();
std::span<const Operator> control_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> elementwise_operators();
std::span<const Operator> fused_operators();
std::span<const Operator> generator_operators();
std::span<const Operator> image_operators();
std::span<const Operator> indexing_operators();
std::span<const Operator> learning_operators();
std::span<const Operator> linear_operators();
std::span<const Operator> loss_operators();
std::span<const Operator> ml_operators();
std::span<const Operator> movement_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> quantization_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> rotary_operators();
std::span<const Operator> sampling_operators();
std::span<const Operator> selection_operators();
std::span<const Operator> sequence_operators();
std::span<const Operator> signal_operators();
std::span<const Operator> text_operators();
std::span<const Operator> type_operators();

}  // namespace croze::onnx
