// fashion_mnist.cpp -- loading, checking and batching of Fashion-MNIST.
#include "fashion_mnist.h"

#include <croze/base/options.h>
#include <croze/io/idx.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

namespace croze {
namespace {

constexpr std::array<std::string_view, FashionMnist::classes> class_names = {
    "T-shirt", "trouser", "pullover", "dress", "coat",
    "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::uint8_t> read_bytes(const std::string& stem, const Shape& shape) {
  const std::string path = exists(stem + ".gz") ? stem + ".gz" : stem;
  if (!exists(path)) {
    ErrorDetails details;
    details.hint = "install Debian's package dataset-fashion-mnist, or set CROZE_DATA_DIR";
    fail(std::move(details), "there is no {}.gz", stem);
  }
  const IdxArray array = read_idx(path, std::int64_t{1} << 28);
  check(array.dtype == DType::UInt8 && array.shape == shape,
        "{} holds {} of shape {}, where {} of shape {} was expected", path, name_of(array.dtype),
        to_text(array.shape), name_of(DType::UInt8), to_text(shape));
  std::vector<std::uint8_t> bytes(array.bytes.size());
  std::memcpy(bytes.data(), array.bytes.data(), bytes.size());
  return bytes;
}

ImageSet read_set(const std::string& prefix, std::int64_t count) {
  ImageSet set{.height = 28, .width = 28, .pixels = {}, .labels = {}};
  set.pixels = read_bytes(prefix + "-images-idx3-ubyte", {count, set.height, set.width});
  set.labels = read_bytes(prefix + "-labels-idx1-ubyte", {count});
  for (std::uint8_t label : set.labels) {
    check(label < FashionMnist::classes, "{}-labels-idx1-ubyte: there is no class {}", prefix,
          label);
  }
  return set;
}

__extension__ using Wide = unsigned __int128;

// Numbers of one seed that are the same with every standard library (splitmix64).
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t below(std::uint64_t limit) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return static_cast<std::uint64_t>((static_cast<Wide>(z) * limit) >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::span<const std::uint8_t> ImageSet::image(std::int64_t number) const {
  check(number >= 0 && number < size(), "there is no image {} among {}", number, size());
  const std::int64_t bytes = height * width;
  return std::span(pixels).subspan(static_cast<std::size_t>(number * bytes),
                                   static_cast<std::size_t>(bytes));
}

Batch ImageSet::batch(std::span<const std::int64_t> numbers) const {
  const auto count = static_cast<std::int64_t>(numbers.size());
  std::vector<std::uint8_t> images, classes;
  images.reserve(static_cast<std::size_t>(count * height * width));
  for (std::int64_t number : numbers) {
    const std::span<const std::uint8_t> one = image(number);
    images.insert(images.end(), one.begin(), one.end());
    classes.push_back(labels[static_cast<std::size_t>(number)]);
  }
  return {Tensor::from_data(images, {count, 1, height, width}),
          Tensor::from_data(classes, {count})};
}

Batch ImageSet::batch(std::int64_t first, std::int64_t count) const {
  check(count >= 0, "a batch of {} images", count);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return batch(numbers);
}

std::string_view FashionMnist::class_name(std::int64_t label) {
  check(label >= 0 && label < classes, "there is no class {}", label);
  return class_names[static_cast<std::size_t>(label)];
}

FashionMnist fashion_mnist(const std::string& folder) {
  const std::string place =
      folder.empty() ? Options::text(Option::DataDir) + "/fashion-mnist" : folder;
  return {.train = read_set(place + "/train", 60'000), .test = read_set(place + "/t10k", 10'000)};
}

std::vector<std::vector<std::int64_t>> shuffled_batches(std::int64_t count, std::int64_t batch_size,
                                                        std::uint64_t seed) {
  check(batch_size > 0, "batches of {} images", batch_size);
  std::vector<std::int64_t> order(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(order.begin(), order.end(), 0);
  Numbers random(seed);
  for (std::size_t left = order.size(); left > 1; left--) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  std::vector<std::vector<std::int64_t>> batches;
  for (auto at = order.begin(); order.end() - at >= batch_size; at += batch_size) {
    batches.emplace_back(at, at + batch_size);
  }
  return batches;
}

}  // namespace croze
