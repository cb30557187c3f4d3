// chain.cpp -- reading chains, and building them with the functions that users call.
#include "index/chain.h"

#include <fstream>
#include <sstream>

namespace croze::test {
namespace {

using Numbers = std::vector<std::int64_t>;

std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

Numbers numbers_in(std::istream& in) {
  Numbers numbers;
  for (std::int64_t n = 0; in >> n;) numbers.push_back(n);
  return numbers;
}

Numbers numbers_in(const std::string& text) {
  std::istringstream in(text);
  return numbers_in(in);
}

Shape shape_of(const Numbers& numbers) { return Shape(std::span<const std::int64_t>(numbers)); }

Counts counts_in(const std::string& text) {
  const Numbers numbers = numbers_in(text);
  Counts counts{-1, -1, -1};
  for (std::size_t i = 0; i < counts.size() && i < numbers.size(); i++) {
    counts[i] = static_cast<int>(numbers[i]);
  }
  return counts;
}

Tensor counting(const Shape& shape, DType dtype, std::int64_t below) {
  std::vector<float> numbers(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < numbers.size(); i++) {
    numbers[i] = static_cast<float>(static_cast<std::int64_t>(i) * 7 % below);
  }
  return Tensor::from_data(numbers, shape).cast(dtype).realize();
}

Shape with_size(Shape shape, std::int64_t axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

// {before, after} of each axis from the first on.
Tensor pad_axes(const Tensor& x, const Numbers& amounts) {
  Shape reversed;
  for (int axis = x.ndim() - 1; axis >= 0; axis--) {
    reversed.push_back(amounts[static_cast<std::size_t>(2 * axis)]);
    reversed.push_back(amounts[static_cast<std::size_t>(2 * axis + 1)]);
  }
  return pad(x, reversed);
}

Tensor shrink_axes(const Tensor& x, const Numbers& bounds) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
    pairs.emplace_back(bounds[i], bounds[i + 1]);
  }
  return shrink(x, pairs);
}

// stride - 1 zeros between neighbours.
Tensor dilate(const Tensor& x, std::int64_t axis, std::int64_t stride) {
  const std::int64_t size = x.shape()[axis];
  Tensor wide = unsqueeze(x, axis + 1);
  Numbers amounts(static_cast<std::size_t>(2 * wide.ndim()), 0);
  amounts[static_cast<std::size_t>(2 * axis + 3)] = stride - 1;
  wide = reshape(pad_axes(wide, amounts), with_size(x.shape(), axis, size * stride));
  return narrow(wide, axis, 0, (size - 1) * stride + 1);
}

Tensor roll(const Tensor& x, std::int64_t axis, std::int64_t shift) {
  const std::int64_t size = x.shape()[axis];
  Shape times;
  for (int i = 0; i < x.ndim(); i++) times.push_back(i == axis ? 2 : 1);
  return narrow(repeat(x, times), axis, size - ((shift % size) + size) % size, size);
}

Tensor interleave(const Tensor& x, std::int64_t axis, std::int64_t times) {
  Shape wide = x.shape(), result = x.shape();
  wide.insert(axis + 1, times);
  result[axis] *= times;
  return reshape(expand(unsqueeze(x, axis + 1), wide), result);
}

Tensor take(const Tensor& x, std::int64_t axis, std::int64_t size) {
  const Tensor positions = counting({size}, DType::Int32, x.shape()[axis]);
  std::vector<TensorIndex> index;
  for (std::int64_t i = 0; i < axis; i++) index.push_back(Slice{});
  index.push_back(positions);
  return x.index(index);
}

Tensor apply(const Tensor& x, const std::string& name, const Numbers& n) {
  if (name == "reshape") return reshape(x, shape_of(n));
  if (name == "permute") return permute(x, shape_of(n));
  if (name == "expand") return expand(x, shape_of(n));
  if (name == "flip") return flip(x, Axes(std::span<const std::int64_t>(n)));
  if (name == "pad") return pad_axes(x, n);
  if (name == "shrink") return shrink_axes(x, n);
  if (name == "slice") return slice(x, n.at(0), Slice{n.at(1), n.at(2), n.at(3)});
  if (name == "window") return unfold(x, n.at(0), n.at(1), n.at(2), n.at(3));
  if (name == "dilate") return dilate(x, n.at(0), n.at(1));
  if (name == "roll") return roll(x, n.at(0), n.at(1));
  if (name == "repeat") return repeat(x, shape_of(n));
  if (name == "interleave") return interleave(x, n.at(0), n.at(1));
  if (name == "tril") return tril(x, n.at(0));
  if (name == "triu") return triu(x, n.at(0));
  if (name == "take") return take(x, n.at(0), n.at(1));
  if (name == "sum") return x.sum(Axes(std::span<const std::int64_t>(n)));
  if (name == "cat") {
    const Shape other = with_size(x.shape(), n.at(0), n.at(1));
    return cat({x, counting(other, x.dtype(), 31)}, n.at(0));
  }
  if (name == "add") {
    const std::int64_t half = x.shape()[0] / 2;
    return narrow(x, 0, 0, half) + narrow(x, 0, half, half);
  }
  fail({}, "there is no step '{}'", name);
}

}  // namespace

void PrintTo(const Chain& chain, std::ostream* out) { *out << chain.name; }

std::vector<Chain> read_chains(const std::string& path) {
  std::ifstream file(path);
  check(file.good(), {}, "{} cannot be read", path);
  std::vector<Chain> chains;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = split_text(line, ':');
    check(parts.size() >= 2, {}, "'{}' is no chain", line);
    Chain chain;
    chain.name = parts[0].substr(0, parts[0].find(' '));
    chain.steps = split_text(parts[1], ';');
    chain.shape = shape_of(numbers_in(chain.steps.front()));
    chain.steps.erase(chain.steps.begin());
    chain.tinygrad = counts_in(parts.size() > 2 ? parts[2] : "");
    chain.croze = counts_in(parts.size() > 3 ? parts[3] : "");
    chains.push_back(std::move(chain));
  }
  return chains;
}

Tensor build(const Chain& chain) {
  Tensor x = counting(chain.shape, DType::Float32, 97);
  for (const std::string& step : chain.steps) {
    std::istringstream in(step);
    std::string name;
    if (in >> name) x = apply(x, name, numbers_in(in));
  }
  return x.contiguous();
}

}  // namespace croze::test
