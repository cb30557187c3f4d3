// croze run, croze info and croze onnx-conformance over models made here.
#include <cstring>
#include <nlohmann/json.hpp>

#include "io/onnx/messages.h"
#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

class OnnxCommand : public Command {
 protected:
  std::string write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    return file(name, bytes);
  }
  // y = relu(x) for n numbers.
  std::string write_relu(const std::string& name) const {
    return write(name, model(GraphProto{.nodes = {node("Relu", {"x"}, {"y"})},
                                        .inputs = {value_info("x", Float, {-1})},
                                        .outputs = {value_info("y", Float, {-1})}})
                           .bytes());
  }
  // A recorded test: relu of (-1, 2) is said to be (`first`, 2).
  void write_case(const std::string& folder, float first) const {
    write_relu(folder + "/model.onnx");
    write(folder + "/test_data_set_0/input_0.pb", floats("x", {2}, {-1, 2}).bytes());
    write(folder + "/test_data_set_0/output_0.pb", floats("y", {2}, {first, 2}).bytes());
  }
};

// A vector of float32 as numpy.save writes it.
std::string npy(const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(values.size()) + ",), }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + raw_floats(values);
}

std::vector<float> numbers_of(const std::string& npy_bytes) {
  std::vector<float> values((npy_bytes.size() - 128) / sizeof(float));
  std::memcpy(values.data(), npy_bytes.data() + 128, values.size() * sizeof(float));
  return values;
}

TEST_F(OnnxCommand, RunsAModelOverFiles) {
  const std::string x = write("x.npy", npy({-1, 2, -3, 4}));
  const Outcome outcome = run("run " + write_relu("relu.onnx") + " --input x=" + x +
                              " --output-dir " + path("results") + " --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json output = Json::parse(outcome.out)["outputs"][0];
  EXPECT_EQ(output["name"], "y");
  EXPECT_EQ(output["value"], "float32 (4,)");
  EXPECT_EQ(numbers_of(content(output["file"])), (std::vector<float>{0, 2, 0, 4}));
}

TEST_F(OnnxCommand, RefusesAModelThatAsksForTooMuchMemory) {
  const GraphProto g{.nodes = {node("Pad", {"x", "pads"}, {"y"})},
                     .initializers = {int64s("pads", {2}, {0, 100'000'000})},
                     .inputs = {value_info("x", Float, {-1})},
                     .outputs = {value_info("y", Float, {-1})}};
  const std::string file = write("pad.onnx", model(g).bytes());
  const std::string x = write("x.npy", npy({-1, 2}));
  const Outcome outcome = run("run " + file + " --input x=" + x + " --memory-limit 100");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("more than the limit of 100.0 MiB"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(".cpp"), std::string::npos) << outcome.err;
}

TEST_F(OnnxCommand, SaysWhatIsWrongWithItsOptions) {
  const std::string file = write_relu("relu.onnx");
  const auto expect = [&](const std::string& line, const char* words) {
    const Outcome outcome = run(line);
    EXPECT_NE(outcome.status, 0) << line;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << line << ": " << outcome.err;
  };
  expect("run " + file + " --memory-limit much", "much is not a number from 0 on");
  expect("run " + file + " --memory-limit -1", "-1 is not a number from 0 on");
  expect("profile " + file, "--size n=16");
  expect("profile " + file + " --size n=2 --size q=2",
         "the model leaves no size \"q\" open: those that it does are n");
  expect("export " + file + " --target c --size n=2 --size q=2 -o " + path("out"),
         "no size \"q\" open");
  expect("profile " + path("nothing.onnx"), "cannot open");
  const std::string cut = write("cut.npy", npy({1, 2, 3}).substr(0, 100));
  expect("run " + file + " --input x=" + cut, "the data ends early");
}

// The rectifier has no kernel of its own: it is named with the product before or after it.
TEST_F(OnnxCommand, ProfilesAModelByModuleNodeAndKernel) {
  const GraphProto g{.nodes = {node("MatMul", {"x", "layers.w"}, {"h"}).text(3, "product"),
                               node("Relu", {"h"}, {"r"}).text(3, "rectified"),
                               node("MatMul", {"r", "layers.w"}, {"y"}).text(3, "again")},
                     .initializers = {floats("layers.w", {2, 2}, {1, 2, 3, 4})},
                     .inputs = {value_info("x", Float, {-1, 2})},
                     .outputs = {value_info("y", Float, {-1, 2})}};
  const std::string file = write("net.onnx", model(g).bytes());
  const Outcome outcome = run("profile " + file + " --size n=64 --runs 3 --json --chrome " +
                              path("events.json") + " --folded " + path("folded"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json profile = Json::parse(outcome.out);
  double seconds = 0;
  std::string nodes;
  for (const Json& row : profile["by_call"]) {
    EXPECT_EQ(row["launches"], 1);  // of one run
    EXPECT_GT(row["share_of_roof"], 0);
    seconds += row["seconds"].get<double>();
    nodes += row["call"].get<std::string>();
  }
  EXPECT_NEAR(seconds, profile["seconds"].get<double>(), 1e-9);
  EXPECT_GT(seconds, 0);
  for (const char* name : {"product", "rectified", "again"}) {
    EXPECT_NE(nodes.find(name), std::string::npos) << nodes;
  }
  EXPECT_TRUE(profile["by_kernel"][0].contains("kernel"));
  EXPECT_EQ(profile["by_module"][0]["module"], "layers");
  EXPECT_NE(content(path("events.json")).find("traceEvents"), std::string::npos);
  EXPECT_NE(content(path("folded")).find("CPU"), std::string::npos);

  const Outcome text = run("profile " + file + " --size n=64 --runs 1");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("% roof"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("MatMul (node \"again\")"), std::string::npos) << text.out;

  const Outcome open = run("profile " + file);
  EXPECT_EQ(open.status, 1);
  EXPECT_NE(open.err.find("open size \"n\""), std::string::npos) << open.err;
}

TEST_F(OnnxCommand, ExplainsWhatARunWouldDo) {
  const std::string model = write_relu("relu.onnx");
  expect_error(run("explain " + model), "has an open size");
  const std::string wide =
      write("wide.onnx", test::model(GraphProto{.nodes = {node("Relu", {"x"}, {"y"})},
                                                .inputs = {value_info("x", Float, {3, 5})},
                                                .outputs = {value_info("y", Float, {3, 5})}})
                             .bytes());
  const Outcome outcome = run("explain --json " + wide);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["launches"].size(), 1u);
  EXPECT_EQ(json["input_bytes"], 60);
  const Json& made = json["buffers"].back();
  EXPECT_EQ(made["cause"], "requested");
  EXPECT_EQ(made["shape"], (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(run("explain " + wide).out.find("1 launches of 1 loop nests"), 0u);
}

TEST_F(OnnxCommand, NamesTheInputThatIsMissing) {
  expect_error(run("run " + write_relu("relu.onnx")), "\"x\"");
}

TEST_F(OnnxCommand, RefusesAnInputThatIsGivenTwice) {
  const std::string x = write("x.npy", npy({1}));
  expect_error(run("run " + write_relu("relu.onnx") + " --input x=" + x + " --input x=" + x),
               "\"x\" is given twice");
}

// The model would fail too, for want of its input: the folder is looked at before.
TEST_F(OnnxCommand, NamesAFolderThatCannotBeMadeBeforeTheModelRuns) {
  const std::string folder = write("taken", "a file") + "/results";
  const std::string model_path = write_relu("relu.onnx");
  expect_error(run("run " + model_path + " --output-dir " + folder), folder);
  const Outcome outcome = run("run " + model_path + " --output-dir " + folder);
  EXPECT_EQ(outcome.err.find("is missing"), std::string::npos) << outcome.err;
}

TEST_F(OnnxCommand, SaysWhatAModelIsMadeOf) {
  const Outcome outcome = run("info " + write_relu("relu.onnx") + " --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json info = Json::parse(outcome.out);
  EXPECT_EQ(info["operators"], (Json{{"Relu", 1}}));
  EXPECT_EQ(info["inputs"][0]["name"], "x");
  EXPECT_EQ(info["missing_operators"], Json::array());
}

TEST_F(OnnxCommand, NamesOfAModelDoNotSteerTheTerminal) {
  const std::string steering = "\x1b]0;title\x07";
  const std::string hostile =
      write("hostile.onnx", model(GraphProto{.nodes = {node(steering, {"x"}, {steering})},
                                             .inputs = {value_info(steering + "x", Float, {-1})},
                                             .outputs = {value_info(steering, Float, {-1})}})
                                .bytes());
  for (const char* command : {"info ", "run "}) {
    const Outcome outcome = run(command + hostile);
    EXPECT_EQ((outcome.out + outcome.err).find_first_of("\x1b\x07"), std::string::npos);
    EXPECT_NE((outcome.out + outcome.err).find("\\x1b]0;title\\x07"), std::string::npos)
        << outcome.out << outcome.err;
  }
}

TEST_F(OnnxCommand, PassesRecordedTestsThatAreRight) {
  write_case("node/test_right", 0);
  const Outcome outcome = run("onnx-conformance " + path("node") + " --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json result = Json::parse(outcome.out);
  EXPECT_EQ(result["passed"], 1);
  EXPECT_EQ(result["groups"]["node"]["total"], 1);
  EXPECT_EQ(result["others"], Json::array());
}

TEST_F(OnnxCommand, JudgesRecordedTestsThatDrawByTheirLaw) {
  const auto write_drawn = [&](const char* op) {
    write("node/test_bernoulli/model.onnx",
          model(GraphProto{.nodes = {node(op, {"x"}, {"y"})},
                           .inputs = {value_info("x", Float, {-1})},
                           .outputs = {value_info("y", Float, {-1})}})
              .bytes());
  };
  const std::string data = "node/test_bernoulli/test_data_set_0/";
  write(data + "input_0.pb", floats("x", {3}, {0.5f, 1, 0.5f}).bytes());
  write(data + "output_0.pb", floats("y", {3}, {0, 1, 1}).bytes());
  write_drawn("Bernoulli");
  const Outcome outcome = run("onnx-conformance " + path("node") + " --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["passed_by_law"], 1);
  write_drawn("Relu");
  EXPECT_EQ(run("onnx-conformance " + path("node")).status, 1);
  write(data + "output_0.pb", floats("y", {1, 3}, {0, 1, 1}).bytes());
  write_drawn("Bernoulli");
  EXPECT_EQ(run("onnx-conformance " + path("node")).status, 1);
}

// test_dft_inverse is listed among those that do not pass, test_wrong is not.
TEST_F(OnnxCommand, FailsForRecordedTestsThatAreNotKnownToDiffer) {
  write_case("node/test_dft_inverse", 1);
  EXPECT_EQ(run("onnx-conformance " + path("node")).status, 0);
  write_case("node/test_wrong", 1);
  const Outcome outcome = run("onnx-conformance " + path("node") + " --json");
  EXPECT_EQ(outcome.status, 1);
  const Json result = Json::parse(outcome.out);
  EXPECT_EQ(result["failed"], 2);
  EXPECT_NE(result["others"][0]["reason"], "");
  EXPECT_EQ(result["others"][1]["name"], "test_wrong");
  EXPECT_EQ(result["others"][1]["reason"], "");
}

}  // namespace
}  // namespace croze
