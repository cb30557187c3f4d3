// croze info over checkpoints of PyTorch.
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

using PyTorchCommand = Command;

TEST_F(PyTorchCommand, SaysWhatACheckpointIsMadeOf) {
  for (const char* name : {"/training.pth", "/training.legacy.pth"}) {
    const Outcome outcome = run(std::string("info " PYTORCH_GOLDEN) + name + " --json");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Json info = Json::parse(outcome.out);
    EXPECT_EQ(info["tensors"][0],
              (Json{{"name", "model.0.weight"}, {"type", "float32"}, {"shape", {4, 3}}}));
    EXPECT_NE(outcome.out.find(R"({"name":"epoch","value":3})"), std::string::npos);
  }
  const Outcome text = run("info " PYTORCH_GOLDEN "/values.pth");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find(" tuple.3: 4\n"), std::string::npos) << text.out;
}

TEST_F(PyTorchCommand, SaysWhatIsWrong) {
  expect_error(run("info " PYTORCH_GOLDEN "/refused.model.pth"), "torch.nn.modules.linear.Linear");
}

}  // namespace
}  // namespace croze
