// croze export over models made here; tests/export compiles what is written.
#include <nlohmann/json.hpp>

#include "tools/command.h"
#include "tools/two_layers.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

class ExportCommand : public Command {
 protected:
  std::string write_model() const { return file("Two Layers.onnx", two_layers()); }
  // Its file and `quoted` arguments for the shell.
  Outcome export_model(const std::string& arguments) const {
    return run("export '" + write_model() + "' " + arguments);
  }
};

TEST_F(ExportCommand, WritesAModelUnderTheNameOfItsFile) {
  const Outcome outcome = export_model("--target c --size n=4 -o " + path("made/deep") + " --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["name"], "two_layers");
  EXPECT_EQ(json["weight_bytes"], 24);
  EXPECT_EQ(json["files"].size(), 5u);
  for (const std::string name : json["files"]) EXPECT_TRUE(std::filesystem::exists(name)) << name;
  EXPECT_NE(content(path("made/deep/two_layers.h")).find("shape (4, 3)"), std::string::npos);
}

TEST_F(ExportCommand, WeightsMayStandBeside) {
  const Outcome outcome = export_model("--size n=4 --weights beside --name net -o " + path("made"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("made/net.weights")));
  EXPECT_NE(outcome.out.find("24 of weights, 0 of state"), std::string::npos) << outcome.out;
}

TEST_F(ExportCommand, WritesAModuleForBrowsers) {
  const Outcome outcome =
      export_model("--target webgpu --size n=1..8 --name net -o " + path("made"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* name : {"net.js", "net.d.ts", "net.weights", "index.html"}) {
    EXPECT_TRUE(std::filesystem::exists(path("made") + "/" + name)) << name;
    EXPECT_NE(outcome.out.find(name), std::string::npos) << outcome.out;
  }
  expect_error(export_model("--target webgpu --weights beside --size n=4 -o " + path("other")),
               "--machine and --weights are of the target c");
}

TEST_F(ExportCommand, SaysWhatIsWrongAndLeavesNothing) {
  const std::string to = " -o " + path("made");
  expect_error(export_model(to), "open size \"n\"");
  expect_error(export_model("--size n=0" + to), "--size n=0: write NAME=NUMBER");
  expect_error(export_model("--size n=1 --name 'a b'" + to), "no identifier");
  expect_error(run("export " + file("bad.onnx", "no model") + to), "bad.onnx");
  expect_error(run("export " + path("missing.onnx") + to), "missing.onnx");
  EXPECT_FALSE(std::filesystem::exists(path("made")));
  expect_error(export_model("--size n=1 -o " + file("taken", "a file") + "/out"), "taken");
  EXPECT_EQ(content(path("taken")), "a file");
}

TEST_F(ExportCommand, RefusesOtherTargets) {
  EXPECT_EQ(export_model("--target cobol -o " + path("made")).status, 2);
}

}  // namespace
}  // namespace croze
