// two_layers.h -- a model that commands are given.
#pragma once

#include <string>

#include "io/onnx/messages.h"

namespace croze::test {

// scores = relu(x w), x (n, 3).
inline std::string two_layers() {
  return model(GraphProto{
                   .nodes = {node("MatMul", {"x", "w"}, {"h"}), node("Relu", {"h"}, {"scores"})},
                   .initializers = {floats("w", {3, 2}, {1, -1, 2, -2, 3, -3})},
                   .inputs = {value_info("x", Float, {-1, 3})},
                   .outputs = {value_info("scores", Float, {-1, 2})}})
      .bytes();
}

}  // namespace croze::test
