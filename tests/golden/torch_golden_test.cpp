// torch_golden_test.cpp -- every function of the op table against what PyTorch computed
// (make_torch.py): results, their shapes and dtypes, and gradients.
//
// All cases run on INTERP, which compiles nothing, and on the CPU, and a sample of them on the
// others (devices.cmake).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/graph/eval.h"
#include "croze/run/devices.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/reduce/reduce.h"
#include "golden/recording.h"
#include "support/ptx_interp_kind.h"

namespace croze::test {
namespace {

// ---- tolerances -------------------------------------------------------------------------------

// |result - expected| <= tolerance * (1 + |expected|), exactly where it is 0.
double tolerance_of(DType t) {
  switch (t) {
    case DType::Float8E4M3: return 0.125;
    case DType::Float8E5M2: return 0.25;
    case DType::Float16: return 2e-3;
    case DType::BFloat16: return 1.6e-2;
    case DType::Float32: return 1e-5;
    case DType::Float64: return 1e-9;
    default: return 0;
  }
}

// Gradients go through more roundings.
double gradient_tolerance_of(DType t) { return t == DType::Float32 ? 1e-4 : 1e-7; }

bool close(double got, double want, double tolerance) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return true;
  return std::abs(got - want) <= tolerance * (1 + std::abs(want));
}

// ---- one case ---------------------------------------------------------------------------------

double element(std::span<const std::byte> bytes, std::int64_t i, DType t) {
  const std::int64_t bits = load_bits(&bytes[static_cast<std::size_t>(i * size_of(t))], t);
  return is_float(t) ? std::bit_cast<double>(bits) : static_cast<double>(bits);
}

// What is wrong with a result; nothing if it agrees.  Where `open`, NaN and poles of the expected
// value say nothing.
std::string difference(const Tensor& got, const RecordedTensor& want, double tolerance,
                       bool open = false) {
  if (got.dtype() != want.dtype) {
    return fmt::format("dtype {} instead of {}", name_of(got.dtype()), name_of(want.dtype));
  }
  if (got.shape() != want.shape) {
    return fmt::format("shape {} instead of {}", to_text(got.shape()), to_text(want.shape));
  }
  const std::vector<std::byte> bytes = got.to_bytes();
  if (!is_float(want.dtype)) {
    const auto [a, b] = std::ranges::mismatch(bytes, want.bytes);
    if (a == bytes.end()) return {};
    const std::int64_t i = (a - bytes.begin()) / size_of(want.dtype);
    return fmt::format("[{}] is {} instead of {}", i, element(bytes, i, want.dtype),
                       element(want.bytes, i, want.dtype));
  }
  for (std::int64_t i = 0; i < want.shape.numel(); i++) {
    const double a = element(bytes, i, want.dtype), b = element(want.bytes, i, want.dtype);
    if (open && !(std::abs(b) < 1e8)) continue;
    if (!close(a, b, tolerance)) return fmt::format("[{}] is {} instead of {}", i, a, b);
  }
  return {};
}

// The weights of make_torch.py.
Tensor weights_of(const Tensor& result, std::int64_t k) {
  std::vector<double> w(static_cast<std::size_t>(result.numel()));
  for (std::size_t i = 0; i < w.size(); i++) {
    w[i] = static_cast<double>((7 * static_cast<std::int64_t>(i) + 3 * k) % 11 - 5) / 4;
  }
  return Tensor::from_data(w, result.shape(), {.dtype = result.dtype()});
}

// A case whose results and gradients are recorded in the graph, and not computed yet.
struct Pending {
  std::string name;
  RecordedCase recorded;
  std::vector<Tensor> results;
  std::vector<Tensor> gradients;  // undefined where none is recorded
};

std::vector<Tensor> gradients_of(const RecordedCase& c, const std::vector<Tensor>& results) {
  std::vector<Tensor> targets;
  for (std::size_t i = 0; i < c.tensors.size(); i++) {
    if (c.gradients.at(i).dtype != DType::Void) targets.push_back(c.tensors[i]);
  }
  Tensor loss = Tensor::zeros({}, {.dtype = c.dtype});
  std::int64_t k = 0;
  for (const Tensor& r : results) {
    if (is_float(r.dtype())) loss = loss + sum(r * weights_of(r, k++));
  }
  const std::vector<Tensor> found = loss.gradient(targets);
  std::vector<Tensor> gradients(c.tensors.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < c.tensors.size(); i++) {
    if (c.gradients[i].dtype != DType::Void) gradients[i] = found[next++];
  }
  return gradients;
}

Pending recorded_case(const Recording& recording, std::size_t i) {
  Pending p{.name = recording.name_of_case(i),
            .recorded = recording.at(i),
            .results = {},
            .gradients = {}};
  p.results = call_op(*p.recorded.op, p.recorded.arguments);
  if (!p.recorded.gradients.empty()) p.gradients = gradients_of(p.recorded, p.results);
  return p;
}

// ---- all cases --------------------------------------------------------------------------------

struct Totals {
  std::set<std::string_view> ops;
  std::int64_t cases = 0, gradients = 0, refused = 0, tiny = 0;
  std::map<std::string, int> failures;  // by op
};

// Whether an argument or a result is of the dtype.
bool has_dtype(const Pending& p, DType t) {
  return std::ranges::any_of(p.recorded.tensors, [=](const Tensor& x) { return x.dtype() == t; }) ||
         std::ranges::any_of(p.results, [=](const Tensor& x) { return x.dtype() == t; });
}

// Whether an argument has elements so small that a device may take them, or what it computes of
// them, for zero.
bool has_tiny_elements(const Pending& p) {
  return std::ranges::any_of(p.recorded.tensors, [](const Tensor& x) {
    if (x.dtype() != DType::Float32 && x.dtype() != DType::BFloat16) return false;
    const std::vector<std::byte> bytes = x.to_bytes();
    for (std::int64_t i = 0; i < x.numel(); i++) {
      const double v = std::abs(element(bytes, i, x.dtype()));
      if (v > 0 && v < 0x1p-100) return true;
    }
    return false;
  });
}

// Cases of Float64 are not asked of a device that has none, and one that computes in it on the way
// may refuse; cases of numbers that are next to nothing are not asked of one that may flush them.
// All of these are counted.
class Checker {
 public:
  explicit Checker(const Caps& caps)
      : has_float64_(caps.has_dtype(DType::Float64)), keeps_subnormals_(caps.keeps_subnormals) {}

  void add(const Recording& recording, std::size_t i) {
    try {
      Pending p = recorded_case(recording, i);
      if (!has_float64_ && has_dtype(p, DType::Float64)) {
        totals_.refused++;
        return;
      }
      if (!keeps_subnormals_ && has_tiny_elements(p)) {
        totals_.tiny++;
        return;
      }
      batch_.push_back(std::move(p));
    } catch (const std::exception& e) {
      failed(recording.name_of_case(i), e.what());
    }
    if (batch_.size() == 32) finish();
  }

  // Computes the cases added since the last call together, and compares.
  void finish() {
    std::vector<Tensor> all;
    for (const Pending& p : batch_) {
      all.insert(all.end(), p.results.begin(), p.results.end());
      for (const Tensor& g : p.gradients) {
        if (g.defined()) all.push_back(g);
      }
    }
    try {
      realize(all);
    } catch (const std::exception&) {
      // Computing them one by one shows whose fault it was.
    }
    for (const Pending& p : batch_) compare(p);
    batch_.clear();
  }

  const Totals& totals() const { return totals_; }

 private:
  void compare(const Pending& p) {
    totals_.ops.insert(p.recorded.op->name);
    totals_.cases++;
    try {
      if (p.results.size() != p.recorded.results.size()) {
        return failed(p.name, fmt::format("{} results instead of {}", p.results.size(),
                                          p.recorded.results.size()));
      }
      for (std::size_t k = 0; k < p.results.size(); k++) {
        const RecordedTensor& want = p.recorded.results[k];
        if (want.dtype == DType::Void) continue;  // left open
        const std::string text = difference(p.results[k], want, tolerance_of(want.dtype));
        if (!text.empty()) return failed(p.name, fmt::format("result {}: {}", k, text));
      }
      if (p.gradients.empty()) return;
      totals_.gradients++;
      for (std::size_t k = 0; k < p.gradients.size(); k++) {
        if (!p.gradients[k].defined()) continue;
        const RecordedTensor& want = p.recorded.gradients[k];
        const std::string text =
            difference(p.gradients[k], want, gradient_tolerance_of(want.dtype), true);
        if (!text.empty()) return failed(p.name, fmt::format("gradient {}: {}", k, text));
      }
    } catch (const std::exception& e) {
      failed(p.name, e.what());
    }
  }

  void failed(const std::string& name, const std::string& text) {
    if (!has_float64_ && text.find("has no float64") != std::string::npos) {
      totals_.refused++;
      return;
    }
    const std::string op = name.substr(0, name.find(' '));
    if (++totals_.failures[op] <= 3) ADD_FAILURE() << name << ": " << text;
  }

  bool has_float64_, keeps_subnormals_;
  std::vector<Pending> batch_;
  Totals totals_;
};

// Where the program was built, or where it has been carried to (bench/gpu/run.sh).
std::string recordings() {
  const char* const carried = std::getenv("TORCH_RECORDINGS");
  return carried ? carried : CROZE_GOLDEN_DIR;
}

std::vector<std::string> files() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(recordings())) {
    if (entry.path().extension() == ".gz") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

// One of several parts of the cases that are chosen.
struct Part {
  unsigned number = 1, of = 1;
};

// Checks one case in `each`, chosen by the seed, on a device.
Totals check_all(const std::string& device, unsigned each, Part part = {}) {
  constexpr unsigned seed = 1;
  std::mt19937 random(seed);
  unsigned chosen = 0;
  const Options::Scope scope{{Option::Device, device}};
  Checker checker(croze::device(device_index(device)).caps());
  for (const std::string& path : files()) {
    const Recording recording(path);
    for (std::size_t i = 0; i < recording.size(); i++) {
      if (random() % each == 0 && chosen++ % part.of == part.number - 1) {
        checker.add(recording, i);
      }
    }
    checker.finish();
  }
  const Totals& totals = checker.totals();
  int failed = 0;
  for (const auto& [op, count] : totals.failures) {
    fmt::print("{}: {} differ\n", op, count);
    failed += count;
  }
  fmt::print(
      "{}: {} ops, {} cases, {} with gradients, {} differ, {} refused for float64, "
      "{} too near to zero (one in {}, seed {}, part {} of {})\n",
      device, totals.ops.size(), totals.cases, totals.gradients, failed, totals.refused,
      totals.tiny, each, seed, part.number, part.of);
  return totals;
}

// What is recorded: a case that is not run is noticed.
void expect_all(const Totals& totals) {
  EXPECT_EQ(totals.ops.size(), 420u);
  EXPECT_EQ(totals.cases, 17'541);
  EXPECT_GE(totals.gradients, 3000);
}

TEST(TorchGolden, EveryCaseAgreesOnTheInterpreter) { expect_all(check_all("INTERP", 1)); }

TEST(TorchGolden, EveryCaseAgreesOnTheCpu) { expect_all(check_all("CPU", 1)); }

bool is_available(std::string_view name) {
  for (const DeviceEntry& d : list_devices()) {
    if (d.name == name) return d.available;
  }
  return false;
}

// TORCH_PART=2/4: the second of four parts, where one process cannot have them all.
Part part_wanted() {
  Part part;
  const char* const text = std::getenv("TORCH_PART");
  if (!text) return part;
  const bool is_part = std::sscanf(text, "%u/%u", &part.number, &part.of) == 2 &&
                       part.number >= 1 && part.number <= part.of;
  check(is_part, "TORCH_PART is {}, which is no part", text);
  return part;
}

// CROZE_DEVICE names the device; TORCH_ONE_IN=n takes one case in n.
TEST(TorchGolden, ASampleOfTheCasesAgreesOnTheDevice) {
  know_ptx_interp();
  const std::string name = Options::text(Option::Device);
  const char* const text = std::getenv("TORCH_ONE_IN");
  if (name.empty() || !text) GTEST_SKIP() << "no device is named";
  if (!is_available(name)) GTEST_SKIP() << "no " << name << " here";
  const unsigned each = static_cast<unsigned>(std::atoi(text));
  // The text of PTX is read in less time than it is found on disk.
  const bool cache = name != "PTX_INTERP" && Options::flag(Option::Cache);
  const Options::Scope scope{{Option::Cache, cache}};
  const Part part = part_wanted();
  const Totals totals = check_all(name, each, part);
  const bool has_float64 = device(device_index(name)).caps().has_dtype(DType::Float64);
  const unsigned taken = each * part.of;  // one case in so many
  EXPECT_GE(totals.cases, (has_float64 ? 16'000 : 12'800) / taken);
  EXPECT_GE(totals.ops.size(), taken > 16 ? 200u : taken > 8 ? 300u : 380u);
}

}  // namespace
}  // namespace croze::test
