// cache.cpp -- rows in memory that is taken as it is written, and their blocks of 8 bits.
#include "croze/llm/model/cache.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <utility>

#include "croze/base/checked.h"
#include "croze/base/error.h"
#include "croze/base/zero_pages.h"
#include "croze/run/buffers.h"
#include "croze/run/memory_limit.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"

namespace croze::llm {
namespace {

// Places that no token has reached take no memory.
Tensor unwritten_zeros(const Shape& shape, DType dtype) {
  const std::shared_ptr<void> pages =
      zero_pages(checked_mul(checked_product(shape), size_of(dtype)));
  return Tensor::from_blob(pages.get(), shape, dtype, pages);
}

DType stored_dtype(CacheType type) {
  switch (type) {
    case CacheType::Float32: return DType::Float32;
    case CacheType::Float16: return DType::Float16;
    case CacheType::BFloat16: return DType::BFloat16;
    case CacheType::Q8_0: return DType::Int8;
  }
  return DType::Float32;
}

// (capacity, heads, elements) to the shape of the scales.
Shape shape_of_scales(const Shape& shape) {
  const std::int64_t block = std::gcd<std::int64_t>(shape[2], 32);
  return {shape[0], shape[1], shape[2] / block};
}

Tensor page_rows(const Tensor& stored, const Tensor& numbers, std::int64_t page) {
  const Tensor paged = stored.reshape({-1, page, stored.size(1), stored.size(2)});
  return index_select(paged, 0, numbers).flatten(0, 1);
}

}  // namespace

std::optional<CacheType> cache_type_of(std::string_view name) {
  constexpr std::pair<std::string_view, CacheType> names[] = {{"f32", CacheType::Float32},
                                                              {"f16", CacheType::Float16},
                                                              {"bf16", CacheType::BFloat16},
                                                              {"q8_0", CacheType::Q8_0}};
  for (const auto& [known, type] : names) {
    if (known == name) return type;
  }
  return std::nullopt;
}

// ---- rows -------------------------------------------------------------------------------------

CachedRows::CachedRows(const Shape& shape, CacheType type)
    : stored_(unwritten_zeros(shape, stored_dtype(type))) {
  if (type == CacheType::Q8_0) scales_ = unwritten_zeros(shape_of_scales(shape), DType::Float16);
}

std::int64_t CachedRows::bytes(const Shape& shape, CacheType type) {
  const std::int64_t stored = checked_mul(checked_product(shape), size_of(stored_dtype(type)));
  if (type != CacheType::Q8_0) return stored;
  const std::int64_t scales = checked_product(shape_of_scales(shape));
  return checked_add(stored, checked_mul(scales, size_of(DType::Float16)));
}

void CachedRows::put(const Tensor& places, const Tensor& rows) {
  if (!scales_.defined()) {
    stored_.index_put_({places}, rows.cast(stored_.dtype()));
    return;
  }
  const Tensor blocks =
      rows.cast(DType::Float32).reshape({rows.size(0), rows.size(1), scales_.size(2), -1});
  const Tensor scales = blocks.abs().max({-1}, true) / 127;
  const Tensor integers = where(scales > 0, round(blocks / scales), 0);
  stored_.index_put_({places}, integers.cast(DType::Int8).flatten(2));
  scales_.index_put_({places}, scales.squeeze(-1).cast(DType::Float16));
}

Tensor CachedRows::decoded(const Tensor& stored, const Tensor& scales) const {
  const Shape blocks{stored.size(0), stored.size(1), scales.size(2), -1};
  const Tensor numbers = stored.cast(DType::Float32).reshape(blocks);
  return (numbers * scales.cast(DType::Float32).unsqueeze(-1)).flatten(2);
}

Tensor CachedRows::first(std::int64_t count) const {
  const Tensor stored = stored_.narrow(0, 0, count);
  return scales_.defined() ? decoded(stored, scales_.narrow(0, 0, count)) : stored;
}

Tensor CachedRows::pages(const Tensor& numbers, std::int64_t page) const {
  const Tensor stored = page_rows(stored_, numbers, page);
  return scales_.defined() ? decoded(stored, page_rows(scales_, numbers, page)) : stored;
}

void CachedRows::copy(const Tensor& from, const Tensor& to) {
  for (Tensor* rows : {&stored_, &scales_}) {
    if (rows->defined()) rows->index_put_({to}, index_select(*rows, 0, from));
  }
}

// ---- the cache --------------------------------------------------------------------------------

KeyValueCache::KeyValueCache(const Config& config, const Options& options) {
  check(config.is_causal, "{}: an encoder: it embeds texts and cannot go on with them",
        config.source);
  const Shape keys{options.capacity, config.kv_heads, config.key_width};
  const Shape values{options.capacity, config.kv_heads, config.value_width};
  const bool has_values = config.latent.width == 0;
  bytes = CachedRows::bytes(keys, options.type);
  if (has_values) bytes = checked_add(bytes, CachedRows::bytes(values, options.type));
  bytes = checked_mul(bytes, config.layers);
  // It may come to take all of that, and nobody would ask then.
  check_memory(bytes, memory_use().bytes, fmt::format("a cache of {} tokens", options.capacity));
  for (std::int64_t i = 0; i < config.layers; i++) {
    layers.push_back({.keys = CachedRows(keys, options.type),
                      .values = has_values ? CachedRows(values, options.type) : CachedRows()});
  }
}

}  // namespace croze::llm
