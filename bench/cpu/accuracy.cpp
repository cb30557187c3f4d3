// accuracy.cpp -- croze-bench accuracy: how far long sums are from the truth, beside PyTorch's.
//
// The truth is the same sum in Float64, one term after the other.  An error is that of sampled
// results together: the root of the sum of squared differences over that of squared truths.  Errors
// that rounding an exact result may have count as equal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cpu/case.h"
#include "cpu/peers/peer.h"
#include "croze/base/options.h"
#include "croze/base/thread_pool.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/network/conv.h"
#include "croze/tensor/reduce/reduce.h"
#include "measure.h"
#include "suites.h"

namespace croze::bench {
namespace {

using Numbers = std::vector<std::vector<float>>;  // of each input
// A case whose sums have so many terms, and the result at a place.
struct Sum {
  Case computed;
  std::string what;
  std::int64_t length = 0;
  std::function<double(const Numbers& in, std::int64_t place)> truth;
};

constexpr double least_error = 0x1p-24;  // the most that rounding an exact result costs
constexpr double most_geometric_mean = 1, most_times_pytorch = 4;
const char* const reference = "PyTorch";

double at(const std::vector<float>& x, std::int64_t i) {
  return double{x[static_cast<std::size_t>(i)]};
}

// The sum of `count` terms.
template <typename F>
double summed(std::int64_t count, F term) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; i++) sum += term(i);
  return sum;
}

Sum sum_of(std::string what, std::int64_t length, std::string operation, Input input,
           Out (*compute)(In), std::function<double(const Numbers&, std::int64_t)> truth) {
  return {memory_case(std::move(operation), {std::move(input)}, compute), std::move(what), length,
          std::move(truth)};
}

// ---- sums ---------------------------------------------------------------------------------------

Input positive(const Shape& shape) { return {shape, DType::Float32, 1}; }

void add_vectors(std::vector<Sum>& sums) {
  for (std::int64_t n : {1 << 8, 1 << 12, 1 << 16, 1 << 20, 1 << 24}) {
    sums.push_back(sum_of(
        "sum", n, "sum of all", positive({n}), [](In in) -> Out { return {sum(in[0])}; },
        [n](const Numbers& in, std::int64_t) {
          return summed(n, [&](std::int64_t i) { return at(in[0], i); });
        }));
    const auto squares = [n](const Numbers& in) {
      return summed(n, [&](std::int64_t i) { return at(in[0], i) * at(in[0], i); });
    };
    sums.push_back(sum_of(
        "mean of squares", n, "mean of squares", {{n}},
        [](In in) -> Out { return {mean(in[0] * in[0])}; },
        [=](const Numbers& in, std::int64_t) { return squares(in) / static_cast<double>(n); }));
    sums.push_back(sum_of(
        "norm", n, "norm", {{n}}, [](In in) -> Out { return {norm(in[0])}; },
        [=](const Numbers& in, std::int64_t) { return std::sqrt(squares(in)); }));
  }
}

void add_matrices(std::vector<Sum>& sums) {
  constexpr std::int64_t many = 64;
  for (std::int64_t n : {1 << 8, 1 << 12, 1 << 16, 1 << 18}) {
    sums.push_back(sum_of(
        "sum of rows", n, "sum of rows", positive({many, n}),
        [](In in) -> Out { return {sum(in[0], 1)}; },
        [n](const Numbers& in, std::int64_t row) {
          return summed(n, [&](std::int64_t i) { return at(in[0], row * n + i); });
        }));
    sums.push_back(sum_of(
        "sum of columns", n, "sum of columns", positive({n, many}),
        [](In in) -> Out { return {sum(in[0], 0)}; },
        [n](const Numbers& in, std::int64_t column) {
          return summed(n, [&](std::int64_t i) { return at(in[0], i * many + column); });
        }));
    sums.push_back(sum_of(
        "variance of rows", n, "var of rows", positive({many, n}),
        [](In in) -> Out { return {var(in[0], 1)}; },
        [n](const Numbers& in, std::int64_t row) {
          const auto x = [&](std::int64_t i) { return at(in[0], row * n + i); };
          const double mean = summed(n, x) / static_cast<double>(n);
          const auto square = [&](std::int64_t i) { return (x(i) - mean) * (x(i) - mean); };
          return summed(n, square) / static_cast<double>(n - 1);
        }));
  }
}

// ---- products -----------------------------------------------------------------------------------

Sum product(const char* what, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  Sum s{.what = what, .length = inner};
  s.computed = memory_case("matmul", {{{rows, inner}}, {{inner, columns}}},
                           [](In in) -> Out { return {matmul(in[0], in[1])}; });
  s.computed.options = {{"transpose_a", false}, {"transpose_b", false}};
  s.truth = [=](const Numbers& in, std::int64_t place) {
    const std::int64_t row = place / columns, column = place % columns;
    return summed(inner, [&](std::int64_t k) {
      return at(in[0], row * inner + k) * at(in[1], k * columns + column);
    });
  };
  return s;
}

// 3x3 over an image that is just as large: one result for each kernel and image.
Sum convolution(std::int64_t channels) {
  constexpr std::int64_t batch = 8, kernels = 64, area = 9;
  const std::int64_t length = channels * area;
  Sum s{.what = "convolution 3x3", .length = length};
  s.computed = memory_case("conv", {{{batch, channels, 3, 3}}, {{kernels, channels, 3, 3}}},
                           [](In in) -> Out { return {conv2d(in[0], in[1])}; });
  s.computed.options =
      Json::parse(R"({"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1})");
  s.truth = [=](const Numbers& in, std::int64_t place) {
    const std::int64_t image = place / kernels, kernel = place % kernels;
    return summed(length, [&](std::int64_t k) {
      return at(in[0], image * length + k) * at(in[1], kernel * length + k);
    });
  };
  return s;
}

std::vector<Sum> all_sums() {
  std::vector<Sum> sums;
  add_vectors(sums);
  add_matrices(sums);
  for (std::int64_t n : {64, 256, 1024, 4096}) sums.push_back(product("square product", n, n, n));
  for (std::int64_t n : {1 << 12, 1 << 16, 1 << 18})
    sums.push_back(product("thin product", 64, n, 64));
  for (std::int64_t channels : {16, 128, 1024}) sums.push_back(convolution(channels));
  std::ranges::stable_sort(sums, {}, &Sum::what);
  return sums;
}

// ---- the run ------------------------------------------------------------------------------------

std::vector<double> truths(const Sum& s, std::int64_t count) {
  Numbers numbers;
  for (std::size_t i = 0; i < s.computed.inputs.size(); i++) {
    numbers.push_back(input_numbers(s.computed.inputs[i], static_cast<unsigned>(i + 1)));
  }
  std::vector<double> all;
  for (std::int64_t place : signature_places(count)) all.push_back(s.truth(numbers, place));
  return all;
}

double error_of(const std::vector<double>& computed, const std::vector<double>& truth) {
  double differences = 0, squares = 0;
  for (std::size_t i = 0; i < truth.size(); i++) {
    differences += (computed[i] - truth[i]) * (computed[i] - truth[i]);
    squares += truth[i] * truth[i];
  }
  return std::sqrt(differences / squares);
}

Json measured(const Sum& s, const std::vector<std::unique_ptr<Peer>>& peers) {
  const std::vector<Tensor> inputs = input_tensors(s.computed);
  const Signature ours = signature_of(s.computed.prepare(inputs).results[0]);
  const std::vector<double> truth = truths(s, ours.count);
  Json row{{"name", s.what}, {"length", s.length}, {"error", error_of(ours.some, truth)}};
  for (const auto& peer : peers) {
    for (const Contestant& c : peer->prepare(s.computed)) {
      if (c.name != reference) continue;
      row["pytorch_error"] = error_of(c.results[0].some, truth);
      row["times_pytorch"] = std::max(row["error"].get<double>(), least_error) /
                             std::max(row["pytorch_error"].get<double>(), least_error);
    }
  }
  return row;
}

Json limit_rows(const Json& sums) {
  Json rows = Json::array();
  double logarithms = 0;
  int count = 0;
  for (const Json& s : sums.elements()) {
    if (!s.contains("times_pytorch")) continue;
    const auto ratio = s["times_pytorch"].get<double>();
    logarithms += std::log(ratio);
    count++;
    rows.push_back(limited(
        fmt::format("{} of {}", s["name"].get<std::string>(), s["length"].get<std::int64_t>()),
        ratio, "x PyTorch", most_times_pytorch, Limit::Most));
  }
  if (count > 0) {
    rows.push_back(limited("geometric mean", std::exp(logarithms / count), "x PyTorch",
                           most_geometric_mean, Limit::Most));
  }
  return rows;
}

void print_markdown(const Json& sums) {
  fmt::print("| sum | terms | croze | PyTorch |\n|---|---|---|---|\n");
  for (const Json& s : sums.elements()) {
    fmt::print("| {} | {} | {:.1e} | {} |\n", s["name"].get<std::string>(),
               s["length"].get<std::int64_t>(), s["error"].get<double>(),
               s.contains("pytorch_error") ? fmt::format("{:.1e}", s["pytorch_error"].get<double>())
                                           : "not run");
  }
}

struct AccuracyOptions {
  PeerOptions peers{.threads = 0};
  bool with_peers = false, as_json = false, as_markdown = false;
};

void run_accuracy(AccuracyOptions options) {
  const Options::Scope scope{{Option::Device, "CPU"}};
  options.peers.threads = default_thread_count();
  std::vector<std::unique_ptr<Peer>> peers;
  if (options.with_peers) peers = make_peers(options.peers);
  Json sums = Json::array();
  for (const Sum& s : all_sums()) sums.push_back(measured(s, peers));
  const Json rows = limit_rows(sums);
  if (!options.as_json) print_markdown(sums);
  if (!options.as_json && !options.as_markdown) print_limited(rows);
  finish_suite("accuracy", rows, options.as_json,
               {{"peers", found_in(peers)}, {"skipped", missing_in(peers)}, {"sums", sums}});
}

}  // namespace

void add_accuracy(const Command& program) {
  auto options = std::make_shared<AccuracyOptions>();
  const Command command =
      program.subcommand("accuracy", "Errors of long sums and products, beside PyTorch's");
  command.flag("--peers", options->with_peers, "Compare with PyTorch");
  command.option("--python", options->peers.python, "Command of a Python that has PyTorch")
      .shows_default();
  command.flag("--markdown", options->as_markdown, "Only the table, as docs/numbers.md has it");
  command.flag("--json", options->as_json, "One line of JSON");
  command.action([options] { run_accuracy(*options); });
}

}  // namespace croze::bench
