#include "croze/llm/model/latent.h"

#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"

namespace croze::llm {
namespace {

// Each head by a matrix of its own: (n, heads, in) and (heads, in, out) to (n, heads, out).
Tensor by_head(const Tensor& x, const Tensor& matrices) {
  return matmul(x.transpose(0, 1), matrices).transpose(0, 1);
}

}  // namespace

Latent::Projected Latent::project(const Tensor& x,
                                  const std::function<Tensor(const Tensor&)>& turned) const {
  const std::int64_t n = x.size(0), plain = key.shape[2], latent = key.shape[1];
  const Tensor q = query(query_down ? query_norm((*query_down)(x)) : x).reshape({n, heads, -1});
  const Tensor k = down(x).unsqueeze(1);
  // (n, heads, plain) by (heads, latent, plain): to be met by latents.
  const Tensor for_latents = by_head(q.narrow(2, 0, plain), key.decoded().transpose(1, 2));
  return {.queries = cat({turned(q.narrow(2, plain, turning)), for_latents}, 2),
          .keys = cat({turned(k.narrow(2, latent, turning)), norm(k.narrow(2, 0, latent))}, 2)};
}

Tensor Latent::values(const Tensor& mixed) const {
  return by_head(mixed, value.decoded().transpose(1, 2));
}

}  // namespace croze::llm
