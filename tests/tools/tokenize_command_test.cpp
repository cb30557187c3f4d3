// croze tokenize: texts to tokens and back.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

using TokenizeCommand = Command;

TEST_F(TokenizeCommand, TurnsATextIntoTokensAndBack) {
  const Outcome outcome =
      run("tokenize " TOKENIZERS "/llama2.json --json --text 'In the beginning'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["bytes"], 16);
  EXPECT_EQ(json["tokens"], json["ids"].size());
  EXPECT_EQ(json["ids"][0], 1);
  const std::string ids = file("ids", json["ids"].dump());
  EXPECT_EQ(run("tokenize " TOKENIZERS "/llama2.json --decode " + ids).out, "In the beginning");
  const Outcome all = run("tokenize " TOKENIZERS "/llama2.json --decode --special --json " + ids);
  EXPECT_EQ(Json::parse(all.out)["text"], "<s> In the beginning");
}

TEST_F(TokenizeCommand, ShowsATokenALine) {
  const std::string text = file("text", "a<|end|>\x1b");
  const Outcome outcome = run("tokenize " TOKENIZERS "/llama3.gguf --special --bare " + text);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 3) << outcome.out;
  EXPECT_NE(outcome.out.find("      1  \"<|end|>\"\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\"\\u001b\"\n"), std::string::npos) << outcome.out;
}

TEST_F(TokenizeCommand, SaysWhatIsWrong) {
  expect_error(run("tokenize " TOKENIZERS "/llama2.json"), "--text");
  expect_error(run("tokenize " + path("none.json") + " --text a"), "none.json");
  expect_error(run("tokenize " TOKENIZERS "/gpt2.json --decode --text '1 x'"), "\"x\"");
  expect_error(run("tokenize " + file("bad.json", "{\"model\":{\"type\":\"X\"}}") + " --text a"),
               "\"X\" is not supported");
}

}  // namespace
}  // namespace croze
