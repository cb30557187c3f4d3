// cache.h -- what a model remembers: the keys and values of the tokens that it has read, by layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "croze/llm/model/config.h"
#include "croze/tensor/tensor.h"

namespace croze::llm {

// How elements are stored.  Q8_0: blocks of 32, or as many as divide a head, are integers from -127
// to 127 and a Float16 that scales them, 17/32 of Float16.  No element is off by more than 1/254 of
// the largest of its block, but for the rounding of the scale.
enum class CacheType : std::uint8_t { Float32, Float16, BFloat16, Q8_0 };

// "f32", "f16", "bf16", "q8_0"; none for another name.
std::optional<CacheType> cache_type_of(std::string_view name);

// Rows (capacity, heads, elements), written and read by place.
class CachedRows {
 public:
  CachedRows() = default;  // none
  CachedRows(const Shape& shape, CacheType type);

  bool defined() const { return stored_.defined(); }
  std::int64_t capacity() const { return stored_.size(0); }
  static std::int64_t bytes(const Shape& shape, CacheType type);

  // Rows (n, heads, elements) at n places, integers.
  void put(const Tensor& places, const Tensor& rows);
  // The first ones: (count, heads, elements), in the type that they are stored in or Float32.
  Tensor first(std::int64_t count) const;
  // Pages of so many rows, by their numbers: (numbers * page, heads, elements).
  Tensor pages(const Tensor& numbers, std::int64_t page) const;
  // Rows to other places, as they are stored.
  void copy(const Tensor& from, const Tensor& to);

 private:
  Tensor decoded(const Tensor& stored, const Tensor& scales) const;

  Tensor stored_;
  Tensor scales_;  // (capacity, heads, blocks), of Q8_0
};

struct KeyValueCache {
  struct Options {
    std::int64_t capacity = 0;  // tokens
    CacheType type = CacheType::Float16;
  };
  struct Layer {
    CachedRows keys, values;  // no values where they are a part of the keys
  };
  std::vector<Layer> layers;
  std::int64_t bytes = 0;

  // Throws Error if there is no memory for it, and for an encoder, which needs none.
  KeyValueCache(const Config& config, const Options& options);

  std::int64_t capacity() const { return layers.at(0).keys.capacity(); }
};

}  // namespace croze::llm
