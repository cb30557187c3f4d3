// case.cpp -- inputs by formula, captured steps, and signatures of results.
#include "cpu/case.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "croze/base/error.h"
#include "croze/jit/capture.h"

namespace croze::bench {
namespace {

// A number for each place: multiplications and shifts that spread every bit of it.
std::uint32_t hashed(std::uint32_t place, std::uint32_t seed) {
  std::uint32_t h = place * 0x9E3779B1u + seed * 0x85EBCA77u;
  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  h = (h ^ (h >> 12)) * 0x297A2D39u;
  return h ^ (h >> 15);
}

constexpr std::int64_t signature_elements = 64;

constexpr std::int64_t elements_out_of_cache = 1 << 24;
constexpr double least_of_copying = 0.9;

}  // namespace

std::string text_of_sizes(const Shape& sizes) {
  std::string text;
  for (std::int64_t s : sizes) text += fmt::format("{}{}", text.empty() ? "" : "x", s);
  return text;
}

Case memory_case(std::string operation, std::vector<Input> inputs, Compute compute) {
  Case c{.name = operation + " " + text_of_sizes(inputs[0].shape),
         .operation = std::move(operation),
         .inputs = std::move(inputs)};
  if (c.inputs[0].shape.numel() >= elements_out_of_cache) c.least_of_peak = least_of_copying;
  c.prepare = steps_of(std::move(compute));
  return c;
}

std::vector<float> input_numbers(const Input& input, unsigned seed) {
  std::vector<float> numbers(static_cast<std::size_t>(input.shape.numel()));
  const bool is_float = input.dtype == DType::Float32 || input.dtype == DType::BFloat16;
  const auto below = static_cast<std::uint32_t>(input.below);
  for (std::size_t i = 0; i < numbers.size(); i++) {
    const std::uint32_t h = hashed(static_cast<std::uint32_t>(i), seed);
    if (is_float) {
      numbers[i] = static_cast<float>(h >> 8) * (below ? 0x1p-24f : 0x1p-23f) - (below ? 0 : 1);
    } else {
      numbers[i] = below ? static_cast<float>(h % below) : static_cast<float>(h % 255) - 127;
    }
  }
  return numbers;
}

Tensor input_tensor(const Input& input, unsigned seed) {
  return Tensor::from_data(input_numbers(input, seed), input.shape, {.dtype = input.dtype})
      .realize();
}

std::vector<Tensor> input_tensors(const Case& c) {
  std::vector<Tensor> inputs;
  for (unsigned i = 0; i < c.inputs.size(); i++) inputs.push_back(input_tensor(c.inputs[i], i + 1));
  return inputs;
}

std::function<Runs(const std::vector<Tensor>&)> steps_of(Compute compute) {
  return [compute = std::move(compute)](const std::vector<Tensor>& inputs) {
    std::vector<Tensor> kept;
    for (const Tensor& result : compute(inputs)) {
      kept.push_back(Tensor::zeros(result.shape(), result.dtype()).realize());
    }
    const auto store = [compute, inputs, kept]() mutable {
      const std::vector<Tensor> results = compute(inputs);
      for (std::size_t i = 0; i < kept.size(); i++) kept[i].assign(results[i]);
    };
    const auto make = [compute, inputs] { return compute(inputs); };
    auto keeps = std::make_shared<decltype(capture(store))>(capture(store));
    auto makes = std::make_shared<decltype(capture(make))>(capture(make));
    (*keeps)();
    const std::int64_t kernels = keeps->step().summary().kernels;
    return Runs{[keeps] { (*keeps)(); }, [makes] { (*makes)(); }, std::move(kept), kernels};
  };
}

std::vector<std::int64_t> signature_places(std::int64_t count) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < signature_elements; i++) {
    places.push_back(i * count / signature_elements);
  }
  return places;
}

Signature signature_of(const Tensor& result) {
  const auto values = result.to_vector<double>();
  Signature s{.count = static_cast<std::int64_t>(values.size())};
  for (double v : values) s.norm += v * v;
  s.norm = std::sqrt(s.norm);
  for (std::int64_t place : signature_places(s.count)) {
    s.some.push_back(values[static_cast<std::size_t>(place)]);
  }
  return s;
}

void check_same(const Case& c, const std::vector<Signature>& ours, const std::string& peer,
                const std::vector<Signature>& theirs) {
  check(ours.size() == theirs.size(), "{}: {} has {} results, not {}", c.name, peer, theirs.size(),
        ours.size());
  for (std::size_t r = 0; r < (c.has_places ? 1 : ours.size()); r++) {
    const Signature &a = ours[r], &b = theirs[r];
    check(a.count == b.count, "{}: result {} of {} has {} elements, not {}", c.name, r, peer,
          b.count, a.count);
    const double most = c.tolerance * a.norm / std::sqrt(static_cast<double>(a.count));
    check(std::abs(a.norm - b.norm) <= c.tolerance * a.norm,
          "{}: the norm of result {} of {} is {}, not {}", c.name, r, peer, b.norm, a.norm);
    for (std::size_t i = 0; i < a.some.size(); i++) {
      check(std::abs(a.some[i] - b.some[i]) <= most, "{}: result {} of {} has {}, not {}", c.name,
            r, peer, b.some[i], a.some[i]);
    }
  }
}

}  // namespace croze::bench
