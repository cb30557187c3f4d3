// attention.cpp -- attention with and without a causal mask, forward and backward.
#include <fmt/format.h>

#include "cpu/case.h"
#include "croze/tensor/gradient.h"
#include "croze/tensor/network/functional.h"

namespace croze::bench {

// Forward there are two products of heads x length x length x width, backward four more; half of
// each behind a causal mask.
Case attention_case(const Input& input, bool is_causal, bool is_backward) {
  const std::int64_t heads = input.shape[1], length = input.shape[2], width = input.shape[3];
  Case c{.name = fmt::format("attention {}{}{}", length, is_causal ? " causal" : "",
                             is_backward ? " and gradients" : ""),
         .operation = is_backward ? "attention_and_gradients" : "attention",
         .options = {{"causal", is_causal}},
         .inputs = {input, input, input}};
  if (is_backward) c.inputs.push_back(input);  // the gradient of a loss by the result
  const double product = 2.0 * static_cast<double>(heads * length * length * width);
  c.work = product * (is_backward ? 6 : 2) * (is_causal ? 0.5 : 1);
  c.prepare = steps_of([=](In in) -> Out {
    const Tensor out = scaled_dot_product_attention(in[0], in[1], in[2], {.causal = is_causal});
    if (!is_backward) return {out};
    Out all = vjp({out}, {in[3]}, {in[0], in[1], in[2]});
    all.insert(all.begin(), out);
    return all;
  });
  return c;
}

Suite attention_suite() {
  constexpr std::int64_t heads = 12, width = 64;
  Group group{"attention", {.worst = 1.3}, {}};
  for (bool is_backward : {false, true}) {
    for (std::int64_t length : {128, 1024, 4096}) {
      for (bool is_causal : {false, true}) {
        group.cases.push_back(attention_case({{1, heads, length, width}}, is_causal, is_backward));
      }
    }
  }
  return {"attention", Work::Operations, {std::move(group)}};
}

}  // namespace croze::bench
