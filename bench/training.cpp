// training.cpp -- the memory of training steps, against PyTorch.
//
// A step is the loss of a batch, its gradients, and the update: ResNet-18 with momentum, a GPT of
// four layers with AdamW.  What counts is the same in both: the most bytes of tensors alive at
// once, of those that the step makes.  croze allocates them as its plan says: results, the arena,
// and memory of blocks for each thread, so nothing has to be run.  PyTorch's are counted while it
// runs (training_memory.py).
#include "training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "corpus/gpt.h"
#include "corpus/resnet18.h"
#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/jit/trace.h"
#include "croze/nn/nn.h"
#include "croze/tensor/explain.h"
#include "croze/tensor/network/loss.h"
#include "croze/tensor/registry.h"

namespace croze::bench {
namespace {

// Records the step and everything that it assigns to.
template <typename Step>
Explanation explained(Step step) {
  std::vector<Tensor> tensors;
  {
    const Capturing recording;
    tensors.push_back(step());
  }
  for (const Tensor& t : pending_stores()) tensors.push_back(t);
  return explain(tensors);
}

Explanation explain_resnet18() {
  corpus::ResNet18 net;
  optim::SGD sgd(nn::parameters(net), {.learning_rate = 0.01, .momentum = 0.9});
  const Tensor images = corpus::placeholder({4, 3, 64, 64});
  const Tensor labels = corpus::placeholder({4}).bitcast(DType::Int32);
  return explained([&] {
    const Tensor loss = cross_entropy(net(images), labels);
    sgd.step(loss.gradient(sgd.parameters));
    return loss;
  });
}

Explanation explain_gpt() {
  using corpus::Gpt;
  const Gpt net;
  optim::AdamW adam(nn::parameters(net));
  const Tensor tokens = corpus::placeholder({16, Gpt::sequence}).bitcast(DType::Int32);
  const Tensor next = corpus::placeholder({16 * Gpt::sequence}).bitcast(DType::Int32);
  return explained([&] {
    const Tensor scores = reshape(net(tokens), {-1, Gpt::vocabulary});
    const Tensor loss = cross_entropy(scores, next);
    adam.step(loss.gradient(adam.parameters));
    return loss;
  });
}

std::int64_t allocated(const Explanation& e) {
  std::int64_t bytes = e.result_bytes, of_blocks = 0;
  for (const ExplainedPeak& peak : e.peaks) bytes += peak.arena_bytes;
  for (const ExplainedLaunch& l : e.launches) of_blocks = std::max(of_blocks, l.block_bytes);
  return bytes + of_blocks;
}

struct Case {
  const char *model, *workload;
  Explanation (*explain)();
  std::int64_t budget;  // CROZE_MEMORY_BUDGET
};
constexpr Case cases[] = {
    {"resnet18", "ResNet-18, a step of 4 images", explain_resnet18, 0},
    {"gpt", "GPT of 4 layers, 16 x 64 tokens", explain_gpt, 0},
    {"gpt", "the same with a budget of 25 MB", explain_gpt, 25'000'000},
};

constexpr double limit = 0.9;  // of PyTorch's

// The last line that the command prints which is given the script: libraries may print others.
std::string run_script(const std::string& python) {
  const std::string line = python + " - <" CROZE_BENCH_SOURCES "/training_memory.py";
  FILE* pipe = popen(line.c_str(), "r");
  check(pipe != nullptr, "cannot run {}", line);
  std::string output;
  std::array<char, 4096> part;
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), size);
  }
  check(pclose(pipe) == 0, "{} failed", line);
  output.erase(output.find_last_not_of('\n') + 1);
  return output.substr(output.rfind('\n') + 1);
}

}  // namespace

Json training_rows(const std::string& pytorch) {
  const Json theirs = pytorch.empty() ? Json() : Json::parse(run_script(pytorch));
  Json rows = Json::array();
  for (const Case& c : cases) {
    const Options::Scope budget{{Option::MemoryBudget, c.budget}};
    const Explanation explanation = c.explain();
    double cycles = 0;
    for (const ExplainedLaunch& l : explanation.launches) cycles += l.cycles;
    const std::int64_t bytes = allocated(explanation);
    Json row{{"workload", c.workload}, {"bytes", bytes}, {"cycles", cycles}, {"limit", limit}};
    if (pytorch.empty()) {
      row["skipped"] = "no PyTorch: --pytorch COMMAND";
      row["holds"] = true;
    } else {
      const auto their_bytes = theirs[c.model].get<std::int64_t>();
      const double ratio = static_cast<double>(bytes) / static_cast<double>(their_bytes);
      row["pytorch"] = theirs["version"];
      row["pytorch_bytes"] = their_bytes;
      row["ratio"] = ratio;
      row["holds"] = ratio <= limit;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace croze::bench
