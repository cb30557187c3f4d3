// croze chat and croze bench-llm, with a small model of random weights.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

struct ChatCommand : Command {
  const std::string model = LANGUAGE_MODELS "/talking.gguf";

  // A dialogue with these lines.
  Outcome talk(const std::string& lines, const std::string& options = "") const {
    const std::string input = file("lines", lines);
    const std::string line = std::string(CROZE_COMMAND) + " chat " + model + " " + options + " <" +
                             input + " >" + path("out") + " 2>" + path("err");
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(path("out")),
            content(path("err"))};
  }
};

TEST_F(ChatCommand, AnswersOnePrompt) {
  const std::string options = " --prompt abba --temperature 0 --max-tokens 8";
  const Outcome one = run("chat " + model + options);
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_GT(one.out.size(), 1u);
  EXPECT_EQ(one.err, "");
  EXPECT_EQ(run("chat " + model + options).out, one.out);
  EXPECT_NE(run("chat " + model + options + " --stats").err.find("tokens/s"), std::string::npos);
  EXPECT_NE(run("chat " + model + options + " --raw").out, one.out);
}

TEST_F(ChatCommand, GuessesChangeNoAnswer) {
  const std::string line = "chat " + model + " --prompt abba --max-tokens 24 --stats --seed 3";
  const Outcome plain = run(line);
  for (const std::string& draft : {std::string(" --lookup"), " --draft " + model}) {
    const Outcome guessed = run(line + draft);
    ASSERT_EQ(guessed.status, 0) << guessed.err;
    EXPECT_EQ(guessed.out, plain.out);
  }
  const std::string looping = "chat " + model + " --raw --prompt abba --temperature 0 --stats";
  EXPECT_NE(run(looping + " --lookup --draft-tokens 3").err.find("guesses right"),
            std::string::npos);
  expect_error(run(line + " --lookup --draft " + model), "one of them");
}

TEST_F(ChatCommand, KeepsKeysAndValuesAsItIsTold) {
  const std::string line = "chat " + model + " --prompt abba --max-tokens 4 --cache-type ";
  EXPECT_EQ(run(line + "q8_0").status, 0);
  expect_error(run(line + "q8"), "--cache-type q8: f32, f16, bf16 and q8_0 are known");
}

TEST_F(ChatCommand, TalksThroughAPipe) {
  const std::string saved = path("saved.json");
  const Outcome outcome = talk("abba\n/save " + saved + "\n/clear\n/what\n\nbaab\n/exit\nnever\n",
                               "--max-tokens 4 --system calm --temperature 0");
  ASSERT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "croze: there is no command /what; /help shows those that there are\n");
  const Json messages = Json::parse(content(saved));
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0], (Json{{"role", "system"}, {"content", "calm"}}));
  EXPECT_EQ(messages[1], (Json{{"role", "user"}, {"content", "abba"}}));
  EXPECT_EQ(messages[2]["role"], "assistant");
  EXPECT_TRUE(outcome.out.starts_with(messages[2]["content"].get<std::string>() + "\n"));

  // What was saved goes on as it would have.
  const std::string again = path("again.json");
  talk("/load " + saved + "\nb\n/save " + again + "\n", "--max-tokens 4 --temperature 0");
  EXPECT_EQ(Json::parse(content(again)).size(), 5u);
}

TEST_F(ChatCommand, MistakesEndNoDialogue) {
  file("bad.json", R"([{"role": "robot", "content": ""}])");
  const Outcome outcome =
      talk("/load " + path("bad.json") + "\n/load " + path("none.json") +
               "\n/save /none/x.json\n/retry\n" + std::string(200, 'a') + "\nab\n",
           "--max-tokens 2 --temperature 0");
  ASSERT_EQ(outcome.status, 0);
  for (const char* text : {"a message of \"robot\"", "none.json", "/none/x.json", "no answer yet",
                           "does not fit a context of 128"}) {
    EXPECT_NE(outcome.err.find(text), std::string::npos) << text << " in " << outcome.err;
  }
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 5);
  EXPECT_GE(std::ranges::count(outcome.out, '\n'), 1);
}

TEST_F(ChatCommand, SaysWhatIsWrong) {
  expect_error(run("chat " + path("none.gguf") + " --prompt a"), "none.gguf");
  expect_error(run("chat " + model + " --prompt a --temperature -1"), "a temperature of -1");
  expect_error(run("chat " + model + " --prompt a --context 129"), "the model has one of 128");
  expect_error(run("chat " LANGUAGE_MODELS "/llama.gguf --prompt a"), "tokenizer.ggml.tokens");
}

TEST_F(ChatCommand, IsMeasured) {
  const Outcome outcome = run("bench-llm " + model + " --prompt 20 --tokens 4 --rounds 1 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_GT(json["tokens_per_second"].get<double>(), 0);
  EXPECT_GT(json["kernels_per_token"].get<int>(), 0);
  EXPECT_GT(json["first_token"]["cold"]["kernels_compiled"].get<int>(), 0);
  EXPECT_EQ(json["first_token"]["warm"]["kernels_compiled"], 0);
}

}  // namespace
}  // namespace croze
