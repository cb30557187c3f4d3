// Every operator with inputs that it is not meant for: too few, too many, of other types and ranks.
// The answer is a result or an Error, never anything else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <random>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/io/onnx/model.h"
#include "croze/io/onnx/operator.h"
#include "io/onnx/messages.h"
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
  std::string fault(const Operator& op, const std::vector<std::size_t>& inputs, std::int64_t opset,
                    const std::vector<Message>& attributes = {}) {
    GraphProto g{.outputs = {value_info("y", Float, {})}};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < inputs.size(); i++) names.push_back(fmt::format("i{}", i));
    const std::vector<std::string_view> views(names.begin(), names.end());
    for (std::size_t i = 0; i < inputs.size(); i++) {
      Message t = samples()[inputs[i]];
      g.initializers.push_back(t.text(8, names[i]));
    }
    g.nodes = {node(op.name, views, {"y"}, attributes).text(7, op.domain)};
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
  // No kernels are compiled: most are used once.
  Options::Scope scope{{Option::Device, std::string("INTERP")}};
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
      for (std::int64_t opset : {7, 25}) {
        if (op.since > opset) continue;
        const std::string text = fault(op, list, opset);
        EXPECT_EQ(text, "") << fmt::format("{} in opset {} of {}", op.name, opset,
                                           fmt::join(list, ", "));
      }
    }
  }
  RecordProperty("runs", runs_);
}

// Numbers of attributes, and whether each is one number or a list of them.
constexpr std::string_view one_number[] = {"align_corners",
                                           "antialias",
                                           "axis",
                                           "batch_axis",
                                           "batch_dims",
                                           "bits",
                                           "block_size",
                                           "blocksize",
                                           "ceil_mode",
                                           "count_include_pad",
                                           "do_rotary",
                                           "dtype",
                                           "end",
                                           "exclusive",
                                           "fmod",
                                           "group",
                                           "interleaved",
                                           "is_causal",
                                           "K",
                                           "k",
                                           "keepdims",
                                           "kv_num_heads",
                                           "largest",
                                           "layout",
                                           "left_window_size",
                                           "local_window_size",
                                           "max_gram_length",
                                           "N",
                                           "noop_with_empty_axes",
                                           "num_groups",
                                           "num_heads",
                                           "num_outputs",
                                           "offset_group",
                                           "onesided",
                                           "output_dtype",
                                           "output_height",
                                           "output_width",
                                           "p",
                                           "precision",
                                           "q_num_heads",
                                           "qk_matmul_output_mode",
                                           "rotary_embedding_dim",
                                           "sample_size",
                                           "sampling_ratio",
                                           "size",
                                           "softmax_precision",
                                           "start",
                                           "storage_order",
                                           "time_axis",
                                           "to",
                                           "transBatchA",
                                           "unidirectional",
                                           "upper"};
constexpr std::string_view number_list[] = {
    "axes",         "dilations", "ends",  "kernel_shape", "output_padding",
    "output_shape", "pads",      "perm",  "pooled_shape", "qkv_hidden_sizes",
    "scales",       "shape",     "split", "starts",       "strides"};

TEST_F(OnnxArguments, OperatorsRefuseAttributesWithoutSense) {
  Options::Scope scope{{Option::Device, std::string("INTERP")}};
  std::mt19937 random;
  const auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
  constexpr std::int64_t numbers[] = {0,        1,        2,        -1,        -2,        5, 7,
                                      1L << 12, 1L << 40, 1L << 62, -1L << 62, -1L << 63, 3};
  for (const Operator& op : onnx::all_operators()) {
    // An operator gets the same attributes whatever other operators there are.
    std::seed_seq seed(op.name.begin(), op.name.end());
    random.seed(seed);
    for (int round = 0; round < 40; round++) {
      std::vector<Message> attributes;
      for (int i = 0; i < 3; i++) {
        attributes.push_back(attribute(pick(one_number), pick(numbers)));
        std::vector<std::int64_t> list(1 + random() % 4);
        for (std::int64_t& n : list) n = pick(numbers);
        attributes.push_back(attribute(pick(number_list), list));
      }
      std::vector<std::size_t> inputs(1 + random() % 3);
      for (std::size_t& i : inputs) i = random() % samples().size();
      inputs[0] = random() % 4 == 0 ? inputs[0] : 4;
      const std::int64_t opset = op.since > 12 ? 25 : pick(std::array<std::int64_t, 2>{12, 25});
      const std::string text = fault(op, inputs, opset, attributes);
      EXPECT_EQ(text, "") << fmt::format("{}, round {}", op.name, round);
    }
  }
}

}  // namespace
}  // namespace croze
