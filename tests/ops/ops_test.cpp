// ops_test.cpp -- one table of ops, run on every dtype and every device, against graph/eval.h.
//
// Each row goes through the whole second half of the compiler: a kernel is written down, edited,
// decomposed for the device, rendered, compiled and run.  To keep compilers busy with few programs,
// all ops of one dtype are stores of one kernel.
//
// On devices that may flush subnormal numbers what has operands or results near them is not
// compared. INTERP_32 and CPU_32 are these devices without 64-bit integers, without Float64 and
// without small floats, the first with vectors as well.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <memory>

#include "croze/graph/eval.h"
#include "croze/graph/graph.h"
#include "croze/run/devices.h"
#include "ops/values.h"
#include "support/limited_device.h"
#include "support/ptx_interp_kind.h"
#include "support/schedule_runner.h"

namespace croze::test {
namespace {

using Bits = std::vector<std::int64_t>;

constexpr std::int64_t count = 1024;  // elements per op

enum Types : unsigned { floats = 1, integers = 2, booleans = 4, all = 7 };

struct Row {
  Op op;
  unsigned types;
  double ulps = 0;  // that a result may be away; 0: the same bits
};

// What libm gives is itself up to one ulp off, hence one more than decompose.h promises.
constexpr Row table[] = {
    {Op::Neg, floats | integers},
    {Op::Not, integers | booleans},
    {Op::Exp, floats, 2},
    {Op::Exp2, floats, 2},
    {Op::Log, floats, 2},
    {Op::Log2, floats, 2},
    {Op::Sin, floats, 2},
    {Op::Cos, floats, 2},
    {Op::Sqrt, floats},
    {Op::Reciprocal, floats},
    {Op::Trunc, floats | integers},
    {Op::Add, all},
    {Op::Mul, all},
    {Op::Div, floats},
    {Op::IDiv, integers},
    {Op::Mod, integers},
    {Op::CDiv, integers},
    {Op::CMod, integers},
    {Op::Max, all},
    {Op::Min, all},
    {Op::Pow, floats, 3},
    {Op::Lt, all},
    {Op::Le, all},
    {Op::Eq, all},
    {Op::Ne, all},
    {Op::And, integers | booleans},
    {Op::Or, integers | booleans},
    {Op::Xor, integers | booleans},
    {Op::Shl, integers},
    {Op::Shr, integers},
    {Op::Where, all},
    {Op::MulAdd, floats | integers},
    {Op::Threefry, integers},  // UInt64 only
};

unsigned kind_of(DType t) { return is_float(t) ? floats : t == DType::Bool ? booleans : integers; }

bool applies(const Row& row, DType t) {
  return (row.types & kind_of(t)) != 0 && (row.op != Op::Threefry || t == DType::UInt64);
}

// ---- comparing --------------------------------------------------------------------------------

// The distance between neighbouring values of the type at v.
double ulp_at(double v, DType t) {
  const double magnitude = std::abs(v);
  std::uint64_t pattern = 0;
  store_bits(std::bit_cast<std::int64_t>(magnitude), t, &pattern);
  pattern++;
  const double next = std::bit_cast<double>(load_bits(&pattern, t));
  if (std::isfinite(next)) return next - magnitude;
  pattern -= 2;
  return magnitude - std::bit_cast<double>(load_bits(&pattern, t));
}

bool agrees(std::int64_t got, std::int64_t want, DType t, double ulps) {
  if (got == want) return true;
  if (!is_float(t)) return false;
  const double a = std::bit_cast<double>(got), b = std::bit_cast<double>(want);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (ulps == 0 || std::isinf(a) != std::isinf(b)) return false;
  return std::abs(a - b) <= ulps * ulp_at(b, t);
}

// Whether the value, or what is computed of it on the way, may be a subnormal Float32.
bool is_tiny(std::int64_t bits, DType t) {
  if (!is_float(t)) return false;
  const double v = std::abs(std::bit_cast<double>(bits));
  return v > 0 && v < 0x1p-100;
}

std::string text_of(std::int64_t bits, DType t) {
  return is_float(t) ? fmt::format("{}", std::bit_cast<double>(bits)) : fmt::format("{}", bits);
}

// ---- memory -----------------------------------------------------------------------------------

Bytes packed(const Bits& bits, DType t) {
  const auto size = static_cast<std::size_t>(size_of(t));
  Bytes bytes(size * bits.size());
  for (std::size_t i = 0; i < bits.size(); i++) store_bits(bits[i], t, &bytes[i * size]);
  return bytes;
}

std::int64_t element(const Bytes& bytes, std::int64_t i, DType t) {
  return load_bits(&bytes[static_cast<std::size_t>(i * size_of(t))], t);
}

// ---- one kernel with many results -------------------------------------------------------------

// Collects inputs, stores and expectations, runs the kernel on a device and counts what it checked.
class Bench {
 public:
  Graph graph;

  UOp input(DType t, const Bits& bits) {
    memory_.push_back(packed(bits, t));
    return graph.param(t, std::ssize(memory_) - 1, std::ssize(bits));
  }

  // `value` for each i below `size`, which is a loop unless it is 1; `expected(i)` says what comes
  // out. Only the first `checked` of them are compared, if it is given.
  void output(std::string name, UOp value, UOp i, std::int64_t size, double ulps,
              std::function<std::int64_t(std::int64_t)> expected, std::int64_t checked = -1) {
    const DType t = value.dtype();
    memory_.push_back(Bytes(static_cast<std::size_t>(size * size_of(t)), std::byte{0xa5}));
    const UOp out = graph.param(t, std::ssize(memory_) - 1, size);
    stores_.push_back(graph.store(graph.place(out, i), value, std::span(&i, 1)));
    results_.push_back({std::move(name), t, memory_.size() - 1, checked < 0 ? size : checked, ulps,
                        std::move(expected)});
  }

  // Runs, and returns how many values were right; reports the first wrong one of each result.
  std::int64_t run(Device& device) {
    if (stores_.empty()) return 0;
    std::vector<std::span<std::byte>> buffers(memory_.begin(), memory_.end());
    // As many stores in a kernel as the device has buffers for, beside the inputs, which come
    // first.
    const std::size_t inputs = memory_.size() - results_.size();
    const std::size_t most = static_cast<std::size_t>(device.caps().max_buffers) - inputs;
    try {
      for (std::size_t done = 0; done < stores_.size();) {
        const std::size_t now = std::min(most, stores_.size() - done);
        run_kernel(device, graph.sink(std::span(stores_).subspan(done, now)),
                   std::span(buffers).first(inputs + done + now));
        done += now;
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << device.name() << " " << results_[0].name << ".. : " << e.what();
      return 0;
    }
    std::int64_t right = 0;
    for (const Result& r : results_) right += check(device, r);
    return right;
  }

 private:
  struct Result {
    std::string name;
    DType dtype;
    std::size_t memory;
    std::int64_t size;
    double ulps;
    std::function<std::int64_t(std::int64_t)> expected;
  };

  std::int64_t check(const Device& device, const Result& r) const {
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < r.size; i++) {
      const bool is_open =
          !device.caps().keeps_subnormals && (is_tiny_at(i) || is_tiny(r.expected(i), r.dtype));
      if (is_open) continue;
      const std::int64_t got = element(memory_[r.memory], i, r.dtype), want = r.expected(i);
      if (agrees(got, want, r.dtype, r.ulps) || wrong++ > 0) continue;
      ADD_FAILURE() << device.name() << " " << r.name << " element " << i << inputs_at(i) << ": "
                    << text_of(got, r.dtype) << " instead of " << text_of(want, r.dtype);
    }
    if (wrong > 1) ADD_FAILURE() << device.name() << " " << r.name << ": " << wrong << " wrong";
    return r.size - wrong;
  }

 public:
  std::function<std::string(std::int64_t)> inputs_at = [](std::int64_t) { return std::string(); };
  // Whether an operand is one that a device may take for zero.
  std::function<bool(std::int64_t)> is_tiny_at = [](std::int64_t) { return false; };

 private:
  std::vector<Bytes> memory_;
  std::vector<UOp> stores_;
  std::vector<Result> results_;
};

// ---- the tests --------------------------------------------------------------------------------

class OpsOnDevice : public testing::TestWithParam<const char*> {
 protected:
  // The counts at the end: values compared, by device.
  static void TearDownTestSuite() {
    for (const auto& [name, right] : totals()) {
      fmt::print("{:<8} {} values right\n", name, right);
    }
  }

  static void SetUpTestSuite() { know_ptx_interp(); }

  void SetUp() override {
    std::string name = GetParam();
    const bool is_limited = name.ends_with("_32");
    if (is_limited) name.resize(name.size() - 3);
    for (const DeviceEntry& entry : list_devices()) {
      if (entry.name == name && !entry.available) GTEST_SKIP() << entry.description;
    }
    device_ = &device(device_index(name));
    if (!is_limited) return;
    const Caps caps = name == "INTERP" ? cpu_shaped_caps() : device_->caps();
    limited_ = std::make_unique<LimitedDevice>(*device_, GetParam(), without_wide_types(caps));
    device_ = limited_.get();
  }

  // Those that the device has or that can be done without it.
  std::vector<DType> all_dtypes() const {
    std::vector<DType> result;
    for (int i = static_cast<int>(DType::Bool); i < num_dtypes; i++) {
      const auto t = static_cast<DType>(i);
      if (t != DType::Float64 || device_->caps().has_dtype(t)) result.push_back(t);
    }
    return result;
  }

  // Without a fused operation a multiply-add is two (half types do both in Float32), and functions
  // made of them are off by another ulp (decompose.h).
  bool rounds_twice(DType t) const {
    return is_float(t) && !is_half(t) && !device_->caps().has_op(Op::MulAdd);
  }
  double more_ulps(const Row& row, DType t) const {
    return row.ulps > 0 && rounds_twice(t) ? 1 : 0;
  }

  void run(Bench& bench) { totals()[GetParam()] += bench.run(*device_); }

  // `v` cast to every dtype.
  void cast_to_all(DType from, const Bits& v) {
    Bench bench;
    const UOp i = bench.graph.range(0, std::ssize(v), LoopKind::Parallel);
    const UOp x = bench.graph.load(bench.graph.place(bench.input(from, v), i));
    for (DType to : all_dtypes()) {
      if (to == from) continue;
      bench.output(fmt::format("cast {} to {}", name_of(from), name_of(to)),
                   bench.graph.cast(x, to), i, std::ssize(v), 0, [=](std::int64_t n) {
                     return convert(v[static_cast<std::size_t>(n)], from, to);
                   });
    }
    bench.is_tiny_at = [&](std::int64_t n) {
      return is_tiny(v[static_cast<std::size_t>(n)], from);
    };
    bench.inputs_at = [&](std::int64_t n) {
      return fmt::format(" of {}", text_of(v[static_cast<std::size_t>(n)], from));
    };
    run(bench);
  }

 private:
  static std::map<std::string, std::int64_t>& totals() {
    static std::map<std::string, std::int64_t> counts;
    return counts;
  }

  std::unique_ptr<LimitedDevice> limited_;
  Device* device_ = nullptr;
};

TEST_P(OpsOnDevice, ElementwiseOpsMeanWhatEvalSays) {
  for (DType t : all_dtypes()) {
    Bench bench;
    const auto v = operands(t, 3, count);
    const Bits conditions = operands(DType::Bool, 1, count)[0];
    const UOp i = bench.graph.range(0, count, LoopKind::Parallel);
    UOp x[3];
    for (std::size_t k = 0; k < 3; k++) {
      x[k] = bench.graph.load(bench.graph.place(bench.input(t, v[k]), i));
    }
    const UOp condition =
        bench.graph.load(bench.graph.place(bench.input(DType::Bool, conditions), i));
    for (const Row& row : table) {
      if (!applies(row, t)) continue;
      const int arity = info(row.op).arity;
      const bool is_where = row.op == Op::Where;
      const UOp src[] = {is_where ? condition : x[0], is_where ? x[0] : x[1],
                         is_where ? x[1] : x[2]};
      const UOp value = bench.graph.alu(row.op, std::span(src, static_cast<std::size_t>(arity)));
      // In the half types the last rounding may fall the other way.
      const double ulps = row.ulps > 0 && is_half(t) ? 1 : row.ulps + more_ulps(row, t);
      bench.output(fmt::format("{} {}", info(row.op).name, name_of(t)), value, i, count, ulps,
                   [=, this, dtype = value.dtype(), op = row.op](std::int64_t n) {
                     const auto at = static_cast<std::size_t>(n);
                     if (op == Op::MulAdd && rounds_twice(t)) {
                       const Bits factors{v[0][at], v[1][at]};
                       const Bits terms{eval(Op::Mul, t, t, factors), v[2][at]};
                       return eval(Op::Add, t, t, terms);
                     }
                     const Bits bits = is_where ? Bits{conditions[at], v[0][at], v[1][at]}
                                                : Bits{v[0][at], v[1][at], v[2][at]};
                     return eval(op, dtype, t,
                                 std::span(bits).first(static_cast<std::size_t>(arity)));
                   });
    }
    bench.is_tiny_at = [&](std::int64_t n) {
      return std::ranges::any_of(
          v, [&](const Bits& column) { return is_tiny(column[static_cast<std::size_t>(n)], t); });
    };
    bench.inputs_at = [&](std::int64_t n) {
      const auto at = static_cast<std::size_t>(n);
      return fmt::format(" of ({}, {}, {})", text_of(v[0][at], t), text_of(v[1][at], t),
                         text_of(v[2][at], t));
    };
    run(bench);
  }
}

TEST_P(OpsOnDevice, CastsBetweenAllDTypesRoundSaturateAndWrap) {
  for (DType from : all_dtypes()) cast_to_all(from, operands(from, 1, count)[0]);
}

TEST_P(OpsOnDevice, CastsOfAllNarrowNumbersRoundSaturateAndWrap) {
  for (DType from : all_dtypes()) {
    if (size_of(from) > 2 || from == DType::Bool) continue;
    Bits all;
    for (std::int64_t pattern = 0; pattern < std::int64_t{1} << (8 * size_of(from)); pattern++) {
      all.push_back(load_bits(&pattern, from));
    }
    cast_to_all(from, all);
  }
}

TEST_P(OpsOnDevice, CastsOfManyWideNumbersRoundSaturateAndWrap) {
  for (DType from : all_dtypes()) {
    if (size_of(from) > 2) cast_to_all(from, operands(from, 1, 1 << 16)[0]);
  }
}

// Patterns of float types that are not NaN survive in both directions.
TEST_P(OpsOnDevice, BitcastsKeepTheBits) {
  for (DType from : all_dtypes()) {
    Bench bench;
    const Bits v = operands(from, 1, count)[0];
    const UOp i = bench.graph.range(0, count, LoopKind::Parallel);
    const UOp x = bench.graph.load(bench.graph.place(bench.input(from, v), i));
    for (DType to : all_dtypes()) {
      const bool has_bool = from == DType::Bool || to == DType::Bool;
      if (to == from || has_bool || size_of(to) != size_of(from)) continue;
      bench.output(fmt::format("bitcast {} to {}", name_of(from), name_of(to)),
                   bench.graph.bitcast(x, to), i, count, 0, [=](std::int64_t n) {
                     std::uint64_t memory = 0;
                     store_bits(v[static_cast<std::size_t>(n)], from, &memory);
                     return load_bits(&memory, to);
                   });
    }
    run(bench);
  }
}

// Rows of numbers with a NaN in some, infinities in others.
TEST_P(OpsOnDevice, ReductionsCombineEveryElement) {
  constexpr std::int64_t rows = 24, columns = 37;
  for (DType t : all_dtypes()) {
    Bench bench;
    Bits v;
    const Bits any = operands(t, 1, rows * columns)[0];
    for (std::int64_t i = 0; i < rows * columns; i++) {
      // The first rows hold small whole numbers, of which sums and products are exact.
      const std::int64_t small = is_unsigned(t) ? (i * 7) % 3 : (i * 7) % 5 - 2;
      v.push_back(i < 8 * columns ? bits_of(small, t) : any[static_cast<std::size_t>(i)]);
    }
    const UOp i = bench.graph.range(0, rows, LoopKind::Parallel);
    // Products have a loop of their own: not every device can combine the lanes of one.
    const UOp loops[] = {bench.graph.range(1, columns, LoopKind::Reduce),
                         bench.graph.range(2, columns, LoopKind::Reduce)};
    const UOp input = bench.input(t, v);
    for (Op op : {Op::Max, Op::Min, Op::Add, Op::Mul}) {
      const UOp r = loops[op == Op::Mul];
      const UOp x = bench.graph.load(bench.graph.place(input, i * columns + r));
      // Half types add up in f32, which the scheduler writes into the kernel; sums of floats are
      // exact on the first rows only.
      const bool sums = op == Op::Add || op == Op::Mul;
      if (sums && (is_half(t) || t == DType::Bool)) continue;
      const UOp value = bench.graph.reduce(op, x, std::span(&r, 1));
      const std::int64_t checked = sums && is_float(t) ? 8 : rows;
      bench.output(
          fmt::format("reduce {} {}", info(op).name, name_of(t)), value, i, rows, 0,
          [=](std::int64_t n) {
            std::int64_t total = identity_of(op, t);
            for (std::int64_t k = 0; k < columns; k++) {
              const Bits pair{total, v[static_cast<std::size_t>(n * columns + k)]};
              total = eval(op, t, t, pair);
            }
            return total;
          },
          checked);
    }
    run(bench);
  }
}

// x[index] with indices on both sides of the range.
TEST_P(OpsOnDevice, IndexedLoadsRespectTheirGates) {
  constexpr std::int64_t size = 50;
  for (DType t : all_dtypes()) {
    Bench bench;
    const Bits v = operands(t, 1, size)[0];
    Bits where_from;
    for (std::int64_t i = 0; i < count; i++) where_from.push_back((i * 37) % (size + 6) - 3);
    const UOp i = bench.graph.range(0, count, LoopKind::Parallel);
    const UOp index = bench.graph.cast(
        bench.graph.load(bench.graph.place(bench.input(DType::Int32, where_from), i)),
        DType::Index);
    const UOp inside = less(bench.graph.index(-1), index) & less(index, size);
    const UOp x = bench.graph.load(bench.graph.place(bench.input(t, v), index, inside));
    bench.output(fmt::format("gather {}", name_of(t)), x, i, count, 0, [=](std::int64_t n) {
      const std::int64_t from = where_from[static_cast<std::size_t>(n)];
      return from < 0 || from >= size ? bits_of(std::int64_t{0}, t)
                                      : v[static_cast<std::size_t>(from)];
    });
    run(bench);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, OpsOnDevice,
                         testing::Values("INTERP", "CPU", "C", "OPENCL", "VULKAN", "WEBGPU", "CUDA",
                                         "PTX_INTERP", "INTERP_32", "CPU_32"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace croze::test
