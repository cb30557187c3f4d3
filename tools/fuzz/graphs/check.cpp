// check.cpp -- computing a function on tensors in several ways, and comparing.
//
// Tolerances follow from the function: it is evaluated in float64 as it is, and several times with
// noise on every value that is rounded (trial.h).  The distance of these values, brought back
// to the size of roundings, says how far off a right result may be; it also tells which integers
// and which comparisons hang on roundings.  What noise does not see, roundings inside of an
// operation, is relative to its result.
#include "fuzz/graphs/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "croze/base/error.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "fuzz/program.h"
#include "fuzz/schedule_runner.h"

namespace croze::fuzz {
namespace {

// Evaluations with noise: for every function, and before a result is called wrong.
constexpr int few_runs = 3, many_runs = 24;
// A tolerance is so many times the noise, so many times the error of the reference evaluator in the
// arithmetic that is written, and so many roundings of the largest element.  Sums of equal terms
// round in one direction for long; those of half types are float32.
constexpr double noises = 32, distances = 8, whole_roundings = 32, half_roundings = 16,
                 terms_per_rounding = 8;

CanonicalGraph graph_of(std::span<const Tensor> roots) {
  std::vector<UOp> nodes;
  for (const Tensor& root : roots) nodes.push_back(root.contiguous().node());
  return canonical_graph(nodes);
}

std::vector<Bytes> contents_of(std::span<const UOp> buffers) {
  std::vector<Bytes> result;
  for (UOp b : buffers) {
    Bytes bytes(static_cast<std::size_t>(b.elements() * size_of(b.dtype())));
    read_buffer(b, bytes);
    result.push_back(std::move(bytes));
  }
  return result;
}

std::vector<HostTensor> evaluated(const GraphFunction& function, GraphTrial trial) {
  const std::vector<Tensor> roots = function(trial);
  return evaluate_graph(graph_of(roots));
}

// ---- what must come out -----------------------------------------------------------------------

struct Expected {
  std::vector<double> values;
  std::vector<std::int64_t> bits;
  // No noise changes an integer, or which elements are finite; nor does rounding change an integer.
  bool is_stable = true;
  double spread = 0;  // of noise the size of roundings
  // In the arithmetic that is written: what is too large for it, and how far that is off.
  std::vector<double> written;
  double distance = 0;

  double largest() const {
    double result = 0;
    for (double v : values) {
      if (std::isfinite(v)) result = std::max(result, std::abs(v));
    }
    return result;
  }
};

bool is_same_kind(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::isinf(a) ? a == b : std::isfinite(b);
}

class Expectation {
 public:
  Expectation(const GraphFunction& function, std::vector<DType> rounded)
      : function_(function), rounded_(std::move(rounded)) {
    for (const HostTensor& root : evaluated(function_, GraphTrial::wide(rounded_))) {
      roots_.push_back({root.numbers(), is_float(root.dtype) ? Bits() : root.bits});
    }
    const std::vector<HostTensor> written = evaluated(function_, GraphTrial("INTERP"));
    for (std::size_t r = 0; r < roots_.size(); r++) compare(roots_[r], written.at(r));
    const std::vector<HostTensor> rounding = evaluated(function_, GraphTrial::rounding(rounded_));
    for (std::size_t r = 0; r < roots_.size(); r++) {
      const bool is_number = is_float(rounding.at(r).dtype);
      roots_[r].is_stable = is_number || rounding.at(r).bits == roots_[r].bits;
    }
    for (DType t : rounded_) {
      if (is_float(t)) magnification_ = std::min(magnification_, GraphTrial::magnification(t));
    }
    if (!rounded_.empty()) add_runs(few_runs);
  }

  void add_runs(int most) {
    for (; runs_ < most && !rounded_.empty(); runs_++) {
      const auto seed = static_cast<std::uint64_t>(runs_);
      const auto noisy = evaluated(function_, GraphTrial::noisy(rounded_, seed));
      for (std::size_t r = 0; r < roots_.size(); r++) add(roots_[r], noisy.at(r));
    }
  }

  const std::vector<Expected>& roots() const { return roots_; }

 private:
  using Bits = std::vector<std::int64_t>;

  static void compare(Expected& root, const HostTensor& written) {
    root.written = written.numbers();
    for (std::size_t i = 0; i < root.written.size(); i++) {
      const double distance = std::abs(root.written[i] - root.values[i]);
      if (std::isfinite(distance)) root.distance = std::max(root.distance, distance);
    }
  }

  void add(Expected& root, const HostTensor& noisy) const {
    if (!is_float(noisy.dtype)) {
      root.is_stable = root.is_stable && noisy.bits == root.bits;
      return;
    }
    const std::vector<double> numbers = noisy.numbers();
    for (std::size_t i = 0; i < numbers.size(); i++) {
      root.is_stable = root.is_stable && is_same_kind(root.values[i], numbers[i]);
      if (!std::isfinite(numbers[i]) || !std::isfinite(root.values[i])) continue;
      const double distance = std::abs(numbers[i] - root.values[i]);
      root.spread = std::max(root.spread, distance / magnification_);
    }
  }

  const GraphFunction& function_;
  std::vector<DType> rounded_;
  double magnification_ = 256;
  std::vector<Expected> roots_;
  int runs_ = 0;
};

// ---- comparing --------------------------------------------------------------------------------

class Comparison {
 public:
  // `terms`: of the longest sum on the way.
  Comparison(const Expected& expected, DType dtype, DType coarsest, double terms)
      : expected_(expected) {
    const double largest = expected.largest();
    const double epsilon = GraphTrial::epsilon(dtype);
    const double roundings = (is_half(dtype) ? half_roundings : whole_roundings) +
                             terms / terms_per_rounding * (is_half(dtype) ? 0x1p-13 : 1);
    const double least = dtype == DType::Float16 ? 0x1p-20 : 0x1p-120;
    tolerance_ = noises * expected.spread + distances * expected.distance +
                 roundings * epsilon * largest + least;
    if (coarsest == DType::Float16) tolerance_ += 0x1p-18;  // what is too small for it vanishes
    says_something_ = tolerance_ <= (is_half(coarsest) ? 0.5 : 0.1) * largest || largest == 0;
  }

  // Whether a wrong result would be noticed.
  bool says_something() const { return expected_.is_stable && says_something_; }

  // The first difference, or nothing.  `plain`: without fusion.
  std::string difference(const HostTensor& got, const HostTensor& plain) const {
    if (!expected_.is_stable) return {};
    if (!is_float(got.dtype)) return of_integers(got);
    const std::vector<double> numbers = got.numbers(), others = plain.numbers();
    for (std::size_t i = 0; i < numbers.size(); i++) {
      const double want = expected_.values[i];
      // What is too large or too small for the arithmetic that is written.
      if (!is_same_kind(want, expected_.written[i])) continue;
      const bool same = is_same_kind(want, numbers[i]);
      if (same && !std::isfinite(want)) continue;
      if (same && (!says_something_ || std::abs(want - numbers[i]) <= tolerance_)) continue;
      return fmt::format("element {}: {} instead of {} (tolerance {}; unfused {})", i, numbers[i],
                         want, tolerance_, others[i]);
    }
    return {};
  }

 private:
  std::string of_integers(const HostTensor& got) const {
    const auto at = std::ranges::mismatch(got.bits, expected_.bits);
    if (at.in1 == got.bits.end()) return {};
    return fmt::format("element {}: {} instead of {}", at.in1 - got.bits.begin(), *at.in1, *at.in2);
  }

  const Expected& expected_;
  double tolerance_ = 0;
  bool says_something_ = false;
};

class GraphCheck {
 public:
  GraphCheck(const GraphFunction& function, std::span<const OtherSize> others, Counts& counts)
      : function_(function), others_(others), counts_(counts) {
    GraphTrial trial("INTERP");
    roots_ = function(trial);
    rounded_ = trial.rounded();
    for (DType t : {DType::BFloat16, DType::Float16}) {
      const bool used = std::ranges::find(rounded_, t) != rounded_.end();
      if (used) coarsest_ = t;
    }
  }

  ~GraphCheck() {
    counts_["cases fused"] += is_fused_;
    counts_["cases with merged nests"] += is_merged_;
    counts_["cases with sequences"] += has_sequences_;
    counts_["cases with values made again"] += is_made_again_;
  }
  GraphCheck(const GraphCheck&) = delete;
  GraphCheck& operator=(const GraphCheck&) = delete;

  std::string wrong() {
    if (roots_.empty()) return {};
    graph_ = graph_of(roots_);
    inputs_ = contents_of(graph_.inputs);
    expectation_.emplace(function_, rounded_);
    std::string text =
        compared("unfused", [&] { return plain_ = interpreted(scalar_caps(), false); });
    if (!text.empty()) return text;
    count_comparable();
    const std::pair<const char*, Caps> machines[] = {{"fused", scalar_caps()},
                                                     {"fused for lanes", cpu_shaped_caps()},
                                                     {"fused for groups", gpu_shaped_caps()},
                                                     {"fused for small caches", blocks_caps()}};
    for (const auto& [how, caps] : machines) {
      if (text.empty()) text = compared(how, [&] { return interpreted(caps, true); });
    }
    if (text.empty()) text = compared("on CPU", [&] { return computed_on_cpu(); });
    for (const OtherSize& other : others_) {
      if (text.empty()) text = wrong_at_open_size(other);
    }
    return text;
  }

 private:
  // So little cache that what a large graph does on a CPU is done by small ones.
  static Caps blocks_caps() {
    Caps caps = small_cache_caps();
    caps.l1_bytes = 256;
    return caps;
  }

  std::vector<HostTensor> interpreted(const Caps& caps, bool fuse) {
    const std::unique_ptr<Device> device = make_interpreter(caps);
    const Schedule schedule = schedule_for(*device, graph_, {.fuse = fuse});
    note(schedule, fuse);
    std::vector<Bytes> inputs = inputs_;
    return results_of(run_schedule(*device, schedule, inputs));
  }

  // Compiled for all sizes up to a bound in the place of one, by what both recordings have in
  // common.
  std::string wrong_at_open_size(const OtherSize& other) {
    GraphTrial trial("INTERP");
    const std::vector<Tensor> roots = other.function(trial);
    if (roots.size() != roots_.size()) return {};
    const CanonicalGraph graph = graph_of(roots);
    const SizedRecording here{&graph_, sized_form_of(graph_), {other.size}};
    const SizedRecording there{&graph, sized_form_of(graph), {other.other}};
    counts_["sizes that may be open"]++;
    if (here.form.structure != there.form.structure) return {};
    const OpenBounds bounds{.least = 1, .most = 2 * std::max(other.size, other.other)};
    const SizedRecording both[] = {there, here};
    const Opening opening = open_graph_of(both, std::span(&bounds, 1));
    if (!opening.graph) return {};
    counts_["sizes that are open"]++;
    const auto instance = opening.graph->instance(here);
    if (!instance) return "a recording is no instance of the graph that was made of it";
    return compared("at an open size", [&] {
      const std::unique_ptr<Device> device = make_interpreter(cpu_shaped_caps());
      const Schedule schedule = schedule_for(*device, *opening.graph, *instance);
      std::vector<Bytes> inputs = inputs_;
      return results_of(run_schedule(*device, schedule, inputs, {}, instance->variables));
    });
  }

  std::vector<HostTensor> results_of(const std::vector<Bytes>& bytes) const {
    std::vector<HostTensor> results;
    for (std::size_t r = 0; r < bytes.size(); r++) {
      results.push_back(
          from_bytes(bytes[r], graph_.roots[r].dtype(), Dims(graph_.roots[r].shape())));
    }
    return results;
  }

  std::vector<HostTensor> computed_on_cpu() const {
    GraphTrial trial("CPU");
    const std::vector<Tensor> roots = function_(trial);
    std::vector<Tensor> copies;
    for (const Tensor& root : roots) copies.push_back(root.contiguous());
    realize(copies);
    std::vector<HostTensor> results;
    for (const Tensor& copy : copies) {
      results.push_back(from_bytes(copy.to_bytes(), copy.dtype(), Dims(copy.shape())));
    }
    return results;
  }

  void note(const Schedule& schedule, bool fuse) {
    const std::size_t nests = schedule.steps.size();
    if (!fuse) {
      nests_unfused_ = nests;
      return;
    }
    is_fused_ = is_fused_ || nests < nests_unfused_;
    has_sequences_ = has_sequences_ || !schedule.sequences.empty();
    for (const ScheduleStep& step : schedule.steps) {
      is_merged_ = is_merged_ || (step.kernel && step.kernel->sink.num_src() > 1);
    }
    for (const ScheduleBuffer& buffer : schedule.buffers) {
      is_made_again_ = is_made_again_ || buffer.reason.cause == BufferCause::MadeAgain;
    }
  }

  void count_comparable() {
    for (std::size_t r = 0; r < roots_.size(); r++) {
      counts_["results"]++;
      counts_["results told right from wrong"] += comparison(r).says_something();
    }
  }

  Comparison comparison(std::size_t r) const {
    const UOp root = graph_.roots[r];
    double terms = 1;
    for (UOp u : toposort(root)) {
      if (!u.is(Op::Reduce) || u.elements() == 0) continue;
      terms = std::max(terms, static_cast<double>(u.src(0).elements() / u.elements()));
    }
    return {expectation_->roots()[r], root.dtype(), coarsest_, terms};
  }

  template <typename Compute>
  std::string compared(const char* how, const Compute& compute) {
    try {
      const std::string text = difference(compute());
      return text.empty() ? text : fmt::format("{}: {}", how, text);
    } catch (const std::exception& e) {
      return fmt::format("{}: exception: {}", how, e.what());
    }
  }

  std::string difference(const std::vector<HostTensor>& results) {
    for (std::size_t count : {results.size(), expectation_->roots().size()}) {
      if (count != roots_.size()) return fmt::format("{} results, not {}", count, roots_.size());
    }
    for (std::size_t r = 0; r < results.size(); r++) {
      if (comparison(r).difference(results[r], plain_[r]).empty()) continue;
      expectation_->add_runs(many_runs);
      const std::string text = comparison(r).difference(results[r], plain_[r]);
      if (text.empty()) continue;
      return fmt::format("result {} of {}{}: {}", r, name_of(graph_.roots[r].dtype()),
                         to_text(roots_[r].shape()), text);
    }
    return {};
  }

  const GraphFunction& function_;
  std::span<const OtherSize> others_;
  Counts& counts_;
  std::vector<Tensor> roots_;
  std::vector<DType> rounded_;
  DType coarsest_ = DType::Float32;
  CanonicalGraph graph_;
  std::vector<Bytes> inputs_;
  std::optional<Expectation> expectation_;
  std::vector<HostTensor> plain_;
  std::size_t nests_unfused_ = 0;
  bool is_fused_ = false, is_merged_ = false, has_sequences_ = false, is_made_again_ = false;
};

}  // namespace

std::vector<HostTensor> evaluate_graph(const CanonicalGraph& graph) {
  Reference reference;
  reference.read = [&](UOp buffer) {
    const UOp input = graph.inputs[static_cast<std::size_t>(buffer.buffer_id())];
    const std::vector<Bytes> bytes = contents_of(std::span(&input, 1));
    return from_bytes(bytes[0], buffer.dtype(), Dims(buffer.shape())).bits;
  };
  return reference.evaluate(graph.roots);
}

std::string check_graph(const GraphFunction& function, std::span<const OtherSize> others,
                        Counts& counts) {
  try {
    return GraphCheck(function, others, counts).wrong();
  } catch (const std::exception& e) {
    return fmt::format("exception: {}", e.what());
  }
}

std::string check_graph(const GraphFunction& function) {
  Counts counts;
  return check_graph(function, {}, counts);
}

}  // namespace croze::fuzz
