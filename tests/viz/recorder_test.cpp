// What a program does while it is traced stands in the trace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "croze/base/options.h"
#include "croze/croze.h"
#include "croze/graph/observer.h"
#include "croze/jit/capture.h"
#include "croze/nn/nn.h"
#include "croze/run/buffers.h"
#include "croze/run/statistics.h"
#include "croze/run/trace/sampler.h"
#include "croze/tensor/registry.h"
#include "croze/trace/trace.h"
#include "croze/viz/summary.h"
#include "support/files.h"

namespace croze {
namespace {

using test::content_of;
using test::error_of;

class Recorded : public test::FilesTest {
 protected:
  // The trace of what `work` does.
  template <typename F>
  const traces::Trace& traced(F work, const TraceOptions& options = {}) {
    {
      Trace tracing = trace(path("trace"), options);
      work();
      tracing.finish();
    }
    bytes_ = content_of(path("trace"));
    trace_ = traces::read_trace(std::as_bytes(std::span(bytes_)), "trace");
    EXPECT_FALSE(trace_.is_cut);
    EXPECT_EQ(trace_.lost, 0);
    return trace_;
  }

  std::string bytes_;
  traces::Trace trace_;
};

// Two products, the second of which reads all of the first.
Tensor chain(const Tensor& x) { return matmul(matmul(x, x).contiguous(), x).sum(); }

TEST_F(Recorded, HasEveryLaunchWithItsTime) {
  const Tensor x = Tensor::uniform({64, 64}, 0, 1).realize();
  const std::int64_t before = run_statistics().kernels;
  const auto start = std::chrono::steady_clock::now();
  const traces::Trace& t = traced([&] {
    for (int i = 1; i <= 5; i++) (chain(x) * i).item<float>();
  });
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_EQ(std::ssize(t.launches), run_statistics().kernels - before);
  ASSERT_GE(t.runs.size(), 5U);
  double sum = 0;
  for (const TraceRow& row : by_kernel(t)) sum += row.seconds;
  EXPECT_GT(sum, 0);
  EXPECT_LT(sum, seconds);
  for (const traces::Launch& l : t.launches) {
    EXPECT_GE(l.start, t.runs[l.run].start);
    EXPECT_NE(name_of(t, planned(t, l)).find("_r64"), std::string::npos);
  }
}

TEST_F(Recorded, TellsOfKernelsThatWereCompiledBefore) {
  const Tensor x = Tensor::uniform({32, 48}, 0, 1).realize();
  const auto work = [&] { (x.exp() / x.exp().sum(1, true)).to_vector<float>(); };
  work();
  const traces::Trace& t = traced([&] {
    Tensor y = (x.exp() / x.exp().sum(1, true)).contiguous();
    y.to_vector<float>();
    (Tensor::uniform({32, 48}, 0, 1).realize().exp() * 3).to_vector<float>();
  });
  ASSERT_FALSE(t.kernels.empty());
  for (const traces::Kernel& k : t.kernels) {
    EXPECT_NE(t.text(k.source), "");
    EXPECT_NE(t.text(k.program), "");
    EXPECT_NE(t.text(k.graph).find("store"), std::string_view::npos);
  }
}

TEST_F(Recorded, NamesTheCallsOfTheUser) {
  const Tensor x = Tensor::uniform({256, 256}, 0, 1).realize();
  const traces::Trace& t = traced([&] { softmax(matmul(x, x), 1).realize(); });
  const auto is_here = [&](traces::Name call) {
    return t.text(call).find("recorder_test.cpp") != std::string_view::npos;
  };
  EXPECT_TRUE(is_here(t.runs.back().call)) << t.text(t.runs.back().call);
  bool is_named = false;
  for (const traces::PlannedBuffer& b : t.schedules.back().buffers) {
    is_named = is_named || (is_here(b.call) && t.text(b.call).starts_with("softmax"));
  }
  EXPECT_TRUE(is_named);
}

struct Perceptron {
  nn::Linear hidden{8, 16}, output{16, 4};
  Tensor operator()(const Tensor& x) const { return output(relu(hidden(x))); }
};

TEST_F(Recorded, NamesTheModulesOfAModel) {
  struct Net {
    Perceptron body;
    nn::Linear head{4, 4};
  } net;
  optim::SGD sgd(nn::parameters(net), {.learning_rate = 0.1});
  nn::parameters(net.body);  // a part of it, whose names are shorter
  const auto step = [&](const Tensor& x) {
    const Tensor y = net.body(x).contiguous().contiguous_backward();
    const Tensor loss = net.head(y).square().mean();
    sgd.step(loss.gradient(sgd.parameters));
    return loss;
  };
  auto captured = capture(step);
  const Tensor x = Tensor::uniform({32, 8}, 0, 1).realize();
  const traces::Trace& t = traced([&] { captured(x).item<float>(); });
  std::set<std::string> modules, gradients, calls;
  for (const traces::Launch& l : t.launches) {
    for (const traces::Origin& origin : traces::origins_of(t, l)) {
      (origin.is_gradient ? gradients : modules).insert(std::string(t.text(origin.module)));
      calls.insert(std::string(t.text(origin.call)));
    }
  }
  for (const char* module : {"body.hidden", "body.output", "head"}) {
    EXPECT_TRUE(modules.contains(module)) << module << " in " << testing::PrintToString(modules);
  }
  EXPECT_TRUE(gradients.contains("body.output")) << testing::PrintToString(gradients);
  const bool names_gradients = std::ranges::any_of(calls, [](const std::string& call) {
    return call.starts_with("gradient of ") && call.find("recorder_test.cpp:") != call.npos;
  });
  EXPECT_TRUE(names_gradients) << testing::PrintToString(calls);
  std::set<std::string_view> names;
  for (const traces::Origins& o : t.origins) {
    for (const traces::Name name : o.buffers) names.insert(t.text(name));
  }
  for (const char* name : {"body.hidden.weight", "body.output.bias", "head.weight"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  double sum = 0, modules_sum = 0;
  for (const TraceRow& row : by_kernel(t)) sum += row.seconds;
  for (const TraceRow& row : by_module(t)) modules_sum += row.seconds;
  EXPECT_NEAR(sum, modules_sum, 1e-12);
}

// The tensors of a network, each with its shape, its module, its call and its memory.
TEST_F(Recorded, HasTheGraphOfTensors) {
  const Perceptron net;
  nn::parameters(net);
  const Tensor x = Tensor::uniform({32, 8}, 0, 1).realize();
  const traces::Trace& t = traced([&] { net(x).contiguous().realize(); });
  ASSERT_EQ(t.graphs.size(), 1U);
  const std::vector<traces::TensorNode>& nodes = t.graphs[0].nodes;
  const traces::Schedule& schedule = t.schedules[0];
  std::map<std::string, std::set<std::string>> modules;  // by operation
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < nodes.size(); i++) {
    const traces::TensorNode& node = nodes[i];
    const std::string op(t.text(node.op));
    modules[op].insert(std::string(t.text(node.module)));
    if (node.buffer_plus_1 == 0) continue;
    const traces::PlannedBuffer& buffer = schedule.buffers[node.buffer_plus_1 - 1];
    EXPECT_EQ(t.text(node.dtype), t.text(buffer.dtype));
    if (op == "buffer") {
      names.insert(t.text(t.origins[0].buffers[node.buffer_plus_1 - 1]));
      EXPECT_TRUE(node.sources.empty());
    }
  }
  for (const char* module : {"hidden", "output"}) {
    EXPECT_TRUE(modules["add"].contains(module)) << testing::PrintToString(modules["add"]);
  }
  EXPECT_TRUE(names.contains("hidden.weight") && names.contains("output.bias"));
  // The value of the run is 32 x 4, and what is made of every parameter leads to it.
  const auto result = std::ranges::find_if(schedule.buffers, [](const traces::PlannedBuffer& b) {
    return b.what == traces::PlannedBuffer::What::Result;
  });
  ASSERT_NE(result, schedule.buffers.end());
  const auto number = static_cast<std::uint32_t>(result - schedule.buffers.begin()) + 1;
  const auto made = std::ranges::find(nodes, number, &traces::TensorNode::buffer_plus_1);
  ASSERT_NE(made, nodes.end());
  EXPECT_EQ(made->shape, (std::vector<std::int64_t>{32, 4}));
  std::vector<bool> leads(nodes.size());
  leads[static_cast<std::size_t>(made - nodes.begin())] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!leads[i]) continue;
    for (const traces::Number back : nodes[i].sources) leads[i - back] = true;
  }
  EXPECT_EQ(std::ranges::count(leads, true), std::ssize(nodes));
}

TEST_F(Recorded, NamesParametersInMemory) {
  const traces::Trace& t = traced([] {
    const Perceptron net;
    nn::parameters(net);
  });
  std::set<std::string_view> names;
  for (const traces::Name name : t.names) names.insert(t.text(name));
  EXPECT_TRUE(names.contains("hidden.weight"));
  EXPECT_TRUE(names.contains("output.bias"));
}

TEST_F(Recorded, AccountsForMemoryThatIsOverwritten) {
  const traces::Trace& t = traced([] {
    Tensor state = Tensor::zeros({1000}).contiguous().realize();
    for (int i = 0; i < 3; i++) state.assign(state + 1).realize();
    state = {};
    Registry::instance().collect();
  });
  ASSERT_FALSE(t.allocations.empty());
  for (std::size_t i = 0; i < t.allocations.size(); i++) EXPECT_NE(t.ends[i], INT64_MAX) << i;
}

TEST_F(Recorded, AccountsForAllMemory) {
  Registry::instance().collect();  // what other tests have left
  const std::int64_t before = memory_use().bytes;
  std::int64_t held = 0;
  Tensor kept;
  const traces::Trace& t = traced([&] {
    kept = Tensor::uniform({1000}, 0, 1).realize();
    for (int i = 0; i < 3; i++)
      (chain(Tensor::uniform({96, 96}, 0, 1).realize()) + i).item<float>();
    held = memory_use().bytes - before;
  });
  std::int64_t alive = 0;
  for (std::size_t i = 0; i < t.allocations.size(); i++) {
    if (t.ends[i] == INT64_MAX) alive += t.allocations[i].bytes;
  }
  EXPECT_EQ(alive, held);
  // An arena is what the planner asked for.
  for (const traces::Run& run : t.runs) {
    const traces::Schedule& schedule = t.schedules[run.schedule];
    ASSERT_EQ(run.arenas.size(), schedule.arenas.size());
    for (std::size_t a = 0; a < run.arenas.size(); a++) {
      const auto memory =
          std::ranges::find(t.allocations, run.arenas[a], &traces::Allocation::memory);
      ASSERT_NE(memory, t.allocations.end());
      EXPECT_EQ(memory->bytes, schedule.arenas[a].bytes);
    }
  }
}

// Counts what the trace should have.
class CountsRewrites : public CompileObserver {
 public:
  void entered(CompilePart part, std::string_view) override {
    is_in_pass() = part == CompilePart::Pass;
  }
  void left(CompilePart, std::string_view, UOp) override { is_in_pass() = false; }
  bool watches_rules() const override { return true; }
  void tried(const RuleSet&, const Rule&, UOp, UOp after, std::int64_t) override {
    if (after && is_in_pass()) rewrites++;
  }
  std::atomic<int> rewrites{0};

 private:
  static bool& is_in_pass() {
    static thread_local bool is = false;
    return is;
  }
};

TEST_F(Recorded, HasEveryRewriteOfEveryPass) {
  CountsRewrites count;
  const Observing watching(count);
  const traces::Trace& t = traced(
      [&] {
        const Tensor images = Tensor::uniform({2, 3, 12, 12}, 0, 1).realize();
        conv2d(images, Tensor::uniform({4, 3, 3, 3}, 0, 1).realize()).realize();
      },
      {.rewrites = true});
  EXPECT_GT(count.rewrites, 0);
  EXPECT_EQ(std::ssize(t.matches), count.rewrites);
  for (const traces::Match& m : t.matches) {
    EXPECT_NE(m.before, m.after);
    EXPECT_NE(t.text(t.rules[m.rule].place).find(".cpp:"), std::string_view::npos);
  }
  EXPECT_GT(t.pass_results.size(), 0U);
}

// A product that keeps the threads busy for some milliseconds, and is seen there.
TEST_F(Recorded, SamplesTheCodeOfKernels) {
  if (!tracing::Sampler().has_threads()) GTEST_SKIP() << "this system has no perf events for us";
  const Tensor x = Tensor::uniform({512, 512}, 0, 1).realize();
  const traces::Trace& t = traced(
      [&] {
        for (int i = 0; i < 20; i++) (matmul(x, x) * i).realize();
      },
      {.samples = true});
  std::int64_t seen = 0;
  for (const traces::Samples& s : t.samples) {
    for (const traces::Sample& place : s.places) {
      seen += place.count;
      const std::string line = fmt::format("\n{:6x}:", place.offset);
      const std::string code = "\n" + std::string(t.text(t.kernels[s.kernel].assembly));
      EXPECT_NE(code.find(line), std::string::npos) << "no instruction begins at " << line;
    }
  }
  EXPECT_GT(seen, 0);
}

TEST_F(Recorded, WaitsForTheTraceBeforeToEnd) {
  Trace first = trace(path("first"));
  EXPECT_NE(error_of([&] { Trace second = trace(path("second")); }).find("already"),
            std::string::npos);
  first.finish();
  Trace second = trace(path("second"));
  second.finish();
  EXPECT_FALSE(content_of(path("second")).empty());
}

TEST_F(Recorded, ErrorsNameTheFileAndTheLine) {
  const std::string text = error_of([&] { Trace t = trace(path("no/folder/trace")); });
  EXPECT_NE(text.find("no/folder/trace"), std::string::npos);
  EXPECT_NE(text.find("recorder_test.cpp"), std::string::npos);
  EXPECT_NE(error_of([] { Trace t = trace(""); }).find("name of a file"), std::string::npos);
}

TEST_F(Recorded, GoesOnWhereTheTraceHasNoRoom) {
  const Options::Scope small{{Option::TraceLimit, 1}};
  const Tensor x = Tensor::uniform({16}, 0, 1).realize();
  auto step = capture([](const Tensor& v) { return v * 2 + 1; });
  {
    const Trace tracing = trace(path("small"));
    for (int i = 0; i < 40'000; i++) step(x);
  }
  const std::string bytes = content_of(path("small"));
  const auto t = traces::read_trace(std::as_bytes(std::span(bytes)), "small");
  EXPECT_LE(bytes.size(), (1U << 20) + 64);
  EXPECT_GT(t.lost, 0);
}

TEST_F(Recorded, EndsWhileOtherThreadsCompute) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; n++) {
    threads.emplace_back([&, n] {
      const Tensor x = Tensor::full({64 + n}, 1.0).realize();
      for (int i = 0; !is_over; i++) EXPECT_EQ((x * i).sum().item<float>(), float((64 + n) * i));
    });
  }
  std::size_t launches = 0;
  for (int i = 0; i < 20; i++) {
    launches +=
        traced([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }).launches.size();
  }
  is_over = true;
  for (std::thread& t : threads) t.join();
  EXPECT_GT(launches, 0U);
}

}  // namespace
}  // namespace croze
