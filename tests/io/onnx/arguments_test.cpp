// Every operator with inputs that it is not meant for: too few, too many, of other types and ranks.
// The answer is a result or an Error, never anything else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/onnx/messages.h"
#include "io/onnx/model.h"
#include "io/onnx/operator.h"
#include "libfuzzer/memory_file.h"

namespace croze {
namespace {

using namespace croze::test;
using onnx::Operator;

Message float_image() {
  std::vector<float> values;
  for (int i = 0; i < 32; i++) values.push_back(static_cast<float>(i % 7) - 3);
  return floats("", {1, 2, 4, 4}, values);
}

Message bools() { return tensor("", Bool, {2}).integers(5, {1, 0}); }
Message texts() { return tensor("", String, {2}).text(6, "a b").text(6, ""); }

// Tensors of all sorts; names are given when they are used.
const std::vector<Message>& samples() {
  static const std::vector<Message> all{floats("", {}, {0.5f}),
                                        floats("", {3}, {1, -2, 3}),
                                        floats("", {2, 3}, {1, 2, 3, 4, 5, 6}),
                                        floats("", {0}, {}),
                                        float_image(),
                                        int64s("", {}, {1}),
                                        int64s("", {1}, {-1}),
                                        int64s("", {3}, {0, 1, 2}),
                                        int64s("", {2, 2}, {1, 0, -1, 9}),
                                        int64s("", {2, 0}, {}),
                                        bools(),
                                        texts()};
  return all;
}

class OnnxArguments : public testing::Test {
 protected:
  // What a run throws that is no Error; empty if nothing.
  std::string fault(const Operator& op, const std::vector<std::size_t>& inputs,
                    std::int64_t opset) {
    GraphProto g{.outputs = {value_info("y", Float, {})}};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < inputs.size(); i++) names.push_back(fmt::format("i{}", i));
    const std::vector<std::string_view> views(names.begin(), names.end());
    for (std::size_t i = 0; i < inputs.size(); i++) {
      Message t = samples()[inputs[i]];
      g.initializers.push_back(t.text(8, names[i]));
    }
    g.nodes = {node(op.name, views, {"y"}).text(7, op.domain)};
    Message m = model(g, opset);
    if (!op.domain.empty()) m.message(8, Message().text(1, op.domain).integer(2, op.since));
    const MemoryFile file(reinterpret_cast<const std::uint8_t*>(m.bytes().data()),
                          m.bytes().size());
    runs_++;
    try {
      onnx::Model(file.path()).run({});
    } catch (const Error&) {
    } catch (const std::exception& e) {
      return e.what();
    }
    return {};
  }

  int runs_ = 0;
};

// All inputs alike, then an image or a row and other things beside it.
TEST_F(OnnxArguments, OperatorsRefuseWhatTheyAreNotMeantFor) {
  std::vector<std::vector<std::size_t>> inputs{{}};
  for (std::size_t kind = 0; kind < samples().size(); kind++) {
    for (std::size_t count = 1; count <= 3; count++) inputs.emplace_back(count, kind);
    for (std::size_t first : {std::size_t{1}, std::size_t{4}}) {
      for (std::size_t count : {1, 2, 4, 7}) {
        inputs.emplace_back(count, kind);
        inputs.back().insert(inputs.back().begin(), first);
      }
    }
  }
  for (const Operator& op : onnx::all_operators()) {
    for (const std::vector<std::size_t>& list : inputs) {
      for (std::int64_t opset : {7, 12, 22}) {
        if (op.since > opset) continue;
        const std::string text = fault(op, list, opset);
        EXPECT_EQ(text, "") << fmt::format("{} in opset {} of {}", op.name, opset,
                                           fmt::join(list, ", "));
      }
    }
  }
  RecordProperty("runs", runs_);
}

}  // namespace
}  // namespace croze
