// croze info and croze quantize over GGUF models.
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

TEST_F(GgufCommand, QuantizesAModelAndSaysWhatBecameOfEachTensor) {
  // Its one tensor of two axes is no weight by its name.
  const std::string arguments = "quantize " GGUF_GOLDEN "/plain.gguf " + path("out.gguf");
  const Outcome outcome = run(arguments + " --type Q8_0");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "matrix (2, 3): F32\nhalves (5,): F16\nintegers (5,): I64\n"
            "0 of 3 tensors changed, 0 by a fallback; 74 bytes to 74\n");
  const Outcome info = run("info " + path("out.gguf") + " --json");
  ASSERT_EQ(info.status, 0) << info.err;
  EXPECT_EQ(Json::parse(info.out)["parameters"], 16);
}

TEST_F(GgufCommand, ADryRunWritesNothingAndATypeMustExist) {
  const std::string arguments = "quantize " GGUF_GOLDEN "/plain.gguf " + path("none.gguf");
  EXPECT_EQ(run(arguments + " --type Q4_K --dry-run").status, 0);
  EXPECT_EQ(run(arguments + " --type Q4_X").status, 2);
  EXPECT_FALSE(std::filesystem::exists(path("none.gguf")));
  expect_error(run("quantize " GGUF_GOLDEN "/big.gguf " + path("none.gguf") + " --type Q4_K"),
               "big-endian");
}

}  // namespace
}  // namespace croze
