// croze step over models made here; tests/prepared tests what it is made of.
#include <cstring>
#include <nlohmann/json.hpp>

#include "tools/command.h"
#include "tools/two_layers.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

class StepCommand : public Command {
 protected:
  std::string write_model() const { return file("net.onnx", two_layers()); }
  // A file of NumPy that holds one row.
  std::string write_row(const std::vector<float>& row) const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, " +
                         std::to_string(row.size()) + "), }";
    header.resize(117, ' ');
    std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
    bytes += header + "\n";
    bytes.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
    return file("row.npy", bytes);
  }
  Outcome save(const std::string& arguments) const {
    return run("step save " + write_model() + " -o " + path("net.step") + " " + arguments);
  }
};

TEST_F(StepCommand, SavesAModelAndRunsItWithoutACompiler) {
  const Outcome saved = save("--size n=1 --json");
  ASSERT_EQ(saved.status, 0) << saved.err;
  EXPECT_EQ(Json::parse(saved.out)["inputs"][0]["name"], "x");
  const Outcome outcome =
      run("step run " + path("net.step") + " --input x=" + write_row({1, 2, 3}) +
              " --runs 2 --json --output-dir " + path("o"),
          "CROZE_DEVICE=INTERP CROZE_CACHE=0");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json result = Json::parse(outcome.out)["results"][0];
  EXPECT_EQ(result["name"], "scores");
  EXPECT_EQ(result["shape"], Json({1, 2}));
  const std::string bytes = content(result["file"]);
  const float expected[] = {14, 0};
  ASSERT_GE(bytes.size(), sizeof(expected));
  EXPECT_EQ(std::memcmp(bytes.data() + bytes.size() - sizeof(expected), expected, sizeof(expected)),
            0);
}

TEST_F(StepCommand, WeightsMayStandBeside) {
  ASSERT_EQ(save("--size n=1 --weights beside").status, 0);
  EXPECT_TRUE(std::filesystem::exists(path("net.step.weights")));
  const Outcome outcome = run("step info " + path("net.step"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("result  scores: float32 (1, 2)"), std::string::npos) << outcome.out;
}

TEST_F(StepCommand, SaysWhatIsWrong) {
  expect_error(save(""), "open size \"n\"");
  ASSERT_EQ(save("--size n=1").status, 0);
  const std::string run_it = "step run " + path("net.step");
  expect_error(run(run_it), "input \"x\" is not given");
  expect_error(run(run_it + " --input x=" + write_row({1, 2})),
               "is float32 (1, 3), not float32 (1, 2)");
  expect_error(run(run_it + " --input x=" + write_row({1, 2, 3}) + " --input y=" + path("row.npy")),
               "2 inputs are given to a step that has 1");
  expect_error(run("step run " + write_model()), "no file of a step");
}

}  // namespace
}  // namespace croze
