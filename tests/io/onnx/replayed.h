// replayed.h -- runs of a model that has run before, against runs that record everything anew.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "croze/io/onnx/interpreter.h"
#include "croze/io/onnx/model.h"
#include "croze/jit/trace.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/movement.h"
#include "support/errors.h"

namespace croze::test {

using Inputs = std::map<std::string, onnx::Value>;

// Other elements of the same type: integers, which are often positions or sizes, in another order.
inline Tensor changed(const Tensor& x, int turn) {
  if (x.dtype() == DType::Bool) return turn == 1 ? logical_not(x) : x;
  if (is_float(x.dtype())) return (x * (1 + turn) - 0.25 * turn).cast(x.dtype());
  return turn == 1 && x.ndim() > 0 ? flip(x, 0) : x;
}

inline Inputs changed(const Inputs& inputs, int turn) {
  Inputs result = inputs;
  for (auto& [name, value] : result) {
    if (!value.is_tensor()) continue;
    value = {changed(value.tensor(), turn).realize(), value.element_type()};
  }
  return result;
}

// The outputs in order, of a model that is loaded for this run and recorded for it.
inline std::vector<onnx::Value> freshly_recorded(const std::string& path, const Inputs& inputs) {
  const auto program = onnx::load_program(path);
  const onnx::GraphProto& graph = program->proto.graph;
  std::vector<onnx::Value> values;
  for (const onnx::ValueInfo& input : graph.inputs) {
    const auto given = inputs.find(std::string(input.name));
    values.push_back(given == inputs.end() ? onnx::Value() : given->second);
  }
  std::vector<onnx::Value> outputs =
      onnx::Interpreter(*program).run(graph, values, nullptr, program->proto.opsets);
  realize(onnx::tensors_of(outputs));
  return outputs;
}

// The texts, types, shapes and bytes of a value.
inline std::string content_of(const onnx::Value& value) {
  std::string content = describe(value) + ":";
  if (value.kind() == onnx::Value::Kind::Texts) {
    for (const std::string& text : value.texts().elements) content += text + ",";
  }
  for (const Tensor& t : onnx::tensors_of(std::span(&value, 1))) {
    const std::vector<std::byte> bytes = t.to_bytes();
    content += std::string(name_of(t.dtype())) + to_text(t.shape());
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return content;
}

// Three runs of one model over different numbers.
inline void expect_replays_like_recordings(const std::string& path, const Inputs& inputs) {
  const onnx::Model model(path);
  for (int turn = 0; turn < 3; turn++) {
    const Inputs now = changed(inputs, turn);
    std::vector<onnx::Value> wanted;
    const std::string error = error_if_any([&] { wanted = freshly_recorded(path, now); });
    std::map<std::string, onnx::Value> outputs;
    const std::string found = error_if_any([&] { outputs = model.run(now); });
    EXPECT_EQ(found.empty(), error.empty()) << "turn " << turn << ": " << found << error;
    if (!found.empty() || !error.empty()) continue;
    for (std::size_t i = 0; i < wanted.size(); i++) {
      const std::string& name = model.outputs()[i].name;
      EXPECT_TRUE(content_of(outputs.at(name)) == content_of(wanted[i]))
          << "output " << name << " of turn " << turn;
    }
  }
}

}  // namespace croze::test
