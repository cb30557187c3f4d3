// op_list_test.cpp -- every function of the op table on every dtype that it claims, on a device:
// its samples as they stand, with odd sizes and with none.
//
// CROZE_DEVICE names the device.  Its results are compared with the interpreter's, and the
// interpreter's with what plain loops make of the graph (fuzz/reference.h).  Only what the device's
// capabilities lack is left out, and counted.  A sample with other sizes that the function refuses
// means nothing.  OP_LIST_ONE_IN=n takes one call in n, OP_LIST_ONLY=name those of one function.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/graph/eval.h"
#include "croze/run/buffers.h"
#include "croze/run/devices.h"
#include "croze/tensor/op_table.h"
#include "fuzz/reference.h"
#include "op_list/sizes.h"
#include "support/ptx_interp_kind.h"

namespace croze::test {
namespace {

using fuzz::HostTensor;
using fuzz::Reference;

constexpr std::uint64_t seed = 7;
constexpr std::string_view interpreter = "INTERP";

// ---- comparing --------------------------------------------------------------------------------

// Roundings that sums in another order, and functions composed in another way, may differ by, as a
// part of the greatest element.
double tolerance_of(DType t) {
  switch (t) {
    case DType::Float64: return 64 * 0x1p-52;
    case DType::Float32: return 64 * 0x1p-23;
    case DType::Float16: return 8 * 0x1p-10;
    case DType::BFloat16: return 8 * 0x1p-7;
    default: return is_float(t) ? 0.25 : 0;
  }
}

std::string difference_of_floats(const HostTensor& got, const HostTensor& want) {
  const std::vector<double> a = got.numbers(), b = want.numbers();
  double greatest = 1;
  for (double v : b) greatest = std::isfinite(v) ? std::max(greatest, std::abs(v)) : greatest;
  const double tolerance = tolerance_of(want.dtype) * greatest;
  for (std::size_t i = 0; i < b.size(); i++) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ||
                      std::abs(a[i] - b[i]) <= tolerance;
    if (!same) return fmt::format("element {} is {} instead of {}", i, a[i], b[i]);
  }
  return {};
}

// What is wrong; nothing if they agree.
std::string difference(const HostTensor& got, const HostTensor& want) {
  if (got.dtype != want.dtype) {
    return fmt::format("dtype {} instead of {}", name_of(got.dtype), name_of(want.dtype));
  }
  if (got.size() != want.size()) {
    return fmt::format("{} elements instead of {}", got.size(), want.size());
  }
  if (is_float(want.dtype)) return difference_of_floats(got, want);
  const auto [a, b] = std::ranges::mismatch(got.bits, want.bits);
  if (a == got.bits.end()) return {};
  return fmt::format("element {} is {} instead of {}", a - got.bits.begin(), *a, *b);
}

// ---- results ----------------------------------------------------------------------------------

std::vector<std::int64_t> elements(std::span<const std::byte> bytes, DType t) {
  const auto size = static_cast<std::size_t>(size_of(t));
  std::vector<std::int64_t> bits;
  for (std::size_t i = 0; i < bytes.size(); i += size) bits.push_back(load_bits(&bytes[i], t));
  return bits;
}

std::vector<std::int64_t> contents(UOp buffer) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.elements()) *
                               static_cast<std::size_t>(size_of(buffer.dtype())));
  read_buffer(buffer, bytes);
  return elements(bytes, buffer.dtype());
}

HostTensor host_tensor(const Tensor& x) {
  const Shape shape = x.shape();
  return {x.dtype(), Dims(shape.begin(), shape.end()), elements(x.to_bytes(), x.dtype())};
}

// The same elements on a device.  They are carried there: computed there they might need dtypes
// that it lacks.
Value moved_to(std::string_view device, const Value& value) {
  if (const Tensor* x = value.get<Tensor>()) {
    if (!x->defined()) return value;
    return Tensor::from_bytes(x->to_bytes(), x->dtype(), x->shape(),
                              {.dtype = x->dtype(), .device = std::string(device)});
  }
  const Values* const list = value.get<Values>();
  if (!list) return value;
  Values copies;
  for (const Value& v : *list) copies.push_back(moved_to(device, v));
  return copies;
}

// The results on a device, not computed yet; drawn with the same numbers on each.
std::vector<Tensor> recorded_on(std::string_view device, const OpEntry& op,
                                std::span<const Values> calls) {
  const Options::Scope scope{{Option::Device, std::string(device)}};
  manual_seed(seed);
  std::vector<Tensor> results;
  for (const Values& arguments : calls) {
    const Value moved = moved_to(device, arguments);
    for (const Tensor& x : call_op(op, *moved.get<Values>())) results.push_back(x);
  }
  return results;
}

// One call of a function.
struct Case {
  std::string name;
  std::vector<Tensor> results, expected;  // `expected`: the interpreter's
  std::vector<HostTensor> truth;          // of the interpreter's
};

// ---- all calls --------------------------------------------------------------------------------

struct Totals {
  std::set<std::string_view> functions;
  std::int64_t calls = 0, values = 0, differ = 0, lacking = 0, meaningless = 0;

  void print(std::string_view what) const {
    fmt::print(
        "{}: {} functions, {} calls, {} values, {} differ; {} need float64 that the device lacks, "
        "{} mean nothing in other sizes\n",
        what, functions.size(), calls, values, differ, lacking, meaningless);
  }
};

class Checker {
 public:
  Checker(std::string device, DType t)
      : device_(std::move(device)),
        dtype_(t),
        has_float64_(croze::device(device_index(device_)).caps().has_dtype(DType::Float64)) {}

  void add(const OpEntry& row, const std::string& call, const Sizes& sizes) {
    OpEntry op = row;
    op.samples = call;
    Case c{fmt::format("{} {}({})", name_of(dtype_), op.name, call), {}, {}, {}};
    try {
      record(op, c);
    } catch (const Error& e) {
      // With its own sizes every sample is a call that must work.
      if (&sizes != &size_variants()[0]) {
        totals_.meaningless++;
      } else {
        failed(c, e.what());
      }
      return;
    }
    if (!has_float64_ && std::ranges::any_of(c.results, [](const Tensor& x) {
          return x.dtype() == DType::Float64;
        })) {
      totals_.lacking++;
      return;
    }
    totals_.functions.insert(row.name);
    batch_.push_back(std::move(c));
    if (batch_.size() == 32) finish();
  }

  // Computes the calls added since the last time together, and compares.
  void finish() {
    std::vector<Tensor> all;
    for (const Case& c : batch_) {
      for (const auto* list : {&c.results, &c.expected}) {
        all.insert(all.end(), list->begin(), list->end());
      }
    }
    try {
      realize(all);
    } catch (const std::exception&) {
      // Computing them one by one shows whose fault it was.
    }
    for (const Case& c : batch_) compare(c);
    batch_.clear();
  }

  const Totals& totals() const { return totals_; }

 private:
  void record(const OpEntry& op, Case& c) {
    const std::vector<Values> calls = sample_arguments(op, dtype_, seed, interpreter);
    c.results = recorded_on(device_, op, calls);
    if (device_ != interpreter) {
      c.expected = recorded_on(interpreter, op, calls);
      return;
    }
    // Before they are computed: then the graph would be the results themselves.
    std::vector<UOp> nodes;
    for (const Tensor& x : c.results) nodes.push_back(x.node());
    Reference reference;
    reference.read = contents;
    c.truth = reference.evaluate(nodes);
  }

  void compare(const Case& c) {
    try {
      for (std::size_t k = 0; k < c.results.size(); k++) {
        const HostTensor got = host_tensor(c.results[k]);
        const std::string text =
            difference(got, c.truth.empty() ? host_tensor(c.expected[k]) : c.truth[k]);
        if (!text.empty()) return failed(c, fmt::format("result {}: {}", k, text));
        totals_.values += got.size();
      }
      totals_.calls++;
    } catch (const std::exception& e) {
      failed(c, e.what());
    }
  }

  void failed(const Case& c, const std::string& text) {
    if (!has_float64_ && text.find("has no float64") != std::string::npos) {
      totals_.lacking++;
      return;
    }
    totals_.differ++;
    ADD_FAILURE() << c.name << ": " << text;
  }

  std::string device_;
  DType dtype_;
  bool has_float64_;
  std::vector<Case> batch_;
  Totals totals_;
};

class OpList : public testing::TestWithParam<DType> {};

TEST_P(OpList, MeansWhatItsReferenceSays) {
  know_ptx_interp();
  const std::string name = Options::text(Option::Device);
  for (const DeviceEntry& entry : list_devices()) {
    if (entry.name == name && !entry.available) GTEST_SKIP() << "no " << name << " here";
  }
  const char* const text = std::getenv("OP_LIST_ONE_IN");
  const unsigned each = text ? static_cast<unsigned>(std::atoi(text)) : 1;
  const char* const only = std::getenv("OP_LIST_ONLY");
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  Checker checker(name, GetParam());
  for (const OpFamily& family : op_families()) {
    // Small matrices are inverted and factored with small errors.
    const int least_rank = family.name == "Equations and factors" ? 3 : 0;
    for (const OpEntry& op : family.ops) {
      if (!has_dtype(op.dtypes, GetParam()) || (only && op.name != std::string_view(only)))
        continue;
      for (const std::string& call : calls_of(op.samples)) {
        for (const Sizes& sizes : size_variants()) {
          const std::string other = resized(call, sizes, least_rank);
          if (!other.empty() && random() % each == 0) checker.add(op, other, sizes);
        }
      }
    }
  }
  checker.finish();
  const Totals& totals = checker.totals();
  totals.print(fmt::format("{} {}", name, name_of(GetParam())));
  if (each > 1 || only) return;
  EXPECT_GT(totals.calls + totals.lacking, 500);
  // Few functions compute in float64 what has another dtype.
  EXPECT_TRUE(GetParam() == DType::Float64 || totals.calls > 20 * totals.lacking);
}

std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (int i = static_cast<int>(DType::Bool); i < num_dtypes; i++) {
    if (static_cast<DType>(i) != DType::Index) dtypes.push_back(static_cast<DType>(i));
  }
  return dtypes;
}

std::string test_name(const testing::TestParamInfo<DType>& info) {
  return std::string(name_of(info.param));
}
INSTANTIATE_TEST_SUITE_P(All, OpList, testing::ValuesIn(all_dtypes()), test_name);

}  // namespace
}  // namespace croze::test
