// graphs_test.cpp -- what random programs on Tensors have found, and that the check of them notices
// what is wrong.
#include "fuzz/graphs/graphs.h"

#include <gtest/gtest.h>

#include "croze/croze.h"
#include "fuzz/graphs/check.h"
#include "fuzz/graphs/steps.h"

namespace croze::fuzz {
namespace {

// ---- found ------------------------------------------------------------------------------------

TEST(Graphs, ATopOfWholeNumbersIsStoredInItsMemory) {
  EXPECT_EQ(check_graph([](GraphTrial& in) {
              const Tensor t5 = in.whole(Shape({64}), DType::Int64, 0, 126, 626);
              const Tensor t25 = topk(t5, 2, 0, 0 != 0).values;
              return std::vector<Tensor>{t25};
            }),
            "");
}

TEST(Graphs, ASortOfAnOddCountIsStoredInItsMemory) {
  EXPECT_EQ(check_graph([](GraphTrial& in) {
              const Tensor t1 = in.real(Shape({63}), DType::BFloat16, 689);
              const Tensor t5 = sort(t1, 0, 1 != 0).indices;
              return std::vector<Tensor>{t5};
            }),
            "");
}

TEST(Graphs, AMaskByNumbersFromMemoryEndsNoLoop) {
  EXPECT_EQ(check_graph([](GraphTrial& in) {
              const Tensor t1 = in.whole(Shape({1, 1, 3, 6}), DType::Float32, -9, 9, 504);
              const Tensor t3 = sort(t1, 1, 1 != 0).values;
              const Tensor t4 = in.real(Shape({1}), DType::Float32, 516);
              const Tensor t5 = in.real(Shape({1}), DType::Float32, 364);
              const Tensor t6 = in(group_norm(t3, 1, t4, t5));
              return std::vector<Tensor>{t6};
            }),
            "");
}

TEST(Graphs, ADiagonalIsLoadedFromItsMemory) {
  EXPECT_EQ(check_graph([](GraphTrial& in) {
              const Tensor t0 = in.real(Shape({2, 2, 1, 15}), DType::Float64, 771);
              const Tensor t3 = t0.contiguous();
              const Tensor t4 = diagonal(t3, 0, 1, 0);
              return std::vector<Tensor>{t4};
            }),
            "");
}

// Two sums of one loop, of which one has lanes of the output already.
TEST(Graphs, ALoopThatReductionsShareHasLanesOnce) {
  EXPECT_EQ(check_graph([](GraphTrial& in) {
              const Tensor t2 = in.real(Shape({48, 48}), DType::Float16, 649);
              const Tensor t12 = in(cumsum(t2, 1));
              const Tensor t17 = in.whole(Shape({1}), DType::Int64, 0, 47, 959);
              const Tensor t18 = t12.index({t17});
              return std::vector<Tensor>{t18};
            }),
            "");
  EXPECT_EQ(check_graph([](GraphTrial& in) {
              const Tensor t5 = in.real(Shape({19}), DType::Float32, 65);
              const Tensor t12 = cat({t5, t5}, 0);
              const Tensor t15 = cummax(t12, 0).values;
              return std::vector<Tensor>{t15};
            }),
            "");
}

// ---- the check --------------------------------------------------------------------------------

TEST(GraphChecks, NoticeWhatIsWrongByMoreThanRoundings) {
  // Wrong as it is computed by the interpreters, which is recorded first.
  const auto with_error = [](double amount) {
    int calls = 0;
    return check_graph([&](GraphTrial& in) {
      const Tensor x = softmax(in.real({3, 5}, DType::Float32, 1));
      return std::vector<Tensor>{in(calls++ == 0 ? x + amount : x)};
    });
  };
  EXPECT_EQ(with_error(0), "");
  EXPECT_EQ(with_error(1e-8), "");
  EXPECT_NE(with_error(1e-4), "");
}

TEST(GraphChecks, LeaveOutWhatHangsOnRoundings) {
  Counts counts;
  const std::string wrong = check_graph(
      [](GraphTrial& in) {
        const Tensor x = in.real({100}, DType::Float32, 1);
        const Tensor half = in(in(x * 3) / 3);
        return std::vector<Tensor>{half < x, half};
      },
      {}, counts);
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(counts["results"], 2);
  EXPECT_EQ(counts["results told right from wrong"], 1);
}

// A number of elements that is multiplied out, n n - n, is not seen to be no less than zero.
TEST(GraphChecks, OpenSizes) {
  const auto at = [](std::int64_t n) {
    return [n](GraphTrial& in) {
      const Tensor x = in.real({n, n, 1}, DType::Float32, 868);
      return std::vector<Tensor>{in(diff(x, 1, 0)), in(x.sum(0) * x.exp())};
    };
  };
  Counts counts;
  const OtherSize other = {at(39), 2, 39};
  EXPECT_EQ(check_graph(at(2), std::span(&other, 1), counts), "");
  EXPECT_EQ(counts["sizes that are open"], 1);
}

// ---- programs ---------------------------------------------------------------------------------

// Far below zero a hyperbolic tangent and an elu are apart, and in bfloat16 both are -1.
TEST(GraphChecks, LeaveOutWhichNumbersBecomeEqualByRounding) {
  EXPECT_EQ(check_graph([](GraphTrial& in) {
              const Tensor x = in.whole(Shape({1, 1}), DType::BFloat16, -9, 9, 653);
              return std::vector<Tensor>{in(tanh(x)) == in(elu(x))};
            }),
            "");
}

TEST(GraphPrograms, AreTheSameForASeed) {
  EXPECT_EQ(cpp_of(random_graph(4)), cpp_of(random_graph(4)));
  EXPECT_NE(cpp_of(random_graph(4)), cpp_of(random_graph(5)));
}

TEST(GraphPrograms, AreMadeSmallAndPrintedAsTheCppThatRunsThem) {
  // That its first root is sorted.
  const auto sorts = [](const GraphProgram& p) {
    const GraphStep& root = p.steps[static_cast<std::size_t>(p.roots[0])];
    const bool is_sorted =
        root.kind >= 0 && graph_steps()[static_cast<std::size_t>(root.kind)].code ==
                              std::string_view("argsort(x, n[0], n[1] != 0)");
    return is_sorted ? "wrong" : std::string();
  };
  int made = 0;
  for (std::uint64_t seed = 1; seed < 100; seed++) {
    GraphProgram program = random_graph(seed);
    for (int i = 0; i < std::ssize(program.steps); i++) {
      program.roots = {i};
      if (!sorts(program).empty()) break;
    }
    if (sorts(program).empty()) continue;
    made++;
    const std::string text = cpp_of(minimised(program, sorts));
    EXPECT_EQ(std::ranges::count(text, '\n'), 5) << text;
  }
  EXPECT_GT(made, 3);
}

// Every function is drawn, and taken, now and then.
TEST(GraphPrograms, HaveStepsOfAllKinds) {
  std::vector<int> seen(graph_steps().size());
  for (std::uint64_t seed = 1; seed <= 400; seed++) {
    for (const GraphStep& step : random_graph(seed).steps) {
      if (step.kind >= 0) seen[static_cast<std::size_t>(step.kind)]++;
    }
  }
  for (std::size_t kind = 0; kind < seen.size(); kind++) {
    EXPECT_GT(seen[kind], 0) << graph_steps()[kind].code;
  }
}

}  // namespace
}  // namespace croze::fuzz
