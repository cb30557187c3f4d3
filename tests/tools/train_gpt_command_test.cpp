// croze train gpt as a user sees it: files, resuming, mistakes.
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

class TrainGpt : public Command {
 protected:
  // A text, and options of a network that is trained in a moment.
  std::string small_text() const {
    std::string text;
    for (int i = 0; i < 300; i++) {
      text += "And " + std::string(i % 3 == 0 ? "Noah" : "Ruth") + " begat " +
              std::to_string(i * i % 17) + " sons.\n";
    }
    return file("text.txt", text);
  }
  std::string arguments(const std::string& options) const {
    return "train gpt --text " + small_text() +
           " --vocabulary 270 --context 16 --width 16 --layers 1 --heads 2 --batch 4 --steps 12" +
           " --validate-every 4 --sample 4 " + options;
  }
  Outcome train(const std::string& options) const { return run(arguments(options)); }
};

TEST_F(TrainGpt, LeavesAModelThatCanBeTalkedTo) {
  const Outcome outcome = train("--json --out " + path("a"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json result = Json::parse(outcome.out);
  EXPECT_EQ(result["steps"], 12);
  EXPECT_GT(result["validation_nats_per_byte"], 0);
  EXPECT_EQ(result["model"], path("a") + "/model.gguf");
  EXPECT_NE(outcome.err.find("step 8/12"), std::string::npos) << outcome.err;
  EXPECT_EQ(content(path("a/loss.svg")).find("<svg "), 0u);
  const Outcome chat =
      run("chat " + path("a") + "/model.gguf --raw --prompt 'And ' --max-tokens 4");
  EXPECT_EQ(chat.status, 0) << chat.err;
  EXPECT_NE(chat.out, "");
}

TEST_F(TrainGpt, NotesWhatHappensForViz) {
  ASSERT_EQ(train("--out " + path("a") + " --log " + path("runs") + "/first").status, 0);
  EXPECT_FALSE(std::filesystem::is_empty(path("runs/first")));
}

// Interrupted behind some step, it goes on to the losses of one that was not.
TEST_F(TrainGpt, GoesOnWithTheSameLosses) {
  ASSERT_EQ(train("--out " + path("whole")).status, 0);
  const std::string log = path("log");
  const std::string line = std::string(CROZE_COMMAND) + " " + arguments("--out " + path("cut")) +
                           " >" + log + " 2>&1 & child=$!; until grep -q 'step 4/' " + log +
                           "; do sleep 0.01; done; kill -KILL $child";
  std::system(line.c_str());
  ASSERT_TRUE(std::filesystem::exists(path("cut/checkpoint.safetensors")));
  const Outcome rest = train("--resume --out " + path("cut"));
  ASSERT_EQ(rest.status, 0) << rest.err;
  EXPECT_NE(rest.out.find("goes on behind step"), std::string::npos) << rest.out;
  EXPECT_EQ(content(path("cut/losses.tsv")), content(path("whole/losses.tsv")));
  EXPECT_NE(content(path("cut/losses.tsv")), "");
}

TEST_F(TrainGpt, DoesNotForgetATraining) {
  ASSERT_EQ(train("--out " + path("a")).status, 0);
  expect_error(train("--out " + path("a")), "--resume");
  expect_error(train("--resume --lr 0.5 --out " + path("a")), "another training");
  expect_error(train("--resume --out " + path("b")), "there is no");
}

TEST_F(TrainGpt, FindsMistakesBeforeItTrains) {
  const std::string small = " --context 16 --vocabulary 257 --out " + path("a");
  expect_error(run("train gpt --text " + path("none") + small), "none");
  expect_error(run("train gpt --text " + file("empty", "") + small), "is empty");
  expect_error(run("train gpt --text " + file("short", "In the beginning") + small), "too short");
  expect_error(train("--out /proc/none"), "/proc/none");
  expect_error(train("--out " + file("plain", "x")), "plain");
  const std::string text = "train gpt --text " + small_text() + " --context 16 --out " + path("a");
  expect_error(run(text + " --width 16 --heads 3"), "3 heads");
  expect_error(run(text + " --vocabulary 20"), "20 tokens");
  expect_error(run(text + " --batch 0"), "0 windows");
  expect_error(train("--prompt '" + std::string(100, '.') + "' --out " + path("a")), "--prompt");
  EXPECT_EQ(run("train gpt").status, 2);
  EXPECT_EQ(train("--steps 0").status, 2);
}

}  // namespace
}  // namespace croze
