// croze info over GGUF models.
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

using GgufCommand = Command;

TEST_F(GgufCommand, SaysWhatAModelIsMadeOf) {
  const Outcome outcome = run("info " GGUF_GOLDEN "/split-00002-of-00003.gguf --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json info = Json::parse(outcome.out);
  EXPECT_EQ(info["files"], 3);
  EXPECT_EQ(info["tensors"].size(), 5u);
  EXPECT_EQ(info["tensors"][4], (Json{{"name", "t4"}, {"type", "F32"}, {"shape", {5, 2}}}));
  EXPECT_EQ(info["parameters"], 30);
  EXPECT_EQ(info["tensor_bytes"], 120);
}

TEST_F(GgufCommand, ShowsValuesAndTypesOnALineEach) {
  const Outcome outcome = run("info " GGUF_GOLDEN "/little.gguf");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* line : {" a.strings: array of string (3 elements)\n", " a.int8: int8 -100\n",
                           " a.uint64: uint64 9223372036854775808\n", " Q4_K: Q4_K (2, 256)\n"}) {
    EXPECT_NE(outcome.out.find(line), std::string::npos) << outcome.out;
  }
}

TEST_F(GgufCommand, NamesOfAModelDoNotSteerTheTerminal) {
  std::string bytes = content(GGUF_GOLDEN "/little.gguf");
  bytes.replace(bytes.find("a.bool"), 6, "\x1b]0;t\x07");
  const Outcome outcome = run("info " + file("hostile.gguf", bytes));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find_first_of("\x1b\x07"), std::string::npos);
  EXPECT_NE(outcome.out.find("\\x1b]0;t\\x07"), std::string::npos) << outcome.out;
}

TEST_F(GgufCommand, RefusesAFileThatIsCutOff) {
  const std::string bytes = content(GGUF_GOLDEN "/little.gguf");
  expect_error(run("info " + file("cut.gguf", bytes.substr(0, 100))), "cut.gguf");
}

}  // namespace
}  // namespace croze
