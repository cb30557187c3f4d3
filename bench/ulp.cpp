// ulp.cpp -- croze-bench ulp: how far elementary functions are from the truth.
//
// Float32: every one of the 2^32 patterns is computed by the kernels of the default device and
// compared with the C library in double, whose own error is some 2^-29 units in the last place of a
// Float32.  Float64: random numbers, compared with the C library in long double (64 bits of
// mantissa: its error is some 2^-11 ulp).
//
// An error is counted in units of the last place that the truth has as a number of the type.  Where
// the truth is smaller than every normal number, units are those of the least denormal, and the
// errors are kept apart.  NaN, infinities and zeros with their sign have to be what C99 says.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <memory>

#include "command_line/json.h"
#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/base/thread_pool.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/elementwise/special.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

struct Function {
  std::string name;
  Tensor (*compute)(const Tensor&, Location);
  double (*truth)(double);
  long double (*wide_truth)(long double);
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"exp2", exp2, std::exp2, std::exp2}, {"log2", log2, std::log2, std::log2},
      {"sin", sin, std::sin, std::sin},     {"cos", cos, std::cos, std::cos},
      {"sqrt", sqrt, std::sqrt, std::sqrt}, {"exp", exp, std::exp, std::exp},
      {"log", log, std::log, std::log},     {"tanh", tanh, std::tanh, std::tanh},
      {"erf", erf, std::erf, std::erf}};
  return all;
}

// What the truth of a T is computed in.
template <std::floating_point T>
using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

double truth_of(const Function& f, float x) { return f.truth(x); }
long double truth_of(const Function& f, double x) { return f.wide_truth(x); }

// ---- errors -----------------------------------------------------------------------------------

// Powers of two, which ldexp would take most of the time to make.
class Powers {
 public:
  Powers() {
    for (int e = -limit; e <= limit; e++) values_[index(e)] = std::ldexp(1.0L, e);
  }
  long double operator()(int exponent) const { return values_[index(exponent)]; }

 private:
  static constexpr int limit = 1200;
  static std::size_t index(int exponent) { return static_cast<std::size_t>(exponent + limit); }
  std::array<long double, 2 * limit + 1> values_;
};
const Powers power_of_two;

// The whole number e with 2^e <= x < 2^(e+1), for a normal number of double size.
template <std::floating_point W>
int exponent_of(W x) {
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
  const int e = static_cast<int>(bits >> 52) - 1023;
  return static_cast<W>(power_of_two(e)) > x ? e - 1 : e;  // if x was rounded up to a double
}

struct Worst {
  double ulps = 0, at = 0;

  void see(double error, double x) {
    if (error > ulps) *this = {error, x};
  }
};

struct Errors {
  Worst normal, denormal;  // by what the truth is
  std::int64_t wrong = 0;  // NaN, infinity, zero or sign
  double wrong_at = 0;     // one of them
  std::int64_t inputs = 0;

  void merge(const Errors& other) {
    normal.see(other.normal.ulps, other.normal.at);
    denormal.see(other.denormal.ulps, other.denormal.at);
    if (wrong == 0) wrong_at = other.wrong_at;
    wrong += other.wrong;
    inputs += other.inputs;
  }

  void see_wrong(double x) {
    wrong_at = x;
    wrong++;
  }

  template <std::floating_point T>
  void see(T x, T value, Wide<T> truth) {
    if (std::isnan(truth) || std::isnan(value)) {
      if (std::isnan(truth) != std::isnan(value)) see_wrong(x);
    } else if (std::isinf(truth) || truth == 0) {
      const bool same = value == truth && std::signbit(value) == std::signbit(truth);
      if (!same) see_wrong(x);
    } else if (value != 0 && std::signbit(value) != std::signbit(truth)) {
      see_wrong(x);
    } else {
      see_size(x, std::abs(value), std::abs(truth));
    }
  }

 private:
  // Infinity stands for the first power of two beyond the finite numbers, and all beyond it.
  template <std::floating_point T>
  void see_size(T x, T value, Wide<T> truth) {
    using Limits = std::numeric_limits<T>;
    using W = Wide<T>;
    const W beyond = static_cast<W>(power_of_two(Limits::max_exponent));
    const W error = std::abs(std::min<W>(value, beyond) - std::min(truth, beyond));
    const bool is_normal = truth >= Limits::min();
    const int exponent =
        is_normal ? exponent_of(std::min<W>(truth, Limits::max())) : Limits::min_exponent - 1;
    const W ulps = error * static_cast<W>(power_of_two(Limits::digits - 1 - exponent));
    (is_normal ? normal : denormal).see(static_cast<double>(ulps), static_cast<double>(x));
  }
};

// ---- one function -----------------------------------------------------------------------------

constexpr std::int64_t chunk = std::int64_t{1} << 22;  // inputs of one launch
constexpr std::int64_t piece = std::int64_t{1} << 14;  // compared by one task

// Number `i` of the inputs.  A Float32 is the pattern i; a Float64 is random, every second one
// with an exponent from which results are of moderate size.
struct Inputs {
  std::int64_t count = 0;
  std::int64_t step = 1;  // between patterns
  std::uint64_t seed = 0;

  void get(std::int64_t i, float& x) const {
    x = std::bit_cast<float>(static_cast<std::uint32_t>(i * step));
  }
  void get(std::int64_t i, double& x) const {
    // SplitMix64 (Steele, Lea and Flood, 2014).
    std::uint64_t z = seed + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    if (i % 2) {
      const std::uint64_t exponent = 1023 - 14 + (z >> 52) % 24;
      z = (z & 0x800fffffffffffffu) | exponent << 52;
    }
    x = std::bit_cast<double>(z);
  }
};

template <std::floating_point T>
Errors measure_function(const Function& f, const Inputs& inputs, ThreadPool& pool) {
  Errors total;
  ProgressLine progress;
  for (std::int64_t begin = 0; begin < inputs.count; begin += chunk) {
    progress.update(
        fmt::format("{} {}: {:.0f} %", name_of(dtype_of<T>()), f.name,
                    100.0 * static_cast<double>(begin) / static_cast<double>(inputs.count)));
    const std::int64_t size = std::min(chunk, inputs.count - begin);
    const std::int64_t pieces = (size + piece - 1) / piece;
    std::vector<T> x(static_cast<std::size_t>(size));
    auto range = [&](std::int64_t p) {
      return std::pair(p * piece, std::min(size, (p + 1) * piece));
    };
    pool.run(pieces, [&](std::int64_t p) {
      const auto [from, to] = range(p);
      for (std::int64_t i = from; i < to; i++)
        inputs.get(begin + i, x[static_cast<std::size_t>(i)]);
    });
    const std::vector<T> y = f.compute(Tensor::from_data(x, {size}), {}).template to_vector<T>();
    std::vector<Errors> parts(static_cast<std::size_t>(pieces));
    pool.run(pieces, [&](std::int64_t p) {
      const auto [from, to] = range(p);
      Errors errors{.inputs = to - from};
      for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); i++) {
        errors.see(x[i], y[i], truth_of(f, x[i]));
      }
      parts[static_cast<std::size_t>(p)] = errors;
    });
    for (const Errors& part : parts) total.merge(part);
  }
  return total;
}

// ---- the suite --------------------------------------------------------------------------------

struct UlpOptions {
  bool as_json = false;
  std::int64_t step = 1;
  std::int64_t random = 1'000'000'000;
  std::uint64_t seed = 1;
  std::vector<std::string> only;
};

Json row_of(const Function& f, const Errors& e, double seconds) {
  return {{"function", f.name},
          {"inputs", e.inputs},
          {"max_ulp", e.normal.ulps},
          {"at", fmt::format("{:a}", e.normal.at)},
          {"max_ulp_of_denormal_results", e.denormal.ulps},
          {"wrong_special_values", e.wrong},
          {"wrong_at", e.wrong ? Json(fmt::format("{:a}", e.wrong_at)) : Json()},
          {"seconds", seconds}};
}

void print_row(std::string_view dtype, const Json& row) {
  fmt::print("{:<8} {:<8} {:>11}  {:>7.4f} ulp at {:<24} {:>7.4f} denormal, {} wrong, {:.0f} s\n",
             dtype, row["function"].get<std::string>(), row["inputs"].get<std::int64_t>(),
             row["max_ulp"].get<double>(), row["at"].get<std::string>(),
             row["max_ulp_of_denormal_results"].get<double>(),
             row["wrong_special_values"].get<std::int64_t>(), row["seconds"].get<double>());
}

template <std::floating_point T>
Json measure_all(const UlpOptions& options, const Inputs& inputs) {
  ThreadPool pool;
  Json rows = Json::array();
  for (const Function& f : functions()) {
    const bool wanted =
        options.only.empty() || std::ranges::find(options.only, f.name) != options.only.end();
    if (!wanted || inputs.count == 0) continue;
    const Stopwatch watch;
    const Errors errors = measure_function<T>(f, inputs, pool);
    rows.push_back(row_of(f, errors, watch.seconds()));
    if (!options.as_json) print_row(name_of(dtype_of<T>()), rows.elements().back());
  }
  return rows;
}

void run_ulp(const UlpOptions& options) {
  constexpr std::int64_t patterns = std::int64_t{1} << 32;
  const Json narrow = measure_all<float>(
      options, {.count = (patterns + options.step - 1) / options.step, .step = options.step});
  const Json wide = measure_all<double>(options, {.count = options.random, .seed = options.seed});
  if (!options.as_json) return;
  fmt::print("{}\n", Json{{"suite", "ulp"},
                          {"machine", machine()},
                          {"step", options.step},
                          {"seed", options.seed},
                          {"truth", {{"float32", "libm double"}, {"float64", "libm long double"}}},
                          {"float32", narrow},
                          {"float64", wide}}
                         .dump());
}

}  // namespace

void add_ulp(const Command& program) {
  auto options = std::make_shared<UlpOptions>();
  const Command command =
      program.subcommand("ulp", "Errors of elementary functions, over all Float32 numbers");
  command.flag("--json", options->as_json, "One line of JSON");
  command.option("--step", options->step, "Take every n-th pattern of Float32 only").positive();
  command.option("--random", options->random, "How many random Float64 numbers, per function")
      .not_negative();
  command.option("--seed", options->seed, "Of the random numbers");
  command.option("--function", options->only, "These functions only");
  command.action([options] { run_ulp(*options); });
}

}  // namespace croze::bench
