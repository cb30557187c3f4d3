// Who watches a compile is told of its parts in the order in which they begin and end.
#include "croze/graph/observer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/rewrite/rule_set.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

class Diary : public CompileObserver {
 public:
  explicit Diary(bool rules = false) : rules_(rules) {}

  void entered(CompilePart, std::string_view name) override { write("(", name); }
  void left(CompilePart, std::string_view name, UOp result) override {
    write(result ? ")" : "-)", name);
  }
  void edited(std::string_view edits) override { write("edits ", edits); }
  bool watches_rules() const override { return rules_; }
  void visited(const RuleSet&, UOp) override { visits++; }
  void tried(const RuleSet&, const Rule&, UOp, UOp after, std::int64_t) override {
    hits += after ? 1 : 0;
  }

  std::vector<std::string> lines;
  int visits = 0, hits = 0;

 private:
  void write(std::string_view what, std::string_view name) {
    lines.push_back(std::string(what) + std::string(name));
  }

  bool rules_;
};

using Lines = std::vector<std::string>;

UOp compile(Graph& graph) {
  CompileScope schedule(CompilePart::Schedule, "s");
  CompileScope kernel(CompilePart::Kernel, "k");
  const UOp x = graph.variable(0, 0, 9);
  CompileScope pass(CompilePart::Pass, "p");
  const UOp simple =
      rewrite(graph.make(Op::Max, DType::Index, {x, graph.index(-1)}), simplify_rules());
  tell_observers([](CompileObserver& o) { o.edited("none"); });
  return kernel.leave(pass.leave(simple));
}

TEST(Observer, SeesThePartsOfACompileOneInsideOfTheOther) {
  Graph graph;
  Diary diary;
  {
    const Observing observing(diary);
    compile(graph);
  }
  compile(graph);
  EXPECT_EQ(diary.lines, (Lines{"(s", "(k", "(p", "edits none", ")p", ")k", "-)s"}));
}

TEST(Observer, SeesWhatAnExceptionEndsWithoutAResult) {
  Diary diary;
  const Observing observing(diary);
  try {
    CompileScope kernel(CompilePart::Kernel, "k");
    CompileScope pass(CompilePart::Pass, "p");
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(diary.lines, (Lines{"(k", "(p", "-)p", "-)k"}));
  EXPECT_EQ(current_kernel(), "");
}

TEST(Observer, IsToldOfRulesOnlyIfItWatchesThem) {
  Graph first, second, third;
  Diary parts, rules(true);
  const Observing with_rules(rules);
  {
    const Observing without(parts);
    compile(first);
  }
  EXPECT_GT(rules.visits, 0);
  const int hits = rules.hits, visits = rules.visits;
  EXPECT_GT(hits, 0);
  compile(second);
  EXPECT_EQ(rules.hits, 2 * hits);
  EXPECT_EQ(rules.visits, 2 * visits);
  EXPECT_EQ(parts.lines.size(), 7u);
  EXPECT_EQ(rules.lines.size(), 14u);
}

TEST(Observer, MayEndACompile) {
  class Refuses : public CompileObserver {
    void left(CompilePart part, std::string_view, UOp result) override {
      if (part == CompilePart::Pass && result) throw std::runtime_error("refused");
    }
  } refuses;
  Graph graph;
  const Observing observing(refuses);
  EXPECT_THROW(compile(graph), std::runtime_error);
  EXPECT_EQ(current_kernel(), "");
}

TEST(Observer, SeesOtherThreadsOnlyWhereTheyWorkForItsOwn) {
  Diary diary;
  const Observing observing(diary);
  const Watchers watchers;
  std::thread stranger([] {
    Graph graph;
    compile(graph);
  });
  stranger.join();
  EXPECT_TRUE(diary.lines.empty());
  std::thread helper([&] {
    Graph graph;
    const WatchedBy watched(watchers);
    compile(graph);
  });
  helper.join();
  EXPECT_EQ(diary.lines.size(), 7u);
}

TEST(Observer, KnowsTheKernelThatIsCompiled) {
  EXPECT_EQ(current_kernel(), "");
  Diary diary;
  const Observing observing(diary);
  CompileScope kernel(CompilePart::Kernel, "outer");
  {
    CompileScope other(CompilePart::Kernel, "inner");
    EXPECT_EQ(current_kernel(), "inner");
  }
  EXPECT_EQ(current_kernel(), "outer");
}

}  // namespace
}  // namespace croze
