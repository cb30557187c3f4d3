// The croze command as a user sees it: output, errors, exit status.
#include "tools/command.h"

#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

bool has_data() {
  return std::filesystem::exists("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz");
}

TEST_F(Command, SaysItsVersion) {
  const Outcome outcome = run("--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "croze 0.1.0\n");
}

TEST_F(Command, ExplainsItself) {
  const Outcome outcome = run("--help");
  EXPECT_EQ(outcome.status, 0);
  for (const char* word : {"train", "eval", "devices", "options"}) {
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  }
}

TEST_F(Command, WrongUseHasAStatusOfItsOwn) {
  for (const char* arguments :
       {"", "fly", "train", "train fashion-mnist --epochs 0", "train fashion-mnist --lr -1",
        "eval fashion-mnist", "devices --nope"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_NE(outcome.err, "") << arguments;
  }
}

TEST_F(Command, ListsDevicesWithOneDefault) {
  const Outcome outcome = run("devices --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  int defaults = 0;
  bool has_interpreter = false;
  for (const Json& device : Json::parse(outcome.out)) {
    defaults += device["default"].get<bool>();
    has_interpreter =
        has_interpreter || (device["name"] == "INTERP" && device["available"] == true);
  }
  EXPECT_EQ(defaults, 1);
  EXPECT_TRUE(has_interpreter);
  EXPECT_NE(run("devices").out.find("INTERP"), std::string::npos);
}

TEST_F(Command, TellsWhatTheCompilerKnowsOfADevice) {
  const std::string text = run("devices -v").out;
  for (const char* word : {"caches", "multiply-adds in flight", "of freed memory is kept"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(run("devices").out.find("caches"), std::string::npos);
  bool has_details = false;
  for (const Json& device : Json::parse(run("devices --json -v").out)) {
    has_details =
        has_details || (device.contains("details") && device["details"].contains("memory"));
  }
  EXPECT_TRUE(has_details);
}

TEST_F(Command, ShowsThePresentValueOfOptions) {
  EXPECT_NE(run("options", "CROZE_THREADS=3").out.find("CROZE_THREADS = 3\n"), std::string::npos);
}

TEST_F(Command, WarnsOfVariablesThatItDoesNotKnow) {
  const Outcome outcome = run("options", "CROZE_DEBUGG=1");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("CROZE_DEBUGG"), std::string::npos) << outcome.err;
}

TEST_F(Command, NamesABadVariable) {
  expect_error(run("options", "CROZE_DEBUG=much"), "CROZE_DEBUG");
}

TEST_F(Command, NamesAnUnknownDevice) {
  expect_error(run("train fashion-mnist --device TOASTER"), "TOASTER");
}

TEST_F(Command, NamesAMissingDataSet) {
  const Outcome outcome = run("train fashion-mnist", "CROZE_DATA_DIR=" + path("none"));
  expect_error(outcome, "dataset-fashion-mnist");
}

TEST_F(Command, NamesADamagedDataSet) {
  std::filesystem::create_directories(path("fashion-mnist"));
  std::ofstream(path("fashion-mnist/train-images-idx3-ubyte.gz")) << "\x1f\x8b\x08 nonsense";
  expect_error(run("train fashion-mnist", "CROZE_DATA_DIR=" + path("")),
               "train-images-idx3-ubyte.gz");
}

TEST_F(Command, NamesWeightsThatCannotBeRead) {
  expect_error(run("eval fashion-mnist --weights " + path("none")), "none");
  std::ofstream(path("bad")) << "no weights at all";
  expect_error(run("eval fashion-mnist --weights " + path("bad")), "bad");
}

TEST_F(Command, FuzzesAndCounts) {
  for (const char* what : {"symbolic", "views", "kernels"}) {
    const Outcome outcome = run(std::string("fuzz ") + what + " --cases 20 --seed 7 --json");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Json result = Json::parse(outcome.out);
    EXPECT_EQ(result["fuzz"], what);
    EXPECT_EQ(result["seed"], 7);
    EXPECT_EQ(result["cases"], 20);
    EXPECT_EQ(result["mismatches"], 0);
  }
  EXPECT_EQ(run("fuzz nothing").status, 2);
}

TEST_F(Command, NoticesThatItsOutputIsLost) {
  const std::string line = std::string(CROZE_COMMAND) + " options >/dev/full 2>" + path("err");
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 1);
  EXPECT_NE(content(path("err")).find("standard output"), std::string::npos);
}

// The device NULL computes nothing, so all that remains is the way there.
TEST_F(Command, TrainsSavesAndEvaluates) {
  if (!has_data()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const std::string weights = path("weights.safetensors");
  const Outcome train =
      run("train fashion-mnist --epochs 1 --batch 6000 --device NULL --json --weights " + weights);
  ASSERT_EQ(train.status, 0) << train.err;
  const Json result = Json::parse(train.out);
  for (const char* key : {"test_accuracy", "train_seconds", "compile_seconds", "kernels_per_step",
                          "peak_rss_mb", "epochs"}) {
    EXPECT_TRUE(result.contains(key) && result[key].is_number()) << key;
  }
  EXPECT_EQ(result["device"], "NULL");
  EXPECT_GT(result["kernels_per_step"], 0);
  EXPECT_NE(train.err.find("epoch 1/1"), std::string::npos);
  EXPECT_EQ(train.err.find('\r'), std::string::npos) << "progress belongs on terminals only";
  EXPECT_EQ(train.err.find('\033'), std::string::npos) << "so do colours";

  const Outcome eval = run("eval fashion-mnist --device NULL --json --weights " + weights);
  ASSERT_EQ(eval.status, 0) << eval.err;
  EXPECT_EQ(Json::parse(eval.out)["images"], 10'000);
}

// Minutes of training if it were not noticed first.
TEST_F(Command, SaysBeforeTrainingThatWeightsCannotBeSaved) {
  if (!has_data()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const Outcome outcome =
      run("train fashion-mnist --epochs 1000 --json --weights " + path("none/weights"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("none/weights"), std::string::npos);
  EXPECT_EQ(outcome.err.find("epoch"), std::string::npos) << outcome.err;
  EXPECT_EQ(run("train fashion-mnist --weights " + folder()).status, 1) << "a folder is no file";
}

class RunningCommand : public Command {
 protected:
  // Starts croze, its output in the file "out".
  pid_t start(const std::string& arguments) const {
    const std::string line =
        std::string("exec ") + CROZE_COMMAND + " " + arguments + " >" + path("out") + " 2>&1";
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    return child;
  }
  // Waits until it has written the text.
  bool appears(const std::string& text) const {
    for (int tries = 0; tries < 3000; tries++) {
      if (content(path("out")).find(text) != std::string::npos) return true;
      usleep(10'000);
    }
    return false;
  }
};

TEST_F(RunningCommand, FinishesTheStepAndSavesWhenInterrupted) {
  if (!has_data()) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const std::string weights = path("weights");
  for (const int signal : {SIGINT, SIGTERM}) {
    std::filesystem::remove(path("out"));
    std::filesystem::remove(weights);
    const pid_t child =
        start("train fashion-mnist --epochs 1000 --batch 6000 --device NULL --weights " + weights);
    EXPECT_TRUE(appears("epoch 1/1000")) << content(path("out"));
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_NE(content(path("out")).find("interrupted: weights saved to " + weights),
              std::string::npos)
        << content(path("out"));
    EXPECT_EQ(run("eval fashion-mnist --device NULL --weights " + weights).status, 0);
  }
}

}  // namespace
}  // namespace croze
