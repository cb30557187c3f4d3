// latent.h -- latent attention, as DeepSeek V2 and V3 have it.
//
// The keys and values of all heads are products of matrices with one short vector of a token, the
// latent, so that is all that has to be remembered.  The matrices need not be applied to what is
// remembered: a query q meets a key K c as K^T q meets the latent c, and values V c, mixed, are V
// of the mixed latents.  So attention is that of many queries to one head of keys, which is the
// latent behind a part that turns with the place, and the values are a part of the keys.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "croze/llm/model/layers.h"

namespace croze::llm {

struct Latent {
  std::int64_t heads = 0, turning = 0;  // elements of a head that turn
  std::optional<Matrix> query_down;     // queries are products of a short vector as well
  Norm query_norm;
  Matrix query;           // (heads * (plain + turning), width or that of the short vector)
  Matrix down;            // (latent + turning, width)
  Norm norm;              // of the latent
  GgufTensor key, value;  // (heads, latent, plain), (heads, elements, latent)

  // Queries (n, heads, turning + latent) and keys (n, 1, turning + latent); `turned` turns heads of
  // (n, heads, turning).
  struct Projected {
    Tensor queries, keys;
  };
  Projected project(const Tensor& x, const std::function<Tensor(const Tensor&)>& turned) const;
  // Mixed latents (n, heads, latent) to the values that they stand for: (n, heads, elements).
  Tensor values(const Tensor& mixed) const;
};

}  // namespace croze::llm
