// croze replay record and compare, on graphs whose numbers can be worked out by hand.
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

class Replay : public Command {
 protected:
  // Records one graph, and returns its file.
  std::string record(const std::string& graph, const std::string& variables = "") const {
    const Outcome outcome = run("replay record " + path("record") + " --graph " + graph, variables);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return content(record_of(graph));
  }
  Outcome compare(const std::string& graph, const std::string& more = "",
                  const std::string& variables = "") const {
    return run("replay compare " + path("record") + " --graph " + graph + " " + more, variables);
  }
  std::string record_of(const std::string& graph) const {
    return path("record/" + graph + ".json");
  }
  // Compares with a file that holds this instead.
  void expect_refused(const std::string& bytes, const std::string& text) const {
    file("record/trace_matmul.json", bytes);
    expect_error(compare("trace_matmul"), text);
  }
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_F(Replay, CountsWhatAMatrixProductDoes) {
  const Json r = Json::parse(record("trace_matmul"));
  EXPECT_EQ(r["totals"]["launches"], 1);
  EXPECT_EQ(r["totals"]["nests"], 1);
  EXPECT_EQ(r["totals"]["flops"], 2 * 512 * 512 * 512);
  EXPECT_EQ(r["totals"]["bytes"], 3 * 512 * 512 * 4);
  EXPECT_EQ(r["totals"]["arena_bytes"], 0);
  EXPECT_EQ(r["kernels"].size(), 1);
}

// Three nests block by block: queries, keys and values come in, the result goes out, and scores
// stay in the memory of a block.
TEST_F(Replay, CountsNoMemoryOfBlocks) {
  const Json r = Json::parse(record("attention"));
  EXPECT_EQ(r["totals"]["launches"], 1);
  EXPECT_EQ(r["totals"]["bytes"], 4 * (2 * 4 * 128 * 32) * 4);
  EXPECT_GT(r["totals"]["block_bytes"], 0);
}

TEST_F(Replay, DependsOnNothingOfTheMachine) {
  const std::string here = record("block_training");
  EXPECT_EQ(record("block_training", "CROZE_THREADS=5 CROZE_DEVICE=INTERP"), here);
}

TEST_F(Replay, FindsNoChangeWhereThereIsNone) {
  record("softmax");
  const Outcome outcome = compare("softmax", "--fail-on-change");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "0 of 1 graphs changed\n");
}

TEST_F(Replay, TellsWhatLessFusionDoes) {
  record("softmax");
  const Outcome outcome = compare("softmax", "", "CROZE_FUSION=0");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("softmax: launches 1 -> ")) << outcome.out;
  EXPECT_NE(outcome.out.find("\n  - reduce_"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\n  + map_"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\n1 of 1 graphs changed: launches 1 -> "), std::string::npos);

  const Outcome failed = compare("softmax", "--fail-on-change", "CROZE_FUSION=0");
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(failed.err.find("croze replay record " + path("record")), std::string::npos);

  const Json json = Json::parse(compare("softmax", "--json", "CROZE_FUSION=0").out);
  EXPECT_EQ(json["changed"][0]["graph"], "softmax");
  EXPECT_EQ(json["changed"][0]["disappeared"].size(), 1);
  EXPECT_EQ(json["before"]["launches"], 1);
  EXPECT_EQ(json["after"]["launches"], json["changed"][0]["after"]["launches"]);
}

TEST_F(Replay, TellsOfOtherEditsOfAKernel) {
  const Json r = Json::parse(record("trace_matmul"));
  const std::string edits = r["kernels"][0]["edits"];
  file("record/trace_matmul.json", replaced(r.dump(), edits, "bind r0 lane"));
  const Outcome outcome = compare("trace_matmul");
  EXPECT_TRUE(outcome.out.starts_with("trace_matmul: the same totals\n  ~ reduce_")) << outcome.out;
  EXPECT_NE(outcome.out.find("before: bind r0 lane\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("after:  " + edits + "\n"), std::string::npos) << outcome.out;
}

TEST_F(Replay, TellsOfGraphsThatCameAndWent) {
  record("softmax");
  EXPECT_TRUE(compare("argmax").out.starts_with("argmax: not in the record\n"));
  EXPECT_EQ(compare("argmax", "--fail-on-change").status, 1);
  file("record/argmax2.json", content(record_of("softmax")));
  const Outcome all = run("replay compare " + path("record"));
  EXPECT_NE(all.out.find("argmax2: no longer in the corpus\n"), std::string::npos) << all.out;
}

TEST_F(Replay, WritesTheKernelsForPeople) {
  const Outcome outcome = run("replay record " + path("r") + " --graph trace_matmul --texts");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string text = content(path("r/trace_matmul.txt"));
  EXPECT_TRUE(text.starts_with("=== reduce_512_512_r512 ")) << text;
  EXPECT_NE(text.find("--- edits: "), std::string::npos);
}

TEST_F(Replay, RefusesWhatIsNoRecord) {
  const std::string good = record("trace_matmul");
  expect_refused("", "trace_matmul.json is no record of croze replay");
  expect_refused(good.substr(0, good.size() / 2), "is no record of croze replay");
  expect_refused(std::string(1000000, '[') + std::string(1000000, ']'), "is no record");
  expect_refused("[1, 2]", "is no record of croze replay");
  expect_refused(R"({"format": "another"})", "is no record of croze replay");
  expect_refused(replaced(good, "\"version\": 1", "\"version\": 7"), "is a record of version 7");
  expect_refused(replaced(good, "\"version\": 1", "\"version\": \"1\""), "'version' is no whole");
  expect_refused(replaced(good, "\"nests\": 1", "\"nests\": 1.5"), "'nests' is no whole number");
  expect_refused(replaced(good, "\"totals\"", "\"totals2\""), "no 'totals'");
  expect_refused(replaced(good, "\"edits\":", "\"edits2\":"), "no 'edits'");
  expect_refused(replaced(good, "\"2 threads", "\"3 threads"), "is of another machine");
  expect_error(run("replay compare " + path("nowhere")), "there is no folder");
  std::filesystem::create_directory(path("empty"));
  expect_error(run("replay compare " + path("empty")), "there is no record in");
  expect_error(run("replay record " + path("r") + " --graph flight"), "no graph 'flight'");
}

}  // namespace
}  // namespace croze
