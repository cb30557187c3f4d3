// Damaged and malicious models: each is refused with an Error that says what is wrong.
#include <sys/resource.h>

#include <filesystem>

#include "croze/io/onnx/model.h"
#include "croze/io/protobuf.h"
#include "io/onnx/messages.h"
#include "support/files.h"

namespace croze {
namespace {

using namespace croze::test;
namespace fs = std::filesystem;

class OnnxHostile : public FilesTest {
 protected:
  // The Error of loading a file with this content.
  std::string load_error(const Message& m) const { return load_error(m.bytes()); }
  std::string load_error(const std::string& bytes) const {
    return error_if_any([&] { onnx::Model(file("model.onnx", bytes)); });
  }
  // The Error of running a model without inputs.
  std::string run_error(const GraphProto& g, std::int64_t opset = 17) const {
    const std::string path = file("model.onnx", model(g, opset).bytes());
    return error_if_any([&] { onnx::Model(path).run({}); });
  }
  // A model whose one initializer is this.
  static Message with(const Message& initializer) {
    return model(GraphProto{.nodes = {node("Identity", {"w"}, {"y"})},
                            .initializers = {initializer},
                            .inputs = {},
                            .outputs = {value_info("y", Float, {})}});
  }
  using Entries = std::vector<std::pair<std::string, std::string>>;
  static Message external_tensor(const Entries& entries) {
    Message t = tensor("w", Float, {2}).integer(14, 1);
    for (const auto& [key, value] : entries) t.message(13, Message().text(1, key).text(2, value));
    return t;
  }
  static Message external(const Entries& entries) { return with(external_tensor(entries)); }
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// ---- the wire ---------------------------------------------------------------------------------

TEST_F(OnnxHostile, AnEmptyFileIsNoModel) { EXPECT_HAS(load_error(""), "no graph"); }

TEST_F(OnnxHostile, AFileOfSomethingElseIsNoModel) {
  EXPECT_HAS(load_error("PK\x03\x04 this is a zip archive"), "model.onnx");
  EXPECT_HAS(load_error(std::string(64, '\xff')), "model.onnx");
}

TEST_F(OnnxHostile, ALengthMayNotPassTheEndOfItsMessage) {
  EXPECT_HAS(load_error(std::string("\x3a\xff\xff\xff\xff\x0f", 6)), "longer than the message");
  EXPECT_HAS(load_error(std::string("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)),
             "longer than the message");
}

TEST_F(OnnxHostile, ANumberHas64BitsAtMost) {
  EXPECT_HAS(load_error("\x08" + std::string(11, '\xff')), "more than 64 bits");
}

TEST_F(OnnxHostile, ANumberMayNotEndEarly) { EXPECT_HAS(load_error("\x08\x80"), "wanted"); }

TEST_F(OnnxHostile, FieldsHaveAKindAndANumber) {
  EXPECT_HAS(load_error(std::string(1, '\x3b')), "unknown kind");  // a group
  EXPECT_HAS(load_error(std::string("\x02\x00", 2)), "no such field");
  EXPECT_HAS(load_error(Message().integer(7, 5)), "not a text or message");
  EXPECT_HAS(load_error(Message().text(1, "8")), "not an integer");
}

TEST_F(OnnxHostile, EveryTruncationOfAModelIsRefusedOrShorter) {
  const std::string whole = with(floats("w", {2}, {1, 2})).bytes();
  for (std::size_t size = 0; size < whole.size(); size++) {
    const std::string path = file("model.onnx", whole.substr(0, size));
    error_if_any([&] { onnx::Model(path).run({}); });  // throws an Error or nothing
  }
}

TEST_F(OnnxHostile, GraphsMayNotNestWithoutEnd) {
  Message graph;
  for (int depth = 0; depth < 10'000; depth++) {
    graph = Message().message(1, node("If", {"c"}, {"y"}, {graph_attribute("then_branch", graph)}));
    if (graph.bytes().size() > 1'000'000) break;
  }
  EXPECT_HAS(load_error(model(graph)), "nest");
}

TEST_F(OnnxHostile, TypesMayNotNestWithoutEnd) {
  Message type;
  for (int depth = 0; depth < 10'000; depth++) {
    type = Message().message(4, Message().message(1, type));
  }
  const Message info = Message().text(1, "x").message(2, type);
  EXPECT_HAS(load_error(model(GraphProto{.nodes = {}, .inputs = {info}, .outputs = {info}})),
             "nest");
}

// ---- tensors ----------------------------------------------------------------------------------

TEST_F(OnnxHostile, DataAreAsManyAsTheShapeSays) {
  EXPECT_HAS(load_error(with(floats("w", {3}, {1, 2}))), "takes 12 bytes, but 8 are there");
  EXPECT_HAS(load_error(with(floats("w", {1}, {1, 2}))), "takes 4 bytes, but 8 are there");
  EXPECT_HAS(load_error(with(int64s("w", {3}, {1}))), "takes 24 bytes");
  EXPECT_HAS(load_error(with(tensor("w", Int4, {3}).text(9, "x"))), "takes 2 bytes");
  EXPECT_HAS(load_error(with(tensor("w", String, {2}).text(6, "one"))), "but 1 texts");
  EXPECT_HAS(load_error(with(tensor("w", Float4, {3}).text(9, "x"))), "takes 2 bytes");
  EXPECT_HAS(load_error(with(tensor("w", UInt2, {5}).text(9, "x"))), "takes 2 bytes");
  EXPECT_HAS(load_error(with(tensor("w", Int2, {4}).text(9, "xy"))), "takes 1 bytes, but 2");
  EXPECT_HAS(load_error(with(tensor("w", Float8E8M0, {3}).text(9, "x"))), "takes 3 bytes");
}

TEST_F(OnnxHostile, SizesMayNotWrap) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_HAS(load_error(with(tensor("w", Float, {huge, 4}))), "does not fit 64 bits");
  EXPECT_HAS(load_error(with(tensor("w", Float, {huge, huge, huge}))), "does not fit 64 bits");
  // The elements of a size whose bytes wrap to none.
  EXPECT_HAS(load_error(with(tensor("w", Float, {huge}).text(9, ""))), "does not fit 64 bits");
  EXPECT_HAS(load_error(with(tensor("w", Float, {-1}))), "an axis of -1");
}

TEST_F(OnnxHostile, ATinyFileCannotAskForGigabytes) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_HAS(load_error(with(tensor("w", Float, {std::int64_t{1} << 40}))), "bytes, but 0");
  EXPECT_HAS(load_error(with(tensor("w", Int64, {std::int64_t{1} << 50}).integers(7, {1}))),
             "but 8 are there");
  EXPECT_HAS(load_error(with(tensor("w", UInt2, {std::int64_t{1} << 40}))), "bytes, but 0");
  EXPECT_HAS(load_error(with(tensor("w", String, {std::int64_t{1} << 50}))), "but 0 texts");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);
}

TEST_F(OnnxHostile, RankIsBounded) {
  EXPECT_HAS(load_error(with(tensor("w", Float, std::vector<std::int64_t>(100'000, 1)))), "axes");
}

TEST_F(OnnxHostile, ElementTypesMustBeKnown) {
  EXPECT_HAS(load_error(with(tensor("w", 99, {1}))), "type 99");
  EXPECT_HAS(load_error(with(tensor("w", 14, {1}))), "complex64");
  EXPECT_HAS(load_error(with(tensor("w", 0, {1}))), "type 0");
}

Message sparse(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& places) {
  return Message()
      .message(1, floats("w", {2}, {1, 2}))
      .message(2, int64s("", {static_cast<std::int64_t>(places.size())}, places))
      .integers(3, dims);
}

TEST_F(OnnxHostile, SparseTensorsStayInTheirShape) {
  const auto load = [&](const std::vector<std::int64_t>& dims,
                        const std::vector<std::int64_t>& places) {
    const Message graph = Message()
                              .message(1, node("Identity", {"w"}, {"y"}))
                              .message(12, value_info("y", Float, {}))
                              .message(15, sparse(dims, places));
    return load_error(model(graph));
  };
  EXPECT_EQ(load({4}, {0, 3}), "");
  EXPECT_HAS(load({4}, {0, 4}), "index 4 is outside");
  EXPECT_HAS(load({4}, {0, -1}), "index -1 is outside");
  EXPECT_HAS(load({4}, {0, 1, 2}), "2 values but 3 indices");
  EXPECT_HAS(load({std::int64_t{1} << 40}, {0, 1}), "too large");
}

// ---- external data ----------------------------------------------------------------------------

TEST_F(OnnxHostile, ExternalDataLieInTheFolderOfTheModel) {
  file("data.bin", raw_floats({1, 2, 3}));
  EXPECT_EQ(load_error(external({{"location", "data.bin"}, {"offset", "4"}, {"length", "8"}})), "");
  EXPECT_EQ(load_error(external({{"location", "./data.bin"}})), "");
  const std::string absolute = path("data.bin");
  EXPECT_HAS(load_error(external({{"location", absolute}})), "must stay inside");
  EXPECT_HAS(load_error(external({{"location", "../data.bin"}})), "must stay inside");
  EXPECT_HAS(load_error(external({{"location", "a/../../data.bin"}})), "cannot open");
  EXPECT_HAS(load_error(external({{"location", "data.bin/.."}})), "cannot open");
  EXPECT_HAS(load_error(external({{"location", "missing.bin"}})), "cannot open");
  EXPECT_HAS(load_error(external({{"location", "."}})), "not a regular file");
  EXPECT_HAS(load_error(external({})), "not a name");
  EXPECT_HAS(load_error(external({{"location", std::string("data.bin\0x", 10)}})), "not a name");
}

TEST_F(OnnxHostile, ExternalDataAreNoLinks) {
  const std::string target = file("target", raw_floats({1, 2}));
  fs::create_symlink(target, path("link"));
  EXPECT_HAS(load_error(external({{"location", "link"}})), "symbolic link");
  fs::create_directory(path("real"));
  file("real/data", raw_floats({1, 2}));
  EXPECT_EQ(load_error(external({{"location", "real/data"}})), "");
  fs::create_directory_symlink(path("real"), path("folder"));
  EXPECT_HAS(load_error(external({{"location", "folder/data"}})), "cannot open");
  fs::create_hard_link(target, path("hard"));
  EXPECT_HAS(load_error(external({{"location", "hard"}})), "hard link");
}

TEST_F(OnnxHostile, ExternalDataStayInTheirFile) {
  file("data.bin", raw_floats({1, 2}));
  const auto at = [&](const char* offset, const char* length) {
    return load_error(external({{"location", "data.bin"}, {"offset", offset}, {"length", length}}));
  };
  EXPECT_EQ(at("0", "8"), "");
  EXPECT_HAS(at("4", "8"), "8 bytes wanted where 4 remain");
  EXPECT_HAS(at("9", "8"), "outside");
  EXPECT_HAS(at("9223372036854775807", "8"), "outside");
  EXPECT_HAS(at("-4", "8"), "not a place");
  EXPECT_HAS(at("18446744073709551615", "8"), "not a place");
  EXPECT_HAS(at("0x0", "8"), "not a place");
  EXPECT_HAS(at("0", "4"), "has 4 for it");
  EXPECT_HAS(at("0", ""), "not a place");
}

// Wherever in the model the tensor stands.
TEST_F(OnnxHostile, ExternalDataOfAttributesAndSparseTensorsStayInTheFolderToo) {
  const Message outside = external_tensor({{"location", "../data.bin"}});
  const Message constant = node("Constant", {}, {"y"}, {tensor_attribute("value", outside)});
  const Message values = Message().message(1, outside).message(2, int64s("", {2}, {0, 1}));
  const Message in_node = Message().message(1, constant).message(12, value_info("y", Float, {}));
  EXPECT_HAS(load_error(model(in_node)), "must stay inside");
  const Message in_sparse = Message()
                                .message(1, node("Identity", {"w"}, {"y"}))
                                .message(12, value_info("y", Float, {}))
                                .message(15, Message(values).integers(3, {2}));
  EXPECT_HAS(load_error(model(in_sparse)), "must stay inside");
}

TEST_F(OnnxHostile, RecordedTensorsNameNoFiles) {
  file("data.bin", raw_floats({1, 2}));
  Message t = tensor("w", Float, {2}).integer(14, 1);
  t.message(13, Message().text(1, "location").text(2, "data.bin"));
  const std::string path = file("input_0.pb", t.bytes());
  EXPECT_HAS(error_of([&] { onnx::load_recorded(path, onnx::Recorded::Tensor); }), "not allowed");
}

// ---- graphs -----------------------------------------------------------------------------------

TEST_F(OnnxHostile, NodesMustExist) {
  const GraphProto unknown{.nodes = {node("NoSuchThing", {}, {"y"})},
                           .outputs = {value_info("y", Float, {})}};
  EXPECT_HAS(run_error(unknown), "NoSuchThing: croze has no such operator");
  const GraphProto nothing{.nodes = {node("Relu", {"x"}, {"y"})},
                           .outputs = {value_info("y", Float, {})}};
  EXPECT_HAS(run_error(nothing), "its input \"x\" is not known here");
  const GraphProto no_output{.nodes = {}, .outputs = {value_info("y", Float, {})}};
  EXPECT_HAS(run_error(no_output), "no node gives the output \"y\"");
  const GraphProto no_input{.nodes = {node("Relu", {}, {"y"})},
                            .outputs = {value_info("y", Float, {})}};
  EXPECT_HAS(run_error(no_input), "input 0 is missing");
}

TEST_F(OnnxHostile, ACircleOfNodesIsNoGraph) {
  const GraphProto circle{.nodes = {node("Relu", {"b"}, {"a"}), node("Relu", {"a"}, {"b"})},
                          .outputs = {value_info("a", Float, {})}};
  EXPECT_HAS(run_error(circle), "not known here");
}

TEST_F(OnnxHostile, AFunctionMayNotCallItself) {
  const Message function = Message()
                               .text(1, "f")
                               .text(4, "x")
                               .text(5, "y")
                               .message(7, node("f", {"x"}, {"y"}).text(7, "own"))
                               .message(9, Message().text(1, "own").integer(2, 1))
                               .text(10, "own");
  const GraphProto g{.nodes = {node("f", {"w"}, {"y"}).text(7, "own")},
                     .initializers = {floats("w", {1}, {1})},
                     .outputs = {value_info("y", Float, {})}};
  Message m = model(g).message(8, Message().text(1, "own").integer(2, 1)).message(25, function);
  const std::string path = file("model.onnx", m.bytes());
  EXPECT_HAS(error_of([&] { onnx::Model(path).run({}); }), "nest more than");
}

TEST_F(OnnxHostile, OpsetsFromTheFutureAreRefused) {
  EXPECT_HAS(load_error(model(GraphProto{.nodes = {node("Relu", {"x"}, {"y"})}}, 99)), "opset 99");
}

// A node over a (1, 1, 4, 4) image and an attribute that makes no sense.
TEST_F(OnnxHostile, AttributesMustMakeSense) {
  const auto run = [&](std::string_view op, const std::vector<Message>& attributes) {
    return run_error(
        GraphProto{.nodes = {node(op, {"w"}, {"y"}, attributes)},
                   .initializers = {floats("w", {1, 1, 4, 4}, std::vector<float>(16, 1))},
                   .outputs = {value_info("y", Float, {})}});
  };
  using List = std::vector<std::int64_t>;
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(run("MaxPool", {attribute("kernel_shape", List{2, 2})}), "");
  EXPECT_HAS(run("MaxPool", {attribute("kernel_shape", List{2})}), "MaxPool");
  EXPECT_HAS(run("MaxPool", {attribute("kernel_shape", List{0, 0})}), "a window of 0");
  EXPECT_HAS(run("MaxPool", {attribute("kernel_shape", List{9, 9})}), "does not fit");
  EXPECT_HAS(
      run("MaxPool", {attribute("kernel_shape", List{2, 2}), attribute("strides", List{0, 1})}),
      "stride 0");
  EXPECT_HAS(run("MaxPool",
                 {attribute("kernel_shape", List{2, 2}), attribute("dilations", List{huge, 4})}),
             "MaxPool");
  EXPECT_HAS(run("Concat", {attribute("axis", 9)}), "Concat");
  EXPECT_HAS(run("Transpose", {attribute("perm", List{0, 0, 0, 0})}), "Transpose");
  EXPECT_HAS(run("Flatten", {attribute("axis", -9)}), "no axis -9");
  EXPECT_HAS(run("SpaceToDepth", {attribute("blocksize", 0)}), "blocks of 0");
  EXPECT_HAS(run("Softmax", {attribute("axis", huge)}), "Softmax");
  EXPECT_HAS(run("Split", {attribute("axis", 4)}), "no axis 4");
}

// Numbers that decide about shapes.
TEST_F(OnnxHostile, ShapesMustFit) {
  const auto run = [&](std::string_view op, const std::vector<std::int64_t>& numbers) {
    return run_error(GraphProto{
        .nodes = {node(op, {"w", "n"}, {"y"})},
        .initializers = {floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}),
                         int64s("n", {static_cast<std::int64_t>(numbers.size())}, numbers)},
        .outputs = {value_info("y", Float, {})}});
  };
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(run("Reshape", {3, 2}), "");
  EXPECT_HAS(run("Reshape", {4, 2}), "Reshape");
  EXPECT_HAS(run("Reshape", {huge, 4}), "Reshape");
  EXPECT_HAS(run("Reshape", {-1, -1}), "Reshape");
  EXPECT_HAS(run("Reshape", {1, 1, 0}), "nothing to copy");
  EXPECT_HAS(run("Expand", {huge, 2, 3}), "Expand");
  EXPECT_HAS(run("Tile", {huge, 2}), "Tile");
  EXPECT_HAS(run("Gather", {7}), "Gather");
  EXPECT_HAS(run("TopK", {9}), "TopK");
  EXPECT_HAS(run("Unsqueeze", {9}), "Unsqueeze");
  EXPECT_HAS(run("Pad", {1, 1}), "Pad");
}

}  // namespace
}  // namespace croze
