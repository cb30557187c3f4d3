// viz_traces FOLDER: writes the traces that the page is tested with, and truth.json, which says
// what they hold as the reader of C++ sees it.
#include "corpus/traces.h"

#include <croze/base/file.h>
#include <croze/croze.h>
#include <croze/jit/capture.h>
#include <croze/nn/nn.h>
#include <croze/trace/trace.h>
#include <croze/trace/writer.h>
#include <croze/viz/compare.h>
#include <croze/viz/summary.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "examples/data/fashion_net.h"

using namespace croze;
using nlohmann::json;

namespace {

// Ten steps of the training of examples/fashion_mnist.cpp.  The images are no images: what is
// compiled and launched does not depend on them.
void train_batches(const std::string& file, std::int64_t batch) {
  const Trace tracing = trace(file, {.rewrites = true});
  const FashionNet net;
  optim::Adam adam(nn::parameters(net));
  auto step = capture([&](const Tensor& images, const Tensor& labels) {
    Tensor loss = cross_entropy(net(images), labels);
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
  const Tensor images = Tensor::uniform({batch, 1, 28, 28}, 0, 255).cast(DType::UInt8).realize();
  const Tensor labels = Tensor::uniform({batch}, 0, 10).cast(DType::Int32).realize();
  for (int i = 0; i < 10; i++) step(images, labels).item<float>();
}

void train(const std::string& file) { train_batches(file, 128); }
void train_larger(const std::string& file) { train_batches(file, 256); }

// A model of modules in modules.
struct Block {
  nn::Linear query{32, 32}, key{32, 32}, value{32, 32};
  nn::LayerNorm norm{{32}};
  Tensor operator()(const Tensor& x) const {
    const Tensor y = norm(x), scores = matmul(query(y), key(y).transpose(-1, -2)) / 6;
    return x + matmul(softmax(scores, -1), value(y));
  }
};
struct Blocks {
  nn::Embedding embedding{50, 32};
  std::vector<Block> blocks = std::vector<Block>(2);
  nn::Linear output{32, 50};
};

void modules(const std::string& file) {
  const Trace tracing = trace(file);
  const Blocks net;
  optim::SGD sgd(nn::parameters(net), {.learning_rate = 0.1});
  auto step = capture([&](const Tensor& tokens) {
    Tensor x = net.embedding(tokens);
    for (const Block& block : net.blocks) x = block(x);
    Tensor loss = cross_entropy(net.output(x).flatten(0, 1), tokens.flatten(0));
    sgd.step(loss.gradient(sgd.parameters));
    return loss;
  });
  const Tensor tokens = (Tensor::uniform({4, 16}, 0, 1) * 50).cast(DType::Int32).realize();
  for (int i = 0; i < 3; i++) step(tokens).item<float>();
}

void transformer(const std::string& file) {
  const Trace tracing = trace(file, {.rewrites = true});
  realize(corpus::trace_block());
}

// Events as they would be of a long run: 100 kinds of kernels, half a million runs of two launches.
void million(const std::string& file) {
  traces::Writer w(file, std::int64_t{1} << 30);
  const auto cpu = w.name("CPU");
  const auto thread = w.add(traces::Row{traces::Row::What::Thread, w.name("thread 1")});
  const auto queue = w.add(traces::Row{traces::Row::What::Queue, w.name("CPU of thread 1")});
  std::vector<traces::Number> schedules;
  for (std::uint32_t i = 0; i < 100; i++) {
    traces::Kernel kernel;
    kernel.name = w.name(fmt::format("kernel_{}", i));
    const auto number = w.add(kernel);
    traces::PlannedLaunch launch;
    launch.device = cpu;
    launch.kernels = {number};
    launch.flops = launch.bytes = 1000;
    schedules.push_back(w.add(traces::Schedule{{launch, launch}, {}, {}}));
  }
  std::int64_t now = 0;
  for (std::int64_t i = 0; i < 333'333; i++) {
    const std::int64_t length = 1000 + i % 977;
    const auto run = w.add(traces::Run{thread,
                                       schedules[static_cast<std::size_t>(i * 37 % 100)],
                                       w.name("step (long.cpp:1)"),
                                       now,
                                       {},
                                       {}});
    w.add(traces::Launch{queue, run, 0, now + 100, length});
    w.add(traces::Launch{queue, run, 1, now + 200 + length, length / 2});
    w.add(traces::Scope{traces::Scope::What::Run, thread, w.name("run"), 0, now, 2 * length});
    now += 2 * length + 50;
  }
  w.finish();
}

// A kernel of one loop, in which threads were seen nine times of ten, and most at its product.  It
// is a node of a model.
void sampled(const std::string& file) {
  traces::Writer w(file, std::int64_t{1} << 30);
  const auto row = w.add(traces::Row{traces::Row::What::Thread, w.name("thread 1")});
  const auto queue = w.add(traces::Row{traces::Row::What::Queue, w.name("CPU of thread 1")});
  traces::Kernel kernel;
  kernel.name = w.name("map_64");
  kernel.assembly = w.name(
      "     0:\txorl\t%eax, %eax\n     2:\tvmulps\t%ymm0, %ymm1, %ymm0\n"
      "     6:\taddq\t$8, %rax\n     a:\tjne\t-10\n     c:\tretq\n");
  kernel.program =
      w.name("%0 = const 8\nloop r0\n  %1 = range r0 [8]\n  %2 = mul %1 %1\nend_loop\n");
  const auto number = w.add(kernel);
  w.add(traces::Samples{number, {{0, 10}, {2, 40}}});
  w.add(traces::Samples{number, {{2, 30}, {6, 20}}});
  traces::PlannedLaunch launch;
  launch.device = w.name("CPU");
  launch.kernels = {number};
  const auto schedule = w.add(traces::Schedule{{launch}, {}, {}});
  w.add(traces::ModelNodes{schedule, {{{w.name("Relu (node \"stem\")")}}}});
  const auto run = w.add(traces::Run{row, schedule, 0, 0, {}, {}});
  w.add(traces::Launch{queue, run, 0, 100, 1000});
  w.finish();
}

// One schedule of 25,000 launches, each of which reads what two before it have written.
void large_graph(const std::string& file) {
  constexpr std::uint32_t launches = 25'000;
  traces::Writer w(file, std::int64_t{1} << 30);
  const auto row = w.add(traces::Row{traces::Row::What::Thread, w.name("thread 1")});
  traces::Kernel kernel;
  kernel.name = w.name("reduce_64_r64");
  const auto number = w.add(kernel);
  traces::Schedule schedule;
  for (std::uint32_t i = 0; i < launches; i++) {
    traces::PlannedLaunch launch;
    launch.device = w.name("CPU");
    launch.kernels = {number};
    if (i > 0) launch.reads = {i - 1};
    if (i > 40) launch.reads.push_back(i - 1 - i * 7919 % 40);
    launch.writes = {i};
    schedule.launches.push_back(std::move(launch));
    schedule.buffers.push_back({.what = traces::PlannedBuffer::What::Temporary,
                                .device = w.name("CPU"),
                                .dtype = w.name("float32"),
                                .shape = {64, 64},
                                .bytes = 16384,
                                .room = 16384,
                                .first_plus_1 = i + 1,
                                .last_plus_1 = std::min(i + 2, launches)});
  }
  w.add(traces::Run{row, w.add(schedule), 0, 0, {}, {}});
  w.finish();
}

// "%7 = add int32 %3 %5": as the page shows a node.
std::string text_of(const traces::Trace& t, traces::Number number) {
  const traces::Node& node = t.nodes[number];
  std::string text = fmt::format("%{} = {}", number, t.text(node.op));
  if (node.dtype != 0) text += fmt::format(" {}", t.text(node.dtype));
  for (const traces::Number back : node.sources) text += fmt::format(" %{}", number - back);
  if (node.argument != 0) text += fmt::format(" {}", t.text(node.argument));
  return text;
}

// The most that the planner has put into an arena at once, and the largest arena.
void add_memory(json& truth, const traces::Trace& t) {
  std::int64_t arena = 0, peak = 0;
  for (const traces::Schedule& s : t.schedules) {
    for (const traces::PlannedArena& a : s.arenas) {
      arena = std::max(arena, a.bytes);
      peak = std::max(peak, a.peak);
    }
  }
  truth["largest_arena"] = arena;
  truth["planned_peak"] = peak;
}

// How often each rule fired, the pass with most rewrites, and those.
void add_rewrites(json& truth, const traces::Trace& t) {
  std::vector<int> counts(t.passes.size());
  std::map<std::string, std::pair<int, std::int64_t>> rules;
  for (const traces::Match& m : t.matches) {
    counts[m.pass]++;
    const traces::Rule& rule = t.rules[m.rule];
    auto& [times, ns] = rules[fmt::format("{} {}", t.text(rule.place), t.text(rule.text))];
    times++;
    ns += m.ns;
  }
  for (const auto& [rule, fired] : rules) {
    truth["rules"].push_back({{"rule", rule}, {"times", fired.first}, {"ns", fired.second}});
  }
  const auto most = std::ranges::max_element(counts) - counts.begin();
  truth["pass"] = most;
  for (const traces::Match& m : t.matches) {
    if (m.pass != most) continue;
    truth["rewrites"].push_back({{"rule", t.text(t.rules[m.rule].text)},
                                 {"place", t.text(t.rules[m.rule].place)},
                                 {"before", text_of(t, m.before)},
                                 {"after", text_of(t, m.after)}});
  }
}

// The tensors of the longest schedule, and how many pairs of them are one made of the other.
void add_tensors(json& truth, const traces::Trace& t) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < t.schedules.size(); i++) {
    if (t.schedules[i].launches.size() > t.schedules[longest].launches.size()) longest = i;
  }
  if (t.graphs.empty()) return;
  const std::vector<traces::TensorNode>& nodes = t.graphs[longest].nodes;
  std::set<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t i = 0; i < nodes.size(); i++) {
    const traces::TensorNode& node = nodes[i];
    const bool has_name = node.buffer_plus_1 > 0;
    truth["tensors"].push_back(
        {{"op", t.text(node.op)},
         {"type", fmt::format("{}[{}]", t.text(node.dtype), fmt::join(node.shape, ", "))},
         {"buffer", has_name ? t.text(t.origins[longest].buffers[node.buffer_plus_1 - 1]) : ""}});
    for (const traces::Number back : node.sources) {
      if (t.text(nodes[i - back].op) != "const") edges.emplace(i - back, i);
    }
  }
  truth["tensor_edges"] = edges.size();
}

json truth_of(const std::string& file) {
  const MappedFile bytes(file);
  const traces::Trace t = traces::read_trace(bytes.data(), file);
  json truth;
  truth["launches"] = t.launches.size();
  truth["matches"] = t.matches.size();
  std::int64_t ns = 0;
  for (const traces::Launch& l : t.launches) ns += l.duration;
  truth["kernel_ns"] = ns;
  for (const TraceRow& row : by_kernel(t)) {
    truth["kernels"].push_back({{"name", row.name}, {"launches", row.launches}});
  }
  std::set<traces::Number> rows;
  for (const traces::Launch& l : t.launches) rows.insert(l.row);
  for (const traces::Scope& s : t.scopes) {
    rows.insert(s.row);
    if (s.what == traces::Scope::What::Pass) truth["passes"].push_back(t.text(s.name));
  }
  for (const traces::Number row : rows) truth["rows"].push_back(t.text(t.rows[row].name));
  add_memory(truth, t);
  add_tensors(truth, t);
  if (!t.matches.empty()) add_rewrites(truth, t);
  return truth;
}

json compared(const std::string& base, const std::string& file) {
  const MappedFile base_bytes(base), bytes(file);
  const Comparison c =
      compare(traces::read_trace(base_bytes.data(), base), traces::read_trace(bytes.data(), file));
  json result;
  for (const ComparedKernel& k : c.kernels) {
    result["kernels"].push_back({{"name", k.name},
                                 {"what", name_of(k.what)},
                                 {"base_launches", k.base_launches},
                                 {"launches", k.launches}});
  }
  for (const ComparedMemory& m : c.memory) result["memory"].push_back({{"peak", m.peak}});
  return result;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string folder = arguments[1];
  const std::vector<std::pair<std::string, void (*)(const std::string&)>> makers = {
      {"step", train},      {"larger", train_larger}, {"block", transformer}, {"modules", modules},
      {"million", million}, {"graph", large_graph},   {"sampled", sampled}};
  json truth;
  for (const auto& [name, make] : makers) {
    const std::string file = folder + "/" + name + ".trace";
    make(file);
    truth[name] = truth_of(file);
  }
  truth["compare"] = compared(folder + "/step.trace", folder + "/larger.trace");
  std::ofstream(folder + "/truth.json") << truth.dump(1);
}
